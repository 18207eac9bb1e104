// SPDX-License-Identifier: MIT

// How long a snapshot and the report of it take, and how much memory, by the number of scopes:
// `scale SCOPES ROWS MEMORY_MIB` records SCOPES calls with ROWS distinct sets of parameters and
// prints one line of JSON. With enough memory all that was recorded is still to be folded when the
// snapshot is asked for; with less, most of it was folded while recording, which counts as well.

#include "memory.hpp"

#include <kprof/kprof.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  kprof::dtype type = kprof::dtype::f16;
  bool transposed = false;
  constexpr kprof::count flops() const { return kprof::count{2} * m * n * k; }
  constexpr kprof::traffic bytes() const {
    return {.read = (m * k + k * n) * size_of(type), .written = m * n * size_of(type)};
  }
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SCOPES ROWS MEMORY_MIB\n", argv[0]);
    return 2;
  }
  const std::int64_t scopes = std::atoll(argv[1]), rows = std::atoll(argv[2]);
  const auto memory = static_cast<std::size_t>(std::atoll(argv[3]));
  if (const kprof::status s = kprof::start({.memory = memory << 20U}); !s) {
    std::fprintf(stderr, "%s\n", s.message.c_str());
    return 1;
  }
  const double before_mib = bench::resident_mib("VmRSS:");

  auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < scopes; ++i) {
    KPROF_OP(Gemm, {.m = 1 + i % rows, .n = 4096, .k = 1024});
  }
  const double recording_s = seconds_since(begin);

  begin = std::chrono::steady_clock::now();
  const kprof::profile run = kprof::snapshot();
  const double snapshot_s = seconds_since(begin);
  begin = std::chrono::steady_clock::now();
  std::string text;
  const kprof::status written = kprof::write_text(run, {}, text);
  const double report_s = seconds_since(begin);

  if (!written || run.complete.recorded != static_cast<std::uint64_t>(scopes) ||
      text.size() < 500) {
    std::fprintf(stderr, "scale: %llu of %lld scopes\n",
                 static_cast<unsigned long long>(run.complete.recorded),
                 static_cast<long long>(scopes));
    return 1;
  }
  // run.cost.folding_ns has all foldings, also the snapshot's own, which is in snapshot_s.
  std::printf(R"({"scopes": %lld, "rows": %lld, "memory_mib": %zu, "recording_s": %.6f, )"
              R"("folding_s": %.6f, "snapshot_s": %.6f, "report_s": %.6f, )"
              R"("rows_kept": %zu, "before_mib": %.1f, "peak_mib": %.1f})"
              "\n",
              static_cast<long long>(scopes), static_cast<long long>(rows), memory, recording_s,
              run.cost.folding_ns / 1e9, snapshot_s, report_s, run.nodes.size(), before_mib,
              bench::resident_mib("VmHWM:"));
  return 0;
}
