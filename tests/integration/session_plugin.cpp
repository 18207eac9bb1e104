// SPDX-License-Identifier: MIT
// A shared library that brings the session.

#include <kprof/kprof.hpp>

#include "find.hpp"

struct OfPlugin {
  int n = 1;
};

extern "C" __attribute__((visibility("default"))) void run(int) { KPROF_OP(OfPlugin); }
extern "C" __attribute__((visibility("default"))) unsigned long recorded(const char* path) {
  return calls(kprof::snapshot(), path);
}
