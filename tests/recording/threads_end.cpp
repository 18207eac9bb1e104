// SPDX-License-Identifier: MIT
// Threads that end: guards in the destructors of their keys, and totals that are moved when they
// have ended. Contexts of earlier recordings.

#include <kprof/kprof.hpp>

#include <pthread.h>

#include <climits>
#include <cstdint>
#include <string>
#include <thread>

#include "checks.hpp"
#include "find.hpp"

struct Op {
  std::int64_t n = 0;
};

namespace {

kprof::settings with_memory(std::size_t mib) {
  kprof::settings s;
  s.memory = mib << 20U;
  return s;
}

pthread_key_t keys[4];

// Runs a guard in every round of destructors.
void destroy(void* key) {
  KPROF_REGION("in a key's destructor");
  pthread_setspecific(*static_cast<pthread_key_t*>(key), key);
}

void guards_in_destructors_of_keys_leave_no_logs() {
  for (pthread_key_t& key : keys) pthread_key_create(&key, &destroy);
  static_cast<void>(kprof::start(with_memory(1)));
  constexpr std::uint64_t threads = 300;
  for (std::uint64_t t = 0; t < threads; ++t)
    std::thread([] {
      KPROF_REGION("thread");
      for (pthread_key_t& key : keys) pthread_setspecific(key, &key);
    }).join();
  const kprof::profile p = kprof::snapshot();
  const std::uint64_t done = threads * (1 + 4 * PTHREAD_DESTRUCTOR_ITERATIONS);
  check("a scope in a key's destructor is recorded or counted as dropped",
        p.complete.recorded + p.complete.dropped == done);
  // In the last rounds the thread has ended for kprof.
  check("those of the first rounds are recorded",
        calls(p, "in a key's destructor") >= threads * 4 * (PTHREAD_DESTRUCTOR_ITERATIONS - 2));
  std::uint64_t running = 0, ended = 0;
  for (const kprof::thread_info& t : p.threads)
    ended += t.merged != 0 ? t.merged : t.ended ? 1 : 0, running += t.ended ? 0 : 1;
  check("a thread is one thread", ended == threads);
  check("no thread goes on for ever", running <= 1);
}

void ended_threads_keep_their_parameters() {
  // Enough for the histograms of one tree, and too little for the nodes of 64.
  static_cast<void>(kprof::start(with_memory(8)));
  constexpr int threads = 200, parameters = 60;
  for (int t = 0; t < threads; ++t)
    std::thread([] {
      for (int i = 0; i < parameters; ++i) { KPROF_OP(Op, {i}); }
    }).join();
  const kprof::profile p = kprof::snapshot();
  check("no parameters of ended threads are lost", p.complete.merged == 0);
  bool all = true;
  for (int i = 0; i < parameters; ++i)
    all = all && calls(p, "Op n=" + std::to_string(i)) == threads;
  check("all calls are counted by their parameters", all);
}

void contexts_of_earlier_recordings_leave_room() {
  for (int recording = 0; recording < 12; ++recording) {
    static_cast<void>(kprof::start(with_memory(1)));
    for (int i = 0; i < 400; ++i) {
      KPROF_REGION("request " + std::to_string(recording) + "/" + std::to_string(i));
      static_cast<void>(kprof::context::current());
    }
  }
  static_cast<void>(kprof::start(with_memory(1)));
  for (int i = 0; i < 75; ++i) { KPROF_OP(Op, {i}); }
  check("75 parameters have room afterwards", kprof::snapshot().complete.merged == 0);
}

}  // namespace

// The first argument names what is tested: each is a process of its own.
int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "keys") guards_in_destructors_of_keys_leave_no_logs();
  if (what == "parameters") ended_threads_keep_their_parameters();
  if (what == "contexts") contexts_of_earlier_recordings_leave_room();
  return exit_status();
}
