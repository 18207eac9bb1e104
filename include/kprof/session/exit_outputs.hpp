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
#include <kprof/report/text.hpp>
#include <kprof/report/write.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstdio>
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

/// All that KPROF asks for, then what only the program asks for. The report is as KPROF says where
/// KPROF asks for it, whatever the program has set meanwhile.
inline exit_outputs outputs_at_exit(const settings& program, const settings& environment) {
  exit_outputs out{environment.outputs,
                   asks_for_main_report(environment) ? environment.report : program.report};
  for (const output_request& request : program.outputs)
    if (std::find(out.requests.begin(), out.requests.end(), request) == out.requests.end())
      out.requests.push_back(request);
  return out;
}

inline status write_report_to_its_path(const profile& run, const report_options& options) {
  std::string text;
  status s = write_text(run, options, text);
  return s ? write_output(expand_path(options.path), text) : s;
}

/// Writes one output after the other. A mistake concerns its output alone and is a line on standard
/// error: nobody is left to read a status.
inline void write_at_exit(const profile& run, const exit_outputs& wanted, bool report_is_printed) {
  std::vector<std::string> paths;
  for (const output_request& request : wanted.requests) {
    const bool is_main = is_main_report(request);
    const std::string path = is_main ? wanted.report.path : path_of(request);
    status s = take_path(paths, path);
    if (s && is_main && report_is_printed) continue;
    if (s)
      s = is_main ? write_report_to_its_path(run, wanted.report)
                  : write(run, request.output, request.options);
    if (!s)
      std::fprintf(stderr, "kprof: %s: %s\n", shown(request.output).c_str(), s.message.c_str());
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
