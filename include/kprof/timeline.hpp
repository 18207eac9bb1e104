// SPDX-License-Identifier: MIT
#ifndef KPROF_TIMELINE_HPP
#define KPROF_TIMELINE_HPP

// Where the time of a run went: steps, what the devices did and waited for, the critical path.
// Include it to analyse a profile that has a timeline (docs/timeline.md). Pure: a profile in,
// values out, whole nanoseconds; n log n in the timeline.
//
//   const kprof::profile run = kprof::snapshot({.timeline = true});
//   const kprof::run_times times = kprof::times_of(run);
//   for (const std::uint32_t device : times.devices())
//     use(kprof::idle_causes_of(run, times, device).host);

#include <kprof/model/slow_calls.hpp>
#include <kprof/model/timeline/critical_path.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/device_figures.hpp>
#include <kprof/model/timeline/device_steps.hpp>
#include <kprof/model/timeline/graph_saving.hpp>
#include <kprof/model/timeline/host_times.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/launches.hpp>
#include <kprof/model/timeline/pass_links.hpp>
#include <kprof/model/timeline/passes.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/step_breakdown.hpp>
#include <kprof/model/timeline/time_summary.hpp>

#endif
