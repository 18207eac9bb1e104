// SPDX-License-Identifier: MIT
// Contexts of long paths on threads with small stacks: a task that hands its context to the next
// one makes a path of any length, which a thread of the pool adopts at once.
#include <kprof/kprof.hpp>

#include <pthread.h>

#include <cstddef>

#include "checks.hpp"

namespace {

constexpr int tasks = 6000, nested = 3000;
kprof::context of_last_task;

/// Each task goes on under the context of the one before.
void* hand_on(void*) {
  for (int i = 0; i < tasks; ++i) {
    const kprof::context_guard under(of_last_task);
    KPROF_REGION("task");
    of_last_task = kprof::context::current();
  }
  return nullptr;
}
void* adopt(void*) {
  const kprof::context_guard under(of_last_task);
  KPROF_REGION("after all tasks");
  static_cast<void>(kprof::context::current());
  return nullptr;
}
/// By hand: guards in a function that calls itself would take the stack that this is about.
void* nest(void*) {
  for (int i = 0; i < nested; ++i) static_cast<void>(kprof::begin_region("nested"));
  static_cast<void>(kprof::context::current());
  return nullptr;
}

void run(void* (*function)(void*)) {
  constexpr std::size_t small_stack = 256 * 1024;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, small_stack);
  pthread_t thread{};
  check("a thread begins", pthread_create(&thread, &attributes, function, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::size_t scopes_around(const kprof::profile& p, const kprof::scope_node& n) {
  std::size_t count = 0;
  for (std::uint32_t i = n.parent; p.nodes[i].parent != kprof::scope_node::none;
       i = p.nodes[i].parent)
    ++count;
  return count;
}

}  // namespace

int main() {
  run(&hand_on);
  run(&adopt);
  run(&nest);
  const kprof::profile p = kprof::snapshot();
  check("all scopes are there",
        p.complete.recorded == tasks + 1 && p.complete.never_closed == nested);
  for (const kprof::scope_node& n : p.nodes)
    if (n.name == "after all tasks")
      check("it stands under all tasks", scopes_around(p, n) == tasks);
  return exit_status();
}
