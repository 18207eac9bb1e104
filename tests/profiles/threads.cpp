// SPDX-License-Identifier: MIT
// A program for record.sh: a loader thread that prepares batches while a pool of workers
// convolves, multiplies and reduces the tiles that the main thread hands out under its context.

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace ops = kprof::ops;
using i64 = std::int64_t;
using numbers = std::vector<float>;

namespace {

enum class codec : std::uint8_t { raw, jpeg, png };
struct Decode {
  i64 n = 0;
  codec from = codec::raw;
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{4} * n, .written = kprof::count{4} * n};
  }
};

constexpr i64 side = 96, channels = 8, batches = 6, tiles = 8;

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

template <class Body>
void on_workers(int threads, i64 n, const Body& body) {
  const kprof::context here = kprof::context::current();
  std::atomic<i64> next = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      const kprof::context_guard under{here};
      for (i64 i = next++; i < n; i = next++) body(i);
    });
  for (std::thread& worker : workers) worker.join();
}

void convolve(const numbers& in, numbers& out, i64 size) {
  KPROF_OP(ops::Conv2d, {.N = 1,
                         .C = channels,
                         .H = side,
                         .W = side,
                         .K = channels,
                         .R = size,
                         .S = size,
                         .ph = size / 2,
                         .pw = size / 2});
  const i64 half = size / 2;
  for (i64 k = 0; k < channels; ++k)
    for (i64 y = half; y < side - half; ++y)
      for (i64 x = half; x < side - half; ++x) {
        float sum = 0;
        for (i64 c = 0; c < channels; ++c)
          for (i64 r = -half; r <= half; ++r)
            for (i64 s = -half; s <= half; ++s)
              sum += in[at((c * side + y + r) * side + x + s)] * 0.01F;
        out[at((k * side + y) * side + x)] = sum;
      }
}

float reduce(const numbers& x) {
  KPROF_OP(ops::Sum, {.n_in = std::ssize(x)});
  float sum = 0;
  for (const float value : x) sum += value;
  return sum;
}

void multiply(const numbers& a, numbers& out, i64 rows) {
  KPROF_OP(ops::Gemm, {.M = rows, .N = side, .K = side});
  for (i64 i = 0; i < rows; ++i)
    for (i64 k = 0; k < side; ++k)
      for (i64 j = 0; j < side; ++j)
        out[at(i * side + j)] += a[at(i * side + k)] * a[at(k * side + j)];
}

}  // namespace

int main() {
  std::thread loader([] {
    for (i64 i = 0; i < batches; ++i) {
      KPROF_REGION("load batch");
      numbers bytes(at(1 << 19), 1.0F);
      KPROF_OP(Decode, {.n = std::ssize(bytes), .from = i % 2 == 0 ? codec::jpeg : codec::png});
      for (std::size_t k = 1; k < bytes.size(); ++k) bytes[k] += 0.5F * bytes[k - 1];
    }
  });
  std::atomic<int> finite = 0;
  for (i64 batch = 0; batch < batches; ++batch) {
    KPROF_REGION("batch");
    on_workers(3, tiles, [&](i64 tile) {
      KPROF_REGION("tile");
      numbers in(at(channels * side * side), 1.0F), out = in;
      convolve(in, out, tile % 4 == 3 ? 5 : 3);
      multiply(out, in, side * (1 + tile % 3));
      finite += reduce(in) > 0 ? 1 : 0;
    });
  }
  loader.join();
  std::fprintf(stderr, "%d tiles\n", finite.load());
  return finite == batches * tiles ? 0 : 1;
}
