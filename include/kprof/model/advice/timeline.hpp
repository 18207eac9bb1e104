// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_TIMELINE_HPP
#define KPROF_MODEL_ADVICE_TIMELINE_HPP

// Rules of advice that know when things happened: what an idle device waits for. All
// speak about the stretch of the run that the devices' timeline has whole, and
// promise no more than its time. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/timeline/time_summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The device that has most of a time; null where none has any, or the timeline is not complete.
[[gnu::cold]] inline const device_time* most_of(const advice_facts& f,
                                                std::int64_t (*time)(const device_time&)) {
  const device_time* most = nullptr;
  if (f.device_times == nullptr || !f.device_times->complete) return most;
  for (const device_time& d : f.device_times->devices)
    if (time(d) > (most == nullptr ? 0 : time(*most))) most = &d;
  return most;
}

/// A time of a device's stretch as a share of it.
inline double share_of(const device_time& d, std::int64_t ns) noexcept {
  return d.activity.wall > 0 ? static_cast<double>(ns) / static_cast<double>(d.activity.wall) : 0;
}

/// "The device", "Device 1" of several.
[[gnu::cold]] inline std::string name_of(const advice_facts& f, const device_time& d) {
  return f.device_times->devices.size() == 1 ? "The device"
                                             : "Device " + std::to_string(d.activity.device);
}
/// "180 ms, 23% of its time" or, where the timeline has the end of the run only, "180 ms, 23% of
/// the last 783 ms".
[[gnu::cold]] inline std::string time_text(const advice_facts& f, const device_time& d,
                                           std::int64_t ns) {
  const auto time = as_time(static_cast<double>(ns));
  const auto share = as_share(share_of(d, ns));
  if (f.device_times->window.length() == 0) return sentence("#, # of its time", {time, share});
  return sentence("#, # of the last #",
                  {time, share, as_time(static_cast<double>(d.activity.wall))});
}
/// " in A and B", of those that have most; empty where they are in no scope.
[[gnu::cold]] inline std::string scopes_text(const std::vector<named_time>& in) {
  std::string text;
  for (std::size_t i = 0, named = 0; i < in.size() && named < 2; ++i)
    if (!in[i].name.empty()) text.append(named++ == 0 ? " in " : " and ").append(in[i].name);
  return text;
}

/// Kernels of a device that the host launched one by one, in the stretch.
struct single_kernels {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
};
[[gnu::cold]] inline single_kernels single_kernels_of(const advice_facts& f, const device_time& d) {
  single_kernels out;
  for (const timed_item& i : f.device_times->times.items) {
    const bool is_kernel = i.kind == item_kind::kernel || i.kind == item_kind::communication;
    if (i.device != d.activity.device || !is_kernel || i.graph ||
        i.span.begin < d.activity.window.begin || i.span.end > d.activity.window.end)
      continue;
    ++out.count;
    out.ns += i.span.length();
  }
  return out;
}

/// Calls that allocate or free memory of devices, in a stretch.
[[gnu::cold]] inline std::uint64_t allocations_within(const advice_facts& f, interval window) {
  std::uint64_t count = 0;
  for (const timed_call& c : f.device_times->times.calls)
    if (c.span.begin < window.end && c.span.end > window.begin && allocates(f.run, c)) ++count;
  return count;
}

namespace advice_rules {

/// G1. The host launches kernels one by one, and takes longer for it than they run.
[[gnu::cold]] inline bool launch_bound(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.late.launching; });
  if (d == nullptr || share_of(*d, d->late.launching) < 0.1) return false;
  const single_kernels kernels = single_kernels_of(f, *d);
  if (kernels.count == 0) return false;
  const double every = static_cast<double>(d->late.apart) / static_cast<double>(d->late.launches),
               run = static_cast<double>(kernels.ns) / static_cast<double>(kernels.count);
  if (run >= every) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->idle.idle);
  out.gain_ns = static_cast<double>(d->late.saved_ns);
  out.fact = sentence("waits for launches for #: they come every #, and kernels take # on average",
                      {as_text(time_text(f, *d, d->late.launching)), as_time(every), as_time(run)});
  out.action = "Capture them in a CUDA graph, fuse kernels, or give each more to do";
  return true;
}

/// S1. The host waits for the device, and the device then for the host.
[[gnu::cold]] inline bool waits_for_device(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.late.after_waits; });
  if (d == nullptr || share_of(*d, d->late.after_waits) < 0.03) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->idle.idle);
  out.gain_ns = static_cast<double>(d->late.after_waits);
  out.fact = sentence("idles behind calls that wait for it# (#): #",
                      {as_text(scopes_text(d->late.waited_in)), as_number(d->late.waits),
                       as_text(time_text(f, *d, d->late.after_waits))});
  out.action =
      "Launch what comes next before waiting, or wait less often: read results a step later, and "
      "copy them without blocking";
  return true;
}

/// S3. The device waits for the data of the next step.
[[gnu::cold]] inline bool waits_for_input(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.late.input; });
  if (d == nullptr || share_of(*d, d->late.input) < 0.05) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->idle.idle);
  out.gain_ns = static_cast<double>(d->late.input);
  out.fact = sentence("waits for the host#: #", {as_text(scopes_text(d->late.input_in)),
                                                 as_text(time_text(f, *d, d->late.input))});
  out.action = "Load the next batch meanwhile, on other threads and into pinned memory";
  return true;
}

/// S6. Memory of the device is allocated while there is work to do.
[[gnu::cold]] inline bool allocation(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.late.allocating; });
  if (d == nullptr || share_of(*d, d->late.allocating) < 0.01) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->idle.idle);
  out.gain_ns = static_cast<double>(d->late.allocating);
  out.fact = sentence("idles while the host allocates or frees its memory: #, in # calls",
                      {as_text(time_text(f, *d, d->late.allocating)),
                       as_number(allocations_within(f, d->activity.window))});
  out.action = "Such calls may wait for the device: allocate once, or by cudaMallocAsync";
  return true;
}

/// C2. Copies hold the host while the device has nothing to do.
[[gnu::cold]] inline bool blocking_copies(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.late.copying; });
  if (d == nullptr || share_of(*d, d->late.held) < 0.03) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->idle.idle);
  out.gain_ns = static_cast<double>(d->late.copying);
  out.fact = sentence(
      "idles while copies hold the host: #, in #",
      {as_text(time_text(f, *d, d->late.copying)),
       as_text(d->late.holds == 1 ? "one call" : sentence("# calls", {as_number(d->late.holds)}))});
  out.action = "Use cudaMemcpyAsync, from and to pinned memory";
  return true;
}

/// S2. The device is idle for most of the run, and no rule before knows of a reason that is worth
/// telling.
[[gnu::cold]] inline bool idle_device(const advice_facts& f, std::size_t i, advice& out) {
  const profile& p = f.run;
  const double wall = p.wall_ns - p.paused_ns;
  double busy = 0;
  for (const device_info& d : p.device.devices) busy = std::max(busy, d.busy_ns);
  if (!(wall > 0) || !(busy > 0) || busy >= 0.5 * wall || f.rows.empty()) return false;
  for (const auto rule :
       {&launch_bound, &waits_for_device, &waits_for_input, &allocation, &blocking_copies}) {
    advice better;
    if (rule(f, i, better) && better.gain_ns >= 0.01 * f.window_ns) return false;
  }
  out.where = "The device";
  out.time_ns = wall;
  out.fact = sentence("works # of the time", {as_share(busy / wall)});
  out.action = "Give it more at once: larger batches, and fewer places where the host waits";
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
