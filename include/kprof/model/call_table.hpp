// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_CALL_TABLE_HPP
#define KPROF_MODEL_CALL_TABLE_HPP

// Calls of CUDA's libraries, by function. Include it to use their numbers in a program. Pure;
// linear in device_profile::calls, sorting aside.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Calls of one function.
struct call_row {
  std::string function;  ///< without a version: "cudaLaunchKernel"
  call_kind kind = call_kind::other;
  std::uint64_t calls = 0;
  double total_ns = 0;   ///< host time
  double share = 0;      ///< total_ns, of that of all rows; 0 to 1
  double max_ns = 0;     ///< the longest call
  double waited_ns = 0;  ///< of total_ns, in calls that may block
  /// The operator or region that most of total_ns was spent right in; empty: outside all scopes.
  std::string scope;
  double scope_ns = 0;
};

/// The functions that the program called, most time first.
///     for (const auto& row : kprof::call_table(run)) use(row.function, row.calls);
inline std::vector<call_row> call_table(const profile& p) {
  struct in_scope {
    std::size_t row;
    std::string_view scope;
    double ns;
  };
  std::vector<call_row> table;
  std::vector<in_scope> scopes;
  std::vector<std::size_t> rows(p.device.functions.size(), ~std::size_t{0});
  double all_ns = 0;
  for (const host_call_sum& sum : p.device.calls) {
    if (sum.name >= rows.size()) continue;
    std::size_t& row = rows[sum.name];
    if (row == ~std::size_t{0}) {
      // Versions of a function have one name.
      const std::string& name = p.device.functions[sum.name];
      row = static_cast<std::size_t>(
          std::find_if(table.begin(), table.end(),
                       [&](const call_row& other) { return other.function == name; }) -
          table.begin());
      if (row == table.size()) {
        call_row& added = table.emplace_back();
        added.function = name;
        added.kind = sum.kind;
      }
    }
    const double ns = detail::not_negative(sum.total_ns);
    table[row].calls += sum.calls;
    table[row].total_ns += ns;
    table[row].max_ns = std::max(table[row].max_ns, sum.max_ns);
    table[row].waited_ns += detail::not_negative(sum.waited_ns);
    all_ns += ns;
    const bool inside = sum.scope < p.nodes.size() && p.nodes[sum.scope].kind != scope_kind::root;
    scopes.push_back({row, inside ? std::string_view{p.nodes[sum.scope].name} : "", ns});
  }
  detail::sort_table(scopes, [](const in_scope& a, const in_scope& b) {
    return a.row != b.row ? a.row < b.row : a.scope < b.scope;
  });
  for (std::size_t i = 0, next = 0; i < scopes.size(); i = next) {
    double ns = 0;
    for (; next < scopes.size() && scopes[next].row == scopes[i].row &&
           scopes[next].scope == scopes[i].scope;
         ++next)
      ns += scopes[next].ns;
    call_row& row = table[scopes[i].row];
    if (ns <= row.scope_ns) continue;
    row.scope = scopes[i].scope;
    row.scope_ns = ns;
  }
  for (call_row& row : table) row.share = all_ns > 0 ? row.total_ns / all_ns : 0;
  detail::sort_table(table,
                     [](const call_row& a, const call_row& b) { return a.total_ns > b.total_ns; });
  return table;
}

namespace detail {

/// By node, the host time that was spent right in it in calls that may block; empty: in none.
inline std::vector<double> waited_in(const profile& p) {
  std::vector<double> out;
  for (const host_call_sum& sum : p.device.calls) {
    if (!(sum.waited_ns > 0) || sum.scope >= p.nodes.size()) continue;
    out.resize(p.nodes.size());
    out[sum.scope] += sum.waited_ns;
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
