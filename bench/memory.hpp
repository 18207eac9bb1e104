// SPDX-License-Identifier: MIT
#ifndef KPROF_BENCH_MEMORY_HPP
#define KPROF_BENCH_MEMORY_HPP

// This process's memory as Linux counts it.

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

/// A line of /proc/self/status in MiB: "VmRSS:" is what is resident now, "VmHWM:" the most that
/// ever was.
inline double resident_mib(const char* what) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  double kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, what, std::strlen(what)) == 0) kib = std::atof(line + std::strlen(what));
  std::fclose(file);
  return kib / 1024;
}

}  // namespace bench

#endif
