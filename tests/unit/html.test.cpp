// SPDX-License-Identifier: MIT
// needs: exceptions

// The data of the page is read back by Boost.JSON and compared with the tables. tests/clients opens
// pages in a browser.

#include <kprof/model/metrics.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/report/html.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/machines.hpp"
#include "../support/page_data.hpp"
#include "../support/sample_profile.hpp"
#include "../support/timeline_builder.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using kprof_test::column;
using kprof_test::data_in;
using kprof_test::hostile_name;
using kprof_test::html_of;
using kprof_test::times_in;

TEST_CASE("html.rows_have_the_numbers_of_the_operator_table") {
  for (const kprof::profile& p :
       {kprof_test::sample_profile(), kprof_test::transformer_profile(), kprof::profile{}}) {
    const boost::json::object data = data_in(html_of(p));
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
  const boost::json::object data = data_in(html_of(b.p));
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
  const std::string page = html_of(b.p);
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
  const boost::json::object data = data_in(html_of(b.p));
  CHECK(column(data.at("rows").as_object(), "name").at(0).as_string() ==
        "a\xEF\xBF\xBD\xE2\x90\x81"
        "b");
}

TEST_CASE("html.hidden_characters_and_directions_become_visible") {
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread("main", 1), "evil\u202Egnp.\u200Bexe \u00E9\u2014"), 1, 10);
  const boost::json::object data = data_in(html_of(b.p));
  CHECK(column(data.at("rows").as_object(), "name").at(0).as_string() ==
        "evil\\u202egnp.\\u200bexe \u00E9\u2014");
}

TEST_CASE("html.a_page_without_script_has_the_operators") {
  const std::string page = html_of(kprof_test::sample_profile());
  const std::size_t from = page.rfind("<noscript>"), to = page.rfind("</noscript>");
  REQUIRE(to != std::string::npos);
  const std::string table = page.substr(from, to - from);
  for (const char* name : {"Conv2d", "Gemm", "Relu"})
    CHECK(table.find(std::string("<th scope=row>") + name) != std::string::npos);
}

TEST_CASE("html.idle_causes_sum_to_the_idle_time") {
  kprof_test::timeline_builder b;
  const auto gemm = b.op(b.thread("main", 1), "Gemm");
  b.p.wall_ns = 1'000'000;
  b.kernel_at({50'000, 60'000, 100'000, 300'000}, {.scope = gemm});
  b.kernel_at({60'000, 70'000, 302'000, 502'000}, {.scope = gemm});
  b.kernel_at({750'000, 760'000, 800'000, 900'000}, {.scope = gemm});
  b.scope_at(gemm, 700'000, 780'000);
  b.step_at(0, 1'000'000);
  b.calls(gemm, 1, 80'000);
  kprof_test::add_device(b.p);
  const boost::json::object data = data_in(html_of(b.p));
  const boost::json::array& all = data.at("steps").as_object().at("idle").as_array();
  REQUIRE(all.size() == 1);
  const boost::json::object& idle = all[0].as_object();
  CHECK(idle.at("idle").as_string() == "300 \u00B5s");
  std::int64_t sum = 0;
  for (const boost::json::value& cause : idle.at("causes").as_array())
    sum += cause.as_array().at(2).to_number<std::int64_t>();
  CHECK(sum == 300'000);
  CHECK(idle.at("causes").as_array().at(0).as_array().at(0).as_string() == "launched late");
  CHECK(!idle.at("host_by").as_array().empty());
}

TEST_CASE("html.each_device_that_worked_has_its_roofs_and_its_time_of_each_row") {
  kprof_test::timeline_builder b;
  const auto gemm = b.op(b.thread("main", 1), "Gemm");
  b.calls(gemm, 3, 80'000).work(gemm, 3'000'000, 1'000, 1'000);
  b.kernel(gemm, "gemm", 1, 200);
  kprof_test::add_device(b.p);
  CHECK(data_in(html_of(b.p)).at("roofline").as_object().at("devices").as_array().empty());

  b.kernel(gemm, "gemm", 2, 300).device = 2;
  b.p.device.devices.resize(3, b.p.device.devices[0]);
  for (std::uint32_t id = 0; id < 3; ++id) {
    b.p.device.devices[id].id = id;
    b.p.device.devices[id].sum_ns = id == 0 ? 200 : id == 2 ? 600 : 0;  // 1 was idle
  }
  b.p.machine.gpus.assign(3, kprof_test::h100());
  b.p.machine.gpus[2].memory_bytes /= 2;
  const boost::json::object data = data_in(html_of(b.p));
  const boost::json::array& devices = data.at("roofline").as_object().at("devices").as_array();
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].as_object().at("id").to_number<int>() == 0);
  CHECK(devices[1].as_object().at("id").to_number<int>() == 2);
  CHECK(column(devices[0].as_object(), "ns").at(0).to_number<int>() == 200);
  CHECK(column(devices[1].as_object(), "ns").at(0).to_number<int>() == 600);
  const auto slope = [&](std::size_t i) {
    return devices[i].as_object().at("roofs").as_array().at(0).as_object().at("bytes");
  };
  CHECK(slope(0).to_number<double>() == 2 * slope(1).to_number<double>());
}

TEST_CASE("html.time_outside_all_scopes_is_told") {
  kprof_test::profile_builder b;
  b.calls(b.op(b.thread("main", 1), "Gemm", "n=1"), 1, 400);
  kprof::profile p = b.done();
  p.threads[0].wall_ns = 1'000;
  p.threads[0].in_scopes_ns = 400;
  const std::string page = html_of(p);
  CHECK(page.find("60.0% of the threads' time is outside all scopes:") != std::string::npos);
  CHECK(page.find("100.0% of the time in scopes has an operator;") != std::string::npos);
  p.threads[0].wall_ns = 401;
  CHECK(html_of(p).find("outside all scopes:") == std::string::npos);
}

TEST_CASE("html.the_tree_knows_in_which_order_it_ran") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto first = b.region(thread, "first"), second = b.region(thread, "second");
  b.calls(first, 1, 10).calls(second, 1, 1'000);
  const boost::json::object data = data_in(html_of(b.p));
  const boost::json::object& tree = data.at("tree").as_object();
  const boost::json::array names = column(tree, "name"), order = column(tree, "first");
  REQUIRE(names.size() == 2);
  CHECK(names[0].as_string() == "second");  // by time
  CHECK(order[0].to_number<int>() > order[1].to_number<int>());
}

TEST_CASE("html.sections_without_data_are_absent") {
  const boost::json::object empty = data_in(html_of(kprof::profile{}));
  for (const char* name : {"steps", "timeline", "kernels", "copies"}) CHECK(!empty.contains(name));
  CHECK(empty.at("first").as_string() == "The program ran no operator.");
  CHECK(!empty.at("missing").as_array().empty());
  CHECK(data_in(html_of(kprof_test::transformer_profile())).contains("kernels"));
}

TEST_CASE("html.of_many_slices_the_longest_stay_and_the_others_are_counted") {
  kprof_test::timeline_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  for (std::int64_t i = 0; i < 100; ++i) b.scope_at(op, 1'000 * i, 1'000 * i + 10 + i);
  const boost::json::object data = data_in(html_of(b.p, {{"slices", "10"}}));
  const boost::json::object& timeline = data.at("timeline").as_object();
  CHECK(timeline.at("all").to_number<int>() == 100);
  CHECK(timeline.at("shown").to_number<int>() == 10);
  const boost::json::object& lane = timeline.at("lanes").as_array().at(0).as_object();
  for (const boost::json::value& ns : column(lane, "ns")) CHECK(ns.to_number<int>() >= 100);
  CHECK(column(lane, "begin").at(0).to_number<int>() == 90'000);
  CHECK(!data_in(html_of(b.p, {{"slices", "0"}})).contains("timeline"));
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
  b.p.machine.cpu = kprof_test::two_cpus();
  const std::string page = html_of(b.p);
  CAPTURE(page.size());
  CHECK(page.size() < 2'000'000);
  const boost::json::object data = data_in(page);
  const boost::json::object& rows = data.at("rows").as_object();
  CHECK(rows.at("count").to_number<int>() == 10'000);
  // Endings that rows share stand in the page once, and so do equal columns.
  const boost::json::array parameters = column(rows, "parameters"), time = column(rows, "time"),
                           self = column(rows.at("metrics").as_object(), "self");
  for (int i = 0; i < 10'000; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::string n = std::to_string(1'000 + 7 * i);
    REQUIRE(parameters.at(row).as_string() == "M=" + n + " N=1024 K=1024 type=f32");
    REQUIRE(time.at(row) == self.at(row));
  }
  CHECK(times_in(page, " N=1024 K=1024 type=f32") < 510);  // 500 without a script
}

TEST_CASE("html.what_the_tree_lacks_is_counted_where_it_would_be") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto first = b.region(thread, "first"), second = b.region(thread, "second");
  b.calls(first, 1, 8e9).calls(second, 1, 5e9);
  double tops_ns = 0;
  for (int i = 0; i < 4'000; ++i) {
    const std::string n = "n=" + std::to_string(i);
    b.calls(b.op(first, "Gemm", n), 1, 2e6);       // these stay
    b.calls(b.op(second, "Gemm", n), 1, 1e6 + i);  // of these the longest
    b.calls(b.op(thread, "Relu", n), 1, 1e3);      // of these none
    tops_ns += 1e3;
  }
  // Comes before those of the second region, of which 998 take longer: not for it is one left out.
  b.calls(b.op(first, "Gemm", "n=last"), 1, 1e6 + 3'001.5);
  const boost::json::object data = data_in(html_of(b.p));
  const boost::json::object& tree = data.at("tree").as_object();
  const boost::json::array names = column(tree, "name"), totals = column(tree, "total"),
                           left = column(tree, "left"), left_ns = column(tree, "left_ns"),
                           parents = column(tree, "parent");
  REQUIRE(names.size() == 5'000);
  REQUIRE(left.size() == 5'001);
  std::vector<std::size_t> children(names.size());
  std::vector<double> children_ns(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const auto parent = parents[i].to_number<std::int64_t>(); parent >= 0) {
      ++children[static_cast<std::size_t>(parent)];
      children_ns[static_cast<std::size_t>(parent)] += totals[i].to_number<double>();
    }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_first = names[i].as_string() == "first";
    const bool is_region = is_first || names[i].as_string() == "second";
    CHECK(children[i] + left[i].to_number<std::size_t>() == (is_first    ? 4'001U
                                                             : is_region ? 4'000U
                                                                         : 0U));
    if (is_first) CHECK(children[i] == 4'000);
    if (names[i].as_string() == "second") {
      CHECK(children[i] == 998);
      const double all_ns = children_ns[i] + left_ns[i].to_number<double>();
      CHECK(std::fabs(all_ns - (4e9 + 3'999 * 2'000)) < 1e-3 * all_ns);
    }
  }
  CHECK(left[5'000].to_number<int>() == 4'000);
  CHECK(std::fabs(left_ns[5'000].to_number<double>() - tops_ns) < 1e-4 * tops_ns);
}
