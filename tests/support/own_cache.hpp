// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_OWN_CACHE_HPP
#define KPROF_TESTS_OWN_CACHE_HPP

// A cache folder of a test's own, and what a session says of the machine with it.

#include "catch.hpp"
#include "machine.hpp"

#include <kprof/kprof.hpp>
#include <kprof/session/session_ceilings.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kprof_test {

using Catch::Matchers::Contains;
using kprof::profile;
using kprof::settings;
using kprof::detail::ceilings_cache;
using kprof::detail::session_ceilings;

/// A cache folder of its own, which is gone with the test.
struct own_cache {
  std::filesystem::path path;
  own_cache() {
    char name[] = "/tmp/kprof_ceilings_XXXXXX";
    path = mkdtemp(name);
    setenv("XDG_CACHE_HOME", path.c_str(), 1);
  }
  ~own_cache() {
    std::filesystem::remove_all(path);
    unsetenv("XDG_CACHE_HOME");
  }
  std::string file(const std::string& text) const {
    std::ofstream(path / "by_hand.txt") << text;
    return path / "by_hand.txt";
  }
};

inline settings with(const std::string& ceilings) {
  settings s;
  s.ceilings = ceilings;
  return s;
}

/// What a report says of the machine; `signal` ends the program.
inline profile reported(const settings& s, int signal = 0) {
  session_ceilings ceilings;
  ceilings.choose(s);
  profile run;
  ceilings.add_to_report(run, signal);
  return run;
}
inline profile reported(const std::string& ceilings) { return reported(with(ceilings)); }

/// Why a profile knows nothing of the processors.
inline std::string reason(const profile& run) {
  CHECK(run.machine.source.empty());
  CHECK(run.machine.cpu.arithmetic.empty());
  CHECK(run.machine.cpu.memory.empty());
  return run.machine.cpu.notes.size() == 1 ? run.machine.cpu.notes[0] : "no reason";
}
inline std::string only_note(const profile& run) {
  return run.notes.size() == 1 ? run.notes[0] : std::to_string(run.notes.size()) + " notes";
}

/// Keeps the sample as if it had been measured here.
inline void keep_sample() {
  ceilings_cache cache;
  REQUIRE(cache.prepare().ok());
  kprof::cpu_ceilings sample = sample_machine().cpu;
  sample.arithmetic[2].operations.is_lower_bound = false;
  sample.memory[2].triad.is_lower_bound = false;
  REQUIRE(cache.keep(sample).ok());
}
inline bool is_sample(const profile& run) {
  return run.machine.cpu.arithmetic.size() == 3 && run.machine.cpu.memory.size() == 4 &&
         run.machine.cpu.arithmetic[1].operations.one_thread == 118.1e9 &&
         run.machine.cpu.notes == std::vector<std::string>{"a note"} &&
         run.machine.source == "measured " + kprof::detail::date_of_today();
}

}  // namespace kprof_test

#endif
