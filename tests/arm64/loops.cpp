// SPDX-License-Identifier: MIT
// Runs every loop that measures this arm64 processor, checks what those over memory leave behind,
// and prints what each instruction of the arithmetic ones computed:
//   loop <type> <instructions> <operations a round>
//   computed <instruction> <words of the last chain's register after one round>

#include <kprof/machine/loops.hpp>
#include <kprof/model/names.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>

using namespace kprof::detail;

namespace {

/// The first 16 bytes of the last chain's register. Nothing may come between the loop and this.
struct register_31 {
  std::uint64_t low = 0, high = 0;
};
[[gnu::noinline]] register_31 after_a_round(void (*run)(std::uint64_t)) {
  register_31 found;
  asm volatile(
      "mov x0, #1\n\t"
      "blr %[run]\n\t"
      "mov %[low], v31.d[0]\n\t"
      "mov %[high], v31.d[1]"
      : [low] "=&r"(found.low), [high] "=&r"(found.high)
      : [run] "r"(run)
      : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16",
        "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
        "v30", "v31", "cc", "memory");
  return found;
}

bool memory_is_right(const memory_loop& loop) {
  constexpr std::size_t n = 1024, guard = 16;
  alignas(64) static float a[n + guard], b[n], c[n];
  for (std::size_t i = 0; i < n + guard; ++i) a[i] = -1;
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = static_cast<float>(i);
    c[i] = static_cast<float>(2 * i + 4);
  }
  loop.triad(a, b, c, sizeof(b), 3);
  loop.read(b, sizeof(b), 2);
  loop.flush(b, sizeof(b));
  for (std::size_t i = 0; i < n; ++i)
    if (a[i] != static_cast<float>(2 * i + 2)) return false;
  for (std::size_t i = n; i < n + guard; ++i)
    if (a[i] != -1) return false;
  for (std::size_t i = 0; i < n; ++i) b[i] += 1;
  loop.triad_written_back(a, b, c, sizeof(b), c);
  for (std::size_t i = 0; i < n; ++i)
    if (a[i] != static_cast<float>(2 * i + 3)) return false;
  return a[n] == -1;
}

}  // namespace

int main() {
  const processor_loops loops = find_loops();
  for (const arithmetic_loop& loop : loops.arithmetic) {
    loop.run(1000);
    const char* const type = dtype_name(loop.type);
    std::printf("loop %s %s %.0f\n", type, loop.instructions, loop.operations_per_round);
    const register_31 found = after_a_round(loop.run);
    std::printf("computed %s %016llx %016llx\n", type, static_cast<unsigned long long>(found.low),
                static_cast<unsigned long long>(found.high));
  }
  loops.clocks(10);
  std::printf("clocks %.0f\nmemory %s\n", loops.clocks_per_round,
              memory_is_right(loops.memory) ? "right" : "wrong");
}
