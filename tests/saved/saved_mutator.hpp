// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SAVED_MUTATOR_HPP
#define KPROF_TESTS_SAVED_MUTATOR_HPP

// Damages saved profiles: as bytes, as lines, and as JSON, of which much still loads.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kprof_test {

/// Makes inputs of undamaged files, the same for the same seed.
class saved_mutator {
 public:
  saved_mutator(std::vector<std::string> files, std::uint64_t seed)
      : files_(std::move(files)), random_(seed) {}

  std::string next() {
    std::string text = files_[below(files_.size())];
    for (std::size_t n = below(2) == 0 ? 1 : 1 + below(8); n > 0 && !text.empty(); --n)
      mutate(text);
    return text;
  }

  /// Changes one place of `text`, which is not empty.
  void mutate(std::string& text) {
    const std::size_t at = below(text.size());
    switch (below(10)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text.resize(at); break;
      case 2: text.insert(at, 1, static_cast<char>(random_())); break;
      case 3: text.erase(at, 1 + below(20)); break;
      case 4: splice(text, at); break;
      case 5: repeat(text, at); break;
      case 6: move_element(text, at); break;
      default: replace_value(text, at);
    }
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void splice(std::string& text, std::size_t at) {
    const std::string& other = files_[below(files_.size())];
    const std::size_t from = below(other.size()), removed = below(200), put = below(400);
    text.replace(at, removed, other, from, put);
  }

  void repeat(std::string& text, std::size_t at) {
    const std::string piece = text.substr(at, 1 + below(60));
    for (std::size_t n = below(20); n > 0; --n) text.insert(at, piece);
  }

  /// Moves a line, which holds a node or another element, to another place.
  void move_element(std::string& text, std::size_t at) {
    const std::size_t begin = text.rfind('\n', at), end = text.find('\n', at);
    if (begin == std::string::npos || end == std::string::npos || end <= begin) return;
    const std::string line = text.substr(begin, end - begin);
    if (below(2) == 0) text.erase(begin, end - begin);
    const std::size_t to = text.find('\n', below(text.size()));
    if (to != std::string::npos) text.insert(to, line);
  }

  /// Puts something else in the place of a number, a word or a text.
  void replace_value(std::string& text, std::size_t at) {
    static constexpr const char* values[] = {"0",
                                             "1",
                                             "-1",
                                             "4294967295",
                                             "4294967296",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "-9223372036854775808",
                                             "1e308",
                                             "1e999",
                                             "-0.0",
                                             "1e-999",
                                             "0.1",
                                             "\"nan\"",
                                             "\"-inf\"",
                                             "true",
                                             "false",
                                             "null",
                                             "[]",
                                             "{}",
                                             "\"\"",
                                             "[[[[[[]]]]]]",
                                             "99999999999999999999999999999999999999",
                                             "\"\\u0000\"",
                                             "{\"bytes\":\"\xC3\xBF\"}",
                                             "\"op\"",
                                             "\"root\"",
                                             "\"aggregate\"",
                                             "\"text\"",
                                             "3775",
                                             "3776",
                                             "64",
                                             "80",
                                             "2",
                                             "7"};
    const std::size_t begin = text.find_first_of("0123456789\"tf", at);
    if (begin == std::string::npos) return;
    const char* const value = values[below(std::size(values))];
    std::size_t end = text.find_first_of(",]}:", begin);
    if (end == std::string::npos) end = text.size();
    text.replace(begin, end - begin, value);
  }

  std::vector<std::string> files_;
  std::mt19937_64 random_;
};

}  // namespace kprof_test

#endif
