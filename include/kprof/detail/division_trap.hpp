// SPDX-License-Identifier: MIT
#ifndef KPROF_DETAIL_DIVISION_TRAP_HPP
#define KPROF_DETAIL_DIVISION_TRAP_HPP

// Runs formulas that may divide by zero. They are users' code over users' values, run for the profile and not for the
// program: a signal here would kill a program that had done nothing wrong.

#include <kprof/config.hpp>
#include <kprof/detail/descriptor.hpp>

#include <signal.h>
#include <ucontext.h>

#include <csetjmp>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL division_trap {
 public:
  /// Evaluates with the handler in place only meanwhile, since this code may be unloaded. One at a time, as the caller sees
  /// to. When SIGFPE stops a formula, `out` says that what is declared has no valid value.
  static void run(void (*evaluate)(const void*, work&) noexcept, const void* params, work& out) noexcept {
    const bool was_there = !install();
    run_installed(evaluate, params, out);
    if (!was_there) sigaction(SIGFPE, &theirs_, nullptr);
  }

  /// Puts the handler in place for good; false when it was there. For code that is never unloaded.
  static bool install() noexcept {
    struct sigaction ours{}, before{};
    ours.sa_sigaction = &handler;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &ours, &before);
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == &handler) return false;
    theirs_ = before;
    return true;
  }
  /// The same as run() behind install(), on any number of threads at once and without a system call.
  static void run_installed(void (*evaluate)(const void*, work&) noexcept, const void* params, work& out) noexcept {
    sigjmp_buf back;
    if (sigsetjmp(back, 0) == 0) {   // without the signal mask, which would be a system call every time
      jump_ = &back;
      evaluate(params, out);
    } else {
      pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
      out = work{};
      out.has_flops = out.has_bytes = 1;
    }
    jump_ = nullptr;
  }

 private:
  static void handler(int signal, siginfo_t* info, void* context) noexcept {
    if (jump_ != nullptr) {
      mask_ = static_cast<const ucontext_t*>(context)->uc_sigmask;   // that of the formula
      siglongjmp(*jump_, 1);
    }
    // A fault of the program's own: for the handler that was there.
    if ((theirs_.sa_flags & SA_SIGINFO) != 0) theirs_.sa_sigaction(signal, info, context);
    else if (theirs_.sa_handler != SIG_DFL && theirs_.sa_handler != SIG_IGN) theirs_.sa_handler(signal);
    else sigaction(SIGFPE, &theirs_, nullptr);   // it happens again, and ends the program
  }
  KPROF_DETAIL_LOCAL static inline thread_local sigjmp_buf* jump_ = nullptr;
  KPROF_DETAIL_LOCAL static inline thread_local sigset_t mask_{};
  KPROF_DETAIL_LOCAL static inline struct sigaction theirs_{};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
