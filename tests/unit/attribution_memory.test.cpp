// SPDX-License-Identifier: MIT
// needs: guards, exceptions
// Memory runs out while records are attributed: each is in one count and in one row, or counted as
// dropped and nowhere else.
#include "attribution_engine.hpp"
#include "catch.hpp"
#include "failing_memory.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

// Other kernels than those of the last run, since attribution keeps the memory of names.
const char* name_of(std::uint32_t i) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int n = 0; n < 97; ++n) all.push_back(std::string(40, 'k') + std::to_string(n));
    return all;
  }();
  return names[i % names.size()].c_str();
}

struct batch {
  std::vector<activity> records;
  std::uint64_t launches = 0;

  void add(activity a, std::uint32_t device) {
    a.device = device;
    a.stream = static_cast<std::uint32_t>(records.size()) % 7;
    records.push_back(a);
  }
};

/// Launches in operators and outside, of kernels, copies and graphs, and their records; records
/// without times, of launches that are not known yet, of none, and of an earlier recording.
batch make(engine& e) {
  batch b;
  std::uint32_t id = 1;
  for (std::int64_t n = 0; n < 12; ++n) {
    const scope_token op = begin_op(n);
    for (std::uint32_t i = 0; i < 9; ++i, ++id) {
      e.launch({id}, 1, i == 8 ? record_kind::graph_launch : record_kind::kernel_launch);
      ++b.launches;
      activity a = kernel(id, name_of(id), 100 + 1000 * id);
      if (i == 7) a = copy(id, 64 * id);
      if (i == 6) a.start = a.end = 0;
      if (i == 8) a.graph_node = std::uint64_t{id} << 32U;
      b.add(a, id % 3);
      if (i == 8) b.add(a, id % 3);
    }
    end(op);
    e.launch({id}), ++b.launches;
    b.add(kernel(id, name_of(id)), 4);
    ++id;
    b.add(kernel(0, name_of(id)), 5);        // without an id
    b.add(kernel(100'000 + id, "late"), 6);  // of no launch
  }
  return b;
}

void check(const kprof::profile& p, const batch& b) {
  const kprof::device_completeness& c = p.device.complete;
  CHECK(c.records + c.dropped + c.ignored == b.records.size());
  CHECK(c.launches == b.launches);
  CHECK(c.attributed + c.outside + c.open == c.launches);
  std::uint64_t calls = 0, unknown = 0, untimed = 0, foreign = 0;
  double in_rows = 0, on_devices = 0;
  for (const kprof::device_work& w : p.device.work) {
    calls += w.calls, untimed += w.untimed, in_rows += w.total_ns;
    if (w.scope == kprof::device_work::none) unknown += w.calls;
    else if (path_of(p, w.scope).find("captured before") != std::string::npos) foreign += w.calls;
  }
  for (const kprof::device_info& d : p.device.devices) on_devices += d.sum_ns;
  CHECK(calls == c.records);
  CHECK(unknown == c.unknown);
  CHECK(untimed == c.untimed);
  CHECK(foreign == c.foreign_graphs);
  CHECK(in_rows == on_devices);
}

/// What came of a batch while memory failed; `dropped`: how many of its records.
void attribute(unsigned every, unsigned after, std::uint64_t& dropped) {
  engine e;
  const batch b = make(e);
  e.take_launches();
  fail_here(every, after);
  for (std::size_t at = 0; at < b.records.size(); at += 16)
    e.devices.take(&b.records[at], std::min<std::size_t>(16, b.records.size() - at));
  e.devices.retry_pending();
  fail_no_more();
  check(e.profile(), b);
  fail_here(every, after);
  e.devices.retry_pending();
  static_cast<void>(attempt([&] { e.devices.count_pending_as_unknown(); }));
  fail_no_more();
  e.devices.count_pending_as_unknown();
  const kprof::profile p = e.profile();
  check(p, b);
  dropped = p.device.complete.dropped;
}

}  // namespace

TEST_CASE("attribution_memory.with_memory_nothing_is_dropped") {
  std::uint64_t dropped = 1;
  attribute(0, ~0U, dropped);
  CHECK(dropped == 0);
}

TEST_CASE("attribution_memory.a_record_is_counted_once_or_dropped") {
  std::uint64_t some = 0, dropped = 0;
  for (unsigned n = 1; n <= 60; ++n) {
    CAPTURE(n);
    attribute(n, ~0U, dropped);
    some += dropped;
    attribute(0, 3 * n, dropped);
    some += dropped;
  }
  CHECK(some > 100);
}
