// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_KERNEL_NAME_PARTS_HPP
#define KPROF_MODEL_KERNEL_NAME_PARTS_HPP

// A kernel's name taken apart into words and groups in brackets, so that names can be compared part
// by part. Included by telling_kernel_names.hpp. Pure; whatever the bytes, the work is linear in
// them.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A word, a sign, or a group in brackets with its arguments.
struct name_part {
  std::string_view text;  // as it stands in the name, brackets and all
  char open = 0;          // of a group: < ( { [
  std::vector<std::vector<name_part>> arguments{};

  [[gnu::cold]] bool is(std::string_view word) const noexcept { return open == 0 && text == word; }
};
using name_parts = std::vector<name_part>;

inline constexpr unsigned deepest_parts = 24;         // groups in groups; what is deeper is a word
inline constexpr std::size_t longest_parted = 16384;  // a longer name is one word

/// A letter of a word; all that is not ASCII is.
inline bool is_letter(char c) noexcept {
  return is_word(c) || static_cast<unsigned char>(c) >= 128;
}

/// Signs that follow "operator": "operator<" opens no group.
[[gnu::cold]] inline std::size_t operator_signs(std::string_view text) noexcept {
  for (const std::string_view sign : {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                      "<=", ">=", "->", "<", ">", ",", "&&", "||", "==", "!="})
    if (text.starts_with(sign)) return sign.size();
  return 0;
}

[[gnu::cold]] inline name_parts parts_of_name(std::string_view text, unsigned depth = 0) {
  name_parts parts;
  if (depth >= deepest_parts || text.size() > longest_parted) {
    if (!text.empty()) parts.push_back({text});
    return parts;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t size = 1;
    name_part part;
    if (rest[0] == ' ') {
      ++at;
      continue;
    }
    if (rest.starts_with("::")) {
      size = 2;
    } else if (rest.starts_with(no_name_space)) {
      size = no_name_space.size();
    } else if (is_letter(rest[0])) {
      while (size < rest.size() && is_letter(rest[size])) ++size;
      if (rest.substr(0, size) == "operator") size += operator_signs(rest.substr(size));
    } else if (rest[0] == '<' || rest[0] == '(' || rest[0] == '{' || rest[0] == '[') {
      size = group_end(rest, 0);
      const bool closed =
          size > 1 && std::string_view{">)}]"}.find(rest[size - 1]) != std::string_view::npos;
      part.open = rest[0];
      for (const std::string_view argument :
           split_arguments(rest.substr(1, size - (closed ? 2 : 1))))
        part.arguments.push_back(parts_of_name(argument, depth + 1));
    }
    part.text = rest.substr(0, size);
    parts.push_back(std::move(part));
    at += size;
  }
  return parts;
}

inline char closing(char open) noexcept {
  return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : ']';
}

/// Adds a piece of a name, with a space where two words would run together.
[[gnu::cold]] inline void add_piece(std::string& out, std::string_view piece) {
  if (!out.empty() && !piece.empty() && is_letter(out.back()) && is_letter(piece[0])) out += ' ';
  out += piece;
}

[[gnu::cold]] inline bool same_parts(const name_parts& a, const name_parts& b) noexcept;
[[gnu::cold]] inline bool same_part(const name_part& a, const name_part& b) noexcept {
  if (a.open != b.open || a.arguments.size() != b.arguments.size()) return false;
  if (a.open == 0) return a.text == b.text;
  for (std::size_t i = 0; i < a.arguments.size(); ++i)
    if (!same_parts(a.arguments[i], b.arguments[i])) return false;
  return true;
}
[[gnu::cold]] inline bool same_parts(const name_parts& a, const name_parts& b) noexcept {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_part);
}

// ---- leaving out what is said by the rest

/// "128u" and "64ul" as "128" and "64".
[[gnu::cold]] inline std::string_view without_suffix(std::string_view word) noexcept {
  if (word.empty() || !is_digit(word[0])) return word;
  while (word.size() > 1 && (word.back() == 'u' || word.back() == 'l')) word.remove_suffix(1);
  return word;
}

/// Moves the parts of a qualified name to `out`: its last component, those before it that have
/// template arguments, and, before a lambda, the name of the function that it is in.
[[gnu::cold]] inline void reduce_qualified(name_parts& parts, name_parts& out) {
  std::vector<std::pair<std::size_t, std::size_t>> components;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= parts.size(); ++i)
    if (i == parts.size() || parts[i].is("::")) {
      if (i > begin) components.emplace_back(begin, i);
      begin = i + 1;
    }
  bool owned = false;
  std::vector<bool> kept(components.size());
  for (std::size_t c = components.size(); c-- > 0;) {
    const auto [from, to] = components[c];
    const name_part& head = parts[from];
    const bool last = c + 1 == components.size(), nameless = head.open != 0,
               call = head.text.starts_with("operator") || head.text == no_name_space;
    const bool templated = to - from > 1 && parts[from + 1].open == '<';
    kept[c] = last || (!nameless && !call && (templated || owned));
    if (last) owned = nameless;
    else if (!nameless && !call) owned = false;
  }
  for (std::size_t c = 0; c < components.size(); ++c) {
    if (!kept[c]) continue;
    const auto [from, to] = components[c];
    const bool last = c + 1 == components.size();
    for (std::size_t i = from; i < to; ++i)
      if (last || i == from || parts[i].open == '<') out.push_back(std::move(parts[i]));
    if (!last) out.push_back({"::"});
  }
}

/// Whether a qualified name goes on with this part.
[[gnu::cold]] inline bool joins_name(const name_parts& parts, std::size_t at) noexcept {
  if (parts[at].is("::")) return true;
  if (at == 0) return true;
  const name_part& before = parts[at - 1];  // its text is not empty
  if (before.is("::")) return true;
  // f<int>, f(int), lambda{...}; "const" behind the parameters of a member
  return (parts[at].open != 0 && (before.open != 0 || is_letter(before.text[0]))) ||
         (parts[at].is("const") && before.open == '(' && at + 1 < parts.size() &&
          parts[at + 1].is("::"));
}

/// Leaves out namespaces, casts and suffixes of numbers.
[[gnu::cold]] inline void reduce(name_parts& parts) {
  // "(Layout)1" loses its cast
  if (parts.size() > 1 && parts[0].open == '(' && parts[1].open == 0 &&
      (is_digit(parts[1].text[0]) || parts[1].text[0] == '-'))
    parts.erase(parts.begin());
  name_parts out, name;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (name_parts& argument : parts[i].arguments) reduce(argument);
    if (!joins_name(parts, i)) {
      reduce_qualified(name, out);
      name.clear();
    }
    if (parts[i].open == 0) parts[i].text = without_suffix(parts[i].text);
    name.push_back(std::move(parts[i]));  // which leaves text and bracket, and joins_name() them
  }
  reduce_qualified(name, out);
  parts = std::move(out);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
