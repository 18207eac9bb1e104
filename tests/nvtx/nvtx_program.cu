// SPDX-License-Identifier: MIT
#include "nvtx_program.cpp"
