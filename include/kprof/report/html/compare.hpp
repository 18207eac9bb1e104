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
  for (const row_change& row : c.rows) {
    out.open("{");
    out.member("title", row_title(row));
    out.member("before", row.before_ns);
    out.member("after", row.after_ns);
    out.member("share", row.after_share);
    put_change(out, row.change, row.plain);
    out.member("mean", change_text(row.of_mean));
    for (std::size_t i = 0; i < t.operators.rows.size(); ++i)
      if (t.operators.rows[i].key == row.key) out.member("row", i);
    out.close("}");
  }
  out.close("]");
  out.column("changed_first",
             sorted_order(c.rows.size(),
                          [&](std::uint32_t a, std::uint32_t b) {
                            return changed_before(c.rows[a], c.rows[b]);
                          }),
             [&](std::uint32_t row) { out.integer(row); });
  out.close("}");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
