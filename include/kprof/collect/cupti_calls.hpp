// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_CALLS_HPP
#define KPROF_COLLECT_CUPTI_CALLS_HPP

// Which CUDA calls matter to attribution, and which of them this thread is in. Calls are classified
// by the names that CUPTI gives them, not by number: a new CUDA version brings new launch calls.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

enum class call : std::uint8_t {
  other,
  launch_kernel,
  launch_transfer,  // a copy or a memset
  launch_graph,
  begin_capture,
  end_capture,
  copy_graph,    // the nodes that it makes are copies of known nodes
  update_graph,  // of an executable graph's nodes
};

/// By the function's name, with or without a version behind it: "cudaLaunchKernel_v7000",
/// "cuMemcpyHtoDAsync_v2".
inline call classify(std::string_view name) noexcept {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("StreamBeginCapture")) return call::begin_capture;
  if (has("StreamEndCapture")) return call::end_capture;
  if (has("GraphInstantiate") || has("GraphClone") || has("GraphAddChildGraph"))
    return call::copy_graph;
  if (has("GraphLaunch")) return call::launch_graph;
  if (has("GraphExecUpdate") || (has("GraphExec") && has("SetParams"))) return call::update_graph;
  // those that add nodes to graphs, and host functions
  if (has("Graph") || has("HostFunc")) return call::other;
  if (has("Launch")) return call::launch_kernel;
  return has("Memcpy") || has("Memset") ? call::launch_transfer : call::other;
}

/// The calls of one domain, by their number.
class call_table {
 public:
  /// Asks CUPTI for the names of all calls of the domain.
  void fill(const functions& f, std::uint32_t domain) {
    calls_.assign(1, call::other);
    const char* name = nullptr;
    while (calls_.size() < 8192 &&
           f.get_callback_name(domain, static_cast<std::uint32_t>(calls_.size()), &name) ==
               success &&
           name != nullptr)
      calls_.push_back(classify(name));
  }
  call operator[](std::uint32_t id) const noexcept {
    return id < calls_.size() ? calls_[id] : call::other;
  }
  /// Calls visit(id) for those that matter.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (calls_[i] != call::other) visit(static_cast<std::uint32_t>(i));
  }

 private:
  std::vector<call> calls_;
};

/// The CUDA call that this thread is in. A call of the runtime makes calls of the driver, and the
/// id of either may be on the device's record. A call inside another one is no second launch.
struct call_state {
  // A call of the runtime mostly makes one of the driver, and one for each device at most.
  static constexpr std::uint32_t max_ids = 32;

  std::uint32_t ids[max_ids] = {};
  std::uint32_t count = 0;
  std::uint32_t launching = 0;  // depth of calls that launch
  std::uint32_t capturing = 0;  // depth of calls that begin or end a capture
  std::uint32_t copying = 0;    // depth of calls that copy graphs
  std::uint32_t round = 0;      // of the collector that saw the call begin
  launch_kind what = launch_kind::kernel;
  bool captured = false;          // the launch became a node of a graph
  const void* context = nullptr;  // of the latest launch
  std::uint64_t when = 0;

  /// Forgets calls that began in an earlier round of collecting: their ends were not seen.
  void enter_round(std::uint32_t now) noexcept {
    if (round != now) *this = call_state{}, round = now;
  }
  /// False where there is no room.
  bool add(std::uint32_t id) noexcept {
    if (id == 0) return true;  // CUPTI gives none
    for (std::uint32_t i = 0; i < count; ++i)
      if (ids[i] == id) return true;
    if (count == max_ids) return false;
    ids[count++] = id;
    return true;
  }
};

KPROF_DETAIL_LOCAL inline thread_local constinit call_state this_call;

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
