// SPDX-License-Identifier: MIT
// Guards in a signal's handler that interrupts guards and snapshots, thousands of times a second,
// while another thread takes snapshots too: every scope is recorded or counted as dropped.

#include <kprof/kprof.hpp>

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>

struct Op {
  std::int64_t a = 0, b = 0, c = 0, d = 0;
};
struct InHandler {
  std::int64_t n = 0;
};

using namespace std::chrono_literals;

namespace {

std::atomic<std::uint64_t> in_handlers{0};  // scopes

void handle(int) {
  KPROF_OP(InHandler, {static_cast<std::int64_t>(in_handlers % 5)});
  { KPROF_REGION("in a handler"); }
  in_handlers += 2;
}

int wrong(const kprof::profile& p, std::uint64_t done) {
  const kprof::completeness& c = p.complete;
  std::uint64_t calls = 0, strange = 0;
  for (const kprof::scope_node& n : p.nodes) {
    calls += n.calls;
    const bool known = n.kind == kprof::scope_kind::root || n.name == "Op" ||
                       n.name == "InHandler" || n.name == "in a handler" || n.name == "around";
    strange += known ? 0 : 1;
  }
  const std::uint64_t seen = c.recorded + c.open + c.dropped + c.dropped_inside;
  std::printf("%llu done, %llu in handlers, %llu recorded, %llu dropped inside, %llu dropped\n",
              static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(in_handlers.load()),
              static_cast<unsigned long long>(c.recorded),
              static_cast<unsigned long long>(c.dropped_inside),
              static_cast<unsigned long long>(c.dropped));
  if (strange != 0 || seen != done || calls != c.recorded)
    std::printf("%llu strange nodes, %llu calls in nodes, %llu seen\n",
                static_cast<unsigned long long>(strange), static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(seen));
  std::printf("%llu open, %llu closed by a parent, %llu closed elsewhere\n",
              static_cast<unsigned long long>(c.open),
              static_cast<unsigned long long>(c.closed_by_parent),
              static_cast<unsigned long long>(c.closed_elsewhere));
  return seen == done && calls == c.recorded && strange == 0 && c.closed_by_parent == 0 &&
                 c.closed_elsewhere == 0 && c.open == 0
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char**) {
  kprof::settings settings;
  settings.memory = 4 << 20;
  if (!kprof::start(settings)) return 2;
  // Only the thread that works is interrupted.
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_only, nullptr);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) static_cast<void>(kprof::snapshot({.timeline = true}));
  });
  { KPROF_OP(Op, {}); }  // the thread has a log
  struct sigaction action {};
  action.sa_handler = &handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  const itimerval often{{0, 20}, {0, 20}};
  setitimer(ITIMER_REAL, &often, nullptr);

  std::uint64_t done = 1;
  // A machine that delivers few signals a second, or has little time for this, takes longer.
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::seconds(argc > 1 ? 30 : 4), latest = end + 60s;
  for (auto now = begin; now < end || (in_handlers <= 1000 && now < latest);
       now = std::chrono::steady_clock::now()) {
    KPROF_REGION("around");
    for (std::int64_t i = 0; i < 1000; ++i) { KPROF_OP(Op, {i % 3, i % 2}); }
    done += 1001;
    if (done % 20'020 != 1) continue;
    std::optional<kprof::profile> taken = kprof::snapshot();
    // A handler with guards must not interrupt the allocator.
    pthread_sigmask(SIG_BLOCK, &alarm_only, nullptr);
    taken.reset();
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  pthread_sigmask(SIG_BLOCK, &alarm_only, nullptr);
  stop = true;
  reader.join();
  const int result = wrong(kprof::snapshot(), done + in_handlers);
  if (in_handlers > 1000) return result;
  std::printf("too few signals came\n");
  return 2;
}
