// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEP_WEIGHTS_HPP
#define KPROF_MODEL_STEP_WEIGHTS_HPP

// Of a long run a profile has the marks of some steps: the slowest, the latest and the first, and
// of the others each with the same chance. A weight says for how many steps of the run each mark
// stands, so that means over marks are means over steps. How many steps took how long is known of
// all of them: a mark stands for those that took about as long as it did, so that a rare slow step
// among the marks counts once and not for hundreds of usual ones. Pure; n log n.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Marks of one thread's steps that follow one another, and what they stand for.
struct weighted_steps {
  std::vector<double> weights;  // of each; they sum to `steps`
  double steps = 0;             // of the run, in the stretch that the marks span
  bool thinned = false;         // some steps in it have no marks
  bool has_all = false;         // all marks of the thread are among them: `steps` is its count
};

/// The number and the length in ns of a step.
struct marked_length {
  std::uint64_t index = 0;
  double ns = 0;
};

/// The bucket of thread_steps::durations that counts a length in ns.
[[gnu::cold]] inline std::uint32_t bucket_of_length(const profile& p, double ns) {
  const double ticks = ns / p.clock.ns_per_tick + 0.5;
  return ticks < 0x1p63 ? histogram::bucket_of(static_cast<std::uint64_t>(std::max(0.0, ticks)))
                        : histogram::last_bucket;
}

/// Steps of about the same length: those of the buckets that lie nearest to one with marks.
struct steps_alike {
  std::uint32_t bucket = 0;
  double marks = 0, steps = 0;
};

/// By bucket, for how many of the thread's steps its marks stand.
[[gnu::cold]] inline std::vector<steps_alike> steps_by_length(const profile& p,
                                                              const thread_steps& thread) {
  std::vector<std::uint32_t> buckets;
  for (const step_mark& m : p.steps)
    if (m.thread == thread.thread)
      buckets.push_back(
          bucket_of_length(p, static_cast<double>(m.end) - static_cast<double>(m.begin)));
  std::sort(buckets.begin(), buckets.end());
  std::vector<steps_alike> out;
  for (const std::uint32_t bucket : buckets) {
    if (out.empty() || out.back().bucket != bucket) out.push_back({bucket});
    ++out.back().marks;
  }
  if (out.empty()) return out;
  std::size_t at = 0;  // the nearest: both are in the order of lengths
  thread.durations.each([&](std::uint32_t bucket, std::uint64_t count) {
    while (at + 1 < out.size() && out[at].bucket + out[at + 1].bucket < 2 * bucket) ++at;
    out[at].steps += static_cast<double>(count);
  });
  return out;
}

/// `some`: the marks of `thread` that are looked at. Without sums of the thread, or where a mark of
/// each step is there, each stands for itself.
[[gnu::cold]] inline weighted_steps weights_of_steps(const profile& p, std::uint32_t thread,
                                                     const std::vector<marked_length>& some) {
  weighted_steps out;
  out.weights.assign(some.size(), 1.0);
  out.steps = static_cast<double>(some.size());
  const thread_steps* all = nullptr;
  for (const thread_steps& t : p.stepping.threads)
    if (t.thread == thread && (all == nullptr || t.count > all->count)) all = &t;
  const auto marks = static_cast<std::size_t>(std::count_if(
      p.steps.begin(), p.steps.end(), [thread](const step_mark& m) { return m.thread == thread; }));
  out.has_all = some.size() == marks;
  if (some.empty() || all == nullptr || marks >= all->count) return out;
  // A program that numbers its steps may leave numbers out.
  const auto [first, last] = std::minmax_element(
      some.begin(), some.end(),
      [](const marked_length& a, const marked_length& b) { return a.index < b.index; });
  const std::uint64_t elsewhere = marks - some.size();
  const std::uint64_t stretch =
      out.has_all ? all->count : std::min(last->index - first->index + 1, all->count - elsewhere);
  if (stretch <= some.size()) return out;
  out.thinned = true;
  out.steps = static_cast<double>(stretch);
  const std::vector<steps_alike> alike = steps_by_length(p, *all);
  double others = 0;  // that marks stand for beside themselves, in the whole run
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto mine = std::lower_bound(
        alike.begin(), alike.end(), bucket_of_length(p, some[i].ns),
        [](const steps_alike& a, std::uint32_t bucket) { return a.bucket < bucket; });
    if (mine != alike.end()) out.weights[i] = std::max(1.0, mine->steps / mine->marks);
    others += out.weights[i] - 1;
  }
  // A stretch of the run has fewer, and a damaged file may count none.
  const double without_marks = out.steps - static_cast<double>(some.size());
  for (double& weight : out.weights)
    weight = others > 0 ? 1 + (weight - 1) * without_marks / others
                        : out.steps / static_cast<double>(some.size());
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
