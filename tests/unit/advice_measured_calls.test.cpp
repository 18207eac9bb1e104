// SPDX-License-Identifier: MIT

// Rules of advice about what threads read in calls: denormal numbers and page faults.

#include "catch.hpp"

#include "advised.hpp"
#include "profile_builder.hpp"

#include <kprof/advice.hpp>

#include <cstdint>
#include <string>

using kprof::profile;
using kprof_test::asked;
using kprof_test::gain;
using kprof_test::profile_builder;
using kprof_test::silent;

namespace {

constexpr double T = 1e6;

/// Ten calls of 100 us in a run of a millisecond.
profile measured() {
  profile_builder b;
  const auto node = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(node, 10, T / 10).work(node, 1'000'000, 1000, 0, kprof::dtype::f32);
  profile p = b.done();
  p.wall_ns = T;
  p.threads[0].in_scopes_ns = T;
  return p;
}

}  // namespace

TEST_CASE("advice_measured_calls.H3_calls_that_compute_with_denormal_numbers") {
  // Eight of ten calls were measured, `met` of them met denormals and took four times as long.
  const auto with = [](std::uint64_t met, std::uint64_t others) {
    profile p = measured();
    kprof::scope_node& n = p.nodes[1];
    n.measured_calls = met + others;
    n.denormal_calls = met;
    n.denormal_ns = 40e3 * static_cast<double>(met);
    n.measured_ns = n.denormal_ns + 10e3 * static_cast<double>(others);
    return p;
  };
  const profile p = with(2, 8);
  // Half of the measured time is of such calls, and so half of all; they would take a quarter.
  CHECK(gain(p, "H3") == Approx(T * 0.5 * 0.75));
  CHECK(kprof_test::text_of(asked(p, "H3")[0])
            .find("Op n=1 computes with denormal numbers in 50% of its time: such a call takes "
                  "40.0 µs, another 10.0 µs. Have each thread flush them to zero") == 0);
  CHECK(gain(with(0, 8), "H3") == silent);
  CHECK(gain(with(2, 4), "H3") == silent);  // too few others
  CHECK(gain(with(1, 75), "H3") > 0);
  CHECK(gain(with(1, 77), "H3") == silent);  // below 5 % of the time
  profile inside = p;                        // the half of it is another row's
  inside.nodes[1].self_ns = 0.49 * inside.nodes[1].total_ns;
  CHECK(gain(inside, "H3") == silent);
  profile no_slower = p;
  no_slower.nodes[1].denormal_ns = 20e3;
  no_slower.nodes[1].measured_ns = 20e3 + 8 * 10e3;
  CHECK(gain(no_slower, "H3") == silent);
  no_slower.nodes[1].denormal_ns = 23.9e3;
  no_slower.nodes[1].measured_ns = 23.9e3 + 8 * 10e3;
  CHECK(gain(no_slower, "H3") == silent);
  no_slower.nodes[1].denormal_ns = 24.1e3;
  no_slower.nodes[1].measured_ns = 24.1e3 + 8 * 10e3;
  CHECK(gain(no_slower, "H3") > 0);
}

TEST_CASE("advice_measured_calls.H7_calls_that_write_to_fresh_memory") {
  // Ten calls of 50 us were measured; a fault takes 0.25 us.
  const auto with = [](std::uint64_t faults, std::uint64_t calls = 10) {
    profile p = measured();
    kprof::scope_node& n = p.nodes[1];
    n.measured_calls = calls;
    n.measured_ns = 50e3 * static_cast<double>(calls);
    n.page_faults = faults;
    return p;
  };
  const profile p = with(400);
  CHECK(gain(p, "H7") == Approx(T * 400 * 250 / 500e3));
  CHECK(kprof_test::text_of(asked(p, "H7")[0])
            .find("Op n=1 has 40 page faults a call, which take 20% of its time. Its memory is "
                  "fresh in each call") == 0);
  CHECK(gain(with(0), "H7") == silent);
  CHECK(gain(with(199), "H7") == silent);
  CHECK(gain(with(201), "H7") > 0);
  CHECK(gain(with(400, 9), "H7") == silent);        // the first call's alone, perhaps
  CHECK(gain(with(1'000'000), "H7") == Approx(T));  // no more than there is
  profile inside = p;                               // the half of it is another row's
  inside.nodes[1].self_ns = 0.49 * inside.nodes[1].total_ns;
  CHECK(gain(inside, "H7") == silent);
}
