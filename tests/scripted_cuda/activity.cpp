// SPDX-License-Identifier: MIT
// The buffers of activity records: who fills them, and how they are delivered.
#include "activity.hpp"

#include "records.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using namespace scripted;

namespace {

// ---- state, leaked: a client's atexit handlers and threads may still come here

constexpr std::size_t kinds = 128;
std::atomic<bool> enabled[kinds];
std::atomic<bool> api_enabled[2][1024];  // driver, runtime
std::atomic<std::uint64_t> dropped{0};
std::atomic<bool> per_thread_buffers{true}, system_thread_ids{false};
std::atomic<std::uint64_t> device_records{0}, buffer_requests{0}, deliveries{0};

bool on(CUpti_ActivityKind kind) { return enabled[kind].load(std::memory_order_relaxed); }

// The lock that CUPTI holds while it calls a client's buffer callbacks. Who waits for it this long
// waits for ever: somebody calls CUPTI while holding a lock that a buffer callback takes.
class internal_lock {
 public:
  void lock() {
    if (pthread_mutex_trylock(&mutex_) == 0) return;
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += static_cast<time_t>(shared().set.deadlock_s);
    if (pthread_mutex_timedlock(&mutex_, &until) == 0) return;
    scripted_note_misuse(
        "deadlock: a call waits for ever for the lock that CUPTI holds around buffer callbacks");
    std::abort();
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

struct buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, capacity = 0, used = 0, records = 0, most = 0;
  std::uint64_t latest_end = 0;  // in GPU time: complete from then on
};

// A buffer that is being filled. Its lock is taken after the internal one.
struct lane {
  std::mutex lock;
  buffer current;
};

struct thread_lane : lane {
  std::uint32_t id = 0;
  std::vector<std::uint64_t> external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
};

struct activity_state {
  internal_lock lock;  // guards the members down to `stopped`
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<buffer> full;
  std::vector<thread_lane*> threads;
  std::atomic<bool> due{false};  // full buffers have not been looked at yet
  std::thread delivery;
  bool stopped = false;

  lane device;
  std::mutex wake_lock;
  std::condition_variable wake;
  bool woken = false, stopping = false;
};

activity_state& state() {
  static auto* made = new activity_state;
  return *made;
}

// ---- delivery; all of it under the internal lock

void deliver(std::vector<buffer>& ready) {
  for (std::size_t left = ready.size(); left > 1; --left) {  // no order is promised
    std::swap(ready[left - 1], ready[mix(shared().set.seed + deliveries++) % left]);
  }
  thread_state& t = current_thread();
  for (const buffer& b : ready) {
    if (shared().truth != nullptr) write_truth(shared().truth, b.data, b.used);
    t.in_buffer_callback = true;
    state().complete(nullptr, 0, b.data, b.size, b.used);
    t.in_buffer_callback = false;
  }
}

void take_complete(std::vector<buffer>& from, std::vector<buffer>& ready, bool forced) {
  const std::uint64_t now = gpu_now();
  const auto complete = [&](const buffer& b) { return forced || b.latest_end <= now; };
  std::copy_if(from.begin(), from.end(), std::back_inserter(ready), complete);
  std::erase_if(from, complete);
}

void deliver_full_buffers() {
  activity_state& s = state();
  std::vector<buffer> ready;
  bool waiting = false;
  for (;;) {
    {
      std::unique_lock guard(s.wake_lock);
      const auto woken = [&] { return s.woken || s.stopping; };
      if (waiting)
        s.wake.wait_until(guard, std::chrono::system_clock::now() + std::chrono::milliseconds(1),
                          woken);
      else s.wake.wait(guard, woken);
      if (s.stopping) return;
      s.woken = false;
    }
    const std::lock_guard guard(s.lock);
    ready.clear();
    take_complete(s.full, ready, false);
    waiting = !s.full.empty();
    deliver(ready);
    s.due = false;
  }
}

void wake_delivery(bool& flag) {
  const std::lock_guard guard(state().wake_lock);
  flag = true;
  state().wake.notify_one();
}

void stop_delivery() {
  if (shared().forked) return;
  activity_state& s = state();
  {
    const std::lock_guard guard(s.lock);
    s.stopped = true;
    if (!s.delivery.joinable()) return;
  }
  wake_delivery(s.stopping);
  s.delivery.join();
}

void retire(buffer& b) {
  activity_state& s = state();
  s.full.push_back(b);
  b = {};
  if (!s.stopped && !s.delivery.joinable()) s.delivery = std::thread(deliver_full_buffers);
  s.due = !s.stopped;
  wake_delivery(s.woken);
}

// ---- filling

bool fits(const buffer& b, std::size_t bytes, std::size_t records) {
  return b.data != nullptr && b.used + bytes <= b.capacity &&
         (b.most == 0 || b.records + records <= b.most);
}

void request(buffer& b) {
  const settings& set = shared().set;
  if (state().request == nullptr || (set.refuse != 0 && ++buffer_requests % set.refuse == 0))
    return;
  thread_state& t = current_thread();
  const bool outer = std::exchange(t.in_buffer_callback, true);
  state().request(&b.data, &b.size, &b.most);
  t.in_buffer_callback = outer;
  if (b.data == nullptr && set.version < 27)
    scripted_note_misuse("a refused buffer, which crashes CUPTI before 12.9");
  if (reinterpret_cast<std::uintptr_t>(b.data) % 8 != 0) {
    scripted_note_misuse("a buffer that is not aligned to 8 bytes");
    b = {};
  }
  b.capacity = set.buffer == 0 ? b.size : std::min<std::size_t>(b.size, set.buffer);
}

void write(buffer& b, const std::uint8_t* bytes, std::size_t size, std::size_t records,
           std::uint64_t end) {
  std::memcpy(b.data + b.used, bytes, size);
  b.used += size;
  b.records += records;
  b.latest_end = std::max(b.latest_end, end);
}

// Adds records that stay together.
void append(lane& l, const std::uint8_t* bytes, std::size_t size, std::size_t records,
            std::uint64_t end) {
  {
    const std::lock_guard guard(l.lock);
    if (fits(l.current, size, records)) return write(l.current, bytes, size, records, end);
  }
  // CUPTI's own thread keeps up with those that launch: they do not take the lock away from it for
  // long.
  for (int i = 0; i < 100 && state().due; ++i)
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  const std::lock_guard outer(state().lock);
  const std::lock_guard guard(l.lock);
  if (!fits(l.current, size, records) && l.current.records != 0) retire(l.current);
  if (l.current.data == nullptr) request(l.current);
  if (fits(l.current, size, records)) write(l.current, bytes, size, records, end);
  else dropped += records;
}

// One record, in the size that it has in the claimed version.
template <class Record>
void append(lane& l, const Record& record, std::uint64_t end = 0) {
  append(l, reinterpret_cast<const std::uint8_t*>(&record), record_size(record.kind), 1, end);
}

// ---- threads

thread_local thread_lane* own_lane = nullptr;

struct lane_reaper {
  thread_lane* lane = nullptr;
  bool dead = false;
  ~lane_reaper() {
    dead = true;
    if (lane == nullptr || shared().forked) return;
    activity_state& s = state();
    const std::lock_guard guard(s.lock);
    if (lane->current.data != nullptr) retire(lane->current);  // an empty buffer goes back too
    std::erase(s.threads, lane);
    delete lane;
    own_lane = nullptr;
  }
};
thread_local lane_reaper reaper;

thread_lane& make_own_lane() {
  auto* made = new thread_lane;
  made->id = static_cast<std::uint32_t>(
      system_thread_ids ? static_cast<std::uint64_t>(::syscall(SYS_gettid)) : pthread_self());
  if (!reaper.dead) reaper.lane = made;
  const std::lock_guard guard(state().lock);
  state().threads.push_back(made);
  return *made;
}

thread_lane& own() {
  if (own_lane == nullptr) own_lane = &make_own_lane();
  return *own_lane;
}

lane& api_lane(thread_lane& mine) {
  return per_thread_buffers.load(std::memory_order_relaxed) ? mine : state().device;
}

}  // namespace

namespace scripted {

void begin_activity(api_call& c) {
  c.recorded =
      api_enabled[c.domain == CUPTI_CB_DOMAIN_RUNTIME_API][c.cbid].load(std::memory_order_relaxed);
  // What was pushed before the call: whether a push from the entry callback still counts is not
  // documented.
  if (c.recorded && on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) && own_lane != nullptr) {
    for (unsigned kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
      const auto& stack = own_lane->external[kind];
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
    ++dropped;
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

void synchronization_activity(const synchronization& s) {
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

// ---- the interface

namespace {

CUptiResult enable(CUpti_ActivityKind kind, bool dump) {
  const settings& set = shared().set;
  if (set.refuse_activity) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
    return CUPTI_ERROR_INVALID_KIND;
  if (set.failing_kind == static_cast<unsigned>(kind))
    return static_cast<CUptiResult>(set.failing_code);
  install_hooks();
  enabled[kind] = true;
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    for (auto& one : api_enabled[kind == CUPTI_ACTIVITY_KIND_RUNTIME]) one = true;
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

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  return cupti_call(without_driver, __func__, [&] {
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
  return cupti_call(anywhere, __func__, [&] { return enable(kind, false); });
}
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  return cupti_call(anywhere, __func__, [&] { return enable(kind, true); });
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return cupti_call(anywhere, __func__, [&] {
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
      return CUPTI_ERROR_INVALID_KIND;
    enabled[kind] = false;
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) {
      for (auto& one : api_enabled[kind == CUPTI_ACTIVITY_KIND_RUNTIME]) one = false;
    }
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return cupti_call(anywhere, __func__, [&] {
    if (cbid >= CUPTI_RUNTIME_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    install_hooks();
    return api_enabled[1][cbid] = enable != 0, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return cupti_call(anywhere, __func__, [&] {
    if (cbid >= CUPTI_DRIVER_TRACE_CBID_SIZE) return CUPTI_ERROR_INVALID_PARAMETER;
    install_hooks();
    return api_enabled[0][cbid] = enable != 0, CUPTI_SUCCESS;
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
  if (data == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - data);
    at += record_size((*record)->kind);
  }
  if (at >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const std::size_t size = record_size(kind_at(data + at));
  if (size == 0 || at + size > valid) return CUPTI_ERROR_INVALID_KIND;
  *record = reinterpret_cast<CUpti_Activity*>(data + at);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* count) {
  return cupti_call(without_driver | in_buffer_callbacks, __func__, [&] {
    if (count == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    // The real one takes the internal lock as well, which a buffer callback holds already.
    const bool inside = current_thread().in_buffer_callback;
    if (!inside) state().lock.lock();
    *count = dropped.exchange(0);
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
    return system_thread_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, CUPTI_SUCCESS;
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
      per_thread_buffers = given != 0;
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
