// SPDX-License-Identifier: MIT

// What a scope costs: kprof's guards in all their states beside the floor and beside what else one
// could use, on one thread and on two at once. Run by run.sh with
// --benchmark_enable_random_interleaving; results.py makes the table.

#include "bench.hpp"
#include "loops.hpp"

#include <kprof/kprof.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace bench {

namespace {

// ---- the machinery ----

/// Waits until both threads are here.
class meeting {
 public:
  void wait() noexcept {
    const std::uint32_t round = __atomic_load_n(&round_, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&here_, 1U, __ATOMIC_ACQ_REL) == 2) {
      __atomic_store_n(&here_, 0U, __ATOMIC_RELAXED);
      __atomic_store_n(&round_, round + 1, __ATOMIC_RELEASE);
      return;
    }
    for (int spins = 0; __atomic_load_n(&round_, __ATOMIC_ACQUIRE) == round; ++spins)
      if (spins > 10'000) std::this_thread::yield();
  }

 private:
  std::uint32_t here_ = 0;
  std::uint32_t round_ = 0;
};
meeting both;

const shape values{};  // used through a reference that the loops cannot see through

double ns_a_scope(loop body, std::int64_t scopes) {
  const auto begin = std::chrono::steady_clock::now();
  body(scopes, values);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
             .count() /
         static_cast<double>(scopes);
}

double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// One row. A shared machine changes its speed from one moment to the next, by half and more. So
/// every burst of the row stands beside a burst of the bare loop and one of the floor, and what is
/// compared are the bursts of one moment:
///   ns        a scope and thread, less the bare loop
///   floor_ns  the same of the floor
///   x_floor   what the row takes as a multiple of the floor
///   x_alone   on two threads: what the row takes as a multiple of what one of them takes while the
///             other waits
void run(benchmark::State& state, const row& r) {
  const bool leads = state.thread_index() == 0;
  const bool two = state.threads() > 1;
  const auto meet = [&] {
    if (two) both.wait();
  };
  const auto before_burst = [&] {
    if (r.before != nullptr) r.before();
    meet();
    if (leads && r.state == session::folding) kprof::snapshot();
    meet();
  };
  const auto after_burst = [&] {
    if (r.after != nullptr) r.after();
  };

  plain::touch_floor();
  if (leads && r.state != session::paused) kprof::resume();
  before_burst();
  // What is first is not counted. A saturated log is full of what has not been folded.
  r.run(r.state == session::saturated ? 1'200'000 : r.scopes, values);
  after_burst();

  std::vector<double> ns, floors, x_floor, x_alone;
  for (auto _ : state) {
    double alone = 0;
    if (two) {
      before_burst();
      if (leads) alone = ns_a_scope(r.run, r.scopes);
      after_burst();
    }
    meet();
    const double bare_ns = ns_a_scope(plain::bare, r.scopes);
    meet();
    const double floor_ns = ns_a_scope(plain::floor, r.scopes);
    before_burst();
    const double row_ns = ns_a_scope(r.run, r.scopes);
    after_burst();
    state.SetIterationTime(row_ns * static_cast<double>(r.scopes) / 1e9);
    ns.push_back(row_ns - bare_ns);
    floors.push_back(floor_ns - bare_ns);
    x_floor.push_back((row_ns - bare_ns) / (floor_ns - bare_ns));
    if (two && leads) x_alone.push_back((row_ns - bare_ns) / (alone - bare_ns));
  }
  meet();
  if (leads && r.state != session::paused) {
    kprof::pause();
    kprof::snapshot();
  }
  state.counters["ns"] = benchmark::Counter(median(ns), benchmark::Counter::kAvgThreads);
  state.counters["floor_ns"] = benchmark::Counter(median(floors), benchmark::Counter::kAvgThreads);
  state.counters["x_floor"] = benchmark::Counter(median(x_floor), benchmark::Counter::kAvgThreads);
  if (!x_alone.empty()) state.counters["x_alone"] = benchmark::Counter(median(x_alone));
}

void add_rows() {
  add({.name = "bare", .run = plain::bare});
  add({.name = "two_counter_reads", .run = plain::two_counter_reads});
  add({.name = "floor", .run = plain::floor});
  add({.name = "floor_in_memory",
       .run = plain::floor_in_memory,
       .before = plain::touch_floor_in_memory});
  add({.name = "steady_clock", .run = plain::two_steady_clock_reads});
  add({.name = "off", .run = off::op});
  add({.name = "idle", .run = on::op});
  add({.name = "idle_region", .run = on::region});
  add({.name = "idle_in_library", .run = in_library::op});
  add({.name = "recording", .run = on::op, .state = session::folding});
  add({.name = "recording_in_library", .run = in_library::op, .state = session::folding});
  add({.name = "recording_from_struct", .run = on::op_from_struct, .state = session::folding});
  add({.name = "recording_without_fields",
       .run = on::op_without_fields,
       .state = session::folding});
  add({.name = "recording_region", .run = on::region, .state = session::folding});
  // Long, so that each burst goes through all of the memory twice and what is folded, be it seldom
  // and much, is in it.
  add({.name = "recording_saturated",
       .run = on::op,
       .state = session::saturated,
       .scopes = 1'200'000,
       .bursts = 3});
}

}  // namespace

void add(const row& r) {
  auto* b = benchmark::RegisterBenchmark(r.name, [r](benchmark::State& state) { run(state, r); });
  b->UseManualTime()->Iterations(r.bursts);
  for (int threads = 1; threads <= r.max_threads; ++threads) b->Threads(threads);
}

}  // namespace bench

int main(int argc, char** argv) {
  if (!kprof::start()) return 1;
  bench::on::op(1'500'000, bench::values);  // all of the log's memory has been touched once
  kprof::pause();
  kprof::snapshot();

  bench::add_rows();
  bench::add_peers_nvtx();
  bench::add_peers_lttng();
  bench::add_peers_torch();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();

  // A benchmark of something that did not happen would look very good.
  const kprof::completeness seen = kprof::snapshot().complete;
  if (seen.recorded >= 1'500'000 && seen.dropped == 0 && seen.open == 0) return 0;
  std::fprintf(stderr, "guard_cost: %llu scopes recorded, %llu dropped, %llu open\n",
               static_cast<unsigned long long>(seen.recorded),
               static_cast<unsigned long long>(seen.dropped),
               static_cast<unsigned long long>(seen.open));
  return 1;
}
