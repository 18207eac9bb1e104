// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TABLE_HPP
#define KPROF_REPORT_TEXT_TABLE_HPP

// The operator table of the text report: rows chosen and ordered, columns chosen by the width, and
// under them what is not shown and why a number is missing. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/concerned_names.hpp>
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

/// The rows of the table in their order, and what became of the others.
struct chosen_rows {
  std::vector<operator_row> rows;
  hidden_rows filtered, cut;
  double operators_self_ns = 0;

  [[gnu::cold]] chosen_rows(const profile& p, const text_plan& plan) {
    std::vector<operator_row> all = wanted(p, plan);
    for (const operator_row& row : all) operators_self_ns += row.self_ns;
    for (const std::uint32_t i : sorted_order(all.size(), [&](std::uint32_t a, std::uint32_t b) {
           return comes_before(*plan.sort, all[a], all[b]);
         })) {
      if (plan.options.top == 0 || rows.size() < plan.options.top)
        rows.push_back(std::move(all[i]));
      else cut.add(all[i]);
    }
  }

 private:
  // Calls are filtered one set of parameters after another, before rows are made of them: a row of
  // several sets has no parameters that an expression could be searched in. Of a row matched in
  // part, the other calls are a row filtered out.
  std::vector<operator_row> wanted(const profile& p, const text_plan& plan) {
    if (!plan.filter.active()) return operator_table(p, plan.by);
    std::vector<bool> matches(p.nodes.size());
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      matches[i] = p.nodes[i].kind == scope_kind::op &&
                   plan.filter.matches(p.nodes[i].name, parameter_text(p, p.nodes[i]));
    const auto match = [&](const scope_node& n) {
      return matches[static_cast<std::size_t>(&n - p.nodes.data())];
    };
    for (const operator_row& row :
         operator_table(p, plan.by, [&](const scope_node& n) { return !match(n); })) {
      operators_self_ns += row.self_ns;
      filtered.add(row);
    }
    return operator_table(p, plan.by, match);
  }
};

inline bool shown_unasked(const column& c, const std::vector<operator_row>& rows,
                          const text_plan& plan) noexcept {
  if (c.as == look::call_site) return plan.by.has(group_key::call_site);
  if (c.as == look::thread) return plan.by.has(group_key::thread);
  if (c.as == look::open)
    return std::any_of(rows.begin(), rows.end(),
                       [](const operator_row& row) { return row.open > 0; });
  const unsigned rank = rank_of(c, plan.device);
  return rank > 0 && rank != not_here;
}

/// How far a column of text may shrink.
[[gnu::cold]] inline std::size_t least_width(const column& c, bool comfortable,
                                             std::size_t page_width) noexcept {
  switch (c.as) {
    case look::name: return std::clamp<std::size_t>(page_width / 4, 10, 32);
    case look::parameters: return comfortable ? 24 : 12;
    case look::call_site: return 16;
    case look::thread: return 12;
    default: return 0;
  }
}

/// The table's columns: those asked for, or those that fit. Returns what had to be left out.
class table_columns {
 public:
  std::vector<const column*> shown;
  std::vector<std::string> left_out;
  grid cells;
  std::size_t whole_width = 0;  // of a page on which nothing is cut or left out

  [[gnu::cold]] table_columns(const page& out, const profile& p, const text_plan& plan,
                              const std::vector<operator_row>& rows)
      : asked_(!plan.columns.empty()), device_(plan.device) {
    nested_ = std::any_of(rows.begin(), rows.end(), [](const operator_row& row) {
      return row.device_total_ns > 2 * row.device_ns;
    });
    shown = plan.columns;
    for (const column& c : columns)
      if (!asked_ && shown_unasked(c, rows, plan)) shown.push_back(&c);
    for (const column* c : shown)
      cells.columns.push_back({.header = c->header,
                               .right = !is_foreign(*c) && c->as != look::type,
                               .keep_end = c->as == look::call_site});
    for (const operator_row& row : rows) {
      auto& line = cells.rows.emplace_back();
      for (const column* c : shown) line.push_back(cell(*c, row, p, plan.by, out));
    }
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (shown[i]->as == look::rate || shown[i]->as == look::ratio) cells.align_points(i);
    cells.measure(out);
    whole_width = cells.whole_width();
    set_least(out);
    while (shown.size() > 1 && cells.least_width() > out.width()) drop_one(out);
    std::reverse(left_out.begin(), left_out.end());
  }

 private:
  void set_least(const page& out) {
    const bool comfortable =
        !asked_ && std::any_of(shown.begin(), shown.end(), [&](const column* c) {
          return rank_of(*c, device_, nested_) >= comfort_rank;
        });
    for (std::size_t i = 0; i < shown.size(); ++i)
      cells.columns[i].least = least_width(*shown[i], comfortable, out.width());
  }
  void drop_one(const page& out) {
    std::size_t worst = shown.size() - 1;
    if (!asked_)
      for (std::size_t i = 0; i < shown.size(); ++i)
        if (rank_of(*shown[i], device_, nested_) > rank_of(*shown[worst], device_, nested_))
          worst = i;
    left_out.push_back(shown[worst]->header);
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(worst));
    cells.drop(worst);
    set_least(out);
  }

  bool asked_, device_, nested_ = false;
};

/// A line for each reason for which a number of the page is not known.
[[gnu::cold]] inline void print_absences(page& out, const std::vector<const column*>& shown,
                                         const std::vector<operator_row>& rows,
                                         const concerned_names& names) {
  for (const absence why :
       {absence::no_flops, absence::no_bytes, absence::invalid, absence::merged,
        absence::zero_bytes, absence::dropped, absence::lost, absence::not_all_records,
        absence::untimed, absence::no_launch, absence::no_time, absence::not_replayed,
        absence::graphs_only, absence::no_calls})
    names.print(out, "n/a, " + std::string{explain(why)} + ": ", [&](std::size_t i) {
      return std::any_of(shown.begin(), shown.end(), [&](const column* c) {
        return c->number != nullptr && c->number->of(rows[i]).why == why;
      });
    });
}

[[gnu::cold]] inline void print_short_calls(page& out, const profile& p,
                                            const std::vector<operator_row>& rows,
                                            const concerned_names& names) {
  names.print(out,
              "short, so partly kprof's own time (an empty scope shows " +
                  out.time(p.cost.empty_scope_ns) + "): ",
              [&](std::size_t i) {
                return rows[i].mean_ns.known() &&
                       rows[i].mean_ns.value < 10 * p.cost.empty_scope_ns;
              });
}

/// Work that no operator accounts for, and the names of what took the most time.
[[gnu::cold]] inline void print_outside(page& out, const profile& p, const text_plan& plan) {
  const work_outside rest = outside_operators(p);
  if (rest.all.runs() == 0) return;
  std::string text = "outside any operator: " + runs_of(rest.all) + ", device " +
                     out.time(rest.all.ns) + ", " +
                     format_share(share_of(rest.all.ns, plan.all_device_ns));
  if (rest.unknown.runs() > 0)
    text += "; of these, launch not seen: " + runs_of(rest.unknown) + ", device " +
            out.time(rest.unknown.ns);
  out.paragraph("", text, 2);
  std::vector<std::string> names, notes;
  for (const named_work& work : rest.names) {
    names.push_back(short_kernel_name(work.name));
    notes.push_back(' ' + out.time(work.sum.ns) + " (" + format_count(work.sum.runs()) + ')');
  }
  out.list("outside any operator, by name: ", names, notes);
}

[[gnu::cold]] inline std::string table_title(const page& out, const text_plan& plan) {
  std::string by;
  const std::vector<group_part> keys = plan.by.keys();
  for (std::size_t i = 0; i < keys.size() && plan.by != grouping::op; ++i)
    by += (i == 0                 ? " by "
           : i + 1 == keys.size() ? " and "
                                  : ", ") +
          (keys[i].kind == group_key::call_site ? "call site" : out.safe(text_of(keys[i])));
  return "Operators" + by + ", sorted by " + plan.sort->header +
         (plan.device
              ? "; dev share is of " + out.time(plan.all_device_ns) + " of device time, share"
              : "; share is") +
         " of " + out.time(plan.all_self_ns) + " in all scopes";
}

[[gnu::cold]] inline void print_table(page& out, const profile& p, const text_plan& plan) {
  const chosen_rows chosen(p, plan);
  out.space();
  out.paragraph("", table_title(out, plan), 2);
  out.space();
  if (chosen.rows.empty()) {
    out.line(chosen.filtered.rows > 0 ? "no operator matches the filter" : "no operator ran");
  } else {
    table_columns table(out, p, plan, chosen.rows);
    table.cells.print(out);
    out.space();
    chosen.cut.print(out, "more rows", cut_by(plan, "sort=" + std::string{plan.sort->id}), plan);
    std::vector<std::string> of_rows;
    for (const operator_row& row : chosen.rows) of_rows.push_back(row.name);
    const concerned_names names(std::move(of_rows));
    print_absences(out, table.shown, chosen.rows, names);
    print_short_calls(out, p, chosen.rows, names);
    if (!table.left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", table.left_out);
    print_cut(out, table.cells.cut(), table.whole_width);
  }
  chosen.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  print_outside(out, p, plan);
  const double regions = plan.all_self_ns - chosen.operators_self_ns;
  if (!(regions > plan.all_self_ns * 1e-9)) return;
  // The operator that handed a path to another thread has its row by=thread elsewhere.
  const std::string where = plan.by.has(group_key::thread)
                                ? "in regions, outside operators of their thread"
                                : "in regions, outside operators";
  out.paragraph(
      "", where + ": self " + out.time(regions) + ", " + format_share(regions / plan.all_self_ns),
      2);
}

[[gnu::cold]] inline void print_legend(page& out, const text_plan& plan) {
  out.space();
  out.line("Legend");
  for (const column& c : columns) {
    if (rank_of(c, plan.device) == not_here) continue;
    const std::string id = std::string_view{c.id} == c.header ? "" : "(" + std::string{c.id} + ") ";
    print_meaning(out, c.header, id + (plan.device ? c.device_meaning : c.meaning));
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
