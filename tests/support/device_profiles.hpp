// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_DEVICE_PROFILES_HPP
#define KPROF_TESTS_DEVICE_PROFILES_HPP

// Profiles with work on a device, made by hand with fixed values, and random ones.

#include "device_builder.hpp"
#include "sample_profile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kprof_test {

inline constexpr const char* gemm_128 =
    "_ZN7cutlass7Kernel2I68cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_"
    "align8EEvNT_6ParamsE";
inline constexpr const char* gemm_64 =
    "_ZN7cutlass7Kernel2I67cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x3_tn_"
    "align8EEvNT_6ParamsE";
inline constexpr const char* gemm_nvjet = "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN";
inline constexpr const char* softmax =
    "_ZN5model12softmax_rowsI13__nv_bfloat16fLi1024EEEvPT_PKS2_i";
inline constexpr const char* reduce = "_ZN5model11reduce_rowsIfEEvPT_PKS1_i";
inline constexpr const char* layer_norm =
    "_ZN5model10layer_normILi4E13__nv_bfloat16EEvPT0_PKS2_S5_S5_fi";
inline constexpr const char* flash =
    "_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_"
    "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_"
    "traitsILi64ELi128ELi128ELi4E"
    "S3_EELb0ELb1ELb0ELb0EEEv16Flash_fwd_params";
inline constexpr const char* gelu =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
    "15GeluCUDAFunctorIN3c108BFloat16EEESt5arrayIPcLm2EEEEviT0_T1_";
inline constexpr const char* adam = "adam_step";

/// One forward layer of a transformer in `region`, run `calls` times.
inline void add_layer(device_builder& b, std::uint32_t region, std::uint64_t calls) {
  const auto op = [&](const char* name, const char* parameters, double host_ns, std::uint64_t flops,
                      std::uint64_t read, std::uint64_t written, std::uint32_t line) {
    const auto node = b.op(region, name, parameters);
    b.calls(node, calls, host_ns)
        .work(node, flops, read, written, kprof::dtype::bf16)
        .site(node, "src/model/layer.cpp", line);
    return node;
  };
  const auto norm = op("LayerNorm", "rows=4096 columns=1024 type=bf16", 7.2e3, 33'554'432,
                       8'392'704, 8'388'608, 21);
  b.kernel(norm, layer_norm, calls, 9.8e3, 4096, 256).dynamic_shared = 2048;
  const auto qkv = op("Gemm", "M=4096 N=3072 K=1024 pass=fprop type=bf16", 9.1e3, 25'769'803'776,
                      14'680'064, 25'165'824, 30);
  b.kernel(qkv, gemm_nvjet, calls, 41.5e3, 132, 384).dynamic_shared = 199'168;
  b.p.nodes[qkv].work.on = kprof::arithmetic_unit::tensor_core;
  const auto attention = op("Attention", "batch=8 heads=16 length=512 dim=64 type=bf16", 14.6e3,
                            8'589'934'592, 25'165'824, 8'388'608, 38);
  b.kernel(attention, flash, calls, 47.3e3, 512, 128).dynamic_shared = 81'920;
  const auto soft = op("Softmax", "rows=65536 columns=512 type=bf16", 11.0e3, 167'772'160,
                       67'108'864, 67'108'864, 44);
  b.kernel(soft, softmax, calls, 52.0e3, 65'536, 128);
  b.kernel(soft, reduce, calls, 6.1e3, 128, 256);
  const auto up = op("Gemm", "M=4096 N=4096 K=1024 pass=fprop type=bf16", 9.0e3, 34'359'738'368,
                     16'777'216, 33'554'432, 52);
  b.kernel(up, gemm_128, calls, 61.2e3, 512, 256).dynamic_shared = 98'304;
  b.p.nodes[up].work.on = kprof::arithmetic_unit::tensor_core;
  const auto act = op("Gelu", "n=16777216 type=bf16", 6.4e3, 0, 33'554'432, 33'554'432, 57);
  b.kernel(act, gelu, calls, 24.9e3, 32'768, 128);
  b.p.nodes[act].work.has_flops = false;
  const auto down = op("Gemm", "M=4096 N=1024 K=4096 pass=fprop type=bf16", 9.3e3, 34'359'738'368,
                       41'943'040, 8'388'608, 60);
  b.kernel(down, gemm_64, calls, 66.0e3, 256, 128).dynamic_shared = 73'728;
  b.p.nodes[down].work.on = kprof::arithmetic_unit::tensor_core;
}

/// A transformer with 12 layers: 100 steps, an optimizer captured into a graph, and a loader.
inline kprof::profile transformer_profile() {
  device_builder b;
  const auto main = b.thread("train", 4711), loader = b.thread("loader", 4712);
  const auto step = b.region(main, "step"), forward = b.region(step, "forward");
  b.calls(step, 100, 12.1e6).calls(forward, 100, 1.4e6);
  for (int i = 0; i < 12; ++i) {
    const auto layer = b.region(forward, "layer " + std::to_string(i));
    b.calls(layer, 100, 94e3);
    add_layer(b, layer, 100);
  }
  const auto loss = b.region(step, "loss");
  b.calls(loss, 100, 9.6e6);
  b.kernel(loss, "_Z9fill_zeroPfm", 200, 3.0e3, 32, 512);
  b.copy(loss, kprof::copy_direction::device_to_host, 100, 2.1e3, 4);

  const auto capture = b.region(main, "capture"),
             captured = b.op(capture, "Adam", "n=124439808 type=f32");
  b.calls(capture, 1, 81e3)
      .calls(captured, 1, 22e3)
      .work(captured, 1'866'597'120, 1'991'036'928, 1'493'277'696)
      .site(captured, "src/adam.cu", 88);
  b.p.nodes[captured].captured = 1;
  b.p.nodes[captured].work.on = kprof::arithmetic_unit::cuda_core;
  const auto update = b.region(step, "update"), graph = b.graph(update, 100);
  b.calls(update, 100, 31e3);
  const auto replayed = b.op(graph, "Adam", "n=124439808 type=f32");
  b.work(replayed, 1'866'597'120, 1'991'036'928, 1'493'277'696).site(replayed, "src/adam.cu", 88);
  b.p.nodes[replayed].replays = 100;
  b.p.nodes[replayed].work.on = kprof::arithmetic_unit::cuda_core;
  b.kernel(replayed, adam, 100, 1.29e6, 1056, 256).registers = 40;
  b.set(graph, 100, 2.4e3, 4096);

  const auto load = b.region(loader, "load batch"),
             decode = b.op(load, "Decode", "batch=8 codec=jpeg");
  b.calls(load, 100, 8.1e6)
      .calls(decode, 800, 9.4e5)
      .work(decode, 0, 180'000, 150'528)
      .site(decode, "src/data.cpp", 301);
  b.p.nodes[decode].work.has_flops = false;
  auto& upload = b.copy(load, kprof::copy_direction::host_to_device, 100, 61e3, 1'204'224);
  upload.stream = 13;
  b.kernel(kprof::scope_node::none, "_ZN4nccl9AllReduceI13__nv_bfloat16EEvPT_m", 3, 20e3, 24, 512);
  kprof::profile p = b.done();
  add_surroundings(p);
  add_device(p);
  p.device.devices[0].busy_ns *= 0.93;
  return p;
}

/// A run on a device in which everything that can go wrong did.
inline kprof::profile troubled_device_profile() {
  device_builder b;
  const auto main = b.thread("a.out", 100);
  const auto step = b.region(main, "step");
  b.calls(step, 9, 2.0e6);
  const auto late = b.op(step, "Gemm", "M=64 N=64 K=64 type=f16");
  b.calls(late, 400, 9.5e3).work(late, 524'288, 16'384, 8'192, kprof::dtype::f16);
  b.kernel(late, "gemm_f16", 400, 11e3).untimed = 12;
  const auto idle = b.op(step, "Barrier", "id=7");
  b.calls(idle, 12, 4e3).work(idle, 10, 0, 0);
  const auto lost = b.op(step, "Scan", "n=4096");
  b.calls(lost, 20, 5e3).work(lost, 4096, 16'384, 16'384);
  auto& merged = b.kernel(lost, "", 40, 2e3);
  merged.merged = true;
  merged.kernel = kprof::device_work::none;
  const auto never = b.op(step, "Warmup", "n=1");
  b.calls(never, 1, 5e3).work(never, 4096, 16'384, 16'384);
  b.p.nodes[never].captured = 1;
  const auto graph = b.graph(step, 9),
             foreign = b.graph(graph, 9, "(graph captured before recording)");
  b.kernel(foreign, "_Z7old_oneIiEvPT_", 18, 1e3);
  auto& old_copy = b.copy(foreign, kprof::copy_direction::device_to_device, 9, 1e3, 1 << 20);
  old_copy.merged = true;
  const auto only = b.op(graph, "Replayed", "n=2");
  b.work(only, 100, 8, 8);
  b.p.nodes[only].replays = 9;
  b.kernel(only, "replayed", 9, 3e3);
  b.kernel(kprof::scope_node::none, "_ZN5whose6kernelEv", 5, 4e3);
  b.set(main, 3, 0, 64).untimed = 3;
  kprof::profile p = b.done();
  add_surroundings(p);
  add_device(p);
  p.device.state = "CUPTI 12.4 (API 120400)";
  p.device.devices[0].busy_ns *= 0.5;
  p.device.devices[0].busy_is_exact = false;
  p.device.devices.emplace_back().id = 1;
  p.device.devices.back().busy_ns = p.device.devices.back().sum_ns = 1e3;
  kprof::device_completeness& c = p.device.complete;
  c.open = 4;
  c.launches += 1;
  c.dropped = 1'024;
  c.untimed = 15;
  c.unknown = 5;
  c.launches_lost = 6;
  c.ignored = 77;
  c.odd = 2;
  c.merged = 49;
  c.foreign_graphs = 27;
  c.synchronizations = 0;
  return p;
}

/// random_profile() with graphs and replays in it, and with work on devices in and outside of its
/// scopes.
inline kprof::profile random_device_profile(unsigned seed) {
  std::mt19937 random(seed + 1'000'000);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::vector<std::string> names = hostile_names();
  profile_builder b;
  b.p = random_profile(seed);
  kprof::profile& p = b.p;
  for (kprof::scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::op && below(4) == 0)
      n.captured = n.calls > 0 ? below(static_cast<std::size_t>(n.calls % 1000) + 1) : 0;
  for (std::size_t i = below(20); i > 0; --i) {
    kprof::scope_node n;
    n.parent = static_cast<std::uint32_t>(below(p.nodes.size()));
    n.thread = p.nodes[n.parent].thread;
    const kprof::scope_kind kinds[] = {kprof::scope_kind::graph, kprof::scope_kind::op,
                                       kprof::scope_kind::op, kprof::scope_kind::region};
    n.kind = kinds[below(4)];
    n.name = n.kind == kprof::scope_kind::graph ? "graph" : names[below(names.size())];
    if (n.kind == kprof::scope_kind::op) b.set_parameters(n, names[below(names.size())]);
    n.replays = below(3) > 0 ? below(1'000'000) : 0;
    n.work = {.has_flops = below(4) > 0,
              .has_bytes = below(4) > 0,
              .flops = below(1'000'000'000),
              .bytes_read = below(1'000'000),
              .bytes_written = below(1'000)};
    p.nodes.push_back(n);
  }
  for (std::size_t i = below(8); i > 0; --i)
    p.device.kernels.push_back(below(3) == 0 ? names[below(names.size())]
                                             : "_Z" + std::to_string(i % 3 + 1) + "kernelPf");
  for (std::size_t i = below(80); i > 0; --i) {
    kprof::device_work w;
    w.scope = below(9) == 0 ? kprof::device_work::none
                            : static_cast<std::uint32_t>(below(p.nodes.size() + 1));
    w.task = static_cast<kprof::device_task>(below(3));
    w.merged = below(9) == 0;
    w.kernel = w.merged || w.task != kprof::device_task::kernel
                   ? kprof::device_work::none
                   : static_cast<std::uint32_t>(below(9));
    w.device = static_cast<std::uint32_t>(below(3));
    w.stream = static_cast<std::uint32_t>(below(30));
    for (std::uint32_t* extent : {w.grid, w.block})
      for (int k = 0; k < 3; ++k)
        extent[k] = static_cast<std::uint32_t>(below(3) == 0 ? random() : below(5));
    w.registers = static_cast<std::uint32_t>(below(256));
    w.dynamic_shared = static_cast<std::uint32_t>(below(4) == 0 ? random() : 0);
    w.direction = static_cast<kprof::copy_direction>(below(6));
    w.from = static_cast<kprof::memory_place>(below(6));
    w.to = static_cast<kprof::memory_place>(below(6));
    w.calls = below(5) == 0 ? 1 : below(1'000'000);
    w.untimed = below(6) == 0 ? below(static_cast<std::size_t>(w.calls) + 1) : 0;
    w.min_ns = static_cast<double>(below(100'000));
    w.max_ns = w.min_ns + static_cast<double>(below(100'000));
    w.total_ns = (w.min_ns + w.max_ns) / 2 * static_cast<double>(w.calls - w.untimed);
    w.gaps = below(static_cast<std::size_t>(w.calls) + 1);
    w.gap_ns = static_cast<double>(w.gaps) * static_cast<double>(below(100'000));
    w.bytes = w.calls * below(1'000'000);
    p.device.work.push_back(w);
  }
  add_device(p);
  p.device.collecting = below(2) == 0;
  p.device.state = names[below(names.size())];
  p.device.devices[0].name = names[below(names.size())];
  p.device.devices.resize(1 + below(2));
  if (below(2) == 0) {
    kprof::device_completeness& c = p.device.complete;
    for (std::uint64_t* n :
         {&c.launches, &c.attributed, &c.outside, &c.open, &c.unknown, &c.records, &c.dropped,
          &c.untimed, &c.ignored, &c.odd, &c.merged, &c.foreign_graphs, &c.synchronizations})
      *n = below(3) == 0 ? 0 : random() * below(1'000'000'000);
  }
  return p;
}

}  // namespace kprof_test

#endif
