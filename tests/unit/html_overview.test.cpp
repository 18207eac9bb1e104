// SPDX-License-Identifier: MIT
// needs: exceptions

// What the page says before all else, of runs of which not everything is known or possible.

#include <kprof/report/html.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/machines.hpp"
#include "../support/page_data.hpp"
#include "../support/sample_profile.hpp"
#include "../support/timeline_builder.hpp"

#include <boost/json.hpp>

#include <string>

using kprof_test::data_in;
using kprof_test::hostile_name;
using kprof_test::html_of;

namespace {

std::string text_of(const boost::json::object& data, const char* name) {
  return std::string{data.at(name).as_string()};
}
/// "VALUE, BASIS"; empty where the page has not this fact.
std::string fact_of(const boost::json::object& data, const std::string& label) {
  for (const boost::json::value& fact : data.at("facts").as_array())
    if (fact.as_array().at(0).as_string() == label)
      return std::string{fact.as_array().at(1).as_string()} + ", " +
             std::string{fact.as_array().at(2).as_string()};
  return {};
}
bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// 100 GFLOP/s a thread. Gemm is at half of the roof, Wrong is ten times above it.
kprof::profile with_impossible_row() {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto gemm = b.op(thread, "Gemm", "n=1"), wrong = b.op(thread, "Wrong", "n=1");
  b.calls(gemm, 1, 2'000'000).work(gemm, 100'000'000, 1'000, 1'000);
  b.calls(wrong, 1, 8'000'000).work(wrong, 8'000'000'000, 1'000, 1'000);
  kprof::profile p = b.done();
  p.wall_ns = 10'000'000;
  p.machine.cpu = kprof_test::two_cpus();
  return p;
}

}  // namespace

TEST_CASE("html_overview.impossible_rows_are_left_out_of_what_the_work_needs") {
  const boost::json::object data = data_in(html_of(with_impossible_row()));
  CHECK(has(text_of(data, "first"), "reaches 50.0% of what"));
  const std::string second = text_of(data, "second");
  CAPTURE(second);
  CHECK(has(second, "take 2.00 ms and need 1.00 ms."));
  CHECK(has(second, "\u25B2 8.00 ms, 80.0% of the operators' time, is left out: impossible."));
  CHECK(has(fact_of(data, "Lost above the roof"), "1.00 ms, "));
  CHECK(has(fact_of(data, "Work done"), "\u25B2 "));
  const boost::json::object& total = data.at("total").as_object();
  CHECK(kprof_test::column(total.at("metrics").as_object(), "lost").at(0).to_number<double>() ==
        1'000'000);
}

TEST_CASE("html_overview.where_little_has_a_roof_the_sentence_is_of_that_part") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto gemm = b.op(thread, "Gemm", "n=1"), plain = b.op(thread, "Plain", "n=1");
  b.calls(gemm, 1, 2'000'000).work(gemm, 100'000'000, 1'000, 1'000).calls(plain, 1, 3'000'000);
  kprof::profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const boost::json::object data = data_in(html_of(p));
  CHECK(
      has(text_of(data, "first"), "reaches 50.0% of what this CPU can do, where a roof is known."));
  CHECK(has(text_of(data, "second"),
            "with a roof take 2.00 ms, 40.0% of the time of all, and need 1.00 ms."));
  CHECK(has(fact_of(data, "Lost above the roof"), "1.00 ms, "));
}

TEST_CASE("html_overview.the_bar_has_the_time_of_all_threads_outside_scopes") {
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread("a", 1), "Gemm", "n=1"), 1, 400);
  b.calls(b.op(b.thread("b", 2), "Gemm", "n=1"), 1, 400);
  kprof::profile p = b.done();
  p.wall_ns = 9'000;
  for (kprof::thread_info& t : p.threads) t.wall_ns = 1'000, t.in_scopes_ns = 400;
  const std::string page = html_of(p);
  CHECK(data_in(page).at("idle").to_number<double>() == 1'200);
  CHECK(has(page, "60.0% of the threads' time is outside all scopes:"));
  CHECK(has(page, "<li><b>outside scopes</b> 60.0%, 1.20 \u00B5s"));
}

TEST_CASE("html_overview.the_timeline_says_what_the_log_no_longer_has") {
  kprof_test::timeline_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  b.scope_at(op, 900'000, 950'000);
  b.p.complete.recorded = b.p.complete.in_timeline = 1;
  const auto reach = [&] {
    return text_of(data_in(html_of(b.p)).at("timeline").as_object(), "reach");
  };
  CHECK(reach().empty());
  b.thread("gone", 2);
  b.p.threads[1].merged = 3;
  b.p.threads[1].in_scopes_ns = 10;
  b.p.wall_ns = 1'000'000;
  b.p.complete.recorded = 8'000;
  b.p.complete.timeline_ns = 100'000;
  CHECK(reach() == "1 of 8,000 scopes: the last 100 \u00B5s of 1.00 ms; 3 threads have none");
  b.p.cost.memory_limit = 1U << 20U;
  b.p.cost.memory = 1'000'000;
  CHECK(has(reach(), "; the log keeps no more in 1.00 MiB of memory; 3 threads have none"));
}

TEST_CASE("html_overview.a_page_without_script_has_advice_and_trust") {
  std::string page = html_of(kprof_test::transformer_profile());
  const std::string plain = page.substr(0, page.find("id=\"data\""));
  CHECK(has(plain, "</b> of the operators&#39; time."));
  CHECK(has(plain, "<noscript><ol><li><b>"));
  CHECK(has(plain, "<noscript><style>#theme,#help"));
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread(hostile_name, 1), hostile_name, "n=1"), 1, 10);
  page = html_of(b.p);
  CHECK(kprof_test::times_in(page.substr(0, page.find("id=\"data\"")), "<img") == 0);
}
