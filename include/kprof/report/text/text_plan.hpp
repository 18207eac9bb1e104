// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TEXT_PLAN_HPP
#define KPROF_REPORT_TEXT_TEXT_PLAN_HPP

// The plan of a text report: its options, checked, and the sums that its sections share. Included
// by the sections.

#include <kprof/build_options.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/filter.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status unknown_column(const char* what, const std::string& name) {
  return {std::string{"unknown "} + what + " \"" + printable(name, 100) +
          "\"; choose from: " + column_names() + " (or name, which is operator)"};
}
[[gnu::cold]] inline status check_sort(const std::string& name) {
  return name.empty() || find_column(name) != nullptr ? status{} : unknown_column("sort", name);
}
[[gnu::cold]] inline status check_column(const std::string& name) {
  return find_column(name) != nullptr ? status{} : unknown_column("column", name);
}

/// The options of a report, read, and sums of the profile that its sections share.
struct text_plan {
  const report_options& options;
  const column* sort = nullptr;
  std::vector<const column*> columns;  // empty: automatic
  name_filter filter;
  grouping by;                          // as far as the profile has what it names
  std::vector<std::string> complaints;  // about what it has not
  double all_self_ns = 0;
  bool device = false;  // the run has work on a device
  double all_device_ns = 0;

  explicit text_plan(const report_options& o) : options(o) {}

  /// Reads the options; the first that is wrong is in the status.
  status prepare() {
    if (status s = check_sort(options.sort); !s) return s;
    sort = find_column(options.sort.empty() ? "self" : options.sort);
    for (const std::string& name : options.columns) {
      if (status s = check_column(name); !s) return s;
      columns.push_back(find_column(name));
    }
    return filter.set(options.filter);
  }

  /// What the page is about; after prepare().
  void look_at(const profile& p) {
    all_self_ns = detail::all_self_ns(p);
    std::vector<std::string> fold = options.by.folded();
    fold.insert(fold.end(), options.fold.begin(), options.fold.end());
    checked_grouping checked = check_grouping(p, options.by.folding(std::move(fold)));
    by = std::move(checked.value);
    complaints = std::move(checked.complaints);
    device = has_device_work(p);
    all_device_ns = all_device_work(p).ns;
    if (device && options.sort.empty()) sort = find_column("device");
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
