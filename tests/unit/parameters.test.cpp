// SPDX-License-Identifier: MIT
// needs: guards

// Typed parameters: every value of every kind of field comes back out of a snapshot as it went in.

#include "catch.hpp"

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

enum class color : std::int8_t { green = -1, red = 0, blue = 5 };
enum class mode : std::uint64_t { unknown = 0, fast = 1, exact = 2 };
enum class flag : std::uint8_t { off, on };

template <class T>
struct Holder {
  static constexpr const char* name = "Holder";
  T value{};
};

template <class T>
std::vector<T> interesting() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) return {false, true};
  else if constexpr (std::is_integral_v<T>)
    return {limits::min(), limits::max(), T{2}, T{1}, static_cast<T>(limits::max() / 3)};
  else
    return {T{0},
            -T{0},
            T{1} / T{3},
            limits::max(),
            limits::min(),
            limits::lowest(),
            limits::denorm_min(),
            -limits::denorm_min(),
            limits::infinity(),
            -limits::infinity(),
            limits::quiet_NaN(),
            -limits::quiet_NaN()};
}

template <class T>
bool same(const kprof::parameter_value& v, T expected) {
  if (!v) return false;
  if constexpr (std::is_same_v<T, bool>)
    return v.kind == kprof::parameter_kind::boolean && v.integer == (expected ? 1U : 0U);
  else if constexpr (std::is_floating_point_v<T>) {
    const auto got = static_cast<T>(v.floating);
    const bool bits_agree = v.bits == 8 * (sizeof(T) == 16 && LDBL_MANT_DIG == 64 ? 10 : sizeof(T));
    if (std::isnan(expected))
      return bits_agree && std::isnan(got) && std::signbit(got) == std::signbit(expected);
    return bits_agree && got == expected && std::signbit(got) == std::signbit(expected);
  } else if constexpr (std::is_signed_v<T>) {
    return v.kind == kprof::parameter_kind::signed_integer && v.bits == 8 * sizeof(T) &&
           v.as_signed() == std::int64_t{expected};
  } else {
    return v.kind == kprof::parameter_kind::unsigned_integer && v.bits == 8 * sizeof(T) &&
           v.integer == std::uint64_t{expected};
  }
}

template <class Op>
void record(const Op& op) {
  KPROF_OP(Op, op);
}

/// The calls of one operator, in the order in which they were first made.
std::vector<const kprof::scope_node*> calls_of(const kprof::profile& p, const std::string& name) {
  std::vector<const kprof::scope_node*> out;
  for (const kprof::scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::op && p.operator_of(n)->declared_name == name)
      out.push_back(&n);
  return out;
}

template <class T>
void values_come_back() {
  REQUIRE(kprof::start().ok());
  const std::vector<T> values = interesting<T>();
  for (const T value : values) record(Holder<T>{value});
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  const auto found = calls_of(p, "Holder");
  REQUIRE(found.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("value " << i << ": " << parameter_text(p, *found[i]));
    CHECK(same<T>(p.value(*found[i], "value"), values[i]));
  }
}

struct Inner {
  std::int16_t small = 0;
  float scale = 0;
  kprof::fixed_string<7> tag;
};
struct Everything {
  bool yes = false;
  color tone = color::red;
  mode how = mode::unknown;
  std::array<flag, 2> flags{};
  kprof::fixed_string<12> name;
  std::array<std::int32_t, 3> shape{};
  std::array<std::array<std::uint8_t, 2>, 2> grid{};
  Inner one;
  std::array<Inner, 2> many{};
  long double wide = 0;
  kprof::dtype type = kprof::dtype::f32;
};

Everything example() {
  Everything op;
  op.yes = true;
  op.tone = color::green;
  op.how = static_cast<mode>(~std::uint64_t{0});
  op.flags = {flag::on, static_cast<flag>(200)};
  op.name = "\xFF\xFE a=b";
  op.shape = {3, -224, 2'147'483'647};
  op.grid = {{{1, 2}, {3, 255}}};
  op.one = {-7, 0.1F, "x"};
  op.many = {{{1, 1.5F, "first"}, {2, -0.0F, ""}}};
  op.wide = 1.0L / 3.0L;
  return op;
}

}  // namespace

TEST_CASE("parameters.every_number_comes_back_out_of_a_snapshot") {
  values_come_back<bool>();
  values_come_back<std::int8_t>();
  values_come_back<std::uint8_t>();
  values_come_back<std::int16_t>();
  values_come_back<std::uint16_t>();
  values_come_back<std::int32_t>();
  values_come_back<std::uint32_t>();
  values_come_back<std::int64_t>();
  values_come_back<std::uint64_t>();
  values_come_back<float>();
  values_come_back<double>();
  values_come_back<long double>();
}

TEST_CASE("parameters.fields_of_every_kind_come_back_out_of_a_snapshot") {
  REQUIRE(kprof::start().ok());
  record(example());
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  const auto found = calls_of(p, "Everything");
  REQUIRE(found.size() == 1);
  const auto value = [&](const char* path) { return p.value(*found[0], path); };
  CHECK(value("yes").integer == 1);
  CHECK(value("tone").as_signed() == -1);
  CHECK(value("tone").text == "green");
  CHECK(value("how").integer == ~std::uint64_t{0});
  CHECK(value("how").text.empty());
  CHECK_FALSE(value("how").is_signed);
  CHECK(value("flags[0]").text == "on");
  CHECK(value("flags[1]").integer == 200);
  CHECK(value("name").text == "\xFF\xFE a=b");
  CHECK(value("shape").as_signed() == 3);
  CHECK(value("shape[1]").as_signed() == -224);
  CHECK(value("shape[2]").as_signed() == 2'147'483'647);
  CHECK(value("grid[3]").integer == 255);
  CHECK(value("one.small").as_signed() == -7);
  CHECK(value("one.scale").floating == static_cast<long double>(0.1F));
  CHECK(value("one.tag").text == "x");
  CHECK(value("many[0].tag").text == "first");
  CHECK(std::signbit(value("many[1].scale").floating));
  CHECK(value("many[1].tag").kind == kprof::parameter_kind::text);
  CHECK(value("wide").floating == 1.0L / 3.0L);
  CHECK(value("type").text == "f32");
  for (const char* none :
       {"", "no", "shape[3]", "shape[-1]", "shape[x]", "shape[0", "one", "one.no", "one.",
        "many[2].tag", "yes.no", "yes[1]", "type.x", "[0]", "."}) {
    INFO(none);
    CHECK_FALSE(value(none));
  }
  CHECK(parameter_text(p, *found[0]) ==
        "yes=true tone=green how=18446744073709551615 flags=[on,200] name=\xFF\xFE a=b "
        "shape=[3,-224,2147483647] grid=[1,2,3,255] one={small=-7 scale=0.1 tag=x} "
        "many=[{small=1 scale=1.5 tag=first},{small=2 scale=-0 tag=}] "
        "wide=0.33333333333333333334 type=f32");
}

TEST_CASE("parameters.all_values_are_visited_by_the_paths_that_find_them") {
  REQUIRE(kprof::start().ok());
  record(example());
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  const kprof::scope_node& n = *calls_of(p, "Everything").at(0);
  std::size_t values = 0;
  for_each_parameter(
      *p.operator_of(n), n.values,
      [&](std::string_view path, const kprof::operator_field& f, const kprof::parameter_value& v) {
        INFO(path);
        CHECK(f.kind == v.kind);
        CHECK(parameter_text(p.value(n, path)) == parameter_text(v));
        ++values;
      });
  CHECK(values == 1 + 1 + 1 + 2 + 1 + 3 + 4 + 3 + 6 + 1 + 1);
}

TEST_CASE("parameters.not_numbers_of_one_sign_are_one_set") {
  REQUIRE(kprof::start().ok());
  for (const std::uint32_t bits : {0x7FC00000U, 0x7F800001U, 0x7FFFFFFFU, 0xFFC00001U})
    record(Holder<float>{std::bit_cast<float>(bits)});
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  const auto rows = kprof::operator_table(p);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].parameters == "value=nan");
  CHECK(rows[0].calls == 3);
  CHECK(rows[1].parameters == "value=-nan");
}

TEST_CASE("parameters.an_operator_stands_once_in_the_table_and_merged_calls_have_no_values") {
  kprof::profile p;
  p.operators.resize(1);
  p.operators[0].fields.resize(1);
  p.operators[0].fields[0] = {"n", kprof::parameter_kind::signed_integer, 64, 0, true, {}, {}};
  kprof::scope_node n;
  n.kind = kprof::scope_kind::op;
  n.op = 0;
  n.values.packed.assign(8, '\1');
  CHECK(p.value(n, "n").as_signed() == 0x0101010101010101);
  n.values.packed.assign(3, '\1');  // cut short: the rest is zero
  CHECK(p.value(n, "n").as_signed() == 0x010101);
  n.merged = true;
  CHECK_FALSE(p.value(n, "n"));
  n.merged = false;
  n.op = 1;  // no such operator
  CHECK_FALSE(p.value(n, "n"));
  CHECK(parameter_text(p, n).empty());

  REQUIRE(kprof::start().ok());
  record(Holder<int>{1});
  { KPROF_OP(Holder<int>, {.value = 2}); }
  { KPROF_REGION("region"); }
  const kprof::profile live = kprof::snapshot();
  kprof::stop();
  REQUIRE(live.operators.size() == 1);
  CHECK(live.operators[0].fields.at(0).bits == 32);
  CHECK(calls_of(live, "Holder").size() == 2);
}

TEST_CASE("parameters.wide_floating_values_of_other_machines_are_read") {
  // 1.0, -2.5, the smallest denormal, infinity and NaN as IEEE binary128, low word first.
  struct wide {
    std::uint64_t low, high;
    long double expected;
  };
  for (const wide& w : {wide{0, 0x3FFF000000000000U, 1.0L}, wide{0, 0xC000400000000000U, -2.5L},
                        wide{0, 0x7FFF000000000000U, std::numeric_limits<long double>::infinity()},
                        wide{0, 0x8000000000000000U, -0.0L}}) {
    kprof::operator_info op;
    op.fields.resize(1);
    op.fields[0] = {"x", kprof::parameter_kind::floating, 128, 0, false, {}, {}};
    kprof::parameter_values values;
    values.packed.resize(16);
    std::memcpy(values.packed.data(), &w.low, 8);
    std::memcpy(values.packed.data() + 8, &w.high, 8);
    const long double got = parameter_at(op, values, "x").floating;
    CHECK(got == w.expected);
    CHECK(std::signbit(got) == std::signbit(w.expected));
  }
}
