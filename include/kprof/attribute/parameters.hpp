// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PARAMETERS_HPP
#define KPROF_ATTRIBUTE_PARAMETERS_HPP

// Writes parameters as text: "N=1 shape=[3,224,224] type=f32 epilogue={bias=true scale=0.5}
// tag=first". An enumeration whose value is called `unknown`, as a type that is left open, says
// nothing and is left out. Pure.

#include <kprof/build_options.hpp>
#include <kprof/record/op_info.hpp>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

template <class T>
T read_as(const char* from) noexcept {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline std::int64_t read_signed(const char* from, std::uint32_t size) noexcept {
  switch (size) {
    case 1: return read_as<std::int8_t>(from);
    case 2: return read_as<std::int16_t>(from);
    case 4: return read_as<std::int32_t>(from);
    default: return read_as<std::int64_t>(from);
  }
}
inline std::uint64_t read_unsigned(const char* from, std::uint32_t size) noexcept {
  switch (size) {
    case 1: return read_as<std::uint8_t>(from);
    case 2: return read_as<std::uint16_t>(from);
    case 4: return read_as<std::uint32_t>(from);
    default: return read_as<std::uint64_t>(from);
  }
}

/// The shortest decimal that reads back as `value`, whatever the locale.
template <class T>
std::string shortest(T value) {
  char out[64];
  const std::to_chars_result end = std::to_chars(out, out + sizeof out, value);
  return {out, end.ptr};
}

inline std::string write_fields(const std::vector<field_info>& fields, const char* from);

inline std::string write_value(const field_info& f, const char* from) {
  switch (f.kind) {
    case field_kind::boolean: return read_unsigned(from, f.size) != 0 ? "true" : "false";
    case field_kind::unsigned_integer: return std::to_string(read_unsigned(from, f.size));
    case field_kind::signed_integer: return std::to_string(read_signed(from, f.size));
    case field_kind::floating:
      if (f.size == sizeof(float)) return shortest(read_as<float>(from));
      if (f.size == sizeof(double)) return shortest(read_as<double>(from));
      return shortest(read_as<long double>(from));
    case field_kind::string: return {from, strnlen(from, f.size)};
    case field_kind::aggregate: return "{" + write_fields(f.nested, from) + "}";
    case field_kind::enumeration: {
      const std::int64_t value = f.is_signed
                                     ? read_signed(from, f.size)
                                     : static_cast<std::int64_t>(read_unsigned(from, f.size));
      for (const enumerator_info& e : f.enumerators)
        if (e.value == value) return e.name;
      return f.is_signed ? std::to_string(value)
                         : std::to_string(static_cast<std::uint64_t>(value));
    }
  }
  return {};
}

inline std::string write_fields(const std::vector<field_info>& fields, const char* from) {
  std::string out;
  for (const field_info& f : fields) {
    const std::string single = f.extent == 0 ? write_value(f, from + f.offset) : std::string();
    if (f.kind == field_kind::enumeration && single == "unknown") continue;
    if (!out.empty()) out += ' ';
    out += f.name;
    out += '=';
    out += single;
    if (f.extent == 0) continue;
    for (std::uint32_t e = 0; e < f.extent; ++e) {
      out += e == 0 ? '[' : ',';
      out += write_value(f, from + f.offset + e * f.size);
    }
    out += ']';
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
