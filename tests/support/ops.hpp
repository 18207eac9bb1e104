// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_OPS_HPP
#define KPROF_TESTS_SUPPORT_OPS_HPP

// What the tests of the catalogue share: whether an expression is constant, and random shapes.

#include <kprof/op.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

namespace kprof_test {

template <class F>
concept constant_call = requires {
  typename std::bool_constant<(static_cast<void>(F{}()), true)>;
};
/// Whether a call of a lambda without captures compiles in a constant expression:
///     static_assert(!is_constant([] { return Gemm{.M = -1}.flops(); }));
template <class F>
constexpr bool is_constant(F) noexcept {
  return constant_call<F>;
}

/// The operator's name.
template <class Op>
std::string named() {
  constexpr kprof::text_view name = kprof::name_of<Op>();
  return {name.data, name.size};
}

/// FLOPs and bytes, read and written together, of one call. For static_assert.
template <class Op>
constexpr bool costs(const Op& op, std::uint64_t flops, std::uint64_t bytes) {
  static_assert(kprof::detail::check_operator<Op>());
  return op.valid() && op.flops() == flops && op.bytes().total() == bytes;
}

/// Bytes read and written apart.
template <class Op>
constexpr bool moves(const Op& op, std::uint64_t read, std::uint64_t written) {
  return op.bytes().read == read && op.bytes().written == written;
}

inline constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;

/// At run time: a call that is not valid has no numbers and does not trap.
template <class Op>
bool is_refused(const Op& op) {
  return !kprof::flops_of(op).valid() && !op.flops().valid() && !op.bytes().total().valid();
}

/// For static_assert: an operator of element type `type` has numbers by default, in class `Unit`,
/// and is no constant with a negative field, with no element type, or with a field so large that
/// its bytes exceed 64 bits.
template <kprof::arithmetic_unit Unit, class Op, kprof::extent Op::*... Fields>
consteval bool refuses_senseless() {
  const bool negative = (!is_constant([] {
                          Op op;
                          op.*Fields = -1;
                          return op.flops();
                        }) &&
                         ...) &&
                        (!is_constant([] {
                          Op op;
                          op.*Fields = least;
                          return op.bytes();
                        }) &&
                         ...);
  const bool large = (!is_constant([] {
    Op op;
    op.*Fields = most;
    return op.bytes();
  }) && ...);
  const bool unknown = !is_constant([] { return Op{.type = kprof::dtype::unknown}.flops(); }) &&
                       !is_constant([] { return Op{.type = kprof::dtype::unknown}.bytes(); });
  const bool unit = Op{.type = kprof::dtype::bf16}.arithmetic().type == kprof::dtype::bf16 &&
                    Op{}.arithmetic().on == Unit;
  return negative && large && unknown && unit && is_constant([] { return Op{}.flops(); }) &&
         is_constant([] { return Op{}.bytes(); }) && Op{}.valid();
}

class random_shape {
 public:
  explicit random_shape(unsigned seed) : engine_(seed) {}
  /// From low to high, both included.
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool coin() { return (*this)(0, 1) != 0; }

 private:
  std::mt19937 engine_;
};

}  // namespace kprof_test

#endif
