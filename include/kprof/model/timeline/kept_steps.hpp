// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_KEPT_STEPS_HPP
#define KPROF_MODEL_TIMELINE_KEPT_STEPS_HPP

// The steps that a profile's timeline has before its unbroken end, and those that it lacks. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// All steps that ended, those too whose marks are not in profile::steps.
[[gnu::cold]] inline std::uint64_t steps_in_all(const profile& p) noexcept {
  std::uint64_t count = 0;
  for (const thread_steps& t : p.stepping.threads) count += t.count;
  return std::max<std::uint64_t>(count, p.steps.size());
}

/// Whether all of a stretch, in ns since the session's start, lies in a kept step.
[[gnu::cold]] inline bool is_in_kept_step(const profile& p, double begin, double end) noexcept {
  return std::any_of(p.stepping.kept.begin(), p.stepping.kept.end(), [&](const kept_step& k) {
    return k.step < p.steps.size() && begin >= static_cast<double>(p.steps[k.step].begin) &&
           end <= static_cast<double>(p.steps[k.step].end);
  });
}

/// Whether the timeline has the step of this index in profile::steps apart from its unbroken end.
[[gnu::cold]] inline bool is_kept_step(const profile& p, std::size_t step) noexcept {
  return std::any_of(p.stepping.kept.begin(), p.stepping.kept.end(),
                     [step](const kept_step& k) { return k.step == step; });
}

/// From when on a scope belongs to the unbroken end, in ns; everything where no step is kept.
inline double unbroken_from(const profile& p) noexcept {
  return p.stepping.kept.empty() ? -1e300 : p.wall_ns - p.complete.timeline_ns;
}

/// The same for what devices did.
inline std::int64_t unbroken_devices_from(const profile& p) noexcept {
  const std::vector<timeline_window>& windows = p.device.timeline.windows;
  return windows.size() < 2 ? std::numeric_limits<std::int64_t>::min() : windows.back().begin;
}

[[gnu::cold]] inline const char* why_text(kept_as why) noexcept {
  switch (why) {
    case kept_as::slowest: return "the slowest";
    case kept_as::median: return "near the median";
    case kept_as::latest: return "the latest";
  }
  return "";
}

/// "a, b and c".
[[gnu::cold]] inline std::string in_words(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.append(i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ").append(parts[i]);
  return out;
}

/// "step 41, the slowest, and step 500, near the median, are whole; steps 0 to 40, 42 to 499 and
/// 501 to 899 are not kept": of the thread whose steps are kept. Empty where none is.
[[gnu::cold]] inline std::string kept_steps_text(const profile& p) {
  std::vector<std::string> kept, lost;
  std::uint32_t thread = step_mark::none;
  std::vector<std::uint64_t> there;
  for (const kept_step& k : p.stepping.kept) {
    if (k.step >= p.steps.size()) continue;
    thread = p.steps[k.step].thread;
    there.push_back(p.steps[k.step].index);
    // Of the slowest that is kept a slower one may be lost.
    const auto length = [](const step_mark& m) {
      return static_cast<double>(m.end) - static_cast<double>(m.begin);
    };
    const bool is_beaten = k.why == kept_as::slowest &&
                           std::any_of(p.steps.begin(), p.steps.end(), [&](const step_mark& m) {
                             return m.thread == thread && length(m) > length(p.steps[k.step]);
                           });
    kept.push_back("step " + format_count(there.back()) + ", " +
                   (is_beaten ? "a slow one" : why_text(k.why)) + ',');
  }
  if (kept.empty()) return {};
  std::uint64_t next = there[0], tail = there.back() + 1;
  bool has_tail = false;
  for (const step_mark& m : p.steps) {
    if (m.thread != thread) continue;
    next = std::min(next, m.index);
    if (static_cast<double>(m.begin) >= unbroken_from(p)) {
      if (!has_tail) tail = m.index;
      has_tail = true;
    } else if (!has_tail) {
      tail = std::max(tail, m.index + 1);
    }
  }
  there.push_back(tail);
  for (const std::uint64_t index : there) {
    if (index > next)
      lost.push_back(index - next == 1 ? format_count(next)
                                       : format_count(next) + " to " + format_count(index - 1));
    next = std::max(next, index + 1);
  }
  std::string out = in_words(kept) + (kept.size() == 1 ? " is whole" : " are whole");
  if (lost.empty()) return out;
  const bool one = lost.size() == 1 && lost[0].find(' ') == std::string::npos;
  return out + "; " + (one ? "step " : "steps ") + in_words(lost) +
         (one ? " is not kept" : " are not kept");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
