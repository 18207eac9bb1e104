// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EXIT_OUTPUTS_HPP
#define KPROF_SESSION_EXIT_OUTPUTS_HPP

// The outputs that are written when the program ends: which KPROF and the program ask for, and how
// they are written. Included by the session. The session calls these without its lock.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_request.hpp>
#include <kprof/report/output/write.hpp>
#include <kprof/report/text.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/file_place.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/program_code.hpp>

#include <algorithm>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What is written, and what the request {"report"} stands for.
struct exit_outputs {
  std::vector<output_request> requests;
  report_options report;
};

inline bool asks_for_main_report(const settings& s) noexcept {
  return std::any_of(s.outputs.begin(), s.outputs.end(), &is_main_report);
}

/// Whether one of the outputs shows single scopes.
[[gnu::cold]] inline bool shows_timeline(const settings& s) {
  return shows_timeline(s.report) ||
         std::any_of(s.outputs.begin(), s.outputs.end(), [](const output_request& request) {
           const request_reading asked(request.output, request.options);
           return asked.what != nullptr && asked.what->shows_timeline != nullptr &&
                  asked.what->shows_timeline(asked.values);
         });
}

/// All that KPROF asks for, then what only the program asks for. The report is as KPROF says where
/// KPROF asks for it, whatever the program has set meanwhile.
[[gnu::cold]] inline exit_outputs outputs_at_exit(const settings& program,
                                                  const settings& environment) {
  exit_outputs out{environment.outputs,
                   asks_for_main_report(environment) ? environment.report : program.report};
  for (const output_request& request : program.outputs)
    if (std::find(out.requests.begin(), out.requests.end(), request) == out.requests.end())
      out.requests.push_back(request);
  return out;
}

[[gnu::cold]] inline status write_report_to_its_path(const profile& run,
                                                     const report_options& options,
                                                     write_time when) {
  destination to(expand_path(options.path), when);
  report_options with_color = options;
  if (!options.color) with_color.color = to.takes_color();
  std::string text;
  if (status s = status_of_program_code([&] { return write_text(run, with_color, text); }); !s)
    return s;
  static_cast<void>(to.append(text));
  return to.close();
}

/// The child of a fork does not write over its parent's file: its path gets the process id, where
/// the settings do not put it anywhere themselves. What is no file, such as a pipe, is shared.
[[gnu::cold]] inline std::string path_in_child(std::string path) {
  if (path.empty() || path.find("%p") != std::string::npos) return path;
  return is_for_file(find_place(path)) ? path + ".%p" : path;
}
[[gnu::cold]] inline void keep_apart_from_parent(settings& s) noexcept {
  const bool had_memory = attempt([&] {
    s.report.path = path_in_child(s.report.path);
    for (output_request& request : s.outputs)
      for (option_setting& given : request.options)
        if (given.name == path_option.name) given.value = path_in_child(given.value);
  });
  if (had_memory) return;
  s.report.path.clear();
  s.outputs.clear();
}

/// The file that a path leads to, however it is spelled: its folder and its name in it. Empty where
/// the path leads to a device, a pipe or an open descriptor.
[[gnu::cold]] inline std::string place_key(const std::string& path) {
  if (path.empty()) return {};
  const file_place place = find_place(expand_path(path));
  if (!is_for_file(place)) return {};
  const std::size_t name = place.path.rfind('/') + 1;
  struct stat folder {};
  const std::string folder_path = name == 0 ? "." : place.path.substr(0, name);
  if (stat(folder_path.c_str(), &folder) != 0) return place.path;
  return std::to_string(folder.st_dev) + ' ' + std::to_string(folder.st_ino) + ' ' +
         place.path.substr(name);
}

/// Writes one output after the other. A mistake concerns its output alone and is a line on standard
/// error: nobody is left to read a status.
[[gnu::cold]] inline void write_at_exit(const profile& run, const exit_outputs& wanted,
                                        bool report_is_printed) {
  std::vector<std::string> paths;
  for (const output_request& request : wanted.requests) {
    const bool is_main = is_main_report(request);
    const std::string path = is_main ? wanted.report.path : path_of(request);
    status s = take_path(paths, path, place_key(path));
    if (s && is_main && report_is_printed) continue;
    if (s)
      s = is_main ? write_report_to_its_path(run, wanted.report, write_time::at_exit)
                  : write_to_its_path(run, request.output, request.options, write_time::at_exit);
    if (!s) tell({shown(request.output), ": ", s.message});
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
