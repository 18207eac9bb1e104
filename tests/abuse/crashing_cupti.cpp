// SPDX-License-Identifier: MIT
// A libcupti that crashes in its first call where no driver works, as that of CUDA 13.2 does, and
// while it is loaded. With a driver every call fails.
#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstring>

namespace {
int called() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*initialize)(unsigned) = nullptr;
  if (driver != nullptr) {
    void* const found = dlsym(driver, "abuse_is_initialised");
    std::memcpy(&initialize, &found, sizeof found);
  }
  if (initialize == nullptr || initialize(0) != 1) std::raise(SIGSEGV);
  return 999;
}
[[gnu::constructor]] void loaded() { called(); }
}  // namespace

extern "C" {
int cuptiGetVersion(std::uint32_t*) { return called(); }
int cuptiGetResultString(int, const char** text) { return *text = "FROM_CUPTI", called() - 999; }
int cuptiSubscribe() { return called(); }
int cuptiUnsubscribe() { return called(); }
int cuptiEnableCallback() { return called(); }
int cuptiGetCallbackName() { return called(); }
int cuptiActivityRegisterCallbacks() { return called(); }
int cuptiActivityEnable() { return called(); }
int cuptiActivityDisable() { return called(); }
int cuptiActivityFlushAll() { return called(); }
int cuptiActivityGetNextRecord() { return called(); }
int cuptiActivityGetNumDroppedRecords() { return called(); }
int cuptiGetGraphNodeId() { return called(); }
}
