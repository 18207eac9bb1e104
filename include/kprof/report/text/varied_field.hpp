// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_VARIED_FIELD_HPP
#define KPROF_REPORT_TEXT_VARIED_FIELD_HPP

// The field in which rows differ most. Included by operator_groups.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/field_ranges.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct varied_field {
  std::string path;        // empty: none differs
  std::size_t values = 1;  // different ones
};

/// The number that has the most different values in these rows of one operator, besides those in
/// `but`; of equals the first.
[[gnu::cold]] inline varied_field most_varied_field(const profile& p,
                                                    const std::vector<operator_row>& rows,
                                                    const std::vector<std::string>& but) {
  std::vector<std::string> paths;  // in the order of the fields
  std::unordered_map<std::string, std::unordered_set<std::string>> values;
  for (const operator_row& row : rows) {
    if (row.node >= p.nodes.size()) continue;
    const scope_node& n = p.nodes[row.node];
    const operator_info* const op = p.operator_of(n);
    if (op == nullptr || n.merged) continue;
    for_each_parameter(
        *op, n.values,
        [&](std::string_view path, const operator_field& f, const parameter_value& value) {
          if (!holds_number(f.kind)) return;
          const auto [at, is_new] = values.try_emplace(std::string{path});
          if (is_new) paths.emplace_back(path);
          at->second.insert(parameter_text(value));
        });
  }
  varied_field most;
  for (const std::string& path : paths) {
    const std::size_t count = values[path].size();
    if (count > most.values && std::find(but.begin(), but.end(), path) == but.end())
      most = {path, count};
  }
  return most;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
