// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_FIND_SESSION_HPP
#define KPROF_SESSION_FIND_SESSION_HPP

// Finds the session of the process by way of the hub, or makes it.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/session/build_name.hpp>
#include <kprof/session/owner_functions.hpp>
#include <kprof/session/session_state.hpp>
#include <kprof/status.hpp>
#include <kprof/write/standard_streams.hpp>
#include <kprof/write/within_memory.hpp>

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// The session of this module, if it is the owner, as all modules call it.
KPROF_DETAIL_LOCAL inline const owner_functions& functions_of_own_session() noexcept {
  using own = session_state;
  static constexpr owner_functions table{
      session_build,
      [] { own::own_session->arm(); },
      [](const settings& wanted) { return own::own_session->start(wanted); },
      [] { return own::own_session->start(); },
      [] { own::own_session->stop(); },
      [] { own::own_session->pause(); },
      [] { own::own_session->resume(); },
      [](bool timeline) { return own::own_session->snapshot(timeline); },
      [] { return own::own_session->report_settings(); },
      [](const profile& run) { own::own_session->reported(run); },
      [](int descriptor, bool for_program) noexcept {
        return own::own_session->streams.has(descriptor, for_program);
      },
  };
  return table;
}

/// The session of the process, made now if there is none; nullptr and the reason when another
/// build's cannot be used.
KPROF_DETAIL_LOCAL inline const owner_functions* find_session(std::string& why) {
  hub_record& hub = the_hub();
  const void* found = load(hub.session);
  if (found == nullptr) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    found = load(hub.session);
    if (found == nullptr) {
      auto* made = new session_state;
      // Another module may arm the session as soon as it finds it, and a guard then calls the
      // owner's code: the owner must be ready before.
      session_state::own(made);
      const void* const functions = &functions_of_own_session();
      if (__atomic_compare_exchange_n(&hub.session, &found, functions, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
        found = functions;
        keep_loaded();
        made->previous_detach_ =
            __atomic_exchange_n(&hub.detach, &session_state::detach, __ATOMIC_SEQ_CST);
        pthread_atfork([] { session_state::own_session->before_fork(); },
                       [] { session_state::own_session->after_fork(); },
                       [] { session_state::own_session->in_child(); });
      } else {
        session_state::own(nullptr);
        delete made;
      }
    }
  }
  const char* build = *static_cast<const char* const*>(found);
  if (std::strcmp(build, session_build) == 0) {
    const auto* const session = static_cast<const owner_functions*>(found);
    known_streams = session->is_stream;
    return session;
  }
  why = std::string("the session of this process belongs to another build (") + build +
        "; this is " + session_build + "); build both alike";
  return nullptr;
}

/// What use(session) returns; an error where there is no session or no memory. The thread is not
/// cancelled meanwhile.
template <class Use>
KPROF_DETAIL_LOCAL status with_session(Use use) {
  const hold_cancellation hold;
  return within_memory([&] {
    std::string why;
    const owner_functions* const s = find_session(why);
    return s == nullptr ? status{why} : use(*s);
  });
}

}  // namespace detail
KPROF_DETAIL_END

#endif
