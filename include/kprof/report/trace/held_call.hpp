// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_HELD_CALL_HPP
#define KPROF_REPORT_TRACE_HELD_CALL_HPP

// A call of CUDA's libraries on its way into a trace. Included by trace.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The latest call of a thread. It is written once the next thing on its thread has come: calls and
/// scopes are read from clocks that differ a little, and a call may seem to begin just before the
/// scope that it is in, or end after it.
struct held_call {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  bool holds = false;
  bool may_launch = false;  // and what it launched has not come yet
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t called = 0;        // when it began as recorded
  std::uint32_t function = none;  // index in device_profile::functions
  std::uint32_t scope = none;     // index in profile::nodes
  std::uint64_t correlation = 0;  // its number, which what it launched has too
  /// What it launched: indices in device_timeline::items.
  std::vector<std::uint32_t> items{};

  bool launched() const noexcept { return !items.empty(); }
};

/// Whether a call may have launched work: the profile then has it as a call and as the launch of an
/// item.
inline bool may_launch(const host_call& call) noexcept {
  return call.kind == call_kind::launch || call.kind == call_kind::copy ||
         call.kind == call_kind::set;
}

/// Whether a function is one of CUDA's driver, by its name.
inline bool is_of_driver(std::string_view function) noexcept {
  return function.starts_with("cu") && !function.starts_with("cuda");
}

/// Whether the launch of an item is a slice of its own.
inline bool has_launch(const profile& p, const device_item& item) noexcept {
  return item.call_begin >= 0 && item.thread < p.threads.size() && item.work < p.device.work.size();
}

/// The number of the arrow to an item. Catapult wants one of its own for each; that of the launch
/// is for what launched one item.
inline std::uint64_t arrow_of(const device_item& item, std::uint32_t index) noexcept {
  const bool has_number = !item.graph && item.correlation != 0;
  return has_number ? item.correlation : (std::uint64_t{1} << 32U) + index;
}

/// An item whose launch has been written and which has not come yet, or the other way round: the
/// clocks of devices and threads differ. Each is written once both are known.
struct awaited_item {
  std::uint64_t id = 0;        ///< "External id" of its operator; 0: none
  std::int64_t launched = -1;  ///< begin of the slice of its launch; negative: there is no arrow
  std::uint32_t tid = 0;       ///< its row, where it has come
  bool is_bound = false;       ///< the slice of its launch tells of the arrow itself
};

}  // namespace detail
KPROF_DETAIL_END

#endif
