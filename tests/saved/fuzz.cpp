// SPDX-License-Identifier: MIT

// Loads damaged files: fuzz [--inputs N] [--seed N] mutates the files of ten profiles, each input
// in one to eight ways, loads it and, where it loads, makes the report and saves it again, which
// must give the same text. Nothing may crash, and a sanitizer finds nothing. KPROF_LIBFUZZER
// leaves out main(), for clang++ -fsanitize=fuzzer.

#include "ten_profiles.hpp"

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// 1 where the text was loaded. A loaded profile is saved and loaded again: nothing changes.
int try_load(std::string_view text) {
  const kprof::loaded_profile first = kprof::load_text(text, {.max_memory = 256U << 20U});
  if (!first) {
    if (first.result.message.find("the saved profile ") == 0) return 0;
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
  return 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_load({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef KPROF_LIBFUZZER
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

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t inputs = 20'000, seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::uint64_t number = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--inputs") == 0) inputs = number;
    else if (std::strcmp(argv[i], "--seed") == 0) seed = number;
  }
  std::vector<std::string> files;
  std::size_t bytes = 0;
  for (const auto& [name, run] : kprof_test::ten_profiles()) {
    // Names of 10,000 characters take all the time and find nothing more.
    kprof::profile shorter = run;
    for (kprof::scope_node& n : shorter.nodes)
      n.name.resize(std::min<std::size_t>(n.name.size(), 99));
    files.push_back(kprof::saved_text(
        shorter, {.timeline = files.size() % 2 == 0 ? kprof::timeline_form::plain
                                                    : kprof::timeline_form::compact}));
    bytes += files.back().size();
    if (try_load(files.back()) != 1) return 1;
  }
  std::printf("%zu files of %zu bytes on average\n", files.size(), bytes / files.size());
  mutator inputs_of(files, seed);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t loaded = 0;
  for (std::uint64_t i = 0; i < inputs; ++i)
    loaded += static_cast<std::uint64_t>(try_load(inputs_of.next()));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%llu inputs, %llu loaded, %.1f s\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(loaded), took.count());
  // A mutation that is refused at once tests little: some must load.
  return loaded * 100 > inputs ? 0 : 1;
}
#endif
