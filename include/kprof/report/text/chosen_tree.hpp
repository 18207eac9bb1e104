// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_CHOSEN_TREE_HPP
#define KPROF_REPORT_TEXT_CHOSEN_TREE_HPP

// Which rows of the call tree the text report shows. Included by tree.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/tree_folding.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The rows of the tree, regions that differ in a number only as one. A row that is shown has its
/// parents shown.
struct chosen_tree {
  std::vector<folded_row> rows;
  std::vector<bool> shown, last;  // last: no sibling below it is shown
  hidden_rows filtered, cut;
  bool any_open = false, any_folded = false;  // of those that are shown

  [[gnu::cold]] chosen_tree(const profile& p, const text_plan& plan) {
    const tree_order order = plan.options.order;
    std::vector<tree_row> all = kprof::call_tree(p, plan.by.has(group_key::thread), order);
    if (plan.filter.active()) keep_matching(all, plan.filter);
    if (plan.options.top > 0) rows = fold_siblings(all, order);
    else
      for (tree_row& row : all) {
        const double ns = row.total_ns, device_ns = row.device_total_ns;
        rows.push_back({std::move(row), 1, 1, ns, ns, device_ns, device_ns});
      }
    shown.assign(rows.size(), true);
    last.assign(rows.size(), false);
    if (plan.options.top > 0) keep_largest(plan.options.top);
    bool top_seen = false;
    std::vector<bool> child_seen(rows.size(), false);
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (!shown[i]) continue;
      const tree_row& row = rows[i].row;
      any_open = any_open || row.open > 0;
      any_folded = any_folded || rows[i].siblings > 1;
      if (row.parent == scope_node::none) last[i] = !top_seen, top_seen = true;
      else last[i] = !child_seen[row.parent], child_seen[row.parent] = true;
    }
  }

 private:
  /// Leaves what matches, and what is around and inside it.
  void keep_matching(std::vector<tree_row>& all, const name_filter& wanted) {
    std::vector<bool> kept(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool inside = all[i].parent != scope_node::none && kept[all[i].parent];
      kept[i] = inside ||
                (all[i].kind != scope_kind::root && wanted.matches(all[i].name, all[i].parameters));
    }
    for (std::size_t i = all.size(); i-- > 0;) {
      if (kept[i] && all[i].parent != scope_node::none) kept[all[i].parent] = true;
      if (!kept[i]) filtered.add(all[i]);
    }
    std::vector<tree_row> left;
    std::vector<std::uint32_t> place(all.size(), scope_node::none);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!kept[i]) continue;
      place[i] = static_cast<std::uint32_t>(left.size());
      if (all[i].parent != scope_node::none) all[i].parent = place[all[i].parent];
      left.push_back(std::move(all[i]));
    }
    all = std::move(left);
  }

  void keep_largest(std::size_t top) {
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
