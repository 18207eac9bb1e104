// SPDX-License-Identifier: MIT
// The loops that measure a processor: which of them a processor gets, that each does as much as is
// counted for it, and that those over memory stay inside their arrays.

#include <kprof/machine/loops.hpp>

#include "catch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace kprof::detail;
using kprof::dtype;

#if defined(__x86_64__)
namespace {

const arithmetic_loop* loop_of(const processor_loops& loops, dtype type) {
  for (const arithmetic_loop& l : loops.arithmetic)
    if (l.type == type) return &l;
  return nullptr;
}

struct expected_loop {
  dtype type;
  void (*run)(std::uint64_t);
  double operations;
};

void check_loops(const x86_features& has, const std::vector<expected_loop>& expected) {
  const processor_loops loops = loops_with(has);
  CHECK(loops.arithmetic.size() == expected.size());
  for (const expected_loop& e : expected) {
    const arithmetic_loop* found = loop_of(loops, e.type);
    REQUIRE(found != nullptr);
    CHECK(found->run == e.run);
    CHECK(found->operations_per_round == e.operations);
  }
}

/// `bytes` of memory whose next byte cannot be read.
class fenced_array {
 public:
  explicit fenced_array(std::size_t bytes) : bytes_(bytes) {
    begin_ = static_cast<std::byte*>(
        mmap(nullptr, whole(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + whole() - page, page, PROT_NONE);
  }
  ~fenced_array() { munmap(begin_, whole()); }
  fenced_array(const fenced_array&) = delete;
  fenced_array& operator=(const fenced_array&) = delete;
  float* data() { return reinterpret_cast<float*>(begin_ + whole() - page - bytes_); }
  std::size_t size() const { return bytes_ / sizeof(float); }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t whole() const { return (bytes_ + page - 1) / page * page + page; }
  std::byte* begin_ = nullptr;
  std::size_t bytes_;
};

/// All that this processor can run.
std::vector<memory_loop> memory_loops() {
  const x86_features has = find_x86_features();
  std::vector<memory_loop> loops{
      {x86_bytes_per_round, &read_sse2, &triad_sse2, &triad_back_sse2, &flush_sse2}};
  if (has.fma)
    loops.push_back({x86_bytes_per_round, &read_avx, &triad_avx, &triad_back_avx, &flush_sse2});
  if (has.avx512)
    loops.push_back(
        {x86_bytes_per_round, &read_avx512, &triad_avx512, &triad_back_avx512, &flush_sse2});
  return loops;
}

}  // namespace

// 28 instructions a round; a register of 128, 256 or 512 bits; a product and a sum for each number.
TEST_CASE("machine_loops.a_processor_gets_the_widest_loops_that_it_can_run") {
  x86_features has;
  check_loops(has,
              {{dtype::f64, &mul_add_f64_sse2, 28 * 2}, {dtype::f32, &mul_add_f32_sse2, 28 * 4}});
  CHECK(loops_with(has).memory.read == &read_sse2);
  has.avx = true;  // without fused operations
  check_loops(has,
              {{dtype::f64, &mul_add_f64_sse2, 28 * 2}, {dtype::f32, &mul_add_f32_sse2, 28 * 4}});
  has.fma = true;
  const std::vector<expected_loop> avx2{{dtype::f64, &fma_f64_avx2, 28 * 4 * 2},
                                        {dtype::f32, &fma_f32_avx2, 28 * 8 * 2}};
  check_loops(has, avx2);
  CHECK(loops_with(has).memory.triad == &triad_avx);
  CHECK(loops_with(has).memory.triad_written_back == nullptr);
  has.flush_opt = true;
  CHECK(loops_with(has).memory.triad_written_back == &triad_back_avx);
  CHECK(loops_with({.flush_opt = true}).memory.triad_written_back == &triad_back_sse2);
  has.avx_vnni = true;
  check_loops(has, {avx2[0], avx2[1], {dtype::int8, &dot_int8_avx, 28 * 8 * 4 * 2}});
  has.avx512 = true;
  const std::vector<expected_loop> avx512{{dtype::f64, &fma_f64_avx512, 28 * 8 * 2},
                                          {dtype::f32, &fma_f32_avx512, 28 * 16 * 2}};
  check_loops(has, {avx512[0], avx512[1], {dtype::int8, &dot_int8_avx, 28 * 8 * 4 * 2}});
  CHECK(loops_with(has).memory.read == &read_avx512);
  CHECK(loops_with(has).memory.triad_written_back == &triad_back_avx512);
  has.avx512_vnni = has.avx512_bf16 = has.avx512_fp16 = true;
  check_loops(has, {avx512[0],
                    avx512[1],
                    {dtype::f16, &fma_f16_avx512, 28 * 32 * 2},
                    {dtype::bf16, &dot_bf16_avx512, 28 * 16 * 2 * 2},
                    {dtype::int8, &dot_int8_avx512, 28 * 16 * 4 * 2}});
  has.amx_bf16 = has.amx_int8 = true;  // 16 x 16 sums of 32 or 64 products, 8 times
  check_loops(has, {avx512[0],
                    avx512[1],
                    {dtype::f16, &fma_f16_avx512, 28 * 32 * 2},
                    {dtype::bf16, &tile_dot_bf16, 8. * 16 * 16 * 32 * 2},
                    {dtype::int8, &tile_dot_int8, 8. * 16 * 16 * 64 * 2}});
}

TEST_CASE("machine_loops.every_loop_of_this_processor_runs") {
  const processor_loops loops = find_loops();
  REQUIRE(loops.arithmetic.size() >= 2);
  for (const arithmetic_loop& l : loops.arithmetic) l.run(3);
  REQUIRE(loops.clocks != nullptr);
  loops.clocks(3);
  CHECK(loops.clocks_per_round == 64);
  // These every x86-64 processor runs.
  mul_add_f32_sse2(3);
  mul_add_f64_sse2(3);
}

// A page that it must not touch lies behind the lines that it writes back, and behind a, b and c.
TEST_CASE("machine_loops.triad_that_writes_back_computes_the_same_and_touches_nothing_beyond") {
  if (!find_x86_features().flush_opt) return;
  for (const memory_loop& loop : memory_loops())
    for (const std::size_t rounds : {1U, 2U, 7U}) {
      fenced_array a(512 * rounds), b(512 * rounds), c(512 * rounds), stored(512 * rounds);
      for (std::size_t i = 0; i < b.size(); ++i) {
        b.data()[i] = static_cast<float>(i);
        c.data()[i] = static_cast<float>(2 * i + 4);
        a.data()[i] = stored.data()[i] = -1;
      }
      loop.triad_written_back(a.data(), b.data(), c.data(), 512 * rounds, stored.data());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        wrong += a.data()[i] == static_cast<float>(2 * i + 2) && stored.data()[i] == -1 ? 0U : 1U;
      CHECK(wrong == 0);
    }
}

TEST_CASE("machine_loops.triad_computes_all_of_its_array_and_nothing_beyond") {
  for (const memory_loop& loop : memory_loops()) {
    REQUIRE(loop.bytes_per_round == 512);
    for (const std::size_t rounds : {1U, 2U, 7U}) {
      fenced_array a(512 * rounds), b(512 * rounds), c(512 * rounds);
      for (std::size_t i = 0; i < b.size(); ++i) {
        b.data()[i] = static_cast<float>(i);
        c.data()[i] = static_cast<float>(2 * i + 4);
        a.data()[i] = -1;
      }
      loop.triad(a.data(), b.data(), c.data(), 512 * rounds, 3);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        wrong += a.data()[i] == static_cast<float>(2 * i + 2) ? 0U : 1U;
      CHECK(wrong == 0);
      loop.read(b.data(), 512 * rounds, 3);
    }
  }
}
#endif
