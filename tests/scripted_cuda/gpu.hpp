// SPDX-License-Identifier: MIT
// The GPUs of the scripted libcudart: devices, streams with a time of their own, memory, and how an
// API call enters and leaves. Work is not executed but given a place in its stream's time at once,
// so nothing is queued.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_GPU_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_GPU_HPP

#include "handles.hpp"

#include <mutex>

namespace scripted {

struct gpu {
  std::mutex lock;
  std::uint64_t legacy_end = 0, blocking_end = 0, latest_end = 0;
  CUctx_st context;
  CUstream_st legacy;
  std::mutex creating;  // held while the context is made or destroyed
  std::atomic<bool> exists{false};
  std::uint32_t next_stream = 13;

  std::uint64_t latest() {
    const std::lock_guard guard(lock);
    return latest_end;
  }
};

// The calling thread, as far as the runtime alone cares.
struct runtime_thread {
  std::uint32_t device = 0;
  cudaError_t last_error = cudaSuccess;
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  int captures = 0;  // begun by this thread and not relaxed
  CUstream_st* per_thread[16] = {};
  struct {
    dim3 grid, block;
    std::size_t shared_memory;
    cudaStream_t stream;
  } configuration[4];
  int configurations = 0;
  CUcontext pushed[4] = {};  // the contexts under the current one
  int contexts = 0;
};
runtime_thread& this_thread();

gpu& gpu_of(std::uint32_t device);
std::uint32_t devices();
CUstream_st& resolve(cudaStream_t stream);  // the default streams by their handles

// Handles stay reachable until they are destroyed, as with a driver: what a program forgets to
// destroy is not its leak.
void keep(void* handle);
bool forget(const void* handle);  // false when it is none, or was destroyed already

// Work. submit() runs it on the stream, or adds it to the graph that the stream captures.
cudaError_t submit(const api_call& call, CUstream_st& stream, work& what);
std::uint64_t begin_locked(gpu& g, CUstream_st& s, std::uint64_t launched);
void end_locked(gpu& g, CUstream_st& s, std::uint64_t launched, std::uint64_t end);
std::uint64_t duration_locked(CUstream_st& s, const device_op& op);
void perform(const work& what);
void ran(const device_op& op);            // counts it and hands it to libcupti
void wait_until(std::uint64_t gpu_time);  // or lets the GPUs' clock skip ahead, when that is long
void wait_for_host_functions();
void run_later(std::uint64_t gpu_time, cudaHostFn_t function, void* argument);

// Memory.
enum class memory : std::uint8_t { pageable, pinned, device, managed };
struct allocation {
  memory kind = memory::pageable;
  std::uint32_t device = 0;
  const char* base = nullptr;
  std::size_t size = 0;
};
cudaError_t allocate(void** pointer, std::size_t size, memory kind);
cudaError_t release(void* pointer);
void register_host(void* pointer, std::size_t size);
void forget_host(void* pointer);
allocation find_allocation(const void* pointer);

constexpr std::size_t device_memory = std::size_t{80} << 30U;

// What a device is, and what an error is called.
void describe_device(cudaDeviceProp& properties, std::uint32_t device);
int attribute_of(cudaDeviceAttr attribute);
const char* error_name(cudaError_t error);

CUkern_st* find_kernel(const void* function);  // nullptr when nobody registered it

// The work of a launch, a copy and a memset.
struct configuration {
  dim3 grid, block, cluster{0, 0, 0};
  std::size_t shared_memory = 0;
  CUpti_ActivityLaunchType type = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
};
bool launchable(const configuration& c);
work kernel_work(CUkern_st& kernel, const configuration& c);
struct area {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, width, height;  // bytes
};
work copy_work(const area& where, cudaMemcpyKind kind);
work fill_work(void* to, std::size_t pitch, unsigned value, unsigned element_size,
               std::size_t width, std::size_t height);

// Graphs and captures.
CUgraph_st* make_graph();
CUgraphNode_st* add_node(CUgraph_st& graph, std::vector<CUgraphNode_st*> after, const work& what);
CUgraph_st* clone_graph(CUgraph_st& original);
void destroy_graph(CUgraph_st* graph);
cudaError_t capture_work(CUstream_st& stream, const work& what);
void abandon_capture(CUstream_st& s);  // its stream is destroyed
cudaError_t join_capture(CUstream_st& stream, const CUevent_st& event,
                         const std::shared_ptr<capture>& captured);
bool capturing_forbids_unsafe_calls();
bool any_capture();
bool any_blocking_capture();
void invalidate_captures();

// One runtime API call: entry, body, exit. `body` takes the api_call and returns a cudaError_t.
bool enter(api_call& call, bool needs_context, cudaError_t& refused);
cudaError_t leave(api_call& call, cudaError_t result);

enum class needs { nothing, context };

template <class Body>
cudaError_t call(CUpti_runtime_api_trace_cbid cbid, const void* parameters, const Body& body,
                 needs what = needs::context, const char* symbol = nullptr) {
  api_call self{
      .cbid = static_cast<std::uint32_t>(cbid), .parameters = parameters, .symbol = symbol};
  cudaError_t result = cudaSuccess;
  if (!enter(self, what == needs::context, result)) return result;
  result = body(self);
  return leave(self, result);
}

// One driver API call, of the program itself or inside a runtime call.
template <class Body>
cudaError_t call_driver(CUpti_driver_api_trace_cbid cbid, const void* parameters,
                        const Body& body) {
  api_call self{.domain = CUPTI_CB_DOMAIN_DRIVER_API,
                .cbid = static_cast<std::uint32_t>(cbid),
                .parameters = parameters};
  cudaError_t result = cudaSuccess;
  if (!enter(self, false, result)) return result;
  result = body(self);
  return leave(self, result);
}
api_call enter_driver(const api_call& outer, CUpti_driver_api_trace_cbid cbid,
                      const void* parameters);
void leave_driver(api_call& self, cudaError_t result);

template <class Body>
cudaError_t driver_call(const api_call& outer, CUpti_driver_api_trace_cbid cbid,
                        const void* parameters, const Body& body) {
  api_call self = enter_driver(outer, cbid, parameters);
  const cudaError_t result = body(self);
  leave_driver(self, result);
  return result;
}

void resource(CUpti_CallbackIdResource id, std::uint32_t device, CUstream stream,
              CUpti_GraphData* graph);

}  // namespace scripted

// A call of the runtime API: the parameters go to CUPTI's callbacks in a struct of CUDA's own
// headers.
#define SCRIPTED_UNPACK(...) __VA_ARGS__
#define SCRIPTED_CALL(name, arguments, ...)                       \
  const name##_params call_parameters{SCRIPTED_UNPACK arguments}; \
  return scripted::call(CUPTI_RUNTIME_TRACE_CBID_##name, &call_parameters, __VA_ARGS__)

#endif
