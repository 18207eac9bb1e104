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

// torchvision documents ResNet50_Weights: 25,557,032 parameters and 4.09 G multiply-adds for an
// image of 224 x 224; counted over its 53 convolutions and the classifier these are 4,089,184,256.
constexpr networks::model resnet = networks::resnet50(1);
// and the classifier's bias
static_assert(resnet.products.total().flops == 2 * 4'089'184'256 + 1000);
static_assert(resnet.all().parameters() == 25'557'032);
static_assert(resnet.products.total().calls == 54 && resnet.products.of(pass::dgrad).calls == 0);
static_assert(networks::resnet50(32).products.total().flops == 32 * resnet.products.total().flops);

// Hugging Face's bert-base-uncased has 109,482,240 parameters. TinyBERT (Jiao et al., 2020, table
// 2) gives 22.5 G for a sequence of 128 tokens; biases aside this is 12 layers of 4 + 8 products of
// tokens x 768 x 768 and of the attention's two.
constexpr networks::model bert = networks::bert_base(1, 128);
static_assert(bert.all().parameters() == 109'482'240);
constexpr std::uint64_t bert_flops =
    12 * (24 * std::uint64_t{128} * 768 * 768 + 4 * std::uint64_t{128} * 128 * 768) + 2 * 768 * 768;
constexpr std::uint64_t bert_biases = 12 * std::uint64_t{128} * (3 + 1 + 4 + 1) * 768 + 768;
static_assert(bert.products.total().flops == bert_flops + bert_biases);
static_assert(bert_flops > 22'275'000'000 && bert_flops < 22'725'000'000);  // 22.5 G within 1 %

// nanoGPT's transformer_sizing.ipynb: 124,439,808 parameters less the 786,432 of positions it
// leaves out are 123,653,376, and 291,648,307,200 FLOPs forward for 1,024 tokens, without biases
// and with the whole square of the attention.
constexpr networks::model gpt2 = networks::gpt2(1, 1024, attention_mask::none);
constexpr std::uint64_t gpt2_biases = 12 * std::uint64_t{1024} * (3 + 1 + 4 + 1) * 768;
static_assert(gpt2.all().parameters() == 124'439'808);
static_assert(gpt2.products.total().flops == 291'648'307'200 + gpt2_biases);
// With the causal half of it, two products of 1,024 x 1,024 x 768 a layer are halved.
static_assert(networks::gpt2(1, 1024).products.total().flops ==
              291'648'307'200 + gpt2_biases - 12 * 2 * std::uint64_t{1024} * 1024 * 768);

// Llama 2 7B (Touvron et al., 2023) has 6,738,415,616 parameters. A token costs two FLOPs for each
// weight that it meets, which are all but the embedding and the norms, and the attention's two
// products for each token before it.
constexpr networks::model decode = networks::llama2_7b(1, 1, 2047),
                          prefill = networks::llama2_7b(1, 2048, 0);
static_assert(decode.all().parameters() == 6'738'415'616 &&
              prefill.all().parameters() == 6'738'415'616);
constexpr std::uint64_t met = 6'738'415'616 - 32000 * 4096 - 65 * 4096;
static_assert(decode.products.total().flops == 2 * met + 32 * 4 * std::uint64_t{2048} * 4096);
static_assert(prefill.products.total().flops == 2 * ((met - 32000 * 4096) * 2048 + 32000 * 4096) +
                                                    32 * 2 * std::uint64_t{2048} * 2048 * 4096);
// calflops 0.3.2 (its README on PyPI) gives 1700.06 G FLOPs and 850 G multiply-adds forward for 128
// tokens: with logits of each token and the whole square of the attention, and with 0.06 G for
// norms and activations.
constexpr std::uint64_t other_logits = 2 * std::uint64_t{127} * 32000 * 4096,
                        other_half = 32 * 2 * std::uint64_t{128} * 128 * 4096;
constexpr kprof::count short_prompt =
    networks::llama2_7b(1, 128, 0).products.total().flops + other_logits + other_half;
// 0.01 %
static_assert(short_prompt.value() / 2'000'000 == 850'000 &&
              short_prompt.value() > 1'699'890'000'000 && short_prompt.value() < 1'700'230'000'000);
// Decoding reads every weight for one token, and the cache: about a FLOP a byte.
static_assert(decode.all().total().bytes.read.value() > 2 * met &&
              decode.all().total().bytes.read.value() < 2 * met + 1'200'000'000);

// ---- sums

constexpr Linear layer{.tokens = 3, .in_features = 5, .out_features = 7, .bias = true};
constexpr network forward = network{}.add(layer, 4);
static_assert(forward.total().flops == 4 * (210 + 21) && forward.parameters() == 4 * 42 &&
              forward.total().calls == 4);
static_assert(forward.total().bytes.read == 4 * layer.bytes().read &&
              forward.total().bytes.written == 4 * layer.bytes().written);
static_assert(network{}.repeat(layer, 4).parameters() == 0 &&
              network{}.repeat(layer, 4).total().flops == forward.total().flops);
static_assert(network{}.add(forward, 2).parameters() == 8 * 42 &&
              network{}.add(forward, 2).repeat(forward).total().flops == 12 * 231);

constexpr network step = network{}
                             .add_with_backward(layer, 2)
                             .add_with_backward(Relu{.numel = 21})
                             .add(CrossEntropy{.rows = 3, .classes = 7});
static_assert(step.of(pass::fprop).calls == 2 + 1 + 1 && step.of(pass::dgrad).calls == 2 &&
              step.of(pass::wgrad).calls == 2 && step.of(pass::bgrad).calls == 2);
static_assert(step.of(pass::bprop).calls == 1 && step.of(pass::bprop).flops == 21);
// gradients are no more weights
static_assert(step.of(pass::dgrad).flops == 420 && step.of(pass::bgrad).flops == 42 &&
              step.parameters() == 2 * 42);
// the exponentials
static_assert(step.total().transcendentals == 21);
// there is no bias
static_assert(network{}.add_with_backward(Linear{}).of(pass::bgrad).calls == 0);
static_assert(network{}.add(Linear{.pass = pass::wgrad}).parameters() == 0 &&
              network{}.add(Linear{.pass = pass::wgrad}).of(pass::wgrad).calls == 1);
static_assert(network{}.total().calls == 0 && network{}.valid());

struct Mine {  // an operator of somebody else's, with no pass and no parameters
  std::int64_t n = 1;
  constexpr kprof::count flops() const { return n; }
  constexpr kprof::traffic bytes() const { return {}; }
};
static_assert(network{}.add(Mine{.n = 3}, 5).total().flops == 15);

struct Every {  // has all passes, and sums that tell them apart
  std::int64_t n = 1;
  bool bias = true;
  kprof::ops::pass pass = pass::fprop;
  constexpr kprof::count scaled(std::int64_t by) const {
    return kprof::count{n} * by * (std::int64_t{1} << (4 * static_cast<int>(pass)));
  }
  constexpr bool valid() const { return n >= 0 && pass != pass::unknown && pass <= pass::bgrad; }
  constexpr kprof::count flops() const { return scaled(7); }
  constexpr kprof::count transcendentals() const { return scaled(2); }
  constexpr kprof::traffic bytes() const { return {.read = scaled(5), .written = scaled(3)}; }
  constexpr kprof::count parameters() const { return kprof::count{n} * 11; }
};
struct Saving {  // writes what its backward call needs where it is told to
  bool return_indices = false, lse = false;
  gradient_of gradient = gradient_of::a;
  kprof::ops::pass pass = pass::fprop;
  constexpr bool valid() const { return pass == pass::fprop || pass == pass::bprop; }
  constexpr kprof::count flops() const {
    return pass == pass::bprop && gradient == gradient_of::both ? 2 : 1;
  }
  constexpr kprof::traffic bytes() const {
    return {.read = 0, .written = 1 + (return_indices ? 10 : 0) + (lse ? 100 : 0)};
  }
};
struct Weights {  // costs nothing
  constexpr kprof::count flops() const { return 0; }
  constexpr kprof::traffic bytes() const { return {}; }
  constexpr kprof::count parameters() const { return 2; }
};
constexpr kprof::ops::pass passes[] = {pass::fprop, pass::bprop, pass::dgrad, pass::wgrad,
                                       pass::bgrad};
/// `times` as many calls as `of_pass` counts from one on, of Every.
constexpr bool holds(const cost& sum, pass of_pass, std::uint64_t times) {
  const std::uint64_t calls = times * static_cast<std::uint64_t>(of_pass),
                      all = calls << (4 * static_cast<int>(of_pass));
  return sum.calls == calls && sum.flops == 7 * all && sum.transcendentals == 2 * all &&
         sum.bytes.read == 5 * all && sum.bytes.written == 3 * all;
}
/// One forward call, two of bprop, and so on to five of bgrad.
constexpr network every_pass() {
  network n;
  for (const pass p : passes) n.repeat(Every{.pass = p}, static_cast<std::int64_t>(p));
  return n;
}

static_assert(!is_constant([] { return network{}.add(Linear{.tokens = -1}).total().flops; }));
static_assert(!is_constant([] {
  return network{}.add(Mine{.n = std::int64_t{1} << 62U}, 8).total().flops;
}));

// Training is three times the forward products, as every backward product of a layer costs what the
// forward one does.
constexpr networks::model training = networks::resnet50(32, dtype::f16, true);
static_assert(training.products.of(pass::fprop).flops == 32 * resnet.products.total().flops);
static_assert(training.products.of(pass::wgrad).flops == training.products.of(pass::dgrad).flops);
static_assert(training.products.of(pass::wgrad).flops + 32 * 1000 ==
              training.products.of(pass::fprop).flops);

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

TEST_CASE("ops_network.a_part_keeps_the_sums_of_each_pass") {
  const network part = every_pass();
  network added, repeated, twice = part, weights;
  added.add(part).add(part, 2);
  repeated.repeat(part).repeat(part, 2);
  twice.add(twice).repeat(twice);  // into itself
  for (const pass p : passes) {
    INFO("pass " << static_cast<int>(p));
    CHECK(holds(part.of(p), p, 1));
    CHECK(holds(added.of(p), p, 3));
    CHECK(holds(repeated.of(p), p, 3));
    CHECK(holds(twice.of(p), p, 4));
  }
  cost sum;
  std::uint64_t flops = 0;
  for (const pass p : passes) {
    sum += part.of(p) * 3;
    flops += 3 * static_cast<std::uint64_t>(p) * 7 << (4 * static_cast<int>(p));
  }
  const cost total = added.total();
  CHECK(total.calls == 3 * 15);
  CHECK(total.flops == flops);
  CHECK(total.transcendentals.value() * 7 == flops * 2);
  CHECK(total.bytes.read.value() * 7 == flops * 5);
  CHECK(total.bytes.written.value() * 7 == flops * 3);
  CHECK((sum.calls == total.calls && sum.flops == total.flops &&
         sum.transcendentals == total.transcendentals));
  CHECK((sum.bytes.read == total.bytes.read && sum.bytes.written == total.bytes.written));
  // Only forward calls that are added bring weights.
  for (const pass p : passes) weights.add(Every{.pass = p}, 2);
  CHECK(weights.parameters() == 2 * 11);
  CHECK(network{}.add(weights, 3).add(weights).parameters() == 4 * 2 * 11);
  CHECK(network{}.repeat(weights, 3).parameters() == 0);
  CHECK(part.parameters() == 0);
}

TEST_CASE("ops_network.backward_calls_follow_the_forward_one") {
  for (const bool bias : {false, true}) {
    network n;
    n.add_with_backward(Every{.bias = bias}, 3);
    for (const pass p : passes) {
      // bprop is all gradients in one call.
      const std::uint64_t calls = p == pass::bprop || (p == pass::bgrad && !bias) ? 0 : 3;
      INFO("pass " << static_cast<int>(p));
      CHECK(n.of(p).calls == calls);
      CHECK(n.of(p).flops == calls * 7 << (4 * static_cast<int>(p)));
    }
    CHECK(n.parameters() == 3 * 11);
  }
  // A pass that the operator does not have is left out.
  const network linear = network{}.add_with_backward(layer),
                relu = network{}.add_with_backward(Relu{.numel = 4});
  CHECK((linear.of(pass::bprop).calls == 0 && linear.of(pass::bgrad).calls == 1 && linear.valid()));
  CHECK((relu.of(pass::bprop).calls == 1 && relu.of(pass::dgrad).calls == 0 && relu.valid()));
  // Forward saves for backward, which has the gradients of both operands.
  const network saving = network{}.add_with_backward(Saving{}, 2);
  CHECK(saving.of(pass::fprop).bytes.written == 2 * 111);
  CHECK(saving.of(pass::bprop).flops == 2 * 2);
  CHECK(saving.of(pass::bgrad).calls == 0);  // it has no bias
  CHECK(network{}.add(Saving{}, 2).total().bytes.written == 2 * 1);
  // Of a call that is itself backward nothing is known.
  volatile auto backward = static_cast<int>(pass::dgrad);
  CHECK_FALSE(network{}
                  .add_with_backward(Every{.pass = static_cast<pass>(backward)})
                  .of(pass::fprop)
                  .valid());
}

TEST_CASE("ops_network.passes_that_there_are_not") {
  volatile int none = static_cast<int>(pass::recompute) + 1;
  network n = every_pass();
  CHECK(n.of(static_cast<pass>(none)).calls == 0);
  CHECK(n.of(static_cast<pass>(none + 200)).valid());
  n.add(Every{.pass = static_cast<pass>(none)}, 2);
  CHECK(n.of(pass::fprop).calls == 3);
  CHECK_FALSE(n.of(pass::fprop).flops.valid());
  CHECK_FALSE(n.valid());
  CHECK(n.parameters() == 0);
  for (const pass p : passes)
    if (p != pass::fprop) CHECK(holds(n.of(p), p, 1));
}

TEST_CASE("ops_network.each_sum_that_does_not_fit_is_not_valid") {
  constexpr kprof::count none = kprof::count::invalid();
  CHECK(cost{1, 2, 3, {4, 5}}.valid());
  CHECK_FALSE(cost{none, 2, 3, {4, 5}}.valid());
  CHECK_FALSE(cost{1, none, 3, {4, 5}}.valid());
  CHECK_FALSE(cost{1, 2, none, {4, 5}}.valid());
  CHECK_FALSE(cost{1, 2, 3, {none, 5}}.valid());
  CHECK_FALSE(cost{1, 2, 3, {4, none}}.valid());
  network weights;  // all that a call without elements costs
  volatile std::int64_t many = std::int64_t{1} << 62;
  weights.add(Weights{}, many).add(Weights{}, many);
  CHECK(weights.total().valid());
  CHECK_FALSE(weights.parameters().valid());
  CHECK_FALSE(weights.valid());
  // In a backward pass as in the forward one.
  for (const pass p : passes) {
    network n = every_pass();
    n.repeat(Every{.n = many, .pass = p});
    CHECK_FALSE(n.valid());
    for (const pass other : passes) CHECK(n.of(other).valid() == (other != p));
    // A call whose parameters make no sense counts, without numbers.
    network senseless = every_pass();
    senseless.repeat(Every{.n = -many, .pass = p});
    CHECK(senseless.of(p).calls == static_cast<std::uint64_t>(p) + 1);
    CHECK_FALSE(senseless.of(p).flops.valid());
    CHECK_FALSE(senseless.of(p).transcendentals.valid());
    CHECK_FALSE(senseless.of(p).bytes.read.valid());
    CHECK_FALSE(senseless.of(p).bytes.written.valid());
  }
}

TEST_CASE("ops_network.sums_at_run_time_are_those_of_the_compiler") {
  volatile std::int64_t one = 1;
  CHECK(networks::resnet50(one).all().total().flops == resnet.all().total().flops);
  CHECK(networks::resnet50(one).all().total().bytes.total() == resnet.all().total().bytes.total());
  CHECK(networks::llama2_7b(one, one, 2047).all().total().bytes.read ==
        decode.all().total().bytes.read);
}
