// SPDX-License-Identifier: MIT
// The list of all operators: every one is what the rest of kprof takes an operator to be.
#include <kprof/ops.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <set>
#include <string>

using kprof::ops::catalogue;

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
