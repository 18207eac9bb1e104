// SPDX-License-Identifier: MIT
// The JSON that `kprof compare --json` prints, in the envelope of `kprof query`.

#include "compare.hpp"
#include "query_envelope.hpp"

#include <kprof/model/row_keys.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kprof_tool {
namespace {

/// A row has the members of what is true of it, and no others.
void put_difference(json_object& out, const kprof::mean_difference& d) {
  out.number("change", d.change());
  if (d.has_interval()) {
    out.number("low", d.low());
    out.number("high", d.high());
    out.number("p", d.p);
  } else {
    for (const char* name : {"low", "high", "p"}) out.unknown(name, "a side has one run");
  }
}
void put_change(json_object& out, const kprof::judged_change& change) {
  put_difference(out, change.by);
  out.number("p_corrected", change.p);
  out.text("verdict", kprof::verdict_word(change.verdict));
  if (change.verdict == kprof::change_verdict::not_shown && change.runs_needed > 0)
    out.integer("runs_needed", change.runs_needed);
  else out.raw("runs_needed", "null");
}

template <class Row>
void put_names(json_object& out, const Row& row) {
  out.text("key", kprof::row_key_text(row.key));
  out.text("operator", row.name);
  out.text("parameters", row.parameters);
  out.text_or_null("pass", row.pass);
}

std::string total_json(const kprof::total_change& total) {
  json_object out;
  out.text("of", total.what);
  out.number("before_ns", total.before_ns);
  out.number("after_ns", total.after_ns);
  put_change(out, total.change);
  return out.with_reasons();
}

std::string row_json(const kprof::row_change& row) {
  json_object out;
  out.text("kind", "change");
  put_names(out, row);
  out.truth("on_device", row.on_device);
  out.integer("before_calls", row.before_calls);
  out.integer("after_calls", row.after_calls);
  out.number("before_ns", row.before_ns);
  out.number("after_ns", row.after_ns);
  out.number("before_share", row.before_share);
  out.number("after_share", row.after_share);
  put_change(out, row.change);
  out.number("plain_change", row.plain.change());
  out.number("mean_change", row.of_mean.change());
  out.truth("work_differs", row.work_differs);
  return out.with_reasons();
}

void put_kernel(json_object& out, std::uint64_t key, const std::string& name, const std::string& of,
                const std::string& pass) {
  out.text("key", kprof::row_key_text(key));
  out.text("kernel", name);
  out.text_or_null("operator", of);
  out.text_or_null("pass", pass);
}
std::string kernel_json(const kprof::row_change& row) {
  json_object out;
  put_kernel(out, row.key, row.name, row.parameters, row.pass);
  out.integer("before_runs", row.before_calls);
  out.integer("after_runs", row.after_calls);
  out.number("before_ns", row.before_ns);
  out.number("after_ns", row.after_ns);
  out.number("before_share", row.before_share);
  out.number("after_share", row.after_share);
  put_change(out, row.change);
  return out.with_reasons();
}
std::string unmatched_kernel_json(const kprof::unmatched_row& row) {
  json_object out;
  put_kernel(out, row.key, row.name, row.parameters, row.pass);
  out.number("share", row.share);
  return out.whole();
}

std::string unmatched_json(const kprof::unmatched_row& row) {
  json_object out;
  put_names(out, row);
  out.number("share", row.share);
  return out.whole();
}

std::string difference_json(const kprof::run_difference& d) {
  json_object out;
  out.text("what", d.what);
  out.text("before", d.before);
  out.text("after", d.after);
  return out.whole();
}

template <class Values, class Json>
std::string list_of(const Values& values, Json json_of) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(json_of(value));
  return json_list(all);
}

std::string common_json(const kprof::comparison& c) {
  json_object out;
  out.truth("is_removed", c.common_is_removed);
  out.truth("is_large", c.common_is_large);
  put_difference(out, c.common);
  return out.with_reasons();
}

std::string other_json(const kprof::other_rows& other) {
  json_object out;
  out.integer("rows", other.rows);
  out.number("before_share", other.before_share);
  out.number("after_share", other.after_share);
  put_difference(out, other.change);
  return out.with_reasons();
}

std::string kernels_json(const kprof::kernel_changes& kernels) {
  json_object out;
  out.raw("rows", list_of(kernels.rows, kernel_json));
  out.raw("only_before", list_of(kernels.only_before, unmatched_kernel_json));
  out.raw("only_after", list_of(kernels.only_after, unmatched_kernel_json));
  return out.whole();
}

}  // namespace

std::string comparison_json(const kprof::comparison& c, const std::string& program) {
  const kprof::comparison_words words = kprof::words_of(c);
  json_object totals;
  totals.text("program", program);
  totals.integer("before_runs", c.before_runs);
  totals.integer("after_runs", c.after_runs);
  totals.integer("rows", c.rows.size());
  totals.number("threshold", c.by.threshold);
  totals.text("sentence", words.first + (words.rest.empty() ? "" : " " + words.rest));
  totals.raw("warnings", list_of(words.warnings, json_quoted));
  totals.truth("is_slower", c.is_slower());
  totals.raw("totals", list_of(c.totals, total_json));
  totals.raw("common", common_json(c));
  totals.raw("other", other_json(c.other));
  totals.raw("kernels", kernels_json(c.kernels));
  totals.raw("only_before", list_of(c.only_before, unmatched_json));
  totals.raw("only_after", list_of(c.only_after, unmatched_json));
  totals.raw("differences", list_of(c.differences, difference_json));
  envelope e;
  e.command = json_quoted("compare");
  e.of.totals = totals.whole();
  for (const kprof::row_change& row : c.rows) e.of.rows.push_back({row_json(row), 0});
  return e.print(e.of.rows.size());
}

}  // namespace kprof_tool
