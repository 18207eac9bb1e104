// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DIVISION_TRAP_HPP
#define KPROF_DECLARE_DIVISION_TRAP_HPP

// Runs formulas that may divide by zero. They are users' code over users' values, run for the
// profile and not for the program: a signal here would kill a program that had done nothing wrong.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL division_trap {
 public:
  using formulas = void (*)(const void*, work&) noexcept;

  /// Evaluates with the handler in place only meanwhile, since this code may be unloaded. One at a
  /// time, as the caller sees to. When SIGFPE stops a formula, `out` says that what is declared has
  /// no valid value.
  static void run(formulas evaluate, const void* params, work& out) noexcept {
    const bool is_new = install(false);
    guarded(evaluate, params, out);
    const changing_handler lock;
    if (is_new && !stays_) sigaction(SIGFPE, &theirs_, nullptr);
  }
  /// The same on any number of threads at once. Leaves the handler in place: for code that is never
  /// unloaded.
  static void run_and_stay(formulas evaluate, const void* params, work& out) noexcept {
    static_cast<void>(install(true));
    guarded(evaluate, params, out);
  }

 private:
  /// What it guards takes a system call. Not waited for for ever: in the child of a fork the thread
  /// that has it may not exist.
  struct changing_handler {
    changing_handler() noexcept {
      for (int i = 0; i < 10'000'000 && __atomic_exchange_n(&changing_, true, __ATOMIC_ACQUIRE);
           ++i) {}
    }
    ~changing_handler() { __atomic_store_n(&changing_, false, __ATOMIC_RELEASE); }
    changing_handler(const changing_handler&) = delete;
    changing_handler& operator=(const changing_handler&) = delete;
  };

  /// False when the handler was there.
  static bool install(bool stays) noexcept {
    const changing_handler lock;
    stays_ = stays_ || stays;
    struct sigaction ours {
    }, before{};
    ours.sa_sigaction = &handler;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &ours, &before);
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction == &handler) return false;
    theirs_ = before;
    return true;
  }

  static void guarded(formulas evaluate, const void* params, work& out) noexcept {
    sigset_t division, mask;  // a fault whose signal is blocked ends the process
    sigemptyset(&division);
    sigaddset(&division, SIGFPE);
    pthread_sigmask(SIG_UNBLOCK, &division, &mask);
    // a handler starts with rounding and exceptions as they are by default, and a jump keeps that
    fenv_t arithmetic;
    fegetenv(&arithmetic);
    sigjmp_buf back;
    if (sigsetjmp(back, 0) == 0) {
      jump_ = &back;
      evaluate(params, out);
    } else {
      fesetenv(&arithmetic);
      out = work{};
      out.has_flops = out.has_bytes = 1;
    }
    jump_ = nullptr;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }

  static void handler(int signal, siginfo_t* info, void* context) noexcept {
    if (jump_ != nullptr) siglongjmp(*jump_, 1);
    // A fault of the program's own, or a signal that was sent: for the handler that was there.
    if ((theirs_.sa_flags & SA_SIGINFO) != 0) return theirs_.sa_sigaction(signal, info, context);
    if (theirs_.sa_handler != SIG_DFL && theirs_.sa_handler != SIG_IGN)
      return theirs_.sa_handler(signal);
    const bool ignored = theirs_.sa_handler == SIG_IGN;
    sigaction(SIGFPE, &theirs_, nullptr);  // a fault happens again, and ends the program
    if (info->si_code <= 0 && !ignored) raise(signal);
  }
  KPROF_DETAIL_LOCAL static inline thread_local sigjmp_buf* jump_ = nullptr;
  KPROF_DETAIL_LOCAL static inline struct sigaction theirs_ {};
  KPROF_DETAIL_LOCAL static inline bool changing_ = false;
  KPROF_DETAIL_LOCAL static inline bool stays_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
