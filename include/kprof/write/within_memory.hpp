// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_WITHIN_MEMORY_HPP
#define KPROF_WRITE_WITHIN_MEMORY_HPP

// For functions that return a status: they throw nothing where memory runs out.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// What work() returns; the error "out of memory" where its memory ran out. That needs no memory.
template <class Work>
status within_memory(Work work) {
  status s;
  if (!attempt([&] { s = work(); })) s = {out_of_memory};
  return s;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
