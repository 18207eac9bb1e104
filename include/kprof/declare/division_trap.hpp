// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DIVISION_TRAP_HPP
#define KPROF_DECLARE_DIVISION_TRAP_HPP

// Runs what operators declare and what may divide by zero: formulas, and the text of a call. kprof
// evaluates them for the profile, at a time when the program does not call them: a SIGFPE from one
// must not end the program.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>

#include <atomic>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL division_trap {
 public:
  using formulas = void (*)(const void*, work&) noexcept;

  /// Evaluates, and removes its signal handler afterwards, since the module with this code may be
  /// unloaded. The caller lets one thread in at a time. Where SIGFPE stops a formula, `out` says
  /// that the declared formulas have no valid value.
  static void run(formulas evaluate, const void* params, work& out) noexcept {
    if (!runs([&] { evaluate(params, out); })) out = without_value();
  }
  /// Any function that does not throw and leaves nothing behind that it would have to undo; false
  /// where SIGFPE stops it.
  template <class Function>
  static bool runs(Function function) noexcept {
    const bool is_new = install(false);
    const bool ended = ends(function);
    const handler_lock lock;
    if (is_new && !keeps_handler_) remove();
    return ended;
  }
  /// The same from any number of threads at once. Leaves the handler installed: for a module that
  /// is never unloaded.
  static void run_keeping_handler(formulas evaluate, const void* params, work& out) noexcept {
    static_cast<void>(install(true));
    if (!ends([&] { evaluate(params, out); })) out = without_value();
  }

 private:
  /// Guards the process's handler, previous_ and keeps_handler_. Spins, since its holders do no
  /// more than a system call, and gives up after a while: in the child of a fork the thread that
  /// holds it may not exist.
  struct handler_lock {
    handler_lock() noexcept {
      for (int i = 0; i < 10'000'000 && locked_.exchange(true, std::memory_order_acquire); ++i) {}
    }
    ~handler_lock() { locked_.store(false, std::memory_order_release); }
    handler_lock(const handler_lock&) = delete;
    handler_lock& operator=(const handler_lock&) = delete;
  };

  /// False where the handler is installed already.
  static bool install(bool keep) noexcept {
    const handler_lock lock;
    keeps_handler_ = keeps_handler_ || keep;
    struct sigaction ours {
    }, before{};
    ours.sa_sigaction = &handler;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &ours, &before);
    if (is_ours(before)) return false;
    previous_ = before;
    return true;
  }
  /// Puts the previous handler back, unless the program has installed another one meanwhile.
  static void remove() noexcept {
    struct sigaction current {};
    sigaction(SIGFPE, nullptr, &current);
    if (!is_ours(current)) return;
    sigaction(SIGFPE, &previous_, &current);
    if (!is_ours(current)) sigaction(SIGFPE, &current, nullptr);  // installed between the two calls
  }
  static bool is_ours(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handler;
  }

  /// That the declared formulas have no valid value.
  static work without_value() noexcept {
    work out{};
    out.has_flops = out.has_bytes = 1;
    return out;
  }

  template <class Function>
  static bool ends(Function function) noexcept {
    sigset_t division, mask;  // a fault whose signal is blocked ends the process
    sigemptyset(&division);
    sigaddset(&division, SIGFPE);
    pthread_sigmask(SIG_UNBLOCK, &division, &mask);
    // A handler starts with the default rounding and exceptions, and siglongjmp() keeps them.
    fenv_t arithmetic;
    fegetenv(&arithmetic);
    sigjmp_buf back;
    volatile bool ended = false;
    if (sigsetjmp(back, 0) == 0) {
      jump_ = &back;
      function();
      ended = true;
    } else {
      fesetenv(&arithmetic);
    }
    jump_ = nullptr;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    return ended;
  }

  static void handler(int signal, siginfo_t* info, void* context) noexcept {
    if (jump_ != nullptr) siglongjmp(*jump_, 1);
    // A fault of the program's own, or a signal that was sent: the previous handler's.
    if ((previous_.sa_flags & SA_SIGINFO) != 0)
      return previous_.sa_sigaction(signal, info, context);
    if (previous_.sa_handler != SIG_DFL && previous_.sa_handler != SIG_IGN)
      return previous_.sa_handler(signal);
    const bool ignored = previous_.sa_handler == SIG_IGN;
    sigaction(SIGFPE, &previous_, nullptr);  // a fault happens again, and ends the program
    if (info->si_code <= 0 && !ignored) raise(signal);
  }
  KPROF_DETAIL_LOCAL static inline thread_local sigjmp_buf* jump_ = nullptr;
  KPROF_DETAIL_LOCAL static inline struct sigaction previous_ {};
  KPROF_DETAIL_LOCAL static inline std::atomic<bool> locked_{false};
  KPROF_DETAIL_LOCAL static inline bool keeps_handler_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
