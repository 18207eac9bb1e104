// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_ROUNDS_HPP
#define KPROF_MACHINE_ROUNDS_HPP

// Runs one piece of work on several threads at a time, again and again, and tells the rounds in
// which every thread had its CPU for itself from those in which one was preempted: the former give
// the rate, on a loaded machine too. Included by measure_cpu.hpp. Used by one thread.

#include <kprof/build_options.hpp>
#include <kprof/collect/own_thread.hpp>

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::int64_t read_clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// One thread's part of a round, in nanoseconds, with how far it was on the way.
struct round_part {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t cpu_ns = 0;
  struct mark {
    std::int64_t ns;
    double done;  // of 1
  };
  static constexpr std::size_t most_marks = 16;
  std::array<mark, most_marks> marks{};
  unsigned marked = 0;

  /// Says how much of its part the thread has done by now. More than there is room for are dropped.
  void add_mark(double done) noexcept {
    if (marked < marks.size()) marks[marked++] = {read_clock_ns(CLOCK_MONOTONIC), done};
  }
  /// How much of the part was done by then.
  [[gnu::cold]] double done_by(std::int64_t ns) const noexcept {
    mark before{begin_ns, 0}, after{end_ns, 1};
    for (unsigned i = 0; i < marked; ++i) {
      if (marks[i].ns > ns) {
        after = marks[i];
        break;
      }
      before = marks[i];
    }
    if (after.ns <= before.ns) return after.done;
    return before.done + (after.done - before.done) * static_cast<double>(ns - before.ns) /
                             static_cast<double>(after.ns - before.ns);
  }
};

/// How long a round takes at the rate that the threads reach while all of them run. Threads that
/// get unequal shares of memory end at different times: up to the last end, others are idle. 0
/// where a thread was preempted for more than 3 % of its time, or where the threads ran together
/// for less than 60 % of it.
[[gnu::cold]] inline std::int64_t undisturbed_ns(const std::vector<round_part>& parts) noexcept {
  if (parts.empty()) return 0;
  std::int64_t first = parts[0].begin_ns, last = parts[0].end_ns;
  std::int64_t last_begin = first, first_end = last;
  for (const round_part& p : parts) {
    const std::int64_t wall = p.end_ns - p.begin_ns;
    if (wall <= 0 || p.cpu_ns * 100 < wall * 97) return 0;
    first = std::min(first, p.begin_ns);
    last_begin = std::max(last_begin, p.begin_ns);
    first_end = std::min(first_end, p.end_ns);
    last = std::max(last, p.end_ns);
  }
  if ((first_end - last_begin) * 10 < (last - first) * 6) return 0;
  double done = 0;
  for (const round_part& p : parts) done += p.done_by(first_end) - p.done_by(last_begin);
  return std::llround(static_cast<double>(first_end - last_begin) *
                      static_cast<double>(parts.size()) / done);
}

/// What the rounds of one piece of work came to.
struct best_round {
  std::int64_t ns = 0;        // of the quickest; 0: none came to its end
  bool was_disturbed = true;  // every round: the rate is at least this
};

/// `parts` of one round after another.
[[gnu::cold]] inline best_round best_of(const std::vector<std::vector<round_part>>& rounds) {
  best_round best;
  for (const bool takes_disturbed : {false, true}) {
    for (const auto& parts : rounds) {
      std::int64_t ns = undisturbed_ns(parts);
      if (takes_disturbed && !parts.empty()) {
        std::int64_t begin = parts[0].begin_ns;
        for (const round_part& p : parts) begin = std::min(begin, p.begin_ns);
        for (const round_part& p : parts) ns = std::max(ns, p.end_ns - begin);
      }
      if (ns > 0 && (best.ns == 0 || ns < best.ns)) best.ns = ns;
    }
    best.was_disturbed = takes_disturbed;
    if (best.ns > 0) break;
  }
  return best;
}

/// Threads that wait for work, each on a CPU of its own.
class round_threads {
 public:
  /// run(of, thread, part), which may not throw.
  struct work {
    void (*run)(const void* of, unsigned thread, round_part& part);
    const void* of;
    /// Before the time that counts. On a loaded machine a round of its own for it would wait for
    /// the CPUs once more, for longer than both take.
    void (*prepare)(const void* of, unsigned thread) = nullptr;
  };

  /// As many of them as the system gives.
  [[gnu::cold]] explicit round_threads(const std::vector<int>& cpus, unsigned wanted) {
    members_.resize(wanted);
    for (unsigned i = 0; i < wanted; ++i) {
      members_[i] = {this, i, i < cpus.size() ? cpus[i] : -1};
      if (!start_own_thread(&run_member, &members_[i], &members_[i].thread)) break;
      ++size_;
    }
  }
  /// Joins them: the library whose code they run may be unloaded next.
  [[gnu::cold]] ~round_threads() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (unsigned i = 0; i < size_; ++i) pthread_join(members_[i].thread, nullptr);
  }
  round_threads(const round_threads&) = delete;
  round_threads& operator=(const round_threads&) = delete;

  unsigned size() const noexcept { return size_; }

  /// One round on the first `threads` of them, begun together.
  [[gnu::cold]] std::vector<round_part> run(unsigned threads, const work& of) {
    std::unique_lock lock(mutex_);
    work_ = of;
    parts_.assign(threads, {});
    left_ = threads;
    ready_.store(static_cast<int>(threads), std::memory_order_relaxed);
    // Later than the slowest wakes up: a thread that slept is run before those that computed.
    begin_ns_ = read_clock_ns(CLOCK_MONOTONIC) + 150'000;
    ++round_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return left_ == 0; });
    return parts_;
  }

 private:
  struct member {
    round_threads* of = nullptr;
    unsigned number = 0;
    int cpu = -1;
    pthread_t thread{};  // not for the thread itself, which may run before this is written
  };

  [[gnu::cold]] static void* run_member(void* of) {
    const own_thread_ends mark;
    const member& self = *static_cast<const member*>(of);
    if (self.cpu >= 0 && self.cpu < CPU_SETSIZE) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(self.cpu), &set);
      pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    self.of->serve(self.number);
    return nullptr;
  }

  [[gnu::cold]] void serve(unsigned number) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0;;) {
      changed_.wait(lock, [&] { return ends_ || (round_ != seen && number < parts_.size()); });
      if (ends_) break;
      seen = round_;
      const work of = work_;
      const std::int64_t begin_ns = begin_ns_;
      lock.unlock();
      round_part part;
      if (of.prepare != nullptr) of.prepare(of.of, number);
      wait_until(begin_ns);
      meet();
      const std::int64_t cpu = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
      part.begin_ns = read_clock_ns(CLOCK_MONOTONIC);
      of.run(of.of, number, part);
      part.end_ns = read_clock_ns(CLOCK_MONOTONIC);
      part.cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
      lock.lock();
      parts_[number] = part;
      if (--left_ == 0) changed_.notify_all();
    }
  }

  /// Waits for the other threads of the round, but not for long: one that was preempted would be
  /// waited for on a CPU that other programs want.
  void meet() noexcept {
    ready_.fetch_sub(1, std::memory_order_acq_rel);
    const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC) + 200'000;
    while (ready_.load(std::memory_order_acquire) > 0 && read_clock_ns(CLOCK_MONOTONIC) < end) {}
  }

  /// Sleeps, then looks at the clock for the last 30 microseconds.
  static void wait_until(std::int64_t ns) noexcept {
    const std::int64_t wake_up = ns - 30'000;
    timespec at{};
    at.tv_sec = static_cast<time_t>(wake_up / 1'000'000'000);
    at.tv_nsec = static_cast<long>(wake_up % 1'000'000'000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {}
    while (read_clock_ns(CLOCK_MONOTONIC) < ns) {}
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<member> members_;
  unsigned size_ = 0;
  bool ends_ = false;
  // Of the round:
  std::uint64_t round_ = 0;
  work work_{};
  std::int64_t begin_ns_ = 0;
  unsigned left_ = 0;
  std::vector<round_part> parts_;
  std::atomic<int> ready_{0};  // threads that have not met yet
};

}  // namespace detail
KPROF_DETAIL_END

#endif
