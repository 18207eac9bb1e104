// SPDX-License-Identifier: MIT
// The list of all operators: every one is what the rest of kprof takes an operator to be.
#include <kprof/ops.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <type_traits>

using kprof::ops::catalogue;
using kprof::ops::pass;

static_assert(catalogue::size == 176);
static_assert(catalogue::contains("Conv2d") && catalogue::contains("GroupedGemm") &&
              catalogue::contains("Relu") && catalogue::contains("Getrf"));

namespace {

template <class Op>
constexpr bool is_complete() {
  constexpr Op op{};
  return op.valid() && op.flops().valid() && op.bytes().total().valid() &&
         kprof::flops_of(op).valid() && op.arithmetic().type != kprof::dtype::unknown;
}
template <class... Ops>
constexpr bool are_complete(std::type_identity<kprof::op_registry<Ops...>>) {
  return (is_complete<Ops>() && ...);
}
static_assert(are_complete(std::type_identity<catalogue>{}));

}  // namespace

TEST_CASE("ops_catalogue.names_are_distinct_and_those_of_the_types") {
  std::set<std::string> names;
  catalogue::for_each(
      [&](auto op) { names.insert(kprof_test::named<typename decltype(op)::type>()); });
  CHECK(names.size() == catalogue::size);
  for (const std::string& name : names) {
    INFO(name);
    CHECK((name[0] >= 'A' && name[0] <= 'Z'));
    CHECK(name.find_first_of("<>_:, ") == std::string::npos);
  }
}

namespace {

using kprof::detail::field_desc;
using kprof::detail::field_kind;
using kprof::detail::presentation;
using kprof::detail::struct_desc;

std::mt19937 engine;  // seeded for each operator, so that one more changes no other
std::int64_t draw(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(engine() % static_cast<std::uint32_t>(high - low + 1));
}

std::string name_of(const field_desc& f) { return {f.name.data, f.name.size}; }
bool is_class_of_its_own(const field_desc& f) {  // columns of a report
  if (f.kind != field_kind::enumeration) return false;
  const std::string type{f.enumerators->name.data, f.enumerators->name.size};
  return type == "dtype" || type == "pass_kind";
}

void set(const field_desc& f, char* at, std::int64_t value) {
  std::memcpy(at, &value, f.size);  // little endian
}
/// One value of the field, a size from 2 on.
void randomise(const field_desc& f, char* at) {
  if (f.kind == field_kind::aggregate) {
    for (std::uint32_t i = 0; i < f.nested->field_count; ++i)
      randomise(f.nested->fields[i], at + f.nested->fields[i].offset);
  } else if (f.kind == field_kind::boolean) {
    set(f, at, draw(0, 1));
  } else if (f.kind == field_kind::enumeration) {
    set(f, at, f.enumerators->list[draw(0, f.enumerators->size - 1)].value);
  } else {
    set(f, at, draw(2, 40));
  }
}
/// Sizes stand in front; what is behind them keeps its default, which may say that it is none.
void randomise_all(const field_desc& f, char* at) {
  const std::int64_t used = f.extent == 0 ? 1 : draw(1, f.extent);
  for (std::int64_t i = 0; i < used; ++i) randomise(f, at + i * f.size);
}

template <class Op>
presentation presented(const Op& op) {
  presentation out{};
  kprof::detail::op_desc_of<Op>.present(&op, out);
  return out;
}
std::string text_of(const presentation& p) { return {p.text, p.size}; }

bool counts_the_same(const kprof::detail::work& a, const kprof::detail::work& b) {
  return a.valid == b.valid && a.flops == b.flops && a.read == b.read && a.written == b.written;
}

/// Changes one field at a time, and looks for calls that read the same.
template <class Op>
void check_briefs() {
  const std::string name = kprof_test::named<Op>();
  INFO(name);
  REQUIRE(kprof::detail::op_desc_of<Op>.present != nullptr);
  CHECK(text_of(presented(Op{})).find('-') == std::string::npos);
  CHECK_FALSE(text_of(presented(Op{})).empty());
  const struct_desc& params = kprof::detail::describe_op<Op>::params();
  engine.seed(4711);
  for (int round = 0; round < 40; ++round) {
    Op one{};
    char* const bytes = reinterpret_cast<char*>(&one);
    for (std::uint32_t i = 0; i < params.field_count; ++i)
      if (draw(0, 2) != 0) randomise_all(params.fields[i], bytes + params.fields[i].offset);
    if constexpr (requires { one.pass = pass::recompute; }) {
      Op again = one, first = one;
      again.pass = pass::recompute;
      first.pass = pass::fprop;
      CHECK(counts_the_same(kprof::detail::evaluate(again), kprof::detail::evaluate(first)));
      CHECK(text_of(presented(again)) == text_of(presented(first)));
      CHECK(presented(again).unshown == presented(first).unshown);
    }
    const presentation before = presented(one);
    CHECK(before.failed == 0);
    CHECK(text_of(before).find('-') == std::string::npos);
    for (std::uint32_t i = 0; i < params.field_count; ++i) {
      const field_desc& f = params.fields[i];
      if (is_class_of_its_own(f)) continue;
      Op other = one;
      randomise(f, reinterpret_cast<char*>(&other) + f.offset);
      const presentation after = presented(other);
      const std::string text = text_of(after);
      // What is cut may read the same.
      if (std::memcmp(&one, &other, sizeof one) == 0 || text_of(before) != text ||
          text.ends_with("\u2026"))
        continue;
      const std::uint64_t bit = std::uint64_t{1} << i;
      INFO(name_of(f) << ": " << text_of(before));
      CHECK(((before.beside | after.beside) & bit) + (before.unshown & after.unshown & bit) != 0);
    }
  }
}

}  // namespace

TEST_CASE("ops_catalogue.calls_that_differ_read_differently") {
  catalogue::for_each([](auto op) { check_briefs<typename decltype(op)::type>(); });
}

TEST_CASE("ops_catalogue.calls_read_as_people_write_them") {
  using namespace kprof::ops;
  using kprof::dtype;
  const auto brief = [](const auto& op) { return text_of(presented(op)); };
  const auto beside = [](const auto& op, const char* field) {
    const struct_desc& params = kprof::detail::op_desc_of<std::decay_t<decltype(op)>>.params();
    std::uint32_t i = 0;
    while (name_of(params.fields[i]) != field) ++i;
    return (presented(op).beside >> i & 1U) != 0;
  };
  CHECK(
      brief(Conv2d{.N = 32, .C = 64, .H = 56, .W = 56, .K = 64, .R = 3, .S = 3, .U = 2, .V = 2}) ==
      "32\u00D764\u00D756\u00D756 \u2192 64, 3\u00D73, /2");
  Conv2d conv{.N = 8, .C = 64, .H = 9, .W = 5, .K = 64, .R = 3, .S = 1, .ph = 1, .U = 2, .dh = 2};
  conv.g = 64;
  conv.bias = true;
  conv.act = activation::relu;
  CHECK(brief(conv) ==
        "8\u00D764\u00D79\u00D75 \u2192 64, 3\u00D71, /2\u00D71, pad 1\u00D70, dilation 2\u00D71, "
        "groups 64, bias, relu");
  conv.pass = pass::wgrad;  // which neither bias nor activation has
  CHECK(brief(conv).find("bias") == std::string::npos);
  const Gemm gemm{.M = 4096,
                  .N = 4096,
                  .K = 1024,
                  .dtypeA = dtype::f16,
                  .dtypeB = dtype::f16,
                  .dtypeC = dtype::f32,
                  .transB = true};
  CHECK(brief(gemm) == "4096\u00D74096\u00D71024, B\u1D40");
  CHECK((beside(gemm, "dtypeC") && !beside(gemm, "dtypeA") && !beside(gemm, "dtypeB")));
  const Linear linear{.tokens = 256, .in_features = 384, .out_features = 50304, .bias = true};
  CHECK(brief(linear) == "384 \u2192 50304, bias");
  CHECK(beside(linear, "tokens"));
  CHECK(brief(Sdpa{.B = 4, .Hq = 6, .Sq = 64, .Sk = 64, .mask = attention_mask::causal}) ==
        "B=4 H=6 S=64 D=64 causal");
  const Sdpa decode{.Hq = 32,
                    .Hkv = 8,
                    .Sk = 94,
                    .Dv = 128,
                    .pass = pass::bprop,
                    .backward = attention_backward::stored_P};
  CHECK(brief(decode) == "B=1 H=32/8 Sq=1 Sk=94 D=64 Dv=128 stored P");
  CHECK(brief(Softmax{.rows = 256, .cols = 50257}) == "256\u00D750257");
  CHECK(brief(Add{.a = {98304}, .b = {98304}}) == "98304");
  CHECK(brief(Add{.a = {128, 256}, .b = {256}}) == "128\u00D7256, 256");
  CHECK(brief(AllReduce{.n = 8, .S = 256 << 20}) == "256 MiB, 8 ranks");
  CHECK(brief(Cast{.numel = 7, .dtypeOut = dtype::bf16}) == "7, f32 \u2192 bf16");
  CHECK(brief(Concat{.inputs = {{1, 2, 0, 4}}}) == "1 + 2 + 0 + 4");
  CHECK(kprof::detail::evaluate(AdamW{}).pass == static_cast<std::uint8_t>(pass::update));
  CHECK(kprof::detail::evaluate(linear).pass == static_cast<std::uint8_t>(pass::fprop));
}
