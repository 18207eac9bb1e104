// SPDX-License-Identifier: MIT
// The buffers that activity records go to: who fills them, and how they are delivered.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_BUFFERS_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_BUFFERS_HPP

#include "activity.hpp"
#include "records.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace scripted {

// The lock that CUPTI holds while it calls a client's buffer callbacks. A thread that waits very
// long for it waits for ever: some call of CUPTI was made with a lock held that a buffer callback
// takes.
class internal_lock {
 public:
  void lock();
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

struct buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, capacity = 0, used = 0, records = 0, most = 0;
  std::uint64_t latest_end = 0;  // in GPU time: complete from then on
};

// A buffer that is being filled. Its lock is taken after the internal one.
struct lane {
  std::mutex lock;
  buffer current;
};

struct thread_lane : lane {
  std::uint32_t id = 0;
  std::vector<std::uint64_t> external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
};

struct activity_state {
  internal_lock lock;  // guards the members down to `stopped`
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<buffer> full;
  std::vector<thread_lane*> threads;
  std::atomic<bool> due{false};  // full buffers have not been looked at yet
  std::thread delivery;
  bool stopped = false;

  lane device;
  std::mutex wake_lock;
  std::condition_variable wake;
  bool woken = false, stopping = false;

  std::atomic<bool> enabled[128];          // by kind
  std::atomic<bool> api_enabled[2][1024];  // driver, runtime
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<bool> per_thread_buffers{true}, system_thread_ids{false};
};
// Leaked: a client's atexit handlers and threads may still come here.
activity_state& state();

inline bool on(CUpti_ActivityKind kind) {
  return state().enabled[kind].load(std::memory_order_relaxed);
}

// Adds records that stay together.
void append(lane& l, const std::uint8_t* bytes, std::size_t size, std::size_t records,
            std::uint64_t end);
// One record, in the size that it has in the claimed version.
template <class Record>
void append(lane& l, const Record& record, std::uint64_t end = 0) {
  append(l, reinterpret_cast<const std::uint8_t*>(&record), record_size(record.kind), 1, end);
}

// This thread's lane, made by own() at the first call.
thread_lane* own_or_none();
thread_lane& own();
// The lane for records of this thread's calls.
lane& api_lane(thread_lane& mine);

// Under the internal lock.
void take_complete(std::vector<buffer>& from, std::vector<buffer>& ready, bool forced);
void deliver(std::vector<buffer>& ready);
// Ends the thread that delivers full buffers.
void stop_delivery();

}  // namespace scripted

#endif
