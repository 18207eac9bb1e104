// SPDX-License-Identifier: MIT
// needs: exceptions
// The literal is read back with Boost.JSON and summed as Hatchet does. Hatchet and proton-viewer
// open it in tests/clients.

#include <kprof/report/hatchet.hpp>
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
#include <map>
#include <string>
#include <vector>

using kprof::dtype;
using kprof_test::device_builder;

namespace {

using settings = std::vector<kprof::option_setting>;
using metrics = std::map<std::string, double>;

/// The nodes by their path, each with its own metrics, and the devices.
struct literal {
  std::map<std::string, metrics> nodes;
  std::map<std::string, std::string> devices;  // of nodes
  metrics sums;
  boost::json::object described;
  std::size_t depth = 0;

  explicit literal(const kprof::profile& p, const settings& options = {}) {
    std::string text;
    const kprof::status s = kprof::write(p, "hatchet", options, text);
    INFO(s.message);
    REQUIRE(s.ok());
    boost::json::parse_options deep;
    deep.max_depth = 2'000;
    const boost::json::array list = boost::json::parse(text, {}, deep).as_array();
    REQUIRE(list.size() == 2);
    add(list[0].as_object(), "", 0);
    described = list[1].as_object();
  }
  void add(const boost::json::object& node, const std::string& around, std::size_t level) {
    depth = std::max(depth, level);
    const std::string name{node.at("frame").at("name").as_string()};
    CHECK(kprof_test::is_plain_text(name));
    CHECK(!name.empty());
    const std::string path = around.empty() ? name : around + ';' + name;
    CHECK(!nodes.contains(path));
    const boost::json::object& own = node.at("metrics").as_object();
    CHECK(!own.empty());
    metrics& numbers = nodes[path];
    for (const auto& [key, value] : own) {
      if (value.is_string()) {
        if (key == "device_id") devices[path] = std::string{value.as_string()};
        continue;
      }
      CHECK(value.to_number<double>() >= 0);
      numbers[key] = value.to_number<double>();
      sums[key] += numbers[key];
    }
    for (const boost::json::value& child : node.at("children").as_array())
      add(child.as_object(), path, level + 1);
  }
  const metrics& at(const std::string& path) const {
    INFO(path);
    REQUIRE(nodes.contains(path));
    return nodes.at(path);
  }
};

kprof::profile two_threads() {
  device_builder b;
  for (const char* name : {"main", "worker"}) {
    const auto layer = b.region(b.thread(name, b.p.threads.size() + 1), "layer");
    const auto gemm = b.op(layer, "Gemm", "M=64 N=32");
    b.calls(layer, 1, 1'000).calls(gemm, 3, 200).work(gemm, 1'000, 70, 30, dtype::f16);
    b.kernel(gemm, "gemm_kernel", 3, 900);
  }
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  return p;
}

/// proton-viewer's utilisation of a node: what its own FLOPs and bytes take at least, over the time
/// of all below it.
double utilisation(const literal& l, const std::string& path) {
  double ns = 0;
  for (const auto& [at, numbers] : l.nodes)
    if (at.starts_with(path) && numbers.contains("time (ns)")) ns += numbers.at("time (ns)");
  const boost::json::value& device = l.described.at("CUDA").at(l.devices.at(path));
  CHECK(device.at("arch").as_string() == "90");
  const auto of = [&](const char* key) { return device.at(key).to_number<double>(); };
  const double f16_peak = of("num_sms") / 114 * of("clock_rate") / 1.755e6 * 1513e12 / 2;
  const double bandwidth = 2 * of("bus_width") * of("memory_clock_rate") * 1e3 / 8;
  const metrics& own = l.at(path);
  return std::max(own.at("flops16") / f16_peak, own.at("bytes") / bandwidth) / ns * 1e9;
}

}  // namespace

TEST_CASE("hatchet.paths_of_all_threads_are_one_tree_with_kernels") {
  const literal l(two_threads());
  CHECK(l.nodes ==
        std::map<std::string, metrics>{
            {"ROOT",
             {{"calls", 0},
              {"count", 0},
              {"time (ns)", 0},
              {"cpu_time (ns)", 0},
              {"flops", 0},
              {"bytes", 0},
              {"flops16", 0}}},
            {"ROOT;layer", {{"calls", 2}, {"time (ns)", 0}, {"cpu_time (ns)", 800}}},
            {"ROOT;layer;Gemm(M=64 N=32)",
             {{"calls", 6},
              {"time (ns)", 0},
              {"cpu_time (ns)", 1200},
              {"flops", 6000},
              {"flops16", 6000},
              {"bytes", 600}}},
            {"ROOT;layer;Gemm(M=64 N=32);gemm_kernel", {{"count", 6}, {"time (ns)", 5400}}}});
  CHECK(l.devices == std::map<std::string, std::string>{{"ROOT;layer;Gemm(M=64 N=32)", "0"}});
}

TEST_CASE("hatchet.options_tell_threads_apart_and_parameters_not") {
  const literal l(two_threads(), {{"threads", "on"}, {"parameters", "off"}});
  CHECK(l.at("ROOT;worker;layer;Gemm").at("calls") == 3);
  CHECK(l.at("ROOT;main;layer;Gemm;gemm_kernel").at("time (ns)") == 2700);
}

TEST_CASE("hatchet.time_of_the_host_has_no_kernels_and_no_devices") {
  for (const bool asked : {true, false}) {
    kprof::profile p = two_threads();
    if (!asked) p.device = {};
    const literal l(p, asked ? settings{{"time", "host"}} : settings{});
    CHECK(l.nodes.size() == 3);
    CHECK(l.at("ROOT;layer").at("time (ns)") == 800);
    CHECK_FALSE(l.at("ROOT;layer").contains("count"));
    CHECK(l.at("ROOT;layer;Gemm(M=64 N=32)").at("time (ns)") == 1200);
    CHECK(l.at("ROOT;layer;Gemm(M=64 N=32)").at("count") == 6);
    CHECK(l.devices.empty());
    CHECK(l.described.empty());
  }
}

TEST_CASE("hatchet.the_viewers_utilisation_is_that_of_the_roofline") {
  kprof::profile p = two_threads();
  const auto set_work = [&](double flops, double bytes) {
    for (kprof::scope_node& n : p.nodes) {
      if (n.kind != kprof::scope_kind::op) continue;
      n.work.flops = static_cast<std::uint64_t>(flops);
      n.work.bytes_read = static_cast<std::uint64_t>(bytes);
      n.work.bytes_written = 0;
    }
  };
  // A kernel takes 900 ns. The first number is the viewer's peak of f16, the second the memory's.
  set_work(0.5 * 988.3e12 * 900e-9, 1);
  CHECK(utilisation(literal(p), "ROOT;layer;Gemm(M=64 N=32)") == Approx(0.5).epsilon(1e-3));
  set_work(1, 0.25 * 3.35232e12 * 900e-9);
  CHECK(utilisation(literal(p), "ROOT;layer;Gemm(M=64 N=32)") == Approx(0.25).epsilon(1e-3));
}

TEST_CASE("hatchet.no_utilisation_where_it_would_be_wrong") {
  const std::string gemm = "ROOT;layer;Gemm(M=64 N=32)";
  CHECK(literal(two_threads()).devices.contains(gemm));

  kprof::profile several = two_threads();
  several.device.devices.push_back(several.device.devices[0]);
  several.device.devices[1].id = 1;
  several.device.work[1].device = 1;
  CHECK(literal(several).devices.empty());
  CHECK(literal(several, {{"threads", "on"}}).devices ==
        std::map<std::string, std::string>{{"ROOT;main;layer;Gemm(M=64 N=32)", "0"},
                                           {"ROOT;worker;layer;Gemm(M=64 N=32)", "1"}});

  kprof::profile no_formula = two_threads();
  for (kprof::scope_node& n : no_formula.nodes) n.work = {};
  CHECK(literal(no_formula).devices.empty());

  kprof::profile not_described = two_threads();
  not_described.device.devices[0].described = false;
  CHECK(literal(not_described).devices.empty());
  CHECK(literal(not_described).described.at("CUDA").as_object().empty());

  device_builder b;
  const auto outer = b.op(b.thread("main", 1), "Outer");
  const auto inner = b.op(b.region(outer, "part"), "Inner");
  b.calls(outer, 1, 100).calls(inner, 1, 10).work(outer, 10, 10, 10).work(inner, 1, 1, 1);
  b.kernel(outer, "outer_kernel", 1, 9);
  b.kernel(inner, "inner_kernel", 1, 9);
  kprof::profile nested = b.done();
  kprof_test::add_device(nested);
  CHECK(literal(nested).devices ==
        std::map<std::string, std::string>{{"ROOT;Outer;part;Inner", "0"}});
}

TEST_CASE("hatchet.flops_count_by_the_width_of_their_type") {
  const std::map<dtype, std::string> widths = {
      {dtype::f64, "flops64"},     {dtype::tf32, "flops32"},    {dtype::bf16, "flops16"},
      {dtype::fp8_e4m3, "flops8"}, {dtype::fp4_e2m1, "flops8"}, {dtype::fp6_e2m3, "flops8"},
      {dtype::int8, "flops8"},     {dtype::c64, "flops32"},     {dtype::c128, "flops64"},
      {dtype::unknown, ""}};
  for (const auto& [type, width] : widths) {
    device_builder b;
    const auto op = b.op(b.thread("main", 1), "Op");
    b.calls(op, 2, 10).work(op, 100, 1, 1, type);
    const literal l(b.done());
    CAPTURE(width);
    CHECK(l.at("ROOT;Op").at("flops") == 200);
    CHECK(l.at("ROOT").size() == (width.empty() ? 6 : 7));
    if (!width.empty()) CHECK(l.at("ROOT;Op").at(width) == 200);
  }
}

TEST_CASE("hatchet.flops_of_several_types_in_a_node_count_each_by_its_width") {
  kprof::profile p = two_threads();
  p.nodes.back().work.type = dtype::f32;
  const literal l(p);
  const metrics& gemm = l.at("ROOT;layer;Gemm(M=64 N=32)");
  CHECK(gemm.at("flops16") == 3'000);
  CHECK(gemm.at("flops32") == 3'000);
  CHECK(gemm.at("flops") == 6'000);
}

TEST_CASE("hatchet.work_whose_launch_is_not_known_has_a_place") {
  kprof::profile p = two_threads();
  p.device.work.push_back(p.device.work[0]);
  p.device.work.back().scope = kprof::device_work::none;
  CHECK(literal(p).at("ROOT;(launch not known);gemm_kernel").at("time (ns)") == 2700);
}

TEST_CASE("hatchet.deep_scopes_count_to_those_around_them") {
  const kprof::profile p = kprof_test::deep_profile(5'000);
  const literal l(p);
  CHECK(l.depth == 200);
  CHECK(l.sums.at("calls") == 5'000);
  double self_ns = 0;
  for (const kprof::scope_node& n : p.nodes) self_ns += n.self_ns;
  CHECK(l.sums.at("time (ns)") == Approx(self_ns));
}

TEST_CASE("hatchet.hostile_names_and_random_profiles_are_trees_that_add_up") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    kprof::profile p = seed == 0 ? kprof_test::hostile_profile() : kprof_test::random_profile(seed);
    CAPTURE(seed);
    if (seed % 3 == 1)
      for (std::size_t i = seed % 5; i < p.nodes.size(); i += 5) {
        const double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(), -1e300};
        p.nodes[i].self_ns = odd[i % 3];
      }
    if (seed % 4 == 2)
      for (std::uint32_t i = 0; i < 5; ++i) {
        kprof::device_work w;
        w.scope = i * seed % 70;
        w.kernel = i % 2;
        w.device = i % 3;
        w.calls = i;
        w.total_ns = i == 3 ? std::numeric_limits<double>::infinity() : 100. * i;
        p.device.work.push_back(w);
      }
    double calls = 0, ns = 0;
    for (const kprof::scope_node& n : p.nodes) {
      if (n.kind == kprof::scope_kind::root) continue;
      calls += static_cast<double>(n.calls);
      if (n.self_ns > 0) ns += std::min(n.self_ns, 9e15);
    }
    const literal l(p, seed % 2 == 0 ? settings{} : settings{{"threads", "on"}});
    CHECK(l.sums.at("calls") == Approx(calls));
    CHECK(l.sums.at("cpu_time (ns)") == Approx(ns).margin(static_cast<double>(p.nodes.size())));
  }
}

TEST_CASE("hatchet.a_run_without_scopes_is_a_root") {
  const literal l{kprof::profile{}};
  CHECK(l.nodes.size() == 1);
  CHECK(l.described.empty());
}

TEST_CASE("hatchet.a_name_that_ends_in_gz_packs") {
  const kprof_test::temporary_folder folder;
  const std::string path = folder.path("run.hatchet.gz");
  std::string plain;
  REQUIRE(kprof::write(two_threads(), "hatchet", {}, plain).ok());
  REQUIRE(kprof::write(two_threads(), "hatchet", {{"path", path}}).message == "");
  CHECK(std::system(("gzip -d " + path).c_str()) == 0);
  CHECK(kprof_test::read_path(folder.path("run.hatchet")) == plain);
}
