// SPDX-License-Identifier: MIT
// A program for record.sh: a loader thread that prepares batches while workers convolve, multiply
// and reduce the tiles that the main thread hands out under its context. At the end of a batch the
// workers share one multiplication, each with a part of its rows.

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

constexpr int threads = 3;

/// Hands out tiles to the workers; when none is left, all of them do `together`.
template <class Body, class Together>
void on_workers(const Body& body, const Together& together) {
  const kprof::context here = kprof::context::current();
  std::atomic<i64> next = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < threads; ++worker)
    workers.emplace_back([&, worker] {
      const kprof::context_guard under{here};
      for (i64 i = next++; i < tiles; i = next++) body(i);
      together(worker);
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

void multiply_rows(const numbers& a, numbers& out, i64 first, i64 last) {
  for (i64 i = first; i < last; ++i)
    for (i64 k = 0; k < side; ++k)
      for (i64 j = 0; j < side; ++j)
        out[at(i * side + j)] += a[at(i * side + k)] * a[at(k * side + j)];
}

void multiply(const numbers& a, numbers& out, i64 rows) {
  KPROF_OP(ops::Gemm, {.M = rows, .N = side, .K = side});
  multiply_rows(a, out, 0, rows);
}

/// All workers call it, each with its number. The last has fewer rows than the others.
void multiply_together(const numbers& a, numbers& out, i64 rows, int worker) {
  KPROF_PART(ops::Gemm, {.M = rows, .N = side, .K = side}, worker, threads);
  const i64 share = rows * 2 / 5;
  multiply_rows(a, out, worker * share, std::min(rows, (worker + 1) * share));
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
    const numbers all(at(channels * side * side), 1.0F);
    numbers merged(all.size());
    on_workers(
        [&](i64 tile) {
          KPROF_REGION("tile");
          numbers in(at(channels * side * side), 1.0F), out = in;
          convolve(in, out, tile % 4 == 3 ? 5 : 3);
          multiply(out, in, side * (1 + tile % 3));
          finite += reduce(in) > 0 ? 1 : 0;
        },
        [&](int worker) { multiply_together(all, merged, channels * side, worker); });
  }
  loader.join();
  std::fprintf(stderr, "%d tiles\n", finite.load());
  return finite == batches * tiles ? 0 : 1;
}
