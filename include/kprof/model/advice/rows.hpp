// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_ROWS_HPP
#define KPROF_MODEL_ADVICE_ROWS_HPP

// Rules of advice about how long the calls of an operator take: beside the least time, beside other
// rows, the first one beside later ones. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/verdict.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::advice_rules {

/// G17. Near the bandwidth of memory: only fewer bytes help.
[[gnu::cold]] inline bool at_memory_roof(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (row.verdict.bound != bound_by::memory || row.verdict.roof.value < 0.8) return false;
  const bool on_one = !row.on_device && !row.threads.known() && f.run.machine.cpu.threads > 1 &&
                      !is_one_of(f.several_threads, row.name) && rise_of_roof(f.run, row) > 1.1;
  out.fact = sentence(on_one ? "runs at # of what memory delivers to one thread"
                             : "runs at # of what memory can deliver",
                      {as_share(row.verdict.roof.value)});
  if (on_one)
    out.action = sentence("# threads get up to # of it together. On any number of them fewer",
                          {as_number(f.run.machine.cpu.threads),
                           as_rate(memory_rate(f.run.machine.cpu).all_threads)});
  else out.action = "Fewer";
  out.action +=
      " bytes help: fuse it with its neighbours, use a smaller type, or keep its data in cache";
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

/// What `count` runs take at worst: their 99th percentile, which of few is the slowest.
[[gnu::cold]] inline std::string at_worst(std::uint64_t count, double p99_ns) {
  return count < 100 ? sentence("# in the slowest of #",
                                {as_time(p99_ns), as_number(static_cast<double>(count))})
                     : sentence("# or more in one of a hundred", {as_time(p99_ns)});
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
  out.fact =
      sentence("takes # in most calls and #",
               {as_time(row.median_ns.value), as_text(at_worst(row.calls, row.p99_ns.value))});
  out.action = "Look for what interrupts it: other threads, allocation, waiting for data";
  return true;
}

/// "is 39% of the run", "is 39% of the run without its first call".
[[gnu::cold]] inline std::string share_text(const advice_facts& f, const operator_row& row) {
  return sentence(warm_up_ns(row) > 0 ? "is # of # without its first call" : "is # of #",
                  {as_share(steady_ns(row) / f.window_ns), as_text(f.whole)});
}

/// R1. Another row of the same operator comes nearer to its roof.
[[gnu::cold]] inline bool slower_than_its_like(const advice_facts& f, std::size_t i, advice& out) {
  if (f.better_row.size() <= i || f.better_row[i] >= f.rows.size()) return false;
  const operator_row &row = f.rows[i], &better = f.rows[f.better_row[i]];
  out.gain_ns = saved_at_roof_of(row, better);
  out.fact = share_text(f, row) +
             sentence(" at # of the roof, and # reaches #",
                      {as_share(steady_roof(row)), as_text(name_of(f, f.better_row[i])),
                       as_share(steady_roof(better))});
  out.action = sentence("At that rate it would take #", {as_time(steady_ns(row) - out.gain_ns)});
  return true;
}

/// R2. The row that loses most time is far from its roof.
[[gnu::cold]] inline bool far_from_roof(const advice_facts& f, std::size_t i, advice& out) {
  if (i != f.most_lost) return false;
  const operator_row& row = f.rows[i];
  out.gain_ns = lost_of(row);
  const bool memory = row.verdict.of_memory;
  out.fact = share_text(f, row) +
             sentence(" at # of the rate that # allows",
                      {as_share(steady_roof(row)), as_text(row.verdict.bound == bound_by::cache
                                                               ? "the cache that holds its data"
                                                           : memory ? "memory"
                                                                    : "arithmetic")});
  if (row.verdict.bound == bound_by::launch)
    out.action = sentence("A call takes #, mostly to get going: do more in a call, or fuse calls",
                          {as_time(row.mean_ns.value)});
  else if (row.on_device)
    out.action =
        "What holds it back its kernels may tell (report(kernels)): their occupancy, their last "
        "wave, how they read memory";
  else
    out.action = sentence(
        "Times do not tell what holds it back; often it is ##",
        {as_text(says_threads(f, row) && waits(row) ? "too little work for each of its threads, "
                                                    : ""),
         as_text(memory ? "memory read in small or strided pieces, loads that wait for one "
                          "another, a loop that is not vectorised, or bytes that the formula does "
                          "not count"
                        : "a loop that is not vectorised, sums that wait for one another, blocks "
                          "that do not fit the caches, or waiting for memory")});
  return true;
}

/// R3. The rows of an operator lose much together, and none of them does alone.
[[gnu::cold]] inline bool many_rows(const advice_facts& f, std::size_t, advice& out) {
  struct sum {
    double time = 0, ideal = 0, lost = 0;
    std::uint32_t rows = 0, most = scope_node::none;
    bool has_large = false;
  };
  text_numbers names;
  std::vector<sum> sums;
  for (std::uint32_t i = 0; i < f.rows.size(); ++i) {
    const operator_row& row = f.rows[i];
    if (!is_its_own(f, row) || !row.verdict.lost_ns.known() || row.name.empty()) continue;
    const std::uint32_t name = names.of(row.name);
    if (name == sums.size()) sums.emplace_back();
    sum& s = sums[name];
    const double lost = lost_of(row);
    ++s.rows;
    s.time += steady_ns(row);
    s.ideal += row.verdict.ideal_ns.value;
    s.lost += lost;
    s.has_large = s.has_large || lost >= much_lost * f.window_ns;
    if (s.most == scope_node::none || lost > lost_of(f.rows[s.most])) s.most = i;
  }
  const sum* largest = nullptr;
  for (const sum& s : sums)
    if (!s.has_large && s.lost >= much_lost * f.window_ns && s.ideal < near_roof * s.time &&
        (largest == nullptr || s.lost > largest->lost))
      largest = &s;
  if (largest == nullptr) return false;
  const operator_row& most = f.rows[largest->most];
  out.where = most.name;
  out.node = most.node;
  out.time_ns = largest->time;
  out.gain_ns = largest->lost;
  out.fact = sentence("is # of # at # of the roof in # rows, none of which loses much alone",
                      {as_share(largest->time / f.window_ns), as_text(f.whole),
                       as_share(largest->ideal / largest->time), as_number(largest->rows)});
  out.action = sentence("Look at what they have in common; # loses most, #",
                        {as_text(name_of(f, largest->most)), as_time(lost_of(most))});
  return true;
}

/// Operators that lack formulas: which takes the most time, how many there are, and their time.
struct formulas_lacking {
  std::string_view name;
  std::uint32_t node = scope_node::none;
  std::size_t operators = 0;
  double all_ns = 0, most_ns = 0;
};
[[gnu::cold]] inline formulas_lacking find_lacking(const advice_facts& f,
                                                   bool (*lacks)(const operator_row&)) {
  formulas_lacking out;
  text_numbers names;
  std::vector<double> times;
  for (const operator_row& row : f.rows) {
    // The host waits for devices: its time and theirs do not add up.
    if (row.on_device != (f.device_ns > 0) || row.name.empty() || !lacks(row)) continue;
    const std::uint32_t name = names.of(row.name);
    if (name == times.size()) times.push_back(0);
    const double ns = row.on_device ? row.device_ns : row.self_ns;
    times[name] += ns;
    out.all_ns += ns;
    if (times[name] > out.most_ns) {
      out.most_ns = times[name];
      out.name = row.name;
      out.node = row.node;
    }
  }
  out.operators = times.size();
  return out;
}

/// What operators may lack, and how R4 says it of one and of several.
struct lack {
  bool (*is_lacking)(const operator_row&);
  const char *of_one, *of_several, *action;
};
inline constexpr lack lacks[] = {
    {[](const operator_row& row) {
       return row.flops.why == absence::no_flops && row.bytes.why == absence::no_bytes;
     },
     ", and says neither FLOPs nor bytes", ", and say neither FLOPs nor bytes",
     "Two constexpr functions in a struct bring its rates, its roof and what bounds it: "
     "kprof::count flops() const and kprof::traffic bytes() const"},
    {[](const operator_row& row) { return row.verdict.roof.why == absence::no_type; },
     ", and does not say what type it computes with",
     ", and do not say what type they compute with",
     "A member kprof::dtype type = kprof::dtype::f32, or the type that it is, brings its roof"},
    {[](const operator_row& row) { return row.verdict.no_bound == absence::no_bytes; },
     " far from what arithmetic allows, and does not say its bytes",
     " far from what arithmetic allows, and do not say their bytes",
     "kprof::traffic bytes() const tells whether memory holds it back"},
};

/// R4. Operators that lack formulas or a type take much of the time.
[[gnu::cold]] inline bool no_formulas(const advice_facts& f, std::size_t, advice& out) {
  const double whole = f.device_ns > 0 ? f.device_ns : f.window_ns;
  for (const lack& what : lacks) {
    const formulas_lacking found = find_lacking(f, what.is_lacking);
    if (!(found.all_ns > 0) || found.all_ns < 0.2 * whole) continue;
    out.where = found.name;
    out.node = found.node;
    out.time_ns = found.all_ns;
    const bool one = found.operators == 1;
    out.fact =
        (one ? std::string{"takes"}
             : "and " + counted(found.operators - 1, "more operator", "more operators") + " take") +
        sentence(" # of #", {as_share(found.all_ns / whole),
                             as_text(f.device_ns > 0 ? "the device time" : f.whole)}) +
        (one ? what.of_one : what.of_several);
    out.action = what.action;
    return true;
  }
  return false;
}

}  // namespace detail::advice_rules
KPROF_DETAIL_END

#endif
