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
#include <kprof/profile.hpp>

#include <algorithm>
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
  absence why = absence::none;          // of calls whose number is not known
  absence none = absence::no_operator;  // why there is no number, where there is none

  /// Adds a branch below.
  void add(const branch_sum& below) noexcept {
    all += below.all;
    on_device += below.on_device;
    calls_on_device += below.calls_on_device;
    any = any || below.any;
    why = std::max(why, below.why);
    // An operator without a formula says more than that there is no operator.
    if (none == absence::no_operator) none = below.none;
    else if (below.none != absence::no_operator) none = std::max(none, below.none);
  }
  figure value() const noexcept {
    return {all, why != absence::none ? why : any ? absence::none : none};
  }
};

/// Sums nodes into rows of the tree, and rows into branches.
class branch_work {
 public:
  branch_work(const profile& p, const device_sums& device) : p_(p), device_(device) {}

  /// Puts a node into a row; a row that is new has the next number.
  void add(std::uint32_t row, std::uint32_t node) {
    if (row == rows_.size()) rows_.emplace_back();
    row_work& at = rows_[row];
    const scope_node& n = p_.nodes[node];
    if (!device_.own.empty()) at.device.add(device_.whole[node]);
    if (n.kind != scope_kind::op) return;
    at.op = true;
    at.done += executions(n);
    at.idle += std::min(n.unlaunched, n.calls);
    at.handed_over = at.handed_over ||
                     (is_placeholder(n) && !device_.own.empty() && device_.whole[node].runs() > 0);
    at.has_flops = says_flops(n);
    at.has_bytes = says_bytes(n);
    at.why = n.merged ? absence::merged : !n.work.valid ? absence::invalid : absence::none;
    at.flops_per_call = static_cast<double>(n.work.flops);
    at.bytes_per_call =
        static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written);
  }

  /// `parents`: by row; a parent comes before its children. An operator covers all below it, once a
  /// call of it did the work.
  void sum_up(const std::vector<std::uint32_t>& parents) {
    for (std::size_t i = rows_.size(); i-- > 0;) {
      row_work& row = rows_[i];
      if (row.op) {
        close(row, row.has_flops, row.flops_per_call, absence::no_flops, row.flops);
        close(row, row.has_bytes, row.bytes_per_call, absence::no_bytes, row.bytes);
      }
      if (parents[i] == scope_node::none) continue;
      rows_[parents[i]].flops.add(row.flops);
      rows_[parents[i]].bytes.add(row.bytes);
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

 private:
  struct row_work {
    bool op = false, handed_over = false, has_flops = false, has_bytes = false;
    absence why = absence::none;
    std::uint64_t done = 0, idle = 0;
    double flops_per_call = 0, bytes_per_call = 0;
    branch_sum flops, bytes;
    device_sum device{};  // of the branch
  };

  // The sum of what is below becomes that of the whole branch.
  static void close(const row_work& row, bool has_number, double per_call, absence lacking,
                    branch_sum& sum) noexcept {
    if (row.done == 0) {
      if (!sum.any && sum.none == absence::no_operator) sum.none = absence::no_calls;
      return;
    }
    if (!has_number) {
      sum.why = std::max(sum.why, row.why);
      if (row.why == absence::none)
        sum.none = sum.none == absence::no_operator ? lacking : std::max(sum.none, lacking);
      return;
    }
    const bool on_device = row.device.runs() > 0 || row.device.unrecorded > 0;
    const std::uint64_t idle = row.handed_over ? 0 : std::min(row.idle, row.done);
    const double launched = on_device ? static_cast<double>(row.done - idle) : 0;
    sum = {};
    sum.any = true;
    sum.all = static_cast<double>(row.done) * per_call;
    sum.on_device = launched * per_call;
    sum.calls_on_device = launched;
  }

  figure rate(const row_work& row, const branch_sum& sum, double host_ns) const noexcept {
    const figure whole = sum.value();
    if (row.device.runs() == 0 && row.device.unrecorded == 0)
      return ratio(whole, host_ns * 1e-9, absence::no_time);
    const absence timed = std::max({device_time_known(row.device), records_known(p_, row.device),
                                    sum.calls_on_device > 0 ? absence::none : absence::no_calls});
    return ratio({sum.on_device, std::max(whole.why, timed)}, row.device.ns * 1e-9,
                 absence::no_time);
  }

  const profile& p_;
  const device_sums& device_;
  std::vector<row_work> rows_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
