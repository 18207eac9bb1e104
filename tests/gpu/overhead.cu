// SPDX-License-Identifier: MIT
//
// One loop of kernels of a given length, timed on the host. overhead.py runs it with and without
// kprof, and with other profilers around it, and compares. It is built three times: "overhead",
// "overhead_bare" with -DKPROF_ENABLE=0, and "libspin.so", the latter as a library, whose loop
// Python starts and other profilers watch.
//
//     overhead --calibrate                                    prints the cycles of a microsecond
//                                                             under load
//     overhead CYCLES KERNELS plain|streams|graph [once]      prints one line of JSON
//
// A guard is around each launch; with "once", there is a single one around the whole loop.

#include <kprof/kprof.hpp>

#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Spin {
  std::int64_t cycles = 0, step = 0;
};

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "overhead: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

using seconds = std::chrono::duration<double>;
std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

constexpr int nodes = 100;  // kernels of a graph

void launch(std::int64_t cycles, cudaStream_t s) {
  spin_kernel<<<1, 1, 0, s>>>(cycles);
  must(cudaGetLastError());
}
void launch_guarded(std::int64_t cycles, std::int64_t step, cudaStream_t s) {
  KPROF_OP(Spin, {.cycles = cycles, .step = step});
  launch(cycles, s);
}

/// The loop: kernels on one stream, on several in turn, or on one in graphs.
class spins {
 public:
  spins(std::int64_t cycles, const char* shape, bool guarded)
      : cycles_(cycles),
        used_(std::strcmp(shape, "streams") == 0 ? streams_.size() : 1),
        guarded_(guarded) {
    for (std::size_t i = 0; i < used_; ++i)
      must(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking));
    if (std::strcmp(shape, "graph") != 0) return;
    one(0);  // the first guard starts kprof, which subscribes to CUPTI: not within the capture
    wait();
    before_ = 1;
    must(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) one(i);
    must(cudaStreamEndCapture(streams_[0], &captured_));
    must(cudaGraphInstantiate(&graph_, captured_, 0));
  }
  ~spins() {
    if (graph_ != nullptr) must(cudaGraphExecDestroy(graph_)), must(cudaGraphDestroy(captured_));
    for (std::size_t i = 0; i < used_; ++i) must(cudaStreamDestroy(streams_[i]));
  }
  spins(const spins&) = delete;
  spins& operator=(const spins&) = delete;

  void one(std::int64_t i) const {
    const cudaStream_t s = streams_[static_cast<std::size_t>(i) % used_];
    guarded_ ? launch_guarded(cycles_, i % 10, s) : launch(cycles_, s);
  }
  void loop(std::int64_t kernels) const {
    if (graph_ == nullptr) {
      for (std::int64_t i = 0; i < kernels; ++i) one(i);
    } else {
      for (std::int64_t i = 0; i < kernels / nodes; ++i) replay();
    }
  }
  std::int64_t before() const { return before_; }  // kernels that ran before any loop
  void wait() const {
    for (std::size_t i = 0; i < used_; ++i) must(cudaStreamSynchronize(streams_[i]));
  }

 private:
  void replay() const {
    if (!guarded_) return must(cudaGraphLaunch(graph_, streams_[0]));
    KPROF_REGION("replay");
    must(cudaGraphLaunch(graph_, streams_[0]));
  }

  std::int64_t cycles_, before_ = 0;
  std::size_t used_;
  bool guarded_;
  std::array<cudaStream_t, 8> streams_{};
  cudaGraph_t captured_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

struct times {
  // with those that warm up, and the one before a graph is captured
  std::int64_t launched = 0;
  double launch_ns = 0, total_ns = 0;  // a kernel
};

std::int64_t warm_up(std::int64_t kernels) { return kernels / 10 / nodes * nodes + nodes; }

times timed(const spins& s, std::int64_t kernels) {
  s.loop(warm_up(kernels));  // the first launch loads the kernel, the first guard starts kprof
  s.wait();
  const auto begin = now();
  s.loop(kernels);
  const auto launched = now();
  s.wait();
  const auto done = now();
  const double ns = 1e9 / static_cast<double>(kernels);
  return {s.before() + warm_up(kernels) + kernels, seconds(launched - begin).count() * ns,
          seconds(done - begin).count() * ns};
}

// never destroyed by main(): a graph must be there when what ran of it is read
spins* opened = nullptr;

times measure(std::int64_t cycles, const char* shape, std::int64_t kernels, bool guarded) {
  opened = new spins{cycles, shape, guarded};
  return timed(*opened, kernels);
}
times measure_once(std::int64_t cycles, const char* shape, std::int64_t kernels) {
  KPROF_REGION("loop");
  return measure(cycles, shape, kernels, false);
}

int calibrate() {
  constexpr long long cycles = 2'000'000;
  cudaEvent_t begin = nullptr, end = nullptr;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  for (int i = 0; i < 300; ++i) spin_kernel<<<1, 1>>>(cycles);  // until the clocks have risen
  must(cudaEventRecord(begin));
  for (int i = 0; i < 50; ++i) spin_kernel<<<1, 1>>>(cycles);
  must(cudaEventRecord(end));
  must(cudaEventSynchronize(end));
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%.3f\n", 50.0 * cycles / (ms * 1e3));
  return 0;
}

}  // namespace

// What Python calls of libspin.so.
extern "C" {
void spin_open(long long cycles, const char* shape) { opened = new spins{cycles, shape, true}; }
long long spin_run(long long kernels, double* launch_ns, double* total_ns) {
  const times t = timed(*opened, kernels);
  *launch_ns = t.launch_ns;
  *total_ns = t.total_ns;
  return t.launched;
}
void spin_one() { opened->one(0); }
void spin_wait() { opened->wait(); }
void spin_close() { delete opened; }
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--calibrate") == 0) return calibrate();
  const bool once = argc == 5 && std::strcmp(argv[4], "once") == 0;
  if (argc != 4 && !once)
    return std::fprintf(stderr,
                        "usage: overhead --calibrate | overhead CYCLES KERNELS plain|streams|graph "
                        "[once]\n"),
           2;
  const std::int64_t cycles = std::atoll(argv[1]), kernels = std::atoll(argv[2]) / nodes * nodes;
  const times t =
      once ? measure_once(cycles, argv[3], kernels) : measure(cycles, argv[3], kernels, true);
  const auto done = now();
  const kprof::profile p = kprof::snapshot();
  const auto read = now();
  std::string state = p.device.state;
  for (char& c : state)
    if (c == '"' || c == '\\') c = '\'';
  std::printf("{\"launched\": %lld, \"launch_ns\": %.1f, \"total_ns\": %.1f, \"end_ms\": %.3f, ",
              static_cast<long long>(t.launched), t.launch_ns, t.total_ns,
              seconds(read - done).count() * 1e3);
  std::printf("\"seen\": %llu, \"dropped\": %llu, \"memory\": %llu, ",
              static_cast<unsigned long long>(p.device.complete.records),
              static_cast<unsigned long long>(p.device.complete.dropped),
              static_cast<unsigned long long>(p.cost.memory));
  std::printf("\"state\": \"%s\"}\n", state.c_str());
  return 0;
}
