// SPDX-License-Identifier: MIT
// needs: exceptions

// The data of the page is read back by Boost.JSON and compared with the tables. tests/clients opens
// pages in a browser.

#include <kprof/model/metrics.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/report/html.hpp>
#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/sample_profile.hpp"
#include "../support/timeline_builder.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string page_of(const kprof::profile& p, std::vector<kprof::option_setting> options = {}) {
  std::string text;
  const kprof::status s = kprof::write(p, "html", options, text);
  INFO(s.message);
  REQUIRE(s);
  return text;
}
boost::json::object data_in(const std::string& page) {
  constexpr std::string_view begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size(), to = page.find("</script>", from);
  REQUIRE(to != std::string::npos);
  return boost::json::parse(page.substr(from, to - from)).as_object();
}
std::size_t times_in(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++count;
  return count;
}
/// A column as the page's script reads it: each value, also where the file has one for all.
boost::json::array column(const boost::json::object& table, std::string_view name) {
  const boost::json::value& v = table.at(name);
  if (v.is_string()) return column(table, v.as_string());  // as another metric
  if (v.is_array()) return v.as_array();
  const boost::json::object& o = v.as_object();
  if (o.contains("same"))
    return boost::json::array(static_cast<std::size_t>(o.at("count").to_number<std::int64_t>()),
                              o.at("same"));
  const boost::json::array all = column(o, "all");
  boost::json::array out;
  for (const boost::json::value& i : column(o, "of"))
    out.push_back(all.at(static_cast<std::size_t>(i.to_number<std::int64_t>())));
  return out;
}

constexpr const char* hostile_name = "</script><!--<img src=x onerror=alert('1')>&\"\\";

}  // namespace

TEST_CASE("html.rows_have_the_numbers_of_the_operator_table") {
  for (const kprof::profile& p :
       {kprof_test::sample_profile(), kprof_test::transformer_profile(), kprof::profile{}}) {
    const boost::json::object data = data_in(page_of(p));
    const boost::json::object& rows = data.at("rows").as_object();
    const std::vector<kprof::operator_row> table = kprof::operator_table(p);
    CHECK(rows.at("count").to_number<std::size_t>() == table.size());
    const boost::json::array names = column(rows, "name"), keys = column(rows, "key");
    for (std::size_t i = 0; i < table.size(); ++i) {
      CHECK(names[i].as_string() == table[i].name);
      CHECK(keys[i].as_string() == kprof::row_key_text(table[i].key));
    }
    std::size_t compared = 0;
    for (const auto& [id, unused] : rows.at("metrics").as_object()) {
      const kprof::metric* const metric = kprof::find_metric(id);
      REQUIRE(metric != nullptr);
      const boost::json::array values = column(rows.at("metrics").as_object(), id);
      REQUIRE(values.size() == table.size());
      for (std::size_t i = 0; i < table.size(); ++i, ++compared) {
        const kprof::figure f = metric->of(table[i]);
        INFO(std::string{id} << " of " << table[i].name);
        CHECK(values[i].is_null() == !f.known());
        if (f.known())
          CHECK(std::fabs(values[i].to_number<double>() - f.value * metric->unit.scale) <=
                1e-5 * std::fabs(f.value * metric->unit.scale));
      }
    }
    CHECK((compared > 50 || table.empty()));
  }
}

TEST_CASE("html.a_row_has_calls_over_time_of_all_its_threads") {
  kprof_test::profile_builder b;
  const auto first = b.op(b.thread("a", 1), "Gemm", "n=1");
  const auto second = b.op(b.thread("b", 2), "Gemm", "n=1");
  b.calls(first, 100, 50).calls(second, 100, 50);
  for (int i = 0; i < 32; ++i) {
    b.p.nodes[first].sampled.push_back({50.0 + i, 1000.0 * i});
    b.p.nodes[second].sampled.push_back({40.0 + i, 500 + 1000.0 * i});
  }
  b.p.nodes[first].slowest = {{900, 7777}, {50, 0}};  // the second one is sampled too
  const boost::json::object data = data_in(page_of(b.p));
  const boost::json::array rows = data.at("rows").at("over_time").as_array();
  REQUIRE(rows.size() == 1);
  const boost::json::array& calls = rows[0].as_array();
  REQUIRE(calls.size() == 2 * (32 + 32 + 1));
  double last = -1;
  bool has_slowest = false;
  for (std::size_t i = 0; i < calls.size(); i += 2) {
    CHECK(calls[i].to_number<double>() >= last);
    last = calls[i].to_number<double>();
    has_slowest = has_slowest || calls[i + 1].to_number<double>() == 900;
  }
  CHECK(has_slowest);
}

TEST_CASE("html.names_are_data_and_never_markup") {
  kprof_test::profile_builder b;
  const auto thread = b.thread(hostile_name, 1);
  const auto region = b.region(thread, hostile_name);
  const auto op = b.op(region, hostile_name, hostile_name);
  b.calls(region, 1, 2'000).calls(op, 3, 500).site(op, hostile_name, 3);
  b.p.program = hostile_name;
  b.p.notes = {hostile_name};
  b.p.state = hostile_name;
  const std::string page = page_of(b.p);
  CHECK(times_in(page, "<img") == 0);
  CHECK(times_in(page, "<!--") == 0);
  CHECK(times_in(page, "</script") == 2);  // of the data and of the script
  const boost::json::object data = data_in(page);
  CHECK(data.at("program").as_string() == hostile_name);
  CHECK(column(data.at("rows").as_object(), "name").at(0).as_string() == hostile_name);
  CHECK(column(data.at("tree").as_object(), "name").at(0).as_string() == hostile_name);
}

TEST_CASE("html.bytes_that_are_not_utf8_become_characters") {
  kprof_test::profile_builder b;
  const auto op = b.op(b.thread("main", 1),
                       std::string("a\xFF\x01"
                                   "b"),
                       "n=1");
  b.calls(op, 1, 10);
  const boost::json::object data = data_in(page_of(b.p));
  CHECK(column(data.at("rows").as_object(), "name").at(0).as_string() ==
        "a\xEF\xBF\xBD\xE2\x90\x81"
        "b");
}

TEST_CASE("html.hidden_characters_and_directions_become_visible") {
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread("main", 1), "evil\u202Egnp.\u200Bexe \u00E9\u2014"), 1, 10);
  const boost::json::object data = data_in(page_of(b.p));
  CHECK(column(data.at("rows").as_object(), "name").at(0).as_string() ==
        "evil\\u202egnp.\\u200bexe \u00E9\u2014");
}

TEST_CASE("html.a_page_without_script_has_the_operators") {
  const std::string page = page_of(kprof_test::sample_profile());
  const std::size_t from = page.find("<noscript>"), to = page.find("</noscript>");
  REQUIRE(to != std::string::npos);
  const std::string table = page.substr(from, to - from);
  for (const char* name : {"Conv2d", "Gemm", "Relu"})
    CHECK(table.find(std::string("<th scope=row>") + name) != std::string::npos);
}

TEST_CASE("html.sections_without_data_are_absent") {
  const boost::json::object empty = data_in(page_of(kprof::profile{}));
  for (const char* name : {"steps", "timeline", "kernels", "copies"}) CHECK(!empty.contains(name));
  CHECK(empty.at("first").as_string() == "The program ran no operator.");
  CHECK(!empty.at("missing").as_array().empty());
  CHECK(data_in(page_of(kprof_test::transformer_profile())).contains("kernels"));
}

TEST_CASE("html.of_many_slices_the_longest_stay_and_the_others_are_counted") {
  kprof_test::timeline_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  for (std::int64_t i = 0; i < 100; ++i) b.scope_at(op, 1'000 * i, 1'000 * i + 10 + i);
  const boost::json::object data = data_in(page_of(b.p, {{"slices", "10"}}));
  const boost::json::object& timeline = data.at("timeline").as_object();
  CHECK(timeline.at("all").to_number<int>() == 100);
  CHECK(timeline.at("shown").to_number<int>() == 10);
  const boost::json::object& lane = timeline.at("lanes").as_array().at(0).as_object();
  for (const boost::json::value& ns : column(lane, "ns")) CHECK(ns.to_number<int>() >= 100);
  CHECK(column(lane, "begin").at(0).to_number<int>() == 90'000);
  CHECK(!data_in(page_of(b.p, {{"slices", "0"}})).contains("timeline"));
}

TEST_CASE("html.ten_thousand_rows_take_two_megabytes_at_most") {
  kprof_test::profile_builder b;
  const auto forward = b.region(b.thread("main", 1), "forward");
  b.calls(forward, 1, 1e12);
  for (int i = 0; i < 10'000; ++i) {
    const std::string n = std::to_string(1'000 + 7 * i);
    const auto op = b.op(forward, "Gemm", "M=" + n + " N=1024 K=1024 type=f32");
    b.calls(op, 3, 1'234.5 * (i + 1)).calls(op, 2, 2'345.6 * (i + 7));
    b.work(op, 1'000'003ULL * static_cast<unsigned>(i + 1), 70'001 + 13ULL * unsigned(i), 30'011);
  }
  const std::string page = page_of(b.p);
  CAPTURE(page.size());
  CHECK(page.size() < 2'000'000);
  CHECK(data_in(page).at("rows").as_object().at("count").to_number<int>() == 10'000);
}

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

TEST_CASE("html.a_page_compares_its_run_with_earlier_ones") {
  CHECK(failure_of({{"against", "x.json"}}).find("kprof::load_for_outputs()") != std::string::npos);
  kprof::load_for_outputs();
  CHECK_FALSE(data_in(page_of(compared_profile(0, 1))).contains("compare"));
  for (const int i : {1, 3, 5}) saved_run(i, 1);
  for (const int i : {2, 4}) saved_run(i, 1.2);
  const std::string page =
      page_of(compared_profile(0, 1.2), {{"against", "html_compare_[135].json"},
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
      static_cast<std::size_t>(compared.at("changed_first").at(0).to_number<std::int64_t>());
  CHECK(rows[first].at("change").as_string() == "+20.0%");
}

TEST_CASE("html.no_page_is_written_where_an_earlier_run_cannot_be_read") {
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
