// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_HOST_CASE_HPP
#define KPROF_TESTS_SUPPORT_HOST_CASE_HPP

#include "machines.hpp"
#include "profile_builder.hpp"

#include <kprof/profile.hpp>

#include <cstdint>
#include <string>

namespace kprof_test {

using kprof::dtype;
using kprof::profile;

/// One operator, ten calls of 100 us, in a run of a millisecond on two CPUs of 100 GFLOP/s (f32)
/// and 20 GB/s each.
struct host_case {
  std::string op = "Op", parameters = "n=1";
  std::uint64_t flops = 1'000'000, bytes = 1000;
  dtype type = dtype::f32;

  profile make() const {
    profile_builder b;
    const auto node = b.op(b.thread("main", 1), op, parameters);
    b.calls(node, 10, 100e3).work(node, flops, bytes, 0, type);
    return finished(b);
  }
  static profile finished(profile_builder& b) {
    profile p = b.done();
    p.wall_ns = 1e6;
    p.cpus = 2;
    p.threads[0].in_scopes_ns = 1e6;
    p.machine.cpu = kprof_test::two_cpus();
    return p;
  }
};
inline constexpr double T = 1e6;

}  // namespace kprof_test

#endif
