// SPDX-License-Identifier: MIT
// needs: guards, exceptions

// Ceilings that a person gives, in a file and in the settings.

#include "catch.hpp"

#include "device_profiles.hpp"
#include "own_cache.hpp"

#include <kprof/kprof.hpp>
#include <kprof/session/session_ceilings.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <string>

using namespace kprof_test;

TEST_CASE("ceilings_by_hand.a_file_by_hand_wins_over_what_is_kept") {
  const own_cache cache;
  keep_sample();
  const std::string path = cache.file("f32 = 200 300 GFLOP/s\nDRAM.read = - 50 GB/s");
  const profile run = reported(path);
  CHECK(run.notes.empty());
  CHECK(run.machine.source ==
        "from \"" + path + "\", the rest measured " + kprof::detail::date_of_today());
  CHECK(run.machine.cpu.arithmetic[0].operations.one_thread == 59.1e9);
  CHECK(run.machine.cpu.arithmetic[1].operations.one_thread == 200e9);
  CHECK(run.machine.cpu.memory[3].read.one_thread == 23.1e9);
  CHECK(run.machine.cpu.memory[3].read.all_threads == 50e9);
}

TEST_CASE("ceilings_by_hand.a_file_alone_is_all_that_is_known") {
  const own_cache cache;
  const std::string path = cache.file("f32 = 200 300 GFLOP/s\nf33 = 1 2\nf64 = -1 2 GFLOP/s");
  const profile run = reported(path);
  CHECK(run.machine.source == "from \"" + path + '"');
  REQUIRE(run.machine.cpu.arithmetic.size() == 1);
  REQUIRE(run.notes.size() == 2);
  CHECK_THAT(run.notes[0], Contains("ceilings=\"" + path + "\" line 2: \"f33 = 1 2\" is unknown"));
  CHECK_THAT(run.notes[1], Contains("line 3: \"f64 = -1 2 GFLOP/s\" is no number above 0"));
}

TEST_CASE("ceilings_by_hand.where_a_file_gives_all_nothing_is_said_to_be_measured") {
  const own_cache cache;
  keep_sample();
  const kprof::cpu_ceilings kept = reported("cache").machine.cpu;
  const std::string path = cache.file(kprof::detail::write_ceilings(kept, ""));
  CHECK(reported(path).machine.source == "from \"" + path + '"');
}

TEST_CASE("ceilings_by_hand.a_file_that_cannot_be_used_is_told_in_one_line") {
  const own_cache cache;
  const auto note = [](const std::string& choice) {
    const profile run = reported(choice);
    CHECK_FALSE(reason(run).empty());
    CHECK_THAT(only_note(run), Contains("ceilings=\""));
    return only_note(run);
  };
  CHECK_THAT(note("offf"), Contains("\"offf\" cannot be read (No such file or directory); name a "
                                    "file that `kprof ceilings --save FILE` has written, or one "
                                    "of auto, cache, measure, off"));
  CHECK_THAT(note("/"), Contains("is no file"));
  const std::string pipe = cache.path / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(note(pipe), Contains("is no file"));
  CHECK_THAT(note(cache.file("")), Contains("has no ceilings"));
  CHECK_THAT(note(cache.file(std::string(70'000, '\n'))), Contains("is larger than 64 KiB"));
  CHECK_THAT(note(cache.file("processor = Z80\nf32 = 1 2 GFLOP/s")),
             Contains("is of another processor (Z80) than this machine's (") &&
                 Contains("take its line \"processor\" out to use it all the same"));
  CHECK_THAT(note(cache.file("threads = 65535\nf32 = 1 2 GFLOP/s")),
             Contains("is of 65535 threads, and this process may use "));
  if (geteuid() != 0) {
    const std::string path = cache.file("f32 = 1 2 GFLOP/s");
    REQUIRE(chmod(path.c_str(), 0) == 0);
    CHECK_THAT(note(path), Contains("cannot be read (Permission denied)"));
  }
}

TEST_CASE("ceilings_by_hand.a_program_s_own_win_too") {
  const own_cache cache;
  settings s = with("cache");
  s.machine.cpu.arithmetic = {{kprof::dtype::f32, "", {1e9, -2e9, false}}};
  const profile run = reported(s);
  CHECK(run.machine.source == "by hand");
  REQUIRE(run.machine.cpu.arithmetic.size() == 1);
  CHECK(run.machine.cpu.arithmetic[0].operations.one_thread == 1e9);
  CHECK(run.machine.cpu.arithmetic[0].operations.all_threads == 0);
  // A file that the user names wins over the program.
  s.ceilings = cache.file("f32 = 3 4 GFLOP/s");
  CHECK(reported(s).machine.cpu.arithmetic[0].operations.one_thread == 3e9);
}

TEST_CASE("ceilings_by_hand.gpus_have_their_table_and_what_a_person_says") {
  const own_cache cache;
  profile run = transformer_profile();
  REQUIRE(run.device.devices.size() >= 1);
  kprof::device_info& first = run.device.devices[0];
  first.name = "NVIDIA H100 80GB HBM3";
  first.described = true;
  first.compute_major = 9;
  first.compute_minor = 0;
  first.multiprocessors = 132;
  first.clock_hz = 1'980'000'000;
  first.memory_bytes_per_s = 3'352'000'000'000;
  const auto with_choice = [&](const std::string& choice) {
    session_ceilings ceilings;
    ceilings.choose(with(choice));
    profile out = run;
    ceilings.add_to(out);
    return out;
  };
  const auto f16 = [](const profile& p) {
    const auto* const found =
        p.machine.gpus.at(0).find(kprof::dtype::f16, kprof::arithmetic_unit::tensor_core);
    return found == nullptr ? 0 : found->operations;
  };
  const profile table = with_choice("off");
  REQUIRE(table.machine.gpus.size() == run.device.devices.size());
  CHECK(f16(table) > 900e12);
  CHECK(table.machine.gpus[0].memory_bytes == 3.352e12);
  const std::string file = "gpu.f16.tensor = 700 TFLOP/s\ngpu.memory = 3 TB/s";
  CHECK(f16(with_choice(cache.file("gpu = H100\n" + file))) == 700e12);
  CHECK(f16(with_choice(cache.file("gpu = NVIDIA H100 80GB HBM3\n" + file))) == 700e12);
  CHECK(f16(with_choice(cache.file("gpu = *\n" + file))) == 700e12);
  CHECK(f16(with_choice(cache.file("gpu = H10\n" + file))) == f16(table));
  CHECK(with_choice(cache.file("gpu = *\n" + file)).machine.gpus[0].memory_bytes == 3e12);
}
