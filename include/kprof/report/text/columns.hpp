// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_COLUMNS_HPP
#define KPROF_REPORT_TEXT_COLUMNS_HPP

// The columns of the operator table: which metrics and dimensions, in what order, and how their
// cells are written and sorted. Included by the text report. A column is one line of the table
// below.

#include <kprof/build_options.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// How a column's cells are written.
enum class look : std::uint8_t {
  name,
  parameters,  // described by row_describer
  call_site,
  thread,
  around,  // a region, or all of them: the row's value of that key
  pass,
  type,
  bar,
  calls,
  open,
  time,
  share,
  cumulative,  // of the lines so far; no number of a row
  rate,
  ratio,
  si,
  bound
};

// a column of rates, GFLOP/s or GB/s, with a number as large is in TFLOP/s or TB/s
inline constexpr double least_tera = 1e13;
// from here on columns give way to readable parameters
inline constexpr unsigned comfort_rank = 10;
// neither shown unasked nor explained: a run without a device has none
inline constexpr unsigned not_here = 1000;

/// A metric or a dimension, and how the table shows it.
struct column {
  const char* id;  // as in report_options::columns and ::sort
  const char* header;
  look as;
  unsigned rank;         // where not all fit, the highest goes first; 0: shown only on request
  unsigned device_rank;  // the same for a run with work on a device
  const metric* number;  // nullptr: a text
  const char* meaning;
  const char* device_meaning;

  constexpr bool is(std::string_view other) const noexcept { return other == id; }
};

/// Not a constant, and so no column, where nothing is declared by that id.
consteval column make_column(std::string_view id, look as, unsigned rank, unsigned device_rank) {
  if (const std::size_t place = place_of_metric(id); place < metric_count) {
    const metric& m = metrics[place];
    return {m.id, m.label, as, rank, device_rank, &m, m.meaning, m.meaning_in(true)};
  }
  const dimension& d = dimensions[place_of_dimension(id)];
  return {d.id, d.label, as, rank, device_rank, nullptr, d.meaning, d.meaning};
}

inline figure projected_time(const operator_row& row) noexcept { return row.projected_ns; }

/// A run does not have this number: a report computes it where `machine=` names another machine.
inline constexpr metric projected_metric{
    .id = "projected",
    .label = "projected",
    .unit = units::nanoseconds,
    .adds = additivity::overlapping_sum,
    .of_device = false,
    .of = &projected_time,
    .meaning =
        "what the calls would take on the machine of `machine=`, at the same share of the "
        "roof; total, or dev total, is what they take here"};

/// A bar beside a share.
constexpr column bar_column(const char* id, unsigned rank, unsigned device_rank) {
  return {id, "", look::bar, rank, device_rank, nullptr, "", ""};
}

/// The value of a key of the grouping, which is one where the column is shown.
constexpr column around_column(const char* id, const char* meaning) {
  return {id, id, look::around, 1, 1, nullptr, meaning, meaning};
}

inline constexpr column columns[] = {
    make_column("operator", look::name, 1, 1),
    make_column("parameters", look::parameters, 1, 1),
    make_column("call_site", look::call_site, 6, 5),
    make_column("thread", look::thread, 6, 5),
    around_column("region", "innermost region around the calls; a row for each"),
    around_column("layer", "all regions around the calls, joined by `/`; a row for each"),
    make_column("pass", look::pass, 1, 1),
    make_column("calls", look::calls, 2, 2),
    make_column("replays", look::calls, not_here, 0),
    make_column("open", look::open, 5, 5),
    make_column("device", look::time, not_here, 1),
    bar_column("device_bar", not_here, 10),
    make_column("device_share", look::share, not_here, 3),
    make_column("device_total", look::time, not_here, 11),
    make_column("kernels", look::calls, not_here, 9),
    make_column("copies", look::calls, not_here, 16),
    make_column("gap", look::time, not_here, 15),
    make_column("waited", look::time, not_here, 9),  // unasked only where rows waited for long
    make_column("self", look::time, 1, 8),
    bar_column("bar", 9, not_here),
    make_column("share", look::share, 3, 14),
    {"cumulative", "cumulative", look::cumulative, 0, 0, nullptr,
     "share of this line and of all above it", "dev share of this line and of all above it"},
    make_column("total", look::time, 12, 13),
    make_column("cpu", look::share, 10, 0),  // unasked only where rows were off the CPU for long
    make_column("median", look::time, 7, 12),
    make_column("mean", look::time, 11, 17),
    make_column("p99", look::time, 0, 0),
    make_column("min", look::time, 15, 20),
    make_column("max", look::time, 14, 19),
    make_column("first", look::time, 0, 0),
    make_column("gflops", look::rate, 8, 6),
    make_column("gbs", look::rate, 10, 7),
    make_column("roof", look::share, 5, 5),
    make_column("bound", look::bound, 6, 6),
    make_column("lost", look::time, 9, 8),
    make_column("ideal", look::time, 0, 0),
    {projected_metric.id, projected_metric.label, look::time, 1, 1, &projected_metric,
     projected_metric.meaning, projected_metric.meaning},
    make_column("intensity", look::ratio, 13, 10),
    make_column("flops", look::si, 0, 0),
    make_column("bytes", look::si, 0, 0),
    make_column("threads", look::si, 0, 0),
    make_column("imbalance", look::ratio, 0, 0),
    make_column("waiting", look::time, 0, 0),
    make_column("dtype", look::type, 0, 0),
};

/// By its name, or by its header.
inline const column* find_column(std::string_view name) noexcept {
  for (const column& c : columns)
    if (c.as != look::bar && (name == c.id || name == c.header)) return &c;
  return name == "name" ? &columns[0] : nullptr;
}

inline std::string column_names() {
  std::string all;
  for (const column& c : columns)
    if (c.as != look::bar) all.append(all.empty() ? "" : ", ").append(c.id);
  return all;
}

/// `nested`: rows have work on the device in operators inside them alone, or most of it; rates are
/// over that too.
inline unsigned rank_of(const column& c, bool device, bool nested = false) noexcept {
  if (nested && c.is("device_total")) return 6;
  return device ? c.device_rank : c.rank;
}

/// The key that a column of regions shows.
inline group_key key_of(const column& c) noexcept {
  return c.is("layer") ? group_key::layer : group_key::region;
}
/// The row's value of that key; nullptr: it is none of the grouping.
inline const group_value* value_of(const column& c, const operator_row& row) noexcept {
  for (const group_value& v : row.values)
    if (v.kind == key_of(c)) return &v;
  return nullptr;
}

inline bool is_foreign(const column& c) noexcept { return c.as <= look::thread; }

// ---- cells

/// The values by which rows differ that have no column of their own: "pass=fprop M=4".
inline std::string keys_text(const std::vector<group_value>& values) {
  std::string out;
  for (const group_value& v : values) {
    if (v.kind == group_key::op || v.kind == group_key::parameters ||
        v.kind == group_key::call_site || v.kind == group_key::thread)
      continue;
    out.append(out.empty() ? "" : " ").append(v.key).append("=").append(v.known ? v.text : "n/a");
  }
  return out;
}

inline std::string call_site_cell(const operator_row& row) {
  if (row.several_sites) return "several";
  return row.file.empty() ? "unknown" : row.file + ':' + std::to_string(row.line);
}

inline std::string calls_cell(std::uint64_t calls) {
  return calls < 1'000'000'000 ? format_count(calls) : format_si(static_cast<double>(calls));
}

inline std::string open_cell(std::uint64_t open, double open_ns, const page& out) {
  return open == 0 ? std::string{} : calls_cell(open) + " for " + out.time(open_ns);
}

/// A number in the units of the profile: nanoseconds, bytes, operations, and these a second.
inline std::string number_cell(look as, double x, const page& out) {
  switch (as) {
    // A count of 2^64 - 1 is not below 2^64 as a double.
    case look::calls: return x < 1e9 ? calls_cell(static_cast<std::uint64_t>(x)) : format_si(x);
    case look::time: return out.time(x);
    case look::share: return format_share(x);
    case look::rate: return format_rate(x * 1e-9);
    case look::ratio: return format_rate(x);
    default: return format_si(x);
  }
}

/// The same of a number that may be no more than a bound, or not known.
inline std::string figure_cell(const figure& f, look as, const page& out) {
  if (!f.known()) return "n/a";
  // How far above every roof a wrong formula is says nothing.
  if (as == look::share && f.value > 10) return ">1000%";
  return (!f.at_most ? "" : out.ascii() ? "<= " : "\u2264 ") + number_cell(as, f.value, out);
}

inline std::string cell(const column& c, const operator_row& row, const profile& p,
                        const page& out) {
  switch (c.as) {
    case look::name:
      if (row.operators > 1) return format_count(row.operators) + " operators";
      return row.name.empty() ? "(no name)" : row.name;
    case look::call_site: return call_site_cell(row);
    case look::thread: return thread_name(p, row.thread);
    case look::around: {
      const group_value* const v = value_of(c, row);
      const std::size_t longest =
          out.width() < 100 ? out.width() / 6 : std::min<std::size_t>(out.width() / 5, 24);
      if (v == nullptr) return {};
      return v->known ? printable_ends(v->text, longest, out.ascii()) : "none";
    }
    case look::type:
      return row.several_types            ? "several"
             : row.type == dtype::unknown ? "n/a"
                                          : dtype_name(row.type);
    case look::pass: return pass_of(p, row);
    case look::bound: return bound_name(row.verdict.bound);
    case look::open: return open_cell(row.open, row.open_ns, out);
    default: break;
  }
  return figure_cell(c.number->of(row), c.as, out);
}

// ---- order

/// What numbers are ordered by; NaN for what is not known.
inline double sort_key(const column& c, const operator_row& row) noexcept {
  if (c.as == look::open) return row.open_ns;
  // Where nothing is known of it, all of the time may be lost.
  if (c.is("lost") && !row.verdict.lost_ns.known())
    return row.on_device ? row.device_ns : row.self_ns;
  const figure f = c.number->of(row);
  return f.known() ? f.value : std::nan("");
}

inline int compare(std::string_view a, std::string_view b) noexcept {
  return a < b ? -1 : a == b ? 0 : 1;
}

/// Texts rise, numbers fall, what is not known comes last. Rows that are equal keep their order.
inline bool comes_before(const column& c, const operator_row& a, const operator_row& b) noexcept {
  switch (c.as) {
    case look::name:
      if (const int order = compare(a.name, b.name)) return order < 0;
      return a.parameters < b.parameters;
    case look::parameters: return a.parameters < b.parameters;
    case look::call_site:
      if (const int order = compare(a.file, b.file)) return order < 0;
      return a.line < b.line;
    case look::thread: return a.thread < b.thread;
    case look::around: {
      const group_value *const x = value_of(c, a), *const y = value_of(c, b);
      return x != nullptr && y != nullptr && x->text < y->text;
    }
    case look::type: return a.type < b.type;
    case look::pass: return a.pass < b.pass;
    case look::bound: return a.verdict.bound < b.verdict.bound;
    default: break;
  }
  const double x = sort_key(c, a), y = sort_key(c, b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return x > y;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
