// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FUZZ_PRINTABLE_HPP
#define KPROF_TESTS_FUZZ_PRINTABLE_HPP

// What a fuzz target asks of a result. A broken promise aborts, which a fuzzer reports.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kprof_test {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// No control character but ends of lines, which a terminal could obey, and no more than so many
/// lines; 0: any number.
inline void require_printable(std::string_view text, std::size_t lines) {
  std::size_t ends = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') ++ends;
    else require(byte >= 0x20 && byte != 0x7F, "a control character in printed text");
  }
  require(lines == 0 || ends < lines, "a line break in a line");
  // C1 controls and bidirectional overrides, in UTF-8
  require(text.find("\xC2\x9B") == text.npos, "a control sequence in printed text");
  require(text.find("\xE2\x80\xAE") == text.npos, "a bidirectional override in printed text");
}

}  // namespace kprof_test

#endif
