// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FOOTER_HPP
#define KPROF_REPORT_TEXT_FOOTER_HPP

// The end of every text report: what was seen, what was not, and what kprof itself took. Included
// by the text reports. A count that should be zero and is not gets a line of its own that begins
// with "!", says what it means and what to do.

#include <kprof/build_options.hpp>
#include <kprof/model/own_time.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/device.hpp>
#include <kprof/report/text/facts.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/write/version_text.hpp>

#include <algorithm>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Only where threads share calls and some do not fit together.
[[gnu::cold]] inline void add_shared_calls(const completeness& c, std::vector<oddity>& oddities) {
  const oddity all[] = {
      {c.incomplete_calls, "incomplete",
       "calls shared by threads of which parts never came; they count in no row, and the parts "
       "that came are in `self` alone. A note says which. "
       "Let each thread pass the KPROF_PART of each call once, with a `part` of its own."},
      {c.impossible_parts, "impossible parts",
       "KPROF_PART with a `part` that is not below `parts`; they belong to no call. A note says "
       "which. Number parts from 0 to `parts` - 1."},
      {c.unjoined_calls, "without times",
       "calls shared by threads that count, but whose times are not known: some parts came too "
       "many calls later than others to keep their times in memory. Totals and rates are of the "
       "others; with more `memory` they are of more calls."},
  };
  for (const oddity& o : all)
    if (o.count != 0) oddities.push_back(o);
}

[[gnu::cold]] inline std::vector<oddity> scope_oddities(const profile& p) {
  const completeness& c = p.complete;
  const std::string limit = memory_limit_of(p);
  std::vector<oddity> oddities = {
      {c.open, "open",
       "had not ended when the profile was taken; their time so far is in no total. Report after "
       "their blocks have ended, or read the "
       "column `open`."},
      {c.never_closed, "left open",
       "their thread ended before they did; their time is in no total. End a thread by returning "
       "from its function."},
      {c.dropped, "dropped",
       "not recorded, for want of memory or because thousands were open inside one another: calls "
       "and times above are too low. Raise " +
           limit + ", or put guards around larger pieces of work."},
      {c.dropped_inside, "dropped inside kprof",
       "not recorded, as a guard opened them while kprof itself was at work on that thread, in an "
       "allocator for instance. Nothing is wrong "
       "unless there are many; put no guards into operator new or malloc."},
      {c.closed_by_parent, "closed by an outer scope",
       "a scope around them ended first, and their times end with it. Let guards be local "
       "variables that end in reverse order: none on the "
       "heap, none moved out of its block."},
      {c.closed_elsewhere, "closed elsewhere",
       "guards destroyed on another thread than the one that made them, or after their scope was "
       "gone. Make and destroy a guard on one "
       "thread, within one block."},
      {c.invalid, "invalid",
       "calls whose parameters fail valid(), or whose formula overflowed or went negative; their "
       "rows say `invalid` and have no rates. "
       "Correct the parameters or the formula."},
      {c.merged, "merged",
       "calls kept without their parameters for want of memory; rows by parameters lack them. "
       "Totals may take half of " +
           limit +
           ", and merging begins at three quarters of that half. Raise the limit, or have fewer "
           "distinct parameters."},
  };
  add_shared_calls(c, oddities);
  return oddities;
}

[[gnu::cold]] inline void print_scopes(page& out, const profile& p) {
  const completeness& c = p.complete;
  print_oddities(out, "scopes", format_count(c.recorded) + " recorded", scope_oddities(p));
  if (c.imprecise > 0)
    out.paragraph("! ",
                  format_count(c.imprecise) +
                      " imprecise: durations that median and p99 know only roughly for want of "
                      "memory; all else is exact. Raise " +
                      memory_limit_of(p) + ".",
                  4, line_style::alarm);
}

[[gnu::cold]] inline void print_timeline(page& out, const profile& p) {
  const completeness& c = p.complete;
  std::string text;
  if (c.in_timeline == 0) text = c.recorded == 0 ? "empty" : "not kept; totals are not affected";
  else if (c.in_timeline >= c.recorded)
    text =
        (c.recorded == 1 ? "the only scope, " : "all " + format_count(c.recorded) + " scopes, ") +
        out.time(c.timeline_ns);
  else
    text = "the last " + out.time(c.timeline_ns) + " of " + out.time(p.wall_ns) + ": " +
           format_count(c.in_timeline) + " of " + format_count(c.recorded) +
           " scopes; totals cover all";
  if (const std::string kept = kept_steps_text(p); !kept.empty()) text += "; before that " + kept;
  print_fact(out, "timeline", text);
}

/// What reading the threads' CPU times took, which is in the sum before.
[[gnu::cold]] inline std::string readings_cost(const page& out, const own_cost& c) {
  if (c.cpu_readings == 0) return {};
  return "; of that " + counted(c.cpu_readings, "reading", "readings") + " of CPU time, " +
         out.time(c.cpu_reading_ns) + " each";
}

[[gnu::cold]] inline void print_cost(page& out, const profile& p) {
  const own_cost& c = p.cost;
  if (c.scope_ns > 0) {
    std::string text = out.time(c.scope_ns) + " a scope, " + out.time(c.recording_ns) + " in all";
    if (p.wall_ns > 0)
      text += " (" + format_share(c.recording_ns / p.wall_ns) +
              (p.threads.size() > 1 ? " of wall time, all threads summed)" : " of wall time)");
    print_fact(out, "own cost",
               text + readings_cost(out, c) + "; folding " + out.time(c.folding_ns) +
                   (c.snapshot_folding_ns > 0
                        ? ", " + out.time(c.snapshot_folding_ns) + " of it for snapshots"
                        : "") +
                   "; an empty scope shows " + out.time(c.empty_scope_ns) +
                   collecting_cost(out, p));
  } else {
    print_fact(out, "own cost", "n/a: not measured in this process" + collecting_cost(out, p));
  }
  print_fact(
      out, "memory",
      format_memory(c.memory) + (c.memory_limit > 0 ? " of " + format_memory(c.memory_limit) : ""));
}

[[gnu::cold]] inline void print_clock(page& out, const profile& p) {
  if (p.clock.source.empty()) return print_fact(out, "clock", "n/a: none was started");
  print_fact(out, "clock",
             out.safe(p.clock.source) + ", " + format_rate(p.clock.ns_per_tick) + " ns a tick, " +
                 (p.clock.residual_ns < 0
                      ? "calibrated twice"
                      : out.time(p.clock.residual_ns) + " off its calibration at most"));
}

inline std::string kprof_version() { return "kprof " + version_text(); }

/// Whether every scope and every record of the device is in the numbers, as exactly as it can be.
inline bool is_complete(const profile& p) {
  const auto matters = [](const oddity& o) { return o.count > 0 && !o.harmless; };
  const std::vector<oddity> of_scopes = scope_oddities(p), of_device = device_oddities(p);
  return p.complete.imprecise == 0 && std::none_of(of_scopes.begin(), of_scopes.end(), matters) &&
         (!uses_device(p) || std::none_of(of_device.begin(), of_device.end(), matters));
}

/// Whether `timeline` would show something.
inline bool has_timeline(const profile& p) noexcept {
  return p.complete.in_timeline > 0 || !p.steps.empty() || !p.device.timeline.items.empty();
}

/// One sentence where nothing is missing, and what else there is to see.
[[gnu::cold]] inline void print_all_is_well(page& out, const profile& p, const text_plan& plan) {
  if (p.complete.recorded == 0 && p.device.complete.records == 0)
    return out.line(kprof_version() + " recorded nothing.");
  std::string text =
      "Complete: nothing was lost of " + counted(p.complete.recorded, "scope", "scopes");
  if (uses_device(p))
    text += " and " + counted(p.device.complete.records, "record", "records") + " of the device";
  text += "; " + kprof_version() + " took ";
  if (p.cost.scope_ns > 0) {
    const own_time took = own_time_of(p);
    text += out.time(took.in_scopes_ns);
    if (p.wall_ns > 0)
      text += " (" + format_share(took.in_scopes_ns / p.wall_ns) + " of wall time" +
              (p.threads.size() > 1 ? ", all threads summed)" : ")");
    if (took.apart_ns > 0) text += ", and " + out.time(took.apart_ns) + " to add it up";
  } else {
    text += "n/a: not measured in this process";
  }
  if (p.state == measured_alone) return out.paragraph("", text + '.', 2);  // KPROF is not asked
  text += ". More: KPROF='report(";
  if (plan.roofs && !plan.options.roofline) text += "roofline,";
  if (!plan.tree) text += "tree,";
  if (plan.device && !plan.kernels) text += "kernels,";
  if (plan.device && !plan.copies) text += "copies,";
  if (!plan.options.timeline && has_timeline(p)) text += "timeline,";
  if (!plan.options.legend) text += "legend,";
  out.paragraph("", text + "details)'.", 2);
}

[[gnu::cold]] inline void print_footer(page& out, const profile& p, const text_plan& plan) {
  out.space();
  if (!plan.options.details && is_complete(p)) {
    print_all_is_well(out, p, plan);
  } else {
    out.line("Completeness", line_style::bold);
    print_scopes(out, p);
    print_device_facts(out, p);
    if (plan.options.details) {
      print_timeline(out, p);
      print_cost(out, p);
      print_clock(out, p);
    }
    print_fact(out, "version", kprof_version());
  }
  if (p.notes.empty()) return;
  out.space();
  out.line("Notes", line_style::bold);
  for (const std::string& note : p.notes)
    out.paragraph("  - ", out.safe(note), 4, line_style::notice);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
