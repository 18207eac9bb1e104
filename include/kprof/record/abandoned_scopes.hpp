// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_ABANDONED_SCOPES_HPP
#define KPROF_RECORD_ABANDONED_SCOPES_HPP

// Finds scopes whose guards a longjmp() has jumped over, so that nobody will end them. Only for a
// thread on which no deeper scope fits: noting where each guard lies would cost every scope.

#include <kprof/build_options.hpp>
#include <kprof/record/open_scopes.hpp>

#include <pthread.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

/// The scopes whose tokens lie on the calling thread's stack. A guard is a token in a frame; other
/// words, and what an earlier call has left there, may look like one.
class tokens_on_stack {
 public:
  static constexpr std::uint32_t deepest = 4096;

  explicit tokens_on_stack(const open_scopes& scopes) noexcept : scopes_(scopes) {}

  /// The depth of the first of many scopes in a row that have no token on the stack; 0 where there
  /// are none.
  std::uint16_t first_without() noexcept {
    __builtin_unwind_init();  // tokens that functions keep in registers
    if (!search_stack()) return 0;
    std::uint32_t first = 0, longest = fewest - 1;
    const std::uint32_t depth = scopes_.depth() < deepest ? scopes_.depth() : deepest;
    for (std::uint32_t from = 1, d = 1; d <= depth + 1; ++d) {
      if (d <= depth && !found_[d]) continue;
      if (d - from > longest) longest = d - from, first = from;
      from = d + 1;
    }
    return static_cast<std::uint16_t>(first);
  }

 private:
  static constexpr std::uint32_t fewest = 64;

  // It reads frames as bytes, and beyond the objects in them.
  [[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool
  search_stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    void* lowest = nullptr;
    std::size_t size = 0;
    const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
    const auto* at = static_cast<const volatile std::uint64_t*>(__builtin_frame_address(0));
    const auto from = reinterpret_cast<std::uintptr_t>(at);
    const auto end = reinterpret_cast<std::uintptr_t>(lowest) + size;
    // Elsewhere on a signal's stack or a coroutine's.
    if (!known || from < reinterpret_cast<std::uintptr_t>(lowest) || from >= end) return false;
    for (std::size_t i = 0; i < (end - from) / sizeof(std::uint64_t); ++i) {
      const scope_token token = at[i];
      if (depth_of(token) <= deepest && scopes_.is_open(token)) found_[depth_of(token)] = true;
    }
    return true;
  }

  const open_scopes& scopes_;
  std::bitset<deepest + 1> found_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
