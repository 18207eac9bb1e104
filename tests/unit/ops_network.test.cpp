// SPDX-License-Identifier: MIT
// Sums over operators, and four models against published figures.
#include "../../examples/networks.hpp"

#include "catch.hpp"
#include "ops.hpp"

#include <kprof/ops/loss.hpp>
#include <kprof/ops/optimizer.hpp>

using kprof_test::is_constant;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// torchvision documents ResNet50_Weights: 25,557,032 parameters and 4.09 G multiply-adds for an image of 224 x 224; counted over
// its 53 convolutions and the classifier these are 4,089,184,256.
constexpr networks::model resnet = networks::resnet50(1);
static_assert(resnet.products.total().flops == 2 * 4'089'184'256 + 1000);   // and the classifier's bias
static_assert(resnet.all().parameters() == 25'557'032);
static_assert(resnet.products.total().calls == 54 && resnet.products.of(pass::dgrad).calls == 0);
static_assert(networks::resnet50(32).products.total().flops == 32 * resnet.products.total().flops);

// Hugging Face's bert-base-uncased has 109,482,240 parameters. TinyBERT (Jiao et al., 2020, table 2) gives 22.5 G for a sequence
// of 128 tokens; biases aside this is 12 layers of 4 + 8 products of tokens x 768 x 768 and of the attention's two.
constexpr networks::model bert = networks::bert_base(1, 128);
static_assert(bert.all().parameters() == 109'482'240);
constexpr std::uint64_t bert_flops = 12 * (24 * std::uint64_t{128} * 768 * 768 + 4 * std::uint64_t{128} * 128 * 768) + 2 * 768 * 768;
constexpr std::uint64_t bert_biases = 12 * std::uint64_t{128} * (3 + 1 + 4 + 1) * 768 + 768;
static_assert(bert.products.total().flops == bert_flops + bert_biases);
static_assert(bert_flops > 22'275'000'000 && bert_flops < 22'725'000'000);   // 22.5 G within 1 %

// nanoGPT's transformer_sizing.ipynb: 124,439,808 parameters less the 786,432 of positions it leaves out are 123,653,376, and
// 291,648,307,200 FLOPs forward for 1,024 tokens, without biases and with the whole square of the attention.
constexpr networks::model gpt2 = networks::gpt2(1, 1024, attention_mask::none);
constexpr std::uint64_t gpt2_biases = 12 * std::uint64_t{1024} * (3 + 1 + 4 + 1) * 768;
static_assert(gpt2.all().parameters() == 124'439'808);
static_assert(gpt2.products.total().flops == 291'648'307'200 + gpt2_biases);
// With the causal half of it, two products of 1,024 x 1,024 x 768 a layer are halved.
static_assert(networks::gpt2(1, 1024).products.total().flops == 291'648'307'200 + gpt2_biases - 12 * 2 * std::uint64_t{1024} * 1024 * 768);

// Llama 2 7B (Touvron et al., 2023) has 6,738,415,616 parameters. A token costs two FLOPs for each weight that it meets, which are
// all but the embedding and the norms, and the attention's two products for each token before it.
constexpr networks::model decode = networks::llama2_7b(1, 1, 2047), prefill = networks::llama2_7b(1, 2048, 0);
static_assert(decode.all().parameters() == 6'738'415'616 && prefill.all().parameters() == 6'738'415'616);
constexpr std::uint64_t met = 6'738'415'616 - 32000 * 4096 - 65 * 4096;
static_assert(decode.products.total().flops == 2 * met + 32 * 4 * std::uint64_t{2048} * 4096);
static_assert(prefill.products.total().flops == 2 * ((met - 32000 * 4096) * 2048 + 32000 * 4096) + 32 * 2 * std::uint64_t{2048} * 2048 * 4096);
// Decoding reads every weight for one token, and the cache: about a FLOP a byte.
static_assert(decode.all().total().bytes.read.value() > 2 * met && decode.all().total().bytes.read.value() < 2 * met + 1'200'000'000);

// ---- sums

constexpr Linear layer{.tokens = 3, .in_features = 5, .out_features = 7, .bias = true};
constexpr network forward = network{}.add(layer, 4);
static_assert(forward.total().flops == 4 * (210 + 21) && forward.parameters() == 4 * 42 && forward.total().calls == 4);
static_assert(forward.total().bytes.read == 4 * layer.bytes().read && forward.total().bytes.written == 4 * layer.bytes().written);
static_assert(network{}.repeat(layer, 4).parameters() == 0 && network{}.repeat(layer, 4).total().flops == forward.total().flops);
static_assert(network{}.add(forward, 2).parameters() == 8 * 42 && network{}.add(forward, 2).repeat(forward).total().flops == 12 * 231);

constexpr network step = network{}.add_with_backward(layer, 2).add_with_backward(Relu{.numel = 21}).add(CrossEntropy{.rows = 3, .classes = 7});
static_assert(step.of(pass::fprop).calls == 2 + 1 + 1 && step.of(pass::dgrad).calls == 2 && step.of(pass::wgrad).calls == 2 && step.of(pass::bgrad).calls == 2);
static_assert(step.of(pass::bprop).calls == 1 && step.of(pass::bprop).flops == 21);
static_assert(step.of(pass::dgrad).flops == 420 && step.of(pass::bgrad).flops == 42 && step.parameters() == 2 * 42);   // gradients are no more weights
static_assert(step.total().transcendentals == 21);                                                                     // the exponentials
static_assert(network{}.add_with_backward(Linear{}).of(pass::bgrad).calls == 0);                                       // there is no bias
static_assert(network{}.add(Linear{.pass = pass::wgrad}).parameters() == 0 && network{}.add(Linear{.pass = pass::wgrad}).of(pass::wgrad).calls == 1);
static_assert(network{}.total().calls == 0 && network{}.valid());

struct Mine {   // an operator of somebody else's, with no pass and no parameters
  std::int64_t n = 1;
  constexpr kprof::count flops() const { return n; }
};
static_assert(network{}.add(Mine{.n = 3}, 5).total().flops == 15);

static_assert(!is_constant([] { return network{}.add(Linear{.tokens = -1}).total().flops; }));
static_assert(!is_constant([] { return network{}.add(Mine{.n = std::int64_t{1} << 62U}, 8).total().flops; }));

// Training is three times the forward products, as every backward product of a layer costs what the forward one does.
constexpr networks::model training = networks::resnet50(32, dtype::f16, true);
static_assert(training.products.of(pass::fprop).flops == 32 * resnet.products.total().flops);
static_assert(training.products.of(pass::wgrad).flops == training.products.of(pass::dgrad).flops);
static_assert(training.products.of(pass::wgrad).flops + 32 * 1000 == training.products.of(pass::fprop).flops);

}  // namespace

TEST_CASE("ops_network.what_makes_no_sense_spoils_the_sums_and_nothing_else") {
  network n;
  n.add(layer);
  CHECK(n.valid());
  std::int64_t bad = -1;
  n.add(Linear{.tokens = bad});
  CHECK_FALSE(n.valid());
  CHECK_FALSE(n.total().flops.valid());
  CHECK_FALSE(n.total().bytes.total().valid());
  CHECK(n.total().calls == 2);
  CHECK(n.of(pass::dgrad).valid());
  network many;
  many.add(Mine{.n = bad + 2}, std::int64_t{1} << 62U).add(Mine{.n = 3}, std::int64_t{1} << 62U);
  CHECK_FALSE(many.total().flops.valid());
}

TEST_CASE("ops_network.sums_at_run_time_are_those_of_the_compiler") {
  volatile std::int64_t one = 1;
  CHECK(networks::resnet50(one).all().total().flops == resnet.all().total().flops);
  CHECK(networks::resnet50(one).all().total().bytes.total() == resnet.all().total().bytes.total());
  CHECK(networks::llama2_7b(one, one, 2047).all().total().bytes.read == decode.all().total().bytes.read);
}
