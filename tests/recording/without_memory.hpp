// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_WITHOUT_MEMORY_HPP
#define KPROF_TESTS_WITHOUT_MEMORY_HPP

// Work whose every scope must be recorded, open or counted as dropped, whatever memory there is.
// Include it in one file of a program.

#include <kprof/kprof.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "failing_memory.hpp"

struct Row {
  std::int64_t id = 0;
  constexpr std::uint64_t flops() const { return 10; }
};

inline std::atomic<std::uint64_t> done{0};  // scopes
inline constexpr std::uint64_t scopes_of_a_step = 5;

/// The calls in a node's histogram. That of parts is of the calls that threads share.
inline std::uint64_t counted(const kprof::scope_node& n) {
  const bool of_parts = n.durations.count() == 0 && (n.merged || n.shared.parts != 0);
  return of_parts ? n.calls : n.durations.count();
}

inline const char* mismatch(const kprof::profile& p, std::uint64_t expected) {
  const kprof::completeness& c = p.complete;
  std::uint64_t calls = 0, durations = 0, open = 0;
  for (const kprof::scope_node& n : p.nodes)
    calls += n.calls, durations += counted(n), open += n.open;
  const std::uint64_t seen =
      c.recorded + c.open + c.never_closed + c.dropped + c.dropped_inside + c.closed_elsewhere;
  if (seen != expected) {
    std::fprintf(
        stderr, "%llu done, %llu recorded, %llu open, %llu dropped\n",
        static_cast<unsigned long long>(expected), static_cast<unsigned long long>(c.recorded),
        static_cast<unsigned long long>(c.open), static_cast<unsigned long long>(c.dropped));
    return "a scope is neither recorded nor counted";
  }
  if (calls != c.recorded) return "nodes and the number of recorded scopes differ";
  if (durations != c.recorded) return "histograms and the number of recorded scopes differ";
  if (open != c.open + c.never_closed) return "nodes and the number of open scopes differ";
  return nullptr;
}

inline void check(const char* what, const kprof::profile& p, std::uint64_t expected) {
  const char* wrong = mismatch(p, expected);
  if (wrong == nullptr) return;
  std::fprintf(stderr, "%s: %s\n", what, wrong);
  std::_Exit(1);
}

// Allocates nothing itself.
inline void work(int steps, int kinds, bool with_steps = true) {
  errno = EDOM;
  for (int i = 0; i < steps; ++i) {
    KPROF_REGION("step");
    {
      KPROF_OP(Row, {i % kinds});
      KPROF_REGION("inside");
    }
    const kprof::context here = i % 64 == 0 ? kprof::context::current() : kprof::context{};
    const kprof::context_guard under(here);
    KPROF_REGION("under a context");
    { KPROF_PART(Row, {i / 2 % kinds}, i % 2, 2); }
    if (with_steps) KPROF_STEP();
  }
  done += scopes_of_a_step * static_cast<std::uint64_t>(steps);
  if (errno == EDOM) return;
  std::fprintf(stderr, "guards have changed errno to %d\n", errno);
  std::_Exit(1);
}

#endif
