// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_SLOW_CALLS_HPP
#define KPROF_RECORD_SLOW_CALLS_HPP

// The slowest calls of one place, with when they ended. Included by the totals that count calls.
// Not thread-safe.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

class slow_calls {
 public:
  struct call {
    std::uint64_t ticks = 0;
    std::uint64_t end = 0;
  };
  static constexpr std::size_t most = 3;

  /// Puts in a call that takes longer than the least of those that are kept, and returns how long
  /// the next one must take to get in.
  [[gnu::noinline]] std::uint64_t put(std::uint64_t ticks, std::uint64_t end) noexcept {
    std::size_t at = most - 1;
    if (ticks <= calls_[at].ticks) return calls_[at].ticks;
    for (; at > 0 && calls_[at - 1].ticks < ticks; --at) calls_[at] = calls_[at - 1];
    calls_[at] = {ticks, end};
    return calls_[most - 1].ticks;
  }
  std::uint64_t put_all(const slow_calls& other) noexcept {
    for (const call& c : other.calls_) put(c.ticks, c.end);
    return calls_[most - 1].ticks;
  }

  std::uint64_t longest() const noexcept { return calls_[0].ticks; }
  /// Calls f(call) for each that is kept, the longest first. Those of no tick are not kept.
  template <class F>
  void each(F f) const {
    for (const call& c : calls_)
      if (c.ticks != 0) f(c);
  }

 private:
  call calls_[most];
};

}  // namespace detail
KPROF_DETAIL_END

#endif
