// SPDX-License-Identifier: MIT
// A library whose constructor calls the program, while the loader is locked.

extern "C" void kprof_test_in_constructor();

namespace {

struct constructed {
  constructed() { kprof_test_in_constructor(); }
} const once;

}  // namespace
