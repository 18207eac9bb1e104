// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_CALLS_HPP
#define KPROF_COLLECT_CUPTI_CALLS_HPP

// Which CUDA calls matter, to attribution or for the time they take, and which of them this thread
// is in. Calls are classified by the names that CUPTI gives them, not by number: a new CUDA version
// brings new launch calls.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/launching_calls.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
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
  add_work,      // as a node of a graph that is made by hand; cuGraphAddNode may add another
  copy_graph,    // the nodes that it makes are copies of known nodes
  update_graph,  // of an executable graph's nodes
  set_node,      // another kernel, copy or memset for one of these
  timed,         // nothing of these; how long it takes is worth knowing
};

// Numbers of functions: CUPTI's, with these.
inline constexpr std::uint32_t driver_bit = 0x4000, blocks_bit = observed_call::blocks;

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
  if (has("GraphExecUpdate")) return call::update_graph;
  if (has("GraphExec") && has("SetParams")) return call::set_node;
  if (has("GraphAddKernelNode") || has("GraphAddMemcpyNode") || has("GraphAddMemsetNode") ||
      has("GraphAddNode"))
    return call::add_work;
  // those that add other nodes to graphs, and host functions
  if (has("Graph") || has("HostFunc")) return call::other;
  if (has("Launch")) return call::launch_kernel;
  return has("Memcpy") || has("Memset") ? call::launch_transfer : call::other;
}

/// As programs call it: without the version that the runtime's functions have, and without the
/// underscores of `__cudaLaunchKernel_v13000`, which `<<<>>>` calls since CUDA 13.
inline std::string_view name_in_programs(std::string_view name) noexcept {
  if (name.starts_with("__")) name.remove_prefix(2);
  const std::size_t at = name.rfind("_v");
  return at != std::string_view::npos && name.size() - at >= 6 ? name.substr(0, at) : name;
}

/// What a function does for the program, by its name. kprof does not ask for calls of a function
/// that does nothing of interest: programs make a hundred times as many as launches.
inline function_description describe_function(std::string_view versioned) noexcept {
  const std::string_view name = name_in_programs(versioned);
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  enum : std::uint8_t { other, launch, copy, set, synchronize, allocate, free, record, wait };
  enum : std::uint8_t { nothing, device, stream, event };
  const bool waits = !has("Async");
  if (has("Graph")) return {name, has("GraphLaunch") ? launch : other, nothing, false};
  if (has("StreamWaitEvent")) return {name, wait, nothing, false};
  if (has("EventRecord")) return {name, record, nothing, false};
  if (has("Synchronize"))
    return {name, synchronize, has("Stream") ? stream : has("Event") ? event : device, true};
  if (has("Memcpy")) return {name, copy, waits ? stream : nothing, waits};
  if (has("Memset")) return {name, set, nothing, false};
  if (has("Malloc") || has("MemAlloc") || has("HostAlloc") || has("MemCreate") ||
      has("HostRegister"))
    return {name, allocate, nothing, waits};
  if (has("Free") || has("MemRelease") || has("HostUnregister"))
    return {name, free, waits ? device : nothing, waits};
  return {name, has("Launch") ? launch : other, nothing, false};
}
/// Whether the function is called for what it does, of those that describe_function() knows as
/// `other`.
inline bool is_worth_timing(std::string_view name) noexcept {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  return describe_function(name).kind != 0 || has("ModuleLoad") || has("LibraryLoad") ||
         has("LinkComplete") || has("StreamCreate") || has("StreamDestroy") || has("EventCreate") ||
         has("EventDestroy") || has("PrefetchAsync");
}

/// The calls of one domain, by their number.
class call_table {
 public:
  /// Asks CUPTI for the names of all calls of the domain. Fails where it may not have told all.
  result fill(const functions& f, std::uint32_t domain) {
    calls_.assign(1, {});
    while (calls_.size() < 8192) {
      const char* name = nullptr;
      const auto id = static_cast<std::uint32_t>(calls_.size());
      const result r = f.get_callback_name(domain, id, &name);
      if (r == invalid_parameter) break;  // the last was the last
      if (r != success) return r;
      if (name == nullptr) break;
      add(domain, name);
    }
    return success;
  }
  /// What is known of a function.
  struct known_call {
    const char* name = nullptr;  // CUPTI's, which stays in memory
    call what = call::other;
    std::uint16_t function = 0;  // as in observed_call
  };
  known_call operator[](std::uint32_t id) const noexcept {
    return id < calls_.size() ? calls_[id] : known_call{};
  }
  /// Calls visit(id) for those that matter to attribution; `timed`: for the others that matter.
  template <class Visit>
  void each(Visit visit, bool timed = false) const {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (calls_[i].what != call::other && (calls_[i].what == call::timed) == timed)
        visit(static_cast<std::uint32_t>(i));
  }

 private:
  void add(std::uint32_t domain, const char* name) {
    known_call k{name, classify(name)};
    if (k.what == call::other && is_worth_timing(name)) k.what = call::timed;
    const auto number = static_cast<std::uint32_t>(calls_.size());
    k.function = static_cast<std::uint16_t>(number | (domain == driver_api ? driver_bit : 0U) |
                                            (describe_function(name).blocks ? blocks_bit : 0U));
    calls_.push_back(k);
  }

  std::vector<known_call> calls_;  // 8192 at the most
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
  std::uint32_t adding = 0;     // depth of calls that add work to graphs
  std::uint32_t copying = 0;    // depth of calls that copy graphs
  std::uint32_t updating = 0;   // depth of calls that update an executable graph
  std::uint32_t updated = 0;    // its number; 0: not known
  std::uint32_t setting = 0;    // depth of calls that set a node of an executable graph
  std::uint32_t round = 0;      // of the collector that saw the call begin
  launch_kind what = launch_kind::kernel;
  bool captured = false;                            // the launch became a node of a graph
  const void* context = nullptr;                    // of the latest launch
  std::uint32_t place = launching_calls::no_place;  // of the outermost call that launches
  std::uint64_t when = 0;
  // Of the outermost call that is timed and launches nothing.
  std::uint32_t timing = 0;  // depth
  std::uint32_t timed_count = 0;
  std::uint32_t timed_ids[2] = {};
  std::uint64_t timed_since = 0;

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
/// Whether the calls that this thread makes are kprof's own.
KPROF_DETAIL_LOCAL inline thread_local constinit bool calls_are_own = false;
/// Whether the work that this thread launches is kprof's own, which measures the device.
KPROF_DETAIL_LOCAL inline thread_local constinit bool work_is_own = false;

/// While it lives, the program has made none of the thread's calls.
struct own_calls {
  own_calls() noexcept : before_(std::exchange(calls_are_own, true)) {}
  ~own_calls() { calls_are_own = before_; }
  own_calls(const own_calls&) = delete;
  own_calls& operator=(const own_calls&) = delete;

 private:
  const bool before_;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
