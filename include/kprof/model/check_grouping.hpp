// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_CHECK_GROUPING_HPP
#define KPROF_MODEL_CHECK_GROUPING_HPP

// Whether the fields that a grouping names are fields of operators of a profile. The text of a
// grouping is read before there is a profile; its names are looked up here. Included by the
// outputs and by tables.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/field_paths.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/nearest_word.hpp>
#include <kprof/profile.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A grouping as far as a profile has what it names.
struct checked_grouping {
  grouping value;  ///< without the fields that no operator has; by parameters where no key is left
  std::vector<std::string> complaints;  ///< a line for each of them, fit to print
};

namespace detail {

/// The fields of the operators of a profile, each once, in their order; nested ones by their path,
/// arrays as a whole.
[[gnu::cold]] inline std::vector<std::string> field_names(const profile& p) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, const std::vector<operator_field>*>> todo;
  for (const operator_info& op : p.operators) todo.emplace_back("", &op.fields);
  for (std::size_t i = 0; i < todo.size() && names.size() < 1000; ++i) {
    const std::string prefix = todo[i].first;
    for (const operator_field& f : *todo[i].second) {
      const std::string name = prefix + f.name;
      if (f.kind == parameter_kind::aggregate && todo.size() < 1000)
        todo.emplace_back(name + (f.extent == 0 ? "." : "[0]."), &f.fields);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// `written`: "by=op+Q" or "fold=Q".
[[gnu::cold]] inline std::string no_such_field(const profile& p, const std::string& written,
                                               const std::string& path, bool is_key) {
  std::vector<std::string> names = field_names(p);
  std::string text = printable(written, 60) + ": no operator of this run has a field \"" +
                     printable(path, 60) + '"';
  std::vector<std::string> candidates = names;
  if (is_key)
    candidates.insert(candidates.end(), std::begin(group_key_words), std::end(group_key_words));
  const std::string nearest = nearest_word(path, candidates);
  if (!nearest.empty()) text += "; did you mean " + printable(nearest, 60) + '?';
  if (names.empty()) return text + "; its operators have no fields";
  text += nearest.empty() ? "; fields: " : " Fields: ";
  constexpr std::size_t most = 30;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text.append(i == 0 ? "" : ", ").append(printable(names[i], 60));
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

[[gnu::cold]] inline bool any_has_field(const profile& p, std::string_view path) {
  return std::any_of(p.operators.begin(), p.operators.end(),
                     [&](const operator_info& op) { return has_field(op, path); });
}

/// What is wrong with asking for rows by step; empty: nothing.
[[gnu::cold]] inline std::string no_steps(const profile& p, const grouping& by) {
  if (!p.stepping.shares.empty()) return {};
  const std::string text = "by=" + printable(by.text(), 60) + ": ";
  if (p.stepping.threads.empty())
    return text +
           "no steps were recorded; write KPROF_STEP(); where one ends, or name the region that is "
           "a step: KPROF=step=REGION (a field of that name is field:step)";
  if (p.stepping.without_shares != 0)
    return text +
           "a step has scopes in too many places of the call tree; fewer different parameters or "
           "names of regions help";
  return text +
         "the timeline holds no whole step; two must have ended, and with more `memory` the "
         "timeline is longer";
}

}  // namespace detail

/// Looks up what a grouping names. A run without operators has nothing to complain of.
///     const auto by = kprof::check_grouping(run, kprof::grouping::field("M"));
///     for (const std::string& line : by.complaints) std::puts(line.c_str());
[[gnu::cold]] inline checked_grouping check_grouping(const profile& p, const grouping& by) {
  checked_grouping out{grouping::nothing(), {}};
  bool left_out = false;
  for (const detail::group_part& part : by.keys()) {
    std::string lacks_steps = part.kind == group_key::step && !p.operators.empty()
                                  ? detail::no_steps(p, by)
                                  : std::string{};
    const bool known =
        lacks_steps.empty() && (part.kind != group_key::field || p.operators.empty() ||
                                detail::any_has_field(p, part.field));
    if (!lacks_steps.empty()) out.complaints.push_back(std::move(lacks_steps));
    else if (known)
      out.value = out.value + (part.kind == group_key::field ? grouping::field(part.field)
                                                             : grouping(part.kind));
    else out.complaints.push_back(detail::no_such_field(p, "by=" + by.text(), part.field, true));
    left_out = left_out || !known;
  }
  if (left_out && out.value.text().empty()) out.value = grouping::parameters;
  std::vector<std::string> folded;
  for (const std::string& path : by.folded())
    if (p.operators.empty() || detail::any_has_field(p, path)) folded.push_back(path);
    else out.complaints.push_back(detail::no_such_field(p, "fold=" + path, path, false));
  out.value = out.value.folding(std::move(folded));
  return out;
}

KPROF_DETAIL_END

#endif
