// SPDX-License-Identifier: MIT
// The buffers that activity records go to: who fills them, and how they are delivered.
#include "buffers.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace scripted {

namespace {

std::atomic<std::uint64_t> buffer_requests{0}, deliveries{0};
thread_local thread_lane* own_lane = nullptr;

}  // namespace

activity_state& state() {
  static auto* made = new activity_state;
  return *made;
}

void internal_lock::lock() {
  if (pthread_mutex_trylock(&mutex_) == 0) return;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += static_cast<time_t>(shared().set.deadlock_s);
  if (pthread_mutex_timedlock(&mutex_, &until) == 0) return;
  scripted_note_misuse(
      "deadlock: a call waits for ever for the lock that CUPTI holds around buffer callbacks");
  std::abort();
}

// ---- delivery; all of it under the internal lock

void deliver(std::vector<buffer>& ready) {
  for (std::size_t left = ready.size(); left > 1; --left) {  // no order is promised
    std::swap(ready[left - 1], ready[mix(shared().set.seed + deliveries++) % left]);
  }
  thread_state& t = current_thread();
  for (const buffer& b : ready) {
    if (shared().truth != nullptr) write_truth(shared().truth, b.data, b.used);
    t.in_buffer_callback = true;
    state().complete(nullptr, 0, b.data, b.size, b.used);
    t.in_buffer_callback = false;
  }
}

void take_complete(std::vector<buffer>& from, std::vector<buffer>& ready, bool forced) {
  const std::uint64_t now = gpu_now();
  const auto complete = [&](const buffer& b) { return forced || b.latest_end <= now; };
  std::copy_if(from.begin(), from.end(), std::back_inserter(ready), complete);
  std::erase_if(from, complete);
}

static void deliver_full_buffers() {
  activity_state& s = state();
  std::vector<buffer> ready;
  bool waiting = false;
  for (;;) {
    {
      std::unique_lock guard(s.wake_lock);
      const auto woken = [&] { return s.woken || s.stopping; };
      if (waiting)
        s.wake.wait_until(guard, std::chrono::system_clock::now() + std::chrono::milliseconds(1),
                          woken);
      else s.wake.wait(guard, woken);
      if (s.stopping) return;
      s.woken = false;
    }
    const std::lock_guard guard(s.lock);
    ready.clear();
    take_complete(s.full, ready, false);
    waiting = !s.full.empty();
    deliver(ready);
    s.due = false;
  }
}

static void wake_delivery(bool& flag) {
  const std::lock_guard guard(state().wake_lock);
  flag = true;
  state().wake.notify_one();
}

void stop_delivery() {
  if (shared().forked) return;
  activity_state& s = state();
  {
    const std::lock_guard guard(s.lock);
    s.stopped = true;
    if (!s.delivery.joinable()) return;
  }
  wake_delivery(s.stopping);
  s.delivery.join();
}

static void retire(buffer& b) {
  activity_state& s = state();
  s.full.push_back(b);
  b = {};
  if (!s.stopped && !s.delivery.joinable()) s.delivery = std::thread(deliver_full_buffers);
  s.due = !s.stopped;
  wake_delivery(s.woken);
}

// ---- filling

static bool fits(const buffer& b, std::size_t bytes, std::size_t records) {
  return b.data != nullptr && b.used + bytes <= b.capacity &&
         (b.most == 0 || b.records + records <= b.most);
}

static void request(buffer& b) {
  const settings& set = shared().set;
  if (state().request == nullptr || (set.refuse != 0 && ++buffer_requests % set.refuse == 0))
    return;
  thread_state& t = current_thread();
  const bool outer = std::exchange(t.in_buffer_callback, true);
  state().request(&b.data, &b.size, &b.most);
  t.in_buffer_callback = outer;
  if (b.data == nullptr && set.version < 27)
    scripted_note_misuse("a refused buffer, which crashes CUPTI before 12.9");
  if (reinterpret_cast<std::uintptr_t>(b.data) % 8 != 0) {
    scripted_note_misuse("a buffer that is not aligned to 8 bytes");
    b = {};
  }
  b.capacity = set.buffer == 0 ? b.size : std::min<std::size_t>(b.size, set.buffer);
}

static void write(buffer& b, const std::uint8_t* bytes, std::size_t size, std::size_t records,
                  std::uint64_t end) {
  std::memcpy(b.data + b.used, bytes, size);
  b.used += size;
  b.records += records;
  b.latest_end = std::max(b.latest_end, end);
}

// Adds records that stay together.
void append(lane& l, const std::uint8_t* bytes, std::size_t size, std::size_t records,
            std::uint64_t end) {
  {
    const std::lock_guard guard(l.lock);
    if (fits(l.current, size, records)) return write(l.current, bytes, size, records, end);
  }
  // CUPTI's own thread keeps up with those that launch: they do not take the lock away from it for
  // long.
  for (int i = 0; i < 100 && state().due; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  const std::lock_guard outer(state().lock);
  const std::lock_guard guard(l.lock);
  if (!fits(l.current, size, records) && l.current.records != 0) retire(l.current);
  if (l.current.data == nullptr) request(l.current);
  if (fits(l.current, size, records)) write(l.current, bytes, size, records, end);
  else state().dropped += records;
}

// ---- threads

namespace {

struct lane_reaper {
  thread_lane* lane = nullptr;
  bool dead = false;
  ~lane_reaper() {
    dead = true;
    if (lane == nullptr || shared().forked) return;
    activity_state& s = state();
    const std::lock_guard guard(s.lock);
    if (lane->current.data != nullptr) retire(lane->current);  // an empty buffer goes back too
    std::erase(s.threads, lane);
    delete lane;
    own_lane = nullptr;
  }
};
thread_local lane_reaper reaper;

}  // namespace

static thread_lane& make_own_lane() {
  auto* made = new thread_lane;
  made->id = static_cast<std::uint32_t>(state().system_thread_ids
                                            ? static_cast<std::uint64_t>(::syscall(SYS_gettid))
                                            : pthread_self());
  if (!reaper.dead) reaper.lane = made;
  const std::lock_guard guard(state().lock);
  state().threads.push_back(made);
  return *made;
}

thread_lane* own_or_none() { return own_lane; }
thread_lane& own() {
  if (own_lane == nullptr) own_lane = &make_own_lane();
  return *own_lane;
}

lane& api_lane(thread_lane& mine) {
  return state().per_thread_buffers.load(std::memory_order_relaxed) ? mine : state().device;
}

}  // namespace scripted
