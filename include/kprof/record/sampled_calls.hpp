// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_SAMPLED_CALLS_HPP
#define KPROF_RECORD_SAMPLED_CALLS_HPP

// A few usual calls of one place, spread evenly over all of its calls, each as likely to be among
// them as any other. Included by the totals that count calls. Not thread-safe.

#include <kprof/build_options.hpp>
#include <kprof/record/slow_calls.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of each stretch of `stride` successive calls one, drawn at random. When there is no more room,
/// two neighbouring stretches become one, and one of their two calls stays.
class sampled_calls {
 public:
  using call = slow_calls::call;
  static constexpr std::uint32_t most = 32;

  /// `seed`: of the random numbers.
  explicit sampled_calls(std::uint32_t seed = 0) noexcept
      : state_((std::uint64_t{seed} + 1) * 0x9E3779B97F4A7C15U) {}

  /// Puts in a call that `before` others came before, and returns how many will have come before
  /// the next one to put in.
  std::uint64_t put(const call& c, std::uint64_t before) noexcept {
    if (count_ == most) {
      const std::uint64_t half = stride_;
      thin(*this);
      // It is of the first half of a stretch now, and may give way to one of the second.
      if (draw() % 2 != 0) return (before / half + 1) * half + draw() % half;
    }
    calls_[count_++] = c;
    return next_after(before);
  }
  /// Puts in those of another place, or thread. `before`: how many calls both have had; returns as
  /// put() does.
  std::uint64_t put_all(sampled_calls other, std::uint64_t before) noexcept {
    while (stride_ != other.stride_ || count_ + other.count_ > most) {
      const bool thins_own = stride_ <= other.stride_, thins_other = other.stride_ <= stride_;
      if (thins_own) thin(*this);
      if (thins_other) other.thin(*this);
    }
    call both[most];
    std::merge(calls_, calls_ + count_, other.calls_, other.calls_ + other.count_, both,
               &ended_before);
    count_ += other.count_;
    std::copy_n(both, count_, calls_);
    return next_after(before);
  }
  /// Puts in all calls of a place that has had no more of them than slow_calls keeps.
  void put_few(const slow_calls& all) noexcept {
    all.each([this](const call& c) { calls_[count_++] = c; });
    std::sort(calls_, calls_ + count_, &ended_before);
  }

  /// Calls f(call) for each, in the order of their ends.
  template <class F>
  void each(F f) const {
    std::for_each_n(calls_, count_, f);
  }

 private:
  static bool ended_before(const call& a, const call& b) noexcept { return a.end < b.end; }

  std::uint64_t next_after(std::uint64_t before) noexcept {
    return (before / stride_ + 1) * stride_ + draw() % stride_;
  }
  /// `random`: whose random numbers are used.
  void thin(sampled_calls& random) noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count_; i += 2) {
      const std::uint64_t drawn = i + random.draw() % 2;  // the last may be alone
      if (drawn < count_) calls_[kept++] = calls_[drawn];
    }
    count_ = kept;
    stride_ *= 2;
  }
  std::uint64_t draw() noexcept {  // xorshift64*
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545F4914F6CDD1DU >> 32U;
  }

  std::uint64_t stride_ = 1;
  std::uint64_t state_;  // is never 0
  std::uint32_t count_ = 0;
  call calls_[most];
};

}  // namespace detail
KPROF_DETAIL_END

#endif
