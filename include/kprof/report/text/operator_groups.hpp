// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OPERATOR_GROUPS_HPP
#define KPROF_REPORT_TEXT_OPERATOR_GROUPS_HPP

// Which rows the table of operators has: each operator with its sum and its rows, small ones folded
// into a line. Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/report/text/varied_field.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// An operator of the table: its rows, and what they add up to. Where a row may hold calls of
/// several operators, there is one group for all rows.
struct operator_group {
  operator_row sum;
  std::vector<operator_row> rows;  // those that are folded come last
  // The nodes of each row where it holds several sets of parameters.
  std::vector<std::vector<std::uint32_t>> sets;
  std::size_t shown = 0;  // rows that are not folded
  hidden_rows folded;
};

/// How much of the run a row is: of the time of the devices or of the host, whichever is more.
inline double weight_of(const operator_row& row) noexcept {
  return std::max(row.device_share, row.share);
}

/// The operators of the table in their order, and what became of the others.
class operator_groups {
 public:
  std::vector<operator_group> groups;
  hidden_rows folded;                     // whole operators
  std::vector<std::string> folded_names;  // theirs
  double folded_below = 0;                // rows of less weight are folded; 0: none is
  hidden_rows filtered;
  hidden_rows all;          // rows of the table, folded ones too
  operator_row total;       // their work as one row, in which no call counts twice
  bool by_operator = true;  // no row has calls of several operators

  /// Whether the node's calls are in the table, as far as it is filtered.
  bool is_kept(const scope_node& n) const { return kept_.empty() || kept_[index_of(n)]; }

  [[gnu::cold]] operator_groups(const profile& p, const text_plan& plan)
      : by_operator(plan.by.has(group_key::op)), p_(p), plan_(plan), kept_(matching(p, plan)) {
    if (!kept_.empty())
      for (const operator_row& row :
           operator_table(p, plan.by, [&](const scope_node& n) { return !is_kept(n); }))
        filtered.add(row);
    std::vector<operator_row> rows = rows_of(plan.by);
    for (const operator_row& row : rows) all.add(row);
    total = operator_total(
        p, [&](const scope_node& n) { return is_kept(n); }, plan.projected_on());
    std::vector<operator_row> sums = rows_of(by_operator ? grouping::op : grouping::nothing());
    gather(std::move(sums), std::move(rows));
    if (plan.options.top > 0) {
      choose_threshold();
      if (plan.by == grouping{} && !plan.options.all_parameters) fold_fields();
    }
    fold_below(folded_below);
  }

 private:
  static constexpr double always_folded = 0.001;
  static constexpr std::size_t most_rows_by_a_number = 40;  // a series of sizes has fewer
  // so many rows may one folded field make large
  static constexpr std::size_t most_large_rows = 8;

  std::size_t index_of(const scope_node& n) const noexcept {
    return static_cast<std::size_t>(&n - p_.nodes.data());
  }
  /// Of which nodes the calls are in the table; empty: of all.
  static std::vector<bool> matching(const profile& p, const text_plan& plan) {
    std::vector<bool> matches;
    if (!plan.filter.active()) return matches;
    for (const scope_node& n : p.nodes)
      matches.push_back(n.kind == scope_kind::op &&
                        plan.filter.matches(n.name, parameter_text(p, n)));
    return matches;
  }

  [[gnu::cold]] std::vector<operator_row> rows_of(const grouping& by) const {
    return in_order(operator_table(
        p_, by, [&](const scope_node& n) { return is_kept(n); }, plan_.projected_on()));
  }
  std::vector<operator_row> in_order(std::vector<operator_row> rows) const {
    std::vector<operator_row> sorted;
    for (const std::uint32_t i : order_of(rows)) sorted.push_back(std::move(rows[i]));
    return sorted;
  }
  std::vector<std::uint32_t> order_of(const std::vector<operator_row>& rows) const {
    return sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
      return comes_before(*plan_.sort, rows[a], rows[b]);
    });
  }

  void gather(std::vector<operator_row> sums, std::vector<operator_row> rows) {
    text_numbers numbers(sums.size());
    names_.reserve(sums.size());  // views of them are kept
    for (operator_row& sum : sums) {
      names_.push_back(sum.name);
      static_cast<void>(numbers.of(names_.back()));
      groups.emplace_back().sum = std::move(sum);
    }
    for (operator_row& row : rows)
      if (const std::uint32_t group = by_operator ? numbers.of(row.name) : 0; group < groups.size())
        groups[group].rows.push_back(std::move(row));
    list_sets(groups, plan_.by, kept_);
  }

  /// Finds the nodes of rows that hold several sets of parameters. `kept`: the nodes that rows are
  /// made of; empty: all.
  void list_sets(std::vector<operator_group>& of, const grouping& by,
                 const std::vector<bool>& kept) const {
    std::optional<nodes_of_rows> nodes;
    const bool by_step = by.has(group_key::step);  // which calls are in a step no node tells
    for (operator_group& g : of) {
      g.sets.assign(g.rows.size(), {});
      for (std::size_t i = 0; i < g.rows.size(); ++i) {
        if (by_step || g.rows[i].variants < 2 || g.rows[i].operators > 1) continue;
        if (!nodes) nodes.emplace(p_, by, kept);
        g.sets[i] = nodes->of(g.rows[i].node);
      }
    }
  }

  std::size_t small_rows(const operator_group& g, double least) const {
    return static_cast<std::size_t>(
        std::count_if(g.rows.begin(), g.rows.end(),
                      [&](const operator_row& row) { return weight_of(row) < least; }));
  }

  /// Lines of operators and rows if what weighs less than `least` is folded.
  [[gnu::cold]] std::size_t lines_if(double least) const {
    std::size_t lines = 0;
    for (const operator_group& g : groups) {
      if (by_operator && weight_of(g.sum) < least) continue;
      const std::size_t tiny = small_rows(g, least);
      lines += g.rows.size() == 1 ? 1 : 1 + g.rows.size() - (tiny > 1 ? tiny : 0);
    }
    return lines;
  }

  /// 0.1 %, or more where the table would be longer than asked.
  void choose_threshold() {
    std::vector<double> weights{always_folded};
    for (const operator_group& g : groups)
      for (const operator_row& row : g.rows)
        if (weight_of(row) >= always_folded) weights.push_back(weight_of(row) * (1 + 1e-9));
    std::sort(weights.begin(), weights.end());
    const auto fits = std::partition_point(weights.begin(), weights.end(), [&](double least) {
      return lines_if(least) > plan_.options.top;
    });
    folded_below = fits == weights.end() ? weights.back() : *fits;
  }

  /// Where small rows are much together, such as those of a cache that grows from call to call, or
  /// where a number alone makes more rows than a table may have, the field that they differ in most
  /// makes no row any more, until little is left in small rows. A row that becomes large by it is
  /// done; another field is folded in the others only. So products by a growing cache and of it
  /// stay two rows, one with a range of N and one of K.
  [[gnu::cold]] void fold_fields() {
    for (operator_group& g : groups) {
      if (!is_in_small_rows(g) && !is_made_by_a_number(g, {})) continue;
      operator_group done;
      std::vector<bool> left(p_.nodes.size());
      for (std::size_t i = 0; i < left.size(); ++i)
        left[i] = p_.nodes[i].kind == scope_kind::op && p_.nodes[i].name == g.sum.name &&
                  is_kept(p_.nodes[i]);
      std::vector<std::string> fields;
      while (is_in_small_rows(g) || is_made_by_a_number(g, fields)) {
        std::string field = most_varied_field(p_, g.rows, fields).path;
        if (field.empty()) break;
        const std::size_t rows = g.rows.size();
        fields.push_back(std::move(field));
        regroup(g, plan_.by.folding(fields), left);
        if (move_large_rows(g, done, rows, left)) fields.clear();
      }
      move_rows(done, g);
      put_in_order(g);
    }
    choose_threshold();
  }
  /// Moves the rows that folding made large into `done`, their nodes out of `left`: those that have
  /// a good share of the rows that there were. False: there is none.
  [[gnu::cold]] bool move_large_rows(operator_group& g, operator_group& done, std::size_t rows,
                                     std::vector<bool>& left) const {
    operator_group others;
    const std::size_t before = done.rows.size();
    for (std::size_t i = 0; i < g.rows.size(); ++i) {
      const bool is_large = weight_of(g.rows[i]) >= folded_below && g.rows[i].variants > 1 &&
                            g.rows[i].variants >= rows / most_large_rows;
      if (is_large)
        for (const std::uint32_t node : g.sets[i]) left[node] = false;
      operator_group& to = is_large ? done : others;
      to.rows.push_back(std::move(g.rows[i]));
      to.sets.push_back(std::move(g.sets[i]));
    }
    g.rows = std::move(others.rows);
    g.sets = std::move(others.sets);
    return done.rows.size() > before;
  }
  static void move_rows(operator_group& from, operator_group& to) {
    std::move(from.rows.begin(), from.rows.end(), std::back_inserter(to.rows));
    std::move(from.sets.begin(), from.sets.end(), std::back_inserter(to.sets));
  }
  void put_in_order(operator_group& g) const {
    operator_group sorted;
    for (const std::uint32_t i : order_of(g.rows)) {
      sorted.rows.push_back(std::move(g.rows[i]));
      sorted.sets.push_back(std::move(g.sets[i]));
    }
    g.rows = std::move(sorted.rows);
    g.sets = std::move(sorted.sets);
  }
  bool is_in_small_rows(const operator_group& g) const {
    if (small_rows(g, folded_below) < 2) return false;
    double weight = 0;
    for (const operator_row& row : g.rows)
      if (weight_of(row) < folded_below) weight += weight_of(row);
    return weight > most_folded;
  }
  /// Whether the rows are too many and differ, most of them, in one number.
  bool is_made_by_a_number(const operator_group& g, const std::vector<std::string>& but) const {
    return g.rows.size() > std::max(plan_.options.top, most_rows_by_a_number) &&
           most_varied_field(p_, g.rows, but).values > g.rows.size() / 4 * 3;
  }
  /// Makes rows of these nodes.
  void regroup(operator_group& g, const grouping& by, const std::vector<bool>& nodes) const {
    std::vector<operator_group> one(1);
    one[0].rows = operator_table(
        p_, by, [&](const scope_node& n) { return nodes[index_of(n)]; }, plan_.projected_on());
    list_sets(one, by, nodes);
    g.rows = std::move(one[0].rows);
    g.sets = std::move(one[0].sets);
  }

  [[gnu::cold]] void fold_below(double least) {
    std::vector<operator_group> left;
    const auto is_small = [&](const operator_row& row) { return weight_of(row) < least; };
    const bool several =
        by_operator && std::count_if(groups.begin(), groups.end(),
                                     [&](const operator_group& g) { return is_small(g.sum); }) > 1;
    for (operator_group& g : groups) {
      if (several && is_small(g.sum)) {
        for (const operator_row& row : g.rows) folded.add(row);
        folded_names.push_back(g.sum.name);
        continue;
      }
      g.shown = g.rows.size();
      if (small_rows(g, least) > 1) put_small_rows_last(g, is_small);
      left.push_back(std::move(g));
    }
    groups = std::move(left);
  }
  template <class IsSmall>
  static void put_small_rows_last(operator_group& g, IsSmall is_small) {
    std::vector<operator_row> rows, tiny;
    std::vector<std::vector<std::uint32_t>> sets, small_sets;
    for (std::size_t i = 0; i < g.rows.size(); ++i) {
      const bool last = is_small(g.rows[i]);
      if (last) g.folded.add(g.rows[i]);
      (last ? tiny : rows).push_back(std::move(g.rows[i]));
      (last ? small_sets : sets).push_back(std::move(g.sets[i]));
    }
    g.shown = rows.size();
    std::move(tiny.begin(), tiny.end(), std::back_inserter(rows));
    std::move(small_sets.begin(), small_sets.end(), std::back_inserter(sets));
    g.rows = std::move(rows);
    g.sets = std::move(sets);
  }

  const profile& p_;
  const text_plan& plan_;
  std::vector<bool> kept_;
  std::vector<std::string> names_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
