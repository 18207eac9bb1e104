// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COPY_TABLE_HPP
#define KPROF_MODEL_COPY_TABLE_HPP

// Copies and memsets of a profile, by kind. Include it to use their numbers in a program. Pure;
// linear in device_profile::work.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Copies of one kind between the same kinds of memory, or memsets, of one device.
struct copy_row {
  device_task task = device_task::copy;  ///< copy or set
  copy_direction direction = copy_direction::unknown;
  memory_place from = memory_place::unknown;
  memory_place to = memory_place::unknown;
  bool merged = false;  ///< of differing kinds, kept together for want of memory
  std::uint32_t device = 0;
  std::uint64_t calls = 0;
  std::uint64_t untimed = 0;  ///< of these, those without timing
  std::uint64_t bytes = 0;
  double total_ns = 0;   ///< summed: concurrent copies count each
  double share = 0;      ///< of the time of all work of the devices; 0 to 1
  figure bytes_per_s{};  ///< bytes over total_ns
};

/// "host to device", "memset".
inline const char* copy_name(const copy_row& row) noexcept {
  if (row.task == device_task::set) return row.merged ? "(other memsets)" : "memset";
  if (row.merged) return "(other copies)";
  switch (row.direction) {
    case copy_direction::host_to_device: return "host to device";
    case copy_direction::device_to_host: return "device to host";
    case copy_direction::device_to_device: return "device to device";
    case copy_direction::host_to_host: return "host to host";
    case copy_direction::peer_to_peer: return "peer to peer";
    case copy_direction::unknown: break;
  }
  return "copy";
}
inline const char* memory_name(memory_place place) noexcept {
  switch (place) {
    case memory_place::pageable: return "pageable";
    case memory_place::pinned: return "pinned";
    case memory_place::device: return "device";
    case memory_place::array: return "array";
    case memory_place::managed: return "managed";
    case memory_place::unknown: break;
  }
  return "unknown";
}

/// The copies and memsets for which keep(const device_work&) returns true, most time first.
template <class Keep>
std::vector<copy_row> copy_table(const profile& p, Keep keep) {
  detail::key_numbers numbers(0);
  std::vector<copy_row> table;
  for (const device_work& w : p.device.work) {
    if (w.task == device_task::kernel || !keep(w)) continue;
    const bool copy = w.task == device_task::copy;
    const auto [number, is_new] = numbers.of(
        {{static_cast<std::uint32_t>(w.task), copy ? static_cast<std::uint32_t>(w.direction) : 0,
          copy ? static_cast<std::uint32_t>(w.from) : 0, static_cast<std::uint32_t>(w.to), w.device,
          w.merged ? 1U : 0U}});
    if (is_new)
      table.push_back({.task = w.task,
                       .direction = w.direction,
                       .from = copy ? w.from : memory_place::unknown,
                       .to = w.to,
                       .merged = w.merged,
                       .device = w.device});
    copy_row& row = table[number];
    row.calls += w.calls;
    row.untimed += std::min(w.untimed, w.calls);
    row.bytes += w.bytes;
    row.total_ns += detail::not_negative(w.total_ns);
  }
  const double all = detail::all_device_work(p).ns;
  for (copy_row& row : table) {
    row.share = detail::share_of(row.total_ns, all);
    const absence timed = detail::device_time_known({.copies = row.calls, .untimed = row.untimed});
    row.bytes_per_s = detail::ratio({static_cast<double>(row.bytes), timed}, row.total_ns * 1e-9,
                                    absence::no_time);
  }
  detail::sort_table(table,
                     [](const copy_row& a, const copy_row& b) { return a.total_ns > b.total_ns; });
  return table;
}

/// All copies and memsets.
///     for (const auto& row : kprof::copy_table(run)) use(row.direction, row.bytes_per_s);
inline std::vector<copy_row> copy_table(const profile& p) {
  return copy_table(p, [](const device_work&) { return true; });
}

KPROF_DETAIL_END

#endif
