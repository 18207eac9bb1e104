// SPDX-License-Identifier: MIT
// needs: guards
// How long calls were off the CPU, by readings and a clock that the test sets; and when threads
// read.

#include "attribution_engine.hpp"
#include "catch.hpp"
#include "moved_clock.hpp"

#include <cstdint>
#include <ostream>
#include <string>
#include <thread>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

/// The thread notes that it has run for so long, whether it met denormal numbers, and its faults.
void read_at(std::uint64_t time, std::uint64_t cpu_ns, bool denormals = false,
             std::uint64_t faults = 0) {
  const cpu_payload read{denormals ? cpu_ns | denormals_met : cpu_ns, faults};
  REQUIRE(append_record(*this_log, record_word(record_kind::cpu_time, 0, sizeof read), time, &read,
                        sizeof read));
}
/// This thread reads no more for itself.
void only_as_told() {
  call(0, 1, 1);
  this_log->cpu_due = never;
}
/// A recorder whose thread reads only what the test has it read.
struct told_engine : engine {
  told_engine() {
    only_as_told();
    threads.restart(0);
  }
};

struct times {
  double measured, off;
  bool operator==(const times&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const times& t) {
    return out << t.off << " of " << t.measured;
  }
};
times of(const kprof::scope_node& n) { return {n.measured_ns, n.off_cpu_ns}; }

}  // namespace

TEST_CASE("cpu_totals.a_call_between_readings_was_off_the_cpu_for_what_they_say") {
  told_engine e;
  read_at(1000, 50);
  const scope_token t = begin_at(1010, 1);
  read_at(9010, 2050);
  end_at(9010, t);
  call(2, 9020, 9030);  // too short for a reading
  const kprof::profile p = profile_at(e, 20'000);
  // 8010 - 2000, less the 10 before the call.
  CHECK(of(only(p, "Op n=1")) == times{8000, 6000});
  CHECK(of(only(p, "Op n=2")) == times{0, 0});
  const auto thread = p.threads[only(p, "Op n=1").thread];
  CHECK((thread.measured_ns == 8010 && thread.off_cpu_ns == 6010));
  CHECK(p.cost.cpu_readings == 2);
}

TEST_CASE("cpu_totals.what_is_not_known_at_the_edges_counts_as_time_on_the_cpu") {
  told_engine e;
  read_at(1000, 0);
  scope_token t = begin_at(2000, 1);  // an eighth of the call passes before it
  read_at(10'000, 1500);
  end_at(10'000, t);
  CHECK(of(only(profile_at(e, 20'000), "Op n=1")) == times{8000, 6500});
  read_at(11'000, 1500);
  t = begin_at(11'500, 2);
  read_at(19'000, 1500);
  end_at(19'500, t);  // 500 on each side
  CHECK(of(only(profile_at(e, 20'000), "Op n=2")) == times{8000, 7500});
  read_at(21'000, 1500);
  t = begin_at(21'010, 3);
  read_at(29'010, 1505);
  end_at(29'015, t);
  CHECK(of(only(profile_at(e, 30'000), "Op n=3")) == times{8005, 7995});
}

TEST_CASE("cpu_totals.a_call_with_more_than_an_eighth_unknown_is_not_measured") {
  told_engine e;
  read_at(1000, 0);
  scope_token t = begin_at(2001, 1);
  read_at(10'000, 0);
  end_at(10'000, t);
  t = begin_at(10'000, 1);
  read_at(16'999, 0);
  end_at(18'000, t);
  t = begin_at(18'000, 1);  // no reading in it
  end_at(90'000, t);
  t = begin_at(90'500, 1);
  read_at(97'500, 0);
  end_at(98'500, t);
  CHECK(of(only(profile_at(e, 99'000), "Op n=1")) == times{0, 0});
}

TEST_CASE("cpu_totals.calls_around_and_inside_others_are_measured_each") {
  told_engine e;
  read_at(1000, 0);
  const scope_token outer = begin_at(1000, 1);
  for (std::uint64_t i = 0; i < 10; ++i) call(2, 1001 + i, 1002 + i);
  read_at(2000, 1000);
  const scope_token inner = begin_at(2000, 3);
  read_at(7000, 1100);
  end_at(7000, inner);
  call(2, 7001, 7002);
  read_at(9000, 3000);
  end_at(9000, outer);
  const kprof::profile p = profile_at(e, 20'000);
  CHECK(of(only(p, "Op n=1")) == times{8000, 5000});
  CHECK(of(only(p, "Op n=1/Op n=3")) == times{5000, 4900});
  CHECK(of(only(p, "Op n=1/Op n=2")) == times{0, 0});
  CHECK(only(p, "Op n=1/Op n=2").calls == 11);
}

TEST_CASE("cpu_totals.a_call_that_fills_chunks_and_is_folded_piece_by_piece_is_measured") {
  told_engine e;
  read_at(1000, 0);
  const scope_token outer = begin_at(1000, 1);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    call(2, 2000 + 2 * i, 2001 + 2 * i);
    if (i % 700 == 0) static_cast<void>(profile_at(e, 2001 + 2 * i));
  }
  read_at(101'000, 1000);
  end_at(101'000, outer);
  const kprof::profile p = profile_at(e, 200'000);
  CHECK(of(only(p, "Op n=1")) == times{100'000, 99'000});
  CHECK(only(p, "Op n=1/Op n=2").calls == 5000);
}

TEST_CASE("cpu_totals.a_cpu_time_that_begins_anew_or_comes_late_tells_of_no_time_off_the_cpu") {
  told_engine e;
  read_at(1000, 500'000);
  const scope_token t = begin_at(1000, 1);
  read_at(9000, 100);  // of another thread
  read_at(8000, 100);  // noted before, and appended later
  end_at(9000, t);
  const scope_token next = begin_at(9000, 2);
  read_at(19'000, 2100);
  end_at(19'000, next);
  const kprof::profile p = profile_at(e, 20'000);
  CHECK(of(only(p, "Op n=1")) == times{8000, 0});
  CHECK(of(only(p, "Op n=2")) == times{10'000, 8000});
}

TEST_CASE("cpu_totals.no_call_was_off_the_cpu_for_longer_than_it_took_or_for_less_than_nothing") {
  told_engine e;
  read_at(1000, 0);
  const scope_token t = begin_at(1000, 1);
  read_at(9000, 12'000);  // the clocks disagree
  end_at(9000, t);
  CHECK(of(only(profile_at(e, 20'000), "Op n=1")) == times{8000, 0});
}

TEST_CASE("cpu_totals.a_new_recording_knows_no_readings_of_the_one_before") {
  told_engine e;
  read_at(1000, 0);
  const scope_token t = begin_at(1000, 1);
  e.threads.restart(5000);
  read_at(9000, 0);
  end_at(9000, t);  // the time before the recording is not known
  const scope_token next = begin_at(9000, 2);
  read_at(19'000, 0);
  end_at(19'000, next);
  const kprof::profile p = profile_at(e, 20'000);
  CHECK(of(only(p, "Op n=1")) == times{0, 0});
  CHECK(of(only(p, "Op n=2")) == times{10'000, 10'000});
  CHECK(p.cost.cpu_readings == 2);
}

TEST_CASE("cpu_totals.threads_that_are_kept_together_have_their_sums") {
  told_engine e;
  for (int i = 0; i < 70; ++i)
    std::thread([] {
      only_as_told();
      read_at(10'000, 0);
      const scope_token t = begin_at(10'000, 1);
      read_at(18'000, 1000);
      end_at(18'000, t);
    }).join();
  const kprof::profile p = profile_at(e, 20'000);
  times nodes{0, 0}, threads{0, 0};
  bool any_merged = false;
  for (const auto* n : find_all(p, "Op n=1"))
    nodes.measured += n->measured_ns, nodes.off += n->off_cpu_ns;
  for (const kprof::thread_info& t : p.threads) {
    any_merged = any_merged || t.merged > 1;
    if (t.ended) threads.measured += t.measured_ns, threads.off += t.off_cpu_ns;
  }
  CHECK(any_merged);
  CHECK(nodes == times{70 * 8000.0, 70 * 7000.0});
  // Each has also read once at its first scope, at time 1.
  CHECK(threads.measured >= 70 * 8000.0);
  CHECK(threads.off >= 70 * 7000.0);
}

TEST_CASE("cpu_totals.a_thread_reads_where_its_last_reading_is_an_interval_old") {
  const std::uint64_t before = cpu_clock.interval_ticks.exchange(1000);
  told_engine e;
  const auto readings = [&] { return profile_at(e, 100'000).cost.cpu_readings; };
  this_log->cpu_due = 0;
  scope_token t = begin_at(5000, 1);
  CHECK(this_log->cpu_due == 6000);
  CHECK(readings() == 1);
  end_at(5999, t);
  call(2, 5999, 5999);
  CHECK(readings() == 1);
  t = begin_at(5999, 3);
  end_at(6000, t);
  CHECK(this_log->cpu_due == 7000);
  CHECK(readings() == 2);
  t = begin_at(7000, 4);
  CHECK(readings() == 3);
  end_at(57'000, t);
  // Measured by readings of the real clock at its begin and before its end.
  CHECK(only(profile_at(e, 100'000), "Op n=4").measured_ns == 50'000);
  CHECK(readings() == 4);
  this_log->cpu_due = 0;
  call(5, 100, 200);  // a clock that stands back
  CHECK(only(profile_at(e, 100'000), "Op n=5").calls == 1);
  cpu_clock.interval_ticks = before;
}

TEST_CASE("cpu_totals.readings_at_all_places_of_chunks_lose_no_scope") {
  const std::uint64_t before = cpu_clock.interval_ticks.exchange(1);
  told_engine e;
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    // Sizes differ, so that chunks end at all places.
    this_log->cpu_due = 0;
    const std::string name(i % 41, 'x');
    at(10 * i + 1);
    const scope_token region = moved_scopes::api().begin_any(
        region_site, name.data(), static_cast<std::uint32_t>(name.size()));
    this_log->cpu_due = 0;
    call(1, 10 * i + 3, 10 * i + 5);
    end_at(10 * i + 9, region);
    done += 2;
  }
  const kprof::profile p = profile_at(e, 100'000);
  CHECK(p.complete.recorded == done);
  CHECK(p.complete.dropped == 0);
  CHECK(p.complete.open == 0);
  // Where a chunk has no room, a reading may be left out.
  CHECK(p.cost.cpu_readings > 3 * 3000);
  cpu_clock.interval_ticks = before;
}

TEST_CASE("cpu_totals.a_call_has_met_denormals_where_a_reading_in_it_says_so") {
  told_engine e;
  read_at(1000, 0, true);  // before all calls
  scope_token t = begin_at(1010, 1);
  read_at(9010, 8000, true);
  end_at(9010, t);
  t = begin_at(9010, 1);
  read_at(11'010, 10'000);
  end_at(11'010, t);
  t = begin_at(11'010, 2);
  read_at(19'010, 18'000, true);
  end_at(39'010, t);  // the end of this call is not known
  t = begin_at(39'010, 3);
  const scope_token inner = begin_at(39'020, 4);
  read_at(47'020, 48'000, true);
  end_at(47'020, inner);
  end_at(47'030, t);
  const kprof::profile p = profile_at(e, 50'000);
  const kprof::scope_node& met = only(p, "Op n=1");
  CHECK(met.measured_ns == 10'000);
  CHECK((met.denormal_ns == 8000 && met.measured_calls == 2 && met.denormal_calls == 1));
  const kprof::scope_node& unknown = only(p, "Op n=2");
  CHECK((unknown.measured_calls == 0 && unknown.denormal_calls == 0));
}

TEST_CASE("cpu_totals.a_call_has_the_page_faults_between_the_readings_around_it") {
  told_engine e;
  scope_token t = begin_at(10, 3);
  read_at(8010, 500, false, 1000);  // of those before, nobody knows when they were
  end_at(8010, t);
  read_at(9000, 1000, false, 0xFFFF'FFF0);
  t = begin_at(9010, 1);
  read_at(17'010, 9000, false, 0x1'0000'0010);
  end_at(17'010, t);
  t = begin_at(17'010, 1);
  read_at(25'010, 17'000, false, 0x1'0000'0030);
  end_at(25'010, t);
  t = begin_at(25'510, 1);  // 500 ticks later, in which two faults may have been
  read_at(33'510, 25'000, false, 0x1'0000'0040);
  end_at(33'510, t);
  t = begin_at(34'000, 1);  // one, of which all may have been before the call
  read_at(42'000, 32'000, false, 0x1'0000'0041);
  end_at(42'000, t);
  t = begin_at(42'000, 2);
  read_at(50'000, 40'000, false, 0x1'0000'0050);
  end_at(70'000, t);  // the end of this call is not known
  const kprof::profile p = profile_at(e, 80'000);
  CHECK(only(p, "Op n=1").measured_calls == 4);
  CHECK(only(p, "Op n=1").page_faults == 0x20 + 0x10 - 2);  // without the first call's
  CHECK(only(p, "Op n=2").page_faults == 0);
  CHECK(only(p, "Op n=3").page_faults == 0);
}

#if defined(__x86_64__)
namespace {
std::uint32_t status() {
  std::uint32_t bits = 0;
  asm volatile("stmxcsr %0" : "=m"(bits));
  return bits;
}
void set_status(std::uint32_t bits) { asm volatile("ldmxcsr %0" : : "m"(bits)); }

/// Adds a number to itself, for long enough that the thread reads its CPU time at both ends.
void add(float to, float number) {
  for (int i = 0; i < 2'000'000; ++i) asm volatile("addss %1, %0" : "+x"(to) : "x"(number));
}
}  // namespace

TEST_CASE("cpu_totals.the_processor_tells_of_denormals_and_keeps_the_programs_other_flags") {
  const std::uint32_t before = status();
  set_status((before & ~0x8040U) | 0x1FBDU);  // all flags but that of denormals, nothing traps
  CHECK(!take_denormals());
  add(1.0F, 1e-40F);
  CHECK((status() & 0x3FU) == 0x3FU);
  CHECK(take_denormals());
  CHECK((status() & 0x3FU) == 0x3DU);
  CHECK(!take_denormals());
  set_status((status() & ~0x100U) | 2U);  // a program that wants the trap
  const bool taken = take_denormals();
  const std::uint32_t after = status();
  set_status(before);
  CHECK(!taken);
  CHECK((after & 2U) != 0);
}
#endif
