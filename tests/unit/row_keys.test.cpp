// SPDX-License-Identifier: MIT

// Keys of rows: the same in every run, whatever the order of threads, operators and nodes.

#include "catch.hpp"

#include "device_profiles.hpp"
#include "groupings.hpp"

#include <kprof/tables.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

using kprof::grouping;
using kprof::profile;
using kprof::row_key_text;
using kprof::scope_node;

namespace {

const auto all_groupings = kprof_test::finer_and_finer();

/// The same run with operators, threads and siblings in another order.
profile reordered(const profile& p, unsigned seed) {
  std::mt19937 random(seed);
  profile out = p;
  std::reverse(out.operators.begin(), out.operators.end());
  std::reverse(out.threads.begin(), out.threads.end());
  std::vector<std::uint32_t> place(p.nodes.size());
  std::vector<std::uint32_t> ready, order;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].parent == scope_node::none) ready.push_back(i);
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const std::uint32_t at = ready.back();
    ready.pop_back();
    place[at] = static_cast<std::uint32_t>(order.size());
    order.push_back(at);
    for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
      if (p.nodes[i].parent == at) ready.push_back(i);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    scope_node& n = out.nodes[i] = p.nodes[order[i]];
    if (n.parent != scope_node::none) n.parent = place[n.parent];
    if (n.op != scope_node::none) n.op = static_cast<std::uint32_t>(p.operators.size() - 1 - n.op);
    n.thread = static_cast<std::uint32_t>(p.threads.size() - 1 - n.thread);
  }
  for (kprof::device_work& w : out.device.work)
    if (w.scope < place.size()) w.scope = place[w.scope];
  return out;
}

template <class Row>
std::vector<std::uint64_t> sorted_keys(const std::vector<Row>& rows) {
  std::vector<std::uint64_t> keys;
  for (const Row& row : rows) keys.push_back(row.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool differ(const std::vector<std::uint64_t>& sorted) {
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

TEST_CASE("row_keys.are_those_of_yesterday") {
  // A key that changes breaks what people wrote down; raise the version in key_hash then.
  const profile p = kprof_test::transformer_profile();
  CHECK(row_key_text(kprof::operator_table(p)[0].key) == "742e1a820cde2b18");
  CHECK(row_key_text(kprof::call_tree(p)[0].key) == "d5c7b16fd2059f7e");
  CHECK(row_key_text(kprof::kernel_table(p)[0].key) == "fbafe9e11ca11c51");
}

TEST_CASE("row_keys.do_not_depend_on_the_order_of_a_run") {
  for (const profile& p : {kprof_test::transformer_profile(), kprof_test::sample_profile(),
                           kprof_test::troubled_device_profile()})
    for (unsigned seed = 0; seed < 5; ++seed) {
      const profile other = reordered(p, seed);
      for (const grouping& by : all_groupings) {
        CHECK(sorted_keys(operator_table(p, by)) == sorted_keys(operator_table(other, by)));
        CHECK(sorted_keys(kernel_table(p, by)) == sorted_keys(kernel_table(other, by)));
      }
      for (const bool apart : {false, true})
        CHECK(sorted_keys(call_tree(p, apart)) == sorted_keys(call_tree(other, apart)));
    }
}

TEST_CASE("row_keys.differ_within_a_table") {
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 40;
#else
  constexpr unsigned seeds = 200;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    INFO("seed " << seed);
    for (const grouping& by : all_groupings) {
      REQUIRE(differ(sorted_keys(operator_table(p, by))));
      REQUIRE(differ(sorted_keys(kernel_table(p, by))));
    }
    for (const bool apart : {false, true}) REQUIRE(differ(sorted_keys(call_tree(p, apart))));
  }
  kprof_test::profile_builder twins;  // two threads of one name
  for (std::uint64_t id = 1; id <= 2; ++id)
    twins.calls(twins.op(twins.thread("worker", id), "Gemm", "n=1"), 1, 10);
  CHECK(differ(sorted_keys(operator_table(twins.done(), kprof_test::by_thread()))));
}

TEST_CASE("row_keys.change_with_all_that_makes_a_row") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1), region = b.region(main, "region");
  b.calls(b.op(main, "Gemm", "n=1"), 1, 1);
  const profile one = b.done();
  std::set<std::uint64_t> keys;
  const auto add = [&](const profile& p) {
    for (const grouping& by : {kprof_test::by_call_site(), kprof_test::by_thread()})
      for (const auto& row : operator_table(p, by)) keys.insert(row.key);
    for (const auto& row : call_tree(p))
      if (row.kind == kprof::scope_kind::op) keys.insert(row.key);
  };
  const auto with = [&](auto change) {
    profile p = one;
    change(p, p.nodes.back());
    const std::size_t before = keys.size();
    add(p);
    return keys.size() - before;
  };
  add(one);
  CHECK(keys.size() == 3);
  CHECK(with([](profile&, scope_node&) {}) == 0);
  CHECK(with([](profile&, scope_node& n) { n.values.packed[0] = 2; }) == 3);
  CHECK(with([](profile&, scope_node& n) { n.merged = true; }) == 3);
  CHECK(with([](profile& p, scope_node&) { p.operators[0].declared_name = "Gemv"; }) == 3);
  CHECK(with([](profile& p, scope_node&) { p.operators[0].fields[0].name = "m"; }) == 3);
  CHECK(with([](profile&, scope_node& n) { n.file = "a.cpp"; }) == 2);
  CHECK(with([](profile&, scope_node& n) { n.file = "a.cpp", n.line = 7; }) == 2);
  CHECK(with([](profile& p, scope_node&) { p.threads[0].name = "other"; }) == 1);
  CHECK(with([&](profile&, scope_node& n) { n.parent = region; }) == 1);
  // What is no part of a row: numbers of threads and the name with a number.
  CHECK(with([](profile& p, scope_node&) { p.threads[0].id = 77; }) == 0);
  CHECK(with([](profile& p, scope_node& n) { n.name = p.operators[0].name = "Gemm (2)"; }) == 0);
}

TEST_CASE("row_keys.a_million_calls_have_a_million_keys") {
  profile p;
  p.operators.resize(1);
  const kprof::detail::profile_keys keys(p);
  scope_node n;
  n.kind = kprof::scope_kind::op;
  n.op = 0;
  n.values.packed.resize(24);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {  // small numbers in three fields, as shapes are
    const std::uint64_t shape[] = {i % 100, i / 100 % 100, i / 10'000};
    std::memcpy(n.values.packed.data(), shape, sizeof shape);
    all.push_back(keys.call(n).value());
  }
  std::sort(all.begin(), all.end());
  CHECK(differ(all));
}
