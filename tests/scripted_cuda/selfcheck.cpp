// SPDX-License-Identifier: MIT
// selfcheck <case>: runs a case of the files beside this one with the client that they share.
#include "selfcheck.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace {

std::atomic<int> failures{0};

std::map<std::string, void (*)()>& cases() {
  static std::map<std::string, void (*)()> all;
  return all;
}

}  // namespace

registered_case::registered_case(const char* name, void (*run)()) { cases()[name] = run; }

void check(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

void* library = nullptr;

seen& all() {
  static auto* made = new seen;
  return *made;
}
std::size_t buffer_bytes = 1 << 16, most_records = 0, refuse_after = ~std::size_t{0};

void requested(std::uint8_t** data, std::size_t* size, std::size_t* most) {
  *data = refuse_after-- == 0 ? (refuse_after = 0, nullptr)
                              : static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = buffer_bytes;
  *most = most_records;
}
void completed(CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t valid) {
  const std::lock_guard guard(all().lock);
  all().buffers.emplace_back(data, valid);
  all().delivery_threads.insert(std::this_thread::get_id());
}

static void note_graph(CUpti_CallbackId cbid, const CUpti_GraphData& g) {
  std::uint64_t node = 0, original = 0;
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.node, &node) == CUPTI_SUCCESS);
    all().created.insert(node);
  } else if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.node, &node) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.originalNode, &original) == CUPTI_SUCCESS);
    CHECK(all().created.count(node) == 1);
    all().cloned_from[node] = original;
  }
}

void called_back(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  std::string text;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    text = "resource " + std::to_string(cbid);
    const std::lock_guard guard(all().lock);
    const auto* graph = static_cast<CUpti_GraphData*>(
        static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
    if (graph != nullptr) note_graph(cbid, *graph);
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    const bool enter = call.callbackSite == CUPTI_API_ENTER;
    if (enter) *call.correlationData = 40U + call.correlationId;
    else
      CHECK(*call.correlationData == 40U + call.correlationId &&
            call.functionReturnValue != nullptr);
    text = std::string(enter ? "+" : "-") + call.functionName + " " +
           std::to_string(call.correlationId);
  }
  const std::lock_guard guard(all().lock);
  all().callbacks.push_back(text);
}

CUpti_SubscriberHandle start(std::initializer_list<CUpti_ActivityKind> kinds,
                             std::initializer_list<CUpti_CallbackDomain> domains) {
  CUpti_SubscriberHandle handle = nullptr;
  CHECK(CUPTI(cuptiSubscribe)(&handle, called_back, nullptr) == CUPTI_SUCCESS);
  for (const auto domain : domains)
    CHECK(CUPTI(cuptiEnableDomain)(1, handle, domain) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) == CUPTI_SUCCESS);
  for (const auto kind : kinds) CHECK(CUPTI(cuptiActivityEnable)(kind) == CUPTI_SUCCESS);
  return handle;
}

static record decode(const CUpti_Activity* a) {
  record r;
  r.kind = a->kind;
  const auto timed = [&](const auto& t) {
    r.correlation = t.correlationId, r.start = t.start, r.end = t.end;
  };
  const auto device = [&](const auto& t) {
    timed(t);
    r.stream = t.streamId, r.device = t.deviceId, r.node = t.graphNodeId;
  };
  switch (static_cast<int>(a->kind)) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityKernel5*>(a);
      device(k);
      r.name = k.name;
      r.graph = k.graphId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemcpy4*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP3*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemset3*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityAPI*>(a);
      timed(k);
      r.cbid = k.cbid;
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(a);
      r.correlation = k.correlationId;
      r.external = k.externalId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityDevice4*>(a);
      r.name = k.name;
      r.device = k.id;
      break;
    }
    default: break;
  }
  return r;
}

std::vector<record> take() {
  std::vector<std::pair<std::uint8_t*, std::size_t>> buffers;
  {
    const std::lock_guard guard(all().lock);
    buffers.swap(all().buffers);
  }
  std::vector<record> records;
  for (const auto& [data, valid] : buffers) {
    CUpti_Activity* a = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = CUPTI(cuptiActivityGetNextRecord)(data, valid, &a)) == CUPTI_SUCCESS)
      records.push_back(decode(a));
    CHECK(result == CUPTI_ERROR_MAX_LIMIT_REACHED);
    std::free(data);
  }
  return records;
}

std::vector<record> of(const std::vector<record>& records, CUpti_ActivityKind kind) {
  std::vector<record> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [&](const record& r) { return r.kind == kind; });
  return found;
}

std::vector<record> flush(std::uint32_t flag) {
  CHECK(CUPTI(cuptiActivityFlushAll)(flag) == CUPTI_SUCCESS);
  return take();
}

void launch(const char* name, cudaStream_t stream, unsigned blocks) {
  CHECK(cudaLaunchKernel(scripted_kernel(name), dim3(blocks), dim3(128), nullptr, 0, stream) ==
        cudaSuccess);
}

std::size_t dropped() {
  std::size_t count = 0;
  CHECK(CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &count) == CUPTI_SUCCESS);
  return count;
}

int main(int argc, char** argv) {
  const auto found = cases().find(argc > 1 ? argv[1] : "");
  library = dlopen(SCRIPTED_CUPTI, RTLD_NOW | RTLD_LOCAL);
  if (found == cases().end() || library == nullptr) {
    for (const auto& one : cases()) std::puts(one.first.c_str());
    std::fprintf(stderr, "selfcheck: no such case, or %s\n",
                 library == nullptr ? dlerror() : "none");
    return 2;
  }
  found->second();
  if (found->first != "misuse") CHECK(scripted_misuse() == 0);
  return failures == 0 ? 0 : 1;
}
