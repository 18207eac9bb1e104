// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TELLING_KERNEL_NAMES_HPP
#define KPROF_MODEL_TELLING_KERNEL_NAMES_HPP

// Short names for the kernels of one table, by what tells them apart. Included by the table of
// kernels. Pure; about linear in the names, whatever they hold.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_name_parts.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/spelled_name.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// The name of a kernel that is the only one of its base name, with the first of its arguments.
[[gnu::cold]] inline std::string written_kernel(const name_parts& parts, bool brief) {
  const std::size_t longest = brief ? 16 : longest_list;
  std::string out;
  for (const name_part& part : parts) {
    if (part.open != '<') {
      add_piece(out, written(part, false));
      continue;
    }
    std::string inside;
    for (const name_parts& argument : part.arguments) {
      if (!inside.empty()) inside += ", ";
      if (inside.size() >= longest) {
        inside += left_out_mark;
        break;
      }
      inside += written(argument);
    }
    out += '<' + inside + '>';
  }
  return out;
}

using parts_of_several = std::vector<const name_parts*>;

[[gnu::cold]] inline bool all_same(const parts_of_several& all) noexcept {
  return std::all_of(all.begin(), all.end(),
                     [&](const name_parts* parts) { return same_parts(*all[0], *parts); });
}

/// Names of one shape can be compared part by part.
[[gnu::cold]] inline std::string shape_of(const name_parts& parts) {
  std::string shape;
  for (const name_part& part : parts) {
    if (part.open != 0) shape += part.open;
    else if (is_letter(part.text[0])) shape += 'w';
    else shape += part.text;
    shape += ' ';
  }
  return shape;
}

/// Classes of kernels that read the same by what has been written of them.
class known_classes {
 public:
  /// One class; or nothing is ever known, so that all that differs is written.
  [[gnu::cold]] known_classes(std::size_t kernels, bool used) : class_(used ? kernels : 0) {}

  [[gnu::cold]] known_classes of(const std::vector<std::size_t>& members) const {
    known_classes out(members.size(), !class_.empty());
    for (std::size_t i = 0; i < out.class_.size(); ++i) out.class_[i] = class_[members[i]];
    return out;
  }
  /// Whether these parts are told by the class.
  [[gnu::cold]] bool tell(const parts_of_several& all) const {
    if (class_.empty()) return all_same(all);
    std::vector<const name_parts*> first(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const name_parts*& of_class = first[class_[i]];
      if (of_class == nullptr) of_class = all[i];
      if (!same_parts(*of_class, *all[i])) return false;
    }
    return true;
  }
  [[gnu::cold]] void add(const std::vector<std::string>& texts) {
    if (class_.empty()) return;
    std::vector<std::string> more;
    for (std::size_t i = 0; i < texts.size(); ++i)
      more.push_back(std::to_string(class_[i]) + ' ' + texts[i]);
    class_ = equal_texts(more);
  }

 private:
  std::vector<std::uint32_t> class_;
};

/// What differs among names of one shape: their words, and of their arguments those that differ.
[[gnu::cold]] inline std::vector<std::string> differing_in_shape(const parts_of_several& all,
                                                                 known_classes known);

/// What differs among names, which are not all the same.
[[gnu::cold]] inline std::vector<std::string> differing(const parts_of_several& all,
                                                        const known_classes& known) {
  std::vector<std::string> shape_texts;
  for (const name_parts* parts : all) shape_texts.push_back(shape_of(*parts));
  const std::vector<std::uint32_t> shape = equal_texts(shape_texts);
  std::vector<std::vector<std::size_t>> shapes(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) shapes[shape[i]].push_back(i);
  std::vector<std::string> out(all.size());
  for (const std::vector<std::size_t>& members : shapes) {
    if (members.empty()) continue;
    parts_of_several same;
    for (const std::size_t i : members) same.push_back(all[i]);
    const std::vector<std::string> texts =
        all_same(same) ? std::vector<std::string>(members.size(), written(*same[0]))
                       : differing_in_shape(same, known.of(members));
    for (std::size_t i = 0; i < members.size(); ++i) out[members[i]] = texts[i];
  }
  return out;
}

/// The arguments of a group: what differs, and a mark where something is left out.
[[gnu::cold]] inline std::vector<std::string> differing_arguments(
    const std::vector<const name_part*>& groups, known_classes& known) {
  static const name_parts none;
  std::size_t most = 0;
  for (const name_part* group : groups) most = std::max(most, group->arguments.size());
  std::vector<std::string> out(groups.size());
  const auto append = [&](std::size_t i, std::string_view text) {
    if (!text.empty()) out[i].append(out[i].empty() ? "" : ", ").append(text);
  };
  bool any = false, gap = false;
  for (std::size_t a = 0; a < most; ++a) {
    parts_of_several arguments;
    for (const name_part* group : groups)
      arguments.push_back(a < group->arguments.size() ? &group->arguments[a] : &none);
    if (known.tell(arguments)) {
      for (std::size_t i = 0; i < out.size() && !gap; ++i)
        if (!arguments[i]->empty()) append(i, left_out_mark);
      gap = true;
      continue;
    }
    gap = false;
    any = true;
    const std::vector<std::string> texts = differing(arguments, known);
    known.add(texts);
    for (std::size_t i = 0; i < out.size(); ++i) append(i, texts[i]);
  }
  if (!any) return std::vector<std::string>(groups.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = groups[i]->open + out[i] + closing(groups[i]->open);
  return out;
}

[[gnu::cold]] inline std::vector<std::string> differing_in_shape(const parts_of_several& all,
                                                                 known_classes known) {
  std::vector<std::string> out(all.size());
  for (std::size_t at = 0; at < all[0]->size(); ++at) {
    if ((*all[0])[at].open == 0) {
      for (std::size_t i = 0; i < all.size(); ++i) add_piece(out[i], (*all[i])[at].text);
      known.add(out);
      continue;
    }
    std::vector<const name_part*> groups;
    for (const name_parts* parts : all) groups.push_back(&(*parts)[at]);
    const std::vector<std::string> texts = differing_arguments(groups, known);
    for (std::size_t i = 0; i < all.size(); ++i) out[i] += texts[i];
  }
  return out;
}

/// The function's name in parts, without namespaces; of CUTLASS the argument that is one.
[[gnu::cold]] inline name_parts reduced_name(std::string_view whole) {
  name_parts parts = parts_of_name(function_of(whole));
  std::string front;
  for (const name_part& part : parts)
    if (part.open == 0) front += part.text;
  if (is_cutlass_entry(front) && !parts.empty() && parts.back().open == '<' &&
      parts.back().arguments.size() == 1) {
    name_parts inner = std::move(parts.back().arguments[0]);
    parts = std::move(inner);
  }
  reduce(parts);
  return parts;
}

/// A kernel's name in a table: with all that differs from the kernels of its base name, and with no
/// more of that than tells it from them.
struct telling_name {
  std::string text, brief;
};

/// Names the kernels of a table.
class kernel_namer {
 public:
  /// `wholes`: names that differ, as kernel_name() gives them.
  [[gnu::cold]] explicit kernel_namer(const std::vector<std::string>& wholes)
      : wholes_(wholes), names_(wholes.size()) {
    for (const std::string& whole : wholes) {
      readable_.push_back(whole.starts_with("_Z") ? spelled_name(whole) : whole);
      if (std::none_of(readable_.back().begin(), readable_.back().end(), is_word))
        readable_.back() = whole;
    }
    std::vector<name_parts> parts;
    std::vector<std::string> bases;
    for (const std::string& readable : readable_) {
      parts.push_back(reduced_name(readable));
      bases.emplace_back(parts.back().empty() ? std::string_view{} : parts.back()[0].text);
    }
    for (const std::vector<std::uint32_t>& members : sets_of(bases)) {
      parts_of_several all;
      for (const std::uint32_t i : members) all.push_back(&parts[i]);
      if (members.size() > 1) name(members, all);
      else names_[members[0]] = {written_kernel(*all[0], false), written_kernel(*all[0], true)};
    }
    tell_apart();
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i].brief.empty()) names_[i] = {wholes[i], wholes[i]};
  }

  /// No two texts are the same, and no two briefs.
  [[gnu::cold]] std::vector<telling_name> take() { return std::move(names_); }

 private:
  [[gnu::cold]] void name(const std::vector<std::uint32_t>& members, const parts_of_several& all) {
    if (all_same(all)) return;
    const std::vector<std::string> texts = differing(all, known_classes(all.size(), false)),
                                   briefs = differing(all, known_classes(all.size(), true));
    for (std::size_t i = 0; i < members.size(); ++i) names_[members[i]] = {texts[i], briefs[i]};
  }

  /// Compares those that read the same by namespaces, then by parameters too, and at last takes
  /// their whole names.
  [[gnu::cold]] void tell_apart() {
    for (const auto part_of : {+[](std::string_view whole) { return function_of(whole); },
                               +[](std::string_view whole) { return whole; }})
      for (const std::vector<std::uint32_t>& members : equal_ones()) {
        std::vector<name_parts> parts;
        parts_of_several all;
        for (const std::uint32_t i : members) parts.push_back(parts_of_name(part_of(readable_[i])));
        for (const name_parts& p : parts) all.push_back(&p);
        name(members, all);
      }
    for (const std::vector<std::uint32_t>& members : equal_ones())
      for (const std::uint32_t i : members) names_[i] = {wholes_[i], wholes_[i]};
  }

  /// The places of equal texts.
  static std::vector<std::vector<std::uint32_t>> sets_of(const std::vector<std::string>& texts) {
    const std::vector<std::uint32_t> number = equal_texts(texts);
    std::vector<std::vector<std::uint32_t>> sets;
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      if (number[i] == sets.size()) sets.emplace_back();
      sets[number[i]].push_back(i);
    }
    return sets;
  }

  /// Sets of kernels whose texts or briefs are the same.
  std::vector<std::vector<std::uint32_t>> equal_ones() const {
    std::vector<std::string> texts, briefs;
    for (const telling_name& n : names_) texts.push_back(n.text), briefs.push_back(n.brief);
    std::vector<std::vector<std::uint32_t>> out;
    std::vector<bool> taken(names_.size());
    for (const std::vector<std::string>& of : {texts, briefs})
      for (std::vector<std::uint32_t>& set : sets_of(of)) {
        std::erase_if(set, [&](std::uint32_t i) { return taken[i]; });
        if (set.size() < 2) continue;
        for (const std::uint32_t i : set) taken[i] = true;
        out.push_back(std::move(set));
      }
    return out;
  }

  const std::vector<std::string>& wholes_;
  std::vector<std::string> readable_;  // what the parts are of
  std::vector<telling_name> names_;
};

}  // namespace detail

/// Short names for kernels, by what tells them apart: no two are the same.
///
/// Left out are namespaces, parameters, and template arguments that all kernels of one name have,
/// for which "…" stands: "gemm<…, 128>" beside "gemm<…, 64>". Where that is not enough, more is
/// written, at last the whole name. `names`: as kernel_name() gives them, no two the same.
///     kprof::telling_kernel_names({"void a::k<float, 2>(int)", "void a::k<float, 4>(int)"})
[[gnu::cold]] inline std::vector<std::string> telling_kernel_names(
    const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (detail::telling_name& name : detail::kernel_namer(names).take())
    out.push_back(std::move(name.text));
  return out;
}

KPROF_DETAIL_END

#endif
