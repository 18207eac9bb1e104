// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_MOVEMENT_HPP
#define KPROF_OPS_MOVEMENT_HPP

// Operators that move elements and compute nothing: all have 0 FLOPs. Bytes: what arrives is read once and written once; a
// reshape moves nothing, a fill only writes.

#include <kprof/ops/common.hpp>


KPROF_DETAIL_BEGIN
namespace ops::detail {

/// `numel` elements, read as one type and written as another.
constexpr traffic moved(bool valid, std::int64_t numel, dtype from, dtype to) noexcept {
  if (!sensible(valid)) return invalid_traffic;
  return {.read = bytes_for(numel, from), .written = bytes_for(numel, to)};
}
constexpr count no_flops(bool valid) noexcept { return sensible(valid) ? count{0} : count::invalid(); }

}  // namespace ops::detail

namespace ops {

/// Inputs joined along a dimension: each is read, the result is written. Of more than 16, some may be given as one.
struct Concat {
  fixed_list<std::int64_t, 16> inputs{};   ///< elements of each
  dtype type = dtype::f32;

  constexpr bool valid() const {
    for (const std::int64_t n : inputs)
      if (n < 0) return false;
    return detail::known(type);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    count read, joined;
    for (const std::int64_t n : inputs) {
      read += bytes_for(n, type);
      joined += n;
    }
    return {.read = read, .written = bytes_for(joined, type)};
  }
};

/// A copy of a part of a tensor: of what lies outside nothing is read.
struct Slice {
  std::int64_t numel = 1;   ///< of the result
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
};

/// A copy with the same elements; PyTorch's contiguous, clone and copy_.
struct Copy {
  std::int64_t numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
};

/// y[N,M] = x[M,N], `batch` times; it really moves the elements.
struct Transpose {
  std::int64_t M = 1, N = 1;
  std::int64_t batch = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(M, N, batch) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(count{batch} * M * N, type);
    return {.read = x, .written = x};
  }
};

/// Dimensions in another order, NCHW to NHWC among them; it really moves the elements.
struct Permute {
  std::int64_t numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
};

/// Another element type.
struct Cast {
  std::int64_t numel = 1;
  dtype dtypeIn = dtype::f32, dtypeOut = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(dtypeIn, dtypeOut); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtypeIn); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, dtypeIn, dtypeOut); }
};
using Convert = Cast;

/// Another shape of the same elements: nothing moves. Where it does, it is a Copy.
struct Reshape {
  std::int64_t numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::sensible(valid()) ? traffic{} : detail::invalid_traffic; }
};

/// A tensor of one value: PyTorch's zeros, ones, full and fill_.
struct Fill {
  std::int64_t numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = 0, .written = bytes_for(numel, type)};
  }
};

/// `size` bytes copied.
struct Memcpy {
  std::int64_t size = 1;   ///< in bytes

  constexpr bool valid() const { return detail::not_negative(size); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtype::uint8); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), size, dtype::uint8, dtype::uint8); }
};

/// `size` bytes set.
struct Memset {
  std::int64_t size = 1;   ///< in bytes

  constexpr bool valid() const { return detail::not_negative(size); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtype::uint8); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = 0, .written = size};
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
