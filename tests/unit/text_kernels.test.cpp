// SPDX-License-Identifier: MIT
// The table of kernels of a program that says nothing of operators.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/page_checks.hpp"
#include "../support/report_page.hpp"
#include "../support/torch_training.hpp"
#include "../support/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using kprof::report_options;
using kprof_test::ascii_at_width;
using kprof_test::count_of;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::plain_at_width;
using kprof_test::section;
using kprof_test::words;

TEST_CASE("text_kernels.a_kernel_outside_operators_has_one_row") {
  REQUIRE(kprof_test::use_utf8_locale());
  const kprof::profile run = kprof_test::torch_training();
  report_options options = plain_at_width(140);
  const std::string few = section(page_of(run, options), "Kernels");
  INFO(few);
  CHECK(count_of(few, "elementwise_kernel direct_copy_kernel_cuda(float)") == 1);
  CHECK(has(words(line_with(few, "direct_copy_kernel_cuda")), " 1,040 4.92 ms "));
  CHECK(has(few, "; a row for each launch configuration: kernels=on\n"));
  CHECK(kprof_test::kernel_rows_of(few).size() == 16);
  const std::string cut = words(line_with(few, "more rows"));
  CHECK(has(cut, " 14 more rows (kernels=on: up to 40) "));
  options.kernels = true;
  const std::string all = section(page_of(run, options), "Kernels");
  CHECK(count_of(all, "elementwise_kernel direct_copy_kernel_cuda(float)") == 3);
  CHECK(has(words(line_with(all, "more rows")), " 5 more rows (top=40) "));
  CHECK_FALSE(has(all, "launch configuration"));
  CHECK(words(line_with(few, "all kernels")) == words(line_with(all, "all kernels")));
}

TEST_CASE("text_kernels.rows_that_are_all_in_one_place_do_not_repeat_it") {
  const kprof::profile run = kprof_test::torch_training();
  const std::string rows = section(page_of(run, plain_at_width(100)), "Kernels");
  INFO(rows);
  CHECK_FALSE(has(rows, "(outside)"));
  CHECK(has(rows, "; all are outside any operator"));
  CHECK(words(line_with(rows, "all kernels")).starts_with("all kernels 4,904 "));
  CHECK_FALSE(has(line_with(rows, "kernel "), "tensor core"));  // nobody knows
}

TEST_CASE("text_kernels.a_line_of_what_differs_can_be_read_alone") {
  kprof_test::device_builder b;
  const auto main = b.thread("main", 1), forward = b.region(main, "forward"),
             update = b.region(main, "update"), op = b.op(main, "A"), inner = b.region(op, "inner");
  b.calls(op, 1, 100);
  const auto launch = [&](std::uint32_t scope, std::uint32_t blocks, std::uint32_t shared = 0) {
    b.kernel(scope, "k", 1, 1000.0 + blocks + shared, blocks).dynamic_shared = shared;
  };
  launch(forward, 1), launch(main, 1);
  launch(forward, 2);
  launch(main, 3);
  launch(forward, 4), launch(update, 4);
  launch(forward, 5), launch(update, 5), launch(main, 5);
  launch(inner, 1), launch(op, 2), launch(op, 2, 1024);
  report_options options = ascii_at_width(76);
  options.kernels = true;
  const std::string rows = section(page_of(b.done(), options), "Kernels");
  std::string said = rows;
  std::replace(said.begin(), said.end(), '\n', ' ');
  said = words(said);
  INFO(rows);
  for (const char* const fact :
       {" us in forward and outside ", " us in forward A ", " us outside regions (",
        " us in 2 regions (", " us in 2 regions and outside ", " us in inner ",
        " us outside regions, shared 0 B ", " us outside regions, shared 1.00 KiB "})
    CHECK(count_of(said + ' ', fact) == 1);
  CHECK_FALSE(has(rows, "region "));
  CHECK_FALSE(has(rows, "none"));
}

TEST_CASE("text_kernels.rows_that_differ_in_how_they_were_launched_alone_say_so") {
  kprof_test::device_builder b;
  const auto op = b.op(b.thread("main", 1), "A");
  b.calls(op, 2, 100);
  b.kernel(op, "in an operator", 1, 1000, 4);
  b.kernel(op, "in an operator", 1, 1500, 4).cooperative = true;
  b.kernel(0, "outside", 1, 2000, 4);
  b.kernel(0, "outside", 1, 2500, 4).cooperative = true;
  report_options options = ascii_at_width(76);
  options.kernels = true;
  const std::string rows = section(page_of(b.done(), options), "Kernels");
  INFO(rows);
  CHECK(count_of(rows, "cooperative") == 2);
  CHECK_FALSE(has(rows, "#"));
}

TEST_CASE("text_kernels.the_heading_speaks_of_all_rows_and_the_largest_is_never_folded") {
  kprof_test::device_builder b;
  const auto op = b.op(b.thread("main", 1), "A");
  b.calls(op, 200, 100);
  for (std::uint32_t blocks = 1; blocks <= 200; ++blocks)
    b.kernel(op, "k", 1, 1000.0 + blocks, blocks);
  report_options options = ascii_at_width(100);
  options.kernels = true;
  const std::string folded = section(page_of(b.done(), options), "Kernels");
  INFO(folded);
  CHECK_FALSE(has(folded, "outside any operator"));
  CHECK_FALSE(has(folded, "no kernel matches"));
  CHECK(count_of(folded, "1.20 us") >= 1);
  options.filter = "nosuch";
  const std::string none = section(page_of(b.done(), options), "Kernels");
  INFO(none);
  CHECK(has(none, "no kernel matches the filter"));
  CHECK_FALSE(has(none, "outside any operator"));
}
