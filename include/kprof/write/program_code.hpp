// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_PROGRAM_CODE_HPP
#define KPROF_WRITE_PROGRAM_CODE_HPP

// Exceptions of functions that the program has given to reports: outputs and rules of advice.
// Included by whatever writes them.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#if defined(__cpp_exceptions)
#include <cxxabi.h>

#include <exception>
#include <new>
#endif

KPROF_DETAIL_BEGIN
namespace detail {

/// What work() returns, or what is said of an exception that the program's code in it has thrown.
/// The lack of memory and the end of the thread are left to the caller.
template <class Work>
[[gnu::cold]] status status_of_program_code(Work work) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) { throw; } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& e) {
    return {"the program's own output or advice threw an exception: " + printable(e.what(), 300)};
  } catch (...) { return {"the program's own output or advice threw an exception"}; }
#else
  return work();
#endif
}

}  // namespace detail
KPROF_DETAIL_END

#endif
