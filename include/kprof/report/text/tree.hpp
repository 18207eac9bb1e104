// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TREE_HPP
#define KPROF_REPORT_TEXT_TREE_HPP

// The call tree of the text report. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/chosen_tree.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/concerned_names.hpp>
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
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The lines that lead to a row; for a row too deep to draw, how deep it is.
[[gnu::cold]] inline std::string tree_lines(const chosen_tree& tree, std::size_t at,
                                            std::size_t page_width, bool ascii) {
  const std::size_t depth = tree.rows[at].row.depth;
  if (depth == 0) return {};
  const char* branch =
      tree.last[at] ? (ascii ? "`- " : "\u2514\u2500 ") : (ascii ? "|- " : "\u251C\u2500 ");
  if (3 * depth > page_width * 2 / 5)
    return (ascii ? ".." : "\u2026") + std::to_string(depth) + ' ' + branch;
  std::vector<bool> ends;
  for (std::uint32_t up = tree.rows[at].row.parent;
       up != scope_node::none && tree.rows[up].row.depth > 0; up = tree.rows[up].row.parent)
    ends.push_back(tree.last[up]);
  std::string lines;
  for (std::size_t i = ends.size(); i-- > 0;) lines += ends[i] ? "   " : ascii ? "|  " : "\u2502  ";
  return lines + branch;
}

[[gnu::cold]] inline std::string tree_label(const folded_row& folded, const profile& p,
                                            bool ascii) {
  const tree_row& row = folded.row;
  if (row.kind == scope_kind::root) return "thread " + thread_name(p, row.thread);
  // the range of a folded row
  const auto ascii_if = [&](std::string text) {
    for (std::size_t at = 0;
         ascii && folded.rows > 1 && (at = text.find("\u2026", at)) != std::string::npos;)
      text.replace(at, 3, "...");
    return text;
  };
  const std::string name = row.name.empty() ? "(no name)" : ascii_if(row.name);
  const std::string times =
      folded.siblings > 1 ? (ascii ? " x" : " \u00D7") + format_count(folded.siblings) : "";
  if (row.kind != scope_kind::op) return name + times;
  const std::string parameters = row.merged ? "not kept" : ascii_if(row.parameters);
  if (!row.invalid) return name + '(' + parameters + ')';
  return name + (parameters.empty() ? "(invalid)" : "(invalid: " + parameters + ')');
}

/// A column of the tree beside the scopes.
struct tree_column {
  const char* header;
  unsigned rank, device_rank;  // where not all fit, the highest goes first; 0: not there
  look as;
};
inline constexpr tree_column tree_columns[] = {
    {"calls", 1, 1, look::calls},     {"open", 2, 2, look::open},  {"device", 0, 2, look::time},
    {"dev share", 0, 3, look::share}, {"total", 2, 5, look::time}, {"share", 3, 10, look::share},
    {"each", 6, 6, look::time},       {"self", 5, 8, look::time},  {"mean", 8, 11, look::time},
    {"GFLOP/s", 4, 4, look::rate},    {"GB/s", 7, 7, look::rate},  {"FLOPs", 9, 9, look::si},
};

/// "44.1 … 53.0 ms": the least and the most that one of the folded rows took.
[[gnu::cold]] inline std::string each_cell(const folded_row& row, const page& out, bool device) {
  if (row.siblings < 2) return {};
  const double least = device ? row.least_device_ns : row.least_ns,
               most = device ? row.most_device_ns : row.most_ns;
  return out.time(least) + (out.ascii() ? " - " : " \u2013 ") + out.time(most);
}

/// FLOPs, bytes and their rates; empty where no operator is below.
[[gnu::cold]] inline std::string work_cell(const figure& f, look as, bool tera, const page& out) {
  if (f.why == absence::no_operator) return {};
  return f.known() ? number_cell(as, tera ? f.value * 1e-3 : f.value, out) : "n/a";
}

[[gnu::cold]] inline std::string tree_cell(const tree_column& c, const folded_row& folded,
                                           const page& out, bool device, bool tera) {
  const tree_row& row = folded.row;
  const bool thread = row.kind == scope_kind::root;
  const std::string_view header = c.header;
  if (header == "calls") return thread ? "" : calls_cell(row.calls + row.replays);
  if (header == "open") return thread ? "" : open_cell(row.open, row.open_ns, out);
  if (header == "device") return out.time(row.device_total_ns);
  if (header == "dev share") return format_share(row.device_share);
  if (header == "total") return out.time(row.total_ns);
  if (header == "share") return format_share(row.total_share);
  if (header == "each") return each_cell(folded, out, device);
  if (header == "self") return thread ? "" : out.time(row.self_ns);
  if (header == "mean")
    return thread                 ? ""
           : row.timed_calls == 0 ? "n/a"
                                  : out.time(row.calls_ns / static_cast<double>(row.timed_calls));
  return work_cell(header == "GFLOP/s" ? row.flops_per_s
                   : header == "GB/s"  ? row.bytes_per_s
                                       : row.flops,
                   c.as, tera, out);
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
          tree_lines(tree, i, width, out.ascii()) + tree_label(tree.rows[i], p, out.ascii());
      wanted =
          std::max(wanted, others + display_width(printable(label, 2 * widest_page, out.ascii())));
    }
    if (wanted <= width || wanted > widest_page) return std::max(wanted, width);
    width = wanted;
  }
}

[[gnu::cold]] inline std::string tree_title(const page& out, const text_plan& plan,
                                            const chosen_tree& tree) {
  const std::string share = "share is total, of " + out.time(plan.all_self_ns) + " in all scopes";
  std::string title = plan.options.order == tree_order::run ? "Call tree, in the order of the run; "
                      : plan.device                         ? "Call tree, sorted by device; "
                                                            : "Call tree, sorted by total; ";
  if (plan.device)
    title += "device is that of a scope and all below it, dev share of " +
             out.time(plan.all_device_ns) + " of device time, ";
  title += share;
  if (tree.any_folded)
    title += std::string{"; "} + (out.ascii() ? "x2" : "\u00D72") +
             ": so many regions that differ in a number, as one row";
  return title;
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

/// The tree laid out on a page.
class tree_grid {
 public:
  [[gnu::cold]] tree_grid(const page& out, const profile& p, const text_plan& plan,
                          const chosen_tree& tree)
      : out_(out), p_(p), tree_(tree) {
    cells_.columns.push_back({.header = "scope", .right = false});
    ranks_.push_back(0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i)
      if (tree.shown[i])
        cells_.rows.push_back({tree_lines(tree, i, out.width(), out.ascii()) +
                               tree_label(tree.rows[i], p, out.ascii())});
    for (const tree_column& c : tree_columns) add(c, plan.device);
  }

  bool empty() const noexcept { return cells_.rows.empty(); }

  [[gnu::cold]] void print(page& out) {
    cells_.measure(out);
    const std::size_t others = cells_.whole_width() - cells_.columns[0].natural;
    std::vector<std::string> left_out;
    drop_until(std::max<std::size_t>(16, out.width() * 2 / 5), 3, left_out);
    drop_until(10, 2, left_out);
    cells_.print(out);
    out.space();
    if (!left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out);
    if (const auto cut = cells_.cut(); !cut.empty())
      print_cut(out, cut, whole_tree_width(tree_, p_, out, others));
  }

 private:
  [[gnu::cold]] void add(const tree_column& c, bool device) {
    const unsigned rank = device ? c.device_rank : c.rank;
    if (rank == 0) return;
    const std::string_view name = c.header;
    if ((name == "open" && !tree_.any_open) || (name == "each" && !tree_.any_folded)) return;
    const bool work = c.as == look::rate || c.as == look::si;
    double most = 0;
    for (std::size_t i = 0; i < tree_.rows.size(); ++i) {
      const tree_row& row = tree_.rows[i].row;
      const figure f = name == "GFLOP/s" ? row.flops_per_s
                       : name == "GB/s"  ? row.bytes_per_s
                                         : row.flops;
      if (tree_.shown[i] && f.known()) most = std::max(most, f.value);
    }
    if (work && !(most > 0)) return;
    const bool tera = c.as == look::rate && most >= least_tera;
    cells_.columns.push_back({.header = tera ? 'T' + std::string(name.substr(1)) : c.header});
    ranks_.push_back(rank);
    for (std::size_t i = 0, line = 0; i < tree_.rows.size(); ++i)
      if (tree_.shown[i])
        cells_.rows[line++].push_back(tree_cell(c, tree_.rows[i], out_, device, tera));
    if (c.as == look::rate) cells_.align_points(cells_.columns.size() - 1);
  }

  void drop_until(std::size_t least, std::size_t kept, std::vector<std::string>& left_out) {
    cells_.columns[0].least = least;
    while (cells_.columns.size() > kept && cells_.least_width() > out_.width()) {
      const auto worst = std::max_element(ranks_.begin(), ranks_.end());
      const auto at = static_cast<std::size_t>(worst - ranks_.begin());
      left_out.insert(left_out.begin(), cells_.columns[at].header);
      cells_.drop(at);
      ranks_.erase(worst);
    }
  }

  const page& out_;
  const profile& p_;
  const chosen_tree& tree_;
  grid cells_;
  std::vector<unsigned> ranks_;  // by column
};

/// A line for each reason for which rates of operators are not known, where no table of operators
/// says it.
[[gnu::cold]] inline void print_tree_absences(page& out, const chosen_tree& tree) {
  std::vector<const tree_row*> rows;
  std::vector<std::string> of_rows;
  for (std::size_t i = 0; i < tree.rows.size(); ++i)
    if (tree.shown[i] && tree.rows[i].row.kind == scope_kind::op) {
      rows.push_back(&tree.rows[i].row);
      of_rows.push_back(tree.rows[i].row.name);
    }
  const concerned_names names(std::move(of_rows));
  for (unsigned why = 1; why < static_cast<unsigned>(absence::no_operator); ++why)
    names.print(out, "n/a, " + std::string{explain(static_cast<absence>(why))} + ": ",
                [&](std::size_t i) {
                  return static_cast<unsigned>(rows[i]->flops_per_s.why) == why ||
                         static_cast<unsigned>(rows[i]->bytes_per_s.why) == why;
                });
}

[[gnu::cold]] inline void print_tree(page& out, const profile& p, const text_plan& plan) {
  const chosen_tree tree(p, plan);
  out.space();
  out.paragraph("", tree_title(out, plan, tree), 2, line_style::bold);
  out.space();
  tree_grid table(out, p, plan, tree);
  if (table.empty()) out.line("no scope matches the filter");
  else table.print(out);
  if (!plan.options.table) print_tree_absences(out, tree);
  tree.cut.print(out, "more rows", cut_by(plan, plan.device ? "by device" : "by total"), plan);
  tree.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  print_outside_scopes(out, p, plan);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
