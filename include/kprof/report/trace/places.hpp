// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_PLACES_HPP
#define KPROF_REPORT_TRACE_PLACES_HPP

// Where the slices of a trace are drawn: numbers of processes and of rows as all viewers take them,
// and which slices share a row. Included by trace.hpp. Pure.
//
// Slices of one row must lie in each other whole or not at all: Perfetto drops others. What crosses
// goes to a further row of the same thread or stream.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Rows of one thread or stream. What does not fit is left out.
inline constexpr std::size_t most_trace_rows = 1000;
/// Numbers from here on are no thread's on Linux.
inline constexpr std::uint32_t first_made_up_number = 10'000'000;
/// TensorBoard takes numbers of devices below this.
inline constexpr std::uint32_t most_devices_in_trace = 64;

struct row_number {
  std::uint32_t tid = 0;
  bool is_new = false;
};

/// A scope that is open at the moment.
struct open_slice {
  std::int64_t end = 0;
  std::uint32_t node = scope_node::none;  // none: a step or a call of a library
  std::uint64_t id = 0;                   // "External id"
};

/// The rows of a thread: in each, slices lie in each other.
class thread_rows {
 public:
  std::vector<std::uint32_t> further;  ///< numbers of the rows beside the first

  /// The row for a slice that begins no earlier than those before; most_trace_rows: there is none.
  std::size_t place(std::int64_t begin, const open_slice& slice) {
    for (std::size_t i = 0; i < most_trace_rows; ++i) {
      if (i == rows_.size()) rows_.emplace_back();
      close(rows_[i], begin);
      if (!rows_[i].empty() && rows_[i].back().end < slice.end) continue;
      rows_[i].push_back(slice);
      return i;
    }
    return most_trace_rows;
  }
  /// When the innermost slice of the first row ends that is open at a time; negative: none is.
  std::int64_t innermost_end(std::int64_t at) {
    if (rows_.empty()) return -1;
    close(rows_[0], at);
    return rows_[0].empty() ? -1 : rows_[0].back().end;
  }
  /// The "External id" of a node's scope that is open at a time; 0 where none is.
  std::uint64_t find(std::uint32_t node, std::int64_t at) const noexcept {
    for (const std::vector<open_slice>& row : rows_)
      for (std::size_t i = row.size(); i-- > 0;)
        if (row[i].node == node && row[i].end >= at) return row[i].id;
    return 0;
  }

 private:
  static void close(std::vector<open_slice>& row, std::int64_t at) {
    while (!row.empty() && row.back().end <= at) row.pop_back();
  }

  std::vector<std::vector<open_slice>> rows_;
};

/// The rows of a stream: in each, one comes after the other.
class stream_rows {
 public:
  std::vector<std::uint32_t> further;  ///< numbers of the rows beside the first

  std::size_t place(std::int64_t begin, std::int64_t end) {
    for (std::size_t i = 0; i < most_trace_rows; ++i) {
      if (i == ends_.size()) ends_.push_back(begin);
      if (ends_[i] > begin) continue;
      ends_[i] = end;
      return i;
    }
    return most_trace_rows;
  }

 private:
  std::vector<std::int64_t> ends_;
};

/// A stream of a device in a trace.
struct traced_stream {
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  stream_rows rows;
};

/// The numbers of the program, its threads, the devices and their streams.
class trace_places {
 public:
  explicit trace_places(const profile& p) : threads_(p.threads.size()) {
    number_devices(p);
    number_streams(p);
    number_threads(p);
  }

  std::uint32_t pid() const noexcept { return pid_; }
  std::uint32_t tid(std::size_t thread) const noexcept { return tids_[thread]; }
  thread_rows& rows(std::size_t thread) noexcept { return threads_[thread]; }
  /// Devices that did something or are described, by number.
  const std::vector<std::uint32_t>& devices() const noexcept { return devices_; }
  std::uint32_t pid_of_device(std::uint32_t device) const noexcept {
    const auto at = std::lower_bound(devices_.begin(), devices_.end(), device);
    return ids_fit_ ? device : static_cast<std::uint32_t>(at - devices_.begin());
  }
  std::vector<traced_stream>& streams() noexcept { return streams_; }
  /// One of the streams of the profile's items.
  traced_stream& stream(std::uint32_t device, std::uint32_t number) noexcept {
    return *std::lower_bound(streams_.begin(), streams_.end(), std::pair{device, number},
                             &comes_before);
  }
  /// The number of a thread's or a stream's row, the first of which has its own.
  row_number number_of_row(std::uint32_t thread, std::size_t row) {
    return number_of(threads_[thread].further, row, tids_[thread]);
  }
  row_number number_of_row(traced_stream& stream, std::size_t row) {
    return number_of(stream.rows.further, row, stream.tid);
  }

 private:
  row_number number_of(std::vector<std::uint32_t>& further, std::size_t row, std::uint32_t first) {
    if (row == 0) return {first, false};
    if (row <= further.size()) return {further[row - 1], false};
    further.push_back(next_number());
    return {further.back(), true};
  }
  /// A number that nothing has.
  std::uint32_t next_number() noexcept { return made_up_++; }

  static bool comes_before(const traced_stream& s,
                           const std::pair<std::uint32_t, std::uint32_t>& of) noexcept {
    return std::pair{s.device, s.stream} < of;
  }

  void number_devices(const profile& p) {
    for (const device_info& d : p.device.devices) devices_.push_back(d.id);
    for (const device_work& w : p.device.work) devices_.push_back(w.device);
    std::sort(devices_.begin(), devices_.end());
    devices_.erase(std::unique(devices_.begin(), devices_.end()), devices_.end());
    ids_fit_ = devices_.empty() || devices_.back() < most_devices_in_trace;
  }

  void number_streams(const profile& p) {
    std::pair<std::uint32_t, std::uint32_t> latest{};
    bool any = false;
    for (const device_item& i : p.device.timeline.items) {
      if (i.work >= p.device.work.size()) continue;
      const std::pair of{p.device.work[i.work].device, i.stream};
      if (std::exchange(any, true) && of == latest) continue;
      latest = of;
      const auto at = std::lower_bound(streams_.begin(), streams_.end(), of, &comes_before);
      if (at != streams_.end() && at->device == of.first && at->stream == of.second) continue;
      traced_stream made;
      made.device = of.first;
      made.stream = of.second;
      made.pid = pid_of_device(of.first);
      made.tid = of.second < first_made_up_number ? of.second : next_number();
      streams_.insert(at, std::move(made));
    }
  }

  /// The system's numbers, where they are different and small enough. The first thread of a process
  /// has the number of the process, which is the least, and must not be a device's.
  void number_threads(const profile& p) {
    std::vector<std::uint64_t> used;
    for (const thread_info& t : p.threads)
      if (is_usable(t.id)) used.push_back(t.id);
    std::sort(used.begin(), used.end());
    pid_ = used.empty() ? first_made_up_number : static_cast<std::uint32_t>(used.front());
    if (pid_ < std::max<std::size_t>(most_devices_in_trace, devices_.size())) pid_ = next_number();
    std::vector<bool> taken(used.size());
    for (const thread_info& t : p.threads) {
      const auto at = std::lower_bound(used.begin(), used.end(), t.id);
      const auto place = static_cast<std::size_t>(at - used.begin());
      const bool is_free = is_usable(t.id) && !taken[place];
      if (is_free) taken[place] = true;
      tids_.push_back(is_free ? static_cast<std::uint32_t>(t.id) : next_number());
    }
  }
  static bool is_usable(std::uint64_t id) noexcept { return id > 0 && id < first_made_up_number; }

  std::uint32_t pid_ = 0;
  std::uint32_t made_up_ = first_made_up_number;
  bool ids_fit_ = true;
  std::vector<std::uint32_t> tids_;
  std::vector<thread_rows> threads_;
  std::vector<std::uint32_t> devices_;
  std::vector<traced_stream> streams_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
