// SPDX-License-Identifier: MIT
#include "show.hpp"

#include "saved_file.hpp"

#include <kprof/kprof.hpp>
#include <kprof/write/printable.hpp>

#include <cstdio>
#include <filesystem>
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
  std::vector<kprof::output_request> all;
  for (const std::string& text : outputs) {
    // The first report of settings is the session's own, whose options are no request's.
    const kprof::parsed_settings parsed = kprof::settings::parse("report," + text);
    const std::vector<kprof::output_request>& given = parsed.value.outputs;
    errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
    if (parsed.errors.empty() && given.size() < 2)
      errors.push_back('"' + text + "\" asks for no output; write --output \"report(top=10)\"");
    if (given.size() > 1) all.insert(all.end(), given.begin() + 1, given.end());
  }
  return all;
}

/// "runs/a.html" for "runs/a.json" and "runs/a.json.gz".
std::string page_beside(const std::string& file) {
  std::filesystem::path path = file;
  if (path.extension() == ".gz") path.replace_extension();
  return path.replace_extension(".html").string();
}

}  // namespace

int show(const std::string& file, const std::vector<std::string>& outputs, bool page) {
  std::vector<std::string> errors;
  std::vector<kprof::output_request> requests = requests_of(outputs, errors);
  const std::string page_path = page_beside(file);
  if (page && page_path == file)
    errors.push_back('"' + file +
                     "\" is what the page would be named; write --output \"html(path=FILE)\"");
  if (page) requests.push_back({"html", {{"path", page_path}}});
  if (requests.empty()) requests.push_back({"report"});
  for (const std::string& error : errors) complain(2, error);
  if (!errors.empty()) return 2;
  kprof::profile run;
  if (const kprof::status loaded = load_saved(file, run); !loaded)
    return complain(1, loaded.message);
  load_for_outputs();
  int code = 0;
  for (const kprof::output_request& request : requests)
    if (const kprof::status s = kprof::write(run, request.output, request.options); !s)
      code = complain(1, request.output + ": " + s.message);
  if (page && code == 0) std::printf("wrote %s\n", kprof::detail::one_line(page_path).c_str());
  return code;
}

}  // namespace kprof_tool
