// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SUMMARY_HPP
#define KPROF_MODEL_SUMMARY_HPP

// What a profile adds up to: one row an operator, and the call tree of all threads together.
// Include it to use the numbers of a run in a program. Pure: no I/O, no clock. Time and memory are
// linear in profile::nodes, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/call_table.hpp>
#include <kprof/model/device_row_sum.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/off_cpu.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/projection.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_numbers.hpp>
#include <kprof/model/row_sum.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/step_rows.hpp>
#include <kprof/model/tree_summary.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

namespace detail {

/// Sums the nodes of a profile into rows.
class row_summing {
 public:
  /// `kept`: which nodes are calls that rows are made of. `other`: null, or a machine to project
  /// them on.
  row_summing(const profile& p, const grouping& by, const std::vector<bool>& kept,
              const other_machine* other = nullptr)
      : p_(p),
        groups_(p, by),
        device_(p),
        roofs_(p, device_),
        numbers_(p, by, groups_, launched_in(p, device_), kept),
        covers_(covering_nodes(p, numbers_.row_of)),
        off_cpu_(off_cpu_self(p)),
        waited_(waited_in(p)),
        sums_(numbers_.first.size()) {
    if (!device_.own.empty()) {
      on_device_.resize(sums_.size());
      variants_.resize(numbers_.sets);
    }
    if (other != nullptr) {
      projection_.emplace(p, roofs_, *other);
      projected_.resize(2 * sums_.size());
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const scope_node& first = p.nodes[numbers_.first[i]];
      sums_[i].begin(first, numbers_.operators[i]);
      sums_[i].row.node = numbers_.first[i];
      sums_[i].row.variants = numbers_.variants[i];
      if (numbers_.variants[i] == 1 || by.has(group_key::parameters))
        sums_[i].row.parameters = groups_.leaves().text(first);
    }
    walk(
        p, [&](std::uint32_t node) { enter(node); }, [&](std::uint32_t node) { leave(node); });
  }

  std::vector<operator_row> finish() {
    for (const variant_sum& v : variants_)
      if (v.row != scope_node::none) on_device_[v.row].add(v);
    const double all = all_self_ns(p_), all_device = all_device_work(p_).ns;
    std::vector<operator_row> table;
    table.reserve(sums_.size());
    const profile_keys keys(p_);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      table.push_back(sums_[i].finish(p_, all));
      operator_row& row = table.back();
      row.values = groups_.values_of({row.node, row.node});
      row.key = keys.row(p_.nodes[row.node], row.values, groups_.leaves());
      for (const group_value& v : row.values)
        if (v.kind == group_key::pass) row.pass = pass_of_name(v.text), row.several_passes = false;
      if (!numbers_.ranges.empty()) row.ranges = std::move(numbers_.ranges[i]);
      if (!on_device_.empty()) on_device_[i].finish(row, all_device, p_);
      if (projection_) projected_[2 * i + (row.on_device ? 1 : 0)].finish(row);
    }
    make_keys_differ(table);
    return table;
  }

  /// For each node the number of its row, as in row_numbers.
  std::vector<std::uint32_t> take_rows_of_nodes() { return std::move(numbers_.row_of); }

 private:
  row_sum* row_of(std::uint32_t node) noexcept {
    return numbers_.row_of[node] == scope_node::none ? nullptr : &sums_[numbers_.row_of[node]];
  }

  void enter(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    row->row.self_ns += not_negative(n.self_ns);
    row->row.off_cpu_self_ns += off_cpu_[node];
    if (!waited_.empty()) row->row.waited_ns += waited_[node];
    if (!on_device_.empty()) enter_device(node, on_device_[numbers_.row_of[node]]);
    if (n.kind != scope_kind::op) return;
    const counted_call counted = row->counted();
    if (!is_placeholder(n)) row->add(p_, n, counted, roofs_.of(node));
    if (!variants_.empty()) enter_variant(node, counted);
    if (projection_ && counted.flops && counted.bytes) enter_projected(node);
    if (covers_[node]) row->enter(n);
  }

  void enter_variant(std::uint32_t node, const counted_call& counted) {
    variant_sum& variant = variants_[numbers_.set_of[node]];
    variant.row = numbers_.row_of[node];
    if (device_.whole[node].runs() > 0 || device_.whole[node].unrecorded > 0) {
      variant.on_device = true;
      variant.handed_over =
          variant.handed_over || is_placeholder(p_.nodes[node]) || is_part(p_.nodes[node]);
    }
    variant.add(p_.nodes[node], counted, roofs_.of(node));
  }

  void enter_device(std::uint32_t node, device_row_sum& row) {
    row.own.add(device_.own[node]);
    if (p_.nodes[node].kind != scope_kind::op || row.active++ != 0) return;
    row.total.add(device_.whole[node]);
    if (const call_roof& of_call = roofs_.of(node);
        of_call.why == absence::none && of_call.is_impossible)
      row.impossible_ns += device_.whole[node].ns;
  }

  /// On the device and on the host apart: the time of a row is of one of them. Further parts of
  /// calls that threads share are no calls.
  [[gnu::cold]] void enter_projected(std::uint32_t node) {
    if (executions(p_.nodes[node]) == 0) return;
    const bool on_device = roofs_.of(node).threads <= 0;
    projected_[2 * numbers_.row_of[node] + (on_device ? 1 : 0)].add(
        on_device ? device_.whole[node].ns : elapsed_ns(p_.nodes[node]), projection_->factor(node));
  }

  void leave(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    if (covers_[node]) row->leave(n);
    if (!on_device_.empty() && n.kind == scope_kind::op) --on_device_[numbers_.row_of[node]].active;
  }

  const profile& p_;
  group_numbers groups_;
  device_sums device_;
  roofline roofs_;
  row_numbers numbers_;
  std::vector<bool> covers_;
  std::vector<double> off_cpu_;  // by node
  std::vector<double> waited_;   // the same; empty: none waited
  std::vector<row_sum> sums_;
  std::vector<device_row_sum> on_device_;  // by row, where there is work on a device
  std::vector<variant_sum> variants_;      // the same by set of parameters in a row
  std::optional<projection> projection_;
  std::vector<projected_sum> projected_;  // by row, of the host and of the device
};

}  // namespace detail

/// A table and, for each node of the profile, the number of its row; none where it has no row. A
/// region or graph belongs to the row of the operator around it.
struct operator_rows {
  std::vector<operator_row> rows;
  std::vector<std::uint32_t> row_of;
};

/// The table of the calls for whose nodes keep(const scope_node&) says true, and what is in which
/// row. Keep is asked about operators only. The other calls are in no row, nor is the time of
/// regions in them; shares are still of all scopes.
/// By step a node may be in several rows: row_of is none then.
/// `other`: a machine that rows are projected on, but for those of steps; null: none.
template <class Keep>
operator_rows operator_rows_of(const profile& p, const grouping& by, Keep keep,
                               const other_machine* other = nullptr) {
  std::vector<bool> kept(p.nodes.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = p.nodes[i].kind == scope_kind::op && keep(p.nodes[i]);
  if (by.has(group_key::step))
    return {detail::step_rows(p, by, kept).finish(),
            std::vector<std::uint32_t>(p.nodes.size(), scope_node::none)};
  detail::row_summing sums(p, by, kept, other);
  std::vector<operator_row> rows = sums.finish();
  return {std::move(rows), sums.take_rows_of_nodes()};
}

/// The table alone.
///     operator_table(p, grouping::op, [](const scope_node& n) { return n.work.type == dtype::f16;
///     });
template <class Keep>
std::vector<operator_row> operator_table(const profile& p, const grouping& by, Keep keep,
                                         const other_machine* other = nullptr) {
  return operator_rows_of(p, by, keep, other).rows;
}

/// One row for each operator, set of parameters, ... of the profile, in the order in which the
/// profile names them. Operators of which no call has finished or is open, and that launched
/// nothing, have none.
///     for (const auto& row : kprof::operator_table(p, kprof::grouping::op)) use(row.name,
///     row.flops_per_s);
inline std::vector<operator_row> operator_table(const profile& p,
                                                const grouping& by = grouping::parameters) {
  return operator_table(p, by, [](const scope_node&) { return true; });
}

/// The sum of the calls for which keep(const scope_node&) says true, as one row. Nothing counts
/// twice: a call inside another one adds no time, and its FLOPs and bytes count only where no call
/// around it has a formula for them. So its FLOPs may be less than those of the rows of a table
/// summed, in which nested operators are rows of their own; calls and self times are their sum.
template <class Keep>
operator_row operator_total(const profile& p, Keep keep, const other_machine* other = nullptr) {
  std::vector<operator_row> rows = operator_table(p, grouping::nothing(), keep, other);
  return rows.empty() ? operator_row{} : std::move(rows[0]);
}
/// Of all calls.
inline operator_row operator_total(const profile& p) {
  return operator_total(p, [](const scope_node&) { return true; });
}

KPROF_DETAIL_END

#endif
