// SPDX-License-Identifier: MIT

// Loads damaged files: fuzz [--inputs N] [--seed N] mutates the files of ten profiles, each input
// in one to eight ways, loads it and, where it loads, makes the report and saves it again, which
// must give the same text. Nothing may crash, and a sanitizer finds nothing. The inputs of a seed
// are always the same, and the one that the program dies of is left in a file.
// fuzz --write FOLDER writes the files, undamaged: the corpus of tests/fuzz/saved.cpp.

#include "failing_input.hpp"
#include "load_input.hpp"
#include "ten_profiles.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

class mutator {
 public:
  mutator(std::vector<std::string> files, std::uint64_t seed)
      : files_(std::move(files)), random_(seed) {}

  std::string next() {
    std::string text = files_[below(files_.size())];
    for (std::size_t n = 1 + below(8) * below(2); n > 0 && !text.empty(); --n) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

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

  void splice(std::string& text, std::size_t at) {
    const std::string& other = files_[below(files_.size())];
    const std::size_t from = below(other.size());
    text.replace(at, below(200), other, from, below(400));
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

bool try_load(const std::string& text) {
  kprof_test::current_input(text);
  const bool loaded = kprof_test::load_input(text);
  kprof_test::no_input();
  return loaded;
}

std::vector<std::string> undamaged_files() {
  std::vector<std::string> files;
  for (auto& [name, run] : kprof_test::ten_profiles()) {
    // Names of 10,000 characters take all the time and find nothing more.
    kprof::profile shorter = run;
    for (kprof::scope_node& n : shorter.nodes)
      n.name.resize(std::min<std::size_t>(n.name.size(), 99));
    files.push_back(kprof::saved_text(
        shorter, {.timeline = files.size() % 2 == 0 ? kprof::timeline_form::plain
                                                    : kprof::timeline_form::compact}));
  }
  return files;
}

bool write_files(const std::vector<std::string>& files, const std::string& folder) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::ofstream file(folder + "/" + std::to_string(i) + ".json", std::ios::binary);
    if (!(file << files[i]).flush()) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t inputs = 20'000, seed = 1;
  const char* folder = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--inputs") == 0) inputs = number;
    else if (std::strcmp(argv[i], "--seed") == 0) seed = number;
    else if (std::strcmp(argv[i], "--write") == 0) folder = argv[i + 1];
  }
  const std::vector<std::string> files = undamaged_files();
  if (folder != nullptr) return write_files(files, folder) ? 0 : 1;
  kprof_test::watch_inputs("saved_fuzz", seed);
  std::size_t bytes = 0;
  for (const std::string& text : files) {
    bytes += text.size();
    if (!try_load(text)) return 1;
  }
  std::printf("%zu files of %zu bytes on average\n", files.size(), bytes / files.size());
  mutator inputs_of(files, seed);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t loaded = 0;
  for (std::uint64_t i = 0; i < inputs; ++i) loaded += try_load(inputs_of.next()) ? 1 : 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%llu inputs, %llu loaded, %.1f s\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(loaded), took.count());
  // A mutation that is refused at once tests little: some must load.
  return loaded * 100 > inputs ? 0 : 1;
}
