// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PARAMETERS_HPP
#define KPROF_ATTRIBUTE_PARAMETERS_HPP

// Turns what the recorder holds of an operator, its fields, the raw bytes of its parameters and
// what its formulas say, into the typed values of a profile. Values are copied as the machine has
// them, little-endian on all that kprof supports. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/field_kinds.hpp>
#include <kprof/profile/parameters.hpp>
#include <kprof/record/op_info.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::vector<operator_field> to_fields(const std::vector<field_info>& from) {
  std::vector<operator_field> out;
  for (const field_info& f : from) {
    operator_field& to = out.emplace_back();
    to.name = f.name;
    to.kind = to_kind(f.kind);
    to.extent = f.extent;
    if (f.kind != field_kind::string && f.kind != field_kind::aggregate)
      to.bits = 8 * value_bytes(f);
    to.is_signed = f.kind == field_kind::signed_integer || f.is_signed;
    to.fields = to_fields(f.nested);
    for (const enumerator_info& e : f.enumerators) to.enumerators.push_back({e.value, e.name});
  }
  return out;
}

/// Appends a floating value; all NaNs of one sign become the same, since their text is the same.
inline void pack_floating(std::string& out, const char* from, std::uint32_t size) {
  const std::size_t at = out.size();
  out.append(from, size);
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, from, size < 8 ? size : 8);
  if (size > 8) std::memcpy(&high, from + 8, size - 8);
  const auto put = [&](std::uint64_t word, std::uint32_t where, std::uint32_t bytes) {
    std::memcpy(out.data() + at + where, &word, bytes);
  };
  constexpr std::uint64_t one = 1;
  if (size == 4 && (low & 0x7FFFFFFFU) > 0x7F800000U) {
    put((low & 0x80000000U) | 0x7FC00000U, 0, 4);
  } else if (size == 8 && (low & ~(one << 63U)) > 0x7FF0000000000000U) {
    put((low & one << 63U) | 0x7FF8000000000000U, 0, 8);
  } else if (size == 10 && (high & 0x7FFFU) == 0x7FFFU && (low << 1U) != 0) {
    put(one << 63U | one << 62U, 0, 8);
  } else if (size == 16 && (high >> 48U & 0x7FFFU) == 0x7FFFU && (high << 16U | low) != 0) {
    put(0, 0, 8);
    put((high & one << 63U) | 0x7FFF800000000000U, 8, 8);
  }
}

inline void pack_fields(std::string& out, const std::vector<field_info>& fields, const char* from) {
  for (const field_info& f : fields) {
    const std::uint32_t elements = f.extent == 0 ? 1 : f.extent;
    const char* at = from + f.offset;
    for (std::uint32_t i = 0; i < elements; ++i, at += f.size) {
      switch (f.kind) {
        case field_kind::aggregate: pack_fields(out, f.nested, at); break;
        case field_kind::boolean: out += *at != 0 ? '\1' : '\0'; break;
        case field_kind::floating: pack_floating(out, at, value_bytes(f)); break;
        case field_kind::string: {
          std::size_t size = strnlen(at, f.size);
          for (std::size_t rest = size;; rest >>= 7U) {
            const bool last = rest < 0x80U;
            out += static_cast<char>((rest & 0x7FU) | (last ? 0U : 0x80U));
            if (last) break;
          }
          out.append(at, size);
          break;
        }
        default: out.append(at, f.size);
      }
    }
  }
}

/// The packed values of parameters as the recorder holds them.
inline parameter_values pack_parameters(const op_info& op, const char* from) {
  parameter_values out;
  out.packed.reserve(op.params_size);
  pack_fields(out.packed, op.fields, from);
  return out;
}

inline work_per_call to_work(const work& w) noexcept {
  return {w.has_flops != 0,
          w.has_bytes != 0,
          w.valid != 0,
          w.flops,
          w.read,
          w.written,
          static_cast<dtype>(w.type),
          static_cast<arithmetic_unit>(w.on),
          static_cast<pass_kind>(w.pass),
          w.threads};
}

inline operator_info to_operator(const op_info& from) {
  return {from.name, from.declared_name, to_fields(from.fields),
          pack_parameters(from, from.defaults.data())};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
