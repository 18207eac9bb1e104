// SPDX-License-Identifier: MIT
// The first error names what is wrong with a list: the field, and the operator.
// expect: misspelt
// expect: Blur
// expect: misspelt
// expect: Blur
// expect: initializer
// expect: int64_t
// expect: order
#include <kprof/guard.hpp>

struct Blur {
  std::int64_t width = 0, height = 0;
  double sigma = 1;
};
struct Sized {
  kprof::extent n = 0;
};
struct Derived : Blur {};
struct Convertible {
  operator Blur() const { return {}; }
};

// Everything that initialises parameters, without a warning.
#pragma GCC diagnostic error "-Wall"
#pragma GCC diagnostic error "-Wextra"
void good(std::int64_t n, const Blur& lvalue, const Derived& derived, const Convertible& other) {
  KPROF_OP(Blur);
  KPROF_OP(Blur, );
  KPROF_OP(Blur, {});
  KPROF_OP(Blur, lvalue);
  KPROF_OP(Blur, derived);
  KPROF_OP(Blur, other);
  KPROF_OP(Blur, Blur{n, n});
  KPROF_OP(Blur, {n, n});
  KPROF_OP(Blur, {.width = n, .sigma = 2});
  const std::size_t size = sizeof(Blur) * static_cast<std::size_t>(n);
  KPROF_OP(Sized, {.n = size});
  KPROF_OP(Blur, {.width = kprof::extent{size}});
  KPROF_OP(Blur, {.width = ++n, .height = [&] { return n; }()});
  const auto [width, height, sigma] = lvalue;
  KPROF_OP(Blur, {.width = width, .height = height, .sigma = sigma});
}

#ifdef KPROF_TEST_BAD
template <class Op>
void bad(const Op& params) {
  KPROF_OP(Op, {.misspelt = params.width});
}
void bad(std::int64_t n) {
#if KPROF_TEST_BAD == 1 || KPROF_TEST_BAD == 2
  KPROF_OP(Blur, {.misspelt = n});
#elif (KPROF_TEST_BAD == 3 || KPROF_TEST_BAD == 4) && !KPROF_ENABLE
  KPROF_OP(Blur, {.height = n, .misspelt = n});
#elif KPROF_TEST_BAD == 3 || KPROF_TEST_BAD == 4
  bad(Blur{n, n});
#elif KPROF_TEST_BAD == 5
  KPROF_OP(Blur, {n, n, 1, 2});
#elif KPROF_TEST_BAD == 6
  KPROF_OP(Blur, {.width = "wide"});
#elif KPROF_TEST_BAD == 7
  KPROF_OP(Blur, {.sigma = 1, .height = n});
#endif
}
#endif
