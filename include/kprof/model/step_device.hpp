// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEP_DEVICE_HPP
#define KPROF_MODEL_STEP_DEVICE_HPP

// What devices did in single steps: each kernel, copy and memset belongs to the step in which the
// call began that launched it. Included by step_rows.hpp. Pure; linear in the device's timeline
// times the depth of graphs, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the scopes of a node had devices do in one step.
struct step_work {
  std::uint32_t node = step_share::none;
  std::uint32_t step = step_share::none;  // index in profile::steps
  device_sum own;                         // launched right in them
  std::uint64_t launches = 0;             // of a graph's scopes: those of the graph
};

/// How much the calls that are counted in a step launch, if each launches as much as the others of
/// its node. A call counts where it ended, and its work where it was launched.
class launches_of_calls {
 public:
  /// So many of the node's calls, all of which launched `runs`.
  [[gnu::cold]] void add(const profile& p, std::uint32_t node, std::uint64_t calls,
                         std::uint64_t runs) noexcept {
    const scope_node& n = p.nodes[node];
    expected_ += static_cast<double>(runs) * static_cast<double>(calls) /
                 static_cast<double>(std::max<std::uint64_t>(executions(n), 1));
    by_others_ =
        by_others_ || p.stepping.threads.empty() || n.thread != p.stepping.threads[0].thread;
  }
  /// Whether that is what was launched in the step. The calls of the steps' own thread lie in
  /// steps, and may differ a little; those of others may have crossed a border.
  bool are(std::uint64_t runs) const noexcept {
    const double may_differ = by_others_ ? 1e-6 : 0.25;
    return std::abs(static_cast<double>(runs) - expected_) <= may_differ * expected_;
  }

 private:
  double expected_ = 0;
  bool by_others_ = false;
};

/// The work of the steps of which the device's timeline has all, by node and step.
class step_device {
 public:
  /// `has_rows`: by step, whether its scopes are told apart.
  [[gnu::cold]] step_device(const profile& p, const device_sums& device,
                            const std::vector<char>& has_rows)
      : known_(p.steps.size()), p_(p) {
    if (device.own.empty()) return;
    const device_timeline& t = p.device.timeline;
    has_all_ = t.dropped_items == 0 && t.items.size() >= all_device_work(p).runs();
    for (std::uint32_t i = 0; i < p.steps.size(); ++i) {
      known_[i] = has_rows[i] != 0 && timeline_has(i) ? 1 : 0;
      if (known_[i] != 0) order_.push_back(i);
    }
    sort_table(order_, [&](std::uint32_t a, std::uint32_t b) {
      return p.steps[a].begin != p.steps[b].begin ? p.steps[a].begin < p.steps[b].begin : a < b;
    });
    collect_items();
    add_items();
    if (!fits(device)) {
      works_.clear();
      std::fill(known_.begin(), known_.end(), 0);
    }
  }

  /// Whether all that the step launched is known.
  bool knows(std::uint32_t step) const noexcept { return known_[step] != 0; }
  /// By node and step.
  const std::vector<step_work>& works() const noexcept { return works_; }

 private:
  struct item_of_step {
    std::uint32_t node, step;
    const device_item* item;
  };

  /// Whether the timeline has all that the step launched. A window that ends before now has what
  /// ran in it: of a step, what ran later is there only where the window was kept for that step.
  [[gnu::cold]] bool timeline_has(std::uint32_t step) const {
    const device_timeline& t = p_.device.timeline;
    const step_mark& m = p_.steps[step];
    if (m.end < m.begin) return false;
    if (t.windows.empty()) return has_all_;
    return std::any_of(t.windows.begin(), t.windows.end(), [&](const timeline_window& w) {
      return w.begin <= m.begin && m.end <= w.end &&
             (&w == &t.windows.back() || is_kept_step(p_, step));
    });
  }
  /// The step in which a call began; none: in no step that is known so far.
  [[gnu::cold]] std::uint32_t step_at(std::int64_t time) const {
    const auto after = std::partition_point(
        order_.begin(), order_.end(), [&](std::uint32_t i) { return p_.steps[i].begin <= time; });
    if (after == order_.begin()) return step_share::none;
    const std::uint32_t step = *(after - 1);
    return time < p_.steps[step].end ? step : step_share::none;
  }

  /// A step with an item whose scope is not known is not known either.
  [[gnu::cold]] void collect_items() {
    for (const device_item& i : p_.device.timeline.items) {
      const std::uint32_t step = i.call_begin < 0 ? step_share::none : step_at(i.call_begin);
      if (step == step_share::none) continue;
      const std::uint32_t node =
          i.work < p_.device.work.size() ? scope_of(p_, p_.device.work[i.work]) : scope_node::none;
      if (node == scope_node::none) known_[step] = 0;
      else items_.push_back({node, step, &i});
    }
    std::erase_if(items_, [&](const item_of_step& i) { return known_[i.step] == 0; });
  }

  [[gnu::cold]] step_work& work_at(std::uint32_t node, std::uint32_t step) {
    const auto [number, is_new] = numbers_.of({{node, step}});
    if (is_new) works_.push_back({node, step, {}, 0});
    return works_[number];
  }
  [[gnu::cold]] void add_items() {
    // Launch by launch: those of a graph count once for each scope in it.
    sort_table(items_, [](const item_of_step& a, const item_of_step& b) {
      return a.step != b.step ? a.step < b.step : a.item->correlation < b.item->correlation;
    });
    std::vector<std::uint64_t> latest(p_.nodes.size());  // launch that the node counted; from 1
    std::uint64_t launch = 0;
    std::vector<char> has_small_grid(p_.device.work.size());
    for (std::size_t w = 0; w < has_small_grid.size(); ++w)
      has_small_grid[w] = detail::has_small_grid(p_, p_.device.work[w]) ? 1 : 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const device_item& item = *items_[i].item;
      if (i == 0 || items_[i - 1].step != items_[i].step ||
          items_[i - 1].item->correlation != item.correlation)
        ++launch;
      add(work_at(items_[i].node, items_[i].step).own, item, has_small_grid[item.work] != 0);
      if (!item.graph) continue;
      for (std::uint32_t n = items_[i].node; n != scope_node::none && latest[n] != launch;
           n = parent_of(p_, n)) {
        latest[n] = launch;
        ++work_at(n, items_[i].step).launches;
      }
    }
    sort_table(works_, [](const step_work& a, const step_work& b) {
      return a.node != b.node ? a.node < b.node : a.step < b.step;
    });
  }
  /// As device_totals adds up a run.
  void add(device_sum& to, const device_item& i, bool has_small_grid) const {
    (p_.device.work[i.work].task == device_task::kernel ? to.kernels : to.copies) += 1;
    to.in_graphs += i.graph ? 1U : 0U;
    if (i.end < i.start) {
      ++to.untimed;
      return;
    }
    const auto ns = static_cast<double>(i.end) - static_cast<double>(i.start);
    to.ns += ns;
    if (has_small_grid) to.small_grid_ns += ns;
    ++to.gaps;
    to.gap_ns += std::max(0.0, static_cast<double>(i.start) - static_cast<double>(i.call_begin));
  }

  /// Whether no node did more in the steps than in all: a damaged file may say so.
  [[gnu::cold]] bool fits(const device_sums& device) const {
    for (std::size_t i = 0; i < works_.size();) {
      const std::uint32_t node = works_[i].node;
      device_sum sum;
      for (; i < works_.size() && works_[i].node == node; ++i) sum.add(works_[i].own);
      const device_sum& all = device.own[node];
      const double rounding = 1 + 1e-9 * all.ns;
      if (sum.kernels > all.kernels || sum.copies > all.copies || sum.untimed > all.untimed ||
          !(sum.ns <= all.ns + rounding))
        return false;
    }
    return true;
  }

  bool has_all_ = false;              // the timeline, of all work
  std::vector<char> known_;           // by step
  std::vector<std::uint32_t> order_;  // the steps that may be known, by their begin
  std::vector<item_of_step> items_;
  key_numbers numbers_{0};
  std::vector<step_work> works_;
  const profile& p_;
};

/// Takes what was done in a step away from what was done in all.
[[gnu::cold]] inline void take_away(device_sum& from, const device_sum& some) noexcept {
  const auto take = [](std::uint64_t& a, std::uint64_t b) { a -= std::min(a, b); };
  take(from.kernels, some.kernels);
  take(from.copies, some.copies);
  take(from.untimed, some.untimed);
  take(from.gaps, some.gaps);
  take(from.in_graphs, some.in_graphs);
  // What is left of rounding is nothing.
  from.ns = from.runs() == 0 ? 0 : std::max(0.0, from.ns - some.ns);
  from.gap_ns = from.gaps == 0 ? 0 : std::max(0.0, from.gap_ns - some.gap_ns);
  from.small_grid_ns =
      from.runs() == 0 ? 0 : std::max(0.0, from.small_grid_ns - some.small_grid_ns);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
