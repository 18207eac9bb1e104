// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_WRITE_HPP
#define KPROF_REPORT_OUTPUT_WRITE_HPP

// Defines what write.hpp declares, where the session is compiled.

#include <kprof/build_options.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/read_request.hpp>
#include <kprof/status.hpp>
#include <kprof/write/within_memory.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_to_its_path(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    write_time when) {
  const request_reading request(name, options);
  if (!request.error) return request.error;
  destination to(expand_path(request.values.text("path")), when);
  text_sink sink(
      [](void* where, std::string_view text) -> status {
        return static_cast<destination*>(where)->append(text);
      },
      &to, to.takes_color());
  if (status s = request.what->write(run, request.values, sink); !s) return s;
  sink.flush();  // a failure is the destination's too
  return to.close();
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_text_of(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    std::string& text) {
  const request_reading request(name, options);
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
