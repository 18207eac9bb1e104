// SPDX-License-Identifier: MIT
#ifndef KPROF_TEST_SUPPORT_REPORT_PAGE_HPP
#define KPROF_TEST_SUPPORT_REPORT_PAGE_HPP

// Pages of the text report, and how tests look into them.

#include <kprof/report/text.hpp>

#include "catch.hpp"
#include "device_profiles.hpp"
#include "utf8.hpp"

#include <cstddef>
#include <string>

namespace kprof_test {

inline std::string page_of(const kprof::profile& p, const kprof::report_options& options) {
  std::string page;
  const kprof::status s = kprof::write_text(p, options, page);
  INFO(s.message);
  REQUIRE(s.ok());
  return page;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

inline std::string line_with(const std::string& page, const std::string& part) {
  for (const std::string& line : lines_of(page))
    if (has(line, part)) return line;
  return {};
}

/// With one space between words: widths of columns are the golden files' business.
inline std::string words(const std::string& line) {
  std::string out;
  for (const char c : line)
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  return out;
}

/// The lines of a section of the page, up to the next empty line behind its table.
inline std::string section(const std::string& page, const std::string& title) {
  const std::size_t begin = page.find("\n" + title);
  if (begin == std::string::npos) return {};
  std::size_t end = begin;
  for (int gaps = 0; gaps < 2 && end != std::string::npos; ++gaps) end = page.find("\n\n", end + 1);
  return page.substr(begin, end - begin);
}

/// What is shown unasked.
inline kprof::report_options plain_at_width(int width) {
  kprof::report_options options;
  options.width = width;
  return options;
}
/// Every section, whether or not it comes unasked.
inline kprof::report_options at_width(int width) {
  kprof::report_options options = plain_at_width(width);
  options.tree = options.kernels = options.copies = true;
  options.details = true;
  return options;
}
inline kprof::report_options ascii_at_width(int width) {
  kprof::report_options options = at_width(width);
  options.ascii = true;
  return options;
}

/// A step with a Gemm, a Load and a Parse, and work on the device in and outside of them.
inline kprof::profile small_device_profile() {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto step = b.region(main, "step"), gemm = b.op(step, "Gemm", "n=2"),
             part = b.region(gemm, "part"), copy = b.op(step, "Load", "n=1"),
             host = b.op(main, "Parse", "n=9");
  b.calls(step, 1, 20'000).calls(gemm, 10, 500).calls(copy, 10, 700).calls(host, 1, 90'000);
  b.work(gemm, 4'000'000, 600, 400).work(host, 100, 10, 10);
  b.kernel(part, "_Z4gemmIfEvPT_", 10, 4000);
  b.copy(copy, kprof::copy_direction::host_to_device, 10, 2000, 1 << 20);
  b.kernel(step, "_Z4fillPf", 5, 1000);
  b.kernel(main, "_Z4fillPf", 5, 1000);
  b.kernel(kprof::scope_node::none, "other", 1, 30'000);
  kprof::profile p = b.done();
  add_surroundings(p);
  add_device(p);
  return p;
}

}  // namespace kprof_test

#endif
