// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_CSV_TABLES_HPP
#define KPROF_REPORT_CSV_TABLES_HPP

// The tables of the output "csv" beside that of operators: each column is one line below. Included
// by csv.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/bound.hpp>
#include <kprof/model/call_table.hpp>
#include <kprof/model/copy_table.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/csv/line.hpp>
#include <kprof/report/output.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

template <class Row>
struct csv_column {
  const char* name;
  void (*add)(const profile& run, const Row& row, csv_line& line);
};

template <class Row, std::size_t N>
void add_csv_names(const csv_column<Row> (&table)[N], csv_line& line) {
  for (const csv_column<Row>& c : table) line.add(c.name);
}
template <class Row, std::size_t N>
void add_csv_fields(const csv_column<Row> (&table)[N], const profile& run, const Row& row,
                    csv_line& line) {
  for (const csv_column<Row>& c : table) c.add(run, row, line);
}
template <class Row, std::size_t N>
void put_csv_head(const csv_column<Row> (&table)[N], text_sink& out) {
  csv_line line;
  add_csv_names(table, line);
  line.put(out);
}
template <class Row, std::size_t N>
void put_csv_row(const csv_column<Row> (&table)[N], const profile& run, const Row& row,
                 csv_line& line, text_sink& out) {
  add_csv_fields(table, run, row, line);
  line.put(out);
}

/// "128x4x1"; empty where it differs, or is not known.
[[gnu::cold]] inline std::string csv_extent(const kernel_row& row,
                                            const std::uint32_t (&extent)[3]) {
  if (row.several_configurations || extent[0] == 0) return {};
  return std::to_string(extent[0]) + 'x' + std::to_string(extent[1]) + 'x' +
         std::to_string(extent[2]);
}
[[gnu::cold]] inline const char* csv_tensor_use(tensor_use use) noexcept {
  switch (use) {
    case tensor_use::yes_by_name:
    case tensor_use::yes_declared: return "yes";
    case tensor_use::no_declared: return "no";
    case tensor_use::unknown: break;
  }
  return "";
}

inline constexpr csv_column<kernel_row> csv_kernel_columns[] = {
    {"kernel", [](auto&, auto& row, auto& line) { line.add(row.kernel); }},
    {"key", [](auto&, auto& row, auto& line) { line.add(row_key_text(row.key)); }},
    {"operator", [](auto&, auto& row, auto& line) { line.add(row.op); }},
    {"parameters", [](auto&, auto& row, auto& line) { line.add(row.parameters); }},
    {"pass", [](auto&, auto& row, auto& line) { line.add(row.pass); }},
    {"region", [](auto&, auto& row, auto& line) { line.add(row.region); }},
    {"device",
     [](auto&, auto& row, auto& line) {
       if (row.several_devices) line.skip();
       else line.add(row.device);
     }},
    {"stream",
     [](auto&, auto& row, auto& line) {
       if (row.streams == 1) line.add(row.stream);
       else line.skip();
     }},
    {"grid", [](auto&, auto& row, auto& line) { line.add(csv_extent(row, row.grid)); }},
    {"block", [](auto&, auto& row, auto& line) { line.add(csv_extent(row, row.block)); }},
    {"registers",
     [](auto&, auto& row, auto& line) {
       if (row.several_configurations) line.skip();
       else line.add(row.registers);
     }},
    {"shared [B]",
     [](auto&, auto& row, auto& line) {
       if (row.several_configurations) line.skip();
       else line.add(row.shared);
     }},
    {"runs", [](auto&, auto& row, auto& line) { line.add(row.calls); }},
    {"untimed", [](auto&, auto& row, auto& line) { line.add(row.untimed); }},
    {"total [ns]", [](auto&, auto& row, auto& line) { line.add(row.total_ns); }},
    {"share", [](auto&, auto& row, auto& line) { line.add(row.share); }},
    {"mean [ns]", [](auto&, auto& row, auto& line) { line.add(row.mean_ns); }},
    {"min [ns]", [](auto&, auto& row, auto& line) { line.add(row.min_ns); }},
    {"max [ns]", [](auto&, auto& row, auto& line) { line.add(row.max_ns); }},
    {"flops [FLOP]", [](auto&, auto& row, auto& line) { line.add(row.flops); }},
    {"bytes [B]", [](auto&, auto& row, auto& line) { line.add(row.bytes); }},
    {"tensor cores",
     [](auto&, auto& row, auto& line) { line.add(csv_tensor_use(row.tensor_core)); }},
    {"occupancy",
     [](auto&, auto& row, auto& line) {
       if (row.occupancy.unknown != nullptr) line.skip();
       else line.add(row.occupancy.share);
     }},
    {"waves",
     [](auto&, auto& row, auto& line) {
       if (row.occupancy.waves > 0) line.add(row.occupancy.waves);
       else line.skip();
     }},
    {"roof", [](auto&, auto& row, auto& line) { line.add(row.verdict.roof); }},
    {"bound", [](auto&, auto& row, auto& line) { line.add(bound_name(row.verdict.bound)); }},
    {"lost [ns]", [](auto&, auto& row, auto& line) { line.add(row.verdict.lost_ns); }},
};

/// `wrong`: what is wrong with the request, for the last column.
[[gnu::cold]] inline void put_csv_kernels(const profile& run, const std::vector<kernel_row>& rows,
                                          const std::string& wrong, text_sink& out) {
  csv_line line;
  add_csv_names(csv_kernel_columns, line);
  line.add("not known");
  line.put(out);
  for (const kernel_row& row : rows) {
    add_csv_fields(csv_kernel_columns, run, row, line);
    line.add(wrong);
    line.put(out);
  }
}

inline constexpr csv_column<call_row> csv_call_columns[] = {
    {"function", [](auto&, auto& row, auto& line) { line.add(row.function); }},
    {"calls", [](auto&, auto& row, auto& line) { line.add(row.calls); }},
    {"total [ns]", [](auto&, auto& row, auto& line) { line.add(row.total_ns); }},
    {"share", [](auto&, auto& row, auto& line) { line.add(row.share); }},
    {"max [ns]", [](auto&, auto& row, auto& line) { line.add(row.max_ns); }},
    {"waited [ns]", [](auto&, auto& row, auto& line) { line.add(row.waited_ns); }},
    {"mostly in", [](auto&, auto& row, auto& line) { line.add(row.scope); }},
};

inline constexpr csv_column<copy_row> csv_copy_columns[] = {
    {"kind", [](auto&, auto& row, auto& line) { line.add(copy_name(row)); }},
    {"from",
     [](auto&, auto& row, auto& line) {
       if (row.task == device_task::set) line.skip();
       else line.add(memory_name(row.from));
     }},
    {"to", [](auto&, auto& row, auto& line) { line.add(memory_name(row.to)); }},
    {"device", [](auto&, auto& row, auto& line) { line.add(row.device); }},
    {"calls", [](auto&, auto& row, auto& line) { line.add(row.calls); }},
    {"untimed", [](auto&, auto& row, auto& line) { line.add(row.untimed); }},
    {"bytes [B]", [](auto&, auto& row, auto& line) { line.add(row.bytes); }},
    {"total [ns]", [](auto&, auto& row, auto& line) { line.add(row.total_ns); }},
    {"share", [](auto&, auto& row, auto& line) { line.add(row.share); }},
    {"rate [GB/s]", [](auto&, auto& row, auto& line) { line.add(row.bytes_per_s, 1e-9); }},
};

/// A thread's name; empty for a number that is none.
[[gnu::cold]] inline std::string_view csv_thread(const profile& run, std::uint32_t thread) {
  return thread < run.threads.size() ? std::string_view{run.threads[thread].name}
                                     : std::string_view{};
}
template <class Row>
void add_csv_thread_id(const profile& run, const Row& row, csv_line& line) {
  if (row.thread < run.threads.size()) line.add(run.threads[row.thread].id);
  else line.skip();
}

inline constexpr csv_column<step_mark> csv_step_columns[] = {
    {"step", [](auto&, auto& row, auto& line) { line.add(row.index); }},
    {"thread", [](auto& run, auto& row, auto& line) { line.add(csv_thread(run, row.thread)); }},
    {"thread id", [](auto& run, auto& row, auto& line) { add_csv_thread_id(run, row, line); }},
    {"counts", [](auto&, auto& row, auto& line) { line.add(row.counts ? "yes" : "no"); }},
    {"begin [ns]", [](auto&, auto& row, auto& line) { line.add(row.begin); }},
    {"duration [ns]", [](auto&, auto& row, auto& line) { line.add(row.end - row.begin); }},
    {"of steps",
     [](auto& run, auto& row, auto& line) {
       std::uint64_t count = 0;
       for (const thread_steps& t : run.stepping.threads)
         if (t.thread == row.thread) count = t.count;
       if (count > 0) line.add(count);
       else line.skip();
     }},
};

/// One scope of a thread, or one item of a device.
struct csv_slice {
  const char* kind;
  std::string_view name{}, parameters{}, path{};
  std::uint32_t thread = 0xFFFFFFFFU;  // of an item: that launched it
  const device_item* item = nullptr;
  std::uint32_t device = 0;
  double begin_ns = 0, ns = 0;
};

inline constexpr csv_column<csv_slice> csv_slice_columns[] = {
    {"kind", [](auto&, auto& row, auto& line) { line.add(row.kind); }},
    {"name", [](auto&, auto& row, auto& line) { line.add(row.name); }},
    {"parameters", [](auto&, auto& row, auto& line) { line.add(row.parameters); }},
    {"path", [](auto&, auto& row, auto& line) { line.add(row.path); }},
    {"thread", [](auto& run, auto& row, auto& line) { line.add(csv_thread(run, row.thread)); }},
    {"thread id", [](auto& run, auto& row, auto& line) { add_csv_thread_id(run, row, line); }},
    {"device",
     [](auto&, auto& row, auto& line) {
       if (row.item == nullptr) line.skip();
       else line.add(row.device);
     }},
    {"stream",
     [](auto&, auto& row, auto& line) {
       if (row.item == nullptr) line.skip();
       else line.add(row.item->stream);
     }},
    {"begin [ns]", [](auto&, auto& row, auto& line) { line.add(row.begin_ns); }},
    {"duration [ns]", [](auto&, auto& row, auto& line) { line.add(row.ns); }},
};

/// Names, parameters and paths of all nodes, as text.
struct csv_node_texts {
  std::vector<std::string> parameters, paths;

  [[gnu::cold]] explicit csv_node_texts(const profile& run) {
    for (const scope_node& n : run.nodes) {
      parameters.push_back(parameter_text(run, n));
      std::string path =
          n.parent < paths.size() && !paths[n.parent].empty() ? paths[n.parent] + '/' : "";
      paths.push_back(n.kind == scope_kind::root ? std::string{} : path + n.name);
    }
  }
};

[[gnu::cold]] inline void put_csv_timeline(const profile& run, text_sink& out) {
  put_csv_head(csv_slice_columns, out);
  const csv_node_texts texts(run);
  csv_line line;
  for (const timeline_scope& s : run.timeline) {
    if (s.node >= run.nodes.size()) continue;
    const scope_node& n = run.nodes[s.node];
    put_csv_row(csv_slice_columns, run,
                csv_slice{.kind = n.kind == scope_kind::op ? "operator" : "region",
                          .name = n.name,
                          .parameters = texts.parameters[s.node],
                          .path = texts.paths[s.node],
                          .thread = n.thread,
                          .begin_ns = run.clock.to_ns(s.start),
                          .ns = run.clock.to_ns(s.duration)},
                line, out);
  }
  std::vector<std::string> kernels;
  for (const std::string& name : run.device.kernels) kernels.push_back(kernel_name(name));
  for (const device_item& item : run.device.timeline.items) {
    // Times of items that the device's clock did not tell are not made up.
    if (item.work >= run.device.work.size() || item.end < item.start) continue;
    const device_work& w = run.device.work[item.work];
    const bool is_kernel = w.task == device_task::kernel;
    put_csv_row(
        csv_slice_columns, run,
        csv_slice{
            .kind = is_kernel                     ? "kernel"
                    : w.task == device_task::copy ? "copy"
                                                  : "memset",
            .name = is_kernel && w.kernel < kernels.size() ? kernels[w.kernel] : std::string_view{},
            .path = w.scope < texts.paths.size() ? texts.paths[w.scope] : std::string_view{},
            .thread = item.thread,
            .item = &item,
            .device = w.device,
            .begin_ns = static_cast<double>(item.start),
            .ns = static_cast<double>(item.end - item.start)},
        line, out);
  }
}

template <class Row, std::size_t N>
[[gnu::cold]] void put_csv_table(const csv_column<Row> (&table)[N], const profile& run,
                                 const std::vector<Row>& rows, text_sink& out) {
  put_csv_head(table, out);
  csv_line line;
  for (const Row& row : rows) put_csv_row(table, run, row, line, out);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
