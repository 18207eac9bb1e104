// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_END_WATCH_HPP
#define KPROF_SESSION_END_WATCH_HPP

// Has the outputs written when the program ends without exit(): by SIGINT, SIGTERM or SIGHUP, or by
// std::terminate(). A signal handler may interrupt any function, malloc and a guard among them, so
// it only wakes a thread of kprof's own and returns. The program runs on while that thread writes;
// then the thread restores the signal's default action and sends the signal again, which ends the
// process with the status that it would have had.

#include <kprof/build_options.hpp>
#include <kprof/collect/own_thread.hpp>
#include <kprof/machine/rounds.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/record/this_thread.hpp>
#include <kprof/session/ending_signals.hpp>
#include <kprof/session/last_thread.hpp>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// What end_watch's thread is woken for. Written by the one that sets is_asked, read by the thread.
struct end_request {
  std::atomic<bool> is_asked{false};
  // Of a signal, by CLOCK_MONOTONIC; 0: it is just being asked; 1: no signal asks.
  std::atomic<std::int64_t> asked_ns{0};
  int signal = 0;            // by which the process ends; 0: by none
  bool caller_ends = false;  // the caller waits for the outputs and ends the process itself
};
/// Whose a signal is. The first two last as long as end_watch::take() does.
enum class signal_owner : int { not_known, not_known_and_it_came, kprof, program };

/// In the owner of the session. Started once a process; a forked child has no such thread, and a
/// signal ends it as if kprof were not there.
class KPROF_DETAIL_LOCAL end_watch {
 public:
  /// Writes the outputs, unless another thread has. `signal`: what ends the program; then calls
  /// end(signal). 0 and nullptr where it is no signal.
  using writer = void (*)(int signal, void (*end)(int signal) noexcept);

  /// Begins to watch. A signal that the program handles or ignores stays the program's. False where
  /// the system gives no thread, or no number of the process; then nothing is watched. Not for two
  /// threads at once.
  static bool start(writer write) noexcept {
    if (process != 0) return true;
    const pid_t own = getpid();
    if (own <= 0) return false;  // a filter of system calls refuses it
    write_outputs = write;
    if (sem_init(&wake, 0, 0) != 0 || sem_init(&written, 0, 0) != 0 ||
        !start_own_thread(&run, nullptr))
      return false;
    process = own;
    for (std::size_t i = 0; i < ending_signal_count; ++i) take(i);
    previous_terminate = std::set_terminate(&on_terminate);
    return true;
  }

  /// In a forked child, which has no such thread.
  static void in_child() noexcept {
    if (process != 0) process = -1;
  }

  /// Whether the signal is an ending signal and the program has left its action as it is, or put it
  /// back.
  static bool has_default_action(int signal) noexcept {
    struct sigaction current {};
    return place_of_ending_signal(signal) != ending_signal_count &&
           sigaction(signal, nullptr, &current) == 0 && is_default_action(current);
  }

  /// Has the outputs written, and waits for that; for a process that ends now, or is about to send
  /// itself `signal`. Returns at once in a forked child, inside kprof, which kprof's own threads
  /// always are, and where nothing is watched.
  static void write_now(int signal = 0) noexcept {
    if (!is_watching() || inside_kprof) return;
    const hold_cancellation hold;
    static_cast<void>(ask(signal, true));  // else another thread has asked
    static_cast<void>(posted_within(longest_seconds, written));
  }

  /// For a thread in exit(): where a signal ends the process already, leaves that to it, and so
  /// does not end the process with another status. A signal interrupts waits, and a program may
  /// return from main() because of that.
  static void leave_end_to_signal() noexcept {
    constexpr timespec pause{0, 1'000'000};
    const hold_cancellation hold;
    while (is_watching() && asked.is_asked) nanosleep(&pause, nullptr);
  }

 private:
  /// How long writing may take: a device or a pipe may never answer.
  static constexpr int longest_seconds = 30;
  /// Signals within this time are one: timeout sends its own to the program and then to the group
  /// that the program is in, and a launcher passes on what the terminal has sent to both.
  static constexpr std::int64_t one_signal_ns = 250'000'000;

  static bool is_watching() noexcept { return process > 0 && process == getpid(); }

  /// Wakes the thread. False where it has been woken already. May be called in a signal handler.
  static bool ask(int signal, bool caller_ends) noexcept {
    if (asked.is_asked.exchange(true)) return false;
    asked.asked_ns = caller_ends ? 1 : read_clock_ns(CLOCK_MONOTONIC);
    asked.signal = signal;
    asked.caller_ends = caller_ends;
    sem_post(&wake);
    return true;
  }

  /// Whether a signal that comes now is the one that has woken the thread.
  static bool is_same_signal() noexcept {
    const std::int64_t first = asked.asked_ns;
    return first == 0 || read_clock_ns(CLOCK_MONOTONIC) - first < one_signal_ns;
  }

  /// Takes the signal, unless the program handles or ignores it: then its action is put back. To
  /// look first would lose an action that another thread sets between looking and taking. A signal
  /// that comes meanwhile is sent again when its owner is known.
  static void take(std::size_t at) noexcept {
    const int signal = ending_signals[at].number;
    struct sigaction ours {};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    struct sigaction before {};
    if (sigaction(signal, &ours, &before) != 0) return;
    const bool is_ours = is_default_action(before);
    if (!is_ours) put_back(signal, before);
    const signal_owner was =
        owners[at].exchange(is_ours ? signal_owner::kprof : signal_owner::program);
    if (was == signal_owner::not_known_and_it_came) send_again(signal);
  }

  static void put_back(int signal, const struct sigaction& before) noexcept {
    struct sigaction replaced {};
    sigaction(signal, &before, &replaced);
    // Another thread of the program has set its own meanwhile.
    if (replaced.sa_handler != &on_signal) sigaction(signal, &replaced, nullptr);
  }

  static void on_signal(int signal) noexcept {
    const int error = errno;
    const std::size_t at = place_of_ending_signal(signal);
    signal_owner known = signal_owner::not_known;
    if (!owners[at].compare_exchange_strong(known, signal_owner::not_known_and_it_came)) {
      if (known == signal_owner::program) send_again(signal);
      // A second signal ends the program at once: its sender does not want to wait.
      if (known == signal_owner::kprof &&
          !(is_watching() && (ask(signal, false) || is_same_signal())))
        end_by(signal);
    }
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
    send_again(signal);
  }
  /// By the system call: libkprof.so has a kill() of its own.
  static void send_again(int signal) noexcept {
    if (const pid_t own = getpid(); own > 0) syscall(SYS_kill, own, signal);
  }

  [[noreturn]] static void* run(void*) noexcept {
    pthread_setname_np(pthread_self(), "kprof");
    std::optional<mark_inside_kprof> mark{std::in_place};
    for (;;) {
      while (!posted_within(1, wake))
        if (only_own_threads_are_left()) {
          mark.reset();
          end_as_last_thread();
        }
      const int signal = asked.signal;
      const bool caller_ends = asked.caller_ends;
      int limit = 0;
      const bool is_limited = !caller_ends && limit_time(signal, limit);
      write_outputs(signal, caller_ends ? nullptr : &end_by);
      if (is_limited) syscall(SYS_timer_delete, limit);  // the system has spared the process
      asked.asked_ns = 0;
      asked.is_asked = false;
      if (caller_ends) sem_post(&written);
    }
  }

  /// By the system's clock, past a library that shows the program another time. Not by one that
  /// nobody sets: older C libraries have no such wait, and the thread sanitizer does not know it.
  static bool posted_within(int seconds, sem_t& semaphore) noexcept {
    timespec until{};
    if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &until) != 0)
      clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    while (sem_timedwait(&semaphore, &until) != 0)
      if (errno != EINTR) return false;
    return true;
  }
  /// What the C library does when a program's last thread ends.
  [[noreturn]] static void end_as_last_thread() noexcept {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    std::exit(0);
  }

  /// Sends the signal once more when time is up; the second one ends the program. By the system
  /// call: the C library's own function is in a library of its own in older ones.
  static bool limit_time(int signal, int& timer) noexcept {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return false;
    itimerspec limit{};
    limit.it_value.tv_sec = longest_seconds;
    syscall(SYS_timer_settime, timer, 0, &limit, nullptr);
    return true;
  }

  static inline constinit std::atomic<pid_t> process{0};  // that is watched
  static inline constinit end_request asked{};
  static inline constinit std::atomic<signal_owner> owners[ending_signal_count]{};
  static inline sem_t wake{};
  static inline sem_t written{};
  static inline writer write_outputs = nullptr;
  static inline std::terminate_handler previous_terminate = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
