// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_GUARDS_OFF_HPP
#define KPROF_ATTACH_GUARDS_OFF_HPP

// The interface of guard.hpp with KPROF_ENABLE=0: no code. Arguments are type-checked and not
// evaluated.

#include <kprof/build_options.hpp>
#include <kprof/declare/checks.hpp>
#include <kprof/declare/part.hpp>

#if !KPROF_ENABLE

// Without braces after an `if` they are errors here too: they would take its `else`. Mistakes are
// named outside templates alone: a second statement behind `if (false)` has g++ 12 lay out the
// function's code in another way.
#define KPROF_OP(Op, ...)                                             \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_OP_NAME(__COUNTER__), true); \
  if constexpr (false) KPROF_DETAIL_NAME_MISTAKES(Op, __VA_ARGS__);   \
  if (false) static_cast<void>(::kprof::detail::make<Op>(__VA_ARGS__))
#define KPROF_PART(Op, ...)                                                                 \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_PART_NAME(__COUNTER__), true);                     \
  if constexpr (false) static_cast<void>(::kprof::detail::part_arguments<Op>{__VA_ARGS__}); \
  if (false) static_cast<void>(::kprof::detail::make_part<Op>(__VA_ARGS__))
#define KPROF_REGION(name)                                                \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_REGION_NAME(__COUNTER__), true); \
  if (false) ::kprof::detail::accept_name(name)

#define KPROF_STEP() ::kprof::step()

KPROF_DETAIL_BEGIN

constexpr void step() noexcept {}

namespace detail {
template <class Op>
constexpr const Op& make(const Op& params) noexcept {
  // as strict as with guards
  static_assert(check_operator<Op>() && operator_name<Op>().size != 0);
  return params;
}
template <class Op>
constexpr Op make() noexcept {
  return make<Op>(Op{});
}
constexpr void accept_name(const char*) noexcept {}
template <class Name>
  requires requires(const Name& n) {
    static_cast<const char*>(n.data());
    n.size();
  }
constexpr void accept_name(const Name&) noexcept {}
}  // namespace detail

template <class Op>
class [[maybe_unused]] op_guard {
 public:
  constexpr explicit op_guard(const Op&) noexcept {}
  op_guard(const op_guard&) = delete;
  op_guard& operator=(const op_guard&) = delete;
};
class [[maybe_unused]] region_guard {
 public:
  template <class Name>
    requires requires(const Name& n) { detail::accept_name(n); }
  constexpr explicit region_guard(const Name&) noexcept {}
  region_guard(const region_guard&) = delete;
  region_guard& operator=(const region_guard&) = delete;
};
class [[maybe_unused]] open_scope {};
namespace explicit_scopes {
template <class Op>
[[nodiscard]] constexpr open_scope begin(const Op&) noexcept {
  return {};
}
template <class Name>
[[nodiscard]] constexpr open_scope begin_region(const Name&) noexcept {
  return {};
}
constexpr void end(open_scope&) noexcept {}
}  // namespace explicit_scopes
using namespace explicit_scopes;
class context {
 public:
  static constexpr context current() noexcept { return {}; }
};
class [[maybe_unused]] context_guard {
 public:
  constexpr explicit context_guard(context) noexcept {}
  context_guard(const context_guard&) = delete;
  context_guard& operator=(const context_guard&) = delete;
};

KPROF_DETAIL_END

#endif  // !KPROF_ENABLE

#endif
