// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TIMED_DRIVER_HPP
#define KPROF_TESTS_TIMED_DRIVER_HPP

// A CUDA driver that runs nothing: it knows how long everything takes, holds what it was asked for,
// and fails at one call.

#include <kprof/machine/cuda_functions.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <utility>

namespace kprof_test {

// What the driver holds, and which of its calls fails.
struct timed_driver {
  int calls = 0, failing = 0, error = 2;
  int contexts = 0, depth = 0, mode = 0;
  std::set<void*> streams, events, modules, host;
  std::set<std::uint64_t> memory;
  std::uintptr_t next = 16;
  std::string text;     // of the module that is loaded
  std::string refused;  // texts with this are
  std::uint64_t rounds = 0;
  double ms = 0, us_per_round = 10, copy_ms = 1;
  std::uint64_t mhz = 1500;
  std::size_t free_bytes = std::size_t{16} << 30U;
  std::int64_t time = 0, load_ns = 0;
  bool hangs = false, is_active = true;
  int misuses = 0;

  bool fails() { return ++calls == failing; }
  void* handle(std::set<void*>& kind) {
    void* const made = reinterpret_cast<void*>(next++);
    kind.insert(made);
    return made;
  }
  int end(std::set<void*>& kind, void* of) {
    if (kind.erase(of) != 1) ++misuses;
    return 0;
  }
  bool holds_nothing() const {
    return contexts == 0 && depth == 0 && mode == 0 && misuses == 0 && streams.empty() &&
           events.empty() && modules.empty() && host.empty() && memory.empty();
  }
};
inline timed_driver driver;
#define FAIL_IF_WANTED \
  if (driver.fails()) return driver.error

inline kprof::detail::cuda_functions functions_of_driver() {
  using kprof::detail::cuda_functions;
  cuda_functions f{};
  f.error_name = [](int, const char** name) { return *name = "CUDA_ERROR_SCRIPTED", 0; };
  f.device = [](int* device, int ordinal) {
    FAIL_IF_WANTED;
    return *device = ordinal + 40, 0;
  };
  f.device_name = [](char* name, int size, int device) {
    FAIL_IF_WANTED;
    std::strncpy(name, device == 41 ? "NVIDIA Scripted" : "NVIDIA Other",
                 static_cast<std::size_t>(size));
    return 0;
  };
  f.retain = [](void** context, int) {
    FAIL_IF_WANTED;
    ++driver.contexts;
    return *context = &driver, 0;
  };
  f.context_state = [](int, unsigned* flags, int* is_active) {
    FAIL_IF_WANTED;
    *flags = 0;
    return *is_active = driver.is_active ? 1 : 0, 0;
  };
  // What gives something back has done so even where it says that it failed.
  f.release = [](int) {
    --driver.contexts;
    FAIL_IF_WANTED;
    return 0;
  };
  f.push = [](void* context) {
    FAIL_IF_WANTED;
    if (context != &driver) ++driver.misuses;
    return ++driver.depth, 0;
  };
  f.pop = [](void** context) {
    --driver.depth;
    FAIL_IF_WANTED;
    return *context = &driver, 0;
  };
  f.exchange_capture_mode = [](int* mode) {
    std::swap(*mode, driver.mode);
    if (!driver.fails()) return 0;
    if (driver.mode != 0) std::swap(*mode, driver.mode);
    return driver.error;
  };
  f.make_stream = [](void** stream, unsigned flags) {
    FAIL_IF_WANTED;
    if (flags != 1) ++driver.misuses;
    return *stream = driver.handle(driver.streams), 0;
  };
  f.destroy_stream = [](void* stream) {
    const int error = driver.end(driver.streams, stream);
    FAIL_IF_WANTED;
    return error;
  };
  f.make_event = [](void** event, unsigned) {
    FAIL_IF_WANTED;
    return *event = driver.handle(driver.events), 0;
  };
  f.destroy_event = [](void* event) {
    const int error = driver.end(driver.events, event);
    FAIL_IF_WANTED;
    return error;
  };
  f.record = [](void*, void*) {
    FAIL_IF_WANTED;
    return 0;
  };
  f.query = [](void*) {
    FAIL_IF_WANTED;
    if (driver.hangs) driver.time += 100'000'000;
    return driver.hangs ? 600 : 0;
  };
  f.elapsed = [](float* ms, void*, void*) {
    FAIL_IF_WANTED;
    return *ms = static_cast<float>(driver.ms), 0;
  };
  f.memory = [](std::size_t* free, std::size_t* total) {
    FAIL_IF_WANTED;
    return *free = *total = driver.free_bytes, 0;
  };
  f.allocate = [](std::uint64_t* at, std::size_t) {
    FAIL_IF_WANTED;
    driver.memory.insert(*at = driver.next++);
    return 0;
  };
  f.release_memory = [](std::uint64_t at) {
    if (driver.memory.erase(at) != 1) ++driver.misuses;
    FAIL_IF_WANTED;
    return 0;
  };
  f.allocate_host = [](void** at, std::size_t bytes, unsigned) {
    FAIL_IF_WANTED;
    *at = ::operator new(bytes);
    return driver.host.insert(*at), 0;
  };
  f.release_host = [](void* at) {
    const int error = driver.end(driver.host, at);
    ::operator delete(at);
    FAIL_IF_WANTED;
    return error;
  };
  f.fill = [](std::uint64_t, unsigned, std::size_t, void*) {
    FAIL_IF_WANTED;
    return 0;
  };
  f.to_device = [](std::uint64_t, const void*, std::size_t, void*) {
    FAIL_IF_WANTED;
    return driver.ms = driver.copy_ms, 0;
  };
  f.to_host = [](void* to, std::uint64_t, std::size_t bytes, void*) {
    FAIL_IF_WANTED;
    if (bytes != 32) return driver.ms = driver.copy_ms * 2, 0;
    const std::uint64_t now[] = {1'000'000, 500, 3'000'000, 500 + 2000 * driver.mhz};
    return std::memcpy(to, now, sizeof now), 0;
  };
  f.load = [](void** module, const void* text) {
    driver.time += driver.load_ns;
    FAIL_IF_WANTED;
    driver.text = static_cast<const char*>(text);
    if (!driver.refused.empty() && driver.text.find(driver.refused) != std::string::npos)
      return 222;
    return *module = driver.handle(driver.modules), 0;
  };
  f.unload = [](void* module) {
    const int error = driver.end(driver.modules, module);
    FAIL_IF_WANTED;
    return error;
  };
  f.function = [](void** function, void*, const char* name) {
    FAIL_IF_WANTED;
    if (std::string{name} != "kprof_ceiling") ++driver.misuses;
    return *function = &driver, 0;
  };
  f.launch = [](void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void** params, void**) {
    FAIL_IF_WANTED;
    std::memcpy(&driver.rounds, params[1], sizeof driver.rounds);
    return driver.ms = static_cast<double>(driver.rounds) * driver.us_per_round / 1000, 0;
  };
  f.now = [] { return driver.time; };
  return f;
}
#undef FAIL_IF_WANTED

}  // namespace kprof_test

#endif
