// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_SCOPE_FUNCTIONS_HPP
#define KPROF_RECORD_SCOPE_FUNCTIONS_HPP

// What guards call while a session records: two clock readings and a record in the thread's own
// log. No lock and no allocation but once every few hundred scopes, when a chunk is full; and no
// system call but then, and for the thread's CPU time at most every 200 microseconds.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/abandoned_scopes.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/cpu_clock.hpp>
#include <kprof/record/link_call.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/recorder.hpp>

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// The functions for one clock, with or without an emitter beside the recorder.
template <class Clock, bool Emit>
class KPROF_DETAIL_LOCAL scope_functions {
 public:
  static const scope_api& api() noexcept {
    static constexpr scope_api table = make_api();
    return table;
  }
  /// For a recording that sends nothing, after one that did: scopes that were sent before are
  /// closed for the tool too.
  static const scope_api& closing_api() noexcept {
    static constexpr scope_api table = [] {
      scope_api quiet = scope_functions<Clock, false>::make_api();
      quiet.end = &end;
      return quiet;
    }();
    return table;
  }
  static constexpr scope_api make_api() noexcept {
    return make_api(std::make_index_sequence<max_fast_words + 1>{});
  }

 private:
  static constexpr std::size_t prefetch_distance = 1024;

  template <std::size_t... Words>
  static constexpr scope_api make_api(std::index_sequence<Words...>) noexcept {
    scope_api table{1, sizeof(scope_api), &end, &begin_any, {}, &capture, &adopt, &release, &link};
    // nvcc loses the dots of an expansion in nested braces
    ((table.begin[Words] = &begin<Words>), ...);
    return table;
  }

  template <std::size_t Words>
  static scope_token begin(site& where, const void* params) noexcept {
    // A reading of clock_gettime takes 20 ns; a copy of known size would save 2 and cost code.
    if constexpr (std::is_same_v<Clock, system_clock>) return begin_any(where, params, 8 * Words);
    return append(where, params, 8 * Words, [&](char* to) { std::memcpy(to, params, 8 * Words); });
  }
  static scope_token begin_any(site& where, const void* bytes, std::uint32_t size) noexcept {
    return append(where, bytes, size, [&](char* to) {
      if (size != 0) std::memcpy(to, bytes, size);  // an empty name may be a null pointer
    });
  }

  template <class Copy>
  [[gnu::always_inline]] static scope_token append(site& where, const void* bytes,
                                                   std::uint32_t size, Copy copy) noexcept {
    log_head* const log = this_log;
    const std::size_t record = record_header + (size + 7U) / 8U * 8U;
    // with what the session keeps of the site
    const std::uint32_t id =
        std::atomic_ref<std::uint32_t>(where.id).load(std::memory_order_acquire);
    const scope_token around = log->scopes.innermost();
    log->scopes.begin_change();
    char* const at = log->next_record();
    if (!has_room(*log, at, around, record) || id == 0) [[unlikely]]
      return begin_prepared(where, bytes, size, around);
    put(at, record_word(record_kind::begin, id, size));
    // A log runs through memory that has left the cache since it was written last: fetched ahead,
    // that costs nothing; left to the processor, 7 ns a scope.
    __builtin_prefetch(at + prefetch_distance, 1);
    __builtin_prefetch(at + prefetch_distance + 64, 1);
    // The time before the parameters: copying them right behind the writes that made them would
    // wait for those.
    const std::uint64_t now = Clock::now();
    if (now >= log->cpu_due) [[unlikely]]
      return begin_and_note_cpu_time(where, bytes, size, around, now);
    put(at + 8, now);
    copy(at + record_header);
    log->publish(at + record);
    const scope_token token = log->scopes.open(around);
    if constexpr (Emit) push(*log, where, bytes, size);
    return token;
  }
  /// A call of its own, in the last place: what must outlive it would be saved in every scope.
  [[gnu::noinline, gnu::cold]] static scope_token begin_prepared(site& where, const void* bytes,
                                                                 std::uint32_t size,
                                                                 scope_token around) noexcept {
    // In a signal's handler that has interrupted a change of this log.
    if (around == open_scopes::changing && this_log != &empty_log) {
      static_cast<void>(own_recorder->drop_inside());
      return 0;
    }
    this_log->scopes.set_innermost(around);
    return prepare(where, record_header + (size + 7U) / 8U * 8U) ? begin_any(where, bytes, size)
                                                                 : 0;
  }

  /// The scope begins behind the reading, which its time does not hold. Another call in the last
  /// place.
  [[gnu::noinline, gnu::cold]] static scope_token begin_and_note_cpu_time(
      site& where, const void* bytes, std::uint32_t size, scope_token around,
      std::uint64_t now) noexcept {
    log_head& log = *this_log;
    log.scopes.set_innermost(around);
    // Without room for both, the next reading comes an interval later.
    if (!note_cpu_time(log, now)) log.cpu_due = now + cpu_clock.interval_ticks;
    // In a program that is run step by step an interval may have passed again.
    const std::uint64_t next = std::exchange(log.cpu_due, never);
    const scope_token token = begin_any(where, bytes, size);
    log.cpu_due = next;
    return token;
  }

  static void end(scope_token token) noexcept { close<true>(token, Clock::now()); }
  /// Ends what adopt() began: nothing was sent to a tool then.
  static void release(scope_token token) noexcept { close<false>(token, Clock::now()); }

  /// `Sent`: a tool may have been told of the scope, and not only of scopes inside it.
  template <bool Sent>
  [[gnu::always_inline]] static void close(scope_token token, std::uint64_t now) noexcept {
    log_head* const log = this_log;
    if (log->scopes.innermost() != token) [[unlikely]]
      return close_out_of_order<Sent>(token, now);
    if (now >= log->cpu_due) [[unlikely]]
      return close_and_note_cpu_time<Sent>(token, now);
    close_innermost<Sent>(*log, token, now);
  }
  template <bool Sent>
  [[gnu::always_inline]] static void close_innermost(log_head& log, scope_token token,
                                                     std::uint64_t now) noexcept {
    if constexpr (Emit && Sent) pop(log, depth_of(token));
    log.scopes.begin_change();
    char* const at = log.next_record();
    put(at, now | end_bit);
    log.publish(at + 8);
    log.scopes.close_innermost(token);
  }
  /// The reading lies before the scope's end in the log, and is made behind it. Without room the
  /// next begin or end makes it.
  template <bool Sent>
  [[gnu::noinline, gnu::cold]] static void close_and_note_cpu_time(scope_token token,
                                                                   std::uint64_t now) noexcept {
    static_cast<void>(note_cpu_time(*this_log, now));
    close_innermost<Sent>(*this_log, token, now);
  }

  template <bool Sent>
  [[gnu::noinline]] static void close_out_of_order(scope_token token, std::uint64_t now) noexcept {
    if (token == 0) return;  // an adoption that was dropped, and counted then
    if ((token & emitted_token) != 0) return end_through_hub(token);
    if (this_log == &empty_log || !this_log->scopes.is_open(token))
      return own_recorder->count_closed_elsewhere();
    end_from(depth_of(token), Sent ? depth_of(token) : depth_of(token) + 1U, now);
  }
  /// Ends the scope of this depth and all inside it. `sent_from`: the depth from which on scopes
  /// may have been sent to a tool.
  static void end_from(std::uint16_t depth, std::uint32_t sent_from, std::uint64_t now) noexcept {
    log_head* const log = this_log;
    if constexpr (Emit) pop(*log, sent_from);
    const scope_token innermost = log->scopes.innermost();
    log->scopes.begin_change();
    char* at = log->next_record();
    // the innermost, opened before something else was closed out of order
    if (depth == depth_of(innermost)) {
      put(at, now | end_bit);
      at += 8;
      // around others that are still open: they end with it; there is room, since at least two ends
      // were provided for
    } else {
      put(at, record_word(record_kind::end_to, depth, 0));
      put(at + 8, now);
      at += record_header;
    }
    log->publish(at);
    log->scopes.set_innermost(innermost);
    log->scopes.close_from(depth);
  }

  static std::uint32_t capture() noexcept { return own_recorder->capture(); }

  static scope_token adopt(std::uint32_t path) noexcept {
    if (!has_room(*this_log, record_header)) {
      if (inside_kprof) return 0;
      const mark_inside_kprof mark;
      if (!make_room(record_header)) return 0;
    }
    if (append_record(*this_log, record_word(record_kind::adopt, path, 0), Clock::now(), nullptr,
                      0))
      return this_log->scopes.open();
    // A signal's handler has taken the room.
    static_cast<void>(own_recorder->drop());
    return 0;
  }

  static std::uint32_t link(std::uint32_t of) noexcept { return link_call(of, Clock::now()); }

  /// Gives the site its number and the log its room; false when the scope cannot be recorded.
  static bool prepare(site& where, std::size_t record) noexcept {
    // a guard in an allocator that kprof itself is calling
    if (inside_kprof) return own_recorder->drop_inside();
    if (recorder_is_lost) return own_recorder->drop();
    const mark_inside_kprof mark;
    if (!own_recorder->number(where)) return own_recorder->drop();
    return has_room(*this_log, record) || make_room(record);
  }
  /// Where no deeper scope fits, scopes that a longjmp() has left open end first.
  static bool make_room(std::size_t record) noexcept {
    if (const std::uint16_t depth = abandoned_from(record)) end_from(depth, depth, Clock::now());
    return has_room(*this_log, record) ||
           own_recorder->more_room(record, &recorder_counts::dropped);
  }

  /// The depth from which on scopes have been abandoned by their guards, where no deeper scope
  /// fits; else 0. Looks seldom where there are none.
  [[gnu::noinline]] static std::uint16_t abandoned_from(std::size_t record) noexcept {
    if (this_log == &empty_log) return 0;
    auto& log = *static_cast<thread_log*>(this_log);
    if (log.scopes.is_changing() || !log.fits_no_chunk(record)) return 0;
    if (log.drops_until_search != 0) return --log.drops_until_search, std::uint16_t{0};
    const std::uint16_t depth = tokens_on_stack(log.scopes).first_without();
    if (depth == 0) log.drops_until_search = 4096;
    return depth;
  }

  // A tool keeps one stack a thread and matches no names: what was pushed at a depth is popped when
  // that depth ends, whatever has become of the scopes inside.
  [[gnu::noinline]] static void push(log_head& log, const site& where, const void* bytes,
                                     std::uint32_t size) noexcept {
    const emitter_api* emitter = load(load(this_module.hub)->emitter);
    if (emitter == nullptr) return;
    if (!emitter->push(where, bytes, size)) return;
    const std::uint32_t depth = log.scopes.depth();
    if (depth < 64) log.emitted |= std::uint64_t{1} << depth;
    else ++log.emitted_deeper;
  }
  [[gnu::noinline]] static void pop(log_head& log, std::uint32_t depth) noexcept {
    const std::uint32_t innermost = log.scopes.depth();
    if (depth > innermost) return;
    const emitter_api* emitter = load(load(this_module.hub)->emitter);
    if (emitter == nullptr) return;
    std::uint32_t deeper = innermost < 64 ? 0 : innermost - (depth < 64 ? 64 : depth) + 1;
    if (deeper > log.emitted_deeper) deeper = log.emitted_deeper;
    log.emitted_deeper -= deeper;
    for (; deeper != 0; --deeper) emitter->pop();
    if (depth >= 64) return;
    std::uint64_t inside = log.emitted >> depth << depth;
    log.emitted &= ~inside;
    for (; inside != 0; inside &= inside - 1) emitter->pop();
  }
};

/// The functions for one clock.
struct recorder_tables {
  const scope_api* alone;     // no tool is attached
  const scope_api* emitting;  // scopes are sent to a tool too
  const scope_api* closing;   // nothing is sent any more; scopes that were are still closed
};
template <class Clock>
KPROF_DETAIL_LOCAL recorder_tables tables_of_recorder() noexcept {
  return {&scope_functions<Clock, false>::api(), &scope_functions<Clock, true>::api(),
          &scope_functions<Clock, true>::closing_api()};
}

/// What a scope of 8 words costs this thread and what an empty one shows, in ticks.
struct scope_cost {
  double scope = 0;
  double empty = 0;
};

template <std::size_t N>
double median(std::uint64_t (&values)[N]) noexcept {
  for (std::size_t i = 1; i < N; ++i)
    for (std::size_t j = i; j > 0 && values[j] < values[j - 1]; --j)
      std::swap(values[j], values[j - 1]);
  return static_cast<double>(values[N / 2]);
}

/// Measures a scope, as the medians of a few batches into a log that nobody reads.
template <class Clock>
KPROF_DETAIL_LOCAL scope_cost measure_scope() {
  constexpr std::size_t scopes = 300, batches = 15, bytes = chunk::size;
  static_assert(scopes * (record_header + 8 * 8 + 8) < bytes - 1024);
  const auto memory = std::unique_ptr<char[]>(new (std::nothrow) char[bytes]);
  if (memory == nullptr) return {};
  log_head scratch;
  scratch.limit = memory.get() + bytes;
  scratch.cpu_due = never;
  site where{1, 0, nullptr, nullptr, nullptr};
  const std::uint64_t params[8] = {};
  const scope_api& functions = scope_functions<Clock, false>::api();
  std::uint64_t cost[batches], empty[batches];
  // A guard in a signal's handler must not record into this log.
  sigset_t every, before_it;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before_it);
  log_head* const mine = this_log;
  this_log = &scratch;
  for (std::size_t b = 0; b < batches; ++b) {
    scratch.publish(memory.get());
    const std::uint64_t before = Clock::now();
    for (std::size_t i = 0; i < scopes; ++i) functions.end(functions.begin[8](where, params));
    cost[b] = Clock::now() - before;
    const char* middle = memory.get() + scopes / 2 * (record_header + 64 + 8);
    empty[b] = (get(middle + record_header + 64) & ~end_bit) - get(middle + 8);
  }
  this_log = mine;
  pthread_sigmask(SIG_SETMASK, &before_it, nullptr);
  return {median(cost) / static_cast<double>(scopes), median(empty)};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
