// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_DEVICE_HISTORY_HPP
#define KPROF_ATTRIBUTE_DEVICE_HISTORY_HPP

// What happened when: the latest items of the devices' work, and the latest calls that block,
// record events or make streams wait. Bounded; the oldest go first, and are counted.
// history_writer.hpp makes the profile's device_timeline of it. Guarded by attribution's lock.

#include <kprof/attribute/item_ring.hpp>
#include <kprof/attribute/item_windows.hpp>
#include <kprof/attribute/launch_table.hpp>
#include <kprof/attribute/noted_calls.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

class device_history {
 public:
  /// Bytes of a session's `memory`.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return memory / 16 + memory / 64 + memory / 128 + item_windows::share(memory);
  }
  /// Forgets everything. `memory`: bytes of the session; 0: nothing is kept from now on.
  void restart(std::size_t memory) noexcept {
    items.restart(memory / 16 / sizeof(packed_item));
    calls.restart(memory / 64 / sizeof(noted_call));
    waits.restart(memory / 128 / sizeof(noted_wait));
    windows.restart(memory);
    known_contexts_ = 0, latest_context_ = 0;
    whole_since = 0;
  }

  /// An activity has been counted in a row of the totals. `launch`: nullptr where it is not known;
  /// `when`: CLOCK_REALTIME ns of its call's begin.
  [[gnu::always_inline]] void add(const activity& a, const known_launch* launch, std::uint64_t when,
                                  std::uint32_t log, std::uint32_t row,
                                  std::uint64_t epoch) noexcept {
    if (!items.keeps_any()) return items.drop();
    if (items.is_full()) push_out_item(items.next());
    items.add(a, launch, when, log, row, epoch);
    if (a.context != latest_context_) note_context(a.context, a.device);
  }

  /// `also`, its other correlation ids, come by also_known_as().
  void add(const noted_call& call) noexcept {
    if (!calls.keeps_any()) return calls.drop();
    if (calls.is_full()) push_out_call(calls.next().end);
    calls.add(call);
  }
  void also_known_as(std::uint32_t correlation) noexcept {
    if (calls.keeps_any() && calls.latest().ids[1] == 0) calls.latest().ids[1] = correlation;
  }
  void add_wait(const activity& a) noexcept {
    if (!waits.keeps_any()) return;
    const bool waits_itself = a.kind == activity_kind::synchronization;
    waits.add(a.correlation, a.context, a.stream, a.event,
              waits_itself ? static_cast<waiting>(a.direction) : waiting::unknown);
  }

  std::size_t bytes() const noexcept {
    return items.bytes() + calls.bytes() + waits.bytes() + windows.bytes();
  }

  /// The device of a context by the collector's number, of the latest that did any work; else that
  /// of another context, or 0.
  std::uint32_t device_of(std::uint32_t context) const noexcept {
    for (std::size_t i = 0; i < std::min(known_contexts_, most_contexts); ++i)
      if (contexts_[i].context == context) return contexts_[i].device;
    return known_contexts_ == 0 ? 0 : contexts_[0].device;
  }
  latest_ring<packed_item> items;
  latest_ring<noted_call> calls;
  latest_ring<noted_wait> waits;
  item_windows windows;  // copies of some of the three
  /// What a function is, by its number; nullptr: not known.
  function_description (*describe_function)(std::uint16_t number) noexcept = nullptr;
  std::int64_t whole_since = 0;  // nothing that ended after that has been pushed out

 private:
  void push_out_item(const packed_item& oldest) noexcept {
    const std::int64_t end = oldest.end();
    while (end >= windows.items_from()) windows.save_items(items, calls, waits);
    windows.note_pushed_out(oldest, items);
    whole_since = std::max(whole_since, end);
  }
  /// One that ends then is about to be pushed out.
  void push_out_call(std::int64_t end) noexcept {
    while (end >= windows.calls_from()) windows.save_calls(calls);
    whole_since = std::max(whole_since, end);
  }
  // A process mostly has one a device, but may make them again and again.
  static constexpr std::size_t most_contexts = 64;

  void note_context(std::uint32_t context, std::uint32_t device) noexcept {
    latest_context_ = context;
    for (std::size_t i = 0; i < std::min(known_contexts_, most_contexts); ++i)
      if (contexts_[i].context == context) return;
    contexts_[known_contexts_++ % most_contexts] = {context, device};
  }

  struct {
    std::uint32_t context, device;
  } contexts_[most_contexts];
  std::size_t known_contexts_ = 0;  // ever: of many, the latest are here
  std::uint32_t latest_context_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
