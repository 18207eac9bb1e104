// SPDX-License-Identifier: MIT
// needs: guards
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;

TEST_CASE("device_history_bounds.many_items_are_summed_exactly_in_bounded_memory") {
#ifdef KPROF_TEST_SHORT
  constexpr std::uint32_t all = 200'000;
#else
  constexpr std::uint32_t all = 10'000'000;
#endif
  constexpr std::size_t memory = std::size_t{64} << 20U, room = memory / 16 / 48;
  engine e(memory);
  const std::uint32_t each = 1000;
  std::vector<activity> some;
  std::uint64_t total = 0;
  std::size_t most_bytes = 0;
  for (std::uint32_t i = 1; i <= all;) {
    some.clear();
    for (std::uint32_t k = 0; k < each; ++k, ++i) {
      e.launch({i}, 10 * std::uint64_t{i});
      some.push_back(kernel(i, i % 3 == 0 ? "a" : "b", 100 * std::uint64_t{i}, 50 + i % 7));
      total += 50 + i % 7;
    }
    e.take_launches();
    e.read(some);
    most_bytes = std::max(most_bytes, e.devices.history().bytes());
  }
  CHECK(most_bytes <= device_history::share(memory));
  const kprof::profile p = e.profile();
  double summed = 0;
  std::uint64_t calls = 0;
  for (const auto& w : p.device.work) summed += w.total_ns, calls += w.calls;
  CHECK(calls == all);
  CHECK(summed == static_cast<double>(total));
  CHECK(p.device.timeline.items.size() == room);
  CHECK(p.device.timeline.dropped_items == all - room);
  CHECK(p.device.complete.attributed + p.device.complete.outside == all);
}

// A program that resets its devices again and again.
TEST_CASE("device_history_bounds.of_many_contexts_the_latest_are_known") {
  device_history h;
  h.restart(std::size_t{1} << 20U);
  for (std::uint32_t context = 1; context <= 1000; ++context) {
    activity work;
    work.kind = activity_kind::kernel;
    work.context = context, work.device = context % 2;
    h.add(work, nullptr, 0, 0, 1, 0);
    CHECK(h.device_of(context) == context % 2);
  }
  for (std::uint32_t context = 950; context <= 1000; ++context)
    CHECK(h.device_of(context) == context % 2);
}
