// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_CSV_HPP
#define KPROF_REPORT_CSV_HPP

// The output "csv": the table of operators for spreadsheets and scripts. Including it makes
// KPROF="csv(path=run.csv)" and kprof::write(profile, "csv") known in this binary.
//
// A file as RFC 4180 describes it: lines end with CR LF; a field with a comma, a quote or the end
// of a line stands in quotes, in which a quote is doubled. The first line has the names of the
// columns, with their units in brackets: "self [ns]". Numbers are the shortest that read back as
// the same double. A field is empty where it differs from call to call or is not known; the last
// column says why, as "gflops: no flops() declared; ...". Text is as the program gave it, also
// where it is not UTF-8. The rows are those of operator_table(), in its order. Each key of `by`
// that has no column anyway has one, and each folded field three: its least and its greatest value,
// and how many different ones there are.

#include <kprof/build_options.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/table/grouping_options.hpp>
#include <kprof/status.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct csv_options {
  grouping by = grouping::parameters;
  std::vector<std::string> fold{};
};

inline constexpr option csv_option_table[] = {
    by_option<csv_options>(),
    fold_option<csv_options>(),
};

/// A line of fields.
class csv_line {
 public:
  void add(std::string_view field) {
    if (!is_first_) line_ += ',';
    is_first_ = false;
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += field;
    } else {
      line_ += '"';
      for (const char c : field) line_.append(c == '"' ? 2 : 1, c);
      line_ += '"';
    }
  }
  void add(double number) {
    char text[32];
    const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number);
    add(std::string_view{text, static_cast<std::size_t>(end.ptr - text)});
  }
  void put(text_sink& out) {
    out.put(line_ + "\r\n");
    line_.clear();
    is_first_ = true;
  }

 private:
  std::string line_;
  bool is_first_ = true;
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
    if (found == nullptr) line.add(std::string_view{});
    else line.add(static_cast<double>(found->values));
  }
}

/// `wrong`: what is wrong with the request, for the last column.
inline void put_csv_row(const profile& run, const operator_row& row, const csv_columns& asked,
                        const std::string& wrong, text_sink& out) {
  csv_line line;
  for (const dimension& d : dimensions) line.add(d.of(run, row));
  line.add(row_key_text(row.key));
  line.add(static_cast<double>(row.variants));
  add_csv_groups(asked, row, line);
  std::string unknown = wrong;
  for (const metric& m : metrics) {
    const figure f = m.of(row);
    if (f.known()) line.add(f.value * m.unit.scale);
    else line.add(std::string_view{});
    if (!f.known())
      unknown.append(unknown.empty() ? "" : "; ").append(m.id).append(": ").append(explain(f.why));
  }
  line.add(unknown);
  line.put(out);
}

KPROF_DETAIL_LOCAL inline status write_csv(const profile& run, const option_values& values,
                                           text_sink& out) {
  csv_options options;
  values.store_into(options);
  const grouping by = options.by.folding(options.fold);
  // A program that ends has one chance to write its file: a wrong name leaves a column empty.
  const checked_grouping checked = check_grouping(run, by);
  std::string wrong;
  for (const std::string& line : checked.complaints)
    wrong.append(wrong.empty() ? "" : "; ") += line;
  const csv_columns asked(by);
  put_csv_header(asked, out);
  for (const operator_row& row : operator_table(run, checked.value))
    put_csv_row(run, row, asked, wrong, out);
  return {};
}

inline constexpr output csv_output{"csv", "the table of operators, comma-separated",
                                   csv_option_table, &write_csv};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration csv_registered{csv_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
