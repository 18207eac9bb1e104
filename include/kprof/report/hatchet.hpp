// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HATCHET_HPP
#define KPROF_REPORT_HATCHET_HPP

// The output "hatchet": the call tree as the literal that Hatchet and proton-viewer read
// (docs/files.md). Including it makes KPROF="hatchet(path=run.hatchet)" and
// kprof::write(profile, "hatchet", ...) known in this binary.
//
// A list of two: the tree, in which a node has its own numbers and the reader makes the sums, and
// the devices with what they reach. The viewer's `util` of a node is what its own FLOPs and bytes
// take at least over the time of all below it. So an operator has FLOPs, bytes and the device, and
// its kernels, nodes below it, have the time. An operator in which others launched work has no
// device, as its `util` would be too low.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/stacks/merged_tree.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// The words of the option `time`, in their order there.
enum class hatchet_time : std::uint8_t { automatic, host, device };

struct hatchet_options {
  hatchet_time time = hatchet_time::automatic;
  bool parameters = true;
  bool threads = false;
};

inline constexpr option hatchet_option_table[] = {
    {.name = "time",
     .kind = option_kind::choice,
     .form = "auto|host|device",
     .fallback = "auto",
     .meaning = "whose time the metric `time` is: of devices with their kernels as nodes, which is "
                "what auto gives a run with such work, or of the host",
     .store = &store_member<&hatchet_options::time>},
    {.name = "parameters",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "operators are told apart by their parameters",
     .store = &store_member<&hatchet_options::parameters>},
    {.name = "threads",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "the first nodes are the threads",
     .store = &store_member<&hatchet_options::threads>},
};

class hatchet_writer {
 public:
  /// Readers of JSON call themselves for each level, and Python's ends at some 490 levels.
  static constexpr std::uint32_t deepest = 200;

  hatchet_writer(const profile& p, const hatchet_options& options)
      : p_(p),
        device_time_(options.time == hatchet_time::automatic
                         ? !p.device.work.empty()
                         : options.time == hatchet_time::device),
        tree_(p, {.parameters = options.parameters,
                  .threads = options.threads,
                  .work = device_time_,
                  .deepest = deepest,
                  .append_name = &append_json_text}) {
    for (const merged_node& n : tree_.nodes())
      for (std::size_t i = 0; i < used_.size(); ++i)
        if (n.flops_of[i] != 0) used_[i] = true;
  }

  void put(text_sink& out) {
    out.put("[");
    tree_.walk([&](std::uint32_t node, bool is_first) { open(node, is_first, out); },
               [&](std::uint32_t) { out.put("]}"); });
    text_ = ",\n";
    add_devices();
    out.put(text_ += "]\n");
  }

 private:
  void open(std::uint32_t node, bool is_first, text_sink& out) {
    const merged_node& n = tree_.nodes()[node];
    text_ = is_first ? "" : ",";
    text_ += "\n{\"frame\":{\"name\":\"";
    text_ += n.name;
    text_ += "\",\"type\":\"function\"},\"metrics\":{";
    add_metrics(n, node == 0);
    text_ += "},\"children\":[";
    out.put(text_);
  }
  /// The root lists every metric, as readers make sums of those that it has.
  void add_metrics(const merged_node& n, bool is_root) {
    json_members metrics(text_);
    const auto add = [&](std::string_view name, std::uint64_t value) {
      if (value != 0 || is_root) metrics.integer(name, value);
    };
    // The viewer drops a node without metrics, and the one around it with all that it has.
    if (n.calls != 0 || n.runs == 0 || is_root) metrics.integer("calls", n.calls);
    // The viewer divides the time of a node by all that is counted in it and below it.
    add("count", device_time_ ? n.runs : n.operator_calls);
    metrics.integer("time (ns)", device_time_ ? n.own.device_ns : n.own.ns);
    add("cpu_time (ns)", n.own.ns);
    add("flops", n.own.flops);
    add("bytes", n.own.bytes);
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i]) add("flops" + std::to_string(flops_widths[i]), n.flops_of[i]);
    if (!device_time_ || n.device == merged_node::no_device || !is_described(n.device)) return;
    metrics.text("device_id", std::to_string(n.device));
    metrics.text("device_type", "CUDA");
  }

  bool is_described(std::uint32_t id) const noexcept {
    for (const device_info& d : p_.device.devices)
      if (d.id == id) return d.described && d.memory_bytes_per_s != 0 && d.clock_hz != 0;
    return false;
  }
  /// The viewer's rate of memory is twice the memory's clock times the width of the bus. Only that
  /// product is known here, so the bus is written as a byte wide.
  void add_devices() {
    json_members devices(text_ += '{');
    if (device_time_) {
      devices.key("CUDA");
      json_members each(text_ += '{');
      for (const device_info& d : p_.device.devices) {
        if (!is_described(d.id)) continue;
        each.key(std::to_string(d.id));
        json_members device(text_ += '{');
        device.text("arch", std::to_string(d.compute_major) + std::to_string(d.compute_minor));
        device.integer("num_sms", d.multiprocessors);
        device.integer("clock_rate", d.clock_hz / 1000);
        device.number("memory_clock_rate", static_cast<double>(d.memory_bytes_per_s) / 2000);
        device.integer("bus_width", 8);
        text_ += '}';
      }
      text_ += '}';
    }
    text_ += '}';
  }

  const profile& p_;
  bool device_time_;
  merged_tree tree_;
  std::array<bool, flops_widths.size()> used_{};  // widths that have FLOPs
  std::string text_;
};

KPROF_DETAIL_LOCAL inline status write_hatchet(const profile& run, const option_values& values,
                                               text_sink& out) {
  hatchet_options options;
  values.store_into(options);
  return put_packed_by_name(values.text("path"), out,
                            [&](text_sink& sink) { hatchet_writer(run, options).put(sink); });
}

inline constexpr output hatchet_output{"hatchet",
                                       "the call tree for Hatchet and proton-viewer",
                                       hatchet_option_table,
                                       &write_hatchet,
                                       nullptr,
                                       "hatchet.json"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration hatchet_registered{hatchet_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
