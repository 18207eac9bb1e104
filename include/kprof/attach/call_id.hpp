// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_CALL_ID_HPP
#define KPROF_ATTACH_CALL_ID_HPP

// kprof::current_call() and kprof::belongs_to(): the program says which call another one belongs
// to. Included by guard.hpp.

#include <kprof/build_options.hpp>
#if KPROF_ENABLE
#include <kprof/attach/scope_calls.hpp>
#endif

#include <cstdint>

KPROF_DETAIL_BEGIN

/// One call of an operator. A plain value: keep it with what the call has saved for its backward
/// call, and hand it to any thread.
class call_id {
 public:
  constexpr call_id() noexcept = default;  ///< of no call

 private:
  constexpr explicit call_id(std::uint32_t number) noexcept : number_(number) {}
  friend call_id current_call() noexcept;
  friend void belongs_to(call_id) noexcept;
  [[maybe_unused]] std::uint32_t number_ = 0;
};

#if KPROF_ENABLE

/// The call of the calling thread's innermost open scope; of none where nothing is open or nobody
/// listens. Costs 20 ns where a session records. Never throws.
KPROF_DETAIL_LOCAL inline call_id current_call() noexcept {
  const detail::scope_api* const api = detail::listener();
  return call_id(api == nullptr ? 0 : api->link_call(0));
}
/// The calling thread's innermost open scope belongs to that call, as a backward call does to its
/// forward call. Nothing for a call_id of no call. Costs as much as current_call().
///     KPROF_OP(Conv2d, p);             // backward
///     kprof::belongs_to(saved.call);   // what current_call() gave in the forward call
KPROF_DETAIL_LOCAL inline void belongs_to(call_id call) noexcept {
  const detail::scope_api* const api = detail::listener();
  if (call.number_ != 0 && api != nullptr) api->link_call(call.number_);
}

#else

inline call_id current_call() noexcept { return {}; }
inline void belongs_to(call_id) noexcept {}

#endif

KPROF_DETAIL_END

#endif
