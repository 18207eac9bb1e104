// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DESCRIPTOR_HPP
#define KPROF_DECLARE_DESCRIPTOR_HPP

// What an operator is at run time: plain structs that may be read by another binary of the process,
// built by another compiler. Part of the ABI: a change of layout changes KPROF_DETAIL_ABI.
// Everything pointed to lives as long as the binary that declared it; whoever keeps it longer
// copies it.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Text that need not be zero-terminated; usually a piece of what the compiler printed.
struct text {
  const char* data;
  std::uint32_t size;
};

enum class field_kind : std::uint8_t {
  signed_integer,
  unsigned_integer,
  floating,
  boolean,
  enumeration,
  string,
  aggregate
};

struct enumerator {
  std::int64_t value;
  text name;
};

struct enum_desc {
  text name;
  bool is_signed;
  std::uint32_t size;
  const enumerator* list;
};

struct struct_desc;

struct field_desc {
  text name;
  std::uint32_t offset;  // bytes from the start of the enclosing struct
  std::uint32_t size;    // bytes of one element
  std::uint32_t extent;  // elements of a std::array (all its dimensions); 0 for a single value
  field_kind kind;
  const struct_desc* nested;     // kind == aggregate
  const enum_desc* enumerators;  // kind == enumeration
};

struct struct_desc {
  text name;
  std::uint32_t size;
  std::uint32_t field_count;
  const field_desc* fields;
};

/// What the formulas of an operator say about one set of parameters.
struct work {
  std::uint64_t flops;
  std::uint64_t read;
  std::uint64_t written;
  std::uint8_t has_flops;  // the formula is declared
  std::uint8_t has_bytes;
  std::uint8_t valid;  // valid() holds and no count overflowed
  std::uint8_t type;   // dtype
  std::uint8_t on;     // unit
};

/// One operator. Constant-initialised; `params` builds its names at the first call.
struct op_desc {
  std::uint32_t params_size;  // 0 for a struct without fields
  text (*name)() noexcept;
  const struct_desc& (*params)() noexcept;
  void (*evaluate)(const void* params, work& out) noexcept;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
