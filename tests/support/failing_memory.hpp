// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FAILING_MEMORY_HPP
#define KPROF_TESTS_FAILING_MEMORY_HPP

// An operator new that fails where a test wants it. Include it in one file of a program. It is for
// programs with exceptions.

#include <cstdlib>
#include <new>

/// Which allocations of this thread fail.
struct failing_allocations {
  unsigned every = 0;    // 0: none
  unsigned after = ~0U;  // allocations
  unsigned made = 0;

  bool next_fails() noexcept {
    if (every == 0 && after == ~0U) return false;
    ++made;
    return made > after || (every != 0 && made % every == 0);
  }
};
inline thread_local constinit failing_allocations this_threads_allocations;

/// From now on every n-th allocation of this thread fails, and all after so many.
inline void fail_here(unsigned every, unsigned after) noexcept {
  this_threads_allocations = {every, after, 0};
}
inline void fail_no_more() noexcept { this_threads_allocations = {}; }

/// Calls work() while this thread has no memory at all.
template <class Work>
void without_memory(Work work) {
  fail_here(1, 0);
  work();
  fail_no_more();
}

[[gnu::noinline]] void* operator new(std::size_t n) {
  if (void* p = this_threads_allocations.next_fails() ? nullptr : std::malloc(n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return this_threads_allocations.next_fails() ? nullptr : std::malloc(n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

#endif
