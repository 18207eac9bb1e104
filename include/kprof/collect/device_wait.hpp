// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have finished all launched work, since CUPTI keeps back the records of
// work that still runs. Uses the CUDA driver or runtime that the program has loaded; where it has
// loaded none, nothing waits.

#include <kprof/build_options.hpp>
#include <kprof/collect/lock_within.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class device_wait {
 public:
  // CUPTI's callbacks call these.
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
  /// A thread is about to capture a stream. Waiting for a device breaks captures, so the thread
  /// first lets a wait finish that is under way; but for 20 ms at most, since the device may itself
  /// be waiting for this thread.
  void begin_capture(void* stream) {
    const auto alone = lock_within(20, waiting_);
    const std::lock_guard lock(mutex_);
    capturing_.push_back(stream);
  }
  /// The capture has ended or failed, or the stream is destroyed.
  void end_capture(void* stream) {
    const std::lock_guard lock(mutex_);
    std::erase(capturing_, stream);
  }

  /// Waits, unless a stream is being captured: then the records of running work are read later.
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
  /// Gives up after that long, and returns false: a program may end with work that never does.
  bool for_all_devices_within(int milliseconds) {
    struct job {
      device_wait* wait;
      std::atomic<bool> done{false};
    };
    // A thread that has been given up still writes to it, so then it is never freed.
    auto* const j = new job{this};
    const auto run = [](void* of) -> void* {
      auto* const its = static_cast<job*>(of);
      its->wait->for_all_devices();
      its->done = true;
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, j) != 0) return false;
    pthread_detach(thread);
    if (!holds_within(milliseconds, [j] { return j->done.load(); })) return false;
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
    // This thread's context may be older than the subscription, with no launch since.
    void* own = nullptr;
    if (current(&own) == 0 && own != nullptr) static_cast<void>(wait());
    for (void* context : contexts) {
      if (is_capturing()) return;  // it began while this thread waited
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

  std::mutex mutex_;  // guards the two lists
  std::vector<void*> contexts_;
  std::vector<void*> capturing_;  // streams
  std::mutex waiting_;            // held while a thread waits; no CUPTI call is made under it
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
