// SPDX-License-Identifier: MIT
#include <kprof/kprof.hpp>

void other(int n);

struct Saxpy {
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

int main() {
  {
    KPROF_OP(Saxpy, {.n = 1 << 20});
    other(3);
  }
  kprof::report();
}
