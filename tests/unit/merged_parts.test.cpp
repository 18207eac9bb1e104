// SPDX-License-Identifier: MIT
// needs: guards
// Parts of shared calls whose parameters there was no memory to keep: random schedules, in which
// memory comes and goes, against sums over all calls.

#include <kprof/kprof.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/tables.hpp>

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace merged_parts_test {
namespace {

struct Shared {
  std::int64_t id = 0;
  constexpr std::uint64_t flops() const { return 10; }
};
constexpr int parts = 3;

void do_part(std::int64_t id, int part, int of, void (*inside)()) {
  KPROF_PART(Shared, {id}, part, of);
  inside();
}
void nothing_more() {}
void do_part(std::int64_t id, int part, int of = parts) { do_part(id, part, of, &nothing_more); }

/// What there is memory for.
enum class room { all, groups, nothing };
void give(room r) {
  kprof::detail::tree_budget& budget = kprof::detail::own_recorder->budget();
  const std::uint64_t used = std::max<std::uint64_t>(budget.now(), 300'000);
  if (budget.now() < used) budget.add(used - budget.now());  // goes with the process
  budget.set_limit(r == room::all ? 1'000'000'000 : r == room::groups ? used + used / 3 : 1);
}
void fold() {
  kprof::detail::own_recorder->each_thread([](kprof::detail::thread_log&) {});
}

struct counted {
  std::uint64_t calls = 0, incomplete = 0, recorded = 0;
};
struct oracle {
  std::map<std::int64_t, std::array<std::uint64_t, parts>> came;
  counted sums() const {
    counted out;
    for (const auto& [id, n] : came) {
      const auto [least, most] = std::minmax_element(n.begin(), n.end());
      out.calls += *least;
      out.incomplete += *most - *least;
      for (const std::uint64_t one : n) out.recorded += one;
    }
    return out;
  }
};

struct told {
  counted sums;
  std::uint64_t merged = 0, of_merged_nodes = 0, timed = 0, unjoined = 0;
  bool estimated = false;
  std::uint64_t least = 0;  // calls that have all parts, where they are estimated
};
told tell() {
  const kprof::profile p = kprof::snapshot();
  told out;
  for (const kprof::scope_node& n : p.nodes) {
    if (n.name != "Shared") continue;
    out.sums.calls += n.shared.calls;
    out.timed += n.shared.joined;
    if (n.merged) out.of_merged_nodes += n.calls;
    CHECK(n.shared.parts == parts);
    CHECK(n.shared.calls <= n.calls);
    CHECK(n.shared.durations.count() == n.shared.joined);
  }
  for (const kprof::operator_row& row : operator_table(p, kprof::grouping::op))
    if (row.name == "Shared") CHECK(row.calls == out.sums.calls);
  out.sums.incomplete = p.complete.incomplete_calls;
  out.sums.recorded = p.complete.recorded;
  out.merged = p.complete.merged;
  out.unjoined = p.complete.unjoined_calls;
  for (const std::string& note : p.notes)
    if (note.find("had no memory to find out") != std::string::npos) {
      out.estimated = true;
      if (const std::size_t at = note.find("between "); at != std::string::npos)
        out.least = std::strtoull(note.c_str() + at + 8, nullptr, 10);
    }
  return out;
}

/// Calls whose parts different threads do, in any order and some never; threads end, and memory
/// comes and goes. Returns whether anything was estimated.
bool random_schedule(std::uint64_t seed, bool may_starve) {
  std::mt19937_64 random(seed);
  REQUIRE(kprof::start());
  oracle all;
  std::vector<std::pair<std::int64_t, int>> waiting;
  bool estimated = false;
  for (int round = 0; round < 90; ++round) {
    for (auto calls = random() % 12; calls > 0; --calls) {
      const auto id = static_cast<std::int64_t>(random() % 60);
      for (int part = 0; part < parts; ++part)
        if (random() % 25 != 0) waiting.emplace_back(id, part);
    }
    std::shuffle(waiting.begin(), waiting.end(), random);
    const std::size_t kept = waiting.size() / (1 + random() % 4);
    const auto now = [&] {
      for (; waiting.size() > kept; waiting.pop_back()) {
        do_part(waiting.back().first, waiting.back().second);
        ++all.came[waiting.back().first][static_cast<std::size_t>(waiting.back().second)];
      }
    };
    if (random() % 4 == 0) now();
    else std::thread(now).join();
    const auto mode = random() % 8;
    give(mode < 3 ? room::all : mode == 7 && may_starve ? room::nothing : room::groups);
    fold();
    if (random() % 3 == 0) kprof::detail::own_recorder->join_parts(~std::uint64_t{0});
    if (random() % 16 != 0 && round != 89) continue;
    const counted expected = all.sums();
    const told is = tell();
    INFO("seed " << seed << ", round " << round);
    CHECK(is.sums.recorded == expected.recorded);
    CHECK(is.merged == is.of_merged_nodes);
    CHECK(is.timed + is.unjoined == is.sums.calls);
    if (!may_starve) CHECK_FALSE(is.estimated);
    estimated = estimated || is.estimated;
    if (is.estimated) {
      CHECK(is.sums.calls >= expected.calls);
      CHECK(is.least <= expected.calls);
      CHECK(is.sums.incomplete <= expected.incomplete);
    } else {
      CHECK(is.sums.calls == expected.calls);
      CHECK(is.sums.incomplete == expected.incomplete);
    }
  }
  CHECK(tell().merged != 0);
  return estimated;
}

}  // namespace

TEST_CASE("merged_parts.calls_are_exact_while_there_is_memory_for_those_that_lack_parts") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) random_schedule(seed, false);
}

TEST_CASE("merged_parts.what_cannot_be_known_is_said") {
  int estimated = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) estimated += random_schedule(seed, true) ? 1 : 0;
  CHECK(estimated > 6);
}

TEST_CASE("merged_parts.an_estimate_counts_all_calls_where_none_lacks_parts") {
  REQUIRE(kprof::start());
  for (int id = 0; id < 50; ++id)
    for (int part = 0; part < parts; ++part) {
      do_part(id, part);
      give(part == id % parts ? room::nothing : id % 2 == 0 ? room::all : room::groups);
      fold();
      kprof::detail::own_recorder->join_parts(~std::uint64_t{0});
    }
  const told is = tell();
  CHECK(is.estimated);
  CHECK(is.sums.calls == 50);
  CHECK(is.sums.incomplete == 0);
}

TEST_CASE("merged_parts.calls_that_never_get_all_parts_make_room_for_others") {
  REQUIRE(kprof::start());
  give(room::groups);
  for (int id = 0; id < 2000; ++id) do_part(id, 0);
  fold();
  kprof::detail::own_recorder->join_parts(~std::uint64_t{0});
  for (int id = 5000; id < 5300; ++id) {
    for (int part = 0; part < parts; ++part) do_part(id, part);
    fold();
    kprof::detail::own_recorder->join_parts(~std::uint64_t{0});
  }
  const told is = tell();
  CHECK(is.estimated);
  CHECK(is.sums.calls == 300);
  CHECK(is.least > 200);
  CHECK(is.sums.incomplete == 2000);
}

TEST_CASE("merged_parts.an_open_part_is_not_missing") {
  REQUIRE(kprof::start());
  give(room::groups);
  do_part(1, 0);
  do_part(1, 1);
  do_part(1, 2, parts, [] { CHECK(tell().sums.incomplete == 0); });
  CHECK(tell().sums.calls == 1);
  do_part(2, 0);
  do_part(2, 1);
  CHECK(tell().sums.incomplete == 1);
}

TEST_CASE("merged_parts.impossible_numbers_are_counted_beside_the_others") {
  REQUIRE(kprof::start());
  give(room::groups);
  for (int part = 0; part < parts; ++part) {
    do_part(1, 7, parts);
    do_part(1, part);
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.impossible_parts == 3);
  CHECK(p.complete.incomplete_calls == 0);
  std::uint64_t calls = 0;
  for (const kprof::scope_node& n : p.nodes) calls += n.name == "Shared" ? n.shared.calls : 0;
  CHECK(calls == 1);
}

TEST_CASE("merged_parts.a_new_recording_has_none_of_them") {
  REQUIRE(kprof::start());
  give(room::groups);
  do_part(1, 0);
  CHECK(tell().sums.incomplete == 1);
  REQUIRE(kprof::start());
  for (int part = 0; part < parts; ++part) do_part(1, part);
  const told is = tell();
  CHECK(is.sums.calls == 1);
  CHECK(is.sums.incomplete == 0);
  CHECK(is.merged == 0);
}

}  // namespace merged_parts_test
