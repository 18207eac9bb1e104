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
#include <kprof/model/step_device.hpp>
#include <kprof/model/step_parts.hpp>
#include <kprof/model/variant_sum.hpp>
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
        parts_(p, device_),
        whole_(numbers_.first.size()),
        depth_(numbers_.first.size()) {
    find_rows_without_rates();
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
    device_row_sum device;
    launches_of_calls launches;
  };
  /// Of a row without steps: whether it is known which of its calls did what on the device.
  struct rates_of_row {
    bool on_device = false;
    bool lacks_work = false;  // nobody knows of which step
    bool of_steps = true;
    bool of_rest = true;
  };

  [[gnu::cold]] part_of_row& part(std::uint32_t whole, std::uint32_t step) {
    const auto [number, is_new] = numbers_of_parts_.of({{whole, step}});
    if (is_new) {
      rows_.emplace_back();
      rows_.back().number = number;
      rows_.back().whole = whole;
      rows_.back().step = step;
    }
    return rows_[number];
  }

  /// Calls of which some launched nothing, and calls that no step has whole, cannot be put beside
  /// the device's time in single steps.
  [[gnu::cold]] void find_rows_without_rates() {
    rates_.resize(whole_.size());
    of_set_.resize(numbers_.sets);
    if (device_.whole.empty()) return;
    // A graph and a copy do not show which of their records are missing.
    const device_completeness& c = p_.device.complete;
    const bool lost = c.dropped + c.cut_buffers + c.foreign_buffers > 0;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const scope_node& n = p_.nodes[i];
      const std::uint32_t row = numbers_.row_of[i];
      if (row == scope_node::none) continue;
      const device_sum& did = device_.whole[i];
      if (did.unrecorded > 0 || (lost && did.in_graphs + did.copies > 0))
        rates_[row].lacks_work = true;
      if (n.kind != scope_kind::op) continue;
      if (did.runs() == 0 && did.unrecorded == 0) continue;
      rates_[row].on_device = true;
      variant_sum& set = of_set_[numbers_.set_of[i]];
      set.on_device = true;
      set.handed_over = set.handed_over || is_placeholder(n) || is_part(n);
      const bool some_idle = n.unlaunched > 0 && n.unlaunched < n.calls;
      if (some_idle || set.handed_over || (executions(n) > 0 && !parts_.rest[i].is_split))
        rates_[row].of_steps = rates_[row].of_rest = false;
      for (const step_share& s : parts_.shares_of(i))
        if (s.calls > 0 && !parts_.device.knows(s.step)) rates_[row].of_rest = false;
    }
  }

  [[gnu::cold]] void enter(std::uint32_t node) {
    const std::uint32_t whole = numbers_.row_of[node];
    const scope_node& n = p_.nodes[node];
    if (whole != scope_node::none) {
      const counted_call counted = whole_[whole].counted();
      part_of_row& left = part(whole, step_share::none);
      enter_device(left, node);
      for (const step_share& s : parts_.shares_of(node)) {
        part_of_row& to = part(whole, s.step);
        to.has_any = true;
        to.sum.row.self_ns += not_negative(s.self_ns);
        if (n.kind == scope_kind::op) add(to, node, {s.calls, s.total_ns, 0, 0, false}, counted);
      }
      for (const step_replays& r : parts_.replays_of(node))
        add(part(whole, r.step), node, {0, 0, 0, r.replays, false}, counted);
      const step_rest& rest = parts_.rest[node];
      left.sum.row.self_ns += rest.self_ns;
      if (!waited_.empty()) left.sum.row.waited_ns += waited_[node];
      if (n.kind == scope_kind::op && !is_placeholder(n)) {
        if (!rest.is_split) add_whole(left, node, counted);
        else if (rest.calls > 0 || n.open > 0 || rest.total_ns > 0 || rest.replays > 0)
          add(left, node, rest, counted);
      }
      left.has_any = left.has_any || rest.self_ns > 0 || left.sum.row.waited_ns > 0;
      if (n.kind == scope_kind::op && covers_[node]) whole_[whole].enter(n);
    }
    move_work_to_steps(node);
  }
  [[gnu::cold]] void leave(std::uint32_t node) {
    const std::uint32_t whole = numbers_.row_of[node];
    if (whole == scope_node::none || p_.nodes[node].kind != scope_kind::op) return;
    if (covers_[node]) whole_[whole].leave(p_.nodes[node]);
    if (--depth_[whole] == 0) around_.pop_back();
  }

  [[gnu::cold]] void enter_device(part_of_row& left, std::uint32_t node) {
    const bool is_outermost = p_.nodes[node].kind == scope_kind::op && depth_[left.whole]++ == 0;
    if (is_outermost) around_.push_back(left.whole);
    if (device_.own.empty()) return;
    left.device.own.add(device_.own[node]);
    if (is_outermost) left.device.total.add(device_.whole[node]);
    left.has_any = left.has_any || device_.own[node].unrecorded > 0;
  }
  /// What the node launched in a step goes from the rests of its row, and of the rows around it, to
  /// their parts in the step.
  [[gnu::cold]] void move_work_to_steps(std::uint32_t node) {
    if (device_.own.empty()) return;
    const std::uint32_t own = numbers_.row_of[node];
    std::uint64_t rest = device_.own[node].runs();
    for (const step_work& w : parts_.work_of(node)) {
      rest -= std::min(rest, w.own.runs());
      if (own != scope_node::none) {
        part(own, w.step).device.own.add(w.own);
        take_away(part(own, step_share::none).device.own, w.own);
      }
      for (const std::uint32_t whole : around_) {
        part_of_row& to = part(whole, w.step);
        to.has_any = true;
        to.device.total.add(w.own);
        take_away(part(whole, step_share::none).device.total, w.own);
      }
    }
    if (own != scope_node::none && rest > 0) part(own, step_share::none).has_any = true;
  }

  /// Calls of a node in a step, or its rest.
  [[gnu::cold]] void add(part_of_row& to, std::uint32_t node, const step_rest& amount,
                         const counted_call& counted) {
    const scope_node& n = p_.nodes[node];
    const bool is_rest = to.step == step_share::none;
    slice_.thread = n.thread;
    slice_.kind = n.kind;
    slice_.merged = n.merged;
    slice_.file = n.file;
    slice_.line = n.line;
    slice_.work = n.work;
    slice_.calls = amount.calls;
    slice_.replays = amount.replays;
    slice_.unlaunched = n.unlaunched >= n.calls ? amount.calls : 0;
    slice_.total_ns = not_negative(amount.total_ns);
    slice_.open = is_rest ? n.open : 0;
    slice_.open_ns = is_rest ? n.open_ns : 0;
    add_calls(to, node, slice_, counted);
  }
  [[gnu::cold]] void add_whole(part_of_row& to, std::uint32_t node, const counted_call& counted) {
    add_calls(to, node, p_.nodes[node], counted);
  }
  [[gnu::cold]] void add_calls(part_of_row& to, std::uint32_t node, const scope_node& calls,
                               const counted_call& counted) {
    to.has_any = true;
    if (to.first == scope_node::none) {
      to.first = node;
      to.sum.begin(p_.nodes[node], 1);
    }
    sets_.push_back({to.number, node});
    to.sum.add(p_, calls, counted, roofs_.of(node));
    variant_sum work = of_set_[numbers_.set_of[node]];
    work.add(calls, counted, roofs_.of(node));
    to.device.add(work);
    if (counted.time && !device_.whole.empty())
      to.launches.add(p_, node, executions(calls), device_.whole[node].runs());
    if (to.step == step_share::none || device_.whole.empty()) return;
    // Of which step it is, nobody knows.
    to.device.total.unrecorded += device_.whole[node].unrecorded;
    to.device.total.open += device_.whole[node].open;
  }

  /// Counts the sets of parameters of each row, and the names of their operators.
  [[gnu::cold]] void count_sets() {
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
  [[gnu::cold]] std::vector<std::vector<field_range>> ranges_of_rows() {
    const bool one_set = by_.has(group_key::parameters) && by_.folded().empty();
    range_summing sums(groups_.leaves());
    for (const row_node& at : sets_)
      if (const part_of_row& to = rows_[at.row]; !one_set)
        sums.add(at.row, p_.nodes[at.node], to.variants > 1 && to.operators == 1);
    return sums.finish(rows_.size());
  }

  [[gnu::cold]] operator_row finished(part_of_row& part, double all, double all_device) {
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
    const figure unknown{0, absence::not_by_step};
    for (figure* f : {&row.mean_ns, &row.median_ns, &row.p99_ns, &row.min_ns, &row.max_ns,
                      &row.first_ns, &row.cpu})
      if (f->why != absence::no_calls && f->why != absence::graphs_only &&
          f->why != absence::not_joined)
        *f = unknown;
    finish_device(row, part, all_device);
    return row;
  }
  /// The roof of calls on the host is that of whole rows.
  [[gnu::cold]] void finish_device(operator_row& row, const part_of_row& part,
                                   double all_device) const {
    const figure unknown{0, absence::not_by_step};
    const rates_of_row& rates = rates_[part.whole];
    const bool is_known = row.of_step && parts_.device.knows(part.step);
    row.knows_device_of_step = is_known && !rates.lacks_work;
    if (is_known || !row.of_step) part.device.finish(row, all_device, p_);
    else row.gap_ns = unknown;
    const bool knows_rates = part.device.total.runs() > 0 &&
                             part.launches.are(part.device.total.runs()) &&
                             (row.of_step ? is_known && rates.of_steps : rates.of_rest);
    if (knows_rates) return;
    // Whose time it would be over, or what else is in a step, is not known.
    if (rates.on_device) row.flops_per_s = row.bytes_per_s = row.device_mean_ns = unknown;
    row.verdict = {};
    row.verdict.roof = row.verdict.ideal_ns = row.verdict.lost_ns = row.projected_ns = unknown;
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
  std::vector<row_sum> whole_;         // which calls cover others; no sums
  std::vector<std::uint32_t> depth_;   // by row: operators of it that the walk is in
  std::vector<std::uint32_t> around_;  // the rows of these, outermost first
  std::vector<rates_of_row> rates_;    // by row
  std::vector<variant_sum> of_set_;    // whether its calls work on the device; no sums
  key_numbers numbers_of_parts_{0};
  std::deque<part_of_row> rows_;  // sums point into themselves
  std::vector<row_node> sets_;
  scope_node slice_;  // its histogram stays empty, and is that of all rows
};

}  // namespace detail
KPROF_DETAIL_END

#endif
