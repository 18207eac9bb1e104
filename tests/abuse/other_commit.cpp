// SPDX-License-Identifier: MIT
// A library with a guard and, with -DSESSION, with a session of its own, that is compiled with
// headers of another commit.
#ifdef SESSION
#include <kprof/kprof.hpp>

#include <cstdio>
#else
#include <kprof/guard.hpp>
#endif

struct OfLibrary {
  int n = 1;
};

extern "C" __attribute__((visibility("default"))) void run() {
  for (int i = 0; i < 1000; ++i) {
    KPROF_REGION("library");
    KPROF_OP(OfLibrary, {i});
  }
#ifdef SESSION
  const kprof::status started = kprof::start({.report = {.filter = "x", .columns = {"calls"}}});
  std::printf("start: %s\n", started.message.c_str());
  const kprof::profile run = kprof::snapshot({.timeline = true});
  std::printf("snapshot: %s, %zu nodes\n", run.state.c_str(), run.nodes.size());
  static_cast<void>(kprof::report());
  kprof::stop();
#endif
}
