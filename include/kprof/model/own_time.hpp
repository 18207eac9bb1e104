// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_OWN_TIME_HPP
#define KPROF_MODEL_OWN_TIME_HPP

// What kprof's own work took, by who waited for it. Include it to use the numbers in a program.
// Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/profile.hpp>

#include <algorithm>

KPROF_DETAIL_BEGIN

/// In nanoseconds.
struct own_time {
  /// In the program's scopes: recording them, and folding where their memory was full. A share of
  /// the run's time.
  double in_scopes_ns = 0;
  /// Adding up what was recorded: folding for snapshots, and reading the records of devices, mostly
  /// on a thread of kprof's own. Much of it may come after the run: no share of its time.
  double apart_ns = 0;
};

/// Of a profile whose cost was measured: own_cost::scope_ns is above 0.
inline own_time own_time_of(const profile& p) {
  const double folding = detail::not_negative(p.cost.folding_ns);
  const double apart = std::min(detail::not_negative(p.cost.snapshot_folding_ns), folding);
  return {detail::not_negative(p.cost.recording_ns) + folding - apart,
          apart + detail::not_negative(p.device.collecting_ns)};
}

KPROF_DETAIL_END

#endif
