// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have finished all launched work, since CUPTI keeps back the records of
// work that still runs. Uses the CUDA driver, which is loaded before anything is collected.

#include <kprof/build_options.hpp>
#include <kprof/collect/capturing_streams.hpp>
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
    capturing_.begin(stream);
  }
  capturing_streams& capturing() noexcept { return capturing_; }

  /// Waits, unless a stream is being captured: then the records of running work are read later.
  /// Returns whether all work launched before the call has finished.
  bool for_all_devices() {
    const std::lock_guard lock(waiting_);
    if (capturing_.any()) return false;
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver == nullptr) return false;
    const bool all = for_contexts(driver);
    dlclose(driver);
    return all;
  }
  /// Gives up after that long: a program may end with work that never does.
  bool for_all_devices_within(int milliseconds) {
    struct job {
      device_wait* wait;
      bool all = false;
      std::atomic<bool> done{false};
    };
    // A thread that has been given up still writes to it, so then it is never freed.
    auto* const j = new job{this};
    const auto run = [](void* of) -> void* {
      auto* const its = static_cast<job*>(of);
      its->all = its->wait->for_all_devices();
      its->done = true;
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, j) != 0) return false;
    pthread_detach(thread);
    if (!holds_within(milliseconds, [j] { return j->done.load(); })) return false;
    const bool all = j->all;
    delete j;
    return all;
  }

 private:
  template <class Function>
  static Function function(void* library, const char* name) noexcept {
    void* const found = dlsym(library, name);
    Function out = nullptr;
    std::memcpy(&out, &found, sizeof out);
    return out;
  }

  bool for_contexts(void* driver) {
    const auto push = function<int (*)(void*)>(driver, "cuCtxPushCurrent_v2");
    const auto pop = function<int (*)(void**)>(driver, "cuCtxPopCurrent_v2");
    const auto current = function<int (*)(void**)>(driver, "cuCtxGetCurrent");
    const auto wait = function<int (*)()>(driver, "cuCtxSynchronize");
    if (push == nullptr || pop == nullptr || current == nullptr || wait == nullptr) return false;
    std::vector<void*> contexts;
    {
      const std::lock_guard lock(mutex_);
      contexts = contexts_;
    }
    // This thread's context may be older than the subscription, with no launch since.
    void* own = nullptr;
    bool all = current(&own) != 0 || own == nullptr || wait() == 0;
    for (void* context : contexts) {
      if (capturing_.any()) return false;  // it began while this thread waited
      if (context == own) continue;
      if (push(context) != 0) {
        all = false;
        continue;
      }
      all = wait() == 0 && all;
      void* popped = nullptr;
      static_cast<void>(pop(&popped));
    }
    return all;
  }

  std::mutex mutex_;  // guards contexts_
  std::vector<void*> contexts_;
  capturing_streams capturing_;
  std::mutex waiting_;  // held while a thread waits; no CUPTI call is made under it
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
