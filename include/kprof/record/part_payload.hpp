// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_PAYLOAD_HPP
#define KPROF_RECORD_PART_PAYLOAD_HPP

// Where a payload holds which part of a call it is of. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/part.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/same_bytes.hpp>
#include <kprof/record/tree_node.hpp>

#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool has_parts(const site_info& where) noexcept {
  return where.op != nullptr && where.op->part_at != 0;
}
/// What is kept of a payload whose parameters are not: of a part its number, so that a call whose
/// parts' parameters are lost is still one call.
inline payload payload_when_merged(const site_info& where, payload p) noexcept {
  if (!has_parts(where)) return {nullptr, 0};
  return {p.bytes + where.op->part_at, sizeof(part_number)};
}
/// What the parts of one call have in common, hashed: call site, number of parts, parameters. `p`:
/// canonical, with its parameters.
inline std::uint64_t call_key(std::uint32_t site, const op_info& op, payload p) noexcept {
  part_number number;
  std::memcpy(&number, p.bytes + op.part_at, sizeof number);
  const std::uint64_t seed = (std::uint64_t{site} << 32U | number.parts) * 0x9E3779B97F4A7C15U;
  return mixed_in(seed ^ seed >> 32U, p.bytes, op.part_at);
}
/// Of a node of an operator in parts. `merged`: its parameters were not kept.
inline part_number part_number_of(const op_info& op, payload p, bool merged = false) noexcept {
  part_number out;
  std::memcpy(&out, p.bytes + (merged ? 0 : op.part_at), sizeof out);
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
