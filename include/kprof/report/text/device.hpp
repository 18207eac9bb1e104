// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_DEVICE_HPP
#define KPROF_REPORT_TEXT_DEVICE_HPP

// What the text report says of devices and of their collector: lines below its first, and facts at
// its end. Included by the text report. A run without a device has neither.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/facts.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool uses_device(const profile& p) noexcept {
  return p.device.collecting || has_device_work(p);
}

[[gnu::cold]] inline std::string device_line(const page& out, const profile& p,
                                             const device_info& d) {
  std::string text = "device " + std::to_string(d.id);
  if (d.described) {
    text += out.dot() + out.safe(d.name.empty() ? "(no name)" : d.name) + out.dot() + "compute " +
            std::to_string(d.compute_major) + '.' + std::to_string(d.compute_minor) + out.dot() +
            counted(d.multiprocessors, "SM", "SMs");
    text +=
        out.dot() + (d.memory_bytes_per_s > 0
                         ? format_rate(static_cast<double>(d.memory_bytes_per_s) * 1e-9) + " GB/s"
                         : "GB/s n/a");
  } else {
    text += out.dot() + std::string{"not described by the driver"};
  }
  const double busy = not_negative(d.busy_ns), sum = not_negative(d.sum_ns);
  text += out.dot() + std::string{d.busy_is_exact ? "busy " : "busy at least "} + out.time(busy);
  if (p.wall_ns > 0) text += ", " + format_share(busy / p.wall_ns) + " of wall";
  return sum > busy * 1.01 ? text + " (run times summed " + out.time(sum) + ')' : text;
}

/// One line a device, but for those beside it that did nothing; and why there is no collector where
/// there is none.
[[gnu::cold]] inline void print_devices(page& out, const profile& p) {
  if (!p.device.collecting && !p.device.state.empty())
    out.paragraph("", "device: " + out.safe(p.device.state) + "; times and rates are the host's",
                  2);
  const auto idle = [](const device_info& d) { return !(d.sum_ns > 0) && !(d.busy_ns > 0); };
  const bool all_idle = std::all_of(p.device.devices.begin(), p.device.devices.end(), idle);
  std::vector<std::string> others;
  for (const device_info& d : p.device.devices) {
    if (all_idle || !idle(d)) out.paragraph("", device_line(out, p, d), 2);
    else others.push_back(std::to_string(d.id));
  }
  if (!others.empty())
    out.list(others.size() == 1 ? "no work on device " : "no work on devices ", others);
}

/// What happens so seldom that it is told of only where it has.
[[gnu::cold]] inline void add_rare_oddities(std::vector<oddity>& out,
                                            const device_completeness& c) {
  if (c.cut_buffers > 0)
    out.push_back({c.cut_buffers, "cut buffers",
                   "CUPTI could not read these buffers of records to their ends: what they held "
                   "is in no table, and operators that lack records of their work have no rates. "
                   "Use the libcupti of the CUDA Toolkit that the driver is of (KPROF_CUPTI)."});
  if (c.foreign_buffers > 0)
    out.push_back({c.foreign_buffers, "foreign buffers",
                   "another part of the program uses CUPTI's activity API too, and buffers of "
                   "records that it asked for came to kprof, which leaves them alone; others of "
                   "kprof's may have gone there. Run without the other tool, or set "
                   "KPROF=cupti=off."});
}

[[gnu::cold]] inline std::vector<oddity> device_oddities(const profile& p) {
  const device_completeness& c = p.device.complete;
  const std::string limit = memory_limit_of(p);
  const std::uint64_t accounted = c.attributed + c.outside + c.open;
  const std::string forgotten =
      c.forgotten_graphs == 0
          ? ""
          : ", or of the " + counted(c.forgotten_graphs, "graph", "graphs") +
                " that kprof forgot for want of memory, those not launched for longest (raise " +
                limit + ")";
  std::vector<oddity> all = {
      {c.open, "open",
       "launches of which no work on the device is known: it had not ended when the profile was "
       "taken (synchronise before the report), or "
       "there was none, as in a copy of no bytes."},
      {c.dropped, "dropped",
       "records of kernels and copies that CUPTI or kprof had no memory for: device times and "
       "counts above are too low, and operators that lack records of their work have no rates. "
       "Raise " +
           limit + ", or record a shorter run."},
      {c.untimed, "without timing",
       "records for which CUPTI gave no time; they count as runs and take none. Where they are "
       "more than one run in a thousand, rates are "
       "n/a."},
      {c.unknown, "of unknown launch",
       "records whose launch was not seen: they are in no operator, and `(unknown)` in the table "
       "of kernels. Begin recording before the "
       "first launch."},
      {c.launches_lost, "lost",
       "launches that could not be noted for want of memory; their work is of unknown launch. "
       "Raise " +
           limit + "."},
      {c.ignored, "ignored",
       "records of work launched before the recording began or while it was paused", true},
      {c.odd, "odd",
       "records of a kind that this kprof does not know, in no table. A newer kprof may know "
       "them."},
      {c.merged, "merged",
       "kernels and copies kept without name and launch configuration for want of memory; their "
       "times are in their operators. Raise " +
           limit + "."},
      {c.foreign_graphs, "of foreign graphs",
       "runs of nodes of CUDA graphs that were made before the recording began" + forgotten +
           ": which operator they belong to is not known, "
           "so they count to the scope that launched the graph. Begin recording before graphs are "
           "captured."},
      {c.launches > accounted ? c.launches - accounted : accounted - c.launches, "unaccounted",
       "launches by which the count of all differs from the sum of its parts. This is a mistake in "
       "kprof: please report it."},
  };
  add_rare_oddities(all, c);
  return all;
}

/// Launches, their records and the collector.
[[gnu::cold]] inline void print_device_facts(page& out, const profile& p) {
  if (!uses_device(p)) return;
  const device_completeness& c = p.device.complete;
  std::string text = counted(c.launches, "launch", "launches") + " = " +
                     format_count(c.attributed) + " attributed + " + format_count(c.outside) +
                     " outside any operator";
  if (c.open > 0) text += " + " + format_count(c.open) + " open";
  text += "; " + counted(c.records, "record", "records") + " of kernels, copies and memsets";
  print_oddities(out, "device", text, device_oddities(p));
  print_fact(out, "sync",
             c.synchronizations == 0
                 ? "no call that waits for a device"
                 : counted(c.synchronizations, "call that waits", "calls that wait") +
                       " for a device, " + out.time(not_negative(c.synchronizing_ns)) +
                       " of host time");
  if (p.device.collecting && !p.device.state.empty())
    print_fact(out, "collector", out.safe(p.device.state));
}

/// What collecting took, for the line of kprof's own cost.
[[gnu::cold]] inline std::string collecting_cost(const page& out, const profile& p) {
  if (!uses_device(p)) return {};
  return "; collecting " + out.time(not_negative(p.device.collecting_ns)) + "; CUPTI itself " +
         out.time(not_negative(p.device.complete.overhead_ns));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
