// SPDX-License-Identifier: MIT
// CUPTI's activity interface.
#include "buffers.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using namespace scripted;

namespace {

CUptiResult enable(CUpti_ActivityKind kind, bool dump) {
  const settings& set = shared().set;
  if (set.refuse_activity) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
    return CUPTI_ERROR_INVALID_KIND;
  if (set.failing_kind == static_cast<unsigned>(kind))
    return static_cast<CUptiResult>(set.failing_code);
  install_hooks();
  state().enabled[kind] = true;
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    for (auto& one : state().api_enabled[kind == CUPTI_ACTIVITY_KIND_RUNTIME]) one = true;
  }
  bool describe = kind == CUPTI_ACTIVITY_KIND_DEVICE;
  for (std::uint32_t i = 0; i < set.devices && set.late_device && !dump; ++i)
    describe = describe && scripted_context(i) == nullptr;
  for (std::uint32_t i = 0; i < set.devices && describe; ++i)
    append(state().device, device_record(i));
  return CUPTI_SUCCESS;
}

CUptiResult flush(bool forced) {
  activity_state& s = state();
  const std::lock_guard guard(s.lock);
  if (s.complete == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  std::vector<buffer> ready;
  take_complete(s.full, ready, forced);
  std::vector<lane*> lanes(s.threads.begin(), s.threads.end());
  lanes.push_back(&s.device);
  const std::uint64_t now = gpu_now();
  for (lane* l : lanes) {
    const std::lock_guard inner(l->lock);
    if (l->current.records == 0 || (!forced && l->current.latest_end > now)) continue;
    ready.push_back(std::exchange(l->current, {}));
  }
  if (forced)
    for (const buffer& b : ready) void_unfinished(b.data, b.used, now);
  deliver(ready);
  return CUPTI_SUCCESS;
}

std::atomic<bool> ending{false};  // a subscription

bool has_stack(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
         kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

// The attributes of activity are kept and read back; one of them matters here.
std::size_t attribute_size(CUpti_ActivityAttribute a) {
  const bool small = a == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
                     a == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
                     a == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
  return small ? sizeof(std::uint8_t) : sizeof(std::size_t);
}
std::atomic<std::size_t> attributes[16] = {3'200'000, 8U << 20U, 250, 0, 0,         0,
                                           3,         0,         0,   1, 16U << 20U};

}  // namespace

void scripted::give_all_back() {
  const std::uint64_t takes = shared().set.end_ms;
  if (takes == 0) return;
  ending = true;
  static_cast<void>(flush(true));
  std::this_thread::sleep_for(std::chrono::milliseconds(takes));
  ending = false;
}

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  return cupti_call(without_driver | first_set, __func__, [&] {
    if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    static const int registered = std::atexit(stop_delivery);
    static_cast<void>(registered);
    const std::lock_guard guard(state().lock);
    state().request = request;
    state().complete = complete;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return cupti_call(first_set, __func__, [&] { return enable(kind, false); });
}
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  return cupti_call(anywhere, __func__, [&] { return enable(kind, true); });
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return cupti_call(first_set, __func__, [&] {
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
      return CUPTI_ERROR_INVALID_KIND;
    while (shared().set.hang_when_disabling && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      ::pause();
    state().enabled[kind] = false;
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) {
      for (auto& one : state().api_enabled[kind == CUPTI_ACTIVITY_KIND_RUNTIME]) one = false;
    }
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return cupti_call(anywhere, __func__, [&] {
    if (cbid >= CUPTI_RUNTIME_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    install_hooks();
    return state().api_enabled[1][cbid] = enable != 0, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return cupti_call(anywhere, __func__, [&] {
    if (cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    install_hooks();
    return state().api_enabled[0][cbid] = enable != 0, CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  return cupti_call(not_in_resource_callbacks, __func__,
                    [&] { return flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0); });
}
CUptiResult cuptiActivityFlush(CUcontext, std::uint32_t, std::uint32_t flag) {
  return cupti_call(not_in_resource_callbacks, __func__,
                    [&] { return flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0); });
}
CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
  // full buffers are delivered within a millisecond anyway
  return cupti_call(anywhere, __func__, [] { return CUPTI_SUCCESS; });
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* data, std::size_t valid,
                                       CUpti_Activity** record) {
  if (shared().forked) scripted_note_misuse("cuptiActivityGetNextRecord in a forked child");
  if (ending) scripted_note_misuse("records are read by a subscription that is being ended");
  if (data == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!current_thread().in_second_set && scripted_call_fails(__func__)) return CUPTI_ERROR_UNKNOWN;
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - data);
    at += record_size((*record)->kind);
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const std::size_t size = record_size(kind_at(data + at));
  static std::atomic<std::uint64_t> records{0};
  const std::uint64_t cut = shared().set.cut;
  if (size == 0 || at + size > valid || (cut != 0 && ++records % cut == 0))
    return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(data + at);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
  return cupti_call(without_driver | in_buffer_callbacks | first_set, __func__, [&] {
    if (count == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    // The real one takes the internal lock as well, which a buffer callback holds already.
    const bool inside = current_thread().in_buffer_callback;
    if (!inside) state().lock.lock();
    *count = state().dropped.exchange(0);
    if (!inside) state().lock.unlock();
    return CUPTI_SUCCESS;
  });
}

#ifndef SCRIPTED_MISSING
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  return cupti_call(anywhere, __func__, [&] {
    if (!has_stack(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    own().external[kind].push_back(id);
    return CUPTI_SUCCESS;
  });
}
#endif

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* last) {
  return cupti_call(anywhere, __func__, [&] {
    if (!has_stack(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
    auto& stack = own().external[kind];
    if (stack.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
    if (last != nullptr) *last = stack.back();
    stack.pop_back();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return cupti_call(anywhere, __func__, [&] {
    return state().system_thread_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                      void* value) {
  return cupti_call(anywhere, __func__, [&] {
    if (size == nullptr || value == nullptr || static_cast<unsigned>(attribute) >= 11)
      return CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < attribute_size(attribute)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::size_t given = 0;
    std::memcpy(&given, value, attribute_size(attribute));
    attributes[attribute] = given;
    if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
      state().per_thread_buffers = given != 0;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                      void* value) {
  return cupti_call(anywhere, __func__, [&] {
    if (size == nullptr || value == nullptr || static_cast<unsigned>(attribute) >= 11)
      return CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < attribute_size(attribute)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    const std::size_t kept = attributes[attribute];
    *size = attribute_size(attribute);
    std::memcpy(value, &kept, *size);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityEnableLatencyTimestamps(std::uint8_t) {
  return cupti_call(anywhere, __func__, [] { return CUPTI_SUCCESS; });
}
CUptiResult cuptiActivityEnableHWTrace(std::uint8_t) {
  // not on compute capability 9.0
  return cupti_call(anywhere, __func__, [] { return CUPTI_ERROR_NOT_SUPPORTED; });
}

}  // extern "C"
