// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OPERATOR_LINES_HPP
#define KPROF_REPORT_TEXT_OPERATOR_LINES_HPP

// The lines of the table of operators: an operator's name with its sum, its rows below it, each by
// what tells it from the others, then what is folded. Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/grid.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/telling_lines.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line of the table before it is laid out: a row, or the sum of several.
struct operator_line {
  const operator_row* row = nullptr;  // its numbers; else those of `sum`
  const hidden_rows* sum = nullptr;
  const operator_row* work = nullptr;  // FLOPs, bytes and rates of the sum, if they are one
  std::string name{};                  // in the column of operators
  std::string description{};           // where it is no row that telling_lines describes
  std::size_t indent = 0;              // of the description
  row_look look{};
  hidden_rows so_far{};  // of this line and those above; no rows below the table
  // Of a row: which of the descriptions of its operator, and which row there.
  std::size_t group = none, place = 0;

  static constexpr std::size_t none = ~std::size_t{0};
};

/// The row whose rates a line has, or none.
inline const operator_row* rated(const operator_line& line) noexcept {
  return line.row != nullptr ? line.row : line.work;
}
/// Whether a column of rates, GFLOP/s or GB/s, has numbers of five digits. Rows that are
/// impossible have no say in it, nor have the sums that may hold them.
[[gnu::cold]] inline bool is_in_tera(const column& c, const std::vector<operator_line>& lines) {
  if (c.as != look::rate) return false;
  const auto is_impossible = [](const operator_line& line) {
    return line.row != nullptr && line.row->verdict.bound == bound_by::impossible;
  };
  bool rows_only = false;
  for (const operator_line& line : lines) rows_only = rows_only || is_impossible(line);
  for (const operator_line& line : lines) {
    if (rated(line) == nullptr || is_impossible(line)) continue;
    const figure f = c.number->of(*rated(line));
    if (f.known() && f.value >= least_tera && !(rows_only && line.group == operator_line::none))
      return true;
  }
  return false;
}

/// All lines of the table, and the descriptions of the rows by operator.
struct operator_lines {
  std::vector<operator_line> lines;
  std::vector<telling_lines> described;
  // Columns for the name of what is folded, and for some of its operators.
  std::size_t widest_sum = 0;

  operator_lines() = default;
  /// `beside`: what columns beside the parameters say of a row.
  template <class Beside>
  [[gnu::cold]] operator_lines(const page& out, const row_describer& describer,
                               const operator_groups& chosen, Beside beside) {
    for (const operator_group& g : chosen.groups) add(out, describer, chosen, g, beside);
    if (!chosen.folded_names.empty()) {
      std::string text = more(out, chosen.folded_names.size(), "operators", chosen.folded_below);
      widest_sum = display_width(text) + 24;
      for (const std::string& name : chosen.folded_names)
        text.append(&name == chosen.folded_names.data() ? ": " : ", ").append(out.safe(name));
      widest_sum = std::min(widest_sum, display_width(text));
      lines.push_back(
          {.sum = &chosen.folded, .name = text, .look = {.span = 2, .style = line_style::dim}});
      count(chosen.folded);
    }
  }

 private:
  template <class Beside>
  [[gnu::cold]] void add(const page& out, const row_describer& describer,
                         const operator_groups& chosen, const operator_group& g, Beside beside) {
    std::vector<described_row> rows;
    for (std::size_t i = 0; i < g.rows.size(); ++i)
      rows.push_back({describer.parts(g.rows[i], g.sets[i]), beside(g.rows[i]), g.rows[i].key});
    say_differing_fields(rows, [&](std::size_t i) { return describer.fields_of(g.rows[i]); });
    const std::size_t indent = chosen.by_operator ? 2 : 0;
    if (rows.size() == 1) {
      lines.push_back({.row = &g.rows[0], .name = name_of(chosen, g), .group = described.size()});
      described.emplace_back(std::move(rows), out.ascii());
      count(g.rows[0]);
      return;
    }
    if (chosen.by_operator) {
      const hidden_rows above = so_far_;
      add_head(out, chosen, g, rows);
      count(g.sum);
      if (g.shown == 0) return;
      so_far_ = above;
    }
    say_defaults(describer, g, rows);
    rows.resize(g.shown);
    for (std::size_t i = 0; i < g.shown; ++i) {
      lines.push_back({.row = &g.rows[i], .indent = indent, .group = described.size(), .place = i});
      count(g.rows[i]);
    }
    described.emplace_back(std::move(rows), out.ascii());
    if (g.folded.rows == 0) return;
    lines.push_back({.sum = &g.folded,
                     .description = more(out, g.folded.rows, "more", chosen.folded_below),
                     .indent = indent,
                     .look = {.style = line_style::dim}});
    count(g.folded);
  }

  /// The last line is of these rows.
  template <class Rows>
  [[gnu::cold]] void count(const Rows& rows) {
    ++so_far_.rows;
    so_far_.self_ns += rows.self_ns;
    so_far_.device_ns += rows.device_ns;
    lines.back().so_far = so_far_;
  }

  /// A row of which nothing is left to say has defaults where others have none: it says these.
  [[gnu::cold]] static void say_defaults(const row_describer& describer, const operator_group& g,
                                         std::vector<described_row>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      described_row& row = rows[i];
      if (!row.parts.empty()) continue;
      for (parameter_part& part : describer.fields_of(g.rows[i]))
        if (std::any_of(rows.begin(), rows.end(), [&](const described_row& other) {
              return &other != &row && has_place(other.parts, part.place);
            }))
          row.parts.push_back(std::move(part));
      const bool says_nothing = row.beside.find_first_not_of('\n') == std::string::npos;
      if (row.parts.empty() && says_nothing)
        row.parts.push_back({row_describer::default_place, "(default)"});
    }
  }
  static bool has_place(const part_list& parts, std::uint32_t place) noexcept {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const parameter_part& part) { return part.place == place; });
  }

  /// The operator's name with what all its rows share, which is taken out of these. Where none of
  /// them is shown, that is all that is said of them.
  [[gnu::cold]] void add_head(const page& out, const operator_groups& chosen,
                              const operator_group& g, std::vector<described_row>& rows) {
    std::vector<part_list> parts;
    for (described_row& row : rows) parts.push_back(std::move(row.parts));
    const std::string shared = joined(take_shared(parts));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].parts = std::move(parts[i]);
    std::string text = format_count(g.rows.size()) + " rows";
    // Of rows that are small even together, the sum says how small.
    const bool is_small = weight_of(g.sum) < chosen.folded_below && !shared.empty();
    if (g.shown == 0 && !is_small) text += each_below(chosen.folded_below);
    else if (!shared.empty()) text.insert(0, "all ");
    if (!shared.empty()) text += ": " + out.safe(out.ascii() ? ascii_notation(shared) : shared);
    lines.push_back({.row = &g.sum,
                     .name = name_of(chosen, g),
                     .description = std::move(text),
                     .look = {.style = line_style::bold}});
  }

  static std::string name_of(const operator_groups& chosen, const operator_group& g) {
    return !chosen.by_operator ? "" : g.sum.name.empty() ? "(no name)" : g.sum.name;
  }
  static std::string each_below(double weight) {
    return ", each < " + format_share(std::ceil(weight * 1000 - 1e-6) / 1000);
  }
  static std::string more(const page& out, std::uint64_t count, const char* what, double below) {
    return (out.ascii() ? "... " : "\u2026 ") + format_count(count) + ' ' + what +
           each_below(below);
  }

  hidden_rows so_far_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
