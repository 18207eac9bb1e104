// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_HOST_HPP
#define KPROF_MODEL_ADVICE_HOST_HPP

// Rules of advice about what runs on the processor. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/advice/shapes.hpp>
#include <kprof/model/tensor_core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// H3. Calls that compute with denormal numbers are slower than those that do not. The processor
/// tells whether there were any, not how many, and a few do not matter: so without calls to compare
/// with there is nothing to say.
[[gnu::cold]] inline bool denormal_numbers(const advice_facts& f, std::size_t i, advice& out) {
  constexpr double least_share = 0.05, least_factor = 1.2;
  constexpr std::uint64_t least_others = 5;
  const operator_row& row = f.rows[i];
  // What is nested in it is another row.
  if (row.denormal_calls == 0 || row.self_ns < row.total_ns / 2 ||
      row.denormal_ns < least_share * row.measured_ns ||
      row.measured_calls < row.denormal_calls + least_others)
    return false;
  const double share = std::min(1.0, row.denormal_ns / row.measured_ns),
               with = row.denormal_ns / static_cast<double>(row.denormal_calls),
               without = (row.measured_ns - row.denormal_ns) /
                         static_cast<double>(row.measured_calls - row.denormal_calls);
  if (!(with >= least_factor * without)) return false;
  out.gain_ns = row.total_ns * share * (1 - without / with);
  out.fact = sentence(
      "computes with denormal numbers in # of its time: such a call takes #, "
      "another #",
      {as_share(share), as_time(with), as_time(without)});
  out.action =
      "Have each thread flush them to zero, where the result may lose them: "
      "_mm_setcsr(_mm_getcsr() | 0x8040)";
  return true;
}

/// H7. Calls touch pages that the system has just given, as where a buffer is allocated for each of
/// them and freed behind it: each costs a fault, in which the system also clears it.
[[gnu::cold]] inline bool page_faults(const advice_facts& f, std::size_t i, advice& out) {
  constexpr double least_share = 0.1, ns_a_fault = 250;
  const operator_row& row = f.rows[i];
  // Of fewer calls, the faults of the first one alone may be that share. What is nested in it is
  // another row.
  constexpr std::uint64_t least_calls = 10;
  if (row.measured_calls < least_calls || row.self_ns < row.total_ns / 2) return false;
  const double faults = static_cast<double>(row.page_faults),
               share = std::min(1.0, faults * ns_a_fault / row.measured_ns);
  const double steady = row.total_ns - warm_up_ns(row);
  if (!(share >= least_share) || !(steady > 0)) return false;
  out.gain_ns = steady * share;
  out.fact =
      sentence("has # page faults a call, which take # of its time",
               {as_number(faults / static_cast<double>(row.measured_calls)), as_share(share)});
  out.action =
      "Its memory is fresh in each call: keep buffers and use them again, or have the allocator "
      "keep them (mallopt: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD; jemalloc, tcmalloc)";
  return true;
}

/// H4. A library fell back to code without optimisation.
[[gnu::cold]] inline bool reference_code(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.node >= f.run.nodes.size() || row.variants != 1) return false;
  const parameter_value impl = f.run.value(f.run.nodes[row.node], "impl");
  if (impl.text.find("ref") == std::string_view::npos) return false;
  if (row.verdict.lost_ns.known()) out.gain_ns = row.verdict.lost_ns.value;
  out.fact = sentence("runs the reference implementation #", {as_text(impl.text.substr(0, 40))});
  out.action =
      "The library has no fast code for this shape, type or post-operation; "
      "ONEDNN_VERBOSE=dispatch "
      "says why";
  return true;
}

/// H5. Operators that only change the layout of data.
[[gnu::cold]] inline bool reorders(const advice_facts& f, std::size_t, advice& out) {
  double own = 0, around = 0;
  std::uint64_t calls = 0;
  std::vector<bool> counted(f.run.nodes.size());
  for (std::size_t i = 0; i < f.run.nodes.size(); ++i) {
    const scope_node& n = f.run.nodes[i];
    if (n.kind != scope_kind::op || lower(n.name).find("reorder") == std::string::npos) continue;
    own += calls_ns(n);
    calls += finished_calls(n);
    if (out.node == scope_node::none) out.node = static_cast<std::uint32_t>(i), out.where = n.name;
    const std::uint32_t parent = parent_of(f.run, i);
    const std::size_t at = parent == scope_node::none ? i : parent;
    if (counted[at]) continue;
    counted[at] = true;
    around += f.run.nodes[at].kind == scope_kind::root ? f.window_ns : calls_ns(f.run.nodes[at]);
  }
  if (!(own > 0) || own < 0.05 * around) return false;
  out.gain_ns = out.time_ns = own;
  out.fact = sentence("takes # of the time around it in # calls that only change layout",
                      {as_share(std::min(1.0, own / around)), as_number(calls)});
  out.action =
      "Let the library choose the layout of data and weights (in oneDNN format_tag::any), change "
      "weights once, before the loop, and hand data from operator to operator in that layout";
  return true;
}

/// H6. Rows of a matrix lie a power of two apart.
[[gnu::cold]] inline bool colliding_rows(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.on_device ||
      (row.verdict.bound != bound_by::latency && row.verdict.bound != bound_by::memory))
    return false;
  for (const std::string_view field : {"lda", "ldb", "ldc", "ldd", "ldx", "ldy", "ld"}) {
    const std::int64_t ld = number_of(f.run, row, field);
    const std::uint64_t bytes = static_cast<std::uint64_t>(ld) * bits_of(row.type) / 8;
    if (ld <= 0 || bytes == 0 || bytes % 4096 != 0) continue;
    out.fact = sentence(
        "has #=#: its rows lie a multiple of 4,096 bytes apart and share few sets "
        "of the cache",
        {as_text(field), as_number(ld)});
    const std::int64_t padded = ld + 512 / bits_of(row.type);
    out.action = sentence("Pad them by a line: #=#", {as_text(field), as_number(padded)});
    out.trials.push_back({{std::string{field}, padded}});
    return true;
  }
  return false;
}

/// H8. Arithmetic of 64 bits near its roof.
[[gnu::cold]] inline bool doubles(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.on_device || row.type != dtype::f64 || row.verdict.bound != bound_by::compute)
    return false;
  const double wide = rate_on(f.run.machine.cpu, dtype::f64).one_thread,
               narrow = rate_on(f.run.machine.cpu, dtype::f32).one_thread;
  const double times = wide > 0 && narrow > 0 ? narrow / wide : 2;
  if (!(times > 1)) return false;
  out.gain_ns = row.total_ns * (1 - 1 / times);
  out.fact = sentence("computes in f64 at # of its roof", {as_share(row.verdict.roof.value)});
  out.action = "f32 has a higher one, if its 24 bits do";
  try_type(f, row, dtype::f32, out);
  return true;
}

/// H9. What is guarded is so short that kprof takes part of it.
[[gnu::cold]] inline bool guard_too_fine(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  const own_cost& cost = f.run.cost;
  if (!row.mean_ns.known() || !(cost.empty_scope_ns > 0) ||
      row.mean_ns.value >= 10 * cost.empty_scope_ns)
    return false;
  out.gain_ns = cost.scope_ns * static_cast<double>(row.calls);
  if (out.gain_ns < 0.05 * row.total_ns) return false;
  out.fact = sentence("takes # a call, of which an empty scope shows #",
                      {as_time(row.mean_ns.value), as_time(cost.empty_scope_ns)});
  out.action = "Guard the loop around it: kprof's own time is in these numbers";
  return true;
}

/// H10. Parts of shared calls differ in length.
[[gnu::cold]] inline bool uneven_parts(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (!row.imbalance.known() || !(row.imbalance.value >= 1.2)) return false;
  if (has_overlap(row)) return false;  // what is lost in one call, others use
  out.gain_ns = row.total_ns * (1 - 1 / row.imbalance.value);
  out.fact = sentence("waits for its longest part, which takes # of the mean part",
                      {as_share(row.imbalance.value)});
  out.action = "Share the work more evenly: smaller pieces, handed out as threads come free";
  return true;
}

/// H11. Channels of a convolution that fill no vectors.
[[gnu::cold]] inline bool few_channels(const advice_facts& f, std::size_t i, advice& out) {
  constexpr double far_below = 0.6;
  constexpr std::int64_t narrow = 4;
  const operator_row& row = f.rows[i];
  const product_shape shape = shape_of(f.run, row);
  if (row.on_device || shape.sizes[0].field == nullptr || shape.matrix ||
      number_of(f.run, row, "g") > 1)
    return false;
  const bool is_sure = is_its_own(f, row) && row.verdict.roof.value < far_below;
  if (!is_sure && !f.tries) return false;
  const std::int64_t channels = shape.sizes[0].value,
                     wide = 512 / static_cast<std::int64_t>(std::max(1U, bits_of(row.type)));
  if (channels <= 0 || wide <= narrow || channels % wide == 0) return false;
  // As near to the roof as the operator's rows of whole vectors, or at the roof where there is
  // none.
  double roof = 0;
  for (const operator_row& other : f.rows)
    if (other.name == row.name && other.type == row.type && is_its_own(f, other) &&
        number_of(f.run, other, "C") >= wide && number_of(f.run, other, "C") % wide == 0)
      roof = std::max(roof, other.verdict.roof.value);
  const std::int64_t least = (channels + narrow - 1) / narrow * narrow;
  const double grows = static_cast<double>(least) / static_cast<double>(channels);
  if (is_sure)
    out.gain_ns = row.total_ns - row.verdict.ideal_ns.value * grows / (roof > 0 ? roof : 1);
  if (is_sure && !(out.gain_ns > 0) && !f.tries) return false;
  if (!(out.gain_ns > 0)) out.gain_ns = -1;
  std::string padded;
  for (const std::int64_t step : {narrow, wide}) {
    const std::int64_t size = (channels + step - 1) / step * step;
    if (size == channels || (step == wide && size == least)) continue;
    padded += sentence(padded.empty() ? "C=#" : " or C=#", {as_number(size)});
    out.trials.push_back({{"C", size}});
  }
  out.fact = sentence("has C=# channels, no multiple of # (64 bytes): vectors are not full",
                      {as_number(channels), as_number(wide)});
  out.action = "Pad with zeros to " + padded;
  return true;
}

}  // namespace detail::advice_rules
KPROF_DETAIL_END

#endif
