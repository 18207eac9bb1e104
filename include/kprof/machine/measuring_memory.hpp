// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_MEASURING_MEMORY_HPP
#define KPROF_MACHINE_MEASURING_MEMORY_HPP

// The memory in which bandwidth is measured: an array for each thread. Included by measure_cpu.hpp.

#include <kprof/build_options.hpp>
#include <kprof/machine/usable_cpus.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Each thread uses its own array alone.
class measuring_memory {
 public:
  static constexpr std::size_t walked_part = std::size_t{4}
                                             << 20U;  // of an array, that next() gives

  /// Sizes in bytes.
  struct wish {
    std::size_t of_first = 0;  // thread 0, which also runs alone
    std::size_t of_others = 0;
    bool is_beyond_caches =
        false;  // so large that a thread that walks on never meets a cached line
  };

  /// Four times the last cache for a thread alone, and for the threads of a cache together; an
  /// eighth of what is free at most, and 2 GiB.
  [[gnu::cold]] static wish wish_for(const data_cache& last, unsigned threads,
                                     std::uint64_t free_bytes) {
    constexpr std::uint64_t unknown_cache = std::uint64_t{32} << 20U,
                            most = std::uint64_t{2} << 30U;
    const std::uint64_t cache = last.bytes == 0 ? unknown_cache : last.bytes;
    const std::uint64_t allowed = std::min(free_bytes / 8, most);
    double scale = 1;
    const std::uint64_t first = 4 * cache, other = 4 * cache / last.sharers;
    const std::uint64_t all = first + (threads - 1) * other;
    if (all > allowed) scale = static_cast<double>(allowed) / static_cast<double>(all);
    const auto part = [&](std::uint64_t bytes) {
      const auto scaled = static_cast<std::size_t>(static_cast<double>(bytes) * scale);
      return std::max(scaled, least) / page * page;
    };
    // Half of it is still twice the cache.
    return {part(first), part(other), scale >= 0.5};
  }

  [[gnu::cold]] measuring_memory(unsigned threads, const wish& wanted) : arrays_(threads) {
    for (unsigned t = 0; t < threads; ++t) {
      array& a = arrays_[t];
      a.size = t == 0 ? wanted.of_first : wanted.of_others;
      void* const at =
          mmap(nullptr, a.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      a.at = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
    }
  }
  [[gnu::cold]] ~measuring_memory() {
    for (const array& a : arrays_)
      if (a.at != nullptr) munmap(a.at, a.size);
  }
  measuring_memory(const measuring_memory&) = delete;
  measuring_memory& operator=(const measuring_memory&) = delete;

  [[gnu::cold]] bool is_there() const {
    bool all = true;
    for (const array& a : arrays_) all = all && a.at != nullptr;
    return all;
  }
  /// Whether every array has so many bytes, three parts of which are at least one round each.
  [[gnu::cold]] bool holds(std::size_t bytes, std::size_t round) const {
    bool all = bytes / 3 >= round;
    for (const array& a : arrays_) all = all && a.size >= bytes;
    return all;
  }
  std::byte* of(unsigned thread) { return arrays_[thread].at; }
  std::size_t size(unsigned thread) const { return arrays_[thread].size; }
  void touch(unsigned thread) { std::memset(of(thread), 0, size(thread)); }

  /// The next `bytes` of a thread's array, from its begin again after its end.
  std::byte* next(unsigned thread, std::size_t bytes) {
    array& a = arrays_[thread];
    if (a.size - a.used < bytes) a.used = 0;
    std::byte* const at = a.at + a.used;
    a.used += bytes;
    return at;
  }

  static std::size_t rounded(std::size_t bytes, std::size_t round) { return bytes / round * round; }

 private:
  static constexpr std::size_t page = 4096, least = std::size_t{8} << 20U;
  struct alignas(64) array {  // threads do not share a line
    std::byte* at = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
  };
  std::vector<array> arrays_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
