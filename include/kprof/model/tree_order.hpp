// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TREE_ORDER_HPP
#define KPROF_MODEL_TREE_ORDER_HPP

// The order of siblings in the call tree. Included by tree_summary.hpp and by the options of
// reports.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// The order of siblings in the call tree.
enum class tree_order : std::uint8_t {
  time,  ///< most device time first, where there is any, then the largest total in their branch
  run,   ///< as they first began, on whichever thread; see tree_row::began_ns
};

KPROF_DETAIL_END

#endif
