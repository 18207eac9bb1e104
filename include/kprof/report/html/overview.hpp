// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_OVERVIEW_HPP
#define KPROF_REPORT_HTML_OVERVIEW_HPP

// The first screen of the page: a sentence, five facts, advice, and whether it can be trusted.
// Included by html.hpp. Texts and numbers are those of the text report.

#include <kprof/advice.hpp>
#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/outside_scopes.hpp>
#include <kprof/model/own_time.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>
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

/// Of the operators' own time, what is in rows whose roof is known.
[[gnu::cold]] inline double share_with_roof(const page_tables& t) {
  double all_ns = 0, with_ns = 0;
  for (const operator_row& row : t.operators.rows) {
    all_ns += t.time_of(row);
    if (row.verdict.roof.known()) with_ns += t.time_of(row);
  }
  return all_ns > 0 ? with_ns / all_ns : 1;
}

[[gnu::cold]] inline page_head head_of(const page_tables& t) {
  const profile& p = t.run;
  const roof_verdict& roof = t.total.verdict;
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
  } else if (!roof.roof.known() || roof.bound == bound_by::impossible) {
    out.first = took + '.';
    out.second = std::string{"How good that is cannot be said: "} +
                 (roof.roof.known() ? "its operators are above the roof" : explain(roof.roof.why)) +
                 '.';
  } else {
    out.first = program + " reaches " + (out.about_complete ? "" : "about ") +
                (roof.roof.at_most ? "at most " : "") + format_share(roof.roof.value) +
                " of what this " + (t.device ? "GPU" : "CPU") + " can do.";
    const double over_ns = roof.ideal_ns.value + roof.lost_ns.value;
    out.second = (!steps.empty() && steps[0].count > 1 ? took + "; the run's " : "Its ") +
                 std::string{"operators take "} + format_time(over_ns) + " and need " +
                 format_time(roof.ideal_ns.value) + '.';
    // What has no roof counts as needing nothing.
    if (const double share = share_with_roof(t); share < 0.9)
      out.second += " A roof is known for " + format_share(share) + " of it.";
  }
  return out;
}

[[gnu::cold]] inline void add_work_facts(const page_tables& t, std::vector<page_fact>& out) {
  const profile& p = t.run;
  const double running_ns = p.wall_ns - p.paused_ns;
  const bool computes = t.total.flops.known() && t.total.flops.value > 0;
  const figure amount = computes ? t.total.flops : t.total.bytes;
  const char* const unit = computes ? "FLOP" : "B";
  if (amount.known() && amount.value > 0 && running_ns > 0)
    out.push_back({"Work done",
                   format_si(amount.value / (running_ns * 1e-9), computes ? "FLOP/s" : "B/s"),
                   format_si(amount.value, unit) + " by the formulas, over the run"});
}

[[gnu::cold]] inline std::vector<page_fact> facts_of_page(const page_tables& t) {
  const profile& p = t.run;
  std::vector<page_fact> out;
  const std::vector<step_row> steps = step_table(p);
  if (!steps.empty() && steps[0].count > 1) {
    const step_row& s = steps[0];
    out.push_back({"Median step", format_time(s.median_ns),
                   "most " + format_time(s.max_ns) + " of " + counted(s.count, "step", "steps")});
  } else {
    out.push_back({"Run", format_time(p.wall_ns),
                   p.paused_ns > 0 ? format_time(p.paused_ns) + " of it paused"
                                   : format_count(p.complete.recorded) + " scopes"});
  }
  add_work_facts(t, out);
  if (!steps.empty()) {
    const step_details d = details_of_steps(p, steps[0].thread);
    const bool is_wrong = d.mfu() > 1;
    if (d.steps > 1 && d.flops > 0 && d.least_ns >= 0)
      out.push_back({"Model FLOPs utilisation", (is_wrong ? "▲ " : "") + format_share(d.mfu()),
                     (is_wrong ? "impossible: " : "") +
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
  if (t.total.verdict.lost_ns.known())
    out.push_back({"Lost above the roof", format_time(t.total.verdict.lost_ns.value),
                   "the operators' work needs " + format_time(t.total.verdict.ideal_ns.value)});
  else if (!t.operators.rows.empty()) {
    const auto largest = std::max_element(
        t.operators.rows.begin(), t.operators.rows.end(),
        [&](const operator_row& a, const operator_row& b) { return t.time_of(a) < t.time_of(b); });
    out.push_back({"Largest operator", format_share(share_of(t.time_of(*largest), t.whole_ns)),
                   largest->name + ' ' + largest->parameters});
  }
  return out;
}

[[gnu::cold]] inline void put_advice(script_json& out, const page_tables& t) {
  out.key("advice").open("[");
  for (const advice& a : advise(t.run, {}, &t.times)) {
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

/// One line each: "ok", "bad" or "none"; what holds, and what else there is to say of it.
[[gnu::cold]] inline void put_trust(script_json& out, const page_tables& t) {
  const profile& p = t.run;
  const auto line = [&](const char* state, const std::string& what, const std::string& rest) {
    out.open("[");
    for (const std::string& text : {std::string{state}, what, rest}) out.text(text);
    out.close("]");
  };
  out.key("trust").open("[");
  if (is_complete(p)) {
    line("ok", "Nothing was lost:",
         counted(p.complete.recorded, "scope", "scopes") +
             (uses_device(p) ? " and " + counted(p.device.complete.records, "record", "records") +
                                   " of the GPU"
                             : "") +
             ", none dropped.");
  } else {
    for (const auto& all : {scope_oddities(p), device_oddities(p)})
      for (const oddity& o : all)
        if (o.count > 0 && !o.harmless)
          line("bad", format_count(o.count) + ' ' + o.what + ':', o.meaning);
    if (p.complete.imprecise > 0)
      line("bad", format_count(p.complete.imprecise) + " imprecise:",
           "durations that median and p99 know only roughly; all else is exact.");
  }
  double impossible = 0, inside_ns = 0;
  std::string above, without;
  for (const operator_row& row : t.operators.rows) {
    inside_ns += t.time_of(row);
    if (row.verdict.bound == bound_by::impossible) {
      if (impossible++ == 0) above = row.name + ' ' + row.parameters;
    } else if (!row.verdict.roof.known() && t.time_of(row) > 0) {
      if (without.empty()) without = row.name + ": " + explain(row.verdict.roof.why);
    }
  }
  const double outside = share_of(not_negative(t.whole_ns - inside_ns), t.whole_ns);
  if (!t.operators.rows.empty()) {
    line(outside > 0.1 ? "bad" : "ok",
         format_share(1 - outside) +
             (t.device ? " of the time of devices" : " of the time in scopes") +
             " has an operator;",
         t.device ? "the rest is work that was launched outside any."
                  : "the rest is in regions alone.");
    const time_of_threads threads = time_of_threads_in(p);
    const double without_scope = share_of(threads.outside_ns, threads.wall_ns);
    if (!t.device && without_scope > 0.02)
      line(without_scope > 0.1 ? "bad" : "ok",
           format_share(without_scope) + " of the threads' time is outside all scopes:",
           "no row tells of it.");
    const double known = share_with_roof(t);
    line(known < 0.9 ? "bad" : "ok", "A roof covers " + format_share(known),
         "of the operators' time." + (without.empty() ? "" : " Without: " + without + '.'));
  }
  if (impossible > 0)
    line("bad",
         format_count(static_cast<std::uint64_t>(impossible)) +
             (impossible == 1 ? " row is above every roof:" : " rows are above every roof:"),
         above + ". A formula or a ceiling is wrong, or work was skipped.");
  if (!p.machine.source.empty()) line("ok", "Ceilings:", p.machine.source + '.');
  const own_cost& c = p.cost;
  if (c.scope_ns > 0 && p.wall_ns > 0) {
    const own_time own = own_time_of(p);
    const double took = own.in_scopes_ns / p.wall_ns;
    const std::string threads = p.threads.size() > 1 ? ", all threads summed" : "";
    const std::string apart =
        own.apart_ns > 0 ? ", and " + format_time(own.apart_ns) + " to add it up." : ".";
    line(took > 0.05 ? "bad" : "ok", "kprof took",
         format_share(took) + " of wall time" + threads + apart);
  } else {
    line("none", "kprof's own cost", "was not measured in this process.");
  }
  out.close("]");
}

[[gnu::cold]] inline void put_overview(script_json& out, const page_tables& t) {
  const profile& p = t.run;
  const page_head head = head_of(t);
  out.member("about", head.about);
  out.member("first", head.first);
  out.member("second", head.second);
  out.member("complete", head.about_complete);
  out.key("facts").open("[");
  for (const page_fact& f : facts_of_page(t)) {
    out.open("[");
    for (const std::string& text : {f.label, f.value, f.basis}) out.text(text);
    out.close("]");
  }
  out.close("]");
  put_advice(out, t);
  put_trust(out, t);
  out.column("notes", p.notes, [&](const std::string& note) { out.text(note); });
  // What the bar has behind the operators: work in none, and time with nothing.
  double idle_ns = 0;
  if (t.device && p.device.devices.size() == 1 &&
      p.device.devices[0].sum_ns <= 1.01 * p.device.devices[0].busy_ns)
    idle_ns = not_negative(p.wall_ns - p.device.devices[0].busy_ns);
  if (!t.device && p.threads.size() == 1) idle_ns = not_negative(p.wall_ns - t.whole_ns);
  out.member("idle", idle_ns);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
