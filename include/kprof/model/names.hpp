// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NAMES_HPP
#define KPROF_MODEL_NAMES_HPP

// The names of element types and passes, as tables show them. Included by the tables and the
// outputs. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>

#include <cstddef>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

inline const char* dtype_name(dtype type) noexcept {
  static constexpr const char* names[] = {
      "unknown",  "f64",      "f32",      "tf32",  "f16",   "bf16",    "fp8_e4m3", "fp8_e5m2",
      "fp6_e2m3", "fp6_e3m2", "fp4_e2m1", "int64", "int32", "int16",   "int8",     "int4",
      "uint64",   "uint32",   "uint16",   "uint8", "uint4", "boolean", "c64",      "c128"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<std::size_t>(dtype::c128) + 1);
  return static_cast<std::size_t>(type) < sizeof(names) / sizeof(names[0])
             ? names[static_cast<std::size_t>(type)]
             : "unknown";
}

inline const char* pass_name(pass_kind pass) noexcept {
  static constexpr const char* names[] = {"unknown", "fprop", "bprop",  "dgrad",
                                          "wgrad",   "bgrad", "update", "recompute"};
  static_assert(sizeof(names) / sizeof(names[0]) ==
                static_cast<std::size_t>(pass_kind::recompute) + 1);
  return static_cast<std::size_t>(pass) < sizeof(names) / sizeof(names[0])
             ? names[static_cast<std::size_t>(pass)]
             : "unknown";
}

/// unknown where it is no pass's name.
inline pass_kind pass_of_name(std::string_view name) noexcept {
  for (auto i = static_cast<int>(pass_kind::recompute); i > 0; --i)
    if (name == pass_name(static_cast<pass_kind>(i))) return static_cast<pass_kind>(i);
  return pass_kind::unknown;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
