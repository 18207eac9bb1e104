// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNEL_TEXTS_HPP
#define KPROF_REPORT_TEXT_KERNEL_TEXTS_HPP

// The names of kernels in a column of some width, so that no two kernels read the same. Included by
// the table of kernels. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name_parts.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Printable text on lines of a width, broken behind spaces and signs; later lines are indented.
[[gnu::cold]] inline std::vector<std::string> broken_lines(std::string_view text,
                                                           std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string lead(lines.empty() || width < 12 ? 0 : 2, ' ');
    std::string_view line = first_columns(text, std::max<std::size_t>(width - lead.size(), 2));
    if (line.empty()) break;
    if (line.size() < text.size())
      if (const std::size_t sign = line.find_last_of(" ,<>_:");
          sign != std::string_view::npos && sign + 1 > line.size() / 2)
        line = line.substr(0, sign + 1);
    lines.push_back(lead + std::string{line});
    text.remove_prefix(line.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

/// Whether a name may be cut before a byte of it: not inside a token.
inline bool is_token_border(std::string_view text, std::size_t at) noexcept {
  const auto is_inside = [](char c) { return is_letter(c) && c != '_'; };
  return !is_inside(text[at - 1]) || !is_inside(text[at]) ||
         text.substr(at).starts_with(left_out_mark) || text.substr(0, at).ends_with(left_out_mark);
}
/// "Sweep|Kernel": where a token may be cut that is too long itself.
inline bool is_hump(std::string_view text, std::size_t at) noexcept {
  return text[at - 1] >= 'a' && text[at - 1] <= 'z' && text[at] >= 'A' && text[at] <= 'Z';
}

/// The first columns of a name up to the end of a token; where that would leave less than a third
/// of them, up to a hump of it; else as many as fit.
[[gnu::cold]] inline std::string_view first_tokens(std::string_view text, std::size_t width) {
  const std::string_view all = first_columns(text, width);
  if (all.size() == text.size()) return all;
  for (const auto may_cut : {&is_token_border, &is_hump})
    for (std::size_t size = all.size(); size > all.size() / 3; --size)
      if (may_cut(text, size)) return text.substr(0, size);
  return all;
}
/// The same of its last columns; nothing where they are few and inside a token.
[[gnu::cold]] inline std::string_view last_tokens(std::string_view text, std::size_t width) {
  constexpr std::size_t few = 5;
  const std::string_view all = last_columns(text, width);
  const std::size_t begin = text.size() - all.size();
  if (begin == 0 || all.empty()) return all;
  for (const auto may_cut : {&is_token_border, &is_hump})
    for (std::size_t at = begin; at <= begin + (2 * all.size() + 2) / 3; ++at)
      if (may_cut(text, at)) return text.substr(at);
  return width <= few ? std::string_view{} : all;
}

class kernel_texts {
 public:
  /// `wholes`: names that differ, as kernel_name() gives them.
  [[gnu::cold]] kernel_texts(const std::vector<std::string>& wholes, bool ascii) : ascii_(ascii) {
    for (const telling_name& name : kernel_namer(wholes).take())
      names_.push_back(
          {printed(name.text), printed(name.brief), printed(name.functor), name.alone});
    for (const telling_name& name : names_) tight_.push_back(tight(name.brief));
  }

  /// Columns that a name takes.
  [[gnu::cold]] std::size_t natural(std::size_t kernel) const noexcept {
    return display_width(names_[kernel].text);
  }
  /// Columns below which a name is cut.
  [[gnu::cold]] std::size_t least(std::size_t kernel) const noexcept {
    return std::min(natural(kernel), display_width(tight_[kernel]));
  }

  /// The lines of each name. A name that is too long for one is said more briefly, then cut where
  /// it does not differ from those that would read the same; if that does not do, it takes more.
  [[gnu::cold]] std::vector<std::vector<std::string>> at_width(std::size_t width) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < names_.size(); ++i)
      texts.push_back(display_width(names_[i].text) <= width    ? names_[i].text
                      : display_width(names_[i].brief) <= width ? names_[i].brief
                      : display_width(tight_[i]) <= width       ? tight_[i]
                                                                : cut_inside(i, width));
    cut_where_equal(texts, width);
    const std::vector<bool> equal = ambiguous(texts);
    std::vector<std::vector<std::string>> lines;
    for (std::size_t i = 0; i < texts.size(); ++i)
      lines.push_back(equal[i] || texts[i].empty() ? broken_lines(names_[i].brief, width)
                                                   : std::vector<std::string>{std::move(texts[i])});
    return lines;
  }

 private:
  /// Without spaces that nobody sees, at the ends and behind others.
  [[gnu::cold]] std::string printed(const std::string& text) const {
    return seen_spaces(printable(ascii_ ? ascii_notation(text) : text, longest_text, ascii_));
  }
  [[gnu::cold]] std::string_view mark() const noexcept { return ascii_ ? "..." : "\u2026"; }

  /// "k<…64…>" of "k<…, 64, …>": the mark parts arguments too.
  [[gnu::cold]] std::string tight(std::string text) const {
    const std::string sign{mark()};
    for (const std::string& loose : {sign + ", ", ", " + sign, sign + ' ', sign + sign})
      for (std::size_t at = 0; (at = text.find(loose, at)) != std::string::npos;)
        text.replace(at, loose.size(), sign);
    return text;
  }

  /// Where the name of the template ends.
  static std::size_t base_size(const std::string& text, const std::string& functor) noexcept {
    const std::size_t bracket = std::min(text.find_first_of("<("), text.size());
    const bool behind = !functor.empty() && text.size() > functor.size() && text.ends_with(functor);
    return behind ? std::min(bracket, text.size() - functor.size() - 1) : bracket;
  }

  /// What is behind the template's name with as much of that as fits; if that is little, the name
  /// with the first of its arguments. Brackets are whole.
  [[gnu::cold]] std::string cut_inside(std::size_t kernel, std::size_t width) const {
    const std::string& text = tight_[kernel];
    const std::size_t size = base_size(text, names_[kernel].functor);
    const std::string_view base = std::string_view{text}.substr(0, size);
    const std::string_view tail = std::string_view{text}.substr(size);
    const std::string& functor = names_[kernel].functor;
    const std::size_t types = std::min(functor.find_first_of("<("), functor.size()),
                      taken = display_width(base) + 2 + display_width(mark());
    std::string whole_base;  // with the first arguments
    if (functor.empty() && tail.starts_with('<') && taken + least_base <= width) {
      const std::string first = first_arguments(tail, width - taken);
      whole_base = std::string{base} + '<' + first + std::string{mark()} + '>';
      if (!first.empty() || names_[kernel].alone) return whole_base;
    }
    const auto behind_base = [&](std::string_view end, std::size_t least) -> std::string {
      if (end.starts_with(' ')) end.remove_prefix(1);
      const std::size_t used = display_width(end) + display_width(mark());
      if (end.empty() || used + least > width) return {};
      const std::string_view head =
          least == 0 ? end.substr(0, 0) : first_tokens(base, width - used);
      if (!head.empty() && head.size() != base.size() && !is_token_border(base, head.size()) &&
          !(is_hump(base, head.size()) && base.size() > width / 3))
        return {};
      return std::string{head}.append(mark()).append(end);
    };
    const std::string_view typed = functor, untyped = typed.substr(0, types);
    for (const auto& [end, least] : {std::pair{tail, least_base},
                                     {typed, least_base},
                                     {typed, std::size_t{0}},
                                     {untyped, least_base},
                                     {untyped, std::size_t{0}}})
      if (std::string out = behind_base(end, least); !out.empty()) return out;
    if (!whole_base.empty()) return whole_base;
    return joined(first_tokens(base, (width + 1) / 2), {}, base, width);
  }

  /// Of "<a, b<c>, d>" those that fit, with what parts them from the next.
  [[gnu::cold]] std::string first_arguments(std::string_view tail, std::size_t width) const {
    std::size_t end = 0, depth = 0;
    for (std::size_t i = 1; i < tail.size() && display_width(tail.substr(1, i - 1)) <= width; ++i) {
      const char c = tail[i];
      if (depth == 0 && (c == ',' || tail.substr(i).starts_with(mark()))) end = i - 1;
      if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
      else if ((c == '>' || c == ')' || c == '}' || c == ']') && depth-- == 0) break;
    }
    return std::string{tail.substr(1, end)};
  }

  /// A name that was cut, with its brackets in pairs.
  [[gnu::cold]] static std::string paired(const std::string& text, std::size_t width) {
    std::string out, open;
    for (const char c : text) {
      if (c == '<' || c == '(' || c == '{' || c == '[') open += c;
      if (c == '>' || c == ')' || c == '}' || c == ']') {
        if (open.empty() || closing(open.back()) != c) continue;
        open.pop_back();
      }
      out += c;
    }
    for (; !open.empty(); open.pop_back()) out += closing(open.back());
    while (out.ends_with("::")) out.resize(out.size() - 2);
    return display_width(out) <= width ? out : std::string{};
  }

  /// `head`, a mark, `middle`, a mark, and as much of the end of `text` as there is room for.
  [[gnu::cold]] std::string joined(std::string_view head, std::string_view middle,
                                   std::string_view text, std::size_t width) const {
    std::string out{head};
    out.append(mark());
    if (!middle.empty()) out.append(middle).append(mark());
    const std::size_t used = display_width(out);
    if (used > width) return std::string(first_columns(out, width));
    return tight(out.append(last_tokens(text, width - used)));
  }

  /// Of names that read the same now, the part in which they differ is shown instead.
  [[gnu::cold]] void cut_where_equal(std::vector<std::string>& texts, std::size_t width) const {
    const std::vector<std::uint32_t> number = equal_texts(texts);
    std::vector<std::vector<std::size_t>> sets(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) sets[number[i]].push_back(i);
    for (const std::vector<std::size_t>& set : sets) {
      if (set.size() < 2) continue;
      const std::string& first = tight_[set[0]];
      std::size_t same_begin = first.size(), same_end = first.size(), shortest = first.size();
      for (const std::size_t i : set) {
        const std::string& other = tight_[i];
        const auto begin = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
        same_begin = std::min(same_begin, static_cast<std::size_t>(begin.first - first.begin()));
        const auto end = std::mismatch(first.rbegin(), first.rend(), other.rbegin(), other.rend());
        same_end = std::min(same_end, static_cast<std::size_t>(end.first - first.rbegin()));
        shortest = std::min(shortest, other.size());
      }
      while (same_begin > 0 && is_letter(first[same_begin - 1]) && first[same_begin - 1] != '_')
        --same_begin;  // whole words
      same_end = std::min(same_end, shortest - same_begin);
      while (same_end > 0 && is_letter(first[first.size() - same_end]) &&
             first[first.size() - same_end] != '_')
        --same_end;
      for (const std::size_t i : set)
        texts[i] = paired(showing(tight_[i], same_begin, same_end, width), width);
    }
  }

  /// The text without its first and last bytes, so many, between as much of these as fits.
  [[gnu::cold]] std::string showing(const std::string& text, std::size_t before, std::size_t behind,
                                    std::size_t width) const {
    const std::size_t marks = 2 * display_width(mark());
    if (marks + least_base + 6 > width) return {};  // on lines of its own
    std::string_view told = std::string_view{text}.substr(before, text.size() - before - behind);
    if (display_width(told) + marks + 6 > width)  // its front may do
      told = first_tokens(told, width - marks - 6);
    const std::size_t taken = display_width(told) + marks;
    // Behind arguments there is little to see.
    const std::size_t end = text.find('<') == std::string::npos ? (width - taken) / 2 : 0,
                      begin = width - taken - end;
    if (display_width(text.substr(0, before)) <= begin)
      return joined(std::string_view{text}.substr(0, text.size() - behind), {}, text, width);
    const std::string_view tail = std::string_view{text}.substr(text.size() - behind);
    return joined(first_tokens(text, begin), told, last_tokens(tail, end), width);
  }

  static constexpr std::size_t least_base = 8;  // columns of a template's name that say something

  std::vector<telling_name> names_;
  std::vector<std::string> tight_;  // of the briefs
  bool ascii_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
