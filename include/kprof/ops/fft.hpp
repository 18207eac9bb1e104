// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_FFT_HPP
#define KPROF_OPS_FFT_HPP

// Fourier transforms of one to three dimensions: 5 N log2 N FLOPs, N the product of all lengths,
// and half of that where one side is real, by convention of FFTW's benchfft, whatever algorithm
// runs. Of lengths that are no power of two the nearest integer, from a logarithm with an error
// below 2^-95: wrong by one at the most, and only where the result is next to a half.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>
#include <kprof/ops/shape.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// high 2^64 + low.
struct fft_wide {
  std::uint64_t high = 0, low = 0;
};
constexpr fft_wide fft_sum(fft_wide a, fft_wide b) noexcept {
  const std::uint64_t low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}
constexpr fft_wide fft_product(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t half = 0xFFFF'FFFF;
  const std::uint64_t al = a & half, ah = a >> 32, bl = b & half, bh = b >> 32;
  const std::uint64_t middle = (al * bl >> 32) + (al * bh & half) + (ah * bl & half);
  return {ah * bh + (al * bh >> 32) + (ah * bl >> 32) + (middle >> 32), a * b};
}

/// whole + fraction / 2^128.
struct fft_real {
  std::uint64_t whole = 0;
  fft_wide fraction;
};
/// log2 of n >= 1. Each squaring of the mantissa, which is held in 128 bits as a number from 1 to
/// 2, yields one bit; 96 of them. What a squaring rounds away weighs half as much in each that
/// follows. Exact for powers of two.
constexpr fft_real fft_log2(std::uint64_t n) noexcept {
  fft_real log;
  while (n >> log.whole > 1) ++log.whole;
  fft_wide m{n << (63 - log.whole), 0};
  if (m.high << 1 == 0) return log;
  for (unsigned bit = 0; bit < 96; ++bit) {
    const fft_wide cross = fft_product(m.high, m.low);
    // in units of 2^-126
    m = fft_sum(fft_product(m.high, m.high), {cross.high >> 63, cross.high << 1 | cross.low >> 63});
    if (m.high >> 63 != 0) {
      (bit < 64 ? log.fraction.high : log.fraction.low) |= std::uint64_t{1} << (63 - bit % 64);
    } else {
      m = {m.high << 1 | m.low >> 63, m.low << 1};
    }
  }
  return log;
}
constexpr fft_real fft_fivefold(fft_real x) noexcept {
  const fft_wide low = fft_product(x.fraction.low, 5), high = fft_product(x.fraction.high, 5);
  const fft_wide carried = fft_sum(high, {0, low.high});
  return {5 * x.whole + carried.high, {carried.low, low.low}};
}
constexpr fft_real fft_half(fft_real x) noexcept {
  return {x.whole >> 1,
          {x.fraction.high >> 1 | x.whole << 63, x.fraction.low >> 1 | x.fraction.high << 63}};
}
/// The integer nearest to n x.
constexpr count fft_times(count n, fft_real x) noexcept {
  if (!n.valid()) return n;
  const fft_wide part = fft_sum(fft_product(n.value(), x.fraction.high),
                                {0, fft_product(n.value(), x.fraction.low).high});
  return n * x.whole + part.high + (part.low >> 63);
}

}  // namespace ops::detail

namespace ops {

/// c2c: complex to complex; r2c: real to the half of the spectrum that is not redundant; c2r: back
/// from there.
enum class fft_kind : std::uint8_t { c2c, r2c, c2r };

/// `batch` transforms of one length, or of two or three that are given slowest first; the last is
/// the one that r2c and c2r cut to n / 2 + 1 complex numbers. Forward and inverse count the same,
/// in place as well.
///     KPROF_OP(kprof::ops::Fft, {.n = {64, 64}, .batch = 16, .type = f64});
/// FLOPs(c2c): round(5 N log2(N) batch)
/// FLOPs(r2c, c2r): round(5 N log2(N) batch / 2)
/// read(c2c): bytes(2 N batch, type)
/// read(r2c): bytes(N batch, type)
/// read(c2r): bytes(2 half batch, type)
/// written(c2c): bytes(2 N batch, type)
/// written(r2c): bytes(2 half batch, type)
/// written(c2r): bytes(N batch, type)
/// where: N = prod(n)
/// where: half = N (floor(last(n) / 2) + 1) / last(n)
/// source: FFTW's benchfft, libbench/mflops.c
/// others: XLA counts 8 N times the product of floor(log2) of each length: 1.6 times this for one
///   power of two, 34 times for 256^3
struct Fft {
  size_list<std::int64_t, 3> n{1};  ///< lengths, slowest first
  extent batch = 1;                 ///< transforms
  fft_kind kind = fft_kind::c2c;    ///< c2c: complex to complex; r2c: real to half of the spectrum;
                                    ///< c2r: back from there
  bool inverse = false;             ///< of c2c; of no consequence for the counts
  dtype type = dtype::f32;          ///< of real numbers and of each component of complex ones

  constexpr bool valid() const {
    if (!n.valid()) return false;
    for (std::size_t d = 0; d < n.rank(); ++d)
      if (n[d] == 0) return false;
    return detail::not_negative(batch) && kind <= fft_kind::c2r && detail::floating(type);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const count length = outer() * last();
    if (!length.valid()) return length;
    const detail::fft_real five_logs = detail::fft_fivefold(detail::fft_log2(length.value()));
    return detail::fft_times(length * batch,
                             kind == fft_kind::c2c ? five_logs : detail::fft_half(five_logs));
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count rows = outer() * batch;
    const count spectrum =
        bytes_for(rows * (kind == fft_kind::c2c ? last() : last() / 2 + 1) * 2, type);
    const count real = bytes_for(rows * last(), type);
    return {.read = kind == fft_kind::r2c ? real : spectrum,
            .written = kind == fft_kind::c2r ? real : spectrum};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(detail::sizes_in(out, n).item(""), "kind", kind);
    detail::flag(out, inverse, "inverse");
    detail::axes(out, "batch ", 1, batch);
  }

 private:
  constexpr std::int64_t last() const { return n[n.rank() - 1]; }
  /// Product of the lengths before the last.
  constexpr count outer() const {
    count product = 1;
    for (std::size_t d = 0; d + 1 < n.rank(); ++d) product *= n[d];
    return product;
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
