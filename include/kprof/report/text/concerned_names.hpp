// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_CONCERNED_NAMES_HPP
#define KPROF_REPORT_TEXT_CONCERNED_NAMES_HPP

// The lines of the text report that name the operators of which something is true. Included by its
// tables.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/report/text/page.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Lists the operators whose rows something holds for, and of how many of their rows where it is
/// not for all.
class concerned_names {
 public:
  /// `names`: of the operator of each row.
  [[gnu::cold]] explicit concerned_names(std::vector<std::string> names)
      : names_(std::move(names)), name_of_(names_.size()) {
    text_numbers numbers;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      name_of_[i] = numbers.of(names_[i]);
      if (name_of_[i] == shown_.size()) shown_.push_back(0);
      ++shown_[name_of_[i]];
    }
  }

  /// A line, if concerned(index of a row) holds for a row.
  template <class Concerned>
  void print(page& out, const std::string& lead, const Concerned& concerned) const {
    std::vector<bool> rows(names_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = concerned(i);
    print_rows(out, lead, rows);
  }

 private:
  [[gnu::cold, gnu::noinline]] void print_rows(page& out, const std::string& lead,
                                               const std::vector<bool>& concerned) const {
    std::vector<std::size_t> count(shown_.size());
    std::vector<std::uint32_t> order;
    std::vector<std::string> names, notes;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!concerned[i] || ++count[name_of_[i]] > 1) continue;
      order.push_back(name_of_[i]);
      names.push_back(names_[i]);
    }
    if (names.empty()) return;
    for (const std::uint32_t name : order)
      notes.push_back(count[name] == shown_[name] ? ""
                                                  : " (" + format_count(count[name]) + " of " +
                                                        format_count(shown_[name]) + " rows)");
    out.list(lead, names, notes, line_style::notice);
  }

  std::vector<std::string> names_;
  std::vector<std::uint32_t> name_of_;  // of each row, the number of its operator
  std::vector<std::size_t> shown_;      // of each operator, how many rows it has
};

}  // namespace detail
KPROF_DETAIL_END

#endif
