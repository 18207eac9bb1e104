// SPDX-License-Identifier: MIT
// 10^8 scopes: memory stays where it was after the first million, totals are exact. Argument: how
// many, in millions.

#include <kprof/kprof.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "find.hpp"

struct Work {
  std::int64_t a = 0, b = 2, c = 3, d = 4;
};

namespace {

/// Resident memory of this process in KiB.
long resident() {
  long kib = 0;
  char line[256];
  std::FILE* f = std::fopen("/proc/self/status", "r");
  while (f != nullptr && std::fgets(line, sizeof line, f) != nullptr)
    if (std::strncmp(line, "VmRSS:", 6) == 0) kib = std::atol(line + 6);
  if (f != nullptr) std::fclose(f);
  return kib;
}

void million() {
  for (int i = 0; i < 250'000; ++i) {
    KPROF_REGION("block");
    { KPROF_OP(Work, {i % 4}); }
    { KPROF_OP(Work, {9}); }
    { KPROF_OP(Work, {i % 2}); }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long millions = argc > 1 ? std::atol(argv[1]) : 100;
  kprof::settings settings;
  settings.memory = std::size_t{8} * 1024 * 1024;
  if (!kprof::start(settings)) return 2;
  million();
  static_cast<void>(kprof::snapshot());
  const long before = resident();
  for (long m = 1; m < millions; ++m) million();
  const long after = resident();
  const kprof::profile p = kprof::snapshot();
  const auto n = static_cast<std::uint64_t>(millions) * 250'000;
  const bool exact = p.complete.recorded == 4 * n && calls(p, "block") == n &&
                     calls(p, "block/Work a=9 b=2 c=3 d=4") == n && p.complete.dropped == 0;
  const bool bounded = after - before <= 1024 && p.cost.memory <= p.cost.memory_limit;
  std::printf(
      "%ld million scopes: %ld KiB resident after the first, %ld KiB after the last; %llu of %llu "
      "recorded, folding %.1f ns a scope\n",
      millions, before, after, static_cast<unsigned long long>(p.complete.recorded),
      static_cast<unsigned long long>(4 * n),
      p.cost.folding_ns / static_cast<double>(p.complete.recorded));
  return exact && bounded ? 0 : 1;
}
