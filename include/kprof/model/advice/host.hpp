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
#include <kprof/model/unguarded_cpu.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// H1. One thread works, on a machine of several CPUs.
[[gnu::cold]] inline bool one_thread(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const std::uint32_t cpus = p.machine.cpu.threads;
  if (cpus < 2) return false;
  double busiest = 0, all = 0;
  for (const thread_info& t : p.threads) {
    busiest = std::max(busiest, t.in_scopes_ns);
    all += not_negative(t.in_scopes_ns);
  }
  if (!(busiest > 0) || all + unguarded_cpu_ns(p) > 1.2 * busiest) return false;
  constexpr double worth_sharing_ns = 20'000;  // waking threads takes microseconds
  struct share {
    std::string_view name;
    std::uint32_t node;
    double ns = 0, gain_ns = 0;
  };
  std::vector<share> found;  // by operator
  for (const operator_row& row : f.rows) {
    const bool on_one = !row.on_device && row.thread != scope_node::none && !row.threads.known() &&
                        is_its_own(row) && row.mean_ns.known() &&
                        row.mean_ns.value >= worth_sharing_ns;
    const double steady = row.self_ns - warm_up_ns(row);
    if (!on_one || !(steady > 0) || is_one_of(f.several_threads, row.name)) continue;
    const double rise = rise_of_roof(p, row);
    if (!(rise > 1)) continue;
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const share& s) { return s.name == row.name; });
    share& s = known != found.end() ? *known : found.emplace_back(share{row.name, row.node});
    s.ns += steady;
    s.gain_ns += steady * (1 - 1 / rise);
  }
  std::erase_if(found, [&](const share& s) { return s.ns < 0.1 * f.window_ns; });
  if (found.empty()) return false;
  out.gain_ns = 0;
  out.node = found[0].node;
  for (std::size_t k = 0; k < found.size(); ++k) {
    out.gain_ns += found[k].gain_ns;
    out.time_ns += found[k].ns;
    if (k < 3)
      out.where.append(k == 0                            ? ""
                       : k + 1 == found.size() || k == 2 ? " and "
                                                         : ", ")
          .append(k == 2 && found.size() > 3 ? "others" : found[k].name);
  }
  out.fact = sentence(
      found.size() == 1 ? "runs on one of # CPUs for # of #" : "run on one of # CPUs for # of #",
      {as_number(cpus), as_share(out.time_ns / f.window_ns), as_text(f.whole)});
  out.action =
      "Share the work of a call among threads, and mark their parts with KPROF_PART so that kprof "
      "sees them";
  return true;
}

/// Time in which a thread is in scopes that keep it off the CPU, as where it joins others: one that
/// has to share a CPU gets more of it.
[[gnu::cold]] inline double waiting_ns(const profile& p) {
  constexpr double least = 0.95;
  double ns = 0;
  std::vector<bool> waits(p.nodes.size());  // also those below one that does
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const std::uint32_t parent = parent_of(p, i);
    const bool is_inside = parent != scope_node::none && waits[parent];
    const bool is_known = n.measured_ns > 0 && n.off_cpu_ns >= least * n.measured_ns;
    waits[i] = is_inside || is_known;
    if (is_known && !is_inside) ns += n.off_cpu_ns;
  }
  return ns;
}

/// H12. Threads without guards do work that no row tells of.
[[gnu::cold]] inline bool unguarded_threads(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const double ns = unguarded_cpu_ns(p);
  // The driver has threads of its own.
  if (has_device_work(p) || !(ns > 0) || ns < 0.2 * p.cpu_ns) return false;
  out.where = "The program";
  out.time_ns = ns;
  out.fact = sentence("spends # of its CPU time, #, in threads without guards",
                      {as_share(ns / p.cpu_ns), as_time(ns)});
  out.action =
      "Guard what they do: KPROF_PART where they share a call, KPROF_OP where each has its own. "
      "Where a library shares the work of calls among its own threads, KPROF=threads=all says so";
  return true;
}

/// H2. More threads are in scopes at a time than there are CPUs.
[[gnu::cold]] inline bool too_many_threads(const advice_facts& f, std::size_t, advice& out) {
  const profile& p = f.run;
  const double wall = p.wall_ns - p.paused_ns;
  double in_scopes = 0;
  for (const thread_info& t : p.threads) in_scopes += not_negative(t.in_scopes_ns);
  const double at_a_time = wall > 0 ? (in_scopes - waiting_ns(p)) / wall : 0;
  if (p.cpus == 0 || has_device_work(p) || at_a_time < 1.25 * p.cpus) return false;
  out.where = "The program";
  out.time_ns = f.window_ns;
  out.fact = sentence("has # threads in scopes at a time, on # CPUs",
                      {as_number(at_a_time + 0.5), as_number(p.cpus)});
  out.action =
      "They take the CPUs from one another, unless they wait: run as many threads as there are "
      "CPUs, and see to it that a library starts none of its own (OMP_NUM_THREADS)";
  return true;
}

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
  const bool is_sure = is_its_own(row) && row.verdict.roof.value < far_below;
  if (!is_sure && !f.tries) return false;
  const std::int64_t channels = shape.sizes[0].value,
                     wide = 512 / static_cast<std::int64_t>(std::max(1U, bits_of(row.type)));
  if (channels <= 0 || wide <= narrow || channels % wide == 0) return false;
  // As near to the roof as the operator's rows of whole vectors, or at the roof where there is
  // none.
  double roof = 0;
  for (const operator_row& other : f.rows)
    if (other.name == row.name && other.type == row.type && is_its_own(other) &&
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
