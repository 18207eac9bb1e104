// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SHARED_SUM_HPP
#define KPROF_MODEL_SHARED_SUM_HPP

// What the calls of a row that several threads share add up to. Included by row_sum.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of the node's calls, the part whose durations are known; 1 where there are none.
inline double timed_share(const scope_node& n) noexcept {
  if (!is_part(n) || n.shared.calls == 0) return 1;
  return static_cast<double>(n.shared.joined) / static_cast<double>(n.shared.calls);
}

struct shared_sum {
  double calls = 0, parts = 0, joined = 0;
  double longest_ns = 0, mean_part_ns = 0, busy_ns = 0;
  double added_ns = 0;    // durations of the calls whose time counts in the row, added up
  double elapsed_ns = 0;  // the same, with calls of one node that overlap counted once
  double part_ns = 0;     // time of the calls that elapsed, times their parts
  double thread_ns = 0;   // that the threads which did parts were there
  std::uint32_t thread = scope_node::none;  // the latest of them

  /// `counted`: no call of the row around it covers its time.
  void add(const profile& p, const scope_node& n, bool counted) noexcept {
    if (!is_part(n)) return;
    if (n.thread != thread && n.thread < p.threads.size()) {  // a thread's nodes come together
      const thread_info& t = p.threads[n.thread];
      thread_ns += t.wall_ns > 0 ? t.wall_ns : not_negative(p.wall_ns);
      thread = n.thread;
    }
    if (n.shared.calls == 0) return;
    const double of_call = n.shared.parts;
    calls += static_cast<double>(n.shared.calls);
    parts += static_cast<double>(n.shared.calls) * of_call;
    joined += static_cast<double>(n.shared.joined);
    longest_ns += not_negative(n.shared.longest_ns);
    mean_part_ns += not_negative(n.shared.busy_ns) / of_call;
    busy_ns += not_negative(n.shared.busy_ns);
    part_ns += of_call * detail::elapsed_ns(n);
    if (!counted) return;
    added_ns += calls_ns(n);
    elapsed_ns += detail::elapsed_ns(n);
  }

  /// The time of the calls. Those of several nodes may overlap too, and when they did is not known:
  /// no more than the run took or, where there are threads for several calls at once, than these
  /// had for them.
  double total_ns(const profile& p) const noexcept {
    if (!(p.wall_ns > 0) || !(parts > 0)) return elapsed_ns;
    return std::min(elapsed_ns, std::max(p.wall_ns, thread_ns * calls / parts));
  }

  figure time(const profile& p) const noexcept { return {total_ns(p), times()}; }
  figure threads() const noexcept { return ratio({parts}, calls, absence::not_shared); }
  figure imbalance() const noexcept {
    return ratio({longest_ns, times()}, mean_part_ns, absence::no_time);
  }
  figure waiting(const profile& p) const noexcept {
    if (times() != absence::none) return {0, times()};
    const double share = elapsed_ns > 0 ? total_ns(p) / elapsed_ns : 1;
    return {not_negative(share * part_ns - busy_ns)};
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
