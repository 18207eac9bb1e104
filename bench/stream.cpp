// SPDX-License-Identifier: MIT

// Compiled for the processor that it runs on, as STREAM is by those who publish its results: with
// the registers of SSE2, g++'s loop has too few loads under way and reaches 20 of 37 GB/s on Zen 5.

#include "stream.hpp"

#include <kprof/machine/rounds.hpp>
#include <kprof/machine/usable_cpus.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace kprof_bench {

namespace {

using kprof::detail::read_clock_ns;

[[gnu::noinline]] void triad(double* __restrict a, const double* __restrict b,
                             const double* __restrict c, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) a[i] = b[i] + 3.0 * c[i];
}

struct piece {
  std::int64_t begin_ns, end_ns;
  bool was_preempted;
};

struct pass {
  double *a, *b, *c;
  std::size_t elements;                     // of each thread
  std::vector<std::vector<piece>>* pieces;  // of each thread
};
constexpr std::size_t piece_elements = (std::size_t{1} << 20U) / sizeof(double);

void run(const void* of, unsigned thread) {
  const pass& p = *static_cast<const pass*>(of);
  std::vector<piece>& pieces = (*p.pieces)[thread];
  pieces.clear();
  for (std::size_t i = 0; i + piece_elements <= p.elements; i += piece_elements) {
    const std::size_t at = p.elements * thread + i;
    const std::int64_t cpu = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const std::int64_t begin = read_clock_ns(CLOCK_MONOTONIC);
    triad(p.a + at, p.b + at, p.c + at, piece_elements);
    const std::int64_t end = read_clock_ns(CLOCK_MONOTONIC);
    const std::int64_t ran = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    pieces.push_back({begin, end, ran * 100 < (end - begin) * 97});
  }
}

/// Whether a thread worked on undisturbed pieces throughout, but for what reading the clocks takes.
bool ran_throughout(const std::vector<piece>& pieces, std::int64_t begin_ns, std::int64_t end_ns) {
  std::int64_t covered = 0;
  for (const piece& p : pieces)
    if (!p.was_preempted)
      covered +=
          std::max<std::int64_t>(0, std::min(p.end_ns, end_ns) - std::max(p.begin_ns, begin_ns));
  return covered * 100 >= (end_ns - begin_ns) * 95;
}

/// Bytes a second of all threads together, of the pieces during which all of them ran.
double rate_of(const std::vector<std::vector<piece>>& of) {
  double all = 0;
  for (const std::vector<piece>& own : of) {
    double bytes = 0, ns = 0;
    for (const piece& p : own) {
      bool counts = !p.was_preempted;
      for (const std::vector<piece>& other : of)
        counts = counts && ran_throughout(other, p.begin_ns, p.end_ns);
      if (!counts) continue;
      bytes += 3.0 * sizeof(double) * piece_elements;
      ns += static_cast<double>(p.end_ns - p.begin_ns);
    }
    if (ns == 0) return 0;
    all += bytes * 1e9 / ns;
  }
  return all;
}

}  // namespace

stream::stream(std::size_t elements)
    : elements_(elements),
      a_(new double[elements]),
      b_(new double[elements]),
      c_(new double[elements]) {
  for (std::size_t i = 0; i < elements; ++i) a_[i] = 0, b_[i] = 1, c_[i] = 2;
}

double stream::best(unsigned threads) {
  const kprof::detail::usable_cpus_of_machine machine = kprof::detail::find_usable_cpus();
  kprof::detail::round_threads workers(machine.cpus, threads);
  if (workers.size() < threads) return 0;
  std::vector<std::vector<piece>> pieces(threads);
  const pass p{a_.get(), b_.get(), c_.get(), elements_ / threads, &pieces};
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    workers.run(threads, {&run, &p});
    best = std::max(best, rate_of(pieces));
  }
  if (a_[0] != 7.0) std::abort();  // the passes are not optimised away
  return best;
}

}  // namespace kprof_bench
