// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_WRITE_HPP
#define KPROF_REPORT_WRITE_HPP

// Writes a profile in any output that this binary knows: "report", and those whose headers in
// kprof/report/ it includes. Include it with them; kprof.hpp and session.hpp include it too.

#include <kprof/build_options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/status.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/report/output/write.hpp>
#endif

#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Writes the profile in any output, to the file that its option `path` names ("%p" in it is the
/// process id, "%h" the host, "%r" the MPI rank) or to standard output. An output or option that is
/// not known, a file that cannot be written, and a snapshot for which there was no memory, are in
/// the status with what to do; the program is not harmed. May be called by several threads at a
/// time, each with a path of its own.
///     kprof::write(kprof::snapshot(), "csv", {{"path", "run.csv"}});
KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                  const std::vector<option_setting>& options = {});
/// Puts what the output writes into `text`; `path` is not looked at.
KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                  const std::vector<option_setting>& options, std::string& text);

KPROF_DETAIL_END

#endif
