// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_TABLES_HPP
#define KPROF_REPORT_HTML_TABLES_HPP

// The operator rows of the page: metrics, texts, and how long single calls took. Included by
// html.hpp. All sections take their numbers from these tables.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/table/dimensions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the sections of the page show, worked out once.
struct page_tables {
  const profile& run;
  bool device = false;  ///< times are those of the devices
  operator_rows operators;
  operator_row total;
  time_summary times;
  double whole_ns = 0;  ///< what the times of rows are shares of

  [[gnu::cold]] explicit page_tables(const profile& p)
      : run(p),
        device(has_device_work(p)),
        operators(
            operator_rows_of(p, grouping::parameters, [](const scope_node&) { return true; })),
        total(operator_total(p)),
        times(time_summary_of(p)),
        whole_ns(device ? all_device_work(p).ns : all_self_ns(p)) {}

  /// The own time of a row, which sums to the whole with what is outside operators.
  double time_of(const operator_row& row) const noexcept {
    return device ? row.device_ns : row.self_ns;
  }
  /// The row of a node; none where it has none.
  std::uint32_t row_of(std::uint32_t node) const noexcept {
    return node < operators.row_of.size() ? operators.row_of[node] : scope_node::none;
  }
  const operator_row* found(std::uint32_t node) const noexcept {
    const std::uint32_t row = row_of(node);
    return row < operators.rows.size() ? &operators.rows[row] : nullptr;
  }
};

/// Of a row's time, the part that its work takes at the roof; of impossible calls nothing.
inline double needed_of(const operator_row& row, double time_ns) noexcept {
  const roof_verdict& v = row.verdict;
  if (!v.roof.known() || v.bound == bound_by::impossible) return 0;
  const double all_ns = row.on_device ? row.device_total_ns : row.total_ns;
  return time_ns * share_of(v.ideal_ns.value, std::max(all_ns, v.ideal_ns.value));
}

/// How long the calls of a row took: each, while they are few, or counts between equal steps of the
/// logarithm.
struct page_call_times {
  static constexpr std::size_t bins = 18, few = 30;

  std::vector<double> single;
  std::array<std::uint64_t, bins> counts{};
};

[[gnu::cold]] inline std::vector<page_call_times> page_call_times_of(const page_tables& t,
                                                                     std::size_t most_rows) {
  const profile& p = t.run;
  const std::size_t rows = std::min(most_rows, t.operators.rows.size());
  std::vector<page_call_times> out(rows);
  const auto each = [&](const auto& look) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      const std::uint32_t row = t.row_of(static_cast<std::uint32_t>(i));
      if (n.kind != scope_kind::op || row >= rows) continue;
      const histogram& durations = is_part(n) ? n.shared.durations : n.durations;
      durations.each([&](std::uint32_t bucket, std::uint64_t count) {
        look(row, histogram::value_of(bucket) * p.clock.ns_per_tick, count);
      });
    }
  };
  std::vector<double> least(rows, HUGE_VAL), most(rows, 0);
  std::vector<std::uint64_t> calls(rows);
  each([&](std::uint32_t row, double ns, std::uint64_t count) {
    least[row] = std::min(least[row], std::max(ns, 1.0));
    most[row] = std::max(most[row], ns);
    calls[row] = std::max(calls[row], count) > page_call_times::few ? page_call_times::few + 1
                                                                    : calls[row] + count;
  });
  each([&](std::uint32_t row, double ns, std::uint64_t count) {
    if (calls[row] <= page_call_times::few)
      out[row].single.insert(out[row].single.end(), count, ns);
    const double span = std::log(most[row] / least[row]);
    const double at = span > 0 ? std::log(std::max(ns, 1.0) / least[row]) / span : 0;
    const auto bin = static_cast<std::size_t>(std::clamp(at, 0.0, 1.0) * page_call_times::bins);
    out[row].counts[std::min(bin, page_call_times::bins - 1)] += count;
  });
  return out;
}

/// Some calls of each row of those that come first, in the order of their begins: the sampled ones
/// of its nodes, as many of each as there is room for, and the slowest.
[[gnu::cold]] inline std::vector<std::vector<single_call>> page_calls_over_time(
    const page_tables& t, std::size_t most_rows) {
  constexpr std::size_t most = 96;
  const std::size_t rows = std::min(most_rows, t.operators.rows.size());
  std::vector<std::vector<single_call>> out(rows);
  std::vector<std::size_t> nodes(rows);
  const auto each_node = [&](const auto& look) {
    for (std::size_t i = 0; i < t.run.nodes.size(); ++i) {
      const scope_node& n = t.run.nodes[i];
      const std::uint32_t row = t.row_of(static_cast<std::uint32_t>(i));
      if (n.kind == scope_kind::op && row < rows && !n.sampled.empty()) look(n, row);
    }
  };
  each_node([&](const scope_node&, std::uint32_t row) { ++nodes[row]; });
  each_node([&](const scope_node& n, std::uint32_t row) {
    std::vector<single_call>& calls = out[row];
    const std::size_t room = std::max<std::size_t>(1, most / nodes[row]),
                      kept = std::min(room, n.sampled.size());
    if (calls.size() >= most) return;
    for (std::size_t i = 0; i < kept; ++i) calls.push_back(n.sampled[i * n.sampled.size() / kept]);
    calls.insert(calls.end(), n.slowest.begin(), n.slowest.end());
  });
  for (std::vector<single_call>& calls : out) {
    sort_table(calls, [](const single_call& a, const single_call& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.ns < b.ns;
    });
    const auto same = [](const single_call& a, const single_call& b) {
      return a.begin_ns == b.begin_ns && a.ns == b.ns;
    };
    calls.erase(std::unique(calls.begin(), calls.end(), same), calls.end());
  }
  return out;
}

/// "train/forward/layer 3": the regions and operators around a node.
[[gnu::cold]] inline std::string path_around(const profile& p, std::uint32_t node) {
  std::string path;
  if (node >= p.nodes.size()) return path;
  for (std::uint32_t at = parent_of(p, node); at != scope_node::none; at = parent_of(p, at)) {
    if (p.nodes[at].kind == scope_kind::root) break;
    path = p.nodes[at].name + (path.empty() ? "" : "/" + path);
    if (path.size() > 200) break;
  }
  return path;
}

[[gnu::cold]] inline const char* additivity_word(additivity adds) noexcept {
  switch (adds) {
    case additivity::sum: return "sum";
    case additivity::overlapping_sum: return "overlap";
    case additivity::minimum: return "min";
    case additivity::maximum: return "max";
    case additivity::ratio: return "ratio";
    case additivity::none: break;
  }
  return "";
}

/// Of so many rows the page has fewer digits, and no metrics that few look at.
inline constexpr std::size_t many_rows = 2'000;
/// Of so many rows, the first ones, it shows calls over time.
inline constexpr std::size_t trended_rows = 300;
inline bool is_left_out_of_many(std::string_view metric) noexcept {
  for (const std::string_view id :
       {"share", "p99", "min", "max", "first", "mean", "open", "open_time", "cpu"})
    if (metric == id) return true;
  return false;
}

/// Columns of which a page has each once: in place of a later one stands the first one's name.
class different_columns {
 public:
  explicit different_columns(script_json& out) : out_(out) {}

  /// `column`: as column_text() gave it.
  [[gnu::cold]] void put(std::string_view id, std::string column) {
    const auto same = std::find_if(written_.begin(), written_.end(),
                                   [&](const auto& w) { return w.second == column; });
    out_.key(id);
    if (same != written_.end() && column.front() == '[') return out_.text(same->first);
    out_.ready(column);
    written_.emplace_back(id, std::move(column));
  }

 private:
  script_json& out_;
  std::vector<std::pair<std::string_view, std::string>> written_;
};

/// The metrics of rows, those that any row knows: {"calls": [1, ...], ...}.
[[gnu::cold]] inline void put_metrics(script_json& out, const page_tables& t,
                                      const std::vector<operator_row>& rows,
                                      different_columns& different) {
  out.key("metrics").open("{");
  for (const metric& m : metrics) {
    if (m.of_device && !t.device) continue;
    const bool any = std::any_of(rows.begin(), rows.end(),
                                 [&](const operator_row& row) { return m.of(row).known(); });
    if (!any || (rows.size() > many_rows && is_left_out_of_many(m.id))) continue;
    different.put(m.id, out.column_text(rows, [&](const operator_row& row) {
      out.number(m.of(row), m.unit.scale);
    }));
  }
  out.close("}");
}

[[gnu::cold]] inline void put_row_table(script_json& out, const page_tables& t,
                                        const std::vector<operator_row>& rows) {
  using row_ref = const operator_row&;
  out.member("count", rows.size());
  out.texts("name", rows, [](row_ref row) { return row.name; });
  for (const dimension& d : dimensions)
    if (std::string_view{d.id} != "operator")
      out.texts(d.id, rows, [&](row_ref row) { return d.of(t.run, row); });
  out.column("key", rows, [&](row_ref row) {
    out.text(row_key_text(row.key).substr(0, rows.size() > many_rows ? 10 : 16));
  });
  out.column("sets", rows, [&](row_ref row) { out.integer(row.variants); });
  different_columns different(out);
  put_metrics(out, t, rows, different);
  different.put("time", out.column_text(rows, [&](row_ref row) { out.number(t.time_of(row)); }));
  different.put("needed", out.column_text(rows, [&](row_ref row) {
    out.number(needed_of(row, t.time_of(row)));
  }));
}

/// What only the rows by parameters have.
[[gnu::cold]] inline void put_row_details(script_json& out, const page_tables& t) {
  using row_ref = const operator_row&;
  const std::vector<operator_row>& rows = t.operators.rows;
  const auto node_of = [&](row_ref row) -> const scope_node* {
    return row.node < t.run.nodes.size() ? &t.run.nodes[row.node] : nullptr;
  };
  out.texts("brief", rows, [&](row_ref row) {
    const scope_node* const n = node_of(row);
    return n != nullptr && row.variants == 1 ? n->brief : std::string{};
  });
  out.texts("path", rows, [&](row_ref row) { return path_around(t.run, row.node); });
  out.texts("why", rows, [](row_ref row) {
    return row.verdict.roof.known() ? "" : explain(row.verdict.roof.why);
  });
  out.column("at_most", rows, [&](row_ref row) { out.integer(row.verdict.roof.at_most ? 1 : 0); });
  if (rows.size() <= many_rows) {
    out.column("flops_call", rows, [&](row_ref row) { out.number(row.flops_per_call); });
    out.column("bytes_call", rows, [&](row_ref row) { out.number(row.bytes_per_call); });
  }
  out.column("of_memory", rows, [&](row_ref row) { out.integer(row.verdict.of_memory ? 1 : 0); });
  out.key("calls").open("[");
  for (const page_call_times& calls : page_call_times_of(t, many_rows)) {
    out.open("[");
    if (!calls.single.empty()) {
      out.integer(0);
      for (const double ns : calls.single) out.number(ns);
    } else {
      out.integer(1);
      for (const std::uint64_t count : calls.counts) out.integer(count);
    }
    out.close("]");
  }
  out.close("]");
  out.key("over_time").open("[");
  for (const std::vector<single_call>& calls : page_calls_over_time(t, trended_rows)) {
    out.open("[");
    for (const single_call& c : calls) {
      out.number(c.begin_ns);
      out.number(c.ns);
    }
    out.close("]");
  }
  out.close("]");
}

[[gnu::cold]] inline void put_tables(script_json& out, const page_tables& t) {
  out.key("metrics").open("[");
  for (const metric& m : metrics) {
    if (m.of_device && !t.device) continue;
    out.open("{");
    out.member("id", m.id);
    out.member("label", m.label);
    out.member("unit", m.unit.name);
    out.member("adds", additivity_word(m.adds));
    out.member("meaning", m.meaning_in(t.device));
    out.close("}");
  }
  out.close("]");
  out.key("rows").open("{");
  put_row_table(out, t, t.operators.rows);
  put_row_details(out, t);
  out.close("}");
  out.key("groups").open("{");
  out.key("operator").open("{");
  put_row_table(out, t, operator_table(t.run, grouping::op));
  out.close("}");
  out.key("pass").open("{");
  put_row_table(out, t, operator_table(t.run, grouping::pass));
  out.close("}");
  out.key("dtype").open("{");
  put_row_table(out, t, operator_table(t.run, grouping::dtype));
  out.close("}");
  out.close("}");
  out.key("total").open("{");
  put_row_table(out, t, {t.total});
  out.close("}");
  out.member("whole", t.whole_ns);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
