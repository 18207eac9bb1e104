// SPDX-License-Identifier: MIT
#ifndef KPROF_KPROF_HPP
#define KPROF_KPROF_HPP

// Everything a program needs: declare operators, guard code, record, report. Including it arms a
// session that starts with the first scope, as the environment variable KPROF says (settings.hpp).
// A library that only declares and guards includes guard.hpp instead, which is light and arms
// nothing. It takes seconds to compile, but for KPROF_SESSION_ELSEWHERE=1 (build_options.hpp).

#include <kprof/build_options.hpp>
#include <kprof/guard.hpp>
#include <kprof/op.hpp>
#include <kprof/registry.hpp>
#include <kprof/session.hpp>
#include <kprof/settings.hpp>
#include <kprof/version.hpp>

#if KPROF_ENABLE && !KPROF_SESSION_ELSEWHERE

KPROF_DETAIL_BEGIN
namespace detail {

struct arming {
  arming() {
    std::string why;
    if (session_state* s = find_session(why)) s->arm();
  }
};
KPROF_DETAIL_LOCAL inline arming armed_by_including_kprof;

}  // namespace detail
KPROF_DETAIL_END

#endif

#endif
