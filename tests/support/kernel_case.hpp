// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_KERNEL_CASE_HPP
#define KPROF_TESTS_KERNEL_CASE_HPP

// A run of one kernel for tests of rules of advice.

#include "device_builder.hpp"
#include "machines.hpp"

#include <kprof/profile.hpp>

#include <cstdint>
#include <string>

namespace kprof_test {

inline constexpr std::uint64_t ten_gflop = 10'000'000'000;

/// One operator with one kernel on an H100, for a millisecond: ten calls of 100 us.
struct kernel_case {
  std::string op = "Op", parameters = "n=1", kernel = "k";
  std::uint32_t blocks = 1056, threads = 256, registers = 64, shared = 0;
  std::uint64_t flops = ten_gflop / 10, bytes = 1000;
  kprof::dtype type = kprof::dtype::f32;
  kprof::arithmetic_unit on = kprof::arithmetic_unit::unknown;

  kprof::profile make() const {
    device_builder b;
    const auto node = b.op(b.thread("main", 1), op, parameters);
    b.calls(node, 10, 5000).work(node, flops, bytes, 0, type);
    b.p.nodes[node].work.on = on;
    kprof::device_work& w = b.kernel(node, kernel, 10, 100e3, blocks, threads);
    w.registers = registers;
    w.dynamic_shared = shared;
    return finished(b);
  }

  static kprof::profile finished(device_builder& b) {
    kprof::profile p = b.done();
    add_device(p);
    p.wall_ns = 2e6;
    p.device.devices[0].l2_bytes = 50 << 20;
    p.machine.gpus = {h100()};
    return p;
  }
};

}  // namespace kprof_test

#endif
