// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_PARAMETER_TEXT_HPP
#define KPROF_PROFILE_PARAMETER_TEXT_HPP

// Decodes packed parameters: one value by its name, all values, or their text, as in "N=1
// shape=[3,224,224] type=f32 epilogue={bias=true scale=0.5} tag=first". Included by profile.hpp.
// Values that are cut short, as those of a profile made by hand may be, read as zero. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile/parameters.hpp>

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The sign, the exponent and the 64 highest bits of the significand, as a number.
inline long double assemble(bool negative, std::uint32_t exponent, std::uint64_t significand,
                            bool fraction) noexcept {
  using limits = std::numeric_limits<long double>;
  long double value = static_cast<long double>(significand);
  if (exponent == 0x7FFFU) value = fraction ? limits::quiet_NaN() : limits::infinity();
  else value = std::ldexp(value, static_cast<int>(exponent == 0 ? 1U : exponent) - 16383 - 63);
  return negative ? -value : value;
}

/// A floating value of 10 bytes (x87) or 16 (IEEE binary128), also where the machine has another
/// long double. Exact where it holds as many bits.
inline long double read_wide(const char* from, std::uint32_t size) noexcept {
  if constexpr (LDBL_MANT_DIG == 64) {
    if (size == 10) {
      long double value = 0;
      std::memcpy(&value, from, 10);
      return value;
    }
  }
  if constexpr (LDBL_MANT_DIG == 113) {
    if (size == 16) {
      long double value = 0;
      std::memcpy(&value, from, 16);
      return value;
    }
  }
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, from, 8);
  std::memcpy(&high, from + 8, size - 8);
  if (size == 10) return assemble((high >> 15U) != 0, high & 0x7FFFU, low, (low << 1U) != 0);
  const auto exponent = static_cast<std::uint32_t>(high >> 48U) & 0x7FFFU;
  const std::uint64_t top = (high & 0xFFFFFFFFFFFFU) << 15U | low >> 49U;
  return assemble((high >> 63U) != 0, exponent, exponent == 0 ? top : top | std::uint64_t{1} << 63U,
                  (top | low) != 0);
}

/// Reads packed values in their order.
class parameter_cursor {
 public:
  explicit parameter_cursor(std::string_view packed) noexcept : rest_(packed) {}

  bool at_end() const noexcept { return rest_.empty(); }
  /// Bytes that were not read yet.
  std::size_t left() const noexcept { return rest_.size(); }

  /// The next value, which is one of `f`; no aggregate.
  parameter_value read(const operator_field& f) noexcept {
    parameter_value out;
    out.kind = f.kind;
    out.bits = f.bits;
    switch (f.kind) {
      case parameter_kind::text: out.text = read_text(); break;
      case parameter_kind::floating: out.floating = read_floating(f.bits / 8); break;
      case parameter_kind::boolean: out.integer = read_integer(1, false); break;
      case parameter_kind::enumeration:
        out.is_signed = f.is_signed;
        out.integer = read_integer(f.bits / 8, f.is_signed);
        for (const enumerator_name& e : f.enumerators)
          if (e.value == out.as_signed()) {
            out.text = e.name;
            break;
          }
        break;
      case parameter_kind::signed_integer: out.is_signed = true; [[fallthrough]];
      case parameter_kind::unsigned_integer:
        out.integer = read_integer(f.bits / 8, out.is_signed);
        break;
      default: break;
    }
    return out;
  }

  /// The bytes of all elements of `f`, as they are packed.
  std::string_view packed_field(const operator_field& f) noexcept {
    const std::string_view begin = rest_;
    skip_all(f);
    return begin.substr(0, begin.size() - rest_.size());
  }

  /// The bytes of a value, as they are packed.
  std::string_view bytes(std::size_t size) noexcept { return take(size); }

  /// Goes over the values of these fields; false where they end before.
  bool fits(const std::vector<operator_field>& fields) noexcept {
    for (const operator_field& f : fields)
      for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i)
        if (!fits(f)) return false;
    return true;
  }

  /// Leaves out one element of `f`.
  void skip(const operator_field& f) noexcept {
    if (f.kind == parameter_kind::text) static_cast<void>(read_text());
    else if (f.kind != parameter_kind::aggregate)
      take(f.kind == parameter_kind::boolean ? 1 : f.bits / 8);
    else
      for (const operator_field& nested : f.fields) skip_all(nested);
  }
  void skip_all(const operator_field& f) noexcept {
    const std::uint32_t elements = f.extent == 0 ? 1 : f.extent;
    for (std::uint32_t i = 0; i < elements && !rest_.empty(); ++i) skip(f);
  }

 private:
  bool fits(const operator_field& f) noexcept {
    if (f.kind == parameter_kind::aggregate) return fits(f.fields);
    if (f.kind == parameter_kind::boolean) {
      const std::string_view byte = take(1);
      return byte.size() == 1 && static_cast<unsigned char>(byte[0]) <= 1;
    }
    if (f.kind != parameter_kind::text) return take(f.bits / 8).size() == f.bits / 8;
    const std::uint64_t size = read_size();
    return take(size).size() == size;
  }

  std::string_view take(std::size_t size) noexcept {
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(out.size());
    return out;
  }

  std::uint64_t read_integer(std::uint32_t size, bool is_signed) noexcept {
    const std::string_view bytes = take(size > 8 ? 8 : size);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    if (!is_signed || unused == 0 || unused == 64) return value;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  }

  long double read_floating(std::uint32_t size) noexcept {
    char bytes[16] = {};
    const std::string_view from = take(size > 16 ? 16 : size);
    std::memcpy(bytes, from.data(), from.size());
    if (size == 4) {
      float value = 0;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    if (size == 8) {
      double value = 0;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    return size == 10 || size == 16 ? read_wide(bytes, size) : 0;
  }

  std::string_view read_text() noexcept { return take(read_size()); }

  std::uint64_t read_size() noexcept {
    std::uint64_t size = 0;
    for (unsigned shift = 0; shift < 63 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      size |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) break;
    }
    return size;
  }

  std::string_view rest_;
};

/// Appends the shortest decimal that reads back as `value`, whatever the locale.
template <class T>
void append_shortest(std::string& out, T value) {
  char text[64];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

inline void append_text(std::string& out, const parameter_value& v) {
  switch (v.kind) {
    case parameter_kind::text: out += v.text; break;
    case parameter_kind::boolean: out += v.integer != 0 ? "true" : "false"; break;
    case parameter_kind::floating:
      if (v.bits == 32) append_shortest(out, static_cast<float>(v.floating));
      else if (v.bits == 64) append_shortest(out, static_cast<double>(v.floating));
      else append_shortest(out, v.floating);
      break;
    case parameter_kind::none:
    case parameter_kind::aggregate: break;
    default:
      if (!v.text.empty()) out += v.text;
      else if (v.is_signed) append_shortest(out, v.as_signed());
      else append_shortest(out, v.integer);
  }
}

inline void append_fields(std::string& out, const std::vector<operator_field>& fields,
                          parameter_cursor& values);

inline void append_element(std::string& out, const operator_field& f, parameter_cursor& values) {
  if (f.kind != parameter_kind::aggregate) {
    append_text(out, values.read(f));
    return;
  }
  out += '{';
  append_fields(out, f.fields, values);
  out += '}';
}

/// The text of all elements of `f`; of an enumeration that is left open, which says nothing, none.
inline bool append_field(std::string& out, const operator_field& f, parameter_cursor& values) {
  if (f.extent == 0) {
    const std::size_t before = out.size();
    append_element(out, f, values);
    return f.kind != parameter_kind::enumeration ||
           std::string_view{out}.substr(before) != "unknown";
  }
  for (std::uint32_t i = 0; i < f.extent; ++i) {
    out += i == 0 ? '[' : ',';
    append_element(out, f, values);
  }
  out += ']';
  return true;
}

inline void append_fields(std::string& out, const std::vector<operator_field>& fields,
                          parameter_cursor& values) {
  const std::size_t begin = out.size();
  for (const operator_field& f : fields) {
    const std::size_t before = out.size();
    if (before != begin) out += ' ';
    out += f.name;
    out += '=';
    if (!append_field(out, f, values)) out.resize(before);
  }
}

template <class Visit>
void visit_fields(const std::vector<operator_field>& fields, parameter_cursor& values,
                  std::string& path, Visit& visit) {
  const std::size_t above = path.size();
  for (const operator_field& f : fields) {
    for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i) {
      path += f.name;
      if (f.extent != 0) path += '[' + std::to_string(i) + ']';
      if (f.kind != parameter_kind::aggregate) {
        visit(std::string_view{path}, f, values.read(f));
      } else {
        path += '.';
        visit_fields(f.fields, values, path, visit);
      }
      path.resize(above);
    }
  }
}

/// Takes "[12]" off the front of `path`; 0 where there is none.
inline std::uint32_t take_index(std::string_view& path) noexcept {
  std::uint32_t index = 0;
  if (path.empty() || path[0] != '[') return 0;
  const std::size_t close = path.find(']');
  if (close == std::string_view::npos) return 0;
  const auto read = std::from_chars(path.data() + 1, path.data() + close, index);
  if (read.ec != std::errc{} || read.ptr != path.data() + close)
    index = std::numeric_limits<std::uint32_t>::max();
  path.remove_prefix(close + 1);
  return index;
}

}  // namespace detail

/// The values as reports print them: "n=1024 type=f32". An enumeration whose value is called
/// `unknown`, as a type that is left open, is left out.
inline std::string parameter_text(const operator_info& op, const parameter_values& values) {
  std::string out;
  detail::parameter_cursor from(values.packed);
  detail::append_fields(out, op.fields, from);
  return out;
}

/// One value as reports print it: "1024", "f32", "0.1", "true"; empty where there is none.
inline std::string parameter_text(const parameter_value& value) {
  std::string out;
  detail::append_text(out, value);
  return out;
}

/// The value at `path`: a field's name, for an element of an array "shape[1]", for a field of a
/// nested struct "epilogue.scale". None where there is no such value. Linear in the fields.
inline parameter_value parameter_at(const operator_info& op, const parameter_values& values,
                                    std::string_view path) {
  const std::vector<operator_field>* fields = &op.fields;
  detail::parameter_cursor from(values.packed);
  if (values.empty()) return {};
  for (;;) {
    const std::size_t end = path.find_first_of(".[");
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(name.size());
    const std::uint32_t index = detail::take_index(path);
    const operator_field* found = nullptr;
    for (const operator_field& f : *fields) {
      if (f.name == name) {
        found = &f;
        break;
      }
      from.skip_all(f);
    }
    if (found == nullptr || index >= (found->extent == 0 ? 1 : found->extent)) return {};
    for (std::uint32_t i = 0; i < index; ++i) from.skip(*found);
    if (found->kind != parameter_kind::aggregate)
      return path.empty() && !from.at_end() ? from.read(*found) : parameter_value{};
    if (path.empty() || path[0] != '.') return {};
    path.remove_prefix(1);
    fields = &found->fields;
  }
}

/// Calls visit(path, field, value) for every value, in the order of the fields; `path` is as
/// parameter_at() takes it: "n", "shape[0]", "epilogue.scale".
template <class Visit>
void for_each_parameter(const operator_info& op, const parameter_values& values, Visit visit) {
  if (values.empty()) return;
  detail::parameter_cursor from(values.packed);
  std::string path;
  detail::visit_fields(op.fields, from, path, visit);
}

KPROF_DETAIL_END

#endif
