// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_CSV_HPP
#define KPROF_REPORT_CSV_HPP

// The output "csv": a table of the report for spreadsheets and scripts, or the steps or the
// timeline that tables are made from. Including it makes KPROF="csv(path=run.csv)" and
// kprof::write(profile, "csv") known in this binary.
//
// A file as RFC 4180 describes it: lines end with CR LF; a field with a comma, a quote or the end
// of a line stands in quotes, in which a quote is doubled. The first line has the names of the
// columns, with their units in brackets: "self [ns]". Numbers are the shortest that read back as
// the same double. A field is empty where it differs from call to call or is not known; the last
// column of operators says why, as "gflops: no flops() declared; ...". Text is as the program gave
// it, but for bytes that are no UTF-8 and control characters, which become "\xNN". Where the name
// of the file ends in ".gz" it is packed. Rows have the order of operator_table(), kernel_table()
// and so on; single scopes have none. Of operators each key of `by` that has no column anyway has
// one, and each folded field three: its least and its greatest value, and how many different ones
// there are.

#include <kprof/build_options.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/csv/line.hpp>
#include <kprof/report/csv/tables.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/table/grouping_options.hpp>
#include <kprof/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The words of the option `table`, in their order there.
enum class csv_table : std::uint8_t { operators, kernels, copies, calls, steps, timeline };

struct csv_options {
  csv_table table = csv_table::operators;
  grouping by = grouping::parameters;
  std::vector<std::string> fold{};
};

inline constexpr option csv_option_table[] = {
    {.name = "table",
     .kind = option_kind::choice,
     .form = "operators|kernels|copies|calls|steps|timeline",
     .fallback = "operators",
     .meaning =
         "what the rows are: of the operator table, of the other tables of a report (`calls`: "
         "of CUDA's libraries), the steps of the program, or every scope and every piece of "
         "work of a device that is still in memory",
     .store = &store_member<&csv_options::table>},
    by_option<csv_options>(),
    fold_option<csv_options>(),
};

/// The columns of a request beside those that every table has.
struct csv_columns {
  std::vector<std::string> keys;  // as in `by=`, that have no column of their own
  std::vector<std::string> folded;

  explicit csv_columns(const grouping& by) : folded(by.folded()) {
    for (const group_part& part : by.keys())
      if (part.kind == group_key::region || part.kind == group_key::layer ||
          part.kind == group_key::field || part.kind == group_key::step)
        keys.push_back(text_of(part));
  }
};

inline void put_csv_header(const csv_columns& asked, text_sink& out) {
  csv_line line;
  for (const dimension& d : dimensions) line.add(d.id);
  line.add("key");
  line.add("sets");
  for (const std::string& key : asked.keys) line.add(key);
  for (const std::string& field : asked.folded)
    for (const char* what : {" least", " most", " values"}) line.add(field + what);
  for (const metric& m : metrics) {
    const std::string_view unit = m.unit.name;
    line.add(unit.empty() ? m.id : std::string{m.id} + " [" + m.unit.name + ']');
  }
  line.add("not known");
  line.put(out);
}

/// The fields of keys and of folded fields; empty where there is none.
inline void add_csv_groups(const csv_columns& asked, const operator_row& row, csv_line& line) {
  for (const std::string& key : asked.keys) {
    std::string_view text;
    for (const group_value& v : row.values)
      if (v.key == key) text = v.text;
    line.add(text);
  }
  for (const std::string& field : asked.folded) {
    const field_range* found = nullptr;
    for (const field_range& r : row.ranges)
      if (r.field == field) found = &r;
    line.add(found == nullptr ? std::string{} : parameter_text(found->least));
    line.add(found == nullptr ? std::string{} : parameter_text(found->most));
    if (found == nullptr) line.skip();
    else line.add(found->values);
  }
}

/// `wrong`: what is wrong with the request, for the last column.
inline void put_csv_row(const profile& run, const operator_row& row, const csv_columns& asked,
                        const std::string& wrong, text_sink& out) {
  csv_line line;
  for (const dimension& d : dimensions) line.add(d.of(run, row));
  line.add(row_key_text(row.key));
  line.add(row.variants);
  add_csv_groups(asked, row, line);
  std::string unknown = wrong;
  for (const metric& m : metrics) {
    const figure f = m.of(row);
    line.add(f, m.unit.scale);
    if (!f.known())
      unknown.append(unknown.empty() ? "" : "; ").append(m.id).append(": ").append(explain(f.why));
  }
  line.add(unknown);
  line.put(out);
}

/// `asked`: as the request has it, and `known` without what the run does not have.
inline void put_csv_operators(const profile& run, const grouping& asked, const grouping& known,
                              const std::string& wrong, text_sink& out) {
  const csv_columns wanted(asked);
  put_csv_header(wanted, out);
  for (const operator_row& row : operator_table(run, known))
    put_csv_row(run, row, wanted, wrong, out);
}

KPROF_DETAIL_LOCAL inline status write_csv(const profile& run, const option_values& values,
                                           text_sink& to) {
  csv_options options;
  values.store_into(options);
  const grouping by = options.by.folding(options.fold);
  const checked_grouping checked = check_grouping(run, by);
  const std::string wrong = tell_complaints("csv", checked);
  return put_packed_by_name(values.text("path"), to, [&](text_sink& out) {
    switch (options.table) {
      case csv_table::operators: put_csv_operators(run, by, checked.value, wrong, out); break;
      case csv_table::kernels:
        put_csv_kernels(run, kernel_table(run, checked.value), wrong, out);
        break;
      case csv_table::copies: put_csv_table(csv_copy_columns, run, copy_table(run), out); break;
      case csv_table::calls: put_csv_table(csv_call_columns, run, call_table(run), out); break;
      case csv_table::steps: put_csv_table(csv_step_columns, run, run.steps, out); break;
      case csv_table::timeline: put_csv_timeline(run, out); break;
    }
  });
}

inline constexpr output csv_output{"csv", "a table, comma-separated", csv_option_table, &write_csv,
                                   [](const option_values& options) {
                                     return options.number("table") ==
                                            static_cast<std::uint64_t>(csv_table::timeline);
                                   }};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration csv_registered{csv_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
