// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SUMMARY_HPP
#define KPROF_MODEL_SUMMARY_HPP

// What a profile adds up to: one row an operator, and the call tree of all threads together. Include it to use the
// numbers of a run in a program. Pure: no I/O, no clock. Time and memory are linear in profile::nodes, sorting aside.

#include <kprof/config.hpp>
#include <kprof/dtype.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/profile.hpp>
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
  invalid,         ///< the parameters of some calls are invalid
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
  double self_ns = 0;
  double total_ns = 0;
  double share = 0;                 ///< self time, of the self time of all scopes of the profile; 0 to 1
  figure mean_ns, median_ns, p99_ns, min_ns, max_ns;     ///< of a call's duration; median and p99 within 0.8 %
  figure flops, bytes;                                   ///< of the calls in total_ns, summed
  figure flops_per_call, bytes_per_call;                 ///< their means
  figure flops_per_s, bytes_per_s;                       ///< flops and bytes over total_ns
  figure flops_per_byte;                                 ///< arithmetic intensity
};

/// A node of the call tree of all threads together.
struct tree_row {
  scope_kind kind = scope_kind::region;
  std::string name;
  std::string parameters;
  bool merged = false;               ///< its calls' parameters were not kept
  bool invalid = false;
  std::uint32_t parent = scope_node::none;   ///< index of the row above, always smaller; none at the top
  std::uint32_t depth = 0;
  std::uint32_t thread = scope_node::none;   ///< of a root: index in profile::threads
  std::uint64_t calls = 0;           ///< finished
  std::uint64_t open = 0;
  double open_ns = 0;
  double total_ns = 0;
  double self_ns = 0;
  double total_share = 0;            ///< total time, of the self time of all scopes of the profile
  double self_share = 0;
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
    row.self_ns += not_negative(n.self_ns);
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

/// For each node the number of its row; none for what is not an operator. Rows are numbered as they first appear.
struct row_numbers {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first;       // the first node of each row
  std::vector<std::uint64_t> variants;    // sets of parameters of each row

  row_numbers(const profile& p, grouping by) : row_of(p.nodes.size(), scope_node::none) {
    text_numbers names, parameters(p.nodes.size()), files;
    key_numbers rows(by == grouping::op ? 0 : p.nodes.size()), sets(by == grouping::op ? p.nodes.size() : 0);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.kind != scope_kind::op) continue;
      const row_key variant{{names.of(n.name), parameters.of(n.parameters), n.merged ? 1U : 0U}};
      row_key key{{variant.part[0]}};
      if (by >= grouping::parameters) key = variant;
      if (by >= grouping::call_site) key.part[3] = files.of(n.file), key.part[4] = n.line;
      if (by >= grouping::thread) key.part[5] = n.thread;
      const auto [row, is_new] = rows.of(key);
      row_of[i] = row;
      if (is_new) {
        first.push_back(static_cast<std::uint32_t>(i));
        variants.push_back(by == grouping::op ? 0 : 1);
      }
      if (by == grouping::op && sets.of(variant).second) ++variants[row];
    }
  }
};

}  // namespace detail

/// One row for each operator, set of parameters, ... of the profile, in the order in which the profile names them.
///     for (const auto& row : kprof::operator_table(p, kprof::grouping::op)) use(row.name, row.flops_per_s);
inline std::vector<operator_row> operator_table(const profile& p, grouping by = grouping::parameters) {
  const detail::row_numbers numbers(p, by);
  constexpr std::uint32_t none = scope_node::none;
  std::vector<detail::row_sum> sums(numbers.first.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].begin(p.nodes[numbers.first[i]], numbers.variants[i]);
  detail::walk(
      p,
      [&](std::uint32_t node) {
        if (numbers.row_of[node] == none) return;
        detail::row_sum& row = sums[numbers.row_of[node]];
        row.add(p.nodes[node], row.active == 0);
        if (p.nodes[node].calls > 0) ++row.active;   // a call that is still open is in no total and covers nothing
      },
      [&](std::uint32_t node) {
        if (numbers.row_of[node] != none && p.nodes[node].calls > 0) --sums[numbers.row_of[node]].active;
      });
  const double all = detail::all_self_ns(p);
  std::vector<operator_row> table;
  table.reserve(sums.size());
  for (detail::row_sum& row : sums) table.push_back(row.finish(all, p.clock.ns_per_tick));
  return table;
}

namespace detail {

/// Rows in the order of creation: a row of the tree stands for all nodes with the same path.
inline std::vector<tree_row> merge_paths(const profile& p, bool threads_apart) {
  text_numbers names, parameters(p.nodes.size());
  key_numbers numbers(p.nodes.size());
  std::vector<tree_row> rows;
  std::vector<std::uint32_t> row_of(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const bool root = n.kind == scope_kind::root;
    if (root && !threads_apart) continue;
    const std::uint32_t parent = parent_of(p, i) == scope_node::none ? scope_node::none : row_of[parent_of(p, i)];
    const row_key key{{parent, static_cast<std::uint32_t>(n.kind), names.of(n.name), parameters.of(n.parameters), n.merged ? 1U : 0U,
                       root ? n.thread : 0U}};
    const auto [number, is_new] = numbers.of(key);
    row_of[i] = number;
    if (is_new) {
      rows.push_back({.kind = n.kind, .name = n.name, .parameters = n.parameters, .merged = n.merged, .parent = parent});
      if (parent != scope_node::none) rows.back().depth = rows[parent].depth + 1;
      if (root) rows.back().thread = n.thread;
    }
    tree_row& row = rows[number];
    if (root) continue;
    row.invalid = row.invalid || !n.work.valid;
    row.calls += n.calls;
    row.open += n.open;
    row.open_ns += not_negative(n.open_ns);
    row.total_ns += not_negative(n.total_ns);
    row.self_ns += not_negative(n.self_ns);
    if (parent == scope_node::none || rows[parent].kind != scope_kind::root) continue;
    rows[parent].total_ns += not_negative(n.total_ns);
    rows[parent].open_ns += not_negative(n.open_ns);
  }
  return rows;
}

}  // namespace detail

/// The call tree, a parent before its children and these by falling total time (that of open scopes included). Nodes
/// with the same path (kinds, names and parameters) are one row: call sites, and threads unless `threads_apart`, make no
/// difference. Threads are rows only if `threads_apart`; their times are those of the scopes just below.
inline std::vector<tree_row> call_tree(const profile& p, bool threads_apart = false) {
  constexpr std::uint32_t none = scope_node::none;
  std::vector<tree_row> rows = detail::merge_paths(p, threads_apart);
  std::vector<std::uint32_t> order(rows.size()), first(rows.size(), none), next(rows.size(), none);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const double x = rows[a].total_ns + rows[a].open_ns, y = rows[b].total_ns + rows[b].open_ns;
    return x != y ? x < y : a > b;   // the last one is linked last, and so comes first
  });
  std::uint32_t top = none;
  for (const std::uint32_t i : order) {
    std::uint32_t& head = rows[i].parent == none ? top : first[rows[i].parent];
    next[i] = head;
    head = i;
  }
  const double all = detail::all_self_ns(p);
  std::vector<tree_row> tree;
  tree.reserve(rows.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;   // a row yet to come, and the place of its parent
  if (top != none) path.emplace_back(top, none);
  while (!path.empty()) {
    const auto [at, parent] = path.back();
    path.pop_back();
    if (next[at] != none) path.emplace_back(next[at], parent);
    if (first[at] != none) path.emplace_back(first[at], static_cast<std::uint32_t>(tree.size()));
    tree_row& row = rows[at];
    row.parent = parent;
    row.total_share = all > 0 ? row.total_ns / all : 0;
    row.self_share = all > 0 ? row.self_ns / all : 0;
    tree.push_back(std::move(row));
  }
  return tree;
}

KPROF_DETAIL_END

#endif
