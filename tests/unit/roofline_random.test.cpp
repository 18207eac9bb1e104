// SPDX-License-Identifier: MIT

// Verdicts of random profiles: of rows, regions and kernels.

#include "catch.hpp"

#include "machines.hpp"
#include "random_reports.hpp"

#include <kprof/tables.hpp>

#include <cstddef>
#include <cstdint>

using kprof::bound_by;
using kprof::operator_row;
using kprof::profile;
using kprof::roof_verdict;

namespace {
void check_verdict(const roof_verdict& v, double time_ns) {
  CHECK((v.roof.known() || v.bound == bound_by::unknown));
  if (!v.roof.known()) return;
  CHECK(v.roof.value >= 0);
  CHECK(v.ideal_ns.value >= 0);
  CHECK((v.bound == bound_by::impossible) == (v.roof.value > 1));
  if (v.bound == bound_by::impossible) return;
  CHECK(v.lost_ns.value >= 0);
  CHECK(v.lost_ns.value <= time_ns * (1 + 1e-9));
  CHECK(v.ideal_ns.value <= time_ns * (1 + 1e-9));
}
void check_verdict(const operator_row& row) {
  INFO(row.name);
  check_verdict(row.verdict, row.on_device ? row.device_total_ns : row.total_ns);
}
}  // namespace

TEST_CASE("roofline.no_verdict_is_above_a_roof_but_impossible") {
#ifdef KPROF_TEST_SHORT
  constexpr std::uint32_t profiles = 1000;
#else
  constexpr std::uint32_t profiles = 10'000;
#endif
  std::size_t known = 0, kernels = 0;
  for (std::uint32_t seed = 0; seed < profiles; ++seed) {
    profile p = kprof_test::random_report(seed).make(5);
    if (seed % 3 != 0) p.machine.cpu = kprof_test::two_cpus();
    if (seed % 4 != 0) p.machine.gpus.assign(p.device.devices.size(), kprof_test::h100());
    if (seed % 2 == 0)  // slower, so that less is above every roof
      for (kprof::scope_node& n : p.nodes) n.work.flops %= 1'000'000;
    INFO(seed);
    for (const kprof::grouping by : {kprof::grouping::parameters, kprof::grouping::op})
      for (const operator_row& row : kprof::operator_table(p, by)) {
        check_verdict(row);
        known += row.verdict.roof.known() ? 1U : 0U;
      }
    check_verdict(kprof::operator_total(p));
    for (const kprof::tree_row& row : kprof::call_tree(p)) {
      if (!row.roof.known()) continue;
      CHECK(row.roof.value >= 0);
      CHECK(row.roof.value <= 1);
    }
    for (const kprof::kernel_row& row : kprof::kernel_table(p)) {
      INFO(row.kernel);
      check_verdict(row.verdict, row.total_ns);
      kernels += row.verdict.roof.known() ? 1U : 0U;
    }
  }
  CHECK(known > profiles);
  CHECK(kernels > profiles / 100);
}
