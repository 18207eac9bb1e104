// SPDX-License-Identifier: MIT

// Rules of advice about devices: each speaks where its evidence reaches the threshold, and is
// silent just below it.

#include "catch.hpp"

#include "advised.hpp"
#include "device_builder.hpp"
#include "kernel_case.hpp"
#include "machines.hpp"

#include <kprof/advice.hpp>

#include <cstdint>
#include <string>

using kprof::arithmetic_unit;
using kprof::dtype;
using kprof::profile;
using kprof_test::asked;
using kprof_test::device_builder;
using kprof_test::gain;
using kprof_test::kernel_case;
using kprof_test::not_stated;
using kprof_test::silent;
using kprof_test::ten_gflop;

namespace {

constexpr double T = 1e6;

}  // namespace

TEST_CASE("advice_device.G3_few_blocks") {
  CHECK(gain(kernel_case{.blocks = 131}.make(), "G3") == Approx(T / 132));
  CHECK(gain(kernel_case{.blocks = 40}.make(), "G3") == Approx(T * 92 / 132));
  CHECK(gain(kernel_case{.blocks = 132}.make(), "G3") == silent);
  profile p = kernel_case{.blocks = 40}.make();
  p.device.devices[0].busy_ns = 0.9 * T;  // something ran beside it
  CHECK(gain(p, "G3") == silent);
  p = kernel_case{.blocks = 40}.make();
  p.device.devices[0].described = false;
  CHECK(gain(p, "G3") == silent);
}

TEST_CASE("advice_device.G4_the_last_wave") {
  // Four blocks a multiprocessor, 528 on the device.
  CHECK(gain(kernel_case{.blocks = 529}.make(), "G4") == Approx(T * (1 - 529.0 / 528 / 2)));
  CHECK(gain(kernel_case{.blocks = 1000}.make(), "G4") == Approx(T * (1 - 1000.0 / 528 / 2)));
  CHECK(gain(kernel_case{.blocks = 528}.make(), "G4") == silent);
  CHECK(gain(kernel_case{.blocks = 527}.make(), "G4") == silent);
  CHECK(gain(kernel_case{.blocks = 528 * 4 + 1}.make(), "G4") == Approx(T * 0.2).epsilon(0.01));
  CHECK(gain(kernel_case{.blocks = 528 * 5 + 1}.make(), "G4") == silent);
  // Vectors of two waves: 1.99 of them lose little, whatever 1 / (1 + full) says.
  CHECK(gain(kernel_case{.blocks = 1051}.make(), "G4") < 0.01 * T);
  // A cooperative launch has as many blocks as fit, and waves of clusters are not known.
  profile p = kernel_case{.blocks = 529}.make();
  p.device.work[0].cooperative = true;
  CHECK(gain(p, "G4") == silent);
  p.device.work[0].cooperative = false;
  for (std::uint32_t& extent : p.device.work[0].cluster) extent = 1;
  p.device.work[0].cluster[0] = 2;
  CHECK(gain(p, "G4") == silent);
}

TEST_CASE("advice_device.G5_blocks_that_are_no_whole_warps") {
  CHECK(gain(kernel_case{.threads = 250}.make(), "G5") == Approx(T / 8 * (1 - 26.0 / 32)));
  CHECK(gain(kernel_case{.threads = 256}.make(), "G5") == silent);
}

TEST_CASE("advice_device.G6_registers") {
  CHECK(gain(kernel_case{.registers = 128}.make(), "G6") == Approx(T * 0.75));
  CHECK(gain(kernel_case{.registers = 64}.make(), "G6") == silent);  // half
  // Few warps are enough for tensor cores.
  CHECK(gain(kernel_case{.kernel = "h16816gemm", .registers = 128}.make(), "G6") == silent);
  // Near its roof it waits for nothing.
  CHECK(gain(kernel_case{.registers = 128, .flops = 5'500'000'000}.make(), "G6") == silent);
}

TEST_CASE("advice_device.G7_shared_memory") {
  CHECK(gain(kernel_case{.registers = 32, .shared = 73'728}.make(), "G7") ==
        Approx(T * (1 - 3.0 / 8)));
  CHECK(gain(kernel_case{.registers = 32, .shared = 49'152}.make(), "G7") == silent);  // half
  // Of 228 KiB the driver gave 100: two blocks of four, which is less than half of the warps.
  profile p = kernel_case{.registers = 32, .shared = 49'152}.make();
  p.device.work[0].multiprocessor_shared = 100 << 10;
  CHECK(gain(p, "G7") == Approx(T * 0.5));
  CHECK(kprof_test::text_of(asked(p, "G7")[0]) ==
        "k of Op n=1 has 102 kB of shared memory on a multiprocessor, 49.2 kB a block: 25% of the "
        "warps fit. Ask for more of it with cudaFuncAttributePreferredSharedMemoryCarveout");
}

TEST_CASE("advice_device.G8_blocks_of_one_warp") {
  CHECK(gain(kernel_case{.blocks = 9999, .threads = 32, .registers = 32}.make(), "G8") ==
        Approx(T * 0.5));
  CHECK(gain(kernel_case{.blocks = 9999, .threads = 64, .registers = 32}.make(), "G8") == silent);
}

TEST_CASE("advice_device.G9_sizes_that_are_no_multiple_of_16_bytes") {
  kernel_case gemm{.op = "Gemm", .parameters = "M=4096 N=50257 K=1024", .type = dtype::f16};
  CHECK(gain(gemm.make(), "G9") == not_stated);
  CHECK(kprof_test::text_of(asked(gemm.make(), "G9")[0]) ==
        "Gemm M=4096 N=50257 K=1024 has N=50,257, no multiple of 8 elements (16 bytes), which "
        "tensor cores want. Pad to N=50,264");
  gemm.parameters = "M=4096 N=50256 K=1024";
  CHECK(gain(gemm.make(), "G9") == silent);
  gemm.type = dtype::int8;
  gemm.parameters = "M=4096 N=50256 K=1032";  // a multiple of 16, and one of 8
  CHECK(asked(gemm.make(), "G9").size() == 1);
  gemm.type = dtype::f32;
  CHECK(gain(gemm.make(), "G9") == silent);
  const kernel_case conv{
      .op = "Conv2d", .parameters = "N=1 C=3 H=9 W=9 K=64 R=3 S=3", .type = dtype::f16};
  CHECK(asked(conv.make(), "G9").size() == 1);

  // An aligned row that is twice as fast says what padding brings.
  device_builder b;
  const auto main = b.thread("main", 1);
  for (const char* parameters : {"M=100 N=100 K=100", "M=104 N=104 K=104"}) {
    const auto node = b.op(main, "Gemm", parameters);
    const bool aligned = parameters[4] == '4';
    b.calls(node, 10, 5000).work(node, aligned ? 4'499'456 : 4'000'000, 1000, 0, dtype::f16);
    b.kernel(node, "k", 10, aligned ? 50e3 : 100e3);
  }
  const profile p = kernel_case::finished(b);
  CHECK(gain(p, "G9") == Approx(T / 2));
}

TEST_CASE("advice_device.G10_tiles_over_the_edges") {
  kernel_case gemm{.op = "Gemm",
                   .parameters = "M=257 N=256 K=64",
                   .kernel = "ampere_h16816gemm_128x128_ldg8_f2f_nn"};
  CHECK(gain(gemm.make(), "G10") == Approx(T * (1 - 0.6693)).epsilon(1e-4));
  gemm.parameters = "M=217 N=256 K=64";
  CHECK(gain(gemm.make(), "G10") == Approx(T * (1 - 217 / 256.0)));
  gemm.parameters = "M=218 N=256 K=64";
  CHECK(gain(gemm.make(), "G10") == silent);
  gemm.parameters = "M=256 N=64 K=64";  // the tile may lie the other way
  gemm.kernel = "cutlass_80_tensorop_h16816gemm_64x256_32x4_nn_align8";
  CHECK(gain(gemm.make(), "G10") == silent);
  gemm.parameters = "M=257 N=256 K=64";
  gemm.kernel = "gemm_m16x8";  // no tile
  CHECK(gain(gemm.make(), "G10") == silent);
}

TEST_CASE("advice_device.G11_few_tiles_and_long_sums") {
  kernel_case gemm{.op = "Gemm", .parameters = "M=128 N=128 K=1024", .blocks = 132};
  CHECK(gain(gemm.make(), "G11") == Approx(T * 0.75));
  gemm.parameters = "M=128 N=128 K=1023";
  CHECK(gain(gemm.make(), "G11") == silent);
  gemm.parameters = "M=128 N=128 K=1024";
  gemm.blocks = 264;
  CHECK(gain(gemm.make(), "G11") == silent);
}

TEST_CASE("advice_device.G12_products_with_few_vectors") {
  kernel_case gemm{.op = "Gemm", .parameters = "M=8 N=4096 K=4096", .type = dtype::f16};
  CHECK(gain(gemm.make(), "G12") == not_stated);
  gemm.parameters = "M=9 N=4096 K=4096";
  CHECK(gain(gemm.make(), "G12") == silent);
  gemm.parameters = "M=8 N=4096 K=4096";
  gemm.flops = 5'000'000'000;  // 50 TFLOP/s of 989
  CHECK(gain(gemm.make(), "G12") == silent);
}

TEST_CASE("advice_device.G13_no_tensor_cores") {
  kernel_case gemm{.op = "Gemm",
                   .parameters = "M=1024 N=1024 K=1024",
                   .type = dtype::f16,
                   .on = arithmetic_unit::cuda_core};
  CHECK(gain(gemm.make(), "G13") == Approx(T * (1 - 133.8 / 989.4)));
  gemm.on = arithmetic_unit::unknown;
  CHECK(gain(gemm.make(), "G13") == silent);
  gemm.on = arithmetic_unit::cuda_core;
  // 100 FLOP/B: CUDA cores bound it, and memory would bound tensor cores.
  gemm.bytes = ten_gflop / 1000;
  CHECK(gain(gemm.make(), "G13") == Approx(T * (1 - 133.8 / 3.352 / 100)));
  gemm.bytes = 1000;
  gemm.op = "Gelu", gemm.parameters = "n=1";
  CHECK(gain(gemm.make(), "G13") == silent);
}

TEST_CASE("advice_device.G14_tf32") {
  kernel_case gemm{.op = "Gemm",
                   .parameters = "M=1024 N=1024 K=1024",
                   .kernel = "ampere_sgemm_128x64_nn",
                   .flops = 2'680'000'000};
  CHECK(gain(gemm.make(), "G14") == Approx(T * (1 - 66.9 / 494.7)));
  gemm.flops = 2'670'000'000;  // below 40 % of 66.9 TFLOP/s
  CHECK(gain(gemm.make(), "G14") == silent);
  gemm.flops = 2'680'000'000;
  gemm.kernel = "ampere_s1688gemm_128x64_nn";
  CHECK(gain(gemm.make(), "G14") == silent);
  profile p = kernel_case{gemm}.make();
  p.machine.gpus.clear();
  CHECK(gain(p, "G14") == silent);
}

namespace {
/// A product in f32 beside other work.
profile with_product(double product_ns, dtype other, const char* shape = "M=1024 N=1024 K=1024") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto gemm = b.op(main, "Gemm", shape), rest = b.op(main, "Rest", "n=1");
  b.calls(gemm, 10, 5000).work(gemm, 100'000'000, 1000, 0);
  b.calls(rest, 10, 5000).work(rest, 1000, 1000, 0, other);
  b.kernel(gemm, "k", 10, product_ns);
  b.kernel(rest, "r", 10, 100e3 - product_ns);
  return kernel_case::finished(b);
}
}  // namespace

TEST_CASE("advice_device.G15_mixed_precision") {
  CHECK(gain(with_product(30e3, dtype::f32), "G15") == Approx(0.3 * T * (1 - 66.9 / 989.4)));
  CHECK(gain(with_product(29.9e3, dtype::f32), "G15") == silent);
  CHECK(gain(with_product(30e3, dtype::f16), "G15") == silent);
  // G12 speaks of products with few vectors: tensor cores read the matrix no faster.
  CHECK(gain(with_product(30e3, dtype::f32, "M=9 N=1024 K=1024"), "G15") > 0);
  for (const char* shape : {"M=8 N=1024 K=1024", "M=1024 N=1 K=1024"})
    CHECK(gain(with_product(30e3, dtype::f32, shape), "G15") == silent);
  // Products that run as tf32 already gain the rest.
  profile p = with_product(30e3, dtype::f32);
  for (std::string& kernel : p.device.kernels)
    if (kernel == "k") kernel = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tensor16x8x8";
  CHECK(gain(p, "G15") == Approx(0.3 * T * (1 - 494.7 / 989.4)));
}

TEST_CASE("advice_device.G16_f64") {
  profile p = kernel_case{.flops = 1'000'000, .type = dtype::f64}.make();
  const auto with = [&](double f64) {
    profile q = p;
    q.machine.gpus[0].arithmetic.push_back(
        kprof_test::gpu_rate(dtype::f64, arithmetic_unit::cuda_core, f64));
    return gain(q, "G16");
  };
  CHECK(with(66.9e12 / 64) == Approx(T * (1 - 2.0 / 64)));
  CHECK(with(66.9e12 / 32) == Approx(T * (1 - 2.0 / 32)));
  CHECK(with(66.9e12 / 31) == silent);
}

TEST_CASE("advice_device.G18_slow_memory") {
  kernel_case copy{.flops = 0, .bytes = 200ULL << 20};
  // 200 MiB in 100 us are 2.1 TB/s, 63 % of 3.35: near enough.
  CHECK(gain(copy.make(), "G18") == silent);
  profile p = copy.make();
  p.device.work[0].total_ns = 2e6;
  p.device.devices[0].sum_ns = p.device.devices[0].busy_ns = 2e6;
  CHECK(gain(p, "G18") == Approx(2e6 - (2000 << 20) / 3352e9 * 1e9));
  p.device.devices[0].l2_bytes = (50 << 20) + 1;  // less than four caches
  CHECK(gain(p, "G18") == silent);
}

namespace {
profile with_layout_kernel(double ns) {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Conv2d", "n=1");
  b.calls(op, 10, 5000);
  b.kernel(op, "nchwToNhwcKernel", 10, ns);
  b.kernel(op, "k", 10, 100e3 - ns);
  return kernel_case::finished(b);
}
}  // namespace

TEST_CASE("advice_device.G19_layout_kernels") {
  CHECK(gain(with_layout_kernel(5000), "G19") == Approx(50e3));
  CHECK(gain(with_layout_kernel(4990), "G19") == silent);
}

TEST_CASE("advice_device.G20_unfused_operators") {
  kernel_case norm{.op = "LayerNorm", .flops = 0, .bytes = 100'000'000};
  profile p = norm.make();
  p.device.work[0].calls = p.device.work[0].gaps = 21;
  CHECK(gain(p, "G20") == Approx(T - 1e9 / 3352e9 * 1e9));
  p.device.work[0].calls = p.device.work[0].gaps = 20;
  CHECK(gain(p, "G20") == silent);
  norm.op = "Conv2d";
  p = norm.make();
  p.device.work[0].calls = p.device.work[0].gaps = 21;
  CHECK(gain(p, "G20") == silent);
  norm.op = "LayerNorm", norm.bytes = 140'000'000;  // 42 % of the roof
  p = norm.make();
  p.device.work[0].calls = p.device.work[0].gaps = 21;
  CHECK(gain(p, "G20") == silent);
}

TEST_CASE("advice_device.S2_an_idle_device") {
  profile p = kernel_case{}.make();
  p.wall_ns = 2.001e6;
  CHECK(gain(p, "S2") == not_stated);
  p.wall_ns = 2e6;
  CHECK(gain(p, "S2") == silent);
}

TEST_CASE("advice_device.H14_kernels_in_no_operator") {
  // Nine parts of ten are in an operator or not: `loose` on the main thread, in a region, or on
  // another thread.
  const auto run = [](double loose, double in_region, double elsewhere) {
    device_builder b;
    const auto main = b.thread("main", 1), other = b.thread("autograd", 2);
    const auto op = b.op(main, "Op", "n=1"), region = b.region(main, "forward");
    b.calls(op, 1, T).calls(region, 1, T);
    b.kernel(op, "guarded", 1, (10 - loose - in_region - elsewhere) * T);
    if (loose > 0) b.kernel(main, "_Z5loosePf", 1, loose * T);
    if (in_region > 0) b.kernel(region, "inside", 1, in_region * T);
    if (elsewhere > 0) b.kernel(other, "backward", 2, elsewhere * T / 2);
    return kernel_case::finished(b);
  };
  CHECK(gain(run(1.9, 0, 0), "H14") == silent);
  CHECK(gain(run(1, 1, 0), "H14") == not_stated);
  CHECK(kprof_test::text_of(asked(run(2, 0, 0), "H14")[0]) ==
        "Thread main 1 launches 20% of the device time, 2.00 ms, outside all scopes. Guard these "
        "launches in that thread, or put them under the scopes that they are for: "
        "kprof::context::current() where these are open, kprof::context_guard in that thread");
  CHECK(kprof_test::text_of(asked(run(1, 2, 0), "H14")[0]) ==
        "The program launches 30% of the device time, 3.00 ms, in no operator. Guard the calls "
        "that launch it with KPROF_OP; the largest kernel is inside, 2.00 ms");
  CHECK(kprof_test::text_of(asked(run(1, 2, 3), "H14")[0])
            .find("Thread autograd 2 launches 30% of the device time, 3.00 ms, outside") == 0);
  CHECK(kprof_test::text_of(asked(run(1, 2, 2.9), "H14")[0]).find("The program launches 59%") == 0);
  // Copies are seldom guarded, and one thread is all of the program.
  profile p = run(0, 0, 3);
  p.device.work[1].task = kprof::device_task::copy;
  CHECK(gain(p, "H14") == silent);
  p = run(0, 0, 3);
  p.threads[1].merged = 38;
  CHECK(kprof_test::text_of(asked(p, "H14")[0]).find("The program launches 30%") == 0);
  p = run(3, 0, 0);
  p.threads.resize(1);
  CHECK(kprof_test::text_of(asked(p, "H14")[0]).find("The program launches 30%") == 0);
  p.device.complete.foreign_graphs = 1;
  CHECK(gain(p, "H14") == silent);
}

TEST_CASE("advice_device.records_that_were_dropped_silence_what_needs_them") {
  profile p = kernel_case{.blocks = 40}.make();
  CHECK(gain(p, "G3") > 0);
  p.device.complete.dropped = 1;
  CHECK(gain(p, "G3") == silent);
  p.device.complete.dropped = 0;
  p.complete.dropped = 1;
  CHECK(gain(p, "G3") == silent);
}

TEST_CASE("advice_device.a_row_above_every_roof_gets_no_advice") {
  kernel_case fast{.blocks = 40, .flops = 100 * ten_gflop};
  CHECK(kprof::advise(fast.make(), {"all", "-S2"}).empty());
  fast.flops = 1;
  CHECK(kprof::advise(fast.make(), {"all", "-S2"}).size() == 1);
}
