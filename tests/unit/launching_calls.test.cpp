// SPDX-License-Identifier: MIT
// needs: guards
// Launch calls that have not returned: a record of theirs waits, and is of no unknown launch.

#include <kprof/collect/launching_calls.hpp>

#include "attribution_engine.hpp"
#include "catch.hpp"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using kprof::detail::calls_under_way;
using kprof::detail::launching_calls;

namespace launching_calls_test {
namespace {

kprof::profile profile_during(kprof_test::engine& e, const launching_calls& calls) {
  e.devices.take_launches({}, calls.now());
  e.devices.retry_pending();
  kprof::detail::timebase time;
  time.reset(kprof::detail::calibrate<kprof::detail::system_clock>());
  return build_profile(e.threads, &e.devices, {time, 0, kprof::detail::single_scopes::none});
}

}  // namespace

TEST_CASE("launching_calls.a_call_has_all_ids_between_its_first_and_its_last") {
  launching_calls calls;
  CHECK_FALSE(calls.now().may_have(0));
  const std::uint32_t place = calls.begin(10, 5);
  calls.grow(place, 12);
  calls.grow(place, 0);
  for (std::uint32_t id = 1; id < 20; ++id)
    CHECK(calls.now().may_have(id) == (id >= 10 && id <= 12));
  CHECK(calls.begin(0, 5) == launching_calls::no_place);
  calls.end(launching_calls::no_place);
  calls.end(place);
  CHECK_FALSE(calls.now().may_have(10));
  CHECK(calls.now().count == 0);
}

TEST_CASE("launching_calls.more_calls_than_there_are_places_may_have_any_id") {
  launching_calls calls;
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < calls_under_way::most + 2; ++i)
    places.push_back(calls.begin(100 + i, 3));
  CHECK(calls.now().may_have(7));
  calls.grow(places.back(), 9);
  for (std::size_t i = calls_under_way::most; i < places.size(); ++i) calls.end(places[i]);
  CHECK_FALSE(calls.now().may_have(7));
  CHECK(calls.now().may_have(100));
  CHECK_FALSE(calls.now().may_have(100 + calls_under_way::most));
  calls.clear();
  CHECK(calls.now().count == 0);
}

TEST_CASE("launching_calls.threads_begin_and_end_calls_at_once") {
  launching_calls calls;
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint32_t id = t * 100'000 + 2 * i, place = calls.begin(id, t);
        calls.grow(place, id + 1);
        if (!calls.now().may_have(id) || !calls.now().may_have(id + 1)) wrong = true;
        calls.end(place);
        if (calls.now().may_have(id)) wrong = true;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK_FALSE(wrong);
  CHECK(calls.now().count == 0);
}

TEST_CASE("launching_calls.a_record_waits_for_its_call_and_not_for_another") {
  kprof_test::engine e;
  launching_calls calls;
  const auto op = kprof_test::begin_op(1);
  const std::uint32_t place = calls.begin(5, 0);
  e.read({kprof_test::kernel(5), kprof_test::kernel(6)});
  kprof::profile p = profile_during(e, calls);
  CHECK(p.device.complete.unknown == 1);
  CHECK(p.device.complete.records == 1);
  CHECK(p.device.work.size() == 1);
  e.launch({5});
  calls.end(place);
  kprof_test::end(op);
  p = profile_during(e, calls);
  CHECK(p.device.complete.unknown == 1);
  CHECK(p.device.complete.attributed == 1);
  CHECK(p.device.complete.records == 2);
  // A call that ends without a launch leaves its record to none.
  const std::uint32_t other = calls.begin(7, 0);
  e.read({kprof_test::kernel(7)});
  CHECK(profile_during(e, calls).device.complete.unknown == 1);
  calls.end(other);
  CHECK(profile_during(e, calls).device.complete.unknown == 2);
}

}  // namespace launching_calls_test
