// SPDX-License-Identifier: MIT
// What the report says of how devices spent their time.

#include <kprof/report/text.hpp>

#include "catch.hpp"
#include "report_page.hpp"
#include "timeline_builder.hpp"

#include <cstdint>
#include <string>

using kprof_test::at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::timeline_builder;

namespace {

std::string page_at(const kprof::profile& p, int width, bool ascii = false) {
  kprof::report_options options = at_width(width);
  options.advice = {"off"};
  options.ascii = ascii;
  return page_of(p, options);
}

struct builder : timeline_builder {
  std::uint32_t root = thread("main", 1);
  std::uint32_t gemm = op(root, "Gemm");
  builder() {
    p.wall_ns = 1'000'000;
    kernel_at({50'000, 60'000, 100'000, 300'000}, {.scope = gemm});
    kernel_at({60'000, 70'000, 302'000, 502'000}, {.scope = gemm});
    communication_at({80'000, 90'000, 400'000, 600'000}, {.stream = 8});
    copy_at({750'000, 760'000, 800'000, 900'000}, {.scope = gemm});
    event_at(1, 7, 55'000, 8, 75'000);
    sync_at(580'000, 650'000).waits_for = kprof::awaited::device;
    sync_at(770'000, 950'000).waits_for = kprof::awaited::device;
    scope_at(gemm, 700'000, 780'000);
    calls(gemm, 1, 80'000);
    kprof_test::add_device(p);
  }
};

}  // namespace

TEST_CASE("text_device_time.a_run_with_a_timeline") {
  const std::string page = page_at(builder{}.p, 160);
  // From 100 to 900 us; the gaps are [300, 302) of stream 7, which stream 8 does not fill, and
  // [600, 800) before the copy that was launched at 750.
  CHECK(has(page, "\ntimeline of the devices\n"));
  CHECK(
      line_with(page, "  device 0") ==
      "  device 0  800 \u00B5s: busy 74.8%, computing 50.0%, communicating 25.0% (exposed 12.3%), "
      "copying 12.5% (exposed 12.5%)");
  CHECK(line_with(page, "    idle") ==
        "    idle    202 \u00B5s, 25.3%: launched late 25.0%, from kernel to kernel 0.3%");
  // The call that waits returns 50 us late, 50 outside, 50 in Gemm, 50 from the launch on.
  CHECK(has(page,
            "    late    of this time the host was in calls that wait 25.0%, in other calls 25.0%, "
            "in operators 25.0%, outside scopes 25.0%; mostly outside scopes 100 \u00B5s,\n"
            "            Gemm 100 \u00B5s\n"));
  CHECK(line_with(page, "  critical") ==
        "  critical  1.00 ms: computing 20.0%, communicating 20.0%, copying 10.0%, host 20.0%, "
        "launching 10.0%, event waits 10.0%, returning to the host 10.0%");
  CHECK(line_with(page, "    on it") == "    on it   outside scopes 550 \u00B5s, Gemm 450 \u00B5s");
  CHECK_FALSE(has(page, "had no room in the timeline"));
}

TEST_CASE("text_device_time.says_that_records_are_missing") {
  builder b;
  CHECK_FALSE(has(page_at(b.p, 160), "were lost"));
  b.p.device.complete.dropped = 4;
  CHECK(has(page_at(b.p, 160),
            "! 4 records of kernels and copies were lost: the devices may have worked where these "
            "lines say idle\n"));
  b.p.device.complete.dropped = 0;
  b.p.device.complete.cut_buffers = 1;
  CHECK(has(page_at(b.p, 160), "! records of kernels and copies were lost: "));
}

TEST_CASE("text_device_time.of_a_stretch_that_is_whole") {
  builder b;
  b.p.device.timeline.windows = {{0, 50'000}, {600'000, 900'000}};
  b.p.device.timeline.dropped_items = 12;
  const std::string page = page_at(b.p, 160);
  CHECK(line_with(page, "  device 0") ==
        "  device 0  300 \u00B5s: busy 33.3%, copying 33.3% (exposed 33.3%)");
  CHECK(has(line_with(page, "  critical"), "300 \u00B5s: "));
  CHECK(has(page, "! 12 items and calls had no room in the timeline, which has the last 300"));
}

TEST_CASE("text_device_time.without_launches_or_calls") {
  timeline_builder b;
  b.thread("main", 1);
  b.kernel_at({-1, -1, 100, 200});
  b.kernel_at({-1, -1, 300, 400}, {.device = 3});
  b.kernel_at({-1, -1, 500, 400});
  const std::string page = page_at(b.p, 100);
  CHECK(line_with(page, "  device 0") == "  device 0  100 ns: busy 100.0%, computing 100.0%");
  CHECK(line_with(page, "  device 3") == "  device 3  100 ns: busy 100.0%, computing 100.0%");
  CHECK(line_with(page, "  critical") == "  critical  400 ns: computing 25.0%, host 75.0%");
}

TEST_CASE("text_device_time.a_run_without_one_has_no_such_section") {
  builder b;
  b.p.device.timeline = {};
  CHECK_FALSE(has(page_at(b.p, 160), "timeline of the devices"));
}

TEST_CASE("text_device_time.what_threads_did_before_the_first_known_scope_is_not_told") {
  builder b;
  b.p.complete.recorded = b.p.complete.in_timeline = 2;
  CHECK(has(page_at(b.p, 160), "outside scopes 25.0%; mostly outside scopes"));
  b.p.complete.in_timeline = 1;  // of a ring that begins when the devices' window does
  b.p.complete.timeline_ns = 900'000;
  CHECK(has(page_at(b.p, 160), "outside scopes 25.0%; mostly outside scopes"));
  CHECK(has(page_at(b.p, 160), "on it   in no known scope 550"));
  b.p.complete.timeline_ns = 899'999;
  CHECK(has(page_at(b.p, 160), "in no known scope 25.0%; mostly in no known scope"));
  b.p.complete.in_timeline = 2;
  b.p.timeline.clear();
  CHECK(has(page_at(b.p, 160), "in no known scope 50.0%; mostly in no known scope"));
}

TEST_CASE("text_device_time.says_what_it_does_not_know") {
  builder b;
  b.p.device.timeline.items[0].end = 99'999;
  b.p.device.timeline.calls[0].end = 0;
  std::string page = page_at(b.p, 100);
  CHECK(has(page, "! 2 items and calls that end before they begin, or have no times: left out"));
  b.p.device.timeline.calls[0].end = b.p.device.timeline.calls[0].begin;
  CHECK(has(page_at(b.p, 100), "! 1 item or call that ends before it begins, or has no times"));
  b.p.device.timeline.items.clear();
  b.p.device.timeline.dropped_items = 4;
  page = page_at(b.p, 100);
  CHECK(has(page,
            "timeline of the devices\n! n/a: there was no memory for it. All other tables "
            "have the 4 items.\n"));
  CHECK_FALSE(has(page, "  device 0"));
}

TEST_CASE("text_device_time.fits_its_width") {
  builder b;
  b.p.nodes[b.gemm].name = "Gemm\n\xE2\x80\xAE of a name that is longer than any line of the page";
  b.p.device.timeline.dropped_items = 12;
  for (const int width : {40, 80, 100})
    for (const bool ascii : {false, true}) {
      const std::string page = page_at(b.p, width, ascii);
      INFO(page);
      for (const std::string& line : kprof_test::lines_of(page))
        CHECK(kprof::detail::display_width(line) <= static_cast<std::size_t>(width));
      if (ascii)
        for (const char c : page) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
      CHECK(has(page, "timeline of the devices"));
    }
}

TEST_CASE("text_device_time.the_number_of_a_device_is_whole") {
  timeline_builder b;
  b.thread("main", 1);
  b.kernel_at({0, 50, 100, 200}, {.device = 4'000'000'000});
  CHECK(line_with(page_at(b.p, 100), "  device 4") ==
        "  device 4000000000 100 ns: busy 100.0%, computing 100.0%");
}
