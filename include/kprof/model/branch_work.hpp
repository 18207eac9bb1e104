// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_BRANCH_WORK_HPP
#define KPROF_MODEL_BRANCH_WORK_HPP

// What the formulas of operators say of a branch of the call tree, each call counted once. Included
// by tree_summary.hpp. Pure; linear in profile::nodes.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/row_numbers.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// FLOPs or bytes of a branch.
struct branch_sum {
  double all = 0;
  double on_device = 0;                 // of calls with work on a device
  double calls_on_device = 0;           // that have a number
  bool any = false;                     // calls with a number
  bool at_most = false;                 // of a part of it
  absence why = absence::none;          // of calls whose number is not known
  absence none = absence::no_operator;  // why there is no number, where there is none

  /// Adds a branch below.
  void add(const branch_sum& below) noexcept {
    all += below.all;
    on_device += below.on_device;
    calls_on_device += below.calls_on_device;
    any = any || below.any;
    at_most = at_most || below.at_most;
    why = std::max(why, below.why);
    // An operator without a formula says more than that there is no operator.
    if (none == absence::no_operator) none = below.none;
    else if (below.none != absence::no_operator) none = std::max(none, below.none);
  }
  figure value() const noexcept {
    return {all, why != absence::none ? why : any ? absence::none : none};
  }
};

/// Sums nodes into branches, and these into rows of the tree.
class branch_work {
 public:
  /// `threads_apart`: a path that another thread handed over covers nothing, since its calls are in
  /// the tree of that thread.
  branch_work(const profile& p, const device_sums& device, bool threads_apart)
      : p_(p), device_(device), roofs_(p, device), row_of_(p.nodes.size(), scope_node::none) {
    covers_ = covering_nodes(
        p, std::vector<std::uint32_t>(p.nodes.size(), threads_apart ? scope_node::none : 0));
  }

  /// Puts a node into a row; a row that is new has the next number.
  void add(std::uint32_t row, std::uint32_t node) {
    if (row == rows_.size()) rows_.emplace_back();
    row_of_[node] = row;
    if (device_.own.empty()) return;
    rows_[row].device.add(device_.whole[node]);
    rows_[row].handed_over = rows_[row].handed_over ||
                             (is_placeholder(p_.nodes[node]) && device_.whole[node].runs() > 0);
  }

  /// When all nodes have their rows. An operator covers all below it.
  void sum_up() {
    std::vector<branch_sum> flops(p_.nodes.size()), bytes(p_.nodes.size()), ideal(p_.nodes.size());
    for (std::size_t i = p_.nodes.size(); i-- > 0;) {
      const scope_node& n = p_.nodes[i];
      if (n.kind == scope_kind::op) {
        close(i, says_flops(n), static_cast<double>(n.work.flops), absence::no_flops, flops[i]);
        close(i, says_bytes(n),
              static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written),
              absence::no_bytes, bytes[i]);
        const call_roof& roof = roofs_.of(i);
        close(i, roof.why == absence::none && !roof.is_impossible, roof.ideal_ns(),
              roof.is_impossible ? absence::impossible : roof.why, ideal[i]);
        if (covers_[i]) ideal[i].at_most = ideal[i].any && roof.at_most;
      }
      if (const std::uint32_t parent = parent_of(p_, i); parent != scope_node::none) {
        flops[parent].add(flops[i]);
        bytes[parent].add(bytes[i]);
        ideal[parent].add(ideal[i]);
      }
      if (row_of_[i] == scope_node::none) continue;
      rows_[row_of_[i]].flops.add(flops[i]);
      rows_[row_of_[i]].bytes.add(bytes[i]);
      rows_[row_of_[i]].ideal.add(ideal[i]);
    }
  }

  figure flops(std::uint32_t row) const noexcept { return rows_[row].flops.value(); }
  figure bytes(std::uint32_t row) const noexcept { return rows_[row].bytes.value(); }
  figure flops_per_s(std::uint32_t row, double host_ns) const noexcept {
    return rate(rows_[row], rows_[row].flops, host_ns);
  }
  figure bytes_per_s(std::uint32_t row, double host_ns) const noexcept {
    return rate(rows_[row], rows_[row].bytes, host_ns);
  }
  /// The least time that the work takes over the time that it took, where that is at most 1.
  figure roof(std::uint32_t row, double host_ns) const noexcept {
    const figure per_s = rate(rows_[row], rows_[row].ideal, host_ns);  // nanoseconds a second
    const double share = per_s.value * 1e-9;
    if (per_s.known() && share > over_the_roof) return {0, absence::impossible};
    return {std::min(share, 1.0), per_s.why, rows_[row].ideal.at_most};
  }

 private:
  struct row_work {
    bool handed_over = false;        // other threads launched for it
    branch_sum flops, bytes, ideal;  // ideal: the least time, in nanoseconds
    device_sum device{};             // of the branch
  };

  // The sum of what is below becomes that of the whole branch.
  void close(std::size_t node, bool has_number, double per_call, absence lacking,
             branch_sum& sum) const noexcept {
    const scope_node& n = p_.nodes[node];
    if (!covers_[node]) {
      if (!sum.any && sum.none == absence::no_operator) sum.none = absence::no_calls;
      return;
    }
    if (!has_number) {
      const absence why = n.merged        ? absence::merged
                          : !n.work.valid ? absence::invalid
                                          : absence::none;
      sum.why = std::max(sum.why, why);
      if (why == absence::none)
        sum.none = sum.none == absence::no_operator ? lacking : std::max(sum.none, lacking);
      return;
    }
    const row_work* const row = row_of_[node] == scope_node::none ? nullptr : &rows_[row_of_[node]];
    const bool on_device = row != nullptr && (row->device.runs() > 0 || row->device.unrecorded > 0);
    const std::uint64_t done = executions(n),
                        idle = on_device && row->handed_over ? 0 : std::min(n.unlaunched, done);
    const double launched = on_device ? static_cast<double>(done - idle) : 0;
    sum = {};
    sum.any = done > 0;
    if (done == 0) sum.none = n.captured > 0 ? absence::not_replayed : absence::no_calls;
    sum.all = static_cast<double>(done) * per_call;
    sum.on_device = launched * per_call;
    sum.calls_on_device = launched;
  }

  figure rate(const row_work& row, const branch_sum& sum, double host_ns) const noexcept {
    const figure whole = sum.value();
    if (row.device.runs() == 0 && row.device.unrecorded == 0)
      return ratio(whole, host_ns * 1e-9, absence::no_time);
    const absence timed = std::max({device_time_known(row.device), records_known(p_, row.device),
                                    calls_known(row.device),
                                    sum.calls_on_device > 0 ? absence::none : absence::no_calls});
    return ratio({sum.on_device, std::max(whole.why, timed)}, row.device.ns * 1e-9,
                 absence::no_time);
  }

  const profile& p_;
  const device_sums& device_;
  roofline roofs_;
  std::vector<std::uint32_t> row_of_;  // by node
  std::vector<bool> covers_;           // by node
  std::vector<row_work> rows_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
