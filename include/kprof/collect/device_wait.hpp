// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have finished all launched work, since CUPTI keeps back the records of
// work that still runs. Uses the CUDA driver, which is loaded before anything is collected. Nothing
// here needs memory but to remember a context.

#include <kprof/build_options.hpp>
#include <kprof/collect/capturing_streams.hpp>
#include <kprof/collect/cupti_calls.hpp>
#include <kprof/collect/own_thread.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/lock_within.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Polls until condition() holds; false if it did not within that time.
template <class Condition>
bool holds_within(int milliseconds, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    usleep(100);
  }
  return true;
}

class device_wait {
 public:
  // CUPTI's callbacks call these.
  /// False where there is no memory for it. Then no wait is for all devices any more.
  bool add(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    if (std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end()) return true;
    const bool added = attempt([&] { contexts_.push_back(context); });
    if (!added) lacks_contexts_ = lacked_contexts_ = true;
    return added;
  }
  /// The context is about to be destroyed: a wait that is under way finishes first, but for a
  /// second at most, since its device may be waiting for this thread.
  void remove(void* context) noexcept {
    capturing_.destroyed_with(context);
    {
      const std::lock_guard lock(mutex_);
      if (std::erase(contexts_, context) == 0) return;
    }
    if (!calls_are_own) static_cast<void>(lock_within(1000, waiting_));
  }
  /// Contexts, and captures under way.
  void forget_all() noexcept {
    capturing_.forget();
    const std::lock_guard lock(mutex_);
    contexts_.clear();
    lacks_contexts_ = false;
  }
  /// Whether waits are for this context too.
  bool has(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    return std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end();
  }
  /// Whether there was ever no memory for a context.
  bool lacked_contexts() const noexcept { return lacked_contexts_; }
  /// A thread is about to capture a stream. Waiting for a device breaks captures, so the thread
  /// first lets a wait finish that is under way; but for 20 ms at most, since the device may itself
  /// be waiting for this thread.
  void begin_capture(void* stream, void* context) {
    const auto alone = lock_within(20, waiting_);
    capturing_.begin(stream, context);
  }
  capturing_streams& capturing() noexcept { return capturing_; }

  /// Waits, unless a stream is being captured: then the records of running work are read later.
  /// Returns whether all work launched before the call has finished.
  bool for_all_devices() {
    const std::lock_guard lock(waiting_);
    if (capturing_.any()) return false;
    const own_calls mark;
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
    auto* const j = new (std::nothrow) job{this};
    if (j == nullptr) return false;
    const auto run = [](void* of) -> void* {
      const own_thread_ends mark;
      auto* const its = static_cast<job*>(of);
      its->all = its->wait->for_all_devices();
      its->done = true;
      return nullptr;
    };
    if (!start_own_thread(run, j)) {
      delete j;
      return false;
    }
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
    // This thread's context may be older than the subscription, with no launch since.
    void* own = nullptr;
    bool all = (current(&own) != 0 || own == nullptr || wait() == 0) && !lacks_contexts_;
    // From the last one on: new ones come behind it, and what is removed moves only those behind.
    for (std::size_t i = number_of_contexts(); i-- > 0;) {
      if (capturing_.any()) return false;  // it began while this thread waited
      void* const context = context_at(i);
      if (context == own || context == nullptr) continue;
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

  std::size_t number_of_contexts() noexcept {
    const std::lock_guard lock(mutex_);
    return contexts_.size();
  }
  /// nullptr where there are fewer by now.
  void* context_at(std::size_t i) noexcept {
    const std::lock_guard lock(mutex_);
    return i < contexts_.size() ? contexts_[i] : nullptr;
  }

  std::mutex mutex_;  // guards contexts_
  std::vector<void*> contexts_;
  std::atomic<bool> lacks_contexts_{false};  // there was no memory for one, since forget_contexts()
  std::atomic<bool> lacked_contexts_{false};  // ever
  capturing_streams capturing_;
  std::mutex waiting_;  // held while a thread waits; no CUPTI call is made under it
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
