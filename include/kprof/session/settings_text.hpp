// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SETTINGS_TEXT_HPP
#define KPROF_SESSION_SETTINGS_TEXT_HPP

// The characters of a settings text, read from left to right. Included by the parser. Pure.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

class settings_text {
 public:
  explicit settings_text(std::string_view text) : rest_(text) {}

  std::string_view rest() const noexcept { return rest_; }
  bool at_end() const noexcept { return rest_.empty(); }

  void skip_spaces() noexcept {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }
  /// Whether `c` stood here; it and the spaces around it are read then.
  bool take(char c) noexcept {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  /// Whether the text ends here, or one of these characters comes next.
  bool stands_at(std::string_view any_of) noexcept {
    skip_spaces();
    return rest_.empty() || any_of.find(rest_[0]) != std::string_view::npos;
  }
  /// Skips to where one of these characters stands; parentheses are skipped in pairs.
  void skip_to(std::string_view any_of) noexcept {
    for (std::size_t inside = 0; !rest_.empty(); rest_.remove_prefix(1)) {
      if (inside == 0 && any_of.find(rest_[0]) != std::string_view::npos) return;
      if (rest_[0] == '(') ++inside;
      else if (rest_[0] == ')' && inside > 0) --inside;
    }
  }

  /// The name of a setting or an option.
  std::string word() { return until(",=()"); }
  /// A value, plain or in quotes; false where the closing quote is missing.
  bool value(std::string& out) {
    if (rest_.empty() || rest_[0] != '"') {
      out = until(",()");
      return true;
    }
    rest_.remove_prefix(1);
    for (; !rest_.empty() && rest_[0] != '"'; rest_.remove_prefix(1)) {
      if (rest_[0] == '\\' && rest_.size() > 1 && (rest_[1] == '"' || rest_[1] == '\\'))
        rest_.remove_prefix(1);
      out += rest_[0];
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

 private:
  static bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }
  std::string until(std::string_view any_of) {
    std::string_view out = rest_.substr(0, rest_.find_first_of(any_of));
    rest_.remove_prefix(out.size());
    while (!out.empty() && is_space(out.back())) out.remove_suffix(1);
    return std::string{out};
  }

  std::string_view rest_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
