// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PENDING_ACTIVITIES_HPP
#define KPROF_ATTRIBUTE_PENDING_ACTIVITIES_HPP

// Activities whose launch is not known yet: a CUDA call may take longer than the work that it
// launched, and is noted at its end. Bounded; attribution decides what becomes of those that are
// pushed out.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct pending_activity {
  activity what;       // its name's text is CUPTI's and may be gone
  std::uint32_t name;  // the number of the kernel's name, or 0
};

class pending_activities {
 public:
  /// Keeps `memory` / 2048 activities, 256 at least.
  void set_limit(std::size_t memory) {
    most_ = std::max<std::size_t>(memory / 2048, 256);
    all_.reserve(most_);
  }
  void clear() noexcept { all_.clear(); }

  /// The caller makes room first where is_full().
  void add(const activity& a, std::uint32_t name) { all_.push_back({a, name}); }
  bool is_full() const noexcept { return all_.size() >= most_; }
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t bytes() const noexcept { return all_.capacity() * sizeof(pending_activity); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

  /// Counts records that came, each of which pays for one retry.
  void count_records(std::size_t how_many) noexcept { records_since_retry_ += how_many; }
  /// Whether as many records came since the last retry as there are pending activities. So a record
  /// that never finds its launch is retried at most once per new record.
  bool retry_is_due() const noexcept { return records_since_retry_ >= all_.size(); }
  /// The same for when the room is used up, where a retry may make some.
  bool retry_may_make_room() const noexcept { return records_since_retry_ >= most_ / 4; }

  /// All of them, for a retry. attribution adds those again whose launch is still not known.
  std::vector<pending_activity> take_for_retry() {
    records_since_retry_ = 0;
    std::vector<pending_activity> taken;
    taken.swap(all_);
    return taken;
  }
  /// A quarter of what fits, the oldest.
  std::vector<pending_activity> take_oldest() { return take(std::min(most_ / 4, all_.size())); }
  std::vector<pending_activity> take_all() { return take(all_.size()); }

 private:
  std::vector<pending_activity> take(std::size_t how_many) {
    const auto last = all_.begin() + static_cast<std::ptrdiff_t>(how_many);
    std::vector<pending_activity> taken(all_.begin(), last);
    all_.erase(all_.begin(), last);
    return taken;
  }

  std::vector<pending_activity> all_;  // oldest first
  std::size_t most_ = 1024;
  std::size_t records_since_retry_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
