// SPDX-License-Identifier: MIT
#include "gpu.hpp"

#include "scripted_cuda.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <thread>

namespace scripted {

namespace {

std::atomic<std::uint64_t> launches{0}, operations{0};
thread_local runtime_thread runtime_of_thread;

}  // namespace

runtime_thread& this_thread() { return runtime_of_thread; }

std::uint32_t devices() { return static_cast<std::uint32_t>(shared().set.devices); }

gpu& gpu_of(std::uint32_t device) {
  static gpu* all = [] {
    auto* made = new gpu[16];
    for (std::uint32_t i = 0; i < 16; ++i) {
      made[i].context = {i + 1, i};
      made[i].legacy.id = 7;
      made[i].legacy.device = i;
      made[i].legacy.legacy = true;
    }
    return made;
  }();
  return all[device];
}

CUstream_st& resolve(cudaStream_t stream) {
  runtime_thread& t = this_thread();
  if (stream == nullptr || stream == cudaStreamLegacy) return gpu_of(t.device).legacy;
  if (stream != cudaStreamPerThread) return *stream;
  CUstream_st*& own = t.per_thread[t.device];
  if (own == nullptr) {
    gpu& g = gpu_of(t.device);
    const std::lock_guard guard(g.lock);
    own = new CUstream_st;
    own->id = g.next_stream++;
    own->device = t.device;
  }
  return *own;
}

void resource(CUpti_CallbackIdResource id, std::uint32_t device, CUstream stream,
              CUpti_GraphData* graph) {
  if (const hooks* h = shared().hook.load(std::memory_order_acquire)) {
    h->resource(id, &gpu_of(device).context, stream, graph);
  }
}

// ---- entry and exit

// Who looks for a driver finds it loaded, as with a real runtime: it is the file beside this
// library.
static void load_driver() {
  Dl_info mine{};
  if (dladdr(reinterpret_cast<void*>(&scripted_shared_state), &mine) == 0) return;
  const std::string path = mine.dli_fname;
  dlopen((path.substr(0, path.rfind('/') + 1) + "libcuda.so.1").c_str(), RTLD_LAZY | RTLD_LOCAL);
}

static void make_context(std::uint32_t device) {
  gpu& g = gpu_of(device);
  if (!g.exists.load(std::memory_order_acquire)) {
    static std::once_flag driver;
    std::call_once(driver, load_driver);
    const std::lock_guard guard(g.creating);
    if (!g.exists.exchange(true))
      resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, device, nullptr, nullptr);
  }
  current_thread().context = &g.context;
}

static bool synchronizes(const api_call& c) {  // what CUPTI allows within its callbacks
  if (c.domain == CUPTI_CB_DOMAIN_DRIVER_API)
    return c.cbid == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;
  return c.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020 ||
         c.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020 ||
         c.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020;
}

bool enter(api_call& self, bool needs_context, cudaError_t& refused) {
  shared_state& all = shared();
  if (all.forked.load(std::memory_order_relaxed)) {
    refused = cudaErrorInitializationError;
  } else if (all.set.no_driver && needs_context) {
    refused = cudaErrorInsufficientDriver;
  } else if (all.set.devices == 0 && needs_context) {
    refused = cudaErrorNoDevice;
  }
  if (refused != cudaSuccess) {
    this_thread().last_error = refused;
    return false;
  }
  const thread_state& t = current_thread();
  if (t.in_callback || t.in_buffer_callback) {
    if (t.in_buffer_callback || !synchronizes(self))
      scripted_note_misuse("a CUDA call from within a CUPTI callback");
  }
  self.correlation = all.correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  if (const hooks* h = all.hook.load(std::memory_order_acquire)) {
    h->enter(self);
  } else {
    self.start = host_now();
  }
  if (needs_context) make_context(this_thread().device);
  return true;
}

cudaError_t leave(api_call& self, cudaError_t result) {
  self.result = static_cast<std::uint32_t>(result);
  if (const hooks* h = shared().hook.load(std::memory_order_acquire)) h->exit(self);
  if (self.domain == CUPTI_CB_DOMAIN_RUNTIME_API && result != cudaSuccess &&
      result != cudaErrorNotReady)
    this_thread().last_error = result;
  return result;
}

api_call enter_driver(const api_call& outer, CUpti_driver_api_trace_cbid cbid,
                      const void* parameters) {
  shared_state& all = shared();
  api_call self{.domain = CUPTI_CB_DOMAIN_DRIVER_API,
                .cbid = static_cast<std::uint32_t>(cbid),
                .correlation = outer.correlation,
                .parameters = parameters,
                .symbol = outer.symbol,
                .start = outer.start,
                .outer_recorded = outer.recorded};
  if (all.set.own_driver_id)
    self.correlation = all.correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  if (const hooks* h = all.hook.load(std::memory_order_acquire)) h->enter(self);
  return self;
}

void leave_driver(api_call& self, cudaError_t result) {
  // The codes of the runtime are the driver's, but for a few that no test reads.
  self.result = static_cast<std::uint32_t>(
      result == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : result);
  if (const hooks* h = shared().hook.load(std::memory_order_acquire)) h->exit(self);
}

// ---- time

namespace {

constexpr std::uint64_t microsecond = 1'000, millisecond = 1'000'000;
// How far a stream's work may be ahead of the clock. A real GPU blocks the launch; this one lets
// its clock skip ahead, so that what waits for completion stays bounded.
constexpr std::uint64_t deepest_queue = 100 * millisecond;

void skip(std::uint64_t by) { shared().skipped.fetch_add(by, std::memory_order_relaxed); }

}  // namespace

std::uint64_t begin_locked(gpu& g, CUstream_st& s, std::uint64_t launched) {
  std::uint64_t begin =
      std::max(launched + shared().skipped.load(std::memory_order_relaxed), s.end);
  if (s.legacy) begin = std::max({begin, g.legacy_end, g.blocking_end});
  else if (s.blocking) begin = std::max(begin, g.legacy_end);
  return begin;
}

void end_locked(gpu& g, CUstream_st& s, std::uint64_t launched, std::uint64_t end) {
  s.end = end;
  if (s.legacy) g.legacy_end = end;
  else if (s.blocking) g.blocking_end = std::max(g.blocking_end, end);
  g.latest_end = std::max(g.latest_end, end);
  const std::uint64_t limit =
      launched + shared().skipped.load(std::memory_order_relaxed) + deepest_queue;
  if (end > limit) skip(end - limit);
}

std::uint64_t duration_locked(CUstream_st& s, const device_op& op) {
  const settings& set = shared().set;
  const std::uint64_t random =
      mix(set.seed + (std::uint64_t{s.device} << 56U) + (std::uint64_t{s.id} << 40U) + s.count++);
  std::uint64_t ns = op.takes;
  if (ns != 0) return std::max<std::uint64_t>(ns / set.speed, 1);
  if (op.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const std::uint64_t typical = set.kernel_us * microsecond;
    ns = typical / 5 + random % (typical / 5 * 9 + 1);
  } else {  // 2,000 GB/s in a GPU, 20 GB/s to the host and between GPUs
    const bool inside =
        op.kind == CUPTI_ACTIVITY_KIND_MEMSET || op.copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    ns = microsecond + random % microsecond + op.bytes / (inside ? 2'000 : 20);
  }
  return std::max<std::uint64_t>(ns / set.speed, 1);
}

void perform(const work& what) {
  if (what.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    for (std::size_t row = 0; row < what.height; ++row) {
      std::memmove(what.to + row * what.to_pitch, what.from + row * what.from_pitch, what.width);
    }
  } else if (what.type == CU_GRAPH_NODE_TYPE_MEMSET) {
    for (std::size_t row = 0; row < what.height; ++row) {
      char* line = what.to + row * what.to_pitch;
      if (what.element_size == 1) std::memset(line, static_cast<int>(what.op.value), what.width);
      else
        for (std::size_t i = 0; i < what.width; i += what.element_size)
          std::memcpy(line + i, &what.op.value, what.element_size);
    }
  }
}

void ran(const device_op& op) {
  operations.fetch_add(1, std::memory_order_relaxed);
  if (op.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
    launches.fetch_add(1, std::memory_order_relaxed);
  if (const hooks* h = shared().hook.load(std::memory_order_acquire)) h->device(op);
}

cudaError_t submit(const api_call& self, CUstream_st& s, work& what) {
  if (s.capturing) return capture_work(s, what);
  if (s.legacy && any_blocking_capture())
    return invalidate_captures(), cudaErrorStreamCaptureImplicit;
  if (s.device != this_thread().device && what.type == CU_GRAPH_NODE_TYPE_KERNEL)
    return cudaErrorInvalidResourceHandle;
  gpu& g = gpu_of(s.device);
  device_op& op = what.op;
  op.device = s.device;
  op.context = g.context.id;
  op.stream = s.id;
  op.correlation = self.correlation;
  op.api_recorded = self.recorded || self.outer_recorded;
  {
    const std::lock_guard guard(g.lock);
    const std::uint64_t latency = 2 * microsecond / shared().set.speed;
    op.start = begin_locked(g, s, self.start + latency);
    op.end = op.start + (op.kind == CUPTI_ACTIVITY_KIND_INVALID ? 0 : duration_locked(s, op));
    end_locked(g, s, self.start, op.end);
  }
  if (what.type == CU_GRAPH_NODE_TYPE_HOST) {
    run_later(op.end, what.function, what.argument);
  } else {
    perform(what);
    ran(op);
  }
  return cudaSuccess;
}

void wait_until(std::uint64_t gpu_time) {
  for (std::uint64_t now = gpu_now(); now < gpu_time; now = gpu_now()) {
    const std::uint64_t left = gpu_time - now;
    if (left > shared().set.wait_ms * millisecond) {
      skip(left);
    } else if (left < 60 * microsecond) {  // less than a sleep takes
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::nanoseconds(left - 50 * microsecond));
    }
  }
}

// ---- host functions, on a thread of their own as with a real driver

namespace {

struct host_function {
  std::uint64_t due;
  cudaHostFn_t function;
  void* argument;
};

struct host_functions {
  std::mutex lock;
  std::condition_variable changed;
  std::deque<host_function> queue;
  std::uint64_t added = 0, finished = 0;
  bool running = false;
};

host_functions& functions() {
  static auto* made = new host_functions;
  return *made;
}

void run_host_functions() {
  host_functions& f = functions();
  std::unique_lock guard(f.lock);
  for (;;) {
    f.changed.wait(guard, [&] { return !f.queue.empty(); });
    const host_function next = f.queue.front();
    f.queue.pop_front();
    guard.unlock();
    wait_until(next.due);
    next.function(next.argument);
    guard.lock();
    ++f.finished;
    f.changed.notify_all();
  }
}

}  // namespace

void run_later(std::uint64_t gpu_time, cudaHostFn_t function, void* argument) {
  host_functions& f = functions();
  const std::lock_guard guard(f.lock);
  if (!f.running) std::thread(run_host_functions).detach();
  f.running = true;
  f.queue.push_back({gpu_time, function, argument});
  ++f.added;
  f.changed.notify_all();
}

void wait_for_host_functions() {
  host_functions& f = functions();
  std::unique_lock guard(f.lock);
  const std::uint64_t before = f.added;
  f.changed.wait(guard, [&] { return f.finished >= before; });
}

}  // namespace scripted

extern "C" {

CUcontext scripted_context(std::uint32_t device) {
  scripted::gpu& g = scripted::gpu_of(device);
  return g.exists ? &g.context : nullptr;
}

std::uint64_t scripted_launches() { return scripted::launches; }
std::uint64_t scripted_device_operations() { return scripted::operations; }

}  // extern "C"
