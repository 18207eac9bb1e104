// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_COMPILE_FAIL_USE_HPP
#define KPROF_TESTS_COMPILE_FAIL_USE_HPP

// KPROF_TEST_USE(Op) meets an operator in one of the ways a program does; the driver tries each,
// because which template is instantiated first decides which error is printed first.

#include <kprof/guard.hpp>
#include <kprof/registry.hpp>

#define KPROF_TEST_JOIN_(a, b) a##b
#define KPROF_TEST_JOIN(a, b) KPROF_TEST_JOIN_(a, b)

#if KPROF_TEST_VIA == 1
#define KPROF_TEST_USE(Op) static_assert(kprof::op_registry<Op>::size == 1);
#elif KPROF_TEST_VIA == 2
#define KPROF_TEST_USE(Op) \
  void KPROF_TEST_JOIN(use_, __LINE__)(const Op& params) { kprof::op_guard<Op> guard{params}; }
#else
#define KPROF_TEST_USE(Op) \
  void KPROF_TEST_JOIN(use_, __LINE__)() { KPROF_OP(Op); }
#endif

#endif
