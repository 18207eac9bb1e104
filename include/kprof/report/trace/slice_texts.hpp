// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_SLICE_TEXTS_HPP
#define KPROF_REPORT_TRACE_SLICE_TEXTS_HPP

// What all slices of a node, or of a row of device work, have in common, as text that is made once.
// Included by trace.hpp. So many texts are kept, however many there are to make.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/parameter_parts.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/timeline/device_figures.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/node_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The beginning of a slice, up to its process, and members of its "args".
struct slice_text {
  std::uint32_t of = 0xFFFFFFFFU;
  std::string head;
  std::string args;
  double ideal_ns = 0;  // of a call on the host whose roof is known
  slice_work host;      // see node_facts
  slice_work per_ns;
};

/// The latest texts, by number.
class latest_texts {
 public:
  template <class Make>
  const slice_text& of(std::uint32_t number, const Make& make) {
    slice_text& at = kept_[number % kept_.size()];
    if (at.of != number) {
      at = slice_text{};
      make(at);
      at.of = number;
    }
    return at;
  }

 private:
  std::vector<slice_text> kept_ = std::vector<slice_text>(2048);
};

class slice_texts {
 public:
  explicit slice_texts(const profile& p, const node_facts& facts) : p_(p), facts_(facts) {
    std::vector<std::string> whole;
    whole.reserve(p.device.kernels.size());
    for (const std::string& mangled : p.device.kernels) whole.push_back(kernel_name(mangled));
    kernels_ = telling_kernel_names(whole);
  }

  const slice_text& scope(std::uint32_t node) {
    return scopes_.of(node, [&](slice_text& made) { make_scope(node, made); });
  }
  const slice_text& item(std::uint32_t work) {
    return items_.of(work, [&](slice_text& made) { make_item(p_.device.work[work], made); });
  }

  /// `{"ph":"X","cat":"cpu_op","name":"Gemm","pid":`
  static void append_head(std::string& out, std::string_view category, std::string_view name) {
    out += R"({"ph":"X","cat":")";
    out += category;
    out += R"(","name":")";
    append_json_text(out, name.empty() ? std::string_view{"(no name)"} : name);
    out += R"(","pid":)";
  }

 private:
  void make_scope(std::uint32_t node, slice_text& made) const {
    const scope_node& n = p_.nodes[node];
    if (n.kind != scope_kind::op) {
      append_head(made.head, "user_annotation", region_name(n.name));
      return;
    }
    append_head(made.head, "cpu_op", n.name);
    made.host = facts_.host_work(node);
    json_members args(made.args);
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
    args.text("bound", facts_.is_bound_by_compute(node) ? "compute" : "memory");
    if (const double device = facts_.device_ns(node); device > 0)
      args.rounded("% of roof", 100 * ideal / device);
    else if (facts_.works_on_host(node)) made.ideal_ns = ideal;
  }

  /// Some names mean something to TensorBoard and HTA.
  static std::string region_name(const std::string& name) {
    for (const std::string_view special :
         {"ProfilerStep", "Iteration Start: ", "Record Window End", "enumerate(DataLoader)"})
      if (name.starts_with(special)) return "region " + name;
    return name;
  }

  void make_item(const device_work& w, slice_text& made) const {
    made.per_ns = facts_.device_work_per_ns(w.scope);
    json_members args(made.args);
    if (w.task == device_task::copy) {
      append_head(made.head, "gpu_memcpy",
                  std::string{"Memcpy "} + letters_of(w.direction) + " (" + place_of(w.from) +
                      " -> " + place_of(w.to) + ')');
      return;
    }
    if (w.task == device_task::set) {
      append_head(made.head, "gpu_memset", std::string{"Memset ("} + place_of(w.to) + ')');
      return;
    }
    append_head(made.head, "kernel",
                w.kernel < kernels_.size() ? std::string_view{kernels_[w.kernel]}
                                           : std::string_view{"(other kernels)"});
    if (w.merged) return;
    args.three("grid", w.grid);
    args.three("block", w.block);
    args.integer("registers per thread", w.registers);
    args.integer("shared memory", std::uint64_t{w.static_shared} + w.dynamic_shared);
    for (const device_info& d : p_.device.devices) {
      if (d.id != w.device) continue;
      const kprof::kernel_fill fill = kprof::fill_of(d, w);
      if (fill.blocks > 0) args.rounded("blocks per SM", fill.blocks);
      if (fill.known) args.rounded("est. achieved occupancy %", 100 * fill.occupancy);
      return;
    }
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
  latest_texts scopes_, items_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
