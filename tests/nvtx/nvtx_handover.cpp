// SPDX-License-Identifier: MIT
// Scopes that one sink opens and that close while another one listens: the emitter alone, a session
// that sends what it records, and one that does not.
#include <kprof/kprof.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

struct Op {
  std::int64_t n = 0;
};

void require(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}
std::uint64_t recorded() { return kprof::snapshot().complete.recorded; }

}  // namespace

int main() {
  kprof::stop();  // the session was armed; from here on the emitter alone listens

  auto emitted = kprof::begin(Op{1});
  require(static_cast<bool>(kprof::start()), "the session starts");
  { KPROF_OP(Op, {2}); }
  kprof::end(emitted);
  require(recorded() == 1, "the session records its own scope, and not the one opened before");

  auto sent_and_recorded = kprof::begin(Op{3});
  kprof::stop();
  { KPROF_OP(Op, {4}); }
  kprof::end(sent_and_recorded);
  require(recorded() == 2, "a scope that was open at the stop is recorded when it closes");

  require(static_cast<bool>(kprof::start()), "the session starts again");
  auto sent = kprof::begin(Op{5});
  kprof::settings quiet;
  quiet.nvtx = false;
  require(static_cast<bool>(kprof::start(quiet)), "the session starts without NVTX");
  { KPROF_OP(Op, {6}); }  // not sent
  kprof::end(sent);
  const kprof::profile run = kprof::snapshot();
  require(run.complete.recorded == 2 && run.complete.open == 0, "both scopes are recorded");
  require(run.complete.closed_elsewhere == 0, "no end is foreign");
  std::printf("idle 0\n");
  return 0;
}
