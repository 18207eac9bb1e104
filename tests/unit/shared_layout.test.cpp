// SPDX-License-Identifier: MIT

// The list of what modules share has every member of every struct.

#include "catch.hpp"

#include <kprof/declare/reflect.hpp>
#include <kprof/session/shared_layout.hpp>

#include <cstddef>
#include <type_traits>

namespace {

namespace own = kprof::detail;

template <class T>
constexpr bool has_all() {
  std::size_t initialisers = 0;
  for (const own::shared_member& m : own::shared_layout<T>::members) initialisers += m.initialisers;
  // How many members a class has that is no aggregate, nothing tells.
  return !std::is_aggregate_v<T> || initialisers == own::count_initialisers<T>();
}

template <class List>
struct each;
template <class... T>
struct each<own::shared_structs<T...>> {
  static constexpr bool are_complete = (has_all<T>() && ...);
  static constexpr std::size_t count = sizeof...(T);
};
using all = each<own::all_shared_structs>;
static_assert(all::are_complete, "shared_layout.hpp lacks a member of a struct that modules share");

struct one_more {
  int first;
  int elements[3];
  int last;
};

}  // namespace

namespace kprof::detail {
template <>
struct shared_layout<one_more> {
  static constexpr shared_member members[] = {{0, 4, 1}, {4, 12, 3}};
};
}  // namespace kprof::detail

TEST_CASE("shared_layout.has_every_member") {
  CHECK(all::count > 30);
  CHECK_FALSE(has_all<one_more>());
}
