// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_COMMON_CHANGE_HPP
#define KPROF_MODEL_COMPARE_COMMON_CHANGE_HPP

// How far a run is from the others in all rows at once. Included by compare.hpp. Pure.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of fewer rows the median follows the one that changed.
inline constexpr std::size_t least_rows_of_common_change = 5;

[[gnu::cold]] inline double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.empty()           ? 0
         : values.size() % 2 == 1 ? values[half]
                                  : (values[half - 1] + values[half]) / 2;
}

/// For each run the median over rows of how far the row's logarithm is from its median over all
/// runs.
[[gnu::cold]] inline std::vector<double> common_changes(
    const std::vector<std::vector<double>>& rows, std::size_t runs) {
  std::vector<double> centers, out;
  for (const std::vector<double>& row : rows) centers.push_back(median_of(row));
  for (std::size_t r = 0; r < runs; ++r) {
    std::vector<double> distances;
    for (std::size_t i = 0; i < rows.size(); ++i) distances.push_back(rows[i][r] - centers[i]);
    out.push_back(median_of(std::move(distances)));
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
