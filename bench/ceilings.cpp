// SPDX-License-Identifier: MIT

// Holds the measured ceilings of the processors against what others say they are: `ceilings [LOAD]`
// compares the arithmetic rates with the peak that the instruction set has at the clock that the
// core keeps while it multiplies and adds, and DRAM's with the triad of STREAM (stream.hpp). Then
// LOAD processes (default 8) compute beside it, and the ceilings are compared with those at rest.
// Neighbours on the machine change what memory gives from second to second: what is compared is
// measured in turn, five times, and the medians are. One line of JSON for each figure.

#include "stream.hpp"

#include <kprof/ceilings.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using kprof::detail::read_clock_ns;

constexpr int times = 5;  // that what is compared is measured

#if defined(__x86_64__)
/// Clocks a second while the core runs `loop`: some of it, then at once a chain of additions that
/// take a clock each, for so short a time that the core keeps its clock. The best of 200 such
/// pairs, so that one which was preempted does not count.
double clock_while(const kprof::detail::arithmetic_loop& loop) {
  const kprof::detail::processor_loops loops = kprof::detail::find_loops();
  double best = 0;
  for (int i = 0; i < 200; ++i) {
    loop.run(20'000);
    const std::int64_t begin = read_clock_ns(CLOCK_MONOTONIC);
    loops.clocks(4'000);
    const std::int64_t ns = read_clock_ns(CLOCK_MONOTONIC) - begin;
    best = std::max(best, loops.clocks_per_round * 4'000 * 1e9 / static_cast<double>(ns));
  }
  return best;
}

/// Multiplications and additions of f32 in a clock that the core's units do; 0 where this program
/// does not know them. Sources: Agner Fog, "The microarchitecture of Intel, AMD and VIA CPUs"; AMD,
/// "Software Optimization Guide" for families 19h and 1Ah.
double operations_per_clock(std::string_view instructions) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return 0;
  const bool is_amd = b == 0x68747541;  // "Auth"
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const unsigned family = (a >> 8U & 15U) + (a >> 20U & 255U);
  if (instructions == "SSE2") return 4 + 4;          // a product and a sum
  if (instructions == "AVX2 FMA") return 2 * 8 * 2;  // two units of eight
  if (instructions != "AVX-512 FMA") return 0;
  return is_amd && family < 0x1A ? 2 * 8 * 2 : 2 * 16 * 2;
}
#endif

void print(const char* what, double measured, double expected, double tolerance, int load) {
  if (measured <= 0 || expected <= 0) {
    std::printf(R"({"what": "%s", "load": %d, "ratio": null})"
                "\n",
                what, load);
    return;
  }
  std::printf(R"({"what": "%s", "load": %d, "measured": %.4g, "expected": %.4g, "ratio": %.4f, )"
              R"("tolerance": %.2f})"
              "\n",
              what, load, measured, expected, measured / expected, tolerance);
  std::fflush(stdout);
}

/// The processes that take the CPUs away from others.
class burden {
 public:
  explicit burden(int processes) {
    for (int i = 0; i < processes; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (;;) asm volatile("" : : : "memory");
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~burden() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  burden(const burden&) = delete;
  burden& operator=(const burden&) = delete;

  void pause() const { send(SIGSTOP); }
  void go_on() const { send(SIGCONT); }

 private:
  void send(int signal) const {
    for (const pid_t child : children_) kill(child, signal);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
  }

  std::vector<pid_t> children_;
};

const kprof::memory_ceiling* dram_of(const kprof::cpu_ceilings& of) {
  return of.memory.empty() || of.memory.back().bytes != 0 ? nullptr : &of.memory.back();
}

const kprof::arithmetic_ceiling* find(const kprof::cpu_ceilings& of, kprof::dtype type) {
  for (const kprof::arithmetic_ceiling& a : of.arithmetic)
    if (a.type == type) return &a;
  return nullptr;
}

kprof::rate_ceiling triad_of(const kprof::cpu_ceilings& of) {
  const kprof::memory_ceiling* const dram = dram_of(of);
  return dram == nullptr ? kprof::rate_ceiling{} : dram->triad;
}

kprof::rate_ceiling f32_of(const kprof::cpu_ceilings& of) {
  const kprof::arithmetic_ceiling* const f32 = find(of, kprof::dtype::f32);
  return f32 == nullptr ? kprof::rate_ceiling{} : f32->operations;
}

/// One figure, measured several times.
struct repeated {
  std::vector<double> one, all;  // of one thread; of all
  void add(const kprof::rate_ceiling& of) {
    one.push_back(of.one_thread);
    all.push_back(of.all_threads);
  }
  static double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of.empty() ? 0 : of[of.size() / 2];
  }
};

void compare(const std::string& what, const std::string& with, const repeated& measured,
             const repeated& expected, int load) {
  print((what + ", one thread, " + with).c_str(), repeated::median(measured.one),
        repeated::median(expected.one), 0.1, load);
  print((what + ", all threads, " + with).c_str(), repeated::median(measured.all),
        repeated::median(expected.all), 0.1, load);
}

void compare_arithmetic(const kprof::cpu_ceilings& quiet) {
#if defined(__x86_64__)
  for (const kprof::detail::arithmetic_loop& loop : kprof::detail::find_loops().arithmetic) {
    const kprof::arithmetic_ceiling* const found = find(quiet, loop.type);
    const double f32 = operations_per_clock(loop.instructions);
    if (found == nullptr || f32 == 0) continue;
    const double peak = clock_while(loop) * f32 / (loop.type == kprof::dtype::f64 ? 2 : 1);
    print(loop.type == kprof::dtype::f64 ? "f64, one thread, by the peak at its clock"
                                         : "f32, one thread, by the peak at its clock",
          found->operations.one_thread, peak, 0.05, 0);
    print(loop.type == kprof::dtype::f64 ? "f64, all threads, by as many peaks"
                                         : "f32, all threads, by as many peaks",
          found->operations.all_threads, peak * quiet.threads, 0.05, 0);
  }
#else
  static_cast<void>(quiet);
#endif
}

void compare_with_stream(const kprof::cpu_ceilings& first) {
  std::uint64_t last_cache = std::uint64_t{8} << 20U;
  for (const kprof::memory_ceiling& level : first.memory)
    last_cache = std::max(last_cache, level.bytes);
  kprof_bench::stream stream(static_cast<std::size_t>(last_cache / sizeof(double) * 4));
  repeated measured, expected;
  for (int i = 0; i < times; ++i) {
    measured.add(triad_of(kprof::measure_ceilings()));
    expected.add({stream.best(1), stream.best(first.threads), false});
  }
  compare("DRAM triad", "by STREAM's", measured, expected, 0);
}

void compare_with_rest(int load) {
  const burden others(load);
  repeated f32, f32_loaded, triad, triad_loaded;
  for (int i = 0; i < times; ++i) {
    others.pause();
    const kprof::cpu_ceilings quiet = kprof::measure_ceilings();
    f32.add(f32_of(quiet));
    triad.add(triad_of(quiet));
    others.go_on();
    const kprof::cpu_ceilings loaded = kprof::measure_ceilings();
    f32_loaded.add(f32_of(loaded));
    triad_loaded.add(triad_of(loaded));
  }
  compare("f32", "under load by at rest", f32_loaded, f32, load);
  compare("DRAM triad", "under load by at rest", triad_loaded, triad, load);
}

}  // namespace

int main(int argc, char** argv) {
  const int load = argc > 1 ? std::atoi(argv[1]) : 8;
  const kprof::cpu_ceilings quiet = kprof::measure_ceilings();
  for (const std::string& note : quiet.notes) std::fprintf(stderr, "%s\n", note.c_str());
  compare_arithmetic(quiet);
  if (dram_of(quiet) != nullptr) compare_with_stream(quiet);
  compare_with_rest(load);
  return 0;
}
