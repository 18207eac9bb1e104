// SPDX-License-Identifier: MIT
// Runs a fuzz target where libFuzzer is not linked: TARGET [--inputs N] [--seed N] FOLDER. Each
// file of the folder is tried as it is, then N inputs that are made of them by one to eight
// mutations. The input that it dies of is left in a file.
#include "failing_input.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  // a copy of its exact size, so that a sanitizer sees a byte read beyond it
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  kprof_test::current_input({input.data(), input.size()});
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  kprof_test::no_input();
}

class mutator {
 public:
  mutator(std::vector<std::string> seeds, std::uint64_t seed)
      : seeds_(std::move(seeds)), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t n = 1 + below(8); n > 0; --n) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const auto any = static_cast<char>(random_());
    if (at == text.size()) return text.push_back(any);
    switch (below(7)) {
      case 0: text[at] = any; break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 2: text.insert(at, 1 + below(3), any); break;
      case 3: text.erase(at, 1 + below(8)); break;
      case 4: text.insert(at, text.substr(below(text.size()), 1 + below(32))); break;
      case 5: std::swap(text[at], text[below(text.size())]); break;
      case 6: {
        const std::string& other = seeds_[below(seeds_.size())];
        if (!other.empty()) text.replace(at, below(16), other.substr(below(other.size()), 16));
      }
    }
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  unsigned long inputs = 10'000, seed = 1;
  const char* folder = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--inputs") == 0 && i + 1 < argc)
      inputs = std::strtoul(argv[++i], nullptr, 10);
    else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = std::strtoul(argv[++i], nullptr, 10);
    else folder = argv[i];
  }
  std::vector<std::filesystem::path> files;
  if (folder != nullptr)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s [--inputs N] [--seed N] FOLDER, with files to begin from\n",
                 argv[0]);
    return 2;
  }
  kprof_test::watch_inputs(std::filesystem::path(argv[0]).filename().string(), seed);
  for (const std::string& text : seeds) run(text);
  mutator mutations(std::move(seeds), seed);
  for (unsigned long i = 0; i < inputs; ++i) run(mutations.next());
  std::printf("%zu files and %lu mutated inputs of seed %lu\n", files.size(), inputs, seed);
  return 0;
}
