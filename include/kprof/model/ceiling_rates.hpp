// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_CEILING_RATES_HPP
#define KPROF_MODEL_CEILING_RATES_HPP

// Which of a machine's ceilings holds for threads and types. Included by roofline.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/profile/ceilings.hpp>

#include <algorithm>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Why no ceilings are known where somebody wanted it so.
inline constexpr std::string_view ceilings_turned_off = "they are turned off (ceilings=off)";

/// The highest rate of so many threads; 0: not known.
inline double rate_of(const rate_ceiling& r, double threads, double all_threads) noexcept {
  if (threads <= 1 || r.all_threads <= 0) return r.one_thread * std::max(1.0, threads);
  if (threads >= all_threads) return std::max(r.all_threads, r.one_thread);
  return std::max(r.one_thread, std::min(r.all_threads, threads * r.one_thread));
}

/// The type whose ceiling holds for a type: complex numbers are computed in their components.
constexpr dtype computed_in(dtype type) noexcept {
  switch (type) {
    case dtype::c64: return dtype::f32;
    case dtype::c128: return dtype::f64;
    case dtype::uint8: return dtype::int8;
    case dtype::uint4: return dtype::int4;
    default: return type;
  }
}

/// Whether any rate of the machine is known.
inline bool has_ceilings(const machine_ceilings& m) noexcept {
  const auto says = [](const gpu_ceilings& g) {
    return !g.arithmetic.empty() || g.memory_bytes > 0;
  };
  return !m.cpu.arithmetic.empty() || !m.cpu.memory.empty() ||
         std::any_of(m.gpus.begin(), m.gpus.end(), says);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
