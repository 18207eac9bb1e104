// SPDX-License-Identifier: MIT
#include "compare.hpp"

#include "query_envelope.hpp"
#include "saved_file.hpp"

#include <kprof/model/compare.hpp>
#include <kprof/write/printable.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace kprof_tool {
namespace {

constexpr int is_slower = 3;

int complain(const compare_words& given, int code, const std::string& what) {
  if (given.as_json) {
    envelope e;
    e.command = json_quoted("compare");
    return refuse(std::move(e), code, what);
  }
  std::fprintf(stderr, "kprof compare: %s\n", kprof::detail::one_line(what).c_str());
  return code;
}

/// Loads one profile after the other: of each only what is compared stays in memory.
kprof::status load_runs(const std::vector<std::string>& files,
                        std::vector<kprof::compared_run>& runs) {
  for (const std::string& file : files) {
    kprof::profile run;
    if (kprof::status loaded = load_saved(file, run); !loaded) return loaded;
    runs.push_back(kprof::run_to_compare(run));
  }
  return {};
}

}  // namespace

int compare(const compare_words& given) {
  if (given.after.empty())
    return complain(given, 2,
                    "name the runs to compare with: kprof compare before_1.json before_2.json "
                    "--with after_1.json after_2.json");
  if (!(given.threshold_percent > 0) || given.threshold_percent > 1000)
    return complain(given, 2, "--threshold takes percent above 0 and up to 1000");
  std::vector<kprof::compared_run> before, after;
  for (const auto& [files, runs] :
       {std::pair{&given.before, &before}, std::pair{&given.after, &after}})
    if (const kprof::status loaded = load_runs(*files, *runs); !loaded)
      return complain(given, 1, loaded.message);
  if (const kprof::repeated_run again = kprof::find_repeated_run(before, after); again.found) {
    const auto file = [&](std::size_t i) {
      const std::string& name =
          i < given.before.size() ? given.before[i] : given.after[i - given.before.size()];
      return '"' + kprof::detail::printable(name, 300) + '"';
    };
    return complain(given, 2,
                    file(again.first) + " and " + file(again.second) +
                        " are the same run, which would look like one without noise; give each "
                        "run once");
  }
  kprof::compare_settings by;
  by.threshold = given.threshold_percent / 100;
  const kprof::comparison c = kprof::compare(before, after, by);
  const std::string text =
      given.as_json ? comparison_json(c, after[0].program) : comparison_table(c, after[0].program);
  return print_answer(text, given.is_gate && c.is_slower() ? is_slower : 0);
}

}  // namespace kprof_tool
