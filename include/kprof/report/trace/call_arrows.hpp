// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_CALL_ARROWS_HPP
#define KPROF_REPORT_TRACE_CALL_ARROWS_HPP

// Arrows from calls to those that belong to them, as from forward to backward: profile::links.
// Included by trace_walk.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Where a slice is drawn. Times are those of the trace's events.
struct slice_place {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// One end of an arrow.
struct call_arrow {
  std::uint64_t number = 0;  ///< that no arrow to an item has, see arrow_of()
  bool starts = false;       ///< here, in the earlier call
  slice_place from{};        ///< the slice of the earlier call
};

class call_arrows {
 public:
  explicit call_arrows(const profile& p) {
    for (std::size_t i = 0; i < p.links.size(); ++i) {
      const call_link& l = p.links[i];
      if (l.call >= p.timeline.size() || l.of >= p.timeline.size()) continue;
      if (p.timeline[l.of].start >= p.timeline[l.call].start) continue;
      ends_.push_back({l.of, static_cast<std::uint32_t>(i), true});
      ends_.push_back({l.call, static_cast<std::uint32_t>(i), false});
    }
    std::sort(ends_.begin(), ends_.end(), [](const arrow_end& a, const arrow_end& b) {
      return a.scope != b.scope ? a.scope < b.scope : a.link < b.link;
    });
  }

  /// Of the scope of this index in profile::timeline, whose slice is there. Scopes come in the
  /// order of their begins: an arrow ends only where it has started.
  const std::vector<call_arrow>& of(std::uint32_t scope, const slice_place& slice) {
    arrows_.clear();
    auto at = std::lower_bound(ends_.begin(), ends_.end(), scope,
                               [](const arrow_end& e, std::uint32_t s) { return e.scope < s; });
    for (; at != ends_.end() && at->scope == scope; ++at) {
      const std::uint64_t number = (std::uint64_t{1} << 33U) + at->link;
      if (at->starts) started_[at->link] = slice;
      const auto from = started_.find(at->link);
      if (from != started_.end()) arrows_.push_back({number, at->starts, from->second});
    }
    return arrows_;
  }

 private:
  struct arrow_end {
    std::uint32_t scope, link;
    bool starts;
  };
  std::vector<arrow_end> ends_;                             // by scope
  std::unordered_map<std::uint32_t, slice_place> started_;  // by link
  std::vector<call_arrow> arrows_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
