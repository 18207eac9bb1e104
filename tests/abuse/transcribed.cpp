// SPDX-License-Identifier: MIT
// A program whose launches go to a transcript, on the scripted CUDA. `plain`: that is all. `fork`:
// with a child that ends as programs do. `reuse`: it closes all descriptors that it does not know,
// as daemons do, and has files of its own in their place.

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "scripted_cuda.hpp"

namespace {

void launch(int times) {
  static const void* const kernel = scripted_kernel("_Z6kernelPf");
  void* no_arguments[] = {nullptr};
  for (int i = 0; i < times; ++i) {
    KPROF_REGION("launch");
    if (cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, no_arguments, 0, nullptr) != cudaSuccess)
      std::_Exit(9);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) std::_Exit(9);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  launch(1000);
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      { KPROF_REGION("child"); }
      std::exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  if (how == "reuse") {
    for (int descriptor = 3; descriptor < 100; ++descriptor) close(descriptor);
    const int first = open("data", O_RDWR | O_CREAT, 0666);
    for (int next = first; next >= 0 && next < 20;) next = dup(first);
  }
  launch(1000);
  kprof::stop();
  return 5;
}
