// SPDX-License-Identifier: MIT
// Forward and backward beside each other, and where the time of the host goes.

#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using kprof::direction;
using kprof::host_state;
using kprof::interval;
using kprof_test::timeline_builder;

namespace {

constexpr auto forward = static_cast<std::size_t>(direction::forward),
               backward = static_cast<std::size_t>(direction::backward),
               update = static_cast<std::size_t>(direction::update);

/// Two layers of one network: forward, backward and update.
struct network : timeline_builder {
  std::uint32_t root = thread("main", 1);
  std::uint32_t step = region(root, "step");
  std::uint32_t fwd = region(step, "Forward pass"), bwd = region(step, "backward"),
                opt = region(step, "optimizer");
  std::uint32_t conv(std::uint32_t in, const std::string& pass, double ns, std::uint64_t flops,
                     const std::string& n = "8") {
    const auto node = op(in, "Conv2d", "N=" + n + " pass=" + pass);
    calls(node, 2, ns);
    work(node, flops, 1, 1);
    return node;
  }
};

}  // namespace

TEST_CASE("passes.layers_have_forward_backward_and_update_side_by_side") {
  network b;
  const auto first = b.region(b.fwd, "conv1"), first_back = b.region(b.bwd, "conv1");
  b.conv(first, "fprop", 100, 10);
  b.calls(b.op(first, "Relu"), 2, 7);  // says no pass: the region does
  b.conv(first_back, "dgrad", 150, 10);
  b.conv(first_back, "wgrad", 160, 10);
  b.calls(b.op(b.region(b.opt, "conv1"), "Sgd"), 2, 5);
  const kprof::profile p = b.done();
  const std::vector<kprof::layer_row> rows = kprof::layers_of(p);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].layer == "");
  CHECK(rows[1].layer == "step");
  CHECK(rows[2].layer == "step/conv1");
  CHECK(rows[2].host_ns[forward] == 214);
  CHECK(rows[2].host_ns[backward] == 620);
  CHECK(rows[2].host_ns[update] == 10);

  const std::vector<kprof::direction_row> ops = kprof::directions_of(p);
  REQUIRE(ops.size() == 1);
  CHECK(ops[0].op == "Conv2d");
  CHECK(ops[0].layer == "step/conv1");
  CHECK_FALSE(ops[0].of_device);
  CHECK(ops[0].calls[forward] == 2);
  CHECK(ops[0].calls[backward] == 4);
  CHECK(ops[0].ratio() == 3.1);
  CHECK(ops[0].formula_ratio() == 2);
  CHECK(ops[0].is_slow_backward());
}

TEST_CASE("passes.time_of_the_device_counts_where_there_is_any") {
  network b;
  const auto there = b.conv(b.fwd, "fprop", 100, 10), back = b.conv(b.bwd, "dgrad", 100, 10);
  b.conv(b.bwd, "dgrad", 100, 10, "9");  // another shape
  b.kernel(there, "gemm", 2, 1000);
  b.kernel(b.region(back, "inner"), "gemm", 2, 1400);
  const kprof::profile p = b.done();
  const std::vector<kprof::direction_row> ops = kprof::directions_of(p);
  REQUIRE(ops.size() == 1);
  CHECK(ops[0].of_device);
  CHECK(ops[0].ns[forward] == 2000);
  CHECK(ops[0].ns[backward] == 2800);
  CHECK(ops[0].formula_ratio() == 1);
  CHECK_FALSE(ops[0].is_slow_backward());
  // What is inside an operator is in the operator's layer.
  CHECK(kprof::layers_of(p)[1].device_ns[backward] == 2800);
}

TEST_CASE("passes.the_last_forward_call_belongs_to_the_first_backward_one") {
  network b;
  const auto there = b.conv(b.fwd, "fprop", 1, 1), dgrad = b.conv(b.bwd, "dgrad", 1, 1),
             wgrad = b.conv(b.bwd, "wgrad", 1, 1), other = b.conv(b.bwd, "wgrad", 1, 1, "9");
  for (const std::int64_t t : {0, 10, 20}) b.scope_at(there, t, t + 5);       // 0, 1, 2
  for (const std::int64_t t : {30, 40, 50, 60}) b.scope_at(dgrad, t, t + 5);  // 3 to 6
  b.scope_at(wgrad, 52, 53);                                                  // 7
  b.scope_at(other, 70, 71);                                                  // 8
  b.scope_at(there, 100, 105);                                                // 9: the next step
  b.scope_at(dgrad, 110, 115);                                                // 10
  b.scope_at(dgrad, 300, 301);                                                // in no step
  const kprof::pass_links found = kprof::links_of(b.p, {{0, 100}, {100, 200}});
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {
      {2, 3}, {1, 4}, {0, 5}, {2, 7}, {9, 10}};
  REQUIRE(found.links.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(found.links[i].forward == expected[i].first);
    CHECK(found.links[i].backward == expected[i].second);
  }
  CHECK(found.unlinked == 2);
  CHECK(kprof::links_of(b.p, {}).links.empty());
}

TEST_CASE("passes.what_the_program_says_comes_before_the_rule") {
  network b;
  const auto there = b.conv(b.fwd, "fprop", 1, 1), dgrad = b.conv(b.bwd, "dgrad", 1, 1),
             wgrad = b.conv(b.bwd, "wgrad", 1, 1);
  for (const std::int64_t t : {0, 10, 20}) b.scope_at(there, t, t + 5);   // 0, 1, 2
  for (const std::int64_t t : {30, 40, 50}) b.scope_at(dgrad, t, t + 5);  // 3, 4, 5
  for (const std::int64_t t : {60, 70}) b.scope_at(wgrad, t, t + 5);      // 6, 7
  b.scope_at(dgrad, 300, 301);                                            // 8: in no step
  b.p.links = {{3, 2}, {3, 0}, {8, 1}, {7, 99}, {99, 1}};  // the last one of a call holds
  const kprof::pass_links found = kprof::links_of(b.p, {{0, 100}});
  // Of the rest, the rule takes the forward calls that no call of the same pass has.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> expected = {
      {0, 3}, {2, 4}, {1, 5}, {2, 6}, {1, 7}};
  REQUIRE(found.links.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(found.links[i].forward == expected[i].first);
    CHECK(found.links[i].backward == expected[i].second);
    CHECK(found.links[i].by_program == (i == 0));
  }
  CHECK(found.by_program == 1);
  CHECK(found.unlinked == 0);
}

TEST_CASE("host_times.a_step_is_the_sum_of_what_its_thread_did") {
  network b;
  const auto gemm = b.op(b.step, "Gemm");
  b.scope_at(b.step, 5, 95);
  b.scope_at(gemm, 20, 50);
  b.call_at(kprof::call_kind::allocate, 45, 60);
  b.sync_at(60, 70);
  const kprof::host_breakdown found =
      kprof::host_breakdown_of(b.p, kprof::times_of(b.p), {{0, 30}, {30, 100}}, 0);
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[0].of(host_state::in_operator) == 10);
  CHECK(found.steps[0].of(host_state::in_region) == 15);
  CHECK(found.steps[0].of(host_state::outside) == 5);
  CHECK(found.steps[1].of(host_state::in_operator) == 15);
  CHECK(found.steps[1].of(host_state::calling) == 15);
  CHECK(found.steps[1].of(host_state::synchronising) == 10);
  CHECK(found.steps[1].of(host_state::in_region) == 25);
  CHECK(found.steps[1].of(host_state::outside) == 5);
  REQUIRE(found.by.size() == 3);
  CHECK(found.by[0].name == "step");
  CHECK(found.by[0].ns == 60);
  CHECK(found.by[1].ns == 30);
  CHECK(found.by[2].ns == 10);
  CHECK(kprof::host_breakdown_of(b.p, kprof::times_of(b.p), {{0, 30}}, 5).steps.empty());
}

TEST_CASE("host_times.threads_at_a_time") {
  timeline_builder b;
  std::vector<std::uint32_t> ops;
  for (std::uint64_t t = 1; t < 4; ++t) ops.push_back(b.op(b.thread("t", t), "Gemm"));
  b.scope_at(ops[0], 0, 60);
  b.scope_at(ops[1], 20, 80);
  b.scope_at(ops[2], 30, 40);
  b.scope_at(ops[2], 150, 190);
  b.p.cpus = 2;
  const kprof::thread_use use = kprof::thread_use_of(b.p, kprof::times_of(b.p), {10, 100});
  REQUIRE(use.ns_with.size() == 4);
  CHECK(use.with(0) == 20);
  CHECK(use.with(1) == 10 + 20);
  CHECK(use.with(2) == 10 + 20);
  CHECK(use.with(3) == 10);
  CHECK(use.with(4) == 0);
  CHECK(use.too_many == 10);
  CHECK(use.mean == Approx(120.0 / 70));
}
