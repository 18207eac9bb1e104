// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OPERATOR_GRID_HPP
#define KPROF_REPORT_TEXT_OPERATOR_GRID_HPP

// The table of operators laid out on a page: which columns fit, and how wide the parameters are.
// Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/grid.hpp>
#include <kprof/report/text/off_cpu_line.hpp>
#include <kprof/report/text/operator_cells.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/operator_lines.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class operator_grid {
 public:
  std::vector<const column*> shown;
  std::vector<const column*> unknown;  // left out unasked: n/a in every row
  std::vector<std::string> left_out;   // headers of columns that did not fit
  std::vector<std::string> cut;        // headers of columns whose texts did not
  std::size_t whole_width = 0;         // of a page on which nothing is cut or left out

  [[gnu::cold]] operator_grid(const page& out, const profile& p, const text_plan& plan,
                              const operator_groups& chosen)
      : out_(out), p_(p), plan_(plan), asked_(!plan.columns.empty()) {
    shown = asked_ ? plan.columns : useful_columns(chosen);
    for (const operator_group& g : chosen.groups) {
      largest_ = std::max(largest_, plan.device ? g.sum.device_share : g.sum.share);
      nested_ = nested_ || g.sum.device_total_ns > 2 * g.sum.device_ns;
    }
    lines_ = operator_lines(out, row_describer(p, plan, has(look::pass), true), chosen,
                            [&](const operator_row& row) { return beside(row); });
  }

  /// A line below a rule, of a sum over the whole table or of what is not in it. `work`: FLOPs,
  /// bytes and rates of it.
  void add_total(std::string name, const hidden_rows& sum, const operator_row* work = nullptr) {
    totals_.push_back({.sum = &sum, .work = work, .name = std::move(name), .look = {.span = 2}});
  }

  [[gnu::cold]] void print(page& out) {
    if (!totals_.empty()) totals_.front().look.rule_before = true;
    std::vector<operator_line> lines = lines_.lines;
    lines.insert(lines.end(), totals_.begin(), totals_.end());
    for (const column* c : shown) {
      cells_.columns.push_back(grid_column_of(*c));
      if (is_in_tera(*c, lines)) cells_.columns.back().header.replace(0, 1, "T");
    }
    for (const operator_line& line : lines) {
      auto& row = cells_.rows.emplace_back();
      for (std::size_t i = 0; i < shown.size(); ++i)
        row.push_back(cell_of(*shown[i], line, cells_.columns[i].header != shown[i]->header));
      if (line.row == nullptr && is_text(*shown[0]) && row[0].empty()) row[0] = line.name;
      cells_.looks.push_back(line.look);
    }
    if (!asked_) leave_out_unknown();
    std::size_t texts = 0;
    while (texts < shown.size() && is_text(*shown[texts])) ++texts;
    for (row_look& look : cells_.looks)
      if (look.span > 1) look.span = texts;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (shown[i]->as == look::rate || shown[i]->as == look::ratio) cells_.align_points(i);
      if (shown[i]->as == look::time) cells_.align_units(i);
    }
    fit();
    put_descriptions(lines);
    cells_.print(out);
  }

 private:
  bool has(look as) const noexcept {
    return std::any_of(shown.begin(), shown.end(), [&](const column* c) { return c->as == as; });
  }

  std::vector<const column*> useful_columns(const operator_groups& chosen) const {
    std::vector<const column*> out;
    for (const column& c : columns)
      if (is_useful(c, chosen)) out.push_back(&c);
    return out;
  }
  [[gnu::cold]] bool is_useful(const column& c, const operator_groups& chosen) const {
    const auto any = [&](auto holds) {
      return std::any_of(chosen.groups.begin(), chosen.groups.end(), [&](const operator_group& g) {
        return std::any_of(g.rows.begin(), g.rows.end(), holds);
      });
    };
    switch (c.as) {
      case look::name: return chosen.by_operator;
      case look::call_site:
      case look::thread: return false;  // described where they are keys
      case look::around: return plan_.has_column(key_of(c));
      case look::open: return any([](const operator_row& row) { return row.open > 0; });
      case look::pass:
        return plan_.by.has(group_key::parameters) && any([](const operator_row& row) {
                 return row.pass != pass_kind::unknown && row.pass != pass_kind::fprop;
               });
      case look::bound: return plan_.roofs;
      case look::bar: return c.is(plan_.device ? "device_bar" : "bar");
      default: break;
    }
    if (c.is("waited") &&
        !any([&](const operator_row& row) { return row.waited_ns > 0.01 * plan_.all_self_ns; }))
      return false;
    if (c.is("cpu"))
      return any([&](const operator_row& row) { return was_off_cpu(off_cpu_of(row), plan_); });
    const unsigned rank = rank_of(c, plan_.device);
    if (is_of_roof(c) && !plan_.roofs) return false;
    if (c.number == &projected_metric && !plan_.other) return false;
    return rank > 0 && rank != not_here;
  }

  /// What other columns say of a row; they are never left out.
  std::string beside(const operator_row& row) const {
    std::string text;
    for (const column* c : shown)
      if (c->as == look::pass || c->as == look::call_site || c->as == look::thread ||
          c->as == look::around)
        text += cell(*c, row, p_, out_) + '\n';
    return text;
  }

  static bool is_text(const column& c) noexcept { return c.as <= look::bar; }
  static bool is_work(const column& c) noexcept {
    return c.as == look::rate || c.as == look::ratio || c.as == look::si;
  }

  static bool is_of_roof(const column& c) noexcept {
    return c.is("roof") || c.is("lost") || c.is("ideal") || c.number == &projected_metric;
  }

  /// What the rows are described by.
  std::string description_header() const {
    std::string header;
    for (const group_part& part : plan_.by.keys())
      if (part.kind != group_key::op && !plan_.has_column(part.kind))
        header += (header.empty() ? "" : ", ") +
                  (part.kind == group_key::call_site ? "call site" : out_.safe(text_of(part)));
    return header.empty() ? "parameters" : header;
  }
  grid_column grid_column_of(const column& c) {
    return {.header = c.as == look::parameters ? description_header() : c.header,
            .right = !is_text(c) && c.as != look::bound,
            .keep_end = c.as == look::call_site,
            .is_printable = c.as == look::parameters || c.as == look::bar,
            .runs_over = c.as == look::parameters};
  }

  std::string cell_of(const column& c, const operator_line& line, bool tera) const {
    if (c.as == look::name) return line.name;
    if (c.as == look::parameters) return {};
    if (c.as == look::bar) {
      const double share = line.row == nullptr ? 0
                           : plan_.device      ? line.row->device_share
                                               : line.row->share;
      return bar_of(share, largest_, bar_width, out_.ascii());
    }
    if (c.as == look::cumulative)
      return line.so_far.rows == 0 ? ""
             : plan_.device ? format_share(share_of(line.so_far.device_ns, plan_.all_device_ns))
                            : format_share(share_of(line.so_far.self_ns, plan_.all_self_ns));
    if ((is_work(c) || is_of_roof(c)) && rated(line) != nullptr) {
      figure f = c.number->of(*rated(line));
      if (tera) f.value *= 1e-3;
      return figure_cell(f, c.as, out_);
    }
    return line.row != nullptr ? cell(c, *line.row, p_, out_) : sum_cell(c, *line.sum, plan_, out_);
  }

  // Of the column of parameters, if there is one.
  std::size_t description() const noexcept {
    std::size_t at = 0;
    while (at < shown.size() && shown[at]->as != look::parameters) ++at;
    return at;
  }

  [[gnu::cold]] void fit() {
    cells_.measure(out_);
    if (const std::size_t at = description(); at < shown.size()) {
      std::size_t& natural = cells_.columns[at].natural;
      for (std::size_t i = 0; i < lines_.lines.size(); ++i) {
        const operator_line& line = lines_.lines[i];
        const std::size_t said = line.look.span == 1 ? display_width(line.description) : 0,
                          behind = empty_behind(i, at);
        natural = std::max(
            natural,
            line.indent + said - std::min(said, behind) +
                (line.group == operator_line::none ? 0 : lines_.described[line.group].natural()));
      }
    }
    const std::size_t at_description = description(),
                      natural = at_description < shown.size()
                                    ? cells_.columns[at_description].natural
                                    : 0;
    widen_for_sums();
    whole_width = cells_.whole_width();
    set_least();
    while (shown.size() > 1 && cells_.least_width() > out_.width()) drop_one();
    std::reverse(left_out.begin(), left_out.end());
    cells_.lay_out(out_.width());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const grid_column& c = cells_.columns[i];
      if (c.width < (shown[i]->as == look::parameters ? natural : c.natural))
        cut.push_back(c.header);
    }
  }

  /// Columns of the page behind a column that a row leaves empty.
  std::size_t empty_behind(std::size_t row, std::size_t column) const {
    std::size_t width = 0;
    while (++column < shown.size() && cells_.rows[row][column].empty())
      width += grid::gap + cells_.columns[column].natural;
    return width;
  }

  /// Gives the columns of text, where there is room, what the names of sums take.
  void widen_for_sums() {
    std::size_t wanted = lines_.widest_sum, texts = 0, width = 0;
    for (const operator_line& line : totals_) wanted = std::max(wanted, display_width(line.name));
    for (; texts < shown.size() && is_text(*shown[texts]); ++texts)
      width += cells_.columns[texts].natural + (texts > 0 ? grid::gap : 0);
    const std::size_t widest = std::min(description(), texts - std::min<std::size_t>(texts, 1));
    if (texts == 0 || width >= wanted) return;
    grid_column& c = cells_.columns[widest];
    c.natural += wanted - width;
  }

  [[gnu::cold]] void set_least() {
    const bool comfortable =
        !asked_ && std::any_of(shown.begin(), shown.end(), [&](const column* c) {
          return rank_of(*c, plan_.device, nested_) >= comfort_rank;
        });
    for (std::size_t i = 0; i < shown.size(); ++i)
      cells_.columns[i].least = least_width(*shown[i], comfortable, out_.width());
  }

  /// Takes away the columns that have no value in any row.
  [[gnu::cold]] void leave_out_unknown() {
    for (std::size_t i = shown.size(); i-- > 0;) {
      if (shown[i]->number == nullptr && shown[i]->as != look::bound) continue;
      bool any = false, all = true;
      for (const std::vector<std::string>& row : cells_.rows) {
        any = any || row[i] == "n/a";
        all = all && (row[i] == "n/a" || row[i].empty());
      }
      if (!any || !all) continue;
      unknown.insert(unknown.begin(), shown[i]);
      shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(i));
      cells_.drop(i);
    }
  }

  /// The column of the highest goes first. That by which the rows are sorted stays, so that their
  /// order can be seen; where it is `lost`, medians make room for it.
  unsigned rank(const column& c) const noexcept {
    const unsigned rank = rank_of(c, plan_.device, nested_);
    if (&c == plan_.sort) return std::min(rank, 4U);
    return !plan_.device && c.is("median") && plan_.sort->is("lost") ? 9 : rank;
  }

  void drop_one() {
    std::size_t worst = shown.size() - 1;
    if (!asked_)
      for (std::size_t i = 0; i < shown.size(); ++i)
        if (rank(*shown[i]) > rank(*shown[worst])) worst = i;
    if (shown[worst]->as != look::bar) left_out.emplace_back(shown[worst]->header);
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(worst));
    cells_.drop(worst);
    set_least();
  }

  /// Puts the descriptions into their column, with more lines for rows that take more.
  [[gnu::cold]] void put_descriptions(const std::vector<operator_line>& lines) {
    const std::size_t at = description();
    if (at == shown.size()) return;
    const std::size_t width = cells_.columns[at].width;
    std::vector<std::vector<std::vector<std::string>>> texts;
    std::vector<std::size_t> indents(lines_.described.size());
    for (const operator_line& line : lines)
      if (line.group != operator_line::none) indents[line.group] = line.indent;
    for (std::size_t i = 0; i < indents.size(); ++i)
      texts.push_back(lines_.described[i].at_width(width - std::min(width, indents[i])));
    std::vector<std::vector<std::string>> rows;
    std::vector<row_look> looks;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const operator_line& line = lines[i];
      const std::string lead(line.indent, ' ');
      rows.push_back(std::move(cells_.rows[i]));
      looks.push_back(cells_.looks[i]);
      if (line.group == operator_line::none) {
        if (!line.description.empty()) rows.back()[at] = lead + line.description;
        continue;
      }
      const std::vector<std::string>& text = texts[line.group][line.place];
      rows.back()[at] = lead + text[0];
      for (std::size_t more = 1; more < text.size(); ++more) {
        rows.emplace_back(shown.size())[at] = lead + text[more];
        looks.push_back({.style = line.look.style});
      }
    }
    cells_.rows = std::move(rows);
    cells_.looks = std::move(looks);
  }

  static constexpr std::size_t bar_width = 8;

  const page& out_;
  const profile& p_;
  const text_plan& plan_;
  bool asked_, nested_ = false;
  double largest_ = 0;
  operator_lines lines_;
  std::vector<operator_line> totals_;
  grid cells_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
