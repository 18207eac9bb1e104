// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_HISTOGRAM_HPP
#define KPROF_RECORD_HISTOGRAM_HPP

// A log-linear histogram of 64-bit values: 64 buckets an octave, so that a quantile read back is
// within 0.8 % of the value that was counted, at any scale. Only the range of buckets in use is
// stored. Not thread-safe.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Counts of values, exact in number, within 0.8 % in value. Values below 128 are exact.
class histogram {
 public:
  /// Index of the bucket that counts `value`. Buckets 0 to 127 hold one value each.
  static constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
    const auto shift = static_cast<std::uint32_t>(57 - __builtin_clzll(value | per_octave));
    return shift * per_octave + static_cast<std::uint32_t>(value >> shift);
  }
  /// The middle of the values that bucket `index` counts.
  static constexpr double value_of(std::uint32_t index) noexcept {
    if (index < 2 * per_octave) return index;
    const std::uint32_t shift = index / per_octave - 1;
    const auto low = static_cast<double>(std::uint64_t{per_octave + index % per_octave} << shift);
    return low + (static_cast<double>(std::uint64_t{1} << shift) - 1) / 2;
  }

  /// Counts `value` once. Where counting takes memory, asks may_grow(bytes); told no, it counts the
  /// nearest value that it has room for. Returns how many values that befell, of those that were
  /// gathered until now (see gather).
  template <class MayGrow>
  std::uint32_t add(std::uint64_t value, MayGrow may_grow) {
    gathered_[gathered_size_++] = static_cast<std::uint16_t>(bucket_of(value));
    return gathered_size_ == gather ? count_gathered(may_grow) : 0;
  }
  void add(std::uint64_t value) {
    add(value, [](std::size_t) { return true; });
  }

  /// Adds all values of another one; returns as add() does.
  template <class MayGrow>
  std::uint64_t merge(const histogram& other, MayGrow may_grow) {
    std::uint64_t moved = 0;
    for (std::uint32_t i = 0; i < other.counts_.size(); ++i)
      if (other.counts_[i] != 0 && !count_at(other.first_ + i, other.counts_[i], may_grow))
        moved += other.counts_[i];
    for (std::uint32_t i = 0; i < other.gathered_size_; ++i)
      moved += count_at(other.gathered_[i], 1, may_grow) ? 0 : 1;
    return moved;
  }
  void merge(const histogram& other) {
    merge(other, [](std::size_t) { return true; });
  }

  /// Index of the last bucket.
  static constexpr std::uint32_t last_bucket = 58 * 64 + 63;

  /// Calls f(bucket, count) for each bucket that counted something, in their order. With restore()
  /// the way to write a histogram and to make it again.
  template <class F>
  void each(F f) const {
    std::uint16_t sorted[gather] = {};
    std::copy_n(gathered_, gathered_size_, sorted);
    std::sort(sorted, sorted + gathered_size_);
    std::uint32_t next = 0;  // of `sorted`
    const auto take = [&](std::uint32_t bucket, std::uint64_t count) {
      for (; next < gathered_size_ && sorted[next] == bucket; ++next) ++count;
      if (count != 0) f(bucket, count);
    };
    for (std::uint32_t i = 0; i < counts_.size(); ++i) {
      while (next < gathered_size_ && sorted[next] < first_ + i) take(sorted[next], 0);
      take(first_ + i, counts_[i]);
    }
    while (next < gathered_size_) take(sorted[next], 0);
  }

  /// Counts `times` values of a bucket, at most last_bucket. The first few take no memory.
  void restore(std::uint32_t bucket, std::uint64_t times) {
    if (times < gather - gathered_size_)
      for (; times > 0; --times) gathered_[gathered_size_++] = static_cast<std::uint16_t>(bucket);
    else count_at(bucket, times, [](std::size_t) { return true; });
  }

  /// Number of values counted.
  std::uint64_t count() const noexcept {
    std::uint64_t n = gathered_size_;
    for (const std::uint64_t c : counts_) n += c;
    return n;
  }

  /// The value that a share `q` (0 to 1) of all values does not exceed (nearest rank); 0 when
  /// empty.
  double quantile(double q) const noexcept {
    const std::uint64_t n = count();
    if (n == 0) return 0;
    const double exact_rank = q * static_cast<double>(n);
    auto rank = static_cast<std::uint64_t>(exact_rank);
    if (static_cast<double>(rank) < exact_rank) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, n);
    std::uint16_t sorted[gather] = {};
    std::copy_n(gathered_, gathered_size_, sorted);
    std::sort(sorted, sorted + gathered_size_);
    std::uint32_t next = 0;  // of `sorted`
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < counts_.size(); ++i) {
      for (; next < gathered_size_ && sorted[next] < first_ + i; ++next)
        if (++seen == rank) return value_of(sorted[next]);
      seen += counts_[i];
      if (seen >= rank) return value_of(first_ + i);
    }
    return value_of(sorted[next + (rank - seen) - 1]);
  }

  /// Bytes allocated.
  std::size_t memory() const noexcept { return counts_.capacity() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t per_octave = 64;
  // So many values are kept beside the counters until they are counted together. With many
  // histograms their counters have left the cache when the next value comes, and 16 at once take a
  // fifth of the time; one that has fewer takes no memory at all.
  static constexpr std::uint32_t gather = 16;

  template <class MayGrow>
  [[gnu::noinline]] std::uint32_t count_gathered(MayGrow may_grow) {
    const std::uint32_t n = std::exchange(gathered_size_, 0U);
    std::uint32_t moved = 0;
    for (std::uint32_t i = 0; i < n; ++i) moved += count_at(gathered_[i], 1, may_grow) ? 0 : 1;
    return moved;
  }

  template <class MayGrow>
  bool count_at(std::uint32_t index, std::uint64_t times, MayGrow may_grow) {
    const bool precise = index - first_ < counts_.size() || make_room(index, may_grow);
    counts_[index - first_] += times;
    return precise;
  }

  /// Widens the range to `index`, or moves `index` to its edge; false when moved. The first is
  /// always given room.
  template <class MayGrow>
  [[gnu::noinline]] bool make_room(std::uint32_t& index, MayGrow may_grow) {
    if (counts_.empty()) {
      static_cast<void>(may_grow(sizeof(std::uint64_t)));
      first_ = index;
      counts_.assign(1, 0);
      return true;
    }
    const std::uint32_t last = first_ + static_cast<std::uint32_t>(counts_.size()) - 1;
    const std::size_t size = index < first_ ? last - index + 1 : index - first_ + 1,
                      held = counts_.capacity();
    const std::size_t wanted = size <= held             ? held
                               : size < held + held / 2 ? held + held / 2
                                                        : size;
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
  std::uint32_t gathered_size_ = 0;
  std::uint16_t gathered_[gather] = {};  // buckets of values that are not in counts_ yet
  std::vector<std::uint64_t> counts_;    // of buckets first_, first_ + 1, ...
};

KPROF_DETAIL_END

#endif
