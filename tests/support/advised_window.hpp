// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_ADVISED_WINDOW_HPP
#define KPROF_TESTS_ADVISED_WINDOW_HPP

// A stretch of a device's timeline for tests of rules of advice.

#include "timeline_builder.hpp"

#include <kprof/profile.hpp>

#include <cstdint>
#include <string>

namespace kprof_test {

/// A run whose device has a window of 1 ms: a first kernel of 1 us and a last one that ends at
/// 1 ms. In between the test has its say.
struct advised_window : timeline_builder {
  std::uint32_t root = thread("main", 1);
  std::uint32_t op = timeline_builder::op(root, "Op");

  advised_window() { kernel_at({0, 0, 0, 1'000}, {.scope = op}); }
  kprof::profile finish() {
    calls(op, 10, 100'000);
    kprof::profile done = this->done();
    add_device(done);
    done.wall_ns = 1'000'000;
    return done;
  }
  std::uint32_t function(const std::string& name) {
    p.device.functions.push_back(name);
    return static_cast<std::uint32_t>(p.device.functions.size() - 1);
  }
  kprof::device_work& work() { return p.device.work[p.device.timeline.items.back().work]; }
};

}  // namespace kprof_test

#endif
