// SPDX-License-Identifier: MIT
// What exists: memory, handles, and kernels by their names. All of it leaked: atexit handlers may
// still come here.
#include "gpu.hpp"

#include "scripted_cuda.hpp"

#include <cstdlib>
#include <map>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

namespace scripted {

namespace {

struct allocations {
  std::shared_mutex lock;
  std::map<std::uintptr_t, allocation> by_address;
};

allocations& all_allocations() {
  static auto* made = new allocations;
  return *made;
}

}  // namespace

cudaError_t allocate(void** pointer, std::size_t size, memory kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  void* made = size > device_memory ? nullptr : std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (made == nullptr) return cudaErrorMemoryAllocation;
  allocations& all = all_allocations();
  const std::lock_guard guard(all.lock);
  all.by_address[reinterpret_cast<std::uintptr_t>(made)] = {kind, this_thread().device,
                                                            static_cast<const char*>(made), size};
  *pointer = made;
  return cudaSuccess;
}

void register_host(void* pointer, std::size_t size) {
  allocations& all = all_allocations();
  const std::lock_guard guard(all.lock);
  all.by_address[reinterpret_cast<std::uintptr_t>(pointer)] = {
      memory::pinned, 0, static_cast<const char*>(pointer), size};
}

void forget_host(void* pointer) {
  allocations& all = all_allocations();
  const std::lock_guard guard(all.lock);
  all.by_address.erase(reinterpret_cast<std::uintptr_t>(pointer));
}

cudaError_t release(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  allocations& all = all_allocations();
  {
    const std::lock_guard guard(all.lock);
    if (all.by_address.erase(reinterpret_cast<std::uintptr_t>(pointer)) == 0)
      return cudaErrorInvalidValue;
  }
  std::free(pointer);
  return cudaSuccess;
}

allocation find_allocation(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  allocations& all = all_allocations();
  const std::shared_lock guard(all.lock);
  auto next = all.by_address.upper_bound(address);
  if (next == all.by_address.begin()) return {};
  const auto& [base, found] = *--next;
  return address < base + found.size ? found : allocation{};
}

// ---- handles and kernels

namespace {

struct handles {
  std::mutex lock;
  std::unordered_set<const void*> all;
};

handles& all_handles() {
  static auto* made = new handles;
  return *made;
}

struct kernels {
  std::shared_mutex lock;
  std::unordered_map<const void*, CUkern_st*> by_function;
  std::unordered_map<std::string, CUkern_st*> by_name;
};

kernels& all_kernels() {
  static auto* made = new kernels;
  return *made;
}

}  // namespace

void keep(void* handle) {
  const std::lock_guard guard(all_handles().lock);
  all_handles().all.insert(handle);
}

bool forget(const void* handle) {
  const std::lock_guard guard(all_handles().lock);
  return all_handles().all.erase(handle) != 0;
}

CUkern_st* find_kernel(const void* function) {
  struct last_found {
    const void* function;
    CUkern_st* kernel;
  };
  // a launch should not take a lock that all launches share
  static thread_local last_found recent[16];
  last_found& mine = recent[(reinterpret_cast<std::uintptr_t>(function) >> 4U) % 16];
  if (mine.function == function && function != nullptr) return mine.kernel;
  kernels& all = all_kernels();
  const std::shared_lock guard(all.lock);
  const auto found = all.by_function.find(function);
  if (found == all.by_function.end()) return nullptr;
  mine = {function, found->second};
  return found->second;
}

}  // namespace scripted

using namespace scripted;

extern "C" {

const void* scripted_kernel(const char* mangled_name) {
  kernels& all = all_kernels();
  const std::lock_guard guard(all.lock);
  CUkern_st*& made = all.by_name[mangled_name];
  if (made == nullptr) {
    made = new CUkern_st;
    made->name = mangled_name;
    all.by_function[made] = made;
  }
  return made;
}

void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  auto* made = static_cast<CUkern_st*>(const_cast<void*>(scripted_kernel(name)));
  kernels& all = all_kernels();
  const std::lock_guard guard(all.lock);
  all.by_function[host_function] = made;
}

}  // extern "C"
