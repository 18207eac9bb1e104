// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_DEVICE_TIMELINE_HPP
#define KPROF_PROFILE_DEVICE_TIMELINE_HPP

// When things happened: each kernel, copy and memset, the calls of CUDA that block, record events
// or make streams wait, and the program's steps. Plain values, included by profile.hpp. All times
// are whole nanoseconds since the session's start; an interval has its begin and not its end.

#include <kprof/build_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// One kernel, copy or memset, as the device ran it.
struct device_item {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t work = none;    ///< index in device_profile::work: kernel, device and scope
  std::uint32_t stream = 0;     ///< CUPTI's number; the row in `work` may not have kept it
  std::uint32_t thread = none;  ///< that launched it: index in profile::threads; none: not known
  std::uint32_t correlation = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;  ///< less than `start`: the device's clock gave no time
  /// The call that launched it, or its graph. Negative: not known.
  std::int64_t call_begin = -1;
  std::int64_t call_end = -1;
  std::uint64_t bytes = 0;  ///< copied or set; from 2 GiB on to 4 KiB
  bool graph = false;       ///< launched by the replay of a graph
};

/// What a call of CUDA's libraries does for the program.
enum class call_kind : std::uint8_t {
  other,
  launch,
  copy,
  set,
  synchronize,
  allocate,
  free,
  event_record,
  stream_wait,  ///< a stream waits for an event, the thread does not
};

/// What a call waits for before it returns.
enum class awaited : std::uint8_t { nothing, device, stream, event };

/// One call of a function of CUDA's libraries. Those that launched an item are told by the item
/// too.
struct host_call {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t name = none;    ///< index in device_profile::functions
  std::uint32_t thread = none;  ///< index in profile::threads
  std::uint32_t scope = none;   ///< the innermost scope: index in profile::nodes
  call_kind kind = call_kind::other;
  awaited waits_for = awaited::nothing;  ///< of a call that blocks, whatever its kind
  std::uint32_t device = 0;              ///< CUDA's ordinal
  /// Of a call that waits for a stream, records an event on one, or makes one wait.
  std::uint32_t stream = 0;
  std::uint64_t event = 0;  ///< the event's number; 0: the call is about none
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Calls of one function of CUDA's libraries from one scope, summed over the whole run.
struct host_call_sum {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint32_t name = none;   ///< index in device_profile::functions
  std::uint32_t scope = none;  ///< index in profile::nodes; a root: outside all scopes
  call_kind kind = call_kind::other;
  std::uint64_t calls = 0;
  double total_ns = 0;
  double max_ns = 0;
  double waited_ns = 0;  ///< of total_ns, in calls that blocked
};

/// A stretch of the run of which the timeline has all that was recorded.
struct timeline_window {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What the devices did when. It is kept in bounded memory; all sums elsewhere are of the whole
/// run.
struct device_timeline {
  std::vector<device_item> items;  ///< in no order
  std::vector<host_call> calls;    ///< in no order
  /// In order, disjoint; none: of the whole run.
  std::vector<timeline_window> windows;
  std::uint64_t dropped_items = 0;
  std::uint64_t dropped_calls = 0;

  bool empty() const noexcept { return items.empty() && calls.empty() && dropped_items == 0; }
};

/// A step of the program's main loop.
struct step_mark {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::uint64_t index = 0;      ///< from 0
  std::uint32_t thread = none;  ///< that took it: index in profile::threads
  bool counts = true;           ///< false: skipped, or to warm up
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

KPROF_DETAIL_END

#endif
