// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_SCRIPT_JSON_HPP
#define KPROF_REPORT_HTML_SCRIPT_JSON_HPP

// Writes JSON that may lie in a script element of a page: no "<" stands in it, so that no text of a
// program ends the element. Included by the parts of report/html.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/trace/json_text.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Foreign text as a page shows it: what turns the direction of text around, or is hidden, becomes
/// visible. append_json_text() does that of ASCII.
[[gnu::cold]] inline std::string visible_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const code_point c = first_character(text);
    if (c.size > 1 && is_unsafe(c.value)) out += escaped(c.value);
    else out.append(text.substr(0, std::max(c.size, 1U)));
    text.remove_prefix(std::max(c.size, 1U));
  }
  return out;
}

/// Whether values are numbers that each exceed the one before by one.
struct ramp {
  bool holds = true;

  void add(std::string_view value) noexcept {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    holds = holds && error == std::errc{} && end == value.data() + value.size() &&
            (is_first_ || (number > before_ && number == before_ + 1));
    is_first_ = false;
    before_ = number;
  }

 private:
  bool is_first_ = true;
  std::int64_t before_ = 0;
};

/// Endings, from a space on, that many texts have: those of fields that differ nowhere.
struct common_endings {
  std::vector<std::string> texts;  // the first is empty; none at all where it would save nothing
  std::vector<std::uint32_t> of;   // for each text

  /// Takes the endings off the texts.
  [[gnu::cold]] explicit common_endings(std::vector<std::string>& of_texts) {
    if (of_texts.size() < least) return;
    std::unordered_map<std::string_view, std::size_t> counts;
    for (const std::string& text : of_texts)
      each_ending(text, [&](std::string_view ending) {
        ++counts[ending];
        return true;
      });
    std::unordered_map<std::string, std::uint32_t> numbers{{"", 0}};
    texts.emplace_back();
    for (const std::string& text : of_texts) {
      std::string_view longest;
      each_ending(text, [&](std::string_view ending) {
        if (counts[ending] < least) return false;
        longest = ending;
        return true;
      });
      const auto [at, is_new] =
          numbers.try_emplace(std::string{longest}, static_cast<std::uint32_t>(texts.size()));
      if (is_new) texts.emplace_back(longest);
      of.push_back(at->second);
    }
    if (texts.size() == 1) {
      texts.clear();
      return;
    }
    for (std::size_t i = 0; i < of_texts.size(); ++i)
      of_texts[i].resize(of_texts[i].size() - texts[of[i]].size());
  }

 private:
  static constexpr std::size_t least = 100;  // texts

  /// Calls keep_on(ending) from the shortest to the longest, while it returns true.
  template <class KeepOn>
  static void each_ending(std::string_view text, KeepOn keep_on) {
    constexpr std::size_t longest = 256;  // or a text that is all spaces takes quadratic time
    for (std::size_t at = text.rfind(' ');
         at != std::string_view::npos && at != 0 && text.size() - at <= longest;
         at = text.rfind(' ', at - 1))
      if (!keep_on(text.substr(at))) return;
  }
};

class script_json {
 public:
  /// `digits`: significant ones of numbers that are not whole.
  explicit script_json(text_sink& out, int digits = 6) noexcept : out_(out), digits_(digits) {}

  script_json& key(std::string_view name) {
    separate();
    write("\"");
    write(name);
    write("\":");
    is_first_ = true;
    return *this;
  }
  void open(std::string_view bracket) {
    separate();
    write(bracket);
    is_first_ = true;
  }
  void close(std::string_view bracket) {
    write(bracket);
    is_first_ = false;
  }
  void none() { put("null"); }
  void flag(bool value) { put(value ? "true" : "false"); }
  void text(std::string_view value) {
    text_.assign("\"");
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (std::all_of(value.begin(), value.end(), is_ascii)) append_json_text(text_, value);
    else append_json_text(text_, visible_text(value));
    for (std::size_t at = 0; (at = text_.find('<', at)) != std::string::npos; at += 6)
      text_.replace(at, 1, "\\u003c");
    put(text_ += '"');
  }
  template <std::integral T>
  void integer(T value) {
    char digits[24];
    put(std::string_view(digits, std::to_chars(digits, digits + sizeof digits, value).ptr));
  }
  /// null where it is no number.
  void number(double value) {
    if (!std::isfinite(value)) return none();
    if (std::fabs(value) < 1e15 && value == std::floor(value) && digits_ > 4)
      return integer(static_cast<std::int64_t>(value));
    char digits[48];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, digits_);
    put(std::string_view(digits, end.ptr));
  }
  void number(const figure& value, double scale = 1) {
    if (value.known()) number(value.value * scale);
    else none();
  }

  void member(std::string_view name, std::string_view value) { key(name).text(value); }
  void member(std::string_view name, const char* value) { key(name).text(value); }
  void member(std::string_view name, bool value) { key(name).flag(value); }
  void member(std::string_view name, double value) { key(name).number(value); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void member(std::string_view name, T value) { key(name).integer(value); }

  /// A column of a table, of which put_one(row) puts a value: [1, 2, ...], {"same": 1, "count": 2}
  /// where all are the same, or {"rising": 7, "count": 3} of 7, 8, 9.
  template <class Rows, class Put>
  void column(std::string_view name, const Rows& rows, Put put_one) {
    key(name);
    put(column_text(rows, put_one));
  }
  template <class Rows, class Put>
  std::string column_text(const Rows& rows, Put put_one) {
    std::string all, one, first;
    std::size_t count = 0;
    bool is_same = true;
    ramp numbers;
    for (const auto& row : rows) {
      one.clear();
      const bool was_first = std::exchange(is_first_, true);
      std::string* const was = std::exchange(into_, &one);
      put_one(row);
      into_ = was;
      is_first_ = was_first;
      if (count == 0) first = one;
      is_same = is_same && one == first;
      numbers.add(one);
      all.append(count++ == 0 ? "[" : ",") += one;
    }
    if (is_same && count > 1)
      return "{\"same\":" + first + ",\"count\":" + std::to_string(count) + '}';
    if (numbers.holds && count > 2)
      return "{\"rising\":" + first + ",\"count\":" + std::to_string(count) + '}';
    return all + (count == 0 ? "[]" : "]");
  }
  /// JSON that column_text() gave.
  void ready(std::string_view json) { put(json); }
  /// Texts, each different one once: {"all": [TEXT, ...], "of": [which, ...]}. Endings that many
  /// have may stand apart: "endings": [TEXT, ...], "ending": [which of them, for each of `all`].
  template <class Rows, class Text>
  void texts(std::string_view name, const Rows& rows, Text text_of) {
    std::vector<std::string> all;
    std::vector<std::uint32_t> of;
    numbering numbers{64};
    for (const auto& row : rows) {
      std::string value(text_of(row));
      const std::uint32_t number = numbers.of(std::hash<std::string>{}(value),
                                              [&](std::uint32_t i) { return all[i] == value; });
      if (number == all.size()) all.push_back(std::move(value));
      of.push_back(number);
    }
    const auto put_number = [this](std::uint32_t number) { integer(number); };
    const auto put_text = [this](const std::string& value) { text(value); };
    const common_endings endings(all);
    key(name).open("{");
    column("all", all, put_text);
    if (!endings.texts.empty()) {
      column("endings", endings.texts, put_text);
      column("ending", endings.of, put_number);
    }
    column("of", of, put_number);
    close("}");
  }

 private:
  void separate() {
    if (!is_first_) write(",");
    is_first_ = false;
  }
  void put(std::string_view value) {
    separate();
    write(value);
  }
  void write(std::string_view piece) {
    if (into_ != nullptr) into_->append(piece);
    else out_.put(piece);
  }

  text_sink& out_;
  int digits_;
  bool is_first_ = true;
  std::string* into_ = nullptr;  // while a column is made
  std::string text_;
};

/// Foreign text in markup: nothing of it is a tag, an entity or the end of an attribute.
inline std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text, 1000)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
