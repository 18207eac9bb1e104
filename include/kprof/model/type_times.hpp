// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TYPE_TIMES_HPP
#define KPROF_MODEL_TYPE_TIMES_HPP

// How much of the operators' time is with numbers of which type. Included by
// report/text/type_line.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What processors have arithmetic of its own speed for.
enum class number_class : std::uint8_t { f64, f32, tf32, bits_16, bits_8, less, integer, unknown };
inline constexpr std::size_t number_classes = 8;

constexpr const char* number_class_name(number_class c) noexcept {
  constexpr const char* names[] = {"f64",   "f32",         "tf32",    "16 bit",
                                   "8 bit", "4 and 6 bit", "integer", "unknown type"};
  return names[static_cast<std::size_t>(c)];
}

constexpr number_class class_of(dtype type) noexcept {
  switch (type) {
    case dtype::unknown: return number_class::unknown;
    case dtype::f64:
    case dtype::c128: return number_class::f64;
    case dtype::f32:
    case dtype::c64: return number_class::f32;
    case dtype::tf32: return number_class::tf32;
    case dtype::f16:
    case dtype::bf16: return number_class::bits_16;
    case dtype::fp8_e4m3:
    case dtype::fp8_e5m2: return number_class::bits_8;
    case dtype::fp6_e2m3:
    case dtype::fp6_e3m2:
    case dtype::fp4_e2m1: return number_class::less;
    default: return number_class::integer;
  }
}

/// Nanoseconds of the operators by number_class: on the devices, or on the host. f32 that ran on
/// tensor cores is tf32.
[[gnu::cold]] inline std::array<double, number_classes> time_by_type(const profile& p,
                                                                     bool on_device) {
  std::array<double, number_classes> out{};
  const device_sums device(p);
  const roofline roofs(p, device);
  const std::vector<std::uint32_t> operators = operators_around(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t op = operators[i];
    if (op == scope_node::none) continue;
    const scope_node& n = p.nodes[op];
    const dtype type = roofs.of(op).type == dtype::tf32 ? dtype::tf32
                       : n.merged                       ? dtype::unknown
                                                        : n.work.type;
    out[static_cast<std::size_t>(class_of(type))] += !on_device ? not_negative(p.nodes[i].self_ns)
                                                     : device.own.empty() ? 0
                                                                          : device.own[i].ns;
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
