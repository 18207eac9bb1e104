// SPDX-License-Identifier: MIT
// needs: guards
// Guards in all the places they may stand in, and in those they may not.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"

#include <coroutine>
#include <set>
#include <string>
#include <string_view>

namespace {

struct Op {
  int k = 0;
  int l = 0;
};
struct Deep {
  int level = 0;
};

template <class T>
void in_a_template(T k) {
  KPROF_OP(Op, {static_cast<int>(k), 1});
}
void in_noexcept() noexcept { KPROF_OP(Op, {5}); }
inline void in_inline() { KPROF_OP(Op, {6}); }

void recurse(int level) {
  KPROF_OP(Deep, {level % 2});
  if (level > 0) recurse(level - 1);
}

// A generator whose body runs under a guard while it is resumed on one thread.
struct generator {
  struct promise_type {
    generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
    std::suspend_always yield_value(int) { return {}; }
  };
  std::coroutine_handle<promise_type> handle;
};
generator steps() {
  for (int i = 0; i < 3; ++i) {
    { KPROF_OP(Op, {i, 77}); }
    co_yield i;
  }
}
generator around_a_yield() {
  KPROF_REGION("suspended");
  co_yield 1;
}

}  // namespace

TEST_CASE("guard.takes_an_lvalue_a_braced_list_or_nothing") {
  REQUIRE(kprof::start());
  const Op named{1, 2};
  { KPROF_OP(Op, named); }
  { KPROF_OP(Op, {.k = 3, .l = 4}); }
  { KPROF_OP(Op, {5}); }
  { KPROF_OP(Op); }
  { KPROF_OP(Op, Op{7, 8}); }
  { kprof::op_guard guard{named}; }
  { kprof::op_guard<Op> guard{Op{9}}; }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Op k=1 l=2") == 2);
  CHECK(calls(p, "Op k=3 l=4") == 1);
  CHECK(calls(p, "Op k=5 l=0") == 1);
  CHECK(calls(p, "Op k=0 l=0") == 1);
  CHECK(calls(p, "Op k=7 l=8") == 1);
  CHECK(calls(p, "Op k=9 l=0") == 1);
}

TEST_CASE("guard.stands_in_templates_lambdas_and_inline_functions") {
  REQUIRE(kprof::start());
  in_a_template(1);
  in_a_template(2L);
  in_a_template('\3');
  in_noexcept();
  in_inline();
  const auto [a, b] = std::pair{10, 11};
  {
    KPROF_OP(Op, {a, b});  // structured bindings may be arguments
    [](int k) { KPROF_OP(Op, {k}); }(12);
  }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "Op k=1 l=1") == 1);
  CHECK(calls(p, "Op k=2 l=1") == 1);
  CHECK(calls(p, "Op k=3 l=1") == 1);
  CHECK(calls(p, "Op k=5 l=0") == 1);
  CHECK(calls(p, "Op k=6 l=0") == 1);
  CHECK(calls(p, "Op k=10 l=11/Op k=12 l=0") == 1);
}

TEST_CASE("guard.several_in_one_block_nest") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("a");
    KPROF_REGION("b");
    KPROF_OP(Op, {1});
    KPROF_OP(Op, {1});
  }
  CHECK(calls(kprof::snapshot(), "a/b/Op k=1 l=0/Op k=1 l=0") == 1);
}

TEST_CASE("guard.stands_in_a_coroutine_that_does_not_migrate") {
  REQUIRE(kprof::start());
  generator g = steps();
  {
    KPROF_REGION("driver");
    while (!g.handle.done()) g.handle.resume();
  }
  g.handle.destroy();
  const kprof::profile p = kprof::snapshot();
  for (int i = 0; i < 3; ++i) CHECK(calls(p, "driver/Op k=" + std::to_string(i) + " l=77") == 1);
}

TEST_CASE("guard.a_coroutine_suspended_inside_a_guard_leaves_a_well_formed_tree") {
  REQUIRE(kprof::start());
  generator g = around_a_yield();
  {
    KPROF_REGION("driver");
    g.handle.resume();
  }
  g.handle.destroy();
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "driver") == 1);
  CHECK(calls(p, "driver/suspended") == 1);
  CHECK(p.complete.closed_by_parent == 1);
  CHECK(p.complete.closed_elsewhere == 1);
  CHECK(p.complete.open == 0);
}

TEST_CASE("guard.region_names_are_copied_from_anything_textual") {
  REQUIRE(kprof::start());
  { KPROF_REGION("literal"); }
  {
    std::string dynamic = "dynamic";
    KPROF_REGION(dynamic);
    dynamic = "changed";
  }
  { KPROF_REGION(std::string_view("view of more").substr(0, 4)); }
  { KPROF_REGION(std::string("temporary")); }
  { KPROF_REGION(""); }
  { KPROF_REGION(std::string_view{}); }
  {
    const char* none = nullptr;
    KPROF_REGION(none);
  }
  { kprof::region_guard guard{"guarded"}; }
  const kprof::profile p = kprof::snapshot();
  for (const char* name : {"literal", "dynamic", "view", "temporary", "(null)", "guarded"}) {
    INFO(name);
    CHECK(calls(p, name) == 1);
  }
  CHECK(calls(p, "changed") == 0);
  CHECK(p.complete.recorded == 8);
}

TEST_CASE("guard.long_names_are_kept_apart_and_short") {
  REQUIRE(kprof::start());
  std::string a(10'000, 'x'), b = a;
  b.back() = 'y';
  { KPROF_REGION(a); }
  { KPROF_REGION(b); }
  { KPROF_REGION(a); }
  { KPROF_REGION(std::string("\"\n\xFF\xC3\x28\0end", 9)); }
  const kprof::profile p = kprof::snapshot();
  std::set<std::string> long_names;
  for (const kprof::scope_node& n : p.nodes)
    if (n.name.size() > 100) {
      long_names.insert(n.name);
      CHECK(n.name.size() == 1000);
      CHECK(n.name.substr(0, 900) == std::string(900, 'x'));
    }
  CHECK(long_names.size() == 2);
  CHECK(calls(p, std::string("\"\n\xFF\xC3\x28\0end", 9)) == 1);
}

#if defined(__cpp_exceptions)
TEST_CASE("guard.closes_when_an_exception_passes") {
  REQUIRE(kprof::start());
  const auto thrower = [](int k) {
    KPROF_OP(Op, {k});
    throw k;
  };
  for (int i = 0; i < 3; ++i) {
    try {
      KPROF_REGION("try");
      thrower(i);
    } catch (int) {}
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "try") == 3);
  CHECK(calls(p, "try/Op k=2 l=0") == 1);
  CHECK(p.complete.open == 0);
}

TEST_CASE("guard.an_argument_that_throws_leaves_no_scope") {
  REQUIRE(kprof::start());
  const auto fails = []() -> int { throw 1; };
  try {
    KPROF_OP(Op, {fails()});
  } catch (int) {}
  { KPROF_OP(Op, {4}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.recorded == 1);
  CHECK(p.complete.open == 0);
}
#endif

TEST_CASE("guard.an_argument_may_open_scopes_of_its_own") {
  REQUIRE(kprof::start());
  const auto computes = [] {
    KPROF_REGION("argument");
    return 3;
  };
  { KPROF_OP(Op, {computes()}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "argument") == 1);
  CHECK(calls(p, "Op k=3 l=0") == 1);
}

TEST_CASE("guard.recursion_deeper_than_the_log_drops_and_says_so") {
  REQUIRE(kprof::start());
  recurse(20'000);
  { KPROF_OP(Op, {1}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.dropped > 0);
  CHECK(p.complete.recorded + p.complete.dropped == 20'002);
  CHECK(p.complete.open == 0);
  CHECK(p.complete.closed_by_parent == 0);
  CHECK(calls(p, "Op k=1 l=0") == 1);
}

TEST_CASE("guard.moderate_recursion_is_exact") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 50; ++i) recurse(1000);
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.recorded == 50 * 1001);
  CHECK(p.complete.dropped == 0);
}
