// SPDX-License-Identifier: MIT
// An operator that sleeps and one that computes: CPU time tells them apart. What is asserted of the
// one that computes is by the system's own clock, since other programs may run in its place.

#include <kprof/kprof.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "checks.hpp"
#include "find.hpp"
#include "thread_sanitizer.hpp"

struct Sleep {
  std::int64_t ms = 0;
};
struct Compute {
  std::int64_t ms = 0;
};
struct Decay {
  std::int64_t ms = 0;
};
struct Fresh {
  std::int64_t n = 0;
};
struct Kept {
  std::int64_t n = 0;
};
struct Short {
  std::int64_t n = 0;
};

namespace {

double cpu_ns(clockid_t of = CLOCK_THREAD_CPUTIME_ID) {
  timespec t{};
  clock_gettime(of, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}
void sleep_20_ms() {
  KPROF_OP(Sleep, {20});
  const timespec t{0, 20'000'000};
  nanosleep(&t, nullptr);
}
/// Until the thread has run for 10 ms.
void compute_10_ms() {
  KPROF_OP(Compute, {10});
  const double until = cpu_ns() + 10e6;
  while (cpu_ns() < until) {}
}

/// Adds numbers that are too small for the type's full precision, for 10 ms.
void decay_10_ms() {
  KPROF_OP(Decay, {10});
  const double until = cpu_ns() + 10e6;
  volatile float number = 1e-40F, sum = 0;
  while (cpu_ns() < until) sum = number + number;
  static_cast<void>(sum);
}

/// Those of a processor that tells which calls met denormal numbers.
void check_denormals() {
  for (int i = 0; i < 5; ++i) {
    compute_10_ms();
    decay_10_ms();
  }
  const kprof::profile p = kprof::snapshot();
  const kprof::scope_node decay = only(p, "Decay ms=10"), computing = only(p, "Compute ms=10");
#if defined(__x86_64__)
  check("calls with denormal numbers are told", decay.measured_calls > 0 &&
                                                    decay.denormal_calls == decay.measured_calls &&
                                                    decay.denormal_ns == decay.measured_ns);
#else
  check("no call is said to have had denormal numbers", decay.denormal_calls == 0);
#endif
  check("and those without are not", computing.measured_calls > 0 &&
                                         computing.denormal_calls == 0 &&
                                         computing.denormal_ns == 0);
}

/// Touches memory, fresh or not, in pages of the usual size.
constexpr std::size_t filled = 8 << 20, page = 4096;
void fill(char* memory, char with) {
  static_cast<void>(madvise(memory, filled, MADV_NOHUGEPAGE));
  for (std::size_t i = 0; i < filled; i += 64) memory[i] = with;
}
char* map() {
  return static_cast<char*>(
      mmap(nullptr, filled, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}
void check_page_faults() {
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(page)) return;
  char* const kept = map();
  fill(kept, 'k');
  for (int i = 0; i < 20; ++i) {
    {
      KPROF_OP(Fresh, {1});
      char* const memory = map();
      fill(memory, 'f');
      munmap(memory, filled);
    }
    KPROF_OP(Kept, {1});
    for (int k = 0; k < 5; ++k) fill(kept, 'k');
  }
  const kprof::profile p = kprof::snapshot();
  const kprof::scope_node fresh = only(p, "Fresh n=1"), reused = only(p, "Kept n=1");
  check("calls are measured", fresh.measured_calls > 0 && reused.measured_calls > 0);
  const std::uint64_t pages = (fresh.measured_calls - 1) * (filled / page);  // but the first
  check("each has the faults of its pages",  // and of the sanitizer's, which notes them
        fresh.page_faults >= pages * 7 / 8 &&
            (KPROF_TEST_THREAD_SANITIZER || fresh.page_faults <= pages * 9 / 8));
  check("memory that is kept has none", reused.page_faults <= reused.measured_calls * 16);
}

/// What the process ran while it was recorded, in a thread without a guard too.
void check_process() {
  const auto process_ns = [] { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID); };
  const auto compute_without_guard = [] {
    std::thread([] {
      const double until = cpu_ns() + 30e6;
      while (cpu_ns() < until) {}
    }).join();
  };
  const double since = process_ns();
  if (!kprof::start()) return;
  compute_without_guard();
  const double before_told = process_ns();
  const double told = kprof::snapshot().cpu_ns;
  check("a thread without a guard counts", told >= 30e6 && told <= process_ns() - since);
  kprof::pause();
  const double paused = process_ns();
  compute_without_guard();
  const double in_pause = process_ns() - paused;
  kprof::resume();
  compute_without_guard();
  const double after = kprof::snapshot().cpu_ns;
  check("a pause does not",
        after >= told + 30e6 && after <= told + process_ns() - before_told - in_pause);
  kprof::stop();
  const double stopped = kprof::snapshot().cpu_ns;
  compute_without_guard();
  check("nor what comes after the end", kprof::snapshot().cpu_ns == stopped && stopped >= after);
}

/// One round of ten of each. What the calls of Compute took of the thread's CPU time.
double work() {
  double computing = 0;
  for (int i = 0; i < 10; ++i) {
    sleep_20_ms();
    const double before = cpu_ns();
    compute_10_ms();
    computing += cpu_ns() - before;
    for (int k = 0; k < 100; ++k) { KPROF_OP(Short, {k % 3}); }
  }
  return computing;
}

void check_round(const char* where, double computing_ns, double thread_ns) {
  const kprof::profile p = kprof::snapshot();
  const kprof::scope_node sleeping = only(p, "Sleep ms=20"), computing = only(p, "Compute ms=10"),
                          brief = only(p, "Short n=0");
  const kprof::thread_info& thread = p.threads.at(sleeping.thread);
  std::printf(
      "%s: sleeping %.1f ms, %.1f off of %.1f; computing %.1f ms, %.1f off of %.1f; "
      "thread %.1f off of %.1f; %llu readings, %.0f ns each\n",
      where, sleeping.total_ns / 1e6, sleeping.off_cpu_ns / 1e6, sleeping.measured_ns / 1e6,
      computing.total_ns / 1e6, computing.off_cpu_ns / 1e6, computing.measured_ns / 1e6,
      thread.off_cpu_ns / 1e6, thread.measured_ns / 1e6,
      static_cast<unsigned long long>(p.cost.cpu_readings), p.cost.cpu_reading_ns);
  check("most sleeping calls are measured", sleeping.measured_ns > 0.5 * sleeping.total_ns);
  check("no more is measured than there was",
        sleeping.measured_ns <= sleeping.total_ns * (1 + 1e-9) &&
            computing.measured_ns <= computing.total_ns * (1 + 1e-9));
  check("sleeping is off the CPU", sleeping.off_cpu_ns > 0.8 * sleeping.measured_ns);
  // The counter's rate may be off by some thousandths.
  check("computing is not blamed for more than what it did not run",
        computing.off_cpu_ns <= computing.total_ns - computing_ns + 0.02 * computing.total_ns);
  // An eighth of a call may be unknown, and counts as time on the CPU.
  check("no more CPU time is told than the thread had",
        sleeping.measured_ns - sleeping.off_cpu_ns + computing.measured_ns - computing.off_cpu_ns <=
            thread_ns + 0.15 * (sleeping.measured_ns + computing.measured_ns));
  check("the thread was off the CPU while it slept",
        thread.off_cpu_ns >= sleeping.off_cpu_ns - 0.02 * thread.measured_ns &&
            thread.off_cpu_ns <= thread.measured_ns);
  check("short calls are not measured", brief.calls > 0 && brief.measured_ns < brief.total_ns);
  check("readings are far fewer than scopes", p.cost.cpu_readings > 10);
}

}  // namespace

int main() {
  if (!kprof::start()) return 2;
  double before = cpu_ns();
  const double computing_ns = work();
  check_round("the first recording", computing_ns, cpu_ns() - before);
  std::string shown;
  check("a page is written",
        kprof::write_text(kprof::snapshot(), {.width = 160}, shown).message.empty());
  check("the report names what slept",
        shown.find("Sleep (", shown.find("off the CPU, waiting or for want of a CPU: ")) !=
            std::string::npos);
  check("and has a column", shown.find(" cpu ") != std::string::npos);

  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {  // whose CPU time begins anew
    before = cpu_ns();
    const double in_child = work();
    check_round("a child", in_child, cpu_ns() - before);
    std::fflush(stdout);
    _exit(exit_status());
  }
  int state = 0;
  waitpid(child, &state, 0);
  check("the child saw the same", state == 0);

  if (!kprof::start()) return 2;
  before = cpu_ns();
  const double again = work();
  check_round("another recording", again, cpu_ns() - before);

  check_process();
  if (!kprof::start()) return 2;
  check_denormals();
  check_page_faults();
  return exit_status();
}
