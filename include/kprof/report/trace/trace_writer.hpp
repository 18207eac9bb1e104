// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_WRITER_HPP
#define KPROF_REPORT_TRACE_TRACE_WRITER_HPP

// Writes the slices, arrows and curves of a trace. Included by trace.hpp. Memory does not grow with
// the timeline.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/trace/held_call.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/node_facts.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/slice_texts.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/report/trace/trace_curves.hpp>
#include <kprof/report/trace/trace_heads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class trace_writer {
  static constexpr std::size_t no_row = most_trace_rows;
  static constexpr std::uint32_t no_number = 0xFFFFFFFFU;

 public:
  trace_writer(const profile& p, std::string_view runtime_category, text_sink& out)
      : p_(p),
        runtime_category_(runtime_category),
        out_(out),
        events_(p),
        places_(p),
        heads_(p, places_),
        facts_(p),
        texts_(p, facts_),
        curves_(places_.devices(), events_.first(), events_.last()),
        held_(p.threads.size()),
        has_launches_(!p.device.timeline.items.empty()) {}

  void write() {
    out_.put(heads_.beginning(events_.origin()));
    events_.each([this](const trace_event& e) { add(e); });
    for (std::uint32_t thread = 0; thread < held_.size(); ++thread) release(thread);
    curves_.put(places_, events_.origin(), out_);
    trace_gaps gaps = events_.gaps();
    gaps.crowded = crowded_;
    out_.put(heads_.ending(gaps));
  }

 private:
  void take_line() {
    out_.put(line_);
    line_.clear();
  }

  void add(const trace_event& e) {
    switch (e.kind) {
      case trace_kind::step: return add_step(e);
      case trace_kind::scope: return add_scope(e);
      case trace_kind::call: return add_call(e);
      case trace_kind::launch: return add_launch(e);
      case trace_kind::item: return add_item(e);
    }
  }

  // ---- the host

  /// Writes the call that the thread holds, unless it lies in what is to come.
  void make_way(std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    held_call& held = held_[thread];
    if (!held.holds) return;
    if (begin < held.end && end >= held.end) return;
    release(thread);
  }
  /// What has just been written around the call that the thread holds began then.
  void keep_inside(std::uint32_t thread, std::int64_t begin) {
    held_call& held = held_[thread];
    if (held.holds) held.begin = std::max(held.begin, begin);
  }

  void add_step(const trace_event& e) {
    const std::uint32_t thread = p_.steps[e.index].thread;
    // TensorBoard adds in floating numbers: a step must not seem to reach into the next one.
    const auto us = [](std::int64_t ns) { return static_cast<double>(ns) / 1000; };
    const bool seems_longer = us(e.begin) + us(e.end - e.begin) > us(e.end);
    const std::int64_t end = seems_longer && runtime_category_ == "Runtime" ? e.end - 1 : e.end;
    make_way(thread, e.begin, end);
    slice_texts::append_head(line_, "user_annotation",
                             "ProfilerStep#" + std::to_string(p_.steps[e.index].index));
    args_.clear();
    put_on_thread(thread, e.begin, {end, scope_node::none, 0});
    keep_inside(thread, e.begin);
  }

  void add_scope(const trace_event& e) {
    const std::uint32_t node = p_.timeline[e.index].node;
    const std::uint32_t thread = p_.nodes[node].thread;
    make_way(thread, e.begin, e.end);
    const slice_text& text = texts_.scope(node);
    line_ += text.head;
    args_ = text.args;
    const bool is_op = p_.nodes[node].kind == scope_kind::op;
    const std::uint64_t id = is_op && has_launches_ ? std::uint64_t{e.index} + 1 : 0;
    if (id != 0) add_number("External id", id);
    const auto ns = static_cast<double>(e.end - e.begin);
    if (text.ideal_ns > 0 && ns > 0) {
      add_key("% of roof");
      append_rounded(args_, 100 * text.ideal_ns / ns);
    }
    curves_.add_host(e.begin, e.end, text.host);
    put_on_thread(thread, e.begin, {e.end, node, id});
    keep_inside(thread, e.begin);
  }

  void add_call(const trace_event& e) {
    const host_call& call = p_.device.timeline.calls[e.index];
    release(call.thread);
    held_call& held = held_[call.thread];
    held.holds = true;
    held.begin = held.called = e.begin;
    held.end = e.end;
    held.function = call.name;
    held.scope = call.scope;
    // Profiles do not have it. HTA wants different ones.
    held.correlation = (std::uint64_t{1} << 32U) + e.index;
    held.items.clear();
    held.may_launch = may_launch(call);
  }

  void add_launch(const trace_event& e) {
    const device_item& item = p_.device.timeline.items[e.index];
    const device_work& work = p_.device.work[item.work];
    held_call& held = held_[item.thread];
    const bool same_call =
        held.holds && held.called == e.begin &&
        (held.launched() ? held.correlation == item.correlation : held.may_launch);
    if (!same_call) {
      release(item.thread);
      held.holds = true;
      held.begin = held.called = e.begin;
      held.end = e.end;
      held.function = held_call::none;
      held.items.clear();
    }
    if (!held.launched()) held.scope = work.scope;
    held.correlation = item.correlation;
    held.items.push_back(e.index);
    if (is_queued(item)) curves_.add_queued(work.device, e.begin, 1);
  }
  /// Whether the launch waited at all, by clocks that may differ.
  static bool is_queued(const device_item& item) noexcept {
    return item.end >= item.start && item.start > item.call_begin;
  }

  /// Writes the call that the thread holds, within what is around it.
  void release(std::uint32_t thread) {
    held_call& held = held_[thread];
    if (!held.holds) return;
    held.holds = false;
    thread_rows& rows = places_.rows(thread);
    const std::uint64_t id =
        held.launched() ? rows.find(facts_.launcher(held.scope), held.begin) : 0;
    if (const std::int64_t around = rows.innermost_end(held.begin); around > held.begin)
      held.end = std::min(held.end, around);
    const std::string name = name_of(held);
    slice_texts::append_head(line_, category_of(name), name);
    args_.clear();
    if (id != 0) add_number("External id", id);
    add_number("correlation", held.correlation);
    const bool is_there = put_on_thread(thread, held.begin, {held.end, scope_node::none, 0});
    for (const std::uint32_t index : held.items) {
      const device_item& item = p_.device.timeline.items[index];
      const std::int64_t end = events_.time(item.end);
      const bool has_arrow =
          is_there && held.end > held.begin && end > events_.time(item.start) && end > held.begin;
      if (has_arrow)
        put_arrow("s", arrow_of(item, index), places_.pid(), places_.tid(thread), held.begin);
      if (item.end < item.start) continue;
      const auto [at, is_new] = awaited_.try_emplace(index);
      at->second.id = id;
      at->second.launched = has_arrow ? held.begin : -1;
      if (is_new) continue;
      put_item(index, at->second);
      awaited_.erase(at);
    }
  }

  /// As clients know it: without CUDA's suffixes, "cudaGraphLaunch_v10000".
  std::string name_of(const held_call& held) const {
    if (held.function < p_.device.functions.size()) {
      const std::string& name = p_.device.functions[held.function];
      const std::size_t version = name.rfind("_v");
      const bool has_version =
          version != std::string::npos && version + 2 < name.size() &&
          name.find_first_not_of("0123456789", version + 2) == std::string::npos;
      return has_version ? name.substr(0, version) : name;
    }
    if (!held.launched()) return "(unknown function)";
    const device_item& item = p_.device.timeline.items[held.items.front()];
    if (item.graph) return "cudaGraphLaunch";
    const device_task task = p_.device.work[item.work].task;
    return task == device_task::kernel ? "cudaLaunchKernel"
           : task == device_task::copy ? "cudaMemcpyAsync"
                                       : "cudaMemsetAsync";
  }
  std::string_view category_of(std::string_view function) const noexcept {
    const bool is_driver = function.starts_with("cu") && !function.starts_with("cuda");
    return is_driver && runtime_category_ == "cuda_runtime" ? "cuda_driver" : runtime_category_;
  }

  /// Writes the slice whose head is in `line_`.
  bool put_on_thread(std::uint32_t thread, std::int64_t begin, const open_slice& slice) {
    const std::size_t row = places_.rows(thread).place(begin, slice);
    if (row == no_row) {
      ++crowded_;
      line_.clear();
      return false;
    }
    const row_number number = places_.number_of_row(thread, row);
    if (number.is_new) out_.put(heads_.further_row(thread, row, number.tid));
    put_slice(places_.pid(), number.tid, begin, slice.end);
    return true;
  }

  // ---- devices

  void add_item(const trace_event& e) {
    const device_item& item = p_.device.timeline.items[e.index];
    const device_work& work = p_.device.work[item.work];
    traced_stream& stream = places_.stream(work.device, item.stream);
    const bool is_launched = has_launch(p_, item);
    if (is_launched && is_queued(item)) curves_.add_queued(work.device, e.begin, -1);
    curves_.add_device(work.device, e.begin, e.end, texts_.item(item.work).per_ns);
    awaited_item here;
    if (const std::size_t row = stream.rows.place(e.begin, e.end); row != no_row) {
      const row_number number = places_.number_of_row(stream, row);
      if (number.is_new) out_.put(heads_.further_row(stream, row, number.tid));
      here.tid = number.tid;
    } else {
      ++crowded_;
      here.tid = no_number;
    }
    if (!is_launched) return put_item(e.index, here);
    const auto [at, is_new] = awaited_.try_emplace(e.index, here);
    if (is_new) return;
    at->second.tid = here.tid;
    put_item(e.index, at->second);
    awaited_.erase(at);
  }

  void put_item(std::uint32_t index, const awaited_item& known) {
    if (known.tid == no_number) return;
    const device_item& item = p_.device.timeline.items[index];
    const device_work& work = p_.device.work[item.work];
    const traced_stream& stream = places_.stream(work.device, item.stream);
    const slice_text& text = texts_.item(item.work);
    const std::int64_t begin = events_.time(item.start), end = events_.time(item.end);
    line_ += text.head;
    args_ = text.args;
    if (known.id != 0) add_number("External id", known.id);
    add_number("device", stream.pid);
    add_number("stream", known.tid);
    if (item.correlation != 0) add_number("correlation", item.correlation);
    if (work.task != device_task::kernel && item.bytes > 0) {
      add_number("bytes", item.bytes);
      if (end > begin) {
        add_key("memory bandwidth (GB/s)");
        append_rounded(args_, static_cast<double>(item.bytes) / static_cast<double>(end - begin));
      }
    }
    put_slice(stream.pid, known.tid, begin, end);
    if (known.launched >= 0)
      put_arrow("f", arrow_of(item, index), stream.pid, known.tid, std::max(begin, known.launched));
  }

  // ---- text

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

  void put_slice(std::uint32_t pid, std::uint32_t tid, std::int64_t begin, std::int64_t end) {
    append_integer(line_, pid);
    line_ += ",\"tid\":";
    append_integer(line_, tid);
    line_ += ",\"ts\":";
    append_us(line_, begin - events_.origin());
    line_ += ",\"dur\":";
    append_us(line_, end - begin);
    line_ += ",\"args\":{";
    line_ += args_;
    line_ += "}},\n";
    take_line();
  }
  /// One end of an arrow: "s", where it starts, or "f".
  void put_arrow(std::string_view end, std::uint64_t number, std::uint32_t pid, std::uint32_t tid,
                 std::int64_t at) {
    line_ += R"({"ph":")";
    line_ += end;
    line_ += end == "f" ? R"(","bp":"e","id":)" : R"(","id":)";
    append_integer(line_, number);
    line_ += R"(,"cat":"ac2g","name":"ac2g","pid":)";
    append_integer(line_, pid);
    line_ += ",\"tid\":";
    append_integer(line_, tid);
    line_ += ",\"ts\":";
    append_us(line_, at - events_.origin());
    line_ += "},\n";
    take_line();
  }

  const profile& p_;
  std::string_view runtime_category_;
  text_sink& out_;
  time_order events_;
  trace_places places_;
  trace_heads heads_;
  node_facts facts_;
  slice_texts texts_;
  trace_curves curves_;
  std::vector<held_call> held_;                              // by thread
  std::unordered_map<std::uint32_t, awaited_item> awaited_;  // by the index of the item
  bool has_launches_;
  std::uint64_t crowded_ = 0;
  std::string line_, args_;  // of the slice that is being written
};

}  // namespace detail
KPROF_DETAIL_END

#endif
