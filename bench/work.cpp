// SPDX-License-Identifier: MIT

#include "bench.hpp"

void bench::work() noexcept { __asm__ volatile("" ::: "memory"); }
