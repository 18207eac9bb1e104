// SPDX-License-Identifier: MIT
//
// What models cost, known to the compiler: lists of the catalogue's operators, summed. You learn
// how a network is declared (networks.hpp), and how its sums are tested and printed. Nothing is
// recorded: kprof.hpp is not included.
//
//     g++ -std=c++20 -I include examples/12_model_cards.cpp -o model_cards && ./model_cards

#include "networks.hpp"

#include <cstdio>

namespace {

using kprof::ops::cost;
using kprof::ops::network;

constexpr network resnet50 = networks::resnet50(32, kprof::dtype::f16).all();
constexpr network training = networks::resnet50(32, kprof::dtype::f16, true).all();
constexpr network bert = networks::bert_base(8, 128).all();
constexpr network gpt2 = networks::gpt2(1, 1024).all();
constexpr network prefill = networks::llama2_7b(1, 2048, 0).all();
constexpr network decode = networks::llama2_7b(1, 1, 2047).all();
static_assert(resnet50.parameters() == 25'557'032 && gpt2.parameters() == 124'439'808 &&
              decode.parameters() == 6'738'415'616);

void print(const char* name, const network& n) {
  const cost all = n.total();
  const auto flops = static_cast<double>(all.flops.value()),
             bytes = static_cast<double>(all.bytes.total().value());
  std::printf("%-36s %10.2f M %12.2f G %10.2f GB %9.1f\n", name,
              static_cast<double>(n.parameters().value()) * 1e-6, flops * 1e-9, bytes * 1e-9,
              flops / bytes);
}

}  // namespace

int main() {
  std::printf("%-36s %12s %14s %13s %9s\n", "model", "parameters", "FLOPs", "bytes", "FLOP/B");
  print("ResNet-50, 32 images, f16", resnet50);
  print("ResNet-50, 32 images, with backward", training);
  print("BERT-base, 8 x 128 tokens, f16", bert);
  print("GPT-2, 1,024 tokens, f16", gpt2);
  print("Llama 2 7B, 2,048 tokens, bf16", prefill);
  print("Llama 2 7B, one more token, bf16", decode);
}

// Output:
// model                                  parameters          FLOPs         bytes    FLOP/B
// ResNet-50, 32 images, f16                 25.56 M       262.96 G       5.23 GB      50.3
// ResNet-50, 32 images, with backward       25.56 M       792.03 G      13.33 GB      59.4
// BERT-base, 8 x 128 tokens, f16           109.48 M       179.09 G       0.91 GB     196.7
// GPT-2, 1,024 tokens, f16                 124.44 M       272.62 G       1.08 GB     251.7
// Llama 2 7B, 2,048 tokens, bf16          6738.42 M     27631.26 G      37.54 GB     736.0
// Llama 2 7B, one more token, bf16        6738.42 M        14.29 G      14.30 GB       1.0
