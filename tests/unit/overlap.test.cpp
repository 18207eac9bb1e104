// SPDX-License-Identifier: MIT
// Calls that threads share and that overlap: what rows and the report say of their time.
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/summary.hpp>

#include "../support/catch.hpp"
#include "../support/find.hpp"
#include "../support/machines.hpp"
#include "../support/profile_builder.hpp"
#include "../support/report_page.hpp"
#include "../support/rows.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using kprof::operator_row;
using kprof::operator_table;
using kprof_test::has;
using kprof_test::profile_builder;
using kprof_test::row_of;

namespace {

/// Calls of one kind, shared among the threads of a pool, in nanoseconds.
struct shared_calls {
  std::string name, parameters;
  std::uint64_t calls = 10;
  double wall_ns = 0, elapsed_ns = -1, busy_ns = 0;
};

/// A run of 1 ms of a pool of `threads`, which passes all of these.
template <class Calls>
kprof::profile pool_run(std::uint32_t threads, const Calls& all) {
  profile_builder b;
  for (std::uint32_t t = 0; t < threads; ++t) {
    const auto root = b.thread("worker", 100 + t);
    for (const shared_calls& c : all) {
      const auto node = b.op(root, c.name, c.parameters);
      const auto calls = static_cast<double>(c.calls);
      b.calls(node, c.calls, c.busy_ns / threads / calls).work(node, 1000, 8, 8);
      kprof::shared_part& shared = b.p.nodes[node].shared;
      shared.part = t;
      shared.parts = threads;
      if (t > 0) continue;
      shared.calls = shared.joined = c.calls;
      shared.wall_ns = c.wall_ns;
      shared.elapsed_ns = c.elapsed_ns;
      shared.busy_ns = c.busy_ns;
      shared.longest_ns = c.busy_ns / threads;
      shared.min_ns = shared.max_ns = c.wall_ns / calls;
    }
  }
  kprof::profile p = b.done();
  p.wall_ns = 1e6;
  for (kprof::thread_info& t : p.threads) t.wall_ns = t.in_scopes_ns = p.wall_ns;
  return p;
}

}  // namespace

TEST_CASE("overlap.of_calls_of_the_same_parameters_counts_once") {
  const shared_calls one[] = {{"Gemm", "n=1", 10, 2.58e6, 0.9e6, 3.2e6}};
  const operator_row row = row_of(pool_run(4, one), "Gemm");
  CHECK(row.total_ns == Approx(0.9e6));
  CHECK(row.overlap_ns == Approx(2.58e6 - 0.9e6));
  CHECK(row.mean_ns.value == Approx(2.58e5));  // of a call
  CHECK(row.waiting_ns.value == Approx(4 * 0.9e6 - 3.2e6));
  CHECK(row.flops_per_s.value == Approx(10 * 1000 / 0.9e-3));
  CHECK(kprof::detail::has_overlap(row));
  CHECK(kprof::call_tree(pool_run(4, one))[0].flops_per_s.value == Approx(10 * 1000 / 0.9e-3));
}

TEST_CASE("overlap.without_any_changes_nothing") {
  const shared_calls one[] = {{"Gemm", "n=1", 10, 0.8e6, 0.8e6, 3e6}};
  const operator_row row = row_of(pool_run(4, one), "Gemm");
  CHECK(row.total_ns == Approx(0.8e6));
  CHECK(row.overlap_ns == 0);
  CHECK(row.waiting_ns.value == Approx(0.2e6));
  CHECK_FALSE(kprof::detail::has_overlap(row));
}

TEST_CASE("overlap.of_different_calls_is_no_more_than_the_run") {
  const shared_calls two[] = {{"Gemm", "n=1", 10, 2e6, 0.9e6, 1.6e6},
                              {"Gemm", "n=2", 10, 2e6, 0.8e6, 1.6e6}};
  const operator_row row = row_of(pool_run(4, two), "Gemm");
  CHECK(row.total_ns == Approx(1e6));
  CHECK(row.overlap_ns == Approx(3e6));
  CHECK(row.waiting_ns.value == Approx(4 * 1e6 - 3.2e6));
  CHECK(operator_total(pool_run(4, two)).total_ns == Approx(1e6));
  for (const operator_row& each : operator_table(pool_run(4, two))) CHECK(each.total_ns < 1e6);
}

TEST_CASE("overlap.of_two_pools_is_no_more_than_their_threads_have_time_for") {
  const shared_calls two[] = {{"Gemm", "n=1", 10, 2e6, 1e6, 1.6e6},
                              {"Gemm", "n=2", 10, 2e6, 1e6, 1.6e6},
                              {"Gemm", "n=3", 10, 2e6, 1e6, 1.6e6}};
  kprof::profile p = pool_run(4, two);
  for (kprof::scope_node& n : p.nodes)
    if (n.shared.parts == 4) n.shared.parts = 2;  // two calls at once
  CHECK(row_of(p, "Gemm").total_ns == Approx(2e6));
}

TEST_CASE("overlap.that_a_file_does_not_know_is_bounded_by_the_run") {
  const shared_calls one[] = {{"Gemm", "n=1", 10, 2.58e6, -1, 3.2e6}};
  const kprof::profile p = pool_run(4, one);
  CHECK(row_of(p, "Gemm").total_ns == Approx(1e6));
  CHECK(row_of(p, "Gemm").waiting_ns.value == Approx(4e6 - 3.2e6));
  kprof::profile no_wall = p;
  no_wall.wall_ns = 0;
  CHECK(row_of(no_wall, "Gemm").total_ns == Approx(2.58e6));
}

TEST_CASE("overlap.of_random_runs_makes_no_row_longer_than_the_run") {
  const kprof::grouping groupings[] = {kprof::grouping::parameters, kprof::grouping::op,
                                       kprof::grouping::nothing()};
  std::mt19937 random(14);
  for (int round = 0; round < 300; ++round) {
    std::vector<shared_calls> all;
    const auto threads = 1 + static_cast<std::uint32_t>(random() % 8);
    for (std::uint32_t i = 0; i < 1 + random() % 6; ++i) {
      const double elapsed = static_cast<double>(random() % 1'000'000);
      all.push_back({i % 2 == 0 ? "Gemm" : "Add", "n=" + std::to_string(i), 1 + random() % 20,
                     elapsed * (1 + static_cast<double>(random() % 3)),
                     random() % 4 == 0 ? -1 : elapsed, elapsed * threads * 0.5});
    }
    const kprof::profile p = pool_run(threads, all);
    for (const kprof::grouping& by : groupings)
      for (const operator_row& row : operator_table(p, by)) {
        REQUIRE(row.total_ns <= p.wall_ns);
        REQUIRE(row.overlap_ns >= 0);
        REQUIRE(row.waiting_ns.value >= 0);
        REQUIRE(row.waiting_ns.value <= threads * p.wall_ns);
      }
  }
}

TEST_CASE("overlap.is_told_below_the_table_of_shared_calls") {
  const shared_calls two[] = {{"Gemm", "n=1", 10, 2.58e6, 0.9e6, 3.2e6},
                              {"Add", "n=1", 10, 0.1e6, 0.1e6, 0.2e6}};
  kprof::report_options options = kprof_test::at_width(100);
  std::string page = kprof_test::page_of(pool_run(4, two), options);
  INFO(page);
  CHECK(
      has(page,
          "calls overlap, as threads do not wait; total leaves out: Gemm (1.68 ms of 2.58 ms)\n"));
  options.columns = {"operator", "total"};
  page = kprof_test::page_of(pool_run(4, two), options);
  CHECK(has(page, "Gemm (1.68 ms of 2.58 ms)"));
  CHECK_FALSE(has(page, "Calls that threads share"));
  const shared_calls apart[] = {{"Gemm", "n=1", 10, 0.9e6, 0.9e6, 3.2e6}};
  CHECK_FALSE(has(kprof_test::page_of(pool_run(4, apart), options), "overlap"));
}

TEST_CASE("overlap.the_total_of_shared_calls_leaves_out_plain_ones") {
  const shared_calls one[] = {{"Gemm", "n=1", 10, 0.8e6, 0.8e6, 3e6}};
  kprof::profile p = pool_run(4, one);
  kprof::scope_node plain = p.nodes[1];
  plain.shared = {};
  plain.total_ns = plain.self_ns = 5e6;
  p.nodes.push_back(plain);
  const operator_row row = row_of(p, "Gemm");
  CHECK(row.total_ns == Approx(5.8e6));
  CHECK(row.shared_ns.value == Approx(0.8e6));
  const std::string page = kprof_test::page_of(p, kprof_test::at_width(100));
  INFO(page);
  CHECK(
      kprof_test::words(page.substr(page.find("Calls that threads share"))).find("4 800 \u00B5s") !=
      std::string::npos);
}

TEST_CASE("overlap.parts_without_a_whole_call_say_that_no_call_has_finished") {
  const shared_calls one[] = {{"Gemm", "n=1", 10, 0.8e6, 0.8e6, 3e6}};
  kprof::profile p = pool_run(4, one);
  for (kprof::scope_node& n : p.nodes) n.shared.calls = n.shared.joined = 0;
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(row_of(p, "Gemm").verdict.roof.why == kprof::absence::no_calls);
  CHECK_FALSE(has(kprof_test::page_of(p, kprof_test::at_width(100)), "less than the clock"));
}
