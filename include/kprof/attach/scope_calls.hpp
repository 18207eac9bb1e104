// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_SCOPE_CALLS_HPP
#define KPROF_ATTACH_SCOPE_CALLS_HPP

// What a guard does before and behind its scope: is there a listener, and the calls of its
// functions. Written for what remains of a guard while nobody listens: five to seven instructions
// with g++ 12, eleven to fourteen with clang++ 14. Included by guard.hpp.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

// A branch that is taken once in a hundred times. By __builtin_expect alone g++ 12 takes it for one
// in ten, and saves registers before the branch rather than behind it. By a probability of 0 it
// makes the code behind the branch small instead of quick.
#define KPROF_DETAIL_SELDOM(condition) __builtin_expect_with_probability(condition, 0, 0.99)

KPROF_DETAIL_LOCAL inline const scope_api* listener() noexcept {
  return __atomic_load_n(&this_module.api, __ATOMIC_ACQUIRE);
}

// Whether there is a listener; and the token of a guard where there is none, which is 0.
#ifdef __clang__
// The token is the null pointer. After a comparison with null, clang++ 14 would set another
// register to 0 for it; after this one it uses the pointer's own.
KPROF_DETAIL_LOCAL inline bool listens(const scope_api* api) noexcept {
  return reinterpret_cast<std::uintptr_t>(api) > 4095U;
}
KPROF_DETAIL_LOCAL inline scope_token no_scope(const scope_api* api) noexcept {
  return reinterpret_cast<std::uintptr_t>(api);
}
#else
KPROF_DETAIL_LOCAL inline bool listens(const scope_api* api) noexcept { return api != nullptr; }
KPROF_DETAIL_LOCAL inline scope_token no_scope(const scope_api*) noexcept { return 0; }
#endif

/// `params`: `Bytes` bytes.
template <std::uint32_t Bytes>
KPROF_DETAIL_LOCAL inline scope_token begin(const scope_api& api, site& where,
                                            const void* params) noexcept {
  if constexpr (Bytes % 8 == 0 && Bytes / 8 <= max_fast_words)
    return api.begin[Bytes / 8](where, params);
  else return api.begin_any(where, params, Bytes);
}

#if defined(__x86_64__) && defined(__LP64__) && defined(__SSE2__) && !defined(__clang__)
/// A call that takes the registers in which the guarded function's own arguments came makes g++ 12
/// move those to others, which it saves before it knows whether anybody listens. This function
/// takes two pointers in registers for floating point instead. It is not marked cold: g++ would
/// copy parameters with `rep movs` before it, which takes longer than all the rest.
template <std::uint32_t Bytes>
[[gnu::noinline]] KPROF_DETAIL_LOCAL inline scope_token begin_out_of_line(double where,
                                                                          double params) noexcept {
  // Not the table that the guard has seen, which would be a third argument. A newer one is as good:
  // each closes the scopes of the others.
  const scope_api* const latest = __atomic_load_n(&this_module.latest, __ATOMIC_ACQUIRE);
  return begin<Bytes>(*latest, *__builtin_bit_cast(site*, where),
                      __builtin_bit_cast(const void*, params));
}
template <std::uint32_t Bytes>
KPROF_DETAIL_LOCAL inline scope_token begin_from_guard(const scope_api&, site& where,
                                                       const void* params) noexcept {
  return begin_out_of_line<Bytes>(__builtin_bit_cast(double, &where),
                                  __builtin_bit_cast(double, params));
}
#else
template <std::uint32_t Bytes>
KPROF_DETAIL_LOCAL inline scope_token begin_from_guard(const scope_api& api, site& where,
                                                       const void* params) noexcept {
  return begin<Bytes>(api, where, params);
}
#endif

/// Closes an open scope through the functions of the latest listener. The guarded function then
/// keeps the token alone; keeping the table that opened the scope as well would take it two or
/// three instructions more.
[[gnu::noinline]] KPROF_DETAIL_LOCAL inline void close_out_of_line(scope_token scope) noexcept {
  // A variable of its own: CUDA 13.0's cudafe++ crashes on a call through the builtin's result.
  const scope_api* const latest = __atomic_load_n(&this_module.latest, __ATOMIC_RELAXED);
  latest->end(scope);
}
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline void close(scope_token scope) noexcept {
  if (KPROF_DETAIL_SELDOM(scope != 0)) close_out_of_line(scope);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
