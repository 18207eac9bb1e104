// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_STEP_WINDOWS_HPP
#define KPROF_RECORD_STEP_WINDOWS_HPP

// Keeps the scopes of three steps when chunks are recycled: of the slowest, of one near the median
// and of the latest. Nothing is copied: a chunk with records of such a step is passed over when it
// is the oldest, until the step has lost its place. Has a lock of its own, under which it calls
// nobody, not even the allocator: a guard in a signal's handler may wait for the lock while the
// thread that it interrupted holds the allocator's.

#include <kprof/build_options.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Why the scopes of a step are kept.
enum class step_role : std::uint8_t { slowest, median, latest };

/// A step that has ended, in ticks.
struct step_span {
  std::uint64_t index = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t ticks() const noexcept { return end > begin ? end - begin : 0; }
};

/// A step whose scopes are all kept, and why.
struct step_window {
  step_span step;
  step_role role = step_role::latest;

  bool overlaps(std::uint64_t first, std::uint64_t last) const noexcept {
    return first <= step.end && last >= step.begin;
  }
  bool same_as(const step_window& other) const noexcept {
    return step.begin == other.step.begin && step.end == other.step.end;
  }
};

/// A chunk that is not recycled, and the times of its first and last record in ticks.
struct KPROF_DETAIL_LOCAL kept_chunk {
  chunk* where;
  std::uint64_t first, last;
};

class KPROF_DETAIL_LOCAL step_windows {
 public:
  /// Bytes of a session's `memory` that the chunks kept for single steps may take.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return memory / 16 + memory / 32;
  }

  /// A recording begins, with no window. Without memory nothing is kept in it.
  void restart(std::size_t memory) noexcept {
    const std::size_t most = share(memory) / chunk::size;
    std::vector<kept_chunk> room;  // destroyed after the lock
    // Beside those of the windows, others wait to be recycled.
    const bool has_room = attempt([&] { room.reserve(2 * most); });
    const std::lock_guard lock(mutex_);
    if (has_room && room.capacity() > kept_.capacity()) {
      room.assign(kept_.begin(), kept_.end());
      kept_.swap(room);
    }
    limit_ = has_room ? most : 0;
    is_on_ = true;
  }
  /// The recording is forgotten: no step is kept until restart(). Returns the chunks that were.
  std::vector<kept_chunk> stop() noexcept {
    const std::lock_guard lock(mutex_);
    std::vector<kept_chunk> chunks = std::exchange(kept_, {});
    limit_ = 0;
    is_on_ = has_unwanted_ = false;
    lost_until_ = 0;
    for (place& p : places_) p = {};
    follow(nullptr, nullptr, 0);
    return chunks;
  }

  /// Whether expect() is to be told that this log's thread steps.
  bool wants_log(const void* log) const noexcept {
    const void* const known = expected_.load(std::memory_order_relaxed);
    return known != &whoever && known != log;
  }
  /// The thread of this log steps. Until a step of any thread has been noted, the latest such log
  /// is the one to look for steps in.
  void expect(thread_log& log) noexcept {
    const std::lock_guard lock(mutex_);
    if (is_on_ && steps_ == nullptr) log_ = &log, expected_ = &log;
  }
  /// The log has no thread any more.
  void expect_no_longer(const thread_log& log) noexcept {
    const std::lock_guard lock(mutex_);
    if (steps_ == nullptr && log_ == &log) log_ = nullptr, expected_ = nullptr;
  }
  /// A step of the thread whose log and steps these are has ended; `total`: ticks of all its steps;
  /// `usual`: about their median. The log is locked.
  void note(thread_log* log, const void* steps, const step_span& step, std::uint64_t total,
            std::uint64_t usual) noexcept {
    const std::lock_guard lock(mutex_);
    if (!is_on_) return;
    if (steps != steps_) {
      // Threads that step side by side take about as much: it stays the one that it was.
      if (steps_ != nullptr && total / 2 <= total_) return;
      for (place& p : places_) take_away(p);
      follow(log, steps, total);
    }
    total_ = total;
    const bool is_whole = step.begin >= lost_until_;
    if (!is_whole) return;
    place& slowest = at(step_role::slowest);
    if (!slowest.is_taken || step.ticks() > slowest.step.ticks()) put(slowest, step);
    place& median = at(step_role::median);
    if (!median.is_taken || distance(step, usual) < distance(median.step, usual)) put(median, step);
    put(at(step_role::latest), step);
  }
  /// These steps, and the single scopes of their thread, are forgotten.
  void forget(const void* steps) noexcept {
    const std::lock_guard lock(mutex_);
    if (steps != steps_) return;
    for (place& p : places_) take_away(p);
    follow(nullptr, nullptr, 0);
  }
  /// Scopes of this time are about to be lost; ticks.
  void lose(std::uint64_t first, std::uint64_t last) noexcept {
    const std::lock_guard lock(mutex_);
    lose_locked(first, last);
  }

  /// A folded chunk has been taken for recycling; the times of its first and last record. True: it
  /// stays where it is, and the caller takes another one.
  bool keep(chunk* c, std::uint64_t first, std::uint64_t last) noexcept {
    const std::lock_guard lock(mutex_);
    for (place& p : places_)
      if (p.overlaps(first, last) && p.chunks >= most_chunks(role_of(p))) take_away(p);
    if (wants(first, last) && kept_.size() < kept_.capacity()) {
      kept_.push_back({c, first, last});
      for (place& p : places_) p.chunks += p.overlaps(first, last) ? 1 : 0;
      return true;
    }
    lose_locked(first, last);
    return false;
  }
  /// A kept chunk that no window needs any more, which the caller recycles; nullptr: there is none.
  chunk* take_unwanted() noexcept {
    const std::lock_guard lock(mutex_);
    if (!has_unwanted_) return nullptr;
    for (kept_chunk& k : kept_)
      if (!wants(k.first, k.last)) {
        chunk* const c = k.where;
        k = kept_.back();
        kept_.pop_back();
        return c;
      }
    has_unwanted_ = false;
    return nullptr;
  }
  /// A kept chunk of this log, whose scopes are lost with it; nullptr: there is none.
  chunk* lose_one_of(const thread_log* log) noexcept {
    const std::lock_guard lock(mutex_);
    for (kept_chunk& k : kept_)
      if (k.where->owner == log) {
        chunk* const c = k.where;
        lose_locked(k.first, k.last);
        k = kept_.back();
        kept_.pop_back();
        return c;
      }
    return nullptr;
  }

  /// The log whose steps these are; nullptr: none is known. Logs are never freed.
  thread_log* log() const noexcept {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  /// In the order of their ends, each once.
  std::vector<step_window> all() const { return all_in(places_now(nullptr)); }
  /// The same if they are of these steps.
  std::vector<step_window> all_of(const void* steps) const { return all_in(places_now(&steps)); }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr char whoever = 0;
  static constexpr std::size_t roles = 3;
  struct place {
    step_span step;
    bool is_taken = false;
    std::size_t chunks = 0;  // of kept_, those with records of the step

    bool overlaps(std::uint64_t first, std::uint64_t last) const noexcept {
      return is_taken && first <= step.end && last >= step.begin;
    }
  };

  static std::vector<step_window> all_in(const std::array<place, roles>& places) {
    std::vector<step_window> out;
    for (std::size_t i = 0; i < roles; ++i) {
      const step_window w{places[i].step, static_cast<step_role>(i)};
      if (places[i].is_taken &&
          std::none_of(out.begin(), out.end(), [&](const step_window& o) { return o.same_as(w); }))
        out.push_back(w);
    }
    std::sort(out.begin(), out.end(),
              [](const step_window& a, const step_window& b) { return a.step.end < b.step.end; });
    return out;
  }
  place& at(step_role role) noexcept { return places_[static_cast<std::size_t>(role)]; }
  step_role role_of(const place& p) const noexcept {
    return static_cast<step_role>(&p - places_.data());
  }
  /// `steps`: null or, else there is none, those that the places are of.
  std::array<place, roles> places_now(const void* const* steps) const noexcept {
    const std::lock_guard lock(mutex_);
    return steps == nullptr || *steps == steps_ ? places_ : std::array<place, roles>{};
  }
  static std::uint64_t distance(const step_span& step, std::uint64_t usual) noexcept {
    return step.ticks() > usual ? step.ticks() - usual : usual - step.ticks();
  }
  bool wants(std::uint64_t first, std::uint64_t last) const noexcept {
    return std::any_of(std::begin(places_), std::end(places_),
                       [&](const place& p) { return p.overlaps(first, last); });
  }
  /// The slowest step gets half of what may be kept, and each of the others a quarter.
  std::size_t most_chunks(step_role role) const noexcept {
    if (limit_ == 0) return 0;
    return role == step_role::slowest ? (limit_ + 1) / 2 : (limit_ + 3) / 4;
  }
  void take_away(place& p) noexcept {
    has_unwanted_ =
        !kept_.empty();  // chunks that were kept before the step ended are not in p.chunks
    p = {};
  }
  void put(place& p, const step_span& step) noexcept {
    take_away(p);
    p.step = step;
    p.is_taken = true;
  }
  void lose_locked(std::uint64_t first, std::uint64_t last) noexcept {
    lost_until_ = std::max(lost_until_, last);
    for (place& p : places_)
      if (p.overlaps(first, last)) take_away(p);
  }
  void follow(thread_log* log, const void* steps, std::uint64_t total) noexcept {
    log_ = log, steps_ = steps, total_ = total;
    expected_ = steps != nullptr ? &whoever : nullptr;
  }

  mutable std::mutex mutex_;         // guards all below
  std::array<place, roles> places_;  // by step_role
  std::vector<kept_chunk> kept_;
  std::size_t limit_ = 0;  // chunks of all windows
  bool is_on_ = false;
  bool has_unwanted_ = false;     // a chunk may be kept in vain
  std::uint64_t lost_until_ = 0;  // the latest time of a scope that has been lost, in ticks
  // expect() reads it without the lock. Once a step has been noted it is &whoever, and expect() has
  // nothing left to do; before that it is log_.
  std::atomic<const void*> expected_{nullptr};
  thread_log* log_ = nullptr;    // whose steps are kept: those of one thread
  const void* steps_ = nullptr;  // the same
  std::uint64_t total_ = 0;      // ticks of them
};

}  // namespace detail
KPROF_DETAIL_END

#endif
