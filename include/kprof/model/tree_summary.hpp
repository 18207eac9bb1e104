// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TREE_SUMMARY_HPP
#define KPROF_MODEL_TREE_SUMMARY_HPP

// The call tree of a profile, all threads together or each apart. Included by summary.hpp. Pure: no
// I/O, no clock. Time and memory are linear in profile::nodes, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/branch_work.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/off_cpu.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/tree_order.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A node of the call tree of all threads together.
///
/// `flops` and `bytes` are what the formulas of the operators in the branch say, that is of the row
/// and all rows below it, each counted once: of nested operators the outermost that has a formula,
/// since it covers what it calls. Operators without one add nothing. Rates divide them by
/// `total_ns` or, where the branch has work on a device, what they say of calls with such work by
/// `device_total_ns`.
struct tree_row {
  /// The same in every run of the program: see row_key_text(). Made of the whole path; no two rows
  /// have the same.
  std::uint64_t key = 0;
  scope_kind kind = scope_kind::region;
  std::string name;
  std::string parameters;  ///< their text
  /// Index in profile::nodes of the row's first node: its operator and typed values.
  std::uint32_t node = scope_node::none;
  bool merged = false;  ///< its calls' parameters were not kept
  bool invalid = false;
  /// Index of the row above, always smaller; none at the top.
  std::uint32_t parent = scope_node::none;
  std::uint32_t depth = 0;
  std::uint32_t thread = scope_node::none;  ///< of a root: index in profile::threads
  /// When it first began, or a scope below it did, since the session's start. Where that is not
  /// known, it is that of the sibling created before it, or negative.
  double began_ns = -1;
  /// Finished; 0 also where all calls are of a thread that handed its path to this one.
  std::uint64_t calls = 0;
  /// Calls made by replaying graphs, not in `calls`; of a graph, its launches.
  std::uint64_t replays = 0;
  std::uint64_t open = 0;
  double open_ns = 0;
  double total_ns = 0;  ///< in the scopes; of calls that threads share, in all their parts
  /// Of `calls`, those whose durations are known, and these summed.
  std::uint64_t timed_calls = 0;
  double calls_ns = 0;
  double elapsed_ns = 0;  ///< the same, with calls that overlap counted once
  double self_ns = 0;     ///< of the scope alone: regions in an operator keep their own
  /// The largest total, that of open calls included, of the row and all rows below it.
  double largest_ns = 0;
  double total_share = 0;  ///< total time, of the self time of all scopes of the profile
  double self_share = 0;
  double measured_ns = 0;  ///< of total_ns, the scopes whose CPU time is known
  double off_cpu_ns = 0;   ///< of that, the time on no CPU, at least
  figure cpu{};          ///< 1 - off_cpu_ns / measured_ns: the share of the time on a CPU, at most
  double device_ns = 0;  ///< work on the devices that was launched in the scope alone
  double device_total_ns = 0;  ///< in the scope and in all below it
  double device_share = 0;     ///< device_total_ns, of the time of all work of the devices
  figure flops{}, bytes{};
  figure flops_per_s{}, bytes_per_s{};
  /// The least time that the operators' work takes on the machine, over the time that the rates are
  /// over, 0 to 1. What has no formula, and what is impossible, adds none.
  figure roof{};
};

namespace detail {

/// Adds up, for each thread's row, what ran on that thread outside any other scope that ran on it.
/// A path that another thread handed over leads to work, but takes no time here, and so hides
/// nothing.
inline void sum_threads(const profile& p, const std::vector<std::uint32_t>& row_of,
                        std::vector<tree_row>& rows) {
  // of nodes in no scope of their thread
  std::vector<std::uint32_t> thread_row(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind == scope_kind::root) {
      thread_row[i] = row_of[i];
      continue;
    }
    const std::uint32_t parent = parent_of(p, i),
                        row = parent == scope_node::none ? scope_node::none : thread_row[parent];
    if (is_placeholder(n)) thread_row[i] = row;
    if (row == scope_node::none) continue;
    rows[row].total_ns += not_negative(n.total_ns);
    rows[row].open_ns += not_negative(n.open_ns);
  }
}

/// The time of all calls of the row: those that are not known are as the others, on average.
inline double all_calls_ns(const tree_row& row) noexcept {
  if (row.timed_calls == row.calls || row.timed_calls == 0) return row.elapsed_ns;
  return row.elapsed_ns * static_cast<double>(row.calls) / static_cast<double>(row.timed_calls);
}

/// When the first of the node's calls began; negative: not known.
inline double began_ns(const profile& p, const scope_node& n) noexcept {
  if (n.first_end_ns >= 0 && n.first_ns >= 0) return not_negative(n.first_end_ns - n.first_ns);
  return n.open == 1 ? not_negative(p.wall_ns - n.open_ns) : -1;
}
inline void note_begin(tree_row& row, double ns) noexcept {
  if (ns >= 0 && (row.began_ns < 0 || ns < row.began_ns)) row.began_ns = ns;
}

/// Rows in the order of creation: a row of the tree stands for all nodes with the same path.
inline std::vector<tree_row> merge_paths(const profile& p, bool threads_apart) {
  const device_sums device(p);
  branch_work work(p, device, threads_apart);
  text_numbers names, parameters(p.nodes.size());
  key_numbers numbers(p.nodes.size());
  const profile_keys keys(p);
  std::vector<tree_row> rows;
  std::vector<std::uint32_t> row_of(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const bool root = n.kind == scope_kind::root;
    if (root && !threads_apart) continue;
    const std::uint32_t parent =
        parent_of(p, i) == scope_node::none ? scope_node::none : row_of[parent_of(p, i)];
    const row_key key{{parent, static_cast<std::uint32_t>(n.kind), names.of(n.name),
                       parameters.of(n.values.packed), operator_part(n), root ? n.thread : 0U}};
    const auto [number, is_new] = numbers.of(key);
    row_of[i] = number;
    if (is_new) {
      rows.push_back({.key = 0,
                      .kind = n.kind,
                      .name = n.name,
                      .parameters = parameter_text(p, n),
                      .node = static_cast<std::uint32_t>(i),
                      .merged = n.merged,
                      .parent = parent});
      rows.back().key = keys.tree_row(n, parent == scope_node::none ? 0 : rows[parent].key);
      if (parent != scope_node::none) rows.back().depth = rows[parent].depth + 1;
      if (root) rows.back().thread = n.thread;
    }
    tree_row& row = rows[number];
    work.add(number, static_cast<std::uint32_t>(i));
    if (!device.own.empty()) {
      row.device_ns += device.own[i].ns;
      row.device_total_ns += device.whole[i].ns;
    }
    if (root) continue;
    note_begin(row, began_ns(p, n));
    row.invalid = row.invalid || !n.work.valid;
    row.calls += finished_calls(n);
    row.timed_calls += timed_calls(n);
    row.calls_ns += calls_ns(n);
    row.elapsed_ns += elapsed_ns(n);
    row.replays += n.replays;
    row.open += opens_calls(n) ? n.open : 0;
    row.open_ns += opens_calls(n) ? not_negative(n.open_ns) : 0;
    row.total_ns += not_negative(n.total_ns);
    row.self_ns += not_negative(n.self_ns);
    row.measured_ns += not_negative(n.measured_ns);
    row.off_cpu_ns += not_negative(n.off_cpu_ns);
  }
  if (threads_apart) sum_threads(p, row_of, rows);
  work.sum_up();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].flops = work.flops(i);
    rows[i].bytes = work.bytes(i);
    rows[i].cpu = cpu_share(rows[i].measured_ns, rows[i].off_cpu_ns,
                            rows[i].timed_calls > 0 ? absence::none : absence::no_calls, p.clock);
    rows[i].roof = work.roof(i, all_calls_ns(rows[i]));
    rows[i].flops_per_s = work.flops_per_s(i, all_calls_ns(rows[i]));
    rows[i].bytes_per_s = work.bytes_per_s(i, all_calls_ns(rows[i]));
  }
  for (std::size_t i = rows.size(); i-- > 0;) {  // a parent comes before its children
    rows[i].largest_ns = std::max(rows[i].largest_ns, rows[i].total_ns + rows[i].open_ns);
    if (rows[i].parent == scope_node::none) continue;
    tree_row& above = rows[rows[i].parent];
    note_begin(above, rows[i].began_ns);
    above.largest_ns = std::max(above.largest_ns, rows[i].largest_ns);
    // sums of the same times in another order
    above.device_total_ns = std::max(above.device_total_ns, rows[i].device_total_ns);
  }
  std::vector<double> latest(rows.size() + 1, -1);  // by the parent, the top last
  for (tree_row& row : rows) {
    double& before = latest[std::min<std::size_t>(row.parent, rows.size())];
    if (row.began_ns < 0) row.began_ns = before;
    before = row.began_ns;
  }
  return rows;
}

/// The order of siblings: most device time first, then by `largest_ns`.
inline bool is_larger(const tree_row& a, const tree_row& b) noexcept {
  return a.device_total_ns != b.device_total_ns ? a.device_total_ns > b.device_total_ns
                                                : a.largest_ns > b.largest_ns;
}

}  // namespace detail

/// The call tree, a parent before its children and these in the given order. By time, what handed
/// its work to other threads stands where that work belongs, by `largest_ns`. Nodes with the same
/// path (kinds, names and parameters) are one row: call sites, and threads unless `threads_apart`,
/// make no difference. Threads are rows only if `threads_apart`; their times are those of the
/// outermost scopes that ran on them.
inline std::vector<tree_row> call_tree(const profile& p, bool threads_apart = false,
                                       tree_order by = tree_order::time) {
  constexpr std::uint32_t none = scope_node::none;
  std::vector<tree_row> rows = detail::merge_paths(p, threads_apart);
  std::vector<std::uint32_t> first(rows.size(), none), next(rows.size(), none);
  const std::vector<std::uint32_t> order =
      detail::sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
        return by == tree_order::time ? detail::is_larger(rows[a], rows[b])
                                      : rows[a].began_ns < rows[b].began_ns;
      });
  std::uint32_t top = none;
  for (std::size_t i = order.size(); i-- > 0;) {  // what is linked last comes first
    const std::uint32_t row = order[i];
    std::uint32_t& head = rows[row].parent == none ? top : first[rows[row].parent];
    next[row] = head;
    head = row;
  }
  const double all = detail::all_self_ns(p), all_device = detail::all_device_work(p).ns;
  std::vector<tree_row> tree;
  tree.reserve(rows.size());
  // a row yet to come, and the place of its parent
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;
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
    row.device_share = detail::share_of(row.device_total_ns, all_device);
    tree.push_back(std::move(row));
  }
  detail::make_keys_differ(tree);
  return tree;
}

KPROF_DETAIL_END

#endif
