// SPDX-License-Identifier: MIT
// kprof as one header: a copy of include/kprof, written by cmake/amalgamate.py. Change the
// originals, not this file.
//
// Needs C++20 and Boost.PFR (Boost 1.75 or newer); NVTX headers are used where they can be found.
// Everything is explained where it is declared, from "kprof/kprof.hpp" on, which is at the end.

// <kprof/kprof.hpp>
#ifndef KPROF_KPROF_HPP
#define KPROF_KPROF_HPP

// Everything a program needs: declare operators, guard code, record, report. Including it arms a
// session that starts with the first scope, as the environment variable KPROF says (settings.hpp).
// A library that only declares and guards includes guard.hpp instead, which is light and arms
// nothing. It takes seconds to compile, but for KPROF_SESSION_ELSEWHERE=1 (build_options.hpp).

// <kprof/build_options.hpp>
#ifndef KPROF_BUILD_OPTIONS_HPP
#define KPROF_BUILD_OPTIONS_HPP

// Compile-time options, each always 0 or 1, and the inline namespace that keeps incompatible builds
// apart. Define an option before the first kprof header or on the command line; run-time settings
// are in settings.hpp.
//
//   option                   default      meaning of 1
//   KPROF_ENABLE             1            guards and session exist; 0 removes every trace of them
//   KPROF_NVTX               1 when       scopes are sent to an attached NVTX tool
//                            <nvtx3/nvToolsExt.h> can be found, else 0
//   KPROF_SESSION_ELSEWHERE  0            kprof.hpp declares the session and the report; they are
//                                         compiled in the one file of the binary that has
//   KPROF_SESSION_HERE       0            kprof.hpp compiles them for all files of the binary
//
// With neither of the last two, each file that includes kprof.hpp compiles all of kprof.

#ifndef KPROF_ENABLE
#define KPROF_ENABLE 1
#elif KPROF_ENABLE != 0 && KPROF_ENABLE != 1
#error "kprof: KPROF_ENABLE must be 0 or 1; define it as -DKPROF_ENABLE=0 or leave it out"
#endif

#ifndef KPROF_NVTX
#if KPROF_ENABLE && __has_include(<nvtx3/nvToolsExt.h>)
#define KPROF_NVTX 1
#else
#define KPROF_NVTX 0
#endif
#elif KPROF_NVTX != 0 && KPROF_NVTX != 1
#error "kprof: KPROF_NVTX must be 0 or 1; define it as -DKPROF_NVTX=0 or leave it out"
#elif KPROF_NVTX == 1 && KPROF_ENABLE == 0
#error "kprof: KPROF_NVTX=1 contradicts KPROF_ENABLE=0; leave KPROF_NVTX out or enable kprof"
#elif KPROF_NVTX == 1 && !__has_include(<nvtx3/nvToolsExt.h>)
#error "kprof: KPROF_NVTX=1 but <nvtx3/nvToolsExt.h> cannot be found; add the CUDA include folder"
#endif

#ifndef KPROF_SESSION_ELSEWHERE
#define KPROF_SESSION_ELSEWHERE 0
#elif KPROF_SESSION_ELSEWHERE != 0 && KPROF_SESSION_ELSEWHERE != 1
#error "kprof: KPROF_SESSION_ELSEWHERE must be 0 or 1; define it as 1 or leave it out"
#endif
#ifndef KPROF_SESSION_HERE
#define KPROF_SESSION_HERE 0
#elif KPROF_SESSION_HERE != 0 && KPROF_SESSION_HERE != 1
#error "kprof: KPROF_SESSION_HERE must be 0 or 1; define it as 1 or leave it out"
#elif KPROF_SESSION_HERE == 1 && KPROF_SESSION_ELSEWHERE == 1
#error "kprof: KPROF_SESSION_HERE=1 contradicts KPROF_SESSION_ELSEWHERE=1; undefine the latter"
#endif

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "kprof: C++20 is needed; compile with -std=c++20 or newer"
#endif

// What crosses from one binary to another is described in attach/hub.hpp and changes only together
// with this name.
#if KPROF_ENABLE
#define KPROF_DETAIL_ABI v1
#else
#define KPROF_DETAIL_ABI v1_off
#endif
#if defined(__CUDACC__)
// nvcc warns of the hidden visibility of templates whose arguments lie in an unnamed namespace:
// they are local anyway.
#define KPROF_DETAIL_BEGIN                                                         \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1407") namespace kprof { \
    inline namespace KPROF_DETAIL_ABI {
#define KPROF_DETAIL_END \
  }                      \
  }                      \
  _Pragma("nv_diagnostic pop")
#else
#define KPROF_DETAIL_BEGIN \
  namespace kprof {        \
  inline namespace KPROF_DETAIL_ABI {
#define KPROF_DETAIL_END \
  }                      \
  }
#endif

// For state that each binary must have for itself, and for all code that touches it: were that code
// exported, the loader would let one binary run another's. Not for public types, of which the
// compiler would warn in every struct of a user.
#define KPROF_DETAIL_LOCAL [[gnu::visibility("hidden")]]

// Before the functions of the session and the report that are compiled once a binary, or in each
// file.
#if KPROF_SESSION_HERE || KPROF_SESSION_ELSEWHERE
#define KPROF_DETAIL_SESSION KPROF_DETAIL_LOCAL
#else
#define KPROF_DETAIL_SESSION KPROF_DETAIL_LOCAL inline
#endif

#endif  // <kprof/build_options.hpp>

// <kprof/guard.hpp>
#ifndef KPROF_GUARD_HPP
#define KPROF_GUARD_HPP

// Annotate code: guards that say "this scope is this operator with these parameters". Include it
// where operators run; it arms nothing. With nobody listening a guard costs one load and one
// branch, and its arguments are not evaluated. A guard belongs to the thread that opened it;
// closing one out of order, twice or on another thread is counted and shown in the report. It never
// throws or prints, and takes a lock or memory only at the first scope of a thread or call site and
// once every few hundred scopes, when a piece of the log is full.
//
//   void conv(const Conv2d& p, ...) {
//     KPROF_OP(Conv2d, p);                        // until the end of the block
//     ...
//   }

// <kprof/op.hpp>
#ifndef KPROF_OP_HPP
#define KPROF_OP_HPP

// Declare an operator: a trivially copyable struct of parameters, with its formulas as constexpr
// members. Include it where operators are declared; it arms nothing and has no state.
//
//   struct Saxpy {
//     std::int64_t n = 0;
//     kprof::dtype type = kprof::dtype::f32;
//     constexpr kprof::count   flops() const { return kprof::count{2} * n; }
//     constexpr kprof::traffic bytes() const {
//       return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
//     }
//   };
//
// Every member is optional: `flops()` (std::uint64_t or kprof::count), `bytes()` (kprof::traffic),
// `valid()` (bool), `arithmetic()` (kprof::arithmetic; else the first dtype field, unless the
// fields are listed), `static constexpr const char* name` (else the type's name) and `static
// constexpr const char* field_names[]`. A formula that is not declared is reported as n/a. Fields:
// integers, floating point, bool, enums, std::array of these, nested aggregates,
// kprof::fixed_string<N>; 32 fields and 1024 bytes at the most. A struct that cannot be changed
// becomes an operator through kprof::op_traits.

// <kprof/declare/checks.hpp>
#ifndef KPROF_DECLARE_CHECKS_HPP
#define KPROF_DECLARE_CHECKS_HPP

// Refuses types that are no operators. Each reason is a static_assert whose message says what to
// do; the first that applies is the first error that the compiler prints. Included by op.hpp.
// Compile time only. tests/compile_fail expects each message in full.

// <kprof/declare/reflect.hpp>
#ifndef KPROF_DECLARE_REFLECT_HPP
#define KPROF_DECLARE_REFLECT_HPP

// The fields of a parameter struct: their number, types and addresses, counted by Boost.PFR or
// listed by the author; and what checks.hpp asks before it refuses a struct. Compile time only.

// <kprof/declare/descriptor.hpp>
#ifndef KPROF_DECLARE_DESCRIPTOR_HPP
#define KPROF_DECLARE_DESCRIPTOR_HPP

// What an operator is at run time: plain structs that another module of the process, built by
// another compiler, may read. Part of the ABI: a change of layout changes KPROF_DETAIL_ABI. What
// they point to lives as long as the module that declared the operator; to keep it longer, copy it.

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
  std::uint8_t valid;  // valid() holds and no count overflowed
  std::uint8_t type;   // dtype
  std::uint8_t on;     // unit
  std::uint8_t pass;   // pass_kind
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
  text_view (*name)() noexcept;
  const struct_desc& (*params)() noexcept;
  void (*evaluate)(const void* params, work& out) noexcept;
  // nullptr: the operator says nothing about how it is shown; `out` is zero before
  void (*present)(const void* params, presentation& out) noexcept;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/descriptor.hpp>

// <kprof/declare/field_pointer.hpp>
#ifndef KPROF_DECLARE_FIELD_POINTER_HPP
#define KPROF_DECLARE_FIELD_POINTER_HPP

// A pointer to the Index-th field of an object as a constant expression, from which the compiler's
// own text gives the field's name. boost::pfr::get cannot serve: nvcc's front end rejects it as a
// template argument, and its header costs more to include than all of op.hpp; so Boost.PFR counts
// the fields and this header reaches them.

#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t max_fields = 32;

template <std::size_t>
using any_pointer = const void*;

template <class Indices>
struct nth_argument;
template <std::size_t... Index>
struct nth_argument<std::index_sequence<Index...>> {
  template <class T>
  static constexpr const T* get(any_pointer<Index>..., const T* pointer, ...) noexcept {
    return pointer;
  }
};

// f1..fN and &f1..&fN, chained by eights: longer chains of macros cost more than all the rest of
// this header.
#define KPROF_DETAIL_F1 f1
#define KPROF_DETAIL_A1 &f1
#define KPROF_DETAIL_F2 f1, f2
#define KPROF_DETAIL_A2 &f1, &f2
#define KPROF_DETAIL_F3 f1, f2, f3
#define KPROF_DETAIL_A3 &f1, &f2, &f3
#define KPROF_DETAIL_F4 f1, f2, f3, f4
#define KPROF_DETAIL_A4 &f1, &f2, &f3, &f4
#define KPROF_DETAIL_F5 f1, f2, f3, f4, f5
#define KPROF_DETAIL_A5 &f1, &f2, &f3, &f4, &f5
#define KPROF_DETAIL_F6 f1, f2, f3, f4, f5, f6
#define KPROF_DETAIL_A6 &f1, &f2, &f3, &f4, &f5, &f6
#define KPROF_DETAIL_F7 f1, f2, f3, f4, f5, f6, f7
#define KPROF_DETAIL_A7 &f1, &f2, &f3, &f4, &f5, &f6, &f7
#define KPROF_DETAIL_F8 f1, f2, f3, f4, f5, f6, f7, f8
#define KPROF_DETAIL_A8 &f1, &f2, &f3, &f4, &f5, &f6, &f7, &f8
#define KPROF_DETAIL_F9 KPROF_DETAIL_F8, f9
#define KPROF_DETAIL_A9 KPROF_DETAIL_A8, &f9
#define KPROF_DETAIL_F10 KPROF_DETAIL_F8, f9, f10
#define KPROF_DETAIL_A10 KPROF_DETAIL_A8, &f9, &f10
#define KPROF_DETAIL_F11 KPROF_DETAIL_F8, f9, f10, f11
#define KPROF_DETAIL_A11 KPROF_DETAIL_A8, &f9, &f10, &f11
#define KPROF_DETAIL_F12 KPROF_DETAIL_F8, f9, f10, f11, f12
#define KPROF_DETAIL_A12 KPROF_DETAIL_A8, &f9, &f10, &f11, &f12
#define KPROF_DETAIL_F13 KPROF_DETAIL_F8, f9, f10, f11, f12, f13
#define KPROF_DETAIL_A13 KPROF_DETAIL_A8, &f9, &f10, &f11, &f12, &f13
#define KPROF_DETAIL_F14 KPROF_DETAIL_F8, f9, f10, f11, f12, f13, f14
#define KPROF_DETAIL_A14 KPROF_DETAIL_A8, &f9, &f10, &f11, &f12, &f13, &f14
#define KPROF_DETAIL_F15 KPROF_DETAIL_F8, f9, f10, f11, f12, f13, f14, f15
#define KPROF_DETAIL_A15 KPROF_DETAIL_A8, &f9, &f10, &f11, &f12, &f13, &f14, &f15
#define KPROF_DETAIL_F16 KPROF_DETAIL_F8, f9, f10, f11, f12, f13, f14, f15, f16
#define KPROF_DETAIL_A16 KPROF_DETAIL_A8, &f9, &f10, &f11, &f12, &f13, &f14, &f15, &f16
#define KPROF_DETAIL_F17 KPROF_DETAIL_F16, f17
#define KPROF_DETAIL_A17 KPROF_DETAIL_A16, &f17
#define KPROF_DETAIL_F18 KPROF_DETAIL_F16, f17, f18
#define KPROF_DETAIL_A18 KPROF_DETAIL_A16, &f17, &f18
#define KPROF_DETAIL_F19 KPROF_DETAIL_F16, f17, f18, f19
#define KPROF_DETAIL_A19 KPROF_DETAIL_A16, &f17, &f18, &f19
#define KPROF_DETAIL_F20 KPROF_DETAIL_F16, f17, f18, f19, f20
#define KPROF_DETAIL_A20 KPROF_DETAIL_A16, &f17, &f18, &f19, &f20
#define KPROF_DETAIL_F21 KPROF_DETAIL_F16, f17, f18, f19, f20, f21
#define KPROF_DETAIL_A21 KPROF_DETAIL_A16, &f17, &f18, &f19, &f20, &f21
#define KPROF_DETAIL_F22 KPROF_DETAIL_F16, f17, f18, f19, f20, f21, f22
#define KPROF_DETAIL_A22 KPROF_DETAIL_A16, &f17, &f18, &f19, &f20, &f21, &f22
#define KPROF_DETAIL_F23 KPROF_DETAIL_F16, f17, f18, f19, f20, f21, f22, f23
#define KPROF_DETAIL_A23 KPROF_DETAIL_A16, &f17, &f18, &f19, &f20, &f21, &f22, &f23
#define KPROF_DETAIL_F24 KPROF_DETAIL_F16, f17, f18, f19, f20, f21, f22, f23, f24
#define KPROF_DETAIL_A24 KPROF_DETAIL_A16, &f17, &f18, &f19, &f20, &f21, &f22, &f23, &f24
#define KPROF_DETAIL_F25 KPROF_DETAIL_F24, f25
#define KPROF_DETAIL_A25 KPROF_DETAIL_A24, &f25
#define KPROF_DETAIL_F26 KPROF_DETAIL_F24, f25, f26
#define KPROF_DETAIL_A26 KPROF_DETAIL_A24, &f25, &f26
#define KPROF_DETAIL_F27 KPROF_DETAIL_F24, f25, f26, f27
#define KPROF_DETAIL_A27 KPROF_DETAIL_A24, &f25, &f26, &f27
#define KPROF_DETAIL_F28 KPROF_DETAIL_F24, f25, f26, f27, f28
#define KPROF_DETAIL_A28 KPROF_DETAIL_A24, &f25, &f26, &f27, &f28
#define KPROF_DETAIL_F29 KPROF_DETAIL_F24, f25, f26, f27, f28, f29
#define KPROF_DETAIL_A29 KPROF_DETAIL_A24, &f25, &f26, &f27, &f28, &f29
#define KPROF_DETAIL_F30 KPROF_DETAIL_F24, f25, f26, f27, f28, f29, f30
#define KPROF_DETAIL_A30 KPROF_DETAIL_A24, &f25, &f26, &f27, &f28, &f29, &f30
#define KPROF_DETAIL_F31 KPROF_DETAIL_F24, f25, f26, f27, f28, f29, f30, f31
#define KPROF_DETAIL_A31 KPROF_DETAIL_A24, &f25, &f26, &f27, &f28, &f29, &f30, &f31
#define KPROF_DETAIL_F32 KPROF_DETAIL_F24, f25, f26, f27, f28, f29, f30, f31, f32
#define KPROF_DETAIL_A32 KPROF_DETAIL_A24, &f25, &f26, &f27, &f28, &f29, &f30, &f31, &f32
#define KPROF_DETAIL_BIND(N)                                                      \
  else if constexpr (Count == N) {                                                \
    const auto& [KPROF_DETAIL_F##N] = object;                                     \
    return nth_argument<std::make_index_sequence<Index>>::get(KPROF_DETAIL_A##N); \
  }

/// Pointer to field `Index` of `object`, a struct of `Count` fields.
template <std::size_t Index, std::size_t Count, class T>
constexpr auto field_pointer(const T& object) noexcept {
  if constexpr (Count == 0) return static_cast<const T*>(nullptr);
  // clang-format would indent each branch by one more step.
  // clang-format off
  KPROF_DETAIL_BIND(1) KPROF_DETAIL_BIND(2) KPROF_DETAIL_BIND(3) KPROF_DETAIL_BIND(4)
  KPROF_DETAIL_BIND(5) KPROF_DETAIL_BIND(6) KPROF_DETAIL_BIND(7) KPROF_DETAIL_BIND(8)
  KPROF_DETAIL_BIND(9) KPROF_DETAIL_BIND(10) KPROF_DETAIL_BIND(11) KPROF_DETAIL_BIND(12)
  KPROF_DETAIL_BIND(13) KPROF_DETAIL_BIND(14) KPROF_DETAIL_BIND(15) KPROF_DETAIL_BIND(16)
  KPROF_DETAIL_BIND(17) KPROF_DETAIL_BIND(18) KPROF_DETAIL_BIND(19) KPROF_DETAIL_BIND(20)
  KPROF_DETAIL_BIND(21) KPROF_DETAIL_BIND(22) KPROF_DETAIL_BIND(23) KPROF_DETAIL_BIND(24)
  KPROF_DETAIL_BIND(25) KPROF_DETAIL_BIND(26) KPROF_DETAIL_BIND(27) KPROF_DETAIL_BIND(28)
  KPROF_DETAIL_BIND(29) KPROF_DETAIL_BIND(30) KPROF_DETAIL_BIND(31) KPROF_DETAIL_BIND(32)
  // clang-format on
}

#undef KPROF_DETAIL_BIND
#undef KPROF_DETAIL_F1
#undef KPROF_DETAIL_A1
#undef KPROF_DETAIL_F2
#undef KPROF_DETAIL_A2
#undef KPROF_DETAIL_F3
#undef KPROF_DETAIL_A3
#undef KPROF_DETAIL_F4
#undef KPROF_DETAIL_A4
#undef KPROF_DETAIL_F5
#undef KPROF_DETAIL_A5
#undef KPROF_DETAIL_F6
#undef KPROF_DETAIL_A6
#undef KPROF_DETAIL_F7
#undef KPROF_DETAIL_A7
#undef KPROF_DETAIL_F8
#undef KPROF_DETAIL_A8
#undef KPROF_DETAIL_F9
#undef KPROF_DETAIL_A9
#undef KPROF_DETAIL_F10
#undef KPROF_DETAIL_A10
#undef KPROF_DETAIL_F11
#undef KPROF_DETAIL_A11
#undef KPROF_DETAIL_F12
#undef KPROF_DETAIL_A12
#undef KPROF_DETAIL_F13
#undef KPROF_DETAIL_A13
#undef KPROF_DETAIL_F14
#undef KPROF_DETAIL_A14
#undef KPROF_DETAIL_F15
#undef KPROF_DETAIL_A15
#undef KPROF_DETAIL_F16
#undef KPROF_DETAIL_A16
#undef KPROF_DETAIL_F17
#undef KPROF_DETAIL_A17
#undef KPROF_DETAIL_F18
#undef KPROF_DETAIL_A18
#undef KPROF_DETAIL_F19
#undef KPROF_DETAIL_A19
#undef KPROF_DETAIL_F20
#undef KPROF_DETAIL_A20
#undef KPROF_DETAIL_F21
#undef KPROF_DETAIL_A21
#undef KPROF_DETAIL_F22
#undef KPROF_DETAIL_A22
#undef KPROF_DETAIL_F23
#undef KPROF_DETAIL_A23
#undef KPROF_DETAIL_F24
#undef KPROF_DETAIL_A24
#undef KPROF_DETAIL_F25
#undef KPROF_DETAIL_A25
#undef KPROF_DETAIL_F26
#undef KPROF_DETAIL_A26
#undef KPROF_DETAIL_F27
#undef KPROF_DETAIL_A27
#undef KPROF_DETAIL_F28
#undef KPROF_DETAIL_A28
#undef KPROF_DETAIL_F29
#undef KPROF_DETAIL_A29
#undef KPROF_DETAIL_F30
#undef KPROF_DETAIL_A30
#undef KPROF_DETAIL_F31
#undef KPROF_DETAIL_A31
#undef KPROF_DETAIL_F32
#undef KPROF_DETAIL_A32

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/field_pointer.hpp>

// <kprof/declare/fixed_string.hpp>
#ifndef KPROF_DECLARE_FIXED_STRING_HPP
#define KPROF_DECLARE_FIXED_STRING_HPP

// A string of bounded length that lives inside a parameter struct, so that the struct stays
// trivially copyable. Included by op.hpp. Nothing allocates; any thread may use it.

#include <cstddef>

KPROF_DETAIL_BEGIN

/// Text of at most `Capacity` bytes, zero-terminated and zero-filled, so that equal texts are equal
/// bytes. Longer text is cut at the last whole UTF-8 character that fits; truncated text is not an
/// error.
template <std::size_t Capacity>
struct fixed_string {
  static_assert(Capacity >= 1 && Capacity <= 255,
                "kprof: fixed_string holds 1 to 255 bytes; choose a capacity in that range");

  char bytes[Capacity + 1] = {};

  constexpr fixed_string() noexcept = default;
  /// Copies zero-terminated `text`; nullptr is the empty text.
  constexpr fixed_string(const char* text) noexcept {
    std::size_t n = 0;
    if (text != nullptr)
      while (n <= Capacity && text[n] != '\0') ++n;
    assign(text, n);
  }
  /// Copies anything with data() and size(), such as a std::string or a std::string_view.
  template <class Text>
    requires requires(const Text& t) {
      static_cast<const char*>(t.data());
      static_cast<std::size_t>(t.size());
    }
  constexpr fixed_string(const Text& text) noexcept {
    assign(text.data(), static_cast<std::size_t>(text.size()));
  }

  constexpr const char* c_str() const noexcept { return bytes; }
  constexpr std::size_t size() const noexcept {
    std::size_t n = 0;
    while (bytes[n] != '\0') ++n;
    return n;
  }
  friend constexpr bool operator==(const fixed_string&, const fixed_string&) noexcept = default;

 private:
  constexpr void assign(const char* text, std::size_t n) noexcept {
    if (n > Capacity) {
      n = Capacity;
      while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
    }
    for (std::size_t i = 0; i < n && text[i] != '\0'; ++i) bytes[i] = text[i];
  }
};

KPROF_DETAIL_END

#endif  // <kprof/declare/fixed_string.hpp>

#include <boost/pfr/tuple_size.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

KPROF_DETAIL_BEGIN

/// The operator interface of a struct that cannot be changed: specialise it and give it the members
/// an operator has, as static members: `name`, `flops(const T&)`, `bytes(const T&)`, `valid(const
/// T&)`, `arithmetic(const T&)`, `field_names`, and `fields`, a kprof::members list of the fields
/// that count as parameters.
template <class T>
struct op_traits {};

/// A list of data members, for op_traits<T>::fields or T::fields: only these are parameters, in
/// this order. It admits structs with bases, pointers or C arrays, as long as the listed members
/// are of supported types.
template <auto... Members>
struct members {};

namespace detail {

template <class T>
struct is_fixed_string : std::false_type {};
template <std::size_t N>
struct is_fixed_string<fixed_string<N>> : std::true_type {};

/// std::array<T, N>, recognised by its shape: its header would be as large as all else here.
template <class F>
struct array_of {
  using element = F;
  static constexpr std::size_t extent = 0;
  static constexpr bool is_array = false;
};
template <template <class, std::size_t> class Array, class T, std::size_t N>
  requires(N > 0 && sizeof(Array<T, N>) == N * sizeof(T) &&
           std::is_same_v<typename Array<T, N>::value_type, T>)
struct array_of<Array<T, N>> {
  using element = typename array_of<T>::element;
  static constexpr std::size_t extent = N * (array_of<T>::is_array ? array_of<T>::extent : 1);
  static constexpr bool is_array = true;
};

template <class F>
inline constexpr bool is_array_of_none = false;
template <template <class, std::size_t> class Array, class T>
  requires std::is_same_v<typename Array<T, 0>::value_type, T>
inline constexpr bool is_array_of_none<Array<T, 0>> = true;

// Where an operator's optional pieces are declared: in op_traits<T> if it is specialised with them,
// else in T.
template <class T>
struct declared_fields {
  using type = void;
};
template <class T>
  requires requires { typename op_traits<T>::fields; }
struct declared_fields<T> {
  using type = typename op_traits<T>::fields;
};
template <class T>
  requires(
      !requires { typename op_traits<T>::fields; } && requires { typename T::fields; })
struct declared_fields<T> {
  using type = typename T::fields;
};

template <class T>
inline constexpr bool lists_fields = !std::is_void_v<typename declared_fields<T>::type>;

/// Converts to any base of T but not to T itself.
template <class T>
struct any_base_of {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  constexpr operator B() const noexcept;
};
template <class T>
inline constexpr bool has_base = requires {
  T{any_base_of<T>{}};
};

/// Converts to any type but an array, so that it initialises one field whole.
struct anything {
  template <class V>
    requires(!std::is_array_v<V>)
  constexpr operator V() const noexcept;
};
template <std::size_t>
using any_field = anything;

template <class T>
inline constexpr bool has_two_initialisers = requires {
  T{anything{}, anything{}};
};

/// The number of initialisers T takes; for an aggregate without bases and C arrays, the number of
/// its fields.
template <class T>
constexpr std::size_t count_initialisers() noexcept {
  // checks.hpp refuses a type that is no aggregate, and clang would take half a minute to count its
  // initialisers.
  if constexpr (std::is_empty_v<T> || !std::is_aggregate_v<T>) return 0;
  // nvcc's front end cannot compile Boost.PFR's search for a base class in a struct of one field.
  else if constexpr (!has_two_initialisers<T>) return 1;
  else return boost::pfr::tuple_size_v<T>;
}

// Finds C arrays, whose elements count as fields because their braces may be left out. Empty braces
// always initialise a whole field: in the place of the I-th initialiser they leave too many
// initialisers behind them if the I-th begins an array. An array of one element takes one
// initialiser and reaches check_field() as an array.
template <class T, class Before, class After>
inline constexpr bool c_array_between = false;
template <class T, std::size_t... B, std::size_t... A>
inline constexpr bool c_array_between<T, std::index_sequence<B...>, std::index_sequence<A...>> =
    requires {
  T{any_field<B>{}..., {}};
}
&&!requires { T{any_field<B>{}..., {}, any_field<A>{}...}; };
template <class T, std::size_t Index = 0>
constexpr bool has_c_array() noexcept {
  constexpr std::size_t count = count_initialisers<T>();
  if constexpr (Index >= count || Index > max_fields) return false;
  else if constexpr (c_array_between<T, std::make_index_sequence<Index>,
                                     std::make_index_sequence<count - Index - 1>>)
    return true;
  else return has_c_array<T, Index + 1>();
}

/// The fields of T as the compiler lays them out.
template <class T, class List = typename declared_fields<T>::type>
struct field_list {
  static constexpr std::size_t size = count_initialisers<T>();
  template <std::size_t Index>
  using type = std::remove_const_t<
      std::remove_pointer_t<decltype(field_pointer<Index, size>(std::declval<const T&>()))>>;
  template <std::size_t Index>
  static const void* address(const T& object) noexcept {
    return field_pointer<Index, size>(object);
  }
};
template <std::size_t Index, auto First, auto... Rest>
struct nth_value : nth_value<Index - 1, Rest...> {};
template <auto First, auto... Rest>
struct nth_value<0, First, Rest...> {
  static constexpr auto value = First;
};
template <class Pointer>
struct member_type;
template <class C, class M>
struct member_type<M C::*> {
  using type = M;
};

/// The fields of T that its author listed.
template <class T, auto... Members>
struct field_list<T, members<Members...>> {
  static constexpr std::size_t size = sizeof...(Members);
  template <std::size_t Index>
  using member = nth_value<Index, Members...>;
  template <std::size_t Index>
  using type = typename member_type<
      std::remove_const_t<decltype(nth_value<Index, Members...>::value)>>::type;
  template <std::size_t Index>
  static const void* address(const T& object) noexcept {
    return &(object.*nth_value<Index, Members...>::value);
  }
};

template <class F>
constexpr field_kind kind_of() noexcept {
  if constexpr (std::is_same_v<F, bool>) return field_kind::boolean;
  else if constexpr (std::is_enum_v<F>) return field_kind::enumeration;
  else if constexpr (std::is_floating_point_v<F>) return field_kind::floating;
  else if constexpr (std::is_integral_v<F>)
    return std::is_signed_v<F> ? field_kind::signed_integer : field_kind::unsigned_integer;
  else if constexpr (is_fixed_string<F>::value) return field_kind::string;
  else return field_kind::aggregate;
}

template <class F>
inline constexpr bool is_number = ((std::is_integral_v<F> || std::is_same_v<F, float> ||
                                    std::is_same_v<F, double> || std::is_same_v<F, long double>) ||
                                   std::is_enum_v<F>)&&sizeof(F) <= 16 &&
                                  !(std::is_integral_v<F> && sizeof(F) > 8);

struct reflection_probe {
  std::int64_t value;
  float field_pointer;
  bool last;
};
static_assert(boost::pfr::tuple_size_v<reflection_probe> == 3,
              "kprof: Boost.PFR miscounts the fields of a known struct with this compiler");
static_assert(std::is_same_v<field_list<reflection_probe>::type<1>, float>,
              "kprof: the type of a known field is mistaken with this compiler");

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/reflect.hpp>

// <kprof/declare/traits.hpp>
#ifndef KPROF_DECLARE_TRAITS_HPP
#define KPROF_DECLARE_TRAITS_HPP

// Finds the optional members of an operator, in op_traits<T> first and then in T itself, and gives
// each its default. Compile time, except evaluate(), which runs the formulas on parameters.

// <kprof/declare/brief.hpp>
#ifndef KPROF_DECLARE_BRIEF_HPP
#define KPROF_DECLARE_BRIEF_HPP

// What an operator may say about how a call of it is shown: its parameters in the notation of the
// field, and the fields that have no meaning in it. Included by op.hpp. Everything is constexpr,
// nothing allocates.

#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

/// The name of a field, as an operator's shows() is asked about it; compares with text.
///     constexpr bool shows(kprof::field_name field) const {
///       return field != "backward" || pass == kprof::pass_kind::bprop;
///     }
class field_name {
 public:
  constexpr explicit field_name(text_view name) noexcept : name_(name) {}
  constexpr text_view text() const noexcept { return name_; }
  friend constexpr bool operator==(field_name a, const char* b) noexcept {
    std::uint32_t i = 0;
    while (i < a.name_.size && b[i] != '\0' && a.name_.data[i] == b[i]) ++i;
    return i == a.name_.size && b[i] == '\0';
  }

 private:
  text_view name_;
};

/// The parameters of one call in the notation that people use, as the operator's brief() writes
/// them. The text is UTF-8, and what is longer than 120 bytes ends with "…".
///     constexpr void brief(kprof::brief_text& out) const {   // 32×3×224×224 → 64, 7×7, bias
///       out.put(N).by(C).by(H).by(W).to(K).item(R).by(S);
///       if (bias) out.item("bias");
///     }
/// Two calls whose parameters differ should read differently; dtype and pass are known apart from
/// it. Reports show it instead of the fields. Of calls that read the same they show the fields too.
class brief_text {
 public:
  /// `fields`: what beside() looks names up in.
  constexpr explicit brief_text(const detail::struct_desc* fields = nullptr) noexcept
      : fields_(fields) {}

  constexpr brief_text& put(const char* text) noexcept {
    for (; *text != '\0'; ++text) add(*text);
    return *this;
  }
  template <class T>
    requires std::is_integral_v<T>
  constexpr brief_text& put(T number) noexcept {
    const auto bits = static_cast<std::uint64_t>(number);
    const bool negative = std::is_signed_v<T> && static_cast<std::int64_t>(number) < 0;
    return put(negative ? "-" : "").digits(negative ? ~bits + 1 : bits);
  }
  /// Four significant digits or more: 0.125, 1.5e-6, 50304.
  constexpr brief_text& put(double number) noexcept {
    if (number < 0) return put("-").put(-number);
    if (!(number <= 1.7976931348623157e308)) return put(number != number ? "nan" : "inf");
    if (number == 0 || (number >= 1000 && number < 1e15))
      return digits(static_cast<std::uint64_t>(number + 0.5));
    int exponent = 0;
    std::uint64_t unit = 1000;  // of the last decimal
    if (number < 1e-4)
      for (; number < 1; number *= 10) --exponent;
    for (; number >= 1e15 || (exponent > 0 && number >= 10); number /= 10) ++exponent;
    for (double x = number; x < 1; x *= 10) unit *= 10;
    auto units = static_cast<std::uint64_t>(number * static_cast<double>(unit) + 0.5);
    for (; unit > 1 && units % 10 == 0; unit /= 10) units /= 10;
    digits(units / unit).put(unit > 1 ? "." : "");
    for (; unit > 1; add(static_cast<char>('0' + units / unit % 10))) unit /= 10;
    return exponent == 0 ? *this : put("e").put(exponent);
  }

  /// "×" and a number: put(3).by(224) is "3×224".
  constexpr brief_text& by(auto size) noexcept { return put("\u00D7").put(size); }
  /// " → " and what follows: put(384).to(1536) is "384 → 1536".
  constexpr brief_text& to(auto what) noexcept { return put(" \u2192 ").put(what); }
  /// Text or a number, after ", " where something stands before it.
  constexpr brief_text& item(auto what) noexcept { return after(", ").put(what); }
  /// The same after a blank.
  constexpr brief_text& word(auto what) noexcept { return after(" ").put(what); }
  /// "name=value", after a blank.
  constexpr brief_text& named(const char* name, auto value) noexcept {
    return word(name).put("=").put(value);
  }

  /// The text leaves this field out: reports show it as "name=value" beside it.
  constexpr brief_text& beside(const char* name) noexcept {
    for (std::uint32_t i = 0; fields_ != nullptr && i < fields_->field_count && i < 64; ++i)
      if (field_name{fields_->fields[i].name} == name) said_.beside |= std::uint64_t{1} << i;
    return *this;
  }

  constexpr text_view text() const noexcept { return {said_.text, said_.size}; }
  constexpr const detail::struct_desc* fields() const noexcept { return fields_; }
  constexpr const detail::presentation& said() const noexcept { return said_; }

 private:
  constexpr brief_text& after(const char* gap) noexcept { return put(said_.size == 0 ? "" : gap); }
  constexpr void add(char c) noexcept {
    if (cut_) return;
    cut_ = said_.size == detail::brief_capacity;
    if (!cut_) said_.text[said_.size++] = c;
    else cut();
  }
  /// Makes room for the three bytes of "…", and leaves no character in half.
  constexpr void cut() noexcept {
    said_.size -= 3;
    while (said_.size > 0 && (said_.text[said_.size] & 0xC0) == 0x80) --said_.size;
    for (const char* c = "\u2026"; *c != '\0'; ++c) said_.text[said_.size++] = *c;
  }
  constexpr brief_text& digits(std::uint64_t number) noexcept {
    char reversed[20] = {};
    int n = 0;
    do reversed[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (n > 0) add(reversed[--n]);
    return *this;
  }
  detail::presentation said_{};
  const detail::struct_desc* fields_;
  bool cut_ = false;
};

KPROF_DETAIL_END

#endif  // <kprof/declare/brief.hpp>

// <kprof/declare/dtype.hpp>
#ifndef KPROF_DECLARE_DTYPE_HPP
#define KPROF_DECLARE_DTYPE_HPP

// Element types and checked counts: what formulas are written with.
// Included by op.hpp. Everything is constexpr, nothing allocates, any thread may use it.

#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

/// Element type of a tensor. Complex types are named by their component: c64 is two f32.
enum class dtype : std::uint8_t {
  unknown,
  f64,
  f32,
  tf32,
  f16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  fp6_e2m3,
  fp6_e3m2,
  fp4_e2m1,
  int64,
  int32,
  int16,
  int8,
  int4,
  uint64,
  uint32,
  uint16,
  uint8,
  uint4,
  boolean,
  c64,
  c128
};

/// Width of one element in memory, in bits; 0 for dtype::unknown. tf32 is stored as f32.
constexpr unsigned bits_of(dtype type) noexcept {
  switch (type) {
    case dtype::unknown: return 0;
    case dtype::c128: return 128;
    case dtype::f64:
    case dtype::int64:
    case dtype::uint64:
    case dtype::c64: return 64;
    case dtype::f32:
    case dtype::tf32:
    case dtype::int32:
    case dtype::uint32: return 32;
    case dtype::f16:
    case dtype::bf16:
    case dtype::int16:
    case dtype::uint16: return 16;
    case dtype::fp8_e4m3:
    case dtype::fp8_e5m2:
    case dtype::int8:
    case dtype::uint8:
    case dtype::boolean: return 8;
    case dtype::fp6_e2m3:
    case dtype::fp6_e3m2: return 6;
    case dtype::fp4_e2m1:
    case dtype::int4:
    case dtype::uint4: return 4;
  }
  return 0;
}

namespace detail {
// Deliberately not constexpr: reaching one in a constant expression is the compile error a wrong
// formula gets.
inline void formula_overflows_64_bits() noexcept {}
inline void formula_divides_by_zero() noexcept {}
inline void formula_has_a_negative_count() noexcept {}
inline void dtype_has_no_whole_byte_size() noexcept {}
inline void makes_no_sense(const char*) noexcept {}
}  // namespace detail

/// An unsigned 64-bit number of operations or bytes whose arithmetic is checked.
///
/// Overflow, a negative value and a division by zero are compile errors in a constant expression;
/// at run time the count becomes invalid, stays so, and its row is reported as `invalid`. Integers
/// convert to it implicitly.
///     constexpr kprof::count flops() const { return kprof::count{2} * m * n * k; }
class count {
 public:
  constexpr count() noexcept = default;
  template <class T>
    requires std::is_integral_v<T>
  constexpr count(T value) noexcept : value_(static_cast<std::uint64_t>(value)) {
    if constexpr (std::is_signed_v<T>) {
      if (value < 0) {
        detail::formula_has_a_negative_count();
        value_ = invalid_;
      }
    }
  }

  /// False after an overflow, a negative operand or a division by zero.
  constexpr bool valid() const noexcept { return value_ != invalid_; }
  /// One that is not valid().
  static constexpr count invalid() noexcept { return raw(invalid_); }
  /// The number; 2^64 - 1 when not valid().
  constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr count operator+(count a, count b) noexcept {
    if (!a.valid() || !b.valid()) return invalid();
    if (a.value_ >= invalid_ - b.value_) {
      detail::formula_overflows_64_bits();
      return invalid();
    }
    return raw(a.value_ + b.value_);
  }
  friend constexpr count operator-(count a, count b) noexcept {
    if (!a.valid() || !b.valid()) return invalid();
    if (a.value_ < b.value_) {
      detail::formula_has_a_negative_count();
      return invalid();
    }
    return raw(a.value_ - b.value_);
  }
  friend constexpr count operator*(count a, count b) noexcept {
    if (!a.valid() || !b.valid()) return invalid();
    if (b.value_ != 0 && a.value_ > (invalid_ - 1) / b.value_) {
      detail::formula_overflows_64_bits();
      return invalid();
    }
    return raw(a.value_ * b.value_);
  }
  friend constexpr count operator/(count a, count b) noexcept {
    if (!a.valid() || !b.valid()) return invalid();
    if (b.value_ == 0) {
      detail::formula_divides_by_zero();
      return invalid();
    }
    return raw(a.value_ / b.value_);
  }
  constexpr count& operator+=(count b) noexcept { return *this = *this + b; }
  constexpr count& operator-=(count b) noexcept { return *this = *this - b; }
  constexpr count& operator*=(count b) noexcept { return *this = *this * b; }
  constexpr count& operator/=(count b) noexcept { return *this = *this / b; }
  friend constexpr bool operator==(count a, count b) noexcept { return a.value_ == b.value_; }

 private:
  static constexpr std::uint64_t invalid_ = ~std::uint64_t{0};
  static constexpr count raw(std::uint64_t value) noexcept {
    count c;
    c.value_ = value;
    return c;
  }
  std::uint64_t value_ = 0;
};

/// Bytes of one element. A type below 8 bits has no whole size: use bytes_for(n, type), which
/// packs.
constexpr count size_of(dtype type) noexcept {
  const unsigned bits = bits_of(type);
  if (bits == 0 || bits % 8 != 0) {
    detail::dtype_has_no_whole_byte_size();
    return count{1} / count{0};
  }
  return bits / 8;
}

/// Bytes of a tensor of `n` elements, packed: ceil(n * bits / 8).
constexpr count bytes_for(count n, dtype type) noexcept { return (n * bits_of(type) + 7) / 8; }

/// Memory traffic of one call, in bytes: each distinct input element read once, each output element
/// written once.
struct traffic {
  count read;
  count written;
  /// read + written.
  constexpr count total() const noexcept { return read + written; }
};

/// The unit that does an operator's arithmetic. `unknown` where the operator does not say.
enum class arithmetic_unit : std::uint8_t { unknown, cuda_core, tensor_core };

/// The arithmetic class of an operator: which ceiling its FLOP/s are held against.
struct arithmetic {
  dtype type = dtype::unknown;
  arithmetic_unit on = arithmetic_unit::unknown;
};

/// What a call is for, in the training of a network. `unknown` where the operator does not say.
enum class pass_kind : std::uint8_t {
  unknown,
  fprop,      ///< forward
  bprop,      ///< backward, of an operator without weights
  dgrad,      ///< backward, with respect to the input
  wgrad,      ///< backward, with respect to the weights
  bgrad,      ///< backward, with respect to the bias
  update,     ///< the optimizer's step
  recompute,  ///< forward once more, for activations that were not kept
};

KPROF_DETAIL_END

#endif  // <kprof/declare/dtype.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

// A variable, not T{}: inside a requires-expression nvcc's front end drops the default member
// initialisers of T{}.
template <class T>
inline constexpr T default_params{};

#define KPROF_DETAIL_PIECE(piece, foreign, own)                                              \
  template <class T>                                                                         \
  concept foreign_##piece = requires(const T& p, brief_text& out, field_name field) {        \
    op_traits<T>::piece foreign;                                                             \
  };                                                                                         \
  template <class T>                                                                         \
  concept own_##piece = requires(const T& p, brief_text& out, field_name field) {            \
    p.piece own;                                                                             \
  };                                                                                         \
  /* Not callable on a const object: a mistake that would silently read as "no formula". */  \
  template <class T>                                                                         \
  concept mutable_##piece = !foreign_##piece<T> && !own_##piece<T> &&                        \
                            requires(T & p, brief_text & out, field_name field) {            \
    p.piece own;                                                                             \
  };                                                                                         \
  template <class T>                                                                         \
  concept has_##piece = foreign_##piece<T> || own_##piece<T>;                                \
  template <class T>                                                                         \
  constexpr auto call_##piece(const T& p, auto&... more) {                                   \
    if constexpr (foreign_##piece<T>) return op_traits<T>::piece(p, more...);                \
    else return p.piece(more...);                                                            \
  }                                                                                          \
  template <class T>                                                                         \
  concept constant_##piece = requires {                                                      \
    typename std::bool_constant<(static_cast<void>(call_##piece(default_params<T>)), true)>; \
  };

KPROF_DETAIL_PIECE(flops, (p), ())
KPROF_DETAIL_PIECE(bytes, (p), ())
KPROF_DETAIL_PIECE(valid, (p), ())
KPROF_DETAIL_PIECE(arithmetic, (p), ())
KPROF_DETAIL_PIECE(pass, (p), ())
KPROF_DETAIL_PIECE(brief, (p, out), (out))
KPROF_DETAIL_PIECE(shows, (p, field), (field))
#undef KPROF_DETAIL_PIECE

template <class T>
inline constexpr bool is_count = std::is_same_v<T, count> ||
                                 (std::is_integral_v<T> && !std::is_same_v<T, bool>);

constexpr text_view text_of(const char* zero_terminated) noexcept {
  std::uint32_t n = 0;
  while (zero_terminated[n] != '\0') ++n;
  return {zero_terminated, n};
}

constexpr bool same_text(text_view a, text_view b) noexcept {
  if (a.size != b.size) return false;
  for (std::uint32_t i = 0; i < a.size; ++i)
    if (a.data[i] != b.data[i]) return false;
  return true;
}

template <class T>
constexpr const char* printed_type() noexcept {
  return __PRETTY_FUNCTION__;
}

/// The type's name without namespaces, as the compiler prints it: `Conv2d`, `Gemm<float>`.
template <class T>
constexpr text_view type_name() noexcept {
  const text_view all = text_of(printed_type<T>());
  std::uint32_t from = 0;
  while (from + 4 < all.size &&
         !(all.data[from] == 'T' && all.data[from + 1] == ' ' && all.data[from + 2] == '='))
    ++from;
  from += 4;
  // g++ closes with "]" or goes on with "; ..."; clang closes with "]".
  std::uint32_t to = from;
  int depth = 0;
  while (to < all.size) {
    const char c = all.data[to];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}' || (c == ']' && depth > 0)) --depth;
    else if (depth == 0 && (c == ']' || c == ';')) break;
    ++to;
  }
  depth = 0;
  std::uint32_t start = from;
  for (std::uint32_t i = from; i + 1 < to; ++i) {
    const char c = all.data[i];
    if (c == '<' || c == '(' || c == '{') ++depth;
    else if (c == '>' || c == ')' || c == '}') --depth;
    else if (depth == 0 && c == ':' && all.data[i + 1] == ':') start = i + 2;
  }
  return {all.data + start, to - start};
}

template <class T>
concept foreign_name = requires {
  op_traits<T>::name;
};
template <class T>
// a field may be called name
concept own_name = requires {
  &T::name;
}
&&!std::is_member_pointer_v<decltype(&T::name)>;

template <class T>
constexpr text_view operator_name() noexcept {
  if constexpr (foreign_name<T>) return text_of(op_traits<T>::name);
  else if constexpr (own_name<T>) return text_of(T::name);
  else return type_name<T>();
}

/// The first field of type Field; Field{}, which is `unknown`, where there is none. The dtype an
/// operator computes in when it declares no arithmetic(), and its pass when it declares no pass().
template <class Field, class T, std::size_t Index = 0>
constexpr Field first_of(const T& p) noexcept {
  if constexpr (!std::is_void_v<typename declared_fields<T>::type>) return Field{};
  else if constexpr (Index == field_list<T>::size) return Field{};
  else if constexpr (std::is_same_v<typename field_list<T>::template type<Index>, Field>)
    return *field_pointer<Index, field_list<T>::size>(p);
  else return first_of<Field, T, Index + 1>(p);
}

template <class T>
constexpr pass_kind declared_pass(const T& p) noexcept {
  if constexpr (!has_pass<T>) return first_of<pass_kind>(p);
  else if constexpr (std::is_same_v<decltype(call_pass(p)), pass_kind>) return call_pass(p);
  // a struct may have a pass() that means another thing
  else return pass_kind::unknown;
}

/// How the parameters are shown; `fields` are those of T.
template <class T>
constexpr void present(const T& p, const struct_desc& fields, presentation& out) {
  brief_text brief(&fields);
  if constexpr (has_brief<T>) call_brief(p, brief);
  out = brief.said();
  if constexpr (has_shows<T>)
    for (std::uint32_t i = 0; i < fields.field_count && i < 64; ++i) {
      const field_name field{fields.fields[i].name};
      if (!call_shows(p, field)) out.unshown |= std::uint64_t{1} << i;
    }
}

// A formula of plain integers cannot report an overflow: a value in the upper half of the range is
// taken for a negative or wrapped one.
constexpr std::uint64_t checked(count c, bool& valid) noexcept {
  if (!c.valid() || c.value() >> 63U != 0) valid = false;
  return c.value();
}
template <class T>
constexpr count as_count(T value, bool& valid) noexcept {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    if (value < 0) {
      valid = false;
      return 0;
    }
  }
  return value;
}

/// The formulas of T for one set of parameters. A row that is not valid has no numbers.
template <class T>
constexpr work evaluate(const T& p) noexcept {
  work out{};
  bool valid = true;
  if constexpr (has_valid<T>) valid = call_valid(p);
  out.has_flops = has_flops<T>;
  out.has_bytes = has_bytes<T>;
  if (valid) {
    if constexpr (has_flops<T>) out.flops = checked(as_count(call_flops(p), valid), valid);
    if constexpr (has_bytes<T>) {
      const traffic t = call_bytes(p);
      out.read = checked(t.read, valid);
      out.written = checked(t.written, valid);
      checked(t.total(), valid);
    }
    if constexpr (has_arithmetic<T>) {
      const arithmetic a = call_arithmetic(p);
      out.type = static_cast<std::uint8_t>(a.type);
      out.on = static_cast<std::uint8_t>(a.on);
    } else {
      out.type = static_cast<std::uint8_t>(first_of<dtype>(p));
    }
    out.pass = static_cast<std::uint8_t>(declared_pass(p));
  }
  if (!valid) out.flops = out.read = out.written = 0;
  out.valid = valid;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/traits.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t max_params_size = 1024;
inline constexpr std::size_t max_params_alignment = 128;

template <class T>
constexpr bool check_fields() noexcept;

/// True where a field of type F, and all that F contains, is supported.
template <class F>
constexpr bool check_field() noexcept {
  using element = typename array_of<F>::element;
  if constexpr (array_of<F>::is_array) {
    return check_field<element>();
  } else if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F> ||
                       std::is_null_pointer_v<F> || std::is_reference_v<F>) {
    static_assert(!std::is_same_v<F, F>,
                  "kprof: a parameter is a pointer, which means nothing once the call is over; "
                  "store what it points to: a value, a shape as std::array, a name as "
                  "kprof::fixed_string<N>");
    return false;
  } else if constexpr (std::is_array_v<F>) {
    static_assert(!std::is_same_v<F, F>,
                  "kprof: a parameter is a C array; use std::array<T, N> for numbers or "
                  "kprof::fixed_string<N> for text");
    return false;
  } else if constexpr (is_array_of_none<F>) {
    static_assert(
        !std::is_same_v<F, F>,
        "kprof: a parameter is a std::array without elements; give it a size or leave it out");
    return false;
  } else if constexpr (is_number<F> || is_fixed_string<F>::value) {
    return true;
  } else if constexpr (std::is_class_v<F> && std::is_aggregate_v<F> &&
                       std::is_trivially_copyable_v<F>) {
    return check_fields<F>();
  } else {
    static_assert(
        !std::is_same_v<F, F>,
        "kprof: a parameter has an unsupported type; use integers up to 64 bits, "
        "floating point, bool, enums, std::array of these, nested aggregates of these, or "
        "kprof::fixed_string<N>");
    return false;
  }
}

template <class T, std::size_t... Index>
constexpr bool check_each(std::index_sequence<Index...>) noexcept {
  return (check_field<typename field_list<T>::template type<Index>>() && ... && true);
}

/// Whether `names` has a name for each of `Count` fields. Names must be an array, which has a
/// length.
template <std::size_t Count, class Names>
constexpr bool fits_fields(const Names& names) noexcept {
  return std::is_convertible_v<decltype(names[0]), const char*> &&
         sizeof(Names) == Count * sizeof(const char*);
}

template <class T>
constexpr bool check_field_names() noexcept {
  constexpr bool fit = [] {
    if constexpr (requires { op_traits<T>::field_names[0]; })
      return fits_fields<field_list<T>::size>(op_traits<T>::field_names);
    else if constexpr (requires { T::field_names[0]; })
      return fits_fields<field_list<T>::size>(T::field_names);
    else return true;
  }();
  static_assert(fit,
                "kprof: field_names does not fit the fields; declare `static constexpr const char* "
                "field_names[]` with one name a field");
  return fit;
}

template <class List>
inline constexpr bool is_member_list = false;
template <auto... Members>
inline constexpr bool is_member_list<members<Members...>> =
    (std::is_member_object_pointer_v<decltype(Members)> && ... && true);

/// Checks the fields of an aggregate: an operator's parameters or a nested struct.
template <class T>
constexpr bool check_fields() noexcept {
  if constexpr (lists_fields<T>) {
    if constexpr (!is_member_list<typename declared_fields<T>::type>) {
      static_assert(!std::is_same_v<T, T>,
                    "kprof: fields is not a list of data members; write `using fields = "
                    "kprof::members<&T::a, ...>`, or rename the type");
      return false;
    } else if constexpr (field_list<T>::size > max_fields) {
      static_assert(
          !std::is_same_v<T, T>,
          "kprof: too many fields, the limit is 32; group some of them in a nested struct");
      return false;
    } else if constexpr (!check_field_names<T>()) {
      return false;
    } else {
      return check_each<T>(std::make_index_sequence<field_list<T>::size>{});
    }
  } else if constexpr (has_base<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: a parameter struct has a base class; make the base a member, or list the "
                  "fields with `using fields = kprof::members<&T::a, ...>`");
    return false;
  } else if constexpr (has_c_array<T>()) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: a parameter is a C array; use std::array<T, N> for numbers or "
                  "kprof::fixed_string<N> for text");
    return false;
  } else if constexpr (field_list<T>::size > max_fields) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: too many fields, the limit is 32; group some of them in a nested struct");
    return false;
  } else if constexpr (!check_field_names<T>()) {
    return false;
  } else {
    return check_each<T>(std::make_index_sequence<field_list<T>::size>{});
  }
}

template <class T>
constexpr bool check_struct() noexcept {
  if constexpr (!std::is_class_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: not an operator: an operator is a struct of parameters, such as `struct "
                  "Saxpy { std::int64_t n; };`");
    return false;
  } else if constexpr (!requires { sizeof(T); }) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: the operator is only declared here; include the header that defines it");
    return false;
  } else if constexpr (!std::is_trivially_copyable_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator must be trivially copyable; replace std::string by "
                  "kprof::fixed_string<N> and std::vector by std::array<T, N>");
    return false;
  } else if constexpr (!std::is_default_constructible_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator must be default constructible; give its fields default "
                  "values, and store a value where there is a reference");
    return false;
  } else if constexpr (!std::is_aggregate_v<T> && !lists_fields<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: not an operator: an operator is an aggregate; remove its constructors "
                  "and private fields, or list the fields in kprof::op_traits with `using fields = "
                  "kprof::members<&T::a, ...>`");
    return false;
  } else if constexpr (alignof(T) > max_params_alignment) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator's alignment is above 128 bytes; parameters need none, drop "
                  "the alignas");
    return false;
  } else if constexpr (sizeof(T) > max_params_size) {
    static_assert(!std::is_same_v<T, T>,
                  "kprof: an operator's parameters take more than 1024 bytes; keep shapes and "
                  "flags, not data");
    return false;
  } else {
    return check_fields<T>();
  }
}

template <class T>
constexpr bool check_formulas() noexcept {
  if constexpr (mutable_flops<T> || mutable_bytes<T> || mutable_valid<T> || mutable_arithmetic<T> ||
                mutable_brief<T> || mutable_shows<T>) {
    static_assert(
        !std::is_same_v<T, T>,
        "kprof: flops(), bytes(), valid(), arithmetic(), brief() and shows() are called on "
        "constant parameters; declare them const");
    return false;
  } else {
    if constexpr (has_flops<T>) {
      static_assert(
          is_count<decltype(call_flops(T{}))>,
          "kprof: flops() has the wrong return type; return std::uint64_t or kprof::count");
      if constexpr (is_count<decltype(call_flops(T{}))>)
        static_assert(constant_flops<T>,
                      "kprof: flops() is not usable in a constant expression; declare it "
                      "constexpr, and give the fields default values for which it is defined");
    }
    if constexpr (has_bytes<T>) {
      static_assert(std::is_same_v<decltype(call_bytes(T{})), traffic>,
                    "kprof: bytes() has the wrong return type; return kprof::traffic{.read = ..., "
                    ".written = ...}");
      if constexpr (std::is_same_v<decltype(call_bytes(T{})), traffic>)
        static_assert(constant_bytes<T>,
                      "kprof: bytes() is not usable in a constant expression; declare it "
                      "constexpr, and give the fields default values for which it is defined");
    }
    if constexpr (has_valid<T>) {
      static_assert(std::is_same_v<decltype(call_valid(T{})), bool>,
                    "kprof: valid() has the wrong return type; return bool");
      static_assert(constant_valid<T>,
                    "kprof: valid() is not usable in a constant expression; declare it constexpr");
    }
    if constexpr (has_arithmetic<T>) {
      static_assert(std::is_same_v<decltype(call_arithmetic(T{})), arithmetic>,
                    "kprof: arithmetic() has the wrong return type; return kprof::arithmetic{.type "
                    "= ..., .on = ...}");
      static_assert(
          constant_arithmetic<T>,
          "kprof: arithmetic() is not usable in a constant expression; declare it constexpr");
    }
    if constexpr (foreign_name<T>)
      static_assert(std::is_convertible_v<decltype(op_traits<T>::name), const char*>,
                    "kprof: name has the wrong type; declare `static constexpr const char* name`");
    else if constexpr (own_name<T>)
      static_assert(std::is_convertible_v<decltype(T::name), const char*>,
                    "kprof: name has the wrong type; declare `static constexpr const char* name`");
    return true;
  }
}

/// True where T is an operator. Where it is none, a static_assert says why.
template <class T>
constexpr bool check_operator() noexcept {
  if constexpr (check_struct<T>()) return check_formulas<T>();
  else return false;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/checks.hpp>

// <kprof/declare/describe.hpp>
#ifndef KPROF_DECLARE_DESCRIBE_HPP
#define KPROF_DECLARE_DESCRIBE_HPP

// Builds the run-time description of a parameter struct, once a type, at its first use. It takes
// the names of fields and enumerators from what the compiler prints for a template argument. That
// is read at run time only: in a constant expression nvcc's front end prints another text than the
// host compiler that builds the code.

KPROF_DETAIL_BEGIN
namespace detail {

template <class T>
struct holder {
  T value;
};
template <class T>
struct named_pointer {
  const T* pointer;
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
// Enumerators are probed beyond the range of an enum without a fixed type.
#pragma GCC diagnostic ignored "-Wconversion"
#endif

// Never defined: only the addresses of its fields are named.
template <class T>
extern const holder<T> imaginary;

template <auto Pointer>
const char* printed() noexcept {
  return __PRETTY_FUNCTION__;
}
template <class E, E... Values>
const char* printed_values() noexcept {
  return __PRETTY_FUNCTION__;
}

template <class T, std::size_t Index>
const char* printed_field() noexcept {
  if constexpr (lists_fields<T>) {
    return printed<field_list<T>::template member<Index>::value>();
  } else {
    using type = typename field_list<T>::template type<Index>;
    return printed<named_pointer<type>{
        field_pointer<Index, field_list<T>::size>(imaginary<T>.value)}>();
  }
}

constexpr bool in_identifier(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// The last identifier in what the compiler printed: "... &imaginary<Op>.value.Op::alpha)}]" gives
/// "alpha".
inline text_view last_identifier(const char* printed_text) noexcept {
  const text_view all = text_of(printed_text);
  std::uint32_t to = all.size;
  while (to > 0 && !in_identifier(all.data[to - 1])) --to;
  std::uint32_t from = to;
  while (from > 0 && in_identifier(all.data[from - 1])) --from;
  return {all.data + from, to - from};
}

/// Whether this compiler's text gives the names of a known struct. Where it does not, fields are
/// called field01, field02, ...
KPROF_DETAIL_LOCAL inline bool names_can_be_read() noexcept {
  static const bool readable =
      same_text(last_identifier(printed_field<reflection_probe, 0>()), text_of("value")) &&
      same_text(last_identifier(printed_field<reflection_probe, 1>()), text_of("field_pointer")) &&
      same_text(last_identifier(printed_field<reflection_probe, 2>()), text_of("last"));
  return readable;
}

template <class E, long long V>
concept enumerable = requires {
  typename std::integral_constant<E, static_cast<E>(V)>;
};

// How many values are probed for enumerators: -1 to 63, or what fits an enum without a fixed
// underlying type.
template <class E>
constexpr std::size_t probed_values() noexcept {
  if constexpr (std::is_same_v<std::underlying_type_t<E>, bool>) return 2;
  else if constexpr (requires { E{0}; }) return 64;
  else if constexpr (enumerable<E, 63>) return 64;
  else if constexpr (enumerable<E, 15>) return 16;
  else if constexpr (enumerable<E, 7>) return 8;
  else if constexpr (enumerable<E, 3>) return 4;
  else return 2;
}
template <class E>
inline constexpr long long first_value = std::is_signed_v<std::underlying_type_t<E>>&& requires {
  E{0};
}
? -1 : 0;

template <class E, std::size_t... Index>
const char* printed_enum(std::index_sequence<Index...>) noexcept {
  return printed_values<E, static_cast<E>(first_value<E> + static_cast<long long>(Index))...>();
}

/// The enumerators of E that have a name.
template <class E>
struct KPROF_DETAIL_LOCAL enum_storage {
  static constexpr std::size_t capacity = probed_values<E>() + (first_value<E> < 0 ? 1 : 0);
  enumerator list[capacity];
  enum_desc desc;

  enum_storage() noexcept
      : list{}, desc{type_name<E>(), std::is_signed_v<std::underlying_type_t<E>>, 0, list} {
    // "... {red, ns::green, (color)2}]" or "... <red, ...>]": a name is a token that does not begin
    // with a cast.
    const char* p = printed_enum<E>(std::make_index_sequence<capacity>{});
    const char* start = p;
    for (; *p != '\0'; ++p)
      if (p[0] == 'V' && p[1] == 'a' && p[2] == 'l' && p[3] == 'u' && p[4] == 'e' && p[5] == 's' &&
          p[6] == ' ' && p[7] == '=')
        start = p + 9;
    p = *start == '\0' ? start : start + 1;
    for (std::size_t i = 0; i < capacity && *p != '\0'; ++i) {
      const char* token = p;
      while (*p != ',' && *p != '}' && *p != '>' && *p != ']' && *p != '\0') {
        // "(<unnamed>::anon)0"
        if (*p == '<' && token[0] == '(')
          while (*p != '>' && *p != '\0') ++p;
        // "<unnamed>::anon::q"
        if (*p == '<')
          while (*p != '>' && *p != '\0') ++p;
        if (*p == '{')
          while (*p != '}' && *p != '\0') ++p;
        ++p;
      }
      if (*token != '(' || token[1] == 'a')
        add(first_value<E> + static_cast<long long>(i), token, p);
      if (*p == ',') ++p;
      while (*p == ' ') ++p;
    }
  }

 private:
  void add(long long value, const char* from, const char* to) noexcept {
    const char* name = to;
    while (name > from && in_identifier(name[-1])) --name;
    if (name == to || (*name >= '0' && *name <= '9')) return;
    list[desc.size++] = {value, {name, static_cast<std::uint32_t>(to - name)}};
  }
};

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

template <class E>
KPROF_DETAIL_LOCAL const enum_desc& describe_enum() noexcept {
  static const enum_storage<E> storage;
  return storage.desc;
}

template <class T>
KPROF_DETAIL_LOCAL const struct_desc& describe_struct() noexcept;

template <class T, std::size_t Index>
KPROF_DETAIL_LOCAL text_view field_name() noexcept {
  if constexpr (requires { op_traits<T>::field_names; })
    return text_of(op_traits<T>::field_names[Index]);
  else if constexpr (requires { T::field_names; }) return text_of(T::field_names[Index]);
  else if (names_can_be_read()) return last_identifier(printed_field<T, Index>());
  else {
    static const char digits[] = {'f',
                                  'i',
                                  'e',
                                  'l',
                                  'd',
                                  static_cast<char>('0' + (Index + 1) / 10),
                                  static_cast<char>('0' + (Index + 1) % 10),
                                  '\0'};
    return text_of(digits);
  }
}

template <class T>
struct KPROF_DETAIL_LOCAL struct_storage {
  static constexpr std::size_t size = field_list<T>::size;
  field_desc fields[size == 0 ? 1 : size];
  struct_desc desc;

  struct_storage() noexcept
      : fields{},
        desc{type_name<T>(), sizeof(T), static_cast<std::uint32_t>(size), fields, &sample()} {
    fill(std::make_index_sequence<size>{});
  }

 private:
  template <std::size_t... Index>
  void fill(std::index_sequence<Index...>) noexcept {
    ((fields[Index] = describe_field<Index>(sample())), ...);
  }
  static const T& sample() noexcept {
    static const T object{};
    return object;
  }
  template <std::size_t Index>
  static field_desc describe_field(const T& sample) noexcept {
    using type = typename field_list<T>::template type<Index>;
    using element = typename array_of<type>::element;
    field_desc f{};
    f.name = field_name<T, Index>();
    f.offset = static_cast<std::uint32_t>(
        static_cast<const char*>(field_list<T>::template address<Index>(sample)) -
        reinterpret_cast<const char*>(&sample));
    f.size = sizeof(element);
    f.extent = static_cast<std::uint32_t>(array_of<type>::extent);
    f.kind = kind_of<element>();
    if constexpr (kind_of<element>() == field_kind::aggregate)
      f.nested = &describe_struct<element>();
    if constexpr (kind_of<element>() == field_kind::enumeration)
      f.enumerators = &describe_enum<element>();
    return f;
  }
};

template <class T>
KPROF_DETAIL_LOCAL const struct_desc& describe_struct() noexcept {
  static const struct_storage<T> storage;
  return storage.desc;
}

template <class T>
struct KPROF_DETAIL_LOCAL describe_op {
  static text_view name() noexcept { return operator_name<T>(); }
  static const struct_desc& params() noexcept { return describe_struct<T>(); }
  static void evaluate(const void* bytes, work& out) noexcept {
    out = detail::evaluate(*static_cast<const T*>(bytes));
  }
  static void present(const void* bytes, presentation& out) noexcept {
#if defined(__cpp_exceptions)
    try {
      detail::present(*static_cast<const T*>(bytes), params(), out);
    } catch (...) {
      out = {};
      out.failed = 1;
    }
#else
    detail::present(*static_cast<const T*>(bytes), params(), out);
#endif
  }
  static constexpr decltype(op_desc::present) presenter() noexcept {
    if constexpr (has_brief<T> || has_shows<T>) return &present;
    else return nullptr;
  }
};

/// The descriptor of T, one a module.
template <class T>
KPROF_DETAIL_LOCAL inline constexpr op_desc op_desc_of{
    std::is_empty_v<T> ? 0U : static_cast<std::uint32_t>(sizeof(T)), &describe_op<T>::name,
    &describe_op<T>::params, &describe_op<T>::evaluate, describe_op<T>::presenter()};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/describe.hpp>

KPROF_DETAIL_BEGIN

/// FLOPs of one call by the operator's own formula; invalid where valid() fails or the formula
/// overflows, which is a compile error in a constant expression. The operator must declare flops().
template <class Op>
constexpr count flops_of(const Op& params) noexcept {
  static_assert(detail::check_operator<Op>());
  static_assert(
      detail::has_flops<Op>,
      "kprof: the operator declares no flops(); add `constexpr std::uint64_t flops() const`");
  const detail::work w = detail::evaluate(params);
  if (w.valid != 0) return w.flops;
  detail::makes_no_sense("kprof: valid() does not hold for these parameters");
  return count::invalid();
}

/// The operator's name in every output: its `name`, or its type's name without namespaces.
template <class Op>
constexpr text_view name_of() noexcept {
  static_assert(detail::check_operator<Op>());
  return detail::operator_name<Op>();
}

KPROF_DETAIL_END

#endif  // <kprof/op.hpp>

#if KPROF_ENABLE

// <kprof/attach/hub.hpp>
#ifndef KPROF_ATTACH_HUB_HPP
#define KPROF_ATTACH_HUB_HPP

// How the modules of a process meet. Each executable and shared library that has guards carries one
// module_record and an ELF note that says where it is. Whoever listens, a session or the NVTX
// emitter, stores its functions in the records of all loaded modules. A module that is loaded later
// finds the hub in the records of the others when its static objects are built.

// <kprof/attach/abi.hpp>
#ifndef KPROF_ATTACH_ABI_HPP
#define KPROF_ATTACH_ABI_HPP

// The records that modules share: call sites, tables of functions, the hub, and one record for each
// module. Everything here is ABI: plain structs, versioned, never freed, so that late destructors
// may still reach them.

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

struct module_record;

/// One per call site, static. The type is hidden so that no module shares another's sites.
struct [[gnu::visibility("hidden")]] site {
  std::uint32_t id;  // given by the session at the first scope; 0 until then
  std::uint32_t line;
  const char* file;   // nullptr: a guard without a call site of its own
  const op_desc* op;  // nullptr: a region, whose name is its payload
  const module_record* home;
};

/// Names an open scope: the number of its thread's log in the upper half, then 16 bits that change
/// whenever scopes end out of order there, then how deep it lies. 0 names none. One word, so that
/// closing a scope in order is one comparison, and all that a guard keeps.
using scope_token = std::uint64_t;
/// Set in the tokens that the NVTX emitter gives out while no session records.
inline constexpr scope_token emitted_token = scope_token{1} << 63U;

/// Payloads of 0, 8, ..., 8 * max_fast_words bytes have a function of their own: a copy of known
/// size costs 2 ns less than a loop. The record is written behind a call and not at the call site,
/// which would be three times as large.
inline constexpr std::uint32_t max_fast_words = 16;

/// The functions of whoever listens.
struct scope_api {
  std::uint32_t version;
  std::uint32_t size;
  void (*end)(scope_token scope) noexcept;
  scope_token (*begin_any)(site& where, const void* payload, std::uint32_t bytes) noexcept;
  scope_token (*begin[max_fast_words + 1])(site& where, const void* payload) noexcept;
  std::uint32_t (*capture)() noexcept;  // path of the innermost open scope; 0: none
  scope_token (*adopt)(std::uint32_t path) noexcept;
  void (*release)(scope_token adopted) noexcept;
};

/// Sends scopes to a tool, with or without a session.
struct emitter_api {
  // false: not sent, not to be popped
  bool (*push)(const site& where, const void* payload, std::uint32_t payload_bytes) noexcept;
  void (*pop)() noexcept;
};

/// One per process, made by the first module that listens.
struct hub_record {
  std::uint32_t version;
  std::uint32_t size;
  const scope_api* active;     // what every module_record::api points to, or nullptr
  const scope_api* recorder;   // the session's functions while it records, or nullptr
  const scope_api* emit_only;  // the emitter's functions for when no session records, or nullptr
  std::uint32_t emit_refused;  // 1: the user wants no tool to be told anything
  // nullptr: no tool is attached; a recorder calls it beside its own work
  const emitter_api* emitter;
  // the functions of the session's owner; before them a `const char*` that names its build
  const void* session;
  // the session takes what it needs before a module goes
  void (*detach)(const module_record& leaving) noexcept;
  const scope_api* latest;  // the last `active` that was not nullptr, or nullptr
  // What closes scopes opened by the session's functions and by the emitter's, also when others
  // listen by then. Once set they stay.
  void (*end_recorded)(scope_token scope) noexcept;
  void (*end_emitted)(scope_token scope) noexcept;
};

/// An operator known to a module.
struct op_node {
  const op_desc* op;
  op_node* next;
};

struct module_record {
  std::uint32_t version;  // abi_layout; 0 while the module is unloaded
  std::uint32_t size;
  const scope_api* api;  // nullptr: nobody listens, and a guard costs this load and a branch
  // Closes scopes: the last `api` that was not nullptr. A guard keeps only the token, and may close
  // when nobody listens any more.
  const scope_api* latest;
  hub_record* hub;
  op_node* ops;
};

/// One number of many. 32 bits of FNV-1a.
template <class... Number>
constexpr std::uint32_t hash_of(Number... numbers) noexcept {
  std::uint32_t hash = 2166136261U;
  ((hash = (hash ^ static_cast<std::uint32_t>(numbers)) * 16777619U), ...);
  return hash;
}

/// Where the members lie that modules read of each other, and how large they are: commits of one
/// version may differ in it.
#define KPROF_DETAIL_AT(type, member) __builtin_offsetof(type, member), sizeof(type::member)
inline constexpr std::uint32_t abi_layout = hash_of(
    sizeof(text_view), KPROF_DETAIL_AT(text_view, data), KPROF_DETAIL_AT(text_view, size),
    sizeof(enumerator), KPROF_DETAIL_AT(enumerator, value), KPROF_DETAIL_AT(enumerator, name),
    sizeof(enum_desc), KPROF_DETAIL_AT(enum_desc, name), KPROF_DETAIL_AT(enum_desc, is_signed),
    KPROF_DETAIL_AT(enum_desc, size), KPROF_DETAIL_AT(enum_desc, list), sizeof(field_desc),
    KPROF_DETAIL_AT(field_desc, name), KPROF_DETAIL_AT(field_desc, offset),
    KPROF_DETAIL_AT(field_desc, size), KPROF_DETAIL_AT(field_desc, extent),
    KPROF_DETAIL_AT(field_desc, kind), KPROF_DETAIL_AT(field_desc, nested),
    KPROF_DETAIL_AT(field_desc, enumerators), sizeof(struct_desc),
    KPROF_DETAIL_AT(struct_desc, name), KPROF_DETAIL_AT(struct_desc, size),
    KPROF_DETAIL_AT(struct_desc, field_count), KPROF_DETAIL_AT(struct_desc, fields),
    KPROF_DETAIL_AT(struct_desc, defaults), sizeof(work), KPROF_DETAIL_AT(work, flops),
    KPROF_DETAIL_AT(work, read), KPROF_DETAIL_AT(work, written), KPROF_DETAIL_AT(work, has_flops),
    KPROF_DETAIL_AT(work, has_bytes), KPROF_DETAIL_AT(work, valid), KPROF_DETAIL_AT(work, type),
    KPROF_DETAIL_AT(work, on), KPROF_DETAIL_AT(work, pass), sizeof(presentation),
    KPROF_DETAIL_AT(presentation, unshown), KPROF_DETAIL_AT(presentation, beside),
    KPROF_DETAIL_AT(presentation, size), KPROF_DETAIL_AT(presentation, failed),
    KPROF_DETAIL_AT(presentation, text), sizeof(op_desc), KPROF_DETAIL_AT(op_desc, params_size),
    KPROF_DETAIL_AT(op_desc, name), KPROF_DETAIL_AT(op_desc, params),
    KPROF_DETAIL_AT(op_desc, evaluate), KPROF_DETAIL_AT(op_desc, present), sizeof(site),
    KPROF_DETAIL_AT(site, id), KPROF_DETAIL_AT(site, line), KPROF_DETAIL_AT(site, file),
    KPROF_DETAIL_AT(site, op), KPROF_DETAIL_AT(site, home), sizeof(scope_api),
    KPROF_DETAIL_AT(scope_api, version), KPROF_DETAIL_AT(scope_api, size),
    KPROF_DETAIL_AT(scope_api, end), KPROF_DETAIL_AT(scope_api, begin_any),
    KPROF_DETAIL_AT(scope_api, begin), KPROF_DETAIL_AT(scope_api, capture),
    KPROF_DETAIL_AT(scope_api, adopt), KPROF_DETAIL_AT(scope_api, release), sizeof(emitter_api),
    KPROF_DETAIL_AT(emitter_api, push), KPROF_DETAIL_AT(emitter_api, pop), sizeof(hub_record),
    KPROF_DETAIL_AT(hub_record, version), KPROF_DETAIL_AT(hub_record, size),
    KPROF_DETAIL_AT(hub_record, active), KPROF_DETAIL_AT(hub_record, recorder),
    KPROF_DETAIL_AT(hub_record, emit_only), KPROF_DETAIL_AT(hub_record, emit_refused),
    KPROF_DETAIL_AT(hub_record, emitter), KPROF_DETAIL_AT(hub_record, session),
    KPROF_DETAIL_AT(hub_record, detach), KPROF_DETAIL_AT(hub_record, latest),
    KPROF_DETAIL_AT(hub_record, end_recorded), KPROF_DETAIL_AT(hub_record, end_emitted),
    sizeof(op_node), KPROF_DETAIL_AT(op_node, op), KPROF_DETAIL_AT(op_node, next),
    sizeof(module_record), KPROF_DETAIL_AT(module_record, version),
    KPROF_DETAIL_AT(module_record, size), KPROF_DETAIL_AT(module_record, api),
    KPROF_DETAIL_AT(module_record, latest), KPROF_DETAIL_AT(module_record, hub),
    KPROF_DETAIL_AT(module_record, ops));
#undef KPROF_DETAIL_AT
static_assert(abi_layout != 0);

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/abi.hpp>

// <kprof/attach/find_modules.hpp>
#ifndef KPROF_ATTACH_FIND_MODULES_HPP
#define KPROF_ATTACH_FIND_MODULES_HPP

// Finds the records of all loaded modules by their ELF notes. Neither exported symbols nor a
// library of kprof's own are needed, so hidden visibility, RTLD_LOCAL and mixed compilers make no
// difference.

#include <link.h>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

template <class T>
T load(T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_SEQ_CST);
}
template <class T>
void store(T& to, T value) noexcept {
  __atomic_store_n(&to, value, __ATOMIC_SEQ_CST);
}

/// The addresses from `from` up to `to`.
struct address_range {
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
};

/// One loaded module, as the loader describes it. The loader checks only what it needs itself: of a
/// damaged library, or one that a tool has rewritten, any number here may be wrong.
class loaded_module {
 public:
  explicit loaded_module(const dl_phdr_info& info) noexcept : info_(info) {}

  /// The record that a note of the module names, in the module's own writable memory; or nullptr.
  module_record* record() const noexcept {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const auto& segment = info_.dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const address_range notes = mapped_part(range_of(segment), PF_R);
      const std::uintptr_t at = named_record(notes, segment.p_align == 8 ? 8 : 4);
      if (at != 0 && is_record(at)) return reinterpret_cast<module_record*>(at);
    }
    return nullptr;
  }

 private:
  /// Up to the end of the address space, where the size leads past it.
  address_range range_of(const ElfW(Phdr) & segment) const noexcept {
    const std::uintptr_t from = info_.dlpi_addr + segment.p_vaddr;
    const std::uintptr_t to = from + segment.p_memsz;
    return {from, to < from ? ~std::uintptr_t{0} : to};
  }
  /// What of the range the loader maps from its beginning on, with these rights at least; empty
  /// where it begins elsewhere.
  address_range mapped_part(address_range wanted, ElfW(Word) rights) const noexcept {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const auto& segment = info_.dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & rights) != rights) continue;
      const address_range mapped = range_of(segment);
      if (mapped.from <= wanted.from && wanted.from < mapped.to)
        return {wanted.from, wanted.to < mapped.to ? wanted.to : mapped.to};
    }
    return {};
  }
  /// Whether the loader has made any of it read-only after it relocated the module.
  bool is_sealed(address_range wanted) const noexcept {
    for (int i = 0; i < info_.dlpi_phnum; ++i) {
      const auto& segment = info_.dlpi_phdr[i];
      if (segment.p_type != PT_GNU_RELRO) continue;
      const address_range sealed = range_of(segment);
      if (wanted.from < sealed.to && sealed.from < wanted.to) return true;
    }
    return false;
  }
  bool is_record(std::uintptr_t at) const noexcept {
    const address_range whole{at, at + sizeof(module_record)};
    const address_range mapped = mapped_part(whole, PF_R | PF_W);
    return at % alignof(module_record) == 0 && mapped.to - mapped.from == sizeof(module_record) &&
           !is_sealed(whole);
  }

  /// The address that the notes name, unchecked, or 0.
  static std::uintptr_t named_record(address_range notes, std::uintptr_t alignment) noexcept {
    const auto up = [alignment](std::uintptr_t n) {
      return (n + alignment - 1) & ~(alignment - 1);
    };
    while (notes.to - notes.from >= 12) {
      const char* const note = reinterpret_cast<const char*>(notes.from);
      std::uint32_t head[3];  // name size, contents size, type
      __builtin_memcpy(head, note, sizeof head);
      const std::uintptr_t left = notes.to - notes.from;
      const std::uintptr_t contents = up(12 + std::uintptr_t{head[0]});
      const std::uintptr_t next = contents + up(head[1]);
      if (left < contents + head[1]) return 0;
      if (head[0] == 12 && head[1] == 8 && head[2] == 1 &&
          __builtin_memcmp(note + 12, "kprof-scope", 12) == 0) {
        std::int64_t distance = 0;
        __builtin_memcpy(&distance, note + contents, sizeof distance);
        return notes.from + contents + static_cast<std::uintptr_t>(distance);
      }
      if (left < next) return 0;
      notes.from += next;
    }
    return 0;
  }

  const dl_phdr_info& info_;
};

/// Whether the record is laid out as those of this build.
inline bool is_of_this_layout(const module_record& m) noexcept {
  return m.version == abi_layout && m.size == sizeof(module_record);
}

// The loader calls visit() from its own C code and holds its lock meanwhile. So visit() throws
// nothing, and asks for no memory: a thread that holds the allocator's lock may be waiting for the
// loader's.

/// Calls visit(module_record&) for each loaded module that has guards and the same ABI. The
/// loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_module(Visit visit) noexcept {
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) noexcept -> int {
    module_record* const m = loaded_module(*info).record();
    if (m != nullptr && is_of_this_layout(*m)) (*static_cast<Visit*>(data))(*m);
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

/// Calls visit(path) for each loaded module whose guards are of another ABI. The path of the
/// program is empty. The loader's lock is held.
template <class Visit>
KPROF_DETAIL_LOCAL void for_each_other_module(Visit visit) noexcept {
  static_assert(noexcept(visit("")), "nothing may be thrown through the loader's code");
  const auto each = [](dl_phdr_info* info, std::size_t, void* data) noexcept -> int {
    const module_record* const m = loaded_module(*info).record();
    const bool is_leaving = m != nullptr && m->version == 0;
    if (m != nullptr && !is_leaving && !is_of_this_layout(*m))
      (*static_cast<Visit*>(data))(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(each, &visit);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/find_modules.hpp>

// <kprof/attach/no_session.hpp>
#ifndef KPROF_ATTACH_NO_SESSION_HPP
#define KPROF_ATTACH_NO_SESSION_HPP

// The line on standard error of a process that has guards and no session although KPROF is set.
// hub.hpp includes it, so every file with guards pays for it: <unistd.h>, <csignal> and
// <sys/stat.h> together are a fifth of guard.hpp. Hence one declaration, of syscall(), which is no
// point of cancellation either.

// <kprof/attach/environment_variable.hpp>
#ifndef KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP
#define KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP

// The only place where kprof reads environment variables. A set-user-ID, set-group-ID or
// file-capability program has rights that its caller lacks, and the caller chooses its environment:
// a path there could make the program load any library or write any file. So kprof reads no
// variable in such a process. Include it to read a variable. Any thread.

#include <sys/auxv.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// getenv(). Every file with guards includes this header, and <cstdlib> would be 473 lines of it.
extern "C" char* kprof_find_variable(const char* name) noexcept __asm__("getenv");

/// Whether the process was started with rights that its caller lacks. This stays true when the
/// process gives these rights up.
inline bool environment_is_foreign() noexcept { return getauxval(AT_SECURE) != 0; }

/// The variable's value; nullptr where it is unset, and always where the environment is foreign.
inline const char* environment_variable(const char* name) noexcept {
  return environment_is_foreign() ? nullptr : kprof_find_variable(name);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/environment_variable.hpp>

#include <poll.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

extern "C" long kprof_system_call(long number, ...) noexcept __asm__("syscall");

/// Whether a text for KPROF asks a session for anything: not where all that it says is `off`, or
/// that something is.
constexpr bool asks_for_session(const char* text) noexcept {
  bool asks = false, is_off = false, is_quoted = false;
  int parentheses = 0;
  for (const char* setting = text;; ++text) {
    if (*text == '"') is_quoted = !is_quoted;
    else if (is_quoted && *text == '\\' && text[1] != '\0') ++text;
    else if (!is_quoted && *text == '(') ++parentheses;
    else if (!is_quoted && *text == ')') --parentheses;
    if (*text != '\0' && (*text != ',' || is_quoted || parentheses > 0)) continue;
    const char* end = text;
    while (setting < end && *setting == ' ') ++setting;
    while (setting < end && end[-1] == ' ') --end;
    const auto size = end - setting;
    const bool says_off = size >= 3 && end[-3] == 'o' && end[-2] == 'f' && end[-1] == 'f';
    if (size == 3 && says_off) is_off = true;
    else if (size == 2 && setting[0] == 'o' && setting[1] == 'n') is_off = false;
    if (size > 0 && !(says_off && (size == 3 || end[-4] == '='))) asks = true;
    if (*text == '\0') return asks && !is_off;
    setting = text + 1;
  }
}

/// Where a descriptor leads: device and file, the first members of the system's `stat`; zeros where
/// it is closed.
struct stream_target {
  unsigned long device = 0, file = 0;

  friend bool operator==(const stream_target&, const stream_target&) = default;
};
[[gnu::cold]] inline stream_target find_stream_target(int descriptor) noexcept {
  unsigned long there[64]{};
  if (kprof_system_call(SYS_fstat, descriptor, there) != 0) return {};
  return {there[0], there[1]};
}

/// Writes one line of less than PIPE_BUF bytes on standard error. It is lost where that takes
/// nothing for a second. A reader that has gone raises no signal, as with quiet_writes, which says
/// why SIGPIPE and SIGXFSZ are both meant.
[[gnu::cold]] inline void write_line(const char* line, unsigned long size) noexcept {
  constexpr std::uint64_t raised_by_writes = 1ULL << (13 - 1) | 1ULL << (25 - 1);
  constexpr int block = 0, set = 2;  // SIG_BLOCK, SIG_SETMASK
  constexpr long set_size = sizeof raised_by_writes;
  const int error = errno;
  std::uint64_t pending = 0, before = 0;
  kprof_system_call(SYS_rt_sigpending, &pending, set_size);
  const std::uint64_t ours = raised_by_writes & ~pending;
  kprof_system_call(SYS_rt_sigprocmask, block, &ours, &before, set_size);
  pollfd standard_error{2, POLLOUT, 0};
  const long second[2] = {1, 0}, at_once[2] = {0, 0};
  if (kprof_system_call(SYS_ppoll, &standard_error, 1L, second, nullptr, 0L) > 0)
    kprof_system_call(SYS_write, 2, line, size);
  while (kprof_system_call(SYS_rt_sigtimedwait, &ours, nullptr, at_once, set_size) > 0) {}
  kprof_system_call(SYS_rt_sigprocmask, set, &before, nullptr, set_size);
  errno = error;
}

/// Of one module. The last module with guards that leaves the process says that there was no
/// session: only then is it certain. Nothing is said in the child of a fork, where standard error
/// has come to be something else, or where a module of another build may have its own session.
class no_session_notice {
 public:
  KPROF_DETAIL_LOCAL no_session_notice() noexcept {
    const char* const text = environment_variable("KPROF");
    if (text == nullptr || !asks_for_session(text)) return;
    bool all_are_known = true;
    for_each_other_module([&](const char*) noexcept { all_are_known = false; });
    if (!all_are_known) return;
    process_ = kprof_system_call(SYS_getpid);
    standard_error_ = find_stream_target(2);
  }
  /// The module leaves, and its record is no longer found.
  [[gnu::cold]] KPROF_DETAIL_LOCAL void leave(const hub_record* hub) const noexcept {
    if (process_ == 0 || (hub != nullptr && load(hub->session) != nullptr)) return;
    if (process_ != kprof_system_call(SYS_getpid)) return;
    bool is_last = true;
    for_each_module([&](const module_record&) { is_last = false; });
    if (!is_last || find_stream_target(2) != standard_error_) return;
    static constexpr char line[] =
        "kprof: "
        "KPROF is set, but the program has guards and no session, so nothing was recorded; link "
        "kprof::session, or include <kprof/kprof.hpp> in one of its files, or start it with kprof "
        "run\n";
    write_line(line, sizeof line - 1);
  }

 private:
  long process_ = 0;  // 0: nothing is to be said
  stream_target standard_error_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/no_session.hpp>

#include <dlfcn.h>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

KPROF_DETAIL_LOCAL inline void end_through_hub(scope_token scope) noexcept;

/// What closes scopes until somebody has listened: they were opened in another module.
KPROF_DETAIL_LOCAL inline constexpr scope_api no_listener{
    1, sizeof(scope_api), &end_through_hub, nullptr, {}, nullptr, nullptr, nullptr};

[[gnu::visibility("hidden"),
  gnu::used]] inline constinit module_record this_module __asm__("kprof_v1_module") = {
    abi_layout, sizeof(module_record), nullptr, &no_listener, nullptr, nullptr};

// The note's name is a multiple of 8 bytes less 4, so that its contents lie at the same place
// whether a linker aligns notes to 4 or to 8. It holds the distance to the record: no relocation,
// hence no writable note.
#if !defined(__CUDA_ARCH__)
__asm__(
    ".pushsection .note.kprof,\"a\",%note\n"
    "  .balign 8\n"
    "  .long 12, 8, 1\n"
    "  .asciz \"kprof-scope\"\n"
    "  .quad kprof_v1_module - .\n"
    ".popsection");
#endif

/// Keeps the module that holds the hub in memory: others call its functions until the process ends.
KPROF_DETAIL_LOCAL inline void keep_loaded() noexcept {
  Dl_info info{};
  if (dladdr(static_cast<const void*>(&this_module), &info) != 0 && info.dli_fname != nullptr &&
      info.dli_fname[0] != '\0')
    static_cast<void>(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

/// The hub of this process, or nullptr when nobody has ever listened.
KPROF_DETAIL_LOCAL inline hub_record* find_hub() noexcept {
  if (hub_record* own = load(this_module.hub)) return own;
  hub_record* found = nullptr;
  for_each_module([&](module_record& m) {
    if (found == nullptr) found = load(m.hub);
  });
  return found;
}

/// Closes a scope through whoever opened it.
KPROF_DETAIL_LOCAL inline void end_through_hub(scope_token scope) noexcept {
  hub_record* const hub = find_hub();
  if (hub == nullptr) return;
  const bool emitted = (scope & emitted_token) != 0;
  if (auto* const end = load(emitted ? hub->end_emitted : hub->end_recorded)) end(scope);
}

/// Makes the guards of a module call what the hub says. What closes scopes is set before what opens
/// them.
KPROF_DETAIL_LOCAL inline void set_listener(module_record& m, const hub_record& hub) noexcept {
  if (const scope_api* latest = load(hub.latest)) store(m.latest, latest);
  store(m.api, load(hub.active));
}

/// Makes every guard of the process call the recorder if there is one, else the emitter, else
/// nobody.
KPROF_DETAIL_LOCAL inline void publish(hub_record& hub) noexcept {
  const auto wanted = [&] {
    const scope_api* recorder = load(hub.recorder);
    return recorder != nullptr ? recorder : load(hub.emit_only);
  };
  const scope_api* api = nullptr;
  // Another thread may change the recorder or the emitter meanwhile: publishing goes on until the
  // modules have the functions that are wanted now.
  do {
    api = wanted();
    if (api != nullptr) store(hub.latest, api);
    store(hub.active, api);
    for_each_module([&](module_record& m) {
      store(m.hub, &hub);
      set_listener(m, hub);
    });
  } while (wanted() != api);
}

/// The hub of this process; makes one, owned by this module and never freed, when there is none. Of
/// two threads that make one at once, the one that reaches the first module_record in the loader's
/// order wins.
KPROF_DETAIL_LOCAL inline hub_record& the_hub() noexcept {
  if (hub_record* found = find_hub()) {
    store(this_module.hub, found);
    return *found;
  }
  static constinit hub_record own{1,       sizeof(hub_record),
                                  nullptr, nullptr,
                                  nullptr, 0,
                                  nullptr, nullptr,
                                  nullptr, nullptr,
                                  nullptr, nullptr};
  module_record* first = nullptr;
  for_each_module([&](module_record& m) {
    if (first == nullptr) first = &m;
  });
  // no note: a linker script dropped it, and this module is on its own
  if (first == nullptr) first = &this_module;
  hub_record* expected = nullptr;
  hub_record* winner = &own;
  if (!__atomic_compare_exchange_n(&first->hub, &expected, &own, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_SEQ_CST))
    winner = expected;
  store(this_module.hub, winner);
  if (winner == &own) keep_loaded();
  return *winner;
}

/// Joins this module to a hub that is already there, and leaves it before it is unloaded.
struct attachment {
  KPROF_DETAIL_LOCAL attachment() noexcept {
    hub_record* hub = find_hub();
    if (hub == nullptr) return;
    store(this_module.hub, hub);
    // Once more if it changed meanwhile: publish() may have run between the load and the store.
    do set_listener(this_module, *hub);
    while (load(hub->active) != load(this_module.api));
  }
  KPROF_DETAIL_LOCAL ~attachment() {
    store(this_module.version, std::uint32_t{0});  // nobody's walk finds this module from here on
    store(this_module.api, static_cast<const scope_api*>(nullptr));
    hub_record* hub = load(this_module.hub);
    if (hub != nullptr)
      if (auto* detach = load(hub->detach)) detach(this_module);
    notice_.leave(hub);
  }
  attachment(const attachment&) = delete;
  attachment& operator=(const attachment&) = delete;

 private:
  no_session_notice notice_;
};
// Lives longer than other static objects, whose constructors and destructors may have guards.
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline attachment attached;

/// Puts an operator on this module's list, once.
template <class Op>
struct listing {
  op_node node{&op_desc_of<Op>, nullptr};
  KPROF_DETAIL_LOCAL listing() noexcept {
    op_node* head = load(this_module.ops);
    do node.next = head;
    while (!__atomic_compare_exchange_n(&this_module.ops, &head, &node, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  }
};
template <class Op>
KPROF_DETAIL_LOCAL inline listing<Op> listed;

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/hub.hpp>

#else

// <kprof/attach/guards_off.hpp>
#ifndef KPROF_ATTACH_GUARDS_OFF_HPP
#define KPROF_ATTACH_GUARDS_OFF_HPP

// The interface of guard.hpp with KPROF_ENABLE=0: no code. Arguments are type-checked and not
// evaluated.

#if !KPROF_ENABLE

// Without braces after an `if` they are errors here too: they would take its `else`. Mistakes are
// named outside templates alone: a second statement behind `if (false)` has g++ 12 lay out the
// function's code in another way.
#define KPROF_OP(Op, ...)                                             \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_OP_NAME(__COUNTER__), true); \
  if constexpr (false) KPROF_DETAIL_NAME_MISTAKES(Op, __VA_ARGS__);   \
  if (false) static_cast<void>(::kprof::detail::make<Op>(__VA_ARGS__))
#define KPROF_REGION(name)                                                \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_REGION_NAME(__COUNTER__), true); \
  if (false) ::kprof::detail::accept_name(name)

KPROF_DETAIL_BEGIN

namespace detail {
template <class Op>
constexpr const Op& make(const Op& params) noexcept {
  // as strict as with guards
  static_assert(check_operator<Op>() && operator_name<Op>().size != 0);
  return params;
}
template <class Op>
constexpr Op make() noexcept {
  return make<Op>(Op{});
}
constexpr void accept_name(const char*) noexcept {}
template <class Name>
  requires requires(const Name& n) {
    static_cast<const char*>(n.data());
    n.size();
  }
constexpr void accept_name(const Name&) noexcept {}
}  // namespace detail

template <class Op>
class [[maybe_unused]] op_guard {
 public:
  constexpr explicit op_guard(const Op&) noexcept {}
  op_guard(const op_guard&) = delete;
  op_guard& operator=(const op_guard&) = delete;
};
class [[maybe_unused]] region_guard {
 public:
  template <class Name>
    requires requires(const Name& n) { detail::accept_name(n); }
  constexpr explicit region_guard(const Name&) noexcept {}
  region_guard(const region_guard&) = delete;
  region_guard& operator=(const region_guard&) = delete;
};
class [[maybe_unused]] open_scope {};
namespace explicit_scopes {
template <class Op>
[[nodiscard]] constexpr open_scope begin(const Op&) noexcept {
  return {};
}
template <class Name>
[[nodiscard]] constexpr open_scope begin_region(const Name&) noexcept {
  return {};
}
constexpr void end(open_scope&) noexcept {}
}  // namespace explicit_scopes
using namespace explicit_scopes;
class context {
 public:
  static constexpr context current() noexcept { return {}; }
};
class [[maybe_unused]] context_guard {
 public:
  constexpr explicit context_guard(context) noexcept {}
  context_guard(const context_guard&) = delete;
  context_guard& operator=(const context_guard&) = delete;
};

KPROF_DETAIL_END

#endif  // !KPROF_ENABLE

#endif  // <kprof/attach/guards_off.hpp>

#endif

#define KPROF_DETAIL_JOIN_(a, b) a##b
#define KPROF_DETAIL_JOIN(a, b) KPROF_DETAIL_JOIN_(a, b)

// What a macro begins with: the second declaration needs the name that the first one declares.
// After an `if` without braces the first one alone would depend on the `if`, and the rest would
// guard the rest of the block. So that is an error, which shows the name. A type: g++ 12 puts an
// enumerator into the frame of a coroutine and warns of that.
#define KPROF_DETAIL_NEEDS_BRACES(name, is_right) \
  using name = char;                              \
  static_assert(sizeof(name) == 1 && (is_right))
// Never evaluated. In a call, a list that does not fit is no matching function; here the compiler
// names the field and the operator. What is evaluated stays a call, which copies no parameters.
#define KPROF_DETAIL_NAME_MISTAKES(Op, ...) \
  static_cast<void>(::kprof::detail::params_of<Op>{__VA_OPT__(.value = __VA_ARGS__)})
#define KPROF_DETAIL_OP_NAME(N) \
  KPROF_DETAIL_JOIN(KPROF_OP_needs_braces_after_if_else_for_or_while_, N)
#define KPROF_DETAIL_REGION_NAME(N) \
  KPROF_DETAIL_JOIN(KPROF_REGION_needs_braces_after_if_else_for_or_while_, N)

KPROF_DETAIL_BEGIN
namespace detail {
template <class Op>
struct params_of {
  Op value;
};
}  // namespace detail
KPROF_DETAIL_END

#if KPROF_ENABLE

/// Guards the rest of the block as one call of operator `Op`. What follows the type initialises its
/// parameters: an lvalue, a braced list (`{.n = n}`), or nothing. The arguments are evaluated only
/// while somebody listens. `Op` must be one macro argument: give a template instance a name with
/// `using`.
#define KPROF_OP(Op, ...) KPROF_DETAIL_OP(__COUNTER__, Op, __VA_ARGS__)
#define KPROF_DETAIL_OP(N, Op, ...)                                                          \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_OP_NAME(N), ::kprof::detail::check_operator<Op>()); \
  KPROF_DETAIL_OP_(KPROF_DETAIL_JOIN(kprof_site_, N), KPROF_DETAIL_JOIN(kprof_api_, N),      \
                   KPROF_DETAIL_JOIN(kprof_scope_, N), Op, __VA_ARGS__)
// Each branch makes a guard of its own: choosing between two tokens costs g++ 12 seven instructions
// more while nobody listens.
#define KPROF_DETAIL_OP_(kprof_site, kprof_api, kprof_scope, Op, ...)                          \
  if (false) KPROF_DETAIL_NAME_MISTAKES(Op, __VA_ARGS__);                                      \
  static constinit ::kprof::detail::site kprof_site{                                           \
      0, __LINE__, __FILE__, &::kprof::detail::op_desc_of<Op>, &::kprof::detail::this_module}; \
  const ::kprof::detail::scope_api* const kprof_api = ::kprof::detail::listener();             \
  const ::kprof::detail::scope_guard kprof_scope =                                             \
      __builtin_expect(kprof_api != nullptr, 0)                                                \
          ? ::kprof::detail::scope_guard(::kprof::detail::open_op<Op>(                         \
                *kprof_api, kprof_site, ::kprof::detail::make<Op>(__VA_ARGS__)))               \
          : ::kprof::detail::scope_guard(0)

/// Guards the rest of the block as a region: a layer, a phase, any stretch of code. `name` is a
/// string literal, a `const char*` or anything with data() and size(); it is copied, and evaluated
/// only while somebody listens.
#define KPROF_REGION(name) KPROF_DETAIL_REGION(__COUNTER__, name)
#define KPROF_DETAIL_REGION(N, name)                                                        \
  KPROF_DETAIL_NEEDS_BRACES(KPROF_DETAIL_REGION_NAME(N), true);                             \
  KPROF_DETAIL_REGION_(KPROF_DETAIL_JOIN(kprof_site_, N), KPROF_DETAIL_JOIN(kprof_api_, N), \
                       KPROF_DETAIL_JOIN(kprof_scope_, N), name)
#define KPROF_DETAIL_REGION_(kprof_site, kprof_api, kprof_scope, name)              \
  static constinit ::kprof::detail::site kprof_site{0, __LINE__, __FILE__, nullptr, \
                                                    &::kprof::detail::this_module}; \
  const ::kprof::detail::scope_api* const kprof_api = ::kprof::detail::listener();  \
  const ::kprof::detail::scope_guard kprof_scope =                                  \
      __builtin_expect(kprof_api != nullptr, 0)                                     \
          ? ::kprof::detail::scope_guard(::kprof::detail::open_region(              \
                *kprof_api, kprof_site, ::kprof::detail::region_name(name)))        \
          : ::kprof::detail::scope_guard(0)

KPROF_DETAIL_BEGIN

namespace detail {

/// Longest region name that is kept whole; a longer one keeps its beginning and a hash of all of
/// it.
inline constexpr std::uint32_t max_region_name = 1000;

KPROF_DETAIL_LOCAL inline const scope_api* listener() noexcept {
  return __atomic_load_n(&this_module.api, __ATOMIC_ACQUIRE);
}

template <class Op>
constexpr const Op& make(const Op& params) noexcept {
  return params;
}
template <class Op>
constexpr Op make() noexcept {
  return Op{};
}

constexpr text_view region_name(const char* name) noexcept {
  return name == nullptr ? text_view{"(null)", 6} : text_of(name);
}
template <class Name>
  requires requires(const Name& n) {
    static_cast<const char*>(n.data());
    n.size();
  }
constexpr text_view region_name(const Name& name) noexcept {
  return {name.data(),
          name.size() > 0xFFFFFFFFU ? 0xFFFFFFFFU : static_cast<std::uint32_t>(name.size())};
}

/// The site of guards that have none of their own: one per operator, or one for all regions.
template <class Op>
KPROF_DETAIL_LOCAL inline constinit site common_site{0, 0, nullptr, &op_desc_of<Op>, &this_module};
template <>
KPROF_DETAIL_LOCAL inline constinit site common_site<void>{0, 0, nullptr, nullptr, &this_module};

/// Closes an open scope through the functions of the latest listener. The guarded function then
/// keeps the token alone; keeping the table that opened the scope as well would take it two or
/// three instructions more.
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline void close(scope_token scope) noexcept {
  if (__builtin_expect(scope != 0, 0)) {
    // A variable of its own: CUDA 13.0's cudafe++ crashes on a call through the builtin's result.
    const scope_api* const listener = __atomic_load_n(&this_module.latest, __ATOMIC_RELAXED);
    listener->end(scope);
  }
}

template <class Op>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_op(const scope_api& api,
                                                                     site& where,
                                                                     const Op& params) noexcept {
  constexpr std::uint32_t bytes = op_desc_of<Op>.params_size;
  static_cast<void>(&listed<Op>);
  if constexpr (bytes % 8 == 0 && bytes / 8 <= max_fast_words)
    return api.begin[bytes / 8](where, &params);
  else return api.begin_any(where, &params, bytes);
}

[[gnu::noinline]] KPROF_DETAIL_LOCAL inline scope_token open_region(const scope_api& api,
                                                                    site& where,
                                                                    text_view name) noexcept {
  char cut[max_region_name];
  if (name.size > max_region_name) {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (std::uint32_t i = 0; i < name.size; ++i)
      hash = (hash ^ static_cast<unsigned char>(name.data[i])) * 1099511628211U;
    constexpr std::uint32_t kept = max_region_name - 20;
    __builtin_memcpy(cut, name.data, kept);
    __builtin_memcpy(cut + kept, "... ", 4);
    for (unsigned i = 0; i < 16; ++i)
      cut[kept + 4 + i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15U];
    name = {cut, max_region_name};
  }
  return api.begin_any(where, name.data, name.size);
}

/// Opens a scope that has no call site of its own; 0 when nobody listens.
template <class Op>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_op(const Op& params) noexcept {
  static_assert(check_operator<Op>());
  const scope_api* const api = listener();
  return __builtin_expect(api != nullptr, 0) ? open_op(*api, common_site<Op>, params) : 0;
}
template <class Name>
[[gnu::always_inline]] KPROF_DETAIL_LOCAL inline scope_token open_region(
    const Name& name) noexcept {
  const scope_api* const api = listener();
  return __builtin_expect(api != nullptr, 0)
             ? open_region(*api, common_site<void>, region_name(name))
             : 0;
}

/// Closes a scope when it is destroyed. What KPROF_OP and KPROF_REGION declare.
class scope_guard {
 public:
  /// `scope`: 0 where nobody listens.
  KPROF_DETAIL_LOCAL explicit scope_guard(scope_token scope) noexcept : scope_(scope) {}
  KPROF_DETAIL_LOCAL ~scope_guard() { close(scope_); }
  scope_guard(const scope_guard&) = delete;
  scope_guard& operator=(const scope_guard&) = delete;

 private:
  scope_token scope_;
};

}  // namespace detail

/// One call of operator `Op`, from construction to destruction. KPROF_OP does the same and knows
/// its call site.
///     kprof::op_guard guard{Saxpy{.n = n}};
template <class Op>
class op_guard {
 public:
  KPROF_DETAIL_LOCAL explicit op_guard(const Op& params) noexcept
      : scope_(detail::open_op(params)) {}
  KPROF_DETAIL_LOCAL ~op_guard() = default;
  op_guard(const op_guard&) = delete;
  op_guard& operator=(const op_guard&) = delete;

 private:
  detail::scope_guard scope_;
};
template <class Op>
op_guard(const Op&) -> op_guard<Op>;

/// A named stretch of code, from construction to destruction. KPROF_REGION does the same and knows
/// its call site.
class region_guard {
 public:
  /// `name`: a `const char*` or anything with data() and size(); copied.
  template <class Name>
    requires requires(const Name& n) { detail::region_name(n); }
  KPROF_DETAIL_LOCAL explicit region_guard(const Name& name) noexcept
      : scope_(detail::open_region(name)) {}
  KPROF_DETAIL_LOCAL ~region_guard() = default;
  region_guard(const region_guard&) = delete;
  region_guard& operator=(const region_guard&) = delete;

 private:
  detail::scope_guard scope_;
};

class open_scope;

// Found as kprof::begin and kprof::end, and not by argument-dependent lookup, which ignores the
// using-directive: a range loop over a user's type, or a test whether it is a range, must not come
// across them.
namespace explicit_scopes {
template <class Op>
KPROF_DETAIL_LOCAL open_scope begin(const Op& params) noexcept;
template <class Name>
KPROF_DETAIL_LOCAL open_scope begin_region(const Name& name) noexcept;
KPROF_DETAIL_LOCAL void end(open_scope& scope) noexcept;
}  // namespace explicit_scopes
using namespace explicit_scopes;

/// A scope opened with begin(), to be closed with end() on the same thread. Copies name the same
/// scope: end it through one of them only.
class open_scope {
 public:
  constexpr open_scope() noexcept = default;

 private:
  template <class Op>
  friend open_scope explicit_scopes::begin(const Op& params) noexcept;
  template <class Name>
  friend open_scope explicit_scopes::begin_region(const Name& name) noexcept;
  friend void explicit_scopes::end(open_scope& scope) noexcept;
  constexpr explicit open_scope(detail::scope_token scope) noexcept : scope_(scope) {}
  detail::scope_token scope_ = 0;
};

namespace explicit_scopes {

/// Opens a call of an operator where no block can: between two callbacks, for instance.
///     kprof::open_scope scope = kprof::begin(Gemm{.M = m, .N = n, .K = k});
///     ...
///     kprof::end(scope);
template <class Op>
[[nodiscard]] KPROF_DETAIL_LOCAL open_scope begin(const Op& params) noexcept {
  return open_scope{detail::open_op(params)};
}
/// Opens a region where no block can.
template <class Name>
[[nodiscard]] KPROF_DETAIL_LOCAL open_scope begin_region(const Name& name) noexcept {
  return open_scope{detail::open_region(name)};
}
/// Closes what begin() or begin_region() opened; a second call does nothing.
KPROF_DETAIL_LOCAL inline void end(open_scope& scope) noexcept {
  detail::close(scope.scope_);
  scope.scope_ = 0;
}

}  // namespace explicit_scopes

/// Where a thread stands: the path of its open scopes. A plain value; hand it to another thread
/// with the work. Taking one costs 0.2 microseconds, but first folds what this thread has recorded
/// since the last one or since the last snapshot, at about 30 ns a scope; it is not for inner
/// loops.
class context {
 public:
  constexpr context() noexcept = default;
  /// The calling thread's path; empty when nothing is open or nobody listens.
  KPROF_DETAIL_LOCAL static context current() noexcept {
    context c;
    if (const auto* api = detail::listener()) c.path_ = api->capture();
    return c;
  }

 private:
  friend class context_guard;
  std::uint32_t path_ = 0;
};

/// Puts the scopes of this thread under a context captured on another, until the end of the block.
///     pool.submit([c = kprof::context::current()] { kprof::context_guard under{c}; work(); });
class context_guard {
 public:
  KPROF_DETAIL_LOCAL explicit context_guard(context c) noexcept {
    api_ = c.path_ != 0 ? detail::listener() : nullptr;
    if (api_ != nullptr) adopted_ = api_->adopt(c.path_);
  }
  KPROF_DETAIL_LOCAL ~context_guard() {
    if (api_ != nullptr) api_->release(adopted_);
  }
  context_guard(const context_guard&) = delete;
  context_guard& operator=(const context_guard&) = delete;

 private:
  const detail::scope_api* api_;
  detail::scope_token adopted_ = 0;
};

KPROF_DETAIL_END

#endif  // KPROF_ENABLE

#endif  // <kprof/guard.hpp>

// <kprof/registry.hpp>
#ifndef KPROF_REGISTRY_HPP
#define KPROF_REGISTRY_HPP

// Lists of operators: one that the compiler checks, and one of all operators that the modules of
// the process know. Include it where a library lists its operators, or to walk them; it arms
// nothing. At run time an operator is on the list if a module has a guard for it, or has enrolled a
// registry that names it.
//
//   using ops = kprof::op_registry<Gemm, Conv2d>;
//   static_assert(ops::size == 2 && ops::contains("Conv2d"));
//   template class kprof::op_registry<Gemm, Conv2d>;   // in one .cpp file: on the process's list
//                                                      without any guard

#include <cstddef>
#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

namespace detail {

template <class... Ops>
constexpr bool distinct_names() noexcept {
  const text_view names[sizeof...(Ops) + 1] = {operator_name<Ops>()..., {"", 0}};
  for (std::size_t i = 0; i != sizeof...(Ops); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same_text(names[i], names[j])) return false;
  return true;
}

/// False when a type of the list is no operator; a static_assert of check_operator() has then said
/// why, and the names are not checked.
template <class... Ops>
constexpr bool check_registry() noexcept {
  if constexpr ((check_operator<Ops>() && ... && true)) {
    static_assert(distinct_names<Ops...>(),
                  "kprof: two operators of the registry have the same name; give one of them "
                  "`static constexpr const char* name`");
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

/// A list of operators, checked by the compiler: each is an operator, and their names are distinct.
/// Names are those of name_of(): a template's arguments are spelt as the compiler prints them.
template <class... Ops>
class op_registry {
  static_assert(detail::check_registry<Ops...>());

 public:
  static constexpr std::size_t size = sizeof...(Ops);
  /// What index_of() returns for a name that is not on the list.
  static constexpr std::size_t npos = ~std::size_t{0};

  /// Position of the operator called `name`, or npos.
  static constexpr std::size_t index_of(const char* name) noexcept {
    const text_view names[size + 1] = {detail::operator_name<Ops>()..., {"", 0}};
    for (std::size_t i = 0; i != size; ++i)
      if (detail::same_text(names[i], detail::text_of(name))) return i;
    return npos;
  }
  /// Whether an operator is called `name`.
  static constexpr bool contains(const char* name) noexcept { return index_of(name) != npos; }
  /// Whether operator `Op` is on the list.
  template <class Op>
  static constexpr bool has = (std::is_same_v<Op, Ops> || ... || false);

  /// Calls f(std::type_identity<Op>{}) for each operator in the order of the list.
  ///     ops::for_each([](auto op) { print(kprof::name_of<typename decltype(op)::type>()); });
  template <class F>
  static constexpr void for_each(F&& f) {
    (static_cast<void>(f(std::type_identity<Ops>{})), ...);
  }

  /// Puts the operators on the process's list. The loader does so when it loads a module that has
  /// this call anywhere, executed or not; an explicit instantiation of the registry does the same.
  static void enroll() noexcept {
#if KPROF_ENABLE
    (static_cast<void>(&detail::listed<Ops>), ...);
#endif
  }
};

/// One field of a listed operator; valid while the module that declared it is loaded.
class field_view {
 public:
  text_view name() const noexcept { return field_->name; }
  field_kind kind() const noexcept { return field_->kind; }
  /// Bytes from the start of the parameters.
  std::uint32_t offset() const noexcept { return field_->offset; }
  /// Bytes of one element.
  std::uint32_t size() const noexcept { return field_->size; }
  /// Elements of a std::array, all dimensions together; 0 for a single value.
  std::uint32_t extent() const noexcept { return field_->extent; }

 private:
  friend class operator_view;
  explicit field_view(const detail::field_desc& field) noexcept : field_(&field) {}
  const detail::field_desc* field_;
};

/// An operator of the process's list; valid while the module that declared it is loaded.
class operator_view {
 public:
  text_view name() const noexcept { return op_->name(); }
  /// Bytes of the parameters; 0 for an operator without any.
  std::uint32_t params_size() const noexcept { return op_->params_size; }
  std::uint32_t field_count() const noexcept { return op_->params().field_count; }
  /// Field `i` of field_count(), in the order of declaration.
  field_view field(std::uint32_t i) const noexcept { return field_view{op_->params().fields[i]}; }
  /// Whether both are one operator, perhaps of two modules: name and fields agree.
  friend bool operator==(operator_view a, operator_view b) noexcept {
    if (a.op_ == b.op_) return true;
    if (!detail::same_text(a.name(), b.name()) || a.params_size() != b.params_size() ||
        a.field_count() != b.field_count())
      return false;
    for (std::uint32_t i = 0; i < a.field_count(); ++i) {
      const field_view x = a.field(i), y = b.field(i);
      if (!detail::same_text(x.name(), y.name()) || x.kind() != y.kind() ||
          x.offset() != y.offset() || x.size() != y.size() || x.extent() != y.extent())
        return false;
    }
    return true;
  }

 private:
  template <class F>
  friend void for_each_operator(F f);
  explicit operator_view(const detail::op_desc& op) noexcept : op_(&op) {}
  const detail::op_desc* op_;
};

/// Calls f(operator_view) once for each operator that the loaded modules know. An operator of
/// several modules is one. Takes time quadratic in the number of operators: not for hot code. Holds
/// the loader's lock: `f` must not load or unload a library, nor throw. With KPROF_ENABLE=0 there
/// are none.
template <class F>
void for_each_operator(F f) {
#if KPROF_ENABLE
  // An operator that several modules guard is visited at its first node.
  const auto each_node = [](auto visit) {
    bool go_on = true;
    detail::for_each_module([&](detail::module_record& m) {
      for (const detail::op_node* n = detail::load(m.ops); n != nullptr && go_on; n = n->next)
        go_on = visit(*n);
    });
  };
  each_node([&](const detail::op_node& node) {
    bool first = true;
    each_node([&](const detail::op_node& earlier) {
      if (&earlier == &node) return false;
      if (operator_view{*earlier.op} == operator_view{*node.op}) first = false;
      return first;
    });
    if (first) f(operator_view{*node.op});
    return true;
  });
#else
  static_cast<void>(f);
#endif
}

KPROF_DETAIL_END

#endif  // <kprof/registry.hpp>

// Under no condition, before headers that include it under one: kprof as one header has it once.

// <kprof/session/build_name.hpp>
#ifndef KPROF_SESSION_BUILD_NAME_HPP
#define KPROF_SESSION_BUILD_NAME_HPP

// The name of this build of the session. Modules share a session only if theirs is the same; a file
// that leaves the session to a library is linked only with a library of the same build.

// <kprof/session/shared_layout.hpp>
#ifndef KPROF_SESSION_SHARED_LAYOUT_HPP
#define KPROF_SESSION_SHARED_LAYOUT_HPP

// How this build lays out what modules hand to the session and get from it, as one number: commits
// of one version may differ in it, and so may a copy that somebody has changed. Included by
// build_name.hpp. Compile time only.

// <kprof/profile.hpp>
#ifndef KPROF_PROFILE_HPP
#define KPROF_PROFILE_HPP

// A profile: the run up to a moment as a plain value that owns all it holds. snapshot() makes one,
// load() reads a saved one, and every output is a function of one. Include it to walk a profile.
// Times are nanoseconds. Text is as the program gave it: an output makes it safe to print.

// <kprof/profile/device_profile.hpp>
#ifndef KPROF_PROFILE_DEVICE_PROFILE_HPP
#define KPROF_PROFILE_DEVICE_PROFILE_HPP

// The device's part of a profile: kernels, copies and memsets under the scopes that launched them,
// the devices they ran on, and what is known to be missing. Included by profile.hpp. Times are
// nanoseconds by the device's own clock readings.

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a device does.
enum class device_task : std::uint8_t { kernel, copy, set };

/// Where a copy goes. Arrays count as device memory.
enum class copy_direction : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
  peer_to_peer
};

/// What kind of memory a copy reads or writes.
enum class memory_place : std::uint8_t { unknown, pageable, pinned, device, array, managed };

/// Runs of one kernel with one launch configuration, or copies of one kind, that one scope launched
/// on one stream.
struct device_work {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  /// Index in profile::nodes of the innermost scope; a root: launched outside all scopes; none:
  /// whose launch is not known.
  std::uint32_t scope = none;
  device_task task = device_task::kernel;
  bool merged = false;  ///< several kernels or configurations, kept together for want of memory
  /// Index in device_profile::kernels; none for copies, memsets and merged work.
  std::uint32_t kernel = none;
  std::uint32_t device = 0;                            ///< CUDA's ordinal, as in device_info::id
  std::uint32_t stream = 0;                            ///< CUPTI's number of the stream
  std::uint32_t grid[3] = {};                          ///< blocks
  std::uint32_t block[3] = {};                         ///< threads
  std::uint32_t registers = 0;                         ///< a thread
  std::uint32_t static_shared = 0;                     ///< bytes a block
  std::uint32_t dynamic_shared = 0;                    ///< bytes a block
  copy_direction direction = copy_direction::unknown;  ///< of a copy
  memory_place from = memory_place::unknown;           ///< of a copy
  memory_place to = memory_place::unknown;             ///< of a copy or a memset

  std::uint64_t calls = 0;  ///< runs; those without timing are in no time below
  /// Of these, runs for which CUPTI gave no time, or an end before the beginning.
  std::uint64_t untimed = 0;
  double total_ns = 0;  ///< run times, summed: concurrent runs count each
  double min_ns = 0;
  double max_ns = 0;
  std::uint64_t gaps = 0;  ///< runs whose launch was seen
  /// From the call that launched them to their start, summed over these; of a graph's work from the
  /// graph's launch.
  double gap_ns = 0;
  std::uint64_t bytes = 0;  ///< copied or set, summed
};

/// A device, as CUPTI describes it.
struct device_info {
  std::uint32_t id = 0;    ///< CUDA's ordinal
  bool described = false;  ///< false: no description came; the next seven are unknown then
  std::string name;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_per_s = 0;  ///< theoretical peak
  std::uint64_t clock_hz = 0;            ///< highest core clock
  double busy_ns = 0;  ///< while at least one kernel, copy or memset ran: the union of their times
  double sum_ns = 0;   ///< their times, summed
  /// False: records came too far out of order, and busy_ns is at least this.
  bool busy_is_exact = true;
};

/// What was seen of the device's work and what was not.
struct device_completeness {
  /// Calls that launch a kernel, a copy, a memset or a graph, seen to succeed.
  std::uint64_t launches = 0;
  /// Of these, launches with work on the device, made in an operator.
  std::uint64_t attributed = 0;
  std::uint64_t outside = 0;  ///< the same, made in no operator
  /// Launches of which no work on the device is known: in flight, or without any.
  std::uint64_t open = 0;
  std::uint64_t unknown = 0;  ///< records whose launch was not seen
  std::uint64_t records = 0;  ///< kernels, copies and memsets that were received
  /// Launches that could not be noted for want of memory; their records are of unknown launch.
  std::uint64_t launches_lost = 0;
  std::uint64_t dropped = 0;  ///< records that CUPTI, or kprof for want of memory, dropped
  /// Buffers of records of which CUPTI could not read the rest.
  std::uint64_t cut_buffers = 0;
  /// Buffers of records that another user of CUPTI's activity API asked for, and which came to
  /// kprof.
  std::uint64_t foreign_buffers = 0;
  std::uint64_t untimed = 0;  ///< records without timing
  /// Records of launches made before the recording began or while it was paused.
  std::uint64_t ignored = 0;
  std::uint64_t odd = 0;  ///< records of a kind that kprof does not know
  /// Records kept without their launch configuration for want of memory.
  std::uint64_t merged = 0;
  /// Records of graph nodes made before the recording began, or forgotten.
  std::uint64_t foreign_graphs = 0;
  /// Graphs of whose nodes kprof forgot the operators for want of memory.
  std::uint64_t forgotten_graphs = 0;
  std::uint64_t synchronizations = 0;
  double synchronizing_ns = 0;  ///< host time in synchronising calls, as CUPTI gives it
  double overhead_ns = 0;       ///< time that CUPTI says it took itself
};

/// What the device did in a run.
struct device_profile {
  bool collecting = false;  ///< a collector is or was at work
  /// "CUPTI 13.0 (API 130001)", or why there is none and what to do; empty: the program does not
  /// use CUDA.
  std::string state;
  std::vector<device_info> devices;
  std::vector<std::string> kernels;  ///< names as the compiler mangled them
  std::vector<device_work> work;
  device_completeness complete;
  double collecting_ns = 0;  ///< host time spent reading and attributing records
};

KPROF_DETAIL_END

#endif  // <kprof/profile/device_profile.hpp>

// <kprof/profile/parameter_text.hpp>
#ifndef KPROF_PROFILE_PARAMETER_TEXT_HPP
#define KPROF_PROFILE_PARAMETER_TEXT_HPP

// Decodes packed parameters: one value by its name, all values, or their text, as in "N=1
// shape=[3,224,224] type=f32 epilogue={bias=true scale=0.5} tag=first". Included by profile.hpp.
// Values that are cut short, as those of a profile made by hand may be, read as zero. Pure.

// <kprof/profile/parameters.hpp>
#ifndef KPROF_PROFILE_PARAMETERS_HPP
#define KPROF_PROFILE_PARAMETERS_HPP

// The operators of a profile and the typed values of their parameters. Included by profile.hpp.
// Values are held packed and decoded when they are asked for: a snapshot copies bytes, and only the
// rows that are printed become text. Pure; a value may be read by several threads.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a field of an operator holds.
enum class parameter_kind : std::uint8_t {
  none,  ///< no such field
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  enumeration,
  text,
  aggregate,  ///< a nested struct
};

/// An enumerator that has a name.
struct enumerator_name {
  std::int64_t value = 0;  ///< of an unsigned enumeration: the same 64 bits
  std::string name;
  friend bool operator==(const enumerator_name&, const enumerator_name&) = default;
};

/// A field of an operator, or of a struct nested in one.
struct operator_field {
  std::string name;
  parameter_kind kind = parameter_kind::none;
  /// Of one element: 8 to 64; floating: 32, 64, 80 (x87) or 128; 0 for text and aggregates.
  std::uint32_t bits = 0;
  std::uint32_t extent = 0;  ///< elements of an array, all its dimensions; 0 for a single value
  bool is_signed = false;    ///< of an integer or enumeration
  std::vector<operator_field> fields;        ///< of an aggregate
  std::vector<enumerator_name> enumerators;  ///< of an enumeration; those that have a name
  friend bool operator==(const operator_field&, const operator_field&) = default;
};

/// The values of the fields of one operator, packed: the fields in their order, arrays element by
/// element, aggregates field by field, without padding, little-endian. A boolean is one byte, 0 or
/// 1; integers and enumerations have their own width; floating values have 4, 8, 10 (x87) or 16
/// bytes, with one NaN for each sign; text has its length as a LEB128 number, then its bytes. So
/// equal parameters are equal bytes.
struct parameter_values {
  std::string packed;

  bool empty() const noexcept { return packed.empty(); }
  friend bool operator==(const parameter_values&, const parameter_values&) = default;
};

/// An operator that the profile has calls of.
struct operator_info {
  std::string name;           ///< as shown: with a number where others are declared by that name
  std::string declared_name;  ///< as the program declares it
  std::vector<operator_field> fields;
  /// Of an object that the program gave no values; empty where they are not known, as in a profile
  /// saved by an older version.
  parameter_values defaults{};
  friend bool operator==(const operator_info&, const operator_info&) = default;
};

/// One value. Its text is a view of the profile it is from, which must outlive it.
struct parameter_value {
  parameter_kind kind = parameter_kind::none;
  std::uint32_t bits = 0;  ///< as operator_field::bits
  bool is_signed = false;  ///< of an integer or enumeration
  /// Of a boolean 0 or 1; of an integer or enumeration its value, of a signed one in two's
  /// complement: see as_signed().
  std::uint64_t integer = 0;
  long double floating = 0;  ///< of a floating field, exact whatever its width
  /// Of a text field; of an enumeration the enumerator's name, empty where it has none.
  std::string_view text;

  /// Whether there is a value.
  explicit operator bool() const noexcept { return kind != parameter_kind::none; }
  std::int64_t as_signed() const noexcept { return static_cast<std::int64_t>(integer); }
};

KPROF_DETAIL_END

#endif  // <kprof/profile/parameters.hpp>

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

#endif  // <kprof/profile/parameter_text.hpp>

// <kprof/record/histogram.hpp>
#ifndef KPROF_RECORD_HISTOGRAM_HPP
#define KPROF_RECORD_HISTOGRAM_HPP

// A log-linear histogram of 64-bit values: 64 buckets an octave, so that a quantile read back is
// within 0.8 % of the value that was counted, at any scale. Only the range of buckets in use is
// stored. Counting never fails: without memory it counts at the nearest bucket. Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

KPROF_DETAIL_BEGIN

namespace detail {
template <class T>
struct shared_layout;
}

/// Counts of values, exact in number, within 0.8 % in value. Values below 128 are exact.
class histogram {
 public:
  histogram() noexcept = default;
  /// Throws std::bad_alloc where there is no memory.
  histogram(const histogram& other)
      : first_(other.first_),
        gathered_size_(other.gathered_size_),
        counts_(other.size_ > 1 ? new std::uint64_t[other.size_] : nullptr),
        size_(other.size_),
        capacity_(counts_ != nullptr ? size_ : 0),
        only_count_(other.only_count_) {
    std::copy_n(other.gathered_, gathered_size_, gathered_);
    std::copy_n(other.begin(), size_, begin());
  }
  histogram(histogram&& other) noexcept { swap(other); }
  histogram& operator=(histogram other) noexcept {
    swap(other);
    return *this;
  }
  ~histogram() { delete[] counts_; }

  /// Index of the bucket that counts `value`. Buckets 0 to 127 hold one value each.
  static constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
    const auto shift = static_cast<std::uint32_t>(57 - __builtin_clzll(value | per_octave));
    return shift * per_octave + static_cast<std::uint32_t>(value >> shift);
  }
  /// The middle of the values that bucket `index` counts.
  static constexpr double value_of(std::uint32_t index) noexcept {
    if (index < 2 * per_octave) return index;
    const std::uint32_t shift = index / per_octave - 1;
    const auto low = static_cast<double>(std::uint64_t{per_octave + index % per_octave} << shift);
    return low + (static_cast<double>(std::uint64_t{1} << shift) - 1) / 2;
  }

  /// Counts `value` once. Where counting takes memory, asks may_grow(bytes); told no, it counts the
  /// nearest value that it has room for. Returns how many values that befell, of those that were
  /// gathered until now (see gather).
  template <class MayGrow>
  std::uint32_t add(std::uint64_t value, MayGrow may_grow) {
    gathered_[gathered_size_++] = static_cast<std::uint16_t>(bucket_of(value));
    return gathered_size_ == gather ? count_gathered(may_grow) : 0;
  }
  void add(std::uint64_t value) {
    add(value, [](std::size_t) { return true; });
  }

  /// Adds all values of another one; returns as add() does.
  template <class MayGrow>
  std::uint64_t merge(const histogram& other, MayGrow may_grow) {
    std::uint64_t moved = 0;
    for (std::uint32_t i = 0; i < other.size_; ++i)
      if (other.begin()[i] != 0 && !count_at(other.first_ + i, other.begin()[i], may_grow))
        moved += other.begin()[i];
    for (std::uint32_t i = 0; i < other.gathered_size_; ++i)
      moved += count_at(other.gathered_[i], 1, may_grow) ? 0 : 1;
    return moved;
  }
  void merge(const histogram& other) {
    merge(other, [](std::size_t) { return true; });
  }

  /// Index of the last bucket.
  static constexpr std::uint32_t last_bucket = 58 * 64 + 63;

  /// Calls f(bucket, count) for each bucket that counted something, in their order. With restore()
  /// the way to write a histogram and to make it again.
  template <class F>
  void each(F f) const {
    std::uint16_t sorted[gather] = {};
    std::copy_n(gathered_, gathered_size_, sorted);
    std::sort(sorted, sorted + gathered_size_);
    std::uint32_t next = 0;  // of `sorted`
    const auto take = [&](std::uint32_t bucket, std::uint64_t count) {
      for (; next < gathered_size_ && sorted[next] == bucket; ++next) ++count;
      if (count != 0) f(bucket, count);
    };
    for (std::uint32_t i = 0; i < size_; ++i) {
      while (next < gathered_size_ && sorted[next] < first_ + i) take(sorted[next], 0);
      take(first_ + i, begin()[i]);
    }
    while (next < gathered_size_) take(sorted[next], 0);
  }

  /// Counts `times` values of a bucket, at most last_bucket. The first few take no memory.
  void restore(std::uint32_t bucket, std::uint64_t times) {
    if (times < gather - gathered_size_)
      for (; times > 0; --times) gathered_[gathered_size_++] = static_cast<std::uint16_t>(bucket);
    else count_at(bucket, times, [](std::size_t) { return true; });
  }

  /// Number of values counted.
  std::uint64_t count() const noexcept {
    std::uint64_t n = gathered_size_;
    for (std::uint32_t i = 0; i < size_; ++i) n += begin()[i];
    return n;
  }

  /// The value that a share `q` (0 to 1) of all values does not exceed (nearest rank); 0 when
  /// empty.
  double quantile(double q) const noexcept {
    const std::uint64_t n = count();
    if (n == 0) return 0;
    const double exact_rank = q * static_cast<double>(n);
    auto rank = static_cast<std::uint64_t>(exact_rank);
    if (static_cast<double>(rank) < exact_rank) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, n);
    std::uint16_t sorted[gather] = {};
    std::copy_n(gathered_, gathered_size_, sorted);
    std::sort(sorted, sorted + gathered_size_);
    std::uint32_t next = 0;  // of `sorted`
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      for (; next < gathered_size_ && sorted[next] < first_ + i; ++next)
        if (++seen == rank) return value_of(sorted[next]);
      seen += begin()[i];
      if (seen >= rank) return value_of(first_ + i);
    }
    return value_of(sorted[next + (rank - seen) - 1]);
  }

  /// Bytes allocated.
  std::size_t memory() const noexcept { return capacity_ * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint32_t per_octave = 64;
  // So many values are kept beside the counters until they are counted together. With many
  // histograms their counters have left the cache when the next value comes, and 16 at once take a
  // fifth of the time; one that has fewer takes no memory at all.
  static constexpr std::uint32_t gather = 16;

  template <class MayGrow>
  [[gnu::noinline]] std::uint32_t count_gathered(MayGrow may_grow) {
    const std::uint32_t n = std::exchange(gathered_size_, 0U);
    std::uint32_t moved = 0;
    std::uint64_t* counts = begin();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (gathered_[i] - first_ < size_) {
        ++counts[gathered_[i] - first_];
      } else {
        moved += count_at(gathered_[i], 1, may_grow) ? 0 : 1;
        counts = begin();
      }
    }
    return moved;
  }

  template <class MayGrow>
  bool count_at(std::uint32_t index, std::uint64_t times, MayGrow may_grow) {
    const bool precise = index - first_ < size_ || make_room(index, may_grow);
    begin()[index - first_] += times;
    return precise;
  }

  /// Widens the range to `index`, or moves `index` to its edge; false when moved.
  template <class MayGrow>
  [[gnu::noinline]] bool make_room(std::uint32_t& index, MayGrow may_grow) {
    if (size_ == 0) {
      first_ = index;
      size_ = 1;
      return true;
    }
    const std::uint32_t last = first_ + size_ - 1;
    const std::uint32_t size = index < first_ ? last - index + 1 : index - first_ + 1;
    const std::uint32_t wanted = size <= capacity_                  ? capacity_
                                 : size < capacity_ + capacity_ / 2 ? capacity_ + capacity_ / 2
                                                                    : size;
    if (wanted > capacity_ && !grow_to(wanted, may_grow)) {
      index = index < first_ ? first_ : last;
      return false;
    }
    if (index < first_) {
      std::copy_backward(counts_, counts_ + size_, counts_ + size);
      std::fill(counts_, counts_ + (first_ - index), 0);
      first_ = index;
    } else {
      std::fill(counts_ + size_, counts_ + size, 0);
    }
    size_ = size;
    return true;
  }
  template <class MayGrow>
  bool grow_to(std::uint32_t wanted, MayGrow may_grow) {
    auto* const more = new (std::nothrow) std::uint64_t[wanted];
    // Asked last: what may_grow() has granted counts as taken.
    if (more == nullptr || !may_grow((wanted - capacity_) * sizeof(std::uint64_t))) {
      delete[] more;
      return false;
    }
    std::copy_n(begin(), size_, more);
    delete[] counts_;
    counts_ = more;
    capacity_ = wanted;
    return true;
  }

  std::uint64_t* begin() noexcept { return counts_ != nullptr ? counts_ : &only_count_; }
  const std::uint64_t* begin() const noexcept {
    return counts_ != nullptr ? counts_ : &only_count_;
  }
  void swap(histogram& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(gathered_size_, other.gathered_size_);
    std::swap(gathered_, other.gathered_);
    std::swap(counts_, other.counts_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(only_count_, other.only_count_);
  }

  friend struct detail::shared_layout<histogram>;

  std::uint32_t first_ = 0;
  std::uint32_t gathered_size_ = 0;
  std::uint16_t gathered_[gather] = {};  // buckets of values that are not in counts_ yet
  std::uint64_t* counts_ = nullptr;      // of buckets first_, first_ + 1, ...
  std::uint32_t size_ = 0;               // of counts_, or 1: a single bucket has only_count_
  std::uint32_t capacity_ = 0;
  std::uint64_t only_count_ = 0;
};

KPROF_DETAIL_END

#endif  // <kprof/record/histogram.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a node of the call tree is.
enum class scope_kind : std::uint8_t {
  root,    ///< a thread: the parent of what it ran outside any scope
  op,      ///< calls of one operator with the same parameters from the same call site
  region,  ///< runs of one region
  /// Replays of CUDA graphs launched in the scope around it; below it are the scopes in which they
  /// were captured.
  graph,
};

/// Work of one call by the operator's own formulas.
struct work_per_call {
  bool has_flops = false;  ///< flops() is declared
  bool has_bytes = false;  ///< bytes() is declared
  /// False: valid() fails, or a formula overflowed or was negative; there are no numbers then.
  bool valid = true;
  std::uint64_t flops = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  dtype type = dtype::unknown;
  arithmetic_unit on = arithmetic_unit::unknown;
  pass_kind pass = pass_kind::unknown;
};

/// One node of a thread's call tree. Its path is its own name and those of its parents.
struct scope_node {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  /// Index in profile::nodes, always smaller than the node's own; none for a root.
  std::uint32_t parent = none;
  std::uint32_t thread = 0;  ///< index in profile::threads
  scope_kind kind = scope_kind::root;
  /// Stands for calls with differing parameters, kept together for want of memory.
  bool merged = false;
  std::string name;         ///< operator or region
  std::uint32_t op = none;  ///< of a call: index in profile::operators
  parameter_values values;  ///< of its parameters; none where `merged`
  std::string file;         ///< call site; empty for a guard that has none
  std::uint32_t line = 0;
  work_per_call work;
  /// The parameters in the notation of the operator's brief(): at most 120 bytes; empty where it
  /// has none. Like a name it is as the program gave it.
  std::string brief;
  std::uint64_t beside = 0;   ///< bit i: the i-th field of the operator is not in `brief`
  std::uint64_t unshown = 0;  ///< bit i: the i-th field has no meaning in these calls

  std::uint64_t calls = 0;  ///< finished
  /// Of these, calls that did no work on the device but captured it into a CUDA graph.
  std::uint64_t captured = 0;
  /// Of these, calls in which this thread neither launched work on a device nor captured any.
  std::uint64_t unlaunched = 0;
  /// Calls made by replaying a graph; of a graph node: its launches. They are not in `calls`, and
  /// take no host time.
  std::uint64_t replays = 0;
  /// Launches in it of whose work on a device not all records have come: of a graph node, of the
  /// graphs; else of kernels, copies and memsets.
  std::uint64_t unrecorded = 0;
  std::uint64_t open = 0;  ///< still open; not in the times below
  double open_ns = 0;      ///< how long those have been open, summed
  double total_ns = 0;
  double self_ns = 0;  ///< total less the time in child scopes of the same thread
  double min_ns = 0;
  double max_ns = 0;
  histogram durations;  ///< of the finished calls, in ticks of profile::clock
};

struct thread_info {
  std::uint64_t id = 0;  ///< the operating system's; 0 for the threads kept together
  std::string name;      ///< as the operating system has it
  bool ended = false;
  /// How many ended threads this entry stands for; 0 for a single thread.
  std::uint64_t merged = 0;
};

/// A finished scope of the timeline, in ticks of profile::clock: integers nest as the scopes did,
/// and become nanoseconds by clock_info::to_ns().
struct timeline_scope {
  std::uint32_t node = 0;  ///< index in profile::nodes
  std::int64_t start = 0;  ///< since the session's start
  std::uint64_t duration = 0;
};

struct clock_info {
  std::string source;  ///< "tsc", "cntvct" or "clock_gettime"
  double ns_per_tick = 1;
  /// Largest distance of a calibration point from the line through the first and the last;
  /// negative: unknown, there are only these two.
  double residual_ns = 0;
  /// The session's start in CLOCK_REALTIME, the clock of CUPTI's records.
  std::uint64_t start_realtime_ns = 0;

  double to_ns(std::int64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
  double to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
};

/// What was seen and what was not. Every count is of scopes unless it says otherwise.
struct completeness {
  std::uint64_t recorded = 0;      ///< finished and in the totals
  std::uint64_t open = 0;          ///< open at the snapshot
  std::uint64_t never_closed = 0;  ///< open when their thread ended
  std::uint64_t dropped = 0;       ///< not recorded for want of memory
  /// Not recorded: a guard opened them while kprof itself was at work on that thread, in an
  /// allocator for instance.
  std::uint64_t dropped_inside = 0;
  std::uint64_t closed_by_parent = 0;  ///< closed because a scope around them ended first
  /// Guards destroyed on another thread, or again after their scope was gone.
  std::uint64_t closed_elsewhere = 0;
  std::uint64_t invalid = 0;  ///< calls whose parameters are invalid
  std::uint64_t merged = 0;   ///< calls kept without their parameters for want of memory
  /// Calls whose duration counts in sums and extremes, but near the truth in quantiles, for want of
  /// memory.
  std::uint64_t imprecise = 0;
  std::uint64_t in_timeline = 0;  ///< finished scopes the timeline still holds
  double timeline_ns = 0;         ///< length of the timeline up to the snapshot
};

/// What kprof itself took, measured in this process.
struct own_cost {
  double scope_ns = 0;        ///< one scope: what it costs the thread
  double empty_scope_ns = 0;  ///< what an empty scope shows as its duration
  double recording_ns = 0;    ///< scope_ns times the scopes finished or open
  double folding_ns = 0;      ///< time spent folding logs into totals
  std::uint64_t memory = 0;   ///< bytes held now
  std::uint64_t memory_limit = 0;
};

/// A run up to a moment, or a part of one.
struct profile {
  bool recording = false;  ///< false: nothing is being recorded now; `state` says why
  std::string state;       ///< "recording", "stopped", "off (KPROF=off)", ...
  std::string program;     ///< its file's name, without the folder
  std::uint32_t cpus = 0;  ///< that it may run on; 0: not known
  double wall_ns = 0;      ///< from the session's start to the snapshot or stop, pauses included
  double paused_ns = 0;
  std::vector<thread_info> threads;
  std::vector<operator_info> operators;  ///< those that nodes refer to
  std::vector<scope_node> nodes;         ///< parents before children; one root a thread
  std::vector<timeline_scope> timeline;  ///< filled on request
  device_profile device;                 ///< what the GPU did
  clock_info clock;
  completeness complete;
  own_cost cost;
  std::vector<std::string> notes;  ///< one line each: what is degraded, and what to do about it

  /// The operator of a node; nullptr where it is no call of one.
  const operator_info* operator_of(const scope_node& n) const noexcept {
    return n.op < operators.size() ? &operators[n.op] : nullptr;
  }
  /// A parameter's typed value, by the field's name or a path as in parameter_at(); none where the
  /// node has no such field or its parameters were not kept.
  ///     run.value(node, "shape[0]").as_signed()
  parameter_value value(const scope_node& n, std::string_view field) const {
    const operator_info* const op = operator_of(n);
    return op == nullptr || n.merged ? parameter_value{} : parameter_at(*op, n.values, field);
  }
};

/// The parameters of a node as reports print them: "n=1024 type=f32"; empty for a region and where
/// they were not kept.
inline std::string parameter_text(const profile& p, const scope_node& n) {
  const operator_info* const op = p.operator_of(n);
  return op == nullptr || n.values.empty() ? std::string{} : parameter_text(*op, n.values);
}

KPROF_DETAIL_END

#endif  // <kprof/profile.hpp>

// <kprof/report/options.hpp>
#ifndef KPROF_REPORT_OPTIONS_HPP
#define KPROF_REPORT_OPTIONS_HPP

// What a report shows and how. Include it to fill in options; the writers are in report/text.hpp.

// <kprof/model/grouping.hpp>
#ifndef KPROF_MODEL_GROUPING_HPP
#define KPROF_MODEL_GROUPING_HPP

// Which calls share a row of a table: a list of keys, as in `by=op+pass`, and fields that make no
// difference, as in `fold=K,Skv`. Included by the tables and by report/options.hpp. Pure.

// <kprof/status.hpp>
#ifndef KPROF_STATUS_HPP
#define KPROF_STATUS_HPP

// How set-up and outputs tell that something did not work. A function that returns a status throws
// nothing: memory that has run out is the error "out of memory". kprof prints nothing of its own
// accord but what is wrong with KPROF or with the report that KPROF asked for: a program that wants
// to know looks at the status, one that does not runs on.

#include <string>

KPROF_DETAIL_BEGIN

/// Whether something worked; if not, what was wrong and what to do about it, in one line.
///     if (kprof::status s = kprof::write_output("run.txt", text); !s)
///     std::fputs(s.message.c_str(), stderr);
struct status {
  std::string message;  ///< empty: it worked

  bool ok() const noexcept { return message.empty(); }
  explicit operator bool() const noexcept { return ok(); }
};

KPROF_DETAIL_END

#endif  // <kprof/status.hpp>

// <kprof/write/printable.hpp>
#ifndef KPROF_WRITE_PRINTABLE_HPP
#define KPROF_WRITE_PRINTABLE_HPP

// Foreign text as a terminal can show it: names, paths and messages that kprof did not make itself.
// Included by reports and messages. Pure; no locale.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

struct code_point {
  char32_t value = 0;
  unsigned size = 0;  // bytes; 0: the next byte is not the beginning of valid UTF-8
};

/// The first character of `text`, which is not empty. Overlong forms, surrogates and numbers above
/// 10FFFF are not valid.
inline code_point first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const unsigned size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (unsigned i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  static constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, size};
}

struct character_range {
  char32_t from, to;
};
template <std::size_t N>
constexpr bool is_in(const character_range (&ranges)[N], char32_t c) noexcept {
  for (const character_range& r : ranges)
    if (c <= r.to) return c >= r.from;
  return false;
}

/// Columns of a character: 0 for combining marks, 2 for wide East Asian characters and emoji. Where
/// terminals differ, and for rarer marks, the larger number: a line may come out short, never long.
constexpr unsigned width_of(char32_t c) noexcept {
  if (c < 0x300) return 1;  // nearly every character, before the tables are looked at
  constexpr character_range zero[] = {
      {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
      {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0x941, 0x948},   {0x94D, 0x94D},   {0x951, 0x957},
      {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x1AB0, 0x1ABE}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20F0},
      {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F}};
  constexpr character_range wide[] = {
      {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},
      {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
      {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
      {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
      {0x26F2, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},
      {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},
      {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
      {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0xA4CF},
      {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE1F},
      {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FF},
      {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
      {0x1F1E6, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1FAFF},
      {0x20000, 0x3FFFD}};
  return is_in(zero, c) ? 0 : is_in(wide, c) ? 2 : 1;
}

/// Characters that a terminal obeys or hides instead of showing: controls, line separators, all of
/// Unicode's format characters (Cf: direction marks, joiners, tags, those of single scripts), those
/// that it calls ignorable by default, and letters that are blank.
constexpr bool is_unsafe(char32_t c) noexcept {
  constexpr character_range unsafe[] = {
      {0, 0x1F},          {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
      {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
      {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
      {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
      {0x13430, 0x1343F}, {0x16FE4, 0x16FE4}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return is_in(unsafe, c);
}

[[gnu::cold]] inline std::string hexadecimal(std::uint32_t value, unsigned digits) {
  std::string out(digits, '0');
  for (; digits > 0; value >>= 4U) out[--digits] = "0123456789abcdef"[value & 0xFU];
  return out;
}

[[gnu::cold]] inline std::string escaped(char32_t c) {
  switch (c) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\\': return "\\\\";
    default: break;
  }
  if (c < 0x80) return "\\x" + hexadecimal(c, 2);
  return c < 0x10000 ? "\\u" + hexadecimal(c, 4) : "\\U" + hexadecimal(c, 8);
}

/// Foreign text made fit to print, and no wider than `width`: valid UTF-8 (or ASCII), with "\n",
/// "\x1b", "\u202e" for what a terminal would obey, "\xNN" for a byte that is not UTF-8, "\\" for a
/// backslash and "…" for what is cut off.
inline std::string printable(std::string_view text, std::size_t width, bool ascii = false) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
  // nearly every text
  if (text.size() <= width && std::all_of(text.begin(), text.end(), plain))
    return std::string{text};
  const std::string_view ellipsis = ascii ? "..." : "\u2026";
  const std::size_t ellipsis_width = ascii ? 3 : 1;
  std::string out;
  std::size_t used = 0, cut_size = 0;  // cut_size: bytes of `out` that leave room for the ellipsis
  // combining marks on the last character; none may go on a space, nor on what is before the text
  unsigned marks = 3;
  while (!text.empty()) {
    const code_point c = first_character(text);
    std::string piece;
    std::size_t piece_width = 0;
    if (c.size == 0) piece = "\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2);
    else if (is_unsafe(c.value) || c.value == '\\' || (ascii && c.value >= 0x80) ||
             (width_of(c.value) == 0 && marks >= 3))
      piece = escaped(c.value);
    else piece_width = width_of(c.value);
    marks = !piece.empty() ? 0 : piece_width == 0 ? marks + 1 : c.value == ' ' ? 3 : 0;
    if (piece.empty()) piece = text.substr(0, c.size);
    else piece_width = piece.size();
    if (used + piece_width > width) {
      out.resize(cut_size);
      return width >= ellipsis_width ? out.append(ellipsis) : std::string(width, '.');
    }
    out += piece;
    used += piece_width;
    if (used + ellipsis_width <= width) cut_size = out.size();
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  return out;
}

/// Calls add(piece) for each character of a message, made fit to print in one line. Unlike
/// printable(), it leaves backslashes alone: a message has its foreign parts escaped already, and
/// this is for what was forgotten. Needs no memory: what it escapes fits into a std::string itself.
template <class Add>
[[gnu::cold]] void each_printable(std::string_view text, Add add) {
  while (!text.empty()) {
    const code_point c = first_character(text);
    if (c.size == 0) add("\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2));
    else if (is_unsafe(c.value)) add(escaped(c.value));
    else add(text.substr(0, c.size));
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
}
[[gnu::cold]] inline std::string one_line(std::string_view text) {
  std::string out;
  each_printable(text, [&](std::string_view piece) { out += piece; });
  return out;
}

/// Columns of printable text.
inline std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const code_point c = first_character(text);
    width += c.size == 0 ? 1 : width_of(c.value);
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  return width;
}

/// Text in the notation of brief() as ASCII has it: x for a multiplication sign, -> for an arrow,
/// ^T for a transposition, ... for what was cut off. All else stays as it is.
inline std::string ascii_notation(std::string_view text) {
  static constexpr struct {
    std::string_view sign, ascii;
  } signs[] = {{"\u00D7", "x"}, {"\u2192", "->"}, {"\u1D40", "^T"}, {"\u2026", "..."}};
  std::string out;
  while (!text.empty()) {
    std::string_view first = text.substr(0, 1), written = first;
    for (const auto& s : signs)
      if (text.starts_with(s.sign)) {
        first = s.sign;
        written = s.ascii;
      }
    out += written;
    text.remove_prefix(first.size());
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What the calls of a row have in common.
enum class group_key : std::uint8_t {
  op,          ///< the operator's name
  parameters,  ///< the operator and all its parameters, but for those folded
  pass,        ///< its pass or, where it has none, that of the innermost operator around
  dtype,       ///< the type that it computes with
  region,      ///< the innermost region around the call
  layer,       ///< all regions around the call, from the outermost on, joined by /
  thread,      ///< the thread that it ran on
  call_site,   ///< file and line of the guard
  field,       ///< the value of one field
};

namespace detail {

/// A key of a grouping.
struct group_part {
  group_key kind = group_key::parameters;
  std::string field{};  ///< its path, where the key is one
};

/// As in `by=`, in the order of group_key.
inline constexpr std::string_view group_key_words[] = {
    "op", "parameters", "pass", "dtype", "region", "layer", "thread", "call_site"};

/// The word of a key, without the field's name.
constexpr std::string_view word_of(group_key key) noexcept {
  return key == group_key::field ? "field" : group_key_words[static_cast<std::size_t>(key)];
}

inline constexpr std::string_view field_prefix = "field:";

/// Takes the name of a field off the front of `path`, which may be UTF-8.
inline bool take_identifier(std::string_view& path) noexcept {
  std::size_t size = 0;
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  while (size < path.size() &&
         (is_letter(path[size]) || (size > 0 && path[size] >= '0' && path[size] <= '9')))
    ++size;
  path.remove_prefix(size);
  return size > 0;
}

/// Whether a text is written as the path of a field is: "M", "shape[0]", "epilogue.scale".
inline bool is_field_path(std::string_view path) {
  if (path.size() > 1000 || printable(path, 2 * path.size()) != path) return false;
  for (;;) {
    if (!take_identifier(path)) return false;
    if (!path.empty() && path[0] == '[') {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos || close == 1 || close > 10) return false;
      if (path.substr(1, close - 1).find_first_not_of("0123456789") != std::string_view::npos)
        return false;
      path.remove_prefix(close + 1);
    }
    if (path.empty()) return true;
    if (path[0] != '.') return false;
    path.remove_prefix(1);
  }
}

/// The key that a word names; a word that is no key's is a field's.
inline group_part part_of(std::string_view word) {
  if (word.starts_with(field_prefix))
    return {group_key::field, std::string{word.substr(field_prefix.size())}};
  if (word == "operator") return {group_key::op};
  for (std::size_t i = 0; i < std::size(group_key_words); ++i)
    if (word == group_key_words[i]) return {static_cast<group_key>(i)};
  return {group_key::field, std::string{word}};
}

/// How a key is written.
inline std::string text_of(const group_part& part) {
  if (part.kind != group_key::field) return std::string{word_of(part.kind)};
  const bool plain = part_of(part.field).kind == group_key::field && part.field != "step" &&
                     !part.field.starts_with(field_prefix);
  return plain ? part.field : std::string{field_prefix} + part.field;
}

/// Calls each(word) for the words that `+` separates, also for empty ones.
template <class Each>
void each_word(std::string_view text, Each each) {
  for (;;) {
    const std::size_t end = text.find('+');
    each(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

[[gnu::cold]] inline std::string group_words() {
  std::string all;
  for (const std::string_view word : group_key_words)
    all.append(all.empty() ? "" : ", ").append(word);
  return all;
}

/// What is wrong with a key as it is written; empty: nothing.
[[gnu::cold]] inline std::string wrong_key(std::string_view word) {
  const std::string help = "; choose from " + group_words() +
                           ", or name a field, as in M, shape[0] or epilogue.scale; + joins keys";
  if (word.empty()) return "a key is missing" + help;
  if (word == "step")
    return "steps are not recorded: open a region for each step and group by region or layer (a "
           "field of that name is field:step)";
  const group_part part = part_of(word);
  if (part.kind != group_key::field || is_field_path(part.field)) return {};
  return '"' + printable(word, 60) + "\" is neither a key nor the name of a field" + help;
}

}  // namespace detail

struct parsed_grouping;

/// Which calls share a row: those in which all of some keys are the same. The list is exact:
/// op + thread makes a row for each operator and thread, whatever the parameters; layer + pass one
/// for each layer and pass, over all operators. A call that lacks what a key asks for, such as an
/// operator without that field, goes to a row in which the value is absent.
///     operator_table(run, kprof::grouping::op + kprof::grouping::field("M"))
///     operator_table(run, kprof::grouping{}.folding({"K"}))   // by parameters, whatever K is
class grouping {
 public:
  static constexpr group_key op = group_key::op;
  static constexpr group_key parameters = group_key::parameters;
  static constexpr group_key pass = group_key::pass;
  static constexpr group_key dtype = group_key::dtype;
  static constexpr group_key region = group_key::region;
  static constexpr group_key layer = group_key::layer;
  static constexpr group_key thread = group_key::thread;
  static constexpr group_key call_site = group_key::call_site;

  /// By parameters.
  grouping() : text_(detail::word_of(group_key::parameters)) {}
  grouping(group_key key) : text_(detail::word_of(key)) {}  // NOLINT: a key is a list of one

  /// By the value of a field, whose path is as parameter_at() takes it; a whole array or nested
  /// struct where it names one.
  static grouping field(std::string_view path) {
    grouping by;
    by.text_ = detail::text_of({group_key::field, std::string{path}});
    return by;
  }
  /// By nothing: all calls are one row.
  static grouping nothing() {
    grouping by;
    by.text_.clear();
    return by;
  }
  /// Reads "op+M+N", as in `by=`. A word that is no key is the name of a field; `field:NAME` is the
  /// field, also where it has a key's name. Whether there is such a field, check_grouping() tells.
  static parsed_grouping parse(std::string_view text);

  /// The same keys; fields of these paths do not make parameters differ. Their range is in
  /// operator_row::ranges.
  grouping folding(std::vector<std::string> fields) const {
    grouping by = *this;
    by.folded_ = std::move(fields);
    return by;
  }

  /// As parse() takes it.
  const std::string& text() const noexcept { return text_; }
  const std::vector<std::string>& folded() const noexcept { return folded_; }
  std::vector<detail::group_part> keys() const {
    std::vector<detail::group_part> out;
    if (!text_.empty())
      detail::each_word(text_,
                        [&](std::string_view word) { out.push_back(detail::part_of(word)); });
    return out;
  }
  /// Whether it is one of the keys; parameters have the operator in them.
  bool has(group_key key) const {
    for (const detail::group_part& part : keys())
      if (part.kind == key || (key == op && part.kind == parameters)) return true;
    return false;
  }

  friend bool operator==(const grouping&, const grouping&) = default;

 private:
  friend grouping operator+(const grouping& a, const grouping& b);

  void add(std::string_view word) {
    bool known = false;
    if (!text_.empty())
      detail::each_word(text_, [&](std::string_view other) { known = known || other == word; });
    if (known) return;
    if (!text_.empty()) text_ += '+';
    text_ += word;
  }

  // The words joined by +: the default fits a string that allocates nothing, and a process that
  // never opens a scope holds one.
  std::string text_;
  std::vector<std::string> folded_;
};

/// The keys of both, each once, and what either folds.
inline grouping operator+(const grouping& a, const grouping& b) {
  grouping out = a;
  for (const detail::group_part& part : b.keys()) out.add(detail::text_of(part));
  for (const std::string& field : b.folded_)
    if (std::find(out.folded_.begin(), out.folded_.end(), field) == out.folded_.end())
      out.folded_.push_back(field);
  return out;
}

// For two enumerators the language looks at no other.
inline grouping operator+(group_key a, group_key b) { return grouping(a) + grouping(b); }

/// A grouping, or what is wrong with its text; the value is by parameters then.
struct parsed_grouping {
  grouping value{};
  status error{};
};

inline parsed_grouping grouping::parse(std::string_view text) {
  parsed_grouping out;
  grouping by = nothing();
  detail::each_word(text, [&](std::string_view word) {
    std::string wrong = out.error ? detail::wrong_key(word) : std::string{};
    if (!wrong.empty()) out.error.message = "by=" + detail::printable(text, 60) + ": " + wrong;
    else if (out.error) by.add(detail::text_of(detail::part_of(word)));
  });
  if (out.error) out.value = std::move(by);
  return out;
}

KPROF_DETAIL_END

#endif  // <kprof/model/grouping.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a report shows. The defaults suit a terminal.
///     kprof::report_options o;
///     o.sort = "gflops";
///     o.filter = "^(Gemm|Conv)";
///     o.columns = {"operator", "calls", "p99", "gflops"};
struct report_options {
  /// Columns a line may have; 0 or less: the terminal's, else $COLUMNS, else 100. Less than 40 is
  /// 40, more than 1000 is 1000.
  int width = 0;
  std::size_t top = 40;  ///< rows of each table and of the tree; 0: all
  /// A column, by its name as in `columns`; "name" is "operator". Texts rise, numbers fall. Empty:
  /// "device" where the run has work on a device, else "self".
  std::string sort{};
  /// What the calls of a row have in common; a key that names no field of the run's operators is
  /// left out, which the report says.
  grouping by = grouping::parameters;
  /// Fields, by their paths, that do not make parameters differ; `by` may fold others.
  std::vector<std::string> fold{};
  /// POSIX extended regular expression, searched in "name parameters"; in the tree what is around
  /// and inside a scope that matches is shown with it, and a kernel whose name matches.
  std::string filter{};
  /// Columns by name, in this order, such as "operator", "calls", "gflops"; empty: those that fit
  /// the width. docs/reports.md lists all, and so does the error that answers an unknown name.
  std::vector<std::string> columns{};
  bool all_parameters = false;  ///< show every field of a row, also where it is the default
  bool table = true;            ///< show the operator table
  /// Show the call tree. No value: where it says more than the operators, since there are none or
  /// 10 % of the time is outside them.
  std::optional<bool> tree = true;
  /// Show the table of kernels, if the run has any. No value: where operators do not explain 1 % of
  /// the device's time.
  std::optional<bool> kernels = true;
  /// Show the table of copies and memsets, if the run has any. No value: where they take 10 % of
  /// the device's time.
  std::optional<bool> copies = true;
  /// Show kprof's account of what was seen, what it cost and of the clock, also where nothing was
  /// lost.
  bool details = true;
  bool full_names = false;  ///< list the kernels' whole names below their table
  bool ascii = false;       ///< nothing but ASCII
  /// Bold and dim lines, by the escape sequences of terminals. Unset: where the report goes to a
  /// terminal and NO_COLOR is not set.
  std::optional<bool> color{};
  bool legend = false;  ///< explain every column
  std::string path{};   ///< file to write, "%p" in it is the process id; empty: standard output
};

KPROF_DETAIL_END

#endif  // <kprof/report/options.hpp>

// <kprof/report/output.hpp>
#ifndef KPROF_REPORT_OUTPUT_HPP
#define KPROF_REPORT_OUTPUT_HPP

// An output is a format that a profile can be written in: a value with a name, a table of options
// and a function that writes. Each of kprof's outputs has a header of its own in kprof/report/;
// including it makes the output known in this binary. Include this header to add an output of your
// own, and write.hpp to write a profile in any of them:
//
//   kprof::status write_names(const kprof::profile& run, const kprof::option_values& options,
//                             kprof::text_sink& out);
//   constexpr kprof::option name_options[] = {
//       {.name = "top", .kind = kprof::option_kind::number, .form = "ROWS", .fallback = "0",
//        .meaning = "rows to write; 0: all"}};
//   constexpr kprof::output names{"names", "one name a line", name_options, &write_names};
//   [[gnu::init_priority(101)]] const kprof::output_registration names_registered{names};
//
// Registrations happen before main() and are read afterwards, so that no function here needs a
// lock. An output is known to the binary that registers it.

// <kprof/report/option.hpp>
#ifndef KPROF_REPORT_OPTION_HPP
#define KPROF_REPORT_OPTION_HPP

// An option of an output, and a setting of the session: one line of a table that says its name,
// what values it takes and what it means. The parser, the lists of valid words in error lines and
// the tables of the documentation are made from these tables. Included by output.hpp and
// settings.hpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What values an option takes.
enum class option_kind : std::uint8_t {
  mark,    ///< none: the word alone stands for the flag that `fallback` is
  flag,    ///< on, off, 1, 0, true or false; the word alone is on
  number,  ///< decimal, from `least` to `most`
  size,    ///< bytes with B, K, KiB, M, MiB, G or GiB; less than `least` is raised to it
  choice,  ///< one of the words that `form` lists with | between them; where they are on and off
           ///< beside others, a flag's values too
  text,    ///< any text
  list,    ///< words joined by +
};

struct option_value;

/// One line of a table of options.
struct option {
  const char* name;
  option_kind kind = option_kind::text;
  const char* form = "";       ///< how a value is written: "ROWS", "op|thread"
  const char* fallback = "";   ///< the value, as text, where none is given
  std::uint64_t least = 0;     ///< smallest number or size
  std::uint64_t most = ~0ULL;  ///< largest number
  const char* meaning = "";    ///< for people
  status (*validate)(const option_value&) = nullptr;         ///< what else must hold of a value
  void (*store)(void* into, const option_value&) = nullptr;  ///< &store_member<&options::top>
};

/// A value that was found valid.
struct option_value {
  const option* of = nullptr;
  std::string text{};        ///< as given
  std::uint64_t number = 0;  ///< also of a flag, 1 or 0, and of a choice, the place of its word

  /// Of a list; none where it is empty.
  std::vector<std::string> words() const {
    std::vector<std::string> out(text.empty() ? 0 : 1);
    for (const char c : text)
      if (c == '+') out.emplace_back();
      else out.back() += c;
    return out;
  }
};

namespace detail {
template <class Struct, class Member>
void set_member(Struct& into, Member Struct::*member, const option_value& value) {
  if constexpr (std::is_same_v<Member, std::string>) into.*member = value.text;
  else if constexpr (std::is_same_v<Member, std::vector<std::string>>) into.*member = value.words();
  else if constexpr (requires { Member::parse(value.text).value; })
    into.*member = Member::parse(value.text).value;
  else if constexpr (std::is_same_v<Member, std::optional<bool>>)  // of auto|on|off
    into.*member = value.number == 0 ? std::nullopt : std::optional<bool>{value.number == 1};
  else into.*member = static_cast<Member>(value.number);
}
template <class Struct, class Member>
Struct struct_of(Member Struct::*);
}  // namespace detail

/// For option::store: puts a value into the member of the struct that `into` points to. A choice
/// becomes the enumerator at its place, of auto|on|off a std::optional<bool>; a member of a type
/// with a function parse() what that makes of the text.
template <auto Member>
void store_member(void* into, const option_value& value) {
  using owner = decltype(detail::struct_of(Member));
  detail::set_member(*static_cast<owner*>(into), Member, value);
}

KPROF_DETAIL_END

#endif  // <kprof/report/option.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

struct profile;

/// The options of one request, checked: those given, and the others with their defaults.
class option_values {
 public:
  option_values() = default;
  explicit option_values(std::vector<option_value> values) : values_(std::move(values)) {}

  /// Of an option that the output's table does not have: false, 0 or nothing.
  bool flag(std::string_view name) const noexcept { return number(name) != 0; }
  std::uint64_t number(std::string_view name) const noexcept {
    const option_value* const found = find(name);
    return found == nullptr ? 0 : found->number;
  }
  std::string text(std::string_view name) const {
    const option_value* const found = find(name);
    return found == nullptr ? std::string{} : found->text;
  }
  std::vector<std::string> list(std::string_view name) const {
    const option_value* const found = find(name);
    return found == nullptr ? std::vector<std::string>{} : found->words();
  }

  /// Sets the members that the table names with `option::store`, which are members of a T.
  template <class T>
  void store_into(T& options) const {
    for (const option_value& value : values_)
      if (value.of->store != nullptr) value.of->store(&options, value);
  }

 private:
  const option_value* find(std::string_view name) const noexcept {
    for (const option_value& value : values_)
      if (name == value.of->name) return &value;
    return nullptr;
  }
  std::vector<option_value> values_;
};

/// Where an output puts its text, piece by piece: nothing is held in memory but the last 64 KiB.
/// Used by one thread.
class text_sink {
 public:
  /// Passes text on; `to` is what the sink was made with.
  using drain_function = status (*)(void* to, std::string_view text);

  /// `takes_color`: `to` is a terminal.
  text_sink(drain_function drain, void* to, bool takes_color = false) noexcept
      : drain_(drain), to_(to), takes_color_(takes_color) {}
  text_sink(const text_sink&) = delete;
  text_sink& operator=(const text_sink&) = delete;

  void put(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= piece) flush();
  }
  /// Whether an output may use the escape sequences of terminals.
  bool takes_color() const noexcept { return takes_color_; }
  /// Passes on what was put so far. After a failure, which an output need not look at, all further
  /// text is dropped.
  const status& flush() {
    if (failure_) failure_ = drain_(to_, buffer_);
    buffer_.clear();
    return failure_;
  }

 private:
  static constexpr std::size_t piece = std::size_t{64} * 1024;
  drain_function drain_;
  void* to_;
  bool takes_color_;
  std::string buffer_;
  status failure_;
};

/// A format. It lives as long as the binary that registers it.
struct output {
  const char* name;     ///< as in KPROF="name(...)": letters, digits and _
  const char* meaning;  ///< one sentence, for people
  /// What it takes beside `path`, which every output has.
  std::span<const option> options;
  /// Puts the profile into `out`. A status that is not ok says what is wrong with the options and
  /// what to do; nothing has been put then. Must not throw.
  status (*write)(const profile& run, const option_values& options, text_sink& out);
};

/// An option of a request: {"top", "20"}.
struct option_setting {
  std::string name;
  std::string value;  ///< as in KPROF; empty for a flag: on

  friend bool operator==(const option_setting&, const option_setting&) = default;
};

/// What is to be written: an output and its options, {"csv", {{"path", "run.csv"}}}.
struct output_request {
  std::string output;
  std::vector<option_setting> options{};

  friend bool operator==(const output_request&, const output_request&) = default;
};

class output_registration;
namespace detail {
/// The registered outputs of this binary, by name. Written before main(), or when the binary is
/// loaded.
KPROF_DETAIL_LOCAL inline constinit const output_registration* first_registration = nullptr;
}  // namespace detail

/// Makes an output known in this binary while it exists. Give the variable
/// [[gnu::init_priority(101)]]: KPROF is read when the binary is loaded, by constructors that come
/// later. An output does not become known while another of its name is, nor when that one goes.
class KPROF_DETAIL_LOCAL output_registration {
 public:
  explicit output_registration(const output& what) noexcept : what_(what) {
    const output_registration** at = &detail::first_registration;
    while (*at != nullptr && std::string_view{(*at)->what_.name} < what.name) at = &(*at)->next_;
    if (*at != nullptr && std::string_view{(*at)->what_.name} == what.name) return;
    next_ = *at;
    *at = this;
  }
  ~output_registration() {
    const output_registration** at = &detail::first_registration;
    while (*at != nullptr && *at != this) at = &(*at)->next_;
    if (*at == this) *at = next_;
  }
  output_registration(const output_registration&) = delete;
  output_registration& operator=(const output_registration&) = delete;

  const output& what() const noexcept { return what_; }
  const output_registration* next() const noexcept { return next_; }

 private:
  const output& what_;
  mutable const output_registration* next_ = nullptr;
};

/// The outputs that this binary knows, by name.
KPROF_DETAIL_LOCAL inline std::vector<const output*> outputs() {
  std::vector<const output*> known;
  for (auto* r = detail::first_registration; r != nullptr; r = r->next())
    known.push_back(&r->what());
  return known;
}
/// The output of that name; nullptr where this binary knows none.
KPROF_DETAIL_LOCAL inline const output* find_output(std::string_view name) noexcept {
  for (auto* r = detail::first_registration; r != nullptr; r = r->next())
    if (name == r->what().name) return &r->what();
  return nullptr;
}

KPROF_DETAIL_END

#endif  // <kprof/report/output.hpp>

// <kprof/session/owner_functions.hpp>
#ifndef KPROF_SESSION_OWNER_FUNCTIONS_HPP
#define KPROF_SESSION_OWNER_FUNCTIONS_HPP

// How modules call the session of the process: by functions of the module that owns it. The others,
// perhaps of other commits and compilers, touch nothing of the session's own: copies of its code
// would use their own static data, and would disappear when their module is unloaded.

// <kprof/session/settings_value.hpp>
#ifndef KPROF_SESSION_SETTINGS_VALUE_HPP
#define KPROF_SESSION_SETTINGS_VALUE_HPP

// The settings of a session as a value. Included by settings.hpp, which explains them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// What scopes are timed with.
enum class clock_choice : std::uint8_t { automatic, system };

/// Whether CUPTI is asked for the GPU's work.
enum class cupti_choice : std::uint8_t {
  automatic,  ///< when the program is found to use CUDA
  on,
  off,
};

struct parsed_settings;

/// The settings of a session.
struct settings {
  bool enabled = true;  ///< false: nothing is recorded or emitted, guards stay idle
  bool nvtx = true;     ///< send scopes to an attached NVTX tool
  cupti_choice cupti = cupti_choice::automatic;  ///< attribute the GPU's work to operators
  /// Bytes for logs and totals of the whole process; 1 MiB or more.
  std::size_t memory = std::size_t{64} * 1024 * 1024;
  clock_choice clock = clock_choice::automatic;
  bool signals = true;      ///< write the outputs when SIGINT, SIGTERM or SIGHUP ends the program
  report_options report{};  ///< what report() shows when it is not told otherwise
  /// Written when the program ends. The request {"report"}, without options, is what `report` says;
  /// it is left out when the program has printed just that.
  std::vector<output_request> outputs{};

  static constexpr std::size_t smallest_memory =
      std::size_t{1024} * 1024;  ///< bytes; parse() raises what is less

  /// Reads settings as in the variable KPROF. What is wrong is skipped and described; what is right
  /// holds.
  KPROF_DETAIL_SESSION static parsed_settings parse(std::string_view text);
};

/// Settings, and one line for each mistake in the text: what is wrong and what is valid. The lines
/// are fit to print, whatever the text holds, and no more than 20.
struct parsed_settings {
  settings value{};
  std::vector<std::string> errors{};
};

KPROF_DETAIL_END

#endif  // <kprof/session/settings_value.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// The session as all modules see it. What hub_record::session points to.
struct owner_functions {
  // First, so that every build can read it. A module calls the functions if its own is the same.
  const char* build;
  void (*arm)();
  status (*start_with)(const settings& wanted);
  status (*start)();
  void (*stop)();
  void (*pause)();
  void (*resume)();
  profile (*snapshot)(bool timeline);
  report_options (*report_settings)();
  void (*reported)(const profile& run);
  bool (*is_stream)(int descriptor, bool for_program) noexcept;  // a stream_test
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/owner_functions.hpp>

#if !KPROF_SESSION_ELSEWHERE
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN
namespace detail {

struct shared_member {
  std::size_t offset;
  std::size_t size;
  std::size_t initialisers;  // 1, or the elements of a C array
};

/// Specialised for a struct that modules share: all its members.
template <class T>
struct shared_layout;

#define KPROF_DETAIL_AT(member)                                                                \
  shared_member {                                                                              \
    __builtin_offsetof(type, member), sizeof(type::member),                                    \
        std::extent_v<decltype(type::member)> == 0 ? 1 : std::extent_v<decltype(type::member)> \
  }
#define KPROF_DETAIL_SHARED(T, ...)                           \
  template <>                                                 \
  struct shared_layout<T> {                                   \
    using type = T;                                           \
    static constexpr shared_member members[] = {__VA_ARGS__}; \
  };
KPROF_DETAIL_SHARED(status, KPROF_DETAIL_AT(message))
KPROF_DETAIL_SHARED(report_options, KPROF_DETAIL_AT(width), KPROF_DETAIL_AT(top),
                    KPROF_DETAIL_AT(sort), KPROF_DETAIL_AT(by), KPROF_DETAIL_AT(fold),
                    KPROF_DETAIL_AT(filter), KPROF_DETAIL_AT(columns),
                    KPROF_DETAIL_AT(all_parameters), KPROF_DETAIL_AT(table), KPROF_DETAIL_AT(tree),
                    KPROF_DETAIL_AT(kernels), KPROF_DETAIL_AT(copies), KPROF_DETAIL_AT(full_names),
                    KPROF_DETAIL_AT(details), KPROF_DETAIL_AT(ascii), KPROF_DETAIL_AT(color),
                    KPROF_DETAIL_AT(legend), KPROF_DETAIL_AT(path))
KPROF_DETAIL_SHARED(option_setting, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(value))
KPROF_DETAIL_SHARED(output_request, KPROF_DETAIL_AT(output), KPROF_DETAIL_AT(options))
KPROF_DETAIL_SHARED(settings, KPROF_DETAIL_AT(enabled), KPROF_DETAIL_AT(nvtx),
                    KPROF_DETAIL_AT(cupti), KPROF_DETAIL_AT(memory), KPROF_DETAIL_AT(clock),
                    KPROF_DETAIL_AT(signals), KPROF_DETAIL_AT(report), KPROF_DETAIL_AT(outputs))
KPROF_DETAIL_SHARED(enumerator_name, KPROF_DETAIL_AT(value), KPROF_DETAIL_AT(name))
KPROF_DETAIL_SHARED(operator_field, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(kind),
                    KPROF_DETAIL_AT(bits), KPROF_DETAIL_AT(extent), KPROF_DETAIL_AT(is_signed),
                    KPROF_DETAIL_AT(fields), KPROF_DETAIL_AT(enumerators))
KPROF_DETAIL_SHARED(operator_info, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(declared_name),
                    KPROF_DETAIL_AT(fields), KPROF_DETAIL_AT(defaults))
KPROF_DETAIL_SHARED(parameter_values, KPROF_DETAIL_AT(packed))
KPROF_DETAIL_SHARED(histogram, KPROF_DETAIL_AT(first_), KPROF_DETAIL_AT(gathered_size_),
                    KPROF_DETAIL_AT(gathered_), KPROF_DETAIL_AT(counts_), KPROF_DETAIL_AT(size_),
                    KPROF_DETAIL_AT(capacity_), KPROF_DETAIL_AT(only_count_))
KPROF_DETAIL_SHARED(work_per_call, KPROF_DETAIL_AT(has_flops), KPROF_DETAIL_AT(has_bytes),
                    KPROF_DETAIL_AT(valid), KPROF_DETAIL_AT(flops), KPROF_DETAIL_AT(bytes_read),
                    KPROF_DETAIL_AT(bytes_written), KPROF_DETAIL_AT(type), KPROF_DETAIL_AT(on),
                    KPROF_DETAIL_AT(pass))
KPROF_DETAIL_SHARED(scope_node, KPROF_DETAIL_AT(parent), KPROF_DETAIL_AT(thread),
                    KPROF_DETAIL_AT(kind), KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(name),
                    KPROF_DETAIL_AT(op), KPROF_DETAIL_AT(values), KPROF_DETAIL_AT(file),
                    KPROF_DETAIL_AT(line), KPROF_DETAIL_AT(work), KPROF_DETAIL_AT(brief),
                    KPROF_DETAIL_AT(beside), KPROF_DETAIL_AT(unshown), KPROF_DETAIL_AT(calls),
                    KPROF_DETAIL_AT(captured), KPROF_DETAIL_AT(unlaunched),
                    KPROF_DETAIL_AT(replays), KPROF_DETAIL_AT(unrecorded), KPROF_DETAIL_AT(open),
                    KPROF_DETAIL_AT(open_ns), KPROF_DETAIL_AT(total_ns), KPROF_DETAIL_AT(self_ns),
                    KPROF_DETAIL_AT(min_ns), KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(durations))
KPROF_DETAIL_SHARED(thread_info, KPROF_DETAIL_AT(id), KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(ended),
                    KPROF_DETAIL_AT(merged))
KPROF_DETAIL_SHARED(timeline_scope, KPROF_DETAIL_AT(node), KPROF_DETAIL_AT(start),
                    KPROF_DETAIL_AT(duration))
KPROF_DETAIL_SHARED(clock_info, KPROF_DETAIL_AT(source), KPROF_DETAIL_AT(ns_per_tick),
                    KPROF_DETAIL_AT(residual_ns), KPROF_DETAIL_AT(start_realtime_ns))
KPROF_DETAIL_SHARED(completeness, KPROF_DETAIL_AT(recorded), KPROF_DETAIL_AT(open),
                    KPROF_DETAIL_AT(never_closed), KPROF_DETAIL_AT(dropped),
                    KPROF_DETAIL_AT(dropped_inside), KPROF_DETAIL_AT(closed_by_parent),
                    KPROF_DETAIL_AT(closed_elsewhere), KPROF_DETAIL_AT(invalid),
                    KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(imprecise),
                    KPROF_DETAIL_AT(in_timeline), KPROF_DETAIL_AT(timeline_ns))
KPROF_DETAIL_SHARED(own_cost, KPROF_DETAIL_AT(scope_ns), KPROF_DETAIL_AT(empty_scope_ns),
                    KPROF_DETAIL_AT(recording_ns), KPROF_DETAIL_AT(folding_ns),
                    KPROF_DETAIL_AT(memory), KPROF_DETAIL_AT(memory_limit))
KPROF_DETAIL_SHARED(device_work, KPROF_DETAIL_AT(scope), KPROF_DETAIL_AT(task),
                    KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(kernel), KPROF_DETAIL_AT(device),
                    KPROF_DETAIL_AT(stream), KPROF_DETAIL_AT(grid), KPROF_DETAIL_AT(block),
                    KPROF_DETAIL_AT(registers), KPROF_DETAIL_AT(static_shared),
                    KPROF_DETAIL_AT(dynamic_shared), KPROF_DETAIL_AT(direction),
                    KPROF_DETAIL_AT(from), KPROF_DETAIL_AT(to), KPROF_DETAIL_AT(calls),
                    KPROF_DETAIL_AT(untimed), KPROF_DETAIL_AT(total_ns), KPROF_DETAIL_AT(min_ns),
                    KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(gaps), KPROF_DETAIL_AT(gap_ns),
                    KPROF_DETAIL_AT(bytes))
KPROF_DETAIL_SHARED(device_info, KPROF_DETAIL_AT(id), KPROF_DETAIL_AT(described),
                    KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(compute_major),
                    KPROF_DETAIL_AT(compute_minor), KPROF_DETAIL_AT(multiprocessors),
                    KPROF_DETAIL_AT(memory_bytes), KPROF_DETAIL_AT(memory_bytes_per_s),
                    KPROF_DETAIL_AT(clock_hz), KPROF_DETAIL_AT(busy_ns), KPROF_DETAIL_AT(sum_ns),
                    KPROF_DETAIL_AT(busy_is_exact))
KPROF_DETAIL_SHARED(device_completeness, KPROF_DETAIL_AT(launches), KPROF_DETAIL_AT(attributed),
                    KPROF_DETAIL_AT(outside), KPROF_DETAIL_AT(open), KPROF_DETAIL_AT(unknown),
                    KPROF_DETAIL_AT(records), KPROF_DETAIL_AT(launches_lost),
                    KPROF_DETAIL_AT(dropped), KPROF_DETAIL_AT(cut_buffers),
                    KPROF_DETAIL_AT(foreign_buffers), KPROF_DETAIL_AT(untimed),
                    KPROF_DETAIL_AT(ignored), KPROF_DETAIL_AT(odd), KPROF_DETAIL_AT(merged),
                    KPROF_DETAIL_AT(foreign_graphs), KPROF_DETAIL_AT(forgotten_graphs),
                    KPROF_DETAIL_AT(synchronizations), KPROF_DETAIL_AT(synchronizing_ns),
                    KPROF_DETAIL_AT(overhead_ns))
KPROF_DETAIL_SHARED(device_profile, KPROF_DETAIL_AT(collecting), KPROF_DETAIL_AT(state),
                    KPROF_DETAIL_AT(devices), KPROF_DETAIL_AT(kernels), KPROF_DETAIL_AT(work),
                    KPROF_DETAIL_AT(complete), KPROF_DETAIL_AT(collecting_ns))
KPROF_DETAIL_SHARED(profile, KPROF_DETAIL_AT(recording), KPROF_DETAIL_AT(state),
                    KPROF_DETAIL_AT(program), KPROF_DETAIL_AT(cpus), KPROF_DETAIL_AT(wall_ns),
                    KPROF_DETAIL_AT(paused_ns), KPROF_DETAIL_AT(threads),
                    KPROF_DETAIL_AT(operators), KPROF_DETAIL_AT(nodes), KPROF_DETAIL_AT(timeline),
                    KPROF_DETAIL_AT(device), KPROF_DETAIL_AT(clock), KPROF_DETAIL_AT(complete),
                    KPROF_DETAIL_AT(cost), KPROF_DETAIL_AT(notes))
KPROF_DETAIL_SHARED(owner_functions, KPROF_DETAIL_AT(build), KPROF_DETAIL_AT(arm),
                    KPROF_DETAIL_AT(start_with), KPROF_DETAIL_AT(start), KPROF_DETAIL_AT(stop),
                    KPROF_DETAIL_AT(pause), KPROF_DETAIL_AT(resume), KPROF_DETAIL_AT(snapshot),
                    KPROF_DETAIL_AT(report_settings), KPROF_DETAIL_AT(reported),
                    KPROF_DETAIL_AT(is_stream))
#undef KPROF_DETAIL_SHARED
#undef KPROF_DETAIL_AT

template <class... T>
struct shared_structs {
  /// Changes with the place and the size of every member. 32 bits of FNV-1a.
  static constexpr std::uint32_t layout_number() noexcept {
    std::uint32_t hash = 2166136261U;
    const auto mix = [&hash](std::size_t n) {
      hash = (hash ^ static_cast<std::uint32_t>(n)) * 16777619U;
    };
    const auto mix_all = [&mix](std::size_t size, const auto& members) {
      mix(size);
      for (const shared_member& m : members) {
        mix(m.offset);
        mix(m.size);
      }
    };
    (mix_all(sizeof(T), shared_layout<T>::members), ...);
    return hash;
  }

#if !KPROF_SESSION_ELSEWHERE
  /// Whether shared_layout has every member of `S`. Not known of a class that is no aggregate.
  template <class S>
  static constexpr bool is_complete() noexcept {
    std::size_t initialisers = 0;
    for (const shared_member& m : shared_layout<S>::members) initialisers += m.initialisers;
    return !std::is_aggregate_v<S> || initialisers == count_initialisers<S>();
  }
  static constexpr bool are_complete() noexcept { return (is_complete<T>() && ...); }
#endif
};
using all_shared_structs =
    shared_structs<status, report_options, option_setting, output_request, settings,
                   enumerator_name, operator_field, operator_info, parameter_values, histogram,
                   work_per_call, scope_node, thread_info, timeline_scope, clock_info, completeness,
                   own_cost, device_work, device_info, device_completeness, device_profile, profile,
                   owner_functions>;
inline constexpr std::uint32_t session_layout = all_shared_structs::layout_number();
#if !KPROF_SESSION_ELSEWHERE
static_assert(all_shared_structs::are_complete(),
              "shared_layout.hpp lacks a member of a struct that modules share");
#endif

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/shared_layout.hpp>

// <kprof/version.hpp>
#ifndef KPROF_VERSION_HPP
#define KPROF_VERSION_HPP

// The version of these headers. CMakeLists.txt and the single header read it from here.
// Include it to test for a feature; it costs nothing.

#define KPROF_VERSION_MAJOR 0
#define KPROF_VERSION_MINOR 1
#define KPROF_VERSION_PATCH 0

#endif  // <kprof/version.hpp>

#include <cstdint>
#include <string>  // with it the standard library's own macros

KPROF_DETAIL_BEGIN
namespace detail {

// What lays out std::string and std::vector, and with them a profile.
#if defined(_LIBCPP_VERSION)
#define KPROF_DETAIL_LIBRARY "libc++"
using standard_library = struct libcxx;
#elif defined(_GLIBCXX_DEBUG)
#define KPROF_DETAIL_LIBRARY "libstdc++ in debug mode"
using standard_library = struct libstdcxx_in_debug_mode;
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define KPROF_DETAIL_LIBRARY "libstdc++"
using standard_library = struct libstdcxx;
#else
#define KPROF_DETAIL_LIBRARY "libstdc++ with the old string"
using standard_library = struct libstdcxx_with_the_old_string;
#endif

/// The build as a type: in the name of a function that one file calls and a library defines, it
/// makes the linker tell which builds were mixed.
template <class StandardLibrary, int Major, int Minor, int Patch, std::uint32_t Layout>
struct build {};
using this_build = build<standard_library, KPROF_VERSION_MAJOR, KPROF_VERSION_MINOR,
                         KPROF_VERSION_PATCH, session_layout>;

#define KPROF_DETAIL_TEXT_(x) #x
#define KPROF_DETAIL_TEXT(x) KPROF_DETAIL_TEXT_(x)
/// The build as text, with the layout in hexadecimal at the end. Commits of one version differ in
/// it if they lay out differently what modules pass to each other.
struct build_text {
  char text[96] = "kprof " KPROF_DETAIL_TEXT(KPROF_VERSION_MAJOR) "." KPROF_DETAIL_TEXT(
      KPROF_VERSION_MINOR) "." KPROF_DETAIL_TEXT(KPROF_VERSION_PATCH) " " KPROF_DETAIL_LIBRARY
                                                                      " layout ";

  constexpr build_text() noexcept {
    std::uint32_t end = 0;
    while (text[end] != '\0') ++end;
    for (std::uint32_t digit = 0; digit < 8; ++digit)
      text[end + digit] = "0123456789abcdef"[session_layout >> (28 - 4 * digit) & 15U];
  }
};
inline constexpr build_text build_of_this_file{};
inline constexpr const char* session_build = build_of_this_file.text;
#undef KPROF_DETAIL_TEXT
#undef KPROF_DETAIL_TEXT_
#undef KPROF_DETAIL_LIBRARY

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/build_name.hpp>

// <kprof/session.hpp>
#ifndef KPROF_SESSION_HPP
#define KPROF_SESSION_HPP

// Start, stop and read a recording. There is one session a process, whichever binary made it;
// including kprof.hpp arms it so that it starts with the first scope. Every function may be called
// from any thread at any time, also while other threads are inside guards, from an atexit handler,
// and in the child of a fork, whose profile is its own. Want of memory is the error "out of memory"
// and harms nothing; functions that return nothing then do nothing.

// <kprof/report/text.hpp>
#ifndef KPROF_REPORT_TEXT_HPP
#define KPROF_REPORT_TEXT_HPP

// The report for people: a profile as a page of text, with the tables of operators, kernels and
// copies, the call tree and an account of what was not seen. Include it to print a profile; it is
// the output "report". No line is wider than asked. Linear in the profile, sorting aside.

#if !KPROF_SESSION_ELSEWHERE

// <kprof/report/text/report_output.hpp>
#ifndef KPROF_REPORT_TEXT_REPORT_OUTPUT_HPP
#define KPROF_REPORT_TEXT_REPORT_OUTPUT_HPP

// The text report as an output: its table of options. Included by text.hpp. An option is one line
// of the table and a member of report_options.

// <kprof/report/table/grouping_options.hpp>
#ifndef KPROF_REPORT_TABLE_GROUPING_OPTIONS_HPP
#define KPROF_REPORT_TABLE_GROUPING_OPTIONS_HPP

// The options `by` and `fold`, which every output has that prints a table. Included by the outputs.

// <kprof/model/check_grouping.hpp>
#ifndef KPROF_MODEL_CHECK_GROUPING_HPP
#define KPROF_MODEL_CHECK_GROUPING_HPP

// Whether the fields that a grouping names are fields of operators of a profile. The text of a
// grouping is read before there is a profile; its names are looked up here. Included by the
// outputs and by tables.hpp. Pure.

// <kprof/model/field_paths.hpp>
#ifndef KPROF_MODEL_FIELD_PATHS_HPP
#define KPROF_MODEL_FIELD_PATHS_HPP

// Fields of operators by their paths: where the value lies, the single values that an operator has,
// and parameters without the fields that a grouping folds. Included by the grouping of rows. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A field that a path names, or an element of it.
struct path_target {
  const operator_field* field = nullptr;
  bool is_element = false;
};

/// Follows a path through fields; skip_field(f) and skip_element(f) are called for what lies before
/// the target in packed values. A path without an index names the whole array.
template <class SkipField, class SkipElement>
path_target follow_path(const std::vector<operator_field>& from, std::string_view path,
                        SkipField skip_field, SkipElement skip_element) {
  const std::vector<operator_field>* fields = &from;
  for (;;) {
    const std::string_view name = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(name.size());
    const bool has_index = !path.empty() && path[0] == '[';
    const std::uint32_t index = take_index(path);
    const operator_field* found = nullptr;
    for (const operator_field& f : *fields) {
      if (f.name == name) {
        found = &f;
        break;
      }
      skip_field(f);
    }
    if (found == nullptr || index >= (found->extent == 0 ? 1 : found->extent)) return {};
    for (std::uint32_t i = 0; i < index; ++i) skip_element(*found);
    if (path.empty()) return {found, has_index || found->extent == 0};
    if (path[0] != '.' || found->kind != parameter_kind::aggregate) return {};
    path.remove_prefix(1);
    fields = &found->fields;
  }
}

/// Whether the operator has such a field.
inline bool has_field(const operator_info& op, std::string_view path) {
  const auto skip = [](const operator_field&) {};
  return follow_path(op.fields, path, skip, skip).field != nullptr;
}

/// Whether it is one value, and no array or nested struct.
inline bool is_single(const operator_info& op, std::string_view path) {
  const auto skip = [](const operator_field&) {};
  const path_target at = follow_path(op.fields, path, skip, skip);
  return at.field != nullptr && at.is_element && at.field->kind != parameter_kind::aggregate;
}

/// The text of a field of a call; false where it has none.
inline bool field_text(const operator_info& op, const parameter_values& values,
                       std::string_view path, std::string& out) {
  if (values.empty()) return false;
  parameter_cursor from(values.packed);
  const path_target at = follow_path(
      op.fields, path, [&](const operator_field& f) { from.skip_all(f); },
      [&](const operator_field& f) { from.skip(f); });
  if (at.field == nullptr || from.at_end()) return false;
  if (at.is_element) append_element(out, *at.field, from);
  else append_field(out, *at.field, from);
  return true;
}

/// A single value that calls of an operator have, in the order in which they are packed.
struct field_leaf {
  const operator_field* field = nullptr;
  std::string path{};
  bool folded = false;
};

/// The single values of an operator. An operator has no more than `most` that can be told apart;
/// what lies behind them is never folded.
class operator_leaves {
 public:
  static constexpr std::size_t most = 4096;

  operator_leaves() = default;
  operator_leaves(const operator_info& op, const std::vector<std::string>& folded)
      : folded_(folded) {
    std::string path;
    add(op.fields, path);
    for (const field_leaf& leaf : leaves_) any_folded_ = any_folded_ || leaf.folded;
  }

  const std::vector<field_leaf>& all() const noexcept { return leaves_; }
  bool any_folded() const noexcept { return any_folded_; }

  /// Packed values without the folded ones.
  std::string without_folded(std::string_view packed) const {
    std::string out;
    parameter_cursor from(packed);
    for (const field_leaf& leaf : leaves_) {
      const std::size_t before = packed.size() - from.left();
      from.skip(*leaf.field);
      if (!leaf.folded) out += packed.substr(before, packed.size() - from.left() - before);
    }
    return out += packed.substr(packed.size() - from.left());
  }

  /// parameter_text() without the folded values.
  std::string text_without_folded(const operator_info& op, std::string_view packed) const {
    std::string out;
    parameter_cursor from(packed);
    std::size_t leaf = 0;
    append_kept(out, op.fields, from, leaf);
    return out;
  }

 private:
  // "shape" folds "shape[0]", "epilogue" folds "epilogue.scale".
  bool is_folded(std::string_view path) const noexcept {
    for (const std::string& f : folded_)
      if (path.starts_with(f) &&
          (path.size() == f.size() || path[f.size()] == '[' || path[f.size()] == '.'))
        return true;
    return false;
  }

  void add(const std::vector<operator_field>& fields, std::string& path) {
    const std::size_t above = path.size();
    for (const operator_field& f : fields)
      for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i) {
        if (leaves_.size() >= most) return;
        path += f.name;
        if (f.extent != 0) path += '[' + std::to_string(i) + ']';
        if (f.kind == parameter_kind::aggregate) {
          path += '.';
          add(f.fields, path);
        } else {
          leaves_.push_back({&f, path, is_folded(path)});
        }
        path.resize(above);
      }
  }

  // Each returns whether something was kept.
  bool append_kept(std::string& out, const std::vector<operator_field>& fields,
                   parameter_cursor& from, std::size_t& leaf) const {
    const std::size_t begin = out.size();
    bool kept = fields.empty();
    for (const operator_field& f : fields) {
      const std::size_t before = out.size();
      if (before != begin) out += ' ';
      out += f.name;
      out += '=';
      const bool shown = append_kept_field(out, f, from, leaf);
      if (!shown) out.resize(before);
      kept = kept || shown;
    }
    return kept;
  }
  bool append_kept_field(std::string& out, const operator_field& f, parameter_cursor& from,
                         std::size_t& leaf) const {
    if (f.extent == 0) {
      const std::size_t before = out.size();
      return append_kept_element(out, f, from, leaf) &&
             (f.kind != parameter_kind::enumeration ||
              std::string_view{out}.substr(before) != "unknown");
    }
    bool kept = false;
    for (std::uint32_t i = 0; i < f.extent; ++i) {
      out += i == 0 ? '[' : ',';
      if (append_kept_element(out, f, from, leaf)) kept = true;
      else out += "\u2026";
      if (leaf >= leaves_.size() && from.at_end()) break;
    }
    out += ']';
    return kept;
  }
  bool append_kept_element(std::string& out, const operator_field& f, parameter_cursor& from,
                           std::size_t& leaf) const {
    if (f.kind != parameter_kind::aggregate) {
      const bool folded = leaf < leaves_.size() && leaves_[leaf].folded;
      ++leaf;
      if (folded) from.skip(f);
      else append_element(out, f, from);
      return !folded;
    }
    const std::size_t before = out.size();
    out += '{';
    const bool kept = append_kept(out, f.fields, from, leaf);
    if (kept) out += '}';
    else out.resize(before);
    return kept;
  }

  std::vector<std::string> folded_;
  std::vector<field_leaf> leaves_;
  bool any_folded_ = false;
};

/// The leaves of the operators of a profile.
class profile_leaves {
 public:
  profile_leaves(const profile& p, const std::vector<std::string>& folded)
      : p_(p), folded_(folded), made_(p.operators.size()), leaves_(p.operators.size()) {}

  /// Of the operator of a node, which has one.
  const operator_leaves& of(const scope_node& n) {
    if (!made_[n.op]) leaves_[n.op] = operator_leaves(p_.operators[n.op], folded_);
    made_[n.op] = true;
    return leaves_[n.op];
  }
  /// Whether parameters of a node lack fields that are folded.
  bool lacks_folded(const scope_node& n) {
    return !folded_.empty() && n.op < p_.operators.size() && !n.values.empty() &&
           of(n).any_folded();
  }
  /// The text of its parameters, without those folded.
  std::string text(const scope_node& n) {
    return lacks_folded(n) ? of(n).text_without_folded(p_.operators[n.op], n.values.packed)
                           : parameter_text(p_, n);
  }

 private:
  const profile& p_;
  const std::vector<std::string>& folded_;
  std::vector<bool> made_;
  std::vector<operator_leaves> leaves_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/field_paths.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A grouping as far as a profile has what it names.
struct checked_grouping {
  grouping value;  ///< without the fields that no operator has; by parameters where no key is left
  std::vector<std::string> complaints;  ///< a line for each of them, fit to print
};

namespace detail {

/// How many letters must be put in, left out or replaced to make one word of the other.
[[gnu::cold]] inline std::size_t word_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = 2 * j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = 2 * (i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      // Letters that differ in case only are nearer than others.
      const std::size_t differ = a[i] == b[j] ? 0 : lower(a[i]) == lower(b[j]) ? 1 : 2;
      const std::size_t here = std::min({row[j] + 2, row[j + 1] + 2, corner + differ});
      corner = std::exchange(row[j + 1], here);
    }
  }
  return row[b.size()];
}

/// The fields of the operators of a profile, each once, in their order; nested ones by their path,
/// arrays as a whole.
[[gnu::cold]] inline std::vector<std::string> field_names(const profile& p) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, const std::vector<operator_field>*>> todo;
  for (const operator_info& op : p.operators) todo.emplace_back("", &op.fields);
  for (std::size_t i = 0; i < todo.size() && names.size() < 1000; ++i) {
    const std::string prefix = todo[i].first;
    for (const operator_field& f : *todo[i].second) {
      const std::string name = prefix + f.name;
      if (f.kind == parameter_kind::aggregate && todo.size() < 1000)
        todo.emplace_back(name + (f.extent == 0 ? "." : "[0]."), &f.fields);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// `written`: "by=op+Q" or "fold=Q".
[[gnu::cold]] inline std::string no_such_field(const profile& p, const std::string& written,
                                               const std::string& path, bool is_key) {
  std::vector<std::string> names = field_names(p);
  std::string text = printable(written, 60) + ": no operator of this run has a field \"" +
                     printable(path, 60) + '"';
  std::vector<std::string> candidates = names;
  if (is_key)
    candidates.insert(candidates.end(), std::begin(group_key_words), std::end(group_key_words));
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, path.size() < 100 ? path.size() / 3 * 2 : 0) + 1;
  for (const std::string& name : candidates)
    if (const std::size_t d = path.size() > 100 ? least : word_distance(path, name); d < least)
      least = d, nearest = name;
  if (!nearest.empty()) text += "; did you mean " + printable(nearest, 60) + '?';
  if (names.empty()) return text + "; its operators have no fields";
  text += nearest.empty() ? "; fields: " : " Fields: ";
  constexpr std::size_t most = 30;
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    text.append(i == 0 ? "" : ", ").append(printable(names[i], 60));
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

[[gnu::cold]] inline bool any_has_field(const profile& p, std::string_view path) {
  return std::any_of(p.operators.begin(), p.operators.end(),
                     [&](const operator_info& op) { return has_field(op, path); });
}

}  // namespace detail

/// Looks up what a grouping names. A run without operators has nothing to complain of.
///     const auto by = kprof::check_grouping(run, kprof::grouping::field("M"));
///     for (const std::string& line : by.complaints) std::puts(line.c_str());
[[gnu::cold]] inline checked_grouping check_grouping(const profile& p, const grouping& by) {
  checked_grouping out{grouping::nothing(), {}};
  bool left_out = false;
  for (const detail::group_part& part : by.keys()) {
    const bool known = part.kind != group_key::field || p.operators.empty() ||
                       detail::any_has_field(p, part.field);
    if (known)
      out.value = out.value + (part.kind == group_key::field ? grouping::field(part.field)
                                                             : grouping(part.kind));
    else out.complaints.push_back(detail::no_such_field(p, "by=" + by.text(), part.field, true));
    left_out = left_out || !known;
  }
  if (left_out && out.value.text().empty()) out.value = grouping::parameters;
  std::vector<std::string> folded;
  for (const std::string& path : by.folded())
    if (p.operators.empty() || detail::any_has_field(p, path)) folded.push_back(path);
    else out.complaints.push_back(detail::no_such_field(p, "fold=" + path, path, false));
  out.value = out.value.folding(std::move(folded));
  return out;
}

KPROF_DETAIL_END

#endif  // <kprof/model/check_grouping.hpp>

// <kprof/report/text/format.hpp>
#ifndef KPROF_REPORT_TEXT_FORMAT_HPP
#define KPROF_REPORT_TEXT_FORMAT_HPP

// Numbers as a terminal can show them, and with them foreign text (printable.hpp). Included by the
// text reports. Pure; no locale: what a program sets with setlocale() changes nothing.

// <kprof/model/names.hpp>
#ifndef KPROF_MODEL_NAMES_HPP
#define KPROF_MODEL_NAMES_HPP

// The names of element types and passes, as tables show them. Included by the tables and the
// outputs. Pure.

#include <cstddef>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

inline const char* dtype_name(dtype type) noexcept {
  static constexpr const char* names[] = {
      "unknown",  "f64",      "f32",      "tf32",  "f16",   "bf16",    "fp8_e4m3", "fp8_e5m2",
      "fp6_e2m3", "fp6_e3m2", "fp4_e2m1", "int64", "int32", "int16",   "int8",     "int4",
      "uint64",   "uint32",   "uint16",   "uint8", "uint4", "boolean", "c64",      "c128"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<std::size_t>(dtype::c128) + 1);
  return static_cast<std::size_t>(type) < sizeof(names) / sizeof(names[0])
             ? names[static_cast<std::size_t>(type)]
             : "unknown";
}

inline const char* pass_name(pass_kind pass) noexcept {
  static constexpr const char* names[] = {"unknown", "fprop", "bprop",  "dgrad",
                                          "wgrad",   "bgrad", "update", "recompute"};
  static_assert(sizeof(names) / sizeof(names[0]) ==
                static_cast<std::size_t>(pass_kind::recompute) + 1);
  return static_cast<std::size_t>(pass) < sizeof(names) / sizeof(names[0])
             ? names[static_cast<std::size_t>(pass)]
             : "unknown";
}

/// unknown where it is no pass's name.
inline pass_kind pass_of_name(std::string_view name) noexcept {
  for (auto i = static_cast<int>(pass_kind::recompute); i > 0; --i)
    if (name == pass_name(static_cast<pass_kind>(i))) return static_cast<pass_kind>(i);
  return pass_kind::unknown;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/names.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// 1234567 as "1,234,567".
inline std::string format_count(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
  return out;
}

/// "1 kernel", "12 kernels".
inline std::string counted(std::uint64_t n, const char* one, const char* many) {
  return format_count(n) + ' ' + (n == 1 ? one : many);
}

/// `x` (not negative, below 10^15) with so many decimals (0 to 3), rounded.
inline std::string format_fixed(double x, unsigned decimals) {
  static constexpr double scales[] = {1, 10, 100, 1000};
  const auto scale = static_cast<std::uint64_t>(scales[decimals]);
  const auto n = static_cast<std::uint64_t>(std::floor(x * scales[decimals] + 0.5));
  std::string out = format_count(n / scale);
  if (decimals == 0) return out;
  const std::string fraction = std::to_string(n % scale);
  return out + '.' + std::string(decimals - fraction.size(), '0') + fraction;
}

/// Three significant digits, no fewer than those before the point: 1.23, 12.3, 123, 1,234.
inline std::string format_3(double x) {
  if (!(x >= 0)) return "n/a";
  if (x >= 1e15) return ">10^15";
  return format_fixed(x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
}

struct scaled_unit {
  double size;
  const char* name;
};
template <std::size_t N>
std::string format_scaled(double x, const scaled_unit (&units)[N]) {
  std::size_t u = 0;
  // 999.5 ns is printed as 1.00 us, not as 1,000 ns
  while (u + 1 < N && x >= units[u + 1].size * 0.9995) ++u;
  return format_3(x / units[u].size) + units[u].name;
}

/// A duration: "0 ns", "0.31 ns", "12.3 µs", "812 ms", "1,234 s".
inline std::string format_time(double ns, bool ascii = false) {
  static constexpr scaled_unit units[] = {{1, " ns"}, {1e3, " \u00B5s"}, {1e6, " ms"}, {1e9, " s"}};
  static constexpr scaled_unit ascii_units[] = {
      {1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}};
  if (!(ns >= 0) || std::isinf(ns)) return "n/a";
  if (ns == 0) return "0 ns";
  if (ns < 0.01) return "<0.01 ns";
  return format_scaled(ns, ascii ? ascii_units : units);
}

/// A number with a decimal prefix: "512", "1.05 M", "2.10 G".
inline std::string format_si(double x) {
  static constexpr scaled_unit units[] = {{1, ""},      {1e3, " k"},  {1e6, " M"}, {1e9, " G"},
                                          {1e12, " T"}, {1e15, " P"}, {1e18, " E"}};
  if (!(x >= 0) || std::isinf(x)) return "n/a";
  if (x < 1000 && x == std::floor(x)) return format_count(static_cast<std::uint64_t>(x));
  return format_scaled(x, units);
}

/// Memory: "512 B", "12.0 MiB".
inline std::string format_memory(std::uint64_t bytes) {
  static constexpr scaled_unit units[] = {{1, " B"},
                                          {1024, " KiB"},
                                          {1048576.0, " MiB"},
                                          {1073741824.0, " GiB"},
                                          {1099511627776.0, " TiB"}};
  if (bytes < 1000) return format_count(bytes) + " B";
  return format_scaled(static_cast<double>(bytes), units);
}

/// A rate or ratio in the unit that its column's header names: "0.012", "1.23", "15,210".
inline std::string format_rate(double x) {
  if (!(x >= 0) || std::isinf(x)) return "n/a";
  if (x == 0) return "0";
  if (x < 0.0005) return "<0.001";
  return x < 0.9995 ? format_fixed(x, 3) : format_3(x);
}

/// 0.474 as "47.4%".
inline std::string format_share(double share) {
  if (!(share >= 0) || share > 1e9) return "n/a";
  if (share == 0) return "0%";
  if (share < 0.0005) return "<0.1%";
  return format_fixed(share * 100, 1) + '%';
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/format.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status check_by_option(const option_value& value) {
  return grouping::parse(value.text).error;
}
[[gnu::cold]] inline status check_fold_option(const option_value& value) {
  for (const std::string& path : value.words())
    if (!is_field_path(path))
      return {
          "fold=" + printable(value.text, 60) + ": \"" + printable(path, 60) +
          "\" is no name of a field; write it as M, shape[0] or epilogue.scale; + joins fields"};
  return {};
}

/// `Options` has the members `by` and `fold`.
template <class Options>
constexpr option by_option() noexcept {
  return {.name = "by",
          .kind = option_kind::list,
          .form = "KEY+KEY",
          .fallback = "parameters",
          .meaning =
              "what the calls of a row have in common: `op`, `parameters`, `pass`, `dtype`, "
              "`region`, `layer`, `thread`, `call_site` and fields by their names",
          .validate = &check_by_option,
          .store = &store_member<&Options::by>};
}
template <class Options>
constexpr option fold_option() noexcept {
  return {.name = "fold",
          .kind = option_kind::list,
          .form = "FIELD+FIELD",
          .meaning = "fields that do not make parameters differ: a row has their range",
          .validate = &check_fold_option,
          .store = &store_member<&Options::fold>};
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/table/grouping_options.hpp>

// <kprof/report/text/text_plan.hpp>
#ifndef KPROF_REPORT_TEXT_TEXT_PLAN_HPP
#define KPROF_REPORT_TEXT_TEXT_PLAN_HPP

// The plan of a text report: its options, checked, and the sums that its sections share. Included
// by the sections.

// <kprof/model/device_sums.hpp>
#ifndef KPROF_MODEL_DEVICE_SUMS_HPP
#define KPROF_MODEL_DEVICE_SUMS_HPP

// The device's work added up over the scopes that launched it, and what was launched in no
// operator. Included by the summaries. Pure; linear in profile::nodes and device_profile::work.

// <kprof/model/kernel_name.hpp>
#ifndef KPROF_MODEL_KERNEL_NAME_HPP
#define KPROF_MODEL_KERNEL_NAME_HPP

// Names of kernels for people: what the compiler mangled is made readable, and what is long is made
// short. Included by the tables of kernels. Pure; linear in the name, whatever it holds. A name
// that is not mangled (extern "C") stays as it is.

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
inline bool is_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/// Reads "6kernel" at `at` and goes behind it; empty, and `at` stays, where no name stands there.
inline std::string_view source_name(std::string_view mangled, std::size_t& at) noexcept {
  std::size_t length = 0, from = at;
  for (; from < mangled.size() && is_digit(mangled[from]) && length <= mangled.size(); ++from)
    length = length * 10 + static_cast<std::size_t>(mangled[from] - '0');
  if (from == at || length == 0 || length > mangled.size() - from) return {};
  at = from + length;
  return mangled.substr(from, length);
}

/// The function's name with its namespaces, as far as it can be read without a demangler: names up
/// to the first template argument, or whatever else is no plain name. `at` is then behind them.
inline std::vector<std::string_view> leading_names(std::string_view mangled, std::size_t& at) {
  std::vector<std::string_view> names;
  at = 2;
  const auto skip = [&](std::string_view any_of) {
    while (at < mangled.size() && any_of.find(mangled[at]) != std::string_view::npos) ++at;
  };
  const bool nested = mangled.substr(at).starts_with('N');
  skip("N");
  for (;;) {
    skip("KLVr");
    const std::string_view name = source_name(mangled, at);
    if (!name.empty()) names.push_back(name);
    if (name.empty() || !nested) return names;
  }
}

/// The end of a reference "S_", "S1A_" or "T0_" at `at`, and which one it is: 0, 1, ...; `at`
/// itself where there is none.
inline std::size_t reference_end(std::string_view mangled, std::size_t at,
                                 std::size_t& number) noexcept {
  std::size_t end = at + 1;
  number = 0;
  if (mangled[at] != 'S' && mangled[at] != 'T') return at;
  for (; end < mangled.size() && end < at + 6 &&
         (is_digit(mangled[end]) || (mangled[end] >= 'A' && mangled[end] <= 'Z'));
       ++end)
    number =
        number * 36 + static_cast<std::size_t>(is_digit(mangled[end]) ? mangled[end] - '0'
                                                                      : mangled[end] - 'A' + 10);
  if (end >= mangled.size() || mangled[end] != '_') return at;
  if (end > at + 1) ++number;  // S_ is the first, S0_ the second
  return end + 1;
}

/// Whether __cxa_demangle may be given this. A mangled name refers back to its own parts, and each
/// reference can repeat all that came before: 1 KB of them is 2^80 characters. Of n references the
/// text can grow 3^(n/3)-fold, by each expansion of a pack as often as the pack has elements.
/// References to the plain names at the front, by far the most, repeat nothing but these. Counted
/// too is what only looks like a reference. What passes here becomes 10 MB at the worst.
inline bool may_be_demangled(const std::string& mangled) {
  if (mangled.size() > 4096 || mangled.find('\0') != std::string::npos) return false;
  std::size_t at = 0;
  const std::size_t plain = leading_names(mangled, at).size();
  std::size_t references = 0, parameters = 0, expansions = 0;
  for (std::size_t i = 2; i + 1 < mangled.size(); ++i) {
    const char c = mangled[i];
    if ((c == 'D' || c == 's') && mangled[i + 1] == 'p') ++expansions;
    std::size_t number = 0;
    if (reference_end(mangled, i, number) == i) continue;
    if (c == 'T') ++parameters;
    else if (number >= plain) ++references;
  }
  return references + parameters + (parameters > 0 ? 16 * expansions : 0) <= 32;
}

// ---- shortening what the demangler wrote

/// The end of the group in brackets that begins at `at`.
inline std::size_t group_end(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    else if ((c == '>' && text[at - 1] != '-') || c == ')' || c == ']' || c == '}')
      if (--depth == 0) return at + 1;
  }
  return at;
}

inline constexpr std::string_view no_name_space = "(anonymous namespace)";

/// What stands between commas, without the spaces around it.
inline std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    std::string_view part = text.substr(from, to - from);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.push_back(part);
    from = to + 1;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ',') add(at);
    at = c == '<' || c == '(' || c == '[' || c == '{' ? group_end(text, at) : at + 1;
  }
  if (!text.empty()) add(text.size());
  return parts;
}

inline constexpr std::size_t longest_nested = 24;  // arguments of an argument that are still shown
inline constexpr std::size_t longest_list = 72;    // the rest of the arguments is "..."

inline std::string short_arguments(std::string_view inside, unsigned depth);

/// A template argument: types lose their namespaces, "(Layout)1" its cast, "128u" its suffix, long
/// arguments of their own become "<...>".
inline std::string short_argument(std::string_view text, unsigned depth) {
  if (text.starts_with('(')) {
    const std::string_view rest = text.substr(group_end(text, 0));
    if (!rest.empty() && (is_digit(rest[0]) || rest[0] == '-')) text = rest;
  }
  if (!text.empty() && (is_digit(text[0]) || text[0] == '-')) {
    while (text.size() > 1 && (text.back() == 'u' || text.back() == 'l')) text.remove_suffix(1);
    return std::string{text};
  }
  std::string out;
  std::size_t begin = 0;  // of the qualified name that is being written
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool in_name =
        at > 0 && (is_word(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '>' ||
                   text[at - 1] == ')' || text[at - 1] == '}');
    if (text.substr(at).starts_with("::")) {
      out.resize(begin);
      at += 2;
      continue;
    }
    if (text.substr(at).starts_with(no_name_space)) {
      if (!in_name) begin = out.size();
      at += no_name_space.size();
      continue;
    }
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      const std::size_t end = group_end(text, at);
      const std::string_view group = text.substr(at, end - at);
      if (c != '<' && !in_name) begin = out.size();
      if (c == '<' && depth == 1 && group.size() <= longest_nested + 2 && group.ends_with('>'))
        out += '<' + short_arguments(group.substr(1, group.size() - 2), depth + 1) + '>';
      else if (c == '<') out += "<...>";
      else if (group.starts_with("{lambda"))
        out.append("{lambda").append(
            group.substr(std::min(group.rfind(')'), group.size() - 1) + 1));
      else
        out.append(group.size() <= longest_nested ? group
                   : c == '('                     ? "(...)"
                   : c == '{'                     ? "{...}"
                                                  : "[...]");
      at = end;
      continue;
    }
    if (!in_name) begin = out.size();
    out += c;
    ++at;
  }
  return out;
}

inline std::string short_arguments(std::string_view inside, unsigned depth) {
  std::string out;
  for (const std::string_view part : split_arguments(inside)) {
    if (!out.empty()) out += ", ";
    if (out.size() >= longest_list) return out + "...";
    out += short_argument(part, depth);
  }
  return out;
}

/// The function of what the demangler wrote: without the type that it returns and its parameters.
inline std::string_view function_of(std::string_view text) noexcept {
  if (text.starts_with("void ")) text.remove_prefix(5);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '(' && !text.substr(at).starts_with(no_name_space) &&
        !text.substr(0, at).ends_with("operator"))
      return text.substr(0, at);
    at = c == '<' || c == '(' || c == '[' || c == '{' ? group_end(text, at) : at + 1;
  }
  return text;
}

/// Every kernel of CUTLASS is an instance of one of these, which its argument tells apart.
inline bool is_cutlass_entry(std::string_view name) noexcept {
  return name == "cutlass::Kernel" || name == "cutlass::Kernel2" ||
         name == "cutlass::device_kernel";
}

inline std::string short_demangled(std::string_view demangled) {
  const std::string_view text = function_of(demangled);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    while (at < text.size() && text[at] != '<' && !text.substr(at).starts_with("::"))
      at = text[at] == '(' || text[at] == '{' || text[at] == '[' ? group_end(text, at) : at + 1;
    const std::string_view name = text.substr(from, at - from);
    // Of these the compiler makes what is local to a file.
    const bool shown =
        name != no_name_space && !name.starts_with("_INTERNAL_") && !name.starts_with("_GLOBAL__N");
    if (shown) out.append(out.empty() ? "" : "::").append(name);
    if (at < text.size() && text[at] == '<') {
      const std::size_t end = group_end(text, at);
      const std::string_view inside =
          text.substr(at + 1, end - at - (text[end - 1] == '>' ? 2 : 1));
      at = end;
      if (at == text.size() && is_cutlass_entry(out) && split_arguments(inside).size() == 1)
        return short_argument(split_arguments(inside)[0], 1);
      if (shown) out += '<' + short_arguments(inside, 1) + '>';
    }
    if (text.substr(at).starts_with("::")) at += 2;
    else if (at == from) ++at;
  }
  return out.empty() ? std::string{demangled} : out;
}

/// Of a name that cannot be demangled, the names at its front: "cutlass::device_kernel<...>".
inline std::string short_mangled(std::string_view mangled) {
  std::size_t at = 0;
  const std::vector<std::string_view> names = leading_names(mangled, at);
  std::string out;
  for (const std::string_view name : names)
    if (!name.starts_with("_INTERNAL_") && !name.starts_with("_GLOBAL__N"))
      out.append(out.empty() ? "" : "::").append(name);
  if (out.empty()) return std::string{mangled};
  if (at >= mangled.size() || mangled[at] != 'I') return out;
  if (!is_cutlass_entry(out)) return out + "<...>";
  // The first argument's own name: N, then references to namespaces and names.
  std::string_view last;
  for (++at; at < mangled.size();) {
    std::size_t number = 0;
    if (const std::size_t end = reference_end(mangled, at, number); end != at) at = end;
    else if (mangled[at] == 'N') ++at;
    else if (const std::string_view name = source_name(mangled, at); !name.empty()) last = name;
    else break;
  }
  if (last.empty()) return out + "<...>";
  return std::string{last} + (at < mangled.size() && mangled[at] == 'I' ? "<...>" : "");
}

}  // namespace detail

/// A kernel's whole name, readable: "void gemm<float, 128>(float*, int)". As it is where it is not
/// mangled, or where the demangler does not understand it; that of libstdc++ gives up at 1,024
/// characters.
inline std::string kernel_name(std::string_view mangled) {
  std::string name{mangled};
  if (!name.starts_with("_Z") || !detail::may_be_demangled(name)) return name;
  int error = 0;
  char* const readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &error);
  if (error == 0 && readable != nullptr) name = readable;
  std::free(readable);
  return name;
}

/// The same, short: no parameters, and template arguments without their namespaces and long
/// arguments of their own: "ns::gemm<float, 128, Tile<64, 64>>". Two kernels may have the same.
/// Takes a mangled name or what kernel_name() made of it. A CUTLASS kernel is named after the
/// argument of `cutlass::Kernel2`.
inline std::string short_kernel_name(std::string_view name) {
  const std::string whole = kernel_name(name);
  if (whole.starts_with("_Z")) return detail::short_mangled(whole);
  return whole.find_first_of("(<") == std::string::npos ? whole : detail::short_demangled(whole);
}

KPROF_DETAIL_END

#endif  // <kprof/model/kernel_name.hpp>

// <kprof/model/node_walk.hpp>
#ifndef KPROF_MODEL_NODE_WALK_HPP
#define KPROF_MODEL_NODE_WALK_HPP

// Going through the nodes of a profile, and telling which belong together. Included by the
// summaries. A profile whose parents are wrong or whose times are negative is survived: such a
// parent is none, such a time 0.

// <kprof/model/figure.hpp>
#ifndef KPROF_MODEL_FIGURE_HPP
#define KPROF_MODEL_FIGURE_HPP

// What the tables share: a number that may not be known. Included by the summaries. Pure.

#include <cstdint>

KPROF_DETAIL_BEGIN

/// Why a number is not known. Where several reasons hold, the last of them is told.
enum class absence : std::uint8_t {
  none,             ///< it is known
  no_calls,         ///< no call has finished
  graphs_only,      ///< a host time of calls that were made by replaying CUDA graphs, and have none
  not_replayed,     ///< the calls were captured into a CUDA graph that was not replayed
  no_time,          ///< it took no time that the clock could see
  no_launch,        ///< the launch of no kernel, copy or memset of its own was seen
  not_all_records,  ///< records of work on the device have not come
  untimed,          ///< CUPTI gave no time for some of the work on the device
  lost,             ///< kprof had no memory to note some launches of work on the device
  dropped,          ///< records of work on the device were dropped
  several_kernels,  ///< a formula's value is shared by several kernels
  zero_bytes,       ///< a division by the bytes of calls that move none
  merged,           ///< kprof had no memory to keep the calls' parameters
  invalid,      ///< the parameters of some calls are invalid, or a formula gives no number for them
  no_bytes,     ///< bytes() is not declared
  no_flops,     ///< flops() is not declared
  no_operator,  ///< there is no operator whose formula would say
};

/// A number, or why there is none.
struct figure {
  double value = 0;
  absence why = absence::none;
  constexpr bool known() const noexcept { return why == absence::none; }
};

namespace detail {

inline double not_negative(double x) noexcept { return x > 0 ? x : 0; }  // NaN is 0 too

inline figure ratio(figure a, double b, absence when_zero) noexcept {
  if (!a.known()) return a;
  return b > 0 ? figure{a.value / b} : figure{0, when_zero};
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/figure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Numbers things as they first appear: 0, 1, ... The things themselves, and their hashes, are the
/// caller's. A table of words without a node for each entry: with 100,000 rows that takes half of
/// std::unordered_map's time.
class numbering {
 public:
  /// `expected`: how many different things there may be.
  explicit numbering(std::size_t expected) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    slots_.resize(size);
  }

  /// The number of the thing with this hash for which is_it(number) says so; that of a new one, if
  /// there is none.
  template <class IsIt>
  std::uint32_t of(std::uint64_t hash, IsIt is_it) {
    if (2 * count_ >= slots_.size()) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = tag;; ++at) {
      slot& s = slots_[at & (slots_.size() - 1)];
      if (s.number == empty) {
        s = {tag, count_};
        return count_++;
      }
      if (s.tag == tag && is_it(s.number)) return s.number;
    }
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  struct slot {
    std::uint32_t tag = 0;
    std::uint32_t number = empty;
  };

  void grow() {
    std::vector<slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.number == empty) continue;
      std::size_t at = s.tag;
      while (slots_[at & (slots_.size() - 1)].number != empty) ++at;
      slots_[at & (slots_.size() - 1)] = s;
    }
  }

  std::vector<slot> slots_;  // a power of two
  std::uint32_t count_ = 0;
};

/// Numbers for the distinct texts of a profile, which must outlive it.
class text_numbers {
 public:
  explicit text_numbers(std::size_t expected = 0) : numbers_(expected) {}
  std::uint32_t of(std::string_view text) {
    const std::uint32_t number = numbers_.of(std::hash<std::string_view>{}(text),
                                             [&](std::uint32_t i) { return texts_[i] == text; });
    if (number == texts_.size()) texts_.push_back(text);
    return number;
  }

 private:
  numbering numbers_;
  std::vector<std::string_view> texts_;
};

struct row_key {
  std::uint32_t part[6] = {};
  friend bool operator==(const row_key&, const row_key&) = default;
};

/// Numbers for the distinct keys.
class key_numbers {
 public:
  explicit key_numbers(std::size_t expected) : numbers_(expected) {}
  /// The key's number, and whether it is new.
  std::pair<std::uint32_t, bool> of(const row_key& key) {
    std::uint64_t hash = 0;
    for (const std::uint32_t part : key.part)
      hash = (hash ^ part) * 0x9E3779B97F4A7C15U, hash ^= hash >> 32U;
    const std::uint32_t number =
        numbers_.of(hash, [&](std::uint32_t i) { return keys_[i] == key; });
    const bool is_new = number == keys_.size();
    if (is_new) keys_.push_back(key);
    return {number, is_new};
  }

 private:
  numbering numbers_;
  std::vector<row_key> keys_;
};

/// The part of a row's key by which calls of the same operator's name differ beside their values:
/// the operator itself, and whether the values were not kept.
inline std::uint32_t operator_part(const scope_node& n) noexcept {
  return (n.op + 1) << 1U | (n.merged ? 1U : 0U);
}

/// Whether no call of the node ever ended, is open or was replayed: it only leads to what its
/// thread did for another, whose path it is.
inline bool is_placeholder(const scope_node& n) noexcept {
  return n.calls == 0 && n.open == 0 && n.replays == 0;
}

/// Calls that did the operator's work: those that were captured did none, each replay of a graph
/// does it once.
inline std::uint64_t executions(const scope_node& n) noexcept {
  return n.calls - std::min(n.calls, n.captured) + n.replays;
}

inline std::uint32_t parent_of(const profile& p, std::size_t node) noexcept {
  const std::uint32_t parent = p.nodes[node].parent;
  return parent < node ? parent : scope_node::none;
}

/// For each node the number of its path: kinds, names and parameters, whatever thread and call site
/// it comes from. Roots have the number none.
inline std::vector<std::uint32_t> path_numbers(const profile& p) {
  std::vector<std::uint32_t> paths(p.nodes.size(), scope_node::none);
  text_numbers names, parameters(p.nodes.size());
  key_numbers numbers(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const std::uint32_t parent = parent_of(p, i);
    if (n.kind != scope_kind::root)
      paths[i] = numbers
                     .of({{parent == scope_node::none ? parent : paths[parent],
                           static_cast<std::uint32_t>(n.kind), names.of(n.name),
                           parameters.of(n.values.packed), operator_part(n)}})
                     .first;
  }
  return paths;
}

/// Calls enter(node) and leave(node) for every node, in the order in which scopes nest. Depth costs
/// no stack.
template <class Enter, class Leave>
void walk(const profile& p, Enter&& enter, Leave&& leave) {
  constexpr std::uint32_t none = scope_node::none;
  std::vector<std::uint32_t> first(p.nodes.size(), none), next(p.nodes.size(), none);
  for (std::size_t i = p.nodes.size(); i-- > 0;) {
    const std::uint32_t parent = parent_of(p, i);
    if (parent == none) continue;
    next[i] = first[parent];
    first[parent] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t root = 0; root < p.nodes.size(); ++root) {
    if (parent_of(p, root) != none) continue;
    auto at = static_cast<std::uint32_t>(root);
    enter(at);
    for (;;) {
      if (first[at] != none) {
        at = first[at];
        enter(at);
        continue;
      }
      while (at != root && next[at] == none) {
        leave(at);
        at = parent_of(p, at);
      }
      leave(at);
      if (at == root) break;
      at = next[at];
      enter(at);
    }
  }
}

/// For each node the innermost operator around it, which may be the node itself; none where there
/// is none.
inline std::vector<std::uint32_t> operators_around(const profile& p) {
  std::vector<std::uint32_t> around(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t parent = parent_of(p, i);
    if (p.nodes[i].kind == scope_kind::op) around[i] = static_cast<std::uint32_t>(i);
    else if (p.nodes[i].kind != scope_kind::root && parent != scope_node::none)
      around[i] = around[parent];
  }
  return around;
}

/// The self time of all scopes: what shares are shares of.
inline double all_self_ns(const profile& p) noexcept {
  double sum = 0;
  for (const scope_node& n : p.nodes)
    if (n.kind != scope_kind::root) sum += not_negative(n.self_ns);
  return sum;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/node_walk.hpp>

// <kprof/model/sorted_order.hpp>
#ifndef KPROF_MODEL_SORTED_ORDER_HPP
#define KPROF_MODEL_SORTED_ORDER_HPP

// The one sort of all tables: it orders numbers of rows by a function that compares two of them, so
// that the compiler makes it once, and not for every kind of row and order. Included by the tables.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Says whether row `a` comes before row `b`.
using row_order = bool (*)(const void* rows, std::uint32_t a, std::uint32_t b);

/// Rows that are equal keep their order.
[[gnu::noinline]] inline void sort_rows(std::vector<std::uint32_t>& numbers, row_order comes_before,
                                        const void* rows) {
  std::sort(numbers.begin(), numbers.end(), [=](std::uint32_t a, std::uint32_t b) {
    if (comes_before(rows, a, b)) return true;
    return a < b && !comes_before(rows, b, a);
  });
}

/// The numbers of rows, from 0 to count - 1, in the order that comes_before(a, b) gives.
template <class ComesBefore>
std::vector<std::uint32_t> sorted_order(std::size_t count, const ComesBefore& comes_before) {
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  sort_rows(
      numbers,
      [](const void* order, std::uint32_t a, std::uint32_t b) {
        return (*static_cast<const ComesBefore*>(order))(a, b);
      },
      &comes_before);
  return numbers;
}

/// Puts rows into that order.
template <class Row, class ComesBefore>
void sort_table(std::vector<Row>& rows, const ComesBefore& comes_before) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
         return comes_before(rows[a], rows[b]);
       }))
    sorted.push_back(std::move(rows[i]));
  rows = std::move(sorted);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/sorted_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Kernels, copies and memsets, summed.
struct device_sum {
  std::uint64_t kernels = 0;     ///< runs
  std::uint64_t copies = 0;      ///< copies and memsets
  std::uint64_t untimed = 0;     ///< of both, those without timing
  std::uint64_t gaps = 0;        ///< of both, those whose launch was seen
  std::uint64_t in_graphs = 0;   ///< of both, those that graphs ran
  std::uint64_t unrecorded = 0;  ///< launches of which not all records have come
  double ns = 0;                 ///< run times, summed: concurrent runs count each
  double gap_ns = 0;             ///< from launch to start, summed over `gaps`

  std::uint64_t runs() const noexcept { return kernels + copies; }
  void add(const device_sum& more) noexcept {
    kernels += more.kernels;
    copies += more.copies;
    untimed += more.untimed;
    gaps += more.gaps;
    in_graphs += more.in_graphs;
    unrecorded += more.unrecorded;
    ns += more.ns;
    gap_ns += more.gap_ns;
  }
  void add(const device_work& w) noexcept {
    (w.task == device_task::kernel ? kernels : copies) += w.calls;
    untimed += std::min(w.untimed, w.calls);
    gaps += w.gaps;
    ns += detail::not_negative(w.total_ns);
    gap_ns += detail::not_negative(w.gap_ns);
  }
};

namespace detail {

/// Whether the profile has work of a device. The tables show it, and are sorted by it, only then.
inline bool has_device_work(const profile& p) noexcept { return !p.device.work.empty(); }

/// The node that launched it; none where that is not known.
inline std::uint32_t scope_of(const profile& p, const device_work& w) noexcept {
  return w.scope < p.nodes.size() ? w.scope : scope_node::none;
}

/// All work of the devices: what shares of device time are shares of.
inline device_sum all_device_work(const profile& p) noexcept {
  device_sum all;
  for (const device_work& w : p.device.work) all.add(w);
  return all;
}

inline double share_of(double part, double whole) noexcept { return whole > 0 ? part / whole : 0; }

/// A rate over device time: not known where more than one run in a thousand has no time.
inline absence device_time_known(const device_sum& sum) noexcept {
  return sum.untimed > sum.runs() / 1000 ? absence::untimed : absence::none;
}

/// The same of all that needs every record of some work: not known where more than one in a
/// thousand may be missing. A kernel's launch shows by itself whether its record is missing; a
/// graph and a copy, which may leave many, do not, so each record that was dropped may be of their
/// work.
inline absence records_known(const profile& p, const device_sum& sum) noexcept {
  const device_completeness& c = p.device.complete;
  const std::uint64_t of_many = sum.in_graphs + sum.copies;
  const bool lost_buffers = c.cut_buffers + c.foreign_buffers > 0;  // of unknown many records
  if (of_many > 0 && (lost_buffers || c.dropped > of_many / 1000)) return absence::dropped;
  if (sum.unrecorded > sum.runs() / 1000)
    return lost_buffers || c.dropped > 0 ? absence::dropped : absence::not_all_records;
  // nobody knows whose they are
  return c.launches_lost > c.launches / 1000 ? absence::lost : absence::none;
}

/// By node: what was launched right in it, and that with all below it. Both are empty where no work
/// was launched at all. What is not known of a graph is not known of any scope in it.
struct device_sums {
  std::vector<device_sum> own, whole;

  explicit device_sums(const profile& p) {
    const auto lacks_records = [](const scope_node& n) { return n.unrecorded != 0; };
    if (!has_device_work(p) && std::none_of(p.nodes.begin(), p.nodes.end(), lacks_records)) return;
    own.resize(p.nodes.size());
    for (std::size_t i = 0; i < own.size(); ++i) own[i].unrecorded = p.nodes[i].unrecorded;
    const std::vector<std::uint32_t> graphs = graphs_around(p);
    for (const device_work& w : p.device.work) {
      const std::uint32_t node = scope_of(p, w);
      if (node == scope_node::none) continue;
      own[node].add(w);
      if (graphs[node] != scope_node::none) own[node].in_graphs += w.calls;
    }
    whole = own;
    for (std::size_t i = p.nodes.size(); i-- > 0;)  // a parent comes before its children
      if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
        whole[parent].add(whole[i]);
    for (std::size_t i = 0; i < own.size(); ++i)
      if (graphs[i] != scope_node::none && graphs[i] != i)
        whole[i].unrecorded += p.nodes[graphs[i]].unrecorded;
  }

 private:
  /// For each node the outermost graph around it, which may be the node itself; none where there is
  /// none.
  static std::vector<std::uint32_t> graphs_around(const profile& p) {
    std::vector<std::uint32_t> around(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const std::uint32_t parent = parent_of(p, i);
      if (parent != scope_node::none) around[i] = around[parent];
      if (around[i] == scope_node::none && p.nodes[i].kind == scope_kind::graph)
        around[i] = static_cast<std::uint32_t>(i);
    }
    return around;
  }
};

}  // namespace detail

/// Work of one kernel, or of copies or memsets.
struct named_work {
  std::string name;  ///< readable name of the kernel, "copy" or "memset"
  device_sum sum;
};

/// Work that was launched in no operator: in regions, outside all scopes, and work whose launch was
/// not seen.
struct work_outside {
  device_sum all;
  device_sum unknown;             ///< of these, work whose launch was not seen
  std::vector<named_work> names;  ///< most time first
};

namespace detail {

/// A number for what a work is called: that of its kernel, then one for merged kernels, copies and
/// memsets.
inline std::uint32_t name_number(const profile& p, const device_work& w) noexcept {
  const auto kernels = static_cast<std::uint32_t>(p.device.kernels.size());
  if (w.task != device_task::kernel) return kernels + (w.task == device_task::copy ? 1 : 2);
  return std::min(w.kernel, kernels);
}

inline std::string work_name(const profile& p, std::uint32_t number) {
  const std::size_t kernels = p.device.kernels.size();
  if (number < kernels) return kernel_name(p.device.kernels[number]);
  return number == kernels ? "(other kernels)" : number == kernels + 1 ? "copy" : "memset";
}

}  // namespace detail

/// Adds up the work that no operator accounts for.
///     const kprof::work_outside rest = kprof::outside_operators(run);   // rest.all.ns,
///                                                                       rest.names[0].name
inline work_outside outside_operators(const profile& p) {
  work_outside out;
  if (!detail::has_device_work(p)) return out;
  const std::vector<std::uint32_t> operators = detail::operators_around(p);
  std::vector<device_sum> by_name(p.device.kernels.size() + 3);
  for (const device_work& w : p.device.work) {
    const std::uint32_t node = detail::scope_of(p, w);
    if (node != scope_node::none && operators[node] != scope_node::none) continue;
    out.all.add(w);
    if (node == scope_node::none) out.unknown.add(w);
    by_name[detail::name_number(p, w)].add(w);
  }
  for (std::uint32_t i = 0; i < by_name.size(); ++i)
    if (by_name[i].runs() > 0 || by_name[i].ns > 0)
      out.names.push_back({detail::work_name(p, i), by_name[i]});
  detail::sort_table(out.names,
                     [](const named_work& a, const named_work& b) { return a.sum.ns > b.sum.ns; });
  return out;
}

KPROF_DETAIL_END

#endif  // <kprof/model/device_sums.hpp>

// <kprof/report/text/columns.hpp>
#ifndef KPROF_REPORT_TEXT_COLUMNS_HPP
#define KPROF_REPORT_TEXT_COLUMNS_HPP

// The columns of the operator table: which metrics and dimensions, in what order, and how their
// cells are written and sorted. Included by the text report. A column is one line of the table
// below.

// <kprof/model/metrics.hpp>
#ifndef KPROF_MODEL_METRICS_HPP
#define KPROF_MODEL_METRICS_HPP

// The numbers of an operator row, a line each: what reports, files and pages print is declared here
// once. Included by the outputs. Pure.

// <kprof/model/operator_row.hpp>
#ifndef KPROF_MODEL_OPERATOR_ROW_HPP
#define KPROF_MODEL_OPERATOR_ROW_HPP

// A row of the operator table, and how the nodes of a profile are summed into it. Included by
// summary.hpp. Pure.

// <kprof/model/row_values.hpp>
#ifndef KPROF_MODEL_ROW_VALUES_HPP
#define KPROF_MODEL_ROW_VALUES_HPP

// What the calls of a row have in common: for each key of a grouping a number by node, which makes
// the rows, and a value of the row. Included by the tables. Pure.

// <kprof/model/launch_places.hpp>
#ifndef KPROF_MODEL_LAUNCH_PLACES_HPP
#define KPROF_MODEL_LAUNCH_PLACES_HPP

// Where the work of a device was launched: operator, region and pass; and what an operator's
// formulas say of its kernels. Included by the table of kernels. Pure; linear in profile::nodes and
// device_profile::work.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Where something was launched.
enum class launch_place : std::uint8_t { unknown, outside_operators, in_operator };

namespace detail {

struct work_place {
  launch_place place = launch_place::unknown;
  std::uint32_t op = scope_node::none;  // node of the innermost operator
  std::uint32_t op_name = 0;            // numbers of its name, and of its name and parameters
  std::uint32_t variant = 0;
  // node of the innermost region, inside or outside of the operator
  std::uint32_t region = scope_node::none;
  std::uint32_t region_name = 0;  // number of its name; 0: there is none
  std::uint32_t pass = 0;         // number of its text; 0: there is none
};

/// What the calls of an operator with one set of parameters run, and what its formulas do not say.
struct operator_kernels {
  std::uint64_t calls = 0;  // that did the work, or may have begun it
  std::uint64_t runs = 0;   // of kernels launched in them, up to nested operators
  device_sum work;          // all of it, the same
  std::uint32_t kernel = device_work::none;
  bool several = false;  // different kernels, or kernels in operators nested in them
  bool valid = true;
  absence no_flops = absence::none, no_bytes = absence::none;
  arithmetic_unit on = arithmetic_unit::unknown;  // declared
  bool known = false;                             // there is a node of it

  /// Whether each call runs one kernel, always the same: then the call's work is the kernel's.
  bool only_one() const noexcept { return !several && runs <= calls; }

  void describe(const scope_node& n) {
    const arithmetic_unit declared = n.merged ? arithmetic_unit::unknown : n.work.on;
    on = !known || on == declared ? declared : arithmetic_unit::unknown;
    known = true;
    valid = valid && n.work.valid;
    const absence why = n.merged        ? absence::merged
                        : !n.work.valid ? absence::invalid
                                        : absence::none;
    no_flops = std::max(no_flops, n.merged || n.work.has_flops ? why : absence::no_flops);
    no_bytes = std::max(no_bytes, n.merged || n.work.has_bytes ? why : absence::no_bytes);
    calls += executions(n) + n.open;
  }
};

/// The pass of a call or, where the operator does not say, the text of its field `pass`; empty
/// where there is none.
inline std::string pass_of(const profile& p, const scope_node& n) {
  if (n.work.pass != pass_kind::unknown) return pass_name(n.work.pass);
  const operator_info* const op = p.operator_of(n);
  if (op == nullptr || n.values.empty()) return {};
  parameter_cursor values(n.values.packed);
  for (const operator_field& f : op->fields) {
    if (f.name != "pass") {
      values.skip_all(f);
      continue;
    }
    std::string text;
    return append_field(text, f, values) ? text : std::string{};
  }
  return {};
}

/// The place of each node and each work of a profile, which must outlive it.
class launch_places {
 public:
  explicit launch_places(const profile& p) : p_(p) {
    if (!has_device_work(p)) return;
    find_places();
    find_kernels();
  }

  work_place of(const device_work& w) const {
    const std::uint32_t node = scope_of(p_, w);
    return node == scope_node::none ? work_place{} : places_[node];
  }

  /// Of the operator of a place; nullptr where there is none.
  const operator_kernels* kernels_of(const work_place& at) const noexcept {
    return at.op == scope_node::none ? nullptr : &kernels_[at.variant];
  }

  const std::string& pass_of(const work_place& at) const noexcept { return passes_[at.pass]; }

 private:
  // There are few: a direction or two an operator.
  std::uint32_t number_of_pass(const std::string& pass) {
    const auto known = std::find(passes_.begin(), passes_.end(), pass);
    const auto number = static_cast<std::uint32_t>(known - passes_.begin());
    if (known == passes_.end()) passes_.push_back(pass);
    return number;
  }

  void find_places() {
    text_numbers names, parameters(p_.nodes.size());
    key_numbers variants(p_.nodes.size());
    names.of({});  // the number 0 is no name at all
    places_.resize(p_.nodes.size());
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const scope_node& n = p_.nodes[i];
      work_place& at = places_[i];
      if (const std::uint32_t parent = parent_of(p_, i);
          n.kind != scope_kind::root && parent != scope_node::none)
        at = places_[parent];
      if (at.place == launch_place::unknown) at.place = launch_place::outside_operators;
      if (n.kind == scope_kind::region) {
        at.region = static_cast<std::uint32_t>(i);
        at.region_name = 1 + names.of(n.name);
      } else if (n.kind == scope_kind::op) {
        at.place = launch_place::in_operator;
        at.op = static_cast<std::uint32_t>(i);
        at.op_name = names.of(n.name);
        at.variant =
            variants.of({{at.op_name, parameters.of(n.values.packed), operator_part(n)}}).first;
        if (const std::string pass = n.merged ? std::string{} : detail::pass_of(p_, n);
            !pass.empty())
          at.pass = number_of_pass(pass);
        if (at.variant == kernels_.size()) kernels_.emplace_back();
        kernels_[at.variant].describe(n);
      }
    }
  }

  void find_kernels() {
    const device_sums sums(p_);
    for (std::size_t i = 0; i < p_.nodes.size(); ++i)
      if (places_[i].op != scope_node::none) kernels_[places_[i].variant].work.add(sums.own[i]);
    for (const device_work& w : p_.device.work) {
      const work_place at = of(w);
      if (w.task != device_task::kernel || at.op == scope_node::none || w.calls == 0) continue;
      operator_kernels& of = kernels_[at.variant];
      of.several = of.several || w.kernel >= p_.device.kernels.size() ||
                   (of.runs > 0 && of.kernel != w.kernel);
      of.kernel = w.kernel;
      of.runs += w.calls;
    }
    // A call whose nested operators run kernels of their own does not give all its work to one.
    std::vector<bool> nested(p_.nodes.size());  // nodes with kernels in operators below
    std::vector<bool> runs(p_.nodes.size());    // nodes with kernels in them or below
    for (const device_work& w : p_.device.work)
      if (const std::uint32_t node = scope_of(p_, w);
          node != scope_node::none && w.task == device_task::kernel && w.calls > 0)
        runs[node] = true;
    for (std::size_t i = p_.nodes.size(); i-- > 0;) {
      const bool op = p_.nodes[i].kind == scope_kind::op;
      if (op && nested[i]) kernels_[places_[i].variant].several = true;
      const std::uint32_t parent = parent_of(p_, i);
      if (parent == scope_node::none || !runs[i]) continue;
      runs[parent] = true;
      nested[parent] = nested[parent] || nested[i] || op;
    }
  }

  const profile& p_;
  std::vector<std::string> passes_{std::string{}};
  std::vector<work_place> places_;         // by node
  std::vector<operator_kernels> kernels_;  // by operator and parameters
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/launch_places.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What the calls of a row have in common by one key of its grouping.
struct group_value {
  group_key kind = group_key::op;
  std::string key;     ///< as in `by=`: "op", "layer", "M"
  bool known = false;  ///< false: the calls have none, or their parameters were not kept
  std::string text;    ///< empty where it is not known, but an empty text may be known
  /// Of a field that is a single value. Its text is a view of the profile, which must outlive it.
  parameter_value value{};
};

/// Values that one field has in the calls of a row.
struct field_range {
  std::string field;         ///< its path: "K", "shape[1]"
  bool is_number = false;    ///< an integer or a floating value; else there are no bounds
  parameter_value least{};   ///< NaN where all are
  parameter_value most{};    ///< the same
  std::uint64_t values = 0;  ///< how many different ones
};

namespace detail {

/// A thread's name and number as the operating system has them; for threads kept together, how
/// many.
inline std::string thread_text(const profile& p, std::uint32_t index) {
  if (index >= p.threads.size()) return {};
  const thread_info& t = p.threads[index];
  if (t.merged > 0) return std::to_string(t.merged) + " ended threads";
  return t.name.empty() ? std::to_string(t.id) : t.name + ' ' + std::to_string(t.id);
}

inline constexpr std::size_t longest_layer = 4000;

/// The regions around a node, from the outermost on, joined by `/`. Of one nested more deeply than
/// anybody reads, the inner ones.
inline bool layer_text(const profile& p, std::uint32_t node, std::string& out) {
  std::vector<std::uint32_t> regions;
  std::size_t size = 0;
  bool whole = true;
  for (std::uint32_t at = node; at != scope_node::none && whole; at = parent_of(p, at)) {
    if (p.nodes[at].kind != scope_kind::region) continue;
    whole = size < longest_layer;
    if (whole) regions.push_back(at);
    size += 1 + p.nodes[at].name.size();
  }
  if (!whole) out = "\u2026/";
  for (std::size_t i = regions.size(); i-- > 0;) {
    out += p.nodes[regions[i]].name;
    if (i > 0) out += '/';
  }
  return !regions.empty();
}

/// Of a call, or of the innermost operator around it that has one.
inline bool pass_text(const profile& p, std::uint32_t node, std::string& out) {
  for (std::uint32_t at = node; at != scope_node::none; at = parent_of(p, at))
    if (p.nodes[at].kind == scope_kind::op && !p.nodes[at].merged) {
      out = pass_of(p, p.nodes[at]);
      if (!out.empty()) return true;
    }
  return false;
}

inline bool region_text(const profile& p, std::uint32_t node, std::string& out) {
  std::uint32_t at = node;
  while (at != scope_node::none && p.nodes[at].kind != scope_kind::region) at = parent_of(p, at);
  if (at != scope_node::none) out = p.nodes[at].name;
  return at != scope_node::none;
}

/// Where something happened: the scope, and the innermost operator's node, which may be the scope.
/// Either may be none.
struct group_place {
  std::uint32_t scope = scope_node::none;
  std::uint32_t op = scope_node::none;
};

/// What the operator at this place has for a key that asks about operators.
inline void set_value_of_operator(const profile& p, const scope_node& n, const group_part& part,
                                  profile_leaves& leaves, group_value& out) {
  switch (part.kind) {
    case group_key::op: out.known = true, out.text = n.name; break;
    case group_key::parameters:
      out.known = !n.merged;
      if (out.known) out.text = leaves.text(n);
      break;
    case group_key::dtype:
      out.known = !n.merged && n.work.type != dtype::unknown;
      if (out.known) out.text = dtype_name(n.work.type);
      break;
    case group_key::call_site:
      out.known = !n.file.empty();
      if (out.known) out.text = n.file + ':' + std::to_string(n.line);
      break;
    case group_key::field:
      if (const operator_info* const op = p.operator_of(n); op != nullptr && !n.merged) {
        out.known = field_text(*op, n.values, part.field, out.text);
        if (out.known && is_single(*op, part.field)) out.value = p.value(n, part.field);
      }
      break;
    default: break;
  }
}

/// What a place has for a key.
inline group_value value_of(const profile& p, const group_place& at, const group_part& part,
                            profile_leaves& leaves) {
  group_value out;
  out.kind = part.kind;
  out.key = text_of(part);
  switch (part.kind) {
    case group_key::pass: out.known = pass_text(p, at.scope, out.text); break;
    case group_key::region: out.known = region_text(p, at.scope, out.text); break;
    case group_key::layer: out.known = layer_text(p, at.scope, out.text); break;
    case group_key::thread:
      out.known = at.scope != scope_node::none && p.nodes[at.scope].thread < p.threads.size();
      if (out.known) out.text = thread_text(p, p.nodes[at.scope].thread);
      break;
    default:
      if (at.op != scope_node::none) set_value_of_operator(p, p.nodes[at.op], part, leaves, out);
  }
  return out;
}

/// Numbers of nodes and values for the keys of a grouping; 0 is a value that is absent. Calls whose
/// numbers are the same for all keys share a row.
class group_numbers {
 public:
  group_numbers(const profile& p, const grouping& by)
      : p_(p), folded_(by.folded()), leaves_(p, folded_), parameters_(p.nodes.size()) {
    for (const group_part& part : by.keys()) {
      parts_.push_back(part);
      by_variant_.emplace_back();
    }
    levels_.resize(parts_.size() / 5 + 1, key_numbers{0});
    names_.of({});  // a text that is not there
    texts_.of({});
    inherited_.resize(by.has(group_key::pass) || by.has(group_key::region) ||
                              by.has(group_key::layer)
                          ? p.nodes.size()
                          : 0);
  }
  group_numbers(const group_numbers&) = delete;
  group_numbers& operator=(const group_numbers&) = delete;

  /// Sees a node; called for all, in their order.
  void look_at(std::uint32_t node) {
    if (inherited_.empty()) return;
    const scope_node& n = p_.nodes[node];
    around& here = inherited_[node];
    if (const std::uint32_t parent = parent_of(p_, node); parent != scope_node::none)
      here = inherited_[parent];
    if (n.kind == scope_kind::region) {
      here.region = 1 + names_.of(n.name);
      here.layer = number_of_layer(here.layer, n.name);
    } else if (n.kind == scope_kind::op && !n.merged) {
      if (std::string pass = pass_of(p_, n); !pass.empty())
        here.pass = 1 + names_.of(kept_text(std::move(pass)));
    }
  }

  /// Of the operator and all parameters of a call.
  std::uint32_t variant_of(const scope_node& n) {
    return variants_.of({{names_.of(n.name), parameters_.of(n.values.packed), operator_part(n)}})
        .first;
  }

  /// Of the row of what happened at a place. `variant`: of the operator there.
  row_key key_of(const group_place& at, std::uint32_t variant) {
    row_key key;
    std::size_t filled = 0, level = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (filled == std::size(key.part)) {
        key = {{levels_[level++].of(key).first}};
        filled = 1;
      }
      key.part[filled++] = number(i, at, variant);
    }
    return key;
  }

  std::vector<group_value> values_of(const group_place& at) {
    std::vector<group_value> out;
    out.reserve(parts_.size());
    for (const group_part& part : parts_) out.push_back(value_of(p_, at, part, leaves_));
    return out;
  }
  profile_leaves& leaves() noexcept { return leaves_; }

 private:
  struct around {
    std::uint32_t pass = 0, region = 0, layer = 0;
  };

  std::uint32_t number(std::size_t part, const group_place& at, std::uint32_t variant) {
    const group_key kind = parts_[part].kind;
    if (kind == group_key::thread)
      return at.scope == scope_node::none ? scope_node::none : p_.nodes[at.scope].thread;
    if (kind == group_key::pass || kind == group_key::region || kind == group_key::layer) {
      if (at.scope == scope_node::none) return 0;
      const around& here = inherited_[at.scope];
      return kind == group_key::pass     ? here.pass
             : kind == group_key::region ? here.region
                                         : here.layer;
    }
    if (at.op == scope_node::none) return 0;
    const scope_node& n = p_.nodes[at.op];
    if (kind == group_key::op) return names_.of(n.name);
    if (kind == group_key::call_site && n.file.empty()) return 0;
    if (kind == group_key::call_site) return 1 + sites_.of({{names_.of(n.file), n.line}}).first;
    if (kind == group_key::dtype)
      return n.merged || n.work.type == dtype::unknown
                 ? 0
                 : 1 + static_cast<std::uint32_t>(n.work.type);
    std::vector<std::uint32_t>& known = by_variant_[part];
    if (variant >= known.size()) known.resize(variant + std::size_t{1}, scope_node::none);
    if (known[variant] == scope_node::none)
      known[variant] = kind == group_key::field ? number_of_field(parts_[part].field, n)
                                                : 1 + number_of_parameters(n, variant);
    return known[variant];
  }

  std::uint32_t number_of_parameters(const scope_node& n, std::uint32_t variant) {
    if (folded_.empty()) return variant;
    const std::string_view packed = leaves_.lacks_folded(n)
                                        ? std::string_view{texts_kept_.emplace_back(
                                              leaves_.of(n).without_folded(n.values.packed))}
                                        : std::string_view{n.values.packed};
    return folded_sets_.of({{names_.of(n.name), texts_.of(packed), operator_part(n)}}).first;
  }

  std::uint32_t number_of_field(const std::string& path, const scope_node& n) {
    const operator_info* const op = p_.operator_of(n);
    std::string text;
    if (op == nullptr || n.merged || !field_text(*op, n.values, path, text)) return 0;
    return 1 + texts_.of(kept_text(std::move(text)));
  }

  // A region whose name has a / in it reads like several.
  std::uint32_t number_of_layer(std::uint32_t above, std::string_view name) {
    for (;;) {
      const std::size_t end = name.find('/');
      above = 1 + layers_.of({{above, names_.of(name.substr(0, end))}}).first;
      if (end == std::string_view::npos) return above;
      name.remove_prefix(end + 1);
    }
  }

  std::string_view kept_text(std::string text) { return texts_kept_.emplace_back(std::move(text)); }

  const profile& p_;
  const std::vector<std::string> folded_;
  profile_leaves leaves_;
  std::vector<group_part> parts_;
  std::vector<std::vector<std::uint32_t>> by_variant_;  // by part: numbers known of variants
  std::vector<around> inherited_;
  std::vector<key_numbers> levels_;  // of the front of keys too long for a row_key
  text_numbers names_, texts_, parameters_;
  key_numbers variants_{0}, folded_sets_{0}, sites_{0}, layers_{0};
  std::deque<std::string> texts_kept_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/row_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// The calls of one operator, of one set of parameters, ... as `grouping` says.
///
/// `total_ns`, `flops` and `bytes` leave out a call made inside another call of the same row: the
/// outer one's time and formulas cover it. So rates divide what belongs together, and recursion
/// counts once. In a row of several operators an outer call without a formula covers no formula,
/// and calls that have none are left out of `flops` and `bytes` as long as others have one:
/// `calls_without_flops` says how many.
///
/// `self_ns` holds the time of regions, which only annotate what an operator does: with that of the
/// scopes outside any operator, rows add up to the whole. It may be more than `total_ns` where a
/// path was handed to other threads: what their regions took is in it. By thread, such time belongs
/// to no row.
///
/// Work on the device counts in the same way, and by thread to the thread that launched it. Times
/// of calls are host times, of which replays of CUDA graphs have none. Where calls of the row have
/// work on the device, in the row or in operators nested in it, rates are what these calls'
/// formulas say over `device_total_ns`, and not known while records of that work are missing; else
/// they are over `total_ns`.
struct operator_row {
  /// The same in every run of the program: see row_key_text(). No two rows of a table have the
  /// same.
  std::uint64_t key = 0;
  std::string name;             ///< of the operator; empty where there are several
  std::uint64_t operators = 1;  ///< different names of operators in this row
  /// What the calls have in common: for each key of the grouping its value.
  std::vector<group_value> values;
  /// Of fields that are folded and, in a row of one operator with several sets of parameters, of
  /// each number that differs: the values that it has in them.
  std::vector<field_range> ranges;
  /// Their text, without folded fields; empty where the calls differ in it.
  std::string parameters;
  /// Index in profile::nodes of the row's first call: its operator and, where variants is 1, its
  /// typed values.
  std::uint32_t node = scope_node::none;
  std::uint64_t variants = 0;       ///< sets of parameters in this row
  bool merged = false;              ///< holds calls whose parameters were not kept
  std::uint64_t invalid_calls = 0;  ///< finished calls whose parameters are invalid
  bool invalid = false;  ///< holds a call, finished or open, whose parameters are invalid
  std::string file;      ///< call site, if there is one and only one
  std::uint32_t line = 0;
  bool several_sites = false;
  /// Index in profile::threads; none where several threads ran it.
  std::uint32_t thread = scope_node::none;
  dtype type = dtype::unknown;  ///< unknown also where it differs from call to call
  bool several_types = false;
  pass_kind pass = pass_kind::unknown;  ///< unknown also where it differs from call to call
  bool several_passes = false;

  std::uint64_t calls = 0;  ///< finished
  /// Of these, calls that captured their work into a CUDA graph and did none.
  std::uint64_t captured = 0;
  std::uint64_t replays = 0;  ///< calls made by replaying graphs, not in `calls`
  std::uint64_t open = 0;
  double open_ns = 0;
  /// Of the calls and the regions in them, up to the operators nested in them.
  double self_ns = 0;
  double total_ns = 0;
  double share = 0;  ///< self_ns, of the self time of all scopes of the profile; 0 to 1
  /// Of a call's duration; median and p99 within 0.8 %.
  figure mean_ns, median_ns, p99_ns, min_ns, max_ns;
  figure flops, bytes;  ///< of the calls in total_ns, summed
  /// Of a row of several operators: calls whose operator has no such formula, in no call that has.
  std::uint64_t calls_without_flops = 0, calls_without_bytes = 0;
  figure flops_per_call, bytes_per_call;  ///< their means
  figure flops_per_s, bytes_per_s;        ///< flops and bytes over time, see above
  figure flops_per_byte;                  ///< arithmetic intensity

  bool on_device = false;  ///< launched work, or operators nested in it did
  /// Runs launched in the calls, and in regions and graphs in them, up to nested operators.
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;    ///< copies and memsets, the same
  double device_ns = 0;        ///< of both, the run times; concurrent runs count each
  double device_total_ns = 0;  ///< that with nested operators
  double device_share = 0;     ///< device_ns, of the time of all work of the devices; 0 to 1
  /// Mean time from the launch of the row's own work to its start on the device.
  figure gap_ns{0, absence::no_launch};
};

namespace detail {

/// What the formulas say of all calls of a node that did the operator's work.
inline double all_flops(const scope_node& n) noexcept {
  return static_cast<double>(executions(n)) * static_cast<double>(n.work.flops);
}
inline double all_bytes(const scope_node& n) noexcept {
  return static_cast<double>(executions(n)) *
         (static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written));
}

/// Whether the formulas of a call give numbers.
inline bool says_flops(const scope_node& n) noexcept {
  return n.work.has_flops && n.work.valid && !n.merged;
}
inline bool says_bytes(const scope_node& n) noexcept {
  return n.work.has_bytes && n.work.valid && !n.merged;
}

/// What of a call counts in its row, since no call around it covers it.
struct counted_call {
  bool time = true, flops = true, bytes = true;
};

/// What the formulas say of a set of parameters, by whether the calls have work on the device.
struct variant_sum {
  double flops = 0, bytes = 0, calls = 0;
  double idle_flops = 0, idle_bytes = 0, idle_calls = 0;  // of calls that launched nothing
  bool on_device = false;
  // other threads launched for it, and for which of its calls is not known
  bool handed_over = false;
  std::uint32_t row = scope_node::none;

  void add(const scope_node& n, const counted_call& counted) noexcept {
    const double idle = static_cast<double>(std::min(n.unlaunched, n.calls));
    if (counted.time) {
      calls += static_cast<double>(executions(n));
      idle_calls += idle;
    }
    if (counted.flops && says_flops(n)) {
      flops += all_flops(n);
      idle_flops += idle * static_cast<double>(n.work.flops);
    }
    if (counted.bytes && says_bytes(n)) {
      bytes += all_bytes(n);
      idle_bytes += idle * (static_cast<double>(n.work.bytes_read) +
                            static_cast<double>(n.work.bytes_written));
    }
  }
};

/// What the device did for one row.
struct device_row_sum {
  device_sum own, total;                   // without and with nested operators
  double flops = 0, bytes = 0, calls = 0;  // of calls with work on the device
  std::uint32_t active = 0;                // nodes of this row that the walk is in

  void add(const variant_sum& v) noexcept {
    if (!v.on_device) return;
    flops += v.handed_over ? v.flops : v.flops - v.idle_flops;
    bytes += v.handed_over ? v.bytes : v.bytes - v.idle_bytes;
    calls += v.handed_over ? v.calls : v.calls - v.idle_calls;
  }
  void finish(operator_row& row, double all_device_ns, const profile& p) const {
    row.on_device = total.runs() > 0;
    row.kernels = own.kernels;
    row.copies = own.copies;
    row.device_ns = own.ns;
    row.device_total_ns = total.ns;
    row.device_share = share_of(own.ns, all_device_ns);
    row.gap_ns = ratio({own.gap_ns}, static_cast<double>(own.gaps), absence::no_launch);
    if (!row.on_device && total.unrecorded == 0) return;
    const absence timed = std::max({device_time_known(total), records_known(p, total),
                                    calls > 0 ? absence::none : absence::no_calls});
    row.flops_per_s =
        ratio({flops, std::max(row.flops.why, timed)}, total.ns * 1e-9, absence::no_time);
    row.bytes_per_s =
        ratio({bytes, std::max(row.bytes.why, timed)}, total.ns * 1e-9, absence::no_time);
  }
};

/// Sums the nodes of one row.
struct row_sum {
  operator_row row;
  const histogram* durations = nullptr;  // in ticks; of the one node, or `merged`
  histogram merged;
  double duration_ns = 0, min_ns = HUGE_VAL, max_ns = 0;
  double flops = 0, bytes = 0, flops_calls = 0, bytes_calls = 0;
  absence no_flops = absence::none, no_bytes = absence::none;
  bool any_flops = false, any_bytes = false;  // has a call with that formula
  bool lacks_flops = false, lacks_bytes = false;
  bool classed = false;
  // Nodes of this row that the walk is in and that cover others: with their time, their formulas.
  std::uint32_t active = 0, active_flops = 0, active_bytes = 0;

  void begin(const scope_node& n, std::uint64_t operators) {
    row.operators = operators;
    if (operators == 1) row.name = n.name;
    row.file = n.file;
    row.line = n.line;
    row.thread = n.thread;
  }

  counted_call counted() const noexcept {
    return {active == 0, active_flops == 0, active_bytes == 0};
  }
  void enter(const scope_node& n) noexcept {
    ++active;
    active_flops += says_flops(n) ? 1 : 0;
    active_bytes += says_bytes(n) ? 1 : 0;
  }
  void leave(const scope_node& n) noexcept {
    --active;
    active_flops -= says_flops(n) ? 1 : 0;
    active_bytes -= says_bytes(n) ? 1 : 0;
  }

  void add(const scope_node& n, const counted_call& counted) {
    row.calls += n.calls;
    row.captured += std::min(n.captured, n.calls);
    row.replays += n.replays;
    row.open += n.open;
    row.open_ns += not_negative(n.open_ns);
    duration_ns += not_negative(n.total_ns);
    add_durations(n.durations);
    if (n.calls > 0) {
      min_ns = std::min(min_ns, not_negative(n.min_ns));
      max_ns = std::max(max_ns, not_negative(n.max_ns));
    }
    if (row.line != n.line || row.file != n.file) row.several_sites = true;
    if (row.thread != n.thread) row.thread = scope_node::none;
    row.merged = row.merged || n.merged;
    if (!n.merged) add_class(n.work.type, n.work.pass);
    add_work(n, counted);
  }

  void add_durations(const histogram& more) {
    if (durations == nullptr) {  // most rows have one node: nothing is copied
      durations = &more;
      return;
    }
    if (durations != &merged) merged = *std::exchange(durations, &merged);
    merged.merge(more);
  }

  void add_class(dtype type, pass_kind pass) {
    if (!classed) {
      row.type = type;
      row.pass = pass;
    }
    row.several_types = row.several_types || row.type != type;
    row.several_passes = row.several_passes || row.pass != pass;
    classed = true;
  }

  void add_work(const scope_node& n, const counted_call& counted) {
    const absence known = n.merged        ? absence::merged
                          : !n.work.valid ? absence::invalid
                                          : absence::none;
    if (row.operators == 1 || counted.flops) no_flops = std::max(no_flops, known);
    if (row.operators == 1 || counted.bytes) no_bytes = std::max(no_bytes, known);
    if (!n.work.valid) {
      row.invalid = true;
      row.invalid_calls += n.calls;
    }
    if (counted.time) row.total_ns += not_negative(n.total_ns);
    const std::uint64_t done = executions(n);
    const bool lacks_flops_here = !n.merged && !n.work.has_flops;
    const bool lacks_bytes_here = !n.merged && !n.work.has_bytes;
    lacks_flops = lacks_flops || lacks_flops_here;
    lacks_bytes = lacks_bytes || lacks_bytes_here;
    any_flops = any_flops || says_flops(n);
    any_bytes = any_bytes || says_bytes(n);
    if (counted.flops) {
      if (says_flops(n)) flops += all_flops(n);
      if (lacks_flops_here) row.calls_without_flops += done;
      else flops_calls += static_cast<double>(done);
    }
    if (counted.bytes) {
      if (says_bytes(n)) bytes += all_bytes(n);
      if (lacks_bytes_here) row.calls_without_bytes += done;
      else bytes_calls += static_cast<double>(done);
    }
  }

  double quantile(double q) const noexcept {
    return durations == nullptr ? 0 : durations->quantile(q);
  }

  /// Why no number of the work can be known: nothing was done.
  absence nothing_done() const noexcept {
    if (row.calls - row.captured + row.replays > 0) return absence::none;
    return row.captured > 0 ? absence::not_replayed : absence::no_calls;
  }

  operator_row finish(double all_self_ns, double ns_per_tick) {
    const absence none_finished = row.calls > 0     ? absence::none
                                  : row.replays > 0 ? absence::graphs_only
                                                    : absence::no_calls;
    const auto duration = [&](double ns) {
      return figure{
          none_finished == absence::none ? std::clamp(ns, min_ns, std::max(min_ns, max_ns)) : 0,
          none_finished};
    };
    row.share = all_self_ns > 0 ? row.self_ns / all_self_ns : 0;
    row.mean_ns =
        duration(duration_ns / static_cast<double>(std::max<std::uint64_t>(row.calls, 1)));
    row.median_ns = duration(quantile(0.5) * ns_per_tick);
    row.p99_ns = duration(quantile(0.99) * ns_per_tick);
    row.min_ns = duration(min_ns);
    row.max_ns = duration(max_ns);
    if (lacks_flops && (row.operators == 1 || !any_flops)) no_flops = absence::no_flops;
    if (lacks_bytes && (row.operators == 1 || !any_bytes))
      no_bytes = std::max(no_bytes, absence::no_bytes);
    if (row.operators == 1) row.calls_without_flops = row.calls_without_bytes = 0;
    row.flops = {flops, std::max(no_flops, nothing_done())};
    row.bytes = {bytes, std::max(no_bytes, nothing_done())};
    row.flops_per_call = ratio(row.flops, flops_calls, absence::no_calls);
    row.bytes_per_call = ratio(row.bytes, bytes_calls, absence::no_calls);
    row.flops_per_s = ratio(row.flops, row.total_ns * 1e-9, absence::no_time);
    row.bytes_per_s = ratio(row.bytes, row.total_ns * 1e-9, absence::no_time);
    const absence unknown = std::max(row.flops.why, row.bytes.why);
    row.flops_per_byte = ratio({flops, unknown}, bytes, absence::zero_bytes);
    if (row.several_types) row.type = dtype::unknown;
    if (row.several_passes) row.pass = pass_kind::unknown;
    if (row.several_sites) {
      row.file.clear();
      row.line = 0;
    }
    return std::move(row);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/operator_row.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

KPROF_DETAIL_BEGIN

/// What a number counts. Printed numbers are `scale` times those of the row.
struct metric_unit {
  const char* name;  ///< empty: a plain count
  double scale = 1;
};

/// What the numbers of several rows of a table make together.
enum class additivity : std::uint8_t {
  sum,
  overlapping_sum,  ///< their sum, in which rows nested in one another count the same work twice
  minimum,
  maximum,
  ratio,  ///< a ratio of two sums, which have to be added up apart
  none,   ///< nothing: a quantile
};

/// One number of a row.
struct metric {
  const char* id;     ///< as in report_options::columns; the same in every version
  const char* label;  ///< header of a table for people
  metric_unit unit;
  additivity adds;
  bool of_device;  ///< only where the run has work on a device
  figure (*of)(const operator_row& row);
  const char* meaning;
  const char* device_meaning = "";  ///< where it is another in a run with work on a device

  /// What it means in a run with or without work on a device.
  constexpr const char* meaning_in(bool device) const noexcept {
    return device && *device_meaning != '\0' ? device_meaning : meaning;
  }
};

namespace detail {

namespace units {
inline constexpr metric_unit one{""}, share{""}, nanoseconds{"ns"}, flop{"FLOP"}, byte{"B"},
    giga_flop_per_s{"GFLOP/s", 1e-9}, giga_byte_per_s{"GB/s", 1e-9}, flop_per_byte{"FLOP/B"};
}  // namespace units

template <auto Member>
figure metric_value(const operator_row& row) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.*Member)>, figure>)
    return row.*Member;
  else return {static_cast<double>(row.*Member)};
}
inline figure all_calls(const operator_row& row) {
  return {static_cast<double>(row.calls + row.replays)};
}

}  // namespace detail

/// All metrics, in the order in which tables show them.
inline constexpr metric metrics[] = {
    {.id = "calls",
     .label = "calls",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::all_calls,
     .meaning = "finished calls",
     .device_meaning = "finished calls, and calls made by replaying CUDA graphs"},
    {.id = "replays",
     .label = "replays",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::replays>,
     .meaning = "of the calls, those made by replaying CUDA graphs; they take no time on the host"},
    {.id = "open",
     .label = "open",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::open>,
     .meaning =
         "calls that had not finished, and how long they had run; they are in no other column"},
    {.id = "open_time",
     .label = "open time",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::open_ns>,
     .meaning = "how long the calls that had not finished had run, summed"},
    {.id = "device",
     .label = "device",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::device_ns>,
     .meaning = "time on the device of the kernels, copies and memsets that the calls launched, "
                "less that of the operators inside them; what ran at the same time counts each"},
    {.id = "device_share",
     .label = "dev share",
     .unit = detail::units::share,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::device_share>,
     .meaning = "device / time of all kernels, copies and memsets"},
    {.id = "device_total",
     .label = "dev total",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::device_total_ns>,
     .meaning = "device with that of the operators inside; a call inside another call of the same "
                "row is not counted again"},
    {.id = "kernels",
     .label = "kernels",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::kernels>,
     .meaning = "kernels that the calls launched, less those of the operators inside them"},
    {.id = "copies",
     .label = "copies",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::copies>,
     .meaning = "copies and memsets, the same"},
    {.id = "gap",
     .label = "gap",
     .unit = detail::units::nanoseconds,
     .adds = additivity::ratio,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::gap_ns>,
     .meaning = "mean time from a launch until its work began on the device: long where the device "
                "is behind, short where it waits for the host"},
    {.id = "self",
     .label = "self",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::self_ns>,
     .meaning = "time in the calls less the time in the operators inside them, summed over calls "
                "and threads; a region counts to the operator that it is in",
     .device_meaning = "host time in the calls less the time in the operators inside them, summed "
                       "over calls and threads; a region counts to the operator that it is in"},
    {.id = "share",
     .label = "share",
     .unit = detail::units::share,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::share>,
     .meaning =
         "self / self time of all scopes, operators and regions outside them, of all threads"},
    {.id = "total",
     .label = "total",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::total_ns>,
     .meaning = "time from the begin to the end of the calls, summed; a call inside another call "
                "of the same row is not counted again",
     .device_meaning = "host time from the begin to the end of the calls, summed; a call inside "
                       "another call of the same row is not counted again"},
    {.id = "mean",
     .label = "mean",
     .unit = detail::units::nanoseconds,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::mean_ns>,
     .meaning = "time from the begin to the end of a call: sum over all calls / calls",
     .device_meaning = "host time from the begin to the end of a call: sum over all calls / calls, "
                       "less those made by replaying graphs"},
    {.id = "median",
     .label = "median",
     .unit = detail::units::nanoseconds,
     .adds = additivity::none,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::median_ns>,
     .meaning = "half of the calls took no longer; within 0.8 %"},
    {.id = "p99",
     .label = "p99",
     .unit = detail::units::nanoseconds,
     .adds = additivity::none,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::p99_ns>,
     .meaning = "99 % of the calls took no longer; within 0.8 %"},
    {.id = "min",
     .label = "min",
     .unit = detail::units::nanoseconds,
     .adds = additivity::minimum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::min_ns>,
     .meaning = "the shortest call"},
    {.id = "max",
     .label = "max",
     .unit = detail::units::nanoseconds,
     .adds = additivity::maximum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::max_ns>,
     .meaning = "the longest call"},
    {.id = "gflops",
     .label = "GFLOP/s",
     .unit = detail::units::giga_flop_per_s,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops_per_s>,
     .meaning = "10^9 operations a second: flops() of the calls in total, summed, / total",
     .device_meaning = "10^9 operations a second: flops() of the calls with work on the device, "
                       "summed, / dev total; of an operator without, / total"},
    {.id = "gbs",
     .label = "GB/s",
     .unit = detail::units::giga_byte_per_s,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::bytes_per_s>,
     .meaning = "10^9 bytes a second: bytes() of the calls in total, read + written, summed, / "
                "total; by the formula, not measured traffic",
     .device_meaning = "10^9 bytes a second: bytes() of the calls with work on the device, read + "
                       "written, summed, / dev total; of an operator without, / total; by the "
                       "formula, not measured traffic"},
    {.id = "intensity",
     .label = "FLOP/B",
     .unit = detail::units::flop_per_byte,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops_per_byte>,
     .meaning = "arithmetic intensity, operations a byte: flops() / bytes()"},
    {.id = "flops",
     .label = "FLOPs",
     .unit = detail::units::flop,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops>,
     .meaning = "operations: flops() of the calls in total, summed; k M G T P E = 10^3 to 10^18"},
    {.id = "bytes",
     .label = "bytes",
     .unit = detail::units::byte,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::bytes>,
     .meaning = "bytes() of the calls in total, read + written, summed"},
};

namespace detail {
inline constexpr std::size_t metric_count = sizeof(metrics) / sizeof(metrics[0]);

/// The place of the metric of that id; metric_count: there is none. With undefined-behaviour
/// checks, g++ 12 takes no comparison of an address with nullptr for a constant.
constexpr std::size_t place_of_metric(std::string_view id) noexcept {
  std::size_t place = 0;
  while (place < metric_count && id != metrics[place].id) ++place;
  return place;
}
}  // namespace detail

/// The metric of that id; nullptr: there is none.
inline const metric* find_metric(std::string_view id) noexcept {
  const std::size_t place = detail::place_of_metric(id);
  return place < detail::metric_count ? &metrics[place] : nullptr;
}

/// Why a number is not known, in a few words.
inline const char* explain(absence why) noexcept {
  switch (why) {
    case absence::no_calls: return "no call has finished";
    case absence::graphs_only:
      return "made by replaying CUDA graphs, which takes no time on the host";
    case absence::not_replayed: return "captured into a CUDA graph that was not replayed";
    case absence::no_launch: return "no launch of its own was seen";
    case absence::not_all_records:
      return "not all records of the work on the device have come: it had not ended, or could not "
             "be waited for";
    case absence::untimed: return "CUPTI gave no time for work on the device";
    case absence::lost: return "launches could not be noted, for want of memory";
    case absence::dropped: return "records of work on the device were dropped";
    case absence::several_kernels: return "several kernels share what the operator's formulas say";
    case absence::no_operator: return "outside any operator";
    case absence::no_time: return "took less than the clock can see";
    case absence::zero_bytes: return "bytes() is 0";
    case absence::merged: return "parameters not kept, for want of memory";
    case absence::invalid: return "invalid parameters, or a formula that gives no number for them";
    case absence::no_bytes: return "no bytes() declared";
    case absence::no_flops: return "no flops() declared";
    case absence::none: break;
  }
  return "known";
}

KPROF_DETAIL_END

#endif  // <kprof/model/metrics.hpp>

// <kprof/model/summary.hpp>
#ifndef KPROF_MODEL_SUMMARY_HPP
#define KPROF_MODEL_SUMMARY_HPP

// What a profile adds up to: one row an operator, and the call tree of all threads together.
// Include it to use the numbers of a run in a program. Pure: no I/O, no clock. Time and memory are
// linear in profile::nodes, sorting aside.

// <kprof/model/row_keys.hpp>
#ifndef KPROF_MODEL_ROW_KEYS_HPP
#define KPROF_MODEL_ROW_KEYS_HPP

// Keys of rows that are the same in every run of the program, so that a row can be named and found
// again. They are made of names, typed values and places in the source, and of no address, number
// or order of a run. Included by the summaries. Pure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// The 16 hexadecimal digits of a row's key.
///     row_key_text(kprof::operator_table(run)[0].key) == "5b1d0c6e8f2a9374"
inline std::string row_key_text(std::uint64_t key) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; key >>= 4U) out[i] = "0123456789abcdef"[key & 0xFU];
  return out;
}

namespace detail {

/// A hash of 64 bits over words and texts, the same on every machine. Each word is mixed in by a
/// bijection (the finalizer of SplitMix64), so that inputs of one shape collide by chance only.
class key_hash {
 public:
  key_hash() = default;
  explicit key_hash(std::uint64_t state) noexcept : state_(state) {}

  key_hash& add(std::uint64_t word) noexcept {
    std::uint64_t x = (state_ ^ word) + 0x9E3779B97F4A7C15U;
    x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27U) * 0x94D049BB133111EBU;
    state_ = x ^ x >> 31U;
    return *this;
  }
  key_hash& add(std::string_view text) noexcept {
    add(text.size());
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, 8);
      std::uint64_t word = 0;
      std::memcpy(&word, piece.data(), piece.size());
      add(word);
      text.remove_prefix(piece.size());
    }
    return *this;
  }
  std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0x6B70726F66000001U;  // "kprof" and the version of the keys
};

inline void hash_fields(key_hash& hash, const std::vector<operator_field>& fields) {
  hash.add(fields.size());
  for (const operator_field& f : fields) {
    hash.add(f.name).add(static_cast<std::uint64_t>(f.kind)).add(f.bits).add(f.extent);
    hash_fields(hash, f.fields);
  }
}

/// Hashes of what rows are made of.
class profile_keys {
 public:
  explicit profile_keys(const profile& p) : p_(p), hashes_(p.operators.size()) {
    for (std::size_t i = 0; i < p.operators.size(); ++i) {
      const operator_info& op = p.operators[i];
      // Another one of that name may have been declared first: the name as shown has a number then.
      key_hash hash;
      hash.add(op.declared_name.empty() ? op.name : op.declared_name);
      hash_fields(hash, op.fields);
      hashes_[i] = hash.value();
    }
  }

  /// The operator or, of another scope, its kind and name.
  key_hash scope(const scope_node& n) const {
    key_hash hash;
    hash.add(static_cast<std::uint64_t>(n.kind));
    if (n.op < hashes_.size()) hash.add(hashes_[n.op]);
    else if (n.kind == scope_kind::root) hash.add(thread_name(n));
    else hash.add(n.name);
    return hash;
  }
  /// The same and its parameters.
  key_hash call(const scope_node& n) const {
    return scope(n).add(n.merged ? 1U : 0U).add(n.values.packed);
  }
  /// The operator, and the parameters that are not folded, where rows are made of them.
  key_hash call(const scope_node& n, const std::vector<group_value>& values,
                profile_leaves& leaves) const {
    bool by_op = false, by_parameters = false;
    for (const group_value& v : values) {
      by_op = by_op || v.kind == group_key::op;
      by_parameters = by_parameters || v.kind == group_key::parameters;
    }
    if (!by_parameters) return by_op ? scope(n) : key_hash{};
    if (!leaves.lacks_folded(n)) return call(n);
    key_hash hash = scope(n).add(n.merged ? 1U : 0U);
    hash.add(leaves.of(n).without_folded(n.values.packed));
    for (const field_leaf& leaf : leaves.of(n).all())
      if (leaf.folded) hash.add(leaf.path);
    return hash;
  }

  /// Of a row of operators, by the values that its calls have in common; `n` is one of them. The
  /// order of the values makes no difference.
  std::uint64_t row(const scope_node& n, const std::vector<group_value>& values,
                    profile_leaves& leaves) const {
    key_hash hash = call(n, values, leaves);
    add_places(hash, values, thread_name(n));
    return hash.value();
  }
  /// Adds what is no part of an operator and its parameters.
  static void add_places(key_hash& hash, const std::vector<group_value>& values,
                         std::string_view thread) {
    std::vector<const group_value*> rest;
    for (const group_value& v : values)
      if (v.kind != group_key::op && v.kind != group_key::parameters) rest.push_back(&v);
    std::sort(rest.begin(), rest.end(), [](const group_value* a, const group_value* b) {
      return a->kind != b->kind ? a->kind < b->kind : a->key < b->key;
    });
    for (const group_value* v : rest) {
      hash.add(static_cast<std::uint64_t>(v->kind)).add(v->key).add(v->known ? 1U : 0U);
      hash.add(v->kind == group_key::thread ? thread : std::string_view{v->text});
    }
  }
  std::string_view thread_name(const scope_node& n) const noexcept {
    return n.thread < p_.threads.size() ? std::string_view{p_.threads[n.thread].name}
                                        : std::string_view{};
  }
  /// Of a row of the tree below the one with the key `parent`; 0 at the top.
  std::uint64_t tree_row(const scope_node& n, std::uint64_t parent) const {
    return call(n).add(parent).value();
  }

 private:
  const profile& p_;
  std::vector<std::uint64_t> hashes_;  // of operators
};

/// Gives another key to a row whose key an earlier one has, as rows of threads of one name do.
template <class Row>
void make_keys_differ(std::vector<Row>& rows) {
  numbering keys(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    while (keys.of(rows[i].key, [&](std::uint32_t k) { return rows[k].key == rows[i].key; }) != i)
      rows[i].key = key_hash(rows[i].key).add(1).value();
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/row_keys.hpp>

// <kprof/model/row_numbers.hpp>
#ifndef KPROF_MODEL_ROW_NUMBERS_HPP
#define KPROF_MODEL_ROW_NUMBERS_HPP

// Which row of the operator table each node of a profile belongs to, and which calls cover others.
// Included by summary.hpp. Pure; linear in profile::nodes times the keys of the grouping.

// <kprof/model/field_ranges.hpp>
#ifndef KPROF_MODEL_FIELD_RANGES_HPP
#define KPROF_MODEL_FIELD_RANGES_HPP

// The values that fields have within rows which hold several sets of parameters. Included by
// summary.hpp. Pure; linear in sets of parameters times their fields.

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

#endif  // <kprof/model/field_ranges.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// For each node the number of its operator's row or, for a region or graph, of the row of the
/// operator around it; none where there is no such row. Rows are numbered as they first appear.
/// Nodes that are not `kept`, and those in which nothing ran and nothing was launched, make no row;
/// the latter belong to the row that the same calls have on the thread which handed them over.
struct row_numbers {
  std::vector<std::uint32_t> row_of;
  std::vector<std::uint32_t> first;      // the first node of each row
  std::vector<std::uint64_t> variants;   // sets of parameters of each row
  std::vector<std::uint64_t> operators;  // their names
  // For each node of a row the number of its set of parameters in that row.
  std::vector<std::uint32_t> set_of;
  std::uint32_t sets = 0;
  std::vector<std::vector<field_range>> ranges;  // by row; empty where no row has any

  row_numbers(const profile& p, const grouping& by, group_numbers& groups,
              const std::vector<bool>& launched, const std::vector<bool>& kept)
      : row_of(p.nodes.size(), scope_node::none), set_of(p.nodes.size(), scope_node::none) {
    // A row of one set of parameters is the set.
    const bool one_set = by.has(group_key::parameters) && by.folded().empty();
    const auto makes_row = [&](std::size_t i) {
      return kept[i] && (!is_placeholder(p.nodes[i]) || launched[i]);
    };
    key_numbers keys(one_set ? p.nodes.size() : 0);
    std::vector<std::uint32_t> row_of_key, variant_of(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const auto node = static_cast<std::uint32_t>(i);
      groups.look_at(node);
      if (!kept[i]) continue;
      variant_of[i] = groups.variant_of(p.nodes[i]);
      row_of[i] = keys.of(groups.key_of({node, node}, variant_of[i])).first;
      if (row_of[i] == row_of_key.size()) row_of_key.push_back(scope_node::none);
      std::uint32_t& row = row_of_key[row_of[i]];
      if (row != scope_node::none || !makes_row(i)) continue;
      row = static_cast<std::uint32_t>(first.size());
      first.push_back(node);
    }
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (row_of[i] != scope_node::none) row_of[i] = row_of_key[row_of[i]];
      else if (p.nodes[i].kind != scope_kind::op && p.nodes[i].kind != scope_kind::root &&
               parent_of(p, i) != scope_node::none)
        row_of[i] = row_of[parent_of(p, i)];
    }
    variants.resize(first.size(), one_set ? 1 : 0);
    operators.resize(first.size(), by.has(group_key::op) ? 1 : 0);
    sets = static_cast<std::uint32_t>(first.size());
    for (std::size_t i = 0; one_set && i < p.nodes.size(); ++i)
      if (variant_of[i] != scope_node::none) set_of[i] = row_of[i];
    if (!one_set) find_sets(p, by, groups, variant_of, makes_row);
  }

 private:
  template <class MakesRow>
  void find_sets(const profile& p, const grouping& by, group_numbers& groups,
                 const std::vector<std::uint32_t>& variant_of, MakesRow makes_row) {
    const bool by_op = by.has(group_key::op);
    key_numbers numbers(p.nodes.size());
    text_numbers names;
    key_numbers names_of_rows{0};
    std::vector<std::uint32_t> node_of_set;  // none where nothing of it ran
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      if (variant_of[i] == scope_node::none || row_of[i] == scope_node::none) continue;
      set_of[i] = numbers.of({{row_of[i], variant_of[i]}}).first;
      if (set_of[i] == node_of_set.size()) node_of_set.push_back(scope_node::none);
      if (node_of_set[set_of[i]] != scope_node::none || !makes_row(i)) continue;
      node_of_set[set_of[i]] = static_cast<std::uint32_t>(i);
      ++variants[row_of[i]];
      if (!by_op && names_of_rows.of({{row_of[i], names.of(p.nodes[i].name)}}).second)
        ++operators[row_of[i]];
    }
    sets = static_cast<std::uint32_t>(node_of_set.size());
    range_summing sums(groups.leaves());
    for (const std::uint32_t node : node_of_set) {
      if (node == scope_node::none) continue;
      const std::uint32_t row = row_of[node];
      sums.add(row, p.nodes[node], variants[row] > 1 && operators[row] == 1);
    }
    ranges = sums.finish(first.size());
  }
};

/// For each node whether calls of its row that begin in it are covered by it: calls of it ended or
/// were replayed. A path that another thread handed over covers as the calls do that handed it
/// over, where they are of the same row. A call that is still open is in no total and covers
/// nothing.
inline std::vector<bool> covering_nodes(const profile& p,
                                        const std::vector<std::uint32_t>& row_of) {
  std::vector<bool> covers(p.nodes.size());
  bool any_handed_over = false;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind != scope_kind::op) continue;
    covers[i] = n.calls + n.replays > 0;
    any_handed_over = any_handed_over || (is_placeholder(n) && row_of[i] != scope_node::none);
  }
  if (!any_handed_over) return covers;
  const std::vector<std::uint32_t> paths = path_numbers(p);
  key_numbers numbers(0);
  std::vector<bool> ended;
  std::vector<std::uint32_t> of(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    if (p.nodes[i].kind != scope_kind::op) continue;
    of[i] = numbers.of({{paths[i], row_of[i]}}).first;
    if (of[i] == ended.size()) ended.push_back(false);
    if (covers[i]) ended[of[i]] = true;
  }
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].kind == scope_kind::op && is_placeholder(p.nodes[i]))
      covers[i] = ended[of[i]] && row_of[i] != scope_node::none;
  return covers;
}

/// For each operator's node whether work was launched in it, or in regions and graphs in it.
inline std::vector<bool> launched_in(const profile& p, const device_sums& device) {
  std::vector<bool> launched(p.nodes.size());
  if (device.own.empty()) return launched;
  const std::vector<std::uint32_t> operators = operators_around(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (operators[i] != scope_node::none && device.own[i].runs() > 0) launched[operators[i]] = true;
  return launched;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/row_numbers.hpp>

// <kprof/model/tree_summary.hpp>
#ifndef KPROF_MODEL_TREE_SUMMARY_HPP
#define KPROF_MODEL_TREE_SUMMARY_HPP

// The call tree of a profile, all threads together or each apart. Included by summary.hpp. Pure: no
// I/O, no clock. Time and memory are linear in profile::nodes, sorting aside.

// <kprof/model/branch_work.hpp>
#ifndef KPROF_MODEL_BRANCH_WORK_HPP
#define KPROF_MODEL_BRANCH_WORK_HPP

// What the formulas of operators say of a branch of the call tree, each call counted once. Included
// by tree_summary.hpp. Pure; linear in profile::nodes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// FLOPs or bytes of a branch.
struct branch_sum {
  double all = 0;
  double on_device = 0;                 // of calls with work on a device
  double calls_on_device = 0;           // that have a number
  bool any = false;                     // calls with a number
  absence why = absence::none;          // of calls whose number is not known
  absence none = absence::no_operator;  // why there is no number, where there is none

  /// Adds a branch below.
  void add(const branch_sum& below) noexcept {
    all += below.all;
    on_device += below.on_device;
    calls_on_device += below.calls_on_device;
    any = any || below.any;
    why = std::max(why, below.why);
    // An operator without a formula says more than that there is no operator.
    if (none == absence::no_operator) none = below.none;
    else if (below.none != absence::no_operator) none = std::max(none, below.none);
  }
  figure value() const noexcept {
    return {all, why != absence::none ? why : any ? absence::none : none};
  }
};

/// Sums nodes into branches, and these into rows of the tree.
class branch_work {
 public:
  /// `threads_apart`: a path that another thread handed over covers nothing, since its calls are in
  /// the tree of that thread.
  branch_work(const profile& p, const device_sums& device, bool threads_apart)
      : p_(p), device_(device), row_of_(p.nodes.size(), scope_node::none) {
    covers_ = covering_nodes(
        p, std::vector<std::uint32_t>(p.nodes.size(), threads_apart ? scope_node::none : 0));
  }

  /// Puts a node into a row; a row that is new has the next number.
  void add(std::uint32_t row, std::uint32_t node) {
    if (row == rows_.size()) rows_.emplace_back();
    row_of_[node] = row;
    if (device_.own.empty()) return;
    rows_[row].device.add(device_.whole[node]);
    rows_[row].handed_over = rows_[row].handed_over ||
                             (is_placeholder(p_.nodes[node]) && device_.whole[node].runs() > 0);
  }

  /// When all nodes have their rows. An operator covers all below it.
  void sum_up() {
    std::vector<branch_sum> flops(p_.nodes.size()), bytes(p_.nodes.size());
    for (std::size_t i = p_.nodes.size(); i-- > 0;) {
      const scope_node& n = p_.nodes[i];
      if (n.kind == scope_kind::op) {
        close(i, says_flops(n), static_cast<double>(n.work.flops), absence::no_flops, flops[i]);
        close(i, says_bytes(n),
              static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written),
              absence::no_bytes, bytes[i]);
      }
      if (const std::uint32_t parent = parent_of(p_, i); parent != scope_node::none) {
        flops[parent].add(flops[i]);
        bytes[parent].add(bytes[i]);
      }
      if (row_of_[i] == scope_node::none) continue;
      rows_[row_of_[i]].flops.add(flops[i]);
      rows_[row_of_[i]].bytes.add(bytes[i]);
    }
  }

  figure flops(std::uint32_t row) const noexcept { return rows_[row].flops.value(); }
  figure bytes(std::uint32_t row) const noexcept { return rows_[row].bytes.value(); }
  figure flops_per_s(std::uint32_t row, double host_ns) const noexcept {
    return rate(rows_[row], rows_[row].flops, host_ns);
  }
  figure bytes_per_s(std::uint32_t row, double host_ns) const noexcept {
    return rate(rows_[row], rows_[row].bytes, host_ns);
  }

 private:
  struct row_work {
    bool handed_over = false;  // other threads launched for it
    branch_sum flops, bytes;
    device_sum device{};  // of the branch
  };

  // The sum of what is below becomes that of the whole branch.
  void close(std::size_t node, bool has_number, double per_call, absence lacking,
             branch_sum& sum) const noexcept {
    const scope_node& n = p_.nodes[node];
    if (!covers_[node]) {
      if (!sum.any && sum.none == absence::no_operator) sum.none = absence::no_calls;
      return;
    }
    if (!has_number) {
      const absence why = n.merged        ? absence::merged
                          : !n.work.valid ? absence::invalid
                                          : absence::none;
      sum.why = std::max(sum.why, why);
      if (why == absence::none)
        sum.none = sum.none == absence::no_operator ? lacking : std::max(sum.none, lacking);
      return;
    }
    const row_work* const row = row_of_[node] == scope_node::none ? nullptr : &rows_[row_of_[node]];
    const bool on_device = row != nullptr && (row->device.runs() > 0 || row->device.unrecorded > 0);
    const std::uint64_t done = executions(n),
                        idle = on_device && row->handed_over ? 0 : std::min(n.unlaunched, done);
    const double launched = on_device ? static_cast<double>(done - idle) : 0;
    sum = {};
    sum.any = done > 0;
    if (done == 0) sum.none = absence::no_calls;
    sum.all = static_cast<double>(done) * per_call;
    sum.on_device = launched * per_call;
    sum.calls_on_device = launched;
  }

  figure rate(const row_work& row, const branch_sum& sum, double host_ns) const noexcept {
    const figure whole = sum.value();
    if (row.device.runs() == 0 && row.device.unrecorded == 0)
      return ratio(whole, host_ns * 1e-9, absence::no_time);
    const absence timed = std::max({device_time_known(row.device), records_known(p_, row.device),
                                    sum.calls_on_device > 0 ? absence::none : absence::no_calls});
    return ratio({sum.on_device, std::max(whole.why, timed)}, row.device.ns * 1e-9,
                 absence::no_time);
  }

  const profile& p_;
  const device_sums& device_;
  std::vector<std::uint32_t> row_of_;  // by node
  std::vector<bool> covers_;           // by node
  std::vector<row_work> rows_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/branch_work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// The order of siblings in the call tree.
enum class tree_order : std::uint8_t {
  time,  ///< most device time first, where there is any, then the largest total in their branch
  run,   ///< as they first began; those of another thread behind those of an earlier one
};

/// A node of the call tree of all threads together.
///
/// `flops` and `bytes` are what the formulas of the operators in the branch say, that is of the row
/// and all rows below it, each counted once: of nested operators the outermost that has a formula,
/// since it covers what it calls. Operators without one add nothing. Rates divide them by
/// `total_ns` or, where the branch has work on a device, what they say of calls with such work by
/// `device_total_ns`.
struct tree_row {
  /// The same in every run of the program: see row_key_text(). Made of the whole path; no two rows
  /// have the same.
  std::uint64_t key = 0;
  scope_kind kind = scope_kind::region;
  std::string name;
  std::string parameters;  ///< their text
  /// Index in profile::nodes of the row's first node: its operator and typed values.
  std::uint32_t node = scope_node::none;
  bool merged = false;  ///< its calls' parameters were not kept
  bool invalid = false;
  /// Index of the row above, always smaller; none at the top.
  std::uint32_t parent = scope_node::none;
  std::uint32_t depth = 0;
  std::uint32_t thread = scope_node::none;  ///< of a root: index in profile::threads
  /// Finished; 0 also where all calls are of a thread that handed its path to this one.
  std::uint64_t calls = 0;
  /// Calls made by replaying graphs, not in `calls`; of a graph, its launches.
  std::uint64_t replays = 0;
  std::uint64_t open = 0;
  double open_ns = 0;
  double total_ns = 0;
  double self_ns = 0;  ///< of the scope alone: regions in an operator keep their own
  /// The largest total, that of open calls included, of the row and all rows below it.
  double largest_ns = 0;
  double total_share = 0;  ///< total time, of the self time of all scopes of the profile
  double self_share = 0;
  double device_ns = 0;        ///< work on the devices that was launched in the scope alone
  double device_total_ns = 0;  ///< in the scope and in all below it
  double device_share = 0;     ///< device_total_ns, of the time of all work of the devices
  figure flops{}, bytes{};
  figure flops_per_s{}, bytes_per_s{};
};

namespace detail {

/// Adds up, for each thread's row, what ran on that thread outside any other scope that ran on it.
/// A path that another thread handed over leads to work, but takes no time here, and so hides
/// nothing.
inline void sum_threads(const profile& p, const std::vector<std::uint32_t>& row_of,
                        std::vector<tree_row>& rows) {
  // of nodes in no scope of their thread
  std::vector<std::uint32_t> thread_row(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind == scope_kind::root) {
      thread_row[i] = row_of[i];
      continue;
    }
    const std::uint32_t parent = parent_of(p, i),
                        row = parent == scope_node::none ? scope_node::none : thread_row[parent];
    if (is_placeholder(n)) thread_row[i] = row;
    if (row == scope_node::none) continue;
    rows[row].total_ns += not_negative(n.total_ns);
    rows[row].open_ns += not_negative(n.open_ns);
  }
}

/// Rows in the order of creation: a row of the tree stands for all nodes with the same path.
inline std::vector<tree_row> merge_paths(const profile& p, bool threads_apart) {
  const device_sums device(p);
  branch_work work(p, device, threads_apart);
  text_numbers names, parameters(p.nodes.size());
  key_numbers numbers(p.nodes.size());
  const profile_keys keys(p);
  std::vector<tree_row> rows;
  std::vector<std::uint32_t> row_of(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const bool root = n.kind == scope_kind::root;
    if (root && !threads_apart) continue;
    const std::uint32_t parent =
        parent_of(p, i) == scope_node::none ? scope_node::none : row_of[parent_of(p, i)];
    const row_key key{{parent, static_cast<std::uint32_t>(n.kind), names.of(n.name),
                       parameters.of(n.values.packed), operator_part(n), root ? n.thread : 0U}};
    const auto [number, is_new] = numbers.of(key);
    row_of[i] = number;
    if (is_new) {
      rows.push_back({.key = 0,
                      .kind = n.kind,
                      .name = n.name,
                      .parameters = parameter_text(p, n),
                      .node = static_cast<std::uint32_t>(i),
                      .merged = n.merged,
                      .parent = parent});
      rows.back().key = keys.tree_row(n, parent == scope_node::none ? 0 : rows[parent].key);
      if (parent != scope_node::none) rows.back().depth = rows[parent].depth + 1;
      if (root) rows.back().thread = n.thread;
    }
    tree_row& row = rows[number];
    work.add(number, static_cast<std::uint32_t>(i));
    if (!device.own.empty()) {
      row.device_ns += device.own[i].ns;
      row.device_total_ns += device.whole[i].ns;
    }
    if (root) continue;
    row.invalid = row.invalid || !n.work.valid;
    row.calls += n.calls;
    row.replays += n.replays;
    row.open += n.open;
    row.open_ns += not_negative(n.open_ns);
    row.total_ns += not_negative(n.total_ns);
    row.self_ns += not_negative(n.self_ns);
  }
  if (threads_apart) sum_threads(p, row_of, rows);
  work.sum_up();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].flops = work.flops(i);
    rows[i].bytes = work.bytes(i);
    rows[i].flops_per_s = work.flops_per_s(i, rows[i].total_ns);
    rows[i].bytes_per_s = work.bytes_per_s(i, rows[i].total_ns);
  }
  for (std::size_t i = rows.size(); i-- > 0;) {  // a parent comes before its children
    rows[i].largest_ns = std::max(rows[i].largest_ns, rows[i].total_ns + rows[i].open_ns);
    if (rows[i].parent == scope_node::none) continue;
    tree_row& above = rows[rows[i].parent];
    above.largest_ns = std::max(above.largest_ns, rows[i].largest_ns);
    // sums of the same times in another order
    above.device_total_ns = std::max(above.device_total_ns, rows[i].device_total_ns);
  }
  return rows;
}

/// The order of siblings: most device time first, then by `largest_ns`.
inline bool is_larger(const tree_row& a, const tree_row& b) noexcept {
  return a.device_total_ns != b.device_total_ns ? a.device_total_ns > b.device_total_ns
                                                : a.largest_ns > b.largest_ns;
}

}  // namespace detail

/// The call tree, a parent before its children and these in the given order. By time, what handed
/// its work to other threads stands where that work belongs, by `largest_ns`. Nodes with the same
/// path (kinds, names and parameters) are one row: call sites, and threads unless `threads_apart`,
/// make no difference. Threads are rows only if `threads_apart`; their times are those of the
/// outermost scopes that ran on them.
inline std::vector<tree_row> call_tree(const profile& p, bool threads_apart = false,
                                       tree_order by = tree_order::time) {
  constexpr std::uint32_t none = scope_node::none;
  std::vector<tree_row> rows = detail::merge_paths(p, threads_apart);
  std::vector<std::uint32_t> first(rows.size(), none), next(rows.size(), none);
  const std::vector<std::uint32_t> order =
      detail::sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
        return by == tree_order::time && detail::is_larger(rows[a], rows[b]);
      });
  std::uint32_t top = none;
  for (std::size_t i = order.size(); i-- > 0;) {  // what is linked last comes first
    const std::uint32_t row = order[i];
    std::uint32_t& head = rows[row].parent == none ? top : first[rows[row].parent];
    next[row] = head;
    head = row;
  }
  const double all = detail::all_self_ns(p), all_device = detail::all_device_work(p).ns;
  std::vector<tree_row> tree;
  tree.reserve(rows.size());
  // a row yet to come, and the place of its parent
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path;
  if (top != none) path.emplace_back(top, none);
  while (!path.empty()) {
    const auto [at, parent] = path.back();
    path.pop_back();
    if (next[at] != none) path.emplace_back(next[at], parent);
    if (first[at] != none) path.emplace_back(first[at], static_cast<std::uint32_t>(tree.size()));
    tree_row& row = rows[at];
    row.parent = parent;
    row.total_share = all > 0 ? row.total_ns / all : 0;
    row.self_share = all > 0 ? row.self_ns / all : 0;
    row.device_share = detail::share_of(row.device_total_ns, all_device);
    tree.push_back(std::move(row));
  }
  detail::make_keys_differ(tree);
  return tree;
}

KPROF_DETAIL_END

#endif  // <kprof/model/tree_summary.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

namespace detail {

/// Sums the nodes of a profile into rows.
class row_summing {
 public:
  /// `kept`: which nodes are calls that rows are made of.
  row_summing(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : p_(p),
        groups_(p, by),
        device_(p),
        numbers_(p, by, groups_, launched_in(p, device_), kept),
        covers_(covering_nodes(p, numbers_.row_of)),
        sums_(numbers_.first.size()) {
    if (!device_.own.empty()) {
      on_device_.resize(sums_.size());
      variants_.resize(numbers_.sets);
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const scope_node& first = p.nodes[numbers_.first[i]];
      sums_[i].begin(first, numbers_.operators[i]);
      sums_[i].row.node = numbers_.first[i];
      sums_[i].row.variants = numbers_.variants[i];
      if (numbers_.variants[i] == 1 || by.has(group_key::parameters))
        sums_[i].row.parameters = groups_.leaves().text(first);
    }
    walk(
        p, [&](std::uint32_t node) { enter(node); }, [&](std::uint32_t node) { leave(node); });
  }

  std::vector<operator_row> finish() {
    for (const variant_sum& v : variants_)
      if (v.row != scope_node::none) on_device_[v.row].add(v);
    const double all = all_self_ns(p_), all_device = all_device_work(p_).ns;
    std::vector<operator_row> table;
    table.reserve(sums_.size());
    const profile_keys keys(p_);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      table.push_back(sums_[i].finish(all, p_.clock.ns_per_tick));
      operator_row& row = table.back();
      row.values = groups_.values_of({row.node, row.node});
      row.key = keys.row(p_.nodes[row.node], row.values, groups_.leaves());
      for (const group_value& v : row.values)
        if (v.kind == group_key::pass) row.pass = pass_of_name(v.text), row.several_passes = false;
      if (!numbers_.ranges.empty()) row.ranges = std::move(numbers_.ranges[i]);
      if (on_device_.empty()) continue;
      on_device_[i].finish(table.back(), all_device, p_);
    }
    make_keys_differ(table);
    return table;
  }

  /// For each node the number of its row, as in row_numbers.
  std::vector<std::uint32_t> take_rows_of_nodes() { return std::move(numbers_.row_of); }

 private:
  row_sum* row_of(std::uint32_t node) noexcept {
    return numbers_.row_of[node] == scope_node::none ? nullptr : &sums_[numbers_.row_of[node]];
  }

  void enter(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    row->row.self_ns += not_negative(n.self_ns);
    if (!on_device_.empty()) enter_device(node, on_device_[numbers_.row_of[node]]);
    if (n.kind != scope_kind::op) return;
    const counted_call counted = row->counted();
    if (!is_placeholder(n)) row->add(n, counted);
    if (!variants_.empty()) enter_variant(node, counted);
    if (covers_[node]) row->enter(n);
  }

  void enter_variant(std::uint32_t node, const counted_call& counted) {
    variant_sum& variant = variants_[numbers_.set_of[node]];
    variant.row = numbers_.row_of[node];
    if (device_.whole[node].runs() > 0 || device_.whole[node].unrecorded > 0) {
      variant.on_device = true;
      variant.handed_over = variant.handed_over || is_placeholder(p_.nodes[node]);
    }
    variant.add(p_.nodes[node], counted);
  }

  void enter_device(std::uint32_t node, device_row_sum& row) {
    row.own.add(device_.own[node]);
    if (p_.nodes[node].kind == scope_kind::op && row.active++ == 0)
      row.total.add(device_.whole[node]);
  }

  void leave(std::uint32_t node) {
    const scope_node& n = p_.nodes[node];
    row_sum* const row = row_of(node);
    if (row == nullptr) return;
    if (covers_[node]) row->leave(n);
    if (!on_device_.empty() && n.kind == scope_kind::op) --on_device_[numbers_.row_of[node]].active;
  }

  const profile& p_;
  group_numbers groups_;
  device_sums device_;
  row_numbers numbers_;
  std::vector<bool> covers_;
  std::vector<row_sum> sums_;
  std::vector<device_row_sum> on_device_;  // by row, where there is work on a device
  std::vector<variant_sum> variants_;      // the same by set of parameters in a row
};

}  // namespace detail

/// A table and, for each node of the profile, the number of its row; none where it has no row. A
/// region or graph belongs to the row of the operator around it.
struct operator_rows {
  std::vector<operator_row> rows;
  std::vector<std::uint32_t> row_of;
};

/// The table of the calls for whose nodes keep(const scope_node&) says true, and what is in which
/// row. Keep is asked about operators only. The other calls are in no row, nor is the time of
/// regions in them; shares are still of all scopes.
template <class Keep>
operator_rows operator_rows_of(const profile& p, const grouping& by, Keep keep) {
  std::vector<bool> kept(p.nodes.size());
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = p.nodes[i].kind == scope_kind::op && keep(p.nodes[i]);
  detail::row_summing sums(p, by, kept);
  std::vector<operator_row> rows = sums.finish();
  return {std::move(rows), sums.take_rows_of_nodes()};
}

/// The table alone.
///     operator_table(p, grouping::op, [](const scope_node& n) { return n.work.type == dtype::f16;
///     });
template <class Keep>
std::vector<operator_row> operator_table(const profile& p, const grouping& by, Keep keep) {
  return operator_rows_of(p, by, keep).rows;
}

/// One row for each operator, set of parameters, ... of the profile, in the order in which the
/// profile names them. Operators of which no call has finished or is open, and that launched
/// nothing, have none.
///     for (const auto& row : kprof::operator_table(p, kprof::grouping::op)) use(row.name,
///     row.flops_per_s);
inline std::vector<operator_row> operator_table(const profile& p,
                                                const grouping& by = grouping::parameters) {
  return operator_table(p, by, [](const scope_node&) { return true; });
}

/// The sum of the calls for which keep(const scope_node&) says true, as one row. Nothing counts
/// twice: a call inside another one adds no time, and its FLOPs and bytes count only where no call
/// around it has a formula for them. So its FLOPs may be less than those of the rows of a table
/// summed, in which nested operators are rows of their own; calls and self times are their sum.
template <class Keep>
operator_row operator_total(const profile& p, Keep keep) {
  std::vector<operator_row> rows = operator_table(p, grouping::nothing(), keep);
  return rows.empty() ? operator_row{} : std::move(rows[0]);
}
/// Of all calls.
inline operator_row operator_total(const profile& p) {
  return operator_total(p, [](const scope_node&) { return true; });
}

KPROF_DETAIL_END

#endif  // <kprof/model/summary.hpp>

// <kprof/report/table/dimensions.hpp>
#ifndef KPROF_REPORT_TABLE_DIMENSIONS_HPP
#define KPROF_REPORT_TABLE_DIMENSIONS_HPP

// The texts of an operator row, a line each: what calls a row stands for. Included by the outputs,
// beside the metrics, which are its numbers. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// A thread's name and number; for threads kept together, how many.
inline std::string thread_name(const profile& p, std::uint32_t index) {
  if (index >= p.threads.size()) return "several";
  const thread_info& t = p.threads[index];
  if (t.merged > 0) return format_count(t.merged) + " ended threads";
  return t.name.empty() ? std::to_string(t.id) : t.name + ' ' + std::to_string(t.id);
}

/// One text of a row, as the program gave it; empty where it differs from call to call or is not
/// known.
struct dimension {
  const char* id;     ///< as in report_options::columns; the same in every version
  const char* label;  ///< header of a table for people
  const char* meaning;
  std::string (*of)(const profile& p, const operator_row& row);
};

inline std::string name_of(const profile&, const operator_row& row) { return row.name; }
inline std::string parameters_of(const profile&, const operator_row& row) { return row.parameters; }
inline std::string call_site_of(const profile&, const operator_row& row) {
  return row.file.empty() ? "" : row.file + ':' + std::to_string(row.line);
}
inline std::string thread_of(const profile& p, const operator_row& row) {
  return row.thread == scope_node::none ? "" : thread_name(p, row.thread);
}
inline std::string dtype_of(const profile&, const operator_row& row) {
  return row.type == dtype::unknown ? "" : dtype_name(row.type);
}
inline std::string pass_of(const profile&, const operator_row& row) {
  return row.pass == pass_kind::unknown ? "" : pass_name(row.pass);
}

inline constexpr dimension dimensions[] = {
    {"operator", "operator", "name of the operator", &name_of},
    {"parameters", "parameters",
     "parameters of a call, or how many sets of them the row holds; `invalid` where valid() is "
     "false or a formula overflowed or went negative",
     &parameters_of},
    {"call_site", "call site", "file and line of the guard", &call_site_of},
    {"thread", "thread", "name and number of the thread, as the operating system has them",
     &thread_of},
    {"dtype", "dtype", "type of the elements that the operator computes with", &dtype_of},
    {"pass", "pass",
     "what the call is for: `fprop`, `bprop`, `dgrad`, `wgrad`, `bgrad`, `update` or `recompute`",
     &pass_of},
};

inline constexpr std::size_t dimension_count = sizeof(dimensions) / sizeof(dimensions[0]);

/// The place of the dimension of that id; dimension_count: there is none.
constexpr std::size_t place_of_dimension(std::string_view id) noexcept {
  std::size_t place = 0;
  while (place < dimension_count && id != dimensions[place].id) ++place;
  return place;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/table/dimensions.hpp>

// <kprof/report/text/page.hpp>
#ifndef KPROF_REPORT_TEXT_PAGE_HPP
#define KPROF_REPORT_TEXT_PAGE_HPP

// A page of text of a given width: lines and paragraphs. Included by the text reports. What is put
// on a page never runs over its width, however narrow it is and whatever the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t widest_page = 1000;
// columns of foreign text that are ever looked at
inline constexpr std::size_t longest_text = 1000;

/// Like printable(), but keeps the end of a text that is too long: for paths.
inline std::string printable_end(std::string_view text, std::size_t width, bool ascii) {
  const std::size_t from = text.size() > longest_text ? text.size() - longest_text : 0;
  std::string out = printable(text.substr(from), 10 * longest_text, ascii);
  std::size_t used = display_width(out);
  if (used <= width && from == 0) return out;
  const std::string_view ellipsis = ascii ? "..." : "\u2026";
  const std::size_t room = width >= display_width(ellipsis) ? width - display_width(ellipsis) : 0;
  std::string_view rest = out;
  while (!rest.empty() && (used > room || width_of(first_character(rest).value) == 0)) {
    const code_point c = first_character(rest);
    used -= width_of(c.value);
    rest.remove_prefix(c.size);
  }
  return room == 0 ? std::string(width, '.') : std::string(ellipsis).append(rest);
}

/// Like printable(), but keeps both ends of a text that is too long: for kernels, whose names begin
/// and end with what tells them apart.
inline std::string printable_ends(std::string_view text, std::size_t width, bool ascii) {
  std::string out = printable(text, longest_text, ascii);
  if (display_width(out) <= width) return out;
  std::size_t used = 0, size = 0;
  while (size < out.size()) {
    const code_point c = first_character(std::string_view{out}.substr(size));
    if (used + width_of(c.value) > width / 2) break;
    used += width_of(c.value);
    size += c.size;
  }
  return out.substr(0, size) + printable_end(std::string_view{text}, width - used, ascii);
}

/// How a line looks on a terminal.
enum class line_style : std::uint8_t { plain, bold, dim };

class page {
 public:
  page(std::size_t width, bool ascii, bool color = false)
      : width_(width), ascii_(ascii), color_(color) {}

  std::size_t width() const noexcept { return width_; }
  bool ascii() const noexcept { return ascii_; }
  std::string take() { return std::move(text_); }

  std::string time(double ns) const { return format_time(ns, ascii_); }
  std::string safe(std::string_view foreign) const {
    return printable(foreign, longest_text, ascii_);
  }
  const char* dot() const noexcept { return ascii_ ? " | " : " \u00B7 "; }

  /// One line of printable text. The caller sees to it that it fits; if not, it is cut.
  [[gnu::cold]] void line(std::string_view text = {}, line_style style = line_style::plain) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    const bool styled = color_ && style != line_style::plain && !text.empty();
    if (styled) text_ += style == line_style::bold ? "\x1b[1m" : "\x1b[2m";
    if (display_width(text) <= width_) text_ += text;
    else text_ += cut(text, width_);
    if (styled) text_ += "\x1b[0m";
    text_ += '\n';
  }

  /// An empty line, unless there is one.
  void space() {
    if (!text_.ends_with("\n\n")) line();
  }

  void rule(std::size_t width) {
    std::string dashes;
    for (std::size_t i = 0; i < std::min(width, width_); ++i) dashes += ascii_ ? "-" : "\u2500";
    line(dashes);
  }

  /// `lead`, then printable text broken at spaces, its further lines indented by `indent`.
  [[gnu::cold]] void paragraph(std::string lead, std::string_view text, std::size_t indent) {
    std::string current = std::move(lead);
    std::size_t used = display_width(current), begin = used;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, word_end(text));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      add_word(word, current, used, begin, indent);
    }
    line(current);
  }

  /// `lead`, then as many of the names (foreign text) as fit on its line, each with its note, and
  /// how many more there are.
  [[gnu::cold]] void list(const std::string& lead, const std::vector<std::string>& names,
                          const std::vector<std::string>& notes = {}) {
    const std::size_t before = display_width(lead),
                      room = before + 20 <= width_ ? width_ - before : width_;
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = printable(names[i], 40, ascii_) + (notes.empty() ? "" : notes[i]);
      const std::string more = " and " + format_count(names.size() - i) + " more";
      const std::size_t reserve = i + 1 == names.size() ? 0 : more.size();
      if (i > 0 && display_width(text) + 2 + display_width(name) + reserve > room) {
        text += more;
        break;
      }
      text.append(i > 0 ? ", " : "").append(name);
    }
    paragraph("", lead + text, 2);
  }

 private:
  // A number stays on the line of its unit.
  static std::size_t word_end(std::string_view text) noexcept {
    std::size_t end = text.find(' ');
    while (end != std::string_view::npos && end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
      end = text.find(' ', end + 1);
    return end;
  }
  // `begin`: where the text of the current line begins; no space is put there.
  [[gnu::cold]] void add_word(std::string_view word, std::string& current, std::size_t& used,
                              std::size_t& begin, std::size_t indent) {
    const std::size_t wide = display_width(word);
    if (used > begin && used + 1 + wide > width_ && (wide <= width_ - indent || used + 8 > width_))
      new_line(current, used, begin, indent);
    if (used > begin) current += ' ', ++used;
    while (!word.empty()) {
      const code_point c = first_character(word);
      if (used + width_of(c.value) > width_) new_line(current, used, begin, indent);
      current.append(word.substr(0, c.size));
      used += width_of(c.value);
      word.remove_prefix(c.size);
    }
  }
  void new_line(std::string& current, std::size_t& used, std::size_t& begin, std::size_t indent) {
    line(current);
    current.assign(indent, ' ');
    used = begin = indent;
  }
  static std::string_view cut(std::string_view text, std::size_t width) {
    std::size_t used = 0, size = 0;
    while (size < text.size()) {
      const code_point c = first_character(text.substr(size));
      used += width_of(c.value);
      if (used > width) break;
      size += c.size;
    }
    return text.substr(0, size);
  }

  std::size_t width_;
  bool ascii_, color_;
  std::string text_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/page.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// How a column's cells are written.
enum class look : std::uint8_t {
  name,
  parameters,  // described by row_describer
  call_site,
  thread,
  pass,
  type,
  bar,
  calls,
  open,
  time,
  share,
  rate,
  ratio,
  si
};

// from here on columns give way to readable parameters
inline constexpr unsigned comfort_rank = 10;
// neither shown unasked nor explained: a run without a device has none
inline constexpr unsigned not_here = 1000;

/// A metric or a dimension, and how the table shows it.
struct column {
  const char* id;  // as in report_options::columns and ::sort
  const char* header;
  look as;
  unsigned rank;         // where not all fit, the highest goes first; 0: shown only on request
  unsigned device_rank;  // the same for a run with work on a device
  const metric* number;  // nullptr: a text
  const char* meaning;
  const char* device_meaning;

  constexpr bool is(std::string_view other) const noexcept { return other == id; }
};

/// Not a constant, and so no column, where nothing is declared by that id.
consteval column make_column(std::string_view id, look as, unsigned rank, unsigned device_rank) {
  if (const std::size_t place = place_of_metric(id); place < metric_count) {
    const metric& m = metrics[place];
    return {m.id, m.label, as, rank, device_rank, &m, m.meaning, m.meaning_in(true)};
  }
  const dimension& d = dimensions[place_of_dimension(id)];
  return {d.id, d.label, as, rank, device_rank, nullptr, d.meaning, d.meaning};
}

/// A bar beside a share.
constexpr column bar_column(const char* id, unsigned rank, unsigned device_rank) {
  return {id, "", look::bar, rank, device_rank, nullptr, "", ""};
}

inline constexpr column columns[] = {
    make_column("operator", look::name, 1, 1),
    make_column("parameters", look::parameters, 2, 2),
    make_column("call_site", look::call_site, 6, 5),
    make_column("thread", look::thread, 6, 5),
    make_column("pass", look::pass, 2, 2),
    make_column("calls", look::calls, 4, 4),
    make_column("replays", look::calls, not_here, 0),
    make_column("open", look::open, 5, 5),
    make_column("device", look::time, not_here, 2),
    bar_column("device_bar", not_here, 10),
    make_column("device_share", look::share, not_here, 3),
    make_column("device_total", look::time, not_here, 11),
    make_column("kernels", look::calls, not_here, 9),
    make_column("copies", look::calls, not_here, 16),
    make_column("gap", look::time, not_here, 15),
    make_column("self", look::time, 2, 8),
    bar_column("bar", 9, not_here),
    make_column("share", look::share, 3, 14),
    make_column("total", look::time, 12, 13),
    make_column("median", look::time, 7, 12),
    make_column("mean", look::time, 11, 17),
    make_column("p99", look::time, 0, 0),
    make_column("min", look::time, 15, 20),
    make_column("max", look::time, 14, 19),
    make_column("gflops", look::rate, 8, 6),
    make_column("gbs", look::rate, 10, 7),
    make_column("intensity", look::ratio, 13, 10),
    make_column("flops", look::si, 0, 0),
    make_column("bytes", look::si, 0, 0),
    make_column("dtype", look::type, 0, 0),
};

/// By its name, or by its header.
inline const column* find_column(std::string_view name) noexcept {
  for (const column& c : columns)
    if (c.as != look::bar && (name == c.id || name == c.header)) return &c;
  return name == "name" ? &columns[0] : nullptr;
}

inline std::string column_names() {
  std::string all;
  for (const column& c : columns)
    if (c.as != look::bar) all.append(all.empty() ? "" : ", ").append(c.id);
  return all;
}

/// `nested`: rows have work on the device in operators inside them alone, or most of it; rates are
/// over that too.
inline unsigned rank_of(const column& c, bool device, bool nested = false) noexcept {
  if (nested && c.is("device_total")) return 6;
  return device ? c.device_rank : c.rank;
}

inline bool is_foreign(const column& c) noexcept { return c.as <= look::thread; }

// ---- cells

/// The values by which rows differ that have no column of their own: "pass=fprop M=4".
inline std::string keys_text(const std::vector<group_value>& values) {
  std::string out;
  for (const group_value& v : values) {
    if (v.kind == group_key::op || v.kind == group_key::parameters ||
        v.kind == group_key::call_site || v.kind == group_key::thread)
      continue;
    out.append(out.empty() ? "" : " ").append(v.key).append("=").append(v.known ? v.text : "n/a");
  }
  return out;
}

inline std::string call_site_cell(const operator_row& row) {
  if (row.several_sites) return "several";
  return row.file.empty() ? "unknown" : row.file + ':' + std::to_string(row.line);
}

inline std::string calls_cell(std::uint64_t calls) {
  return calls < 1'000'000'000 ? format_count(calls) : format_si(static_cast<double>(calls));
}

inline std::string open_cell(std::uint64_t open, double open_ns, const page& out) {
  return open == 0 ? std::string{} : calls_cell(open) + " for " + out.time(open_ns);
}

/// A number in the units of the profile: nanoseconds, bytes, operations, and these a second.
inline std::string number_cell(look as, double x, const page& out) {
  switch (as) {
    // A count of 2^64 - 1 is not below 2^64 as a double.
    case look::calls: return x < 1e9 ? calls_cell(static_cast<std::uint64_t>(x)) : format_si(x);
    case look::time: return out.time(x);
    case look::share: return format_share(x);
    case look::rate: return format_rate(x * 1e-9);
    case look::ratio: return format_rate(x);
    default: return format_si(x);
  }
}

inline std::string cell(const column& c, const operator_row& row, const profile& p,
                        const page& out) {
  switch (c.as) {
    case look::name:
      if (row.operators > 1) return format_count(row.operators) + " operators";
      return row.name.empty() ? "(no name)" : row.name;
    case look::call_site: return call_site_cell(row);
    case look::thread: return thread_name(p, row.thread);
    case look::type:
      return row.several_types            ? "several"
             : row.type == dtype::unknown ? "n/a"
                                          : dtype_name(row.type);
    case look::pass: return pass_of(p, row);
    case look::open: return open_cell(row.open, row.open_ns, out);
    default: break;
  }
  const figure f = c.number->of(row);
  return f.known() ? number_cell(c.as, f.value, out) : "n/a";
}

// ---- order

/// What numbers are ordered by; NaN for what is not known.
inline double sort_key(const column& c, const operator_row& row) noexcept {
  if (c.as == look::open) return row.open_ns;
  const figure f = c.number->of(row);
  return f.known() ? f.value : std::nan("");
}

inline int compare(std::string_view a, std::string_view b) noexcept {
  return a < b ? -1 : a == b ? 0 : 1;
}

/// Texts rise, numbers fall, what is not known comes last. Rows that are equal keep their order.
inline bool comes_before(const column& c, const operator_row& a, const operator_row& b) noexcept {
  switch (c.as) {
    case look::name:
      if (const int order = compare(a.name, b.name)) return order < 0;
      return a.parameters < b.parameters;
    case look::parameters: return a.parameters < b.parameters;
    case look::call_site:
      if (const int order = compare(a.file, b.file)) return order < 0;
      return a.line < b.line;
    case look::thread: return a.thread < b.thread;
    case look::type: return a.type < b.type;
    case look::pass: return a.pass < b.pass;
    default: break;
  }
  const double x = sort_key(c, a), y = sort_key(c, b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return x > y;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/columns.hpp>

// <kprof/report/text/filter.hpp>
#ifndef KPROF_REPORT_TEXT_FILTER_HPP
#define KPROF_REPORT_TEXT_FILTER_HPP

// Chooses names by a POSIX extended regular expression. Included by the reports.

// <kprof/report/text/expression.hpp>
#ifndef KPROF_REPORT_TEXT_EXPRESSION_HPP
#define KPROF_REPORT_TEXT_EXPRESSION_HPP

// POSIX extended regular expressions, matched in time proportional to the text and to the
// expression. A filter may come from the environment, and <regex.h> takes hours, gigabytes or the
// whole stack for some expressions of a few bytes: it writes repetitions out, recurses into
// parentheses and tries all ways to match a back reference. Texts are bytes, as in the C locale.
// Included by filter.hpp. Pure.

// <kprof/report/text/expression_program.hpp>
#ifndef KPROF_REPORT_TEXT_EXPRESSION_PROGRAM_HPP
#define KPROF_REPORT_TEXT_EXPRESSION_PROGRAM_HPP

// A regular expression as the steps of a machine that follows all ways to match at once: each step
// is visited at most once for each byte of the text. Included by expression.hpp, which writes the
// steps. Pure.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class byte_set {
 public:
  void add(unsigned char low, unsigned char high) noexcept {
    for (unsigned c = low; c <= high; ++c) words_[c / 64] |= std::uint64_t{1} << c % 64;
  }
  void add(const byte_set& more) noexcept {
    for (std::size_t i = 0; i < 4; ++i) words_[i] |= more.words_[i];
  }
  byte_set others() const noexcept {
    byte_set out;
    for (std::size_t i = 0; i < 4; ++i) out.words_[i] = ~words_[i];
    return out;
  }
  bool has(unsigned char c) const noexcept { return (words_[c / 64] >> c % 64 & 1U) != 0; }

  static byte_set all() noexcept { return byte_set{}.others(); }
  static byte_set words() noexcept {
    byte_set out = of_class("alnum");
    out.add('_', '_');
    return out;
  }
  static constexpr bool is_word(unsigned char c) noexcept {
    return is(c, 'a', 'z') || is(c, 'A', 'Z') || is(c, '0', '9') || c == '_';
  }
  static bool has_class(std::string_view name) noexcept { return find_class(name) != nullptr; }
  /// ASCII only, whatever the program's locale is.
  static byte_set of_class(std::string_view name) noexcept {
    byte_set out;
    for (unsigned char c = 0; c < 128; ++c)
      if (find_class(name)(c)) out.add(c, c);
    return out;
  }

 private:
  using test = bool (*)(unsigned char);
  static test find_class(std::string_view name) noexcept {
    static constexpr struct {
      std::string_view name;
      test holds;
    } classes[] = {
        {"alpha", [](unsigned char c) { return is(c, 'a', 'z') || is(c, 'A', 'Z'); }},
        {"digit", [](unsigned char c) { return is(c, '0', '9'); }},
        {"alnum",
         [](unsigned char c) { return is(c, 'a', 'z') || is(c, 'A', 'Z') || is(c, '0', '9'); }},
        {"upper", [](unsigned char c) { return is(c, 'A', 'Z'); }},
        {"lower", [](unsigned char c) { return is(c, 'a', 'z'); }},
        {"space", [](unsigned char c) { return c == ' ' || is(c, '\t', '\r'); }},
        {"blank", [](unsigned char c) { return c == ' ' || c == '\t'; }},
        {"punct",
         [](unsigned char c) {
           return is(c, '!', '/') || is(c, ':', '@') || is(c, '[', '`') || is(c, '{', '~');
         }},
        {"print", [](unsigned char c) { return is(c, ' ', '~'); }},
        {"graph", [](unsigned char c) { return is(c, '!', '~'); }},
        {"cntrl", [](unsigned char c) { return c < ' ' || c == 127; }},
        {"xdigit",
         [](unsigned char c) { return is(c, '0', '9') || is(c, 'a', 'f') || is(c, 'A', 'F'); }},
    };
    for (const auto& one : classes)
      if (one.name == name) return one.holds;
    return nullptr;
  }
  static constexpr bool is(unsigned char c, char low, char high) noexcept {
    return c >= static_cast<unsigned char>(low) && c <= static_cast<unsigned char>(high);
  }

  std::uint64_t words_[4] = {};
};

enum class step_kind : std::uint8_t {
  byte,   // takes this byte
  set,    // takes a byte of set `first`
  split,  // goes on at both distances
  jump,   // goes on at distance `first`
  text_begin,
  text_end,
  word_edge,
  no_word_edge,
  word_begin,
  word_end,
  match,
};

struct expression_step {
  step_kind kind;
  unsigned char byte = 0;
  std::int32_t first = 0;
  std::int32_t second = 0;
};

class expression_program {
 public:
  std::size_t size() const noexcept { return steps_.size(); }
  expression_step& operator[](std::size_t i) noexcept { return steps_[i]; }
  void add(expression_step step) { steps_.push_back(step); }
  void insert(std::size_t at, expression_step step) {
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(at), step);
  }
  /// The number of the set.
  std::int32_t keep(const byte_set& set) {
    sets_.push_back(set);
    return static_cast<std::int32_t>(sets_.size() - 1);
  }
  /// Takes the steps from `begin` on away, without their sets, which stay here.
  expression_program cut(std::size_t begin) {
    expression_program out;
    const auto from = steps_.begin() + static_cast<std::ptrdiff_t>(begin);
    out.steps_.assign(from, steps_.end());
    steps_.erase(from, steps_.end());
    return out;
  }
  /// Adds steps whose sets are here.
  void append(const expression_program& more) {
    steps_.insert(steps_.end(), more.steps_.begin(), more.steps_.end());
  }

  /// Whether the text has a part that matches.
  bool found_in(std::string_view text) const {
    run r{text, std::vector<std::size_t>(steps_.size(), 0), {}, {}, {}};
    for (std::size_t at = 0;; ++at) {
      if (enter(r, 0, at)) return true;
      if (at == text.size()) return false;
      r.now.swap(r.next);
      r.next.clear();
      const auto c = static_cast<unsigned char>(text[at]);
      for (const std::size_t i : r.now)
        if (takes(steps_[i], c) && enter(r, i + 1, at + 1)) return true;
    }
  }

 private:
  /// Where a run stands. `next` are the steps that wait for the byte at the current place.
  struct run {
    std::string_view text;
    std::vector<std::size_t> entered;  // for each step: the last place + 1 at which it was entered
    std::vector<std::size_t> now, next, open;
  };

  bool takes(const expression_step& s, unsigned char c) const noexcept {
    return s.kind == step_kind::byte ? s.byte == c
                                     : sets_[static_cast<std::size_t>(s.first)].has(c);
  }
  /// Goes on from a step as far as no byte is taken; true at a match.
  bool enter(run& r, std::size_t begin, std::size_t at) const {
    r.open.assign(1, begin);
    while (!r.open.empty()) {
      const std::size_t i = r.open.back();
      r.open.pop_back();
      if (r.entered[i] == at + 1) continue;
      r.entered[i] = at + 1;
      const expression_step& s = steps_[i];
      const auto step_at = [i](std::int32_t distance) {
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + distance);
      };
      switch (s.kind) {
        case step_kind::match: return true;
        case step_kind::byte:
        case step_kind::set: r.next.push_back(i); break;
        case step_kind::split:
          r.open.push_back(step_at(s.second));
          r.open.push_back(step_at(s.first));
          break;
        case step_kind::jump: r.open.push_back(step_at(s.first)); break;
        default:
          if (holds(s.kind, r.text, at)) r.open.push_back(i + 1);
      }
    }
    return false;
  }
  static bool holds(step_kind kind, std::string_view text, std::size_t at) noexcept {
    const auto is_word = [text](std::size_t i) {
      return i < text.size() && byte_set::is_word(static_cast<unsigned char>(text[i]));
    };
    const bool before = at > 0 && is_word(at - 1), behind = is_word(at);
    switch (kind) {
      case step_kind::text_begin: return at == 0;
      case step_kind::text_end: return at == text.size();
      case step_kind::word_edge: return before != behind;
      case step_kind::no_word_edge: return before == behind;
      case step_kind::word_begin: return !before && behind;
      case step_kind::word_end: return before && !behind;
      default: return false;
    }
  }

  std::vector<expression_step> steps_;
  std::vector<byte_set> sets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/expression_program.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Translates an expression into a program. Recurses into parentheses, as deep as `deepest`.
class expression_parser {
 public:
  static constexpr std::size_t longest = 2000;  // bytes
  static constexpr std::size_t deepest = 50;    // parentheses
  static constexpr std::size_t largest = 4000;  // steps of the program

  expression_parser(std::string_view text, expression_program& out) noexcept
      : text_(text), out_(out) {}

  /// What is wrong, or nullptr.
  const char* parse() {
    if (text_.size() > longest) return "it has more than 2000 bytes";
    parse_alternatives(0);
    out_.add({step_kind::match});
    return error_;
  }

 private:
  bool at_end() const noexcept { return at_ == text_.size() || error_ != nullptr; }
  bool next_is(char c) const noexcept { return !at_end() && text_[at_] == c; }
  bool take(char c) noexcept { return next_is(c) && (++at_, true); }
  void fail(const char* why) noexcept {
    if (error_ == nullptr) error_ = why;
  }
  void add(expression_step step) {
    out_.add(step);
    if (out_.size() > largest) fail("it is too long with its repetitions written out");
  }

  /// alternative { "|" alternative }
  void parse_alternatives(std::size_t depth) {
    const std::size_t begin = out_.size();
    parse_pieces(depth);
    while (take('|')) {
      const auto left = static_cast<std::int32_t>(out_.size() - begin);
      out_.insert(begin, {step_kind::split, 0, 1, left + 2});
      const std::size_t jump = out_.size();
      add({step_kind::jump});
      parse_pieces(depth);
      out_[jump].first = static_cast<std::int32_t>(out_.size() - jump);
    }
  }
  void parse_pieces(std::size_t depth) {
    while (!at_end() && !next_is('|') && !(next_is(')') && depth > 0)) {
      const std::size_t begin = out_.size();
      parse_atom(depth);
      while (!at_end() && parse_repetition(begin)) {}
    }
  }

  void parse_atom(std::size_t depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        if (depth == deepest) return fail("it nests deeper than 50 parentheses");
        parse_alternatives(depth + 1);
        if (!take(')')) fail("a parenthesis is not closed");
        break;
      case '*':
      case '+':
      case '?':
      case '{': fail("there is nothing to repeat"); break;
      case '^': add({step_kind::text_begin}); break;
      case '$': add({step_kind::text_end}); break;
      case '.': add_set(byte_set::all()); break;
      case '[': parse_brackets(); break;
      case '\\': parse_escape(); break;
      default: add({step_kind::byte, static_cast<unsigned char>(c)});
    }
  }

  void parse_escape() {
    if (at_end()) return fail("it ends with a backslash");
    const char c = text_[at_++];
    switch (c) {
      case 'w': return add_set(byte_set::words());
      case 'W': return add_set(byte_set::words().others());
      case 's': return add_set(byte_set::of_class("space"));
      case 'S': return add_set(byte_set::of_class("space").others());
      case 'b': return add({step_kind::word_edge});
      case 'B': return add({step_kind::no_word_edge});
      case '<': return add({step_kind::word_begin});
      case '>': return add({step_kind::word_end});
      case '`': return add({step_kind::text_begin});
      case '\'': return add({step_kind::text_end});
      default: break;
    }
    if (c >= '1' && c <= '9') fail("back references such as \\1 take too long");
    add({step_kind::byte, static_cast<unsigned char>(c)});
  }

  /// Behind "[".
  void parse_brackets() {
    byte_set set;
    const bool inverted = take('^');
    bool is_first = true;
    while (!at_end() && (is_first || !next_is(']'))) {
      is_first = false;
      if (text_.substr(at_, 2) == "[:") {
        const std::string_view name = take_named(':');
        if (!byte_set::has_class(name))
          return fail("a class such as [:alpha:] has an unknown name");
        set.add(byte_set::of_class(name));
        continue;
      }
      const unsigned char low = take_bracketed();
      unsigned char high = low;
      if (next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        high = take_bracketed();
        if (high < low) return fail("a range ends before it begins");
      }
      set.add(low, high);
    }
    if (!take(']')) return fail("a bracket is not closed");
    add_set(inverted ? set.others() : set);
  }
  unsigned char take_bracketed() {
    if (at_end()) return 0;
    const std::string_view two = text_.substr(at_, 2);
    if (two != "[." && two != "[=") return static_cast<unsigned char>(text_[at_++]);
    const std::string_view name = take_named(two[1]);
    if (name.size() != 1) fail("[. .] and [= =] take one character");
    return name.empty() ? '\0' : static_cast<unsigned char>(name[0]);
  }
  /// What stands between "[:" and ":]".
  std::string_view take_named(char kind) {
    const char close[] = {kind, ']'};
    const std::size_t from = at_ + 2;
    const std::size_t to = text_.find(std::string_view{close, 2}, from);
    if (to == std::string_view::npos) {
      fail("a bracket is not closed");
      return {};
    }
    at_ = to + 2;
    return text_.substr(from, to - from);
  }
  void add_set(const byte_set& set) { add({step_kind::set, 0, out_.keep(set)}); }

  /// Applies a repetition to the steps from `begin` on; false where there is none.
  bool parse_repetition(std::size_t begin) {
    constexpr std::size_t no_end = ~std::size_t{0};
    if (take('*')) repeat(begin, 0, no_end);
    else if (take('+')) repeat(begin, 1, no_end);
    else if (take('?')) repeat(begin, 0, 1);
    else if (take('{')) {
      if (!is_digit() && !next_is(',')) fail("a repetition is not of the form {2,5}");
      const std::size_t least = take_number();
      std::size_t most = least;
      if (take(',')) most = is_digit() ? take_number() : no_end;
      if (!take('}') || most < least) fail("a repetition is not of the form {2,5}");
      if (error_ == nullptr) repeat(begin, least, most);
    } else {
      return false;
    }
    return true;
  }
  bool is_digit() const noexcept { return !at_end() && text_[at_] >= '0' && text_[at_] <= '9'; }
  /// No more than what is too much anyway.
  std::size_t take_number() noexcept {
    std::size_t n = 0;
    for (; is_digit(); ++at_)
      if (n <= largest) n = 10 * n + static_cast<std::size_t>(text_[at_] - '0');
    return n;
  }
  /// Steps refer to each other by distance, so that copies need no change.
  void repeat(std::size_t begin, std::size_t least, std::size_t most) {
    const expression_program once = out_.cut(begin);
    const auto length = static_cast<std::int32_t>(once.size());
    const bool is_open = most == ~std::size_t{0};
    const std::size_t copies = is_open ? (least == 0 ? 1 : least) : most;
    if (copies * (once.size() + 2) > largest)
      return fail("it is too long with its repetitions written out");
    for (std::size_t i = 0; i < least; ++i) out_.append(once);
    if (is_open && least != 0) {
      add({step_kind::split, 0, -length, 1});
    } else if (is_open) {
      add({step_kind::split, 0, 1, length + 2});
      out_.append(once);
      add({step_kind::jump, 0, -(length + 1)});
    } else {
      for (std::size_t i = least; i < most; ++i) {
        add({step_kind::split, 0, 1, length + 1});
        out_.append(once);
      }
    }
  }

  std::string_view text_;
  expression_program& out_;
  std::size_t at_ = 0;
  const char* error_ = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/expression.hpp>

#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Matches everything until it is given an expression.
class name_filter {
 public:
  status set(const std::string& expression) {
    if (expression.empty()) return {};
    expression_program program;
    if (const char* const error = expression_parser(expression, program).parse())
      return {"filter \"" + printable(expression, 200) +
              "\" is not a POSIX extended regular expression that kprof takes (" + error +
              "); write \\( for a literal parenthesis"};
    program_ = std::move(program);
    active_ = true;
    return {};
  }

  bool active() const noexcept { return active_; }

  /// Whether the expression is found in "name parameters".
  bool matches(const std::string& name, const std::string& parameters) const {
    return !active_ || found_in(name + ' ' + parameters);
  }

  /// Whether the expression is found in the text; there must be one.
  bool found_in(const std::string& text) const { return program_.found_in(text); }

 private:
  expression_program program_;
  bool active_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/filter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status unknown_column(const char* what, const std::string& name) {
  return {std::string{"unknown "} + what + " \"" + printable(name, 100) +
          "\"; choose from: " + column_names() + " (or name, which is operator)"};
}
[[gnu::cold]] inline status check_sort(const std::string& name) {
  return name.empty() || find_column(name) != nullptr ? status{} : unknown_column("sort", name);
}
[[gnu::cold]] inline status check_column(const std::string& name) {
  return find_column(name) != nullptr ? status{} : unknown_column("column", name);
}

/// The options of a report, read, and sums of the profile that its sections share.
struct text_plan {
  const report_options& options;
  const column* sort = nullptr;
  std::vector<const column*> columns;  // empty: automatic
  name_filter filter;
  grouping by;                          // as far as the profile has what it names
  std::vector<std::string> complaints;  // about what it has not
  double all_self_ns = 0;
  bool device = false;                                 // the run has work on a device
  bool tree = false, kernels = false, copies = false;  // sections that are shown
  double all_device_ns = 0;
  std::optional<dtype> one_type;  // of all operators that say theirs, if they are several

  explicit text_plan(const report_options& o) : options(o) {}

  /// Reads the options; the first that is wrong is in the status.
  status prepare() {
    if (status s = check_sort(options.sort); !s) return s;
    sort = find_column(options.sort.empty() ? "self" : options.sort);
    for (const std::string& name : options.columns) {
      if (status s = check_column(name); !s) return s;
      columns.push_back(find_column(name));
    }
    return filter.set(options.filter);
  }

  /// What the page is about; after prepare().
  void look_at(const profile& p) {
    all_self_ns = detail::all_self_ns(p);
    std::vector<std::string> fold = options.by.folded();
    fold.insert(fold.end(), options.fold.begin(), options.fold.end());
    checked_grouping checked = check_grouping(p, options.by.folding(std::move(fold)));
    by = std::move(checked.value);
    complaints = std::move(checked.complaints);
    device = has_device_work(p);
    all_device_ns = all_device_work(p).ns;
    if (device && options.sort.empty()) sort = find_column("device");
    look_for_one_type(p);
    choose_sections(p);
  }

 private:
  // A section that was not asked for comes where it says what the operators do not.
  void choose_sections(const profile& p) {
    double operators_ns = 0, explained_ns = 0, copies_ns = 0;
    const std::vector<std::uint32_t> operators = operators_around(p);
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (operators[i] != scope_node::none) operators_ns += not_negative(p.nodes[i].self_ns);
    for (const device_work& w : p.device.work) {
      const double ns = not_negative(w.total_ns);
      const std::uint32_t node = scope_of(p, w);
      if (node != scope_node::none && operators[node] != scope_node::none) explained_ns += ns;
      if (w.task != device_task::kernel) copies_ns += ns;
    }
    tree = options.tree.value_or(operators_ns <= 0.9 * all_self_ns);
    kernels = options.kernels.value_or(explained_ns < 0.99 * all_device_ns);
    copies = options.copies.value_or(copies_ns > 0.1 * all_device_ns);
  }

  void look_for_one_type(const profile& p) {
    std::uint32_t typed_node = scope_node::none;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const dtype type = p.nodes[i].work.type;
      if (type == dtype::unknown) continue;
      if (typed_node == scope_node::none) typed_node = static_cast<std::uint32_t>(i);
      if (p.nodes[typed_node].work.type != type) return;
    }
    if (typed_node != scope_node::none) one_type = p.nodes[typed_node].work.type;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/text_plan.hpp>

// <kprof/report/text/write_text.hpp>
#ifndef KPROF_REPORT_TEXT_WRITE_TEXT_HPP
#define KPROF_REPORT_TEXT_WRITE_TEXT_HPP

// Defines write_text(), which text.hpp declares, where the session is compiled: the page from its
// first line to its last. The code of the report is marked cold: it runs once in a program, and is
// to be compiled quickly and to stay small.

// <kprof/report/destination.hpp>
#ifndef KPROF_REPORT_DESTINATION_HPP
#define KPROF_REPORT_DESTINATION_HPP

// Where outputs go: standard output or a file, and how wide the terminal is. Include it to write
// text of your own beside them. Blocks until all is written; several threads may write at a time.
//
// A file is written aside and takes its name when it is complete. Standard output gets what the
// program has printed first; it is waited for as the program's own prints wait.

// <kprof/attach/environment_variable.hpp>
#ifndef KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP
#define KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP

// The only place where kprof reads environment variables. A set-user-ID, set-group-ID or
// file-capability program has rights that its caller lacks, and the caller chooses its environment:
// a path there could make the program load any library or write any file. So kprof reads no
// variable in such a process. Include it to read a variable. Any thread.

#include <sys/auxv.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// getenv(). Every file with guards includes this header, and <cstdlib> would be 473 lines of it.
extern "C" char* kprof_find_variable(const char* name) noexcept __asm__("getenv");

/// Whether the process was started with rights that its caller lacks. This stays true when the
/// process gives these rights up.
inline bool environment_is_foreign() noexcept { return getauxval(AT_SECURE) != 0; }

/// The variable's value; nullptr where it is unset, and always where the environment is foreign.
inline const char* environment_variable(const char* name) noexcept {
  return environment_is_foreign() ? nullptr : kprof_find_variable(name);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attach/environment_variable.hpp>

// <kprof/write/descriptor.hpp>
#ifndef KPROF_WRITE_DESCRIPTOR_HPP
#define KPROF_WRITE_DESCRIPTOR_HPP

// What descriptors lead to, and writing to them past interruptions and full pipes. Included by
// whatever writes, which holds quiet_writes meanwhile.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a descriptor leads to: the same file, pipe or terminal has the same numbers.
struct descriptor_target {
  bool is_open = false;
  dev_t device = 0;
  ino_t file = 0;

  friend bool operator==(const descriptor_target&, const descriptor_target&) = default;
};
[[gnu::cold]] inline descriptor_target target_of(int descriptor) noexcept {
  struct stat there {};
  if (fstat(descriptor, &there) != 0) return {};
  return {true, there.st_dev, there.st_ino};
}

/// How long a write waits for a reader that takes nothing.
inline constexpr int reader_patience_ms = 5000;

inline std::int64_t monotonic_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Waits until the descriptor takes more, or has an error that the next write tells. False: it took
/// nothing for so many milliseconds; below 0, it waits for ever.
[[gnu::cold]] inline bool wait_for_room(int descriptor, int patience_ms) noexcept {
  const std::int64_t end = monotonic_ms() + patience_ms;
  for (std::int64_t left = patience_ms;;) {
    pollfd waiting{descriptor, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return true;
    if (patience_ms < 0) continue;
    left = end - monotonic_ms();
    if (left <= 0) return false;
  }
}

inline bool is_non_blocking(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

/// Writes from the front of `text`, and removes what was written. 0, or the number of the error:
/// EAGAIN where a descriptor in non-blocking mode takes nothing for so many milliseconds. One in
/// blocking mode waits as long as its reader does.
[[gnu::cold]] inline int write_front(int descriptor, std::string_view& text,
                                     int patience_ms = reader_patience_ms) noexcept {
  std::int64_t last_progress = -1;  // unknown
  while (!text.empty()) {
    const ssize_t size = ::write(descriptor, text.data(), text.size());
    if (size > 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
      last_progress = -1;
    } else if (size == 0) {
      return EIO;
    } else if (errno == EAGAIN) {
      const std::int64_t now = monotonic_ms();
      if (last_progress < 0) last_progress = now;
      const std::int64_t left = last_progress + patience_ms - now;
      if (left <= 0 || !wait_for_room(descriptor, static_cast<int>(left))) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}
inline int write_all(int descriptor, std::string_view text,
                     int patience_ms = reader_patience_ms) noexcept {
  return write_front(descriptor, text, patience_ms);
}

/// Opens a file, past interruptions. It does not survive exec and becomes no controlling terminal.
[[gnu::cold]] inline int open_file(const char* path, int flags, mode_t mode = 0666) noexcept {
  for (;;) {
    const int descriptor = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}
/// 0, or what the system says on closing that it could not write.
inline int close_file(int descriptor) noexcept {
  return ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/descriptor.hpp>

// <kprof/write/file_place.hpp>
#ifndef KPROF_WRITE_FILE_PLACE_HPP
#define KPROF_WRITE_FILE_PLACE_HPP

// What a path leads to, before it is written. Included by output_file.hpp.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a path leads to.
struct file_place {
  std::string path;      // links at its end followed, also one to what is not there yet
  struct stat there {};  // of what is there
  bool exists = false;
  bool can_be_replaced = true;   // by another file that takes its name, or by its contents
  bool has_other_names = false;  // which it would lose if another file took its name
  int descriptor = -1;           // of this process, where the path names one as /dev/stdout does
  int error = 0;                 // it cannot be followed
};

/// The number of the descriptor that /proc/self/fd/NUMBER leads to; -1: it is another process's.
[[gnu::cold]] inline int descriptor_named(const std::string& link) noexcept {
  const std::size_t at = link.rfind('/') + 1;  // 0 where there is none
  int number = 0;
  if (at == link.size() || link.size() - at > 7) return -1;
  for (const char c : std::string_view{link}.substr(at)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  struct stat there {};
  const descriptor_target own = target_of(number);
  const bool same =
      stat(link.c_str(), &there) == 0 && own == descriptor_target{true, there.st_dev, there.st_ino};
  return same ? number : -1;
}

/// A path beside `file`, unless it begins at the root.
[[gnu::cold]] inline std::string relative_to(const std::string& file, const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  return file.substr(0, file.rfind('/') + 1) + path;
}

[[gnu::cold]] inline bool is_in_proc(const struct stat& there) noexcept {
  struct stat proc {};
  return stat("/proc/self", &proc) == 0 && proc.st_dev == there.st_dev;
}

[[gnu::cold]] inline file_place find_place(std::string path) {
  file_place place{.path = std::move(path)};
  for (int links = 0; lstat(place.path.c_str(), &place.there) == 0; ++links) {
    // The links in /proc/PID/fd lead to open files, not to where they seem to.
    const bool leads_to_open_file = S_ISLNK(place.there.st_mode) && is_in_proc(place.there);
    if (leads_to_open_file) {
      place.descriptor = descriptor_named(place.path);
      if (stat(place.path.c_str(), &place.there) != 0) place.error = errno;
    }
    if (leads_to_open_file || !S_ISLNK(place.there.st_mode)) {
      place.exists = true;
      place.can_be_replaced = !leads_to_open_file && S_ISREG(place.there.st_mode);
      place.has_other_names = place.there.st_nlink > 1;
      return place;
    }
    char target[PATH_MAX];
    const ssize_t size = readlink(place.path.c_str(), target, sizeof target);
    if (size < 0 || links == 40) {
      place.error = size < 0 ? errno : ELOOP;
      return place;
    }
    place.path = relative_to(place.path, std::string(target, static_cast<std::size_t>(size)));
  }
  const int error = errno;
  const std::string folder = place.path.substr(0, place.path.rfind('/') + 1);
  if (error != ENOENT) place.error = error;
  else if (stat(folder.c_str(), &place.there) == 0 && is_in_proc(place.there)) place.error = EBADF;
  return place;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/file_place.hpp>

// <kprof/write/message.hpp>
#ifndef KPROF_WRITE_MESSAGE_HPP
#define KPROF_WRITE_MESSAGE_HPP

// Lines on standard error, the only way in which kprof speaks of its own accord. Included by
// whatever has something to say.

// <kprof/write/quiet_writes.hpp>
#ifndef KPROF_WRITE_QUIET_WRITES_HPP
#define KPROF_WRITE_QUIET_WRITES_HPP

// Keeps a write from harming the thread that makes it. Included by whatever writes.

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it lives, this thread's writes do not kill the program: a closed pipe raises SIGPIPE and a
/// file-size limit SIGXFSZ, in the writing thread. Both are held back, and those raised meanwhile
/// are taken away, but not those that were pending before. Nor does a cancellation of the thread
/// take effect, which would unwind functions of kprof that do not throw. Handlers are not touched;
/// errno is afterwards as before.
class quiet_writes {
 public:
  [[gnu::cold]] quiet_writes() noexcept : error_(errno) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation_);
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  quiet_writes(const quiet_writes&) = delete;
  quiet_writes& operator=(const quiet_writes&) = delete;
  [[gnu::cold]] ~quiet_writes() {
    const timespec at_once{};
    while (sigtimedwait(&ours_, nullptr, &at_once) > 0 || errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    int disabled = 0;
    pthread_setcancelstate(cancellation_, &disabled);
    errno = error_;
  }

 private:
  sigset_t ours_{}, before_{};
  int cancellation_ = PTHREAD_CANCEL_ENABLE;
  int error_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/quiet_writes.hpp>

// <kprof/write/standard_streams.hpp>
#ifndef KPROF_WRITE_STANDARD_STREAMS_HPP
#define KPROF_WRITE_STANDARD_STREAMS_HPP

// Whether the descriptors 1 and 2 are still the program's standard output and standard error. A
// program that closes one of them, as daemons do, may get its number for a file or a connection of
// its own, which must not get kprof's text. Included by whatever writes to them.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>

KPROF_DETAIL_BEGIN
namespace detail {

/// A terminal or /dev/null, which cannot be damaged.
[[gnu::cold]] inline bool is_harmless(int descriptor) noexcept {
  struct stat there {};
  if (fstat(descriptor, &there) != 0 || !S_ISCHR(there.st_mode)) return false;
  return there.st_rdev == gnu_dev_makedev(1, 3) || isatty(descriptor) != 0;
}

[[gnu::cold]] inline bool closes_on_exec(int descriptor) noexcept {
  return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
}

/// Whether both were made from one opening of a file, pipe or socket, by dup2(): they have flags
/// and place in common, and a file was written through them from its beginning to its end.
[[gnu::cold]] inline bool are_one_log(int a, int b) noexcept {
  struct stat there {};
  const int flags = fcntl(a, F_GETFL);
  if (flags < 0 || flags != fcntl(b, F_GETFL) || (flags & O_ACCMODE) == O_RDONLY) return false;
  if (!(target_of(a) == target_of(b)) || closes_on_exec(a) || closes_on_exec(b)) return false;
  if (fstat(a, &there) != 0 || !S_ISREG(there.st_mode))
    return S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode);
  const off_t place = lseek(a, 0, SEEK_CUR);
  return place == there.st_size && place == lseek(b, 0, SEEK_CUR);
}

/// What descriptors 1 and 2 led to when the session was made.
class standard_streams {
 public:
  standard_streams() noexcept
      : output_(target_of(STDOUT_FILENO)), errors_(target_of(STDERR_FILENO)) {}

  /// Whether 1 or 2 is a standard stream as far as can be told: it leads where it led, or where the
  /// other one did, or to a terminal or /dev/null, or both lead to one log. `for_program`: for what
  /// the program itself asks for, which may have another file capture its output; then only a
  /// descriptor that was closed at first, or that exec would close, is surely no stream.
  [[gnu::cold]] bool has(int descriptor, bool for_program) const noexcept {
    const descriptor_target now = target_of(descriptor);
    if (!now.is_open) return false;
    const bool was_open = (descriptor == STDOUT_FILENO ? output_ : errors_).is_open;
    return now == output_ || now == errors_ || is_harmless(descriptor) ||
           are_one_log(STDOUT_FILENO, STDERR_FILENO) ||
           (for_program && was_open && !closes_on_exec(descriptor));
  }

 private:
  descriptor_target output_, errors_;
};

using stream_test = bool (*)(int descriptor, bool for_program) noexcept;
/// standard_streams::has() of the session that this binary has found; nullptr: of none.
KPROF_DETAIL_LOCAL inline constinit std::atomic<stream_test> known_streams{nullptr};

inline bool is_standard_stream(int descriptor, bool for_program = false) noexcept {
  const stream_test test = known_streams;
  return test == nullptr || test(descriptor, for_program);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/standard_streams.hpp>

#include <limits.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line for standard error, of a length that a pipe takes in one piece.
class message_line {
 public:
  [[gnu::cold]] void add(std::string_view text) noexcept {
    each_printable(text, [this](std::string_view piece) {
      if (is_cut_ || size_ + piece.size() + room_for_end > sizeof text_) is_cut_ = true;
      else size_ += piece.copy(text_ + size_, piece.size());
    });
  }
  std::string_view end() noexcept {
    for (const char c : std::string_view{is_cut_ ? "...\n" : "\n"}) text_[size_++] = c;
    return {text_, size_};
  }

 private:
  static constexpr std::size_t room_for_end = 4;
  char text_[PIPE_BUF];
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

/// Prints "kprof: " and the parts as one line, past the program's streams and their buffers. Needs
/// no memory, and harms nothing: a reader that has ended does not kill the program, one that takes
/// nothing has it wait for a second or two, and a file that is not standard error gets nothing; the
/// line is lost then.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline void tell(
    std::initializer_list<std::string_view> parts) noexcept {
  const quiet_writes quiet;
  if (!is_standard_stream(STDERR_FILENO)) return;
  message_line line;
  line.add("kprof: ");
  for (const std::string_view part : parts) line.add(part);
  if (wait_for_room(STDERR_FILENO, 1000))
    static_cast<void>(write_all(STDERR_FILENO, line.end(), 1000));
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/message.hpp>

// <kprof/write/output_file.hpp>
#ifndef KPROF_WRITE_OUTPUT_FILE_HPP
#define KPROF_WRITE_OUTPUT_FILE_HPP

// A file that is written beside its place and takes it when it is complete, so that no half file
// lies under the name, not even after a crash, and a failure leaves what was there. Included by
// destination.hpp, which holds quiet_writes meanwhile. Used by one thread.

// <kprof/write/write_error.hpp>
#ifndef KPROF_WRITE_WRITE_ERROR_HPP
#define KPROF_WRITE_WRITE_ERROR_HPP

// What kprof says when it cannot write, and what to do about it. Included by whatever writes.

#include <cerrno>
#include <cstring>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

inline const char* remedy_for(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "the folder does not exist: create it, or choose another path";
    case EACCES:
    case EPERM:
    case EROFS: return "no permission to write there: choose another path";
    case EISDIR: return "it is a folder: add a file name";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "no space left: free some, or choose another disk";
    case EPIPE: return "its reader has ended: keep it running, or write to a file";
    case ENXIO: return "nobody reads from it: start its reader first, or write to a file";
    case EAGAIN: return "its reader took nothing for 5 s: keep it reading, or write to a file";
    case EBADF: return "it is closed: write to a file, or report before it is closed";
    case EMFILE:
    case ENFILE: return "too many files are open: close some, or raise `ulimit -n`";
    default: return nullptr;
  }
}

/// `where` is fit to print.
[[gnu::cold]] inline status cannot_write(const std::string& where, int error) {
  const char* remedy = remedy_for(error);
  return {"cannot write to " + where + ": " +
          (remedy != nullptr ? std::string{remedy}
                             : std::string{std::strerror(error)} + "; write to a file elsewhere")};
}

/// A path for an error line.
[[gnu::cold]] inline std::string quoted_path(const std::string& path) {
  return '"' + printable(path, 300) + '"';
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/write_error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Opens what is no file, such as a pipe or a device. A pipe without a reader gets a second for one
/// to come; it would take a plain open() for ever.
[[gnu::cold]] inline int open_special(const std::string& path) noexcept {
  constexpr timespec pause{0, 10'000'000};
  for (int attempt = 0;; ++attempt) {
    const int descriptor = open_file(path.c_str(), O_WRONLY | O_NONBLOCK);
    if (descriptor >= 0 || errno != ENXIO || attempt == 100) return descriptor;
    nanosleep(&pause, nullptr);
  }
}

/// What copy_file() came to.
struct copy_result {
  int error = 0;            // its number; 0: none
  bool is_damaged = false;  // the target is neither what it was nor the whole copy
};
/// Copies one file into another, which exists.
[[gnu::cold]] inline copy_result copy_file(const std::string& from,
                                           const std::string& to) noexcept {
  const int source = open_file(from.c_str(), O_RDONLY);
  if (source < 0) return {errno, false};
  const int target = open_file(to.c_str(), O_WRONLY | O_TRUNC);
  int error = target < 0 ? errno : 0;
  const bool is_open = target >= 0;
  char block[16 * 1024];
  while (error == 0) {
    const ssize_t size = ::read(source, block, sizeof block);
    if (size == 0) break;
    if (size < 0) error = errno == EINTR ? 0 : errno;
    else error = write_all(target, {block, static_cast<std::size_t>(size)});
  }
  close_file(source);
  const int at_close = is_open ? close_file(target) : 0;
  if (error == 0) error = at_close;
  return {error, is_open && error != 0};
}

/// A file is replaced by one of the same owner and permissions. Where it has several names or is
/// mounted, the new one is copied into it. What cannot be replaced is written in place: what is no
/// file, as a pipe or a device; one in a folder that does not let kprof make files, or whose owner
/// kprof cannot give to another file.
class output_file {
 public:
  /// `shown` is the path for messages.
  [[gnu::cold]] output_file(file_place place, std::string shown)
      : shown_(std::move(shown)), place_(std::move(place)) {
    if (!place_.can_be_replaced) open_in_place();
    else if (place_.exists && faccessat(AT_FDCWD, place_.path.c_str(), W_OK, AT_EACCESS) != 0)
      error_ = errno;
    else open_aside();
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  [[gnu::cold]] ~output_file() {
    if (descriptor_ >= 0) close_file(descriptor_);
    if (!aside_.empty() && !keeps_aside_) unlink(aside_.c_str());
  }

  [[gnu::cold]] void write(std::string_view text) noexcept {
    if (error_ == 0) error_ = write_all(descriptor_, text);
  }
  /// What went wrong so far.
  [[gnu::cold]] status so_far() const {
    if (error_ == 0) return {};
    status s = cannot_write(shown_, error_);
    if (is_half_written_) s.message += "; what has been written is not complete";
    if (keeps_aside_) s.message += "; the whole of it is in " + quoted_path(aside_);
    return s;
  }
  /// Closes the file and gives it its name.
  [[gnu::cold]] status finish() {
    if (descriptor_ >= 0) {
      const int error = close_file(std::exchange(descriptor_, -1));
      if (error_ == 0) error_ = error;
    }
    if (error_ == 0 && !aside_.empty()) take_place();
    if (error_ == 0) is_half_written_ = false;
    return so_far();
  }

 private:
  [[gnu::cold]] void open_in_place() {
    if (!place_.exists) descriptor_ = open_file(place_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    else if (!S_ISREG(place_.there.st_mode)) descriptor_ = open_special(place_.path);
    else descriptor_ = open_file(place_.path.c_str(), O_WRONLY | O_TRUNC);
    if (descriptor_ < 0) error_ = errno;
    is_half_written_ = descriptor_ >= 0;
  }

  [[gnu::cold]] void open_aside() {
    make_aside(place_.path + '.');
    // The name may be too long with more behind it.
    if (descriptor_ < 0 && errno == ENAMETOOLONG)
      make_aside(place_.path.substr(0, place_.path.rfind('/') + 1) + "kprof.");
    if (descriptor_ >= 0) {
      if (!place_.exists || takes_after(place_.there)) return;
      close_file(std::exchange(descriptor_, -1));
      unlink(aside_.c_str());
      errno = EPERM;
    }
    aside_.clear();
    const bool may_be_written =
        errno == ENAMETOOLONG ||
        (place_.exists && (errno == EACCES || errno == EPERM || errno == EROFS));
    if (may_be_written) open_in_place();
    else error_ = errno;
  }
  /// Other threads and processes that write to the same path have files of their own.
  [[gnu::cold]] void make_aside(const std::string& beginning) {
    static std::atomic<unsigned> number{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
      aside_ = beginning + std::to_string(getpid()) + '.' + std::to_string(++number) + ".part";
      // Nobody else may open it before it has the permissions of the file that it replaces.
      const mode_t mode = place_.exists ? 0600 : 0666;
      descriptor_ = open_file(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
      if (descriptor_ >= 0 || errno != EEXIST) return;
    }
  }
  /// Gives the new file the owner and the permissions of the one that it replaces.
  [[gnu::cold]] bool takes_after(const struct stat& old) const noexcept {
    struct stat made {};
    if (fstat(descriptor_, &made) != 0) return false;
    if ((made.st_uid != old.st_uid || made.st_gid != old.st_gid) &&
        fchown(descriptor_, old.st_uid, old.st_gid) != 0)
      return false;
    return ((made.st_mode ^ old.st_mode) & 07777U) == 0 ||
           fchmod(descriptor_, old.st_mode & 07777U) == 0;
  }

  [[gnu::cold]] void take_place() {
    if (!place_.has_other_names) {
      if (std::rename(aside_.c_str(), place_.path.c_str()) == 0) {
        aside_.clear();
        return;
      }
      error_ = errno;
      // A file that a container has mounted, or another user's in a folder such as /tmp.
      if (!place_.exists || (error_ != EBUSY && error_ != EXDEV && error_ != EPERM)) return;
    }
    const copy_result copied = copy_file(aside_, place_.path);
    error_ = copied.error;
    is_half_written_ = keeps_aside_ = copied.is_damaged;
  }

  std::string shown_;
  file_place place_;
  std::string aside_;  // empty: it is written in place
  int descriptor_ = -1;
  int error_ = 0;
  bool is_half_written_ = false;  // under its name
  bool keeps_aside_ = false;      // which is all that is left of it
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/output_file.hpp>

// <kprof/write/program_text.hpp>
#ifndef KPROF_WRITE_PROGRAM_TEXT_HPP
#define KPROF_WRITE_PROGRAM_TEXT_HPP

// What the program has printed to stdout and the stream still holds: it comes before what kprof
// writes to the same descriptor. Included by destination.hpp.

#include <stdio_ext.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds stdout's lock, unless another thread keeps it for a second: exit() does not wait for one
/// that is stuck in a write either.
class stdout_lock {
 public:
  [[gnu::cold]] stdout_lock() noexcept {
    constexpr timespec pause{0, 1'000'000};
    for (int attempt = 0; !held_ && attempt < 1000; ++attempt) {
      held_ = ftrylockfile(stdout) == 0;
      if (!held_) nanosleep(&pause, nullptr);
    }
  }
  stdout_lock(const stdout_lock&) = delete;
  stdout_lock& operator=(const stdout_lock&) = delete;
  ~stdout_lock() {
    if (held_) funlockfile(stdout);
  }
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_ = false;
};

/// Writes what stdout holds to the descriptor, which is its own. 0, or the number of the error;
/// then the stream still holds what could not be written, and its error indicator is as before: the
/// program finds the error itself.
///
/// fflush() would throw the text away when it fails, and when a signal interrupts it. It is used
/// where kprof cannot see the stream's buffer: for wide characters, and in other C libraries than
/// glibc.
[[gnu::cold]] inline int write_program_text(int descriptor) {
  if (__fpending(stdout) == 0) return 0;
  if (!wait_for_room(descriptor, is_non_blocking(descriptor) ? reader_patience_ms : -1))
    return EAGAIN;
  const stdout_lock lock;
  if (!lock) return 0;
#if defined(__GLIBC__)
  if (std::fwide(stdout, 0) <= 0) {
    const std::string held(stdout->_IO_write_base, __fpending(stdout));
    std::string_view left = held;
    const int error = write_front(descriptor, left);
    if (left.size() == held.size()) return error;
    __fpurge(stdout);
    if (!left.empty()) std::fwrite(left.data(), 1, left.size(), stdout);
    return error;
  }
#endif
  return std::fflush(stdout) == 0 ? 0 : errno;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/program_text.hpp>

// <kprof/write/within_memory.hpp>
#ifndef KPROF_WRITE_WITHIN_MEMORY_HPP
#define KPROF_WRITE_WITHIN_MEMORY_HPP

// For functions that return a status: they throw nothing where memory runs out.

// <kprof/write/attempt.hpp>
#ifndef KPROF_WRITE_ATTEMPT_HPP
#define KPROF_WRITE_ATTEMPT_HPP

// What happens where memory runs out. A guard that finds none counts its scope as dropped,
// everything else returns an error: memory that has run out must not end the program. With
// -fno-exceptions nothing can be caught, and a failed allocation ends the process as it does
// everywhere in such a program.

#include <cstddef>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What functions without memory return as their error. Short, so that a std::string of it needs no
/// memory either.
inline constexpr const char* out_of_memory = "out of memory";

/// Calls work(); false where its memory ran out, and it threw std::bad_alloc. Only that is caught:
/// the cancellation of a thread must go on.
template <class Work>
bool attempt(Work work) {
#if defined(__cpp_exceptions)
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) { return false; }
#else
  work();
  return true;
#endif
}

/// Makes room for `more` elements, so that adding them cannot fail.
template <class T>
void reserve_more(std::vector<T>& v, std::size_t more) {
  const std::size_t wanted = v.size() + more;
  if (wanted > v.capacity()) v.reserve(wanted < 2 * v.capacity() ? 2 * v.capacity() : wanted);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/attempt.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// What work() returns; the error "out of memory" where its memory ran out. That needs no memory.
template <class Work>
status within_memory(Work work) {
  status s;
  if (!attempt([&] { s = work(); })) s = {out_of_memory};
  return s;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/write/within_memory.hpp>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Who has something written: the program by a call, or kprof when the program ends.
enum class write_time { now, at_exit };

/// The descriptor for what is meant for the standard stream `wanted`; -1: the number leads to
/// something of the program's own. At exit, what was meant for standard output then goes to
/// standard error.
[[gnu::cold]] inline int stream_for(int wanted, write_time when) {
  if (wanted != STDOUT_FILENO && wanted != STDERR_FILENO) return wanted;
  if (is_standard_stream(wanted, when == write_time::now)) return wanted;
  if (when == write_time::now || wanted == STDERR_FILENO || !target_of(wanted).is_open ||
      !is_standard_stream(STDERR_FILENO))
    return -1;
  tell({"standard output is another file than at the start; what is meant for it comes here"});
  return STDERR_FILENO;
}

/// A file, opened by the first piece of text and replaced by close(), or standard output. Used by
/// one thread.
class destination {
 public:
  explicit destination(std::string path, write_time when = write_time::now)
      : path_(std::move(path)), when_(when) {}
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;
  ~destination() {
    const quiet_writes quiet;
    file_.reset();  // without close(), the file that was there stays
  }

  /// Whether it is standard output and that a terminal, and the user has nothing against colour.
  bool takes_color() const noexcept {
    const char* const refusal = environment_variable("NO_COLOR");
    const char* const terminal = environment_variable("TERM");
    return path_.empty() && isatty(STDOUT_FILENO) == 1 &&
           (refusal == nullptr || *refusal == '\0') &&
           (terminal == nullptr || std::string_view{terminal} != "dumb");
  }

  /// After a failure everything further is dropped.
  [[gnu::cold]] const status& append(std::string_view text) {
    const quiet_writes quiet;
    if (failure_ && !std::exchange(is_open_, true)) open();
    if (!failure_) return failure_;
    if (!file_) {
      append_to_stream(text);
    } else {
      file_->write(text);
      failure_ = file_->so_far();
    }
    return failure_;
  }
  /// Puts the file into its place.
  [[gnu::cold]] const status& close() {
    const quiet_writes quiet;
    if (failure_ && file_) failure_ = file_->finish();
    file_.reset();
    return failure_;
  }

 private:
  std::string shown() const { return path_.empty() ? "standard output" : quoted_path(path_); }

  [[gnu::cold]] void open() {
    if (path_.empty()) {
      open_stream(fileno(stdout));
      return;
    }
    file_place place = find_place(path_);
    if (place.error != 0) failure_ = cannot_write(shown(), place.error);
    else if (place.descriptor >= 0) open_stream(place.descriptor);
    else file_.emplace(std::move(place), shown());
  }
  [[gnu::cold]] void open_stream(int wanted) {
    stream_ = stream_for(wanted, when_);
    if (!target_of(wanted).is_open) failure_ = cannot_write(shown(), EBADF);
    else if (stream_ < 0)
      failure_ = {"cannot write to " + shown() +
                  ": it leads to a file or a connection of the program's own; write to a file, or "
                  "keep standard output open"};
  }
  [[gnu::cold]] void append_to_stream(std::string_view text) {
    if (text.empty()) return;
    int error = stream_ == fileno(stdout) ? write_program_text(stream_) : 0;
    if (error == 0) error = write_all(stream_, text);
    if (error == 0) return;
    failure_ = cannot_write(shown(), error);
    failure_.message += "; what has been written is not complete";
  }

  std::string path_;
  write_time when_;
  bool is_open_ = false;
  int stream_ = -1;
  std::optional<output_file> file_;
  status failure_;
};

}  // namespace detail

/// Writes `text` to the file `path`, replacing it only when all is written, or to standard output
/// where `path` is empty. A failure, also that of a full disk, a closed standard output or a pipe
/// whose reader has ended, is in the status and harms nothing else. A pipe that `path` names is
/// given up after 1 s without a reader, and after 5 s in which its reader takes nothing.
[[gnu::cold]] inline status write_output(const std::string& path, std::string_view text) {
  return detail::within_memory([&] {
    detail::destination to(path);
    static_cast<void>(to.append(text));
    return to.close();
  });
}

/// `path` with the process id in place of the first "%p", so that the processes of a fork do not
/// overwrite each other.
[[gnu::cold]] inline std::string expand_path(std::string path) {
  if (const std::size_t at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(getpid()));
  return path;
}

/// Columns that a report to `path` (empty: standard output) has: the terminal's, else $COLUMNS,
/// else 100.
inline int output_width(const std::string& path) noexcept {
  if (path.empty()) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  if (const char* columns = detail::environment_variable("COLUMNS")) {
    char* end = nullptr;
    const long value = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && value > 0 && value <= 1000)
      return static_cast<int>(value);
  }
  return 100;
}

KPROF_DETAIL_END

#endif  // <kprof/report/destination.hpp>

// <kprof/report/text/copies.hpp>
#ifndef KPROF_REPORT_TEXT_COPIES_HPP
#define KPROF_REPORT_TEXT_COPIES_HPP

// The table of copies and memsets of the text report. Included by the text report.

// <kprof/model/copy_table.hpp>
#ifndef KPROF_MODEL_COPY_TABLE_HPP
#define KPROF_MODEL_COPY_TABLE_HPP

// Copies and memsets of a profile, by kind. Include it to use their numbers in a program. Pure;
// linear in device_profile::work.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Copies of one kind between the same kinds of memory, or memsets, of one device.
struct copy_row {
  device_task task = device_task::copy;  ///< copy or set
  copy_direction direction = copy_direction::unknown;
  memory_place from = memory_place::unknown;
  memory_place to = memory_place::unknown;
  bool merged = false;  ///< of differing kinds, kept together for want of memory
  std::uint32_t device = 0;
  std::uint64_t calls = 0;
  std::uint64_t untimed = 0;  ///< of these, those without timing
  std::uint64_t bytes = 0;
  double total_ns = 0;   ///< summed: concurrent copies count each
  double share = 0;      ///< of the time of all work of the devices; 0 to 1
  figure bytes_per_s{};  ///< bytes over total_ns
};

/// The copies and memsets for which keep(const device_work&) returns true, most time first.
template <class Keep>
std::vector<copy_row> copy_table(const profile& p, Keep keep) {
  detail::key_numbers numbers(0);
  std::vector<copy_row> table;
  for (const device_work& w : p.device.work) {
    if (w.task == device_task::kernel || !keep(w)) continue;
    const bool copy = w.task == device_task::copy;
    const auto [number, is_new] = numbers.of(
        {{static_cast<std::uint32_t>(w.task), copy ? static_cast<std::uint32_t>(w.direction) : 0,
          copy ? static_cast<std::uint32_t>(w.from) : 0, static_cast<std::uint32_t>(w.to), w.device,
          w.merged ? 1U : 0U}});
    if (is_new)
      table.push_back({.task = w.task,
                       .direction = w.direction,
                       .from = copy ? w.from : memory_place::unknown,
                       .to = w.to,
                       .merged = w.merged,
                       .device = w.device});
    copy_row& row = table[number];
    row.calls += w.calls;
    row.untimed += std::min(w.untimed, w.calls);
    row.bytes += w.bytes;
    row.total_ns += detail::not_negative(w.total_ns);
  }
  const double all = detail::all_device_work(p).ns;
  for (copy_row& row : table) {
    row.share = detail::share_of(row.total_ns, all);
    const absence timed = detail::device_time_known({.copies = row.calls, .untimed = row.untimed});
    row.bytes_per_s = detail::ratio({static_cast<double>(row.bytes), timed}, row.total_ns * 1e-9,
                                    absence::no_time);
  }
  detail::sort_table(table,
                     [](const copy_row& a, const copy_row& b) { return a.total_ns > b.total_ns; });
  return table;
}

/// All copies and memsets.
///     for (const auto& row : kprof::copy_table(run)) use(row.direction, row.bytes_per_s);
inline std::vector<copy_row> copy_table(const profile& p) {
  return copy_table(p, [](const device_work&) { return true; });
}

KPROF_DETAIL_END

#endif  // <kprof/model/copy_table.hpp>

// <kprof/report/text/fitted_table.hpp>
#ifndef KPROF_REPORT_TEXT_FITTED_TABLE_HPP
#define KPROF_REPORT_TEXT_FITTED_TABLE_HPP

// A table whose columns are left out, the least important first, until the rest fit the page.
// Included by the tables of kernels and copies.

// <kprof/report/text/grid.hpp>
#ifndef KPROF_REPORT_TEXT_GRID_HPP
#define KPROF_REPORT_TEXT_GRID_HPP

// A table of text whose columns fit a page. Included by the tables of the text report.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// How a line of a grid looks.
struct row_look {
  std::size_t span = 1;  // columns that the first cell covers; it is blank in those
  bool rule_before = false;
  line_style style = line_style::plain;
};

/// How a column of a grid behaves.
struct grid_column {
  std::string header;
  bool right = true;
  bool keep_end = false;      // of a text that is cut
  bool keep_ends = false;     // both of them
  bool is_printable = false;  // its cells have been made so
  std::size_t least = 0;      // how far it may shrink; 0: not at all
  std::size_t natural = 0;    // the width that its cells want
  std::size_t width = 0;
};

/// A table whose columns are as wide as their cells, but for those that shrink to make it fit.
class grid {
 public:
  static constexpr std::size_t gap = 2;

  std::vector<grid_column> columns;
  std::vector<std::vector<std::string>> rows;  // foreign text is still foreign
  std::vector<row_look> looks;                 // of the rows; there may be fewer

  [[gnu::cold]] void measure(const page& out) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].natural = display_width(columns[c].header);
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (c > 0 || look_of(r).span == 1)  // what is longer than a page can be is seen to be
          columns[c].natural =
              std::max(columns[c].natural,
                       display_width(printable(rows[r][c], 2 * widest_page, out.ascii())));
    }
  }

  /// Pads the numbers of a column, so that their decimal points are under one another.
  [[gnu::cold]] void align_points(std::size_t column) {
    const auto fraction = [](const std::string& cell) {
      return cell.find('.') == std::string::npos ? 0 : cell.size() - cell.find('.');
    };
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, fraction(row[column]));
    for (auto& row : rows)
      if (row[column] != "n/a") row[column].append(longest - fraction(row[column]), ' ');
  }

  /// Pads the units of a column, so that its numbers end under one another.
  [[gnu::cold]] void align_units(std::size_t column) {
    const auto unit = [](const std::string& cell) {
      const std::size_t space = cell.rfind(' ');
      return space == std::string::npos ? 0 : display_width(std::string_view{cell}.substr(space));
    };
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, unit(row[column]));
    for (auto& row : rows)
      if (const std::size_t own = unit(row[column]); own > 0)
        row[column].append(longest - own, ' ');
  }

  static std::size_t least_width(const grid_column& c) noexcept {
    return c.least == 0 ? c.natural
                        : std::min(c.natural, std::max(c.least, display_width(c.header)));
  }

  /// The narrowest it can be.
  std::size_t least_width() const noexcept {
    std::size_t sum = columns.empty() ? 0 : gap * (columns.size() - 1);
    for (const grid_column& c : columns) sum += least_width(c);
    return sum;
  }

  /// The page width at which no cell is cut.
  std::size_t whole_width() const noexcept {
    std::size_t sum = columns.empty() ? 0 : gap * (columns.size() - 1);
    for (const grid_column& c : columns) sum += c.natural;
    return sum;
  }

  /// The headers of the columns that print() had to cut cells of.
  std::vector<std::string> cut() const {
    std::vector<std::string> headers;
    for (const grid_column& c : columns)
      if (c.width < c.natural) headers.push_back(c.header);
    return headers;
  }

  void drop(std::size_t column) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }

  [[gnu::cold]] void print(page& out) {
    const std::size_t total = lay_out(out.width());
    std::vector<std::string> headers;
    for (const grid_column& c : columns) headers.push_back(c.header);
    print_row(out, headers, {.style = line_style::bold});
    out.rule(total);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (look_of(r).rule_before) out.rule(total);
      print_row(out, rows[r], look_of(r));
    }
  }

  /// Gives the columns their widths on a page of so many columns, and returns their sum. What is
  /// left over goes to those that shrank, in equal parts.
  [[gnu::cold]] std::size_t lay_out(std::size_t available) {
    std::size_t total = least_width();
    for (grid_column& c : columns) c.width = least_width(c);
    for (std::size_t hungry = columns.size(); hungry > 0 && total < available;) {
      hungry = 0;
      for (const grid_column& c : columns) hungry += c.width < c.natural ? 1 : 0;
      const std::size_t part =
          hungry == 0 ? 0 : std::max<std::size_t>(1, (available - total) / hungry);
      for (grid_column& c : columns) {
        const std::size_t more =
            std::min({c.natural - c.width, part, available - std::min(available, total)});
        c.width += more;
        total += more;
      }
    }
    return total;
  }

 private:
  row_look look_of(std::size_t row) const noexcept {
    return row < looks.size() ? looks[row] : row_look{};
  }

  static std::string fitted(const grid_column& c, const std::string& text, const page& out) {
    if (c.is_printable && display_width(text) <= c.width) return text;
    return c.keep_ends  ? printable_ends(text, c.width, out.ascii())
           : c.keep_end ? printable_end(text, c.width, out.ascii())
                        : printable(text, c.width, out.ascii());
  }

  [[gnu::cold]] void print_row(page& out, const std::vector<std::string>& cells,
                               const row_look& look) const {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      grid_column c = columns[i];
      const std::string& whole = cells[i];
      if (i == 0)
        for (; i + 1 < std::min(look.span, columns.size()); ++i)
          c.width += gap + columns[i + 1].width;
      const std::string cell = fitted(c, whole, out);
      const std::string pad(c.width - std::min(c.width, display_width(cell)), ' ');
      if (&whole != &cells[0]) text.append(gap, ' ');
      text += c.right ? pad + cell : cell + pad;
    }
    out.line(text, look.style);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/grid.hpp>

// <kprof/report/text/lines.hpp>
#ifndef KPROF_REPORT_TEXT_LINES_HPP
#define KPROF_REPORT_TEXT_LINES_HPP

// Lines that several sections of the text report have: what was cut, what a column means.
// Included by the sections.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Says which columns were cut, and at which page width they are `whole`.
[[gnu::cold]] inline void print_cut(page& out, const std::vector<std::string>& headers,
                                    std::size_t whole) {
  if (headers.empty()) return;
  std::string text = "cut at width " + std::to_string(out.width()) + ": ";
  for (const std::string& header : headers)
    text.append(&header == headers.data() ? "" : ", ").append(header);
  const std::string width = "width=" + std::to_string(std::min(whole, widest_page));
  if (whole <= widest_page)
    text.append("; whole with ")
        .append(width)
        .append(", or KPROF='report(")
        .append(width)
        .append(")'");
  else if (out.width() < widest_page) text.append("; not whole even with ").append(width);
  out.paragraph("", text, 2);
}

/// "12 kernels, 1 copy"; memsets are among the copies.
[[gnu::cold]] inline std::string runs_of(const device_sum& sum) {
  return counted(sum.kernels, "kernel", "kernels") + ", " + counted(sum.copies, "copy", "copies");
}

/// A line of the legend.
[[gnu::cold]] inline void print_meaning(page& out, const char* header, const std::string& meaning) {
  std::string lead = std::string{"  "} + header;
  lead.resize(14, ' ');
  out.paragraph(lead, meaning, lead.size());
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/lines.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class fitted_table {
 public:
  grid cells;

  /// `rank`: where not all columns fit, the highest goes first.
  [[gnu::cold]] void add_column(grid_column column, unsigned rank) {
    cells.columns.push_back(std::move(column));
    ranks_.push_back(rank);
  }

  /// The table, and what of it could not be shown.
  [[gnu::cold]] void print(page& out) {
    cells.measure(out);
    const std::size_t whole = cells.whole_width();
    std::vector<std::string> left_out;
    while (ranks_.size() > 1 && cells.least_width() > out.width()) {
      const auto worst = std::max_element(ranks_.begin(), ranks_.end());
      const auto at = static_cast<std::size_t>(worst - ranks_.begin());
      left_out.insert(left_out.begin(), cells.columns[at].header);
      cells.drop(at);
      ranks_.erase(worst);
    }
    cells.print(out);
    out.space();
    if (!left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out);
    print_cut(out, cells.cut(), whole);
  }

 private:
  std::vector<unsigned> ranks_;  // by column
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/fitted_table.hpp>

// <kprof/report/text/hidden_rows.hpp>
#ifndef KPROF_REPORT_TEXT_HIDDEN_ROWS_HPP
#define KPROF_REPORT_TEXT_HIDDEN_ROWS_HPP

// The lines of the text report that account for rows which are not shown. Included by its sections.

#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Why rows are not shown, for the lines that count them.
[[gnu::cold]] inline std::string filtered_by(const page& out, const text_plan& plan) {
  return "(filter=" + printable(plan.options.filter, 40, out.ascii()) + ")";
}
[[gnu::cold]] inline std::string cut_by(const text_plan& plan, const std::string& order) {
  return '(' + order + ", top=" + std::to_string(plan.options.top) + ')';
}

/// Rows that are not shown: counted and summed, so that nothing is lost in silence.
struct hidden_rows {
  std::uint64_t rows = 0, calls = 0;
  double self_ns = 0, device_ns = 0;

  template <class Row>
  [[gnu::cold]] void add(const Row& row) {
    ++rows;
    calls += row.calls + row.replays;
    self_ns += row.self_ns;
    device_ns += row.device_ns;
  }

  [[gnu::cold]] void print(page& out, const std::string& what, const std::string& why,
                           const text_plan& plan) const {
    if (rows == 0) return;
    std::string text =
        what + ": " + format_count(rows) + ' ' + why + ": " + format_count(calls) + " calls, ";
    if (plan.device)
      text += "device " + out.time(device_ns) + ", " +
              format_share(share_of(device_ns, plan.all_device_ns)) + ", ";
    out.paragraph("",
                  text + "self " + out.time(self_ns) + ", " +
                      format_share(share_of(self_ns, plan.all_self_ns)),
                  2);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/hidden_rows.hpp>

// <kprof/report/text/matching_operators.hpp>
#ifndef KPROF_REPORT_TEXT_MATCHING_OPERATORS_HPP
#define KPROF_REPORT_TEXT_MATCHING_OPERATORS_HPP

// Which nodes of a profile the filter of a report chooses. Included by the sections that sum work
// on devices.

#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether the innermost operator around each node matches.
inline std::vector<bool> matching_operators(const profile& p, const name_filter& filter) {
  const std::vector<std::uint32_t> operators = operators_around(p);
  std::vector<bool> matches(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t op = operators[i];  // itself or one that comes before
    if (op == i) matches[i] = filter.matches(p.nodes[i].name, parameter_text(p, p.nodes[i]));
    else if (op != scope_node::none) matches[i] = matches[op];
  }
  return matches;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/matching_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::string kind_cell(const copy_row& row, const page&) {
  if (row.task == device_task::set) return row.merged ? "(other memsets)" : "memset";
  if (row.merged) return "(other copies)";
  switch (row.direction) {
    case copy_direction::host_to_device: return "host to device";
    case copy_direction::device_to_host: return "device to host";
    case copy_direction::device_to_device: return "device to device";
    case copy_direction::host_to_host: return "host to host";
    case copy_direction::peer_to_peer: return "peer to peer";
    case copy_direction::unknown: break;
  }
  return "copy";
}

inline const char* place_name(memory_place place) noexcept {
  switch (place) {
    case memory_place::pageable: return "pageable";
    case memory_place::pinned: return "pinned";
    case memory_place::device: return "device";
    case memory_place::array: return "array";
    case memory_place::managed: return "managed";
    case memory_place::unknown: break;
  }
  return "unknown";
}

struct copy_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  std::string (*cell)(const copy_row&, const page&);
  const char* meaning;
};

inline constexpr copy_column copy_columns[] = {
    {"kind", 1, true, &kind_cell, "where a copy went, or memset"},
    {"from", 6, true,
     [](const copy_row& row, const page&) -> std::string {
       return row.task == device_task::set ? "" : place_name(row.from);
     },
     "kind of memory that was read; copies from and to pageable memory go through a buffer of the "
     "driver"},
    {"to", 7, true,
     [](const copy_row& row, const page&) -> std::string { return place_name(row.to); },
     "kind of memory that was written"},
    {"device", 9, false,
     [](const copy_row& row, const page&) { return std::to_string(row.device); },
     "number of the device, as CUDA has it"},
    {"calls", 4, false, [](const copy_row& row, const page&) { return calls_cell(row.calls); },
     "copies or memsets"},
    {"bytes", 3, false, [](const copy_row& row, const page&) { return format_memory(row.bytes); },
     "copied or set, summed"},
    {"total", 2, false, [](const copy_row& row, const page& out) { return out.time(row.total_ns); },
     "time on the device, summed"},
    {"share", 8, false, [](const copy_row& row, const page&) { return format_share(row.share); },
     "total / time of all kernels, copies and memsets"},
    {"GB/s", 5, false,
     [](const copy_row& row, const page& out) {
       return row.bytes_per_s.known() ? number_cell(look::rate, row.bytes_per_s.value, out) : "n/a";
     },
     "10^9 bytes a second: bytes / total; these are counted, not by a formula"},
};

[[gnu::cold]] inline void print_copies(page& out, const profile& p, const text_plan& plan) {
  const bool filtered = plan.filter.active();
  const std::vector<bool> matches =
      filtered ? matching_operators(p, plan.filter) : std::vector<bool>{};
  const auto match = [&](const device_work& w) {
    const std::uint32_t node = scope_of(p, w);
    return !filtered || (node != scope_node::none && matches[node]);
  };
  const std::vector<copy_row> rows = copy_table(p, match);
  std::uint64_t hidden = 0;
  double hidden_ns = 0;
  if (filtered)
    for (const copy_row& row : copy_table(p, [&](const device_work& w) { return !match(w); }))
      hidden += row.calls, hidden_ns += row.total_ns;
  if (rows.empty() && hidden == 0) return;
  out.space();
  out.paragraph("",
                "Copies and memsets, sorted by total; share is of " + out.time(plan.all_device_ns) +
                    " of device time",
                2);
  out.space();
  if (rows.empty()) {
    out.line("no copy is of an operator that matches the filter");
  } else {
    fitted_table table;
    table.cells.rows.resize(rows.size());
    for (const copy_column& c : copy_columns) {
      table.add_column({.header = c.header, .right = !c.text}, c.rank);
      for (std::size_t i = 0; i < rows.size(); ++i)
        table.cells.rows[i].push_back(c.cell(rows[i], out));
      if (std::string_view{c.header} == "GB/s")
        table.cells.align_points(table.cells.columns.size() - 1);
    }
    table.print(out);
    for (const absence why : {absence::untimed, absence::no_time})
      if (std::any_of(rows.begin(), rows.end(),
                      [&](const copy_row& row) { return row.bytes_per_s.why == why; }))
        out.paragraph("", "n/a, " + std::string{explain(why)}, 2);
  }
  if (hidden > 0)
    out.paragraph("",
                  "filtered out: " + format_count(hidden) + ' ' + filtered_by(out, plan) + ": " +
                      out.time(hidden_ns) + ", " +
                      format_share(share_of(hidden_ns, plan.all_device_ns)),
                  2);
}

[[gnu::cold]] inline void print_copy_legend(page& out) {
  out.space();
  out.line("Legend of the copies");
  for (const copy_column& c : copy_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/copies.hpp>

// <kprof/report/text/device.hpp>
#ifndef KPROF_REPORT_TEXT_DEVICE_HPP
#define KPROF_REPORT_TEXT_DEVICE_HPP

// What the text report says of devices and of their collector: lines below its first, and facts at
// its end. Included by the text report. A run without a device has neither.

// <kprof/report/text/facts.hpp>
#ifndef KPROF_REPORT_TEXT_FACTS_HPP
#define KPROF_REPORT_TEXT_FACTS_HPP

// Lines of the part of a report that says what was seen and what was not. Included by its makers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline void print_fact(page& out, std::string key, const std::string& text) {
  key.insert(0, 2, ' ');
  key.resize(12, ' ');
  out.paragraph(key, text, key.size());
}

/// "the memory limit (64.0 MiB)".
[[gnu::cold]] inline std::string memory_limit_of(const profile& p) {
  return p.cost.memory_limit > 0 ? "the memory limit (" + format_memory(p.cost.memory_limit) + ")"
                                 : "the memory limit";
}

/// A count that should be zero.
struct oddity {
  std::uint64_t count;
  const char* what;
  std::string meaning;
  bool harmless = false;  // as the program asked for: no line of its own
};

/// A fact, which of the oddities there are none of, and a line that begins with "!" for each that
/// there is.
[[gnu::cold]] inline void print_oddities(page& out, const char* key, const std::string& text,
                                         const std::vector<oddity>& oddities) {
  std::string none;
  const char* before = "";
  for (const oddity& o : oddities) {
    if (o.count != 0) continue;
    none.append(before).append(o.what);
    before = ", ";
  }
  const std::size_t comma = none.rfind(", ");
  if (comma != std::string::npos) none.replace(comma, 2, " or ");
  std::string harmless;
  for (const oddity& o : oddities)
    if (o.count > 0 && o.harmless)
      harmless += "; " + format_count(o.count) + ' ' + o.what + " (" + o.meaning + ')';
  print_fact(out, key, text + harmless + (none.empty() ? "" : "; none " + none));
  for (const oddity& o : oddities)
    if (o.count > 0 && !o.harmless)
      out.paragraph("! ", format_count(o.count) + ' ' + o.what + ": " + o.meaning, 4);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/facts.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool uses_device(const profile& p) noexcept {
  return p.device.collecting || has_device_work(p);
}

[[gnu::cold]] inline std::string device_line(const page& out, const profile& p,
                                             const device_info& d) {
  std::string text = "device " + std::to_string(d.id);
  if (d.described) {
    text += out.dot() + out.safe(d.name.empty() ? "(no name)" : d.name) + out.dot() + "compute " +
            std::to_string(d.compute_major) + '.' + std::to_string(d.compute_minor) + out.dot() +
            counted(d.multiprocessors, "SM", "SMs");
    text +=
        out.dot() + (d.memory_bytes_per_s > 0
                         ? format_rate(static_cast<double>(d.memory_bytes_per_s) * 1e-9) + " GB/s"
                         : "GB/s n/a");
  } else {
    text += out.dot() + std::string{"not described by CUPTI"};
  }
  const double busy = not_negative(d.busy_ns), sum = not_negative(d.sum_ns);
  text += out.dot() + std::string{d.busy_is_exact ? "busy " : "busy at least "} + out.time(busy);
  if (p.wall_ns > 0) text += ", " + format_share(busy / p.wall_ns) + " of wall";
  return sum > busy * 1.01 ? text + " (run times summed " + out.time(sum) + ')' : text;
}

/// One line a device, but for those beside it that did nothing; and why there is no collector where
/// there is none.
[[gnu::cold]] inline void print_devices(page& out, const profile& p) {
  if (!p.device.collecting && !p.device.state.empty())
    out.paragraph("", "device: " + out.safe(p.device.state) + "; times and rates are the host's",
                  2);
  const auto idle = [](const device_info& d) { return !(d.sum_ns > 0) && !(d.busy_ns > 0); };
  const bool all_idle = std::all_of(p.device.devices.begin(), p.device.devices.end(), idle);
  std::vector<std::string> others;
  for (const device_info& d : p.device.devices) {
    if (all_idle || !idle(d)) out.paragraph("", device_line(out, p, d), 2);
    else others.push_back(std::to_string(d.id));
  }
  if (!others.empty())
    out.list(others.size() == 1 ? "no work on device " : "no work on devices ", others);
}

/// What happens so seldom that it is told of only where it has.
[[gnu::cold]] inline void add_rare_oddities(std::vector<oddity>& out,
                                            const device_completeness& c) {
  if (c.cut_buffers > 0)
    out.push_back({c.cut_buffers, "cut buffers",
                   "CUPTI could not read these buffers of records to their ends: what they held "
                   "is in no table, and operators that lack records of their work have no rates. "
                   "Use the libcupti of the CUDA Toolkit that the driver is of (KPROF_CUPTI)."});
  if (c.foreign_buffers > 0)
    out.push_back({c.foreign_buffers, "foreign buffers",
                   "another part of the program uses CUPTI's activity API too, and buffers of "
                   "records that it asked for came to kprof, which leaves them alone; others of "
                   "kprof's may have gone there. Run without the other tool, or set "
                   "KPROF=cupti=off."});
}

[[gnu::cold]] inline std::vector<oddity> device_oddities(const profile& p) {
  const device_completeness& c = p.device.complete;
  const std::string limit = memory_limit_of(p);
  const std::uint64_t accounted = c.attributed + c.outside + c.open;
  const std::string forgotten =
      c.forgotten_graphs == 0
          ? ""
          : ", or of the " + counted(c.forgotten_graphs, "graph", "graphs") +
                " that kprof forgot for want of memory, those not launched for longest (raise " +
                limit + ")";
  std::vector<oddity> all = {
      {c.open, "open",
       "launches of which no work on the device is known: it had not ended when the profile was "
       "taken (synchronise before the report), or "
       "there was none, as in a copy of no bytes."},
      {c.dropped, "dropped",
       "records of kernels and copies that CUPTI or kprof had no memory for: device times and "
       "counts above are too low, and operators that lack records of their work have no rates. "
       "Raise " +
           limit + ", or record a shorter run."},
      {c.untimed, "without timing",
       "records for which CUPTI gave no time; they count as runs and take none. Where they are "
       "more than one run in a thousand, rates are "
       "n/a."},
      {c.unknown, "of unknown launch",
       "records whose launch was not seen: they are in no operator, and `(unknown)` in the table "
       "of kernels. Begin recording before the "
       "first launch."},
      {c.launches_lost, "lost",
       "launches that could not be noted for want of memory; their work is of unknown launch. "
       "Raise " +
           limit + "."},
      {c.ignored, "ignored",
       "records of work launched before the recording began or while it was paused", true},
      {c.odd, "odd",
       "records of a kind that this kprof does not know, in no table. A newer kprof may know "
       "them."},
      {c.merged, "merged",
       "kernels and copies kept without name and launch configuration for want of memory; their "
       "times are in their operators. Raise " +
           limit + "."},
      {c.foreign_graphs, "of foreign graphs",
       "runs of nodes of CUDA graphs that were made before the recording began" + forgotten +
           ": which operator they belong to is not known, "
           "so they count to the scope that launched the graph. Begin recording before graphs are "
           "captured."},
      {c.launches > accounted ? c.launches - accounted : accounted - c.launches, "unaccounted",
       "launches by which the count of all differs from the sum of its parts. This is a mistake in "
       "kprof: please report it."},
  };
  add_rare_oddities(all, c);
  return all;
}

/// Launches, their records and the collector.
[[gnu::cold]] inline void print_device_facts(page& out, const profile& p) {
  if (!uses_device(p)) return;
  const device_completeness& c = p.device.complete;
  std::string text = counted(c.launches, "launch", "launches") + " = " +
                     format_count(c.attributed) + " attributed + " + format_count(c.outside) +
                     " outside any operator";
  if (c.open > 0) text += " + " + format_count(c.open) + " open";
  text += "; " + counted(c.records, "record", "records") + " of kernels, copies and memsets";
  print_oddities(out, "device", text, device_oddities(p));
  print_fact(out, "sync",
             c.synchronizations == 0
                 ? "no call that waits for a device"
                 : counted(c.synchronizations, "call that waits", "calls that wait") +
                       " for a device, " + out.time(not_negative(c.synchronizing_ns)) +
                       " of host time");
  if (p.device.collecting && !p.device.state.empty())
    print_fact(out, "collector", out.safe(p.device.state));
}

/// What collecting took, for the line of kprof's own cost.
[[gnu::cold]] inline std::string collecting_cost(const page& out, const profile& p) {
  if (!uses_device(p)) return {};
  return "; collecting " + out.time(not_negative(p.device.collecting_ns)) + "; CUPTI itself " +
         out.time(not_negative(p.device.complete.overhead_ns));
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/device.hpp>

// <kprof/report/text/footer.hpp>
#ifndef KPROF_REPORT_TEXT_FOOTER_HPP
#define KPROF_REPORT_TEXT_FOOTER_HPP

// The end of every text report: what was seen, what was not, and what kprof itself took. Included
// by the text reports. A count that should be zero and is not gets a line of its own that begins
// with "!", says what it means and what to do.

#include <algorithm>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::vector<oddity> scope_oddities(const profile& p) {
  const completeness& c = p.complete;
  const std::string limit = memory_limit_of(p);
  return {
      {c.open, "open",
       "had not ended when the profile was taken; their time so far is in no total. Report after "
       "their blocks have ended, or read the "
       "column `open`."},
      {c.never_closed, "left open",
       "their thread ended before they did; their time is in no total. End a thread by returning "
       "from its function."},
      {c.dropped, "dropped",
       "not recorded, for want of memory or because thousands were open inside one another: calls "
       "and times above are too low. Raise " +
           limit + ", or put guards around larger pieces of work."},
      {c.dropped_inside, "dropped inside kprof",
       "not recorded, as a guard opened them while kprof itself was at work on that thread, in an "
       "allocator for instance. Nothing is wrong "
       "unless there are many; put no guards into operator new or malloc."},
      {c.closed_by_parent, "closed by an outer scope",
       "a scope around them ended first, and their times end with it. Let guards be local "
       "variables that end in reverse order: none on the "
       "heap, none moved out of its block."},
      {c.closed_elsewhere, "closed elsewhere",
       "guards destroyed on another thread than the one that made them, or after their scope was "
       "gone. Make and destroy a guard on one "
       "thread, within one block."},
      {c.invalid, "invalid",
       "calls whose parameters fail valid(), or whose formula overflowed or went negative; their "
       "rows say `invalid` and have no rates. "
       "Correct the parameters or the formula."},
      {c.merged, "merged",
       "calls kept without their parameters for want of memory; rows by parameters lack them. "
       "Totals may take a quarter of " +
           limit +
           ", and merging begins at half of that quarter. Raise the limit, or have fewer distinct "
           "parameters."},
  };
}

[[gnu::cold]] inline void print_scopes(page& out, const profile& p) {
  const completeness& c = p.complete;
  print_oddities(out, "scopes", format_count(c.recorded) + " recorded", scope_oddities(p));
  if (c.imprecise > 0)
    out.paragraph("! ",
                  format_count(c.imprecise) +
                      " imprecise: durations that median and p99 know only roughly for want of "
                      "memory; all else is exact. Raise " +
                      memory_limit_of(p) + ".",
                  4);
}

[[gnu::cold]] inline void print_timeline(page& out, const profile& p) {
  const completeness& c = p.complete;
  std::string text;
  if (c.in_timeline == 0) text = c.recorded == 0 ? "empty" : "not kept; totals are not affected";
  else if (c.in_timeline >= c.recorded)
    text =
        (c.recorded == 1 ? "the only scope, " : "all " + format_count(c.recorded) + " scopes, ") +
        out.time(c.timeline_ns);
  else
    text = "the last " + out.time(c.timeline_ns) + " of " + out.time(p.wall_ns) + ": " +
           format_count(c.in_timeline) + " of " + format_count(c.recorded) +
           " scopes; totals cover all";
  print_fact(out, "timeline", text);
}

[[gnu::cold]] inline void print_cost(page& out, const profile& p) {
  const own_cost& c = p.cost;
  if (c.scope_ns > 0) {
    std::string text = out.time(c.scope_ns) + " a scope, " + out.time(c.recording_ns) + " in all";
    if (p.wall_ns > 0)
      text += " (" + format_share(c.recording_ns / p.wall_ns) +
              (p.threads.size() > 1 ? " of wall time, all threads summed)" : " of wall time)");
    print_fact(out, "own cost",
               text + "; folding " + out.time(c.folding_ns) + "; an empty scope shows " +
                   out.time(c.empty_scope_ns) + collecting_cost(out, p));
  } else {
    print_fact(out, "own cost", "n/a: not measured in this process" + collecting_cost(out, p));
  }
  print_fact(
      out, "memory",
      format_memory(c.memory) + (c.memory_limit > 0 ? " of " + format_memory(c.memory_limit) : ""));
}

[[gnu::cold]] inline void print_clock(page& out, const profile& p) {
  if (p.clock.source.empty()) return print_fact(out, "clock", "n/a: none was started");
  print_fact(out, "clock",
             out.safe(p.clock.source) + ", " + format_rate(p.clock.ns_per_tick) + " ns a tick, " +
                 (p.clock.residual_ns < 0
                      ? "calibrated twice"
                      : out.time(p.clock.residual_ns) + " off its calibration at most"));
}

inline std::string kprof_version() {
  return "kprof " + std::to_string(KPROF_VERSION_MAJOR) + '.' +
         std::to_string(KPROF_VERSION_MINOR) + '.' + std::to_string(KPROF_VERSION_PATCH);
}

/// Whether every scope and every record of the device is in the numbers, as exactly as it can be.
inline bool is_complete(const profile& p) {
  const auto matters = [](const oddity& o) { return o.count > 0 && !o.harmless; };
  const std::vector<oddity> of_scopes = scope_oddities(p), of_device = device_oddities(p);
  return p.complete.imprecise == 0 && std::none_of(of_scopes.begin(), of_scopes.end(), matters) &&
         (!uses_device(p) || std::none_of(of_device.begin(), of_device.end(), matters));
}

/// One sentence where nothing is missing, and what else there is to see.
[[gnu::cold]] inline void print_all_is_well(page& out, const profile& p, const text_plan& plan) {
  std::string text =
      "Complete: nothing was lost of " + counted(p.complete.recorded, "scope", "scopes");
  if (uses_device(p))
    text += " and " + counted(p.device.complete.records, "record", "records") + " of the device";
  if (p.cost.scope_ns > 0) {
    const double took_ns =
        p.cost.recording_ns + p.cost.folding_ns + not_negative(p.device.collecting_ns);
    text += "; " + kprof_version() + " took " + out.time(took_ns);
    if (p.wall_ns > 0) text += " (" + format_share(took_ns / p.wall_ns) + " of wall time)";
  }
  text += ". More: KPROF='report(";
  if (!plan.tree) text += "tree,";
  if (plan.device && !plan.kernels) text += "kernels,";
  text += "details)', legend, by=op.";
  out.paragraph("", text, 2);
}

[[gnu::cold]] inline void print_footer(page& out, const profile& p, const text_plan& plan) {
  out.space();
  if (!plan.options.details && is_complete(p)) {
    print_all_is_well(out, p, plan);
  } else {
    out.line("Completeness");
    print_scopes(out, p);
    print_device_facts(out, p);
    if (plan.options.details) {
      print_timeline(out, p);
      print_cost(out, p);
      print_clock(out, p);
    }
    print_fact(out, "version", kprof_version());
  }
  if (p.notes.empty()) return;
  out.space();
  out.line("Notes");
  for (const std::string& note : p.notes) out.paragraph("  - ", out.safe(note), 4);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/footer.hpp>

// <kprof/report/text/kernels.hpp>
#ifndef KPROF_REPORT_TEXT_KERNELS_HPP
#define KPROF_REPORT_TEXT_KERNELS_HPP

// The table of kernels of the text report. Included by the text report. A column is one line of the
// table below.

// <kprof/model/kernel_table.hpp>
#ifndef KPROF_MODEL_KERNEL_TABLE_HPP
#define KPROF_MODEL_KERNEL_TABLE_HPP

// The kernels of a profile, one row for each operator, kernel and launch configuration. Include it
// to use their numbers in a program. Pure: no I/O, no clock. Time and memory are linear in
// profile::nodes and device_profile::work, sorting aside.

// <kprof/model/tensor_core.hpp>
#ifndef KPROF_MODEL_TENSOR_CORE_HPP
#define KPROF_MODEL_TENSOR_CORE_HPP

// Whether a kernel computes on tensor cores, as far as its name tells. Included by the table of
// kernels. Pure.
//
// A name can say yes and never no. What is looked for are whole words, and where they come from:
//   s16816gemm h884gemm i8816cudnn d884gemm   instruction shapes in names of cuBLAS, cuDNN and
//                                             CUTLASS: accumulator, M N K
//   cutlass..._tensorop, ..._sptensorop       CUTLASS's opcode class; the other is "simt"
//   OpClassTensorOp, MmaTensorOp...           the same as template arguments
//   tensor16x8x16                             XMMA kernels of cuBLAS, cuDNN and TensorRT; without
//                                             tensor cores it is "ffma"
//   xmma ... warpgroupsize1x1x1               XMMA kernels of sm_90: warp groups are those of
//                                             wgmma. "xmma" alone says nothing
//   nvjet                                     GEMMs of cuBLAS for sm_90 and later, all on wgmma,
//                                             tcgen05 or mma
//   SM80_16x8x16_F32F16F16F32_TN, GMMA, UMMA  CuTe's MMA atoms
//   hmma imma bmma dmma qmma wmma wgmma ...   the instructions

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// "16x8x16", with something behind it or not.
inline bool begins_with_shape(std::string_view word) noexcept {
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (word.empty() || word[0] != 'x')) return false;
    if (i > 0) word.remove_prefix(1);
    if (word.empty() || !is_digit(word[0])) return false;
    while (!word.empty() && is_digit(word[0])) word.remove_prefix(1);
  }
  return true;
}

/// "s16816gemm": a letter for the type, the shape of an instruction, and the end or a letter.
inline bool is_instruction(std::string_view word) noexcept {
  if (word.size() < 4 || std::string_view{"bcdhisz"}.find(word[0]) == std::string_view::npos)
    return false;
  std::size_t digits = 1;
  while (digits < word.size() && is_digit(word[digits])) ++digits;
  if (digits < word.size() && (word[digits] < 'a' || word[digits] > 'z')) return false;
  for (const std::string_view shape :
       {"884", "1684", "1688", "8816", "8832", "16816", "16832", "16864", "88128", "161616",
        "168128", "168256", "321616", "83216"})
    if (word.substr(1, digits - 1) == shape) return true;
  return false;
}

inline std::string lower(std::string_view word) {
  std::string out{word};
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// `name` as kernel_name() gives it; of one that it could not demangle, the words are the names in
/// it.
class tensor_core_words {
 public:
  bool found = false;

  explicit tensor_core_words(std::string_view name) {
    if (!name.starts_with("_Z")) {
      read(name);
      return;
    }
    bool within = false;  // a number that is no length: Li128E
    for (std::size_t at = 2; at < name.size();) {
      std::size_t number = 0;
      if (const std::size_t end = reference_end(name, at, number); end != at) {
        at = end;
        continue;
      }
      const std::string_view part = within ? std::string_view{} : source_name(name, at);
      if (!part.empty()) {
        read(part);
        continue;
      }
      within = is_digit(name[at]) || (name[at - 1] == 'L' && name[at] >= 'a' && name[at] <= 'z');
      ++at;
    }
  }

 private:
  void read(std::string_view text) {
    std::string_view before;  // the word that "_" joins to this one
    while (!text.empty()) {
      std::size_t size = 0;
      while (size < text.size() && is_word(text[size]) && text[size] != '_') ++size;
      if (size > 0) look_at(text.substr(0, size), before);
      before = size < text.size() && text[size] == '_' ? text.substr(0, size) : std::string_view{};
      text.remove_prefix(size < text.size() ? size + 1 : size);
    }
  }

  void look_at(std::string_view word, std::string_view before) {
    const std::string plain = lower(word);
    for (const char* instruction : {"hmma", "imma", "bmma", "dmma", "qmma", "wmma", "wgmma",
                                    "hgmma", "igmma", "qgmma", "gmma", "umma", "tcgen05", "nvjet"})
      found = found || plain == instruction;
    cutlass_ = cutlass_ || plain.starts_with("cutlass");
    xmma_ = xmma_ || plain == "xmma";
    found = found || (cutlass_ && word.ends_with("tensorop")) ||
            (word.starts_with("OpClass") && word.ends_with("TensorOp")) ||
            word.starts_with("MmaTensorOp") || is_instruction(word) ||
            (word.starts_with("tensor") && begins_with_shape(word.substr(6))) ||
            (xmma_ && word.starts_with("warpgroupsize")) ||
            (before.size() > 2 && before.starts_with("SM") && is_digit(before[2]) &&
             begins_with_shape(word));
  }

  bool cutlass_ = false, xmma_ = false;
};

inline bool name_says_tensor_core(std::string_view name) { return tensor_core_words(name).found; }

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/tensor_core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Whether a kernel computes on tensor cores, and how that is known.
///
/// A name says yes or nothing. An operator that declares a unit says yes for a kernel that is all
/// its calls run, and no for any kernel of its calls: of several, those that prepare and reduce
/// need not be on tensor cores.
enum class tensor_use : std::uint8_t { unknown, yes_by_name, yes_declared, no_declared };

/// Runs of one kernel. What differs among them, and does not make rows of their own, is marked so.
///
/// Rows differ in kernel and in the keys of their grouping, as seen from the launch: `region` and
/// `layer` are around it, in the operator too; `thread` is the thread that launched and the stream.
/// By `parameters` they also differ in pass, device and launch configuration.
struct kernel_row {
  /// The same in every run of the program: see row_key_text(). No two rows of a table have the
  /// same.
  std::uint64_t key = 0;
  launch_place place = launch_place::unknown;
  /// Innermost operator around the launch; empty outside of all, and where there are several.
  std::string op;
  std::uint64_t operators = 0;      ///< different names of operators in this row
  std::vector<group_value> values;  ///< what the launches have in common: one for each key
  /// Of its calls, as text, without folded fields; empty where they differ in it.
  std::string parameters;
  /// Index in profile::nodes of the operator's first call in the row; none outside of all
  /// operators.
  std::uint32_t node = scope_node::none;
  std::uint64_t variants = 0;      ///< sets of parameters in this row
  bool parameters_merged = false;  ///< calls whose parameters were not kept
  bool invalid = false;            ///< calls whose parameters are invalid
  /// Innermost region around the launch, in the operator or around it; empty: none.
  std::string region;
  std::uint64_t regions = 0;  ///< different ones; 0 where no launch is in a region
  bool also_in_none = false;  ///< of several launches, some are in a region and some in none
  /// Value of the field `pass` of the innermost operator that has one; empty: none.
  std::string pass;
  bool several_passes = false;
  /// As kernel_name() gives it; empty: several kernels, which kprof had no memory to keep apart.
  std::string kernel;
  std::uint32_t device = 0;
  bool several_devices = false;
  std::uint32_t stream = 0;
  std::uint64_t streams = 0;            ///< different ones
  std::uint32_t grid[3] = {};           ///< blocks
  std::uint32_t block[3] = {};          ///< threads
  std::uint32_t registers = 0;          ///< a thread
  std::uint32_t shared = 0;             ///< bytes a block, static and dynamic
  bool several_configurations = false;  ///< the four above are then of one of them

  std::uint64_t calls = 0;         ///< runs
  std::uint64_t untimed = 0;       ///< of these, runs without timing; they are in no time
  double total_ns = 0;             ///< run times, summed: concurrent runs count each
  double share = 0;                ///< total_ns, of the time of all work of the devices; 0 to 1
  figure mean_ns, min_ns, max_ns;  ///< of a run
  /// By the operator's formulas, where each of its calls runs this kernel and no other.
  figure flops, bytes;
  tensor_use tensor_core = tensor_use::unknown;
};

namespace detail {

/// Sums the work of one row.
struct kernel_sum {
  kernel_row row;
  double min_ns = HUGE_VAL, max_ns = 0, flops = 0, bytes = 0;
  absence no_flops = absence::none, no_bytes = absence::none;
  std::uint32_t first_pass = 0;  // its number

  void begin(const profile& p, const device_work& w, const work_place& at, const std::string& pass,
             const std::string& kernel) {
    row.place = at.place;
    first_pass = at.pass;
    if (at.op != scope_node::none) {
      const scope_node& op = p.nodes[at.op];
      row.op = op.name;
      row.node = at.op;
      row.parameters_merged = op.merged;
    }
    row.pass = pass;
    row.kernel = kernel;
    row.device = w.device;
    std::copy(w.grid, w.grid + 3, row.grid);
    std::copy(w.block, w.block + 3, row.block);
    row.registers = w.registers;
    row.shared = w.static_shared + w.dynamic_shared;
  }

  void add(const profile& p, const device_work& w, const work_place& at,
           const operator_kernels* of) {
    row.several_passes = row.several_passes || at.pass != first_pass;
    row.several_devices = row.several_devices || w.device != row.device;
    row.several_configurations =
        row.several_configurations || w.merged || !std::equal(w.grid, w.grid + 3, row.grid) ||
        !std::equal(w.block, w.block + 3, row.block) || w.registers != row.registers ||
        w.static_shared + w.dynamic_shared != row.shared;
    const std::uint64_t untimed = std::min(w.untimed, w.calls);
    if (w.calls > untimed) {
      min_ns = std::min(min_ns, not_negative(w.min_ns));
      max_ns = std::max(max_ns, not_negative(w.max_ns));
    }
    row.calls += w.calls;
    row.untimed += untimed;
    row.total_ns += not_negative(w.total_ns);
    if (of != nullptr) row.invalid = row.invalid || !of->valid;
    add_work(p, w, at, of);
  }

  void add_work(const profile& p, const device_work& w, const work_place& at,
                const operator_kernels* of) {
    if (of == nullptr) {
      no_flops = no_bytes = absence::no_operator;
      return;
    }
    // Which kernels a call runs is known only where all records have come.
    const absence shared = std::max(records_known(p, of->work),
                                    of->only_one() ? absence::none : absence::several_kernels);
    no_flops = std::max({no_flops, of->no_flops, shared});
    no_bytes = std::max({no_bytes, of->no_bytes, shared});
    const work_per_call& work = p.nodes[at.op].work;
    flops += static_cast<double>(w.calls) * static_cast<double>(work.flops);
    bytes += static_cast<double>(w.calls) *
             (static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written));
  }

  kernel_row finish(double all_device_ns) {
    const std::uint64_t timed = row.calls - row.untimed;
    const absence why = row.calls == 0 ? absence::no_calls
                        : timed == 0   ? absence::untimed
                                       : absence::none;
    const auto time = [&](double ns) { return figure{why == absence::none ? ns : 0, why}; };
    row.share = share_of(row.total_ns, all_device_ns);
    row.mean_ns = time(row.total_ns / static_cast<double>(std::max<std::uint64_t>(timed, 1)));
    row.min_ns = time(min_ns);
    row.max_ns = time(max_ns);
    row.flops = {no_flops == absence::none ? flops : 0, no_flops};
    row.bytes = {no_bytes == absence::none ? bytes : 0, no_bytes};
    if (row.operators > 1) row.op.clear();
    if (row.several_passes) row.pass.clear();
    if (row.regions > 1) row.region.clear();
    row.also_in_none = row.also_in_none && row.regions > 0;
    return std::move(row);
  }
};

/// Puts work into rows.
class kernel_summing {
 public:
  /// `kept`: which of the profile's work is looked at.
  kernel_summing(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : p_(p),
        by_parameters_(by.has(group_key::parameters)),
        by_thread_(by.has(group_key::thread)),
        keys_(p),
        places_(p),
        groups_(p, by),
        rows_(p.device.work.size()) {
    for (std::size_t i = 0; i < p.nodes.size() && has_device_work(p); ++i)
      groups_.look_at(static_cast<std::uint32_t>(i));
    for (const std::string& name : p.device.kernels) names_.push_back(kernel_name(name));
    for (const std::string& name : names_) on_tensor_cores_.push_back(name_says_tensor_core(name));
    for (std::size_t i = 0; i < p.device.work.size(); ++i)
      if (p.device.work[i].task == device_task::kernel && kept[i]) add(p.device.work[i]);
  }

  std::vector<kernel_row> finish() {
    const double all = all_device_work(p_).ns;
    const std::vector<std::uint32_t> order =
        sorted_order(sums_.size(), [&](std::uint32_t a, std::uint32_t b) {
          return sums_[a].row.total_ns > sums_[b].row.total_ns;
        });
    std::vector<kernel_row> table;
    table.reserve(order.size());
    for (const std::uint32_t i : order) table.push_back(sums_[i].finish(all));
    make_keys_differ(table);
    return table;
  }

 private:
  void add(const device_work& w) {
    const work_place at = places_.of(w);
    const auto kernel = w.kernel < names_.size() ? w.kernel : device_work::none;
    const auto [number, is_new] = rows_.of(key_of(w, at, kernel));
    if (is_new)
      sums_.emplace_back().begin(p_, w, at, places_.pass_of(at),
                                 kernel == device_work::none ? std::string{} : names_[kernel]);
    kernel_sum& sum = sums_[number];
    if (is_new) {
      sum.row.values = groups_.values_of({scope_of(p_, w), at.op});
      sum.row.key = row_key_of(w, at, sum.row);
      if (at.op != scope_node::none) sum.row.parameters = groups_.leaves().text(p_.nodes[at.op]);
    }
    const operator_kernels* const of = places_.kernels_of(at);
    if (of != nullptr && variants_.of({{number, at.variant}}).second && ++sum.row.variants > 1 &&
        !by_parameters_)
      sum.row.parameters.clear();
    if (of != nullptr && operators_.of({{number, at.op_name}}).second) ++sum.row.operators;
    if (at.region == scope_node::none) {
      sum.row.also_in_none = true;
    } else if (regions_.of({{number, at.region_name}}).second) {
      ++sum.row.regions;
      sum.row.region = p_.nodes[at.region].name;
    }
    if (streams_.of({{number, w.device, w.stream}}).second) {
      ++sum.row.streams;
      sum.row.stream = w.stream;
    }
    sum.add(p_, w, at, of);
    const tensor_use use = kernel != device_work::none && on_tensor_cores_[kernel]
                               ? tensor_use::yes_by_name
                               : declared(of);
    sum.row.tensor_core = is_new || sum.row.tensor_core == use ? use : tensor_use::unknown;
  }

  static tensor_use declared(const operator_kernels* of) noexcept {
    if (of == nullptr) return tensor_use::unknown;
    if (of->on == arithmetic_unit::cuda_core) return tensor_use::no_declared;
    return of->on == arithmetic_unit::tensor_core && of->only_one() ? tensor_use::yes_declared
                                                                    : tensor_use::unknown;
  }

  std::uint64_t row_key_of(const device_work& w, const work_place& at, const kernel_row& row) {
    key_hash hash;
    hash.add(static_cast<std::uint64_t>(at.place)).add(row.kernel);
    if (at.op != scope_node::none)
      hash.add(keys_.call(p_.nodes[at.op], row.values, groups_.leaves()).value());
    if (by_parameters_) {
      for (int i = 0; i < 3; ++i) hash.add(w.grid[i]).add(w.block[i]);
      hash.add(w.registers).add(w.static_shared + w.dynamic_shared).add(w.device);
    }
    const std::uint32_t scope = scope_of(p_, w);
    profile_keys::add_places(
        hash, row.values,
        scope == scope_node::none ? std::string_view{} : keys_.thread_name(p_.nodes[scope]));
    if (by_thread_) hash.add(w.stream);
    return hash.value();
  }

  // Four keys, since one has six parts.
  row_key key_of(const device_work& w, const work_place& at, std::uint32_t kernel) {
    const std::uint32_t group =
        group_keys_.of(groups_.key_of({scope_of(p_, w), at.op}, at.variant)).first;
    row_key key{{static_cast<std::uint32_t>(at.place), group, kernel}};
    if (by_thread_) key.part[3] = w.stream;
    if (!by_parameters_) return key;
    key.part[4] =
        shapes_.of({{w.grid[0], w.grid[1], w.grid[2], w.block[0], w.block[1], w.block[2]}}).first;
    key.part[5] = memories_
                      .of({{w.registers, w.static_shared + w.dynamic_shared, w.device,
                            w.merged ? 1U : 0U, at.pass}})
                      .first;
    return key;
  }

  const profile& p_;
  bool by_parameters_, by_thread_;
  profile_keys keys_;
  launch_places places_;
  group_numbers groups_;
  key_numbers rows_, group_keys_{0}, shapes_{0}, memories_{0}, variants_{0}, operators_{0},
      regions_{0}, streams_{0};
  std::vector<std::string> names_;     // of the kernels, readable
  std::vector<bool> on_tensor_cores_;  // by their names
  std::vector<kernel_sum> sums_;
};

}  // namespace detail

/// The table of the kernels for which keep(const device_work&) says true, most time first.
template <class Keep>
std::vector<kernel_row> kernel_table(const profile& p, const grouping& by, Keep keep) {
  std::vector<bool> kept(p.device.work.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = keep(p.device.work[i]);
  return detail::kernel_summing(p, by, kept).finish();
}

/// All kernels.
///     for (const auto& row : kprof::kernel_table(run)) use(row.op,
///     kprof::short_kernel_name(row.kernel), row.total_ns);
inline std::vector<kernel_row> kernel_table(const profile& p,
                                            const grouping& by = grouping::parameters) {
  return kernel_table(p, by, [](const device_work&) { return true; });
}

KPROF_DETAIL_END

#endif  // <kprof/model/kernel_table.hpp>

// <kprof/report/text/concerned_names.hpp>
#ifndef KPROF_REPORT_TEXT_CONCERNED_NAMES_HPP
#define KPROF_REPORT_TEXT_CONCERNED_NAMES_HPP

// The lines of the text report that name the operators of which something is true. Included by its
// tables.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Lists the operators whose rows something holds for, and of how many of their rows where it is
/// not for all.
class concerned_names {
 public:
  /// `names`: of the operator of each row.
  [[gnu::cold]] explicit concerned_names(std::vector<std::string> names)
      : names_(std::move(names)), name_of_(names_.size()) {
    text_numbers numbers;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      name_of_[i] = numbers.of(names_[i]);
      if (name_of_[i] == shown_.size()) shown_.push_back(0);
      ++shown_[name_of_[i]];
    }
  }

  /// A line, if concerned(index of a row) holds for a row.
  template <class Concerned>
  void print(page& out, const std::string& lead, Concerned concerned) const {
    std::vector<std::size_t> count(shown_.size());
    std::vector<std::uint32_t> order;
    std::vector<std::string> names, notes;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!concerned(i) || ++count[name_of_[i]] > 1) continue;
      order.push_back(name_of_[i]);
      names.push_back(names_[i]);
    }
    if (names.empty()) return;
    for (const std::uint32_t name : order)
      notes.push_back(count[name] == shown_[name] ? ""
                                                  : " (" + format_count(count[name]) + " of " +
                                                        format_count(shown_[name]) + " rows)");
    out.list(lead, names, notes);
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::uint32_t> name_of_;  // of each row, the number of its operator
  std::vector<std::size_t> shown_;      // of each operator, how many rows it has
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/concerned_names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::string operator_cell(const kernel_row& row, const page&) {
  if (row.place == launch_place::unknown) return "(unknown)";
  if (row.place == launch_place::outside_operators) return "(outside)";
  if (row.operators > 1) return format_count(row.operators) + " operators";
  return row.op.empty() ? "(no name)" : row.op;
}

[[gnu::cold]] inline std::string parameters_cell(const kernel_row& row, const page&) {
  const std::string keys = keys_text(row.values);
  const std::string text =
      row.variants > 1 && row.parameters.empty()
          ? keys + (keys.empty() ? "" : " ") + format_count(row.variants) + " variants"
      : row.parameters_merged
          ? "(not kept)"
          : keys + (keys.empty() || row.parameters.empty() ? "" : " ") + row.parameters;
  if (row.variants > 1 && row.parameters.empty()) return text;
  if (!row.invalid) return text;
  return text.empty() ? "invalid" : "invalid: " + text;
}

[[gnu::cold]] inline std::string region_cell(const kernel_row& row, const page&) {
  return (row.regions > 1 ? format_count(row.regions) + " regions" : row.region) +
         (row.also_in_none ? ", none" : "");
}
[[gnu::cold]] inline std::string pass_cell(const kernel_row& row, const page&) {
  return row.several_passes ? "several" : row.pass;
}
[[gnu::cold]] inline std::string kernel_cell(const kernel_row& row, const page&) {
  return row.kernel.empty() ? "(other kernels)" : short_kernel_name(row.kernel);
}

/// "128x4": without the ones at the end; "n/a" where nothing is known.
[[gnu::cold]] inline std::string extent_cell(const kernel_row& row,
                                             const std::uint32_t (&extent)[3]) {
  if (row.several_configurations) return "several";
  if (extent[0] == 0) return "n/a";
  std::string text = std::to_string(extent[0]);
  const int last = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
  for (int i = 1; i <= last; ++i) text += 'x' + std::to_string(extent[i]);
  return text;
}

[[gnu::cold]] inline std::string figure_cell(const figure& f, look as, const page& out) {
  return f.known() ? number_cell(as, f.value, out) : "n/a";
}

[[gnu::cold]] inline std::string tensor_cell(const kernel_row& row, const page&) {
  switch (row.tensor_core) {
    case tensor_use::yes_by_name: return "yes (name)";
    case tensor_use::yes_declared: return "yes (declared)";
    case tensor_use::no_declared: return "no (declared)";
    case tensor_use::unknown: break;
  }
  return "unknown";
}

struct kernel_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  std::size_t least;  // how far it may shrink, on a narrow page to a third of it; 0: not at all
  std::string (*cell)(const kernel_row&, const page&);
  const char* meaning;
};

inline constexpr kernel_column kernel_columns[] = {
    {"operator", 1, true, 10, &operator_cell,
     "innermost operator around the launch; (outside): there is none, (unknown): the launch was "
     "not seen"},
    {"parameters", 8, true, 16, &parameters_cell, "of its calls"},
    {"region", 10, true, 10, &region_cell,
     "innermost region around the launch, in the operator or around it, or how many different "
     "ones; a row each with by=parameters+region"},
    {"pass", 9, true, 0, &pass_cell,
     "value of the field `pass` of the innermost operator that has one"},
    {"kernel", 2, true, 32, &kernel_cell, "name of the kernel, made short; whole with full_names"},
    {"calls", 4, false, 0, [](const kernel_row& row, const page&) { return calls_cell(row.calls); },
     "runs of the kernel"},
    {"total", 3, false, 0,
     [](const kernel_row& row, const page& out) { return out.time(row.total_ns); },
     "time on the device, summed; what ran at the same time counts each"},
    {"share", 5, false, 0,
     [](const kernel_row& row, const page&) { return format_share(row.share); },
     "total / time of all kernels, copies and memsets"},
    {"mean", 6, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.mean_ns, look::time, out);
     },
     "time of a run"},
    {"min", 17, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.min_ns, look::time, out);
     },
     "the shortest run"},
    {"max", 18, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.max_ns, look::time, out);
     },
     "the longest run"},
    {"device", 19, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_devices ? "several" : std::to_string(row.device);
     },
     "number of the device, as CUDA has it"},
    {"stream", 20, false, 0,
     [](const kernel_row& row, const page&) {
       return row.streams > 1 ? format_count(row.streams) + " streams" : std::to_string(row.stream);
     },
     "number of the stream, as CUPTI has it, or how many different ones; a row each with "
     "by=parameters+thread"},
    {"grid", 12, true, 0,
     [](const kernel_row& row, const page&) { return extent_cell(row, row.grid); },
     "blocks of a launch"},
    {"block", 13, true, 0,
     [](const kernel_row& row, const page&) { return extent_cell(row, row.block); },
     "threads of a block"},
    {"registers", 15, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_configurations ? "several" : std::to_string(row.registers);
     },
     "registers of a thread"},
    {"shared", 16, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_configurations ? "several" : format_memory(row.shared);
     },
     "shared memory of a block, static and dynamic"},
    {"FLOPs", 11, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.flops, look::si, out); },
     "flops() of the operator's calls, where each runs this kernel and no other; k M G T P E = "
     "10^3 to 10^18"},
    {"bytes", 14, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.bytes, look::si, out); },
     "bytes() of them, read + written; by the formula, not measured traffic"},
    {"tensor core", 7, true, 0, &tensor_cell,
     "whether the kernel computes on tensor cores, and how that is known: by its name, which never "
     "says no, or declared by arithmetic() "
     "of an operator; of one that runs several kernels, only `no` holds for each"},
};

/// The rows of the table in their order, and what became of the others.
struct chosen_kernels {
  struct hidden {
    std::uint64_t rows = 0, calls = 0;
    double ns = 0;
    void add(const kernel_row& row) {
      ++rows;
      calls += row.calls;
      ns += row.total_ns;
    }
    void print(page& out, const std::string& what, const std::string& why,
               const text_plan& plan) const {
      if (rows == 0) return;
      out.paragraph("",
                    what + ": " + format_count(rows) + ' ' + why + ": " +
                        counted(calls, "run", "runs") + ", " + out.time(ns) + ", " +
                        format_share(share_of(ns, plan.all_device_ns)),
                    2);
    }
  };

  std::vector<kernel_row> rows;
  hidden filtered, cut;

  [[gnu::cold]] chosen_kernels(const profile& p, const text_plan& plan) {
    if (!plan.filter.active()) {
      rows = kernel_table(p, plan.by);
    } else {
      const std::vector<bool> matches = matching(p, plan.filter);
      const auto match = [&](const device_work& w) {
        return matches[static_cast<std::size_t>(&w - p.device.work.data())];
      };
      for (const kernel_row& row :
           kernel_table(p, plan.by, [&](const device_work& w) { return !match(w); }))
        filtered.add(row);
      rows = kernel_table(p, plan.by, match);
    }
    while (plan.options.top > 0 && rows.size() > plan.options.top) {
      cut.add(rows.back());
      rows.pop_back();
    }
  }

 private:
  // The operator around the launch, or the kernel.
  static std::vector<bool> matching(const profile& p, const name_filter& filter) {
    const std::vector<bool> scopes = matching_operators(p, filter);
    std::vector<bool> kernels, matches;
    for (const std::string& name : p.device.kernels)
      kernels.push_back(filter.found_in(kernel_name(name)));
    for (const device_work& w : p.device.work) {
      const std::uint32_t node = scope_of(p, w);
      matches.push_back((node != scope_node::none && scopes[node]) ||
                        (w.kernel < kernels.size() && kernels[w.kernel]));
    }
    return matches;
  }
};

inline bool tells_something(const kernel_column& c, const std::vector<kernel_row>& rows) noexcept {
  if (c.cell == static_cast<std::string (*)(const kernel_row&, const page&)>(&parameters_cell))
    return std::any_of(rows.begin(), rows.end(), [](const kernel_row& row) {
      return row.place == launch_place::in_operator;
    });
  if (c.cell == &region_cell)
    return std::any_of(rows.begin(), rows.end(),
                       [](const kernel_row& row) { return row.regions > 0; });
  if (c.cell == &pass_cell)
    return std::any_of(rows.begin(), rows.end(), [](const kernel_row& row) {
      return row.several_passes || !row.pass.empty();
    });
  return true;
}

[[gnu::cold]] inline void print_kernel_rows(page& out, const std::vector<kernel_row>& rows) {
  fitted_table table;
  table.cells.rows.resize(rows.size());
  const bool one_device = std::all_of(rows.begin(), rows.end(), [&](const kernel_row& row) {
    return !row.several_devices && row.device == rows[0].device;
  });
  for (const kernel_column& c : kernel_columns) {
    if (!tells_something(c, rows)) continue;
    table.add_column({.header = c.header,
                      .right = !c.text,
                      .keep_ends = c.cell == &kernel_cell,
                      .least = std::min(c.least, out.width() / 3)},
                     !one_device && std::string_view{c.header} == "device" ? 6 : c.rank);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.cells.rows[i].push_back(c.cell(rows[i], out));
  }
  table.print(out);
}

/// A line for each reason for which FLOPs or bytes are not known; that there is no operator is
/// plain to see.
[[gnu::cold]] inline void print_kernel_absences(page& out, const std::vector<kernel_row>& rows) {
  std::vector<std::string> names;
  for (const kernel_row& row : rows) names.push_back(operator_cell(row, out));
  const concerned_names concerned(std::move(names));
  for (const absence why : {absence::no_flops, absence::no_bytes, absence::invalid, absence::merged,
                            absence::several_kernels, absence::dropped, absence::lost,
                            absence::not_all_records, absence::untimed})
    concerned.print(out, "n/a, " + std::string{explain(why)} + ": ", [&](std::size_t i) {
      return rows[i].flops.why == why || rows[i].bytes.why == why || rows[i].mean_ns.why == why;
    });
}

/// The kernels of the rows by their whole names, each once.
[[gnu::cold]] inline void print_full_names(page& out, const std::vector<kernel_row>& rows) {
  text_numbers seen(rows.size());
  std::uint32_t count = 0;
  for (const kernel_row& row : rows) {
    if (row.kernel.empty() || seen.of(row.kernel) != count) continue;
    if (count++ == 0) {
      out.space();
      out.line("Whole names of the kernels");
    }
    out.paragraph("  ", printable(row.kernel, 100'000, out.ascii()), 6);
  }
}

[[gnu::cold]] inline void print_kernels(page& out, const profile& p, const text_plan& plan) {
  if (std::none_of(p.device.work.begin(), p.device.work.end(),
                   [](const device_work& w) { return w.task == device_task::kernel; }))
    return;
  const chosen_kernels chosen(p, plan);
  out.space();
  out.paragraph(
      "",
      "Kernels, sorted by total; share is of " + out.time(plan.all_device_ns) + " of device time",
      2);
  out.space();
  if (chosen.rows.empty()) {
    out.line("no kernel matches the filter");
  } else {
    print_kernel_rows(out, chosen.rows);
    print_kernel_absences(out, chosen.rows);
  }
  chosen.cut.print(out, "more rows", cut_by(plan, "by total"), plan);
  chosen.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  if (plan.options.full_names) print_full_names(out, chosen.rows);
}

[[gnu::cold]] inline void print_kernel_legend(page& out) {
  out.space();
  out.line("Legend of the kernels");
  for (const kernel_column& c : kernel_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/kernels.hpp>

// <kprof/report/text/table.hpp>
#ifndef KPROF_REPORT_TEXT_TABLE_HPP
#define KPROF_REPORT_TEXT_TABLE_HPP

// The operator table of the text report: rows chosen and ordered, columns chosen by the width, and
// under them what is not shown and why a number is missing. Included by the text report.

// <kprof/report/text/operator_grid.hpp>
#ifndef KPROF_REPORT_TEXT_OPERATOR_GRID_HPP
#define KPROF_REPORT_TEXT_OPERATOR_GRID_HPP

// The table of operators laid out on a page: which columns fit, and how wide the parameters are.
// Included by table.hpp.

// <kprof/report/text/operator_groups.hpp>
#ifndef KPROF_REPORT_TEXT_OPERATOR_GROUPS_HPP
#define KPROF_REPORT_TEXT_OPERATOR_GROUPS_HPP

// Which rows the table of operators has: each operator with its sum and its rows, small ones folded
// into a line. Included by table.hpp.

// <kprof/report/text/row_description.hpp>
#ifndef KPROF_REPORT_TEXT_ROW_DESCRIPTION_HPP
#define KPROF_REPORT_TEXT_ROW_DESCRIPTION_HPP

// What a row of the table of operators says of its calls, in parts: their parameters, or what else
// the table is grouped by. Included by operator_lines.hpp.

// <kprof/model/row_texts.hpp>
#ifndef KPROF_MODEL_ROW_TEXTS_HPP
#define KPROF_MODEL_ROW_TEXTS_HPP

// What is said of the rows of one operator, so that no two of them read the same: what they share
// is said once, and what is left tells them apart. Included by the text reports. Pure.

// <kprof/model/parameter_parts.hpp>
#ifndef KPROF_MODEL_PARAMETER_PARTS_HPP
#define KPROF_MODEL_PARAMETER_PARTS_HPP

// What is said of a set of parameters, in parts: a part is a field with its value, "K=64", or a
// piece of the operator's own short form, "32×64×56×56 → 64". Included by row_texts.hpp. Pure.

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
  const bool telling = which == which_fields::telling, brief = telling && !n.brief.empty();
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

#endif  // <kprof/model/parameter_parts.hpp>

// <kprof/model/text_range.hpp>
#ifndef KPROF_MODEL_TEXT_RANGE_HPP
#define KPROF_MODEL_TEXT_RANGE_HPP

// One text for several that differ in their numbers only: "Skv=1" to "Skv=900" are "Skv=1…900".
// Included by row_texts.hpp. Pure; no locale.

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A text as what is around its numbers, and these. Digits behind a letter are part of a word, as
/// in "f32".
struct text_with_numbers {
  struct number {
    double value = 0;
    std::string_view text;
  };
  std::vector<std::string_view> around;  // one more than numbers
  std::vector<number> numbers;

  explicit text_with_numbers(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = number_end(text, i);
      if (end == i) {
        ++i;
        continue;
      }
      around.push_back(text.substr(begin, i - begin));
      numbers.push_back({value_of(text.substr(i, end - i)), text.substr(i, end - i)});
      begin = i = end;
    }
    around.push_back(text.substr(begin));
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_word(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }
  /// Behind the number that begins at `i`; `i` where none does.
  static std::size_t number_end(std::string_view text, std::size_t i) noexcept {
    if (!is_digit(text[i]) || (i > 0 && is_word(text[i - 1]))) return i;
    std::size_t end = i;
    const auto digits = [&] {
      while (end < text.size() && is_digit(text[end])) ++end;
    };
    digits();
    // "1,234,567", but not "1,2"
    while (end - i <= 24 && end + 4 <= text.size() && text[end] == ',' && is_digit(text[end + 1]) &&
           is_digit(text[end + 2]) && is_digit(text[end + 3]) &&
           (end + 4 == text.size() || !is_digit(text[end + 4])))
      end += 4;
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) ++end, digits();
    return end < text.size() && is_word(text[end]) ? i : end;
  }
  static double value_of(std::string_view digits) {
    std::string plain;
    for (const char c : digits)
      if (c != ',') plain += c;
    double value = 0;
    std::from_chars(plain.data(), plain.data() + plain.size(), value);
    return value;
  }
};

/// Texts that are alike but for their numbers, which are given from the least to the largest.
class text_range {
 public:
  explicit text_range(std::string first) : first_(std::move(first)) {}

  /// False where the text differs in more than its numbers: then there is no range.
  bool add(std::string_view text) {
    if (text == first_) return true;
    const text_with_numbers parts(text);
    if (least_.empty()) start();
    if (parts.around.size() != around_.size()) return false;
    for (std::size_t i = 0; i < around_.size(); ++i)
      if (parts.around[i] != around_[i]) return false;
    for (std::size_t i = 0; i < least_.size(); ++i) {
      const text_with_numbers::number& n = parts.numbers[i];
      if (n.value < least_[i].value) least_[i] = {n.value, std::string{n.text}};
      if (n.value > most_[i].value) most_[i] = {n.value, std::string{n.text}};
    }
    return !least_.empty();
  }

  std::string text() const {
    if (least_.empty()) return first_;
    std::string out = around_[0];
    for (std::size_t i = 0; i < least_.size(); ++i) {
      out += least_[i].text;
      if (most_[i].text != least_[i].text) out.append("\u2026").append(most_[i].text);
      out += around_[i + 1];
    }
    return out;
  }

 private:
  struct bound {
    double value = 0;
    std::string text;
  };
  void start() {
    const text_with_numbers parts(first_);
    around_.assign(parts.around.begin(), parts.around.end());
    for (const text_with_numbers::number& n : parts.numbers)
      least_.push_back({n.value, std::string{n.text}});
    most_ = least_;
  }

  std::string first_;
  std::vector<std::string> around_;
  std::vector<bound> least_, most_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/text_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

using part_list = std::vector<parameter_part>;

inline std::string joined(const part_list& parts) {
  std::string out;
  for (const parameter_part& part : parts)
    out.append(out.empty() ? "" : part.after_comma ? ", " : " ").append(part.text);
  return out;
}

/// Takes away the parts that all rows have, and returns them; none of a single row.
inline part_list take_shared(std::vector<part_list>& rows) {
  part_list shared;
  if (rows.size() < 2) return shared;
  for (const parameter_part& part : rows[0])
    if (std::all_of(rows.begin() + 1, rows.end(), [&](const part_list& row) {
          return std::find(row.begin(), row.end(), part) != row.end();
        }))
      shared.push_back(part);
  for (part_list& row : rows)
    std::erase_if(row, [&](const parameter_part& part) {
      return std::find(shared.begin(), shared.end(), part) != shared.end();
    });
  return shared;
}

/// The parts of a row of several sets of parameters: those that all have, or that differ in numbers
/// only, which are given from the least to the largest.
class part_ranges {
 public:
  void add(const part_list& set) {
    if (sets_++ == 0) {
      for (const parameter_part& part : set) ranges_.push_back({part, text_range{part.text}, 0});
    }
    for (range& r : ranges_) {
      const auto same = std::find_if(set.begin(), set.end(), [&](const parameter_part& part) {
        return part.place == r.part.place;
      });
      if (same != set.end() && r.texts.add(same->text)) ++r.sets;
    }
  }
  part_list parts() const {
    part_list out;
    for (const range& r : ranges_)
      if (r.sets == sets_) out.push_back({r.part.place, r.texts.text(), r.part.after_comma});
    return out;
  }

 private:
  struct range {
    parameter_part part;
    text_range texts;
    std::size_t sets;
  };
  std::vector<range> ranges_;
  std::size_t sets_ = 0;
};

/// Numbers the rows by their texts: rows of one number read the same.
inline std::vector<std::uint32_t> equal_texts(const std::vector<std::string>& texts) {
  text_numbers numbers(texts.size());
  std::vector<std::uint32_t> out;
  for (const std::string& text : texts) out.push_back(numbers.of(text));
  return out;
}

/// Which rows read the same as another.
inline std::vector<bool> ambiguous(const std::vector<std::string>& texts) {
  const std::vector<std::uint32_t> number = equal_texts(texts);
  std::vector<std::uint32_t> count(texts.size());
  for (const std::uint32_t n : number) ++count[n];
  std::vector<bool> out(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) out[i] = count[number[i]] > 1;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/model/row_texts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The nodes of which a row with this grouping holds sets of parameters, by the row's first node.
class nodes_of_rows {
 public:
  nodes_of_rows(const profile& p, const grouping& by, const std::vector<bool>& kept)
      : rows_(p.nodes.size()) {
    const device_sums device(p);
    std::vector<bool> operators(p.nodes.size());
    for (std::size_t i = 0; i < operators.size(); ++i)
      operators[i] = p.nodes[i].kind == scope_kind::op && (kept.empty() || kept[i]);
    group_numbers groups(p, by);
    const row_numbers numbers(p, by, groups, launched_in(p, device), operators);
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (operators[i] && numbers.row_of[i] != scope_node::none && !p.nodes[i].merged)
        rows_[numbers.first[numbers.row_of[i]]].push_back(static_cast<std::uint32_t>(i));
  }
  const std::vector<std::uint32_t>& of(std::uint32_t first_node) const { return rows_[first_node]; }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
};

class row_describer {
 public:
  /// `pass_apart`: a column beside the parameters shows it.
  row_describer(const profile& p, const text_plan& plan, bool pass_apart)
      : p_(p), plan_(plan), pass_apart_(pass_apart) {}

  /// `sets`: the nodes of the row, where it holds several sets of parameters.
  part_list parts(const operator_row& row, const std::vector<std::uint32_t>& sets) const {
    part_list out;
    if (row.invalid) out.push_back({invalid_place, invalid_text(row)});
    add_keys(out, row);
    if (row.variants > 1) {
      if (row.operators == 1) append(out, ranges_of(sets));
      const bool comma = !out.empty();
      out.push_back({sets_place,
                     row.merged ? format_count(row.variants - 1) + "+ sets"
                                : format_count(row.variants) + " sets",
                     comma});
    } else if (row.merged) {
      out.push_back({sets_place, "(not kept)"});
    } else if (row.node < p_.nodes.size() && row.operators == 1) {
      append(out, parts_of(p_.nodes[row.node]));
    }
    return out;
  }

  /// Of one set of parameters.
  part_list parts_of(const scope_node& n) const {
    if (plan_.options.all_parameters) return parameter_parts(p_, n, which_fields::all);
    part_list parts = parameter_parts(p_, n, which_fields::telling);
    const operator_info* const op = p_.operator_of(n);
    std::erase_if(parts, [&](const parameter_part& part) {
      if (op == nullptr || part.place >= op->fields.size()) return false;
      const std::string& name = op->fields[part.place].name;
      return (pass_apart_ && name == "pass" && n.work.pass != pass_kind::unknown) ||
             (name == "type" && n.work.type != dtype::unknown);
    });
    if (n.work.type != dtype::unknown && !plan_.one_type)
      parts.push_back({type_place, dtype_name(n.work.type)});
    return parts;
  }

 private:
  // Places of parts that are no fields.
  static constexpr std::uint32_t invalid_place = ~std::uint32_t{0} - 1,
                                 sets_place = invalid_place - 1, type_place = sets_place - 1,
                                 first_key_place = std::uint32_t{1} << 20U;

  static void append(part_list& out, part_list more) {
    for (parameter_part& part : more) out.push_back(std::move(part));
  }

  static std::string invalid_text(const operator_row& row) {
    if (row.variants == 1) return "invalid:";
    return "invalid: " + counted(row.invalid_calls, "call", "calls") + ',';
  }

  /// What the table is grouped by, beside operators and their parameters.
  static void add_keys(part_list& out, const operator_row& row) {
    std::uint32_t place = first_key_place;
    for (const group_value& v : row.values) {
      ++place;
      if (v.kind == group_key::op || v.kind == group_key::parameters) continue;
      std::string text = v.known ? v.text : "n/a";
      if (v.kind == group_key::field) text = v.key + '=' + text;
      else if (!v.known) text = "no " + v.key;
      out.push_back({place, std::move(text)});
    }
  }

  part_list ranges_of(const std::vector<std::uint32_t>& sets) const {
    part_ranges ranges;
    for (const std::uint32_t node : sets) ranges.add(parts_of(p_.nodes[node]));
    return ranges.parts();
  }

  const profile& p_;
  const text_plan& plan_;
  bool pass_apart_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/row_description.hpp>

// <kprof/report/text/varied_field.hpp>
#ifndef KPROF_REPORT_TEXT_VARIED_FIELD_HPP
#define KPROF_REPORT_TEXT_VARIED_FIELD_HPP

// The field in which rows differ most. Included by operator_groups.hpp.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The path of the number that has the most different values in these rows of one operator, besides
/// those in `but`; of equals the first. Empty: none differs.
[[gnu::cold]] inline std::string most_varied_field(const profile& p,
                                                   const std::vector<operator_row>& rows,
                                                   const std::vector<std::string>& but) {
  std::vector<std::string> paths;  // in the order of the fields
  std::unordered_map<std::string, std::unordered_set<std::string>> values;
  for (const operator_row& row : rows) {
    if (row.node >= p.nodes.size()) continue;
    const scope_node& n = p.nodes[row.node];
    const operator_info* const op = p.operator_of(n);
    if (op == nullptr || n.merged) continue;
    for_each_parameter(
        *op, n.values,
        [&](std::string_view path, const operator_field& f, const parameter_value& value) {
          if (!holds_number(f.kind)) return;
          const auto [at, is_new] = values.try_emplace(std::string{path});
          if (is_new) paths.emplace_back(path);
          at->second.insert(parameter_text(value));
        });
  }
  std::string most;
  std::size_t count = 1;
  for (const std::string& path : paths) {
    if (values[path].size() <= count || std::find(but.begin(), but.end(), path) != but.end())
      continue;
    count = values[path].size();
    most = path;
  }
  return most;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/varied_field.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// An operator of the table: its rows, and what they add up to. Where a row may hold calls of
/// several operators, there is one group for all rows.
struct operator_group {
  operator_row sum;
  std::vector<operator_row> rows;  // those that are folded come last
  // The nodes of each row where it holds several sets of parameters.
  std::vector<std::vector<std::uint32_t>> sets;
  std::size_t shown = 0;  // rows that are not folded
  hidden_rows folded;
};

/// How much of the run a row is: of the time of the devices or of the host, whichever is more.
inline double weight_of(const operator_row& row) noexcept {
  return std::max(row.device_share, row.share);
}

/// The operators of the table in their order, and what became of the others.
class operator_groups {
 public:
  std::vector<operator_group> groups;
  hidden_rows folded;                     // whole operators
  std::vector<std::string> folded_names;  // theirs
  double folded_below = 0;                // rows of less weight are folded; 0: none is
  hidden_rows filtered;
  hidden_rows all;          // rows of the table, folded ones too
  bool by_operator = true;  // no row has calls of several operators

  [[gnu::cold]] operator_groups(const profile& p, const text_plan& plan)
      : by_operator(plan.by.has(group_key::op)), p_(p), plan_(plan), kept_(matching(p, plan)) {
    if (!kept_.empty())
      for (const operator_row& row :
           operator_table(p, plan.by, [&](const scope_node& n) { return !is_kept(n); }))
        filtered.add(row);
    std::vector<operator_row> rows = rows_of(plan.by);
    for (const operator_row& row : rows) all.add(row);
    std::vector<operator_row> sums = rows_of(by_operator ? grouping::op : grouping::nothing());
    gather(std::move(sums), std::move(rows));
    if (plan.options.top > 0) {
      choose_threshold();
      if (plan.by == grouping{} && !plan.options.all_parameters) fold_fields();
    }
    fold_below(folded_below);
  }

 private:
  // More than this part of the run is not left to lines that say "more".
  static constexpr double most_folded = 0.02;
  static constexpr double always_folded = 0.001;

  bool is_kept(const scope_node& n) const {
    return kept_.empty() || kept_[static_cast<std::size_t>(&n - p_.nodes.data())];
  }
  /// Of which nodes the calls are in the table; empty: of all.
  static std::vector<bool> matching(const profile& p, const text_plan& plan) {
    std::vector<bool> matches;
    if (!plan.filter.active()) return matches;
    for (const scope_node& n : p.nodes)
      matches.push_back(n.kind == scope_kind::op &&
                        plan.filter.matches(n.name, parameter_text(p, n)));
    return matches;
  }

  std::vector<operator_row> rows_of(const grouping& by) const {
    return in_order(operator_table(p_, by, [&](const scope_node& n) { return is_kept(n); }));
  }
  std::vector<operator_row> in_order(std::vector<operator_row> rows) const {
    std::vector<operator_row> sorted;
    for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
           return comes_before(*plan_.sort, rows[a], rows[b]);
         }))
      sorted.push_back(std::move(rows[i]));
    return sorted;
  }

  void gather(std::vector<operator_row> sums, std::vector<operator_row> rows) {
    text_numbers numbers(sums.size());
    names_.reserve(sums.size());  // views of them are kept
    for (operator_row& sum : sums) {
      names_.push_back(sum.name);
      static_cast<void>(numbers.of(names_.back()));
      groups.emplace_back().sum = std::move(sum);
    }
    for (operator_row& row : rows)
      if (const std::uint32_t group = by_operator ? numbers.of(row.name) : 0; group < groups.size())
        groups[group].rows.push_back(std::move(row));
    list_sets(groups, plan_.by);
  }

  /// Finds the nodes of rows that hold several sets of parameters.
  void list_sets(std::vector<operator_group>& of, const grouping& by) const {
    std::optional<nodes_of_rows> nodes;
    for (operator_group& g : of) {
      g.sets.assign(g.rows.size(), {});
      for (std::size_t i = 0; i < g.rows.size(); ++i) {
        if (g.rows[i].variants < 2 || g.rows[i].operators > 1) continue;
        if (!nodes) nodes.emplace(p_, by, kept_);
        g.sets[i] = nodes->of(g.rows[i].node);
      }
    }
  }

  std::size_t small_rows(const operator_group& g, double least) const {
    return static_cast<std::size_t>(
        std::count_if(g.rows.begin(), g.rows.end(),
                      [&](const operator_row& row) { return weight_of(row) < least; }));
  }

  /// Lines of operators and rows if what weighs less than `least` is folded.
  std::size_t lines_if(double least) const {
    std::size_t lines = 0;
    for (const operator_group& g : groups) {
      if (by_operator && weight_of(g.sum) < least) continue;
      const std::size_t tiny = small_rows(g, least);
      lines += g.rows.size() == 1 ? 1 : 1 + g.rows.size() - (tiny > 1 ? tiny : 0);
    }
    return lines;
  }

  /// 0.1 %, or more where the table would be longer than asked.
  void choose_threshold() {
    std::vector<double> weights{always_folded};
    for (const operator_group& g : groups)
      for (const operator_row& row : g.rows)
        if (weight_of(row) >= always_folded) weights.push_back(weight_of(row) * (1 + 1e-9));
    std::sort(weights.begin(), weights.end());
    const auto fits = std::partition_point(weights.begin(), weights.end(), [&](double least) {
      return lines_if(least) > plan_.options.top;
    });
    folded_below = fits == weights.end() ? weights.back() : *fits;
  }

  /// Where small rows are much together, such as those of a cache that grows from call to call, the
  /// field that they differ in most makes no row any more, until little is left in small rows.
  [[gnu::cold]] void fold_fields() {
    for (operator_group& g : groups) {
      std::vector<std::string> fields;
      while (is_in_small_rows(g)) {
        std::string field = most_varied_field(p_, g.rows, fields);
        if (field.empty()) break;
        fields.push_back(std::move(field));
        regroup(g, plan_.by.folding(fields));
      }
    }
    choose_threshold();
  }
  bool is_in_small_rows(const operator_group& g) const {
    if (small_rows(g, folded_below) < 2) return false;
    double weight = 0;
    for (const operator_row& row : g.rows)
      if (weight_of(row) < folded_below) weight += weight_of(row);
    return weight > most_folded;
  }
  void regroup(operator_group& g, const grouping& by) {
    g.rows = in_order(operator_table(
        p_, by, [&](const scope_node& n) { return n.name == g.sum.name && is_kept(n); }));
    std::vector<operator_group> one(1);
    one[0].rows = std::move(g.rows);
    list_sets(one, by);
    g.rows = std::move(one[0].rows);
    g.sets = std::move(one[0].sets);
  }

  [[gnu::cold]] void fold_below(double least) {
    std::vector<operator_group> left;
    const auto is_small = [&](const operator_row& row) { return weight_of(row) < least; };
    const bool several =
        by_operator && std::count_if(groups.begin(), groups.end(),
                                     [&](const operator_group& g) { return is_small(g.sum); }) > 1;
    for (operator_group& g : groups) {
      if (several && is_small(g.sum)) {
        for (const operator_row& row : g.rows) folded.add(row);
        folded_names.push_back(g.sum.name);
        continue;
      }
      g.shown = g.rows.size();
      if (small_rows(g, least) > 1) put_small_rows_last(g, is_small);
      left.push_back(std::move(g));
    }
    groups = std::move(left);
  }
  template <class IsSmall>
  static void put_small_rows_last(operator_group& g, IsSmall is_small) {
    std::vector<operator_row> rows, tiny;
    std::vector<std::vector<std::uint32_t>> sets, small_sets;
    for (std::size_t i = 0; i < g.rows.size(); ++i) {
      const bool last = is_small(g.rows[i]);
      if (last) g.folded.add(g.rows[i]);
      (last ? tiny : rows).push_back(std::move(g.rows[i]));
      (last ? small_sets : sets).push_back(std::move(g.sets[i]));
    }
    g.shown = rows.size();
    std::move(tiny.begin(), tiny.end(), std::back_inserter(rows));
    std::move(small_sets.begin(), small_sets.end(), std::back_inserter(sets));
    g.rows = std::move(rows);
    g.sets = std::move(sets);
  }

  const profile& p_;
  const text_plan& plan_;
  std::vector<bool> kept_;
  std::vector<std::string> names_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/operator_groups.hpp>

// <kprof/report/text/operator_lines.hpp>
#ifndef KPROF_REPORT_TEXT_OPERATOR_LINES_HPP
#define KPROF_REPORT_TEXT_OPERATOR_LINES_HPP

// The lines of the table of operators: an operator's name with its sum, its rows below it, each by
// what tells it from the others, then what is folded. Included by table.hpp.

// <kprof/report/text/telling_lines.hpp>
#ifndef KPROF_REPORT_TEXT_TELLING_LINES_HPP
#define KPROF_REPORT_TEXT_TELLING_LINES_HPP

// The texts of an operator's rows in a column of some width, so that no two rows read the same.
// Included by the tables of the text report. Pure.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A row to be described: its parts, what other columns say of it, and a key that no other has.
struct described_row {
  part_list parts;
  std::string beside;
  std::uint64_t key = 0;
};

class telling_lines {
 public:
  /// The rows of one operator: what the parts of two of them have in common need not be shown.
  [[gnu::cold]] telling_lines(std::vector<described_row> rows, bool ascii)
      : rows_(std::move(rows)), ascii_(ascii) {
    for (described_row& row : rows_)
      for (parameter_part& part : row.parts)
        part.text = printable(ascii ? ascii_notation(part.text) : part.text, longest_text, ascii);
    std::vector<std::string> texts;
    for (const described_row& row : rows_) texts.push_back(beside(row, joined(row.parts)));
    const std::vector<bool> equal = ambiguous(texts);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (equal[i]) rows_[i].parts.push_back({key_place, '#' + row_key_text(rows_[i].key)});
    for (const described_row& row : rows_) count_values(row.parts);
  }

  /// Columns that the longest row takes in one line.
  std::size_t natural() const noexcept {
    std::size_t widest = 0;
    for (const described_row& row : rows_)
      widest = std::max(widest, display_width(joined(row.parts)));
    return widest;
  }

  /// The lines of each row. A row that is too long for one leaves out what tells least; where it
  /// would then read like another, it takes more lines.
  [[gnu::cold]] std::vector<std::vector<std::string>> at_width(std::size_t width) const {
    std::vector<std::vector<std::string>> lines;
    std::vector<std::string> texts;
    for (const described_row& row : rows_) {
      std::string text = joined(row.parts);
      if (display_width(text) > width) text = shortened(row.parts, width);
      texts.push_back(beside(row, text));
      lines.push_back({std::move(text)});
    }
    const std::vector<bool> equal = ambiguous(texts);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (equal[i]) lines[i] = wrapped(joined(rows_[i].parts), width);
    return lines;
  }

 private:
  static constexpr std::uint32_t key_place = ~std::uint32_t{0};

  static std::string beside(const described_row& row, const std::string& text) {
    return text + '\n' + row.beside;
  }

  void count_values(const part_list& parts) {
    for (const parameter_part& part : parts) {
      auto at = std::find_if(values_.begin(), values_.end(),
                             [&](const values_of_place& v) { return v.place == part.place; });
      if (at == values_.end()) at = values_.insert(at, {part.place, {}});
      if (std::find(at->texts.begin(), at->texts.end(), part.text) == at->texts.end() &&
          at->texts.size() < enough_values)
        at->texts.push_back(part.text);
    }
  }
  std::size_t telling(std::uint32_t place) const noexcept {
    for (const values_of_place& v : values_)
      if (v.place == place) return place == key_place ? enough_values + 1 : v.texts.size();
    return 0;
  }

  /// Leaves out parts, those of the fewest values first and of these the later, until it fits.
  std::string shortened(const part_list& parts, std::size_t width) const {
    std::vector<std::size_t> order(parts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const std::size_t x = telling(parts[a].place), y = telling(parts[b].place);
      return x != y ? x < y : a > b;
    });
    std::vector<bool> left_out(parts.size());
    for (const std::size_t next : order) {
      if (static_cast<std::size_t>(std::count(left_out.begin(), left_out.end(), false)) == 1) break;
      left_out[next] = true;
      std::string text = with_gaps(parts, left_out);
      if (display_width(text) <= width) return text;
    }
    return cut_in_the_middle(with_gaps(parts, left_out), width);
  }

  std::string with_gaps(const part_list& parts, const std::vector<bool>& left_out) const {
    std::string out;
    bool in_gap = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!left_out[i])
        out.append(out.empty()                       ? ""
                   : parts[i].after_comma && !in_gap ? ", "
                                                     : " ")
            .append(parts[i].text);
      else if (!in_gap) out.append(out.empty() ? "" : " ").append(ellipsis());
      in_gap = left_out[i];
    }
    return out;
  }
  const char* ellipsis() const noexcept { return ascii_ ? "..." : "\u2026"; }

  /// Both ends of printable text.
  std::string cut_in_the_middle(const std::string& text, std::size_t width) const {
    const std::size_t mark = display_width(ellipsis());
    if (display_width(text) <= width) return text;
    if (width <= mark) return std::string(width, '.');
    const std::size_t begin = (width - mark + 1) / 2;
    return first_columns(text, begin) + ellipsis() + last_columns(text, width - mark - begin);
  }
  static std::string first_columns(std::string_view text, std::size_t width) {
    std::size_t used = 0, size = 0;
    while (size < text.size()) {
      const code_point c = first_character(text.substr(size));
      used += width_of(c.value);
      if (used > width) break;
      size += c.size;
    }
    return std::string{text.substr(0, size)};
  }
  static std::string last_columns(std::string_view text, std::size_t width) {
    std::size_t used = display_width(text);
    while (!text.empty() && (used > width || width_of(first_character(text).value) == 0)) {
      const code_point c = first_character(text);
      used -= width_of(c.value);
      text.remove_prefix(c.size);
    }
    return std::string{text};
  }

  /// At spaces where there are any, with later lines indented.
  static std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    const std::size_t indent = width > 8 ? 2 : 0;
    while (!text.empty()) {
      const std::string lead(lines.empty() ? 0 : indent, ' ');
      std::string line = first_columns(text, std::max<std::size_t>(width - lead.size(), 2));
      if (line.size() < text.size() && text[line.size()] != ' ')
        if (const std::size_t space = line.rfind(' '); space != std::string::npos && space > 0)
          line.resize(space);
      text.remove_prefix(line.size());
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
      lines.push_back(lead + line);
    }
    if (lines.empty()) lines.emplace_back();
    return lines;
  }

  // more values of a part tell no more
  static constexpr std::size_t enough_values = 64;
  struct values_of_place {
    std::uint32_t place = 0;
    std::vector<std::string> texts;
  };

  std::vector<described_row> rows_;
  std::vector<values_of_place> values_;
  bool ascii_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/telling_lines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line of the table before it is laid out: a row, or the sum of several.
struct operator_line {
  const operator_row* row = nullptr;  // its numbers; else those of `sum`
  const hidden_rows* sum = nullptr;
  std::string name{};         // in the column of operators
  std::string description{};  // where it is no row that telling_lines describes
  std::size_t indent = 0;     // of the description
  row_look look{};
  // Of a row: which of the descriptions of its operator, and which row there.
  std::size_t group = none, place = 0;

  static constexpr std::size_t none = ~std::size_t{0};
};

/// All lines of the table, and the descriptions of the rows by operator.
struct operator_lines {
  std::vector<operator_line> lines;
  std::vector<telling_lines> described;
  // Columns for the name of what is folded, and for some of its operators.
  std::size_t widest_sum = 0;

  operator_lines() = default;
  /// `beside`: what columns beside the parameters say of a row.
  template <class Beside>
  [[gnu::cold]] operator_lines(const page& out, const row_describer& describer,
                               const operator_groups& chosen, Beside beside) {
    for (const operator_group& g : chosen.groups) add(out, describer, chosen, g, beside);
    if (!chosen.folded_names.empty()) {
      std::string text = more(out, chosen.folded_names.size(), "operators", chosen.folded_below);
      widest_sum = display_width(text) + 24;
      for (const std::string& name : chosen.folded_names)
        text.append(&name == chosen.folded_names.data() ? ": " : ", ").append(out.safe(name));
      widest_sum = std::min(widest_sum, display_width(text));
      lines.push_back(
          {.sum = &chosen.folded, .name = text, .look = {.span = 2, .style = line_style::dim}});
    }
  }

 private:
  template <class Beside>
  [[gnu::cold]] void add(const page& out, const row_describer& describer,
                         const operator_groups& chosen, const operator_group& g, Beside beside) {
    const std::string name = !chosen.by_operator  ? ""
                             : g.sum.name.empty() ? "(no name)"
                                                  : g.sum.name;
    std::vector<described_row> rows;
    for (std::size_t i = 0; i < g.rows.size(); ++i)
      rows.push_back({describer.parts(g.rows[i], g.sets[i]), beside(g.rows[i]), g.rows[i].key});
    const std::size_t indent = chosen.by_operator ? 2 : 0;
    if (rows.size() == 1) {
      lines.push_back({.row = &g.rows[0], .name = name, .group = described.size()});
      described.emplace_back(std::move(rows), out.ascii());
      return;
    }
    if (chosen.by_operator) add_head(out, g, name, rows);
    for (described_row& row : rows)
      if (row.parts.empty() && row.beside.find_first_not_of('\n') == std::string::npos)
        row.parts.push_back({0, "(default)"});
    rows.resize(g.shown);
    for (std::size_t i = 0; i < g.shown; ++i)
      lines.push_back({.row = &g.rows[i], .indent = indent, .group = described.size(), .place = i});
    described.emplace_back(std::move(rows), out.ascii());
    if (g.folded.rows > 0)
      lines.push_back({.sum = &g.folded,
                       .description = more(out, g.folded.rows, "more", chosen.folded_below),
                       .indent = indent,
                       .look = {.style = line_style::dim}});
  }

  /// The operator's name with what all its rows share, which is taken out of these.
  [[gnu::cold]] void add_head(const page& out, const operator_group& g, const std::string& name,
                              std::vector<described_row>& rows) {
    std::vector<part_list> parts;
    for (described_row& row : rows) parts.push_back(std::move(row.parts));
    const std::string shared = joined(take_shared(parts));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].parts = std::move(parts[i]);
    const std::string count = format_count(g.rows.size());
    const std::string safe = out.safe(out.ascii() ? ascii_notation(shared) : shared);
    lines.push_back({.row = &g.sum,
                     .name = name,
                     .description = shared.empty() ? count + " rows" : "all " + count + ": " + safe,
                     .look = {.style = line_style::bold}});
  }

  static std::string more(const page& out, std::uint64_t count, const char* what, double below) {
    return (out.ascii() ? "... " : "\u2026 ") + format_count(count) + ' ' + what + ", each < " +
           format_share(std::ceil(below * 1000 - 1e-6) / 1000);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/operator_lines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// How far a column of text may shrink.
[[gnu::cold]] inline std::size_t least_width(const column& c, bool comfortable,
                                             std::size_t page_width) noexcept {
  switch (c.as) {
    case look::name: return std::clamp<std::size_t>(page_width / 5, 8, 24);
    case look::parameters:
      return comfortable ? std::max<std::size_t>(page_width / 3, 26) : page_width > 60 ? 24 : 12;
    case look::call_site: return 16;
    case look::thread: return 12;
    default: return 0;
  }
}

/// A share as a bar of `width` characters at most, the largest share as the longest.
inline std::string bar_of(double share, double largest, std::size_t width, bool ascii) {
  if (!(share > 0) || !(largest > 0)) return {};
  const double length = std::min(share / largest, 1.0) * static_cast<double>(width);
  auto eighths = static_cast<std::size_t>(std::lround(length * 8));
  std::string out;
  if (ascii) {
    out.assign((eighths + 4) / 8, '#');
    return out;
  }
  static constexpr const char* parts[] = {"",       "\u258F", "\u258E", "\u258D",
                                          "\u258C", "\u258B", "\u258A", "\u2589"};
  for (; eighths >= 8; eighths -= 8) out += "\u2588";
  return out + parts[eighths];
}

/// What a column says of the sum of several rows; empty where that is no sum.
inline std::string sum_cell(const column& c, const hidden_rows& sum, const text_plan& plan,
                            const page& out) {
  if (c.is("calls")) return sum.calls == 0 ? "" : calls_cell(sum.calls);
  if (c.is("self")) return out.time(sum.self_ns);
  if (c.is("share")) return format_share(share_of(sum.self_ns, plan.all_self_ns));
  if (c.is("device")) return out.time(sum.device_ns);
  if (c.is("device_share")) return format_share(share_of(sum.device_ns, plan.all_device_ns));
  return {};
}

class operator_grid {
 public:
  std::vector<const column*> shown;
  std::vector<std::string> left_out;  // headers of columns that did not fit
  std::vector<std::string> cut;       // headers of columns whose texts did not
  std::size_t whole_width = 0;        // of a page on which nothing is cut or left out

  [[gnu::cold]] operator_grid(const page& out, const profile& p, const text_plan& plan,
                              const operator_groups& chosen)
      : out_(out), p_(p), plan_(plan), asked_(!plan.columns.empty()) {
    shown = asked_ ? plan.columns : useful_columns(chosen);
    for (const operator_group& g : chosen.groups) {
      largest_ = std::max(largest_, plan.device ? g.sum.device_share : g.sum.share);
      nested_ = nested_ || g.sum.device_total_ns > 2 * g.sum.device_ns;
    }
    lines_ = operator_lines(out, row_describer(p, plan, has(look::pass)), chosen,
                            [&](const operator_row& row) { return beside(row); });
  }

  /// A line below a rule, of a sum over the whole table or of what is not in it.
  void add_total(std::string name, const hidden_rows& sum) {
    totals_.push_back({.sum = &sum, .name = std::move(name), .look = {.span = 2}});
  }

  [[gnu::cold]] void print(page& out) {
    if (!totals_.empty()) totals_.front().look.rule_before = true;
    std::vector<operator_line> lines = lines_.lines;
    lines.insert(lines.end(), totals_.begin(), totals_.end());
    for (const column* c : shown) cells_.columns.push_back(grid_column_of(*c));
    for (const operator_line& line : lines) {
      auto& row = cells_.rows.emplace_back();
      for (const column* c : shown) row.push_back(cell_of(*c, line));
      cells_.looks.push_back(line.look);
    }
    std::size_t texts = 0;
    while (texts < shown.size() && is_text(*shown[texts])) ++texts;
    for (row_look& look : cells_.looks)
      if (look.span > 1) look.span = texts;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (shown[i]->as == look::rate || shown[i]->as == look::ratio) cells_.align_points(i);
      if (shown[i]->as == look::time) cells_.align_units(i);
    }
    fit();
    put_descriptions(lines);
    cells_.print(out);
  }

 private:
  bool has(look as) const noexcept {
    return std::any_of(shown.begin(), shown.end(), [&](const column* c) { return c->as == as; });
  }

  std::vector<const column*> useful_columns(const operator_groups& chosen) const {
    std::vector<const column*> out;
    for (const column& c : columns)
      if (is_useful(c, chosen)) out.push_back(&c);
    return out;
  }
  bool is_useful(const column& c, const operator_groups& chosen) const {
    const auto any = [&](auto holds) {
      return std::any_of(chosen.groups.begin(), chosen.groups.end(), [&](const operator_group& g) {
        return std::any_of(g.rows.begin(), g.rows.end(), holds);
      });
    };
    switch (c.as) {
      case look::name: return chosen.by_operator;
      case look::call_site:
      case look::thread: return false;  // described where they are keys
      case look::open: return any([](const operator_row& row) { return row.open > 0; });
      case look::pass:
        return plan_.by.has(group_key::parameters) && any([](const operator_row& row) {
                 return row.pass != pass_kind::unknown && row.pass != pass_kind::fprop;
               });
      case look::bar: return c.is(plan_.device ? "device_bar" : "bar");
      default: break;
    }
    const unsigned rank = rank_of(c, plan_.device);
    return rank > 0 && rank != not_here;
  }

  /// What other columns say of a row; they are never left out.
  std::string beside(const operator_row& row) const {
    std::string text;
    for (const column* c : shown)
      if (c->as == look::pass || c->as == look::call_site || c->as == look::thread)
        text += cell(*c, row, p_, out_) + '\n';
    return text;
  }

  static bool is_text(const column& c) noexcept { return c.as <= look::bar; }

  /// What the rows are described by.
  std::string description_header() const {
    std::string header;
    for (const group_part& part : plan_.by.keys())
      if (part.kind != group_key::op)
        header += (header.empty() ? "" : ", ") +
                  (part.kind == group_key::call_site ? "call site" : out_.safe(text_of(part)));
    return header.empty() ? "parameters" : header;
  }
  grid_column grid_column_of(const column& c) {
    return {.header = c.as == look::parameters ? description_header() : c.header,
            .right = !is_text(c),
            .keep_end = c.as == look::call_site,
            .is_printable = c.as == look::parameters || c.as == look::bar};
  }

  std::string cell_of(const column& c, const operator_line& line) const {
    if (c.as == look::name) return line.name;
    if (c.as == look::parameters) return {};
    if (c.as == look::bar) {
      const double share = line.row == nullptr ? 0
                           : plan_.device      ? line.row->device_share
                                               : line.row->share;
      return bar_of(share, largest_, bar_width, out_.ascii());
    }
    return line.row != nullptr ? cell(c, *line.row, p_, out_) : sum_cell(c, *line.sum, plan_, out_);
  }

  // Of the column of parameters, if there is one.
  std::size_t description() const noexcept {
    std::size_t at = 0;
    while (at < shown.size() && shown[at]->as != look::parameters) ++at;
    return at;
  }

  [[gnu::cold]] void fit() {
    cells_.measure(out_);
    if (const std::size_t at = description(); at < shown.size()) {
      std::size_t& natural = cells_.columns[at].natural;
      for (const operator_line& line : lines_.lines)
        natural = std::max(
            natural,
            line.indent + display_width(line.description) * (line.look.span == 1) +
                (line.group == operator_line::none ? 0 : lines_.described[line.group].natural()));
    }
    const std::size_t at_description = description(),
                      natural = at_description < shown.size()
                                    ? cells_.columns[at_description].natural
                                    : 0;
    widen_for_sums();
    whole_width = cells_.whole_width();
    set_least();
    while (shown.size() > 1 && cells_.least_width() > out_.width()) drop_one();
    std::reverse(left_out.begin(), left_out.end());
    cells_.lay_out(out_.width());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const grid_column& c = cells_.columns[i];
      if (c.width < (shown[i]->as == look::parameters ? natural : c.natural))
        cut.push_back(c.header);
    }
  }

  /// Gives the columns of text, where there is room, what the names of sums take.
  void widen_for_sums() {
    std::size_t wanted = lines_.widest_sum, texts = 0, width = 0;
    for (const operator_line& line : totals_) wanted = std::max(wanted, display_width(line.name));
    for (; texts < shown.size() && is_text(*shown[texts]); ++texts)
      width += cells_.columns[texts].natural + (texts > 0 ? grid::gap : 0);
    const std::size_t widest = std::min(description(), texts - std::min<std::size_t>(texts, 1));
    if (texts == 0 || width >= wanted) return;
    grid_column& c = cells_.columns[widest];
    c.natural += wanted - width;
  }

  void set_least() {
    const bool comfortable =
        !asked_ && std::any_of(shown.begin(), shown.end(), [&](const column* c) {
          return rank_of(*c, plan_.device, nested_) >= comfort_rank;
        });
    for (std::size_t i = 0; i < shown.size(); ++i)
      cells_.columns[i].least = least_width(*shown[i], comfortable, out_.width());
  }

  void drop_one() {
    std::size_t worst = shown.size() - 1;
    if (!asked_)
      for (std::size_t i = 0; i < shown.size(); ++i)
        if (rank_of(*shown[i], plan_.device, nested_) >
            rank_of(*shown[worst], plan_.device, nested_))
          worst = i;
    if (shown[worst]->as != look::bar) left_out.emplace_back(shown[worst]->header);
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(worst));
    cells_.drop(worst);
    set_least();
  }

  /// Puts the descriptions into their column, with more lines for rows that take more.
  [[gnu::cold]] void put_descriptions(const std::vector<operator_line>& lines) {
    const std::size_t at = description();
    if (at == shown.size()) return;
    const std::size_t width = cells_.columns[at].width;
    std::vector<std::vector<std::vector<std::string>>> texts;
    std::vector<std::size_t> indents(lines_.described.size());
    for (const operator_line& line : lines)
      if (line.group != operator_line::none) indents[line.group] = line.indent;
    for (std::size_t i = 0; i < indents.size(); ++i)
      texts.push_back(lines_.described[i].at_width(width - std::min(width, indents[i])));
    std::vector<std::vector<std::string>> rows;
    std::vector<row_look> looks;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const operator_line& line = lines[i];
      const std::string lead(line.indent, ' ');
      rows.push_back(std::move(cells_.rows[i]));
      looks.push_back(cells_.looks[i]);
      if (line.group == operator_line::none) {
        rows.back()[at] = lead + line.description;
        continue;
      }
      const std::vector<std::string>& text = texts[line.group][line.place];
      rows.back()[at] = lead + text[0];
      for (std::size_t more = 1; more < text.size(); ++more) {
        rows.emplace_back(shown.size())[at] = lead + text[more];
        looks.push_back({.style = line.look.style});
      }
    }
    cells_.rows = std::move(rows);
    cells_.looks = std::move(looks);
  }

  static constexpr std::size_t bar_width = 8;

  const page& out_;
  const profile& p_;
  const text_plan& plan_;
  bool asked_, nested_ = false;
  double largest_ = 0;
  operator_lines lines_;
  std::vector<operator_line> totals_;
  grid cells_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/operator_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Lines below the table: why a number of it is not known, and which are partly kprof's own time.
[[gnu::cold]] inline void print_row_notes(page& out, const profile& p,
                                          const operator_groups& chosen,
                                          const std::vector<const column*>& shown) {
  std::vector<const operator_row*> rows;
  std::vector<std::string> of_rows;
  for (const operator_group& g : chosen.groups)
    for (std::size_t i = 0; i < g.shown; ++i) {
      rows.push_back(&g.rows[i]);
      of_rows.push_back(g.rows[i].name);
    }
  const concerned_names names(std::move(of_rows));
  for (const absence why :
       {absence::no_flops, absence::no_bytes, absence::invalid, absence::merged,
        absence::zero_bytes, absence::dropped, absence::lost, absence::not_all_records,
        absence::untimed, absence::no_launch, absence::no_time, absence::not_replayed,
        absence::graphs_only, absence::no_calls})
    names.print(out, "n/a, " + std::string{explain(why)} + ": ", [&](std::size_t i) {
      return std::any_of(shown.begin(), shown.end(), [&](const column* c) {
        return c->number != nullptr && c->number->of(*rows[i]).why == why;
      });
    });
  names.print(out, "mean above 3 times the median, a few calls take most of the time: ",
              [&](std::size_t i) {
                return rows[i]->mean_ns.known() && rows[i]->median_ns.known() &&
                       rows[i]->calls > 2 && rows[i]->mean_ns.value > 3 * rows[i]->median_ns.value;
              });
  names.print(out,
              "short, so partly kprof's own time (an empty scope shows " +
                  out.time(p.cost.empty_scope_ns) + "): ",
              [&](std::size_t i) {
                return rows[i]->mean_ns.known() &&
                       rows[i]->mean_ns.value < 10 * p.cost.empty_scope_ns;
              });
}

/// Work that no operator accounts for, and the names of what took the most time.
[[gnu::cold]] inline void print_outside(page& out, const profile& p, const text_plan& plan) {
  const work_outside rest = outside_operators(p);
  if (rest.all.runs() == 0) return;
  std::string text = "outside any operator: " + runs_of(rest.all) + ", device " +
                     out.time(rest.all.ns) + ", " +
                     format_share(share_of(rest.all.ns, plan.all_device_ns));
  if (rest.unknown.runs() > 0)
    text += "; of these, launch not seen: " + runs_of(rest.unknown) + ", device " +
            out.time(rest.unknown.ns);
  out.paragraph("", text, 2);
  std::vector<std::string> names, notes;
  for (const named_work& work : rest.names) {
    names.push_back(short_kernel_name(work.name));
    notes.push_back(' ' + out.time(work.sum.ns) + " (" + format_count(work.sum.runs()) + ')');
  }
  out.list("outside any operator, by name: ", names, notes);
}

[[gnu::cold]] inline std::string table_title(const page& out, const text_plan& plan) {
  std::string title = "Operators";
  const std::vector<group_part> keys = plan.by.keys();
  for (std::size_t i = 0; i < keys.size() && plan.by.text() != grouping{}.text(); ++i)
    title += (i == 0                 ? " by "
              : i + 1 == keys.size() ? " and "
                                     : ", ") +
             (keys[i].kind == group_key::call_site ? "call site" : out.safe(text_of(keys[i])));
  title += std::string{", sorted by "} + plan.sort->header;
  if (plan.one_type) title += std::string{"; all "} + dtype_name(*plan.one_type);
  return title;
}

[[gnu::cold]] inline void print_table(page& out, const profile& p, const text_plan& plan) {
  const operator_groups chosen(p, plan);
  out.space();
  out.paragraph("", table_title(out, plan), 2);
  out.space();
  hidden_rows regions;  // outside operators
  regions.self_ns = plan.all_self_ns - chosen.all.self_ns - chosen.filtered.self_ns;
  if (chosen.all.rows == 0) {
    out.line(chosen.filtered.rows > 0 ? "no operator matches the filter" : "no operator ran");
  } else {
    operator_grid table(out, p, plan, chosen);
    table.add_total("in operators", chosen.all);
    // The operator that handed a path to another thread has its row by thread elsewhere.
    if (regions.self_ns > plan.all_self_ns * 1e-9)
      table.add_total(plan.by.has(group_key::thread) ? "in regions, outside own operators"
                                                     : "in regions, outside operators",
                      regions);
    if (chosen.filtered.rows > 0)
      table.add_total("filtered out " + filtered_by(out, plan), chosen.filtered);
    table.print(out);
    out.space();
    print_row_notes(out, p, chosen, table.shown);
    if (!table.left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", table.left_out);
    print_cut(out, table.cut, table.whole_width);
  }
  print_outside(out, p, plan);
}

[[gnu::cold]] inline void print_legend(page& out, const text_plan& plan) {
  out.space();
  out.line("Legend");
  for (const column& c : columns) {
    if (rank_of(c, plan.device) == not_here || c.as == look::bar) continue;
    const std::string id = std::string_view{c.id} == c.header ? "" : "(" + std::string{c.id} + ") ";
    print_meaning(out, c.header, id + (plan.device ? c.device_meaning : c.meaning));
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/table.hpp>

// <kprof/report/text/tree.hpp>
#ifndef KPROF_REPORT_TEXT_TREE_HPP
#define KPROF_REPORT_TEXT_TREE_HPP

// The call tree of the text report. Included by the text report.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Which rows of the tree are shown. A row that is shown has its parents shown.
struct chosen_tree {
  std::vector<tree_row> rows;
  std::vector<bool> shown, last;  // last: no sibling below it is shown
  hidden_rows filtered, cut;
  bool any_open = false;

  [[gnu::cold]] chosen_tree(const profile& p, const text_plan& plan)
      : rows(kprof::call_tree(p, plan.by.has(group_key::thread))),
        shown(rows.size(), true),
        last(rows.size(), false) {
    if (plan.filter.active()) filter(plan.filter);
    if (plan.options.top > 0) keep_largest(plan.options.top);
    bool top_seen = false;
    std::vector<bool> child_seen(rows.size(), false);
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (!shown[i]) continue;
      any_open = any_open || rows[i].open > 0;
      if (rows[i].parent == scope_node::none) last[i] = !top_seen, top_seen = true;
      else last[i] = !child_seen[rows[i].parent], child_seen[rows[i].parent] = true;
    }
  }

 private:
  void filter(const name_filter& wanted) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool inside = rows[i].parent != scope_node::none && shown[rows[i].parent];
      shown[i] = inside || (rows[i].kind != scope_kind::root &&
                            wanted.matches(rows[i].name, rows[i].parameters));
    }
    for (std::size_t i = rows.size(); i-- > 0;) {
      if (shown[i] && rows[i].parent != scope_node::none) shown[rows[i].parent] = true;
      if (!shown[i]) filtered.add(rows[i]);
    }
  }

  void keep_largest(std::size_t top) {
    // A parent is no smaller than its children and comes before them.
    std::size_t kept = 0;
    for (const std::uint32_t i : sorted_order(rows.size(), [&](std::uint32_t a, std::uint32_t b) {
           return is_larger(rows[a], rows[b]);
         })) {
      if (!shown[i] || kept++ < top) continue;
      shown[i] = false;
      cut.add(rows[i]);
    }
  }
};

/// The lines that lead to a row; for a row too deep to draw, how deep it is.
[[gnu::cold]] inline std::string tree_lines(const chosen_tree& tree, std::size_t at,
                                            std::size_t page_width, bool ascii) {
  const std::size_t depth = tree.rows[at].depth;
  if (depth == 0) return {};
  const char* branch =
      tree.last[at] ? (ascii ? "`- " : "\u2514\u2500 ") : (ascii ? "|- " : "\u251C\u2500 ");
  if (3 * depth > page_width * 2 / 5)
    return (ascii ? ".." : "\u2026") + std::to_string(depth) + ' ' + branch;
  std::vector<bool> ends;
  for (std::uint32_t up = tree.rows[at].parent; up != scope_node::none && tree.rows[up].depth > 0;
       up = tree.rows[up].parent)
    ends.push_back(tree.last[up]);
  std::string lines;
  for (std::size_t i = ends.size(); i-- > 0;) lines += ends[i] ? "   " : ascii ? "|  " : "\u2502  ";
  return lines + branch;
}

[[gnu::cold]] inline std::string tree_label(const tree_row& row, const profile& p) {
  if (row.kind == scope_kind::root) return "thread " + thread_name(p, row.thread);
  const std::string name = row.name.empty() ? "(no name)" : row.name;
  if (row.kind != scope_kind::op) return name;
  const std::string parameters = row.merged ? "not kept" : row.parameters;
  if (!row.invalid) return name + '(' + parameters + ')';
  return name + (parameters.empty() ? "(invalid)" : "(invalid: " + parameters + ')');
}

[[gnu::cold]] inline std::vector<std::string> tree_cells(const chosen_tree& tree, std::size_t at,
                                                         const profile& p, const page& out,
                                                         bool device) {
  const tree_row& row = tree.rows[at];
  const bool thread = row.kind == scope_kind::root;
  std::vector<std::string> cells{
      tree_lines(tree, at, out.width(), out.ascii()) + tree_label(row, p),
      thread ? "" : calls_cell(row.calls + row.replays)};
  if (tree.any_open) cells.push_back(thread ? "" : open_cell(row.open, row.open_ns, out));
  if (device) {
    cells.push_back(out.time(row.device_total_ns));
    cells.push_back(format_share(row.device_share));
  }
  cells.push_back(out.time(row.total_ns));
  cells.push_back(format_share(row.total_share));
  cells.push_back(thread ? "" : out.time(row.self_ns));
  cells.push_back(thread           ? ""
                  : row.calls == 0 ? "n/a"
                                   : out.time(row.total_ns / static_cast<double>(row.calls)));
  return cells;
}

/// The page width at which no label is cut. A wider page has more of the lines that lead to deep
/// rows, so that it is approached from below. `others`: the width of all other columns.
[[gnu::cold]] inline std::size_t whole_tree_width(const chosen_tree& tree, const profile& p,
                                                  const page& out, std::size_t others) {
  for (std::size_t width = out.width();;) {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      if (!tree.shown[i]) continue;
      const std::string label =
          tree_lines(tree, i, width, out.ascii()) + tree_label(tree.rows[i], p);
      wanted =
          std::max(wanted, others + display_width(printable(label, 2 * widest_page, out.ascii())));
    }
    if (wanted <= width || wanted > widest_page) return std::max(wanted, width);
    width = wanted;
  }
}

[[gnu::cold]] inline std::string tree_title(const page& out, const text_plan& plan) {
  const std::string share = "share is total, of " + out.time(plan.all_self_ns) + " in all scopes";
  if (!plan.device) return "Call tree, sorted by total; " + share;
  return "Call tree, sorted by device: that of a scope and all below it; dev share is of " +
         out.time(plan.all_device_ns) + " of device time, " + share;
}

/// Work that is in no scope of the tree.
[[gnu::cold]] inline void print_outside_scopes(page& out, const profile& p, const text_plan& plan) {
  device_sum rest;
  for (const device_work& w : p.device.work)
    if (const std::uint32_t node = scope_of(p, w);
        node == scope_node::none || p.nodes[node].kind == scope_kind::root)
      rest.add(w);
  if (rest.runs() == 0) return;
  out.paragraph("",
                "outside all scopes: " + runs_of(rest) + ", device " + out.time(rest.ns) + ", " +
                    format_share(share_of(rest.ns, plan.all_device_ns)),
                2);
}

[[gnu::cold]] inline void print_tree(page& out, const profile& p, const text_plan& plan) {
  const chosen_tree tree(p, plan);
  out.space();
  out.paragraph("", tree_title(out, plan), 2);
  out.space();
  grid cells;
  for (const std::string_view header :
       {"scope", "calls", "open", "device", "dev share", "total", "share", "self", "mean"})
    if ((header != "open" || tree.any_open) && (!header.starts_with("dev") || plan.device))
      cells.columns.push_back({.header = std::string{header}, .right = header != "scope"});
  for (std::size_t i = 0; i < tree.rows.size(); ++i)
    if (tree.shown[i]) cells.rows.push_back(tree_cells(tree, i, p, out, plan.device));
  if (cells.rows.empty()) {
    out.line("no scope matches the filter");
  } else {
    cells.measure(out);
    const std::size_t others = cells.whole_width() - cells.columns[0].natural;
    cells.columns[0].least = std::max<std::size_t>(16, out.width() * 2 / 5);
    while (cells.columns.size() > 3 && cells.least_width() > out.width())
      cells.drop(cells.columns.size() - 1);
    cells.columns[0].least = 10;
    while (cells.columns.size() > 2 && cells.least_width() > out.width())
      cells.drop(cells.columns.size() - 1);
    cells.print(out);
    out.space();
    if (const auto cut = cells.cut(); !cut.empty())
      print_cut(out, cut, whole_tree_width(tree, p, out, others));
  }
  tree.cut.print(out, "more rows", cut_by(plan, plan.device ? "by device" : "by total"), plan);
  tree.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  print_outside_scopes(out, p, plan);
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN

namespace detail {

[[gnu::cold]] inline void print_header(page& out, const profile& p) {
  std::uint64_t threads = 0;
  for (const thread_info& t : p.threads) threads += std::max<std::uint64_t>(1, t.merged);
  std::string text = "kprof";
  if (!p.program.empty()) text += out.dot() + printable(p.program, 40, out.ascii());
  text += out.dot() + out.time(p.wall_ns);
  if (p.paused_ns > 0) text += " (" + out.time(p.paused_ns) + " paused)";
  text += out.dot() + counted(threads, "thread", "threads");
  if (p.cpus > 0) text += " on " + counted(p.cpus, "CPU", "CPUs");
  if (!p.recording) text += out.dot() + (p.state.empty() ? "not recording" : out.safe(p.state));
  out.paragraph("", text, 2);
}

inline bool has_scopes(const profile& p) noexcept {
  return std::any_of(p.nodes.begin(), p.nodes.end(),
                     [](const scope_node& n) { return n.kind != scope_kind::root; });
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_page(const profile& p,
                                                          const report_options& options,
                                                          std::string& out) {
  text_plan plan(options);
  if (status s = plan.prepare(); !s) return s;
  plan.look_at(p);
  const int width = options.width > 0 ? options.width : output_width(options.path);
  page page(static_cast<std::size_t>(std::clamp(width, 40, static_cast<int>(widest_page))),
            options.ascii, options.color.value_or(false));
  print_header(page, p);
  print_devices(page, p);
  for (const std::string& line : plan.complaints) page.paragraph("! ", page.safe(line), 4);
  if (!has_scopes(p)) {
    page.space();
    page.line("no scopes were recorded");
    print_outside(page, p, plan);
  } else {
    if (options.table) print_table(page, p, plan);
    if (plan.tree) print_tree(page, p, plan);
  }
  if (plan.kernels) print_kernels(page, p, plan);
  if (plan.copies) print_copies(page, p, plan);
  if (options.legend) {
    print_legend(page, plan);
    if (plan.device && plan.kernels) print_kernel_legend(page);
    if (plan.device && plan.copies) print_copy_legend(page);
  }
  print_footer(page, p, plan);
  out = page.take();
  return {};
}

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION status write_text(const profile& p,
                                                     const report_options& options,
                                                     std::string& out) {
  return detail::within_memory([&] { return detail::write_page(p, options, out); });
}

KPROF_DETAIL_END

#endif  // <kprof/report/text/write_text.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline status check_sort_option(const option_value& value) {
  return check_sort(value.text);
}
[[gnu::cold]] inline status check_filter_option(const option_value& value) {
  return name_filter{}.set(value.text);
}
[[gnu::cold]] inline status check_columns_option(const option_value& value) {
  if (value.text.empty()) return check_column({});
  for (const std::string& name : value.words())
    if (status s = check_column(name); !s) return s;
  return {};
}

inline constexpr option report_option_table[] = {
    {.name = "width",
     .kind = option_kind::number,
     .form = "COLUMNS",
     .fallback = "0",
     .least = 40,
     .most = 1000,
     .meaning = "columns a line may have, 40 to 1000; else the terminal's, else `$COLUMNS`, else "
                "100",
     .store = &store_member<&report_options::width>},
    {.name = "top",
     .kind = option_kind::number,
     .form = "ROWS",
     .fallback = "40",
     .most = 1'000'000'000,
     .meaning = "rows of each table and of the tree; 0 is all. The rest is counted in a line of "
                "its own",
     .store = &store_member<&report_options::top>},
    {.name = "sort",
     .form = "COLUMN",
     .meaning = "a column of the table of operators. Texts rise, numbers fall, `n/a` comes last. "
                "Where it is empty: `device` where the run has work on a device, else `self`",
     .validate = &check_sort_option,
     .store = &store_member<&report_options::sort>},
    by_option<report_options>(),
    fold_option<report_options>(),
    {.name = "filter",
     .form = "REGEX",
     .meaning = "POSIX extended regular expression, searched in the \"name parameters\" of each "
                "call, whatever makes a row, and in the names of kernels",
     .validate = &check_filter_option,
     .store = &store_member<&report_options::filter>},
    {.name = "columns",
     .kind = option_kind::list,
     .form = "A+B+C",
     .meaning = "the columns of the table of operators, in this order. Where it is empty: those "
                "that fit",
     .validate = &check_columns_option,
     .store = &store_member<&report_options::columns>},
    {.name = "table",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "show the table of operators",
     .store = &store_member<&report_options::table>},
    {.name = "parameters",
     .kind = option_kind::choice,
     .form = "short|all",
     .fallback = "short",
     .meaning = "fields of a row: those that tell it from others, or every one",
     .store = &store_member<&report_options::all_parameters>},
    {.name = "tree",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "on",
     .meaning = "show the call tree; `auto`: where it says more than the operators, since there "
                "are none or 10 % of the time is outside them",
     .store = &store_member<&report_options::tree>},
    {.name = "kernels",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "on",
     .meaning = "show the table of kernels, if any ran; `auto`: where operators do not explain "
                "1 % of the device's time",
     .store = &store_member<&report_options::kernels>},
    {.name = "copies",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "on",
     .meaning = "show the table of copies and memsets, if there were any; `auto`: where they take "
                "10 % of the device's time",
     .store = &store_member<&report_options::copies>},
    {.name = "full_names",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "list the kernels' whole names below their table",
     .store = &store_member<&report_options::full_names>},
    {.name = "details",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "show the account of what was seen, what kprof took and of its clock also where "
                "nothing was lost",
     .store = &store_member<&report_options::details>},
    {.name = "color",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "bold and dim lines; `auto`: on a terminal, unless `NO_COLOR` is set",
     .store = &store_member<&report_options::color>},
    {.name = "ascii",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "nothing but ASCII",
     .store = &store_member<&report_options::ascii>},
    {.name = "legend",
     .kind = option_kind::flag,
     .fallback = "off",
     .meaning = "explain every column at the end",
     .store = &store_member<&report_options::legend>},
};

KPROF_DETAIL_LOCAL inline status write_report(const profile& run, const option_values& values,
                                              text_sink& out) {
  report_options options;
  values.store_into(options);
  options.path = values.text("path");  // standard output may be a terminal, with a width
  if (!options.color) options.color = out.takes_color();
  std::string page;
  if (status s = write_text(run, options, page); !s) return s;
  out.put(page);
  return {};
}

inline constexpr output report_output{"report", "the report as a page of text", report_option_table,
                                      &write_report};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration report_registered{report_output};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/text/report_output.hpp>

#endif

#include <string>

KPROF_DETAIL_BEGIN

/// Puts the report into `out`, which is left alone when an option is wrong or memory runs out. Text
/// of the program is made safe to print. Any number of threads may call it.
///     std::string page;
///     const kprof::status s = kprof::write_text(kprof::snapshot(), {.width = 120}, page);
KPROF_DETAIL_SESSION status write_text(const profile& p, const report_options& options,
                                       std::string& out);

KPROF_DETAIL_END

#endif  // <kprof/report/text.hpp>

// <kprof/report/write.hpp>
#ifndef KPROF_REPORT_WRITE_HPP
#define KPROF_REPORT_WRITE_HPP

// Writes a profile in any output that this binary knows: "report", and those whose headers in
// kprof/report/ it includes. Include it with them; kprof.hpp and session.hpp include it too.

#if !KPROF_SESSION_ELSEWHERE

// <kprof/report/output/write.hpp>
#ifndef KPROF_REPORT_OUTPUT_WRITE_HPP
#define KPROF_REPORT_OUTPUT_WRITE_HPP

// Defines what write.hpp declares, where the session is compiled.

// <kprof/record/hold_cancellation.hpp>
#ifndef KPROF_RECORD_HOLD_CANCELLATION_HPP
#define KPROF_RECORD_HOLD_CANCELLATION_HPP

// pthread_cancel() unwinds a thread from wherever it waits or writes, and that may be within kprof.

#include <pthread.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds back the cancellation of this thread until the end of the block: unwinding from within
/// kprof would pass through functions that are noexcept.
class KPROF_DETAIL_LOCAL hold_cancellation {
 public:
  hold_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~hold_cancellation() { pthread_setcancelstate(before_, nullptr); }
  hold_cancellation(const hold_cancellation&) = delete;
  hold_cancellation& operator=(const hold_cancellation&) = delete;

 private:
  int before_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/hold_cancellation.hpp>

// <kprof/report/output/read_request.hpp>
#ifndef KPROF_REPORT_OUTPUT_READ_REQUEST_HPP
#define KPROF_REPORT_OUTPUT_READ_REQUEST_HPP

// Finds the output that a request names and checks its options. Pure, but for the registered
// outputs.

// <kprof/report/output/read_option.hpp>
#ifndef KPROF_REPORT_OUTPUT_READ_OPTION_HPP
#define KPROF_REPORT_OUTPUT_READ_OPTION_HPP

// Reads the values of options and settings by their tables. Every mistake becomes a line that says
// what is valid and that a terminal can print, whatever the text holds. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Text of the user for an error line.
[[gnu::cold]] inline std::string shown(std::string_view text) { return printable(text, 60); }

/// What a text means as the value of an option.
struct option_reading {
  bool valid = false;  ///< `value` can be used, also where there is a complaint
  option_value value{};
  std::string complaint{};
};

inline bool read_flag(std::string_view text, bool& on) noexcept {
  on = text.empty() || text == "on" || text == "1" || text == "true";
  return on || text == "off" || text == "0" || text == "false";
}

/// Reads the digits at the front of `text`, and removes them. False without any, or above 10^18.
inline bool read_digits(std::string_view& text, std::uint64_t& n) noexcept {
  const std::size_t before = text.size();
  for (n = 0; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    if (n > 100'000'000'000'000'000U) return false;
    n = n * 10 + static_cast<std::uint64_t>(text[0] - '0');
  }
  return text.size() < before;
}

inline bool read_size(std::string_view text, std::uint64_t& bytes) noexcept {
  if (!read_digits(text, bytes)) return false;
  unsigned shift = 0;
  if (text == "K" || text == "KiB") shift = 10;
  else if (text == "M" || text == "MiB") shift = 20;
  else if (text == "G" || text == "GiB") shift = 30;
  else if (!text.empty() && text != "B") return false;
  if (bytes > (std::uint64_t{1} << 46U >> shift)) return false;
  bytes <<= shift;
  return true;
}

/// Calls see(word) for each word of a list such as "auto|on|off", until it returns true.
template <class See>
bool any_word(std::string_view list, See see) {
  for (;;) {
    const std::size_t end = list.find('|');
    if (see(list.substr(0, end))) return true;
    if (end == std::string_view::npos) return false;
    list.remove_prefix(end + 1);
  }
}

/// The place of the word in the list; a flag's other spellings are known where it has on and off.
inline bool read_choice(std::string_view text, std::string_view list, std::uint64_t& place) {
  const auto is_listed = [&](std::string_view wanted) {
    place = 0;
    return any_word(list,
                    [&](std::string_view word) { return word == wanted || (++place, false); });
  };
  bool on = false;
  return is_listed(text) || (read_flag(text, on) && is_listed(on ? "on" : "off"));
}

/// Whether the option's name alone, without a value, is right.
inline bool needs_no_value(const option& of) {
  std::uint64_t place = 0;
  return of.kind == option_kind::flag ||
         (of.kind == option_kind::choice && read_choice({}, of.form, place));
}

/// "cupti=auto, cupti=on, cupti=off".
[[gnu::cold]] inline std::string valid_values(const option& of) {
  std::string out;
  any_word(of.kind == option_kind::flag ? "on|off" : of.form, [&](std::string_view word) {
    out.append(out.empty() ? "" : ", ").append(of.name).append("=").append(word);
    return false;
  });
  return out;
}

/// "width=COLUMNS", as lists of valid options show it.
[[gnu::cold]] inline std::string usage(const option& of) {
  if (of.kind == option_kind::mark) return of.name;
  return std::string{of.name} + '=' + (of.kind == option_kind::flag ? "on|off" : of.form);
}

inline bool read_number(const option& of, std::string_view text, std::uint64_t& n) noexcept {
  return read_digits(text, n) && text.empty() && n >= of.least && n <= of.most;
}

/// "1 MiB", "1000 B".
[[gnu::cold]] inline std::string exact_size(std::uint64_t bytes) {
  return bytes % 1048576 == 0 ? std::to_string(bytes / 1048576) + " MiB"
                              : std::to_string(bytes) + " B";
}

[[gnu::cold]] inline std::string unreadable(const option& of, const std::string& written) {
  switch (of.kind) {
    case option_kind::number:
      return shown(written) + " is no number from " + std::to_string(of.least) + " to " +
             std::to_string(of.most);
    case option_kind::size:
      return shown(written) + " is no size; write it like " + of.name + "=64MiB (KiB, MiB, GiB)";
    default: return shown(written) + " is unknown; valid: " + valid_values(of);
  }
}

inline bool read_by_kind(const option& of, const std::string& text, option_value& value) {
  switch (of.kind) {
    case option_kind::mark: return text.empty() && read_choice(of.fallback, "off|on", value.number);
    case option_kind::flag: return read_choice(text, "off|on", value.number);
    case option_kind::number: return read_number(of, text, value.number);
    case option_kind::size: return read_size(text, value.number);
    case option_kind::choice: return read_choice(text, of.form, value.number);
    default: return true;
  }
}

inline option_reading read_option(const option& of, const std::string& text) {
  option_reading out{.value = {.of = &of, .text = text}};
  const std::string written = std::string{of.name} + '=' + text;
  out.valid = read_by_kind(of, text, out.value);
  if (!out.valid) {
    out.complaint = unreadable(of, written);
  } else if (of.kind == option_kind::size && out.value.number < of.least) {
    out.value.number = of.least;
    out.complaint = shown(written) + " is too small to work with; the smallest, " +
                    exact_size(of.least) + ", is used";
  } else if (of.validate != nullptr) {
    out.complaint = of.validate(out.value).message;
    out.valid = out.complaint.empty();
  }
  return out;
}

/// The value that an option has where none is given; its table says it, and says it right.
inline option_value default_of(const option& of) {
  option_value out{.of = &of, .text = of.fallback};
  if (of.kind != option_kind::mark) read_by_kind(of, out.text, out);
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/output/read_option.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The option that every output has.
inline constexpr option path_option{
    .name = "path",
    .form = "FILE",
    .meaning =
        "file to write, which is replaced; `%p` in it is the process id. Standard output "
        "where it is empty"};

inline const option* find_option(const output& of, std::string_view name) noexcept {
  if (name == path_option.name) return &path_option;
  for (const option& o : of.options)
    if (name == o.name) return &o;
  return nullptr;
}

[[gnu::cold]] inline status unknown_option(const output& of, const std::string& written) {
  std::string valid = usage(path_option);
  for (const option& o : of.options) valid.append(", ").append(usage(o));
  return {"unknown option '" + shown(written) + "' of " + of.name + "; valid: " + valid};
}

/// "report(...), csv(...)".
[[gnu::cold]] inline std::string output_list() {
  std::string all;
  for (const output* o : outputs()) all.append(all.empty() ? "" : ", ").append(o->name) += "(...)";
  return all;
}

/// How an output of kprof gets into the program that asks for it.
[[gnu::cold]] inline std::string how_to_add(std::string_view header) {
  return "if it is one of kprof's, include <kprof/report/" + std::string{header} +
         ".hpp> or link kprof::session";
}

[[gnu::cold]] inline status unknown_output(std::string_view name) {
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  return {"unknown output '" + shown(name) + "'; this program has: " + output_list() + "; " +
          how_to_add(is_word && !name.empty() && name.size() < 40 ? name : "NAME")};
}

/// An output and the values of all its options, or what is wrong with the request.
struct request_reading {
  const output* what = nullptr;
  option_values values;
  status error;

  [[gnu::cold]] request_reading(std::string_view name, const std::vector<option_setting>& given)
      : what(find_output(name)) {
    if (what == nullptr) {
      error = unknown_output(name);
      return;
    }
    std::vector<option_value> all{default_of(path_option)};
    for (const option& o : what->options) all.push_back(default_of(o));
    for (const option_setting& setting : given) set(setting, all);
    values = option_values(std::move(all));
  }

 private:
  void set(const option_setting& given, std::vector<option_value>& all) {
    const option* const of = find_option(*what, given.name);
    option_reading reading;
    if (of != nullptr) reading = read_option(*of, given.value);
    if (error && of == nullptr) error = unknown_option(*what, given.name + '=' + given.value);
    else if (error && !reading.valid) error = {reading.complaint};
    for (option_value& value : all)
      if (value.of == of) value = std::move(reading.value);
  }
};

/// The request that stands for the options of the session's own report.
inline bool is_main_report(const output_request& request) noexcept {
  return request.output == "report" && request.options.empty();
}

/// The file that a request names; empty: none.
[[gnu::cold]] inline std::string path_of(const output_request& request) {
  std::string path;
  for (const option_setting& given : request.options)
    if (given.name == path_option.name) path = given.value;
  return path;
}

/// Adds a path to those of other outputs, which it must differ from.
[[gnu::cold]] inline status take_path(std::vector<std::string>& taken, const std::string& path) {
  if (path.empty()) return {};
  if (std::find(taken.begin(), taken.end(), path) != taken.end())
    return {"another output writes to \"" + shown(path) + "\" already; choose another path"};
  taken.push_back(path);
  return {};
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/report/output/read_request.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_to_its_path(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    write_time when) {
  const request_reading request(name, options);
  if (!request.error) return request.error;
  destination to(expand_path(request.values.text("path")), when);
  text_sink sink(
      [](void* where, std::string_view text) -> status {
        return static_cast<destination*>(where)->append(text);
      },
      &to, to.takes_color());
  if (status s = request.what->write(run, request.values, sink); !s) return s;
  sink.flush();  // a failure is the destination's too
  return to.close();
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_text_of(
    const profile& run, std::string_view name, const std::vector<option_setting>& options,
    std::string& text) {
  const request_reading request(name, options);
  if (!request.error) return request.error;
  std::string out;
  text_sink sink(
      [](void* where, std::string_view more) -> status {
        static_cast<std::string*>(where)->append(more);
        return {};
      },
      &out);
  if (status s = request.what->write(run, request.values, sink); !s) return s;
  sink.flush();
  text = std::move(out);
  return {};
}

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options) {
  const detail::hold_cancellation hold;
  return detail::within_memory(
      [&] { return detail::write_to_its_path(run, name, options, detail::write_time::now); });
}

[[gnu::cold]] KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                                const std::vector<option_setting>& options,
                                                std::string& text) {
  const detail::hold_cancellation hold;
  return detail::within_memory([&] { return detail::write_text_of(run, name, options, text); });
}

KPROF_DETAIL_END

#endif  // <kprof/report/output/write.hpp>

#endif

#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Writes the profile in any output, to the file that its option `path` names ("%p" is the process
/// id) or to standard output. An output or option that is not known, and a file that cannot be
/// written, are in the status with what to do; the program is not harmed. May be called by several
/// threads at a time, each with a path of its own.
///     kprof::write(kprof::snapshot(), "csv", {{"path", "run.csv"}});
KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                  const std::vector<option_setting>& options = {});
/// Puts what the output writes into `text`; `path` is not looked at.
KPROF_DETAIL_SESSION status write(const profile& run, std::string_view name,
                                  const std::vector<option_setting>& options, std::string& text);

KPROF_DETAIL_END

#endif  // <kprof/report/write.hpp>

// <kprof/settings.hpp>
#ifndef KPROF_SETTINGS_HPP
#define KPROF_SETTINGS_HPP

// The settings of a session and the grammar of the environment variable KPROF. One parser serves
// both.
//
//   settings = [ setting { "," setting } ]
//   setting  = word | word "=" value | word "(" [ option { "," option } ] ")"
//   option   = word | word "=" value
//   value    = characters without , ( ) or "text" in quotes, where a backslash keeps the next " or
//            backslash
//
//   A switch takes on, off, 1, 0, true or false; without a value it is on. Sizes take B, K, KiB, M,
//   MiB, G or GiB.
//
//   on                     record from the first scope (the default)
//   off                    do nothing at all
//   nvtx=on|off            send scopes to an attached NVTX tool (default on)
//   memory=SIZE            bound of the memory for logs and totals: a number and KiB, MiB or GiB; 1
//                          MiB at least (default 64MiB)
//   cupti=auto|on|off      attribute the GPU's work to operators: where the program is found to use
//                          CUDA, always, or never (default auto)
//   clock=auto|system      time with the CPU's counter where it is reliable, or always with
//                          clock_gettime (default auto)
//   signals=on|off         write the outputs also when SIGINT, SIGTERM or SIGHUP ends the program,
//                          or std::terminate() does (default on)
//
//   And the outputs that the binary knows (report/output.hpp), such as report or report(...), which
//   are written when the program ends; NAME=off takes back what was said of NAME. Every output has
//   the option path.
//
//   KPROF="memory=256MiB,report(path=run-%p.txt,width=160,sort=total)"

#if !KPROF_SESSION_ELSEWHERE

// <kprof/session/settings_parser.hpp>
#ifndef KPROF_SESSION_SETTINGS_PARSER_HPP
#define KPROF_SESSION_SETTINGS_PARSER_HPP

// Defines settings::parse(), where the session is compiled. Included by settings.hpp.

// <kprof/session/settings_table.hpp>
#ifndef KPROF_SESSION_SETTINGS_TABLE_HPP
#define KPROF_SESSION_SETTINGS_TABLE_HPP

// The settings that are not outputs, a line each: what the parser accepts, what its error lines
// list, and what settings.hpp and the documentation print. Included by the parser.

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr option settings_table[] = {
    {.name = "on",
     .kind = option_kind::mark,
     .fallback = "on",
     .meaning = "record from the first scope (the default)",
     .store = &store_member<&settings::enabled>},
    {.name = "off",
     .kind = option_kind::mark,
     .fallback = "off",
     .meaning = "do nothing at all",
     .store = &store_member<&settings::enabled>},
    {.name = "nvtx",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "send scopes to an attached NVTX tool",
     .store = &store_member<&settings::nvtx>},
    {.name = "memory",
     .kind = option_kind::size,
     .form = "SIZE",
     .fallback = "64MiB",
     .least = settings::smallest_memory,
     .meaning = "bound of the memory for logs and totals: a number and KiB, MiB or GiB; 1 MiB at "
                "least",
     .store = &store_member<&settings::memory>},
    {.name = "cupti",
     .kind = option_kind::choice,
     .form = "auto|on|off",
     .fallback = "auto",
     .meaning = "attribute the GPU's work to operators: where the program is found to use CUDA, "
                "always, or never",
     .store = &store_member<&settings::cupti>},
    {.name = "clock",
     .kind = option_kind::choice,
     .form = "auto|system",
     .fallback = "auto",
     .meaning = "time with the CPU's counter where it is reliable, or always with clock_gettime",
     .store = &store_member<&settings::clock>},
    {.name = "signals",
     .kind = option_kind::flag,
     .fallback = "on",
     .meaning = "write the outputs also when SIGINT, SIGTERM or SIGHUP ends the program, or "
                "std::terminate() does",
     .store = &store_member<&settings::signals>},
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/settings_table.hpp>

// <kprof/session/settings_text.hpp>
#ifndef KPROF_SESSION_SETTINGS_TEXT_HPP
#define KPROF_SESSION_SETTINGS_TEXT_HPP

// The characters of a settings text, read from left to right. Included by the parser. Pure.

#include <cstddef>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

class settings_text {
 public:
  explicit settings_text(std::string_view text) : rest_(text) {}

  std::string_view rest() const noexcept { return rest_; }
  bool at_end() const noexcept { return rest_.empty(); }

  void skip_spaces() noexcept {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }
  /// Whether `c` stood here; it and the spaces around it are read then.
  bool take(char c) noexcept {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  /// Whether the text ends here, or one of these characters comes next.
  bool stands_at(std::string_view any_of) noexcept {
    skip_spaces();
    return rest_.empty() || any_of.find(rest_[0]) != std::string_view::npos;
  }
  /// Skips to where one of these characters stands; parentheses are skipped in pairs.
  void skip_to(std::string_view any_of) noexcept {
    for (std::size_t inside = 0; !rest_.empty(); rest_.remove_prefix(1)) {
      if (inside == 0 && any_of.find(rest_[0]) != std::string_view::npos) return;
      if (rest_[0] == '(') ++inside;
      else if (rest_[0] == ')' && inside > 0) --inside;
    }
  }

  /// The name of a setting or an option.
  std::string word() { return until(",=()"); }
  /// A value, plain or in quotes; false where the closing quote is missing.
  bool value(std::string& out) {
    if (rest_.empty() || rest_[0] != '"') {
      out = until(",()");
      return true;
    }
    rest_.remove_prefix(1);
    for (; !rest_.empty() && rest_[0] != '"'; rest_.remove_prefix(1)) {
      if (rest_[0] == '\\' && rest_.size() > 1 && (rest_[1] == '"' || rest_[1] == '\\'))
        rest_.remove_prefix(1);
      out += rest_[0];
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

 private:
  static bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }
  std::string until(std::string_view any_of) {
    std::string_view out = rest_.substr(0, rest_.find_first_of(any_of));
    rest_.remove_prefix(out.size());
    while (!out.empty() && is_space(out.back())) out.remove_suffix(1);
    return std::string{out};
  }

  std::string_view rest_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/settings_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// "on, off, nvtx=on|off, ..., report(...)".
inline std::string settings_list() {
  std::string all;
  for (const option& o : settings_table) all.append(usage(o)).append(", ");
  return all + output_list();
}

/// Reads one settings text from left to right.
class KPROF_DETAIL_LOCAL settings_parser {
 public:
  explicit settings_parser(std::string_view text) : in_(text) {}

  [[gnu::cold]] parsed_settings run() {
    in_.skip_spaces();
    while (!in_.at_end()) {
      const std::string what = read_setting();
      if (!in_.stands_at(",")) skip_unexpected(what, "", "settings", ",");
      in_.take(',');
    }
    if (more_mistakes_ > 0) out_.errors.push_back("more mistakes: " + format_count(more_mistakes_));
    return std::move(out_);
  }

 private:
  /// A word, what stands behind its "=", and both as they were written.
  struct pair {
    std::string name{}, value{}, written{};
    bool has_value = false;
  };
  [[gnu::cold]] pair read_pair() {
    pair p{.name = in_.word()};
    p.has_value = in_.take('=');
    if (p.has_value && !in_.value(p.value)) complain("a quoted value has no closing '\"'");
    p.written = p.has_value ? p.name + '=' + p.value : p.name;
    return p;
  }

  /// Returns what it read, for the complaint about what follows it. A setting with something behind
  /// it that is no part of it is skipped.
  [[gnu::cold]] std::string read_setting() {
    const std::string_view rest = in_.rest();
    pair p = read_pair();
    if (!p.has_value && in_.take('(')) return read_output(p.name);
    if (!in_.stands_at(",")) return p.written;
    if (p.written.empty()) complain("a setting is missing before \"" + printable(rest, 20) + '"');
    else if (find_output(p.name) != nullptr) switch_output(p);
    else if (const option* of = find_setting(p)) set(*of, p);
    else complain_of_setting(p.written);
    return p.written;
  }

  static const option* find_setting(const pair& p) noexcept {
    for (const option& o : settings_table)
      if (p.name == o.name && (o.kind != option_kind::mark || !p.has_value)) return &o;
    return nullptr;
  }
  [[gnu::cold]] void set(const option& of, const pair& p) {
    option_reading reading = read_option(of, p.value);
    if (!reading.complaint.empty()) complain(std::move(reading.complaint));
    if (reading.valid) of.store(&out_.value, reading.value);
  }
  [[gnu::cold]] void complain_of_setting(const std::string& written) {
    complain("unknown setting '" + shown(written) + "'; valid: " + settings_list() + "; " +
             how_to_add("NAME"));
  }

  // ---- outputs

  /// "csv" and "csv=on" ask for an output with its defaults, "csv=off" for none.
  [[gnu::cold]] void switch_output(const pair& p) {
    bool wanted = false;
    std::vector<output_request>& all = out_.value.outputs;
    const auto is_it = [&](const output_request& r) { return r.output == p.name; };
    if (!read_flag(p.value, wanted))
      complain(shown(p.written) + " is unknown; valid: " + p.name + "=on, " + p.name + "=off, " +
               p.name + "(...)");
    else if (!wanted) all.erase(std::remove_if(all.begin(), all.end(), is_it), all.end());
    else if (std::none_of(all.begin(), all.end(), is_it)) all.push_back({p.name});
  }

  [[gnu::cold]] std::string read_output(const std::string& name) {
    const output* const what = find_output(name);
    const std::string written = name + "(...)";
    if (what == nullptr) complain(unknown_output(name).message);
    output_request request{name};
    std::vector<option_value> values;
    bool has_options = false;
    while (!in_.at_end() && !in_.take(')')) {
      pair p = read_pair();
      if (what != nullptr && p.has_value) read_rest_of_list(*what, p);
      if (!in_.stands_at(",)"))
        skip_unexpected(p.written, " in " + shown(written), "options", ",)");
      else if (what != nullptr) read_output_option(*what, p, request, values);
      has_options = true;
      if (in_.take(')')) break;
      if (!in_.take(',')) complain(shown(name) + "( has no closing ')'");
    }
    const bool only_mistakes = has_options && request.options.empty();
    if (what != nullptr) add(std::move(request), values, only_mistakes);
    return written;
  }

  /// Behind the value of a list, words without "=" that are no options go on with it: `fold=K,Skv`.
  [[gnu::cold]] void read_rest_of_list(const output& what, pair& p) {
    const option* const of = find_option(what, p.name);
    if (of == nullptr || of->kind != option_kind::list) return;
    for (;;) {
      settings_text ahead = in_;
      if (!ahead.take(',')) return;
      const std::string word = ahead.word();
      if (word.empty() || !ahead.stands_at(",)") || find_option(what, word) != nullptr) return;
      p.value += '+' + word;
      p.written += ',' + word;
      in_ = ahead;
    }
  }

  [[gnu::cold]] void read_output_option(const output& what, const pair& p, output_request& request,
                                        std::vector<option_value>& values) {
    const option* const of = find_option(what, p.name);
    const bool is_right = of != nullptr && (p.has_value || needs_no_value(*of));
    if (!is_right) return complain(unknown_option(what, p.written).message);
    option_reading reading = read_option(*of, p.value);
    if (!reading.complaint.empty()) complain(std::move(reading.complaint));
    if (!reading.valid) return;
    request.options.push_back({p.name, p.value});
    values.push_back(std::move(reading.value));
  }

  /// The first report is the session's own: what report() prints without being told how. It comes
  /// all the same where its options are mistakes; other requests of this kind are left out.
  [[gnu::cold]] void add(output_request request, const std::vector<option_value>& values,
                         bool only_mistakes) {
    std::vector<output_request>& all = out_.value.outputs;
    const bool is_main = request.output == report_output.name &&
                         std::none_of(all.begin(), all.end(), [](const output_request& r) {
                           return r.output == report_output.name;
                         });
    if (only_mistakes && !is_main) return;
    // A request without options stands for the session's own report: another says where it goes.
    if (!is_main && request.output == report_output.name && request.options.empty())
      request.options.push_back({path_option.name, ""});
    std::vector<std::string> paths;
    for (const output_request& r : all)
      static_cast<void>(take_path(paths, is_main_report(r) ? out_.value.report.path : path_of(r)));
    if (status s = take_path(paths, path_of(request)); !s) return complain(std::move(s.message));
    if (is_main) {
      for (const option_value& value : values)
        if (value.of == &path_option) out_.value.report.path = value.text;
        else value.of->store(&out_.value.report, value);
      request.options.clear();
    }
    all.push_back(std::move(request));
  }

  // ---- complaints: a line each, which a terminal shows and does not obey, whatever the text holds

  [[gnu::cold]] void skip_unexpected(const std::string& what, const std::string& where,
                                     const std::string& these, std::string_view any_of) {
    const std::string_view rest = in_.rest();
    const std::string_view character = rest.substr(0, std::max(1U, first_character(rest).size));
    complain(
        "unexpected '" + printable(character, 12) + "' after \"" + shown(what) + '"' + where +
        "; " + these + " are separated by commas" +
        (rest[0] == '(' ? ", and a value with parentheses or commas goes in double quotes" : ""));
    in_.skip_to(any_of);
  }
  [[gnu::cold]] void complain(std::string what) {
    if (out_.errors.size() < most_mistakes_told) out_.errors.push_back(std::move(what));
    else ++more_mistakes_;
  }
  static constexpr std::size_t most_mistakes_told = 19;

  settings_text in_;
  parsed_settings out_;
  std::uint64_t more_mistakes_ = 0;
};

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION parsed_settings settings::parse(std::string_view text) {
  return detail::settings_parser(text).run();
}

KPROF_DETAIL_END

#endif  // <kprof/session/settings_parser.hpp>

#endif

#endif  // <kprof/settings.hpp>

#if !KPROF_SESSION_ELSEWHERE

// <kprof/session/exit_outputs.hpp>
#ifndef KPROF_SESSION_EXIT_OUTPUTS_HPP
#define KPROF_SESSION_EXIT_OUTPUTS_HPP

// The outputs that are written when the program ends: which KPROF and the program ask for, and how
// they are written. Included by the session. The session calls these without its lock.

#include <algorithm>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What is written, and what the request {"report"} stands for.
struct exit_outputs {
  std::vector<output_request> requests;
  report_options report;
};

inline bool asks_for_main_report(const settings& s) noexcept {
  return std::any_of(s.outputs.begin(), s.outputs.end(), &is_main_report);
}

/// All that KPROF asks for, then what only the program asks for. The report is as KPROF says where
/// KPROF asks for it, whatever the program has set meanwhile.
inline exit_outputs outputs_at_exit(const settings& program, const settings& environment) {
  exit_outputs out{environment.outputs,
                   asks_for_main_report(environment) ? environment.report : program.report};
  for (const output_request& request : program.outputs)
    if (std::find(out.requests.begin(), out.requests.end(), request) == out.requests.end())
      out.requests.push_back(request);
  return out;
}

[[gnu::cold]] inline status write_report_to_its_path(const profile& run,
                                                     const report_options& options,
                                                     write_time when) {
  destination to(expand_path(options.path), when);
  report_options with_color = options;
  if (!options.color) with_color.color = to.takes_color();
  std::string text;
  if (status s = write_text(run, with_color, text); !s) return s;
  static_cast<void>(to.append(text));
  return to.close();
}

/// The child of a fork does not write over its parent's file: its path gets the process id, where
/// the settings do not put it anywhere themselves. What is no file, such as a pipe, is shared.
[[gnu::cold]] inline std::string path_in_child(std::string path) {
  if (path.empty() || path.find("%p") != std::string::npos) return path;
  const file_place place = find_place(path);
  const bool is_file = place.descriptor < 0 && (!place.exists || S_ISREG(place.there.st_mode));
  return is_file ? path + ".%p" : path;
}
[[gnu::cold]] inline void keep_apart_from_parent(settings& s) noexcept {
  const bool had_memory = attempt([&] {
    s.report.path = path_in_child(s.report.path);
    for (output_request& request : s.outputs)
      for (option_setting& given : request.options)
        if (given.name == path_option.name) given.value = path_in_child(given.value);
  });
  if (had_memory) return;
  s.report.path.clear();
  s.outputs.clear();
}

/// Writes one output after the other. A mistake concerns its output alone and is a line on standard
/// error: nobody is left to read a status.
[[gnu::cold]] inline void write_at_exit(const profile& run, const exit_outputs& wanted,
                                        bool report_is_printed) {
  std::vector<std::string> paths;
  for (const output_request& request : wanted.requests) {
    const bool is_main = is_main_report(request);
    const std::string path = is_main ? wanted.report.path : path_of(request);
    status s = take_path(paths, path);
    if (s && is_main && report_is_printed) continue;
    if (s)
      s = is_main ? write_report_to_its_path(run, wanted.report, write_time::at_exit)
                  : write_to_its_path(run, request.output, request.options, write_time::at_exit);
    if (!s) tell({shown(request.output), ": ", s.message});
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/exit_outputs.hpp>

#if KPROF_ENABLE

// <kprof/session/find_session.hpp>
#ifndef KPROF_SESSION_FIND_SESSION_HPP
#define KPROF_SESSION_FIND_SESSION_HPP

// Finds the session of the process by way of the hub, or makes it.

// <kprof/session/session_state.hpp>
#ifndef KPROF_SESSION_SESSION_STATE_HPP
#define KPROF_SESSION_SESSION_STATE_HPP

// The session of the process: made by the first module that asks for it, which owns it, and never
// freed. The others find it through the hub and call the owner's functions. Every function locks
// what it needs, in the order that docs/architecture.md gives under "Locks". Without memory they
// throw std::bad_alloc; callers turn that into an error.

// <kprof/attribute/build.hpp>
#ifndef KPROF_ATTRIBUTE_BUILD_HPP
#define KPROF_ATTRIBUTE_BUILD_HPP

// Makes a profile of what the recorder holds: ticks become nanoseconds, parameter bytes become
// typed values. Linear in the number of call-tree nodes; the scopes themselves were folded before.
// No clock is read here.

// <kprof/attribute/attribution.hpp>
#ifndef KPROF_ATTRIBUTE_ATTRIBUTION_HPP
#define KPROF_ATTRIBUTE_ATTRIBUTION_HPP

// Joins what devices did to the scopes that launched it. Threads note launches in their logs;
// activities come later and in any order. Attribution matches the two by correlation id and adds
// each activity to the totals of the launching thread. It knows no collector in particular. Its
// memory is bounded; an activity that never finds its launch is counted and listed by name.

// <kprof/attribute/device_rows.hpp>
#ifndef KPROF_ATTRIBUTE_DEVICE_ROWS_HPP
#define KPROF_ATTRIBUTE_DEVICE_ROWS_HPP

// From an activity to the row of the totals that counts it, and to what the row adds up. Pure.

// <kprof/collect/activity.hpp>
#ifndef KPROF_COLLECT_ACTIVITY_HPP
#define KPROF_COLLECT_ACTIVITY_HPP

// What passes between a collector and the session: plain records of device work, and the functions
// that a collector calls to report it. Nothing outside collect/ knows CUPTI; another source of
// records is another collector.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

enum class activity_kind : std::uint8_t { kernel, copy, set, synchronization, overhead, odd };

/// One thing a device did, or a host call that waited for it. Times are CLOCK_REALTIME nanoseconds.
struct activity {
  activity_kind kind = activity_kind::odd;
  std::uint8_t direction = 0;  // of a copy: a copy_direction
  std::uint8_t from = 0;       // of a copy: a memory_place
  std::uint8_t to = 0;         // of a copy or a set: a memory_place
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  // of the call that launched it; all activities of a graph have the id of the graph's launch
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;         // before start, or 0: there is no timing
  std::uint64_t graph_node = 0;  // of the executable graph; 0: launched by itself
  std::uint64_t bytes = 0;       // copied or set
  const char* name = nullptr;    // of a kernel, mangled; valid while the record is read
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t static_shared = 0;   // bytes a block
  std::uint32_t dynamic_shared = 0;  // bytes a block
  std::uint32_t registers = 0;       // a thread

  bool timed() const noexcept { return start != 0 && end >= start; }
};

/// A device as its driver describes it.
struct device_description {
  std::uint32_t id = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_per_s = 0;
  std::uint64_t clock_hz = 0;
  const char* name = nullptr;
};

/// What a call launches.
enum class launch_kind : std::uint8_t { kernel, transfer, graph };

/// What a collector could not pass on.
enum class loss : std::uint8_t {
  records,          // dropped
  cut_buffers,      // of records, each from the middle on
  foreign_buffers,  // of records, which another client of the same source asked for
  launch_ids,       // of launches with very many
};

/// What a collector calls. The first group is called on the program's own threads, from within its
/// CUDA calls; the second on the thread that reads records, one thread at a time.
struct device_listener {
  std::uint64_t (*now)() noexcept;  // a time stamp for `launched`
  /// A call that launches work and began at `when` has succeeded. It may have several correlation
  /// ids: its own and those of the calls that it made.
  void (*launched)(const std::uint32_t* correlations, std::uint32_t count, std::uint64_t when,
                   launch_kind what) noexcept;
  // in a graph that is being built or captured
  void (*graph_node_made)(std::uint64_t node, bool does_work) noexcept;
  void (*graph_node_copied)(std::uint64_t node, std::uint64_t original) noexcept;
  /// A node of an executable graph runs what `original` does, from the next launch on.
  void (*graph_node_updated)(std::uint64_t node, std::uint64_t original) noexcept;
  void (*graph_node_destroyed)(std::uint64_t node) noexcept;
  void (*context_made)() noexcept;  // the program begins to use a device

  void (*begin_reading)() noexcept;
  void (*read)(const activity* some, std::size_t count) noexcept;
  void (*describe)(const device_description& device) noexcept;
  void (*lost)(loss what, std::uint64_t how_many) noexcept;
  void (*end_reading)() noexcept;
};

/// A source of activities. The caller lets no two of these functions run at once, but for
/// version(), notes() and memory().
struct collector_api {
  /// Begins to collect, with `memory` bytes for records that have not been read. A failure is
  /// final.
  status (*start)(const device_listener& listener, std::size_t memory);
  /// Reads the records of all work launched so far, waiting for the devices. False where it could
  /// not wait, so that some may be missing.
  bool (*flush)();
  bool (*stop)();              // the same, and ends collecting
  bool (*end)();               // as stop, and for good: the program ends
  void (*abandon)() noexcept;  // in the child of a fork, where no device can be used
  std::string (*version)();
  std::vector<std::string> (*notes)();  // what a report should say of the collector, a line each
  std::size_t (*memory)() noexcept;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/collect/activity.hpp>

// <kprof/record/device_totals.hpp>
#ifndef KPROF_RECORD_DEVICE_TOTALS_HPP
#define KPROF_RECORD_DEVICE_TOTALS_HPP

// What the devices did for one thread's scopes: a row for each kernel and launch configuration, or
// kind of copy, under a node of the thread's call tree, with counts and sums that stay exact for a
// run of any length. Guarded by its thread_log's lock.

// <kprof/record/call_tree.hpp>
#ifndef KPROF_RECORD_CALL_TREE_HPP
#define KPROF_RECORD_CALL_TREE_HPP

// The totals of one thread: a tree whose nodes are (call site, parameters) under a parent, with
// counts, sums, extremes and a histogram that stay exact for a run of any length. Folding a log
// into it costs a comparison or two a scope. Guarded by its thread_log's lock.

// <kprof/record/folded.hpp>
#ifndef KPROF_RECORD_FOLDED_HPP
#define KPROF_RECORD_FOLDED_HPP

// What folding a log yields beside the call tree: the scopes that are open, launches, counts.

// <kprof/record/log_words.hpp>
#ifndef KPROF_RECORD_LOG_WORDS_HPP
#define KPROF_RECORD_LOG_WORDS_HPP

// What a thread's log is made of: words of 8 bytes. The first of a record tells what it is:
//   bit 63 set: the innermost scope ended; the other bits are the time
//   bit 63 clear: bits 0-31 subject, 32-47 payload bytes, 48-55 kind; the second word is the time,
//   the payload follows

// <kprof/record/open_scopes.hpp>
#ifndef KPROF_RECORD_OPEN_SCOPES_HPP
#define KPROF_RECORD_OPEN_SCOPES_HPP

// The tokens of the scopes that are open on one thread, and which of the tokens given out before
// are stale. Opening and closing in order is an addition and a subtraction; only an end out of
// order looks further. For the thread itself; no other may touch it.

#include <algorithm>
#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// How many scopes are open with this one, itself included. A chunk holds the ends of all open
/// scopes, so no more than 4096 are ever open on a thread.
constexpr std::uint16_t depth_of(scope_token token) noexcept {
  return static_cast<std::uint16_t>(token);
}
/// How often scopes had ended out of order when the token was given out, modulo 65536.
constexpr std::uint16_t epoch_of(scope_token token) noexcept {
  return static_cast<std::uint16_t>(token >> 16U);
}

class open_scopes {
 public:
  /// Instead of the innermost scope's token while the log is being changed, and in a log that is
  /// nobody's. No scope has it.
  static constexpr scope_token changing = ~scope_token{0};

  constexpr open_scopes() noexcept = default;
  /// `innermost`: the token that the first scope's token comes after.
  constexpr explicit open_scopes(scope_token innermost) noexcept : innermost_(innermost) {}

  /// Begins anew for the log of this number, which all tokens carry.
  void restart(std::uint32_t log_number) noexcept {
    cuts_size_ = 0;
    set_innermost(scope_token{log_number} << 32U);
  }

  scope_token innermost() const noexcept { return __atomic_load_n(&innermost_, __ATOMIC_RELAXED); }
  std::uint16_t depth() const noexcept { return depth_of(innermost()); }

  /// The thread is about to append to its log. Until it sets the innermost scope again, a signal's
  /// handler that interrupts it has no scope to close and, at this depth, no room for another one.
  void begin_change() noexcept {
    __atomic_store_n(&innermost_, changing, __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  bool is_changing() const noexcept { return innermost() == changing; }
  /// Ends a change.
  void set_innermost(scope_token innermost) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    __atomic_store_n(&innermost_, innermost, __ATOMIC_RELAXED);
  }

  /// Opens a scope in the one of token `around`.
  scope_token open(scope_token around) noexcept {
    set_innermost(around + 1);
    return around + 1;
  }
  scope_token open() noexcept { return open(innermost()); }
  /// Closes the innermost scope, whose token is `innermost`.
  void close_innermost(scope_token innermost) noexcept { set_innermost(innermost - 1); }

  /// Whether `token` names a scope that is open. A scope that ended with the one around it is not
  /// open, whatever has been opened at its depth since.
  bool is_open(scope_token token) const noexcept {
    if (token >> 32U != innermost() >> 32U || depth_of(token) > depth() || depth_of(token) == 0)
      return false;
    // Cuts are ordered by depth, so the first one after the token was given out cut the most.
    for (std::uint32_t i = 0; i < cuts_size_; ++i)
      if (static_cast<std::int16_t>(cuts_[i].epoch - epoch_of(token)) > 0)
        return depth_of(token) < cuts_[i].depth;
    return true;
  }

  /// Closes the scope of this depth and all scopes inside it. Where there are any, their tokens
  /// become stale.
  void close_from(std::uint16_t depth_closed) noexcept {
    const bool scopes_inside = depth_closed < depth();
    const scope_token around = innermost() - (depth() - depth_closed + 1U);
    set_innermost(around);
    if (!scopes_inside) return;
    const auto epoch = static_cast<std::uint16_t>(epoch_of(around) + 1);
    while (cuts_size_ != 0 && cuts_[cuts_size_ - 1].depth >= depth_closed) --cuts_size_;
    // Epochs go round. A cut is forgotten, and with it which tokens are stale, before its own epoch
    // comes again.
    const bool oldest_expires =
        cuts_size_ != 0 && static_cast<std::uint16_t>(epoch - cuts_[0].epoch) > 0x4000U;
    if (cuts_size_ == max_cuts || oldest_expires) std::copy(cuts_ + 1, cuts_ + cuts_size_--, cuts_);
    cuts_[cuts_size_++] = {epoch, depth_closed};
    set_innermost((around & ~scope_token{0xFFFF0000U}) | scope_token{epoch} << 16U);
  }

 private:
  /// An end out of order.
  struct cut {
    std::uint16_t epoch;  // that began with it
    std::uint16_t depth;  // scopes from here on ended
  };
  // With more, late ends of the outermost scopes are no longer told from others.
  static constexpr std::uint32_t max_cuts = 64;

  scope_token innermost_ = 0;
  std::uint32_t cuts_size_ = 0;
  cut cuts_[max_cuts] = {};  // later ones are deeper
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/open_scopes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

enum class record_kind : std::uint8_t {
  begin,   // subject: call site
  folded,  // a begin that is in the totals; subject: node of the call tree
  end_to,  // subject: depth; that scope and all inside it ended
  adopt,   // subject: path; what follows belongs under it
  // subject: correlation id of work launched on a device, under the innermost scope; payload: its
  // other ids
  kernel_launch,
  transfer_launch,  // of a copy or a memset, which does nothing where there are no bytes
  graph_launch,
  ignored_launch,  // of any of them, while nothing was being recorded
};

inline constexpr std::uint32_t record_header = 16;
inline constexpr std::uint32_t max_launch_ids = 32;
inline constexpr std::uint64_t end_bit = std::uint64_t{1} << 63U;

/// The first word of a record.
constexpr std::uint64_t record_word(record_kind kind, std::uint32_t subject,
                                    std::uint32_t payload_bytes) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 48U |
         std::uint64_t{payload_bytes} << 32U | subject;
}
constexpr record_kind kind_of(std::uint64_t word) noexcept {
  return static_cast<record_kind>(word >> 48U & 0xFFU);
}
constexpr std::uint32_t payload_bytes_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32U & 0xFFFFU);
}
constexpr std::size_t record_size(std::uint64_t word) noexcept {
  return record_header + (payload_bytes_of(word) + 7U) / 8U * 8U;
}

constexpr bool is_begin(std::uint64_t word) noexcept {
  static_assert(static_cast<int>(record_kind::begin) == 0);
  return word >> 48U == 0;
}
/// The first word of a begin once it is in the totals.
constexpr std::uint64_t folded_word(std::uint64_t begin, std::uint32_t node) noexcept {
  return (begin >> 32U << 32U) | record_word(record_kind::folded, node, 0);
}

inline void put(char* at, std::uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }
inline std::uint64_t get(const char* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// What begin and end touch: one cache line of the thread's own. What follows is for ends out of
/// order.
struct alignas(64) log_head {
  /// Where the next record goes; for the thread itself.
  char* next_record() const noexcept { return cursor.load(std::memory_order_relaxed); }
  /// Makes the records up to `up_to` visible to the reader.
  void publish(char* up_to) noexcept { cursor.store(up_to, std::memory_order_release); }
  /// How far the records are visible; for the reader.
  char* published() const noexcept { return cursor.load(std::memory_order_acquire); }

  std::atomic<char*> cursor = nullptr;
  char* limit = nullptr;             // of the chunk
  std::uint64_t emitted = 0;         // bit d: a tool was sent the open scope at depth d < 64
  std::uint32_t emitted_deeper = 0;  // how many deeper ones it was sent
  open_scopes scopes;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/log_words.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A scope that folding has seen begin and not end.
struct open_frame {
  std::uint32_t node;
  bool adopted;               // an adopted context and not a scope
  std::uint64_t start;        // ticks
  std::uint64_t child_ticks;  // spent in scopes inside it
  bool launched = false;      // work on a device
  std::uint32_t path = 0;     // of its node; 0 until somebody asks
  std::uint64_t graph = 0;    // number, plus 1, of the last graph that work was captured into
};

/// A call that launched work on a device, as folding found it.
struct launch_note {
  static constexpr std::uint32_t ignored = ~std::uint32_t{0};

  std::uint32_t correlation;
  bool alias;            // another id of the call before it
  record_kind kind;      // what it launched
  std::uint32_t path;    // of the scopes around it; 0: none; `ignored`: nothing was being recorded
  std::uint32_t thread;  // number of the thread's log
  std::uint64_t ticks;   // when the call began
};

/// Adds a note for each id of the launch that is recorded at `at` in a log.
inline void append_notes(const char* at, std::uint32_t path, std::uint32_t thread,
                         std::vector<launch_note>& out) {
  const std::uint64_t word = get(at);
  launch_note note{
      static_cast<std::uint32_t>(word), false, kind_of(word), path, thread, get(at + 8)};
  out.push_back(note);
  note.alias = true;
  const std::uint32_t payload = payload_bytes_of(word);
  for (std::uint32_t i = 0; i < payload; i += sizeof note.correlation) {
    std::memcpy(&note.correlation, at + record_header + i, sizeof note.correlation);
    out.push_back(note);
  }
}

/// The place of a captured graph node in the call tree, as a plain value.
struct captured_scope {
  /// Not known: kprof does not know where the node was captured, or had no memory to note it.
  static constexpr std::uint32_t unknown_path = ~std::uint32_t{0};

  std::uint32_t path = 0;
  // how many scopes, from the innermost outwards, have this node as their first work in the graph
  std::uint32_t scopes_started_here = 0;
};

/// What a log has counted since the recording began.
struct log_counts {
  std::uint64_t finished = 0;          // scopes
  std::uint64_t dropped = 0;           // scopes that found no room
  std::uint64_t closed_by_parent = 0;  // scopes
  std::uint64_t never_closed = 0;      // scopes of the threads whose totals were moved here
  std::uint64_t merged_threads = 0;    // ended threads whose totals were moved here
  std::uint64_t launches_lost = 0;     // that found no room

  /// Adds what an ended thread's log has counted.
  void add(const log_counts& other) noexcept {
    finished += other.finished;
    dropped += other.dropped;
    closed_by_parent += other.closed_by_parent;
    never_closed += other.never_closed;
    merged_threads += other.merged_threads;
    launches_lost += other.launches_lost;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/folded.hpp>

// <kprof/record/op_info.hpp>
#ifndef KPROF_RECORD_OP_INFO_HPP
#define KPROF_RECORD_OP_INFO_HPP

// What the session keeps of operators and call sites: copies, so that a shared library may be
// unloaded. Only the formulas stay where they are; they are run when a set of parameters is first
// seen, and the library's leaving waits for that.

// <kprof/declare/division_trap.hpp>
#ifndef KPROF_DECLARE_DIVISION_TRAP_HPP
#define KPROF_DECLARE_DIVISION_TRAP_HPP

// Runs what operators declare and what may divide by zero: formulas, and the text of a call. kprof
// evaluates them for the profile, at a time when the program does not call them: a SIGFPE from one
// must not end the program.

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>

#include <atomic>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL division_trap {
 public:
  using formulas = void (*)(const void*, work&) noexcept;

  /// Evaluates, and removes its signal handler afterwards, since the module with this code may be
  /// unloaded. The caller lets one thread in at a time. Where SIGFPE stops a formula, `out` says
  /// that the declared formulas have no valid value.
  static void run(formulas evaluate, const void* params, work& out) noexcept {
    if (!runs([&] { evaluate(params, out); })) out = without_value();
  }
  /// Any function that does not throw and leaves nothing behind that it would have to undo; false
  /// where SIGFPE stops it.
  template <class Function>
  static bool runs(Function function) noexcept {
    const bool is_new = install(false);
    const bool ended = ends(function);
    const handler_lock lock;
    if (is_new && !keeps_handler_) remove();
    return ended;
  }
  /// The same from any number of threads at once. Leaves the handler installed: for a module that
  /// is never unloaded.
  static void run_keeping_handler(formulas evaluate, const void* params, work& out) noexcept {
    static_cast<void>(install(true));
    if (!ends([&] { evaluate(params, out); })) out = without_value();
  }

 private:
  /// Guards the process's handler, previous_ and keeps_handler_. Spins, since its holders do no
  /// more than a system call, and gives up after a while: in the child of a fork the thread that
  /// holds it may not exist.
  struct handler_lock {
    handler_lock() noexcept {
      for (int i = 0; i < 10'000'000 && locked_.exchange(true, std::memory_order_acquire); ++i) {}
    }
    ~handler_lock() { locked_.store(false, std::memory_order_release); }
    handler_lock(const handler_lock&) = delete;
    handler_lock& operator=(const handler_lock&) = delete;
  };

  /// False where the handler is installed already.
  static bool install(bool keep) noexcept {
    const handler_lock lock;
    keeps_handler_ = keeps_handler_ || keep;
    struct sigaction ours {
    }, before{};
    ours.sa_sigaction = &handler;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGFPE, &ours, &before);
    if (is_ours(before)) return false;
    previous_ = before;
    return true;
  }
  /// Puts the previous handler back, unless the program has installed another one meanwhile.
  static void remove() noexcept {
    struct sigaction current {};
    sigaction(SIGFPE, nullptr, &current);
    if (!is_ours(current)) return;
    sigaction(SIGFPE, &previous_, &current);
    if (!is_ours(current)) sigaction(SIGFPE, &current, nullptr);  // installed between the two calls
  }
  static bool is_ours(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handler;
  }

  /// That the declared formulas have no valid value.
  static work without_value() noexcept {
    work out{};
    out.has_flops = out.has_bytes = 1;
    return out;
  }

  template <class Function>
  static bool ends(Function function) noexcept {
    sigset_t division, mask;  // a fault whose signal is blocked ends the process
    sigemptyset(&division);
    sigaddset(&division, SIGFPE);
    pthread_sigmask(SIG_UNBLOCK, &division, &mask);
    // A handler starts with the default rounding and exceptions, and siglongjmp() keeps them.
    fenv_t arithmetic;
    fegetenv(&arithmetic);
    sigjmp_buf back;
    volatile bool ended = false;
    if (sigsetjmp(back, 0) == 0) {
      jump_ = &back;
      function();
      ended = true;
    } else {
      fesetenv(&arithmetic);
    }
    jump_ = nullptr;
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    return ended;
  }

  static void handler(int signal, siginfo_t* info, void* context) noexcept {
    if (jump_ != nullptr) siglongjmp(*jump_, 1);
    // A fault of the program's own, or a signal that was sent: the previous handler's.
    if ((previous_.sa_flags & SA_SIGINFO) != 0)
      return previous_.sa_sigaction(signal, info, context);
    if (previous_.sa_handler != SIG_DFL && previous_.sa_handler != SIG_IGN)
      return previous_.sa_handler(signal);
    const bool ignored = previous_.sa_handler == SIG_IGN;
    sigaction(SIGFPE, &previous_, nullptr);  // a fault happens again, and ends the program
    if (info->si_code <= 0 && !ignored) raise(signal);
  }
  KPROF_DETAIL_LOCAL static inline thread_local sigjmp_buf* jump_ = nullptr;
  KPROF_DETAIL_LOCAL static inline struct sigaction previous_ {};
  KPROF_DETAIL_LOCAL static inline std::atomic<bool> locked_{false};
  KPROF_DETAIL_LOCAL static inline bool keeps_handler_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/declare/division_trap.hpp>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct enumerator_info {
  std::int64_t value;
  std::string name;
};

/// A copy of a field_desc.
struct field_info {
  std::string name;
  std::uint32_t offset;
  std::uint32_t size;
  std::uint32_t extent;
  field_kind kind;
  bool is_signed;  // kind == enumeration
  std::vector<field_info> nested;
  std::vector<enumerator_info> enumerators;
};

inline std::string copy(text_view t) { return {t.data, t.size}; }

inline bool same_fields(const std::vector<field_info>& a, const std::vector<field_info>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const field_info &x = a[i], &y = b[i];
    if (x.name != y.name || x.offset != y.offset || x.size != y.size || x.extent != y.extent ||
        x.kind != y.kind || x.is_signed != y.is_signed)
      return false;
    if (!same_fields(x.nested, y.nested) || x.enumerators.size() != y.enumerators.size())
      return false;
    for (std::size_t e = 0; e < x.enumerators.size(); ++e)
      if (x.enumerators[e].value != y.enumerators[e].value ||
          x.enumerators[e].name != y.enumerators[e].name)
        return false;
  }
  return true;
}

inline std::vector<field_info> copy_fields(const struct_desc& from) {
  std::vector<field_info> out;
  for (std::uint32_t i = 0; i < from.field_count; ++i) {
    const field_desc& f = from.fields[i];
    field_info info{copy(f.name), f.offset, f.size,
                    f.extent,     f.kind,   f.enumerators != nullptr && f.enumerators->is_signed,
                    {},           {}};
    if (f.nested != nullptr) info.nested = copy_fields(*f.nested);
    if (f.enumerators != nullptr)
      for (std::uint32_t e = 0; e < f.enumerators->size; ++e)
        info.enumerators.push_back(
            {f.enumerators->list[e].value, copy(f.enumerators->list[e].name)});
    out.push_back(std::move(info));
  }
  return out;
}

/// A stretch of parameter bytes that carry a value; what lies between is padding.
struct byte_run {
  std::uint32_t offset;
  std::uint32_t size;
};

/// Bytes of a value of this kind: x87 long double has 10 in 16.
inline std::uint32_t value_bytes(const field_info& f) noexcept {
#if defined(__x86_64__)
  if (f.kind == field_kind::floating && f.size == 16) return 10;
#endif
  return f.size;
}

inline void add_runs(std::vector<byte_run>& runs, const std::vector<field_info>& fields,
                     std::uint32_t base) {
  for (const field_info& f : fields) {
    const std::uint32_t elements = f.extent == 0 ? 1 : f.extent;
    for (std::uint32_t e = 0; e < elements; ++e) {
      const std::uint32_t at = base + f.offset + e * f.size;
      if (f.kind == field_kind::aggregate) add_runs(runs, f.nested, at);
      else if (!runs.empty() && runs.back().offset + runs.back().size == at)
        runs.back().size += value_bytes(f);
      else runs.push_back({at, value_bytes(f)});
    }
  }
}

/// Bytes of a presentation up to the end of its text; 0 where it says nothing.
inline std::uint32_t used_bytes(const presentation& p) noexcept {
  const bool empty = p.unshown == 0 && p.beside == 0 && p.size == 0 && p.failed == 0;
  return empty ? 0 : static_cast<std::uint32_t>(__builtin_offsetof(presentation, text)) + p.size;
}
/// From these bytes.
inline presentation to_presentation(const char* bytes, std::uint32_t size) noexcept {
  presentation out{};
  if (size != 0) std::memcpy(static_cast<void*>(&out), bytes, size);
  return out;
}

/// An operator as the session knows it: declared by one or more binaries, the same in name and
/// layout.
class op_info {
 public:
  explicit op_info(const op_desc& from)
      : declared_name(copy(from.name())),
        name(declared_name),
        params_size(from.params_size),
        fields(copy_fields(from.params())),
        defaults(params_size, '\0') {
    add_runs(runs_, fields, 0);
    packed = params_size == 0 ||
             (runs_.size() == 1 && runs_[0].offset == 0 && runs_[0].size == params_size);
    if (params_size != 0)
      canonical(static_cast<const char*>(from.params().defaults), defaults.data());
  }

  /// The same operator, declared in another binary or in this one: same name, size and fields, and
  /// no other formulas from the same binary, for then they are two that share a name, of two
  /// namespaces for instance.
  bool is(const op_info& other, const module_record* home, const op_desc& desc) const {
    if (declared_name != other.declared_name || params_size != other.params_size ||
        !same_fields(fields, other.fields))
      return false;
    for (const evaluator& e : evaluators_)
      if (e.home == home && e.evaluate != desc.evaluate) return false;
    return true;
  }

  /// Copies the bytes that carry values and zeroes the others, so that equal parameters are equal
  /// bytes.
  void canonical(const char* from, char* to) const noexcept {
    std::memset(to, 0, params_size);
    for (const byte_run& r : runs_) std::memcpy(to + r.offset, from + r.offset, r.size);
  }

  /// The formulas' values for canonical parameters (aligned for any type), invalid where a formula
  /// divides by zero; and how the parameters are shown. Both are zero where nothing is known.
  void evaluate(const char* params, work& values, presentation& shown) const noexcept {
    if (evaluators_.empty()) return;
    const evaluator& last = evaluators_.back();
    division_trap::run(last.evaluate, params, values);
    if (last.present == nullptr) return;
    if (division_trap::runs([&] { last.present(params, shown); })) return;
    shown = {};
    shown.failed = 1;
  }

  void add_evaluator(const module_record* home, const op_desc& desc) {
    for (const evaluator& e : evaluators_)
      if (e.home == home) return;
    evaluators_.push_back({home, desc.evaluate, desc.present});
  }
  void remove_evaluators(const module_record* home) noexcept {
    std::size_t kept = 0;
    for (const evaluator& e : evaluators_)
      if (e.home != home) evaluators_[kept++] = e;
    evaluators_.resize(kept);
  }

  std::string declared_name;
  std::string name;  // as shown: with a number when another operator is called the same
  std::uint32_t params_size;
  std::vector<field_info> fields;
  std::string defaults;  // parameters of a value-initialised object
  bool packed = false;   // no padding: bytes as they are

 private:
  struct evaluator {
    const module_record* home;
    void (*evaluate)(const void*, work&) noexcept;
    void (*present)(const void*, presentation&) noexcept;
  };
  std::vector<byte_run> runs_;
  std::vector<evaluator> evaluators_;
};

/// A call site, or the place of an operator's guards that have none.
struct site_info {
  op_info* op = nullptr;  // nullptr: a region
  std::string file;
  std::uint32_t line = 0;
};

/// All call sites seen, by number. Numbers are given under a lock and read without: an entry never
/// moves or changes, but for the formulas of its operator, which change under `mutex()` and are run
/// under it.
class site_table {
 public:
  /// What a replay of a CUDA graph stands under in the call tree; its payload is its name.
  static constexpr std::uint32_t graph_site = 1;

  site_table() { static_cast<void>(add({})); }
  ~site_table() {
    for (const auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
  }
  site_table(const site_table&) = delete;
  site_table& operator=(const site_table&) = delete;

  /// The number of a call site, given at its first scope; 0 when there are a million. Sites of a
  /// library that was loaded again get their old one.
  std::uint32_t number_of(site& where) {
    const std::lock_guard lock(mutex_);
    if (const std::uint32_t known =
            std::atomic_ref<std::uint32_t>(where.id).load(std::memory_order_relaxed))
      return known;
    op_info* op = where.op == nullptr ? nullptr : &intern(*where.op, where.home);
    std::string file = where.file == nullptr ? std::string{} : std::string{where.file};
    std::string key = file + '\n' + std::to_string(where.line) + '\n' +
                      std::to_string(reinterpret_cast<std::uintptr_t>(op));
    std::uint32_t& id = numbers_[std::move(key)];
    if (id == 0) id = add({op, std::move(file), where.line});
    std::atomic_ref<std::uint32_t>(where.id).store(id, std::memory_order_release);
    return id;
  }

  const site_info& operator[](std::uint32_t id) const noexcept {
    return blocks_[id / per_block].load(std::memory_order_acquire)[id % per_block];
  }

  void evaluate(const site_info& where, const char* params, work& values,
                presentation& shown) noexcept {
    const std::lock_guard lock(mutex_);
    where.op->evaluate(params, values, shown);
  }

  void forget_formulas(const module_record* home) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& op : ops_) op->remove_evaluators(home);
  }

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t per_block = 256;
  static constexpr std::uint32_t max_blocks = 4096;  // a million call sites

  op_info& intern(const op_desc& desc, const module_record* home) {
    op_info candidate(desc);
    std::size_t namesakes = 0;
    for (const auto& op : ops_) {
      if (op->is(candidate, home, desc)) {
        op->add_evaluator(home, desc);
        return *op;
      }
      if (op->declared_name == candidate.declared_name) ++namesakes;
    }
    if (namesakes != 0) candidate.name += " (" + std::to_string(namesakes + 1) + ")";
    ops_.push_back(std::make_unique<op_info>(std::move(candidate)));
    ops_.back()->add_evaluator(home, desc);
    return *ops_.back();
  }

  std::uint32_t add(site_info info) {
    if (next_ / per_block >= max_blocks) return 0;
    std::atomic<site_info*>& block = blocks_[next_ / per_block];
    if (block.load(std::memory_order_relaxed) == nullptr)
      block.store(new site_info[per_block], std::memory_order_release);
    block.load(std::memory_order_relaxed)[next_ % per_block] = std::move(info);
    return next_++;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<op_info>> ops_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::atomic<site_info*> blocks_[max_blocks] = {};
  std::uint32_t next_ = 1;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/op_info.hpp>

// <kprof/record/same_bytes.hpp>
#ifndef KPROF_RECORD_SAME_BYTES_HPP
#define KPROF_RECORD_SAME_BYTES_HPP

// Compares parameters, which are a few words: here that takes half the time of calling memcmp.

#include <bit>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::uint64_t differing_bits(const char* a, const char* b) noexcept {
  std::uint64_t x, y;
  std::memcpy(&x, a, 8);
  std::memcpy(&y, b, 8);
  return x ^ y;
}
inline std::uint64_t differing_bits_of_4(const char* a, const char* b) noexcept {
  return differing_bits(a, b) | differing_bits(a + 8, b + 8) | differing_bits(a + 16, b + 16) |
         differing_bits(a + 24, b + 24);
}

/// Whether `n` bytes are the same. `Padded`: up to a multiple of 8 there are more, which may be
/// read but do not count.
template <bool Padded>
bool same_bytes(const char* a, const char* b, std::uint32_t n) noexcept {
  for (; n >= 64; a += 64, b += 64, n -= 64)
    if ((differing_bits_of_4(a, b) | differing_bits_of_4(a + 32, b + 32)) != 0) return false;
  for (; n >= 8; a += 8, b += 8, n -= 8)
    if (differing_bits(a, b) != 0) return false;
  if (n == 0) return true;
  if constexpr (Padded && std::endian::native == std::endian::little)
    return differing_bits(a, b) << (64 - 8 * n) == 0;
  else return std::memcmp(a, b, n) == 0;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/same_bytes.hpp>

// <kprof/record/tree_node.hpp>
#ifndef KPROF_RECORD_TREE_NODE_HPP
#define KPROF_RECORD_TREE_NODE_HPP

// One entry of a call tree, and the memory that all trees share.

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Bytes that all trees of the process may take; nodes beyond it are merged.
class tree_budget {
 public:
  void set_limit(std::uint64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  void add(std::uint64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t now() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// Less is left than a few threads may need: what can be held once is not held twice.
  bool scarce() const noexcept { return now() >= limit() / 4; }
  bool nearly_spent() const noexcept { return now() >= limit() / 2; }
  bool spent() const noexcept { return now() >= limit(); }

 private:
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> limit_{0};
};

/// The parameters of an operator or the name of a region; and how the parameters are shown, where
/// that is known: the first bytes of a presentation, or none.
struct payload {
  const char* bytes;
  std::uint32_t size;
  const char* shown = "";
  std::uint32_t shown_size = 0;
};

constexpr std::uint32_t padded(std::uint32_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
/// Bytes that a payload takes with how it is shown.
constexpr std::uint32_t stored(std::uint32_t size, std::uint32_t shown_size) noexcept {
  return padded(size) + padded(shown_size);
}

struct tree_node {
  static constexpr std::uint64_t no_begin = ~std::uint64_t{0};

  // The first word of the begin records whose payload can be compared as it is, or no_begin: of the
  // root, of merged nodes, and of operators whose parameters have padding.
  std::uint64_t begin_word = no_begin;
  std::uint32_t parent = 0;
  std::uint32_t site = 0;        // 0: the root
  std::uint32_t last_child = 0;  // the child that was found last
  std::uint32_t successor = 0;   // the sibling that was found after this node the last time
  std::uint32_t payload_at = 0;
  std::uint32_t payload_size = 0;
  bool merged = false;           // calls of all parameters that came when memory was spent
  std::uint32_t shown_size = 0;  // bytes behind the payload that say how it is shown
  std::uint64_t calls = 0;
  std::uint64_t total = 0;  // ticks
  std::uint64_t self = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  histogram durations;
  // What a call that has been seen before does not touch.
  std::uint32_t next_in_bucket = 0;
  std::uint32_t hash = 0;
  std::uint64_t captured = 0;  // of the calls, those that only captured work into a graph
  // How many of the calls launched work on a device. In the node of a graph and in those below it,
  // which have no calls, it counts the replays. A second field for these would give the node an odd
  // size, which makes folding slower by a hundredth.
  std::uint64_t device_calls = 0;
  work values{};
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/tree_node.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class call_tree {
 public:
  static constexpr std::uint32_t root = 0;

  call_tree(site_table& sites, tree_budget& budget)
      : sites_(&sites), budget_(&budget), nodes_(1), buckets_(fewest_buckets) {}
  ~call_tree() { budget_->remove(charged_); }
  call_tree(const call_tree&) = delete;
  call_tree& operator=(const call_tree&) = delete;

  /// Forgets everything, and gives the memory back where that succeeds.
  void clear() noexcept {
    std::vector<open_frame> none;
    clear_but(none);
  }

  /// Forgets all counts, and all nodes but those of `kept` and those around them. Changes `kept` to
  /// where they are now. Linear; takes no memory.
  void clear_but(std::vector<open_frame>& kept) noexcept {
    imprecise_ = 0;
    for (tree_node& n : nodes_) n.next_in_bucket = dropped_node;
    nodes_[root].next_in_bucket = root;
    for (const open_frame& f : kept)
      for (std::uint32_t i = f.node; nodes_[i].next_in_bucket == dropped_node; i = nodes_[i].parent)
        nodes_[i].next_in_bucket = root;
    // What is kept moves up, parents first. Each node's new number is in its next_in_bucket.
    std::uint32_t count = 0;
    for (tree_node& n : nodes_)
      if (n.next_in_bucket != dropped_node) n.next_in_bucket = count++;
    for (open_frame& f : kept) f.node = nodes_[f.node].next_in_bucket;
    for (tree_node& n : nodes_) n.parent = nodes_[n.parent].next_in_bucket;
    std::uint32_t payload_end = 0;
    for (tree_node& n : nodes_) {
      if (n.next_in_bucket == dropped_node) continue;
      tree_node bare = without_counts(n);
      std::copy_n(payloads_.begin() + n.payload_at, stored(n.payload_size, n.shown_size),
                  payloads_.begin() + payload_end);
      bare.payload_at = payload_end;
      payload_end += stored(n.payload_size, n.shown_size);
      nodes_[n.next_in_bucket] = std::move(bare);
    }
    nodes_.erase(nodes_.begin() + count, nodes_.end());
    payloads_.resize(payload_end);
    nodes_.shrink_to_fit();
    payloads_.shrink_to_fit();
    put_into_fewer_buckets();
    charge_anew();
  }

  const std::vector<tree_node>& nodes() const noexcept { return nodes_; }
  tree_node& operator[](std::uint32_t node) noexcept { return nodes_[node]; }
  payload payload_of(const tree_node& n) const noexcept {
    const char* const bytes = payloads_.data() + n.payload_at;
    return {bytes, n.payload_size, bytes + padded(n.payload_size), n.shown_size};
  }

  /// A node by its number and where it lies, until the next one is made.
  struct place {
    std::uint32_t number;
    tree_node* node;
  };

  /// The child of `parent` for a begin record; made when it is new. Loops over layers have the node
  /// that came after the last one the time before, others have the last one again.
  [[gnu::always_inline]] place child(std::uint32_t parent, std::uint64_t begin_word,
                                     const char* bytes) {
    tree_node* const all = nodes_.data();
    const std::uint32_t last = all[parent].last_child;  // 0, the root, is nobody's child
    const std::uint32_t next = all[last].successor;
    if (is_begun_by(all[next], parent, begin_word, bytes)) {
      all[parent].last_child = next;
      return {next, &all[next]};
    }
    if (is_begun_by(all[last], parent, begin_word, bytes)) return {last, &all[last]};
    const std::uint32_t found = other_child(parent, static_cast<std::uint32_t>(begin_word),
                                            {bytes, payload_bytes_of(begin_word)});
    return {found, &nodes_[found]};
  }

  /// A child with what is known of it elsewhere: its formulas are not run again, since the binary
  /// they are in may be gone. `merged` asks for the node that stands for all parameters.
  std::uint32_t child(std::uint32_t parent, std::uint32_t site, payload p, bool merged,
                      const work& values) {
    return merged ? merged_child(parent, site, false) : look_up(parent, site, p, &values, false);
  }

  /// Counts one finished call.
  [[gnu::always_inline]] void finish(tree_node& n, std::uint64_t ticks, std::uint64_t self_ticks) {
    ++n.calls;
    n.total += ticks;
    n.self += self_ticks;
    if (ticks < n.shortest) n.shortest = ticks;
    if (ticks > n.longest) n.longest = ticks;
    imprecise_ += n.durations.add(ticks, [this](std::size_t bytes) { return afford(bytes); });
  }

  /// Where each node of another thread's tree is here; made when it is new. Parameters that are
  /// known there are kept whatever memory is spent: the other tree is about to go.
  std::vector<std::uint32_t> places_of(const call_tree& other) {
    std::vector<std::uint32_t> here(other.nodes_.size(), root);
    for (std::uint32_t i = 1; i < other.nodes_.size(); ++i) {
      const tree_node& n = other.nodes_[i];
      here[i] = n.merged ? merged_child(here[n.parent], n.site, true)
                         : look_up(here[n.parent], n.site, other.payload_of(n), &n.values, true);
    }
    return here;
  }
  /// Moves all that another thread's tree has counted here. `here`: places_of(other).
  void take(call_tree& other, const std::vector<std::uint32_t>& here) noexcept {
    budget_->remove(std::exchange(other.charged_, 0));  // its memory is free for what is added
    for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
      const tree_node& from = other.nodes_[i];
      tree_node& to = nodes_[here[i]];
      to.calls += from.calls;
      to.total += from.total;
      to.self += from.self;
      to.captured += from.captured;
      to.device_calls += from.device_calls;
      if (from.shortest < to.shortest) to.shortest = from.shortest;
      if (from.longest > to.longest) to.longest = from.longest;
      imprecise_ +=
          to.durations.merge(from.durations, [this](std::size_t bytes) { return afford(bytes); });
    }
    imprecise_ += other.imprecise_;
  }

  /// Durations that had to be counted at the nearest one the histogram has room for.
  std::uint64_t imprecise() const noexcept { return imprecise_; }

 private:
  static constexpr std::size_t fewest_buckets = 64;
  static constexpr std::uint32_t dropped_node = ~std::uint32_t{0};
  static constexpr std::size_t max_payload = max_params_size;
  static constexpr std::size_t max_alignment = max_params_alignment;

  void charge(std::uint64_t bytes) noexcept {
    charged_ += bytes;
    budget_->add(bytes);
  }

  /// Takes memory for a histogram, unless all is spent.
  bool afford(std::uint64_t bytes) noexcept {
    if (budget_->now() + bytes > budget_->limit()) return false;
    charge(bytes);
    return true;
  }

  [[gnu::always_inline]] bool is_begun_by(const tree_node& n, std::uint32_t parent,
                                          std::uint64_t begin_word,
                                          const char* bytes) const noexcept {
    return n.begin_word == begin_word && n.parent == parent &&
           same_bytes<true>(payloads_.data() + n.payload_at, bytes, n.payload_size);
  }
  bool matches(std::uint32_t node, std::uint32_t parent, std::uint32_t site,
               payload p) const noexcept {
    const tree_node& n = nodes_[node];
    return n.site == site && n.parent == parent && !n.merged && n.payload_size == p.size &&
           same_bytes<false>(payloads_.data() + n.payload_at, p.bytes, p.size);
  }

  [[gnu::noinline]] std::uint32_t other_child(std::uint32_t parent, std::uint32_t site, payload p) {
    alignas(max_alignment) char canonical[max_payload];
    const site_info& where = (*sites_)[site];
    if (where.op != nullptr && !where.op->packed) {
      where.op->canonical(p.bytes, canonical);
      p.bytes = canonical;
    }
    const std::uint32_t last = nodes_[parent].last_child, next = nodes_[last].successor;
    if (matches(last, parent, site, p)) return last;
    if (matches(next, parent, site, p)) return nodes_[parent].last_child = next;
    const std::uint32_t found = look_up(parent, site, p, nullptr, false);
    if (last != 0) nodes_[last].successor = found;
    return nodes_[parent].last_child = found;
  }

  static std::uint32_t hash_of(std::uint32_t parent, std::uint32_t site, payload p) noexcept {
    std::uint64_t h = (std::uint64_t{parent} << 32U | site) * 0x9E3779B97F4A7C15U;
    std::uint32_t i = 0;
    for (; i + 8 <= p.size; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, p.bytes + i, 8);
      h = (h ^ word) * 0x9E3779B97F4A7C15U;
      h ^= h >> 29U;
    }
    for (; i < p.size; ++i) h = (h ^ static_cast<unsigned char>(p.bytes[i])) * 0x100000001B3U;
    return static_cast<std::uint32_t>(h >> 32U);
  }

  /// `values`: what the formulas are known to say; nullptr: run them when the node is new, and ask
  /// how the parameters are shown.
  /// `kept_anyway`: parameters are not merged, however much memory is spent.
  std::uint32_t look_up(std::uint32_t parent, std::uint32_t site, payload p, const work* values,
                        bool kept_anyway) {
    const std::uint32_t hash = hash_of(parent, site, p);
    for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
      if (nodes_[i].hash == hash && matches(i, parent, site, p)) return i;
    if (!kept_anyway && budget_->nearly_spent()) return merged_child(parent, site, false);
    if (values != nullptr) return add(parent, site, hash, p, *values, false);
    work own{};
    presentation shown{};
    evaluate(site, p, own, shown);
    return add(parent, site, hash, p, own, false);
  }

  /// The node for calls whose parameters cannot be kept; under the root when even that is too much
  /// for this parent.
  std::uint32_t merged_child(std::uint32_t parent, std::uint32_t site, bool kept_anyway) {
    for (;;) {
      const std::uint32_t hash = hash_of(parent, ~site, {nullptr, 0});
      for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
        if (nodes_[i].merged && nodes_[i].parent == parent && nodes_[i].site == site) return i;
      if (parent == root || kept_anyway || !budget_->spent())
        return add(parent, site, hash, {nullptr, 0}, work{}, true);
      parent = root;
    }
  }

  /// Without memory it throws and changes nothing.
  std::uint32_t add(std::uint32_t parent, std::uint32_t site, std::uint32_t hash, payload p,
                    const work& values, bool merged) {
    if (nodes_.size() >= buckets_.size()) rehash();
    reserve_more(nodes_, 1);
    const std::size_t payload_at = payloads_.size();
    payloads_.resize(payload_at + stored(p.size, p.shown_size));
    char* const stored_at = payloads_.data() + payload_at;
    if (p.size != 0) std::memcpy(stored_at, p.bytes, p.size);
    if (p.shown_size != 0) std::memcpy(stored_at + padded(p.size), p.shown, p.shown_size);
    tree_node n;
    n.parent = parent;
    n.site = site;
    n.hash = hash;
    n.merged = merged;
    if (!merged && ((*sites_)[site].op == nullptr || (*sites_)[site].op->packed))
      n.begin_word = record_word(record_kind::begin, site, p.size);
    n.payload_at = static_cast<std::uint32_t>(payload_at);
    n.payload_size = p.size;
    n.shown_size = p.shown_size;
    n.values = values;
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    n.next_in_bucket = bucket(hash);
    bucket(hash) = made;
    nodes_.push_back(std::move(n));
    charge(cost_of(p.size + p.shown_size));
    return made;
  }

  /// Bytes of a node; vectors are up to half empty.
  static constexpr std::uint64_t cost_of(std::uint32_t payload_size) noexcept {
    return 2 * (sizeof(tree_node) + sizeof(std::uint32_t) + payload_size);
  }
  static tree_node without_counts(const tree_node& n) noexcept {
    tree_node bare;
    bare.begin_word = n.begin_word;
    bare.parent = n.parent;
    bare.site = n.site;
    bare.payload_size = n.payload_size;
    bare.shown_size = n.shown_size;
    bare.merged = n.merged;
    bare.values = n.values;
    return bare;
  }

  // a power of two
  std::uint32_t& bucket(std::uint32_t hash) noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  void rehash() {
    buckets_.assign(buckets_.size() * 2, 0);
    put_into_buckets();
  }
  void put_into_buckets() noexcept {
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      tree_node& n = nodes_[i];
      n.next_in_bucket = bucket(n.hash);
      bucket(n.hash) = i;
    }
  }
  /// After nodes have gone and others have moved.
  void put_into_fewer_buckets() noexcept {
    std::size_t size = buckets_.size();
    while (size > fewest_buckets && size / 2 > nodes_.size()) size /= 2;
    buckets_.resize(size);
    buckets_.shrink_to_fit();
    std::fill(buckets_.begin(), buckets_.end(), 0);
    for (tree_node& n : nodes_)
      n.hash = n.merged ? hash_of(n.parent, ~n.site, {nullptr, 0})
                        : hash_of(n.parent, n.site, payload_of(n));
    put_into_buckets();
  }
  void charge_anew() noexcept {
    budget_->remove(std::exchange(charged_, 0));
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      charge(cost_of(nodes_[i].payload_size + nodes_[i].shown_size));
  }

  /// What the operator says of the parameters; `p` gets a view of `shown`.
  void evaluate(std::uint32_t site, payload& p, work& values, presentation& shown) noexcept {
    const site_info& where = (*sites_)[site];
    if (where.op == nullptr) return;
    alignas(max_alignment) char aligned[max_payload];
    std::memcpy(aligned, p.bytes, p.size);
    sites_->evaluate(where, aligned, values, shown);
    p.shown = reinterpret_cast<const char*>(&shown);
    p.shown_size = used_bytes(shown);
  }

  site_table* sites_;
  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::uint64_t imprecise_ = 0;
  std::vector<tree_node> nodes_;
  std::vector<char> payloads_;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/call_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What runs share to share a row. Words only, so that keys are compared and hashed as bytes.
struct device_key {
  // several kernels and configurations, for want of memory
  static constexpr std::uint32_t merged_name = ~std::uint32_t{0};

  std::uint32_t node = 0;  // of the call tree
  std::uint32_t name = 0;  // number of the kernel's name; 0: it is no kernel
  std::uint32_t kind = 0;  // an activity_kind
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t places = 0;  // direction | from << 8 | to << 16
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t static_shared = 0;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t registers = 0;

  /// The row for all that has none of its own.
  device_key merged() const noexcept {
    device_key k;
    k.node = node;
    k.name = merged_name;
    k.kind = kind;
    k.device = device;
    return k;
  }
  bool is(const device_key& other) const noexcept {
    return std::memcmp(this, &other, sizeof other) == 0;
  }
  std::uint32_t hash() const noexcept {
    std::uint32_t words[sizeof(device_key) / 4];
    std::memcpy(words, this, sizeof words);
    std::uint64_t h = 0;
    for (const std::uint32_t word : words) h = (h ^ word) * 0x9E3779B97F4A7C15U, h ^= h >> 29U;
    return static_cast<std::uint32_t>(h >> 32U);
  }
};

/// One run of a kernel, copy or memset, as far as it is added up.
struct device_run {
  bool timed = true;         // false: `ns` is not known
  std::uint64_t ns = 0;      // how long it ran
  bool launch_seen = false;  // false: `gap_ns` is not known
  std::uint64_t gap_ns = 0;  // from the call that launched it to its start
  std::uint64_t bytes = 0;   // copied or set
};

struct device_total {
  device_key key;
  std::uint32_t next_in_bucket = 0;
  std::uint32_t successor = 0;  // what came after it the time before
  std::uint64_t calls = 0;
  std::uint64_t untimed = 0;
  std::uint64_t total = 0;  // ns
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  std::uint64_t gaps = 0;
  std::uint64_t gap = 0;  // ns from launch to start
  std::uint64_t bytes = 0;

  void add(const device_total& other) noexcept {
    calls += other.calls;
    untimed += other.untimed;
    total += other.total;
    if (other.shortest < shortest) shortest = other.shortest;
    if (other.longest > longest) longest = other.longest;
    gaps += other.gaps;
    gap += other.gap;
    bytes += other.bytes;
  }
};

class device_totals {
 public:
  explicit device_totals(tree_budget& budget)
      : budget_(&budget), rows_(1), buckets_(fewest_buckets) {}
  ~device_totals() { budget_->remove(charged_); }
  device_totals(const device_totals&) = delete;
  device_totals& operator=(const device_totals&) = delete;

  void clear() noexcept {
    budget_->remove(charged_);
    charged_ = 0;
    last_ = 0;
    rows_.resize(1);
    rows_[0] = {};
    buckets_.resize(fewest_buckets);
    std::fill(buckets_.begin(), buckets_.end(), 0);
    rows_.shrink_to_fit();
    buckets_.shrink_to_fit();
  }

  /// Counts one run.
  void add(const device_key& key, const device_run& run) {
    device_total& row = row_of(key);
    ++row.calls;
    row.bytes += run.bytes;
    if (!run.timed) {
      ++row.untimed;
      return;
    }
    row.total += run.ns;
    if (run.ns < row.shortest) row.shortest = run.ns;
    if (run.ns > row.longest) row.longest = run.ns;
    if (!run.launch_seen) return;
    ++row.gaps;
    row.gap += run.gap_ns;
  }

  /// Where each of another thread's rows is here, whose nodes are here as `node_here` says; made
  /// when it is new, whatever memory is spent: the other rows are about to go.
  std::vector<std::uint32_t> places_of(const device_totals& other,
                                       const std::vector<std::uint32_t>& node_here) {
    std::vector<std::uint32_t> here;
    here.reserve(other.rows_.size());
    other.each([&](const device_total& row) {
      device_key key = row.key;
      key.node = node_here[key.node];
      here.push_back(look_up(key, true));
    });
    return here;
  }
  /// Adds another thread's rows. `here`: places_of(other).
  void add(const device_totals& other, const std::vector<std::uint32_t>& here) noexcept {
    for (std::size_t i = 0; i < here.size(); ++i) rows_[here[i]].add(other.rows_[i + 1]);
  }
  /// Both at once.
  void merge(const device_totals& other, const std::vector<std::uint32_t>& node_here) {
    add(other, places_of(other, node_here));
  }

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 1; i < rows_.size(); ++i) visit(rows_[i]);
  }

 private:
  /// Mostly the row that came after the last one the time before: programs repeat themselves.
  device_total& row_of(const device_key& key) {
    const std::uint32_t next = rows_[last_].successor;
    if (next != 0 && rows_[next].key.is(key)) return rows_[last_ = next];
    const std::uint32_t found = look_up(key, false);
    rows_[last_].successor = found;
    return rows_[last_ = found];
  }

  /// `kept_anyway`: the row is made, however much memory is spent.
  std::uint32_t look_up(const device_key& key, bool kept_anyway) {
    for (device_key wanted = key;;) {
      const std::uint32_t hash = wanted.hash();
      for (std::uint32_t i = bucket(hash); i != 0; i = rows_[i].next_in_bucket)
        if (rows_[i].key.is(wanted)) return i;
      const bool may_be_made = kept_anyway ? true
                               : wanted.name == device_key::merged_name
                                   ? !budget_->spent() || wanted.node == call_tree::root
                                   : !budget_->nearly_spent();
      if (may_be_made) return make(wanted, hash);
      const bool was_merged = wanted.name == device_key::merged_name;
      wanted = wanted.merged();
      if (was_merged) wanted.node = call_tree::root;  // not even that can be kept for this scope
    }
  }

  std::uint32_t make(const device_key& key, std::uint32_t hash) {
    if (rows_.size() >= buckets_.size()) rehash();
    reserve_more(rows_, 1);
    const auto made = static_cast<std::uint32_t>(rows_.size());
    device_total row;
    row.key = key;
    row.next_in_bucket = bucket(hash);
    rows_.push_back(row);
    bucket(hash) = made;
    charged_ += 2 * (sizeof row + sizeof made);  // vectors are up to half empty
    budget_->add(2 * (sizeof row + sizeof made));
    return made;
  }

  // a power of two
  std::uint32_t& bucket(std::uint32_t hash) noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  void rehash() {
    buckets_.assign(buckets_.size() * 2, 0);
    for (std::uint32_t i = 1; i < rows_.size(); ++i) {
      std::uint32_t& first = bucket(rows_[i].key.hash());
      rows_[i].next_in_bucket = first;
      first = i;
    }
  }

  static constexpr std::size_t fewest_buckets = 16;

  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::uint32_t last_ = 0;
  std::vector<device_total> rows_;  // number 0 is none
  std::vector<std::uint32_t> buckets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/device_totals.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// The row for an activity that was launched in the scope `node`. `name`: the number of the
/// kernel's name, 0 for copies and memsets.
inline device_key device_key_of(std::uint32_t node, std::uint32_t name,
                                const activity& a) noexcept {
  device_key k;
  k.node = node;
  k.name = name;
  k.kind = static_cast<std::uint32_t>(a.kind);
  k.device = a.device;
  k.stream = a.stream;
  k.places = std::uint32_t{a.direction} | std::uint32_t{a.from} << 8U | std::uint32_t{a.to} << 16U;
  for (int i = 0; i < 3; ++i) k.grid[i] = a.grid[i], k.block[i] = a.block[i];
  k.static_shared = a.static_shared;
  k.dynamic_shared = a.dynamic_shared;
  k.registers = a.registers;
  return k;
}

/// What the row adds up. `launched`: when the call that launched the activity began, in the clock
/// of the records; 0 when that is not known.
inline device_run device_run_of(const activity& a, std::uint64_t launched) noexcept {
  device_run run{.timed = a.timed(), .bytes = a.bytes};
  if (!run.timed) return run;
  run.ns = a.end - a.start;
  run.launch_seen = launched != 0;
  // Launch and start are read from two clocks: an activity may seem to start before its launch.
  if (run.launch_seen && a.start > launched) run.gap_ns = a.start - launched;
  return run;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/device_rows.hpp>

// <kprof/attribute/graph_nodes.hpp>
#ifndef KPROF_ATTRIBUTE_GRAPH_NODES_HPP
#define KPROF_ATTRIBUTE_GRAPH_NODES_HPP

// Under which scope each node of a CUDA graph was captured. A copy of a graph, such as an
// executable one, has nodes of its own, which belong to the scopes of the original's nodes. The
// collector's callbacks fill this on the program's threads.
//
// Records come late: before the records of a launch are read, the program may have destroyed the
// graph, or an update may have given its nodes to other scopes. So destroyed graphs are remembered
// for a while, and so are the scopes that a node belonged to before an update.

// <kprof/record/thread_log.hpp>
#ifndef KPROF_RECORD_THREAD_LOG_HPP
#define KPROF_RECORD_THREAD_LOG_HPP

// One thread's log and the totals that its records have been folded into. The thread appends
// records without a lock. Whoever holds mutex() may fold what the thread has published, also while
// the thread goes on writing.

// <kprof/record/chunk_pool.hpp>
#ifndef KPROF_RECORD_CHUNK_POOL_HPP
#define KPROF_RECORD_CHUNK_POOL_HPP

// Memory for the logs, in chunks of 32 KiB that are recycled and never returned while recording: a
// page fault costs more than the scope that would cause it. Full chunks queue up oldest first; they
// are the timeline, until one is needed again. Thread-safe; takes its own lock and calls nobody
// while holding it.

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_log;

/// A piece of one thread's log.
struct KPROF_DETAIL_LOCAL chunk {
  static constexpr std::size_t size = 32 * 1024;

  chunk* next = nullptr;  // within the owner's log, oldest first
  chunk* previous = nullptr;
  chunk* queue_next = nullptr;  // within the pool's queue of full chunks or its free list
  chunk* queue_previous = nullptr;
  thread_log* owner = nullptr;    // nullptr: nobody uses it
  char* end = nullptr;            // where the writing stopped; set when the chunk is full
  char* timeline_from = nullptr;  // where the timeline begins in it
  bool queued = false;            // in the pool's queue of full chunks
  bool folded = false;            // all of it is in the totals
  std::uint32_t first_depth = 0;  // scopes open where it begins
  std::uint64_t last_ticks = 0;   // latest time stamp folded
  std::uint64_t ends = 0;         // scopes that finished here
  std::uint64_t age = 0;          // number of chunks that had been full before

  char* begin() noexcept { return reinterpret_cast<char*>(this + 1); }
  char* limit() noexcept { return reinterpret_cast<char*>(this) + size; }
};

class KPROF_DETAIL_LOCAL chunk_pool {
 public:
  /// Bytes that may be held from now on; what is free above that is given back.
  void set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    while (free_ != nullptr && held_ > limit_) release(pop_free());
  }

  /// A chunk that nobody uses, one taken out of the queue, or nullptr when there is none. The
  /// caller releases one of the queue from its owner. The caller's own oldest chunk is preferred to
  /// the oldest of all while it is about as old, since it needs no other log's lock. So busy
  /// threads keep to their own, and an idle thread's old chunks go before a busy thread's new.
  chunk* take(chunk* own_oldest) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_ != nullptr) return pop_free();
    if (held_ + chunk::size <= limit_)
      if (chunk* made = allocate()) return made;
    chunk* c = first_;
    if (c == nullptr) return nullptr;
    const std::uint64_t fair = held_ / chunk::size / 8;
    if (own_oldest != nullptr && own_oldest->queued && own_oldest->age - c->age <= fair)
      c = own_oldest;
    unqueue(c);
    return c;
  }

  /// Returns a chunk that has been read and is in no queue.
  void give_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (held_ > limit_) release(c);
    else push_free(c);
  }

  /// Queues a full chunk: it may be recycled from now on.
  void retire(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    c->queue_next = nullptr;
    c->queue_previous = last_;
    c->queued = true;
    c->age = ++retired_;
    (last_ != nullptr ? last_->queue_next : first_) = c;
    last_ = c;
  }
  /// Queues a full chunk that take() has given and that could not be folded, as the oldest.
  void put_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    c->queue_previous = nullptr;
    c->queue_next = first_;
    c->queued = true;
    (first_ != nullptr ? first_->queue_previous : last_) = c;
    first_ = c;
  }
  /// Takes `c` out of the queue; false when it is not there.
  bool take_back(chunk* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (!c->queued) return false;
    unqueue(c);
    return true;
  }

  std::size_t held() noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  chunk* allocate() noexcept {
    // Touched in one call: a fault a page, taken one by one, is 20 to 200 ns a scope.
    void* memory = mmap(nullptr, chunk::size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    held_ += chunk::size;
    return ::new (memory) chunk{};
  }
  void unqueue(chunk* c) noexcept {
    (c->queue_previous != nullptr ? c->queue_previous->queue_next : first_) = c->queue_next;
    (c->queue_next != nullptr ? c->queue_next->queue_previous : last_) = c->queue_previous;
    c->queued = false;
  }
  chunk* pop_free() noexcept {
    chunk* c = free_;
    free_ = c->queue_next;
    return c;
  }
  void push_free(chunk* c) noexcept {
    c->owner = nullptr;
    c->queue_next = free_;
    free_ = c;
  }
  void release(chunk* c) noexcept {
    munmap(c, chunk::size);
    held_ -= chunk::size;
  }

  std::mutex
      mutex_;  // guards all below, and the chunks' queue_next, queue_previous, queued and age
  chunk* first_ = nullptr;  // full chunks, oldest first
  chunk* last_ = nullptr;
  chunk* free_ = nullptr;
  std::size_t held_ = 0;
  std::size_t limit_ = 0;
  std::uint64_t retired_ = 0;  // chunks queued so far
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/chunk_pool.hpp>

// <kprof/record/log_folding.hpp>
#ifndef KPROF_RECORD_LOG_FOLDING_HPP
#define KPROF_RECORD_LOG_FOLDING_HPP

// Adds the records of one thread's log to its totals, one after the other. A record that there is
// no memory for stays unfolded. Guarded by the lock of the thread's log.

// <kprof/record/missing_launches.hpp>
#ifndef KPROF_RECORD_MISSING_LAUNCHES_HPP
#define KPROF_RECORD_MISSING_LAUNCHES_HPP

// The launches of one thread whose work on a device has not come, or not all of it, by the node of
// the scope around them. What a device does for a scope is known only where there are none.
// Guarded by its thread_log's lock. It takes 20 bytes a node of the call tree, which is a tenth of
// what the node itself takes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class missing_launches {
 public:
  /// Forgets all launches, and keeps the memory.
  void clear() noexcept { std::fill(by_node_.begin(), by_node_.end(), counts{}); }
  /// Makes room for so many nodes of the call tree.
  void widen_to(std::size_t nodes) {
    if (nodes > by_node_.size()) by_node_.resize(nodes);
  }

  /// A launch was made in the scope `node`.
  void add(std::uint32_t node, record_kind kind) {
    widen_to(node + std::size_t{1});
    counts& c = by_node_[node];
    ++(kind == record_kind::transfer_launch ? c.transfers[0]
       : kind == record_kind::graph_launch  ? c.graphs[0]
                                            : c.kernels);
  }
  /// The first record of a launch has come. A graph's is one of many: whether all have come is
  /// known only after a flush. `before_flush`: the launch was made before the latest flush began.
  void found(std::uint32_t node, record_kind kind, bool before_flush) noexcept {
    if (kind == record_kind::graph_launch || node >= by_node_.size()) return;
    counts& c = by_node_[node];
    std::uint32_t& count =
        kind == record_kind::transfer_launch ? c.transfers[before_flush ? 1 : 0] : c.kernels;
    if (count != 0) --count;
  }

  /// The records of all launches so far are about to be fetched.
  void begin_flush() noexcept {
    for (counts& c : by_node_) {
      c.transfers[1] += c.transfers[0];
      c.graphs[1] += c.graphs[0];
      c.transfers[0] = c.graphs[0] = 0;
    }
  }
  /// They have all come. A copy or a memset from before the flush that has none did nothing, unless
  /// records were lost; a kernel always leaves one.
  void end_flush(bool records_were_lost) noexcept {
    for (counts& c : by_node_) {
      c.graphs[1] = 0;
      if (!records_were_lost) c.transfers[1] = 0;
    }
  }

  /// Kernels, copies and memsets of which there is no record.
  std::uint64_t without_record(std::uint32_t node) const noexcept {
    if (node >= by_node_.size()) return 0;
    const counts& c = by_node_[node];
    return std::uint64_t{c.kernels} + c.transfers[0] + c.transfers[1];
  }
  /// Launches of graphs of which not all records may have come.
  std::uint64_t of_graphs(std::uint32_t node) const noexcept {
    if (node >= by_node_.size()) return 0;
    const counts& c = by_node_[node];
    return std::uint64_t{c.graphs[0]} + c.graphs[1];
  }

  /// Adds another thread's launches, whose nodes are here as `node_here` says. There is room for
  /// all of these.
  void merge(const missing_launches& other, const std::vector<std::uint32_t>& node_here) noexcept {
    const std::size_t nodes = std::min(other.by_node_.size(), node_here.size());
    for (std::size_t i = 0; i < nodes; ++i) {
      const counts& from = other.by_node_[i];
      counts& to = by_node_[node_here[i]];
      to.kernels += from.kernels;
      for (int k = 0; k < 2; ++k) {
        to.transfers[k] += from.transfers[k];
        to.graphs[k] += from.graphs[k];
      }
    }
  }

 private:
  struct counts {
    std::uint32_t kernels = 0;
    std::uint32_t transfers[2] =
        {};                        // copies and memsets: since the latest flush began, and before
    std::uint32_t graphs[2] = {};  // launches of graphs, the same
  };
  std::vector<counts> by_node_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/missing_launches.hpp>

// <kprof/record/node_paths.hpp>
#ifndef KPROF_RECORD_NODE_PATHS_HPP
#define KPROF_RECORD_NODE_PATHS_HPP

// Between one thread's nodes and the process's paths: the path that names a node, the node of an
// adopted path, and the nodes of work that a CUDA graph replays. Guarded by the lock of the
// thread's log.

// <kprof/record/path_table.hpp>
#ifndef KPROF_RECORD_PATH_TABLE_HPP
#define KPROF_RECORD_PATH_TABLE_HPP

// Numbers for paths of scopes, so that a context is a plain value: what one thread captured, any
// thread can look up.

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Paths of scopes that were captured on one thread to be adopted on another, or in which devices
/// were given work. Guarded by its own lock.
class path_table {
 public:
  struct step {
    std::uint32_t parent = 0;  // path of the enclosing scopes; 0: none
    std::uint32_t site = 0;
    std::string bytes{};
    bool merged = false;
    work values{};
    std::string shown{};  // as payload::shown
  };

  explicit path_table(tree_budget& budget) : budget_(&budget) {}

  /// The number of a path; that of its parent where memory is spent. No number is given out twice.
  std::uint32_t number_of(step s) {
    std::string key = key_of(s);
    const std::lock_guard lock(mutex_);
    if (const auto known = numbers_.find(key); known != numbers_.end()) {
      entries_.find(known->second)->second.used = recording_;
      return known->second;
    }
    if (budget_->spent()) return s.parent;
    const std::uint64_t cost = cost_of(key, s);
    const std::uint32_t number = last_number_ + 1;
    const auto made = entries_.emplace(number, entry{std::move(s), recording_, false}).first;
    if (!attempt([&] { numbers_.emplace(std::move(key), number); })) {
      const std::uint32_t parent = made->second.what.parent;
      entries_.erase(made);
      return parent;
    }
    last_number_ = number;
    budget_->add(cost);
    return number;
  }
  /// What the number stands for; a step without a site where it has been forgotten.
  step operator[](std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(path);
    if (known == entries_.end()) return {};
    known->second.used = recording_;
    return known->second.what;
  }

  /// Whoever has the number may use it much later: a program's contexts and graphs outlive a
  /// recording.
  void keep(std::uint32_t path) {
    const std::lock_guard lock(mutex_);
    for (auto at = entries_.find(path); at != entries_.end() && !at->second.kept;
         at = entries_.find(at->second.what.parent))
      at->second.kept = true;
  }
  /// A recording begins: what was last asked for in the one before the last is forgotten. That of
  /// the last stays, since there may be logs that have not begun anew yet. What is kept stays too,
  /// unless it takes more than an eighth of the memory for totals: then what has not been asked for
  /// the longest goes.
  void next_recording() {
    const std::lock_guard lock(mutex_);
    ++recording_;
    forget_if([this](const entry& e) { return !e.kept && is_old(e); });
    while (budget_of_old() > budget_->limit() / 8) {
      std::uint64_t oldest = recording_;
      for (const auto& [number, e] : entries_) oldest = std::min(oldest, e.used);
      forget_if([oldest](const entry& e) { return e.used == oldest; });
    }
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct entry {
    step what{};
    std::uint64_t used = 0;  // in which recording it was last asked for
    bool kept = false;
  };

  bool is_old(const entry& e) const noexcept { return e.used + 2 <= recording_; }
  std::uint64_t budget_of_old() const {
    std::uint64_t sum = 0;
    for (const auto& [number, e] : entries_)
      if (is_old(e)) sum += cost_of(key_of(e.what), e.what);
    return sum;
  }
  // A path is asked for only after what is around it, so its parents were used no earlier, and what
  // is forgotten is around nothing that stays.
  template <class Which>
  void forget_if(Which which) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (!which(at->second)) {
        ++at;
        continue;
      }
      const std::string key = key_of(at->second.what);
      budget_->remove(cost_of(key, at->second.what));
      numbers_.erase(key);
      at = entries_.erase(at);
    }
  }

  static std::string key_of(const step& s) {
    std::string key(reinterpret_cast<const char*>(&s.parent), sizeof s.parent);
    return key.append(reinterpret_cast<const char*>(&s.site), sizeof s.site)
        .append(1, s.merged ? 'm' : 'p')
        .append(s.bytes);
  }
  static std::uint64_t cost_of(const std::string& key, const step& s) noexcept {
    return 2 * (sizeof(entry) + 2 * key.size() + s.shown.size() + 64);
  }

  tree_budget* budget_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, entry> entries_;  // by number
  std::uint32_t last_number_ = 0;
  std::uint64_t recording_ = 1;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/path_table.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class node_paths {
 public:
  node_paths(call_tree& tree, path_table& paths) : tree_(&tree), paths_(&paths) {}

  /// The tree has been cleared.
  void clear() {
    nodes_.clear();
    paths_of_nodes_.clear();
    replayed_.clear();
  }

  /// The path of a node; 0 for the root.
  std::uint32_t path_of(std::uint32_t node) {
    if (node == call_tree::root) return 0;
    if (const auto known = paths_of_nodes_.find(node); known != paths_of_nodes_.end())
      return known->second;
    const tree_node& n = (*tree_)[node];
    const payload p = tree_->payload_of(n);
    const std::uint32_t path =
        paths_->number_of({path_of(n.parent), n.site, std::string(p.bytes, p.size), n.merged,
                           n.values, std::string(p.shown, p.shown_size)});
    return paths_of_nodes_[node] = path;
  }
  /// Keeps a path beyond this recording: whoever has the number may use it at any time.
  void keep(std::uint32_t path) { paths_->keep(path); }

  /// The node of a path under this thread's root; made when it is new. The root for a path that has
  /// been forgotten.
  std::uint32_t node_of(std::uint32_t path) {
    if (path == 0) return call_tree::root;
    if (const auto known = nodes_.find(path); known != nodes_.end()) return known->second;
    const path_table::step s = (*paths_)[path];
    if (s.site == 0) return call_tree::root;
    return nodes_[path] = child_of(node_of(s.parent), s);
  }

  /// The node of what was captured under the path `captured` into graphs launched under the path
  /// `launch`: launch > graph > captured scopes, without those that are also around the launch.
  std::uint32_t replayed_node(std::uint32_t launch, std::uint32_t captured) {
    std::uint32_t& node = replayed_[std::uint64_t{launch} << 32U | captured];
    if (node == 0) node = inside_graph(launch, captured);
    return node;
  }
  /// The node of work whose capture was not seen.
  std::uint32_t foreign_graph_node(std::uint32_t launch) {
    static constexpr std::string_view name = "(graph captured before recording)";
    return tree_->child(replayed_node(launch, 0), site_table::graph_site,
                        {name.data(), name.size()}, false, work{});
  }

 private:
  std::uint32_t child_of(std::uint32_t parent, const path_table::step& s) {
    return tree_->child(parent, s.site,
                        {s.bytes.data(), static_cast<std::uint32_t>(s.bytes.size()), s.shown.data(),
                         static_cast<std::uint32_t>(s.shown.size())},
                        s.merged, s.values);
  }

  std::uint32_t inside_graph(std::uint32_t launch, std::uint32_t captured) {
    std::vector<std::uint32_t> around;
    for (std::uint32_t p = launch; p != 0; p = (*paths_)[p].parent) around.push_back(p);
    std::vector<path_table::step> inside;
    for (std::uint32_t p = captured;
         p != 0 && std::find(around.begin(), around.end(), p) == around.end();) {
      path_table::step s = (*paths_)[p];
      if (s.site == 0) break;  // has been forgotten
      p = s.parent;
      inside.push_back(std::move(s));
    }
    std::uint32_t node =
        tree_->child(node_of(launch), site_table::graph_site, {"graph", 5}, false, work{});
    for (std::size_t i = inside.size(); i-- > 0;) node = child_of(node, inside[i]);
    return node;
  }

  call_tree* tree_;
  path_table* paths_;
  std::unordered_map<std::uint32_t, std::uint32_t> nodes_;           // by path
  std::unordered_map<std::uint32_t, std::uint32_t> paths_of_nodes_;  // by node
  std::unordered_map<std::uint64_t, std::uint32_t> replayed_;        // by launch and captured path
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/node_paths.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The totals of one thread, and how records become part of them.
class KPROF_DETAIL_LOCAL log_folding {
 public:
  log_folding(site_table& sites, path_table& all_paths, tree_budget& budget)
      : tree(sites, budget), device(budget), paths(tree, all_paths) {}

  /// Scopes that folding has seen begin and not end.
  std::uint64_t open_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const open_frame& f : stack) n += f.adopted ? 0 : 1;
    return n;
  }
  std::uint32_t number = 0;  // of the log, as in its tokens
  std::vector<open_frame> stack;
  call_tree tree;
  device_totals device;
  missing_launches missing;
  node_paths paths;
  std::vector<launch_note> launches;  // not yet taken by attribution
  log_counts counts;

 protected:
  /// Folds the records from read_at_ to `stop`. `ticks`: the time of the record before; returns
  /// that of the last. Where it throws, read_at_ is at the first record that is not in the totals.
  std::uint64_t fold_up_to(const char* stop, std::uint64_t ticks) {
    // A local copy: the compiler must assume that the writes below change read_at_.
    for (char* at = read_at_; at < stop; read_at_ = at) {
      const std::uint64_t word = get(at);
      if (is_begin(word)) {
        ticks = fold_begin(word, at, stop);
      } else if ((word & end_bit) != 0) {
        ticks = word & ~end_bit;
        close_innermost(ticks);
        at += 8;
      } else {
        ticks = fold_other(word, at);
        at += record_size(word);
      }
    }
    return ticks;
  }
  /// How many scopes finished since the last call. Folding that runs out of memory goes on in the
  /// same chunk, so that all of them are of one.
  std::uint64_t take_finished() noexcept {
    return counts.finished - std::exchange(finished_taken_, counts.finished);
  }

  /// Folds the begin at `at` and, if it comes next, its end: most scopes have none inside and need
  /// not be stacked. Moves `at` behind them and returns the time of the last one.
  [[gnu::always_inline]] std::uint64_t fold_begin(std::uint64_t word, char*& at, const char* stop) {
    open_frame* const around = stack.empty() ? nullptr : &stack.back();
    const call_tree::place called =
        tree.child(around == nullptr ? call_tree::root : around->node, word, at + record_header);
    put(at, folded_word(word, called.number));
    const std::uint64_t start = get(at + 8);
    at += record_size(word);
    const std::uint64_t end_word = at < stop ? get(at) : 0;
    if ((end_word & end_bit) == 0) {
      if (stack.size() == stack.capacity()) widen_stack(at - record_size(word), word);
      stack.push_back({called.number, false, start, 0});
      return start;
    }
    at += 8;
    const std::uint64_t ticks = elapsed(start, end_word & ~end_bit);
    tree.finish(*called.node, ticks, ticks);
    ++counts.finished;
    if (around != nullptr) around->child_ticks += ticks;
    return end_word & ~end_bit;
  }

  /// Makes room for one more open scope, whose begin is folded at `at` and was `word` before. Where
  /// that throws, the begin has not been folded.
  [[gnu::noinline]] void widen_stack(char* at, std::uint64_t word) {
    const std::uint64_t folded = get(at);
    put(at, word);
    reserve_more(stack, 1);
    put(at, folded);
  }

  /// Folds the record at `at`, which is neither a begin nor an end in order. Returns its time.
  [[gnu::noinline]] std::uint64_t fold_other(std::uint64_t word, const char* at) {
    const auto subject = static_cast<std::uint32_t>(word);
    const std::uint64_t ticks = get(at + 8);
    switch (kind_of(word)) {
      case record_kind::adopt: stack.push_back({paths.node_of(subject), true, ticks, 0}); break;
      case record_kind::end_to:
        while (stack.size() > subject) {
          ++counts.closed_by_parent;
          close_innermost(ticks);
        }
        close_innermost(ticks);
        break;
      case record_kind::kernel_launch:
      case record_kind::transfer_launch:
      case record_kind::graph_launch: note_launch(at, word, innermost_path()); break;
      case record_kind::ignored_launch: note_launch(at, word, launch_note::ignored); break;
      case record_kind::begin:
      case record_kind::folded: break;
    }
    return ticks;
  }

  void note_launch(const char* at, std::uint64_t word, std::uint32_t path) {
    if (launches.capacity() - launches.size() < max_launch_ids)
      reserve_more(launches, max_launch_ids);
    // An ignored launch in a scope that counts is work of its call that no record will tell of.
    if (!stack.empty() || path != launch_note::ignored)
      missing.add(stack.empty() ? call_tree::root : stack.back().node, kind_of(word));
    if (!stack.empty() && path != launch_note::ignored) stack.back().launched = true;
    append_notes(at, path, number, launches);
  }

  /// Counters of two cores may differ by a few ticks.
  static std::uint64_t elapsed(std::uint64_t start, std::uint64_t end) noexcept {
    return end > start ? end - start : 0;
  }

  /// Counts the innermost scope and takes it off the stack.
  void close_innermost(std::uint64_t now) {
    if (stack.empty()) return;
    const open_frame& f = stack.back();
    const std::uint64_t ticks = elapsed(f.start, now);
    if (!f.adopted) count_finished(f, ticks);
    // What was launched under an adopted context is another thread's scope's.
    const std::uint64_t child_ticks = f.adopted ? f.child_ticks : ticks;
    const bool launched = f.launched && !f.adopted;
    stack.pop_back();
    if (stack.empty()) return;
    stack.back().child_ticks += child_ticks;
    stack.back().launched |= launched;
  }
  void count_finished(const open_frame& f, std::uint64_t ticks) {
    tree_node& n = tree[f.node];
    tree.finish(n, ticks, f.child_ticks < ticks ? ticks - f.child_ticks : 0);
    ++counts.finished;
    if (f.launched) ++n.device_calls;
    else if (f.graph != 0) ++n.captured;
  }

  std::uint32_t innermost_path() {
    if (stack.empty()) return 0;
    open_frame& f = stack.back();
    if (f.path == 0) f.path = paths.path_of(f.node);
    return f.path;
  }

  char* read_at_ = nullptr;

 private:
  std::uint64_t finished_taken_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/log_folding.hpp>

// <kprof/record/this_thread.hpp>
#ifndef KPROF_RECORD_THIS_THREAD_HPP
#define KPROF_RECORD_THIS_THREAD_HPP

// What the recorder keeps of the calling thread: its log, and whether it is inside kprof.

#include <cerrno>
#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// The log of a thread that has recorded nothing. It has no room, so that the first scope takes the
/// slow path, and its innermost token is one that no scope ever has.
KPROF_DETAIL_LOCAL inline constinit log_head empty_log{nullptr, nullptr, 0, 0,
                                                       open_scopes{open_scopes::changing}};

// No initial-exec model: it would put all thread-local data of a shared library, its own too, into
// the few hundred bytes that the loader keeps for libraries that are opened later. It would save 42
// instructions a scope in a library and 16 in a program that links a compiled session, but no more
// than 0.3 ns of 29.
KPROF_DETAIL_LOCAL inline thread_local constinit log_head* this_log = &empty_log;

/// Bytes that a record takes inside the scope `around`, with the ends of all scopes that are open
/// then: an end never has to look for room.
constexpr std::size_t room_for(scope_token around, std::size_t record) noexcept {
  return record + 8 + 8 * std::size_t{depth_of(around)};
}
/// Whether a record of this size has room at `at`, where the next record goes.
inline bool has_room(const log_head& log, const char* at, scope_token around,
                     std::size_t record) noexcept {
  // In a forked child the limit may lie behind the cursor.
  return log.limit - at >= static_cast<std::ptrdiff_t>(room_for(around, record));
}
inline bool has_room(const log_head& log, std::size_t record) noexcept {
  return has_room(log, log.next_record(), log.scopes.innermost(), record);
}

/// Whether this thread is in kprof's own code, which locks and allocates: a guard in the program's
/// allocator must not come back to it.
KPROF_DETAIL_LOCAL inline thread_local constinit bool inside_kprof = false;

/// Whether this thread has ended for the recorder: it gets no other log.
KPROF_DETAIL_LOCAL inline thread_local constinit bool has_left_recorder = false;

/// Marks this thread as inside kprof until the end of the block. Leaves errno as it was: the
/// program may open a scope before it reads it.
class KPROF_DETAIL_LOCAL mark_inside_kprof {
 public:
  mark_inside_kprof() noexcept : error_(errno), before_(inside_kprof) { inside_kprof = true; }
  ~mark_inside_kprof() {
    inside_kprof = before_;
    errno = error_;
  }
  mark_inside_kprof(const mark_inside_kprof&) = delete;
  mark_inside_kprof& operator=(const mark_inside_kprof&) = delete;

 private:
  hold_cancellation hold_;
  int error_;
  bool before_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/this_thread.hpp>

// <kprof/record/timeline.hpp>
#ifndef KPROF_RECORD_TIMELINE_HPP
#define KPROF_RECORD_TIMELINE_HPP

// Walks the timeline: the scopes whose records a log still holds. Needs the log's lock.

#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Calls visit(node, start, end) for each scope whose begin and end have both been walked over.
template <class Visit>
class timeline_walk {
 public:
  timeline_walk(Visit& visit, std::uint64_t depth) : visit_(visit), depth_(depth) {}

  /// Walks over the records from `at` to `stop`, which have been folded.
  void over(const char* at, const char* stop) {
    while (at < stop) {
      const std::uint64_t word = get(at);
      if ((word & end_bit) != 0) {
        close(word & ~end_bit);
        at += 8;
        continue;
      }
      const auto subject = static_cast<std::uint32_t>(word);
      switch (kind_of(word)) {
        case record_kind::begin: break;  // is `folded` here
        case record_kind::folded: starts_.push_back({subject, get(at + 8), ++depth_}); break;
        case record_kind::adopt: starts_.push_back({call_tree::root, get(at + 8), ++depth_}); break;
        case record_kind::end_to:
          while (depth_ >= subject && depth_ != 0) close(get(at + 8));
          break;
        case record_kind::kernel_launch:
        case record_kind::transfer_launch:
        case record_kind::graph_launch:
        case record_kind::ignored_launch: break;
      }
      at += record_size(word);
    }
  }

 private:
  struct start {
    std::uint32_t node;  // the root: not a scope
    std::uint64_t ticks;
    std::uint64_t depth;
  };

  void close(std::uint64_t ticks) {
    // A scope whose begin has been recycled has no start here.
    if (!starts_.empty() && starts_.back().depth == depth_) {
      if (starts_.back().node != call_tree::root)
        visit_(starts_.back().node, starts_.back().ticks, ticks);
      starts_.pop_back();
    }
    if (depth_ != 0) --depth_;
  }

  Visit& visit_;
  std::uint64_t depth_;  // scopes open at this place of the log
  std::vector<start> starts_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/timeline.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_log : public log_head, public log_folding {
 public:
  thread_log(std::uint32_t its_number, site_table& sites, path_table& all_paths,
             tree_budget& budget)
      : log_folding(sites, all_paths, budget) {
    begin_again(its_number);
  }

  /// For a thread that begins.
  void begin_again(std::uint32_t its_number) noexcept {
    number = its_number;
    scopes.restart(its_number);
    emitted = 0;
    emitted_deeper = 0;
    drops_until_search = 0;
    end_rounds = 0;
  }

  /// Whether a record of this size fits into no chunk, for all the ends of open scopes.
  bool fits_no_chunk(std::size_t record) const noexcept {
    return room_for(scopes.innermost(), record) > chunk::size - sizeof(chunk);
  }

  std::mutex& mutex() noexcept { return mutex_; }

  // Everything below needs the lock.

  /// The oldest chunk that the log holds, or nullptr.
  chunk* oldest() const noexcept { return first_; }

  /// Goes on writing in `c`; the chunk before it is full. By the thread itself.
  void append(chunk* c, chunk_pool& pool) noexcept {
    *c = chunk{};
    c->owner = this;
    c->previous = last_;
    (last_ != nullptr ? last_->next : first_) = c;
    last_ = c;
    stop_writing(pool);
    writing_ = c;
    if (unread_ == nullptr) start_reading(c);
    else if (backlog_ == 1 && read_at_ == unread_->end) finish_reading();
    // The limit last: a signal's handler finds no room before.
    publish(c->begin());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    limit = c->limit();
  }
  /// The thread ends, or the log is to be emptied: what was written stays in the timeline, the next
  /// scope takes a new chunk.
  void stop_writing(chunk_pool& pool) noexcept {
    if (writing_ == nullptr) return;
    writing_->end = published();
    ++backlog_;
    pool.retire(writing_);
    writing_ = nullptr;
    limit = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    publish(nullptr);
  }

  /// Folds what has been published. Where it throws for want of memory, each record is either in
  /// the totals or still to be folded, and folding goes on there the next time.
  /// `stop_at`: where to stop in the chunk that is being written.
  void fold(const char* stop_at = nullptr) {
    if (stop_at == nullptr && writing_ != nullptr) stop_at = published();
    fold_full(backlog_);
    if (unread_ != nullptr && unread_ == writing_) fold_records(*unread_, stop_at);
    folds_when_full_ = false;
  }
  /// The chunk that is being written is full: folds it, by the thread itself, while it is in the
  /// cache. That is left to a snapshot until `deferrable` chunks wait for one. From then on until
  /// the next snapshot each call folds one chunk more than has been filled, up to the last.
  void fold_when_full(std::uint32_t deferrable) {
    if (backlog_ >= deferrable) folds_when_full_ = true;
    if (!folds_when_full_) return;
    fold_full(2);
    if (backlog_ == 0 && writing_ != nullptr) fold_records(*unread_, next_record());
  }

  /// Takes a full chunk that has been folded out of the log.
  void release(chunk* c) noexcept {
    (c->previous != nullptr ? c->previous->next : first_) = c->next;
    (c->next != nullptr ? c->next->previous : last_) = c->previous;
  }
  /// Gives the chunks back that have been folded, but for those that another thread is about to
  /// recycle.
  void release_full(chunk_pool& pool) noexcept {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      if (c->folded && pool.take_back(c)) {
        release(c);
        pool.give_back(c);
      }
      c = next;
    }
  }

  /// Drops everything, unread. The thread does not exist.
  void discard(chunk_pool& pool) noexcept {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      static_cast<void>(pool.take_back(c));
      pool.give_back(c);
      c = next;
    }
    first_ = last_ = writing_ = unread_ = nullptr;
    backlog_ = 0;
    limit = nullptr;
    publish(nullptr);
    stack.clear();
  }

  /// Forgets the totals and the timeline, of what has been folded. Scopes that are open stay open,
  /// as if they had begun at `now`. The thread may be writing.
  void forget(std::uint64_t now, chunk_pool& pool) noexcept {
    release_full(pool);
    // Of those that are left another thread is about to recycle some.
    for (chunk* c = first_; c != nullptr; c = c->next) {
      if (c != unread_ && !c->folded) continue;
      c->timeline_from = c->folded ? c->end : read_at_;
      c->ends = 0;
    }
    if (unread_ != nullptr) unread_->first_depth = static_cast<std::uint32_t>(stack.size());
    tree.clear_but(stack);
    missing.clear();
    for (open_frame& f : stack) {
      // Its call counts in this recording, and what it launched before does not. That needs no
      // memory: a node is no further back than it was.
      if (f.launched) missing.add(f.node, record_kind::ignored_launch);
      f = {f.node, f.adopted, now, 0};
    }
    device.clear();
    paths.clear();
    for (launch_note& n : launches) n.path = launch_note::ignored;
    counts = {};
    static_cast<void>(take_finished());
  }

  /// The path of the innermost open scope, for whoever keeps it; 0 when nothing is open.
  std::uint32_t capture() {
    fold();
    const std::uint32_t path = innermost_path();
    paths.keep(path);
    return path;
  }

  /// The same for a node that is being captured into a graph, and is work of the scopes around it.
  captured_scope capture_for(std::uint64_t graph) {
    captured_scope out{capture(), 0};
    for (std::size_t i = stack.size(); i-- > 0 && !stack[i].adopted && stack[i].graph != graph + 1;
         ++out.scopes_started_here)
      stack[i].graph = graph + 1;
    return out;
  }

  /// Scopes that finished within what the log still holds.
  std::uint64_t timeline_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const chunk* c = first_; c != nullptr; c = c->next) n += c->ends;
    return n;
  }
  /// Calls visit(node, start, end) for each finished scope whose begin and end the log still holds.
  template <class Visit>
  void visit_timeline(Visit visit) const {
    timeline_walk<Visit> walk(visit, first_ == nullptr ? 0 : first_->first_depth);
    for (const chunk* c = first_; c != nullptr; c = c->next) {
      const char* const unread = c == unread_ ? read_at_ : c->timeline_from;
      walk.over(c->timeline_from, c->folded ? c->end : unread);
    }
  }

  std::uint64_t thread_id = 0;
  std::string thread_name;
  bool ended = false;
  std::uint32_t drops_until_search = 0;  // of abandoned scopes; for the thread itself
  int end_rounds = 0;                    // of the destructors of the thread's keys, the same
  thread_log* next_free = nullptr;

 private:
  void start_reading(chunk* c) noexcept {
    unread_ = c;
    if (c == nullptr) return;
    read_at_ = c->timeline_from = c->begin();
    c->first_depth = static_cast<std::uint32_t>(stack.size());
  }

  /// Folds the oldest chunks of the backlog, at most so many.
  void fold_full(std::uint32_t chunks) {
    for (; chunks != 0 && backlog_ != 0; --chunks) {
      fold_records(*unread_, unread_->end);
      finish_reading();
    }
  }
  /// The oldest chunk of the backlog has been folded.
  void finish_reading() noexcept {
    unread_->folded = true;
    --backlog_;
    start_reading(unread_->next);
  }

  [[gnu::noinline]] void fold_records(chunk& c, const char* stop) {
    c.last_ticks = fold_up_to(stop, c.last_ticks);
    c.ends += take_finished();
  }

  std::mutex mutex_;        // guards all of the log but what the thread itself writes: log_head
  chunk* first_ = nullptr;  // of the timeline, oldest first
  chunk* last_ = nullptr;
  chunk* writing_ = nullptr;   // the last one, while the thread writes in it
  chunk* unread_ = nullptr;    // where folding goes on, at read_at_
  std::uint32_t backlog_ = 0;  // full chunks that have not been folded
  bool folds_when_full_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/thread_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_nodes {
 public:
  /// Keeps so many nodes of destroyed graphs, and four times as many in all. Beyond that, the
  /// graphs that have not been used for longest are forgotten.
  void set_limit(std::size_t nodes) {
    const std::lock_guard lock(mutex_);
    kept_destroyed_ = std::max<std::size_t>(nodes, 4096);
  }

  /// A CUDA call made the node. A node that is known as a copy stays one, since instantiating a
  /// graph reports its nodes both ways.
  void made(std::uint64_t id, captured_scope where) {
    const std::lock_guard lock(mutex_);
    node& n = node_of(id);
    if (!n.copied) n.where = where;
  }
  /// The node was made as a copy of `original`.
  void copied(std::uint64_t id, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    const captured_scope where = scope_of(original);
    node& n = node_of(id);
    n.where = where;
    n.copied = true;
  }
  /// The node, of an executable graph, became a copy of `original` at `now`, in the clock of
  /// launches. Launches before that ran what it was until then, which is not known where nobody
  /// told how the node came to be.
  void updated(std::uint64_t id, std::uint64_t original, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    const captured_scope where = scope_of(original);
    node& n = node_of(id);
    const captured_scope before = n.copied ? n.where : captured_scope{unknown_path, 0};
    const bool differs =
        before.path != where.path || before.scopes_started_here != where.scopes_started_here;
    // Without memory for what it was, what it is must not be told of earlier launches.
    const bool kept = !differs || attempt([&] { keep_version(id, {now, before}); });
    n.where = kept ? where : captured_scope{unknown_path, 0};
    n.copied = true;
  }
  /// The node was destroyed. A graph counts as destroyed once none of its nodes is left.
  void destroyed(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(graph_of(id));
    if (at == graphs_.end() || at->second.alive == 0 || --at->second.alive != 0) return;
    const bool runs = !at->second.nodes.empty() && at->second.nodes.front().copied;
    if (!runs) return forget(at->first);  // no records name it
    destroyed_nodes_ += at->second.nodes.size();
    at->second.is_destroyed = true;
    destroyed_.push_back(at->first);
    while (destroyed_nodes_ > kept_destroyed_ && destroyed_.size() > 1) {
      forget(destroyed_.front());
      destroyed_.pop_front();
    }
  }

  /// The scope that the node belonged to when a launch was made; false when that is not known.
  bool find(std::uint64_t id, std::uint64_t launched, captured_scope& where) {
    const std::lock_guard lock(mutex_);
    const node* const n = used(id);
    if (n == nullptr) return false;
    where = n->where;
    if (!updates_.empty()) {
      if (const auto at = updates_.find(id); at != updates_.end())
        for (std::size_t i = at->second.size(); i-- > 0 && launched < at->second[i].until;)
          where = at->second[i].where;
    }
    return where.path != unknown_path;
  }
  /// Nodes that are remembered.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return nodes_;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum =
        graphs_.size() * (sizeof(graph) + 4 * sizeof(void*)) + order_.size() * sizeof(order_[0]);
    for (const auto& [number, g] : graphs_) sum += g.nodes.capacity() * sizeof(node);
    // a deque holds 512 bytes at least
    for (const auto& [id, older] : updates_) sum += 512 + older.size() * sizeof(version);
    return sum;
  }
  /// How many graphs were forgotten though their destruction was not seen.
  std::uint64_t forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t unknown_path = captured_scope::unknown_path;
  static constexpr std::size_t kept_versions = 64;

  struct node {
    std::uint32_t number = 0;  // in its graph
    bool copied = false;
    captured_scope where;
  };
  struct graph {
    std::vector<node> nodes;  // by rising number
    std::size_t alive = 0;
    bool is_destroyed = false;  // and in destroyed_
    bool was_used = false;      // since forget_beyond last considered it
  };
  struct version {
    std::uint64_t until;
    captured_scope where;
  };

  // CUPTI's numbers of nodes are that of the graph and, in the lower half, one within it.
  static std::uint64_t graph_of(std::uint64_t id) noexcept { return id >> 32U; }
  static bool comes_before(const node& n, std::uint32_t number) noexcept {
    return n.number < number;
  }

  /// Of a node that is copied. It may have been captured before the recording: then the copy's
  /// scope is not known either, even if an earlier node had the same number.
  captured_scope scope_of(std::uint64_t original) {
    const node* const from = used(original);
    return from == nullptr ? captured_scope{unknown_path, 0} : from->where;
  }
  node& node_of(std::uint64_t id) {
    const auto [at, is_new] = graphs_.try_emplace(graph_of(id));
    if (is_new) forget_beyond(4 * kept_destroyed_, at->first);
    graph& g = graphs_[graph_of(id)];
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(g.nodes.begin(), g.nodes.end(), number, comes_before);
    if (place != g.nodes.end() && place->number == number) return *place;
    ++nodes_;
    ++g.alive;
    return *g.nodes.insert(place, {number, false, {}});
  }
  const node* used(std::uint64_t id) {
    const auto at = graphs_.find(graph_of(id));
    if (at == graphs_.end()) return nullptr;
    at->second.was_used = true;
    const std::vector<node>& all = at->second.nodes;
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(all.begin(), all.end(), number, comes_before);
    return place != all.end() && place->number == number ? &*place : nullptr;
  }

  void keep_version(std::uint64_t id, const version& v) {
    std::deque<version>& older = updates_[id];
    older.push_back(v);
    if (older.size() <= kept_versions) return;
    // What the node was at first is forgotten, but not that it was something else.
    older.pop_front();
    older.front().where = {unknown_path, 0};
  }
  void forget(std::uint64_t number) {
    const auto at = graphs_.find(number);
    if (at == graphs_.end()) return;
    nodes_ -= at->second.nodes.size();
    if (at->second.is_destroyed) destroyed_nodes_ -= at->second.nodes.size();
    if (!updates_.empty())
      for (const node& n : at->second.nodes) updates_.erase(number << 32U | n.number);
    graphs_.erase(at);
  }
  /// CUPTI does not report the destruction of every graph: the least recently used ones are assumed
  /// to be destroyed. A graph that was used since the last time is kept once more.
  void forget_beyond(std::size_t most, std::uint64_t made) {
    order_.push_back(made);
    while (nodes_ > most && order_.size() > 1) {
      const std::uint64_t oldest = order_.front();
      order_.pop_front();
      const auto at = graphs_.find(oldest);
      if (at == graphs_.end()) continue;
      if (std::exchange(at->second.was_used, false) || oldest == made) {
        order_.push_back(oldest);
      } else {
        if (!at->second.is_destroyed) ++forgotten_;
        forget(oldest);
      }
    }
    if (order_.size() > 2 * graphs_.size() + 64)
      std::erase_if(order_, [this](std::uint64_t g) { return graphs_.count(g) == 0; });
  }

  std::mutex mutex_;  // guards all of it
  std::unordered_map<std::uint64_t, graph> graphs_;
  // the scopes that nodes belonged to before updates, oldest first
  std::unordered_map<std::uint64_t, std::deque<version>> updates_;
  std::deque<std::uint64_t>
      order_;  // graphs, in the order in which they were made or kept once more
  std::deque<std::uint64_t> destroyed_;
  std::uint64_t forgotten_ = 0;
  std::size_t nodes_ = 0;
  std::size_t destroyed_nodes_ = 0;
  std::size_t kept_destroyed_ = 65536;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/graph_nodes.hpp>

// <kprof/attribute/kernel_names.hpp>
#ifndef KPROF_ATTRIBUTE_KERNEL_NAMES_HPP
#define KPROF_ATTRIBUTE_KERNEL_NAMES_HPP

// Numbers for the names of kernels. CUPTI owns the text of a name, which may disappear when the
// kernel's library is unloaded.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class kernel_names {
 public:
  explicit kernel_names(tree_budget& budget) : budget_(&budget) {}
  ~kernel_names() { budget_->remove(charged_); }
  kernel_names(const kernel_names&) = delete;
  kernel_names& operator=(const kernel_names&) = delete;

  void clear() {
    for (slot& s : recent_) s = {};
    numbers_.clear();
    names_.clear();
    budget_->remove(charged_);
    charged_ = 0;
  }

  /// 1, 2, ...; device_key::merged_name once the memory is used up.
  std::uint32_t number_of(const char* name) {
    if (name == nullptr) name = "(no name)";
    // The records of one kernel share one text. Comparing it again is cheap, and needed: another
    // library's name may have come to the same address.
    slot& s = recent_[reinterpret_cast<std::uintptr_t>(name) / 16 % recent_size];
    if (s.text == name && names_[s.number - 1] == name) return s.number;
    const std::uint32_t number = look_up(name);
    if (number != device_key::merged_name) s = {name, number};
    return number;
  }
  const std::vector<std::string>& all() const noexcept { return names_; }

 private:
  static constexpr std::size_t recent_size = 512;
  struct slot {
    const char* text = nullptr;
    std::uint32_t number = 0;
  };

  std::uint32_t look_up(const char* name) {
    std::string text(name);
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    if (budget_->nearly_spent()) return device_key::merged_name;
    budget_->add(2 * text.size() + 160);
    charged_ += 2 * text.size() + 160;
    names_.push_back(text);
    const auto number = static_cast<std::uint32_t>(names_.size());
    numbers_.emplace(std::move(text), number);
    return number;
  }

  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  slot recent_[recent_size];
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/kernel_names.hpp>

// <kprof/attribute/known_devices.hpp>
#ifndef KPROF_ATTRIBUTE_KNOWN_DEVICES_HPP
#define KPROF_ATTRIBUTE_KNOWN_DEVICES_HPP

// The devices that a collector has described or that did something, and how long each was busy.

// <kprof/attribute/busy_time.hpp>
#ifndef KPROF_ATTRIBUTE_BUSY_TIME_HPP
#define KPROF_ATTRIBUTE_BUSY_TIME_HPP

// How long a device was busy: the length of the union of its intervals of work, which come in any
// order. Memory is bounded: only the sum is kept of the oldest intervals.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class busy_time {
 public:
  /// Adds an interval, in ns. Intervals are gathered and sorted from time to time, since a tree of
  /// intervals takes three times as long.
  void add(std::uint64_t start, std::uint64_t end) {
    if (end <= start) return;
    sum_ += end - start;
    if (start < closed_) {  // it comes so late that a part of it may have been counted
      exact_ = false;
      start = closed_;
      if (end <= start) return;
    }
    if (!intervals_.empty() && start >= intervals_.back().start && start <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, end);
      return;
    }
    if (intervals_.size() == most_intervals) {
      unite();
      if (intervals_.size() > most_intervals / 2) close_oldest();
      return add_again(start, end);
    }
    intervals_.push_back({start, end});
  }

  /// Nanoseconds in which there was work.
  std::uint64_t busy() {
    unite();
    std::uint64_t open = 0;
    for (const interval& i : intervals_) open += i.end - i.start;
    return over_ + open;
  }
  std::uint64_t sum() const noexcept { return sum_; }
  /// False: intervals came so far out of order that busy() is only a lower bound.
  bool exact() const noexcept { return exact_; }

 private:
  static constexpr std::size_t most_intervals = 32768;
  struct interval {
    std::uint64_t start, end;
  };

  void add_again(std::uint64_t start, std::uint64_t end) {
    sum_ -= end - start;
    add(start, end);
  }

  /// Makes the intervals disjoint and sorted.
  void unite() {
    const auto earlier = [](const interval& a, const interval& b) { return a.start < b.start; };
    const auto middle = intervals_.begin() + static_cast<std::ptrdiff_t>(united_);
    std::sort(middle, intervals_.end(), earlier);
    std::inplace_merge(intervals_.begin(), middle, intervals_.end(), earlier);
    std::size_t kept = 0;
    for (const interval& i : intervals_) {
      if (kept != 0 && i.start <= intervals_[kept - 1].end)
        intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, i.end);
      else intervals_[kept++] = i;
    }
    intervals_.resize(kept);
    united_ = kept;
  }

  void close_oldest() {
    const std::size_t half = intervals_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) over_ += intervals_[i].end - intervals_[i].start;
    closed_ = intervals_[half - 1].end;
    intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(half));
    united_ = intervals_.size();
  }

  std::vector<interval> intervals_;
  std::size_t united_ = 0;  // how many of them, from the first on, are sorted and disjoint
  std::uint64_t over_ = 0;  // length of the intervals before closed_, which are not kept
  std::uint64_t closed_ = 0;
  std::uint64_t sum_ = 0;
  bool exact_ = true;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/busy_time.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class known_devices {
 public:
  void describe(const device_description& d) {
    device_info& known = of(d.id).info;
    known.described = true;
    known.name = d.name == nullptr ? "" : d.name;
    known.compute_major = d.compute_major;
    known.compute_minor = d.compute_minor;
    known.multiprocessors = d.multiprocessors;
    known.memory_bytes = d.memory_bytes;
    known.memory_bytes_per_s = d.memory_bytes_per_s;
    known.clock_hz = d.clock_hz;
  }
  /// Counts an activity that has times.
  void add(const activity& a) { of(a.device).busy.add(a.start, a.end); }

  /// Keeps the descriptions.
  void forget_times() {
    for (device& d : all_) d.busy = {};
  }

  /// The devices that are known or did something, by their numbers.
  std::vector<device_info> profile() {
    std::vector<device_info> out;
    for (device& d : all_) {
      if (!d.info.described && d.busy.sum() == 0) continue;
      d.info.busy_ns = static_cast<double>(d.busy.busy());
      d.info.sum_ns = static_cast<double>(d.busy.sum());
      d.info.busy_is_exact = d.busy.exact();
      out.push_back(d.info);
    }
    std::sort(out.begin(), out.end(),
              [](const device_info& a, const device_info& b) { return a.id < b.id; });
    return out;
  }

 private:
  struct device {
    device_info info;
    busy_time busy;
  };

  device& of(std::uint32_t id) {
    for (device& d : all_)
      if (d.info.id == id) return d;
    device& made = all_.emplace_back();
    made.info.id = id;
    return made;
  }

  std::vector<device> all_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/known_devices.hpp>

// <kprof/attribute/launch_table.hpp>
#ifndef KPROF_ATTRIBUTE_LAUNCH_TABLE_HPP
#define KPROF_ATTRIBUTE_LAUNCH_TABLE_HPP

// The launches whose records may still come, by correlation id. The table is bounded: it forgets
// the oldest launches first, and those whose record has come before those that wait for theirs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A launch as threads noted it, under one of its correlation ids.
struct known_launch {
  std::uint32_t correlation = 0;
  std::uint32_t path = 0;    // of the scopes around it, or launch_note::ignored
  std::uint32_t thread = 0;  // number of its log
  std::uint32_t older = 0;   // position in the ring of the next older one of its bucket, plus 1
  std::uint64_t when = 0;    // CLOCK_REALTIME ns when the call began
  // this is another id of the launch that stands so many places before; 0: it is a launch's first
  std::uint32_t alias_by = 0;
  record_kind kind = record_kind::kernel_launch;
  bool seen = false;           // a record of it has come
  bool may_have_more = false;  // it launched a graph: more records may come
  std::uint8_t spared = 0;     // how often it was kept for that although it was the oldest
};

class launch_table {
 public:
  /// Remembers `some` launches, and up to `most` while so many wait for their records.
  void set_limit(std::size_t some, std::size_t most) {
    std::size_t size = 1024;
    while (size < some) size *= 2;
    most_ = std::max(most, size);
    if (size <= ring_.size()) return;
    std::vector<known_launch> ring(size);
    std::vector<std::uint32_t> buckets(size, 0);
    clear();
    ring_.swap(ring);
    buckets_.swap(buckets);
  }
  void clear() noexcept {
    first_ = end_ = 0;
    for (std::uint32_t& b : buckets_) b = 0;
  }

  /// Gives all launches so far this path: their records are still recognised when they come.
  void ignore_all(std::uint32_t ignored_path) noexcept {
    for (std::uint64_t i = first_; i != end_; ++i) at(i).path = ignored_path;
  }

  /// The other ids of a launch are added right after it. 0 is no id.
  void add(const known_launch& launch) {
    if (ring_.empty() || launch.correlation == 0) return;
    // Not between the ids of one launch, which go by their distance.
    if (launch.alias_by == 0) {
      if (end_ - first_ >= ring_.size() / 2 && is_spared(at(first_))) bring_forward();
      while (end_ - first_ >= ring_.size() / 2 && is_done(at(first_))) forget_oldest();
    }
    if (end_ - first_ == ring_.size()) {
      const bool may_grow = 2 * ring_.size() <= most_;
      if (!may_grow || !attempt([this] { grow(); })) forget_oldest();
    }
    append(launch);
  }

  /// The latest launch with this id, or nullptr. Ids begin anew after 2^32.
  known_launch* find(std::uint32_t correlation) noexcept {
    if (ring_.empty() || correlation == 0) return nullptr;
    for (std::uint32_t i = bucket_of(correlation); i != 0; i = ring_[i - 1].older)
      if (ring_[i - 1].correlation == correlation) return &ring_[i - 1];
    return nullptr;
  }
  /// The launch of which `l` is another id, or itself.
  known_launch& primary(known_launch& l) noexcept {
    const auto position = static_cast<std::size_t>(&l - ring_.data());
    known_launch& p = ring_[(position - l.alias_by) & (ring_.size() - 1)];
    // the launch's first id may have been forgotten, and its place used again
    return p.path == l.path && p.thread == l.thread && p.when == l.when ? p : l;
  }

  std::size_t bytes() const noexcept {
    return ring_.size() * (sizeof(known_launch) + sizeof(std::uint32_t));
  }

 private:
  /// Whether no more records are expected. Another id of a launch becomes the oldest entry only
  /// once the launch itself has been forgotten.
  static bool is_done(const known_launch& l) noexcept {
    return l.alias_by != 0 || (l.seen && !is_spared(l));
  }
  static bool is_spared(const known_launch& l) noexcept { return l.may_have_more && l.spared < 8; }
  /// Makes the oldest launch, with its other ids, the newest.
  void bring_forward() noexcept {
    do {
      known_launch oldest = at(first_);
      ++oldest.spared;
      forget_oldest();
      append(oldest);
    } while (first_ + 1 < end_ && at(first_).alias_by != 0);
  }
  known_launch& at(std::uint64_t i) noexcept { return ring_[i & (ring_.size() - 1)]; }
  std::uint32_t& bucket_of(std::uint32_t correlation) noexcept {
    return buckets_[(correlation * 0x9E3779B1U >> 7U) & (buckets_.size() - 1)];
  }
  void append(const known_launch& launch) noexcept {
    std::uint32_t& bucket = bucket_of(launch.correlation);
    known_launch& made = at(end_);
    made = launch;
    made.older = bucket;
    bucket = static_cast<std::uint32_t>(end_++ & (ring_.size() - 1)) + 1;
  }
  void grow() {
    std::vector<known_launch> ring(2 * ring_.size());
    std::vector<std::uint32_t> buckets(ring.size(), 0);
    ring_.swap(ring);
    buckets_.swap(buckets);
    const std::uint64_t first = std::exchange(first_, 0), end = std::exchange(end_, 0);
    for (std::uint64_t i = first; i != end; ++i) append(ring[i & (ring.size() - 1)]);
  }
  void forget_oldest() noexcept {
    const auto place = static_cast<std::uint32_t>(first_ & (ring_.size() - 1)) + 1;
    std::uint32_t* link = &bucket_of(at(first_).correlation);
    while (*link != place) link = &ring_[*link - 1].older;
    *link = 0;  // it is the oldest, so the last of its bucket
    ++first_;
  }

  std::vector<known_launch> ring_;      // a power of two
  std::vector<std::uint32_t> buckets_;  // the newest of each, plus 1
  std::uint64_t first_ = 0, end_ = 0;
  std::size_t most_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/launch_table.hpp>

// <kprof/attribute/log_cursor.hpp>
#ifndef KPROF_ATTRIBUTE_LOG_CURSOR_HPP
#define KPROF_ATTRIBUTE_LOG_CURSOR_HPP

// The thread log that attribution is writing to. Consecutive activities mostly belong to one
// thread and one scope, so the cursor keeps the log locked and remembers the last answers.

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds the lock of one log at a time. `FindLog`: the function that recorder::with_threads gives.
template <class FindLog>
class log_cursor {
 public:
  explicit log_cursor(FindLog find) : find_(find) {}
  ~log_cursor() { unlock(); }
  log_cursor(const log_cursor&) = delete;
  log_cursor& operator=(const log_cursor&) = delete;

  /// The log of the thread with this number, locked; nullptr when there is none. Unlocks the log of
  /// the thread before.
  thread_log* move_to(std::uint32_t thread) {
    if (log_ != nullptr && thread == thread_) return log_;
    unlock();
    thread_ = thread;
    log_ = find_(thread);
    if (log_ != nullptr) log_->mutex().lock();
    path_ = checked_node_ = none;
    return log_;
  }
  /// The node of a path in the log's call tree.
  std::uint32_t node_of(std::uint32_t path) {
    if (path != path_) node_ = log_->paths.node_of(path), path_ = path;
    return node_;
  }
  /// Whether the node is an operator's or lies below one.
  bool in_operator(std::uint32_t node, const site_table& sites) {
    if (node == checked_node_) return checked_node_is_in_operator_;
    checked_node_ = node;
    while (node != call_tree::root && sites[log_->tree[node].site].op == nullptr)
      node = log_->tree[node].parent;
    return checked_node_is_in_operator_ = node != call_tree::root;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void unlock() {
    if (log_ != nullptr) log_->mutex().unlock();
    log_ = nullptr;
  }

  FindLog find_;
  thread_log* log_ = nullptr;
  std::uint32_t thread_ = 0;
  // the last answer of node_of
  std::uint32_t path_ = none;
  std::uint32_t node_ = 0;
  // the last answer of in_operator
  std::uint32_t checked_node_ = none;
  bool checked_node_is_in_operator_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/log_cursor.hpp>

// <kprof/attribute/pending_activities.hpp>
#ifndef KPROF_ATTRIBUTE_PENDING_ACTIVITIES_HPP
#define KPROF_ATTRIBUTE_PENDING_ACTIVITIES_HPP

// Activities whose launch is not known yet: a CUDA call may take longer than the work that it
// launched, and is noted at its end. Bounded; attribution decides what becomes of those that are
// pushed out.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct pending_activity {
  activity what;       // its name's text is CUPTI's and may be gone
  std::uint32_t name;  // the number of the kernel's name, or 0
};

class pending_activities {
 public:
  /// Keeps `memory` / 2048 activities, 256 at least.
  void set_limit(std::size_t memory) {
    most_ = std::max<std::size_t>(memory / 2048, 256);
    all_.reserve(most_);
  }
  void clear() noexcept { all_.clear(); }

  /// The caller makes room first where is_full().
  void add(const activity& a, std::uint32_t name) { all_.push_back({a, name}); }
  bool is_full() const noexcept { return all_.size() >= most_; }
  bool empty() const noexcept { return all_.empty(); }
  std::size_t size() const noexcept { return all_.size(); }
  std::size_t bytes() const noexcept { return all_.capacity() * sizeof(pending_activity); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

  /// Counts records that came, each of which pays for one retry.
  void count_records(std::size_t how_many) noexcept { records_since_retry_ += how_many; }
  /// Whether as many records came since the last retry as there are pending activities. So a record
  /// that never finds its launch is retried at most once per new record.
  bool retry_is_due() const noexcept { return records_since_retry_ >= all_.size(); }
  /// The same for when the room is used up, where a retry may make some.
  bool retry_may_make_room() const noexcept { return records_since_retry_ >= most_ / 4; }

  /// All of them, for a retry. attribution adds those again whose launch is still not known.
  std::vector<pending_activity> take_for_retry() {
    records_since_retry_ = 0;
    std::vector<pending_activity> taken;
    taken.swap(all_);
    return taken;
  }
  /// A quarter of what fits, the oldest.
  std::vector<pending_activity> take_oldest() { return take(std::min(most_ / 4, all_.size())); }
  std::vector<pending_activity> take_all() { return take(all_.size()); }

 private:
  std::vector<pending_activity> take(std::size_t how_many) {
    const auto last = all_.begin() + static_cast<std::ptrdiff_t>(how_many);
    std::vector<pending_activity> taken(all_.begin(), last);
    all_.erase(all_.begin(), last);
    return taken;
  }

  std::vector<pending_activity> all_;  // oldest first
  std::size_t most_ = 1024;
  std::size_t records_since_retry_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/pending_activities.hpp>

// <kprof/record/recorder.hpp>
#ifndef KPROF_RECORD_RECORDER_HPP
#define KPROF_RECORD_RECORDER_HPP

// The recorder: all threads' logs, the memory they share, and what happens when the process forks
// or a module is unloaded. One per process, never freed. What guards call is in
// scope_functions.hpp.
// Locks are taken in this order: the list of threads, one thread's log, then sites, paths or the
// pool.

// <kprof/record/clock.hpp>
#ifndef KPROF_RECORD_CLOCK_HPP
#define KPROF_RECORD_CLOCK_HPP

// The clock of the recorder: the CPU's invariant counter where there is one, else clock_gettime.
// Counter ticks become nanoseconds through calibration points, each the same moment on the counter,
// CLOCK_MONOTONIC (for durations, since nobody sets it) and CLOCK_REALTIME (for other tools'
// records). Reading is thread-safe, calibrating is not.

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

KPROF_DETAIL_BEGIN
namespace detail {

inline std::uint64_t nanoseconds_of(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// The CPU's counter, by the compiler's builtin: <x86intrin.h> is 50,000 lines, an lfence would
/// double the cost.
struct counter_clock {
  static constexpr const char* name =
#if defined(__aarch64__)
      "cntvct";
#else
      "tsc";
#endif
  static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return nanoseconds_of(CLOCK_MONOTONIC);
#endif
  }
  /// Whether the counter runs at one rate on all cores and through sleep states.
  static bool usable() noexcept {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
  }
};

struct system_clock {
  static constexpr const char* name = "clock_gettime";
  static std::uint64_t now() noexcept { return nanoseconds_of(CLOCK_MONOTONIC); }
};

/// One moment on three clocks.
struct calibration_point {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

/// The narrowest of a few readings of CLOCK_MONOTONIC between two of the counter.
template <class Clock>
calibration_point calibrate() noexcept {
  calibration_point best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = Clock::now();
    const std::uint64_t monotonic = nanoseconds_of(CLOCK_MONOTONIC);
    const std::uint64_t after = Clock::now();
    const std::uint64_t realtime = nanoseconds_of(CLOCK_REALTIME);
    const std::uint64_t last = Clock::now();
    if (last - before < narrowest) {
      narrowest = last - before;
      // The realtime reading lies about as far behind `after` as the monotonic one behind `before`.
      best = {before + (after - before) / 2, monotonic, realtime};
    }
  }
  return best;
}

/// The line by which ticks become nanoseconds since the first calibration point. Its slope is that
/// of all stretches between points so far. CLOCK_MONOTONIC stands still or jumps where a machine is
/// suspended or a process moved to another: a stretch in which it has gone apart from the counter
/// says nothing of the slope, and is as long as the counter says.
class timebase {
 public:
  /// Begins anew. The slope that is known goes on to hold.
  void reset(calibration_point first) noexcept {
    points_[0] = first;
    size_ = 1;
    shift_ns_ = apart_ns_ = 0;
    apart_ = 0;
  }
  /// Learns the slope from a stretch outside the line.
  void learn(const calibration_point& from, const calibration_point& to) noexcept {
    const std::int64_t ticks = difference(to.ticks, from.ticks);
    const std::int64_t ns = difference(to.monotonic_ns, from.monotonic_ns);
    if (ticks <= 0 || ns < shortest_ns) return;
    ticks_ += static_cast<double>(ticks);
    ns_ += static_cast<double>(ns);
  }
  bool knows_slope() const noexcept { return ticks_ > 0; }

  /// Keeps at most `capacity` points, thinning out the older ones: a run of any length needs no
  /// more.
  void add(calibration_point point) noexcept {
    point.monotonic_ns -= static_cast<std::uint64_t>(shift_ns_);
    const std::int64_t off = distance(last(), point);
    if (off != 0) {
      ++apart_;
      apart_ns_ += off < 0 ? -off : off;
      shift_ns_ += off;
      point.monotonic_ns -= static_cast<std::uint64_t>(off);
    } else {
      learn(last(), point);
    }
    if (size_ == capacity) {
      size_ = 1;
      for (std::uint32_t i = 2; i < capacity; i += 2) points_[size_++] = points_[i];
    }
    points_[size_++] = point;
  }

  const calibration_point& first() const noexcept { return points_[0]; }
  const calibration_point& last() const noexcept { return points_[size_ - 1]; }

  double ns_per_tick() const noexcept { return knows_slope() ? ns_ / ticks_ : 1.0; }
  /// Nanoseconds from the first point to `ticks`; negative before it.
  double since_start_ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(difference(ticks, first().ticks)) * ns_per_tick();
  }
  /// Largest distance of a point from the line, but for stretches in which the clocks went apart;
  /// -1 with fewer than three points.
  double residual_ns() const noexcept {
    if (size_ < 3) return -1;
    double worst = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      const calibration_point& p = points_[i];
      const double off = since_start_ns(p.ticks) -
                         static_cast<double>(difference(p.monotonic_ns, first().monotonic_ns));
      worst = off > worst ? off : -off > worst ? -off : worst;
    }
    return worst;
  }
  /// In how many stretches the counter and CLOCK_MONOTONIC went apart, and how far in all.
  std::uint64_t times_apart() const noexcept { return apart_; }
  double apart_ns() const noexcept { return static_cast<double>(apart_ns_); }

 private:
  static constexpr std::uint32_t capacity = 64;
  // A point is some 25 ns off: shorter stretches would make the slope worse than it is known.
  static constexpr std::int64_t shortest_ns = 2000;

  static std::int64_t difference(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::int64_t>(a - b);
  }
  /// How much longer CLOCK_MONOTONIC says the stretch is than the counter; 0 where they agree but
  /// for readings that were interrupted and clocks that are being adjusted.
  std::int64_t distance(const calibration_point& from, const calibration_point& to) const noexcept {
    if (!knows_slope()) return 0;
    const std::int64_t ns = difference(to.monotonic_ns, from.monotonic_ns);
    const double by_counter = static_cast<double>(difference(to.ticks, from.ticks)) * ns_per_tick();
    const double off = static_cast<double>(ns) - by_counter;
    const double allowed = 20'000 + 0.01 * (by_counter < 0 ? -by_counter : by_counter);
    return off <= allowed && off >= -allowed ? 0 : static_cast<std::int64_t>(off);
  }

  calibration_point points_[capacity] = {};  // monotonic_ns: less all shifts before
  std::uint32_t size_ = 0;
  double ticks_ = 0;  // of the stretches that the slope is of
  double ns_ = 0;
  std::int64_t shift_ns_ = 0;
  std::int64_t apart_ns_ = 0;
  std::uint64_t apart_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/clock.hpp>

// <kprof/record/forked_child.hpp>
#ifndef KPROF_RECORD_FORKED_CHILD_HPP
#define KPROF_RECORD_FORKED_CHILD_HPP

// What the recorder knows of a fork in the child.

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// The child of a fork, until it has started over.
struct KPROF_DETAIL_LOCAL forked_child {
  std::atomic<bool> pending{false};
  // Guarded by the lock of the list of threads.
  thread_log* log = nullptr;  // of the thread that forked
  char* at = nullptr;         // where its log was
  std::uint64_t since = 0;    // ticks
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/forked_child.hpp>

// <kprof/record/recorder_counts.hpp>
#ifndef KPROF_RECORD_RECORDER_COUNTS_HPP
#define KPROF_RECORD_RECORDER_COUNTS_HPP

// What the recorder counts that belongs to no thread's log. Any thread, without a lock.

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the recorder has counted since the recording began, beside what the logs count.
struct recorder_counts {
  std::atomic<std::uint64_t> closed_elsewhere{0};  // ends of scopes that are not open on the thread
  std::atomic<std::uint64_t> dropped{0};           // scopes without a log or a number of their site
  std::atomic<std::uint64_t> launches_lost{0};     // of threads without a log
  std::atomic<std::uint64_t> dropped_inside{0};    // scopes opened while their thread was in kprof
  std::atomic<std::uint64_t> recycled_until{0};    // ticks; 0: the timeline is whole
  std::atomic<std::uint64_t> folding_ns{0};

  void reset() noexcept {
    for (auto* count : {&closed_elsewhere, &dropped, &launches_lost, &dropped_inside,
                        &recycled_until, &folding_ns})
      count->store(0, std::memory_order_relaxed);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/recorder_counts.hpp>

// <kprof/record/thread_list.hpp>
#ifndef KPROF_RECORD_THREAD_LIST_HPP
#define KPROF_RECORD_THREAD_LIST_HPP

// The logs of all threads: those that run, those of the threads that ended last, and one for the
// totals of all that ended before.

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_list {
 public:
  thread_list(site_table& sites, path_table& paths, tree_budget& budget, chunk_pool& pool)
      : sites_(&sites), paths_(&paths), budget_(&budget), pool_(&pool) {}

  std::mutex& mutex() noexcept { return mutex_; }

  /// Threads with a log that have not ended. Without the lock.
  std::uint32_t running() const noexcept { return running_.load(std::memory_order_relaxed); }

  // Everything below needs the lock.

  const std::vector<thread_log*>& logs() const noexcept { return logs_; }

  /// The log of the thread with this number or, if it has ended and is no longer kept apart, that
  /// of all such threads; nullptr when there is none.
  thread_log* find(std::uint32_t number) const noexcept {
    const auto it = std::find_if(logs_.begin(), logs_.end(),
                                 [number](const thread_log* log) { return log->number == number; });
    return it != logs_.end() ? *it : others_;
  }

  /// A log for the calling thread. Without memory it throws and changes nothing.
  thread_log& join() {
    merge_ended_threads();
    reserve_more(logs_, 1);
    thread_log* log = free_logs_;
    if (log != nullptr) {
      free_logs_ = log->next_free;
      log->begin_again(++last_number_);
    } else {
      log = make();
    }
    log->ended = false;
    log->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
    char name[16] = {};  // which a string holds without memory
    if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) log->thread_name = name;
    logs_.push_back(log);
    running_.fetch_add(1, std::memory_order_relaxed);
    return *log;
  }

  /// The log's thread ends. Scopes it still has open stay open.
  void leave(thread_log& log) noexcept {
    {
      const std::lock_guard own(log.mutex());
      log.stop_writing(*pool_);
      log.ended = true;
    }
    running_.fetch_sub(1, std::memory_order_relaxed);
    merge_ended_threads();
  }

  /// The threads of these logs do not exist in the child of a fork; `forked` is of the one that
  /// does, or nullptr.
  void forget_other_threads(thread_log* forked) noexcept {
    running_.store(forked != nullptr ? 1 : 0, std::memory_order_relaxed);
    for (thread_log* log : logs_) {
      if (log == forked) {
        log->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
        continue;
      }
      {
        const std::lock_guard own(log->mutex());
        log->discard(*pool_);
      }
      log->ended = true;
    }
  }

  /// Folds all that has been recorded, in the log `forked` only what lies before `forked_at`.
  /// Throws where there is no memory.
  void fold(const thread_log* forked, const char* forked_at) {
    for (thread_log* log : logs_) {
      const std::lock_guard own(log->mutex());
      log->fold(log == forked ? forked_at : nullptr);
    }
  }
  /// Folds the logs of ended threads, and moves their totals where memory is scarce. Throws where
  /// there is none.
  void fold_ended() {
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      if (!logs_[i]->ended) continue;
      {
        const std::lock_guard own(logs_[i]->mutex());
        logs_[i]->fold();
      }
      const std::size_t before = logs_.size();
      merge_ended_threads();
      if (logs_.size() != before) i = 0;
    }
  }
  /// Forgets all totals and the logs of ended threads, after fold(); what is open stays open from
  /// `now` on.
  void forget(std::uint64_t now) noexcept {
    for (std::size_t i = logs_.size(); i-- > 0;) {
      if (logs_[i]->ended) {
        retire(i);
        continue;
      }
      const std::lock_guard own(logs_[i]->mutex());
      logs_[i]->forget(now, *pool_);
    }
  }

 private:
  static constexpr std::ptrdiff_t kept_ended_threads = 64;

  thread_log* make() { return new thread_log(++last_number_, *sites_, *paths_, *budget_); }

  /// Moves the totals of ended threads that are too many to be kept apart, and of all when memory
  /// for totals is scarce: what threads have in common is then held once. Without any memory they
  /// are kept apart until another thread begins or ends.
  void merge_ended_threads() noexcept {
    const auto apart = [](const thread_log* t) {
      return t->ended && t->counts.merged_threads == 0;
    };
    for (;;) {
      const auto count = std::count_if(logs_.begin(), logs_.end(), apart);
      if (count <= (budget_->scarce() ? 0 : kept_ended_threads)) return;
      const auto oldest = std::find_if(logs_.begin(), logs_.end(), apart);
      const auto at = static_cast<std::size_t>(oldest - logs_.begin());
      if (!attempt([this, at] { merge_into_others(at); })) return;
    }
  }

  /// Without memory it throws, and nothing has been moved.
  void merge_into_others(std::size_t i) {
    reserve_more(logs_, 1);
    std::unique_ptr<thread_log> first(others_ == nullptr ? make() : nullptr);
    thread_log& others = first != nullptr ? *first : *others_;
    thread_log& from = *logs_[i];
    {
      // Nobody writes scopes into `others`: the list's lock is enough for it.
      const std::lock_guard own(from.mutex());
      from.fold();
      const std::vector<std::uint32_t> nodes = others.tree.places_of(from.tree);
      const std::vector<std::uint32_t> rows = others.device.places_of(from.device, nodes);
      others.missing.widen_to(others.tree.nodes().size());
      reserve_more(others.launches, from.launches.size());
      // From here on nothing fails.
      others.tree.take(from.tree, nodes);
      others.device.add(from.device, rows);
      others.missing.merge(from.missing, nodes);
      others.launches.insert(others.launches.end(), from.launches.begin(), from.launches.end());
      from.launches.clear();
      others.counts.add(from.counts);
      others.counts.never_closed += from.open_scopes();
      ++others.counts.merged_threads;
    }
    if (first != nullptr) {
      others_ = first.release();
      others_->ended = true;
      logs_.insert(logs_.begin(), others_);
      ++i;
    }
    retire(i);
  }

  /// Takes the log of an ended thread, which has been folded, off the list, for another thread to
  /// use.
  void retire(std::size_t i) noexcept {
    thread_log* log = logs_[i];
    logs_.erase(logs_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::lock_guard own(log->mutex());
    log->stack.clear();
    log->forget(0, *pool_);
    if (log == others_) others_ = nullptr;
    log->next_free = free_logs_;
    free_logs_ = log;
  }

  site_table* sites_;
  path_table* paths_;
  tree_budget* budget_;
  chunk_pool* pool_;
  std::mutex mutex_;  // guards all below, and `ended`, `thread_id` and `next_free` of the logs
  std::vector<thread_log*> logs_;
  thread_log* others_ = nullptr;  // the totals of ended threads that are not kept apart
  thread_log* free_logs_ = nullptr;
  std::uint32_t last_number_ = 0;
  std::atomic<std::uint32_t> running_{0};
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/thread_list.hpp>

#include <pthread.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL recorder;
// The recorder whose functions guards call, in the module that owns it.
KPROF_DETAIL_LOCAL inline constinit recorder* own_recorder = nullptr;

class KPROF_DETAIL_LOCAL recorder {
 public:
  static constexpr std::size_t smallest_memory = 1024 * 1024;

  recorder() {
    knows_thread_ends_ = pthread_key_create(&thread_end_, [](void* log) {
                           own_recorder->end_thread(*static_cast<thread_log*>(log));
                         }) == 0;
  }
  ~recorder() {
    if (knows_thread_ends_) pthread_key_delete(thread_end_);
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// A quarter of the memory may go to totals, the rest to logs.
  void set_memory(std::size_t bytes) noexcept {
    memory_limit_.store(bytes, std::memory_order_relaxed);
    budget_.set_limit(bytes / 4);
    pool_.set_limit(bytes - bytes / 4);
  }
  std::size_t memory_limit() const noexcept {
    return memory_limit_.load(std::memory_order_relaxed);
  }
  tree_budget& budget() noexcept { return budget_; }
  std::size_t memory_held() noexcept { return pool_.held() + budget_.now(); }

  /// Gives a call site its number; false when there are too many, and without memory.
  bool number(site& where) noexcept {
    bool numbered = false;
    return attempt([&] { numbered = sites_.number_of(where) != 0; }) && numbered;
  }

  /// Makes room in this thread's log for a record and the ends of all that is open then. Folds at
  /// most three chunks. False, and counted in `lost`, when there is no room.
  [[gnu::noinline]] bool more_room(std::size_t record, std::uint64_t log_counts::*lost) noexcept {
    const bool joined = attempt([this] { restart_in_child(), join(); });
    if (!joined || this_log == &empty_log) {
      const bool is_scope = lost == &log_counts::dropped;
      (is_scope ? counts_.dropped : counts_.launches_lost).fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    auto& log = *static_cast<thread_log*>(this_log);
    chunk* const c = log.fits_no_chunk(record) ? nullptr : refill(log);
    const std::lock_guard own(log.mutex());
    if (c == nullptr) {
      ++(log.counts.*lost);
      return false;
    }
    log.append(c, pool_);
    return true;
  }

  /// Counts a scope for which the tables have no place or no memory; always false.
  bool drop() noexcept {
    counts_.dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  /// Counts a scope that came while kprof itself was at work on its thread; always false.
  bool drop_inside() noexcept {
    counts_.dropped_inside.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  /// Counts an end that belongs to no open scope of its thread.
  void count_closed_elsewhere() noexcept {
    counts_.closed_elsewhere.fetch_add(1, std::memory_order_relaxed);
  }

  /// Calls visit(thread_log&) for each thread, folded up to now and locked. No thread joins or ends
  /// meanwhile.
  template <class Visit>
  void each_thread(Visit visit) {
    const mark_inside_kprof mark;
    restart_in_child();
    const std::lock_guard lock(threads_.mutex());
    timed([this] { threads_.fold_ended(); });
    for (thread_log* log : threads_.logs()) {
      const std::lock_guard own(log->mutex());
      timed([log] { log->fold(); });
      visit(*log);
    }
  }

  /// Calls use(find) while no thread joins or ends: find(number) is thread_list::find.
  template <class Use>
  void with_threads(Use use) {
    const mark_inside_kprof mark;
    const std::lock_guard lock(threads_.mutex());
    use([this](std::uint32_t number) -> thread_log* { return threads_.find(number); });
  }

  /// Notes in this thread's log a call that launched work on a device, under its own and other
  /// correlation ids. Without any its work cannot be found. `kind`: one of the launches.
  void note_launch(const std::uint32_t* ids, std::uint32_t count, std::uint64_t ticks,
                   record_kind kind) noexcept {
    if (inside_kprof) return;
    if (count > max_launch_ids) count = max_launch_ids;
    const std::uint32_t payload = count == 0 ? 0 : 4 * (count - 1);
    const std::uint64_t word = record_word(kind, count == 0 ? 0 : ids[0], payload);
    if (!has_room(*this_log, record_size(word))) {
      const mark_inside_kprof mark;
      if (!more_room(record_size(word), &log_counts::launches_lost)) return;
    }
    log_head* const log = this_log;
    const scope_token around = log->scopes.innermost();
    log->scopes.begin_change();
    char* const at = log->next_record();
    if (has_room(*log, at, around, record_size(word))) {
      put(at, word);
      put(at + 8, ticks);
      if (payload != 0) std::memcpy(at + record_header, ids + 1, payload);
      log->publish(at + record_size(word));
    } else {  // a signal's handler has taken the room
      counts_.launches_lost.fetch_add(1, std::memory_order_relaxed);
    }
    log->scopes.set_innermost(around);
  }

  /// The number of this thread's log.
  static std::uint32_t this_thread() noexcept {
    return this_log == &empty_log ? 0 : static_cast<const thread_log*>(this_log)->number;
  }

  /// The path of this thread's innermost open scope; 0: none, or no memory.
  std::uint32_t capture() noexcept {
    return with_own_log([](thread_log& log) { return log.capture(); });
  }
  /// Where this thread is, for a node of a graph that is being built; `does_work`: it may be the
  /// first work of a scope. unknown_path without memory.
  captured_scope capture_for_graph(std::uint64_t graph, bool does_work) noexcept {
    const auto use = [graph, does_work](thread_log& log) {
      return does_work ? log.capture_for(graph) : captured_scope{log.capture(), 0};
    };
    return with_own_log(use, {captured_scope::unknown_path, 0});
  }

  /// Forgets all totals; what is open stays open from `now` on. Without memory it throws, and
  /// nothing has been forgotten.
  void restart(std::uint64_t now) {
    const mark_inside_kprof mark;
    restart_in_child();
    const std::lock_guard lock(threads_.mutex());
    restart_locked(now);
    counts_.reset();
  }

  /// Turns everything that refers to a module's code into values, before it is unloaded. What there
  /// was no memory for has no values.
  void detach(const module_record& leaving) noexcept {
    static_cast<void>(attempt([this] { each_thread([](thread_log&) {}); }));
    sites_.forget_formulas(&leaving);
  }

  // The child of a fork has one thread, which goes on where it was, and a profile of its own.
  void before_fork() {
    threads_.mutex().lock();
    for (thread_log* log : threads_.logs()) log->mutex().lock();
    sites_.mutex().lock();
    paths_.mutex().lock();
    pool_.mutex().lock();
  }
  void after_fork() {
    pool_.mutex().unlock();
    paths_.mutex().unlock();
    sites_.mutex().unlock();
    for (thread_log* log : threads_.logs()) log->mutex().unlock();
    threads_.mutex().unlock();
  }
  /// In the child. Most children run another program at once, so the work of starting over is left
  /// to the child's first scope or snapshot.
  void in_child(std::uint64_t now) noexcept {
    after_fork();
    counts_.reset();
    child_.since = now;
    child_.log = this_log == &empty_log ? nullptr : static_cast<thread_log*>(this_log);
    // Without room, its next scope comes by more_room().
    if (child_.log != nullptr) child_.log->limit = child_.at = child_.log->next_record();
    child_.pending.store(true, std::memory_order_release);
  }

  const site_table& sites() const noexcept { return sites_; }
  path_table& paths() noexcept { return paths_; }
  std::uint64_t dropped() const noexcept { return read(counts_.dropped); }
  std::uint64_t launches_lost() const noexcept { return read(counts_.launches_lost); }
  std::uint64_t dropped_inside() const noexcept { return read(counts_.dropped_inside); }
  std::uint64_t closed_elsewhere() const noexcept { return read(counts_.closed_elsewhere); }
  /// Time before which the timeline has been recycled, in ticks; 0: it is whole.
  std::uint64_t recycled_until() const noexcept { return read(counts_.recycled_until); }
  std::uint64_t folding_ns() const noexcept { return read(counts_.folding_ns); }

 private:
  static std::uint64_t read(const std::atomic<std::uint64_t>& count) noexcept {
    return count.load(std::memory_order_relaxed);
  }

  /// Chunks that a thread may leave to the next snapshot to fold: together a quarter of all. Those
  /// are folded when they have left the cache, but a program that takes a snapshot now and then
  /// pays for folding there and not in its scopes.
  std::uint32_t deferrable_chunks() const noexcept {
    const std::size_t all = memory_limit_.load(std::memory_order_relaxed) / chunk::size / 4;
    return static_cast<std::uint32_t>(all / (threads_.running() + 1));
  }

  template <class Fold>
  void timed(Fold fold) {
    const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
    fold();
    counts_.folding_ns.fetch_add(nanoseconds_of(CLOCK_MONOTONIC) - before,
                                 std::memory_order_relaxed);
  }

  template <class Use, class Result = std::invoke_result_t<Use, thread_log&>>
  Result with_own_log(Use use, Result without_memory = {}) noexcept {
    Result out{};
    if (this_log == &empty_log || inside_kprof) return out;
    const mark_inside_kprof mark;
    const bool had_memory = attempt([&] {
      restart_in_child();
      auto& log = *static_cast<thread_log*>(this_log);
      const std::lock_guard own(log.mutex());
      out = use(log);
    });
    return had_memory ? out : without_memory;
  }

  /// Folds what is due of this thread's log and returns a chunk for it to go on in, which belongs
  /// to no log; or nullptr. The caller holds no lock of a log.
  chunk* refill(thread_log& log) noexcept {
    chunk* c = nullptr;
    {
      const std::lock_guard own(log.mutex());
      // Without memory for the totals the records stay, and are folded later.
      static_cast<void>(attempt([&] { timed([&] { log.fold_when_full(deferrable_chunks()); }); }));
      c = pool_.take(log.oldest());
      if (c == nullptr || c->owner == nullptr) return c;
      if (c->owner == &log) return recycled(c);
    }
    const std::lock_guard other(c->owner->mutex());
    return recycled(c);
  }
  /// Takes a chunk out of the log it belongs to, whose lock the caller holds. nullptr where there
  /// is no memory for what it holds.
  chunk* recycled(chunk* c) noexcept {
    if (!c->folded && !attempt([&] { timed([c] { c->owner->fold(); }); })) {
      pool_.put_back(c);
      return nullptr;
    }
    c->owner->release(c);
    std::uint64_t until = recycled_until();
    while (until < c->last_ticks && !counts_.recycled_until.compare_exchange_weak(
                                        until, c->last_ticks, std::memory_order_relaxed)) {}
    return c;
  }

  /// Gives this thread a log, if it has none and has not ended.
  void join() {
    if (this_log != &empty_log || has_left_recorder) return;
    const std::lock_guard lock(threads_.mutex());
    thread_log& log = threads_.join();
    this_log = &log;
    if (knows_thread_ends_) pthread_setspecific(thread_end_, &log);
  }
  /// The thread ends. Destructors of other keys may have guards too: the log stays for all rounds
  /// of them but the last, in which sanitizers end the thread for themselves. What comes later is
  /// dropped.
  void end_thread(thread_log& log) noexcept {
    if (++log.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
        pthread_setspecific(thread_end_, &log) == 0)
      return;
    const mark_inside_kprof mark;
    const std::lock_guard lock(threads_.mutex());
    has_left_recorder = true;
    this_log = &empty_log;
    threads_.leave(log);
  }

  /// In the child of a fork, once: forgets the parent's other threads and starts over. Without
  /// memory it throws, and the next call tries again.
  void restart_in_child() {
    if (!child_.pending.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(threads_.mutex());
    if (!child_.pending.load(std::memory_order_relaxed)) return;
    threads_.forget_other_threads(child_.log);
    restart_locked(child_.since);
    child_.log = nullptr;
    child_.pending.store(false, std::memory_order_release);
  }
  void restart_locked(std::uint64_t now) {
    threads_.fold(child_.log, child_.at);
    threads_.forget(now);
    // Without memory what it would forget stays until the next recording.
    static_cast<void>(attempt([this] { paths_.next_recording(); }));
  }

  std::atomic<std::size_t> memory_limit_{0};
  tree_budget budget_;
  chunk_pool pool_;
  site_table sites_;
  path_table paths_{budget_};
  thread_list threads_{sites_, paths_, budget_, pool_};
  pthread_key_t thread_end_{};
  // false: the process has no more keys, and a thread that ended is shown as going on
  bool knows_thread_ends_ = false;
  forked_child child_;
  recorder_counts counts_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/recorder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL attribution {
 public:
  attribution(recorder& threads, tree_budget& budget)
      : threads_(threads), budget_(budget), names_(budget), unknown_(budget) {}

  /// Guards everything here but the graph nodes, which have a lock of their own. Locked before the
  /// recorder's locks.
  std::mutex& mutex() noexcept { return mutex_; }
  graph_nodes& graphs() noexcept { return graphs_; }

  /// Bytes of a session's `memory` that attribution takes, unless launches pile up.
  static constexpr std::size_t share(std::size_t memory) noexcept { return memory / 5; }

  // The caller of everything below holds the lock.

  /// Begins a recording at `now`, in CLOCK_REALTIME ns: forgets what was counted, and ignores the
  /// activities of launches made before. `memory`: bytes of the session.
  void restart(std::uint64_t now, std::size_t memory) {
    recording_since_ = now;
    // Unread records take an eighth of the memory at most, 88 bytes each at least, and a launch may
    // go by two ids.
    launches_.set_limit(memory / 256, memory / 128);
    graphs_.set_limit(memory / 1024);
    pending_.set_limit(memory);
    launches_.ignore_all(launch_note::ignored);
    pending_.clear();
    unknown_.clear();
    names_.clear();  // only rows refer to them
    devices_.forget_times();
    complete_ = {};
    reading_ns_ = 0;
  }

  /// Takes all launches that threads have noted so far. `to_realtime` turns their ticks into
  /// CLOCK_REALTIME ns.
  template <class ToRealtime>
  void take_launches(ToRealtime to_realtime) {
    threads_.each_thread([&](thread_log& log) {
      std::uint32_t alias_by = 0;
      for (const launch_note& n : log.launches) {
        alias_by = n.alias ? alias_by + 1 : 0;
        if (!n.alias && n.path != launch_note::ignored) ++complete_.launches;
        launches_.add({n.correlation, n.path, n.thread, 0, to_realtime(n.ticks), alias_by, n.kind});
      }
      log.launches.clear();
    });
  }

  /// Counts activities under the scopes of their launches; as dropped what there is no memory for.
  void take(const activity* some, std::size_t count) {
    threads_.with_threads([&](auto find_log) {
      log_cursor at(find_log);
      // One attempt for as many as there is memory for.
      for (std::size_t i = 0; i < count; ++i)
        if (!attempt([&] {
              for (; i < count; ++i) take_one(some[i], at);
            }))
          ++complete_.dropped;
    });
    pending_.count_records(count);
  }

  /// The records of all launches before `now`, in CLOCK_REALTIME ns, are about to be fetched.
  /// Called after take_launches().
  void begin_flush(std::uint64_t now) {
    flush_began_ = now;
    threads_.each_thread([](thread_log& log) { log.missing.begin_flush(); });
  }
  /// All of them have come.
  void end_flush() {
    const bool lost = complete_.dropped != 0 || complete_.unknown != 0 || !pending_.empty() ||
                      complete_.cut_buffers != 0 || complete_.foreign_buffers != 0;
    threads_.each_thread([lost](thread_log& log) { log.missing.end_flush(lost); });
  }

  /// Looks again for the launches of all pending activities.
  void retry_pending() {
    if (pending_.empty()) return;
    threads_.with_threads([&](auto find_log) {
      log_cursor at(find_log);
      retry_pending(at);
    });
  }
  /// The same if enough new records have come to pay for it.
  void retry_pending_if_due() {
    if (pending_.retry_is_due()) retry_pending();
  }
  /// No more launches will come: counts all pending activities as of unknown launch.
  void count_pending_as_unknown() { count_as_unknown(pending_.take_all()); }

  void describe(const device_description& d) { devices_.describe(d); }
  void count_loss(loss what, std::uint64_t how_many) noexcept {
    switch (what) {
      case loss::records: complete_.dropped += how_many; return;
      case loss::cut_buffers: complete_.cut_buffers += how_many; return;
      case loss::foreign_buffers: complete_.foreign_buffers += how_many; return;
      case loss::launch_ids: complete_.launches_lost += how_many; return;
    }
  }
  /// What reading records cost, in ns of the reading thread.
  void count_reading(std::uint64_t ns) noexcept { reading_ns_ += ns; }

  /// Writes all but the rows of threads, which are with their logs. Calls unknown(row) for each row
  /// of work whose launch is not known; pending activities are counted there for now.
  template <class Unknown>
  void describe(device_profile& out, Unknown unknown) {
    out.kernels = names_.all();
    out.complete = complete_;
    out.complete.forgotten_graphs = graphs_.forgotten();
    device_totals rows(budget_);
    rows.merge(unknown_, {call_tree::root});
    known_devices with_pending = pending_.empty() ? known_devices{} : devices_;
    for (const pending_activity& p : pending_) {
      if (started_before_recording(p.what)) continue;
      ++out.complete.unknown;
      ++out.complete.records;
      if (p.what.timed()) with_pending.add(p.what);
      else ++out.complete.untimed;
      rows.add(device_key_of(call_tree::root, p.name, p.what), device_run_of(p.what, 0));
    }
    rows.each(unknown);
    out.devices = (pending_.empty() ? devices_ : with_pending).profile();
    const std::uint64_t with_record = complete_.attributed + complete_.outside;
    out.complete.open = complete_.launches > with_record ? complete_.launches - with_record : 0;
    out.collecting_ns = static_cast<double>(reading_ns_);
  }

  /// Bytes held now.
  std::size_t bytes() { return launches_.bytes() + pending_.bytes() + graphs_.bytes(); }

 private:
  template <class Cursor>
  void take_one(const activity& a, Cursor& at) {
    switch (a.kind) {
      case activity_kind::kernel:
      case activity_kind::copy:
      case activity_kind::set: return take_work(a, at);
      case activity_kind::synchronization:
        ++complete_.synchronizations;
        if (a.timed()) complete_.synchronizing_ns += static_cast<double>(a.end - a.start);
        return;
      case activity_kind::overhead:
        if (a.timed()) complete_.overhead_ns += static_cast<double>(a.end - a.start);
        return;
      case activity_kind::odd: ++complete_.odd; return;
    }
  }
  template <class Cursor>
  void take_work(const activity& a, Cursor& at) {
    const std::uint32_t name = a.kind == activity_kind::kernel ? names_.number_of(a.name) : 0;
    if (known_launch* launch = launches_.find(a.correlation))
      return attribute(a, name, *launch, at);
    if (a.correlation == 0) return count_as_unknown({{a, name}});  // no launch has it
    if (pending_.is_full() && pending_.retry_may_make_room()) retry_pending(at);
    if (pending_.is_full()) count_as_unknown(pending_.take_oldest());
    pending_.add(a, name);
  }

  template <class Cursor>
  void attribute(const activity& a, std::uint32_t name, known_launch& launch, Cursor& at) {
    if (launch.path == launch_note::ignored) {
      ++complete_.ignored;
      return;
    }
    count(a);
    thread_log* const log = at.move_to(launch.thread);
    // There is no such thread when another recording has begun meanwhile.
    if (log == nullptr) return add_unknown(a, name);
    known_launch& first = launches_.primary(launch);
    captured_scope captured;
    std::uint32_t node = 0;
    if (a.graph_node == 0) {
      node = at.node_of(launch.path);
    } else if (graphs_.find(a.graph_node, launch.when, captured)) {
      node = log->paths.replayed_node(launch.path, captured.path);
    } else {
      node = log->paths.foreign_graph_node(launch.path);
      ++complete_.foreign_graphs;
    }
    // First: it may find no memory, and then the launch stays one without a record.
    log->device.add(device_key_of(node, name, a), device_run_of(a, launch.when));
    if (a.graph_node != 0) {
      count_replayed_scopes(log->tree, node, captured.scopes_started_here);
      if (!first.seen) count_replayed_graph(log->tree, node);
    }
    if (!std::exchange(first.seen, true)) {
      ++(at.in_operator(node, threads_.sites()) ? complete_.attributed : complete_.outside);
      // What a graph does is found only by a flush.
      if (a.graph_node == 0) log->missing.found(node, first.kind, first.when < flush_began_);
    }
    launch.seen = true;
    launch.may_have_more = first.may_have_more = a.graph_node != 0;
    if (name == device_key::merged_name) ++complete_.merged;
  }

  static bool is_graph(call_tree& tree, std::uint32_t node) noexcept {
    return tree[node].site == site_table::graph_site;
  }
  /// A graph's node has run: each scope that this node is the first work of was called once more.
  static void count_replayed_scopes(call_tree& tree, std::uint32_t node,
                                    std::uint32_t scopes_started_here) {
    for (; scopes_started_here != 0 && node != call_tree::root && !is_graph(tree, node);
         --scopes_started_here, node = tree[node].parent)
      ++tree[node].device_calls;
  }
  /// The first record of a graph's launch has come: the outermost graph around `node` was called
  /// once more.
  static void count_replayed_graph(call_tree& tree, std::uint32_t node) {
    while (node != call_tree::root && !(is_graph(tree, node) && !is_graph(tree, tree[node].parent)))
      node = tree[node].parent;
    if (node != call_tree::root) ++tree[node].device_calls;
  }

  bool started_before_recording(const activity& a) const noexcept {
    return a.timed() && a.start < recording_since_;
  }

  template <class Cursor>
  void retry_pending(Cursor& at) {
    for (const pending_activity& p : pending_.take_for_retry()) {
      known_launch* const launch = launches_.find(p.what.correlation);
      const bool kept = attempt([&] {
        if (launch != nullptr) attribute(p.what, p.name, *launch, at);
        else pending_.add(p.what, p.name);
      });
      if (!kept) ++complete_.dropped;
    }
  }
  void count_as_unknown(const std::vector<pending_activity>& some) {
    for (const pending_activity& p : some) {
      if (started_before_recording(p.what)) {
        ++complete_.ignored;
        continue;
      }
      const bool kept = attempt([&] {
        count(p.what);
        add_unknown(p.what, p.name);
      });
      if (!kept) ++complete_.dropped;
    }
  }
  void add_unknown(const activity& a, std::uint32_t name) {
    ++complete_.unknown;
    unknown_.add(device_key_of(call_tree::root, name, a), device_run_of(a, 0));
  }

  void count(const activity& a) {
    ++complete_.records;
    if (!a.timed()) ++complete_.untimed;
    else devices_.add(a);
  }

  std::mutex mutex_;  // see mutex()
  recorder& threads_;
  tree_budget& budget_;
  graph_nodes graphs_;
  launch_table launches_;
  pending_activities pending_;
  kernel_names names_;
  device_totals unknown_;  // work whose launch is not known
  known_devices devices_;
  device_completeness complete_;
  std::uint64_t recording_since_ = 0;  // CLOCK_REALTIME ns
  std::uint64_t flush_began_ = 0;      // the latest, the same
  std::uint64_t reading_ns_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/attribution.hpp>

// <kprof/attribute/parameters.hpp>
#ifndef KPROF_ATTRIBUTE_PARAMETERS_HPP
#define KPROF_ATTRIBUTE_PARAMETERS_HPP

// Turns what the recorder holds of an operator, its fields and the raw bytes of its parameters,
// into the typed values of a profile. Values are copied as the machine has them, little-endian on
// all that kprof supports. Pure.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline parameter_kind to_kind(field_kind kind) noexcept {
  switch (kind) {
    case field_kind::signed_integer: return parameter_kind::signed_integer;
    case field_kind::unsigned_integer: return parameter_kind::unsigned_integer;
    case field_kind::floating: return parameter_kind::floating;
    case field_kind::boolean: return parameter_kind::boolean;
    case field_kind::enumeration: return parameter_kind::enumeration;
    case field_kind::string: return parameter_kind::text;
    case field_kind::aggregate: return parameter_kind::aggregate;
  }
  return parameter_kind::none;
}

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

inline operator_info to_operator(const op_info& from) {
  return {from.name, from.declared_name, to_fields(from.fields),
          pack_parameters(from, from.defaults.data())};
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/parameters.hpp>

// <kprof/attribute/process_facts.hpp>
#ifndef KPROF_ATTRIBUTE_PROCESS_FACTS_HPP
#define KPROF_ATTRIBUTE_PROCESS_FACTS_HPP

// What a profile says of the process that it is of. Included by build.hpp.

#include <sched.h>

#include <cerrno>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// CPUs that the process may run on; 0 where that is not known.
inline std::uint32_t usable_cpus() noexcept {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set))
                                                     : 0;
}

inline void describe_process(profile& out) {
  out.program = program_invocation_short_name;
  out.cpus = usable_cpus();
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/process_facts.hpp>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The moment of the snapshot and what turns ticks into time.
struct moment {
  const timebase& time;
  std::uint64_t now;
  bool with_timeline;
};

inline work_per_call to_work(const work& w) noexcept {
  return {w.has_flops != 0,
          w.has_bytes != 0,
          w.valid != 0,
          w.flops,
          w.read,
          w.written,
          static_cast<dtype>(w.type),
          static_cast<arithmetic_unit>(w.on),
          static_cast<pass_kind>(w.pass)};
}

/// `scope`: index of the node that it was launched in.
inline device_work to_work(const device_total& row, std::uint32_t scope) {
  const device_key& key = row.key;
  device_work out;
  out.scope = scope;
  const auto kind = static_cast<activity_kind>(key.kind);
  out.task = kind == activity_kind::kernel ? device_task::kernel
             : kind == activity_kind::copy ? device_task::copy
                                           : device_task::set;
  out.merged = key.name == device_key::merged_name;
  if (key.name != 0 && !out.merged) out.kernel = key.name - 1;
  out.device = key.device;
  out.stream = key.stream;
  for (int i = 0; i < 3; ++i) out.grid[i] = key.grid[i], out.block[i] = key.block[i];
  out.registers = key.registers;
  out.static_shared = key.static_shared;
  out.dynamic_shared = key.dynamic_shared;
  out.direction = static_cast<copy_direction>(key.places & 0xFFU);
  out.from = static_cast<memory_place>(key.places >> 8U & 0xFFU);
  out.to = static_cast<memory_place>(key.places >> 16U & 0xFFU);
  out.calls = row.calls;
  out.untimed = row.untimed;
  out.total_ns = static_cast<double>(row.total);
  out.min_ns = row.calls == row.untimed ? 0 : static_cast<double>(row.shortest);
  out.max_ns = static_cast<double>(row.longest);
  out.gaps = row.gaps;
  out.gap_ns = static_cast<double>(row.gap);
  out.bytes = row.bytes;
  return out;
}

/// Gives the operators of a profile their numbers, in the order in which nodes refer to them.
class operator_numbers {
 public:
  explicit operator_numbers(std::vector<operator_info>& table) : table_(table) {}

  /// `site`: the number of the call site that `op` is called from.
  std::uint32_t of(std::uint32_t site, const op_info& op) {
    if (site >= by_site_.size()) by_site_.resize(site + std::size_t{1}, scope_node::none);
    std::uint32_t& number = by_site_[site];
    if (number != scope_node::none) return number;
    const auto [entry, is_new] =
        by_operator_.try_emplace(&op, static_cast<std::uint32_t>(table_.size()));
    if (is_new) table_.push_back(to_operator(op));
    return number = entry->second;
  }

  /// Of an operator's parameters it is not known how they are shown.
  void not_presented(std::uint32_t op) {
    failed_.resize(table_.size());
    failed_[op] = true;
  }
  void tell(std::vector<std::string>& notes) const {
    for (std::size_t op = 0; op < failed_.size(); ++op)
      if (failed_[op])
        notes.push_back("brief() or shows() of the operator " + table_[op].name +
                        " threw an exception or divided by zero: rows show the fields instead");
  }

 private:
  std::vector<operator_info>& table_;
  std::vector<std::uint32_t> by_site_;
  std::vector<bool> failed_;
  std::unordered_map<const op_info*, std::uint32_t> by_operator_;
};

inline scope_node to_node(const tree_node& n, const call_tree& tree, const site_table& sites,
                          operator_numbers& operators, double ns_per_tick) {
  scope_node out;
  const payload p = tree.payload_of(n);
  if (n.site != 0) {
    const site_info& where = sites[n.site];
    out.file = where.file;
    out.line = where.line;
    out.merged = n.merged;
    if (where.op == nullptr) {
      out.kind = n.site == site_table::graph_site ? scope_kind::graph : scope_kind::region;
      out.name = n.merged ? std::string{"(other regions)"} : std::string(p.bytes, p.size);
    } else {
      out.kind = scope_kind::op;
      out.name = where.op->name;
      out.op = operators.of(n.site, *where.op);
      if (!n.merged) {
        out.values = pack_parameters(*where.op, p.bytes);
        out.work = to_work(n.values);
        const presentation shown = to_presentation(p.shown, p.shown_size);
        out.brief.assign(shown.text, shown.size);
        out.beside = shown.beside;
        out.unshown = shown.unshown;
        if (shown.failed != 0) operators.not_presented(out.op);
      }
    }
  }
  out.calls = n.calls;
  out.captured = n.captured;
  if (n.calls != 0) out.unlaunched = n.calls - std::min(n.calls, n.captured + n.device_calls);
  else out.replays = n.device_calls;
  out.total_ns = static_cast<double>(n.total) * ns_per_tick;
  out.self_ns = static_cast<double>(n.self) * ns_per_tick;
  out.min_ns = n.calls == 0 ? 0 : static_cast<double>(n.shortest) * ns_per_tick;
  out.max_ns = static_cast<double>(n.longest) * ns_per_tick;
  out.durations = n.durations;
  return out;
}

/// Launches of graphs count at the node of the graphs, where there is one, since the scopes below
/// it lack them too.
inline void add_missing_launches(profile& out, const thread_log& log, std::uint32_t base) {
  for (std::uint32_t i = 0; i < log.tree.nodes().size(); ++i) {
    out.nodes[base + i].unrecorded += log.missing.without_record(i) + log.missing.of_graphs(i);
    const tree_node& n = log.tree.nodes()[i];
    if (n.site != site_table::graph_site ||
        log.tree.nodes()[n.parent].site == site_table::graph_site)
      continue;
    const std::uint64_t graphs = log.missing.of_graphs(n.parent);
    out.nodes[base + i].unrecorded += graphs;
    out.nodes[base + n.parent].unrecorded -= graphs;
  }
}

inline void add_thread(profile& out, const thread_log& log, const site_table& sites,
                       operator_numbers& operators, const moment& at) {
  const auto thread = static_cast<std::uint32_t>(out.threads.size());
  const auto base = static_cast<std::uint32_t>(out.nodes.size());
  const double ns_per_tick = at.time.ns_per_tick();
  out.threads.push_back({log.counts.merged_threads != 0 ? 0 : log.thread_id, log.thread_name,
                         log.ended, log.counts.merged_threads});
  for (const tree_node& n : log.tree.nodes()) {
    scope_node node = to_node(n, log.tree, sites, operators, ns_per_tick);
    node.thread = thread;
    node.parent = n.site == 0 ? scope_node::none : base + n.parent;
    if (node.kind == scope_kind::op && !node.merged && !node.work.valid)
      out.complete.invalid += node.calls;
    if (node.merged) out.complete.merged += node.calls;
    out.nodes.push_back(std::move(node));
  }
  add_missing_launches(out, log, base);
  log.device.each([&](const device_total& row) {
    out.device.work.push_back(to_work(row, base + row.key.node));
  });
  for (const open_frame& f : log.stack) {
    if (f.adopted) continue;
    scope_node& node = out.nodes[base + f.node];
    ++node.open;
    if (at.now > f.start) node.open_ns += static_cast<double>(at.now - f.start) * ns_per_tick;
  }
  out.complete.recorded += log.counts.finished;
  out.complete.dropped += log.counts.dropped;
  out.complete.closed_by_parent += log.counts.closed_by_parent;
  out.complete.never_closed += log.counts.never_closed + (log.ended ? log.open_scopes() : 0);
  out.complete.open += log.ended ? 0 : log.open_scopes();
  out.complete.imprecise += log.tree.imprecise();
  out.device.complete.launches_lost += log.counts.launches_lost;
  out.complete.in_timeline += log.timeline_scopes();
  if (at.with_timeline)
    log.visit_timeline([&](std::uint32_t node, std::uint64_t start, std::uint64_t end) {
      out.timeline.push_back({base + node, static_cast<std::int64_t>(start - at.time.first().ticks),
                              end > start ? end - start : 0});
    });
}

/// Everything but the session's own state, the clock's description and kprof's cost. `device`:
/// nullptr where there is none; locked.
inline profile build_profile(recorder& from, attribution* device, const moment& at) {
  profile out;
  describe_process(out);
  if (device != nullptr)
    device->describe(out.device, [&](const device_total& row) {
      out.device.work.push_back(to_work(row, device_work::none));
    });
  operator_numbers operators(out.operators);
  from.each_thread([&](thread_log& log) { add_thread(out, log, from.sites(), operators, at); });
  operators.tell(out.notes);
  out.complete.closed_elsewhere = from.closed_elsewhere();
  out.complete.dropped += from.dropped();
  out.complete.dropped_inside = from.dropped_inside();
  out.device.complete.launches_lost += from.launches_lost();
  const std::uint64_t recycled = from.recycled_until();
  out.complete.timeline_ns =
      at.time.since_start_ns(at.now) - (recycled == 0 ? 0 : at.time.since_start_ns(recycled));
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/build.hpp>

// <kprof/collect/cupti.hpp>
#ifndef KPROF_COLLECT_CUPTI_HPP
#define KPROF_COLLECT_CUPTI_HPP

// The collector of NVIDIA GPUs: starts and stops CUPTI. cupti_callbacks.hpp tells the session which
// CUDA call launches what, cupti_reader.hpp reads what the devices did. The collector makes no
// CUPTI call once one has said that there is no driver, no permission or another client.

// <kprof/collect/cuda_driver.hpp>
#ifndef KPROF_COLLECT_CUDA_DRIVER_HPP
#define KPROF_COLLECT_CUDA_DRIVER_HPP

// Whether the CUDA driver works. CUPTI must not be asked: where none does, the CUPTI of CUDA 13.2
// overflows the stack in its first call, whichever that is. Included by the collector.

// <kprof/collect/cupti_library.hpp>
#ifndef KPROF_COLLECT_CUPTI_LIBRARY_HPP
#define KPROF_COLLECT_CUPTI_LIBRARY_HPP

// Finds libcupti at run time. Nothing links against it, so one program serves CUDA 11.8 to 13, and
// where it is missing the report gives the reason in one line.

// <kprof/collect/cupti_abi.hpp>
#ifndef KPROF_COLLECT_CUPTI_ABI_HPP
#define KPROF_COLLECT_CUPTI_ABI_HPP

// What kprof needs of CUPTI's binary interface, written down here: numbers, signatures and where
// fields lie. So programs need no CUPTI headers, one build serves CUPTI 11.8 to 13, and files of a
// program built with and without the CUDA Toolkit agree. Records grow only at their end, so every
// field is where the oldest version that has it put it. The tests compile this file against the
// headers of CUPTI 11.8, 12.0, 12.4, 12.9, 13.0, 13.3 and 13.5 and compare every number.

#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

using result = int;  // CUptiResult
inline constexpr result success = 0;
// the end of a buffer, or of the buffers' queue
inline constexpr result max_limit_reached = 12;
inline constexpr result not_initialized = 15;
inline constexpr result insufficient_privileges = 35;
inline constexpr result multiple_subscribers = 39;
inline constexpr result virtual_privileges = 40;  // in a virtual machine
inline constexpr result unknown_error = 999;      // also: no driver

// Callback domains and sites.
inline constexpr std::uint32_t driver_api = 1, runtime_api = 2, resource = 3;
inline constexpr std::uint32_t api_enter = 0, api_exit = 1;

// Callbacks of the domain `resource`.
inline constexpr std::uint32_t context_created = 1, context_destroy_starting = 2,
                               stream_destroy_starting = 4, module_loaded = 6,
                               module_unload_starting = 7, graph_node_created = 13,
                               graph_node_destroy_starting = 14, graph_node_cloned = 20;
inline constexpr std::uint32_t graph_node_updated = 22;  // since 13.0

// Types of graph nodes (CUgraphNodeType) that leave a record of their own when they run.
inline constexpr std::uint32_t node_kernel = 0, node_memcpy = 1, node_memset = 2;

// Activity kinds.
inline constexpr std::uint32_t kind_memcpy = 1, kind_memset = 2, kind_kernel = 3, kind_driver = 4,
                               kind_runtime = 5, kind_device = 8, kind_concurrent_kernel = 10,
                               kind_overhead = 17, kind_memcpy_peer = 22,
                               kind_external_correlation = 39, kind_synchronization = 38;

inline constexpr std::uint32_t flush_forced = 1;

// Versions as cuptiGetVersion tells them.
// before 12.9 that crashes CUPTI
inline constexpr std::uint32_t version_buffers_may_be_refused = 27;
// from here on it is the CUDA version times 10, plus the update
inline constexpr std::uint32_t version_13 = 130000;
inline constexpr std::uint32_t version_many_subscribers = 130300;

using subscriber = void*;
using callback_function = void (*)(void* user, std::uint32_t domain, std::uint32_t id,
                                   const void* data);
using buffer_requested = void (*)(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records);
using buffer_completed = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid_size);

using buffer_requested_v2 = void (*)(std::uint8_t** buffer, std::size_t* size,
                                     std::size_t* max_records, void* info);
using buffer_completed_v2 = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size,
                                     void* info);

/// CUpti_SubscriberParams, of CUPTI 13.
struct subscriber_params {
  std::size_t size;  // up to the last member that matters
  const char* name;
  char* holder;             // who has subscribed before, written on multiple_subscribers
  std::size_t holder_size;  // 64 or more
  // since 13.3
  std::uint8_t allow_others;
  std::uint8_t padding[7];
};

/// The functions, as cupti_library finds them. Those at the end may be missing.
struct functions {
  result (*get_version)(std::uint32_t* version);
  result (*get_result_string)(result code, const char** text);
  result (*subscribe)(subscriber* out, callback_function callback, void* user);
  result (*unsubscribe)(subscriber who);
  result (*enable_callback)(std::uint32_t enable, subscriber who, std::uint32_t domain,
                            std::uint32_t id);
  result (*get_callback_name)(std::uint32_t domain, std::uint32_t id, const char** name);
  result (*register_buffers)(buffer_requested requested, buffer_completed completed);
  result (*enable)(std::uint32_t kind);
  result (*disable)(std::uint32_t kind);
  result (*flush_all)(std::uint32_t flag);
  result (*next_record)(std::uint8_t* buffer, std::size_t valid_size, void** record);
  result (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);
  result (*graph_node_id)(void* node, std::uint64_t* id);
  // what kprof can do without
  result (*get_timestamp)(std::uint64_t* ns);
  // since 13.0
  result (*subscribe_v2)(subscriber* out, callback_function callback, void* user,
                         subscriber_params* params);
  // since 13.3, all
  result (*register_buffers_v2)(subscriber who, buffer_requested_v2 requested,
                                buffer_completed_v2 completed);
  result (*enable_v2)(subscriber who, std::uint32_t kind, void* config);
  result (*disable_v2)(subscriber who, std::uint32_t kind, void* config);
  result (*next_record_v2)(subscriber who, std::uint8_t* buffer, std::size_t valid_size,
                           void** record);
  result (*dropped_records_v2)(subscriber who, void* context, std::uint32_t stream,
                               std::size_t* dropped);
  // since 13.4
  result (*enable_runtime_api_v2)(subscriber who, std::uint32_t id, std::uint8_t enable);
  result (*enable_driver_api_v2)(subscriber who, std::uint32_t id, std::uint8_t enable);
  // since 12.5
  result (*enable_runtime_api)(std::uint32_t id, std::uint8_t enable);
  result (*enable_driver_api)(std::uint32_t id, std::uint8_t enable);
};

/// A field of a record or of a callback's data.
template <class T>
T field(const void* record, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

// Offsets of fields, in bytes.
namespace callback_data {  // CUpti_CallbackData
inline constexpr std::size_t site = 0, params = 16, return_value = 24, context = 40,
                             correlation = 64;
}
namespace resource_data {  // CUpti_ResourceData
inline constexpr std::size_t context = 0, stream = 8, descriptor = 16;
}
namespace graph_data {  // CUpti_GraphData
inline constexpr std::size_t node = 16, original_node = 24, node_type = 32;
}
namespace kernel {  // CUpti_ActivityKernel5 and later
inline constexpr std::size_t registers = 6, start = 16, end = 24, device = 40, stream = 48,
                             grid = 52, block = 64, static_shared = 76, dynamic_shared = 80,
                             correlation = 92, name = 104, graph_node = 144;
}
namespace memcpy_record {  // CUpti_ActivityMemcpy4 and later
inline constexpr std::size_t direction = 4, from = 5, to = 6, bytes = 8, start = 16, end = 24,
                             device = 32, stream = 40, correlation = 44, graph_node = 64;
}
namespace memcpy_peer {  // CUpti_ActivityMemcpyPtoP3 and later; up to `stream` as memcpy_record
inline constexpr std::size_t correlation = 60, graph_node = 72;
}
namespace memset_record {  // CUpti_ActivityMemset3 and later
inline constexpr std::size_t bytes = 8, start = 16, end = 24, device = 32, stream = 40,
                             correlation = 44, place = 50, graph_node = 64;
}
namespace synchronization {  // CUpti_ActivitySynchronization and later
inline constexpr std::size_t start = 8, end = 16, correlation = 24;
}
namespace overhead {  // CUpti_ActivityOverhead and later
inline constexpr std::size_t start = 24, end = 32;
}
namespace device {  // CUpti_ActivityDevice4 and later
inline constexpr std::size_t memory_kb_per_s = 8, memory_bytes = 16, clock_khz = 36,
                             multiprocessors = 44, compute_major = 104, compute_minor = 108,
                             id = 112, name = 136;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_abi.hpp>

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Puts the path of a libcupti that is loaded into `path`; false where none is. The loader holds
/// its lock meanwhile and is C code: nothing here asks for memory or throws.
inline bool find_loaded_library(char (&path)[PATH_MAX]) noexcept {
  path[0] = '\0';
  const auto is_cupti = [](dl_phdr_info* info, std::size_t, void* found) noexcept -> int {
    const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (!name.substr(name.rfind('/') + 1).starts_with("libcupti.so") || name.size() >= PATH_MAX)
      return 0;
    std::memcpy(found, name.data(), name.size() + 1);
    return 1;
  };
  return dl_iterate_phdr(is_cupti, path) != 0;
}

/// Where libcupti may be: only where KPROF_CUPTI says, if it is set; else a libcupti that is
/// loaded, then where the loader finds one, then where the CUDA Toolkit puts it.
inline std::vector<std::string> library_names() {
  if (const char* named = environment_variable("KPROF_CUPTI"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> names;
  // A libcupti that the program has loaded already: two in one process do not work together.
  char loaded[PATH_MAX];
  if (find_loaded_library(loaded)) names.emplace_back(loaded);
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    names.emplace_back(name);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = environment_variable(variable); home != nullptr && *home != '\0') {
      names.push_back(std::string{home} + "/extras/CUPTI/lib64/libcupti.so");
      names.push_back(std::string{home} + "/lib64/libcupti.so");
    }
  names.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so");
  names.emplace_back("/usr/local/cuda/lib64/libcupti.so");
  return names;
}

/// A function of the library, or nullptr.
template <class Function>
void find(void* library, const char* symbol, Function& out) noexcept {
  void* found = dlsym(library, symbol);
  static_assert(sizeof found == sizeof out);
  std::memcpy(&out, &found, sizeof out);
}

/// Looks up all functions; returns the first that is missing and needed, or nullptr.
inline const char* find_functions(void* library, functions& out) noexcept {
  const char* missing = nullptr;
  const auto need = [&](const char* symbol, auto& function) {
    find(library, symbol, function);
    if (function == nullptr && missing == nullptr) missing = symbol;
  };
  need("cuptiGetVersion", out.get_version);
  need("cuptiGetResultString", out.get_result_string);
  need("cuptiSubscribe", out.subscribe);
  need("cuptiUnsubscribe", out.unsubscribe);
  need("cuptiEnableCallback", out.enable_callback);
  need("cuptiGetCallbackName", out.get_callback_name);
  need("cuptiActivityRegisterCallbacks", out.register_buffers);
  need("cuptiActivityEnable", out.enable);
  need("cuptiActivityDisable", out.disable);
  need("cuptiActivityFlushAll", out.flush_all);
  need("cuptiActivityGetNextRecord", out.next_record);
  need("cuptiActivityGetNumDroppedRecords", out.dropped_records);
  need("cuptiGetGraphNodeId", out.graph_node_id);
  find(library, "cuptiGetTimestamp", out.get_timestamp);
  find(library, "cuptiSubscribe_v2", out.subscribe_v2);
  find(library, "cuptiActivityRegisterCallbacks_v2", out.register_buffers_v2);
  find(library, "cuptiActivityEnable_v2", out.enable_v2);
  find(library, "cuptiActivityDisable_v2", out.disable_v2);
  find(library, "cuptiActivityGetNextRecord_v2", out.next_record_v2);
  find(library, "cuptiActivityGetNumDroppedRecords_v2", out.dropped_records_v2);
  find(library, "cuptiActivityEnableRuntimeApi_v2", out.enable_runtime_api_v2);
  find(library, "cuptiActivityEnableDriverApi_v2", out.enable_driver_api_v2);
  find(library, "cuptiActivityEnableRuntimeApi", out.enable_runtime_api);
  find(library, "cuptiActivityEnableDriverApi", out.enable_driver_api);
  return missing;
}

/// Opens the first libcupti that has all that is needed. It stays open: CUPTI cannot be unloaded
/// safely.
inline status open_library(functions& out) {
  const char* const named = environment_variable("KPROF_CUPTI");
  const bool is_named = named != nullptr && *named != '\0';
  std::string lacking, reason;
  for (const std::string& name : library_names()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* text = dlerror();
      if (reason.empty() && text != nullptr) reason = text;
      continue;
    }
    const char* missing = find_functions(library, out);
    if (missing == nullptr) return {};
    if (lacking.empty()) lacking = name + " lacks " + missing;
    dlclose(library);
  }
  out = {};
  if (!lacking.empty())
    return {lacking +
            ": it is no libcupti, or one older than CUDA 11.8; set KPROF_CUPTI to the libcupti of "
            "the CUDA Toolkit in use"};
  if (is_named)
    return {"KPROF_CUPTI names a libcupti that cannot be opened (" + reason +
            "); correct it, or leave it out to search"};
  return {"libcupti was not found (" + reason +
          "); it is in the CUDA Toolkit (extras/CUPTI/lib64) and in the Python packages "
          "nvidia-cuda-cupti; set KPROF_CUPTI to its path"};
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_library.hpp>

#include <dlfcn.h>
#include <unwind.h>

#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Whether this thread is in a call of the driver, which loads other libraries while it
/// initialises: one of those may open the first scope, and cuInit would wait for itself.
inline bool driver_is_calling() noexcept {
  bool found = false;
  const auto look = [](_Unwind_Context* frame, void* answer) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(_Unwind_GetIP(frame)), &info) == 0 ||
        info.dli_fname == nullptr)
      return _URC_NO_REASON;
    std::string_view name = info.dli_fname;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    if (!name.starts_with("libcuda.so")) return _URC_NO_REASON;
    *static_cast<bool*>(answer) = true;
    return _URC_END_OF_STACK;
  };
  static_cast<void>(_Unwind_Backtrace(look, &found));
  return found;
}

/// Why cuInit failed, and what the user can do about it.
inline status driver_refusal(int error, const char* name) {
  const std::string said =
      " (" + (name == nullptr ? "error" : std::string{name}) + ", " + std::to_string(error) + ")";
  constexpr int no_device = 100;
  if (error == no_device)
    return {"the NVIDIA driver finds no GPU that the program may use" + said +
            "; look at CUDA_VISIBLE_DEVICES, and in a container at --gpus all"};
  return {"the NVIDIA driver does not work" + said + "; run where nvidia-smi lists a GPU"};
}

/// Loads the driver and initialises it, as CUPTI would, unless it is just calling. It stays loaded.
inline status initialize_driver() {
  if (driver_is_calling()) return {};
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    const char* const reason = dlerror();
    return {"there is no NVIDIA driver (" + std::string{reason == nullptr ? "" : reason} +
            "); run where nvidia-smi lists a GPU, and in a container with --gpus all"};
  }
  int (*initialize)(unsigned flags) = nullptr;
  int (*get_name)(int error, const char** name) = nullptr;
  find(driver, "cuInit", initialize);
  find(driver, "cuGetErrorName", get_name);
  if (initialize == nullptr)
    return {"libcuda.so.1 lacks cuInit: it is no NVIDIA driver; run where nvidia-smi lists a GPU"};
  const int error = initialize(0);
  if (error == 0) return {};
  const char* name = nullptr;
  if (get_name != nullptr) static_cast<void>(get_name(error, &name));
  return driver_refusal(error, name);
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cuda_driver.hpp>

// <kprof/collect/cupti_callbacks.hpp>
#ifndef KPROF_COLLECT_CUPTI_CALLBACKS_HPP
#define KPROF_COLLECT_CUPTI_CALLBACKS_HPP

// What kprof does when CUPTI calls it at the begin and end of a CUDA call, or when a context, a
// stream or a graph's node is made or destroyed. That is on the program's threads, and CUPTI's
// locks may be held: nothing here waits for a lock under which kprof calls CUPTI. CUPTI has no room
// for an exception: nothing here throws, and what there is no memory for is counted.

// <kprof/collect/capturing_streams.hpp>
#ifndef KPROF_COLLECT_CAPTURING_STREAMS_HPP
#define KPROF_COLLECT_CAPTURING_STREAMS_HPP

// The captures that are under way. CUPTI's callbacks report each begin and end; while there are
// any, kprof must not wait for a device. A capture for which there is no memory is only counted.

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// Whether a call that ends a capture has ended one, by its result, which is the same number in the
/// runtime and in the driver. An invalidated capture, and one with streams that were not joined
/// again, ends with an error. All other errors leave the capture as it is: the call was made for
/// another stream of the capture, by another thread, or for none.
constexpr bool ends_capture(int cuda_result) noexcept {
  constexpr int invalidated = 901, unjoined = 904;
  return cuda_result == 0 || cuda_result == invalidated || cuda_result == unjoined;
}

class capturing_streams {
 public:
  /// This thread begins to capture the stream.
  void begin(void* stream) noexcept {
    const capture c = of(stream);
    const std::lock_guard lock(mutex_);
    if (!attempt([&] { all_.push_back(c); })) ++without_entry_;
  }
  /// This thread ends the capture of the stream, or its begin has failed. The stream may be
  /// captured already when a begin fails, so that only one of equal entries goes.
  void end(void* stream) noexcept {
    const capture c = of(stream);
    const std::lock_guard lock(mutex_);
    const auto found = std::find(all_.begin(), all_.end(), c);
    if (found != all_.end()) all_.erase(found);
    else if (without_entry_ != 0) --without_entry_;
  }
  /// The stream is destroyed, and its captures with it.
  void destroyed(void* stream) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const capture& c) { return c.stream == stream && !c.per_thread; });
  }
  bool any() noexcept {
    const std::lock_guard lock(mutex_);
    return !all_.empty() || without_entry_ != 0;
  }

 private:
  struct capture {
    void* stream;
    bool per_thread;
    pthread_t thread;  // of the stream, where that is per thread
    bool operator==(const capture& o) const noexcept {
      return stream == o.stream && per_thread == o.per_thread &&
             (!per_thread || pthread_equal(thread, o.thread) != 0);
    }
  };

  /// Two handles name another stream on each thread: cudaStreamPerThread, and the default stream of
  /// programs that are compiled with one for each thread. They name the same one.
  static capture of(void* stream) {
    constexpr std::uintptr_t default_stream = 0, stream_per_thread = 2;
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    if (handle != default_stream && handle != stream_per_thread) return {stream, false, {}};
    return {nullptr, true, pthread_self()};
  }

  std::mutex mutex_;  // guards the two below
  std::vector<capture> all_;
  std::size_t without_entry_ = 0;  // captures for which there was no memory
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/capturing_streams.hpp>

// <kprof/collect/cupti_calls.hpp>
#ifndef KPROF_COLLECT_CUPTI_CALLS_HPP
#define KPROF_COLLECT_CUPTI_CALLS_HPP

// Which CUDA calls matter to attribution, and which of them this thread is in. Calls are classified
// by the names that CUPTI gives them, not by number: a new CUDA version brings new launch calls.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

enum class call : std::uint8_t {
  other,
  launch_kernel,
  launch_transfer,  // a copy or a memset
  launch_graph,
  begin_capture,
  end_capture,
  copy_graph,    // the nodes that it makes are copies of known nodes
  update_graph,  // of an executable graph's nodes
};

/// By the function's name, with or without a version behind it: "cudaLaunchKernel_v7000",
/// "cuMemcpyHtoDAsync_v2".
inline call classify(std::string_view name) noexcept {
  const auto has = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (has("StreamBeginCapture")) return call::begin_capture;
  if (has("StreamEndCapture")) return call::end_capture;
  if (has("GraphInstantiate") || has("GraphClone") || has("GraphAddChildGraph"))
    return call::copy_graph;
  if (has("GraphLaunch")) return call::launch_graph;
  if (has("GraphExecUpdate") || (has("GraphExec") && has("SetParams"))) return call::update_graph;
  // those that add nodes to graphs, and host functions
  if (has("Graph") || has("HostFunc")) return call::other;
  if (has("Launch")) return call::launch_kernel;
  return has("Memcpy") || has("Memset") ? call::launch_transfer : call::other;
}

/// The calls of one domain, by their number.
class call_table {
 public:
  /// Asks CUPTI for the names of all calls of the domain.
  void fill(const functions& f, std::uint32_t domain) {
    calls_.assign(1, call::other);
    const char* name = nullptr;
    while (calls_.size() < 8192 &&
           f.get_callback_name(domain, static_cast<std::uint32_t>(calls_.size()), &name) ==
               success &&
           name != nullptr)
      calls_.push_back(classify(name));
  }
  call operator[](std::uint32_t id) const noexcept {
    return id < calls_.size() ? calls_[id] : call::other;
  }
  /// Calls visit(id) for those that matter.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (calls_[i] != call::other) visit(static_cast<std::uint32_t>(i));
  }

 private:
  std::vector<call> calls_;
};

/// The CUDA call that this thread is in. A call of the runtime makes calls of the driver, and the
/// id of either may be on the device's record. A call inside another one is no second launch.
struct call_state {
  // A call of the runtime mostly makes one of the driver, and one for each device at most.
  static constexpr std::uint32_t max_ids = 32;

  std::uint32_t ids[max_ids] = {};
  std::uint32_t count = 0;
  std::uint32_t launching = 0;  // depth of calls that launch
  std::uint32_t capturing = 0;  // depth of calls that begin or end a capture
  std::uint32_t copying = 0;    // depth of calls that copy graphs
  std::uint32_t round = 0;      // of the collector that saw the call begin
  launch_kind what = launch_kind::kernel;
  bool captured = false;          // the launch became a node of a graph
  const void* context = nullptr;  // of the latest launch
  std::uint64_t when = 0;

  /// Forgets calls that began in an earlier round of collecting: their ends were not seen.
  void enter_round(std::uint32_t now) noexcept {
    if (round != now) *this = call_state{}, round = now;
  }
  /// False where there is no room.
  bool add(std::uint32_t id) noexcept {
    if (id == 0) return true;  // CUPTI gives none
    for (std::uint32_t i = 0; i < count; ++i)
      if (ids[i] == id) return true;
    if (count == max_ids) return false;
    ids[count++] = id;
    return true;
  }
};

KPROF_DETAIL_LOCAL inline thread_local constinit call_state this_call;

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_calls.hpp>

// <kprof/collect/cupti_defects.hpp>
#ifndef KPROF_COLLECT_CUPTI_DEFECTS_HPP
#define KPROF_COLLECT_CUPTI_DEFECTS_HPP

// Defects of CUPTI's versions, by NVIDIA's release notes, that kprof cannot work around: what the
// report says where a run may have met one. kprof does not use the graph's number in a record,
// which CUPTI before 13.4 gets wrong for copies.

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// What a run did that some versions get wrong.
struct risky_use {
  std::uint32_t recordings = 0;
  bool launched_graphs = false;
  bool updated_graphs = false;
  bool reloaded_modules = false;
};

/// Disabling the records of kernels may never return: kprof leaves that out where the process ends.
constexpr bool may_hang_when_disabling(std::uint32_t version) noexcept {
  return version == version_13;
}

inline std::vector<std::string> known_defects(std::uint32_t version, const risky_use& use) {
  constexpr std::uint32_t graph_ids_are_right = 130101, names_are_right = 130401;
  std::vector<std::string> out;
  if (version < version_13 && use.updated_graphs)
    out.emplace_back(
        "this CUPTI does not tell of updated graphs, whose work stays under the scopes of their "
        "first capture: use CUPTI 13");
  if (version == version_13)
    out.emplace_back(
        "this CUPTI, of CUDA 13.0 before its Update 1, may crash when records are fetched and hang "
        "when a recording is stopped: use a later one (KPROF_CUPTI)");
  if (version >= version_13 && version < graph_ids_are_right && use.recordings > 1 &&
      use.launched_graphs)
    out.emplace_back(
        "this CUPTI gives launches of graphs wrong ids after kprof::stop() and a new start, so "
        "that work of graphs may stand under the scope of another launch: use CUPTI of CUDA 13.1 "
        "Update 1 or later (KPROF_CUPTI), or record once in a process");
  if (version < names_are_right && use.reloaded_modules)
    out.emplace_back(
        "the program unloaded device code and loaded some again, after which this CUPTI may give "
        "kernels the names of earlier ones: use CUPTI of CUDA 13.4 Update 1 or later "
        "(KPROF_CUPTI)");
  return out;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_defects.hpp>

// <kprof/collect/cupti_reader.hpp>
#ifndef KPROF_COLLECT_CUPTI_READER_HPP
#define KPROF_COLLECT_CUPTI_READER_HPP

// Gives CUPTI buffers and reads the records in those that come back: on a thread of its own, on the
// thread that asks for all records, and on launching threads when the reader falls behind.

// <kprof/collect/buffer_pool.hpp>
#ifndef KPROF_COLLECT_BUFFER_POOL_HPP
#define KPROF_COLLECT_BUFFER_POOL_HPP

// The buffers that CUPTI fills with records: a bounded number, handed out empty and queued when
// CUPTI gives them back. Both happen in CUPTI's callbacks, which may hold CUPTI's locks, so nothing
// here waits or calls CUPTI.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// What lies before a buffer's records.
struct alignas(64) buffer {
  buffer* next = nullptr;
  buffer* made_before = nullptr;  // the list of all buffers
  std::size_t size = 0;           // bytes
  std::size_t filled = 0;         // of these, with records
  bool spare = false;             // beyond the limit: its records are only counted

  std::uint8_t* records() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

class buffer_pool {
 public:
  /// `bytes`: of all buffers together. They are many and small, since each thread that uses CUDA
  /// may hold one.
  void set_limit(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t size = largest;
    while (size > smallest && bytes / size < 64) size /= 2;
    size_ = size;
    limit_ = bytes < 4 * size ? 4 * size : bytes;
    behind_ = limit_ / (4 * size);
  }

  /// An empty buffer; a small one once half of the memory is in use, as when many threads hold one
  /// each; nullptr when all of it is.
  buffer* take() noexcept {
    const std::lock_guard lock(mutex_);
    if (buffer* b = free_) {
      free_ = b->next;
      b->next = nullptr;
      b->filled = 0;
      b->spare = false;
      return b;
    }
    const std::size_t size = held_ + size_ <= limit_ / 2 ? size_ : small_size;
    return held_ + size <= limit_ ? make(size) : nullptr;
  }
  /// A small buffer beyond the limit, for a CUPTI that crashes when it gets none.
  buffer* take_spare() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = make(small_size);
    if (b != nullptr) b->spare = true;
    return b;
  }
  /// The buffer whose records begin there; nullptr for another client's, which may come here too.
  buffer* find(std::uint8_t* records) noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = latest_;
    while (b != nullptr && b->records() != records) b = b->made_before;
    return b;
  }
  /// Queues a buffer that CUPTI has given back, to be read.
  void queue(buffer* b) noexcept {
    const std::lock_guard lock(mutex_);
    b->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = b;
    last_ = b;
    ++queued_;
  }
  /// Takes the buffer that was queued first; nullptr when none is. give_back() it after reading.
  buffer* next() noexcept {
    const std::lock_guard lock(mutex_);
    buffer* b = first_;
    if (b == nullptr) return nullptr;
    first_ = b->next;
    if (first_ == nullptr) last_ = nullptr;
    --queued_;
    ++being_read_;
    return b;
  }
  void give_back(buffer* b) noexcept {
    const std::lock_guard lock(mutex_);
    --being_read_;
    if (b->size < size_) return release(b);
    b->next = free_;
    free_ = b;
  }

  bool any_queued() noexcept {
    const std::lock_guard lock(mutex_);
    return queued_ != 0;
  }
  /// Whether take() will succeed once what is queued has been read.
  bool will_have_one() noexcept {
    const std::lock_guard lock(mutex_);
    return free_ != nullptr || queued_ + being_read_ != 0;
  }
  /// Whether the reader is falling behind. Asked at every launch, so without the lock.
  bool filling_up() const noexcept {
    return queued_.load(std::memory_order_relaxed) > behind_.load(std::memory_order_relaxed);
  }
  std::size_t bytes_held() noexcept {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  static constexpr std::size_t largest = std::size_t{1} << 20U, smallest = std::size_t{1} << 14U,
                               small_size = std::size_t{1} << 13U;

  // The caller holds the lock.
  buffer* make(std::size_t size) noexcept {
    void* memory = std::aligned_alloc(alignof(buffer), sizeof(buffer) + size);
    if (memory == nullptr) return nullptr;
    auto* b = new (memory) buffer;
    b->size = size;
    held_ += size;
    b->made_before = latest_;
    latest_ = b;
    return b;
  }
  void release(buffer* b) noexcept {
    held_ -= b->size;
    buffer** at = &latest_;
    while (*at != b) at = &(*at)->made_before;
    *at = b->made_before;
    std::free(b);
  }

  std::mutex mutex_;  // guards all of it; the atomic counts are only written under it
  buffer* free_ = nullptr;
  buffer* first_ = nullptr;  // to be read, oldest first
  buffer* last_ = nullptr;
  std::atomic<std::size_t> queued_{0};
  std::atomic<std::size_t> behind_{1};  // so many queued buffers are a quarter of the limit
  std::size_t being_read_ = 0;
  buffer* latest_ = nullptr;  // of all that were made
  std::size_t held_ = 0;      // bytes
  std::size_t limit_ = 4 * smallest;
  std::size_t size_ = smallest;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/buffer_pool.hpp>

// <kprof/collect/cupti_client.hpp>
#ifndef KPROF_COLLECT_CUPTI_CLIENT_HPP
#define KPROF_COLLECT_CUPTI_CLIENT_HPP

// kprof as a client of CUPTI, by one of two sets of calls. From CUPTI 13.3 on, clients that all use
// the second set can work beside each other; where that is refused, as by an older driver or beside
// a client of the first set, kprof asks to be the only one.

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class client {
 public:
  explicit client(const functions& f) : f_(f) {}

  /// What a subscription has CUPTI call.
  struct callbacks {
    callback_function event;
    void* user;
    buffer_requested requested;
    buffer_completed completed;
    buffer_requested_v2 requested_v2;
    buffer_completed_v2 completed_v2;
  };

  /// `version`: of CUPTI. Goes on with an earlier subscription that could not be ended.
  result subscribe(const callbacks& to, std::uint32_t version) noexcept {
    if (who_ == nullptr) {
      const result r =
          subscribe_beside_others(to, version) ? success : f_.subscribe(&who_, to.event, to.user);
      if (r != success) return r;
    }
    return beside_others_ ? f_.register_buffers_v2(who_, to.requested_v2, to.completed_v2)
                          : f_.register_buffers(to.requested, to.completed);
  }
  result unsubscribe() noexcept {
    const result r = f_.unsubscribe(who_);
    if (r != success) return r;
    who_ = nullptr;
    beside_others_ = false;
    return success;
  }
  subscriber handle() const noexcept { return who_; }
  /// Whether other tools can use CUPTI at the same time.
  bool is_beside_others() const noexcept { return beside_others_; }

  result enable(std::uint32_t kind) const noexcept {
    return beside_others_ ? f_.enable_v2(who_, kind, nullptr) : f_.enable(kind);
  }
  result disable(std::uint32_t kind) const noexcept {
    return beside_others_ ? f_.disable_v2(who_, kind, nullptr) : f_.disable(kind);
  }
  /// Records of one call of the runtime's or the driver's API; false where this CUPTI has them only
  /// of all.
  bool enable_api_call(std::uint32_t kind, std::uint32_t id) const noexcept {
    const bool runtime = kind == kind_runtime;
    if (beside_others_) {
      const auto enable_one = runtime ? f_.enable_runtime_api_v2 : f_.enable_driver_api_v2;
      return enable_one != nullptr && enable_one(who_, id, 1) == success;
    }
    const auto enable_one = runtime ? f_.enable_runtime_api : f_.enable_driver_api;
    return enable_one != nullptr && enable_one(id, 1) == success;
  }
  result next_record(std::uint8_t* buffer, std::size_t valid_size, void** record) const noexcept {
    return beside_others_ ? f_.next_record_v2(who_, buffer, valid_size, record)
                          : f_.next_record(buffer, valid_size, record);
  }
  /// Records that CUPTI dropped since the last call.
  std::size_t take_dropped() const noexcept {
    std::size_t dropped = 0;
    const result r = beside_others_ ? f_.dropped_records_v2(who_, nullptr, 0, &dropped)
                                    : f_.dropped_records(nullptr, 0, &dropped);
    return r == success ? dropped : 0;
  }

 private:
  bool subscribe_beside_others(const callbacks& to, std::uint32_t version) noexcept {
    if (version < version_many_subscribers || f_.subscribe_v2 == nullptr ||
        f_.register_buffers_v2 == nullptr || f_.enable_v2 == nullptr || f_.disable_v2 == nullptr ||
        f_.next_record_v2 == nullptr || f_.dropped_records_v2 == nullptr)
      return false;
    subscriber_params params{};
    params.size = sizeof params;
    params.name = "kprof";
    params.allow_others = 1;
    return beside_others_ = f_.subscribe_v2(&who_, to.event, to.user, &params) == success;
  }

  const functions& f_;
  subscriber who_ = nullptr;
  bool beside_others_ = false;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_client.hpp>

// <kprof/collect/cupti_clock.hpp>
#ifndef KPROF_COLLECT_CUPTI_CLOCK_HPP
#define KPROF_COLLECT_CUPTI_CLOCK_HPP

// How far CUPTI's clock is from CLOCK_REALTIME, which kprof's times are of. On Linux it is that
// clock; on WSL, since CUPTI 13.0, it is CLOCK_MONOTONIC_RAW, which begins at 0 with the machine
// and is not kept in step with the time of day.

#include <time.h>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class clock_offset {
 public:
  /// Compares the two clocks. To be repeated now and then, since they drift apart.
  void measure(const functions& f) noexcept {
    if (f.get_timestamp == nullptr) return;
    std::uint64_t shortest = ~std::uint64_t{0};
    std::int64_t offset = 0;
    for (int i = 0; i < 5; ++i) {
      std::uint64_t theirs = 0;
      const std::uint64_t before = realtime();
      if (f.get_timestamp(&theirs) != success) return;
      const std::uint64_t after = realtime();
      if (after < before || after - before >= shortest) continue;
      shortest = after - before;
      offset = static_cast<std::int64_t>(before + shortest / 2 - theirs);
    }
    // The same clock: what is left is the time between the calls.
    if (shortest == ~std::uint64_t{0} || (offset < a_second && offset > -a_second)) offset = 0;
    offset_.store(offset, std::memory_order_relaxed);
  }

  /// Moves the activity's times to CLOCK_REALTIME.
  void apply(activity& a) const noexcept {
    const std::int64_t by = offset_.load(std::memory_order_relaxed);
    if (by == 0) return;
    if (a.start != 0) a.start += static_cast<std::uint64_t>(by);
    if (a.end != 0) a.end += static_cast<std::uint64_t>(by);
  }

 private:
  static constexpr std::int64_t a_second = 1'000'000'000;

  static std::uint64_t realtime() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
  }

  std::atomic<std::int64_t> offset_{0};  // ns, to be added to CUPTI's times
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_clock.hpp>

// <kprof/collect/cupti_records.hpp>
#ifndef KPROF_COLLECT_CUPTI_RECORDS_HPP
#define KPROF_COLLECT_CUPTI_RECORDS_HPP

// From CUPTI's records to kprof's plain ones. Pure: a record in, an activity out.

#include <cstddef>
#include <cstdint>
#include <iterator>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

inline std::uint32_t kind_of(const void* record) noexcept {
  return field<std::uint32_t>(record, 0);
}

/// CUpti_ActivityMemcpyKind as a copy_direction: 1 host to device, 2 device to host, 3 within a
/// device, 4 within the host, 5 between devices. Arrays are device memory.
inline std::uint8_t direction_of(std::uint8_t kind) noexcept {
  constexpr std::uint8_t directions[] = {0, 1, 2, 1, 2, 3, 3, 3, 3, 4, 5};
  return kind < std::size(directions) ? directions[kind] : std::uint8_t{0};
}
/// CUpti_ActivityMemoryKind as a memory_place; static device and managed memory is device and
/// managed memory.
inline std::uint8_t place_of(std::uint16_t kind) noexcept {
  constexpr std::uint8_t places[] = {0, 1, 2, 3, 4, 5, 3, 5};
  return kind < std::size(places) ? places[kind] : std::uint8_t{0};
}

inline void read_kernel(const void* r, activity& out) noexcept {
  out.kind = activity_kind::kernel;
  out.registers = field<std::uint16_t>(r, kernel::registers);
  out.start = field<std::uint64_t>(r, kernel::start);
  out.end = field<std::uint64_t>(r, kernel::end);
  out.device = field<std::uint32_t>(r, kernel::device);
  out.stream = field<std::uint32_t>(r, kernel::stream);
  for (std::size_t i = 0; i < 3; ++i) {
    out.grid[i] = field<std::uint32_t>(r, kernel::grid + 4 * i);
    out.block[i] = field<std::uint32_t>(r, kernel::block + 4 * i);
  }
  out.static_shared = field<std::uint32_t>(r, kernel::static_shared);
  out.dynamic_shared = field<std::uint32_t>(r, kernel::dynamic_shared);
  out.correlation = field<std::uint32_t>(r, kernel::correlation);
  out.name = field<const char*>(r, kernel::name);
  out.graph_node = field<std::uint64_t>(r, kernel::graph_node);
}

inline void read_memcpy(const void* r, activity& out, std::size_t correlation,
                        std::size_t graph_node) noexcept {
  out.kind = activity_kind::copy;
  out.direction = direction_of(field<std::uint8_t>(r, memcpy_record::direction));
  out.from = place_of(field<std::uint8_t>(r, memcpy_record::from));
  out.to = place_of(field<std::uint8_t>(r, memcpy_record::to));
  out.bytes = field<std::uint64_t>(r, memcpy_record::bytes);
  out.start = field<std::uint64_t>(r, memcpy_record::start);
  out.end = field<std::uint64_t>(r, memcpy_record::end);
  out.device = field<std::uint32_t>(r, memcpy_record::device);
  out.stream = field<std::uint32_t>(r, memcpy_record::stream);
  out.correlation = field<std::uint32_t>(r, correlation);
  out.graph_node = field<std::uint64_t>(r, graph_node);
}

inline void read_memset(const void* r, activity& out) noexcept {
  out.kind = activity_kind::set;
  out.to = place_of(field<std::uint16_t>(r, memset_record::place));
  out.bytes = field<std::uint64_t>(r, memset_record::bytes);
  out.start = field<std::uint64_t>(r, memset_record::start);
  out.end = field<std::uint64_t>(r, memset_record::end);
  out.device = field<std::uint32_t>(r, memset_record::device);
  out.stream = field<std::uint32_t>(r, memset_record::stream);
  out.correlation = field<std::uint32_t>(r, memset_record::correlation);
  out.graph_node = field<std::uint64_t>(r, memset_record::graph_node);
}

/// Whether the record is an activity; a record of a kind that was not asked for, and is not known,
/// is an odd one.
inline bool read(const void* r, activity& out) noexcept {
  out = {};
  switch (kind_of(r)) {
    case kind_kernel:
    case kind_concurrent_kernel: read_kernel(r, out); return true;
    case kind_memcpy:
      read_memcpy(r, out, memcpy_record::correlation, memcpy_record::graph_node);
      return true;
    case kind_memcpy_peer:
      read_memcpy(r, out, memcpy_peer::correlation, memcpy_peer::graph_node);
      return true;
    case kind_memset: read_memset(r, out); return true;
    case kind_synchronization:
      out.kind = activity_kind::synchronization;
      out.start = field<std::uint64_t>(r, synchronization::start);
      out.end = field<std::uint64_t>(r, synchronization::end);
      return true;
    case kind_overhead:
      out.kind = activity_kind::overhead;
      out.start = field<std::uint64_t>(r, overhead::start);
      out.end = field<std::uint64_t>(r, overhead::end);
      return true;
    case kind_device:
    case kind_runtime:
    case kind_driver:
    case kind_external_correlation: return false;
    default: return true;
  }
}

inline device_description read_device(const void* r) noexcept {
  device_description out;
  out.id = field<std::uint32_t>(r, device::id);
  out.compute_major = field<std::uint32_t>(r, device::compute_major);
  out.compute_minor = field<std::uint32_t>(r, device::compute_minor);
  out.multiprocessors = field<std::uint32_t>(r, device::multiprocessors);
  out.memory_bytes = field<std::uint64_t>(r, device::memory_bytes);
  out.memory_bytes_per_s = field<std::uint64_t>(r, device::memory_kb_per_s) * 1000;
  out.clock_hz = std::uint64_t{field<std::uint32_t>(r, device::clock_khz)} * 1000;
  out.name = field<const char*>(r, device::name);
  return out;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_records.hpp>

// <kprof/collect/own_thread.hpp>
#ifndef KPROF_COLLECT_OWN_THREAD_HPP
#define KPROF_COLLECT_OWN_THREAD_HPP

// Starts threads of kprof's own. Every such thread is started here: none of them may run a handler
// of the program, which may expect a thread of the program. Allocates nothing.

#include <pthread.h>
#include <signal.h>

#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// Has a thread call run(of), detached and with every signal blocked. False where the system gives
/// no thread.
inline bool start_own_thread(void* (*run)(void* of), void* of) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, std::size_t{4} << 20U);  // also under a small `ulimit -s`
  // The thread inherits the mask: the program's signals go to the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const bool is_started = pthread_create(&thread, &attributes, run, of) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return is_started;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/collect/own_thread.hpp>

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class record_reader {
 public:
  record_reader(const device_listener& listener, const client& cupti, const clock_offset& clock)
      : listener_(listener), cupti_(cupti), clock_(clock) {}

  /// `memory`: bytes of all buffers together.
  void set_limit(std::size_t memory) { pool_.set_limit(memory); }
  std::size_t memory() noexcept { return pool_.bytes_held(); }

  /// Reads all buffers that CUPTI has given back.
  void read_all() {
    // One thread at a time: the names of kernels and the rest of a buffer belong to CUPTI.
    const std::lock_guard lock(reading_);
    while (read_one()) {}
  }
  /// Buffers that came back and were none of kprof's, since the last call.
  std::uint64_t take_foreign_buffers() noexcept { return foreign_buffers_.exchange(0); }
  /// Whether a record of device work had no correlation id.
  bool ids_are_missing() const noexcept { return ids_are_missing_; }

  /// Starts the reader's thread, unless it runs. It reads what has come and then calls
  /// after_reading(of). Where there can be no thread, launching threads and those that ask for all
  /// records read.
  void start_thread(void (*after_reading)(void* of), void* of) {
    if (thread_started_) return;
    after_reading_ = after_reading;
    after_reading_of_ = of;
    const auto run = [](void* self) -> void* {
      static_cast<record_reader*>(self)->read_for_ever();
      return nullptr;
    };
    thread_started_ = start_own_thread(run, this);
  }

  // CUPTI's callbacks call these. They may hold CUPTI's locks, so that nothing here calls CUPTI but
  // to walk the records of a buffer.

  /// A buffer for CUPTI to fill; nullptr when the memory is used up. `needs_one`: this CUPTI
  /// crashes where it gets none, so it gets a small one whose records are only counted.
  buffer* take_empty(bool needs_one) noexcept {
    buffer* b = pool_.take();
    for (int i = 0; b == nullptr && i < 1000 && pool_.will_have_one(); ++i) {
      help();
      b = pool_.take();
    }
    return b == nullptr && needs_one ? pool_.take_spare() : b;
  }
  /// CUPTI gives a buffer back. A buffer of another client is left alone: that client may still use
  /// it.
  void queue(std::uint8_t* records, std::size_t filled) noexcept {
    buffer* const b = pool_.find(records);
    if (b == nullptr) {
      ++foreign_buffers_;
      return;
    }
    b->filled = filled < b->size ? filled : b->size;
    pool_.queue(b);
    // After this lock the reader either has not looked at the queue yet or waits to be woken.
    { const std::lock_guard lock(waiting_); }
    wake_.notify_one();
  }
  /// Where records come faster than the reader reads them, launching threads read too: a launch
  /// that takes longer is better than a lost record.
  void help_if_behind() noexcept {
    for (int i = 0; i < 1000 && pool_.filling_up(); ++i) help();
  }

 private:
  // Reading needs nothing of CUPTI's that another thread might hold; even so, callers do not try
  // for ever.
  void help() noexcept {
    if (reading_.try_lock()) {
      read_one();
      reading_.unlock();
    } else {
      usleep(20);
    }
  }

  /// The caller holds reading_. False when no buffer is queued.
  bool read_one() {
    buffer* const b = pool_.next();
    if (b == nullptr) return false;
    listener_.begin_reading();
    read(*b);
    pool_.give_back(b);
    listener_.end_reading();
    return true;
  }
  void read(buffer& b) {
    constexpr std::size_t batch = 64;
    activity some[batch];
    std::size_t count = 0;
    std::uint64_t lost = 0;
    void* record = nullptr;
    result walked = b.filled == 0 ? max_limit_reached : success;
    while (walked == success &&
           (walked = cupti_.next_record(b.records(), b.filled, &record)) == success) {
      if (kind_of(record) == kind_device) listener_.describe(read_device(record));
      activity& a = some[count];
      if (!cupti::read(record, a)) continue;
      if (b.spare) {
        ++lost;
        continue;
      }
      clock_.apply(a);
      if (a.correlation == 0 && a.kind <= activity_kind::set) ids_are_missing_ = true;
      if (++count == batch) listener_.read(some, std::exchange(count, 0));
    }
    if (count != 0) listener_.read(some, count);
    if (lost != 0) listener_.lost(loss::records, lost);
    if (walked != max_limit_reached) listener_.lost(loss::cut_buffers, 1);
  }

  void read_for_ever() {
    for (;;) {
      {
        std::unique_lock lock(waiting_);
        wake_.wait(lock, [this] { return pool_.any_queued(); });
      }
      read_all();
      after_reading_(after_reading_of_);
    }
  }

  const device_listener& listener_;
  const client& cupti_;
  const clock_offset& clock_;
  buffer_pool pool_;
  std::mutex reading_;  // held by the one thread that reads
  std::mutex waiting_;  // held only to look whether a buffer is queued
  std::condition_variable wake_;
  std::atomic<bool> ids_are_missing_{false};
  std::atomic<std::uint64_t> foreign_buffers_{0};
  bool thread_started_ = false;
  void (*after_reading_)(void* of) = nullptr;
  void* after_reading_of_ = nullptr;
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_reader.hpp>

// <kprof/collect/device_wait.hpp>
#ifndef KPROF_COLLECT_DEVICE_WAIT_HPP
#define KPROF_COLLECT_DEVICE_WAIT_HPP

// Waits until the devices have finished all launched work, since CUPTI keeps back the records of
// work that still runs. Uses the CUDA driver, which is loaded before anything is collected. Nothing
// here needs memory but to remember a context.

// <kprof/collect/lock_within.hpp>
#ifndef KPROF_COLLECT_LOCK_WITHIN_HPP
#define KPROF_COLLECT_LOCK_WITHIN_HPP

// Waiting that ends after a while. It polls instead of using std::timed_mutex, since g++ 12's
// thread sanitizer does not intercept pthread_mutex_clocklock.

#include <unistd.h>

#include <chrono>
#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

/// Polls until condition() holds; false if it did not within that time.
template <class Condition>
bool holds_within(int milliseconds, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    usleep(100);
  }
  return true;
}

/// Locks the mutex; the result owns no lock if that took longer.
inline std::unique_lock<std::mutex> lock_within(int milliseconds, std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  static_cast<void>(holds_within(milliseconds, [&] { return lock.try_lock(); }));
  return lock;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/collect/lock_within.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class device_wait {
 public:
  // CUPTI's callbacks call these.
  /// False where there is no memory for it. Then no wait is for all devices any more.
  bool add(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    if (std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end()) return true;
    const bool added = attempt([&] { contexts_.push_back(context); });
    if (!added) lacks_contexts_ = lacked_contexts_ = true;
    return added;
  }
  void remove(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(contexts_, context);
  }
  void forget_contexts() noexcept {
    const std::lock_guard lock(mutex_);
    contexts_.clear();
    lacks_contexts_ = false;
  }
  /// Whether waits are for this context too.
  bool has(void* context) noexcept {
    const std::lock_guard lock(mutex_);
    return std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end();
  }
  /// Whether there was ever no memory for a context.
  bool lacked_contexts() const noexcept { return lacked_contexts_; }
  /// A thread is about to capture a stream. Waiting for a device breaks captures, so the thread
  /// first lets a wait finish that is under way; but for 20 ms at most, since the device may itself
  /// be waiting for this thread.
  void begin_capture(void* stream) {
    const auto alone = lock_within(20, waiting_);
    capturing_.begin(stream);
  }
  capturing_streams& capturing() noexcept { return capturing_; }

  /// Waits, unless a stream is being captured: then the records of running work are read later.
  /// Returns whether all work launched before the call has finished.
  bool for_all_devices() {
    const std::lock_guard lock(waiting_);
    if (capturing_.any()) return false;
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (driver == nullptr) return false;
    const bool all = for_contexts(driver);
    dlclose(driver);
    return all;
  }
  /// Gives up after that long: a program may end with work that never does.
  bool for_all_devices_within(int milliseconds) {
    struct job {
      device_wait* wait;
      bool all = false;
      std::atomic<bool> done{false};
    };
    // A thread that has been given up still writes to it, so then it is never freed.
    auto* const j = new (std::nothrow) job{this};
    if (j == nullptr) return false;
    const auto run = [](void* of) -> void* {
      auto* const its = static_cast<job*>(of);
      its->all = its->wait->for_all_devices();
      its->done = true;
      return nullptr;
    };
    if (!start_own_thread(run, j)) {
      delete j;
      return false;
    }
    if (!holds_within(milliseconds, [j] { return j->done.load(); })) return false;
    const bool all = j->all;
    delete j;
    return all;
  }

 private:
  template <class Function>
  static Function function(void* library, const char* name) noexcept {
    void* const found = dlsym(library, name);
    Function out = nullptr;
    std::memcpy(&out, &found, sizeof out);
    return out;
  }

  bool for_contexts(void* driver) {
    const auto push = function<int (*)(void*)>(driver, "cuCtxPushCurrent_v2");
    const auto pop = function<int (*)(void**)>(driver, "cuCtxPopCurrent_v2");
    const auto current = function<int (*)(void**)>(driver, "cuCtxGetCurrent");
    const auto wait = function<int (*)()>(driver, "cuCtxSynchronize");
    if (push == nullptr || pop == nullptr || current == nullptr || wait == nullptr) return false;
    // This thread's context may be older than the subscription, with no launch since.
    void* own = nullptr;
    bool all = (current(&own) != 0 || own == nullptr || wait() == 0) && !lacks_contexts_;
    // From the last one on: new ones come behind it, and what is removed moves only those behind.
    for (std::size_t i = number_of_contexts(); i-- > 0;) {
      if (capturing_.any()) return false;  // it began while this thread waited
      void* const context = context_at(i);
      if (context == own || context == nullptr) continue;
      if (push(context) != 0) {
        all = false;
        continue;
      }
      all = wait() == 0 && all;
      void* popped = nullptr;
      static_cast<void>(pop(&popped));
    }
    return all;
  }

  std::size_t number_of_contexts() noexcept {
    const std::lock_guard lock(mutex_);
    return contexts_.size();
  }
  /// nullptr where there are fewer by now.
  void* context_at(std::size_t i) noexcept {
    const std::lock_guard lock(mutex_);
    return i < contexts_.size() ? contexts_[i] : nullptr;
  }

  std::mutex mutex_;  // guards contexts_
  std::vector<void*> contexts_;
  std::atomic<bool> lacks_contexts_{false};  // there was no memory for one, since forget_contexts()
  std::atomic<bool> lacked_contexts_{false};  // ever
  capturing_streams capturing_;
  std::mutex waiting_;  // held while a thread waits; no CUPTI call is made under it
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/device_wait.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class callback_handler {
 public:
  callback_handler(const device_listener& listener, const functions& f, device_wait& wait,
                   record_reader& reader)
      : listener_(listener), f_(f), wait_(wait), reader_(reader) {}

  /// Collecting begins: has CUPTI call `who` for all CUDA calls that matter.
  void enable(subscriber who) {
    // Once: callbacks of an earlier subscription may still be under way, and look there.
    if (!calls_are_known_) {
      runtime_.fill(f_, runtime_api);
      driver_.fill(f_, driver_api);
      calls_are_known_ = true;
    }
    ++round_;
    for (const std::uint32_t id :
         {context_created, context_destroy_starting, stream_destroy_starting, module_loaded,
          module_unload_starting, graph_node_created, graph_node_destroy_starting,
          graph_node_cloned, graph_node_updated})
      static_cast<void>(f_.enable_callback(1, who, resource, id));
    runtime_.each(
        [&](std::uint32_t id) { static_cast<void>(f_.enable_callback(1, who, runtime_api, id)); });
    driver_.each(
        [&](std::uint32_t id) { static_cast<void>(f_.enable_callback(1, who, driver_api, id)); });
  }
  const call_table& runtime_calls() const noexcept { return runtime_; }
  const call_table& driver_calls() const noexcept { return driver_; }
  /// Ids of launches for which there was no room since the last call.
  std::uint64_t take_ids_lost() noexcept { return ids_lost_.exchange(0); }
  /// What the program has done so far that some versions of CUPTI get wrong.
  risky_use use() const noexcept {
    return {round_, graphs_were_launched_, graphs_were_updated_, modules_were_reloaded_};
  }

  void handle(std::uint32_t domain, std::uint32_t id, const void* data) noexcept {
    if (domain == runtime_api) api_call(runtime_[id], data);
    else if (domain == driver_api) api_call(driver_[id], data);
    else if (domain == resource) resource_event(id, data);
  }

 private:
  void api_call(call what, const void* data) noexcept {
    call_state& s = this_call;
    s.enter_round(round_.load(std::memory_order_relaxed));
    const bool enters = field<std::uint32_t>(data, callback_data::site) == api_enter;
    const auto leaves = [enters](std::uint32_t& depth) {
      return enters ? (++depth, false) : depth != 0 && --depth == 0;
    };
    switch (what) {
      case call::launch_kernel:
      case call::launch_transfer:
      case call::launch_graph:
        if (enters) begin_launch(s, what, data);
        if (leaves(s.launching) && result_of(data) == 0) launched(s);
        break;
      case call::begin_capture:
        if (enters && s.capturing == 0) wait_.begin_capture(stream_of(data));
        if (leaves(s.capturing) && result_of(data) != 0) wait_.capturing().end(stream_of(data));
        break;
      case call::end_capture:
        if (leaves(s.capturing) && ends_capture(result_of(data)))
          wait_.capturing().end(stream_of(data));
        break;
      case call::update_graph:
        if (!enters && result_of(data) == 0) graphs_were_updated_ = true;
        break;
      case call::copy_graph: static_cast<void>(leaves(s.copying)); break;
      case call::other: break;
    }
  }
  void begin_launch(call_state& s, call what, const void* data) noexcept {
    if (s.launching == 0) {
      s.count = 0, s.captured = false, s.when = listener_.now();
      s.what = what == call::launch_kernel     ? launch_kind::kernel
               : what == call::launch_transfer ? launch_kind::transfer
                                               : launch_kind::graph;
    }
    if (!s.add(field<std::uint32_t>(data, callback_data::correlation))) ++ids_lost_;
    // A context that is older than the subscription becomes known by the launches in it.
    void* const context = field<void*>(data, callback_data::context);
    if (context == s.context) return;
    const bool is_known = context == nullptr || wait_.add(context);
    s.context = is_known ? context : nullptr;  // else the next launch tries again
  }
  void launched(const call_state& s) noexcept {
    if (s.what == launch_kind::graph && !graphs_were_launched_) graphs_were_launched_ = true;
    if (!s.captured) listener_.launched(s.ids, s.count, s.when, s.what);
    reader_.help_if_behind();
  }
  /// The first parameter of all calls that begin or end a capture.
  static void* stream_of(const void* data) noexcept {
    const void* const params = field<const void*>(data, callback_data::params);
    return params == nullptr ? nullptr : field<void*>(params, 0);
  }
  /// 0 for cudaSuccess and CUDA_SUCCESS, and where it is not told.
  static int result_of(const void* data) noexcept {
    const void* const value = field<const void*>(data, callback_data::return_value);
    return value == nullptr ? 0 : field<int>(value, 0);
  }

  void resource_event(std::uint32_t id, const void* data) noexcept {
    switch (id) {
      case context_created:
        static_cast<void>(wait_.add(field<void*>(data, resource_data::context)));
        return listener_.context_made();
      case context_destroy_starting:
        return wait_.remove(field<void*>(data, resource_data::context));
      case stream_destroy_starting:
        return wait_.capturing().destroyed(field<void*>(data, resource_data::stream));
      case module_unload_starting: modules_were_unloaded_ = true; return;
      case module_loaded:
        if (modules_were_unloaded_) modules_were_reloaded_ = true;
        return;
      default: graph_event(id, field<const void*>(data, resource_data::descriptor));
    }
  }
  void graph_event(std::uint32_t id, const void* graph) noexcept {
    std::uint64_t node = 0, original = 0;
    if (graph == nullptr || !node_id(graph, graph_data::node, node)) return;
    switch (id) {
      case graph_node_created:
        return node_made(node, field<std::uint32_t>(graph, graph_data::node_type) <= node_memset);
      case graph_node_cloned:
        if (node_id(graph, graph_data::original_node, original))
          listener_.graph_node_copied(node, original);
        return;
      case graph_node_updated:
        if (node_id(graph, graph_data::original_node, original))
          listener_.graph_node_updated(node, original);
        return;
      case graph_node_destroy_starting: return listener_.graph_node_destroyed(node);
      default: return;
    }
  }
  void node_made(std::uint64_t node, bool does_work) noexcept {
    call_state& s = this_call;
    s.enter_round(round_.load(std::memory_order_relaxed));
    if (s.launching != 0) s.captured = true;
    if (s.copying == 0) listener_.graph_node_made(node, does_work);
  }
  bool node_id(const void* graph, std::size_t offset, std::uint64_t& id) const noexcept {
    void* const node = field<void*>(graph, offset);
    return node != nullptr && f_.graph_node_id(node, &id) == success;
  }

  const device_listener& listener_;
  const functions& f_;
  device_wait& wait_;
  record_reader& reader_;
  call_table runtime_, driver_;
  bool calls_are_known_ = false;
  std::atomic<std::uint32_t> round_{0};  // how often collecting has begun
  std::atomic<std::uint64_t> ids_lost_{0};
  std::atomic<bool> graphs_were_launched_{false};
  std::atomic<bool> graphs_were_updated_{false};
  std::atomic<bool> modules_were_unloaded_{false};
  std::atomic<bool> modules_were_reloaded_{false};
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_callbacks.hpp>

// <kprof/collect/cupti_refusal.hpp>
#ifndef KPROF_COLLECT_CUPTI_REFUSAL_HPP
#define KPROF_COLLECT_CUPTI_REFUSAL_HPP

// Why CUPTI does not collect, and what the user can do about it, in words for the report.

#include <cstddef>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// A result by CUPTI's own name for it: "CUPTI_ERROR_NOT_INITIALIZED, 15".
inline std::string name_of(result r, const functions& f) {
  const char* text = nullptr;
  if (f.get_result_string(r, &text) != success || text == nullptr)
    return "error " + std::to_string(r);
  return std::string{text} + ", " + std::to_string(r);
}

/// ": " and the name of the client that has subscribed; "" where CUPTI cannot tell. Subscribes for
/// a moment if that client has just left.
inline std::string subscribed_client(const functions& f, callback_function callback) {
  if (f.subscribe_v2 == nullptr) return {};
  char name[256] = "";
  subscriber_params params{};
  params.size = offsetof(subscriber_params, allow_others);
  params.name = "kprof";
  params.holder = name;
  params.holder_size = sizeof name;
  subscriber who = nullptr;
  if (f.subscribe_v2(&who, callback, nullptr, &params) == success)
    static_cast<void>(f.unsubscribe(who));
  name[sizeof name - 1] = '\0';
  return *name == '\0' ? "" : ": " + std::string{name};
}

/// Why CUPTI said no. `callback`: what subscribed_client may subscribe with.
inline std::string refusal(result r, const functions& f, callback_function callback) {
  const std::string said = " (" + name_of(r, f) + ")";
  switch (r) {
    case multiple_subscribers:
      return "another CUPTI client has the GPU's records" + subscribed_client(f, callback) + said +
             "; run without Nsight, cuda-gdb, compute-sanitizer or another "
             "profiler to have them here, or set KPROF=cupti=off";
    case insufficient_privileges:
    case virtual_privileges:
      return "no permission to profile" + said +
             "; run as root, or load the NVIDIA driver with "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case unknown_error:
      return "CUPTI finds no NVIDIA driver that it works with" + said +
             "; use a libcupti no newer than the driver (KPROF_CUPTI)";
    case not_initialized:
      return "CUPTI finds no GPU that the program may use" + said +
             "; look at CUDA_VISIBLE_DEVICES, and in a container at --gpus all";
    default:
      return "CUPTI refuses" + said +
             "; use the libcupti of the CUDA Toolkit that the program is built with "
             "(KPROF_CUPTI)";
  }
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti_refusal.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// One a process, in the owner of the session; never freed, since CUPTI may call it until the
/// process ends. As collector_api says, start(), flush(), stop() and end() do not run at once.
class KPROF_DETAIL_LOCAL cupti_collector {
 public:
  /// The collector, made by the first call, which must give a listener.
  static cupti_collector& get(const device_listener* listener = nullptr) {
    if (own_collector == nullptr) own_collector = new cupti_collector(*listener);
    return *own_collector;
  }
  explicit cupti_collector(const device_listener& listener) : listener_(listener) {}
  cupti_collector(const cupti_collector&) = delete;
  cupti_collector& operator=(const cupti_collector&) = delete;

  /// Begins to collect, with buffers of `memory` bytes in all. A failure is final: further calls
  /// return it again. Opens libraries, so the caller holds no lock that a static constructor might
  /// want.
  status start(std::size_t memory) {
    if (collecting_ || ended_) return {};
    if (!failure_.ok()) return failure_;
    if (!attempt([&] { failure_ = subscribe(memory); })) {
      if (client_.handle() != nullptr) end_subscription();
      return {out_of_memory};  // not final: there may be memory later
    }
    if (!failure_.ok()) return failure_;
    reader_.start_thread(
        [](void* self) { static_cast<cupti_collector*>(self)->query_after_reading(); }, this);
    collecting_ = true;
    return {};
  }

  /// Reads the records of all work launched so far, waiting for the devices; false where that was
  /// not possible.
  bool flush() {
    if (!collecting_) return false;
    const bool waited = wait_.for_all_devices();
    return flush_finished() && waited;
  }

  /// Ends collecting, so that another client may use CUPTI. Work that still runs is recorded
  /// without its end.
  bool stop() {
    if (!collecting_) return false;
    const bool all = flush();
    unsubscribe(false);
    return all;
  }
  /// As stop(), and nothing is ever collected again: CUDA is about to shut down. Waits 5 s at most
  /// for the devices.
  bool end() {
    bool all = false;
    if (collecting_) {
      all = wait_.for_all_devices_within(5000) && flush_finished();
      unsubscribe(true);
    }
    ended_ = true;
    return all;
  }
  /// In the child of a fork, where neither CUDA nor CUPTI may be called.
  static void abandon() noexcept {
    if (own_collector == nullptr) return;
    own_collector->collecting_ = false;
    own_collector->ended_ = true;
  }

  /// "CUPTI 13.0 (API 130001)", once it is known.
  std::string version() const {
    const std::uint32_t version = version_;
    const auto api = " (API " + std::to_string(version) + ")";
    if (version >= cupti::version_13)
      return "CUPTI " + std::to_string(version / 10000) + '.' +
             std::to_string(version / 100 % 100) + api;
    return "CUPTI 12 or older" + api;
  }
  /// What the report should say of CUPTI besides, a line each.
  std::vector<std::string> notes() const {
    std::vector<std::string> out = cupti::known_defects(version_, callbacks_.use());
    if (const cupti::result r = not_ended_because_; r != cupti::success)
      out.push_back("CUPTI did not end kprof's subscription (" + cupti::name_of(r, f_) +
                    "): other tools cannot use CUPTI until the process ends");
    if (wait_.lacked_contexts())
      out.push_back(
          "there was no memory to remember a CUDA context: kprof does not wait for the work in it, "
          "whose records may be missing");
    return out;
  }
  std::size_t memory() noexcept { return reader_.memory(); }

 private:
  static constexpr std::uint32_t kinds[] = {cupti::kind_device,  cupti::kind_concurrent_kernel,
                                            cupti::kind_memcpy,  cupti::kind_memcpy_peer,
                                            cupti::kind_memset,  cupti::kind_synchronization,
                                            cupti::kind_overhead};

  status subscribe(std::size_t memory) {
    reader_.set_limit(memory);
    if (f_.subscribe == nullptr)
      if (status s = cupti::open_library(f_); !s) return s;
    if (status s = cupti::initialize_driver(); !s) return s;
    std::uint32_t version = 0;
    if (const cupti::result r = f_.get_version(&version); r != cupti::success) return {refusal(r)};
    version_ = version;
    clock_.measure(f_);
    const cupti::client::callbacks to{&callback,  this,          &requested,
                                      &completed, &requested_v2, &completed_v2};
    if (const cupti::result r = client_.subscribe(to, version); r != cupti::success) {
      if (client_.handle() != nullptr) end_subscription();
      return {refusal(r)};
    }
    listening_ = true;
    status s = enable();
    if (!s) end_subscription();
    return s;
  }
  void end_subscription() {
    listening_ = false;
    not_ended_because_ = client_.unsubscribe();
  }
  status enable() {
    callbacks_.enable(client_.handle());
    // Last: a record whose launch was not seen would be of unknown launch.
    for (const std::uint32_t kind : kinds) {
      const cupti::result r = client_.enable(kind);
      if (r == cupti::success || kind == cupti::kind_device ||
          kind == cupti::kind_synchronization || kind == cupti::kind_overhead)
        continue;
      for (const std::uint32_t enabled : kinds) {
        if (enabled == kind) break;
        static_cast<void>(client_.disable(enabled));
      }
      return {refusal(r)};
    }
    return {};
  }
  std::string refusal(cupti::result r) const { return cupti::refusal(r, f_, &callback); }

  /// `ends`: with the process.
  void unsubscribe(bool ends) {
    {
      const std::lock_guard lock(calling_);
      collecting_ = false;  // the reader's thread makes no call from here on
      for (const std::uint32_t kind : kinds)
        if (!ends || !cupti::may_hang_when_disabling(version_))
          static_cast<void>(client_.disable(kind));
      if (api_records_) disable_api_records();
      static_cast<void>(f_.flush_all(cupti::flush_forced));
      reader_.read_all();  // as a subscriber
      count_losses();
      end_subscription();
      wait_.forget_contexts();  // CUPTI no longer tells when they are destroyed
    }
    reader_.read_all();
  }

  /// Reads the records of finished work; false where CUPTI would not give them.
  bool flush_finished() {
    const bool flushed = f_.flush_all(0) == cupti::success;
    reader_.read_all();
    query_after_reading();
    return flushed;
  }
  /// What CUPTI is asked after records were read.
  void query_after_reading() {
    const std::lock_guard lock(calling_);
    if (!collecting_) return;
    clock_.measure(f_);
    count_losses();
    if (reader_.ids_are_missing() && !api_records_) enable_api_records();
  }
  /// Counts what was lost since the last call.
  void count_losses() {
    count(loss::records, client_.take_dropped());
    count(loss::foreign_buffers, reader_.take_foreign_buffers());
    count(loss::launch_ids, callbacks_.take_ids_lost());
  }
  void count(loss what, std::uint64_t how_many) {
    if (how_many != 0) listener_.lost(what, how_many);
  }

  // CUPTI documents correlation ids only for when records of API calls are enabled as well. Those
  // cost a record a call, and in practice the ids come with the callbacks alone. So the records are
  // enabled only once a record of device work came without an id.
  void enable_api_records() {
    api_records_ = true;
    const auto on = [&](const cupti::call_table& calls, std::uint32_t kind) {
      bool one_by_one = true;
      calls.each(
          [&](std::uint32_t id) { one_by_one = one_by_one && client_.enable_api_call(kind, id); });
      if (!one_by_one) static_cast<void>(client_.enable(kind));
    };
    on(callbacks_.runtime_calls(), cupti::kind_runtime);
    on(callbacks_.driver_calls(), cupti::kind_driver);
  }
  void disable_api_records() {
    static_cast<void>(client_.disable(cupti::kind_runtime));
    static_cast<void>(client_.disable(cupti::kind_driver));
    api_records_ = false;
  }

  // ---- what CUPTI calls

  static void callback(void* self, std::uint32_t domain, std::uint32_t id, const void* data) {
    auto* const its = static_cast<cupti_collector*>(self);
    if (its != nullptr && its->listening_.load(std::memory_order_relaxed))
      its->callbacks_.handle(domain, id, data);
  }
  static void requested(std::uint8_t** records, std::size_t* size, std::size_t* max_records) {
    const bool needs_one = own_collector->version_ < cupti::version_buffers_may_be_refused;
    cupti::buffer* const b = own_collector->reader_.take_empty(needs_one);
    *records = b == nullptr ? nullptr : b->records();
    *size = b == nullptr ? 0 : b->size;
    *max_records = 0;
  }
  static void completed(void*, std::uint32_t, std::uint8_t* records, std::size_t,
                        std::size_t filled) {
    own_collector->reader_.queue(records, filled);
  }

  static void requested_v2(std::uint8_t** records, std::size_t* size, std::size_t* max_records,
                           void*) {
    requested(records, size, max_records);
  }
  static void completed_v2(std::uint8_t* records, std::size_t size, std::size_t filled, void*) {
    completed(nullptr, 0, records, size, filled);
  }

  static cupti_collector* own_collector;  // CUPTI's buffer callbacks carry no pointer of kprof's

  const device_listener listener_;
  cupti::functions f_{};
  cupti::device_wait wait_;
  cupti::clock_offset clock_;
  cupti::client client_{f_};
  cupti::record_reader reader_{listener_, client_, clock_};
  cupti::callback_handler callbacks_{listener_, f_, wait_, reader_};
  std::atomic<std::uint32_t> version_{0};
  std::mutex calling_;  // held to call CUPTI after reading or to unsubscribe; not by callbacks
  std::atomic<bool> listening_{false};                            // to callbacks
  std::atomic<cupti::result> not_ended_because_{cupti::success};  // why a subscription goes on
  std::atomic<bool> collecting_{false};
  std::atomic<bool> ended_{false};
  status failure_;
  bool api_records_ = false;  // guarded by calling_
};
KPROF_DETAIL_LOCAL inline constinit cupti_collector* cupti_collector::own_collector = nullptr;

/// This module's collector, as the session uses it.
KPROF_DETAIL_LOCAL inline const collector_api& cupti_api() noexcept {
  static constexpr collector_api table{
      [](const device_listener& listener, std::size_t memory) {
        return cupti_collector::get(&listener).start(memory);
      },
      [] { return cupti_collector::get().flush(); },
      [] { return cupti_collector::get().stop(); },
      [] { return cupti_collector::get().end(); },
      &cupti_collector::abandon,
      [] { return cupti_collector::get().version(); },
      [] { return cupti_collector::get().notes(); },
      []() noexcept { return cupti_collector::get().memory(); },
  };
  return table;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/collect/cupti.hpp>

// <kprof/collect/uses_cuda.hpp>
#ifndef KPROF_COLLECT_USES_CUDA_HPP
#define KPROF_COLLECT_USES_CUDA_HPP

// Whether the program uses CUDA. Loading CUPTI loads the driver, which a program without CUDA
// should not pay for.

#include <link.h>

#include <cstddef>
#include <string_view>

// Not null where this module holds device code or calls the runtime or the driver.
extern "C" {
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_device_code() __asm__(
    "__cudaRegisterFatBinary");
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_runtime() __asm__("cudaMalloc");
[[gnu::weak, gnu::visibility("default")]] void kprof_detail_driver() __asm__("cuInit");
}

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether this module uses CUDA, or a library is loaded that only programs with CUDA load.
inline bool uses_cuda() {
  if (&kprof_detail_device_code != nullptr || &kprof_detail_runtime != nullptr ||
      &kprof_detail_driver != nullptr)
    return true;
  const auto is_of_cuda = [](dl_phdr_info* info, std::size_t, void*) -> int {
    std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    for (const std::string_view library :
         {"libcuda.so", "libcudart.so", "libcublas.so", "libcublasLt.so", "libcudnn.so",
          "libcufft.so", "libnccl.so"})
      if (name.starts_with(library)) return 1;
    return 0;
  };
  return dl_iterate_phdr(is_of_cuda, nullptr) != 0;
}

/// Whether device activity is collected unless somebody says otherwise. Not where the environment
/// is foreign: the driver that CUPTI loads takes names of libraries from it.
inline bool collects_by_default() { return !environment_is_foreign() && uses_cuda(); }

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/collect/uses_cuda.hpp>

// <kprof/emit/nvtx.hpp>
#ifndef KPROF_EMIT_NVTX_HPP
#define KPROF_EMIT_NVTX_HPP

// Sends scopes to an attached NVTX tool, such as Nsight Systems: a range in domain `kprof` with the
// operator's or region's name, the parameters as a typed payload and, where they are declared and
// valid, the operator's FLOPs and bytes. kprof.hpp includes it. A library may include it alone, so
// that its users see typed ranges without any session. Including it arms the guards of the process:
// the first scope looks for a tool, and without one guards are idle again. It costs about 0.4 s of
// compile time and 31 KB of weak code an object. Any thread may open and close scopes.

// <kprof/emit/nvtx_ranges.hpp>
#ifndef KPROF_EMIT_NVTX_RANGES_HPP
#define KPROF_EMIT_NVTX_RANGES_HPP

// Pushes and pops the ranges of this module: finds what the tool knows of an operator or a region's
// name, and sends a scope with its payload. Included by emit/nvtx.hpp, which attaches to a tool.
// Any thread.

// <kprof/emit/nvtx_schema.hpp>
#ifndef KPROF_EMIT_NVTX_SCHEMA_HPP
#define KPROF_EMIT_NVTX_SCHEMA_HPP

// Tells an NVTX tool what operators, nested structs and enums look like: payload schemas and enums,
// built at run time from the descriptors. Included by emit/nvtx.hpp, which has the ranges. Any
// thread.

// Both here: behind the condition the single header would hold them twice.

// <kprof/emit/nvtx_registry.hpp>
#ifndef KPROF_EMIT_NVTX_REGISTRY_HPP
#define KPROF_EMIT_NVTX_REGISTRY_HPP

// What an NVTX tool was told of operators, nested structs and enums: one registration for each
// different description, on a list that readers walk without a lock. Included by nvtx_schema.hpp,
// which makes the descriptions. Any thread; allocates for a new description, and never frees what
// the tool was told.

#if KPROF_NVTX

// The C headers of the SDK are not written for the warnings that kprof's users may turn on.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
// Brings the nvToolsExt.h beside it, and not one of another toolkit.
#include <nvtx3/nvToolsExtPayload.h>
#else
#include <nvtx3/nvToolsExt.h>
#endif
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdlib>

// Toolkits before CUDA 13 have no payload header, or one with other names: ranges are then sent
// without payload.
#ifdef NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
#define KPROF_DETAIL_PAYLOAD 1
#else
#define KPROF_DETAIL_PAYLOAD 0
#endif

KPROF_DETAIL_BEGIN
namespace detail {
// All functions are hidden: each binary that includes this has its own NVTX instance and its own
// state.
namespace nvtx {

#if KPROF_DETAIL_PAYLOAD
using entry = nvtxPayloadSchemaEntry_t;
#else
struct entry {};
#endif

enum class role : std::uint8_t { enumeration, nested, op };

/// What the tool was told of an operator, a nested struct or an enum. One block, immutable once it
/// is on the list, and leaked: a tool may keep the pointers of a registration, and readers hold no
/// lock.
struct known {
  known* next;
  nvtxStringHandle_t message;  // of an operator
  // schema or enum; 0: the tool takes no payload, or there are no fields
  std::uint64_t id;
  const char* name;
  std::uint64_t size;
  // not `count`: nvcc takes `item->count <` for the start of template arguments of kprof::count
  std::size_t length;
  entry* entries;
  void* enumerators;  // of an enum: the table that the tool was given
  role as;
};

struct registry {
  nvtxDomainHandle_t domain;
  known* list;
  std::uint64_t work_ids[4];  // schema for [has_flops + 2 * has_bytes]
};
KPROF_DETAIL_LOCAL inline constinit registry told{};

template <class T>
KPROF_DETAIL_LOCAL inline bool exchange(T& at, T& expected, T desired) noexcept {
  return __atomic_compare_exchange_n(&at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
}

KPROF_DETAIL_LOCAL inline char* copy_text(char* to, text_view from) noexcept {
  __builtin_memcpy(to, from.data, from.size);
  to[from.size] = '\0';
  return to + from.size;
}

/// `characters` is room for the names of the entries.
KPROF_DETAIL_LOCAL inline known* make_known(role as, text_view name, std::uint64_t size,
                                            std::size_t entries, std::size_t characters,
                                            char*& names) noexcept {
  const std::size_t head = sizeof(known) + entries * sizeof(entry);
  auto* block = static_cast<char*>(std::calloc(1, head + name.size + 1 + characters));
  if (block == nullptr) return nullptr;
  auto* item = reinterpret_cast<known*>(block);
  item->name = block + head;
  item->size = size;
  item->entries = reinterpret_cast<entry*>(block + sizeof(known));
  item->as = as;
  names = copy_text(block + head, name) + 1;
  return item;
}

KPROF_DETAIL_LOCAL inline bool same(const known& a, const known& b) noexcept {
  if (a.as != b.as || a.size != b.size || a.length != b.length ||
      __builtin_strcmp(a.name, b.name) != 0)
    return false;
#if KPROF_DETAIL_PAYLOAD
  for (std::size_t i = 0; i < a.length; ++i) {
    const entry& x = a.entries[i];
    const entry& y = b.entries[i];
    if (x.flags != y.flags || x.type != y.type || x.offset != y.offset ||
        x.arrayOrUnionDetail != y.arrayOrUnionDetail || __builtin_strcmp(x.name, y.name) != 0)
      return false;
  }
#endif
  return true;
}

KPROF_DETAIL_LOCAL inline void register_item(known& item) noexcept {
  if (item.as == role::op) item.message = nvtxDomainRegisterStringA(told.domain, item.name);
#if KPROF_DETAIL_PAYLOAD
  if (item.length == 0) return;
  if (item.as == role::enumeration) {
    auto* list =
        static_cast<nvtxPayloadEnum_t*>(std::calloc(item.length, sizeof(nvtxPayloadEnum_t)));
    if (list == nullptr) return;
    item.enumerators = list;
    for (std::size_t i = 0; i < item.length; ++i)
      list[i] = {item.entries[i].name, item.entries[i].offset, 0};
    nvtxPayloadEnumAttr_t about{};
    about.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    about.name = item.name;
    about.entries = list;
    about.numEntries = item.length;
    about.sizeOfEnum = item.size;
    item.id = nvtxPayloadEnumRegister(told.domain, &about);
  } else {
    nvtxPayloadSchemaAttr_t about{};
    about.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    about.name = item.name;
    about.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    about.entries = item.entries;
    about.numEntries = item.length;
    about.payloadStaticSize = item.size;
    item.id = nvtxPayloadSchemaRegister(told.domain, &about);
  }
#endif
}

/// The item on the list that says the same, or `item` after it was registered and put there. No
/// lock is held while the tool is called: it may wait for the loader, and so may a static object's
/// constructor that opens a scope meanwhile. Of two threads that describe the same operator at
/// once, both register it, and either registration serves.
KPROF_DETAIL_LOCAL inline const known* intern(known* item) noexcept {
  if (item == nullptr) return nullptr;
  known* head = load(told.list);
  for (const known* k = head; k != nullptr; k = k->next)
    if (same(*k, *item)) {
      std::free(item);
      return k;
    }
  register_item(*item);
  do item->next = head;
  while (!exchange(told.list, head, item));
  return item;
}

}  // namespace nvtx
}  // namespace detail
KPROF_DETAIL_END

#endif  // KPROF_NVTX

#endif  // <kprof/emit/nvtx_registry.hpp>

#if KPROF_NVTX

#include <cstddef>
#include <cstdlib>

KPROF_DETAIL_BEGIN
namespace detail {
namespace nvtx {

/// How many binaries have gone: an operator may lie where another lay.
KPROF_DETAIL_LOCAL inline constinit std::uint32_t unloadings = 0;

#if KPROF_DETAIL_PAYLOAD

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc& fields) noexcept;

/// Schema id of an enum; 0 when none of its enumerators has a name.
KPROF_DETAIL_LOCAL inline std::uint64_t enum_id(const enum_desc& e, std::uint32_t bytes) noexcept {
  std::size_t characters = 0;
  for (std::uint32_t i = 0; i < e.size; ++i) characters += e.list[i].name.size + 1;
  char* names = nullptr;
  known* item = make_known(role::enumeration, e.name, bytes, e.size, characters, names);
  if (item == nullptr) return 0;
  for (; item->length < e.size; ++item->length) {
    entry& to = item->entries[item->length];
    to.name = names;
    // sign extended, as NVTX's own tables come out
    to.offset = static_cast<std::uint64_t>(e.list[item->length].value);
    names = copy_text(names, e.list[item->length].name) + 1;
  }
  return intern(item)->id;
}

/// NVTX's type of one element of a field; 0 when it has none.
KPROF_DETAIL_LOCAL inline std::uint64_t element_type(const field_desc& f) noexcept {
  static constexpr enumerator truth[] = {{0, {"false", 5}}, {1, {"true", 4}}};
  const bool is_signed = f.kind == field_kind::signed_integer ||
                         (f.kind == field_kind::enumeration && f.enumerators->is_signed);
  switch (f.kind) {
    case field_kind::boolean: return enum_id({{"bool", 4}, false, 2, truth}, f.size);
    case field_kind::string: return NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
    case field_kind::aggregate: {
      const known* nested = describe(role::nested, f.nested->name, *f.nested);
      return nested == nullptr ? 0 : nested->id;
    }
    case field_kind::floating:
      if (f.size == sizeof(float)) return NVTX_PAYLOAD_ENTRY_TYPE_FLOAT;
      if (f.size == sizeof(double)) return NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
      return f.size == sizeof(long double) ? NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE : 0;
    case field_kind::enumeration:
      if (const std::uint64_t id = enum_id(*f.enumerators, f.size)) return id;
      break;
    default: break;
  }
  switch (f.size) {
    case 1: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT8 : NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
    case 2: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT16 : NVTX_PAYLOAD_ENTRY_TYPE_UINT16;
    case 4: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT32 : NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
    case 8: return is_signed ? NVTX_PAYLOAD_ENTRY_TYPE_INT64 : NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
    default: return 0;
  }
}

/// Entries of one field: NVTX has no array of strings of fixed size, so that each of its elements
/// gets its own.
KPROF_DETAIL_LOCAL constexpr std::uint32_t entries_of(const field_desc& f) noexcept {
  return f.kind == field_kind::string && f.extent != 0 ? f.extent : 1;
}

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc& fields) noexcept {
  std::size_t entries = 0, characters = 0;
  for (std::uint32_t i = 0; i < fields.field_count; ++i) {
    const field_desc& f = fields.fields[i];
    entries += entries_of(f);
    characters += entries_of(f) * (f.name.size + std::size_t{8});  // "[511]"
  }
  char* names = nullptr;
  known* item = make_known(as, name, fields.size, entries, characters, names);
  if (item == nullptr) return nullptr;
  for (std::uint32_t i = 0; i < fields.field_count; ++i) {
    const field_desc& f = fields.fields[i];
    const std::uint64_t type = element_type(f);
    if (type == 0) continue;
    for (std::uint32_t k = 0; k < entries_of(f); ++k) {
      const std::uint64_t offset = f.offset + std::uint64_t{k} * f.size;
      // Sorted, since a tool takes offset 0 for "after the entry before": listed fields may come in
      // any order.
      std::size_t at = item->length++;
      for (; at > 0 && item->entries[at - 1].offset > offset; --at)
        item->entries[at] = item->entries[at - 1];
      const bool is_array = f.extent != 0 && f.kind != field_kind::string;
      item->entries[at] = {is_array ? std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE} : 0,
                           type,
                           names,
                           nullptr,
                           f.kind == field_kind::string ? f.size : f.extent,
                           offset,
                           nullptr,
                           nullptr};
      names = copy_text(names, f.name);
      if (entries_of(f) > 1) {
        char digits[] = {'[', static_cast<char>('0' + k / 100),
                         static_cast<char>('0' + k / 10 % 10), static_cast<char>('0' + k % 10),
                         ']'};
        const std::uint32_t skip = k < 10 ? 2 : k < 100 ? 1 : 0;
        digits[skip] = '[';
        names = copy_text(names, {digits + skip, 5 - skip});
      }
      ++names;
    }
  }
  return intern(item);
}

/// Bytes of `work` that are numbers.
inline constexpr std::uint32_t work_size = 24;

/// The schemas of what evaluate() yields, one for each set of declared formulas: they name what is
/// there of `work`.
KPROF_DETAIL_LOCAL inline void register_work() noexcept {
  constexpr field_kind number = field_kind::unsigned_integer;
  static constexpr field_desc fields[] = {
      {{"flops", 5}, offsetof(work, flops), 8, 0, number, nullptr, nullptr},
      {{"bytes_read", 10}, offsetof(work, read), 8, 0, number, nullptr, nullptr},
      {{"bytes_written", 13}, offsetof(work, written), 8, 0, number, nullptr, nullptr}};
  for (std::uint32_t set = 1; set < 4; ++set) {
    const known* item =
        describe(role::nested, {"kprof.work", 10},
                 {{"", 0}, work_size, set, set == 2 ? fields + 1 : fields, nullptr});
    told.work_ids[set] = item == nullptr ? 0 : item->id;
  }
}

/// What the formulas said of a set of parameters, whose bytes follow: running them safely takes
/// system calls.
struct remembered_work {
  const op_desc* op;
  std::uint32_t generation;  // of `unloadings`
  std::uint32_t bytes;
  work numbers;
};
inline constexpr std::size_t remembered_slots = 4096;  // sets beyond are evaluated every time
inline constexpr std::size_t remembered_probes = 16;
KPROF_DETAIL_LOCAL inline constinit remembered_work* remembered[remembered_slots]{};

KPROF_DETAIL_LOCAL inline work work_of(const op_desc& op, const void* params,
                                       std::uint32_t bytes) noexcept {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&op);
  for (std::uint32_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, static_cast<const char*>(params) + at, bytes - at < 8 ? bytes - at : 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
  }
  const std::uint32_t generation = load(unloadings);
  remembered_work** slot = nullptr;
  for (std::size_t i = 0; i < remembered_probes; ++i) {
    slot = &remembered[(hash + i) % remembered_slots];
    const remembered_work* at = load(*slot);
    if (at == nullptr) break;
    if (at->op == &op && at->generation == generation && at->bytes == bytes &&
        __builtin_memcmp(at + 1, params, bytes) == 0)
      return at->numbers;
    slot = nullptr;
  }
  work numbers{};
  division_trap::run_keeping_handler(op.evaluate, params, numbers);
  auto* made = slot == nullptr
                   ? nullptr
                   : static_cast<remembered_work*>(std::malloc(sizeof(remembered_work) + bytes));
  if (made == nullptr) return numbers;
  *made = {&op, generation, bytes, numbers};
  if (bytes != 0) __builtin_memcpy(made + 1, params, bytes);
  remembered_work* nobody = nullptr;
  if (!exchange(*slot, nobody, made)) std::free(made);
  return numbers;
}

/// The payloads of one range; lives until the range is pushed.
struct payloads {
  nvtxPayloadData_t data[2];
  work numbers;

  /// The parameters at `params`, as `item` describes them, and what the formulas of `op` say about
  /// them.
  KPROF_DETAIL_LOCAL void add_to(nvtxEventAttributes_t& event, const known& item, const op_desc& op,
                                 const void* params, std::uint32_t bytes) noexcept {
    std::int32_t count = 0;
    if (item.id != 0) data[count++] = {item.id, bytes, params};
    if (told.work_ids[3] != 0) {
      numbers = work_of(op, params, bytes);
      // A formula that is not declared, or not valid for these parameters, is left out: it must not
      // read as 0.
      const unsigned set = numbers.valid == 0 ? 0U
                                              : (numbers.has_flops != 0 ? 1U : 0U) +
                                                    (numbers.has_bytes != 0 ? 2U : 0U);
      if (set != 0) data[count++] = {told.work_ids[set], work_size, &numbers};
    }
    if (count == 0) return;
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = count;
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(data);
  }
};

#else

KPROF_DETAIL_LOCAL inline const known* describe(role as, text_view name,
                                                const struct_desc&) noexcept {
  char* names = nullptr;
  return intern(make_known(as, name, 0, 0, 0, names));
}
KPROF_DETAIL_LOCAL inline void register_work() noexcept {}
struct payloads {
  void add_to(nvtxEventAttributes_t&, const known&, const op_desc&, const void*,
              std::uint32_t) noexcept {}
};

#endif  // KPROF_DETAIL_PAYLOAD

}  // namespace nvtx
}  // namespace detail
KPROF_DETAIL_END

#undef KPROF_DETAIL_PAYLOAD

#endif  // KPROF_NVTX

#endif  // <kprof/emit/nvtx_schema.hpp>

#if KPROF_NVTX

#include <ctime>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

struct emitter_api;

// Of the modules that include this, the first that finds the tool serves the whole process through
// hub_record::emitter.
namespace nvtx {

/// Where the push of an operator finds what the tool knows. `op` never changes once set; `item`
/// does.
///
/// A library may go and another one take its address, with an op_desc at the very same place, even
/// with the same function addresses when it is the same plugin built again. So an address alone
/// proves nothing. hub_record::detach tells when the binary that last filled the slot goes, and
/// empties it: the next push describes the operator anew. If the linker merged the descriptors of
/// several binaries into one, whoever uses it keeps its owner loaded, and the slot is emptied with
/// the user. A description that was seen before is found on the list by its contents, so that
/// loading and unloading in a loop neither leaks nor registers anything twice.
struct op_slot {
  const op_desc* op;
  const module_record* home;
  const known* item;
};

struct region_name {
  nvtxStringHandle_t message;  // nullptr while it is being registered
  std::uint32_t size;
  const char* data;
};

// What is known of a tool. Numbers: the atomic builtins of clang take no enums.
inline constexpr std::uint32_t not_sought = 0, being_sought = 1, found = 2, absent = 3;

// an operator beyond finds its description by a walk of the list
inline constexpr std::size_t op_slots = 1024;
inline constexpr std::size_t name_slots = 2048;
// those beyond are sent as plain text: a tool never forgets a string
inline constexpr std::size_t max_region_names = 1024;
inline constexpr std::uint32_t max_message = 1000;

struct state {
  std::uint32_t tool;  // one of the above
  bool refused;
  bool gave_up_waiting;
  const emitter_api* emitter;
  void (*next_detach)(const module_record& leaving) noexcept;
  std::uint32_t threads;
  std::uint32_t region_names;
  region_name* names[name_slots];
  op_slot ops[op_slots];
};
KPROF_DETAIL_LOCAL inline constinit state self{};

/// What the tool knows of the operator at `where`; nullptr when memory is short.
KPROF_DETAIL_LOCAL inline const known* known_op(const site& where) noexcept {
  // op_slots = 2^10
  const std::size_t start =
      (reinterpret_cast<std::uintptr_t>(where.op) >> 4U) * 0x9E3779B97F4A7C15U >> 54U;
  op_slot* slot = nullptr;
  for (std::size_t i = 0; i < op_slots; ++i) {
    op_slot& at = self.ops[(start + i) % op_slots];
    const op_desc* key = load(at.op);
    if (key == nullptr && exchange(at.op, key, where.op)) key = where.op;
    if (key != where.op) continue;
    if (const known* item = load(at.item)) return item;
    slot = &at;
    break;
  }
  const known* item = describe(role::op, where.op->name(), where.op->params());
  if (slot != nullptr) {
    store(slot->home, where.home);
    store(slot->item, item);
  }
  return item;
}

/// Empties the slots of a binary that is about to go. Then calls the function that
/// hub_record::detach held before this one.
KPROF_DETAIL_LOCAL inline void forget(const module_record& leaving) noexcept {
  for (op_slot& slot : self.ops)
    if (load(slot.home) == &leaving) store(slot.item, static_cast<const known*>(nullptr));
  __atomic_fetch_add(&unloadings, 1U, __ATOMIC_SEQ_CST);
  if (self.next_detach != nullptr) self.next_detach(leaving);
}

/// The handle of a region's name, or nullptr when it is to be sent as text.
KPROF_DETAIL_LOCAL inline nvtxStringHandle_t region_handle(text_view name) noexcept {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (std::uint32_t i = 0; i < name.size; ++i)
    hash = (hash ^ static_cast<unsigned char>(name.data[i])) * 1099511628211U;
  for (std::size_t i = 0; i < name_slots; ++i) {
    region_name*& slot = self.names[(hash + i) % name_slots];
    region_name* at = load(slot);
    if (at == nullptr) {
      if (load(self.region_names) >= max_region_names) return nullptr;
      auto* block = static_cast<char*>(std::malloc(sizeof(region_name) + name.size + 1));
      if (block == nullptr) return nullptr;
      auto* made = reinterpret_cast<region_name*>(block);
      *made = {nullptr, name.size, block + sizeof(region_name)};
      copy_text(block + sizeof(region_name), name);
      if (exchange(slot, at, made)) {
        __atomic_fetch_add(&self.region_names, 1U, __ATOMIC_RELAXED);
        store(made->message, nvtxDomainRegisterStringA(told.domain, made->data));
        return made->message;
      }
      std::free(block);  // another thread was first, with the name at `at`
    }
    if (at->size == name.size && __builtin_memcmp(at->data, name.data, name.size) == 0)
      return load(at->message);
  }
  return nullptr;
}

KPROF_DETAIL_LOCAL inline nvtxEventAttributes_t event_named(nvtxStringHandle_t handle) noexcept {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = handle;
  return event;
}

[[gnu::noinline]] KPROF_DETAIL_LOCAL inline void push_text(text_view name) noexcept {
  char copy[max_message + 1];
  if (name.size > max_message) name.size = max_message;
  copy_text(copy, name);
  nvtxEventAttributes_t event = event_named(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = copy;
  nvtxDomainRangePushEx(told.domain, &event);
}

/// Set while this thread is inside the tool, which may hold a lock of its own and allocate: scopes
/// that a guard in the program's allocator opens there are not sent.
KPROF_DETAIL_LOCAL inline constinit thread_local bool telling = false;

KPROF_DETAIL_LOCAL inline void tell(const site& where, const void* payload,
                                    std::uint32_t bytes) noexcept {
  if (where.op == nullptr) {
    const text_view name{static_cast<const char*>(payload), bytes};
    const nvtxStringHandle_t handle = region_handle(name);
    if (handle == nullptr) return push_text(name);
    const nvtxEventAttributes_t event = event_named(handle);
    nvtxDomainRangePushEx(told.domain, &event);
    return;
  }
  const known* item = known_op(where);
  if (item == nullptr) return push_text(where.op->name());
  nvtxEventAttributes_t event = event_named(item->message);
  if (item->message == nullptr) {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = item->name;
  }
  payloads with;
  with.add_to(event, *item, *where.op, payload, bytes);
  nvtxDomainRangePushEx(told.domain, &event);
}

KPROF_DETAIL_LOCAL inline bool push(const site& where, const void* payload,
                                    std::uint32_t bytes) noexcept {
  if (telling) return false;
  telling = true;
  tell(where, payload, bytes);
  telling = false;
  return true;
}
KPROF_DETAIL_LOCAL inline void pop() noexcept {
  telling = true;
  nvtxDomainRangePop(told.domain);
  telling = false;
}

KPROF_DETAIL_LOCAL inline constexpr emitter_api emitter{&push, &pop};

/// Looks for a tool. The process's emitter if another binary has one, else this binary's own.
KPROF_DETAIL_LOCAL inline const emitter_api* look_for_tool(hub_record& hub) noexcept {
  if (const emitter_api* other = load(hub.emitter)) return other;
  // the first call of NVTX: loads the tool, if there is one
  told.domain = nvtxDomainCreateA("kprof");
  if (told.domain == nullptr) return nullptr;
  keep_loaded();
  register_work();
  self.next_detach = load(hub.detach);
  while (!exchange(hub.detach, self.next_detach, &forget)) {}
  const emitter_api* other = nullptr;
  return exchange(hub.emitter, other, &emitter) ? &emitter : other;
}

}  // namespace nvtx

}  // namespace detail
KPROF_DETAIL_END

#endif  // KPROF_NVTX

#endif  // <kprof/emit/nvtx_ranges.hpp>

#if KPROF_NVTX

#include <ctime>
#include <utility>

#endif

KPROF_DETAIL_BEGIN
namespace detail {

struct emitter_api;

#if !KPROF_NVTX

inline const emitter_api* attach_nvtx() noexcept { return nullptr; }
inline bool arm_nvtx() noexcept { return false; }
inline void refuse_nvtx() noexcept {}
inline void disarm_nvtx() noexcept {}

#else

/// The emitter when an NVTX tool is attached, else nullptr. The first call initialises NVTX and
/// hangs the emitter into the hub; later ones cost two loads. Any thread. Waits at most two seconds
/// for another thread that initialises: that thread may need the loader's lock, which this one
/// holds while a static object's constructor opens a scope. Such a scope is not sent.
KPROF_DETAIL_LOCAL inline const emitter_api* attach_nvtx() noexcept {
  using nvtx::self;
  if (load(self.refused) || nvtx::telling) return nullptr;
  std::uint32_t tool = load(self.tool);
  if (tool == nvtx::not_sought && nvtx::exchange(self.tool, tool, nvtx::being_sought)) {
    nvtx::telling = true;
    // NVTX itself reads NVTX_INJECTION64_PATH, whatever the process may do.
    self.emitter = environment_is_foreign() ? nullptr : nvtx::look_for_tool(the_hub());
    nvtx::telling = false;
    tool = self.emitter != nullptr ? nvtx::found : nvtx::absent;
    store(self.tool, tool);
  }
  for (int i = 0; tool == nvtx::being_sought && !load(self.gave_up_waiting); ++i) {
    const std::timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    tool = load(self.tool);
    if (i == 2000) store(self.gave_up_waiting, true);
  }
  return tool == nvtx::found ? self.emitter : nullptr;
}

// The functions of guards while no session records.
namespace nvtx {

/// The ranges that this thread has open here, and how often it opened one at each depth: a token
/// that names an older range at the same depth is recognised. Below the depths that are counted it
/// is not.
struct thread_ranges {
  static constexpr std::uint32_t counted = 64;
  std::uint32_t number;
  std::uint32_t depth;
  std::uint16_t opened[counted];
};
KPROF_DETAIL_LOCAL inline constinit thread_local thread_ranges mine{};

/// A token: `emitted_token` and the thread's number in the upper half, then 16 bits of which
/// opening at this depth, then the depth.
KPROF_DETAIL_LOCAL inline scope_token token_of_innermost() noexcept {
  const std::uint32_t opening = mine.depth < thread_ranges::counted ? mine.opened[mine.depth] : 0U;
  return emitted_token | static_cast<scope_token>(mine.number) << 32U | opening << 16U | mine.depth;
}

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept;
template <std::uint32_t Words>
KPROF_DETAIL_LOCAL inline scope_token begin_words(site& where, const void* payload) noexcept {
  return begin(where, payload, 8 * Words);
}

/// Closes the range and those left open within it. Nothing for a token of another thread or of a
/// range that is closed.
KPROF_DETAIL_LOCAL inline void end(scope_token token) noexcept {
  if ((token & emitted_token) == 0) return end_through_hub(token);
  const std::uint32_t depth = token & 0xFFFFU;
  if ((token & ~emitted_token) >> 32U != mine.number || depth > mine.depth) return;
  if (depth < thread_ranges::counted && mine.opened[depth] != (token >> 16U & 0xFFFFU)) return;
  for (; mine.depth >= depth; --mine.depth) self.emitter->pop();
}

KPROF_DETAIL_LOCAL inline std::uint32_t capture() noexcept { return 0; }
// NVTX ranges stay on their thread
KPROF_DETAIL_LOCAL inline scope_token adopt(std::uint32_t) noexcept { return 0; }
KPROF_DETAIL_LOCAL inline void release(scope_token) noexcept {}

template <std::uint32_t... Words>
constexpr scope_api make_emit_only(std::integer_sequence<std::uint32_t, Words...>) noexcept {
  return {1, sizeof(scope_api), &end, &begin, {&begin_words<Words>...}, &capture, &adopt, &release};
}
KPROF_DETAIL_LOCAL inline constexpr scope_api emit_only =
    make_emit_only(std::make_integer_sequence<std::uint32_t, max_fast_words + 1>{});

KPROF_DETAIL_LOCAL inline scope_token begin(site& where, const void* payload,
                                            std::uint32_t bytes) noexcept {
  if (telling) return 0;
  const emitter_api* to = attach_nvtx();
  if (to == nullptr) {
    // No tool: guards go idle again. Only the first scope finds itself in the hub, so that only it
    // walks the binaries.
    const scope_api* own = &emit_only;
    if (load(self.tool) != being_sought &&
        exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr)))
      publish(the_hub());
    return 0;
  }
  if (mine.number == 0) mine.number = __atomic_add_fetch(&self.threads, 1U, __ATOMIC_RELAXED);
  if (mine.depth == 0xFFFF) return 0;
  if (!to->push(where, payload, bytes)) return 0;
  if (++mine.depth < thread_ranges::counted) ++mine.opened[mine.depth];
  return token_of_innermost();
}

}  // namespace nvtx

/// Lets the guards of the process look for a tool at the next scope, unless somebody else does so
/// already. False when it is known that there is none. Including this header calls it when static
/// objects are built.
KPROF_DETAIL_LOCAL inline bool arm_nvtx() noexcept {
  hub_record& hub = the_hub();
  if (load(nvtx::self.refused) || load(hub.emit_refused) != 0 ||
      load(nvtx::self.tool) == nvtx::absent || environment_is_foreign())
    return false;
  const scope_api* nobody = nullptr;
  keep_loaded();
  if (nvtx::exchange(hub.emit_only, nobody, &nvtx::emit_only)) {
    store(hub.end_emitted, &nvtx::end);
    publish(hub);
  }
  return true;
}

/// For a session whose user wants no NVTX: nothing is sent from now on, and no tool is looked for.
/// Ranges that are open are still closed. Libraries loaded later find it written in the hub.
KPROF_DETAIL_LOCAL inline void refuse_nvtx() noexcept {
  hub_record& hub = the_hub();
  store(nvtx::self.refused, true);
  store(hub.emit_refused, std::uint32_t{1});
  store(hub.emitter, static_cast<const emitter_api*>(nullptr));
  store(hub.emit_only, static_cast<const scope_api*>(nullptr));
  publish(hub);
}

/// For a session that has found no tool: guards do not look for one again when it stops. The caller
/// publishes the hub.
KPROF_DETAIL_LOCAL inline void disarm_nvtx() noexcept {
  const scope_api* own = &nvtx::emit_only;
  nvtx::exchange(the_hub().emit_only, own, static_cast<const scope_api*>(nullptr));
}

namespace nvtx {
struct arming {
  KPROF_DETAIL_LOCAL arming() noexcept { arm_nvtx(); }
};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(102)]] inline arming armed;
}  // namespace nvtx

#endif  // KPROF_NVTX

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/emit/nvtx.hpp>

// <kprof/record/scope_functions.hpp>
#ifndef KPROF_RECORD_SCOPE_FUNCTIONS_HPP
#define KPROF_RECORD_SCOPE_FUNCTIONS_HPP

// What guards call while a session records: two clock readings and a record in the thread's own
// log. No lock, no system call, no allocation but once every few hundred scopes, when a chunk is
// full.

// <kprof/record/abandoned_scopes.hpp>
#ifndef KPROF_RECORD_ABANDONED_SCOPES_HPP
#define KPROF_RECORD_ABANDONED_SCOPES_HPP

// Finds scopes whose guards a longjmp() has jumped over, so that nobody will end them. Only for a
// thread on which no deeper scope fits: noting where each guard lies would cost every scope.

#include <pthread.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

/// The scopes whose tokens lie on the calling thread's stack. A guard is a token in a frame; other
/// words, and what an earlier call has left there, may look like one.
class tokens_on_stack {
 public:
  static constexpr std::uint32_t deepest = 4096;

  explicit tokens_on_stack(const open_scopes& scopes) noexcept : scopes_(scopes) {}

  /// The depth of the first of many scopes in a row that have no token on the stack; 0 where there
  /// are none.
  std::uint16_t first_without() noexcept {
    __builtin_unwind_init();  // tokens that functions keep in registers
    if (!search_stack()) return 0;
    std::uint32_t first = 0, longest = fewest - 1;
    const std::uint32_t depth = scopes_.depth() < deepest ? scopes_.depth() : deepest;
    for (std::uint32_t from = 1, d = 1; d <= depth + 1; ++d) {
      if (d <= depth && !found_[d]) continue;
      if (d - from > longest) longest = d - from, first = from;
      from = d + 1;
    }
    return static_cast<std::uint16_t>(first);
  }

 private:
  static constexpr std::uint32_t fewest = 64;

  // It reads frames as bytes, and beyond the objects in them.
  [[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool
  search_stack() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    void* lowest = nullptr;
    std::size_t size = 0;
    const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    pthread_attr_destroy(&attributes);
    const auto* at = static_cast<const volatile std::uint64_t*>(__builtin_frame_address(0));
    const auto from = reinterpret_cast<std::uintptr_t>(at);
    const auto end = reinterpret_cast<std::uintptr_t>(lowest) + size;
    // Elsewhere on a signal's stack or a coroutine's.
    if (!known || from < reinterpret_cast<std::uintptr_t>(lowest) || from >= end) return false;
    for (std::size_t i = 0; i < (end - from) / sizeof(std::uint64_t); ++i) {
      const scope_token token = at[i];
      if (depth_of(token) <= deepest && scopes_.is_open(token)) found_[depth_of(token)] = true;
    }
    return true;
  }

  const open_scopes& scopes_;
  std::bitset<deepest + 1> found_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/abandoned_scopes.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// The functions for one clock, with or without an emitter beside the recorder.
template <class Clock, bool Emit>
class KPROF_DETAIL_LOCAL scope_functions {
 public:
  static const scope_api& api() noexcept {
    static constexpr scope_api table = make_api();
    return table;
  }
  /// For a recording that sends nothing, after one that did: scopes that were sent before are
  /// closed for the tool too.
  static const scope_api& closing_api() noexcept {
    static constexpr scope_api table = [] {
      scope_api quiet = scope_functions<Clock, false>::make_api();
      quiet.end = &end;
      return quiet;
    }();
    return table;
  }
  static constexpr scope_api make_api() noexcept {
    return make_api(std::make_index_sequence<max_fast_words + 1>{});
  }

 private:
  static constexpr std::size_t prefetch_distance = 1024;

  template <std::size_t... Words>
  static constexpr scope_api make_api(std::index_sequence<Words...>) noexcept {
    scope_api table{1, sizeof(scope_api), &end, &begin_any, {}, &capture, &adopt, &release};
    // nvcc loses the dots of an expansion in nested braces
    ((table.begin[Words] = &begin<Words>), ...);
    return table;
  }

  template <std::size_t Words>
  static scope_token begin(site& where, const void* params) noexcept {
    // A reading of clock_gettime takes 20 ns; a copy of known size would save 2 and cost code.
    if constexpr (std::is_same_v<Clock, system_clock>) return begin_any(where, params, 8 * Words);
    return append(where, params, 8 * Words, [&](char* to) { std::memcpy(to, params, 8 * Words); });
  }
  static scope_token begin_any(site& where, const void* bytes, std::uint32_t size) noexcept {
    return append(where, bytes, size, [&](char* to) {
      if (size != 0) std::memcpy(to, bytes, size);  // an empty name may be a null pointer
    });
  }

  template <class Copy>
  [[gnu::always_inline]] static scope_token append(site& where, const void* bytes,
                                                   std::uint32_t size, Copy copy) noexcept {
    log_head* const log = this_log;
    const std::size_t record = record_header + (size + 7U) / 8U * 8U;
    // with what the session keeps of the site
    const std::uint32_t id =
        std::atomic_ref<std::uint32_t>(where.id).load(std::memory_order_acquire);
    const scope_token around = log->scopes.innermost();
    log->scopes.begin_change();
    char* const at = log->next_record();
    if (!has_room(*log, at, around, record) || id == 0) [[unlikely]]
      return begin_prepared(where, bytes, size, around);
    put(at, record_word(record_kind::begin, id, size));
    // A log runs through memory that has left the cache since it was written last: fetched ahead,
    // that costs nothing; left to the processor, 7 ns a scope.
    __builtin_prefetch(at + prefetch_distance, 1);
    __builtin_prefetch(at + prefetch_distance + 64, 1);
    // The time before the parameters: copying them right behind the writes that made them would
    // wait for those.
    put(at + 8, Clock::now());
    copy(at + record_header);
    log->publish(at + record);
    const scope_token token = log->scopes.open(around);
    if constexpr (Emit) push(*log, where, bytes, size);
    return token;
  }
  /// A call of its own, in the last place: what must outlive it would be saved in every scope.
  [[gnu::noinline, gnu::cold]] static scope_token begin_prepared(site& where, const void* bytes,
                                                                 std::uint32_t size,
                                                                 scope_token around) noexcept {
    // In a signal's handler that has interrupted a change of this log.
    if (around == open_scopes::changing && this_log != &empty_log) {
      static_cast<void>(own_recorder->drop_inside());
      return 0;
    }
    this_log->scopes.set_innermost(around);
    return prepare(where, record_header + (size + 7U) / 8U * 8U) ? begin_any(where, bytes, size)
                                                                 : 0;
  }

  static void end(scope_token token) noexcept { close<true>(token, Clock::now()); }
  /// Ends what adopt() began: nothing was sent to a tool then.
  static void release(scope_token token) noexcept { close<false>(token, Clock::now()); }

  /// `Sent`: a tool may have been told of the scope, and not only of scopes inside it.
  template <bool Sent>
  [[gnu::always_inline]] static void close(scope_token token, std::uint64_t now) noexcept {
    log_head* const log = this_log;
    if (log->scopes.innermost() != token) [[unlikely]]
      return close_out_of_order<Sent>(token, now);
    if constexpr (Emit && Sent) pop(*log, depth_of(token));
    log->scopes.begin_change();
    char* const at = log->next_record();
    put(at, now | end_bit);
    log->publish(at + 8);
    log->scopes.close_innermost(token);
  }

  template <bool Sent>
  [[gnu::noinline]] static void close_out_of_order(scope_token token, std::uint64_t now) noexcept {
    if (token == 0) return;  // an adoption that was dropped, and counted then
    if ((token & emitted_token) != 0) return end_through_hub(token);
    if (this_log == &empty_log || !this_log->scopes.is_open(token))
      return own_recorder->count_closed_elsewhere();
    end_from(depth_of(token), Sent ? depth_of(token) : depth_of(token) + 1U, now);
  }
  /// Ends the scope of this depth and all inside it. `sent_from`: the depth from which on scopes
  /// may have been sent to a tool.
  static void end_from(std::uint16_t depth, std::uint32_t sent_from, std::uint64_t now) noexcept {
    log_head* const log = this_log;
    if constexpr (Emit) pop(*log, sent_from);
    const scope_token innermost = log->scopes.innermost();
    log->scopes.begin_change();
    char* at = log->next_record();
    // the innermost, opened before something else was closed out of order
    if (depth == depth_of(innermost)) {
      put(at, now | end_bit);
      at += 8;
      // around others that are still open: they end with it; there is room, since at least two ends
      // were provided for
    } else {
      put(at, record_word(record_kind::end_to, depth, 0));
      put(at + 8, now);
      at += record_header;
    }
    log->publish(at);
    log->scopes.set_innermost(innermost);
    log->scopes.close_from(depth);
  }

  static std::uint32_t capture() noexcept { return own_recorder->capture(); }

  static scope_token adopt(std::uint32_t path) noexcept {
    if (!has_room(*this_log, record_header)) {
      if (inside_kprof) return 0;
      const mark_inside_kprof mark;
      if (!make_room(record_header)) return 0;
    }
    log_head* const log = this_log;
    const scope_token around = log->scopes.innermost();
    log->scopes.begin_change();
    char* const at = log->next_record();
    const bool has_room_yet = has_room(*log, at, around, record_header);
    if (has_room_yet) {
      put(at, record_word(record_kind::adopt, path, 0));
      put(at + 8, Clock::now());
      log->publish(at + record_header);
    }
    log->scopes.set_innermost(around);
    if (has_room_yet) return log->scopes.open();
    // A signal's handler has taken the room.
    static_cast<void>(own_recorder->drop());
    return 0;
  }

  /// Gives the site its number and the log its room; false when the scope cannot be recorded.
  static bool prepare(site& where, std::size_t record) noexcept {
    // a guard in an allocator that kprof itself is calling
    if (inside_kprof) return own_recorder->drop_inside();
    const mark_inside_kprof mark;
    if (!own_recorder->number(where)) return own_recorder->drop();
    return has_room(*this_log, record) || make_room(record);
  }
  /// Where no deeper scope fits, scopes that a longjmp() has left open end first.
  static bool make_room(std::size_t record) noexcept {
    if (const std::uint16_t depth = abandoned_from(record)) end_from(depth, depth, Clock::now());
    return has_room(*this_log, record) || own_recorder->more_room(record, &log_counts::dropped);
  }

  /// The depth from which on scopes have been abandoned by their guards, where no deeper scope
  /// fits; else 0. Looks seldom where there are none.
  [[gnu::noinline]] static std::uint16_t abandoned_from(std::size_t record) noexcept {
    if (this_log == &empty_log) return 0;
    auto& log = *static_cast<thread_log*>(this_log);
    if (log.scopes.is_changing() || !log.fits_no_chunk(record)) return 0;
    if (log.drops_until_search != 0) return --log.drops_until_search, std::uint16_t{0};
    const std::uint16_t depth = tokens_on_stack(log.scopes).first_without();
    if (depth == 0) log.drops_until_search = 4096;
    return depth;
  }

  // A tool keeps one stack a thread and matches no names: what was pushed at a depth is popped when
  // that depth ends, whatever has become of the scopes inside.
  [[gnu::noinline]] static void push(log_head& log, const site& where, const void* bytes,
                                     std::uint32_t size) noexcept {
    const emitter_api* emitter = load(load(this_module.hub)->emitter);
    if (emitter == nullptr) return;
    if (!emitter->push(where, bytes, size)) return;
    const std::uint32_t depth = log.scopes.depth();
    if (depth < 64) log.emitted |= std::uint64_t{1} << depth;
    else ++log.emitted_deeper;
  }
  [[gnu::noinline]] static void pop(log_head& log, std::uint32_t depth) noexcept {
    const std::uint32_t innermost = log.scopes.depth();
    if (depth > innermost) return;
    const emitter_api* emitter = load(load(this_module.hub)->emitter);
    if (emitter == nullptr) return;
    std::uint32_t deeper = innermost < 64 ? 0 : innermost - (depth < 64 ? 64 : depth) + 1;
    if (deeper > log.emitted_deeper) deeper = log.emitted_deeper;
    log.emitted_deeper -= deeper;
    for (; deeper != 0; --deeper) emitter->pop();
    if (depth >= 64) return;
    std::uint64_t inside = log.emitted >> depth << depth;
    log.emitted &= ~inside;
    for (; inside != 0; inside &= inside - 1) emitter->pop();
  }
};

/// The functions for one clock.
struct recorder_tables {
  const scope_api* alone;     // no tool is attached
  const scope_api* emitting;  // scopes are sent to a tool too
  const scope_api* closing;   // nothing is sent any more; scopes that were are still closed
};
template <class Clock>
KPROF_DETAIL_LOCAL recorder_tables tables_of_recorder() noexcept {
  return {&scope_functions<Clock, false>::api(), &scope_functions<Clock, true>::api(),
          &scope_functions<Clock, true>::closing_api()};
}

/// What a scope of 8 words costs this thread and what an empty one shows, in ticks.
struct scope_cost {
  double scope = 0;
  double empty = 0;
};

template <std::size_t N>
double median(std::uint64_t (&values)[N]) noexcept {
  for (std::size_t i = 1; i < N; ++i)
    for (std::size_t j = i; j > 0 && values[j] < values[j - 1]; --j)
      std::swap(values[j], values[j - 1]);
  return static_cast<double>(values[N / 2]);
}

/// Measures a scope, as the medians of a few batches into a log that nobody reads.
template <class Clock>
KPROF_DETAIL_LOCAL scope_cost measure_scope() {
  constexpr std::size_t scopes = 300, batches = 15, bytes = chunk::size;
  static_assert(scopes * (record_header + 8 * 8 + 8) < bytes - 1024);
  const auto memory = std::unique_ptr<char[]>(new (std::nothrow) char[bytes]);
  if (memory == nullptr) return {};
  log_head scratch;
  scratch.limit = memory.get() + bytes;
  site where{1, 0, nullptr, nullptr, nullptr};
  const std::uint64_t params[8] = {};
  const scope_api& functions = scope_functions<Clock, false>::api();
  std::uint64_t cost[batches], empty[batches];
  log_head* const mine = this_log;
  this_log = &scratch;
  for (std::size_t b = 0; b < batches; ++b) {
    scratch.publish(memory.get());
    const std::uint64_t before = Clock::now();
    for (std::size_t i = 0; i < scopes; ++i) functions.end(functions.begin[8](where, params));
    cost[b] = Clock::now() - before;
    const char* middle = memory.get() + scopes / 2 * (record_header + 64 + 8);
    empty[b] = (get(middle + record_header + 64) & ~end_bit) - get(middle + 8);
  }
  this_log = mine;
  return {median(cost) / static_cast<double>(scopes), median(empty)};
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/record/scope_functions.hpp>

// <kprof/session/bootstrap.hpp>
#ifndef KPROF_SESSION_BOOTSTRAP_HPP
#define KPROF_SESSION_BOOTSTRAP_HPP

// The functions that guards call while the session is armed, and the session's lock. Both are code
// of the module that owns the session. Included by session_state.hpp.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Locks the session and marks the thread as inside kprof, so that guards in an allocator do not
/// re-enter.
class KPROF_DETAIL_LOCAL session_lock {
 public:
  explicit session_lock(std::mutex& mutex) : lock_(mutex) {}

 private:
  mark_inside_kprof mark_;
  std::lock_guard<std::mutex> lock_;
};

/// Starts the recording of an armed session; in the binary that owns it.
using start_function = void (*)();
KPROF_DETAIL_LOCAL inline constinit start_function own_start_recording = nullptr;

/// The functions that guards call while the session is armed. The first begin starts the recording
/// and goes on with the functions that record.
class KPROF_DETAIL_LOCAL bootstrap {
  static const scope_api* start() noexcept {
    // The guard is in an allocator that this thread calls while it starts the recording.
    if (inside_kprof) return nullptr;
    own_start_recording();
    const scope_api* listener = load(this_module.api);
    if (listener != &api()) return listener;
    static_cast<void>(own_recorder->drop());  // there is no memory to start with
    return nullptr;
  }
  template <std::size_t Words>
  static scope_token begin(site& where, const void* params) noexcept {
    const scope_api* api = start();
    return api == nullptr ? 0 : api->begin[Words](where, params);
  }
  static scope_token begin_any(site& where, const void* bytes, std::uint32_t size) noexcept {
    const scope_api* api = start();
    return api == nullptr ? 0 : api->begin_any(where, bytes, size);
  }
  template <std::size_t... Words>
  static constexpr scope_api make(std::index_sequence<Words...>) noexcept {
    return {1,
            sizeof(scope_api),
            &end_through_hub,
            &begin_any,
            {&begin<Words>...},
            []() noexcept -> std::uint32_t { return 0; },
            [](std::uint32_t) noexcept -> scope_token { return 0; },
            [](scope_token) noexcept {}};
  }

 public:
  static const scope_api& api() noexcept {
    static constexpr scope_api table = make(std::make_index_sequence<max_fast_words + 1>{});
    return table;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/bootstrap.hpp>

// <kprof/session/device_session.hpp>
#ifndef KPROF_SESSION_DEVICE_SESSION_HPP
#define KPROF_SESSION_DEVICE_SESSION_HPP

// The session's device part: starts and stops a collector, and passes what it tells on to the
// recorder and to attribution. Belongs to the session, which never frees it. The collector is the
// owner's; other modules reach it by its functions.

// <kprof/attribute/transcript.hpp>
#ifndef KPROF_ATTRIBUTE_TRANSCRIPT_HPP
#define KPROF_ATTRIBUTE_TRANSCRIPT_HPP

// Writes everything that a collector tells to a text file, when the environment variable
// KPROF_TRANSCRIPT names one. A machine without a GPU can attribute the run again from that file.
// One line for each:
//
//   path NUMBER PARENT op|region NAME          scopes; 0 is none
//   launch THREAD TIME ID[,ID...] PATH|ignored kernel|transfer|graph
//                                              a call that launched work; TIME in ns as in records
//   node NUMBER PATH SCOPES                    a graph's node; SCOPES as in
//                                              captured_scope::scopes_started_here
//   cloned NUMBER ORIGINAL
//   updated NUMBER ORIGINAL TIME
//   kernel ID START END DEVICE STREAM NODE GRID BLOCK STATIC_SHARED DYNAMIC_SHARED REGISTERS NAME
//   memcpy ID START END DEVICE STREAM NODE BYTES DIRECTION FROM TO
//   memset ID START END DEVICE STREAM NODE BYTES TO
//   sync START END, overhead START END, odd
//   dropped COUNT, cut COUNT, foreign COUNT, ids_lost COUNT    as in loss
//   device ID MAJOR.MINOR MULTIPROCESSORS MEMORY_BYTES MEMORY_BYTES_PER_S CLOCK_HZ NAME

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL device_transcript {
 public:
  /// Where the environment asks for it. Never closed: work may come until the process ends.
  [[gnu::cold]] void open() {
    const std::lock_guard lock(mutex_);
    is_buffered_ = true;
    const char* path = environment_variable("KPROF_TRANSCRIPT");
    if (path == nullptr || *path == '\0' || file_ >= 0) return;
    const quiet_writes quiet;
    const int file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
    if (file < 0) {
      tell({"KPROF_TRANSCRIPT: ", cannot_write(quoted_path(path), errno).message});
      return;
    }
    target_ = target_of(file);
    buffer_ = "kprof transcript 1\n";
    file_ = file;
  }
  bool is_open() const noexcept { return file_ >= 0; }
  void flush() {
    const std::lock_guard lock(mutex_);
    write_buffer();
  }
  /// What comes until open() is called again is not held back: nobody may call flush() after it.
  void write_through() {
    const std::lock_guard lock(mutex_);
    is_buffered_ = false;
    write_buffer();
  }
  /// In the child of a fork, which has its parent's file. Takes no lock: another thread may have
  /// held it.
  void forget() noexcept { file_ = -1; }

  [[gnu::cold]] void launch(recorder& threads, std::uint32_t thread, std::uint64_t when,
                            const std::uint32_t* ids, std::uint32_t count, std::uint32_t path,
                            launch_kind what, bool ignored) {
    const std::lock_guard lock(mutex_);
    if (!attempt([&] { write_path(threads, path); })) return end_with(ENOMEM);
    put("launch %" PRIu32 " %" PRIu64 " ", thread, when);
    for (std::uint32_t i = 0; i < count; ++i) put("%s%" PRIu32, i == 0 ? "" : ",", ids[i]);
    if (ignored) put(" ignored");
    else put(" %" PRIu32, path);
    put(what == launch_kind::kernel     ? " kernel\n"
        : what == launch_kind::transfer ? " transfer\n"
                                        : " graph\n");
  }
  [[gnu::cold]] void node(recorder& threads, std::uint64_t node, captured_scope where) {
    const std::lock_guard lock(mutex_);
    if (where.path == captured_scope::unknown_path) return;
    if (!attempt([&] { write_path(threads, where.path); })) return end_with(ENOMEM);
    put("node %" PRIu64 " %" PRIu32 " %" PRIu32 "\n", node, where.path, where.scopes_started_here);
  }
  [[gnu::cold]] void cloned(std::uint64_t node, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    put("cloned %" PRIu64 " %" PRIu64 "\n", node, original);
  }
  [[gnu::cold]] void updated(std::uint64_t node, std::uint64_t original, std::uint64_t when) {
    const std::lock_guard lock(mutex_);
    put("updated %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", node, original, when);
  }
  [[gnu::cold]] void lost(loss what, std::uint64_t how_many) {
    const std::lock_guard lock(mutex_);
    put("%s %" PRIu64 "\n",
        what == loss::records           ? "dropped"
        : what == loss::cut_buffers     ? "cut"
        : what == loss::foreign_buffers ? "foreign"
                                        : "ids_lost",
        how_many);
  }
  [[gnu::cold]] void describe(const device_description& d) {
    const std::lock_guard lock(mutex_);
    put("device %" PRIu32 " %" PRIu32 ".%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64
        " %s\n",
        d.id, d.compute_major, d.compute_minor, d.multiprocessors, d.memory_bytes,
        d.memory_bytes_per_s, d.clock_hz, d.name == nullptr ? "" : d.name);
  }
  [[gnu::cold]] void read(const activity& a) {
    const std::lock_guard lock(mutex_);
    switch (a.kind) {
      case activity_kind::kernel:
        write_work("kernel", a);
        put(" %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32 ",%" PRIu32 ",%" PRIu32 " %" PRIu32
            " %" PRIu32 " %" PRIu32 " %s\n",
            a.grid[0], a.grid[1], a.grid[2], a.block[0], a.block[1], a.block[2], a.static_shared,
            a.dynamic_shared, a.registers, a.name == nullptr ? "" : a.name);
        break;
      case activity_kind::copy:
        write_work("memcpy", a);
        put(" %" PRIu64 " %d %d %d\n", a.bytes, a.direction, a.from, a.to);
        break;
      case activity_kind::set:
        write_work("memset", a);
        put(" %" PRIu64 " %d\n", a.bytes, a.to);
        break;
      case activity_kind::synchronization:
        put("sync %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::overhead:
        put("overhead %" PRIu64 " %" PRIu64 "\n", a.start, a.end);
        break;
      case activity_kind::odd: put("odd\n"); break;
    }
  }

 private:
  [[gnu::cold, gnu::format(printf, 2, 3)]] void put(const char* format, ...) {
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    char text[512];
    const int size = std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    const bool had_memory = attempt([&] {
      const std::size_t before = buffer_.size(), added = static_cast<std::size_t>(size);
      if (added < sizeof text) {
        buffer_.append(text, added);
      } else {  // a kernel's long name
        buffer_.resize(before + added + 1);
        std::vsnprintf(buffer_.data() + before, added + 1, format, again);
        buffer_.pop_back();
      }
    });
    va_end(again);
    if (!had_memory) end_with(ENOMEM);
    const bool ends_line = !buffer_.empty() && buffer_.back() == '\n';
    if (buffer_.size() > std::size_t{64} * 1024 || (!is_buffered_ && ends_line)) write_buffer();
  }
  /// Nothing is written where the program has closed the file, whose number may be another file's
  /// since.
  [[gnu::cold]] void write_buffer() {
    const int file = file_;
    if (file >= 0 && !buffer_.empty()) {
      const quiet_writes quiet;
      const int error = target_of(file) == target_ ? write_all(file, buffer_) : EBADF;
      if (error != 0) end_with(error);
    }
    buffer_.clear();
  }
  /// After a failure there is no transcript any more.
  [[gnu::cold]] void end_with(int error) {
    const int file = file_.exchange(-1);
    if (file < 0) return;
    if (error != EBADF) close_file(file);
    const char* const remedy = remedy_for(error);
    tell(
        {"the transcript is not complete, the file that KPROF_TRANSCRIPT names cannot be written: ",
         remedy != nullptr ? remedy : std::strerror(error)});
  }

  [[gnu::cold]] void write_work(const char* what, const activity& a) {
    put("%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu32 " %" PRIu64, what,
        a.correlation, a.start, a.end, a.device, a.stream, a.graph_node);
  }

  /// Each path once, what is around it before it.
  [[gnu::cold]] void write_path(recorder& threads, std::uint32_t path) {
    if (path == 0 || (path < written_.size() && written_[path])) return;
    const path_table::step s = threads.paths()[path];
    write_path(threads, s.parent);
    if (path >= written_.size()) written_.resize(path + 1);
    written_[path] = true;
    const site_info& where = threads.sites()[s.site];
    std::string name = s.bytes;
    if (where.op != nullptr) {
      const std::string parameters =
          s.merged
              ? "(not kept)"
              : parameter_text(to_operator(*where.op), pack_parameters(*where.op, s.bytes.data()));
      name = where.op->name + (parameters.empty() ? "" : " " + parameters);
    }
    for (char& c : name)
      if (c == '\n' || c == '\r') c = ' ';
    put("path %" PRIu32 " %" PRIu32 " %s %s\n", path, s.parent,
        where.op != nullptr ? "op" : "region", name.c_str());
  }

  std::mutex mutex_;  // guards what is below
  std::atomic<int> file_{-1};
  descriptor_target target_;  // of file_
  std::string buffer_;        // what has not been written
  bool is_buffered_ = true;
  std::vector<bool> written_;  // paths
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/attribute/transcript.hpp>

// <kprof/session/session_clock.hpp>
#ifndef KPROF_SESSION_SESSION_CLOCK_HPP
#define KPROF_SESSION_SESSION_CLOCK_HPP

// The clock that scopes and launches are timed with: the CPU's counter or clock_gettime, and the
// line that turns its ticks into nanoseconds. Its owner's lock guards it, but for now().

// <kprof/session/notes.hpp>
#ifndef KPROF_SESSION_NOTES_HPP
#define KPROF_SESSION_NOTES_HPP

// What the session tells in every report besides its state. Guarded by the session's lock.

#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class session_notes {
 public:
  /// Adds a note, unless it is there.
  void add(std::string note) {
    for (const std::string& n : all_)
      if (n == note) return;
    all_.push_back(std::move(note));
  }
  const std::vector<std::string>& all() const noexcept { return all_; }

 private:
  std::vector<std::string> all_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/notes.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class session_clock {
 public:
  void use_counter(bool on) noexcept { uses_counter_.store(on, std::memory_order_relaxed); }
  /// What a recording is timed with. All recordings of a process have the same: what one thread has
  /// written may be read with another's.
  void choose(clock_choice wanted, bool has_recorded, session_notes& notes) {
    const bool counter = wanted == clock_choice::automatic && counter_clock::usable();
    if (!has_recorded) use_counter(counter);
    else if (counter != uses_counter())
      notes.add("the clock cannot change between recordings of a process; it stays " +
                std::string(name()));
  }
  bool uses_counter() const noexcept { return uses_counter_.load(std::memory_order_relaxed); }

  /// Ticks. Any thread, without a lock.
  std::uint64_t now() const noexcept {
    return uses_counter() ? counter_clock::now() : system_clock::now();
  }
  const char* name() const noexcept {
    return uses_counter() ? counter_clock::name : system_clock::name;
  }

  calibration_point read() const noexcept {
    return uses_counter() ? calibrate<counter_clock>() : calibrate<system_clock>();
  }
  void restart(calibration_point first) noexcept {
    if (!time_.knows_slope()) learn_slope(first);
    time_.reset(first);
  }
  /// Adds a calibration point that is read now.
  void calibrate_again() { time_.add(read()); }

  const timebase& time() const noexcept { return time_; }
  /// CLOCK_REALTIME ns, by its latest reading, since it may have been set meanwhile.
  /// `ns_per_tick`: time().ns_per_tick(), which callers with many ticks ask for once.
  std::uint64_t realtime_of(std::uint64_t ticks, double ns_per_tick) const noexcept {
    const auto ago = static_cast<std::int64_t>(time_.last().ticks - ticks);
    const auto ago_ns = static_cast<std::int64_t>(static_cast<double>(ago) * ns_per_tick);
    return time_.last().realtime_ns - static_cast<std::uint64_t>(ago_ns);
  }

  /// Since the recording began, by the counter.
  std::uint64_t elapsed_ns() const noexcept {
    const double ns = time_.since_start_ns(now());
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }
  /// Where the counter and CLOCK_MONOTONIC went apart, a line that says so.
  void describe_disagreement(std::vector<std::string>& notes) const {
    if (time_.times_apart() == 0) return;
    notes.push_back("CLOCK_MONOTONIC and the counter went apart " +
                    std::to_string(time_.times_apart()) + " times, by " +
                    std::to_string(static_cast<std::uint64_t>(time_.apart_ns() / 1e6)) +
                    " ms in all: the machine was suspended, or the process or its virtual machine "
                    "moved. Times are by the counter, " +
                    name());
  }

  void describe(clock_info& out) const {
    out = {name(), time_.ns_per_tick(), time_.residual_ns(), time_.first().realtime_ns};
  }
  /// What one scope costs, in ns.
  void describe_cost(own_cost& out) const {
    const scope_cost cost =
        uses_counter() ? measure_scope<counter_clock>() : measure_scope<system_clock>();
    out.scope_ns = cost.scope * time_.ns_per_tick();
    out.empty_scope_ns = cost.empty * time_.ns_per_tick();
  }

 private:
  /// Once a process, for 50 microseconds: so that a clock that jumps in the first recording is not
  /// taken for a slow counter.
  void learn_slope(const calibration_point& from) noexcept {
    calibration_point to = from;
    // a clock that stands still ends it too
    for (int i = 0; i < 2000 && to.monotonic_ns - from.monotonic_ns < 50'000; ++i) to = read();
    if (to.monotonic_ns - from.monotonic_ns >= 50'000) time_.learn(from, to);
  }

  std::atomic<bool> uses_counter_{false};
  timebase time_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/session_clock.hpp>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it is held, no activity is attributed.
using attribution_lock = std::unique_lock<std::mutex>;

class KPROF_DETAIL_LOCAL device_session {
 public:
  /// Addresses of the owner's code.
  struct owner_functions {
    const collector_api* collector;
    device_listener listener;
    void (*at_exit)();
  };

  explicit device_session(recorder& threads) : attribution_(threads, threads.budget()) {}

  /// Makes this module the owner of `session`; nullptr: of none.
  static void own(device_session* session) noexcept { own_device = session; }
  static owner_functions functions_of_this_module(const collector_api& collector) noexcept {
    return {&collector,
            {&now, &launched, &graph_node_made, &graph_node_copied, &graph_node_updated,
             &graph_node_destroyed, &context_made, &begin_reading, &read, &describe_device,
             &count_loss, &end_reading},
            [] { static_cast<void>(attempt([] { own_device->end(); })); }};
  }
  void set_owner(const owner_functions& owner) noexcept { owner_ = owner; }

  /// Bytes of a session's `memory` that buffers and tables take; the rest is for logs and totals.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return buffers_share(memory) + attribution::share(memory);
  }

  // Collectors open libraries and call drivers, and a thread that is opening a library may be
  // waiting for the session: the session calls these without its lock.

  /// Begins to collect, or goes on. A failure is part of describe().
  void collect(std::size_t memory, bool uses_counter) {
    // Launches made before another thread has started the collector would not be seen.
    const auto lock = lock_control();
    if (!lock || abandoned_ || collecting_) return;
    clock_.use_counter(uses_counter);
    {
      const attribution_lock own(attribution_.mutex());
      const calibration_point at = clock_.read();
      clock_.restart(at);
      // launches may come before the recording begins
      if (!has_collected_) attribution_.restart(at.realtime_ns, memory);
    }
    transcript_.open();
    opening_ = true;
    status s{out_of_memory};
    static_cast<void>(
        attempt([&] { s = owner_.collector->start(owner_.listener, buffers_share(memory)); }));
    opening_ = false;
    collecting_ = s.ok();
    if (s) has_collected_ = true, register_exit();
    set_state(s ? owner_.collector->version() : s.message);
  }
  /// Ends collecting, if it is on. `reason`: what describe() says from now on.
  void collect_nothing(const char* reason) {
    const auto lock = lock_control();
    if (!lock || abandoned_) return;
    if (collecting_) finish(owner_.collector->stop);
    set_state(reason);
  }
  /// Has the records of all work launched so far read. Waits for the devices.
  void flush() {
    if (const auto lock = lock_control(); lock && collecting_) fetch_all(owner_.collector->flush);
  }
  void stop() {
    if (const auto lock = lock_control(); lock && collecting_) finish(owner_.collector->stop);
  }
  /// CUDA is about to shut down: reads what is left, after which no call is made any more. Gives up
  /// after 5 s if another thread is waiting for a device that never finishes.
  void end() {
    if (abandoned_) return;
    if (const auto lock = lock_within(5000, control_); lock && collecting_)
      finish(owner_.collector->end);
  }

  /// The recording began when the program did not use CUDA, and now it does.
  void note_cuda_came_late() {
    const std::lock_guard lock(state_mutex_);
    if (state_.empty())
      state_ =
          "not collected: the program loaded CUDA after the recording had begun; KPROF=cupti=on, "
          "or kprof::start() once it is loaded";
  }

  // The session calls these with its lock.

  /// Takes all launches noted so far, and holds attribution still.
  attribution_lock lock_attribution() {
    attribution_lock lock(attribution_.mutex());
    if (has_collected_) take_launches();
    return lock;
  }
  /// What is attributed in this recording; nullptr where nothing is collected.
  attribution* attributed(const attribution_lock&) {
    if (has_collected_) attribution_.retry_pending();
    return in_recording_ ? &attribution_ : nullptr;
  }
  /// A recording begins at `realtime_ns`. The threads' logs have begun anew under the same lock.
  void restart(const attribution_lock&, std::uint64_t realtime_ns, std::size_t memory) {
    if (has_collected_) attribution_.restart(realtime_ns, memory);
    in_recording_ = collecting_.load();
  }
  /// Launches made while this is false are ignored.
  void set_recording(bool on) noexcept { recording_ = on; }
  /// Whether anything was ever collected in this process.
  bool has_collected() const noexcept { return has_collected_; }

  /// Writes whether the recording has device activity, and why not; and what there is to note.
  void describe(device_profile& out, std::vector<std::string>& notes) {
    if (has_collected_)
      for (std::string& note : owner_.collector->notes()) notes.push_back(std::move(note));
    out.collecting = in_recording_;
    const std::lock_guard lock(state_mutex_);
    out.state = in_recording_ ? owner_.collector->version() : state_;
  }
  std::size_t memory_held() {
    if (!has_collected_) return 0;
    const attribution_lock own(attribution_.mutex());
    return attribution_.bytes() + owner_.collector->memory();
  }

  void before_fork() {
    attribution_.mutex().lock();
    attribution_.graphs().mutex().lock();
    state_mutex_.lock();
  }
  void after_fork() {
    state_mutex_.unlock();
    attribution_.graphs().mutex().unlock();
    attribution_.mutex().unlock();
  }
  /// Neither CUDA nor its tools work in the child of a fork.
  void in_child(std::uint64_t realtime_ns) {
    after_fork();
    const bool in_use = !control_.try_lock();  // by another thread, which is not in the child
    if (!in_use) control_.unlock();
    if (owner_.collector == nullptr || (!has_collected_ && !in_use)) return;
    abandoned_ = true;
    transcript_.forget();
    collecting_ = false;
    owner_.collector->abandon();
    attribution_.restart(realtime_ns, 0);
    has_collected_ = false;
    in_recording_ = false;
    set_state("not collected in the child of a fork, where CUDA cannot be used");
  }

 private:
  static constexpr std::size_t buffers_share(std::size_t memory) noexcept { return memory / 8; }

  void set_state(std::string state) {
    const std::lock_guard lock(state_mutex_);
    state_ = std::move(state);
  }

  /// Waits as long as another thread starts, flushes or stops the collector, which may be as long
  /// as the devices work. But a thread that is opening CUPTI may be waiting for a library that this
  /// thread is loading: then returns without the lock after 2 s. In the child of a fork too.
  std::unique_lock<std::mutex> lock_control() {
    std::unique_lock lock(control_, std::defer_lock);
    std::uint64_t opening_since = nanoseconds_of(CLOCK_MONOTONIC);
    while (!abandoned_ && !lock.try_lock()) {
      static_cast<void>(usleep(100));
      const std::uint64_t now = nanoseconds_of(CLOCK_MONOTONIC);
      if (!opening_) opening_since = now;
      else if (now - opening_since > 2'000'000'000) break;
    }
    return lock;
  }

  /// Fetches the records of all launches so far by a function of the collector, which says whether
  /// all have come. The caller holds control_.
  void fetch_all(bool (*by)()) {
    {
      const attribution_lock own = lock_attribution();
      attribution_.begin_flush(clock_.realtime_of(clock_.now(), clock_.time().ns_per_tick()));
    }
    if (!by()) return;
    const attribution_lock own = lock_attribution();
    attribution_.retry_pending();
    attribution_.end_flush();
  }
  /// Ends collecting by a function of the collector. The caller holds control_.
  void finish(bool (*end_collecting)()) {
    fetch_all(end_collecting);
    collecting_ = false;
    transcript_.write_through();
    const attribution_lock own = lock_attribution();
    attribution_.retry_pending();
    attribution_.count_pending_as_unknown();
  }

  // Handlers run in the opposite order of their registration. CUDA registers its own when it makes
  // a context, so that one registered after that runs before CUDA's.
  void register_exit() noexcept {
    if (exit_handlers_++ < 4) std::atexit(owner_.at_exit);
  }

  /// The caller holds attribution's lock.
  void take_launches() {
    clock_.calibrate_again();
    const double rate = clock_.time().ns_per_tick();
    attribution_.take_launches([&](std::uint64_t t) { return clock_.realtime_of(t, rate); });
  }

  /// Without memory they stay in the threads' logs.
  void take_launches_if_possible() noexcept {
    const mark_inside_kprof mark;  // a launching thread may read, whose allocator may have guards
    static_cast<void>(attempt([this] { static_cast<void>(lock_attribution()); }));
  }

  void write_launch(const std::uint32_t* ids, std::uint32_t count, std::uint64_t when,
                    launch_kind what, bool ignored) {
    std::uint64_t realtime = 0;
    {
      const attribution_lock own(attribution_.mutex());
      clock_.calibrate_again();
      realtime = clock_.realtime_of(when, clock_.time().ns_per_tick());
    }
    transcript_.launch(*own_recorder, own_recorder->this_thread(), realtime, ids, count,
                       own_recorder->capture_for_graph(0, false).path, what, ignored);
  }

  // ---- what the collector calls, in the owner

  static std::uint64_t now() noexcept { return own_device->clock_.now(); }
  static void launched(const std::uint32_t* ids, std::uint32_t count, std::uint64_t when,
                       launch_kind what) noexcept {
    device_session& own = *own_device;
    const bool ignored = !own.recording_.load(std::memory_order_relaxed);
    own_recorder->note_launch(ids, count, when,
                              ignored                         ? record_kind::ignored_launch
                              : what == launch_kind::kernel   ? record_kind::kernel_launch
                              : what == launch_kind::transfer ? record_kind::transfer_launch
                                                              : record_kind::graph_launch);
    // Launches without records, such as of empty copies, would never make kprof take launches.
    if ((++launches_noted & 0xFFFU) == 0) own.take_launches_if_possible();
    if (own.transcript_.is_open()) own.write_launch(ids, count, when, what, ignored);
  }
  static void graph_node_made(std::uint64_t node, bool does_work) noexcept {
    const captured_scope where = own_recorder->capture_for_graph(node >> 32U, does_work);
    if (own_device->transcript_.is_open()) own_device->transcript_.node(*own_recorder, node, where);
    static_cast<void>(attempt([&] { own_device->attribution_.graphs().made(node, where); }));
  }
  static void graph_node_copied(std::uint64_t node, std::uint64_t original) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.cloned(node, original);
    static_cast<void>(attempt([&] { own_device->attribution_.graphs().copied(node, original); }));
  }
  static void graph_node_updated(std::uint64_t node, std::uint64_t original) noexcept {
    const std::uint64_t when = nanoseconds_of(CLOCK_REALTIME);
    if (own_device->transcript_.is_open()) own_device->transcript_.updated(node, original, when);
    static_cast<void>(
        attempt([&] { own_device->attribution_.graphs().updated(node, original, when); }));
  }
  static void graph_node_destroyed(std::uint64_t node) noexcept {
    static_cast<void>(attempt([&] { own_device->attribution_.graphs().destroyed(node); }));
  }
  static void context_made() noexcept { own_device->register_exit(); }
  static void begin_reading() noexcept {
    own_device->reading_since_ = nanoseconds_of(CLOCK_MONOTONIC);
    own_device->take_launches_if_possible();
  }
  static void read(const activity* some, std::size_t count) noexcept {
    device_session& own = *own_device;
    if (own.transcript_.is_open())
      for (std::size_t i = 0; i < count; ++i) own.transcript_.read(some[i]);
    const mark_inside_kprof mark;
    const attribution_lock lock(own.attribution_.mutex());
    own.attribution_.take(some, count);
  }
  static void describe_device(const device_description& d) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.describe(d);
    const attribution_lock lock(own_device->attribution_.mutex());
    static_cast<void>(attempt([&] { own_device->attribution_.describe(d); }));
  }
  static void count_loss(loss what, std::uint64_t how_many) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.lost(what, how_many);
    const attribution_lock lock(own_device->attribution_.mutex());
    own_device->attribution_.count_loss(what, how_many);
  }
  static void end_reading() noexcept {
    device_session& own = *own_device;
    const mark_inside_kprof mark;
    const attribution_lock lock(own.attribution_.mutex());
    static_cast<void>(attempt([&] { own.attribution_.retry_pending_if_due(); }));
    own.attribution_.count_reading(nanoseconds_of(CLOCK_MONOTONIC) - own.reading_since_);
  }

  static thread_local constinit std::uint32_t launches_noted;  // by this thread
  static device_session* own_device;                           // in the owner

  owner_functions owner_{};  // written before another module finds the session
  attribution attribution_;
  session_clock clock_;  // guarded by attribution_'s lock
  std::mutex control_;   // held to start, flush or stop the collector
  std::atomic<bool> collecting_{false};
  std::atomic<bool> abandoned_{false};  // in the child of a fork
  std::atomic<bool> opening_{false};    // the thread with control_ may be opening a library
  std::atomic<bool> has_collected_{false};
  std::atomic<bool> in_recording_{false};  // collecting_ when the recording began
  std::atomic<bool> recording_{false};
  std::atomic<int> exit_handlers_{0};
  std::uint64_t reading_since_ = 0;  // only one thread at a time reads
  device_transcript transcript_;
  std::mutex state_mutex_;  // guards state_
  std::string state_;       // why nothing is collected, or the collector's version
};
KPROF_DETAIL_LOCAL inline thread_local constinit std::uint32_t device_session::launches_noted = 0;
KPROF_DETAIL_LOCAL inline constinit device_session* device_session::own_device = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/device_session.hpp>

// <kprof/session/emitting.hpp>
#ifndef KPROF_SESSION_EMITTING_HPP
#define KPROF_SESSION_EMITTING_HPP

// Which functions guards call: those that only record, or those that send scopes to an NVTX tool
// too. Guarded by the session's lock.

KPROF_DETAIL_BEGIN
namespace detail {

/// Has guards call these functions; nullptr: none.
KPROF_DETAIL_LOCAL inline void listen_by(const scope_api* api) noexcept {
  hub_record& hub = the_hub();
  store(hub.recorder, api);
  publish(hub);
}

/// The tool that is attached, or nullptr; then no library of a tool is looked for again.
KPROF_DETAIL_LOCAL inline const emitter_api* attach_nvtx_or_disarm() noexcept {
  const emitter_api* tool = attach_nvtx();
  if (tool == nullptr) disarm_nvtx();
  return tool;
}

/// Whether the recording sends scopes.
class session_emitting {
 public:
  /// A recording begins. `wanted`: scopes are sent if there is a tool.
  void restart(bool wanted) noexcept {
    const emitter_api* emitter = wanted ? attach_nvtx_or_disarm() : nullptr;
    if (!wanted) disarm_nvtx();
    if (emitter != nullptr) store(the_hub().emitter, emitter);
    has_emitted_ = has_emitted_ || emits_;
    emits_ = emitter != nullptr;
  }
  const scope_api* functions(const recorder_tables& tables) const noexcept {
    if (emits_) return tables.emitting;
    return has_emitted_ ? tables.closing : tables.alone;
  }

 private:
  bool emits_ = false;  // a tool is attached
  // The last recording or one before it sent scopes, which may still be open.
  bool has_emitted_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/emitting.hpp>

// <kprof/session/end_watch.hpp>
#ifndef KPROF_SESSION_END_WATCH_HPP
#define KPROF_SESSION_END_WATCH_HPP

// Has the outputs written when the program ends without exit(): by SIGINT, SIGTERM or SIGHUP, or by
// std::terminate(). A signal handler may interrupt any function, malloc and a guard among them, so
// it only wakes a thread of kprof's own and returns. The program runs on while that thread writes;
// then the thread restores the signal's default action and sends the signal again, which ends the
// process with the status that it would have had.

// <kprof/session/ending_signals.hpp>
#ifndef KPROF_SESSION_ENDING_SIGNALS_HPP
#define KPROF_SESSION_ENDING_SIGNALS_HPP

// The signals by which users, terminals and batch systems end a program. Any thread, and signal
// handlers.

#include <signal.h>

#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct ending_signal {
  int number;
  const char* name;
};
inline constexpr ending_signal ending_signals[] = {
    {SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
inline constexpr std::size_t ending_signal_count = sizeof ending_signals / sizeof ending_signals[0];

/// The signal's place in the table; ending_signal_count where it is none of them.
inline std::size_t place_of_ending_signal(int number) noexcept {
  std::size_t at = 0;
  while (at < ending_signal_count && ending_signals[at].number != number) ++at;
  return at;
}

/// Whether the signal ends the program because nothing handles or ignores it.
inline bool is_default_action(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

/// Says in the report which of the signals ended the program.
inline void note_ending_signal(std::vector<std::string>& notes, int number) {
  const std::size_t at = place_of_ending_signal(number);
  if (at == ending_signal_count) return;
  notes.push_back(std::string("ended by ") + ending_signals[at].name +
                  "; the program ran on while this was written");
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/ending_signals.hpp>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>

KPROF_DETAIL_BEGIN
namespace detail {

/// What end_watch's thread is woken for. Written by the one that sets is_asked, read by the thread.
struct end_request {
  std::atomic<bool> is_asked{false};
  int signal = 0;            // by which the process ends; 0: by none
  bool caller_ends = false;  // the caller waits for the outputs and ends the process itself
};
/// Whose a signal is. The first two last as long as end_watch::take() does.
enum class signal_owner : int { not_known, not_known_and_it_came, kprof, program };

/// In the owner of the session. Started once a process; a forked child has no such thread, and a
/// signal ends it as if kprof were not there.
class KPROF_DETAIL_LOCAL end_watch {
 public:
  /// Writes the outputs, unless another thread has. `signal`: what ends the program; then calls
  /// end(signal). 0 and nullptr where it is no signal.
  using writer = void (*)(int signal, void (*end)(int signal) noexcept);

  /// Begins to watch. A signal that the program handles or ignores stays the program's. False where
  /// the system gives no thread; then nothing is watched. Not for two threads at once.
  static bool start(writer write) noexcept {
    if (process != 0) return true;
    write_outputs = write;
    if (sem_init(&wake, 0, 0) != 0 || sem_init(&written, 0, 0) != 0 ||
        !start_own_thread(&run, nullptr))
      return false;
    process = getpid();
    for (std::size_t i = 0; i < ending_signal_count; ++i) take(i);
    previous_terminate = std::set_terminate(&on_terminate);
    return true;
  }

  /// In a forked child, which has no such thread.
  static void in_child() noexcept {
    if (process != 0) process = -1;
  }

  /// Whether the signal is an ending signal and the program has left its action as it is, or put it
  /// back.
  static bool has_default_action(int signal) noexcept {
    struct sigaction current {};
    return place_of_ending_signal(signal) != ending_signal_count &&
           sigaction(signal, nullptr, &current) == 0 && is_default_action(current);
  }

  /// Has the outputs written, and waits for that; for a process that ends now, or is about to send
  /// itself `signal`. Returns at once in a forked child, inside kprof, which kprof's own threads
  /// always are, and where nothing is watched.
  static void write_now(int signal = 0) noexcept {
    if (!is_watching() || inside_kprof) return;
    const hold_cancellation hold;
    static_cast<void>(ask(signal, true));  // else another thread has asked
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += longest_seconds;
    while (sem_timedwait(&written, &until) != 0 && errno == EINTR) {}
  }

 private:
  /// How long writing may take: a device or a pipe may never answer.
  static constexpr int longest_seconds = 30;

  static bool is_watching() noexcept { return process == getpid(); }

  /// Wakes the thread. False where it has been woken already. May be called in a signal handler.
  static bool ask(int signal, bool caller_ends) noexcept {
    if (asked.is_asked.exchange(true)) return false;
    asked.signal = signal;
    asked.caller_ends = caller_ends;
    sem_post(&wake);
    return true;
  }

  /// Takes the signal, unless the program handles or ignores it: then its action is put back. To
  /// look first would lose an action that another thread sets between looking and taking. A signal
  /// that comes meanwhile is sent again when its owner is known.
  static void take(std::size_t at) noexcept {
    const int signal = ending_signals[at].number;
    struct sigaction ours {};
    ours.sa_handler = &on_signal;
    ours.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    struct sigaction before {};
    if (sigaction(signal, &ours, &before) != 0) return;
    const bool is_ours = is_default_action(before);
    if (!is_ours) put_back(signal, before);
    const signal_owner was =
        owners[at].exchange(is_ours ? signal_owner::kprof : signal_owner::program);
    if (was == signal_owner::not_known_and_it_came) send_again(signal);
  }

  static void put_back(int signal, const struct sigaction& before) noexcept {
    struct sigaction replaced {};
    sigaction(signal, &before, &replaced);
    // Another thread of the program has set its own meanwhile.
    if (replaced.sa_handler != &on_signal) sigaction(signal, &replaced, nullptr);
  }

  static void on_signal(int signal) noexcept {
    const int error = errno;
    const std::size_t at = place_of_ending_signal(signal);
    signal_owner known = signal_owner::not_known;
    if (!owners[at].compare_exchange_strong(known, signal_owner::not_known_and_it_came)) {
      if (known == signal_owner::program) send_again(signal);
      // A second signal ends the program at once: its sender does not want to wait.
      if (known == signal_owner::kprof && !(is_watching() && ask(signal, false))) end_by(signal);
    }
    errno = error;
  }

  [[noreturn]] static void on_terminate() noexcept {
    write_now();
    if (previous_terminate != nullptr) previous_terminate();
    std::abort();
  }

  /// Does what the signal does to a program that has not asked otherwise. May be called in a signal
  /// handler. Returns where the system spares the process, as it does the first one of a container.
  static void end_by(int signal) noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    send_again(signal);
  }
  /// By the system call: libkprof.so has a kill() of its own.
  static void send_again(int signal) noexcept { syscall(SYS_kill, getpid(), signal); }

  static void* run(void*) noexcept {
    pthread_setname_np(pthread_self(), "kprof");
    const mark_inside_kprof mark;
    for (;;) {
      while (sem_wait(&wake) != 0) {}
      const int signal = asked.signal;
      const bool caller_ends = asked.caller_ends;
      if (!caller_ends) limit_time(signal);
      write_outputs(signal, caller_ends ? nullptr : &end_by);
      asked.is_asked = false;
      if (caller_ends) sem_post(&written);
    }
  }

  /// Sends the signal once more when time is up; the second one ends the program. By the system
  /// call: the C library's own function is in a library of its own in older ones.
  static void limit_time(int signal) noexcept {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal;
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return;
    itimerspec limit{};
    limit.it_value.tv_sec = longest_seconds;
    syscall(SYS_timer_settime, timer, 0, &limit, nullptr);
  }

  static inline constinit std::atomic<pid_t> process{0};  // that is watched
  static inline constinit end_request asked{};
  static inline constinit std::atomic<signal_owner> owners[ending_signal_count]{};
  static inline sem_t wake{};
  static inline sem_t written{};
  static inline writer write_outputs = nullptr;
  static inline std::terminate_handler previous_terminate = nullptr;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/end_watch.hpp>

// <kprof/session/environment.hpp>
#ifndef KPROF_SESSION_ENVIRONMENT_HPP
#define KPROF_SESSION_ENVIRONMENT_HPP

// The settings in the environment variable KPROF, read once a process. Guarded by the session's
// lock.

// <kprof/session/preloaded.hpp>
#ifndef KPROF_SESSION_PRELOADED_HPP
#define KPROF_SESSION_PRELOADED_HPP

// A session that was preloaded (libkprof.so) comes into every process that the program starts:
// shells, compilers, whatever their output is used for. Where no guard ran, it prints no report.

// <kprof/session/exit_report.hpp>
#ifndef KPROF_SESSION_EXIT_REPORT_HPP
#define KPROF_SESSION_EXIT_REPORT_HPP

// The report that the settings ask for at the end of the program. It is left out when the program
// has just printed the same one itself.

#include <cstdlib>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether no scope has begun or ended between the two.
inline bool same_scopes(const completeness& a, const completeness& b) noexcept {
  return a.recorded == b.recorded && a.open == b.open && a.dropped == b.dropped &&
         a.dropped_inside == b.dropped_inside && a.closed_by_parent == b.closed_by_parent &&
         a.closed_elsewhere == b.closed_elsewhere && a.never_closed == b.never_closed;
}

/// Guarded by the session's lock.
class exit_report {
 public:
  /// Has `handler` run at exit() and quick_exit(), which is the owner's code. Only the first call
  /// counts.
  void request(void (*handler)()) {
    if (requested_) return;
    requested_ = true;
    std::atexit(handler);
    std::at_quick_exit(handler);
  }
  /// Forgets what the program has printed: another recording begins.
  void restart() noexcept { program_has_reported_ = false; }
  /// The program has printed a report of these scopes. `as_at_exit`: as the one at exit would be.
  void note_reported(const completeness& scopes, bool as_at_exit) {
    program_has_reported_ = as_at_exit;
    reported_ = scopes;
  }
  /// Whether the program has not printed these scopes yet.
  bool is_due(const completeness& scopes) const noexcept {
    return !program_has_reported_ || !same_scopes(scopes, reported_);
  }

 private:
  bool requested_ = false;
  bool program_has_reported_ = false;
  completeness reported_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/exit_report.hpp>

#include <unistd.h>

#include <atomic>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Set by libkprof.so while it is loaded.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> session_is_preloaded{false};

/// The variable by which `kprof run` names the process that becomes the program.
inline constexpr const char* program_variable = "KPROF_RUN_PROCESS";

/// Whether this process is the program that `kprof run` started.
inline bool is_program_of_kprof_run() {
  const char* program = environment_variable(program_variable);
  return program != nullptr && std::to_string(getpid()) == program;
}

/// Whether a module with guards has left the process, as all do before the report at exit.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> guards_have_left{false};

/// Whether another module of the process has or had guards.
KPROF_DETAIL_LOCAL inline bool others_have_guards() noexcept {
  bool found = guards_have_left;
  for_each_module([&found](const module_record& m) { found = found || &m != &this_module; });
  return found;
}

/// Whether the report at exit is left out because nothing ran under a preloaded session. In the
/// program that `kprof run` started, a line on standard error says so.
KPROF_DETAIL_LOCAL [[gnu::cold]] inline bool has_nothing_to_report(const profile& run) {
  if (!session_is_preloaded || !same_scopes(run.complete, {}) || !run.device.work.empty())
    return false;
  if (!is_program_of_kprof_run()) return true;
  tell({"no report: ",
        others_have_guards()
            ? "the program has guards, but none of them ran"
            : "no module of the program has guards; include <kprof/guard.hpp> and guard a scope "
              "with KPROF_OP or KPROF_REGION"});
  return true;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/preloaded.hpp>

#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class environment_settings {
 public:
  /// Reads KPROF at the first call. Mistakes go to `notes`, which all reports show, and to standard
  /// error: at once, but where the session was preloaded into a process that the program started,
  /// which may have no guards, only when its first scope begins.
  [[gnu::cold]] const settings& read(session_notes& notes) {
    if (read_) return value_;
    read_ = true;
    if (environment_is_foreign()) notes.add(foreign_environment);
    const char* const text = environment_variable("KPROF");
    if (text == nullptr) return value_;
    parsed_settings parsed = settings::parse(text);
    value_ = parsed.value;
    for (const std::string& e : parsed.errors) {
      notes.add("KPROF: " + e);
      mistakes_.push_back(e);
    }
    if (!session_is_preloaded || is_program_of_kprof_run()) tell_mistakes();
    return value_;
  }
  /// Tells the mistakes that have not been told.
  [[gnu::cold]] void tell_mistakes() {
    for (const std::string& e : mistakes_) tell({"KPROF: ", e});
    mistakes_.clear();
  }
  /// The process is the child of a fork: the paths that it knows are its parent's.
  void in_child() noexcept { has_parents_paths_ = true; }
  /// Gives the child paths of its own, here and in `others`, the settings that hold. Not done by
  /// in_child(), where the program's allocator need not work.
  void leave_parents_paths(settings& others) noexcept {
    if (!std::exchange(has_parents_paths_, false)) return;
    keep_apart_from_parent(value_);
    keep_apart_from_parent(others);
  }
  /// What read() has read.
  const settings& value() const noexcept { return value_; }

 private:
  static constexpr const char* foreign_environment =
      "the process has rights that its caller lacks (set-user-ID, set-group-ID or file "
      "capabilities): environment variables are ignored, no NVTX tool is attached, and device "
      "activity is collected only where the program sets settings::cupti to on";

  settings value_;
  std::vector<std::string> mistakes_;
  bool read_ = false;
  bool has_parents_paths_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/environment.hpp>

// <kprof/session/exit_writing.hpp>
#ifndef KPROF_SESSION_EXIT_WRITING_HPP
#define KPROF_SESSION_EXIT_WRITING_HPP

// The outputs at the end of the program are written once, although exit(), a signal and
// std::terminate() may end it at the same time.

#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

class exit_writing {
 public:
  /// Calls write() unless it has been called, then end(signal) where a signal ends the program. A
  /// process that the signal spares writes again at its end.
  template <class Write>
  void run(int signal, void (*end)(int) noexcept, Write write) {
    const mark_inside_kprof mark;  // so that a handler that calls exit() meanwhile does not wait
    const std::lock_guard turn(mutex_);
    if (!has_written_) write();
    has_written_ = has_written_ || signal == 0;
    if (end != nullptr) end(signal);
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void in_child() {
    has_written_ = false;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;  // guards has_written_; locked before the session's
  bool has_written_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/exit_writing.hpp>

// <kprof/session/other_builds.hpp>
#ifndef KPROF_SESSION_OTHER_BUILDS_HPP
#define KPROF_SESSION_OTHER_BUILDS_HPP

// Tells of modules whose guards another build of kprof made, so that nothing of them is recorded.
// Included by the session.

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// The paths of these modules, each with a 0 at its end. They are measured first and copied into
/// memory that is there: the loader's lock is held while its list is walked.
inline std::string paths_of_other_builds() {
  const auto size_of = [](const char* path) noexcept {
    return path == nullptr ? 1 : std::strlen(path) + 1;
  };
  std::size_t size = 0;
  for_each_other_module([&](const char* path) noexcept { size += size_of(path); });
  std::string paths(size, '\0');
  std::size_t used = 0;
  for_each_other_module([&](const char* path) noexcept {
    const std::size_t more = size_of(path);
    if (more > paths.size() - used) return;  // it has been loaded since, and is for the next time
    if (path != nullptr) std::memcpy(paths.data() + used, path, more);
    used += more;
  });
  paths.resize(used);
  return paths;
}

/// Notes the modules that are loaded now, each once.
inline void tell_other_builds(session_notes& notes) {
  const std::string paths = paths_of_other_builds();
  for (std::size_t at = 0; at < paths.size(); at = paths.find('\0', at) + 1) {
    const std::string_view path = paths.c_str() + at;
    notes.add((path.empty() ? "the program" : printable(path, 300)) +
              " has guards of another build of kprof, which are not recorded; build it with the "
              "headers that the session is built with");
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/other_builds.hpp>

// <kprof/session/phases.hpp>
#ifndef KPROF_SESSION_PHASES_HPP
#define KPROF_SESSION_PHASES_HPP

// What the session is doing, which steps lead from one phase to another, and how long it was
// paused. Pure: the caller gives the time, in ns since the recording began. Guarded by the
// session's lock.

#include <cstdint>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

enum class session_phase : std::uint8_t {
  idle,   // made, and nothing has been asked of it
  armed,  // the first scope starts the recording
  off,    // the settings say that nothing is recorded
  recording,
  paused,
  stopped
};

class session_phases {
 public:
  session_phase now() const noexcept { return now_; }
  bool is(session_phase phase) const noexcept { return now_ == phase; }
  /// Whether a recording has begun that has not ended: time goes on for it.
  bool is_running() const noexcept {
    return now_ == session_phase::recording || now_ == session_phase::paused;
  }
  /// Whether a recording has ever begun in this process, so that there is something to show.
  bool has_recorded() const noexcept { return has_recorded_; }

  void arm() noexcept { now_ = session_phase::armed; }
  void turn_off(std::string reason) {
    now_ = session_phase::off;
    off_reason_ = std::move(reason);
  }
  void record() noexcept {
    now_ = session_phase::recording;
    has_recorded_ = true;
    paused_ns_ = 0;
  }
  /// False, and nothing happens, unless a recording is on.
  bool pause(std::uint64_t now_ns) noexcept {
    if (now_ != session_phase::recording) return false;
    now_ = session_phase::paused;
    paused_since_ = now_ns;
    return true;
  }
  /// False, and nothing happens, unless a recording is paused.
  bool resume(std::uint64_t now_ns) noexcept {
    if (now_ != session_phase::paused) return false;
    paused_ns_ = paused_ns(now_ns);
    now_ = session_phase::recording;
    return true;
  }
  /// Ends a recording, or that the session waits for one. A session that is off stays off. Returns
  /// the phase before.
  session_phase stop(std::uint64_t now_ns) noexcept {
    const session_phase before = now_;
    paused_ns_ = paused_ns(now_ns);
    if (before != session_phase::off) now_ = session_phase::stopped;
    return before;
  }
  /// In the child of a fork, whose recording begins now.
  void restart_in_child(std::uint64_t now_ns) noexcept {
    paused_ns_ = 0;
    paused_since_ = now_ns;
  }

  /// How long the recording was paused, up to now.
  double paused_ns(std::uint64_t now_ns) const noexcept {
    return now_ == session_phase::paused ? paused_ns_ + static_cast<double>(now_ns - paused_since_)
                                         : paused_ns_;
  }
  /// The phase in words, for reports.
  std::string description() const {
    switch (now_) {
      case session_phase::idle:
        return "not started; call kprof::start() or include <kprof/kprof.hpp>";
      case session_phase::armed: return "armed; no scope has begun yet";
      case session_phase::off: return off_reason_;
      case session_phase::recording: return "recording";
      case session_phase::paused: return "paused";
      case session_phase::stopped: return "stopped";
    }
    return {};
  }

 private:
  session_phase now_ = session_phase::idle;
  bool has_recorded_ = false;
  std::string off_reason_;
  double paused_ns_ = 0;  // in pauses that are over
  std::uint64_t paused_since_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/phases.hpp>

// <kprof/session/precedence.hpp>
#ifndef KPROF_SESSION_PRECEDENCE_HPP
#define KPROF_SESSION_PRECEDENCE_HPP

// Which settings hold where the program and the environment variable KPROF differ. KPROF can turn
// off what the program wants (the recording, NVTX, device activity, the watch for signals), choose
// whether device activity is collected, and ask for outputs at the end: a user changes a run
// without a rebuild. Everything else is as the program says. Pure.

KPROF_DETAIL_BEGIN
namespace detail {

struct effective_settings {
  settings value;
  const char* off_reason = "";        // why nothing is recorded; "" where something is
  const char* cupti_off_reason = "";  // why no device activity is collected although it could be
};

/// `program` and `environment` are the same where the program gives no settings.
inline effective_settings combine(const settings& program, const settings& environment) {
  effective_settings out{program};
  settings& value = out.value;
  value.enabled = program.enabled && environment.enabled;
  if (!environment.enabled) out.off_reason = "off (KPROF=off)";
  else if (!program.enabled) out.off_reason = "off (settings::enabled is false)";
  value.nvtx = program.nvtx && environment.nvtx;
  value.signals = program.signals && environment.signals;
  if (environment.cupti != cupti_choice::automatic) value.cupti = environment.cupti;
  if (environment.cupti == cupti_choice::off) out.cupti_off_reason = "off (KPROF=cupti=off)";
  else if (value.cupti == cupti_choice::off) out.cupti_off_reason = "off (settings::cupti is off)";
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/precedence.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL session_state {
 public:
  const standard_streams streams;  // as they were when the session was made

  session_state() { device_.set_owner(device_session::functions_of_this_module(cupti_api())); }

  /// Makes this module the owner of `session`; nullptr: of none.
  static void own(session_state* session) noexcept {
    own_session = session;
    own_recorder = session == nullptr ? nullptr : &session->recorder_;
    own_start_recording = [] { static_cast<void>(attempt([] { own_session->start_if_armed(); })); };
    device_session::own(session == nullptr ? nullptr : &session->device_);
  }

  /// Waits for the first scope, with the settings in KPROF.
  void arm() {
    const session_lock lock(mutex_);
    if (!phases_.is(session_phase::idle)) return;
    const effective_settings wanted = combine(environment(), environment());
    if (!wanted.value.outputs.empty()) exit_report_.request(&write_outputs_at_exit);
    settings_ = wanted.value;
    if (!settings_.enabled || !settings_.nvtx) refuse_nvtx();
    if (settings_.enabled) {
      phases_.arm();
      listen_by(&bootstrap::api());
    } else {
      phases_.turn_off(wanted.off_reason);
    }
  }

  /// Starts a recording with the program's settings, as far as KPROF lets them hold.
  status start(const settings& wanted) {
    return start(combine(wanted, locked_environment()), false);
  }
  /// Starts a recording with the settings in KPROF.
  status start() {
    const settings wanted = locked_environment();
    return start(combine(wanted, wanted), true);
  }
  /// The first scope of an armed session starts the recording.
  void start_if_armed() {
    const mark_inside_kprof mark;
    if (!is_armed()) return;
    const settings wanted = locked_environment();
    const effective_settings all = combine(wanted, wanted);
    open_libraries(all);
    const session_lock lock(mutex_);
    if (phases_.is(session_phase::armed)) start_locked(all);
  }

  void stop() {
    static_cast<void>(attempt([this] { device_.stop(); }));
    const session_lock lock(mutex_);
    const bool was_running = phases_.is_running();
    const session_phase before = phases_.stop(clock_.elapsed_ns());
    if (was_running || before == session_phase::armed) listen_by(nullptr);
    if (!was_running) return;
    device_.set_recording(false);
    clock_.calibrate_again();
  }

  void pause() {
    start_if_armed();
    const session_lock lock(mutex_);
    if (!phases_.pause(clock_.elapsed_ns())) return;
    listen_by(nullptr);
    device_.set_recording(false);
  }

  void resume() {
    const session_lock lock(mutex_);
    if (!phases_.resume(clock_.elapsed_ns())) return;
    device_.set_recording(true);
    listen_by(recording_api());
  }

  profile snapshot(bool timeline) {
    device_.flush();
    if (!device_.has_collected() && missed_cuda()) device_.note_cuda_came_late();
    const session_lock lock(mutex_);
    profile out;
    if (phases_.has_recorded()) {
      if (phases_.is_running()) clock_.calibrate_again();
      const std::uint64_t now = clock_.time().last().ticks;
      {
        const attribution_lock devices = device_.lock_attribution();
        out = build_profile(recorder_, device_.attributed(devices), {clock_.time(), now, timeline});
      }
      device_.describe(out.device, out.notes);
      out.wall_ns = clock_.time().since_start_ns(now);
      out.paused_ns = phases_.paused_ns(clock_.elapsed_ns());
      clock_.describe(out.clock);
      clock_.describe_disagreement(out.notes);
      describe_cost(out);
    }
    out.recording = phases_.is(session_phase::recording);
    out.state = phases_.description();
    tell_other_builds(notes_);
    for (const std::string& note : notes_.all()) out.notes.push_back(note);
    return out;
  }

  report_options report_settings() {
    const session_lock lock(mutex_);
    environment_.leave_parents_paths(settings_);
    return settings_.report;
  }
  /// The program has printed `run` as the settings say.
  void reported(const profile& run) {
    const session_lock lock(mutex_);
    const bool as_at_exit =
        settings_are_from_environment_ || !asks_for_main_report(environment_.value());
    exit_report_.note_reported(run.complete, as_at_exit);
  }

  /// A module is about to be unloaded.
  static void detach(const module_record& leaving) noexcept {
    guards_have_left = true;
    own_session->recorder_.detach(leaving);
    if (own_session->previous_detach_ != nullptr) own_session->previous_detach_(leaving);
  }
  void (*previous_detach_)(const module_record&) noexcept = nullptr;  // the hub's, before this one

  void before_fork() {
    exit_writing_.before_fork();
    mutex_.lock();
    device_.before_fork();
    recorder_.before_fork();
  }
  void after_fork() {
    recorder_.after_fork();
    device_.after_fork();
    mutex_.unlock();
    exit_writing_.after_fork();
  }
  void in_child() {
    const calibration_point now = clock_.read();
    recorder_.in_child(now.ticks);
    device_.in_child(now.realtime_ns);
    if (phases_.has_recorded()) {
      clock_.restart(now);
      phases_.restart_in_child(0);
      exit_report_.restart();
      static_cast<void>(attempt([this] {
        notes_.add("forked from process " + std::to_string(getppid()) +
                   ": this profile is of the child alone");
      }));
    }
    environment_.in_child();
    mutex_.unlock();
    exit_writing_.in_child();
    end_watch::in_child();
  }

  KPROF_DETAIL_LOCAL static session_state* own_session;  // in the owner

 private:
  /// The caller holds the lock.
  const settings& environment() {
    environment_.leave_parents_paths(settings_);
    return environment_.read(notes_);
  }
  settings locked_environment() {
    const session_lock lock(mutex_);
    return environment();
  }
  bool is_armed() const {
    const session_lock lock(mutex_);
    return phases_.is(session_phase::armed);
  }
  /// Whether the program uses CUDA, which is to be collected, but only since the recording began.
  bool missed_cuda() const {
    const session_lock lock(mutex_);
    return phases_.has_recorded() && settings_.cupti == cupti_choice::automatic &&
           collects_by_default();
  }

  // Locked, as all walks of the modules: or a fork would leave the child with the loader's lock.
  bool may_collect() const {
    const session_lock lock(mutex_);
    return collects_by_default();
  }
  /// Opens the NVTX tool's library and CUPTI, as the settings want. Without the session's lock: a
  /// thread that is opening a library may be waiting for this session.
  void open_libraries(const effective_settings& wanted) {
    const settings& s = wanted.value;
    if (s.enabled && s.nvtx) static_cast<void>(attach_nvtx_or_disarm());
    const bool has_cuda = s.enabled && (s.cupti == cupti_choice::on || may_collect());
    if (has_cuda && s.cupti != cupti_choice::off)
      device_.collect(s.memory, s.clock == clock_choice::automatic && counter_clock::usable());
    else device_.collect_nothing(has_cuda ? wanted.cupti_off_reason : "");
  }

  status start(const effective_settings& wanted, bool from_environment) {
    open_libraries(wanted);
    const session_lock lock(mutex_);
    settings_are_from_environment_ = from_environment;
    return start_locked(wanted);
  }
  status start_locked(const effective_settings& wanted) {
    if (!wanted.value.enabled) {
      listen_by(nullptr);
      device_.set_recording(false);
      phases_.turn_off(wanted.off_reason);
      return {};
    }
    environment_.tell_mistakes();
    settings before = wanted.value;
    std::swap(settings_, before);
    clock_.choose(settings_.clock, phases_.has_recorded(), notes_);
    if (!attempt([this] { restart_recording(); })) {
      std::swap(settings_, before);
      return {out_of_memory};
    }
    if (!settings_.outputs.empty()) exit_report_.request(&write_outputs_at_exit);
    if (!settings_.outputs.empty() && settings_.signals && !end_watch::start(&write_outputs))
      notes_.add("the system gave no thread for it: a signal that ends the program loses outputs");
    emitting_.restart(settings_.nvtx);
    phases_.record();
    device_.set_recording(true);
    store(the_hub().end_recorded, recording_api()->end);
    listen_by(recording_api());
    return {};
  }
  /// Forgets what was recorded, and shares the memory out anew.
  void restart_recording() {
    static_assert(settings::smallest_memory == recorder::smallest_memory);
    const std::size_t memory = std::max(settings_.memory, recorder::smallest_memory);
    if (memory != settings_.memory)
      notes_.add("memory=" + std::to_string(settings_.memory) +
                 " is too small to work with; the smallest, 1 MiB, is used");
    const calibration_point now = clock_.read();
    {
      const attribution_lock devices = device_.lock_attribution();
      if (phases_.has_recorded()) recorder_.restart(now.ticks);  // may fail for want of memory
      clock_.restart(now);
      exit_report_.restart();
      memory_ = memory;
      recorder_.set_memory(memory - (device_.has_collected() ? device_session::share(memory) : 0));
      device_.restart(devices, now.realtime_ns, memory);
    }
  }
  const scope_api* recording_api() const noexcept {
    return emitting_.functions(clock_.uses_counter() ? tables_of_recorder<counter_clock>()
                                                     : tables_of_recorder<system_clock>());
  }

  void describe_cost(profile& out) {
    clock_.describe_cost(out.cost);
    out.cost.recording_ns =
        out.cost.scope_ns * static_cast<double>(out.complete.recorded + out.complete.open);
    out.cost.folding_ns = static_cast<double>(recorder_.folding_ns());
    out.cost.memory = recorder_.memory_held() + device_.memory_held();
    out.cost.memory_limit = memory_;
  }

  static void write_outputs_at_exit() {
    if (!inside_kprof) write_outputs(0, nullptr);  // else a handler that calls exit() would hang
  }
  static void write_outputs(int signal, void (*end)(int) noexcept) {
    session_state& own = *own_session;
    own.exit_writing_.run(signal, end, [signal, &own] {
      if (!attempt([signal, &own] { own.write_profile(signal); }))
        tell({"nothing is written at the end: out of memory"});
    });
  }
  void write_profile(int signal) {
    device_.end();  // waits for the devices, but not for ever
    profile run = snapshot(false);
    if (signal != 0) note_ending_signal(run.notes, signal);
    if (has_nothing_to_report(run)) return;
    exit_outputs wanted;
    bool report_is_printed = false;
    {
      const session_lock lock(mutex_);
      environment_.leave_parents_paths(settings_);
      wanted = outputs_at_exit(settings_, environment_.value());
      report_is_printed = !exit_report_.is_due(run.complete);
    }
    write_at_exit(run, wanted, report_is_printed);
  }

  exit_writing exit_writing_;
  mutable std::mutex mutex_;  // guards all below but what recorder_ and device_ guard themselves
  recorder recorder_;
  device_session device_{recorder_};
  session_clock clock_;
  session_phases phases_;
  environment_settings environment_;
  settings settings_;  // those that hold
  bool settings_are_from_environment_ = true;
  exit_report exit_report_;
  std::size_t memory_ = 0;  // bytes
  session_emitting emitting_;
  session_notes notes_;
};
KPROF_DETAIL_LOCAL inline constinit session_state* session_state::own_session = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/session_state.hpp>

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// The session of this module, if it is the owner, as all modules call it.
KPROF_DETAIL_LOCAL inline const owner_functions& functions_of_own_session() noexcept {
  using own = session_state;
  static constexpr owner_functions table{
      session_build,
      [] { own::own_session->arm(); },
      [](const settings& wanted) { return own::own_session->start(wanted); },
      [] { return own::own_session->start(); },
      [] { own::own_session->stop(); },
      [] { own::own_session->pause(); },
      [] { own::own_session->resume(); },
      [](bool timeline) { return own::own_session->snapshot(timeline); },
      [] { return own::own_session->report_settings(); },
      [](const profile& run) { own::own_session->reported(run); },
      [](int descriptor, bool for_program) noexcept {
        return own::own_session->streams.has(descriptor, for_program);
      },
  };
  return table;
}

/// The session of the process, made now if there is none; nullptr and the reason when another
/// build's cannot be used.
KPROF_DETAIL_LOCAL inline const owner_functions* find_session(std::string& why) {
  hub_record& hub = the_hub();
  const void* found = load(hub.session);
  if (found == nullptr) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    found = load(hub.session);
    if (found == nullptr) {
      auto* made = new session_state;
      // Another module may arm the session as soon as it finds it, and a guard then calls the
      // owner's code: the owner must be ready before.
      session_state::own(made);
      const void* const functions = &functions_of_own_session();
      if (__atomic_compare_exchange_n(&hub.session, &found, functions, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
        found = functions;
        keep_loaded();
        made->previous_detach_ =
            __atomic_exchange_n(&hub.detach, &session_state::detach, __ATOMIC_SEQ_CST);
        pthread_atfork([] { session_state::own_session->before_fork(); },
                       [] { session_state::own_session->after_fork(); },
                       [] { session_state::own_session->in_child(); });
      } else {
        session_state::own(nullptr);
        delete made;
      }
    }
  }
  const char* build = *static_cast<const char* const*>(found);
  if (std::strcmp(build, session_build) == 0) {
    const auto* const session = static_cast<const owner_functions*>(found);
    known_streams = session->is_stream;
    return session;
  }
  why = std::string("the session of this process belongs to another build (") + build +
        "; this is " + session_build + "); build both alike";
  return nullptr;
}

/// What use(session) returns; an error where there is no session or no memory. The thread is not
/// cancelled meanwhile.
template <class Use>
KPROF_DETAIL_LOCAL status with_session(Use use) {
  const hold_cancellation hold;
  return within_memory([&] {
    std::string why;
    const owner_functions* const s = find_session(why);
    return s == nullptr ? status{why} : use(*s);
  });
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // <kprof/session/find_session.hpp>

#endif

#include <string>
#include <utility>
#endif

KPROF_DETAIL_BEGIN

/// Starts a recording. What was recorded before is forgotten; scopes that are open now count from
/// now. What the variable KPROF turns off (recording, NVTX) stays off. Fails, and changes nothing,
/// when another build of kprof owns the process's session, and where kprof is compiled out.
KPROF_DETAIL_SESSION status start(const settings& wanted);
/// Starts a recording with the settings in KPROF, or the defaults.
KPROF_DETAIL_SESSION status start();

/// Ends the recording. What was recorded stays and can be read. Guards cost a load and a branch
/// again, unless an NVTX tool is attached, which still gets its ranges.
KPROF_DETAIL_SESSION void stop();

/// Stops recording new scopes until resume(). Scopes that are open go on and count to their end.
KPROF_DETAIL_SESSION void pause();

/// Goes on after pause().
KPROF_DETAIL_SESSION void resume();

/// What a snapshot holds besides the totals.
struct snapshot_options {
  bool timeline = false;  ///< single scopes, as far back as the memory reaches
};

/// The run so far. Without a session the profile is empty and its `state` says why; it is "out of
/// memory" where there was none for the profile, and what was recorded stays. Takes time in
/// proportion to what was recorded since the last one (200 ns a scope at the most), to the rows of
/// the profile, and to the timeline where it is asked for.
KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options = {});

/// Prints the profile, as `options` say, to standard output or their file. An error says what to do
/// and harms nothing; it is returned and, since a report is easily missed, told on standard error.
KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options);
/// Prints the run so far.
KPROF_DETAIL_SESSION status report(const report_options& options);
/// Prints the run so far, as the settings say. When KPROF asks for a report at the end too, and no
/// scope has begun or ended since, that one is left out.
KPROF_DETAIL_SESSION status report();

#if !KPROF_SESSION_ELSEWHERE  // each finds the process's session and passes the call on

#if KPROF_ENABLE

namespace detail {
/// For functions of the session that return nothing.
template <class Use>
KPROF_DETAIL_LOCAL void tell_session(Use use) {
  static_cast<void>(with_session([&](const owner_functions& s) {
    use(s);
    return status{};
  }));
}
KPROF_DETAIL_LOCAL inline status take_snapshot(const snapshot_options& options, profile& out) {
  return with_session([&](const owner_functions& s) {
    out = s.snapshot(options.timeline);
    return status{};
  });
}
KPROF_DETAIL_LOCAL inline report_options default_report_options() {
  report_options out;
  tell_session([&](const owner_functions& s) { out = s.report_settings(); });
  return out;
}
KPROF_DETAIL_LOCAL inline void reported(const profile& run) {
  tell_session([&](const owner_functions& s) { s.reported(run); });
}
}  // namespace detail

KPROF_DETAIL_SESSION status start(const settings& wanted) {
  return detail::with_session(
      [&](const detail::owner_functions& s) { return s.start_with(wanted); });
}
KPROF_DETAIL_SESSION status start() {
  return detail::with_session([](const detail::owner_functions& s) { return s.start(); });
}
KPROF_DETAIL_SESSION void stop() {
  detail::tell_session([](const detail::owner_functions& s) { s.stop(); });
}
KPROF_DETAIL_SESSION void pause() {
  detail::tell_session([](const detail::owner_functions& s) { s.pause(); });
}
KPROF_DETAIL_SESSION void resume() {
  detail::tell_session([](const detail::owner_functions& s) { s.resume(); });
}

#else  // KPROF_ENABLE == 0: the same functions, and nothing is ever recorded.

namespace detail {
inline constexpr const char* compiled_out = "compiled out (KPROF_ENABLE=0)";
KPROF_DETAIL_LOCAL inline status take_snapshot(const snapshot_options&, profile&) {
  return {compiled_out};
}
KPROF_DETAIL_LOCAL inline report_options default_report_options() { return {}; }
KPROF_DETAIL_LOCAL inline void reported(const profile&) {}
}  // namespace detail

KPROF_DETAIL_SESSION status start(const settings&) { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION status start() { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION void stop() {}
KPROF_DETAIL_SESSION void pause() {}
KPROF_DETAIL_SESSION void resume() {}

#endif

KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options) {
  profile run;
  if (status s = detail::take_snapshot(options, run); !s) {
    run = {};
    run.state = std::move(s.message);
  }
  return run;
}

namespace detail {
/// Prints what options() are for, unless there was no memory for the profile itself.
template <class Options>
KPROF_DETAIL_LOCAL status report_as(const profile& run, Options options) {
  const hold_cancellation hold;
  status s;
  const bool had_memory = run.state != out_of_memory && attempt([&] {
                            s = write_report_to_its_path(run, options(), write_time::now);
                          });
  if (!had_memory) s = {out_of_memory};
  if (!s) tell({"no report: ", s.message});
  return s;
}
}  // namespace detail

KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options) {
  return detail::report_as(run, [&]() -> const report_options& { return options; });
}
KPROF_DETAIL_SESSION status report(const report_options& options) {
  return report(snapshot(), options);
}
KPROF_DETAIL_SESSION status report() {
  const profile run = snapshot();
  status s = detail::report_as(run, [] { return detail::default_report_options(); });
  if (s) detail::reported(run);
  return s;
}

#endif  // !KPROF_SESSION_ELSEWHERE

KPROF_DETAIL_END

#endif  // <kprof/session.hpp>

#if KPROF_ENABLE

KPROF_DETAIL_BEGIN
namespace detail {

/// Makes the session of the process, if there is none, and arms it. A file that leaves the session
/// to a library calls it too, so that a linker takes the session out of the library, and only out
/// of one of the same build.
KPROF_DETAIL_SESSION void arm_session(this_build) noexcept;

#if !KPROF_SESSION_ELSEWHERE
KPROF_DETAIL_SESSION void arm_session(this_build) noexcept {
  tell_session([](const owner_functions& s) { s.arm(); });
}
#endif

struct arming {
  arming() noexcept { arm_session({}); }
};
// Before other static objects, whose constructors may have guards, and after the outputs, which
// KPROF may name. So the report at exit comes after those objects' destructors.
KPROF_DETAIL_LOCAL
[[gnu::init_priority(102)]] inline arming armed_by_including_kprof;

}  // namespace detail
KPROF_DETAIL_END

#endif

#endif  // <kprof/kprof.hpp>
