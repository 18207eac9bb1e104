// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SUMMARY_HPP
#define KPROF_MODEL_SUMMARY_HPP

// What a profile adds up to: one row an operator, and the call tree of all threads together.
// Include it to use the numbers of a run in a program. Pure: no I/O, no clock. Time and memory are
// linear in profile::nodes, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/tree_summary.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

namespace detail {

/// For each node the number of its operator's row or, for a region or graph, of the row of the
/// operator around it; none where there is no such row. Rows are numbered as they first appear.
/// Nodes that are not `kept`, and those in which nothing ran and nothing was launched, make no row;
/// the latter belong to the row that the same calls have on the thread which handed them over.
struct row_numbers {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first;     // the first node of each row
  std::vector<std::uint64_t> variants;  // sets of parameters of each row
  // by operator: for each node the number of its operator's set of parameters
  std::vector<std::uint32_t> variant_of;
  std::uint32_t variant_count = 0;

  row_numbers(const profile& p, grouping by, const std::vector<bool>& launched,
              const std::vector<bool>& kept)
      : row_of(p.nodes.size(), scope_node::none) {
    text_numbers names, parameters(p.nodes.size()), files;
    key_numbers keys(by == grouping::op ? 0 : p.nodes.size()),
        sets(by == grouping::op ? p.nodes.size() : 0);
    std::vector<std::uint32_t> row_of_key;
    std::vector<bool> counted;  // by variant
    if (by == grouping::op) variant_of.resize(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (!kept[i]) continue;
      const row_key variant{{names.of(n.name), parameters.of(n.values.packed), operator_part(n)}};
      row_key key{{variant.part[0]}};
      if (by >= grouping::parameters) key = variant;
      if (by >= grouping::call_site) key.part[3] = files.of(n.file), key.part[4] = n.line;
      if (by >= grouping::thread) key.part[5] = n.thread;
      row_of[i] = keys.of(key).first;
      if (row_of[i] == row_of_key.size()) row_of_key.push_back(scope_node::none);
      if (by == grouping::op) variant_of[i] = sets.of(variant).first;
      if (is_placeholder(n) && !launched[i]) continue;
      std::uint32_t& row = row_of_key[row_of[i]];
      if (row == scope_node::none) {
        row = static_cast<std::uint32_t>(first.size());
        first.push_back(static_cast<std::uint32_t>(i));
        variants.push_back(by == grouping::op ? 0 : 1);
      }
      if (by != grouping::op) continue;
      counted.resize(std::max<std::size_t>(counted.size(), variant_of[i] + std::size_t{1}));
      if (!counted[variant_of[i]]) ++variants[row];
      counted[variant_of[i]] = true;
    }
    for (const std::uint32_t variant : variant_of)
      if (variant != scope_node::none) variant_count = std::max(variant_count, variant + 1);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (row_of[i] != scope_node::none) row_of[i] = row_of_key[row_of[i]];
      else if (p.nodes[i].kind != scope_kind::op && p.nodes[i].kind != scope_kind::root &&
               parent_of(p, i) != scope_node::none)
        row_of[i] = row_of[parent_of(p, i)];
    }
  }
};

/// For each operator's node whether work was launched in it, or in regions and graphs in it.
inline std::vector<bool> launched_in(const profile& p, const device_sums& device) {
  std::vector<bool> launched(p.nodes.size());
  if (device.own.empty()) return launched;
  const std::vector<std::uint32_t> operators = operators_around(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (operators[i] != scope_node::none && device.own[i].runs() > 0) launched[operators[i]] = true;
  return launched;
}

/// Sums the nodes of a profile into rows.
class row_summing {
 public:
  /// `kept`: which nodes are calls that rows are made of.
  row_summing(const profile& p, grouping by, const std::vector<bool>& kept)
      : p_(p),
        by_(by),
        device_(p),
        numbers_(p, by, launched_in(p, device_), kept),
        sums_(numbers_.first.size()) {
    if (!device_.own.empty()) {
      on_device_.resize(sums_.size());
      variants_.resize(by == grouping::op ? numbers_.variant_count : sums_.size());
    }
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i].begin(p, numbers_.first[i], numbers_.variants[i]);
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
      table.push_back(sums_[i].finish(all, p_.clock.ns_per_tick));
      table.back().key = keys.row(p_.nodes[table.back().node], by_);
      if (on_device_.empty()) continue;
      on_device_[i].finish(table.back(), all_device, p_);
    }
    make_keys_differ(table);
    return table;
  }

 private:
  row_sum* row_of(std::uint32_t node) noexcept {
    return numbers_.row_of[node] == scope_node::none ? nullptr : &sums_[numbers_.row_of[node]];
  }

  // A call that is still open is in no total and covers nothing; its work on the device does not
  // wait for its end.
  static bool covers(const scope_node& n) noexcept {
    return n.kind == scope_kind::op && n.calls + n.replays > 0;
  }

  void enter(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    row->row.self_ns += not_negative(n.self_ns);
    if (!on_device_.empty()) enter_device(node, on_device_[numbers_.row_of[node]]);
    const bool outermost = row->active == 0;
    if (n.kind == scope_kind::op && !is_placeholder(n)) row->add(n, outermost);
    if (covers(n)) ++row->active;
    if (!variants_.empty() && n.kind == scope_kind::op) enter_variant(node, outermost);
  }

  void enter_variant(std::uint32_t node, bool outermost) {
    const std::uint32_t row = numbers_.row_of[node];
    variant_sum& variant = variants_[numbers_.variant_of.empty() ? row : numbers_.variant_of[node]];
    variant.row = row;
    if (device_.whole[node].runs() > 0 || device_.whole[node].unrecorded > 0) {
      variant.on_device = true;
      variant.handed_over = variant.handed_over || is_placeholder(p_.nodes[node]);
    }
    if (outermost) variant.add(p_.nodes[node]);
  }

  void enter_device(std::uint32_t node, device_row_sum& row) {
    row.own.add(device_.own[node]);
    if (p_.nodes[node].kind == scope_kind::op && row.active++ == 0)
      row.total.add(device_.whole[node]);
  }

  void leave(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    if (covers(n)) --row->active;
    if (!on_device_.empty() && n.kind == scope_kind::op) --on_device_[numbers_.row_of[node]].active;
  }

  const profile& p_;
  grouping by_;
  device_sums device_;
  row_numbers numbers_;
  std::vector<row_sum> sums_;
  std::vector<device_row_sum> on_device_;  // by row, where there is work on a device
  // the same by set of parameters, or by row where that is no more
  std::vector<variant_sum> variants_;
};

}  // namespace detail

/// The table of the calls for whose nodes keep(const scope_node&) says true; it is asked about
/// operators only. The other calls are in no row, nor is the time of regions in them; shares are
/// still of all scopes.
///     operator_table(p, grouping::op, [](const scope_node& n) { return n.work.type == dtype::f16;
///     });
template <class Keep>
std::vector<operator_row> operator_table(const profile& p, grouping by, Keep keep) {
  std::vector<bool> kept(p.nodes.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = p.nodes[i].kind == scope_kind::op && keep(p.nodes[i]);
  return detail::row_summing(p, by, kept).finish();
}

/// One row for each operator, set of parameters, ... of the profile, in the order in which the
/// profile names them. Operators of which no call has finished or is open, and that launched
/// nothing, have none.
///     for (const auto& row : kprof::operator_table(p, kprof::grouping::op)) use(row.name,
///     row.flops_per_s);
inline std::vector<operator_row> operator_table(const profile& p,
                                                grouping by = grouping::parameters) {
  return operator_table(p, by, [](const scope_node&) { return true; });
}

KPROF_DETAIL_END

#endif
