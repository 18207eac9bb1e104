// SPDX-License-Identifier: MIT
// needs: exceptions

// The page of a run beside earlier ones, which it reads from files.

#include <kprof/report/html.hpp>
#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/page_data.hpp"
#include "../support/profile_builder.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof_test::column;
using kprof_test::data_in;
using kprof_test::hostile_name;
using kprof_test::html_of;
using kprof_test::times_in;

namespace {

/// A run of six rows; `number` says when it began, `factor` how long the first row takes.
kprof::profile compared_profile(int number, double factor) {
  kprof_test::profile_builder b(0.001);
  const auto thread = b.thread("main", 1);
  for (int i = 0; i < 6; ++i)
    b.calls(b.op(thread, i == 0 ? hostile_name : "Op", "n=" + std::to_string(i)), 10,
            (i == 0 ? factor : 1) * (1e6 + 997.0 * number + i));
  kprof::profile p = b.done();
  p.wall_ns = 1e8;
  p.clock.start_realtime_ns = 1'000'000 + static_cast<std::uint64_t>(number);
  return p;
}
std::string saved_run(int number, double factor) {
  const std::string path = "html_compare_" + std::to_string(number) + ".json";
  REQUIRE(kprof::save(compared_profile(number, factor), path));
  return path;
}
std::string failure_of(std::vector<kprof::option_setting> options) {
  std::string text;
  const kprof::status s = kprof::write(compared_profile(0, 1), "html", options, text);
  CHECK_FALSE(s);
  CHECK(text.empty());  // no half page
  return s.message;
}

}  // namespace

TEST_CASE("html_compare.a_page_compares_its_run_with_earlier_ones") {
  CHECK(failure_of({{"against", "x.json"}}).find("kprof::load_for_outputs()") != std::string::npos);
  kprof::load_for_outputs();
  CHECK_FALSE(data_in(html_of(compared_profile(0, 1))).contains("compare"));
  for (const int i : {1, 3, 5}) saved_run(i, 1);
  for (const int i : {2, 4}) saved_run(i, 1.2);
  const std::string page =
      html_of(compared_profile(0, 1.2), {{"against", "html_compare_[135].json"},
                                         {"also", "html_compare_2.json+html_compare_4.json"}});
  CHECK(times_in(page, "<img") == 0);
  const boost::json::object data = data_in(page);
  const boost::json::object& compared = data.at("compare").as_object();
  CHECK(compared.at("files").as_array().size() == 3);
  CHECK(compared.at("judged").as_bool());
  const boost::json::array& rows = compared.at("rows").as_array();
  REQUIRE(rows.size() == 6);
  std::size_t slower = 0;
  for (const boost::json::value& row : rows) {
    const bool is_slower = row.at("verdict").as_string() == "slower";
    slower += is_slower ? 1 : 0;
    if (!is_slower) CHECK(row.at("verdict").as_string() == "same");
    const auto of = static_cast<std::size_t>(row.at("row").to_number<std::int64_t>());
    const std::string name{column(data.at("rows").as_object(), "name").at(of).as_string()};
    CHECK(is_slower == (name == hostile_name));
    CHECK(std::string{row.at("title").as_string()}.find(name) == 0);
  }
  CHECK(slower == 1);
  const auto first =
      static_cast<std::size_t>(column(compared, "changed_first").at(0).to_number<std::int64_t>());
  CHECK(rows[first].at("change").as_string() == "+20.0%");
  CHECK(compared.at("added").as_array().empty());
  CHECK(compared.at("kernels").at("rows").as_array().empty());
  CHECK_FALSE(compared.at("differs").as_bool());
}

TEST_CASE("html_compare.of_many_rows_of_one_side_fifty_are_in_the_page") {
  kprof::load_for_outputs();
  saved_run(1, 1);
  kprof_test::profile_builder b(0.001);
  const auto thread = b.thread("main", 1);
  for (int i = 0; i < 60; ++i) b.calls(b.op(thread, "New", "n=" + std::to_string(i)), 10, 1e6);
  kprof::profile p = b.done();
  p.wall_ns = 1e9;
  const boost::json::object data = data_in(html_of(p, {{"against", "html_compare_1.json"}}));
  const boost::json::object& compared = data.at("compare").as_object();
  CHECK(compared.at("added").as_array().size() == 50);
  std::string below;
  for (const boost::json::value& line : compared.at("below").as_array())
    below += std::string{line.as_string()} + '\n';
  CHECK(below.find("60 rows are only after") != std::string::npos);
  CHECK(compared.at("gone").as_array().size() == 6);
  for (const boost::json::value& row : compared.at("added").as_array())
    CHECK(row.as_object().contains("row"));
}

TEST_CASE("html_compare.no_page_is_written_where_an_earlier_run_cannot_be_read") {
  kprof::load_for_outputs();
  saved_run(1, 1);
  CHECK(
      failure_of({{"against", "nowhere.json"}}).find("\"nowhere.json\" cannot be read (No such") ==
      0);
  CHECK(failure_of({{"against", "nowhere_*.json"}}).find("\"nowhere_*.json\" cannot be read") == 0);
  CHECK(failure_of({{"also", "html_compare_1.json"}}).find("add against=FILE") !=
        std::string::npos);
  CHECK(failure_of({{"against", "html_compare_1.json+html_compare_1.json"}})
            .find("\"html_compare_1.json\" and \"html_compare_1.json\" are the same run") == 0);
}
