// SPDX-License-Identifier: MIT
// The section of report(timeline): golden pages of a training on a device, of a program on the host
// alone, and what is said where there is nothing to show.

#include <kprof/report/text.hpp>

#include "catch.hpp"
#include "golden.hpp"
#include "report_page.hpp"
#include "timeline_oracle.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using kprof_test::has;
using kprof_test::page_of;
using kprof_test::timeline_builder;
using kprof_test::words;

namespace {

kprof::report_options timeline_at_width(int width) {
  kprof::report_options options = kprof_test::plain_at_width(width);
  options.timeline = true;
  options.table = false;
  options.tree = options.kernels = options.copies = false;
  options.advice = {"off"};
  return options;
}

void check_golden(const std::string& name, const std::string& page) {
  INFO(page);
  CHECK(page == kprof_test::golden(name, page));
}

/// Three steps of 100 us on two streams: a copy of the batch, two products, their backward product,
/// a sum of gradients on another stream and an update by a graph of two nodes.
kprof::profile training() {
  timeline_builder b;
  const auto main = b.thread("main", 1);
  const auto load = b.region(main, "load_batch");
  const auto forward = b.region(main, "forward"), backward = b.region(main, "backward");
  const auto gemm = b.op(forward, "Gemm", "n=512 pass=fprop"),
             back = b.op(backward, "Gemm", "n=512 pass=bprop"),
             sum = b.op(backward, "AllReduce", "n=9");
  b.calls(load, 3, 20e3).calls(forward, 3, 30e3).calls(backward, 3, 30e3);
  b.calls(gemm, 6, 10e3).calls(back, 3, 20e3).calls(sum, 3, 5e3);
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t t = step * 100'000;
    b.step_at(t, t + 100'000);
    b.scope_at(load, t, t + 20'000);
    b.copy_at({t + 18'000, t + 19'000, t + 20'000, t + 24'000}, {.scope = load}, 1 << 20);
    b.scope_at(gemm, t + 20'000, t + 30'000);
    b.kernel_at({t + 25'000, t + 28'000, t + 29'000, t + 39'000}, {.scope = gemm});
    b.scope_at(gemm, t + 30'000, t + 40'000);
    b.kernel_at({t + 32'000, t + 35'000, t + 40'000, t + 50'000}, {.scope = gemm});
    b.scope_at(forward, t + 20'000, t + 50'000);
    b.scope_at(back, t + 50'000, t + 70'000);
    b.kernel_at({t + 52'000, t + 56'000, t + 58'000, t + 78'000}, {.scope = back});
    b.scope_at(sum, t + 70'000, t + 75'000);
    b.event_at(1, 7, t + 57'000, 8, t + 71'000);
    b.communication_at({t + 72'000, t + 73'000, t + 79'000, t + 86'000},
                       {.stream = 8, .scope = sum});
    b.scope_at(backward, t + 50'000, t + 80'000);
    b.kernel_at({t + 81'000, t + 83'000, t + 84'000, t + 89'000}, {.graph = true}, "sgd");
    b.kernel_at({t + 81'000, t + 83'000, t + 90'000, t + 92'000}, {.graph = true}, "sgd");
    b.sync_at(t + 85'000, t + 95'000);
  }
  kprof::profile p = b.done();
  p.wall_ns = 300e3;
  p.cpus = 8;
  p.clock.ns_per_tick = 1;
  kprof_test::add_device(p);
  p.nodes[gemm].work.flops = p.nodes[back].work.flops = 1'000'000;
  p.nodes[gemm].work.has_flops = p.nodes[back].work.has_flops = true;
  p.complete.recorded = p.complete.in_timeline = p.timeline.size();
  for (kprof::device_work& w : p.device.work) {
    if (w.task != kprof::device_task::kernel) continue;
    w.grid[0] = 66, w.grid[1] = w.grid[2] = 1;
    w.block[0] = 256, w.block[1] = w.block[2] = 1;
    w.registers = 64;
  }
  return p;
}

/// Two steps of two threads, without a device.
kprof::profile on_host() {
  timeline_builder b;
  const auto main = b.thread("main", 1), helper = b.thread("helper", 2);
  const auto load = b.region(main, "load"), relu = b.op(main, "Relu", "n=5"),
             work = b.op(helper, "Relu", "n=7");
  b.calls(load, 2, 300).calls(relu, 2, 600).calls(work, 2, 500);
  for (std::int64_t t = 0; t < 2000; t += 1000) {
    b.step_at(t, t + 1000);
    b.scope_at(load, t, t + 300);
    b.scope_at(relu, t + 300, t + 900);
    b.scope_at(work, t + 400, t + 900);
  }
  kprof::profile p = b.done();
  p.wall_ns = 2000;
  p.cpus = 1;
  p.clock.ns_per_tick = 1;
  p.complete.recorded = p.complete.in_timeline = p.timeline.size();
  return p;
}

}  // namespace

TEST_CASE("text.timeline_of_a_training_on_a_device") {
  const kprof::profile p = training();
  check_golden("timeline_100.txt", page_of(p, timeline_at_width(100)));
  check_golden("timeline_80.txt", page_of(p, timeline_at_width(80)));
}

TEST_CASE("text.timeline_of_the_host_alone") {
  const kprof::profile p = on_host();
  check_golden("timeline_host_100.txt", page_of(p, timeline_at_width(100)));
  check_golden("timeline_host_80.txt", page_of(p, timeline_at_width(80)));
}

TEST_CASE("text.timeline_comes_on_request_and_says_why_there_is_none") {
  kprof::profile p = training();
  kprof::report_options options = timeline_at_width(100);
  options.timeline = false;
  CHECK_FALSE(has(page_of(p, options), "Where a step goes"));
  options.timeline = true;
  p = {};
  CHECK(has(page_of(p, options), "Timeline: n/a, nothing was recorded"));
  p.complete.recorded = 5;
  CHECK(has(words(page_of(p, options)), "Timeline: n/a, this profile has no steps,"));
  p.device.timeline.dropped_items = 5;
  CHECK(has(page_of(p, options), "Timeline: n/a, there was no memory"));
  // Steps whose scopes the profile has not.
  p = on_host();
  p.timeline.clear();
  const std::string page = page_of(p, options);
  CHECK(has(page, "! this profile has no times of single scopes"));
  CHECK_FALSE(has(page, "Threads in scopes"));
}

TEST_CASE("text.timeline_leaves_out_steps_that_it_has_not_whole") {
  kprof::profile p = on_host();
  p.complete.recorded = 100;
  p.complete.timeline_ns = 1500;  // the first step is not in it
  const std::string page = page_of(p, timeline_at_width(160));
  CHECK(
      has(page, "Where a step goes: means of 1 step; left out: 1 that the timeline has not whole"));
  p.complete.timeline_ns = 10;
  CHECK(has(page_of(p, timeline_at_width(160)),
            "Where a step goes: n/a, there is no step that the timeline has whole"));
}

TEST_CASE("text.means_of_steps_sum_to_the_mean_step") {
  const double sums[4] = {1, 1, 1, 4};
  const std::vector<std::int64_t> means = kprof::detail::means_of(sums, 3);
  CHECK(means == std::vector<std::int64_t>{0, 1, 0, 1});
}

TEST_CASE("text.timeline_of_odd_times_is_a_page_of_the_width") {
  constexpr auto latest = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    kprof_test::random_timeline made(seed);
    kprof::profile& p = made.p;
    const auto odd = [&](std::int64_t& t) {
      t = (seed + static_cast<std::uint64_t>(t)) % 5 == 0 ? latest - t : t;
    };
    if (seed % 3 == 0)
      for (kprof::device_item& i : p.device.timeline.items) odd(i.start), odd(i.end);
    if (seed % 4 == 0)
      for (kprof::step_mark& s : p.steps) odd(s.begin), odd(s.end), s.thread = seed % 5;
    if (seed % 5 == 0)
      for (kprof::timeline_scope& s : p.timeline) odd(s.start);
    const std::string page = page_of(p, timeline_at_width(seed % 2 == 0 ? 80 : 40));
    INFO("seed " << seed << page);
    std::size_t widest = 0;
    for (const std::string& line : kprof_test::lines_of(page))
      widest = std::max(widest, kprof::detail::display_width(line));
    REQUIRE(widest <= (seed % 2 == 0 ? 80 : 40));
  }
}
