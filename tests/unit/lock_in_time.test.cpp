// SPDX-License-Identifier: MIT
// needs: guards
// A guard does not wait for ever for a lock that another thread holds: its scope is dropped.

#include "attribution_engine.hpp"
#include "catch.hpp"
#include "moved_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

/// Calls until the log's chunk is full, and so many more. How many there were.
std::uint64_t call_beyond_a_chunk() {
  constexpr std::uint64_t calls = 2 * chunk::size / (record_header + 8 + 8);
  for (std::uint64_t i = 0; i < calls; ++i) end(begin_op(1));
  return calls;
}
/// Holds a lock in a thread of its own while it lives.
class held_elsewhere {
 public:
  explicit held_elsewhere(std::mutex& mutex)
      : thread_([this, &mutex] {
          const std::lock_guard lock(mutex);
          holds_ = true;
          while (!ends_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }) {
    while (!holds_) std::this_thread::yield();
  }
  ~held_elsewhere() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> holds_{false}, ends_{false};
  std::thread thread_;
};

/// Does part 0 of so many calls. A part that no other thread does waits for the others.
void do_parts(int calls) {
  static site part_site{0, 1, "a.cpp", &part_desc_of<Op>, &this_module};
  const call_part<Op> part{{1}, {0, 2}};
  for (int i = 0; i < calls; ++i) end(functions::api().begin_any(part_site, &part, sizeof part));
}
double seconds_of(void (*run)()) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("lock_in_time.a_scope_is_dropped_where_another_thread_keeps_the_logs_lock") {
  engine e;
  e.threads.restart(0);
  std::uint64_t done = call_beyond_a_chunk();
  auto& log = *static_cast<thread_log*>(this_log);
  const time_t before = std::exchange(longest_wait_s, 0);
  {
    const held_elsewhere lock(log.mutex());
    done += call_beyond_a_chunk();
  }
  longest_wait_s = before;
  const std::uint64_t dropped = e.threads.counts().dropped;
  CHECK(dropped > 100);
  CHECK(dropped < done);
  done += call_beyond_a_chunk();  // with the lock all goes on
  const kprof::profile p = profile_at(e, 1);
  CHECK(p.complete.dropped == dropped);
  CHECK(p.complete.recorded == done - dropped);
}

TEST_CASE("lock_in_time.a_guard_waits_once_for_all_its_locks_and_less_after_a_failure") {
  engine e;
  e.threads.restart(0);
  static_cast<void>(call_beyond_a_chunk());
  auto& log = *static_cast<thread_log*>(this_log);
  const time_t before = std::exchange(longest_wait_s, 1),
               after = std::exchange(wait_after_failure_s, 0);
  double took_s = 0;
  {
    const held_elsewhere lock(log.mutex());
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(call_beyond_a_chunk());  // thousands of them find no room
    took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  CHECK(e.threads.counts().dropped > 100);
  CHECK(took_s >= 1);
  CHECK(took_s < 10);  // more than 100 s where each waits
  CHECK(waited_in_vain);
  static_cast<void>(call_beyond_a_chunk());
  CHECK_FALSE(waited_in_vain);

  wait_after_failure_s = 1;
  std::mutex mutex;
  {
    const held_elsewhere lock(mutex);
    patience waits;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i) CHECK_FALSE(waits.lock(mutex));
    took_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  CHECK(took_s >= 1);
  CHECK(took_s < 7);  // 8 s where each waits
  longest_wait_s = before;
  wait_after_failure_s = after;
  waited_in_vain = false;
}

TEST_CASE("lock_in_time.a_lock_that_is_let_go_of_is_waited_for") {
  std::mutex mutex;
  std::atomic<bool> locked{false};
  std::thread other;
  {
    const std::lock_guard lock(mutex);
    other = std::thread([&] {
      const auto in_time = lock_in_time(mutex);
      locked = static_cast<bool>(in_time);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(!locked);
  }
  other.join();
  CHECK(locked);
}

TEST_CASE("lock_in_time.a_lock_is_waited_for_within_a_time") {
  std::mutex mutex;
  CHECK(lock_within(1, mutex).owns_lock());
  const held_elsewhere lock(mutex);
  CHECK_FALSE(lock_within(1, mutex).owns_lock());
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(lock_within(1999, mutex).owns_lock());
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(1900));
}

TEST_CASE("lock_in_time.a_thread_with_many_parts_gives_way_to_the_one_that_joins") {
  engine e;
  do_parts(100);
  std::atomic<bool> holds{false}, ends{false};
  std::thread other([&] {
    e.threads.each_thread([](thread_log&) {},
                          [&] {
                            holds = true;
                            while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          });
  });
  while (!holds) std::this_thread::yield();
  // Beyond some chunks, each that is full has it wait a second at most for the other's lock.
  CHECK(seconds_of([] { do_parts(70'000); }) > 0.2);
  ends = true;
  other.join();
  CHECK(e.threads.counts().dropped == 0);
  const kprof::profile p = e.profile();
  CHECK(p.complete.recorded == 70'100);
}
