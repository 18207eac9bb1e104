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
  static constexpr std::size_t walked_part = std::size_t{4} << 20U;  // of an array

  static constexpr std::size_t largest = std::size_t{32} << 20U;
  /// Of an array in which DRAM can be measured.
  static constexpr std::size_t least_of_dram = std::size_t{8} << 20U;

  /// Bytes of each array: of all together an eighth of what is free at most, and 2 GiB. What is
  /// free is 0 where the system does not tell.
  [[gnu::cold]] static std::size_t size_for(unsigned threads, std::uint64_t free_bytes) {
    if (free_bytes == 0) return least_of_dram;
    constexpr std::uint64_t most = std::uint64_t{2} << 30U;
    const std::uint64_t allowed = std::min(free_bytes / 8, most) / threads;
    return std::min(static_cast<std::size_t>(allowed), largest) / page * page;
  }

  [[gnu::cold]] measuring_memory(unsigned threads, std::size_t bytes) : arrays_(threads) {
    for (array& a : arrays_) {
      a.size = bytes;
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

  /// The part of a thread's array at which it is, and the next one of the first `bytes`, after
  /// whose end it begins again.
  std::byte* walked(unsigned thread) { return arrays_[thread].at + arrays_[thread].walked; }
  std::byte* walk_on(unsigned thread, std::size_t bytes) {
    array& a = arrays_[thread];
    a.walked += walked_part;
    if (a.walked + walked_part > bytes) a.walked = 0;
    return walked(thread);
  }
  /// The part that walk_on() left last.
  std::byte* walked_before(unsigned thread, std::size_t bytes) {
    const std::size_t at = arrays_[thread].walked;
    const std::size_t last = bytes / walked_part * walked_part - walked_part;
    return arrays_[thread].at + (at > 0 ? at - walked_part : last);
  }

  static std::size_t rounded(std::size_t bytes, std::size_t round) { return bytes / round * round; }

 private:
  static constexpr std::size_t page = 4096;
  struct alignas(64) array {  // threads do not share a line
    std::byte* at = nullptr;
    std::size_t size = 0;
    std::size_t walked = 0;
  };
  std::vector<array> arrays_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
