// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_STENCIL_HPP
#define KPROF_OPS_STENCIL_HPP

// One sweep of a stencil over a grid of one to three dimensions, out of place. Points nearer to an
// edge than the radius are read, not computed. Bytes are those of the whole input and of the points
// computed: that a star leaves the outermost corners alone is not subtracted.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>
#include <kprof/ops/shape.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Points of a stencil of radius r in d dimensions. star: those along the axes; box: all of the
/// cube.
enum class stencil_shape : std::uint8_t { star, box };

/// What a point that is computed costs of k points. `weighted`: each has its weight, 2 k - 1 FLOPs.
/// `uniform`: one factor for the sum, k. `parres`: the sum is accumulated in the output and the
/// input incremented, 2 k + 1.
enum class stencil_counting : std::uint8_t { weighted, uniform, parres };

/// Of each point inside, a weighted sum of k points: of itself and its neighbours.
/// FLOPs: (mul(type) muls + add(type) adds) points
/// read: bytes(prod(n), type)
/// written: bytes(points, type)
/// where: k = [shape = star] (2 dims(n) r + 1) + [shape = box] (2 r + 1)^dims(n)
/// where: muls = [counting = uniform] + [counting != uniform] k
/// where: adds = k - 1 + 2 [counting = parres]
/// where: points = prod(n - 2 r)
/// source: uniform: RAJAPerf's Jacobi-2D; parres: Parallel Research Kernels; weighted: the
///   arithmetic itself
/// others: RAJAPerf does not count the corners of the input that a star never reads; its HEAT_3D is
///   15 FLOPs as written
struct Stencil {
  size_list<std::int64_t, 3> n{3};            ///< sizes of the grid
  extent r = 1;                               ///< radius
  stencil_shape shape = stencil_shape::star;  ///< star: the neighbours along the axes; box: all of
                                              ///< the cube
  stencil_counting counting = stencil_counting::weighted;  ///< FLOPs a point: weighted 2 k - 1, a
                                                           ///< weight each; uniform k, one weight;
                                                           ///< parres 2 k + 1
  dtype type = dtype::f32;

  constexpr bool valid() const {
    if (!detail::extents(r) || !n.valid()) return false;
    for (std::size_t d = 0; d < n.rank(); ++d)
      if (n[d] < 2 * r + 1) return false;
    return detail::known(type) && shape <= stencil_shape::box &&
           counting <= stencil_counting::parres;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  /// Points of the stencil.
  constexpr count taps() const {
    if (!detail::sensible(valid())) return count::invalid();
    if (shape == stencil_shape::star) return count{2} * n.rank() * r + 1;
    count product = 1;
    for (std::size_t d = 0; d < n.rank(); ++d) product *= 2 * r + 1;
    return product;
  }
  /// Points of the grid that are computed.
  constexpr count points() const {
    return detail::sensible(valid()) ? inside(2 * r) : count::invalid();
  }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const count k = taps();
    const count mul = detail::mul_flops(type), add = detail::add_flops(type);
    switch (counting) {
      case stencil_counting::uniform: return points() * (mul + add * (k - 1));
      case stencil_counting::parres: return points() * (mul * k + add * (k + 1));
      default: return points() * (mul * k + add * (k - 1));
    }
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(inside(0), type), .written = bytes_for(points(), type)};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(detail::sizes_in(out, n).item(""), "shape", shape);
    detail::axes(out, "r ", 1, r);
    out.beside("counting");
  }

 private:
  constexpr count inside(std::int64_t border) const {
    count product = 1;
    for (std::size_t d = 0; d < n.rank(); ++d) product *= n[d] - border;
    return product;
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
