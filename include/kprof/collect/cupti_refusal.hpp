// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_REFUSAL_HPP
#define KPROF_COLLECT_CUPTI_REFUSAL_HPP

// Why CUPTI does not collect, and what the user can do about it, in words for the report.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// A result by CUPTI's own name for it: "CUPTI_ERROR_NOT_INITIALIZED, 15".
inline std::string name_of(result r, const functions& f) {
  const char* text = nullptr;
  if (f.get_result_string(r, &text) != success || text == nullptr)
    return "error " + std::to_string(r);
  return std::string{text} + ", " + std::to_string(r);
}

/// ": " and the name of the client that has subscribed; "" where CUPTI cannot tell. Subscribes for
/// a moment if that client has just left.
inline std::string subscribed_client(const functions& f, callback_function callback) {
  if (f.subscribe_v2 == nullptr) return {};
  char name[256] = "";
  subscriber_params params{};
  params.size = offsetof(subscriber_params, allow_others);
  params.name = "kprof";
  params.holder = name;
  params.holder_size = sizeof name;
  subscriber who = nullptr;
  if (f.subscribe_v2(&who, callback, nullptr, &params) == success)
    static_cast<void>(f.unsubscribe(who));
  name[sizeof name - 1] = '\0';
  // A client that gave no name has one of CUPTI's own: "CUPTI for <not provided>".
  const std::string_view said = name;
  const bool is_named = !said.empty() && said.find("<not provided>") == said.npos;
  return is_named ? ": " + std::string{said} : std::string{};
}

/// Why CUPTI said no. `callback`: what subscribed_client may subscribe with.
inline std::string refusal(result r, const functions& f, callback_function callback) {
  const std::string said = " (" + name_of(r, f) + ")";
  switch (r) {
    case multiple_subscribers:
      return "another CUPTI client has the GPU's records" + subscribed_client(f, callback) + said +
             "; run without Nsight, cuda-gdb, compute-sanitizer, PyTorch's profiler or "
             "another to have them here, or set KPROF=cupti=off";
    case insufficient_privileges:
    case virtual_privileges:
      return "no permission to profile" + said +
             "; run as root, or load the NVIDIA driver with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case unknown_error:
      return "CUPTI finds no NVIDIA driver that it works with" + said +
             "; use a libcupti no newer than the driver (KPROF_CUPTI)";
    case not_initialized:
      return "CUPTI finds no GPU that the program may use" + said +
             "; look at CUDA_VISIBLE_DEVICES, and in a container at --gpus all";
    default:
      return "CUPTI refuses" + said +
             "; use the libcupti of the CUDA Toolkit that the program is built with "
             "(KPROF_CUPTI)";
  }
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
