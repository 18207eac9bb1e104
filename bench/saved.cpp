// SPDX-License-Identifier: MIT

// How fast a profile is saved and loaded, and how large the file is: `saved SCOPES FOLDER` makes a
// timeline of SCOPES scopes, as a program with 300 nodes has it, and prints a line of JSON for each
// form.

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>

#include <boost/json/src.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace {

kprof::profile long_timeline(std::size_t scopes) {
  kprof::profile p;
  p.threads.resize(1);
  p.nodes.resize(300);
  for (std::size_t i = 1; i < p.nodes.size(); ++i) p.nodes[i].parent = 0;
  std::mt19937 random(1);
  std::int64_t now = 3'000'000'000;
  for (std::size_t i = 0; i < scopes; ++i) {
    now += 200 + random() % 20'000;
    p.timeline.push_back({static_cast<std::uint32_t>(random() % 300), now, random() % 15'000});
  }
  return p;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SCOPES FOLDER\n", argv[0]);
    return 2;
  }
  const auto scopes = static_cast<std::size_t>(std::atoll(argv[1]));
  const std::string path = std::string{argv[2]} + "/kprof_saved.json";
  const kprof::profile run = long_timeline(scopes);
  for (const auto form : {kprof::timeline_form::compact, kprof::timeline_form::plain}) {
    auto begin = std::chrono::steady_clock::now();
    const kprof::status saved = kprof::save(run, path, {.timeline = form});
    const double save_s = seconds_since(begin);
    if (!saved) {
      std::fprintf(stderr, "%s\n", saved.message.c_str());
      return 1;
    }
    begin = std::chrono::steady_clock::now();
    const kprof::loaded_profile loaded = kprof::load(path);
    const double load_s = seconds_since(begin);
    if (loaded.run.timeline.size() != scopes) {
      std::fprintf(stderr, "saved: %s\n", loaded.result.message.c_str());
      return 1;
    }
    const auto count = static_cast<double>(scopes);
    std::printf(R"({"form": "%s", "scopes": %zu, "bytes_a_scope": %.2f, "saved_per_s": %.0f, )"
                R"("loaded_per_s": %.0f})"
                "\n",
                form == kprof::timeline_form::compact ? "compact" : "plain", scopes,
                static_cast<double>(std::filesystem::file_size(path)) / count, count / save_s,
                count / load_s);
  }
  std::filesystem::remove(path);
  return 0;
}
