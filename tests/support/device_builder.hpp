// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_DEVICE_BUILDER_HPP
#define KPROF_TESTS_DEVICE_BUILDER_HPP

// Builds profiles with work on a device by hand.

#include "profile_builder.hpp"

#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kprof_test {

/// A profile_builder that launches.
class device_builder : public profile_builder {
 public:
  using profile_builder::profile_builder;

  std::uint32_t kernel_name(const std::string& name) {
    const auto at = std::find(p.device.kernels.begin(), p.device.kernels.end(), name);
    if (at == p.device.kernels.end()) p.device.kernels.push_back(name);
    return static_cast<std::uint32_t>(
        std::find(p.device.kernels.begin(), p.device.kernels.end(), name) -
        p.device.kernels.begin());
  }

  /// `runs` runs of a kernel that take `ns` each and begin 4 us after their launch.
  kprof::device_work& kernel(std::uint32_t scope, const std::string& name, std::uint64_t runs,
                             double ns, std::uint32_t blocks = 108, std::uint32_t threads = 256) {
    kprof::device_work w;
    w.kernel = kernel_name(name);
    w.grid[0] = blocks;
    w.grid[1] = w.grid[2] = 1;
    w.block[0] = threads;
    w.block[1] = w.block[2] = 1;
    w.registers = 64;
    w.stream = 7;
    return add(w, scope, runs, ns);
  }

  kprof::device_work& copy(std::uint32_t scope, kprof::copy_direction direction, std::uint64_t runs,
                           double ns, std::uint64_t bytes) {
    kprof::device_work w;
    w.task = kprof::device_task::copy;
    w.direction = direction;
    w.from = direction == kprof::copy_direction::host_to_device ? kprof::memory_place::pinned
                                                                : kprof::memory_place::device;
    w.to = direction == kprof::copy_direction::device_to_host ? kprof::memory_place::pageable
                                                              : kprof::memory_place::device;
    w.bytes = bytes * runs;
    w.stream = 7;
    return add(w, scope, runs, ns);
  }

  kprof::device_work& set(std::uint32_t scope, std::uint64_t runs, double ns, std::uint64_t bytes) {
    kprof::device_work w;
    w.task = kprof::device_task::set;
    w.to = kprof::memory_place::device;
    w.bytes = bytes * runs;
    w.stream = 7;
    return add(w, scope, runs, ns);
  }

  std::uint32_t graph(std::uint32_t parent, std::uint64_t launches, std::string name = "graph") {
    const auto node = scope(parent, kprof::scope_kind::graph, std::move(name));
    p.nodes[node].replays = launches;
    return node;
  }

 private:
  kprof::device_work& add(kprof::device_work w, std::uint32_t scope, std::uint64_t runs,
                          double ns) {
    w.scope = scope;
    w.calls = runs;
    w.min_ns = w.max_ns = ns;
    w.total_ns = ns * static_cast<double>(runs);
    w.gaps = scope == kprof::scope_node::none ? 0 : runs;
    w.gap_ns = 4000.0 * static_cast<double>(w.gaps);
    p.device.work.push_back(w);
    return p.device.work.back();
  }
};

/// What a collector fills in around the work of a healthy run.
inline void add_device(kprof::profile& p) {
  p.device.collecting = true;
  p.device.state = "CUPTI 13.0 (API 130001)";
  p.device.collecting_ns = 8.1e6;
  kprof::device_info info;
  info.described = true;
  info.name = "NVIDIA H100 80GB HBM3";
  info.compute_major = 9;
  info.multiprocessors = 132;
  info.memory_bytes = std::uint64_t{80} << 30;
  info.memory_bytes_per_s = 3'352'320'000'000;
  info.clock_hz = 1'980'000'000;
  std::vector<bool> in_operator(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    in_operator[i] = p.nodes[i].kind == kprof::scope_kind::op ||
                     (p.nodes[i].kind != kprof::scope_kind::root && in_operator[p.nodes[i].parent]);
  kprof::device_completeness& c = p.device.complete;
  c = {};
  for (const kprof::device_work& w : p.device.work) {
    info.sum_ns += w.total_ns;
    c.records += w.calls;
    if (w.scope >= p.nodes.size()) c.unknown += w.calls;
    else (in_operator[w.scope] ? c.attributed : c.outside) += w.calls;
  }
  info.busy_ns = info.sum_ns;
  c.launches = c.attributed + c.outside;
  c.synchronizations = 120;
  c.synchronizing_ns = 1.31e9;
  c.overhead_ns = 2.6e6;
  p.device.devices = {info};
}

}  // namespace kprof_test

#endif
