// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_RECORDING_CHECKS_HPP
#define KPROF_TESTS_RECORDING_CHECKS_HPP

// What a program of this folder checks, and its exit status. Used by one thread.

#include <cstdio>

inline int failures = 0;

/// Prints `what` where it does not hold.
inline void check(const char* what, bool holds) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

/// What main() returns.
inline int exit_status() { return failures == 0 ? 0 : 1; }

#endif
