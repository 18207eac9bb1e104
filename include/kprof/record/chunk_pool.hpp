// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CHUNK_POOL_HPP
#define KPROF_RECORD_CHUNK_POOL_HPP

// Memory for the logs, in chunks of 32 KiB that are recycled and never returned while recording: a
// page fault costs more than the scope that would cause it. Full chunks queue up oldest first; they
// are the timeline, until one is needed again. Thread-safe; takes its own lock and calls nobody
// while holding it.

#include <kprof/build_options.hpp>

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_log;

/// A piece of one thread's log.
struct KPROF_DETAIL_LOCAL chunk {
  static constexpr std::size_t size = 32 * 1024;

  chunk* next = nullptr;  // within the owner's log, oldest first
  chunk* previous = nullptr;
  chunk* queue_next = nullptr;  // within the pool's queue of full chunks or its free list
  chunk* queue_previous = nullptr;
  thread_log* owner = nullptr;    // nullptr: nobody uses it
  char* end = nullptr;            // where the writing stopped; set when the chunk is full
  char* timeline_from = nullptr;  // where the timeline begins in it
  bool queued = false;            // in the pool's queue of full chunks
  bool folded = false;            // all of it is in the totals
  std::uint32_t first_depth = 0;  // scopes open where it begins
  std::uint64_t last_ticks = 0;   // latest time stamp folded
  std::uint64_t ends = 0;         // scopes that finished here
  std::uint64_t age = 0;          // number of chunks that had been full before
  std::uint64_t number = 0;       // how many the owner had had before

  char* begin() noexcept { return reinterpret_cast<char*>(this + 1); }
  char* limit() noexcept { return reinterpret_cast<char*>(this) + size; }
};

class KPROF_DETAIL_LOCAL chunk_pool {
 public:
  /// Bytes that may be held from now on; what is free above that is given back. Returns what is
  /// held then.
  std::size_t set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    while (free_ != nullptr && held_ > limit_) release(pop_free());
    return held_;
  }

  /// A chunk that nobody uses, one taken out of the queue, or nullptr when there is none. The
  /// caller releases one of the queue from its owner. The caller's own oldest chunk is preferred to
  /// the oldest of all while it is about as old, since it needs no other log's lock. So busy
  /// threads keep to their own, and an idle thread's old chunks go before a busy thread's new.
  chunk* take(chunk* own_oldest) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_ != nullptr) return pop_free();
    if (held_ + chunk::size <= limit_)
      if (chunk* made = allocate()) return made;
    chunk* c = first_;
    if (c == nullptr) return nullptr;
    const std::uint64_t fair = held_ / chunk::size / 8;
    if (own_oldest != nullptr && own_oldest->queued && own_oldest->age - c->age <= fair)
      c = own_oldest;
    unqueue(c);
    return c;
  }

  /// The oldest full chunk, where more memory is held than may be; else nullptr.
  [[gnu::cold]] chunk* take_excess() noexcept {
    const std::lock_guard lock(mutex_);
    chunk* const c = held_ > limit_ ? first_ : nullptr;
    if (c != nullptr) unqueue(c);
    return c;
  }

  /// Gives a chunk that has been read and is in no queue back to the system, where more memory is
  /// held than may be; else false.
  bool release_excess(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (held_ <= limit_) return false;
    release(c);
    return true;
  }
  /// Returns a chunk that has been read and is in no queue.
  void give_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (held_ > limit_) release(c);
    else push_free(c);
  }

  /// Queues a full chunk: it may be recycled from now on.
  void retire(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    c->queue_next = nullptr;
    c->queue_previous = last_;
    c->queued = true;
    c->age = ++retired_;
    (last_ != nullptr ? last_->queue_next : first_) = c;
    last_ = c;
  }
  /// Queues a full chunk that take() has given and that could not be folded, as the oldest.
  void put_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    c->queue_previous = nullptr;
    c->queue_next = first_;
    c->queued = true;
    (first_ != nullptr ? first_->queue_previous : last_) = c;
    first_ = c;
  }
  /// Takes `c` out of the queue; false when it is not there.
  bool take_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (!c->queued) return false;
    unqueue(c);
    return true;
  }

  std::size_t held() noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  chunk* allocate() noexcept {
    // Touched in one call: a fault a page, taken one by one, is 20 to 200 ns a scope.
    void* memory = mmap(nullptr, chunk::size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    held_ += chunk::size;
    return ::new (memory) chunk{};
  }
  void unqueue(chunk* c) noexcept {
    (c->queue_previous != nullptr ? c->queue_previous->queue_next : first_) = c->queue_next;
    (c->queue_next != nullptr ? c->queue_next->queue_previous : last_) = c->queue_previous;
    c->queued = false;
  }
  chunk* pop_free() noexcept {
    chunk* c = free_;
    free_ = c->queue_next;
    return c;
  }
  void push_free(chunk* c) noexcept {
    c->owner = nullptr;
    c->queue_next = free_;
    free_ = c;
  }
  void release(chunk* c) noexcept {
    munmap(c, chunk::size);
    held_ -= chunk::size;
  }

  std::mutex
      mutex_;  // guards all below, and the chunks' queue_next, queue_previous, queued and age
  chunk* first_ = nullptr;  // full chunks, oldest first
  chunk* last_ = nullptr;
  chunk* free_ = nullptr;
  std::size_t held_ = 0;
  std::size_t limit_ = 0;
  std::uint64_t retired_ = 0;  // chunks queued so far
};

}  // namespace detail
KPROF_DETAIL_END

#endif
