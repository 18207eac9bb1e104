// SPDX-License-Identifier: MIT
#include <kprof/model/copy_table.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"

#include <cstdint>

using kprof::absence;
using kprof::copy_direction;
using kprof::copy_row;
using kprof::copy_table;
using kprof::device_work;
using kprof::memory_place;
using kprof_test::device_builder;

TEST_CASE("copy_table.copies_and_memsets_are_told_apart_by_kind_and_memory") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  b.copy(op, copy_direction::host_to_device, 4, 100, 1000);
  // operator and stream make no difference
  b.copy(main, copy_direction::host_to_device, 1, 100, 500).stream = 3;
  b.copy(op, copy_direction::host_to_device, 1, 90, 1000).from = memory_place::pageable;
  b.copy(op, copy_direction::host_to_device, 1, 80, 1000).to = memory_place::array;
  b.copy(op, copy_direction::device_to_host, 1, 70, 1000);
  b.copy(op, copy_direction::device_to_host, 1, 60, 1000).device = 1;
  auto& set = b.set(op, 2, 25, 100);
  set.direction = copy_direction::host_to_host;  // neither of these is of a memset
  set.from = memory_place::pinned;
  b.set(op, 1, 5, 100);
  b.copy(op, copy_direction::unknown, 1, 1, 8).merged = true;
  b.kernel(op, "k", 1, 244);
  const auto table = copy_table(b.done());
  REQUIRE(table.size() == 7);
  CHECK(table[0].calls == 5);
  CHECK(table[0].direction == copy_direction::host_to_device);
  CHECK(table[0].from == memory_place::pinned);
  CHECK(table[0].to == memory_place::device);
  CHECK(table[0].bytes == 4500);
  CHECK(table[0].total_ns == Approx(500));
  CHECK(table[0].share == Approx(500 / 1100.0));
  CHECK(table[0].bytes_per_s.value == Approx(4500 / 500e-9));
  CHECK(table[1].from == memory_place::pageable);
  CHECK(table[2].to == memory_place::array);
  CHECK(table[4].device == 1);
  CHECK(table[5].task == kprof::device_task::set);
  CHECK(table[5].calls == 3);
  CHECK(table[5].from == memory_place::unknown);
  CHECK(table[6].merged);
}

TEST_CASE("copy_table.rates_are_not_known_without_time") {
  device_builder b;
  const auto main = b.thread("main", 1);
  b.copy(main, copy_direction::host_to_device, 4, 100, 1000).untimed = 1;
  b.set(main, 1, 0, 100);
  const auto table = copy_table(b.done());
  CHECK(table[0].bytes_per_s.why == absence::untimed);
  CHECK(table[1].bytes_per_s.why == absence::no_time);
  const auto sets =
      copy_table(b.p, [](const device_work& w) { return w.task == kprof::device_task::set; });
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].share == 0);
}

TEST_CASE("copy_table.nothing_is_lost") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::uint64_t calls = 0, bytes = 0;
    double ns = 0;
    for (const device_work& w : p.device.work)
      if (w.task != kprof::device_task::kernel)
        calls += w.calls, bytes += w.bytes, ns += w.total_ns;
    for (const copy_row& row : copy_table(p))
      calls -= row.calls, bytes -= row.bytes, ns -= row.total_ns;
    REQUIRE(calls == 0);
    REQUIRE(bytes == 0);
    REQUIRE(ns == Approx(0).margin(1));
  }
}
