// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_SHAPES_HPP
#define KPROF_MODEL_ADVICE_SHAPES_HPP

// Rules of advice about products of matrices and convolutions on GPUs: their sizes, tiles, types
// and arithmetic units. Included by catalogue.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/kernels.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// No sizes where the row is no such operator.
[[gnu::cold]] inline product_shape shape_of(const profile& p, const operator_row& row) {
  const bool has_parameters = row.node < p.nodes.size() && row.variants == 1 && !row.merged;
  return has_parameters ? shape_of(p, p.nodes[row.node]) : product_shape{};
}

inline bool is_narrow(dtype type) noexcept {
  return type == dtype::f16 || type == dtype::bf16 || type == dtype::fp8_e4m3 ||
         type == dtype::fp8_e5m2 || type == dtype::int8 || type == dtype::uint8;
}

/// A size becomes a multiple of so many elements of 16 bytes together.
inline std::int64_t elements_of_16_bytes(dtype type) noexcept {
  return 128 / static_cast<std::int64_t>(std::max(1U, bits_of(type)));
}

/// What the work grows by when sizes are padded; 1: all are multiples.
[[gnu::cold]] inline double padding_of(const product_shape& shape, dtype type) noexcept {
  const std::int64_t a = elements_of_16_bytes(type);
  double grows = 1;
  for (const product_shape::size& s : shape.sizes)
    if (s.field != nullptr && s.value % a != 0)
      grows *= (static_cast<double>(s.value / a) + 1) * static_cast<double>(a) /
               static_cast<double>(s.value);
  return grows;
}

/// The least time of a row on a device that computes at this rate; its bytes take theirs.
[[gnu::cold]] inline double least_time_at(const operator_row& row, const gpu_ceilings& gpu,
                                          double rate) noexcept {
  const double compute = row.flops.known() ? row.flops.value / rate : 0;
  const bool moves = row.bytes.known() && gpu.memory_bytes > 0;
  return std::max(compute, moves ? row.bytes.value / gpu.memory_bytes : 0.0);
}

/// The same parameters in another type, where the operator has a field for it: `type` or, of the
/// operands of a product, `dtypeA`. `behind`: what the trial's name ends with.
[[gnu::cold]] inline void try_type(const advice_facts& f, const operator_row& row, dtype type,
                                   advice& out, const std::string& behind = {}) {
  if (row.node >= f.run.nodes.size() || row.variants != 1) return;
  for (const char* field : {"type", "dtypeA"}) {
    const parameter_value now = f.run.value(f.run.nodes[row.node], field);
    if (now.kind != parameter_kind::enumeration || now.text != dtype_name(row.type)) continue;
    out.trials.push_back({{field, static_cast<std::int64_t>(type), dtype_name(type) + behind}});
    return;
  }
}

/// The sizes that are no multiple of 16 bytes, as they would be with zeros behind them.
[[gnu::cold]] inline advised_fields padded_sizes(const product_shape& shape, dtype type) {
  const std::int64_t a = elements_of_16_bytes(type);
  advised_fields out;
  for (const product_shape::size& s : shape.sizes)
    if (s.field != nullptr && s.value % a != 0) out.push_back({s.field, (s.value / a + 1) * a});
  return out;
}

/// The operator of a kernel, where it is a product of matrices that nothing else computes.
[[gnu::cold]] inline const operator_row* product_of(const advice_facts& f, const kernel_row& kernel,
                                                    product_shape& shape) {
  const std::uint32_t row = row_of(f, kernel);
  if (row == scope_node::none || kernel.variants != 1) return nullptr;
  shape = shape_of(f.run, f.rows[row]);
  return shape.sizes[0].field != nullptr ? &f.rows[row] : nullptr;
}

namespace advice_rules {

/// G9. A size that is no multiple of 16 bytes.
[[gnu::cold]] inline bool alignment(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  if (!row.on_device || !is_narrow(row.type)) return false;
  const product_shape shape = shape_of(f.run, row);
  const double grows = padding_of(shape, row.type);
  const std::int64_t a = elements_of_16_bytes(row.type);
  if (!(grows > 1)) return false;
  double best = 0;
  for (const operator_row& other : f.rows) {
    if (other.name != row.name || other.type != row.type || !other.flops_per_s.known() ||
        !has_verdict(other))
      continue;
    const product_shape of = shape_of(f.run, other);
    if (of.sizes[0].field != nullptr && padding_of(of, other.type) <= 1)
      best = std::max(best, other.flops_per_s.value);
  }
  if (best > 0 && row.flops.known()) {
    const double padded_ns = row.flops.value * grows / best * 1e9;
    if (padded_ns < time_of(row)) out.gain_ns = time_of(row) - padded_ns;
  }
  std::string unaligned, padded;
  for (const product_shape::size& s : shape.sizes) {
    if (s.field == nullptr || s.value % a == 0) continue;
    unaligned +=
        sentence(unaligned.empty() ? "#=#" : ", #=#", {as_text(s.field), as_number(s.value)});
    padded += sentence(padded.empty() ? "#=#" : ", #=#",
                       {as_text(s.field), as_number((s.value / a + 1) * a)});
  }
  out.trials.push_back(padded_sizes(shape, row.type));
  out.fact = sentence("has #, no multiple of # elements (16 bytes), which tensor cores want",
                      {as_text(unaligned), as_number(a)});
  out.action = "Pad to " + padded;
  return true;
}

/// G10. Tiles reach over the edges of the result.
[[gnu::cold]] inline bool tile_waste(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  product_shape shape;
  if (product_of(f, kernel, shape) == nullptr || !shape.matrix) return false;
  const tile_size tile = tile_in(kernel.kernel);
  if (!(tile.rows > 0)) return false;
  const auto m = static_cast<double>(shape.sizes[0].value),
             n = static_cast<double>(shape.sizes[1].value);
  const double used = best_cover(m, n, tile).share;
  if (used >= 0.85) return false;
  out.gain_ns = kernel.total_ns * (1 - used);
  out.fact = sentence("computes #x# in tiles of #x#: # of that is for nothing",
                      {as_number(m), as_number(n), as_number(tile.rows), as_number(tile.columns),
                       as_share(1 - used)});
  out.action = "Choose sizes that are multiples of the tile, or a kernel of smaller tiles";
  return true;
}

/// G11. Few tiles and long sums.
[[gnu::cold]] inline bool split_k(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  product_shape shape;
  if (product_of(f, kernel, shape) == nullptr || !shape.matrix) return false;
  const kernel_fill fill = fill_of(f.run, kernel);
  if (fill.device == nullptr || !runs_alone(*fill.device) || fill.filled.waves >= 0.5 ||
      !(fill.filled.waves > 0) ||
      shape.sizes[2].value / 8 < std::max(shape.sizes[0].value, shape.sizes[1].value))
    return false;
  out.gain_ns = kernel.total_ns * (1 - fill.filled.waves);
  out.fact = sentence("fills # of the device, and each of its few tiles adds up # products",
                      {as_share(fill.filled.waves), as_number(shape.sizes[2].value)});
  out.action = "Split the sums among blocks: split-K or stream-K";
  return true;
}

/// A product with so few vectors that reading the matrix takes the time, in whatever units.
[[gnu::cold]] inline bool is_matrix_vector(const product_shape& shape) noexcept {
  return shape.matrix && std::min(shape.sizes[0].value, shape.sizes[1].value) <= 8;
}

/// G12. A product with a matrix of few columns reads all of the other.
[[gnu::cold]] inline bool matrix_vector(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  const gpu_ceilings* const gpu = only_gpu(f.run);
  const product_shape shape = shape_of(f.run, row);
  if (!row.on_device || gpu == nullptr || !shape.matrix || !row.flops_per_s.known()) return false;
  const std::int64_t least = std::min(shape.sizes[0].value, shape.sizes[1].value);
  const double peak = std::max(rate_on(*gpu, row.type, arithmetic_unit::tensor_core),
                               rate_on(*gpu, row.type, arithmetic_unit::cuda_core));
  if (!is_matrix_vector(shape) || !(peak > 0) || row.flops_per_s.value >= 0.05 * peak) return false;
  out.fact = sentence("reads a whole matrix for # #",
                      {as_number(least), as_text(least == 1 ? "vector" : "vectors")});
  out.action = "Batch requests, or store the matrix in a smaller type";
  return true;
}

/// G13. A type of tensor cores, computed without them.
[[gnu::cold]] inline bool no_tensor_cores(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const gpu_ceilings* const gpu = only_gpu(f.run);
  product_shape shape;
  const operator_row* const row = product_of(f, kernel, shape);
  if (row == nullptr || gpu == nullptr || kernel.tensor_core != tensor_use::no_declared ||
      !is_narrow(row->type) || !has_verdict(*row) || row->verdict.of_memory)
    return false;
  const double cuda = rate_on(*gpu, row->type, arithmetic_unit::cuda_core),
               tensor = rate_on(*gpu, row->type, arithmetic_unit::tensor_core);
  if (!(cuda > 0) || !(tensor > cuda)) return false;
  out.gain_ns =
      kernel.total_ns * (1 - least_time_at(*row, *gpu, tensor) / least_time_at(*row, *gpu, cuda));
  out.fact = sentence("computes in # without tensor cores", {as_text(dtype_name(row->type))});
  out.action = "Check the alignment of its operands, the algorithm and the math mode";
  if (advised_fields padded = padded_sizes(shape, row->type); !padded.empty())
    out.trials.push_back(std::move(padded));
  return true;
}

/// G14. f32 on CUDA cores, where tf32 would do.
[[gnu::cold]] inline bool tf32(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const gpu_ceilings* const gpu = only_gpu(f.run);
  product_shape shape;
  const operator_row* const row = product_of(f, kernel, shape);
  const bool on_cuda_cores = kernel.tensor_core == tensor_use::no_declared ||
                             (!on_tensor_cores(kernel) && has_word(kernel.kernel, {"sgemm"}));
  if (row == nullptr || gpu == nullptr || row->type != dtype::f32 || !on_cuda_cores ||
      !row->flops_per_s.known() || !has_verdict(*row))
    return false;
  const double f32 = rate_on(*gpu, dtype::f32, arithmetic_unit::cuda_core),
               tf32 = rate_on(*gpu, dtype::tf32, arithmetic_unit::tensor_core);
  if (!(f32 > 0) || !(tf32 > f32) || row->flops_per_s.value < 0.4 * f32) return false;
  out.gain_ns =
      kernel.total_ns * (1 - least_time_at(*row, *gpu, tf32) / least_time_at(*row, *gpu, f32));
  out.fact = sentence("computes in f32 on CUDA cores, at # of their rate",
                      {as_share(row->flops_per_s.value / f32)});
  out.action = "Allow TF32 on tensor cores, if 10 bits of mantissa do";
  try_type(f, *row, dtype::tf32, out);
  return true;
}

/// G15. Much f32 work that tensor cores could do in 16 bits.
[[gnu::cold]] inline bool mixed_precision(const advice_facts& f, std::size_t, advice& out) {
  const gpu_ceilings* const gpu = only_gpu(f.run);
  if (gpu == nullptr || !(f.device_ns > 0)) return false;
  const double narrow = rate_on(*gpu, dtype::f16, arithmetic_unit::tensor_core),
               memory = gpu->memory_bytes;
  if (!(narrow > 0) || !(memory > 0)) return false;
  out.gain_ns = 0;
  const operator_row* longest = nullptr;
  for (const operator_row& row : f.rows) {
    if (row.type == dtype::f16 || row.type == dtype::bf16) return false;
    const product_shape shape = shape_of(f.run, row);
    if (!row.on_device || row.type != dtype::f32 || !has_verdict(row) || !row.flops.known() ||
        !row.bytes.known() || shape.sizes[0].field == nullptr || is_matrix_vector(shape))
      continue;
    const double wide = row.verdict.as_tf32
                            ? rate_on(*gpu, dtype::tf32, arithmetic_unit::tensor_core)
                            : rate_on(*gpu, dtype::f32, arithmetic_unit::cuda_core);
    if (!(wide > 0) || !(narrow > wide)) continue;
    const double ideal32 = std::max(row.flops.value / wide, row.bytes.value / memory),
                 ideal16 = std::max(row.flops.value / narrow, row.bytes.value / 2 / memory);
    out.time_ns += row.device_ns;
    if (ideal32 > 0) out.gain_ns += row.device_ns * (1 - ideal16 / ideal32);
    if (longest == nullptr || row.device_ns > longest->device_ns) longest = &row;
  }
  if (!(out.time_ns > 0) || out.time_ns < 0.3 * f.device_ns) return false;
  out.where = "The run";
  out.fact = sentence("spends # of its device time on f32 products that tensor cores could do",
                      {as_share(out.time_ns / f.device_ns)});
  out.action = "Use mixed precision: f16 or bf16 operands, sums in f32";
  out.node = longest->node;
  const std::string of = " in " + name_of(f, static_cast<std::uint32_t>(longest - f.rows.data()));
  for (const dtype type : {dtype::f16, dtype::bf16}) try_type(f, *longest, type, out, of);
  return true;
}

/// G16. f64 on a GPU that has few units for it.
[[gnu::cold]] inline bool slow_f64(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  const gpu_ceilings* const gpu = only_gpu(f.run);
  if (!row.on_device || gpu == nullptr || row.type != dtype::f64 || !has_verdict(row) ||
      row.verdict.of_memory)
    return false;
  const double f64 = rate_on(*gpu, dtype::f64, arithmetic_unit::cuda_core),
               f32 = rate_on(*gpu, dtype::f32, arithmetic_unit::cuda_core);
  if (!(f64 > 0) || f32 < 31.5 * f64) return false;
  out.gain_ns = time_of(row) * (1 - 2 * f64 / f32);
  out.fact = sentence("computes in f64, which this GPU does at 1/# of its f32 rate",
                      {as_number(f32 / f64 + 0.5)});
  out.action = "Use f32, or two f32 numbers for one f64";
  try_type(f, row, dtype::f32, out);
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
