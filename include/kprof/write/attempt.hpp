// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_ATTEMPT_HPP
#define KPROF_WRITE_ATTEMPT_HPP

// What happens where memory runs out. A guard that finds none counts its scope as dropped,
// everything else returns an error: memory that has run out must not end the program. With
// -fno-exceptions nothing can be caught, and a failed allocation ends the process as it does
// everywhere in such a program.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What functions without memory return as their error. Short, so that a std::string of it needs no
/// memory either.
inline constexpr const char* out_of_memory = "out of memory";

/// Calls work(); false where its memory ran out, and it threw std::bad_alloc. Only that is caught:
/// the cancellation of a thread must go on.
template <class Work>
bool attempt(Work work) {
#if defined(__cpp_exceptions)
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) { return false; }
#else
  work();
  return true;
#endif
}

/// Makes room for `more` elements, so that adding them cannot fail.
template <class T>
void reserve_more(std::vector<T>& v, std::size_t more) {
  const std::size_t wanted = v.size() + more;
  if (wanted > v.capacity()) v.reserve(wanted < 2 * v.capacity() ? 2 * v.capacity() : wanted);
}
/// The same, with at most a fifth of the memory empty.
template <class T>
void reserve_quarter(std::vector<T>& v, std::size_t more) {
  const std::size_t wanted = v.size() + more, grown = v.capacity() / 4 * 5;
  if (wanted > v.capacity()) v.reserve(wanted < grown ? grown : wanted);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
