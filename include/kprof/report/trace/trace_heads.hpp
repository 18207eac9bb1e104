// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_HEADS_HPP
#define KPROF_REPORT_TRACE_TRACE_HEADS_HPP

// What surrounds the slices of a trace: who made it, the devices, the names of processes and rows,
// and what is left out. Included by trace.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/row_names.hpp>
#include <kprof/report/trace/time_order.hpp>

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
    append_process(out, places_.pid(), name_of_program(p_), "CPU", 0);
    for (std::size_t i = 0; i < p_.threads.size(); ++i)
      append_row(out, places_.pid(), places_.tid(i), name_of_thread(p_, i), i);
    for (const std::uint32_t device : places_.devices()) {
      append_process(out, places_.pid_of_device(device), name_of_device(p_, device),
                     "GPU " + std::to_string(device), 1 + device);
    }
    for (const traced_stream& s : places_.streams())
      append_row(out, s.pid, s.tid, name_of_stream(s), s.stream);
    return out;
  }

  /// The name of a row beside a thread's or a stream's first.
  std::string further_row(std::uint32_t thread, std::size_t row, std::uint32_t tid) const {
    std::string out;
    append_row(out, places_.pid(), tid, numbered_row(name_of_thread(p_, thread), row), thread);
    return out;
  }
  std::string further_row(const traced_stream& stream, std::size_t row, std::uint32_t tid) const {
    std::string out;
    append_row(out, stream.pid, tid, numbered_row(name_of_stream(stream), row), stream.stream);
    return out;
  }

  /// All behind the last slice. What is left out is counted, as is what the profile lacks itself.
  std::string ending(const trace_gaps& gaps) const {
    std::string out = R"({"ph":"M","name":"process_sort_index","pid":)";
    append_integer(out, places_.pid());
    out += ",\"tid\":0,\"ts\":0,\"args\":{\"sort_index\":0}}\n],\n\"kprof\":{";
    json_members all(out);
    add_what_is_missing(p_, gaps, all);
    return out + "}}\n";
  }

 private:
  void append_properties(std::string& out, std::uint32_t device) const {
    out += '{';
    json_members of(out);
    of.integer("id", places_.pid_of_device(device));
    add_device(p_, device, of);
    out += '}';
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
