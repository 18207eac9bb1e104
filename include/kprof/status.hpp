// SPDX-License-Identifier: MIT
#ifndef KPROF_STATUS_HPP
#define KPROF_STATUS_HPP

// How set-up and outputs tell that something did not work. A function that returns a status throws
// nothing: memory that has run out is the error "out of memory". kprof prints nothing of its own
// accord but what is wrong with KPROF or with the report that KPROF asked for: a program that wants
// to know looks at the status, one that does not runs on.

#include <kprof/build_options.hpp>

#include <string>

KPROF_DETAIL_BEGIN

/// Whether something worked; if not, what was wrong and what to do about it, in one line.
///     if (kprof::status s = kprof::write_output("run.txt", text); !s)
///     std::fputs(s.message.c_str(), stderr);
struct status {
  std::string message;  ///< empty: it worked

  bool ok() const noexcept { return message.empty(); }
  explicit operator bool() const noexcept { return ok(); }
};

KPROF_DETAIL_END

#endif
