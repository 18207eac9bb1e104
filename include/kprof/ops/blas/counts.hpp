// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BLAS_COUNTS_HPP
#define KPROF_OPS_BLAS_COUNTS_HPP

// What the operators of BLAS and LAPACK count with: the weight of complex arithmetic, triangles,
// and bytes.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr count blas_weight(dtype type) noexcept { return is_complex(type) ? 4 : 1; }
/// n (n + 1) / 2 for n >= 0: elements of a triangle with its diagonal.
constexpr count blas_triangle(std::int64_t n) noexcept {
  return n % 2 == 0 ? count{n / 2} * (count{n} + 1) : count{n} * (n / 2 + 1);
}
/// Bytes of tensors of one type, each of them packed by itself.
constexpr count blas_bytes(dtype type, auto... sizes) noexcept {
  return (count{} + ... + bytes_for(sizes, type));
}

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
