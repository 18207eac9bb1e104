// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_COLUMNS_HPP
#define KPROF_REPORT_TEXT_COLUMNS_HPP

// The columns of the operator table: names, order, cells, sort keys and what they mean. Included by
// the text report. A column is one line of the table below.

#include <kprof/build_options.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/page.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

enum class look : std::uint8_t {
  name,
  parameters,
  call_site,
  thread,
  type,
  calls,
  count,
  open,
  time,
  share,
  rate,
  si
};

using row_number = double operator_row::*;
using row_figure = figure operator_row::*;
using row_count = std::uint64_t operator_row::*;

struct column {
  const char* id;  // as in report_options::columns and ::sort
  const char* header;
  unsigned rank;         // where not all fit, the highest goes first; 0: shown only on request
  unsigned device_rank;  // the same for a run with work on a device
  look as;
  row_number number;
  row_figure value;
  row_count count;
  const char* meaning;
  const char* device_meaning = nullptr;  // where it is another
};

// from here on columns give way to readable parameters
inline constexpr unsigned comfort_rank = 10;
// neither shown unasked nor explained: a run without a device has none
inline constexpr unsigned not_here = 1000;

inline constexpr column columns[] = {
    {"operator", "operator", 1, 1, look::name, nullptr, nullptr, nullptr, "name of the operator"},
    {"parameters", "parameters", 3, 3, look::parameters, nullptr, nullptr, nullptr,
     "parameters of a call, or how many sets of them the row holds; `invalid` where valid() is "
     "false or a formula overflowed or went "
     "negative"},
    {"call_site", "call site", 6, 5, look::call_site, nullptr, nullptr, nullptr,
     "file and line of the guard"},
    {"thread", "thread", 6, 5, look::thread, nullptr, nullptr, nullptr,
     "name and number of the thread, as the operating system has them"},
    {"calls", "calls", 4, 4, look::calls, nullptr, nullptr, nullptr, "finished calls",
     "finished calls, and calls made by replaying CUDA graphs"},
    {"replays", "replays", not_here, 0, look::count, nullptr, nullptr, &operator_row::replays,
     "of the calls, those made by replaying CUDA graphs; they take no time on the host"},
    {"open", "open", 5, 5, look::open, nullptr, nullptr, nullptr,
     "calls that had not finished, and how long they had run; they are in no other column"},
    {"device", "device", not_here, 2, look::time, &operator_row::device_ns, nullptr, nullptr,
     "time on the device of the kernels, copies and memsets that the calls launched, less that of "
     "the operators inside them; what "
     "ran at the same time counts each"},
    {"device_share", "dev share", not_here, 5, look::share, &operator_row::device_share, nullptr,
     nullptr, "device / time of all kernels, copies and memsets"},
    {"device_total", "dev total", not_here, 11, look::time, &operator_row::device_total_ns, nullptr,
     nullptr,
     "device with that of the operators inside; a call inside another call of the same row is not "
     "counted again"},
    {"kernels", "kernels", not_here, 9, look::count, nullptr, nullptr, &operator_row::kernels,
     "kernels that the calls launched, less those of the operators inside them"},
    {"copies", "copies", not_here, 16, look::count, nullptr, nullptr, &operator_row::copies,
     "copies and memsets, the same"},
    {"gap", "gap", not_here, 15, look::time, nullptr, &operator_row::gap_ns, nullptr,
     "mean time from a launch until its work began on the device: long where the device is behind, "
     "short where it waits for the host"},
    {"self", "self", 2, 8, look::time, &operator_row::self_ns, nullptr, nullptr,
     "time in the calls less the time in the operators inside them, summed over calls and threads; "
     "a region counts to the operator "
     "that it is in",
     "host time in the calls less the time in the operators inside them, summed over calls and "
     "threads; a region counts to the "
     "operator that it is in"},
    {"share", "share", 5, 14, look::share, &operator_row::share, nullptr, nullptr,
     "self / self time of all scopes, operators and regions outside them, of all threads"},
    {"total", "total", 6, 13, look::time, &operator_row::total_ns, nullptr, nullptr,
     "time from the begin to the end of the calls, summed; a call inside another call of the same "
     "row is not counted again",
     "host time from the begin to the end of the calls, summed; a call inside another call of the "
     "same row is not counted again"},
    {"mean", "mean", 7, 12, look::time, nullptr, &operator_row::mean_ns, nullptr,
     "time from the begin to the end of a call: sum over all calls / calls",
     "host time from the begin to the end of a call: sum over all calls / calls, less those made "
     "by replaying graphs"},
    {"median", "median", 12, 18, look::time, nullptr, &operator_row::median_ns, nullptr,
     "half of the calls took no longer; within 0.8 %"},
    {"p99", "p99", 0, 0, look::time, nullptr, &operator_row::p99_ns, nullptr,
     "99 % of the calls took no longer; within 0.8 %"},
    {"min", "min", 13, 20, look::time, nullptr, &operator_row::min_ns, nullptr,
     "the shortest call"},
    {"max", "max", 11, 19, look::time, nullptr, &operator_row::max_ns, nullptr, "the longest call"},
    {"gflops", "GFLOP/s", 8, 6, look::rate, nullptr, &operator_row::flops_per_s, nullptr,
     "10^9 operations a second: flops() of the calls in total, summed, / total",
     "10^9 operations a second: flops() of the calls with work on the device, summed, / dev total; "
     "of an operator without, / total"},
    {"gbs", "GB/s", 9, 7, look::rate, nullptr, &operator_row::bytes_per_s, nullptr,
     "10^9 bytes a second: bytes() of the calls in total, read + written, summed, / total; by the "
     "formula, not measured traffic",
     "10^9 bytes a second: bytes() of the calls with work on the device, read + written, summed, / "
     "dev total; of an operator without, "
     "/ total; by the formula, not measured traffic"},
    {"intensity", "FLOP/B", 10, 10, look::rate, nullptr, &operator_row::flops_per_byte, nullptr,
     "arithmetic intensity, operations a byte: flops() / bytes()"},
    {"flops", "FLOPs", 0, 0, look::si, nullptr, &operator_row::flops, nullptr,
     "operations: flops() of the calls in total, summed; k M G T P E = 10^3 to 10^18"},
    {"bytes", "bytes", 0, 0, look::si, nullptr, &operator_row::bytes, nullptr,
     "bytes() of the calls in total, read + written, summed"},
    {"dtype", "dtype", 0, 0, look::type, nullptr, nullptr, nullptr,
     "type of the elements that the operator computes with"},
};
inline constexpr std::size_t column_count = sizeof(columns) / sizeof(columns[0]);

/// By its name, or by its header.
inline const column* find_column(std::string_view name) noexcept {
  for (const column& c : columns)
    if (name == c.id || name == c.header) return &c;
  return name == "name" ? &columns[0] : nullptr;
}

inline std::string column_names() {
  std::string all;
  for (const column& c : columns) all.append(all.empty() ? "" : ", ").append(c.id);
  return all;
}

/// `nested`: rows have work on the device in operators inside them alone, or most of it; rates are
/// over that too.
inline unsigned rank_of(const column& c, bool device, bool nested = false) noexcept {
  if (nested && c.number == &operator_row::device_total_ns) return 6;
  return device ? c.device_rank : c.rank;
}

inline bool is_foreign(const column& c) noexcept { return c.as <= look::thread; }

// ---- cells

inline std::string parameters_cell(const operator_row& row) {
  if (row.variants > 1) {
    const std::string text = row.merged ? format_count(row.variants - 1) + "+ variants"
                                        : format_count(row.variants) + " variants";
    if (!row.invalid) return text;
    return "invalid: " + format_count(row.invalid_calls) +
           (row.invalid_calls == 1 ? " call, " : " calls, ") + text;
  }
  const std::string text = row.merged ? "(not kept)" : row.parameters;
  if (!row.invalid) return text;
  return text.empty() ? "invalid" : "invalid: " + text;
}

inline std::string thread_name(const profile& p, std::uint32_t index) {
  if (index >= p.threads.size()) return "several";
  const thread_info& t = p.threads[index];
  if (t.merged > 0) return format_count(t.merged) + " ended threads";
  return t.name.empty() ? std::to_string(t.id) : t.name + ' ' + std::to_string(t.id);
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

inline std::string number_cell(look as, double x, const page& out) {
  switch (as) {
    case look::time: return out.time(x);
    case look::share: return format_share(x);
    case look::rate: return format_rate(x * 1e-9);
    default: return format_si(x);
  }
}

inline std::string cell(const column& c, const operator_row& row, const profile& p,
                        const page& out) {
  switch (c.as) {
    case look::name: return row.name.empty() ? "(no name)" : row.name;
    case look::parameters: return parameters_cell(row);
    case look::call_site: return call_site_cell(row);
    case look::thread: return thread_name(p, row.thread);
    case look::type:
      return row.several_types            ? "several"
             : row.type == dtype::unknown ? "n/a"
                                          : dtype_name(row.type);
    case look::calls: return calls_cell(row.calls + row.replays);
    case look::count: return calls_cell(row.*c.count);
    case look::open: return open_cell(row.open, row.open_ns, out);
    default: break;
  }
  if (c.number != nullptr) return number_cell(c.as, row.*c.number, out);
  const figure f = row.*c.value;
  if (!f.known()) return "n/a";
  return c.value == &operator_row::flops_per_byte ? format_rate(f.value)
                                                  : number_cell(c.as, f.value, out);
}

// ---- order

/// What numbers are ordered by; NaN for what is not known.
inline double sort_key(const column& c, const operator_row& row) noexcept {
  if (c.number != nullptr) return row.*c.number;
  if (c.value != nullptr) return (row.*c.value).known() ? (row.*c.value).value : std::nan("");
  if (c.count != nullptr) return static_cast<double>(row.*c.count);
  return c.as == look::open ? row.open_ns : static_cast<double>(row.calls + row.replays);
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
    case look::type: return a.type < b.type;
    default: break;
  }
  const double x = sort_key(c, a), y = sort_key(c, b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return x > y;
}

// ---- why there is no number

inline const char* explain(absence why) noexcept {
  switch (why) {
    case absence::no_calls: return "no call has finished";
    case absence::graphs_only:
      return "made by replaying CUDA graphs, which takes no time on the host";
    case absence::not_replayed: return "captured into a CUDA graph that was not replayed";
    case absence::no_launch: return "no launch of its own was seen";
    case absence::untimed: return "CUPTI gave no time for work on the device";
    case absence::dropped: return "records of work on the device were dropped";
    case absence::several_kernels: return "several kernels share what the operator's formulas say";
    case absence::no_operator: return "outside any operator";
    case absence::no_time: return "took less than the clock can see";
    case absence::zero_bytes: return "bytes() is 0";
    case absence::merged: return "parameters not kept, for want of memory";
    case absence::invalid: return "invalid parameters, or a formula that gives no number for them";
    case absence::no_bytes: return "no bytes() declared";
    case absence::no_flops: return "no flops() declared";
    case absence::none: break;
  }
  return "known";
}

}  // namespace detail
KPROF_DETAIL_END

#endif
