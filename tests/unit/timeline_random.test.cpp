// SPDX-License-Identifier: MIT
// Random timelines: sums hold exactly, and what happened is what one finds by looking at every
// nanosecond.

#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_oracle.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

using kprof::interval;
using kprof::run_times;
using kprof_test::last_ns;
using kprof_test::random_timeline;
using kprof_test::seeds;
using kprof_test::timeline_oracle;

namespace {

std::vector<interval> spans_of(const kprof::device_steps& steps) {
  std::vector<interval> out;
  for (const kprof::device_step& s : steps.steps) out.push_back(s.span);
  return out;
}

/// Whether the parts of the path follow one another from end to end, and sum to it.
bool is_whole(const kprof::critical_path& path) {
  std::int64_t at = path.window.begin, sum = 0, named = 0;
  for (const kprof::path_part& part : path.parts) {
    if (part.span.begin != at || part.span.end <= at) return false;
    at = part.span.end;
  }
  for (const std::int64_t part : path.part_of) sum += part;
  for (const kprof::named_time& t : path.by) named += t.ns;
  return at == path.window.end && sum == path.window.length() && named == sum;
}

/// What the oracle says of the time in which no item of the stream ran, or none of the device.
struct marked_idle {
  std::int64_t host = 0, kernel = 0, event = 0, other = 0, unknown = 0, idle = 0,
               unknown_thread = 0;
  std::int64_t in[5] = {};
};
marked_idle mark_idle(const timeline_oracle& o, std::uint32_t device, std::uint32_t stream,
                      std::int64_t short_gap) {
  using item = timeline_oracle::item;
  std::vector<const item*> items;
  for (const item& i : o.items())
    if (i.work->device == device && i.start < i.end &&
        (stream == kprof::all_streams || i.from->stream == stream))
      items.push_back(&i);
  marked_idle out;
  for (std::int64_t t = 0; t < 2 * last_ns; ++t) {
    std::int64_t before = -1;
    const item* next = nullptr;
    bool runs = false;
    const auto key = [](const item& i) {
      return std::tuple{i.start, !i.launched, i.launched ? i.call_begin : 0, i.from->stream, i.end};
    };
    for (const item* i : items) {
      runs = runs || i->runs(t);
      if (i->end <= t) before = std::max(before, i->end);
      if (i->start > t && (next == nullptr || key(*i) < key(*next))) next = i;
    }
    if (runs || before < 0 || next == nullptr) continue;
    ++out.idle;
    if (!next->launched) {
      ++out.unknown;
    } else if (next->call_begin > before) {
      ++out.host;
      const std::uint32_t thread = next->from->thread;
      if (t >= next->call_begin) ++out.in[1];
      else if (thread > 1) ++out.unknown_thread;
      else if (o.waits(thread, t)) ++out.in[0];
      else if (o.calls(thread, t)) ++out.in[1];
      else if (o.operator_of(o.innermost(thread, t)) != kprof::scope_node::none) ++out.in[2];
      else ++out.in[o.innermost(thread, t) != kprof::scope_node::none ? 3 : 4];
    } else if (next->start - before < short_gap) {
      ++out.kernel;
    } else {
      bool awaited = false;
      for (const std::int64_t end : o.awaited_ends(*next))
        awaited = awaited || (end > before && end <= next->start);
      ++(awaited ? out.event : out.other);
    }
  }
  return out;
}

bool is_same(const marked_idle& a, const kprof::idle_causes& b) {
  return a.idle == b.idle - b.edges && a.host == b.host && a.kernel == b.kernel &&
         a.event == b.event && a.other == b.other && a.unknown == b.unknown &&
         a.unknown_thread == b.unknown_thread &&
         std::equal(std::begin(a.in), std::end(a.in), std::begin(b.host_in));
}

}  // namespace

TEST_CASE("timeline_random.every_nanosecond_of_a_breakdown") {
  std::int64_t all[8] = {}, overlaps = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const random_timeline made(seed);
    const timeline_oracle oracle(made.p);
    const run_times times = kprof::times_of(made.p);
    const std::vector<interval> steps = {{0, 40}, {30, 60}, {60, 120}};
    const std::uint32_t device = seed % 3 == 2 ? kprof::all_devices : seed % 3;
    const auto rows = kprof::breakdown_of(made.p, times, steps, device);
    bool kernels = false;
    for (std::int64_t t = 0; t < 2 * last_ns; ++t) kernels |= oracle.is_used(t, 0, device);
    INFO("seed " << seed);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      std::int64_t part[8] = {}, computes = 0, communicates = 0, both = 0;
      for (std::int64_t t = steps[s].begin; t < steps[s].end; ++t) {
        ++part[oracle.use_at(t, device)];
        const bool a = oracle.is_used(t, kernels ? 0 : 6, device), b = oracle.is_used(t, 3, device);
        computes += a ? 1 : 0;
        communicates += b ? 1 : 0;
        both += a && b ? 1 : 0;
      }
      REQUIRE(std::equal(std::begin(part), std::end(part), std::begin(rows[s].part)));
      REQUIRE(rows[s].computation == computes);
      REQUIRE(rows[s].communication == communicates);
      REQUIRE(rows[s].overlap == both);
      for (int i = 0; i < 8; ++i) all[i] += part[i];
      overlaps += both;
    }
  }
  CHECK(*std::min_element(std::begin(all), std::end(all)) > 100);
  CHECK(overlaps > 100);
}

TEST_CASE("timeline_random.every_idle_nanosecond") {
  marked_idle all;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const random_timeline made(seed);
    const timeline_oracle oracle(made.p);
    const run_times times = kprof::times_of(made.p);
    INFO("seed " << seed);
    for (const std::uint32_t device : {0U, 1U})
      for (const std::uint32_t stream : {kprof::all_streams, 7U + seed % 3}) {
        const marked_idle marked = mark_idle(oracle, device, stream, 10);
        const kprof::idle_causes found =
            kprof::idle_causes_of(made.p, times, device, stream, {}, 10);
        REQUIRE(is_same(marked, found));
        std::int64_t named = 0;
        for (const kprof::named_time& t : found.host_by) named += t.ns;
        REQUIRE(named == found.host);
        all.host += marked.host, all.kernel += marked.kernel, all.event += marked.event;
        all.other += marked.other, all.unknown += marked.unknown;
        for (int i = 0; i < 5; ++i) all.in[i] += marked.in[i];
        all.unknown_thread += marked.unknown_thread;
      }
  }
  for (const std::int64_t seen :
       {all.host, all.kernel, all.event, all.other, all.unknown, all.unknown_thread})
    CHECK(seen > seeds / 100);
  CHECK(*std::min_element(std::begin(all.in), std::end(all.in)) > 100);
}

TEST_CASE("timeline_random.every_nanosecond_of_activity_and_queues") {
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const random_timeline made(seed);
    const timeline_oracle oracle(made.p);
    const run_times times = kprof::times_of(made.p);
    const std::uint32_t device = seed % 2, stream = 7 + seed % 3;
    INFO("seed " << seed);
    const kprof::device_activity a =
        kprof::activity_of(times, device, kprof::all_streams, {0, 2 * last_ns});
    std::int64_t busy = 0, computes = 0, overlap = 0, exposed = 0, copies = 0;
    double queued = 0;
    std::uint64_t longest = 0;
    const kprof::queue_length queue = kprof::queue_length_of(times, device, stream);
    for (std::int64_t t = 0; t < 2 * last_ns; ++t) {
      const auto used = [&](int use) {
        return std::any_of(oracle.items().begin(), oracle.items().end(), [&](const auto& i) {
          return i.work->device == device && i.runs(t) && oracle.kind_of(i) == use;
        });
      };
      const bool kernel = used(0), copy = used(1) || used(2), talk = used(3);
      busy += kernel || copy || talk ? 1 : 0;
      computes += kernel ? 1 : 0;
      overlap += kernel && talk ? 1 : 0;
      exposed += copy && !kernel ? 1 : 0;
      copies += copy ? 1 : 0;
    }
    for (std::int64_t t = -last_ns; t < 2 * last_ns; ++t) {
      const std::uint64_t here = oracle.queued_at(t, device, stream);
      queued += static_cast<double>(here);
      longest = std::max(longest, here);
    }
    REQUIRE(a.busy == busy);
    REQUIRE(a.idle == 2 * last_ns - busy);
    REQUIRE(a.compute == computes);
    REQUIRE(a.overlap == overlap);
    REQUIRE(a.exposed_copies == exposed);
    REQUIRE(a.copies == copies);
    REQUIRE(a.not_compute == busy - computes);
    REQUIRE(queue.longest == longest);
    REQUIRE(queue.mean * static_cast<double>(queue.window.length()) == Approx(queued));
  }
}

TEST_CASE("timeline_random.sums_hold") {
  std::uint64_t waits = 0, steps_seen = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    const random_timeline made(seed);
    const run_times times = kprof::times_of(made.p);
    const kprof::device_steps steps = kprof::steps_of(made.p, times);
    for (const kprof::step_breakdown& row : kprof::breakdown_of(made.p, times, spans_of(steps))) {
      std::int64_t sum = 0;
      for (const std::int64_t part : row.part) sum += part;
      REQUIRE(sum == row.step.length());
    }
    for (std::size_t i = 1; i < steps.steps.size(); ++i)
      REQUIRE(steps.steps[i].span.begin >= steps.steps[i - 1].span.end);
    for (const kprof::device_step& s : steps.steps)
      REQUIRE(is_whole(kprof::critical_path_of(made.p, times, s.span, s.host.end, 0)));
    const kprof::critical_path path = kprof::critical_path_of(made.p, times);
    REQUIRE(is_whole(path));
    waits += path.of(kprof::path_kind::event_wait) > 0 ? 1 : 0;
    steps_seen += steps.steps.size();
  }
  CHECK(waits > 1);
  CHECK(steps_seen > seeds);
}

TEST_CASE("timeline_random.hostile_times") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    random_timeline made(static_cast<std::uint32_t>(round));
    const auto time = [&] {
      constexpr auto latest = std::numeric_limits<std::int64_t>::max();
      const auto t = static_cast<std::int64_t>(random() >> random() % 64);
      return random() % 5 == 0 ? latest : random() % 5 == 0 ? -latest - 1 : t;
    };
    kprof::profile& p = made.p;
    for (kprof::device_item& i : p.device.timeline.items) {
      for (std::int64_t* t : {&i.start, &i.end, &i.call_begin, &i.call_end})
        if (random() % 3 == 0) *t = time();
      if (random() % 9 == 0) i.work = 77;
    }
    for (kprof::host_call& c : p.device.timeline.calls) {
      c.begin = time(), c.end = time();
      c.thread = random() % 3 == 0 ? 77 : c.thread;
    }
    for (kprof::timeline_scope& s : p.timeline) {
      s.start = time(), s.duration = random();
      if (random() % 9 == 0) s.node = 999;
    }
    for (kprof::step_mark& s : p.steps) s.begin = time(), s.end = time();
    p.nodes.back().parent = 999, p.nodes[3].thread = 999, p.nodes[3].kind = kprof::scope_kind::root;
    p.clock.ns_per_tick = round % 7 == 0   ? std::numeric_limits<double>::quiet_NaN()
                          : round % 7 == 1 ? 1e300
                                           : 1;
    p.wall_ns = round % 3 == 0 ? 1e30 : round % 3 == 1 ? -5 : 100;
    const run_times times = kprof::times_of(p);
    INFO("round " << round);
    REQUIRE(is_whole(kprof::critical_path_of(p, times)));
    const kprof::device_steps steps = kprof::steps_of(p, times);
    for (const kprof::step_breakdown& row : kprof::breakdown_of(p, times, spans_of(steps))) {
      std::int64_t sum = 0;
      for (const std::int64_t part : row.part) sum += part;
      REQUIRE(sum == row.step.length());
    }
    for (const std::uint32_t device : times.devices()) {
      const kprof::device_activity a = kprof::activity_of(times, device);
      REQUIRE(a.busy + a.idle == a.wall);
      REQUIRE(kprof::idle_causes_of(p, times, device).idle == a.idle);
      static_cast<void>(kprof::figures_of(p, times, device));
      static_cast<void>(kprof::launch_statistics_of(times, device));
      static_cast<void>(kprof::graph_saving_of(p, times, device));
      static_cast<void>(kprof::queue_length_of(times, device, 7));
    }
  }
}
