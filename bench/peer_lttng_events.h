/* SPDX-License-Identifier: MIT */
/* The tracepoints of peer_lttng.cpp, in the form that LTTng-UST's headers read several times. */

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kprof_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng_events.h"

#if !defined(KPROF_BENCH_PEER_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KPROF_BENCH_PEER_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    kprof_bench, conv_begin,
    LTTNG_UST_TP_ARGS(int64_t, n, int64_t, c, int64_t, h, int64_t, w, int64_t, k, int64_t, r,
                      int64_t, s, int64_t, stride),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int64_t, n, n) lttng_ust_field_integer(int64_t, c, c)
            lttng_ust_field_integer(int64_t, h, h) lttng_ust_field_integer(int64_t, w, w)
                lttng_ust_field_integer(int64_t, k, k) lttng_ust_field_integer(int64_t, r, r)
                    lttng_ust_field_integer(int64_t, s, s)
                        lttng_ust_field_integer(int64_t, stride, stride)))

LTTNG_UST_TRACEPOINT_EVENT(kprof_bench, conv_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
