// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_UNPACK_PARAMETERS_HPP
#define KPROF_PROFILE_UNPACK_PARAMETERS_HPP

// Makes an operator's parameters again of the values that a profile has of them, and changes
// fields. Included by kprof/prove.hpp. Pure. What does not fit, as in a profile of an older
// program, is refused, and then nothing of the result is to be used.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/profile/field_kinds.hpp>
#include <kprof/profile/parameters.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class unpacking {
 public:
  explicit unpacking(std::string_view packed) noexcept : rest_(packed) {}

  /// Whether the fields are those of the struct and all values are there, and no more.
  [[gnu::cold]] bool take(const struct_desc& of, const std::vector<operator_field>& fields,
                          char* to) {
    return take_fields(of, fields, to) && rest_.empty();
  }

 private:
  static bool is_same(const field_desc& f, const operator_field& known) noexcept {
    return std::string_view{f.name.data, f.name.size} == known.name && f.extent == known.extent;
  }

  bool take_fields(const struct_desc& of, const std::vector<operator_field>& fields, char* to) {
    if (of.field_count != fields.size()) return false;
    for (std::uint32_t i = 0; i < of.field_count; ++i) {
      const field_desc& f = of.fields[i];
      if (!is_same(f, fields[i])) return false;
      const std::uint32_t elements = f.extent == 0 ? 1 : f.extent;
      for (std::uint32_t e = 0; e < elements; ++e)
        if (!take_value(f, fields[i], to + f.offset + std::size_t{e} * f.size)) return false;
    }
    return true;
  }

  bool take_value(const field_desc& f, const operator_field& known, char* to) {
    switch (f.kind) {
      case field_kind::aggregate:
        return known.kind == parameter_kind::aggregate && take_fields(*f.nested, known.fields, to);
      case field_kind::string: return known.kind == parameter_kind::text && take_text(f, to);
      default: break;
    }
    const std::uint32_t bytes = known.bits / 8;
    return bytes > 0 && bytes <= f.size && to_kind(f.kind) == known.kind && take_bytes(bytes, to);
  }

  bool take_bytes(std::size_t bytes, char* to) {
    if (rest_.size() < bytes) return false;
    std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
    return true;
  }

  bool take_text(const field_desc& f, char* to) {
    std::size_t size = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (rest_.empty() || shift > 28) return false;
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      size |= std::size_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) break;
    }
    if (size > f.size) return false;
    std::memset(to, 0, f.size);
    return take_bytes(size, to);
  }

  std::string_view rest_;
};

/// Puts a whole number into a field: an integer, a boolean or an enumeration. False where there is
/// none of that name, or the number does not fit it.
[[gnu::cold]] inline bool change_field(const struct_desc& of, std::string_view name,
                                       std::int64_t value, char* to) {
  for (std::uint32_t i = 0; i < of.field_count; ++i) {
    const field_desc& f = of.fields[i];
    if (std::string_view{f.name.data, f.name.size} != name) continue;
    const bool is_whole = f.kind == field_kind::signed_integer ||
                          f.kind == field_kind::unsigned_integer ||
                          f.kind == field_kind::enumeration || f.kind == field_kind::boolean;
    if (!is_whole || f.extent != 0 || f.size > sizeof value || value < 0) return false;
    const unsigned bits = 8 * f.size - (f.kind == field_kind::signed_integer ? 1U : 0U);
    if (bits < 63 && (value >> bits) != 0) return false;
    std::memcpy(to + f.offset, &value, f.size);  // little-endian
    return true;
  }
  return false;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
