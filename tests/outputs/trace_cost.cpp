// SPDX-License-Identifier: MIT
// Writes a trace of a million slices and says what that costs: trace_cost [SLICES]. Fails where a
// slice takes 200 bytes, the writer 16 MiB, or a second is not enough for a million.

#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/profile_builder.hpp"

namespace {

/// Steps of a network: a region around 16 layers, each with a convolution and a normalisation.
kprof::profile steps(std::size_t slices) {
  kprof_test::profile_builder b(0.5);
  const auto main = b.thread("trainer", 12345), forward = b.region(main, "forward");
  std::vector<std::uint32_t> ops;
  for (int layer = 0; layer < 16; ++layer) {
    const auto conv =
        b.op(forward, "Conv2d", "N=32 C=64 H=56 W=56 K=" + std::to_string(64 + layer));
    const auto norm = b.op(forward, "LayerNorm", "rows=4096 cols=" + std::to_string(768 + layer));
    b.work(conv, 7'398'752'256, 25'837'568, 25'690'112)
        .work(norm, 25'165'824, 12'582'912, 12'582'912);
    ops.push_back(conv);
    ops.push_back(norm);
  }
  b.p.timeline.reserve(slices + 33);  // memory has no peak before the writer
  std::int64_t at = 1'000'000;
  while (b.p.timeline.size() < slices) {
    const std::int64_t begin = at;
    for (std::size_t i = 0; i < ops.size(); ++i, at += 3'000'117)
      b.p.timeline.push_back({ops[i], at, 2'000'011});
    b.p.timeline.push_back({forward, begin, static_cast<std::uint64_t>(at - begin)});
    at += 1'000'001;
  }
  return std::move(b.p);
}

/// Of this process, in KiB, from /proc/self/status.
long memory(const char* what) {
  std::FILE* const file = std::fopen("/proc/self/status", "re");
  char line[256];
  long found = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, what, std::strlen(what)) == 0)
      found = std::atol(line + std::strlen(what));
  if (file != nullptr) std::fclose(file);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const auto slices = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 1'000'000);
  const kprof::profile run = steps(slices);
  const long before = memory("VmRSS:");
  double bytes = 0;
  kprof::text_sink sink(
      [](void* to, std::string_view text) {
        *static_cast<double*>(to) += static_cast<double>(text.size());
        return kprof::status{};
      },
      &bytes);
  const std::clock_t begin = std::clock();
  const kprof::option_values none;
  if (!kprof::find_output("trace")->write(run, none, sink) || !sink.flush()) return 1;
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto n = static_cast<double>(run.timeline.size());
  const double per_slice = bytes / n, grown = static_cast<double>(memory("VmHWM:") - before) / 1024;
  std::printf("%.0f slices: %.2f million a second, %.1f bytes each, %.1f MiB more\n", n,
              n / seconds / 1e6, per_slice, grown);
  return per_slice < 200 && grown <= 16 && n / seconds >= 1e6 ? 0 : 1;
}
