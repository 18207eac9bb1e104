// SPDX-License-Identifier: MIT
// Memory runs out where recordings end: at the borders of a schedule's cycles, and when the report
// is printed at the end of the program. Each case runs in a process of its own.
//
//   out_of_memory_ends cycles   a profile is of all steps of a cycle, or the cycle is left out
//   out_of_memory_ends reports  the report is exact, or a line says that there is none

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "without_memory.hpp"

namespace {

constexpr int steps_of_a_cycle = 2;  // that count
std::uint64_t handed_over = 0;       // cycles

std::uint64_t left_out(const kprof::profile& p) {
  for (const std::string& note : p.notes)
    if (note.find(" of the schedule ") != std::string::npos)
      return std::strtoull(note.c_str(), nullptr, 10);
  return 0;
}

int cycles(unsigned every, unsigned after) {
  constexpr std::uint64_t cycles = 12;
  constexpr int regions = 6;  // in a step
  kprof::settings wanted;
  wanted.memory = 1 << 20;
  wanted.schedule = {.warmup = 1, .active = steps_of_a_cycle};
  if (!kprof::start(wanted)) return 2;
  kprof::on_profile([](const kprof::profile& run, void*) {
    check("a cycle", run, scopes_of_a_step * regions * steps_of_a_cycle);
    ++handed_over;
  });
  fail_here(every, after);
  for (std::uint64_t i = 0; i < cycles * (1 + steps_of_a_cycle); ++i) {
    work(regions, 300, false);
    KPROF_STEP();
  }
  fail_no_more();
  const std::uint64_t missing = left_out(kprof::snapshot());
  if (handed_over + missing == cycles) return missing == 0 ? 0 : 3;
  std::fprintf(stderr, "%d cycles, %d handed over, %d left out\n", static_cast<int>(cycles),
               static_cast<int>(handed_over), static_cast<int>(missing));
  return 1;
}

int in_child(unsigned every, unsigned after) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    std::_Exit(cycles(every, after));
  }
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) && WEXITSTATUS(state) <= 3 ? WEXITSTATUS(state) : 1;
}

constexpr int steps_before_the_end = 30;

/// The number before `what` in a report; 0 where it is not there.
std::uint64_t number_before(const std::string& report, const std::string& what) {
  std::size_t begin = report.find(what);
  if (begin == std::string::npos) return 0;
  while (begin > 0 && std::strchr("0123456789,", report[begin - 1]) != nullptr) --begin;
  std::uint64_t out = 0;
  for (; report[begin] != ' '; ++begin)
    if (report[begin] != ',') out = out * 10 + static_cast<std::uint64_t>(report[begin] - '0');
  return out;
}

/// Runs this program again, which prints its report at its end. 0: it is right, 3: it is missing,
/// and a line says so, 1: neither.
int report_at_end(const char* program, unsigned every, unsigned after) {
  int output[2];
  if (pipe(output) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    close(output[0]);
    close(output[1]);
    setenv("KPROF", "report(details),memory=1MiB", 1);
    alarm(100);
    execl(program, program, "end", std::to_string(every).c_str(), std::to_string(after).c_str(),
          nullptr);
    _exit(2);
  }
  close(output[1]);
  std::string report;
  char block[4096];
  for (ssize_t n = 0; (n = read(output[0], block, sizeof block)) > 0;)
    report.append(block, static_cast<std::size_t>(n));
  close(output[0]);
  int state = 0;
  waitpid(child, &state, 0);
  const std::uint64_t seen =
      number_before(report, " recorded") + number_before(report, " dropped:");
  constexpr std::uint64_t expected = scopes_of_a_step * steps_before_the_end;
  if (state == 0 && seen == expected) return 0;
  if (state == 0 && report.find("scopes ") == report.npos &&
      report.find("out of memory") != report.npos)
    return 3;
  std::fprintf(stderr, "state %#x, %d of %d scopes in this report:\n%s\n",
               static_cast<unsigned>(state), static_cast<int>(seen), static_cast<int>(expected),
               report.c_str());
  return 1;
}

/// Without memory since before the work, and until the process has ended.
int end(unsigned every, unsigned after) {
  fail_here(every, after);
  work(steps_before_the_end, 7);
  return 0;  // as exit(0)
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) { return static_cast<unsigned>(std::atol(argv[i])); };
  if (argc == 4 && std::strcmp(argv[1], "end") == 0) return end(number(2), number(3));
  const bool reports = argc > 1 && std::strcmp(argv[1], "reports") == 0;
  int counts[4] = {};
  const auto run = [&](unsigned every, unsigned after) {
    const int result = reports ? report_at_end(argv[0], every, after) : in_child(every, after);
    ++counts[result];
    if (result == 1 || result == 2)
      std::printf("FAILED: every %u, all after %u\n", every, after == ~0U ? 0 : after);
    std::fflush(stdout);
  };
  for (unsigned n = 1; n <= 200; ++n) {
    run(n, ~0U);
    run(0, n);
    // A report takes some thousand allocations, and so do the cycles.
    run(0, 200 + 60 * n);
  }
  std::printf("%d cases failed; in %d all was there, in %d some was counted or told as missing\n",
              counts[1] + counts[2], counts[0], counts[3]);
  return counts[1] + counts[2] == 0 && counts[0] > 0 && counts[3] > 0 ? 0 : 1;
}
