// SPDX-License-Identifier: MIT
// What kprof knows about a parameter struct: names, offsets, sizes and kinds of its fields. Also
// compiled as a .cu file, because nvcc's front end prints types differently.
#include <kprof/op.hpp>

#include "catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using kprof::detail::field_desc;
using kprof::detail::field_kind;
using kprof::detail::struct_desc;

std::string str(kprof::text_view t) { return {t.data, t.size}; }

template <class T>
const struct_desc& described() {
  return kprof::detail::describe_struct<T>();
}

template <class T>
std::vector<std::string> field_names() {
  const struct_desc& d = described<T>();
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < d.field_count; ++i) out.push_back(str(d.fields[i].name));
  return out;
}

void check_field(const field_desc& f, const char* name, std::size_t offset, std::size_t size,
                 std::uint32_t extent, field_kind kind) {
  CAPTURE(name);
  CHECK(str(f.name) == name);
  CHECK(f.offset == offset);
  CHECK(f.size == size);
  CHECK(f.extent == extent);
  CHECK(f.kind == kind);
  CHECK((f.nested != nullptr) == (kind == field_kind::aggregate));
  CHECK((f.enumerators != nullptr) == (kind == field_kind::enumeration));
}

}  // namespace

namespace demo {

enum class layout : std::uint8_t { nchw, nhwc };
enum direction { forward, backward };

struct Size {
  std::int32_t height = 1;
  std::int32_t width = 2;
};

struct Everything {
  std::int8_t i8 = 1;
  std::int16_t i16 = 2;
  std::int32_t i32 = 3;
  std::int64_t i64 = 4;
  std::uint8_t u8 = 5;
  std::uint16_t u16 = 6;
  std::uint32_t u32 = 7;
  std::uint64_t u64 = 8;
  char letter = 'x';
  bool flag = true;
  float f32 = 1.5F;
  double f64 = 2.5;
  long double f80 = 3.5L;
  layout order = layout::nhwc;
  direction way = backward;
  kprof::dtype type = kprof::dtype::bf16;
  std::array<std::int64_t, 4> shape{};
  std::array<std::array<float, 3>, 2> matrix{};
  std::array<char, 1> one{};
  kprof::fixed_string<11> label = "conv";
  Size size;
  std::array<Size, 3> sizes{};
  const int constant = 9;
};

}  // namespace demo

TEST_CASE("reflect.every_supported_type_of_field_is_described") {
  using demo::Everything;
  const struct_desc& d = described<Everything>();
  CHECK(str(d.name) == "Everything");
  CHECK(d.size == sizeof(Everything));
  REQUIRE(d.field_count == 23);
  std::size_t i = 0;
#define FIELD(name, extent, kind)                                                                \
  check_field(d.fields[i++], #name, offsetof(Everything, name), element_size(Everything{}.name), \
              extent, field_kind::kind)
  const auto element_size = [](const auto& value) {
    if constexpr (requires { value[0][0]; }) return sizeof(value[0][0]);
    else if constexpr (requires { value[0]; }) return sizeof(value[0]);
    else return sizeof(value);
  };
  FIELD(i8, 0, signed_integer);
  FIELD(i16, 0, signed_integer);
  FIELD(i32, 0, signed_integer);
  FIELD(i64, 0, signed_integer);
  FIELD(u8, 0, unsigned_integer);
  FIELD(u16, 0, unsigned_integer);
  FIELD(u32, 0, unsigned_integer);
  FIELD(u64, 0, unsigned_integer);
  CHECK(str(d.fields[i++].name) == "letter");  // signed or not: the machine's choice
  FIELD(flag, 0, boolean);
  FIELD(f32, 0, floating);
  FIELD(f64, 0, floating);
  FIELD(f80, 0, floating);
  FIELD(order, 0, enumeration);
  FIELD(way, 0, enumeration);
  FIELD(type, 0, enumeration);
  FIELD(shape, 4, signed_integer);
  FIELD(matrix, 6, floating);
  CHECK(str(d.fields[i].name) == "one");
  CHECK(d.fields[i++].extent == 1);
  FIELD(label, 0, string);
  FIELD(size, 0, aggregate);
  FIELD(sizes, 3, aggregate);
  FIELD(constant, 0, signed_integer);
#undef FIELD
  const struct_desc* nested = d.fields[20].nested;
  REQUIRE(nested != nullptr);
  CHECK(d.fields[21].nested == nested);
  CHECK(str(nested->name) == "Size");
  REQUIRE(nested->field_count == 2);
  check_field(nested->fields[0], "height", 0, 4, 0, field_kind::signed_integer);
  check_field(nested->fields[1], "width", 4, 4, 0, field_kind::signed_integer);
}

namespace demo {
struct Aligned {
  char first = 0;
  alignas(64) std::int32_t second = 0;
  char third = 0;
  alignas(16) std::array<char, 3> fourth{};
  char fifth = 0;
};
}  // namespace demo

TEST_CASE("reflect.offsets_of_over_aligned_members_are_measured") {
  const struct_desc& d = described<demo::Aligned>();
  REQUIRE(d.field_count == 5);
  CHECK(d.size == 128);
  CHECK(d.fields[0].offset == 0);
  CHECK(d.fields[1].offset == 64);
  CHECK(d.fields[2].offset == 68);
  CHECK(d.fields[3].offset == 80);
  CHECK(d.fields[4].offset == 83);
}

namespace {
struct Hidden {
  int inside;
  float anonymous;
};
struct HiddenOuter {
  Hidden hidden;
  int after;
};
}  // namespace

TEST_CASE("reflect.structs_of_an_anonymous_namespace_have_names") {
  CHECK(field_names<Hidden>() == std::vector<std::string>{"inside", "anonymous"});
  CHECK(str(described<Hidden>().name) == "Hidden");
  CHECK(field_names<HiddenOuter>() == std::vector<std::string>{"hidden", "after"});
}

TEST_CASE("reflect.structs_of_a_function_have_names") {
  struct Local {
    int value;
    std::array<int, 2> pair;
  };
  CHECK(field_names<Local>() == std::vector<std::string>{"value", "pair"});
  CHECK(str(described<Local>().name) == "Local");
}

namespace demo {
template <class T, int N>
struct Tile {
  T alpha;
  std::array<int, N> shape;
};
struct Enclosing {
  struct Inner {
    int deep;
  };
};
struct Wide {
  int a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8, c1, c2, c3, c4, c5, c6, c7,
      c8, d1, d2, d3, d4, d5, d6, d7, d8;
};
struct Nothing {};
struct One {
  std::int64_t n = 0;
};
struct OneStruct {
  Size size;
};
struct OneArray {
  std::array<float, 5> values;
};
struct WithEmpty {
  int before;
  Nothing nothing;
  int after;
};
// A field may be called what a piece of an operator is called.
struct Confusing {
  int name;
  int fields;
  int value;
  int pointer;
  int T;
};
}  // namespace demo

TEST_CASE("reflect.templates_and_nested_types_have_names") {
  CHECK(field_names<demo::Tile<float, 2>>() == std::vector<std::string>{"alpha", "shape"});
  CHECK(str(described<demo::Tile<float, 2>>().name) == "Tile<float, 2>");
  CHECK(str(described<demo::Enclosing::Inner>().name) == "Inner");
  CHECK(field_names<demo::Enclosing::Inner>() == std::vector<std::string>{"deep"});
  CHECK(field_names<demo::Confusing>() ==
        std::vector<std::string>{"name", "fields", "value", "pointer", "T"});
}

TEST_CASE("reflect.thirty_two_fields_are_told_apart") {
  const struct_desc& d = described<demo::Wide>();
  REQUIRE(d.field_count == 32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::string name = {static_cast<char>('a' + i / 8), static_cast<char>('1' + i % 8)};
    check_field(d.fields[i], name.c_str(), i * sizeof(int), sizeof(int), 0,
                field_kind::signed_integer);
  }
}

TEST_CASE("reflect.structs_of_no_or_one_field_are_counted") {
  CHECK(described<demo::Nothing>().field_count == 0);
  CHECK(kprof::detail::op_desc_of<demo::Nothing>.params_size == 0);
  CHECK(field_names<demo::One>() == std::vector<std::string>{"n"});
  CHECK(kprof::detail::op_desc_of<demo::One>.params_size == 8);
  CHECK(field_names<demo::OneStruct>() == std::vector<std::string>{"size"});
  CHECK(field_names<demo::OneArray>() == std::vector<std::string>{"values"});
  CHECK(field_names<demo::WithEmpty>() == std::vector<std::string>{"before", "nothing", "after"});
  CHECK(described<demo::WithEmpty>().fields[2].offset == offsetof(demo::WithEmpty, after));
}

namespace demo {
struct Renamed {
  int m;
  int n;
  static constexpr const char* field_names[] = {"rows", "columns"};
};

struct Base {
  int inherited = 1;
};
struct Listed : Base {
  int first = 2;
  float* data = nullptr;
  char text[16] = {};
  std::array<int, 2> last{};
  using fields = kprof::members<&Listed::last, &Listed::first>;
};

// A vendor's descriptor: pointers, C arrays, a base, and no way to change it.
struct vendor_base {
  int version = 3;
};
struct vendor_conv : vendor_base {
  const float* weights = nullptr;
  int dims[4] = {1, 2, 3, 4};
  double alpha = 1;
  std::int64_t batch = 8;
};
struct vendor_renamed {
  int a;
  void* b;
};
}  // namespace demo

template <>
struct kprof::op_traits<demo::vendor_conv> {
  using fields =
      members<&demo::vendor_conv::batch, &demo::vendor_conv::alpha, &demo::vendor_conv::version>;
};
template <>
struct kprof::op_traits<demo::vendor_renamed> {
  using fields = members<&demo::vendor_renamed::a>;
  static constexpr const char* field_names[] = {"renamed"};
};

TEST_CASE("reflect.field_names_replace_what_the_compiler_prints") {
  CHECK(field_names<demo::Renamed>() == std::vector<std::string>{"rows", "columns"});
  CHECK(described<demo::Renamed>().field_count == 2);
}

TEST_CASE("reflect.listed_members_are_the_fields_in_that_order") {
  static_assert(kprof::detail::check_operator<demo::Listed>());
  const struct_desc& d = described<demo::Listed>();
  const demo::Listed object{};
  const auto offset = [&](const auto& member) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&member) -
                                    reinterpret_cast<const char*>(&object));
  };
  REQUIRE(d.field_count == 2);
  check_field(d.fields[0], "last", offset(object.last), 4, 2, field_kind::signed_integer);
  check_field(d.fields[1], "first", offset(object.first), 4, 0, field_kind::signed_integer);
  CHECK(d.size == sizeof(demo::Listed));
}

TEST_CASE("reflect.a_foreign_struct_with_pointers_and_c_arrays_lists_its_fields") {
  static_assert(kprof::detail::check_operator<demo::vendor_conv>());
  const struct_desc& d = described<demo::vendor_conv>();
  const demo::vendor_conv object{};
  const auto offset = [&](const auto& member) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&member) -
                                    reinterpret_cast<const char*>(&object));
  };
  REQUIRE(d.field_count == 3);
  check_field(d.fields[0], "batch", offset(object.batch), 8, 0, field_kind::signed_integer);
  check_field(d.fields[1], "alpha", offset(object.alpha), 8, 0, field_kind::floating);
  check_field(d.fields[2], "version", offset(object.version), 4, 0, field_kind::signed_integer);
  CHECK(field_names<demo::vendor_renamed>() == std::vector<std::string>{"renamed"});
}
