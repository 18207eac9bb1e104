// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_ROWS_HPP
#define KPROF_TESTS_ROWS_HPP

// Finds rows of tables.

#include "catch.hpp"

#include <kprof/tables.hpp>

#include <string>
#include <vector>

namespace kprof_test {

/// The first row of this operator.
inline kprof::operator_row row_of(const kprof::profile& p, const std::string& name,
                                  kprof::grouping by = kprof::grouping::op) {
  for (const kprof::operator_row& row : operator_table(p, by))
    if (row.name == name) return row;
  FAIL("no row " << name);
  return {};
}

/// The row of a profile that has one.
inline kprof::operator_row only_row(const kprof::profile& p) {
  const std::vector<kprof::operator_row> rows = kprof::operator_table(p);
  REQUIRE(rows.size() == 1);
  return rows[0];
}

/// The first row of this kernel.
inline kprof::kernel_row kernel_row_of(const kprof::profile& p, const std::string& kernel,
                                       kprof::grouping by = kprof::grouping::parameters) {
  for (const kprof::kernel_row& row : kernel_table(p, by))
    if (row.kernel == kernel) return row;
  FAIL("no row " << kernel);
  return {};
}

}  // namespace kprof_test

#endif
