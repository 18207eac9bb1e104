// SPDX-License-Identifier: MIT

// The rule of advice about convolutions whose channels fill no vectors.

#include "catch.hpp"

#include "advised.hpp"
#include "machines.hpp"
#include "profile_builder.hpp"

#include <kprof/advice.hpp>

#include <cstdint>
#include <string>

using kprof::dtype;
using kprof::profile;
using kprof_test::asked;
using kprof_test::gain;
using kprof_test::profile_builder;
using kprof_test::silent;

namespace {

/// A convolution at `share` of its roof, in a run of a second on one CPU of 100 GFLOP/s.
profile convolution(const std::string& parameters, double share, dtype type = dtype::f32,
                    bool with_other = false) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto node = b.op(main, "Conv", parameters);
  const double rate = type == dtype::f64 ? 50 : 100;  // FLOP/ns
  b.calls(node, 10, 20e6).work(node, static_cast<std::uint64_t>(share * 20e6 * rate), 1, 1, type);
  if (with_other) {
    const auto other = b.op(main, "Conv", "C=64 K=64 R=3");
    b.calls(other, 10, 10e6).work(other, 800'000'000, 1, 1, type);
  }
  profile p = b.done();
  p.wall_ns = p.threads[0].in_scopes_ns = 1e9;
  p.cpus = 1;
  p.machine.cpu = kprof_test::two_cpus();
  p.machine.cpu.threads = 1;
  return p;
}

}  // namespace

TEST_CASE("advice_channels.H11_channels_that_fill_no_vectors") {
  // A third more work at the roof: 200 ms - 0.3 x 200 ms x 4 / 3.
  CHECK(gain(convolution("C=3 K=64 R=7", 0.3), "H11") == Approx(120e6).epsilon(1e-3));
  // The operator reaches 80 % of it elsewhere.
  CHECK(gain(convolution("C=3 K=64 R=7", 0.3, dtype::f32, true), "H11") ==
        Approx(100e6).epsilon(1e-3));
  CHECK(gain(convolution("C=3 K=64 R=7", 0.59), "H11") > 0);
  CHECK(gain(convolution("C=3 K=64 R=7", 0.61), "H11") == silent);
  CHECK(gain(convolution("C=16 K=64 R=7", 0.3), "H11") == silent);
  CHECK(gain(convolution("C=8 K=64 R=7", 0.3, dtype::f64), "H11") == silent);  // 8 are 64 bytes
  CHECK(gain(convolution("C=3 K=64", 0.3), "H11") == silent);                  // no convolution
  CHECK(gain(convolution("C=30 K=30 R=3 g=30", 0.3), "H11") == silent);
  CHECK(gain(convolution("C=30 K=30 R=3 g=1", 0.3), "H11") > 0);

  const auto advised = [](const std::string& parameters) {
    return asked(convolution(parameters, 0.3), "H11").at(0);
  };
  const kprof::advice three = advised("C=3 K=64 R=7"), five = advised("C=5 K=64 R=7"),
                      twenty = advised("C=20 K=64 R=7"), fifteen = advised("C=15 K=64 R=7");
  CHECK(three.action == "Pad with zeros to C=4 or C=16");
  REQUIRE(three.trials.size() == 2);
  CHECK(three.trials[1].at(0).field == "C");
  CHECK(three.trials[1].at(0).value == 16);
  CHECK(five.action == "Pad with zeros to C=8 or C=16");
  CHECK(twenty.action == "Pad with zeros to C=32");
  CHECK(fifteen.action == "Pad with zeros to C=16");
  CHECK(fifteen.trials.size() == 1);
}

TEST_CASE("advice_channels.H11_tries_what_it_is_not_sure_of_where_it_is_measured") {
  const auto tried = [](const profile& p) {
    kprof::advice_words words = kprof_test::only("H11");
    words[0] = "prove";
    return kprof::advise(p, words);
  };
  const profile fast = convolution("C=3 K=64 R=7", 0.7);
  REQUIRE(tried(fast).size() == 1);
  CHECK(tried(fast)[0].gain_ns == kprof_test::not_stated);
  CHECK(tried(fast)[0].trials.size() == 2);
  CHECK(tried(convolution("C=16 K=64 R=7", 0.7)).empty());
  profile unknown = fast;
  unknown.machine = {};
  CHECK(tried(unknown).size() == 1);
  CHECK(asked(unknown, "H11").empty());
}
