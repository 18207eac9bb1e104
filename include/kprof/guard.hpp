// SPDX-License-Identifier: MIT
#ifndef KPROF_GUARD_HPP
#define KPROF_GUARD_HPP

// Annotate code: guards that say "this scope is this operator with these parameters". Include it
// where operators run; it arms nothing. With nobody listening a guard costs one load and one
// branch, and its arguments are not evaluated. A guard belongs to the thread that opened it;
// closing one out of order, twice or on another thread is counted and shown in the report. It never
// throws or prints, and takes a lock or memory only at the first scope of a thread or call site and
// once every few hundred scopes, when a piece of the log is full.
//
//   void conv(const Conv2d& p, ...) {
//     KPROF_OP(Conv2d, p);                        // until the end of the block
//     ...
//   }

#include <kprof/attach/call_id.hpp>
#include <kprof/build_options.hpp>
#include <kprof/declare/part.hpp>
#include <kprof/op.hpp>
#if KPROF_ENABLE
#include <kprof/attach/hub.hpp>
#include <kprof/attach/scope_calls.hpp>
#include <kprof/attach/step.hpp>
#else
#include <kprof/attach/guards_off.hpp>
#endif

#define KPROF_DETAIL_JOIN_(a, b) a##b
#define KPROF_DETAIL_JOIN(a, b) KPROF_DETAIL_JOIN_(a, b)

// What a macro begins with: the second declaration needs the name that the first one declares.
// After an `if` without braces the first one alone would depend on the `if`, and the rest would
// guard the rest of the block. So that is an error, which shows the name. A type: g++ 12 puts an
// enumerator into the frame of a coroutine and warns of that.
#define KPROF_DETAIL_NEEDS_BRACES(name, is_right) \
  using name = char;                              \
  static_assert(sizeof(name) == 1 && (is_right))
// Never evaluated. In a call, a list that does not fit is no matching function; here the compiler
// names the field and the operator. What is evaluated stays a call, which copies no parameters.
#define KPROF_DETAIL_NAME_MISTAKES(Op, ...) \
  static_cast<void>(::kprof::detail::params_of<Op>{__VA_OPT__(.value = __VA_ARGS__)})
#define KPROF_DETAIL_OP_NAME(N) \
  KPROF_DETAIL_JOIN(KPROF_OP_needs_braces_after_if_else_for_or_while_, N)
#define KPROF_DETAIL_PART_NAME(N) \
  KPROF_DETAIL_JOIN(KPROF_PART_needs_braces_after_if_else_for_or_while_, N)
#define KPROF_DETAIL_REGION_NAME(N) \
  KPROF_DETAIL_JOIN(KPROF_REGION_needs_braces_after_if_else_for_or_while_, N)

#if KPROF_ENABLE

/// Guards the rest of the block as one call of operator `Op`. What follows the type initialises its
/// parameters: an lvalue, a braced list (`{.n = n}`), or nothing. The arguments are evaluated only
/// while somebody listens. `Op` must be one macro argument: give a template instance a name with
/// `using`.
#define KPROF_OP(Op, ...) KPROF_DETAIL_OP(__COUNTER__, Op, __VA_ARGS__)
#define KPROF_DETAIL_OP(N, Op, ...)                                                          \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_OP_NAME(N), ::kprof::detail::check_operator<Op>()); \
  if (false) KPROF_DETAIL_NAME_MISTAKES(Op, __VA_ARGS__);                                    \
  KPROF_DETAIL_OP_(KPROF_DETAIL_JOIN(kprof_site_, N), KPROF_DETAIL_JOIN(kprof_api_, N),      \
                   KPROF_DETAIL_JOIN(kprof_scope_, N), Op, op_desc_of, make, __VA_ARGS__)
// Each branch makes a guard of its own: choosing between two tokens costs g++ 12 seven instructions
// more while nobody listens.
#define KPROF_DETAIL_OP_(kprof_site, kprof_api, kprof_scope, Op, desc, make, ...)        \
  static constinit ::kprof::detail::site kprof_site{                                     \
      0, __LINE__, __FILE__, &::kprof::detail::desc<Op>, &::kprof::detail::this_module}; \
  const ::kprof::detail::scope_api* const kprof_api = ::kprof::detail::listener();       \
  const ::kprof::detail::scope_guard kprof_scope =                                       \
      KPROF_DETAIL_SELDOM(::kprof::detail::listens(kprof_api))                           \
          ? ::kprof::detail::scope_guard(::kprof::detail::open_op<Op>(                   \
                *kprof_api, kprof_site, ::kprof::detail::make<Op>(__VA_ARGS__)))         \
          : ::kprof::detail::scope_guard(::kprof::detail::no_scope(kprof_api))

/// Guards the rest of the block as this thread's `part`, from 0, of one call of operator `Op` that
/// `parts` threads share, each with such a guard. The parameters, an lvalue or a braced list, are
/// those of the whole call, which counts once.
///     KPROF_PART(Gemm, {.M = m, .N = n, .K = k}, thread, threads);
#define KPROF_PART(Op, ...) KPROF_DETAIL_PART(__COUNTER__, Op, __VA_ARGS__)
#define KPROF_DETAIL_PART(N, Op, ...)                                                          \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_PART_NAME(N), ::kprof::detail::check_operator<Op>()); \
  if (false) static_cast<void>(::kprof::detail::part_arguments<Op>{__VA_ARGS__});              \
  KPROF_DETAIL_OP_(KPROF_DETAIL_JOIN(kprof_site_, N), KPROF_DETAIL_JOIN(kprof_api_, N),        \
                   KPROF_DETAIL_JOIN(kprof_scope_, N), Op, part_desc_of, make_part, __VA_ARGS__)

/// Guards the rest of the block as a region: a layer, a phase, any stretch of code. `name` is a
/// string literal, a `const char*` or anything with data() and size(); it is copied, and evaluated
/// only while somebody listens.
#define KPROF_REGION(name) KPROF_DETAIL_REGION(__COUNTER__, name)
#define KPROF_DETAIL_REGION(N, name)                                                        \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_REGION_NAME(N), true);                             \
  KPROF_DETAIL_REGION_(KPROF_DETAIL_JOIN(kprof_site_, N), KPROF_DETAIL_JOIN(kprof_api_, N), \
                       KPROF_DETAIL_JOIN(kprof_scope_, N), name)
#define KPROF_DETAIL_REGION_(kprof_site, kprof_api, kprof_scope, name)              \
  static constinit ::kprof::detail::site kprof_site{0, __LINE__, __FILE__, nullptr, \
                                                    &::kprof::detail::this_module}; \
  const ::kprof::detail::scope_api* const kprof_api = ::kprof::detail::listener();  \
  const ::kprof::detail::scope_guard kprof_scope =                                  \
      KPROF_DETAIL_SELDOM(::kprof::detail::listens(kprof_api))                      \
          ? ::kprof::detail::scope_guard(::kprof::detail::open_region(              \
                *kprof_api, kprof_site, ::kprof::detail::region_name(name)))        \
          : ::kprof::detail::scope_guard(::kprof::detail::no_scope(kprof_api))

KPROF_DETAIL_BEGIN

namespace detail {

/// Longest region name that is kept whole; a longer one keeps its beginning and a hash of all of
/// it.
inline constexpr std::uint32_t max_region_name = 1000;

template <class Op>
constexpr const Op& make(const Op& params) noexcept {
  return params;
}
template <class Op>
constexpr Op make() noexcept {
  return Op{};
}

constexpr text_view region_name(const char* name) noexcept {
  return name == nullptr ? text_view{"(null)", 6} : text_of(name);
}
template <class Name>
  requires requires(const Name& n) {
    static_cast<const char*>(n.data());
    n.size();
  }
constexpr text_view region_name(const Name& name) noexcept {
  return {name.data(),
          name.size() > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(name.size())};
}

/// The site of guards that have none of their own: one per operator, or one for all regions.
template <class Op>
KPROF_DETAIL_LOCAL inline constinit site common_site{0, 0, nullptr, &op_desc_of<Op>, &this_module};
template <>
KPROF_DETAIL_LOCAL inline constinit site common_site<void>{0, 0, nullptr, nullptr, &this_module};

/// `params`: of type Op, or call_part<Op>.
template <class Op, class Params>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_op(
    const scope_api& api, site& where, const Params& params) noexcept {
  constexpr std::uint32_t bytes = std::is_same_v<Op, Params>
                                      ? op_desc_of<Op>.params_size
                                      : static_cast<std::uint32_t>(sizeof(Params));
  static_cast<void>(&listed<Op>);
  return begin_from_guard<bytes>(api, where, &params);
}

[[gnu::noinline]] KPROF_DETAIL_LOCAL inline scope_token open_region(const scope_api& api,
                                                                    site& where,
                                                                    text_view name) noexcept {
  char cut[max_region_name];
  if (name.size > max_region_name) {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (std::uint32_t i = 0; i < name.size; ++i)
      hash = (hash ^ static_cast<unsigned char>(name.data[i])) * 1099511628211U;
    constexpr std::uint32_t kept = max_region_name - 20;
    __builtin_memcpy(cut, name.data, kept);
    __builtin_memcpy(cut + kept, "... ", 4);
    for (unsigned i = 0; i < 16; ++i)
      cut[kept + 4 + i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15U];
    name = {cut, max_region_name};
  }
  return api.begin_any(where, name.data, name.size);
}

/// Opens a scope that has no call site of its own; 0 when nobody listens.
template <class Op>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_op(const Op& params) noexcept {
  static_assert(check_operator<Op>());
  const scope_api* const api = listener();
  return KPROF_DETAIL_SELDOM(listens(api)) ? open_op<Op>(*api, common_site<Op>, params)
                                           : no_scope(api);
}
template <class Name>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_region(
    const Name& name) noexcept {
  const scope_api* const api = listener();
  return KPROF_DETAIL_SELDOM(listens(api)) ? open_region(*api, common_site<void>, region_name(name))
                                           : no_scope(api);
}

/// Closes a scope when it is destroyed. What KPROF_OP and KPROF_REGION declare.
class scope_guard {
 public:
  /// `scope`: 0 where nobody listens.
  KPROF_DETAIL_LOCAL explicit scope_guard(scope_token scope) noexcept : scope_(scope) {}
  [[gnu::always_inline]] KPROF_DETAIL_LOCAL ~scope_guard() { close(scope_); }
  scope_guard(const scope_guard&) = delete;
  scope_guard& operator=(const scope_guard&) = delete;

 private:
  scope_token scope_;
};

}  // namespace detail

/// One call of operator `Op`, from construction to destruction. KPROF_OP does the same and knows
/// its call site.
///     kprof::op_guard guard{Saxpy{.n = n}};
template <class Op>
class op_guard {
 public:
  KPROF_DETAIL_LOCAL explicit op_guard(const Op& params) noexcept
      : scope_(detail::open_op(params)) {}
  KPROF_DETAIL_LOCAL ~op_guard() = default;
  op_guard(const op_guard&) = delete;
  op_guard& operator=(const op_guard&) = delete;

 private:
  detail::scope_guard scope_;
};
template <class Op>
op_guard(const Op&) -> op_guard<Op>;

/// A named stretch of code, from construction to destruction. KPROF_REGION does the same and knows
/// its call site.
class region_guard {
 public:
  /// `name`: a `const char*` or anything with data() and size(); copied.
  template <class Name>
    requires requires(const Name& n) { detail::region_name(n); }
  KPROF_DETAIL_LOCAL explicit region_guard(const Name& name) noexcept
      : scope_(detail::open_region(name)) {}
  KPROF_DETAIL_LOCAL ~region_guard() = default;
  region_guard(const region_guard&) = delete;
  region_guard& operator=(const region_guard&) = delete;

 private:
  detail::scope_guard scope_;
};

class open_scope;

// Found as kprof::begin and kprof::end, and not by argument-dependent lookup, which ignores the
// using-directive: a range loop over a user's type, or a test whether it is a range, must not come
// across them.
namespace explicit_scopes {
template <class Op>
KPROF_DETAIL_LOCAL open_scope begin(const Op& params) noexcept;
template <class Name>
KPROF_DETAIL_LOCAL open_scope begin_region(const Name& name) noexcept;
KPROF_DETAIL_LOCAL void end(open_scope& scope) noexcept;
}  // namespace explicit_scopes
using namespace explicit_scopes;

/// A scope opened with begin(), to be closed with end() on the same thread. Copies name the same
/// scope: end it through one of them only.
class open_scope {
 public:
  constexpr open_scope() noexcept = default;

 private:
  template <class Op>
  friend open_scope explicit_scopes::begin(const Op& params) noexcept;
  template <class Name>
  friend open_scope explicit_scopes::begin_region(const Name& name) noexcept;
  friend void explicit_scopes::end(open_scope& scope) noexcept;
  constexpr explicit open_scope(detail::scope_token scope) noexcept : scope_(scope) {}
  detail::scope_token scope_ = 0;
};

namespace explicit_scopes {

/// Opens a call of an operator where no block can: between two callbacks, for instance.
///     kprof::open_scope scope = kprof::begin(Gemm{.M = m, .N = n, .K = k});
///     ...
///     kprof::end(scope);
template <class Op>
[[nodiscard]] KPROF_DETAIL_LOCAL open_scope begin(const Op& params) noexcept {
  return open_scope{detail::open_op(params)};
}
/// Opens a region where no block can.
template <class Name>
[[nodiscard]] KPROF_DETAIL_LOCAL open_scope begin_region(const Name& name) noexcept {
  return open_scope{detail::open_region(name)};
}
/// Closes what begin() or begin_region() opened; a second call does nothing.
KPROF_DETAIL_LOCAL inline void end(open_scope& scope) noexcept {
  detail::close(scope.scope_);
  scope.scope_ = 0;
}

}  // namespace explicit_scopes

/// Where a thread stands: the path of its open scopes. A plain value; hand it to another thread
/// with the work. Taking one costs 0.2 microseconds, but first folds what this thread has recorded
/// since the last one or since the last snapshot, at about 30 ns a scope; it is not for inner
/// loops.
class context {
 public:
  constexpr context() noexcept = default;
  /// The calling thread's path; empty when nothing is open or nobody listens.
  KPROF_DETAIL_LOCAL static context current() noexcept {
    context c;
    if (const auto* api = detail::listener()) c.path_ = api->capture();
    return c;
  }

 private:
  friend class context_guard;
  std::uint32_t path_ = 0;
};

/// Puts the scopes of this thread under a context captured on another, until the end of the block.
///     pool.submit([c = kprof::context::current()] { kprof::context_guard under{c}; work(); });
class context_guard {
 public:
  KPROF_DETAIL_LOCAL explicit context_guard(context c) noexcept {
    api_ = c.path_ != 0 ? detail::listener() : nullptr;
    if (api_ != nullptr) adopted_ = api_->adopt(c.path_);
  }
  KPROF_DETAIL_LOCAL ~context_guard() {
    if (api_ != nullptr) api_->release(adopted_);
  }
  context_guard(const context_guard&) = delete;
  context_guard& operator=(const context_guard&) = delete;

 private:
  const detail::scope_api* api_;
  detail::scope_token adopted_ = 0;
};

KPROF_DETAIL_END

#endif  // KPROF_ENABLE

#endif
