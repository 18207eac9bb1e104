// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_FIGURE_HPP
#define KPROF_MODEL_FIGURE_HPP

// What the tables share: a number that may not be known. Included by the summaries. Pure.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// Why a number is not known. Where several reasons hold, the last of them is told.
enum class absence : std::uint8_t {
  none,             ///< it is known
  no_calls,         ///< no call has finished
  graphs_only,      ///< a host time of calls that were made by replaying CUDA graphs, and have none
  not_noted,        ///< the profile does not have it: a program with an older kprof saved it
  not_replayed,     ///< the calls were captured into a CUDA graph: no record of a replay names them
  no_time,          ///< it took no time that the clock could see
  too_short,        ///< no call was long enough for its CPU time to be known
  no_cpu_time,      ///< the system does not tell CPU times
  not_shared,       ///< no call is shared by several threads
  not_joined,       ///< the parts of shared calls lie too far apart, so their times are not known
  no_launch,        ///< the launch of no kernel, copy or memset of its own was seen
  not_all_records,  ///< records of work on the device have not come
  open_calls,       ///< work on the device is of calls that are open
  not_by_step,      ///< what single steps did of it was not recorded
  untimed,          ///< CUPTI gave no time for some of the work on the device
  lost,             ///< kprof had no memory to note some launches of work on the device
  dropped,          ///< records of work on the device were dropped
  several_kernels,  ///< a formula's value is shared by several kernels
  zero_bytes,       ///< a division by the bytes of calls that move none
  merged,           ///< kprof had no memory to keep the calls' parameters
  invalid,   ///< the parameters of some calls are invalid, or a formula gives no number for them
  no_bytes,  ///< bytes() is not declared
  no_type,   ///< the operator does not say the type that it computes with
  no_other_machine,  ///< nobody asked for another machine
  other_ceiling,     ///< the highest rate of that other machine is not known
  no_ceiling,        ///< the highest rate of the machine is not known
  impossible,        ///< a rate is above all that the machine can reach
  no_flops,          ///< flops() is not declared
  no_tile,           ///< the kernel's name has no tile, or its operator is no product of matrices
  no_operator,       ///< there is no operator whose formula would say
};

/// A number, or why there is none.
struct figure {
  double value = 0;
  absence why = absence::none;
  bool at_most = false;  ///< the number is this or less
  constexpr bool known() const noexcept { return why == absence::none; }
};

/// Why a number is not known, in a few words.
inline const char* explain(absence why) noexcept {
  switch (why) {
    case absence::no_calls: return "no call has finished";
    case absence::graphs_only:
      return "made by replaying CUDA graphs, which takes no time on the host";
    case absence::not_noted: return "not in the file: an older kprof saved it";
    case absence::not_replayed:
      return "captured into a CUDA graph, and no record of a replay names it";
    case absence::not_shared: return "no call is shared by threads (KPROF_PART)";
    case absence::not_joined: return "parts of shared calls came too many calls later than others";
    case absence::no_launch: return "no launch of its own was seen";
    case absence::not_all_records:
      return "not all records of the work on the device have come: it had not ended, could not be "
             "waited for, or was launched while nothing was recorded";
    case absence::open_calls:
      return "a call is open, and what it has done on the device so far is in the time";
    case absence::not_by_step: return "not recorded for single steps";
    case absence::untimed: return "CUPTI gave no time for work on the device";
    case absence::lost: return "launches could not be noted, for want of memory";
    case absence::dropped: return "records of work on the device were dropped";
    case absence::several_kernels: return "several kernels share what the operator's formulas say";
    case absence::no_tile: return "no tile in the kernel's name, or no product of matrices";
    case absence::no_operator: return "outside any operator";
    case absence::too_short: return "no call was long enough for its CPU time to be known";
    case absence::no_cpu_time: return "the system does not tell the CPU time of threads";
    case absence::no_time: return "took less than the clock can see";
    case absence::zero_bytes: return "bytes() is 0";
    case absence::merged: return "parameters not kept, for want of memory";
    case absence::invalid: return "invalid parameters, or a formula that gives no number for them";
    case absence::no_bytes: return "no bytes() declared";
    case absence::no_flops: return "no flops() declared";
    case absence::no_type: return "the operator does not say what type it computes with";
    case absence::no_other_machine: return "no other machine was named (machine=)";
    case absence::other_ceiling: return "the other machine's highest rate for it is not known";
    case absence::no_ceiling: return "this machine's highest rate is not known";
    case absence::impossible: return "faster than this machine can be";
    case absence::none: break;
  }
  return "known";
}

namespace detail {

inline double not_negative(double x) noexcept { return x > 0 ? x : 0; }  // NaN is 0 too

inline figure ratio(figure a, double b, absence when_zero) noexcept {
  if (!a.known()) return a;
  return b > 0 ? figure{a.value / b} : figure{0, when_zero};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
