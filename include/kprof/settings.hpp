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
//   on                     record from the first scope (the default)
//   off                    do nothing at all
//   nvtx=on|off            send scopes to an attached NVTX tool (default on)
//   memory=SIZE            bound of the memory for logs and totals: a number and KiB, MiB or GiB; 1
//                          MiB at least (default 64MiB)
//   cupti=auto|on|off      attribute the GPU's work to operators: where the program is found to use
//                          CUDA, always, or never (default auto)
//   device_timeline=on|off note when devices worked, and which functions of CUDA's libraries took
//                          how long (default on)
//   clock=auto|system      time with the CPU's counter where it is reliable, or always with
//                          clock_gettime (default auto)
//   ceilings=auto|cache|measure|off|FILE
//                          what the processors reach: as measured earlier, or measured once by the
//                          first report; as measured earlier only; measured anew, and GPUs too; not
//                          known; as a file says (default auto)
//   step=REGION            regions of this name are the steps of the program; else what it says
//                          with kprof::step()
//   schedule(skip=N,wait=N,warmup=N,active=N,repeat=N)
//                          record some of the steps that kprof::step() begins: pass over skip of
//                          them, then, in each of repeat cycles (0: until the end), rest for wait,
//                          record and forget warmup, and record active
//   threads=N|all          threads that work in a call of an operator that does not say, as where a
//                          library shares its work; all: as many as the process may use CPUs
//   signals=on|off         write the outputs also when SIGINT, SIGTERM or SIGHUP ends the program,
//                          or std::terminate() does (default on)
//   verbose=on|off|FILE    print a line for each call of an operator soon after it ends, on
//                          standard error or into a file (default off)
//
//   And the outputs that the binary knows (report/output.hpp), such as report or report(...), which
//   are written when the program ends; NAME=off takes back what was said of NAME. Every output has
//   the option path.
//
//   KPROF="memory=256MiB,report(path=run-%p.txt,width=160,sort=total)"

#include <kprof/build_options.hpp>
#include <kprof/session/settings_value.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/session/settings_parser.hpp>
#endif

#endif
