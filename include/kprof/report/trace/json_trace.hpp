// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_JSON_TRACE_HPP
#define KPROF_REPORT_TRACE_JSON_TRACE_HPP

// Writes a trace as a Chrome trace. Included by trace.hpp; trace_walk calls it.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/trace/call_arrows.hpp>
#include <kprof/report/trace/held_call.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/slice_facts.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/report/trace/trace_curves.hpp>
#include <kprof/report/trace/trace_heads.hpp>
#include <kprof/report/trace/trace_walk.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The beginning of a slice, up to its process, and members of its "args".
struct slice_text {
  std::uint32_t of = 0xFFFFFFFFU;
  std::string head;
  std::string args;
  slice_figures figures;
};

class json_trace {
  static constexpr std::uint32_t no_number = 0xFFFFFFFFU;

 public:
  /// `runtime_category`: of calls of CUDA's libraries. `is_kineto`: all that PyTorch's profiler
  /// writes, else what Perfetto and HTA read.
  json_trace(trace_source& source, std::string_view runtime_category, bool is_kineto,
             text_sink& out)
      : source_(source),
        p_(source.run),
        runtime_category_(runtime_category),
        is_kineto_(is_kineto),
        out_(out),
        origin_(source.events.origin()),
        heads_(source.run, source.places) {}

  void begin() { out_.put(heads_.beginning(origin_)); }
  void finish(const trace_gaps& gaps) { out_.put(heads_.ending(gaps)); }
  template <class Row>
  void further_row(const Row& of, std::size_t row, std::uint32_t tid) {
    out_.put(heads_.further_row(of, row, tid));
  }

  /// TensorBoard adds in floating numbers: a step must not seem to reach into the next one.
  std::int64_t end_of_step(std::int64_t begin, std::int64_t end) const noexcept {
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1000; };
    const bool seems_longer = us(begin) + us(end - begin) > us(end);
    return seems_longer && runtime_category_ == "Runtime" ? end - 1 : end;
  }
  void step(const slice_place& at, std::uint32_t index) {
    append_head("user_annotation", "ProfilerStep#" + std::to_string(p_.steps[index].index));
    args_.clear();
    put_slice(at);
  }
  const slice_figures& figures_of_scope(std::uint32_t node) { return scope_text(node).figures; }
  /// `share`: percent of the roof; 0: not of this slice.
  void scope(const slice_place& at, std::uint32_t node, std::uint64_t id, double share,
             const std::vector<call_arrow>& arrows) {
    const slice_text& text = scope_text(node);
    line_ += text.head;
    args_ = text.args;
    if (id != 0 && is_kineto_) add_number("External id", id);
    if (share > 0) {
      add_key("% of roof");
      append_rounded(args_, share);
    }
    put_slice(at);
    for (const call_arrow& a : arrows) {
      if (a.starts) continue;  // it may lead nowhere
      put_arrow("s", "fwdbwd", a.number, a.from.pid, a.from.tid, a.from.begin);
      put_arrow("f", "fwdbwd", a.number, at.pid, at.tid, at.begin);
    }
  }
  void call(const slice_place& at, const traced_call& call) {
    append_head(category_of(call.name), call.name);
    args_.clear();
    if (call.id != 0 && is_kineto_) add_number("External id", call.id);
    add_number("correlation", call.correlation);
    bound_ = can_bind(at, call) ? call.arrows.front() : no_number;
    put_slice(at, bound_, "flow_out");
    for (const std::uint32_t index : call.arrows)
      if (index != bound_) put_arrow("s", "ac2g", number_of_arrow(index), at.pid, at.tid, at.begin);
  }

  const slice_figures& figures_of_item(std::uint32_t work) { return item_text(work).figures; }
  /// Written when its launch has come too, where it has one.
  void item(const slice_place& at, std::uint32_t index, bool is_launched) {
    add_item({.tid = at.tid}, index, is_launched);
  }
  void item_without_row(std::uint32_t index, bool is_launched) {
    add_item({.tid = no_number}, index, is_launched);
  }
  void launched(std::uint32_t index, std::uint64_t id, std::int64_t arrow_begin) {
    const auto [at, is_new] = awaited_.try_emplace(index);
    at->second.id = id;
    at->second.launched = arrow_begin;
    at->second.is_bound = index == bound_;
    if (is_new) return;
    put_item(index, at->second);
    awaited_.erase(at);
  }

  void point(const curve_point& point) {
    line_ += R"({"ph":"C","name":")";
    line_ += point.name;
    line_ += R"(","pid":)";
    append_integer(line_, point.pid);
    line_ += ",\"ts\":";
    append_us(line_, point.at - origin_);
    line_ += ",\"args\":{";
    json_members args(line_);
    if (point.is_whole) args.integer(point.unit, static_cast<std::uint64_t>(point.value));
    else args.rounded(point.unit, point.value);
    line_ += "}},\n";
    take_line();
  }

 private:
  const slice_text& scope_text(std::uint32_t node) {
    return scopes_.of(node, [&](slice_text& made) {
      const slice_title title = source_.slices.title_of_scope(node);
      append_head(made.head, title.category, title.name);
      json_members args(made.args);
      source_.slices.add_scope(node, made.figures, args);
    });
  }
  const slice_text& item_text(std::uint32_t work) {
    return items_.of(work, [&](slice_text& made) {
      const device_work& w = p_.device.work[work];
      const slice_title title = source_.slices.title_of_item(w);
      append_head(made.head, title.category, title.name);
      json_members args(made.args);
      source_.slices.add_item(w, made.figures, args, is_kineto_);
    });
  }

  /// Whether the slices themselves say that an arrow leads from one to the other, which takes fewer
  /// bytes than two events. One slice has one such arrow, and Perfetto wants its begin first.
  /// TraceLens takes only events, and Catapult warns of arguments that both slices have.
  bool can_bind(const slice_place& at, const traced_call& call) const {
    if (is_kineto_ || call.arrows.size() != 1) return false;
    return source_.events.time(p_.device.timeline.items[call.arrows.front()].start) >= at.begin;
  }
  /// Perfetto 52 numbers arrows of two events itself, from 1 on, and takes these numbers as they
  /// are: they begin after as many as there can be arrows.
  std::uint64_t number_of_bound(std::uint32_t index) const noexcept {
    return p_.device.timeline.items.size() + 1 + index;
  }
  /// TraceLens wants that of the launch; in a short trace it could be that of a bound arrow.
  std::uint64_t number_of_arrow(std::uint32_t index) const noexcept {
    return is_kineto_ ? arrow_of(p_.device.timeline.items[index], index)
                      : (std::uint64_t{1} << 32U) + index;
  }
  std::string_view category_of(std::string_view function) const noexcept {
    return is_of_driver(function) && runtime_category_ == "cuda_runtime" ? "cuda_driver"
                                                                         : runtime_category_;
  }

  void add_item(const awaited_item& here, std::uint32_t index, bool is_launched) {
    if (!is_launched) return put_item(index, here);
    const auto [at, is_new] = awaited_.try_emplace(index, here);
    if (is_new) return;
    at->second.tid = here.tid;
    put_item(index, at->second);
    awaited_.erase(at);
  }
  void put_item(std::uint32_t index, const awaited_item& known) {
    if (known.tid == no_number) return;
    const device_item& item = p_.device.timeline.items[index];
    const device_work& work = p_.device.work[item.work];
    const std::uint32_t pid = source_.places.stream(work.device, item.stream).pid;
    const slice_text& text = item_text(item.work);
    const std::int64_t begin = source_.events.time(item.start), end = source_.events.time(item.end);
    line_ += text.head;
    args_ = text.args;
    if (is_kineto_) {
      if (known.id != 0) add_number("External id", known.id);
      add_number("device", pid);
    }
    add_number("stream", known.tid);
    if (item.correlation != 0) add_number("correlation", item.correlation);
    if (work.task != device_task::kernel && item.bytes > 0) {
      add_number("bytes", item.bytes);
      if (end > begin) {
        add_key("memory bandwidth (GB/s)");
        append_rounded(args_, static_cast<double>(item.bytes) / static_cast<double>(end - begin));
      }
    }
    put_slice({pid, known.tid, begin, end}, known.is_bound ? index : no_number, "flow_in");
    if (known.launched >= 0 && !known.is_bound)
      put_arrow("f", "ac2g", number_of_arrow(index), pid, known.tid,
                std::max(begin, known.launched));
  }

  // ---- text

  void append_head(std::string_view category, std::string_view name) {
    append_head(line_, category, name);
  }
  /// `{"ph":"X","cat":"cpu_op","name":"Gemm","pid":`
  static void append_head(std::string& out, std::string_view category, std::string_view name) {
    out += R"({"ph":"X","cat":")";
    out += category;
    out += R"(","name":")";
    append_json_text(out, name.empty() ? std::string_view{"(no name)"} : name);
    out += R"(","pid":)";
  }
  void add_key(std::string_view name) {
    if (!args_.empty()) args_ += ',';
    args_ += '"';
    args_ += name;
    args_ += "\":";
  }
  void add_number(std::string_view name, std::uint64_t value) {
    add_key(name);
    append_integer(args_, value);
  }

  /// `bound`: the item at whose slice an arrow ends; no_number: the slice tells of none.
  void put_slice(const slice_place& at, std::uint32_t bound = no_number,
                 std::string_view flow = {}) {
    append_integer(line_, at.pid);
    line_ += ",\"tid\":";
    append_integer(line_, at.tid);
    line_ += ",\"ts\":";
    append_us(line_, at.begin - origin_);
    line_ += ",\"dur\":";
    append_us(line_, at.end - at.begin);
    if (bound != no_number) {
      line_ += ",\"bind_id\":";
      append_integer(line_, number_of_bound(bound));
      line_ += ",\"";
      line_ += flow;
      line_ += "\":true";
    }
    line_ += ",\"args\":{";
    line_ += args_;
    line_ += "}},\n";
    take_line();
  }
  /// One end of an arrow: "s", where it starts, or "f". `kind`: as in PyTorch's traces.
  void put_arrow(std::string_view end, std::string_view kind, std::uint64_t number,
                 std::uint32_t pid, std::uint32_t tid, std::int64_t at) {
    line_ += R"({"ph":")";
    line_ += end;
    line_ += end == "f" ? R"(","bp":"e","id":)" : R"(","id":)";
    append_integer(line_, number);
    line_ += R"(,"cat":")";
    line_ += kind;
    line_ += R"(","name":")";
    line_ += kind;
    line_ += R"(","pid":)";
    append_integer(line_, pid);
    line_ += ",\"tid\":";
    append_integer(line_, tid);
    line_ += ",\"ts\":";
    append_us(line_, at - origin_);
    line_ += "},\n";
    take_line();
  }
  void take_line() {
    out_.put(line_);
    line_.clear();
  }

  trace_source& source_;
  const profile& p_;
  std::string_view runtime_category_;
  bool is_kineto_;
  text_sink& out_;
  std::int64_t origin_;
  trace_heads heads_;
  latest_made<slice_text> scopes_, items_;
  std::unordered_map<std::uint32_t, awaited_item> awaited_;  // by the index of the item
  std::uint32_t bound_ = no_number;  // the item that the latest call's own slice leads to
  std::string line_, args_;          // of the slice that is being written
};

}  // namespace detail
KPROF_DETAIL_END

#endif
