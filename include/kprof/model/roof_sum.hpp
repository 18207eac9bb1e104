// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROOF_SUM_HPP
#define KPROF_MODEL_ROOF_SUM_HPP

// What the ceilings of a machine say of a call, and their sums over calls. Included by
// roofline.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/figure.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// A rate above its ceiling by no more than this is at the ceiling: both are measured.
inline constexpr double over_the_roof = 1.02;
/// Above the roof of one thread by this, calls ran on several: no clock is so much faster than when
/// it was measured.
inline constexpr double surely_over = 1.1;

/// What the ceilings say of one call.
struct call_roof {
  double compute_ns = 0;    ///< FLOPs over the highest rate of their type
  double memory_ns = 0;     ///< bytes over the bandwidth of memory, or of a cache
  bool cached = false;      ///< faster than memory: the bandwidth is that of a cache
  bool from_cache = false;  ///< the same, or half of the calls were
  /// The ceiling that bounds it was disturbed when it was measured: the least time may be less.
  bool at_most = false;
  bool is_impossible = false;  ///< calls took less than the least time
  bool no_bytes = false;       ///< bytes() is not declared: memory may allow less
  absence why = absence::none;
  double threads = 1;           ///< of the host that it ran on; 0: it ran on a device
  dtype type = dtype::unknown;  ///< that it computed with; tf32 where f32 ran on tensor cores
  bool tensor_cores = false;    ///< of a device, by the operator, a kernel's name or the time

  double ideal_ns() const noexcept { return std::max(compute_ns, memory_ns); }
};

/// Calls, summed.
struct roof_sum {
  double compute_ns = 0, memory_ns = 0, cached_ns = 0, ideal_ns = 0;
  double at_most_ns = 0;        // of ideal_ns
  double tf32_ns = 0;           // of compute_ns: f32 on tensor cores
  double no_bytes_ns = 0;       // of ideal_ns: of calls without bytes()
  double no_bytes_calls = 0;    // of `known`
  double known = 0;             // calls whose roof is known
  absence why = absence::none;  // of the others

  void add(const call_roof& roof, double calls) noexcept {
    why = std::max(why, roof.why);
    if (roof.why != absence::none) return;
    known += calls;
    compute_ns += calls * roof.compute_ns;
    memory_ns += calls * roof.memory_ns;
    if (roof.cached) cached_ns += calls * roof.memory_ns;
    if (roof.type == dtype::tf32) tf32_ns += calls * roof.compute_ns;
    ideal_ns += calls * roof.ideal_ns();
    if (roof.at_most) at_most_ns += calls * roof.ideal_ns();
    if (roof.no_bytes) no_bytes_ns += calls * roof.ideal_ns(), no_bytes_calls += calls;
  }
  void add(const roof_sum& more) noexcept {
    why = std::max(why, more.why);
    known += more.known;
    compute_ns += more.compute_ns;
    memory_ns += more.memory_ns;
    cached_ns += more.cached_ns;
    ideal_ns += more.ideal_ns;
    at_most_ns += more.at_most_ns;
    tf32_ns += more.tf32_ns;
    no_bytes_ns += more.no_bytes_ns;
    no_bytes_calls += more.no_bytes_calls;
  }
};

/// The calls of a row: those that took no less time than they can, and those that are impossible,
/// which say nothing of the others.
struct row_roofs {
  roof_sum possible, impossible;

  void add(const call_roof& roof, double calls) noexcept {
    (roof.is_impossible ? impossible : possible).add(roof, calls);
  }
  void add(const row_roofs& more) noexcept {
    possible.add(more.possible);
    impossible.add(more.impossible);
  }
  /// What a row is judged by, and over which of its time. In a row of several operators those count
  /// whose roof is known.
  struct judged {
    roof_sum roofs;
    double time_ns = 0;
    double all_ns = 0;        // of the row
    bool leaves_out = false;  // impossible calls, whose time is none of the others'

    /// A rate of the row's work, `of_impossible` of which is that of impossible calls.
    figure rate(double work, double of_impossible, absence why) const noexcept {
      return leaves_out ? ratio({work - of_impossible, why}, time_ns * 1e-9, absence::no_time)
                        : ratio({work, why}, all_ns * 1e-9, absence::no_time);
    }
  };
  judged by(std::uint64_t operators, double all_ns, double impossible_ns) const noexcept {
    judged out{possible, all_ns, all_ns};
    const bool some = possible.known > 0, any = impossible.known > 0;
    // An operator is what most of its time is.
    if (any && (!some || (operators == 1 && impossible_ns > 0.5 * all_ns))) {
      out.roofs = impossible;
      if (some) out.time_ns = impossible_ns;
    } else if (some && any && impossible_ns < all_ns) {
      out.time_ns = all_ns - impossible_ns;
      out.leaves_out = true;
    }
    out.roofs.why = std::max(possible.why, impossible.why);
    if (operators > 1 && out.roofs.known > 0) out.roofs.why = absence::none;
    return out;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
