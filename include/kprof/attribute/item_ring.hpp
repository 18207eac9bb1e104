// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_ITEM_RING_HPP
#define KPROF_ATTRIBUTE_ITEM_RING_HPP

// When each kernel, copy and memset ran and when the call that launched it did: the latest of them,
// in 48 bytes each. Filled by attribution, one store behind the other, on the thread that reads
// records.

#include <kprof/attribute/launch_table.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_timeline.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail {

/// One item of work. Times are ns since the session's start.
class packed_item {
 public:
  // Not initialised: the ring's memory is used as it fills.
  packed_item() = default;
  /// `launch`: nullptr where it is not known; `when` its call began. `log`: the number of the
  /// launching thread's, or 0; `row`: of its totals. `epoch`: the session's start, as `when` in
  /// CLOCK_REALTIME ns.
  packed_item(const activity& a, const known_launch* launch, std::uint64_t when, std::uint32_t log,
              std::uint32_t row, std::uint64_t epoch) noexcept
      : start_(a.start - epoch),
        end_and_graph_((a.end - epoch) << 1U | (a.graph_node != 0 ? 1U : 0U)),
        call_(launch == nullptr ? unknown : when - epoch),
        took_(launch == nullptr ? known_launch::unknown_took : launch->packed_took),
        bytes_(pack_coarsely(a.bytes)),
        correlation_(a.correlation),
        stream_(a.stream),
        log_(log),
        row_(row) {
    if (a.start != 0 && a.end >= a.start) [[likely]]
      return;
    if (a.start == 0) start_ = launch == nullptr ? 0 : call_;
    end_and_graph_ = (start_ - 1) << 1U | (end_and_graph_ & 1U);
  }

  std::int64_t start() const noexcept { return static_cast<std::int64_t>(start_); }
  /// Less than start() where the device gave no time.
  std::int64_t end() const noexcept { return static_cast<std::int64_t>(end_and_graph_) >> 1; }
  bool of_graph() const noexcept { return (end_and_graph_ & 1U) != 0; }
  bool call_is_known() const noexcept { return call_ != unknown; }
  std::int64_t call_begin() const noexcept { return static_cast<std::int64_t>(call_); }
  bool call_end_is_known() const noexcept { return took_ != known_launch::unknown_took; }
  std::int64_t call_end() const noexcept {
    return call_begin() + static_cast<std::int64_t>(unpack_coarsely(took_));
  }
  /// From 2 GiB on to 4 KiB.
  std::uint64_t bytes() const noexcept { return unpack_coarsely(bytes_); }
  std::uint32_t correlation() const noexcept { return correlation_; }
  std::uint32_t stream() const noexcept { return stream_; }
  std::uint32_t log() const noexcept { return log_; }
  std::uint32_t row() const noexcept { return row_; }

 private:
  static constexpr std::uint64_t unknown = std::uint64_t{1} << 63U;

  std::uint64_t start_, end_and_graph_, call_;
  std::uint32_t took_, bytes_, correlation_, stream_, log_, row_;
};
static_assert(sizeof(packed_item) == 48);

/// `work`: the index of its row in device_profile::work. The thread is left to the caller.
inline device_item to_item(const packed_item& from, std::uint32_t work) {
  device_item out;
  out.work = work;
  out.stream = from.stream();
  out.correlation = from.correlation();
  out.start = from.start();
  out.end = from.end();
  // Clocks of devices and threads differ a little: a call may seem to be older than the session.
  if (from.call_is_known()) out.call_begin = from.call_begin() > 0 ? from.call_begin() : 0;
  if (from.call_end_is_known()) out.call_end = from.call_end() > 0 ? from.call_end() : 0;
  out.bytes = from.bytes();
  out.graph = from.of_graph();
  return out;
}

/// The latest elements of a sequence. `T` needs no initialisation: memory is used as it fills.
template <class T>
class latest_ring {
 public:
  /// Keeps so many, as far as there is memory; forgets all.
  void restart(std::size_t size) noexcept {
    added_ = at_ = 0;
    wanted_ = size != 0;
    if (size == size_) return;
    all_.reset(size == 0 ? nullptr : new (std::nothrow) T[size]);
    size_ = all_ == nullptr ? 0 : size;
  }
  /// Whether adding one more pushes the oldest out, or has no room at all.
  bool is_full() const noexcept { return added_ >= size_; }
  /// The element that the next one takes the place of, where is_full() and keeps_any().
  T& next() noexcept { return all_[at_]; }
  bool keeps_any() const noexcept { return size_ != 0; }
  bool is_wanted() const noexcept { return wanted_; }
  /// Counts an element that there is no room for.
  void drop() noexcept { added_ += wanted_ ? 1 : 0; }
  template <class... From>
  void add(const From&... from) noexcept {
    ++added_;
    ::new (static_cast<void*>(&all_[at_])) T{from...};
    if (++at_ == size_) at_ = 0;
  }
  T& latest() noexcept { return all_[at_ == 0 ? size_ - 1 : at_ - 1]; }

  std::size_t size() const noexcept {
    return added_ < size_ ? static_cast<std::size_t>(added_) : size_;
  }
  std::uint64_t dropped() const noexcept { return added_ - size(); }
  /// The how manieth since restart() an element of the ring is.
  std::uint64_t number_of(const T* element) const noexcept {
    const auto place = static_cast<std::size_t>(element - begin());
    return place < at_ ? added_ - at_ + place : added_ - at_ - size_ + place;
  }
  std::size_t bytes() const noexcept { return size() * sizeof(T); }
  const T* begin() const noexcept { return all_.get(); }
  const T* end() const noexcept { return all_.get() + size(); }  // in no order

 private:
  std::unique_ptr<T[]> all_;
  bool wanted_ = false;  // there were to be some, if there was memory
  std::size_t size_ = 0;
  std::size_t at_ = 0;       // where the next one goes
  std::uint64_t added_ = 0;  // since restart()
};

}  // namespace detail
KPROF_DETAIL_END

#endif
