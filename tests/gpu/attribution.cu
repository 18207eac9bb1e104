// SPDX-License-Identifier: MIT
//
// Every kernel, copy and memset belongs to the operator that launched it: known numbers of each, in
// plain and nested operators, on threads and streams, by every way to launch, and outside of all
// operators.

#include "attribution_ways.cuh"
#include "kernels.cuh"

#include <algorithm>
#include <thread>

namespace {

struct Outer {
  std::int64_t depth = 0;
};
struct Idle {};
struct Work {
  std::int64_t thread = 0, stream = 0;
};
struct Move {
  std::int64_t id = 0;
};

void plain() {
  device_array<float> x(4096);
  for (int i = 0; i < 100; ++i) touch(1, x.data());
  for (int i = 0; i < 40; ++i) touch(2, x.data());
  for (int i = 0; i < 50; ++i) {
    KPROF_OP(Touch, {.id = 3});
    launch_touch(x.data(), 256);
    launch_touch(x.data(), 4096);
  }
  for (int i = 0; i < 10; ++i) { KPROF_OP(Idle); }
  for (int i = 0; i < 5; ++i) {
    KPROF_REGION("region");
    launch_touch(x.data(), 256);
    touch(4, x.data());
  }
  for (int i = 0; i < 7; ++i) launch_touch(x.data(), 256);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels in Touch id=1", directly_in(p, "Touch id=1").kernels, 100U);
  CHECK_EQUAL("kernels in Touch id=2", directly_in(p, "Touch id=2").kernels, 40U);
  CHECK_EQUAL("kernels in Touch id=3, two a call", directly_in(p, "Touch id=3").kernels, 100U);
  CHECK_EQUAL("kernels in an operator in a region", directly_in(p, "Touch id=4").kernels, 5U);
  CHECK_EQUAL("kernels in a region, in no operator", directly_in(p, "region").kernels, 5U);
  CHECK_EQUAL("kernels in a region and the operators in it", within(p, "region").kernels, 10U);
  CHECK_EQUAL("work in an operator that launches nothing", directly_in(p, "Idle").runs(), 0U);
  CHECK_EQUAL("kernels outside of all scopes", outside_scopes(p).kernels, 7U);
  CHECK_EQUAL("kernels in all", everything(p).kernels, 257U);
  CHECK_EQUAL("launches in operators", p.device.complete.attributed, 245U);
  CHECK_EQUAL("launches in no operator", p.device.complete.outside, 12U);

  const auto of = [&](std::uint32_t blocks) {
    return tally_if(p, [&](const kprof::device_work& w) {
      return w.scope != kprof::device_work::none && is_called(p, p.nodes[w.scope], "Touch id=3") &&
             w.grid[0] == blocks && w.block[0] == 256 && w.grid[1] == 1 && w.grid[2] == 1 &&
             w.block[1] == 1 && w.block[2] == 1;
    });
  };
  CHECK_EQUAL("kernels of 1 block of 256 threads in Touch id=3", of(1).kernels, 50U);
  CHECK_EQUAL("kernels of 16 blocks of 256 threads in Touch id=3", of(16).kernels, 50U);
  CHECK_EQUAL("names of kernels", p.device.kernels.size(), 1U);
  if (!p.device.kernels.empty())
    CHECK("the name is mangled: " + p.device.kernels[0],
          p.device.kernels[0].find("touch_kernelIfE") != std::string::npos);
}

void outer(std::int64_t depth, float* x) {
  KPROF_OP(Outer, {.depth = depth});
  launch_touch(x, 256);
  if (depth > 0) outer(depth - 1, x);
  else touch(9, x);
  launch_touch(x, 256);  // after what is inside has ended
}

void nested() {
  device_array<float> x(256);
  for (int i = 0; i < 20; ++i) outer(3, x.data());
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (int depth = 0; depth <= 3; ++depth) {
    const std::string name = "Outer depth=" + std::to_string(depth);
    CHECK_EQUAL("kernels directly in " + name, directly_in(p, name).kernels, 40U);
    CHECK_EQUAL("kernels in and below " + name, within(p, name).kernels,
                20U * (2U * static_cast<unsigned>(depth + 1) + 1U));
  }
  CHECK_EQUAL("kernels in the innermost operator", directly_in(p, "Touch id=9").kernels, 20U);
  CHECK_EQUAL("kernels outside of all scopes", outside_scopes(p).kernels, 0U);
}

/// Threads with streams of their own, all at once; the records come interleaved and out of order.
void threads() {
  constexpr int many = 8, streams = 8;
  const int each = long_run ? 12'500 : 1563;  // 100,000 or 800,000 in all
  {
    KPROF_REGION("all");
    const kprof::context here = kprof::context::current();
    std::vector<std::thread> workers;
    for (int t = 0; t < many; ++t)
      workers.emplace_back([=] {
        const kprof::context_guard under{here};
        device_array<float> x(256);
        cudaStream_t s[streams];
        for (cudaStream_t& one : s) CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
        for (int i = 0; i < each; ++i)
          for (int k = 0; k < streams; ++k) {
            KPROF_OP(Work, {.thread = t, .stream = k});
            launch_touch(x.data(), 256, s[k]);
          }
        for (cudaStream_t one : s) CUDA(cudaStreamSynchronize(one));
        for (cudaStream_t one : s) CUDA(cudaStreamDestroy(one));
      });
    for (std::thread& worker : workers) worker.join();
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  int right = 0;
  std::vector<std::uint32_t> seen;
  for (int t = 0; t < many; ++t)
    for (int k = 0; k < streams; ++k) {
      const std::string name = "Work thread=" + std::to_string(t) + " stream=" + std::to_string(k);
      const std::uint64_t kernels = directly_in(p, name).kernels;
      if (kernels == static_cast<std::uint64_t>(each)) ++right;
      else note(name + " has " + std::to_string(kernels) + " kernels");
    }
  for (const kprof::device_work& w : p.device.work)
    if (std::find(seen.begin(), seen.end(), w.stream) == seen.end()) seen.push_back(w.stream);
  CHECK_EQUAL("operators that have all of their kernels, one a thread and stream", right,
              many * streams);
  CHECK_EQUAL("kernels in all", everything(p).kernels,
              static_cast<std::uint64_t>(many) * streams * static_cast<unsigned>(each));
  CHECK_EQUAL("kernels under the region that handed them out", within(p, "all").kernels,
              everything(p).kernels);
  CHECK("streams are told apart", seen.size() >= many);
  note("reading and attributing took " + std::to_string(p.device.collecting_ns / 1e6) + " ms for " +
       std::to_string(p.device.complete.records) + " records");
}

/// Tens of thousands of launches are queued, on many streams, before the first of them runs and its
/// record comes.
void deep_queues() {
  constexpr int streams = 32, each = 1000;
  device_array<float> x(256);
  cudaStream_t s[streams];
  for (cudaStream_t& one : s) CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  for (cudaStream_t one : s) spin(200'000'000, one);
  for (int i = 0; i < each; ++i)
    for (int k = 0; k < streams; ++k) touch(k, x.data(), s[k]);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  int right = 0;
  for (int k = 0; k < streams; ++k)
    right += directly_in(p, "Touch id=" + std::to_string(k)).kernels == each ? 1 : 0;
  CHECK_EQUAL("operators that have all of their kernels, one a stream", right, streams);
  CHECK_EQUAL("kernels that held them up", directly_in(p, "Spin").kernels,
              static_cast<unsigned>(streams));
  for (cudaStream_t one : s) CUDA(cudaStreamDestroy(one));
}

tally copies(const kprof::profile& p, const char* name, kprof::copy_direction direction,
             kprof::memory_place from, kprof::memory_place to) {
  return tally_if(p, [&](const kprof::device_work& w) {
    return w.task == kprof::device_task::copy && w.scope != kprof::device_work::none &&
           is_called(p, p.nodes[w.scope], name) && w.direction == direction && w.from == from &&
           w.to == to;
  });
}

void bytes() {
  using kprof::copy_direction, kprof::memory_place;
  constexpr std::size_t n = 8U << 20;
  device_array<char> a(n), b(n);
  char* pinned = nullptr;
  CUDA(cudaMallocHost(&pinned, n));
  std::vector<char> pageable(n);
  cudaStream_t s = nullptr;
  CUDA(cudaStreamCreate(&s));
  constexpr std::size_t sizes[] = {1, 4096, (1U << 20) + 3, n};
  constexpr std::size_t sum = 1 + 4096 + (1U << 20) + 3 + n;
  for (const std::size_t size : sizes) {
    {
      KPROF_OP(Move, {.id = 1});
      CUDA(cudaMemcpyAsync(a.data(), pinned, size, cudaMemcpyHostToDevice, s));
      CUDA(cudaMemcpyAsync(pinned, a.data(), size, cudaMemcpyDeviceToHost, s));
      CUDA(cudaMemcpyAsync(b.data(), a.data(), size, cudaMemcpyDeviceToDevice, s));
    }
    {
      KPROF_OP(Move, {.id = 2});
      CUDA(cudaMemcpy(a.data(), pageable.data(), size, cudaMemcpyHostToDevice));
      CUDA(cudaMemcpy(pageable.data(), a.data(), size, cudaMemcpyDeviceToHost));
      CUDA(cudaMemcpyAsync(a.data(), pageable.data(), size, cudaMemcpyHostToDevice, s));
    }
    {
      KPROF_OP(Move, {.id = 3});
      CUDA(cudaMemset(a.data(), 1, size));
      CUDA(cudaMemsetAsync(b.data(), 2, size, s));
    }
    CUDA(cudaDeviceSynchronize());
  }
  {
    KPROF_OP(Move, {.id = 4});  // 100 rows of 300 bytes
    CUDA(cudaMemcpy2DAsync(a.data(), 512, pinned, 400, 300, 100, cudaMemcpyHostToDevice, s));
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  const tally to_device = copies(p, "Move id=1", copy_direction::host_to_device,
                                 memory_place::pinned, memory_place::device);
  const tally to_host = copies(p, "Move id=1", copy_direction::device_to_host, memory_place::device,
                               memory_place::pinned);
  const tally inside = copies(p, "Move id=1", copy_direction::device_to_device,
                              memory_place::device, memory_place::device);
  CHECK_EQUAL("copies from pinned memory to the device", to_device.copies, 4U);
  CHECK_EQUAL("bytes from pinned memory to the device", to_device.copied, sum);
  CHECK_EQUAL("copies from the device to pinned memory", to_host.copies, 4U);
  CHECK_EQUAL("bytes from the device to pinned memory", to_host.copied, sum);
  CHECK_EQUAL("copies on the device", inside.copies, 4U);
  CHECK_EQUAL("bytes on the device", inside.copied, sum);
  const tally from_pageable = copies(p, "Move id=2", copy_direction::host_to_device,
                                     memory_place::pageable, memory_place::device);
  const tally to_pageable = copies(p, "Move id=2", copy_direction::device_to_host,
                                   memory_place::device, memory_place::pageable);
  CHECK_EQUAL("bytes from pageable memory to the device", from_pageable.copied, 2 * sum);
  CHECK_EQUAL("bytes from the device to pageable memory", to_pageable.copied, sum);
  CHECK_EQUAL("copies from pageable memory to the device", from_pageable.copies, 8U);
  CHECK_EQUAL("copies from the device to pageable memory", to_pageable.copies, 4U);
  const tally sets = directly_in(p, "Move id=3");
  CHECK_EQUAL("memsets", sets.sets, 8U);
  CHECK_EQUAL("bytes set", sets.set, 2 * sum);
  CHECK_EQUAL("work beside the memsets in their operator", sets.runs() - sets.sets, 0U);
  CHECK_EQUAL("bytes of a copy of rows", directly_in(p, "Move id=4").copied, 30'000U);
  CUDA(cudaStreamDestroy(s));
  CUDA(cudaFreeHost(pinned));
}

/// A snapshot has what was launched before it, also what still runs; and a second one adds to it.
void in_flight() {
  spin(50'000'000);
  const kprof::profile first = kprof::snapshot();
  CHECK_EQUAL("kernels in a snapshot taken while one runs", directly_in(first, "Spin").kernels, 1U);
  spin(1000);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile second = kprof::snapshot();
  check_complete(second);
  CHECK_EQUAL("kernels in a second snapshot", directly_in(second, "Spin").kernels, 2U);
  CHECK_WITHIN("ms of the kernel that ran during the first",
               directly_in(second, "Spin ns=50000000").ns / 1e6, 49.9, 55.0);
}

/// What CUPTI says of the device, against what CUDA says.
void device() {
  device_array<float> x(256);
  touch(1, x.data());
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  int id = 0, clock_khz = 0, memory_khz = 0, bus_bits = 0;
  cudaDeviceProp props{};
  CUDA(cudaGetDevice(&id));
  CUDA(cudaGetDeviceProperties(&props, id));
  CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, id));
  CUDA(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, id));
  CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, id));
  const kprof::device_info* info = nullptr;
  for (const kprof::device_info& d : p.device.devices)
    if (d.id == static_cast<std::uint32_t>(id)) info = &d;
  CHECK("the device is in the profile", info != nullptr);
  if (info == nullptr) return;
  CHECK("it is described", info->described);
  CHECK_EQUAL("its name", info->name, props.name);
  CHECK_EQUAL("its compute capability, major", info->compute_major,
              static_cast<unsigned>(props.major));
  CHECK_EQUAL("its compute capability, minor", info->compute_minor,
              static_cast<unsigned>(props.minor));
  CHECK_EQUAL("its multiprocessors", info->multiprocessors,
              static_cast<unsigned>(props.multiProcessorCount));
  const auto memory = static_cast<double>(props.totalGlobalMem);
  CHECK_WITHIN("its memory in bytes", static_cast<double>(info->memory_bytes), 0.9 * memory,
               1.1 * memory);
  CHECK_WITHIN("its core clock in MHz", static_cast<double>(info->clock_hz) / 1e6,
               0.8 * clock_khz / 1e3, 1.2 * clock_khz / 1e3);
  const double expected = 2.0 * memory_khz * 1e3 * bus_bits / 8;  // two transfers a clock
  CHECK_WITHIN("its memory's bytes a second, against clock and bus width",
               static_cast<double>(info->memory_bytes_per_s), 0.5 * expected, 2 * expected);
  note(info->name + ", " + std::to_string(info->memory_bytes_per_s / 1'000'000'000) + " GB/s, " +
       std::to_string(info->clock_hz / 1'000'000) + " MHz; " + p.device.state);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "attribution",
                   {{"plain", plain, mode::any},
                    {"nested", nested, mode::any},
                    {"threads", threads, mode::any},
                    {"deep_queues", deep_queues, mode::any},
                    {"bytes", bytes, mode::any},
                    {"ways", ways, mode::any},
                    {"driver", driver, mode::gpu},
                    {"failures", failures, mode::gpu},
                    {"in_flight", in_flight, mode::gpu},
                    {"device", device, mode::gpu}});
}
