// SPDX-License-Identifier: MIT
//
// Trains a small classifier on oneDNN: three linear layers, forward, backward and update, whose
// loss must fall. You learn how KPROF_STEP() tells kprof where a step of the loop ends, so that the
// report has the section "Steps"; how regions named after directions and layers give it the table
// of forward, backward and update; and how a schedule leaves the first steps out without a rebuild:
//
//     train [steps=40]
//     KPROF='report,schedule(skip=5,active=30,repeat=1)' train
//
//     g++ -std=c++20 -O2 -I include examples/train.cpp -ldnnl -o train

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include <oneapi/dnnl/dnnl.hpp>

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
using tensor = std::vector<float>;

constexpr i64 batch = 128, classes = 10;

std::size_t elements(i64 rows, i64 columns) { return static_cast<std::size_t>(rows * columns); }

/// C = A B of row-major matrices, each as it is or transposed.
void product(bool ta, bool tb, i64 m, i64 n, i64 k, const tensor& a, const tensor& b, tensor& c) {
  dnnl::sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0F, a.data(), ta ? m : k, b.data(),
              tb ? k : n, 0.0F, c.data(), n);
}

/// y = relu(x W'), but for the last layer, which has no relu.
struct layer {
  std::string name;
  i64 in, out;
  bool last;
  tensor weights, gradient;
  tensor x, y;  // of the latest forward pass

  layer(const char* called, i64 inputs, i64 outputs, bool is_last, std::mt19937& random)
      : name(called),
        in(inputs),
        out(outputs),
        last(is_last),
        gradient(elements(in, out)),
        y(elements(batch, out)) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(in)));
    for (std::size_t i = 0; i < elements(in, out); ++i) weights.push_back(normal(random));
  }

  const tensor& forward(const tensor& input) {
    x = input;
    {
      KPROF_OP(ops::Linear, {.tokens = batch, .in_features = in, .out_features = out});
      product(false, true, batch, out, in, x, weights, y);
    }
    if (last) return y;
    KPROF_OP(ops::Activation, {.act = ops::activation::relu, .numel = batch * out});
    for (float& v : y) v = std::max(0.0F, v);
    return y;
  }

  tensor backward(tensor dy) {
    if (!last) {
      KPROF_OP(ops::Activation,
               {.act = ops::activation::relu, .numel = batch * out, .pass = ops::pass::bprop});
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = y[i] > 0 ? dy[i] : 0;
    }
    {
      KPROF_OP(ops::Linear,
               {.tokens = batch, .in_features = in, .out_features = out, .pass = ops::pass::wgrad});
      product(true, false, out, in, batch, dy, x, gradient);
    }
    tensor dx(elements(batch, in));
    KPROF_OP(ops::Linear,
             {.tokens = batch, .in_features = in, .out_features = out, .pass = ops::pass::dgrad});
    product(false, false, batch, in, out, dy, weights, dx);
    return dx;
  }

  void update() {
    KPROF_OP(ops::Sgd, {.numel = in * out});
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.05F * gradient[i];
  }
};

/// The mean loss; the logits become their gradient.
double loss_of(tensor& logits, const std::vector<i64>& target) {
  KPROF_OP(ops::CrossEntropy, {.rows = batch, .classes = classes});
  double loss = 0;
  for (i64 r = 0; r < batch; ++r) {
    float* const row = logits.data() + r * classes;
    const float top = *std::max_element(row, row + classes);
    float sum = 0;
    for (i64 c = 0; c < classes; ++c) sum += row[c] = std::exp(row[c] - top);
    const i64 right = target[static_cast<std::size_t>(r)];
    loss -= std::log(row[right] / sum) / batch;
    for (i64 c = 0; c < classes; ++c)
      row[c] = (row[c] / sum - (c == right ? 1.0F : 0.0F)) / static_cast<float>(batch);
  }
  return loss;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 40;
  if (steps < 2) {
    std::fputs("usage: train [steps=40], 2 or more\n", stderr);
    return 2;
  }
  std::mt19937 random(7);
  std::vector<layer> layers;
  layers.emplace_back("layer 1", 784, 512, false, random);
  layers.emplace_back("layer 2", 512, 256, false, random);
  layers.emplace_back("layer 3", 256, classes, true, random);
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    tensor x(elements(batch, 784));
    std::vector<i64> target(batch);
    {
      KPROF_REGION("data");  // images of class c are bright in every tenth pixel from c on
      std::uniform_real_distribution<float> noise(-1, 1);
      for (std::size_t i = 0; i < x.size(); ++i) {
        target[i / 784] = static_cast<i64>(i / 784 % classes);
        x[i] = noise(random) + (i % 784 % classes == i / 784 % classes ? 1.0F : 0.0F);
      }
    }
    {
      KPROF_REGION("forward");
      for (layer& l : layers) {
        KPROF_REGION(l.name);
        x = l.forward(x);
      }
    }
    last = loss_of(x, target);
    if (step == 0) first = last;
    {
      KPROF_REGION("backward");
      for (std::size_t i = layers.size(); i-- > 0;) {
        KPROF_REGION(layers[i].name);
        x = layers[i].backward(x);
      }
    }
    {
      KPROF_REGION("update");
      for (layer& l : layers) {
        KPROF_REGION(l.name);
        l.update();
      }
    }
    KPROF_STEP();
  }
  std::puts(last < first / 2 ? "the loss fell" : "the loss did not fall");
  kprof::report({.tree = false});
  return last < first / 2 ? 0 : 1;
}
// Output:
// the loss fell
// kprof · train · 1.78 s · 1 thread on 2 CPUs · 16.5 GFLOP at 9.28 GFLOP/s, 10.1% of the roof
// roof: f32 104 GFLOP/s a thread, 199 GFLOP/s on 2 · DRAM 22.6 GB/s a thread, 43.1 GB/s on 2 ·
//   measured 2026-11-23
//
// Do first
//   1  Linear 256 → 10 dgrad takes 22.3 µs in most calls and 12.0 ms or more in one of a hundred. Look
//      for what interrupts it: other threads, allocation, waiting for data. The same holds for
//      2 others. [S8]                                                             at most  147 ms   8%
//
// Operators, sorted by lost; all f32
//
// operator      parameters         pass    calls     self  share     cpu   median   roof  bound
// ───────────────────────────────────────────────────────────────────────────────────────────────
// Linear        all 9 rows: tokens=128       360  1.64 s   92.6%   50.5%  6.67 ms   9.7%  latency
//                 784 → 512        fprop      40   235 ms  13.2%   45.1%  6.62 ms  16.9%  latency
//                 512 → 256        fprop      40   197 ms  11.1%   50.0%  7.56 ms   6.6%  latency
//                 256 → 10         fprop      40   165 ms   9.3%   53.1%  3.83 ms   0.2%  latency
//                 784 → 512        dgrad      40   201 ms  11.4%   54.6%  7.88 ms  19.7%  latency
//                 512 → 256        dgrad      40   170 ms   9.6%   53.9%  3.94 ms   7.6%  latency
//                 784 → 512        wgrad      40   196 ms  11.0%   47.5%  7.56 ms  20.2%  latency
//                 256 → 10         wgrad      40   156 ms   8.8%   49.9%   260 µs   0.2%  latency
//                 256 → 10         dgrad      40   156 ms   8.8%   49.7%  22.3 µs   0.2%  latency
//                 512 → 256        wgrad      40   167 ms   9.4%   52.8%  1.73 ms   7.8%  latency
// Activation    all 4 rows: relu             160  52.0 ms   2.9%   73.1%   212 µs   6.7%  latency
//                 65536            bprop      40  23.9 ms   1.3%   61.5%   367 µs   5.8%  latency
//                 65536            fprop      40  14.4 ms   0.8%   91.9%   327 µs   6.5%  latency
//                 32768            bprop      40  7.27 ms   0.4%  100.0%   180 µs   9.6%  latency
//                 32768            fprop      40  6.44 ms   0.4%     n/a   160 µs   7.2%  latency
// Sgd           3 rows             update    120  20.1 ms   1.1%   94.3%   103 µs  56.6%  latency
//                 401408           update     40  15.3 ms   0.9%   94.2%   310 µs  55.9%  latency
//                 131072           update     40  4.70 ms   0.3%   96.8%   103 µs  59.4%  latency
//                 2560             update     40   123 µs  <0.1%     n/a  2.81 µs  44.3%  latency
// CrossEntropy  128×10             fprop      40   385 µs  <0.1%     n/a  9.06 µs   3.1%  latency
// ───────────────────────────────────────────────────────────────────────────────────────────────
// in operators                               680  1.72 s   96.7%                   10.1%
// in regions, outside operators                   58.1 ms   3.3%
//
// n/a, no call was long enough for its CPU time to be known: Activation (1 of 4 rows) and 2 more
// first call far above the median: Linear 256 → 10 tokens=128 dgrad (first 7.87 ms, then 22.3 µs) and
//   1 more
// mean above 3 times the median, a few calls take most of the time: Linear (2 of 9 rows)
// not shown at width 100: GFLOP/s, GB/s, mean, total, lost, FLOP/B, max, min
// off the CPU, waiting or for want of a CPU: Linear 784 → 512 tokens=128 (129 ms of 235 ms), Linear
//   784 → 512 tokens=128 wgrad (103 ms of 196 ms), Linear 512 → 256 tokens=128 (97.2 ms of 194 ms) and
//   6 more
//
// Steps
//   thread  steps   median      p99  jitter      min      max    first
//   train      40  39.2 ms  93.0 ms    2.37  5.98 ms  93.2 ms  93.2 ms
//   the first step took 2.37 times the median
//   a run without it: KPROF='report,schedule(skip=1,active=39,repeat=1)'
//   412 MFLOP a step at 9.28 GFLOP/s, MFU 4.7% of 199 GFLOP/s for f32
//   steps above the median took 1.09 s more than as many others: 1.10 s in Linear
//   time           forward       backward         update          other
//   all      623 ms  35.1%  1.08 s  61.1%  20.4 ms  1.1%  46.7 ms  2.6%
//   layer 1  252 ms  14.2%  424 ms  23.9%  15.5 ms  0.9%              -
//   layer 2  205 ms  11.6%  346 ms  19.5%  4.72 ms  0.3%              -
//   layer 3   165 ms  9.3%  313 ms  17.6%  132 µs  <0.1%              -
//   and 2 more layers
//   backward of Activation in layer 1 took 1.66 times its forward, for 1.00 times the FLOPs
// ...
