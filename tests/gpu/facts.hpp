// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_FACTS_HPP
#define KPROF_TESTS_GPU_FACTS_HPP

// What the programs share that ask CUPTI itself, with nothing of kprof in between: its functions,
// the records and callbacks that come, and the lines that answer: "FACT <key>: <answer>". Where an
// answer is "all" or "none" it says the same in every run on one machine; numbers are in notes.
// facts.py knows the question to each key and makes docs/what_cupti_does.md of the answers.

#include "check.hpp"

#include <kprof/collect/cupti_calls.hpp>
#include <kprof/collect/cupti_library.hpp>

#include <cupti.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

inline void fact(const std::string& key, const std::string& answer) {
  std::printf("FACT %s: %s\n", key.c_str(), answer.c_str());
  std::fflush(stdout);
}
inline std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }
/// "all", "none" or "3 of 8": the same in every run where it is one of the first two.
inline std::string how_many(std::size_t some, std::size_t all) {
  if (all == 0) return "there are none";
  if (some == all) return "all";
  return some == 0 ? "none" : std::to_string(some) + " of " + std::to_string(all);
}

// ---- functions

/// Opened as kprof opens it, and never closed.
inline void* cupti_library() {
  static void* const library = [] {
    void* opened = nullptr;
    for (const std::string& name : kprof::detail::cupti::library_names())
      if (opened == nullptr) opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) skip("libcupti was not found");
    return opened;
  }();
  return library;
}
template <class Function>
Function* cupti_function(const char* name, bool needed = true) {
  return function_of<Function>(cupti_library(), name, needed);
}
inline std::string result_text(CUptiResult result) {
  const char* text = nullptr;
  cupti_function<decltype(cuptiGetResultString)>("cuptiGetResultString")(result, &text);
  return std::to_string(static_cast<int>(result)) +
         (text == nullptr ? "" : std::string{" "} + text);
}
inline void cupti_must(CUptiResult result, const char* name, const char* file, int line) {
  if (result == CUPTI_SUCCESS) return;
  report_check(false, std::string{"CUPTI works, "} + name,
               result_text(result) + " (" + file + ':' + std::to_string(line) + ')');
  std::exit(1);
}
/// The header's declaration, the opened library's function.
#define CUPTI_FUNCTION(name) cupti_function<decltype(name)>(#name)
#define CUPTI(name, ...) cupti_must(CUPTI_FUNCTION(name)(__VA_ARGS__), #name, __FILE__, __LINE__)

inline std::uint32_t cupti_version() {
  std::uint32_t version = 0;
  CUPTI(cuptiGetVersion, &version);
  return version;
}

// ---- records

/// What is common to the records of kernels, copies, memsets and API calls.
struct record {
  CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_INVALID;
  std::uint64_t start = 0, end = 0, node = 0;
  std::uint32_t correlation = 0, stream = 0, graph = 0;
  std::uint64_t external = 0;  // of records of external correlation
  std::uint64_t bytes = 0;     // of copies and memsets
  std::int32_t grid_x = 0;     // of kernels
  std::size_t buffer = 0;      // the how-manieth that was delivered

  bool is_work() const {
    return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
           kind == CUPTI_ACTIVITY_KIND_MEMSET;
  }
};

/// The activity that CUPTI tells, one log a process. Its callbacks only queue; buffers are read
/// when somebody asks.
class activity_log {
 public:
  /// Takes buffers of so many bytes, from now on. Before any kind is enabled.
  static void begin(std::size_t buffer_bytes = 1U << 20) {
    one().bytes_ = buffer_bytes;
    CUPTI(cuptiActivityRegisterCallbacks, request, complete);
  }
  /// Everything that came so far.
  static std::vector<record> records() {
    const std::lock_guard lock{one().mutex_};
    one().read_all();
    return one().records_;
  }
  static std::vector<record> work() {
    std::vector<record> all = records();
    all.erase(std::remove_if(all.begin(), all.end(), [](const record& r) { return !r.is_work(); }),
              all.end());
    return all;
  }
  static std::size_t buffers() {
    const std::lock_guard lock{one().mutex_};
    return one().completers_.size();
  }
  static std::uint64_t dropped() {
    const std::lock_guard lock{one().mutex_};
    return one().dropped_;
  }
  /// The threads that took buffers, one entry a buffer.
  static std::vector<std::thread::id> completers() {
    const std::lock_guard lock{one().mutex_};
    return one().completers_;
  }
  static std::vector<std::thread::id> requesters() {
    const std::lock_guard lock{one().mutex_};
    return one().requesters_;
  }
  static void forget() {
    const std::lock_guard lock{one().mutex_};
    one().read_all();
    one().records_.clear();
  }

 private:
  static activity_log& one() {
    static auto* const log = new activity_log;  // CUPTI may deliver until the process ends
    return *log;
  }
  static void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
    activity_log& log = one();
    *size = log.bytes_, *most = 0;
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, log.bytes_));
    const std::lock_guard lock{log.mutex_};
    log.requesters_.push_back(std::this_thread::get_id());
  }
  static void CUPTIAPI complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t, std::size_t valid) {
    activity_log& log = one();
    std::size_t lost = 0;
    // not under the lock, which CUPTI's own could meet
    CUPTI_FUNCTION(cuptiActivityGetNumDroppedRecords)(context, stream, &lost);
    const std::lock_guard lock{log.mutex_};
    log.queued_.push_back({buffer, valid, log.completers_.size()});
    log.dropped_ += lost;
    log.completers_.push_back(std::this_thread::get_id());
  }
  void read_all() {  // with the lock: reading a buffer takes none of CUPTI's
    const auto next = CUPTI_FUNCTION(cuptiActivityGetNextRecord);
    for (const full& b : queued_) {
      CUpti_Activity* activity = nullptr;
      while (b.valid > 0 && next(b.data, b.valid, &activity) == CUPTI_SUCCESS) {
        records_.push_back(read(*activity));
        records_.back().buffer = b.number;
      }
      std::free(b.data);
    }
    queued_.clear();
  }
  template <class Record>
  static record work_of(const CUpti_Activity& a) {
    const auto& r = reinterpret_cast<const Record&>(a);
    record out;
    out.start = r.start, out.end = r.end, out.node = r.graphNodeId, out.graph = r.graphId;
    out.correlation = r.correlationId, out.stream = r.streamId;
    return out;
  }
  static record read(const CUpti_Activity& a) {
    record out;
    switch (a.kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        out = work_of<CUpti_ActivityKernel5>(a);
        out.grid_x = reinterpret_cast<const CUpti_ActivityKernel5&>(a).gridX;
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        out = work_of<CUpti_ActivityMemcpy4>(a);
        out.bytes = reinterpret_cast<const CUpti_ActivityMemcpy4&>(a).bytes;
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        out = work_of<CUpti_ActivityMemset3>(a);
        out.bytes = reinterpret_cast<const CUpti_ActivityMemset3&>(a).bytes;
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER: {
        const auto& r = reinterpret_cast<const CUpti_ActivityAPI&>(a);
        out.start = r.start, out.end = r.end, out.correlation = r.correlationId;
        break;
      }
      case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
        const auto& r = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(a);
        out.correlation = r.correlationId, out.external = r.externalId;
        break;
      }
      default: break;
    }
    out.kind = a.kind;
    return out;
  }

  struct full {
    std::uint8_t* data;
    std::size_t valid, number;
  };

  std::mutex mutex_;
  std::vector<full> queued_;
  std::vector<record> records_;
  std::vector<std::thread::id> completers_, requesters_;  // one a buffer
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

/// The kinds that kprof enables for the device's work.
inline void enable_work() {
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    CUPTI(cuptiActivityEnable, kind);
}
/// Waits for the device, and takes what is complete.
inline void finish_work() {
  CUDA(cudaDeviceSynchronize());
  CUPTI(cuptiActivityFlushAll, 0);
}

// ---- callbacks

/// A callback, in the order they came on this thread's side.
struct event {
  CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_INVALID;
  // depth: how many API calls are around it on its thread
  std::uint32_t id = 0, correlation = 0, depth = 0;
  bool enter = true;
  std::uint64_t node = 0, original_node = 0;
  CUgraphNode handle = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;  // of a node that was created

  bool is_call() const {
    return enter && (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API);
  }
};

/// The callbacks of the domains that are asked for; one a process, as there is one subscriber a
/// process.
class callback_log {
 public:
  static void begin(std::initializer_list<CUpti_CallbackDomain> domains) {
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(cuptiSubscribe, &subscriber, listen, nullptr);
    for (const CUpti_CallbackDomain domain : domains)
      CUPTI(cuptiEnableDomain, 1, subscriber, domain);
  }
  static std::vector<event> events() {
    const std::lock_guard lock{one().mutex_};
    return one().events_;
  }
  static void forget() {
    const std::lock_guard lock{one().mutex_};
    one().events_.clear();
  }
  static std::string name_of(CUpti_CallbackDomain domain, std::uint32_t id) {
    const char* name = nullptr;
    const bool found =
        CUPTI_FUNCTION(cuptiGetCallbackName)(domain, id, &name) == CUPTI_SUCCESS && name != nullptr;
    return found ? name : std::to_string(id);
  }

 private:
  static callback_log& one() {
    static auto* const log = new callback_log;
    return *log;
  }
  static void CUPTIAPI listen(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data) {
    thread_local std::uint32_t depth = 0;
    event e;
    e.domain = domain, e.id = id;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      read_graph(*static_cast<const CUpti_ResourceData*>(data), id, e);
    } else {
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      e.correlation = call.correlationId, e.enter = call.callbackSite == CUPTI_API_ENTER;
      if (!e.enter) --depth;
    }
    e.depth = depth;
    if (e.is_call()) ++depth;
    const std::lock_guard lock{one().mutex_};
    one().events_.push_back(std::move(e));
  }
  static void read_graph(const CUpti_ResourceData& data, std::uint32_t id, event& e) {
    const auto* const graph = static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
    const bool has_original =
        id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED || id == CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED;
    const bool of_node = has_original || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
                         id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING;
    if (!of_node || graph == nullptr) return;
    e.handle = graph->node, e.type = graph->nodeType;
    if (graph->node != nullptr) CUPTI_FUNCTION(cuptiGetGraphNodeId)(graph->node, &e.node);
    if (has_original && graph->originalNode != nullptr)
      CUPTI_FUNCTION(cuptiGetGraphNodeId)(graph->originalNode, &e.original_node);
  }

  std::mutex mutex_;
  std::vector<event> events_;
};

/// "runtime cudaLaunchKernel_v7000 211 > driver cuLaunchKernel 307": calls, and those inside them.
inline std::string told(const std::vector<event>& events) {
  std::string text;
  for (const event& e : events) {
    if (!e.is_call()) continue;
    if (!text.empty()) text += e.depth == 0 ? ", " : " > ";
    text += e.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime " : "driver ";
    text += callback_log::name_of(e.domain, e.id) + ' ' + std::to_string(e.id);
  }
  return text.empty() ? "no callback" : text;
}
/// Whether kprof takes the call of that name for a launch.
inline bool names_launch(std::string_view name) {
  using kprof::detail::cupti::call;
  const call what = kprof::detail::cupti::classify(name);
  return what == call::launch_kernel || what == call::launch_transfer || what == call::launch_graph;
}
inline bool is_launch(const event& e) {
  return e.is_call() && names_launch(callback_log::name_of(e.domain, e.id));
}
/// Calls it once unseen, as the first call of a kind loads what it needs.
inline void tell_callbacks(const std::string& key, const std::function<void()>& launch) {
  launch();
  CUDA(cudaDeviceSynchronize());
  callback_log::forget();
  launch();
  const std::vector<event> events = callback_log::events();
  fact("callbacks." + key, told(events));
  CHECK("kprof listens to a call of " + key, std::any_of(events.begin(), events.end(), is_launch));
  CUDA(cudaDeviceSynchronize());
}

#endif
