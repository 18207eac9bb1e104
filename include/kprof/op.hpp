// SPDX-License-Identifier: MIT
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

#include <kprof/build_options.hpp>
#include <kprof/declare/checks.hpp>
#include <kprof/declare/describe.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/declare/fixed_string.hpp>

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

#endif
