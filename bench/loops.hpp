// SPDX-License-Identifier: MIT
#ifndef KPROF_BENCH_LOOPS_HPP
#define KPROF_BENCH_LOOPS_HPP

// The loops that guard_cost times: plain ones, and those with guards, which are compiled with
// KPROF_ENABLE=1 as `on`, once more as `in_library` into a shared library, and with KPROF_ENABLE=0
// as `off`.

#include "bench.hpp"

namespace bench {

namespace plain {
void bare(std::int64_t scopes, const shape& values);
void two_counter_reads(std::int64_t scopes, const shape& values);
void two_steady_clock_reads(std::int64_t scopes, const shape& values);
/// Two counter reads and 96 bytes into a thread's own buffer, which fits the cache and is used over
/// and over.
void floor(std::int64_t scopes, const shape& values);
/// The same through as much memory as a session's logs have by default.
void floor_in_memory(std::int64_t scopes, const shape& values);
/// Each once on every thread that runs the loop.
void touch_floor();
void touch_floor_in_memory();
}  // namespace plain

namespace on {
// KPROF_OP with a braced list of eight fields
void op(std::int64_t scopes, const shape& values);
// KPROF_OP with a struct that the caller has
void op_from_struct(std::int64_t scopes, const shape& values);
void op_without_fields(std::int64_t scopes, const shape& values);
void region(std::int64_t scopes, const shape& values);  // KPROF_REGION with a literal
}  // namespace on

namespace in_library {
#pragma GCC visibility push(default)
void op(std::int64_t scopes, const shape& values);
void op_from_struct(std::int64_t scopes, const shape& values);
void op_without_fields(std::int64_t scopes, const shape& values);
void region(std::int64_t scopes, const shape& values);
#pragma GCC visibility pop
}  // namespace in_library

namespace off {
void op(std::int64_t scopes, const shape& values);
void op_from_struct(std::int64_t scopes, const shape& values);
void op_without_fields(std::int64_t scopes, const shape& values);
void region(std::int64_t scopes, const shape& values);
}  // namespace off

}  // namespace bench

#endif
