// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_GBENCH_HPP
#define KPROF_REPORT_GBENCH_HPP

// The output "gbench": the table of operators as the JSON of Google Benchmark, for its compare.py
// and for the services that read it (docs/files.md). Including it makes
// KPROF="gbench(path=run.gbench.json)" and kprof::write(profile, "gbench", ...) known in this
// binary.
//
// An entry is a row; its name, "Gemm/M=64 N=64 K=128", is the same in every run of the program, and
// no other entry has it. `real_time` is the mean time of a call: that on the device where calls
// have work there, as the name then says at its end, "/device"; else that of the host. So times of
// the host are never compared with times of a device. `cpu_time` is what a call took on a CPU, at
// most. Readers do without neither, so a row without a time has no entry.

#include <kprof/build_options.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/table/grouping_options.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>
#include <kprof/write/version_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct gbench_options {
  grouping by = grouping::parameters;
  std::vector<std::string> fold{};
};

inline constexpr option gbench_option_table[] = {
    by_option<gbench_options>(),
    fold_option<gbench_options>(),
};

/// The times of an entry.
struct gbench_times {
  figure real_ns;     // of a call
  double cpu_ns = 0;  // of a call
  bool on_device = false;

  explicit gbench_times(const operator_row& row) : real_ns(row.mean_ns) {
    on_device =
        (!row.of_step || row.knows_device_of_step) && row.device_mean_ns.why != absence::no_launch;
    if (on_device) real_ns = row.device_mean_ns;
    // Where the CPU time is not known, all of the host's time may be; calls that a CUDA graph
    // replays have none of either. A zero would be the geometric mean of all entries.
    const double host = row.mean_ns.known() ? row.mean_ns.value : 0;
    cpu_ns = host * (row.cpu.known() ? row.cpu.value : 1);
    if (!is_time(cpu_ns)) cpu_ns = real_ns.value;
  }
  bool known() const noexcept { return real_ns.known() && is_time(real_ns.value); }

 private:
  static bool is_time(double ns) noexcept { return ns > 0 && std::isfinite(ns); }
};

/// The names of the entries of rows: each another one. Where a name is cut, and where two would be
/// the same, the row's key is at its end.
inline std::vector<std::string> gbench_names(const profile& run,
                                             const std::vector<operator_row>& rows) {
  constexpr std::size_t longest = 300, any_length = std::size_t{1} << 30U;
  std::vector<std::string> names;
  std::vector<bool> is_cut;
  for (const operator_row& row : rows) {
    std::string name = row.name;
    // As declared: which one of two with a name gets a number differs from run to run.
    if (row.node < run.nodes.size() && !name.empty())
      if (const operator_info* const op = run.operator_of(run.nodes[row.node]);
          op != nullptr && !op->declared_name.empty())
        name = op->declared_name;
    const auto add = [&](std::string_view text) {
      if (!text.empty()) name.append(name.empty() ? "" : "/").append(text);
    };
    for (const group_value& v : row.values)
      if (v.kind == group_key::parameters) add(row.merged ? "(not kept)" : row.parameters);
      else if (v.kind != group_key::op) add(v.key + '=' + (v.known ? v.text : "?"));
    if (name.empty()) name = "(no name)";
    names.push_back(printable(name, longest));
    is_cut.push_back(name.size() > longest / 10 && names.back() != printable(name, any_length));
  }
  const std::vector<bool> same = ambiguous(names);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_cut[i] || same[i]) names[i] += '/' + row_key_text(rows[i].key);
    if (gbench_times(rows[i]).on_device) names[i] += "/device";
  }
  return names;
}

/// "2026-11-24T09:30:00+00:00".
[[gnu::cold]] inline std::string gbench_date(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000U);
  std::tm utc{};
  char text[40] = "";
  if (gmtime_r(&seconds, &utc) != nullptr)
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
  return text;
}

/// `wrong`: what is wrong with the request.
[[gnu::cold]] inline void put_gbench_context(const profile& run, std::size_t left_out,
                                             const std::string& wrong, text_sink& out) {
  std::string text = "{\n\"context\":{";
  json_members context(text);
  if (run.clock.start_realtime_ns != 0)
    context.text("date", gbench_date(run.clock.start_realtime_ns));
  context.text("executable", run.program);
  context.integer("num_cpus", run.cpus);
  if (const double hz = run.machine.cpu.clock_hz; hz > 0)
    context.number("mhz_per_cpu", std::round(hz * 1e-6));
  context.text("library_version", "kprof " + version_text());
  context.integer("json_schema_version", 1);
  context.integer("rows_without_time", left_out);
  if (!wrong.empty()) context.text("not_known", wrong);
  out.put(text += "},\n\"benchmarks\":[");
}

inline void add_gbench_counters(const operator_row& row, const gbench_times& times,
                                json_members& entry) {
  const auto add = [&](std::string_view name, const figure& f) {
    if (f.known()) entry.number(name, f.value);
  };
  add("flops", row.flops_per_call);
  add("bytes", row.bytes_per_call);
  add("flops_per_second", row.flops_per_s);
  add("bytes_per_second", row.bytes_per_s);
  add("roof", row.verdict.roof);
  add("host_mean_ns", row.mean_ns);
  if (times.on_device) return;
  add("host_min_ns", row.min_ns);
  add("host_median_ns", row.median_ns);
  add("host_p99_ns", row.p99_ns);
  add("host_max_ns", row.max_ns);
}

inline void put_gbench_entry(const operator_row& row, const gbench_times& times,
                             std::string_view name, bool is_first, text_sink& out) {
  std::string text = is_first ? "\n{" : ",\n{";
  json_members entry(text);
  entry.text("name", name);
  entry.text("run_name", name);
  entry.text("run_type", "iteration");
  entry.integer("repetitions", 1);
  entry.integer("repetition_index", 0);
  const double threads = row.threads.known() ? std::clamp(row.threads.value, 1., 1e6) : 1;
  entry.integer("threads", static_cast<std::uint64_t>(std::llround(threads)));
  // Calls that a CUDA graph captured took no time on the device.
  const std::uint64_t idle = times.on_device ? std::min(row.captured, row.calls) : 0;
  entry.integer("iterations", std::max<std::uint64_t>(row.calls - idle + row.replays, 1));
  entry.number("real_time", times.real_ns.value);
  entry.number("cpu_time", times.cpu_ns);
  entry.text("time_unit", "ns");
  if (row.type != dtype::unknown) entry.text("label", dtype_name(row.type));
  add_gbench_counters(row, times, entry);
  out.put(text += '}');
}

KPROF_DETAIL_LOCAL inline status write_gbench(const profile& run, const option_values& values,
                                              text_sink& to) {
  gbench_options options;
  values.store_into(options);
  const checked_grouping by = check_grouping(run, options.by.folding(options.fold));
  const std::string wrong = tell_complaints("gbench", by);
  const std::vector<operator_row> rows = operator_table(run, by.value);
  const std::vector<std::string> names = gbench_names(run, rows);
  const auto left_out = std::count_if(
      rows.begin(), rows.end(), [](const operator_row& row) { return !gbench_times(row).known(); });
  return put_packed_by_name(values.text("path"), to, [&](text_sink& out) {
    put_gbench_context(run, static_cast<std::size_t>(left_out), wrong, out);
    bool is_first = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const gbench_times times(rows[i]);
      if (!times.known()) continue;
      put_gbench_entry(rows[i], times, names[i], is_first, out);
      is_first = false;
    }
    out.put("\n]\n}\n");
  });
}

inline constexpr output gbench_output{"gbench",
                                      "the operators as Google Benchmark's JSON, for compare.py",
                                      gbench_option_table,
                                      &write_gbench,
                                      nullptr,
                                      "gbench.json"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration gbench_registered{gbench_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
