// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_BUFFER_POOL_HPP
#define KPROF_COLLECT_BUFFER_POOL_HPP

// The buffers that CUPTI fills with records: a bounded number, handed out empty and queued when
// CUPTI gives them back. Both happen in CUPTI's callbacks, which may hold CUPTI's locks, so nothing
// here waits or calls CUPTI.

#include <kprof/build_options.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// What lies before a buffer's records.
struct alignas(64) buffer {
  buffer* next = nullptr;
  buffer* made_before = nullptr;  // the list of all buffers
  std::size_t size = 0;           // bytes
  std::size_t filled = 0;         // of these, with records
  bool spare = false;             // beyond the limit: its records are only counted

  std::uint8_t* records() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

class buffer_pool {
 public:
  /// `bytes`: of all buffers together. They are many and small, since each thread that uses CUDA
  /// may hold one.
  void set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t size = largest;
    while (size > smallest && bytes / size < 64) size /= 2;
    size_ = size;
    limit_ = bytes < 4 * size ? 4 * size : bytes;
    behind_ = limit_ / (4 * size);
  }

  /// An empty buffer; a small one once half of the memory is in use, as when many threads hold one
  /// each; nullptr when all of it is.
  buffer* take() noexcept {
    const std::lock_guard lock(mutex_);
    if (buffer* b = free_) {
      free_ = b->next;
      b->next = nullptr;
      b->filled = 0;
      b->spare = false;
      return b;
    }
    const std::size_t size = held_ + size_ <= limit_ / 2 ? size_ : small_size;
    return held_ + size <= limit_ ? make(size) : nullptr;
  }
  /// A small buffer beyond the limit, for a CUPTI that crashes when it gets none.
  buffer* take_spare() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = make(small_size);
    if (b != nullptr) b->spare = true;
    return b;
  }
  /// The buffer whose records begin there; nullptr for another client's, which may come here too.
  buffer* find(std::uint8_t* records) noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = latest_;
    while (b != nullptr && b->records() != records) b = b->made_before;
    return b;
  }
  /// Queues a buffer that CUPTI has given back, to be read.
  void queue(buffer* b) noexcept {
    const std::lock_guard lock(mutex_);
    b->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = b;
    last_ = b;
    ++queued_;
  }
  /// Takes the buffer that was queued first; nullptr when none is. give_back() it after reading.
  buffer* next() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = first_;
    if (b == nullptr) return nullptr;
    first_ = b->next;
    if (first_ == nullptr) last_ = nullptr;
    --queued_;
    ++being_read_;
    return b;
  }
  void give_back(buffer* b) noexcept {
    const std::lock_guard lock(mutex_);
    --being_read_;
    if (b->size < size_) return release(b);
    b->next = free_;
    free_ = b;
  }

  bool any_queued() noexcept {
    const std::lock_guard lock(mutex_);
    return queued_ != 0;
  }
  /// Whether take() will succeed once what is queued has been read.
  bool will_have_one() noexcept {
    const std::lock_guard lock(mutex_);
    return free_ != nullptr || queued_ + being_read_ != 0;
  }
  /// Whether the reader is falling behind. Asked at every launch, so without the lock.
  bool filling_up() const noexcept {
    return queued_.load(std::memory_order_relaxed) > behind_.load(std::memory_order_relaxed);
  }
  std::size_t bytes_held() noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  static constexpr std::size_t largest = std::size_t{1} << 20U, smallest = std::size_t{1} << 14U,
                               small_size = std::size_t{1} << 13U;

  // The caller holds the lock.
  buffer* make(std::size_t size) noexcept {
    void* memory = std::aligned_alloc(alignof(buffer), sizeof(buffer) + size);
    if (memory == nullptr) return nullptr;
    auto* b = new (memory) buffer;
    b->size = size;
    held_ += size;
    b->made_before = latest_;
    latest_ = b;
    return b;
  }
  void release(buffer* b) noexcept {
    held_ -= b->size;
    buffer** at = &latest_;
    while (*at != b) at = &(*at)->made_before;
    *at = b->made_before;
    std::free(b);
  }

  std::mutex mutex_;  // guards all of it; the atomic counts are only written under it
  buffer* free_ = nullptr;
  buffer* first_ = nullptr;  // to be read, oldest first
  buffer* last_ = nullptr;
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::size_t> behind_{1};  // so many queued buffers are a quarter of the limit
  std::size_t being_read_ = 0;
  buffer* latest_ = nullptr;  // of all that were made
  std::size_t held_ = 0;      // bytes
  std::size_t limit_ = 4 * smallest;
  std::size_t size_ = smallest;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
