// SPDX-License-Identifier: MIT
// A plugin with a session and, with THREAD_LOCAL_BYTES, thread-local data of its own.
#include <kprof/kprof.hpp>

#ifdef THREAD_LOCAL_BYTES
static thread_local volatile char own_data[THREAD_LOCAL_BYTES] = {1};
#endif

extern "C" __attribute__((visibility("default"))) void run(int n) {
#ifdef THREAD_LOCAL_BYTES
  own_data[n % THREAD_LOCAL_BYTES] = 1;
#endif
  for (int i = 0; i < n; ++i) { KPROF_REGION("plugin"); }
}
/// Scopes that the session of the process has recorded.
extern "C" __attribute__((visibility("default"))) unsigned long recorded() {
  return kprof::snapshot().complete.recorded;
}
