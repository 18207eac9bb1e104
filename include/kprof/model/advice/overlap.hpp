// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_OVERLAP_HPP
#define KPROF_MODEL_ADVICE_OVERLAP_HPP

// Rules of advice about what a busy device does: communication and copies beside no kernel, copies
// there and back, kernels that might be one. As those of timeline.hpp, they speak about the stretch
// that the devices' timeline has whole. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/advice/timeline.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/timeline/time_summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::int64_t exposed_communication_of(const device_time& d) noexcept {
  return d.activity.exposed_communication;
}

/// Kernels of a stream that follow one another in one scope, each of an operator whose bytes bound
/// it and whose call it is alone.
struct kernel_chain {
  static constexpr std::size_t least = 3;

  std::vector<std::uint32_t> nodes;
  std::int64_t ns = 0;
  double bytes = 0;
  double outer_bytes = 0;  ///< the first one's reads and the last one's writes
};

/// All chains of a device, and the one that takes longest of them.
struct kernel_chains {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
  double bytes = 0, outer_bytes = 0;
  kernel_chain longest;

  void add(const kernel_chain& c) {
    if (c.nodes.size() < kernel_chain::least) return;
    ++count;
    ns += c.ns;
    bytes += c.bytes;
    outer_bytes += c.outer_bytes;
    if (longest.nodes.empty() || c.ns > longest.ns) longest = c;
  }
};

/// Whether each call of the node's row is one kernel, bound by its bytes.
[[gnu::cold]] inline bool is_one_pass(const advice_facts& f, std::uint32_t node) noexcept {
  if (node >= f.row_of.size() || f.row_of[node] == scope_node::none) return false;
  const operator_row& row = f.rows[f.row_of[node]];
  return row.on_device && row.verdict.bound == bound_by::memory && row.kernels == row.calls &&
         f.run.nodes[node].kind == scope_kind::op && f.run.nodes[node].work.has_bytes;
}

[[gnu::cold]] inline kernel_chains chains_of(const advice_facts& f, const device_time& d) {
  kernel_chains out;
  const run_times& times = f.device_times->times;
  for (const item_stream& s : times.streams) {
    if (s.device != d.activity.device) continue;
    kernel_chain chain;
    for (std::size_t i = s.first; i < s.last; ++i) {
      const timed_item& item = times.items[i];
      const bool is_inside =
          item.span.begin >= d.activity.window.begin && item.span.end <= d.activity.window.end;
      if (!is_inside || item.kind != item_kind::kernel || !is_one_pass(f, item.scope)) {
        out.add(chain);
        chain = {};
        continue;
      }
      if (!chain.nodes.empty() &&
          parent_of(f.run, item.scope) != parent_of(f.run, chain.nodes.back())) {
        out.add(chain);
        chain = {};
      }
      const work_per_call& work = f.run.nodes[item.scope].work;
      const auto read = static_cast<double>(work.bytes_read),
                 written = static_cast<double>(work.bytes_written);
      if (chain.nodes.empty()) chain.outer_bytes = read + written;
      else
        chain.outer_bytes +=
            written - static_cast<double>(f.run.nodes[chain.nodes.back()].work.bytes_written);
      chain.nodes.push_back(item.scope);
      chain.ns += item.span.length();
      chain.bytes += read + written;
    }
    out.add(chain);
  }
  return out;
}

namespace advice_rules {

/// S4. Communication runs beside no computation.
[[gnu::cold]] inline bool communication(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, &exposed_communication_of);
  if (d == nullptr || share_of(*d, exposed_communication_of(*d)) <= 0.1) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->activity.communication);
  out.gain_ns = static_cast<double>(d->activity.exposed_communication);
  out.fact = sentence("communicates while no kernel computes: #",
                      {as_text(time_text(f, *d, d->activity.exposed_communication))});
  out.action =
      "Start it as soon as its data is there, on a stream of its own; or send less: fewer bits, or "
      "larger batches between two exchanges";
  return true;
}

/// S5. Little of the communication runs beside computation. Where S4 speaks, it is silent.
[[gnu::cold]] inline bool poor_overlap(const advice_facts& f, std::size_t i, advice& out) {
  const device_time* const d = most_of(f, &exposed_communication_of);
  advice other;
  if (d == nullptr || share_of(*d, exposed_communication_of(*d)) < 0.05 ||
      d->activity.overlap_share() >= 0.5 || communication(f, i, other))
    return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->activity.communication);
  out.gain_ns =
      static_cast<double>(d->activity.exposed_communication) * (1 - d->activity.overlap_share());
  out.fact = sentence("computes during # of its communication; the rest takes #",
                      {as_share(d->activity.overlap_share()),
                       as_text(time_text(f, *d, d->activity.exposed_communication))});
  out.action = "Start it earlier, on a stream of its own";
  return true;
}

/// C5. Data goes to the host and straight back.
[[gnu::cold]] inline bool there_and_back(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.round_trips.ns; });
  if (d == nullptr || share_of(*d, d->round_trips.ns) < 0.01) return false;
  const copy_round_trips& trips = d->round_trips;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->activity.copies);
  out.gain_ns = static_cast<double>(trips.ns);
  const std::string times =
      trips.count == 1 ? "once" : sentence("# times", {as_number(trips.count)});
  out.fact = sentence("sends # to the host and takes as much straight back (#): #",
                      {as_bytes(static_cast<double>(trips.bytes)), as_text(times),
                       as_text(time_text(f, *d, trips.ns))});
  out.action = "Let the device do what the host does in between";
  return true;
}

/// C4. Copies run beside no kernel. Those that C5 speaks about are not meant.
[[gnu::cold]] inline bool exposed_copies(const advice_facts& f, std::size_t i, advice& out) {
  const device_time* const d =
      most_of(f, [](const device_time& t) { return t.activity.exposed_copies; });
  if (d == nullptr) return false;
  advice other;
  std::int64_t ns = d->activity.exposed_copies;
  if (there_and_back(f, i, other)) ns -= std::min(ns, d->round_trips.ns);
  if (share_of(*d, ns) < 0.05) return false;
  out.where = name_of(f, *d);
  out.time_ns = static_cast<double>(d->activity.copies);
  out.gain_ns = static_cast<double>(ns);
  out.fact = sentence("copies while no kernel computes: #", {as_text(time_text(f, *d, ns))});
  out.action = "Copy on a stream of its own, into a second buffer, while kernels use the first";
  return true;
}

/// G2. Kernels that each move their bytes, one behind the other.
[[gnu::cold]] inline bool neighbours(const advice_facts& f, std::size_t, advice& out) {
  const gpu_ceilings* const gpu = only_gpu(f.run);
  const device_time* const d = most_of(f, [](const device_time& t) { return t.activity.compute; });
  if (gpu == nullptr || !(gpu->memory_bytes > 0) || d == nullptr) return false;
  const kernel_chains chains = chains_of(f, *d);
  if (chains.count == 0 || share_of(*d, chains.ns) < 0.03) return false;
  std::string names;
  for (const std::uint32_t node : chains.longest.nodes) {
    const std::string& name = f.run.nodes[node].name;
    if (names.size() + name.size() > 60) {
      names += " ...";
      break;
    }
    names.append(names.empty() ? "" : ", ").append(name);
  }
  out.where = names;
  out.node = chains.longest.nodes[0];
  out.time_ns = static_cast<double>(chains.ns);
  out.gain_ns = (chains.bytes - chains.outer_bytes) / gpu->memory_bytes * 1e9;
  out.fact = sentence(
      "and the like are bound by memory and follow one another: #, in which they "
      "move #",
      {as_text(time_text(f, *d, chains.ns)), as_bytes(chains.bytes)});
  out.action = sentence("Fused into one kernel each time, they would move # at the least",
                        {as_bytes(chains.outer_bytes)});
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
