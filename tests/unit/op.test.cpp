// SPDX-License-Identifier: MIT
// Operators: their formulas, names and what kprof evaluates. Also compiled as a .cu file.
#include <kprof/op.hpp>

#include "catch.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace {

using kprof::count;
using kprof::dtype;
using kprof::detail::work;

std::string str(kprof::text_view t) { return {t.data, t.size}; }

/// What the operator's descriptor says, as a session asks it.
template <class Op>
work evaluated(const Op& params) {
  work out{};
  out.flops = out.read = out.written = 12345;  // must be overwritten
  kprof::detail::op_desc_of<Op>.evaluate(&params, out);
  return out;
}

}  // namespace

namespace demo {

struct Saxpy {
  std::int64_t n = 0;
  dtype type = dtype::f32;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(2 * n); }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
  }
};
static_assert(Saxpy{.n = 1 << 20}.flops() == 2'097'152);
static_assert(kprof::flops_of(Saxpy{.n = 10}) == 20);

struct Gemm {
  std::int64_t m = 1, n = 1, k = 1;
  dtype input = dtype::bf16;
  dtype output = dtype::f32;
  constexpr count flops() const { return count{2} * m * n * k; }
  constexpr bool valid() const { return m > 0 && n > 0 && k > 0; }
  constexpr kprof::arithmetic arithmetic() const {
    return {.type = input, .on = kprof::arithmetic_unit::tensor_core};
  }
};

struct Backward {
  int n = 7;
  kprof::pass_kind direction = kprof::pass_kind::fprop, other = kprof::pass_kind::update;
};
struct Optimizer {
  int n = 0;
  constexpr kprof::pass_kind pass() const { return kprof::pass_kind::update; }
};
struct OtherPass {  // a name that other software uses for another thing
  int n = 0;
  constexpr int pass() const { return 3; }
};
struct Threaded {
  std::int64_t workers = 0;
  constexpr std::int64_t threads() const { return workers; }
};
struct OnAll {
  int n = 0;
  constexpr unsigned threads() const { return kprof::all_cpus; }
};
struct Plain {
  int n = 0;
};
struct Signed {
  std::int64_t n = 0;
  constexpr std::int64_t flops() const { return n; }
};
struct Small {
  int n = 0;
  constexpr int flops() const { return n; }
};
struct Named {
  int n;
  static constexpr const char* name = "my.operator";
};
struct NamedByArray {
  int n;
  static constexpr char name[] = "array";
};
struct FieldCalledName {
  kprof::fixed_string<7> name;
};
template <class T, int N>
struct Templated {
  T x;
};
struct TwoTypes {
  int n = 0;
  dtype first = dtype::int8;
  dtype second = dtype::f64;
};
struct vendor {
  const float* data = nullptr;
  int rank = 2;
  int dims[4] = {};
  int flops = 0;  // not a formula
};

}  // namespace demo

template <>
struct kprof::op_traits<demo::vendor> {
  static constexpr const char* name = "vendor.op";
  using fields = members<&demo::vendor::rank>;
  static constexpr std::uint64_t flops(const demo::vendor& v) {
    return static_cast<std::uint64_t>(v.rank) * 10U;
  }
  static constexpr kprof::traffic bytes(const demo::vendor&) { return {.read = 1, .written = 2}; }
  static constexpr bool valid(const demo::vendor& v) { return v.rank <= 4; }
  static constexpr kprof::arithmetic arithmetic(const demo::vendor&) {
    return {.type = dtype::f16};
  }
};

TEST_CASE("op.the_name_is_the_declared_one_or_the_type's") {
  CHECK(str(kprof::name_of<demo::Saxpy>()) == "Saxpy");
  CHECK(str(kprof::name_of<demo::Named>()) == "my.operator");
  CHECK(str(kprof::name_of<demo::NamedByArray>()) == "array");
  CHECK(str(kprof::name_of<demo::FieldCalledName>()) == "FieldCalledName");
  CHECK(str(kprof::name_of<demo::vendor>()) == "vendor.op");
  CHECK(str(kprof::name_of<demo::Templated<float, 3>>()) == "Templated<float, 3>");
  CHECK(str(kprof::detail::op_desc_of<demo::Named>.name()) == "my.operator");
  CHECK(str(kprof::detail::op_desc_of<demo::Saxpy>.name()) == "Saxpy");
  struct Local {
    int n;
  };
  CHECK(str(kprof::name_of<Local>()) == "Local");
}

TEST_CASE("op.formulas_are_evaluated_from_the_bytes_of_the_parameters") {
  const work w = evaluated(demo::Saxpy{.n = 100});
  CHECK(w.has_flops == 1);
  CHECK(w.has_bytes == 1);
  CHECK(w.valid == 1);
  CHECK(w.flops == 200);
  CHECK(w.read == 800);
  CHECK(w.written == 400);
  CHECK(static_cast<dtype>(w.type) == dtype::f32);
  CHECK(static_cast<kprof::arithmetic_unit>(w.on) == kprof::arithmetic_unit::unknown);
}

TEST_CASE("op.a_formula_that_is_not_declared_is_known_to_be_missing") {
  const work plain = evaluated(demo::Plain{.n = 3});
  CHECK(plain.has_flops == 0);
  CHECK(plain.has_bytes == 0);
  CHECK(plain.valid == 1);
  CHECK(plain.flops == 0);
  CHECK(static_cast<dtype>(plain.type) == dtype::unknown);
  const work gemm = evaluated(demo::Gemm{.m = 2, .n = 3, .k = 4});
  CHECK(gemm.has_flops == 1);
  CHECK(gemm.has_bytes == 0);
  CHECK(gemm.flops == 48);
}

TEST_CASE("op.the_arithmetic_is_the_declared_one_or_the_first_dtype_field") {
  const work gemm = evaluated(demo::Gemm{});
  CHECK(static_cast<dtype>(gemm.type) == dtype::bf16);
  CHECK(static_cast<kprof::arithmetic_unit>(gemm.on) == kprof::arithmetic_unit::tensor_core);
  CHECK(static_cast<dtype>(evaluated(demo::TwoTypes{}).type) == dtype::int8);
}

TEST_CASE("op.the_pass_is_the_declared_one_or_the_first_field_of_its_type") {
  const auto pass_of = [](const auto& op) {
    return static_cast<kprof::pass_kind>(evaluated(op).pass);
  };
  CHECK(pass_of(demo::Plain{}) == kprof::pass_kind::unknown);
  CHECK(pass_of(demo::Backward{}) == kprof::pass_kind::fprop);
  CHECK(pass_of(demo::Backward{.direction = kprof::pass_kind::wgrad}) == kprof::pass_kind::wgrad);
  CHECK(pass_of(demo::Optimizer{}) == kprof::pass_kind::update);
  CHECK(pass_of(demo::OtherPass{}) == kprof::pass_kind::unknown);
}

TEST_CASE("op.the_descriptor_has_the_parameters_of_a_value_initialised_object") {
  demo::Backward kept;
  const auto& fields = kprof::detail::op_desc_of<demo::Backward>.params();
  REQUIRE(fields.size == sizeof kept);
  std::memcpy(&kept, fields.defaults, sizeof kept);
  CHECK(kept.n == 7);
  CHECK(kept.direction == kprof::pass_kind::fprop);
}

TEST_CASE("op.parameters_that_are_not_valid_have_no_numbers") {
  const work w = evaluated(demo::Gemm{.m = 0, .n = 1, .k = 1});
  CHECK(w.valid == 0);
  CHECK(w.has_flops == 1);
  CHECK(w.flops == 0);
  CHECK_FALSE(kprof::flops_of(demo::Gemm{.m = -1}).valid());
}

TEST_CASE("op.overflowing_and_negative_formulas_are_invalid") {
  constexpr std::int64_t huge = std::int64_t{1} << 40U;
  const work overflow = evaluated(demo::Gemm{.m = huge, .n = huge, .k = 1});
  CHECK(overflow.valid == 0);
  CHECK(overflow.flops == 0);
  // What a plain integer formula makes of an overflow is a negative or a very large number.
  CHECK(evaluated(demo::Signed{.n = -1}).valid == 0);
  CHECK(evaluated(demo::Small{.n = -1}).valid == 0);
  CHECK(evaluated(demo::Saxpy{.n = -1}).valid == 0);
  CHECK(evaluated(demo::Signed{.n = std::numeric_limits<std::int64_t>::max()}).valid == 1);
  // Valid FLOPs do not survive an invalid number of bytes: the row is one.
  const work half = evaluated(demo::Saxpy{.n = 3, .type = dtype::int4});
  CHECK(half.valid == 0);
  CHECK(half.flops == 0);
}

TEST_CASE("op.a_foreign_struct_is_an_operator_through_op_traits") {
  const work w = evaluated(demo::vendor{.rank = 3, .flops = 99});
  CHECK(w.valid == 1);
  CHECK(w.flops == 30);
  CHECK(w.read == 1);
  CHECK(w.written == 2);
  CHECK(static_cast<dtype>(w.type) == dtype::f16);
  CHECK(evaluated(demo::vendor{.rank = 5}).valid == 0);
  CHECK(kprof::flops_of(demo::vendor{.rank = 4}) == 40);
}

TEST_CASE("op.the_descriptor_knows_the_size_of_the_parameters") {
  struct Nothing {};
  CHECK(kprof::detail::op_desc_of<demo::Saxpy>.params_size == sizeof(demo::Saxpy));
  CHECK(kprof::detail::op_desc_of<Nothing>.params_size == 0);
  CHECK(kprof::detail::op_desc_of<demo::Saxpy>.params().field_count == 2);
}

TEST_CASE("op.an_operator_may_say_how_many_threads_work_in_a_call") {
  CHECK(evaluated(demo::Plain{}).threads == 0);
  CHECK(evaluated(demo::Threaded{4}).threads == 4);
  CHECK(evaluated(demo::Threaded{0}).threads == 0);  // not known
  CHECK(evaluated(demo::Threaded{-1}).threads == 0);
  CHECK(evaluated(demo::Threaded{std::int64_t{1} << 40}).threads == kprof::all_cpus);
  CHECK(evaluated(demo::OnAll{}).threads == kprof::all_cpus);
}
