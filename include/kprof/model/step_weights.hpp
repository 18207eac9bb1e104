// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEP_WEIGHTS_HPP
#define KPROF_MODEL_STEP_WEIGHTS_HPP

// Of a long run a profile has the marks of some steps: the slowest, the latest and the first, and
// of the others each with the same chance. A weight says for how many steps of the run each mark
// stands, so that means over marks are means over steps. Pure; n log n.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// `some`: the marks of `thread` that are looked at. Without sums of the thread, or where a mark of
/// each step is there, each stands for itself.
[[gnu::cold]] inline weighted_steps weights_of_steps(const profile& p, std::uint32_t thread,
                                                     const std::vector<marked_length>& some) {
  weighted_steps out;
  out.weights.assign(some.size(), 1.0);
  out.steps = static_cast<double>(some.size());
  std::uint64_t count = 0;
  for (const thread_steps& t : p.stepping.threads)
    if (t.thread == thread) count = std::max(count, t.count);
  std::vector<double> longest;
  for (const step_mark& m : p.steps)
    if (m.thread == thread)
      longest.push_back(static_cast<double>(m.end) - static_cast<double>(m.begin));
  out.has_all = some.size() == longest.size();
  if (some.empty() || longest.size() >= count) return out;
  // A program that numbers its steps may leave numbers out.
  const auto [first, last] = std::minmax_element(
      some.begin(), some.end(),
      [](const marked_length& a, const marked_length& b) { return a.index < b.index; });
  const std::uint64_t latest = last->index, elsewhere = longest.size() - some.size();
  const std::uint64_t stretch =
      out.has_all ? count : std::min(latest - first->index + 1, count - elsewhere);
  if (stretch <= some.size()) return out;
  out.thinned = true;
  out.steps = static_cast<double>(stretch);
  std::sort(longest.begin(), longest.end(), [](double a, double b) { return a > b; });
  const double slow = longest[std::min(longest.size(), slowest_marks) - 1];
  // Of marks as long as the shortest of the slowest, so many are among these.
  auto as_long =
      static_cast<std::ptrdiff_t>(std::min(longest.size(), slowest_marks)) -
      (std::lower_bound(longest.begin(), longest.end(), slow, std::greater<>{}) - longest.begin());
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i].ns > slow || latest - some[i].index < latest_marks) continue;
    if (some[i].ns == slow && as_long-- > 0) continue;
    drawn.push_back(i);
  }
  // Few marks, as where memory is spent, may all be of those that are there for sure.
  if (drawn.empty())
    for (std::size_t i = 0; i < some.size(); ++i) drawn.push_back(i);
  const std::size_t certain = some.size() - drawn.size();
  const double each = static_cast<double>(stretch - certain) / static_cast<double>(drawn.size());
  for (const std::size_t i : drawn) out.weights[i] = each;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
