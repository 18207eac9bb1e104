// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_FACTS_SHARING_CUH
#define KPROF_TESTS_GPU_FACTS_SHARING_CUH

// Questions of facts.cu: a second subscriber, and the child of a fork.

#include "facts.hpp"
#include "kernels.cuh"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string>

namespace {

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

#endif
