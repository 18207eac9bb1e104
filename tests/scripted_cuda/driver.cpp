// SPDX-License-Identifier: MIT
// The functions of the driver API by which a tool finds out whether it works, waits for devices and
// uses one itself, as libcuda.so.1. The scripted libcudart loads it with the first context, as the
// real one does.
#include "driver_calls.hpp"
#include "shared.hpp"

extern "C" {

CUresult cuInit(unsigned) { return scripted_driver_state(); }
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return scripted_context_synchronize(); }
// _v2, by a macro of cuda.h
CUresult cuCtxPushCurrent(CUcontext context) { return scripted_context_push(context); }
CUresult cuCtxPopCurrent(CUcontext* context) { return scripted_context_pop(context); }
CUresult cuCtxGetCurrent(CUcontext* context) {
  return *context = scripted::current_thread().context, CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }

#define FORWARD(name, parameters, arguments) \
  CUresult name parameters { return scripted_##name arguments; }
SCRIPTED_DRIVER_CALLS(FORWARD)

}  // extern "C"
