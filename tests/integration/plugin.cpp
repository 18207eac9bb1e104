// SPDX-License-Identifier: MIT
// A shared library with guards: hidden visibility, no session of its own, built by g++ and by
// clang++. PLUGIN_OP is the name of its operator, so that each build has one of its own beside the
// one they share.

#include <kprof/guard.hpp>
#include <kprof/registry.hpp>

namespace {

struct Shared {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return 3 * static_cast<std::uint64_t>(n); }
};

}  // namespace

struct PLUGIN_OP {
  int step = 0;
  kprof::fixed_string<15> tag;
};

extern "C" __attribute__((visibility("default"))) void run(int calls) {
  for (int i = 0; i < calls; ++i) {
    KPROF_REGION("plugin");
    { KPROF_OP(Shared, {.n = 7}); }
    { KPROF_OP(PLUGIN_OP, {i % 2, "own"}); }
  }
}

// Leaves a scope open: what it refers to must not be needed when the library is gone.
extern "C" __attribute__((visibility("default"))) void leave_open() {
  static kprof::open_scope scope;
  scope = kprof::begin(Shared{11});
}
