// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_ADVICE_LINES_HPP
#define KPROF_REPORT_TEXT_ADVICE_LINES_HPP

// The section "Do first" of the text report: advice, numbered, with what it saves at the right.
// Included by write_text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/advise.hpp>
#include <kprof/model/advice/proof.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A sentence that ends with a stop, if there is one.
[[gnu::cold]] inline std::string stopped(std::string text) {
  if (!text.empty() && text.back() != '.' && text.back() != '?' && text.back() != '!') text += '.';
  return text;
}

/// Text of the model or of the program's own rules, fit to print.
[[gnu::cold]] inline std::string advice_text(const page& out, const advice& a,
                                             const std::string& proof) {
  std::string text = stopped(a.where + ' ' + a.fact);
  if (!a.action.empty()) text += ' ' + stopped(a.action);
  if (!proof.empty()) text += ' ' + stopped(proof);
  text.append(" [").append(a.id) += ']';
  if (out.ascii()) {
    for (std::size_t at; (at = text.find("\u00B5")) != std::string::npos;) text.replace(at, 2, "u");
    text = ascii_notation(text);
  }
  return out.safe(text);
}

/// "at most  6.90 s  29%"; empty where nobody can say.
[[gnu::cold]] inline std::string gain_text(const page& out, const advice& a) {
  if (!(a.gain_ns >= 0)) return {};
  const std::string time = out.time(a.gain_ns), share = whole_percent(a.share);
  const auto padded = [](const std::string& text, std::size_t width) {
    const std::size_t wide = display_width(text);
    return std::string(width > wide ? width - wide : 0, ' ') + text;
  };
  return "at most " + padded(time, 7) + ' ' + padded(share, 4);
}

[[gnu::cold]] inline void print_advice(page& out, const profile& p, const text_plan& plan,
                                       const time_summary& times) {
  const std::vector<advice> found = advise(p, plan.options.advice, &times);
  if (found.empty()) return;
  out.space();
  out.line("Do first", line_style::bold);
  const std::size_t digits = std::to_string(found.size()).size(), indent = 2 + digits + 2;
  const bool prove = has_word(plan.options.advice, "prove");
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    out.paragraph("  " + std::string(digits - number.size(), ' ') + number + "  ",
                  advice_text(out, found[i], prove ? proof_of(p, found[i]) : std::string{}), indent,
                  line_style::plain, gain_text(out, found[i]));
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
