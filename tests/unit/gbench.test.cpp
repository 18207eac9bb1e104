// SPDX-License-Identifier: MIT
// needs: exceptions
// The file is read back with Boost.JSON and compared with operator_table(). Google Benchmark's own
// compare.py opens it in tests/clients.

#include <kprof/model/summary.hpp>
#include <kprof/report/gbench.hpp>
#include <kprof/report/load.hpp>
#include <kprof/report/write.hpp>

#include "../support/catch.hpp"
#include "../support/child.hpp"
#include "../support/device_builder.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

using kprof_test::device_builder;

namespace {

using settings = std::vector<kprof::option_setting>;

boost::json::object file_of(const kprof::profile& p, const settings& options = {}) {
  std::string text;
  const kprof::status s = kprof::write(p, "gbench", options, text);
  INFO(s.message);
  REQUIRE(s.ok());
  return boost::json::parse(text).as_object();
}
boost::json::array entries_of(const kprof::profile& p, const settings& options = {}) {
  return file_of(p, options).at("benchmarks").as_array();
}
std::string name_of(const boost::json::value& entry) {
  return std::string{entry.at("name").as_string()};
}
std::set<std::string> names_of(const kprof::profile& p, const settings& options = {}) {
  std::set<std::string> names;
  for (const boost::json::value& entry : entries_of(p, options))
    CHECK(names.insert(name_of(entry)).second);
  return names;
}
double number(const boost::json::value& entry, const char* key) {
  return entry.at(key).to_number<double>();
}

kprof::profile host_profile() {
  device_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Gemm", "M=64 N=32"), 3, 200).calls(b.op(main, "Gemm", "M=8 N=8"), 2, 70);
  b.work(1, 1'000, 70, 30).calls(b.op(main, "Barrier"), 1, 10);
  return b.done();
}
/// Of ten calls four launch a kernel and a copy, of 90 and 10 ns.
kprof::profile device_profile() {
  device_builder b;
  const auto gemm = b.op(b.thread("main", 1), "Gemm", "M=64");
  b.calls(gemm, 10, 500).work(gemm, 1'000, 70, 30);
  b.kernel(gemm, "gemm_kernel", 4, 90);
  b.copy(gemm, kprof::copy_direction::host_to_device, 4, 10, 64);
  b.p.nodes[gemm].unlaunched = 6;
  return b.done();
}

/// What compare.py and the services need of an entry.
void check_entry(const boost::json::value& entry) {
  CHECK(entry.at("run_type").as_string() == "iteration");
  CHECK(entry.at("run_name") == entry.at("name"));
  CHECK(entry.at("time_unit").as_string() == "ns");
  CHECK(number(entry, "iterations") >= 1);
  for (const char* time : {"real_time", "cpu_time"}) {
    CHECK(number(entry, time) > 0);
    CHECK(std::isfinite(number(entry, time)));
  }
  CHECK(kprof_test::is_plain_text(name_of(entry)));
  CHECK(name_of(entry).size() < 2'000);
}

}  // namespace

TEST_CASE("gbench.an_entry_is_a_row_with_its_mean_time") {
  const kprof::profile p = host_profile();
  const std::vector<kprof::operator_row> rows = kprof::operator_table(p);
  const boost::json::array entries = entries_of(p);
  REQUIRE(entries.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_entry(entries[i]);
    const std::string& parameters = rows[i].parameters;
    CHECK(name_of(entries[i]) == rows[i].name + (parameters.empty() ? "" : '/' + parameters));
    CHECK(number(entries[i], "iterations") == static_cast<double>(rows[i].calls));
    CHECK(number(entries[i], "real_time") == rows[i].mean_ns.value);
    CHECK(number(entries[i], "host_median_ns") == rows[i].median_ns.value);
    CHECK(entries[i].as_object().contains("flops") == rows[i].flops.known());
  }
  const boost::json::value& gemm = *std::find_if(
      entries.begin(), entries.end(), [](const auto& e) { return name_of(e) == "Gemm/M=64 N=32"; });
  CHECK(number(gemm, "flops") == 1'000);
  CHECK(number(gemm, "flops_per_second") == Approx(5e9));
  CHECK(number(gemm, "bytes_per_second") == Approx(5e8));
  CHECK(gemm.at("label").as_string() == "f32");
}

TEST_CASE("gbench.the_time_on_a_cpu_is_the_share_that_is_known") {
  kprof::profile p = host_profile();
  p.clock.cpu_interval_ns = 1;
  p.nodes[1].measured_ns = 600;
  p.nodes[1].measured_calls = 3;
  p.nodes[1].off_cpu_ns = 450;
  for (const boost::json::value& entry : entries_of(p)) {
    const bool known = name_of(entry) == "Gemm/M=64 N=32";
    CHECK(number(entry, "cpu_time") == Approx(number(entry, "real_time") * (known ? 0.25 : 1)));
  }
}

TEST_CASE("gbench.the_time_on_the_device_has_a_name_of_its_own") {
  kprof::profile p = device_profile();
  const boost::json::array entries = entries_of(p);
  REQUIRE(entries.size() == 1);
  check_entry(entries[0]);
  CHECK(name_of(entries[0]) == "Gemm/M=64/device");
  CHECK(number(entries[0], "real_time") == Approx(100.));
  CHECK(number(entries[0], "cpu_time") == Approx(500.));
  CHECK(number(entries[0], "host_mean_ns") == Approx(500.));
  CHECK_FALSE(entries[0].as_object().contains("host_median_ns"));
  CHECK(number(entries[0], "flops_per_second") == Approx(1e10));

  p.nodes[1].unrecorded = 2;
  const boost::json::object lacks = file_of(p);
  CHECK(lacks.at("benchmarks").as_array().empty());
  CHECK(lacks.at("context").at("rows_without_time").as_int64() == 1);
}

TEST_CASE("gbench.calls_of_a_graph_have_a_time_on_the_device") {
  for (const bool has_capture : {false, true}) {
    device_builder b;
    const auto step = b.region(b.thread("main", 1), "step"), gemm = b.op(b.graph(step, 5), "Gemm");
    b.p.nodes[gemm].replays = 5;
    b.kernel(gemm, "gemm_kernel", 5, 90);
    if (has_capture) b.calls(b.op(step, "Gemm"), 1, 100).p.nodes.back().captured = 1;
    const boost::json::array entries = entries_of(b.done());
    REQUIRE(entries.size() == 1);
    check_entry(entries[0]);
    CHECK(number(entries[0], "real_time") == Approx(90.));
    CHECK(number(entries[0], "cpu_time") == Approx(has_capture ? 100. : 90.));
    CHECK(number(entries[0], "iterations") == 5);
  }
}

TEST_CASE("gbench.names_are_the_same_in_every_run") {
  const auto run = [](bool reversed) {
    device_builder b;
    const auto main = b.thread("main", 1);
    std::vector<std::pair<std::string, std::string>> calls = {
        {"Gemm", "M=1"},
        {"Gemm", "tile=8"},
        {"Long", std::string(5'000, 'x') + 'a'},
        {"Long", std::string(5'000, 'x') + 'b'},
        {"", ""},
        {"Odd \\ \"name\"\n", ""}};
    if (reversed) std::reverse(calls.begin(), calls.end());
    for (const auto& [name, parameters] : calls) b.calls(b.op(main, name, parameters), 1, 100);
    // The second of a name gets a number when it is first called.
    for (std::size_t i = 0, seen = 0; i < b.p.operators.size(); ++i)
      if (b.p.operators[i].declared_name == "Gemm" && seen++ == 1) {
        b.p.operators[i].name += " 2";
        for (kprof::scope_node& n : b.p.nodes)
          if (n.op == i) n.name += " 2";
      }
    return b.done();
  };
  const std::set<std::string> names = names_of(run(false));
  CHECK(names == names_of(run(true)));
  CHECK(names.size() == 6);
  CHECK(names.contains("(no name)"));
  // A name that is cut does not depend on others that begin like it.
  device_builder b;
  b.calls(b.op(b.thread("main", 1), "Long", std::string(5'000, 'x') + 'b'), 1, 100);
  for (const std::string& name : names_of(b.done())) CHECK(names.contains(name));
}

TEST_CASE("gbench.rows_may_be_made_by_other_keys") {
  CHECK(names_of(host_profile(), {{"by", "op"}}) == std::set<std::string>{"Barrier", "Gemm"});
  CHECK(names_of(host_profile(), {{"by", "op+M"}}) ==
        std::set<std::string>{"Barrier/M=?", "Gemm/M=64", "Gemm/M=8"});
  device_builder b;
  for (int i = 0; i < 2; ++i) b.calls(b.op(b.thread("worker", 7), "Gemm"), 1, 100);
  CHECK(names_of(b.done(), {{"by", "parameters+thread"}}).size() == 2);
  const boost::json::object wrong = file_of(host_profile(), {{"by", "op+nonsense"}});
  CHECK(wrong.at("context").at("not_known").as_string().find("nonsense") != std::string::npos);
}

TEST_CASE("gbench.the_context_says_what_ran") {
  kprof::profile p = host_profile();
  p.program = "tr\"ain";
  p.cpus = 8;
  p.machine.cpu.clock_hz = 2.85e9;
  p.clock.start_realtime_ns = 1'795'556'453'732'670'000;
  const boost::json::object file = file_of(p);
  const boost::json::value& context = file.at("context");
  CHECK(context.at("date").as_string() == "2026-11-24T21:40:53+00:00");
  CHECK(context.at("executable").as_string() == "tr\"ain");
  CHECK(number(context, "num_cpus") == 8);
  CHECK(number(context, "mhz_per_cpu") == 2850);
  CHECK(file_of(kprof::profile{}).at("benchmarks").as_array().empty());
  p.clock.start_realtime_ns = ~std::uint64_t{0};
  file_of(p);
}

TEST_CASE("gbench.hostile_names_and_random_profiles_give_entries_that_compare") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    kprof::profile p = seed == 0 ? kprof_test::hostile_profile() : kprof_test::random_profile(seed);
    CAPTURE(seed);
    if (seed % 3 == 1)
      for (std::size_t i = seed % 5; i < p.nodes.size(); i += 5) {
        const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(), -1e300};
        p.nodes[i].total_ns = odd[i % 3];
        p.nodes[i].max_ns = odd[(i + 1) % 3];
      }
    const char* const by = seed % 2 == 0 ? "parameters" : "parameters+call_site+thread";
    const boost::json::object file = file_of(p, {{"by", by}});
    std::set<std::string> names;
    for (const boost::json::value& entry : file.at("benchmarks").as_array()) {
      check_entry(entry);
      CHECK(names.insert(name_of(entry)).second);
    }
    const std::size_t rows = kprof::operator_table(p, kprof::grouping::parse(by).value).size();
    CHECK(names.size() +
              static_cast<std::size_t>(file.at("context").at("rows_without_time").as_int64()) ==
          rows);
  }
}

TEST_CASE("gbench.a_name_that_ends_in_gz_packs") {
  const kprof_test::temporary_folder folder;
  const std::string path = folder.path("run.json.gz");
  std::string plain;
  REQUIRE(kprof::write(host_profile(), "gbench", {}, plain).ok());
  REQUIRE(kprof::write(host_profile(), "gbench", {{"path", path}}).message == "");
  CHECK(std::system(("gzip -d " + path).c_str()) == 0);
  CHECK(kprof_test::read_path(folder.path("run.json")) == plain);
}
