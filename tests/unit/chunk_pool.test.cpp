// SPDX-License-Identifier: MIT
// Which chunk a log that is full gets next.

#include <kprof/record/chunk_pool.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

using kprof::detail::chunk;
using kprof::detail::chunk_pool;
using kprof::detail::thread_log;

namespace {

/// Stands for a log: a queue of chunks, the last of which is written.
struct writer {
  explicit writer(chunk_pool& from) : pool(&from) {}

  thread_log* self() { return reinterpret_cast<thread_log*>(this); }
  chunk* oldest() const { return chunks.empty() ? nullptr : chunks.front(); }

  chunk_pool* pool;
  std::deque<chunk*> chunks;
};

/// Fills `log`'s chunk and gives it the next one, as the recorder does.
void fill_one(writer& log, std::vector<writer*> all) {
  chunk* const c = log.pool->take(log.oldest());
  REQUIRE(c != nullptr);
  for (writer* owner : all)
    if (c->owner == owner->self()) {
      REQUIRE(owner->oldest() == c);
      owner->chunks.pop_front();
    }
  *c = chunk{};
  c->owner = log.self();
  if (!log.chunks.empty()) log.pool->retire(log.chunks.back());
  log.chunks.push_back(c);
}

constexpr std::size_t pieces = 64;

}  // namespace

TEST_CASE("chunk_pool.takes_new_memory_up_to_the_limit_and_then_recycles_the_oldest") {
  chunk_pool pool;
  pool.set_limit(4 * chunk::size);
  writer log{pool};
  std::vector<chunk*> first;
  for (int i = 0; i < 4; ++i) {
    fill_one(log, {&log});
    first.push_back(log.chunks.back());
  }
  CHECK(pool.held() == 4 * chunk::size);
  fill_one(log, {&log});
  CHECK(log.chunks.back() == first[0]);
  CHECK(pool.held() == 4 * chunk::size);
}

TEST_CASE("chunk_pool.gives_nothing_when_all_chunks_are_being_written") {
  chunk_pool pool;
  pool.set_limit(chunk::size);
  writer log{pool};
  fill_one(log, {&log});
  CHECK(pool.take(nullptr) == nullptr);
}

TEST_CASE("chunk_pool.threads_of_one_pace_recycle_their_own") {
  chunk_pool pool;
  pool.set_limit(pieces * chunk::size);
  writer a{pool}, b{pool};
  for (std::size_t i = 0; i < pieces / 2; ++i) {
    fill_one(a, {&a, &b});
    fill_one(b, {&a, &b});
  }
  for (int i = 0; i < 1000; ++i)
    for (writer* log : {&a, &a, &b, &b}) {
      chunk* const own = log->oldest();
      fill_one(*log, {&a, &b});
      CHECK(log->chunks.back() == own);
    }
}

TEST_CASE("chunk_pool.an_idle_threads_old_chunks_go_before_a_busy_ones_new") {
  chunk_pool pool;
  pool.set_limit(pieces * chunk::size);
  writer idle{pool}, busy{pool};
  for (std::size_t i = 0; i < pieces / 2; ++i) fill_one(idle, {&idle, &busy});
  for (std::size_t i = 0; i < 2 * pieces; ++i) fill_one(busy, {&idle, &busy});
  CHECK(idle.chunks.size() == 1);  // the one that it would go on writing
  CHECK(busy.chunks.size() == pieces - 1);
}

TEST_CASE("chunk_pool.what_is_kept_is_the_newest_whatever_the_threads_paces") {
  chunk_pool pool;
  pool.set_limit(pieces * chunk::size);
  writer slow{pool}, fast{pool};
  std::uint64_t oldest_age = 0;
  for (int i = 0; i < 10'000; ++i) {
    fill_one(i % 10 == 0 ? slow : fast, {&slow, &fast});
    if (i < 1000) continue;
    oldest_age = static_cast<std::uint64_t>(i);
    for (const writer* log : {&slow, &fast})
      for (const chunk* c : log->chunks)
        if (c->queued) oldest_age = std::min(oldest_age, c->age);
    // In strict order of age the oldest would be `pieces` back.
    REQUIRE(static_cast<std::uint64_t>(i) - oldest_age <= pieces + pieces / 8 + 2);
  }
}

TEST_CASE("chunk_pool.a_chunk_that_was_given_back_belongs_to_nobody") {
  chunk_pool pool;
  pool.set_limit(2 * chunk::size);
  writer log{pool};
  chunk* const c = pool.take(nullptr);
  c->owner = log.self();
  pool.give_back(c);
  CHECK(pool.take(nullptr) == c);
  CHECK(c->owner == nullptr);
}
