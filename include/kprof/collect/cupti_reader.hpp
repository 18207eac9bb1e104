// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_READER_HPP
#define KPROF_COLLECT_CUPTI_READER_HPP

// Gives CUPTI buffers and reads the records in those that come back: on a thread of its own, on the
// thread that asks for all records, and on launching threads when the reader falls behind.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/buffer_pool.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/cupti_client.hpp>
#include <kprof/collect/cupti_clock.hpp>
#include <kprof/collect/cupti_records.hpp>
#include <kprof/collect/own_thread.hpp>

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class record_reader {
 public:
  record_reader(const device_listener& listener, const client& cupti, const clock_offset& clock)
      : listener_(listener), cupti_(cupti), clock_(clock) {}

  /// `memory`: bytes of all buffers together.
  void set_limit(std::size_t memory) { pool_.set_limit(memory); }
  std::size_t memory() noexcept { return pool_.bytes_held(); }

  /// Reads all buffers that CUPTI has given back.
  void read_all() {
    // One thread at a time: the names of kernels and the rest of a buffer belong to CUPTI.
    const std::lock_guard lock(reading_);
    while (read_one()) {}
  }
  /// Calls f while nobody reads: the subscription by which records are read is about to change.
  /// CUPTI may call the program's threads meanwhile, this one too.
  template <typename F>
  auto while_none_reads(const F& f) {
    const std::lock_guard lock(reading_);
    paused_ = true;
    const auto out = f();
    paused_ = false;
    return out;
  }
  /// Buffers that came back and were none of kprof's, since the last call.
  std::uint64_t take_foreign_buffers() noexcept { return foreign_buffers_.exchange(0); }
  /// Whether a record of device work had no correlation id.
  bool ids_are_missing() const noexcept { return ids_are_missing_; }

  /// Starts the reader's thread, unless it runs. It reads what has come and then calls
  /// after_reading(of). Where there can be no thread, launching threads and those that ask for all
  /// records read.
  void start_thread(void (*after_reading)(void* of), void* of) {
    if (thread_started_) return;
    after_reading_ = after_reading;
    after_reading_of_ = of;
    const auto run = [](void* self) -> void* {
      static_cast<record_reader*>(self)->read_for_ever();
      return nullptr;
    };
    thread_started_ = start_own_thread(run, this);
  }

  // CUPTI's callbacks call these. They may hold CUPTI's locks, so that nothing here calls CUPTI but
  // to walk the records of a buffer.

  /// A buffer for CUPTI to fill; nullptr when the memory is used up. `needs_one`: this CUPTI
  /// crashes where it gets none, so it gets a small one whose records are only counted.
  buffer* take_empty(bool needs_one) noexcept {
    buffer* b = pool_.take();
    for (int i = 0; b == nullptr && i < 1000 && pool_.will_have_one(); ++i) {
      help();
      b = pool_.take();
    }
    return b == nullptr && needs_one ? pool_.take_spare() : b;
  }
  /// CUPTI gives a buffer back. A buffer of another client is left alone: that client may still use
  /// it.
  void queue(std::uint8_t* records, std::size_t filled) noexcept {
    buffer* const b = pool_.find(records);
    if (b == nullptr) {
      ++foreign_buffers_;
      return;
    }
    b->filled = filled < b->size ? filled : b->size;
    pool_.queue(b);
    // After this lock the reader either has not looked at the queue yet or waits to be woken.
    { const std::lock_guard lock(waiting_); }
    wake_.notify_one();
  }
  /// Where records come faster than the reader reads them, launching threads read too: a launch
  /// that takes longer is better than a lost record.
  void help_if_behind() noexcept {
    for (int i = 0; i < 1000 && pool_.filling_up(); ++i) help();
  }

 private:
  // Reading needs nothing of CUPTI's that another thread might hold; even so, callers do not try
  // for ever.
  void help() noexcept {
    // While it is true the lock may be this thread's own, which must not try to take it then.
    if (!paused_ && reading_.try_lock()) {
      read_one();
      reading_.unlock();
    } else {
      usleep(20);
    }
  }

  /// The caller holds reading_. False when no buffer is queued.
  bool read_one() {
    buffer* const b = pool_.next();
    if (b == nullptr) return false;
    listener_.begin_reading();
    read(*b);
    pool_.give_back(b);
    listener_.end_reading();
    return true;
  }
  void read(buffer& b) {
    constexpr std::size_t batch = 64;
    activity some[batch];
    std::size_t count = 0;
    std::uint64_t lost = 0;
    const std::uint64_t now = clock_offset::realtime();
    void* record = nullptr;
    result walked = b.filled == 0 ? max_limit_reached : success;
    while (walked == success &&
           (walked = cupti_.next_record(b.records(), b.filled, &record)) == success) {
      activity& a = some[count];
      if (!cupti::read(record, a)) continue;
      if (b.spare) {
        ++lost;
        continue;
      }
      clock_.apply(a);
      keep_possible(a, now);
      if (a.correlation == 0 && a.kind <= activity_kind::set) ids_are_missing_ = true;
      if (++count == batch) listener_.read(some, std::exchange(count, 0));
    }
    if (count != 0) listener_.read(some, count);
    if (lost != 0) listener_.lost(loss::records, lost);
    if (walked != max_limit_reached) listener_.lost(loss::cut_buffers, 1);
  }

  void read_for_ever() {
    for (;;) {
      {
        std::unique_lock lock(waiting_);
        wake_.wait(lock, [this] { return pool_.any_queued(); });
      }
      read_all();
      after_reading_(after_reading_of_);
    }
  }

  const device_listener& listener_;
  const client& cupti_;
  const clock_offset& clock_;
  buffer_pool pool_;
  std::mutex reading_;  // held by the one thread that reads, and to change the subscription
  std::atomic<bool> paused_{false};
  std::mutex waiting_;  // held only to look whether a buffer is queued
  std::condition_variable wake_;
  std::atomic<bool> ids_are_missing_{false};
  std::atomic<std::uint64_t> foreign_buffers_{0};
  bool thread_started_ = false;
  void (*after_reading_)(void* of) = nullptr;
  void* after_reading_of_ = nullptr;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
