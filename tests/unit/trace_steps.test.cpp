// SPDX-License-Identifier: MIT
// needs: exceptions
// A step that ends within the region of its loop, as step() at the region's end has it.

#include <kprof/report/trace.hpp>

#include "../support/catch.hpp"
#include "../support/timeline_builder.hpp"
#include "../support/trace_reader.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using kprof_test::read_trace;
using kprof_test::timeline_builder;
using kprof_test::trace_slice;
using kprof_test::trace_text;

namespace {

/// Begin and end of all slices of a name.
using times = std::vector<std::pair<std::int64_t, std::int64_t>>;
std::map<std::string, times> slice_times(const kprof::profile& p) {
  std::map<std::string, times> out;
  const read_trace trace(trace_text(p));
  for (const trace_slice& s : trace.slices) out[s.name].push_back({s.begin, s.end});
  return out;
}
std::size_t row_count(const kprof::profile& p) {
  std::set<kprof_test::row_number> rows;
  const read_trace trace(trace_text(p));
  for (const trace_slice& s : trace.slices) rows.insert(s.row);
  return rows.size();
}

}  // namespace

TEST_CASE("trace_steps.a_trace_says_how_many_the_profile_does_not_have") {
  timeline_builder run;
  const auto main = run.thread("main", 4242);
  run.scope_at(run.region(main, "forward"), 2'000, 90'000);
  CHECK(kprof_test::trace_text(run.p).find("\"steps") == std::string::npos);
  run.step_at(0, 100'000);
  run.p.stepping.threads.emplace_back().count = 7;
  CHECK(kprof_test::trace_text(run.p).find("\"steps\":1,\"steps recorded\":7,") !=
        std::string::npos);
}

TEST_CASE("trace_steps.end_with_the_region_of_their_loop") {
  timeline_builder run;
  const auto main = run.thread("main", 4242);
  const auto loop = run.region(main, "iteration");
  const auto inner = run.region(loop, "forward");
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t begin = 100'000 * i;
    run.scope_at(inner, begin + 2'000, begin + 90'000);
    run.scope_at(loop, begin + 1'000, begin + 99'800);
    run.step_at(i == 0 ? 0 : begin - 700, begin + 99'300);
  }
  CHECK(row_count(run.p) == 1);
  const std::map<std::string, times> found = slice_times(run.p);
  CHECK(found.at("ProfilerStep#0") == times{{0, 99'800}});
  CHECK(found.at("ProfilerStep#1") == times{{99'800, 199'800}});
  CHECK(found.at("ProfilerStep#2") == times{{199'800, 299'800}});
  CHECK(found.at("iteration") == times{{1'000, 99'800}, {101'000, 199'800}, {201'000, 299'800}});
  CHECK(found.at("forward").size() == 3);
}

TEST_CASE("trace_steps.end_where_they_do_in_a_region_that_goes_on") {
  timeline_builder run;
  const auto main = run.thread("main", 4242);
  const auto epoch = run.region(main, "epoch");
  const auto late = run.region(epoch, "late");
  run.scope_at(late, 90'000, 140'000);  // nobody's loop
  run.scope_at(epoch, 1'000, 250'000);
  run.step_at(0, 100'000);
  run.step_at(100'000, 200'000);
  const std::map<std::string, times> found = slice_times(run.p);
  CHECK(found.at("ProfilerStep#0") == times{{0, 100'000}});
  CHECK(found.at("ProfilerStep#1") == times{{100'000, 200'000}});
  CHECK(row_count(run.p) > 1);
}

TEST_CASE("trace_steps.of_threads_move_with_their_own_regions") {
  timeline_builder run;
  const auto main = run.thread("main", 1);
  const auto other = run.thread("other", 2);
  run.scope_at(run.region(other, "iteration"), 1'000, 100'500);
  run.scope_at(run.region(main, "body"), 1'000, 99'000);
  run.step_at(0, 100'000);  // of main
  CHECK(slice_times(run.p).at("ProfilerStep#0") == times{{0, 100'000}});
}
