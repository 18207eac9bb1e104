// SPDX-License-Identifier: MIT

// Holds the measured ceilings of the processors against what others say they are: `ceilings [LOAD]`
// compares the arithmetic rates with the peak that the instruction set has at the clock that the
// core keeps while it multiplies and adds, and DRAM's with the triad of STREAM (J. D. McCalpin,
// "Memory Bandwidth and Machine Balance in Current High Performance Computers", 1995), written here
// anew: three arrays of f64, four times the last cache or more, a[i] = b[i] + s c[i], the best of
// ten passes. Then LOAD processes (default 8) compute beside it and the ceilings are measured
// again. One line of JSON for each figure.

#include <kprof/ceilings.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using kprof::detail::read_clock_ns;

/// Bytes a second of the best of ten passes of `threads` threads. The first pass, which touches the
/// pages, does not count.
double stream_triad(unsigned threads, std::size_t elements) {
  const std::unique_ptr<double[]> a{new double[elements]}, b{new double[elements]},
      c{new double[elements]};
  double best_s = 0;
  for (int pass = 0; pass <= 10; ++pass) {
    std::atomic<unsigned> ready{0};
    std::vector<std::int64_t> begin(threads), end(threads);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t)
      workers.emplace_back([&, t, pass] {
        double* const out = a.get();
        double *const left = b.get(), *const right = c.get();
        const std::size_t first = elements / threads * t, last = first + elements / threads;
        ready.fetch_add(1);
        while (ready.load() < threads) std::this_thread::yield();
        begin[t] = read_clock_ns(CLOCK_MONOTONIC);
        if (pass == 0)
          for (std::size_t i = first; i < last; ++i) out[i] = 0, left[i] = 1, right[i] = 2;
        else
          for (std::size_t i = first; i < last; ++i) out[i] = left[i] + 3.0 * right[i];
        end[t] = read_clock_ns(CLOCK_MONOTONIC);
      });
    for (std::thread& worker : workers) worker.join();
    const double s = static_cast<double>(*std::max_element(end.begin(), end.end()) -
                                         *std::min_element(begin.begin(), begin.end())) *
                     1e-9;
    if (pass > 0 && (best_s == 0 || s < best_s)) best_s = s;
  }
  if (a[elements / 2] != 7.0) std::abort();  // the passes are not optimised away
  return 3.0 * sizeof(double) * static_cast<double>(elements / threads * threads) / best_s;
}

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

 private:
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

}  // namespace

int main(int argc, char** argv) {
  const int load = argc > 1 ? std::atoi(argv[1]) : 8;
  const kprof::cpu_ceilings quiet = kprof::measure_ceilings();
  for (const std::string& note : quiet.notes) std::fprintf(stderr, "%s\n", note.c_str());
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
#endif
  std::uint64_t last_cache = std::uint64_t{8} << 20U;
  for (const kprof::memory_ceiling& level : quiet.memory)
    last_cache = std::max(last_cache, level.bytes);
  if (const kprof::memory_ceiling* const dram = dram_of(quiet)) {
    const auto elements = static_cast<std::size_t>(last_cache / sizeof(double) * 4);
    print("DRAM triad, one thread, by STREAM's", dram->triad.one_thread, stream_triad(1, elements),
          0.1, 0);
    print("DRAM triad, all threads, by STREAM's", dram->triad.all_threads,
          stream_triad(quiet.threads, elements), 0.1, 0);
  }
  const burden others(load);
  std::this_thread::sleep_for(std::chrono::milliseconds{200});
  const kprof::cpu_ceilings loaded = kprof::measure_ceilings();
  const kprof::arithmetic_ceiling* const f32 = find(quiet, kprof::dtype::f32);
  const kprof::arithmetic_ceiling* const f32_loaded = find(loaded, kprof::dtype::f32);
  if (f32 != nullptr && f32_loaded != nullptr) {
    print("f32, one thread, under load by at rest", f32_loaded->operations.one_thread,
          f32->operations.one_thread, 0.1, load);
    print("f32, all threads, under load by at rest", f32_loaded->operations.all_threads,
          f32->operations.all_threads, 0.1, load);
  }
  const kprof::memory_ceiling *const dram = dram_of(quiet), *const dram_loaded = dram_of(loaded);
  if (dram != nullptr && dram_loaded != nullptr) {
    print("DRAM triad, one thread, under load by at rest", dram_loaded->triad.one_thread,
          dram->triad.one_thread, 0.1, load);
    print("DRAM triad, all threads, under load by at rest", dram_loaded->triad.all_threads,
          dram->triad.all_threads, 0.1, load);
  }
  return 0;
}
