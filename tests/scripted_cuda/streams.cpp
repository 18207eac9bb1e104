// SPDX-License-Identifier: MIT
// The runtime API of the scripted libcudart.so.13: streams, events, and waiting for them and for
// devices.
#include "gpu.hpp"

#include <algorithm>
#include <utility>

using namespace scripted;

namespace {

cudaError_t synchronize(const api_call& self, CUpti_ActivitySynchronizationType type,
                        std::uint64_t until, std::uint32_t device, std::uint32_t stream,
                        std::uint32_t event) {
  const std::uint64_t start = host_now();
  wait_until(until);
  if (type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) wait_for_host_functions();
  if (const hooks* h = shared().hook.load(std::memory_order_acquire)) {
    h->synchronized(
        {type, self.correlation, gpu_of(device).context.id, stream, event, start, host_now()});
  }
  return cudaSuccess;
}

std::uint64_t end_of(CUstream_st& s) {
  gpu& g = gpu_of(s.device);
  const std::lock_guard guard(g.lock);
  return begin_locked(g, s, 0);
}

constexpr std::uint32_t not_applicable = 0xffffffffU;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE

}  // namespace

extern "C" {

static cudaError_t make_stream(cudaStream_t* stream, unsigned flags) {
  gpu& g = gpu_of(this_thread().device);
  auto* made = new CUstream_st;
  made->device = this_thread().device;
  made->blocking = (flags & cudaStreamNonBlocking) == 0;
  {
    const std::lock_guard guard(g.lock);
    made->id = g.next_stream++;
  }
  *stream = made;
  keep(made);
  resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, made->device, made, nullptr);
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  SCRIPTED_CALL(cudaStreamCreate_v3020, (stream), [&](auto&) { return make_stream(stream, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  SCRIPTED_CALL(cudaStreamCreateWithFlags_v5000, (stream, flags),
                [&](auto&) { return make_stream(stream, flags); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  SCRIPTED_CALL(cudaStreamCreateWithPriority_v5050, (stream, flags, priority),
                [&](auto&) { return make_stream(stream, flags); });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  SCRIPTED_CALL(cudaDeviceGetStreamPriorityRange_v5050, (least, greatest), [&](auto&) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  SCRIPTED_CALL(cudaStreamDestroy_v5050, (stream), [&](auto&) {
    if (!forget(stream)) return cudaErrorInvalidResourceHandle;
    resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, stream->device, stream, nullptr);
    abandon_capture(*stream);
    delete stream;  // its work has its times already
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  SCRIPTED_CALL(cudaStreamSynchronize_v3020, (stream), [&](const api_call& self) {
    CUstream_st& s = resolve(stream);
    if (s.capturing) return s.capturing->invalid = true, cudaErrorStreamCaptureUnsupported;
    return synchronize(self, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, end_of(s),
                       s.device, s.id, not_applicable);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  SCRIPTED_CALL(cudaStreamQuery_v3020, (stream), [&](auto&) {
    CUstream_st& s = resolve(stream);
    if (s.capturing) return s.capturing->invalid = true, cudaErrorStreamCaptureUnsupported;
    return end_of(s) <= gpu_now() ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  SCRIPTED_CALL(cudaStreamGetFlags_v5050, (stream, flags), [&](auto&) {
    *flags = resolve(stream).blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  SCRIPTED_CALL(cudaStreamGetId_v12000, (stream, id),
                [&](auto&) { return *id = resolve(stream).id, cudaSuccess; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  SCRIPTED_CALL(cudaStreamWaitEvent_v3020, (stream, event, flags), [&](const api_call& self) {
    CUstream_st& s = resolve(stream);
    {
      const std::lock_guard event_guard(event->lock);
      if (const auto captured = event->captured.lock()) return join_capture(s, *event, captured);
      if (s.capturing) return cudaErrorStreamCaptureIsolation;
      const std::lock_guard guard(gpu_of(s.device).lock);
      s.end = std::max(s.end, event->time);
    }
    return synchronize(self, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 0, s.device,
                       s.id, event->id);
  });
}

static cudaError_t make_event(cudaEvent_t* event, unsigned flags) {
  static std::atomic<std::uint32_t> ids{0};
  *event = new CUevent_st;
  (*event)->id = ++ids;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  keep(*event);
  return cudaSuccess;
}

// When the event happens; false when a capture has it.
static bool time_of(CUevent_st& event, std::uint64_t& time) {
  const std::lock_guard guard(event.lock);
  time = event.time;
  return event.captured.expired();
}

static cudaError_t record(const api_call& self, CUevent_st& event, CUstream_st& s) {
  const std::lock_guard event_guard(event.lock);
  event.captured_nodes = s.last_nodes;
  event.captured = s.capturing;
  if (s.capturing) return cudaSuccess;
  gpu& g = gpu_of(s.device);
  const std::lock_guard guard(g.lock);
  event.time = begin_locked(g, s, self.start);
  if (const hooks* h = shared().hook.load(std::memory_order_acquire))
    h->synchronized({CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN, self.correlation, g.context.id,
                     s.id, event.id, 0, 0});
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  SCRIPTED_CALL(cudaEventCreate_v3020, (event), [&](auto&) { return make_event(event, 0); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  SCRIPTED_CALL(cudaEventCreateWithFlags_v3020, (event, flags),
                [&](auto&) { return make_event(event, flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  SCRIPTED_CALL(cudaEventRecord_v3020, (event, stream),
                [&](const api_call& self) { return record(self, *event, resolve(stream)); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  SCRIPTED_CALL(cudaEventRecordWithFlags_v11010, (event, stream, flags),
                [&](const api_call& self) { return record(self, *event, resolve(stream)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  SCRIPTED_CALL(cudaEventSynchronize_v3020, (event), [&](const api_call& self) {
    std::uint64_t time = 0;
    if (!time_of(*event, time)) return cudaErrorCapturedEvent;
    return synchronize(self, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, time,
                       this_thread().device, not_applicable, event->id);
  });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  SCRIPTED_CALL(cudaEventQuery_v3020, (event), [&](auto&) {
    std::uint64_t time = 0;
    if (!time_of(*event, time)) return cudaErrorCapturedEvent;
    return time <= gpu_now() ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  SCRIPTED_CALL(cudaEventElapsedTime_v12080, (ms, start, end), [&](auto&) {
    std::uint64_t from = 0, to = 0;
    if (!time_of(*start, from) || !time_of(*end, to)) return cudaErrorCapturedEvent;
    if (from == 0 || to == 0 || !start->timed || !end->timed) return cudaErrorInvalidResourceHandle;
    if (std::max(from, to) > gpu_now()) return cudaErrorNotReady;
    *ms = static_cast<float>((static_cast<double>(to) - static_cast<double>(from)) / 1e6);
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  SCRIPTED_CALL(cudaEventDestroy_v3020, (event), [&](auto&) {
    if (!forget(event)) return cudaErrorInvalidResourceHandle;
    return delete event, cudaSuccess;
  });
}

static cudaError_t synchronize_device(const api_call& self) {
  if (any_capture()) return invalidate_captures(), cudaErrorStreamCaptureUnsupported;
  const std::uint32_t device = this_thread().device;
  return synchronize(self, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                     gpu_of(device).latest(), device, not_applicable, not_applicable);
}

cudaError_t cudaDeviceSynchronize() {
  return call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, nullptr, synchronize_device);
}

// ---- the driver's contexts

static CUresult driver_result(cudaError_t error) {
  return static_cast<CUresult>(static_cast<int>(error));
}

CUresult scripted_driver_state() {
  if (shared().forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (shared().set.no_driver) return CUDA_ERROR_UNKNOWN;
  return shared().set.devices == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult scripted_context_synchronize() {
  return driver_result(
      call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, nullptr, [](const api_call& self) {
        return current_thread().context == nullptr ? cudaErrorDeviceUninitialized
                                                   : synchronize_device(self);
      }));
}
CUresult scripted_context_push(CUcontext context) {
  const cuCtxPushCurrent_v2_params parameters{context};
  return driver_result(
      call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2, &parameters, [&](auto&) {
        runtime_thread& t = this_thread();
        if (context == nullptr || t.contexts == 4) return cudaErrorInvalidValue;
        t.pushed[t.contexts++] = std::exchange(current_thread().context, context);
        return t.device = context->device, cudaSuccess;
      }));
}
CUresult scripted_context_pop(CUcontext* context) {
  const cuCtxPopCurrent_v2_params parameters{context};
  return driver_result(
      call_driver(CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2, &parameters, [&](auto&) {
        runtime_thread& t = this_thread();
        if (t.contexts == 0) return cudaErrorDeviceUninitialized;  // CUDA_ERROR_INVALID_CONTEXT
        CUcontext below = t.pushed[--t.contexts],
                  popped = std::exchange(current_thread().context, below);
        if (context != nullptr) *context = popped;
        return t.device = below == nullptr ? 0 : below->device, cudaSuccess;
      }));
}

}  // extern "C"
