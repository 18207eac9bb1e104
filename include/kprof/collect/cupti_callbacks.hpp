// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_CALLBACKS_HPP
#define KPROF_COLLECT_CUPTI_CALLBACKS_HPP

// What kprof does when CUPTI calls it at the begin and end of a CUDA call, or when a context, a
// stream or a graph's node is made or destroyed. That is on the program's threads, and CUPTI's
// locks may be held: nothing here waits for a lock under which kprof calls CUPTI. CUPTI has no room
// for an exception: nothing here throws, and what there is no memory for is counted.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/capturing_streams.hpp>
#include <kprof/collect/cupti_abi.hpp>
#include <kprof/collect/cupti_calls.hpp>
#include <kprof/collect/cupti_defects.hpp>
#include <kprof/collect/cupti_failures.hpp>
#include <kprof/collect/cupti_reader.hpp>
#include <kprof/collect/device_wait.hpp>
#include <kprof/collect/launching_calls.hpp>
#include <kprof/collect/moved_nodes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class callback_handler {
 public:
  callback_handler(const device_listener& listener, const functions& f, device_wait& wait,
                   record_reader& reader, failures& failed)
      : listener_(listener), f_(f), wait_(wait), reader_(reader), failed_(failed) {}

  /// Collecting begins: has CUPTI call `who` for all CUDA calls that matter. `timed`: also for
  /// calls of which only the time matters, and the listener is told the times. Fails where CUPTI
  /// would not tell of captures, which a wait for the device would then break.
  result enable(subscriber who, bool timed = false) {
    // Once: callbacks of an earlier subscription may still be under way, and look there.
    if (!calls_are_known_) {
      if (const result r = runtime_.fill(f_, runtime_api); r != success) return r;
      if (const result r = driver_.fill(f_, driver_api); r != success) return r;
      calls_are_known_.store(true, std::memory_order_release);
    }
    ++round_;
    launching_.clear();
    moved_.clear();
    timed_ = timed;
    for (const std::uint32_t id :
         {context_created, context_destroy_starting, stream_destroy_starting, module_loaded,
          module_unload_starting, graph_node_created, graph_node_destroy_starting,
          graph_node_cloned, graph_node_updated}) {
      const result r = f_.enable_callback(1, who, resource, id);
      if (r != invalid_parameter) failed_.note(failing::callbacks, r);  // else it is newer
    }
    result captures = success;
    for (const bool also : {false, true}) {
      if (also && !timed) break;
      const auto on = [&](const call_table& calls, std::uint32_t domain) {
        calls.each(
            [&](std::uint32_t id) {
              const result r = f_.enable_callback(1, who, domain, id);
              const call what = calls[id].what;
              if (r != success && (what == call::begin_capture || what == call::end_capture))
                captures = r;
              failed_.note(failing::callbacks, r);
            },
            also);
      };
      on(runtime_, runtime_api);
      on(driver_, driver_api);
    }
    return captures;
  }
  /// `number`: as in observed_call.
  function_description function(std::uint16_t number) const noexcept {
    const call_table& calls = (number & driver_bit) != 0 ? driver_ : runtime_;
    const char* const name = calls[number & (driver_bit - 1)].name;
    return name == nullptr ? function_description{} : describe_function(name);
  }
  const call_table& runtime_calls() const noexcept { return runtime_; }
  const call_table& driver_calls() const noexcept { return driver_; }
  /// Calls that launch work and have not ended.
  calls_under_way launching() const noexcept { return launching_.now(); }
  /// Ids of launches for which there was no room since the last call.
  std::uint64_t take_ids_lost() noexcept { return ids_lost_.exchange(0); }
  /// What the program has done so far that some versions of CUPTI get wrong.
  risky_use use() const noexcept {
    return {round_, graphs_were_launched_, graphs_were_updated_, modules_were_reloaded_,
            nodes_set_};
  }

  void handle(std::uint32_t domain, std::uint32_t id, const void* data) noexcept {
    if (!calls_are_known_.load(std::memory_order_acquire)) return;
    if (domain == runtime_api) api_call(runtime_[id], data);
    else if (domain == driver_api) api_call(driver_[id], data);
    else if (domain == resource) resource_event(id, data);
  }

 private:
  void api_call(const call_table::known_call& of, const void* data) noexcept {
    const call what = of.what;
    call_state& s = this_call;
    s.enter_round(round_.load(std::memory_order_relaxed));
    const bool enters = field<std::uint32_t>(data, callback_data::site) == api_enter;
    const auto leaves = [enters](std::uint32_t& depth) {
      return enters ? (++depth, false) : depth != 0 && --depth == 0;
    };
    switch (what) {
      case call::launch_kernel:
      case call::launch_transfer:
      case call::launch_graph:
        if (enters) begin_launch(s, what, data);
        if (leaves(s.launching)) {
          launched(s, timed_ ? of.function : std::uint16_t{0}, result_of(data));
          launching_.end(std::exchange(s.place, launching_calls::no_place));
        }
        break;
      case call::begin_capture:
        if (enters && s.capturing == 0)
          wait_.begin_capture(stream_of(data), field<void*>(data, callback_data::context));
        if (leaves(s.capturing) && result_of(data) != 0) wait_.capturing().end(stream_of(data));
        break;
      case call::end_capture:
        if (leaves(s.capturing) && ends_capture(result_of(data)))
          wait_.capturing().end(stream_of(data));
        break;
      case call::update_graph:
        if (enters && s.updating == 0) s.updated = executable_graph(data);
        if (!leaves(s.updating)) break;
        s.updated = 0;
        if (result_of(data) == 0) graphs_were_updated_ = true;
        break;
      case call::set_node:
        if (leaves(s.setting) && result_of(data) == 0 && !is_followed(data)) ++nodes_set_;
        break;
      case call::add_work: static_cast<void>(leaves(s.adding)); break;
      case call::copy_graph:
        if (enters && s.copying == 0) moved_.forget(&s);
        if (leaves(s.copying)) nodes_were_copied(s, of.name, result_of(data) == 0);
        break;
      case call::timed:
        // A call that launches makes such calls too: they are part of it.
        if (s.launching != 0 || calls_are_own) return;
        if (enters) begin_timed(s, data);
        if (leaves(s.timing))
          listener_.called(
              {s.timed_ids, s.timed_count, s.timed_since, listener_.now(), of.function});
        break;
      case call::other: break;
    }
  }
  void begin_launch(call_state& s, call what, const void* data) noexcept {
    if (s.launching == 0) {
      s.count = 0, s.captured = false, s.when = listener_.now();
      s.what = what == call::launch_kernel     ? launch_kind::kernel
               : what == call::launch_transfer ? launch_kind::transfer
                                               : launch_kind::graph;
    }
    const auto id = field<std::uint32_t>(data, callback_data::correlation);
    if (!s.add(id)) ++ids_lost_;
    if (s.place != launching_calls::no_place) launching_.grow(s.place, id);
    else s.place = launching_.begin(id, place_hint(s));
    // A context that is older than the subscription becomes known by the launches in it.
    void* const context = field<void*>(data, callback_data::context);
    if (context == s.context) return;
    const bool is_known = context == nullptr || wait_.add(context);
    s.context = is_known ? context : nullptr;  // else the next launch tries again
  }
  /// Mostly another number for each thread, and the same for the thread's next call.
  static std::uint32_t place_hint(const call_state& s) noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&s) * 0x9E3779B97F4A7C15U >>
                                      58U);
  }
  void begin_timed(call_state& s, const void* data) noexcept {
    const auto id = field<std::uint32_t>(data, callback_data::correlation);
    if (s.timing == 0) s.timed_count = 0, s.timed_since = listener_.now();
    if (s.timed_count < 2 && id != 0) s.timed_ids[s.timed_count++] = id;
  }
  /// `function`: 0 where no times are wanted.
  void launched(const call_state& s, std::uint16_t function, int error) noexcept {
    if (work_is_own) {
      if (error == 0) listener_.launched_by_kprof({s.ids, s.count, s.when, s.when});
      return reader_.help_if_behind();
    }
    const observed_call call{s.ids, s.count, s.when, function == 0 ? s.when : listener_.now(),
                             function};
    if (error != 0 || s.captured) {
      if (function != 0) listener_.called(call);
      if (error != 0) return;
    }
    const bool is_graph = s.what == launch_kind::graph;
    if (is_graph && !graphs_were_launched_) graphs_were_launched_ = true;
    if (!s.captured) listener_.launched(call, s.what);
    else if (is_graph) listener_.graph_captured();
    reader_.help_if_behind();
  }
  /// The first parameter of all calls that begin or end a capture.
  static void* stream_of(const void* data) noexcept {
    const void* const params = field<const void*>(data, callback_data::params);
    return params == nullptr ? nullptr : field<void*>(params, 0);
  }
  /// 0 for cudaSuccess and CUDA_SUCCESS, and where it is not told.
  static int result_of(const void* data) noexcept {
    const void* const value = field<const void*>(data, callback_data::return_value);
    return value == nullptr ? 0 : field<int>(value, 0);
  }

  void resource_event(std::uint32_t id, const void* data) noexcept {
    switch (id) {
      case context_created:
        static_cast<void>(wait_.add(field<void*>(data, resource_data::context)));
        return listener_.context_made();
      case context_destroy_starting:
        return wait_.remove(field<void*>(data, resource_data::context));
      case stream_destroy_starting:
        return wait_.capturing().destroyed(field<void*>(data, resource_data::stream));
      case module_unload_starting: modules_were_unloaded_ = true; return;
      case module_loaded:  // a name that kprof's own kernels get is shown to nobody
        if (modules_were_unloaded_ && !work_is_own) modules_were_reloaded_ = true;
        return;
      default: graph_event(id, field<const void*>(data, resource_data::descriptor));
    }
  }
  void graph_event(std::uint32_t id, const void* graph) noexcept {
    std::uint64_t node = 0, original = 0;
    if (graph == nullptr) return;
    if (id == graph_node_updated) return node_updated(graph);
    if (!node_id(graph, graph_data::node, node)) return;
    switch (id) {
      case graph_node_created:
        return node_made(node, field<std::uint32_t>(graph, graph_data::node_type) <= node_memset);
      case graph_node_cloned:
        if (this_call.copying != 0)
          moved_.copied(&this_call, field<void*>(graph, graph_data::node), node);
        if (node_id(graph, graph_data::original_node, original))
          listener_.graph_node_copied(node, original);
        return;
      case graph_node_destroy_starting:
        if (this_call.copying != 0)
          moved_.destroyed(&this_call, field<void*>(graph, graph_data::node));
        return listener_.graph_node_destroyed(node);
      default: return;
    }
  }
  /// CUPTI gives the executable graph's node as the original, and as the node that which it becomes
  /// a copy of.
  void node_updated(const void* graph) noexcept {
    std::uint64_t updated = 0, original = 0;  // 0: not known
    static_cast<void>(node_id(graph, graph_data::node, original));
    static_cast<void>(node_id(graph, graph_data::original_node, updated));
    const std::uint32_t exec = this_call.updated;
    if (exec != 0 && updated >> 32U != exec && original >> 32U == exec)
      std::swap(updated, original);
    if (updated != 0) listener_.graph_node_updated(updated, original);
  }
  /// Of all calls that set a node the second parameter is the node that it is a copy of. CUPTI
  /// tells of the node itself only where its parameters change.
  bool is_followed(const void* data) const noexcept {
    const void* const params = field<const void*>(data, callback_data::params);
    const std::uint32_t exec = executable_graph(data);
    std::uint64_t original = 0;
    return exec != 0 && node_id(params, sizeof(void*), original) &&
           listener_.graph_node_set(exec, original);
  }
  /// The first parameter of all calls that change an executable graph; 0: not known.
  std::uint32_t executable_graph(const void* data) const noexcept {
    const void* const params = field<const void*>(data, callback_data::params);
    void* const exec = params == nullptr ? nullptr : field<void*>(params, 0);
    std::uint32_t id = 0;
    const bool is_known =
        exec != nullptr && f_.graph_exec_id != nullptr && f_.graph_exec_id(exec, &id) == success;
    return is_known ? id : 0;
  }
  /// The nodes of graphs in the graph that a call copied may have become its own. What a call that
  /// failed has copied is gone.
  void nodes_were_copied(const call_state& s, std::string_view by, bool succeeded) noexcept {
    if (!succeeded) return moved_.forget(&s);
    if (by.find("AddChildGraph") != std::string_view::npos) listener_.graph_captured();
    moved_.end(
        &s,
        [this](void* node, std::uint64_t& id) { return f_.graph_node_id(node, &id) == success; },
        [this](std::uint64_t id, std::uint64_t before) { listener_.graph_node_moved(id, before); });
  }
  // Without the node's id a launch in a capture counts as one whose work has not come.
  void node_made(std::uint64_t node, bool may_work) noexcept {
    call_state& s = this_call;
    s.enter_round(round_.load(std::memory_order_relaxed));
    // CUPTI does not know the node's type yet, and says that it is a kernel's.
    const bool does_work = may_work && (s.launching != 0 || s.adding != 0);
    if (s.launching != 0) {
      s.captured = true;
      wait_.capturing().captured();
    }
    // A graph that is launched into a capture is copied: its nodes are its own scopes' work.
    const bool is_copy =
        s.copying != 0 || (s.launching != 0 && s.what == launch_kind::graph && does_work);
    if (!is_copy) listener_.graph_node_made(node, does_work);
  }
  bool node_id(const void* graph, std::size_t offset, std::uint64_t& id) const noexcept {
    void* const node = field<void*>(graph, offset);
    if (node == nullptr) return false;
    const result r = f_.graph_node_id(node, &id);
    failed_.note(failing::graph_nodes, r);
    if (r != success) id = 0;
    return r == success;
  }

  const device_listener& listener_;
  const functions& f_;
  device_wait& wait_;
  record_reader& reader_;
  failures& failed_;
  call_table runtime_, driver_;
  std::atomic<bool> calls_are_known_{false};  // else no callback may look at them
  std::atomic<bool> timed_{false};            // times of calls are wanted
  std::atomic<std::uint32_t> round_{0};       // how often collecting has begun
  std::atomic<std::uint64_t> ids_lost_{0};
  launching_calls launching_;
  moved_nodes moved_;
  std::atomic<bool> graphs_were_launched_{false};
  std::atomic<bool> graphs_were_updated_{false};
  std::atomic<std::uint64_t> nodes_set_{0};
  std::atomic<bool> modules_were_unloaded_{false};
  std::atomic<bool> modules_were_reloaded_{false};
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
