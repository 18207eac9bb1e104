// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_END_WATCH_HPP
#define KPROF_SESSION_END_WATCH_HPP

// Has the outputs written when the program ends without exit(): by SIGINT, SIGTERM or SIGHUP, or by
// std::terminate(). A signal handler may interrupt any function, malloc and a guard among them, so
// it only wakes a thread of kprof's own and returns. The program runs on while that thread writes;
// then the thread restores the signal's default action and sends the signal again, which ends the
// process with the status that it would have had.

#include <kprof/build_options.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/record/this_thread.hpp>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>

KPROF_DETAIL_BEGIN
namespace detail {

/// The signals by which users, terminals and batch systems end a program.
inline constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

/// In the owner of the session. Started once a process; a forked child has no such thread, and a
/// signal ends it as if kprof were not there.
class KPROF_DETAIL_LOCAL end_watch {
 public:
  /// Writes the outputs, unless another thread has. `signal`: what ends the program; then calls
  /// end(signal). 0 and nullptr where it is no signal.
  using writer = void (*)(int signal, void (*end)(int signal) noexcept);

  /// Begins to watch. A signal that the program handles or ignores stays the program's. False where
  /// the system gives no thread; then nothing is watched. Not for two threads at once.
  static bool start(writer write) noexcept {
    if (process != 0) return true;
    write_outputs = write;
    if (!start_thread()) return false;
    process = getpid();
    for (const int signal : ending_signals) take(signal);
    previous_terminate = std::set_terminate(&on_terminate);
    return true;
  }

  /// In a forked child, which has no such thread.
  static void in_child() noexcept {
    if (process != 0) process = -1;
  }

  /// Whether the signal is one of those above and the program has left its action as it is, or put
  /// it back.
  static bool has_default_action(int signal) noexcept {
    for (const int s : ending_signals) {
      struct sigaction current {};
      if (s == signal && sigaction(s, nullptr, &current) == 0)
        return (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_DFL;
    }
    return false;
  }

  /// Has the outputs written, and waits for that; for a process that ends now, or is about to send
  /// itself `signal`. Returns at once in a forked child, inside kprof, and where nothing is
  /// watched.
  static void write_now(int signal = 0) noexcept {
    if (!is_watching() || inside_kprof || pthread_equal(pthread_self(), thread)) return;
    const hold_cancellation hold;
    int nobody = 0;
    if (asked.compare_exchange_strong(nobody, waits_for_it - signal)) sem_post(&wake);
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += longest_seconds;
    while (sem_timedwait(&written, &until) != 0 && errno == EINTR) {}
  }

 private:
  /// In `asked`, less the number of the signal if there is one: a thread waits for the outputs and
  /// ends the process itself.
  static constexpr int waits_for_it = -1;
  /// How long writing may take: a device or a pipe may never answer.
  static constexpr int longest_seconds = 30;

  static bool is_watching() noexcept { return process == getpid(); }

  static bool start_thread() noexcept {
    if (sem_init(&wake, 0, 0) != 0 || sem_init(&written, 0, 0) != 0) return false;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, std::size_t{4} << 20U);
    // The thread inherits the mask: the program's signals go to the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool made = pthread_create(&thread, &attributes, &run, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return made;
  }

  static void take(int signal) noexcept {
    if (!has_default_action(signal)) return;
    struct sigaction ours {};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
  }

  static void on_signal(int signal) noexcept {
    const int error = errno;
    int nobody = 0;
    // A second signal ends the program at once: whoever sends it does not want to wait.
    if (is_watching() && asked.compare_exchange_strong(nobody, signal)) sem_post(&wake);
    else end_by(signal);
    errno = error;
  }

  [[noreturn]] static void on_terminate() noexcept {
    write_now();
    if (previous_terminate != nullptr) previous_terminate();
    std::abort();
  }

  /// Does what the signal does to a program that has not asked otherwise. May be called in a signal
  /// handler. Returns where the system spares the process, as it does the first one of a container.
  static void end_by(int signal) noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    syscall(SYS_kill, getpid(), signal);  // libkprof.so has a kill() of its own
  }

  static void* run(void*) noexcept {
    pthread_setname_np(pthread_self(), "kprof");
    const mark_inside_kprof mark;
    for (;;) {
      while (sem_wait(&wake) != 0) {}
      const int signal = asked;
      if (signal <= waits_for_it) {
        write_outputs(waits_for_it - signal, nullptr);
        asked = 0;
        sem_post(&written);
      } else {
        limit_time(signal);
        write_outputs(signal, &end_by);
        asked = 0;
      }
    }
  }

  /// Sends the signal once more when time is up; the second one ends the program. By the system
  /// call: the C library's own function is in a library of its own in older ones.
  static void limit_time(int signal) noexcept {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return;
    itimerspec limit{};
    limit.it_value.tv_sec = longest_seconds;
    syscall(SYS_timer_settime, timer, 0, &limit, nullptr);
  }

  static inline constinit std::atomic<pid_t> process{0};  // that is watched
  static inline constinit std::atomic<int> asked{0};      // signal, or see waits_for_it; 0: nobody
  static inline sem_t wake{};
  static inline sem_t written{};
  static inline pthread_t thread{};
  static inline writer write_outputs = nullptr;
  static inline std::terminate_handler previous_terminate = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
