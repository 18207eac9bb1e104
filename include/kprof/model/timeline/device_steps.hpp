// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_DEVICE_STEPS_HPP
#define KPROF_MODEL_TIMELINE_DEVICE_STEPS_HPP

// Steps with what they launched: the host goes on to the next step while the device is at work on
// the last one. The borders are those of PyTorch's TensorBoard plugin. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/step_weights.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

KPROF_DETAIL_BEGIN

/// A step from the moment when the device was done with the one before.
struct device_step {
  std::uint64_t index = 0;
  interval host;            ///< as the program marked it
  interval span;            ///< until its last item has ended
  std::uint64_t items = 0;  ///< whose launch lies wholly in the step
  bool counts = true;       ///< false: skipped, or to warm up
};

/// The steps of one thread.
struct device_steps {
  std::vector<device_step> steps;             ///< in order; their spans are disjoint
  std::uint32_t thread = thread_steps::none;  ///< whose steps they are, in profile::threads
  std::uint64_t idle = 0;                     ///< left out: at the end, without device work
  std::uint64_t cut = 0;        ///< left out: the last, if it has far less than the one before
  std::uint64_t nested = 0;     ///< marks left out: they begin before the one before has ended
  std::uint64_t odd = 0;        ///< marks left out: they end before they begin
  std::uint64_t elsewhere = 0;  ///< marks left out: another thread has made them
};

/// The thread whose steps take most time, as step_table() orders them; thread_steps::none where the
/// profile has no marks. A profile that has marks but no sums is ordered by its marks.
[[gnu::cold]] inline std::uint32_t stepping_thread_of(const profile& p) {
  struct sum {
    std::uint32_t thread = thread_steps::none;
    bool ended = false;  // the recorder's sum, of steps that ended
    double ns = 0;
  };
  std::vector<step_mark> marks = p.steps;
  detail::sort_plain(marks,
                     [](const step_mark& a, const step_mark& b) { return a.thread < b.thread; });
  sum most;
  for (std::size_t i = 0; i < marks.size();) {
    sum here{marks[i].thread, false, 0};
    for (; i < marks.size() && marks[i].thread == here.thread; ++i)
      here.ns += static_cast<double>(
          interval{detail::bounded_time(marks[i].begin), detail::bounded_time(marks[i].end)}
              .length());
    for (const thread_steps& t : p.stepping.threads)
      if (t.thread == here.thread && t.count != 0) here = {t.thread, true, t.total_ns};
    const bool is_more = here.ended == most.ended ? here.ns > most.ns : here.ended;
    if (most.thread == thread_steps::none || is_more) most = here;
  }
  return most.thread;
}

namespace detail {

/// The marked steps of a thread that follow one another.
[[gnu::cold]] inline device_steps marked_steps(const profile& p, std::uint32_t thread) {
  device_steps out;
  out.thread = thread;
  std::vector<step_mark> marks;
  for (const step_mark& m : p.steps) {
    if (m.thread == thread) marks.push_back(m);
    else ++out.elsewhere;
  }
  sort_plain(marks, [](const step_mark& a, const step_mark& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.end > b.end;
  });
  for (const step_mark& m : marks) {
    if (m.end < m.begin) {
      ++out.odd;
      continue;
    }
    const interval host{bounded_time(m.begin), bounded_time(m.end)};
    if (!out.steps.empty() && host.begin < out.steps.back().host.end) {
      ++out.nested;
      continue;
    }
    out.steps.push_back({m.index, host, host, 0, m.counts});
  }
  return out;
}

/// What the steps launched.
struct launched_work {
  std::vector<std::uint32_t> step;  // of each item; none: it was launched in none
  std::vector<char> elsewhere;      // of each item: a thread with steps of its own launched it
  std::vector<std::int64_t> first;  // of each step: the earliest start
  std::vector<std::int64_t> last;   // and the latest end
  // Of each step: the latest end of what was launched between the one before and it.
  std::vector<std::int64_t> between;
};

/// What another thread that has steps launched belongs to its own steps.
[[gnu::cold]] inline launched_work work_of_steps(const profile& p, const run_times& times,
                                                 device_steps& of) {
  constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();
  launched_work out;
  out.first.resize(of.steps.size(), no_time);
  out.last.resize(of.steps.size(), -no_time);
  out.between.resize(of.steps.size(), -no_time);
  std::vector<char> steps_elsewhere(p.threads.size());
  for (const step_mark& m : p.steps)
    if (m.thread < steps_elsewhere.size() && m.thread != of.thread) steps_elsewhere[m.thread] = 1;
  for (const timed_item& i : times.items) {
    out.step.push_back(timed_item::none);
    out.elsewhere.push_back(i.thread < steps_elsewhere.size() ? steps_elsewhere[i.thread] : 0);
    if (!i.launched || out.elsewhere.back() != 0) continue;
    const auto after =
        std::partition_point(of.steps.begin(), of.steps.end(),
                             [&](const device_step& s) { return s.host.begin <= i.call.begin; });
    if (after == of.steps.begin()) continue;
    const auto at = static_cast<std::size_t>(after - of.steps.begin()) - 1;
    if (i.call.end > of.steps[at].host.end) {
      if (after != of.steps.end() && i.call.end <= after->host.begin)
        out.between[at + 1] = std::max(out.between[at + 1], i.span.end);
      continue;
    }
    out.step.back() = static_cast<std::uint32_t>(at);
    ++of.steps[at].items;
    out.first[at] = std::min(out.first[at], i.span.begin);
    out.last[at] = std::max(out.last[at], i.span.end);
  }
  return out;
}

}  // namespace detail

/// The steps of `thread` with their work on all devices. Where none launched any, they are as
/// marked.
[[gnu::cold]] inline device_steps steps_of(const profile& p, const run_times& times,
                                           std::uint32_t thread) {
  device_steps out = detail::marked_steps(p, thread);
  std::vector<device_step>& steps = out.steps;
  const detail::launched_work work = detail::work_of_steps(p, times, out);
  std::size_t last = steps.size();
  while (last > 0 && steps[last - 1].items == 0) --last;
  if (last == 0) return out;
  out.idle = steps.size() - last;

  std::int64_t previous = steps[0].host.begin;
  if (steps[0].items > 0)
    for (std::size_t i = 0; i < times.items.size(); ++i)
      if (work.step[i] == timed_item::none && work.elsewhere[i] == 0 &&
          times.items[i].span.end < work.first[0])
        previous = std::max(previous, times.items[i].span.end);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    interval& span = steps[i].span;
    // The mark of a step before this one was not kept: its work is none of this one's.
    if (i > 0 && steps[i].index > steps[i - 1].index + 1)
      previous = std::max(previous, work.between[i]);
    span.begin = std::max(previous, steps[i].host.begin);
    span.end = std::max({steps[i].host.end, span.begin, work.last[i]});
    previous = span.end;
  }
  // Of the last one with work some may not have been recorded: it has less than four fifths of
  // what the one before has.
  if (last > 1 &&
      static_cast<double>(steps[last - 1].items) < 0.8 * static_cast<double>(steps[last - 2].items))
    --last;
  out.cut = steps.size() - out.idle - last;
  steps.resize(last);
  return out;
}

namespace detail {

/// How long the steps of `thread` take with their work on the devices, over how long they take on
/// the host; of those that the latest window of the devices' timeline has whole. 0: not known.
[[gnu::cold]] inline double device_over_host(const profile& p, std::uint32_t thread) {
  if (p.device.timeline.items.empty()) return 0;
  const std::vector<timeline_window>& windows = p.device.timeline.windows;
  if (windows.empty() && p.device.timeline.dropped_items > 0) return 0;
  run_times times;
  times.operators = operators_around(p);
  add_items(p, times);
  const device_steps of = steps_of(p, times, thread);
  std::vector<const device_step*> whole;
  std::vector<marked_length> marks;
  bool works = false;
  for (const device_step& s : of.steps) {
    if (!windows.empty() && (s.span.begin < bounded_time(windows.back().begin) ||
                             s.span.end > bounded_time(windows.back().end)))
      continue;
    works = works || s.items > 0;
    whole.push_back(&s);
    marks.push_back({s.index, static_cast<double>(s.host.length())});
  }
  if (!works || whole.size() < 2) return 0;
  const std::vector<double> weights = weights_of_steps(p, thread, marks).weights;
  double device_ns = 0, host_ns = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    device_ns += weights[i] * static_cast<double>(whole[i]->span.length());
    host_ns += weights[i] * static_cast<double>(whole[i]->host.length());
  }
  return host_ns > 0 ? device_ns / host_ns : 0;
}

}  // namespace detail

/// Of the thread whose steps take most time.
[[gnu::cold]] inline device_steps steps_of(const profile& p, const run_times& times) {
  return steps_of(p, times, stepping_thread_of(p));
}

KPROF_DETAIL_END

#endif
