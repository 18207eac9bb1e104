// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_WITHIN_MEMORY_HPP
#define KPROF_WRITE_WITHIN_MEMORY_HPP

// For functions that return a status: they throw nothing where memory runs out.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// What work() returns; the error "out of memory" where its memory ran out. That needs no memory.
template <class Work>
status within_memory(Work work) {
  status s;
  if (!attempt([&] { s = work(); })) s = {out_of_memory};
  return s;
}

/// snapshot() says in a profile's `state` that there was no memory for it. Nothing is written then:
/// the empty profile would look like a run without scopes.
inline status snapshot_error(const std::string& state) {
  return state == out_of_memory ? status{out_of_memory} : status{};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
