// SPDX-License-Identifier: MIT

// LTTng-UST: a tracepoint with eight fields where the scope begins and one without where it ends.
// Whether a session takes them is up to run.sh, and goes into the results.

#include "bench.hpp"

#if KPROF_BENCH_LTTNG
#include <benchmark/benchmark.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng_events.h"

namespace {

void tracepoints(std::int64_t scopes, const bench::shape& values) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    lttng_ust_tracepoint(kprof_bench, conv_begin, i % bench::layers, values.c, values.h, values.w,
                         values.k, values.r, values.s, values.stride);
    bench::work();
    lttng_ust_tracepoint(kprof_bench, conv_end);
  }
}

}  // namespace

void bench::add_peers_lttng() {
  benchmark::AddCustomContext("lttng_session",
                              lttng_ust_tracepoint_enabled(kprof_bench, conv_begin) ? "yes" : "no");
  add({.name = "lttng", .run = tracepoints});
}

#else

void bench::add_peers_lttng() {}

#endif
