// SPDX-License-Identifier: MIT

// A program for the pages that are looked at in a browser: many threads, slices or rows.
//
//     wide threads N    N threads, each with 200 calls in two regions
//     wide slices N     N scopes in 200 steps, one of which is slow
//     wide steps N      N steps of one call
//     wide rows N       N operators by their parameters

#include <kprof/kprof.hpp>
#include <kprof/ops/gemm.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace ops = kprof::ops;
using i64 = std::int64_t;

constexpr i64 largest = 2'048, side = 24;

/// Reads and writes `n` floats.
struct Scale {
  kprof::extent n = 0;
  constexpr kprof::count flops() const { return n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};

struct work {
  std::vector<float> values = std::vector<float>(largest, 1.0F);
  std::vector<float> a = std::vector<float>(side * side, 0.5F), b = a, c = a;

  void scale(i64 n) {
    KPROF_OP(Scale, {.n = n});
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values[i] *= 0.999F;
  }
  void multiply() {
    KPROF_OP(ops::Gemm, {.M = side, .N = side, .K = side});
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t k = 0; k < side; ++k)
        for (std::size_t j = 0; j < side; ++j) c[i * side + j] += a[i * side + k] * b[k * side + j];
  }
};

void run_threads(i64 threads) {
  const kprof::context here = kprof::context::current();
  std::vector<std::thread> all;
  for (i64 t = 0; t < threads; ++t)
    all.emplace_back([here, t] {
      const kprof::context_guard under{here};
      work own;
      for (const char* const region : {"forward", "backward"}) {
        KPROF_REGION(region);
        for (i64 i = 0; i < 100; ++i)
          if (i % 3 == 0) own.multiply();
          else own.scale(256 << (t % 4));
      }
    });
  for (std::thread& thread : all) thread.join();
}

void run_slices(i64 slices) {
  constexpr i64 steps = 200;
  work own;
  for (i64 s = 0; s < steps; ++s) {
    for (i64 i = 0; i < slices / steps; i += 100) {
      KPROF_REGION("layer");
      for (i64 k = i + 1; k < i + 100; ++k)
        if (k % 25 == 0 && s == 120) own.multiply();
        else own.scale(k % 3 == 0 ? 64 : 16);
    }
    KPROF_STEP();
  }
}

void run_steps(i64 steps) {
  work own;
  for (i64 s = 0; s < steps; ++s) {
    own.scale(64 + s % 7 * 64);
    KPROF_STEP();
  }
}

void run_rows(i64 rows) {
  work own;
  for (int pass = 0; pass < 3; ++pass)
    for (i64 n = 0; n < rows; ++n)
      if (n % 2 == 0) {
        KPROF_OP(ops::Gemm, {.M = 1 + n % 100, .N = 1 + n / 100, .K = 1});
        own.values[0] *= 0.999F;
      } else {
        KPROF_OP(Scale, {.n = n});
        own.values[1] *= 0.999F;
      }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count == 3 ? arguments[1] : "";
  const i64 n = count == 3 ? std::atoll(arguments[2]) : 0;
  if (what == "threads") run_threads(n);
  else if (what == "slices") run_slices(n);
  else if (what == "steps") run_steps(n);
  else if (what == "rows") run_rows(n);
  else {
    std::fprintf(stderr, "usage: wide threads|slices|steps|rows NUMBER\n");
    return 2;
  }
}
