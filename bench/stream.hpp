// SPDX-License-Identifier: MIT
#ifndef KPROF_BENCH_STREAM_HPP
#define KPROF_BENCH_STREAM_HPP

// The triad of STREAM (J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High
// Performance Computers", 1995), written anew: a[i] = b[i] + s c[i] over three arrays of f64.

#include <cstddef>
#include <memory>

namespace kprof_bench {

class stream {
 public:
  /// `elements` of each array, four times the last cache or more.
  explicit stream(std::size_t elements);

  /// Bytes a second of the best of ten passes of `threads` threads, each on a CPU of its own; 0
  /// where the machine is too busy. A pass is timed in pieces of a megabyte of each array. Those
  /// count during which no thread was preempted: a whole pass takes too long to be undisturbed on
  /// a machine that does anything else.
  double best(unsigned threads);

 private:
  std::size_t elements_;
  std::unique_ptr<double[]> a_, b_, c_;
};

}  // namespace kprof_bench

#endif
