// SPDX-License-Identifier: MIT

// Rows held against the roof of their machine: the least time of their work and what bounds them.

#include "catch.hpp"

#include "device_builder.hpp"
#include "find.hpp"
#include "machines.hpp"
#include "random_reports.hpp"
#include "rows.hpp"

#include <kprof/tables.hpp>

#include <cstdint>
#include <string>
#include <vector>

using kprof::absence;
using kprof::bound_by;
using kprof::dtype;
using kprof::operator_row;
using kprof::profile;
using kprof::roof_verdict;
using kprof_test::device_builder;
using kprof_test::only_row;
using kprof_test::profile_builder;

namespace {

/// One operator on a machine of two CPUs.
struct host_call {
  std::uint64_t flops = 0, read = 0, written = 0;
  double ns = 0;
  dtype type = dtype::f32;
};
roof_verdict on_host(const host_call& call) {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 3, call.ns).work(op, call.flops, call.read, call.written, call.type);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  return only_row(p).verdict;
}

struct device_call {
  dtype type = dtype::f16;
  std::uint64_t flops = 0, bytes = 0;
  double ns = 0;
  std::uint32_t blocks = 1056;
  const char* kernel = "k";
  kprof::arithmetic_unit on = kprof::arithmetic_unit::tensor_core;
};
profile on_h100(const device_call& call) {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 2, 5000).work(op, call.flops, call.bytes, 0, call.type);
  b.p.nodes[op].work.on = call.on;
  b.kernel(op, call.kernel, 2, call.ns, call.blocks);
  profile p = b.done();
  kprof_test::add_device(p);
  p.device.devices[0].l2_bytes = 50 << 20;
  p.machine.gpus = {kprof_test::h100()};
  return p;
}
roof_verdict verdict_on_h100(const device_call& call) { return only_row(on_h100(call)).verdict; }

}  // namespace

TEST_CASE("roofline.a_device_s_rows_are_held_against_its_rates") {
  // 8192^3 in f16: 1.1 TFLOP and 403 MB.
  const roof_verdict gemm =
      verdict_on_h100({dtype::f16, 2ULL * 8192 * 8192 * 8192, 3ULL * 8192 * 8192 * 2, 1.6e6});
  CHECK(gemm.roof.value == Approx(0.69456).epsilon(1e-4));
  CHECK(gemm.bound == bound_by::compute);
  CHECK(gemm.ideal_ns.value == Approx(2 * 1.6e6 / 1.4398).epsilon(1e-4));
  CHECK(gemm.lost_ns.value == Approx(2 * 1.6e6 * (1 - 1 / 1.4398)).epsilon(1e-3));

  const roof_verdict saxpy = verdict_on_h100(
      {dtype::f32, 1U << 24U, 3ULL << 26U, 70e3, 1056, "k", kprof::arithmetic_unit::cuda_core});
  CHECK(saxpy.roof.value == Approx(0.8580).epsilon(1e-3));
  CHECK(saxpy.bound == bound_by::memory);

  const roof_verdict small =
      verdict_on_h100({dtype::f16, 2ULL * 512 * 512 * 512, 3ULL * 512 * 512 * 2, 9e3, 16});
  CHECK(1 / small.roof.value == Approx(19.18).epsilon(1e-3));
  CHECK(small.bound == bound_by::small_grid);

  const roof_verdict cached = verdict_on_h100(
      {dtype::f32, 1U << 20U, 3ULL << 22U, 2.4e3, 1056, "k", kprof::arithmetic_unit::cuda_core});
  CHECK(cached.bound == bound_by::cache);
  CHECK(cached.roof.value == Approx((3 << 22) / 12e12 / 2.4e-6));

  // The same rate with more bytes than the cache holds is above every roof.
  const roof_verdict gelu = verdict_on_h100(
      {dtype::f32, 1U << 20U, 3ULL << 27U, 60e3, 1056, "k", kprof::arithmetic_unit::cuda_core});
  CHECK(gelu.bound == bound_by::impossible);
  CHECK(gelu.roof.value > 1.02);
  CHECK(gelu.lost_ns.why == absence::impossible);
}

TEST_CASE("roofline.a_short_kernel_is_bound_by_its_launch") {
  CHECK(verdict_on_h100({dtype::f16, 1000, 1000, 3e3}).bound == bound_by::launch);
  CHECK(verdict_on_h100({dtype::f16, 1000, 1000, 30e3}).bound == bound_by::latency);
}

TEST_CASE("roofline.f32_may_be_computed_as_tf32") {
  const auto unknown = kprof::arithmetic_unit::unknown;
  const std::uint64_t flops = 2ULL * 4096 * 4096 * 4096;
  // 50 TFLOP/s: CUDA cores can do that. 400: tensor cores alone. 600: nothing can.
  CHECK(verdict_on_h100({dtype::f32, flops, 1, 137.4e9 / 50e12 * 1e9, 1056, "k", unknown})
            .roof.value == Approx(50 / 66.9).epsilon(1e-3));
  CHECK(verdict_on_h100({dtype::f32, flops, 1, 137.4e9 / 400e12 * 1e9, 1056, "k", unknown})
            .roof.value == Approx(400 / 494.7).epsilon(1e-3));
  CHECK(verdict_on_h100({dtype::f32, flops, 1, 137.4e9 / 600e12 * 1e9, 1056, "k", unknown}).bound ==
        bound_by::impossible);
  // The kernel's name says so.
  CHECK(verdict_on_h100({dtype::f32, flops, 1, 137.4e9 / 50e12 * 1e9, 1056,
                         "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_tensor16x8x8",
                         unknown})
            .roof.value == Approx(50 / 494.7).epsilon(1e-3));
}

TEST_CASE("roofline.a_device_without_ceilings_has_no_roof") {
  profile p = on_h100({dtype::f16, 1U << 30U, 1U << 20U, 1e6});
  p.machine.gpus = {kprof::gpu_ceilings{}};
  CHECK(only_row(p).verdict.roof.why == absence::no_ceiling);
  CHECK(only_row(p).verdict.bound == bound_by::unknown);
  p.machine.gpus = {};
  CHECK(only_row(p).verdict.roof.why == absence::no_ceiling);
  // A type that the table does not have, never the rate of another.
  p.machine.gpus = {kprof_test::h100()};
  p.nodes[1].work.type = dtype::fp4_e2m1;
  CHECK(only_row(p).verdict.roof.why == absence::no_ceiling);
  p.nodes[1].work.type = dtype::unknown;
  CHECK(only_row(p).verdict.roof.why == absence::no_type);
}

TEST_CASE("roofline.missing_records_leave_no_verdict") {
  profile p = on_h100({dtype::f16, 1U << 30U, 1U << 20U, 1e6});
  p.nodes[1].unrecorded = 1;
  CHECK(only_row(p).verdict.roof.why == absence::not_all_records);
  CHECK(only_row(p).verdict.bound == bound_by::unknown);
}

TEST_CASE("roofline.the_host_s_rows_are_held_against_one_thread") {
  // 1 GFLOP over 100 MB of memory: 10 ms of arithmetic, 5 ms of memory.
  const roof_verdict compute = on_host({1'000'000'000, 100'000'000, 0, 12e6});
  CHECK(compute.roof.value == Approx(10. / 12));
  CHECK(compute.ideal_ns.value == Approx(30e6));
  CHECK(compute.lost_ns.value == Approx(6e6));
  CHECK(compute.bound == bound_by::compute);
  // Of a double half as many a second.
  CHECK(on_host({1'000'000'000, 100'000'000, 0, 25e6, dtype::f64}).roof.value == Approx(0.8));
  CHECK(on_host({1'000'000, 100'000'000, 100'000'000, 11e6}).bound == bound_by::memory);
  CHECK(on_host({1'000'000, 100'000'000, 100'000'000, 11e6}).roof.value == Approx(10. / 11));
  CHECK(on_host({1'000'000'000, 100'000'000, 0, 50e6}).bound == bound_by::latency);
  // Between far and near, apart and not.
  CHECK(on_host({1'000'000'000, 100'000'000, 0, 14e6}).bound == bound_by::compute);
  CHECK(on_host({1'000'000'000, 195'000'000, 0, 14e6}).bound == bound_by::balanced);
}

TEST_CASE("roofline.numbers_of_16_bits_may_be_computed_as_f32") {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 1, 20e6).work(op, 1'000'000'000, 0, 0, dtype::bf16);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(only_row(p).verdict.roof.why == absence::no_ceiling);
  p.machine.cpu.arithmetic.push_back({dtype::bf16, "BF16", {40e9, 80e9, false}});
  CHECK(only_row(p).verdict.roof.value == Approx(0.5));  // of 100 GFLOP/s in f32
  p.machine.cpu.arithmetic.back().operations = {200e9, 400e9, false};
  CHECK(only_row(p).verdict.roof.value == Approx(0.25));
}

TEST_CASE("roofline.data_that_stay_in_a_cache_are_held_against_it") {
  // 16 MB in 400 us: 40 GB/s, twice what memory gives, from a cache of 100 GB/s.
  const roof_verdict cached = on_host({1000, 8'000'000, 8'000'000, 400e3});
  CHECK(cached.bound == bound_by::cache);
  CHECK(cached.roof.value == Approx(0.4));
  // CPUs that share a cache have it once: 40 MB do not fit, however many threads work.
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 1, 1e6).work(op, 1000, 40'000'000, 0);
  profile p = b.done();
  p.nodes[op].work.threads = 2;
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(only_row(p).verdict.bound == bound_by::cache);  // one for each CPU
  p.machine.cpu.memory[2].sharers = 2;
  CHECK(only_row(p).verdict.bound == bound_by::impossible);
  // 16 KiB at 300 GB/s: from the first cache.
  CHECK(on_host({1000, 16384, 0, 16384 / 300.}).roof.value == Approx(0.75));
}

TEST_CASE("roofline.a_share_of_a_ceiling_that_may_be_higher_is_at_most_that") {
  const auto verdict = [](const host_call& call, bool f32, bool dram) {
    profile_builder b;
    const auto op = b.op(b.thread("main", 1), "Op", "n=1");
    b.calls(op, 3, call.ns).work(op, call.flops, call.read, 0, call.type);
    profile p = b.done();
    p.machine.cpu = kprof_test::two_cpus();
    p.machine.cpu.arithmetic[1].operations.is_lower_bound = f32;
    p.machine.cpu.memory.back().read.is_lower_bound = dram;
    return only_row(p).verdict;
  };
  // 10 ms of arithmetic, 5 ms of memory: memory's ceiling does not matter.
  const host_call compute{1'000'000'000, 100'000'000, 0, 14e6};
  CHECK(!verdict(compute, false, true).roof.at_most);
  CHECK(verdict(compute, false, true).bound == bound_by::compute);
  CHECK(verdict(compute, true, false).roof.at_most);
  CHECK(verdict(compute, true, false).roof.value == Approx(10. / 14));
  CHECK(verdict(compute, true, false).bound == bound_by::unknown);
  // 10 ms of memory, 1 of arithmetic.
  const host_call memory{100'000'000, 200'000'000, 0, 14e6};
  CHECK(verdict(memory, false, true).roof.at_most);
  CHECK(verdict(memory, false, true).roof.value == Approx(10. / 14));
  CHECK(!verdict(memory, true, false).roof.at_most);
  // Above a ceiling that may be higher: the whole of it at most, and nothing impossible.
  const host_call fast{100'000'000, 200'000'000, 0, 5e6};
  CHECK(verdict(fast, false, false).bound == bound_by::impossible);
  CHECK(verdict(fast, false, true).roof.value == Approx(1));
  CHECK(verdict(fast, false, true).roof.at_most);
  CHECK(verdict(fast, false, true).lost_ns.value == Approx(0));
  // Far below it the true ceiling says the same.
  const host_call slow{100'000'000, 200'000'000, 0, 50e6};
  CHECK(verdict(slow, false, true).bound == bound_by::latency);
  CHECK(verdict(slow, false, true).roof.at_most);
}

TEST_CASE("roofline.a_few_slow_calls_do_not_take_the_data_out_of_the_cache") {
  // 2 MB in 40 us, 50 GB/s, faster than memory's 20; one of ten calls took 2 ms.
  const auto verdict = [](std::uint64_t fast_calls, std::uint64_t slow_calls, std::uint64_t bytes) {
    profile_builder b;
    const auto op = b.op(b.thread("main", 1), "Op", "n=1");
    b.calls(op, fast_calls, 40e3).calls(op, slow_calls, 2e6).work(op, 1, bytes, 0);
    profile p = b.done();
    p.machine.cpu = kprof_test::two_cpus();
    return only_row(p).verdict;
  };
  // 20 us each from a cache of 100 GB/s.
  CHECK(verdict(9, 1, 2'000'000).roof.value == Approx(10 * 20e3 / (9 * 40e3 + 2e6)));
  CHECK(verdict(9, 1, 2'000'000).bound == bound_by::latency);
  // Most calls are slow: nothing says that the data come from a cache.
  CHECK(verdict(1, 9, 2'000'000).roof.value == Approx(10 * 100e3 / (40e3 + 9 * 2e6)));
}

TEST_CASE("roofline.what_is_not_known_has_its_reason") {
  CHECK(on_host({0, 0, 0, 1000}).roof.value == 0);  // nothing to do
  CHECK(on_host({1000, 10, 0, 1000, dtype::unknown}).roof.why == absence::no_type);
  // Whatever the type, the bytes take longer.
  CHECK(on_host({1000, 1'000'000, 0, 100e3, dtype::unknown}).roof.value == Approx(0.5));
  CHECK(on_host({1000, 1ULL << 40U, 0, 1e9, dtype::unknown}).bound == bound_by::impossible);
  CHECK(on_host({1000, 1000, 0, 1000, dtype::f16}).roof.why == absence::no_ceiling);
  CHECK(on_host({1000, 1000, 0, 0}).roof.why == absence::no_time);

  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 1, 10e6);
  profile p = b.done();
  CHECK(only_row(p).verdict.roof.why == absence::no_flops);
  // Above a ceiling that was disturbed when it was measured: nothing is impossible.
  p.nodes[op].work = {.has_flops = true, .flops = 10'000'000'000, .type = dtype::f32};
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(only_row(p).verdict.bound == bound_by::impossible);
  p.machine.cpu.arithmetic[1].operations.is_lower_bound = true;
  CHECK(only_row(p).verdict.roof.value == Approx(1));
  CHECK(only_row(p).verdict.roof.at_most);
  CHECK(only_row(p).verdict.bound == bound_by::unknown);
  p.nodes[op].work = {};
  p.machine = {};
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(only_row(p).verdict.roof.why == absence::no_flops);
  p.nodes[op].work.has_bytes = true;
  p.nodes[op].work.bytes_read = 150'000'000;
  CHECK(only_row(p).verdict.roof.value == Approx(0.75));  // bytes alone say something too
  p.nodes[op].work.valid = false;
  CHECK(only_row(p).verdict.roof.why == absence::invalid);
  p.nodes[op].work.valid = true;
  p.nodes[op].merged = true;
  CHECK(only_row(p).verdict.roof.why == absence::merged);
  // A cache that holds the data, and whose rate nobody measured.
  p.nodes[op].merged = false;
  p.nodes[op].work.bytes_read = 1'000'000;
  p.nodes[op].total_ns = 1000;
  for (kprof::memory_ceiling& m : p.machine.cpu.memory)
    if (m.bytes > 0) m.read = m.triad = {};
  CHECK(only_row(p).verdict.roof.why == absence::no_ceiling);
}

TEST_CASE("roofline.a_row_of_several_operators_has_the_sum_of_their_least_times") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto compute = b.op(main, "Gemm", "n=1"), memory = b.op(main, "Copy", "n=1"),
             silent = b.op(main, "Silent");
  b.calls(compute, 1, 20e6).work(compute, 1'000'000'000, 0, 0);
  b.calls(memory, 1, 10e6).work(memory, 0, 100'000'000, 0);
  b.calls(silent, 1, 10e6);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const operator_row all = kprof::operator_total(p);
  CHECK(all.verdict.ideal_ns.value == Approx(15e6));
  CHECK(all.verdict.roof.value == Approx(15. / 40));
  // Of most of the time nothing is known.
  p.nodes[silent].total_ns = 31e6;
  CHECK(!kprof::operator_total(p).verdict.roof.known());
}

TEST_CASE("roofline.kernels_have_verdicts_and_occupancy") {
  profile p = on_h100({dtype::f16, 2ULL * 8192 * 8192 * 8192, 3ULL * 8192 * 8192 * 2, 1.6e6});
  std::vector<kprof::kernel_row> rows = kprof::kernel_table(p);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].verdict.roof.value == Approx(0.69456).epsilon(1e-4));
  CHECK(rows[0].verdict.bound == bound_by::compute);
  // 256 threads of 64 registers: four blocks a multiprocessor, by their registers.
  CHECK(rows[0].occupancy.unknown == nullptr);
  CHECK(rows[0].occupancy.share == Approx(0.5));
  CHECK(rows[0].occupancy.limited_by_registers);
  CHECK(rows[0].occupancy.waves == Approx(1056. / (132 * 4)));
  // The kernels of a call share what its formulas say.
  p.device.work.push_back(p.device.work[0]);
  p.device.kernels.push_back("other");
  p.device.work.back().kernel = 1;
  rows = kprof::kernel_table(p);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].verdict.roof.why == absence::several_kernels);
  CHECK(rows[0].verdict.bound == bound_by::unknown);
  CHECK(rows[0].occupancy.share == Approx(0.5));
  // Of several configurations none is the kernel's.
  p.device.work[1].kernel = 0;
  p.device.work[1].grid[0] = 7;
  rows = kprof::kernel_table(p, kprof::grouping::op);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].occupancy.unknown != nullptr);
}
