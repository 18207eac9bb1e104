// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_LOAD_INPUT_HPP
#define KPROF_TESTS_LOAD_INPUT_HPP

// What any bytes given as a saved profile must do: be refused with a reason, or load, print as a
// report and as CSV, and be the same profile when it is saved and loaded again.

#include "groupings.hpp"

#include <kprof/report/csv.hpp>
#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace kprof_test {

/// Differs from input to input, so that all of a report is seen, but not from run to run.
inline kprof::report_options options_for(std::size_t size) {
  kprof::report_options out;
  out.width = static_cast<int>(40 + size % 163);
  out.by = finer_and_finer()[size % 4];
  out.ascii = size % 3 == 0;
  out.legend = size % 5 == 0;
  out.full_names = size % 7 == 0;
  out.top = size % 11;
  if (size % 2 == 0)
    for (const kprof::detail::column& c : kprof::detail::columns)
      if (c.as != kprof::detail::look::bar) out.columns.emplace_back(c.id);
  return out;
}

/// True where the text was loaded. Ends the process where something else happens.
inline bool load_input(std::string_view text) {
  const kprof::loaded_profile first = kprof::load_text(text, {.max_memory = 256U << 20U});
  if (!first) {
    if (first.result.message.find("the saved profile ") == 0) return false;
    std::fprintf(stderr, "refused without a reason: %s\n", first.result.message.c_str());
    std::abort();
  }
  std::string page;
  const kprof::report_options options = options_for(text.size());
  if (const kprof::status s = kprof::write_text(first.run, options, page); !s) {
    std::fprintf(stderr, "no report: %s\n", s.message.c_str());
    std::abort();
  }
  kprof::text_sink sink(
      [](void* to, std::string_view more) {
        static_cast<std::string*>(to)->append(more);
        return kprof::status{};
      },
      &page);
  const kprof::detail::csv_columns columns(options.by);
  for (const kprof::operator_row& row : kprof::operator_table(first.run, options.by))
    kprof::detail::put_csv_row(first.run, row, columns, {}, sink);
  static_cast<void>(sink.flush());
  const std::string saved = kprof::saved_text(first.run);
  const kprof::loaded_profile second = kprof::load_text(saved);
  if (!second || kprof::saved_text(second.run) != saved) {
    std::fprintf(stderr, "another profile after saving: %s\n", second.result.message.c_str());
    std::abort();
  }
  return true;
}

}  // namespace kprof_test

#endif
