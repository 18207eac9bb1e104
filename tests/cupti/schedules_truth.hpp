// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_TRUTH_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_TRUTH_HPP

// What a random program knows that it did, and how a profile differs from that.

#include "find.hpp"

#include <kprof/kprof.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

using counts = std::map<std::string, std::uint64_t>;

/// What happened, by the program's own account.
struct truth {
  counts runs;     // "path: kernel" or "path: copy" or "path: set"
  counts replays;  // by path
  std::uint64_t launches = 0;
  std::uint64_t foreign = 0;  // runs of nodes that were made before the first recording

  void add(const truth& other) {
    for (const auto& [what, n] : other.runs) runs[what] += n;
    for (const auto& [what, n] : other.replays) replays[what] += n;
    launches += other.launches;
    foreign += other.foreign;
  }
};

inline counts runs_of(const kprof::profile& p) {
  counts out;
  for (const kprof::device_work& w : p.device.work) {
    const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
    const std::string what = w.task == kprof::device_task::copy  ? "copy"
                             : w.task == kprof::device_task::set ? "set"
                             : w.merged                          ? "merged"
                                                                 : p.device.kernels[w.kernel];
    out[where + ": " + what] += w.calls;
  }
  return out;
}

inline int differences(const counts& found, const counts& expected, const char* what,
                       unsigned seed) {
  int wrong = 0;
  counts all = found;
  all.insert(expected.begin(), expected.end());
  for (const auto& [key, unused] : all) {
    const auto f = found.find(key), e = expected.find(key);
    const std::uint64_t have = f == found.end() ? 0 : f->second,
                        want = e == expected.end() ? 0 : e->second;
    if (have == want) continue;
    std::printf("seed %u: %s of \"%s\": %llu instead of %llu\n", seed, what, key.c_str(),
                static_cast<unsigned long long>(have), static_cast<unsigned long long>(want));
    ++wrong;
  }
  return wrong;
}

#endif
