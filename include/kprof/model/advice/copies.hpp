// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_COPIES_HPP
#define KPROF_MODEL_ADVICE_COPIES_HPP

// Rules of advice about copies and memsets. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/names.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// What pinned memory reaches where the run has none to compare with: PCIe 3 with 16 lanes.
inline constexpr double pinned_bytes_per_s = 12e9;

inline bool is_pageable(const copy_row& copy) noexcept {
  return copy.from == memory_place::pageable || copy.to == memory_place::pageable;
}
inline double mean_bytes(const copy_row& copy) noexcept {
  return static_cast<double>(copy.bytes) / static_cast<double>(copy.calls);
}

/// What kprof measured of the link in this direction; 0 where it did not.
[[gnu::cold]] inline double measured_link(const profile& p, copy_direction direction) noexcept {
  const gpu_ceilings* const gpu = only_gpu(p);
  if (gpu == nullptr) return 0;
  if (direction == copy_direction::host_to_device) return gpu->to_device_bytes;
  return direction == copy_direction::device_to_host ? gpu->from_device_bytes : 0;
}

/// The highest rate of the run's copies of this direction from pinned memory, of 64 KiB or more;
/// else what the link was measured at, or that of PCIe.
[[gnu::cold]] inline double pinned_rate(const advice_facts& f, const copy_row& like) noexcept {
  double rate = 0;
  for (const copy_row& c : f.copies)
    if (c.task == device_task::copy && c.direction == like.direction && !is_pageable(c) &&
        c.calls > 0 && mean_bytes(c) >= 65536 && c.bytes_per_s.known() &&
        c.bytes_per_s.value > rate)
      rate = c.bytes_per_s.value;
  if (rate > 0) return rate;
  const double link = measured_link(f.run, like.direction);
  return link > 0 ? link : pinned_bytes_per_s;
}

[[gnu::cold]] inline const char* name_of(copy_direction direction) noexcept {
  switch (direction) {
    case copy_direction::host_to_device: return "Copies to the device";
    case copy_direction::device_to_host: return "Copies to the host";
    case copy_direction::device_to_device: return "Copies on the device";
    case copy_direction::host_to_host: return "Copies on the host";
    case copy_direction::peer_to_peer: return "Copies between devices";
    case copy_direction::unknown: break;
  }
  return "Copies";
}

/// How often a loop may gather its copies anew: in each step; 1 where there are no steps.
[[gnu::cold]] inline double rounds_of(const profile& p) noexcept {
  std::uint64_t steps = 0;
  for (const thread_steps& t : p.stepping.threads) steps += t.count;
  return steps > 1 ? static_cast<double>(steps) : 1;
}

namespace advice_rules {

/// C1. Copies from or to memory that the system may page out.
[[gnu::cold]] inline bool pageable(const advice_facts& f, std::size_t i, advice& out) {
  const copy_row& copy = f.copies[i];
  if (copy.task != device_task::copy || copy.merged || copy.calls == 0 || !is_pageable(copy) ||
      !copy.bytes_per_s.known() || mean_bytes(copy) < 65536)
    return false;
  const double pinned = pinned_rate(f, copy);
  if (copy.bytes_per_s.value >= pinned) return false;
  out.where = name_of(copy.direction);
  out.gain_ns = copy.total_ns * (1 - copy.bytes_per_s.value / pinned);
  out.fact = sentence("move # through pageable memory at #",
                      {as_bytes(static_cast<double>(copy.bytes)), as_rate(copy.bytes_per_s.value)});
  out.action = sentence("Pin it (cudaHostAlloc): # can be had", {as_rate(pinned)});
  return true;
}

/// C3. Many small copies.
[[gnu::cold]] inline bool small_copies(const advice_facts& f, std::size_t i, advice& out) {
  const copy_row& copy = f.copies[i];
  const double rounds = rounds_of(f.run);
  if (copy.task != device_task::copy || copy.merged || copy.bytes == 0 ||
      static_cast<double>(copy.calls) < 100 * rounds || !copy.bytes_per_s.known() ||
      mean_bytes(copy) >= 65536)
    return false;
  const auto calls = static_cast<double>(copy.calls);
  const double alone = copy.total_ns / calls,
               streamed = mean_bytes(copy) / pinned_rate(f, copy) * 1e9;
  if (streamed >= alone) return false;
  out.where = name_of(copy.direction);
  out.gain_ns = (calls - rounds) * (alone - streamed);
  out.fact = sentence(rounds > 1 ? "are # a step of # on average" : "are # of # on average",
                      {as_number(calls / rounds), as_bytes(mean_bytes(copy))});
  out.action = "Gather them into few large ones";
  return true;
}

/// C6. Large copies from and to pinned memory are far slower than the link.
[[gnu::cold]] inline bool slow_link(const advice_facts& f, std::size_t i, advice& out) {
  const copy_row& copy = f.copies[i];
  const double link = measured_link(f.run, copy.direction);
  if (copy.task != device_task::copy || copy.merged || copy.calls == 0 || !(link > 0) ||
      (copy.from != memory_place::pinned && copy.to != memory_place::pinned) ||
      !copy.bytes_per_s.known() || mean_bytes(copy) < 1 << 20 ||
      copy.bytes_per_s.value >= 0.6 * link)
    return false;
  out.where = name_of(copy.direction);
  out.gain_ns = copy.total_ns * (1 - copy.bytes_per_s.value / link);
  out.fact = sentence(
      "move # between pinned memory and the device at # of the # that the link does",
      {as_bytes(static_cast<double>(copy.bytes)), as_rate(copy.bytes_per_s.value), as_rate(link)});
  out.action =
      "Look for copies in both directions at a time, memory of a far NUMA node, or a link that "
      "other devices share";
  return true;
}

/// C7. Memory is cleared at length.
[[gnu::cold]] inline bool clearing(const advice_facts& f, std::size_t i, advice& out) {
  const copy_row& set = f.copies[i];
  if (set.task != device_task::set || set.total_ns < 0.02 * f.device_ns) return false;
  out.where = "Memsets";
  out.gain_ns = set.total_ns;
  out.fact = sentence("clear # in # calls",
                      {as_bytes(static_cast<double>(set.bytes)), as_number(set.calls)});
  out.action = "Let the first kernel write instead of adding up, or clear once";
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
