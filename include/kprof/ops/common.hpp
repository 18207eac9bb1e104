// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_COMMON_HPP
#define KPROF_OPS_COMMON_HPP

// What the operators of the catalogue share, and the rules by which all of them count. Included by
// each header of ops/.
//
// - One multiply-add is 2 FLOPs; of complex numbers 8. Scale factors cost nothing; beta != 0 costs
//   one more read of C. Elementwise primitives, and the additions of scatters and collectives, are
//   one whatever the type.
// - FLOPs follow from the shape, never from the kernel: padding taps count, causal attention counts
//   its half.
// - A bias, a residual, an activation and any other elementwise primitive are one FLOP per output
//   element each.
// - Bytes are the least possible: each distinct input element is read once, each output element
//   written once, each at its own width. A broadcast operand counts at its own size. Tensors below
//   8 bits an element are packed, each by itself.
// - A count that overflows 64 bits and parameters that make no sense are compile errors in a
//   constant expression; at run time such a call is reported as `invalid`. Sizes may be 0 where
//   libraries accept that: nothing is then counted.
// - brief() says all that tells two calls apart and is not the default, but for pass and types.
//   shows() denies a field that has no meaning in the call, such as a bias to a gradient.
//
// What fields of these names mean, where an operator says nothing else:
//   `pass`      direction: forward or backward, of an operator with weights one of the three
//   gradients
//   `type`      element type
//   `dtypeW`    element type of the weights; unknown: as `type`
//   `batch`     calls with operands of their own in one
//   `numel`     elements
//   `rows`      rows, the product of the leading dimensions
//   `cols`      elements of a row
//
// The comments of the operators state their formulas in the notation of
// docs/catalogue_reference.md, which is made from them; a test evaluates each and compares it with
// the code.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN

namespace ops {

/// N values in braces, as a std::array, whose header takes as long as half of the catalogue.
template <class T, std::size_t N>
struct fixed_list {
  using value_type = T;
  T values[N];

  static constexpr std::size_t size() noexcept { return N; }
  constexpr T& operator[](std::size_t i) noexcept { return values[i]; }
  constexpr const T& operator[](std::size_t i) const noexcept { return values[i]; }
  constexpr const T* begin() const noexcept { return values; }
  constexpr const T* end() const noexcept { return values + N; }
  friend constexpr bool operator==(const fixed_list&, const fixed_list&) = default;
};

/// How the FLOPs of elementwise operators are counted. `primitives`: one for each primitive,
/// transcendental ones too (XLA, DeepSpeed). `pyprof`: 20 for each transcendental one, as
/// NVIDIA/PyProf has it. `expressions`: named activations by the primitives of their definition
/// (gelu 5, silu 5), not by one.
enum class cost_model : std::uint8_t { primitives, pyprof, expressions };

/// Direction of a call: of operators here forward, backward of an operator without weights, or with
/// respect to the input, weights or bias; recompute counts as fprop.
using pass = pass_kind;

/// The operands of a product or a quotient that bprop computes a gradient of.
enum class gradient_of : std::uint8_t { a, b, both };

/// Named activation functions; each counts one FLOP an element.
enum class activation : std::uint8_t {
  none,
  relu,
  gelu,
  silu,
  sigmoid,
  tanh,
  elu,
  leaky_relu,
  softplus,
  hardswish,
  mish,
  prelu
};

}  // namespace ops

namespace ops::detail {

using ::kprof::KPROF_DETAIL_ABI::detail::makes_no_sense;
/// `valid`; where it is false, a compile error in a constant expression, which shows the line of
/// the message, hence one line, and the call's parameters.
constexpr bool sensible(bool valid) noexcept {
  if (!valid)
    makes_no_sense("kprof: a size is negative or too large, or sizes, types and pass do not match");
  return valid;
}
inline constexpr traffic invalid_traffic{count::invalid(), count::invalid()};

/// Largest extent of a window's input, so that sums and products of two extents cannot wrap.
inline constexpr std::int64_t max_extent = 0x3FFF'FFFF;
constexpr bool extents(auto... sizes) noexcept {
  return ((sizes >= 0 && sizes <= max_extent) && ...);
}
constexpr bool positive(auto... sizes) noexcept { return ((sizes >= 1) && ...); }
constexpr bool not_negative(auto... sizes) noexcept { return ((sizes >= 0) && ...); }
/// Types must be known; products that overflow are found by `count`.
constexpr bool known(auto... types) noexcept { return ((bits_of(types) != 0) && ...); }
constexpr bool known_or_left_out(auto... types) noexcept {
  return ((types == dtype::unknown || bits_of(types) != 0) && ...);
}
constexpr bool known_activation(activation act) noexcept { return act <= activation::prelu; }
constexpr bool is_transcendental(activation act) noexcept {
  return (act >= activation::gelu && act <= activation::elu) || act == activation::softplus ||
         act == activation::mish;
}

constexpr bool is_forward(pass p) noexcept { return p == pass::fprop || p == pass::recompute; }
constexpr bool is_fprop_or_bprop(pass p) noexcept { return is_forward(p) || p == pass::bprop; }
/// The passes of an operator with weights; bprop is all its gradients in one call.
constexpr bool has_weights(pass p) noexcept {
  return is_forward(p) || (p >= pass::bprop && p <= pass::bgrad);
}
/// Whether a bias counts in a call that has one.
constexpr bool has_bias(pass p) noexcept { return is_forward(p) || p == pass::bprop; }
/// What an operator with weights reads that computes all its gradients in one call, from the bytes
/// of its tensors: dy once.
constexpr count read_for_gradients(bool bias, count x, count w, count y) {
  return (x == 0 && w == 0 && !bias ? count{0} : y) + (x == 0 ? count{0} : w) +
         (w == 0 ? count{0} : x);
}
/// A type that a call may leave out: where it is unknown, the operator's own type holds.
constexpr dtype type_or(dtype given, dtype otherwise) noexcept {
  return given == dtype::unknown ? otherwise : given;
}

constexpr bool is_complex(dtype type) noexcept { return type == dtype::c64 || type == dtype::c128; }
constexpr bool is_integer(dtype type) noexcept {
  return type >= dtype::int64 && type <= dtype::uint4;
}
/// Known and not complex; real numbers in floating point; what counts or points at elements.
constexpr bool real(auto... types) noexcept {
  return known(types...) && !(is_complex(types) || ...);
}
constexpr bool floating(dtype type) noexcept {
  return real(type) && !is_integer(type) && type != dtype::boolean;
}
constexpr bool fractional(dtype type) noexcept { return floating(type) || is_complex(type); }
constexpr bool is_index(dtype type) noexcept { return is_integer(type) && bits_of(type) >= 8; }
/// Types of the operands and the result of a product: all are complex, or none is.
constexpr bool multiplies(dtype a, dtype b, dtype c) noexcept {
  return known(a, b, c) && is_complex(a) == is_complex(b) && is_complex(a) == is_complex(c);
}
/// FLOPs of one multiply-add.
constexpr count fma_flops(dtype type) noexcept { return is_complex(type) ? 8 : 2; }

/// FLOPs of one multiplication and of one addition.
constexpr count mul_flops(dtype type) noexcept { return is_complex(type) ? 6 : 1; }
constexpr count add_flops(dtype type) noexcept { return is_complex(type) ? 2 : 1; }

/// Ceiling of a / b, for a >= 0 and b > 0.
constexpr count ceil_div(count a, count b) noexcept { return (a + (b - 1)) / b; }

/// The unit that multiplies matrices of a type, where only one can: tf32 and what has fewer than 16
/// bits as floating point exist on tensor cores alone. Of other types the shape does not tell.
constexpr arithmetic_unit matmul_unit(dtype type) noexcept {
  switch (type) {
    case dtype::tf32:
    case dtype::fp8_e4m3:
    case dtype::fp8_e5m2:
    case dtype::fp6_e2m3:
    case dtype::fp6_e3m2:
    case dtype::fp4_e2m1: return arithmetic_unit::tensor_core;
    default: return arithmetic_unit::unknown;
  }
}
constexpr arithmetic matmul(dtype type) noexcept { return {type, matmul_unit(type)}; }
/// The same of two operands, of which the narrower one is converted first.
constexpr arithmetic matmul(dtype a, dtype b) noexcept {
  return matmul(bits_of(b) > bits_of(a) ? b : a);
}
/// The arithmetic of all operators that multiply no matrices.
constexpr arithmetic scalar(dtype type) noexcept { return {type, arithmetic_unit::cuda_core}; }

}  // namespace ops::detail

KPROF_DETAIL_END

#endif
