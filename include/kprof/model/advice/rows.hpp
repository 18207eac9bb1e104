// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_ROWS_HPP
#define KPROF_MODEL_ADVICE_ROWS_HPP

// Rules of advice about how long the calls of an operator take: beside the least time, beside other
// rows, the first one beside later ones. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// G17. Near the bandwidth of memory: only fewer bytes help.
[[gnu::cold]] inline bool at_memory_roof(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.verdict.bound != bound_by::memory || row.verdict.roof.value < 0.8) return false;
  out.fact = sentence("runs at # of what memory can deliver", {as_share(row.verdict.roof.value)});
  out.action =
      "Fewer bytes help: fuse it with its neighbours, use a smaller type, or keep its data in "
      "cache";
  return true;
}

/// S7. The first call takes far longer than those after it.
[[gnu::cold]] inline bool slow_first_call(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.calls < 3 || !row.first_ns.known() || !row.median_ns.known()) return false;
  out.gain_ns = row.first_ns.value - row.median_ns.value;
  if (!(row.first_ns.value > 10 * row.median_ns.value) || out.gain_ns < 0.02 * f.window_ns)
    return false;
  out.fact = sentence("took # in its first call and # in later ones",
                      {as_time(row.first_ns.value), as_time(row.median_ns.value)});
  out.action =
      "That is warm-up: page faults in new memory, lazy loading, tuning. Touch memory before the "
      "loop, and start recording behind the first call";
  return true;
}

/// S8. Some calls take far longer than most.
[[gnu::cold]] inline bool uneven_calls(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.calls < 20 || !row.p99_ns.known() || !row.median_ns.known()) return false;
  out.gain_ns = row.total_ns - static_cast<double>(row.calls) * row.median_ns.value;
  if (row.first_ns.known() && row.first_ns.value > 10 * row.median_ns.value)
    out.gain_ns -= row.first_ns.value - row.median_ns.value;
  if (!(row.p99_ns.value > 3 * row.median_ns.value) || out.gain_ns < 0.05 * f.window_ns)
    return false;
  out.fact = sentence("takes # in most calls and # or more in one of a hundred",
                      {as_time(row.median_ns.value), as_time(row.p99_ns.value)});
  out.action = "Look for what interrupts it: other threads, allocation, waiting for data";
  return true;
}

/// R1. Another row of the same operator comes nearer to its roof.
[[gnu::cold]] inline bool slower_than_its_like(const advice_facts& f, std::size_t i, advice& out) {
  if (f.better_row.size() <= i || f.better_row[i] >= f.rows.size()) return false;
  const operator_row &row = f.rows[i], &better = f.rows[f.better_row[i]];
  out.gain_ns = saved_at_roof_of(row, better);
  out.fact = sentence("is # of the run at # of the roof, and # reaches #",
                      {as_share(time_of(row) / f.window_ns), as_share(row.verdict.roof.value),
                       as_text(name_of(f, f.better_row[i])), as_share(better.verdict.roof.value)});
  out.action = sentence("At that rate it would take #", {as_time(time_of(row) - out.gain_ns)});
  return true;
}

/// R2. The row that loses most time is far from its roof.
[[gnu::cold]] inline bool far_from_roof(const advice_facts& f, std::size_t i, advice& out) {
  if (i != f.most_lost) return false;
  const operator_row& row = f.rows[i];
  out.gain_ns = row.verdict.lost_ns.value;
  const bool memory = is_of_memory(f.run, row);
  out.fact = sentence("is # of the run at # of the roof of #",
                      {as_share(time_of(row) / f.window_ns), as_share(row.verdict.roof.value),
                       as_text(memory ? "memory" : "arithmetic")});
  if (row.verdict.bound == bound_by::launch)
    out.action = sentence("A call takes #, mostly to get going: do more in a call, or fuse calls",
                          {as_time(row.mean_ns.value)});
  else if (row.on_device)
    out.action = "Look at its kernels: occupancy, tail, and how they read memory";
  else if (memory)
    out.action =
        "Read memory in order and in whole lines, prefetch it, and count the bytes that the "
        "formula does not";
  else
    out.action =
        "Look whether its inner loop is vectorised, has independent sums in flight, and works in "
        "blocks that fit the caches";
  return true;
}

}  // namespace detail::advice_rules
KPROF_DETAIL_END

#endif
