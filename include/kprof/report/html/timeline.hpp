// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_TIMELINE_HPP
#define KPROF_REPORT_HTML_TIMELINE_HPP

// The data of the page's steps and timeline. Included by html.hpp. Of more slices than the page may
// hold, those that are drawn longest stay, and the number of the others is told.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>

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

/// A scope of a thread, a call of CUDA, or an item of a stream.
struct page_slice {
  std::int64_t begin = 0, ns = 0;
  std::uint32_t lane = 0;
  std::int64_t what = -1;  ///< node of a scope or item; of a call -1
  std::int64_t name = -1;  ///< of a kernel or call: in `names`
  std::int64_t launched = -1;
  std::int64_t launcher = -1;  ///< lane of the thread that launched it
};

struct page_lane {
  std::string name;
  const char* kind;          ///< "thread", "calls", "stream"
  std::int64_t thread = -1;  ///< of calls: the lane of their thread
  std::int64_t device = -1;  ///< of a stream
};

class page_timeline {
 public:
  [[gnu::cold]] page_timeline(const page_tables& t, std::size_t most) : t_(t) {
    collect();
    all_ = slices_.size();
    choose(most);
    sort_table(slices_, [](const page_slice& a, const page_slice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.ns > b.ns;
    });
  }

  bool empty() const noexcept { return slices_.empty(); }

  [[gnu::cold]] void put(script_json& out) const {
    out.member("all", all_);
    out.member("shown", slices_.size());
    out.member("older", kept_steps_text(t_.run));
    out.member("reach", reach_text());
    // The steps that are shown whole, by their begins: the median and the slowest one.
    out.column("steps", steps_to_keep(), [&](const interval& i) { out.integer(i.begin); });
    out.column("names", names_, [&](const std::string& name) { out.text(name); });
    put_nodes(out);
    out.key("lanes").open("[");
    for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) put_lane(out, lane);
    out.close("]");
    put_busy(out);
  }

 private:
  /// "19,254 of 1,200,000 scopes: the last 728 µs of 88.0 ms; 136 threads have none": how many
  /// scopes the log still has, and why not all. Empty where it has all.
  [[gnu::cold]] std::string reach_text() const {
    const profile& p = t_.run;
    const completeness& c = p.complete;
    std::string text;
    if (c.in_timeline < c.recorded) {
      const std::string of = " of " + counted(c.recorded, "scope", "scopes");
      text = c.in_timeline == 0 ? "None" + of
                                : format_count(c.in_timeline) + of + ": the last " +
                                      format_time(c.timeline_ns) + " of " + format_time(p.wall_ns);
      const own_cost& cost = p.cost;
      if (static_cast<double>(cost.memory) > 0.75 * static_cast<double>(cost.memory_limit) &&
          cost.memory_limit > 0)
        text += "; the log keeps no more in " + format_memory(cost.memory_limit) + " of memory";
    }
    if (without_ > 0 && c.in_timeline > 0)
      text +=
          (text.empty() ? "" : "; ") + counted(without_, "thread has", "threads have") + " none";
    return text;
  }

  [[gnu::cold]] void collect() {
    const profile& p = t_.run;
    std::vector<std::uint32_t> call_lane(p.threads.size(), none), thread_lane(call_lane);
    for (const timeline_scope& s : p.timeline) {
      if (s.node >= p.nodes.size() || p.nodes[s.node].thread >= thread_lane.size()) continue;
      std::uint32_t& lane = thread_lane[p.nodes[s.node].thread];
      if (lane == none) lane = add_lane(thread_name(p, p.nodes[s.node].thread), "thread");
      slices_.push_back({whole_ns(p.clock.to_ns(s.start)), whole_ns(p.clock.to_ns(s.duration)),
                         lane, static_cast<std::int64_t>(s.node), -1, -1, -1});
    }
    for (std::size_t i = 0; i < p.threads.size(); ++i)
      if (thread_lane[i] == none && p.threads[i].in_scopes_ns > 0)
        without_ += std::max<std::uint64_t>(1, p.threads[i].merged);
    const std::size_t first_call = names_.size();
    for (const std::string& function : p.device.functions) names_.push_back(function);
    for (const host_call& c : p.device.timeline.calls) {
      if (c.end < c.begin || c.thread >= call_lane.size() || c.name >= p.device.functions.size())
        continue;
      std::uint32_t& lane = call_lane[c.thread];
      if (lane == none) {
        lane = add_lane(thread_name(p, c.thread) + ", CUDA", "calls");
        if (thread_lane[c.thread] != none) lanes_[lane].thread = thread_lane[c.thread];
      }
      slices_.push_back({bounded_time(c.begin), bounded_time(c.end) - bounded_time(c.begin), lane,
                         -1, static_cast<std::int64_t>(first_call + c.name), -1, -1});
    }
    collect_items(thread_lane);
  }

  [[gnu::cold]] void collect_items(const std::vector<std::uint32_t>& thread_lane) {
    const profile& p = t_.run;
    const std::size_t first_kernel = names_.size();
    for (std::string& kernel : telling_names_of(p.device)) names_.push_back(std::move(kernel));
    const std::size_t copy = names_.size();
    names_.insert(names_.end(), {"copy", "memset"});
    std::vector<std::array<std::uint32_t, 3>> streams;  // device, stream, lane
    for (const device_item& i : p.device.timeline.items) {
      if (i.work >= p.device.work.size() || i.end < i.start) continue;
      const device_work& w = p.device.work[i.work];
      const auto known = std::find_if(streams.begin(), streams.end(), [&](const auto& s) {
        return s[0] == w.device && s[1] == i.stream;
      });
      const std::uint32_t lane =
          known != streams.end()
              ? (*known)[2]
              : add_lane("GPU " + std::to_string(w.device) + ", stream " + std::to_string(i.stream),
                         "stream");
      if (known == streams.end()) streams.push_back({w.device, i.stream, lane});
      lanes_[lane].device = w.device;
      const std::size_t name = w.task != device_task::kernel
                                   ? copy + (w.task == device_task::set ? 1 : 0)
                                   : first_kernel + w.kernel;
      slices_.push_back({bounded_time(i.start), bounded_time(i.end) - bounded_time(i.start), lane,
                         w.scope < p.nodes.size() ? static_cast<std::int64_t>(w.scope) : -1,
                         name < names_.size() ? static_cast<std::int64_t>(name) : -1,
                         i.call_begin >= 0 ? bounded_time(i.call_begin) : -1,
                         i.thread < thread_lane.size() && thread_lane[i.thread] != none
                             ? static_cast<std::int64_t>(thread_lane[i.thread])
                             : -1});
    }
  }
  std::uint32_t add_lane(std::string name, const char* kind) {
    lanes_.push_back({std::move(name), kind, -1, -1});
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }

  /// Keeps all of the median and the slowest step, then the longest of the rest.
  [[gnu::cold]] void choose(std::size_t most) {
    for (const page_slice& s : slices_) {
      begin_ = std::min(begin_, s.begin);
      end_ = std::max(end_, s.begin + s.ns);
    }
    busy_.resize(lanes_.size());
    const double bin = static_cast<double>(std::max<std::int64_t>(1, end_ - begin_)) / bins;
    for (const page_slice& s : slices_) {
      const auto from = static_cast<double>(s.begin - begin_) / bin;
      const auto to = static_cast<double>(s.begin + s.ns - begin_) / bin;
      if (lanes_[s.lane].kind == std::string_view{"calls"} || is_inner(s)) continue;
      for (auto b = static_cast<std::size_t>(from); b < bins && static_cast<double>(b) < to; ++b)
        busy_[s.lane][b] +=
            std::min(to, static_cast<double>(b) + 1) - std::max(from, static_cast<double>(b));
    }
    if (slices_.size() <= most) return;
    const std::vector<interval> whole = steps_to_keep();
    const auto is_kept = [&](const page_slice& s) {
      for (const interval& i : whole)
        if (s.begin < i.end && s.begin + s.ns > i.begin) return true;
      return false;
    };
    std::vector<std::uint32_t> order = sorted_order(
        slices_.size(),
        [this](std::uint32_t a, std::uint32_t b) { return slices_[a].ns > slices_[b].ns; });
    std::vector<page_slice> kept;
    for (const bool first : {true, false})
      for (const std::uint32_t i : order)
        if (kept.size() < (first ? most / 2 : most) && is_kept(slices_[i]) == first)
          kept.push_back(slices_[i]);
    slices_ = std::move(kept);
  }
  bool is_inner(const page_slice& s) const {
    return lanes_[s.lane].kind == std::string_view{"thread"} && s.what >= 0 &&
           t_.run.nodes[static_cast<std::size_t>(s.what)].kind != scope_kind::op;
  }
  [[gnu::cold]] std::vector<interval> steps_to_keep() const {
    std::vector<step_mark> marks = t_.run.steps;
    if (marks.empty()) return {};
    sort_table(marks, [](const step_mark& a, const step_mark& b) {
      return bounded_time(a.end) - bounded_time(a.begin) <
             bounded_time(b.end) - bounded_time(b.begin);
    });
    const step_mark& slowest = marks.back();
    step_mark median = marks[marks.size() / 2];
    for (const kept_step& k : t_.run.stepping.kept)
      if (k.why == kept_as::median && k.step < t_.run.steps.size()) median = t_.run.steps[k.step];
    return {{median.begin, median.end}, {slowest.begin, slowest.end}};
  }

  /// The nodes that slices name and those around them: name, row, kind and the one around each, by
  /// its number in the profile.
  [[gnu::cold]] void put_nodes(script_json& out) const {
    std::vector<bool> used(t_.run.nodes.size());
    for (const page_slice& s : slices_)
      if (s.what >= 0) used[static_cast<std::size_t>(s.what)] = true;
    for (std::size_t i = used.size(); i-- > 0;)  // a node stands behind the one around it
      if (const std::uint32_t around = parent_of(t_.run, static_cast<std::uint32_t>(i));
          used[i] && around != scope_node::none)
        used[around] = true;
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = 0; i < used.size(); ++i)
      if (used[i]) nodes.push_back(i);
    out.column("node", nodes, [&](std::uint32_t i) { out.integer(i); });
    out.texts("node_name", nodes, [&](std::uint32_t i) {
      return t_.run.nodes[i].kind == scope_kind::root ? std::string{} : t_.run.nodes[i].name;
    });
    out.column("node_row", nodes, [&](std::uint32_t i) {
      const std::uint32_t row = t_.row_of(i);
      out.integer(row < t_.operators.rows.size() ? static_cast<std::int64_t>(row) : -1);
    });
    out.column("node_parent", nodes, [&](std::uint32_t i) {
      const std::uint32_t around = parent_of(t_.run, i);
      const bool is_root =
          around == scope_node::none || t_.run.nodes[around].kind == scope_kind::root;
      out.integer(is_root ? -1 : static_cast<std::int64_t>(around));
    });
    out.column("node_op", nodes, [&](std::uint32_t i) {
      out.integer(t_.run.nodes[i].kind == scope_kind::op ? 1 : 0);
    });
  }

  /// Begins are differences from slice to slice.
  [[gnu::cold]] void put_lane(script_json& out, std::uint32_t lane) const {
    out.open("{");
    out.member("name", lanes_[lane].name);
    out.member("kind", lanes_[lane].kind);
    out.member("thread", lanes_[lane].thread);
    out.member("device", lanes_[lane].device);
    std::vector<const page_slice*> of_lane;
    for (const page_slice& s : slices_)
      if (s.lane == lane) of_lane.push_back(&s);
    const auto column = [&](const char* name, auto value) {
      out.column(name, of_lane, [&](const page_slice* s) { out.integer(value(*s)); });
    };
    std::int64_t before = 0;
    column("begin", [&before](const page_slice& s) {
      const std::int64_t difference = s.begin - before;
      before = s.begin;
      return difference;
    });
    column("ns", [](const page_slice& s) { return s.ns; });
    const std::string_view kind = lanes_[lane].kind;
    if (kind != "calls") column("node", [](const page_slice& s) { return s.what; });
    if (kind != "thread") column("name_of", [](const page_slice& s) { return s.name; });
    if (kind == "stream") column("launcher", [](const page_slice& s) { return s.launcher; });
    if (kind == "stream")
      column("launch",
             [](const page_slice& s) { return s.launched < 0 ? -1 : s.begin - s.launched; });
    out.close("}");
  }

  /// Of each part of the run, the share in which something ran: of all slices, also those left out.
  [[gnu::cold]] void put_busy(script_json& out) const {
    std::array<double, bins> most{};
    bool streams = false;
    for (const page_lane& lane : lanes_)
      streams = streams || lane.kind == std::string_view{"stream"};
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
      if ((lanes_[lane].kind == std::string_view{"stream"}) == streams)
        for (std::size_t b = 0; b < bins; ++b) most[b] = std::max(most[b], busy_[lane][b]);
    out.member("begin", begin_);
    out.member("end", end_);
    out.key("busy").open("[");
    for (const double share : most)
      out.integer(static_cast<int>(std::lround(100 * std::min(1.0, share))));
    out.close("]");
  }

  static constexpr std::uint32_t none = 0xFFFFFFFFU;
  static constexpr std::size_t bins = 400;
  const page_tables& t_;
  std::vector<page_slice> slices_;
  std::vector<page_lane> lanes_;
  std::vector<std::string> names_;
  std::vector<std::array<double, bins>> busy_;
  std::int64_t begin_ = latest_time, end_ = 0;
  std::size_t all_ = 0;
  std::uint64_t without_ = 0;  // threads that ran scopes and have none here
};

}  // namespace detail
KPROF_DETAIL_END

#endif
