// SPDX-License-Identifier: MIT
// The answers of `kprof query` that are rows of tables: operators and kernels.

#include "query_answer.hpp"

#include <kprof/model/device_sums.hpp>
#include <kprof/model/field_paths.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/report/csv/tables.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kprof_tool {
namespace {

/// The name of a metric with its unit: "self_ns", "flops_per_s".
std::string name_with_unit(const kprof::metric& m) {
  const std::string_view unit = m.unit.name;
  if (unit == "GFLOP/s") return "flops_per_s";
  if (unit == "GB/s") return "bytes_per_s";
  if (unit == "FLOP/B") return "flops_per_byte";
  return unit == "ns" ? std::string{m.id} + "_ns" : m.id;
}

/// The numbers of a row, in units without a prefix. Those of shared calls are left out where there
/// are none, those of devices where the run has no work on one.
void add_metrics(const kprof::operator_row& row, bool device, json_object& out) {
  for (const kprof::metric& m : kprof::metrics) {
    const kprof::figure value = m.of(row);
    if (value.why == kprof::absence::not_shared || (m.of_device && !device)) continue;
    out.number(name_with_unit(m), value);
  }
}

/// The values of the fields of a row's calls, by their paths, where all calls have the same.
std::string fields_of(const kprof::profile& run, const kprof::operator_row& row) {
  if (row.variants != 1 || row.merged || row.node >= run.nodes.size()) return "{}";
  const kprof::scope_node& node = run.nodes[row.node];
  if (node.op >= run.operators.size() || node.values.empty()) return "{}";
  json_object fields;
  std::set<std::string> seen;  // a file may have two fields of one name
  const std::vector<std::string> folded;
  kprof::detail::profile_leaves leaves(run, folded);
  for (const kprof::detail::field_leaf& leaf : leaves.of(node).all()) {
    const std::string name = json_escaped(leaf.path);
    if (!seen.insert(name).second) continue;
    const kprof::parameter_value value = run.value(node, leaf.path);
    const std::string text = kprof::parameter_text(value);
    const bool is_integer = value.kind == kprof::parameter_kind::signed_integer ||
                            value.kind == kprof::parameter_kind::unsigned_integer;
    if (is_integer) fields.raw(name, text);
    else fields.text(name, text);
  }
  return fields.whole();
}

json_object operator_object(const kprof::profile& run, const kprof::operator_row& row) {
  json_object out;
  out.text("kind", "operator");
  out.text("key", kprof::row_key_text(row.key));
  for (const kprof::detail::dimension& d : kprof::detail::dimensions)
    out.text_or_null(d.id, d.of(run, row));
  out.integer("sets", row.variants);
  add_metrics(row, kprof::detail::has_device_work(run), out);
  return out;
}

json_object kernel_object(const kprof::kernel_row& row, const kprof::operator_rows& operators) {
  json_object out;
  out.text("kind", "kernel");
  out.text("key", kprof::row_key_text(row.key));
  out.text_or_null("kernel", row.kernel);
  out.text_or_null("short_name", kprof::short_kernel_name(row.kernel));
  out.text_or_null("operator", row.op);
  const std::uint32_t around =
      row.node < operators.row_of.size() ? operators.row_of[row.node] : kprof::scope_node::none;
  out.text_or_null("operator_key", around < operators.rows.size()
                                       ? kprof::row_key_text(operators.rows[around].key)
                                       : std::string{});
  out.text_or_null("parameters", row.parameters);
  out.text_or_null("pass", row.pass);
  out.text_or_null("region", row.region);
  const auto known = [](bool holds, std::uint64_t value) {
    return holds ? std::to_string(value) : "null";
  };
  out.raw("device", known(!row.several_devices, row.device));
  out.raw("stream", known(row.streams == 1, row.stream));
  out.text_or_null("grid", kprof::detail::csv_extent(row, row.grid));
  out.text_or_null("block", kprof::detail::csv_extent(row, row.block));
  out.raw("registers", known(!row.several_configurations, row.registers));
  out.raw("shared_bytes", known(!row.several_configurations, row.shared));
  out.integer("runs", row.calls);
  out.integer("untimed", row.untimed);
  out.number("total_ns", row.total_ns);
  out.number("share", row.share);
  out.number("mean_ns", row.mean_ns);
  out.number("min_ns", row.min_ns);
  out.number("max_ns", row.max_ns);
  out.number("flops", row.flops);
  out.number("bytes", row.bytes);
  out.text_or_null("tensor_cores", kprof::detail::csv_tensor_use(row.tensor_core));
  if (row.occupancy.unknown == nullptr) {
    out.number("occupancy", row.occupancy.share);
    out.number("waves", row.occupancy.waves);
  } else {
    out.unknown("occupancy", row.occupancy.unknown);
    out.unknown("waves", row.occupancy.unknown);
  }
  out.number("roof", row.verdict.roof);
  out.text_or_null("bound", row.verdict.bound == kprof::bound_by::unknown
                                ? std::string_view{}
                                : kprof::bound_name(row.verdict.bound));
  out.number("lost_ns", row.verdict.lost_ns);
  return out;
}

/// Rows by time: on the devices where the run used one, else on the host.
struct sorted_rows {
  kprof::operator_rows table;
  bool device;
  std::vector<std::uint32_t> order;

  explicit sorted_rows(const kprof::profile& run)
      : table(kprof::operator_rows_of(run, kprof::grouping::parameters,
                                      [](const kprof::scope_node&) { return true; })),
        device(kprof::detail::has_device_work(run)),
        order(kprof::detail::sorted_order(table.rows.size(),
                                          [this](std::uint32_t a, std::uint32_t b) {
                                            return ranks(table.rows[a], table.rows[b]);
                                          })) {}

  double time_of(const kprof::operator_row& row) const noexcept {
    return device ? row.device_ns : row.self_ns;
  }
  bool ranks(const kprof::operator_row& a, const kprof::operator_row& b) const noexcept {
    return time_of(a) != time_of(b) ? time_of(a) > time_of(b) : a.self_ns > b.self_ns;
  }
};

/// The keys that a wrong one may mean: those of operators and kernels of that name, then those that
/// have most digits in common with it.
class nearest_keys {
 public:
  explicit nearest_keys(const std::string& wanted) : wanted_(wanted) {}

  void add(const std::string& key, const std::string& name, const std::string& what) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < std::min(key.size(), wanted_.size()); ++i)
      same += key[i] == wanted_[i] ? 1 : 0;
    if (!wanted_.empty() && name.find(wanted_) != std::string::npos) same += 100;
    found_.push_back({same, {key, kprof::detail::printable(what, 60)}});
  }
  std::vector<choice> take(std::size_t most) {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<choice> out;
    for (std::size_t i = 0; i < std::min(most, found_.size()); ++i)
      out.push_back(std::move(found_[i].second));
    return out;
  }

 private:
  const std::string& wanted_;
  std::vector<std::pair<std::size_t, choice>> found_;
};

answer no_such_key(const std::string& key, const sorted_rows& sorted,
                   const std::vector<kprof::kernel_row>& kernels) {
  nearest_keys nearest(key);
  for (const std::uint32_t i : sorted.order) {
    const kprof::operator_row& row = sorted.table.rows[i];
    nearest.add(kprof::row_key_text(row.key), row.name, row.name + ' ' + row.parameters);
  }
  for (const kprof::kernel_row& row : kernels)
    nearest.add(kprof::row_key_text(row.key), row.kernel,
                std::string{kprof::short_kernel_name(row.kernel)} + " of " + row.op);
  answer out;
  out.choices = nearest.take(5);
  out.error = "no row has the key \"" + kprof::detail::printable(key, 60) + "\"; ";
  out.error += out.choices.empty()
                   ? "the profile has neither operators nor kernels"
                   : "take one of `choices`, which are the nearest, or of the member \"key\" that "
                     "the questions rows and kernels print";
  return out;
}

}  // namespace

json_object totals_of(const kprof::profile& run, const answer& of, std::string_view sorted_by) {
  json_object facts;
  facts.text("program", run.program);
  facts.number("wall_ns", run.wall_ns);
  facts.number("paused_ns", run.paused_ns);
  facts.integer("threads", run.threads.size());
  facts.integer("cpus", run.cpus);
  facts.number("self_ns", kprof::detail::all_self_ns(run));
  facts.number("device_ns", kprof::detail::all_device_work(run).ns);
  json_object out;
  out.raw("run", facts.whole());
  out.integer("rows", of.rows.size());
  out.text("sorted_by", sorted_by);
  out.number("time_ns", of.time_ns);
  return out;
}

answer rows_of(const kprof::profile& run, const std::string&) {
  const sorted_rows sorted(run);
  answer out;
  for (const std::uint32_t i : sorted.order) {
    const kprof::operator_row& row = sorted.table.rows[i];
    out.rows.push_back({operator_object(run, row).with_reasons(), sorted.time_of(row)});
  }
  out.time_ns =
      sorted.device ? kprof::detail::all_device_work(run).ns : kprof::detail::all_self_ns(run);
  json_object all;
  add_metrics(kprof::operator_total(run), sorted.device, all);
  json_object totals = totals_of(run, out, sorted.device ? "device_ns" : "self_ns");
  totals.raw("operators", all.with_reasons());
  out.totals = totals.with_reasons();
  return out;
}

answer kernels_of(const kprof::profile& run, const std::string&) {
  answer out;
  const kprof::operator_rows operators = sorted_rows(run).table;
  for (const kprof::kernel_row& row : kprof::kernel_table(run))
    out.rows.push_back({kernel_object(row, operators).with_reasons(), row.total_ns});
  out.time_ns = kprof::detail::all_device_work(run).ns;
  out.totals = totals_of(run, out, "total_ns").with_reasons();
  return out;
}

answer row_of(const kprof::profile& run, const std::string& key) {
  const sorted_rows sorted(run);
  const std::vector<kprof::kernel_row> kernels = kprof::kernel_table(run);
  const auto has_key = [&](const auto& row) { return kprof::row_key_text(row.key) == key; };
  const auto row_around = [&](const kprof::kernel_row& kernel) {
    return kernel.node < sorted.table.row_of.size() ? sorted.table.row_of[kernel.node]
                                                    : kprof::scope_node::none;
  };
  answer out;
  const auto add_operator = [&](const kprof::operator_row& row) {
    json_object object = operator_object(run, row);
    object.raw("fields", fields_of(run, row));
    out.rows.push_back({object.with_reasons(), 0});
  };
  const auto add_kernel = [&](const kprof::kernel_row& kernel) {
    out.rows.push_back({kernel_object(kernel, sorted.table).with_reasons(), kernel.total_ns});
    out.time_ns += kernel.total_ns;
  };

  const std::vector<kprof::operator_row>& rows = sorted.table.rows;
  const auto found = std::find_if(rows.begin(), rows.end(), has_key);
  const auto kernel = std::find_if(kernels.begin(), kernels.end(), has_key);
  if (found != rows.end()) {
    add_operator(*found);
    for (answer_row& advice : advice_rows(run, sorted.table, key))
      out.rows.push_back({std::move(advice.json), 0});
    for (const kprof::kernel_row& k : kernels)
      if (row_around(k) == static_cast<std::uint32_t>(found - rows.begin())) add_kernel(k);
  } else if (kernel != kernels.end()) {
    add_kernel(*kernel);
    if (row_around(*kernel) < rows.size()) add_operator(rows[row_around(*kernel)]);
  } else {
    return no_such_key(key, sorted, kernels);
  }
  out.totals = totals_of(run, out, "total_ns").with_reasons();
  return out;
}

}  // namespace kprof_tool
