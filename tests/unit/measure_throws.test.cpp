// SPDX-License-Identifier: MIT
// needs: guards, exceptions

// What a measured call throws comes out, and the recording goes on.

#include <kprof/kprof.hpp>
#include <kprof/measure.hpp>
#include <kprof/prove.hpp>

#include "catch.hpp"

#include <stdexcept>
#include <string>

namespace {
struct Wordless {
  int n = 0;
};
}  // namespace

TEST_CASE("measure_throws.what_the_call_throws_comes_out_and_the_recording_goes_on") {
  REQUIRE(kprof::start());
  int calls = 0;
  const auto fails_later = [&] {
    if (++calls == 10) throw std::runtime_error("as expected");
  };
  CHECK_THROWS_AS(kprof::measure(Wordless{}, fails_later, {.print = false}), std::runtime_error);
  CHECK(calls == 10);
  CHECK(kprof::snapshot().recording);
  { KPROF_OP(Wordless, {.n = 1}); }
  CHECK(kprof::snapshot().complete.recorded == 1);
}

TEST_CASE("measure_throws.advice_that_is_tried_out_goes_on") {
  const auto again = kprof::prove<Wordless>([](const Wordless& p) {
    if (p.n == 2) throw 2;
    return [] { throw std::runtime_error("no data"); };
  });
  REQUIRE(kprof::start());
  { KPROF_OP(Wordless, {.n = 1}); }
  const kprof::profile p = kprof::snapshot();
  const auto reason = [&](const kprof::advised_fields& changed) {
    const auto* const link = kprof::detail::find_rerun(p, p.nodes[1]);
    REQUIRE(link != nullptr);
    return link->time(*link, p, p.nodes[1], changed).why_not;
  };
  CHECK(reason({}) == "the program threw an exception: no data");
  CHECK(reason({{"n", 2}}) == "the program threw an exception");
  CHECK(kprof::snapshot().recording);
}
