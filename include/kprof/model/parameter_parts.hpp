// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_PARAMETER_PARTS_HPP
#define KPROF_MODEL_PARAMETER_PARTS_HPP

// What is said of a set of parameters, in parts: a part is a field with its value, "K=64", or a
// piece of the operator's own short form, "32×64×56×56 → 64". Included by row_texts.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// One part. Parts of several sets that have the same place say the same thing, of other values.
struct parameter_part {
  std::uint32_t place = 0;
  std::string text;
  bool after_comma = false;  // of the one before, "3×3, /2"; else a space parts them
  bool stays = false;        // where the row is too short for all, other parts are left out

  friend bool operator==(const parameter_part& a, const parameter_part& b) {
    return a.place == b.place && a.text == b.text;
  }
};

/// The elements of an array as far as they are used: without those at the end that are as in the
/// default. Sizes as "3×224×224", others as "[1,-1]".
inline std::string used_elements(const operator_field& f, parameter_cursor& values,
                                 parameter_cursor& defaults) {
  std::vector<std::string> elements;
  std::size_t used = 0;
  bool are_sizes =
      f.kind == parameter_kind::signed_integer || f.kind == parameter_kind::unsigned_integer;
  for (std::uint32_t i = 0; i < f.extent; ++i) {
    std::string text, fallback;
    append_element(text, f, values);
    const bool has_default = !defaults.at_end();
    if (has_default) append_element(fallback, f, defaults);
    if (!has_default || text != fallback) used = i + 1;
    elements.push_back(std::move(text));
  }
  elements.resize(used);
  for (const std::string& e : elements) are_sizes = are_sizes && e[0] != '-' && e != "0";
  std::string out;
  for (const std::string& e : elements)
    out.append(out.empty() ? "" : are_sizes ? "\u00D7" : ",").append(e);
  return are_sizes ? out : '[' + out + ']';
}

/// "K=64", "bias", "bias=false", "f32" of a type.
inline std::string field_text(const operator_field& f, parameter_cursor values,
                              parameter_cursor defaults) {
  if (f.extent != 0 && f.kind != parameter_kind::aggregate)
    return f.name + '=' + used_elements(f, values, defaults);
  std::string value;
  append_field(value, f, values);
  if (f.kind == parameter_kind::boolean && value == "true") return f.name;
  return f.name + '=' + value;
}

/// Whether the field's value is the one that the operator declares for it.
inline bool is_default(const operator_field& f, parameter_cursor values,
                       parameter_cursor defaults) {
  return !defaults.at_end() && values.packed_field(f) == defaults.packed_field(f);
}

/// Which fields of a set of parameters become parts.
enum class which_fields : std::uint8_t {
  telling,  // the short form or, without one, what is no default and has a meaning in the call
  used,     // each field that is no default and has a meaning in the call
  all       // every field
};

/// Parts of the fields have the field's place, those of the short form places from here on.
inline constexpr std::uint32_t first_brief_place = 1U << 16U;

/// Where the first piece of the short form ends: at a comma, or at a space beside a "name=value".
inline std::size_t end_of_piece(std::string_view brief) noexcept {
  const auto has_value = [&](std::size_t begin) {
    return brief.substr(begin, brief.find(' ', begin) - begin).find('=') != std::string_view::npos;
  };
  for (std::size_t at = 0; at < brief.size(); at = brief.find(' ', at) + 1) {
    const std::size_t space = brief.find(' ', at);
    if (space == std::string_view::npos) break;
    if (space > 0 && brief[space - 1] == ',') return space - 1;
    if (has_value(at) || has_value(space + 1)) return space;
  }
  return brief.size();
}

/// Puts the pieces of the short form into parts of their own, so that rows can share some.
inline void add_brief(std::vector<parameter_part>& parts, std::string_view brief) {
  bool after_comma = false;
  for (std::uint32_t place = first_brief_place; !brief.empty(); ++place) {
    const std::size_t end = end_of_piece(brief);
    parts.push_back({place, std::string{brief.substr(0, end)}, after_comma});
    after_comma = end < brief.size() && brief[end] == ',';
    brief.remove_prefix(std::min(brief.size(), end + (after_comma ? 2 : 1)));
  }
}

/// The parts of a node's parameters; none where they were not kept.
inline std::vector<parameter_part> parameter_parts(const profile& p, const scope_node& n,
                                                   which_fields which) {
  std::vector<parameter_part> parts;
  const operator_info* const op = p.operator_of(n);
  if (op == nullptr || n.merged || n.values.empty()) return parts;
  const bool telling = which != which_fields::all,
             brief = which == which_fields::telling && !n.brief.empty();
  if (brief) add_brief(parts, n.brief);
  parameter_cursor values(n.values.packed), defaults(op->defaults.packed);
  for (std::uint32_t i = 0; i < op->fields.size(); ++i) {
    const operator_field& f = op->fields[i];
    const std::uint64_t bit = i < 64 ? std::uint64_t{1} << i : 0;
    const bool left_out = telling && (is_default(f, values, defaults) || (n.unshown & bit) != 0 ||
                                      (brief && (n.beside & bit) == 0));
    if (!left_out) parts.push_back({i, field_text(f, values, defaults)});
    values.skip_all(f);
    defaults.skip_all(f);
  }
  return parts;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
