// SPDX-License-Identifier: MIT

// PyTorch's RECORD_FUNCTION with eight inputs while its profiler is on. On one thread: the profiler
// belongs to the thread that starts it.

#include "bench.hpp"

#if KPROF_BENCH_TORCH
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/version.h>

#include <array>

namespace {

void record_function(std::int64_t scopes, const bench::shape& values) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    const std::array<c10::IValue, 8> inputs{i % bench::layers, values.c, values.h, values.w,
                                            values.k,          values.r, values.s, values.stride};
    RECORD_FUNCTION("conv", c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()));
    bench::work();
  }
}

const torch::profiler::impl::ProfilerConfig& config() {
  static const torch::profiler::impl::ProfilerConfig c{torch::profiler::impl::ProfilerState::KINETO,
                                                       true};
  return c;
}

void profiler_on() {
  const std::set<torch::profiler::impl::ActivityType> host{
      torch::profiler::impl::ActivityType::CPU};
  torch::autograd::profiler::prepareProfiler(config(), host);
  torch::autograd::profiler::enableProfiler(config(), host);
}
void profiler_off() { torch::autograd::profiler::disableProfiler(); }

}  // namespace

void bench::add_peers_torch() {
  benchmark::AddCustomContext("torch", TORCH_VERSION);
  add({.name = "torch_idle", .run = record_function, .max_threads = 1});
  add({.name = "torch",
       .run = record_function,
       .max_threads = 1,
       .before = profiler_on,
       .after = profiler_off});
}

#else

void bench::add_peers_torch() {}

#endif
