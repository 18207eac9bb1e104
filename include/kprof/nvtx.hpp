// SPDX-License-Identifier: MIT
#ifndef KPROF_NVTX_HPP
#define KPROF_NVTX_HPP

// Sends scopes to an attached NVTX tool without a session. Include it in a library whose users look
// at it in Nsight Systems and bring no session of kprof; a program that includes kprof.hpp has it.

#include <kprof/emit/nvtx.hpp>

#endif
