// SPDX-License-Identifier: MIT
#ifndef KPROF_CEILINGS_HPP
#define KPROF_CEILINGS_HPP

// What this machine reaches at most. Include it to measure that; kprof.hpp does not.

#include <kprof/build_options.hpp>
#include <kprof/machine/gpu_table.hpp>
#include <kprof/machine/measure_cpu.hpp>
#include <kprof/machine/residency.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/profile/occupancy.hpp>
#include <kprof/record/hold_cancellation.hpp>

KPROF_DETAIL_BEGIN

/// Measures the arithmetic rates and bandwidths of the processors that this process may use: its
/// affinity and its control group's quota are respected. Takes up to a second, on threads of its
/// own, and up to an eighth of the free memory meanwhile; the program's other threads should rest.
/// Rounds in which a thread was preempted do not count, so that the rates hold on a loaded machine
/// too. What cannot be measured is 0 and has its reason in `notes`. Throws std::bad_alloc.
[[gnu::cold]] inline cpu_ceilings measure_ceilings() {
  const detail::hold_cancellation hold;  // the threads use what this one owns
  return detail::cpu_measurement{}.take();
}

/// What a GPU reaches by the documents of its architecture, with the multiprocessors, clocks and
/// bus that the driver describes it with. Nothing is measured. For an architecture that kprof does
/// not know, and a device that the driver did not describe, there are no rates; `notes` says so.
[[gnu::cold]] inline gpu_ceilings ceilings_of(const device_info& device) {
  return detail::table_ceilings(device);
}

KPROF_DETAIL_END

#endif
