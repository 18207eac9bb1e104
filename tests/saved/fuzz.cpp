// SPDX-License-Identifier: MIT

// Loads damaged files: fuzz [--inputs N] [--seed N] mutates the files of ten profiles, each input
// in one to eight ways, loads it and, where it loads, makes the report and saves it again, which
// must give the same text. Nothing may crash, and a sanitizer finds nothing. The inputs of a seed
// are always the same, and the one that the program dies of is left in a file.
// fuzz --write FOLDER writes the files, undamaged: the corpus of tests/fuzz/saved.cpp.

#include "failing_input.hpp"
#include "load_input.hpp"
#include "saved_mutator.hpp"
#include "ten_profiles.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

bool try_load(const std::string& text) {
  kprof_test::current_input(text);
  const bool loaded = kprof_test::load_input(text);
  kprof_test::no_input();
  return loaded;
}

/// Names of 10,000 characters take all the time and find nothing more.
void shorten(kprof::profile& p) {
  const auto cut = [](std::string& text) { text.resize(std::min<std::size_t>(text.size(), 99)); };
  for (kprof::scope_node& n : p.nodes) {
    cut(n.name);
    cut(n.file);
    if (n.values.packed.size() <= 200) continue;
    n.values = {};
    n.merged = true;
  }
  for (kprof::operator_info& op : p.operators) {
    cut(op.name);
    cut(op.declared_name);
  }
  for (std::string& name : p.device.kernels) cut(name);
  for (std::string& note : p.notes) cut(note);
}

/// Adds steps of the first thread: their marks and sums, and what some nodes did in them.
void add_steps(kprof::profile& p) {
  if (p.threads.empty()) return;
  kprof::thread_steps sums;
  sums.thread = 0;
  sums.nested = 1;
  sums.first_ns = 8'000;
  sums.running_ns = 250;
  sums.min_ns = 1'000;
  sums.max_ns = 8'000;
  std::int64_t at = -500;  // the session started in the first one
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::int64_t length = i == 0 ? 8'000 : 1'000 * static_cast<std::int64_t>(i);
    p.steps.push_back({i, 0, i != 0, at, at + length});
    at += length;
    ++sums.count;
    sums.total_ns += static_cast<double>(length);
    sums.durations.add(static_cast<std::uint64_t>(length));
    if (i == 0) p.stepping.whole_from = at;
    for (std::uint32_t node = 1; i != 0 && node < p.nodes.size() && node < 4; ++node)
      p.stepping.shares.push_back({static_cast<std::uint32_t>(i), node, i, 300.0 + node, 100.5});
  }
  p.stepping.threads.push_back(sums);
  p.stepping.region = "step \xFF";
}

std::vector<std::string> undamaged_files() {
  std::vector<std::string> files;
  for (kprof_test::named_profile each : kprof_test::ten_profiles()) {
    shorten(each.run);
    if (files.size() % 3 == 0) add_steps(each.run);
    files.push_back(kprof::saved_text(
        each.run, {.timeline = files.size() % 2 == 0 ? kprof::timeline_form::plain
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
  kprof_test::saved_mutator inputs_of(files, seed);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t loaded = 0;
  for (std::uint64_t i = 0; i < inputs; ++i) loaded += try_load(inputs_of.next()) ? 1 : 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%llu inputs, %llu loaded, %.1f s\n", static_cast<unsigned long long>(inputs),
              static_cast<unsigned long long>(loaded), took.count());
  // A mutation that is refused at once tests little: some must load.
  return loaded * 100 > inputs ? 0 : 1;
}
