// SPDX-License-Identifier: MIT
// What the two libraries of the scripted CUDA share. libcudart owns the state and works alone;
// libcupti links against it, finds the state there and hangs its hooks into it.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_SHARED_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_SHARED_HPP

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace scripted {

// The environment, read once.
struct settings {
  std::uint64_t seed = 1, devices = 2, speed = 1, wait_ms = 50, kernel_us = 10,
                version = CUPTI_API_VERSION;
  std::uint64_t deadlock_s = 30, buffer = 0, refuse = 0, drop = 0, zero_times = 0, reversed = 0,
                ahead = 0, odd = 0, cut = 0, end_ms = 0,
                carve_out = 0;  // bytes of shared memory of a multiprocessor, of every kernel
  bool no_driver = false, busy = false, refuse_subscription = false, refuse_activity = false;
  bool monotonic_clock = false, refuse_end = false, busy_beside_others = false,
       hang_when_disabling = false;
  bool own_driver_id = false, correlation_needs_api = false, late_device = false;
  std::uint32_t failing_kind = 0, failing_code = 0;
  std::string truth;
  std::string failing_call;  // of CUPTI or the driver; of the driver's without a version
  std::uint64_t first_failure = 1, last_failure = ~std::uint64_t{0};  // calls of it, from 1 on
};

// One piece of work of a GPU, as its activity record tells of it.
struct device_op {
  // CONCURRENT_KERNEL, MEMCPY, MEMCPY2 or MEMSET
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::uint8_t copy_kind = 0, source_kind = 0, destination_kind = 0, launch_type = 0;
  bool asynchronous = false, api_recorded = false;
  std::uint32_t device = 0, context = 0, stream = 0, correlation = 0;
  std::uint32_t source_device = 0, destination_device = 0, value = 0, shared_memory = 0, graph = 0;
  std::uint64_t graph_node = 0, bytes = 0, start = 0, end = 0;
  std::uint64_t takes = 0;  // ns; 0: by chance
  const char* name = nullptr;
  dim3 grid, block, cluster{0, 0, 0};
};

// One call of the runtime or the driver API, from its entry to its exit.
struct api_call {
  CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_RUNTIME_API;
  std::uint32_t cbid = 0, correlation = 0;
  const void* parameters = nullptr;
  const char* symbol = nullptr;
  std::uint64_t start = 0, correlation_data = 0;
  std::uint32_t result = 0;
  // whether API activity is on for it, and for the runtime call around it
  bool recorded = false, outer_recorded = false;
  std::uint8_t external_kinds = 0;  // bit k: external[k] holds
  std::array<std::uint64_t, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE> external{};
};

struct synchronization {
  CUpti_ActivitySynchronizationType type;  // unknown: an event was recorded, nothing waits
  std::uint32_t correlation, context, stream, event;
  std::uint64_t start, end;
};

// How libcudart reaches libcupti.
struct hooks {
  void (*enter)(api_call&);
  void (*exit)(api_call&);
  void (*resource)(CUpti_CallbackIdResource, CUcontext, CUstream, CUpti_GraphData*);
  void (*device)(const device_op&);
  void (*synchronized)(const synchronization&);
  void (*lazily_loaded)(const api_call&, std::uint64_t start, std::uint64_t end);
};

// The calling thread, as far as both libraries care.
struct thread_state {
  CUcontext context = nullptr;
  bool in_callback = false, in_resource_callback = false, in_buffer_callback = false;
  bool in_second_set = false;
};

struct shared_state {
  settings set;
  std::atomic<const hooks*> hook{nullptr};
  std::atomic<std::uint32_t> correlation{0};
  std::atomic<std::uint64_t> skipped{0};  // how far the GPUs' clock is ahead of the host's
  std::atomic<std::uint64_t> cupti_calls{0}, failed_calls{0};
  std::atomic<std::uint64_t> calls_that_may_fail{0}, made_to_fail{0};  // see SCRIPTED_FAIL
  std::atomic<bool> forked{false};
  std::atomic<bool> beside_others{false};  // the client subscribed by the second set of calls
  std::FILE* truth = nullptr;
};

}  // namespace scripted

extern "C" scripted::shared_state* scripted_shared_state();

namespace scripted {

// In CUPTI's clock: that of the host's time of day, but on WSL.
inline std::uint64_t host_now() {
  timespec now;
  clock_gettime(scripted_shared_state()->set.monotonic_clock ? CLOCK_MONOTONIC_RAW : CLOCK_REALTIME,
                &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace scripted

extern "C" {
scripted::thread_state* scripted_thread_state();
void scripted_note_misuse(const char* what);
// Whether this call of a function of CUPTI or the driver is one that SCRIPTED_FAIL makes fail. At
// the head of each of them.
bool scripted_call_fails(const char* function);
CUcontext scripted_context(std::uint32_t device);  // nullptr before its first use
void scripted_describe_device(cudaDeviceProp* properties, std::uint32_t device);
CUresult scripted_driver_state();  // what cuInit gives
CUresult scripted_context_synchronize();
CUresult scripted_context_push(CUcontext context);
CUresult scripted_context_pop(CUcontext* context);
}

namespace scripted {
inline shared_state& shared() { return *scripted_shared_state(); }
inline thread_state& current_thread() { return *scripted_thread_state(); }

// The time of the GPUs: work whose end has passed is complete.
inline std::uint64_t gpu_now() {
  return host_now() + shared().skipped.load(std::memory_order_relaxed);
}
}  // namespace scripted

#endif
