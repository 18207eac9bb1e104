// SPDX-License-Identifier: MIT
// After an `if` without braces a guard would guard the rest of the block, whatever the condition
// is, and compiled out it would take the `else`.
// expect: KPROF_OP_needs_braces_after_if_else_for_or_while
// expect: KPROF_OP_needs_braces_after_if_else_for_or_while
// expect: KPROF_OP_needs_braces_after_if_else_for_or_while
// expect: KPROF_OP_needs_braces_after_if_else_for_or_while
// expect: KPROF_OP_needs_braces_after_if_else_for_or_while
// expect: KPROF_REGION_needs_braces_after_if_else_for_or_while
// expect: KPROF_REGION_needs_braces_after_if_else_for_or_while
// expect: KPROF_REGION_needs_braces_after_if_else_for_or_while
// expect: KPROF_PART_needs_braces_after_if_else_for_or_while
// expect: KPROF_PART_needs_braces_after_if_else_for_or_while
// expect: KPROF_PART_needs_braces_after_if_else_for_or_while
// expect: KPROF_PART_needs_braces_after_if_else_for_or_while
#include <kprof/guard.hpp>

#pragma GCC diagnostic error "-Wshadow"

struct Op {
  int n = 0;
};
void work();

// Nothing of what a guard declares collides with another's, or is reported as shadowed.
void good(int n) {
  KPROF_OP(Op, {n});
  KPROF_OP(Op);
  KPROF_REGION("outer");
  KPROF_PART(Op, {n}, 0, 2);
  if (n > 0) {
    KPROF_OP(Op, {n});
    KPROF_REGION("inner");
    KPROF_PART(Op, {n}, 0, 2);
  } else {
    KPROF_OP(Op, {n});
  }
  if (n > 1) {
    KPROF_PART(Op, {n}, 0, 2);
  } else {
    KPROF_PART(Op, {n}, 1, 2);
  }
  for (int i = 0; i < n; ++i) { KPROF_REGION("step"); }
  switch (n) {
    case 1: {
      KPROF_OP(Op, {n});
      break;
    }
    default: break;
  }
  const auto inside = [n] { KPROF_OP(Op, {n}); };
  inside();
}
template <class Any>
void good_template(const Any& params) {
  KPROF_OP(Any, params);
  if (params.n > 0) {
    KPROF_OP(Any, params);
    work();
  }
}
template void good_template(const Op&);

#ifdef KPROF_TEST_BAD
template <class Any>
void bad(const Any& params) {
#if KPROF_TEST_BAD == 1
  if (params.n > 0) KPROF_OP(Op, {1});
#elif KPROF_TEST_BAD == 2
  if (params.n > 0) KPROF_OP(Any, params);
  else work();
#elif KPROF_TEST_BAD == 3
  if (params.n > 0) work();
  else KPROF_OP(Op, {1});
#elif KPROF_TEST_BAD == 4
  for (int i = 0; i < params.n; ++i) KPROF_OP(Any, params);
#elif KPROF_TEST_BAD == 5
  while (params.n > 0) KPROF_OP(Any, params);
#elif KPROF_TEST_BAD == 6
  if (params.n > 0) KPROF_REGION("layer");
#elif KPROF_TEST_BAD == 7
  if (params.n > 0) work();
  else KPROF_REGION("layer");
#elif KPROF_TEST_BAD == 8
  for (int i = 0; i < params.n; ++i) KPROF_REGION("layer");
#elif KPROF_TEST_BAD == 9
  if (params.n > 0) KPROF_PART(Op, {1}, 0, 2);
#elif KPROF_TEST_BAD == 10
  if (params.n > 0) KPROF_PART(Any, params, 0, 2);
  else work();
#elif KPROF_TEST_BAD == 11
  if (params.n > 0) work();
  else KPROF_PART(Op, {1}, 0, 2);
#elif KPROF_TEST_BAD == 12
  while (params.n > 0) KPROF_PART(Any, params, 0, 2);
#endif
}
#endif

// What a guard declares is no part of a coroutine's frame that another file could see otherwise.
#if defined(__cpp_impl_coroutine) && !defined(__CUDACC__)
#include <coroutine>
#pragma GCC diagnostic error "-Wsubobject-linkage"
#line 1 "a_header.hpp"  // g++ warns of that in headers alone
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task good_coroutine(int n) {
  {
    KPROF_OP(Op, {n});
    KPROF_REGION("step");
  }
  co_await std::suspend_always{};
}
#endif
