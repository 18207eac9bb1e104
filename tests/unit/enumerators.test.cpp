// SPDX-License-Identifier: MIT
// What kprof knows about an enumeration: names and values of its enumerators. Also compiled as a
// .cu file, because nvcc's front end prints values differently.
#include <kprof/op.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>

namespace {

std::string str(kprof::text_view t) { return {t.data, t.size}; }

/// "a=0 b=1": the enumerators of E.
template <class E>
std::string enumerators() {
  const kprof::detail::enum_desc& d = kprof::detail::describe_enum<E>();
  std::string out;
  for (std::uint32_t i = 0; i < d.size; ++i)
    out += (i == 0 ? "" : " ") + str(d.list[i].name) + "=" + std::to_string(d.list[i].value);
  return out;
}

}  // namespace

namespace demo {
enum class plain { red, green, blue };
enum class sparse : int {
  low = -1,
  zero = 0,
  seven = 7,
  sixty_three = 63,
  beyond = 64,
  far_below = -2
};
enum class byte_wide : std::uint8_t { a = 0, b = 1, z = 63 };
enum class narrow : std::int8_t { minus = -1, plus = 1 };
enum class huge : std::uint64_t { small_one = 1, large = ~std::uint64_t{0} };
enum class truth : bool { no, yes };
enum unscoped { first_one, second_one = 3, third_one };
enum unscoped_negative { below = -1, above = 1 };
enum unscoped_fixed : short { fixed_a = 2, fixed_b = -1 };
enum class aliases { one = 1, uno = 1, two = 2 };
enum class none_named {};
struct owner {
  enum class kind { inner_a, inner_b };
  enum old { old_a, old_b };
};
}  // namespace demo
namespace {
enum class secret { alpha, omega = 5 };
enum open_secret { open_a, open_b = 4 };
}  // namespace
enum class global_enum { here, there };

TEST_CASE("enumerators.have_their_names_and_values") {
  CHECK(enumerators<demo::plain>() == "red=0 green=1 blue=2");
  CHECK(enumerators<demo::sparse>() == "low=-1 zero=0 seven=7 sixty_three=63");
  CHECK(enumerators<demo::byte_wide>() == "a=0 b=1 z=63");
  CHECK(enumerators<demo::narrow>() == "minus=-1 plus=1");
  CHECK(enumerators<demo::huge>() == "small_one=1");
  CHECK(enumerators<demo::none_named>() == "");
  CHECK(enumerators<global_enum>() == "here=0 there=1");
  CHECK(enumerators<kprof::arithmetic_unit>() == "unknown=0 cuda_core=1 tensor_core=2");
  CHECK(str(kprof::detail::describe_enum<demo::plain>().name) == "plain");
}

TEST_CASE("enumerators.of_a_bool_are_named") { CHECK(enumerators<demo::truth>() == "no=0 yes=1"); }

TEST_CASE("enumerators.one_with_two_names_has_one_of_them") {
  const std::string list = enumerators<demo::aliases>();
  CHECK((list == "one=1 two=2" || list == "uno=1 two=2"));
}

TEST_CASE("enumerators.of_unscoped_enums_are_named") {
  CHECK(enumerators<demo::unscoped>() == "first_one=0 second_one=3 third_one=4");
  CHECK(enumerators<demo::unscoped_fixed>() == "fixed_b=-1 fixed_a=2");
  // The range of an enum without a fixed type is probed from 0: below it lies no value on every
  // compiler.
  const std::string negative = enumerators<demo::unscoped_negative>();
  CHECK((negative == "above=1" || negative == "below=-1 above=1"));
}

TEST_CASE("enumerators.of_classes_functions_and_anonymous_namespaces_are_named") {
  CHECK(enumerators<demo::owner::kind>() == "inner_a=0 inner_b=1");
  CHECK(enumerators<demo::owner::old>() == "old_a=0 old_b=1");
  CHECK(enumerators<secret>() == "alpha=0 omega=5");
  CHECK(enumerators<open_secret>() == "open_a=0 open_b=4");
  enum class local { here_a, here_b = 2 };
  CHECK(enumerators<local>() == "here_a=0 here_b=2");
}

TEST_CASE("enumerators.all_dtypes_are_named") {
  CHECK(
      enumerators<kprof::dtype>() ==
      "unknown=0 f64=1 f32=2 tf32=3 f16=4 bf16=5 fp8_e4m3=6 fp8_e5m2=7 fp6_e2m3=8 fp6_e3m2=9 "
      "fp4_e2m1=10 int64=11 int32=12 int16=13 "
      "int8=14 int4=15 uint64=16 uint32=17 uint16=18 uint8=19 uint4=20 boolean=21 c64=22 c128=23");
}
