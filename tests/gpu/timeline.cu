// SPDX-License-Identifier: MIT
//
// What ran when: steps of a schedule that the program knows, and what kprof says that the device
// did and waited for in them; the steps that outlive the timeline's memory.

#include "kernels.cuh"

#include <kprof/timeline.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace {

constexpr std::int64_t kernel_ns = 300'000, sleep_ns = 1'000'000;
constexpr std::size_t copied = std::size_t{16} << 20U;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}
void busy_wait(std::int64_t ns) {
  const std::int64_t begin = now_ns();
  while (now_ns() - begin < ns) {}
}

struct buffers {
  device_array<char> on_device{copied};
  void* pinned = nullptr;
  cudaStream_t compute = new_stream(), copies = new_stream();
  cudaEvent_t copied_event = nullptr;
  double copy_ns = 0;  // of one copy, by events

  buffers() {
    CUDA(cudaMallocHost(&pinned, copied));
    CUDA(cudaEventCreate(&copied_event));
    cudaEvent_t begin = nullptr;
    CUDA(cudaEventCreate(&begin));
    for (int i = 0; i < 5; ++i) {
      CUDA(cudaEventRecord(begin, copies));
      copy();
      CUDA(cudaEventRecord(copied_event, copies));
      CUDA(cudaEventSynchronize(copied_event));
      float ms = 0;
      CUDA(cudaEventElapsedTime(&ms, begin, copied_event));
      copy_ns = 1e6 * static_cast<double>(ms);
    }
    for (int i = 0; i < 50; ++i) launch_spin(1'000'000, compute);
    CUDA(cudaStreamSynchronize(compute));
  }
  void copy() {
    CUDA(cudaMemcpyAsync(on_device.data(), pinned, copied, cudaMemcpyHostToDevice, copies));
  }
};

/// A copy; a kernel beside it; a kernel that waits for the copy's event; then the host alone.
void one_step(buffers& b) {
  {
    KPROF_REGION("load");
    b.copy();
    CUDA(cudaEventRecord(b.copied_event, b.copies));
  }
  spin(kernel_ns, b.compute);
  CUDA(cudaStreamWaitEvent(b.compute, b.copied_event, 0));
  spin(kernel_ns, b.compute);
  CUDA(cudaStreamSynchronize(b.compute));
  KPROF_REGION("host_work");
  busy_wait(sleep_ns);
}

double of_steps(const std::vector<kprof::step_breakdown>& steps, kprof::time_use use) {
  double sum = 0;
  for (const kprof::step_breakdown& s : steps) sum += static_cast<double>(s.of(use));
  return sum / static_cast<double>(steps.size());
}

void steps() {
  buffers b;
  constexpr int many = 40;
  CHECK("kprof starts", kprof::start().ok());
  double host_ns = 0;
  for (int i = 0; i < many; ++i) {
    kprof::step();
    const std::int64_t begin = now_ns();
    one_step(b);
    host_ns += static_cast<double>(now_ns() - begin) / many;
  }
  kprof::step();
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  const kprof::run_times times = kprof::times_of(p);
  const kprof::device_steps found = kprof::steps_of(p, times);
  std::vector<kprof::interval> spans;
  for (const kprof::device_step& s : found.steps)
    if (s.items > 0) spans.push_back(s.span);
  CHECK_EQUAL("steps with work", spans.size(), static_cast<std::size_t>(many));
  double span_ns = 0;
  for (const kprof::interval& s : spans) span_ns += static_cast<double>(s.length()) / many;
  CHECK_WITHIN("ns of a step, as the program's clock has it", span_ns, 0.98 * host_ns,
               1.02 * host_ns + 5000);
  const std::vector<kprof::step_breakdown> parts = kprof::breakdown_of(p, times, spans);
  const double kernels = of_steps(parts, kprof::time_use::kernel),
               copies = of_steps(parts, kprof::time_use::copy);
  // Copies are as long as the events say or, beside the kernel, hidden.
  const double second = std::max(b.copy_ns - kernel_ns, 0.0);
  CHECK_WITHIN("us of kernels a step", kernels / 1e3, 1.98 * kernel_ns / 1e3,
               2.05 * kernel_ns / 1e3 + 20);
  CHECK_WITHIN("us of copies a step, beside no kernel", copies / 1e3, second / 1e3 - 30,
               second / 1e3 + 150);
  double sum = 0;
  for (std::size_t use = 0; use < kprof::time_uses; ++use)
    sum += of_steps(parts, static_cast<kprof::time_use>(use));
  CHECK_WITHIN("the parts of a step sum to it", sum / span_ns, 0.999999, 1.000001);
  note("a step: " + std::to_string(span_ns / 1e3) + " us by kprof, " +
       std::to_string(host_ns / 1e3) + " us by the program; kernels " +
       std::to_string(kernels / 1e3) + ", copies alone " + std::to_string(copies / 1e3) +
       ", a copy by events " + std::to_string(b.copy_ns / 1e3));

  const kprof::device_activity device = kprof::activity_of(times, 0);
  CHECK_WITHIN("busy and idle sum to the window",
               static_cast<double>(device.busy + device.idle) / static_cast<double>(device.wall),
               0.999999, 1.000001);
  const kprof::time_summary summary = kprof::time_summary_of(p);
  CHECK("the timeline is complete", summary.complete);
  if (summary.devices.empty()) return CHECK("the device is in the summary", false);
  const kprof::idle_causes& idle = summary.devices[0].idle;
  const double waited = static_cast<double>(idle.host) / (many - 1);
  CHECK_WITHIN("us a step that the device waits for the host", waited / 1e3, sleep_ns / 1e3,
               1.15 * sleep_ns / 1e3 + 40);
  const kprof::device_activity stream =
      kprof::activity_of(times, 0, p.device.timeline.items.empty() ? 0 : times.streams[0].stream);
  CHECK("each stream has activity of its own", stream.busy > 0 && stream.busy <= device.busy);
  kprof::report();
}

/// More steps than the timeline's memory holds: the slowest is there, with its kernels.
void kept() {
  CHECK("kprof starts", kprof::start({.memory = kprof::settings::smallest_memory}).ok());
  constexpr int many = 4000, slow = 700, each = 25;
  device_array<float> x(256);
  for (int i = 0; i < many; ++i) {
    kprof::step();
    for (int k = 0; k < each; ++k) touch(k % 5, x.data());
    // No other step takes as long, also where other programs run.
    if (i == slow) spin(1000), busy_wait(200'000'000);
    CUDA(cudaDeviceSynchronize());
  }
  kprof::step();
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels in all", everything(p).kernels, 1ULL * many * each + 1);
  const kprof::kept_step* slowest = nullptr;
  for (const kprof::kept_step& k : p.stepping.kept)
    if (k.why == kprof::kept_as::slowest) slowest = &k;
  if (slowest == nullptr || slowest->step >= p.steps.size())
    return CHECK("the slowest step is kept", false);
  const kprof::step_mark& mark = p.steps[slowest->step];
  CHECK_EQUAL("number of the slowest step", mark.index, static_cast<std::uint64_t>(slow));
  std::uint64_t inside = 0;
  for (const kprof::device_item& i : p.device.timeline.items)
    inside += i.call_begin >= mark.begin && i.call_end <= mark.end;
  CHECK_EQUAL("its kernels", inside, static_cast<std::uint64_t>(each + 1));
  CHECK("the timeline has not all", p.device.timeline.dropped_items > 0);
  kprof::report();
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "timeline",
                   {{"steps", steps, mode::gpu}, {"kept", kept, mode::any}});
}
