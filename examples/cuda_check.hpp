// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_CUDA_CHECK_HPP
#define KPROF_EXAMPLES_CUDA_CHECK_HPP

// What the CUDA examples share and what has nothing to do with kprof: errors that end the program
// with their place, memory on the device, and whether there is a device at all.

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call) cuda_check((call), #call, __FILE__, __LINE__)

inline void cuda_check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  std::exit(1);
}

/// Whether there is a GPU; where there is none, says so on standard error.
inline bool have_gpu() {
  int gpus = 0;
  const cudaError_t found = cudaGetDeviceCount(&gpus);  // fails where there is no driver
  if (found == cudaSuccess && gpus > 0) return true;
  std::fprintf(stderr, "no GPU (%s): nothing is computed\n",
               found == cudaSuccess ? "none found" : cudaGetErrorString(found));
  return false;
}

/// Whether kernels compute. kprof's tests run these programs with a CUDA runtime that notes kernels
/// and executes none; it exports `scripted_launches`.
inline bool kernels_compute() { return dlsym(RTLD_DEFAULT, "scripted_launches") == nullptr; }

/// Prints `what` where a number is wrong. Returns whether it is right; without a device that
/// computes, every number is.
inline bool check(bool right, const char* what) {
  if (right || !kernels_compute()) return true;
  std::fprintf(stderr, "wrong: %s\n", what);
  return false;
}

/// The larger of two errors; not a number where one of them is none, unlike std::fmax.
inline double worse(double a, double b) { return a >= b || a != a ? a : b; }

/// `n` elements on the device, copied from the host and to it as a whole.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t n) : n_(n) { CUDA_CHECK(cudaMalloc(&data_, n * sizeof(T))); }
  explicit device_array(const std::vector<T>& host) : device_array(host.size()) {
    CUDA_CHECK(cudaMemcpy(data_, host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return n_; }
  std::vector<T> host() const {
    std::vector<T> copy(n_);
    CUDA_CHECK(cudaMemcpy(copy.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

#endif
