// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GOLDEN_HPP
#define KPROF_TESTS_GOLDEN_HPP

// Compares text with a file of tests/golden. tests/accept_golden.sh makes what the tests print now
// the new baseline.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifndef KPROF_TEST_GOLDEN_DIR
#error "define KPROF_TEST_GOLDEN_DIR as the path of tests/golden, in quotes"
#endif

namespace kprof_test {

inline std::string read_file(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "rb")) {
    char block[4096];
    for (std::size_t n = 0; (n = std::fread(block, 1, sizeof(block), file)) > 0;)
      text.append(block, n);
    std::fclose(file);
  }
  return text;
}

/// Puts X.Y.Z in the place of the last version that a page tells, "kprof 0.1.0", also where a line
/// ends between the two words. False: there is none.
inline bool mask_version(std::string& page, const std::string& version) {
  for (std::size_t at = page.rfind(version); at != std::string::npos && at > 0;
       at = page.rfind(version, at - 1)) {
    const std::size_t word = page.find_last_not_of(" \n", at - 1);
    if (word == std::string::npos || word + 1 == at || word < 4 ||
        page.compare(word - 4, 5, "kprof") != 0)
      continue;
    page.replace(at, version.size(), "X.Y.Z");
    return true;
  }
  return false;
}

/// The baseline `name`. With KPROF_ACCEPT=1 in the environment it is replaced by `text` first.
inline std::string golden(const std::string& name, const std::string& text) {
  const std::string path = std::string{KPROF_TEST_GOLDEN_DIR} + '/' + name;
  const char* accept = std::getenv("KPROF_ACCEPT");
  if (accept != nullptr && accept[0] == '1') {
    if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fclose(file);
    }
  }
  return read_file(path);
}

}  // namespace kprof_test

#endif
