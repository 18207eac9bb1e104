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

KPROF_DETAIL_BEGIN

/// Measures the arithmetic rates and bandwidths of the processors that this process may use: its
/// affinity and its control group's quota are respected. Takes up to a second, on threads of its
/// own, and up to an eighth of the free memory meanwhile; the program's other threads should rest.
/// Rounds in which a thread was preempted do not count, so that the rates hold on a loaded machine
/// too. What cannot be measured is 0 and has its reason in `notes`. Throws std::bad_alloc.
[[gnu::cold]] inline cpu_ceilings measure_ceilings() { return detail::cpu_measurement{}.take(); }

/// What a GPU reaches by the documents of its architecture, with the multiprocessors, clocks and
/// bus that CUPTI describes it with. Nothing is measured. For an architecture that kprof does not
/// know, and a device that CUPTI did not describe, there are no rates, and `notes` says so.
[[gnu::cold]] inline gpu_ceilings ceilings_of(const device_info& device) {
  return detail::table_ceilings(device);
}

/// The theoretical occupancy of a kernel on a device, from what CUPTI recorded of its launch. The
/// driver may give a multiprocessor less shared memory than it has; then fewer blocks fit.
[[gnu::cold]] inline kernel_occupancy occupancy_of(const device_info& device,
                                                   const device_work& kernel) {
  const auto product = [](const std::uint32_t(&of)[3]) {
    return static_cast<double>(of[0]) * of[1] * of[2];
  };
  const double threads = product(kernel.block);
  return detail::occupancy_of(
      device,
      {threads > 1e6 ? 1'000'000U : static_cast<std::uint32_t>(threads), kernel.registers,
       std::uint64_t{kernel.static_shared} + kernel.dynamic_shared},
      product(kernel.grid));
}

KPROF_DETAIL_END

#endif
