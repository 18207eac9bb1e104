// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_DEVICE_SUMS_HPP
#define KPROF_MODEL_DEVICE_SUMS_HPP

// The device's work added up over the scopes that launched it, and what was launched in no
// operator. Included by the summaries. Pure; linear in profile::nodes and device_profile::work.

#include <kprof/build_options.hpp>
#include <kprof/machine/residency.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Kernels, copies and memsets, summed.
struct device_sum {
  std::uint64_t kernels = 0;     ///< runs
  std::uint64_t copies = 0;      ///< copies and memsets
  std::uint64_t untimed = 0;     ///< of both, those without timing
  std::uint64_t gaps = 0;        ///< of both, those whose launch was seen
  std::uint64_t in_graphs = 0;   ///< of both, those that graphs ran
  std::uint64_t unrecorded = 0;  ///< launches of which not all records have come
  std::uint64_t open = 0;        ///< open calls of operators, in whose scopes work was launched
  double ns = 0;                 ///< run times, summed: concurrent runs count each
  double gap_ns = 0;             ///< from launch to start, summed over `gaps`
  double small_grid_ns = 0;      ///< of ns, that of kernels whose blocks do not fill their device

  std::uint64_t runs() const noexcept { return kernels + copies; }
  void add(const device_sum& more) noexcept {
    kernels += more.kernels;
    copies += more.copies;
    untimed += more.untimed;
    gaps += more.gaps;
    in_graphs += more.in_graphs;
    unrecorded += more.unrecorded;
    open += more.open;
    ns += more.ns;
    gap_ns += more.gap_ns;
    small_grid_ns += more.small_grid_ns;
  }
  void add(const device_work& w) noexcept {
    (w.task == device_task::kernel ? kernels : copies) += w.calls;
    untimed += std::min(w.untimed, w.calls);
    gaps += w.gaps;
    ns += detail::not_negative(w.total_ns);
    gap_ns += detail::not_negative(w.gap_ns);
  }
};

namespace detail {

/// Whether the profile has work of a device. The tables show it, and are sorted by it, only then.
inline bool has_device_work(const profile& p) noexcept { return !p.device.work.empty(); }

/// The node that launched it; none where that is not known.
inline std::uint32_t scope_of(const profile& p, const device_work& w) noexcept {
  return w.scope < p.nodes.size() ? w.scope : scope_node::none;
}

/// All work of the devices: what shares of device time are shares of.
inline device_sum all_device_work(const profile& p) noexcept {
  device_sum all;
  for (const device_work& w : p.device.work) all.add(w);
  return all;
}

inline double share_of(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

/// A rate over device time: not known where more than one run in a thousand has no time.
inline absence device_time_known(const device_sum& sum) noexcept {
  return sum.untimed > sum.runs() / 1000 ? absence::untimed : absence::none;
}

/// The same of all that needs every record of some work: not known where more than one in a
/// thousand may be missing. A kernel's launch shows by itself whether its record is missing; a
/// graph and a copy, which may leave many, do not, so each record that was dropped may be of their
/// work.
inline absence records_known(const profile& p, const device_sum& sum) noexcept {
  const device_completeness& c = p.device.complete;
  const std::uint64_t of_many = sum.in_graphs + sum.copies;
  const bool lost_buffers = c.cut_buffers + c.foreign_buffers > 0;  // of unknown many records
  if (of_many > 0 && (lost_buffers || c.dropped > of_many / 1000)) return absence::dropped;
  if (sum.unrecorded > sum.runs() / 1000)
    return lost_buffers || c.dropped > 0 ? absence::dropped : absence::not_all_records;
  // nobody knows whose they are
  return c.launches_lost > c.launches / 1000 ? absence::lost : absence::none;
}

/// The same of what the formulas of calls say, over all of the time on the device: those of an open
/// call do not count yet.
inline absence calls_known(const device_sum& sum) noexcept {
  return sum.open > 0 ? absence::open_calls : absence::none;
}

/// Whether the blocks of a kernel do not fill its device once.
inline bool has_small_grid(const profile& p, const device_work& w) {
  if (w.task != device_task::kernel) return false;
  for (const device_info& d : p.device.devices)
    if (d.id == w.device) {
      const kernel_occupancy filled = occupancy_of(d, w);
      return filled.unknown == nullptr && filled.waves > 0 && filled.waves < 1;
    }
  return false;
}

/// For each node the outermost graph around it, which may be the node itself; none where there is
/// none.
inline std::vector<std::uint32_t> graphs_around(const profile& p) {
  std::vector<std::uint32_t> around(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t parent = parent_of(p, i);
    if (parent != scope_node::none) around[i] = around[parent];
    if (around[i] == scope_node::none && p.nodes[i].kind == scope_kind::graph)
      around[i] = static_cast<std::uint32_t>(i);
  }
  return around;
}

/// By node: what was launched right in it, and that with all below it. Both are empty where no work
/// was launched at all. What is not known of a graph is not known of any scope in it.
struct device_sums {
  std::vector<device_sum> own, whole;

  explicit device_sums(const profile& p) {
    const auto lacks_records = [](const scope_node& n) { return n.unrecorded != 0; };
    if (!has_device_work(p) && std::none_of(p.nodes.begin(), p.nodes.end(), lacks_records)) return;
    own.resize(p.nodes.size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i].unrecorded = p.nodes[i].unrecorded;
    const std::vector<std::uint32_t> graphs = graphs_around(p);
    for (const device_work& w : p.device.work) {
      const std::uint32_t node = scope_of(p, w);
      if (node == scope_node::none) continue;
      own[node].add(w);
      if (has_small_grid(p, w)) own[node].small_grid_ns += not_negative(w.total_ns);
      if (graphs[node] != scope_node::none) own[node].in_graphs += w.calls;
    }
    whole = own;
    for (std::size_t i = p.nodes.size(); i-- > 0;) {  // a parent comes before its children
      const scope_node& n = p.nodes[i];
      if (n.open != 0 && n.kind == scope_kind::op && whole[i].runs() > 0 &&
          (says_flops(n) || says_bytes(n)))
        own[i].open = n.open, whole[i].open += n.open;
      if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
        whole[parent].add(whole[i]);
    }
    for (std::size_t i = 0; i < own.size(); ++i)
      if (graphs[i] != scope_node::none && graphs[i] != i)
        whole[i].unrecorded += p.nodes[graphs[i]].unrecorded;
  }
};

}  // namespace detail

/// Work of one kernel, or of copies or memsets.
struct named_work {
  std::string name;  ///< readable name of the kernel, "copy" or "memset"
  device_sum sum;
};

/// Work that was launched in no operator: in regions, outside all scopes, and work whose launch was
/// not seen.
struct work_outside {
  device_sum all;
  device_sum unknown;             ///< of these, work whose launch was not seen
  std::vector<named_work> names;  ///< most time first
};

namespace detail {

/// A number for what a work is called: that of its kernel, then one for merged kernels, copies and
/// memsets.
inline std::uint32_t name_number(const profile& p, const device_work& w) noexcept {
  const auto kernels = static_cast<std::uint32_t>(p.device.kernels.size());
  if (w.task != device_task::kernel) return kernels + (w.task == device_task::copy ? 1 : 2);
  return std::min(w.kernel, kernels);
}

inline std::string work_name(const profile& p, std::uint32_t number) {
  const std::size_t kernels = p.device.kernels.size();
  if (number < kernels) return kernel_name(p.device.kernels[number]);
  return number == kernels ? "(other kernels)" : number == kernels + 1 ? "copy" : "memset";
}

}  // namespace detail

/// Adds up the work that no operator accounts for.
///     const kprof::work_outside rest = kprof::outside_operators(run);   // rest.all.ns,
///                                                                       rest.names[0].name
inline work_outside outside_operators(const profile& p) {
  work_outside out;
  if (!detail::has_device_work(p)) return out;
  const std::vector<std::uint32_t> operators = detail::operators_around(p);
  std::vector<device_sum> by_name(p.device.kernels.size() + 3);
  for (const device_work& w : p.device.work) {
    const std::uint32_t node = detail::scope_of(p, w);
    if (node != scope_node::none && operators[node] != scope_node::none) continue;
    out.all.add(w);
    if (node == scope_node::none) out.unknown.add(w);
    by_name[detail::name_number(p, w)].add(w);
  }
  for (std::uint32_t i = 0; i < by_name.size(); ++i)
    if (by_name[i].runs() > 0 || by_name[i].ns > 0)
      out.names.push_back({detail::work_name(p, i), by_name[i]});
  detail::sort_table(out.names,
                     [](const named_work& a, const named_work& b) { return a.sum.ns > b.sum.ns; });
  return out;
}

KPROF_DETAIL_END

#endif
