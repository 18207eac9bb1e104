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
#include <kprof/report/text/tree_labels.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A column of the tree beside the scopes.
struct tree_column {
  const char* header;
  unsigned rank, device_rank;  // where not all fit, the highest goes first; 0: not there
  look as;
};
inline constexpr tree_column tree_columns[] = {
    {"calls", 1, 1, look::calls},     {"open", 2, 2, look::open},    {"device", 0, 2, look::time},
    {"dev share", 0, 3, look::share}, {"total", 2, 5, look::time},   {"share", 3, 10, look::share},
    {"each", 6, 6, look::time},       {"self", 5, 8, look::time},    {"mean", 8, 11, look::time},
    {"roof", 4, 4, look::ratio},      {"GFLOP/s", 4, 4, look::rate}, {"GB/s", 7, 7, look::rate},
    {"FLOPs", 9, 9, look::si},        {"cpu", 10, 0, look::share},
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
  return figure_cell({tera ? f.value * 1e-3 : f.value, f.why, f.at_most}, as, out);
}

/// The number of work that a column shows.
[[gnu::cold]] inline const figure& work_of(std::string_view header, const tree_row& row) {
  if (header == "roof") return row.roof;
  return header == "GFLOP/s" ? row.flops_per_s : header == "GB/s" ? row.bytes_per_s : row.flops;
}

/// `folded.rows` is 0: it is a sum of rows.
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
    return thread || folded.rows == 0 ? ""
           : row.timed_calls == 0     ? "n/a"
                                  : out.time(row.calls_ns / static_cast<double>(row.timed_calls));
  if (header == "cpu")
    return thread || folded.rows == 0 ? "" : row.cpu.known() ? format_share(row.cpu.value) : "n/a";
  if (header == "roof") return work_cell(row.roof, look::share, tera, out);
  return work_cell(work_of(header, row), c.as, tera, out);
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
  title += plan.type_text();
  if (tree.any_folded)
    title += std::string{"; "} + (out.ascii() ? "x2" : "\u00D72") +
             ": so many that differ in a number, as one row";
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

/// A line below the tree: the sum of several rows.
struct tree_sum {
  std::string name;
  tree_row sum;
  bool inside = false;  // stands with the rows
};

/// The tree laid out on a page.
class tree_grid {
 public:
  [[gnu::cold]] tree_grid(const page& out, const profile& p, const text_plan& plan,
                          const chosen_tree& tree, std::vector<tree_sum> sums)
      : out_(out), tree_(tree), labels_(out, p, plan, tree), sums_(std::move(sums)) {
    cells_.columns.push_back({.header = "scope", .right = false, .is_printable = true});
    ranks_.push_back(0);
    for (std::size_t i = 0; i < tree.rows.size(); ++i)
      if (tree.shown[i]) cells_.rows.emplace_back(1);
    for (const tree_sum& sum : sums_) cells_.rows.push_back({sum.name});
    for (const tree_column& c : tree_columns) add(c, plan.device);
  }

  [[gnu::cold]] void print(page& out) {
    cells_.measure(out);
    cells_.columns[0].natural = std::max(cells_.columns[0].natural, labels_.natural());
    const std::size_t others = cells_.whole_width() - cells_.columns[0].natural;
    std::vector<std::string> left_out;
    drop_until(std::max<std::size_t>(16, out.width() * 2 / 5), 3, left_out);
    drop_until(10, 2, left_out);
    cells_.lay_out(out.width());
    put_labels();
    cells_.print(out);
    out.space();
    if (!left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out);
    if (const auto cut = cells_.cut(); !cut.empty())
      print_cut(out, cut, labels_.whole_page(out.width(), others));
  }

 private:
  [[gnu::cold]] void add(const tree_column& c, bool device) {
    const unsigned rank = device ? c.device_rank : c.rank;
    if (rank == 0) return;
    const std::string_view name = c.header;
    if ((name == "open" && !tree_.any_open) || (name == "each" && !tree_.any_folded)) return;
    if (name == "cpu" && !tree_.any_off_cpu) return;
    const bool work = c.as == look::rate || c.as == look::si || c.as == look::ratio;
    double most = 0;
    for (std::size_t i = 0; i < tree_.rows.size(); ++i) {
      const figure& f = work_of(name, tree_.rows[i].row);
      if (tree_.shown[i] && f.known()) most = std::max(most, f.value);
    }
    if (work && !(most > 0)) return;
    const bool tera = c.as == look::rate && most >= least_tera && is_in_tera(name);
    cells_.columns.push_back({.header = tera ? 'T' + std::string(name.substr(1)) : c.header});
    ranks_.push_back(rank);
    std::size_t line = 0;
    for (std::size_t i = 0; i < tree_.rows.size(); ++i)
      if (tree_.shown[i])
        cells_.rows[line++].push_back(tree_cell(c, tree_.rows[i], out_, device, tera));
    for (const tree_sum& sum : sums_)
      cells_.rows[line++].push_back(tree_cell(c, {.row = sum.sum, .rows = 0}, out_, device, tera));
    if (c.as == look::rate) cells_.align_points(cells_.columns.size() - 1);
  }

  /// The same as in the table: impossible rows have no say, nor have the branches that may hold
  /// them.
  [[gnu::cold]] bool is_in_tera(std::string_view column) const {
    const std::vector<folded_row>& rows = tree_.rows;
    const auto is_impossible = [](const folded_row& f) {
      return f.row.roof.why == absence::impossible;
    };
    bool operators_only = false;
    for (const folded_row& f : rows) operators_only = operators_only || is_impossible(f);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const figure f = work_of(column, rows[i].row);
      if (tree_.shown[i] && f.known() && f.value >= least_tera && !is_impossible(rows[i]) &&
          (!operators_only || rows[i].row.kind == scope_kind::op))
        return true;
    }
    return false;
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

  /// Puts the names into their column, with more lines for rows that take more, and looks of the
  /// sums.
  [[gnu::cold]] void put_labels() {
    std::vector<std::vector<std::string>> rows;
    std::vector<row_look> looks;
    const auto labels = labels_.at_width(cells_.columns[0].width);
    for (std::size_t i = 0; i < cells_.rows.size(); ++i) {
      rows.push_back(std::move(cells_.rows[i]));
      if (i < labels.size()) rows.back()[0] = labels[i][0];
      for (std::size_t more = 1; i < labels.size() && more < labels[i].size(); ++more)
        rows.emplace_back(cells_.columns.size())[0] = labels[i][more];
      looks.resize(rows.size());
      if (i < labels.size()) continue;
      const std::size_t sum = i - labels.size();
      const bool inside = sums_[sum].inside, after_rows = sum == 0 || sums_[sum - 1].inside;
      looks.back() = {.rule_before = !inside && after_rows,
                      .style = inside ? line_style::dim : line_style::plain};
    }
    cells_.rows = std::move(rows);
    cells_.looks = std::move(looks);
  }

  const page& out_;
  const chosen_tree& tree_;
  tree_labels labels_;
  std::vector<tree_sum> sums_;
  grid cells_;
  std::vector<unsigned> ranks_;  // by column
};

/// A line for each reason for which CPU times are not known or, where no table of operators says
/// it, rates of operators.
[[gnu::cold]] inline void print_tree_absences(page& out, const chosen_tree& tree,
                                              const text_plan& plan) {
  std::vector<const tree_row*> rows;
  std::vector<std::string> of_rows;
  for (std::size_t i = 0; i < tree.rows.size(); ++i)
    if (tree.shown[i] && tree.rows[i].row.kind != scope_kind::root) {
      rows.push_back(&tree.rows[i].row);
      of_rows.push_back(tree.rows[i].row.name);
    }
  const concerned_names names(std::move(of_rows));
  for (unsigned why = 1; why < static_cast<unsigned>(absence::no_operator); ++why)
    names.print(
        out, "n/a, " + std::string{explain(static_cast<absence>(why))} + ": ", [&](std::size_t i) {
          const tree_row& row = *rows[i];
          const auto is_why = [&](const figure& f) { return static_cast<unsigned>(f.why) == why; };
          return (tree.any_off_cpu && !plan.device && is_why(row.cpu)) ||
                 (!plan.options.table && row.kind == scope_kind::op &&
                  (is_why(row.flops_per_s) || is_why(row.bytes_per_s)));
        });
}

/// Numbers of the rows that `hidden` counts: their own times, in which nothing counts twice.
[[gnu::cold]] inline tree_sum sum_of(std::string name, const hidden_rows& hidden,
                                     const text_plan& plan) {
  tree_sum out{std::move(name), {}};
  out.sum.calls = hidden.calls;
  out.sum.self_ns = out.sum.total_ns = hidden.self_ns;
  out.sum.total_share = share_of(hidden.self_ns, plan.all_self_ns);
  out.sum.device_total_ns = hidden.device_ns;
  out.sum.device_share = share_of(hidden.device_ns, plan.all_device_ns);
  out.sum.flops = out.sum.flops_per_s = out.sum.bytes_per_s =
      out.sum.roof = {0, absence::no_operator};
  return out;
}

[[gnu::cold]] inline std::vector<tree_sum> tree_sums(const page& out, const text_plan& plan,
                                                     const chosen_tree& tree) {
  std::vector<tree_sum> sums;
  if (tree.cut.rows > 0) {
    const std::string name = (out.ascii() ? "... " : "\u2026 ") +
                             counted(tree.cut.rows, "more row", "more rows") +
                             (plan.tree_top < plan.options.top ? " (tree=on: up to " : " (top=") +
                             std::to_string(plan.options.top) + ')';
    sums.push_back(sum_of(name, tree.cut, plan));
    sums.back().inside = true;
  }
  const bool filtered = tree.filtered.rows > 0;
  sums.push_back(sum_of(filtered ? "scopes that match" : "all scopes", tree.all, plan));
  if (!filtered) {
    sums.back().sum.flops = tree.flops.value();
    sums.back().sum.flops_per_s = tree.flops.per_s();
    sums.back().sum.bytes_per_s = tree.bytes.per_s();
    sums.back().sum.roof = tree.roof.per_s();
  } else {
    sums.push_back(sum_of("filtered out " + filtered_by(out, plan), tree.filtered, plan));
  }
  return sums;
}

[[gnu::cold]] inline void print_tree(page& out, const profile& p, const text_plan& plan) {
  const chosen_tree tree(p, plan);
  out.space();
  out.paragraph("", tree_title(out, plan, tree), 2, line_style::bold);
  out.space();
  if (tree.rows.empty()) {
    out.line("no scope matches the filter");
    tree.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  } else {
    tree_grid(out, p, plan, tree, tree_sums(out, plan, tree)).print(out);
  }
  print_tree_absences(out, tree, plan);
  print_outside_scopes(out, p, plan);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
