// SPDX-License-Identifier: MIT
// A signal's handler with guards comes between any two instructions of guards that fill a chunk of
// their thread's log: every scope is recorded or counted as dropped. The processor's single-step
// mode sends the signals, so that each run sees the same places.
//
//   recording_steps [anew]     anew: other threads hold all other chunks

#include <kprof/kprof.hpp>
#include <kprof/record/this_thread.hpp>

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

struct Op {
  std::int64_t a = 0, b = 0, c = 0, d = 0;
};
struct InHandler {
  std::int64_t n = 0;
};

namespace {

std::uint64_t steps = 0;        // since the mode began
std::uint64_t wanted = 0;       // the step at which the handler has guards
std::uint64_t most_steps = 0;   // of a change of chunks
std::uint64_t in_handlers = 0;  // scopes
bool is_anew = false;

void handle(int, siginfo_t*, void* interrupted) {
  if (++steps != wanted) return;
  static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs[REG_EFL] &= ~0x100;  // no more steps
  KPROF_OP(InHandler, {1});
  { KPROF_REGION("in a handler"); }
  in_handlers += 2;
}

void single_step(bool on) {
  if (on) asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
  else asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

/// Bytes that this thread's chunk has left.
std::ptrdiff_t room() {
  return kprof::detail::this_log->limit - kprof::detail::this_log->next_record();
}

/// Guards until the chunk is nearly full, then step by step into the next one. Scopes.
std::uint64_t change_of_chunks() {
  std::uint64_t done = 0;
  for (; room() < 0 || room() > 200; ++done) { KPROF_OP(Op, {1, 2}); }
  if (is_anew) static_cast<void>(kprof::snapshot());  // else the chunk is folded step by step
  steps = 0;
  single_step(true);
  for (int i = 0; i < 3; ++i) {
    kprof::detail::this_log->cpu_due = 0;  // which the begin reads; the end has come late by then
    KPROF_OP(Op, {1, 2});
  }
  single_step(false);
  if (wanted == 0 && steps > most_steps) most_steps = steps;
  static_cast<void>(kprof::snapshot());  // the next change has no chunks to fold
  return done + 3;
}

/// Threads that each write to a chunk, more than there are, until this ends.
class holders {
 public:
  explicit holders(std::size_t count) : threads_(count) {
    for (std::thread& t : threads_)
      t = std::thread([this] {
        { KPROF_OP(Op, {}); }
        ++ready_;
        while (!ends_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    while (ready_ != count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~holders() {
    ends_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<std::size_t> ready_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  is_anew = argc > 1 && std::strcmp(argv[1], "anew") == 0;
  kprof::settings settings;
  settings.memory = is_anew ? kprof::settings::smallest_memory : std::size_t{64} << 20;
  if (!kprof::start(settings)) return 2;
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  std::uint64_t done = 0;
  { KPROF_OP(Op, {}); }  // the thread has a log
  ++done;
  const std::size_t held = is_anew ? 64 : 0;
  const holders others(held);
  done += held;
  if (is_anew && kprof::snapshot().complete.dropped == 0) {
    std::printf("FAILED: there are chunks left\n");
    return 1;
  }
  done += change_of_chunks();
  most_steps = 0;                                          // the first one makes tables
  for (int i = 0; i < 2; ++i) done += change_of_chunks();  // every other one is longer
  if (most_steps == 0) {
    std::printf("there is no single-step mode here\n");
    return 77;
  }
  // Each window of more instructions than this is met.
  const std::uint64_t stride = is_anew ? 17 : 61;
  // Some virtual machines take long for a step: then the later ones are left out.
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (wanted = 1; wanted <= most_steps && std::chrono::steady_clock::now() < latest;
       wanted += stride)
    for (int i = 0; i < (is_anew ? 1 : 2); ++i) done += change_of_chunks();

  const kprof::completeness c = kprof::snapshot().complete;
  const std::uint64_t seen = c.recorded + c.dropped + c.dropped_inside;
  std::printf(
      "%llu steps at most, %llu scopes done, %llu of them in handlers, %llu recorded, %llu "
      "dropped inside, %llu dropped\n",
      static_cast<unsigned long long>(most_steps),
      static_cast<unsigned long long>(done + in_handlers),
      static_cast<unsigned long long>(in_handlers), static_cast<unsigned long long>(c.recorded),
      static_cast<unsigned long long>(c.dropped_inside),
      static_cast<unsigned long long>(c.dropped));
  return most_steps > 500 && in_handlers > 10 && seen == done + in_handlers ? 0 : 1;
}
