// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_REPORT_OUTPUT_HPP
#define KPROF_REPORT_TEXT_REPORT_OUTPUT_HPP

// The text report as an output: its table of options. Included by text.hpp. An option is one line
// of the table and a member of report_options.

#include <kprof/build_options.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/table/grouping_options.hpp>
#include <kprof/report/text/other_machine.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/report/text/write_text.hpp>
#include <kprof/status.hpp>

#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status check_sort_option(const option_value& value) {
  return check_sort(value.text);
}
[[gnu::cold]] inline status check_filter_option(const option_value& value) {
  return name_filter{}.set(value.text);
}
[[gnu::cold]] inline status check_columns_option(const option_value& value) {
  if (value.text.empty()) return check_column({});
  for (const std::string& name : value.words())
    if (status s = check_column(name); !s) return s;
  return {};
}

/// A file may still change: the report reads it, and says what is wrong in it.
[[gnu::cold]] inline status check_machine_option(const option_value& value) {
  other_machine machine;
  std::vector<std::string> complaints;
  return value.text.empty() ? status{} : read_machine(value.text, machine, complaints);
}

[[gnu::cold]] inline status check_advice_option(const option_value& value) {
  return check_advice(value.words());
}

inline constexpr option report_option_table[] = {
    {.name = "width",
     .kind = option_kind::number,
     .form = "COLUMNS",
     .fallback = "0",
     .least = 40,
     .most = 1000,
     .meaning = "columns a line may have, 40 to 1000; else the terminal's, else `$COLUMNS`, else "
                "100",
     .store = &store_member<&report_options::width>},
    {.name = "top",
     .kind = option_kind::number,
     .form = "ROWS",
     .fallback = "40",
     .most = 1'000'000'000,
     .meaning = "rows of each table and of the tree; 0 is all. The rest is counted in a line of "
                "its own",
     .store = &store_member<&report_options::top>},
    {.name = "sort",
     .form = "COLUMN",
     .meaning = "a column of the table of operators. Texts rise, numbers fall, `n/a` comes last. "
                "Where it is empty: `lost` where ceilings of the machine are known, else `device` "
                "where the "
                "run has work on a device, else `self`",
     .validate = &check_sort_option,
     .store = &store_member<&report_options::sort>},
    by_option<report_options>(),
    fold_option<report_options>(),
    {.name = "filter",
     .form = "REGEX",
     .meaning = "POSIX extended regular expression, searched in the \"name parameters\" of each "
                "call, whatever makes a row, and in the names of kernels",
     .validate = &check_filter_option,
     .store = &store_member<&report_options::filter>},
    {.name = "columns",
     .kind = option_kind::list,
     .form = "A+B+C",
     .meaning = "the columns of the table of operators, in this order. Where it is empty: those "
                "that fit",
     .validate = &check_columns_option,
     .store = &store_member<&report_options::columns>},
    {.name = "advice",
     .kind = option_kind::list,
     .form = "on|off|all|prove|-ID",
     .fallback = "on",
     .meaning = "show what to do first: the five pieces of advice that save most, none, or all "
                "that there are; `-G9+-H1` switches rules off; `prove` measures what advice gains",
     .validate = &check_advice_option,
     .store = &store_member<&report_options::advice>,
     .by_words = true},
    {.name = "machine",
     .form = "GPU|FILE",
     .meaning =
         "project the rows on another machine: what each would take at the same share of the "
         "roof. A GPU by its common name, such as `H100`, or a file of "
         "[ceilings](ceilings.md#by-hand)",
     .validate = &check_machine_option,
     .store = &store_member<&report_options::machine>},
    {.name = "table",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "show the table of operators",
     .store = &store_member<&report_options::table>},
    {.name = "parameters",
     .kind = option_kind::choice,
     .form = "short|all",
     .fallback = "short",
     .meaning = "fields of a row: those that tell it from others, or every one",
     .store = &store_member<&report_options::all_parameters>},
    {.name = "tree",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "show the call tree; `auto`: where it says more than the operators, since their "
                "table is off, there are none, or 10 % of the time is outside them: of the "
                "device's time, if any",
     .store = &store_member<&report_options::tree>},
    {.name = "order",
     .kind = option_kind::choice,
     .form = "time|run",
     .fallback = "time",
     .meaning = "the order of siblings in the call tree: most time first, or as they first began",
     .store = &store_member<&report_options::order>},
    {.name = "kernels",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "show the table of kernels, if any ran; `auto`: where operators do not explain "
                "1 % of the device's time",
     .store = &store_member<&report_options::kernels>},
    {.name = "copies",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "show the table of copies and memsets, if there were any; `auto`: where they take "
                "10 % of the device's time",
     .store = &store_member<&report_options::copies>},
    {.name = "api",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "show the calls of CUDA's libraries by function: how many, for how long, and where",
     .store = &store_member<&report_options::api>},
    {.name = "timeline",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "show where steps go, what streams, queues and launches did, what threads did, and "
                "what [the critical path](timeline.md#in-the-report) lets gain",
     .store = &store_member<&report_options::timeline>},
    {.name = "slowest",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning =
         "show the [calls that took far longer](timeline.md#the-slowest-calls) than others of "
         "their row, and what ran beside them",
     .store = &store_member<&report_options::slowest>},
    {.name = "roofline",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "draw the rows under the roofs of the machine: FLOP/s over FLOP/B",
     .store = &store_member<&report_options::roofline>},
    {.name = "full_names",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "list the kernels' whole names below their table",
     .store = &store_member<&report_options::full_names>},
    {.name = "details",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "show the whole account of what was seen, of kprof's own cost and of its clock; "
                "else one sentence stands for it where nothing was lost",
     .store = &store_member<&report_options::details>},
    {.name = "color",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "bold heads, what is missing in red, what else to know in yellow; `auto`: on a "
                "terminal, unless `NO_COLOR` is set",
     .store = &store_member<&report_options::color>},
    {.name = "ascii",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "nothing but ASCII",
     .store = &store_member<&report_options::ascii>},
    {.name = "legend",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "explain every column at the end",
     .store = &store_member<&report_options::legend>},
};

KPROF_DETAIL_LOCAL inline status write_report(const profile& run, const option_values& values,
                                              text_sink& out) {
  report_options options;
  values.store_into(options);
  options.path = values.text("path");  // standard output may be a terminal, with a width
  if (!options.color) options.color = out.takes_color();
  std::string page;
  if (status s = write_text(run, options, page); !s) return s;
  out.put(page);
  return {};
}

inline constexpr output report_output{"report", "the report as a page of text", report_option_table,
                                      &write_report, [](const option_values& values) {
                                        report_options options;
                                        values.store_into(options);
                                        return shows_timeline(options);
                                      }};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration report_registered{report_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
