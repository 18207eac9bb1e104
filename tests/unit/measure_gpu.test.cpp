// SPDX-License-Identifier: MIT
// needs: exceptions

// The sequence of driver calls that measures a GPU, on a driver whose times are scripted, and the
// rates that come of them.

#include <kprof/machine/measure_gpu.hpp>

#include "catch.hpp"
#include "timed_driver.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

using Catch::Matchers::Contains;
using kprof::arithmetic_unit;
using kprof::device_info;
using kprof::dtype;
using kprof::gpu_arithmetic_ceiling;
using kprof::gpu_ceilings;
using kprof::detail::gpu_measurement;
using kprof::detail::kernels_reach_roof;
using kprof::detail::measured_gpu;
using kprof_test::driver;

namespace {

device_info device(std::uint32_t compute) {
  device_info d;
  d.id = 1;
  d.described = true;
  d.name = "NVIDIA Scripted";
  d.compute_major = compute / 10;
  d.compute_minor = compute % 10;
  d.multiprocessors = 100;
  d.clock_hz = 1'800'000'000;
  d.l2_bytes = std::uint64_t{40} << 20U;
  return d;
}
measured_gpu measured(const device_info& d) {
  const kprof::detail::cuda_functions f = kprof_test::functions_of_driver();
  return gpu_measurement(f, d).take();
}
double rate(const gpu_ceilings& g, dtype type, arithmetic_unit on, dtype sums = dtype::unknown) {
  const gpu_arithmetic_ceiling* const a = g.find(type, on, sums);
  return a == nullptr ? 0 : a->operations;
}

constexpr auto cuda = arithmetic_unit::cuda_core, tensor = arithmetic_unit::tensor_core;

}  // namespace

TEST_CASE("measure_gpu.rates_are_work_by_time") {
  driver = {};
  const measured_gpu found = measured(device(80));
  const gpu_ceilings& g = found.value;
  CHECK(found.failure.empty());
  CHECK(g.notes.empty());
  CHECK(driver.holds_nothing());
  // 400 blocks of 256 threads do 8 chains of 32 steps a round, and a round takes 10 us.
  const double threads = 400.0 * 256, steps = 8 * 32, rounds_a_s = 1e5;
  CHECK(rate(g, dtype::f32, cuda) == Approx(threads * steps * 2 * rounds_a_s));
  CHECK(rate(g, dtype::f64, cuda) == Approx(threads * steps * 2 * rounds_a_s));
  CHECK(rate(g, dtype::f16, cuda) == Approx(threads * steps * 4 * rounds_a_s));
  CHECK(rate(g, dtype::bf16, cuda) == Approx(threads * steps * 4 * rounds_a_s));
  CHECK(rate(g, dtype::int32, cuda) == Approx(threads * steps * 2 * rounds_a_s));
  CHECK(rate(g, dtype::int8, cuda) == Approx(threads * steps * 8 * rounds_a_s));
  // 3,200 warps do 4 chains of 32 steps of 16 x 8 x 16 products and sums.
  const double warps = 3200, products = 4 * 32 * 2 * 16 * 8;
  CHECK(rate(g, dtype::f16, tensor, dtype::f32) == Approx(warps * products * 16 * rounds_a_s));
  CHECK(rate(g, dtype::f16, tensor, dtype::f16) == Approx(warps * products * 16 * rounds_a_s));
  CHECK(rate(g, dtype::bf16, tensor) == Approx(warps * products * 16 * rounds_a_s));
  CHECK(rate(g, dtype::tf32, tensor) == Approx(warps * products * 8 * rounds_a_s));
  CHECK(rate(g, dtype::int8, tensor) == Approx(warps * products * 32 * rounds_a_s));
  CHECK(rate(g, dtype::f64, tensor) == Approx(warps * 2 * 32 * 2 * 8 * 8 * 4 * rounds_a_s));
  CHECK(g.find(dtype::fp8_e4m3, tensor) == nullptr);
  CHECK(g.arithmetic.size() == 12);
  // The least multiple of what 800 blocks access at once, 800 x 256 x 64 bytes, that is above four
  // times L2: 13 of them. The triad has three such arrays.
  CHECK(g.memory_bytes == Approx(3.0 * 13 * 800 * 256 * 64 * rounds_a_s));
  // 200 blocks access 3,276,800 bytes at once, of which a quarter of L2 holds three.
  CHECK(g.l2_bytes == Approx(3.0 * 200 * 256 * 64 * rounds_a_s));
  CHECK(g.to_device_bytes == Approx(32.0 * 1024 * 1024 * 1000));
  CHECK(g.from_device_bytes == Approx(32.0 * 1024 * 1024 * 500));
  CHECK(g.measured_clock_hz == Approx(1500e6));
}

TEST_CASE("measure_gpu.each_device_runs_what_it_has_and_mma_sync_is_no_roof_from_9_0_to_11_0") {
  for (const std::uint32_t compute : {75U, 80U, 86U, 87U, 89U, 90U, 100U, 103U, 110U, 120U, 121U}) {
    driver = {};
    const measured_gpu found = measured(device(compute));
    CAPTURE(compute);
    CHECK(found.failure.empty());
    CHECK(driver.holds_nothing());
    CHECK((found.value.find(dtype::f64, tensor) != nullptr) ==
          (compute == 80 || compute == 90 || compute == 100));
    CHECK((found.value.find(dtype::fp8_e4m3, tensor) != nullptr) == (compute >= 89));
    CHECK((found.value.find(dtype::bf16, tensor) != nullptr) == (compute >= 80));
    std::set<std::string> seen;
    for (const gpu_arithmetic_ceiling& a : found.value.arithmetic) {
      CHECK(a.operations > 0);
      CHECK(a.measured_operations == 0);
      CHECK(kernels_reach_roof(a.on, compute) == (a.on == cuda || compute < 90 || compute >= 120));
      CHECK(seen.insert(std::to_string(int(a.type)) + '/' + std::to_string(int(a.on)) + '/' +
                        std::to_string(int(a.sums)))
                .second);
    }
  }
}

TEST_CASE("measure_gpu.a_call_that_fails_leaves_nothing_behind_and_is_told") {
  driver = {};
  static_cast<void>(measured(device(80)));
  const int calls = driver.calls;
  REQUIRE(calls > 300);
  std::set<std::string> told;
  for (int failing = 1; failing <= calls; ++failing) {
    driver = {};
    driver.failing = failing;
    const measured_gpu found = measured(device(80));
    CAPTURE(failing, found.failure);
    CHECK(driver.holds_nothing());
    const bool is_of_one_kernel =
        found.failure.empty() && found.value.notes.size() == 1 &&
        found.value.notes[0].find("cuModuleLoadData: ") != std::string::npos;
    if (!is_of_one_kernel) CHECK_THAT(found.failure, Contains(" failed (CUDA_ERROR_SCRIPTED, 2)"));
    else CHECK_THAT(found.value.notes[0], Contains("(cuModuleLoadData: CUDA_ERROR_SCRIPTED, 2)"));
    told.insert(found.failure.substr(0, found.failure.find(' ')));
  }
  CHECK(told.size() == 27);  // every function but cuGetErrorName and cuModuleLoadData, and none
}

TEST_CASE("measure_gpu.a_driver_without_an_instruction_measures_the_others") {
  driver = {};
  driver.refused = ".version 8.4";
  const measured_gpu found = measured(device(89));
  CHECK(found.failure.empty());
  REQUIRE(found.value.notes.size() == 1);
  CHECK_THAT(found.value.notes[0], Contains("e4m3") && Contains("CUDA_ERROR_SCRIPTED, 222"));
  CHECK(found.value.find(dtype::f16, tensor) != nullptr);
  CHECK(found.value.memory_bytes > 0);
  CHECK(driver.holds_nothing());
}

TEST_CASE("measure_gpu.a_device_that_is_busy_is_left_alone_after_a_second") {
  driver = {};
  driver.hangs = true;
  const measured_gpu found = measured(device(80));
  CHECK(found.failure == "the device was busy with other work for a second");
  CHECK(found.value.arithmetic.empty());
  // Freeing memory would wait for the device.
  CHECK(driver.depth == 0);
  CHECK(driver.mode == 0);
  CHECK(driver.streams.empty());
  CHECK(driver.events.empty());
  CHECK(driver.memory.size() == 1);
  for (void* const at : driver.host) ::operator delete(at);
}

TEST_CASE("measure_gpu.it_ends_when_its_time_is_over") {
  driver = {};
  driver.load_ns = 500'000'000;  // a compiler that is slow
  const measured_gpu found = measured(device(80));
  CHECK(found.failure.empty());
  CHECK(found.value.arithmetic.size() == 4);
  CHECK(found.value.memory_bytes == 0);
  CHECK(found.value.notes == std::vector<std::string>{"there was no time left for all kernels"});
  CHECK(driver.holds_nothing());
}

TEST_CASE("measure_gpu.what_cannot_be_measured_says_why") {
  const auto why = [](const device_info& d) {
    driver = {};
    const measured_gpu found = measured(d);
    CHECK(driver.holds_nothing());
    CHECK(found.value.arithmetic.empty());
    return found.failure;
  };
  CHECK(why(device(70)) == "kprof's kernels need compute 7.5 or later");
  device_info d = device(80);
  d.id = 0;
  CHECK(why(d) == "CUPTI and the driver number the devices differently");
  d = device(80);
  d.multiprocessors = 0;
  CHECK(why(d) == "the driver does not say how large the device is");

  driver = {};
  driver.is_active = false;
  const measured_gpu unused = measured(device(80));
  CHECK(driver.holds_nothing());
  CHECK(driver.calls == 3);
  CHECK(unused.failure == "the program has no context of the CUDA runtime on it");

  driver = {};
  driver.free_bytes = std::size_t{900} << 20U;
  const measured_gpu full = measured(device(80));
  CHECK(full.value.arithmetic.size() == 12);
  CHECK(full.value.memory_bytes == 0);
  REQUIRE(full.value.notes.size() == 1);
  CHECK_THAT(full.value.notes[0], Contains("has not twice the 487 MiB free"));

  driver = {};
  driver.mhz = 900;
  const measured_gpu slow = measured(device(80));
  REQUIRE(slow.value.notes.size() == 12);
  CHECK_THAT(slow.value.notes[0],
             Contains("the clock was 900 MHz with fma.rn.f32, of 1800 at most"));
}
