// SPDX-License-Identifier: MIT

// Rows projected on another machine: each keeps its share of the roof.

#include <kprof/report/text.hpp>
#include <kprof/tables.hpp>

#include "catch.hpp"

#include "device_builder.hpp"
#include "machines.hpp"
#include "report_page.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using kprof::absence;
using kprof::dtype;
using kprof::operator_row;
using kprof::other_machine;
using kprof::profile;
using kprof::report_options;
using kprof_test::device_builder;
using kprof_test::has;
using kprof_test::page_of;
using kprof_test::profile_builder;

namespace {

other_machine machine_of(const std::string& name) {
  other_machine out;
  std::vector<std::string> complaints;
  const kprof::status s = kprof::detail::read_machine(name, out, complaints);
  CHECK(s.message.empty());
  CHECK(complaints.empty());
  return out;
}
std::string error_of(const std::string& name) {
  other_machine out;
  std::vector<std::string> complaints;
  return kprof::detail::read_machine(name, out, complaints).message;
}

operator_row on_other(const profile& p, const other_machine& to,
                      const kprof::grouping& by = kprof::grouping::op) {
  const auto rows = kprof::operator_table(
      p, by, [](const kprof::scope_node&) { return true; }, &to);
  REQUIRE(rows.size() == 1);
  return rows[0];
}

/// A call of one thread: 12 ms, 10 of them needed for 1 GFLOP.
profile one_gemm(double ns = 12e6, std::uint64_t bytes = 100'000'000) {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  b.calls(op, 3, ns).work(op, 1'000'000'000, bytes, 0, dtype::f32);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  return p;
}

/// On H100: 8192^3 in f16, 1.6 ms a call.
profile gemm_on_h100() {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  b.calls(op, 2, 5000).work(op, 2ULL * 8192 * 8192 * 8192, 3ULL * 8192 * 8192 * 2, 0, dtype::f16);
  b.p.nodes[op].work.on = kprof::arithmetic_unit::tensor_core;
  b.kernel(op, "k", 2, 1.6e6, 1056);
  profile p = b.done();
  kprof_test::add_device(p);
  p.device.devices[0].l2_bytes = 50 << 20;
  p.machine.gpus = {kprof_test::h100()};
  return p;
}

struct own_file {
  std::string path = "projection.test." + std::to_string(getpid()) + ".txt";
  explicit own_file(const std::string& text) {
    std::FILE* const f = std::fopen(path.c_str(), "w");
    REQUIRE(f != nullptr);
    std::fputs(text.c_str(), f);
    std::fclose(f);
  }
  own_file(const own_file&) = delete;
  own_file& operator=(const own_file&) = delete;
  ~own_file() { std::remove(path.c_str()); }
};

}  // namespace

TEST_CASE("projection.gpus_are_found_by_common_names") {
  for (const char* name :
       {"H100", "h100", "NVIDIA H100", "H100 SXM", "h100-sxm5", "H100 80GB HBM3"})
    CHECK(machine_of(name).gpu.device == "NVIDIA H100 80GB HBM3");
  CHECK(machine_of("H100-PCIe").gpu.device == "NVIDIA H100 PCIe");
  CHECK(machine_of("4090").gpu.device == "NVIDIA GeForce RTX 4090");
  CHECK(machine_of("rtx4090").gpu.device == "NVIDIA GeForce RTX 4090");
  CHECK(machine_of("A100").l2_bytes == 40U << 20U);
  // L4 and L40 are no neighbours.
  CHECK(machine_of("L4").gpu.memory_bytes == 300e9);
  CHECK(machine_of("L40").gpu.memory_bytes == 864e9);
  for (const kprof::detail::known_gpu& gpu : kprof::detail::known_gpus) {
    INFO(gpu.name);
    CHECK(kprof::detail::find_known_gpu(gpu.name) == &gpu);
    CHECK(kprof::detail::find_known_gpu(gpu.device) == &gpu);
    CHECK(machine_of(gpu.name).gpu.arithmetic.size() > 5);
    CHECK(machine_of(gpu.name).gpu.memory_bytes > 0);
  }
  const auto f16 = [](const char* name) {
    return machine_of(name)
               .gpu.find(dtype::f16, kprof::arithmetic_unit::tensor_core, dtype::f32)
               ->operations /
           1e12;
  };
  CHECK(f16("H100") == Approx(989.4).epsilon(0.002));
  CHECK(f16("A100") == Approx(312).epsilon(0.002));
  CHECK(f16("L4") == Approx(121).epsilon(0.002));
  CHECK(f16("RTX 4090") == Approx(165.2).epsilon(0.002));
  CHECK(f16("B200") == Approx(2250).epsilon(0.002));
}

TEST_CASE("projection.an_unknown_machine_is_an_error_that_names_others") {
  CHECK(error_of("H10") ==
        "unknown machine \"H10\"; did you mean: H100, H100 PCIe, H100 NVL; or name a file of "
        "ceilings");
  CHECK(has(error_of("TPU"), "unknown machine \"TPU\"; choose from: V100, T4, RTX 2080 Ti, A100"));
  CHECK(has(error_of("/none/ceilings.txt"),
            "machine=\"/none/ceilings.txt\" cannot be read (No such"));
  const own_file none("# nothing\n");
  CHECK(has(error_of(none.path), "has no ceilings"));
  std::string page;
  report_options options;
  options.machine = "TPU";
  CHECK(has(write_text(one_gemm(), options, page).message, "unknown machine \"TPU\""));
  CHECK(page.empty());
}

TEST_CASE("projection.a_device_s_row_takes_as_much_longer_as_its_roof_is_lower") {
  // 1.0995e12 FLOP at 121.16 TFLOP/s, 69.456 % of the roof: 13.07 ms instead of 1.6.
  const operator_row row = on_other(gemm_on_h100(), machine_of("L4"));
  CHECK(row.projected_ns.known());
  CHECK(row.projected_ns.value == Approx(2 * 1.6e6 * 989.4 / 121.16).epsilon(1e-3));
  CHECK(row.projected_of_ns == Approx(2 * 1.6e6));
  // At 3 % of the bandwidth of L4, memory is the roof there: 403 MB at 300 GB/s, 1.34 ms.
  profile p = gemm_on_h100();
  p.nodes[1].work.flops = 1'000'000'000;
  const double here = 3. * 8192 * 8192 * 2 / 3352e9, there = 3. * 8192 * 8192 * 2 / 300e9;
  CHECK(on_other(p, machine_of("L4")).projected_ns.value == Approx(2 * 1.6e6 * there / here));
}

TEST_CASE("projection.the_bounding_roof_may_be_another_there") {
  // 1 GFLOP and 100 MB: arithmetic bounds here, 10 ms; memory on H100, 29.8 us.
  const double there_ns = 100e6 / 3352e9 * 1e9;
  CHECK(on_other(one_gemm(), machine_of("H100")).projected_ns.value ==
        Approx(3 * 12e6 * there_ns / 10e6));
  // f64 is there too, f16 has no ceiling here.
  profile p = one_gemm();
  p.nodes[1].work.type = dtype::f16;
  CHECK(on_other(p, machine_of("H100")).projected_ns.why == absence::no_ceiling);
  p.nodes[1].work.has_flops = p.nodes[1].work.has_bytes = false;
  CHECK(on_other(p, machine_of("H100")).projected_ns.why == absence::no_flops);
  // What no machine can do says nothing of another one.
  CHECK(on_other(one_gemm(1e6), machine_of("H100")).projected_ns.why == absence::impossible);
}

TEST_CASE("projection.what_a_cache_held_needs_a_cache_there") {
  // 8 MB in 100 us: 80 GB/s, from a cache of 100. In A100's L2 at 5120 B a clock of 1.41 GHz; no
  // one knows the rate of H100's; V100's L2 of 6 MiB is too little, so from its memory.
  profile p = one_gemm(100e3, 8'000'000);
  p.nodes[1].work.flops = 1;
  const double here = 8e6 / 100e9;
  CHECK(on_other(p, machine_of("A100")).projected_ns.value ==
        Approx(300e3 * (8e6 / (5120 * 1.41e9)) / here));
  CHECK(on_other(p, machine_of("H100")).projected_ns.why == absence::other_ceiling);
  CHECK(on_other(p, machine_of("V100")).projected_ns.value == Approx(300e3 * (8e6 / 900e9) / here));
  CHECK(on_other(p, machine_of("H20")).projected_ns.why == absence::other_ceiling);
}

TEST_CASE("projection.a_file_of_ceilings_is_a_machine") {
  const own_file file("processor = Fast\nthreads = 8\nf32 = 300 2400 GFLOP/s\nDRAM = 20 80 GB/s\n");
  const other_machine fast = machine_of(file.path);
  CHECK(fast.name == "Fast");
  CHECK(on_other(one_gemm(), fast).projected_ns.value == Approx(3 * 12e6 * 5e6 / 10e6));
  // Of a call on both threads here: on all eight there, 12.5 and 5 times faster.
  profile p = one_gemm(6e6);
  p.nodes[1].work.threads = 2;
  CHECK(on_other(p, fast).projected_ns.value == Approx(3 * 6e6 * (100e6 / 80e9) / (1. / 200)));
  // Of a GPU, nothing is said.
  CHECK(on_other(gemm_on_h100(), fast).projected_ns.why == absence::other_ceiling);
  // A GPU of the table with one figure of a person's.
  const own_file gpu("gpu = L4\ngpu.f16.tensor = 60 TFLOP/s\n");
  CHECK(on_other(gemm_on_h100(), machine_of(gpu.path)).projected_ns.value ==
        Approx(2 * 1.6e6 * 989.4 / 60).epsilon(1e-6));
  CHECK(machine_of(gpu.path).gpu.memory_bytes == 300e9);
}

TEST_CASE("projection.a_run_on_a_device_leaves_the_host_s_rows_there") {
  profile p = gemm_on_h100();
  p.machine.cpu = kprof_test::two_cpus();
  kprof::scope_node host = p.nodes[1];
  host.name = "Load";
  host.work = {.has_flops = true, .flops = 1000, .type = dtype::f32};
  p.nodes.push_back(host);
  const other_machine l4 = machine_of("L4");
  for (const operator_row& row : kprof::operator_table(
           p, kprof::grouping::op, [](const kprof::scope_node&) { return true; }, &l4))
    CHECK(row.projected_ns.known() == (row.name == "Gemm"));
}

TEST_CASE("projection.the_report_says_so") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto gemm = b.op(main, "Gemm", "n=1"), silent = b.op(main, "Silent");
  b.calls(gemm, 3, 12e6).work(gemm, 1'000'000'000, 100'000'000, 0, dtype::f32);
  b.calls(silent, 1, 12e6);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  report_options options = kprof_test::at_width(160);
  options.machine = "H100";
  options.ascii = true;
  const std::string page = page_of(p, options);
  INFO(page);
  CHECK(has(page,
            "projected on NVIDIA H100 80GB HBM3: each row keeps its share of the roof; launches, "
            "and copies to it and from it, are not in it"));
  CHECK(has(page, "f32 66.9 TFLOP/s"));
  // 36 of 48 ms; 36 ms x 29.83 us / 10 ms.
  CHECK(has(page, "projected: 36.0 ms of the 48.0 ms in operators (75.0%) would take 107 us, "));
  CHECK(has(page, "335 times faster; the rest has no verdict that holds there"));
  CHECK(has(page, "n/a, no flops() declared: Silent"));
  options.machine.clear();
  CHECK_FALSE(has(page_of(p, options), "projected"));
  options.columns = {"operator", "projected"};
  CHECK(has(page_of(p, options), "n/a, no other machine was named (machine=): Silent, Gemm"));
}
