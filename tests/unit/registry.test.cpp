// SPDX-License-Identifier: MIT
// The list that the compiler checks, and the list of what the process knows. Also compiled as a .cu
// file.
#include <kprof/registry.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

std::string str(kprof::text_view t) { return {t.data, t.size}; }

}  // namespace

namespace demo {

struct Gemm {
  std::int64_t m = 1, n = 1, k = 1;
};
struct Conv2d {
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  std::uint32_t groups = 1;
};
template <class T>
struct Cast {
  T scale;
};
struct Renamed {
  int n;
  static constexpr const char* name = "soft_max";
};
struct Guarded {
  int size;
};
struct GuardedInParts {
  int size;
};
struct EnrolledByCall {
  int size;
};
struct OnlyNamed {
  int size;
};

using ops = kprof::op_registry<Gemm, Conv2d, Cast<float>, Renamed>;
static_assert(ops::size == 4);
static_assert(ops::contains("Gemm") && ops::contains("Conv2d") && ops::contains("soft_max") &&
              ops::contains("Cast<float>"));
static_assert(!ops::contains("Renamed") && !ops::contains("Gem") && !ops::contains("Gemms") &&
              !ops::contains(""));
static_assert(ops::index_of("Gemm") == 0 && ops::index_of("soft_max") == 3 &&
              ops::index_of("gemm") == ops::npos);
static_assert(ops::has<Conv2d> && ops::has<Cast<float>> && !ops::has<Cast<double>> &&
              !ops::has<OnlyNamed>);
static_assert(kprof::op_registry<>::size == 0 && !kprof::op_registry<>::contains("Gemm"));

constexpr std::size_t bytes_of_all() {
  std::size_t bytes = 0;
  ops::for_each([&](auto op) { bytes += sizeof(typename decltype(op)::type); });
  return bytes;
}
static_assert(bytes_of_all() ==
              sizeof(Gemm) + sizeof(Conv2d) + sizeof(Cast<float>) + sizeof(Renamed));

using only_named = kprof::op_registry<OnlyNamed>;
static_assert(only_named::size == 1);

}  // namespace demo

template class kprof::op_registry<demo::Gemm, demo::Conv2d, demo::Cast<float>, demo::Renamed>;

namespace {

/// Never called: that the guard is compiled puts its operator on the list.
[[maybe_unused, gnu::used]] void guarded() { KPROF_OP(demo::Guarded, {.size = 1}); }
[[maybe_unused, gnu::used]] void guarded_in_parts(int part) {
  KPROF_PART(demo::GuardedInParts, {.size = 1}, part, 2);
}
// In a template too, which nvcc compiles in another way.
template <class Op>
void guarded_in_a_template(const Op& params) {
  KPROF_OP(Op, params);
  KPROF_PART(Op, params, 0U, std::size_t{2});
}
[[maybe_unused, gnu::used]] void guarded_by_a_template() { guarded_in_a_template(demo::Guarded{}); }
[[maybe_unused, gnu::used]] void enrolled() { kprof::op_registry<demo::EnrolledByCall>::enroll(); }

std::vector<std::string> listed() {
  std::vector<std::string> names;
  kprof::for_each_operator([&](kprof::operator_view op) { names.push_back(str(op.name())); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("registry.operators_are_visited_in_the_order_of_the_list") {
  std::vector<std::string> names;
  demo::ops::for_each(
      [&](auto op) { names.push_back(str(kprof::name_of<typename decltype(op)::type>())); });
  CHECK(names == std::vector<std::string>{"Gemm", "Conv2d", "Cast<float>", "soft_max"});
  kprof::op_registry<>::for_each([](auto) { FAIL("there is nothing to visit"); });
}

#if KPROF_ENABLE

TEST_CASE("registry.the_process_lists_each_operator_once") {
  CHECK(listed() == std::vector<std::string>{"Cast<float>", "Conv2d", "EnrolledByCall", "Gemm",
                                             "Guarded", "GuardedInParts", "soft_max"});
}

TEST_CASE("registry.a_listed_operator_shows_its_fields") {
  bool seen = false;
  kprof::for_each_operator([&](kprof::operator_view op) {
    if (str(op.name()) != "Conv2d") return;
    seen = true;
    CHECK(op.params_size() == sizeof(demo::Conv2d));
    REQUIRE(op.field_count() == 3);
    CHECK(str(op.field(0).name()) == "n");
    CHECK(op.field(0).kind() == kprof::detail::field_kind::signed_integer);
    CHECK(str(op.field(1).name()) == "type");
    CHECK(op.field(1).kind() == kprof::detail::field_kind::enumeration);
    CHECK(op.field(2).offset() == offsetof(demo::Conv2d, groups));
    CHECK(op.field(2).size() == 4);
    CHECK(op.field(2).extent() == 0);
    CHECK(op == op);
  });
  CHECK(seen);
}

TEST_CASE("registry.the_same_operator_of_another_binary_is_not_listed_again") {
  // What another binary's copy of the same declaration looks like: other addresses, equal contents.
  static const kprof::detail::op_desc copy = kprof::detail::op_desc_of<demo::Gemm>;
  static kprof::detail::op_node node{&copy, nullptr};
  const auto before = listed();
  node.next = kprof::detail::this_module.ops;
  kprof::detail::this_module.ops = &node;
  CHECK(listed() == before);
  // Of the same name, but with other fields, it is another operator.
  static kprof::detail::op_desc other = kprof::detail::op_desc_of<demo::Conv2d>;
  other.name = kprof::detail::op_desc_of<demo::Gemm>.name;
  static kprof::detail::op_node other_node{&other, &node};
  kprof::detail::this_module.ops = &other_node;
  const auto with_other = listed();
  CHECK(std::count(with_other.begin(), with_other.end(), "Gemm") == 2);
  kprof::detail::this_module.ops = node.next;
}

#else

TEST_CASE("registry.nothing_is_listed_when_kprof_is_compiled_out") { CHECK(listed().empty()); }

#endif
