// SPDX-License-Identifier: MIT
// How a module that is being loaded learns who listens, while somebody begins to.
#include <kprof/attach/hub.hpp>

#include "../support/catch.hpp"

#include <atomic>
#include <thread>

namespace {

using namespace kprof::detail;

/// Waits a little, another time in each round.
void wait_for(int loops) {
  for (int i = 0; i < loops; ++i) __asm__ volatile("");
}

constexpr scope_api a_listener{1,       sizeof(scope_api), nullptr, nullptr, {},
                               nullptr, nullptr,           nullptr, nullptr};

}  // namespace

TEST_CASE("listeners.a_guard_that_finds_one_can_begin_through_the_latest") {
  constexpr int rounds = 100'000;
  hub_record hub{};
  module_record module{};
  std::atomic<int> begun{0}, ended{0};
  std::thread other([&] {
    for (int i = 1; i <= rounds; ++i) {
      while (begun.load() < i) {}
      wait_for(i % 40);
      store(hub.latest, &a_listener);  // as publish() does
      store(hub.active, &a_listener);
      ended = i;
    }
  });
  int with_listener = 0, without_latest = 0;
  for (int i = 1; i <= rounds; ++i) {
    hub.active = hub.latest = nullptr;
    module.api = nullptr;
    module.latest = &no_listener;
    begun = i;
    wait_for(i / 40 % 40);
    set_listener(module, hub);
    if (load(module.api) != nullptr) {
      ++with_listener;
      if (load(module.latest) == &no_listener) ++without_latest;
    }
    while (ended.load() < i) {}
  }
  other.join();
  CHECK(with_listener > 0);
  CHECK(with_listener < rounds);
  CHECK(without_latest == 0);
}
