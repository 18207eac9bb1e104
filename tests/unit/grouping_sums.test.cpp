// SPDX-License-Identifier: MIT
// needs: guards

// Rows add up to the whole, whatever makes them.

#include "catch.hpp"

#include "ten_profiles.hpp"

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using kprof::group_key;
using kprof::group_value;
using kprof::grouping;
using kprof::operator_row;
using kprof::profile;

namespace {

grouping parsed(const char* text) {
  const kprof::parsed_grouping p = grouping::parse(text);
  INFO(text << ": " << p.error.message);
  REQUIRE(p.error);
  return p.value;
}
/// "op=Gemm M=4 K=n/a".
std::string text_of(const operator_row& row) {
  std::string out;
  for (const group_value& v : row.values)
    out += (out.empty() ? "" : " ") + v.key + '=' + (v.known ? v.text : "n/a");
  return out;
}
std::vector<std::string> keys_of(const profile& p) {
  std::vector<std::string> keys{"op",     "parameters", "pass",   "dtype",
                                "region", "layer",      "thread", "call_site"};
  std::vector<std::string> names = kprof::detail::field_names(p);
  names.resize(std::min<std::size_t>(names.size(), 4));
  for (std::string& name : names)
    if (kprof::detail::is_field_path(name)) keys.push_back(grouping::field(name).text());
  keys.emplace_back("field:nobody_has_it");
  return keys;
}

/// Counts that are the same whatever makes the rows.
struct counts {
  std::uint64_t calls = 0, captured = 0, replays = 0, open = 0, invalid = 0, kernels = 0,
                copies = 0;
  double self_ns = 0, open_ns = 0, device_ns = 0;

  void add(const operator_row& row) {
    calls += row.calls, captured += row.captured, replays += row.replays, open += row.open;
    invalid += row.invalid_calls, kernels += row.kernels, copies += row.copies;
    self_ns += row.self_ns, open_ns += row.open_ns, device_ns += row.device_ns;
  }
};

/// `handed_over_whole`: what was handed over has its calls in the profile. Else what regions do
/// below it is in a row only where other calls make that row.
void check_sums(const profile& p, const grouping& by, const counts& whole, bool handed_over_whole) {
  counts sum;
  std::set<std::string> seen;
  std::set<std::uint64_t> keys;
  std::size_t longest = 0;
  const std::vector<operator_row> rows = operator_table(p, by);
  for (const operator_row& row : rows) {
    sum.add(row);
    seen.insert(text_of(row));
    longest = std::max(longest, text_of(row).size());
    keys.insert(row.key);
    REQUIRE(row.values.size() == by.keys().size());
    REQUIRE(row.operators >= 1);
    REQUIRE((row.operators == 1 || row.name.empty()));
  }
  INFO("by " << by.text() << ", folded " << by.folded().size());
  REQUIRE(sum.calls == whole.calls);
  REQUIRE(sum.captured == whole.captured);
  REQUIRE(sum.replays == whole.replays);
  REQUIRE(sum.open == whole.open);
  REQUIRE(sum.invalid == whole.invalid);
  REQUIRE(sum.kernels == whole.kernels);
  REQUIRE(sum.copies == whole.copies);
  REQUIRE(sum.open_ns == Approx(whole.open_ns).margin(1e-3));
  // By thread, what regions do for an operator of another thread is in no row.
  if (by.has(group_key::thread) || !handed_over_whole)
    REQUIRE(sum.self_ns <= whole.self_ns * (1 + 1e-9) + 1e-3);
  else REQUIRE(sum.self_ns == Approx(whole.self_ns).margin(1e-3));
  if (!by.has(group_key::thread) && handed_over_whole)
    REQUIRE(sum.device_ns == Approx(whole.device_ns).margin(1e-3));
  REQUIRE(keys.size() == rows.size());
  // Rows by parameters may read the same: an operator that is declared twice, merged calls.
  // A layer of more than 4,000 bytes is cut.
  if (!by.has(group_key::parameters) && longest < 4000) REQUIRE(seen.size() == rows.size());
}

void check_pairs(const profile& p, bool handed_over_whole) {
  counts whole;
  const std::vector<operator_row> total = operator_table(p, grouping::nothing());
  REQUIRE(total.size() <= 1);
  for (const operator_row& row : total) whole.add(row);
  std::uint64_t calls = 0;
  for (const kprof::scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::op) calls += n.calls;
  REQUIRE(whole.calls == calls);
  const std::vector<std::string> keys = keys_of(p);
  std::vector<std::string> folded = kprof::detail::field_names(p);
  folded.resize(std::min<std::size_t>(folded.size(), 2));
  for (std::size_t a = 0; a < keys.size(); ++a)
    for (std::size_t b = a; b < keys.size(); ++b) {
      const grouping by = parsed((keys[a] + '+' + keys[b]).c_str());
      check_sums(p, by, whole, handed_over_whole);
      check_sums(p, by.folding(folded), whole, handed_over_whole);
    }
}

}  // namespace

TEST_CASE("grouping_sums.rows_add_up_for_every_two_keys") {
  for (const auto& [name, run] : kprof_test::ten_profiles()) {
    INFO(name);
    check_pairs(run, name.find("random") == std::string::npos);
  }
  for (unsigned seed = 0; seed < 5; ++seed) {
    INFO("seed " << seed);
    check_pairs(kprof_test::random_profile(seed), false);
    check_pairs(kprof_test::random_device_profile(100 + seed), false);
  }
}

TEST_CASE("grouping_sums.kernels_add_up_for_every_two_keys") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    std::uint64_t runs = 0;
    for (const kprof::device_work& w : p.device.work)
      if (w.task == kprof::device_task::kernel) runs += w.calls;
    const std::vector<std::string> keys = keys_of(p);
    for (std::size_t a = 0; a < keys.size(); ++a)
      for (std::size_t b = a; b < keys.size(); ++b) {
        const grouping by = parsed((keys[a] + '+' + keys[b]).c_str());
        std::uint64_t sum = 0;
        std::set<std::uint64_t> row_keys;
        const auto rows = kernel_table(p, by);
        for (const kprof::kernel_row& row : rows) {
          sum += row.calls;
          row_keys.insert(row.key);
          REQUIRE(row.values.size() == by.keys().size());
        }
        INFO("seed " << seed << " by " << by.text());
        REQUIRE(sum == runs);
        REQUIRE(row_keys.size() == rows.size());
      }
  }
}

TEST_CASE("grouping_sums.more_keys_than_a_key_has_parts_make_the_same_rows") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    const grouping six = parsed("op+pass+dtype+region+layer+thread");
    const grouping many = parsed(
        "op+pass+dtype+region+layer+thread+field:x+field:y+field:z+call_site"
        "+field:a+field:b+field:c+parameters");
    CHECK(operator_table(p, many).size() ==
          operator_table(p, grouping(grouping::parameters) + six + grouping::call_site).size());
    CHECK(operator_table(p, six + grouping::field("nobody_has_it")).size() ==
          operator_table(p, six).size());
  }
}
