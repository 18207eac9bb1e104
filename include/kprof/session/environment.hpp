// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_ENVIRONMENT_HPP
#define KPROF_SESSION_ENVIRONMENT_HPP

// The settings in the environment variable KPROF, read once a process. Guarded by the session's
// lock.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/build_options.hpp>
#include <kprof/session/exit_outputs.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/preloaded.hpp>
#include <kprof/settings.hpp>
#include <kprof/write/message.hpp>

#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class environment_settings {
 public:
  /// Reads KPROF at the first call. Mistakes go to `notes`, which all reports show, and to standard
  /// error: at once, but where the session was preloaded into a process that the program started,
  /// which may have no guards, only when its first scope begins.
  [[gnu::cold]] const settings& read(session_notes& notes) {
    if (read_) return value_;
    read_ = true;
    if (environment_is_foreign()) notes.add(foreign_environment);
    const char* const text = environment_variable("KPROF");
    if (text == nullptr) return value_;
    parsed_settings parsed = settings::parse(text);
    value_ = parsed.value;
    for (const std::string& e : parsed.errors) {
      notes.add("KPROF: " + e);
      mistakes_.push_back(e);
    }
    if (!session_is_preloaded || is_program_of_kprof_run()) tell_mistakes();
    return value_;
  }
  /// Tells the mistakes that have not been told.
  [[gnu::cold]] void tell_mistakes() {
    for (const std::string& e : mistakes_) tell({"KPROF: ", e});
    mistakes_.clear();
  }
  /// The process is the child of a fork: the paths that it knows are its parent's.
  void in_child() noexcept { has_parents_paths_ = true; }
  /// Gives the child paths of its own, here and in `others`, the settings that hold. Not done by
  /// in_child(), where the program's allocator need not work.
  void leave_parents_paths(settings& others) noexcept {
    if (!std::exchange(has_parents_paths_, false)) return;
    keep_apart_from_parent(value_);
    keep_apart_from_parent(others);
  }
  /// What read() has read.
  const settings& value() const noexcept { return value_; }

 private:
  static constexpr const char* foreign_environment =
      "the process has rights that its caller lacks (set-user-ID, set-group-ID or file "
      "capabilities): environment variables are ignored, no NVTX tool is attached, and device "
      "activity is collected only where the program sets settings::cupti to on";

  settings value_;
  std::vector<std::string> mistakes_;
  bool read_ = false;
  bool has_parents_paths_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
