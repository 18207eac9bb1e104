// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_FIELD_RANGES_HPP
#define KPROF_MODEL_FIELD_RANGES_HPP

// The values that fields have within rows which hold several sets of parameters. Included by
// summary.hpp. Pure; linear in sets of parameters times their fields.

#include <kprof/build_options.hpp>
#include <kprof/model/field_paths.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/profile.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool holds_number(parameter_kind kind) noexcept {
  return kind == parameter_kind::signed_integer || kind == parameter_kind::unsigned_integer ||
         kind == parameter_kind::floating;
}

/// Whether one number is less than another, whatever their types. A long double holds any integer
/// of 64 bits where it has 64 bits of significand; elsewhere neighbours may count as equal.
inline bool is_less(const parameter_value& a, const parameter_value& b) noexcept {
  const auto number = [](const parameter_value& v) -> long double {
    if (v.kind == parameter_kind::floating) return v.floating;
    return v.is_signed ? static_cast<long double>(v.as_signed())
                       : static_cast<long double>(v.integer);
  };
  if (a.kind != parameter_kind::floating && b.kind == a.kind)
    return a.is_signed ? a.as_signed() < b.as_signed() : a.integer < b.integer;
  return number(a) < number(b);
}

/// Collects the values of fields by row.
class range_summing {
 public:
  explicit range_summing(profile_leaves& leaves) : leaves_(leaves) {}

  /// Adds one set of parameters to a row: the folded fields and, if `all`, every number.
  void add(std::uint32_t row, const scope_node& n, bool all) {
    if (n.merged || n.values.empty()) return;
    const operator_leaves& leaves = leaves_.of(n);
    if (!all && !leaves.any_folded()) return;
    parameter_cursor from(n.values.packed);
    for (const field_leaf& leaf : leaves.all()) {
      if (!leaf.folded && !(all && holds_number(leaf.field->kind))) {
        from.skip(*leaf.field);
        continue;
      }
      if (from.at_end()) return;
      add(row, leaf, from.read(*leaf.field));
    }
  }

  /// What was found, by row: folded fields, and of the others those that differ.
  std::vector<std::vector<field_range>> finish(std::size_t rows) {
    std::vector<std::vector<field_range>> out(rows);
    for (found& f : found_)
      if (f.folded || f.range.values > 1) {
        f.range.field = paths_.at(f.path);
        out[f.row].push_back(std::move(f.range));
      }
    return out;
  }

 private:
  struct found {
    std::uint32_t row = 0, path = 0;
    bool folded = false;
    field_range range{};
  };

  void add(std::uint32_t row, const field_leaf& leaf, const parameter_value& value) {
    const std::uint32_t path = paths_.of(leaf.path);
    const auto [number, is_new] = ranges_.of({{row, path}});
    if (is_new) found_.push_back({row, path, leaf.folded, {}});
    found& at = found_[number];
    if (values_.of(identity(number, value)).second) ++at.range.values;
    if (!holds_number(value.kind)) return;
    field_range& r = at.range;
    const bool unordered = value.kind == parameter_kind::floating && std::isnan(value.floating);
    const auto none_yet = [](const parameter_value& v) {
      return !v || (v.kind == parameter_kind::floating && std::isnan(v.floating));
    };
    r.is_number = true;
    if (!r.least || (!unordered && (none_yet(r.least) || is_less(value, r.least)))) r.least = value;
    if (!r.most || (!unordered && (none_yet(r.most) || is_less(r.most, value)))) r.most = value;
  }

  /// Equal for equal values of one field.
  row_key identity(std::uint32_t range, const parameter_value& v) {
    std::uint64_t front = v.integer, back = v.is_signed && v.as_signed() < 0 ? 1 : 0;
    if (v.kind == parameter_kind::floating) {
      const auto high = static_cast<double>(v.floating);
      const auto low = std::isfinite(high)
                           ? static_cast<double>(v.floating - static_cast<long double>(high))
                           : 0;
      std::memcpy(&front, &high, sizeof front);
      std::memcpy(&back, &low, sizeof back);
    } else if (v.kind == parameter_kind::text) {
      front = texts_.of(v.text);
    }
    return {{range, static_cast<std::uint32_t>(front), static_cast<std::uint32_t>(front >> 32U),
             static_cast<std::uint32_t>(back), static_cast<std::uint32_t>(back >> 32U)}};
  }

  profile_leaves& leaves_;
  text_numbers texts_;
  struct path_numbers {
    text_numbers numbers{};
    std::vector<std::string_view> texts{};
    std::uint32_t of(std::string_view path) {
      const std::uint32_t number = numbers.of(path);
      if (number == texts.size()) texts.push_back(path);
      return number;
    }
    std::string at(std::uint32_t number) const { return std::string{texts[number]}; }
  } paths_;
  key_numbers ranges_{0}, values_{0};
  std::vector<found> found_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
