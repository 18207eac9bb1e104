// SPDX-License-Identifier: MIT

// A long run: `soak [SCOPES] [MEMORY_MIB]` records SCOPES scopes (10^8 if not told) on two threads, a mix of operators, regions and
// parameters, nested and flat, with a snapshot now and then. Fails when a count is wrong, when a scope is missing, when memory
// grows after the first twentieth, or when it ever exceeds the setting and a small fixed amount.

#include "memory.hpp"

#include <kprof/kprof.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

namespace {

struct Conv {
  std::int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0, stride = 1;
  constexpr kprof::count flops() const { return kprof::count{2} * n * c * h * w * k * r * s; }
};
struct Relu {
  std::int32_t n = 0;
  kprof::dtype type = kprof::dtype::f16;
  constexpr kprof::traffic bytes() const { return {.read = n * size_of(type), .written = n * size_of(type)}; }
};
struct Copy {
  std::uint8_t tag = 0;
  std::int64_t bytes_moved = 0;
  constexpr kprof::traffic bytes() const { return {.read = bytes_moved, .written = bytes_moved}; }
};

// What is allowed beside the setting: the program itself, a snapshot, the heap's own slack.
constexpr double fixed_mib = 16;
constexpr double growth_mib = 1;

using counts = std::map<std::string, std::uint64_t>;

constexpr std::int64_t scopes_a_step = 1 + 4 * 5 + 11;

/// One step of a small network.
void step(std::int64_t i) {
  KPROF_REGION("step");
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    KPROF_REGION(layer % 2 == 0 ? "encoder.layer" : "decoder.layer");
    KPROF_OP(Conv, {.n = 1 + i % 7, .c = 64 << layer, .h = 56 >> layer, .w = 56 >> layer, .k = 128, .r = 3, .s = 3});
    { KPROF_OP(Relu, {.n = static_cast<std::int32_t>(1 + i % 50)}); }
    { KPROF_OP(Relu, {.n = 1024, .type = kprof::dtype::bf16}); }
    { KPROF_OP(Copy, {.tag = static_cast<std::uint8_t>(i % 3), .bytes_moved = 4096}); }
  }
  for (std::int64_t j = 0; j < 11; ++j) {
    KPROF_OP(Relu, {.n = static_cast<std::int32_t>(j)});
  }
}
counts expected_of(std::int64_t steps) {
  const auto n = static_cast<std::uint64_t>(steps);
  return {{"step", n}, {"encoder.layer", 2 * n}, {"decoder.layer", 2 * n}, {"Conv", 4 * n}, {"Relu", (8 + 11) * n}, {"Copy", 4 * n}};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "soak: FAILED: %s\n", what);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t scopes = argc > 1 ? std::atoll(argv[1]) : 100'000'000;
  const auto memory_mib = static_cast<std::size_t>(argc > 2 ? std::atoll(argv[2]) : 16);
  constexpr std::int64_t rounds = 20;
  const std::int64_t steps = scopes / (2 * rounds * scopes_a_step) + 1;   // a thread and round

  const double before_mib = bench::resident_mib("VmRSS:");
  if (const kprof::status s = kprof::start({.memory = memory_mib << 20U}); !s) {
    std::fprintf(stderr, "%s\n", s.message.c_str());
    return 1;
  }

  double after_first_mib = 0;
  double loops_s = 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    // Threads come and go in long runs, so the second one is a new one each round.
    std::thread other([&] { for (std::int64_t i = 0; i < steps; ++i) step(i); });
    for (std::int64_t i = 0; i < steps; ++i) step(i);
    other.join();
    loops_s += seconds_since(begin);
    static_cast<void>(kprof::snapshot());
    if (round == 0) after_first_mib = bench::resident_mib("VmRSS:");
  }
  const double grown_mib = bench::resident_mib("VmRSS:") - after_first_mib;
  const double peak_mib = bench::resident_mib("VmHWM:");

  const kprof::profile run = kprof::snapshot();
  counts seen;
  for (const kprof::scope_node& node : run.nodes)
    if (node.kind != kprof::scope_kind::root) seen[node.name] += node.calls;
  const std::int64_t all_steps = 2 * rounds * steps;
  const auto done = static_cast<std::uint64_t>(all_steps * scopes_a_step);

  bool ok = check(seen == expected_of(all_steps), "the counts of operators and regions");
  ok = check(run.complete.recorded == done, "the number of scopes recorded") && ok;
  ok = check(run.complete.dropped == 0 && run.complete.open == 0 && run.complete.never_closed == 0 && run.complete.closed_by_parent == 0 &&
                 run.complete.closed_elsewhere == 0 && run.complete.merged == 0, "no scope dropped, left open or merged") && ok;
  ok = check(run.cost.memory <= memory_mib << 20U, "kprof's own account of its memory is within the setting") && ok;
  ok = check(peak_mib <= before_mib + static_cast<double>(memory_mib) + fixed_mib, "the peak of resident memory") && ok;
  ok = check(grown_mib < growth_mib, "memory does not grow after the first twentieth") && ok;

  std::printf(R"({"scopes": %llu, "memory_mib": %zu, "ns_a_scope_and_thread": %.2f, "seconds": %.2f, "folding_s": %.2f, "before_mib": %.1f, "peak_mib": %.1f, )"
              R"("grown_mib": %.2f, "own_account_mib": %.1f, "exact": %s})"
              "\n",
              static_cast<unsigned long long>(done), memory_mib, loops_s * 2e9 / static_cast<double>(done), loops_s, run.cost.folding_ns / 1e9, before_mib, peak_mib,
              grown_mib, static_cast<double>(run.cost.memory) / (1 << 20), ok ? "true" : "false");
  return ok ? 0 : 1;
}
