// SPDX-License-Identifier: MIT
#ifndef SCRIPTED_CUDA_SELFCHECK_HPP
#define SCRIPTED_CUDA_SELFCHECK_HPP

// A client of the scripted CUDA, and the cases that check with it what README.md says. It opens
// libcupti at run time, as kprof does.

#include "scripted_cuda.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

void check(bool holds, const char* what, const char* file, int line);
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

/// A case by its name: CASE(name) { ... }
struct registered_case {
  registered_case(const char* name, void (*run)());
};
#define CASE(name)                                \
  void name();                                    \
  const registered_case name##_case{#name, name}; \
  void name()

extern void* library;  // libcupti
#define CUPTI(name) reinterpret_cast<decltype(&name)>(dlsym(library, #name))

struct record {
  CUpti_ActivityKind kind{};
  std::uint32_t correlation = 0, stream = 0, device = 0, cbid = 0, graph = 0;
  std::uint64_t start = 0, end = 0, node = 0, bytes = 0, external = 0;
  std::string name;
};

/// What the client's callbacks saw. Buffers are only queued in callbacks and read later.
struct seen {
  std::mutex lock;
  std::vector<std::pair<std::uint8_t*, std::size_t>> buffers;
  std::vector<std::string> callbacks;
  std::map<std::uint64_t, std::uint64_t> cloned_from;  // node ids
  std::set<std::uint64_t> created;
  std::set<std::thread::id> delivery_threads;
};
seen& all();

extern std::size_t buffer_bytes, most_records, refuse_after;
void requested(std::uint8_t** data, std::size_t* size, std::size_t* most);
void completed(CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t valid);
void called_back(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data);

/// Subscribes, and enables these kinds and domains.
CUpti_SubscriberHandle start(std::initializer_list<CUpti_ActivityKind> kinds,
                             std::initializer_list<CUpti_CallbackDomain> domains);
/// Everything delivered so far, buffer after buffer.
std::vector<record> take();
std::vector<record> flush(std::uint32_t flag = 0);
std::vector<record> of(const std::vector<record>& records, CUpti_ActivityKind kind);
std::size_t dropped();

void launch(const char* name, cudaStream_t stream, unsigned blocks = 4);

inline constexpr auto kernel_kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

#endif
