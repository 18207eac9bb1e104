// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_OWN_WORK_HPP
#define KPROF_ATTRIBUTE_OWN_WORK_HPP

// What attribution counts: records of work, what was lost, and what kprof itself had a device do,
// which is no part of the profile. Included by attribution.hpp.

#include <kprof/attribute/busy_time.hpp>
#include <kprof/attribute/launch_table.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/record/folded.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Leaves out the work of a call that kprof made itself.
inline void leave_out(const observed_call& call, launch_table& launches) {
  known_launch l;
  l.path = launch_note::by_kprof;
  for (std::uint32_t i = 0; i < call.count; ++i) {
    l.correlation = call.ids[i];
    launches.add(l);
  }
}

/// While it measures a device, the driver compiles kprof's kernels: that is no overhead of the
/// program's. In CLOCK_REALTIME ns.
struct own_work_span {
  std::uint64_t since = 0, until = 0;

  void mark(bool begins, std::uint64_t now) noexcept {
    if (begins) since = now;
    until = begins ? ~std::uint64_t{0} : now;
  }
  bool has(const activity& a) const noexcept { return a.start >= since && a.start < until; }
};

/// A record of work, whose device has been busy with it.
inline void count(const activity& a, busy_time& busy, device_completeness& to) {
  ++to.records;
  if (!a.timed()) ++to.untimed;
  else busy.add(a.start, a.end);
}

inline void count(loss what, std::uint64_t how_many, device_completeness& to) noexcept {
  switch (what) {
    case loss::records: to.dropped += how_many; return;
    case loss::cut_buffers: to.cut_buffers += how_many; return;
    case loss::foreign_buffers: to.foreign_buffers += how_many; return;
    case loss::launch_ids: to.launches_lost += how_many; return;
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
