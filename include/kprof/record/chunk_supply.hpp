// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CHUNK_SUPPLY_HPP
#define KPROF_RECORD_CHUNK_SUPPLY_HPP

// Where a thread's log gets its next chunk: a free one, or the oldest that no window of a step
// keeps. Totals that will need more than a quarter of the memory get it from the chunks. The caller
// holds no lock of a log.

#include <kprof/build_options.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/lock_in_time.hpp>
#include <kprof/record/recorder_counts.hpp>
#include <kprof/record/step_windows.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/record/tree_node.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL chunk_supply {
 public:
  chunk_supply(recorder_counts& counts, tree_budget& totals) noexcept
      : counts_(counts), totals_(totals) {}

  chunk_pool pool;
  step_windows windows;

  void set_memory(std::size_t bytes) noexcept {
    limit_to(bytes);
    windows.restart(bytes);
  }
  /// The pool alone: a thread that records meanwhile takes no more than that.
  void limit_to(std::size_t bytes) noexcept {
    memory_.store(bytes, std::memory_order_relaxed);
    leave_room_for_totals();
  }
  /// Folds and gives back what is held above the limit: threads that recorded while it fell took
  /// chunks of others. What there is no memory to fold stays. The caller holds the list's lock.
  [[gnu::cold]] void give_back_excess() noexcept {
    while (chunk* const c = pool.take_excess()) {
      thread_log& owner = *c->owner;
      const std::lock_guard own(owner.mutex());
      if (!c->folded && !attempt([&] { counts_.time_folding([&] { owner.fold(); }); }))
        return pool.put_back(c);
      owner.release(c);
      windows.lose(first_ticks(*c), c->last_ticks);
      counts_.recycle_until(c->last_ticks);
      pool.give_back(c);
    }
  }
  /// Begins to forget a recording: no chunk is kept for a step any more.
  void stop_keeping() {
    for (const kept_chunk& k : windows.stop()) pool.put_back(k.where);
  }

  /// Folds what is due of this thread's log, once so many of its chunks wait, and returns a chunk
  /// for it to go on in, which belongs to no log; or nullptr.
  chunk* refill(thread_log& log, std::uint32_t deferrable, patience& waits) noexcept {
    {
      const auto own = waits.lock(log.mutex());
      if (!own) return nullptr;
      // Without memory for the totals the records stay, and are folded later.
      static_cast<void>(
          attempt([&] { counts_.time_folding([&] { log.fold_when_full(deferrable); }); }));
    }
    leave_room_for_totals();
    bool knows_steps = false;
    unsigned folded = 0, given_back = 0;
    for (;;) {
      chunk* c = windows.take_unwanted();
      if (c == nullptr) c = take_oldest(log, waits);
      if (c == nullptr || c->owner == nullptr) return c;
      if (!knows_steps) fold_steps(log);
      knows_steps = true;
      const auto owner = waits.lock(c->owner->mutex());
      if (!owner) return pool.put_back(c), nullptr;
      folded += c->folded ? 0 : 1;
      if (!c->folded && !attempt([&] { counts_.time_folding([c] { fold_up_to(*c); }); }))
        return pool.put_back(c), nullptr;
      if (windows.keep(c, first_ticks(*c), c->last_ticks)) {
        c->owner->pass_over(c);
        continue;
      }
      c->owner->release(c);
      counts_.recycle_until(c->last_ticks);
      if (folded == most_folded || given_back++ == most_given_back || !pool.release_excess(c))
        return c;
    }
  }

  /// For a log that refill() has given no chunk: the log folds the chunk that it writes to, and
  /// begins it anew. False: the log has no such chunk, there was no memory to fold it, or another
  /// thread kept the lock.
  [[gnu::cold]] bool begin_anew(thread_log& log, patience& waits) noexcept {
    const auto own = waits.lock(log.mutex());
    chunk* const c = own ? log.end_chunk() : nullptr;
    if (c == nullptr) return false;
    if (!attempt([&] { counts_.time_folding([&] { log.fold(); }); })) return log.resume(c), false;
    log.release(c);
    windows.lose(first_ticks(*c), c->last_ticks);
    counts_.recycle_until(c->last_ticks);
    log.append(c, pool);
    return true;
  }

 private:
  /// Folds the owner's log up to the end of this chunk, and not all of the log that waits, which
  /// may be a quarter of the memory: a guard waits for this.
  static void fold_up_to(const chunk& c) {
    while (!c.folded && c.owner->has_backlog()) c.owner->fold_chunk();
  }

  // A guard waits for that. What is above the limit then goes with the next ones.
  static constexpr unsigned most_folded = 2, most_given_back = 16;

  /// Totals are held to what chunks do not hold, and get it long before they need it: a snapshot
  /// folds many chunks at a time, and parameters are merged from three quarters of it on.
  void leave_room_for_totals() noexcept {
    const std::uint64_t memory = memory_.load(std::memory_order_relaxed), least = memory / 4;
    const std::uint64_t held =
        pool.set_limit(memory - std::clamp(4 * totals_.now(), least, memory / 2));
    totals_.set_room(std::max(least, memory - std::min(memory, held)));
  }
  chunk* take_oldest(thread_log& log, patience& waits) noexcept {
    const auto own = waits.lock(log.mutex());
    return own ? pool.take(log.oldest()) : nullptr;
  }
  /// A thread that steps and records little else has its steps in a chunk that is not full, so that
  /// nobody would know of them.
  void fold_steps(const thread_log& log) noexcept {
    thread_log* const steps = windows.log();
    if (steps == nullptr || steps == &log) return;
    const std::unique_lock own(steps->mutex(), std::try_to_lock);
    if (own) static_cast<void>(attempt([&] { counts_.time_folding([&] { steps->fold(); }); }));
  }

  recorder_counts& counts_;
  tree_budget& totals_;
  std::atomic<std::size_t> memory_{0};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
