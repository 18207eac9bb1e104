// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TEXT_PLAN_HPP
#define KPROF_REPORT_TEXT_TEXT_PLAN_HPP

// The plan of a text report: its options, checked, and the sums that its sections share. Included
// by the sections.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/advise.hpp>
#include <kprof/model/check_grouping.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/filter.hpp>
#include <kprof/report/text/other_machine.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status unknown_column(const char* what, const std::string& name) {
  return {std::string{"unknown "} + what + " \"" + printable(name, 100) +
          "\"; choose from: " + column_names() + " (or name, which is operator)"};
}
[[gnu::cold]] inline status check_sort(const std::string& name) {
  const column* const c = find_column(name);
  if (c != nullptr && c->as == look::cumulative)
    return {"sort=cumulative: it follows from the order; sort by self, share or device"};
  return name.empty() || c != nullptr ? status{} : unknown_column("sort", name);
}
[[gnu::cold]] inline status check_column(const std::string& name) {
  return find_column(name) != nullptr ? status{} : unknown_column("column", name);
}

/// The options of a report, read, and sums of the profile that its sections share.
struct text_plan {
  const report_options& options;
  const column* sort = nullptr;
  std::vector<const column*> columns;  // empty: automatic
  name_filter filter;
  grouping by;                          // as far as the profile has what it names
  std::vector<std::string> complaints;  // about what it has not
  double all_self_ns = 0;
  bool device = false;                                 // the run has work on a device
  bool roofs = false;                                  // ceilings of the machine are known
  bool tree = false, kernels = false, copies = false;  // sections that are shown
  std::size_t tree_top = 0, kernels_top = 0;           // rows of these; 0 is all
  bool by_launch = true;  // a kernel outside of operators has a row for each launch configuration
  double all_device_ns = 0;
  std::optional<other_machine> other;  // that rows are projected on
  std::optional<dtype> one_type;       // of all operators that say theirs

  explicit text_plan(const report_options& o) : options(o), tree_top(o.top), kernels_top(o.top) {}

  /// Reads the options; the first that is wrong is in the status.
  [[gnu::cold]] status prepare() {
    if (status s = check_sort(options.sort); !s) return s;
    sort = find_column(options.sort.empty() ? "self" : options.sort);
    for (const std::string& name : options.columns) {
      if (status s = check_column(name); !s) return s;
      columns.push_back(find_column(name));
    }
    if (status s = check_advice(options.advice); !s) return s;
    if (!options.machine.empty())
      if (status s = read_machine(options.machine, other.emplace(), file_complaints_); !s) return s;
    return filter.set(options.filter);
  }

  /// What titles say of it: "; all f32", if no operator leaves it open.
  [[gnu::cold]] std::string type_text() const {
    if (!one_type) return {};
    return any_untyped_ ? std::string{"; "} + dtype_name(*one_type) + " where a type is known"
                        : std::string{"; all "} + dtype_name(*one_type);
  }

  const other_machine* projected_on() const noexcept { return other ? &*other : nullptr; }

  /// Whether the table of operators has a column for a key of regions: where it is asked for, and
  /// beside parameters.
  bool has_column(group_key key) const {
    if (key != group_key::region && key != group_key::layer) return false;
    if (columns.empty()) return by.has(key) && by.has(group_key::parameters);
    for (const column* c : columns)
      if (c->as == look::around && key_of(*c) == key) return true;
    return false;
  }

  /// What the page is about; after prepare().
  [[gnu::cold]] void look_at(const profile& p) {
    all_self_ns = detail::all_self_ns(p);
    std::vector<std::string> fold = options.by.folded();
    fold.insert(fold.end(), options.fold.begin(), options.fold.end());
    grouping wanted = options.by;
    for (const column* c : columns)  // a column of regions makes rows by them
      if (c->as == look::around && !wanted.has(key_of(*c))) wanted = wanted + key_of(*c);
    checked_grouping checked = check_grouping(p, wanted.folding(std::move(fold)));
    by = std::move(checked.value);
    complaints = std::move(checked.complaints);
    complaints.insert(complaints.end(), file_complaints_.begin(), file_complaints_.end());
    device = has_device_work(p);
    all_device_ns = all_device_work(p).ns;
    roofs = has_ceilings(p.machine);
    if (options.sort.empty()) sort = find_column(default_sort(p));
    look_for_one_type(p);
    choose_sections(p);
  }

 private:
  const char* default_sort(const profile& p) const {
    if (by.has(group_key::step))  // only these are known of single steps
      return knows_device_of_steps(p) ? "device" : "self";
    return roofs ? "lost" : device ? "device" : "self";
  }

  // A section that was not asked for comes where it says what the operators do not.
  void choose_sections(const profile& p) {
    double operators_ns = 0, explained_ns = 0, copies_ns = 0;
    const std::vector<std::uint32_t> operators = operators_around(p);
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (operators[i] != scope_node::none) operators_ns += not_negative(p.nodes[i].self_ns);
    for (const device_work& w : p.device.work) {
      const double ns = not_negative(w.total_ns);
      const std::uint32_t node = scope_of(p, w);
      if (node != scope_node::none && operators[node] != scope_node::none) explained_ns += ns;
      if (w.task != device_task::kernel) copies_ns += ns;
    }
    const bool operators_say_most =
        device ? explained_ns > 0.9 * all_device_ns : operators_ns > 0.9 * all_self_ns;
    tree = options.tree.value_or(!options.table || !operators_say_most);
    // Beside the table, a tree that nobody asked for says in which regions the time is.
    if (!options.tree && options.table && options.top > most_tree_rows_unasked)
      tree_top = most_tree_rows_unasked;
    kernels = options.kernels.value_or(explained_ns < 0.99 * all_device_ns);
    if (!options.kernels && options.top > 0) {
      by_launch = by != grouping{};
      if (options.top > most_kernel_rows_unasked) kernels_top = most_kernel_rows_unasked;
    }
    copies = options.copies.value_or(copies_ns > 0.1 * all_device_ns);
  }

  void look_for_one_type(const profile& p) {
    std::uint32_t typed_node = scope_node::none;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const dtype type = p.nodes[i].work.type;
      if (type == dtype::unknown) {
        any_untyped_ = any_untyped_ || p.nodes[i].kind == scope_kind::op;
        continue;
      }
      if (typed_node == scope_node::none) typed_node = static_cast<std::uint32_t>(i);
      if (p.nodes[typed_node].work.type != type) return;
    }
    if (typed_node != scope_node::none) one_type = p.nodes[typed_node].work.type;
  }

  static constexpr std::size_t most_tree_rows_unasked = 12, most_kernel_rows_unasked = 16;

  std::vector<std::string> file_complaints_;  // about the file of `machine`
  bool any_untyped_ = false;                  // an operator does not say its type
};

}  // namespace detail
KPROF_DETAIL_END

#endif
