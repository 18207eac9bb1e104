// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_DIFFERING_NAMES_HPP
#define KPROF_MODEL_DIFFERING_NAMES_HPP

// What differs among names that were taken apart: with that alone no two of them read the same, if
// they are not. Included by telling_kernel_names.hpp. Pure; about linear in the names, whatever
// they hold.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_gist.hpp>
#include <kprof/model/kernel_name_parts.hpp>
#include <kprof/model/row_texts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

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
  /// Whether the kernels of each class have the same parts.
  [[gnu::cold]] bool tell(const parts_of_several& all) const {
    if (class_.empty()) return all_same(all);
    // Of a part of the kernels the classes may be any of all kernels'.
    std::vector<const name_parts*> first(*std::max_element(class_.begin(), class_.end()) + 1U);
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

}  // namespace detail
KPROF_DETAIL_END

#endif
