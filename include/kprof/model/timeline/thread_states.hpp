// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_THREAD_STATES_HPP
#define KPROF_MODEL_TIMELINE_THREAD_STATES_HPP

// What each thread did when: in a call that waits, in another call of CUDA's libraries, in an
// operator, in a region, or in no scope. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a thread does; where it is in a call, that counts, whatever scope is around it.
enum class host_state : std::uint8_t {
  synchronising,  ///< in a call that waits for a device, a stream or an event
  calling,        ///< in another call of CUDA's libraries
  in_operator,
  in_region,
  outside,  ///< in no scope
};
inline constexpr std::size_t host_states = 5;

namespace detail {

/// Whether the thread waits in the call.
inline bool blocks(const timed_call& c) noexcept {
  return c.waits_for != awaited::nothing && c.kind != call_kind::stream_wait;
}

struct thread_calls {
  interval_list waiting;
  interval_list any;  // waiting ones too
};

[[gnu::cold]] inline std::vector<thread_calls> calls_by_thread(const run_times& times) {
  std::vector<thread_calls> out(times.threads.size());
  const auto add = [&](std::uint32_t thread, interval span, bool waits) {
    if (thread >= out.size()) return;
    out[thread].any.push_back(span);
    if (waits) out[thread].waiting.push_back(span);
  };
  for (const timed_item& i : times.items)
    if (i.launched) add(i.thread, i.call, false);
  for (const timed_call& c : times.calls) add(c.thread, c.span, blocks(c));
  for (thread_calls& c : out) {
    c.any = union_of(std::move(c.any));
    c.waiting = union_of(std::move(c.waiting));
  }
  return out;
}

/// Says of any stretch of a thread's time in which states and scopes it was.
class thread_states {
 public:
  [[gnu::cold]] explicit thread_states(const run_times& times) : times_(times) {
    for (thread_calls& c : calls_by_thread(times)) {
      waiting_.emplace_back(std::move(c.waiting));
      calls_.emplace_back(std::move(c.any));
    }
  }

  /// Calls visit(node, state, ns) for the parts of the stretch, whose sum is its length; of an
  /// unknown thread nothing. `node`: the innermost scope, or none.
  template <class Visit>
  [[gnu::cold]] void each(std::uint32_t thread, interval span, const Visit& visit) const {
    if (thread >= times_.threads.size()) return;
    const std::vector<host_segment>& segments = times_.threads[thread];
    auto at = std::partition_point(segments.begin(), segments.end(),
                                   [&](const host_segment& s) { return s.span.end <= span.begin; });
    std::int64_t t = span.begin;
    for (; at != segments.end() && span.end > at->span.begin; ++at) {
      split(thread, {t, at->span.begin}, scope_node::none, visit);
      t = std::min(at->span.end, span.end);
      split(thread, {std::max(at->span.begin, span.begin), t}, at->node, visit);
    }
    split(thread, {t, span.end}, scope_node::none, visit);
  }

  bool waits_in(std::uint32_t thread, interval span) const noexcept {
    return thread < waiting_.size() && waiting_[thread].within(span) > 0;
  }

 private:
  template <class Visit>
  [[gnu::cold]] void split(std::uint32_t thread, interval span, std::uint32_t node,
                           const Visit& visit) const {
    if (span.length() == 0) return;
    const std::int64_t waiting = waiting_[thread].within(span);
    const std::int64_t calling = calls_[thread].within(span) - waiting;
    const std::int64_t own = span.length() - waiting - calling;
    const bool in_op = node != scope_node::none && times_.operators[node] != scope_node::none;
    if (waiting > 0) visit(node, host_state::synchronising, waiting);
    if (calling > 0) visit(node, host_state::calling, calling);
    if (own > 0)
      visit(node,
            in_op                      ? host_state::in_operator
            : node != scope_node::none ? host_state::in_region
                                       : host_state::outside,
            own);
  }

  const run_times& times_;
  std::vector<measured_intervals> waiting_;  // of each thread
  std::vector<measured_intervals> calls_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
