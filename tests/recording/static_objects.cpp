// SPDX-License-Identifier: MIT
// Guards in constructors and destructors of static objects of a program that includes no session
// but is linked with one. The report at the end must have both.

#include <kprof/guard.hpp>

namespace {

struct with_guards {
  with_guards() { KPROF_REGION("constructor"); }
  ~with_guards() { KPROF_REGION("destructor"); }
} const object;

}  // namespace

int main() {
  KPROF_REGION("main");
  return 0;
}
