// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_LOOP_HPP
#define KPROF_MACHINE_LOOP_HPP

// What a loop that measures a processor is, whatever the processor. Included by the headers with
// the loops and by those that run them.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// A loop over registers that keeps the arithmetic units of a core busy.
struct arithmetic_loop {
  dtype type = dtype::unknown;
  const char* instructions = "";      // as processors' manuals name the set
  double operations_per_round = 0;    // multiplications and additions, each counted
  void (*run)(std::uint64_t rounds);  // rounds > 0
};

/// A loop over memory.
struct memory_loop {
  std::size_t bytes_per_round = 0;  // of one array
  /// Reads `bytes` from `from`, `passes` times. Both are above 0, bytes a multiple of
  /// bytes_per_round, `from` aligned to 64 bytes.
  void (*read)(const void* from, std::size_t bytes, std::uint64_t passes);
  /// a[i] = b[i] + s c[i], with f32 and arrays of `bytes` each.
  void (*triad)(void* a, const void* b, const void* c, std::size_t bytes, std::uint64_t passes);
  /// The same once, which meanwhile has the caches write `bytes` from `stored` back to memory. What
  /// a loop stores stays in caches as large as its arrays, and costs memory nothing; where arrays
  /// are larger, each store throws out an earlier one. Null: the processor has no instruction for
  /// it that does not wait.
  void (*triad_written_back)(void* a, const void* b, const void* c, std::size_t bytes,
                             const void* stored);
  /// Takes what is in these bytes out of all caches. `from` is aligned to 64 bytes.
  void (*flush)(const void* from, std::size_t bytes);
};

}  // namespace detail
KPROF_DETAIL_END

#endif
