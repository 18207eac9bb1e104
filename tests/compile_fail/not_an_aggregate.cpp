// SPDX-License-Identifier: MIT
// Constructors and private fields hide the parameters from reflection.
// expect: kprof: not an operator: an operator is an aggregate; remove its constructors and private
//   fields, or list the fields in kprof::op_traits with `using fields = kprof::members<&T::a, ...>`
// expect: kprof: not an operator: an operator is an aggregate
#include "use.hpp"

class Good {
 public:
  constexpr Good() = default;
  constexpr explicit Good(int size) : n(size) {}
  int n = 0;
};
template <>
struct kprof::op_traits<Good> {
  using fields = members<&Good::n>;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  Bad() = default;
  explicit Bad(int size) : n(size) {}
  int n = 0;
};
#elif KPROF_TEST_BAD == 2
class Bad {
 public:
  int size() const { return n; }

 private:
  int n = 0;
};
#endif
KPROF_TEST_USE(Bad)
#endif
