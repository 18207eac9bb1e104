// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SHARED_SUM_HPP
#define KPROF_MODEL_SHARED_SUM_HPP

// What the calls of a row that several threads share add up to. Included by operator_row.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of the node's calls, the part whose durations are known; 1 where there are none.
inline double timed_share(const scope_node& n) noexcept {
  if (!is_part(n) || n.shared.calls == 0) return 1;
  return static_cast<double>(n.shared.joined) / static_cast<double>(n.shared.calls);
}

struct shared_sum {
  double calls = 0, parts = 0, joined = 0;
  double longest_ns = 0, mean_part_ns = 0, waiting_ns = 0;

  void add(const scope_node& n) noexcept {
    if (!is_part(n) || n.shared.calls == 0) return;
    const double of_call = n.shared.parts;
    const double busy_ns = not_negative(n.shared.busy_ns);
    calls += static_cast<double>(n.shared.calls);
    parts += static_cast<double>(n.shared.calls) * of_call;
    joined += static_cast<double>(n.shared.joined);
    longest_ns += not_negative(n.shared.longest_ns);
    mean_part_ns += busy_ns / of_call;
    waiting_ns += not_negative(of_call * not_negative(n.shared.wall_ns) - busy_ns);
  }

  figure threads() const noexcept { return ratio({parts}, calls, absence::not_shared); }
  figure imbalance() const noexcept {
    return ratio({longest_ns, times()}, mean_part_ns, absence::no_time);
  }
  figure waiting() const noexcept {
    return times() == absence::none ? figure{waiting_ns} : figure{0, times()};
  }

 private:
  absence times() const noexcept {
    if (calls == 0) return absence::not_shared;
    return joined > 0 ? absence::none : absence::not_joined;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
