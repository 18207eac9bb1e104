// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OPTION_HPP
#define KPROF_REPORT_OPTION_HPP

// An option of an output, and a setting of the session: one line of a table that says its name,
// what values it takes and what it means. The parser, the lists of valid words in error lines and
// the tables of the documentation are made from these tables. Included by output.hpp and
// settings.hpp.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What values an option takes.
enum class option_kind : std::uint8_t {
  mark,    ///< none: the word alone stands for the flag that `fallback` is
  flag,    ///< on, off, 1, 0, true or false; the word alone is on
  number,  ///< decimal, from `least` to `most`
  size,    ///< bytes with B, K, KiB, M, MiB, G or GiB; less than `least` is raised to it
  choice,  ///< one of the words that `form` lists with | between them; where they are on and off
           ///< beside others, a flag's values too
  text,    ///< any text
  list,    ///< words joined by +
};

struct option_value;

/// One line of a table of options.
struct option {
  const char* name;
  option_kind kind = option_kind::text;
  const char* form = "";       ///< how a value is written: "ROWS", "op|thread"
  const char* fallback = "";   ///< the value, as text, where none is given
  std::uint64_t least = 0;     ///< smallest number or size
  std::uint64_t most = ~0ULL;  ///< largest number
  const char* meaning = "";    ///< for people
  status (*validate)(const option_value&) = nullptr;         ///< what else must hold of a value
  void (*store)(void* into, const option_value&) = nullptr;  ///< &store_member<&options::top>
  bool by_words = false;  ///< right words of a list hold in the settings beside wrong ones
};

/// A value that was found valid.
struct option_value {
  const option* of = nullptr;
  std::string text{};        ///< as given
  std::uint64_t number = 0;  ///< also of a flag, 1 or 0, and of a choice, the place of its word

  /// Of a list; none where it is empty.
  std::vector<std::string> words() const {
    std::vector<std::string> out(text.empty() ? 0 : 1);
    for (const char c : text)
      if (c == '+') out.emplace_back();
      else out.back() += c;
    return out;
  }
};

namespace detail {
template <class Struct, class Member>
void set_member(Struct& into, Member Struct::*member, const option_value& value) {
  if constexpr (std::is_same_v<Member, std::string>) into.*member = value.text;
  else if constexpr (std::is_same_v<Member, std::vector<std::string>>) into.*member = value.words();
  else if constexpr (requires { Member::parse(value.text).value; })
    into.*member = Member::parse(value.text).value;
  else if constexpr (std::is_same_v<Member, std::optional<bool>>)  // of auto|on|off
    into.*member = value.number == 0 ? std::nullopt : std::optional<bool>{value.number == 1};
  else into.*member = static_cast<Member>(value.number);
}
template <class Struct, class Member>
Struct struct_of(Member Struct::*);
}  // namespace detail

/// For option::store: puts a value into the member of the struct that `into` points to. A choice
/// becomes the enumerator at its place, of auto|on|off a std::optional<bool>; a member of a type
/// with a function parse() what that makes of the text.
template <auto Member>
void store_member(void* into, const option_value& value) {
  using owner = decltype(detail::struct_of(Member));
  detail::set_member(*static_cast<owner*>(into), Member, value);
}

KPROF_DETAIL_END

#endif
