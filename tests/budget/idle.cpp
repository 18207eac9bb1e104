// SPDX-License-Identifier: MIT
// Functions with a scope that nobody listens to beside the same functions without one, for counting
// instructions: idle <case> <calls>
#include <kprof/guard.hpp>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

struct Params {
  std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
};

struct Saxpy {
  kprof::extent n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

struct arguments {
  Params params;
  float a;
  std::vector<float> x;
  mutable std::vector<float> y;
};

// The least that an opaque function can do. It may throw, so that a scope must be closed on that
// way too.
[[gnu::noinline]] void work(const Params& p) noexcept(false) {
  __asm__ volatile("" : : "r"(&p) : "memory");
}

// Each function is called through a pointer, so that what it saves and restores counts. Both
// functions of a pair keep their own frame: without the barrier at its end the one without a scope
// would jump to work().
#define KPROF_TEST_LAST __asm__ volatile("" ::: "memory")

[[gnu::noinline]] void lvalue_bare(const Params& p) {
  work(p);
  KPROF_TEST_LAST;
}
[[gnu::noinline]] void lvalue(const Params& p) {
  KPROF_OP(Params, p);
  work(p);
  KPROF_TEST_LAST;
}
[[gnu::noinline]] void braced(const Params& p) {
  KPROF_OP(Params,
           {.a = p.a, .b = p.b + 1, .c = p.c, .d = p.d, .e = p.e, .f = p.f, .g = p.g, .h = p.h});
  work(p);
  KPROF_TEST_LAST;
}
[[gnu::noinline]] void region(const Params& p) {
  KPROF_REGION("layer");
  work(p);
  KPROF_TEST_LAST;
}
[[gnu::noinline]] void guard_object(const Params& p) {
  kprof::op_guard guard{p};
  work(p);
  KPROF_TEST_LAST;
}
// The function of the README's program: all of the work is in it.
[[gnu::noinline]] void saxpy_bare(float a, const std::vector<float>& x, std::vector<float>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}
[[gnu::noinline]] void saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  KPROF_OP(Saxpy, {.n = x.size()});
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

template <void (*Function)(const Params&)>
void call(const arguments& with) {
  Function(with.params);
}
template <void (*Function)(float, const std::vector<float>&, std::vector<float>&)>
void call(const arguments& with) {
  Function(with.a, with.x, with.y);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const arguments with{{}, 2, std::vector<float>(4, 1.0F), std::vector<float>(4, 2.0F)};
  const long calls = std::atol(argv[2]);
  const struct {
    const char* name;
    void (*function)(const arguments&);
  } cases[] = {{"lvalue_bare", call<lvalue_bare>},
               {"lvalue", call<lvalue>},
               {"braced", call<braced>},
               {"region", call<region>},
               {"guard_object", call<guard_object>},
               {"saxpy_bare", call<saxpy_bare>},
               {"saxpy", call<saxpy>}};
  for (const auto& c : cases)
    if (std::strcmp(c.name, argv[1]) == 0) {
      for (long i = 0; i < calls; ++i) c.function(with);
      return 0;
    }
  return 2;
}
