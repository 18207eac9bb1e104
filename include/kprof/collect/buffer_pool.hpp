// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_BUFFER_POOL_HPP
#define KPROF_COLLECT_BUFFER_POOL_HPP

// The buffers that CUPTI fills with records: a bounded number, handed out empty and queued when
// full. Both happen in CUPTI's callbacks, which may hold CUPTI's locks, so that nothing here waits
// or calls CUPTI.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// What lies before a buffer's records.
struct alignas(64) buffer {
  buffer* next = nullptr;
  std::size_t size = 0;    // bytes
  std::size_t filled = 0;  // of these, with records
  bool spare = false;      // beyond the limit

  std::uint8_t* records() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

class buffer_pool {
 public:
  /// `bytes`: of all buffers together. Many small ones, since each thread that uses CUDA may hold
  /// one.
  void set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t size = largest;
    while (size > smallest && bytes / size < 64) size /= 2;
    size_ = size;
    limit_ = bytes < 4 * size ? 4 * size : bytes;
    __atomic_store_n(&many_, limit_ / (4 * size), __ATOMIC_RELAXED);
  }

  /// An empty buffer. Where half of the memory is in use, since many threads hold one each for
  /// instance, a small one; nullptr when all of it is.
  buffer* take() noexcept {
    const std::lock_guard lock(mutex_);
    if (buffer* b = free_) {
      free_ = b->next;
      const std::size_t size = b->size;
      *b = buffer{};
      b->size = size;
      return b;
    }
    const std::size_t size = held_ + size_ <= limit_ / 2 ? size_ : small_size;
    return held_ + size <= limit_ ? make(size) : nullptr;
  }
  /// A small one beyond the limit, whose records are only counted: for a CUPTI that cannot bear to
  /// get none.
  buffer* take_spare() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = make(small_size);
    if (b != nullptr) b->spare = true;
    return b;
  }
  /// The buffer whose records begin there, or nullptr: another client's may come back here.
  buffer* find(std::uint8_t* records) noexcept {
    const std::lock_guard lock(mutex_);
    for (buffer* b : all_)
      if (b->records() == records) return b;
    return nullptr;
  }
  /// Puts a buffer that CUPTI has given back behind those that wait to be read.
  void queue(buffer* b) noexcept {
    const std::lock_guard lock(mutex_);
    b->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = b;
    last_ = b;
    __atomic_fetch_add(&queued_, 1, __ATOMIC_RELAXED);
  }
  /// The buffer that has waited longest, or nullptr.
  buffer* next() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = first_;
    if (b == nullptr) return nullptr;
    first_ = b->next;
    if (first_ == nullptr) last_ = nullptr;
    __atomic_fetch_sub(&queued_, 1, __ATOMIC_RELAXED);
    ++being_read_;
    return b;
  }
  /// After next().
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
  /// Whether a buffer is about to come back.
  bool will_have_one() noexcept {
    const std::lock_guard lock(mutex_);
    return free_ != nullptr || queued_ + being_read_ != 0;
  }
  /// Whether the reader is falling behind. Asked at every launch, so without the lock.
  bool filling_up() const noexcept {
    return __atomic_load_n(&queued_, __ATOMIC_RELAXED) > __atomic_load_n(&many_, __ATOMIC_RELAXED);
  }
  std::size_t bytes_held() noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  static constexpr std::size_t largest = std::size_t{1} << 20U, smallest = std::size_t{1} << 14U,
                               small_size = std::size_t{1} << 13U;

  // With the lock.
  buffer* make(std::size_t size) noexcept {
    void* memory = std::aligned_alloc(alignof(buffer), sizeof(buffer) + size);
    if (memory == nullptr) return nullptr;
    auto* b = new (memory) buffer;
    b->size = size;
    held_ += size;
    all_.push_back(b);
    return b;
  }
  void release(buffer* b) noexcept {
    held_ -= b->size;
    std::erase(all_, b);
    std::free(b);
  }

  std::mutex mutex_;
  buffer* free_ = nullptr;
  buffer* first_ = nullptr;  // to be read, oldest first
  buffer* last_ = nullptr;
  std::size_t queued_ = 0;  // written with the lock
  std::size_t many_ = 1;    // that wait to be read: a quarter of the limit
  std::size_t being_read_ = 0;
  std::vector<buffer*> all_;
  std::size_t held_ = 0;  // bytes
  std::size_t limit_ = 4 * smallest;
  std::size_t size_ = smallest;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
