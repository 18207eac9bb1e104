// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_FIELD_POINTER_HPP
#define KPROF_DECLARE_FIELD_POINTER_HPP

// A pointer to the Index-th field of an object as a constant expression, from which the compiler's
// own text gives the field's name. boost::pfr::get cannot serve: nvcc's front end rejects it as a
// template argument, and its header costs more to include than all of op.hpp; so Boost.PFR counts
// the fields and this header reaches them.

#include <kprof/build_options.hpp>

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

#endif
