// SPDX-License-Identifier: MIT
// needs: guards

// The micro-benchmark of one operator: sampling with a clock of the test's own, and what measure()
// returns, prints and leaves alone.

#include <kprof/kprof.hpp>
#include <kprof/measure.hpp>

#include "catch.hpp"
#include "machines.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

using kprof::detail::call_samples;
using kprof::detail::repeated_call;
using kprof::detail::sampling;
using kprof::detail::sampling_clock;
using kprof::detail::sampling_limits;

namespace {

/// Time goes on only where a call takes some.
struct test_time {
  std::uint64_t now = 0, interruptions = 0, reading = 0;  // in picoseconds, but for interruptions
} the_time;
constexpr sampling_clock of_test{[]() noexcept {
                                   the_time.now += the_time.reading;
                                   return the_time.now / 1000;
                                 },
                                 []() noexcept { return the_time.interruptions; }};

/// A call that takes one time after the other, again and again, and loses its CPU in some.
struct test_call {
  std::uint64_t times_ps[8] = {};
  std::size_t count = 1;
  std::uint64_t interrupted_every = 0;  // 0: never
  std::uint64_t calls = 0;

  repeated_call call() {
    return {[](void* of, std::uint64_t times) {
              test_call& self = *static_cast<test_call*>(of);
              the_time.now += self.times_ps[self.calls % self.count] * times;
              ++self.calls;
              if (self.interrupted_every != 0 && self.calls % self.interrupted_every == 0) {
                ++the_time.interruptions;
                the_time.now += 4'000'000'000;  // another thread's turn
              }
            },
            this};
  }
};

call_samples taken(test_call c, const sampling_limits& limits, repeated_call between = {}) {
  the_time.now = the_time.interruptions = 0;
  return sampling(of_test, c.call(), limits).take(between);
}

constexpr std::uint64_t us = 1'000'000;  // in picoseconds

struct Saxpy {
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr bool valid() const { return n >= 0; }
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const { return {.read = 8 * n, .written = 4 * n}; }
};
struct Wordless {
  int n = 0;
};

std::uint64_t spin(std::uint64_t rounds) {
  std::uint64_t x = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

const kprof::measure_options quiet{.seconds = 0.1, .cold = false, .print = false, .report = {}};

bool has_note(const kprof::profile& p, const std::string& text) {
  for (const std::string& note : p.notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("measure.steady_calls_are_known_after_twenty") {
  const call_samples s = taken({.times_ps = {100 * us}}, {});
  CHECK(s.batch == 1);
  CHECK(s.ns.size() == 20);
  CHECK(s.median.median_ns == 100e3);
  CHECK(s.median.precision() == 0);
  CHECK(s.interrupted == 0);
}

TEST_CASE("measure.stops_when_the_interval_is_narrow_enough") {
  // Between 99.5 and 100.5 us: a median of few is anywhere there, and that is near enough.
  const test_call close{.times_ps = {99'500'000, 100'500'000}, .count = 2};
  CHECK(taken(close, {}).ns.size() == 20);
  // Between 90 and 110 us nothing tells the median to 1 %, and the limit ends it.
  const test_call wide{.times_ps = {90 * us, 110 * us}, .count = 2};
  const call_samples s = taken(wide, {.time_ns = 100e6});
  CHECK(s.ns.size() == 998);  // 100 ms, less the first call and the one that finds the batch
  CHECK(s.median.precision() > 0.05);
  CHECK(s.elapsed_ns >= 100e6);
  CHECK(taken(wide, {.calls = 37}).ns.size() == 37);
  CHECK(taken(wide, {.precision = 0.2}).ns.size() == 20);
}

TEST_CASE("measure.short_calls_are_timed_in_batches") {
  const call_samples s = taken({.times_ps = {2'000}}, {});
  CHECK(s.batch >= 10'000);  // 20 us of 2 ns
  CHECK(s.batch < 200'000);
  CHECK(s.median.median_ns == Approx(2).epsilon(1e-3));
  // Where the clock is slow, a batch is a thousand of its readings, and these are taken off.
  the_time.reading = 1 * us;
  const call_samples slow = taken({.times_ps = {2'000}}, {.time_ns = 1e12, .calls = 100'000'000});
  the_time.reading = 0;
  CHECK(slow.clock_ns == 1000);
  CHECK(static_cast<double>(slow.batch) * 2 >= 1e6);
  CHECK(slow.median.median_ns == Approx(2).epsilon(1e-3));
}

TEST_CASE("measure.a_call_that_takes_no_time_ends_at_a_limit") {
  const call_samples s = taken({}, {.calls = 1});
  CHECK(s.ns.size() == 1);
  CHECK(s.median.median_ns == 0);
  CHECK(s.median.precision() == 1);
}

TEST_CASE("measure.samples_in_which_the_thread_lost_its_cpu_are_left_out") {
  const call_samples s = taken({.times_ps = {100 * us}, .interrupted_every = 3}, {});
  CHECK(s.ns.size() == 20);
  CHECK(s.interrupted == 10);
  CHECK_FALSE(s.took_interrupted);
  CHECK(s.median.high_ns == 100e3);
  // A few that are right are better than many that are not.
  const call_samples few = taken({.times_ps = {100 * us}, .interrupted_every = 3}, {.calls = 6});
  CHECK(few.ns.size() == 4);
  CHECK(few.median.median_ns == 100e3);
  // Every one: they are all there is, and the report says so.
  const call_samples all = taken({.times_ps = {100 * us}, .interrupted_every = 1}, {.calls = 30});
  CHECK(all.took_interrupted);
  CHECK(all.ns.size() == 30);
  CHECK(all.median.median_ns == Approx(4.1e6));
  CHECK(text_of_samples("warm", all, {}).find("so the true times are shorter") !=
        std::string::npos);
  CHECK(text_of_samples("warm", s, {}).find("; 10 left out") != std::string::npos);
}

TEST_CASE("measure.what_comes_between_calls_is_not_timed") {
  int evictions = 0;
  const call_samples s = taken({.times_ps = {3 * us}}, {},
                               {[](void* of, std::uint64_t) {
                                  ++*static_cast<int*>(of);
                                  the_time.now += 5000 * us;
                                },
                                &evictions});
  CHECK(s.batch == 1);  // each call is cold
  CHECK(s.median.median_ns == 3000);
  CHECK(evictions == 20);
}

TEST_CASE("measure.says_what_is_known_of_the_median") {
  const sampling_limits limits{};
  CHECK(text_of_samples("warm", taken({.times_ps = {100 * us}}, limits), limits) ==
        "warm: median 100 \u00B5s, -0% +0% (95% sure), of 20 samples of 1 call");
  const call_samples few = taken({.times_ps = {90 * us, 110 * us}, .count = 2}, {.calls = 5});
  CHECK(text_of_samples("cold", few, limits) ==
        "cold: median 90.0 \u00B5s, of 5 samples of 1 call; too few for an interval before the "
        "limit was reached (6 are needed)");
  const call_samples wide = taken({.times_ps = {90 * us, 110 * us}, .count = 2}, {.calls = 50});
  CHECK(text_of_samples("warm", wide, limits).find("; not known to 1.0% before the limit") !=
        std::string::npos);
}

TEST_CASE("measure.evicts_more_than_the_last_cache_holds") {
  using kprof::detail::bytes_to_evict;
  constexpr std::uint64_t mib = 1 << 20;
  CHECK(bytes_to_evict(32 * mib) == 48 * mib);
  CHECK(bytes_to_evict(1 * mib) == 5 * mib);
  CHECK(bytes_to_evict(0) == 96 * mib);
}

TEST_CASE("measure.gives_the_row_of_a_report_with_its_verdict") {
  kprof::settings s;
  s.ceilings = "off";
  s.machine.cpu = kprof_test::two_cpus();
  REQUIRE(kprof::start(s));
  the_time.now = 0;
  // 12 MB at the 20 GB/s of memory take 600 us at least; the call takes 750.
  test_call slow{.times_ps = {750 * us}};
  const Saxpy params{.n = 1'000'000};
  const auto& desc = kprof::detail::op_desc_of<Saxpy>;
  kprof::measurement m = kprof::detail::measure_call(desc, &params, slow.call(), quiet, of_test);
  REQUIRE(m);
  CHECK(m.work.flops == 2'000'000);
  CHECK(m.work.bytes_read == 8'000'000);
  CHECK(m.warm.median.median_ns == 750e3);
  CHECK(m.warm.calls == 20);
  CHECK(m.warm.is_precise);
  CHECK(m.warm.row.name == "Saxpy");
  CHECK(m.warm.row.calls == 20);
  CHECK(m.warm.row.median_ns.value == Approx(750e3).epsilon(0.01));
  CHECK(m.warm.row.flops_per_s.value == Approx(2e6 / 750e-6));
  CHECK(m.warm.row.verdict.roof.value == Approx(0.8));
  CHECK(m.warm.row.verdict.bound == kprof::bound_by::memory);
  CHECK(m.warm.row.verdict.lost_ns.value == Approx(20 * 150e3));
  CHECK_FALSE(m.cold);
  CHECK(m.cold.why == "not measured");
  kprof::stop();
}

TEST_CASE("measure.cold_calls_are_a_row_of_their_own") {
  kprof::measure_options options = quiet;
  options.cold = true;
  options.calls = 50;
  const kprof::measurement m = kprof::measure(
      Saxpy{.n = 1000}, [] { return spin(1000); }, options);
  REQUIRE(m);
  if (!m.cold) return;  // too little memory
  CHECK(m.cold.batch == 1);
  CHECK(m.cold.row.calls == m.cold.calls);
  CHECK(m.warm.row.calls == m.warm.calls);
  CHECK(m.run.nodes[m.run.nodes[m.cold.row.node].parent].name == "cold");
  CHECK(has_note(m.run, "were read, which is not timed"));
  std::string page;
  REQUIRE(kprof::write_text(m.run, {.width = 160, .by = kprof::grouping::region}, page));
  CHECK(page.find("warm") != std::string::npos);
  CHECK(page.find("cold") != std::string::npos);
  CHECK(page.find("measured alone") != std::string::npos);
  CHECK(page.find("KPROF='report(") == std::string::npos);  // which does not reach this page
}

TEST_CASE("measure.four_times_the_work_takes_about_four_times_as_long") {
  const auto median = [](std::uint64_t rounds) {
    return kprof::measure(
               Wordless{}, [&] { return spin(rounds); }, quiet)
        .warm.median.median_ns;
  };
  const double once = median(10'000), four_times = median(40'000);
  CHECK(four_times > 2 * once);
  CHECK(four_times < 8 * once);
}

TEST_CASE("measure.without_formulas_the_roof_is_not_known_and_says_why") {
  const kprof::measurement m = kprof::measure(
      Wordless{.n = 3}, [] { return spin(100); }, quiet);
  REQUIRE(m);
  CHECK(m.warm.median.median_ns > 0);
  CHECK(m.warm.row.verdict.bound == kprof::bound_by::unknown);
  CHECK(m.warm.row.verdict.roof.why == kprof::absence::no_flops);
  CHECK(m.warm.batch > 1);
}

TEST_CASE("measure.invalid_parameters_have_no_roof") {
  const kprof::measurement m = kprof::measure(
      Saxpy{.n = -1}, [] { return spin(100); }, quiet);
  REQUIRE(m);
  CHECK(m.warm.row.verdict.roof.why == kprof::absence::invalid);
  CHECK(m.run.complete.invalid == m.warm.calls);
}

TEST_CASE("measure.leaves_a_recording_as_it_is_and_pauses_it_meanwhile") {
  REQUIRE(kprof::start());
  { KPROF_OP(Wordless, {.n = 1}); }
  const auto recorded = [] {
    const kprof::profile p = kprof::snapshot();
    CHECK(p.recording);
    return p.complete.recorded;
  };
  const auto guarded = [] {
    KPROF_OP(Wordless, {.n = 2});
    return spin(100);
  };
  CHECK(recorded() == 1);
  CHECK(kprof::measure(Wordless{.n = 2}, guarded, quiet));
  CHECK(recorded() == 1);
  CHECK(kprof::snapshot().paused_ns > 0);
  { KPROF_OP(Wordless, {.n = 1}); }
  CHECK(recorded() == 2);
  kprof::pause();
  CHECK(kprof::measure(Wordless{.n = 2}, guarded, quiet));
  CHECK(kprof::snapshot().state == "paused");  // as it was
  kprof::stop();
  CHECK(kprof::measure(Wordless{.n = 2}, guarded, quiet));
  CHECK(kprof::snapshot().state == "stopped");
}

TEST_CASE("measure.of_two_threads_pauses_until_the_later_one_ends") {
  REQUIRE(kprof::start());
  const kprof::measure_options once{.calls = 1, .cold = false, .print = false};
  std::atomic<bool> first_began{false}, second_began{false}, first_ended{false};
  const auto wait_for = [](const std::atomic<bool>& it) {
    while (!it) std::this_thread::yield();
  };
  std::thread second([&] {
    wait_for(first_began);
    kprof::measure(
        Wordless{},
        [&] {
          second_began = true;
          wait_for(first_ended);
          KPROF_REGION("measured");
        },
        once);
  });
  kprof::measure(
      Wordless{}, [&] { first_began = true, wait_for(second_began); }, once);
  first_ended = true;
  second.join();
  const kprof::profile run = kprof::snapshot();
  CHECK(run.recording);
  CHECK(run.complete.recorded == 0);
}

TEST_CASE("measure.wrong_limits_are_told_and_nothing_is_called") {
  int calls = 0;
  for (const double wrong : {0.0, -1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    kprof::measure_options options = quiet;
    options.precision = wrong;
    const kprof::measurement m = kprof::measure(
        Wordless{}, [&] { ++calls; }, options);
    CHECK_FALSE(m);
    CHECK(m.warm.why.find("precision is a share of the median") == 0);
  }
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    kprof::measure_options options = quiet;
    options.seconds = wrong;
    CHECK(kprof::measure(
              Wordless{}, [&] { ++calls; }, options)
              .warm.why == "seconds must be a number above 0");
  }
  CHECK(calls == 0);
}
