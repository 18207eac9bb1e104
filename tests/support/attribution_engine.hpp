// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_ATTRIBUTION_ENGINE_HPP
#define KPROF_TESTS_ATTRIBUTION_ENGINE_HPP

// A recorder with attribution and no session, and what tests feed it: scopes, launches, records.

#include "find.hpp"

#include <kprof/attribute/build.hpp>
#include <kprof/op.hpp>
#include <kprof/record/scope_functions.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kprof_test {

using namespace kprof::detail;  // the pieces below the session

struct Op {
  std::int64_t n = 0;
  constexpr std::int64_t flops() const { return 2 * n; }
};

using functions = scope_functions<kprof::detail::system_clock, false>;

inline site op_site{0, 1, "a.cpp", &op_desc_of<Op>, &this_module};
inline site region_site{0, 2, "a.cpp", nullptr, &this_module};

inline scope_token begin_op(std::int64_t n) {
  const Op params{n};
  return functions::api().begin_any(op_site, &params, sizeof params);
}
inline scope_token begin_region(const std::string& name) {
  return functions::api().begin_any(region_site, name.data(),
                                    static_cast<std::uint32_t>(name.size()));
}
inline void end(scope_token t) { functions::api().end(t); }

/// A recorder with attribution, as a session has them: one for all tests, since threads leave it
/// when they end.
struct [[gnu::visibility("hidden")]] engine {
  recorder& threads;
  attribution& devices;

  static recorder& all_threads() {
    static recorder* const one = new recorder;
    return *one;
  }
  static attribution& all_devices() {
    static attribution* const one = new attribution(all_threads(), all_threads().budget());
    return *one;
  }

  explicit engine(std::size_t memory = std::size_t{16} << 20U)
      : threads(all_threads()), devices(all_devices()) {
    own_recorder = &threads;
    threads.set_memory(memory);
    threads.restart(0);
    devices.restart(0, memory);
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  void launch(std::vector<std::uint32_t> ids, std::uint64_t when = 1,
              record_kind kind = record_kind::kernel_launch) {
    threads.note_launch(ids.data(), static_cast<std::uint32_t>(ids.size()), when, kind);
  }
  void node(std::uint64_t id, bool does_work = true) {
    devices.graphs().made(id, threads.capture_for_graph(id >> 32U, does_work));
  }
  void take_launches() { devices.take_launches({}); }
  void read(std::vector<activity> some) {
    devices.take(some.data(), some.size());
    devices.retry_pending_if_due();
  }
  kprof::profile profile() {
    take_launches();
    devices.retry_pending();
    timebase time;
    time.reset(calibrate<kprof::detail::system_clock>());
    return build_profile(threads, &devices, {time, 0, single_scopes::none});
  }
};

inline activity kernel(std::uint32_t correlation, const char* name = "k", std::uint64_t start = 100,
                       std::uint64_t ns = 10) {
  activity a;
  a.kind = activity_kind::kernel;
  a.correlation = correlation;
  a.name = name;
  a.start = start;
  a.end = start + ns;
  return a;
}
inline activity of_graph(std::uint32_t correlation, std::uint64_t node, const char* name = "k") {
  activity a = kernel(correlation, name);
  a.graph_node = node;
  return a;
}
inline activity copy(std::uint32_t correlation, std::uint64_t bytes) {
  activity a;
  a.kind = activity_kind::copy;
  a.direction = 1, a.from = 1, a.to = 3;
  a.correlation = correlation;
  a.start = 50, a.end = 60;
  a.bytes = bytes;
  return a;
}

using counts = std::map<std::string, std::uint64_t>;
/// "path: kernel" to runs, over all threads.
inline counts runs(const kprof::profile& p) {
  counts out;
  for (const kprof::device_work& w : p.device.work) {
    const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
    const std::string what = w.merged                               ? "merged"
                             : w.task == kprof::device_task::kernel ? p.device.kernels[w.kernel]
                                                                    : "copy";
    out[where + ": " + what] += w.calls;
  }
  return out;
}
inline std::uint64_t replays(const kprof::profile& p, const std::string& path) {
  std::uint64_t n = 0;
  for (const auto* node : find_all(p, path)) n += node->replays;
  return n;
}

}  // namespace kprof_test

#endif
