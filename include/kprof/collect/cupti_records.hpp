// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_RECORDS_HPP
#define KPROF_COLLECT_CUPTI_RECORDS_HPP

// From CUPTI's records to kprof's plain ones. Pure: a record in, an activity out.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

inline std::uint32_t kind_of(const void* record) noexcept {
  return field<std::uint32_t>(record, 0);
}

/// CUpti_ActivityMemcpyKind as a copy_direction: 1 host to device, 2 device to host, 3 within a
/// device, 4 within the host, 5 between devices. Arrays are device memory.
inline std::uint8_t direction_of(std::uint8_t kind) noexcept {
  constexpr std::uint8_t directions[] = {0, 1, 2, 1, 2, 3, 3, 3, 3, 4, 5};
  return kind < std::size(directions) ? directions[kind] : std::uint8_t{0};
}
/// CUpti_ActivityMemoryKind as a memory_place; static device and managed memory is device and
/// managed memory.
inline std::uint8_t place_of(std::uint16_t kind) noexcept {
  constexpr std::uint8_t places[] = {0, 1, 2, 3, 4, 5, 3, 5};
  return kind < std::size(places) ? places[kind] : std::uint8_t{0};
}

/// No cluster has more than 16 blocks, and one of a single block is none.
inline void read_cluster(const void* r, activity& out) noexcept {
  std::uint32_t of[3];
  for (std::size_t i = 0; i < 3; ++i)
    of[i] = field<std::uint32_t>(r, kernel_cluster::extents + 4 * i);
  if (of[0] > 16 || of[1] > 16 || of[2] > 16) return;
  const std::uint32_t blocks = of[0] * of[1] * of[2];
  if (blocks < 2 || blocks > 16) return;
  for (std::size_t i = 0; i < 3; ++i) out.cluster[i] = static_cast<std::uint8_t>(of[i]);
}

inline void read_kernel(const void* r, activity& out) noexcept {
  out.kind = activity_kind::kernel;
  out.registers = field<std::uint16_t>(r, kernel::registers);
  out.start = field<std::uint64_t>(r, kernel::start);
  out.end = field<std::uint64_t>(r, kernel::end);
  out.device = field<std::uint32_t>(r, kernel::device);
  out.stream = field<std::uint32_t>(r, kernel::stream);
  out.context = field<std::uint32_t>(r, kernel::context);
  for (std::size_t i = 0; i < 3; ++i) {
    out.grid[i] = field<std::uint32_t>(r, kernel::grid + 4 * i);
    out.block[i] = field<std::uint32_t>(r, kernel::block + 4 * i);
  }
  out.static_shared = field<std::uint32_t>(r, kernel::static_shared);
  out.dynamic_shared = field<std::uint32_t>(r, kernel::dynamic_shared);
  out.multiprocessor_shared = field<std::uint32_t>(r, kernel::multiprocessor_shared);
  out.cooperative = field<std::uint8_t>(r, kernel::launch_type) != 0;
  read_cluster(r, out);
  out.correlation = field<std::uint32_t>(r, kernel::correlation);
  out.name = field<const char*>(r, kernel::name);
  out.graph_node = field<std::uint64_t>(r, kernel::graph_node);
}

inline void read_memcpy(const void* r, activity& out, std::size_t correlation,
                        std::size_t graph_node) noexcept {
  out.kind = activity_kind::copy;
  out.direction = direction_of(field<std::uint8_t>(r, memcpy_record::direction));
  out.from = place_of(field<std::uint8_t>(r, memcpy_record::from));
  out.to = place_of(field<std::uint8_t>(r, memcpy_record::to));
  out.bytes = field<std::uint64_t>(r, memcpy_record::bytes);
  out.start = field<std::uint64_t>(r, memcpy_record::start);
  out.end = field<std::uint64_t>(r, memcpy_record::end);
  out.device = field<std::uint32_t>(r, memcpy_record::device);
  out.stream = field<std::uint32_t>(r, memcpy_record::stream);
  out.context = field<std::uint32_t>(r, memcpy_record::context);
  out.correlation = field<std::uint32_t>(r, correlation);
  out.graph_node = field<std::uint64_t>(r, graph_node);
}

inline void read_memset(const void* r, activity& out) noexcept {
  out.kind = activity_kind::set;
  out.to = place_of(field<std::uint16_t>(r, memset_record::place));
  out.bytes = field<std::uint64_t>(r, memset_record::bytes);
  out.start = field<std::uint64_t>(r, memset_record::start);
  out.end = field<std::uint64_t>(r, memset_record::end);
  out.device = field<std::uint32_t>(r, memset_record::device);
  out.stream = field<std::uint32_t>(r, memset_record::stream);
  out.context = field<std::uint32_t>(r, memset_record::context);
  out.correlation = field<std::uint32_t>(r, memset_record::correlation);
  out.graph_node = field<std::uint64_t>(r, memset_record::graph_node);
}

/// CUPTI writes ~0 for an event or a stream that a synchronization is not about.
inline void read_synchronization(const void* r, activity& out) noexcept {
  out.kind = activity_kind::synchronization;
  const auto type = field<std::uint32_t>(r, synchronization::type);
  out.direction = static_cast<std::uint8_t>(type <= 4 ? type : 0);
  out.start = field<std::uint64_t>(r, synchronization::start);
  out.end = field<std::uint64_t>(r, synchronization::end);
  out.correlation = field<std::uint32_t>(r, synchronization::correlation);
  out.context = field<std::uint32_t>(r, synchronization::context);
  out.stream = field<std::uint32_t>(r, synchronization::stream);
  const auto event = field<std::uint32_t>(r, synchronization::event);
  out.event = event == ~std::uint32_t{0} ? 0 : event;
}
inline void read_event(const void* r, activity& out) noexcept {
  out.kind = activity_kind::event_record;
  out.correlation = field<std::uint32_t>(r, event::correlation);
  out.context = field<std::uint32_t>(r, event::context);
  out.stream = field<std::uint32_t>(r, event::stream);
  out.event = field<std::uint32_t>(r, event::event);
}

/// Whether the record is an activity; a record of a kind that was not asked for, and is not known,
/// is an odd one.
inline bool read(const void* r, activity& out) noexcept {
  out = {};
  switch (kind_of(r)) {
    case kind_kernel:
    case kind_concurrent_kernel: read_kernel(r, out); return true;
    case kind_memcpy:
      read_memcpy(r, out, memcpy_record::correlation, memcpy_record::graph_node);
      return true;
    case kind_memcpy_peer:
      read_memcpy(r, out, memcpy_peer::correlation, memcpy_peer::graph_node);
      return true;
    case kind_memset: read_memset(r, out); return true;
    case kind_synchronization: read_synchronization(r, out); return true;
    case kind_event: read_event(r, out); return true;
    case kind_overhead:
      out.kind = activity_kind::overhead;
      out.start = field<std::uint64_t>(r, overhead::start);
      out.end = field<std::uint64_t>(r, overhead::end);
      return true;
    case kind_runtime:
    case kind_driver:
    case kind_external_correlation: return false;
    default: return true;
  }
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
