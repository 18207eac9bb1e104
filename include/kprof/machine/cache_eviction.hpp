// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_CACHE_EVICTION_HPP
#define KPROF_MACHINE_CACHE_EVICTION_HPP

// Takes a program's data out of the caches: reads more memory than the last of them holds. Included
// by kprof/measure.hpp. Used by one thread.

#include <kprof/build_options.hpp>
#include <kprof/machine/usable_cpus.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

/// Bytes to read so that nothing else stays: half as much again as the last cache holds, since
/// caches do not throw out what is oldest. `cache_bytes` is 0 where the system does not tell.
constexpr std::uint64_t bytes_to_evict(std::uint64_t cache_bytes) noexcept {
  constexpr std::uint64_t mib = 1 << 20, unknown = 64 * mib;
  const std::uint64_t cache = cache_bytes == 0 ? unknown : cache_bytes;
  return (cache + std::max(cache / 2, 4 * mib)) / 4096 * 4096;
}

class cache_eviction {
 public:
  [[gnu::cold]] cache_eviction() {
    const usable_cpus_of_machine machine = find_usable_cpus();
    std::uint64_t last = 0;
    for (const data_cache& cache : machine.data) last = std::max(last, cache.bytes);
    const std::uint64_t bytes = bytes_to_evict(last);
    if (machine.free_bytes != 0 && bytes > machine.free_bytes / 4) {
      why_not_ = "too little memory is free to read more than the caches hold";
      return;
    }
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      why_not_ = "the system gave no memory to read more than the caches hold";
      return;
    }
    at_ = static_cast<const char*>(at);
    bytes_ = bytes;
    std::memset(at, 1, bytes_);  // else all of it is one page of zeros
  }
  [[gnu::cold]] ~cache_eviction() {
    if (at_ != nullptr) munmap(const_cast<char*>(at_), bytes_);
  }
  cache_eviction(const cache_eviction&) = delete;
  cache_eviction& operator=(const cache_eviction&) = delete;

  /// Null: it can be done.
  const char* why_not() const noexcept { return why_not_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Reads a word of each line. Written lines would be written back during the next call.
  [[gnu::cold, gnu::noinline]] void run() const noexcept {
    for (std::uint64_t i = 0; i < bytes_; i += 64)
      static_cast<void>(*static_cast<const volatile char*>(at_ + i));
  }

 private:
  const char* at_ = nullptr;
  std::uint64_t bytes_ = 0;
  const char* why_not_ = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
