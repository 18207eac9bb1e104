// SPDX-License-Identifier: MIT
// Activity records as bytes: their sizes in the version that the library claims to be, and those of
// devices filled in.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_RECORDS_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_RECORDS_HPP

#include "shared.hpp"

namespace scripted {

std::size_t record_size(CUpti_ActivityKind kind);  // 0 of a kind that this library does not write
CUpti_ActivityKind kind_at(const std::uint8_t* record);

// A forced flush gives unfinished work away without its times.
void void_unfinished(std::uint8_t* data, std::size_t used, std::uint64_t now);

// One line for each record of a device: kind, correlation id, name or -, stream, graph node, start,
// end, bytes.
void write_truth(std::FILE* file, const std::uint8_t* data, std::size_t used);

// In the newest struct; the older ones are its beginning.
CUpti_ActivityKernel10 kernel_record(const device_op& op, std::uint32_t correlation);
CUpti_ActivityMemcpy6 memcpy_record(const device_op& op, std::uint32_t correlation);
CUpti_ActivityMemcpyPtoP4 peer_copy_record(const device_op& op, std::uint32_t correlation);
CUpti_ActivityMemset4 memset_record(const device_op& op, std::uint32_t correlation);
CUpti_ActivityDevice5 device_record(std::uint32_t device);

constexpr auto odd_kind = static_cast<CUpti_ActivityKind>(90);  // one that no client knows
struct odd {
  CUpti_ActivityKind kind = odd_kind;
  std::uint32_t various[17] = {};
};
inline odd odd_record() { return {}; }

}  // namespace scripted

#endif
