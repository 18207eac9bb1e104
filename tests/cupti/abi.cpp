// SPDX-License-Identifier: MIT
// Compares every number in collect/cupti_abi.hpp with CUPTI's own headers, of whichever version
// they are. Only compiled.

#include <kprof/collect/cupti_abi.hpp>

#include <cupti.h>

#include <cstddef>
#include <type_traits>

namespace abi = kprof::detail::cupti;

#define SAME(ours, theirs) \
  static_assert(static_cast<long long>(abi::ours) == static_cast<long long>(theirs), #ours)
#define AT(ours, type, member)                                                  \
  static_assert(abi::ours == offsetof(type, member), #ours " in " #type);       \
  static_assert(sizeof(std::declval<type>().member) == sizeof(member_##member), \
                #member " in " #type)
// What kprof reads each member as.
using member_start = std::uint64_t;
using member_end = std::uint64_t;
using member_bytes = std::uint64_t;
using member_deviceId = std::uint32_t;
using member_streamId = std::uint32_t;
using member_correlationId = std::uint32_t;
using member_contextId = std::uint32_t;
using member_eventId = std::uint32_t;
using member_cudaEventId = std::uint32_t;
using member_graphNodeId = std::uint64_t;
using member_registersPerThread = std::uint16_t;
using member_l2CacheSize = std::uint32_t;
using member_gridX = std::int32_t;
using member_blockX = std::int32_t;
using member_staticSharedMemory = std::int32_t;
using member_dynamicSharedMemory = std::int32_t;
using member_launchType = std::uint8_t;
using member_sharedMemoryExecuted = std::uint32_t;
using member_clusterX = std::uint32_t;
using member_name = const char*;
using member_copyKind = std::uint8_t;
using member_srcKind = std::uint8_t;
using member_dstKind = std::uint8_t;
using member_memoryKind = std::uint16_t;
using member_globalMemoryBandwidth = std::uint64_t;
using member_globalMemorySize = std::uint64_t;
using member_coreClockRate = std::uint32_t;
using member_numMultiprocessors = std::uint32_t;
using member_computeCapabilityMajor = std::uint32_t;
using member_computeCapabilityMinor = std::uint32_t;
using member_id = std::uint32_t;
using member_uuid = char[16];
using member_callbackSite = std::uint32_t;
using member_functionReturnValue = void*;
using member_functionParams = const void*;
using member_context = void*;
using member_resourceDescriptor = void*;
using member_node = void*;
using member_originalNode = void*;
using member_nodeType = std::uint32_t;

SAME(success, CUPTI_SUCCESS);
SAME(invalid_parameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME(max_limit_reached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(not_initialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME(insufficient_privileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(multiple_subscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(virtual_privileges, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(unknown_error, CUPTI_ERROR_UNKNOWN);
SAME(driver_api, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(runtime_api, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(resource, CUPTI_CB_DOMAIN_RESOURCE);
SAME(api_enter, CUPTI_API_ENTER);
SAME(api_exit, CUPTI_API_EXIT);
SAME(context_created, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(context_destroy_starting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(stream_destroy_starting, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
SAME(module_loaded, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME(module_unload_starting, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
SAME(graph_node_created, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(graph_node_destroy_starting, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME(graph_node_cloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
#if CUPTI_API_VERSION >= 130000
SAME(graph_node_updated, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
#endif
SAME(node_kernel, CU_GRAPH_NODE_TYPE_KERNEL);
SAME(node_memcpy, CU_GRAPH_NODE_TYPE_MEMCPY);
SAME(node_memset, CU_GRAPH_NODE_TYPE_MEMSET);
SAME(kind_memcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(kind_memset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(kind_kernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(kind_driver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(kind_runtime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(kind_concurrent_kernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(kind_overhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(kind_memcpy_peer, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(kind_external_correlation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME(kind_synchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(kind_event, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME(flush_forced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

#define KERNEL(type)                                               \
  AT(kernel::registers, type, registersPerThread);                 \
  AT(kernel::start, type, start);                                  \
  AT(kernel::end, type, end);                                      \
  AT(kernel::device, type, deviceId);                              \
  AT(kernel::context, type, contextId);                            \
  AT(kernel::stream, type, streamId);                              \
  AT(kernel::grid, type, gridX);                                   \
  static_assert(abi::kernel::grid + 8 == offsetof(type, gridZ));   \
  AT(kernel::block, type, blockX);                                 \
  static_assert(abi::kernel::block + 8 == offsetof(type, blockZ)); \
  AT(kernel::static_shared, type, staticSharedMemory);             \
  AT(kernel::dynamic_shared, type, dynamicSharedMemory);           \
  AT(kernel::launch_type, type, launchType);                       \
  AT(kernel::multiprocessor_shared, type, sharedMemoryExecuted);   \
  AT(kernel::correlation, type, correlationId);                    \
  AT(kernel::name, type, name);                                    \
  AT(kernel::graph_node, type, graphNodeId)
#define CLUSTER(type)                          \
  AT(kernel_cluster::extents, type, clusterX); \
  static_assert(abi::kernel_cluster::extents + 8 == offsetof(type, clusterZ))
#define MEMCPY(type)                            \
  AT(memcpy_record::direction, type, copyKind); \
  AT(memcpy_record::from, type, srcKind);       \
  AT(memcpy_record::to, type, dstKind);         \
  AT(memcpy_record::bytes, type, bytes);        \
  AT(memcpy_record::start, type, start);        \
  AT(memcpy_record::end, type, end);            \
  AT(memcpy_record::device, type, deviceId);    \
  AT(memcpy_record::context, type, contextId);  \
  AT(memcpy_record::stream, type, streamId)
#define MEMCPY_OWN(type)                               \
  MEMCPY(type);                                        \
  AT(memcpy_record::correlation, type, correlationId); \
  AT(memcpy_record::graph_node, type, graphNodeId)
#define MEMCPY_PEER(type)                            \
  MEMCPY(type);                                      \
  AT(memcpy_peer::correlation, type, correlationId); \
  AT(memcpy_peer::graph_node, type, graphNodeId)
#define MEMSET(type)                                   \
  AT(memset_record::bytes, type, bytes);               \
  AT(memset_record::start, type, start);               \
  AT(memset_record::end, type, end);                   \
  AT(memset_record::device, type, deviceId);           \
  AT(memset_record::context, type, contextId);         \
  AT(memset_record::stream, type, streamId);           \
  AT(memset_record::correlation, type, correlationId); \
  AT(memset_record::place, type, memoryKind);          \
  AT(memset_record::graph_node, type, graphNodeId)
#define SYNCHRONIZATION(record)                                        \
  static_assert(abi::synchronization::type == offsetof(record, type)); \
  AT(synchronization::start, record, start);                           \
  AT(synchronization::end, record, end);                               \
  AT(synchronization::context, record, contextId);                     \
  AT(synchronization::stream, record, streamId);                       \
  AT(synchronization::event, record, cudaEventId);                     \
  AT(synchronization::correlation, record, correlationId)
#define CUDA_EVENT(type)                       \
  AT(event::correlation, type, correlationId); \
  AT(event::context, type, contextId);         \
  AT(event::stream, type, streamId);           \
  AT(event::event, type, eventId)
#define OVERHEAD(type)              \
  AT(overhead::start, type, start); \
  AT(overhead::end, type, end)

// The oldest layouts that kprof reads, and the newest that these headers have.
KERNEL(CUpti_ActivityKernel5);
KERNEL(KPROF_NEWEST_KERNEL);
CLUSTER(CUpti_ActivityKernel8);
CLUSTER(KPROF_NEWEST_KERNEL);
static_assert(CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR == 0);
MEMCPY_OWN(CUpti_ActivityMemcpy4);
MEMCPY_OWN(KPROF_NEWEST_MEMCPY);
MEMCPY_PEER(CUpti_ActivityMemcpyPtoP3);
MEMCPY_PEER(KPROF_NEWEST_MEMCPYPTOP);
MEMSET(CUpti_ActivityMemset3);
MEMSET(KPROF_NEWEST_MEMSET);
SYNCHRONIZATION(CUpti_ActivitySynchronization);
SYNCHRONIZATION(KPROF_NEWEST_SYNCHRONIZATION);
CUDA_EVENT(CUpti_ActivityCudaEvent);
#if CUPTI_API_VERSION >= 130000
CUDA_EVENT(CUpti_ActivityCudaEvent2);
#endif
OVERHEAD(CUpti_ActivityOverhead);
OVERHEAD(KPROF_NEWEST_OVERHEAD);
static_assert(offsetof(CUpti_Activity, kind) == 0 && sizeof(CUpti_ActivityKind) == 4);

AT(callback_data::site, CUpti_CallbackData, callbackSite);
AT(callback_data::params, CUpti_CallbackData, functionParams);
AT(callback_data::return_value, CUpti_CallbackData, functionReturnValue);
AT(callback_data::context, CUpti_CallbackData, context);
AT(callback_data::correlation, CUpti_CallbackData, correlationId);
AT(resource_data::context, CUpti_ResourceData, context);
static_assert(abi::resource_data::stream == offsetof(CUpti_ResourceData, resourceHandle.stream));
AT(resource_data::descriptor, CUpti_ResourceData, resourceDescriptor);
AT(graph_data::node, CUpti_GraphData, node);
AT(graph_data::original_node, CUpti_GraphData, originalNode);
AT(graph_data::node_type, CUpti_GraphData, nodeType);

// Signatures: what differs is only that kprof writes enumerations as integers of their size and
// handles as pointers.
template <class T>
struct plain {
  using type =
      std::conditional_t<std::is_enum_v<T> || std::is_same_v<T, abi::result>, std::uint32_t, T>;
};
template <class T>
struct plain<T*> {
  using type = std::conditional_t<sizeof(T*) == sizeof(void*), void*, void>;
};
template <class T>
using plain_t = typename plain<T>::type;
template <class F>
struct shape;
template <class R, class... A>
struct shape<R (*)(A...)> {
  using type = void (*)(plain_t<A>...);
};
#define FUNCTION(ours, theirs)                                                                     \
  static_assert(                                                                                   \
      std::is_same_v<shape<decltype(abi::functions::ours)>::type, shape<decltype(&theirs)>::type>, \
      #theirs);                                                                                    \
  static_assert(sizeof(CUptiResult) == sizeof(abi::result))
FUNCTION(get_version, cuptiGetVersion);
FUNCTION(get_result_string, cuptiGetResultString);
FUNCTION(subscribe, cuptiSubscribe);
FUNCTION(unsubscribe, cuptiUnsubscribe);
FUNCTION(enable_callback, cuptiEnableCallback);
FUNCTION(get_callback_name, cuptiGetCallbackName);
FUNCTION(register_buffers, cuptiActivityRegisterCallbacks);
FUNCTION(enable, cuptiActivityEnable);
FUNCTION(disable, cuptiActivityDisable);
FUNCTION(flush_all, cuptiActivityFlushAll);
FUNCTION(next_record, cuptiActivityGetNextRecord);
FUNCTION(dropped_records, cuptiActivityGetNumDroppedRecords);
FUNCTION(graph_node_id, cuptiGetGraphNodeId);
FUNCTION(get_timestamp, cuptiGetTimestamp);
static_assert(std::is_same_v<shape<abi::callback_function>::type, shape<CUpti_CallbackFunc>::type>);
static_assert(std::is_same_v<shape<abi::buffer_requested>::type,
                             shape<CUpti_BuffersCallbackRequestFunc>::type>);
static_assert(std::is_same_v<shape<abi::buffer_completed>::type,
                             shape<CUpti_BuffersCallbackCompleteFunc>::type>);
#if CUPTI_API_VERSION >= 130000
FUNCTION(subscribe_v2, cuptiSubscribe_v2);
#if CUPTI_API_VERSION >= 130300
static_assert(sizeof(abi::subscriber_params) == sizeof(CUpti_SubscriberParams));
static_assert(offsetof(abi::subscriber_params, allow_others) ==
              offsetof(CUpti_SubscriberParams, allowMultipleSubscribers));
FUNCTION(register_buffers_v2, cuptiActivityRegisterCallbacks_v2);
FUNCTION(enable_v2, cuptiActivityEnable_v2);
FUNCTION(disable_v2, cuptiActivityDisable_v2);
FUNCTION(next_record_v2, cuptiActivityGetNextRecord_v2);
FUNCTION(dropped_records_v2, cuptiActivityGetNumDroppedRecords_v2);
static_assert(std::is_same_v<shape<abi::buffer_requested_v2>::type,
                             shape<CUpti_BuffersCallbackRequestFunc_v2>::type>);
static_assert(std::is_same_v<shape<abi::buffer_completed_v2>::type,
                             shape<CUpti_BuffersCallbackCompleteFunc_v2>::type>);
#else
static_assert(offsetof(abi::subscriber_params, allow_others) == sizeof(CUpti_SubscriberParams));
#endif
#if CUPTI_API_VERSION >= 130400
FUNCTION(enable_runtime_api_v2, cuptiActivityEnableRuntimeApi_v2);
FUNCTION(enable_driver_api_v2, cuptiActivityEnableDriverApi_v2);
#endif
static_assert(offsetof(abi::subscriber_params, holder) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberName));
static_assert(offsetof(abi::subscriber_params, holder_size) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize));
#endif
#if CUPTI_API_VERSION >= 24
FUNCTION(enable_runtime_api, cuptiActivityEnableRuntimeApi);
FUNCTION(enable_driver_api, cuptiActivityEnableDriverApi);
#endif
