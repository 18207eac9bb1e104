// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_LAUNCH_TABLE_HPP
#define KPROF_ATTRIBUTE_LAUNCH_TABLE_HPP

// The launches whose records may still come, by correlation id. The table is bounded: it forgets
// the oldest launches first, and those whose record has come before those that wait for theirs.

#include <kprof/build_options.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A number in 31 bits: from 2^31 on its lowest 12 bits are lost, and it is 2^43 at the most.
constexpr std::uint32_t pack_coarsely(std::uint64_t number) noexcept {
  constexpr std::uint32_t coarse = std::uint32_t{1} << 31U;
  if (number < coarse) [[likely]]
    return static_cast<std::uint32_t>(number);
  const std::uint64_t units = number >> 12U;
  return coarse | static_cast<std::uint32_t>(units < coarse - 1 ? units : coarse - 2);
}
constexpr std::uint64_t unpack_coarsely(std::uint32_t packed) noexcept {
  constexpr std::uint32_t coarse = std::uint32_t{1} << 31U;
  return packed < coarse ? packed : std::uint64_t{packed - coarse} << 12U;
}

/// A launch as threads noted it, under one of its correlation ids.
struct known_launch {
  std::uint32_t correlation = 0;
  std::uint32_t path = 0;    // of the scopes around it, or launch_note::ignored
  std::uint32_t thread = 0;  // number of its log
  std::uint32_t older = 0;   // position in the ring of the next older one of its bucket, plus 1
  std::uint64_t ticks = 0;   // when the call began
  std::uint32_t packed_took = unknown_took;  // how long it took, in ns, by pack_coarsely()
  // this is another id of the launch that stands so many places before; 0: it is a launch's first
  std::uint8_t alias_by = 0;
  record_kind kind = record_kind::kernel_launch;
  bool seen : 1 = false;           // a record of it has come
  bool may_have_more : 1 = false;  // it launched a graph: more records may come
  std::uint8_t spared = 0;         // how often it was kept for that although it was the oldest

  static constexpr std::uint32_t unknown_took = ~std::uint32_t{0};
};
static_assert(sizeof(known_launch) == 32);

class launch_table {
 public:
  /// Remembers `some` launches, and up to `most` while so many wait for their records.
  void set_limit(std::size_t some, std::size_t most) {
    std::size_t size = 1024;
    while (size < some) size *= 2;
    most_ = std::max(most, size);
    if (size <= ring_.size()) return;
    std::vector<known_launch> ring(size);
    std::vector<std::uint32_t> buckets(size, 0);
    clear();
    ring_.swap(ring);
    buckets_.swap(buckets);
  }
  void clear() noexcept {
    first_ = end_ = 0;
    for (std::uint32_t& b : buckets_) b = 0;
  }

  /// Gives all launches so far this path: their records are still recognised when they come.
  void ignore_all(std::uint32_t ignored_path) noexcept {
    for (std::uint64_t i = first_; i != end_; ++i) at(i).path = ignored_path;
  }

  /// The other ids of a launch are added right after it. 0 is no id.
  void add(const known_launch& launch) {
    if (ring_.empty() || launch.correlation == 0) return;
    // Not between the ids of one launch, which go by their distance.
    if (launch.alias_by == 0) {
      if (end_ - first_ >= ring_.size() / 2 && is_spared(at(first_))) bring_forward();
      while (end_ - first_ >= ring_.size() / 2 && is_done(at(first_))) forget_oldest();
    }
    if (end_ - first_ == ring_.size()) {
      const bool may_grow = 2 * ring_.size() <= most_;
      if (!may_grow || !attempt([this] { grow(); })) forget_oldest();
    }
    append(launch);
  }

  /// The latest launch with this id, or nullptr. Ids begin anew after 2^32.
  known_launch* find(std::uint32_t correlation) noexcept {
    if (ring_.empty() || correlation == 0) return nullptr;
    for (std::uint32_t i = bucket_of(correlation); i != 0; i = ring_[i - 1].older)
      if (ring_[i - 1].correlation == correlation) return &ring_[i - 1];
    return nullptr;
  }
  /// The launch of which `l` is another id, or itself.
  known_launch& primary(known_launch& l) noexcept {
    const auto position = static_cast<std::size_t>(&l - ring_.data());
    known_launch& p = ring_[(position - l.alias_by) & (ring_.size() - 1)];
    // the launch's first id may have been forgotten, and its place used again
    return p.path == l.path && p.thread == l.thread && p.ticks == l.ticks ? p : l;
  }

  std::size_t bytes() const noexcept {
    return ring_.size() * (sizeof(known_launch) + sizeof(std::uint32_t));
  }

 private:
  /// Whether no more records are expected. Another id of a launch becomes the oldest entry only
  /// once the launch itself has been forgotten.
  static bool is_done(const known_launch& l) noexcept {
    return l.alias_by != 0 || (l.seen && !is_spared(l));
  }
  static bool is_spared(const known_launch& l) noexcept { return l.may_have_more && l.spared < 8; }
  /// Makes the oldest launch, with its other ids, the newest.
  void bring_forward() noexcept {
    do {
      known_launch oldest = at(first_);
      ++oldest.spared;
      forget_oldest();
      append(oldest);
    } while (first_ + 1 < end_ && at(first_).alias_by != 0);
  }
  known_launch& at(std::uint64_t i) noexcept { return ring_[i & (ring_.size() - 1)]; }
  std::uint32_t& bucket_of(std::uint32_t correlation) noexcept {
    return buckets_[(correlation * 0x9E3779B1U >> 7U) & (buckets_.size() - 1)];
  }
  void append(const known_launch& launch) noexcept {
    std::uint32_t& bucket = bucket_of(launch.correlation);
    known_launch& made = at(end_);
    made = launch;
    made.older = bucket;
    bucket = static_cast<std::uint32_t>(end_++ & (ring_.size() - 1)) + 1;
  }
  void grow() {
    std::vector<known_launch> ring(2 * ring_.size());
    std::vector<std::uint32_t> buckets(ring.size(), 0);
    ring_.swap(ring);
    buckets_.swap(buckets);
    const std::uint64_t first = std::exchange(first_, 0), end = std::exchange(end_, 0);
    for (std::uint64_t i = first; i != end; ++i) append(ring[i & (ring.size() - 1)]);
  }
  void forget_oldest() noexcept {
    const auto place = static_cast<std::uint32_t>(first_ & (ring_.size() - 1)) + 1;
    std::uint32_t* link = &bucket_of(at(first_).correlation);
    while (*link != place) link = &ring_[*link - 1].older;
    *link = 0;  // it is the oldest, so the last of its bucket
    ++first_;
  }

  std::vector<known_launch> ring_;      // a power of two
  std::vector<std::uint32_t> buckets_;  // the newest of each, plus 1
  std::uint64_t first_ = 0, end_ = 0;
  std::size_t most_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
