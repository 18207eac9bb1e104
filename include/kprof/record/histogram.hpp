// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_HISTOGRAM_HPP
#define KPROF_RECORD_HISTOGRAM_HPP

// A log-linear histogram of 64-bit values: 64 buckets an octave, so that a quantile read back is
// within 0.8 % of the value that was counted, at any scale. Only the range of buckets in use is
// stored. Counting never fails: without memory it counts at the nearest bucket. Not thread-safe.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

KPROF_DETAIL_BEGIN

namespace detail {
template <class T>
struct shared_layout;
}

/// Counts of values, exact in number, within 0.8 % in value. Values below 128 are exact.
class histogram {
 public:
  histogram() noexcept = default;
  /// Throws std::bad_alloc where there is no memory.
  histogram(const histogram& other)
      : first_(other.first_),
        gathered_size_(other.gathered_size_),
        counts_(other.size_ > 1 ? new std::uint64_t[other.size_] : nullptr),
        size_(other.size_),
        capacity_(counts_ != nullptr ? size_ : 0),
        only_count_(other.only_count_) {
    std::copy_n(other.gathered_, gathered_size_, gathered_);
    std::copy_n(other.begin(), size_, begin());
  }
  histogram(histogram&& other) noexcept { swap(other); }
  histogram& operator=(histogram other) noexcept {
    swap(other);
    return *this;
  }
  ~histogram() { delete[] counts_; }

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
    for (std::uint32_t i = 0; i < other.size_; ++i)
      if (other.begin()[i] != 0 && !count_at(other.first_ + i, other.begin()[i], may_grow))
        moved += other.begin()[i];
    for (std::uint32_t i = 0; i < other.gathered_size_; ++i)
      moved += count_at(other.gathered_[i], 1, may_grow) ? 0U : 1U;
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
    for (std::uint32_t i = 0; i < size_; ++i) {
      while (next < gathered_size_ && sorted[next] < first_ + i) take(sorted[next], 0);
      take(first_ + i, begin()[i]);
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
    for (std::uint32_t i = 0; i < size_; ++i) n += begin()[i];
    return n;
  }

  /// The value that a share `q` (0 to 1) of all values does not exceed (nearest rank); 0 when
  /// empty.
  double quantile(double q) const noexcept {
    const std::uint64_t n = count();
    if (n == 0) return 0;
    const double exact_rank = q * static_cast<double>(n);
    // A count of 2^64 - 1, as a file may have, is 2^64 as a double.
    auto rank = exact_rank < 0x1p64 ? static_cast<std::uint64_t>(exact_rank) : n;
    if (static_cast<double>(rank) < exact_rank) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, n);
    std::uint16_t sorted[gather] = {};
    std::copy_n(gathered_, gathered_size_, sorted);
    std::sort(sorted, sorted + gathered_size_);
    std::uint32_t next = 0;  // of `sorted`
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      for (; next < gathered_size_ && sorted[next] < first_ + i; ++next)
        if (++seen == rank) return value_of(sorted[next]);
      seen += begin()[i];
      if (seen >= rank) return value_of(first_ + i);
    }
    return value_of(sorted[next + (rank - seen) - 1]);
  }

  /// Bytes allocated.
  std::size_t memory() const noexcept { return capacity_ * sizeof(std::uint64_t); }

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
    std::uint64_t* counts = begin();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (gathered_[i] - first_ < size_) {
        ++counts[gathered_[i] - first_];
      } else {
        moved += count_at(gathered_[i], 1, may_grow) ? 0U : 1U;
        counts = begin();
      }
    }
    return moved;
  }

  template <class MayGrow>
  bool count_at(std::uint32_t index, std::uint64_t times, MayGrow may_grow) {
    const bool precise = index - first_ < size_ || make_room(index, may_grow);
    begin()[index - first_] += times;
    return precise;
  }

  /// Widens the range to `index`, or moves `index` to its edge; false when moved.
  template <class MayGrow>
  [[gnu::noinline]] bool make_room(std::uint32_t& index, MayGrow may_grow) {
    if (size_ == 0) {
      first_ = index;
      size_ = 1;
      return true;
    }
    const std::uint32_t last = first_ + size_ - 1;
    const std::uint32_t size = index < first_ ? last - index + 1 : index - first_ + 1;
    const std::uint32_t wanted = size <= capacity_                  ? capacity_
                                 : size < capacity_ + capacity_ / 2 ? capacity_ + capacity_ / 2
                                                                    : size;
    if (wanted > capacity_ && !grow_to(wanted, may_grow)) {
      index = index < first_ ? first_ : last;
      return false;
    }
    if (index < first_) {
      std::copy_backward(counts_, counts_ + size_, counts_ + size);
      std::fill(counts_, counts_ + (first_ - index), 0);
      first_ = index;
    } else {
      std::fill(counts_ + size_, counts_ + size, 0);
    }
    size_ = size;
    return true;
  }
  template <class MayGrow>
  bool grow_to(std::uint32_t wanted, MayGrow may_grow) {
    auto* const more = new (std::nothrow) std::uint64_t[wanted];
    // Asked last: what may_grow() has granted counts as taken.
    if (more == nullptr || !may_grow((wanted - capacity_) * sizeof(std::uint64_t))) {
      delete[] more;
      return false;
    }
    std::copy_n(begin(), size_, more);
    delete[] counts_;
    counts_ = more;
    capacity_ = wanted;
    return true;
  }

  std::uint64_t* begin() noexcept { return counts_ != nullptr ? counts_ : &only_count_; }
  const std::uint64_t* begin() const noexcept {
    return counts_ != nullptr ? counts_ : &only_count_;
  }
  void swap(histogram& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(gathered_size_, other.gathered_size_);
    std::swap(gathered_, other.gathered_);
    std::swap(counts_, other.counts_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(only_count_, other.only_count_);
  }

  friend struct detail::shared_layout<histogram>;

  std::uint32_t first_ = 0;
  std::uint32_t gathered_size_ = 0;
  std::uint16_t gathered_[gather] = {};  // buckets of values that are not in counts_ yet
  std::uint64_t* counts_ = nullptr;      // of buckets first_, first_ + 1, ...
  std::uint32_t size_ = 0;               // of counts_, or 1: a single bucket has only_count_
  std::uint32_t capacity_ = 0;
  std::uint64_t only_count_ = 0;
};

KPROF_DETAIL_END

#endif
