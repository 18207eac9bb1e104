// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FORWARD_STEPS_HPP
#define KPROF_TESTS_FORWARD_STEPS_HPP

// A main loop with one call a step.

#include <kprof/kprof.hpp>

#include <cstdint>
#include <vector>

namespace kprof_test {

struct Forward {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(2 * n); }
};

inline void run_steps(int count) {
  for (int i = 0; i < count; ++i) {
    { KPROF_OP(Forward, {.n = 100}); }
    KPROF_STEP();
  }
}

/// The numbers of the steps of which the profile has marks.
inline std::vector<std::uint64_t> indices(const kprof::profile& p) {
  std::vector<std::uint64_t> out;
  for (const kprof::step_mark& m : p.steps) out.push_back(m.index);
  return out;
}

}  // namespace kprof_test

#endif
