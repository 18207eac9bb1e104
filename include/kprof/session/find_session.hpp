// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_FIND_SESSION_HPP
#define KPROF_SESSION_FIND_SESSION_HPP

// Finds the session of the process by way of the hub, or makes it.

#include <kprof/attach/build_name.hpp>
#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/session/session_state.hpp>

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// The session of the process, made now if there is none; nullptr and the reason when another
/// build's cannot be used.
KPROF_DETAIL_LOCAL inline session_state* find_session(std::string& why) {
  hub_record& hub = the_hub();
  void* found = load(hub.session);
  if (found == nullptr) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    found = load(hub.session);
    if (found == nullptr) {
      auto* made = new session_state;
      // Another module may arm the session as soon as it finds it, and a guard then calls the
      // owner's code: the owner must be ready before.
      session_state::own(made);
      if (__atomic_compare_exchange_n(&hub.session, &found, static_cast<void*>(made), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        found = made;
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
  if (std::strcmp(build, session_build) == 0) return static_cast<session_state*>(found);
  why = std::string("the session of this process belongs to another build (") + build +
        "; this is " + session_build + "); build both alike";
  return nullptr;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
