// SPDX-License-Identifier: MIT
// What the scripted CUDA tells a test, beside the CUDA and CUPTI interfaces that it implements. All
// of it is exported by the scripted libcudart.so.13, so that a program which opens libcupti only at
// run time can ask too.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_SCRIPTED_CUDA_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_SCRIPTED_CUDA_HPP

#include <cstdint>

extern "C" {

// A kernel of this (mangled) name, for cudaLaunchKernel and the graph functions, from programs
// without device code. The same name gives the same handle. It is the caller's to keep: looking it
// up takes a lock.
const void* scripted_kernel(const char* mangled_name);

// Kernels that streams and graph launches ran so far, and all that they ran: kernels, copies and
// memsets.
std::uint64_t scripted_launches();
std::uint64_t scripted_device_operations();

// What a client of CUPTI did that CUPTI forbids: how often, and the first message or nullptr. Each
// is on stderr too.
std::uint32_t scripted_misuse();
const char* scripted_misuse_text();

// Calls of cupti functions, and those of them that returned an error. cuptiGetTimestamp and the end
// of a buffer in cuptiActivityGetNextRecord are in neither.
std::uint64_t scripted_cupti_calls();
std::uint64_t scripted_failed_calls();

// Calls what() once, on the thread of the next launch of a kernel by the runtime, when its work is
// queued and the call has not returned.
void scripted_before_launch_returns(void (*what)());

// The file that SCRIPTED_TRUTH names, written out up to now, or nullptr.
const char* scripted_truth_path();

}  // extern "C"

#endif
