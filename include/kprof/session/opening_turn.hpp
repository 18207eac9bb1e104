// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_OPENING_TURN_HPP
#define KPROF_SESSION_OPENING_TURN_HPP

// Opening CUPTI may take so long that the recording for which a thread opens it has been stopped by
// another thread meanwhile, or goes on without CUPTI. Then nobody else would let go of CUPTI.
// Included by session_state.hpp.

#include <kprof/build_options.hpp>
#include <kprof/session/bootstrap.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/write/attempt.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it lives, its thread starts or stops a recording of the session. The last of several
/// threads ends collecting where no recording wants it. It dies without the session's lock.
template <class Session>
class opening_turn {
 public:
  explicit opening_turn(Session& session) noexcept : session_(session) { ++session_.openers_; }
  ~opening_turn() {
    if (--session_.openers_ != 0) return;
    static_cast<void>(attempt([this] {
      const auto is_wanted = [this] {
        const session_lock lock(session_.mutex_);
        return session_.openers_ != 0 ||
               (session_.phases_.is_running() && session_.settings_.cupti != cupti_choice::off);
      };
      if (!is_wanted()) session_.device_.stop_unless(is_wanted);
    }));
  }
  opening_turn(const opening_turn&) = delete;
  opening_turn& operator=(const opening_turn&) = delete;

 private:
  Session& session_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
