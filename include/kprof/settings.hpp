// SPDX-License-Identifier: MIT
#ifndef KPROF_SETTINGS_HPP
#define KPROF_SETTINGS_HPP

// The settings of a session and the grammar of the environment variable KPROF. One parser serves
// both.
//
//   settings = [ setting { "," setting } ]
//   setting  = word | word "=" value | word "(" [ option { "," option } ] ")"
//   option   = word | word "=" value
//   value    = characters without , ( ) or "text" in quotes, where a backslash keeps the next " or
//            backslash
//
//   A switch takes on, off, 1, 0, true or false; without a value it is on. Sizes take B, K, KiB, M,
//   MiB, G or GiB.
//
// SETTINGS
//
//   KPROF="memory=256MiB,report(path=run-%p.txt,width=160,sort=total)"

#include <kprof/build_options.hpp>
#include <kprof/session/settings_value.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/session/settings_parser.hpp>
#endif

#endif
