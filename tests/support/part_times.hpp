// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_PART_TIMES_HPP
#define KPROF_TESTS_PART_TIMES_HPP

// Parts for tests of their joining.

#include <kprof/record/part_joining.hpp>
#include <kprof/record/tree_node.hpp>

#include <cstddef>
#include <cstdint>

namespace kprof_test::part_times {

using kprof::detail::call_place;
using kprof::detail::joined_call;
using kprof::detail::joining_memory;
using kprof::detail::part_joining;
using kprof::detail::tree_budget;

/// Memory for this many begun calls of one kind, when an eighth of it is for them, and half of that
/// for one kind.
struct memory_for {
  explicit memory_for(std::size_t calls) {
    budget.set_limit(3 * 8 * calls * sizeof(part_joining::begun_call) / 2);
  }
  tree_budget budget;
  joining_memory memory{budget};
};
inline constexpr std::size_t calls_that_fit = 8192;

struct part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

template <class Complete>
void add(part_joining& calls, std::uint32_t number, std::uint64_t begin, std::uint64_t end,
         call_place place, Complete complete) {
  const part times{begin, end};
  calls.add(number, &times, 1, place, complete);
}

}  // namespace kprof_test::part_times

#endif
