// SPDX-License-Identifier: MIT
//
// A micro-benchmark of one operator at two sizes. You learn how long a call takes with warm and
// with cold caches, how near it is to what this machine can do, and what holds it back. Nothing is
// guarded and nothing recorded: measure() times the call alone, until its median is known to 1 %.
//
//     g++ -std=c++20 -O2 -I include examples/17_measure.cpp -o measure && ./measure

#include <kprof/measure.hpp>

#include <cstdio>
#include <vector>

struct Saxpy {
  kprof::extent n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
  }
};

void saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

int main() {
  for (const std::size_t n : {8192U, 4'194'304U}) {
    const std::vector<float> x(n, 1.0F);
    std::vector<float> y(n, 2.0F);
    // y grows without end; floats saturate at infinity, and no number becomes denormal.
    const kprof::measurement m =
        kprof::measure(Saxpy{.n = n}, [&] { saxpy(3.0F, x, y); }, {.seconds = 0.5});
    if (!m) std::printf("not measured: %s\n", m.warm.why.c_str());
    else if (m.warm.median.median_ns > 0)
      std::printf("\n  a cold call takes %.1f times as long\n\n",
                  m.cold.median.median_ns / m.warm.median.median_ns);
  }
}

// Output:
// kprof · 17_measure · 2.15 ms · 1 thread on 2 CPUs · 5.11 MFLOP at 2.38 GFLOP/s · measured alone
// ...
