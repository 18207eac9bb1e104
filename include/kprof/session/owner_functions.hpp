// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_OWNER_FUNCTIONS_HPP
#define KPROF_SESSION_OWNER_FUNCTIONS_HPP

// How modules call the session of the process: by functions of the module that owns it. The others,
// perhaps of other commits and compilers, touch nothing of the session's own: copies of its code
// would use their own static data, and would disappear when their module is unloaded.

#include <kprof/attribute/single_scopes.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/status.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// The session as all modules see it. What hub_record::session points to.
struct owner_functions {
  // First, so that every build can read it. A module calls the functions if its own is the same.
  const char* build;
  void (*arm)();
  status (*start_with)(const settings& wanted);
  status (*start)();
  void (*stop)();
  void (*pause)();
  void (*resume)();
  profile (*snapshot)(single_scopes wanted);
  void (*add_ceilings)(profile& of_report);
  report_options (*report_settings)();
  void (*reported)(const profile& run);
  status (*set_schedule)(const step_schedule& wanted);
  void (*on_profile)(profile_function use, void* context);
  bool (*is_stream)(int descriptor, bool for_program) noexcept;  // a stream_test
};

}  // namespace detail
KPROF_DETAIL_END

#endif
