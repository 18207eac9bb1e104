// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_LAUNCHES_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_LAUNCHES_HPP

// What a thread of a random program has of CUDA, and its plain launches.

#include "schedules_cuda.hpp"
#include "schedules_scopes.hpp"
#include "schedules_truth.hpp"

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

/// Whether threads use the default stream, or else each its own: a thread's own stream cannot be
/// captured while another thread uses the default stream.
inline bool uses_default_stream = false;
/// How often kprof has stopped listening, and whether it listens now.
inline std::uint64_t stops = 0;
inline bool listening = false;

class random_launches {
 public:
  explicit random_launches(unsigned seed) : random_(seed) { take_device(); }
  random_launches(const random_launches&) = delete;
  random_launches& operator=(const random_launches&) = delete;

 protected:
  void take_device() {
    device_ = static_cast<int>(draw(2));
    check(cudaSetDevice(device_));
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    check(cudaMalloc(&memory_, 4096));
  }
  void leave_device() {
    for (cudaStream_t s : streams_) check(cudaStreamDestroy(s));
    check(cudaFree(memory_));
  }

  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  bool chance(unsigned percent) { return draw(100) < percent; }
  cudaStream_t stream() {
    if (chance(10)) return uses_default_stream ? nullptr : cudaStreamPerThread;
    return streams_[draw(2)];
  }

  /// A scope of the program's and kprof's, and body() in it.
  template <class Body>
  void within(const scope& s, std::int64_t n, Body body) {
    scopes_.open(s);
    switch (s.guard) {
      case scope::op: {
        KPROF_OP(Op, {.n = n});
        body();
        break;
      }
      case scope::captured_op: {
        KPROF_OP(Op, {.n = n});
        body();
        break;
      }
      case scope::captured_region: {
        KPROF_REGION("inner");
        body();
        break;
      }
      default: {
        KPROF_REGION("region");
        body();
      }
    }
    if (listening) scopes_.close(truth_);
    else scopes_.close(unseen_);
  }
  template <class Body>
  void within_op(scope::place guard, std::int64_t n, Body body) {
    within({"Op n=" + std::to_string(n), guard}, n, body);
  }

  std::string anything() {
    const unsigned which = draw(8);
    return which == 0 ? "copy" : which == 1 ? "set" : name_of(draw(3));
  }
  /// Launches that, on a stream that may be capturing.
  std::string launch_on(cudaStream_t s, const std::string& what) {
    if (what == "copy") {
      check(cudaMemcpyAsync(memory_, host_, 1024, cudaMemcpyHostToDevice, s));
    } else if (what == "set") {
      check(cudaMemsetAsync(memory_, 0, 512, s));
    } else {
      const dim3 blocks(1 + draw(4));
      check(cudaLaunchKernel(kernel(number_of(what)), blocks, dim3(64), nullptr, 0, s));
    }
    return what;
  }
  void launch() {
    if (chance(5)) {  // fails, and is no launch
      static_cast<void>(cudaLaunchKernel(kernel(0), dim3(1), dim3(4096), nullptr, 0, streams_[0]));
      static_cast<void>(cudaGetLastError());
    }
    const std::string what = launch_on(stream(), anything());
    if (!listening) return;
    ++truth_.launches;
    ++truth_.runs[path_of(scopes_.now()) + ": " + what];
    scopes_.launched(what == "copy" || what == "set");
  }

  std::mt19937 random_;
  int device_ = 0;
  cudaStream_t streams_[2] = {};
  void* memory_ = nullptr;
  char host_[1024] = {};
  open_scopes scopes_;
  truth truth_, unseen_;
};

#endif
