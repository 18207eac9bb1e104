// SPDX-License-Identifier: MIT
// The numbers by which the scripted libcupti's records name contexts, streams and graphs.
#include "activity.hpp"

using namespace scripted;

extern "C" {

CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
    return *id = context->id, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    if (context == nullptr) context = current_thread().context;
    if (context == nullptr) return CUPTI_ERROR_INVALID_DEVICE;
    return *id = context->device, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    const bool legacy = stream == nullptr || stream == reinterpret_cast<CUstream>(1);
    return *id = legacy ? 7 : stream->id, CUPTI_SUCCESS;
  });
}
#ifndef SCRIPTED_MISSING
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    return *id = node->id, CUPTI_SUCCESS;
  });
}
#endif
CUptiResult cuptiGetGraphId(CUgraph graph, std::uint32_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    if (graph == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    return *id = graph->id, CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetGraphExecId(CUgraphExec exec, std::uint32_t* id) {
  return cupti_call(anywhere, __func__, [&] {
    if (exec == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    return *id = exec->id, CUPTI_SUCCESS;
  });
}

}  // extern "C"
