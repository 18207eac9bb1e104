// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SHARED_PROFILE_HPP
#define KPROF_TESTS_SHARED_PROFILE_HPP

// A profile made by hand in which threads share calls.

#include "sample_profile.hpp"

#include <cstdint>
#include <string>

namespace kprof_test {

/// A decoder as ggml runs it: a pool of four threads that do each call together, and one operator
/// that the first thread does alone. The last thread is slow.
inline kprof::profile shared_profile() {
  constexpr std::uint32_t threads = 4;
  profile_builder b;
  for (std::uint32_t t = 0; t < threads; ++t) {
    const auto root = b.thread("worker " + std::to_string(t), 100 + t);
    const auto part = [&](std::string name, std::string parameters, std::uint64_t flops,
                          std::uint64_t bytes, std::uint64_t calls, double wall_ns) {
      const auto node = b.op(root, std::move(name), std::move(parameters));
      const double fast_ns = 0.6 * wall_ns, slow_ns = 0.9 * wall_ns;
      b.calls(node, calls, t + 1 == threads ? slow_ns : fast_ns)
          .work(node, flops, bytes - bytes / 8, bytes / 8)
          .site(node, "src/decoder.cpp", 20);
      kprof::shared_part& shared = b.p.nodes[node].shared;
      shared.part = t;
      shared.parts = threads;
      if (t > 0) return;
      const auto all = static_cast<double>(calls);
      shared.calls = shared.joined = calls;
      shared.wall_ns = wall_ns * all;
      shared.busy_ns = ((threads - 1) * fast_ns + slow_ns) * all;
      shared.longest_ns = slow_ns * all;
      shared.min_ns = shared.max_ns = shared.first_ns = wall_ns;
      shared.first_end_ns = 2 * wall_ns;
      for (std::uint64_t i = 0; i < calls; ++i)
        shared.durations.add(static_cast<std::uint64_t>(wall_ns / b.p.clock.ns_per_tick));
    };
    if (t == 0) {
      const auto rows = b.op(root, "GetRows", "n=4096");
      b.calls(rows, 64, 4e3).work(rows, 0, 16'384, 16'384);
      b.p.nodes[rows].work.has_flops = false;
    }
    part("MulMat", "M=1 N=4096 K=4096 type=f32", 33'554'432, 9'453'568, 256, 3.2e5);
    part("MulMat", "M=1 N=11008 K=4096 type=f32", 90'177'536, 25'395'200, 128, 8.6e5);
    part("MulMat", "M=1 N=32000 K=4096 type=f32", 262'144'000, 73'744'384, 64, 2.5e6);
    part("SoftMax", "rows=32 columns=512", 81'920, 131'072, 64, 2.0e4);
  }
  kprof::profile p = b.done();
  add_surroundings(p);
  return p;
}

}  // namespace kprof_test

#endif
