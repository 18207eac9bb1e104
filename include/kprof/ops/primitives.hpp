// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_PRIMITIVES_HPP
#define KPROF_OPS_PRIMITIVES_HPP

// Data-parallel primitives as CUB, Thrust and RAJA have them, and the kernels of STREAM and
// BabelStream. Comparisons and moves are no FLOPs. Bytes are those of an algorithm that reads its
// input once and keeps the rest on the chip.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Sorts n keys, with a value to each where dtypeValue is given. Both are read and written once;
/// radix_bytes() has the traffic of a radix sort.
/// FLOPs: 0
/// read: bytes(n, type) + bytes(n, dtypeValue)
/// written: bytes(n, type) + bytes(n, dtypeValue)
/// source: CUB's radix_sort benchmarks; RAJAPerf counts no FLOPs either
/// others: XLA counts n ceil(log2(n)) FLOPs
struct Sort {
  extent n = 1;                       ///< keys
  dtype type = dtype::int32;          ///< of keys
  dtype dtypeValue = dtype::unknown;  ///< of values; unknown: there are none

  constexpr bool valid() const {
    return detail::not_negative(n) && detail::known(type) && detail::known_or_left_out(dtypeValue);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count all = bytes_for(n, type) + bytes_for(n, dtypeValue);
    return {.read = all, .written = all};
  }
  /// Traffic of a radix sort from the least significant digit: all of it once for each 8 bits of
  /// the key.
  constexpr traffic radix_bytes() const {
    const count passes = (bits_of(type) + 7) / 8;
    const traffic one = bytes();
    return {.read = one.read * passes, .written = one.written * passes};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Running sums, inclusive or exclusive.
/// FLOPs: add(type) n
/// read: bytes(n, type)
/// written: bytes(n, type)
/// source: RAJAPerf's SCAN, CUB's scan benchmarks
struct Scan {
  extent n = 1;  ///< elements
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::add_flops(type) * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(n, type), .written = bytes_for(n, type)};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Counts n samples into `bins` counters, which are written and not read.
/// FLOPs: n
/// read: bytes(n, type)
/// written: bytes(bins, dtypeCounter)
/// source: CUB's histogram/even.cu benchmark; RAJAPerf for the FLOPs
/// others: RAJAPerf reads the counters as well
struct Histogram {
  extent n = 1;                       ///< samples
  extent bins = 1;                    ///< counters
  dtype type = dtype::int32;          ///< of samples
  dtype dtypeCounter = dtype::int32;  ///< of counters

  constexpr bool valid() const {
    return detail::not_negative(n) && detail::positive(bins) && detail::real(type, dtypeCounter);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtypeCounter); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{n} : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(n, type), .written = bytes_for(bins, dtypeCounter)};
  }
  constexpr void brief(brief_text& out) const {
    out.put(n).to(bins).put(" bins");
    detail::types(out, *this);
  }
};

/// An array reduced to one element, by addition or whatever costs as much. Reduce is that of
/// tensors, along dimensions.
/// FLOPs: add(type) n
/// read: bytes(n, type)
/// written: bytes(1, type)
/// source: RAJAPerf, likwid, PyProf
/// others: XLA counts n - 1
struct ReduceArray {
  extent n = 1;  ///< elements
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::add_flops(type) * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(n, type), .written = bytes_for(1, type)};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// B[n,m] = A[m,n] transposed, in place as well.
/// FLOPs: 0
/// read: bytes(m n, type)
/// written: bytes(m n, type)
/// source: Parallel Research Kernels, SERIAL
/// others: the Cxx11 versions of those count twice as many bytes
struct TransposeMatrix {
  extent m = 1, n = 1;  ///< rows of A; columns of A
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count all = bytes_for(count{m} * n, type);
    return {.read = all, .written = all};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, m, n); }
};

/// copy: c = a; mul: b = s c; add: c = a + b; triad: a = b + s c; dot: sum += a b; nstream: a += b
/// + s c.
enum class stream_kernel : std::uint8_t { copy, mul, add, triad, dot, nstream };

/// One kernel of STREAM or BabelStream over arrays of n elements. What is written is not read
/// first: no write-allocate.
/// FLOPs: (mul(type) muls + add(type) adds) n
/// read: (1 + adds) bytes(n, type)
/// written: [kernel != dot] bytes(n, type)
/// where: muls = [kernel in (mul, triad, dot, nstream)]
/// where: adds = [kernel in (add, triad, dot)] + 2 [kernel = nstream]
/// source: STREAM, BabelStream main.cpp
struct Stream {
  stream_kernel kernel = stream_kernel::triad;  ///< copy c = a, mul b = s c, add c = a + b, triad
                                                ///< a = b + s c, dot sum += a b, nstream a += b +
                                                ///< s c
  extent n = 1;                                 ///< elements of an array
  dtype type = dtype::f64;

  constexpr bool valid() const {
    return detail::not_negative(n) && detail::known(type) && kernel <= stream_kernel::nstream;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const count muls = detail::mul_flops(type) * n, adds = detail::add_flops(type) * n;
    switch (kernel) {
      case stream_kernel::copy: return 0;
      case stream_kernel::mul: return muls;
      case stream_kernel::add: return adds;
      case stream_kernel::nstream: return muls + adds + adds;
      default: return muls + adds;
    }
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count one = bytes_for(n, type);
    switch (kernel) {
      case stream_kernel::copy:
      case stream_kernel::mul: return {.read = one, .written = one};
      case stream_kernel::dot: return {.read = one + one, .written = 0};
      case stream_kernel::nstream: return {.read = one * 3, .written = one};
      default: return {.read = one + one, .written = one};
    }
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(n).item(""), "kernel", kernel);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
