// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_METRIC_HPP
#define KPROF_MODEL_METRIC_HPP

// What a number of an operator row is; metrics.hpp has them all. Included by it.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/operator_row.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// What a number counts. Printed numbers are `scale` times those of the row.
struct metric_unit {
  const char* name;  ///< empty: a plain count
  double scale = 1;
};

/// What the numbers of several rows of a table make together.
enum class additivity : std::uint8_t {
  sum,
  overlapping_sum,  ///< their sum, in which rows nested in one another count the same work twice
  minimum,
  maximum,
  ratio,  ///< a ratio of two sums, which have to be added up apart
  none,   ///< nothing: a quantile
};

/// One number of a row.
struct metric {
  const char* id;     ///< as in report_options::columns; the same in every version
  const char* label;  ///< header of a table for people
  metric_unit unit;
  additivity adds;
  bool of_device;  ///< only where the run has work on a device
  figure (*of)(const operator_row& row);
  const char* meaning;
  const char* device_meaning = "";  ///< where it is another in a run with work on a device

  /// What it means in a run with or without work on a device.
  constexpr const char* meaning_in(bool device) const noexcept {
    return device && *device_meaning != '\0' ? device_meaning : meaning;
  }
};

namespace detail {

namespace units {
inline constexpr metric_unit one{""}, share{""}, nanoseconds{"ns"}, flop{"FLOP"}, byte{"B"},
    giga_flop_per_s{"GFLOP/s", 1e-9}, giga_byte_per_s{"GB/s", 1e-9}, flop_per_byte{"FLOP/B"};
}  // namespace units

}  // namespace detail
KPROF_DETAIL_END

#endif
