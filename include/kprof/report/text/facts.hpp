// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FACTS_HPP
#define KPROF_REPORT_TEXT_FACTS_HPP

// Lines of the part of a report that says what was seen and what was not. Included by its makers.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline void print_fact(page& out, std::string key, const std::string& text) {
  key.insert(0, 2, ' ');
  key.resize(std::max<std::size_t>(12, key.size() + 1), ' ');
  out.paragraph(key, text, key.size());
}

/// "the memory limit (64.0 MiB)".
[[gnu::cold]] inline std::string memory_limit_of(const profile& p) {
  return p.cost.memory_limit > 0 ? "the memory limit (" + format_memory(p.cost.memory_limit) + ")"
                                 : "the memory limit";
}

/// A count that should be zero.
struct oddity {
  std::uint64_t count;
  const char* what;
  std::string meaning;
  bool harmless = false;  // as the program asked for: no line of its own
};

/// A fact, which of the oddities there are none of, and a line that begins with "!" for each that
/// there is.
[[gnu::cold]] inline void print_oddities(page& out, const char* key, const std::string& text,
                                         const std::vector<oddity>& oddities) {
  std::string none;
  const char* before = "";
  for (const oddity& o : oddities) {
    if (o.count != 0) continue;
    none.append(before).append(o.what);
    before = ", ";
  }
  const std::size_t comma = none.rfind(", ");
  if (comma != std::string::npos) none.replace(comma, 2, " or ");
  std::string harmless;
  for (const oddity& o : oddities)
    if (o.count > 0 && o.harmless)
      harmless += "; " + format_count(o.count) + ' ' + o.what + " (" + o.meaning + ')';
  print_fact(out, key, text + harmless + (none.empty() ? "" : "; none " + none));
  for (const oddity& o : oddities)
    if (o.count > 0 && !o.harmless)
      out.paragraph("! ", format_count(o.count) + ' ' + o.what + ": " + o.meaning, 4,
                    line_style::alarm);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
