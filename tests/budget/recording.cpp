// SPDX-License-Identifier: MIT
// Loops whose scopes are recorded, for counting instructions: recording <case> <iterations>
#include <kprof/kprof.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Params {
  std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
};

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
    KPROF_OP(Params,
             {.a = p.a, .b = p.b, .c = p.c, .d = p.d, .e = p.e, .f = p.f, .g = p.g, .h = p.h});
    work(p);
  }
}
[[gnu::noinline]] void part(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_PART(Params, p, static_cast<int>(i & 1), 2);
    work(p);
  }
}
[[gnu::noinline]] void region(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_REGION("layer");
    work(p);
  }
}
[[gnu::noinline]] void nested(const Params& p, long n) {
  for (long i = 0; i < n; ++i) {
    KPROF_REGION("layer");
    KPROF_OP(Params, p);
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
    long scopes;
  } cases[] = {{"bare", bare, 0}, {"lvalue", lvalue, 1}, {"braced", braced, 1},
               {"part", part, 1}, {"region", region, 1}, {"nested", nested, 2}};
  for (const auto& c : cases)
    if (std::strcmp(c.name, argv[1]) == 0) {
      // Readings of CPU time come by the clock: they would be counted in some runs only.
      { KPROF_REGION("before"); }
      kprof::detail::this_log->cpu_due = ~std::uint64_t{0};
      c.loop(p, n);
      // What is counted must be a recording, with nothing lost. The fold at the end belongs to what
      // a scope costs.
      const kprof::profile run = kprof::snapshot();
      const auto recorded = static_cast<long>(run.complete.recorded);
      if (recorded == c.scopes * n + 1 && run.complete.dropped == 0) return 0;
      std::printf("%ld scopes were recorded and %ld were run (%s)\n", recorded, c.scopes * n + 1,
                  run.state.c_str());
      return 1;
    }
  return 2;
}
