// SPDX-License-Identifier: MIT

// A long run: `soak [SCOPES [MEMORY_MIB [ROWS]]]` records SCOPES scopes (10^8 if not told) on two
// threads, a mix of operators, regions and parameters, nested and flat, with snapshots in the
// second half. ROWS (default 8) sets of parameters of one operator come in turn; with very many the
// totals outgrow MEMORY_MIB (default 16) and rows are merged. Fails when a scope is missing or
// counted wrong, when memory exceeds the setting and a small fixed amount, or when it goes on
// growing.

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
  constexpr kprof::traffic bytes() const {
    return {.read = n * size_of(type), .written = n * size_of(type)};
  }
};
struct Copy {
  std::uint8_t tag = 0;
  std::int64_t bytes_moved = 0;
  constexpr kprof::traffic bytes() const { return {.read = bytes_moved, .written = bytes_moved}; }
};

// What is allowed beside the setting: the thread's stack, the tables of call sites, and the heap's
// own slack.
constexpr double fixed_mib = 8;
constexpr double growth_mib = 1;
constexpr double account_slack_mib = 0.05;  // one row more or less

using counts = std::map<std::string, std::uint64_t>;

constexpr std::int64_t scopes_a_step = 1 + 4 * 5 + 11;

/// One step of a small network.
void step(std::int64_t i, std::int64_t rows) {
  KPROF_REGION("step");
  for (std::int64_t layer = 0; layer < 4; ++layer) {
    KPROF_REGION(layer % 2 == 0 ? "encoder.layer" : "decoder.layer");
    KPROF_OP(
        Conv,
        {.n = 8, .c = 64 << layer, .h = 56 >> layer, .w = 56 >> layer, .k = 128, .r = 3, .s = 3});
    { KPROF_OP(Relu, {.n = 4096}); }
    { KPROF_OP(Relu, {.n = 1024, .type = kprof::dtype::bf16}); }
    { KPROF_OP(Copy, {.tag = static_cast<std::uint8_t>(i % 3), .bytes_moved = 4096}); }
  }
  for (std::int64_t j = 0; j < 11; ++j) {
    KPROF_OP(Relu, {.n = static_cast<std::int32_t>((11 * i + j) % rows)});
  }
}
/// Calls by name; those of regions, whose names may have been merged, together.
counts expected_of(std::int64_t steps) {
  const auto n = static_cast<std::uint64_t>(steps);
  return {{"regions", 5 * n}, {"Conv", 4 * n}, {"Relu", (8 + 11) * n}, {"Copy", 4 * n}};
}
counts seen_in(const kprof::profile& run) {
  counts seen;
  for (const kprof::scope_node& node : run.nodes)
    if (node.kind != kprof::scope_kind::root)
      seen[node.kind == kprof::scope_kind::region ? "regions" : node.name] += node.calls;
  return seen;
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
  const std::int64_t rows = argc > 3 ? std::atoll(argv[3]) : 8;
  constexpr std::int64_t rounds = 20;
  const std::int64_t steps = scopes / (2 * rounds * scopes_a_step) + 1;  // a thread and round

  const double before_mib = bench::resident_mib("VmRSS:");
  if (const kprof::status s = kprof::start({.memory = memory_mib << 20U}); !s) {
    std::fprintf(stderr, "%s\n", s.message.c_str());
    return 1;
  }

  double peak_mib = 0, warm_mib = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] {
    for (std::int64_t i = 0; i < rounds * steps; ++i) step(i, rows);
  });
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::int64_t i = 0; i < steps; ++i) step(round * steps + i, rows);
    // What the session holds is the first half's peak. A snapshot is a value of the program's own
    // and comes on top, once.
    if (round < rounds / 2) peak_mib = bench::resident_mib("VmHWM:");
    else static_cast<void>(kprof::snapshot());
    if (round == rounds / 2) warm_mib = bench::resident_mib("VmRSS:");
  }
  other.join();
  const double loops_s = seconds_since(begin);
  const double grown_mib = bench::resident_mib("VmRSS:") - warm_mib;
  const kprof::profile run = kprof::snapshot();
  const double account_mib = static_cast<double>(run.cost.memory) / (1 << 20);

  const std::int64_t all_steps = 2 * rounds * steps;
  const auto done = static_cast<std::uint64_t>(all_steps * scopes_a_step);
  const kprof::completeness& c = run.complete;
  bool ok = check(seen_in(run) == expected_of(all_steps), "the counts of operators and regions");
  ok = check(c.recorded == done, "the number of scopes recorded") && ok;
  ok = check(c.dropped + c.open + c.never_closed + c.closed_by_parent + c.closed_elsewhere == 0,
             "no scope dropped or closed wrongly") &&
       ok;
  ok = check(account_mib <= static_cast<double>(memory_mib) + account_slack_mib,
             "kprof's own account of its memory is within the setting") &&
       ok;
  ok = check(peak_mib <= before_mib + static_cast<double>(memory_mib) + fixed_mib,
             "the peak of memory is within the setting and a little") &&
       ok;
  // With more rows than fit, the totals go on filling what they may take.
  ok = check(grown_mib < growth_mib || c.merged != 0, "memory does not grow in the second half") &&
       ok;

  std::printf(R"({"scopes": %llu, "rows": %lld, "memory_mib": %zu, "seconds": %.2f, )"
              R"("ns_a_scope_and_thread": %.2f, "folding_s": %.2f, "merged_calls": %llu, )"
              R"("before_mib": %.1f, "warm_mib": %.1f, "grown_mib": %.2f, "peak_mib": %.1f, )"
              R"("account_mib": %.1f, "ok": %s})"
              "\n",
              static_cast<unsigned long long>(done), static_cast<long long>(rows), memory_mib,
              loops_s, loops_s * 2e9 / static_cast<double>(done), run.cost.folding_ns / 1e9,
              static_cast<unsigned long long>(c.merged), before_mib, warm_mib, grown_mib, peak_mib,
              account_mib, ok ? "true" : "false");
  return ok ? 0 : 1;
}
