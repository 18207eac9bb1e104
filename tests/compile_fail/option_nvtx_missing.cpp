// SPDX-License-Identifier: MIT
// flags: -nostdinc
// skip: NVIDIA
// expect: kprof: KPROF_NVTX=1 but <nvtx3/nvToolsExt.h> cannot be found; add the CUDA include folder
// No standard header is needed here, and without the system's folders no NVTX is found.
#ifdef KPROF_TEST_BAD
#define KPROF_NVTX 1
#endif
#include <kprof/build_options.hpp>
