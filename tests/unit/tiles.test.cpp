// SPDX-License-Identifier: MIT

// Tiles of products of matrices: read from the names of kernels, and how much of them is result.

#include "catch.hpp"

#include "device_builder.hpp"

#include <kprof/ceilings.hpp>
#include <kprof/tables.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace kprof::detail;
using kprof_test::device_builder;

namespace {

/// "128x64"; empty where there is none.
std::string tile_text(const char* kernel) {
  const tile_size tile = tile_in(kernel);
  if (!(tile.rows > 0)) return {};
  return std::to_string(static_cast<int>(tile.rows)) + 'x' +
         std::to_string(static_cast<int>(tile.columns));
}

/// How often so many tiles fill a device, one a multiprocessor at a time.
double waves_of(double tiles, std::uint32_t multiprocessors) {
  kprof::device_info d;
  d.described = true;
  d.compute_major = 8;
  d.multiprocessors = multiprocessors;
  const kprof::kernel_occupancy found = occupancy_of(d, {1024, 64, 0}, tiles);
  REQUIRE(found.blocks == 1);
  return found.waves;
}

}  // namespace

TEST_CASE("tiles.the_share_of_the_tiles_that_is_result") {
  struct example {
    double rows, columns;
    tile_size tile;
    std::uint32_t multiprocessors;
    double tiles, share, waves;
  };
  for (const example& e : {example{1792, 1792, {256, 128}, 108, 98, 1, 0.9074},
                           example{1793, 1793, {256, 128}, 108, 120, 0.8176, 1.1111},
                           example{257, 256, {128, 128}, 108, 6, 0.6693, 0.0556},
                           example{8192, 8192, {128, 256}, 132, 2048, 1, 15.515}}) {
    INFO(e.rows);
    const tile_cover found = covered_by(e.rows, e.columns, e.tile);
    CHECK(found.tiles == e.tiles);
    CHECK(found.share == Approx(e.share).epsilon(0.0001));
    CHECK(waves_of(found.tiles, e.multiprocessors) == Approx(e.waves).epsilon(0.001));
  }
  // One more row costs half the speed.
  const double waves = waves_of(120, 108), full = waves / std::ceil(waves);
  CHECK(full == Approx(0.5556).epsilon(0.0001));
  CHECK(covered_by(1793, 1793, {256, 128}).share * full == Approx(0.4542).epsilon(0.0001));
  const double many = waves_of(2048, 132);
  CHECK(many / std::ceil(many) == Approx(0.9697).epsilon(0.0001));
  // The tile may lie the other way.
  CHECK(best_cover(64, 256, {256, 64}).share == 1);
  CHECK(best_cover(64, 256, {64, 256}).share == 1);
}

TEST_CASE("tiles.are_read_from_the_names_of_nvidias_kernels") {
  CHECK(tile_text("ampere_sgemm_128x64_tn") == "128x64");
  CHECK(tile_text("volta_fp16_s884gemm_fp16_128x256_ldg8_f2f_stages_32x1_nn") == "128x256");
  CHECK(tile_text("ampere_h16816gemm_256x128_ldg8_stages_64x3_tn") == "256x128");
  CHECK(tile_text("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8") ==
        "256x128");
  CHECK(tile_text("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x96x32_stage4_warpsize2x2x1_"
                  "tensor16x8x16_kernel") == "128x96");
  CHECK(tile_text("sm86_xmma_fprop_implicit_gemm_tile128x128") == "128x128");
  CHECK(tile_text("nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN") == "128x256");
  // CUTLASS 3: the instruction comes first. On Hopper the cluster's blocks have a tile each.
  CHECK(tile_text("cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_"
                  "tnn_align8_warpspecialized_cooperative_epi_tma") == "256x128");
  CHECK(tile_text("cutlass3x_sm90_tensorop_s64x256x16gemm_bf16_bf16_f32_bf16_bf16_128x256x64_1x1x1_"
                  "0_ttn_align8_warpspecialized_pingpong_epi_tma") == "128x256");
  // Later the name has the tile of the cluster; "2sm": of two multiprocessors.
  CHECK(tile_text("cutlass3x_sm100_tensorop_s256x256x16gemm_f16_f16_f32_void_f16_512x256x64_4x1x1_"
                  "0_tnn_align8_2sm_epi_tma") == "512x256");
  CHECK(tile_text("cutlass3x_sm100_tensorop_s128x64x16gemm_f16_f16_f32_void_f16_128x64x64_1x1x1_0_"
                  "tnn_align8_1sm_epi_tma") == "128x64");
  // No tiles.
  for (const char* name :
       {"", "gemm_m16x8", "gemm_16x16", "softmax_32", "x64x", "64x", "scan_2048x1",
        "cutlass3x_sm90_tensorop_s64x128x16gemm", "conv_99999999999x64"})
    CHECK(tile_text(name).empty());
}

TEST_CASE("tiles.a_kernel_s_row_has_the_share_of_its_tiles") {
  const auto row_of = [](const std::string& parameters, const char* kernel) {
    device_builder b;
    const auto op = b.op(b.thread("main", 1), "Gemm", parameters);
    b.calls(op, 1, 1000).work(op, 1, 1, 1);
    b.kernel(op, kernel, 1, 1000);
    const std::vector<kprof::kernel_row> rows = kprof::kernel_table(b.done());
    REQUIRE(rows.size() == 1);
    return rows[0];
  };
  const kprof::kernel_row row = row_of("M=257 N=256 K=64", "ampere_sgemm_128x128_nn");
  CHECK(row.tiles.share.value == Approx(0.6693).epsilon(1e-4));
  CHECK(row.tiles.rows == 128);
  CHECK(row.tiles.columns == 128);
  CHECK(row_of("M=257 N=256 K=64", "gemm").tiles.share.why == kprof::absence::no_tile);
  CHECK(row_of("n=257", "ampere_sgemm_128x128_nn").tiles.share.why == kprof::absence::no_tile);
}
