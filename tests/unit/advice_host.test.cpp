// SPDX-License-Identifier: MIT

// Rules of advice about the processor and about rows: each speaks where its evidence reaches the
// threshold, and is silent just below it.

#include "catch.hpp"

#include "advised.hpp"
#include "host_case.hpp"
#include "machines.hpp"
#include "profile_builder.hpp"

#include <kprof/advice.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace kprof_test;

TEST_CASE("advice_host.G17_at_the_roof_of_memory") {
  // 100 us at 20 GB/s are 2 MB, more than a cache of 1 MiB holds, but the third one holds it.
  host_case copy{.flops = 0, .bytes = 1'610'000};
  profile p = copy.make();
  CHECK(gain(p, "G17") == not_stated);
  // H1 says the same: more threads get more, and then fewer bytes help.
  CHECK(kprof_test::text_of(asked(p, "G17")[0]) ==
        "Op n=1 runs at 81% of what memory delivers to one thread. 2 threads get up to 30.0 GB/s "
        "of it together. On any number of them fewer bytes help: fuse it with its neighbours, use "
        "a smaller type, or keep its data in cache");
  CHECK(gain(p, "H1") > 0);
  // Where they do not, that is all of it.
  for (kprof::memory_ceiling& m : p.machine.cpu.memory)
    m.read.all_threads = m.triad.all_threads = m.triad.one_thread;
  CHECK(kprof_test::text_of(asked(p, "G17")[0])
            .find("runs at 81% of what memory can deliver. Fewer bytes help: ") !=
        std::string::npos);
  CHECK(gain(p, "H1") == silent);
  copy.bytes = 1'590'000;
  CHECK(gain(copy.make(), "G17") == silent);
}

namespace {
profile with_first_call(double first_ns, double window_ns) {
  profile_builder b;
  const auto node = b.op(b.thread("main", 1), "AdamW", "n=1");
  b.calls(node, 1, first_ns).calls(node, 9, 1000);
  b.p.nodes[node].first_ns = first_ns;
  b.p.nodes[node].first_end_ns = first_ns;
  profile p = host_case::finished(b);
  p.wall_ns = window_ns;
  p.threads[0].in_scopes_ns = 0;
  return p;
}
}  // namespace

TEST_CASE("advice_host.S7_a_slow_first_call") {
  CHECK(gain(with_first_call(10'100, 400e3), "S7") == Approx(9100).epsilon(0.01));
  CHECK(gain(with_first_call(9'900, 400e3), "S7") == silent);
  CHECK(gain(with_first_call(10'100, 460e3), "S7") == silent);  // below 2 %
}

TEST_CASE("advice_host.S8_uneven_calls") {
  const auto uneven = [](std::uint64_t slow, double slow_ns) {
    profile_builder b;
    const auto node = b.op(b.thread("main", 1), "Op", "n=1");
    b.calls(node, 100 - slow, 10e3).calls(node, slow, slow_ns);
    return host_case::finished(b);
  };
  CHECK(gain(uneven(2, 40e3), "S8") == Approx(60e3).epsilon(0.2));
  CHECK(gain(uneven(4, 31e3), "S8") > 0);
  CHECK(gain(uneven(4, 29e3), "S8") == silent);
  CHECK(gain(uneven(1, 90e3), "S8") == silent);  // one of a hundred is not the 99th
  profile p = uneven(2, 40e3);
  p.wall_ns = 1.3e6;  // 4.6 % of the run
  CHECK(gain(p, "S8") == silent);
}

TEST_CASE("advice_host.H4_reference_implementations") {
  host_case conv{.op = "Conv2d", .parameters = "K=64 impl=gemm:ref"};
  CHECK(gain(conv.make(), "H4") == Approx(T - 10 * 10e3));
  conv.parameters = "K=64 impl=jit:avx2";
  CHECK(gain(conv.make(), "H4") == silent);
  conv.parameters = "K=64 kind=ref";
  CHECK(gain(conv.make(), "H4") == silent);
}

TEST_CASE("advice_host.H5_reorders") {
  const auto with_reorder = [](double ns) {
    profile_builder b;
    const auto layer = b.region(b.thread("main", 1), "layer");
    b.calls(layer, 10, 50e3);
    b.calls(b.op(layer, "Reorder", "n=1"), 10, ns);
    return host_case::finished(b);
  };
  CHECK(gain(with_reorder(2500), "H5") == Approx(25e3));
  CHECK(gain(with_reorder(2490), "H5") == silent);
}

TEST_CASE("advice_host.H6_rows_a_power_of_two_apart") {
  host_case gemm{.op = "Gemm", .parameters = "M=64 lda=1024"};
  CHECK(gain(gemm.make(), "H6") == not_stated);
  gemm.parameters = "M=64 lda=1040";
  CHECK(gain(gemm.make(), "H6") == silent);
  gemm.parameters = "M=64 lda=1024";
  gemm.type = dtype::f64;
  CHECK(gain(gemm.make(), "H6") == not_stated);
  gemm.flops = 4'500'000;  // near the roof of f64
  CHECK(gain(gemm.make(), "H6") == silent);
}

TEST_CASE("advice_host.H8_doubles") {
  host_case op{.flops = 3'600'000, .type = dtype::f64};  // 72 % of 50 GFLOP/s
  CHECK(gain(op.make(), "H8") == Approx(T / 2));
  op.flops = 2'900'000;  // 58 %
  CHECK(gain(op.make(), "H8") == silent);
  op = {.flops = 7'200'000};
  CHECK(gain(op.make(), "H8") == silent);
}

TEST_CASE("advice_host.H9_guards_that_are_too_fine") {
  profile p = host_case{}.make();
  p.cost.scope_ns = 20e3;
  p.cost.empty_scope_ns = 10.1e3;
  CHECK(gain(p, "H9") == Approx(200e3));
  p.cost.empty_scope_ns = 10e3;
  CHECK(gain(p, "H9") == silent);
  p.cost.empty_scope_ns = 10.1e3;
  p.cost.scope_ns = 4.9e3;
  CHECK(gain(p, "H9") == silent);
}

TEST_CASE("advice_host.H10_uneven_parts") {
  const auto parts = [](double longest_ns) {
    profile_builder b;
    for (std::uint32_t t = 0; t < 2; ++t) {
      const auto node = b.op(b.thread("worker", t), "Op", "n=1");
      b.calls(node, 10, t == 0 ? longest_ns : 50e3);
      kprof::shared_part& shared = b.p.nodes[node].shared;
      shared.part = t;
      shared.parts = 2;
      if (t > 0) continue;
      shared.calls = shared.joined = 10;
      shared.wall_ns = 10 * longest_ns;
      shared.busy_ns = 10 * (longest_ns + 50e3);
      shared.longest_ns = 10 * longest_ns;
    }
    return host_case::finished(b);
  };
  // 75 and 50 us: the longest is 1.2 times the mean.
  CHECK(gain(parts(75.1e3), "H10") == Approx(750e3 / 6).epsilon(0.01));
  CHECK(gain(parts(74.9e3), "H10") == silent);
  // Calls that overlap one another take longer than the run, and wait for one another.
  profile overlapping = parts(75.1e3);
  overlapping.wall_ns = 700e3;
  CHECK(gain(overlapping, "H10") == silent);
}

namespace {
/// The same operator twice, in a run of a millisecond.
profile two_rows(std::uint64_t slow_flops, std::uint64_t fast_flops, double wall_ns = T) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto slow = b.op(main, "Linear", "out=50304"), fast = b.op(main, "Linear", "out=384");
  b.calls(slow, 5, 100e3).work(slow, slow_flops, 1000, 0);
  b.calls(fast, 5, 100e3).work(fast, fast_flops, 1000, 0);
  profile p = host_case::finished(b);
  p.wall_ns = wall_ns;
  return p;
}
}  // namespace

TEST_CASE("advice_host.R1_another_row_comes_nearer_to_its_roof") {
  // A call of 10 MFLOP would take 100 us at the roof.
  const profile p = two_rows(200'000, 1'000'000);
  CHECK(gain(p, "R1") == Approx(0.5 * T * 0.8));
  CHECK(kprof_test::text_of(asked(p, "R1")[0]) ==
        "Linear out=50304 is 50% of the run at 2% of the roof, and Linear out=384 reaches 10%. "
        "At that rate it would take 100 \u00B5s");
  CHECK(asked(p, "R1").size() == 1);
  CHECK(gain(two_rows(600'000, 899'000), "R1") == silent);
  CHECK(gain(two_rows(600'000, 901'000), "R1") > 0);
  CHECK(gain(two_rows(200'000, 790'000), "R1") == silent);  // no example: below 8 % itself
  CHECK(gain(two_rows(6'100'000, 9'900'000), "R1") == silent);
  CHECK(gain(two_rows(200'000, 1'000'000, 10.1 * T), "R1") == silent);  // below 5 % of the run
}

TEST_CASE("advice_host.R2_the_row_that_loses_most") {
  const profile p = two_rows(200'000, 1'000'000);
  CHECK(gain(p, "R2") == Approx(0.5 * T * 0.98));
  CHECK(asked(p, "R2").size() == 1);
  CHECK(kprof_test::text_of(asked(p, "R2")[0])
            .find("Linear out=50304 is 50% of the run at 2% of the rate that arithmetic allows. "
                  "Times do not tell what holds it back; often it is a loop") == 0);
  CHECK(gain(two_rows(200'000, 1'000'000, 5 * T), "R2") == silent);  // below 10 % of the run
  CHECK(gain(two_rows(6'100'000, 6'100'000), "R2") == silent);
  // What was off the CPU did not lose its time by how it reads memory.
  profile slept = p;
  for (kprof::scope_node& n : slept.nodes) n.measured_ns = n.total_ns;
  slept.nodes[1].off_cpu_ns = 0.19 * slept.nodes[1].total_ns;
  CHECK(gain(slept, "R2") > 0);
  for (kprof::scope_node& n : slept.nodes) n.off_cpu_ns = 0.21 * n.total_ns;
  CHECK(gain(slept, "R2") == silent);
  CHECK(gain(slept, "R1") == silent);
  CHECK(gain(slept, "H1") == silent);
  // Of threads side by side: the share is of their time.
  profile threads = p;
  threads.threads[0].in_scopes_ns = 1.5 * T;
  CHECK(kprof_test::text_of(asked(threads, "R2")[0]).find("is 33% of all threads' time at 2%") !=
        std::string::npos);
  // Faster than memory, and far from what the cache gives that holds its data.
  profile cached = p;
  for (kprof::scope_node& n : cached.nodes)
    if (n.kind == kprof::scope_kind::op) {
      n.work.flops = 0;
      n.work.bytes_read =
          static_cast<std::uint64_t>(30 * n.total_ns / static_cast<double>(n.calls));
    }
  CHECK(kprof_test::text_of(asked(cached, "R2")[0])
            .find("of the rate that the cache that holds its data allows") != std::string::npos);
  // R1 knows more of the same row.
  const std::vector<kprof::advice> both = kprof::advise(p, {"-H1"});
  REQUIRE(both.size() == 1);
  CHECK(std::string{both[0].id} == "R1");
}

TEST_CASE("advice_host.a_slow_first_call_is_S7_s_alone") {
  // Ten calls of 100 us, the first of 1.1 ms: 1 ms of it is warm-up.
  const auto with_warm_up = [](double first_ns) {
    profile_builder b;
    const auto node = b.op(b.thread("main", 1), "Op", "n=1");
    b.calls(node, 1, first_ns).calls(node, 9, 100e3).work(node, 1'000'000, 1000, 0);
    b.p.nodes[node].first_ns = first_ns;
    b.p.nodes[node].first_end_ns = first_ns;
    profile p = host_case::finished(b);
    p.wall_ns = p.threads[0].in_scopes_ns = 2e6;
    return p;
  };
  const profile slow = with_warm_up(1.1e6), even = with_warm_up(100e3);
  CHECK(gain(slow, "S7") == Approx(1e6).epsilon(0.01));
  // Of the rest a call of 10 us at the roof loses 90.
  CHECK(gain(slow, "R2") == Approx(900e3).epsilon(0.01));
  CHECK(gain(slow, "R2") == Approx(gain(even, "R2")).epsilon(0.01));
  CHECK(gain(slow, "H1") == Approx(gain(even, "H1")).epsilon(0.01));
  CHECK(kprof_test::text_of(asked(slow, "R2")[0])
            .find("Op n=1 is 50% of the run without its first call at 10% of the rate") == 0);
}

TEST_CASE("advice_host.R3_rows_that_lose_much_together") {
  // Rows of 90 us, at 10 % of the roof each, in a run of a millisecond.
  const auto rows = [](int count, double wall_ns, double first_ns = 90e3) {
    profile_builder b;
    const auto main = b.thread("main", 1);
    for (int i = 0; i < count; ++i) {
      const auto node = b.op(main, "Conv", "n=" + std::to_string(i));
      b.calls(node, 1, i == 0 ? first_ns : 90e3).work(node, 900'000, 1000, 0);
    }
    profile p = host_case::finished(b);
    p.wall_ns = wall_ns;
    p.threads[0].in_scopes_ns = 0;
    return p;
  };
  CHECK(gain(rows(4, T), "R3") == Approx(4 * 81e3));
  CHECK(gain(rows(4, T), "R2") == silent);
  CHECK(kprof_test::text_of(asked(rows(4, T), "R3")[0]) ==
        "Conv is 36% of the run at 10% of the roof in 4 rows, none of which loses much alone. "
        "Look at what they have in common; Conv n=0 loses most, 81.0 \u00B5s");
  CHECK(gain(rows(1, T), "R3") == silent);
  CHECK(gain(rows(4, 3.3 * T), "R3") == silent);   // 9.8 % of the run
  CHECK(gain(rows(4, T, 110e3), "R3") == silent);  // one of them loses 10 % alone: R2
  CHECK(gain(rows(4, T, 110e3), "R2") > 0);
}

TEST_CASE("advice_host.R4_operators_without_formulas") {
  // Blur, twice as long as Load, each some of a millisecond; Gemm has formulas.
  const auto run = [](double load_ns, int formulas = 0) {
    profile_builder b;
    const auto main = b.thread("main", 1);
    const auto blur = b.op(main, "Blur", "n=1"), load = b.op(main, "Load", "n=1"),
               gemm = b.op(main, "Gemm", "n=1");
    b.calls(blur, 1, 2 * load_ns).calls(gemm, 1, T - 3 * load_ns).work(gemm, 1000, 1000, 0);
    if (load_ns > 0) b.calls(load, 1, load_ns);
    profile p = host_case::finished(b);
    if (formulas > 0) p.nodes[blur].work.has_flops = p.nodes[blur].work.has_bytes = true;
    if (formulas > 1) p.nodes[load].work.has_bytes = true;
    return p;
  };
  CHECK(gain(run(0.1 * T), "R4") == not_stated);
  CHECK(
      kprof_test::text_of(asked(run(0.1 * T), "R4")[0])
          .find("Blur and 1 more operator take 30% of the run, and say neither FLOPs nor bytes. "
                "Two constexpr functions in a struct bring its rates, its roof and what bounds it: "
                "kprof::count flops() const and kprof::traffic bytes() const") == 0);
  CHECK(gain(run(0.068 * T), "R4") == not_stated);
  CHECK(gain(run(0.066 * T), "R4") == silent);
  CHECK(gain(run(0.3 * T, 1), "R4") == not_stated);  // Load alone
  CHECK(kprof_test::text_of(asked(run(0.3 * T, 1), "R4")[0])
            .find("Load takes 30% of the run, and says neither") == 0);
  CHECK(gain(run(0.3 * T, 2), "R4") == silent);
  // FLOPs alone, far from the roof of arithmetic: memory may hold it back.
  profile alone = run(0.3 * T, 2);
  alone.nodes[1].work = {.has_flops = true, .flops = 1000, .type = kprof::dtype::f32};
  CHECK(kprof_test::text_of(asked(alone, "R4")[0]) ==
        "Blur takes 60% of the run far from what arithmetic allows, and does not say its bytes. "
        "kprof::traffic bytes() const tells whether memory holds it back");
  CHECK(gain(alone, "R2") == silent);
  alone.nodes[1].work.type = kprof::dtype::unknown;
  CHECK(kprof_test::text_of(asked(alone, "R4")[0])
            .find("Blur takes 60% of the run, and does not say what type it computes with. A "
                  "member kprof::dtype type = kprof::dtype::f32") == 0);
  alone.nodes[1].work.type = kprof::dtype::f32;
  alone.nodes[1].work.has_bytes = true;
  CHECK(gain(alone, "R4") == silent);
  // Where devices work, shares are of their time, and what waits for them on the host has none.
  profile device = run(0.3 * T);
  device.device.work.resize(2);
  for (const std::uint32_t op : {0U, 1U}) {
    device.device.work[op].scope = op == 0 ? 1 : 3;  // Blur, Gemm
    device.device.work[op].calls = 1;
    device.device.work[op].total_ns = op == 0 ? 3 * T : 9 * T;
  }
  CHECK(kprof_test::text_of(asked(device, "R4")[0])
            .find("Blur takes 25% of the device time, and says neither") == 0);
  device.device.work[1].total_ns = 13 * T;
  CHECK(gain(device, "R4") == silent);
}
