// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TORCH_TRAINING_HPP
#define KPROF_TESTS_TORCH_TRAINING_HPP

// The kernels of a training with PyTorch on an H200: twenty steps of a small transformer in f32,
// with regions for its phases and no operators. PyTorch launches the backward pass on a thread that
// is in no region.

#include "device_builder.hpp"
#include "sample_profile.hpp"
#include "torch_kernel_names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kprof_test {

enum class torch_place { forward, update, none, both, several };

struct torch_launches {
  std::size_t kernel;  // of torch_kernels
  torch_place place;
  std::uint32_t grid[3], block[2];
  std::uint64_t calls;
  double ns;  // of each
  std::uint32_t registers, shared;
};

// clang-format off
inline constexpr torch_launches torch_launched[] = {
    {6, torch_place::forward, {32, 4, 1}, {128, 1}, 160, 79032, 190, 19200},
    {7, torch_place::none, {32, 1, 4}, {256, 1}, 140, 82733, 202, 49152},
    {12, torch_place::none, {32, 1, 4}, {256, 1}, 80, 110310, 202, 49152},
    {8, torch_place::forward, {8, 32, 1}, {128, 1}, 80, 93351, 255, 31488},
    {9, torch_place::forward, {16, 12, 1}, {128, 1}, 80, 90745, 255, 33792},
    {10, torch_place::none, {4, 8, 8}, {128, 1}, 80, 90215, 232, 53504},
    {7, torch_place::none, {128, 1, 1}, {256, 1}, 80, 90214, 202, 49152},
    {11, torch_place::none, {32, 1, 4}, {256, 1}, 80, 89044, 202, 49152},
    {12, torch_place::none, {24, 1, 5}, {256, 1}, 80, 71897, 202, 49152},
    {13, torch_place::both, {4096, 1, 1}, {128, 1}, 800, 4181, 18, 0},
    {2, torch_place::forward, {4, 8, 8}, {32, 4}, 80, 41481, 168, 36352},
    {14, torch_place::none, {32, 8, 1}, {128, 1}, 80, 30284, 121, 12672},
    {15, torch_place::none, {32, 1, 8}, {128, 1}, 80, 27320, 120, 30720},
    {16, torch_place::none, {16, 32, 1}, {32, 16}, 380, 4461, 32, 0},
    {17, torch_place::none, {4, 32, 1}, {32, 4}, 160, 9737, 54, 2064},
    {18, torch_place::update, {168, 1, 1}, {512, 1}, 20, 73310, 60, 0},
    {13, torch_place::both, {12288, 1, 1}, {128, 1}, 160, 9071, 18, 0},
    {19, torch_place::none, {16, 1, 1}, {32, 32}, 160, 7484, 31, 8448},
    {3, torch_place::forward, {2048, 1, 1}, {32, 4}, 160, 7050, 39, 24},
    {4, torch_place::none, {3072, 1, 1}, {128, 1}, 160, 6648, 32, 0},
    {20, torch_place::none, {4096, 1, 1}, {128, 1}, 80, 12603, 32, 0},
    {17, torch_place::none, {16, 32, 1}, {32, 4}, 80, 11960, 54, 2064},
    {21, torch_place::none, {3072, 1, 1}, {128, 1}, 240, 3640, 16, 0},
    {17, torch_place::none, {12, 32, 1}, {32, 4}, 80, 10866, 54, 2064},
    {18, torch_place::update, {56, 1, 1}, {512, 1}, 20, 43022, 60, 0},
    {22, torch_place::both, {4096, 1, 1}, {128, 1}, 140, 5618, 18, 0},
    {22, torch_place::forward, {12288, 1, 1}, {128, 1}, 80, 9494, 18, 0},
    {23, torch_place::none, {2048, 1, 1}, {128, 1}, 160, 4718, 32, 16},
    {4, torch_place::both, {1024, 1, 1}, {128, 1}, 160, 4117, 32, 0},
    {24, torch_place::forward, {4096, 1, 1}, {128, 1}, 80, 6933, 28, 0},
    {25, torch_place::none, {1024, 1, 1}, {32, 16}, 80, 5824, 32, 16},
    {16, torch_place::none, {64, 8, 1}, {32, 16}, 80, 5056, 32, 0},
    {26, torch_place::none, {1024, 1, 1}, {128, 1}, 100, 3469, 32, 0},
    {27, torch_place::none, {2050, 1, 1}, {128, 1}, 80, 2198, 16, 0},
    {13, torch_place::none, {64, 1, 1}, {128, 1}, 80, 1492, 18, 0},
    {28, torch_place::forward, {1, 128, 1}, {512, 1}, 20, 5517, 32, 2064},
    {21, torch_place::several, {1, 1, 1}, {128, 1}, 116, 785, 16, 0},
    {29, torch_place::none, {4096, 1, 1}, {128, 1}, 20, 3985, 18, 0},
    {30, torch_place::forward, {1024, 1, 1}, {128, 1}, 20, 2389, 32, 0},
    {31, torch_place::none, {1024, 1, 1}, {128, 1}, 20, 2178, 32, 0},
    {32, torch_place::update, {48, 1, 1}, {512, 1}, 20, 1571, 27, 0},
    {21, torch_place::update, {1024, 1, 1}, {128, 1}, 16, 1732, 16, 0},
    {21, torch_place::update, {2, 1, 1}, {128, 1}, 16, 772, 16, 0},
    {21, torch_place::update, {768, 1, 1}, {128, 1}, 8, 1488, 16, 0},
    {21, torch_place::update, {256, 1, 1}, {128, 1}, 8, 1096, 16, 0},
};
// clang-format on

inline kprof::profile torch_training() {
  device_builder b;
  const auto main = b.thread("python3", 2388), autograd = b.thread("pt_autograd_0", 2759);
  const auto forward = b.region(main, "forward"), backward = b.region(main, "backward"),
             update = b.region(main, "optimizer");
  b.calls(forward, 20, 22.9e6).calls(backward, 20, 14.8e6).calls(update, 20, 1.71e6);
  const auto launch = [&](const torch_launches& l, std::uint32_t scope, std::uint64_t calls) {
    kprof::device_work& w = b.kernel(scope, torch_kernels[l.kernel].whole, calls, l.ns);
    std::copy(l.grid, l.grid + 3, w.grid);
    std::copy(l.block, l.block + 2, w.block);
    w.registers = l.registers;
    w.static_shared = l.shared;
  };
  for (const torch_launches& l : torch_launched) {
    const std::uint32_t first = l.place == torch_place::none     ? autograd
                                : l.place == torch_place::update ? update
                                                                 : forward;
    const bool one = l.place != torch_place::both && l.place != torch_place::several;
    launch(l, first, one ? l.calls : l.calls / 2);
    if (!one) launch(l, l.place == torch_place::both ? autograd : update, l.calls - l.calls / 2);
  }
  b.copy(main, kprof::copy_direction::host_to_device, 600, 1'600, 1 << 16);
  kprof::profile p = b.done();
  add_surroundings(p);
  add_device(p);
  return p;
}

}  // namespace kprof_test

#endif
