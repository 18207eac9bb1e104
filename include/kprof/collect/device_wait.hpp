// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have done all that was launched, since CUPTI keeps back the records of what still runs. Uses the
// CUDA that the program has loaded, whichever; where there is none, nothing waits.

#include <kprof/config.hpp>

#include <dlfcn.h>

#include <cstdint>
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
  /// A thread is about to capture a stream; it waits for who is waiting for devices, which breaks captures.
  void begin_capture() {
    const std::lock_guard lock(waiting_);
    ++captures_;
  }
  void end_capture() {
    const std::lock_guard lock(waiting_);
    if (captures_ != 0) --captures_;
  }

  /// Not while a stream is being captured: the records of what is running are had another time.
  void for_all_devices() {
    const std::lock_guard lock(waiting_);
    if (captures_ != 0) return;
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
  std::mutex waiting_;          // no CUPTI call is made under it
  std::uint64_t captures_ = 0;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
