// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DESCRIPTOR_HPP
#define KPROF_DECLARE_DESCRIPTOR_HPP

// What an operator is at run time: plain structs that another module of the process, built by
// another compiler, may read. Part of the ABI: a change of layout changes KPROF_DETAIL_ABI. What
// they point to lives as long as the module that declared the operator; to keep it longer, copy it.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// Text that need not be zero-terminated, as a std::string_view whose header would take as long as
/// all of op.hpp. Points into the module that declared the operator.
struct text_view {
  const char* data;
  std::uint32_t size;  ///< bytes
};

/// What a parameter is. An array has the kind of its elements.
enum class field_kind : std::uint8_t {
  signed_integer,
  unsigned_integer,
  floating,
  boolean,
  enumeration,
  string,
  aggregate
};

namespace detail {

using ::kprof::KPROF_DETAIL_ABI::field_kind;

struct enumerator {
  std::int64_t value;
  text_view name;
};

struct enum_desc {
  text_view name;
  bool is_signed;
  std::uint32_t size;
  const enumerator* list;
};

struct struct_desc;

struct field_desc {
  text_view name;
  std::uint32_t offset;  // bytes from the start of the enclosing struct
  std::uint32_t size;    // bytes of one element
  std::uint32_t extent;  // elements of a std::array (all its dimensions); 0 for a single value
  field_kind kind;
  const struct_desc* nested;     // kind == aggregate
  const enum_desc* enumerators;  // kind == enumeration
};

struct struct_desc {
  text_view name;
  std::uint32_t size;
  std::uint32_t field_count;
  const field_desc* fields;
  const void* defaults;  // a value-initialised object
};

/// What the formulas of an operator say about one set of parameters.
struct work {
  std::uint64_t flops;
  std::uint64_t read;
  std::uint64_t written;
  std::uint8_t has_flops;  // the formula is declared
  std::uint8_t has_bytes;
  std::uint8_t valid;     // valid() holds and no count overflowed
  std::uint8_t type;      // dtype
  std::uint8_t on;        // unit
  std::uint8_t pass;      // pass_kind
  std::uint32_t threads;  // that work in a call; 0: the operator does not say
};

inline constexpr std::uint32_t brief_capacity = 120;

/// How one set of parameters is shown.
struct presentation {
  std::uint64_t unshown;  // bit i: field i has no meaning in this call
  std::uint64_t beside;   // bit i: field i is not in `text`
  std::uint32_t size;     // bytes of `text`; 0: the operator has no notation of its own
  std::uint8_t failed;    // the operator's code did not come to an end
  char text[brief_capacity];
};

/// One operator. Constant-initialised; `params` builds its names at the first call.
struct op_desc {
  std::uint32_t params_size;  // 0 for a struct without fields
  // Of parts of a call: where the part_number lies behind the parameters, in `params_size` bytes; 0
  // of whole calls.
  std::uint32_t part_at;
  text_view (*name)() noexcept;
  const struct_desc& (*params)() noexcept;
  void (*evaluate)(const void* params, work& out) noexcept;
  // nullptr: the operator says nothing about how it is shown; `out` is zero before
  void (*present)(const void* params, presentation& out) noexcept;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
