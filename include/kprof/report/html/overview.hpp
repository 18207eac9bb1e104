// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_OVERVIEW_HPP
#define KPROF_REPORT_HTML_OVERVIEW_HPP

// The first screen of the page: a sentence, five facts and advice. Included by page.hpp. Texts and
// numbers are those of the text report.

#include <kprof/advice.hpp>
#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/outside_scopes.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/html/trust.hpp>
#include <kprof/report/text/footer.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct page_fact {
  std::string label, value, basis;
};

/// What the page says before all else.
struct page_head {
  std::string about;          ///< when and where
  std::string first, second;  ///< the sentence
  bool about_complete = true;
  std::vector<page_fact> facts;
};

/// "2026-11-21 16:04 UTC"; empty where it is not known.
[[gnu::cold]] inline std::string start_text(const profile& p) {
  if (p.clock.start_realtime_ns == 0) return {};
  const auto at = static_cast<std::time_t>(p.clock.start_realtime_ns / 1'000'000'000U);
  std::tm parts{};
  char text[40];
  if (gmtime_r(&at, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts) == 0)
    return {};
  return text;
}

[[gnu::cold]] inline std::string about_text(const profile& p) {
  std::vector<std::string> parts;
  if (std::string start = start_text(p); !start.empty()) parts.push_back(std::move(start));
  for (const device_info& d : p.device.devices)
    if (d.sum_ns > 0 && parts.size() < 4)
      parts.push_back(d.name.empty() ? "GPU " + std::to_string(d.id) : d.name);
  if (!p.machine.cpu.model.empty()) parts.push_back(p.machine.cpu.model);
  std::uint64_t threads = 0;
  for (const thread_info& t : p.threads) threads += std::max<std::uint64_t>(1, t.merged);
  parts.push_back(counted(threads, "thread", "threads") +
                  (p.cpus > 0 ? " on " + counted(p.cpus, "CPU", "CPUs") : ""));
  parts.push_back(format_time(p.wall_ns) + " recorded");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " \u00B7 ") + part;
  return text;
}

/// What the operators' work needs of the time that is judged.
struct page_goodness {
  double needed_ns = 0, time_ns = 0;
  double impossible_ns = 0;  ///< left out: in rows above every roof
  double all_ns = 0;         ///< of all operators
  bool at_most = false;
  bool in_part = false;  ///< only what has a roof is judged: it is too little to judge all by

  bool known() const noexcept { return time_ns > 0; }
  double roof() const noexcept { return share_of(needed_ns, time_ns); }
  double lost_ns() const noexcept { return not_negative(time_ns - needed_ns); }
};

[[gnu::cold]] inline page_goodness goodness_of(const page_tables& t) {
  const roof_verdict& all = t.total.verdict;
  page_goodness out, part;
  for (const operator_row& row : t.operators.rows) {
    const double ns = t.time_of(row);
    out.all_ns += ns;
    if (row.verdict.bound == bound_by::impossible) out.impossible_ns += ns;
    if (!row.verdict.lost_ns.known()) continue;
    part.time_ns += ns;
    part.needed_ns += needed_of(row, ns);
    part.at_most = part.at_most || row.verdict.roof.at_most;
  }
  if (all.lost_ns.known()) {
    out.needed_ns = all.ideal_ns.value;
    out.time_ns = all.ideal_ns.value + all.lost_ns.value;
    out.at_most = all.roof.at_most;
  } else {
    out.needed_ns = part.needed_ns;
    out.time_ns = part.time_ns;
    out.at_most = part.at_most;
    out.in_part = true;
  }
  return out;
}

[[gnu::cold]] inline page_head head_of(const page_tables& t) {
  const profile& p = t.run;
  const roof_verdict& roof = t.total.verdict;
  const page_goodness good = goodness_of(t);
  page_head out;
  out.about = about_text(p);
  out.about_complete = is_complete(p);
  std::string program = p.program.empty() ? "The program" : p.program;
  if (program.size() > 100) program = printable(program, 60);  // what is said of it comes behind
  const std::vector<step_row> steps = step_table(p);
  const std::string took = !steps.empty() && steps[0].count > 1
                               ? "A step takes " + format_time(steps[0].median_ns)
                               : "The run took " + format_time(p.wall_ns);
  if (t.operators.rows.empty()) {
    out.first = program + " ran no operator.";
    out.second = took + '.';
  } else if (!good.known()) {
    out.first = took + '.';
    out.second = std::string{"How good that is cannot be said: "} +
                 (roof.roof.known() ? "its operators are above the roof" : explain(roof.roof.why)) +
                 '.';
  } else {
    out.first = program + " reaches " + (out.about_complete ? "" : "about ") +
                (good.at_most ? "at most " : "") + format_share(good.roof()) + " of what this " +
                (t.device ? "GPU" : "CPU") + " can do" +
                (good.in_part ? ", where a roof is known." : ".");
    const bool has_steps = !steps.empty() && steps[0].count > 1;
    out.second = (has_steps ? took + "; the run's operators" : "Its operators") +
                 (good.in_part ? " with a roof take " : " take ") + format_time(good.time_ns) +
                 (good.in_part ? ", " + format_share(share_of(good.time_ns, good.all_ns)) +
                                     " of the time of all, and need "
                               : " and need ") +
                 format_time(good.needed_ns) + '.';
    // What has no roof counts as needing nothing.
    if (const double share = share_with_roof(t); share < 0.9 && !good.in_part)
      out.second += " A roof is known for " + format_share(share) + " of it.";
    if (good.impossible_ns > 0)
      out.second += " \u25B2 " + format_time(good.impossible_ns) + ", " +
                    format_share(share_of(good.impossible_ns, good.all_ns)) +
                    " of the operators' time, is left out: impossible.";
  }
  return out;
}

[[gnu::cold]] inline void add_work_facts(const page_tables& t, bool any_wrong,
                                         std::vector<page_fact>& out) {
  const profile& p = t.run;
  const double running_ns = p.wall_ns - p.paused_ns;
  const bool computes = t.total.flops.known() && t.total.flops.value > 0;
  const figure amount = computes ? t.total.flops : t.total.bytes;
  const char* const unit = computes ? "FLOP" : "B";
  if (amount.known() && amount.value > 0 && running_ns > 0)
    out.push_back({"Work done",
                   (any_wrong ? "\u25B2 " : "") +
                       format_si(amount.value / (running_ns * 1e-9), computes ? "FLOP/s" : "B/s"),
                   format_si(amount.value, unit) + " by the formulas, over the run" +
                       (any_wrong ? "; impossible ones too" : "")});
}

[[gnu::cold]] inline std::vector<page_fact> facts_of_page(const page_tables& t) {
  const profile& p = t.run;
  const page_goodness good = goodness_of(t);
  const bool any_wrong = good.impossible_ns > 0;
  std::vector<page_fact> out;
  const std::vector<step_row> steps = step_table(p);
  if (!steps.empty() && steps[0].count > 1) {
    const step_row& s = steps[0];
    out.push_back({"Median step", format_time(s.median_ns),
                   "most " + format_time(s.max_ns) + " of " + counted(s.count, "step", "steps")});
  } else {
    out.push_back({"Run", format_time(p.wall_ns),
                   p.paused_ns > 0 ? format_time(p.paused_ns) + " of it paused"
                                   : counted(p.complete.recorded, "scope", "scopes")});
  }
  add_work_facts(t, any_wrong, out);
  if (!steps.empty()) {
    const step_details d = details_of_steps(p, steps[0].thread);
    const bool is_wrong = d.mfu() > 1;
    if (d.steps > 1 && d.flops > 0 && d.least_ns >= 0)
      out.push_back({"Model FLOPs utilisation",
                     (is_wrong || any_wrong ? "▲ " : "") + format_share(d.mfu()),
                     (is_wrong    ? "impossible: "
                      : any_wrong ? "impossible rows too: "
                                  : "") +
                         (d.peak > 0 ? "of " + format_si(d.peak, "FLOP/s") : "of the peak") +
                         (d.type != dtype::unknown ? std::string{" for "} + dtype_name(d.type)
                                                   : std::string{})});
  }
  for (const device_info& d : p.device.devices)
    if (d.sum_ns > 0 && p.wall_ns > 0) {
      out.push_back(
          {p.device.devices.size() > 1 ? "GPU " + std::to_string(d.id) + " busy" : "GPU busy",
           (d.busy_is_exact ? "" : "at least ") + format_share(d.busy_ns / p.wall_ns),
           "idle " + format_time(not_negative(p.wall_ns - d.busy_ns)) + " of the run"});
      break;
    }
  if (!t.device)
    out.push_back({"In operators", format_share(t.total.share),
                   "of " + format_time(t.whole_ns) + " in scopes"});
  if (good.known())
    out.push_back(
        {"Lost above the roof", format_time(good.lost_ns()),
         (good.in_part ? "where a roof is known, the work needs " : "the operators' work needs ") +
             format_time(good.needed_ns)});
  else if (!t.operators.rows.empty()) {
    const auto largest = std::max_element(
        t.operators.rows.begin(), t.operators.rows.end(),
        [&](const operator_row& a, const operator_row& b) { return t.time_of(a) < t.time_of(b); });
    out.push_back({"Largest operator", format_share(share_of(t.time_of(*largest), t.whole_ns)),
                   largest->name + ' ' + largest->parameters});
  }
  return out;
}

[[gnu::cold]] inline void put_advice(script_json& out, const page_tables& t,
                                     const std::vector<advice>& found) {
  out.key("advice").open("[");
  for (const advice& a : found) {
    out.open("{");
    out.member("id", a.id);
    out.member("where", a.where);
    out.member("fact", a.fact);
    out.member("action", a.action);
    out.member("gain", a.gain_ns);
    out.member("gain_text", a.gain_ns >= 0 ? format_time(a.gain_ns) : std::string{});
    out.member("share", a.gain_ns >= 0 ? format_share(a.share) : std::string{});
    out.member("part", a.share);
    const std::uint32_t row = t.row_of(a.node);
    if (row < t.operators.rows.size()) out.member("row", row);
    out.close("}");
  }
  out.close("]");
}

/// What the bar has behind the operators and regions: time with nothing.
[[gnu::cold]] inline double idle_ns_of(const page_tables& t) {
  const profile& p = t.run;
  if (!t.device) return time_of_threads_in(p).outside_ns;
  if (p.device.devices.size() == 1 &&
      p.device.devices[0].sum_ns <= 1.01 * p.device.devices[0].busy_ns)
    return not_negative(p.wall_ns - p.device.devices[0].busy_ns);
  return 0;
}

/// What the first screen says, as a script shows it and as it stands in the page without one.
struct page_overview {
  [[gnu::cold]] explicit page_overview(const page_tables& t)
      : head(head_of(t)),
        facts(facts_of_page(t)),
        found(advise(t.run, {}, &t.times)),
        trust(trust_of(t)) {}

  page_head head;
  std::vector<page_fact> facts;
  std::vector<advice> found;
  std::vector<trust_line> trust;
};

[[gnu::cold]] inline void put_overview(script_json& out, const page_tables& t,
                                       const page_overview& says) {
  const auto put_texts = [&](const std::string& a, const std::string& b, const std::string& c) {
    out.open("[");
    for (const std::string* text : {&a, &b, &c}) out.text(*text);
    out.close("]");
  };
  out.member("about", says.head.about);
  out.member("first", says.head.first);
  out.member("second", says.head.second);
  out.member("complete", says.head.about_complete);
  out.key("facts").open("[");
  for (const page_fact& f : says.facts) put_texts(f.label, f.value, f.basis);
  out.close("]");
  put_advice(out, t, says.found);
  out.key("trust").open("[");
  for (const trust_line& line : says.trust) put_texts(line.state, line.what, line.rest);
  out.close("]");
  out.column("notes", t.run.notes, [&](const std::string& note) { out.text(note); });
  out.member("idle", idle_ns_of(t));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
