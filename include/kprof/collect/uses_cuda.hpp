// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_USES_CUDA_HPP
#define KPROF_COLLECT_USES_CUDA_HPP

// Whether the program uses CUDA. Loading CUPTI loads the driver, which a program without CUDA
// should not pay for.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/attach/find_modules.hpp>
#include <kprof/build_options.hpp>

#include <link.h>

#include <cstddef>
#include <string_view>

// Not null where this module holds device code or calls the runtime or the driver.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_device_code() __asm__(
    "__cudaRegisterFatBinary");
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_runtime() __asm__("cudaMalloc");
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_driver() __asm__("cuInit");
}

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether this module uses CUDA, or a library is loaded that only programs with CUDA load.
inline bool uses_cuda() {
  if (&kprof_detail_device_code != nullptr || &kprof_detail_runtime != nullptr ||
      &kprof_detail_driver != nullptr)
    return true;
  if (!may_ask_loader()) return false;  // CUDA is of no use in the child of a fork
  const auto is_of_cuda = [](dl_phdr_info* info, std::size_t, void*) -> int {
    std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    for (const std::string_view library :
         {"libcuda.so", "libcudart.so", "libcublas.so", "libcublasLt.so", "libcudnn.so",
          "libcufft.so", "libnccl.so"})
      if (name.starts_with(library)) return 1;
    return 0;
  };
  return dl_iterate_phdr(is_of_cuda, nullptr) != 0;
}

/// Whether device activity is collected unless somebody says otherwise. Not where the environment
/// is foreign: the driver that CUPTI loads takes names of libraries from it.
inline bool collects_by_default() { return !environment_is_foreign() && uses_cuda(); }

}  // namespace detail
KPROF_DETAIL_END

#endif
