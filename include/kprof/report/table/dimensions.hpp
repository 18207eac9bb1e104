// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TABLE_DIMENSIONS_HPP
#define KPROF_REPORT_TABLE_DIMENSIONS_HPP

// The texts of an operator row, a line each: what calls a row stands for. Included by the outputs,
// beside the metrics, which are its numbers. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// A thread's name and number; for threads kept together, how many.
inline std::string thread_name(const profile& p, std::uint32_t index) {
  if (index >= p.threads.size()) return "several";
  const thread_info& t = p.threads[index];
  if (t.merged > 0) return format_count(t.merged) + " ended threads";
  return t.name.empty() ? std::to_string(t.id) : t.name + ' ' + std::to_string(t.id);
}

/// One text of a row, as the program gave it; empty where it differs from call to call or is not
/// known.
struct dimension {
  const char* id;     ///< as in report_options::columns; the same in every version
  const char* label;  ///< header of a table for people
  const char* meaning;
  std::string (*of)(const profile& p, const operator_row& row);
};

inline std::string name_of(const profile&, const operator_row& row) { return row.name; }
inline std::string parameters_of(const profile&, const operator_row& row) { return row.parameters; }
inline std::string call_site_of(const profile&, const operator_row& row) {
  return row.file.empty() ? "" : row.file + ':' + std::to_string(row.line);
}
inline std::string thread_of(const profile& p, const operator_row& row) {
  return row.thread == scope_node::none ? "" : thread_name(p, row.thread);
}
inline std::string dtype_of(const profile&, const operator_row& row) {
  return row.type == dtype::unknown ? "" : dtype_name(row.type);
}
inline std::string pass_of(const profile&, const operator_row& row) {
  return row.pass == pass_kind::unknown ? "" : pass_name(row.pass);
}

inline std::string bound_of(const profile&, const operator_row& row) {
  return row.verdict.bound == bound_by::unknown ? "" : bound_name(row.verdict.bound);
}

inline constexpr dimension dimensions[] = {
    {"operator", "operator", "name of the operator", &name_of},
    {"parameters", "parameters",
     "parameters of a call, or how many sets of them the row holds; `invalid` where valid() is "
     "false or a formula overflowed or went negative",
     &parameters_of},
    {"call_site", "call site", "file and line of the guard", &call_site_of},
    {"thread", "thread", "name and number of the thread, as the operating system has them",
     &thread_of},
    {"dtype", "dtype", "type of the elements that the operator computes with", &dtype_of},
    {"pass", "pass",
     "what the call is for: `fprop`, `bprop`, `dgrad`, `wgrad`, `bgrad`, `update` or `recompute`",
     &pass_of},
    {"bound", "bound",
     "what holds the calls back: `compute` or `memory`, whose roof is near, `cache`, where data do "
     "not come from memory, `balanced` between both roofs; far from both `latency`, `launch` of "
     "calls that are too short, `small grid` of a device that is not filled; `impossible` above "
     "every roof, where a formula or a ceiling is wrong",
     &bound_of},
};

inline constexpr std::size_t dimension_count = sizeof(dimensions) / sizeof(dimensions[0]);

/// The place of the dimension of that id; dimension_count: there is none.
constexpr std::size_t place_of_dimension(std::string_view id) noexcept {
  std::size_t place = 0;
  while (place < dimension_count && id != dimensions[place].id) ++place;
  return place;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
