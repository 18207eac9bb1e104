// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_CHOSEN_TREE_HPP
#define KPROF_REPORT_TEXT_CHOSEN_TREE_HPP

// Which rows of the call tree the text report shows. Included by tree.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/tree_folding.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/off_cpu_line.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// FLOPs or bytes of all rows at the top of the tree, and their rate over the time by which each is
/// rated.
struct tree_work {
  double sum = 0, rated = 0, seconds = 0;
  bool any = false, any_rate = false;
  absence why = absence::no_operator;  // where there is none

  [[gnu::cold]] void add(const tree_row& row, const figure& number, const figure& per_s,
                         bool device) {
    const bool adds_nothing = number.why >= absence::no_bytes;  // no formula, ceiling or operator
    any = any || number.known();
    sum += number.known() ? number.value : 0;
    if (!number.known() && (!adds_nothing || why == absence::no_operator)) why = number.why;
    unknown_ = unknown_ || (!number.known() && !adds_nothing);
    const double s = (device ? row.device_total_ns : row.total_ns) * 1e-9;
    seconds += s;
    any_rate = any_rate || (per_s.known() && s > 0);
    rated += per_s.known() ? per_s.value * s : 0;
  }
  figure value() const noexcept { return any && !unknown_ ? figure{sum} : figure{0, why}; }
  figure per_s() const noexcept {
    return any_rate && value().known() ? ratio({rated}, seconds, absence::no_time)
                                       : figure{0, value().known() ? absence::no_time : why};
  }

 private:
  bool unknown_ = false;
};

/// The rows of the tree, regions that differ in a number only as one. A row that is shown has its
/// parents shown.
struct chosen_tree {
  std::vector<folded_row> rows;
  std::vector<bool> shown, last;   // last: no sibling below it is shown
  hidden_rows filtered, cut, all;  // all: rows of the tree, those that are cut too
  tree_work flops, bytes, roof;
  bool any_open = false, any_folded = false, any_off_cpu = false;  // of those that are shown

  [[gnu::cold]] chosen_tree(const profile& p, const text_plan& plan) {
    const tree_order order = plan.options.order;
    std::vector<tree_row> found = kprof::call_tree(p, plan.by.has(group_key::thread), order);
    if (plan.filter.active()) keep_matching(found, plan.filter);
    if (plan.tree_top > 0) fold(found, plan);
    else
      for (tree_row& row : found) {
        const double ns = row.total_ns, device_ns = row.device_total_ns;
        const std::uint32_t node = row.node;
        rows.push_back({std::move(row), 1, 1, ns, ns, device_ns, device_ns, {node}});
        shown.push_back(true);
      }
    for (const folded_row& f : rows) {
      all.add(f.row);
      if (f.row.parent != scope_node::none) continue;
      flops.add(f.row, f.row.flops, f.row.flops_per_s, plan.device);
      bytes.add(f.row, f.row.bytes, f.row.bytes_per_s, plan.device);
      roof.add(f.row, f.row.roof, f.row.roof, plan.device);
    }
    last.assign(rows.size(), false);
    bool top_seen = false;
    std::vector<bool> child_seen(rows.size(), false);
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (!shown[i]) continue;
      const tree_row& row = rows[i].row;
      any_open = any_open || row.open > 0;
      any_folded = any_folded || rows[i].siblings > 1;
      any_off_cpu =
          any_off_cpu || was_off_cpu({{}, row.total_ns, row.measured_ns, row.off_cpu_ns}, plan);
      if (row.parent == scope_node::none) last[i] = !top_seen, top_seen = true;
      else last[i] = !child_seen[row.parent], child_seen[row.parent] = true;
    }
  }

 private:
  /// Leaves what matches, and what is around and inside it.
  [[gnu::cold]] void keep_matching(std::vector<tree_row>& found, const name_filter& wanted) {
    std::vector<bool> kept(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool inside = found[i].parent != scope_node::none && kept[found[i].parent];
      kept[i] = inside || (found[i].kind != scope_kind::root &&
                           wanted.matches(found[i].name, found[i].parameters));
    }
    for (std::size_t i = found.size(); i-- > 0;) {
      if (kept[i] && found[i].parent != scope_node::none) kept[found[i].parent] = true;
      if (!kept[i]) filtered.add(found[i]);
    }
    std::vector<tree_row> left;
    std::vector<std::uint32_t> place(found.size(), scope_node::none);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!kept[i]) continue;
      place[i] = static_cast<std::uint32_t>(left.size());
      if (found[i].parent != scope_node::none) found[i].parent = place[found[i].parent];
      left.push_back(std::move(found[i]));
    }
    found = std::move(left);
  }

  /// Folds regions, and operators too where too much would be left to the line that says "more".
  [[gnu::cold]] void fold(const std::vector<tree_row>& found, const text_plan& plan) {
    // Calls of a few sizes stay apart, those of a cache that grows from call to call do not.
    constexpr std::size_t many = 8;
    for (const std::size_t least_calls : {std::size_t{0}, many}) {
      rows = fold_siblings(found, plan.options.order, least_calls);
      cut = {};
      keep_largest(plan.tree_top);
      const double all_ns = plan.device ? plan.all_device_ns : plan.all_self_ns;
      if ((plan.device ? cut.device_ns : cut.self_ns) <= most_folded * all_ns) return;
    }
  }

  void keep_largest(std::size_t top) {
    shown.assign(rows.size(), true);
    // A parent is no smaller than its children and comes before them.
    std::size_t kept = 0;
    for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
           return is_larger(rows[a].row, rows[b].row);
         })) {
      if (kept++ < top) continue;
      shown[i] = false;
      cut.add(rows[i].row);
    }
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
