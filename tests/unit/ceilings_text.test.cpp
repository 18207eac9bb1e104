// SPDX-License-Identifier: MIT
// Ceilings as text: what people write, what kprof writes, and what nobody should.

#include <kprof/model/ceilings_text.hpp>
#include <kprof/model/written_ceilings.hpp>

#include "catch.hpp"

#include "machine.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using Catch::Matchers::Contains;
using kprof::arithmetic_unit;
using kprof::dtype;
using kprof::detail::read_ceilings;
using kprof::detail::write_ceilings;
using kprof::detail::written_ceilings;

namespace {

std::string mistake_of(const std::string& line) {
  const written_ceilings found = read_ceilings("\n" + line + "\n");
  CHECK_FALSE(kprof::detail::says_something(found.value));
  return found.mistakes.size() == 1 ? found.mistakes[0]
                                    : std::to_string(found.mistakes.size()) + " mistakes";
}

}  // namespace

TEST_CASE("ceilings_text.every_line_is_read") {
  const written_ceilings found = read_ceilings(R"(
# a comment
processor = AMD EPYC # 3
threads=8   # so many
  clock  =  3.69 GHz
f32 = 118.1 933 GFLOP/s
f32.instructions = AVX-512 FMA
int8 = >= 0.47 3.7 TOP/s
bf16 = - 1.5e12
L1.size = 32 KiB
L1.sharers = 2
L1.read = 221 1770 GB/s
L1.triad = 285 - GB/s
DRAM = 23 90 GB/s# both
date = 2026-11-23
machine = version 1; any
note = a note = with a sign
gpu = H100
gpu.f32 = 60 TFLOP/s
gpu.f16.tensor = 800 TFLOP/s
gpu.f16.tensor.f16 = 801e12
gpu.memory = 3.1 TB/s
gpu = *
gpu.l2 = 5 TB/s
gpu.shared = 30 TB/s)");
  for (const std::string& mistake : found.mistakes) FAIL_CHECK(mistake);
  const kprof::cpu_ceilings& cpu = found.value.cpu;
  CHECK(cpu.model == "AMD EPYC # 3");
  CHECK(cpu.threads == 8);
  CHECK(cpu.clock_hz == 3.69e9);
  REQUIRE(cpu.arithmetic.size() == 3);
  CHECK(cpu.arithmetic[0].type == dtype::f32);
  CHECK(cpu.arithmetic[0].instructions == "AVX-512 FMA");
  CHECK(cpu.arithmetic[0].operations.one_thread == Approx(118.1e9));
  CHECK(cpu.arithmetic[0].operations.all_threads == 933e9);
  CHECK_FALSE(cpu.arithmetic[0].operations.is_lower_bound);
  CHECK(cpu.arithmetic[1].operations.one_thread == 470e9);
  CHECK(cpu.arithmetic[1].operations.is_lower_bound);
  CHECK(cpu.arithmetic[2].operations.one_thread == 0);
  CHECK(cpu.arithmetic[2].operations.all_threads == 1.5e12);
  REQUIRE(cpu.memory.size() == 2);
  CHECK(cpu.memory[0].sharers == 2);
  CHECK(cpu.memory[1].sharers == 1);
  CHECK(cpu.memory[0].bytes == 32'768);
  CHECK(cpu.memory[0].read.all_threads == 1770e9);
  CHECK(cpu.memory[0].triad.one_thread == 285e9);
  CHECK(cpu.memory[0].triad.all_threads == 0);
  CHECK(cpu.memory[1].level == "DRAM");
  CHECK(cpu.memory[1].read.one_thread == 23e9);
  CHECK(cpu.memory[1].triad.all_threads == 90e9);
  CHECK(found.date == "2026-11-23");
  CHECK(found.machine == "version 1; any");
  CHECK(cpu.notes == std::vector<std::string>{"a note = with a sign"});
  REQUIRE(found.value.gpus.size() == 2);
  const kprof::gpu_ceilings& h100 = found.value.gpus[0];
  CHECK(h100.device == "H100");
  REQUIRE(h100.arithmetic.size() == 3);
  CHECK(h100.find(dtype::f32, arithmetic_unit::cuda_core)->operations == 60e12);
  CHECK(h100.find(dtype::f16, arithmetic_unit::tensor_core)->operations == 800e12);
  CHECK(h100.find(dtype::f16, arithmetic_unit::tensor_core, dtype::f16)->operations == 801e12);
  CHECK(h100.arithmetic[0].source == "by hand");
  CHECK(h100.memory_bytes == Approx(3.1e12));
  CHECK(found.value.gpus[1].l2_bytes == 5e12);
  CHECK(found.value.gpus[1].shared_bytes == 30e12);
}

TEST_CASE("ceilings_text.a_line_that_is_wrong_is_told_and_changes_nothing") {
  CHECK(mistake_of("f33 = 1 2 GFLOP/s").substr(0, 51) ==
        "line 2: \"f33 = 1 2 GFLOP/s\" is unknown; valid: proc");
  for (const char* unknown :
       {"F32 = 1 2", "unknown = 1 2", "L5 = 1 2 GB/s", "L1.write = 1 2", "DRAM.read.x = 1 2",
        "gpu.f33 = 1", "gpu.f16.tensorx = 1", "gpu.f16.tensor. = 1", "gpu.f16.tensor.f17 = 1",
        "gpu. = 1", "gpu.memory.tensor = 1", ".instructions = x", "roof = 1"})
    CHECK_THAT(mistake_of(unknown), Contains("is unknown; valid: "));
  for (const char* number :
       {"f32 = 0 1 GFLOP/s", "f32 = 1 0 GFLOP/s", "f32 = -1 2 GFLOP/s", "f32 = nan 1",
        "f32 = inf inf", "f32 = 1e400 1", "f32 = 1e-400 1", "f32 = 1e24 1", "f32 = 1,5 2 GFLOP/s",
        "f32 = 0x10 1", "f32 = one two", "clock = 0 GHz", "clock = 3.69GHz", "L1.size = -1 KiB",
        "DRAM = - -1 GB/s", "f32 = 1 2GFLOP/s"})
    CHECK_THAT(mistake_of(number), Contains("is no number above 0, and below 10^24"));
  for (const char* count : {"L1.sharers = 0", "L1.sharers = two", "L1.sharers = 2 3"})
    CHECK_THAT(mistake_of(count), Contains("is no number of CPUs"));
  for (const char* single : {"f32 = 118 GFLOP/s", "f32 = 118", "DRAM.read = 20 GB/s", "f32 = >="})
    CHECK_THAT(mistake_of(single), Contains("has one number; give two, of one thread and of all"));
  CHECK_THAT(mistake_of("f32 = 1 2 GB/s"), Contains("has another unit than GFLOP/s or GOP/s"));
  CHECK_THAT(mistake_of("DRAM = 1 2 GFLOP/s"), Contains("has another unit than GB/s"));
  CHECK_THAT(mistake_of("DRAM = 1 2 GiB/s"), Contains("has another unit than GB/s"));
  CHECK_THAT(mistake_of("DRAM = 1 2 3 GB/s"), Contains("has another unit than GB/s"));
  CHECK_THAT(mistake_of("clock = 3 G"), Contains("has another unit than GHz"));
  CHECK_THAT(mistake_of("L1.size = 32 KB"), Contains("has another unit than KiB or MiB"));
  CHECK_THAT(mistake_of("f32 = 1e20 1 TFLOP/s"), Contains("is more than any machine reaches"));
  for (const char* small : {"f32 = 1e-300 -", "f32 = 118 233e-15 TFLOP/s", "DRAM = - 0.5"})
    CHECK_THAT(mistake_of(small),
               Contains("is less than any machine reaches; is the unit missing"));
  for (const char* none : {"f32 = - -", "DRAM = >= - - GB/s"})
    CHECK_THAT(mistake_of(none), Contains("gives neither number; leave the line out"));
  CHECK_THAT(mistake_of("f32 = 233 100 GFLOP/s"),
             Contains("has less for all threads than for one"));
  // What was measured on one core, or while another program disturbed it.
  for (const char* fine : {"f32 = 118 117 GFLOP/s", "f32 = >= 233 100 GFLOP/s"})
    CHECK(read_ceilings(fine).mistakes.empty());
  CHECK_THAT(mistake_of("gpu.f32 = 1"), Contains("stands before a line that names the device"));
  for (const char* threads : {"0", "-1", "65537", "2.5", "99999999999999999999", "two"})
    CHECK_THAT(mistake_of(std::string("threads = ") + threads),
               Contains("is no number of threads"));
  for (const char* form : {"f32", "= 1", "f32 =", "=", "\x01\xFF"})
    CHECK_THAT(mistake_of(form), Contains("is no line of the form key = value"));
  CHECK_THAT(mistake_of("\x1b[31m = \xFF"), Contains("\\x1b[31m = \\xff"));
}

TEST_CASE("ceilings_text.a_right_line_holds_beside_wrong_ones_and_few_are_told") {
  std::string text = "f32 = 1 2 GFLOP/s\n";
  for (int i = 0; i < 5000; ++i) text += "nonsense\n";
  const written_ceilings found = read_ceilings(text + "f64 = 3 4 GFLOP/s");
  CHECK(found.value.cpu.arithmetic.size() == 2);
  CHECK(found.mistakes.size() == 10);
  CHECK(found.mistakes.back() == "more mistakes: 4991");
}

TEST_CASE("ceilings_text.what_is_written_is_read_to_six_digits") {
  const kprof::cpu_ceilings given = kprof_test::sample_machine().cpu;
  const std::string text = write_ceilings(given, "date = 2026-11-23\n");
  CHECK_THAT(text, Contains("f32 = 118.1 233.3 GFLOP/s\nf32.instructions = AVX-512 FMA\n"));
  CHECK_THAT(text, Contains("L3.triad = >= 50.2 95.5 GB/s\n"));
  const written_ceilings found = read_ceilings(text);
  CHECK(found.mistakes.empty());
  CHECK(found.date == "2026-11-23");
  CHECK(write_ceilings(found.value.cpu, "date = 2026-11-23\n") == text);
  REQUIRE(found.value.cpu.memory.size() == given.memory.size());
  for (std::size_t i = 0; i < given.memory.size(); ++i)
    CHECK(found.value.cpu.memory[i].read.all_threads ==
          Approx(given.memory[i].read.all_threads).epsilon(1e-6));
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    kprof::cpu_ceilings odd = kprof_test::random_machine(seed).cpu;
    odd.model = "any\nnote = \xFF";
    const std::string once = write_ceilings(read_ceilings(write_ceilings(odd, "")).value.cpu, "");
    REQUIRE(write_ceilings(read_ceilings(once).value.cpu, "") == once);
  }
}

TEST_CASE("ceilings_text.what_a_person_gave_wins") {
  kprof::machine_ceilings m = kprof_test::sample_machine();
  const written_ceilings given = read_ceilings(
      "f32 = - 200 GFLOP/s\nint8 = 1 2 TOP/s\nDRAM.read = 20 30 GB/s\nclock = 4 GHz\n"
      "bf16 = 300 500 GFLOP/s\n"
      "gpu = H100\ngpu.f16.tensor = 494.7 TFLOP/s\ngpu.fp4_e2m1.tensor = 1 PFLOP/s\n"
      "gpu.memory = 3 TB/s");
  REQUIRE(given.mistakes.empty());
  kprof::detail::put_over(m.cpu, given.value.cpu);
  CHECK(m.cpu.clock_hz == 4e9);
  REQUIRE(m.cpu.arithmetic.size() == 4);
  CHECK(m.cpu.arithmetic[0].operations.one_thread == 59.1e9);  // f64 stays
  CHECK(m.cpu.arithmetic[1].operations.one_thread == 118.1e9);
  CHECK(m.cpu.arithmetic[1].operations.all_threads == 200e9);
  CHECK(m.cpu.arithmetic[1].instructions.empty());
  CHECK_FALSE(m.cpu.arithmetic[2].operations.is_lower_bound);  // of bf16 both are known now
  CHECK(m.cpu.arithmetic[3].type == dtype::int8);
  REQUIRE(m.cpu.memory.size() == 4);
  CHECK(m.cpu.memory[3].read.one_thread == 20e9);
  CHECK(m.cpu.memory[3].triad.one_thread == 21.4e9);
  CHECK(m.cpu.memory[2].bytes == 33'554'432);
  kprof::detail::put_over(m.gpus[0], given.value.gpus[0]);
  const auto* const f16 = m.gpus[0].find(dtype::f16, arithmetic_unit::tensor_core);
  CHECK(f16->operations == 494.7e12);
  CHECK(f16->sparse_operations == Approx(1978.9e12 / 2).epsilon(1e-3));
  CHECK(f16->source == "by hand");
  CHECK(m.gpus[0].find(dtype::fp4_e2m1, arithmetic_unit::tensor_core)->operations == 1e15);
  CHECK(m.gpus[0].memory_bytes == 3e12);
  CHECK(m.gpus[0].l2_bytes == 5.5e12);
}

TEST_CASE("ceilings_text.rates_that_no_machine_has_change_nothing") {
  kprof::machine_ceilings m = kprof_test::sample_machine();
  const std::string before = write_ceilings(m.cpu, "");
  kprof::cpu_ceilings odd;
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    odd.clock_hz = rate;
    odd.memory.push_back({"L1", 0, {rate, rate, true}, {rate, rate, true}});
    kprof::detail::put_over(m.cpu, odd);
    kprof::gpu_ceilings gpu;
    gpu.memory_bytes = gpu.l2_bytes = gpu.shared_bytes = rate;
    gpu.arithmetic = {{dtype::f16, arithmetic_unit::tensor_core, dtype::unknown, rate, 0, 0, ""}};
    kprof::detail::put_over(m.gpus[0], gpu);
  }
  CHECK(write_ceilings(m.cpu, "") == before);
  CHECK(m.gpus[0].memory_bytes == 3.352e12);
  CHECK(m.gpus[0].arithmetic[1].operations == 989.4e12);
}
