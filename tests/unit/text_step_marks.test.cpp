// SPDX-License-Identifier: MIT
// Means over steps of which not all marks are kept, and over those that only enqueue work.

#include <kprof/model/steps.hpp>
#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_builder.hpp"
#include "../support/machines.hpp"
#include "../support/profile_builder.hpp"
#include "../support/report_page.hpp"
#include "../support/stepped_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof_test::at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::stepped;

namespace {

/// Steps of these lengths, usual ones of 1 ms. Only the marks of the slowest (no later one is
/// slower) and the latest, and of each 13th of the others are there.
kprof::profile thinned(const std::vector<double>& ms) {
  const std::size_t count = ms.size();
  kprof::profile p = stepped(ms);
  for (kprof::step_share& s : p.stepping.shares) s.self_ns = s.total_ns = 0.5e6;
  std::vector<kprof::step_mark> marks;
  std::vector<std::uint32_t> now(count, kprof::step_share::none);
  std::size_t slow = 0;
  for (std::size_t i = 1; i < count; ++i) {  // stepped() has no shares of the first
    const bool is_slow = ms[i] > 1;
    if (is_slow ? slow++ >= kprof::slowest_marks && i % 13 != 0
                : i % 13 != 0 && i + kprof::latest_marks < count)
      continue;
    now[i] = static_cast<std::uint32_t>(marks.size());
    marks.push_back(p.steps[i]);
  }
  for (kprof::step_share& s : p.stepping.shares) s.step = now[s.step];
  std::erase_if(p.stepping.shares,
                [](const kprof::step_share& s) { return s.step == kprof::step_share::none; });
  p.stepping.whole_from = 0;
  p.steps = marks;
  return p;
}

/// `count` steps of 1 ms, but every 50th of 21 ms, which makes 1.4 ms on average.
kprof::profile thinned(std::size_t count) {
  std::vector<double> ms(count, 1);
  for (std::size_t i = 25; i < count; i += 50) ms[i] = 21;
  return thinned(ms);
}

}  // namespace

TEST_CASE("steps.a_slow_step_among_the_marks_stands_for_as_many_as_were_as_slow") {
  // 32 steps of 31 ms, whose marks are there for sure, and of eight of 5 to 5.7 ms two by chance.
  std::vector<double> ms(1600, 1);
  for (std::size_t i = 0; i < 32; ++i) ms[13 * i + 5] = 31;
  for (std::size_t i = 0; i < 8; ++i)
    ms[520 + 13 * i + (i % 4 == 0 ? 0 : 1)] = 5 + 0.1 * static_cast<double>(i);
  kprof::profile p = thinned(ms);
  const kprof::step_details d = kprof::details_of_steps(p, 0);
  CHECK(d.is_estimate());
  CHECK(d.stands_for == 1600);
  CHECK(d.median_ns == 1e6);
  const double exact = 32 * 30e6 + 8 * 4.35e6;
  CHECK(d.excess_ns == Approx(exact).epsilon(1e-6));
  double sum = 0;
  for (const kprof::step_excess& e : d.excess) sum += e.ns;
  CHECK(sum == Approx(d.excess_ns));
  // Where a damaged file does not say how long steps took, each mark stands for as many.
  p.stepping.threads[0].durations = {};
  CHECK(kprof::details_of_steps(p, 0).stands_for == 1600);
}

TEST_CASE("steps.means_over_marks_that_favour_slow_steps_are_means_over_all_steps") {
  kprof::profile p = thinned(1600);
  p.machine.cpu.threads = 1;
  p.machine.cpu.arithmetic.push_back({kprof::dtype::f32, "", {20e9, 20e9, false}});
  const kprof::step_details d = kprof::details_of_steps(p, 0);
  CHECK(d.steps == p.steps.size());
  CHECK(d.stands_for == 1600);
  CHECK(d.total_ns == Approx(1600 * 1.4e6));
  CHECK(d.median_ns == 1e6);
  CHECK(d.flops == Approx(1600 * 2e6).epsilon(0.002));
  CHECK(d.excess_ns == Approx(32 * 20e6));
  CHECK(d.mfu() == Approx(0.1 / 1.4).epsilon(0.002));
  const std::string page = page_of(p, at_width(160));
  INFO(page);
  CHECK(has(page, "2.00 MFLOP a step at 1.43 GFLOP/s, MFU 7.1%"));
  CHECK(has(page, "work and slow steps are estimates for 1,600 steps by the " +
                      std::to_string(p.steps.size()) + " whose marks are kept\n"));
  CHECK_FALSE(has(page, "that the timeline has whole"));
  // The timeline goes back to the middle only: the numbers of steps say how many there were.
  p.stepping.whole_from = static_cast<std::int64_t>(800 * 1.4e6);
  const kprof::step_details half = kprof::details_of_steps(p, 0);
  CHECK(half.stands_for == Approx(800).epsilon(0.02));
  CHECK(half.mfu() == Approx(0.1 / 1.4).epsilon(0.05));
}

namespace {

/// `count` steps of 10 us on the host, which launches 30 us of work in each and does not wait.
kprof::profile enqueued(std::size_t count, bool timed = true) {
  kprof_test::device_builder b;
  b.p = stepped(std::vector<double>(count, 0.01));
  const auto steps = b.p.steps;
  const auto stepping = b.p.stepping;
  b.kernel(2, "sgemm", count, 30e3 * static_cast<double>(count));
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  p.steps = steps;
  p.stepping = stepping;
  p.stepping.whole_from = 0;
  p.machine.gpus = {kprof_test::h100()};
  for (std::size_t i = 0; timed && i < count; ++i) {
    kprof::device_item item;
    item.work = 0;
    item.thread = p.stepping.threads[0].thread;
    item.call_begin = steps[i].begin + 1000;
    item.call_end = steps[i].begin + 3000;
    item.start = 2000 + static_cast<std::int64_t>(i) * 30'000;
    item.end = item.start + 30'000;
    p.device.timeline.items.push_back(item);
  }
  return p;
}

}  // namespace

TEST_CASE("steps.mfu_is_of_the_time_on_the_device_where_the_host_only_enqueues") {
  // 2 MFLOP in 30 us.
  kprof::profile p = enqueued(100);
  kprof::step_details d = kprof::details_of_steps(p, 0);
  CHECK(d.device_ns / d.stands_for == Approx(30e3).epsilon(0.01));
  CHECK(d.mfu() == Approx(2e6 / 66.9e12 / 30e-6).epsilon(0.02));
  const std::string page = page_of(p, at_width(120));
  INFO(page);
  CHECK(has(page, "on the device a step takes 30.0 \u00B5s: the host's only enqueue\n"));
  // A rate that the host's steps would exceed and the device's do not.
  for (kprof::gpu_arithmetic_ceiling& a : p.machine.gpus[0].arithmetic) a.operations = 100e9;
  CHECK_FALSE(has(page_of(p, at_width(160)), "impossible"));
  // Marks were thinned: what was launched between two of them is not the later one's.
  std::erase_if(p.steps, [](const kprof::step_mark& m) { return m.index % 10 != 0; });
  p.stepping.shares.resize(2 * p.steps.size());
  for (std::uint32_t i = 0; i < p.stepping.shares.size(); ++i) p.stepping.shares[i].step = i / 2;
  d = kprof::details_of_steps(p, 0);
  CHECK(d.device_ns / d.stands_for == Approx(30e3).epsilon(0.05));
  // No timeline of the device: it was busy for so long, at least.
  p = enqueued(100, false);
  for (kprof::device_info& g : p.device.devices) g.busy_ns = 3e6;
  d = kprof::details_of_steps(p, 0);
  CHECK(d.device_ns / d.stands_for == Approx(30e3).epsilon(0.02));
  CHECK(has(page_of(p, at_width(120)), "on the device a step takes at least 30.0"));
}
