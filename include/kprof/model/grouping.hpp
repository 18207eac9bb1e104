// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_GROUPING_HPP
#define KPROF_MODEL_GROUPING_HPP

// Which calls share a row of a table: a list of keys, as in `by=op+pass`, and fields that make no
// difference, as in `fold=K,Skv`. Included by the tables and by report/options.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What the calls of a row have in common.
enum class group_key : std::uint8_t {
  op,          ///< the operator's name
  parameters,  ///< the operator and all its parameters, but for those folded
  pass,        ///< its pass or, where it has none, that of the innermost operator around
  dtype,       ///< the type that it computes with
  region,      ///< the innermost region around the call
  layer,       ///< all regions around the call, from the outermost on, joined by /
  thread,      ///< the thread that it ran on
  call_site,   ///< file and line of the guard
  field,       ///< the value of one field
  step,        ///< the program's step that it ran in
};

namespace detail {

/// A key of a grouping.
struct group_part {
  group_key kind = group_key::parameters;
  std::string field{};  ///< its path, where the key is one
};

/// As in `by=`, in the order of group_key; `step` stands where a field would.
inline constexpr std::string_view group_key_words[] = {
    "op", "parameters", "pass", "dtype", "region", "layer", "thread", "call_site", "step"};

/// The key of a word, by its place.
constexpr group_key key_at(std::size_t place) noexcept {
  const auto key = static_cast<group_key>(place);
  return key == group_key::field ? group_key::step : key;
}

/// The word of a key, without the field's name.
constexpr std::string_view word_of(group_key key) noexcept {
  if (key == group_key::field) return "field";
  if (key == group_key::step) key = group_key::field;
  return group_key_words[static_cast<std::size_t>(key)];
}

inline constexpr std::string_view field_prefix = "field:";

/// Takes the name of a field off the front of `path`, which may be UTF-8.
inline bool take_identifier(std::string_view& path) noexcept {
  std::size_t size = 0;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  while (size < path.size() &&
         (is_letter(path[size]) || (size > 0 && path[size] >= '0' && path[size] <= '9')))
    ++size;
  path.remove_prefix(size);
  return size > 0;
}

/// Whether a text is written as the path of a field is: "M", "shape[0]", "epilogue.scale".
inline bool is_field_path(std::string_view path) {
  if (path.size() > 1000 || printable(path, 2 * path.size()) != path) return false;
  for (;;) {
    if (!take_identifier(path)) return false;
    if (!path.empty() && path[0] == '[') {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos || close == 1 || close > 10) return false;
      if (path.substr(1, close - 1).find_first_not_of("0123456789") != std::string_view::npos)
        return false;
      path.remove_prefix(close + 1);
    }
    if (path.empty()) return true;
    if (path[0] != '.') return false;
    path.remove_prefix(1);
  }
}

/// The key that a word names; a word that is no key's is a field's.
inline group_part part_of(std::string_view word) {
  if (word.starts_with(field_prefix))
    return {group_key::field, std::string{word.substr(field_prefix.size())}};
  if (word == "operator") return {group_key::op};
  for (std::size_t i = 0; i < std::size(group_key_words); ++i)
    if (word == group_key_words[i]) return {key_at(i)};
  return {group_key::field, std::string{word}};
}

/// How a key is written.
inline std::string text_of(const group_part& part) {
  if (part.kind != group_key::field) return std::string{word_of(part.kind)};
  const bool plain =
      part_of(part.field).kind == group_key::field && !part.field.starts_with(field_prefix);
  return plain ? part.field : std::string{field_prefix} + part.field;
}

/// Calls each(word) for the words that `+` separates, also for empty ones.
template <class Each>
void each_word(std::string_view text, Each each) {
  for (;;) {
    const std::size_t end = text.find('+');
    each(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

[[gnu::cold]] inline std::string group_words() {
  std::string all;
  for (const std::string_view word : group_key_words)
    all.append(all.empty() ? "" : ", ").append(word);
  return all;
}

/// Of a list in text, which may be anybody's: a row is told from others by each of its keys.
inline constexpr std::size_t most_keys = 32;

/// What is wrong with a key as it is written; empty: nothing.
[[gnu::cold]] inline std::string wrong_key(std::string_view word) {
  const std::string help = "; choose from " + group_words() +
                           ", or name a field, as in M, shape[0] or epilogue.scale; + joins keys";
  if (word.empty()) return "a key is missing" + help;
  const group_part part = part_of(word);
  if (part.kind != group_key::field || is_field_path(part.field)) return {};
  return '"' + printable(word, 60) + "\" is neither a key nor the name of a field" + help;
}

}  // namespace detail

struct parsed_grouping;

/// Which calls share a row: those in which all of some keys are the same. The list is exact:
/// op + thread makes a row for each operator and thread, whatever the parameters; layer + pass one
/// for each layer and pass, over all operators. A call that lacks what a key asks for, such as an
/// operator without that field, goes to a row in which the value is absent.
///     operator_table(run, kprof::grouping::op + kprof::grouping::field("M"))
///     operator_table(run, kprof::grouping{}.folding({"K"}))   // by parameters, whatever K is
class grouping {
 public:
  static constexpr group_key op = group_key::op;
  static constexpr group_key parameters = group_key::parameters;
  static constexpr group_key pass = group_key::pass;
  static constexpr group_key dtype = group_key::dtype;
  static constexpr group_key region = group_key::region;
  static constexpr group_key layer = group_key::layer;
  static constexpr group_key thread = group_key::thread;
  static constexpr group_key call_site = group_key::call_site;
  static constexpr group_key step = group_key::step;

  /// By parameters.
  grouping() : text_(detail::word_of(group_key::parameters)) {}
  grouping(group_key key) : text_(detail::word_of(key)) {}  // NOLINT: a key is a list of one

  /// By the value of a field, whose path is as parameter_at() takes it; a whole array or nested
  /// struct where it names one.
  static grouping field(std::string_view path) {
    grouping by;
    by.text_ = detail::text_of({group_key::field, std::string{path}});
    return by;
  }
  /// By nothing: all calls are one row.
  static grouping nothing() {
    grouping by;
    by.text_.clear();
    return by;
  }
  /// Reads "op+M+N", as in `by=`. A word that is no key is the name of a field; `field:NAME` is the
  /// field, also where it has a key's name. Whether there is such a field, check_grouping() tells.
  static parsed_grouping parse(std::string_view text);

  /// The same keys; fields of these paths do not make parameters differ. Their range is in
  /// operator_row::ranges.
  grouping folding(std::vector<std::string> fields) const {
    grouping by = *this;
    by.folded_ = std::move(fields);
    return by;
  }

  /// The same without one key.
  grouping without(group_key key) const {
    grouping by = nothing();
    for (const detail::group_part& part : keys())
      if (part.kind != key) by.add(detail::text_of(part));
    by.folded_ = folded_;
    return by;
  }

  /// As parse() takes it.
  const std::string& text() const noexcept { return text_; }
  const std::vector<std::string>& folded() const noexcept { return folded_; }
  std::vector<detail::group_part> keys() const {
    std::vector<detail::group_part> out;
    if (!text_.empty())
      detail::each_word(text_,
                        [&](std::string_view word) { out.push_back(detail::part_of(word)); });
    return out;
  }
  /// Whether it is one of the keys; parameters have the operator in them.
  bool has(group_key key) const {
    for (const detail::group_part& part : keys())
      if (part.kind == key || (key == op && part.kind == parameters)) return true;
    return false;
  }

  friend bool operator==(const grouping&, const grouping&) = default;

 private:
  friend grouping operator+(const grouping& a, const grouping& b);

  void add(std::string_view word) {
    bool known = false;
    if (!text_.empty())
      detail::each_word(text_, [&](std::string_view other) { known = known || other == word; });
    if (known) return;
    if (!text_.empty()) text_ += '+';
    text_ += word;
  }

  // The words joined by +: the default fits a string that allocates nothing, and a process that
  // never opens a scope holds one.
  std::string text_;
  std::vector<std::string> folded_;
};

/// The keys of both, each once, and what either folds.
inline grouping operator+(const grouping& a, const grouping& b) {
  grouping out = a;
  for (const detail::group_part& part : b.keys()) out.add(detail::text_of(part));
  for (const std::string& field : b.folded_)
    if (std::find(out.folded_.begin(), out.folded_.end(), field) == out.folded_.end())
      out.folded_.push_back(field);
  return out;
}

// For two enumerators the language looks at no other.
inline grouping operator+(group_key a, group_key b) { return grouping(a) + grouping(b); }

/// A grouping, or what is wrong with its text; the value is by parameters then.
struct parsed_grouping {
  grouping value{};
  status error{};
};

inline parsed_grouping grouping::parse(std::string_view text) {
  parsed_grouping out;
  grouping by = nothing();
  const auto joints = static_cast<std::size_t>(std::count(text.begin(), text.end(), '+'));
  if (joints >= detail::most_keys) {
    out.error.message = "by=" + detail::printable(text, 60) + ": " + std::to_string(joints + 1) +
                        " keys, and " + std::to_string(detail::most_keys) + " are the most";
    return out;
  }
  detail::each_word(text, [&](std::string_view word) {
    std::string wrong = out.error ? detail::wrong_key(word) : std::string{};
    if (!wrong.empty()) out.error.message = "by=" + detail::printable(text, 60) + ": " + wrong;
    else if (out.error) by.add(detail::text_of(detail::part_of(word)));
  });
  if (out.error) out.value = std::move(by);
  return out;
}

KPROF_DETAIL_END

#endif
