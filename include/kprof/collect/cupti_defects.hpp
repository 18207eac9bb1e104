// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_DEFECTS_HPP
#define KPROF_COLLECT_CUPTI_DEFECTS_HPP

// Defects of CUPTI's versions, by NVIDIA's release notes, that kprof cannot work around, and what
// no version tells: what the report says where a run may have met one. kprof does not use the
// graph's number in a record, which CUPTI before 13.4 gets wrong for copies.

#include <kprof/build_options.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// What a run did that some versions get wrong.
struct risky_use {
  std::uint32_t recordings = 0;
  bool launched_graphs = false;
  bool updated_graphs = false;
  bool reloaded_modules = false;
  std::uint64_t nodes_set = 0;  // of executable graphs
};

/// Disabling the records of kernels may never return: kprof leaves that out where the process ends.
constexpr bool may_hang_when_disabling(std::uint32_t version) noexcept {
  return version == version_13;
}

inline std::vector<std::string> known_defects(std::uint32_t version, const risky_use& use) {
  constexpr std::uint32_t graph_ids_are_right = 130101, names_are_right = 130401;
  std::vector<std::string> out;
  if (version < version_13 && use.updated_graphs)
    out.emplace_back(
        "this CUPTI does not tell of updated graphs, whose work stays under the scopes of their "
        "first capture: use CUPTI 13");
  if (version == version_13)
    out.emplace_back(
        "this CUPTI, of CUDA 13.0 before its Update 1, may crash when records are fetched and hang "
        "when a recording is stopped: use a later one (KPROF_CUPTI)");
  if (version >= version_13 && version < graph_ids_are_right && use.recordings > 1 &&
      use.launched_graphs)
    out.emplace_back(
        "this CUPTI gives launches of graphs wrong ids after kprof::stop() and a new start, so "
        "that work of graphs may stand under the scope of another launch: use CUPTI of CUDA 13.1 "
        "Update 1 or later (KPROF_CUPTI), or record once in a process");
  if (version < names_are_right && use.reloaded_modules)
    out.emplace_back(
        "device code was unloaded, by the program or with ceilings=measure, and some loaded again, "
        "after which this CUPTI may give kernels the names of earlier ones: use CUPTI of CUDA 13.4 "
        "Update 1 or later "
        "(KPROF_CUPTI)");
  if (use.nodes_set != 0)
    out.push_back("the program set the parameters of nodes of executable graphs, " +
                  std::to_string(use.nodes_set) +
                  " times: their work stays under the scopes, and with the operators' parameters, "
                  "of the capture. Where these differ, update the graph by another one that was "
                  "captured (cudaGraphExecUpdate)");
  return out;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
