// SPDX-License-Identifier: MIT
// Buffers, threads, what records look like in older versions, and how fast launches are.
#include "selfcheck.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

CASE(small_buffers) {
  buffer_bytes = 1024, most_records = 3;
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME}, {});
  for (int i = 0; i < 300; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  // what is full, on a thread of CUPTI's; the flush delivers the rest
  for (bool delivered = false; !delivered;) {
    const std::lock_guard guard(all().lock);
    delivered = !all().buffers.empty();
  }
  const auto records = flush();
  CHECK(of(records, kernel_kind).size() == 300 &&
        of(records, CUPTI_ACTIVITY_KIND_RUNTIME).size() == 301 && dropped() == 0);
  CHECK(all().delivery_threads.size() == 2 &&
        all().delivery_threads.count(std::this_thread::get_id()) == 1);
}

CASE(refused_buffers) {
  buffer_bytes = 2048, refuse_after = 2;
  start({kernel_kind}, {});
  for (int i = 0; i < 50; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(of(flush(), kernel_kind).size() == 18 && dropped() == 32 && dropped() == 0);
}

CASE(every_buffer_is_refused) {  // SCRIPTED_REFUSE=1
  start({kernel_kind}, {});
  for (int i = 0; i < 5; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().empty() && dropped() == 5);
}

CASE(forced_flush) {  // SCRIPTED_KERNEL_US=900
  buffer_bytes = 2 << 20;
  start({kernel_kind}, {});
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 100; ++i) launch("k", nullptr);
  CHECK(of(flush(), kernel_kind).empty());
  const auto kernels = of(flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), kernel_kind);
  CHECK(kernels.size() == 101);
  CHECK(std::any_of(kernels.begin(), kernels.end(), [](const record& k) { return k.end != 0; }));
  CHECK(std::any_of(kernels.begin(), kernels.end(),
                    [](const record& k) { return k.start == 0 && k.end == 0; }));
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().empty());
}

CASE(odd_records) {  // SCRIPTED_ODD=10 SCRIPTED_DROP=7 SCRIPTED_ZERO_TIMES=5 SCRIPTED_REVERSED=6
  start({kernel_kind}, {});
  for (int i = 0; i < 70; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto records = flush();
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.size() == 60 && dropped() == 10 && records.size() == 67);
  CHECK(std::count_if(kernels.begin(), kernels.end(), [](const record& k) { return k.end == 0; }) ==
        12);
  CHECK(std::count_if(kernels.begin(), kernels.end(),
                      [](const record& k) { return k.end < k.start; }) == 8);
}

CASE(threads) {
  buffer_bytes = 4096;
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
        {CUPTI_CB_DOMAIN_RUNTIME_API});
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    while (!done) CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  });
  std::vector<std::thread> launchers;
  for (std::uint64_t id = 1; id <= 4; ++id) {
    launchers.emplace_back([id] {
      cudaStream_t s = nullptr;
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
      CHECK(CUPTI(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
                                                          id) == CUPTI_SUCCESS);
      for (int i = 0; i < 500; ++i) launch(id % 2 == 0 ? "even" : "odd", s);
      CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    });
  }
  for (auto& t : launchers) t.join();
  done = true;
  flusher.join();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  const auto records = take();
  std::map<std::uint32_t, std::uint64_t> ids;
  for (const auto& r : of(records, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
    CHECK(ids.emplace(r.correlation, r.external).second);
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.size() == 2000);
  for (const auto& k : kernels)
    CHECK(ids.count(k.correlation) == 1 && (ids[k.correlation] % 2 == 0) == (k.name == "even"));
}

CASE(older_versions) {  // SCRIPTED_VERSION
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
         CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_OVERHEAD,
         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
        {});
  std::uint32_t version = 0;
  CHECK(CUPTI(cuptiGetVersion)(&version) == CUPTI_SUCCESS &&
        std::to_string(version) == std::getenv("SCRIPTED_VERSION"));
  char from[8] = {}, to[8];
  launch("k", nullptr);
  CHECK(cudaMemcpy(to, from, 8, cudaMemcpyDefault) == cudaSuccess &&
        cudaMemset(to, 1, 8) == cudaSuccess);
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  std::ptrdiff_t gap = 0;  // from a kernel's record to the next
  for (const auto& [data, valid] : all().buffers) {
    CUpti_Activity *one = nullptr, *two = nullptr;
    while (CUPTI(cuptiActivityGetNextRecord)(data, valid, &two) == CUPTI_SUCCESS) {
      if (one != nullptr && one->kind == kernel_kind)
        gap = reinterpret_cast<char*>(two) - reinterpret_cast<char*>(one);
      one = two;
    }
  }
  CHECK(gap == (version >= 19 ? 208 : version == 18 ? 200 : 176));
  const auto records = take();
  CHECK(records.size() == 8 && of(records, kernel_kind).size() == 2 &&
        of(records, CUPTI_ACTIVITY_KIND_DEVICE).size() == 2);
}

CASE(truth) {  // SCRIPTED_TRUTH
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY}, {});
  char from[8] = {}, to[8];
  launch("_Z4axpyv", nullptr);
  CHECK(cudaMemcpy(to, from, 8, cudaMemcpyDefault) == cudaSuccess);
  const auto records = flush();
  std::FILE* file = std::fopen(scripted_truth_path(), "r");
  char name[64] = {};
  unsigned kind = 0, correlation = 0, stream = 0;
  unsigned long long node = 0, begin = 0, end = 0, bytes = 0;
  std::size_t lines = 0;
  while (std::fscanf(file, "%u %u %63s %u %llu %llu %llu %llu", &kind, &correlation, name, &stream,
                     &node, &begin, &end, &bytes) == 8) {
    const record& r = records.at(lines++);
    CHECK(r.correlation == correlation && r.end == end && r.bytes == bytes);
  }
  CHECK(lines == 2 && records.size() == 2);
  std::fclose(file);
}

CASE(speed) {
  buffer_bytes = 4 << 20;
  CUpti_SubscriberHandle handle = nullptr;
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CHECK(CUPTI(cuptiSubscribe)(&handle, nothing, nullptr) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableDomain)(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS);
  static std::atomic<std::uint64_t> bytes{0};
  const auto drop = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t,
                       std::size_t valid) {
    bytes += valid;
    std::free(data);
  };
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, drop) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
  const void* kernel = scripted_kernel("k");
  constexpr std::uint64_t count = 1'000'000;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i)
    cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, nullptr);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(cudaDeviceSynchronize() == cudaSuccess && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS &&
        bytes == count * sizeof(CUpti_ActivityKernel10));
  std::printf("%.2f million launches a second\n", static_cast<double>(count) / took.count() / 1e6);
}

}  // namespace
