// SPDX-License-Identifier: MIT
//
// Decodes 900 tokens with a small Llama: grouped-query attention against a cache of keys and values
// that grows by one token a step, so that no two steps call attention with the same shapes. You
// learn what a report makes of thousands of sets of parameters. Everything is computed.
//
//     g++ -std=c++20 -O2 -I include examples/14_decode_with_cache.cpp -o decode && ./decode
//     decode [layers=4] [tokens=900]

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace ops = kprof::ops;
using i64 = std::int64_t;
using row = std::vector<float>;
constexpr auto f32 = kprof::dtype::f32;

// Of Llama 3 8B: width 4096, 32 heads, 8 of keys, 14336 wide, 128256 tokens.
constexpr i64 width = 64, heads = 4, key_heads = 2, head_size = width / heads, hidden = 192,
              vocabulary = 512, shared = heads / key_heads;

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

struct Matrix {
  i64 rows, cols;
  row values;

  Matrix(i64 r, i64 c, std::mt19937& random) : rows(r), cols(c), values(at(r * c)) {
    std::normal_distribution<float> normal(0.0F, 1 / std::sqrt(static_cast<float>(c)));
    for (float& value : values) value = normal(random);
  }
  const float* operator[](i64 i) const { return values.data() + i * cols; }
};

float dot(const float* a, const float* b, i64 n) {
  float sum[4] = {};
  for (i64 i = 0; i < n; i += 4)
    for (i64 k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

// ---- the operators, of one token ----------------------------------------------------------------

row linear(const row& x, const Matrix& w) {
  KPROF_OP(ops::Linear, {.tokens = 1, .in_features = w.cols, .out_features = w.rows});
  row y(at(w.rows));
  for (i64 o = 0; o < w.rows; ++o) y[at(o)] = dot(x.data(), w[o], w.cols);
  return y;
}

row rms_norm(row x) {
  KPROF_OP(ops::RmsNorm, {.rows = 1, .cols = width, .affine = false, .stats = false});
  const float scale = 1 / std::sqrt(dot(x.data(), x.data(), width) / width + 1e-5F);
  for (float& value : x) value *= scale;
  return x;
}

void add(row& a, const row& b) {
  KPROF_OP(ops::Add, {.a = {width}, .b = {width}});
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

/// Rotates the heads of queries and keys, which lie one behind the other.
void rope(row& qkv, i64 place) {
  KPROF_OP(ops::Rope, {.H = heads + key_heads, .D = head_size, .type = f32});
  for (i64 h = 0; h < heads + key_heads; ++h)
    for (i64 i = 0; i < head_size; i += 2) {
      const float turn =
          static_cast<float>(place) *
          std::pow(10'000.0F, -static_cast<float>(i) / static_cast<float>(head_size));
      float &x = qkv[at(h * head_size + i)], &y = qkv[at(h * head_size + i + 1)];
      const float turned = x * std::cos(turn) - y * std::sin(turn);
      y = x * std::sin(turn) + y * std::cos(turn);
      x = turned;
    }
}

row swiglu(const row& x) {
  KPROF_OP(ops::Swiglu, {.rows = 1, .F = hidden});
  row y(x.begin() + hidden, x.end());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= x[i] / (1 + std::exp(-x[i]));
  return y;
}

/// Keys and values of a layer, by head and token.
struct Cache {
  row keys[key_heads], values[key_heads];

  void append(const row& qkv) {
    KPROF_OP(ops::Copy, {.numel = 2 * key_heads * head_size});
    for (i64 h = 0; h < key_heads; ++h) {
      const auto key = qkv.begin() + width + h * head_size, value = key + key_heads * head_size;
      keys[h].insert(keys[h].end(), key, key + head_size);
      values[h].insert(values[h].end(), value, value + head_size);
    }
  }
  i64 tokens() const { return std::ssize(keys[0]) / head_size; }
};

/// Attention without a fused kernel: scores, softmax and sum are three operators.
row attention(const row& qkv, const Cache& cache) {
  const i64 n = cache.tokens();
  std::vector<row> p(heads, row(at(n)));
  {
    KPROF_OP(ops::Bmm, {.batch = key_heads, .M = shared, .N = n, .K = head_size});
    for (i64 h = 0; h < heads; ++h)
      for (i64 t = 0; t < n; ++t)
        p[at(h)][at(t)] = dot(qkv.data() + h * head_size,
                              cache.keys[h / shared].data() + t * head_size, head_size) /
                          std::sqrt(static_cast<float>(head_size));
  }
  {
    KPROF_OP(ops::Softmax, {.rows = heads, .cols = n});
    for (row& scores : p) {
      const float top = *std::max_element(scores.begin(), scores.end());
      float sum = 0;
      for (float& s : scores) sum += s = std::exp(s - top);
      for (float& s : scores) s /= sum;
    }
  }
  KPROF_OP(ops::Bmm, {.batch = key_heads, .M = shared, .N = head_size, .K = n});
  row out(width);
  for (i64 h = 0; h < heads; ++h)
    for (i64 t = 0; t < n; ++t)
      for (i64 i = 0; i < head_size; ++i)
        out[at(h * head_size + i)] +=
            p[at(h)][at(t)] * cache.values[h / shared][at(t * head_size + i)];
  return out;
}

// ---- the model ----------------------------------------------------------------------------------

struct Layer {
  Matrix qkv, out, gate_up, down;
  Cache cache;

  explicit Layer(std::mt19937& random)
      : qkv(width + 2 * key_heads * head_size, width, random),
        out(width, width, random),
        gate_up(2 * hidden, width, random),
        down(width, hidden, random) {}

  void forward(row& x, i64 place) {
    row projected = linear(rms_norm(x), qkv);
    rope(projected, place);
    cache.append(projected);
    add(x, linear(attention(projected, cache), out));
    add(x, linear(swiglu(linear(rms_norm(x), gate_up)), down));
  }
};

struct Llama {
  std::mt19937 random{42};
  Matrix embedding{vocabulary, width, random};
  std::vector<Layer> layers;

  explicit Llama(i64 depth) {
    for (i64 i = 0; i < depth; ++i) layers.emplace_back(random);
  }

  /// The most probable token behind `token`.
  i64 next(i64 token, i64 place) {
    KPROF_REGION("token");
    row x(width);
    {
      KPROF_OP(ops::Embedding, {.tokens = 1, .D = width, .V = vocabulary});
      std::copy_n(embedding[token], width, x.begin());
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      KPROF_REGION("layer " + std::to_string(i));
      layers[i].forward(x, place);
    }
    KPROF_REGION("head");
    const row logits = linear(rms_norm(x), embedding);
    KPROF_OP(ops::Argmax, {.n_in = vocabulary});
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  }
};

int main(int argc, char** argv) {
  const i64 depth = argc > 1 ? std::atol(argv[1]) : 4, tokens = argc > 2 ? std::atol(argv[2]) : 900;
  if (depth < 1 || tokens < 1) {
    std::fputs("usage: decode [layers=4] [tokens=900]\n", stderr);
    return 2;
  }
  Llama model(depth);
  i64 token = 1;
  std::vector<bool> seen(vocabulary);
  for (i64 place = 0; place < tokens; ++place) {
    token = model.next(token, place);
    seen[at(token)] = true;
  }
  std::fprintf(stderr, "%ld different tokens\n",
               static_cast<long>(std::count(seen.begin(), seen.end(), true)));
  kprof::report({.by = kprof::grouping::op});  // a row an operator, not one for each cache length
}
// Output:
// kprof · 14_decode_with_cache · 128 ms · 1 thread on 2 CPUs
//
// Operators by op, sorted by self; all f32
//
// operator   parameters                           calls     self            share   median  GFLOP/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Bmm        2×1…900×1…900, batch 2, 1,799 sets   7,200  58.7 ms  ████████  46.0%  5.74 µs    7.07
// Softmax    4×1…900, 900 sets                    3,600  30.4 ms  ████▏     23.9%  8.33 µs    1.07
// Linear     64…192 → 64…512, 5 sets             15,300  25.2 ms  ███▍      19.7%  1.66 µs   16.4
// Swiglu     1×192                                3,600  2.40 ms  ▍          1.9%   644 ns    0.575
// Rope       B=1 H=6 S=1 D=16                     3,600  2.36 ms  ▍          1.9%   619 ns    0.439
// Argmax     512 → 1                                900  1.43 ms  ▎          1.1%  1.49 µs    0.322
// Copy       64                                   3,600  1.10 ms  ▏          0.9%  30.0 ns    0
// RmsNorm    1×64, not affine, no stats           8,100   446 µs             0.3%  50.3 ns    3.49
// Add        64                                   7,200   213 µs             0.2%  30.0 ns    2.17
// Embedding  1×64, of 512                           900  11.5 µs            <0.1%  10.0 ns    0
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                                   54,000   122 ms            95.8%
// in regions, outside operators                          5.31 ms             4.2%
//
// mean above 3 times the median, a few calls take most of the time: Copy
// short, so partly kprof's own time (an empty scope shows 10.0 ns): RmsNorm, Add, Embedding
// not shown at width 100: GB/s, mean, total, FLOP/B, max, min
// ...
