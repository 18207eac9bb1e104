// SPDX-License-Identifier: MIT
// needs: exceptions

// What a saved profile keeps of the devices' timeline and of steps: all.

#include "catch.hpp"

#include "device_profiles.hpp"

#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

using Catch::Matchers::Contains;
using kprof::load_text;
using kprof::loaded_profile;
using kprof::profile;
using kprof::saved_text;

namespace {

profile with_timeline() {
  profile run = kprof_test::transformer_profile();
  run.device.functions = {"cudaLaunchKernel", "cudaStreamSynchronize"};
  run.device.calls = {{1, 0, kprof::call_kind::synchronize, 7, 1.5e6, 3e5, 1.25e6}};
  kprof::device_timeline& t = run.device.timeline;
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
  t.items = {{2, 7, 0, 99, -5, latest, 10, 20, ~std::uint64_t{0}, true}, {}};
  t.calls = {{1, 0, 3, kprof::call_kind::stream_wait, kprof::awaited::event, 1, 13, 5, 100, -200},
             {}};
  t.windows = {{-7, 8}, {9, 10}};
  t.dropped_items = 11;
  t.dropped_calls = 12;
  run.timeline = {{0, 1, 2}, {1, 3, 4}, {0, 9, 9}};
  run.links = {{2, 0}, {1, 1}};
  run.steps = {{0, 0, false, 5, 9}, {1, kprof::step_mark::none, true, 9, 12}};
  return run;
}

}  // namespace

TEST_CASE("saved_timeline.what_happened_when_is_saved") {
  const profile run = with_timeline();
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  CHECK(saved_text(loaded.run) == saved_text(run));
  CHECK(loaded.run.device.functions == run.device.functions);
  REQUIRE(loaded.run.device.calls.size() == 1);
  CHECK(loaded.run.device.calls[0].name == 1);
  CHECK(loaded.run.device.calls[0].scope == 0);
  CHECK(loaded.run.device.calls[0].kind == kprof::call_kind::synchronize);
  CHECK(loaded.run.device.calls[0].calls == 7);
  CHECK(loaded.run.device.calls[0].total_ns == 1.5e6);
  CHECK(loaded.run.device.calls[0].max_ns == 3e5);
  CHECK(loaded.run.device.calls[0].waited_ns == 1.25e6);
  const kprof::device_timeline& t = loaded.run.device.timeline;
  REQUIRE(t.items.size() == 2);
  CHECK(t.items[0].work == 2);
  CHECK(t.items[0].stream == 7);
  CHECK(t.items[0].thread == 0);
  CHECK(t.items[0].correlation == 99);
  CHECK(t.items[0].start == -5);
  CHECK(t.items[0].end == std::numeric_limits<std::int64_t>::max());
  CHECK(t.items[0].call_begin == 10);
  CHECK(t.items[0].call_end == 20);
  CHECK(t.items[0].bytes == ~std::uint64_t{0});
  CHECK(t.items[0].graph);
  CHECK(t.items[1].work == kprof::device_item::none);
  CHECK(t.items[1].call_begin == -1);
  REQUIRE(t.calls.size() == 2);
  CHECK(t.calls[0].name == 1);
  CHECK(t.calls[0].thread == 0);
  CHECK(t.calls[0].scope == 3);
  CHECK(t.calls[0].kind == kprof::call_kind::stream_wait);
  CHECK(t.calls[0].waits_for == kprof::awaited::event);
  CHECK(t.calls[0].device == 1);
  CHECK(t.calls[0].stream == 13);
  CHECK(t.calls[0].event == 5);
  CHECK(t.calls[0].begin == 100);
  CHECK(t.calls[0].end == -200);
  REQUIRE(t.windows.size() == 2);
  CHECK(t.windows[0].begin == -7);
  CHECK(t.windows[1].end == 10);
  CHECK(t.dropped_items == 11);
  CHECK(t.dropped_calls == 12);
  REQUIRE(loaded.run.links.size() == 2);
  CHECK(loaded.run.links[0].call == 2);
  CHECK(loaded.run.links[0].of == 0);
  REQUIRE(loaded.run.steps.size() == 2);
  CHECK_FALSE(loaded.run.steps[0].counts);
  CHECK(loaded.run.steps[0].end == 9);
  CHECK(loaded.run.steps[1].index == 1);
  CHECK(loaded.run.steps[1].begin == 9);
  CHECK(loaded.run.steps[1].thread == kprof::step_mark::none);
}

TEST_CASE("saved_timeline.a_file_without_one_loads") {
  const loaded_profile loaded = load_text(saved_text(kprof_test::transformer_profile()));
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.device.timeline.empty());
  CHECK(loaded.run.steps.empty());
}

TEST_CASE("saved_timeline.random_ones_come_back") {
  std::mt19937_64 random(1);
  const auto time = [&] { return static_cast<std::int64_t>(random() >> random() % 64); };
  const auto index = [&](std::size_t size) {
    return random() % 5 == 0 ? kprof::device_item::none
                             : static_cast<std::uint32_t>(random() % size);
  };
  profile run = with_timeline();
  for (int round = 0; round < 100; ++round) {
    kprof::device_timeline& t = run.device.timeline;
    t.items.push_back({index(run.device.work.size()), static_cast<std::uint32_t>(random() % 9),
                       index(run.threads.size()), static_cast<std::uint32_t>(random()), time(),
                       time(), time(), time(), random(), random() % 2 == 0});
    t.calls.push_back({index(2), index(run.threads.size()), index(run.nodes.size()),
                       static_cast<kprof::call_kind>(random() % 9),
                       static_cast<kprof::awaited>(random() % 4), 0, 7, random(), time(), time()});
    run.steps.push_back({random(), index(run.threads.size()), random() % 2 == 0, time(), time()});
    kprof::thread_steps& sums = run.stepping.threads.emplace_back();
    sums = {.thread = index(run.threads.size()), .count = random(), .nested = random() % 3};
    sums.durations.add(random() % 1000);
    sums.running_ns = 1.5;
    run.stepping.shares.push_back(
        {index(run.steps.size()), index(run.nodes.size()), random(), 7.25, 3.5});
    run.stepping.region = "iteration";
    run.stepping.whole_from = time();
    if (run.stepping.kept.size() < 3)
      run.stepping.kept.push_back(
          {index(run.steps.size()), static_cast<kprof::kept_as>(random() % 3)});
  }
  const std::string text = saved_text(run);
  const loaded_profile loaded = load_text(text);
  REQUIRE(loaded.result.message == "");
  CHECK(saved_text(loaded.run) == text);
}

TEST_CASE("saved_timeline.references_to_nothing_are_not_saved_nor_loaded") {
  profile run = with_timeline();
  run.device.timeline.items[0].work = run.device.timeline.items[0].thread = 99'999;
  run.device.timeline.calls[0].name = run.device.timeline.calls[0].scope = 99'999;
  run.device.calls[0].name = run.device.calls[0].scope = 99'999;
  run.links.push_back({0, 99'999});
  run.links.push_back({99'999, 0});
  run.steps[0].thread = 99'999;
  run.stepping.threads.push_back({.thread = 99'999});
  run.stepping.shares.push_back({99'999, 99'999, 1, 0, 0});
  run.stepping.kept = {{99'999, kprof::kept_as::median}, {1, kprof::kept_as::latest}};
  const loaded_profile loaded = load_text(saved_text(run));
  REQUIRE(loaded.result.message == "");
  CHECK(loaded.run.device.timeline.items[0].work == kprof::device_item::none);
  CHECK(loaded.run.device.timeline.items[0].thread == kprof::device_item::none);
  CHECK(loaded.run.device.timeline.calls[0].name == kprof::host_call::none);
  CHECK(loaded.run.device.timeline.calls[0].scope == kprof::host_call::none);
  CHECK(loaded.run.device.calls[0].name == kprof::host_call_sum::none);
  CHECK(loaded.run.device.calls[0].scope == kprof::host_call_sum::none);
  CHECK(loaded.run.links.size() == 2);
  CHECK(loaded.run.steps[0].thread == kprof::step_mark::none);
  CHECK(loaded.run.stepping.threads[0].thread == kprof::thread_steps::none);
  CHECK(loaded.run.stepping.shares[0].step == kprof::step_share::none);
  CHECK(loaded.run.stepping.shares[0].node == kprof::step_share::none);
  REQUIRE(loaded.run.stepping.kept.size() == 2);
  CHECK(loaded.run.stepping.kept[0].step == kprof::kept_step::none);
  CHECK(loaded.run.stepping.kept[0].why == kprof::kept_as::median);
  CHECK(loaded.run.stepping.kept[1].step == 1);

  for (const std::string given :
       {"\"device\":{\"timeline\":{\"items\":[{\"work\":0}]}}",
        "\"device\":{\"timeline\":{\"items\":[{\"thread\":0}]}}",
        "\"device\":{\"timeline\":{\"calls\":[{\"name\":0}]}}",
        "\"device\":{\"timeline\":{\"calls\":[{\"scope\":0}]}}",
        "\"device\":{\"timeline\":{\"calls\":[{\"thread\":0}]}}",
        "\"device\":{\"calls\":[{\"name\":0}]}", "\"device\":{\"calls\":[{\"scope\":0}]}",
        "\"steps\":[{\"thread\":0}]", "\"stepping\":{\"threads\":[{\"thread\":0}]}",
        "\"stepping\":{\"shares\":[{\"step\":0}]}", "\"stepping\":{\"kept\":[{\"step\":0}]}",
        "\"stepping\":{\"kept\":[{},{},{},{}]}", "\"stepping\":{\"shares\":[{\"node\":0}]}"}) {
    INFO(given);
    CHECK_THAT(load_text("{\"kprof_profile\":1," + given + "}").result.message,
               Contains("refer to what is not there"));
  }
  CHECK_THAT(load_text("{\"kprof_profile\":1,\"links\":[{\"call\":0,\"of\":0}]}").result.message,
             Contains("links refers to a scope that the timeline does not have"));
}

TEST_CASE("saved_timeline.counts_that_no_number_holds_are_refused") {
  const std::string text = saved_text(with_timeline());
  const std::size_t at = text.find("\"durations\":[") + 13;
  REQUIRE(at > 13);
  const std::string more =
      text.substr(0, at) + "0,18446744073709551615,1,2" + text.substr(text.find(']', at));
  CHECK_THAT(load_text(more).result.message, Contains("counts more calls than there are numbers"));
}
