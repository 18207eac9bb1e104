// SPDX-License-Identifier: MIT

// The loops that kprof is measured against.

#include "loops.hpp"

#include <kprof/record/clock.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

namespace bench::plain {

using counter = kprof::detail::counter_clock;

void bare(std::int64_t scopes, const shape&) {
  for (std::int64_t i = 0; i < scopes; ++i) work();
}

void two_counter_reads(std::int64_t scopes, const shape&) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    benchmark::DoNotOptimize(counter::now());
    work();
    benchmark::DoNotOptimize(counter::now());
  }
}

void two_steady_clock_reads(std::int64_t scopes, const shape&) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    benchmark::DoNotOptimize(std::chrono::steady_clock::now());
    work();
    benchmark::DoNotOptimize(std::chrono::steady_clock::now());
  }
}

namespace {

// The floor: two counter reads and 96 bytes into a thread's own buffer, which is used over and
// over.
constexpr std::size_t words = 96 / sizeof(std::uint64_t);

struct buffer {
  std::uint64_t* at;
  std::uint64_t* begin;
  std::uint64_t* end;
};

struct in_cache {
  static constexpr std::size_t records = 300;  // 28 KiB
  static thread_local constinit buffer log;
};
struct in_memory {
  // 46 MiB, as much as a session's logs have by default
  static constexpr std::size_t records = 500'000;
  static thread_local constinit buffer log;
};
thread_local constinit buffer in_cache::log{};
thread_local constinit buffer in_memory::log{};

// Volatile, so that each field goes straight to its place: g++ would else build the record on the
// stack and copy it with vectors, which wait for the stores before them, and the floor would be
// higher than it is.
void put(std::uint64_t* at, std::uint64_t value) noexcept {
  *static_cast<volatile std::uint64_t*>(at) = value;
}
void put(std::uint64_t* at, std::int64_t value) noexcept {
  put(at, static_cast<std::uint64_t>(value));
}

template <class Where>
void store_in(std::int64_t scopes, const shape& values) {
  buffer& log = Where::log;
  for (std::int64_t i = 0; i < scopes; ++i) {
    if (log.at == log.end) log.at = log.begin;
    std::uint64_t* at = log.at;
    put(at, counter::now());
    put(at + 1, std::uint64_t{42});  // which operator
    put(at + 2, i % layers);
    put(at + 3, values.c);
    put(at + 4, values.h);
    put(at + 5, values.w);
    put(at + 6, values.k);
    put(at + 7, values.r);
    put(at + 8, values.s);
    put(at + 9, values.stride);
    work();
    at = log.at;
    put(at + 10, std::uint64_t{1});  // how deep
    put(at + 11, counter::now());
    log.at = at + words;
  }
}

template <class Where>
void touch() {
  thread_local std::unique_ptr<std::uint64_t[]> memory;
  if (memory != nullptr) return;
  memory = std::make_unique<std::uint64_t[]>(Where::records * words);  // zeroed, hence touched
  Where::log = {memory.get(), memory.get(), memory.get() + Where::records * words};
}

}  // namespace

void floor(std::int64_t scopes, const shape& values) { store_in<in_cache>(scopes, values); }
void floor_in_memory(std::int64_t scopes, const shape& values) {
  store_in<in_memory>(scopes, values);
}
void touch_floor() { touch<in_cache>(); }
void touch_floor_in_memory() { touch<in_memory>(); }

}  // namespace bench::plain
