// SPDX-License-Identifier: MIT
// needs: guards
// What real guards and contexts become in the summaries; profiles made by hand are in
// summary.test.cpp.

#include <kprof/kprof.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/record/recorder.hpp>

#include "catch.hpp"

#include "groupings.hpp"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using kprof::grouping;
using kprof::operator_row;

namespace {

struct Batch {
  int n = 0;
  constexpr kprof::count flops() const { return n; }
};
struct Part {
  int k = 0;
};

void spin() {
  volatile int x = 0;
  for (int i = 0; i < 20'000; ++i) x = x + 1;
}

void batch_on_a_worker() {
  KPROF_OP(Batch, {8});
  const kprof::context here = kprof::context::current();
  std::thread([&] {
    const kprof::context_guard under{here};
    KPROF_REGION("copy");
    spin();
    KPROF_OP(Part, {1});
    spin();
  }).join();
}

}  // namespace

TEST_CASE("model.a_context_makes_no_row_on_the_thread_that_adopts_it") {
  REQUIRE(kprof::start());
  batch_on_a_worker();
  kprof::stop();
  const kprof::profile p = kprof::snapshot();
  for (const grouping& by : kprof_test::finer_and_finer()) {
    INFO("grouping " << by.text());
    const std::vector<operator_row> rows = kprof::operator_table(p, by);
    REQUIRE(rows.size() == 2);
    for (const operator_row& row : rows) {
      CHECK(row.calls == 1);
      CHECK(row.variants == 1);
      CHECK_FALSE(row.several_sites);
      CHECK(row.thread < p.threads.size());
      CHECK(row.mean_ns.known());
    }
    CHECK(rows[0].thread != rows[1].thread);
  }
  std::string page;
  REQUIRE(kprof::write_text(p, {.width = 140, .by = kprof_test::by_thread()}, page));
  CHECK(page.find("no call has finished") == std::string::npos);
  CHECK(page.find("several") == std::string::npos);
}

TEST_CASE("model.a_worker_has_the_time_of_what_it_ran_under_a_context") {
  REQUIRE(kprof::start());
  batch_on_a_worker();
  kprof::stop();
  const std::vector<kprof::tree_row> tree = kprof::call_tree(kprof::snapshot(), true);
  double copy = 0;
  for (const kprof::tree_row& row : tree)
    if (row.name == "copy") copy = row.total_ns;
  REQUIRE(copy > 0);
  bool found = false;
  for (const kprof::tree_row& row : tree)
    found = found || (row.kind == kprof::scope_kind::root && row.total_ns == Approx(copy));
  CHECK(found);
}

TEST_CASE("model.regions_in_an_operator_are_its_self_time") {
  REQUIRE(kprof::start());
  {
    KPROF_OP(Batch, {1});
    KPROF_REGION("kernel");
    spin();
  }
  kprof::stop();
  const std::vector<operator_row> rows = kprof::operator_table(kprof::snapshot());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].self_ns == Approx(rows[0].total_ns));
  CHECK(rows[0].share == Approx(1));
}

TEST_CASE("model.scopes_that_came_while_kprof_was_at_work_are_counted_apart") {
  REQUIRE(kprof::start());
  {
    const kprof::detail::mark_inside_kprof kprof_at_work;
    KPROF_REGION("in an allocator");
  }
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  CHECK(p.complete.dropped_inside == 1);
  CHECK(p.complete.dropped == 0);
  CHECK(p.complete.recorded == 0);
}
