// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TILES_HPP
#define KPROF_MODEL_TILES_HPP

// The tiles that a product of matrices is computed in, as the names of NVIDIA's kernels say, and
// how much of them is result. Included by kernel_table.hpp and by the rules of advice. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN

/// The tiles that a product of matrices is computed in.
struct kernel_tiles {
  std::uint32_t rows = 0, columns = 0;  ///< of a tile
  /// Of the tiles what is result, 0 to 1. The rest reaches over its edges, and is computed for
  /// nothing.
  figure share{0, absence::no_tile};
};

namespace detail {

/// The sizes of a product by their fields; of a convolution its channels.
struct product_shape {
  struct size {
    const char* field = nullptr;  // null: there is none
    std::int64_t value = 0;
  };
  size sizes[3];        // rows and columns of the result, length of the sums; else channels
  bool matrix = false;  // all three are known
};

/// No sizes where the calls of a node are those of no such operator.
[[gnu::cold]] inline product_shape shape_of(const profile& p, const scope_node& n) {
  static constexpr const char* fields[][4] = {
      // the last tells it from another operator
      {"M", "N", "K", nullptr},
      {"m", "n", "k", nullptr},
      {"tokens", "out_features", "in_features", nullptr},
      {"C", "K", nullptr, "R"},
  };
  const auto number = [&](const char* field) {
    const parameter_value v = p.value(n, field);
    const bool is_number =
        v.kind == parameter_kind::signed_integer || v.kind == parameter_kind::unsigned_integer;
    return is_number ? v.as_signed() : 0;
  };
  for (const auto& names : fields) {
    product_shape shape;
    bool all = names[3] == nullptr || number(names[3]) > 0;
    for (int k = 0; k < 3 && names[k] != nullptr; ++k) {
      shape.sizes[k] = {names[k], number(names[k])};
      all = all && shape.sizes[k].value > 0;
    }
    if (!all) continue;
    shape.matrix = names[2] != nullptr;
    // The gradients multiply other sides of the same matrices.
    if (names[0] == fields[2][0] && n.work.pass == pass_kind::dgrad)
      std::swap(shape.sizes[1], shape.sizes[2]);
    if (names[0] == fields[2][0] && n.work.pass == pass_kind::wgrad)
      std::swap(shape.sizes[0], shape.sizes[2]);
    return shape;
  }
  return {};
}

/// Rows and columns of a tile; 0 where they are not known.
struct tile_size {
  double rows = 0, columns = 0;
};

/// Reads "128x64" or "2x1x1" at `at`, which is then behind it: how many numbers, two or three.
[[gnu::cold]] inline int read_extents(std::string_view name, std::size_t& at,
                                      double (&out)[3]) noexcept {
  const auto is_digit = [&](std::size_t i) {
    return i < name.size() && name[i] >= '0' && name[i] <= '9';
  };
  for (int count = 0; count < 3; ++count) {
    if (count > 0) {
      if (at >= name.size() || name[at] != 'x' || !is_digit(at + 1)) return count;
      ++at;
    }
    out[count] = 0;
    for (; is_digit(at) && out[count] < 1e4; ++at) out[count] = out[count] * 10 + (name[at] - '0');
  }
  return 3;
}

/// The tile in the name of a kernel of cuBLAS, cuDNN or CUTLASS: the first "128x64". Where blocks
/// of CUTLASS 3 work in clusters, the tile of the cluster: on Hopper the name has that of a block
/// and the cluster behind it, "128x128x64_2x1x1"; later names have the cluster's.
[[gnu::cold]] inline tile_size tile_in(std::string_view name) noexcept {
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] < '0' || name[at] > '9') continue;
    double tile[3], cluster[3];
    const int count = read_extents(name, at, tile);
    const std::string_view rest = name.substr(std::min(at, name.size()));
    // Instructions have shapes too: of 16 or less, or "64x128x16gemm". A tile is larger.
    if (count < 2 || tile[0] < 32 || tile[1] < 32 || tile[0] > 1024 || tile[1] > 1024 ||
        (count == 3 && rest.starts_with("gemm")))
      continue;
    std::size_t behind = 1;
    if (count == 3 && name.find("cutlass3x_sm90") != name.npos && rest.starts_with("_") &&
        read_extents(rest, behind, cluster) == 3 && cluster[0] >= 1 && cluster[0] <= 16 &&
        cluster[1] >= 1 && cluster[1] <= 16)
      return {tile[0] * cluster[0], tile[1] * cluster[1]};
    return {tile[0], tile[1]};
  }
  return {};
}

/// How many tiles a result takes, and the share of them that is result.
struct tile_cover {
  double tiles = 0, share = 0;
};
[[gnu::cold]] inline tile_cover covered_by(double height, double width,
                                           const tile_size& tile) noexcept {
  const double tiles = std::ceil(height / tile.rows) * std::ceil(width / tile.columns);
  return {tiles, height * width / (tiles * tile.rows * tile.columns)};
}

/// The same where nothing says which side of the tile lies along which side of the result: the
/// better of the two.
[[gnu::cold]] inline tile_cover best_cover(double height, double width,
                                           const tile_size& tile) noexcept {
  const tile_cover along = covered_by(height, width, tile),
                   across = covered_by(width, height, tile);
  return along.share >= across.share ? along : across;
}

/// Of a kernel that calls of a node launch.
[[gnu::cold]] inline kernel_tiles tiles_of(const profile& p, const scope_node& n,
                                           std::string_view kernel) {
  const tile_size tile = tile_in(kernel);
  const product_shape shape = tile.rows > 0 ? shape_of(p, n) : product_shape{};
  if (!shape.matrix) return {};
  const auto height = static_cast<double>(shape.sizes[0].value),
             width = static_cast<double>(shape.sizes[1].value);
  return {static_cast<std::uint32_t>(tile.rows),
          static_cast<std::uint32_t>(tile.columns),
          {best_cover(height, width, tile).share}};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
