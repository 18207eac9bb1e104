// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROOFLINE_HPP
#define KPROF_MODEL_ROOFLINE_HPP

// How long the work of a call takes at least on the machine of the profile: the roofline. Included
// by the summaries. Pure. The least time is the larger of FLOPs / highest rate of their type and
// bytes / bandwidth; where bytes run faster than memory can and fit a cache, the cache's bandwidth.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/ceiling_rates.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/tensor_core.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/ceilings.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A rate above its ceiling by no more than this is at the ceiling: both are measured.
inline constexpr double over_the_roof = 1.02;
/// Above the roof of one thread by this, calls ran on several: no clock is so much faster than when
/// it was measured.
inline constexpr double surely_over = 1.1;

/// What the ceilings say of one call.
struct call_roof {
  double compute_ns = 0;       ///< FLOPs over the highest rate of their type
  double memory_ns = 0;        ///< bytes over the bandwidth of memory, or of a cache
  bool cached = false;         ///< the bandwidth is that of a cache
  bool is_impossible = false;  ///< calls took less than the least time
  absence why = absence::none;

  double ideal_ns() const noexcept { return std::max(compute_ns, memory_ns); }
};

/// Calls, summed.
struct roof_sum {
  double compute_ns = 0, memory_ns = 0, cached_ns = 0, ideal_ns = 0;
  double known = 0;             // calls whose roof is known
  absence why = absence::none;  // of the others

  void add(const call_roof& roof, double calls) noexcept {
    why = std::max(why, roof.why);
    if (roof.why != absence::none) return;
    known += calls;
    compute_ns += calls * roof.compute_ns;
    memory_ns += calls * roof.memory_ns;
    if (roof.cached) cached_ns += calls * roof.memory_ns;
    ideal_ns += calls * roof.ideal_ns();
  }
  void add(const roof_sum& more, double sign = 1) noexcept {
    why = std::max(why, more.why);
    known += sign * more.known;
    compute_ns += sign * more.compute_ns;
    memory_ns += sign * more.memory_ns;
    cached_ns += sign * more.cached_ns;
    ideal_ns += sign * more.ideal_ns;
  }
};

/// The calls of a row: those that took no less time than they can, and those that are impossible,
/// which say nothing of the others.
struct row_roofs {
  roof_sum possible, impossible;

  void add(const call_roof& roof, double calls) noexcept {
    (roof.is_impossible ? impossible : possible).add(roof, calls);
  }
  void add(const row_roofs& more, double sign = 1) noexcept {
    possible.add(more.possible, sign);
    impossible.add(more.impossible, sign);
  }
  /// What the row is judged by. In a row of several operators those count whose roof is known.
  roof_sum of(std::uint64_t operators) const noexcept {
    roof_sum out = possible.known > 0 || impossible.known <= 0 ? possible : impossible;
    out.why = std::max(possible.why, impossible.why);
    if (operators > 1 && out.known > 0) out.why = absence::none;
    return out;
  }
};

/// A level of memory: how much it holds and how fast it is.
struct memory_level {
  double bytes = 0;  // of a cache; 0 of memory
  double rate = 0;
};

/// The roof of each call of a profile.
class roofline {
 public:
  [[gnu::cold]] roofline(const profile& p, const device_sums& device)
      : p_(p), device_(&device), cpu_(p.machine.cpu), roofs_(p.nodes.size()) {
    all_threads_ = std::max(1.0, static_cast<double>(cpu_.threads));
    if (!device.own.empty()) find_devices();
    // What a call of an operator shows, that it runs on several threads, holds for all its calls.
    text_numbers names;
    std::vector<bool> on_all_threads;
    std::vector<std::uint32_t> name_of(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.merged) roofs_[i].why = absence::merged;
      if (n.kind != scope_kind::op || n.merged) continue;
      name_of[i] = names.of(n.name);
      on_all_threads.resize(std::max<std::size_t>(on_all_threads.size(), name_of[i] + 1));
      if (is_on_device(i)) continue;
      if (!is_part(n) && all_threads_ > 1 && surely_exceeds(of_cpu(n, 1), n) &&
          !surely_exceeds(of_cpu(n, all_threads_), n))
        on_all_threads[name_of[i]] = true;
    }
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (name_of[i] == scope_node::none) continue;
      if (is_on_device(i)) {
        roofs_[i] = of_device(i);
        continue;
      }
      const double threads = is_part(n)                   ? n.shared.parts
                             : on_all_threads[name_of[i]] ? all_threads_
                                                          : 1;
      roofs_[i] = of_cpu(n, threads);
      if (on_all_threads[name_of[i]] && !is_part(n)) several_threads.push_back(n.name);
    }
    std::sort(several_threads.begin(), several_threads.end());
    several_threads.erase(std::unique(several_threads.begin(), several_threads.end()),
                          several_threads.end());
    device_ = nullptr;
  }

  const call_roof& of(std::size_t node) const noexcept { return roofs_[node]; }

  /// Operators that run on more threads than the one that called them: they are faster than one
  /// thread can be.
  std::vector<std::string_view> several_threads;

 private:
  bool is_on_device(std::size_t node) const noexcept {
    return !device_->whole.empty() &&
           (device_->whole[node].runs() > 0 || device_->whole[node].unrecorded > 0);
  }

  static absence formulas_of(const scope_node& n) noexcept {
    if (!n.work.valid) return absence::invalid;
    if (!n.work.has_flops) return n.work.has_bytes ? absence::none : absence::no_flops;
    return absence::none;
  }
  static double bytes_of(const scope_node& n) noexcept {
    return static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written);
  }
  /// What a cache has to hold at least: a call may write where it read.
  static double footprint_of(const scope_node& n) noexcept {
    return static_cast<double>(std::max(n.work.bytes_read, n.work.bytes_written));
  }

  /// What the ceilings of a machine say of a type.
  struct flop_rates {
    double of_type = 0;  // 0: not known
    double slowest = 0;  // of any type: nothing takes longer
    bool may_be_faster = false;
  };

  call_roof made_of(const scope_node& n, const flop_rates& rates, double mean_ns,
                    const std::vector<memory_level>& levels) const {
    call_roof roof;
    roof.why = formulas_of(n);
    if (roof.why != absence::none) return roof;
    if (n.work.has_flops && n.work.flops > 0) {
      if (!(rates.of_type > 0))
        roof.why = n.work.type == dtype::unknown ? absence::no_type : absence::no_ceiling;
      else roof.compute_ns = static_cast<double>(n.work.flops) / rates.of_type * 1e9;
    }
    if (n.work.has_bytes && bytes_of(n) > 0) {
      const double memory = levels.empty() ? 0 : levels.back().rate;
      if (!(memory > 0)) roof.why = std::max(roof.why, absence::no_ceiling);
      else roof.memory_ns = bytes_of(n) / memory * 1e9;
      if (roof.memory_ns > mean_ns) use_cache(n, levels, roof);
    }
    roof.is_impossible = mean_ns > 0 && roof.ideal_ns() > over_the_roof * mean_ns;
    // Whatever the type, the bytes take longer than the arithmetic, or are too many themselves.
    if (roof.why == absence::no_type &&
        (roof.is_impossible ||
         (rates.slowest > 0 &&
          static_cast<double>(n.work.flops) / rates.slowest * 1e9 <= roof.memory_ns)))
      roof.why = absence::none;
    // What is above a rate that the machine exceeds is nothing odd.
    if (roof.is_impossible && rates.may_be_faster) roof.why = absence::no_ceiling;
    return roof;
  }

  /// Faster than memory: from the smallest cache that holds it, if one does. Levels come from the
  /// first cache to memory.
  static void use_cache(const scope_node& n, const std::vector<memory_level>& levels,
                        call_roof& roof) {
    for (const memory_level& level : levels) {
      if (!(level.bytes >= footprint_of(n))) continue;
      roof.cached = true;
      if (level.rate > 0) roof.memory_ns = std::min(roof.memory_ns, bytes_of(n) / level.rate * 1e9);
      else roof.why = std::max(roof.why, absence::no_ceiling);
      return;
    }
  }

  // ---- the host

  call_roof of_cpu(const scope_node& n, double threads) const {
    flop_rates rates;
    double as_f32 = 0;
    for (const arithmetic_ceiling& a : cpu_.arithmetic) {
      const double rate = rate_of(a.operations, threads, all_threads_);
      if (rate > 0) rates.slowest = rates.slowest > 0 ? std::min(rates.slowest, rate) : rate;
      if (a.type == dtype::f32) as_f32 = rate;
      if (a.type != computed_in(n.work.type)) continue;
      rates.of_type = rate;
      rates.may_be_faster = a.operations.is_lower_bound;
    }
    // Some processors are slower with numbers of 16 bits: they may be widened.
    if (rates.of_type > 0 && (n.work.type == dtype::f16 || n.work.type == dtype::bf16))
      rates.of_type = std::max(rates.of_type, as_f32);
    std::vector<memory_level> levels;
    for (const memory_ceiling& m : cpu_.memory) {
      levels.push_back({static_cast<double>(m.bytes) * threads,
                        std::max(rate_of(m.read, threads, all_threads_),
                                 rate_of(m.triad, threads, all_threads_))});
      rates.may_be_faster = rates.may_be_faster || m.read.is_lower_bound || m.triad.is_lower_bound;
    }
    const auto calls = static_cast<double>(std::max<std::uint64_t>(1, timed_calls(n)));
    return made_of(n, rates, calls_ns(n) / calls, levels);
  }

  /// Whether the calls were faster than the roof by far.
  static bool surely_exceeds(const call_roof& roof, const scope_node& n) noexcept {
    return roof.why == absence::none && calls_ns(n) > 0 &&
           roof.ideal_ns() * static_cast<double>(timed_calls(n)) > surely_over * calls_ns(n);
  }

  // ---- devices

  struct device_of_node {
    std::uint32_t device = scope_node::none;
    bool several = false, tensor_cores = false;
  };

  void find_devices() {
    std::vector<bool> tensor_cores;
    for (const std::string& kernel : p_.device.kernels)
      tensor_cores.push_back(name_says_tensor_core(kernel_name(kernel)));
    devices_.resize(p_.nodes.size());
    for (const device_work& w : p_.device.work) {
      const std::uint32_t node = scope_of(p_, w);
      if (node == scope_node::none || w.task != device_task::kernel) continue;
      join(devices_[node],
           {w.device, false, w.kernel < tensor_cores.size() && tensor_cores[w.kernel]});
    }
    for (std::size_t i = devices_.size(); i-- > 0;)
      if (const std::uint32_t parent = parent_of(p_, i); parent != scope_node::none)
        join(devices_[parent], devices_[i]);
  }
  void join(device_of_node& a, const device_of_node& b) const noexcept {
    if (b.device == scope_node::none) return;
    a.several = a.several || b.several || (a.device != scope_node::none && a.device != b.device);
    a.device = b.device;
    a.tensor_cores = a.tensor_cores || b.tensor_cores;
  }

  /// The highest rate of a type on a unit, whatever the products are added into.
  static double highest(const gpu_ceilings& gpu, dtype type, arithmetic_unit on) noexcept {
    double rate = 0;
    for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
      if (a.type == type && a.on == on) rate = std::max(rate, a.operations);
    return rate;
  }
  /// Where neither the operator nor a kernel's name says the unit, the faster one; but f32 is
  /// computed on tensor cores, as tf32, only where a program allows it.
  static double flop_rate(const gpu_ceilings& gpu, const scope_node& n, bool named) noexcept {
    const dtype type = computed_in(n.work.type);
    const double cuda = highest(gpu, type, arithmetic_unit::cuda_core),
                 tensor = highest(gpu, type == dtype::f32 ? dtype::tf32 : type,
                                  arithmetic_unit::tensor_core);
    if (n.work.on == arithmetic_unit::cuda_core) return cuda;
    if (n.work.on == arithmetic_unit::tensor_core || named) return tensor;
    return type == dtype::f32 ? cuda : std::max(cuda, tensor);
  }

  call_roof of_device(std::size_t node) const {
    const scope_node& n = p_.nodes[node];
    const device_of_node& on = devices_[node];
    call_roof unknown;
    unknown.why = absence::no_ceiling;
    std::size_t which = 0;
    while (which < p_.device.devices.size() && p_.device.devices[which].id != on.device) ++which;
    if (on.several || which >= p_.machine.gpus.size() || which >= p_.device.devices.size())
      return unknown;
    const gpu_ceilings& gpu = p_.machine.gpus[which];
    std::vector<memory_level> levels;
    if (p_.device.devices[which].l2_bytes > 0)
      levels.push_back({static_cast<double>(p_.device.devices[which].l2_bytes), gpu.l2_bytes});
    levels.push_back({0, gpu.memory_bytes});
    const double calls = std::max(1.0, static_cast<double>(executions(n)));
    const double mean_ns = device_->whole[node].ns / calls;
    flop_rates rates;
    for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
      if (a.operations > 0)
        rates.slowest = rates.slowest > 0 ? std::min(rates.slowest, a.operations) : a.operations;
    rates.of_type = flop_rate(gpu, n, on.tensor_cores);
    // Faster than CUDA cores: on tensor cores, as tf32.
    if (n.work.on == arithmetic_unit::unknown && n.work.type == dtype::f32 && mean_ns > 0 &&
        static_cast<double>(n.work.flops) > over_the_roof * rates.of_type * mean_ns * 1e-9)
      rates.of_type =
          std::max(rates.of_type, highest(gpu, dtype::tf32, arithmetic_unit::tensor_core));
    return made_of(n, rates, mean_ns, levels);
  }

  const profile& p_;
  const device_sums* device_;  // while the roofs are made, then null
  const cpu_ceilings& cpu_;
  double all_threads_ = 1;
  std::vector<device_of_node> devices_;
  std::vector<call_roof> roofs_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
