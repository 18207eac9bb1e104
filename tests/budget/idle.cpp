// SPDX-License-Identifier: MIT
// Two loops, one with a scope that nobody listens to, for counting instructions: idle <case>
// <iterations>
#include <kprof/guard.hpp>

#include <cstdlib>
#include <cstring>

struct Params {
  std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
};

// What the loops do: as little as an opaque function can. Each loop is a function of its own, since
// the compiler would otherwise see that the loops are alike.
[[gnu::noinline]] void work(const Params& p) { __asm__ volatile("" : : "r"(&p) : "memory"); }

[[gnu::noinline]] void bare(const Params& p, long n) {
  for (long i = 0; i < n; ++i) work(p);
}
[[gnu::noinline]] void lvalue(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_OP(Params, p);
    work(p);
  }
}
[[gnu::noinline]] void braced(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_OP(
        Params,
        {.a = i, .b = p.b + i, .c = p.c * i, .d = p.d, .e = p.e, .f = p.f, .g = p.g, .h = p.h});
    work(p);
  }
}
[[gnu::noinline]] void region(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_REGION("layer");
    work(p);
  }
}
[[gnu::noinline]] void guard_object(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    kprof::op_guard guard{p};
    work(p);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Params p{};
  const long n = std::atol(argv[2]);
  const struct {
    const char* name;
    void (*loop)(const Params&, long);
  } cases[] = {{"bare", bare},
               {"lvalue", lvalue},
               {"braced", braced},
               {"region", region},
               {"guard_object", guard_object}};
  for (const auto& c : cases)
    if (std::strcmp(c.name, argv[1]) == 0) {
      c.loop(p, n);
      return 0;
    }
  return 2;
}
