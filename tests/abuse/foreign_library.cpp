// SPDX-License-Identifier: MIT
// A library that a caller would like to have in a program with more rights than his: loaded by
// whatever name, it tells on standard error.
#include <unistd.h>

#include <cstdio>

namespace {
struct teller {
  teller() { std::fprintf(stderr, "foreign code runs as user %d\n", static_cast<int>(geteuid())); }
} loaded;
}  // namespace
