// SPDX-License-Identifier: MIT
// needs: exceptions

// What reports say of steps that the timeline has apart from its unbroken end, and what the
// analyses of the timeline take of them: nothing.

#include <kprof/model/slow_calls.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/report/html.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/page_data.hpp"
#include "../support/profile_builder.hpp"
#include "../support/report_page.hpp"
#include "../support/trace_reader.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

using kprof_test::at_width;
using kprof_test::has;
using kprof_test::page_of;

namespace {
namespace kept_steps_told {

/// Twenty steps of 1 ms, but for step 4, which takes 3 ms: 2.5 of them in "Loss". The unbroken end
/// begins with step 15; before that steps 4 and 9 are there.
kprof::profile long_run() {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto loss = b.region(main, "Loss"), gemm = b.op(main, "Gemm", "M=1");
  b.calls(loss, 20, 0.5e6).calls(gemm, 20, 0.25e6);
  kprof::profile p = b.done();
  p.clock.ns_per_tick = 1;
  kprof::thread_steps& sums = p.stepping.threads.emplace_back();
  sums.thread = p.nodes[gemm].thread;
  sums.count = 20;
  sums.min_ns = 1e6, sums.max_ns = 3e6, sums.first_ns = 1e6, sums.total_ns = 22e6;
  std::int64_t at = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::int64_t length = i == 4 ? 3'000'000 : 1'000'000;
    p.steps.push_back({i, sums.thread, true, at, at + length});
    sums.durations.add(static_cast<std::uint64_t>(length));
    if (i == 15) p.stepping.whole_from = at;
    if (i >= 15 || i == 4 || i == 9) {
      const double in_loss = i == 4 ? 2.5e6 : 0.5e6;
      p.stepping.shares.push_back({i, loss, 1, in_loss, in_loss});
      p.stepping.shares.push_back({i, gemm, 1, 0.25e6, 0.25e6});
      p.timeline.push_back({loss, at + 1000, static_cast<std::uint64_t>(in_loss)});
      p.timeline.push_back({gemm, at + length - 400'000, 250'000});
    }
    at += length;
  }
  p.stepping.kept = {{4, kprof::kept_as::slowest}, {9, kprof::kept_as::median}};
  p.wall_ns = static_cast<double>(at);
  p.complete.recorded = 40;
  p.complete.in_timeline = 10;
  p.complete.timeline_ns = 5e6;
  return p;
}

}  // namespace kept_steps_told
}  // namespace

using namespace kept_steps_told;
namespace inner = kprof::detail;

TEST_CASE("kept_steps.a_report_says_which_steps_are_there_and_which_are_not") {
  const kprof::profile p = long_run();
  CHECK(inner::kept_steps_text(p) ==
        "step 4, the slowest, and step 9, near the median, are whole; steps 0 to 3, 5 to 8 and 10 "
        "to 14 are not kept");
  const std::string page = page_of(p, at_width(160));
  CHECK(has(page,
            "10 of 40 scopes; totals cover all; before that step 4, the slowest, and step 9, "));
  CHECK(has(page, "step 4, the slowest, took 3.00 ms, 2.00 ms more than step 9: 2.00 ms in Loss"));
}

TEST_CASE("kept_steps.what_is_not_there_is_said") {
  kprof::profile p = long_run();
  p.stepping.kept = {{9, kprof::kept_as::slowest}};
  CHECK(inner::kept_steps_text(p) ==
        "step 9, a slow one, is whole; steps 0 to 8 and 10 to 14 are not kept");
  p.stepping.shares.erase(p.stepping.shares.begin(), p.stepping.shares.begin() + 2);
  CHECK(has(page_of(p, at_width(160)),
            "step 4, the slowest, took 3.00 ms; what it did is not known: its scopes are not kept. "
            "With more `memory` they may be"));
  p.stepping.kept = {{13, kprof::kept_as::median}, {14, kprof::kept_as::latest}};
  p.steps.resize(15);
  CHECK(inner::kept_steps_text(p) ==
        "step 13, near the median, and step 14, the latest, are whole; steps 0 to 12 are not kept");
  p.stepping.kept = {{99, kprof::kept_as::median}};  // of no step
  CHECK(inner::kept_steps_text(p).empty());
  p.stepping.kept.clear();
  CHECK(inner::kept_steps_text(p).empty());
}

TEST_CASE("kept_steps.analyses_take_the_unbroken_end_alone") {
  kprof::profile p = long_run();
  const kprof::run_times times = kprof::times_of(p);
  REQUIRE_FALSE(times.threads[p.stepping.threads[0].thread].empty());
  CHECK(times.threads[p.stepping.threads[0].thread].front().span.begin >= p.steps[15].begin);
  std::uint64_t stretches = times.threads[p.stepping.threads[0].thread].size();
  p.stepping.kept.clear();
  CHECK(kprof::times_of(p).threads[p.stepping.threads[0].thread].size() > stretches);
  p.device.work.emplace_back();
  p.device.timeline.items = {{.work = 0, .start = 100, .end = 200},
                             {.work = 0, .start = 900, .end = 950}};
  p.device.timeline.windows = {{50, 300}, {800, 1000}};
  CHECK(kprof::times_of(p).items.size() == 1);
  p.device.timeline.windows = {{50, 1000}};
  CHECK(kprof::times_of(p).items.size() == 2);
  CHECK(inner::is_in_kept_step(long_run(), 4.1e6, 5e6));
  CHECK_FALSE(inner::is_in_kept_step(long_run(), 4.1e6, 7.5e6));
}

TEST_CASE("kept_steps.a_trace_and_a_page_have_them_and_say_so") {
  const kprof::profile p = long_run();
  const std::string told = "step 4, the slowest, and step 9, near the median, are whole";
  const std::string trace = kprof_test::trace_text(p);
  CHECK(has(trace, "\"older steps\":\"" + told));
  std::size_t slices = 0;
  for (std::size_t at = trace.find("\"name\":\"Loss\""); at != std::string::npos;
       at = trace.find("\"name\":\"Loss\"", at + 1))
    ++slices;
  CHECK(slices == 7);
  const boost::json::object data = kprof_test::data_in(kprof_test::html_of(p));
  const boost::json::object& timeline = data.at("timeline").as_object();
  CHECK(has(std::string(timeline.at("older").as_string()), told));
  CHECK(timeline.at("all").to_number<std::size_t>() == 14);
  // the median and the slowest step, of those that it has
  CHECK(timeline.at("steps").as_array()[0].to_number<std::int64_t>() == p.steps[9].begin);
  CHECK(timeline.at("steps").as_array()[1].to_number<std::int64_t>() == p.steps[4].begin);
}
