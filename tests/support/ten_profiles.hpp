// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TEN_PROFILES_HPP
#define KPROF_TESTS_TEN_PROFILES_HPP

// Ten profiles that have, taken together, all that a profile can hold: made by hand, random, and
// recorded in this process. They are the same in every run: what a recording measured is replaced.

#include "device_profiles.hpp"

#include <kprof/kprof.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace kprof_test {

struct named_profile {
  std::string name;
  kprof::profile run;
};

enum class shade : std::int8_t { dark = -1, light = 3 };
struct PaintPart {
  std::int16_t width = 0;
  kprof::fixed_string<8> tag;
};
struct Paint {
  std::int64_t n = 0;
  std::uint64_t seed = 0;
  bool wet = false;
  float gain = 0;
  double offset = 0;
  long double exact = 0;
  shade tone = shade::light;
  kprof::dtype type = kprof::dtype::f32;
  kprof::fixed_string<20> name;
  std::array<std::int32_t, 2> shape{};
  std::array<PaintPart, 2> parts{};
  kprof::pass_kind pass = kprof::pass_kind::wgrad;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(n) * 2; }
  constexpr void brief(kprof::brief_text& out) const {
    if (n != 0) out.put(n).by(7).item(n == 3 ? "two\nlines \xFF" : "plain").beside("tone");
  }
  constexpr bool shows(kprof::field_name field) const { return field != "gain" || n > 1; }
};

inline Paint paint(int i) {
  Paint p;
  p.n = i;
  p.seed = ~std::uint64_t{0} - static_cast<std::uint64_t>(i);
  p.wet = i % 2 == 0;
  p.gain = i == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.1F;
  p.offset = i == 2 ? -std::numeric_limits<double>::infinity() : i == 3 ? -0.0 : 5e-324;
  p.exact = 1.0L / static_cast<long double>(3 + i);
  p.tone = static_cast<shade>(i - 1);
  p.name = i == 4 ? "\xFF\xFEnot utf-8" : "\"quoted\"\n";
  p.shape = {i, -i};
  p.parts[1] = {7, "tag"};
  return p;
}

/// Puts fixed values in the place of all that differs from one run or machine to another.
inline void replace_measured(kprof::profile& p) {
  add_surroundings(p);
  p.clock.ns_per_tick = 0.5;
  p.clock.start_realtime_ns = 1'700'000'000'000'000'000;
  p.clock.cpu_interval_ns = 200'000;
  p.cost.cpu_reading_ns = 190;
  p.cpu_ns = 7e9;
  p.cost.cpu_readings = 1234;
  p.notes = {"a note"};
  p.device = {};
  p.device.state = "no libcuda.so.1";
  p.machine = {};
  for (std::size_t i = 0; i < p.threads.size(); ++i) {
    p.threads[i].id = 4711 + i;
    p.threads[i].name = i == 0 ? "main" : "worker";
    p.threads[i].begin_ns = 1e3 * static_cast<double>(i);
    p.threads[i].wall_ns = 5e6;
    p.threads[i].in_scopes_ns = 4e6;
    p.threads[i].measured_ns = 4.5e6;
    p.threads[i].off_cpu_ns = 3e6;
  }
  p.complete.recorded = p.complete.merged = 0;
  for (kprof::scope_node& n : p.nodes) {
    if (!n.file.empty()) n.file = "tests/support/ten_profiles.hpp";  // wherever that lies
    if (n.merged) p.complete.merged += n.calls = 12'345;
    p.complete.recorded += n.calls;
    n.durations = {};
    n.total_ns = 0;
    for (std::uint64_t i = 0; i < n.calls; ++i) {
      const std::uint64_t ticks = 100 + i * i % 977;
      n.durations.add(ticks);
      n.total_ns += p.clock.to_ns(ticks);
    }
    n.self_ns = n.total_ns / 2;
    n.measured_ns = 0.75 * n.total_ns;
    n.off_cpu_ns = 0.5 * n.total_ns;
    n.denormal_ns = 0.25 * n.total_ns;
    n.measured_calls = n.calls;
    n.denormal_calls = n.calls / 2;
    n.page_faults = 3 * n.calls;
    n.min_ns = n.calls > 0 ? 50 : 0;
    n.max_ns = n.calls > 0 ? 538 : 0;
    n.first_ns = n.calls > 0 ? 50 : -1;
    n.first_end_ns = n.calls > 0 ? 700 : -1;
    n.slowest.clear();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n.calls, 3); ++i)
      n.slowest.push_back({static_cast<double>(538 - i), static_cast<double>(900 + 1000 * i)});
    n.sampled.assign(n.slowest.rbegin(), n.slowest.rend());
    n.open_ns = 1e3 * static_cast<double>(n.open);
  }
  for (std::size_t i = 0; i < p.timeline.size(); ++i) {
    p.timeline[i].start = 1'000 + 7 * static_cast<std::int64_t>(i);
    p.timeline[i].duration = 1 + i % 5;
  }
  p.complete.in_timeline = p.timeline.size();
  p.complete.imprecise = 0;
}

/// Several threads, typed parameters of all kinds, an open scope and the timeline.
inline kprof::profile recorded_profile(bool timeline) {
  static_cast<void>(kprof::start());
  const auto work = [] {
    KPROF_REGION("work of a thread");
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < 4; ++k) { KPROF_OP(Paint, paint(i)); }
  };
  for (int i = 0; i < 2; ++i) std::thread(work).join();  // one by one: always in this order
  work();
  KPROF_REGION("still open");
  kprof::profile run = kprof::snapshot({.timeline = timeline});
  kprof::stop();
  replace_measured(run);
  return run;
}

/// More sets of parameters than memory is given for: the rest is merged.
inline kprof::profile merged_profile() {
  static_cast<void>(kprof::start({.memory = 1U << 20U}));
  for (int i = 0; i < 20'000; ++i) { KPROF_OP(Paint, paint(i)); }
  kprof::profile run = kprof::snapshot();
  kprof::stop();
  // A file of a few rows is as good, and quicker to mutate.
  std::vector<kprof::scope_node> kept;
  for (const kprof::scope_node& n : run.nodes)
    if (n.parent == kprof::scope_node::none || n.merged || n.parent >= kept.size() ||
        kept.size() < 20)
      kept.push_back(n);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i].parent != kprof::scope_node::none && kept[i].parent >= i) kept[i].parent = 0;
  run.nodes = kept;
  replace_measured(run);
  return run;
}

inline std::vector<named_profile> ten_profiles() {
  return {{"sample", sample_profile()},
          {"troubled", troubled_profile()},
          {"hostile", hostile_profile()},
          {"deep", deep_profile(40)},
          {"device and graphs", transformer_profile()},
          {"troubled device", troubled_device_profile()},
          {"random device", random_device_profile(20)},
          {"threads, open, timeline", recorded_profile(true)},
          {"merged", merged_profile()},
          {"empty", kprof::profile{}}};
}

}  // namespace kprof_test

#endif
