// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROOFLINE_HPP
#define KPROF_MODEL_ROOFLINE_HPP

// How long the work of each call takes at least on the machine of the profile: the roofline.
// Included by the summaries. Pure. roof_of_call.hpp says how; here is found which of the machine's
// threads or devices a call ran on.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roof_of_call.hpp>
#include <kprof/model/roof_sum.hpp>
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

/// An operator that runs on several threads and does not say on how many.
struct unsaid_threads {
  std::string_view op;
  double time_ns = 0, ideal_on_one_ns = 0, ideal_on_all_ns = 0;
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
      if (is_on_device(i) || n.work.threads > 0 || was_only_captured(n)) continue;
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
      if (was_only_captured(n)) {
        roofs_[i].why = absence::not_replayed;
        continue;
      }
      const bool guessed = on_all_threads[name_of[i]] && !is_part(n) && n.work.threads == 0;
      roofs_[i] = of_cpu(n, guessed ? all_threads_ : threads_of(n));
      if (!guessed) continue;
      const call_roof one = of_cpu(n, 1);
      const auto found = std::find_if(several_threads.begin(), several_threads.end(),
                                      [&](const unsaid_threads& u) { return u.op == n.name; });
      unsaid_threads& said =
          found != several_threads.end() ? *found : several_threads.emplace_back();
      said.op = n.name;
      if (one.why != absence::none || roofs_[i].why != absence::none) continue;
      const auto calls = static_cast<double>(timed_calls(n));
      said.time_ns += calls_ns(n);
      said.ideal_on_one_ns += one.ideal_ns() * calls;
      said.ideal_on_all_ns += roofs_[i].ideal_ns() * calls;
    }
    device_ = nullptr;
  }

  const call_roof& of(std::size_t node) const noexcept { return roofs_[node]; }

  /// Operators that run on more threads than the one that called them, as they are faster than one
  /// thread can be, and do not say on how many. Their roof is that of all threads.
  std::vector<unsaid_threads> several_threads;

 private:
  /// One thread, unless parts or the operator say how many.
  double threads_of(const scope_node& n) const noexcept {
    if (n.work.threads > 0) return std::min<double>(n.work.threads, all_threads_);
    return is_part(n) ? n.shared.parts : 1;
  }

  /// The host has put its calls into a CUDA graph, and done none of their work.
  static bool was_only_captured(const scope_node& n) noexcept {
    return n.captured > 0 && executions(n) == 0;
  }
  bool is_on_device(std::size_t node) const noexcept {
    return !device_->whole.empty() &&
           (device_->whole[node].runs() > 0 || device_->whole[node].unrecorded > 0);
  }

  // ---- the host

  call_roof of_cpu(const scope_node& n, double threads) const {
    const auto calls = static_cast<double>(std::max<std::uint64_t>(1, timed_calls(n)));
    const histogram& durations = is_part(n) ? n.shared.durations : n.durations;
    const double mean_ns = calls_ns(n) / calls,
                 median_ns = durations.quantile(0.5) * p_.clock.ns_per_tick;
    return roof_on_cpu(n, cpu_, threads,
                       {mean_ns, median_ns > 0 ? std::min(mean_ns, median_ns) : mean_ns});
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

  [[gnu::cold]] void find_devices() {
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

  call_roof of_device(std::size_t node) const {
    const scope_node& n = p_.nodes[node];
    const device_of_node& on = devices_[node];
    call_roof unknown;
    unknown.why = absence::no_ceiling;
    unknown.threads = 0;
    std::size_t which = 0;
    while (which < p_.device.devices.size() && p_.device.devices[which].id != on.device) ++which;
    if (on.several || which >= p_.machine.gpus.size() || which >= p_.device.devices.size())
      return unknown;
    const double calls = std::max(1.0, static_cast<double>(executions(n)));
    return roof_on_gpu(n, p_.machine.gpus[which], p_.device.devices[which].l2_bytes,
                       on.tensor_cores, device_->whole[node].ns / calls);
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
