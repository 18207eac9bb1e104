// SPDX-License-Identifier: MIT
// Recurrent networks: published vectors, networks unrolled over steps, layers and directions with
// tensors that know which of their elements were touched, and parameters that make no sense.
#include <kprof/ops/rnn.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// Of formulas.md.
static_assert(costs(LstmCell{.B = 1, .input_size = 256, .H = 256}, 1'048'576, 2'110'464));
static_assert(costs(GruCell{.B = 32, .input_size = 128, .H = 64, .type = dtype::f16}, 2'359'296,
                    90'880));

// nothing but the state
static_assert(costs(Gru{.B = 3, .input_size = 0, .H = 2}, 2 * 3 * 3 * 4,
                    4 * (6 + 12 + 12 + 6 + 6)));

// Of an empty batch nothing is read; gradients of the weights are written, as zeros.
static_assert(costs(LstmCell{.B = 0, .input_size = 3, .H = 5}, 0, 0) &&
              costs(Gru{.B = 0, .input_size = 3, .H = 5}, 0, 0));
static_assert(moves(RnnCell{.B = 0, .input_size = 3, .H = 5, .pass = pass::bprop}, 0, 200) &&
              moves(Lstm{.B = 0, .bias = false, .pass = pass::bprop}, 0, 32));

static_assert(LstmCell{.type = dtype::f16}.arithmetic().type == dtype::f16 &&
              Gru{.type = dtype::tf32}.arithmetic().on == kprof::arithmetic_unit::tensor_core);
static_assert(Rnn{}.arithmetic().type == dtype::f32 &&
              Rnn{}.arithmetic().on == kprof::arithmetic_unit::unknown);

// A senseless call is no constant.
static_assert(is_constant([] { return RnnCell{}.flops(); }) &&
              is_constant([] { return Lstm{}.bytes(); }) &&
              is_constant([] { return Gru{}.parameters(); }));
static_assert(!is_constant([] { return RnnCell{.B = -1}.flops(); }) && !is_constant([] {
  return RnnCell{.H = 0}.bytes();
}) && !is_constant([] { return RnnCell{.H = -1}.parameters(); }));
static_assert(!is_constant([] { return LstmCell{.input_size = -1}.bytes(); }) &&
              !is_constant([] { return LstmCell{.pass = pass::dgrad}.flops(); }));
static_assert(!is_constant([] { return LstmCell{.B = most}.flops(); }) &&
              !is_constant([] { return LstmCell{.input_size = most}.parameters(); }));
static_assert(!is_constant([] { return GruCell{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] { return GruCell{.pass = pass::wgrad}.bytes(); }) &&
              !is_constant([] { return GruCell{.B = -1}.flops(); }));
static_assert(!is_constant([] { return Rnn{.seq_len = 0}.flops(); }) && !is_constant([] {
  return Rnn{.layers = 0}.bytes();
}) && !is_constant([] { return Rnn{.layers = -1}.parameters(); }));
static_assert(!is_constant([] { return Lstm{.layers = most}.flops(); }) && !is_constant([] {
  return Lstm{.seq_len = -1}.bytes();
}) && !is_constant([] { return Lstm{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Gru{.seq_len = most, .layers = 2}.flops(); }) &&
              !is_constant([] { return Gru{.pass = pass::bgrad}.flops(); }) &&
              !is_constant([] { return Gru{.H = 0}.flops(); }));

/// A tensor that adds up the bytes of the elements that were read and written, each once.
class tensor {
 public:
  static inline std::uint64_t read = 0, written = 0;

  tensor(std::int64_t size, unsigned bytes)
      : seen_(static_cast<std::size_t>(size)), bytes_(bytes) {}
  void get(std::int64_t i) { touch(i, 1, read); }
  void put(std::int64_t i) { touch(i, 2, written); }

 private:
  void touch(std::int64_t i, int how, std::uint64_t& sum) {
    int& s = seen_.at(static_cast<std::size_t>(i));
    if ((s & how) == 0) sum += bytes_;
    s |= how;
  }
  std::vector<int> seen_;
  unsigned bytes_;
};

struct cost {
  std::uint64_t flops = 0, read = 0, written = 0;
};

/// What the networks differ in, and sizes.
struct network {
  std::int64_t gates, B, input_size, H, seq_len, layers, directions;
  bool cell_state, bias, sequence;
  unsigned type, weight_type;
};

/// Runs the products of a network, step by step. Backward, hidden states follow from the gates,
/// without a product.
cost run(const network& net, bool backward) {
  const std::int64_t rows = net.gates * net.H;
  tensor::read = tensor::written = 0;
  cost sum;
  tensor x(net.seq_len * net.B * net.input_size, net.type), dx(x),
      y(net.seq_len * net.B * net.directions * net.H, net.type), dy(y);
  for (std::int64_t layer = 0; layer < net.layers; ++layer)
    for (std::int64_t direction = 0; direction < net.directions; ++direction) {
      const std::int64_t width = layer == 0 ? net.input_size : net.directions * net.H;
      const bool last = layer + 1 == net.layers;
      tensor w(rows * width, net.weight_type), r(rows * net.H, net.weight_type),
          b1(rows, net.weight_type), b2(b1), dw(w), dr(r), db1(b1), db2(b2);
      tensor h0(net.B * net.H, net.type), c0(h0), hn(h0), cn(h0), dh0(h0), dc0(h0), dhn(h0),
          dcn(h0), gates(net.seq_len * net.B * rows, net.type);
      for (std::int64_t step = 0; step < net.seq_len; ++step)
        for (std::int64_t n = 0; n < net.B; ++n) {
          const std::int64_t time = direction == 0 ? step : net.seq_len - 1 - step;
          for (std::int64_t row = 0; row < rows; ++row) {
            if (backward) gates.get((step * net.B + n) * rows + row);
            for (std::int64_t i = 0; i < width; ++i) {
              const std::int64_t at = (time * net.B + n) * width + i;
              if (layer == 0) x.get(at);
              if (layer == 0 && backward) dx.put(at);
              w.get(row * width + i);
              if (backward) dw.put(row * width + i);
              sum.flops += backward ? 4 : 2;  // dx += dgate w and dw += dgate x
            }
            for (std::int64_t k = 0; k < net.H; ++k) {
              if (step == 0) h0.get(n * net.H + k);
              if (step == 0 && backward) dh0.put(n * net.H + k);
              r.get(row * net.H + k);
              if (backward) dr.put(row * net.H + k);
              sum.flops += backward ? 4 : 2;
            }
            if (!net.bias) continue;
            for (tensor* b :
                 backward ? std::vector<tensor*>{&db1, &db2} : std::vector<tensor*>{&b1, &b2})
              backward ? b->put(row) : b->get(row);
          }
          for (std::int64_t k = 0; k < net.H; ++k) {
            const std::int64_t at = n * net.H + k;
            if (step == 0 && net.cell_state) c0.get(at);
            if (step == 0 && net.cell_state && backward) dc0.put(at);
            if (step + 1 == net.seq_len) {
              backward ? dhn.get(at) : hn.put(at);
              if (net.cell_state) backward ? dcn.get(at) : cn.put(at);
            }
            const std::int64_t out = ((time * net.B + n) * net.directions + direction) * net.H + k;
            if (last && net.sequence) backward ? dy.get(out) : y.put(out);
          }
        }
    }
  sum.read = tensor::read;
  sum.written = tensor::written;
  return sum;
}

template <class Op>
void compare(std::int64_t gates, unsigned seed) {
  kprof_test::random_shape random(seed);
  for (int i = 0; i < 250; ++i) {
    constexpr bool sequence = requires(Op o) { o.seq_len; };
    Op op{.B = random(1, 3), .input_size = random(0, 4), .H = random(1, 3)};
    network net{.gates = gates,
                .B = op.B,
                .input_size = op.input_size,
                .H = op.H,
                .seq_len = 1,
                .layers = 1,
                .directions = 1,
                .cell_state = gates == 4,
                .bias = random.coin(),
                .sequence = sequence,
                .type = 4,
                .weight_type = 4};
    if constexpr (sequence) {
      net.seq_len = op.seq_len = random(1, 4);
      net.layers = op.layers = random(1, 3);
      op.bidirectional = random.coin();
      net.directions = op.bidirectional ? 2 : 1;
    }
    op.bias = net.bias;
    if (random.coin()) {
      op.type = dtype::bf16;
      net.type = 2;
      op.dtypeW = dtype::f64;
      net.weight_type = 8;
    }
    for (const bool backward : {false, true}) {
      op.pass = backward ? pass::bprop : pass::fprop;
      const cost c = run(net, backward);
      REQUIRE(op.flops().value() == c.flops);
      REQUIRE(op.bytes().read.value() == c.read);
      REQUIRE(op.bytes().written.value() == c.written);
    }
    // Weights and biases are what bprop writes beside the gradients of x and of the state.
    const auto states = static_cast<std::uint64_t>(net.layers * net.directions * net.B * net.H *
                                                       (net.cell_state ? 2 : 1) +
                                                   net.seq_len * net.B * net.input_size);
    REQUIRE(op.parameters().value() * net.weight_type + states * net.type ==
            op.bytes().written.value());
  }
}

}  // namespace

TEST_CASE("ops_rnn.unrolled_cells") {
  compare<RnnCell>(1, 1);
  compare<LstmCell>(4, 2);
  compare<GruCell>(3, 3);
}

TEST_CASE("ops_rnn.unrolled_sequences") {
  compare<Rnn>(1, 4);
  compare<Lstm>(4, 5);
  compare<Gru>(3, 6);
}
