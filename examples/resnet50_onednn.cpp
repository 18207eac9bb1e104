// SPDX-License-Identifier: MIT
//
// ResNet-50 v1.5 inference on oneDNN, every primitive under a guard with its real parameters. You
// learn how a framework guards its primitives with operators of the catalogue, how layers become
// regions, and how a program checks its own FLOPs by walking the profile. The engine, with the
// guards, is in resnet50_engine.hpp.
//
//     bash examples/demo.sh                       installs what is missing, builds and runs this
//     resnet50_onednn [batch=1] [iterations=5]    224 x 224 images, seeded random weights, f32
//     resnet50_onednn 8 5 --sums                  prints one line an operator for scripts instead
//                                                 of the report
//     resnet50_onednn 1 5 --prove                 also runs what the report advises for the first
//                                                 convolution, and prints what that gains
//
// v1.5 has the stride 2 of a stage in its 3 x 3 convolution (v1: in the first 1 x 1). Batch
// normalisation is folded into weights and biases, and ReLU and the residual sum are fused into the
// convolutions, as inference engines do. The weights are brought into oneDNN's layouts once, under
// the region "set-up"; activations stay in its blocked layout. Each guard holds execute() and
// wait(), so that its time is that of the primitive. The first pass is under "warm-up".

#include "networks.hpp"
#include "resnet50_engine.hpp"

#include <kprof/kprof.hpp>
#include <kprof/prove.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

// ---- the network, known at compile time --------------------------------------------------------

using networks::bottleneck;
using networks::resnet50_layers;
using resnet50::Engine;
using resnet50::fused_resnet50;

/// Of the 53 convolutions and the classifier.
constexpr kprof::count product_flops(const resnet50_layers& net) {
  kprof::ops::network sum;
  sum.add(net.stem).add(net.classifier);
  for (const bottleneck& b : net.blocks) {
    sum.add(b.reduce).add(b.spatial).add(b.expand);
    if (b.projects()) sum.add(b.shortcut);
  }
  return sum.total().flops;
}

// Published: torchvision's resnet50 weights (IMAGENET1K_V1 and V2, the v1.5 network) state 4.089
// GFLOPS, counting a multiply-add once, bias and batch normalisation not at all. The same
// convention gives this integer.
constexpr std::uint64_t published_multiply_adds = 4'089'184'256;
// 8,178,368,512: a multiply-add is two
constexpr std::uint64_t published_flops = 2 * published_multiply_adds;
// the classifier's bias
static_assert(product_flops(networks::layers_of_resnet50(1)) == published_flops + 1000);
// one an output for each of bias, residual, ReLU
constexpr kprof::count epilogue_flops = product_flops(fused_resnet50(1)) - published_flops;
static_assert(epilogue_flops == 26'243'048);

// ---- the profile -------------------------------------------------------------------------------

/// "inference/res2/res2a" for an operator of that block.
std::string path_of(const kprof::profile& p, const kprof::scope_node& node) {
  std::string path;
  for (std::uint32_t i = node.parent;
       i != kprof::scope_node::none && p.nodes[i].kind != kprof::scope_kind::root;
       i = p.nodes[i].parent)
    path = path.empty() ? p.nodes[i].name : p.nodes[i].name + "/" + path;
  return path;
}

void print_sums(const kprof::profile& p) {
  for (const kprof::scope_node& n : p.nodes)
    if (n.kind == kprof::scope_kind::op)
      std::printf("sum\t%s\t%s\t%s\t%llu\t%.0f\t%llu\t%llu\n", path_of(p, n).c_str(),
                  n.name.c_str(), parameter_text(p, n).c_str(),
                  static_cast<unsigned long long>(n.calls), n.total_ns,
                  static_cast<unsigned long long>(n.work.flops),
                  static_cast<unsigned long long>(n.work.bytes_read + n.work.bytes_written));
}

/// Compares what the profile holds with the published network.
bool check_flops(const kprof::profile& p, std::int64_t images, std::int64_t passes) {
  std::uint64_t flops = 0, convolutions = 0;
  for (const kprof::scope_node& n : p.nodes) {
    if (n.kind != kprof::scope_kind::op || !path_of(p, n).starts_with("inference")) continue;
    if (n.name != "Conv2d" && n.name != "Linear") continue;
    flops += n.calls * n.work.flops;
    if (n.name == "Conv2d") convolutions += n.calls;
  }
  const std::uint64_t count = static_cast<std::uint64_t>(images),
                      per_image = flops / count - epilogue_flops.value();
  const bool good = flops % count == 0 && per_image == published_flops &&
                    convolutions == 53 * static_cast<std::uint64_t>(passes);
  std::printf("convolutions and classifier, per image: %llu FLOPs, published %llu: %s\n",
              static_cast<unsigned long long>(per_image),
              static_cast<unsigned long long>(published_flops), good ? "equal" : "DIFFERENT");
  std::printf("  and %llu FLOPs of bias, residual and ReLU; %llu convolutions a pass\n",
              static_cast<unsigned long long>(epilogue_flops.value()),
              static_cast<unsigned long long>(convolutions / static_cast<std::uint64_t>(passes)));
  return good;
}

bool check_probabilities(const std::vector<float>& rows) {
  for (std::size_t i = 0; i < rows.size(); i += 1000) {
    double total = 0;
    for (std::size_t j = 0; j < 1000; ++j) total += static_cast<double>(rows[i + j]);
    if (!(std::fabs(total - 1) < 1e-3)) {
      std::fprintf(stderr, "resnet50_onednn: the probabilities of image %zu add up to %g, not 1\n",
                   i / 1000, total);
      return false;
    }
  }
  return true;
}

std::optional<std::int64_t> number(const char* text) {
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stopped != end || value < 1 || value > 4096) return std::nullopt;
  return value;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool sums = argc > 1 && std::strcmp(argv[argc - 1], "--sums") == 0;
  const bool prove = argc > 1 && std::strcmp(argv[argc - 1], "--prove") == 0;
  const int given = argc - 1 - (sums || prove ? 1 : 0);
  const std::optional<std::int64_t> batch = given > 0 ? number(argv[1]) : 1,
                                    iterations = given > 1 ? number(argv[2]) : 5;
  if (given > 2 || !batch || !iterations) {
    std::fprintf(
        stderr,
        "usage: resnet50_onednn [batch=1] [iterations=5] [--sums | --prove]\n"
        "batch and iterations are whole numbers from 1 to 4096; try `resnet50_onednn 1 5`\n");
    return 2;
  }
  Engine engine(*batch);
  {
    KPROF_REGION("warm-up");
    engine.infer();
  }
  for (std::int64_t i = 0; i < *iterations; ++i) {
    KPROF_REGION("inference");
    engine.infer();
  }
  const kprof::profile profile = kprof::snapshot();
  std::printf("ResNet-50 v1.5, f32, batch %lld, %lld iterations\n", static_cast<long long>(*batch),
              static_cast<long long>(*iterations));
  const bool sound = check_probabilities(engine.probabilities());
  if (profile.nodes.empty()) {
    std::printf("nothing was recorded (kprof: %s), so there are no FLOPs to check\n",
                profile.state.c_str());
    return sound ? 0 : 1;
  }
  const bool good = check_flops(profile, *batch * *iterations, *iterations);
  kprof::report_options options;
  options.top = 120;  // every operator, and the tree of a pass
  // How to run a convolution again: with 4 channels instead of 3, say.
  const auto again = kprof::prove<kprof::ops::Conv2d>([](const kprof::ops::Conv2d& p) {
    return [engine = std::make_unique<Engine>(p)] { engine->run_alone(); };
  });
  if (prove) options.advice = {"prove"};
  if (sums) print_sums(profile);
  else kprof::report(options);
  return good && sound ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "resnet50_onednn: %s\n", error.what());
  return 1;
}
