// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SORTED_ORDER_HPP
#define KPROF_MODEL_SORTED_ORDER_HPP

// The one sort of all tables: it orders numbers of rows by a function that compares two of them, so
// that the compiler makes it once, and not for every kind of row and order. Included by the tables.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Says whether row `a` comes before row `b`.
using row_order = bool (*)(const void* rows, std::uint32_t a, std::uint32_t b);

/// Rows that are equal keep their order.
[[gnu::noinline]] inline void sort_rows(std::vector<std::uint32_t>& numbers, row_order comes_before,
                                        const void* rows) {
  std::sort(numbers.begin(), numbers.end(), [=](std::uint32_t a, std::uint32_t b) {
    if (comes_before(rows, a, b)) return true;
    return a < b && !comes_before(rows, b, a);
  });
}

/// The numbers of rows, from 0 to count - 1, in the order that comes_before(a, b) gives.
template <class ComesBefore>
std::vector<std::uint32_t> sorted_order(std::size_t count, const ComesBefore& comes_before) {
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  sort_rows(
      numbers,
      [](const void* order, std::uint32_t a, std::uint32_t b) {
        return (*static_cast<const ComesBefore*>(order))(a, b);
      },
      &comes_before);
  return numbers;
}

/// Puts rows into that order.
template <class Row, class ComesBefore>
void sort_table(std::vector<Row>& rows, const ComesBefore& comes_before) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
         return comes_before(rows[a], rows[b]);
       }))
    sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
