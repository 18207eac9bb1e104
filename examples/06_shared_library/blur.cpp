// SPDX-License-Identifier: MIT
//
// The library: it declares an operator and guards it. It includes guard.hpp only, arms nothing,
// links nothing, and is built with hidden visibility; alone, its guards cost a load and a branch.

#include <kprof/guard.hpp>

#include <vector>

namespace {

struct Blur {
  std::int64_t H = 0, W = 0, radius = 0;
  constexpr kprof::count flops() const { return kprof::count{2 * radius + 1} * H * W; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{H} * W, .written = 4 * kprof::count{H} * W};
  }
  constexpr bool valid() const { return H > 0 && W > 0 && radius >= 0; }
};
static_assert(Blur{.H = 4, .W = 5, .radius = 1}.flops() == 60);

}  // namespace

/// Averages each pixel of a row with `radius` neighbours on either side.
extern "C" [[gnu::visibility("default")]] void blur(float* image, long height, long width,
                                                    long radius) {
  KPROF_OP(Blur, {.H = height, .W = width, .radius = radius});
  const float weight = 1.0F / static_cast<float>(2 * radius + 1);
  std::vector<float> row(static_cast<std::size_t>(width + 2 * radius));
  for (long y = 0; y < height; ++y) {
    float* const pixels = image + y * width;
    for (long x = -radius; x < width + radius; ++x)
      row[static_cast<std::size_t>(x + radius)] = pixels[x < 0 ? 0 : x < width ? x : width - 1];
    for (long x = 0; x < width; ++x) {
      float sum = 0;
      for (long d = 0; d <= 2 * radius; ++d) sum += row[static_cast<std::size_t>(x + d)];
      pixels[x] = sum * weight;
    }
  }
}
