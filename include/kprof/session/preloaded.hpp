// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_PRELOADED_HPP
#define KPROF_SESSION_PRELOADED_HPP

// A session that was preloaded (libkprof.so) comes into every process that the program starts:
// shells, compilers, whatever their output is used for. Where no guard ran, it prints no report.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/session/exit_report.hpp>
#include <kprof/write/message.hpp>

#include <unistd.h>

#include <atomic>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Set by libkprof.so while it is loaded.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> session_is_preloaded{false};

/// The variable by which `kprof run` names the process that becomes the program.
inline constexpr const char* program_variable = "KPROF_RUN_PROCESS";

/// Whether this process is the program that `kprof run` started.
inline bool is_program_of_kprof_run() {
  const char* program = environment_variable(program_variable);
  return program != nullptr && std::to_string(getpid()) == program;
}

/// Whether a module with guards has left the process, as all do before the report at exit.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> guards_have_left{false};

/// Whether another module of the process has or had guards.
KPROF_DETAIL_LOCAL inline bool others_have_guards() noexcept {
  bool found = guards_have_left;
  for_each_module([&found](const module_record& m) { found = found || &m != &this_module; });
  return found;
}

/// Whether the report at exit is left out because nothing ran under a preloaded session. In the
/// program that `kprof run` started, a line on standard error says so.
KPROF_DETAIL_LOCAL [[gnu::cold]] inline bool has_nothing_to_report(const profile& run) {
  if (!session_is_preloaded || !same_scopes(run.complete, {}) || !run.device.work.empty())
    return false;
  if (!is_program_of_kprof_run()) return true;
  tell({"no report: ",
        others_have_guards()
            ? "the program has guards, but none of them ran"
            : "no module of the program has guards; include <kprof/guard.hpp> and guard a scope "
              "with KPROF_OP or KPROF_REGION"});
  return true;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
