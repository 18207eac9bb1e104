// SPDX-License-Identifier: MIT
// What the host did while a device was idle: by looking at every nanosecond of random timelines;
// and what advice may promise of it.

#include <kprof/advice.hpp>
#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string_view>
#include <tuple>
#include <vector>

using kprof::call_kind;
using kprof_test::last_ns;
using kprof_test::random_timeline;
using kprof_test::seeds;
using kprof_test::timeline_oracle;

namespace {

/// Some copies go to the device, with few bytes or many; some functions do not wait.
kprof::profile with_details(kprof::profile p, std::uint32_t seed) {
  std::mt19937 random(seed);
  p.device.functions = {"cudaMalloc", "cudaMallocAsync"};
  for (kprof::host_call& c : p.device.timeline.calls)
    c.name = static_cast<std::uint32_t>(random() % 3);  // 2: of no name
  for (kprof::device_work& w : p.device.work)
    w.direction = static_cast<kprof::copy_direction>(1 + random() % 2);
  for (kprof::device_item& i : p.device.timeline.items) {
    i.bytes = 65'536 + random() % 2;
    if (random() % 3 != 0 || p.device.timeline.calls.empty()) continue;
    // A call that blocks and that launched the item.
    kprof::host_call& c = p.device.timeline.calls[random() % p.device.timeline.calls.size()];
    c.kind = call_kind::copy, c.waits_for = kprof::awaited::stream;
    i.call_begin = std::min(c.begin, i.start), i.call_end = c.end, i.thread = c.thread;
  }
  return p;
}

/// What the oracle says of the nanoseconds in which no item of the device ran.
struct marked {
  std::int64_t allocating = 0, copying = 0, input = 0, after_waits = 0, launching = 0;
};
class marking {
 public:
  marking(const kprof::profile& p, const timeline_oracle& o) : p_(p), o_(o) {
    const kprof::step_mark* first = nullptr;
    for (const kprof::step_mark& m : p.steps)
      if (first == nullptr || m.begin < first->begin) first = &m;
    if (first != nullptr) warm_until_ = first->end;
  }

  marked of(std::uint32_t device) const {
    using item = timeline_oracle::item;
    marked out;
    const auto key = [](const item& i) {
      return std::tuple{i.start, !i.launched, i.launched ? i.call_begin : 0, i.from->stream, i.end};
    };
    for (std::int64_t t = 0; t < 2 * last_ns; ++t) {
      std::int64_t before = -1;
      const item* next = nullptr;
      bool runs = false;
      for (const item& i : o_.items()) {
        if (i.work->device != device || i.start == i.end) continue;
        runs = runs || i.runs(t);
        if (i.end <= t) before = std::max(before, i.end);
        if (i.start > t && (next == nullptr || key(i) < key(*next))) next = &i;
      }
      if (!runs && before >= 0 && next != nullptr && next->launched && next->from->thread < 2)
        add(t, before, *next, out);
    }
    return out;
  }

 private:
  bool is_in(std::uint32_t thread, std::int64_t t,
             bool (*is)(const marking&, const kprof::host_call&)) const {
    for (const kprof::host_call& c : p_.device.timeline.calls)
      if (c.thread == thread && c.begin <= t && t < c.end && is(*this, c)) return true;
    return false;
  }
  static bool allocates(const marking&, const kprof::host_call& c) {
    return (c.kind == call_kind::allocate || c.kind == call_kind::free) && c.name != 1;
  }
  static bool blocks(const marking& m, const kprof::host_call& c) {
    return c.waits_for != kprof::awaited::nothing && c.kind != call_kind::stream_wait &&
           !allocates(m, c);
  }
  static bool is_copy(const marking& m, const kprof::host_call& c) {
    if (!blocks(m, c) || (c.kind != call_kind::copy && c.kind != call_kind::set)) return false;
    for (const timeline_oracle::item& i : m.o_.items())
      if (i.launched && i.from->thread == c.thread && i.call_begin == c.begin &&
          i.work->task == kprof::device_task::copy && i.from->bytes == 65'536 &&
          i.work->direction == kprof::copy_direction::host_to_device)
        return false;
    return true;
  }

  void add(std::int64_t t, std::int64_t before, const timeline_oracle::item& next,
           marked& out) const {
    const std::uint32_t thread = next.from->thread;
    const bool is_late = next.call_begin > before, in_allocation = is_in(thread, t, &allocates);
    if (is_late && in_allocation && t >= warm_until_) ++out.allocating;
    if (!in_allocation && is_in(thread, t, &is_copy)) ++out.copying;
    if (!is_late || in_allocation || is_in(thread, t, &blocks)) return;
    if (o_.is_under(o_.innermost(thread, t), "load_batch")) {
      ++out.input;
      return;
    }
    std::int64_t waited = -1, launched = -1;
    for (const kprof::host_call& c : p_.device.timeline.calls)
      if (c.thread == thread && c.end >= c.begin && blocks(*this, c) && c.end <= next.call_begin)
        waited = std::max(waited, c.end);
    for (const timeline_oracle::item& i : o_.items())
      if (i.launched && i.from->thread == thread && i.call_begin < next.call_begin)
        launched = std::max(launched, i.call_begin);
    if (waited > before) out.after_waits += t >= waited ? 1 : 0;
    else if (!next.from->graph && launched >= 0) ++out.launching;
  }

  const kprof::profile& p_;
  const timeline_oracle& o_;
  std::int64_t warm_until_ = -1;
};

}  // namespace

TEST_CASE("late_launches.every_idle_nanosecond") {
  std::int64_t all[5] = {};
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const kprof::profile p = with_details(random_timeline(seed).p, seed);
    const timeline_oracle oracle(p);
    const marking marks(p, oracle);
    INFO("seed " << seed);
    for (const kprof::device_time& d : kprof::time_summary_of(p).devices) {
      const marked want = marks.of(d.activity.device);
      REQUIRE(d.late.allocating == want.allocating);
      REQUIRE(d.late.copying == want.copying);
      REQUIRE(d.late.input == want.input);
      REQUIRE(d.late.after_waits == want.after_waits);
      REQUIRE(d.late.launching == want.launching);
      const std::int64_t parts[] = {want.allocating, want.copying, want.input, want.after_waits,
                                    want.launching};
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < 5; ++i) all[i] += parts[i], sum += parts[i];
      REQUIRE(sum <= d.idle.idle - d.idle.edges);
    }
  }
  CHECK(*std::min_element(std::begin(all), std::end(all)) > 100);
}

TEST_CASE("late_launches.advice_promises_no_more_than_there_is") {
  std::size_t given = 0, seen = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    kprof::profile p = with_details(random_timeline(seed).p, seed);
    // All that makes the timeline incomplete.
    std::erase_if(p.device.timeline.items, [](const kprof::device_item& i) {
      return i.end < i.start || i.call_begin < 0 || i.thread > 1;
    });
    std::erase_if(p.device.timeline.calls,
                  [](const kprof::host_call& c) { return c.end < c.begin; });
    kprof_test::add_device(p);
    p.device.complete.unknown = 0;
    p.wall_ns = 200;
    const kprof::time_summary times = kprof::time_summary_of(p);
    INFO("seed " << seed);
    std::int64_t idle = 0, communicating = 0, copying = 0, computing = 0;
    for (const kprof::device_time& d : times.devices) {
      idle = std::max(idle, d.idle.idle);
      communicating = std::max(communicating, d.activity.exposed_communication);
      copying = std::max(copying, d.activity.copies);
      computing = std::max(computing, d.activity.compute);
    }
    for (const kprof::advice& a : kprof::advise(p, {"all"}, &times)) {
      const std::string_view id = a.id;
      INFO(id << ' ' << a.where << ' ' << a.fact);
      const bool of_idle = id == "G1" || id == "S1" || id == "S3" || id == "S6" || id == "C2";
      if (of_idle) CHECK(a.gain_ns <= static_cast<double>(idle));
      if (id == "S4" || id == "S5") CHECK(a.gain_ns <= static_cast<double>(communicating));
      if (id == "C4" || id == "C5") CHECK(a.gain_ns <= static_cast<double>(copying));
      CHECK(a.gain_ns <= a.time_ns);
      CHECK(a.share <= 1.0);
      given += of_idle || id[0] == 'C' || id == "S4" || id == "S5" ? 1 : 0;
    }
    seen += times.devices.size();
    const std::vector<kprof::advice> alone = kprof::advise(p, {"all"}),
                                     with = kprof::advise(p, {"all"}, &times);
    REQUIRE(alone.size() == with.size());
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK(alone[i].fact == with[i].fact);
  }
  CHECK(seen > seeds / 2);
  CHECK(given > seeds / 2);
}
