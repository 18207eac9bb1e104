// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUDA_DRIVER_HPP
#define KPROF_COLLECT_CUDA_DRIVER_HPP

// Whether the CUDA driver works. CUPTI must not be asked: where none does, the CUPTI of CUDA 13.2
// overflows the stack in its first call, whichever that is. Included by the collector.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_library.hpp>
#include <kprof/status.hpp>

#include <dlfcn.h>
#include <unwind.h>

#include <atomic>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// As cuDriverGetVersion says: 13000; 0: nobody has asked it yet.
KPROF_DETAIL_LOCAL inline constinit std::atomic<int> driver_version{0};

/// Whether this thread is in a call of the driver, which loads other libraries while it
/// initialises: one of those may open the first scope, and cuInit would wait for itself.
inline bool driver_is_calling() noexcept {
  bool found = false;
  const auto look = [](_Unwind_Context* frame, void* answer) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(_Unwind_GetIP(frame)), &info) == 0 ||
        info.dli_fname == nullptr)
      return _URC_NO_REASON;
    std::string_view name = info.dli_fname;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    if (!name.starts_with("libcuda.so")) return _URC_NO_REASON;
    *static_cast<bool*>(answer) = true;
    return _URC_END_OF_STACK;
  };
  static_cast<void>(_Unwind_Backtrace(look, &found));
  return found;
}

/// Why cuInit failed, and what the user can do about it.
inline status driver_refusal(int error, const char* name) {
  const std::string said =
      " (" + (name == nullptr ? "error" : std::string{name}) + ", " + std::to_string(error) + ")";
  constexpr int no_device = 100;
  if (error == no_device)
    return {"the NVIDIA driver finds no GPU that the program may use" + said +
            "; look at CUDA_VISIBLE_DEVICES, and in a container at --gpus all"};
  return {"the NVIDIA driver does not work" + said + "; run where nvidia-smi lists a GPU"};
}

/// Asks the driver, which is loaded, for its version. It need not be initialised.
[[gnu::cold]] inline void ask_version(void* driver) noexcept {
  int (*get_version)(int* version) = nullptr;
  find(driver, "cuDriverGetVersion", get_version);
  int version = 0;
  if (get_version != nullptr && get_version(&version) == 0) driver_version = version;
}

/// Loads the driver and initialises it, as CUPTI would, unless it is just calling. It stays loaded.
inline status initialize_driver() {
  if (driver_is_calling()) return {};
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    const char* const reason = dlerror();
    return {"there is no NVIDIA driver (" + std::string{reason == nullptr ? "" : reason} +
            "); run where nvidia-smi lists a GPU, and in a container with --gpus all"};
  }
  int (*initialize)(unsigned flags) = nullptr;
  int (*get_name)(int error, const char** name) = nullptr;
  find(driver, "cuInit", initialize);
  find(driver, "cuGetErrorName", get_name);
  if (initialize == nullptr)
    return {"libcuda.so.1 lacks cuInit: it is no NVIDIA driver; run where nvidia-smi lists a GPU"};
  const int error = initialize(0);
  if (error == 0) return ask_version(driver), status{};
  const char* name = nullptr;
  if (get_name != nullptr) static_cast<void>(get_name(error, &name));
  return driver_refusal(error, name);
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
