// SPDX-License-Identifier: MIT
// A program whose memory runs out: kprof must not end it, and every scope must be recorded, open or
// counted as dropped. Each case runs in a process of its own.
//
//   out_of_memory allocations    every n-th allocation fails, n = 1 to 200, or all after n
//   out_of_memory address_space  the process may not grow by more than 0.1 to 100 MiB

#include <kprof/kprof.hpp>
#include <kprof/report/csv.hpp>
#include <kprof/report/save.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "without_memory.hpp"

namespace {

std::atomic<bool> ran_out{false};  // in a snapshot or a report

// What a case needs itself is made while there is memory.
const std::string file = "out_of_memory_" + std::to_string(getpid()) + ".json";
const std::string long_text(1000, 'x'), nowhere = "/no/such/folder/" + long_text;
const std::vector<kprof::option_setting> to_null = {{"path", "/dev/null"}},
                                         to_nowhere = {{"path", nowhere}};

// Every other function that returns a status: it works, or has no memory.
void write_everything(const kprof::profile& p) {
  std::string page;
  for (const kprof::status& s :
       {kprof::save(p, file), kprof::write(p, "report", to_null),
        kprof::write(p, "csv", to_null, page), kprof::write_output("/dev/null", long_text),
        kprof::write_text(p, {}, page)}) {
    if (s || s.message == "out of memory") continue;
    std::fprintf(stderr, "writing: %s\n", s.message.c_str());
    std::_Exit(1);
  }
  if (kprof::write_output(nowhere, long_text) || kprof::write(p, "csv", to_nowhere)) std::_Exit(1);
  static_cast<void>(kprof::saved_text(p));
  unlink(file.c_str());
}

// A snapshot and a report while memory is short: right, or an error.
void look(std::uint64_t expected) {
  const kprof::profile p = kprof::snapshot({.timeline = true});
  static bool has_written = false;
  if (!std::exchange(has_written, true)) write_everything(p);
  if (p.state == "out of memory") ran_out = true;
  else check("a snapshot without memory", p, expected);
  kprof::report_options options;
  options.path = "/dev/null";
  const kprof::status s = kprof::report(options);
  if (!s && s.message != "out of memory") {
    std::fprintf(stderr, "report: %s\n", s.message.c_str());
    std::_Exit(1);
  }
  if (!s) ran_out = true;
}

kprof::settings with_memory(std::size_t mib) {
  kprof::settings s;
  s.memory = mib << 20U;
  return s;
}

// The counts of the scopes that came while kprof started are its own affair.
void start(std::size_t mib, unsigned every) {
  const kprof::settings wanted = with_memory(mib);
  fail_here(every, ~0U);
  const kprof::status s = kprof::start(wanted);
  fail_no_more();
  if (!s && s.message != "out of memory") std::_Exit(1);
  if (!s && !kprof::start(wanted)) std::_Exit(1);
}

int allocations_fail(unsigned every, unsigned after) {
  start(1, every);
  for (int round = 0; round < 3; ++round) {
    // More threads than kprof keeps apart, so that totals are moved when they end.
    for (int t = 0; t < (every % 10 == 1 ? 90 : 12); ++t) {
      std::thread([&] {
        fail_here(every, after);
        work(20, 7);
      }).join();
    }
    fail_here(every, after);
    work(700, 300);
    look(done);
    fail_no_more();
    check("a snapshot with memory again", kprof::snapshot({.timeline = true}), done);
  }
  fail_here(every, after);
  if (kprof::start()) done = 0;  // else the recording goes on
  work(100, 10);
  fail_no_more();
  check("after a start without memory", kprof::snapshot(), done);
  return ran_out ? 3 : 0;
}

std::size_t address_space() {
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

int address_space_ends(std::size_t more) {
  start(64, 0);
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      ++ready;
      while (!go) std::this_thread::yield();
      work(2000, 1000);
    });
  while (ready != 3) std::this_thread::yield();
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit less = before;
  less.rlim_cur = address_space() + more;
  if (setrlimit(RLIMIT_AS, &less) != 0) return 2;
  go = true;
  for (std::thread& t : threads) t.join();
  look(done);
  setrlimit(RLIMIT_AS, &before);
  check("a snapshot with memory again", kprof::snapshot(), done);
  return ran_out ? 3 : 0;
}

// Runs a case in a child. False when it crashed, hung or found something wrong.
template <class Case>
bool runs(const std::string& name, Case run, int& without_memory) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    std::_Exit(run());
  }
  int state = 0;
  waitpid(child, &state, 0);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 3) ++without_memory;
  else if (state != 0)
    std::printf("FAILED: %s: state %#x\n", name.c_str(), static_cast<unsigned>(state));
  std::fflush(stdout);
  return WIFEXITED(state) && (WEXITSTATUS(state) == 0 || WEXITSTATUS(state) == 3);
}

}  // namespace

int main(int argc, char** argv) {
  const bool limit = argc > 1 && std::strcmp(argv[1], "address_space") == 0;
  int failed = 0, without_memory = 0;
  if (limit) {
    for (const double mib : {0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 14.0,
                             20.0, 50.0, 100.0})
      failed += runs(
                    std::to_string(mib) + " MiB more",
                    [&] { return address_space_ends(static_cast<std::size_t>(mib * 1048576)); },
                    without_memory)
                    ? 0
                    : 1;
  } else {
    for (unsigned n = 1; n <= 200; ++n) {
      const std::string name = std::to_string(n);
      failed += runs(
                    "every " + name, [&] { return allocations_fail(n, ~0U); }, without_memory)
                    ? 0
                    : 1;
      failed += runs(
                    "all after " + name, [&] { return allocations_fail(0, n); }, without_memory)
                    ? 0
                    : 1;
    }
  }
  std::printf("%d cases failed; in %d a snapshot or a report had no memory\n", failed,
              without_memory);
  return failed == 0 && without_memory > 0 ? 0 : 1;
}
