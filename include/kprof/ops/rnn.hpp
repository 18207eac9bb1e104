// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_RNN_HPP
#define KPROF_OPS_RNN_HPP

// Recurrent networks: one step of one layer (RnnCell, LstmCell, GruCell), and whole sequences
// through layers, in one or both directions (Rnn, Lstm, Gru).
//
// FLOPs are those of the products of matrices, backward twice as many (by the data and by the
// weights), as oneDNN and PyProf have it: "no theoretical number of ops for the post-gemm
// operations". The width of the input is called input_size, not I, which <complex.h> defines.
//
// Forward reads x, the state (h, and c of an LSTM), weights and two biases a gate, and writes the
// new state; a sequence also writes y, the hidden state of its last layer at each step. What passes
// from layer to layer stays inside. bprop reads x, the initial state, the weights, the gates that
// fprop saved, and the gradients of what fprop writes; it writes the gradients of what fprop reads.
// The saved gates are the least that spares bprop a third product; some libraries save more. That
// fprop writes them is not counted. Of an empty batch nothing is read; gradients of the weights are
// written, as zeros.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// What the recurrent operators share.
struct recurrent {
  int gates = 1;
  int states = 1;         ///< 2: a cell state beside the hidden one
  bool sequence = false;  ///< y is written
  extent batch = 1, input_size = 1, hidden_size = 1;
  extent seq_len = 1, layers = 1, directions = 1;
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;

  constexpr dtype weight_type() const { return detail::type_or(dtypeW, type); }
  constexpr bool valid() const {
    return not_negative(batch, input_size) && positive(hidden_size, seq_len, layers) &&
           multiplies(type, weight_type(), type) && detail::is_fprop_or_bprop(pass);
  }
  /// Of one kind and direction: the first layer takes the input, each later one the outputs of both
  /// directions.
  constexpr count weights() const {
    const count first = count{input_size} + hidden_size,
                later = (count{directions} + 1) * hidden_size;
    return count{gates} * hidden_size * directions * (first + (count{layers} - 1) * later);
  }
  constexpr count biases() const {
    return bias ? count{2} * gates * hidden_size * directions * layers : 0;
  }
  constexpr count parameters() const {
    return sensible(valid()) ? weights() + biases() : count::invalid();
  }

  constexpr count flops() const {
    if (!sensible(valid())) return count::invalid();
    return fma_flops(type) * (pass == ops::pass::bprop ? 2 : 1) * batch * seq_len * weights();
  }
  constexpr traffic bytes() const {
    if (!sensible(valid())) return invalid_traffic;
    const count step = count{batch} * hidden_size * directions;  // hidden elements of one layer
    const count x = bytes_for(count{batch} * seq_len * input_size, type),
                state = bytes_for(step * layers, type) * states;
    const count y = sequence ? bytes_for(step * seq_len, type) : 0;
    const count w = bytes_for(weights(), weight_type()) + bytes_for(biases(), weight_type());
    if (detail::is_forward(pass))
      return {.read = batch == 0 ? 0 : x + state + w, .written = y + state};
    const count saved = bytes_for(step * layers * seq_len * gates, type);
    const count read = x + state + bytes_for(weights(), weight_type()) + saved + y + state;
    return {.read = batch == 0 ? 0 : read, .written = x + state + w};
  }
};

}  // namespace ops::detail

namespace ops {

/// h' = tanh(W x + R h + biases): one gate, and one tensor of state, h.
/// FLOPs(fprop): 2 B weights
/// FLOPs(bprop): 4 B weights
/// read(fprop): x + state + w + b
/// read(bprop): x + 2 state + w + saved
/// written(fprop): state
/// written(bprop): x + state + w + b
/// parameters: weights + biases
/// where: weights = gates H (input_size + H)
/// where: biases = [bias] 2 gates H
/// where: gates = 1
/// where: states = 1
/// where: x = bytes(B input_size, type)
/// where: state = states bytes(B H, type)
/// where: saved = bytes(gates B H, type)
/// where: w = bytes(weights, dtypeW or type)
/// where: b = bytes(biases, dtypeW or type)
/// source: oneDNN benchdnn rnn.hpp, PyProf recurrentCell.py
/// others: DeepSpeed counts 2 K - 1 for a dot product of K, the biases, and for each hidden element
///   1, of a GRU 7, of an LSTM 10
struct RnnCell {
  extent B = 1, input_size = 1, H = 1;  ///< sequences; elements of an input; elements of a
                                        ///< hidden state
  bool bias = true;                     ///< two biases a gate, of the input and of the state
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;        ///< of inputs, states and their gradients
  dtype dtypeW = dtype::unknown;  ///< of weights, biases and their gradients; unknown: as `type`

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_cell(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 1,
            .states = 1,
            .sequence = false,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = 1,
            .layers = 1,
            .directions = 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

/// One step of an LSTM: four gates, and two tensors of state, h and c.
/// like: RnnCell, gates = 4, states = 2
struct LstmCell {
  extent B = 1, input_size = 1, H = 1;
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;  ///< as in RnnCell

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_cell(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 4,
            .states = 2,
            .sequence = false,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = 1,
            .layers = 1,
            .directions = 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

/// One step of a GRU: three gates.
/// like: RnnCell, gates = 3
struct GruCell {
  extent B = 1, input_size = 1, H = 1;
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;  ///< as in RnnCell

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_cell(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 3,
            .states = 1,
            .sequence = false,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = 1,
            .layers = 1,
            .directions = 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

/// Plain recurrent layers over a sequence: x[seq_len,B,input_size], y[seq_len,B,H], twice as wide
/// where `bidirectional`. The first layer takes x, each later one what both directions of the one
/// before it give.
/// FLOPs(fprop): 2 B seq_len weights
/// FLOPs(bprop): 4 B seq_len weights
/// read(fprop): x + state + w + b
/// read(bprop): x + 2 state + w + saved + y
/// written(fprop): y + state
/// written(bprop): x + state + w + b
/// parameters: weights + biases
/// where: weights = gates H ways (input_size + H + (layers - 1) (ways H + H))
/// where: biases = [bias] 2 gates H ways layers
/// where: gates = 1
/// where: states = 1
/// where: ways = 1 + [bidirectional]
/// where: x = bytes(B seq_len input_size, type)
/// where: y = bytes(B seq_len H ways, type)
/// where: state = states bytes(B H ways layers, type)
/// where: saved = bytes(gates B H ways layers seq_len, type)
/// where: w = bytes(weights, dtypeW or type)
/// where: b = bytes(biases, dtypeW or type)
/// source: RnnCell's, for each step, layer and direction
/// others: as of RnnCell
struct Rnn {
  extent B = 1, input_size = 1, H = 1;
  extent seq_len = 1, layers = 1;  ///< steps; layers, one on another
  bool bidirectional = false;      ///< each layer goes over the sequence in both directions
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;  ///< as in RnnCell

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_net(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 1,
            .states = 1,
            .sequence = true,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = seq_len,
            .layers = layers,
            .directions = bidirectional ? 2 : 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

/// LSTM layers over a sequence, as Rnn: four gates, and two tensors of state, h and c.
///     KPROF_OP(kprof::ops::Lstm, {.B = 32, .input_size = 512, .H = 1024, .seq_len = 50,
///                                 .layers = 2, .type = f16});
/// like: Rnn, gates = 4, states = 2
struct Lstm {
  extent B = 1, input_size = 1, H = 1;
  extent seq_len = 1, layers = 1;
  bool bidirectional = false;
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;  ///< as in RnnCell

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_net(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 4,
            .states = 2,
            .sequence = true,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = seq_len,
            .layers = layers,
            .directions = bidirectional ? 2 : 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

/// GRU layers over a sequence, as Rnn: three gates.
/// like: Rnn, gates = 3
struct Gru {
  extent B = 1, input_size = 1, H = 1;
  extent seq_len = 1, layers = 1;
  bool bidirectional = false;
  bool bias = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown;  ///< as in RnnCell

  constexpr bool valid() const { return model().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return model().flops(); }
  constexpr traffic bytes() const { return model().bytes(); }
  constexpr count parameters() const { return model().parameters(); }
  constexpr void brief(brief_text& out) const { detail::recurrent_net(out, *this); }

 private:
  constexpr detail::recurrent model() const {
    return {.gates = 3,
            .states = 1,
            .sequence = true,
            .batch = B,
            .input_size = input_size,
            .hidden_size = H,
            .seq_len = seq_len,
            .layers = layers,
            .directions = bidirectional ? 2 : 1,
            .bias = bias,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW};
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
