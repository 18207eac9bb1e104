// SPDX-License-Identifier: MIT
// Its file-scope guard runs before main(), so that the session has read KPROF by then.

#include <kprof/kprof.hpp>

struct Work {
  int n = 0;
};

void work() { KPROF_OP(Work, {1}); }

namespace {
struct early {
  early() { work(); }
} const runs_before_main;
}  // namespace
