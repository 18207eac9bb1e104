// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_STEPPED_PROFILE_HPP
#define KPROF_TESTS_STEPPED_PROFILE_HPP

// A profile with steps.

#include "profile_builder.hpp"

#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kprof_test {

/// Steps of these lengths in ms: 1 ms is "Gemm", 1 ms no scope, and the rest is "Data". The first
/// is before the timeline.
inline kprof::profile stepped(const std::vector<double>& ms) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto data = b.region(main, "Data"), gemm = b.op(main, "Gemm", "M=1");
  b.calls(data, ms.size(), 1e6).calls(gemm, ms.size(), 1e6);
  kprof::profile p = b.done();
  p.nodes[gemm].work.has_flops = true;
  p.nodes[gemm].work.flops = 2'000'000;
  p.nodes[gemm].work.type = kprof::dtype::f32;
  p.clock.ns_per_tick = 1;
  const std::uint32_t thread = p.nodes[gemm].thread;
  kprof::thread_steps& sums = p.stepping.threads.emplace_back();
  sums.thread = thread;
  sums.min_ns = 1e18;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < ms.size(); ++i) {
    const double ns = ms[i] * 1e6;
    const std::int64_t end = at + static_cast<std::int64_t>(ns);
    p.steps.push_back({i, thread, true, at, end});
    ++sums.count;
    sums.total_ns += ns;
    sums.min_ns = std::min(sums.min_ns, ns);
    sums.max_ns = std::max(sums.max_ns, ns);
    if (i == 0) sums.first_ns = ns;
    sums.durations.add(static_cast<std::uint64_t>(ns));
    if (i == 1) p.stepping.whole_from = at;
    at = end;
    if (i == 0) continue;
    const auto step = static_cast<std::uint32_t>(i);
    p.stepping.shares.push_back({step, data, 1, ns - 2e6, ns - 2e6});
    p.stepping.shares.push_back({step, gemm, 1, 1e6, 1e6});
  }
  return p;
}

}  // namespace kprof_test

#endif
