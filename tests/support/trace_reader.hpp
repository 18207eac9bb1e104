// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TRACE_READER_HPP
#define KPROF_TESTS_TRACE_READER_HPP

// Reads a Chrome trace back with Boost.JSON and says what a viewer would not show as it is.

#include <kprof/profile.hpp>
#include <kprof/report/write.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kprof_test {

using row_number = std::pair<std::int64_t, std::int64_t>;  // pid and tid

inline std::int64_t whole(const boost::json::value& number) {
  return static_cast<std::int64_t>(std::llround(number.to_number<double>()));
}
inline std::int64_t ns(const boost::json::value& us) {
  return static_cast<std::int64_t>(std::llround(us.to_number<double>() * 1000));
}

struct trace_slice {
  std::string category, name;
  row_number row;
  std::int64_t begin = 0, end = 0;
  boost::json::object args;

  std::int64_t number(const char* key) const {
    return args.contains(key) ? whole(args.at(key)) : -1;
  }
  double real(const char* key) const {
    return args.contains(key) ? args.at(key).to_number<double>() : -1;
  }
  std::string text(const char* key) const {
    return args.contains(key) ? std::string{args.at(key).as_string()} : "(none)";
  }
};

struct arrow_end {
  std::int64_t id = 0;
  row_number row;
  std::int64_t at = 0;
};

struct counter_point {
  std::string name;
  std::int64_t pid = 0;
  std::int64_t at = 0;
  double value = 0;
};

/// A trace as its viewers have it.
struct read_trace {
  boost::json::object top;
  std::vector<trace_slice> slices;
  std::vector<arrow_end> starts, ends;
  std::vector<counter_point> points;
  std::map<std::int64_t, std::string> processes;
  std::map<row_number, std::string> rows;

  explicit read_trace(const std::string& text) {
    top = boost::json::parse(text).as_object();
    for (const boost::json::value& v : top.at("traceEvents").as_array()) add(v.as_object());
  }

  std::vector<trace_slice> called(const std::string& name) const {
    std::vector<trace_slice> out;
    for (const trace_slice& s : slices)
      if (s.name == name) out.push_back(s);
    return out;
  }
  std::vector<trace_slice> of(const std::string& category) const {
    std::vector<trace_slice> out;
    for (const trace_slice& s : slices)
      if (s.category == category) out.push_back(s);
    return out;
  }
  std::string row_of(const trace_slice& s) const { return rows.at(s.row); }

  /// Slices that cross another of their row, or on a device's row run beside one.
  std::vector<std::string> crossing() const {
    std::map<row_number, std::vector<const trace_slice*>> by_row;
    for (const trace_slice& s : slices) by_row[s.row].push_back(&s);
    std::vector<std::string> out;
    for (auto& [row, all] : by_row) {
      std::stable_sort(all.begin(), all.end(), [](const trace_slice* a, const trace_slice* b) {
        return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
      });
      std::vector<const trace_slice*> open;
      for (const trace_slice* s : all) {
        while (!open.empty() && open.back()->end <= s->begin) open.pop_back();
        const bool on_device = s->args.contains("stream");
        if (!open.empty() && (open.back()->end < s->end || on_device))
          out.push_back(s->name + " at " + std::to_string(s->begin));
        open.push_back(s);
      }
    }
    return out;
  }
  /// Arrows that no viewer draws: an end without a start before it, or in no slice.
  std::vector<std::string> loose_arrows() const {
    std::vector<std::string> out;
    std::map<std::int64_t, std::int64_t> started;
    for (const arrow_end& a : starts) {
      const bool is_new = started.emplace(a.id, a.at).second;
      if (!is_new) out.push_back("two starts of " + std::to_string(a.id));
      if (!in_slice(a)) out.push_back("start in no slice: " + std::to_string(a.id));
    }
    for (const arrow_end& a : ends) {
      if (!started.count(a.id)) out.push_back("no start of " + std::to_string(a.id));
      if (!in_slice(a)) out.push_back("end in no slice: " + std::to_string(a.id));
    }
    return out;
  }

 private:
  bool in_slice(const arrow_end& a) const {
    return std::any_of(slices.begin(), slices.end(), [&](const trace_slice& s) {
      return s.row == a.row && s.begin <= a.at && a.at < s.end;
    });
  }

  void add(const boost::json::object& e) {
    const std::string phase{e.at("ph").as_string()}, name{e.at("name").as_string()};
    const row_number row{whole(e.at("pid")), e.contains("tid") ? whole(e.at("tid")) : 0};
    if (phase == "X") {
      const std::int64_t begin = ns(e.at("ts"));
      slices.push_back({std::string{e.at("cat").as_string()}, name, row, begin,
                        begin + ns(e.at("dur")), e.at("args").as_object()});
      const auto has = [&](const char* key) { return e.contains(key) && e.at(key).as_bool(); };
      if (has("flow_out")) starts.push_back({whole(e.at("bind_id")), row, begin});
      if (has("flow_in")) ends.push_back({whole(e.at("bind_id")), row, begin});
    } else if (phase == "s") {
      starts.push_back({whole(e.at("id")), row, ns(e.at("ts"))});
    } else if (phase == "f") {
      ends.push_back({whole(e.at("id")), row, ns(e.at("ts"))});
    } else if (phase == "C") {
      for (const auto& [key, value] : e.at("args").as_object())
        points.push_back(
            {name + ' ' + std::string{key}, row.first, ns(e.at("ts")), value.to_number<double>()});
    } else if (name == "process_name") {
      processes[row.first] = std::string{e.at("args").as_object().at("name").as_string()};
    } else if (name == "thread_name") {
      rows[row] = std::string{e.at("args").as_object().at("name").as_string()};
    }
  }
};

/// With no options as a file of any name has it: short.
inline std::string trace_text(const kprof::profile& p,
                              std::vector<kprof::option_setting> options = {}) {
  std::string text;
  const kprof::status s = kprof::write(p, "trace", options, text);
  return s ? text : s.message;
}

}  // namespace kprof_test

#endif
