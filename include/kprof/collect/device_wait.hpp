// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have done all that was launched, since CUPTI keeps back the records of what still runs. Uses the
// CUDA that the program has loaded, whichever; where there is none, nothing waits.

#include <kprof/config.hpp>

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class device_wait {
 public:
  // From CUPTI's callbacks.
  void add(void* context) {
    const std::lock_guard lock(mutex_);
    contexts_.push_back(context);
  }
  void remove(void* context) {
    const std::lock_guard lock(mutex_);
    std::erase(contexts_, context);
  }
  void count_capture(bool begins) noexcept { __atomic_fetch_add(&captures_, begins ? 1 : -1, __ATOMIC_RELAXED); }

  /// Not while a stream is being captured: waiting for a device would break the capture.
  void for_all_devices() {
    if (__atomic_load_n(&captures_, __ATOMIC_RELAXED) > 0) return;
    if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      for_contexts(driver);
      dlclose(driver);
    } else if (const auto wait = function<int (*)()>(RTLD_DEFAULT, "cudaDeviceSynchronize")) {
      static_cast<void>(wait());
    }
  }

 private:
  template <class Function>
  static Function function(void* library, const char* name) noexcept {
    void* const found = dlsym(library, name);
    Function out = nullptr;
    std::memcpy(&out, &found, sizeof out);
    return out;
  }

  void for_contexts(void* driver) {
    const auto push = function<int (*)(void*)>(driver, "cuCtxPushCurrent_v2");
    const auto pop = function<int (*)(void**)>(driver, "cuCtxPopCurrent_v2");
    const auto wait = function<int (*)()>(driver, "cuCtxSynchronize");
    if (push == nullptr || pop == nullptr || wait == nullptr) return;
    std::vector<void*> contexts;
    {
      const std::lock_guard lock(mutex_);
      contexts = contexts_;
    }
    static_cast<void>(wait());   // for the current one, which may be older than the subscription
    for (void* context : contexts) {
      if (push(context) != 0) continue;
      static_cast<void>(wait());
      void* popped = nullptr;
      static_cast<void>(pop(&popped));
    }
  }

  std::mutex mutex_;
  std::vector<void*> contexts_;
  int captures_ = 0;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
