// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_HISTOGRAM_HPP
#define KPROF_RECORD_HISTOGRAM_HPP

// A log-linear histogram of 64-bit values: 64 buckets an octave, so that a quantile read back is within 0.8 % of the
// value that was counted, at any scale. Only the range of buckets in use is stored. Not thread-safe.

#include <kprof/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// Counts of values, exact in number, within 0.8 % in value. Values below 128 are exact.
class histogram {
 public:
  /// Index of the bucket that counts `value`. Buckets 0 to 127 hold one value each.
  static constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
    if (value < 2 * per_octave) return static_cast<std::uint32_t>(value);
    const auto top = static_cast<std::uint32_t>(63 - __builtin_clzll(value));
    return (top - 5) * per_octave + static_cast<std::uint32_t>(value >> (top - 6) & (per_octave - 1));
  }
  /// The middle of the values that bucket `index` counts.
  static constexpr double value_of(std::uint32_t index) noexcept {
    if (index < 2 * per_octave) return index;
    const std::uint32_t shift = index / per_octave - 1;
    const auto low = static_cast<double>(std::uint64_t{per_octave + index % per_octave} << shift);
    return low + (static_cast<double>(std::uint64_t{1} << shift) - 1) / 2;
  }

  /// Counts `value` once. Where that takes memory, asks may_grow(bytes); told no, it counts the nearest value that it has
  /// room for and returns false. The first value is always given room.
  template <class MayGrow>
  bool add(std::uint64_t value, MayGrow may_grow) {
    std::uint32_t index = bucket_of(value);
    bool precise = true;
    if (index - first_ >= counts_.size()) [[unlikely]] precise = make_room(index, may_grow);
    ++counts_[index - first_];
    return precise;
  }
  void add(std::uint64_t value) { add(value, [](std::size_t) { return true; }); }

  template <class MayGrow>
  void merge(const histogram& other, MayGrow may_grow) {
    for (std::size_t i = 0; i < other.counts_.size(); ++i) {
      if (other.counts_[i] == 0) continue;
      std::uint32_t index = other.first_ + static_cast<std::uint32_t>(i);
      if (index - first_ >= counts_.size()) make_room(index, may_grow);
      counts_[index - first_] += other.counts_[i];
    }
  }
  void merge(const histogram& other) { merge(other, [](std::size_t) { return true; }); }

  /// Number of values counted.
  std::uint64_t count() const noexcept {
    std::uint64_t n = 0;
    for (const std::uint64_t c : counts_) n += c;
    return n;
  }

  /// The value that a share `q` (0 to 1) of all values does not exceed (nearest rank); 0 when empty.
  double quantile(double q) const noexcept {
    const std::uint64_t n = count();
    if (n == 0) return 0;
    const double exact_rank = q * static_cast<double>(n);
    auto rank = static_cast<std::uint64_t>(exact_rank);
    if (static_cast<double>(rank) < exact_rank) ++rank;
    if (rank < 1) rank = 1;
    if (rank > n) rank = n;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return value_of(first_ + static_cast<std::uint32_t>(i));
    }
    return value_of(first_ + static_cast<std::uint32_t>(counts_.size()) - 1);
  }

  /// Bytes allocated.
  std::size_t memory() const noexcept { return counts_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t per_octave = 64;

  /// Widens the range to `index`, or moves `index` to its edge; false when moved.
  template <class MayGrow>
  [[gnu::noinline]] bool make_room(std::uint32_t& index, MayGrow may_grow) {
    if (counts_.empty()) {
      static_cast<void>(may_grow(sizeof(std::uint64_t)));
      first_ = index;
      counts_.assign(1, 0);
      return true;
    }
    const std::uint32_t last = first_ + static_cast<std::uint32_t>(counts_.size()) - 1;
    const std::size_t size = index < first_ ? last - index + 1 : index - first_ + 1, held = counts_.capacity();
    const std::size_t wanted = size <= held ? held : size < held + held / 2 ? held + held / 2 : size;
    if (wanted > held && !may_grow((wanted - held) * sizeof(std::uint64_t))) {
      index = index < first_ ? first_ : last;
      return false;
    }
    counts_.reserve(wanted);
    if (index < first_) {
      counts_.insert(counts_.begin(), first_ - index, 0);
      first_ = index;
    } else {
      counts_.resize(size, 0);
    }
    return true;
  }

  std::uint32_t first_ = 0;
  std::vector<std::uint64_t> counts_;   // of buckets first_, first_ + 1, ...
};

KPROF_DETAIL_END

#endif
