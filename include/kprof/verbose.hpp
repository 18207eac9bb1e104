// SPDX-License-Identifier: MIT
#ifndef KPROF_VERBOSE_HPP
#define KPROF_VERBOSE_HPP

// Makes KPROF=verbose=on and settings::verbose work in this binary: a line for each call of an
// operator within 20 ms of its end, on standard error or in a file (docs/files.md). Include it in
// one file beside kprof.hpp; kprof::session has it. It costs guards nothing, and a thread of
// kprof's own some 0.2 microseconds a call.

#include <kprof/build_options.hpp>

#if KPROF_ENABLE && !KPROF_SESSION_ELSEWHERE

#include <kprof/report/destination.hpp>
#include <kprof/session/call_printer.hpp>
#include <kprof/session/live_calls.hpp>
#include <kprof/session/verbose_line.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/file_place.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/output_file.hpp>
#include <kprof/write/write_error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <new>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// The printer of the process. A forked child has none, nor its thread: it makes one without when
/// it ends.
struct KPROF_DETAIL_LOCAL verbose_calls {
  static std::string start(recorder& of, const timebase& time, const std::string& to) {
    std::string wrong;
    call_printer* printer = load();
    const bool prints = wants_live_calls(to);
    if (printer == nullptr && !prints) return wrong;
    if (printer == nullptr) {
      const std::string path = to == "on" || to.empty() ? "" : expand_path(to);
      int error = 0;
      const int file = path.empty() ? STDERR_FILENO : open_to_stay(find_place(path), error);
      const std::string place = path.empty() ? "standard error" : quoted_path(path);
      if (file < 0) {
        wrong = cannot_write(place, error).message;
        if (!has_told_.exchange(true)) tell({"verbose= prints nothing: ", wrong});
        return wrong;
      }
      printer = new call_printer(of, file, place);
      if ((error = write_header(file)) != 0) wrong = cannot_write(place, error).message;
      current.store(printer, std::memory_order_release);
      if (!start_own_thread(&call_printer::run, printer))
        wrong = "the system gave no thread: verbose= prints calls when the program ends";
    }
    printer->restart(time, prints);
    of.before_thread_ends = prints ? &print_ending : nullptr;
    return wrong;
  }
  static void print() noexcept {
    with_printer([](call_printer& printer) { printer.print(); });
  }
  static void print_ending(thread_log& log) noexcept {
    with_printer([&](call_printer& printer) { printer.print(log); });
  }

 private:
  template <class Use>
  static void with_printer(Use use) noexcept {
    static_cast<void>(attempt([&] {
      call_printer* printer = load();
      if (printer == nullptr) return;
      if (printer->process() != getpid()) {
        auto own = std::make_unique<call_printer>(printer->recorded(), printer->descriptor(),
                                                  printer->place());
        own->restart(printer->time(), true);
        // Threads of the child may end at once: one of them makes its printer.
        if (current.compare_exchange_strong(printer, own.get())) printer = own.release();
      }
      use(*printer);
    }));
  }
  /// A descriptor for the file, pipe or device, which the program cannot close; -1 and the error's
  /// number where there is none. What /dev/stdout and the like lead to is not truncated.
  [[gnu::cold]] static int open_to_stay(const file_place& place, int& error) noexcept {
    int file = -1;
    if ((error = place.error) != 0) return file;
    if (place.descriptor >= 0) file = fcntl(place.descriptor, F_DUPFD_CLOEXEC, 3);
    else if (!is_for_file(place)) file = open_special(place.path);
    else file = open_file(place.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    if (file < 0) error = errno;
    return file;
  }
  static call_printer* load() noexcept { return current.load(std::memory_order_acquire); }
  static int write_header(int file) {
    const quiet_writes quiet;
    const int to = file == STDERR_FILENO ? stream_for(file, write_time::now) : file;
    return to < 0 ? EBADF : write_all(to, verbose_header);
  }
  static inline constinit std::atomic<call_printer*> current{nullptr};
  static inline constinit std::atomic<bool> has_told_{false};  // of a file that cannot be opened
};

KPROF_DETAIL_LOCAL inline constexpr live_calls_functions verbose_functions{&verbose_calls::start,
                                                                           &verbose_calls::print};
struct KPROF_DETAIL_LOCAL verbose_registration {
  verbose_registration() noexcept { live_calls = &verbose_functions; }
};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const verbose_registration verbose_registered;

}  // namespace detail
KPROF_DETAIL_END

#endif

#endif
