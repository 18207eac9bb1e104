// SPDX-License-Identifier: MIT
// Rules of advice about steps: those that take far longer than most, and small copies in each.

#include <kprof/advice.hpp>

#include "advised.hpp"
#include "catch.hpp"
#include "device_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using kprof_test::asked;
using kprof_test::gain;
using kprof_test::silent;
using kprof_test::text_of;

namespace {

/// Steps of these lengths in us: 4 us are "Gemm", and of what is above 10 us a part is in "Parse",
/// whose calls are short where it is not half of it, and the rest in "load" or in no scope.
kprof::profile steps_of(const std::vector<double>& us, double parsing = 0.25, bool in_load = true) {
  kprof_test::profile_builder b(1.0);
  const auto main = b.thread("main", 1);
  const auto load = b.region(main, "load"), parse = b.op(load, "Parse", "n=1"),
             gemm = b.op(main, "Gemm", "M=1");
  b.calls(load, us.size(), 1e3).calls(gemm, us.size(), 4e3);
  for (const double step_us : us)
    if (parsing > 0.5) b.calls(parse, 1, 500 + parsing * std::max(0.0, step_us - 10) * 1e3);
  kprof::profile p = b.done();
  p.stepping.whole_from = 0;
  kprof::thread_steps& sums = p.stepping.threads.emplace_back();
  sums.thread = 0;
  sums.min_ns = 1e18;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < us.size(); ++i) {
    const double ns = us[i] * 1e3, more = std::max(0.0, ns - 10e3);
    p.steps.push_back({i, 0, true, at, at + static_cast<std::int64_t>(ns)});
    at = p.steps.back().end;
    ++sums.count;
    sums.total_ns += ns;
    sums.min_ns = std::min(sums.min_ns, ns);
    sums.max_ns = std::max(sums.max_ns, ns);
    if (i == 0) sums.first_ns = ns;
    sums.durations.add(static_cast<std::uint64_t>(ns));
    const auto step = static_cast<std::uint32_t>(i);
    if (in_load) p.stepping.shares.push_back({step, load, 1, more, more * (1 - parsing)});
    p.stepping.shares.push_back({step, parse, 1, more * parsing, more * parsing});
    p.stepping.shares.push_back({step, gemm, 1, 4e3, 4e3});
  }
  p.wall_ns = static_cast<double>(at);
  return p;
}

std::vector<double> mostly_10(std::size_t count, std::size_t slow, double slow_us) {
  std::vector<double> out(count, 10);
  for (std::size_t i = 0; i < slow; ++i) out[count - 1 - 3 * i] = slow_us;
  return out;
}

}  // namespace

TEST_CASE("advice_steps.S11_names_what_makes_slow_steps_slow") {
  const kprof::profile p = steps_of(mostly_10(100, 4, 30));
  CHECK(gain(p, "S11") == Approx(80e3).epsilon(0.02));
  CHECK(text_of(asked(p, "S11")[0]) ==
        "Steps take 10.0 µs mostly and 30.0 µs or more in one of a hundred; the excess of slow "
        "ones is in load (75%), Parse (25%). Look for what these do more of, and for what "
        "interrupts them: waiting for data, allocation, other threads");
}

TEST_CASE("advice_steps.S11_needs_many_steps_a_long_tail_and_much_time") {
  CHECK(gain(steps_of(mostly_10(100, 20, 14)), "S11") == silent);   // 1.4 medians
  CHECK(gain(steps_of(mostly_10(100, 4, 15.5)), "S11") == silent);  // 22 us of 1,022: 2.2 %
  CHECK(gain(steps_of(mostly_10(100, 8, 15.5)), "S11") > 0);
  CHECK(gain(steps_of(mostly_10(100, 1, 90)), "S11") == silent);  // one of a hundred is not p99
  CHECK(gain(steps_of(mostly_10(19, 4, 30)), "S11") == silent);
  CHECK(gain(steps_of(mostly_10(20, 4, 30)), "S11") > 0);
  CHECK(gain(kprof::profile{}, "S11") == silent);
}

TEST_CASE("advice_steps.S11_says_of_few_steps_what_the_slowest_took") {
  CHECK(text_of(asked(steps_of(mostly_10(99, 4, 30)), "S11")[0])
            .starts_with("Steps take 10.0 µs mostly and 30.0 µs in the slowest of 99; "));
}

TEST_CASE("advice_steps.S11_says_that_slow_steps_are_slow_in_no_scope") {
  CHECK(text_of(asked(steps_of(mostly_10(100, 4, 30), 0.25, false), "S11")[0]) ==
        "Steps take 10.0 µs mostly and 30.0 µs or more in one of a hundred; the excess of slow "
        "ones is in no scope (75%), Parse (25%). Put a region around what runs there, and look for "
        "what interrupts it");
}

TEST_CASE("advice_steps.S11_has_shares_of_what_took_more_where_something_took_less") {
  kprof::profile p = steps_of(mostly_10(100, 4, 30));
  for (kprof::step_share& s : p.stepping.shares) {
    const std::string& name = p.nodes[s.node].name;
    if (p.steps[s.step].end - p.steps[s.step].begin < 30'000) continue;
    if (name == "Gemm") s.self_ns -= 3e3;
    if (name == "load") s.self_ns += 3e3;
  }
  const std::string text = text_of(asked(p, "S11")[0]);
  INFO(text);
  CHECK(text.find("the excess of slow ones is in load (78%), Parse (22%). ") != std::string::npos);
}

TEST_CASE("advice_steps.S11_is_silent_where_S8_says_which_calls_are_slow") {
  kprof::profile p = steps_of(mostly_10(100, 4, 30), 0.75);
  CHECK(gain(p, "S8") > 0);
  CHECK(gain(p, "S11") == silent);
  p = steps_of(mostly_10(100, 4, 30), 0.45);
  CHECK(gain(p, "S8") == silent);
  CHECK(gain(p, "S11") > 0);
}

TEST_CASE("advice_steps.S11_leaves_out_the_first_step") {
  std::vector<double> us = mostly_10(30, 0, 0);
  us[0] = 300;
  CHECK(gain(steps_of(us), "S11") == silent);
  us[20] = 40;
  CHECK(gain(steps_of(us), "S11") == Approx(30e3).epsilon(0.1));
}

TEST_CASE("advice_steps.S11_says_less_where_no_step_is_whole") {
  kprof::profile p = steps_of(mostly_10(100, 4, 30));
  p.stepping.whole_from = -1;
  p.stepping.shares.clear();
  CHECK(text_of(asked(p, "S11")[0]) ==
        "Steps take 10.0 µs mostly and 30.0 µs or more in one of a hundred. Find which scopes make "
        "slow ones slow: report(by=op+step)");
}

TEST_CASE("advice_steps.C3_counts_small_copies_by_step") {
  kprof_test::device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 10, 5000);
  b.copy(op, kprof::copy_direction::host_to_device, 500, 2100, 1200).from =
      kprof::memory_place::pinned;
  b.kernel(op, "k", 10, 100e3);
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  p.stepping = {};
  p.wall_ns = p.device.devices[0].sum_ns;
  CHECK(gain(p, "C3") == Approx(499 * 2000));
  // A loop may gather those of a step.
  kprof::thread_steps& steps = p.stepping.threads.emplace_back();
  steps.thread = 0;
  steps.count = 5;
  CHECK(gain(p, "C3") == Approx((500 - 5) * 2000));
  CHECK(asked(p, "C3")[0].fact == "are 100 a step of 1.20 kB on average");
  p.stepping.threads[0].count = 6;
  CHECK(gain(p, "C3") == silent);
}
