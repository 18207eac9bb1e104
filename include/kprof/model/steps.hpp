// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEPS_HPP
#define KPROF_MODEL_STEPS_HPP

// What the program's steps took: numbers of each thread's steps, the work of a step, and whose time
// makes slow steps slow. Pure. Linear in profile::nodes and the shares of steps, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/ceiling_rates.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/step_weights.hpp>
#include <kprof/model/timeline/device_steps.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// The steps of one thread that ended, all of them. In ns.
struct step_row {
  std::uint32_t thread = thread_steps::none;  ///< index in profile::threads
  std::uint64_t count = 0;
  double total_ns = 0;
  double median_ns = 0;  ///< within 0.8 %, as p99_ns
  double p99_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
  double first_ns = -1;    ///< negative: not known
  double running_ns = -1;  ///< of the step that had not ended; negative: none

  /// p99 over median: 1 where all steps take the same time.
  double jitter() const noexcept { return median_ns > 0 ? p99_ns / median_ns : 1; }
};

/// How much longer scopes of one name took in steps above the median than in as many others.
struct step_excess {
  std::string_view name;  ///< operator or region; empty: outside all scopes
  double ns = 0;          ///< negative: they took less
};

/// What single steps did, as far as their scopes are known.
struct step_details {
  std::uint64_t steps = 0;  ///< of which all scopes are known
  /// So many steps of the run these stand for, and the rest is of: more than `steps` where the
  /// marks of some were not kept.
  double stands_for = 0;
  double total_ns = 0;  ///< on the host
  /// The same with the work on the devices, until its last item has ended; negative: none did any.
  double device_ns = -1;
  /// Where device_ns is the time of the busiest device, since single steps are not known there.
  bool device_is_busy_time = false;
  double median_ns = 0;  ///< of the steps they stand for
  /// What steps above the median took more than as many others, at the mean of these, would.
  double excess_ns = 0;
  /// Self times on the steps' own thread, most first, and last what took less in slow steps; they
  /// sum to excess_ns.
  std::vector<step_excess> excess;
  double flops = 0;             ///< by the formulas, of all of them; 0: no formula says any
  double model_flops = 0;       ///< without what was computed once more
  double least_ns = -1;         ///< that the machine needs for model_flops; negative: not known
  double hardware_ns = -1;      ///< the same for `flops`
  dtype type = dtype::unknown;  ///< of all flops; unknown: of several types
  double peak = 0;              ///< operations a second of `type`; 0: of several, or not known

  /// Whether they stand for more steps than there are marks of: sums are estimates.
  bool is_estimate() const noexcept { return stands_for > static_cast<double>(steps); }
  /// The time that FLOPs are held against: on the devices, where these worked.
  double working_ns() const noexcept { return device_ns > 0 ? device_ns : total_ns; }
  /// Model FLOPs utilisation: of the highest rate of the machine, what the model's FLOPs take.
  double mfu() const noexcept { return working_ns() > 0 ? least_ns / working_ns() : 0; }
  /// Hardware FLOPs utilisation: the same, with what was computed once more.
  double hfu() const noexcept { return working_ns() > 0 ? hardware_ns / working_ns() : 0; }
};

namespace detail {

/// The highest dense rate of a type, in operations a second, of all devices that worked or, where
/// none did, of all processors; 0: not known.
inline double peak_rate(const profile& p, dtype type) {
  double rate = 0;
  if (has_device_work(p)) {
    for (std::size_t i = 0; i < std::min(p.machine.gpus.size(), p.device.devices.size()); ++i) {
      if (!(p.device.devices[i].sum_ns > 0)) continue;
      double highest = 0;
      for (const gpu_arithmetic_ceiling& a : p.machine.gpus[i].arithmetic)
        if (a.type == computed_in(type)) highest = std::max(highest, a.operations);
      if (!(highest > 0)) return 0;
      rate += highest;
    }
  } else {
    const cpu_ceilings& cpu = p.machine.cpu;
    for (const arithmetic_ceiling& a : cpu.arithmetic)
      if (a.type == computed_in(type))
        rate = std::max(rate, rate_of(a.operations, cpu.threads, cpu.threads));
  }
  return rate;
}

/// Sums what the shares of whole steps say.
class step_summing {
 public:
  [[gnu::cold]] step_summing(const profile& p, std::uint32_t thread)
      : p_(p), number_(p.steps.size(), none) {
    std::vector<marked_length> marks;
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      const step_mark& m = p.steps[i];
      if (m.thread != thread || p.stepping.whole_from < 0 || m.begin < p.stepping.whole_from ||
          m.end < m.begin)
        continue;
      number_[i] = static_cast<std::uint32_t>(length_.size());
      length_.push_back(static_cast<double>(m.end - m.begin));
      marks.push_back({m.index, length_.back()});
    }
    const weighted_steps known = weights_of_steps(p, thread, marks);
    weight_ = known.weights;
    out_.steps = length_.size();
    out_.stands_for = known.steps;
    double weighted_ns = 0;
    for (std::size_t i = 0; i < length_.size(); ++i) weighted_ns += weight_[i] * length_[i];
    out_.total_ns = weighted_ns;
    if (known.thinned && known.has_all)
      for (const thread_steps& t : p.stepping.threads)
        if (t.thread == thread && t.total_ns > 0) out_.total_ns = t.total_ns;
    if (length_.size() < 2) return;
    out_.median_ns = median();
    const double estimate = excess_of(length_);
    out_.excess_ns = estimate;
    // Usual steps have many marks. Where the sum of all differs, slow ones took more or less.
    if (estimate > 0) out_.excess_ns = std::max(0.0, estimate + (out_.total_ns - weighted_ns));
    add_excess(thread, estimate > 0 ? out_.excess_ns / estimate : 1);
    add_work();
    if (out_.flops > 0) add_device_time(thread);
  }
  step_details take() { return std::move(out_); }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  /// The mean of the two lengths that have half of the steps on either side.
  [[gnu::cold]] double median() const {
    const std::vector<std::uint32_t> order = sorted_order(
        length_.size(), [&](std::uint32_t a, std::uint32_t b) { return length_[a] < length_[b]; });
    const double half = out_.stands_for / 2;
    double before = 0, low = -1;
    for (const std::uint32_t i : order) {
      before += weight_[i];
      if (low < 0 && before >= half) low = length_[i];
      if (before > half) return (low + length_[i]) / 2;
    }
    return length_[order.back()];
  }
  /// Of times by step: those of slow steps less as many times the mean of the others.
  double excess_of(const std::vector<double>& times) const {
    double slow_ns = 0, other_ns = 0, slow = 0;
    for (std::size_t i = 0; i < length_.size(); ++i) {
      const bool is_slow = length_[i] > out_.median_ns;
      (is_slow ? slow_ns : other_ns) += weight_[i] * times[i];
      slow += is_slow ? weight_[i] : 0;
    }
    return slow_ns - slow * other_ns / (out_.stands_for - slow);
  }
  bool is_whole(const step_share& s) const {
    return s.step < number_.size() && number_[s.step] != none && s.node < p_.nodes.size();
  }

  /// Parts are made larger or smaller to sum to the whole.
  [[gnu::cold]] void add_excess(std::uint32_t thread, double scale) {
    std::vector<std::string_view> names{{}};          // outside all scopes first
    std::vector<std::vector<double>> times{length_};  // by name and step
    std::vector<std::uint32_t> name_of(p_.nodes.size(), none);
    for (const step_share& s : p_.stepping.shares) {
      if (!is_whole(s) || p_.nodes[s.node].thread != thread) continue;
      std::uint32_t& name = name_of[s.node];
      if (name == none) {
        const auto known = std::find(names.begin() + 1, names.end(), p_.nodes[s.node].name);
        name = static_cast<std::uint32_t>(known - names.begin());
        if (known == names.end()) {
          names.emplace_back(p_.nodes[s.node].name);
          times.emplace_back(length_.size());
        }
      }
      times[name][number_[s.step]] += not_negative(s.self_ns);
      times[0][number_[s.step]] -= not_negative(s.self_ns);
    }
    for (std::size_t n = 0; n < names.size(); ++n)
      out_.excess.push_back({names[n], scale * excess_of(times[n])});
    sort_table(out_.excess, [](const step_excess& a, const step_excess& b) { return a.ns > b.ns; });
  }

  /// Of calls inside another one with a formula that one tells.
  [[gnu::cold]] void add_work() {
    std::vector<char> inside(p_.nodes.size());
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const std::uint32_t parent = p_.nodes[i].parent;
      inside[i] = parent < i && (inside[parent] != 0 || has_flops(p_.nodes[parent]));
    }
    const roofline roofs(p_, device_sums(p_));
    std::vector<type_flops> by_type;
    for (const step_share& s : p_.stepping.shares) {
      if (!is_whole(s) || inside[s.node] != 0) continue;
      const scope_node& n = p_.nodes[s.node];
      if (!has_flops(n) || !opens_calls(n)) continue;
      const double flops = static_cast<double>(n.work.flops) * static_cast<double>(s.calls) *
                           weight_[number_[s.step]];
      if (!(flops > 0)) continue;
      // f32 on tensor cores is held against their rate.
      const call_roof& roof = roofs.of(s.node);
      const dtype type = roof.why == absence::none ? roof.type : n.work.type;
      auto known = by_type.begin();
      while (known != by_type.end() && known->type != type) ++known;
      if (known == by_type.end()) known = by_type.insert(known, {type, 0, 0});
      known->all += flops;
      if (n.work.pass != pass_kind::recompute) known->model += flops;
    }
    sum_up(by_type);
  }
  /// A host that only launches has begun the next step while devices work on this one.
  [[gnu::cold]] void add_device_time(std::uint32_t thread) {
    if (!has_device_work(p_)) return;
    const double ratio = device_over_host(p_, thread);
    if (ratio > 0) {
      out_.device_ns = ratio * out_.total_ns;
      return;
    }
    double busy_ns = 0, count = 0;
    for (const device_info& d : p_.device.devices) busy_ns = std::max(busy_ns, d.busy_ns);
    for (const thread_steps& t : p_.stepping.threads)
      if (t.thread == thread) count = static_cast<double>(t.count);
    if (!(count > 0)) return;
    out_.device_ns = busy_ns / count * out_.stands_for;
    out_.device_is_busy_time = out_.device_ns > out_.total_ns;
    out_.device_ns = std::max(out_.device_ns, out_.total_ns);
  }
  struct type_flops {
    dtype type = dtype::unknown;
    double all = 0, model = 0;  // `model`: without what was computed once more
  };
  [[gnu::cold]] void sum_up(const std::vector<type_flops>& by_type) {
    double model_ns = 0, all_ns = 0;
    for (const type_flops& t : by_type) {
      out_.flops += t.all;
      out_.model_flops += t.model;
      const double rate = peak_rate(p_, t.type);
      if (by_type.size() == 1) out_.type = t.type, out_.peak = rate;
      // One type whose rate is not known leaves the whole unknown.
      if (!(rate > 0)) model_ns = all_ns = std::numeric_limits<double>::infinity();
      else model_ns += t.model / rate * 1e9, all_ns += t.all / rate * 1e9;
    }
    if (by_type.empty() || !std::isfinite(all_ns)) return;
    out_.least_ns = model_ns;
    out_.hardware_ns = all_ns;
  }
  static bool has_flops(const scope_node& n) noexcept {
    return n.kind == scope_kind::op && n.work.has_flops && n.work.valid;
  }

  const profile& p_;
  std::vector<std::uint32_t> number_;  // of each mark: among the whole steps
  std::vector<double> length_;         // of these, in ns
  std::vector<double> weight_;         // for how many steps of the run each stands
  step_details out_;
};

}  // namespace detail

/// A row for each thread with steps that ended; the one whose steps take most time first.
[[gnu::cold]] inline std::vector<step_row> step_table(const profile& p) {
  std::vector<step_row> out;
  for (const thread_steps& t : p.stepping.threads) {
    if (t.count == 0) continue;
    const double least = std::max(0.0, t.min_ns), most = std::max(least, t.max_ns);
    const auto quantile = [&](double q) {
      return std::clamp(t.durations.quantile(q) * p.clock.ns_per_tick, least, most);
    };
    out.push_back({t.thread, t.count, t.total_ns, quantile(0.5), quantile(0.99), least, most,
                   t.first_ns, t.running_ns});
  }
  detail::sort_table(out,
                     [](const step_row& a, const step_row& b) { return a.total_ns > b.total_ns; });
  return out;
}

/// Of the steps of one thread; no steps where the timeline has none of them whole.
[[gnu::cold]] inline step_details details_of_steps(const profile& p, std::uint32_t thread) {
  return detail::step_summing(p, thread).take();
}

KPROF_DETAIL_END

#endif
