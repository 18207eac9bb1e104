// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SUMMARY_HPP
#define KPROF_MODEL_SUMMARY_HPP

// What a profile adds up to: one row an operator, and the call tree of all threads together. Include it to use the
// numbers of a run in a program. Pure: no I/O, no clock. Time and memory are linear in profile::nodes, sorting aside.

#include <kprof/config.hpp>
#include <kprof/dtype.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/profile.hpp>
#include <kprof/model/tree_summary.hpp>
#include <kprof/record/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Which calls share a row. Each kind splits the rows of the one before it.
enum class grouping : std::uint8_t { op, parameters, call_site, thread };

/// Why a number is not known. Where several reasons hold, the last of them is told.
enum class absence : std::uint8_t {
  none,            ///< it is known
  no_calls,        ///< no call has finished
  no_time,         ///< the calls took no time that the clock could see
  zero_bytes,      ///< a division by the bytes of calls that move none
  merged,          ///< the calls' parameters were not kept, for want of memory
  invalid,         ///< the parameters of some calls are invalid, or a formula gives no number for them
  no_bytes,        ///< bytes() is not declared
  no_flops,        ///< flops() is not declared
};

/// A number, or why there is none.
struct figure {
  double value = 0;
  absence why = absence::none;
  constexpr bool known() const noexcept { return why == absence::none; }
};

/// The calls of one operator, of one set of parameters, ... as `grouping` says.
///
/// `total_ns`, `flops` and `bytes` leave out a call made inside another call of the same row: the outer one's time and
/// formulas cover it. So rates divide what belongs together, and recursion counts once.
///
/// `self_ns` holds the time of regions, which only annotate what an operator does: with that of the scopes outside any
/// operator, rows add up to the whole. It may be more than `total_ns` where a path was handed to other threads: what their
/// regions took is in it. By thread, such time belongs to no row.
struct operator_row {
  std::string name;
  std::string parameters;           ///< as the profile has them; empty where variants > 1
  std::uint64_t variants = 0;       ///< sets of parameters in this row
  bool merged = false;              ///< holds calls whose parameters were not kept
  std::uint64_t invalid_calls = 0;  ///< finished calls whose parameters are invalid
  bool invalid = false;             ///< holds a call, finished or open, whose parameters are invalid
  std::string file;                 ///< call site, if there is one and only one
  std::uint32_t line = 0;
  bool several_sites = false;
  std::uint32_t thread = scope_node::none;   ///< index in profile::threads; none where several threads ran it
  dtype type = dtype::unknown;      ///< unknown also where it differs from call to call
  bool several_types = false;

  std::uint64_t calls = 0;          ///< finished
  std::uint64_t open = 0;
  double open_ns = 0;
  double self_ns = 0;               ///< of the calls and the regions in them, up to the operators nested in them
  double total_ns = 0;
  double share = 0;                 ///< self_ns, of the self time of all scopes of the profile; 0 to 1
  figure mean_ns, median_ns, p99_ns, min_ns, max_ns;     ///< of a call's duration; median and p99 within 0.8 %
  figure flops, bytes;                                   ///< of the calls in total_ns, summed
  figure flops_per_call, bytes_per_call;                 ///< their means
  figure flops_per_s, bytes_per_s;                       ///< flops and bytes over total_ns
  figure flops_per_byte;                                 ///< arithmetic intensity
};

namespace detail {

/// Sums the nodes of one row.
struct row_sum {
  operator_row row;
  const histogram* durations = nullptr;   // in ticks; of the one node, or `merged`
  histogram merged;
  double duration_ns = 0, min_ns = HUGE_VAL, max_ns = 0;
  double flops = 0, bytes = 0, outermost_calls = 0;
  absence no_flops = absence::none, no_bytes = absence::none;
  bool typed = false;
  std::uint32_t active = 0;   // nodes of this row that the walk is in

  void begin(const scope_node& n, std::uint64_t variants) {
    row.name = n.name;
    row.variants = variants;
    if (variants == 1) row.parameters = n.parameters;
    row.file = n.file;
    row.line = n.line;
    row.thread = n.thread;
  }

  void add(const scope_node& n, bool outermost) {
    row.calls += n.calls;
    row.open += n.open;
    row.open_ns += not_negative(n.open_ns);
    duration_ns += not_negative(n.total_ns);
    add_durations(n.durations);
    if (n.calls > 0) {
      min_ns = std::min(min_ns, not_negative(n.min_ns));
      max_ns = std::max(max_ns, not_negative(n.max_ns));
    }
    if (row.line != n.line || row.file != n.file) row.several_sites = true;
    if (row.thread != n.thread) row.thread = scope_node::none;
    row.merged = row.merged || n.merged;
    if (!n.merged) add_type(n.work.type);
    add_work(n, outermost);
  }

  void add_durations(const histogram& more) {
    if (durations == nullptr) {   // most rows have one node: nothing is copied
      durations = &more;
      return;
    }
    if (durations != &merged) merged = *std::exchange(durations, &merged);
    merged.merge(more);
  }

  void add_type(dtype type) {
    if (!typed) row.type = type;
    else if (row.type != type) row.several_types = true;
    typed = true;
  }

  void add_work(const scope_node& n, bool outermost) {
    const absence known = n.merged ? absence::merged : !n.work.valid ? absence::invalid : absence::none;
    no_flops = std::max(no_flops, n.merged || n.work.has_flops ? known : absence::no_flops);
    no_bytes = std::max(no_bytes, n.merged || n.work.has_bytes ? known : absence::no_bytes);
    if (!n.work.valid) {
      row.invalid = true;
      row.invalid_calls += n.calls;
    }
    if (!outermost) return;
    const auto calls = static_cast<double>(n.calls);
    row.total_ns += not_negative(n.total_ns);
    outermost_calls += calls;
    flops += calls * static_cast<double>(n.work.flops);
    bytes += calls * (static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written));
  }

  double quantile(double q) const noexcept { return durations == nullptr ? 0 : durations->quantile(q); }

  static figure ratio(figure a, double b, absence when_zero) {
    if (!a.known()) return a;
    return b > 0 ? figure{a.value / b} : figure{0, when_zero};
  }

  operator_row finish(double all_self_ns, double ns_per_tick) {
    const absence none_finished = row.calls == 0 ? absence::no_calls : absence::none;
    const auto duration = [&](double ns) {
      return figure{none_finished == absence::none ? std::clamp(ns, min_ns, std::max(min_ns, max_ns)) : 0, none_finished};
    };
    row.share = all_self_ns > 0 ? row.self_ns / all_self_ns : 0;
    row.mean_ns = duration(duration_ns / static_cast<double>(std::max<std::uint64_t>(row.calls, 1)));
    row.median_ns = duration(quantile(0.5) * ns_per_tick);
    row.p99_ns = duration(quantile(0.99) * ns_per_tick);
    row.min_ns = duration(min_ns);
    row.max_ns = duration(max_ns);
    row.flops = {flops, std::max(no_flops, none_finished)};
    row.bytes = {bytes, std::max(no_bytes, none_finished)};
    row.flops_per_call = ratio(row.flops, outermost_calls, absence::no_calls);
    row.bytes_per_call = ratio(row.bytes, outermost_calls, absence::no_calls);
    row.flops_per_s = ratio(row.flops, row.total_ns * 1e-9, absence::no_time);
    row.bytes_per_s = ratio(row.bytes, row.total_ns * 1e-9, absence::no_time);
    const absence unknown = std::max(row.flops.why, row.bytes.why);
    row.flops_per_byte = ratio({flops, unknown}, bytes, absence::zero_bytes);
    if (row.several_types) row.type = dtype::unknown;
    if (row.several_sites) { row.file.clear(); row.line = 0; }
    return std::move(row);
  }
};

/// For each node the number of its operator's row or, for a region, of the row of the operator around it; none where there
/// is no such row. Rows are numbered as they first appear. Nodes that keep() refuses, and those in which nothing ran, make
/// no row; the latter belong to the row that the same calls have on the thread which handed them over.
struct row_numbers {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first;       // the first node of each row
  std::vector<std::uint64_t> variants;    // sets of parameters of each row

  template <class Keep>
  row_numbers(const profile& p, grouping by, Keep keep) : row_of(p.nodes.size(), scope_node::none) {
    text_numbers names, parameters(p.nodes.size()), files;
    key_numbers keys(by == grouping::op ? 0 : p.nodes.size()), sets(by == grouping::op ? p.nodes.size() : 0);
    std::vector<std::uint32_t> row_of_key;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.kind != scope_kind::op || !keep(n)) continue;
      const row_key variant{{names.of(n.name), parameters.of(n.parameters), n.merged ? 1U : 0U}};
      row_key key{{variant.part[0]}};
      if (by >= grouping::parameters) key = variant;
      if (by >= grouping::call_site) key.part[3] = files.of(n.file), key.part[4] = n.line;
      if (by >= grouping::thread) key.part[5] = n.thread;
      row_of[i] = keys.of(key).first;
      if (row_of[i] == row_of_key.size()) row_of_key.push_back(scope_node::none);
      if (is_placeholder(n)) continue;
      std::uint32_t& row = row_of_key[row_of[i]];
      if (row == scope_node::none) {
        row = static_cast<std::uint32_t>(first.size());
        first.push_back(static_cast<std::uint32_t>(i));
        variants.push_back(by == grouping::op ? 0 : 1);
      }
      if (by == grouping::op && sets.of(variant).second) ++variants[row];
    }
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (row_of[i] != scope_node::none) row_of[i] = row_of_key[row_of[i]];
      else if (p.nodes[i].kind == scope_kind::region && parent_of(p, i) != scope_node::none) row_of[i] = row_of[parent_of(p, i)];
    }
  }
};

}  // namespace detail

/// The table of the calls for whose nodes keep(const scope_node&) says true; it is asked about operators only. The other
/// calls are in no row, nor is the time of regions in them; shares are still of all scopes.
///     operator_table(p, grouping::op, [](const scope_node& n) { return n.work.type == dtype::f16; });
template <class Keep>
std::vector<operator_row> operator_table(const profile& p, grouping by, Keep keep) {
  const detail::row_numbers numbers(p, by, keep);
  std::vector<detail::row_sum> sums(numbers.first.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].begin(p.nodes[numbers.first[i]], numbers.variants[i]);
  const auto row_of = [&](std::uint32_t node) { return numbers.row_of[node] == scope_node::none ? nullptr : &sums[numbers.row_of[node]]; };
  // A call that is still open is in no total and covers nothing.
  const auto covers = [](const scope_node& n) { return n.kind == scope_kind::op && n.calls > 0; };
  detail::walk(
      p,
      [&](std::uint32_t node) {
        const scope_node& n = p.nodes[node];
        detail::row_sum* const row = row_of(node);
        if (row == nullptr) return;
        row->row.self_ns += detail::not_negative(n.self_ns);
        if (n.kind == scope_kind::op && !detail::is_placeholder(n)) row->add(n, row->active == 0);
        if (covers(n)) ++row->active;
      },
      [&](std::uint32_t node) {
        detail::row_sum* const row = row_of(node);
        if (row != nullptr && covers(p.nodes[node])) --row->active;
      });
  const double all = detail::all_self_ns(p);
  std::vector<operator_row> table;
  table.reserve(sums.size());
  for (detail::row_sum& row : sums) table.push_back(row.finish(all, p.clock.ns_per_tick));
  return table;
}

/// One row for each operator, set of parameters, ... of the profile, in the order in which the profile names them.
/// Operators of which no call has finished or is open have none.
///     for (const auto& row : kprof::operator_table(p, kprof::grouping::op)) use(row.name, row.flops_per_s);
inline std::vector<operator_row> operator_table(const profile& p, grouping by = grouping::parameters) {
  return operator_table(p, by, [](const scope_node&) { return true; });
}

KPROF_DETAIL_END

#endif
