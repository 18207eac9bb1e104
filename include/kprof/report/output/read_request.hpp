// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_READ_REQUEST_HPP
#define KPROF_REPORT_OUTPUT_READ_REQUEST_HPP

// Finds the output that a request names and checks its options. Pure, but for the registered
// outputs.

#include <kprof/build_options.hpp>
#include <kprof/model/nearest_word.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_option.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The option that every output has.
inline constexpr option path_option{
    .name = "path",
    .form = "FILE",
    .meaning =
        "file to write, which is replaced; in it `%p` is the process id, `%h` the host and `%r` "
        "the MPI rank. Standard output where it is empty"};

inline const option* find_option(const output& of, std::string_view name) noexcept {
  if (name == path_option.name) return &path_option;
  for (const option& o : of.options)
    if (name == o.name) return &o;
  return nullptr;
}

[[gnu::cold]] inline status unknown_option(const output& of, const std::string& written) {
  std::string valid = usage(path_option);
  for (const option& o : of.options) valid.append(", ").append(usage(o));
  std::vector<std::string> names{path_option.name};
  for (const option& o : of.options) names.emplace_back(o.name);
  return {"unknown option '" + shown(written) + "' of " + of.name + "; " +
          before_valid_words(written.substr(0, written.find('=')), names) + valid};
}

/// "report(...), csv(...)".
[[gnu::cold]] inline std::string output_list() {
  std::string all;
  for (const output* o : outputs()) all.append(all.empty() ? "" : ", ").append(o->name) += "(...)";
  return all;
}

[[gnu::cold]] inline std::vector<std::string> output_names() {
  std::vector<std::string> names;
  for (const output* o : outputs()) names.emplace_back(o->name);
  return names;
}

/// How an output of kprof gets into the program that asks for it. KPROF_DETAIL_ALL_OUTPUTS: the
/// session is compiled with all of them.
[[gnu::cold]] inline std::string how_to_add([[maybe_unused]] std::string_view name) {
#ifdef KPROF_DETAIL_ALL_OUTPUTS
  return {};
#else
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  return "; if it is one of kprof's, include <kprof/report/" +
         std::string{is_word && !name.empty() && name.size() < 40 ? name : "NAME"} +
         ".hpp> or link kprof::session";
#endif
}

[[gnu::cold]] inline status unknown_output(std::string_view name) {
  return {"unknown output '" + shown(name) + "'; " +
          before_valid_words(name, output_names(), "this program has") + output_list() +
          how_to_add(name)};
}

/// An output and the values of all its options, or what is wrong with the request.
struct request_reading {
  const output* what = nullptr;
  option_values values;
  status error;

  [[gnu::cold]] request_reading(std::string_view name, const std::vector<option_setting>& given)
      : what(find_output(name)) {
    if (what == nullptr) {
      error = unknown_output(name);
      return;
    }
    std::vector<option_value> all{default_of(path_option)};
    for (const option& o : what->options) all.push_back(default_of(o));
    for (const option_setting& setting : given) set(setting, all);
    values = option_values(std::move(all));
  }

 private:
  void set(const option_setting& given, std::vector<option_value>& all) {
    const option* const of = find_option(*what, given.name);
    option_reading reading;
    if (of != nullptr) reading = read_option(*of, given.value);
    if (error && of == nullptr) error = unknown_option(*what, given.name + '=' + given.value);
    else if (error && !reading.valid) error = {reading.complaint};
    for (option_value& value : all)
      if (value.of == of) value = std::move(reading.value);
  }
};

/// The request that stands for the options of the session's own report.
inline bool is_main_report(const output_request& request) noexcept {
  return request.output == "report" && request.options.empty();
}

/// The file that a request names; empty: none.
[[gnu::cold]] inline std::string path_of(const output_request& request) {
  std::string path;
  for (const option_setting& given : request.options)
    if (given.name == path_option.name) path = given.value;
  return path;
}

/// Adds a path to those of other outputs, which it must differ from. `place`: where it leads to;
/// empty where several may write.
[[gnu::cold]] inline status take_path(std::vector<std::string>& taken, const std::string& path,
                                      const std::string& place) {
  if (place.empty()) return {};
  if (std::find(taken.begin(), taken.end(), place) != taken.end())
    return {"another output writes to \"" + shown(path) + "\" already; choose another path"};
  taken.push_back(place);
  return {};
}
/// By what is written alone.
[[gnu::cold]] inline status take_path(std::vector<std::string>& taken, const std::string& path) {
  return take_path(taken, path, path);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
