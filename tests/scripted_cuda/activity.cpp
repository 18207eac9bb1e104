// SPDX-License-Identifier: MIT
// What becomes of calls, of work on a GPU and of waiting: records, in the lanes they go to.
#include "buffers.hpp"

#include <unistd.h>

#include <cstring>

namespace scripted {

static std::atomic<std::uint64_t> device_records{0};

void begin_activity(api_call& c) {
  c.recorded = state().api_enabled[c.domain == CUPTI_CB_DOMAIN_RUNTIME_API][c.cbid].load(
      std::memory_order_relaxed);
  // What was pushed before the call: whether a push from the entry callback still counts is not
  // documented.
  if (c.recorded && on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) && own_or_none() != nullptr) {
    for (unsigned kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
      const auto& stack = own_or_none()->external[kind];
      if (stack.empty()) continue;
      c.external[kind] = stack.back();
      c.external_kinds = static_cast<std::uint8_t>(c.external_kinds | 1U << kind);
    }
  }
  if (c.recorded || c.start == 0) c.start = host_now();  // else that of the call around it
}

void end_activity(const api_call& c) {
  if (!c.recorded) return;
  static const auto process = static_cast<std::uint32_t>(::getpid());
  thread_lane& mine = own();
  std::uint8_t bytes[sizeof(CUpti_ActivityAPI) + CUPTI_EXTERNAL_CORRELATION_KIND_SIZE *
                                                     sizeof(CUpti_ActivityExternalCorrelation)];
  std::size_t size = 0, records = 0;
  const auto add = [&](const auto& record) {
    std::memcpy(bytes + size, &record, sizeof record);
    size += sizeof record;
    ++records;
  };
  for (unsigned kind = 1; c.external_kinds >> kind != 0; ++kind) {
    if ((c.external_kinds >> kind & 1U) == 0) continue;
    CUpti_ActivityExternalCorrelation r{};
    r.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    r.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    r.externalId = c.external[kind];
    r.correlationId = c.correlation;
    add(r);
  }
  CUpti_ActivityAPI r{};
  r.kind = c.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
                                                   : CUPTI_ACTIVITY_KIND_DRIVER;
  r.cbid = c.cbid;
  r.start = c.start;
  r.end = host_now();
  r.processId = process;
  r.threadId = mine.id;
  r.correlationId = c.correlation;
  r.returnValue = c.result;
  add(r);
  append(api_lane(mine), bytes, size, records, 0);
}

void device_activity(const device_op& op) {
  const bool kernel = op.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  const bool as_kernel_kind = kernel && !on(op.kind) && on(CUPTI_ACTIVITY_KIND_KERNEL);
  if (!on(op.kind) && !as_kernel_kind) return;
  const settings& set = shared().set;
  lane& l = state().device;
  const std::uint64_t number = device_records.fetch_add(1, std::memory_order_relaxed) + 1;
  if (set.odd != 0 && number % set.odd == 0) append(l, odd_record());
  if (set.drop != 0 && number % set.drop == 0) {
    ++state().dropped;
    return;
  }
  const std::uint32_t correlation =
      set.correlation_needs_api && !op.api_recorded ? 0 : op.correlation;
  if (kernel) {
    auto r = kernel_record(op, correlation);
    if (as_kernel_kind) r.kind = CUPTI_ACTIVITY_KIND_KERNEL;
    append(l, r, op.end);
  } else if (op.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    append(l, memset_record(op, correlation), op.end);
  } else if (op.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    append(l, memcpy_record(op, correlation), op.end);
  } else {
    append(l, peer_copy_record(op, correlation), op.end);
  }
}

static void event_activity(const synchronization& s) {
  if (!on(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) return;
  CUpti_ActivityCudaEvent2 r{};
  r.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  r.correlationId = s.correlation;
  r.contextId = s.context;
  r.streamId = s.stream;
  r.eventId = s.event;
  append(api_lane(own()), r);
}

void synchronization_activity(const synchronization& s) {
  if (s.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN) return event_activity(s);
  if (!on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 r{};
  r.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  r.type = s.type;
  r.start = s.start;
  r.end = s.end;
  r.correlationId = s.correlation;
  r.contextId = s.context;
  r.streamId = s.stream;
  r.cudaEventId = s.event;
  append(api_lane(own()), r);
}

void lazy_loading_activity(const api_call& c, std::uint64_t start, std::uint64_t end) {
  if (!on(CUPTI_ACTIVITY_KIND_OVERHEAD)) return;
  thread_lane& mine = own();
  CUpti_ActivityOverhead3 r{};
  r.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  r.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  r.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  r.objectId.pt.processId = static_cast<std::uint32_t>(::getpid());
  r.objectId.pt.threadId = mine.id;
  r.start = start;
  r.end = end;
  r.correlationId = c.correlation;
  append(api_lane(mine), r);
}

}  // namespace scripted
