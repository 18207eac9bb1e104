// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_VERDICT_HPP
#define KPROF_MODEL_VERDICT_HPP

// How near the work of a row is to the roof of the machine, and what holds it back. Included by
// operator_row.hpp and by the tables of kernels and regions. Pure. The limits are those of Nsight
// Compute: 80 % is near a roof, 60 % far.

#include <kprof/build_options.hpp>
#include <kprof/model/bound.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/roofline.hpp>

#include <algorithm>
#include <cmath>

KPROF_DETAIL_BEGIN

/// The work of a row held against the ceilings of its machine.
struct roof_verdict {
  /// The least time that the work takes over the time that it took, from 0 to 1; above 1 only where
  /// `bound` is impossible. At most that where a ceiling was disturbed when it was measured; then
  /// lost_ns is at least what it says, and `bound` is known far below the roof alone.
  figure roof{0, absence::no_ceiling};
  figure ideal_ns{0, absence::no_ceiling};  ///< that least time, summed over calls
  figure lost_ns{0, absence::no_ceiling};   ///< the time above it
  bound_by bound = bound_by::unknown;       ///< where unknown, roof.why or no_bound says why
  absence no_bound = absence::none;         ///< why it is unknown where the roof is known
  bool of_memory = false;  ///< the least time is that of the bytes, not that of the FLOPs
  bool as_tf32 = false;    ///< f32 is held against the rate of tensor cores
};

namespace detail {

/// What a verdict rests on beside the roofs.
struct verdict_facts {
  double time_ns = 0;
  absence timed = absence::none;  // why that is not known
  // The host's calls take less than ten empty scopes, or kernels less than 5 us, or the device,
  // which is idle for most of the run, works for less than a fifth of the host's time.
  bool is_short = false;
  bool small_grids = false;  // most time is in kernels whose blocks do not fill the device
};

inline constexpr double near_roof = 0.8;

[[gnu::cold]] inline roof_verdict judge(const roof_sum& roofs, const verdict_facts& row) {
  constexpr double far_below = 0.6, apart = 0.1;
  roof_verdict out;
  // Of calls without times it is no reason that these are none.
  const absence untimed =
      row.timed == absence::none && !(row.time_ns > 0) ? absence::no_time : row.timed;
  const absence why = std::max(roofs.why, untimed);
  out.roof = out.ideal_ns = out.lost_ns = {0, why};
  if (why != absence::none) return out;
  const double c = roofs.compute_ns / row.time_ns, m = roofs.memory_ns / row.time_ns;
  if (!std::isfinite(c) || !std::isfinite(m)) {
    out.roof = out.ideal_ns = out.lost_ns = {0, absence::invalid};
    return out;
  }
  out.roof = {roofs.ideal_ns / row.time_ns};
  out.roof.at_most = roofs.at_most_ns > 0.01 * roofs.ideal_ns;
  out.ideal_ns = {roofs.ideal_ns};
  out.of_memory = m > c;
  out.as_tf32 = roofs.tf32_ns > 0.5 * roofs.compute_ns;
  if (out.roof.value > over_the_roof) {
    out.bound = bound_by::impossible;
    out.lost_ns = {0, absence::impossible};
    return out;
  }
  out.roof.value = std::min(out.roof.value, 1.0);
  out.ideal_ns.value = std::min(out.ideal_ns.value, row.time_ns);
  out.lost_ns = {row.time_ns - out.ideal_ns.value};
  // A ceiling that may be higher says no more than that the row is far below it.
  if (out.roof.at_most && out.roof.value >= far_below) return out;
  const bool of_cache = roofs.cached_ns > 0.5 * roofs.memory_ns && m >= c;
  // Work that is far from the one roof that is known may be near the other.
  const bool has_bytes = roofs.ideal_ns > 0 ? roofs.no_bytes_ns <= 0.5 * roofs.ideal_ns
                                            : roofs.no_bytes_calls <= 0.5 * roofs.known;
  if (of_cache) out.bound = bound_by::cache;
  else if (out.roof.value >= near_roof) out.bound = c >= m ? bound_by::compute : bound_by::memory;
  else if (out.roof.value < far_below)
    out.bound = row.is_short                          ? bound_by::launch
                : row.small_grids                     ? bound_by::small_grid
                : has_bytes && out.ideal_ns.value > 0 ? bound_by::latency
                                                      : bound_by::unknown;
  else if (std::fabs(c - m) >= apart) out.bound = c > m ? bound_by::compute : bound_by::memory;
  else out.bound = bound_by::balanced;
  if (out.bound == bound_by::unknown)
    out.no_bound = has_bytes ? absence::zero_bytes : absence::no_bytes;
  // The roof of memory may be nearer.
  out.lost_ns.at_most = out.no_bound == absence::no_bytes;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
