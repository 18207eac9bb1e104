// SPDX-License-Identifier: MIT
// Writes traces of a million slices, as JSON and as Perfetto's packets, of a run on the host and of
// one on a GPU, and says what that costs: trace_cost [SLICES]. Fails where a slice takes more bytes
// than it may, the writer 16 MiB, or a second is not enough for a million.

#include <kprof/report/trace.hpp>
#include <kprof/report/write.hpp>

#include <malloc.h>

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

#include "../support/device_profiles.hpp"
#include "../support/profile_builder.hpp"
#include "../support/timeline_builder.hpp"

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

/// Operators that each launch a kernel, which takes longer than the operator.
kprof::profile launches(std::size_t slices) {
  kprof_test::timeline_builder b;
  const auto main = b.thread("trainer", 12345);
  std::vector<std::uint32_t> ops;
  for (int layer = 0; layer < 16; ++layer) {
    ops.push_back(b.op(main, "Conv2d", "N=32 C=64 H=56 W=56 K=" + std::to_string(64 + layer)));
    b.work(ops.back(), 7'398'752'256, 25'837'568, 25'690'112);
    b.kernel_at({}, {.scope = ops.back()}, "sm90_xmma_fprop_implicit_gemm_f16");
    kprof::device_work& kernel = b.p.device.work.back();
    kernel.grid[0] = 128, kernel.grid[1] = 4, kernel.grid[2] = 1;
    kernel.block[0] = 256, kernel.block[1] = kernel.block[2] = 1;
    kernel.registers = 128, kernel.static_shared = 1024, kernel.dynamic_shared = 49'152;
    kernel.calls = 1, kernel.total_ns = 20'000;
  }
  kprof_test::add_device(b.p);
  b.p.device.timeline.items.clear();
  b.p.timeline.reserve(slices / 3 + 1);
  b.p.device.timeline.items.reserve(slices / 3 + 1);
  std::uint32_t n = 0;
  for (std::int64_t at = 1'000'000; b.p.timeline.size() < slices / 3; at += 23'117, ++n) {
    b.p.timeline.push_back({ops[n % 16], at, 12'345});
    kprof::device_item item;
    item.work = n % 16, item.stream = 7, item.thread = 0, item.correlation = n + 1;
    item.call_begin = at + 2'001, item.call_end = at + 7'123;
    item.start = at + 9'876, item.end = at + 30'005;
    b.p.device.timeline.items.push_back(item);
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

/// Whether a trace of that name is cheap enough.
bool is_cheap(const char* what, const kprof::profile& run, std::size_t slices, const char* path,
              double most_bytes, const char* gpu = "stages") {
  malloc_trim(0);
  if (std::FILE* const file = std::fopen("/proc/self/clear_refs", "we")) {
    std::fputs("5", file);  // the peak is what is taken now
    std::fclose(file);
  }
  const long before = memory("VmRSS:");
  double bytes = 0;
  kprof::text_sink sink(
      [](void* to, std::string_view text) {
        *static_cast<double*>(to) += static_cast<double>(text.size());
        return kprof::status{};
      },
      &bytes);
  const std::clock_t begin = std::clock();
  const kprof::detail::request_reading request("trace", {{"path", path}, {"gpu", gpu}});
  if (!request.error || !request.what->write(run, request.values, sink) || !sink.flush())
    return false;
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto n = static_cast<double>(slices);
  const double per_slice = bytes / n, grown = static_cast<double>(memory("VmHWM:") - before) / 1024;
  std::printf("%s, %s, %s: %.2f million slices a second, %.1f bytes each, %.1f MiB more\n", what,
              path, gpu, n / seconds / 1e6, per_slice, grown);
  return per_slice < most_bytes && grown <= 16 && n / seconds >= 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  const auto slices = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 1'000'000);
  bool cheap = true;
  {
    const kprof::profile run = steps(slices);
    cheap &= is_cheap("host", run, run.timeline.size(), "run.json", 200);
    cheap &= is_cheap("host", run, run.timeline.size(), "run.pftrace", 80);
  }
  const kprof::profile run = launches(slices);
  cheap &= is_cheap("GPU", run, 3 * run.timeline.size(), "run.json", 200);
  cheap &= is_cheap("GPU", run, 3 * run.timeline.size(), "run.pt.trace.json", 310);
  cheap &= is_cheap("GPU", run, 3 * run.timeline.size(), "run.pftrace", 125);
  cheap &= is_cheap("GPU", run, 3 * run.timeline.size(), "run.pftrace", 95, "tracks");
  return cheap ? 0 : 1;
}
