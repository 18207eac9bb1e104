// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_WRITE_HPP
#define KPROF_REPORT_OUTPUT_WRITE_HPP

// Defines what write.hpp declares, where the session is compiled.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_request.hpp>
#include <kprof/status.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/program_code.hpp>
#include <kprof/write/within_memory.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The file for an output without a path that would fill a terminal with what nobody reads there;
/// empty: standard output gets it.
[[gnu::cold]] inline std::string file_instead_of_terminal(const profile& run,
                                                          const request_reading& request) {
  if (!request.values.text("path").empty() || request.what->file_ending == nullptr ||
      isatty(STDOUT_FILENO) != 1)
    return {};
  std::string name = run.program.empty() ? "kprof" : run.program.substr(0, 100);
  for (char& c : name)
    if (c == '/' || c == '\0') c = '_';
  name += expand_path(".%p");
  // Nobody has chosen the name: what is there, a link too, is not the program's to replace.
  struct stat there {};
  const auto file = [&](int n) {
    return name + (n > 1 ? '-' + std::to_string(n) : "") + '.' + request.what->file_ending;
  };
  int n = 1;
  while (lstat(file(n).c_str(), &there) == 0) ++n;
  return file(n);
}

/// Has the output write, which may be the program's own.
[[gnu::cold]] inline status output_called(const request_reading& request, const profile& run,
                                          text_sink& sink) {
  return status_of_program_code([&] { return request.what->write(run, request.values, sink); });
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_to_its_path(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    write_time when) {
  const request_reading request(name, options);
  if (!request.error) return request.error;
  if (status s = snapshot_error(run.state); !s) return s;
  const std::string own_file = file_instead_of_terminal(run, request);
  destination to(own_file.empty() ? expand_path(request.values.text("path")) : own_file, when);
  text_sink sink(
      [](void* where, std::string_view text) -> status {
        return static_cast<destination*>(where)->append(text);
      },
      &to, to.takes_color());
  if (status s = output_called(request, run, sink); !s) return s;
  sink.flush();  // a failure is the destination's too
  const status done = to.close();
  if (done && !own_file.empty())
    tell({"the output ", request.what->name, " is in ", shown(own_file).c_str(),
          "; path=FILE names another file"});
  return done;
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_text_of(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    std::string& text) {
  const request_reading request(name, options);
  if (!request.error) return request.error;
  if (status s = snapshot_error(run.state); !s) return s;
  std::string out;
  text_sink sink(
      [](void* where, std::string_view more) -> status {
        static_cast<std::string*>(where)->append(more);
        return {};
      },
      &out);
  if (status s = output_called(request, run, sink); !s) return s;
  sink.flush();
  text = std::move(out);
  return {};
}

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options) {
  const detail::hold_cancellation hold;
  return detail::within_memory(
      [&] { return detail::write_to_its_path(run, name, options, detail::write_time::now); });
}

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options,
                                                std::string& text) {
  const detail::hold_cancellation hold;
  return detail::within_memory([&] { return detail::write_text_of(run, name, options, text); });
}

KPROF_DETAIL_END

#endif
