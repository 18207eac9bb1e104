// SPDX-License-Identifier: MIT

// What the scripted CUDA did, against the devices' timeline in the profile: each record with its
// times, its stream and its call; the calls that block, record events or make streams wait; and how
// often each function was called from which scope.

#include "find.hpp"
#include "scripted_cuda.hpp"

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

int failures = 0;
void check(bool holds, const char* what, double value = 0) {
  if (holds) return;
  std::printf("FAILED: %s (%g)\n", what, value);
  ++failures;
}

using item = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::string>;

/// Correlation, stream, bytes, how long it ran and its kernel, of all that the devices did.
std::multimap<item, std::uint64_t> truth() {
  std::multimap<item, std::uint64_t> out;
  std::FILE* const file = std::fopen(scripted_truth_path(), "r");
  int kind = 0;
  unsigned correlation = 0, stream = 0;
  char name[256];
  unsigned long long node = 0, start = 0, end = 0, bytes = 0;
  while (std::fscanf(file, "%d %u %255s %u %llu %llu %llu %llu", &kind, &correlation, name, &stream,
                     &node, &start, &end, &bytes) == 8)
    out.emplace(item{correlation, stream, bytes, end - start, name}, start);
  std::fclose(file);
  return out;
}

void compare_items(const kprof::profile& p) {
  const auto& timeline = p.device.timeline;
  std::multimap<item, std::uint64_t> did = truth();
  check(timeline.items.size() == did.size(), "items", static_cast<double>(timeline.items.size()));
  check(timeline.dropped_items == 0 && timeline.windows.empty(), "nothing was dropped");
  for (const kprof::device_item& i : timeline.items) {
    const kprof::device_work& w = p.device.work[i.work];
    const std::string name =
        w.kernel == kprof::device_work::none ? "-" : p.device.kernels[w.kernel];
    const auto found = did.find(
        {i.correlation, i.stream, i.bytes, static_cast<std::uint64_t>(i.end - i.start), name});
    check(found != did.end(), "an item is what the device did", i.correlation);
    if (found == did.end()) continue;
    const double apart = static_cast<double>(i.start) +
                         static_cast<double>(p.clock.start_realtime_ns) -
                         static_cast<double>(found->second);
    check(apart < 1e6 && apart > -1e6, "an item starts when it did", apart);
    check(i.call_begin >= 0 && i.call_begin < i.call_end, "an item has its call");
    check(i.thread == 0, "an item has its thread");
    did.erase(found);
  }
}

}  // namespace

int main() {
  if (!kprof::start({.cupti = kprof::cupti_choice::on})) return 2;
  const void* const kernel = scripted_kernel("_Z6kernelPf");
  const auto launch = [&](std::int64_t n, cudaStream_t on) {
    KPROF_OP(Op, {.n = n});
    static_cast<void>(cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, on));
  };
  cudaStream_t one = nullptr, two = nullptr;
  cudaEvent_t event = nullptr;
  static_cast<void>(cudaStreamCreate(&one));
  static_cast<void>(cudaStreamCreate(&two));
  static_cast<void>(cudaEventCreate(&event));
  void* memory = nullptr;
  static_cast<void>(cudaMalloc(&memory, 4096));
  std::vector<char> host(4096);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 3; ++i) launch(7, one);
  static_cast<void>(cudaStreamEndCapture(one, &graph));
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  constexpr int steps = 20;
  for (int step = 0; step < steps; ++step) {
    KPROF_REGION("step");
    static_cast<void>(cudaMemcpy(memory, host.data(), 4096, cudaMemcpyHostToDevice));
    launch(1, one);
    static_cast<void>(cudaEventRecord(event, one));
    static_cast<void>(cudaStreamWaitEvent(two, event, 0));
    launch(2, two);
    static_cast<void>(cudaGraphLaunch(exec, one));
    static_cast<void>(cudaMemsetAsync(memory, 0, 512, two));
    static_cast<void>(cudaStreamSynchronize(two));
    static_cast<void>(cudaEventSynchronize(event));
    static_cast<void>(cudaStreamQuery(two));
  }
  int devices = 0;
  static_cast<void>(cudaGetDeviceCount(&devices));
  if (devices > 1) static_cast<void>(cudaSetDevice(1));
  cudaStream_t elsewhere = nullptr;
  static_cast<void>(cudaStreamCreate(&elsewhere));
  launch(3, elsewhere);
  static_cast<void>(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  compare_items(p);

  std::map<std::string, std::uint64_t> sums;
  std::uint64_t waits = 0;
  for (const kprof::host_call_sum& c : p.device.calls) {
    sums[path_of(p, c.scope) + ": " + p.device.functions[c.name]] += c.calls;
    check(c.max_ns <= c.total_ns && c.total_ns > 0, "times of calls");
    if (c.waited_ns != 0) waits += c.calls;
  }
  const std::map<std::string, std::uint64_t> expected{
      {": cudaDeviceSynchronize", 1},  // and not those of kprof
      {": cudaEventCreate", 1},
      {": cudaMalloc", 1},
      {": cudaStreamCreate", 3},
      {"Op n=3: cudaLaunchKernel", 1},
      {"Op n=7: cudaLaunchKernel", 3},  // into the graph
      {"step/Op n=1: cudaLaunchKernel", steps},
      {"step/Op n=2: cudaLaunchKernel", steps},
      {"step: cudaEventRecord", steps},
      {"step: cudaEventSynchronize", steps},
      {"step: cudaGraphLaunch", steps},
      {"step: cudaMemcpy", steps},
      {"step: cudaMemsetAsync", steps},
      {"step: cudaStreamSynchronize", steps},
      {"step: cudaStreamWaitEvent", steps},
  };
  for (const auto& [what, calls] : sums) {
    const auto found = expected.find(what);
    if (found != expected.end() && found->second == calls) continue;
    std::printf("FAILED: %s was called %d times\n", what.c_str(), static_cast<int>(calls));
    ++failures;
  }
  check(sums.size() == expected.size(), "functions by scope", static_cast<double>(sums.size()));
  check(waits == 2 + 3 * steps, "calls that block", static_cast<double>(waits));

  std::map<std::string, int> seen;
  std::uint32_t stream_two = 0, stream_one = 0;
  for (const kprof::device_item& i : p.device.timeline.items) {
    const auto& node = p.nodes[p.device.work[i.work].scope];
    if (path_of(p, p.device.work[i.work].scope) == "step/Op n=2") stream_two = i.stream;
    if (path_of(p, p.device.work[i.work].scope) == "step/Op n=1") stream_one = i.stream;
    check(i.graph == (node.replays != 0), "items of replays are told apart");
  }
  for (const kprof::host_call& c : p.device.timeline.calls) {
    const std::string& name = p.device.functions[c.name];
    ++seen[name];
    check(c.begin >= 0 && c.end >= c.begin, "a call has its times");
    if (name == "cudaStreamSynchronize" || name == "cudaStreamWaitEvent")
      check(c.stream == stream_two, "a call has its stream", c.stream);
    if (name == "cudaEventRecord") check(c.stream == stream_one, "an event's stream", c.stream);
    if (name.starts_with("cudaEvent") && name != "cudaEventCreate")
      check(c.event == 1, "a call has its event", static_cast<double>(c.event));
    if (name == "cudaStreamWaitEvent") check(c.event == 1, "a stream waits for its event");
    if (name == "cudaMemcpy") check(c.waits_for == kprof::awaited::stream, "a copy waits");
    if (name == "cudaDeviceSynchronize")
      check(c.waits_for == kprof::awaited::device && c.device == (devices > 1 ? 1U : 0U),
            "a call waits for its device", c.device);
  }
  for (const char* name : {"cudaStreamSynchronize", "cudaStreamWaitEvent", "cudaEventRecord",
                           "cudaEventSynchronize", "cudaMemcpy"})
    check(seen[name] == steps, name, seen[name]);
  check(scripted_misuse() == 0, "misuse of CUPTI", scripted_misuse());

  // The same without the timeline.
  if (!kprof::start({.cupti = kprof::cupti_choice::on, .device_timeline = false})) return 2;
  launch(1, elsewhere);
  static_cast<void>(cudaDeviceSynchronize());
  const kprof::profile without = kprof::snapshot();
  check(without.device.timeline.empty() && without.device.calls.empty(), "it can be left out");
  check(without.device.complete.attributed == 1, "work is attributed without it");
  return failures == 0 ? 0 : 1;
}
