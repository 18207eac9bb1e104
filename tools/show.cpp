// SPDX-License-Identifier: MIT
#include "show.hpp"

#include <kprof/kprof.hpp>
#include <kprof/write/printable.hpp>

#if __has_include(<boost/json/src.hpp>)
#include <boost/json/src.hpp>

#include <kprof/report/load.hpp>
#define KPROF_DETAIL_TOOL_LOADS 1
#else
#define KPROF_DETAIL_TOOL_LOADS 0
#endif

#include <cstdio>
#include <string>
#include <vector>

namespace kprof_tool {
namespace {

int complain(int code, const std::string& what) {
  std::fprintf(stderr, "kprof show: %s\n", kprof::detail::one_line(what).c_str());
  return code;
}

/// What is to be written; in `errors` what is wrong with it.
std::vector<kprof::output_request> requests_of(const std::vector<std::string>& outputs,
                                               std::vector<std::string>& errors) {
  if (outputs.empty()) return {{"report"}};
  std::vector<kprof::output_request> all;
  for (const std::string& text : outputs) {
    const kprof::parsed_settings parsed = kprof::settings::parse(text);
    errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
    if (parsed.errors.empty() && parsed.value.outputs.empty())
      errors.push_back('"' + text + "\" asks for no output; write --output \"report(top=10)\"");
    all.insert(all.end(), parsed.value.outputs.begin(), parsed.value.outputs.end());
  }
  return all;
}

}  // namespace

int show(const std::string& file, const std::vector<std::string>& outputs) {
  std::vector<std::string> errors;
  const std::vector<kprof::output_request> requests = requests_of(outputs, errors);
  for (const std::string& error : errors) complain(2, error);
  if (!errors.empty()) return 2;
#if KPROF_DETAIL_TOOL_LOADS
  const kprof::loaded_profile loaded = kprof::load(file);
  if (!loaded) return complain(1, loaded.result.message);
  int code = 0;
  for (const kprof::output_request& request : requests)
    if (const kprof::status s = kprof::write(loaded.run, request.output, request.options); !s)
      code = complain(1, request.output + ": " + s.message);
  return code;
#else
  return complain(1, '"' + file +
                         "\" cannot be read: this kprof was built without Boost.JSON; build it "
                         "where the headers of Boost 1.75 or later are whole");
#endif
}

}  // namespace kprof_tool
