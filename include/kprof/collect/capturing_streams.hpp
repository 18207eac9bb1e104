// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CAPTURING_STREAMS_HPP
#define KPROF_COLLECT_CAPTURING_STREAMS_HPP

// The captures that are under way. CUPTI's callbacks report each begin and end; while there are
// any, kprof must not wait for a device. A capture for which there is no memory is only counted.

#include <kprof/build_options.hpp>
#include <kprof/write/attempt.hpp>

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Whether a call that ends a capture has ended one, by its result, which is the same number in the
/// runtime and in the driver. An invalidated capture, and one with streams that were not joined
/// again, ends with an error. All other errors leave the capture as it is: the call was made for
/// another stream of the capture, by another thread, or for none.
constexpr bool ends_capture(int cuda_result) noexcept {
  constexpr int invalidated = 901, unjoined = 904;
  return cuda_result == 0 || cuda_result == invalidated || cuda_result == unjoined;
}

class capturing_streams {
 public:
  /// This thread begins to capture the stream, while `context` is current; null: not known.
  void begin(void* stream, void* context) noexcept {
    capture c = of(stream);
    c.context = context;
    const std::lock_guard lock(mutex_);
    if (!attempt([&] { all_.push_back(c); })) ++without_entry_;
  }
  /// This thread ends the capture of the stream, or its begin has failed. The stream may be
  /// captured already when a begin fails, so that only one of equal entries goes.
  void end(void* stream) noexcept {
    const capture c = of(stream);
    const std::lock_guard lock(mutex_);
    const auto found = std::find(all_.begin(), all_.end(), c);
    if (found != all_.end()) all_.erase(found);
    else if (without_entry_ != 0) --without_entry_;
  }
  /// Work was captured by this thread. A capture that began before CUPTI told of captures is not
  /// known: it counts as one, until some capture that is not known ends.
  void captured() noexcept {
    const std::lock_guard lock(mutex_);
    if (all_.empty() && without_entry_ == 0) without_entry_ = 1;
  }
  void forget() noexcept {
    const std::lock_guard lock(mutex_);
    all_.clear();
    without_entry_ = 0;
  }
  /// The stream is destroyed, and its captures with it.
  void destroyed(void* stream) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const capture& c) { return c.stream == stream && !c.per_thread; });
  }
  /// The context is destroyed, and its streams with it.
  void destroyed_with(void* context) noexcept {
    if (context == nullptr) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const capture& c) { return c.context == context; });
  }
  bool any() noexcept {
    const std::lock_guard lock(mutex_);
    return !all_.empty() || without_entry_ != 0;
  }

 private:
  struct capture {
    void* stream;
    bool per_thread;
    pthread_t thread;         // of the stream, where that is per thread
    void* context = nullptr;  // when it began
    bool operator==(const capture& o) const noexcept {
      return stream == o.stream && per_thread == o.per_thread &&
             (!per_thread || pthread_equal(thread, o.thread) != 0);
    }
  };

  /// Two handles name another stream on each thread: cudaStreamPerThread, and the default stream of
  /// programs that are compiled with one for each thread. They name the same one.
  static capture of(void* stream) {
    constexpr std::uintptr_t default_stream = 0, stream_per_thread = 2;
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    if (handle != default_stream && handle != stream_per_thread) return {stream, false, {}};
    return {nullptr, true, pthread_self()};
  }

  std::mutex mutex_;  // guards the two below
  std::vector<capture> all_;
  std::size_t without_entry_ = 0;  // captures for which there was no memory
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
