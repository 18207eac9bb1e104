// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_TREE_NODE_HPP
#define KPROF_RECORD_TREE_NODE_HPP

// One entry of a call tree, and the memory that all trees share.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/record/histogram.hpp>
#include <kprof/record/sampled_calls.hpp>
#include <kprof/record/slow_calls.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

KPROF_DETAIL_BEGIN
namespace detail {

/// Bytes that all trees of the process may take; nodes beyond it are merged.
class tree_budget {
 public:
  void set_limit(std::uint64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  /// So many are left by others.
  void set_room(std::uint64_t bytes) noexcept { room_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t limit() const noexcept {
    return std::min(limit_.load(std::memory_order_relaxed), room_.load(std::memory_order_relaxed));
  }

  void add(std::uint64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t now() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// Less is left than a few threads may need: what can be held once is not held twice.
  bool scarce() const noexcept { return now() >= limit() / 4; }
  bool nearly_spent() const noexcept { return now() >= limit() / 4 * 3; }
  bool spent() const noexcept { return now() >= limit(); }

 private:
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> limit_{0};
  std::atomic<std::uint64_t> room_{~std::uint64_t{0}};
};

/// The parameters of an operator or the name of a region; and how the parameters are shown, where
/// that is known: the first bytes of a presentation, or none.
struct payload {
  const char* bytes;
  std::uint32_t size;
  const char* shown = "";
  std::uint32_t shown_size = 0;
};

constexpr std::uint32_t padded(std::uint32_t bytes) noexcept { return (bytes + 7) / 8 * 8; }
/// Bytes that a payload takes with how it is shown.
constexpr std::uint32_t stored(std::uint32_t size, std::uint32_t shown_size) noexcept {
  return padded(size) + padded(shown_size);
}

struct tree_node {
  static constexpr std::uint64_t no_begin = ~std::uint64_t{0};

  // The first word of the begin records whose payload can be compared as it is, or no_begin: of the
  // root, of merged nodes, and of operators whose parameters have padding.
  std::uint64_t begin_word = no_begin;
  std::uint32_t parent = 0;
  std::uint32_t site = 0;        // 0: the root
  std::uint32_t last_child = 0;  // the child that was found last
  std::uint32_t successor = 0;   // the sibling that was found after this node the last time
  std::uint32_t payload_at = 0;
  std::uint32_t payload_size = 0;
  bool merged = false;           // calls of all parameters that came when memory was spent
  bool is_part = false;          // its scopes are parts of calls that threads share
  bool is_step = false;          // its scopes are steps
  bool is_noted = false;         // one of both: each scope is noted by itself
  std::uint32_t shown_size = 0;  // bytes behind the payload that say how it is shown
  std::uint64_t calls = 0;
  std::uint64_t total = 0;  // ticks
  std::uint64_t self = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t slow = 0;  // a call that takes longer is one of the slowest
  // How many calls come before the next one that needs more than to be counted: the first, and each
  // that is put into `samples`. What came before the first of those are the slowest.
  std::uint64_t next_sample = 0;
  histogram durations;
  // What a call that has been seen before does not touch.
  std::uint32_t next_in_bucket = 0;
  std::uint32_t hash = 0;
  std::uint64_t first = 0;      // the duration of the call that ended first, in ticks
  std::uint64_t first_end = 0;  // when it ended
  std::uint64_t captured = 0;   // of the calls, those that captured their kernels into a graph
  // How many of the calls launched work on a device. In the node of a graph and in those below it,
  // which have no calls, it counts the replays. A second field for these would give the node an odd
  // size, which makes folding slower by a hundredth.
  std::uint64_t device_calls = 0;
  slow_calls slowest;
  std::unique_ptr<sampled_calls> samples;
  work values{};

  /// Counts one finished call, but for the histogram. Of the first, see note_first().
  [[gnu::always_inline]] void count(std::uint64_t ticks, std::uint64_t self_ticks,
                                    std::uint64_t end) noexcept {
    ++calls;
    total += ticks;
    self += self_ticks;
    if (ticks < shortest) shortest = ticks;
    if (ticks > slow) [[unlikely]]
      slow = slowest.put(ticks, end);
  }
  /// Keeps a call that is about to be counted, if it is the first.
  void note_first(const slow_calls::call& c) noexcept {
    if (calls == 0) first = c.ticks, first_end = c.end;
  }
  /// Keeps a call that is about to be counted. Without memory, for which it asks may_grow(bytes),
  /// the next tries are rare.
  template <class MayGrow>
  [[gnu::noinline]] void sample(const slow_calls::call& c, MayGrow may_grow) noexcept {
    note_first(c);
    if (calls < slow_calls::most) next_sample = slow_calls::most;
    else next_sample = has_samples(may_grow) ? samples->put(c, calls) : 2 * calls;
  }
  /// Those of a node of another thread, whose counts are added after that.
  template <class MayGrow>
  void add_samples(const tree_node& from, MayGrow may_grow) noexcept {
    if (from.calls == 0 || calls + from.calls <= slow_calls::most || !has_samples(may_grow)) return;
    next_sample = samples->put_all(from.all_samples(), calls + from.calls);
  }
  /// Its samples; those of few calls are the slowest ones.
  sampled_calls all_samples() const noexcept {
    if (samples != nullptr) return *samples;
    sampled_calls out(hash);
    if (calls <= slow_calls::most) out.put_few(slowest);
    return out;
  }

  /// Adds what a node of another thread has counted, but for the histogram and the samples.
  void add_counts(const tree_node& from) noexcept {
    if (from.calls != 0 && (calls == 0 || from.first_end < first_end)) {
      first = from.first;
      first_end = from.first_end;
    }
    calls += from.calls;
    total += from.total;
    self += from.self;
    captured += from.captured;
    device_calls += from.device_calls;
    if (from.shortest < shortest) shortest = from.shortest;
    slow = slowest.put_all(from.slowest);
  }

 private:
  template <class MayGrow>
  bool has_samples(MayGrow may_grow) noexcept {
    if (samples != nullptr) return true;
    if (may_grow(sizeof(sampled_calls)))
      samples.reset(new (std::nothrow) sampled_calls(all_samples()));
    return samples != nullptr;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
