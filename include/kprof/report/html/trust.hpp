// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_TRUST_HPP
#define KPROF_REPORT_HTML_TRUST_HPP

// Whether the page can be trusted, a line each. Included by overview.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/outside_scopes.hpp>
#include <kprof/model/own_time.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/text/footer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of the operators' own time, what is in rows whose roof is known.
[[gnu::cold]] inline double share_with_roof(const page_tables& t) {
  double all_ns = 0, with_ns = 0;
  for (const operator_row& row : t.operators.rows) {
    all_ns += t.time_of(row);
    if (row.verdict.roof.known()) with_ns += t.time_of(row);
  }
  return all_ns > 0 ? with_ns / all_ns : 1;
}

/// "ok", "bad" or "none"; what holds, and what else there is to say of it.
struct trust_line {
  std::string state, what, rest;
};

[[gnu::cold]] inline std::vector<trust_line> trust_of(const page_tables& t) {
  const profile& p = t.run;
  std::vector<trust_line> out;
  const auto line = [&](const char* state, std::string what, std::string rest) {
    out.push_back({state, std::move(what), std::move(rest)});
  };
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
         above + ". A formula or a ceiling is wrong, or work was skipped or done elsewhere.");
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
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
