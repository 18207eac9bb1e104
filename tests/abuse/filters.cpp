// SPDX-License-Identifier: MIT
// Sets and matches random filters: expressions of a grammar that likes to nest and repeat, and
// random bytes. None may take longer than a bound, of processor time so that a busy machine does
// not matter, and of memory. `filters [COUNT]`.
#include <kprof/report/text/filter.hpp>

#include <regex.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>

namespace {

#ifdef KPROF_TEST_SANITIZED
constexpr double most_seconds = 5;
#else
constexpr double most_seconds = 0.5;
#endif
constexpr long most_kib = 400'000;  // of the process

std::mt19937_64 random_bits(20240607);
std::uint64_t below(std::uint64_t n) { return random_bits() % n; }
template <std::size_t N>
const char* one_of(const char* const (&choices)[N]) {
  return choices[below(N)];
}

double seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string repetition() {
  switch (below(8)) {
    case 0: return "*";
    case 1: return "+";
    case 2: return "?";
    case 3: return '{' + std::to_string(below(256)) + '}';
    case 4: return '{' + std::to_string(below(20)) + ",}";
    case 5: return "{1," + std::to_string(1 + below(255)) + '}';
    case 6: return "{0," + std::to_string(below(40000)) + '}';
    default: return "{2}{3}+*";
  }
}
std::string piece(int depth) {
  if (depth > 0 && below(3) != 0) {
    std::string inner;
    const std::uint64_t pieces = depth > 6 ? 1 : 1 + below(3);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      inner += piece(depth - 1);
      if (below(3) == 0) inner += repetition();
      if (below(4) == 0) inner += '|';
    }
    return '(' + inner + ')';
  }
  return one_of({"a",       "b",      ".",      "[ab]", "[^a]", "[]x]", "[[:alpha:]]",
                 "[[=a=]]", "\\w",    "\\b",    "^",    "$",    "\\(",  "\\1",
                 "ab",      "[a-z]*", "(a|ab)", "x*",   "\\<",  "\\>"});
}
std::string expression() {
  std::string out;
  if (below(50) == 0) {
    const std::uint64_t length = below(3000);
    for (std::uint64_t i = 0; i < length; ++i)
      out += one_of({"(", ")", "a|", "a{9}", "a+", "(a)", "[a", "]", "\\", "{", "}", ",", "\xc3"});
  } else if (below(4) == 0) {
    const std::uint64_t length = below(200);
    for (std::uint64_t i = 0; i < length; ++i) out += static_cast<char>(1 + below(255));
  } else {
    const std::uint64_t pieces = 1 + below(4);
    for (std::uint64_t i = 0; i < pieces; ++i) {
      out += piece(static_cast<int>(below(below(20) == 0 ? 60 : 6)));
      if (below(2) == 0) out += repetition();
    }
  }
  return out;
}

long kib_held() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

const std::string* current = nullptr;
void tell_current(int signal) {
  static_cast<void>(!write(STDERR_FILENO, current->data(), current->size()));
  _exit(128 + signal);
}

/// Expressions that <regex.h> masters, whose answers are compared with its own.
constexpr int outermost = 3;
std::string simple_expression(int depth = outermost) {
  std::string out;
  const std::uint64_t pieces = 1 + below(4);
  for (std::uint64_t i = 0; i < pieces; ++i) {
    if (depth > 0 && below(3) == 0) out += '(' + simple_expression(depth - 1) + ')';
    else
      out += one_of({"a", "b", ".", "[ab]", "[^a]", "[]a-]", "[b-d]", "[[:alpha:]]", "\\.", "ab"});
    if (below(3) == 0)
      out += one_of(
          {"*", "+", "?", "{2}", "{0,2}", "{1,}", "{,2}", "{0}", "{2,3}?", "+*", "{2", "{3,1}"});
    if (below(6) == 0) out += one_of({"|", "|b", "||"});
  }
  if (depth < outermost) return out;  // it takes "(a$){2}" for found in "aa"
  switch (below(10)) {
    case 0: return '^' + out;
    case 1: return out + '$';
    case 2: return out + one_of({"(", ")", "[", "\\", "*|*", "[[:no:]]", "[b-a]", "a|$"});
    default: return out;
  }
}
long count_differences(long count) {
  long differences = 0, accepted = 0, found = 0;
  for (long i = 0; i < count && differences < 10; ++i) {
    const std::string text = simple_expression();
    regex_t known{};
    const bool is_known = regcomp(&known, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
    kprof::detail::name_filter filter;
    bool same = filter.set(text).ok() == is_known;
    for (int j = 0; j < 20 && same && is_known; ++j) {
      std::string name;
      for (std::uint64_t left = below(8); left > 0; --left)
        name += one_of({"a", "b", "c", ".", " "});
      const bool is_found = regexec(&known, name.c_str(), 0, nullptr, 0) == 0;
      same = filter.found_in(name) == is_found;
      found += is_found ? 1 : 0;
      if (!same) std::printf("in \"%s\"%s found: ", name.c_str(), is_found ? "" : " not");
    }
    if (!same) std::printf("FAILED: \"%s\" differs from <regex.h>\n", text.c_str());
    differences += same ? 0 : 1;
    accepted += is_known ? 1 : 0;
    if (is_known) regfree(&known);
  }
  std::printf("%ld of %ld simple expressions accepted, found %ld times, %ld differences\n",
              accepted, count, found, differences);
  return differences;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 100'000;
  const std::string as(300, 'a'), mixed = "Gemm m=1024 n=aabbaabb type=f32 ab(ab)",
                                  longer(2000, 'b');
  const long held_before = kib_held();
  for (const int signal : {SIGALRM, SIGSEGV, SIGABRT}) std::signal(signal, &tell_current);
  long accepted = 0, failures = 0;
  double longest = 0;
  for (long i = 0; i < count && failures < 10; ++i) {
    const std::string text = expression();
    current = &text;
    alarm(30);
    const double begin = seconds();
    kprof::detail::name_filter filter;
    if (filter.set(text)) {
      ++accepted;
      for (const std::string* name : {&as, &mixed, &longer})
        static_cast<void>(filter.matches(*name, ""));
    }
    const double took = seconds() - begin;
    if (took > longest) longest = took;
    if (took > most_seconds) {
      std::printf("FAILED: %.1f s for \"%s\"\n", took, text.c_str());
      ++failures;
    }
  }
  const long held = kib_held() - held_before;
  if (held > most_kib) {
    std::printf("FAILED: %ld KiB\n", held);
    ++failures;
  }
  std::printf("%ld expressions, %ld of them accepted; the longest took %.3f s; %ld KiB\n", count,
              accepted, longest, held);
  const bool tries_enough = accepted > count / 10 && accepted < count;
  if (count_differences(count) != 0) ++failures;
  return failures == 0 && tries_enough ? 0 : 1;
}
