// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_MOVEMENT_HPP
#define KPROF_OPS_MOVEMENT_HPP

// Operators that move elements and compute nothing: all have 0 FLOPs. Bytes: what arrives is read
// once and written once; a reshape moves nothing, a fill only writes.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// `numel` elements, read as one type and written as another.
constexpr traffic moved(bool valid, std::int64_t numel, dtype from, dtype to) noexcept {
  if (!sensible(valid)) return invalid_traffic;
  return {.read = bytes_for(numel, from), .written = bytes_for(numel, to)};
}
constexpr count no_flops(bool valid) noexcept {
  return sensible(valid) ? count{0} : count::invalid();
}

}  // namespace ops::detail

namespace ops {

/// Inputs joined along a dimension. Of more than 16, some may be given as one.
/// FLOPs: 0
/// read: sum(n in inputs: bytes(n, type))
/// written: bytes(sum(n in inputs: n), type)
/// source: PyProf index_slice_join_mutate.py
struct Concat {
  fixed_list<extent, 16> inputs{};  ///< elements of each
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
  constexpr void brief(brief_text& out) const {
    std::size_t used = inputs.size();
    while (used > 1 && inputs[used - 1] == 0) --used;
    for (std::size_t i = 0; i < used; ++i) out.put(i == 0 ? "" : " + ").put(inputs[i]);
  }
};

/// A copy of a part of a tensor: of what lies outside nothing is read.
/// like: Copy
struct Slice {
  extent numel = 1;  ///< of the result
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

/// A copy with the same elements; PyTorch's contiguous, clone and copy_.
/// FLOPs: 0
/// read: bytes(numel, type)
/// written: bytes(numel, type)
/// source: PyProf misc.py
struct Copy {
  extent numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

/// y[N,M] = x[M,N], `batch` times; it really moves the elements.
/// FLOPs: 0
/// read: bytes(batch M N, type)
/// written: bytes(batch M N, type)
/// source: ParRes Kernels, SERIAL
/// others: ParRes Kernels, Cxx11, counts 4 M N elements, not 2
struct Transpose {
  extent M = 1, N = 1;  ///< rows of x; columns of x
  extent batch = 1;     ///< matrices
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(M, N, batch) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(count{batch} * M * N, type);
    return {.read = x, .written = x};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, M, N);
    detail::axes(out, "batch ", 1, batch);
  }
};

/// Dimensions in another order, NCHW to NHWC among them; it really moves the elements.
/// like: Copy
struct Permute {
  extent numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, type, type); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

/// Another element type; Convert is the same.
/// FLOPs: 0
/// read: bytes(numel, dtypeIn)
/// written: bytes(numel, dtypeOut)
/// source: PyProf convert.py
struct Cast {
  extent numel = 1;
  dtype dtypeIn = dtype::f32, dtypeOut = dtype::f32;  ///< of what is read; of what is written

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::known(dtypeIn, dtypeOut);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtypeIn); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const { return detail::moved(valid(), numel, dtypeIn, dtypeOut); }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(numel).item(""), "dtypeIn", dtypeIn);
    detail::name_in(out.to(""), "dtypeOut", dtypeOut);
  }
};
using Convert = Cast;

/// Another shape of the same elements: nothing moves. Where it does, it is a Copy.
/// FLOPs: 0
/// read: 0
/// written: 0
/// source: PyProf index_slice_join_mutate.py
struct Reshape {
  extent numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{} : detail::invalid_traffic;
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

/// A tensor of one value: PyTorch's zeros, ones, full and fill_.
/// FLOPs: 0
/// read: 0
/// written: bytes(numel, type)
/// source: PyProf memory.py
struct Fill {
  extent numel = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(numel) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = 0, .written = bytes_for(numel, type)};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

/// Bytes copied.
/// FLOPs: 0
/// read: size
/// written: size
/// source: Copy's
struct Memcpy {
  extent size = 1;  ///< in bytes

  constexpr bool valid() const { return detail::not_negative(size); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtype::uint8); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    return detail::moved(valid(), size, dtype::uint8, dtype::uint8);
  }
  constexpr void brief(brief_text& out) const { detail::memory(out, size); }
};

/// Bytes set.
/// FLOPs: 0
/// read: 0
/// written: size
/// source: Fill's
struct Memset {
  extent size = 1;  ///< in bytes

  constexpr bool valid() const { return detail::not_negative(size); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtype::uint8); }
  constexpr count flops() const { return detail::no_flops(valid()); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = 0, .written = size};
  }
  constexpr void brief(brief_text& out) const { detail::memory(out, size); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
