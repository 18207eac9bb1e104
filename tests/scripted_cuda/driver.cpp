// SPDX-License-Identifier: MIT
// The few functions of the driver API by which a tool waits for devices, as libcuda.so.1. The
// scripted libcudart loads it with the first context, as the real one does.
#include "shared.hpp"

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return scripted_context_synchronize(); }
// _v2, by a macro of cuda.h
CUresult cuCtxPushCurrent(CUcontext context) { return scripted_context_push(context); }
CUresult cuCtxPopCurrent(CUcontext* context) { return scripted_context_pop(context); }
CUresult cuCtxGetCurrent(CUcontext* context) {
  return *context = scripted::current_thread().context, CUDA_SUCCESS;
}

}  // extern "C"
