// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TREE_FOLDING_HPP
#define KPROF_MODEL_TREE_FOLDING_HPP

// Folds scopes of the call tree that stand beside each other and differ in a number only into one
// row: regions, as `layer 0` to `layer 5`, and where it is asked for calls of an operator, as those
// that a growing cache has. Included by tables.hpp and by the outputs. Pure; linear
// in the rows of the tree, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/numbered_text.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/text_range.hpp>
#include <kprof/model/tree_summary.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A row of the folded tree.
struct folded_row {
  /// The sum of the rows it stands for. Its `node` is of the first of them; its name has the range
  /// of the number, "layer 0…5", or the few that there are, "res2,5". So have its parameters.
  tree_row row;
  std::uint64_t rows = 1;      ///< rows of the tree that it stands for
  std::uint64_t siblings = 1;  ///< of these, rows below one and the same row
  double least_ns = 0;         ///< the least total_ns of them
  double most_ns = 0;
  double least_device_ns = 0;  ///< the same of device_total_ns
  double most_device_ns = 0;
  /// The tree_row::node of each row that it stands for.
  std::vector<std::uint32_t> nodes{};
};

namespace detail {

class tree_folding {
 public:
  tree_folding(const std::vector<tree_row>& tree, tree_order order, std::size_t least_calls)
      : tree_(tree),
        order_(order),
        least_calls_(least_calls),
        children_(tree.size()),
        shapes_(tree.size()) {
    std::vector<std::uint32_t> top;
    for (std::uint32_t i = 0; i < tree.size(); ++i)
      (tree[i].parent < i ? children_[tree[i].parent] : top).push_back(i);
    for (std::size_t i = tree.size(); i-- > 0;) shapes_[i] = shape_of(tree[i], children_[i]);
    std::vector<row_set> sets;
    for (const std::uint32_t i : top) sets.push_back({{i}, 1});
    push(std::move(sets), scope_node::none);
  }

  [[gnu::cold]] std::vector<folded_row> finish() {
    std::vector<folded_row> out;
    while (!todo_.empty()) {
      auto [set, parent] = std::move(todo_.back());
      todo_.pop_back();
      const auto at = static_cast<std::uint32_t>(out.size());
      out.push_back(merged(set));
      tree_row& row = out.back().row;
      row.parent = parent;
      row.depth = parent == scope_node::none ? 0 : out[parent].row.depth + 1;
      push(children_of(set), at);
    }
    return out;
  }

 private:
  /// Rows that become one. `siblings`: how many of them have the same parent.
  struct row_set {
    std::vector<std::uint32_t> rows;
    std::uint64_t siblings = 1;
  };

  /// Equal for branches whose kinds, names and parameters are the same up to numbers.
  std::uint64_t shape_of(const tree_row& row, const std::vector<std::uint32_t>& children) const {
    key_hash hash;
    hash.add(static_cast<std::uint64_t>(row.kind)).add(row.merged ? 1U : 0U);
    // The 2 and the 3 of Conv2d and Conv3d count nothing.
    if (row.kind == scope_kind::region) numbered_text(row.name).hash(hash);
    else hash.add(row.name);
    numbered_text(row.parameters).hash(hash);
    std::vector<std::uint64_t> below;
    for (const std::uint32_t child : children) below.push_back(shapes_[child]);
    std::sort(below.begin(), below.end());
    // So that a region around one of its own name does not cancel it.
    hash.add(below.size());
    for (const std::uint64_t shape : below) hash.add(shape);
    return hash.value();
  }

  /// The children of rows of one shape: those that correspond are one set. Of several with one
  /// shape, as two `Linear` in each layer, they are those with the same text where each row has the
  /// same texts; else the first to begin in each row, the second and so on.
  [[gnu::cold]] std::vector<row_set> children_of(const row_set& of) const {
    std::vector<std::vector<std::uint32_t>> below;
    for (const std::uint32_t row : of.rows) below.push_back(children_[row]);
    std::vector<row_set> sets(below[0].size());
    if (of.rows.size() > 1) pair_up(below);
    for (const std::vector<std::uint32_t>& children : below)
      for (std::size_t i = 0; i < sets.size(); ++i) sets[i].rows.push_back(children[i]);
    return sets;
  }

  [[gnu::cold]] void pair_up(std::vector<std::vector<std::uint32_t>>& below) const {
    for (std::vector<std::uint32_t>& children : below)
      sort(children, 0, children.size(), [&](std::uint32_t a, std::uint32_t b) {
        return shapes_[a] != shapes_[b] ? shapes_[a] < shapes_[b] : text_of(a) < text_of(b);
      });
    for (std::size_t from = 0, to = 0; from < below[0].size(); from = to) {
      bool alike = true;
      for (; to < below[0].size() && shapes_[below[0][to]] == shapes_[below[0][from]]; ++to)
        for (const std::vector<std::uint32_t>& children : below)
          alike = alike && text_of(children[to]) == text_of(below[0][to]);
      for (std::vector<std::uint32_t>& children : below)
        if (!alike)
          sort(children, from, to,
               [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); });
    }
  }
  template <class ComesBefore>
  [[gnu::cold]] static void sort(std::vector<std::uint32_t>& rows, std::size_t from, std::size_t to,
                                 const ComesBefore& comes_before) {
    const std::vector<std::uint32_t> old(rows.data() + from, rows.data() + to);
    for (const std::uint32_t i : sorted_order(old.size(), [&](std::uint32_t a, std::uint32_t b) {
           return comes_before(old[a], old[b]);
         }))
      rows[from++] = old[i];
  }
  std::pair<const std::string&, const std::string&> text_of(std::uint32_t row) const {
    return {tree_[row].name, tree_[row].parameters};
  }
  std::pair<double, std::uint32_t> place_of(std::uint32_t row) const {
    return {tree_[row].began_ns, tree_[row].node};
  }

  /// Folds sets of siblings and puts them on the stack, the last first.
  [[gnu::cold]] void push(std::vector<row_set> siblings, std::uint32_t parent) {
    std::map<std::uint64_t, std::vector<std::size_t>> by_shape;
    for (std::size_t i = 0; i < siblings.size(); ++i)
      if (tree_[siblings[i].rows[0]].kind == scope_kind::region && has_one_name(siblings[i]))
        by_shape[shapes_[siblings[i].rows[0]]].push_back(i);
    for (const auto& [shape, of_shape] : by_shape)
      if (of_shape.size() > 1) fold(siblings, of_shape);
    if (least_calls_ > 1) fold_operators(siblings);
    std::vector<row_set> left;
    for (row_set& set : siblings)
      if (!set.rows.empty()) left.push_back(std::move(set));
    std::vector<double> device(left.size()), host(left.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      for (const std::uint32_t row : left[i].rows)
        device[i] += tree_[row].device_total_ns, host[i] += tree_[row].largest_ns;
    const std::vector<std::uint32_t> order =
        sorted_order(left.size(), [&](std::uint32_t a, std::uint32_t b) {
          if (order_ == tree_order::run) return left[a].rows[0] < left[b].rows[0];
          return device[a] != device[b] ? device[a] > device[b] : host[a] > host[b];
        });
    for (std::size_t i = order.size(); i-- > 0;)
      todo_.emplace_back(std::move(left[order[i]]), parent);
  }

  /// Folds operators that differ in one number of their parameters.
  [[gnu::cold]] void fold_operators(std::vector<row_set>& siblings) const {
    std::map<std::uint64_t, std::vector<std::size_t>> by_shape;
    for (std::size_t i = 0; i < siblings.size(); ++i)
      if (!siblings[i].rows.empty() && has_one_set_of_parameters(siblings[i]))
        by_shape[shapes_[siblings[i].rows[0]]].push_back(i);
    for (const auto& [shape, of_shape] : by_shape) {
      if (of_shape.size() < least_calls_) continue;
      std::vector<std::vector<std::uint64_t>> numbers;
      for (const std::size_t i : of_shape)
        numbers.push_back(numbered_text(tree_[siblings[i].rows[0]].parameters).numbers);
      const std::vector<std::size_t> first = alike_but_for_one(numbers, least_calls_);
      for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i] != i) move_rows(siblings[of_shape[first[i]]], siblings[of_shape[i]]);
    }
  }
  bool has_one_set_of_parameters(const row_set& set) const {
    return tree_[set.rows[0]].kind == scope_kind::op &&
           std::all_of(set.rows.begin(), set.rows.end(), [&](std::uint32_t row) {
             return tree_[row].parameters == tree_[set.rows[0]].parameters;
           });
  }

  static void move_rows(row_set& into, row_set& from) {
    into.rows.insert(into.rows.end(), from.rows.begin(), from.rows.end());
    into.siblings += from.siblings;
    from.rows.clear();
  }

  bool has_one_name(const row_set& set) const {
    return std::all_of(set.rows.begin(), set.rows.end(), [&](std::uint32_t row) {
      return tree_[row].name == tree_[set.rows[0]].name;
    });
  }

  /// Of siblings of one shape those that differ in one number: the last one that differs.
  [[gnu::cold]] void fold(std::vector<row_set>& siblings,
                          const std::vector<std::size_t>& of_shape) const {
    std::vector<std::vector<std::uint64_t>> numbers;
    for (const std::size_t i : of_shape)
      numbers.push_back(numbered_text(tree_[siblings[i].rows[0]].name).numbers);
    std::size_t differs = numbers[0].size();
    for (std::size_t at = 0; at < numbers[0].size(); ++at)
      for (const auto& other : numbers)
        if (other[at] != numbers[0][at]) differs = at;
    if (differs == numbers[0].size()) return;
    std::map<std::vector<std::uint64_t>, std::size_t> first;  // by the other numbers
    for (std::size_t i = 0; i < of_shape.size(); ++i) {
      numbers[i][differs] = 0;
      const auto [known, is_new] = first.try_emplace(std::move(numbers[i]), of_shape[i]);
      if (!is_new) move_rows(siblings[known->second], siblings[of_shape[i]]);
    }
  }

  [[gnu::cold]] folded_row merged(const row_set& set) const {
    folded_row out;
    out.rows = set.rows.size();
    out.siblings = set.siblings;
    out.row = tree_[*std::min_element(set.rows.begin(), set.rows.end())];
    out.least_ns = out.most_ns = out.row.total_ns;
    out.least_device_ns = out.most_device_ns = out.row.device_total_ns;
    for (const std::uint32_t i : set.rows) out.nodes.push_back(tree_[i].node);
    if (set.rows.size() == 1) return out;
    rate_sum flops, bytes, roof;
    tree_row sum;
    std::vector<std::uint64_t> keys;
    text_range parameters(out.row.parameters);
    bool alike = true;
    for (const std::uint32_t i : set.rows) {
      const tree_row& row = tree_[i];
      add(sum, row);
      flops.add(row, row.flops, row.flops_per_s);
      bytes.add(row, row.bytes, row.bytes_per_s);
      roof.add(row, row.roof, row.roof);
      keys.push_back(row.key);
      out.least_ns = std::min(out.least_ns, row.total_ns);
      out.most_ns = std::max(out.most_ns, row.total_ns);
      out.least_device_ns = std::min(out.least_device_ns, row.device_total_ns);
      out.most_device_ns = std::max(out.most_device_ns, row.device_total_ns);
      alike = parameters.add(row.parameters) && alike;
    }
    sum.name = name_of(set);
    if (alike) sum.parameters = parameters.text();
    sum.kind = out.row.kind;
    sum.node = out.row.node;
    sum.thread = out.row.thread;
    sum.flops = flops.value;
    sum.bytes = bytes.value;
    sum.flops_per_s = flops.rate();
    sum.roof = roof.rate();
    sum.cpu = sum.measured_ns > 0
                  ? ratio({sum.measured_ns - sum.off_cpu_ns}, sum.measured_ns, absence::no_time)
                  : out.row.cpu;
    sum.bytes_per_s = bytes.rate();
    std::sort(keys.begin(), keys.end());
    key_hash hash;
    for (const std::uint64_t key : keys) hash.add(key);
    sum.key = hash.value();
    out.row = std::move(sum);
    return out;
  }

  static void add(tree_row& sum, const tree_row& row) {
    sum.merged = sum.merged || row.merged;
    sum.invalid = sum.invalid || row.invalid;
    sum.calls += row.calls;
    sum.timed_calls += row.timed_calls;
    sum.calls_ns += row.calls_ns;
    sum.elapsed_ns += row.elapsed_ns;
    sum.replays += row.replays;
    sum.open += row.open;
    sum.open_ns += row.open_ns;
    sum.total_ns += row.total_ns;
    sum.self_ns += row.self_ns;
    sum.measured_ns += row.measured_ns;
    sum.off_cpu_ns += row.off_cpu_ns;
    sum.largest_ns += row.largest_ns;
    sum.total_share += row.total_share;
    sum.self_share += row.self_share;
    sum.device_ns += row.device_ns;
    sum.device_total_ns += row.device_total_ns;
    sum.device_share += row.device_share;
  }

  /// A number of several rows, and their rate over the time that each is rated by.
  struct rate_sum {
    figure value{}, over_time{};
    double seconds = 0;

    void add(const tree_row& row, const figure& number, const figure& per_s) {
      value.value += number.value;
      value.why = std::max(value.why, number.why);
      const double s = (row.device_total_ns > 0 ? row.device_total_ns : row.total_ns) * 1e-9;
      seconds += s;
      over_time.value += per_s.known() ? per_s.value * s : 0;
      over_time.why = std::max(over_time.why, per_s.why);
    }
    figure rate() const { return ratio(over_time, seconds, absence::no_time); }
  };

  [[gnu::cold]] std::string name_of(const row_set& set) const {
    const numbered_text first(tree_[set.rows[0]].name);
    if (has_one_name(set)) return tree_[set.rows[0]].name;
    std::vector<std::set<std::uint64_t>> values(first.numbers.size());
    for (const std::uint32_t row : set.rows) {
      const numbered_text other(tree_[row].name);
      for (std::size_t i = 0; i < values.size() && i < other.numbers.size(); ++i)
        values[i].insert(other.numbers[i]);
    }
    return first.with_values(values);
  }

  const std::vector<tree_row>& tree_;
  tree_order order_;
  std::size_t least_calls_;
  std::vector<std::vector<std::uint32_t>> children_;  // in the order of the tree
  std::vector<std::uint64_t> shapes_;
  std::vector<std::pair<row_set, std::uint32_t>> todo_;
};

}  // namespace detail

/// The call tree with siblings folded that differ in a number only and whose branches have the same
/// shape: regions of the same names up to numbers, over the same operators with the same parameters
/// up to numbers. Where names differ in several numbers, the last one is folded. A parent comes
/// before its children. By tree_order::run the tree must have that order. `least_calls`: operators
/// of which at least so many differ in one number of their parameters are folded too; 0: none is.
///     for (const kprof::folded_row& f : kprof::fold_siblings(kprof::call_tree(run)))
///       use(f.row.name, f.siblings, f.least_ns, f.most_ns);
inline std::vector<folded_row> fold_siblings(const std::vector<tree_row>& tree,
                                             tree_order order = tree_order::time,
                                             std::size_t least_calls = 0) {
  return detail::tree_folding(tree, order, least_calls).finish();
}

KPROF_DETAIL_END

#endif
