// SPDX-License-Identifier: MIT
//
// Several host threads, each with a stream: work on the device belongs to the operator whose guard was open on the thread
// that launched it, whenever and on whatever stream it runs. A context carries the place where work was handed out to the
// threads that launch it, so that the call tree shows the work there. You see copies too, from pinned memory and from
// pageable memory, beside kernels of other streams that run at the same time.
//
//     nvcc -std=c++20 -O2 -I include examples/09_gpu_streams_and_threads.cu -o gpu_streams && ./gpu_streams

#include <kprof/kprof.hpp>

#include "cuda_check.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

enum class place : std::uint8_t { host, device };

/// A copy is an operator like any other: it moves bytes and computes nothing.
struct Transfer {
  std::int64_t n = 0;
  place to = place::device;
  bool pinned = false;
  constexpr kprof::traffic bytes() const { return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}}; }
};
/// x = a * x + b, so many times over.
struct Polynomial {
  std::int64_t n = 0, degree = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n * degree; }
  constexpr kprof::traffic bytes() const { return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}}; }
};
static_assert(Transfer{.n = 1000}.bytes().total() == 8000);
static_assert(Polynomial{.n = 1000, .degree = 3}.flops() == 6000);

__global__ void polynomial_kernel(int n, int degree, float a, float b, float* x) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float value = x[i];
  for (int k = 0; k < degree; ++k) value = a * value + b;
  x[i] = value;
}

void transfer(const Transfer& p, void* to, const void* from, cudaStream_t stream) {
  KPROF_OP(Transfer, p);
  CUDA_CHECK(cudaMemcpyAsync(to, from, p.n * sizeof(float), p.to == place::host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, stream));
}
void polynomial(const Polynomial& p, float a, float b, float* x, cudaStream_t stream) {
  KPROF_OP(Polynomial, p);
  polynomial_kernel<<<(p.n + 255) / 256, 256, 0, stream>>>(p.n, p.degree, a, b, x);
  CUDA_CHECK(cudaGetLastError());
}

constexpr int n = 1 << 20;   // of a part
constexpr int threads = 4, parts = 16;

/// A part in host memory; some of it pinned, so that copies need not wait for the host.
struct part {
  explicit part(bool is_pinned) : pinned(is_pinned) {
    if (pinned) CUDA_CHECK(cudaMallocHost(&data, n * sizeof(float)));
    else data = new float[n];
    for (int i = 0; i < n; ++i) data[i] = 1.0F;
  }
  ~part() {
    if (pinned) cudaFreeHost(data);
    else delete[] data;
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  bool pinned;
  float* data = nullptr;
};

/// What each thread does: takes part after part, until none is left.
void work(kprof::context from, std::vector<std::unique_ptr<part>>& all, std::atomic<std::size_t>& next) {
  const kprof::context_guard under{from};   // without it, the scopes below would begin a tree of their own
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    device_array<float> x(n);
    for (std::size_t i = next++; i < all.size(); i = next++) {
      part& p = *all[i];
      transfer({.n = n, .to = place::device, .pinned = p.pinned}, x.data(), p.data, stream);
      polynomial({.n = n, .degree = 64}, 0.5F, 1.0F, x.data(), stream);   // 1 goes to 2, but for a 2^-64th of it
      transfer({.n = n, .to = place::host, .pinned = p.pinned}, p.data, x.data(), stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
}

bool run() {
  std::vector<std::unique_ptr<part>> all;
  for (int i = 0; i < parts; ++i) all.push_back(std::make_unique<part>(i % 4 != 0));
  for (int batch = 0; batch < 5; ++batch) {
    KPROF_REGION("batch");
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(work, kprof::context::current(), std::ref(all), std::ref(next));
    for (std::thread& worker : workers) worker.join();
  }
  bool right = true;
  for (const auto& p : all) right = right && p->data[0] == 2.0F && p->data[n - 1] == 2.0F;
  return check(right, "a part");
}

int main() {
  const bool right = !have_gpu() || run();
  kprof::report();
  return right ? 0 : 1;
}
