// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FAILING_INPUT_HPP
#define KPROF_TESTS_FAILING_INPUT_HPP

// Keeps the input that a test dies of: tell watch_inputs() the test's name and seed once, and
// current_input() each input. A failing check, a sanitizer's finding, a crash or SIGTERM then
// writes the input to a file in the working directory and prints the file's name and the seed.
// The input must stay where it is until the next one. One thread.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

extern "C" {
// In a sanitizer's library, where there is one.
[[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());
}

namespace kprof_test {
namespace detail {

struct watched_input {
  char file[96] = {};
  char message[512] = {};
  const char* data = nullptr;
  std::size_t size = 0;
  std::size_t number = 0;
  char stack[64 << 10] = {};  // of the handlers: the program's own may have overflowed
};
inline watched_input watched;

inline void write_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(to, data, size);
    if (n <= 0) return;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

/// Runs in a signal handler, so it formats the number itself.
inline void keep_input() {
  if (watched.data == nullptr) return;
  const int to = ::open(watched.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (to >= 0) {
    write_all(to, watched.data, watched.size);
    ::close(to);
  }
  watched.data = nullptr;  // once
  char digits[24];
  std::size_t at = sizeof digits;
  digits[--at] = '\n';
  std::size_t rest = watched.number;
  do digits[--at] = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) > 0);
  write_all(2, watched.message, std::string_view(watched.message).size());
  write_all(2, digits + at, sizeof digits - at);
}

inline void keep_input_and_die(int number) {
  keep_input();
  ::raise(number);  // its default action: SA_RESETHAND
}

}  // namespace detail

inline void watch_inputs(const std::string& test, std::uint64_t seed) {
  detail::watched_input& w = detail::watched;
  char folder[4096];
  if (::getcwd(folder, sizeof folder) == nullptr) folder[0] = '\0';
  std::snprintf(w.file, sizeof w.file, "failing_input_%.40s_%llu", test.c_str(),
                static_cast<unsigned long long>(seed));
  std::snprintf(w.message, sizeof w.message,
                "\nthe failing input is %.120s/%.100s, seed %llu, input ", folder, w.file,
                static_cast<unsigned long long>(seed));
  ::unlink(w.file);
  stack_t other{};
  other.ss_sp = w.stack;
  other.ss_size = sizeof w.stack;
  struct sigaction action {};
  action.sa_handler = &detail::keep_input_and_die;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  ::sigaction(SIGABRT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);  // of `timeout`: an input that takes too long
  if (&__sanitizer_set_death_callback != nullptr) {
    // The sanitizer has handlers of its own for the other signals, which say more.
    __sanitizer_set_death_callback(&detail::keep_input);
    return;
  }
  ::sigaltstack(&other, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(number, &action, nullptr);
}

inline void current_input(std::string_view input) {
  detail::watched.data = input.data();
  detail::watched.size = input.size();
  ++detail::watched.number;
}

/// Forgets the input: what follows is not its fault.
inline void no_input() { detail::watched.data = nullptr; }

}  // namespace kprof_test

#endif
