// SPDX-License-Identifier: MIT
//
// What CUPTI does, asked of CUPTI itself: ids of launches and records, the callbacks of every way
// to launch, the order of records, flushes, clocks, a second subscriber, a forked child. A check
// fails where kprof could not cope with the answer.

#include "facts.hpp"
#include "facts_buffers.cuh"
#include "facts_clocks.cuh"
#include "facts_sharing.cuh"
#include "kernels.cuh"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <set>

namespace {

// ---- what it is

void machine() {
  cudaDeviceProp props{};
  int driver = 0, runtime = 0;
  CUDA(cudaGetDeviceProperties(&props, 0));
  CUDA(cudaDriverGetVersion(&driver));
  CUDA(cudaRuntimeGetVersion(&runtime));
  const auto version = [](int v) {
    return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10);
  };
  fact("machine.gpu", kernels_compute() ? props.name : "scripted CUDA");  // as --gpu says
  fact("machine.compute", std::to_string(props.major) + '.' + std::to_string(props.minor));
  fact("machine.driver", "CUDA " + version(driver));
  fact("machine.runtime", "CUDA " + version(runtime));
  fact("machine.cupti", std::to_string(cupti_version()));
  CHECK("CUPTI is of version 11.8 or later", cupti_version() >= 18);
}

// ---- correlation ids

struct id_match {
  // records; those with the id of a call of the runtime, of the driver; with none
  std::size_t all = 0, runtime = 0, driver = 0, zero = 0;
};
/// Sets the records of each kind against the launches that were called back.
std::vector<std::pair<std::string, id_match>> match_ids(const std::vector<record>& work,
                                                        const std::vector<event>& events) {
  std::set<std::uint32_t> runtime, driver;
  for (const event& e : events)
    if (is_launch(e))
      (e.domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime : driver).insert(e.correlation);
  std::vector<std::pair<std::string, id_match>> found{
      {"kernels", {}}, {"copies", {}}, {"memsets", {}}, {"nodes", {}}};
  for (const record& r : work) {
    const std::size_t kind = r.node != 0                            ? 3
                             : r.kind == CUPTI_ACTIVITY_KIND_MEMCPY ? 1
                             : r.kind == CUPTI_ACTIVITY_KIND_MEMSET ? 2
                                                                    : 0;
    id_match& m = found[kind].second;
    ++m.all;
    m.runtime += runtime.count(r.correlation), m.driver += driver.count(r.correlation),
        m.zero += r.correlation == 0 ? 1 : 0;
  }
  return found;
}
std::string whose(const id_match& m) {
  if (m.all == 0) return "there are no such records";
  if (m.runtime == m.all && m.driver == m.all)
    return "that of the runtime's call and of the driver's in it";
  if (m.runtime == m.all) return "that of the runtime's call";
  if (m.driver == m.all) return "that of the driver's call";
  return how_many(m.runtime, m.all) + " of the runtime, " + how_many(m.driver, m.all) +
         " of the driver, " + how_many(m.zero, m.all) + " are 0";
}

/// Launches of every kind: ten kernels, a copy, a memset, and a graph of two kernels. Made once
/// CUPTI is on, which must see the graph's nodes.
struct sample {
  device_array<float> x{4096};
  cudaStream_t s = new_stream();
  cudaGraphExec_t exec = instantiate(capture(s, [this] {
    launch_touch(x.data(), 256, s);
    launch_touch(x.data(), 256, s);
  }));

  void launch() {
    for (int i = 0; i < 10; ++i) launch_touch(x.data(), 256, s);
    CUDA(cudaMemcpyAsync(x.data() + 1024, x.data(), 1024, cudaMemcpyDeviceToDevice, s));
    CUDA(cudaMemsetAsync(x.data(), 0, 1024, s));
    CUDA(cudaGraphLaunch(exec, s));
  }
};

/// The ids of the device's records against those of callbacks, with no activity of API calls on.
void correlation_by_callback() {
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API});
  activity_log::begin();
  enable_work();
  sample work;
  callback_log::forget();
  work.launch();
  finish_work();
  std::size_t strange = 0;
  const std::vector<record> records = activity_log::work();
  for (const auto& [kind, m] : match_ids(records, callback_log::events())) {
    fact("correlation.callback." + kind, whose(m));
    strange += m.all - std::min(m.all, std::max(m.runtime, m.driver) + m.zero);
  }
  CHECK_EQUAL("records of the work", records.size(), 14U);
  CHECK_EQUAL(
      "records whose id is neither of a call that kprof listens to, nor 0, on which it turns "
      "records of API calls on",
      strange, 0U);
}

/// With nothing on but the kinds of work: neither callbacks nor records of API calls.
void correlation_alone() {
  activity_log::begin();
  enable_work();
  sample work;
  work.launch();
  finish_work();
  std::set<std::uint32_t> ids;
  std::size_t with = 0;
  const std::vector<record> records = activity_log::work();
  for (const record& r : records)
    if (r.correlation != 0) ++with, ids.insert(r.correlation);
  CHECK_EQUAL("records of the work", records.size(), 14U);
  fact("correlation.alone", how_many(with, records.size()));
  // both nodes have their launch's
  fact("correlation.alone.distinct", with == 0 ? "there are none" : yes_or_no(ids.size() == 13));
}

/// With records of the runtime's calls: what has been the documented way.
void correlation_by_records() {
  activity_log::begin();
  CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_RUNTIME);
  CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  enable_work();
  sample work;
  CUPTI(cuptiActivityPushExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 4711);
  work.launch();
  std::uint64_t popped = 0;
  CUPTI(cuptiActivityPopExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &popped);
  finish_work();
  std::set<std::uint32_t> calls, external;
  for (const record& r : activity_log::records()) {
    if (r.kind == CUPTI_ACTIVITY_KIND_RUNTIME) calls.insert(r.correlation);
    if (r.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION && r.external == 4711)
      external.insert(r.correlation);
  }
  std::size_t by_call = 0, by_external = 0;
  const std::vector<record> records = activity_log::work();
  for (const record& r : records)
    by_call += calls.count(r.correlation), by_external += external.count(r.correlation);
  CHECK_EQUAL("records of the work", records.size(), 14U);
  fact("correlation.api_records", how_many(by_call, records.size()));
  fact("correlation.external", how_many(by_external, records.size()));
}

// ---- callbacks of the ways to launch

void callbacks() {
  sample work;
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API});
  float* data = work.x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  const void* const kernel = reinterpret_cast<const void*>(&touch_kernel<float>);
  tell_callbacks("launch", [&] { touch_kernel<<<1, 256, 0, work.s>>>(data, 256); });
  tell_callbacks("cudaLaunchKernel",
                 [&] { CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(256), arguments, 0, work.s)); });
  tell_callbacks("cudaLaunchKernelExC", [&] {
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(1), how.blockDim = dim3(256), how.stream = work.s;
    CUDA(cudaLaunchKernelExC(&how, kernel, arguments));
  });
  tell_callbacks("cudaLaunchCooperativeKernel", [&] {
    CUDA(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(256), arguments, 0, work.s));
  });
  tell_callbacks("cudaMemcpyAsync", [&] {
    CUDA(cudaMemcpyAsync(data + 1024, data, 1024, cudaMemcpyDeviceToDevice, work.s));
  });
  tell_callbacks("cudaMemcpy",
                 [&] { CUDA(cudaMemcpy(data + 1024, data, 1024, cudaMemcpyDeviceToDevice)); });
  tell_callbacks("cudaMemsetAsync", [&] { CUDA(cudaMemsetAsync(data, 0, 1024, work.s)); });
  tell_callbacks("cudaGraphLaunch", [&] { CUDA(cudaGraphLaunch(work.exec, work.s)); });
}

/// The driver's own functions, as the libraries get them.
void callbacks_of_the_driver() {
  device_array<float> x(256);
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API});
  float* data = x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  cudaFunction_t function = nullptr;
  CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&touch_kernel<float>)));
  const auto entry = [](const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    CUDA(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    CHECK(std::string{"the driver has "} + name, found != nullptr);
    return found;
  };
  using launch_kernel = CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, CUstream, void**, void**);
  using launch_kernel_ex = CUresult(const CUlaunchConfig*, CUfunction, void**, void**);
  const auto launch = reinterpret_cast<launch_kernel*>(entry("cuLaunchKernel"));
  const auto launch_ex = reinterpret_cast<launch_kernel_ex*>(entry("cuLaunchKernelEx"));
  if (launch == nullptr || launch_ex == nullptr) return;
  tell_callbacks("cuLaunchKernel", [&] {
    CHECK_EQUAL("cuLaunchKernel works",
                launch(function, 1, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  });
  tell_callbacks("cuLaunchKernelEx", [&] {
    CUlaunchConfig how{};
    how.gridDimX = how.gridDimY = how.gridDimZ = how.blockDimY = how.blockDimZ = 1,
    how.blockDimX = 256;
    CHECK_EQUAL("cuLaunchKernelEx works", launch_ex(&how, function, arguments, nullptr),
                CUDA_SUCCESS);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "facts",
                   {{"machine", machine, mode::any},
                    {"correlation_by_callback", correlation_by_callback, mode::any},
                    {"correlation_alone", correlation_alone, mode::any},
                    {"correlation_by_records", correlation_by_records, mode::any},
                    {"callbacks", callbacks, mode::any},
                    {"callbacks_of_the_driver", callbacks_of_the_driver, mode::gpu},
                    {"buffers", buffers, mode::any},
                    {"flushes", flushes, mode::any},
                    {"space", space, mode::any},
                    {"cupti_clock", cupti_clock, mode::any},
                    {"clocks", clocks, mode::any},
                    {"second_subscriber", second_subscriber, mode::any},
                    {"forked", forked, mode::any}});
}
