// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have done all that was launched, since CUPTI keeps back the records of
// what still runs. Uses the CUDA that the program has loaded, whichever; where there is none,
// nothing waits.

#include <kprof/build_options.hpp>
#include <kprof/collect/lock_within.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
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
    if (std::find(contexts_.begin(), contexts_.end(), context) == contexts_.end())
      contexts_.push_back(context);
  }
  void remove(void* context) {
    const std::lock_guard lock(mutex_);
    std::erase(contexts_, context);
  }
  void forget_contexts() {
    const std::lock_guard lock(mutex_);
    contexts_.clear();
  }
  /// A thread is about to capture a stream. It lets who is waiting for devices finish, since that
  /// breaks captures, but not for long: what the devices wait for may be this thread.
  void begin_capture(void* stream) {
    const auto alone = lock_within(20, waiting_);
    const std::lock_guard lock(mutex_);
    capturing_.push_back(stream);
  }
  /// The capture has ended or failed, or the stream is no more.
  void end_capture(void* stream) {
    const std::lock_guard lock(mutex_);
    std::erase(capturing_, stream);
  }

  /// Not while a stream is being captured: the records of what is running are had another time.
  void for_all_devices() {
    const std::lock_guard lock(waiting_);
    if (is_capturing()) return;
    if (void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      for_contexts(driver);
      dlclose(driver);
    } else if (const auto wait = function<int (*)()>(RTLD_DEFAULT, "cudaDeviceSynchronize")) {
      static_cast<void>(wait());
    }
  }
  /// Gives up after a while: a program may end with work that never does.
  bool for_all_devices_within(int milliseconds) {
    struct job {
      device_wait* wait;
      bool done = false;
    };
    auto* const j = new job{this};  // whoever is late must still find it
    const auto run = [](void* of) -> void* {
      auto* const its = static_cast<job*>(of);
      its->wait->for_all_devices();
      __atomic_store_n(&its->done, true, __ATOMIC_RELEASE);
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, j) != 0) return false;
    pthread_detach(thread);
    if (!holds_within(milliseconds, [j] { return __atomic_load_n(&j->done, __ATOMIC_ACQUIRE); }))
      return false;
    delete j;
    return true;
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
    const auto current = function<int (*)(void**)>(driver, "cuCtxGetCurrent");
    const auto wait = function<int (*)()>(driver, "cuCtxSynchronize");
    if (push == nullptr || pop == nullptr || current == nullptr || wait == nullptr) return;
    std::vector<void*> contexts;
    {
      const std::lock_guard lock(mutex_);
      contexts = contexts_;
    }
    void* own = nullptr;  // may be older than the subscription, and without a launch since
    if (current(&own) == 0 && own != nullptr) static_cast<void>(wait());
    for (void* context : contexts) {
      if (is_capturing()) return;  // that began while this thread waited
      if (context == own || push(context) != 0) continue;
      static_cast<void>(wait());
      void* popped = nullptr;
      static_cast<void>(pop(&popped));
    }
  }

  bool is_capturing() {
    const std::lock_guard lock(mutex_);
    return !capturing_.empty();
  }

  std::mutex mutex_;
  std::vector<void*> contexts_;
  std::vector<void*> capturing_;  // streams
  std::mutex waiting_;            // no CUPTI call is made under it
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
