// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_NOTED_CALLS_HPP
#define KPROF_ATTRIBUTE_NOTED_CALLS_HPP

// Single calls of the device's library, and what the collector said of them.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// A call of a function of the device's library that launched nothing, or that blocks.
struct noted_call {
  std::int64_t begin;  // ns since the session's start
  std::int64_t end;
  std::uint32_t log;       // the number of the thread's
  std::uint32_t path;      // of the scopes around it
  std::uint32_t ids[2];    // correlation ids; 0: none
  std::uint16_t function;  // as in observed_call
};
/// What the collector said of such a call.
struct noted_wait {
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
  waiting on;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
