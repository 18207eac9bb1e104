// SPDX-License-Identifier: MIT
// Writes the text of each kernel that measures a GPU into a folder, and for each a line: its
// number, the first and the last device that it is for, the instruction that it repeats, how often.

#include <kprof/machine/gpu_kernels.hpp>

#include <cstdio>
#include <fstream>
#include <string>

int main(int count, char** arguments) {
  using namespace kprof::detail;
  if (count != 2) return 2;
  int number = 0;
  for (const gpu_kernel& k : gpu_kernels) {
    std::ofstream out(std::string{arguments[1]} + '/' + std::to_string(number) + ".ptx");
    out << ptx_writer::text(k);
    if (!out.flush()) return 1;
    const char* const instruction = k.loop == gpu_loop::read    ? "ld.global.cg.v4.b32"
                                    : k.loop == gpu_loop::copy  ? "st.global.cs.v4.b32"
                                    : k.loop == gpu_loop::triad ? "fma.rn.f32"
                                                                : k.instruction;
    const unsigned repeated = gpu_shape::is_memory(k.loop)
                                  ? gpu_shape::accesses * (k.loop == gpu_loop::triad ? 4 : 1)
                                  : gpu_shape::steps * gpu_shape::chains(k);
    std::printf("%d %u %u %s %u\n", number++, unsigned{k.first}, unsigned{k.last}, instruction,
                repeated);
  }
}
