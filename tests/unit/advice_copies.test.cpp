// SPDX-License-Identifier: MIT

// Rules of advice about copies and memsets: each speaks where its evidence reaches the threshold,
// and is silent just below it.

#include "catch.hpp"

#include "advised.hpp"
#include "device_builder.hpp"
#include "kernel_case.hpp"

#include <kprof/advice.hpp>

#include <cstdint>

using kprof::profile;
using kprof_test::device_builder;
using kprof_test::gain;
using kprof_test::kernel_case;
using kprof_test::silent;

namespace {
profile with_copies(std::uint64_t runs, std::uint64_t bytes, double ns, kprof::memory_place from) {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 10, 5000);
  b.copy(op, kprof::copy_direction::host_to_device, runs, ns, bytes).from = from;
  b.kernel(op, "k", 10, 100e3);
  return kernel_case::finished(b);
}
}  // namespace

TEST_CASE("advice_copies.C1_pageable_copies") {
  using kprof::memory_place;
  // 65,536 B in 10.9 us are half of 12 GB/s.
  CHECK(gain(with_copies(10, 65'536, 65'536 / 6.0, memory_place::pageable), "C1") ==
        Approx(10 * 65'536 / 6.0 / 2));
  CHECK(gain(with_copies(10, 65'535, 65'536 / 6.0, memory_place::pageable), "C1") == silent);
  CHECK(gain(with_copies(10, 65'536, 65'536 / 6.0, memory_place::pinned), "C1") == silent);
  CHECK(gain(with_copies(10, 65'536, 65'536 / 12.5, memory_place::pageable), "C1") == silent);
}

TEST_CASE("advice_copies.C3_small_copies") {
  using kprof::memory_place;
  CHECK(gain(with_copies(100, 1200, 2100, memory_place::pinned), "C3") == Approx(99 * 2000));
  CHECK(gain(with_copies(99, 1200, 2100, memory_place::pinned), "C3") == silent);
  CHECK(gain(with_copies(100, 65'536, 21'000, memory_place::pinned), "C3") == silent);
}

TEST_CASE("advice_copies.C6_a_slow_link") {
  using kprof::memory_place;
  // 1 MiB in 35 us are 30 GB/s, of a link of 50.
  const auto on_link = [](std::uint64_t bytes, double ns, memory_place from, double link) {
    profile p = with_copies(100, bytes, ns, from);
    p.machine.gpus[0].to_device_bytes = link;
    return gain(p, "C6");
  };
  CHECK(on_link(1 << 20, 35e3, memory_place::pinned, 50e9) ==
        Approx(100 * 35e3 * (1 - 1048576 / 35e3 / 50)).epsilon(1e-3));
  CHECK(on_link(1 << 20, 35e3, memory_place::pinned, 49.9e9) == silent);  // above 60 %
  CHECK(on_link((1 << 20) - 1, 35e3, memory_place::pinned, 50e9) == silent);
  CHECK(on_link(1 << 20, 35e3, memory_place::pageable, 50e9) == silent);
  CHECK(on_link(1 << 20, 35e3, memory_place::pinned, 0) == silent);  // nobody measured
}

TEST_CASE("advice_copies.C7_clearing") {
  const auto with_memset = [](double ns) {
    device_builder b;
    const auto op = b.op(b.thread("main", 1), "Op", "n=1");
    b.calls(op, 10, 5000);
    b.set(op, 10, ns, 1000);
    b.kernel(op, "k", 10, 100e3 - ns);
    return kernel_case::finished(b);
  };
  CHECK(gain(with_memset(2000), "C7") == Approx(20e3));
  CHECK(gain(with_memset(1990), "C7") == silent);
}
