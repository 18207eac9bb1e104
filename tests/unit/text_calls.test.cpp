// SPDX-License-Identifier: MIT
// Calls of CUDA's libraries in the text report: their table, and the column `waited`.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/report_page.hpp"

#include <kprof/model/call_table.hpp>
#include <kprof/model/summary.hpp>

#include <cstdint>
#include <string>

using kprof::call_kind;
using kprof::call_row;
using kprof::report_options;
using kprof_test::ascii_at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::section;
using kprof_test::small_device_profile;
using kprof_test::words;

namespace {

std::uint32_t node_named(const kprof::profile& p, const std::string& name) {
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].name == name) return i;
  return kprof::scope_node::none;
}

/// 1000 launches of 2 us in Gemm and 100 outside, 10 waits of 1 ms in Load.
kprof::profile run_with_calls() {
  kprof::profile p = small_device_profile();
  p.device.functions = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaLaunchKernel"};
  const std::uint32_t gemm = node_named(p, "Gemm"), load = node_named(p, "Load");
  p.device.calls = {{0, gemm, call_kind::launch, 1000, 2e6, 9e3, 0},
                    {1, load, call_kind::synchronize, 10, 1e7, 3e6, 1e7},
                    {2, 0, call_kind::launch, 100, 2e5, 4e3, 0}};
  return p;
}

}  // namespace

TEST_CASE("call_table.sums_versions_and_scopes_of_a_function") {
  const std::vector<call_row> rows = kprof::call_table(run_with_calls());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].function == "cudaStreamSynchronize");
  CHECK(rows[0].waited_ns == 1e7);
  CHECK(rows[0].scope == "Load");
  CHECK(rows[1].function == "cudaLaunchKernel");
  CHECK(rows[1].calls == 1100);
  CHECK(rows[1].total_ns == 2.2e6);
  CHECK(rows[1].max_ns == 9e3);
  CHECK(rows[1].waited_ns == 0);
  CHECK(rows[1].scope == "Gemm");
  CHECK(rows[1].scope_ns == 2e6);
  CHECK(rows[0].share + rows[1].share == 1);
  CHECK(kprof::call_table(kprof::profile{}).empty());
}

TEST_CASE("text.calls_are_shown_on_request") {
  const kprof::profile p = run_with_calls();
  report_options options = ascii_at_width(120);
  CHECK_FALSE(has(page_of(p, options), "Calls of CUDA"));
  options.api = true;
  const std::string page = section(page_of(p, options), "Calls of CUDA");
  CHECK(words(line_with(page, "cudaStreamSynchronize")) ==
        "cudaStreamSynchronize 10 10.0 ms 82.0% 1.00 ms 3.00 ms 10.0 ms Load");
  CHECK(words(line_with(page, "cudaLaunchKernel")) ==
        "cudaLaunchKernel 1,100 2.20 ms 18.0% 2.00 us 9.00 us Gemm");
  options.top = 1;
  const std::string shorter = section(page_of(p, options), "Calls of CUDA");
  CHECK_FALSE(has(shorter, "cudaLaunchKernel"));
  CHECK(has(page_of(p, options), "not shown: 1,100 calls of other functions, 2.20 ms"));
  CHECK(has(page_of(small_device_profile(), options), "No calls of CUDA's libraries were noted"));
  options.legend = true;
  CHECK(has(page_of(p, options), "Legend of the calls"));
}

TEST_CASE("text.rows_that_waited_say_for_how_long") {
  kprof::profile p = run_with_calls();
  for (const kprof::operator_row& row : kprof::operator_table(p))
    CHECK(row.waited_ns == (row.name == "Load" ? 1e7 : 0));
  CHECK(has(page_of(p, ascii_at_width(200)), "waited"));
  p.device.calls[1].waited_ns = 1;  // less than 1 % of the host's time
  CHECK_FALSE(has(page_of(p, ascii_at_width(200)), "waited"));
  report_options options = ascii_at_width(120);
  options.columns = {"operator", "waited"};
  CHECK(has(page_of(p, options), "waited"));
}
