// SPDX-License-Identifier: MIT
#ifndef KPROF_BENCH_BENCH_HPP
#define KPROF_BENCH_BENCH_HPP

// What the rows of guard_cost share: the values that every recorder stores, the work inside the
// scope, and the table of rows. A row is a loop over scopes, run in bursts; Google Benchmark takes
// the rows in random order, over and over.

#include <cstdint>

namespace bench {

/// The eight values a scope carries; `n` changes from call to call as in a model with 16 layers,
/// the rest is the same.
struct shape {
  std::int64_t n = 0, c = 64, h = 56, w = 56, k = 256, r = 3, s = 3, stride = 1;
};
inline constexpr std::int64_t layers = 16;

/// What runs inside every scope: a call of nothing, from another translation unit. What it may have
/// read or written is unknown to the compiler, as with a real operator.
void work() noexcept;

using loop = void (*)(std::int64_t scopes, const shape& values);

enum class session : std::uint8_t {
  paused,  // guards are idle
  // recording; a snapshot between the bursts folds what was recorded, as in a program that also
  // computes
  folding,
  saturated,  // recording without a pause: the thread folds its own log when memory is used up
};

struct row {
  const char* name;
  loop run;
  session state = session::paused;
  int max_threads = 2;
  std::int64_t scopes = 20'000;  // in a burst
  int bursts = 11;               // in a repetition; their median counts
  void (*before)() = nullptr;    // before every burst, on each thread, not timed
  void (*after)() = nullptr;
};

/// For run() in guard_cost.cpp; what is not installed is not added.
void add(const row& r);
void add_peers_nvtx();
void add_peers_lttng();
void add_peers_torch();

}  // namespace bench

#endif
