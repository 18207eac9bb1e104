// SPDX-License-Identifier: MIT
//
// What CUPTI does, asked of CUPTI itself: ids of launches and records, the callbacks of every way
// to launch, the order of records, flushes, clocks, a second subscriber, a forked child. A check
// fails where kprof could not cope with the answer.

#include "facts.hpp"
#include "kernels.cuh"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <set>

namespace {

using namespace std::chrono_literals;

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

// ---- buffers

/// Small buffers, filled by eight streams of four threads.
void buffers() {
  constexpr int threads = 4, streams = 2, each = 400;
  activity_log::begin(16U << 10);
  enable_work();
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([] {
      device_array<float> x(256);
      const cudaStream_t s[streams] = {new_stream(), new_stream()};
      for (int i = 0; i < each; ++i)
        for (const cudaStream_t one : s) launch_touch(x.data(), 256, one);
      for (const cudaStream_t one : s) CUDA(cudaStreamSynchronize(one));
    });
  for (std::thread& worker : workers) worker.join();
  CUDA(cudaDeviceSynchronize());
  std::this_thread::sleep_for(200ms);
  const std::size_t unasked = activity_log::work().size();
  CUPTI(cuptiActivityFlushAll, 0);

  const std::vector<record> work = activity_log::work();
  CHECK_EQUAL("records of all kernels", work.size(), std::size_t{threads} * streams * each);
  CHECK_EQUAL("no record was dropped", activity_log::dropped(), 0U);
  std::size_t back_within = 0, back_across = 0, back_in_stream = 0;
  std::vector<std::uint64_t> latest(activity_log::buffers() + 1, 0);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> of_stream;  // the latest start of each
  std::uint64_t latest_before = 0;                                 // in buffers delivered earlier
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (i > 0 && work[i].buffer != work[i - 1].buffer)
      latest_before = std::max(latest_before, latest[work[i - 1].buffer]);
    back_within += work[i].start < latest[work[i].buffer] ? 1 : 0;
    back_across += work[i].start < latest_before ? 1 : 0;
    latest[work[i].buffer] = std::max(latest[work[i].buffer], work[i].start);
    auto s = std::find_if(of_stream.begin(), of_stream.end(),
                          [&](const auto& p) { return p.first == work[i].stream; });
    if (s == of_stream.end()) s = of_stream.insert(s, {work[i].stream, 0});
    back_in_stream += work[i].start < s->second ? 1 : 0;
    s->second = std::max(s->second, work[i].start);
  }
  note(std::to_string(activity_log::buffers()) +
       " buffers; records that begin before an earlier one: " + std::to_string(back_within) +
       " in their buffer, " + std::to_string(back_across) + " against buffers before, " +
       std::to_string(back_in_stream) + " in their stream; " + std::to_string(unasked) +
       " records came unasked");
  fact("buffers.full_ones_come_unasked", yes_or_no(unasked > 0));
  fact("buffers.sorted_within", yes_or_no(back_within == 0));
  fact("buffers.sorted_across", yes_or_no(back_across == 0));
  fact("buffers.sorted_in_a_stream", yes_or_no(back_in_stream == 0));
  const std::vector<std::thread::id> completers = activity_log::completers();
  const auto here = static_cast<std::size_t>(
      std::count(completers.begin(), completers.end(), std::this_thread::get_id()));
  fact("buffers.delivered_by", here == 0 ? "another thread"
                               : here == completers.size()
                                   ? "the thread that flushes"
                                   : "both the thread that flushes and another");
}

// ---- flushes

/// Kernels that have ended, and a queue of others that have not, when CUPTI is flushed.
void flushes() {
  constexpr std::size_t ended = 50, queued = 1000;
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_spin(1000, s);  // is loaded now
  CUDA(cudaDeviceSynchronize());
  activity_log::begin();
  enable_work();
  for (std::size_t i = 0; i < ended; ++i) launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < queued; ++i) launch_spin(200'000, s);
  CUPTI(cuptiActivityFlushAll, 0);
  const std::size_t by_flush = activity_log::work().size();
  CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::size_t unfinished = 0, without_times = 0;
  const std::vector<record> forced = activity_log::work();
  for (const record& r : forced) {
    unfinished += r.end == 0 || r.start == 0 ? 1 : 0;
    without_times += r.end == 0 && r.start == 0 ? 1 : 0;
  }
  activity_log::forget();
  finish_work();
  const std::size_t later = activity_log::work().size(), told = forced.size() + later;
  note(std::to_string(by_flush) + " records by a flush, " + std::to_string(forced.size()) +
       " after a forced one, " + std::to_string(unfinished) + " of them unfinished, " +
       std::to_string(later) + " once all had ended");
  fact("flush.ended_come_while_others_run", yes_or_no(by_flush >= ended));
  fact("flush.forced_delivers_unfinished", yes_or_no(unfinished > 0));
  fact("flush.forced_unfinished_times", unfinished == 0               ? "there are none"
                                        : without_times == unfinished ? "start and end are 0"
                                                                      : "not both are 0");
  fact("flush.forced_come_again",
       unfinished == 0 ? "there are none"
                       : how_many(told - std::min(told, ended + queued), unfinished));
  CHECK("every kernel has come", told >= ended + queued);
}

/// When CUPTI takes the space of a record: a stream is held up, and graphs of many nodes are queued
/// behind.
void space() {
  constexpr int nodes = 100, graphs = 40;
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_spin(1000, s);  // is loaded now
  CUDA(cudaDeviceSynchronize());
  activity_log::begin(64U << 10);  // some 300 records
  enable_work();
  const cudaGraphExec_t exec = instantiate(capture(s, [&] {
    for (int i = 0; i < nodes; ++i) launch_touch(x.data(), 256, s);
  }));
  launch_spin(300'000'000, s);
  for (int i = 0; i < graphs; ++i) CUDA(cudaGraphLaunch(exec, s));
  const std::size_t while_queued = activity_log::requesters().size();
  finish_work();
  const std::size_t in_all = activity_log::requesters().size();
  CHECK_EQUAL("records of all nodes", activity_log::work().size(), std::size_t{nodes} * graphs + 1);
  note(std::to_string(while_queued) + " of " + std::to_string(in_all) +
       " buffers were asked for while all nodes were queued");
  fact("buffers.space_is_taken",
       2 * while_queued > in_all ? "when work is launched" : "when work has ended");
}

// ---- clocks

std::int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void cupti_clock() {
  constexpr int reads = 100'000;
  const auto now = CUPTI_FUNCTION(cuptiGetTimestamp);
  std::size_t within = 0;
  for (int i = 0; i < reads; ++i) {
    std::uint64_t cupti = 0;
    const std::int64_t before = realtime_ns();
    now(&cupti);
    const std::int64_t after = realtime_ns(), at = static_cast<std::int64_t>(cupti);
    within += at >= before && at <= after ? 1 : 0;
  }
  fact("clock.cupti_is_realtime", how_many(within, reads));
  CHECK_WITHIN("times of CUPTI that are of CLOCK_REALTIME, save where that is set",
               static_cast<double>(within), 0.999 * reads, reads);
}

/// The processor's counter and CLOCK_REALTIME at one moment: the closest of some reads.
struct moment {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
moment now_by_both() {
  moment found;
#if defined(__x86_64__)
  std::int64_t best = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t before = realtime_ns();
    const std::uint64_t ticks = __builtin_ia32_rdtsc();
    const std::int64_t after = realtime_ns();
    if (after - before < best)
      best = after - before, found = {ticks, before + (after - before) / 2};
  }
#endif
  return found;
}
/// How far a line through the first two moments is off at the last.
void tell_counter(const moment& begin, const moment& second, const moment& end) {
  if (begin.ticks == 0) return fact("clock.counter_drift", "not measured on this processor");
  const double ns_a_tick =
      static_cast<double>(second.ns - begin.ns) / static_cast<double>(second.ticks - begin.ticks);
  const double off = static_cast<double>(end.ns - begin.ns) -
                     ns_a_tick * static_cast<double>(end.ticks - begin.ticks);
  const double seconds = static_cast<double>(end.ns - begin.ns) / 1e9,
               us_a_second = std::fabs(off) / 1e3 / seconds;
  note("the counter, set by one second, is off by " + std::to_string(off / 1e3) + " us after " +
       std::to_string(seconds) + " s");
  fact("clock.counter_drift", us_a_second < 10 ? "less than 10 us a second"
                                               : std::to_string(us_a_second) + " us a second");
}

/// us from a kernel's launch to its start, and from its end to that of the wait for it, by
/// CLOCK_REALTIME: the shortest of many.
struct lag {
  double to_start = INFINITY, from_end = INFINITY;
};
std::size_t late_records = 0;  // flushes after the wait for a kernel that did not bring its record
lag shortest_lag(float* x, cudaStream_t s) {
  lag shortest;
  for (int i = 0; i < 50; ++i) {
    activity_log::forget();
    const std::int64_t launch = realtime_ns();
    launch_touch(x, 256, s);
    CUDA(cudaStreamSynchronize(s));
    const std::int64_t waited = realtime_ns();
    std::vector<record> work;
    for (int flushes = 0; work.empty() && flushes < 100; ++flushes) {
      if (flushes > 0) ++late_records, std::this_thread::sleep_for(1ms);
      CUPTI(cuptiActivityFlushAll, 0);
      work = activity_log::work();
    }
    if (work.size() != 1) {
      CHECK_EQUAL("records of a kernel, after 100 flushes in as many ms", work.size(), 1U);
      std::exit(1);
    }
    shortest.to_start =
        std::min(shortest.to_start,
                 static_cast<double>(static_cast<std::int64_t>(work[0].start) - launch) / 1e3);
    shortest.from_end =
        std::min(shortest.from_end,
                 static_cast<double>(waited - static_cast<std::int64_t>(work[0].end)) / 1e3);
  }
  return shortest;
}

/// Where records lie against the host's clock, and whether that moves within a minute; and so the
/// processor's counter.
void clocks() {
  const int rounds = kernels_compute() ? 60 : 2;  // of a second
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  activity_log::begin();
  enable_work();
  const moment begin = now_by_both();
  moment second;
  std::vector<lag> lags;
  for (int round = 0; round < rounds; ++round) {
    lags.push_back(shortest_lag(x.data(), s));
    std::this_thread::sleep_for(1s);
    if (round == 0) second = now_by_both();
  }
  const moment end = now_by_both();
  const auto outside = static_cast<std::size_t>(std::count_if(
      lags.begin(), lags.end(), [](const lag& l) { return l.to_start < 0 || l.from_end < 0; }));
  fact("clock.records_between_launch_and_wait", how_many(lags.size() - outside, lags.size()));
  const auto far = std::count_if(lags.begin(), lags.end(),
                                 [](const lag& l) { return l.to_start < -50 || l.from_end < -50; });
  CHECK_EQUAL(
      "seconds in which a kernel began 50 us before its launch, or ended so long after the wait "
      "for it",
      far, 0);
  note(std::to_string(late_records) + " flushes did not bring a record that was due");
  if (!kernels_compute()) return;  // there, the device's clock is the host's
  const auto [first_start, last_start] = std::minmax_element(
      lags.begin(), lags.end(), [](const lag& a, const lag& b) { return a.to_start < b.to_start; });
  const auto [first_end, last_end] = std::minmax_element(
      lags.begin(), lags.end(), [](const lag& a, const lag& b) { return a.from_end < b.from_end; });
  const double moved = std::max(last_start->to_start - first_start->to_start,
                                last_end->from_end - first_end->from_end);
  note("us from launch to start: " + std::to_string(first_start->to_start) + " to " +
       std::to_string(last_start->to_start) +
       ", the shortest of each second; from end to that of the wait: " +
       std::to_string(first_end->from_end) + " to " + std::to_string(last_end->from_end));
  fact("clock.records_drift", moved < 20 ? "less than 20 us" : std::to_string(moved) + " us");
  tell_counter(begin, second, end);
}

// ---- other users of CUPTI

std::atomic<int> heard = 0;
void CUPTIAPI count_calls(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++heard; }

void second_subscriber() {
  device_array<float> x(256);
  launch_touch(x.data(), 256);
  CUpti_SubscriberHandle first = nullptr, second = nullptr;
  CUPTI(cuptiSubscribe, &first, count_calls, nullptr);
  CUPTI(cuptiEnableDomain, 1, first, CUPTI_CB_DOMAIN_RUNTIME_API);
  const CUptiResult refused = CUPTI_FUNCTION(cuptiSubscribe)(&second, count_calls, nullptr);
  fact("subscriber.second", result_text(refused));
  if (auto* const subscribe =
          cupti_function<decltype(cuptiSubscribe_v2)>("cuptiSubscribe_v2", false)) {
    char holder[256] = {};
    CUpti_SubscriberParams parameters{};
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "kprof", parameters.oldSubscriberName = holder,
    parameters.oldSubscriberSize = sizeof holder;
    fact("subscriber.second_v2",
         result_text(subscribe(&second, count_calls, nullptr, &parameters)));
    fact("subscriber.holder", *holder == '\0' ? "no name" : holder);
  } else {
    fact("subscriber.second_v2", "this libcupti has no cuptiSubscribe_v2");
  }
  heard = 0;
  launch_touch(x.data(), 256);
  fact("subscriber.first_goes_on", yes_or_no(heard > 0));
  CHECK("the second is refused, or both are served", refused != CUPTI_SUCCESS || heard > 0);
  CUPTI(cuptiUnsubscribe, first);
  const CUptiResult after = CUPTI_FUNCTION(cuptiSubscribe)(&second, count_calls, nullptr);
  fact("subscriber.after_the_first_has_gone", result_text(after));
  CUDA(cudaDeviceSynchronize());
}

// ---- fork

/// What `call` returns in a forked child, as `text` has it, or how the child ends.
std::string in_child(const std::function<int()>& call,
                     const std::function<std::string(int)>& text) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    const int said = call();
    _exit(write(ends[1], &said, sizeof said) == sizeof said ? 0 : 1);
  }
  close(ends[1]);
  int said = -1, status = 0;
  pollfd answer{ends[0], POLLIN, 0};
  // it may have been stuck before its alarm was set
  if (poll(&answer, 1, 10'000) == 0) kill(child, SIGKILL);
  const bool came = read(ends[0], &said, sizeof said) == sizeof said;
  close(ends[0]);
  waitpid(child, &status, 0);
  if (came) return text(said);
  if (!WIFSIGNALED(status)) return "ends with status " + std::to_string(WEXITSTATUS(status));
  return WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGKILL
             ? "does not return"
             : std::string{"is killed: "} + strsignal(WTERMSIG(status));
}

void forked() {
  device_array<float> x(256);
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API});
  activity_log::begin();
  enable_work();
  for (int i = 0; i < 10; ++i) launch_touch(x.data(), 256);
  CUDA(cudaDeviceSynchronize());
  const auto cupti_text = [](int result) { return result_text(static_cast<CUptiResult>(result)); };
  std::uint64_t now = 0;
  CUpti_SubscriberHandle subscriber = nullptr;
  void* memory = nullptr;
  fact("fork.timestamp",
       in_child([&] { return static_cast<int>(CUPTI_FUNCTION(cuptiGetTimestamp)(&now)); },
                cupti_text));
  fact("fork.flush",
       in_child([&] { return static_cast<int>(CUPTI_FUNCTION(cuptiActivityFlushAll)(0)); },
                cupti_text));
  fact("fork.subscribe", in_child(
                             [&] {
                               return static_cast<int>(CUPTI_FUNCTION(cuptiSubscribe)(
                                   &subscriber, count_calls, nullptr));
                             },
                             cupti_text));
  fact("fork.cuda", in_child([&] { return static_cast<int>(cudaMalloc(&memory, 64)); },
                             [](int error) {
                               return std::to_string(error) + ' ' +
                                      cudaGetErrorName(static_cast<cudaError_t>(error));
                             }));
  for (int i = 0; i < 10; ++i) launch_touch(x.data(), 256);
  finish_work();
  const std::size_t kernels = activity_log::work().size();
  fact("fork.parent_records", how_many(kernels, 20));
  CHECK_EQUAL("the parent has the records of its kernels", kernels, 20U);
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
