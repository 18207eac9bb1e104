// SPDX-License-Identifier: MIT

// Shared libraries for nvtx_host.cpp, chosen by KPROF_TEST_PLUGIN: 0 arms NVTX, 1 and 2 only have
// guards, and differ in the operator's name and fields but not in the size of anything, as two
// builds of one plugin would.

#include <kprof/guard.hpp>
#if KPROF_TEST_PLUGIN == 0
#include <kprof/nvtx.hpp>
#endif

#include <cstdint>

namespace {

struct Operator {
#if KPROF_TEST_PLUGIN == 0
  static constexpr const char* name = "armer";
  std::int64_t id = 0;
  std::int64_t unused = 0;
#elif KPROF_TEST_PLUGIN == 1
  static constexpr const char* name = "plugin 1";
  std::int64_t width = 0;
  std::int64_t height = 0;
#else
  static constexpr const char* name = "plugin 2";
  std::int64_t depth = 0;
  double ratio = 0;
#endif
};

}  // namespace

/// Opens a scope and returns the address by which its operator is known.
extern "C" __attribute__((visibility("default"))) const void* kprof_test_run() {
  KPROF_OP(Operator, {11, 12});
  KPROF_REGION("in plugin");
  return &kprof::detail::op_desc_of<Operator>;
}
