// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROW_NUMBERS_HPP
#define KPROF_MODEL_ROW_NUMBERS_HPP

// Which row of the operator table each node of a profile belongs to, and which calls cover others.
// Included by summary.hpp. Pure; linear in profile::nodes times the keys of the grouping.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/field_ranges.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// For each node the number of its operator's row or, for a region or graph, of the row of the
/// operator around it; none where there is no such row. Rows are numbered as they first appear.
/// Nodes that are not `kept`, and those in which nothing ran and nothing was launched, make no row;
/// the latter belong to the row that the same calls have on the thread which handed them over.
struct row_numbers {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first;      // the first node of each row
  std::vector<std::uint64_t> variants;   // sets of parameters of each row
  std::vector<std::uint64_t> operators;  // their names
  // For each node of a row the number of its set of parameters in that row.
  std::vector<std::uint32_t> set_of;
  std::uint32_t sets = 0;
  std::vector<std::vector<field_range>> ranges;  // by row; empty where no row has any

  row_numbers(const profile& p, const grouping& by, group_numbers& groups,
              const std::vector<bool>& launched, const std::vector<bool>& kept)
      : row_of(p.nodes.size(), scope_node::none), set_of(p.nodes.size(), scope_node::none) {
    // A row of one set of parameters is the set.
    const bool one_set = by.has(group_key::parameters) && by.folded().empty();
    const auto makes_row = [&](std::size_t i) {
      return kept[i] && (!is_placeholder(p.nodes[i]) || launched[i]);
    };
    key_numbers keys(one_set ? p.nodes.size() : 0);
    std::vector<std::uint32_t> row_of_key, variant_of(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const auto node = static_cast<std::uint32_t>(i);
      groups.look_at(node);
      if (!kept[i]) continue;
      variant_of[i] = groups.variant_of(p.nodes[i]);
      row_of[i] = keys.of(groups.key_of({node, node}, variant_of[i])).first;
      if (row_of[i] == row_of_key.size()) row_of_key.push_back(scope_node::none);
      std::uint32_t& row = row_of_key[row_of[i]];
      if (row != scope_node::none || !makes_row(i)) continue;
      row = static_cast<std::uint32_t>(first.size());
      first.push_back(node);
    }
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (row_of[i] != scope_node::none) row_of[i] = row_of_key[row_of[i]];
      else if (p.nodes[i].kind != scope_kind::op && p.nodes[i].kind != scope_kind::root &&
               parent_of(p, i) != scope_node::none)
        row_of[i] = row_of[parent_of(p, i)];
    }
    variants.resize(first.size(), one_set ? 1 : 0);
    operators.resize(first.size(), by.has(group_key::op) ? 1 : 0);
    sets = static_cast<std::uint32_t>(first.size());
    for (std::size_t i = 0; one_set && i < p.nodes.size(); ++i)
      if (variant_of[i] != scope_node::none) set_of[i] = row_of[i];
    if (!one_set) find_sets(p, by, groups, variant_of, makes_row);
  }

 private:
  template <class MakesRow>
  void find_sets(const profile& p, const grouping& by, group_numbers& groups,
                 const std::vector<std::uint32_t>& variant_of, MakesRow makes_row) {
    const bool by_op = by.has(group_key::op);
    key_numbers numbers(p.nodes.size());
    text_numbers names;
    key_numbers names_of_rows{0};
    std::vector<std::uint32_t> node_of_set;  // none where nothing of it ran
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (variant_of[i] == scope_node::none || row_of[i] == scope_node::none) continue;
      set_of[i] = numbers.of({{row_of[i], variant_of[i]}}).first;
      if (set_of[i] == node_of_set.size()) node_of_set.push_back(scope_node::none);
      if (node_of_set[set_of[i]] != scope_node::none || !makes_row(i)) continue;
      node_of_set[set_of[i]] = static_cast<std::uint32_t>(i);
      ++variants[row_of[i]];
      if (!by_op && names_of_rows.of({{row_of[i], names.of(p.nodes[i].name)}}).second)
        ++operators[row_of[i]];
    }
    sets = static_cast<std::uint32_t>(node_of_set.size());
    range_summing sums(groups.leaves());
    for (const std::uint32_t node : node_of_set) {
      if (node == scope_node::none) continue;
      const std::uint32_t row = row_of[node];
      sums.add(row, p.nodes[node], variants[row] > 1 && operators[row] == 1);
    }
    ranges = sums.finish(first.size());
  }
};

/// For each node whether calls of its row that begin in it are covered by it: calls of it ended or
/// were replayed. A path that another thread handed over covers as the calls do that handed it
/// over, where they are of the same row. A call that is still open is in no total and covers
/// nothing.
inline std::vector<bool> covering_nodes(const profile& p,
                                        const std::vector<std::uint32_t>& row_of) {
  std::vector<bool> covers(p.nodes.size());
  bool any_handed_over = false;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind != scope_kind::op) continue;
    covers[i] = n.calls + n.replays > 0;
    any_handed_over = any_handed_over || (is_placeholder(n) && row_of[i] != scope_node::none);
  }
  if (!any_handed_over) return covers;
  const std::vector<std::uint32_t> paths = path_numbers(p);
  key_numbers numbers(0);
  std::vector<bool> ended;
  std::vector<std::uint32_t> of(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    if (p.nodes[i].kind != scope_kind::op) continue;
    of[i] = numbers.of({{paths[i], row_of[i]}}).first;
    if (of[i] == ended.size()) ended.push_back(false);
    if (covers[i]) ended[of[i]] = true;
  }
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].kind == scope_kind::op && is_placeholder(p.nodes[i]))
      covers[i] = ended[of[i]] && row_of[i] != scope_node::none;
  return covers;
}

/// For each operator's node whether work was launched in it, or in regions and graphs in it.
inline std::vector<bool> launched_in(const profile& p, const device_sums& device) {
  std::vector<bool> launched(p.nodes.size());
  if (device.own.empty()) return launched;
  const std::vector<std::uint32_t> operators = operators_around(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (operators[i] != scope_node::none && device.own[i].runs() > 0) launched[operators[i]] = true;
  return launched;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
