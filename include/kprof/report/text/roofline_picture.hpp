// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_ROOFLINE_PICTURE_HPP
#define KPROF_REPORT_TEXT_ROOFLINE_PICTURE_HPP

// The roofline chart drawn with characters: FLOP/s over FLOP/B, both logarithmic; the roofs are
// lines, rows are letters with a key below. Included by write_text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/roofline_chart.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/first_calls.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A logarithmic axis of so many cells.
struct log_axis {
  double least = 0, most = 0;  // powers of ten
  std::size_t cells = 1;

  log_axis(double smallest, double largest, std::size_t count) : cells(count) {
    // Rates of very short calls may be infinite.
    most = std::clamp(std::log10(largest), -300.0, 300.0);
    least = std::max(std::log10(smallest), most - 9);
    if (most - least < 1) least = most - 1;
  }
  /// The cell of a value, one at an end for what is beyond.
  std::size_t cell(double x) const noexcept {
    const double part = (std::log10(x) - least) / (most - least);
    return static_cast<std::size_t>(std::clamp(std::floor(part * static_cast<double>(cells)), 0.0,
                                               static_cast<double>(cells - 1)));
  }
  /// The value in the middle of a cell.
  double value(std::size_t at) const noexcept {
    return std::pow(
        10, least + (most - least) * (static_cast<double>(at) + 0.5) / static_cast<double>(cells));
  }
};

class roofline_picture {
 public:
  [[gnu::cold]] roofline_picture(const page& out, const roofline_chart& chart)
      : chart_(chart),
        x_(least_x(), most_x(), out.width() - margin),
        y_(least_y(), most_y(), height),
        cells_(height, std::vector<std::string>(x_.cells, " ")),
        ascii_(out.ascii()) {
    for (const chart_roof& r : chart.roofs) draw(r);
    for (std::size_t i = std::min(chart.points.size(), letters.size()); i-- > 0;)
      cells_[y_.cell(chart.points[i].flops_per_s)][x_.cell(chart.points[i].flops_per_byte)] =
          letters[i];
    for (const chart_roof& r : chart.roofs) label(r);
    for (std::size_t i = 0; i < chart.roofs.size(); ++i) {
      std::size_t same = 0;
      while (chart.roofs[same].bytes_per_s != chart.roofs[i].bytes_per_s) ++same;
      if (same == i) label_slope(chart.roofs[i]);
    }
  }

  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  [[gnu::cold]] void print(page& out) const {
    std::string before;
    for (std::size_t row = height; row-- > 0;) {
      std::string line = tick_of(y_, row, before);
      line.insert(0, margin - 2 - std::min(margin - 2, display_width(line)), ' ');
      line += ascii_ ? " |" : " \u2502";
      for (const std::string& cell : cells_[row]) line += cell;
      out.line(line);
    }
    std::string axis(margin - 1, ' '), ticks(margin, ' ');
    axis += ascii_ ? "+" : "\u2514";
    for (std::size_t i = 0; i < x_.cells; ++i) axis += ascii_ ? "-" : "\u2500";
    out.line(axis);
    before.clear();
    for (std::size_t i = 0; i < x_.cells; ++i) {
      const std::string tick = tick_of(x_, i, before);
      if (tick.empty() || ticks.size() > margin + i ||
          margin + i + tick.size() + 8 > margin + x_.cells)
        continue;
      ticks.resize(margin + i, ' ');
      ticks += tick + ' ';
    }
    ticks.resize(std::max(ticks.size(), margin + x_.cells - 6), ' ');
    out.line(ticks + "FLOP/B");
  }

 private:
  static constexpr std::size_t height = 20, margin = 11;

  double least_x() const {
    double x = HUGE_VAL;
    for (const chart_point& p : chart_.points) x = std::min(x, p.flops_per_byte / 2);
    for (const chart_roof& r : chart_.roofs) x = std::min(x, r.flops_per_s / r.bytes_per_s / 8);
    return x;
  }
  double most_x() const {
    double x = 0;
    for (const chart_point& p : chart_.points) x = std::max(x, p.flops_per_byte * 2);
    for (const chart_roof& r : chart_.roofs) x = std::max(x, r.flops_per_s / r.bytes_per_s * 8);
    return x;
  }
  double least_y() const {
    double y = HUGE_VAL;
    for (const chart_point& p : chart_.points) y = std::min(y, p.flops_per_s / 2);
    for (const chart_roof& r : chart_.roofs) y = std::min(y, r.flops_per_s / 100);
    return y;
  }
  double most_y() const {
    double y = 0;
    for (const chart_point& p : chart_.points) y = std::max(y, p.flops_per_s * 2);
    for (const chart_roof& r : chart_.roofs) y = std::max(y, r.flops_per_s * 2);
    return y;
  }

  /// The power of ten in a cell, if there is one.
  static std::string tick_of(const log_axis& axis, std::size_t cell, std::string& before) {
    const double step = (axis.most - axis.least) / static_cast<double>(axis.cells),
                 from = axis.least + step * static_cast<double>(cell), power = std::ceil(from);
    if (!(power < from + step)) return {};
    const double value = std::pow(10, power);
    std::string text = value >= 1 ? format_si(value) : format_fixed(value, power < -2 ? 3 : 2);
    while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.'))
      text.pop_back();
    if (const std::size_t zeros = text.find(".00"); zeros != std::string::npos)
      text.erase(zeros, 3);
    if (const std::size_t zeros = text.find(".0 "); zeros != std::string::npos)
      text.erase(zeros, 2);
    if (text == before || value < 0.001) return {};
    return before = text;
  }

  void draw(const chart_roof& r) {
    const double ridge = r.flops_per_s / r.bytes_per_s;
    for (std::size_t i = 0; i < x_.cells; ++i) {
      const double x = x_.value(i), y = r.at(x);
      if (std::log10(y) < y_.least) continue;
      std::string& cell = cells_[y_.cell(y)][i];
      cell = x < ridge ? (ascii_ ? "/" : "\u2571") : (ascii_ ? "-" : "\u2500");
    }
  }
  /// A roof's name at the right end of its flat part, or right above or below where a row or
  /// another name is in its way.
  void label(const chart_roof& r) {
    const std::string text = ' ' + r.name + ' ' + format_si(r.flops_per_s, "FLOP/s");
    if (text.size() >= x_.cells) return;
    const std::size_t from = x_.cells - text.size(), flat = y_.cell(r.flops_per_s);
    for (const std::size_t at : {flat, flat + 1, flat - 1}) {
      if (at >= height) continue;
      std::vector<std::string>& row = cells_[at];
      const auto is_letter = [](const std::string& cell) {
        return cell.size() == 1 && cell.find_first_of(" -/") != 0;
      };
      if (std::any_of(row.begin() + static_cast<std::ptrdiff_t>(from), row.end(), is_letter))
        continue;
      for (std::size_t i = 0; i < text.size(); ++i) row[from + i] = text[i];
      return;
    }
  }

  /// A roof's bandwidth right above its slope, else right below, where nothing is in its way.
  void label_slope(const chart_roof& r) {
    const std::string text = ' ' + format_si(r.bytes_per_s, "B/s") + ' ';
    const auto is_free = [&](std::size_t row, std::size_t from) {
      for (std::size_t i = from; i < from + text.size(); ++i)
        if (i >= x_.cells || cells_[row][i] != " ") return false;
      return true;
    };
    for (const bool above : {true, false})
      for (std::size_t row = y_.cell(r.flops_per_s); row-- > 0;) {
        std::size_t first = x_.cells, last = 0;  // of the slope in this row
        for (std::size_t i = 0; i < x_.cells; ++i)
          if (y_.cell(r.at(x_.value(i))) == row && std::log10(r.at(x_.value(i))) >= y_.least)
            first = std::min(first, i), last = i;
        if (first > last || (above && first < text.size())) continue;
        const std::size_t from = above ? first - text.size() : last + 1;
        if (!is_free(row, from)) continue;
        for (std::size_t i = 0; i < text.size(); ++i) cells_[row][from + i] = text[i];
        return;
      }
  }

  const roofline_chart& chart_;
  log_axis x_, y_;
  std::vector<std::vector<std::string>> cells_;
  bool ascii_;
};

[[gnu::cold]] inline void print_roofline(page& out, const profile& p, const text_plan& plan) {
  const operator_groups chosen(p, plan);
  const row_describer describer(p, plan, false);
  std::vector<operator_row> rows;
  std::vector<std::string> names;
  for (const operator_group& g : chosen.groups)
    for (std::size_t i = 0; i < g.shown; ++i) {
      rows.push_back(g.rows[i]);
      names.push_back(name_of_row(g, i, describer));
    }
  const roofline_chart chart = make_roofline_chart(p, rows);
  out.space();
  out.line("Roofline: FLOP/s over FLOP/B", line_style::bold);
  out.space();
  if (chart.roofs.empty() || chart.points.empty()) {
    out.paragraph("",
                  chart.points.empty()
                      ? "no row has both FLOPs and bytes: declare flops() and bytes()"
                  : has_ceilings(p.machine)
                      ? "no row says a type whose highest rate is known: give the operator a field "
                        "or a function `type`"
                      : "this machine's highest rates are not known (docs/ceilings.md)",
                  2);
    return;
  }
  roofline_picture(out, chart).print(out);
  const std::size_t drawn = std::min(chart.points.size(), roofline_picture::letters.size());
  for (std::size_t i = 0; i < drawn; ++i) {
    const operator_row& row = rows[chart.points[i].row];
    const std::string& name = names[chart.points[i].row];
    const std::string figures =
        "  " + format_si(row.flops_per_s.value, "FLOP/s") +
        (row.verdict.roof.known() ? ", " + format_share(row.verdict.roof.value) + " of the roof"
                                  : "");
    out.line(std::string{"  "} + roofline_picture::letters[i] + "  " +
             printable(out.ascii() ? ascii_notation(name) : name,
                       out.width() - 5 - std::min(out.width() - 13, figures.size()), out.ascii()) +
             figures);
  }
  if (chart.points.size() > drawn)
    out.line("  " + counted(chart.points.size() - drawn, "more row is", "more rows are") +
             " not drawn");
  if (chart.left_out > 0)
    out.line("  without FLOPs, bytes or time: " + counted(chart.left_out, "row", "rows"));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
