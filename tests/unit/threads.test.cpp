// SPDX-License-Identifier: MIT
// needs: guards
// Threads that come and go, contexts that are handed over, snapshots while everybody is at work,
// and fork.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"
#include "thread_sanitizer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Task {
  int kind = 0;
};

struct late {
  ~late() { KPROF_REGION("thread-local destructor"); }
};

}  // namespace

TEST_CASE("threads.each_tells_how_long_it_ran_and_was_in_scopes") {
  REQUIRE(kprof::start());
  KPROF_REGION("main");
  std::thread([] { KPROF_OP(Task, {1}); }).join();
  const kprof::profile p = kprof::snapshot();
  REQUIRE(p.threads.size() == 2);
  for (const kprof::thread_info& t : p.threads) {
    INFO(t.begin_ns << " + " << t.wall_ns << " of " << p.wall_ns);
    CHECK(t.begin_ns >= 0);
    CHECK(t.begin_ns + t.wall_ns <= p.wall_ns * (1 + 1e-9));
    CHECK(t.wall_ns > 0);
  }
  const kprof::scope_node task = only(p, "Task kind=1"), main = only(p, "main");
  CHECK(p.threads[task.thread].in_scopes_ns == task.total_ns);
  CHECK(p.threads[main.thread].in_scopes_ns == Approx(main.open_ns));
  CHECK(p.threads[task.thread].begin_ns >= p.threads[main.thread].begin_ns);
  CHECK(task.first_ns == task.total_ns);
  CHECK(task.first_end_ns <= p.threads[task.thread].begin_ns + p.threads[task.thread].wall_ns);
  CHECK(main.first_ns < 0);
}

TEST_CASE("threads.each_has_its_own_tree") {
  REQUIRE(kprof::start());
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t)
    all.emplace_back([t] {
      KPROF_REGION("worker");
      for (int i = 0; i < 1000; ++i) { KPROF_OP(Task, {t % 2}); }
    });
  for (std::thread& t : all) t.join();
  const kprof::profile p = kprof::snapshot();
  CHECK(find_all(p, "worker").size() == 8);
  CHECK(calls(p, "worker/Task kind=0") == 4000);
  CHECK(calls(p, "worker/Task kind=1") == 4000);
  CHECK(p.complete.recorded == 8008);
  std::size_t ended = 0;
  for (const kprof::thread_info& t : p.threads) ended += t.ended ? 1 : 0;
  CHECK(ended == 8);
}

TEST_CASE("threads.hundreds_of_short_ones_keep_exact_totals") {
  REQUIRE(kprof::start());
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> all;
    for (int t = 0; t < 8; ++t)
      all.emplace_back([round] {
        KPROF_REGION("short");
        KPROF_OP(Task, {round % 10});
      });
    for (std::thread& t : all) t.join();
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "short") == 400);
  for (int k = 0; k < 10; ++k) CHECK(calls(p, "short/Task kind=" + std::to_string(k)) == 40);
  CHECK(p.complete.recorded == 800);
  std::uint64_t merged = 0, apart = 0;
  for (const kprof::thread_info& t : p.threads)
    (t.merged != 0 ? merged : apart) += t.merged != 0 ? t.merged : t.ended ? 1 : 0;
  CHECK(merged + apart == 400);
  CHECK(apart <= 64);
}

TEST_CASE("threads.a_guard_in_a_thread_local_destructor_counts") {
  REQUIRE(kprof::start());
  std::thread([] {
    static thread_local late at_end;
    static_cast<void>(&at_end);
    KPROF_REGION("body");
  }).join();
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "body") == 1);
  CHECK(calls(p, "thread-local destructor") == 1);
}

TEST_CASE("threads.a_snapshot_while_others_are_inside_guards_is_consistent") {
  kprof::settings settings;
  settings.memory = 2 * 1024 * 1024;  // so that chunks are recycled under way
  REQUIRE(kprof::start(settings));
  std::atomic<bool> stop{false};
  std::vector<std::uint64_t> done(3);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < done.size(); ++t)
    all.emplace_back([&, t] {
      for (; !stop.load(std::memory_order_relaxed); ++done[t]) {
        KPROF_REGION("outer");
        KPROF_OP(Task, {static_cast<int>(t)});
      }
    });
  std::uint64_t before = 0;
  for (int i = 0; i < 30; ++i) {
    const kprof::profile p = kprof::snapshot({.timeline = i % 10 == 0});
    CHECK(p.complete.recorded >= before);
    before = p.complete.recorded;
    for (std::size_t t = 0; t < done.size(); ++t) {
      const std::uint64_t inner = calls(p, "outer/Task kind=" + std::to_string(t));
      std::uint64_t outer = 0;
      for (const auto* n : find_all(p, "outer"))
        for (const auto* c : find_all(p, "outer/Task kind=" + std::to_string(t)))
          if (c->thread == n->thread) outer = n->calls;
      CHECK((inner == outer || inner == outer + 1));
    }
  }
  stop = true;
  for (std::thread& t : all) t.join();
  const kprof::profile p = kprof::snapshot();
  std::uint64_t total = 0;
  for (std::size_t t = 0; t < done.size(); ++t) {
    CHECK(calls(p, "outer/Task kind=" + std::to_string(t)) == done[t]);
    total += 2 * done[t];
  }
  CHECK(p.complete.recorded == total);
  CHECK(p.complete.dropped == 0);
  CHECK(p.cost.memory <= p.cost.memory_limit);
}

TEST_CASE("threads.start_and_stop_while_others_record") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> all;
  for (int t = 0; t < 2; ++t)
    all.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        KPROF_REGION("r");
        KPROF_OP(Task);
        static_cast<void>(kprof::context::current());
      }
    });
  for (int i = 0; i < 20; ++i) {
    REQUIRE(kprof::start());
    kprof::pause();
    kprof::resume();
    static_cast<void>(kprof::snapshot({.timeline = true}));
    kprof::stop();
  }
  stop = true;
  for (std::thread& t : all) t.join();
  REQUIRE(kprof::start());
  { KPROF_OP(Task, {7}); }
  CHECK(kprof::snapshot().complete.recorded == 1);
}

TEST_CASE("context.work_handed_to_another_thread_stays_under_its_operator") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("layer");
    KPROF_OP(Task, {1});
    const kprof::context here = kprof::context::current();
    std::thread([here] {
      KPROF_REGION("pool thread");
      kprof::context_guard under{here};
      KPROF_OP(Task, {2});
    }).join();
  }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "layer/Task kind=1/Task kind=2") == 1);
  CHECK(calls(p, "pool thread") == 1);
  CHECK(calls(p, "layer") == 1);
  CHECK(calls(p, "layer/Task kind=1") == 1);
  // The adopted path has no time of its own on the second thread.
  for (const auto* n : find_all(p, "layer"))
    if (n->calls == 0) CHECK(n->total_ns == 0);
  const kprof::scope_node inner = *find_all(p, "layer/Task kind=1/Task kind=2")[0],
                          outer = only(p, "pool thread");
  CHECK(outer.self_ns <= outer.total_ns - inner.total_ns + 1);
  CHECK(p.complete.recorded == 4);
  CHECK(p.complete.open == 0);
}

TEST_CASE("context.outlives_the_scope_it_was_taken_in") {
  REQUIRE(kprof::start());
  kprof::context c;
  {
    KPROF_REGION("gone");
    c = kprof::context::current();
  }
  {
    kprof::context_guard under{c};
    KPROF_OP(Task, {3});
    // Captured again under an adopted path.
    const kprof::context deeper = kprof::context::current();
    std::thread([deeper] {
      kprof::context_guard again{deeper};
      KPROF_OP(Task, {4});
    }).join();
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "gone/Task kind=3") == 1);
  CHECK(calls(p, "gone/Task kind=3/Task kind=4") == 1);
}

TEST_CASE("context.an_empty_one_changes_nothing") {
  REQUIRE(kprof::start());
  const kprof::context nothing = kprof::context::current();
  {
    KPROF_REGION("r");
    kprof::context_guard under{nothing};
    kprof::context_guard under_default{kprof::context{}};
    KPROF_OP(Task, {5});
  }
  CHECK(calls(kprof::snapshot(), "r/Task kind=5") == 1);
}

TEST_CASE("context.many_handovers_stay_bounded_and_exact") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 2000; ++i) {
    KPROF_REGION(i % 2 == 0 ? "even" : "odd");
    const kprof::context c = kprof::context::current();
    kprof::context_guard under{c};
    KPROF_OP(Task, {i % 4});
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "even/Task kind=0") == 500);
  CHECK(calls(p, "odd/Task kind=3") == 500);
  CHECK(p.nodes.size() < 20);
}

TEST_CASE("fork.a_child_may_close_what_was_open_before_it_opens_anything") {
  REQUIRE(kprof::start());
  int wrong = -1;
  {
    kprof::open_scope open = kprof::begin_region("open at the fork");
    const pid_t child = fork();
    if (child == 0) {
      kprof::end(open);
      for (int i = 0; i < 100'000; ++i) { KPROF_OP(Task, {5}); }
      const kprof::profile p = kprof::snapshot();
      _exit(calls(p, "Task kind=5") == 100'000 && calls(p, "open at the fork") == 1 ? 0 : 1);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    wrong = WIFEXITED(state) ? WEXITSTATUS(state) : 255;
    kprof::end(open);
  }
  CHECK(wrong == 0);
}

TEST_CASE("fork.a_child_of_a_stopped_session_keeps_the_clock") {
  REQUIRE(kprof::start());
  kprof::open_scope open = kprof::begin_region("open at the fork");
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kprof::stop();
  const double rate = kprof::snapshot().clock.ns_per_tick;
  const pid_t child = fork();
  if (child == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kprof::end(open);
    const kprof::profile p = kprof::snapshot();
    const double ns = only(p, "open at the fork").total_ns;
    _exit(p.clock.ns_per_tick == rate && ns > 15e6 && ns < 15e9 ? 0 : 1);
  }
  int state = 0;
  REQUIRE(waitpid(child, &state, 0) == child);
  CHECK(WIFEXITED(state));
  CHECK(WEXITSTATUS(state) == 0);
  kprof::end(open);
}

TEST_CASE("fork.parent_and_child_have_their_own_profiles") {
  REQUIRE(kprof::start());
  { KPROF_OP(Task, {1}); }
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load(std::memory_order_relaxed)) { KPROF_OP(Task, {2}); }
  });
  int wrong = -1;
  {
    KPROF_REGION("around the fork");
    const pid_t child = fork();
    if (child == 0) {
      { KPROF_OP(Task, {3}); }
      const kprof::profile p = kprof::snapshot();
      int faults = 0;
      faults |= calls(p, "around the fork/Task kind=3") == 1 ? 0 : 1;
      faults |= calls(p, "Task kind=1") == 0 ? 0 : 2;
      faults |= calls(p, "Task kind=2") == 0 ? 0 : 4;
      faults |= p.complete.recorded == 1 && p.complete.open == 1 ? 0 : 8;
      faults |= only(p, "around the fork").open_ns <= p.wall_ns ? 0 : 16;
      bool told = false;
      for (const std::string& note : p.notes)
        told = told || note.find("forked from process") != std::string::npos;
      faults |= told ? 0 : 32;
      const kprof::thread_info& self = p.threads.at(0);
      faults |=
          self.wall_ns > 0 && self.begin_ns + self.wall_ns <= p.wall_ns * (1 + 1e-9) ? 0 : 128;
// ThreadSanitizer forbids threads in the child of a process that had several.
#if !KPROF_TEST_THREAD_SANITIZER
      std::thread([] { KPROF_OP(Task, {4}); }).join();
      faults |= calls(kprof::snapshot(), "Task kind=4") == 1 ? 0 : 64;
#endif
      _exit(faults);
    }
    int state = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    wrong = WIFEXITED(state) ? WEXITSTATUS(state) : 255;
  }
  stop = true;
  busy.join();
  CHECK(wrong == 0);
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Task kind=1") == 1);
  CHECK(calls(p, "around the fork") == 1);
  CHECK(calls(p, "around the fork/Task kind=3") == 0);
}
