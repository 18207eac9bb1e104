// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEP_ROWS_HPP
#define KPROF_MODEL_STEP_ROWS_HPP

// The operator table where rows are told apart by step: each row that the other keys make becomes
// one for each step, by the shares of profile::stepping, and one for the rest. They add up to the
// row without steps. Included by summary.hpp. Pure; linear in profile::nodes and the shares,
// sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/call_table.hpp>
#include <kprof/model/device_row_sum.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/field_ranges.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_numbers.hpp>
#include <kprof/model/row_sum.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What stays of a node when its shares are taken away.
struct step_rest {
  std::uint64_t calls = 0;
  double total_ns = 0;
  double self_ns = 0;
  bool is_split = false;  // false: the whole node is the rest
};

/// The shares that rows are made of, by node, and what they leave. A node is not split where its
/// shares say more than the node does, as in a damaged file, nor where calls are not the scopes
/// that the shares count: of parts, and of calls that graphs replay.
class step_parts {
 public:
  [[gnu::cold]] explicit step_parts(const profile& p) : rest(p.nodes.size()) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      rest[i] = {n.calls, not_negative(n.total_ns), not_negative(n.self_ns),
                 n.kind != scope_kind::root && n.kind != scope_kind::graph && !is_part(n) &&
                     n.captured == 0 && n.replays == 0};
    }
    for (const step_share& s : p.stepping.shares) take(p, s);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (!rest[i].is_split) rest[i] = {n.calls, not_negative(n.total_ns), not_negative(n.self_ns)};
      // So much is rounding.
      const double nothing = 1e-3 + 1e-12 * not_negative(n.total_ns);
      if (rest[i].total_ns < nothing) rest[i].total_ns = 0;
      if (rest[i].self_ns < nothing) rest[i].self_ns = 0;
    }
    for (const step_share& s : p.stepping.shares)
      if (s.node < rest.size() && rest[s.node].is_split) shares.push_back(s);
    sort_table(shares, [](const step_share& a, const step_share& b) {
      return a.node != b.node ? a.node < b.node : a.step < b.step;
    });
  }

  std::vector<step_rest> rest;     // by node
  std::vector<step_share> shares;  // of nodes that are split, by node and step

 private:
  void take(const profile& p, const step_share& s) {
    if (s.node >= rest.size()) return;
    step_rest& left = rest[s.node];
    // Sums of rounded times may be off by so much.
    const double rounding = 1 + 1e-9 * not_negative(p.nodes[s.node].total_ns);
    left.is_split = left.is_split && s.step < p.steps.size() && s.calls <= left.calls &&
                    not_negative(s.total_ns) <= left.total_ns + rounding &&
                    not_negative(s.self_ns) <= left.self_ns + rounding;
    if (!left.is_split) return;
    left.calls -= s.calls;
    left.total_ns -= not_negative(s.total_ns);
    left.self_ns -= not_negative(s.self_ns);
  }
};

/// Makes the rows. `by` has the key step.
class step_rows {
 public:
  [[gnu::cold]] step_rows(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : p_(p),
        by_(by),
        groups_(p, by),
        device_(p),
        roofs_(p, device_),
        numbers_(p, by, groups_, launched_in(p, device_), kept),
        covers_(covering_nodes(p, numbers_.row_of)),
        waited_(waited_in(p)),
        parts_(p),
        first_share_(p.nodes.size() + 1),
        whole_(numbers_.first.size()),
        on_device_(numbers_.first.size()) {
    for (const step_share& s : parts_.shares) ++first_share_[s.node + std::size_t{1}];
    for (std::size_t i = 1; i < first_share_.size(); ++i) first_share_[i] += first_share_[i - 1];
    // A row without a step has its place before its rows with one.
    for (std::uint32_t i = 0; i < whole_.size(); ++i) static_cast<void>(part(i, step_share::none));
    walk(
        p, [&](std::uint32_t node) { enter(node); }, [&](std::uint32_t node) { leave(node); });
  }

  [[gnu::cold]] std::vector<operator_row> finish() {
    count_sets();
    const double all = all_self_ns(p_), all_device = all_device_work(p_).ns;
    std::vector<std::vector<field_range>> ranges = ranges_of_rows();
    std::vector<operator_row> table;
    const profile_keys keys(p_);
    const std::vector<std::uint32_t> order =
        sorted_order(rows_.size(), [&](std::uint32_t a, std::uint32_t b) {
          return rows_[a].whole != rows_[b].whole ? rows_[a].whole < rows_[b].whole
                                                  : rows_[a].step < rows_[b].step;
        });
    for (const std::uint32_t i : order) {
      if (!rows_[i].has_any) continue;
      table.push_back(finished(rows_[i], all, all_device));
      operator_row& row = table.back();
      row.key = keys.row(p_.nodes[row.node], row.values, groups_.leaves());
      row.ranges = std::move(ranges[i]);
    }
    make_keys_differ(table);
    return table;
  }

 private:
  struct part_of_row {
    std::uint32_t number = 0;               // in rows_
    std::uint32_t whole = 0;                // the row without steps
    std::uint32_t step = step_share::none;  // index in profile::steps
    bool has_any = false;
    std::uint32_t first = scope_node::none;  // its first call's node
    std::uint64_t variants = 0, operators = 0;
    row_sum sum;
  };

  part_of_row& part(std::uint32_t whole, std::uint32_t step) {
    const auto [number, is_new] = numbers_of_parts_.of({{whole, step}});
    if (is_new) {
      rows_.emplace_back();
      rows_.back().number = number;
      rows_.back().whole = whole;
      rows_.back().step = step;
    }
    return rows_[number];
  }

  void enter(std::uint32_t node) {
    const std::uint32_t whole = numbers_.row_of[node];
    if (whole == scope_node::none) return;
    const scope_node& n = p_.nodes[node];
    const counted_call counted = whole_[whole].counted();
    for (std::size_t i = first_share_[node]; i < first_share_[node + 1]; ++i) {
      const step_share& s = parts_.shares[i];
      part_of_row& to = part(whole, s.step);
      to.has_any = true;
      to.sum.row.self_ns += not_negative(s.self_ns);
      if (n.kind == scope_kind::op) add(to, node, {s.calls, s.total_ns, 0, false}, counted);
    }
    part_of_row& left = part(whole, step_share::none);
    const step_rest& rest = parts_.rest[node];
    left.sum.row.self_ns += rest.self_ns;
    if (!waited_.empty()) left.sum.row.waited_ns += waited_[node];
    add_device(left, node);
    if (n.kind == scope_kind::op && !is_placeholder(n)) {
      if (!rest.is_split) add_whole(left, node, counted);
      else if (rest.calls > 0 || n.open > 0 || rest.total_ns > 0) add(left, node, rest, counted);
    }
    left.has_any = left.has_any || rest.self_ns > 0 || left.sum.row.waited_ns > 0;
    if (n.kind == scope_kind::op && covers_[node]) whole_[whole].enter(n);
  }
  void leave(std::uint32_t node) {
    const std::uint32_t whole = numbers_.row_of[node];
    if (whole == scope_node::none || p_.nodes[node].kind != scope_kind::op) return;
    if (covers_[node]) whole_[whole].leave(p_.nodes[node]);
    --on_device_[whole].active;
  }

  void add_device(part_of_row& left, std::uint32_t node) {
    device_row_sum& sum = on_device_[left.whole];
    const bool is_outermost = p_.nodes[node].kind == scope_kind::op && sum.active++ == 0;
    if (device_.own.empty()) return;
    sum.own.add(device_.own[node]);
    if (is_outermost) sum.total.add(device_.whole[node]);
    left.has_any = left.has_any || device_.own[node].runs() > 0;
  }

  /// Calls of a node in a step, or its rest.
  void add(part_of_row& to, std::uint32_t node, const step_rest& amount,
           const counted_call& counted) {
    const scope_node& n = p_.nodes[node];
    slice_.thread = n.thread;
    slice_.kind = n.kind;
    slice_.merged = n.merged;
    slice_.file = n.file;
    slice_.line = n.line;
    slice_.work = n.work;
    slice_.calls = amount.calls;
    slice_.total_ns = not_negative(amount.total_ns);
    slice_.open = to.step == step_share::none ? n.open : 0;
    slice_.open_ns = to.step == step_share::none ? n.open_ns : 0;
    begin(to, node);
    to.sum.add(p_, slice_, counted, roofs_.of(node));
  }
  void add_whole(part_of_row& to, std::uint32_t node, const counted_call& counted) {
    begin(to, node);
    to.sum.add(p_, p_.nodes[node], counted, roofs_.of(node));
  }
  void begin(part_of_row& to, std::uint32_t node) {
    to.has_any = true;
    if (to.first == scope_node::none) {
      to.first = node;
      to.sum.begin(p_.nodes[node], 1);
    }
    sets_.push_back({to.number, node});
  }

  /// Counts the sets of parameters of each row, and the names of their operators.
  void count_sets() {
    key_numbers of_sets(0), of_names(0);
    text_numbers names;
    std::vector<row_node> different;
    for (const row_node& at : sets_) {
      part_of_row& to = rows_[at.row];
      if (of_sets.of({{at.row, numbers_.set_of[at.node]}}).second)
        ++to.variants, different.push_back(at);
      if (of_names.of({{at.row, names.of(p_.nodes[at.node].name)}}).second) ++to.operators;
    }
    sets_ = std::move(different);
  }
  std::vector<std::vector<field_range>> ranges_of_rows() {
    const bool one_set = by_.has(group_key::parameters) && by_.folded().empty();
    range_summing sums(groups_.leaves());
    for (const row_node& at : sets_)
      if (const part_of_row& to = rows_[at.row]; !one_set)
        sums.add(at.row, p_.nodes[at.node], to.variants > 1 && to.operators == 1);
    return sums.finish(rows_.size());
  }

  operator_row finished(part_of_row& part, double all, double all_device) {
    const std::uint32_t first =
        part.first == scope_node::none ? numbers_.first[part.whole] : part.first;
    row_sum& sum = part.sum;
    if (part.first == scope_node::none) sum.begin(p_.nodes[first], 1);
    sum.row.operators = std::max<std::uint64_t>(part.operators, 1);
    sum.row.variants = std::max<std::uint64_t>(part.variants, 1);
    if (sum.row.operators > 1) sum.row.name.clear();
    operator_row row = sum.finish(p_, all);
    row.node = first;
    if (row.variants == 1 || by_.has(group_key::parameters))
      row.parameters = groups_.leaves().text(p_.nodes[first]);
    row.values = groups_.values_of({first, first});
    row.of_step = part.step != step_share::none;
    for (group_value& v : row.values) {
      if (v.kind == group_key::pass) row.pass = pass_of_name(v.text), row.several_passes = false;
      if (v.kind != group_key::step || !row.of_step) continue;
      v.known = true;
      v.text = std::to_string(p_.steps[part.step].index);
    }
    const device_row_sum& device = on_device_[part.whole];
    const figure unknown{0, absence::not_by_step};
    for (figure* f : {&row.mean_ns, &row.median_ns, &row.p99_ns, &row.min_ns, &row.max_ns,
                      &row.first_ns, &row.cpu})
      if (f->why != absence::no_calls && f->why != absence::graphs_only &&
          f->why != absence::not_joined)
        *f = unknown;
    if (!row.of_step) device.finish(row, all_device, p_);
    // Over whose time it would be, or what else is in a step, is not known.
    if (device.total.runs() > 0 || device.total.unrecorded > 0)
      row.flops_per_s = row.bytes_per_s = unknown;
    row.gap_ns = unknown;
    row.verdict = {};
    row.verdict.roof = row.verdict.ideal_ns = row.verdict.lost_ns = row.projected_ns = unknown;
    return row;
  }

  struct row_node {
    std::uint32_t row = 0, node = 0;
  };

  const profile& p_;
  const grouping& by_;
  group_numbers groups_;
  device_sums device_;
  roofline roofs_;
  row_numbers numbers_;  // of the rows without steps
  std::vector<bool> covers_;
  std::vector<double> waited_;  // by node; empty: none waited
  step_parts parts_;
  std::vector<std::size_t> first_share_;  // of each node: where its shares begin
  std::vector<row_sum> whole_;            // which calls cover others; no sums
  std::vector<device_row_sum> on_device_;
  key_numbers numbers_of_parts_{0};
  std::deque<part_of_row> rows_;  // sums point into themselves
  std::vector<row_node> sets_;
  scope_node slice_;  // its histogram stays empty, and is that of all rows
};

}  // namespace detail
KPROF_DETAIL_END

#endif
