// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_MATCHED_ROWS_HPP
#define KPROF_MODEL_COMPARE_MATCHED_ROWS_HPP

// Finds the rows of one key in all runs. Included by compare.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/compared_run.hpp>
#include <kprof/model/figure.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The rows of one key.
struct matched_row {
  std::uint64_t key = 0;
  std::vector<const compared_row*> of;  ///< by run; null where a run has none
  double before_share = 0, after_share = 0;

  const compared_row& any() const {
    return **std::find_if(of.begin(), of.end(), [](const compared_row* row) { return row; });
  }
  bool is_in_any(std::size_t from, std::size_t to) const {
    for (; from < to; ++from)
      if (of[from] != nullptr) return true;
    return false;
  }
  bool is_in_all() const { return std::find(of.begin(), of.end(), nullptr) == of.end(); }
  /// Whether the row has fewer calls in any run that it is in.
  bool has_fewer_calls(std::uint64_t calls) const {
    return std::any_of(of.begin(), of.end(), [&](const compared_row* row) {
      return row != nullptr && row->calls < calls;
    });
  }
  /// Whether a call's time is known in all runs, and is the device's in all or in none.
  bool is_comparable() const {
    return std::all_of(of.begin(), of.end(), [&](const compared_row* row) {
      return row->on_device == of[0]->on_device && row->call_ns.known() && row->mean_ns.known() &&
             row->call_ns.value > 0 && row->mean_ns.value > 0;
    });
  }
  double largest_share() const { return std::max(before_share, after_share); }

  /// Over runs from `from` to before `to`; a run without the row counts as 0.
  double mean(std::size_t from, std::size_t to, double compared_row::*member) const {
    double sum = 0;
    for (std::size_t r = from; r < to; ++r)
      if (of[r] != nullptr) sum += of[r]->*member;
    return sum / static_cast<double>(to - from);
  }
  std::uint64_t calls(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t r = from; r < to; ++r) sum += static_cast<double>(of[r]->calls);
    return static_cast<std::uint64_t>(std::llround(sum / static_cast<double>(to - from)));
  }
  std::vector<double> logarithms(figure compared_row::*member) const {
    std::vector<double> out;
    for (const compared_row* row : of) out.push_back(std::log((row->*member).value));
    return out;
  }
  /// Whether any run of one side says something else of a call's work than the first of the other.
  bool work_differs(std::size_t split) const {
    const auto differs = [](const figure& a, const figure& b) {
      return a.known() && b.known() && std::fabs(a.value - b.value) > 1e-9 * std::fabs(a.value);
    };
    return std::any_of(
        of.begin() + static_cast<std::ptrdiff_t>(split), of.end(), [&](const compared_row* row) {
          return differs(of[0]->flops, row->flops) || differs(of[0]->bytes, row->bytes);
        });
  }
};

/// A row for each key that any run has, in the order of the keys.
[[gnu::cold]] inline std::vector<matched_row> match_rows(
    const std::vector<const compared_run*>& runs) {
  struct place {
    std::uint64_t key = 0;
    std::size_t run = 0;
    const compared_row* row = nullptr;
  };
  std::vector<place> all;
  for (std::size_t r = 0; r < runs.size(); ++r)
    for (const compared_row& row : runs[r]->rows) all.push_back({row.key, r, &row});
  std::sort(all.begin(), all.end(), [](const place& a, const place& b) {
    return std::tie(a.key, a.run) < std::tie(b.key, b.run);
  });
  std::vector<matched_row> out;
  for (const place& at : all) {
    if (out.empty() || out.back().key != at.key)
      out.push_back({at.key, std::vector<const compared_row*>(runs.size()), 0, 0});
    out.back().of[at.run] = at.row;
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
