// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_COMPARE_HPP
#define KPROF_REPORT_HTML_COMPARE_HPP

// The section of the page that compares the run with earlier ones. Included by page.hpp. Sentences
// are those of `kprof compare`.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/compare/sentences.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct page_comparison {
  comparison found;
  std::vector<std::string> before_files;
};

[[gnu::cold]] inline void put_texts(script_json& out, const char* name,
                                    const std::vector<std::string>& texts) {
  out.key(name).open("[");
  for (const std::string& text : texts) out.text(text);
  out.close("]");
}

/// Which row of the page's table has this key, if one has.
[[gnu::cold]] inline void put_row_of(script_json& out, const page_tables* t, std::uint64_t key) {
  for (std::size_t i = 0; t != nullptr && i < t->operators.rows.size(); ++i)
    if (t->operators.rows[i].key == key) out.member("row", i);
}

/// What rows and totals have in common. Places on the scale are logarithms.
[[gnu::cold]] inline void put_change(script_json& out, const judged_change& change,
                                     const mean_difference& plain) {
  out.member("at", change.by.difference);
  if (change.by.has_interval()) {
    out.member("low", std::log1p(change.by.low()));
    out.member("high", std::log1p(change.by.high()));
  }
  out.member("change", change_text(change.by));
  out.member("plain", change_text(plain));
  out.member("interval", interval_text(change.by));
  out.member("verdict", verdict_word(change.verdict));
  out.member("needs", needs_text(change));
}

/// A row of operators or, without `t`, of kernels.
[[gnu::cold]] inline void put_compared_row(script_json& out, const page_tables* t,
                                           const row_change& row, const std::string& title) {
  out.open("{");
  out.member("title", title);
  out.member("before", row.before_ns);
  out.member("after", row.after_ns);
  out.member("share", row.after_share);
  put_change(out, row.change, row.plain);
  out.member("mean", change_text(row.of_mean));
  put_row_of(out, t, row.key);
  out.close("}");
}
/// The most of one side that the page names; a sentence says how many there are.
inline constexpr std::size_t most_unmatched_rows = 50;
template <class Title>
[[gnu::cold]] void put_unmatched(script_json& out, const page_tables* t, const char* name,
                                 const std::vector<unmatched_row>& rows, Title title_of) {
  out.key(name).open("[");
  for (std::size_t i = 0; i < rows.size() && i < most_unmatched_rows; ++i) {
    out.open("{");
    out.member("title", title_of(rows[i]));
    out.member("time", rows[i].time_ns);
    out.member("share", rows[i].share);
    put_row_of(out, t, rows[i].key);
    out.close("}");
  }
  out.close("]");
}
[[gnu::cold]] inline void put_order(script_json& out, const std::vector<row_change>& rows) {
  out.column(
      "changed_first",
      sorted_order(rows.size(), [&](std::uint32_t a,
                                    std::uint32_t b) { return changed_before(rows[a], rows[b]); }),
      [&](std::uint32_t row) { out.integer(row); });
}
[[gnu::cold]] inline void put_compared_kernels(script_json& out, const kernel_changes& kernels) {
  out.key("kernels").open("{");
  out.key("rows").open("[");
  for (const row_change& row : kernels.rows) put_compared_row(out, nullptr, row, kernel_title(row));
  out.close("]");
  const auto title = [](const unmatched_row& row) { return kernel_title(row); };
  put_unmatched(out, nullptr, "gone", kernels.only_before, title);
  put_unmatched(out, nullptr, "added", kernels.only_after, title);
  put_order(out, kernels.rows);
  out.close("}");
}

[[gnu::cold]] inline void put_comparison(script_json& out, const page_tables& t,
                                         const page_comparison& compared) {
  const comparison& c = compared.found;
  const comparison_words words = words_of(c);
  out.key("compare").open("{");
  put_texts(out, "files", compared.before_files);
  out.member("settings", tested_text(c));
  out.member("threshold", c.by.threshold);
  out.member("first", words.first);
  out.member("rest", words.rest);
  put_texts(out, "warnings", words.warnings);
  put_texts(out, "below", words.below);
  out.member("judged", c.has_verdicts());
  out.member("common_is_large", c.common_is_large);
  out.key("totals").open("[");
  for (const total_change& total : c.totals) {
    out.open("{");
    out.member("title", total_title(total));
    out.member("before", total.before_ns);
    out.member("after", total.after_ns);
    put_change(out, total.change, total.change.by);
    out.close("}");
  }
  out.close("]");
  out.key("rows").open("[");
  for (const row_change& row : c.rows) put_compared_row(out, &t, row, row_title(row));
  out.close("]");
  const auto title = [](const unmatched_row& row) { return row_title(row); };
  put_unmatched(out, &t, "gone", c.only_before, title);
  put_unmatched(out, &t, "added", c.only_after, title);
  out.member("differs", !c.differences.empty());
  put_compared_kernels(out, c.kernels);
  put_order(out, c.rows);
  out.close("}");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
