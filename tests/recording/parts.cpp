// SPDX-License-Identifier: MIT
// Calls that several threads share: parts <case>. Threads pass KPROF_PART as programs do, and calls
// and FLOPs are counted to the last one.

#include <kprof/kprof.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "shared_calls.hpp"

struct Odd {  // padding before the part's number
  std::int8_t kind = 0;
  std::int32_t n = 0;
  constexpr std::uint64_t flops() const { return 3; }
};

namespace {

/// The graph of a network: every thread walks it, does its part of each node and waits for the
/// others.
void walk_graph(int nodes, int thread, int threads, meeting_point& meeting) {
  for (int node = 0; node < nodes; ++node) {
    compute({.m = 1 + node % 3, .n = 8}, thread, threads);
    meeting.wait();
  }
}
double flops_of_graph(int nodes) {
  double sum = 0;
  for (int node = 0; node < nodes; ++node) sum += 16 * (1 + node % 3);
  return sum;
}

void as_ggml_does() {
  for (const int threads : {2, 3, 8, 64}) {
    static_cast<void>(kprof::start(with_memory(16)));
    meeting_point meeting(threads);
    const int graphs = threads < 64 ? 10 : 2, nodes = 30;
    on_threads(threads, [&](int thread) {
      for (int g = 0; g < graphs; ++g) {
        if (thread == 0) {
          KPROF_REGION("graph");
          walk_graph(nodes, thread, threads, meeting);
        } else {
          walk_graph(nodes, thread, threads, meeting);
        }
      }
    });
    const kprof::profile p = kprof::snapshot();
    const kprof::operator_row row = row_of(p, "MatMul");
    const std::string with = " with " + std::to_string(threads) + " threads";
    check_equal("calls" + with, static_cast<double>(row.calls), graphs * nodes);
    check_equal("FLOPs" + with, row.flops.value, graphs * flops_of_graph(nodes));
    check_equal("threads" + with, row.threads.value, threads);
    check("rates are known" + with, row.flops_per_s.known() && row.median_ns.known());
    check("imbalance" + with,
          row.imbalance.known() && row.imbalance.value >= 1 && row.imbalance.value <= threads);
    check("waiting" + with, row.waiting_ns.known() && row.waiting_ns.value >= 0);
    check("a call takes at least as long as its longest part" + with,
          row.total_ns * threads >= row.self_ns * 0.999999);
    check("nothing is odd" + with, p.complete.incomplete_calls == 0 &&
                                       p.complete.impossible_parts == 0 &&
                                       p.complete.unjoined_calls == 0 && p.notes.empty());
    show_notes(p);
    // In the region that thread 0 had open.
    for (const kprof::tree_row& at : call_tree(p))
      if (at.name == "MatMul" && at.depth == 1)
        check_equal("calls of " + at.parameters + with, static_cast<double>(at.calls),
                    graphs * nodes / 3);
  }
}

/// 2 to 64 threads that do not wait for one another, with little memory: logs are folded and
/// recycled while the threads run.
void many_calls(std::uint64_t calls) {
  for (const int threads : {2, 5, 16, 64}) {
    static_cast<void>(kprof::start(with_memory(threads < 64 ? 2 : 16)));
    const std::uint64_t each = calls / static_cast<unsigned>(threads);
    on_threads(threads, [&](int thread) {
      for (std::uint64_t c = 0; c < each; ++c) {
        KPROF_PART(Odd, {.n = static_cast<std::int32_t>(c % 2)}, thread, threads);
      }
    });
    const kprof::profile p = kprof::snapshot();
    const kprof::operator_row row = row_of(p, "Odd");
    const std::string with = " of many with " + std::to_string(threads) + " threads";
    check_equal("parts" + with, static_cast<double>(p.complete.recorded),
                static_cast<double>(each) * threads);
    check_equal("dropped" + with, static_cast<double>(p.complete.dropped), 0);
    check_equal("calls" + with, static_cast<double>(row.calls), static_cast<double>(each));
    check_equal("FLOPs" + with, row.flops.value, 3.0 * static_cast<double>(each));
    check("none lacks parts" + with, p.complete.incomplete_calls == 0);
    check("calls without times are counted" + with,
          row.threads.known() && p.complete.unjoined_calls <= each);
    std::printf("%d threads: %llu calls, %llu without times\n", threads,
                static_cast<unsigned long long>(each),
                static_cast<unsigned long long>(p.complete.unjoined_calls));
  }
}

void snapshots_in_the_middle() {
  static_cast<void>(kprof::start(with_memory(8)));
  constexpr int threads = 4, calls = 900;
  meeting_point meeting(threads);
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    double before = 0;
    while (!done.load()) {
      const kprof::profile p = kprof::snapshot();
      const auto now = static_cast<double>(row_of(p, "MatMul").calls);
      check("calls never become fewer", now >= before && now <= calls);
      before = now;
    }
  });
  on_threads(threads, [&](int thread) { walk_graph(calls, thread, threads, meeting); });
  done.store(true);
  watcher.join();
  const kprof::profile p = kprof::snapshot();
  check_equal("calls after snapshots", static_cast<double>(row_of(p, "MatMul").calls), calls);
  check_equal("FLOPs after snapshots", row_of(p, "MatMul").flops.value, flops_of_graph(calls));
  check("all have times", p.complete.unjoined_calls == 0 && p.complete.incomplete_calls == 0);
}

/// Threads of which each lives for a few calls: their totals are moved when they have ended.
void threads_that_end() {
  static_cast<void>(kprof::start(with_memory(8)));
  constexpr int pools = 120, threads = 3, calls = 5;
  for (int pool = 0; pool < pools; ++pool) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([i] {
        for (int c = 0; c < calls; ++c) compute({.m = 2, .n = 2}, i, threads);
      });
    for (std::thread& t : all) t.join();
    if (pool == 50) static_cast<void>(kprof::snapshot());
  }
  const kprof::profile p = kprof::snapshot();
  const kprof::operator_row row = row_of(p, "MatMul");
  check_equal("calls of threads that end", static_cast<double>(row.calls), pools * calls);
  check_equal("FLOPs of threads that end", row.flops.value, 8.0 * pools * calls);
  check("their times are known", p.complete.unjoined_calls == 0 && row.waiting_ns.known());
  check("a call of another pool is another call",
        row.max_ns.value < row.total_ns && p.complete.incomplete_calls == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "graph") {
    as_ggml_does();
    snapshots_in_the_middle();
  } else if (which == "many") {
    many_calls(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000);
  } else if (which == "threads") {
    threads_that_end();
  } else {
    return 2;
  }
  return result();
}
