// SPDX-License-Identifier: MIT
// A thread that jumps out of guards over and over goes on being recorded, and every scope is
// counted. So is one whose scopes are nested as deeply as they can be.

#include <kprof/kprof.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "checks.hpp"
#include "find.hpp"

struct Op {
  std::int64_t n = 0;
};

namespace {

std::jmp_buf back;

[[gnu::noinline]] void jump() {
  KPROF_REGION("left by a jump");
  std::longjmp(back, 1);
}
[[gnu::noinline]] void leave() {
  KPROF_REGION("left by a jump");
  jump();
}

constexpr std::uint64_t jumps = 20'000;

[[gnu::noinline]] void jump_often() {
  static std::uint64_t i;  // a jump loses what is in registers
  for (i = 0; i < jumps; ++i)
    if (setjmp(back) == 0) leave();
  for (int n = 0; n < 100; ++n) { KPROF_OP(Op, {n}); }
}
[[gnu::noinline]] void jump_often_in_a_guard() {
  KPROF_REGION("around the jumps");
  jump_often();
}

std::uint64_t seen(const kprof::completeness& c) {
  return c.recorded + c.open + c.never_closed + c.dropped;
}

void a_thread_that_jumps_is_recorded_on() {
  static_cast<void>(kprof::start());
  std::thread([] {
    jump_often_in_a_guard();
    jump_often();
    KPROF_OP(Op, {1000});
  }).join();
  const kprof::profile p = kprof::snapshot();
  check("every scope that a jump has left is counted", seen(p.complete) == 4 * jumps + 202);
  check("none is dropped", p.complete.dropped == 0);
  check("the guard around the jumps has ended once", calls(p, "around the jumps") == 1);
  // Under thousands of scopes there may be no memory left for parameters.
  std::uint64_t ops = 0;
  for (const kprof::scope_node& n : p.nodes) ops += n.name == "Op" ? n.calls : 0;
  check("scopes after the jumps are recorded", ops == 201);
}

[[gnu::noinline]] void nest(int depth) {
  KPROF_OP(Op, {depth % 3});
  if (depth > 0) nest(depth - 1);
}

void deep_recursion_ends_nothing_early() {
  static_cast<void>(kprof::start());
  constexpr int deep = 6000;
  for (int i = 0; i < 3; ++i) nest(deep - 1);
  const kprof::profile p = kprof::snapshot();
  check("every nested scope is recorded or dropped", seen(p.complete) == 3 * deep);
  check("as many as fit are recorded", p.complete.recorded > 3 * 4000);
  check("no scope is ended for another", p.complete.closed_by_parent == 0);
}

double seconds_since(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

void starting_among_open_scopes_takes_no_time() {
  static_cast<void>(kprof::start());
  std::vector<kprof::open_scope> open;
  for (int i = 0; i < 4000; ++i) open.push_back(kprof::begin(Op{i}));
  const auto since = std::chrono::steady_clock::now();
  static_cast<void>(kprof::start());
  const double took = seconds_since(since);
  if (took > 1) std::printf("start() took %.1f s\n", took);
  check("start() among 4,000 open scopes", took < 1);
  check("they are open", kprof::snapshot().complete.open == 4000);
  for (std::size_t i = open.size(); i-- > 0;) kprof::end(open[i]);
  const kprof::profile p = kprof::snapshot();
  check("they end", p.complete.recorded == 4000 && p.complete.open == 0);
}

void a_forked_child_begins_among_open_scopes_at_once() {
  static_cast<void>(kprof::start());
  std::vector<kprof::open_scope> open;
  for (int i = 0; i < 4000; ++i) open.push_back(kprof::begin(Op{i}));
  const pid_t child = fork();
  if (child == 0) {
    const auto since = std::chrono::steady_clock::now();
    { KPROF_OP(Op, {4000}); }
    _exit(seconds_since(since) < 1 ? 0 : 1);
  }
  int how = -1;
  check("the child ends", waitpid(child, &how, 0) == child);
  check("a child's first scope among 4,000 open takes no time", how == 0);
  for (std::size_t i = open.size(); i-- > 0;) kprof::end(open[i]);
  check("the parent's scopes end", kprof::snapshot().complete.recorded == 4000);
}

}  // namespace

int main() {
  a_thread_that_jumps_is_recorded_on();
  deep_recursion_ends_nothing_early();
  starting_among_open_scopes_takes_no_time();
  a_forked_child_begins_among_open_scopes_at_once();
  return exit_status();
}
