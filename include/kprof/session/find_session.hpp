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
#include <kprof/session/step_functions.hpp>
#include <kprof/status.hpp>
#include <kprof/write/standard_streams.hpp>
#include <kprof/write/within_memory.hpp>

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

KPROF_DETAIL_LOCAL inline bool is_stream_of_own_session(int descriptor, bool for_program) noexcept {
  return session_state::own_session->streams.has(descriptor, for_program);
}

[[gnu::cold]] inline profile empty_profile(const char* why) {
  profile out;
  out.state = why;
  return out;
}

/// Where a signal's handler or an allocator calls the session while its thread is inside kprof, and
/// has locks of its: waiting for them would last for ever. So after a jump out of such a handler.
inline constexpr const char* inside_already =
    "called by a thread that is inside kprof already: from a signal's handler or an allocator, or "
    "after a jump out of one";

/// The session of this module, if it is the owner, as all modules call it.
KPROF_DETAIL_LOCAL inline const owner_functions& functions_of_own_session() noexcept {
  using own = session_state;
  static constexpr owner_functions table{
      session_build,
      [] { own::own_session->steps.arm(); },
      [](const settings& wanted) {
        return inside_kprof ? status{inside_already} : own::own_session->start(wanted);
      },
      [] { return inside_kprof ? status{inside_already} : own::own_session->start(); },
      [] {
        if (!inside_kprof) own::own_session->steps.stop();
      },
      [] {
        if (!inside_kprof) own::own_session->pause();
      },
      [] {
        if (!inside_kprof) own::own_session->resume();
      },
      [](single_scopes wanted) {
        if (inside_kprof) return empty_profile(inside_already);
        profile run = own::own_session->steps.snapshot(wanted);
        own::own_session->ceilings.add_to(run);
        return run;
      },
      [](profile& run) {
        if (!inside_kprof) own::own_session->ceilings.add_to_report(run, 0);
      },
      [] { return inside_kprof ? report_options{} : own::own_session->report_settings(); },
      [](const profile& run) {
        if (!inside_kprof) own::own_session->reported(run);
      },
      [](const step_schedule& wanted) {
        return inside_kprof ? status{inside_already} : own::own_session->steps.set_schedule(wanted);
      },
      [](profile_function use, void* context) {
        if (!inside_kprof) own::own_session->steps.on_profile(use, context);
      },
      &is_stream_of_own_session,
  };
  return table;
}

/// What modules call in a process without a recorder to rely on: none of it takes a lock.
KPROF_DETAIL_LOCAL inline const owner_functions& functions_of_lost_session() noexcept {
  static constexpr const char* why =
      "this process was forked by a signal's handler that had interrupted kprof, and has no "
      "profile";
  static constexpr owner_functions table{
      session_build,
      [] {},
      [](const settings&) { return status{why}; },
      [] { return status{why}; },
      [] {},
      [] {},
      [] {},
      [](single_scopes) { return empty_profile(why); },
      [](profile&) {},
      [] { return report_options{}; },
      [](const profile&) {},
      [](const step_schedule&) { return status{why}; },
      [](profile_function, void*) {},
      &is_stream_of_own_session,
  };
  return table;
}

// A signal's handler may fork while its thread is inside kprof and has some of the locks: then
// waiting for them would last for ever.
KPROF_DETAIL_LOCAL inline bool can_be_forked() noexcept {
  return !inside_kprof && !recorder_is_lost;
}
// In the order of locks: docs/architecture.md, "Locks".
KPROF_DETAIL_LOCAL inline void before_fork() {
  if (!can_be_forked()) return;
  session_state& session = *session_state::own_session;
  session.writing.before_fork();
  session.steps.before_fork();
  session.before_fork();
  session.ceilings.before_fork();
}
KPROF_DETAIL_LOCAL inline void after_fork() {
  if (!can_be_forked()) return;
  session_state& session = *session_state::own_session;
  session.ceilings.after_fork();
  session.after_fork();
  session.steps.after_fork();
  session.writing.after_fork();
}
KPROF_DETAIL_LOCAL inline void in_child() {
  store(modules_told.is_in_child, true);
  end_watch::in_child();
  if (can_be_forked()) {
    session_state& session = *session_state::own_session;
    session.ceilings.in_child();
    session.in_child();
    session.steps.after_fork();
    return session.writing.in_child();
  }
  recorder_is_lost = true;
  hub_record& hub = the_hub();
  store(hub.session, static_cast<const void*>(&functions_of_lost_session()));
  store(hub.detach, session_state::own_session->previous_detach_);
}

/// The session of the process, made now if there is none; nullptr and the reason when another
/// build's cannot be used.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline const owner_functions* find_session(std::string& why) {
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
        store(hub.step, &step_of_own_session);
        pthread_atfork(&before_fork, &after_fork, &in_child);
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
