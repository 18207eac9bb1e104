// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_SLICE_FACTS_HPP
#define KPROF_REPORT_TRACE_SLICE_FACTS_HPP

// What all slices of a node, or of a row of device work, have in common: category, name, arguments
// and what the curves need. Included by trace.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/parameter_parts.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/timeline/device_figures.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/node_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct slice_title {
  std::string_view category;
  std::string name;
};

struct slice_figures {
  double ideal_ns = 0;  // of a call on the host whose roof is known
  slice_work host;      // see node_facts
  slice_work per_ns;
};

/// The latest of what is made by number. Made has `std::uint32_t of`, which is 0xFFFFFFFF at first.
template <class Made>
class latest_made {
 public:
  template <class Make>
  const Made& of(std::uint32_t number, const Make& make) {
    Made& at = kept_[number % kept_.size()];
    if (at.of != number) {
      at = Made{};
      make(at);
      at.of = number;
    }
    return at;
  }
  void forget() { kept_.assign(kept_.size(), Made{}); }

 private:
  std::vector<Made> kept_ = std::vector<Made>(2048);
};

/// The functions that take `args` add arguments to it: a json_members or an annotation_list.
class slice_facts {
 public:
  slice_facts(const profile& p, const node_facts& facts) : p_(p), facts_(facts) {
    kernels_ = telling_names_of(p.device);
  }

  slice_title title_of_scope(std::uint32_t node) const {
    const scope_node& n = p_.nodes[node];
    if (n.kind == scope_kind::op) return {"cpu_op", n.name};
    return {"user_annotation", region_name(n.name)};
  }
  template <class Args>
  void add_scope(std::uint32_t node, slice_figures& figures, Args& args) const {
    const scope_node& n = p_.nodes[node];
    if (n.kind != scope_kind::op) return;
    figures.host = facts_.host_work(node);
    const std::string parameters = joined(parameter_parts(p_, n, which_fields::telling));
    if (!parameters.empty()) args.text("Input Dims", parameters);
    const slice_work work = facts_.work_of_slice(node);
    if (says_flops(n)) args.amount("flops", work.flops);
    if (says_bytes(n)) args.amount("bytes", work.bytes);
    if (n.work.type != dtype::unknown) args.text("type", dtype_name(n.work.type));
    if (n.work.on == arithmetic_unit::tensor_core) args.text("arithmetic", "tensor core");
    if (n.work.on == arithmetic_unit::cuda_core) args.text("arithmetic", "CUDA core");
    if (n.work.pass != pass_kind::unknown) args.text("pass", pass_name(n.work.pass));
    if (is_part(n))
      args.text("part", std::to_string(n.shared.part) + " of " + std::to_string(n.shared.parts));
    const double ideal = facts_.ideal_ns(node);
    if (!(ideal > 0)) return;
    args.text("roof", facts_.is_bound_by_compute(node) ? "compute" : "memory");
    if (const double device = facts_.device_ns(node); device > 0)
      args.rounded("% of roof", 100 * ideal / device);
    else if (facts_.works_on_host(node)) figures.ideal_ns = ideal;
  }

  slice_title title_of_item(const device_work& w) const {
    if (w.task == device_task::copy)
      return {"gpu_memcpy", std::string{"Memcpy "} + letters_of(w.direction) + " (" +
                                place_of(w.from) + " -> " + place_of(w.to) + ')'};
    if (w.task == device_task::set)
      return {"gpu_memset", std::string{"Memset ("} + place_of(w.to) + ')'};
    return {"kernel", w.kernel < kernels_.size() ? kernels_[w.kernel] : "(other kernels)"};
  }
  /// `all`: also what bounds how many blocks run at a time.
  template <class Args>
  void add_item(const device_work& w, slice_figures& figures, Args& args, bool all = true) const {
    figures.per_ns = facts_.device_work_per_ns(w.scope);
    if (w.task != device_task::kernel || w.merged) return;
    args.three("grid", w.grid);
    args.three("block", w.block);
    if (!all) return;
    args.integer("registers per thread", w.registers);
    args.integer("shared memory", std::uint64_t{w.static_shared} + w.dynamic_shared);
    if (w.cluster[0] > 0) args.three("cluster", w.cluster);
    if (w.cooperative) args.integer("cooperative", 1);
    for (const device_info& d : p_.device.devices) {
      if (d.id != w.device) continue;
      const kprof::kernel_fill fill = kprof::fill_of(d, w);
      if (fill.blocks > 0) args.rounded("blocks per SM", fill.blocks);
      if (fill.known) args.rounded("est. achieved occupancy %", 100 * fill.occupancy);
      return;
    }
  }

 private:
  /// Some names mean something to TensorBoard and HTA.
  static std::string region_name(const std::string& name) {
    for (const std::string_view special :
         {"ProfilerStep", "Iteration Start: ", "Record Window End", "enumerate(DataLoader)"})
      if (name.starts_with(special)) return "region " + name;
    return name;
  }

  /// As Kineto has them, which HTA reads.
  static const char* letters_of(copy_direction direction) noexcept {
    switch (direction) {
      case copy_direction::host_to_device: return "HtoD";
      case copy_direction::device_to_host: return "DtoH";
      case copy_direction::device_to_device: return "DtoD";
      case copy_direction::host_to_host: return "HtoH";
      case copy_direction::peer_to_peer: return "PtoP";
      case copy_direction::unknown: break;
    }
    return "Unknown";
  }
  static const char* place_of(memory_place place) noexcept {
    switch (place) {
      case memory_place::pageable: return "Pageable";
      case memory_place::pinned: return "Pinned";
      case memory_place::device: return "Device";
      case memory_place::array: return "Array";
      case memory_place::managed: return "Managed";
      case memory_place::unknown: break;
    }
    return "Unknown";
  }

  const profile& p_;
  const node_facts& facts_;
  std::vector<std::string> kernels_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
