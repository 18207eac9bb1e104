// SPDX-License-Identifier: MIT
// What the scripted CUDA refuses, what it finds wrong with a client, forks, and what is missing.
#include "selfcheck.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace {

CASE(no_driver) {
  std::uint32_t version = 0;
  std::uint64_t now = 0;
  CUpti_SubscriberHandle handle = nullptr;
  int count = 7;
  CHECK(CUPTI(cuptiGetVersion)(&version) == CUPTI_SUCCESS &&
        CUPTI(cuptiGetTimestamp)(&now) == CUPTI_SUCCESS && now > 0);
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) == CUPTI_SUCCESS &&
        scripted_failed_calls() == 0);
  CHECK(CUPTI(cuptiSubscribe)(&handle, called_back, nullptr) == CUPTI_ERROR_UNKNOWN &&
        scripted_failed_calls() == 1);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_ERROR_UNKNOWN &&
        CUPTI(cuptiActivityFlushAll)(0) == CUPTI_ERROR_UNKNOWN);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 0 &&
        cudaFree(nullptr) == cudaErrorInsufficientDriver);
  CHECK(scripted_cupti_calls() == 5 && scripted_failed_calls() == 3);
}

CASE(no_devices) {  // SCRIPTED_DEVICES=0
  int count = 7;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 &&
        cudaFree(nullptr) == cudaErrorNoDevice);
}

// SCRIPTED_LATE_DEVICE=1: DEVICE records only for who came before the first context
CASE(late_devices) {
  CHECK(cudaFree(nullptr) == cudaSuccess);
  start({CUPTI_ACTIVITY_KIND_DEVICE}, {});
  CHECK(flush().empty());
  CHECK(CUPTI(cuptiActivityEnableAndDump)(CUPTI_ACTIVITY_KIND_DEVICE) == CUPTI_SUCCESS &&
        flush().size() == 2);
}

CASE(refusals) {
  CUpti_SubscriberHandle handle = nullptr;
  const char* text = nullptr;
  const auto result = CUPTI(cuptiSubscribe)(&handle, called_back, nullptr);
  if (std::getenv("SCRIPTED_BUSY") != nullptr) {
    CHECK(result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK(CUPTI(cuptiGetResultString)(result, &text) == CUPTI_SUCCESS);
    CHECK(text == std::string("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"));
  } else if (std::getenv("SCRIPTED_ENABLE_ERROR") != nullptr) {
    CHECK(result == CUPTI_SUCCESS && CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_ERROR_NOT_COMPATIBLE);
  } else if (std::getenv("SCRIPTED_NO_PERMISSION") == std::string("enable")) {
    CHECK(result == CUPTI_SUCCESS &&
          CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  } else {
    CHECK(result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  }
  CHECK(scripted_failed_calls() == 1 && scripted_misuse() == 0);
}

CASE(misuse) {
  buffer_bytes = 1024;
  CUpti_SubscriberHandle handle = nullptr;
  const auto flushing = [](void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void*) {
    // allowed in API callbacks, and only there
    const auto result = CUPTI(cuptiActivityFlushAll)(0);
    CHECK((result == CUPTI_SUCCESS) == (domain == CUPTI_CB_DOMAIN_RUNTIME_API));
  };
  CHECK(CUPTI(cuptiSubscribe)(&handle, flushing, nullptr) == CUPTI_SUCCESS);
  const auto greedy = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t) {
    CHECK(dropped() == 0 && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_ERROR_INVALID_OPERATION);
    std::free(data);
  };
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, greedy) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableDomain)(1, handle, CUPTI_CB_DOMAIN_RESOURCE) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableCallback)(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API,
                                   CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020) == CUPTI_SUCCESS);
  CHECK(cudaFree(nullptr) == cudaSuccess && scripted_misuse() == 1);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS && scripted_misuse() == 2 &&
        scripted_misuse_text() != nullptr);
}

std::mutex client_lock;

// A lock that is held while CUPTI is called, and taken in a buffer callback: the child, which CUDA
// does not know as one yet, ends with an abort. SCRIPTED_DEADLOCK_S=1
CASE(deadlocks_are_found) {
  const pid_t child = fork();
  if (child == 0) {
    buffer_bytes = 1024;
    static std::atomic<bool> called{false};
    const auto locking = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t,
                            std::size_t) {
      called = true;
      const std::lock_guard guard(client_lock);
      std::free(data);
    };
    CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, locking) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
    const std::lock_guard guard(client_lock);
    for (int i = 0; i < 5; ++i) launch("k", nullptr);  // fills a buffer
    while (!called) std::this_thread::yield();
    dropped();
    std::_Exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

CASE(forked_child) {
  start({kernel_kind}, {});
  launch("k", nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t now = 0;
    bool right = cudaFree(nullptr) == cudaErrorInitializationError && scripted_misuse() == 0;
    right = right && CUPTI(cuptiActivityFlushAll)(0) != CUPTI_SUCCESS &&
            CUPTI(cuptiGetTimestamp)(&now) == CUPTI_SUCCESS;
    std::exit(right && scripted_misuse() == 2 ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0 && scripted_misuse() == 0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().size() == 1);
}

CASE(driver_contexts) {
  CHECK(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) == nullptr);
  start({kernel_kind, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}, {});
  CHECK(cudaSetDevice(1) == cudaSuccess);
  launch("k", nullptr);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  CHECK(driver != nullptr);
  const auto push =
      reinterpret_cast<decltype(&cuCtxPushCurrent)>(dlsym(driver, "cuCtxPushCurrent_v2"));
  const auto pop =
      reinterpret_cast<decltype(&cuCtxPopCurrent)>(dlsym(driver, "cuCtxPopCurrent_v2"));
  const auto current =
      reinterpret_cast<decltype(&cuCtxGetCurrent)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto wait =
      reinterpret_cast<decltype(&cuCtxSynchronize)>(dlsym(driver, "cuCtxSynchronize"));
  CUcontext zero = nullptr, one = nullptr, popped = nullptr;
  CHECK(cudaSetDevice(1) == cudaSuccess && current(&one) == CUDA_SUCCESS);
  CHECK(cudaSetDevice(0) == cudaSuccess && current(&zero) == CUDA_SUCCESS);
  CHECK(push(one) == CUDA_SUCCESS && wait() == CUDA_SUCCESS);
  // the kernel and its launch; push, synchronize and the record of that
  CHECK(flush().size() == 5);
  int device = 7;
  CHECK(cudaGetDevice(&device) == cudaSuccess && device == 1);
  CHECK(pop(&popped) == CUDA_SUCCESS && popped == one && cudaGetDevice(&device) == cudaSuccess &&
        device == 0 && zero != one);
  CHECK(pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
}

CASE(missing_symbols) {
  void* other = dlopen(SCRIPTED_CUPTI_MISSING, RTLD_NOW | RTLD_LOCAL);
  CHECK(other != nullptr && dlsym(other, "cuptiSubscribe") != nullptr);
  CHECK(dlsym(other, "cuptiGetGraphNodeId") == nullptr &&
        dlsym(other, "cuptiActivityPushExternalCorrelationId") == nullptr);
  void* wrong = dlopen(SCRIPTED_NOT_CUPTI, RTLD_NOW | RTLD_LOCAL);
  CHECK(wrong != nullptr && dlsym(wrong, "cuptiGetVersion") == nullptr);
}

// The names of the real library, where the toolkit has one: it answers without a driver.
CASE(names) {
  const auto name = CUPTI(cuptiGetCallbackName);
  const char *mine = nullptr, *theirs = nullptr;
  CHECK(name(CUPTI_CB_DOMAIN_RUNTIME_API, 505, &mine) == CUPTI_SUCCESS &&
        mine == std::string("__cudaLaunchKernel_v13000"));
  CHECK(name(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, &mine) ==
            CUPTI_ERROR_INVALID_PARAMETER &&
        mine == nullptr);
  CHECK(name(CUPTI_CB_DOMAIN_RESOURCE, 1, &mine) == CUPTI_ERROR_INVALID_PARAMETER);
  void* real = dlopen(
      std::getenv("SCRIPTED_REAL_CUPTI") != nullptr ? std::getenv("SCRIPTED_REAL_CUPTI") : "",
      RTLD_NOW | RTLD_LOCAL);
  const auto real_name =
      real == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&cuptiGetCallbackName)>(dlsym(real, "cuptiGetCallbackName"));
  const auto real_text =
      real == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&cuptiGetResultString)>(dlsym(real, "cuptiGetResultString"));
  if (real_name == nullptr || real_text == nullptr || real_name == name) {
    std::puts("the real libcupti is not here to compare with");
    return;
  }
  const auto same = [&] {
    return mine == theirs ||
           (mine != nullptr && theirs != nullptr && std::strcmp(mine, theirs) == 0);
  };
  for (const auto domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
    for (std::uint32_t cbid = 0; cbid < 900; ++cbid)
      CHECK(name(domain, cbid, &mine) == real_name(domain, cbid, &theirs) && same());
  }
  for (int i = 0; i < 1000; ++i) {
    // it has no name for them
    if (i == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED || i == CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE)
      continue;
    const auto result = static_cast<CUptiResult>(i);
    CHECK(CUPTI(cuptiGetResultString)(result, &mine) == real_text(result, &theirs) && same());
  }
}

}  // namespace
