// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SHARED_CALLS_HPP
#define KPROF_TESTS_SHARED_CALLS_HPP

// What the programs that share calls among threads have in common.

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

struct MatMul {
  std::int64_t m = 0, n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * m * n; }
  constexpr kprof::traffic bytes() const { return {.read = 4 * kprof::count{m} * n, .written = m}; }
};

inline int failures = 0;
inline void check(const std::string& what, bool holds) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}
inline void check_equal(const std::string& what, double is, double expected) {
  if (is != expected) std::printf("%.17g instead of %.17g: ", is, expected);
  check(what, is == expected);
}

/// All calls of an operator, added up.
inline kprof::operator_row row_of(const kprof::profile& p, const char* name) {
  for (const kprof::operator_row& row : operator_table(p, kprof::grouping::op))
    if (row.name == name) return row;
  return {};
}
inline bool noted(const kprof::profile& p, const std::string& text) {
  for (const std::string& note : p.notes)
    if (note.find(text) != std::string::npos) return true;
  return false;
}
inline void show_notes(const kprof::profile& p) {
  for (const std::string& note : p.notes) std::printf("note: %s\n", note.c_str());
}

inline kprof::settings with_memory(std::size_t mib) {
  kprof::settings s;
  s.memory = mib << 20U;
  return s;
}

/// Threads that wait for one another, as those of ggml's pool do.
class meeting_point {
 public:
  explicit meeting_point(int threads) : threads_(threads) {}
  void wait() {
    const unsigned round = round_.load();
    if (come_.fetch_add(1) + 1 == threads_) {
      come_.store(0);
      round_.fetch_add(1);
      round_.notify_all();
      return;
    }
    round_.wait(round);
  }

 private:
  const int threads_;
  std::atomic<int> come_{0};
  std::atomic<unsigned> round_{0};
};

template <class Work>
void on_threads(int threads, Work work) {
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& t : others) t.join();
}

inline void compute(const MatMul& params, int thread, int threads) {
  KPROF_PART(MatMul, params, thread, threads);
}

/// What main() returns.
inline int result() {
  if (failures == 0) std::printf("as expected\n");
  return failures == 0 ? 0 : 1;
}

#endif
