// SPDX-License-Identifier: MIT
// needs: guards
// The program says which call another one belongs to: current_call() and belongs_to().

#include <kprof/kprof.hpp>
#include <kprof/timeline.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Layer {
  std::int64_t n = 0;
  kprof::pass_kind direction = kprof::pass_kind::fprop;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(2 * n); }
};

kprof::call_id forward(std::int64_t n) {
  KPROF_OP(Layer, {.n = n});
  return kprof::current_call();
}
void backward(std::int64_t n, kprof::call_id of) {
  KPROF_OP(Layer, {.n = n, .direction = kprof::pass_kind::dgrad});
  kprof::belongs_to(of);
}

/// The value of `n` of a call in the timeline.
std::int64_t n_of(const kprof::profile& p, std::uint32_t call) {
  const std::string text = parameter_text(p, p.nodes.at(p.timeline.at(call).node));
  REQUIRE(text.substr(0, 2) == "n=");
  return std::stoll(text.substr(2));
}

}  // namespace

TEST_CASE("call_links.a_backward_call_on_another_thread_is_linked_to_its_forward_call") {
  REQUIRE(kprof::start());
  std::vector<kprof::call_id> calls;
  for (int i = 1; i <= 3; ++i) calls.push_back(forward(i));
  std::thread([&] {
    for (int i = 1; i <= 3; ++i) backward(10 * i, calls[static_cast<std::size_t>(i - 1)]);
  }).join();
  const kprof::profile p = kprof::snapshot({.timeline = true});
  REQUIRE(p.links.size() == 3);
  for (const kprof::call_link& l : p.links) {
    CHECK(n_of(p, l.call) == 10 * n_of(p, l.of));
    CHECK(p.timeline[l.of].start < p.timeline[l.call].start);
  }
  CHECK(kprof::snapshot().links.empty());  // without a timeline
}

TEST_CASE("call_links.the_innermost_scope_is_the_call") {
  REQUIRE(kprof::start());
  kprof::call_id outer, inner;
  {
    KPROF_OP(Layer, {.n = 1});
    { KPROF_OP(Layer, {.n = 7}); }
    {
      KPROF_OP(Layer, {.n = 2});
      inner = kprof::current_call();
    }
    outer = kprof::current_call();
    { KPROF_OP(Layer, {.n = 8}); }
  }
  backward(3, outer);
  backward(4, inner);
  const kprof::profile p = kprof::snapshot({.timeline = true});
  REQUIRE(p.links.size() == 2);
  for (const kprof::call_link& l : p.links) { CHECK(n_of(p, l.call) == n_of(p, l.of) + 2); }
}

TEST_CASE("call_links.what_is_no_call_is_linked_to_nothing") {
  const kprof::call_id before = kprof::current_call();  // nobody listens
  REQUIRE(kprof::start());
  const kprof::call_id outside = kprof::current_call();
  kprof::belongs_to(outside);
  backward(1, before);
  backward(2, outside);
  backward(3, {});
  const kprof::call_id good = forward(4);
  kprof::belongs_to(good);  // in no scope
  {
    KPROF_OP(Layer, {.n = 5});
    kprof::belongs_to(kprof::current_call());  // to itself
  }
  CHECK(kprof::snapshot({.timeline = true}).links.empty());
  // A call of an earlier recording is not in this one, and its number is nobody else's.
  kprof::stop();
  REQUIRE(kprof::start());
  forward(6);
  backward(7, good);
  CHECK(kprof::snapshot({.timeline = true}).links.empty());
  backward(8, forward(9));
  CHECK(kprof::snapshot({.timeline = true}).links.size() == 1);
}

TEST_CASE("call_links.calls_that_the_timeline_has_lost_are_left_out") {
  REQUIRE(kprof::start({.memory = 1 << 20}));
  const kprof::call_id first = forward(1);
  for (int i = 0; i < 100'000; ++i) forward(2);
  backward(3, first);
  std::vector<kprof::call_id> calls;
  for (int i = 0; i < 3000; ++i) calls.push_back(forward(4));
  for (const kprof::call_id& c : calls) backward(5, c);
  const kprof::profile p = kprof::snapshot({.timeline = true});
  CHECK(p.links.size() == 3000);
  for (const kprof::call_link& l : p.links) {
    REQUIRE(n_of(p, l.call) == 5);
    REQUIRE(n_of(p, l.of) == 4);
  }
}

TEST_CASE("call_links.links_of_the_program_come_before_the_rule") {
  REQUIRE(kprof::start());
  for (int step = 0; step < 2; ++step) {
    std::vector<kprof::call_id> calls;
    for (int i = 0; i < 4; ++i) calls.push_back(forward(1));
    // In the order of forward, and not in reverse.
    for (const kprof::call_id& c : calls) backward(1, c);
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  const kprof::pass_links found = kprof::links_of(p, {{0, 1'000'000'000'000}});
  CHECK(found.by_program == 8);
  CHECK(found.unlinked == 0);
  REQUIRE(found.links.size() == 8);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(found.links[i].forward > found.links[i - 1].forward);  // the rule has them fall
}
