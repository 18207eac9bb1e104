// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_HPP
#define KPROF_REPORT_TEXT_HPP

// The report for people: a profile as a page of text, with the tables of operators, kernels and
// copies, the call tree and an account of what was not seen. Include it to print a profile; it is
// the output "report". No line is wider than asked. Linear in the profile, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/status.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/report/text/report_output.hpp>
#include <kprof/report/text/write_text.hpp>
#endif

#include <string>

KPROF_DETAIL_BEGIN

/// Puts the report into `out`, which is left alone when an option is wrong or memory runs out, or
/// was lacking for the profile. Text of the program is made safe to print. Any number of threads
/// may call it.
///     std::string page;
///     const kprof::status s = kprof::write_text(kprof::snapshot(), {.width = 120}, page);
KPROF_DETAIL_SESSION status write_text(const profile& p, const report_options& options,
                                       std::string& out);

KPROF_DETAIL_END

#endif
