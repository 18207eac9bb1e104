// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_EXPRESSION_HPP
#define KPROF_REPORT_TEXT_EXPRESSION_HPP

// POSIX extended regular expressions, matched in time proportional to the text and to the
// expression. A filter may come from the environment, and <regex.h> takes hours, gigabytes or the
// whole stack for some expressions of a few bytes: it writes repetitions out, recurses into
// parentheses and tries all ways to match a back reference. Texts are bytes, as in the C locale.
// Included by filter.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/report/text/expression_program.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Translates an expression into a program. Recurses into parentheses, as deep as `deepest`.
class expression_parser {
 public:
  static constexpr std::size_t longest = 2000;  // bytes
  static constexpr std::size_t deepest = 50;    // parentheses
  static constexpr std::size_t largest = 4000;  // steps of the program

  expression_parser(std::string_view text, expression_program& out) noexcept
      : text_(text), out_(out) {}

  /// What is wrong, or nullptr.
  const char* parse() {
    if (text_.size() > longest) return "it has more than 2000 bytes";
    parse_alternatives(0);
    out_.add({step_kind::match});
    return error_;
  }

 private:
  bool at_end() const noexcept { return at_ == text_.size() || error_ != nullptr; }
  bool next_is(char c) const noexcept { return !at_end() && text_[at_] == c; }
  bool take(char c) noexcept { return next_is(c) && (++at_, true); }
  void fail(const char* why) noexcept {
    if (error_ == nullptr) error_ = why;
  }
  void add(expression_step step) {
    out_.add(step);
    if (out_.size() > largest) fail("it is too long with its repetitions written out");
  }

  /// alternative { "|" alternative }
  void parse_alternatives(std::size_t depth) {
    const std::size_t begin = out_.size();
    parse_pieces(depth);
    while (take('|')) {
      const auto left = static_cast<std::int32_t>(out_.size() - begin);
      out_.insert(begin, {step_kind::split, 0, 1, left + 2});
      const std::size_t jump = out_.size();
      add({step_kind::jump});
      parse_pieces(depth);
      out_[jump].first = static_cast<std::int32_t>(out_.size() - jump);
    }
  }
  void parse_pieces(std::size_t depth) {
    while (!at_end() && !next_is('|') && !(next_is(')') && depth > 0)) {
      const std::size_t begin = out_.size();
      parse_atom(depth);
      while (!at_end() && parse_repetition(begin)) {}
    }
  }

  void parse_atom(std::size_t depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        if (depth == deepest) return fail("it nests deeper than 50 parentheses");
        parse_alternatives(depth + 1);
        if (!take(')')) fail("a parenthesis is not closed");
        break;
      case '*':
      case '+':
      case '?':
      case '{': fail("there is nothing to repeat"); break;
      case '^': add({step_kind::text_begin}); break;
      case '$': add({step_kind::text_end}); break;
      case '.': add_set(byte_set::all()); break;
      case '[': parse_brackets(); break;
      case '\\': parse_escape(); break;
      default: add({step_kind::byte, static_cast<unsigned char>(c)});
    }
  }

  void parse_escape() {
    if (at_end()) return fail("it ends with a backslash");
    const char c = text_[at_++];
    switch (c) {
      case 'w': return add_set(byte_set::words());
      case 'W': return add_set(byte_set::words().others());
      case 's': return add_set(byte_set::of_class("space"));
      case 'S': return add_set(byte_set::of_class("space").others());
      case 'b': return add({step_kind::word_edge});
      case 'B': return add({step_kind::no_word_edge});
      case '<': return add({step_kind::word_begin});
      case '>': return add({step_kind::word_end});
      case '`': return add({step_kind::text_begin});
      case '\'': return add({step_kind::text_end});
      default: break;
    }
    if (c >= '1' && c <= '9') fail("back references such as \\1 take too long");
    add({step_kind::byte, static_cast<unsigned char>(c)});
  }

  /// Behind "[".
  void parse_brackets() {
    byte_set set;
    const bool inverted = take('^');
    bool is_first = true;
    while (!at_end() && (is_first || !next_is(']'))) {
      is_first = false;
      if (text_.substr(at_, 2) == "[:") {
        const std::string_view name = take_named(':');
        if (!byte_set::has_class(name))
          return fail("a class such as [:alpha:] has an unknown name");
        set.add(byte_set::of_class(name));
        continue;
      }
      const unsigned char low = take_bracketed();
      unsigned char high = low;
      if (next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        high = take_bracketed();
        if (high < low) return fail("a range ends before it begins");
      }
      set.add(low, high);
    }
    if (!take(']')) return fail("a bracket is not closed");
    add_set(inverted ? set.others() : set);
  }
  unsigned char take_bracketed() {
    if (at_end()) return 0;
    const std::string_view two = text_.substr(at_, 2);
    if (two != "[." && two != "[=") return static_cast<unsigned char>(text_[at_++]);
    const std::string_view name = take_named(two[1]);
    if (name.size() != 1) fail("[. .] and [= =] take one character");
    return name.empty() ? '\0' : static_cast<unsigned char>(name[0]);
  }
  /// What stands between "[:" and ":]".
  std::string_view take_named(char kind) {
    const char close[] = {kind, ']'};
    const std::size_t from = at_ + 2;
    const std::size_t to = text_.find(std::string_view{close, 2}, from);
    if (to == std::string_view::npos) {
      fail("a bracket is not closed");
      return {};
    }
    at_ = to + 2;
    return text_.substr(from, to - from);
  }
  void add_set(const byte_set& set) { add({step_kind::set, 0, out_.keep(set)}); }

  /// Applies a repetition to the steps from `begin` on; false where there is none.
  bool parse_repetition(std::size_t begin) {
    constexpr std::size_t no_end = ~std::size_t{0};
    if (take('*')) repeat(begin, 0, no_end);
    else if (take('+')) repeat(begin, 1, no_end);
    else if (take('?')) repeat(begin, 0, 1);
    else if (take('{')) {
      if (!is_digit() && !next_is(',')) fail("a repetition is not of the form {2,5}");
      const std::size_t least = take_number();
      std::size_t most = least;
      if (take(',')) most = is_digit() ? take_number() : no_end;
      if (!take('}') || most < least) fail("a repetition is not of the form {2,5}");
      if (error_ == nullptr) repeat(begin, least, most);
    } else {
      return false;
    }
    return true;
  }
  bool is_digit() const noexcept { return !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; }
  /// No more than what is too much anyway.
  std::size_t take_number() noexcept {
    std::size_t n = 0;
    for (; is_digit(); ++at_)
      if (n <= largest) n = 10 * n + static_cast<std::size_t>(text_[at_] - '0');
    return n;
  }
  /// Steps refer to each other by distance, so that copies need no change.
  void repeat(std::size_t begin, std::size_t least, std::size_t most) {
    const expression_program once = out_.cut(begin);
    const auto length = static_cast<std::int32_t>(once.size());
    const bool is_open = most == ~std::size_t{0};
    const std::size_t copies = is_open ? (least == 0 ? 1 : least) : most;
    if (copies * (once.size() + 2) > largest)
      return fail("it is too long with its repetitions written out");
    for (std::size_t i = 0; i < least; ++i) out_.append(once);
    if (is_open && least != 0) {
      add({step_kind::split, 0, -length, 1});
    } else if (is_open) {
      add({step_kind::split, 0, 1, length + 2});
      out_.append(once);
      add({step_kind::jump, 0, -(length + 1)});
    } else {
      for (std::size_t i = least; i < most; ++i) {
        add({step_kind::split, 0, 1, length + 1});
        out_.append(once);
      }
    }
  }

  std::string_view text_;
  expression_program& out_;
  std::size_t at_ = 0;
  const char* error_ = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
