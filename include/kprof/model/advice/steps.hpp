// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_STEPS_HPP
#define KPROF_MODEL_ADVICE_STEPS_HPP

// A rule of advice about steps of the program's main loop, some of which take far longer than most.
// Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rows.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// What the steps of a thread took above their median, summed; without the first one, which warms
/// up.
[[gnu::cold]] inline double excess_of_steps(const profile& p, const step_row& row) {
  double ns = 0;
  for (const thread_steps& t : p.stepping.threads) {
    if (t.thread != row.thread || t.count != row.count) continue;
    t.durations.each([&](std::uint32_t bucket, std::uint64_t count) {
      const double length =
          std::clamp(histogram::value_of(bucket) * p.clock.ns_per_tick, row.min_ns, row.max_ns);
      ns += std::max(0.0, length - row.median_ns) * static_cast<double>(count);
    });
    break;
  }
  return std::max(0.0, ns - std::max(0.0, row.first_ns - row.median_ns));
}

/// Whether S8 speaks about calls of an operator of this name.
[[gnu::cold]] inline bool has_uneven_calls(const advice_facts& f, std::string_view name) {
  for (std::size_t i = 0; i < f.rows.size(); ++i) {
    advice unused;
    if (f.rows[i].name == name && f.rows[i].total_ns >= 0.05 * f.window_ns &&
        uneven_calls(f, i, unused))
      return true;
  }
  return false;
}

/// S11. Some steps take far longer than most.
[[gnu::cold]] inline bool uneven_steps(const advice_facts& f, std::size_t, advice& out) {
  const std::vector<step_row> rows = step_table(f.run);
  if (rows.empty() || rows[0].count < 20 || !(rows[0].p99_ns > 1.5 * rows[0].median_ns))
    return false;
  const step_row& row = rows[0];
  out.gain_ns = excess_of_steps(f.run, row);
  if (out.gain_ns < 0.03 * f.window_ns) return false;
  // Those whose time makes slow steps slow, as far as the scopes of steps are known. Shares are of
  // all that took more: where others took less, one of them is more than the excess.
  const step_details details = details_of_steps(f.run, row.thread);
  double more_ns = 0;
  for (const step_excess& e : details.excess) more_ns += std::max(0.0, e.ns);
  std::string names;
  std::size_t named = 0;
  bool mostly_in_no_scope = false;
  for (const step_excess& e : details.excess) {
    if (named == 3 || !(e.ns > 0.1 * more_ns)) break;
    const bool in_no_scope = e.name.empty();
    if (!in_no_scope && named == 0 && e.ns > 0.5 * more_ns && has_uneven_calls(f, e.name))
      return false;
    names +=
        (named++ == 0 ? "" : ", ") +
        sentence("# (#)", {as_text(in_no_scope ? "no scope" : e.name), as_share(e.ns / more_ns)});
    if (in_no_scope && named == 1) mostly_in_no_scope = true;
  }
  out.where = "Steps";
  out.time_ns = row.total_ns;
  out.fact = sentence("take # mostly and #",
                      {as_time(row.median_ns), as_text(at_worst(row.count, row.p99_ns))});
  if (!names.empty()) out.fact += sentence("; the excess of slow ones is in #", {as_text(names)});
  out.action = names.empty() ? "Find which scopes make slow ones slow: report(by=op+step)"
               : mostly_in_no_scope
                   ? "Put a region around what runs there, and look for what interrupts it"
                   : "Look for what these do more of, and for what interrupts them: waiting for "
                     "data, allocation, other threads";
  return true;
}

}  // namespace detail::advice_rules
KPROF_DETAIL_END

#endif
