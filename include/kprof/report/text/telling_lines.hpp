// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TELLING_LINES_HPP
#define KPROF_REPORT_TEXT_TELLING_LINES_HPP

// The texts of rows in a column of some width, so that no two rows read the same. Included by the
// tables and the call tree of the text report. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A row to be described: its parts, what other columns say of it, and a key that no other has.
struct described_row {
  part_list parts;
  std::string beside;
  std::uint64_t key = 0;
  std::string lead{}, tail{};  // around the parts, the tail printable; they are left out last
  std::size_t indent = 0;      // columns of the width that something else takes
};

/// Rows that would read the same say the fields in which they differ. `fields_of(i)`: every field
/// of a row with one set of parameters; none of another row.
template <class FieldsOf>
[[gnu::cold]] void say_differing_fields(std::vector<described_row>& rows, FieldsOf fields_of) {
  std::vector<std::string> texts;
  for (const described_row& row : rows)
    texts.push_back(row.lead + joined(row.parts) + row.tail + '\n' + row.beside);
  const std::vector<std::uint32_t> number = equal_texts(texts);
  std::vector<std::vector<std::size_t>> groups(texts.size());
  for (std::size_t i = 0; i < rows.size(); ++i) groups[number[i]].push_back(i);
  for (const std::vector<std::size_t>& group : groups) {
    if (group.size() < 2) continue;
    std::vector<part_list> fields;
    for (const std::size_t i : group) fields.push_back(fields_of(i));
    const part_list& first = fields[0];
    std::vector<bool> differs(first.size());
    bool is_one_operator = true;
    for (const part_list& other : fields) {
      is_one_operator = is_one_operator && other.size() == first.size();
      for (std::size_t k = 0; is_one_operator && k < first.size(); ++k)
        if (!(other[k] == first[k])) differs[k] = true;
    }
    for (std::size_t g = 0; is_one_operator && g < group.size(); ++g)
      for (std::size_t k = 0; k < first.size(); ++k)
        if (differs[k]) rows[group[g]].parts.push_back(std::move(fields[g][k]));
  }
}

class telling_lines {
 public:
  /// Rows of one operator, or rows whose `lead` names it: what the parts of all of them have in
  /// common need not be shown.
  [[gnu::cold]] telling_lines(std::vector<described_row> rows, bool ascii)
      : rows_(std::move(rows)), ascii_(ascii) {
    for (described_row& row : rows_) {
      for (parameter_part& part : row.parts) part.text = printed(part.text);
      row.lead = printed(row.lead);
      row.tail = ascii ? ascii_notation(row.tail) : row.tail;
    }
    std::vector<std::string> texts;
    for (const described_row& row : rows_) texts.push_back(beside(row, whole(row)));
    const std::vector<bool> equal = ambiguous(texts);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (equal[i]) rows_[i].parts.push_back({key_place, '#' + row_key_text(rows_[i].key)});
    for (const described_row& row : rows_) count_values(row);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      natural_ = std::max(natural_, rows_[i].indent + natural(i));
  }

  /// Columns that the longest row takes in one line.
  std::size_t natural() const noexcept { return natural_; }
  /// Columns that a row takes beside its indent.
  std::size_t natural(std::size_t row) const { return display_width(whole(rows_[row])); }

  /// The lines of each row. A row that is too long for one leaves out what tells least; where it
  /// would then read like another, or what stays is still too long, it takes more lines.
  [[gnu::cold]] std::vector<std::vector<std::string>> at_width(std::size_t width) const {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> texts;
    for (const described_row& row : rows_) {
      std::string text = whole(row);
      const std::size_t room = room_of(row, width);
      if (display_width(text) > room) text = shortened(row, room);
      texts.push_back(beside(row, text));
      if (display_width(text) > room) lines.push_back(wrapped(text, room));
      else lines.push_back({std::move(text)});
    }
    const std::vector<bool> equal = ambiguous(texts);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (equal[i]) lines[i] = wrapped(whole(rows_[i]), room_of(rows_[i], width));
    return lines;
  }

 private:
  static constexpr std::uint32_t key_place = ~std::uint32_t{0};

  static std::string beside(const described_row& row, const std::string& text) {
    return text + '\n' + row.beside;
  }
  static std::string whole(const described_row& row) {
    return row.lead + joined(row.parts) + row.tail;
  }
  static std::size_t room_of(const described_row& row, std::size_t width) noexcept {
    return width - std::min(width, row.indent);
  }
  std::string printed(const std::string& text) const {
    return seen_spaces(printable(ascii_ ? ascii_notation(text) : text, longest_text, ascii_));
  }

  void count_values(const described_row& row) {
    for (const parameter_part& part : row.parts) {
      auto at = std::find_if(values_.begin(), values_.end(), [&](const values_of_place& v) {
        return v.place == part.place && v.lead == row.lead;
      });
      if (at == values_.end()) at = values_.insert(at, {part.place, row.lead, {}});
      if (std::find(at->texts.begin(), at->texts.end(), part.text) == at->texts.end() &&
          at->texts.size() < enough_values)
        at->texts.push_back(part.text);
    }
  }
  std::size_t telling(const described_row& row, std::uint32_t place) const noexcept {
    for (const values_of_place& v : values_)
      if (v.place == place && v.lead == row.lead)
        return place == key_place ? enough_values + 1 : v.texts.size();
    return 0;
  }

  /// Leaves out parts, those of the fewest values first and of these the later, until it fits. With
  /// those that stay the text may still be too long.
  [[gnu::cold]] std::string shortened(const described_row& row, std::size_t width) const {
    const part_list& parts = row.parts;
    std::vector<std::size_t> values;
    for (const parameter_part& part : parts) values.push_back(telling(row, part.place));
    std::vector<std::uint32_t> order =
        sorted_order(parts.size(), [&](std::uint32_t a, std::uint32_t b) {
          return values[a] != values[b] ? values[a] < values[b] : a > b;
        });
    std::erase_if(order, [&](std::uint32_t i) { return parts[i].stays; });
    std::vector<bool> left_out(parts.size());
    std::string text = whole(row);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      left_out[order[i]] = true;
      text = row.lead + with_gaps(parts, left_out) + row.tail;
      if (display_width(text) <= width) return text;
    }
    return order.size() < parts.size() ? text : cut_in_the_middle(text, width);
  }

  std::string with_gaps(const part_list& parts, const std::vector<bool>& left_out) const {
    std::string out;
    bool in_gap = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!left_out[i])
        out.append(out.empty()                       ? ""
                   : parts[i].after_comma && !in_gap ? ", "
                                                     : " ")
            .append(parts[i].text);
      else if (!in_gap) out.append(out.empty() ? "" : " ").append(ellipsis());
      in_gap = left_out[i];
    }
    return out;
  }
  const char* ellipsis() const noexcept { return ascii_ ? "..." : "\u2026"; }

  /// Both ends of printable text.
  std::string cut_in_the_middle(const std::string& text, std::size_t width) const {
    const std::size_t mark = display_width(ellipsis());
    if (display_width(text) <= width) return text;
    if (width <= mark) return std::string(width, '.');
    const std::size_t begin = (width - mark + 1) / 2;
    std::string out{first_columns(text, begin)};
    return out.append(ellipsis()).append(last_columns(text, width - mark - begin));
  }

  /// At spaces where there are any, with later lines indented.
  static std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    const std::size_t indent = width > 8 ? 2 : 0;
    while (!text.empty()) {
      const std::string lead(lines.empty() ? 0 : indent, ' ');
      std::string line{first_columns(text, std::max<std::size_t>(width - lead.size(), 2))};
      std::size_t end = line.size();
      if (end < text.size() && text[end] != ' ') end = line.rfind(' ');
      // "2 sets" stays whole.
      if (end > 0 && end < text.size() && text.substr(end).starts_with(" sets"))
        end = line.rfind(' ', end - 1);
      if (end > 0 && end != std::string::npos) line.resize(end);
      text.remove_prefix(line.size());
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
      lines.push_back(lead + line);
    }
    if (lines.empty()) lines.emplace_back();
    return lines;
  }

  // more values of a part tell no more
  static constexpr std::size_t enough_values = 64;
  struct values_of_place {
    std::uint32_t place = 0;
    std::string lead;
    std::vector<std::string> texts;
  };

  std::vector<described_row> rows_;
  std::vector<values_of_place> values_;
  std::size_t natural_ = 0;
  bool ascii_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
