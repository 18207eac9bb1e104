// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/collect/cupti_callbacks.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace kprof::detail;
using namespace kprof::detail::cupti;

namespace {

std::vector<std::uint32_t> launched_ids, own_ids;
int launches = 0;

/// What CUPTI would call: 1 launches a kernel and 2 a graph, in the runtime and in the driver.
functions fake_cupti() {
  functions f{};
  f.enable_callback = [](std::uint32_t, subscriber, std::uint32_t, std::uint32_t) {
    return success;
  };
  f.get_callback_name = [](std::uint32_t domain, std::uint32_t id, const char** name) {
    static const char* const names[2][3] = {{nullptr, "cuLaunchKernel", "cuGraphLaunch"},
                                            {nullptr, "cudaLaunchKernel", "cudaGraphLaunch"}};
    *name = id > 2 ? nullptr : names[domain == runtime_api ? 1 : 0][id];
    return *name == nullptr ? result{1} : success;
  };
  return f;
}

device_listener listener() {
  device_listener l{};
  l.now = []() noexcept -> std::uint64_t { return 1; };
  l.launched = [](const observed_call& call, launch_kind) noexcept {
    launched_ids.assign(call.ids, call.ids + call.count);
    ++launches;
  };
  l.launched_by_kprof = [](const observed_call& call) noexcept {
    own_ids.assign(call.ids, call.ids + call.count);
  };
  return l;
}

struct fixture {
  device_listener to = listener();
  functions f;
  clock_offset clock;
  device_wait wait;
  client own{f};
  record_reader reader{to, own, clock};
  failures failed;
  callback_handler callbacks{to, f, wait, reader, failed};

  explicit fixture(const functions& of = fake_cupti()) : f(of) {
    callbacks.enable(nullptr);
    launched_ids.clear();
    launches = 0;
  }
  void call(std::uint32_t domain, std::uint32_t site, std::uint32_t id,
            std::uint32_t function = 1) {
    alignas(8) char data[80] = {};
    std::memcpy(data + callback_data::site, &site, sizeof site);
    std::memcpy(data + callback_data::correlation, &id, sizeof id);
    callbacks.handle(domain, function, data);
  }
  /// A call of the runtime that launches by so many calls of the driver.
  void launch_by(std::uint32_t calls, std::uint32_t first_id = 100) {
    call(runtime_api, api_enter, first_id);
    for (std::uint32_t i = 1; i <= calls; ++i) {
      call(driver_api, api_enter, first_id + i);
      call(driver_api, api_exit, first_id + i);
    }
    call(runtime_api, api_exit, first_id);
  }
};

}  // namespace

TEST_CASE("cupti_callbacks.a_launch_has_the_ids_of_all_calls_in_it") {
  fixture all;
  for (const std::uint32_t calls : {1U, 7U, 16U, 31U}) {
    all.launch_by(calls);
    CHECK(launched_ids.size() == calls + 1);
    CHECK(launched_ids.back() == 100 + calls);
  }
  CHECK(launches == 4);
  CHECK(all.callbacks.take_ids_lost() == 0);
}

TEST_CASE("cupti_callbacks.ids_beyond_the_room_are_counted") {
  fixture all;
  all.launch_by(40);
  CHECK(launched_ids.size() == call_state::max_ids);
  CHECK(all.callbacks.take_ids_lost() == 41 - call_state::max_ids);
  CHECK(all.callbacks.take_ids_lost() == 0);
}

TEST_CASE("cupti_callbacks.what_kprof_launches_itself_is_no_launch_of_the_program") {
  fixture all;
  alignas(8) char data[32] = {};
  own_ids.clear();
  kprof::detail::cupti::work_is_own = true;
  all.launch_by(1);
  all.callbacks.handle(resource, module_unload_starting, data);
  all.callbacks.handle(resource, module_loaded, data);
  kprof::detail::cupti::work_is_own = false;
  CHECK(launches == 0);
  CHECK(launched_ids.empty());
  CHECK(own_ids == std::vector<std::uint32_t>{100, 101});
  CHECK_FALSE(all.callbacks.use().reloaded_modules);
  // What the program loads then may get the name of a kernel of kprof's.
  all.callbacks.handle(resource, module_loaded, data);
  CHECK(all.callbacks.use().reloaded_modules);
  all.launch_by(1, 300);
  CHECK(launches == 1);
  CHECK(own_ids == std::vector<std::uint32_t>{100, 101});
}

TEST_CASE("cupti_callbacks.zero_is_no_id") {
  fixture all;
  all.call(runtime_api, api_enter, 0);
  all.call(driver_api, api_enter, 5);
  all.call(driver_api, api_exit, 5);
  all.call(runtime_api, api_exit, 0);
  CHECK(launched_ids == std::vector<std::uint32_t>{5});
}

TEST_CASE("cupti_callbacks.what_some_versions_get_wrong_is_noticed") {
  fixture all;
  alignas(8) char data[32] = {};
  CHECK(all.callbacks.use().recordings == 1);
  all.callbacks.handle(resource, module_loaded, data);
  CHECK_FALSE(all.callbacks.use().reloaded_modules);
  all.callbacks.handle(resource, module_unload_starting, data);
  CHECK_FALSE(all.callbacks.use().reloaded_modules);
  all.callbacks.handle(resource, module_loaded, data);
  CHECK(all.callbacks.use().reloaded_modules);
  all.launch_by(1);
  CHECK_FALSE(all.callbacks.use().launched_graphs);
  all.call(runtime_api, api_enter, 9, 2);
  all.call(runtime_api, api_exit, 9, 2);
  CHECK(all.callbacks.use().launched_graphs);
  all.callbacks.enable(nullptr);
  CHECK(all.callbacks.use().recordings == 2);
}

TEST_CASE("cupti_callbacks.functions_have_the_names_that_programs_call") {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernel_v7000", "__cudaLaunchKernel_v13000"})
    CHECK(describe_function(name).name == "cudaLaunchKernel");
  CHECK(describe_function("__cudaLaunchKernel_ptsz_v13000").name == "cudaLaunchKernel_ptsz");
  CHECK(describe_function("cuMemcpyHtoDAsync_v2").name == "cuMemcpyHtoDAsync_v2");
}

TEST_CASE("cupti_callbacks.names_that_cupti_does_not_tell_are_an_error") {
  fixture all;
  functions f = fake_cupti();
  f.get_callback_name = [](std::uint32_t domain, std::uint32_t id, const char** name) {
    *name = "cudaLaunchKernel";
    return id < 3 ? success : domain == runtime_api ? unknown_error : invalid_parameter;
  };
  callback_handler callbacks{all.to, f, all.wait, all.reader, all.failed};
  CHECK(callbacks.enable(nullptr) == unknown_error);
}

TEST_CASE("cupti_callbacks.captures_that_cupti_does_not_tell_are_an_error") {
  fixture all;
  functions f = fake_cupti();
  f.get_result_string = [](result, const char** text) { return *text = "E", success; };
  f.get_callback_name = [](std::uint32_t, std::uint32_t id, const char** name) {
    static const char* const names[] = {nullptr, "cudaLaunchKernel", "cudaStreamBeginCapture"};
    *name = id > 2 ? nullptr : names[id];
    return id > 2 ? invalid_parameter : success;
  };
  static std::uint32_t refused = 0;
  f.enable_callback = [](std::uint32_t, subscriber, std::uint32_t domain, std::uint32_t id) {
    return domain == runtime_api && id == refused ? unknown_error : success;
  };
  callback_handler callbacks{all.to, f, all.wait, all.reader, all.failed};
  CHECK(callbacks.enable(nullptr) == success);
  CHECK(all.failed.notes(f).empty());
  refused = 1;
  CHECK(callbacks.enable(nullptr) == success);
  REQUIRE(all.failed.notes(f).size() == 1);
  CHECK(all.failed.notes(f)[0].find("some CUDA calls (E, 999)") != std::string::npos);
  refused = 2;
  CHECK(callbacks.enable(nullptr) == unknown_error);
}

namespace {

/// Nodes are numbers here, those of their ids: 5:2 is 0x5'0000'0002.
struct graph_calls : fixture {
  static inline std::vector<std::uint64_t> told;
  static inline std::uint64_t renamed_from = 0, renamed_to = 0;

  graph_calls() : fixture(fake_graphs()) {
    told.clear();
    renamed_from = renamed_to = 0;
    to.graph_node_updated = [](std::uint64_t node, std::uint64_t original) noexcept {
      told.insert(told.end(), {node, original});
    };
    to.graph_node_copied = [](std::uint64_t node, std::uint64_t original) noexcept {
      told.insert(told.end(), {node, original});
    };
    to.graph_node_moved = [](std::uint64_t node, std::uint64_t before) noexcept {
      told.insert(told.end(), {node | moved_to, before});
    };
    to.graph_node_made = [](std::uint64_t, bool) noexcept {};
    to.graph_node_destroyed = [](std::uint64_t node) noexcept { told.push_back(node | gone); };
  }
  static functions fake_graphs() {
    functions f = fake_cupti();
    f.graph_node_id = [](void* node, std::uint64_t* id) {
      *id = reinterpret_cast<std::uintptr_t>(node);
      if (*id == unreadable) return unknown_error;
      if (*id == renamed_from) *id = renamed_to;
      return success;
    };
    f.graph_exec_id = [](void* exec, std::uint32_t* id) {
      *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(exec));
      return success;
    };
    f.get_callback_name = [](std::uint32_t, std::uint32_t id, const char** name) {
      static const char* const names[] = {nullptr, "cuGraphExecUpdate_v2",
                                          "cuGraphInstantiateWithFlags"};
      *name = id > 2 ? nullptr : names[id];
      return *name == nullptr ? result{1} : success;
    };
    return f;
  }
  static constexpr std::uint64_t gone = std::uint64_t{1} << 63U, moved_to = gone >> 1U,
                                 unreadable = 0x7'0000'0000;
  static constexpr std::uint32_t update = 1, instantiate = 2;
  static constexpr int succeeds = 0, fails = 801;

  void graph_event(std::uint32_t what, std::uint64_t node, std::uint64_t original = 0) {
    alignas(8) char graph[56] = {}, data[32] = {};
    const void* const descriptor = graph;
    std::memcpy(graph + graph_data::node, &node, sizeof node);
    std::memcpy(graph + graph_data::original_node, &original, sizeof original);
    std::memcpy(data + resource_data::descriptor, &descriptor, sizeof descriptor);
    callbacks.handle(resource, what, data);
  }
  /// A call of the driver with one parameter.
  void graph_call(std::uint32_t site, std::uint32_t function, std::uintptr_t parameter = 0,
                  const int& result = succeeds) {
    alignas(8) char data[80] = {};
    const void* const returned = &result;
    std::memcpy(data + callback_data::return_value, &returned, sizeof returned);
    const void* const parameters = &parameter;
    std::memcpy(data + callback_data::site, &site, sizeof site);
    std::memcpy(data + callback_data::params, &parameters, sizeof parameters);
    callbacks.handle(driver_api, function, data);
  }
};

}  // namespace

TEST_CASE("cupti_callbacks.the_executable_graphs_node_is_the_updated_one") {
  const std::uint64_t exec = 0x5'0000'0002, other = 0x9'0000'0001;
  for (const bool is_first : {false, true}) {  // CUPTI gives it as the original
    graph_calls all;
    all.graph_call(api_enter, all.update, 5);
    if (is_first) all.graph_event(graph_node_updated, exec, other);
    else all.graph_event(graph_node_updated, other, exec);
    all.graph_call(api_exit, all.update, 5);
    CHECK(all.told == std::vector<std::uint64_t>{exec, other});
  }
  graph_calls all;  // outside of a call, or in a call about a graph that is not known
  all.graph_event(graph_node_updated, other, exec);
  all.f.graph_exec_id = nullptr;
  all.graph_call(api_enter, all.update, 5);
  all.graph_event(graph_node_updated, other, exec);
  CHECK(all.told == std::vector<std::uint64_t>{exec, other, exec, other});
}

TEST_CASE("cupti_callbacks.an_update_to_an_unknown_node_is_told") {
  const std::uint64_t exec = 0x5'0000'0002;
  graph_calls all;
  all.graph_event(graph_node_updated, all.unreadable, exec);
  CHECK(all.told == std::vector<std::uint64_t>{exec, 0});
  all.graph_event(graph_node_updated, exec, all.unreadable);  // what is updated is not known
  CHECK(all.told.size() == 2);
}

TEST_CASE("cupti_callbacks.nodes_of_inner_graphs_become_the_executable_graphs_own") {
  const std::uint64_t outer = 0x5'0000'0000, inner = 0x6'0000'0000, moved = 0x5'0000'0002;
  const auto instantiate = [&](graph_calls& all, bool is_lost, const int& result) {
    all.graph_call(api_enter, all.instantiate);
    all.graph_event(graph_node_cloned, inner, 0x3'0000'0000);
    all.graph_event(graph_node_cloned, outer, 0x2'0000'0000);
    all.graph_event(graph_node_destroy_starting, is_lost ? inner : outer);
    all.renamed_from = inner, all.renamed_to = moved;
    all.told.clear();
    all.graph_call(api_exit, all.instantiate, 0, result);
  };
  graph_calls all;
  instantiate(all, false, all.succeeds);
  CHECK(all.told == std::vector<std::uint64_t>{moved | all.moved_to, inner});
  graph_calls destroyed;  // a node that is gone is not asked for its id
  instantiate(destroyed, true, destroyed.succeeds);
  CHECK(destroyed.told.empty());
  graph_calls failed;  // nor are those of a call that failed
  instantiate(failed, false, failed.fails);
  CHECK(failed.told.empty());
  failed.graph_call(api_enter, failed.instantiate);
  failed.graph_call(api_exit, failed.instantiate);
  CHECK(failed.told.empty());
  graph_calls plain;  // without an inner graph nothing is asked for
  plain.graph_call(api_enter, plain.instantiate);
  plain.graph_event(graph_node_cloned, inner, 0x3'0000'0000);
  plain.renamed_from = inner, plain.renamed_to = moved;
  plain.told.clear();
  plain.graph_call(api_exit, plain.instantiate);
  CHECK(plain.told.empty());
}
