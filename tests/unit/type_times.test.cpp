// SPDX-License-Identifier: MIT

// The time of operators by the type of their numbers.

#include <kprof/report/text.hpp>

#include "catch.hpp"

#include "device_builder.hpp"
#include "machines.hpp"
#include "report_page.hpp"

#include <cstdint>
#include <string>

using kprof::dtype;
using kprof::profile;
using kprof::report_options;
using kprof_test::device_builder;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::profile_builder;

namespace {

std::string line_of(const profile& p, const std::string& sort = {}) {
  report_options options = kprof_test::at_width(200);
  options.sort = sort;
  options.ascii = true;
  return line_with(page_of(p, options), "by type of numbers");
}

}  // namespace

TEST_CASE("type_times.the_host_s_time_is_split_where_two_types_have_some") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto add = [&](const char* name, double ns, dtype type) {
    const auto op = b.op(main, name, "n=1");
    b.calls(op, 1, ns).work(op, 1000, 0, 0, type);
  };
  add("A", 50e6, dtype::f32);
  add("B", 10e6, dtype::c64);
  add("C", 25e6, dtype::bf16);
  add("D", 5e6, dtype::int8);
  add("E", 10e6, dtype::unknown);
  CHECK(line_of(b.done()) ==
        "by type of numbers: f32 60.0%, 16 bit 25.0%, unknown type 10.0%, integer 5.0% of the time "
        "in operators");
}

TEST_CASE("type_times.one_type_needs_no_line") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto a = b.op(main, "A", "n=1"), c = b.op(main, "C", "n=1"), d = b.op(main, "D", "n=1");
  b.calls(a, 1, 50e6).work(a, 1000, 0, 0, dtype::f32);
  b.calls(c, 1, 50e6).work(c, 1000, 0, 0, dtype::unknown);
  b.calls(d, 1, 0.9e6).work(d, 1000, 0, 0, dtype::f64);  // less than 1 %
  profile p = b.done();
  CHECK(line_of(p).empty());
  p.nodes[3].work.type = dtype::f32;
  CHECK(has(page_of(p, kprof_test::at_width(200)), "; f32 where a type is known\n"));
  p.nodes[2].work.type = dtype::f32;
  CHECK(has(page_of(p, kprof_test::at_width(200)), "; all f32\n"));
  p.nodes[2].work.type = dtype::unknown;
  p.nodes[3].work.type = dtype::f64;
  p.nodes[3].self_ns = p.nodes[3].total_ns = 1.2e6;
  CHECK(has(line_of(p), "f32 49.4%, unknown type 49.4%, f64 1.2% of the time"));
}

TEST_CASE("type_times.a_device_s_time_is_split_and_tensor_cores_compute_f32_as_tf32") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto half = b.op(main, "Half", "n=1"), single = b.op(main, "Single", "n=1");
  b.calls(half, 1, 9000).work(half, 1000, 0, 0, dtype::f16);
  b.calls(single, 1, 1000).work(single, 1000, 0, 0, dtype::f32);
  b.p.nodes[single].work.on = kprof::arithmetic_unit::tensor_core;
  b.kernel(half, "h", 1, 1e6, 1056);
  b.kernel(single, "s", 1, 3e6, 1056);
  profile p = b.done();
  kprof_test::add_device(p);
  p.machine.gpus = {kprof_test::h100()};
  CHECK(line_of(p) == "by type of numbers: tf32 75.0%, 16 bit 25.0% of device time in operators");
  CHECK(line_of(p, "self") ==
        "by type of numbers: 16 bit 90.0%, tf32 10.0% of host time in operators");
}
