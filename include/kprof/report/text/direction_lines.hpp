// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_DIRECTION_LINES_HPP
#define KPROF_REPORT_TEXT_DIRECTION_LINES_HPP

// Forward, backward and update of a training beside each other, by layer, in the section "Steps" of
// the text report; and the operator whose backward is slow. Included by step_lines.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/timeline/passes.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Lines of cells, the head first: columns that fit, the first from the left, the others from the
/// right.
[[gnu::cold]] inline void print_cells(page& out,
                                      const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> widths(cells[0].size());
  std::size_t shown_columns = 0, used = 0;
  for (; shown_columns < widths.size(); ++shown_columns) {
    for (const std::vector<std::string>& row : cells)
      widths[shown_columns] = std::max(widths[shown_columns], display_width(row[shown_columns]));
    if (used + widths[shown_columns] + 2 > out.width()) break;
    used += widths[shown_columns] + 2;
  }
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < shown_columns; ++c) {
      const std::string gap(widths[c] - display_width(cells[r][c]), ' ');
      line += "  " + (c == 0 ? cells[r][c] + gap : gap + cells[r][c]);
    }
    out.line(line, r == 0 ? line_style::dim : line_style::plain);
  }
}

inline constexpr std::size_t most_layers = 3;

/// Times by direction, and the share of each.
[[gnu::cold]] inline std::vector<std::string> direction_cells(const page& out, std::string name,
                                                              const double (&ns)[directions],
                                                              double whole) {
  std::vector<std::string> cells{std::move(name)};
  for (const direction way :
       {direction::forward, direction::backward, direction::update, direction::none}) {
    const double part = ns[static_cast<std::size_t>(way)];
    cells.push_back(part > 0 ? out.time(part) + "  " + format_share(part / whole) : "-");
  }
  return cells;
}

/// The operator with most time of those whose backward takes longer than its work lets expect.
[[gnu::cold]] inline void print_slow_backward(page& out, const profile& p) {
  constexpr auto back = static_cast<std::size_t>(direction::backward);
  const std::vector<direction_row> rows = directions_of(p);
  const direction_row* slow = nullptr;
  for (const direction_row& row : rows)
    if (row.is_slow_backward() && (slow == nullptr || row.ns[back] > slow->ns[back])) slow = &row;
  if (slow == nullptr) return;
  out.paragraph(
      "  ",
      "backward of " + printable(slow->op, 40, out.ascii()) +
          (slow->layer.empty() ? std::string{} : " in " + printable(slow->layer, 40, out.ascii())) +
          " took " + format_rate(slow->ratio()) + " times its forward, for " +
          format_rate(slow->formula_ratio()) + " times the FLOPs",
      4);
}

/// Nothing where the run goes in one direction only.
[[gnu::cold]] inline void print_directions(page& out, const profile& p) {
  const bool of_device = has_device_work(p);
  struct named_times {
    std::string layer;
    double ns[directions] = {};
    double sum = 0;
  };
  std::vector<named_times> rows;
  named_times all;
  for (layer_row& layer : layers_of(p)) {
    named_times& row = rows.emplace_back();
    row.layer = layer.layer.empty() ? "no layer" : printable(layer.layer, 30, out.ascii());
    for (std::size_t way = 0; way < directions; ++way) {
      row.ns[way] = of_device ? layer.device_ns[way] : layer.host_ns[way];
      row.sum += row.ns[way];
      all.ns[way] += row.ns[way];
    }
    all.sum += row.sum;
  }
  std::size_t ways = 0;
  for (std::size_t way = 1; way < directions; ++way) ways += all.ns[way] > 0 ? 1U : 0U;
  if (ways < 2) return;
  std::vector<std::vector<std::string>> cells{
      {of_device ? "device time" : "time", "forward", "backward", "update", "other"},
      direction_cells(out, "all", all.ns, all.sum)};
  sort_table(rows, [](const named_times& a, const named_times& b) { return a.sum > b.sum; });
  std::size_t with_time = 0;
  for (const named_times& row : rows) with_time += row.sum > 0 ? 1U : 0U;
  for (std::size_t i = 0; with_time > 1 && i < std::min(with_time, most_layers); ++i)
    cells.push_back(direction_cells(out, rows[i].layer, rows[i].ns, all.sum));
  print_cells(out, cells);
  if (with_time > most_layers)
    out.line("  and " + counted(with_time - most_layers, "more layer", "more layers"));
  print_slow_backward(out, p);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
