// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_PROGRAM_HPP
#define KPROF_TESTS_CUPTI_PROGRAM_HPP

// What the modes of program.cpp share.

#include "find.hpp"
#include "scripted_cuda.hpp"

#include <kprof/kprof.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/summary.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>

/// A mode by its name: MODE(name) { ... }
struct registered_mode {
  registered_mode(const char* name, void (*run)());
};
#define MODE(name)                                       \
  static void name();                                    \
  static const registered_mode name##_mode{#name, name}; \
  static void name()

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

const void* kernel();
/// Calls the operator once, which launches the kernel so many times.
void launch(std::int64_t n, int times = 1, cudaStream_t stream = nullptr);

void print(const char* what, unsigned long long n);
void print_profile(const kprof::profile& p);

/// While it is true, waiting for the device does not end.
extern bool device_hangs;

#endif
