// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_HEADS_HPP
#define KPROF_REPORT_TRACE_TRACE_HEADS_HPP

// What surrounds the slices of a trace: who made it, the devices, the names of processes and rows,
// and what is left out. Included by trace.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/write/version_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

class trace_heads {
 public:
  trace_heads(const profile& p, trace_places& places) : p_(p), places_(places) {}

  /// All up to the first slice. `origin`: the zero of its times, since the session's start.
  std::string beginning(std::int64_t origin) {
    std::string out = R"({"schemaVersion":1,"displayTimeUnit":"ms","baseTimeNanoseconds":)";
    append_integer(out, p_.clock.start_realtime_ns + static_cast<std::uint64_t>(origin));
    out += ",\"deviceProperties\":[";
    for (const std::uint32_t device : places_.devices()) {
      if (out.back() != '[') out += ',';
      append_properties(out, device);
    }
    out += "],\n\"traceEvents\":[\n";
    const std::string program = p_.program.empty() ? "program" : p_.program;
    append_process(out, places_.pid(), program, "CPU", 0);
    for (std::size_t i = 0; i < p_.threads.size(); ++i)
      append_row(out, places_.pid(), places_.tid(i), name_of_thread(i), i);
    for (const std::uint32_t device : places_.devices()) {
      const device_info* const info = described(device);
      append_process(out, places_.pid_of_device(device),
                     "GPU " + std::to_string(device) + (info == nullptr ? "" : ' ' + info->name),
                     "GPU " + std::to_string(device), 1 + device);
    }
    for (const traced_stream& s : places_.streams())
      append_row(out, s.pid, s.tid, name_of(s), s.stream);
    return out;
  }

  /// The name of a row beside a thread's or a stream's first.
  std::string further_row(std::uint32_t thread, std::size_t row, std::uint32_t tid) const {
    std::string out;
    append_row(out, places_.pid(), tid, numbered(name_of_thread(thread), row), thread);
    return out;
  }
  std::string further_row(const traced_stream& stream, std::size_t row, std::uint32_t tid) const {
    std::string out;
    append_row(out, stream.pid, tid, numbered(name_of(stream), row), stream.stream);
    return out;
  }

  /// All behind the last slice. What is left out is counted, as is what the profile lacks itself.
  std::string ending(const trace_gaps& gaps) const {
    std::string out = R"({"ph":"M","name":"process_sort_index","pid":)";
    append_integer(out, places_.pid());
    out += ",\"tid\":0,\"ts\":0,\"args\":{\"sort_index\":0}}\n],\n\"kprof\":{";
    json_members all(out);
    all.text("version", version_text());
    all.integer("scopes", p_.timeline.size());
    all.integer("scopes recorded", p_.complete.recorded);
    all.integer("scopes dropped", p_.complete.dropped);
    all.integer("device items", p_.device.timeline.items.size());
    all.integer("device items dropped", p_.device.timeline.dropped_items);
    all.integer("calls dropped", p_.device.timeline.dropped_calls);
    all.integer("left out without time", gaps.untimed);
    all.integer("left out without place", gaps.unplaced);
    all.integer("left out for want of rows", gaps.crowded);
    return out + "}}\n";
  }

 private:
  const device_info* described(std::uint32_t device) const noexcept {
    for (const device_info& d : p_.device.devices)
      if (d.id == device) return &d;
    return nullptr;
  }

  void append_properties(std::string& out, std::uint32_t device) const {
    const device_info* const d = described(device);
    out += '{';
    json_members of(out);
    of.integer("id", places_.pid_of_device(device));
    of.text("name", d == nullptr ? std::string_view{"GPU"} : std::string_view{d->name});
    if (d != nullptr && d->described) {
      of.integer("totalGlobalMem", d->memory_bytes);
      of.integer("computeMajor", d->compute_major);
      of.integer("computeMinor", d->compute_minor);
      of.integer("numSms", d->multiprocessors);
    }
    out += '}';
  }

  std::string name_of_thread(std::size_t thread) const {
    const thread_info& t = p_.threads[thread];
    if (t.merged > 0) return std::to_string(t.merged) + " threads kept together";
    return t.name.empty() ? "thread " + std::to_string(t.id) : t.name;
  }
  static std::string name_of(const traced_stream& s) {
    return "stream " + std::to_string(s.stream);
  }
  static std::string numbered(const std::string& name, std::size_t row) {
    return name + " (" + std::to_string(row + 1) + ')';
  }

  static void begin_meta(std::string& out, std::string_view what, std::uint32_t pid,
                         std::uint32_t tid) {
    out += R"({"ph":"M","name":")";
    out += what;
    out += R"(","pid":)";
    append_integer(out, pid);
    out += ",\"tid\":";
    append_integer(out, tid);
    out += ",\"ts\":0,\"args\":{";
  }
  static void append_process(std::string& out, std::uint32_t pid, std::string_view name,
                             std::string_view label, std::uint64_t order) {
    begin_meta(out, "process_name", pid, 0);
    json_members(out).text("name", name);
    out += "}},\n";
    begin_meta(out, "process_labels", pid, 0);
    json_members(out).text("labels", label);
    out += "}},\n";
    begin_meta(out, "process_sort_index", pid, 0);
    json_members(out).integer("sort_index", order);
    out += "}},\n";
  }
  static void append_row(std::string& out, std::uint32_t pid, std::uint32_t tid,
                         std::string_view name, std::uint64_t order) {
    begin_meta(out, "thread_name", pid, tid);
    json_members(out).text("name", name);
    out += "}},\n";
    begin_meta(out, "thread_sort_index", pid, tid);
    json_members(out).integer("sort_index", order);
    out += "}},\n";
  }

  const profile& p_;
  trace_places& places_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
