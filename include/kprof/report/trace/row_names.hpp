// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_ROW_NAMES_HPP
#define KPROF_REPORT_TRACE_ROW_NAMES_HPP

// What a trace says of itself, in any format: names of threads, devices and streams, properties of
// devices, and what is left out. Included by trace.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/write/version_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::string name_of_program(const profile& p) {
  return p.program.empty() ? "program" : p.program;
}
inline std::string name_of_thread(const profile& p, std::size_t thread) {
  const thread_info& t = p.threads[thread];
  if (t.merged > 0) return std::to_string(t.merged) + " threads kept together";
  return t.name.empty() ? "thread " + std::to_string(t.id) : t.name;
}
/// What CUPTI told of a device; nullptr: nothing.
inline const device_info* described_device(const profile& p, std::uint32_t device) noexcept {
  for (const device_info& d : p.device.devices)
    if (d.id == device) return &d;
  return nullptr;
}
inline std::string name_of_device(const profile& p, std::uint32_t device) {
  const device_info* const info = described_device(p, device);
  return "GPU " + std::to_string(device) + (info == nullptr ? "" : ' ' + info->name);
}
inline std::string name_of_stream(const traced_stream& s) {
  return "stream " + std::to_string(s.stream);
}
/// Of a row beside the first one of a thread or a stream.
inline std::string numbered_row(const std::string& name, std::size_t row) {
  return name + " (" + std::to_string(row + 1) + ')';
}

template <class Args>
void add_device(const profile& p, std::uint32_t device, Args& args) {
  const device_info* const d = described_device(p, device);
  args.text("name", d == nullptr ? std::string_view{"GPU"} : std::string_view{d->name});
  if (d == nullptr || !d->described) return;
  args.integer("totalGlobalMem", d->memory_bytes);
  args.integer("computeMajor", d->compute_major);
  args.integer("computeMinor", d->compute_minor);
  args.integer("numSms", d->multiprocessors);
}

/// What the trace leaves out is counted, as is what the profile lacks itself.
template <class Args>
void add_what_is_missing(const profile& p, const trace_gaps& gaps, Args& args) {
  args.text("version", version_text());
  args.integer("scopes", p.timeline.size());
  args.integer("scopes recorded", p.complete.recorded);
  args.integer("scopes dropped", p.complete.dropped);
  args.integer("device items", p.device.timeline.items.size());
  args.integer("device items dropped", p.device.timeline.dropped_items);
  args.integer("calls dropped", p.device.timeline.dropped_calls);
  if (!p.steps.empty()) {
    args.integer("steps", p.steps.size());
    args.integer("steps recorded", steps_in_all(p));
  }
  if (const std::string kept = kept_steps_text(p); !kept.empty()) args.text("older steps", kept);
  args.integer("left out without time", gaps.untimed);
  args.integer("left out without place", gaps.unplaced);
  args.integer("left out for want of rows", gaps.crowded);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
