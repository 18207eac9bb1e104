// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_KERNEL_NAME_HPP
#define KPROF_MODEL_KERNEL_NAME_HPP

// Names of kernels for people: what the compiler mangled is made readable, and what is long is made
// short. Included by the tables of kernels. Pure; linear in the name, whatever it holds. A name
// that is not mangled (extern "C") stays as it is.

#include <kprof/build_options.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
inline bool is_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/// Reads "6kernel" at `at` and goes behind it; empty, and `at` stays, where no name stands there.
inline std::string_view source_name(std::string_view mangled, std::size_t& at) noexcept {
  std::size_t length = 0, from = at;
  for (; from < mangled.size() && is_digit(mangled[from]) && length <= mangled.size(); ++from)
    length = length * 10 + static_cast<std::size_t>(mangled[from] - '0');
  if (from == at || length == 0 || length > mangled.size() - from) return {};
  at = from + length;
  return mangled.substr(from, length);
}

/// The function's name with its namespaces, as far as it can be read without a demangler: names up
/// to the first template argument, or whatever else is no plain name. `at` is then behind them.
inline std::vector<std::string_view> leading_names(std::string_view mangled, std::size_t& at) {
  std::vector<std::string_view> names;
  at = 2;
  const auto skip = [&](std::string_view any_of) {
    while (at < mangled.size() && any_of.find(mangled[at]) != std::string_view::npos) ++at;
  };
  const bool nested = mangled.substr(at).starts_with('N');
  skip("N");
  for (;;) {
    skip("KLVr");
    const std::string_view name = source_name(mangled, at);
    if (!name.empty()) names.push_back(name);
    if (name.empty() || !nested) return names;
  }
}

/// The end of a reference "S_", "S1A_" or "T0_" at `at`, and which one it is: 0, 1, ...; `at`
/// itself where there is none.
inline std::size_t reference_end(std::string_view mangled, std::size_t at,
                                 std::size_t& number) noexcept {
  std::size_t end = at + 1;
  number = 0;
  if (mangled[at] != 'S' && mangled[at] != 'T') return at;
  for (; end < mangled.size() && end < at + 6 &&
         (is_digit(mangled[end]) || (mangled[end] >= 'A' && mangled[end] <= 'Z'));
       ++end)
    number =
        number * 36 + static_cast<std::size_t>(is_digit(mangled[end]) ? mangled[end] - '0'
                                                                      : mangled[end] - 'A' + 10);
  if (end >= mangled.size() || mangled[end] != '_') return at;
  if (end > at + 1) ++number;  // S_ is the first, S0_ the second
  return end + 1;
}

/// Whether __cxa_demangle may be given this. A mangled name refers back to its own parts, and each
/// reference can repeat all that came before: 1 KB of them is 2^80 characters. Of n references the
/// text can grow 3^(n/3)-fold, by each expansion of a pack as often as the pack has elements.
/// References to the plain names at the front, by far the most, repeat nothing but these. Counted
/// too is what only looks like a reference. What passes here becomes 10 MB at the worst.
inline bool may_be_demangled(const std::string& mangled) {
  if (mangled.size() > 4096 || mangled.find('\0') != std::string::npos) return false;
  std::size_t at = 0;
  const std::size_t plain = leading_names(mangled, at).size();
  std::size_t references = 0, parameters = 0, expansions = 0;
  for (std::size_t i = 2; i + 1 < mangled.size(); ++i) {
    const char c = mangled[i];
    if ((c == 'D' || c == 's') && mangled[i + 1] == 'p') ++expansions;
    std::size_t number = 0;
    if (reference_end(mangled, i, number) == i) continue;
    if (c == 'T') ++parameters;
    else if (number >= plain) ++references;
  }
  return references + parameters + (parameters > 0 ? 16 * expansions : 0) <= 32;
}

// ---- shortening what the demangler wrote

/// The end of the group in brackets that begins at `at`.
inline std::size_t group_end(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    else if ((c == '>' && text[at - 1] != '-') || c == ')' || c == ']' || c == '}')
      if (--depth == 0) return at + 1;
  }
  return at;
}

inline constexpr std::string_view no_name_space = "(anonymous namespace)";

/// What stands between commas, without the spaces around it.
inline std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    std::string_view part = text.substr(from, to - from);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
    from = to + 1;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ',') add(at);
    at = c == '<' || c == '(' || c == '[' || c == '{' ? group_end(text, at) : at + 1;
  }
  if (!text.empty()) add(text.size());
  return parts;
}

inline constexpr std::size_t longest_nested = 24;  // arguments of an argument that are still shown
inline constexpr std::size_t longest_list = 72;    // the rest of the arguments is "..."

/// The function of what the demangler wrote: without the type that it returns and its parameters.
inline std::string_view function_of(std::string_view text) noexcept {
  if (text.starts_with("void ")) text.remove_prefix(5);
  std::size_t name = 0, at = 0;
  bool group = false;  // "enable_if<...>::type f": a type in front
  while (at < text.size()) {
    const char c = text[at];
    if (c == '(' && !text.substr(at).starts_with(no_name_space) &&
        !text.substr(0, at).ends_with("operator"))
      break;
    if (c == ' ' && group) name = at + 1;
    group = group || c == '<';
    at = c == '<' || c == '(' || c == '[' || c == '{' ? group_end(text, at) : at + 1;
  }
  return name < at ? text.substr(name, at - name) : text.substr(0, at);
}

/// Every kernel of CUTLASS is an instance of one of these, which its argument tells apart.
inline bool is_cutlass_entry(std::string_view name) noexcept {
  return name == "cutlass::Kernel" || name == "cutlass::Kernel2" ||
         name == "cutlass::device_kernel";
}

}  // namespace detail

/// A kernel's whole name, readable: "void gemm<float, 128>(float*, int)". As it is where it is not
/// mangled, or where the demangler does not understand it; that of libstdc++ gives up at 1,024
/// characters.
inline std::string kernel_name(std::string_view mangled) {
  std::string name{mangled};
  if (!name.starts_with("_Z") || !detail::may_be_demangled(name)) return name;
  int error = 0;
  char* const readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &error);
  if (error == 0 && readable != nullptr) name = readable;
  std::free(readable);
  return name;
}

KPROF_DETAIL_END

#endif
