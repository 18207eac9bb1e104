// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_PART_HPP
#define KPROF_DECLARE_PART_HPP

// What a guard of KPROF_PART records: the parameters of the call that several threads share, and
// which part of it this thread does. Included by guard.hpp.

#include <kprof/build_options.hpp>
#include <kprof/declare/checks.hpp>
#include <kprof/declare/describe.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// Which part of how many, as it is recorded.
struct part_number {
  std::uint32_t part;   // from 0
  std::uint32_t parts;  // of the call
};

/// One part of a call of `Op`.
template <class Op>
struct call_part {
  alignas(8) alignas(Op) Op call;
  alignas(8) part_number number;
};

/// What a guard's arguments initialise in code that never runs: in a call, a list that does not fit
/// is no matching function; here the compiler names the field and the operator.
template <class Op>
struct params_of {
  Op value;
};
struct any_integer {
  template <class Integer>
  constexpr any_integer(Integer) noexcept {}
};
template <class Op>
struct part_arguments {
  Op params;
  any_integer part, parts;
};

/// A number that the program gives; one that does not fit becomes the largest, which names no part.
template <class Integer>
constexpr std::uint32_t to_part_number(Integer n) noexcept {
  static_assert(std::is_integral_v<Integer> || std::is_enum_v<Integer>,
                "kprof: part and parts of KPROF_PART are integers: the number of this thread's "
                "part, from 0, and how many parts the call has");
  const auto number = static_cast<std::uint64_t>(n);
  return number < 0xFFFFFFFFU ? static_cast<std::uint32_t>(number) : 0xFFFFFFFFU;
}

template <class Op, class Part, class Parts>
constexpr call_part<Op> make_part(const Op& params, Part part, Parts parts) noexcept {
  static_assert(check_operator<Op>() && operator_name<Op>().size != 0);
  return {params, {to_part_number(part), to_part_number(parts)}};
}

/// The descriptor of the operator with the part behind its parameters, one a module.
template <class Op>
KPROF_DETAIL_LOCAL inline constexpr op_desc part_desc_of{
    static_cast<std::uint32_t>(sizeof(call_part<Op>)),
    static_cast<std::uint32_t>(__builtin_offsetof(call_part<Op>, number)),
    &describe_op<Op>::name,
    &describe_op<Op>::params,
    &describe_op<Op>::evaluate,
    describe_op<Op>::presenter()};

}  // namespace detail
KPROF_DETAIL_END

#endif
