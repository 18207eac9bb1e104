// SPDX-License-Identifier: MIT
// What the text report says of devices, launches, records and calls that threads share, and whole
// kernel names.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/shared_profile.hpp"
#include "../support/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

using kprof::device_completeness;
using kprof::device_work;
using kprof::report_options;
using kprof_test::ascii_at_width;
using kprof_test::at_width;
using kprof_test::count_of;
using kprof_test::device_builder;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::section;
using kprof_test::small_device_profile;
using kprof_test::words;

TEST_CASE("device_report.sections_can_be_left_out") {
  report_options options = ascii_at_width(100);
  CHECK(has(page_of(small_device_profile(), options),
            "\nKernels, sorted by total; share is of 100 us of device time\n"));
  CHECK(has(page_of(small_device_profile(), options),
            "\nCopies and memsets, sorted by total; share is of 100 us of device time\n"));
  options.kernels = false;
  CHECK_FALSE(has(page_of(small_device_profile(), options), "Kernels"));
  options.kernels = true;
  options.copies = false;
  CHECK_FALSE(has(page_of(small_device_profile(), options), "Copies"));
  kprof::profile p = small_device_profile();
  std::erase_if(p.device.work,
                [](const device_work& w) { return w.task == kprof::device_task::copy; });
  CHECK_FALSE(has(page_of(p, ascii_at_width(100)), "Copies"));
  p.device.work.clear();
  CHECK_FALSE(has(page_of(p, ascii_at_width(100)), "Kernels"));
}

TEST_CASE("device_report.whole_names_are_listed_once_and_made_safe") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const std::string huge = "_ZN2my3opsI" + std::string(3000, 'x') + "E\x1b[2J";
  b.kernel(main, "_Z4axpyfPKfPfm", 2, 50);
  b.kernel(b.region(main, "r"), "_Z4axpyfPKfPfm", 2, 40).registers = 9;
  b.kernel(main, huge, 1, 30);
  report_options options = ascii_at_width(60);
  CHECK_FALSE(has(page_of(b.done(), options), "Whole names"));
  options.full_names = true;
  const std::string page = page_of(b.done(), options);
  const std::string names = page.substr(page.find("\nWhole names of the kernels\n"));
  CHECK(count_of(names, "axpy(float, float const*, float*, unsigned long)") == 1);
  CHECK(count_of(names, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") > 50);
  CHECK(has(names, "\\x1b"));
  CHECK(has(section(page, "Kernels"), "my::ops<long"));
  options.top = 1;
  CHECK_FALSE(has(page_of(b.done(), options), "xxxx"));  // of the rows that are shown
}

TEST_CASE("device_report.devices_are_described_below_the_first_line") {
  kprof::profile p = small_device_profile();
  const auto line = [&](std::size_t n) {
    return kprof_test::lines_of(page_of(p, ascii_at_width(200)))[n];
  };
  CHECK(line(1) ==
        "device 0 | NVIDIA H100 80GB HBM3 | compute 9.0 | 132 SMs | 3,352 GB/s | busy 100 us, "
        "<0.1% of wall");
  p.device.devices[0].sum_ns *= 1.009;
  CHECK_FALSE(has(line(1), "summed"));
  p.device.devices[0].sum_ns *= 1.1;
  p.wall_ns = 200'000;
  CHECK(has(line(1), "| busy 100 us, 50.0% of wall (run times summed 111 us)"));
  p.device.devices[0].busy_is_exact = false;
  CHECK(has(line(1), "| busy at least 100 us, 50.0% of wall"));
  p.device.devices[0].memory_bytes_per_s = 0;
  CHECK(has(line(1), "| GB/s n/a |"));
  p.device.devices[0].name = "evil\n\x1b[1m";
  CHECK(has(line(1), "evil\\n\\x1b[1m"));
  p.device.devices.resize(2);
  p.device.devices[1].id = 3;
  p.device.devices[1].sum_ns = 2;
  p.device.devices[1].busy_ns = -4;
  p.wall_ns = 0;
  CHECK(line(2) == "device 3 | not described by the driver | busy 0 ns (run times summed 2.00 ns)");
  p.device.devices[1].sum_ns = 0;
  CHECK(line(2) == "no work on device 3");
  p.device.devices.push_back(p.device.devices[1]);
  p.device.devices[2].id = 4;
  CHECK(line(2) == "no work on devices 3, 4");
  p.device.devices.erase(p.device.devices.begin());
  CHECK(line(1) == "device 3 | not described by the driver | busy 0 ns");  // none did anything
  CHECK(line(2) == "device 4 | not described by the driver | busy 0 ns");
}

TEST_CASE("device_report.why_nothing_is_collected_is_told_at_the_top") {
  kprof::profile p = kprof_test::sample_profile();
  p.device.state = "libcupti was not found; install the CUDA Toolkit";
  CHECK(kprof_test::lines_of(page_of(p, ascii_at_width(100)))[1] ==
        "device: libcupti was not found; install the CUDA Toolkit; times and rates are the host's");
  p.device.collecting = true;
  p.device.state = "CUPTI 13.0 (API 130001)";
  CHECK_FALSE(has(page_of(p, ascii_at_width(100)), "device: "));
  CHECK(has(page_of(p, ascii_at_width(100)), "\n  collector CUPTI 13.0 (API 130001)\n"));
}

TEST_CASE("device_report.launches_are_accounted_for") {
  kprof::profile p = small_device_profile();
  std::string page = page_of(p, ascii_at_width(300));
  CHECK(has(page,
            "\n  device    30 launches = 20 attributed + 10 outside any operator; 31 records of "
            "kernels, copies and memsets; none open, dropped, without "
            "timing, lost, ignored, odd, merged, of foreign graphs or unaccounted\n"));
  CHECK(has(page, "\n  sync      120 calls that wait for a device, 1.31 s of host time\n"));
  CHECK(has(page, "an empty scope shows 11.2 ns; collecting 8.10 ms; CUPTI itself 2.60 ms\n"));
  p.device.complete.unknown = 0;
  p.device.complete.synchronizations = 0;
  p.cost.scope_ns = 0;
  page = page_of(p, ascii_at_width(300));
  CHECK(count_of(page, "\n! ") == 0);
  CHECK(has(page, "none open, dropped, without timing, of unknown launch, lost, ignored"));
  CHECK(has(page, "\n  sync      no call that waits for a device\n"));
  CHECK(has(page, "n/a: not measured in this process; collecting 8.10 ms"));
}

TEST_CASE("device_report.what_went_wrong_stands_out") {
  const std::pair<std::uint64_t device_completeness::*, const char*> counts[] = {
      {&device_completeness::open, "open: launches of which no work on the device is known"},
      {&device_completeness::dropped,
       "dropped: records of kernels and copies that CUPTI or kprof had no memory for"},
      {&device_completeness::untimed, "without timing: records for which CUPTI gave no time"},
      {&device_completeness::unknown, "of unknown launch: records whose launch was not seen"},
      {&device_completeness::launches_lost,
       "lost: launches that could not be noted for want of memory; their work is of unknown "
       "launch. Raise the memory limit (64.0 MiB)."},
      {&device_completeness::odd, "odd: records of a kind that this kprof does not know"},
      {&device_completeness::merged,
       "merged: kernels and copies kept without name and launch configuration"},
      {&device_completeness::foreign_graphs,
       "of foreign graphs: runs of nodes of CUDA graphs that were made before the recording "
       "began"}};
  for (const auto& [count, text] : counts) {
    kprof::profile p = small_device_profile();
    p.device.complete.unknown = 0;
    p.device.complete.*count = 1234;
    if (count == &device_completeness::open) p.device.complete.launches += 1234;
    const std::string page = page_of(p, ascii_at_width(400));
    INFO(text);
    CHECK(count_of(page, "\n! ") == 1);
    CHECK(has(page, std::string{"\n! 1,234 "} + text));
  }
  kprof::profile p = small_device_profile();
  p.device.complete.unknown = 0;
  p.device.complete.ignored = 1234;  // as the program asked for
  CHECK(has(page_of(p, ascii_at_width(400)),
            "memsets; 1,234 ignored (records of work launched before the recording began or while "
            "it was paused); none open"));
  CHECK(count_of(page_of(p, ascii_at_width(400)), "\n! ") == 0);
  p.device.complete.open = 4;
  p.device.complete.launches += 4;
  CHECK(has(page_of(p, ascii_at_width(400)),
            "34 launches = 20 attributed + 10 outside any operator + 4 open;"));
  p.device.complete.launches -= 1;
  CHECK(has(page_of(p, ascii_at_width(400)), "\n! 1 unaccounted: "));
  p.device.complete.launches += 3;
  CHECK(has(page_of(p, ascii_at_width(400)), "\n! 2 unaccounted: "));
  p.device.complete.forgotten_graphs = 7;
  CHECK_FALSE(has(page_of(p, ascii_at_width(400)), "forgot"));  // none of their nodes has run since
  p.device.complete.foreign_graphs = 5;
  CHECK(has(page_of(p, ascii_at_width(400)),
            "made before the recording began, or of the 7 graphs that kprof forgot for want of "
            "memory, those not launched for "
            "longest (raise the memory limit (64.0 MiB)): which operator"));
}

TEST_CASE("device_report.work_without_scopes_is_shown") {
  device_builder b;
  b.kernel(b.thread("main", 1), "_Z4axpyfPKfPfm", 40, 12e3);
  const std::string page = page_of(b.done(), ascii_at_width(160));
  CHECK(has(page,
            "\nno scopes were recorded\noutside any operator: 40 kernels, 0 copies, device 480 us, "
            "100.0%\n"
            "outside any operator, by name: axpy 480 us (40)\n"));
  CHECK(has(section(page, "Kernels"), "\naxpy "));
  CHECK_FALSE(has(section(page, "Kernels"), "parameters"));
}

TEST_CASE("device_report.a_kernels_name_keeps_both_ends") {
  using kprof::detail::printable_ends;
  CHECK(printable_ends("abcdefghij", 10, false) == "abcdefghij");
  CHECK(printable_ends("abcdefghij", 9, false) == "abcd\u2026ghij");
  CHECK(printable_ends("abcdefghij", 8, false) == "abcd\u2026hij");
  CHECK(printable_ends("abcdefghij", 8, true) == "abcd...j");
  CHECK(printable_ends("abcdefghij", 1, false) == ".");
  CHECK(printable_ends("abcdefghij", 0, false).empty());
  CHECK(printable_ends("\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97", 5, false) ==
        "\xE6\xBC\xA2\u2026\xE5\xAD\x97");
  CHECK(printable_ends("a\nb", 4, false) == "a\\nb");
  for (const std::string& name : kprof_test::hostile_names())
    for (std::size_t width = 0; width < 40; ++width)
      REQUIRE(kprof::detail::display_width(printable_ends(name, width, width % 2 == 0)) <= width);
}

TEST_CASE("report.shared_calls_have_a_table_of_their_own") {
  kprof::profile p = kprof_test::shared_profile();
  const std::string title = "Calls that threads share";
  std::string page = page_of(p, at_width(100));
  page = page.substr(page.find(title));
  // 256 x 0.32 + 128 x 0.86 + 64 x 2.5 ms; 0.9 / ((3 x 0.6 + 0.9) / 4); 4 - 2.7 of each duration
  CHECK(words(line_with(page, "MulMat")) == "MulMat 458 ms 1.33 4 352 ms");
  CHECK(words(line_with(page, "SoftMax")) == "SoftMax 1.66 ms 1.33 4 1.28 ms");
  CHECK(words(line_with(page, "all of them")) == "all of them 459 ms 1.33 4 353 ms");
  CHECK_FALSE(has(page.substr(0, page.find("Call tree")), "GetRows"));

  // Threads that share calls in different numbers, and calls whose parts were not joined.
  for (kprof::scope_node& n : p.nodes) {
    if (n.name == "MulMat" && n.shared.calls == 64) n.shared.parts = 3;
    if (n.name != "SoftMax" || n.shared.calls == 0) continue;
    n.shared = {};
    n.shared.parts = 4;
    n.shared.calls = 64;
  }
  page = page_of(p, at_width(100));
  CHECK(has(page, "n/a, parts of shared calls came too many calls later than others: "));
  page = page.substr(page.find(title));
  CHECK(words(line_with(page, "MulMat")).ends_with(" 3.86 352 ms"));
  CHECK(words(line_with(page, "SoftMax")) == "SoftMax n/a n/a 4 n/a");

  // One operator needs no sum; what a filter leaves out is in none.
  kprof::report_options one = at_width(100);
  one.filter = "MulMat";
  CHECK_FALSE(has(page_of(kprof_test::shared_profile(), one), "all of them"));

  page = page_of(p, at_width(40));
  page = page.substr(page.find(title));
  CHECK(words(line_with(page, "operator")) == "operator waiting imbalance threads");
  CHECK(has(page, "not shown at width 40: total"));

  report_options options = at_width(100);
  options.columns = {"operator", "threads", "imbalance"};
  page = page_of(p, options);
  CHECK_FALSE(has(page, title));
  CHECK(has(page, "n/a, no call is shared by threads (KPROF_PART): GetRows"));
  CHECK_FALSE(has(page_of(kprof_test::sample_profile(), at_width(100)), title));

  // What lacks parts is no complete run.
  options = at_width(100);
  options.details = false;
  CHECK(has(page_of(p, options), "Complete: nothing was lost"));
  for (std::uint64_t kprof::completeness::*count :
       {&kprof::completeness::incomplete_calls, &kprof::completeness::impossible_parts,
        &kprof::completeness::unjoined_calls}) {
    p.complete.*count = 7;
    page = page_of(p, options);
    CHECK(has(page, "Completeness"));
    CHECK(has(page, "7 "));
    p.complete.*count = 0;
  }
}

TEST_CASE("report.the_tree_folds_repeated_regions_and_says_their_rates") {
  kprof_test::profile_builder b;
  const auto forward = b.region(b.thread("main", 1), "forward");
  for (int i = 0; i < 3; ++i) {
    const auto layer = b.region(forward, "layer " + std::to_string(i)),
               gemm = b.op(layer, "Gemm", "n=2");
    b.calls(layer, 1, 1000 + 100 * i).calls(gemm, 1, 1000).work(gemm, 8000, 300, 100);
  }
  b.calls(b.region(forward, "long"), 1, 20'000).calls(forward, 1, 30'000);
  const kprof::profile p = b.done();
  report_options options = kprof_test::plain_at_width(140);
  options.table = false;
  const auto layers_first = [&] {
    const std::string page = page_of(p, options);
    return page.find(" layer 0") < page.find(" long ");
  };
  CHECK(kprof_test::words(kprof_test::line_with(page_of(p, options), "layer")) ==
        "\u2514\u2500 layer 0\u20262 \u00D73 3 3.30 \u00B5s 11.0% 1.00 \u00B5s \u2013 1.20 "
        "\u00B5s "
        "300 ns 1.10 \u00B5s 7.27 0.364 24.0 k");
  options.ascii = true;
  CHECK(has(page_of(p, options), " layer 0...2 x3 "));
  options.ascii = false;
  CHECK_FALSE(layers_first());
  options.order = kprof::tree_order::run;
  CHECK(layers_first());
  CHECK(has(page_of(p, options), "\nCall tree, in the order of the run; "));
  options.top = 0;
  CHECK(has(page_of(p, options), " layer 2 "));
}
