// SPDX-License-Identifier: MIT
// Calls that several threads share: parts <case>. Threads pass KPROF_PART as programs do, and calls
// and FLOPs are counted to the last one.

#include <kprof/kprof.hpp>

#include <algorithm>
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

/// Calls and FLOPs of a run, by operator.
struct expected {
  double matmul_calls = 0, matmul_flops = 0, odd_calls = 0, odd_flops = 0, parts = 0;
};

/// One node of ggml's graph: every thread calls the dispatcher with its number, and an operator may
/// be for fewer threads than there are.
int tasks_of(std::uint64_t node, int threads) {
  return node % 4 == 2 ? std::min(threads, 3) : node % 4 == 3 ? 1 : threads;
}
void dispatch(std::uint64_t node, int thread, int threads) {
  const int tasks = tasks_of(node, threads);
  if (thread >= tasks) return;
  if (node % 2 == 0) {
    compute({.m = static_cast<std::int64_t>(node % 6), .n = 8}, thread, tasks);
  } else {
    KPROF_PART(Odd, {.n = static_cast<std::int32_t>(node % 3)}, thread, tasks);
  }
}
void expect_node(std::uint64_t node, int threads, expected& sum) {
  sum.parts += tasks_of(node, threads);
  if (node % 2 == 0) {
    sum.matmul_calls += 1;
    sum.matmul_flops += 16 * static_cast<double>(node % 6);
  } else {
    sum.odd_calls += 1;
    sum.odd_flops += 3;
  }
}

/// 2 to 64 threads that each come to all of the calls, with memory for few of their records: logs
/// are folded and recycled, and parts joined, while the threads run. `wait`: for all others after
/// each call.
void many_calls(std::uint64_t calls, bool wait) {
  for (const int threads : {2, 5, 16, 64}) {
    static_cast<void>(kprof::start(with_memory(threads < 64 ? 4 : 16)));
    meeting_point meeting(threads);
    on_threads(threads, [&](int thread) {
      for (std::uint64_t c = 0; c < calls; ++c) {
        dispatch(c, thread, threads);
        if (wait) meeting.wait();
      }
    });
    expected sum;
    for (std::uint64_t c = 0; c < calls; ++c) expect_node(c, threads, sum);
    const kprof::profile p = kprof::snapshot();
    const kprof::operator_row matmul = row_of(p, "MatMul"), odd = row_of(p, "Odd");
    const std::string with = " of " + std::to_string(threads) + " threads" +
                             (wait ? " that wait for one another" : " that do not wait");
    check_equal("parts" + with, static_cast<double>(p.complete.recorded), sum.parts);
    check_equal("dropped" + with, static_cast<double>(p.complete.dropped), 0);
    check_equal("calls of MatMul" + with, static_cast<double>(matmul.calls), sum.matmul_calls);
    check_equal("FLOPs of MatMul" + with, matmul.flops.value, sum.matmul_flops);
    check_equal("calls of Odd" + with, static_cast<double>(odd.calls), sum.odd_calls);
    check_equal("FLOPs of Odd" + with, odd.flops.value, sum.odd_flops);
    check("none lacks parts" + with, p.complete.incomplete_calls == 0 && p.notes.empty());
    show_notes(p);
    if (wait) check_equal("not joined" + with, static_cast<double>(p.complete.unjoined_calls), 0);
    check("calls without times are counted" + with, p.complete.unjoined_calls < calls);
    for (const kprof::operator_row& row : operator_table(p))
      check("no row takes longer than the run" + with,
            row.total_ns <= p.wall_ns * std::max(1.0, threads / row.threads.value) &&
                row.overlap_ns >= 0 && !(row.waiting_ns.value < 0));
    std::printf("%d threads%s: %.0f parts, %llu calls, %llu without times\n", threads,
                wait ? ", waiting" : "", sum.parts, static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(p.complete.unjoined_calls));
  }
}

/// One thread does all of its parts before the other begins. For how many calls their times are
/// kept meanwhile is a matter of memory.
void one_far_ahead() {
  const struct {
    std::size_t mib;
    int calls;
    bool all_joined;
  } cases[] = {{64, 12'000, true}, {8, 12'000, false}, {64, 100'000, false}, {512, 100'000, true}};
  for (const auto& c : cases) {
    static_cast<void>(kprof::start(with_memory(c.mib)));
    for (int thread = 0; thread < 2; ++thread)
      std::thread([&] {
        for (int i = 0; i < c.calls; ++i) compute({.m = 1, .n = 1}, thread, 2);
      }).join();
    const kprof::profile p = kprof::snapshot();
    const kprof::operator_row row = row_of(p, "MatMul");
    const std::string with =
        " of " + std::to_string(c.calls) + " with " + std::to_string(c.mib) + " MiB";
    check_equal("calls" + with, static_cast<double>(row.calls), c.calls);
    check_equal("FLOPs" + with, row.flops.value, 2.0 * c.calls);
    check("times are known" + with, (p.complete.unjoined_calls == 0) == c.all_joined);
    check("of some calls" + with, p.complete.unjoined_calls < static_cast<unsigned>(c.calls) &&
                                      p.complete.incomplete_calls == 0 && row.waiting_ns.known());
    check("overlap counts once" + with, row.total_ns <= p.wall_ns &&
                                            row.overlap_ns > row.total_ns &&
                                            row.waiting_ns.value <= 2 * p.wall_ns);
  }
}

/// Which thread does which part is another one in each call. One thread records more than the
/// others, so that a chunk of its log is full sooner. With much memory all is joined at the end.
void parts_that_change_threads(std::size_t mib, int sets) {
  constexpr int threads = 4, calls = 3000;
  static_cast<void>(kprof::start(with_memory(mib)));
  meeting_point meeting(threads);
  on_threads(threads, [&](int thread) {
    for (int c = 0; c < calls; ++c) {
      compute({.m = 2, .n = 3 + c % sets}, (thread + c) % threads, threads);
      meeting.wait();
      for (int i = 0; thread == 1 && i < 8; ++i) { KPROF_REGION("on thread 1 alone"); }
      meeting.wait();
    }
  });
  const kprof::profile p = kprof::snapshot();
  const kprof::operator_row row = row_of(p, "MatMul");
  const std::string with = " of parts that change threads, of " + std::to_string(sets) +
                           " sets of parameters, with " + std::to_string(mib) + " MiB";
  check_equal("calls" + with, static_cast<double>(row.calls), calls);
  check_equal("FLOPs" + with, row.flops.value, (12.0 + 2 * (sets - 1)) * calls);
  check("times are known" + with,
        p.complete.unjoined_calls == 0 && p.complete.incomplete_calls == 0);
  // Calls do not overlap, unless one has got parts of another.
  check("no call has parts of others" + with, row.total_ns + row.overlap_ns < p.wall_ns);
}

/// The same calls on two paths, which belong together by the order of time.
void parts_on_two_paths() {
  constexpr int threads = 2, calls = 4000;
  static_cast<void>(kprof::start(with_memory(1)));
  meeting_point meeting(threads);
  on_threads(threads, [&](int thread) {
    // One thread is a part ahead, so that what is joined at once differs.
    if (thread == 0) compute({.m = 9, .n = 9}, 0, 1);
    for (int c = 0; c < calls; ++c) {
      KPROF_REGION(c % 2 == 0 ? "there" : "here");
      compute({.m = 2, .n = 3}, thread, threads);
      meeting.wait();
    }
  });
  const kprof::profile p = kprof::snapshot();
  double in_calls = 0;
  std::uint64_t counted = 0;
  for (const kprof::operator_row& row : kprof::operator_table(p, kprof::grouping::parameters)) {
    if (row.parameters.find("m=2") == std::string::npos) continue;
    in_calls += row.total_ns + row.overlap_ns;
    counted += row.calls;
  }
  check_equal("calls on two paths", static_cast<double>(counted), calls);
  check("no call has parts of the other path's", in_calls < p.wall_ns);
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
    many_calls(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000, false);
  } else if (which == "waiting") {
    many_calls(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000, true);
  } else if (which == "ahead") {
    one_far_ahead();
  } else if (which == "changing") {
    for (const std::size_t mib : {1U, 4U, 64U})
      for (const int sets : {1, 3}) parts_that_change_threads(mib, sets);
    parts_on_two_paths();
  } else if (which == "threads") {
    threads_that_end();
  } else {
    return 2;
  }
  return result();
}
