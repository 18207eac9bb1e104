// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_STEPS_HPP
#define KPROF_REPORT_HTML_STEPS_HPP

// The data of the page's section Steps: each step with what its time went to, and whose time makes
// slow ones slow. Included by html.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/text/device_time.hpp>
#include <kprof/report/text/step_lines.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a step's time went to: by what bounds it, the time at the roof and the rest.
struct page_step {
  double needed[4] = {}, lost[4] = {};  // compute, memory, latency, unknown
  bool known = false;
};

inline std::size_t colour_of(bound_by bound) noexcept {
  switch (bound) {
    case bound_by::compute: return 0;
    case bound_by::memory:
    case bound_by::cache:
    case bound_by::balanced: return 1;
    case bound_by::latency:
    case bound_by::launch:
    case bound_by::small_grid: return 2;
    case bound_by::impossible:
    case bound_by::unknown: break;
  }
  return 3;
}

class page_steps {
 public:
  [[gnu::cold]] explicit page_steps(const page_tables& t) : t_(t), of_(t.run.steps.size()) {
    if (t.device) add_items();
    else add_shares();
  }

  [[gnu::cold]] void put(script_json& out) const {
    const profile& p = t_.run;
    constexpr std::size_t most = 2'000;
    const std::size_t first = p.steps.size() > most ? p.steps.size() - most : 0;
    // Their sums are of all steps, also of those whose marks had no room.
    std::uint64_t all = 0;
    for (const step_row& row : step_table(p)) all += row.count;
    out.member("all", std::max<std::uint64_t>(all, p.steps.size()));
    out.member("region", p.stepping.region);
    out.key("of").open("[");
    for (std::size_t i = first; i < p.steps.size(); ++i) {
      const step_mark& m = p.steps[i];
      out.open("[");
      out.integer(m.index);
      out.integer(m.begin);
      out.integer(bounded_time(m.end) - bounded_time(m.begin));
      out.integer(m.counts ? 1 : 0);
      for (std::size_t c = 0; c < 4 && of_[i].known; ++c) {
        out.number(of_[i].needed[c]);
        out.number(of_[i].lost[c]);
      }
      out.close("]");
    }
    out.close("]");
    put_facts(out);
  }

 private:
  void add(std::size_t step, const operator_row* row, double ns) {
    page_step& s = of_[step];
    s.known = true;
    const std::size_t colour = row == nullptr ? 3 : colour_of(row->verdict.bound);
    const double needed = row == nullptr || colour == 3 ? 0 : needed_of(*row, ns);
    s.needed[colour] += needed;
    s.lost[colour] += ns - needed;
  }
  [[gnu::cold]] void add_shares() {
    for (const step_share& s : t_.run.stepping.shares)
      if (s.step < of_.size() && s.node < t_.run.nodes.size())
        add(s.step, t_.found(s.node), not_negative(s.self_ns));
  }
  [[gnu::cold]] void add_items() {
    for (const device_item& i : t_.run.device.timeline.items) {
      if (i.end < i.start || i.work >= t_.run.device.work.size()) continue;
      const std::int64_t at = i.call_begin >= 0 ? i.call_begin : i.start;
      for (std::size_t s = 0; s < of_.size(); ++s)
        if (at >= t_.run.steps[s].begin && at < t_.run.steps[s].end) {
          add(s, t_.found(t_.run.device.work[i.work].scope), static_cast<double>(i.end - i.start));
          break;
        }
    }
  }

  [[gnu::cold]] void put_facts(script_json& out) const {
    const std::vector<step_row> rows = step_table(t_.run);
    out.key("facts").open("[");
    const auto fact = [&](const std::string& label, const std::string& value) {
      out.open("[");
      out.text(label);
      out.text(value);
      out.close("]");
    };
    double median = 0;
    if (!rows.empty()) {
      const step_row& r = rows[0];
      median = r.median_ns;
      fact("steps", format_count(r.count));
      fact("median", format_time(r.median_ns));
      fact("least, most", format_time(r.min_ns) + ", " + format_time(r.max_ns));
      if (r.count >= 100) fact("p99", format_time(r.p99_ns));
      if (r.first_ns >= 0) fact("first", format_time(r.first_ns));
      if (r.count >= 100) fact("jitter (p99 / median)", format_rate(r.jitter()));
    }
    out.close("]");
    out.member("median", median);
    std::string excess;
    if (!rows.empty()) {
      const step_details d = details_of_steps(t_.run, rows[0].thread);
      if (d.steps > 1 && d.excess_ns > 0.01 * d.total_ns) {
        excess = "Steps above the median took " + format_time(d.excess_ns) +
                 " more than as many others" +
                 told_excess(
                     d.excess, d.excess_ns, [](double ns) { return format_time(ns); },
                     [](std::string_view name) { return std::string{name}; }) +
                 '.';
        if (d.is_estimate())
          excess +=
              " It is an estimate by the " + format_count(d.steps) + " steps whose marks are kept.";
      }
    }
    out.member("excess", excess);
    put_idle(out);
  }

  /// Why each device had nothing to do, as the report's section on the devices' time has it.
  [[gnu::cold]] void put_idle(script_json& out) const {
    out.key("idle").open("[");
    for (const device_time& d : t_.times.devices) {
      if (d.activity.wall <= 0 || d.activity.idle <= 0) continue;
      const auto time_text = [](std::int64_t ns) { return format_time(static_cast<double>(ns)); };
      const idle_causes& why = d.idle;
      out.open("{");
      out.member("device", d.activity.device);
      out.member("idle", time_text(d.activity.idle));
      out.member("wall", time_text(d.activity.wall));
      out.key("causes").open("[");
      for (const told_time& cause : idle_times(why)) {
        if (cause.ns == 0) continue;
        out.open("[");
        out.text(cause.what);
        out.text(time_text(cause.ns));
        out.integer(cause.ns);
        out.close("]");
      }
      out.close("]");
      out.key("host_by").open("[");
      for (const named_time& by : why.host_by) {
        if (by.ns * 20 < why.host) break;
        out.open("[");
        out.text(by.name);
        out.text(time_text(by.ns));
        out.close("]");
      }
      out.close("]");
      out.close("}");
    }
    out.close("]");
  }

  const page_tables& t_;
  std::vector<page_step> of_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
