// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_LAUNCHING_CALLS_HPP
#define KPROF_COLLECT_LAUNCHING_CALLS_HPP

// The calls that launch work and have not returned yet, by their correlation ids. What such a call
// launched may run, and its record come, before the call ends and its thread notes the launch. So a
// record without a launch is of no unknown launch as long as a call may have its id. A begin and an
// end each store a word that mostly no other thread touches. Any thread may call anything here.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Those of one moment.
struct calls_under_way {
  struct span {
    std::uint32_t first, last;  // ids of one call; ids of other threads may lie between them
  };
  static constexpr std::size_t most = 64;

  std::array<span, most> spans{};
  std::size_t count = 0;
  bool more = false;  // there are others, whose ids are not known

  bool may_have(std::uint32_t id) const noexcept {
    return more || std::any_of(spans.begin(), spans.begin() + count,
                               [id](const span& s) { return s.first <= id && id <= s.last; });
  }
};

class launching_calls {
 public:
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  /// A call begins. Returns its place, for grow() and end(); no_place for an id of 0, which names
  /// no call. `hint`: where to look first, such as the place of the thread's call before.
  std::uint32_t begin(std::uint32_t id, std::uint32_t hint) noexcept {
    if (id == 0) return no_place;
    for (std::uint32_t i = 0; i < calls_under_way::most; ++i) {
      const std::uint32_t at = (hint + i) % calls_under_way::most;
      std::uint64_t free = 0;
      if (places_[at].ids.load(std::memory_order_relaxed) == 0 &&
          places_[at].ids.compare_exchange_strong(free, word(id, id), std::memory_order_acq_rel))
        return at;
    }
    ++others_;
    return beside;
  }
  /// The call has one more id. By its thread.
  void grow(std::uint32_t place, std::uint32_t id) noexcept {
    if (place >= calls_under_way::most || id == 0) return;
    std::atomic<std::uint64_t>& ids = places_[place].ids;
    const std::uint64_t now = ids.load(std::memory_order_relaxed);
    const auto first = static_cast<std::uint32_t>(now >> 32U),
               last = static_cast<std::uint32_t>(now);
    ids.store(word(std::min(first, id), std::max(last, id)), std::memory_order_release);
  }
  /// The call has ended and is noted. By its thread.
  void end(std::uint32_t place) noexcept {
    if (place < calls_under_way::most) places_[place].ids.store(0, std::memory_order_release);
    if (place != beside) return;
    std::uint32_t n = others_.load();  // 0 where clear() came meanwhile
    while (n != 0 && !others_.compare_exchange_weak(n, n - 1)) {}
  }
  /// A collector starts again: it does not see the ends of the calls that are under way.
  void clear() noexcept {
    for (slot& p : places_) p.ids.store(0);
    others_.store(0);
  }

  /// A call that is not among them has been noted, or began later.
  calls_under_way now() const noexcept {
    calls_under_way out;
    for (const slot& p : places_)
      if (const std::uint64_t ids = p.ids.load(std::memory_order_acquire); ids != 0)
        out.spans[out.count++] = {static_cast<std::uint32_t>(ids >> 32U),
                                  static_cast<std::uint32_t>(ids)};
    out.more = others_.load() != 0;
    return out;
  }

 private:
  static constexpr std::uint32_t beside = no_place - 1;  // counted in others_

  static constexpr std::uint64_t word(std::uint32_t first, std::uint32_t last) noexcept {
    return std::uint64_t{first} << 32U | last;
  }

  struct alignas(64) slot {
    std::atomic<std::uint64_t> ids{0};  // the least and the largest; 0: free
  };
  std::array<slot, calls_under_way::most> places_{};
  std::atomic<std::uint32_t> others_{0};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
