// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_EARLIER_RUNS_HPP
#define KPROF_REPORT_HTML_EARLIER_RUNS_HPP

// Loads the runs that the page compares its run with. Included by html.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/compare.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/html/compare.hpp>
#include <kprof/report/output/profile_loader.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <glob.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The files that a word stands for, in the order of their names: those that match it as a pattern
/// of a shell, else the one of this name.
[[gnu::cold]] inline std::vector<std::string> files_of(const std::string& word) {
  std::vector<std::string> files;
  glob_t found{};
  if (word.find_first_of("*?[") != std::string::npos &&
      ::glob(word.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (files.empty()) files.push_back(word);
  return files;
}

class earlier_runs {
 public:
  /// Null where nothing is to be compared.
  const page_comparison* found() const noexcept { return is_asked_ ? &found_ : nullptr; }

  [[gnu::cold]] status load(const profile& run, const std::vector<std::string>& against,
                            const std::vector<std::string>& also, unsigned threshold_percent) {
    if (against.empty()) {
      if (also.empty()) return {};
      return {
          "also=FILE names more runs beside this one, and there are none to compare with; add "
          "against=FILE"};
    }
    if (loader_of_outputs == nullptr)
      return {
          "against=FILE needs a program that loads profiles, and this one does not: call "
          "kprof::load_for_outputs() of kprof/report/load.hpp in it; or save the run and write "
          "kprof show run.json --output \"html(path=run.html,against=before.json)\""};
    std::vector<std::string> before_files, after_files{""};
    for (const std::string& word : against) add(before_files, files_of(word));
    for (const std::string& word : also) add(after_files, files_of(word));
    std::vector<compared_run> before, after{run_to_compare(run)};
    if (status loaded = load_all(before_files, 0, before); !loaded) return loaded;
    if (status loaded = load_all(after_files, 1, after); !loaded) return loaded;
    if (const repeated_run again = find_repeated_run(before, after); again.found) {
      const auto file = [&](std::size_t i) {
        const std::string& name =
            i < before_files.size() ? before_files[i] : after_files[i - before_files.size()];
        return name.empty() ? std::string{"the run of the page"} : '"' + printable(name, 300) + '"';
      };
      return {file(again.first) + " and " + file(again.second) +
              " are the same run, which would look like one without noise; name each run once in "
              "against and also"};
    }
    compare_settings by;
    by.threshold = threshold_percent / 100.0;
    found_.found = compare(before, after, by);
    found_.before_files = std::move(before_files);
    is_asked_ = true;
    return {};
  }

 private:
  static void add(std::vector<std::string>& files, std::vector<std::string> more) {
    for (std::string& file : more) files.push_back(std::move(file));
  }
  /// One profile after the other: of each only what is compared stays in memory.
  [[gnu::cold]] static status load_all(const std::vector<std::string>& files, std::size_t from,
                                       std::vector<compared_run>& runs) {
    for (std::size_t i = from; i < files.size(); ++i) {
      profile run;
      if (status loaded = loader_of_outputs(files[i], run); !loaded) return loaded;
      runs.push_back(run_to_compare(run));
    }
    return {};
  }

  bool is_asked_ = false;
  page_comparison found_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
