// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_DEVICE_FIGURES_HPP
#define KPROF_MODEL_TIMELINE_DEVICE_FIGURES_HPP

// How full a device was, by the formulas of Kineto and PyTorch's TensorBoard plugin: estimated SM
// efficiency and achieved occupancy. Estimates of grids and registers; no counter is read. Pure,
// n log n.

#include <kprof/build_options.hpp>
#include <kprof/machine/residency.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// Shares from 0 to 1; negative where they are not known.
struct device_figures {
  std::uint32_t device = 0;
  interval window;
  double utilisation = -1;         ///< of the window, with at least one kernel
  double sm_efficiency = -1;       ///< of the multiprocessors, with a block; over the window
  double achieved_occupancy = -1;  ///< of their warps, over the time of the kernels
  std::uint64_t unknown = 0;       ///< kernels whose launch configuration is not known: 0 in sums
  const char* why = nullptr;       ///< not known, where it is not
};

/// Of a kernel: its blocks on each multiprocessor, and the share of the warps that they fill.
struct kernel_fill {
  double blocks = 0;
  double occupancy = 0;
  bool known = false;
};

[[gnu::cold]] inline kernel_fill fill_of(const device_info& device, const device_work& w) {
  kernel_fill out;
  if (w.merged || device.multiprocessors == 0 || w.grid[0] == 0) return out;
  out.blocks = static_cast<double>(w.grid[0]) * w.grid[1] * w.grid[2] / device.multiprocessors;
  const kernel_occupancy resident = occupancy_of(device, w);
  out.known = resident.unknown == nullptr;
  if (!out.known || resident.blocks == 0 || resident.share <= 0) return out;
  const double threads = static_cast<double>(w.block[0]) * w.block[1] * w.block[2];
  const double most_threads = 32.0 * resident.warps / resident.share;
  out.occupancy =
      std::min(out.blocks, static_cast<double>(resident.blocks)) * threads / most_threads;
  return out;
}

namespace detail {

/// The integral of min(1, blocks on each multiprocessor) over time.
class filled_time {
 public:
  void add(interval span, double blocks) {
    changes_.push_back({span.begin, blocks});
    changes_.push_back({span.end, -blocks});
  }
  [[gnu::cold]] double sum() {
    sort_plain(changes_, [](const change& a, const change& b) { return a.at < b.at; });
    double filled = 0, blocks = 0;
    std::size_t running = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (i > 0)
        filled += std::min(1.0, blocks) * static_cast<double>(changes_[i].at - changes_[i - 1].at);
      blocks += changes_[i].blocks;
      running = changes_[i].blocks < 0 ? running - 1 : running + 1;
      if (running == 0) blocks = 0;  // what rounding has left
    }
    return filled;
  }

 private:
  struct change {
    std::int64_t at = 0;
    double blocks = 0;
  };
  std::vector<change> changes_;
};

}  // namespace detail

/// `window`: where it is empty, from the first start to the last end.
[[gnu::cold]] inline device_figures figures_of(const profile& p, const run_times& times,
                                               std::uint32_t device, interval window = {}) {
  device_figures out;
  const device_activity activity = activity_of(times, device, all_streams, window);
  out.device = device;
  out.window = activity.window;
  const auto wall = static_cast<double>(activity.wall);
  if (activity.wall == 0) {
    out.why = "nothing ran on the device";
    return out;
  }
  out.utilisation = static_cast<double>(activity.kernels) / wall;
  const auto info = std::find_if(p.device.devices.begin(), p.device.devices.end(),
                                 [device](const device_info& d) { return d.id == device; });
  if (info == p.device.devices.end() || !info->described || info->multiprocessors == 0) {
    out.why = "the device was not described";
    return out;
  }
  std::vector<kernel_fill> fills;
  for (const device_work& w : p.device.work)
    fills.push_back(w.device == device && w.task == device_task::kernel ? fill_of(*info, w)
                                                                        : kernel_fill{});
  detail::filled_time filled;
  double occupied = 0, ran = 0;
  for (const timed_item& i : times.items) {
    if (i.device != device || (i.kind != item_kind::kernel && i.kind != item_kind::communication))
      continue;
    const interval span{std::max(i.span.begin, out.window.begin),
                        std::min(i.span.end, out.window.end)};
    if (span.length() == 0) continue;
    const kernel_fill& fill = fills[i.work];
    const auto ns = static_cast<double>(span.length());
    if (fill.blocks > 0) filled.add(span, fill.blocks);
    if (!fill.known) ++out.unknown;
    occupied += fill.occupancy * ns;
    ran += ns;
  }
  out.sm_efficiency = filled.sum() / wall;
  if (ran > 0) out.achieved_occupancy = occupied / ran;
  else out.why = "no kernel ran";
  return out;
}

KPROF_DETAIL_END

#endif
