// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_MATCHING_OPERATORS_HPP
#define KPROF_REPORT_TEXT_MATCHING_OPERATORS_HPP

// Which nodes of a profile the filter of a report chooses. Included by the sections that sum work
// on devices.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/filter.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether the innermost operator around each node matches.
inline std::vector<bool> matching_operators(const profile& p, const name_filter& filter) {
  const std::vector<std::uint32_t> operators = operators_around(p);
  std::vector<bool> matches(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t op = operators[i];  // itself or one that comes before
    if (op == i) matches[i] = filter.matches(p.nodes[i].name, parameter_text(p, p.nodes[i]));
    else if (op != scope_node::none) matches[i] = matches[op];
  }
  return matches;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
