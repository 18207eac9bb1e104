// SPDX-License-Identifier: MIT
// A library that a driver loads while it initialises. It opens the first scope of the process.
#include <kprof/guard.hpp>

namespace {
struct opener {
  opener() { KPROF_REGION("from the driver"); }
} loaded;
}  // namespace
