// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_FEATURES_WAYS_CUH
#define KPROF_TESTS_GPU_FEATURES_WAYS_CUH

// Modes of features.cu: ways to launch, copy and allocate that newer CUDA has.

#include "graphs.cuh"
#include "programs.cuh"

#include <cstdint>
#include <string>
#include <vector>

namespace {

/// Memory that is allocated and freed in the order of a stream, also by the nodes of a graph.
void stream_memory() {
  cudaStream_t s = new_stream();
  const auto work = [&](std::int64_t id) {
    KPROF_OP(Touch, {.id = id});
    void* x = nullptr;
    CUDA(cudaMallocAsync(&x, 1024, s));
    CUDA(cudaMemsetAsync(x, 0, 1024, s));
    launch_touch(static_cast<float*>(x), 256, s);
    CUDA(cudaFreeAsync(x, s));
  };
  for (int i = 0; i < 100; ++i) work(1);
  cudaGraph_t graph = capture(s, [&] { work(2); });
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, 50, s);
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels on memory of the stream", directly_in(p, "Touch id=1").kernels, 100U);
  CHECK_EQUAL("memsets of it", directly_in(p, "Touch id=1").sets, 100U);
  CHECK_EQUAL("memsets by a graph that allocates", directly_in(p, "Touch id=2").sets, 50U);
  check_replays(p, "Touch id=2", 1, 50, 50);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// The body of a loop that the device itself repeats.
void conditional() {
#if CUDART_VERSION >= 13000
  constexpr int repeats = 5, launches = 20;
  device_array<float> x(256);
  device_array<int> left(1);
  cudaStream_t s = new_stream();
  const graph_with_loop loop;
  capture_into(loop.body, nullptr, s, [&] {
    touch(1, x.data(), s);
    KPROF_OP(Touch, {.id = 2});
    count_down<<<1, 1, 0, s>>>(left.data(), loop.again);
  });
  cudaGraphExec_t exec = instantiate(loop.graph);
  const int from = repeats;
  for (int i = 0; i < launches; ++i) {
    KPROF_OP(Move, {.id = 3});
    CUDA(cudaMemcpyAsync(left.data(), &from, sizeof from, cudaMemcpyHostToDevice, s));
    CUDA(cudaGraphLaunch(exec, s));
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  // No launch is known of what the body does: that is told, and nothing is lost.
  const std::uint64_t known = directly_in(p, "Touch id=1").kernels;
  note(std::to_string(known) + " of " + std::to_string(repeats * launches) +
       " kernels of a loop's body are at their operator");
  CHECK_EQUAL("kernels of a loop's body, at their operators or of no known launch",
              known + directly_in(p, "Touch id=2").kernels + of_no_known_launch(p).kernels,
              2U * repeats * launches);
  CHECK_EQUAL("records of no known launch are counted", p.device.complete.unknown,
              of_no_known_launch(p).runs());
  CHECK_EQUAL("every record is in a row of work", everything(p).runs(), p.device.complete.records);
  CHECK_EQUAL("copies in the operator that launches", directly_in(p, "Move id=3").copies,
              1U * launches);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(loop.graph));
  CUDA(cudaStreamDestroy(s));
#else
  skip("built with a CUDA before 13, whose calls for them differ");
#endif
}

/// A kernel that may begin before the one that it depends on has ended.
void dependent() {
  device_array<float> x(256);
  float* data = x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  cudaStream_t s = new_stream();
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(1), how.blockDim = dim3(256), how.stream = s;
  how.attrs = &attribute, how.numAttrs = 1;
  for (int i = 0; i < 100; ++i) {
    spin(20'000, s);
    KPROF_OP(Touch, {.id = 1});
    CUDA(cudaLaunchKernelExC(&how, reinterpret_cast<const void*>(&touch_kernel<float>), arguments));
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("dependent kernels", directly_in(p, "Touch id=1").kernels, 100U);
  CHECK_EQUAL("kernels that they depend on", directly_in(p, "Spin").kernels, 100U);
  CHECK_WITHIN("ns of a kernel that others depend on", directly_in(p, "Spin").ns / 100, 19'000,
               60'000);
  CUDA(cudaStreamDestroy(s));
}

/// Several copies in one call.
void batches() {
#if CUDART_VERSION >= 13000
  constexpr std::size_t count = 4, bytes = 1 << 16;
  device_array<char> from(count * bytes), to(count * bytes);
  cudaStream_t s = new_stream();
  std::vector<const void*> sources(count);
  std::vector<void*> targets(count);
  std::vector<std::size_t> sizes(count, bytes);
  for (std::size_t i = 0; i < count; ++i)
    sources[i] = from.data() + i * bytes, targets[i] = to.data() + i * bytes;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  for (int i = 0; i < 10; ++i) {
    KPROF_OP(Move, {.id = 1});
    CUDA(cudaMemcpyBatchAsync(targets.data(), sources.data(), sizes.data(), count, &how, &first, 1,
                              s));
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("bytes copied in batches", directly_in(p, "Move id=1").copied, 10U * count * bytes);
  note(std::to_string(directly_in(p, "Move id=1").copies) + " records of 10 batches of 4 copies");
  CUDA(cudaStreamDestroy(s));
#else
  skip("there are no batches of copies before CUDA 13");
#endif
}

constexpr const char* twice_ptx = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 data) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.f32 %f1, [%rd2];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd2], %f2;
  ret;
}
)";

/// Kernels that the program loads as text, and forgets and loads again.
void libraries() {
  device_array<float> x(256);
  float* data = x.data();
  void* arguments[] = {&data};
  for (int i = 0; i < 3; ++i) {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    CUDA(cudaLibraryLoadData(&library, twice_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CUDA(cudaLibraryGetKernel(&kernel, library, "twice"));
    for (int k = 0; k < 10; ++k) {
      KPROF_OP(Touch, {.id = 1});
      CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(256), arguments, 0,
                            nullptr));
    }
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaLibraryUnload(library));
  }
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of a library", directly_in(p, "Touch id=1").kernels, 30U);
  std::size_t named = 0;
  for (const kprof::device_work& w : p.device.work)
    if (w.kernel != kprof::device_work::none && p.device.kernels[w.kernel] == "twice")
      named += w.calls;
  CHECK_EQUAL("kernels that have the library's name", named, 30U);
}

/// A driver's function, by the name and the version of CUDA that gave it its parameters.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CUDA(cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found));
  if (entry == nullptr) skip(std::string{"the driver has no "} + name);
  return reinterpret_cast<Function>(entry);
}

/// Contexts beside the one that the runtime makes, and their end.
void contexts() {
  touch(1, device_array<float>(256).data());
  CUDA(cudaDeviceSynchronize());
  const auto create = driver_function<int (*)(void**, unsigned, int)>("cuCtxCreate", 11000);
  const auto destroy = driver_function<int (*)(void*)>("cuCtxDestroy", 11000);
  for (int round = 0; round < 5; ++round) {
    void* context = nullptr;
    CHECK_EQUAL("a context can be made", create(&context, 0, 0), 0);
    if (context == nullptr) return;
    {
      device_array<float> x(256);
      for (int i = 0; i < 10; ++i) touch(2, x.data());
      CUDA(cudaDeviceSynchronize());
    }
    if (round == 3) static_cast<void>(kprof::snapshot());
    CHECK_EQUAL("it can be destroyed", destroy(context), 0);
  }
  touch(3, device_array<float>(256).data());
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  CHECK_EQUAL("kernels in the runtime's context",
              directly_in(p, "Touch id=1").kernels + directly_in(p, "Touch id=3").kernels, 2U);
  CHECK_EQUAL("kernels in contexts of their own, found or known to be missing",
              directly_in(p, "Touch id=2").kernels + p.device.complete.open, 50U);
  note(std::to_string(directly_in(p, "Touch id=2").kernels) + " of 50 were found");
}

void many_streams() {
  constexpr int streams = 1000;
  device_array<float> x(256);
  std::vector<cudaStream_t> all(streams);
  for (cudaStream_t& s : all) s = new_stream();
  for (int i = 0; i < 3 * streams; ++i)
    touch(i % 7, x.data(), all[static_cast<std::size_t>(i % streams)]);
  CUDA(cudaDeviceSynchronize());
  for (cudaStream_t s : all) CUDA(cudaStreamDestroy(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels on a thousand streams", directly_in(p, "Touch").kernels, 3U * streams);
}

/// The program pushes ids of its own, and has CUPTI tell of them: their records come to kprof.
void external_ids() {
  device_array<float> x(256);
  touch(1, x.data());
  CUDA(cudaDeviceSynchronize());
  void* library = nullptr;
  const char* const named = std::getenv("KPROF_CUPTI");
  for (const char* name : {named, "libcupti.so.13", "libcupti.so.12"})
    if (library == nullptr && name != nullptr) library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) skip("kprof's libcupti is not found");
  const auto push =
      function_of<int(int, std::uint64_t)>(library, "cuptiActivityPushExternalCorrelationId");
  const auto pop =
      function_of<int(int, std::uint64_t*)>(library, "cuptiActivityPopExternalCorrelationId");
  const auto enable = function_of<int(int)>(library, "cuptiActivityEnable");
  constexpr int custom = 3, external_correlation = 39;
  CHECK_EQUAL("records of external ids can be asked for", enable(external_correlation), 0);
  for (int i = 0; i < 100; ++i) {
    CHECK_QUIETLY("an id can be pushed", push(custom, 1000U + static_cast<unsigned>(i)) == 0);
    touch(2, x.data());
    std::uint64_t popped = 0;
    CHECK_QUIETLY("it can be popped", pop(custom, &popped) == 0);
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels under ids of the program", directly_in(p, "Touch id=2").kernels, 100U);
}

}  // namespace

#endif
