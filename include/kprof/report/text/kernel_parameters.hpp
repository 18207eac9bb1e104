// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNEL_PARAMETERS_HPP
#define KPROF_REPORT_TEXT_KERNEL_PARAMETERS_HPP

// The column of parameters in the table of kernels. Included by kernel_grid.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/kernel_columns.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/telling_lines.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The parameters of the rows, by what tells the rows of an operator apart.
class kernel_parameters {
 public:
  /// `beside`: what else is known of each row.
  [[gnu::cold]] kernel_parameters(const page& out, const profile& p, const text_plan& plan,
                                  bool pass_apart, const std::vector<kernel_row>& rows,
                                  const std::vector<std::string>& beside)
      : describer_(p, plan, pass_apart) {
    std::vector<std::string> operators;
    for (const kernel_row& row : rows) operators.push_back(operator_cell(row, out));
    const std::vector<std::uint32_t> number = equal_texts(operators);
    std::vector<std::vector<described_row>> described;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (number[i] == described.size()) described.emplace_back();
      places_.emplace_back(number[i], described[number[i]].size());
      described[number[i]].push_back({parts_of(p, rows[i]), beside[i], rows[i].key});
    }
    for (std::vector<described_row>& of_operator : described)
      described_.emplace_back(std::move(of_operator), out.ascii());
  }

  [[gnu::cold]] std::size_t natural() const noexcept {
    std::size_t widest = 0;
    for (const telling_lines& d : described_) widest = std::max(widest, d.natural());
    return widest;
  }
  /// The lines of each row.
  [[gnu::cold]] std::vector<std::vector<std::string>> at_width(std::size_t width) const {
    std::vector<std::vector<std::vector<std::string>>> lines;
    for (const telling_lines& d : described_) lines.push_back(d.at_width(width));
    std::vector<std::vector<std::string>> out;
    for (const auto& [op, row] : places_) out.push_back(lines[op][row]);
    return out;
  }

 private:
  [[gnu::cold]] part_list parts_of(const profile& p, const kernel_row& row) const {
    part_list parts;
    const bool several = row.variants > 1 && row.parameters.empty();
    if (row.invalid && !several) parts.push_back({0, "invalid:"});
    if (std::string keys = keys_text(row.values); !keys.empty())
      parts.push_back({first_place, std::move(keys)});
    if (several) {
      parts.push_back({first_place + 1, format_count(row.variants) + " variants", false, true});
    } else if (row.parameters_merged) {
      parts.push_back({first_place + 1, "(not kept)"});
    } else if (row.variants == 1 && !row.parameters.empty() && row.node < p.nodes.size()) {
      for (parameter_part& part : describer_.parts_of(p.nodes[row.node]))
        parts.push_back(std::move(part));
    } else if (!row.parameters.empty()) {
      parts.push_back({first_place + 1, row.parameters});
    }
    if (row.cooperative) parts.push_back({first_place + 2, "cooperative"});
    return parts;
  }

  static constexpr std::uint32_t first_place = std::uint32_t{1} << 20U;

  row_describer describer_;
  std::vector<telling_lines> described_;                     // by operator
  std::vector<std::pair<std::size_t, std::size_t>> places_;  // of the rows there
};

}  // namespace detail
KPROF_DETAIL_END

#endif
