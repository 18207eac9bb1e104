// SPDX-License-Identifier: MIT

// Kernels of two sets of runs, side by side.

#include <kprof/model/compare.hpp>
#include <kprof/model/compare/sentences.hpp>

#include "../support/catch.hpp"
#include "../support/device_builder.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace {

/// `gemm` is how long a run of the first kernel takes; `update` names the last one.
kprof::compared_run run_of(double gemm, const std::string& update) {
  kprof_test::device_builder b;
  const auto thread = b.thread("main", 1);
  const auto op = b.op(thread, "Gemm", "n=1"), other = b.op(thread, "Norm", "n=1");
  b.calls(op, 20, 5000).calls(other, 20, 5000);
  b.kernel(op, "void lib::gemm<float, 128>(float*)", 10, gemm, 64);
  b.kernel(op, "void lib::gemm<float, 128>(float*)", 10, gemm + 20e3, 128);
  b.kernel(op, "void lib::gemm<float, 64>(float*)", 20, 50e3);
  b.kernel(other, update, 20, 30e3);
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  p.wall_ns = 1e7;
  return kprof::run_to_compare(p);
}
std::vector<kprof::compared_run> runs_of(double factor, const std::string& update) {
  std::vector<kprof::compared_run> out;
  for (const double noise : {1.0, 1.001, 0.999}) out.push_back(run_of(factor * noise, update));
  return out;
}

}  // namespace

TEST_CASE("compare_kernels.a_kernel_is_one_row_of_its_operator_whatever_its_launches") {
  const kprof::comparison c = compare(runs_of(100e3, "norm"), runs_of(145e3, "norm"));
  REQUIRE(c.kernels.rows.size() == 3);
  const kprof::row_change& gemm = c.kernels.rows[0];
  CHECK(kprof::detail::kernel_title(gemm) == "gemm<…, 128> of Gemm");
  CHECK(gemm.before_calls == 20);
  CHECK(std::fabs(gemm.before_ns - 110e3) < 1e3);  // the mean of both launches
  CHECK(std::fabs(gemm.after_ns - 155e3) < 1e3);
  CHECK(gemm.change.verdict == kprof::change_verdict::slower);
  CHECK(gemm.change.by.difference == gemm.plain.difference);  // nothing is taken out
  for (std::size_t i = 1; i < 3; ++i)
    CHECK(c.kernels.rows[i].change.verdict == kprof::change_verdict::same);
  CHECK(c.kernels.only_before.empty());
  CHECK(c.kernels.only_after.empty());
}

TEST_CASE("compare_kernels.what_one_side_has_is_said") {
  const kprof::comparison c = compare(runs_of(100e3, "norm_1"), runs_of(100e3, "norm_2"));
  REQUIRE(c.kernels.only_before.size() == 1);
  REQUIRE(c.kernels.only_after.size() == 1);
  CHECK(c.kernels.only_before[0].name == "norm_1");
  CHECK(c.kernels.only_after[0].parameters == "Norm");
  std::string below;
  for (const std::string& line : kprof::words_of(c).below) below += line + '\n';
  CHECK(below.find("1 kernel is only before, 15.8% of the time: norm_1 of Norm.") !=
        std::string::npos);
  CHECK(below.find("1 kernel is only after, 15.8% of the time: norm_2 of Norm.") !=
        std::string::npos);
}

TEST_CASE("compare_kernels.there_are_none_where_a_side_has_none") {
  std::vector<kprof::compared_run> before = runs_of(100e3, "norm");
  before[1].kernels.clear();
  const kprof::comparison c = compare(before, runs_of(100e3, "norm"));
  CHECK(c.kernels.rows.empty());
  CHECK(c.kernels.only_after.empty());
}

TEST_CASE("compare_kernels.without_verdicts_what_changed_most_comes_first") {
  const std::vector<kprof::compared_run> before{run_of(100e3, "norm")}, after{run_of(40e3, "norm")};
  const kprof::comparison c = compare(before, after);
  const auto& rows = c.kernels.rows;
  REQUIRE(rows.size() == 3);
  std::size_t first = 0;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (kprof::detail::changed_before(rows[i], rows[first])) first = i;
  CHECK(rows[first].name == "gemm<…, 128>");
  CHECK_FALSE(kprof::detail::changed_before(rows[(first + 1) % 3], rows[first]));
}
