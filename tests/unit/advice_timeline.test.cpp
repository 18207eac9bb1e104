// SPDX-License-Identifier: MIT

// Rules of advice that know when things happened: each speaks where its evidence reaches the
// threshold, and is silent just below it. All times are by hand, in ns.

#include "catch.hpp"

#include "advised.hpp"
#include "advised_window.hpp"
#include "machines.hpp"
#include "timeline_builder.hpp"

#include <kprof/advice.hpp>
#include <kprof/timeline.hpp>

#include <cstdint>
#include <string>

using kprof::call_kind;
using kprof::profile;
using kprof_test::asked;
using builder = kprof_test::advised_window;
using kprof_test::gain;
using kprof_test::not_stated;
using kprof_test::silent;
using kprof_test::text_of;
using kprof_test::timeline_builder;

namespace {

/// Work up to `from` and from 990 us on; in between, idle, the host does what the test says. The
/// last kernel is launched at 980 us, 10 us before it starts.
struct gap : builder {
  explicit gap(std::int64_t from) {
    kernel_at({100, 200, 1'000, from}, {.scope = op});
    kernel_at({980'000, 985'000, 990'000, 1'000'000}, {.scope = op});
  }
};

}  // namespace

TEST_CASE("advice_timeline.G1_launches_that_come_one_by_one") {
  // 100 kernels, one launched every 10 us, that run from 0.1 us after the launch for `run` ns.
  const auto rows = [](std::int64_t run, std::int64_t every = 10'000, bool graph = false) {
    timeline_builder b;
    const auto op = b.op(b.thread("main", 1), "Op");
    for (std::int64_t i = 0; i < 100; ++i)
      b.kernel_at({i * every, i * every + 50, i * every + 100, i * every + 100 + run},
                  {.scope = op, .graph = graph});
    b.calls(op, 10, 100'000);
    profile p = b.done();
    kprof_test::add_device(p);
    p.wall_ns = static_cast<double>(100 * every);
    return p;
  };
  // 99 gaps of 8 us, of each of which a graph would leave 1 us.
  CHECK(gain(rows(2'000), "G1") == Approx(99 * 7'000));
  CHECK(text_of(asked(rows(2'000), "G1")[0]) ==
        "The device waits for launches for 792 \u00B5s, 80% of its time: they come every 10.0 "
        "\u00B5s, and kernels take 2.00 \u00B5s on average. Capture them in a CUDA graph, fuse "
        "kernels, or give each more to do");
  // The window is 99 * 10 us and the last kernel: 99 gaps of 10 us - run are a tenth of it at
  // run = 8.991 us, since then 99 * 1.009 = 99.9 of 998.991.
  CHECK(gain(rows(8'990), "G1") == Approx(99 * 10));
  CHECK(gain(rows(8'992), "G1") == silent);
  CHECK(gain(rows(2'000, 10'000, true), "G1") == silent);
  CHECK(gain(rows(2'000, 100'000), "G1") == Approx(99 * 97'000));
  CHECK(gain(rows(2'000, 100'001), "G1") == silent);  // the host does more than launch
  // Kernels that take longer than the host needs for each, by one long one.
  profile p = rows(2'000);
  p.device.timeline.items.push_back(p.device.timeline.items[0]);
  p.device.timeline.items.back().start = 994'000;
  p.device.timeline.items.back().end = 994'000 + 100 * 8'000;
  p.wall_ns = 2e6;
  CHECK(gain(p, "G1") == Approx(99 * 7'000));
  p.device.timeline.items.back().end += 11 * 10'000;
  CHECK(gain(p, "G1") == silent);
}

TEST_CASE("advice_timeline.S1_calls_that_wait") {
  const auto waiting = [](std::int64_t from, std::int64_t returned) {
    gap b(from);
    const auto loss = b.region(b.root, "loss");
    b.sync_at(300, returned).scope = loss;
    return b.finish();
  };
  // The call returns at 940 us, 10 us after the kernel has ended; 50 us pass until the next starts.
  CHECK(gain(waiting(930'000, 940'000), "S1") == 50'000);
  CHECK(text_of(asked(waiting(930'000, 940'000), "S1")[0]) ==
        "The device idles behind calls that wait for it in loss (1): 50.0 \u00B5s, 5% of its time. "
        "Launch what comes next before waiting, or wait less often: read results a step later, and "
        "copy them without blocking");
  CHECK(gain(waiting(930'000, 960'000), "S1") == 30'000);
  CHECK(gain(waiting(930'000, 960'001), "S1") == silent);
  CHECK(gain(waiting(930'000, 930'000), "S1") == silent);  // not while the device was idle
  CHECK(gain(waiting(930'000, 980'001), "S1") == silent);  // behind the launch
}

TEST_CASE("advice_timeline.S3_the_input_of_a_step") {
  const auto loading = [](std::int64_t begin, std::int64_t end, const char* name = "load_batch") {
    gap b(900'000);
    const auto load = b.region(b.root, name);
    b.scope_at(load, begin, end);
    return b.finish();
  };
  CHECK(gain(loading(800'000, 970'000), "S3") == 70'000);
  CHECK(text_of(asked(loading(800'000, 970'000), "S3")[0]) ==
        "The device waits for the host in load_batch: 70.0 \u00B5s, 7% of its time. Load the next "
        "batch meanwhile, on other threads and into pinned memory");
  CHECK(gain(loading(800'000, 950'000), "S3") == 50'000);
  CHECK(gain(loading(800'000, 949'999), "S3") == silent);
  CHECK(gain(loading(800'000, 970'000, "prepare"), "S3") == silent);
  // What the thread waits for a device is not the input's.
  gap b(900'000);
  b.scope_at(b.region(b.root, "input"), 800'000, 970'000);
  b.sync_at(850'000, 915'000);
  const profile p = b.finish();
  CHECK(gain(p, "S3") == 55'000);
  CHECK(gain(p, "S1") == silent);  // 20 us are left, from 970 us on
}

TEST_CASE("advice_timeline.S6_allocation") {
  const auto allocating = [](std::int64_t end, const char* name, std::int64_t step_end = 0) {
    gap b(900'000);
    const auto f = b.function(name);
    b.call_at(call_kind::allocate, 890'000, end).name = f;
    b.call_at(call_kind::free, 500'000, 501'000).name = f;
    if (step_end > 0) b.step_at(0, step_end);
    return b.finish();
  };
  CHECK(gain(allocating(910'000, "cudaMalloc"), "S6") == 10'000);
  CHECK(text_of(asked(allocating(910'000, "cudaMalloc"), "S6")[0]) ==
        "The device idles while the host allocates or frees its memory: 10.0 \u00B5s, 1% of its "
        "time, in 2 calls. Such calls may wait for the device: allocate once, or by "
        "cudaMallocAsync");
  CHECK(gain(allocating(909'999, "cudaMalloc"), "S6") == silent);
  CHECK(gain(allocating(970'000, "cudaMallocAsync"), "S6") == silent);
  CHECK(gain(allocating(970'000, "cudaMalloc", 950'000), "S6") == 20'000);  // the first step
  CHECK(gain(allocating(970'000, "cudaMalloc", 970'000), "S6") == silent);
}

TEST_CASE("advice_timeline.C2_copies_that_hold_the_host") {
  // A copy that the host is in from 870 us on: it runs from 940 us on for 40 us.
  const auto copying = [](std::int64_t before, kprof::copy_direction way, std::uint64_t bytes,
                          std::int64_t begin = 870'000) {
    builder b;
    b.kernel_at({100, 200, 1'000, before}, {.scope = b.op});
    b.copy_at({begin, 980'000, 940'000, 980'000}, {.scope = b.op}, bytes);
    b.work().direction = way;
    b.call_at(call_kind::copy, begin, 980'000).waits_for = kprof::awaited::stream;
    b.kernel_at({981'000, 982'000, 982'000, 1'000'000}, {.scope = b.op});
    return b.finish();
  };
  using enum kprof::copy_direction;
  CHECK(gain(copying(900'000, device_to_host, 4), "C2") == 40'000);
  CHECK(text_of(asked(copying(900'000, device_to_host, 4), "C2")[0]) ==
        "The device idles while copies hold the host: 40.0 \u00B5s, 4% of its time, in one call. "
        "Use cudaMemcpyAsync, from and to pinned memory");
  CHECK(gain(copying(930'000, device_to_host, 4), "C2") == 10'000);
  CHECK(gain(copying(900'000, host_to_device, 65'537), "C2") == 40'000);
  CHECK(gain(copying(900'000, host_to_device, 65'536), "C2") == silent);
  // Slight copies of the same thread hold the host too, and are not counted.
  const auto beside = [](std::uint64_t bytes) {
    builder b;
    b.kernel_at({100, 200, 1'000, 900'000}, {.scope = b.op});
    b.copy_at({910'000, 960'000, 950'000, 955'000}, {.scope = b.op}, bytes);
    b.work().direction = host_to_device;
    b.call_at(call_kind::copy, 910'000, 960'000).waits_for = kprof::awaited::stream;
    const auto inner = b.region(b.op, "inner");
    b.copy_at({962'000, 970'000, 966'000, 969'000}, {.scope = inner}, 4);
    b.work().direction = device_to_host;
    b.call_at(call_kind::copy, 962'000, 970'000).waits_for = kprof::awaited::stream;
    b.kernel_at({981'000, 982'000, 982'000, 1'000'000}, {.scope = b.op});
    return b.finish();
  };
  CHECK(gain(beside(65'536), "C2") == silent);  // 8 us are less than 3 %
  CHECK(gain(beside(65'537), "C2") > 0);
  // A call of 30 us is 3 % of the window.
  const auto brief = [](std::int64_t begin) {
    builder b;
    b.kernel_at({100, 200, 1'000, 940'000}, {.scope = b.op});
    b.copy_at({begin, 980'000, 970'000, 980'000}, {.scope = b.op}, 4);
    b.call_at(call_kind::copy, begin, 980'000).waits_for = kprof::awaited::stream;
    b.kernel_at({980'000, 981'000, 981'000, 1'000'000}, {.scope = b.op});
    return b.finish();
  };
  CHECK(gain(brief(950'000), "C2") == 20'000);
  CHECK(gain(brief(950'001), "C2") == silent);
}

TEST_CASE("advice_timeline.S4_and_S5_communication_beside_no_computation") {
  // Computation up to `computes`, communication from there less `both` up to 1 ms.
  const auto communicating = [](std::int64_t computes, std::int64_t both) {
    builder b;
    b.kernel_at({100, 200, 1'000, computes}, {.scope = b.op});
    b.communication_at({300, 400, computes - both, 1'000'000}, {.stream = 8, .scope = b.op});
    return b.finish();
  };
  CHECK(gain(communicating(899'999, 1'000), "S4") == 100'001);
  CHECK(text_of(asked(communicating(800'000, 1'000), "S4")[0]) ==
        "The device communicates while no kernel computes: 200 \u00B5s, 20% of its time. Start it "
        "as soon as its data is there, on a stream of its own; or send less: fewer bits, or larger "
        "batches between two exchanges");
  CHECK(gain(communicating(900'000, 1'000), "S4") == silent);
  CHECK(gain(communicating(899'999, 1'000), "S5") == silent);  // S4 speaks
  // 80 us of 100 us are exposed.
  CHECK(gain(communicating(920'000, 20'000), "S5") == Approx(64'000));
  CHECK(text_of(asked(communicating(920'000, 20'000), "S5")[0]) ==
        "The device computes during 20% of its communication; the rest takes 80.0 \u00B5s, 8% of "
        "its time. Start it earlier, on a stream of its own");
  CHECK(gain(communicating(950'000, 20'000), "S5") > 0);
  CHECK(gain(communicating(950'001, 20'000), "S5") == silent);
  CHECK(gain(communicating(920'000, 79'999), "S5") > 0);
  CHECK(gain(communicating(920'000, 80'000), "S5") == silent);
}

TEST_CASE("advice_timeline.C4_and_C5_copies") {
  using enum kprof::copy_direction;
  const auto copying = [](std::int64_t first, std::int64_t second, std::uint64_t back = 4096,
                          std::int64_t call_end = 500) {
    builder b;
    b.scope_at(b.op, 250, call_end);
    if (call_end < 500) b.scope_at(b.op, call_end + 1, 500);
    const auto inner = b.region(b.op, "inner");
    b.scope_at(inner, 310, 320);
    b.kernel_at({100, 200, 1'000, 800'000}, {.scope = b.op});
    b.copy_at({300, 400, 800'000, 800'000 + first}, {.scope = b.op}, 4096);
    b.work().direction = device_to_host;
    b.copy_at({450, 460, 900'000, 900'000 + second}, {.stream = 8, .scope = inner}, back);
    b.work().direction = host_to_device;
    b.kernel_at({500, 600, 999'000, 1'000'000}, {.scope = b.op});
    return b.finish();
  };
  CHECK(gain(copying(20'000, 30'000, 4095), "C4") == 50'000);
  CHECK(text_of(asked(copying(20'000, 30'000, 4095), "C4")[0]) ==
        "The device copies while no kernel computes: 50.0 \u00B5s, 5% of its time. Copy on a "
        "stream of its own, into a second buffer, while kernels use the first");
  CHECK(gain(copying(20'000, 29'999, 4095), "C4") == silent);
  CHECK(gain(copying(20'000, 30'000), "C5") == 50'000);
  CHECK(
      text_of(asked(copying(20'000, 30'000), "C5")[0]) ==
      "The device sends 4.10 kB to the host and takes as much straight back (once): 50.0 \u00B5s, "
      "5% of its time. Let the device do what the host does in between");
  CHECK(gain(copying(20'000, 30'000), "C4") == silent);  // C5 speaks of them
  CHECK(gain(copying(20'000, 30'000, 4095), "C5") == silent);
  CHECK(gain(copying(20'000, 30'000, 4096, 450), "C5") == 50'000);
  CHECK(gain(copying(20'000, 30'000, 4096, 449), "C5") == silent);  // in another call
  CHECK(gain(copying(4'000, 6'000), "C5") == 10'000);
  CHECK(gain(copying(4'000, 5'999), "C5") == silent);
}

TEST_CASE("advice_timeline.G2_neighbours_that_could_be_one") {
  // `many` kernels of 10 us each, one behind the other, of a call each that reads 16 MB and writes
  // 8 MB: 24 MB in 10 us are 2.4 TB/s of 3.35.
  const auto following = [](std::size_t many, std::int64_t before, bool interrupted = false) {
    timeline_builder b;
    const auto root = b.thread("main", 1);
    const auto block = b.region(root, "block"), other = b.region(root, "other");
    b.kernel_at({0, 1, 0, before}, {.scope = other});
    const std::uint32_t first = static_cast<std::uint32_t>(b.p.nodes.size());
    for (std::size_t i = 0; i < many; ++i) {
      const auto n = b.op(block, "Pass" + std::to_string(i));
      b.calls(n, 1, 1'000).work(n, 0, 16'000'000, 8'000'000);
    }
    for (std::size_t i = 0; i < many; ++i) {
      const auto at = before + static_cast<std::int64_t>(i) * 10'000;
      b.kernel_at({0, 1, at, at + 10'000}, {.scope = first + static_cast<std::uint32_t>(i)},
                  "pass" + std::to_string(i));
      kprof::device_work& w = b.p.device.work.back();
      w.total_ns = w.min_ns = w.max_ns = 10'000;
      if (interrupted && i == 1) b.copy_at({0, 1, at + 10'000, at + 10'000}, {.scope = other}, 1);
    }
    b.calls(block, 1, 10'000).calls(other, 1, 10'000);
    profile p = b.done();
    kprof_test::add_device(p);
    p.wall_ns = 1e6;
    p.machine.gpus = {kprof_test::h100()};
    return p;
  };
  const double bandwidth = kprof_test::h100().memory_bytes;
  // 72 MB become 16 + 8: 48 MB are saved.
  CHECK(gain(following(3, 800'000), "G2") == Approx(48e6 / bandwidth * 1e9));
  CHECK(
      text_of(asked(following(3, 800'000), "G2")[0]) ==
      "Pass0, Pass1, Pass2 and the like are bound by memory and follow one another: 30.0 \u00B5s, "
      "4% of its time, in which they move 72.0 MB. Fused into one kernel each time, they would "
      "move 24.0 MB at the least");
  CHECK(gain(following(2, 800'000), "G2") == silent);
  CHECK(gain(following(4, 800'000), "G2") == Approx(72e6 / bandwidth * 1e9));
  CHECK(gain(following(4, 800'000, true), "G2") == silent);  // twice two
  // 30 us of 1 ms are 3 %.
  CHECK(gain(following(3, 970'000), "G2") > 0);
  CHECK(gain(following(3, 970'001), "G2") == silent);
}

TEST_CASE("advice_timeline.S2_is_silent_where_the_reason_is_known") {
  gap b(200'000);
  b.sync_at(300, 210'000);
  profile p = b.finish();
  p.device.devices[0].busy_ns = 0.21e6;
  CHECK(gain(p, "S1") == 780'000);
  CHECK(gain(p, "S2") == silent);
  p.device.timeline.calls.clear();
  CHECK(gain(p, "S1") == silent);
  CHECK(gain(p, "S2") == not_stated);
}

TEST_CASE("advice_timeline.what_is_missing_silences_rules") {
  const auto exposed = [] {
    builder b;
    b.kernel_at({100, 200, 1'000, 500'000}, {.scope = b.op});
    b.communication_at({300, 400, 500'000, 1'000'000}, {.stream = 8, .scope = b.op});
    return b.finish();
  };
  profile p = exposed();
  CHECK(gain(p, "S4") == 500'000);
  p.device.timeline.dropped_items = 1;  // and nobody knows from when on nothing is missing
  CHECK(gain(p, "S4") == silent);
  p.device.timeline.windows = {{800'000, 1'000'000}};
  CHECK(gain(p, "S4") == 200'000);
  CHECK(asked(p, "S4")[0].fact ==
        "communicates while no kernel computes: 200 \u00B5s, 100% of the last 200 \u00B5s");
  for (int what = 0; what < 3; ++what) {
    p = exposed();
    kprof::device_item& i = p.device.timeline.items[0];
    if (what == 0) i.call_begin = -1;
    if (what == 1) i.end = i.start - 1;
    if (what == 2) i.work = 99;
    CHECK(gain(p, "S4") == silent);
  }
  p = exposed();
  p.device.timeline = {};
  CHECK(gain(p, "S4") == silent);
}

TEST_CASE("advice_timeline.of_several_devices_the_worst") {
  builder b;
  b.kernel_at({100, 200, 1'000, 1'000'000}, {.scope = b.op});
  b.kernel_at({0, 0, 0, 700'000}, {.stream = 9, .device = 3, .scope = b.op});
  b.communication_at({300, 400, 700'000, 1'000'000}, {.stream = 9, .device = 3, .scope = b.op});
  const profile p = b.finish();
  CHECK(gain(p, "S4") == 300'000);
  CHECK(asked(p, "S4")[0].where == "Device 3");
}
