// SPDX-License-Identifier: MIT
#ifndef KPROF_BENCH_GUARDED_LOOPS_HPP
#define KPROF_BENCH_GUARDED_LOOPS_HPP

// Loops with guards, compiled twice: with KPROF_ENABLE=1 as `on` and with KPROF_ENABLE=0 as `off`.

#include "bench.hpp"

namespace bench {
namespace on {
void op(std::int64_t scopes, const shape& values);            // KPROF_OP with a braced list of eight fields
void op_from_struct(std::int64_t scopes, const shape& values);   // KPROF_OP with a struct that the caller has
void op_without_fields(std::int64_t scopes, const shape& values);
void region(std::int64_t scopes, const shape& values);        // KPROF_REGION with a literal
}  // namespace on
namespace off {
void op(std::int64_t scopes, const shape& values);
void op_from_struct(std::int64_t scopes, const shape& values);
void op_without_fields(std::int64_t scopes, const shape& values);
void region(std::int64_t scopes, const shape& values);
}  // namespace off
}  // namespace bench

#endif
