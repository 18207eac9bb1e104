// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OPTIONS_HPP
#define KPROF_REPORT_OPTIONS_HPP

// What a report shows and how. Include it to fill in options; the writers are in report/text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/tree_order.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a report shows. The defaults suit a terminal.
///     kprof::report_options o;
///     o.sort = "gflops";
///     o.filter = "^(Gemm|Conv)";
///     o.columns = {"operator", "calls", "p99", "gflops"};
struct report_options {
  /// Columns a line may have; 0 or less: the terminal's, else $COLUMNS, else 100. Less than 40 is
  /// 40, more than 1000 is 1000.
  int width = 0;
  std::size_t top = 40;  ///< rows of each table and of the tree; 0: all
  /// A column, by its name as in `columns`; "name" is "operator". Texts rise, numbers fall. Empty:
  /// "lost" where the machine's ceilings are known, else "device" where the run has work on a
  /// device, else "self".
  std::string sort{};
  /// What the calls of a row have in common; a key that names no field of the run's operators is
  /// left out, which the report says.
  grouping by = grouping::parameters;
  /// Fields, by their paths, that do not make parameters differ; `by` may fold others.
  std::vector<std::string> fold{};
  /// POSIX extended regular expression, searched in "name parameters"; in the tree what is around
  /// and inside a scope that matches is shown with it, and a kernel whose name matches.
  std::string filter{};
  /// Columns by name, in this order, such as "operator", "calls", "gflops"; empty: those that fit
  /// the width. docs/reports.md lists all, and so does the error that answers an unknown name.
  std::vector<std::string> columns{};
  bool all_parameters = false;  ///< show every field of a row, also where it is the default
  /// Another machine to project the rows on: a GPU by its common name, such as "H100", or a file of
  /// ceilings. Each row keeps its share of the roof.
  std::string machine{};
  bool table = true;  ///< show the operator table
  /// What to do first, above the table: "off" for none, "all" for all that the rules find, "-G9"
  /// without a rule's, "prove" with what it gains, measured (kprof/prove.hpp). Empty: the five
  /// pieces of advice that save most.
  std::vector<std::string> advice{};
  /// Show the call tree. No value: where it says more than the operators, since their table is not
  /// shown, there are none, or 10 % of the time is outside them: of the device's time, if any.
  std::optional<bool> tree{};
  tree_order order = tree_order::time;  ///< of siblings in the call tree
  /// Show the table of kernels, if the run has any. No value: where operators do not explain 1 % of
  /// the device's time.
  std::optional<bool> kernels{};
  /// Show the table of copies and memsets, if the run has any. No value: where they take 10 % of
  /// the device's time.
  std::optional<bool> copies{};
  /// Show the calls of CUDA's libraries by function.
  bool api = false;
  /// Show all that is known of steps, devices and threads over time.
  bool timeline = false;
  /// Show the calls that took far longer than others of their row, and what ran beside them.
  bool slowest = false;
  /// Show kprof's whole account of what was seen, of its own cost and of its clock. Else one
  /// sentence stands for it where nothing was lost, and what was lost where something was.
  bool details = false;
  bool roofline = false;    ///< draw the rows under the roofs of the machine
  bool full_names = false;  ///< list the kernels' whole names below their table
  bool ascii = false;       ///< nothing but ASCII
  /// Bold, dim and coloured lines, by the escape sequences of terminals. Unset: where the report
  /// goes to a terminal and NO_COLOR is not set.
  std::optional<bool> color{};
  bool legend = false;  ///< explain every column
  std::string path{};   ///< file to write, "%p", "%h", "%r" as in write(); empty: standard output
};

namespace detail {
/// Whether the report shows single scopes, which its profile must then have.
inline bool shows_timeline(const report_options& o) noexcept { return o.timeline || o.slowest; }
}  // namespace detail

KPROF_DETAIL_END

#endif
