// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_LOAD_INPUT_HPP
#define KPROF_TESTS_LOAD_INPUT_HPP

// What any bytes given as a saved profile must do: be refused with a reason, or load, print as a
// report, and be the same profile when it is saved and loaded again.

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/text.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace kprof_test {

/// True where the text was loaded. Ends the process where something else happens.
inline bool load_input(std::string_view text) {
  const kprof::loaded_profile first = kprof::load_text(text, {.max_memory = 256U << 20U});
  if (!first) {
    if (first.result.message.find("the saved profile ") == 0) return false;
    std::fprintf(stderr, "refused without a reason: %s\n", first.result.message.c_str());
    std::abort();
  }
  std::string page;
  if (!kprof::write_text(first.run, {.width = 100}, page)) std::abort();
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
