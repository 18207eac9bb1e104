// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_ITEM_WINDOWS_HPP
#define KPROF_ATTRIBUTE_ITEM_WINDOWS_HPP

// The devices' items and calls of the steps whose scopes record/step_windows.hpp keeps. When the
// first item of such a step is about to be pushed out of the ring, all of the step are copied, in
// two passes over the ring, and so are its calls: once for each step that still has its place by
// then. Guarded by attribution's lock.

#include <kprof/attribute/item_ring.hpp>
#include <kprof/attribute/noted_calls.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/step_windows.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Copies of elements of a ring, with their numbers in it.
template <class T>
using numbered = std::vector<std::pair<std::uint64_t, T>>;

/// A step as the devices' items tell it. Times are ns since the session's start.
struct item_window {
  step_window of;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // with saved items: of the last one launched in the step, if later
  bool is_whole = true;  // nothing of it has been pushed out without a copy
  bool has_items = false;
  bool has_calls = false;
  std::uint64_t items_until = 0;  // the number of the first item after those that were there
  numbered<packed_item> items;
  numbered<noted_call> calls;
  numbered<noted_wait> waits;

  std::size_t bytes() const noexcept {
    return items.capacity() * sizeof items[0] + calls.capacity() * sizeof calls[0] +
           waits.capacity() * sizeof waits[0];
  }
};

class item_windows {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// Bytes of a session's `memory`.
  static constexpr std::size_t share(std::size_t memory) noexcept { return memory / 32; }
  void restart(std::size_t memory) noexcept {
    windows_.clear();
    limit_ = share(memory);
    items_from_ = calls_from_ = never;
  }

  /// The steps to keep from now on. `to_ns(ticks)`: since the session's start; `whole_since`: as in
  /// device_history.
  template <class ToNs>
  void want(const std::vector<step_window>& steps, const ToNs& to_ns, std::int64_t whole_since) {
    windows_.erase(std::remove_if(windows_.begin(), windows_.end(),
                                  [&](const item_window& w) {
                                    return std::none_of(
                                        steps.begin(), steps.end(),
                                        [&](const step_window& s) { return s.same_as(w.of); });
                                  }),
                   windows_.end());
    for (const step_window& s : steps) {
      const auto known = std::find_if(windows_.begin(), windows_.end(),
                                      [&](const item_window& w) { return w.of.same_as(s); });
      if (known != windows_.end()) {
        known->of.role = s.role;
        continue;
      }
      item_window& w = windows_.emplace_back();
      w.of = s;
      w.begin = to_ns(s.step.begin), w.end = to_ns(s.step.end);
      w.is_whole = w.begin >= whole_since;
    }
    choose_next();
  }
  /// An item that ends no earlier must not be pushed out before save_items().
  std::int64_t items_from() const noexcept { return items_from_; }
  /// The same of calls and save_calls().
  std::int64_t calls_from() const noexcept { return calls_from_; }

  /// Copies what the rings have of the steps that reach back to items_from(). Without memory, or
  /// room for it, such a step is not whole.
  [[gnu::noinline]] void save_items(const latest_ring<packed_item>& items,
                                    const latest_ring<noted_call>& calls,
                                    const latest_ring<noted_wait>& waits) noexcept {
    for (item_window& w : windows_)
      if (w.is_whole && !w.has_items && w.begin == items_from_)
        keep_or_lose(w, w.has_items = attempt([&] {
                          w.items_until = items.dropped() + items.size();
                          copy_items(w, items);
                          copy_waits(w, calls, waits);
                        }));
    choose_next();
  }
  /// An item of a step may come after the others of it were copied, of a kernel that ran for long:
  /// pushed out of the ring it is lost, and the step is not whole any more.
  void note_pushed_out(const packed_item& item, const latest_ring<packed_item>& items) noexcept {
    for (item_window& w : windows_)
      if (w.has_items && w.is_whole && is_item_of(item, w, w.end) &&
          items.number_of(&item) >= w.items_until)
        keep_or_lose(w, false);
  }
  [[gnu::noinline]] void save_calls(const latest_ring<noted_call>& calls) noexcept {
    for (item_window& w : windows_)
      if (w.is_whole && !w.has_calls && w.begin == calls_from_)
        keep_or_lose(w, w.has_calls = attempt([&] {
                          copy_some(w.calls, calls,
                                    [&](const noted_call& c) { return is_in(c, w); });
                        }));
    choose_next();
  }

  std::size_t bytes() const noexcept {
    std::size_t all = 0;
    for (const item_window& w : windows_) all += w.bytes();
    return all;
  }
  std::vector<item_window>::const_iterator begin() const noexcept { return windows_.begin(); }
  std::vector<item_window>::const_iterator end() const noexcept { return windows_.end(); }

 private:
  void choose_next() noexcept {
    items_from_ = calls_from_ = never;
    for (const item_window& w : windows_) {
      if (!w.is_whole) continue;
      if (!w.has_items) items_from_ = std::min(items_from_, w.begin);
      if (!w.has_calls) calls_from_ = std::min(calls_from_, w.begin);
    }
  }
  void keep_or_lose(item_window& w, bool had_memory) noexcept {
    if (had_memory && bytes() <= limit_) return;
    w.items = {}, w.calls = {}, w.waits = {};
    w.is_whole = false;
  }
  static bool is_in(const noted_call& c, const item_window& w) noexcept {
    return c.begin < w.end && c.end >= w.begin;
  }
  static bool is_launched_in(const packed_item& i, const item_window& w,
                             std::int64_t end) noexcept {
    return i.call_is_known() && i.call_begin() >= w.begin && i.call_begin() < end;
  }
  static bool is_item_of(const packed_item& i, const item_window& w,
                         std::int64_t step_end) noexcept {
    return (i.start() < w.end && i.end() >= w.begin) || is_launched_in(i, w, step_end);
  }
  static void copy_items(item_window& w, const latest_ring<packed_item>& items) {
    const std::int64_t step_end = w.end;
    for (const packed_item& i : items)
      if (is_launched_in(i, w, step_end)) w.end = std::max(w.end, i.end());
    copy_some(w.items, items, [&](const packed_item& i) { return is_item_of(i, w, step_end); });
  }
  static void copy_waits(item_window& w, const latest_ring<noted_call>& calls,
                         const latest_ring<noted_wait>& waits) {
    std::vector<std::uint32_t> ids;
    const auto add = [&](const noted_call& c) { ids.insert(ids.end(), {c.ids[0], c.ids[1]}); };
    for (const auto& [number, c] : w.calls) add(c);
    for (const noted_call& c : calls)
      if (is_in(c, w)) add(c);
    std::sort(ids.begin(), ids.end());
    copy_some(w.waits, waits, [&](const noted_wait& x) {
      return std::binary_search(ids.begin(), ids.end(), x.correlation);
    });
  }
  template <class T, class Wanted>
  static void copy_some(numbered<T>& to, const latest_ring<T>& from, const Wanted& wanted) {
    std::size_t count = 0;
    for (const T& x : from) count += wanted(x) ? 1U : 0U;
    to.reserve(count);
    for (const T& x : from)
      if (wanted(x)) to.emplace_back(from.number_of(&x), x);
  }

  std::vector<item_window> windows_;
  std::size_t limit_ = 0;  // bytes
  std::int64_t items_from_ = never, calls_from_ = never;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
