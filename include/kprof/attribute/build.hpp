// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_BUILD_HPP
#define KPROF_ATTRIBUTE_BUILD_HPP

// Makes a profile of what the recorder holds: ticks become nanoseconds, parameter bytes become
// typed values. Linear in the number of call-tree nodes; the scopes themselves were folded before.
// No clock is read here.

#include <kprof/attribute/attribution.hpp>
#include <kprof/attribute/call_links.hpp>
#include <kprof/attribute/history_writer.hpp>
#include <kprof/attribute/parameters.hpp>
#include <kprof/attribute/process_facts.hpp>
#include <kprof/attribute/shared_calls.hpp>
#include <kprof/attribute/single_scopes.hpp>
#include <kprof/attribute/step_shares.hpp>
#include <kprof/attribute/unshared_calls.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/recorder.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The moment of the snapshot and what turns ticks into time.
struct moment {
  const timebase& time;
  std::uint64_t now;
  single_scopes scopes;
};

/// `scope`: index of the node that it was launched in.
inline device_work to_work(const device_total& row, std::uint32_t scope) {
  const device_key& key = row.key;
  device_work out;
  out.scope = scope;
  const auto kind = static_cast<activity_kind>(key.kind);
  out.task = kind == activity_kind::kernel ? device_task::kernel
             : kind == activity_kind::copy ? device_task::copy
                                           : device_task::set;
  out.merged = key.name == device_key::merged_name;
  if (key.name != 0 && !out.merged) out.kernel = key.name - 1;
  out.device = key.device;
  out.stream = key.stream;
  for (int i = 0; i < 3; ++i) out.grid[i] = key.grid[i], out.block[i] = key.block[i];
  out.registers = key.registers;
  out.static_shared = key.static_shared;
  out.dynamic_shared = key.dynamic_shared;
  for (unsigned i = 0; i < 3; ++i) out.cluster[i] = key.launch >> 8 * i & 0xFFU;
  out.cooperative = (key.launch >> 24U) != 0;
  if (row.multiprocessor_shared != device_run::mixed && !out.merged)
    out.multiprocessor_shared = row.multiprocessor_shared;
  out.direction = static_cast<copy_direction>(key.places & 0xFFU);
  out.from = static_cast<memory_place>(key.places >> 8U & 0xFFU);
  out.to = static_cast<memory_place>(key.places >> 16U & 0xFFU);
  out.calls = row.calls;
  out.untimed = row.untimed;
  out.total_ns = static_cast<double>(row.total);
  out.min_ns = row.calls == row.untimed ? 0 : static_cast<double>(row.shortest);
  out.max_ns = static_cast<double>(row.longest);
  out.gaps = row.gaps;
  out.gap_ns = static_cast<double>(row.gap);
  out.bytes = row.bytes;
  return out;
}

/// Gives the operators of a profile their numbers, in the order in which nodes refer to them.
class operator_numbers {
 public:
  explicit operator_numbers(std::vector<operator_info>& table) : table_(table) {}

  /// `site`: the number of the call site that `op` is called from.
  std::uint32_t of(std::uint32_t site, const op_info& op) {
    if (site >= by_site_.size()) by_site_.resize(site + std::size_t{1}, scope_node::none);
    std::uint32_t& number = by_site_[site];
    if (number != scope_node::none) return number;
    const auto [entry, is_new] =
        by_name_.try_emplace(op.name, static_cast<std::uint32_t>(table_.size()));
    if (is_new) table_.push_back(to_operator(op));
    return number = entry->second;
  }

  /// Of an operator's parameters it is not known how they are shown.
  void not_presented(std::uint32_t op) {
    failed_.resize(table_.size());
    failed_[op] = true;
  }
  void tell(std::vector<std::string>& notes) const {
    for (std::size_t op = 0; op < failed_.size(); ++op)
      if (failed_[op])
        notes.push_back("brief() or shows() of the operator " + table_[op].name +
                        " threw an exception or divided by zero: rows show the fields instead");
  }

 private:
  std::vector<operator_info>& table_;
  std::vector<std::uint32_t> by_site_;
  std::vector<bool> failed_;
  // which differs from operator to operator; parts of calls have the operator of whole calls
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
};

inline scope_node to_node(const tree_node& n, const call_tree& tree, const site_table& sites,
                          operator_numbers& operators, const timebase& time) {
  const double ns_per_tick = time.ns_per_tick();
  scope_node out;
  const payload p = tree.payload_of(n);
  if (n.site != 0) {
    const site_info& where = sites[n.site];
    out.file = where.file;
    out.line = where.line;
    out.merged = n.merged;
    if (where.op == nullptr) {
      out.kind = n.site == site_table::graph_site ? scope_kind::graph : scope_kind::region;
      out.name = n.merged ? std::string{"(other regions)"} : std::string(p.bytes, p.size);
    } else {
      out.kind = scope_kind::op;
      out.name = where.op->name;
      out.op = operators.of(n.site, *where.op);
      if (!n.merged) {
        out.values = pack_parameters(*where.op, p.bytes);
        out.work = to_work(n.values);
        const presentation shown = to_presentation(p.shown, p.shown_size);
        out.brief.assign(shown.text, shown.size);
        out.beside = shown.beside;
        out.unshown = shown.unshown;
        if (shown.failed != 0) operators.not_presented(out.op);
      }
    }
  }
  out.calls = n.calls;
  out.captured = n.captured;
  if (n.calls != 0) out.unlaunched = n.calls - std::min(n.calls, n.captured + n.device_calls);
  else out.replays = n.device_calls;
  out.total_ns = static_cast<double>(n.total) * ns_per_tick;
  out.self_ns = static_cast<double>(n.self) * ns_per_tick;
  out.min_ns = n.calls == 0 ? 0 : static_cast<double>(n.shortest) * ns_per_tick;
  out.max_ns = static_cast<double>(n.slowest.longest()) * ns_per_tick;
  if (!n.is_part) {
    out.slowest = to_single_calls(n.slowest, time);
    out.sampled = to_single_calls(n.all_samples(), time);
  }
  if (n.calls != 0) {
    out.first_ns = static_cast<double>(n.first) * ns_per_tick;
    out.first_end_ns = std::max(0.0, time.since_start_ns(n.first_end));
  }
  out.durations = n.durations;
  return out;
}

/// Launches of graphs count at the node of the graphs, where there is one, since the scopes below
/// it lack them too.
inline void add_missing_launches(profile& out, const thread_log& log, std::uint32_t base) {
  for (std::uint32_t i = 0; i < log.tree.nodes().size(); ++i) {
    out.nodes[base + i].unrecorded += log.missing.without_record(i) + log.missing.of_graphs(i);
    const tree_node& n = log.tree.nodes()[i];
    if (n.site != site_table::graph_site ||
        log.tree.nodes()[n.parent].site == site_table::graph_site)
      continue;
    const std::uint64_t graphs = log.missing.of_graphs(n.parent);
    out.nodes[base + i].unrecorded += graphs;
    out.nodes[base + n.parent].unrecorded -= graphs;
  }
}

/// The thread of a log, or the threads whose totals it has.
inline thread_info to_thread(const thread_log& log, const moment& at) {
  const double ns_per_tick = at.time.ns_per_tick();
  const bool is_merged = log.counts.merged_threads != 0;
  thread_info out;
  out.id = is_merged ? 0 : log.thread_id;
  out.name = log.thread_name;
  out.ended = log.ended;
  out.merged = log.counts.merged_threads;
  // A recording may have been stopped before the thread ended.
  const std::uint64_t end = log.ended ? std::min(log.end, at.now) : at.now,
                      ran = is_merged         ? log.counts.merged_ticks
                            : end > log.begin ? end - log.begin
                                              : 0;
  out.begin_ns = std::max(0.0, at.time.since_start_ns(log.begin));
  out.wall_ns = static_cast<double>(ran) * ns_per_tick;
  out.in_scopes_ns =
      static_cast<double>(std::min(ran, log.ticks_in_scopes(is_merged ? 0 : end))) * ns_per_tick;
  const cpu_sums cpu = log.cpu.of_thread();
  out.measured_ns = static_cast<double>(cpu.measured) * ns_per_tick;
  out.off_cpu_ns = static_cast<double>(cpu.off) * ns_per_tick;
  return out;
}

inline void add_thread(profile& out, thread_log& log, const site_table& sites,
                       operator_numbers& operators, const part_groups& groups,
                       shared_calls_of_profile& shared, const moment& at, history_writer& history,
                       call_links& links, const std::vector<step_window>& kept) {
  const auto thread = static_cast<std::uint32_t>(out.threads.size());
  const auto base = static_cast<std::uint32_t>(out.nodes.size());
  const double ns_per_tick = at.time.ns_per_tick();
  out.threads.push_back(to_thread(log, at));
  for (const tree_node& n : log.tree.nodes()) {
    scope_node node = to_node(n, log.tree, sites, operators, at.time);
    node.thread = thread;
    node.parent = n.site == 0 ? scope_node::none : base + n.parent;
    if (node.kind == scope_kind::op && !node.merged && !n.is_part && !node.work.valid)
      out.complete.invalid += node.calls;
    if (node.merged) out.complete.merged += node.calls;
    out.nodes.push_back(std::move(node));
  }
  for (std::uint32_t i = 0; i < log.tree.nodes().size(); ++i) {
    const cpu_sums cpu = log.cpu.of(i);
    scope_node& node = out.nodes[base + i];
    node.measured_ns = static_cast<double>(cpu.measured) * ns_per_tick;
    node.off_cpu_ns = static_cast<double>(cpu.off) * ns_per_tick;
    node.denormal_ns = static_cast<double>(cpu.denormal) * ns_per_tick;
    node.measured_calls = cpu.measured_calls;
    node.denormal_calls = cpu.denormal_calls;
    node.page_faults = cpu.faults;
  }
  out.cost.cpu_readings += log.cpu.readings();
  add_missing_launches(out, log, base);
  history.add_log(log, thread, base, at.time.ns_per_tick());
  log.device.each([&](const device_total& row) {
    out.device.work.push_back(to_work(row, base + row.key.node));
  });
  for (const open_frame& f : log.stack) {
    if (f.adopted) continue;
    scope_node& node = out.nodes[base + f.node];
    ++node.open;
    if (at.now > f.start) node.open_ns += static_cast<double>(at.now - f.start) * ns_per_tick;
    const tree_node& n = log.tree.nodes()[f.node];
    if (n.is_part && n.merged)
      shared.add_open_merged(f.call_key,
                             part_number_of(*sites[n.site].op, log.tree.payload_of(n), true));
  }
  for (std::uint32_t i = 0; i < log.tree.nodes().size(); ++i) {
    const tree_node& n = log.tree.nodes()[i];
    if (!n.is_part) continue;
    const payload p = log.tree.payload_of(n);
    const part_number number = part_number_of(*sites[n.site].op, p, n.merged);
    if (n.merged) shared.add_merged(n.site, base + i, number, log.shared.find(i));
    else shared.add(base + i, number, groups.find(n.site, p), log.shared.find(i));
  }
  out.complete.recorded += log.counts.finished;
  out.complete.closed_by_parent += log.counts.closed_by_parent;
  out.complete.never_closed += log.counts.never_closed + (log.ended ? log.open_scopes() : 0);
  out.complete.open += log.ended ? 0 : log.open_scopes();
  out.complete.imprecise += log.tree.imprecise();
  out.complete.in_timeline += log.timeline_scopes();
  if (at.scopes == single_scopes::all ||
      (at.scopes == single_scopes::beside_devices && history.has_items()))
    add_timeline(out, log, base, at.time.first().ticks, kept, links);
}

/// Everything but the session's own state, the clock's description and kprof's cost. `device`:
/// nullptr where there is none; locked.
inline profile build_profile(recorder& from, attribution* device, const moment& at) {
  profile out;
  describe_process(out);
  if (device != nullptr)
    device->describe(out.device, [&](const device_total& row) {
      out.device.work.push_back(to_work(row, device_work::none));
    });
  operator_numbers operators(out.operators);
  shared_calls_of_profile shared(out, at.time, from.shared_calls().groups());
  unshared_calls unshared;
  step_shares steps(at.time);
  call_links links;
  history_writer history(out, device == nullptr ? nullptr : &device->history());
  if (history.has_calls())
    from.each_thread([&](const thread_log& log) { history.expect(log.number); });
  from.join_parts(at.now);
  from.each_thread([&](thread_log& log) { steps.look_at(log); });
  steps.choose(from.counts().recycled_until, from.windows());
  // A thread that records joins parts, which makes and forgets the groups that are looked at here.
  std::vector<std::string> of_shared;
  const auto finish_shared = [&] { of_shared = shared.finish(); };
  const auto add = [&](thread_log& log) {
    steps.add(out, log, static_cast<std::uint32_t>(out.threads.size()),
              static_cast<std::uint32_t>(out.nodes.size()), at.now, from.windows());
    unshared.count(log, from.sites(), static_cast<std::uint32_t>(out.nodes.size()));
    add_thread(out, log, from.sites(), operators, from.shared_calls().groups(), shared, at, history,
               links, steps.kept());
  };
  from.each_thread(add, finish_shared);
  if (unshared.has_candidates())
    from.each_thread([&](const thread_log& log) { unshared.look_at(log, from.sites()); });
  operators.tell(out.notes);
  unshared.tell(out);
  for (std::string& note : of_shared) out.notes.push_back(std::move(note));
  steps.finish(out, from.counts().recycled_until, from.windows());
  const recorder_counts& counts = from.counts();
  if (const std::uint64_t lost = counts.steps_lost; lost != 0)
    out.notes.push_back("there was no memory to note the ends of " + std::to_string(lost) +
                        " steps, each of which is part of the one after it");
  if (const std::uint64_t lost = counts.links_lost; lost != 0)
    out.notes.push_back("there was no memory to note " + std::to_string(lost) +
                        " calls of current_call() and belongs_to()");
  links.finish(out);
  if (const std::uint64_t older = out.device.complete.older_graphs; older != 0)
    out.notes.push_back(
        "work of graphs that were instantiated before an earlier recording stopped (" +
        std::to_string(older) +
        ") stands under the scopes known then: what updated the graphs before this recording was "
        "not seen");
  history.finish(static_cast<std::int64_t>(at.time.since_start_ns(at.now)));
  out.cost.snapshot_folding_ns = static_cast<double>(counts.snapshot_folding_ns.load());
  out.cost.folding_ns =
      static_cast<double>(counts.folding_ns.load()) + out.cost.snapshot_folding_ns;
  out.complete.closed_elsewhere = counts.closed_elsewhere;
  out.complete.dropped = counts.dropped;
  out.complete.dropped_inside = counts.dropped_inside;
  out.device.complete.launches_lost = counts.launches_lost;
  const std::uint64_t recycled = counts.recycled_until;
  out.complete.timeline_ns =
      at.time.since_start_ns(at.now) - (recycled == 0 ? 0 : at.time.since_start_ns(recycled));
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
