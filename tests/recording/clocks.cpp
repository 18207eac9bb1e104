// SPDX-License-Identifier: MIT
// CLOCK_MONOTONIC jumps, stands still and runs for too short a time: scopes keep their times, and
// the report says so. This program has a clock_gettime() of its own. Exits with 77 where the CPU
// has no counter to compare with.

#include <kprof/kprof.hpp>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "checks.hpp"
#include "find.hpp"

namespace {

std::atomic<std::int64_t> ahead_ns{0};   // of the system's
std::atomic<std::int64_t> stands_at{0};  // 0: it runs

std::int64_t real_ns(clockid_t id) {
  timespec t{};
  syscall(SYS_clock_gettime, id, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}
void wait_ns(std::int64_t ns) {
  const std::int64_t until = real_ns(CLOCK_BOOTTIME) + ns;
  while (real_ns(CLOCK_BOOTTIME) < until) {}
}

bool tells_of_disagreement(const kprof::profile& p) {
  for (const std::string& note : p.notes)
    if (note.find("went apart") != std::string::npos) return true;
  return false;
}
// Whether a scope of 20 ms, with something in its middle, shows as that.
template <class Middle>
kprof::profile after_a_scope_of_20_ms(Middle middle) {
  {
    KPROF_REGION("20 ms");
    wait_ns(10'000'000);
    middle();
    wait_ns(10'000'000);
  }
  kprof::profile p = kprof::snapshot();
  const double ns = only(p, "20 ms").total_ns;
  std::printf("%.3f ms of 20, %.3f ms of wall time\n", ns / 1e6, p.wall_ns / 1e6);
  check("a scope keeps its time", ns > 19.9e6 && ns < 200e6);
  check("so does the run", p.wall_ns >= ns && p.wall_ns < 400e6);
  return p;
}

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* out) noexcept {
  if (id != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, id, out));
  const std::int64_t at = stands_at;
  const std::int64_t ns = (at != 0 ? at : real_ns(id)) + ahead_ns;
  *out = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}

int main() {
  if (!kprof::start()) return 2;
  if (kprof::snapshot().clock.source == "clock_gettime") return 77;

  kprof::profile p = after_a_scope_of_20_ms([] { ahead_ns += 180'000'000'000; });
  check("a jump is told", tells_of_disagreement(p));
  const double rate = p.clock.ns_per_tick;

  static_cast<void>(kprof::start());
  p = after_a_scope_of_20_ms([] { ahead_ns -= 170'000'000'000; });
  check("a jump back is told", tells_of_disagreement(p));

  static_cast<void>(kprof::start());
  p = after_a_scope_of_20_ms([] { stands_at = real_ns(CLOCK_MONOTONIC); });
  check("a clock that stands still is told", tells_of_disagreement(p));
  stands_at = 0;

  static_cast<void>(kprof::start());
  p = after_a_scope_of_20_ms([] {
    kprof::pause();
    ahead_ns += 50'000'000'000;
    kprof::resume();
  });
  check("a pause keeps its time", p.paused_ns < 200e6);

  static_cast<void>(kprof::start());
  p = kprof::snapshot();
  check("the rate is known from the start on",
        p.clock.ns_per_tick > 0.99 * rate && p.clock.ns_per_tick < 1.01 * rate);
  p = after_a_scope_of_20_ms([] {});
  check("nothing is told of clocks that agree", !tells_of_disagreement(p));
  return exit_status();
}
