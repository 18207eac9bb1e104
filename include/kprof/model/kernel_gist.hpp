// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_KERNEL_GIST_HPP
#define KPROF_MODEL_KERNEL_GIST_HPP

// What the template of a kernel does, as its arguments say: "MulFunctor<float>" of a kernel for any
// functor. Included by telling_kernel_names.hpp. Pure; linear in the name.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_name_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::string_view left_out_mark = "\u2026";

[[gnu::cold]] inline std::string written(const name_parts& parts);

/// A group in brackets; a long one is "<…>". The parameters of a lambda are not shown.
[[gnu::cold]] inline std::string written(const name_part& part, bool in_braces) {
  if (part.open == 0) return std::string{part.text};
  if (part.open == '(' && in_braces) return {};
  std::string inside;
  for (const name_parts& argument : part.arguments) {
    if (!inside.empty()) inside += ", ";
    if (part.open != '{') inside += written(argument);
    else
      for (const name_part& p : argument) add_piece(inside, written(p, true));
    if (inside.size() > longest_nested) break;
  }
  if (inside.size() > longest_nested && part.open != '{') inside = left_out_mark;
  return part.open + inside + closing(part.open);
}
[[gnu::cold]] inline std::string written(const name_parts& parts) {
  std::string out;
  for (const name_part& part : parts) add_piece(out, written(part, false));
  return out;
}

/// Texts between commas, each once; of many the first ones.
class text_list {
 public:
  [[gnu::cold]] void add(std::string text) {
    if (is_new(text)) texts_.push_back(std::move(text));
  }
  [[gnu::cold]] void add_first(std::string text) {
    if (is_new(text)) texts_.insert(texts_.begin(), std::move(text));
  }
  bool empty() const noexcept { return texts_.empty(); }

  [[gnu::cold]] std::string joined(char open) const {
    if (texts_.empty()) return {};
    std::string out;
    for (const std::string& text : texts_) {
      if (!out.empty()) out += ", ";
      if (out.size() >= longest_nested) {
        out += left_out_mark;
        break;
      }
      out += text;
    }
    return open + out + closing(open);
  }

 private:
  [[gnu::cold]] bool is_new(const std::string& text) const {
    return !text.empty() && std::find(texts_.begin(), texts_.end(), text) == texts_.end();
  }

  std::vector<std::string> texts_;
};

/// The name of a type, if the argument is one: no number, no pointer, no lambda.
[[gnu::cold]] inline std::string type_text(const name_parts& argument) {
  if (argument.empty() || !is_letter(argument[0].text[0]) || is_digit(argument[0].text[0]) ||
      argument[0].is("true") || argument[0].is("false") || argument[0].is("void"))
    return {};
  for (const name_part& part : argument)
    if (part.is("*") || part.is("&") || part.open == '{' || part.open == '(') return {};
  return written(argument);
}
[[gnu::cold]] inline text_list types_of(const std::vector<name_parts>& arguments) {
  text_list types;
  for (const name_parts& argument : arguments) types.add(type_text(argument));
  return types;
}

/// Arguments that say how a kernel goes through its data, which is the same for all that it does.
[[gnu::cold]] inline bool is_plumbing(const name_parts& argument) noexcept {
  const name_part* name = nullptr;
  const name_part* group = nullptr;
  for (const name_part& part : argument)
    if (part.open == '<') group = &part;
    else if (part.open == 0 && is_letter(part.text[0])) name = &part;
  if (name == nullptr) return false;
  const std::string_view word = name->text;
  const bool pointers = group != nullptr && !group->arguments.empty() &&
                        !group->arguments[0].empty() && group->arguments[0].back().is("*");
  return ((word == "array" || word == "Array") && pointers) || word.ends_with("OffsetCalculator") ||
         word == "LoadWithoutCast" || word == "StoreWithoutCast";
}

/// Whether a class is one that computes, by the words that programs use for such.
[[gnu::cold]] inline bool names_functor(std::string_view word) noexcept {
  if (word.find("unctor") != std::string_view::npos || word.starts_with("func_")) return true;
  for (const std::string_view end :
       {"Op", "Ops", "Fn", "Func", "_op", "_ops", "_fn", "_func", "_f"})
    if (word.size() > end.size() && word.ends_with(end)) return true;
  for (const std::string_view name :
       {"plus", "minus", "multiplies", "divides", "negate", "less", "greater", "equal_to",
        "not_equal_to", "less_equal", "greater_equal", "maximum", "minimum"})
    if (word == name) return true;
  return false;
}

/// A functor or function, and the types that it is for.
struct functor_name {
  std::string_view name{};
  text_list types{};
  char open = '<';  // bracket of the types: those of a lambda are its parameters

  [[gnu::cold]] std::string text() const { return std::string{name} + types.joined(open); }
};

/// Finds what an argument computes: itself, or what it wraps. A lambda is named after the function
/// that it is in.
[[gnu::cold]] inline bool find_functor(const name_parts& argument, functor_name& out) {
  if (argument.empty()) return false;
  const bool address = argument[0].is("&");
  const name_parts* parts = &argument;  // of "&(float f<float>(float))" what is in the brackets
  if (address && argument.size() == 2 && argument[1].open == '(' &&
      argument[1].arguments.size() == 1)
    parts = &argument[1].arguments[0];
  const name_part* name = nullptr;
  const name_part* group = nullptr;
  const name_part* lambda = nullptr;
  bool pointer = false;
  for (const name_part& part : *parts) {
    if (part.open == '(') break;  // parameters
    if (part.open == '<') group = &part;
    else if (part.open == '{') lambda = &part;
    else if (part.open == 0 && is_letter(part.text[0])) name = &part, group = nullptr;
    else pointer = pointer || part.is("*");
  }
  if (name == nullptr || (pointer && lambda == nullptr)) return false;
  // what nvcc makes of a lambda
  const bool of_nvcc = name->text.starts_with("__nv_dl_") || name->text.starts_with("__nv_hdl_");
  if (lambda == nullptr && !address && !of_nvcc && !names_functor(name->text)) return false;
  if (group != nullptr) {
    std::string first;
    for (const name_parts& inner : group->arguments) {
      if (find_functor(inner, out)) {
        out.types.add_first(std::move(first));  // the type of what it is applied to
        return true;
      }
      if (first.empty()) first = type_text(inner);
    }
    if (of_nvcc) return false;
    out.types = types_of(group->arguments);
  }
  out.name = name->text;
  if (lambda != nullptr && out.types.empty() && !lambda->arguments.empty())
    for (const name_part& part : lambda->arguments[0])
      if (part.open == '(') out.types = types_of(part.arguments), out.open = '(';
  return true;
}

/// "reduce_kernel" and "MeanOps<float>"; empty where the arguments say nothing of the kind.
struct kernel_gist {
  std::string head{}, functor{};
};
[[gnu::cold]] inline kernel_gist gist_of(const name_parts& kernel) {
  kernel_gist out;
  if (kernel.size() < 2 || kernel.back().open != '<') return out;
  bool typed = false;
  text_list types;
  std::vector<std::string> functors;
  for (const name_parts& argument : kernel.back().arguments) {
    functor_name found;
    if (!find_functor(argument, found)) {
      if (!is_plumbing(argument)) types.add(type_text(argument));
      continue;
    }
    typed = typed || !found.types.empty();
    std::string text = found.text();
    if (functors.size() < 2 && std::find(functors.begin(), functors.end(), text) == functors.end())
      functors.push_back(std::move(text));
  }
  if (functors.empty()) return out;
  for (std::size_t i = 0; i + 1 < kernel.size(); ++i)
    add_piece(out.head, written(kernel[i], false));
  if (!typed) out.head += types.joined('<');
  for (const std::string& functor : functors)
    out.functor.append(out.functor.empty() ? "" : " ").append(functor);
  return out;
}

/// "layer_norm_kernel<float>": of a kernel that is the only one of its name, the types alone; empty
/// where it has none.
[[gnu::cold]] inline std::string written_types(const name_parts& kernel) {
  if (kernel.size() < 2 || kernel.back().open != '<') return {};
  const text_list types = types_of(kernel.back().arguments);
  if (types.empty()) return {};
  std::string out;
  for (std::size_t i = 0; i + 1 < kernel.size(); ++i) add_piece(out, written(kernel[i], false));
  return out + types.joined('<');
}

}  // namespace detail
KPROF_DETAIL_END

#endif
