// SPDX-License-Identifier: MIT
// needs: exceptions
// Memory runs out inside CUPTI's callbacks: nothing is thrown through CUPTI, and what there was no
// memory for is told.
#include "catch.hpp"
#include "failing_memory.hpp"

#include <kprof/attribute/graph_nodes.hpp>
#include <kprof/collect/cupti_callbacks.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

using namespace kprof::detail;
using namespace kprof::detail::cupti;

namespace {

int launches = 0;

/// 1 launches a kernel, 2 begins a capture and 3 ends it.
functions fake_cupti() {
  functions f{};
  f.enable_callback = [](std::uint32_t, subscriber, std::uint32_t, std::uint32_t) {
    return success;
  };
  f.get_callback_name = [](std::uint32_t, std::uint32_t id, const char** name) {
    static const char* const names[] = {nullptr, "cudaLaunchKernel", "cudaStreamBeginCapture",
                                        "cudaStreamEndCapture"};
    *name = id > 3 ? nullptr : names[id];
    return *name == nullptr ? result{1} : success;
  };
  return f;
}

struct fixture {
  device_listener to{};
  functions f = fake_cupti();
  clock_offset clock;
  device_wait wait;
  client own{f};
  record_reader reader{to, own, clock};
  failures failed;
  callback_handler callbacks{to, f, wait, reader, failed};

  fixture() {
    to.now = []() noexcept -> std::uint64_t { return 1; };
    to.launched = [](const observed_call&, launch_kind) noexcept { ++launches; };
    to.context_made = []() noexcept {};
    launches = 0;
  }
  void call(std::uint32_t function, void* context = nullptr, void* stream = nullptr) {
    alignas(8) char data[80] = {};
    alignas(8) char params[8] = {};
    const void* const at = params;
    const std::uint32_t id = 5;
    std::memcpy(params, &stream, sizeof stream);
    std::memcpy(data + callback_data::correlation, &id, sizeof id);
    std::memcpy(data + callback_data::context, &context, sizeof context);
    std::memcpy(data + callback_data::params, &at, sizeof at);
    for (const std::uint32_t site : {api_enter, std::uint32_t{1}}) {
      std::memcpy(data + callback_data::site, &site, sizeof site);
      callbacks.handle(runtime_api, function, data);
    }
  }
};

void* handle(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

}  // namespace

TEST_CASE("collect_memory.a_launch_is_noted_and_its_context_tried_again") {
  fixture all;
  all.callbacks.enable(nullptr);
  without_memory([&] { all.call(1, handle(0x100)); });
  CHECK(launches == 1);
  CHECK(all.wait.lacked_contexts());
  all.call(1, handle(0x100));
  CHECK_FALSE(all.wait.has(handle(0x200)));
  CHECK(all.wait.has(handle(0x100)));
  without_memory([&] {
    alignas(8) char data[80] = {};
    all.callbacks.handle(resource, context_created, data);
  });
}

TEST_CASE("collect_memory.a_capture_holds_back_waits_all_the_same") {
  fixture all;
  all.callbacks.enable(nullptr);
  without_memory([&] { all.call(2, nullptr, handle(0x1000)); });
  CHECK(all.wait.capturing().any());
  all.call(3, nullptr, handle(0x1000));
  CHECK_FALSE(all.wait.capturing().any());
}

TEST_CASE("collect_memory.a_start_without_memory_can_be_made_again") {
  fixture all;
  CHECK_FALSE(attempt([&] { without_memory([&] { all.callbacks.enable(nullptr); }); }));
  fail_no_more();
  all.callbacks.enable(nullptr);
  all.call(1);
  CHECK(launches == 1);
}

TEST_CASE("collect_memory.buffers_need_nothing_but_themselves") {
  static buffer_pool pool;  // as kprof's, which never frees its buffers
  pool.set_limit(std::size_t{1} << 20U);
  buffer* some[40] = {};
  without_memory([&] {
    for (buffer*& b : some) b = pool.take();
  });
  for (buffer* b : some) {
    REQUIRE(b != nullptr);
    CHECK(pool.find(b->records()) == b);
  }
  for (buffer* b : some) {
    pool.queue(b);
    pool.give_back(pool.next());
  }
  std::size_t known = 0;
  for (buffer* b : some) known += pool.find(b->records()) == b ? 1 : 0;  // small ones are freed
  CHECK(known > 0);
  CHECK(known < 40);
  buffer* const again = pool.take();
  CHECK(pool.find(again->records()) == again);
}

TEST_CASE("collect_memory.an_updated_node_is_not_taken_for_what_it_was") {
  graph_nodes g;
  captured_scope where;
  const std::uint64_t first = std::uint64_t{1} << 32U, second = std::uint64_t{2} << 32U,
                      exec = std::uint64_t{3} << 32U;
  g.made(first, {11, 0});
  g.made(second, {12, 0});
  g.copied(exec, first);
  CHECK(attempt([&] { without_memory([&] { g.updated(exec, second, 100); }); }));
  CHECK_FALSE(g.find(exec, 50, where));
  CHECK_FALSE(g.find(exec, 150, where));
  g.updated(exec, second, 200);
  CHECK(g.find(exec, 250, where));
  CHECK(where.path == 12);
  CHECK_FALSE(g.find(exec, 150, where));
}

TEST_CASE("collect_memory.threads_of_kprof_s_own_block_all_signals") {
  static std::atomic<int> unblocked{-1};
  REQUIRE(start_own_thread(
      [](void*) -> void* {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        int open = 0;
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGPROF})
          open += sigismember(&mask, signal) == 1 ? 0 : 1;
        unblocked = open;
        return nullptr;
      },
      nullptr));
  while (unblocked < 0) std::this_thread::yield();
  CHECK(unblocked == 0);
}
