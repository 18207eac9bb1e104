// SPDX-License-Identifier: MIT
// The callback half of the scripted libcupti, and what does not fit elsewhere.
#include "activity.hpp"
#include "callback_names.inc"

#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <utility>

using namespace scripted;

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback = nullptr;
  void* argument = nullptr;
  std::atomic<bool> enabled[CUPTI_CB_DOMAIN_SIZE][1024] = {};
};

namespace {

std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};
thread_local CUptiResult last_error = CUPTI_SUCCESS;

std::uint32_t domain_size(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API: return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API: return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE: return CUPTI_CBID_RESOURCE_SIZE;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE: return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_STATE: return CUPTI_CBID_STATE_SIZE;
    case CUPTI_CB_DOMAIN_NVTX: return 1024;
    default: return 0;
  }
}

CUpti_SubscriberHandle listening(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  CUpti_SubscriberHandle s = subscriber.load(std::memory_order_acquire);
  return s != nullptr && s->enabled[domain][cbid].load(std::memory_order_relaxed) ? s : nullptr;
}

void call_back(CUpti_SubscriberHandle s, CUpti_CallbackDomain domain, std::uint32_t cbid,
               const void* data) {
  thread_state& t = current_thread();
  const bool outer = std::exchange(t.in_callback, true);
  s->callback(s->argument, domain, cbid, data);
  t.in_callback = outer;
}

void api_callback(api_call& c, CUpti_ApiCallbackSite site) {
  CUpti_SubscriberHandle s = listening(c.domain, c.cbid);
  if (s == nullptr) return;
  CUcontext context = current_thread().context;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName =
      c.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_functions[c.cbid] : driver_names[c.cbid];
  data.functionParams = c.parameters;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &c.result : nullptr;
  data.symbolName = c.symbol;
  data.context = context;
  data.contextUid = context == nullptr ? 0 : context->id;
  data.correlationData = &c.correlation_data;
  data.correlationId = c.correlation;
  call_back(s, c.domain, c.cbid, &data);
}

void enter(api_call& c) {
  begin_activity(c);
  api_callback(c, CUPTI_API_ENTER);
}

void exit(api_call& c) {
  api_callback(c, CUPTI_API_EXIT);
  end_activity(c);
}

// From these callbacks CUPTI must not be asked to flush.
void restricted_callback(CUpti_SubscriberHandle s, CUpti_CallbackDomain domain, std::uint32_t cbid,
                         const void* data) {
  bool& inside = current_thread().in_resource_callback;
  const bool outer = std::exchange(inside, true);
  call_back(s, domain, cbid, data);
  inside = outer;
}

void resource(CUpti_CallbackIdResource cbid, CUcontext context, CUstream stream,
              CUpti_GraphData* graph) {
  CUpti_SubscriberHandle s = listening(CUPTI_CB_DOMAIN_RESOURCE, cbid);
  if (s == nullptr) return;
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceHandle.stream = stream;
  data.resourceDescriptor = graph;
  restricted_callback(s, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void synchronized(const synchronization& what) {
  synchronization_activity(what);
  const bool stream = what.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  if (!stream && what.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE) return;
  const auto cbid = stream ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                           : CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
  if (CUpti_SubscriberHandle s = listening(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid)) {
    const CUpti_SynchronizeData data{current_thread().context, nullptr};
    restricted_callback(s, CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
  }
}

constexpr hooks all_hooks{enter,           exit,         resource,
                          device_activity, synchronized, lazy_loading_activity};

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* argument,
                      char* holder, std::size_t size) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const settings& set = shared().set;
  if (set.refuse_subscription) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  // leaked: callbacks may be under way when it is unsubscribed
  auto* made = new CUpti_Subscriber_st;
  made->callback = callback;
  made->argument = argument;
  CUpti_SubscriberHandle none = nullptr;
  if (set.busy || !subscriber.compare_exchange_strong(none, made)) {
    if (holder != nullptr)
      std::snprintf(holder, size, "%s", set.busy ? "Nsight Systems" : "CUPTI for <not provided>");
    delete made;
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  install_hooks();
  *handle = made;
  return CUPTI_SUCCESS;
}

// A byte behind what CUPTI 13.0's headers have in the struct.
bool wants_others(const CUpti_SubscriberParams& parameters) {
  return parameters.structSize > sizeof parameters &&
         reinterpret_cast<const std::uint8_t*>(&parameters)[sizeof parameters] != 0;
}

bool valid(CUpti_SubscriberHandle handle) { return handle != nullptr && handle == subscriber; }

}  // namespace

namespace scripted {

void install_hooks() { shared().hook.store(&all_hooks, std::memory_order_release); }

bool refused(unsigned rules, const char* function, CUptiResult& result) {
  shared_state& all = shared();
  all.cupti_calls.fetch_add(1, std::memory_order_relaxed);
  const thread_state& t = current_thread();
  const char* misuse = nullptr;
  if (all.forked) misuse = "a cupti call in a forked child";
  else if (t.in_buffer_callback && (rules & in_buffer_callbacks) == 0)
    misuse = "a cupti call from a buffer callback";
  else if (t.in_resource_callback && (rules & not_in_resource_callbacks) != 0)
    misuse = "a flush from a resource or synchronize callback";
  else if (all.beside_others && (rules & first_set) != 0 && !t.in_second_set)
    misuse = "a call of the first set by a client of the second";
  if (misuse != nullptr) {
    std::fprintf(stderr, "scripted cupti: %s:\n", function);
    scripted_note_misuse(misuse);
    result = CUPTI_ERROR_INVALID_OPERATION;
  } else if (!t.in_second_set && scripted_call_fails(function)) {
    result = CUPTI_ERROR_UNKNOWN;
  } else if (all.set.no_driver && (rules & without_driver) == 0) {
    result = CUPTI_ERROR_UNKNOWN;
  } else if (all.set.devices == 0 && (rules & without_driver) == 0) {
    result = CUPTI_ERROR_NOT_INITIALIZED;
  }
  return result != CUPTI_SUCCESS;
}

CUptiResult finished(CUptiResult result) {
  if (result != CUPTI_SUCCESS) {
    shared().failed_calls.fetch_add(1, std::memory_order_relaxed);
    last_error = result;
  }
  return result;
}

}  // namespace scripted

namespace {
[[gnu::constructor]] void take_time_to_load() {
  if (const char* const ms = std::getenv("SCRIPTED_LOAD_MS"))
    static_cast<void>(usleep(static_cast<useconds_t>(std::atoi(ms)) * 1000));
}
}  // namespace

extern "C" {

// ---- subscriptions

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* argument) {
  return cupti_call(anywhere, __func__,
                    [&] { return subscribe(handle, callback, argument, nullptr, 0); });
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                              void* argument, CUpti_SubscriberParams* parameters) {
  return cupti_call(anywhere, __func__, [&] {
    if (parameters == nullptr) return subscribe(handle, callback, argument, nullptr, 0);
    if (parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE)
      return CUPTI_ERROR_INVALID_PARAMETER;
    settings& set = shared().set;
    const bool beside_others = wants_others(*parameters);
    if (beside_others && set.version < 130300)
      return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    const bool busy = set.busy;
    if (beside_others && set.busy_beside_others) set.busy = false;
    const CUptiResult result = subscribe(handle, callback, argument, parameters->oldSubscriberName,
                                         parameters->oldSubscriberSize);
    set.busy = busy;
    if (result == CUPTI_SUCCESS) shared().beside_others = beside_others;
    return result;
  });
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return cupti_call(anywhere, __func__, [&] {
    if (!valid(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (shared().set.refuse_end) return CUPTI_ERROR_INVALID_OPERATION;
    give_all_back();
    shared().beside_others = false;
    return subscriber = nullptr, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return cupti_call(anywhere, __func__, [&] {
    if (!valid(handle) || cbid >= domain_size(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
    return handle->enabled[domain][cbid] = enable != 0, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain) {
  return cupti_call(anywhere, __func__, [&] {
    if (!valid(handle) || domain_size(domain) == 0) return CUPTI_ERROR_INVALID_PARAMETER;
    for (auto& one : handle->enabled[domain]) one = enable != 0;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle handle) {
  return cupti_call(anywhere, __func__, [&] {
    if (!valid(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
    for (auto& domain : handle->enabled) {
      for (auto& one : domain) one = enable != 0;
    }
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetCallbackState(std::uint32_t* enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  return cupti_call(anywhere, __func__, [&] {
    if (enable == nullptr || !valid(handle) || cbid >= domain_size(domain))
      return CUPTI_ERROR_INVALID_PARAMETER;
    return *enable = handle->enabled[domain][cbid] ? 1 : 0, CUPTI_SUCCESS;
  });
}

// ---- names and versions

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid,
                                 const char** name) {
  return cupti_call(without_driver, __func__, [&] {
    if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *name = nullptr;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid < std::size(runtime_names))
      *name = runtime_names[cbid];
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid < std::size(driver_names))
      *name = driver_names[cbid];
    return *name == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
  });
}

static CUptiResult result_string(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto value = static_cast<std::size_t>(result);
  *text = value < std::size(result_names) && result_names[value] != nullptr ? result_names[value]
                                                                            : "<unknown>";
  return **text == '<' ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  return cupti_call(without_driver, __func__, [&] { return result_string(result, text); });
}
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cupti_call(without_driver, __func__, [&] {
    const CUptiResult found = result_string(result, text);
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) {
      *text =
          "User doesn't have sufficient privileges which are required to start the profiling "
          "session. ";
    }
    return found;
  });
}
CUptiResult cuptiGetLastError() {
  if (scripted_call_fails(__func__)) return CUPTI_ERROR_UNKNOWN;
  const CUptiResult last = last_error;
  last_error = CUPTI_SUCCESS;
  return last;
}
CUptiResult cuptiGetVersion(std::uint32_t* version) {
  return cupti_call(without_driver, __func__, [&] {
    return *version = static_cast<std::uint32_t>(shared().set.version), CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetTimestamp(std::uint64_t* now) {
  if (shared().forked) scripted_note_misuse("cuptiGetTimestamp in a forked child");
  if (scripted_call_fails(__func__)) return CUPTI_ERROR_UNKNOWN;
  return *now = host_now(), CUPTI_SUCCESS;
}
CUptiResult cuptiFinalize() {
  return cupti_call(without_driver, __func__, [] {
    scripted_note_misuse("cuptiFinalize, which races with other threads");
    return CUPTI_SUCCESS;
  });
}

}  // extern "C"
