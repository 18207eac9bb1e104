// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_ENUMERATOR_NAMES_HPP
#define KPROF_REPORT_SAVED_ENUMERATOR_NAMES_HPP

// How a saved profile spells the values of enumerations. Included by members.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <array>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Names of the enumerators, by value; an empty one is none.
template <class E>
inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 4> names_of<scope_kind>{"root", "op", "region",
                                                                      "graph"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<device_task>{"kernel", "copy", "set"};
template <>
inline constexpr std::array<std::string_view, 6> names_of<copy_direction>{
    "unknown",          "host_to_device", "device_to_host",
    "device_to_device", "host_to_host",   "peer_to_peer"};
template <>
inline constexpr std::array<std::string_view, 6> names_of<memory_place>{
    "unknown", "pageable", "pinned", "device", "array", "managed"};
template <>
inline constexpr std::array<std::string_view, 8> names_of<parameter_kind>{
    "none",     "boolean",     "signed_integer", "unsigned_integer",
    "floating", "enumeration", "text",           "aggregate"};
template <>
inline constexpr std::array<std::string_view, 24> names_of<dtype>{
    "unknown",  "f64",      "f32",      "tf32",  "f16",   "bf16",    "fp8_e4m3", "fp8_e5m2",
    "fp6_e2m3", "fp6_e3m2", "fp4_e2m1", "int64", "int32", "int16",   "int8",     "int4",
    "uint64",   "uint32",   "uint16",   "uint8", "uint4", "boolean", "c64",      "c128"};
template <>
inline constexpr std::array<std::string_view, 8> names_of<pass_kind>{
    "unknown", "fprop", "bprop", "dgrad", "wgrad", "bgrad", "update", "recompute"};
template <>
inline constexpr std::array<std::string_view, 3> names_of<arithmetic_unit>{"unknown", "cuda_core",
                                                                           "tensor_core"};

}  // namespace detail
KPROF_DETAIL_END

#endif
