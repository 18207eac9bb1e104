// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_CHARTS_HPP
#define KPROF_REPORT_HTML_CHARTS_HPP

// The data of the page's roofline, call tree, kernels, copies and machine. Included by html.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/copy_table.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/roofline_chart.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/tree_folding.hpp>
#include <kprof/model/tree_summary.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline void put_roofs(script_json& out, const std::vector<chart_roof>& roofs) {
  out.key("roofs").open("[");
  for (const chart_roof& roof : roofs) {
    out.open("{");
    out.member("name", roof.name);
    out.member("flops", roof.flops_per_s);
    out.member("bytes", roof.bytes_per_s);
    out.close("}");
  }
  out.close("]");
}

/// Roofs by the data sheet, of a GPU whose ceilings were measured, and slopes of caches.
[[gnu::cold]] inline void put_slopes(script_json& out, const page_tables& t, std::size_t device) {
  const machine_ceilings& machine = t.run.machine;
  const auto slope = [&](const std::string& name, double bytes, bool by_table) {
    if (!(bytes > 0)) return;
    out.open("{");
    out.member("name", name);
    out.member("bytes", bytes);
    out.member("table", by_table);
    out.close("}");
  };
  out.key("slopes").open("[");
  if (t.device && device < machine.gpus.size()) {
    slope("L2", machine.gpus[device].l2_bytes, false);
    slope("data sheet", machine.gpus[device].table_memory_bytes, true);
  } else if (!t.device) {
    for (std::size_t i = 0; i + 1 < machine.cpu.memory.size(); ++i)
      slope(machine.cpu.memory[i].level, machine.cpu.memory[i].read.one_thread, false);
  }
  out.close("]");
}

/// The time that each row took on one device.
[[gnu::cold]] inline std::vector<double> row_times_on(const page_tables& t, std::uint32_t device) {
  std::vector<double> ns(t.operators.rows.size());
  for (const device_work& w : t.run.device.work)
    if (const std::uint32_t row = t.row_of(w.scope); w.device == device && row < ns.size())
      ns[row] += w.total_ns;
  return ns;
}

/// Of a run on several devices, each with its roofs and with what of it each row of the chart took.
[[gnu::cold]] inline void put_device_roofs(script_json& out, const page_tables& t,
                                           const std::vector<chart_point>& points) {
  out.key("devices").open("[");
  const std::vector<device_info>& devices = t.run.device.devices;
  const auto worked = [](const device_info& d) { return d.sum_ns > 0; };
  if (std::count_if(devices.begin(), devices.end(), worked) > 1)
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!worked(devices[i])) continue;
      const std::vector<double> ns = row_times_on(t, devices[i].id);
      out.open("{");
      out.member("id", devices[i].id);
      put_roofs(out, roofs_of_device(t.run, i));
      put_slopes(out, t, i);
      out.column("ns", points, [&](const chart_point& at) { out.number(ns[at.row]); });
      out.close("}");
    }
  out.close("]");
}

[[gnu::cold]] inline void put_roofline(script_json& out, const page_tables& t) {
  const roofline_chart chart = make_roofline_chart(t.run, t.operators.rows);
  out.key("roofline").open("{");
  put_roofs(out, chart.roofs);
  put_slopes(out, t, 0);
  out.column("row", chart.points, [&](const chart_point& at) { out.integer(at.row); });
  double left_out_ns = 0, all_ns = 0;
  std::vector<bool> shown(t.operators.rows.size());
  for (const chart_point& at : chart.points) shown[at.row] = true;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    all_ns += t.time_of(t.operators.rows[i]);
    if (!shown[i]) left_out_ns += t.time_of(t.operators.rows[i]);
  }
  out.member("left_out", chart.left_out);
  out.member("left_out_share", format_share(share_of(left_out_ns, all_ns)));
  out.member("device", t.device);
  put_device_roofs(out, t, chart.points);
  out.close("}");
}

/// What the file lacks of the children of a node, or of the nodes without parents.
struct left_out_scopes {
  std::int64_t count = 0;
  double total_ns = 0;
  double device_ns = 0;
};

/// On the host or on devices, whichever is longer. No row takes longer than the one around it.
inline double longest_ns(const folded_row& f) noexcept {
  return std::max(f.row.device_total_ns, f.row.largest_ns);
}
/// What the last of the `most` longest rows takes.
[[gnu::cold]] inline double least_of_largest(const std::vector<folded_row>& rows,
                                             std::size_t most) {
  if (rows.size() <= most) return 0;
  std::vector<double> times;
  for (const folded_row& f : rows) times.push_back(longest_ns(f));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(most - 1),
                   times.end(), std::greater<>{});
  return times[most - 1];
}

[[gnu::cold]] inline void put_tree(script_json& out, const page_tables& t) {
  constexpr std::size_t most = 5'000;
  std::vector<folded_row> rows = fold_siblings(kprof::call_tree(t.run, t.run.threads.size() > 1));
  const double least = least_of_largest(rows, most);
  // Parents stand before their children.
  std::vector<std::uint32_t> place(rows.size(), scope_node::none);
  std::vector<const folded_row*> kept;
  std::vector<left_out_scopes> left;  // of each that is kept
  left_out_scopes left_tops;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const tree_row& row = rows[i].row;
    const bool is_top = row.parent >= rows.size();
    if (!is_top && place[row.parent] == scope_node::none) continue;  // counted with its parent
    if (longest_ns(rows[i]) >= least && kept.size() < most) {
      place[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(&rows[i]);
      left.emplace_back();
      continue;
    }
    left_out_scopes& of = is_top ? left_tops : left[place[row.parent]];
    ++of.count;
    of.total_ns += row.total_ns;
    of.device_ns += row.device_total_ns;
  }
  using ref = const folded_row*;
  out.key("tree").open("{");
  out.texts("name", kept, [&](ref f) {
    return f->row.kind == scope_kind::root ? thread_name(t.run, f->row.thread) : f->row.name;
  });
  out.texts("parameters", kept, [&](ref f) {
    return t.row_of(f->row.node) < t.operators.rows.size() ? std::string{} : f->row.parameters;
  });
  out.column("parent", kept, [&](ref f) {
    out.integer(f->row.parent < rows.size() ? static_cast<std::int64_t>(place[f->row.parent]) : -1);
  });
  // Nodes have their numbers in the order in which they first began.
  out.column("first", kept, [&](ref f) {
    out.integer(f->nodes.empty() ? f->row.node
                                 : *std::min_element(f->nodes.begin(), f->nodes.end()));
  });
  out.column("op", kept, [&](ref f) { out.integer(f->row.kind == scope_kind::op ? 1 : 0); });
  out.column("folded", kept, [&](ref f) { out.integer(f->siblings); });
  out.column("calls", kept, [&](ref f) { out.integer(f->row.calls + f->row.replays); });
  out.column("total", kept, [&](ref f) { out.number(f->row.total_ns); });
  out.column("self", kept, [&](ref f) { out.number(f->row.self_ns); });
  if (t.device) {
    out.column("device", kept, [&](ref f) { out.number(f->row.device_total_ns); });
    out.column("device_self", kept, [&](ref f) { out.number(f->row.device_ns); });
  }
  out.column("roof", kept, [&](ref f) { out.number(f->row.roof); });
  // Of the nodes without parents at the end.
  left.push_back(left_tops);
  out.column("left", left, [&](const left_out_scopes& of) { out.integer(of.count); });
  out.column("left_ns", left, [&](const left_out_scopes& of) { out.number(of.total_ns); });
  if (t.device)
    out.column("left_device", left, [&](const left_out_scopes& of) { out.number(of.device_ns); });
  out.column("row", kept, [&](ref f) {
    const std::uint32_t row =
        f->row.kind == scope_kind::op ? t.row_of(f->row.node) : scope_node::none;
    out.integer(row < t.operators.rows.size() ? static_cast<std::int64_t>(row) : -1);
  });
  out.close("}");
}

inline std::string extent_text(const std::uint32_t (&of)[3]) {
  std::string text = format_count(of[0]);
  for (int i = 1; i < 3; ++i)
    if (of[1] > 1 || of[2] > 1) {
      if (i == 2 && of[2] <= 1) break;
      text += " \u00D7 " + format_count(of[i]);
    }
  return text;
}
[[gnu::cold]] inline std::string limiter_text(const kernel_occupancy& o) {
  std::string text;
  const auto add = [&](bool is, const char* what) {
    if (is) text.append(text.empty() ? "" : ", ").append(what);
  };
  add(o.limited_by_warps, "warps");
  add(o.limited_by_registers, "registers");
  add(o.limited_by_shared_memory, "shared memory");
  add(o.limited_by_blocks, "blocks");
  return text;
}

[[gnu::cold]] inline void put_kernels(script_json& out, const page_tables& t) {
  constexpr std::size_t most = 1'000;
  std::vector<kernel_row> rows = kernel_table(t.run);
  const std::size_t all = rows.size();
  if (rows.size() > most) rows.resize(most);
  using ref = const kernel_row&;
  out.key("kernels").open("{");
  out.member("all", all);
  out.texts("name", rows, [](ref r) { return r.kernel; });
  const std::vector<std::string> telling = telling_names_of(t.run.device);
  std::map<std::string, std::string> short_names;
  for (std::size_t i = 0; i < telling.size(); ++i)
    short_names.emplace(kernel_name(t.run.device.kernels[i]), telling[i]);
  out.texts("short", rows, [&](ref r) { return short_names[r.kernel]; });
  out.texts("op", rows, [](ref r) { return r.op; });
  out.texts("parameters", rows, [](ref r) { return r.parameters; });
  out.texts("pass", rows, [](ref r) { return r.pass; });
  out.texts("region", rows, [](ref r) { return r.region; });
  out.texts("grid", rows, [](ref r) {
    return r.several_configurations || r.grid[0] == 0
               ? std::string{}
               : extent_text(r.grid) + " \u00B7 " + extent_text(r.block);
  });
  out.texts("bound", rows, [](ref r) {
    return r.verdict.bound == bound_by::unknown ? "" : bound_name(r.verdict.bound);
  });
  out.texts("limiter", rows, [](ref r) {
    return r.occupancy.unknown != nullptr ? std::string{r.occupancy.unknown}
                                          : limiter_text(r.occupancy);
  });
  out.column("runs", rows, [&](ref r) { out.integer(r.calls); });
  out.column("total", rows, [&](ref r) { out.number(r.total_ns); });
  out.column("share", rows, [&](ref r) { out.number(r.share); });
  out.column("mean", rows, [&](ref r) { out.number(r.mean_ns); });
  out.column("max", rows, [&](ref r) { out.number(r.max_ns); });
  out.column("registers", rows, [&](ref r) {
    if (r.several_configurations) out.none();
    else out.integer(r.registers);
  });
  out.column("shared", rows, [&](ref r) {
    if (r.several_configurations) out.none();
    else out.integer(r.shared);
  });
  out.column("occupancy", rows, [&](ref r) {
    if (r.occupancy.unknown != nullptr) out.none();
    else out.number(r.occupancy.share);
  });
  out.column("waves", rows, [&](ref r) {
    if (r.occupancy.waves > 0) out.number(r.occupancy.waves);
    else out.none();
  });
  out.column("tensor", rows, [&](ref r) {
    out.integer(
        r.tensor_core == tensor_use::yes_by_name || r.tensor_core == tensor_use::yes_declared ? 1
                                                                                              : 0);
  });
  out.column("roof", rows, [&](ref r) { out.number(r.verdict.roof); });
  out.column("row", rows, [&](ref r) {
    const std::uint32_t row = t.row_of(r.node);
    out.integer(row < t.operators.rows.size() ? static_cast<std::int64_t>(row) : -1);
  });
  out.close("}");
  const std::vector<copy_row> copies = copy_table(t.run);
  out.key("copies").open("[");
  for (const copy_row& c : copies) {
    out.open("{");
    out.member("kind", copy_name(c));
    out.member("from", c.task == device_task::set ? "" : memory_name(c.from));
    out.member("to", memory_name(c.to));
    out.member("device", c.device);
    out.member("calls", c.calls);
    out.member("bytes", c.bytes);
    out.member("total", c.total_ns);
    out.member("share", c.share);
    out.key("rate").number(c.bytes_per_s);
    out.close("}");
  }
  out.close("]");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
