// SPDX-License-Identifier: MIT
// The answers of `kprof query` that are lists: steps and advice.

#include "query_answer.hpp"

#include <kprof/advice.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/report/text/advice_lines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kprof_tool {
namespace {

double length_of(const kprof::step_mark& step) noexcept {
  return static_cast<double>(step.end) - static_cast<double>(step.begin);
}

std::string step_object(const kprof::profile& run, const kprof::step_mark& step) {
  json_object out;
  out.text("kind", "step");
  out.integer("step", step.index);
  out.text_or_null("thread", kprof::detail::thread_text(run, step.thread));
  out.truth("counts", step.counts);
  out.number("begin_ns", static_cast<double>(step.begin));
  out.number("duration_ns", length_of(step));
  return out.with_reasons();
}

/// Whose time makes slow steps slow, what took less in them as well: the largest parts, and what
/// they leave in `rest_ns`.
std::string excess_of(const kprof::step_details& details, double& rest_ns) {
  constexpr std::size_t most = 5;
  std::vector<std::string> out;
  rest_ns = details.excess_ns;
  for (const std::uint32_t i :
       kprof::detail::sorted_order(details.excess.size(), [&](std::uint32_t a, std::uint32_t b) {
         return std::fabs(details.excess[a].ns) > std::fabs(details.excess[b].ns);
       })) {
    const kprof::step_excess& e = details.excess[i];
    if (out.size() == most || e.ns == 0) break;
    rest_ns -= e.ns;
    json_object excess;
    excess.text_or_null("name", e.name);  // null: outside all scopes
    excess.number("time_ns", e.ns);
    out.push_back(excess.whole());
  }
  return json_list(out);
}

/// The steps of one thread, also those that the profile has no marks of.
std::string steps_of_thread(const kprof::profile& run, const kprof::step_row& row) {
  json_object out;
  out.text_or_null("thread", kprof::detail::thread_text(run, row.thread));
  out.integer("steps", row.count);
  out.number("total_ns", row.total_ns);
  out.number("median_ns", row.median_ns);
  out.number("p99_ns", row.p99_ns);
  out.number("min_ns", row.min_ns);
  out.number("max_ns", row.max_ns);
  if (row.first_ns >= 0) out.number("first_ns", row.first_ns);
  else out.unknown("first_ns", "the profile does not have it");
  const kprof::step_details details = kprof::details_of_steps(run, row.thread);
  out.integer("whole_steps", details.steps);
  out.number("flops", details.flops);
  if (details.least_ns >= 0) out.number("mfu", details.mfu());
  else out.unknown("mfu", "no formula, or the machine's highest rate is not known");
  out.number("excess_ns", details.excess_ns);
  double rest_ns = 0;
  out.raw("excess", excess_of(details, rest_ns));
  out.number("excess_rest_ns", rest_ns);
  out.truth("is_estimate", details.is_estimate());
  return out.with_reasons();
}

std::string advice_object(const kprof::advice& a, const std::string& key) {
  json_object out;
  out.text("kind", "advice");
  out.text("id", a.id);
  if (a.gain_ns >= 0) {
    out.number("gain_ns", a.gain_ns);
    out.number("gain_share", a.share);
  } else {
    out.unknown("gain_ns", "nobody can say how much it saves");
    out.unknown("gain_share", "nobody can say how much it saves");
  }
  out.number("time_ns", a.time_ns);
  out.text("where", a.where);
  out.text("fact", a.fact);
  out.text("action", a.action);
  std::string sentence = kprof::detail::stopped(a.where + ' ' + a.fact);
  if (!a.action.empty()) sentence += ' ' + kprof::detail::stopped(a.action);
  out.text("sentence", sentence);
  out.raw("rows", key.empty() ? "[]" : '[' + json_quoted(key) + ']');
  return out.with_reasons();
}

}  // namespace

answer steps_of(const kprof::profile& run, const std::string&) {
  answer out;
  for (const std::uint32_t i :
       kprof::detail::sorted_order(run.steps.size(), [&](std::uint32_t a, std::uint32_t b) {
         return length_of(run.steps[a]) > length_of(run.steps[b]);
       })) {
    const double ns = std::max(0.0, length_of(run.steps[i]));
    out.rows.push_back({step_object(run, run.steps[i]), ns});
    out.time_ns += ns;
  }
  std::vector<std::string> threads;
  for (const kprof::step_row& row : kprof::step_table(run))
    threads.push_back(steps_of_thread(run, row));
  json_object totals = totals_of(run, out, "duration_ns");
  const std::uint64_t all = kprof::detail::steps_in_all(run);
  totals.integer("steps", all);
  totals.integer("steps_not_kept", all - run.steps.size());
  totals.raw("threads", json_list(threads));
  out.totals = totals.with_reasons();
  return out;
}

std::vector<answer_row> advice_rows(const kprof::profile& run, const kprof::operator_rows& table,
                                    const std::string& about) {
  std::vector<answer_row> out;
  for (const kprof::advice& a : kprof::advise(run)) {
    const std::uint32_t row =
        a.node < table.row_of.size() ? table.row_of[a.node] : kprof::scope_node::none;
    const std::string key =
        row < table.rows.size() ? kprof::row_key_text(table.rows[row].key) : std::string{};
    if (about.empty() || about == key)
      out.push_back({advice_object(a, key), std::max(0.0, a.gain_ns)});
  }
  return out;
}

answer advice_of(const kprof::profile& run, const std::string&) {
  answer out;
  out.rows = advice_rows(run,
                         kprof::operator_rows_of(run, kprof::grouping::parameters,
                                                 [](const kprof::scope_node&) { return true; }),
                         {});
  out.time_ns = kprof::detail::window_of(run);
  out.totals = totals_of(run, out, "gain_ns").with_reasons();
  return out;
}

}  // namespace kprof_tool
