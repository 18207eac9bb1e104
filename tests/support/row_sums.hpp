// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_ROW_SUMS_HPP
#define KPROF_TESTS_ROW_SUMS_HPP

// Checks that the rows of the operator table add up to the whole profile, whatever two keys make
// them and whatever two fields are folded.

#include "catch.hpp"

#include <kprof/model/check_grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/summary.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kprof_test {

inline kprof::grouping parsed_grouping(const std::string& text) {
  const kprof::parsed_grouping p = kprof::grouping::parse(text);
  INFO(text << ": " << p.error.message);
  REQUIRE(p.error);
  return p.value;
}

/// "op=Gemm M=4 K=n/a".
inline std::string text_of(const kprof::operator_row& row) {
  std::string out;
  for (const kprof::group_value& v : row.values)
    out += (out.empty() ? "" : " ") + v.key + '=' + (v.known ? v.text : "n/a");
  return out;
}

/// The names of at most so many fields of the profile's operators, those that a grouping can name.
inline std::vector<std::string> fields_of(const kprof::profile& p, std::size_t most) {
  std::vector<std::string> names = kprof::detail::field_names(p);
  names.resize(std::min(names.size(), most));
  std::erase_if(names, [](const std::string& n) { return !kprof::detail::is_field_path(n); });
  return names;
}

/// Every key that rows of the profile can be made by.
inline std::vector<std::string> keys_of(const kprof::profile& p, std::size_t most_fields) {
  std::vector<std::string> keys{"op",     "parameters", "pass",   "dtype",
                                "region", "layer",      "thread", "call_site"};
  if (!p.stepping.shares.empty()) keys.emplace_back("step");
  for (const std::string& name : fields_of(p, most_fields))
    keys.push_back(kprof::grouping::field(name).text());
  keys.emplace_back("field:nobody_has_it");
  return keys;
}

/// Counts that are the same whatever makes the rows.
struct row_counts {
  std::uint64_t calls = 0, captured = 0, replays = 0, open = 0, invalid = 0, kernels = 0,
                copies = 0;
  double self_ns = 0, open_ns = 0, device_ns = 0, total_ns = 0, flops = 0, bytes = 0;

  void add(const kprof::operator_row& row) {
    calls += row.calls, captured += row.captured, replays += row.replays, open += row.open;
    invalid += row.invalid_calls, kernels += row.kernels, copies += row.copies;
    self_ns += row.self_ns, open_ns += row.open_ns, device_ns += row.device_ns;
    total_ns += row.total_ns;
    if (row.flops.known()) flops += row.flops.value;
    if (row.bytes.known()) bytes += row.bytes.value;
  }
};

/// Which sums of a profile are exact.
struct sums_expected {
  /// What was handed over has its calls in the profile. Else what regions do below it is in a row
  /// only where other calls make that row.
  bool handed_over_whole = true;
  /// No call is inside another one, all parameters are kept and valid, and what threads share is
  /// whole. So FLOPs, bytes and times of calls add up too.
  bool flat = false;
  std::size_t most_fields = 1000;
};

class pair_checks {
 public:
  pair_checks(const kprof::profile& p, const sums_expected& expected)
      : p_(p),
        expected_(expected),
        keys_(keys_of(p, expected.most_fields)),
        fields_(fields_of(p, expected.most_fields)) {
    for (const kprof::operator_row& row : operator_table(p, kprof::grouping::nothing()))
      whole_.add(row);
    // The totals by another way: over the nodes.
    std::uint64_t calls = 0;
    row_counts of_nodes;
    for (const kprof::scope_node& n : p.nodes) {
      if (n.kind != kprof::scope_kind::op) continue;
      of_nodes.self_ns += n.self_ns;
      const bool shared = n.shared.parts > 0;
      if (shared && n.shared.part > 0) continue;  // part 0 tells of the calls
      calls += shared ? n.shared.calls : n.calls;
      of_nodes.total_ns += shared ? n.shared.elapsed_ns : n.total_ns;
      if (n.work.has_flops) of_nodes.flops += kprof::detail::all_flops(n);
      if (n.work.has_bytes) of_nodes.bytes += kprof::detail::all_bytes(n);
    }
    REQUIRE(whole_.calls == calls);
    if (!expected.flat) return;
    REQUIRE(whole_.flops == of_nodes.flops);
    REQUIRE(whole_.bytes == of_nodes.bytes);
    REQUIRE(whole_.total_ns == Approx(of_nodes.total_ns).epsilon(1e-12));
  }

  /// Every two keys, alone and with two fields folded; every two fields folded of the rows by
  /// parameters.
  void check_all() const {
    std::size_t turn = 0;
    for (std::size_t a = 0; a < keys_.size(); ++a)
      for (std::size_t b = a; b < keys_.size(); ++b) {
        const kprof::grouping by = parsed_grouping(keys_[a] + '+' + keys_[b]);
        check(by);
        if (!fields_.empty()) check(by.folding(two_fields(turn++)));
      }
    for (std::size_t a = 0; a < fields_.size(); ++a)
      for (std::size_t b = a; b < fields_.size(); ++b)
        check(kprof::grouping{}.folding({fields_[a], fields_[b]}));
  }

  void check(const kprof::grouping& by) const {
    INFO("by " << by.text() << ", folded " << (by.folded().empty() ? "" : by.folded()[0]));
    row_counts sum;
    std::set<std::string> seen;
    std::set<std::uint64_t> keys;
    std::size_t longest = 0, wrong = 0;
    const std::vector<kprof::operator_row> rows = operator_table(p_, by);
    const std::size_t values = by.keys().size();
    for (const kprof::operator_row& row : rows) {
      sum.add(row);
      const std::string text = text_of(row);
      longest = std::max(longest, text.size());
      seen.insert(text);
      keys.insert(row.key);
      wrong += row.values.size() == values && row.operators >= 1 &&
                       (row.operators == 1 || row.name.empty())
                   ? 0
                   : 1;
    }
    REQUIRE(wrong == 0);
    compare(sum, by);
    REQUIRE(keys.size() == rows.size());
    // Rows by parameters may read the same: an operator that is declared twice, merged calls.
    // A layer of more than 4,000 bytes is cut.
    if (!by.has(kprof::group_key::parameters) && longest < 4000)
      REQUIRE(seen.size() == rows.size());
  }

 private:
  void compare(const row_counts& sum, const kprof::grouping& by) const {
    REQUIRE(sum.calls == whole_.calls);
    REQUIRE(sum.captured == whole_.captured);
    REQUIRE(sum.replays == whole_.replays);
    REQUIRE(sum.open == whole_.open);
    REQUIRE(sum.invalid == whole_.invalid);
    REQUIRE(sum.kernels == whole_.kernels);
    REQUIRE(sum.copies == whole_.copies);
    REQUIRE(sum.open_ns == Approx(whole_.open_ns).margin(1e-3));
    // By thread, what regions do for an operator of another thread is in no row.
    const bool by_thread = by.has(kprof::group_key::thread);
    if (by_thread || !expected_.handed_over_whole)
      REQUIRE(sum.self_ns <= whole_.self_ns * (1 + 1e-9) + 1e-3);
    else REQUIRE(sum.self_ns == Approx(whole_.self_ns).margin(1e-3));
    if (!by_thread && expected_.handed_over_whole)
      REQUIRE(sum.device_ns == Approx(whole_.device_ns).margin(1e-3));
    if (!expected_.flat) return;
    REQUIRE(sum.flops == whole_.flops);
    REQUIRE(sum.bytes == whole_.bytes);
    REQUIRE(sum.total_ns == Approx(whole_.total_ns).epsilon(1e-12));
  }

  /// Other two for every turn, so that each field has its turns.
  std::vector<std::string> two_fields(std::size_t turn) const {
    return {fields_[turn % fields_.size()], fields_[(turn / 2 + 1) % fields_.size()]};
  }

  const kprof::profile& p_;
  sums_expected expected_;
  std::vector<std::string> keys_, fields_;
  row_counts whole_;
};

inline void check_pairs(const kprof::profile& p, const sums_expected& expected) {
  pair_checks(p, expected).check_all();
}

/// The same run in three steps: a half of each node's calls in the first, a third in the second,
/// the rest in none.
inline kprof::profile in_steps(kprof::profile p) {
  const std::uint32_t thread = 0;
  p.steps.clear();
  p.stepping = {};
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<std::int64_t>(i) * 1'000'000;
    p.steps.push_back({i, thread, true, begin, begin + 1'000'000});
  }
  kprof::thread_steps& sums = p.stepping.threads.emplace_back();
  sums.thread = thread;
  sums.count = 3;
  for (std::uint32_t step = 0; step < 2; ++step)
    for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
      const kprof::scope_node& n = p.nodes[i];
      const std::uint64_t calls = n.calls / (2 + step);
      if (calls == 0 || n.kind == kprof::scope_kind::root) continue;
      const double part = static_cast<double>(calls) / static_cast<double>(n.calls);
      p.stepping.shares.push_back({step, i, calls, part * n.total_ns, part * n.self_ns});
    }
  return p;
}

}  // namespace kprof_test

#endif
