// SPDX-License-Identifier: MIT
//
// A parameter struct that cannot be changed becomes an operator from outside: kprof::op_traits
// gives it a name, says which members are parameters (pointers and handles are not), and holds the
// formulas.
//
//     g++ -std=c++20 -O2 -I include examples/03_foreign_struct.cpp -o foreign && ./foreign

#include <kprof/kprof.hpp>

#include <vector>

// From a vendor's header: C, pointers among the numbers, sizes as int.
extern "C" {
struct vnd_gemm_descriptor_t {
  void* handle;
  int m, n, k;
  float alpha, beta;
  const float* a;
  const float* b;
  float* c;
  char reserved[32];
};
}

template <>
struct kprof::op_traits<vnd_gemm_descriptor_t> {
  using gemm = vnd_gemm_descriptor_t;
  static constexpr const char* name = "vendor.gemm";
  using fields = kprof::members<&gemm::m, &gemm::n, &gemm::k, &gemm::beta>;
  // optional: else the members' own names
  static constexpr const char* field_names[] = {"M", "N", "K", "beta"};

  static constexpr kprof::count flops(const gemm& g) { return kprof::count{2} * g.m * g.n * g.k; }
  static constexpr kprof::traffic bytes(const gemm& g) {
    const kprof::count a = kprof::count{g.m} * g.k, b = kprof::count{g.k} * g.n,
                       c = kprof::count{g.m} * g.n;
    return {.read = 4 * (a + b + (g.beta != 0.0F ? c : 0)), .written = 4 * c};
  }
  static constexpr bool valid(const gemm& g) { return g.m > 0 && g.n > 0 && g.k > 0; }
  static constexpr kprof::arithmetic arithmetic(const gemm&) { return {.type = kprof::dtype::f32}; }
};

constexpr vnd_gemm_descriptor_t square(int n) {
  return {nullptr, n, n, n, 1.0F, 0.0F, nullptr, nullptr, nullptr, {}};
}
static_assert(kprof::flops_of(square(100)) == 2'000'000);

void vnd_gemm(const vnd_gemm_descriptor_t& g) {
  KPROF_OP(vnd_gemm_descriptor_t, g);
  for (int i = 0; i < g.m; ++i) {
    float* row = g.c + i * g.n;
    for (int j = 0; j < g.n; ++j) row[j] *= g.beta;
    for (int p = 0; p < g.k; ++p)
      for (int j = 0; j < g.n; ++j) row[j] += g.alpha * g.a[i * g.k + p] * g.b[p * g.n + j];
  }
}

int main() {
  const std::vector<float> a(256 * 256, 0.5F), b(256 * 256, 2.0F);
  std::vector<float> c(256 * 256);
  vnd_gemm_descriptor_t g = square(256);
  g.a = a.data(), g.b = b.data(), g.c = c.data();
  for (int i = 0; i < 10; ++i) vnd_gemm(g);
  g.k = 64, g.beta = 1;
  for (int i = 0; i < 5; ++i) vnd_gemm(g);
  kprof::report();
}

// Output:
// kprof · 03_foreign_struct · 482 ms · 1 thread on 2 CPUs · 377 MFLOP at 783 MFLOP/s
//
// Operators, sorted by self; all f32
//
// operator     parameters               calls     self             share   median  GFLOP/s   GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────
// vendor.gemm  all 2 rows: M=256 N=256     15   482 ms  ████████  100.0%  42.5 ms    0.784  0.023
//                K=256                     10   428 ms  ███████▏   88.9%  43.0 ms    0.784  0.018
//                K=64 beta=1                5  53.6 ms  ▉          11.1%  10.7 ms    0.782  0.061
// ─────────────────────────────────────────────────────────────────────────────────────────────
// in operators                             15   482 ms            100.0%             0.784  0.023
//
// not shown at width 100: mean, total, FLOP/B, max, min
//
// Complete: nothing was lost of 15 scopes; kprof 0.1.0 took 60.4 µs (<0.1% of wall time). More:
//   KPROF='report(tree,timeline,legend,details)'.
