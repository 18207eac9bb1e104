// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_FACTS_HPP
#define KPROF_MODEL_ADVICE_FACTS_HPP

// Makes what the rules of advice look at, and says where a row or a kernel is. Included by
// advise.hpp. Pure; linear in the profile, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/unguarded_cpu.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether all scopes were recorded but one in a thousand: else sums of rows mislead.
inline bool has_all_scopes(const profile& p) noexcept {
  const completeness& c = p.complete;
  return c.dropped + c.dropped_inside <= c.recorded / 1000;
}

/// The same of the work on devices.
inline bool has_all_records(const profile& p) noexcept {
  const device_completeness& c = p.device.complete;
  return c.cut_buffers + c.foreign_buffers == 0 && c.dropped <= c.records / 1000 &&
         c.launches_lost <= c.launches / 1000 && c.untimed <= c.records / 1000;
}

[[gnu::cold]] inline double window_of(const profile& p) noexcept {
  double in_scopes = 0;
  for (const thread_info& t : p.threads) in_scopes += not_negative(t.in_scopes_ns);
  return std::max({not_negative(p.wall_ns - p.paused_ns), in_scopes, not_negative(all_self_ns(p))});
}

/// How long the threads of all rows were on no CPU in them.
[[gnu::cold]] inline double off_cpu_in(const std::vector<operator_row>& rows) noexcept {
  double ns = 0;
  for (const operator_row& row : rows) ns += not_negative(row.off_cpu_self_ns);
  return ns;
}

/// Whether its share of the roof is known and possible.
inline bool has_verdict(const operator_row& row) noexcept {
  return row.verdict.roof.known() && row.verdict.bound != bound_by::impossible &&
         row.verdict.bound != bound_by::unknown;
}

/// Whether the operator says that its calls run on several threads.
inline bool says_threads(const advice_facts& f, const operator_row& row) noexcept {
  return row.node < f.run.nodes.size() && f.run.nodes[row.node].work.threads > 1;
}

/// Whether its threads were on no CPU for much of their time in it.
inline bool waits(const operator_row& row) noexcept {
  constexpr double least_cpu = 0.8;
  return row.cpu.known() && row.cpu.value < least_cpu;
}

/// Whether its distance from the roof is its own doing: it was on a CPU for most of its time, or
/// waited for threads that it says it has, and its calls, where several threads share them, do not
/// overlap one another.
inline bool is_its_own(const advice_facts& f, const operator_row& row) noexcept {
  if (!has_verdict(row) || has_overlap(row)) return false;
  return !waits(row) || (f.helpers_worked && says_threads(f, row));
}

/// What the first call of a row took more than a usual one, where it took ten times as long: rule
/// S7 speaks about that time, and no other does.
inline double warm_up_ns(const operator_row& row) noexcept {
  const bool slow = !row.on_device && row.calls > 2 && row.first_ns.known() &&
                    row.median_ns.known() && row.first_ns.value > 10 * row.median_ns.value;
  return slow ? std::min(row.total_ns, row.first_ns.value - row.median_ns.value) : 0;
}
/// The time of a row without that, how near to its roof it is then, and what it loses.
inline double steady_ns(const operator_row& row) noexcept { return time_of(row) - warm_up_ns(row); }
inline double steady_roof(const operator_row& row) noexcept {
  const double ns = steady_ns(row);
  return ns > 0 ? std::min(1.0, row.verdict.ideal_ns.value / ns) : 0;
}
inline double lost_of(const operator_row& row) noexcept {
  return steady_ns(row) * (1 - steady_roof(row));
}

/// What a row saves that comes as near to its roof as another.
inline double saved_at_roof_of(const operator_row& row, const operator_row& other) noexcept {
  if (!(steady_roof(other) > 0)) return 0;
  return steady_ns(row) * (1 - steady_roof(row) / steady_roof(other));
}

/// How much faster a row may become on all CPUs; 1 where its roof does not rise.
[[gnu::cold]] inline double rise_of_roof(const profile& p, const operator_row& row) noexcept {
  const rate_ceiling r =
      row.verdict.of_memory ? memory_rate(p.machine.cpu) : rate_on(p.machine.cpu, row.type);
  return r.one_thread > 0 ? r.all_threads / r.one_thread : 0;
}

inline bool is_one_of(const std::vector<std::string_view>& names, std::string_view name) noexcept {
  for (const std::string_view n : names)
    if (n == name) return true;
  return false;
}

/// The share of the window from which on a row or an operator loses much.
inline constexpr double much_lost = 0.1;

/// Fills in better_row and most_lost.
[[gnu::cold]] inline void find_better_rows(advice_facts& f) {
  constexpr double nearer = 1.5, far_below = 0.6, least = 0.005, least_example = 0.08;
  const auto rows = static_cast<std::uint32_t>(f.rows.size());
  f.better_row.assign(rows, scope_node::none);
  key_numbers numbers(0);
  text_numbers names;
  std::vector<std::uint32_t> kind_of(rows, scope_node::none), nearest, loses_most;
  for (std::uint32_t i = 0; i < rows; ++i) {
    const operator_row& row = f.rows[i];
    if (!is_its_own(f, row) || row.name.empty()) continue;
    const auto [kind, is_new] =
        numbers.of({{names.of(row.name), static_cast<std::uint32_t>(row.type), row.on_device}});
    kind_of[i] = kind;
    if (is_new) nearest.push_back(scope_node::none), loses_most.push_back(scope_node::none);
    if (time_of(row) >= least * f.window_ns && row.verdict.bound != bound_by::cache &&
        (nearest[kind] == scope_node::none ||
         steady_roof(row) > steady_roof(f.rows[nearest[kind]])))
      nearest[kind] = i;
    if (row.verdict.lost_ns.known() && steady_roof(row) < far_below &&
        lost_of(row) >= much_lost * f.window_ns &&
        (f.most_lost == scope_node::none || lost_of(row) > lost_of(f.rows[f.most_lost])))
      f.most_lost = i;
  }
  for (std::uint32_t i = 0; i < rows; ++i) {
    if (kind_of[i] == scope_node::none || nearest[kind_of[i]] == scope_node::none) continue;
    const std::uint32_t kind = kind_of[i], best = nearest[kind];
    const operator_row& row = f.rows[i];
    const double saved = saved_at_roof_of(row, f.rows[best]);
    if (steady_roof(row) >= far_below || best == i || steady_roof(f.rows[best]) < least_example ||
        steady_roof(row) * nearer > steady_roof(f.rows[best]))
      continue;
    std::uint32_t& most = loses_most[kind];
    if (most == scope_node::none || saved > saved_at_roof_of(f.rows[most], f.rows[best])) most = i;
  }
  for (std::size_t k = 0; k < nearest.size(); ++k)
    if (loses_most[k] != scope_node::none) f.better_row[loses_most[k]] = nearest[k];
}

[[gnu::cold]] inline advice_facts facts_of(const profile& p) {
  operator_rows table =
      operator_rows_of(p, grouping::parameters, [](const scope_node&) { return true; });
  advice_facts f{p,
                 window_of(p),
                 std::move(table.rows),
                 std::move(table.row_of),
                 {},
                 {},
                 0,
                 {},
                 scope_node::none,
                 {}};
  // Waking up takes some time too.
  f.helpers_worked = off_cpu_in(f.rows) <= 1.1 * helpers_cpu_ns(p);
  if (f.window_ns > 1.02 * not_negative(p.wall_ns - p.paused_ns)) f.whole = "all threads' time";
  if (has_device_work(p)) {
    f.kernels = kernel_table(p);
    f.copies = copy_table(p);
    f.device_ns = all_device_work(p).ns;
  }
  if (has_ceilings(p.machine)) {
    for (const unsaid_threads& u : roofline(p, device_sums(p)).several_threads)
      f.several_threads.push_back(u.op);
    for (const scope_node& n : p.nodes)
      if (n.work.threads > 1 && !is_one_of(f.several_threads, n.name))
        f.several_threads.push_back(n.name);
    find_better_rows(f);
  }
  return f;
}

/// The row of the operator that launched a kernel; none where no operator did.
inline std::uint32_t row_of(const advice_facts& f, const kernel_row& kernel) noexcept {
  return kernel.node < f.row_of.size() ? f.row_of[kernel.node] : scope_node::none;
}

/// An operator and what tells the row from others of its name.
[[gnu::cold]] inline std::string name_of(const advice_facts& f, std::uint32_t number) {
  const operator_row& row = f.rows[number];
  std::vector<part_list> parts;
  std::size_t which = 0;
  for (std::uint32_t i = 0; i < f.rows.size(); ++i) {
    if (f.rows[i].name != row.name) continue;
    if (i == number) which = parts.size();
    parts.push_back(f.rows[i].node < f.run.nodes.size() && f.rows[i].variants == 1
                        ? parameter_parts(f.run, f.run.nodes[f.rows[i].node], which_fields::telling)
                        : part_list{});
  }
  take_shared(parts);
  std::string text = joined(parts[which]);
  if (row.pass != pass_kind::unknown && text.find(pass_name(row.pass)) == std::string::npos &&
      parts.size() > 1)
    text.append(text.empty() ? "" : " ").append(pass_name(row.pass));
  return text.empty() ? row.name : row.name + ' ' + text;
}

[[gnu::cold]] inline std::string name_of(const advice_facts& f, const kernel_row& kernel) {
  const std::uint32_t row = row_of(f, kernel);
  std::string name = short_kernel_name(kernel.kernel);
  if (name.size() > 60) name = name.substr(0, name.find('<'));
  if (name.empty()) name = "a kernel";
  return row == scope_node::none ? name : name + " of " + name_of(f, row);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
