// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TABLE_HPP
#define KPROF_REPORT_TEXT_TABLE_HPP

// The operator table of the text report: rows chosen and ordered, columns chosen by the width, and
// under them what is not shown and why a number is missing. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/concerned_names.hpp>
#include <kprof/report/text/first_calls.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/kernel_texts.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/off_cpu_line.hpp>
#include <kprof/report/text/operator_grid.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/roof_lines.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/shared_table.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/report/text/thread_lines.hpp>
#include <kprof/report/text/type_line.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The operator's name; of a row of several what makes the row.
[[gnu::cold]] inline std::string name_of(const operator_row& row) {
  if (row.operators < 2) return row.name;
  std::string out;
  for (const group_value& v : row.values)
    out.append(out.empty() ? "" : ", ").append(v.known ? v.text : "no " + v.key);
  return out;
}

/// Of the rows' time, that of rows which no formula says anything of.
[[gnu::cold]] inline double share_without_formula(const operator_groups& chosen,
                                                  const text_plan& plan) {
  double share = 0;
  if (plan.roofs)
    for (const operator_group& g : chosen.groups)
      for (const operator_row& row : g.rows)
        if (row.verdict.roof.why == absence::no_flops)
          share += plan.device ? row.device_share : row.share;
  return share;
}

/// Also of rows that have no line of their own.
[[gnu::cold]] inline void print_impossible(page& out, const operator_groups& chosen) {
  std::vector<std::string> found;
  for (const operator_group& g : chosen.groups)
    for (const operator_row& row : g.rows)
      if (row.verdict.bound == bound_by::impossible) found.push_back(name_of(row));
  concerned_names(std::move(found))
      .print(out,
             "impossible, faster than this machine can be: a formula or a ceiling is wrong, or "
             "work was skipped or done elsewhere; totals count its work, and their rates and the "
             "first line leave it out if they can: ",
             [](std::size_t) { return true; });
}

/// Lines below the table: why a number of it is not known, and which are partly kprof's own time.
[[gnu::cold]] inline void print_row_notes(page& out, const profile& p, const text_plan& plan,
                                          const operator_groups& chosen,
                                          const std::vector<const column*>& shown) {
  std::vector<const operator_row*> rows;
  std::vector<std::string> of_rows;
  for (const operator_group& g : chosen.groups)
    for (std::size_t i = 0; i < g.shown; ++i) {
      rows.push_back(&g.rows[i]);
      of_rows.push_back(name_of(g.rows[i]));
    }
  const concerned_names names(std::move(of_rows));
  for (const absence why : {absence::no_flops,    absence::no_bytes,      absence::no_type,
                            absence::no_ceiling,  absence::other_ceiling, absence::no_other_machine,
                            absence::invalid,     absence::merged,        absence::zero_bytes,
                            absence::dropped,     absence::lost,          absence::not_all_records,
                            absence::untimed,     absence::no_launch,     absence::not_joined,
                            absence::not_shared,  absence::no_cpu_time,   absence::too_short,
                            absence::no_time,     absence::not_replayed,  absence::not_noted,
                            absence::graphs_only, absence::no_calls})
    names.print(out, "n/a, " + std::string{explain(why)} + ": ", [&](std::size_t i) {
      return (plan.roofs && rows[i]->verdict.no_bound == why) ||
             std::any_of(shown.begin(), shown.end(), [&](const column* c) {
               return c->number != nullptr && c->number->of(*rows[i]).why == why;
             });
    });
  const bool lacks_ceilings = std::any_of(rows.begin(), rows.end(), [](const operator_row* row) {
    return !row->on_device && row->verdict.roof.why == absence::no_ceiling;
  });
  if (plan.roofs && lacks_ceilings)
    for (const std::string& note : p.machine.cpu.notes)
      out.paragraph("", "roof: " + out.safe(note), 2, line_style::notice);
  if (const double share = share_without_formula(chosen, plan); share >= 0.001)
    names.print(out,
                "outside the roofline, " + format_share(share) + " of the time has no formula: ",
                [&](std::size_t i) { return rows[i]->verdict.roof.why == absence::no_flops; });
  names.print(out,
              std::string{out.ascii() ? "<=" : "\u2264"} +
                  ", held against a ceiling that is only known from below, and may be higher: ",
              [&](std::size_t i) {
                return plan.roofs && rows[i]->verdict.roof.known() && rows[i]->verdict.roof.at_most;
              });
  print_impossible(out, chosen);
  if (plan.roofs) print_several_threads(out, p);
  print_first_calls(out, chosen, row_describer(p, plan, false), plan);
  names.print(
      out,
      "mean above 3 times the median, a few calls take most of the time, see report(slowest): ",
      [&](std::size_t i) { return has_long_calls(*rows[i]); });
  names.print(out,
              "short, so partly kprof's own time (an empty scope shows " +
                  out.time(p.cost.empty_scope_ns) + "): ",
              [&](std::size_t i) {
                return rows[i]->mean_ns.known() &&
                       rows[i]->mean_ns.value < 10 * p.cost.empty_scope_ns;
              });
}

// columns of a kernel's name in a list
inline constexpr std::size_t longest_listed = 40;

/// Work that no operator accounts for, and the names of what took the most time: as in the table of
/// kernels, no two the same.
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
  std::vector<std::string> wholes, notes;
  for (const std::string& kernel : p.device.kernels) wholes.push_back(kernel_name(kernel));
  for (const named_work& work : rest.names) wholes.push_back(work.name);
  std::sort(wholes.begin(), wholes.end());
  wholes.erase(std::unique(wholes.begin(), wholes.end()), wholes.end());
  const std::vector<std::vector<std::string>> texts =
      kernel_texts(wholes, out.ascii()).at_width(longest_listed);
  for (const named_work& work : rest.names) {
    const auto at = std::lower_bound(wholes.begin(), wholes.end(), work.name) - wholes.begin();
    std::string name;  // one that takes several lines is not to be cut by list()
    for (const std::string& line : texts[static_cast<std::size_t>(at)])
      name += line.substr(std::min(line.find_first_not_of(' '), line.size()));
    notes.push_back(name + ' ' + out.time(work.sum.ns) + " (" + format_count(work.sum.runs()) +
                    ')');
  }
  out.list("outside any operator, by name: ", std::vector<std::string>(notes.size()), notes);
}

/// What the run would take on another machine, and for how much of its time that is said.
[[gnu::cold]] inline void print_projected_total(page& out, const text_plan& plan,
                                                const operator_groups& chosen) {
  if (!plan.other) return;
  const operator_row& all = chosen.total;
  const double whole_ns = plan.device ? chosen.all.device_ns : all.total_ns;
  const double of_ns = all.projected_of_ns, there_ns = all.projected_ns.value;
  std::string text = "projected: n/a, no row has a verdict that holds there";
  if (all.projected_ns.known() && there_ns > 0) {
    text = "projected: " + out.time(of_ns) + (plan.device ? " of the device's " : " of the ") +
           out.time(whole_ns) + " in operators (" +
           format_share(std::min(1.0, share_of(of_ns, whole_ns))) + ") would take " +
           out.time(there_ns);
    text += there_ns < of_ns ? ", " + format_rate(of_ns / there_ns) + " times faster"
                             : ", " + format_rate(there_ns / of_ns) + " times slower";
    if (of_ns < 0.995 * whole_ns) text += "; the rest has no verdict that holds there";
  }
  out.paragraph("", text, 2);
}

/// What the order of the rows is by. Where no row lost a known time, rows are in the order of all
/// of their time.
[[gnu::cold]] inline const char* order_of_rows(const text_plan& plan,
                                               const operator_groups& chosen) {
  const auto is_known = [](const operator_row& row) { return row.verdict.lost_ns.known(); };
  if (!plan.sort->is("lost") || chosen.all.rows == 0 ||
      std::any_of(chosen.groups.begin(), chosen.groups.end(), [&](const operator_group& g) {
        return std::any_of(g.rows.begin(), g.rows.end(), is_known);
      }))
    return plan.sort->header;
  return plan.device ? "device" : "self";
}

[[gnu::cold]] inline std::string table_title(const page& out, const text_plan& plan,
                                             const operator_groups& chosen) {
  std::string title = "Operators";
  const std::vector<group_part> keys = plan.by.keys();
  for (std::size_t i = 0; i < keys.size() && plan.by.text() != grouping{}.text(); ++i)
    title += (i == 0                 ? " by "
              : i + 1 == keys.size() ? " and "
                                     : ", ") +
             (keys[i].kind == group_key::call_site ? "call site" : out.safe(text_of(keys[i])));
  title += std::string{", sorted by "} + order_of_rows(plan, chosen);
  title += plan.type_text();
  return title;
}

/// What the rows without a step hold, and what is not known of the others.
[[gnu::cold]] inline void print_step_key(page& out, const profile& p, const text_plan& plan,
                                         const operator_groups& chosen) {
  if (!plan.by.has(group_key::step) || p.stepping.threads.empty()) return;
  out.line(std::string{"n/a beside a step: "} + explain(absence::not_by_step));
  bool any = false, knows_device = false, lacks_device = false;
  for (const operator_group& g : chosen.groups)
    for (const operator_row& row : g.rows) {
      any = any || !row.of_step;
      if (row.of_step) (row.knows_device_of_step ? knows_device : lacks_device) = true;
    }
  if (knows_device) out.line("what a device did is in the step whose call launched it");
  if (!any) return;
  // Scopes are known by step of the first thread.
  const thread_steps& own = p.stepping.threads[0];
  std::uint64_t ended = 0, marks = 0, whole = 0;
  for (const thread_steps& t : p.stepping.threads) ended += t.count;
  for (const step_mark& m : p.steps) {
    if (m.thread != own.thread) continue;
    ++marks;
    whole += p.stepping.whole_from >= 0 && m.begin >= p.stepping.whole_from ? 1U : 0U;
  }
  whole += p.stepping.kept.size();
  std::string text = "no step: calls outside steps, and calls that threads share";
  if (!knows_device) text += " or graphs replay";
  // Memory for marks is spent before that for the timeline where steps are short.
  const std::uint64_t unmarked = own.count - std::min(own.count, marks);
  const std::uint64_t partial = own.count - std::min(own.count, whole + unmarked);
  const auto add_those = [&](std::uint64_t steps, const std::string& which) {
    if (steps != 0) text += "; and those of " + counted(steps, "step", "steps") + which;
  };
  const std::string of = " of " + format_count(own.count);
  add_those(partial, of + " that the timeline does not have whole");
  add_those(unmarked, of + " whose marks are not kept");
  add_those(ended - std::min(ended, own.count), " of threads other than " +
                                                    out.safe(thread_text(p, own.thread)) +
                                                    ", whose steps take most time");
  if (plan.device && !knows_device)
    text += "; and the work of devices, whose timeline has that of no such step whole";
  else if (plan.device && lacks_device)
    text += "; and the work of devices for steps that their timeline does not have whole";
  out.paragraph("", text, 2);
}

[[gnu::cold]] inline void print_table(page& out, const profile& p, const text_plan& plan) {
  const operator_groups chosen(p, plan);
  out.space();
  out.paragraph("", table_title(out, plan, chosen), 2, line_style::bold);
  out.space();
  hidden_rows regions;  // outside operators
  regions.self_ns = plan.all_self_ns - chosen.all.self_ns - chosen.filtered.self_ns;
  if (chosen.all.rows == 0) {
    out.line(chosen.filtered.rows > 0 ? "no operator matches the filter" : "no operator ran");
  } else {
    operator_grid table(out, p, plan, chosen);
    table.add_total("in operators", chosen.all, &chosen.total);
    // The operator that handed a path to another thread has its row by thread elsewhere.
    if (regions.self_ns > plan.all_self_ns * 1e-9)
      table.add_total(plan.by.has(group_key::thread) ? "in regions, outside own operators"
                                                     : "in regions, outside operators",
                      regions);
    if (chosen.filtered.rows > 0)
      table.add_total("filtered out " + filtered_by(out, plan), chosen.filtered);
    table.print(out);
    out.space();
    print_projected_total(out, plan, chosen);
    print_step_key(out, p, plan, chosen);
    print_types(out, p, plan);
    std::vector<std::string> unknown;
    std::vector<const column*> looked_at = table.shown;
    for (const column* c : table.unknown) {
      unknown.emplace_back(c->header);
      looked_at.push_back(c);
    }
    if (!unknown.empty()) out.list("not shown, n/a in every row: ", unknown);
    print_row_notes(out, p, plan, chosen, looked_at);
    if (!table.left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", table.left_out);
    print_cut(out, table.cut, table.whole_width);
  }
  print_off_cpu(out, p, chosen, row_describer(p, plan, false), plan);
  print_outside(out, p, plan);
  print_threads(out, p);
  print_shared_calls(out, p, plan, chosen);
}

[[gnu::cold]] inline void print_legend(page& out, const text_plan& plan) {
  out.space();
  out.line("Legend", line_style::bold);
  for (const column& c : columns) {
    if (rank_of(c, plan.device) == not_here || c.as == look::bar) continue;
    const std::string id = std::string_view{c.id} == c.header ? "" : "(" + std::string{c.id} + ") ";
    print_meaning(out, c.header, id + (plan.device ? c.device_meaning : c.meaning));
  }
  if (!has_word(plan.options.advice, "off"))
    print_meaning(out, "Do first",
                  "what would make the run faster, most first; in brackets the rule that says so "
                  "(docs/advice.md explains it, advice=-ID switches it off). At the right: the "
                  "time that it saves at most and its share of the run or, where threads worked "
                  "side by side, of the time of all threads. Savings overlap: they do not add up");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
