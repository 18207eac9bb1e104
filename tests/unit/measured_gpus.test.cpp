// SPDX-License-Identifier: MIT
// needs: guards, exceptions

// What was measured of a GPU: put over its table, kept, and what roofs and the report's head are
// then.

#include "catch.hpp"

#include "device_builder.hpp"
#include "own_cache.hpp"
#include "report_page.hpp"
#include "rows.hpp"
#include "timed_driver.hpp"

#include <kprof/ceilings.hpp>
#include <kprof/kprof.hpp>
#include <kprof/session/measured_gpus.hpp>
#include <kprof/tables.hpp>

#include <cstdint>
#include <string>
#include <vector>

using Catch::Matchers::Contains;
using kprof::arithmetic_unit;
using kprof::bound_by;
using kprof::device_info;
using kprof::dtype;
using kprof::gpu_arithmetic_ceiling;
using kprof::gpu_ceilings;
using kprof::profile;
using kprof::detail::measure_and_keep;
using kprof::detail::measured_gpus;
using kprof::detail::put_measured_over;
using kprof_test::driver;
using kprof_test::own_cache;

namespace {

constexpr auto cuda = arithmetic_unit::cuda_core, tensor = arithmetic_unit::tensor_core;

device_info a100(std::uint32_t id = 1) {
  device_info d;
  d.id = id;
  d.described = true;
  d.name = "NVIDIA Scripted";
  d.compute_major = 8;
  d.multiprocessors = 108;
  d.clock_hz = 1'410'000'000;
  d.memory_bytes_per_s = 2'039'000'000'000;
  d.l2_bytes = std::uint64_t{40} << 20U;
  d.uuid = "0123456789abcdef0123456789abcdef";
  d.sum_ns = 1;
  return d;
}

gpu_ceilings rates(double f32, double f16, double memory) {
  gpu_ceilings m;
  gpu_arithmetic_ceiling a;
  a.type = dtype::f32, a.on = cuda, a.operations = f32;
  m.arithmetic.push_back(a);
  a.type = dtype::f16, a.on = tensor, a.sums = dtype::f32, a.operations = f16;
  m.arithmetic.push_back(a);
  m.memory_bytes = memory;
  m.to_device_bytes = 25e9;
  m.measured = "2026-11-24";
  m.notes = {"a note"};
  return m;
}

// A call of f32 operations and bytes that took so long on a measured A100.
kprof::roof_verdict verdict_of(std::uint64_t flops, std::uint64_t bytes, double ns) {
  kprof_test::device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 2, 5000).work(op, flops, bytes, 0, dtype::f32);
  b.p.nodes[op].work.on = cuda;
  b.kernel(op, "k", 2, ns, 1056);
  profile p = b.done();
  p.device.devices = {a100(0)};
  p.machine.gpus = {kprof::ceilings_of(a100())};
  put_measured_over(p.machine.gpus[0], rates(15e12, 280e12, 1.8e12), 80);
  return kprof_test::only_row(p).verdict;
}

}  // namespace

TEST_CASE("measured_gpus.what_was_measured_is_the_roof_with_the_table_beside_it") {
  gpu_ceilings to = kprof::ceilings_of(a100());
  const gpu_ceilings table = to;
  put_measured_over(to, rates(15e12, 280e12, 1.8e12), 80);
  const gpu_arithmetic_ceiling* const f32 = to.find(dtype::f32, cuda);
  REQUIRE(f32 != nullptr);
  CHECK(f32->operations == 15e12);
  CHECK(f32->measured_operations == 15e12);
  CHECK(f32->table_operations == table.find(dtype::f32, cuda)->operations);
  CHECK(f32->source == "measured here");
  const gpu_arithmetic_ceiling* const f16 = to.find(dtype::f16, tensor, dtype::f32);
  const gpu_arithmetic_ceiling* const of_table = table.find(dtype::f16, tensor, dtype::f32);
  REQUIRE(f16 != nullptr);
  CHECK(f16->operations == 280e12);
  CHECK(f16->sparse_operations ==
        Approx(280e12 * of_table->sparse_operations / of_table->operations));
  CHECK(to.memory_bytes == 1.8e12);
  CHECK(to.table_memory_bytes == table.memory_bytes);
  CHECK(to.l2_bytes == table.l2_bytes);  // that was not measured
  CHECK(to.table_l2_bytes == 0);
  CHECK(to.to_device_bytes == 25e9);
  CHECK(to.measured == "2026-11-24");
  CHECK(to.notes.back() == "a note");
  CHECK(to.arithmetic.size() == table.arithmetic.size());
  const gpu_arithmetic_ceiling* const f64 = to.find(dtype::f64, cuda);
  CHECK(f64->operations == table.find(dtype::f64, cuda)->operations);
  CHECK(f64->measured_operations == 0);
  CHECK(f64->table_operations == 0);
}

TEST_CASE("measured_gpus.tensor_cores_that_the_kernels_do_not_reach_keep_their_table") {
  device_info h100 = a100();
  h100.compute_major = 9;
  gpu_ceilings to = kprof::ceilings_of(h100);
  const gpu_ceilings table = to;
  put_measured_over(to, rates(15e12, 280e12, 1.8e12), 90);
  const gpu_arithmetic_ceiling* f16 = to.find(dtype::f16, tensor, dtype::f32);
  CHECK(f16->operations == table.find(dtype::f16, tensor, dtype::f32)->operations);
  CHECK(f16->measured_operations == 280e12);
  CHECK(f16->table_operations == 0);
  CHECK(to.find(dtype::f32, cuda)->operations == 15e12);
  // More than the table says is more all the same.
  to = table;
  put_measured_over(to, rates(15e12, 9e15, 1.8e12), 90);
  CHECK(to.find(dtype::f16, tensor, dtype::f32)->operations == 9e15);
  // A device that the table does not have gets what was measured, and no roof that is too low.
  gpu_ceilings unknown;
  put_measured_over(unknown, rates(15e12, 280e12, 1.8e12), 90);
  REQUIRE(unknown.arithmetic.size() == 1);
  CHECK(unknown.arithmetic[0].type == dtype::f32);
  CHECK(unknown.arithmetic[0].operations == 15e12);
  CHECK(unknown.arithmetic[0].table_operations == 0);
  CHECK(unknown.memory_bytes == 1.8e12);
}

TEST_CASE("measured_gpus.a_person_s_word_is_above_a_measurement") {
  gpu_ceilings to = kprof::ceilings_of(a100());
  put_measured_over(to, rates(15e12, 280e12, 1.8e12), 80);
  gpu_ceilings given = rates(14e12, 270e12, 1.7e12);
  kprof::detail::put_over(to, given);
  CHECK(to.find(dtype::f32, cuda)->operations == 14e12);
  CHECK(to.find(dtype::f32, cuda)->table_operations == 0);
  CHECK(to.memory_bytes == 1.7e12);
  CHECK(to.table_memory_bytes == 0);
}

TEST_CASE("measured_gpus.rows_are_held_against_what_was_measured") {
  // 15 GFLOP at 15 TFLOP/s take 1 ms, 1.8 GB at 1.8 TB/s too.
  CHECK(verdict_of(15'000'000'000, 8, 2e6).roof.value == Approx(0.5));
  CHECK(verdict_of(8, 1'800'000'000, 2e6).roof.value == Approx(0.5));
  CHECK(verdict_of(8, 1'800'000'000, 1.01e6).bound == bound_by::memory);
}

TEST_CASE("measured_gpus.what_beats_kprof_s_kernels_is_impossible_only_above_the_table_too") {
  // The table: 19.5 TFLOP/s and 2.039 TB/s.
  const kprof::roof_verdict faster = verdict_of(17'000'000'000, 8, 1e6);
  CHECK(faster.bound == bound_by::compute);
  CHECK(faster.roof.value == Approx(17 / 19.4918).epsilon(0.001));
  CHECK(verdict_of(8, 1'950'000'000, 1e6).bound == bound_by::memory);
  CHECK(verdict_of(20'500'000'000, 8, 1e6).bound == bound_by::impossible);
}

TEST_CASE("measured_gpus.all_of_it_comes_back_from_the_cache") {
  const own_cache cache;
  kprof::detail::cupti::driver_version = 12080;
  driver = {};
  const kprof::detail::cuda_functions f = kprof_test::functions_of_driver();
  std::string note;
  const gpu_ceilings measured = measure_and_keep(f, a100(), note);
  CHECK_THAT(note,
             Catch::Matchers::StartsWith("kprof measured what device 1, NVIDIA Scripted, "
                                         "reaches, for 0.0 s, once: later runs take it from"));
  measured_gpus later;
  CHECK(later.of(a100(), false).measured.empty());
  const gpu_ceilings& kept = later.of(a100(), true);
  CHECK(kept.measured == kprof::detail::date_of_today());
  CHECK(kprof::detail::write_gpu_ceilings(kept, "") ==
        kprof::detail::write_gpu_ceilings(measured, ""));
  CHECK(kept.arithmetic.size() == 12);
  CHECK(kept.from_device_bytes > 0);
  CHECK(kept.measured_clock_hz == 1.5e9);

  const auto is_kept = [](const device_info& d) {
    measured_gpus again;
    return !again.of(d, true).measured.empty();
  };
  CHECK(is_kept(a100()));
  device_info other = a100();
  other.uuid[0] = 'f';
  CHECK_FALSE(is_kept(other));
  other = a100();
  other.multiprocessors = 54;  // a part of the same device
  CHECK_FALSE(is_kept(other));
  other = a100();
  other.uuid.clear();
  CHECK_FALSE(is_kept(other));
  kprof::detail::cupti::driver_version = 13000;
  CHECK_FALSE(is_kept(a100()));
  kprof::detail::cupti::driver_version = 0;
  CHECK_FALSE(is_kept(a100()));
}

TEST_CASE("measured_gpus.what_cannot_be_kept_holds_for_one_run") {
  const own_cache cache;
  kprof::detail::cupti::driver_version = 12080;
  const auto note_of = [](const device_info& d) {
    const kprof::detail::cuda_functions f = kprof_test::functions_of_driver();
    std::string note;
    CHECK_FALSE(measure_and_keep(f, d, note).measured.empty());
    return note;
  };
  driver = {};
  device_info d = a100();
  d.uuid.clear();
  CHECK_THAT(note_of(d), Contains("; it is not kept: the device or its driver does not say which"));
  driver = {};
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  CHECK_THAT(note_of(a100()), Contains("; it is not kept: the folder to keep it in"));
  driver = {};
  driver.failing = 400;
  CHECK_THAT(note_of(a100()), Contains("s, in part: cu") && Contains(" failed (CUDA_ERROR_"));
}

TEST_CASE("measured_gpus.each_device_that_did_work_is_tried_once") {
  measured_gpus gpus;
  device_info idle = a100(0);
  idle.sum_ns = 0;
  CHECK_FALSE(gpus.take_untried(idle));
  CHECK(gpus.take_untried(a100(1)));
  CHECK_FALSE(gpus.take_untried(a100(1)));
  CHECK(gpus.take_untried(a100(0)));
  device_info unknown = a100(2);
  unknown.described = false;
  CHECK_FALSE(gpus.take_untried(unknown));
  CHECK(gpus.take_untried(a100(63)));
  CHECK_FALSE(gpus.take_untried(a100(64)));
  CHECK_FALSE(gpus.take_untried(a100(~0U)));
  gpus.put(a100(~0U), rates(1, 2, 3));
  CHECK(gpus.of(a100(3), false).measured.empty());
  gpus.forget();
  CHECK(gpus.take_untried(a100(1)));
}

TEST_CASE("measured_gpus.the_head_says_measured_with_the_data_sheet_beside_it") {
  kprof_test::device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 2, 5000).work(op, 1'000'000, 1'000'000, 0, dtype::f16);
  b.kernel(op, "k", 2, 1e6, 1056);
  profile p = b.done();
  p.device.devices = {a100(0)};
  p.machine.gpus = {kprof::ceilings_of(a100())};
  const auto head = [&](bool details = false) {
    kprof::report_options options;
    options.details = details;
    return kprof_test::page_of(p, options);
  };
  CHECK_THAT(head(), Contains("f16 on tensor cores 312 TFLOP/s \u00B7 2.04 TB/s\n"));
  CHECK_THAT(head(true),
             Contains("f16 on tensor cores 312 TFLOP/s \u00B7 2.04 TB/s \u00B7 rates at the\n"
                      "  device's highest clock, 1410 MHz\n"));
  put_measured_over(p.machine.gpus[0], rates(15e12, 280e12, 1.8e12), 80);
  CHECK_THAT(head(), Contains("f16 on tensor cores") && Contains("measured 2026-11-24") &&
                         Contains("1.80 TB/s (data sheet 2.04 TB/s)"));
}
