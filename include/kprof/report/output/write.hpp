// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_WRITE_HPP
#define KPROF_REPORT_OUTPUT_WRITE_HPP

// Defines what write.hpp declares, where the session is compiled.

#include <kprof/build_options.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_request.hpp>
#include <kprof/status.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options) {
  const detail::request_reading request(name, options);
  if (!request.error) return request.error;
  detail::destination to(expand_path(request.values.text("path")));
  text_sink sink(
      [](void* where, std::string_view text) -> status {
        return static_cast<detail::destination*>(where)->append(text);
      },
      &to);
  if (status s = request.what->write(run, request.values, sink); !s) return s;
  sink.flush();  // a failure is the destination's too
  return to.close();
}

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options,
                                                std::string& text) {
  const detail::request_reading request(name, options);
  if (!request.error) return request.error;
  std::string out;
  text_sink sink(
      [](void* where, std::string_view more) -> status {
        static_cast<std::string*>(where)->append(more);
        return {};
      },
      &out);
  if (status s = request.what->write(run, request.values, sink); !s) return s;
  sink.flush();
  text = std::move(out);
  return {};
}

KPROF_DETAIL_END

#endif
