// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_KERNEL_TABLE_HPP
#define KPROF_MODEL_KERNEL_TABLE_HPP

// The kernels of a profile, one row for each operator, kernel and launch configuration. Include it
// to use their numbers in a program. Pure: no I/O, no clock. Time and memory are linear in
// profile::nodes and device_profile::work, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_row.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/tensor_core.hpp>
#include <kprof/model/tiles.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/occupancy.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

namespace detail {

/// Sums the work of one row.
struct kernel_sum {
  kernel_row row;
  const device_work* first = nullptr;
  double min_ns = HUGE_VAL, max_ns = 0, flops = 0, bytes = 0;
  absence no_flops = absence::none, no_bytes = absence::none;
  std::uint32_t first_pass = 0;  // its number
  row_roofs roofs;
  double small_grid_ns = 0;

  [[gnu::cold]] void begin(const profile& p, const device_work& w, const work_place& at,
                           const std::string& pass, const std::string& kernel) {
    row.place = at.place;
    first_pass = at.pass;
    if (at.op != scope_node::none) {
      const scope_node& op = p.nodes[at.op];
      row.op = op.name;
      row.node = at.op;
      row.parameters_merged = op.merged;
    }
    row.pass = pass;
    row.kernel = kernel;
    row.device = w.device;
    std::copy(w.grid, w.grid + 3, row.grid);
    std::copy(w.block, w.block + 3, row.block);
    row.registers = w.registers;
    row.shared = w.static_shared + w.dynamic_shared;
    row.multiprocessor_shared = w.multiprocessor_shared;
    std::copy(w.cluster, w.cluster + 3, row.cluster);
    row.cooperative = w.cooperative;
    first = &w;
  }

  /// Where the shared memory of a multiprocessor differs among the runs, with the most that it has.
  [[gnu::cold]] kernel_occupancy occupancy(const profile& p) const {
    if (row.several_configurations) return {.unknown = "several configurations"};
    device_work w = *first;
    w.multiprocessor_shared = row.multiprocessor_shared;
    for (const device_info& d : p.device.devices)
      if (d.id == w.device) return occupancy_of(d, w);
    return row.occupancy;
  }

  void add(const profile& p, const device_work& w, const work_place& at, const operator_kernels* of,
           const roofline& roof) {
    row.several_passes = row.several_passes || at.pass != first_pass;
    row.several_devices = row.several_devices || w.device != row.device;
    row.several_configurations =
        row.several_configurations || w.merged || !std::equal(w.grid, w.grid + 3, row.grid) ||
        !std::equal(w.block, w.block + 3, row.block) || w.registers != row.registers ||
        w.static_shared + w.dynamic_shared != row.shared ||
        !std::equal(w.cluster, w.cluster + 3, row.cluster) || w.cooperative != row.cooperative;
    if (w.multiprocessor_shared != first->multiprocessor_shared) row.multiprocessor_shared = 0;
    const std::uint64_t untimed = std::min(w.untimed, w.calls);
    if (w.calls > untimed) {
      min_ns = std::min(min_ns, not_negative(w.min_ns));
      max_ns = std::max(max_ns, not_negative(w.max_ns));
    }
    row.calls += w.calls;
    row.untimed += untimed;
    row.total_ns += not_negative(w.total_ns);
    if (of != nullptr) row.invalid = row.invalid || !of->valid;
    add_work(p, w, at, of);
    if (has_small_grid(p, w)) small_grid_ns += not_negative(w.total_ns);
    if (of != nullptr) roofs.add(roof.of(at.op), static_cast<double>(w.calls - untimed));
  }

  void add_work(const profile& p, const device_work& w, const work_place& at,
                const operator_kernels* of) {
    if (of == nullptr) {
      no_flops = no_bytes = absence::no_operator;
      return;
    }
    // Which kernels a call runs is known only where all records have come.
    const absence shared = std::max(records_known(p, of->work),
                                    of->only_one() ? absence::none : absence::several_kernels);
    no_flops = std::max({no_flops, of->no_flops, shared});
    no_bytes = std::max({no_bytes, of->no_bytes, shared});
    const work_per_call& work = p.nodes[at.op].work;
    flops += static_cast<double>(w.calls) * static_cast<double>(work.flops);
    bytes += static_cast<double>(w.calls) *
             (static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written));
  }

  [[gnu::cold]] kernel_row finish(const profile& p, double all_device_ns) {
    const std::uint64_t timed = row.calls - row.untimed;
    const absence why = row.calls == 0 ? absence::no_calls
                        : timed == 0   ? absence::untimed
                                       : absence::none;
    const auto time = [&](double ns) { return figure{why == absence::none ? ns : 0, why}; };
    row.share = share_of(row.total_ns, all_device_ns);
    row.mean_ns = time(row.total_ns / static_cast<double>(std::max<std::uint64_t>(timed, 1)));
    row.min_ns = time(min_ns);
    row.max_ns = time(max_ns);
    row.flops = {no_flops == absence::none ? flops : 0, no_flops};
    row.bytes = {no_bytes == absence::none ? bytes : 0, no_bytes};
    // Where bytes alone are known, they say something too.
    const absence work = row.flops.why == absence::no_flops ? row.bytes.why : row.flops.why;
    row.verdict = judge(
        roofs.by(1, row.total_ns, 0).roofs,
        {.time_ns = row.total_ns,
         .timed = std::max(why, work),
         .is_short = row.mean_ns.value<5000, .small_grids = small_grid_ns> 0.5 * row.total_ns});
    row.occupancy = occupancy(p);
    if (row.operators > 1) row.op.clear();
    if (row.several_passes) row.pass.clear();
    if (row.regions > 1) row.region.clear();
    row.also_in_none = row.also_in_none && row.regions > 0;
    return std::move(row);
  }
};

/// Puts work into rows.
class kernel_summing {
 public:
  /// `kept`: which of the profile's work is looked at.
  [[gnu::cold]] kernel_summing(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : p_(p),
        by_parameters_(by.has(group_key::parameters)),
        by_thread_(by.has(group_key::thread)),
        keys_(p),
        places_(p),
        roofs_(p, device_sums(p)),
        groups_(p, by),
        rows_(p.device.work.size()) {
    for (std::size_t i = 0; i < p.nodes.size() && has_device_work(p); ++i)
      groups_.look_at(static_cast<std::uint32_t>(i));
    for (const std::string& name : p.device.kernels) names_.push_back(kernel_name(name));
    for (const std::string& name : names_) on_tensor_cores_.push_back(name_says_tensor_core(name));
    for (std::size_t i = 0; i < p.device.work.size(); ++i)
      if (p.device.work[i].task == device_task::kernel && kept[i]) add(p.device.work[i]);
  }

  [[gnu::cold]] std::vector<kernel_row> finish() {
    const double all = all_device_work(p_).ns;
    const std::vector<std::uint32_t> order =
        sorted_order(sums_.size(), [&](std::uint32_t a, std::uint32_t b) {
          return sums_[a].row.total_ns > sums_[b].row.total_ns;
        });
    std::vector<kernel_row> table;
    table.reserve(order.size());
    for (const std::uint32_t i : order) {
      table.push_back(sums_[i].finish(p_, all));
      kernel_row& row = table.back();
      if (row.node != scope_node::none && row.variants == 1 && !row.parameters_merged)
        row.tiles = detail::tiles_of(p_, p_.nodes[row.node], row.kernel);
    }
    make_keys_differ(table);
    return table;
  }

 private:
  void add(const device_work& w) {
    const work_place at = places_.of(w);
    const auto kernel = w.kernel < names_.size() ? w.kernel : device_work::none;
    const auto [number, is_new] = rows_.of(key_of(w, at, kernel));
    if (is_new)
      sums_.emplace_back().begin(p_, w, at, places_.pass_of(at),
                                 kernel == device_work::none ? std::string{} : names_[kernel]);
    kernel_sum& sum = sums_[number];
    if (is_new) {
      sum.row.values = groups_.values_of({scope_of(p_, w), at.op});
      sum.row.key = row_key_of(w, at, sum.row);
      if (at.op != scope_node::none) sum.row.parameters = groups_.leaves().text(p_.nodes[at.op]);
    }
    const operator_kernels* const of = places_.kernels_of(at);
    if (of != nullptr && variants_.of({{number, at.variant}}).second && ++sum.row.variants > 1 &&
        !by_parameters_)
      sum.row.parameters.clear();
    if (of != nullptr && operators_.of({{number, at.op_name}}).second) ++sum.row.operators;
    if (at.region == scope_node::none) {
      sum.row.also_in_none = true;
    } else if (regions_.of({{number, at.region_name}}).second) {
      ++sum.row.regions;
      sum.row.region = p_.nodes[at.region].name;
    }
    if (streams_.of({{number, w.device, w.stream}}).second) {
      ++sum.row.streams;
      sum.row.stream = w.stream;
    }
    sum.add(p_, w, at, of, roofs_);
    const tensor_use use = kernel != device_work::none && on_tensor_cores_[kernel]
                               ? tensor_use::yes_by_name
                               : declared(of);
    sum.row.tensor_core = is_new || sum.row.tensor_core == use ? use : tensor_use::unknown;
  }

  static tensor_use declared(const operator_kernels* of) noexcept {
    if (of == nullptr) return tensor_use::unknown;
    if (of->on == arithmetic_unit::cuda_core) return tensor_use::no_declared;
    return of->on == arithmetic_unit::tensor_core && of->only_one() ? tensor_use::yes_declared
                                                                    : tensor_use::unknown;
  }

  [[gnu::cold]] std::uint64_t row_key_of(const device_work& w, const work_place& at,
                                         const kernel_row& row) {
    key_hash hash;
    hash.add(static_cast<std::uint64_t>(at.place)).add(row.kernel);
    if (at.op != scope_node::none)
      hash.add(keys_.call(p_.nodes[at.op], row.values, groups_.leaves()).value());
    if (by_parameters_) {
      for (int i = 0; i < 3; ++i) hash.add(w.grid[i]).add(w.block[i]);
      hash.add(w.registers).add(w.static_shared + w.dynamic_shared).add(w.device);
      // Most kernels have neither; their keys are as those of profiles without.
      if (const std::uint32_t launch = launch_of(w)) hash.add(launch);
    }
    const std::uint32_t scope = scope_of(p_, w);
    profile_keys::add_places(
        hash, row.values,
        scope == scope_node::none ? std::string_view{} : keys_.thread_name(p_.nodes[scope]));
    if (by_thread_) hash.add(w.stream);
    return hash.value();
  }

  /// Clusters, whose extents are 16 at most, and whether the launch was cooperative.
  static std::uint32_t launch_of(const device_work& w) noexcept {
    return w.cluster[0] << 11U | w.cluster[1] << 6U | w.cluster[2] << 1U |
           (w.cooperative ? 1U : 0U);
  }

  // Four keys, since one has six parts.
  row_key key_of(const device_work& w, const work_place& at, std::uint32_t kernel) {
    const std::uint32_t group =
        group_keys_.of(groups_.key_of({scope_of(p_, w), at.op}, at.variant)).first;
    row_key key{{static_cast<std::uint32_t>(at.place), group, kernel}};
    if (by_thread_) key.part[3] = w.stream;
    if (!by_parameters_) return key;
    key.part[4] =
        shapes_.of({{w.grid[0], w.grid[1], w.grid[2], w.block[0], w.block[1], w.block[2]}}).first;
    key.part[5] = memories_
                      .of({{w.registers, w.static_shared + w.dynamic_shared, w.device,
                            launch_of(w) << 1U | (w.merged ? 1U : 0U), at.pass}})
                      .first;
    return key;
  }

  const profile& p_;
  bool by_parameters_, by_thread_;
  profile_keys keys_;
  launch_places places_;
  roofline roofs_;
  group_numbers groups_;
  key_numbers rows_, group_keys_{0}, shapes_{0}, memories_{0}, variants_{0}, operators_{0},
      regions_{0}, streams_{0};
  std::vector<std::string> names_;     // of the kernels, readable
  std::vector<bool> on_tensor_cores_;  // by their names
  std::vector<kernel_sum> sums_;
};

}  // namespace detail

/// The table of the kernels for which keep(const device_work&) says true, most time first.
template <class Keep>
std::vector<kernel_row> kernel_table(const profile& p, const grouping& by, Keep keep) {
  std::vector<bool> kept(p.device.work.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = keep(p.device.work[i]);
  return detail::kernel_summing(p, by, kept).finish();
}

/// All kernels.
///     for (const auto& row : kprof::kernel_table(run)) use(row.op,
///     kprof::short_kernel_name(row.kernel), row.total_ns);
inline std::vector<kernel_row> kernel_table(const profile& p,
                                            const grouping& by = grouping::parameters) {
  return kernel_table(p, by, [](const device_work&) { return true; });
}

KPROF_DETAIL_END

#endif
