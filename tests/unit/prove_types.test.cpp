// SPDX-License-Identifier: MIT
// needs: guards

// Advice about sizes and types of products on a GPU that is tried out: products of the catalogue,
// whose kernels are made up and which are run again on the CPU, in a time that their type decides.

#include <kprof/kprof.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/prove.hpp>

#include "advised.hpp"
#include "catch.hpp"
#include "device_builder.hpp"
#include "kernel_case.hpp"
#include "report_page.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

using Catch::Matchers::Contains;
using kprof::dtype;
using kprof::ops::Gemm;
using kprof_test::asked;

namespace {

/// A run of ten calls of a product, 100 us each on an H100.
kprof::profile run_of(const Gemm& product, const char* kernel,
                      kprof::arithmetic_unit on = kprof::arithmetic_unit::unknown) {
  REQUIRE(kprof::start());
  for (int i = 0; i < 10; ++i) { KPROF_OP(Gemm, product); }
  kprof::stop();
  kprof_test::device_builder b;
  b.p = kprof::snapshot();
  for (std::uint32_t i = 0; i < b.p.nodes.size(); ++i) {
    if (b.p.nodes[i].kind != kprof::scope_kind::op) continue;
    b.p.nodes[i].unlaunched = 0;  // as if each call had launched the kernel
    if (on != kprof::arithmetic_unit::unknown) b.p.nodes[i].work.on = on;
    b.kernel(i, kernel, 10, 100e3, 1056);
  }
  return kprof_test::kernel_case::finished(b);
}

std::string trials_of(const kprof::profile& p, const char* rule) {
  const auto found = asked(p, rule);
  std::string out;
  if (found.empty()) return "silent";
  for (const kprof::advised_fields& fields : found[0].trials)
    out += (out.empty() ? "" : "; ") + kprof::detail::text_of(fields);
  return out;
}

}  // namespace

TEST_CASE("prove_types.G13_tries_padded_sizes") {
  const auto cuda = kprof::arithmetic_unit::cuda_core;
  Gemm product{.M = 1024, .N = 1023, .K = 1021, .dtypeA = dtype::f16};
  CHECK(trials_of(run_of(product, "k", cuda), "G13") == "N=1024, K=1024");
  product.N = product.K = 1024;
  CHECK(trials_of(run_of(product, "k", cuda), "G13").empty());  // for another reason
}

TEST_CASE("prove_types.G14_tries_tf32") {
  CHECK(trials_of(run_of({.M = 1024, .N = 1024, .K = 1300}, "ampere_sgemm_128x64_nn"), "G14") ==
        "dtypeA=tf32");
}

TEST_CASE("prove_types.G15_tries_types_of_16_bits_in_the_longest_product") {
  CHECK(trials_of(run_of({.M = 1024, .N = 1024, .K = 512}, "k"), "G15") ==
        "dtypeA=f16 in Gemm 1024\u00D71024\u00D7512; dtypeA=bf16 in Gemm 1024\u00D71024\u00D7512");
}

TEST_CASE("prove_types.the_report_has_what_another_type_gains") {
  int calls = 0;
  const auto again = kprof::prove<Gemm>([&](const Gemm& product) {
    ++calls;
    CHECK(product.M == 1024);
    const bool is_narrow = product.dtypeA == dtype::f16 || product.dtypeA == dtype::bf16;
    return [is_narrow] {
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::microseconds{is_narrow ? 100 : 400};
      while (std::chrono::steady_clock::now() < end) {}
    };
  });
  const kprof::profile p = run_of({.M = 1024, .N = 1024, .K = 512}, "k");
  auto options = kprof_test::plain_at_width(300);
  options.advice = {"prove"};
  const std::string page = kprof_test::page_of(p, options);
  CHECK(calls == 4);  // as it is, in both types, as it is again
  CHECK_THAT(page, Contains("mixed precision: f16 or bf16 operands, sums in f32. Measured: ") &&
                       Contains(" x with dtypeA=f16 in Gemm 1024\u00D71024\u00D7512 (") &&
                       Contains(" x with dtypeA=bf16 in Gemm 1024\u00D71024\u00D7512 ("));
  const double gain = std::atof(page.c_str() + page.find("Measured: ") + 10);
  CHECK(gain > 2);
  CHECK(gain < 8);
}
