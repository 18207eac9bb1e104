// SPDX-License-Identifier: MIT
// The functions of the driver API by which a tool finds out whether it works, waits for devices and
// uses one itself, as libcuda.so.1. The scripted libcudart loads it with the first context, as the
// real one does.
#include "driver_calls.hpp"
#include "shared.hpp"

// At the head of each function: what SCRIPTED_FAIL makes of it.
#define MAY_FAIL \
  if (scripted_call_fails(__func__)) return CUDA_ERROR_UNKNOWN

extern "C" {

CUresult cuInit(unsigned) {
  MAY_FAIL;
  return scripted_driver_state();
}
CUresult cuGetErrorName(CUresult result, const char** name) {
  MAY_FAIL;
  *name = result == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  MAY_FAIL;
  return scripted_context_synchronize();
}
// _v2, by a macro of cuda.h
CUresult cuCtxPushCurrent(CUcontext context) {
  MAY_FAIL;
  return scripted_context_push(context);
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  MAY_FAIL;
  return scripted_context_pop(context);
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  MAY_FAIL;
  return *context = scripted::current_thread().context, CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  MAY_FAIL;
  return *version = 13000, CUDA_SUCCESS;
}

#define FORWARD(name, parameters, arguments) \
  CUresult name parameters { return scripted_##name arguments; }
SCRIPTED_DRIVER_CALLS(FORWARD)
FORWARD(cuGraphExecMemsetNodeSetParams,
        (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params,
         CUcontext context),
        (exec, node, params, context))

}  // extern "C"
