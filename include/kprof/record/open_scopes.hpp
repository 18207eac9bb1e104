// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_OPEN_SCOPES_HPP
#define KPROF_RECORD_OPEN_SCOPES_HPP

// The tokens of the scopes that are open on one thread, and which of the tokens given out before
// are stale. Opening and closing in order is an addition and a subtraction; only an end out of
// order looks further. For the thread itself; no other may touch it.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// How many scopes are open with this one, itself included. A chunk holds the ends of all open
/// scopes, so no more than 4096 are ever open on a thread.
constexpr std::uint16_t depth_of(scope_token token) noexcept {
  return static_cast<std::uint16_t>(token);
}
/// How often scopes had ended out of order when the token was given out, modulo 65536.
constexpr std::uint16_t epoch_of(scope_token token) noexcept {
  return static_cast<std::uint16_t>(token >> 16U);
}

class open_scopes {
 public:
  /// Instead of the innermost scope's token while the log is being changed, and in a log that is
  /// nobody's. No scope has it.
  static constexpr scope_token changing = ~scope_token{0};

  constexpr open_scopes() noexcept = default;
  /// `innermost`: the token that the first scope's token comes after.
  constexpr explicit open_scopes(scope_token innermost) noexcept : innermost_(innermost) {}

  /// Begins anew for the log of this number, which all tokens carry.
  void restart(std::uint32_t log_number) noexcept {
    cuts_size_ = 0;
    set_innermost(scope_token{log_number} << 32U);
  }

  scope_token innermost() const noexcept { return __atomic_load_n(&innermost_, __ATOMIC_RELAXED); }
  std::uint16_t depth() const noexcept { return depth_of(innermost()); }

  /// The thread is about to append to its log. Until it sets the innermost scope again, a signal's
  /// handler that interrupts it has no scope to close and, at this depth, no room for another one.
  void begin_change() noexcept {
    __atomic_store_n(&innermost_, changing, __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool is_changing() const noexcept { return innermost() == changing; }
  /// Ends a change.
  void set_innermost(scope_token innermost) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    __atomic_store_n(&innermost_, innermost, __ATOMIC_RELAXED);
  }

  /// Opens a scope in the one of token `around`.
  scope_token open(scope_token around) noexcept {
    set_innermost(around + 1);
    return around + 1;
  }
  scope_token open() noexcept { return open(innermost()); }
  /// Closes the innermost scope, whose token is `innermost`.
  void close_innermost(scope_token innermost) noexcept { set_innermost(innermost - 1); }

  /// Whether `token` names a scope that is open. A scope that ended with the one around it is not
  /// open, whatever has been opened at its depth since.
  bool is_open(scope_token token) const noexcept {
    if (token >> 32U != innermost() >> 32U || depth_of(token) > depth() || depth_of(token) == 0)
      return false;
    // Cuts are ordered by depth, so the first one after the token was given out cut the most.
    for (std::uint32_t i = 0; i < cuts_size_; ++i)
      if (static_cast<std::int16_t>(cuts_[i].epoch - epoch_of(token)) > 0)
        return depth_of(token) < cuts_[i].depth;
    return true;
  }

  /// Closes the scope of this depth and all scopes inside it. Where there are any, their tokens
  /// become stale.
  void close_from(std::uint16_t depth_closed) noexcept {
    const bool scopes_inside = depth_closed < depth();
    const scope_token around = innermost() - (depth() - depth_closed + 1U);
    set_innermost(around);
    if (!scopes_inside) return;
    const auto epoch = static_cast<std::uint16_t>(epoch_of(around) + 1);
    while (cuts_size_ != 0 && cuts_[cuts_size_ - 1].depth >= depth_closed) --cuts_size_;
    // Epochs go round. A cut is forgotten, and with it which tokens are stale, before its own epoch
    // comes again.
    const bool oldest_expires =
        cuts_size_ != 0 && static_cast<std::uint16_t>(epoch - cuts_[0].epoch) > 0x4000U;
    if (cuts_size_ == max_cuts || oldest_expires) std::copy(cuts_ + 1, cuts_ + cuts_size_--, cuts_);
    cuts_[cuts_size_++] = {epoch, depth_closed};
    set_innermost((around & ~scope_token{0xFFFF0000U}) | scope_token{epoch} << 16U);
  }

 private:
  /// An end out of order.
  struct cut {
    std::uint16_t epoch;  // that began with it
    std::uint16_t depth;  // scopes from here on ended
  };
  // With more, late ends of the outermost scopes are no longer told from others.
  static constexpr std::uint32_t max_cuts = 64;

  scope_token innermost_ = 0;
  std::uint32_t cuts_size_ = 0;
  cut cuts_[max_cuts] = {};  // later ones are deeper
};

}  // namespace detail
KPROF_DETAIL_END

#endif
