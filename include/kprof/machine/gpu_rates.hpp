// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_GPU_RATES_HPP
#define KPROF_MACHINE_GPU_RATES_HPP

// What a multiprocessor of each NVIDIA architecture does in a clock. Included by gpu_ceilings.hpp.
// Compile time only.
//
// Documents behind the entries: CUDA C++ Programming Guide 12 and 13, tables of arithmetic
// instructions and of compute capabilities; the Best Practices Guide 13; the white papers of V100,
// Turing, A100, GA102, Ada, H100 and RTX Blackwell; the data sheets of the cards that
// tests/unit/gpu_ceilings.test.cpp compares. Code of NVIDIA: cudnn-frontend
// (_FLOPS_PER_CLOCK_PER_SM), aiconfigurator (systems/*.yaml). Measurements: clpeak (RTX 5060),
// OpenCL-Benchmark (B200, B300), gau-nernst and mredenti (RTX 4090, GH200).

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Where an entry comes from, the most trusted first.
enum class rate_source : std::uint8_t {
  none,       // the architecture cannot do it, or nobody knows
  vendor,     // a document, header or program of NVIDIA
  measured,   // by others, in a log that can be read
  derived,    // from the published figure of a card, which it meets within 1 %
  statement,  // in a forum or an encyclopedia, or common knowledge
};

/// Operations of one multiprocessor in one clock. A multiplication and an addition are two.
struct gpu_rate {
  std::int32_t per_clock = 0;  // 0: it cannot do that; below 0: not known
  rate_source source = rate_source::none;
  bool is_halved = false;  // on GeForce cards

  constexpr gpu_rate halved() const { return {per_clock, source, true}; }
};

struct gpu_architecture {
  std::uint32_t compute = 0;  // major * 10 + minor
  // Of the CUDA cores:
  gpu_rate f64{}, f32{}, f16{}, bf16{}, int32{}, int8{};
  // Of the tensor cores, with dense operands; f16 and fp8 by what they add into:
  gpu_rate tensor_f64{}, tf32{}, f16_in_f16{}, f16_in_f32{}, tensor_bf16{};
  gpu_rate fp8_in_f16{}, fp8_in_f32{}, fp6{}, fp4{};
  gpu_rate tensor_int8{}, tensor_int4{};
  std::int32_t sparse_factor = 1;     // of tf32 and narrower types, 2 of 4 operands zero
  std::int32_t shared_bytes = -1;     // of shared memory, a clock and multiprocessor
  std::int32_t l2_bytes_of_gpu = -1;  // a clock, of the whole GPU
  std::int32_t lanes = 0;             // that compute f32
};

namespace gpu_rates {

consteval gpu_rate vendor(std::int32_t rate) { return {rate, rate_source::vendor}; }
consteval gpu_rate measured(std::int32_t rate) { return {rate, rate_source::measured}; }
consteval gpu_rate derived(std::int32_t rate) { return {rate, rate_source::derived}; }
consteval gpu_rate stated(std::int32_t rate) { return {rate, rate_source::statement}; }
inline constexpr gpu_rate not_known{-1, rate_source::none};

// clang-format off
inline constexpr gpu_architecture architectures[] = {
    {.compute = 70,
     .f64 = vendor(64), .f32 = vendor(128), .f16 = vendor(256), .int32 = vendor(128),
     .int8 = stated(512),
     .f16_in_f16 = vendor(1024), .f16_in_f32 = vendor(1024),
     .shared_bytes = 128, .l2_bytes_of_gpu = 2048, .lanes = 64},
    {.compute = 72,
     .f64 = stated(64), .f32 = vendor(128), .f16 = vendor(256), .int32 = vendor(128),
     .int8 = not_known,
     .f16_in_f16 = stated(1024), .f16_in_f32 = stated(1024), .tensor_int8 = stated(2048),
     .shared_bytes = 128, .lanes = 64},
    {.compute = 75,
     .f64 = vendor(4), .f32 = vendor(128), .f16 = vendor(256), .int32 = vendor(128),
     .int8 = stated(512),
     .f16_in_f16 = vendor(1024), .f16_in_f32 = vendor(1024).halved(),
     .tensor_int8 = vendor(2048), .tensor_int4 = vendor(4096),
     .shared_bytes = 64, .lanes = 64},
    {.compute = 80,
     .f64 = vendor(64), .f32 = vendor(128), .f16 = vendor(512), .bf16 = vendor(256),
     .int32 = vendor(128), .int8 = not_known,
     .tensor_f64 = vendor(128), .tf32 = vendor(1024),
     .f16_in_f16 = vendor(2048), .f16_in_f32 = vendor(2048), .tensor_bf16 = vendor(2048),
     .tensor_int8 = vendor(4096), .tensor_int4 = vendor(8192),
     .sparse_factor = 2, .shared_bytes = 128, .l2_bytes_of_gpu = 5120, .lanes = 64},
    {.compute = 86,
     .f64 = vendor(4), .f32 = vendor(256), .f16 = vendor(256), .bf16 = vendor(256),
     .int32 = vendor(128), .int8 = not_known,
     .tf32 = vendor(512).halved(),
     .f16_in_f16 = vendor(1024), .f16_in_f32 = vendor(1024).halved(),
     .tensor_bf16 = vendor(1024).halved(),
     .tensor_int8 = vendor(2048), .tensor_int4 = vendor(4096),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 87,
     .f64 = vendor(4), .f32 = vendor(256), .f16 = measured(512), .bf16 = not_known,
     .int32 = measured(128), .int8 = not_known,
     .tf32 = derived(1024),
     .f16_in_f16 = derived(2048), .f16_in_f32 = derived(2048), .tensor_bf16 = derived(2048),
     .tensor_int8 = derived(4096), .tensor_int4 = not_known,
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 89,
     .f64 = vendor(4), .f32 = vendor(256), .f16 = vendor(256), .bf16 = vendor(256),
     .int32 = vendor(128), .int8 = measured(512),
     .tf32 = vendor(512).halved(),
     .f16_in_f16 = vendor(1024), .f16_in_f32 = vendor(1024).halved(),
     .tensor_bf16 = vendor(1024).halved(),
     .fp8_in_f16 = vendor(2048), .fp8_in_f32 = vendor(2048).halved(),
     .tensor_int8 = vendor(2048), .tensor_int4 = vendor(4096),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 90,
     .f64 = vendor(128), .f32 = vendor(256), .f16 = vendor(512), .bf16 = vendor(512),
     .int32 = vendor(128), .int8 = not_known,
     .tensor_f64 = vendor(256), .tf32 = vendor(2048),
     .f16_in_f16 = vendor(4096), .f16_in_f32 = vendor(4096), .tensor_bf16 = vendor(4096),
     .fp8_in_f16 = vendor(8192), .fp8_in_f32 = vendor(8192),
     .tensor_int8 = vendor(8192),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 100,
     .f64 = vendor(128), .f32 = vendor(256), .f16 = measured(256), .bf16 = not_known,
     .int32 = measured(128), .int8 = measured(512),
     .tensor_f64 = vendor(128), .tf32 = vendor(4096),
     .f16_in_f16 = vendor(8192), .f16_in_f32 = vendor(8192), .tensor_bf16 = vendor(8192),
     .fp8_in_f16 = vendor(16384), .fp8_in_f32 = vendor(16384), .fp6 = vendor(16384),
     .fp4 = vendor(32768), .tensor_int8 = vendor(16384),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 103,
     .f64 = vendor(4), .f32 = measured(256), .f16 = measured(256), .bf16 = not_known,
     .int32 = measured(128), .int8 = measured(512),
     .tf32 = derived(4096),
     .f16_in_f16 = vendor(8192), .f16_in_f32 = vendor(8192), .tensor_bf16 = vendor(8192),
     .fp8_in_f16 = vendor(16384), .fp8_in_f32 = vendor(16384), .fp6 = vendor(16384),
     .fp4 = derived(49152), .tensor_int8 = derived(512),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 110,
     .f64 = vendor(4), .f32 = derived(256), .f16 = not_known, .bf16 = not_known,
     .int32 = not_known, .int8 = not_known,
     .tf32 = not_known,
     .f16_in_f16 = derived(8192), .f16_in_f32 = derived(8192), .tensor_bf16 = derived(8192),
     .fp8_in_f16 = derived(16384), .fp8_in_f32 = derived(16384), .fp6 = not_known,
     .fp4 = derived(32768), .tensor_int8 = stated(16384),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 120,
     .f64 = vendor(4), .f32 = vendor(256), .f16 = vendor(256), .bf16 = vendor(256),
     .int32 = vendor(128), .int8 = measured(512),
     .tf32 = vendor(512).halved(),
     .f16_in_f16 = vendor(1024), .f16_in_f32 = vendor(1024).halved(),
     .tensor_bf16 = vendor(1024).halved(),
     .fp8_in_f16 = vendor(2048), .fp8_in_f32 = vendor(2048).halved(), .fp6 = measured(2048),
     .fp4 = vendor(4096), .tensor_int8 = vendor(2048),
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
    {.compute = 121,
     .f64 = vendor(4), .f32 = derived(256), .f16 = not_known, .bf16 = not_known,
     .int32 = not_known, .int8 = not_known,
     .tf32 = not_known,
     .f16_in_f16 = derived(1024), .f16_in_f32 = measured(1024), .tensor_bf16 = measured(1024),
     .fp8_in_f16 = derived(2048), .fp8_in_f32 = measured(2048), .fp6 = not_known,
     .fp4 = derived(4096), .tensor_int8 = not_known,
     .sparse_factor = 2, .shared_bytes = 128, .lanes = 128},
};
// clang-format on

}  // namespace gpu_rates

/// Null where nothing is known: never the entry of a neighbour.
constexpr const gpu_architecture* find_architecture(std::uint32_t compute_major,
                                                    std::uint32_t compute_minor) {
  std::uint32_t compute = compute_major * 10 + compute_minor;
  if (compute == 101) compute = 110;  // the name that it had before
  for (const gpu_architecture& a : gpu_rates::architectures)
    if (a.compute == compute && compute_minor < 10) return &a;
  return nullptr;
}

/// A card whose tensor cores, or whose f64 units, run at less than the attributes of its device and
/// its architecture give.
struct gpu_card {
  const char* name;        // the words after "NVIDIA " that its name begins with
  double tensor_clock;     // by the highest clock; the published figures are of this clock
  double tensor_part = 1;  // of its tensor cores that are enabled
  double f64_part = 1;
};

// Longer names before those that they begin with. Sources: data sheets, by division; H20 and H800:
// their data sheets against H100's.
inline constexpr gpu_card gpu_cards[] = {
    {"H100 PCIe", 0.923},
    {"H100 NVL", 0.866},
    {"H200 NVL", 0.866},
    {"H100", 0.924},
    {"H200", 0.924},
    {"GH200", 0.924},
    {"H800", 0.924, 1, 1. / 32},
    {"H20", 0.936, 0.25, 1. / 20},
    {"GB200", 0.974},
    {"B200", 0.944},
    {"GB300", 0.974},
    {"B300", 0.913},
};

}  // namespace detail
KPROF_DETAIL_END

#endif
