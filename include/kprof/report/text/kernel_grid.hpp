// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNEL_GRID_HPP
#define KPROF_REPORT_TEXT_KERNEL_GRID_HPP

// The table of kernels laid out on a page, so that no two of its rows read the same. Included by
// kernels.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/fitted_table.hpp>
#include <kprof/report/text/kernel_columns.hpp>
#include <kprof/report/text/kernel_parameters.hpp>
#include <kprof/report/text/kernel_texts.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The numbers of several rows.
struct kernel_total {
  std::string name;
  std::uint64_t calls = 0;
  double ns = 0;
  bool inside = false;  // stands with the rows
};

class kernel_grid {
 public:
  [[gnu::cold]] kernel_grid(page& out, const profile& p, const text_plan& plan,
                            const std::vector<kernel_row>& rows)
      : out_(out), plan_(plan), rows_(rows) {
    for (const kernel_column& c : kernel_columns)
      if (tells_something(c)) shown_.push_back(&c);
    for (const kernel_row& row : rows) {
      const auto known = std::find(wholes_.begin(), wholes_.end(), row.kernel);
      name_of_.push_back(static_cast<std::size_t>(known - wholes_.begin()));
      if (known == wholes_.end()) wholes_.push_back(row.kernel);
    }
    std::vector<std::string> names, beside(rows.size());
    for (const std::string& whole : wholes_)
      names.push_back(whole.empty() ? "(other kernels)" : whole);
    names_ = std::make_unique<kernel_texts>(names, out.ascii());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      beside[i] = std::to_string(name_of_[i]) + '\n';
      for (const kernel_column& c : kernel_columns) {
        if (c.is("calls")) break;
        if (c.cell != nullptr) beside[i] += c.cell(rows[i], out) + '\n';
      }
      for (const group_key key : {group_key::thread, group_key::call_site})
        beside[i] += value_text(rows[i], key) + '\n';
    }
    parameters_ = std::make_unique<kernel_parameters>(out, p, plan, has("pass"), rows, beside);
  }

  [[gnu::cold]] void add_total(kernel_total total) { totals_.push_back(std::move(total)); }

  [[gnu::cold]] void print() {
    add_cells();
    table_.fit(out_);
    std::erase_if(shown_, [&](const kernel_column* c) { return table_.is_left_out(c->header); });
    put_texts();
    table_.print(out_);
  }

 private:
  using text_lines = std::vector<std::vector<std::string>>;

  [[gnu::cold]] bool has(std::string_view header) const noexcept {
    return std::any_of(shown_.begin(), shown_.end(),
                       [&](const kernel_column* c) { return c->is(header); });
  }

  [[gnu::cold]] bool tells_something(const kernel_column& c) const noexcept {
    const auto any = [&](auto holds) { return std::any_of(rows_.begin(), rows_.end(), holds); };
    if (c.is("operator"))
      return any(
          [](const kernel_row& row) { return row.place != launch_place::outside_operators; });
    if (c.is("FLOPs") || c.is("bytes"))
      return any([](const kernel_row& row) { return row.flops.why != absence::no_operator; });
    if (c.is("tensor core"))
      return any([](const kernel_row& row) { return row.tensor_core != tensor_use::unknown; });
    if (c.is("parameters"))
      return any([](const kernel_row& row) { return row.place == launch_place::in_operator; });
    if (c.is("region")) return any([](const kernel_row& row) { return row.regions > 0; });
    if (c.is("pass"))
      return any([](const kernel_row& row) { return row.several_passes || !row.pass.empty(); });
    if (c.is("roof") || c.is("bound"))
      return plan_.roofs && any([&](const kernel_row& row) { return c.cell(row, out_) != "n/a"; });
    if (c.is("tiles")) return any([](const kernel_row& row) { return row.tiles.share.known(); });
    if (c.is("waves") || c.is("occupancy"))
      return any([](const kernel_row& row) { return row.occupancy.unknown == nullptr; });
    return true;
  }

  /// Where a kernel runs in one operator with differing parameters, these outlive other columns, as
  /// does the number of the device where there are several.
  [[gnu::cold]] unsigned rank_of(const kernel_column& c) const {
    if (c.is("device") && std::any_of(rows_.begin(), rows_.end(), [&](const kernel_row& row) {
          return row.several_devices || row.device != rows_[0].device;
        }))
      return 6;
    if (!c.is("parameters")) return c.rank;
    return in_one_operator() ? 5 : c.rank;
  }

  [[gnu::cold]] bool in_one_operator() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      texts.push_back(operator_cell(rows_[i], out_) + '\n' + std::to_string(name_of_[i]));
    const std::vector<bool> equal = ambiguous(texts);
    return std::find(equal.begin(), equal.end(), true) != equal.end();
  }

  [[gnu::cold]] void add_cells() {
    auto& cells = table_.cells;
    cells.rows.resize(rows_.size() + totals_.size());
    cells.looks.resize(cells.rows.size());
    std::size_t left = 0;
    while (!shown_[left]->is("calls")) ++left;
    for (std::size_t i = 0, rules = 0; i < totals_.size(); ++i) {
      row_look& look = cells.looks[rows_.size() + i];
      look = {.span = left,
              .rule_before = !totals_[i].inside && rules == 0,
              .style = totals_[i].inside ? line_style::dim : line_style::plain};
      rules += totals_[i].inside ? 0 : 1;
    }
    for (const kernel_column* c : shown_) {
      std::size_t natural = 0, least = c->least;
      if (c->is("kernel"))
        for (const std::size_t name : name_of_) {
          natural = std::max(natural, names_->natural(name));
          least = std::max(least, names_->least(name));
        }
      if (c->is("kernel") && in_one_operator()) natural = std::max(natural, room_for_facts);
      if (c->is("parameters")) natural = parameters_->natural();
      table_.add_column({.header = c->header,
                         .right = !c->text,
                         .is_printable = c->cell == nullptr,
                         .least = std::min(least, out_.width() / (has("operator") ? 3 : 2)),
                         .natural = natural},
                        rank_of(*c));
      for (std::size_t i = 0; i < rows_.size(); ++i)
        cells.rows[i].push_back(c->cell == nullptr ? "" : c->cell(rows_[i], out_));
      for (std::size_t i = 0; i < totals_.size(); ++i)
        cells.rows[rows_.size() + i].push_back(total_cell(*c, totals_[i]));
      if (c->is("total") || c->is("mean") || c->is("min") || c->is("max"))
        cells.align_units(cells.columns.size() - 1);
    }
  }

  [[gnu::cold]] std::string total_cell(const kernel_column& c, const kernel_total& total) const {
    if (c.is("calls")) return calls_cell(total.calls);
    if (c.is("total")) return out_.time(total.ns);
    if (c.is("share")) return format_share(share_of(total.ns, plan_.all_device_ns));
    return {};
  }

  [[gnu::cold]] std::size_t column(std::string_view header) const noexcept {
    std::size_t at = 0;
    while (at < shown_.size() && !shown_[at]->is(header)) ++at;
    return at;
  }

  /// Puts names and parameters into their columns, and below them what tells a row from others that
  /// would read the same.
  [[gnu::cold]] void put_texts() {
    grid& cells = table_.cells;
    const std::size_t kernels = column("kernel"), parameters = column("parameters");
    const bool by_parameters = parameters < shown_.size();
    const text_lines names = names_->at_width(cells.columns[kernels].width),
                     described = by_parameters
                                     ? parameters_->at_width(cells.columns[parameters].width)
                                     : text_lines(rows_.size(), {""});
    text_lines lines;
    for (const std::size_t name : name_of_) lines.push_back(names[name]);
    add_facts(lines, described);
    std::vector<std::vector<std::string>> rows;
    std::vector<row_look> looks;
    const std::size_t left = first_number();
    for (std::size_t i = 0; i < cells.rows.size(); ++i) {
      rows.push_back(std::move(cells.rows[i]));
      looks.push_back(cells.looks[i]);
      if (i >= rows_.size()) {
        looks.back().span = left;
        rows.back()[0] = totals_[i - rows_.size()].name;
        continue;
      }
      const std::size_t height = std::max(lines[i].size(), described[i].size());
      for (std::size_t line = 0; line < height; ++line) {
        if (line > 0) {
          rows.emplace_back(shown_.size());
          looks.emplace_back();
        }
        if (line < lines[i].size()) rows.back()[kernels] = lines[i][line];
        if (by_parameters && line < described[i].size())
          rows.back()[parameters] = described[i][line];
      }
    }
    cells.rows = std::move(rows);
    cells.looks = std::move(looks);
  }

  /// The first column that says no more which kernel a row is of.
  [[gnu::cold]] std::size_t first_number() const noexcept {
    std::size_t at = 0;
    while (at < shown_.size() && shown_[at] < column_called("calls")) ++at;
    return at;
  }
  [[gnu::cold]] static const kernel_column* column_called(std::string_view header) noexcept {
    return std::find_if(std::begin(kernel_columns), std::end(kernel_columns),
                        [&](const kernel_column& c) { return c.is(header); });
  }

  /// What a row of the table says of itself as it stands.
  [[gnu::cold]] std::string told(std::size_t row, const text_lines& lines,
                                 const text_lines& described) const {
    std::string text;
    for (std::size_t c = 0; c < first_number(); ++c)
      text += table_.cells.fitted(table_.cells.columns[c], table_.cells.rows[row][c], out_) + '\n';
    for (const std::string& line : lines[row]) text += line + '\n';
    text += '\n';
    for (const std::string& line : described[row]) text += line + '\n';
    return text;
  }

  /// Rows that read the same get lines of what columns that are not shown say of them.
  [[gnu::cold]] void add_facts(text_lines& lines, const text_lines& described) const {
    std::vector<std::string> texts, facts(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) texts.push_back(told(i, lines, described));
    const text_lines whole = parameters_->at_width(fact_width);
    for (std::size_t kind = 0; kind < facts_of_columns() + 4; ++kind) {
      const std::vector<std::uint32_t> number = equal_texts(texts);
      std::vector<std::vector<std::size_t>> sets(rows_.size());
      for (std::size_t i = 0; i < rows_.size(); ++i) sets[number[i]].push_back(i);
      for (const std::vector<std::size_t>& set : sets) {
        if (set.size() < 2) continue;
        std::vector<std::string> of_set;
        for (const std::size_t i : set) of_set.push_back(fact(kind, i, whole));
        if (std::equal(of_set.begin() + 1, of_set.end(), of_set.begin())) continue;
        for (std::size_t k = 0; k < set.size(); ++k) {
          texts[set[k]] += of_set[k] + '\n';
          facts[set[k]].append(facts[set[k]].empty() ? "" : ", ").append(of_set[k]);
        }
      }
    }
    const std::size_t width = table_.cells.columns[column("kernel")].width, indent = 2;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (!facts[i].empty())
        for (const std::string& line : broken_lines(facts[i], width - std::min(width, indent)))
          lines[i].push_back(std::string(indent, ' ') + line);
  }

  /// What may tell a row from another: its parameters, what each column says, where it was
  /// launched; its key, which always does.
  [[gnu::cold]] std::string fact(std::size_t kind, std::size_t row, const text_lines& whole) const {
    if (kind == 0) return whole[row][0];
    if (kind <= facts_of_columns()) {
      const kernel_column& c = kernel_columns[kind - 1];
      return c.cell != nullptr ? fact_of(c, rows_[row]) : std::string{};
    }
    switch (kind - facts_of_columns()) {
      case 1: return value_text(rows_[row], group_key::thread);
      case 2: return value_text(rows_[row], group_key::call_site);
      default: return '#' + row_key_text(rows_[row].key);
    }
  }
  /// How many columns may say which kernel a row is of: those before the calls.
  [[gnu::cold]] static std::size_t facts_of_columns() noexcept {
    return static_cast<std::size_t>(column_called("calls") - std::begin(kernel_columns));
  }
  /// What a column says of a row, for a line that has no header above it.
  [[gnu::cold]] std::string fact_of(const kernel_column& c, const kernel_row& row) const {
    const auto shown = [&](const std::string& text) {
      return printable(text, fact_width, out_.ascii());
    };
    if (c.is("region"))
      return row.regions == 0 ? "outside regions" : "in " + shown(region_text(row, " and outside"));
    const std::string cell = shown(c.cell(row, out_)), header = c.header;
    if (cell.empty()) return "no " + header;
    if (cell == "several") return "several " + header + (header.ends_with('s') ? "" : "s");
    return c.is("stream") && row.streams > 1 ? cell : header + ' ' + cell;
  }

  [[gnu::cold]] std::string value_text(const kernel_row& row, group_key key) const {
    for (const group_value& v : row.values)
      if (v.kind == key) return v.key + ' ' + printable(v.text, fact_width, out_.ascii());
    return {};
  }

  static constexpr std::size_t fact_width = 60;  // columns of one fact
  static constexpr std::size_t room_for_facts = 20;

  page& out_;
  const text_plan& plan_;
  const std::vector<kernel_row>& rows_;
  std::vector<const kernel_column*> shown_;
  std::vector<std::string> wholes_;  // names of kernels, each once
  std::vector<std::size_t> name_of_;
  std::unique_ptr<kernel_texts> names_;
  std::unique_ptr<kernel_parameters> parameters_;
  std::vector<kernel_total> totals_;
  fitted_table table_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
