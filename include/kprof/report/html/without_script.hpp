// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_WITHOUT_SCRIPT_HPP
#define KPROF_REPORT_HTML_WITHOUT_SCRIPT_HPP

// What a reader without scripts sees below the sentence: where the time goes, advice, whether the
// page can be trusted, the operators. Included by page.hpp. All of it is markup, names escaped.

#include <kprof/advice.hpp>
#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/report/html/overview.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/html/trust.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The facts, then the operators that take most of what the bar shows, and what is in none.
[[gnu::cold]] inline std::string plain_share(const page_tables& t,
                                             const std::vector<page_fact>& facts) {
  constexpr std::size_t most = 8;
  std::string out = "<ul>";
  const auto line = [&](const std::string& head, const std::string& text) {
    out += "<li><b>" + markup_text(head) + "</b> " + markup_text(text);
  };
  for (const page_fact& f : facts) line(f.label, f.value + ", " + f.basis);
  const double idle_ns = idle_ns_of(t), all_ns = t.whole_ns + idle_ns;
  const auto part = [&](const std::string& name, double ns) {
    if (ns > 0.001 * all_ns)
      line(name, format_share(share_of(ns, all_ns)) + ", " + format_time(ns));
  };
  const std::vector<operator_row> rows = operator_table(t.run, grouping::op);
  const std::vector<std::uint32_t> order = sorted_order(
      rows.size(),
      [&](std::uint32_t a, std::uint32_t b) { return t.time_of(rows[a]) > t.time_of(rows[b]); });
  double inside_ns = 0, smaller_ns = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double ns = t.time_of(rows[order[i]]);
    inside_ns += ns;
    if (i < most) part(printable(rows[order[i]].name, 100), ns);
    else smaller_ns += ns;
  }
  part("other operators", smaller_ns);
  part(t.device ? "no operator" : "regions alone", not_negative(t.whole_ns - inside_ns));
  part(t.device ? "idle" : "outside scopes", idle_ns);
  return out + "</ul><p>The pictures and the other sections need JavaScript.</p>";
}

[[gnu::cold]] inline std::string plain_advice(const std::vector<advice>& found, bool is_complete) {
  if (found.empty())
    return is_complete ? "<p>Nothing stands out.</p>"
                       : "<p>No advice: it would rest on what is missing.</p>";
  std::string out = "<ol>";
  for (const advice& a : found) {
    const std::string gain = a.gain_ns >= 0 ? ": at most " + format_time(a.gain_ns) + ", " +
                                                  format_share(a.share) + " of the run"
                                            : std::string{};
    out += "<li><b>" + markup_text(printable(a.where, 200) + ' ' + a.fact + '.') + "</b> " +
           markup_text(a.action + " (" + a.id + gain + ')');
  }
  return out + "</ol>";
}

[[gnu::cold]] inline std::string plain_trust(const std::vector<trust_line>& lines) {
  std::string out = "<ul>";
  for (const trust_line& line : lines)
    out += "<li>" +
           std::string{line.state == "ok"    ? "\u2713"
                       : line.state == "bad" ? "\u25B2"
                                             : "\u2013"} +
           " <b>" + markup_text(line.what) + "</b> " + markup_text(line.rest);
  return out + "</ul>";
}

/// The operators for a reader without scripts, the largest first.
[[gnu::cold]] inline std::string plain_table(const page_tables& t) {
  std::string out;
  constexpr std::size_t most = 500;
  const std::vector<operator_row>& rows = t.operators.rows;
  const std::vector<std::uint32_t> order = sorted_order(
      rows.size(),
      [&](std::uint32_t a, std::uint32_t b) { return t.time_of(rows[a]) > t.time_of(rows[b]); });
  out +=
      "<table><thead><tr><th scope=col>operator<th scope=col>parameters<th scope=col>pass"
      "<th scope=col>calls<th scope=col>time<th scope=col>share<th scope=col>of the roof"
      "<th scope=col>bound</thead><tbody>";
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const operator_row& row = rows[order[i]];
    const double ns = t.time_of(row);
    const std::string cells[] = {
        row.parameters,
        pass_of(t.run, row),
        format_count(row.calls + row.replays),
        format_time(ns),
        format_share(share_of(ns, t.whole_ns)),
        row.verdict.roof.known() ? format_share(row.verdict.roof.value) : "n/a",
        bound_of(t.run, row)};
    out += "<tr><th scope=row>" + markup_text(row.name);
    for (const std::string& cell : cells) out += "<td>" + markup_text(cell);
  }
  out += "</tbody></table>";
  if (rows.size() > most)
    out += "<p>" + format_count(rows.size() - most) + " smaller rows are left out here.</p>";
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
