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
// Under no condition, before headers that include it under one: kprof as one header has it once.
#include <kprof/session/build_name.hpp>

#include <kprof/session.hpp>
#include <kprof/settings.hpp>
#include <kprof/version.hpp>

#if KPROF_ENABLE

KPROF_DETAIL_BEGIN
namespace detail {

/// Makes the session of the process, if there is none, and arms it. A file that leaves the session
/// to a library calls it too, so that a linker takes the session out of the library, and only out
/// of one of the same build.
KPROF_DETAIL_SESSION void arm_session(this_build) noexcept;

#if !KPROF_SESSION_ELSEWHERE
KPROF_DETAIL_SESSION void arm_session(this_build) noexcept {
  tell_session([](const owner_functions& s) { s.arm(); });
}
#endif

struct arming {
  arming() noexcept { arm_session({}); }
};
// Before other static objects, whose constructors may have guards, and after the outputs, which
// KPROF may name. So the report at exit comes after those objects' destructors.
KPROF_DETAIL_LOCAL
[[gnu::init_priority(102)]] inline arming armed_by_including_kprof;

}  // namespace detail
KPROF_DETAIL_END

#endif

#endif
