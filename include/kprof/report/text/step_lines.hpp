// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_STEP_LINES_HPP
#define KPROF_REPORT_TEXT_STEP_LINES_HPP

// The section "Steps" of the text report: what a step takes, how far the first one differs, and
// whose time makes slow ones slow. Ten lines at most. Included by write_text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/text/direction_lines.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t most_step_threads = 3;

/// A thread's name; its number too where several have steps, as these often share a name.
[[gnu::cold]] inline std::string step_thread(const page& out, const profile& p, const step_row& row,
                                             bool are_several) {
  if (row.thread >= p.threads.size()) return "n/a";
  return are_several ? printable(thread_name(p, row.thread), 24, out.ascii())
                     : printable(p.threads[row.thread].name, 16, out.ascii());
}

/// The cells of a thread's row, the head's first.
[[gnu::cold]] inline std::vector<std::vector<std::string>> step_cells(
    const page& out, const profile& p, const std::vector<step_row>& rows) {
  std::vector<std::vector<std::string>> cells{
      {"thread", "steps", "median", "p99", "jitter", "min", "max", "first"}};
  for (std::size_t i = 0; i < std::min(rows.size(), most_step_threads); ++i) {
    const step_row& r = rows[i];
    cells.push_back({step_thread(out, p, r, rows.size() > 1), format_count(r.count),
                     out.time(r.median_ns), out.time(r.p99_ns), format_rate(r.jitter()),
                     out.time(r.min_ns), out.time(r.max_ns),
                     r.first_ns < 0 ? "n/a" : out.time(r.first_ns)});
  }
  return cells;
}

[[gnu::cold]] inline void print_step_rows(page& out, const profile& p,
                                          const std::vector<step_row>& rows) {
  print_cells(out, step_cells(out, p, rows));
  if (rows.size() > most_step_threads)
    out.line("  and steps of " +
             counted(rows.size() - most_step_threads, "more thread", "more threads"));
  if (rows.size() > 1)
    out.line("  what follows is of " + step_thread(out, p, rows[0], true) +
             ", whose steps take most time");
}

/// The number of a thread's first step; none: not known.
[[gnu::cold]] inline std::optional<std::uint64_t> first_index(const profile& p,
                                                              std::uint32_t thread) {
  std::optional<std::uint64_t> first;
  for (const step_mark& m : p.steps)
    if (m.thread == thread) first = std::min(first.value_or(m.index), m.index);
  return first;
}

/// "the first step took 3.02 times the median: ...", and what leaves it out where that helps.
[[gnu::cold]] inline void print_first_step(page& out, const profile& p,
                                           const std::vector<step_row>& rows) {
  const step_row& r = rows[0];
  if (r.first_ns < 0 || !(r.median_ns > 0)) return;
  const double ratio = r.first_ns / r.median_ns;
  const bool is_slow = ratio > 1.5;
  out.paragraph("  ", "the first step took " + format_rate(ratio) + " times the median", 4,
                is_slow ? line_style::notice : line_style::plain);
  const std::optional<std::uint64_t> index = first_index(p, r.thread);
  // One thread's steps drive a schedule, and a region's do not.
  if (!is_slow || !p.stepping.region.empty() || !index || rows.size() > 1) return;
  out.paragraph("  ",
                "a run without it: KPROF='report,schedule(skip=" + std::to_string(*index + 1) +
                    ",active=" + std::to_string(r.count - 1) + ",repeat=1)'",
                4);
}

/// "124 MFLOP a step at 30.9 GFLOP/s, MFU 41 % of 75.4 TFLOP/s for f32".
[[gnu::cold]] inline void print_step_work(page& out, const step_details& d) {
  if (!(d.flops > 0)) return;
  std::string text = format_si(d.flops / d.stands_for, "FLOP") + " a step at " +
                     format_si(d.flops / (d.working_ns() * 1e-9), "FLOP/s") + ", MFU ";
  if (d.least_ns < 0) {
    out.paragraph("  ", text + "n/a: the peak of the machine is not known", 4);
    return;
  }
  text += format_share(d.mfu());
  if (d.hardware_ns > d.least_ns)
    text += ", with what is computed once more (HFU) " + format_share(d.hfu());
  text += d.peak > 0 ? " of " + format_si(d.peak, "FLOP/s") : " of the peak";
  if (d.type != dtype::unknown) text += std::string{" for "} + dtype_name(d.type);
  const bool is_impossible = d.hfu() > over_the_roof;
  if (is_impossible)
    text += ": impossible, a formula or a ceiling is wrong, or work was skipped or done elsewhere";
  out.paragraph("  ", text, 4, is_impossible ? line_style::notice : line_style::plain);
}

/// That steps take longer than the host's, where it goes on before the devices have done them.
[[gnu::cold]] inline void print_device_steps(page& out, const step_details& d) {
  if (!(d.device_ns > 1.5 * d.total_ns)) return;
  out.paragraph("  ",
                "on the device a step takes " +
                    std::string{d.device_is_busy_time ? "at least " : ""} +
                    out.time(d.device_ns / d.stands_for) + ": the host's only enqueue",
                4);
}

/// ": 10.0 ms in Gemm, 5.00 ms less in Data": the largest parts of what was more, which add up to
/// it as far as a twentieth. `name_of` makes a name printable.
template <class Time, class Name>
[[gnu::cold]] std::string told_excess(std::vector<step_excess> parts, double whole_ns, Time time_of,
                                      Name name_of) {
  const double least = 0.05 * whole_ns;
  std::vector<step_excess> told;
  while (told.size() < 3 && !parts.empty()) {
    const auto largest = std::max_element(parts.begin(), parts.end(),
                                          [](const step_excess& a, const step_excess& b) {
                                            return std::fabs(a.ns) < std::fabs(b.ns);
                                          });
    if (!(std::fabs(largest->ns) > least)) break;
    told.push_back(*largest);
    largest->ns = 0;
  }
  std::string text;
  const auto add = [&](double ns, const std::string& where) {
    text += (text.empty() ? ": " : ", ") + time_of(std::fabs(ns)) + (ns < 0 ? " less" : "") + where;
    whole_ns -= ns;
  };
  for (const bool less : {false, true})
    for (const step_excess& e : told)
      if (less == (e.ns < 0))
        add(e.ns, " in " + (e.name.empty() ? std::string{"no scope"} : name_of(e.name)));
  if (!told.empty() && std::fabs(whole_ns) > least) add(whole_ns, " elsewhere");
  return text;
}
[[gnu::cold]] inline std::string told_excess(const page& out, std::vector<step_excess> parts,
                                             double whole_ns) {
  return told_excess(
      std::move(parts), whole_ns, [&](double ns) { return out.time(ns); },
      [&](std::string_view name) { return printable(name, 40, out.ascii()); });
}

/// Whose time the excess of slow steps is, where they take a hundredth of the time more.
[[gnu::cold]] inline void print_step_excess(page& out, const step_details& d) {
  if (!(d.excess_ns > 0.01 * d.total_ns)) return;
  out.paragraph("  ",
                "steps above the median took " + out.time(d.excess_ns) +
                    " more than as many others" + told_excess(out, d.excess, d.excess_ns),
                4);
}

/// Why there are no more steps.
[[gnu::cold]] inline std::string size_of_step_table() {
  return "a table of steps has " + format_count(most_step_shares) +
         " entries, one for each step and place in the call tree";
}
/// Self times of a step's scopes on its thread, by name; empty name: outside all scopes.
[[gnu::cold]] inline std::vector<step_excess> self_times_of(const profile& p, std::uint32_t step) {
  const step_mark& m = p.steps[step];
  std::vector<step_excess> out{{{}, static_cast<double>(m.end) - static_cast<double>(m.begin)}};
  for (const step_share& s : p.stepping.shares) {
    if (s.step != step || s.node >= p.nodes.size() || p.nodes[s.node].thread != m.thread) continue;
    const std::string_view name = p.nodes[s.node].name;
    auto known = out.begin() + 1;
    while (known != out.end() && known->name != name) ++known;
    if (known == out.end()) known = out.insert(known, {name, 0});
    known->ns += s.self_ns;
    out[0].ns -= s.self_ns;
  }
  return out;
}

/// "step 41, the slowest, took 20.1 ms, 19.9 ms more than step 500: 19.8 ms in loss", where the
/// timeline does not reach back to it.
[[gnu::cold]] inline void print_slowest_step(page& out, const profile& p, const step_row& r) {
  if (p.complete.in_timeline == 0 || p.complete.in_timeline >= p.complete.recorded) return;
  const auto length = [&](std::uint32_t i) {
    return static_cast<double>(p.steps[i].end) - static_cast<double>(p.steps[i].begin);
  };
  std::vector<char> has_shares(p.steps.size());
  for (const step_share& s : p.stepping.shares)
    if (s.step < has_shares.size()) has_shares[s.step] = 1;
  std::uint32_t slow = step_mark::none, usual = step_mark::none;
  for (std::uint32_t i = 0; i < p.steps.size(); ++i) {
    if (p.steps[i].thread != r.thread) continue;
    if (slow == step_mark::none || length(i) > length(slow)) slow = i;
    if (has_shares[i] != 0 &&
        (usual == step_mark::none ||
         std::fabs(length(i) - r.median_ns) < std::fabs(length(usual) - r.median_ns)))
      usual = i;
  }
  if (slow == step_mark::none ||
      static_cast<double>(p.steps[slow].begin) >= p.wall_ns - p.complete.timeline_ns)
    return;
  std::string text =
      "step " + format_count(p.steps[slow].index) + ", the slowest, took " + out.time(length(slow));
  if (has_shares[slow] == 0) {
    text += "; what it did is not known: " +
            std::string{is_kept_step(p, slow)
                            ? size_of_step_table()
                            : "its scopes are not kept. With more `memory` they may be"};
  } else if (usual != step_mark::none && usual != slow) {
    const double more = length(slow) - length(usual);
    text += ", " + out.time(more) + " more than step " + format_count(p.steps[usual].index);
    std::vector<step_excess> by = self_times_of(p, slow);
    for (const step_excess& u : self_times_of(p, usual)) {
      auto same = by.begin();
      while (same != by.end() && same->name != u.name) ++same;
      if (same == by.end()) same = by.insert(same, {u.name, 0});
      same->ns -= u.ns;
    }
    text += told_excess(out, std::move(by), more);
  }
  out.paragraph("  ", text, 4);
}

/// Why there are none of the steps' details.
[[gnu::cold]] inline std::string why_no_step_details(const profile& p) {
  if (p.stepping.without_shares == 0)
    return "the timeline has not two whole steps; with more `memory` it is longer";
  return size_of_step_table() + ". Fewer different parameters or names of regions help";
}

/// What needs the scopes of single steps.
[[gnu::cold]] inline void print_step_details(page& out, const profile& p, const step_row& r) {
  std::uint64_t nested = 0;
  for (const thread_steps& t : p.stepping.threads) nested += t.nested;
  if (nested != 0)
    out.paragraph(
        "  ",
        counted(nested, "region", "regions") + " of that name inside a step: no steps of their own",
        4, line_style::notice);
  const step_details d = details_of_steps(p, r.thread);
  if (d.steps < 2) {
    out.paragraph("  ", "work of a step and what slow steps did: n/a, " + why_no_step_details(p),
                  4);
    return;
  }
  print_step_work(out, d);
  print_device_steps(out, d);
  print_step_excess(out, d);
  if (d.steps >= r.count) return;
  if (d.is_estimate()) {
    out.paragraph("  ",
                  "work and slow steps are estimates for " +
                      format_count(static_cast<std::uint64_t>(d.stands_for)) + " steps by the " +
                      format_count(d.steps) + " whose marks are kept",
                  4);
    return;
  }
  const bool is_table_full = p.stepping.without_shares != 0;
  out.paragraph("  ",
                "work and slow steps are of the " + std::string{is_table_full ? "latest " : ""} +
                    format_count(d.steps) +
                    (is_table_full ? " steps: " + size_of_step_table()
                                   : std::string{" steps that the timeline has whole"}),
                4);
}

/// Why there is no step of `step=REGION`: no such region ran, with some of those that did, or none
/// has ended.
[[gnu::cold]] inline std::string why_no_regions(const page& out, const profile& p) {
  constexpr std::size_t most = 5;
  const std::string wanted = printable(p.stepping.region, 40, out.ascii());
  std::vector<std::string_view> names;
  std::unordered_set<std::string_view> known;
  for (const scope_node& n : p.nodes) {
    if (n.kind != scope_kind::region) continue;
    if (n.name == p.stepping.region) return "no region \"" + wanted + "\" has ended";
    if (known.insert(n.name).second) names.push_back(n.name);
  }
  std::string text = "no region \"" + wanted + "\" was recorded";
  if (names.empty()) return text + ", nor any other";
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "; there are \"" : ", \"") + printable(names[i], 40, out.ascii()) + '"';
  if (names.size() > most) text += " and " + format_count(names.size() - most) + " more";
  return text;
}

/// Where there are too few steps for a table and the program or the settings ask for them.
[[gnu::cold]] inline void print_too_few_steps(page& out, const profile& p,
                                              const std::vector<step_row>& rows) {
  const bool is_one = !rows.empty() && rows[0].count == 1;
  if (!is_one && p.stepping.region.empty()) return;
  out.space();
  if (is_one)
    out.paragraph("",
                  "Steps: one has ended, after " + out.time(rows[0].max_ns) +
                      "; there is a table where two have",
                  2);
  else out.paragraph("", "Steps: n/a, " + why_no_regions(out, p), 2, line_style::notice);
}

[[gnu::cold]] inline void print_steps(page& out, const profile& p) {
  const std::vector<step_row> rows = step_table(p);
  if (rows.empty() || rows[0].count < 2) return print_too_few_steps(out, p, rows);
  out.space();
  out.line("Steps" + (p.stepping.region.empty()
                          ? std::string{}
                          : ": regions \"" + printable(p.stepping.region, 40, out.ascii()) + '"'),
           line_style::bold);
  print_step_rows(out, p, rows);
  print_first_step(out, p, rows);
  print_slowest_step(out, p, rows[0]);
  print_step_details(out, p, rows[0]);
  print_directions(out, p);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
