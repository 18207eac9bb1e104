// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TREE_HPP
#define KPROF_REPORT_TEXT_TREE_HPP

// The call tree of the text report. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/grid.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Which rows of the tree are shown. A row that is shown has its parents shown.
struct chosen_tree {
  std::vector<tree_row> rows;
  std::vector<bool> shown, last;  // last: no sibling below it is shown
  hidden_rows filtered, cut;
  bool any_open = false;

  [[gnu::cold]] chosen_tree(const profile& p, const text_plan& plan)
      : rows(kprof::call_tree(p, plan.by.has(group_key::thread))),
        shown(rows.size(), true),
        last(rows.size(), false) {
    if (plan.filter.active()) filter(plan.filter);
    if (plan.options.top > 0) keep_largest(plan.options.top);
    bool top_seen = false;
    std::vector<bool> child_seen(rows.size(), false);
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (!shown[i]) continue;
      any_open = any_open || rows[i].open > 0;
      if (rows[i].parent == scope_node::none) last[i] = !top_seen, top_seen = true;
      else last[i] = !child_seen[rows[i].parent], child_seen[rows[i].parent] = true;
    }
  }

 private:
  void filter(const name_filter& wanted) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool inside = rows[i].parent != scope_node::none && shown[rows[i].parent];
      shown[i] = inside || (rows[i].kind != scope_kind::root &&
                            wanted.matches(rows[i].name, rows[i].parameters));
    }
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (shown[i] && rows[i].parent != scope_node::none) shown[rows[i].parent] = true;
      if (!shown[i]) filtered.add(rows[i]);
    }
  }

  void keep_largest(std::size_t top) {
    // A parent is no smaller than its children and comes before them.
    std::size_t kept = 0;
    for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
           return is_larger(rows[a], rows[b]);
         })) {
      if (!shown[i] || kept++ < top) continue;
      shown[i] = false;
      cut.add(rows[i]);
    }
  }
};

/// The lines that lead to a row; for a row too deep to draw, how deep it is.
[[gnu::cold]] inline std::string tree_lines(const chosen_tree& tree, std::size_t at,
                                            std::size_t page_width, bool ascii) {
  const std::size_t depth = tree.rows[at].depth;
  if (depth == 0) return {};
  const char* branch =
      tree.last[at] ? (ascii ? "`- " : "\u2514\u2500 ") : (ascii ? "|- " : "\u251C\u2500 ");
  if (3 * depth > page_width * 2 / 5)
    return (ascii ? ".." : "\u2026") + std::to_string(depth) + ' ' + branch;
  std::vector<bool> ends;
  for (std::uint32_t up = tree.rows[at].parent; up != scope_node::none && tree.rows[up].depth > 0;
       up = tree.rows[up].parent)
    ends.push_back(tree.last[up]);
  std::string lines;
  for (std::size_t i = ends.size(); i-- > 0;) lines += ends[i] ? "   " : ascii ? "|  " : "\u2502  ";
  return lines + branch;
}

[[gnu::cold]] inline std::string tree_label(const tree_row& row, const profile& p) {
  if (row.kind == scope_kind::root) return "thread " + thread_name(p, row.thread);
  const std::string name = row.name.empty() ? "(no name)" : row.name;
  if (row.kind != scope_kind::op) return name;
  const std::string parameters = row.merged ? "not kept" : row.parameters;
  if (!row.invalid) return name + '(' + parameters + ')';
  return name + (parameters.empty() ? "(invalid)" : "(invalid: " + parameters + ')');
}

[[gnu::cold]] inline std::vector<std::string> tree_cells(const chosen_tree& tree, std::size_t at,
                                                         const profile& p, const page& out,
                                                         bool device) {
  const tree_row& row = tree.rows[at];
  const bool thread = row.kind == scope_kind::root;
  std::vector<std::string> cells{
      tree_lines(tree, at, out.width(), out.ascii()) + tree_label(row, p),
      thread ? "" : calls_cell(row.calls + row.replays)};
  if (tree.any_open) cells.push_back(thread ? "" : open_cell(row.open, row.open_ns, out));
  if (device) {
    cells.push_back(out.time(row.device_total_ns));
    cells.push_back(format_share(row.device_share));
  }
  cells.push_back(out.time(row.total_ns));
  cells.push_back(format_share(row.total_share));
  cells.push_back(thread ? "" : out.time(row.self_ns));
  cells.push_back(thread ? ""
                  : row.timed_calls == 0
                      ? "n/a"
                      : out.time(row.calls_ns / static_cast<double>(row.timed_calls)));
  return cells;
}

/// The page width at which no label is cut. A wider page has more of the lines that lead to deep
/// rows, so that it is approached from below. `others`: the width of all other columns.
[[gnu::cold]] inline std::size_t whole_tree_width(const chosen_tree& tree, const profile& p,
                                                  const page& out, std::size_t others) {
  for (std::size_t width = out.width();;) {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      if (!tree.shown[i]) continue;
      const std::string label =
          tree_lines(tree, i, width, out.ascii()) + tree_label(tree.rows[i], p);
      wanted =
          std::max(wanted, others + display_width(printable(label, 2 * widest_page, out.ascii())));
    }
    if (wanted <= width || wanted > widest_page) return std::max(wanted, width);
    width = wanted;
  }
}

[[gnu::cold]] inline std::string tree_title(const page& out, const text_plan& plan) {
  const std::string share = "share is total, of " + out.time(plan.all_self_ns) + " in all scopes";
  if (!plan.device) return "Call tree, sorted by total; " + share;
  return "Call tree, sorted by device: that of a scope and all below it; dev share is of " +
         out.time(plan.all_device_ns) + " of device time, " + share;
}

/// Work that is in no scope of the tree.
[[gnu::cold]] inline void print_outside_scopes(page& out, const profile& p, const text_plan& plan) {
  device_sum rest;
  for (const device_work& w : p.device.work)
    if (const std::uint32_t node = scope_of(p, w);
        node == scope_node::none || p.nodes[node].kind == scope_kind::root)
      rest.add(w);
  if (rest.runs() == 0) return;
  out.paragraph("",
                "outside all scopes: " + runs_of(rest) + ", device " + out.time(rest.ns) + ", " +
                    format_share(share_of(rest.ns, plan.all_device_ns)),
                2);
}

[[gnu::cold]] inline void print_tree(page& out, const profile& p, const text_plan& plan) {
  const chosen_tree tree(p, plan);
  out.space();
  out.paragraph("", tree_title(out, plan), 2, line_style::bold);
  out.space();
  grid cells;
  for (const std::string_view header :
       {"scope", "calls", "open", "device", "dev share", "total", "share", "self", "mean"})
    if ((header != "open" || tree.any_open) && (!header.starts_with("dev") || plan.device))
      cells.columns.push_back({.header = std::string{header}, .right = header != "scope"});
  for (std::size_t i = 0; i < tree.rows.size(); ++i)
    if (tree.shown[i]) cells.rows.push_back(tree_cells(tree, i, p, out, plan.device));
  if (cells.rows.empty()) {
    out.line("no scope matches the filter");
  } else {
    cells.measure(out);
    const std::size_t others = cells.whole_width() - cells.columns[0].natural;
    cells.columns[0].least = std::max<std::size_t>(16, out.width() * 2 / 5);
    while (cells.columns.size() > 3 && cells.least_width() > out.width())
      cells.drop(cells.columns.size() - 1);
    cells.columns[0].least = 10;
    while (cells.columns.size() > 2 && cells.least_width() > out.width())
      cells.drop(cells.columns.size() - 1);
    cells.print(out);
    out.space();
    if (const auto cut = cells.cut(); !cut.empty())
      print_cut(out, cut, whole_tree_width(tree, p, out, others));
  }
  tree.cut.print(out, "more rows", cut_by(plan, plan.device ? "by device" : "by total"), plan);
  tree.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  print_outside_scopes(out, p, plan);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
