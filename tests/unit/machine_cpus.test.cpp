// SPDX-License-Identifier: MIT
// What the system says of the processors, the choice among rounds, and a whole measurement.

#include <kprof/ceilings.hpp>

#include "catch.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace kprof::detail;

TEST_CASE("machine_cpus.threads_that_seem_to_have_shared_cores") {
  CHECK(shared_cores({.one_thread = 60e9, .all_threads = 61e9}, 2, 1));
  CHECK(shared_cores({.one_thread = 60e9, .all_threads = 130e9}, 4, 1));
  CHECK_FALSE(shared_cores({.one_thread = 60e9, .all_threads = 118e9}, 2, 1));
  // The clock of a large processor falls where all cores compute.
  CHECK_FALSE(shared_cores({.one_thread = 60e9, .all_threads = 2500e9}, 64, 1));
  // Two threads on each core, as the system says.
  CHECK_FALSE(shared_cores({.one_thread = 60e9, .all_threads = 61e9}, 2, 2));
  CHECK_FALSE(shared_cores({.one_thread = 60e9, .all_threads = 60e9}, 1, 1));
  CHECK_FALSE(shared_cores({.one_thread = 0, .all_threads = 0}, 8, 1));
  CHECK_FALSE(shared_cores({.one_thread = 60e9, .all_threads = 200e9}, 4, 0));
}

TEST_CASE("machine_cpus.lists_of_cpus") {
  CHECK(cpu_list("0") == std::vector<int>{0});
  CHECK(cpu_list("0-3,8") == std::vector<int>{0, 1, 2, 3, 8});
  CHECK(cpu_list("").empty());
  for (const char* wrong : {"a", "0-", "-3", "3-1", "0,,1", "0-99999999", "1 2"})
    CHECK(cpu_list(wrong).empty());
}

TEST_CASE("machine_cpus.sizes_and_quotas") {
  CHECK(size_with_letter("32K") == 32768);
  CHECK(size_with_letter("8M") == std::uint64_t{8} << 20U);
  CHECK(size_with_letter("512") == 512);
  for (const char* wrong : {"", "K", "1G", "-1K", "1.5M", "99999999999999999999"})
    CHECK(size_with_letter(wrong) == 0);
  CHECK(quota_in("150000 100000") == 1.5);
  for (const char* none : {"max 100000", "", "-1 100000", "100000", "100000 0", "x y"})
    CHECK(quota_in(none) == 0);
  CHECK(smaller_limit(0, 2) == 2);
  CHECK(smaller_limit(3, 0) == 3);
  CHECK(smaller_limit(3, 2) == 2);
  CHECK(smaller_limit(0, 0) == 0);
}

TEST_CASE("machine_cpus.groups_of_a_process") {
  const std::string both = "4:cpu,cpuacct:/batch/job 7\n1:name=systemd:/x\n0::/user.slice/a";
  CHECK(own_group(both, "") == "/user.slice/a");
  CHECK(own_group(both, "cpu") == "/batch/job 7");
  CHECK(own_group(both, "memory").empty());
  CHECK(own_group("nonsense\n::\n", "cpu").empty());
}

TEST_CASE("machine_cpus.lines_of_the_system_s_files") {
  const char* text =
      "model\t\t: 17\nmodel name\t: AMD EPYC 9B14\nempty\t:\nMemAvailable:   1024 kB";
  CHECK(line_of(text, "model name") == "AMD EPYC 9B14");
  CHECK(line_of(text, "model") == "17");
  CHECK(line_of(text, "empty").empty());
  CHECK(line_of(text, "absent").empty());
  CHECK(kib_of_line(text, "MemAvailable") == 1024 * 1024);
  CHECK(kib_of_line(text, "model name") == 0);
}

TEST_CASE("machine_cpus.threads_are_those_that_run_at_a_time") {
  usable_cpus_of_machine m;
  CHECK(m.threads() == 1);
  m.cpus = {0, 1, 2, 3};
  CHECK(m.threads() == 4);
  m.quota = 2.5;
  CHECK(m.threads() == 2);
  m.quota = 0.5;
  CHECK(m.threads() == 1);
  m.quota = 8;
  CHECK(m.threads() == 4);
}

TEST_CASE("machine_cpus.memory_is_no_more_than_it_takes_and_may_be_had") {
  constexpr std::size_t mib = std::size_t{1} << 20U;
  CHECK(measuring_memory::size_for(2, 16 * 1024 * mib) == 32 * mib);
  CHECK(measuring_memory::size_for(2, 512 * mib) == 32 * mib);
  CHECK(measuring_memory::size_for(2, 400 * mib) == 25 * mib);
  CHECK(measuring_memory::size_for(1, 0) == 8 * mib);
  CHECK(measuring_memory::size_for(128, 4096 * 1024 * mib) == 16 * mib);
  CHECK(measuring_memory::size_for(16, 40 * mib) <= 40 * mib / 8 / 16);
  CHECK(measuring_memory::size_for(16, 1) == 0);
}

TEST_CASE("machine_cpus.memory_that_the_groups_of_a_process_allow") {
  const std::filesystem::path mount =
      std::filesystem::temp_directory_path() / ("kprof_groups." + std::to_string(getpid()));
  std::filesystem::create_directories(mount / "a/b");
  const auto say = [&](const char* file, const char* text) {
    std::ofstream(mount / file) << text << '\n';
  };
  const memory_files files{"/memory.max", "/memory.current", "inactive_file"};
  const auto free_of = [&](const char* group) {
    return free_in_groups(group, mount.string(), files);
  };
  constexpr std::uint64_t all = ~std::uint64_t{0};
  CHECK(free_of("") == all);
  say("a/b/memory.max", "max"), say("a/b/memory.current", "700");
  CHECK(free_of("/a/b") == all);
  say("a/memory.max", "1000"), say("a/memory.current", "900");
  CHECK(free_of("/a/b") == 100);
  say("a/memory.stat", "active_file 500\ninactive_file 300");
  CHECK(free_of("/a/b") == 400);
  say("a/b/memory.max", "650");
  CHECK(free_of("/a/b") == 0);
  CHECK(free_of("/") == all);
  std::filesystem::remove_all(mount);
}

TEST_CASE("machine_cpus.parts_of_an_array_follow_one_another") {
  constexpr std::size_t part = measuring_memory::walked_part;
  measuring_memory memory(2, 2 * part + 4096);
  REQUIRE(memory.is_there());
  memory.touch(0);
  CHECK(memory.walked(0) == memory.of(0));
  CHECK(memory.walk_on(0, 2 * part + 4096) == memory.of(0) + part);
  CHECK(memory.walked(0) == memory.of(0) + part);
  CHECK(memory.walk_on(0, 2 * part + 4096) == memory.of(0));  // the rest is less than a part
  CHECK(memory.walked(1) == memory.of(1));
  CHECK(memory.holds(2 * part, 512));
  CHECK_FALSE(memory.holds(3 * part, 512));
  CHECK_FALSE(memory.holds(1500, 512));
}

TEST_CASE("machine_cpus.a_round_counts_where_no_thread_was_preempted") {
  CHECK(undisturbed_ns({}) == 0);
  CHECK(undisturbed_ns({{0, 1000, 970}}) == 1000);
  CHECK(undisturbed_ns({{0, 1000, 969}}) == 0);
  CHECK(undisturbed_ns({{1000, 1000, 0}}) == 0);
  // two threads: together for 60 % of the time, or not
  CHECK(undisturbed_ns({{0, 800, 800}, {200, 1000, 800}}) == 800);
  CHECK(undisturbed_ns({{0, 799, 799}, {200, 1000, 800}}) == 0);
  CHECK(undisturbed_ns({{0, 1000, 1000}, {0, 1000, 500}}) == 0);
}

TEST_CASE("machine_cpus.a_round_counts_while_all_threads_run") {
  const auto part = [](std::int64_t begin, std::int64_t end,
                       std::initializer_list<round_part::mark> marks) {
    round_part p{begin, end, end - begin};
    for (const round_part::mark& m : marks) p.marks[p.marked++] = m;
    return p;
  };
  // Twice as quick once the other has ended: 0.8 of its part by then, and not 0.9.
  const round_part slow = part(0, 900, {{400, 0.4}, {800, 0.8}});
  CHECK(slow.done_by(0) == 0);
  CHECK(slow.done_by(200) == Approx(0.2));
  CHECK(slow.done_by(800) == Approx(0.8));
  CHECK(slow.done_by(850) == Approx(0.9));
  CHECK(slow.done_by(900) == 1);
  const round_part quick = part(0, 800, {});
  CHECK(quick.done_by(600) == Approx(0.75));
  CHECK(undisturbed_ns({slow, quick}) == 889);  // 2 parts at 1.8 in 800
  // one that begins later: what the other did before is not counted
  CHECK(undisturbed_ns({part(0, 1000, {{200, 0.5}}), part(200, 1000, {})}) == 1067);
  round_part full;
  for (int i = 0; i < 20; ++i) full.add_mark(0.05 * i);
  CHECK(full.marked == full.marks.size());
}

TEST_CASE("machine_cpus.the_quickest_undisturbed_round_is_the_ceiling") {
  const best_round best = best_of({{{0, 500, 100}}, {{0, 900, 900}}, {{0, 800, 800}}});
  CHECK(best.ns == 800);
  CHECK_FALSE(best.was_disturbed);
  // none was undisturbed: from the first begin to the last end of the quickest, as a lower bound
  const best_round low = best_of({{{0, 700, 100}, {10, 600, 10}}, {{50, 650, 20}, {60, 700, 20}}});
  CHECK(low.ns == 650);
  CHECK(low.was_disturbed);
  CHECK(best_of({}).ns == 0);
  CHECK(best_of({{}}).ns == 0);
}

TEST_CASE("machine_cpus.threads_run_each_round_once") {
  round_threads threads({}, 3);
  REQUIRE(threads.size() == 3);
  std::vector<int> runs(3, 0);
  std::vector<int>* const to = &runs;
  const round_threads::work count{[](const void* of, unsigned t, round_part&) {
                                    ++(**static_cast<std::vector<int>* const*>(of))[t];
                                  },
                                  &to};
  for (int i = 0; i < 20; ++i) {
    CHECK(threads.run(3, count).size() == 3);
    CHECK(threads.run(1, count).size() == 1);
    const auto parts = threads.run(2, count);
    CHECK(parts[0].end_ns >= parts[0].begin_ns);
  }
  CHECK(runs == std::vector<int>{60, 40, 20});
}

TEST_CASE("machine_cpus.threads_begin_together_behind_the_longest_preparation") {
  round_threads threads({}, 2);
  if (threads.size() < 2) return;
  std::vector<std::int64_t> prepared(2, 0);
  std::vector<std::int64_t>* const to = &prepared;
  const round_threads::work round{
      [](const void*, unsigned, round_part&) {}, &to,
      [](const void* of, unsigned t) {
        const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC) + 250'000;  // later than it begins
        while (t == 1 && read_clock_ns(CLOCK_MONOTONIC) < end) {}
        (**static_cast<std::vector<std::int64_t>* const*>(of))[t] = read_clock_ns(CLOCK_MONOTONIC);
      }};
  int together = 0;  // not all, since other programs preempt the threads
  for (int i = 0; i < 100; ++i) {
    const auto parts = threads.run(2, round);
    CHECK(parts[0].begin_ns >= prepared[0]);
    CHECK(parts[1].begin_ns >= prepared[1]);
    if (parts[0].begin_ns >= prepared[1] && parts[1].begin_ns - parts[0].begin_ns < 20'000)
      ++together;
  }
  CHECK(together >= 25);
}

// A triad of DRAM as a round makes it: as many lines are written back as are stored, each line that
// a round stored in the same round or at the beginning of the next.
TEST_CASE("machine_cpus.a_triad_of_dram_writes_back_what_it_and_the_round_before_stored") {
  struct call {
    const std::byte* a;
    std::size_t bytes;
    const std::byte* stored;
  };
  static std::vector<call> calls;
  calls.clear();
  memory_loop loop{};
  loop.bytes_per_round = 512;
  loop.flush = [](const void*, std::size_t) {};
  loop.triad_written_back = [](void* a, const void* b, const void* c, std::size_t bytes,
                               const void* stored) {
    const auto at = [](const void* p) { return static_cast<const std::byte*>(p); };
    CHECK(at(c) - at(b) == at(b) - at(a));
    calls.push_back({at(a), bytes, at(stored)});
  };
  constexpr std::size_t part = measuring_memory::walked_part, third = part / 3 / 512 * 512;
  measuring_memory memory(1, 3 * part);
  REQUIRE(memory.is_there());
  timed_work w{.loops = &loop,
               .memory = &memory,
               .bytes = third,
               .is_triad = true,
               .leaves_caches = true,
               .walks = 3 * part};
  constexpr std::size_t behind = std::size_t{1} << 20U;
  for (std::size_t i = 0; i < 4; ++i) {
    calls.clear();
    round_part marked;
    timed_work::walk_on(&w, 0);
    timed_work::run(&w, 0, marked);
    const std::byte* const a = memory.of(0) + (i + 1) % 3 * part;
    const std::byte* const before = memory.of(0) + i % 3 * part;
    std::size_t done = 0;
    REQUIRE(marked.marked == calls.size());
    for (std::size_t k = 0; k < calls.size(); ++k) {
      CHECK(calls[k].a == a + done);
      CHECK(calls[k].stored == (done < behind ? before + third - behind : a - behind) + done);
      done += calls[k].bytes;
      CHECK(marked.marks[k].done == Approx(static_cast<double>(done) / third));
    }
    CHECK(done == third);
  }
}

TEST_CASE("machine_cpus.a_measurement_finds_every_rate_or_says_why_not") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  const kprof::cpu_ceilings found = kprof::measure_ceilings();
  CHECK(found.threads >= 1);
  CHECK(found.threads <= static_cast<unsigned>(CPU_COUNT(&set)));
  CHECK_FALSE(found.model.empty());
#if defined(__x86_64__)
  CHECK(found.arithmetic.size() >= 2);
  CHECK(found.clock_hz > 0);
  CHECK(found.memory.size() + found.notes.size() >= 1);
#endif
  for (const auto& a : found.arithmetic) {
    CHECK(a.operations.one_thread > 0);
    CHECK(a.operations.all_threads > 0);
  }
  for (const auto& m : found.memory) {
    CHECK(m.read.one_thread > 0);
    CHECK(m.read.all_threads > 0);
    CHECK(m.triad.one_thread > 0);
    CHECK(m.triad.all_threads > 0);
    CHECK((m.bytes == 0) == (m.level == "DRAM"));
  }
  // The program keeps its own CPUs.
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&set, &after));
}
