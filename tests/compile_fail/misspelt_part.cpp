// SPDX-License-Identifier: MIT
// The first error names what is wrong with the list of a part: the field, and the operator.
// expect: misspelt
// expect: Blur
// expect: misspelt
// expect: Blur
// expect: order
// expect: initializer
// expect: int64_t
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
void good(std::int64_t n, int thread, unsigned threads, const Blur& lvalue, const Derived& derived,
          const Convertible& other) {
  KPROF_PART(Blur, {}, thread, threads);
  KPROF_PART(Blur, lvalue, thread, threads);
  KPROF_PART(Blur, derived, thread, threads);
  KPROF_PART(Blur, other, thread, threads);
  KPROF_PART(Blur, (Blur{n, n}), thread, threads);
  KPROF_PART(Blur, {n, n}, thread, threads);
  KPROF_PART(Blur, {.width = n, .sigma = 2}, thread + 1, 8);
  const std::size_t size = sizeof(Blur) * static_cast<std::size_t>(n);
  KPROF_PART(Sized, {.n = size}, thread, size);
  KPROF_PART(Blur, {.width = ++n, .height = [&] { return n; }()}, thread, threads);
}

#ifdef KPROF_TEST_BAD
template <class Op>
void bad(const Op& params) {
  KPROF_PART(Op, {.misspelt = params.width}, 0, 2);
}
void bad(std::int64_t n) {
#if KPROF_TEST_BAD == 1 || KPROF_TEST_BAD == 2
  KPROF_PART(Blur, {.misspelt = n}, 0, 2);
#elif (KPROF_TEST_BAD == 3 || KPROF_TEST_BAD == 4) && !KPROF_ENABLE
  KPROF_PART(Blur, {.height = n, .misspelt = n}, 0, 2);
#elif KPROF_TEST_BAD == 3 || KPROF_TEST_BAD == 4
  bad(Blur{n, n});
#elif KPROF_TEST_BAD == 5
  KPROF_PART(Blur, {.sigma = 1, .height = n}, 0, 2);
#elif KPROF_TEST_BAD == 6
  KPROF_PART(Blur, {n, n, 1, 2}, 0, 2);
#elif KPROF_TEST_BAD == 7
  KPROF_PART(Blur, {.width = "wide"}, 0, 2);
#endif
}
#endif
