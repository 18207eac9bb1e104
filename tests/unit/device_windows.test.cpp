// SPDX-License-Identifier: MIT
// needs: guards
// What devices did in the slowest step, in one near the median and in the latest outlives the ring.

#include <kprof/record/note_step.hpp>

#include "attribution_engine.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace kprof_test;

namespace {
namespace device_windows {

constexpr std::uint16_t launch_kernel = 1, synchronize = 2 | observed_call::blocks;
constexpr std::uint64_t lag = 5000;  // the devices' behind the host

function_description describe_function(std::uint16_t number) noexcept {
  return number == launch_kernel
             ? function_description{"cudaLaunchKernel",
                                    static_cast<std::uint8_t>(kprof::call_kind::launch), 0, false}
             : function_description{"cudaDeviceSynchronize",
                                    static_cast<std::uint8_t>(kprof::call_kind::synchronize),
                                    static_cast<std::uint8_t>(kprof::awaited::device), true};
}

/// Steps of so many kernels, one behind the other, each step with a call that waits.
struct [[gnu::visibility("hidden")]] stepping_engine : engine {
  explicit stepping_engine(std::size_t memory) : engine(memory) {
    devices.history().describe_function = &describe_function;
    append_step(0, now);
  }
  /// `withheld`: gets the record of the step's last kernel, which comes later.
  void step(std::uint32_t kernels, std::uint64_t apart, std::vector<activity>* withheld = nullptr) {
    const std::uint32_t first = id;
    for (std::uint32_t k = 0; k < kernels; ++k)
      call(id++, now + apart * k, launch_kernel, record_kind::kernel_launch);
    call(id++, now + apart * kernels - 20, synchronize, record_kind::host_call);
    std::vector<activity> records;
    for (std::uint32_t k = 0; k < kernels; ++k)
      records.push_back(kernel(first + k, "k", now + lag + apart * k, apart - 10));
    now += apart * kernels;
    append_step(next_step, now);
    take_launches();
    if (withheld != nullptr) {
      withheld->push_back(records.back());
      records.pop_back();
    }
    read(records);
    items += kernels;
  }
  void call(std::uint32_t correlation, std::uint64_t began, std::uint16_t function,
            record_kind kind) {
    threads.note_launch(&correlation, 1, began, kind, call_word(function, 5));
  }
  std::uint64_t now = 1000, items = 0;
  std::uint32_t id = 1;
};

std::set<std::uint32_t> ids_from(const kprof::profile& p, std::uint32_t first,
                                 std::uint32_t count) {
  std::set<std::uint32_t> out;
  for (const kprof::device_item& i : p.device.timeline.items)
    if (i.correlation >= first && i.correlation < first + count) out.insert(i.correlation);
  return out;
}

bool has_each_once(const kprof::profile& p) {
  std::set<std::uint32_t> once;
  for (const kprof::device_item& i : p.device.timeline.items) once.insert(i.correlation);
  return once.size() == p.device.timeline.items.size();
}

}  // namespace device_windows
}  // namespace

using namespace device_windows;

TEST_CASE("device_windows.the_items_and_calls_of_the_slowest_step_outlive_the_ring") {
  constexpr std::size_t memory = std::size_t{1} << 20U, room = memory / 16 / 48;
  stepping_engine e(memory);
  std::uint64_t begin = 0, end = 0, last = 0;
  std::uint32_t first = 0;
  for (int i = 0; i < 700; ++i) {
    if (i == 40) begin = e.now, first = e.id;
    e.step(i == 40 ? 30 : 20, i == 40 ? 200 : 100);
    // Meanwhile the ring still has some of what was copied.
    if (i > 95 && i < 120) REQUIRE(has_each_once(e.profile()));
    if (i == 40) end = e.now, last = e.now - 200 + lag + 190;
  }
  const kprof::profile p = e.profile();
  const kprof::device_timeline& t = p.device.timeline;
  CHECK(ids_from(p, first, 30).size() == 30);
  CHECK(t.items.size() > room);
  CHECK(t.items.size() < room + 400);
  CHECK(t.dropped_items == e.items - t.items.size());
  CHECK(has_each_once(p));
  REQUIRE(t.windows.size() >= 2);
  const auto window = std::find_if(t.windows.begin(), t.windows.end(), [&](const auto& w) {
    return w.begin == static_cast<std::int64_t>(begin);
  });
  REQUIRE(window != t.windows.end());
  CHECK(window->end == static_cast<std::int64_t>(last));  // later than the host's step
  CHECK(last > end);
  for (std::size_t i = 1; i < t.windows.size(); ++i)
    CHECK(t.windows[i - 1].end < t.windows[i].begin);
  // All that ran in the window is there, also what later steps had launched.
  std::uint64_t running = 0;
  for (const kprof::device_item& i : t.items)
    running += i.start < window->end && i.end >= window->begin ? 1U : 0U;
  CHECK(running > 30);
  std::uint64_t waits = 0;
  for (const kprof::host_call& c : t.calls)
    waits += c.begin >= static_cast<std::int64_t>(begin) && c.end < static_cast<std::int64_t>(end)
                 ? 1U
                 : 0U;
  CHECK(waits == 1);
}

// A kernel that ran for long: its record comes when the others of its step have been copied.
TEST_CASE("device_windows.a_step_whose_latest_record_is_lost_is_not_whole") {
  for (const bool is_lost : {false, true}) {
    stepping_engine e(std::size_t{1} << 20U);
    std::vector<activity> late;
    std::uint64_t begin = 0;
    std::uint32_t first = 0;
    for (int i = 0; i < 400; ++i) {
      if (i == 40) begin = e.now, first = e.id;
      e.step(i == 40 ? 30 : 20, i == 40 ? 200 : 100, i == 40 ? &late : nullptr);
      if (i == (is_lost ? 115 : 50)) e.read(late);
    }
    const kprof::profile p = e.profile();
    const bool has_window =
        std::any_of(p.device.timeline.windows.begin(), p.device.timeline.windows.end(),
                    [&](const auto& w) { return w.begin == static_cast<std::int64_t>(begin); });
    CHECK(has_window == !is_lost);
    CHECK(ids_from(p, first, 30).size() == (is_lost ? 0 : 30));
  }
}

TEST_CASE("device_windows.a_step_without_room_is_not_kept_and_none_survives_a_restart") {
  constexpr std::size_t memory = std::size_t{1} << 20U;  // room for 585 items
  {
    stepping_engine e(memory);
    std::uint64_t begin = 0;
    std::uint32_t first = 0;
    for (int i = 0; i < 200; ++i) {
      if (i == 40) begin = e.now, first = e.id;
      e.step(i == 40 ? 700 : 20, 100);
    }
    const kprof::profile p = e.profile();
    CHECK(ids_from(p, first, 700).empty());
    for (const auto& w : p.device.timeline.windows)
      CHECK(
          (w.begin > static_cast<std::int64_t>(begin) || w.end < static_cast<std::int64_t>(begin)));
    CHECK(p.device.timeline.dropped_items == e.items - p.device.timeline.items.size());
    CHECK(e.devices.history().bytes() <= device_history::share(memory));
  }
  stepping_engine fresh(memory);
  fresh.step(20, 100);
  CHECK(fresh.profile().device.timeline.windows.empty());
  CHECK(fresh.devices.history().windows.bytes() == 0);
}
