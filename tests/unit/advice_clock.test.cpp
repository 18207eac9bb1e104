// SPDX-License-Identifier: MIT

// The rule of advice about a device whose clock falls. All times are by hand, in ns.

#include "catch.hpp"

#include "advised.hpp"
#include "advised_window.hpp"

#include <kprof/advice.hpp>
#include <kprof/timeline.hpp>

#include <cstdint>

using kprof_test::asked;
using kprof_test::gain;
using kprof_test::silent;
using kprof_test::text_of;

TEST_CASE("advice_clock.S9_a_clock_that_falls") {
  // Kernels of two kinds, ten of each in each half; those of the second half last longer.
  const auto runs = [](std::int64_t gemm, std::int64_t relu, int in_first = 10) {
    kprof_test::advised_window b;
    const auto scope = b.op;
    for (int i = 0; i < 20; ++i) {
      const bool first = i < in_first;
      const std::int64_t at = 10'000 + 40'000 * i + (first ? 0 : 150'000), odd = i % 3;
      b.kernel_at({at, at + 10, at + 20, at + 20 + (first ? 10'000 : gemm) + odd}, {.scope = scope},
                  "a");
      b.kernel_at({at + 11, at + 15, at + 15'000, at + 15'000 + (first ? 4'000 : relu) + odd},
                  {.scope = scope}, "b");
    }
    b.kernel_at({980'000, 985'000, 990'000, 1'000'000}, {.scope = b.op});
    return b.finish();
  };
  CHECK(gain(runs(10'600, 4'240), "S9") == Approx(10 * 840).epsilon(0.01));
  CHECK(text_of(asked(runs(10'600, 4'240), "S9")[0])
            .find("The device slows down during the run: in the second half each of its 2 "
                  "kernels takes 6% longer. ") == 0);
  CHECK(gain(runs(10'400, 4'240), "S9") == silent);     // one by 4 % only
  CHECK(gain(runs(10'600, 4'000), "S9") == silent);     // one as before
  CHECK(gain(runs(9'400, 3'760), "S9") == silent);      // faster
  CHECK(gain(runs(10'600, 4'240, 9), "S9") == silent);  // nine runs tell nothing
}
