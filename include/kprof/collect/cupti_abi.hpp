// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_ABI_HPP
#define KPROF_COLLECT_CUPTI_ABI_HPP

// What kprof needs of CUPTI's binary interface, written down here: numbers, signatures and where
// fields lie. So programs need no CUPTI headers, one build serves CUPTI 11.8 to 13, and files of a
// program built with and without the CUDA Toolkit agree. Records grow only at their end, so every
// field is where the oldest version that has it put it. The tests compile this file against the
// headers of CUPTI 11.8, 12.0, 12.4, 12.9, 13.0, 13.3 and 13.5 and compare every number.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

using result = int;  // CUptiResult
inline constexpr result success = 0;
inline constexpr result invalid_parameter = 1;  // also: there is no such callback
// the end of a buffer, or of the buffers' queue
inline constexpr result max_limit_reached = 12;
inline constexpr result not_initialized = 15;
inline constexpr result insufficient_privileges = 35;
inline constexpr result multiple_subscribers = 39;
inline constexpr result virtual_privileges = 40;  // in a virtual machine
inline constexpr result unknown_error = 999;      // also: no driver

// Callback domains and sites.
inline constexpr std::uint32_t driver_api = 1, runtime_api = 2, resource = 3;
inline constexpr std::uint32_t api_enter = 0, api_exit = 1;

// Callbacks of the domain `resource`.
inline constexpr std::uint32_t context_created = 1, context_destroy_starting = 2,
                               stream_destroy_starting = 4, module_loaded = 6,
                               module_unload_starting = 7, graph_node_created = 13,
                               graph_node_destroy_starting = 14, graph_node_cloned = 20;
inline constexpr std::uint32_t graph_node_updated = 22;  // since 13.0

// Types of graph nodes (CUgraphNodeType) that leave a record of their own when they run.
inline constexpr std::uint32_t node_kernel = 0, node_memcpy = 1, node_memset = 2;

// Activity kinds.
inline constexpr std::uint32_t kind_memcpy = 1, kind_memset = 2, kind_kernel = 3, kind_driver = 4,
                               kind_runtime = 5, kind_concurrent_kernel = 10, kind_overhead = 17,
                               kind_memcpy_peer = 22, kind_event = 36,
                               kind_external_correlation = 39, kind_synchronization = 38;

inline constexpr std::uint32_t flush_forced = 1;

// Versions as cuptiGetVersion tells them.
// before 12.9 that crashes CUPTI
inline constexpr std::uint32_t version_buffers_may_be_refused = 27;
// from here on it is the CUDA version times 10, plus the update
inline constexpr std::uint32_t version_13 = 130000;
inline constexpr std::uint32_t version_many_subscribers = 130300;

using subscriber = void*;
using callback_function = void (*)(void* user, std::uint32_t domain, std::uint32_t id,
                                   const void* data);
using buffer_requested = void (*)(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records);
using buffer_completed = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid_size);

using buffer_requested_v2 = void (*)(std::uint8_t** buffer, std::size_t* size,
                                     std::size_t* max_records, void* info);
using buffer_completed_v2 = void (*)(std::uint8_t* buffer, std::size_t size, std::size_t valid_size,
                                     void* info);

/// CUpti_SubscriberParams, of CUPTI 13.
struct subscriber_params {
  std::size_t size;  // up to the last member that matters
  const char* name;
  char* holder;             // who has subscribed before, written on multiple_subscribers
  std::size_t holder_size;  // 64 or more
  // since 13.3
  std::uint8_t allow_others;
  std::uint8_t padding[7];
};

/// The functions, as cupti_library finds them. Those at the end may be missing.
struct functions {
  result (*get_version)(std::uint32_t* version);
  result (*get_result_string)(result code, const char** text);
  result (*subscribe)(subscriber* out, callback_function callback, void* user);
  result (*unsubscribe)(subscriber who);
  result (*enable_callback)(std::uint32_t enable, subscriber who, std::uint32_t domain,
                            std::uint32_t id);
  result (*get_callback_name)(std::uint32_t domain, std::uint32_t id, const char** name);
  result (*register_buffers)(buffer_requested requested, buffer_completed completed);
  result (*enable)(std::uint32_t kind);
  result (*disable)(std::uint32_t kind);
  result (*flush_all)(std::uint32_t flag);
  result (*next_record)(std::uint8_t* buffer, std::size_t valid_size, void** record);
  result (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped);
  result (*graph_node_id)(void* node, std::uint64_t* id);
  // what kprof can do without
  result (*get_timestamp)(std::uint64_t* ns);
  result (*graph_exec_id)(void* exec, std::uint32_t* id);
  // since 13.0
  result (*subscribe_v2)(subscriber* out, callback_function callback, void* user,
                         subscriber_params* params);
  // since 13.3, all
  result (*register_buffers_v2)(subscriber who, buffer_requested_v2 requested,
                                buffer_completed_v2 completed);
  result (*enable_v2)(subscriber who, std::uint32_t kind, void* config);
  result (*disable_v2)(subscriber who, std::uint32_t kind, void* config);
  result (*next_record_v2)(subscriber who, std::uint8_t* buffer, std::size_t valid_size,
                           void** record);
  result (*dropped_records_v2)(subscriber who, void* context, std::uint32_t stream,
                               std::size_t* dropped);
  // since 13.4
  result (*enable_runtime_api_v2)(subscriber who, std::uint32_t id, std::uint8_t enable);
  result (*enable_driver_api_v2)(subscriber who, std::uint32_t id, std::uint8_t enable);
  // since 12.5
  result (*enable_runtime_api)(std::uint32_t id, std::uint8_t enable);
  result (*enable_driver_api)(std::uint32_t id, std::uint8_t enable);
};

/// A field of a record or of a callback's data.
template <class T>
T field(const void* record, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + offset, sizeof value);
  return value;
}

// Offsets of fields, in bytes.
namespace callback_data {  // CUpti_CallbackData
inline constexpr std::size_t site = 0, params = 16, return_value = 24, context = 40,
                             correlation = 64;
}
namespace resource_data {  // CUpti_ResourceData
inline constexpr std::size_t context = 0, stream = 8, descriptor = 16;
}
namespace graph_data {  // CUpti_GraphData
inline constexpr std::size_t node = 16, original_node = 24, node_type = 32;
}
namespace kernel {  // CUpti_ActivityKernel5 and later
inline constexpr std::size_t registers = 6, start = 16, end = 24, device = 40, context = 44,
                             stream = 48, grid = 52, block = 64, static_shared = 76,
                             dynamic_shared = 80, correlation = 92, name = 104, launch_type = 136,
                             multiprocessor_shared = 140, graph_node = 144;
}
namespace kernel_cluster {  // CUpti_ActivityKernel8 and later: all versions that kprof works with
inline constexpr std::size_t extents = 176;
}
namespace memcpy_record {  // CUpti_ActivityMemcpy4 and later
inline constexpr std::size_t direction = 4, from = 5, to = 6, bytes = 8, start = 16, end = 24,
                             device = 32, context = 36, stream = 40, correlation = 44,
                             graph_node = 64;
}
namespace memcpy_peer {  // CUpti_ActivityMemcpyPtoP3 and later; up to `stream` as memcpy_record
inline constexpr std::size_t correlation = 60, graph_node = 72;
}
namespace memset_record {  // CUpti_ActivityMemset3 and later
inline constexpr std::size_t bytes = 8, start = 16, end = 24, device = 32, context = 36,
                             stream = 40, correlation = 44, place = 50, graph_node = 64;
}
namespace synchronization {  // CUpti_ActivitySynchronization and later
inline constexpr std::size_t type = 4, start = 8, end = 16, correlation = 24, context = 28,
                             stream = 32, event = 36;
}
namespace event {  // CUpti_ActivityCudaEvent and later
inline constexpr std::size_t correlation = 4, context = 8, stream = 12, event = 16;
}
namespace overhead {  // CUpti_ActivityOverhead and later
inline constexpr std::size_t start = 24, end = 32;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
