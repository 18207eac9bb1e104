// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TRACE_CHAOS_HPP
#define KPROF_TESTS_TRACE_CHAOS_HPP

// Timelines that make no sense, for the tests of traces.

#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

namespace kprof_test {

inline constexpr std::int64_t latest_of_all = std::numeric_limits<std::int64_t>::max();

/// Items have numbers of their own, as those of a real run; those of a graph's launch share one.
inline void number_launches(kprof::profile& p) {
  for (std::size_t i = 0; i < p.device.timeline.items.size(); ++i) {
    kprof::device_item& item = p.device.timeline.items[i];
    item.correlation =
        item.graph ? static_cast<std::uint32_t>(1000U + static_cast<std::uint64_t>(item.call_begin))
                   : static_cast<std::uint32_t>(i + 1);
  }
}

/// Scopes, items, calls and steps anywhere: crossing, negative, at the ends of time, of nodes,
/// threads and work that are not there.
inline void add_chaos(kprof::profile& p, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto time = [&]() -> std::int64_t {
    switch (below(12)) {
      case 0: return -static_cast<std::int64_t>(below(100));
      case 1: return latest_of_all - static_cast<std::int64_t>(below(3));
      case 2: return -latest_of_all;
      default: return static_cast<std::int64_t>(below(200));
    }
  };
  const auto index = [&](std::size_t size) {
    return below(15) == 0 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(below(size + 1));
  };
  for (std::size_t i = below(60); i > 0; --i)
    p.timeline.push_back(
        {index(p.nodes.size()), time(), below(12) == 0 ? ~std::uint64_t{0} : below(100)});
  for (std::size_t i = below(4); i > 0; --i) {
    kprof::device_work w;
    w.task = static_cast<kprof::device_task>(below(3));
    w.scope = index(p.nodes.size());
    w.kernel = index(p.device.kernels.size());
    w.device = below(4) == 0 ? static_cast<std::uint32_t>(random()) : 0;
    w.merged = below(3) == 0;
    w.direction = static_cast<kprof::copy_direction>(below(6));
    w.total_ns = below(2) == 0 ? std::numeric_limits<double>::quiet_NaN() : -1;
    p.device.work.push_back(w);
  }
  for (std::size_t i = below(40); i > 0; --i)
    p.device.timeline.items.push_back(
        {index(p.device.work.size()), below(5) == 0 ? static_cast<std::uint32_t>(random()) : 7,
         index(p.threads.size()), static_cast<std::uint32_t>(i), time(), time(), time(), time(),
         below(3) * random(), below(4) == 0});
  for (std::size_t i = below(20); i > 0; --i) {
    kprof::host_call c;
    c.name = index(p.device.functions.size());
    c.thread = index(p.threads.size());
    c.kind = static_cast<kprof::call_kind>(below(9));
    c.begin = time();
    c.end = time();
    p.device.timeline.calls.push_back(c);
  }
  for (std::size_t i = below(5); i > 0; --i)
    p.steps.push_back({i, index(p.threads.size()), below(4) != 0, time(), time()});
  if (below(20) == 0) p.clock.ns_per_tick = std::numeric_limits<double>::infinity();
  if (below(20) == 0) p.clock.ns_per_tick = -1;
}

}  // namespace kprof_test

#endif
