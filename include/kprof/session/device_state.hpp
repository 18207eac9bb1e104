// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_DEVICE_STATE_HPP
#define KPROF_SESSION_DEVICE_STATE_HPP

// What a profile says of the collector: its version, why nothing is collected, and since when it
// is open. Included by device_session.hpp.

#include <kprof/build_options.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL device_state {
 public:
  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }
  /// A thread opens the collector, which may take long: another does not wait for ever to begin a
  /// recording.
  void set_opening() { set("not collected: CUPTI was still being opened by another thread"); }
  /// The recording began when the program did not use CUDA, and now it does.
  void note_cuda_came_late() {
    const std::lock_guard lock(mutex_);
    if (text_.empty())
      text_ =
          "not collected: the program loaded CUDA after the recording had begun; KPROF=cupti=on, "
          "or kprof::start() once it is loaded";
  }
  /// There is no collector any more: the recording that it was opened for does not have it.
  void set_late() { set(late); }
  /// `is_open`: there is a collector, but the recording began without it.
  std::string text(bool is_open) {
    if (is_open) return late;
    const std::lock_guard lock(mutex_);
    return text_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

  /// The recording goes on with a collector that was open so long after its begin; 0: it began
  /// with it, or has none.
  void set_joined_after(std::uint64_t ns) noexcept { joined_after_ns_ = ns; }
  void add_note(std::vector<std::string>& notes) const {
    const std::uint64_t ns = joined_after_ns_;
    if (ns == 0) return;
    notes.push_back("CUPTI was open only " + std::to_string(ns / 1'000'000) +
                    " ms after the recording had begun: work on the device that was launched "
                    "before is not in it, so that calls from then count as if they had none");
  }

 private:
  static constexpr char late[] = "not collected: CUPTI was open only after the recording had begun";

  std::mutex mutex_;  // guards text_
  std::string text_;  // why nothing is collected, or the collector's version
  std::atomic<std::uint64_t> joined_after_ns_{0};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
