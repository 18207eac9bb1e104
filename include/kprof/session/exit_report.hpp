// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EXIT_REPORT_HPP
#define KPROF_SESSION_EXIT_REPORT_HPP

// The report that the settings ask for at the end of the program. It is left out when the program
// has just printed the same one itself.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <cstdlib>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether no scope has begun or ended between the two.
inline bool same_scopes(const completeness& a, const completeness& b) noexcept {
  return a.recorded == b.recorded && a.open == b.open && a.dropped == b.dropped &&
         a.dropped_inside == b.dropped_inside && a.closed_by_parent == b.closed_by_parent &&
         a.closed_elsewhere == b.closed_elsewhere && a.never_closed == b.never_closed;
}

/// Guarded by the session's lock.
class exit_report {
 public:
  /// Has `handler` run at exit() and quick_exit(), which is the owner's code. Only the first call
  /// counts.
  void request(void (*handler)()) {
    if (requested_) return;
    requested_ = true;
    std::atexit(handler);
    std::at_quick_exit(handler);
  }
  /// Forgets what the program has printed: another recording begins.
  void restart() noexcept { program_has_reported_ = false; }
  /// The program has printed a report of these scopes. `as_at_exit`: as the one at exit would be.
  void note_reported(const completeness& scopes, bool as_at_exit) {
    program_has_reported_ = as_at_exit;
    reported_ = scopes;
  }
  /// Whether the program has not printed these scopes yet.
  bool is_due(const completeness& scopes) const noexcept {
    return !program_has_reported_ || !same_scopes(scopes, reported_);
  }

 private:
  bool requested_ = false;
  bool program_has_reported_ = false;
  completeness reported_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
