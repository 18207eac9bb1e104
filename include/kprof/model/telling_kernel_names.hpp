// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TELLING_KERNEL_NAMES_HPP
#define KPROF_MODEL_TELLING_KERNEL_NAMES_HPP

// Short names for the kernels of one table, by what tells them apart. Included by the table of
// kernels. Pure; about linear in the names, whatever they hold.

#include <kprof/build_options.hpp>
#include <kprof/model/differing_names.hpp>
#include <kprof/model/kernel_gist.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_name_parts.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/spelled_name.hpp>
#include <kprof/profile/device_profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

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

/// "gemvx::kernel": a name that says so little keeps the namespace before it.
[[gnu::cold]] inline void keep_namespace(name_parts& parts) {
  std::size_t at = parts.size();
  while (at > 0 && parts[at - 1].open != 0) --at;
  if (at < 3 || !parts[at - 2].is("::") || parts[at - 3].open != 0 ||
      !is_letter(parts[at - 3].text[0]) ||
      !(parts[at - 1].is("kernel") || parts[at - 1].text.starts_with("operator")) ||
      parts[at - 3].text.starts_with("_INTERNAL_") || parts[at - 3].text.starts_with("_GLOBAL__N"))
    return;
  const char* const begin = parts[at - 3].text.data();
  const char* const end = parts[at - 1].text.data() + parts[at - 1].text.size();
  if (static_cast<std::size_t>(end - begin) !=
      parts[at - 3].text.size() + 2 + parts[at - 1].text.size())
    return;
  parts[at - 1].text = {begin, static_cast<std::size_t>(end - begin)};
}

/// The function's name in parts, without namespaces; of CUTLASS the argument that is one.
struct reduced_kernel {
  name_parts parts;
  bool of_cutlass = false;
};
[[gnu::cold]] inline reduced_kernel reduced_name(std::string_view whole) {
  name_parts parts = parts_of_name(function_of(whole));
  std::string front;
  for (const name_part& part : parts)
    if (part.open == 0) front += part.text;
  const bool of_cutlass = is_cutlass_entry(front) && !parts.empty() && parts.back().open == '<' &&
                          parts.back().arguments.size() == 1 &&
                          !parts.back().arguments[0].empty() &&
                          !parts.back().arguments[0][0].is(left_out_mark);
  if (of_cutlass) {
    name_parts inner = std::move(parts.back().arguments[0]);
    parts = std::move(inner);
  }
  keep_namespace(parts);
  reduce(parts);
  return {std::move(parts), of_cutlass};
}

/// Leaves out what all kernels of this kind have.
[[gnu::cold]] inline void drop_plumbing(name_parts& kernel) {
  if (kernel.empty() || kernel.back().open != '<') return;
  std::vector<name_parts>& arguments = kernel.back().arguments;
  if (!std::all_of(arguments.begin(), arguments.end(), is_plumbing))
    std::erase_if(arguments, is_plumbing);
}

/// "reduce_kernel<128, 4>" of "reduce_kernel<128, 4, …>".
[[gnu::cold]] inline std::string without_marks(std::string text) {
  const std::string mark{left_out_mark};
  for (const std::string& loose : {mark + ", ", ", " + mark, '<' + mark + '>'})
    for (std::size_t at = 0; (at = text.find(loose, at)) != std::string::npos;)
      text.erase(at, loose.size());
  return text;
}

/// A kernel's name in a table: with all that differs from the kernels of its base name, and with no
/// more of that than tells it from them.
struct telling_name {
  std::string text, brief;
  std::string functor{};  // what both end with, behind a space, if its template says what it does
  bool alone = false;     // no other kernel has its base name: arguments tell little
};

/// Names the kernels of a table.
class kernel_namer {
 public:
  /// `wholes`: names that differ, as kernel_name() gives them.
  [[gnu::cold]] explicit kernel_namer(const std::vector<std::string>& wholes)
      : wholes_(wholes), names_(wholes.size()) {
    for (const std::string& whole : wholes) {
      std::size_t at = 0;
      const bool mangled = whole.starts_with("_Z") && !leading_names(whole, at).empty();
      readable_.push_back(mangled ? spelled_name(whole) : whole);
    }
    std::vector<name_parts> parts;
    std::vector<std::string> bases;
    for (std::size_t i = 0; i < readable_.size(); ++i) {
      reduced_kernel kernel = reduced_name(readable_[i]);
      if (!kernel.of_cutlass) {
        drop_plumbing(kernel.parts);
        if (kernel_gist gist = gist_of(kernel.parts); !gist.functor.empty()) {
          gist.head.append(1, ' ').append(gist.functor);
          names_[i] = {gist.head, gist.head, std::move(gist.functor)};
        }
      }
      parts.push_back(std::move(kernel.parts));
      bases.emplace_back(!names_[i].functor.empty() ? std::string_view{"\n"}  // of none
                         : parts.back().empty()     ? std::string_view{}
                                                    : parts.back()[0].text);
    }
    for (const std::vector<std::uint32_t>& members : sets_of(bases)) {
      if (!names_[members[0]].functor.empty()) continue;
      parts_of_several all;
      for (const std::uint32_t i : members) all.push_back(&parts[i]);
      if (members.size() > 1) {
        name(members, all);
        continue;
      }
      names_[members[0]] = {written_kernel(*all[0], false), written_types(*all[0]), {}, true};
      if (std::string& brief = names_[members[0]].brief; brief.empty())
        brief = written_kernel(*all[0], true);
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
    for (std::size_t i = 0; i < members.size(); ++i) {
      telling_name& n = names_[members[i]];
      n.alone = false;
      n.text = with_functor(texts[i], n.functor);
      n.brief = with_functor(briefs[i], n.functor);
      if (!n.text.ends_with(' ' + n.functor) || !n.brief.ends_with(' ' + n.functor))
        n.functor.clear();
    }
  }
  /// "reduce_kernel<128, 4> MeanOps<float>"; without the functor where what differs is in it.
  [[gnu::cold]] static std::string with_functor(const std::string& text,
                                                const std::string& functor) {
    if (functor.empty() ||
        text.find(functor.substr(0, functor.find_first_of("<( "))) != std::string::npos)
      return text;
    return without_marks(text) + ' ' + functor;
  }

  /// Compares those that read the same by what was left out, then by namespaces, then by parameters
  /// too, and at last takes their whole names.
  [[gnu::cold]] void tell_apart() {
    for (int step = 0; step < 3; ++step)
      for (const std::vector<std::uint32_t>& members : equal_ones()) {
        std::vector<name_parts> parts;
        parts_of_several all;
        for (const std::uint32_t i : members) {
          const std::string_view readable = readable_[i];
          if (step > 0) names_[i].functor.clear();
          parts.push_back(step == 0   ? reduced_name(readable).parts
                          : step == 1 ? parts_of_name(function_of(readable))
                                      : parts_of_name(readable));
        }
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
/// for which "…" stands: "gemm<…, 128>" beside "gemm<…, 64>". A template whose argument is a
/// functor or a lambda is named by it: "reduce_kernel MeanOps<float>". Where that is not enough,
/// more is written, at last the whole name. `names`: as kernel_name() gives them, no two the same.
///     kprof::telling_kernel_names({"void a::k<float, 2>(int)", "void a::k<float, 4>(int)"})
[[gnu::cold]] inline std::vector<std::string> telling_kernel_names(
    const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (detail::telling_name& name : detail::kernel_namer(names).take())
    out.push_back(std::move(name.text));
  return out;
}

namespace detail {

/// Those of the kernels of a run, by their numbers.
[[gnu::cold]] inline std::vector<std::string> telling_names_of(const device_profile& device) {
  std::vector<std::string> whole;
  whole.reserve(device.kernels.size());
  for (const std::string& mangled : device.kernels) whole.push_back(kernel_name(mangled));
  return telling_kernel_names(whole);
}

}  // namespace detail

/// The same of one name, which may be mangled: "gemm<float, 128, Tile<64, 64>>". Two kernels may
/// have the same.
[[gnu::cold]] inline std::string short_kernel_name(std::string_view name) {
  return telling_kernel_names({kernel_name(name)})[0];
}

KPROF_DETAIL_END

#endif
