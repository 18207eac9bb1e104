// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_STEP_BORDERS_HPP
#define KPROF_REPORT_TRACE_STEP_BORDERS_HPP

// Where the steps of a trace end. A program that calls step() at the end of a loop's region ends
// the step within the region. Slices nest: a viewer would move the region away from the scopes
// inside it. Such a step ends with the region, and the next one begins then. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class step_borders {
 public:
  explicit step_borders(const profile& p) {
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      const step_mark& s = p.steps[i];
      const std::int64_t begin = bounded_time(s.begin), end = bounded_time(s.end);
      if (s.counts && end > begin)
        borders_.push_back({s.thread, begin, end, end, longest_overhang(end - begin)});
    }
    std::sort(borders_.begin(), borders_.end(), [](const border& a, const border& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.at < b.at;
    });
    if (borders_.empty()) return;
    for (const timeline_scope& s : p.timeline) {
      if (s.node >= p.nodes.size() || p.nodes[s.node].kind == scope_kind::root) continue;
      const double begin = static_cast<double>(s.start);
      end_with(p.nodes[s.node].thread, whole_ns(begin * p.clock.ns_per_tick),
               whole_ns((begin + static_cast<double>(s.duration)) * p.clock.ns_per_tick));
    }
  }

  /// Where a time of a thread's step is in the trace: its begin, which is where the step before
  /// ends, or its end.
  std::int64_t place_of(std::uint32_t thread, std::int64_t time) const noexcept {
    const auto at = find(thread, time);
    return at != borders_.end() && at->thread == thread && at->at == time ? at->moved : time;
  }

 private:
  struct border {
    std::uint32_t thread = 0;
    std::int64_t begin = 0;     // of the step
    std::int64_t at = 0;        // its end
    std::int64_t moved = 0;     // where it is in the trace
    std::int64_t overhang = 0;  // how far it may be moved
  };

  /// A region that goes on for longer was not about to end.
  static std::int64_t longest_overhang(std::int64_t step) noexcept {
    return std::max<std::int64_t>(step / 64, 2000);
  }
  std::vector<border>::const_iterator find(std::uint32_t thread, std::int64_t time) const noexcept {
    return std::lower_bound(borders_.begin(), borders_.end(), time,
                            [&](const border& b, std::int64_t t) {
                              return b.thread != thread ? b.thread < thread : b.at < t;
                            });
  }
  /// A scope ran from `begin` to `end`.
  void end_with(std::uint32_t thread, std::int64_t begin, std::int64_t end) noexcept {
    const auto found = find(thread, begin + 1);
    if (found == borders_.end() || found->thread != thread) return;
    // A scope around several steps is no loop's.
    const auto next = found + 1;
    if (next != borders_.end() && next->thread == thread && next->at < end) return;
    border& b = borders_[static_cast<std::size_t>(found - borders_.begin())];
    if (begin >= b.begin && end > b.at && end - b.at <= b.overhang)
      b.moved = std::max(b.moved, end);
  }

  std::vector<border> borders_;  // by thread and time
};

}  // namespace detail
KPROF_DETAIL_END

#endif
