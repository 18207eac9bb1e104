// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_ITEM_KINDS_HPP
#define KPROF_MODEL_TIMELINE_ITEM_KINDS_HPP

// What a scope or a kernel is for by its name: communication, or the input of a step. Included by
// run_times.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN

/// What a device was busy with.
enum class item_kind : std::uint8_t {
  kernel,  ///< a kernel that computes
  communication,
  copy,
  set,
};

namespace detail {

/// Of NCCL and NVSHMEM, however the compiler mangled it.
[[gnu::cold]] inline bool is_communication_kernel(std::string_view name) noexcept {
  return name.find("nccl") != std::string_view::npos ||
         name.find("nvshmem") != std::string_view::npos;
}

/// Whether an operator of this name communicates between processes: those of kprof/ops/collective.
[[gnu::cold]] inline bool is_collective(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 10> names = {
      "Collective",       "AllReduce", "ReduceScatter",    "AllGather", "AllToAll",
      "CollectiveGather", "Broadcast", "CollectiveReduce", "SendRecv",  "CollectiveScatter",
  };
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a scope of this name brings the data of a step: "input", "load_batch", "DataLoader".
/// Only letters count, upper or lower. Not "batch", which mostly is what a step works on.
[[gnu::cold]] inline bool is_input(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    else if (c >= 'a' && c <= 'z') letters += c;
  }
  constexpr std::array<std::string_view, 4> whole = {"input", "inputs", "data", "loader"};
  constexpr std::array<std::string_view, 7> parts = {
      "dataload", "loaddata", "loadbatch", "nextbatch", "loadinput", "fetchbatch", "getbatch"};
  return std::find(whole.begin(), whole.end(), letters) != whole.end() ||
         std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
           return letters.find(part) != std::string::npos;
         });
}

}  // namespace detail
KPROF_DETAIL_END

#endif
