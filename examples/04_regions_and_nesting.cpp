// SPDX-License-Identifier: MIT
//
// Regions name layers and phases, and operators may contain operators. You learn to read the call
// tree: total time, self time (total less what is inside), and names made at run time. begin() and
// end() serve where no block can.
//
//     g++ -std=c++20 -O2 -I include examples/04_regions_and_nesting.cpp -o regions && ./regions

#include <kprof/kprof.hpp>

#include <string>
#include <vector>

struct Matmul {
  std::int64_t M = 0, N = 0, K = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
};

/// An operator made of operators. It declares no formula of its own: its work is in what it calls.
struct FeedForward {
  std::int64_t tokens = 0, width = 0, hidden = 0;
};

using matrix = std::vector<float>;

void matmul(std::int64_t m, std::int64_t n, std::int64_t k, const matrix& a, const matrix& b,
            matrix& c) {
  KPROF_OP(Matmul, {.M = m, .N = n, .K = k});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
}

void feed_forward(const FeedForward& p, const matrix& in, const matrix& up, const matrix& down,
                  matrix& out) {
  KPROF_OP(FeedForward, p);
  matrix hidden(static_cast<std::size_t>(p.tokens * p.hidden));
  matmul(p.tokens, p.hidden, p.width, in, up, hidden);
  for (float& h : hidden) h = h > 0 ? h : 0;  // no guard: the operator's own time
  matmul(p.tokens, p.width / 2, p.hidden, hidden, down, out);
}

int main() {
  const matrix up(128 * 512, 0.01F), down(512 * 64, 0.01F);
  matrix x(64 * 128, 1.0F), y(64 * 64);

  // from callback to callback, for instance
  kprof::open_scope loading = kprof::begin_region("load");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  kprof::end(loading);

  for (int step = 0; step < 5; ++step) {
    KPROF_REGION("forward");
    for (int layer = 0; layer < 2; ++layer) {
      // copied; evaluated only while a session records
      KPROF_REGION("layer " + std::to_string(layer));
      feed_forward({.tokens = 64, .width = 128, .hidden = layer == 0 ? 512 : 128}, x, up, down, y);
    }
  }
  kprof::report_options options;
  options.table = false;  // the call tree instead
  kprof::report(options);
}

// Output:
// kprof · 04_regions_and_nesting · 146 ms · 1 thread on 2 CPUs · 78.6 MFLOP at 539 MFLOP/s
//
// Call tree, sorted by total; share is total, of 146 ms in all scopes; ×2: so many that differ in a
//   number, as one row
//
// scope                                     calls    total   share              each     self  GFLOP/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// forward                                       5   146 ms  100.0%                    11.3 µs    0.540
// └─ layer 0…1 ×2                              10   146 ms  100.0%  29.4 ms – 116 ms  22.4 µs    0.540
//    └─ FeedForward(tokens=64 width=128 …)     10   146 ms  100.0%                    1.36 ms    0.540
//       ├─ Matmul(M=64 N=128…512 K=128)        10  95.0 ms   65.2%                    95.0 ms    0.552
//       └─ Matmul(M=64 N=64 K=128…512)         10  49.3 ms   33.8%                    49.3 ms    0.531
// load                                          1  24.5 µs   <0.1%                    24.5 µs
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                                   46   146 ms  100.0%                     146 ms    0.539
//
// not shown at width 100: mean, FLOPs
// cut at width 100: scope; whole with width=130, or KPROF='report(width=130)'
// n/a, no bytes() declared: FeedForward, Matmul
//
// Complete: nothing was lost of 46 scopes; kprof 0.1.0 took 77.3 µs (0.1% of wall time). More:
//   KPROF='report(timeline,legend,details)'.
