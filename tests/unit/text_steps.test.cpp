// SPDX-License-Identifier: MIT
// What is made of a program's steps, and the section of the text report that says it.

#include <kprof/model/steps.hpp>
#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_builder.hpp"
#include "../support/machines.hpp"
#include "../support/profile_builder.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/stepped_profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

using kprof_test::at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::stepped;

TEST_CASE("steps.rows_are_of_all_steps_and_details_of_the_whole_ones") {
  const kprof::profile p = stepped({40, 10, 10, 10, 10, 16});
  const std::vector<kprof::step_row> rows = kprof::step_table(p);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].count == 6);
  CHECK(rows[0].median_ns == Approx(10e6).epsilon(0.008));
  CHECK(rows[0].max_ns == 40e6);
  CHECK(rows[0].jitter() == Approx(4).epsilon(0.01));
  const kprof::step_details d = kprof::details_of_steps(p, rows[0].thread);
  CHECK(d.steps == 5);
  CHECK(d.total_ns == 56e6);
  CHECK(d.median_ns == 10e6);
  CHECK(d.excess_ns == 6e6);
  CHECK(d.flops == 10e6);
  REQUIRE(d.excess.size() == 3);
  CHECK(d.excess[0].name == "Data");
  CHECK(d.excess[0].ns == Approx(6e6));
  double sum = 0;
  for (const kprof::step_excess& e : d.excess) sum += e.ns;
  CHECK(sum == Approx(d.excess_ns));
  CHECK(d.least_ns < 0);
}

TEST_CASE("steps.what_slow_steps_took_more_is_shared_out_without_a_rest") {
  // Median 11: the slow ones took 12 and 18, the others 10, 10 and 11 on average 31/3.
  const kprof::step_details d = kprof::details_of_steps(stepped({9, 12, 10, 18, 10, 11}), 0);
  CHECK(d.median_ns == 11e6);
  CHECK(d.excess_ns == Approx(30e6 - 2 * 31e6 / 3));
  double sum = 0;
  for (const kprof::step_excess& e : d.excess) sum += e.ns;
  CHECK(sum == Approx(d.excess_ns));
}

TEST_CASE("steps.mfu_is_of_the_machines_peak_without_what_is_computed_again") {
  kprof::profile p = stepped({10, 10, 10});
  p.machine.cpu.threads = 2;
  p.machine.cpu.arithmetic.push_back({kprof::dtype::f32, "", {1e9, 2e9, false}});
  kprof::step_details d = kprof::details_of_steps(p, 0);
  CHECK(d.least_ns == Approx(2e6));  // 4 MFLOP at 2 GFLOP/s
  CHECK(d.type == kprof::dtype::f32);
  CHECK(has(page_of(p, at_width(100)),
            "2.00 MFLOP a step at 200 MFLOP/s, MFU 10.0% of 2.00 GFLOP/s for f32\n"));
  // Half of it once more: model FLOPs are the same, the hardware does more.
  kprof::profile again = p;
  again.nodes.push_back(again.nodes.back());
  again.nodes.back().work.pass = kprof::pass_kind::recompute;
  const auto second = static_cast<std::uint32_t>(again.nodes.size() - 1);
  for (const std::uint32_t step : {1U, 2U})
    again.stepping.shares.push_back({step, second, 1, 1e6, 1e6});
  d = kprof::details_of_steps(again, 0);
  CHECK(d.mfu() == Approx(0.1));
  CHECK(d.hfu() == Approx(0.2));
  CHECK(has(page_of(again, at_width(120)),
            "MFU 10.0%, with what is computed once more (HFU) 20.0% of 2.00 GFLOP/s for f32\n"));
  // More than the machine can do.
  kprof::profile wrong = p;
  wrong.machine.cpu.arithmetic[0].operations = {0.05e9, 0.1e9, false};
  CHECK(has(page_of(wrong, at_width(160)), "MFU 200.0% of 100 MFLOP/s for f32: impossible, "));
  for (kprof::scope_node& n : p.nodes) n.work.pass = kprof::pass_kind::recompute;
  d = kprof::details_of_steps(p, 0);
  CHECK(d.model_flops == 0);
  CHECK(d.flops == 4e6);
}

TEST_CASE("steps.mfu_of_f32_on_tensor_cores_is_of_their_rate") {
  const auto with = [](const char* kernel) {
    kprof_test::device_builder b;
    const kprof::profile from = stepped({10, 10, 10});
    b.p = from;
    b.kernel(2, kernel, 3, 1e6);
    kprof::profile p = b.done();
    kprof_test::add_device(p);
    p.stepping = from.stepping;
    p.steps = from.steps;
    p.machine.gpus = {kprof_test::h100()};
    return kprof::details_of_steps(p, 0);
  };
  const kprof::step_details tf32 = with("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tensor16x8x8");
  CHECK(tf32.type == kprof::dtype::tf32);
  CHECK(tf32.peak == 494.7e12);
  const kprof::step_details f32 = with("ampere_sgemm_128x64_nn");
  CHECK(f32.type == kprof::dtype::f32);
  CHECK(f32.peak == 66.9e12);
}

TEST_CASE("report.steps_have_a_section_where_there_are_two") {
  const std::string page = page_of(stepped({40, 10, 10, 10, 10, 16}), at_width(100));
  INFO(page);
  CHECK(has(page, "\nSteps\n"));
  CHECK(has(line_with(page, "jitter"), "steps   median"));
  CHECK(has(line_with(page, "the first step took"), "the first step took 3.99 times the median"));
  CHECK(has(page, "a run without it: KPROF='report,schedule(skip=1,active=5,repeat=1)'\n"));
  CHECK(
      has(page, "steps above the median took 6.00 ms more than as many others: 6.00 ms in Data\n"));
  CHECK(has(page, "MFU n/a: the peak of the machine is not known"));
  CHECK(has(page, "are of the 5 steps that the timeline has whole"));
  CHECK(has(page_of(stepped({10}), at_width(100)),
            "\nSteps: one has ended, after 10.0 ms; there is a table where two have\n"));
}

TEST_CASE("report.parts_of_the_excess_of_slow_steps_add_up") {
  // The slow step took 6 ms more: 10 ms more in Data, and 4 ms less in Gemm.
  kprof::profile p = stepped({40, 20, 20, 20, 26});
  for (kprof::step_share& s : p.stepping.shares) {
    const bool is_gemm = p.nodes[s.node].name == "Gemm", is_slow = s.step == 4;
    s.self_ns = s.total_ns = is_gemm ? (is_slow ? 1e6 : 5e6) : (is_slow ? 24e6 : 14e6);
  }
  const std::string page = page_of(p, at_width(120));
  INFO(page);
  CHECK(has(page,
            "steps above the median took 6.00 ms more than as many others: 10.0 ms in Data, 4.00 "
            "ms less in Gemm\n"));
}

TEST_CASE("report.steps_of_several_threads_are_told_apart") {
  kprof::profile p = stepped({40, 10, 10, 10, 11});
  CHECK_FALSE(has(page_of(p, at_width(100)), "what follows is of"));
  p.threads.push_back(p.threads[0]);
  p.threads[1].id = 77;
  kprof::thread_steps& other = p.stepping.threads.emplace_back(p.stepping.threads[0]);
  other.thread = 1;
  other.total_ns /= 2;
  const std::string page = page_of(p, at_width(100));
  INFO(page);
  CHECK(has(page, "\n  main 1       5 "));
  CHECK(has(page, "\n  main 77      5 "));
  CHECK(has(page, "\n  what follows is of main 1, whose steps take most time\n"));
}

TEST_CASE("report.a_step_region_that_gives_no_step_says_why") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (const char* name : {"a", "b", "a", "c", "d", "e", "f", "g"}) b.region(main, name);
  kprof::profile p = b.done();
  CHECK_FALSE(has(page_of(p, at_width(100)), "Steps"));
  p.stepping.region = "iter";
  CHECK(has(
      page_of(p, at_width(100)),
      "\nSteps: n/a, no region \"iter\" was recorded; there are \"a\", \"b\", \"c\", \"d\", \"e\" "
      "and 2 more\n"));
  p.stepping.region = "b";
  CHECK(has(page_of(p, at_width(100)), "\nSteps: n/a, no region \"b\" has ended\n"));
  kprof_test::profile_builder none;
  none.op(none.thread("main", 1), "Gemm", "M=1");
  p = none.done();
  p.stepping.region = "iter";
  CHECK(has(page_of(p, at_width(100)),
            "\nSteps: n/a, no region \"iter\" was recorded, nor any other\n"));
}

TEST_CASE("report.steps_of_which_the_timeline_has_none_have_numbers_and_a_reason") {
  kprof::profile p = stepped({10, 10, 11});
  p.stepping.whole_from = -1;
  p.stepping.shares.clear();
  p.stepping.region = "itera\ntion";
  const std::string page = page_of(p, at_width(60));
  INFO(page);
  CHECK(has(page, "the timeline\n    has not two whole steps"));
  CHECK(has(page, "Steps: regions \"itera"));
  CHECK_FALSE(has(page, "KPROF='schedule"));
}

TEST_CASE("report.steps_with_too_many_different_calls_are_not_told_to_take_more_memory") {
  kprof::profile p = stepped({10, 10, 11});
  p.stepping.whole_from = -1;
  p.stepping.without_shares = 2;
  p.stepping.shares.clear();
  std::string page = page_of(p, at_width(300));
  CHECK(has(page,
            "n/a, a table of steps has 65,536 entries, one for each step and place in the call "
            "tree. Fewer different parameters or names of regions help\n"));
  CHECK_FALSE(has(page, "`memory`"));
  p = stepped({10, 10, 10, 11, 10});
  p.stepping.whole_from = p.steps[2].begin;
  p.stepping.without_shares = 2;
  page = page_of(p, at_width(160));
  CHECK(has(page,
            "work and slow steps are of the latest 3 steps: a table of steps has 65,536 entries, "
            "one for each step and place in the call tree"));
}

TEST_CASE("report.references_of_steps_to_nothing_harm_nothing") {
  kprof::profile p = stepped({10, 10, 11});
  p.stepping.threads[0].thread = 77;
  p.stepping.shares.push_back({99, 99, 1, 1, 1});
  p.stepping.shares.push_back({1, kprof::step_share::none, 1, 1, 1});
  CHECK(has(page_of(p, at_width(100)), "n/a"));
  p = stepped({10, 10, 11});
  p.stepping.shares.push_back({99, 99, 1, 1, 1});
  CHECK(kprof::details_of_steps(p, 0).steps == 2);
}

TEST_CASE("report.steps_of_a_training_have_directions_by_layer") {
  kprof::profile p = stepped({10, 10, 11});
  const std::string before = page_of(p, at_width(100));
  CHECK_FALSE(has(before, "forward"));
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto fwd = b.region(main, "forward"), bwd = b.region(main, "backward");
  const auto layer = b.region(fwd, "conv1"), layer_back = b.region(bwd, "conv1");
  const auto conv = b.op(layer, "Conv2d", "N=8 pass=fprop"),
             back = b.op(layer_back, "Conv2d", "N=8 pass=bprop"), loss = b.op(main, "Loss", "n=1");
  b.calls(fwd, 1, 100e6).calls(bwd, 1, 800e6).calls(layer, 1, 100e6).calls(layer_back, 1, 800e6);
  b.calls(conv, 1, 100e6).calls(back, 1, 800e6).calls(loss, 1, 100e6);
  b.work(conv, 10, 1, 1).work(back, 20, 1, 1);
  kprof::profile training = b.done();
  training.stepping = p.stepping;
  training.stepping.shares.clear();
  training.stepping.whole_from = -1;
  const std::string page = page_of(training, at_width(100));
  INFO(page);
  CHECK(
      has(page,
          "  time            forward       backward  update          other\n"
          "  all       100 ms  10.0%  800 ms  80.0%       -  100 ms  10.0%\n"
          "  conv1     100 ms  10.0%  800 ms  80.0%       -              -\n"
          "  no layer              -              -       -  100 ms  10.0%\n"
          "  backward of Conv2d in conv1 took 8.00 times its forward, for 2.00 times the FLOPs\n"));
}
