// SPDX-License-Identifier: MIT
// needs: exceptions

// What a saved profile keeps of the machine's ceilings: all.

#include "catch.hpp"

#include "device_profiles.hpp"
#include "machine.hpp"

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>

#include <cstdint>
#include <string>
#include <vector>

using kprof::load_text;
using kprof::loaded_profile;
using kprof::profile;
using kprof::saved_text;

TEST_CASE("saved_machine.what_the_machine_reaches_is_saved") {
  profile run;
  run.machine = kprof_test::sample_machine();
  run.machine.cpu.memory[2].sharers = 2;
  kprof::gpu_ceilings& gpu = run.machine.gpus[0];
  gpu.arithmetic[0].measured_operations = 61.1e12;
  gpu.arithmetic[0].table_operations = 67.2e12;
  gpu.measured = "2026-11-24";
  gpu.measured_clock_hz = 1.75e9;
  gpu.table_memory_bytes = 3.4e12;
  gpu.table_l2_bytes = 5.6e12;
  gpu.to_device_bytes = 55e9;
  gpu.from_device_bytes = 56e9;
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  CHECK(saved_text(loaded.run) == saved_text(run));
  const kprof::machine_ceilings& m = loaded.run.machine;
  CHECK(m.source == "measured 2026-11-23");
  CHECK(m.cpu.model == "AMD EPYC");
  CHECK(m.cpu.threads == 2);
  CHECK(m.cpu.clock_hz == 3.69e9);
  REQUIRE(m.cpu.arithmetic.size() == 3);
  CHECK(m.cpu.arithmetic[2].type == kprof::dtype::bf16);
  CHECK(m.cpu.arithmetic[2].instructions == "AVX-512 BF16");
  CHECK(m.cpu.arithmetic[2].operations.one_thread == 236.3e9);
  CHECK(m.cpu.arithmetic[2].operations.all_threads == 471.9e9);
  CHECK(m.cpu.arithmetic[2].operations.is_lower_bound);
  REQUIRE(m.cpu.memory.size() == 4);
  CHECK(m.cpu.memory[2].level == "L3");
  CHECK(m.cpu.memory[2].bytes == 33'554'432);
  CHECK(m.cpu.memory[2].sharers == 2);
  CHECK(m.cpu.memory[2].read.all_threads == 117.2e9);
  CHECK(m.cpu.memory[2].triad.one_thread == 50.2e9);
  CHECK(m.cpu.notes == std::vector<std::string>{"a note"});
  REQUIRE(m.gpus.size() == 1);
  const auto* const f16 = m.gpus[0].find(kprof::dtype::f16, kprof::arithmetic_unit::tensor_core);
  REQUIRE(f16 != nullptr);
  CHECK(f16->sums == kprof::dtype::f32);
  CHECK(f16->operations == 989.4e12);
  CHECK(f16->sparse_operations == 1978.9e12);
  CHECK(f16->clock_hz == 1.83e9);
  CHECK(f16->source == "derived");
  CHECK(m.gpus[0].device == "NVIDIA H100");
  CHECK(m.gpus[0].memory_bytes == 3.352e12);
  CHECK(m.gpus[0].l2_bytes == 5.5e12);
  CHECK(m.gpus[0].shared_bytes == 33.4e12);
  CHECK(m.gpus[0].notes.size() == 1);
  CHECK(m.gpus[0].arithmetic[0].measured_operations == 61.1e12);
  CHECK(m.gpus[0].arithmetic[0].table_operations == 67.2e12);
  CHECK(m.gpus[0].measured == "2026-11-24");
  CHECK(m.gpus[0].measured_clock_hz == 1.75e9);
  CHECK(m.gpus[0].table_memory_bytes == 3.4e12);
  CHECK(m.gpus[0].table_l2_bytes == 5.6e12);
  CHECK(m.gpus[0].to_device_bytes == 55e9);
  CHECK(m.gpus[0].from_device_bytes == 56e9);

  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    run.machine = kprof_test::random_machine(seed);
    const loaded_profile again = load_text(saved_text(run));
    REQUIRE(again.result.message == "");
    REQUIRE(saved_text(again.run) == saved_text(run));
  }
}

TEST_CASE("saved_machine.a_file_that_knows_no_ceilings_loads_without_them") {
  const std::string text = saved_text(kprof_test::transformer_profile());
  REQUIRE(text.find("\"machine\"") == std::string::npos);
  const loaded_profile loaded = load_text(text);
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.machine.source.empty());
  CHECK(loaded.run.machine.cpu.arithmetic.empty());
  CHECK(loaded.run.machine.gpus.empty());
}
