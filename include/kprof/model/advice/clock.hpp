// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_CLOCK_HPP
#define KPROF_MODEL_ADVICE_CLOCK_HPP

// The rule of advice about a device whose clock falls during the run. Included by catalogue.hpp.
// Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/advice/timeline.hpp>
#include <kprof/model/timeline/run_times.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Durations of one kernel in half of a stretch.
struct half_of_runs {
  double count = 0, sum = 0, squares = 0;

  void add(double ns) noexcept { ++count, sum += ns, squares += ns * ns; }
  double mean() const noexcept { return sum / count; }
  /// Of the mean, squared; never below what a tick of the device's clock of 32 ns makes uncertain.
  double error() const noexcept {
    const double spread = squares / count - mean() * mean();
    return (spread > 0 ? spread / (count - 1) : 0) + 32.0 * 32.0 / 12 / count;
  }
};

/// How much slower the kernels of a device are in the second half of its stretch.
struct slower_half {
  bool all_alike = false;  // each kernel that runs often enough to tell
  double first_ns = 0;     // what their runs of the second half would take at the first's speed
  double second_ns = 0;    // what they took
  std::uint32_t kernels = 0;
};

/// By kernel and configuration; a kernel tells where it ran ten times in each half.
[[gnu::cold]] inline slower_half halves_of(const advice_facts& f, const device_time& d) {
  constexpr double least_runs = 10, least_slower = 1.05, least_t = 4;
  const interval window = d.activity.window;
  const std::int64_t middle = window.begin + window.length() / 2;
  std::vector<half_of_runs> first(f.run.device.work.size()), second(first.size());
  for (const timed_item& i : f.device_times->times.items) {
    if (i.kind != item_kind::kernel || i.device != d.activity.device || i.work >= first.size() ||
        i.span.begin < window.begin || i.span.end > window.end)
      continue;
    (i.span.begin < middle ? first : second)[i.work].add(static_cast<double>(i.span.length()));
  }
  slower_half out;
  out.all_alike = true;
  for (std::size_t k = 0; k < first.size(); ++k) {
    const half_of_runs &a = first[k], &b = second[k];
    if (a.count < least_runs || b.count < least_runs || !(a.sum > 0)) continue;
    const double t = (b.mean() - a.mean()) / std::sqrt(a.error() + b.error());
    if (!(b.mean() >= least_slower * a.mean()) || !(t > least_t)) out.all_alike = false;
    out.first_ns += b.count * a.mean();
    out.second_ns += b.sum;
    ++out.kernels;
  }
  return out;
}

namespace advice_rules {

/// S9. Every kernel becomes slower during the run: the device's clock fell.
[[gnu::cold]] inline bool falling_clock(const advice_facts& f, std::size_t, advice& out) {
  const device_time* const d = most_of(f, [](const device_time& t) { return t.activity.compute; });
  if (d == nullptr) return false;
  const slower_half half = halves_of(f, *d);
  if (half.kernels == 0 || !half.all_alike) return false;
  out.where = name_of(f, *d);
  out.time_ns = half.second_ns;
  out.gain_ns = half.second_ns - half.first_ns;
  out.fact =
      sentence("slows down during the run: in the second half each of # takes # longer",
               {as_text(half.kernels == 1 ? "its kernels"
                                          : sentence("its # kernels", {as_number(half.kernels)})),
                as_share(half.second_ns / half.first_ns - 1)});
  out.action =
      "Its clock falls: nvidia-smi -q -d PERFORMANCE says whether power or heat is why. Cool it, "
      "or "
      "lock its clocks, before rates are compared";
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
