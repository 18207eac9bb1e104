// SPDX-License-Identifier: MIT
//
// What newer CUDA has, and programs that use it: memory of a stream, conditional nodes, dependent
// launches, batches of copies, libraries of kernels, contexts of their own, captures across the
// begin of a recording, other users of CUPTI's ids, and signals while the device works.

#include "features_ways.cuh"
#include "graphs.cuh"
#include "lifecycle_ends.cuh"
#include "programs.cuh"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace {

// ---- captures and recordings

/// Captures that begin while kprof does not record, and end while it does. kprof hears of one with
/// the first launch into it: from then on it waits for no device, which would break it.
void captures_between() {
  device_array<float> x(256);
  touch(1, x.data());
  CUDA(cudaDeviceSynchronize());
  for (const auto& [how, name] : capture_modes) {
    kprof::stop();
    cudaStream_t s = new_stream();
    std::atomic<int> stage{0};
    cudaError_t how_it_ended = cudaErrorUnknown;
    std::size_t nodes = 0;
    std::thread other([&] {
      const auto wait_for = [&](int wanted) {
        while (stage < wanted) usleep(100);
      };
      cudaGraph_t graph = nullptr;
      CUDA(cudaStreamBeginCapture(s, how));
      launch_touch(x.data(), 256, s);
      stage = 1;
      wait_for(2);
      {
        KPROF_OP(Touch, {.id = 2});
        touch_kernel<<<1, 256, 0, s>>>(x.data(), 256);
      }
      stage = 3;
      wait_for(4);
      how_it_ended = cudaStreamEndCapture(s, &graph);
      static_cast<void>(cudaGetLastError());
      if (how_it_ended != cudaSuccess) return;
      CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
      CUDA(cudaGraphDestroy(graph));
    });
    while (stage != 1) usleep(100);
    CHECK("kprof starts", kprof::start().ok());
    stage = 2;
    while (stage != 3) usleep(100);
    static_cast<void>(kprof::snapshot());
    stage = 4;
    other.join();
    CHECK_EQUAL(std::string{"a capture "} + name + " that is older than the recording ends well",
                static_cast<int>(how_it_ended), 0);
    CHECK_EQUAL("it has its nodes", nodes, 2U);
    CUDA(cudaStreamDestroy(s));
  }
  touch(3, x.data());
  CUDA(cudaDeviceSynchronize());
  CHECK_EQUAL("kernels after them", directly_in(kprof::snapshot(), "Touch id=3").kernels, 1U);
}

/// Recordings that begin and end for ever beside threads that launch. What CUPTI keeps of each is
/// told by facts_programs; kprof keeps nothing.
void many_recordings() {
  const int rounds = long_run ? 2000 : 600;
  const launching_threads others([](int t, float* x, cudaStream_t s) { touch(t, x, s); });
  double before = 0;
  std::uint64_t held_first = 0, held_last = 0, memory_limit = 0;
  for (int round = 0; round < rounds; ++round) {
    CHECK_QUIETLY("kprof starts", kprof::start().ok());
    usleep(1000);
    if (round % 5 == 0) {
      const kprof::profile p = kprof::snapshot();
      held_last = p.cost.memory, memory_limit = p.cost.memory_limit;
    }
    kprof::stop();
    if (round == rounds / 3) before = resident_kib(), held_first = held_last;
  }
  const double grown = resident_kib() - before;
  note("the process grew by " + std::to_string(grown / (rounds - rounds / 3 - 1)) +
       " KiB a recording");
  CHECK("kprof holds no more than it may", held_last <= memory_limit);
  const double not_of_kprof =
      grown - (static_cast<double>(held_last) - static_cast<double>(held_first)) / 1024;
  CHECK_WITHIN("KiB a recording by which it grew beyond what kprof says it holds",
               not_of_kprof / (rounds - rounds / 3 - 1), -100, 8);
}

// ---- signals

/// Launches from four threads until it is ended.
void child_until_ended() {
  for (int t = 0; t < 4; ++t)
    std::thread([t] {
      device_array<float> x(256);
      cudaStream_t s = new_stream();
      for (;;) {
        for (int i = 0; i < 50; ++i) touch(t, x.data(), s);
        CUDA(cudaStreamSynchronize(s));
      }
    }).detach();
  for (;;) pause();
}
void ended_by_signals() {
  const int rounds = long_run ? 200 : 25;
  const std::string path = scratch_file("signals");
  int well = 0, told = 0;
  for (int round = 0; round < rounds; ++round) {
    std::remove(path.c_str());
    const pid_t child = fork();
    if (child == 0) {
      setenv("KPROF", ("report(path=" + path + ",width=200,details)").c_str(), 1);
      execl(self().c_str(), self().c_str(), "child_until_ended", static_cast<char*>(nullptr));
      _exit(127);
    }
    usleep(static_cast<useconds_t>(1'200'000 + round * 7919 % 300'000));
    kill(child, round % 2 == 0 ? SIGTERM : SIGINT);
    well += wait_for(child) == 128 + (round % 2 == 0 ? SIGTERM : SIGINT) ? 1 : 0;
    const std::string text = contents(path);
    const bool has_kernels =
        text.find("Touch") != std::string::npos && text.find(" attributed") != std::string::npos;
    told += has_kernels ? 1 : 0;
    if (!has_kernels) note("a report that has no kernels: " + text.substr(0, 300));
  }
  std::remove(path.c_str());
  CHECK_EQUAL("programs that end by the signal that they got", well, rounds);
  CHECK_EQUAL("programs ended by a signal whose report has their kernels", told, rounds);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "features",
                   {{"stream_memory", stream_memory, mode::gpu},
                    {"conditional", conditional, mode::gpu},
                    {"dependent", dependent, mode::gpu},
                    {"batches", batches, mode::gpu},
                    {"libraries", libraries, mode::gpu},
                    {"contexts", contexts, mode::gpu},
                    {"many_streams", many_streams, mode::gpu},
                    {"external_ids", external_ids, mode::gpu},
                    {"captures_between", captures_between, mode::gpu},
                    {"many_recordings", many_recordings, mode::gpu},
                    {"ended_by_signals", ended_by_signals, mode::gpu},
                    {"child_until_ended", child_until_ended, mode::helper}});
}
