// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_PRECEDENCE_HPP
#define KPROF_SESSION_PRECEDENCE_HPP

// Which settings hold where the program and the environment variable KPROF differ. KPROF can turn
// off what the program wants (the recording, NVTX, device activity or only its timeline, the watch
// for signals), choose whether device activity is collected and where ceilings come from, and ask
// for outputs at the end: a user changes a run without a rebuild. Everything else is as the program
// says. Pure.

#include <kprof/build_options.hpp>
#include <kprof/settings.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

struct effective_settings {
  settings value;
  const char* off_reason = "";        // why nothing is recorded; "" where something is
  const char* cupti_off_reason = "";  // why no device activity is collected although it could be
};

/// `program` and `environment` are the same where the program gives no settings.
inline effective_settings combine(const settings& program, const settings& environment) {
  effective_settings out{program};
  settings& value = out.value;
  value.enabled = program.enabled && environment.enabled;
  if (!environment.enabled) out.off_reason = "off (KPROF=off)";
  else if (!program.enabled) out.off_reason = "off (settings::enabled is false)";
  value.nvtx = program.nvtx && environment.nvtx;
  value.device_timeline = program.device_timeline && environment.device_timeline;
  value.signals = program.signals && environment.signals;
  if (environment.ceilings != "auto") value.ceilings = environment.ceilings;
  if (environment.verbose != "off") value.verbose = environment.verbose;
  if (!environment.step.empty()) value.step = environment.step;
  if (environment.threads != 0) value.threads = environment.threads;
  if (environment.schedule.is_on()) value.schedule = environment.schedule;
  if (environment.cupti != cupti_choice::automatic) value.cupti = environment.cupti;
  if (environment.cupti == cupti_choice::off) out.cupti_off_reason = "off (KPROF=cupti=off)";
  else if (value.cupti == cupti_choice::off) out.cupti_off_reason = "off (settings::cupti is off)";
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
