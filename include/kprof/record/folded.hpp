// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_FOLDED_HPP
#define KPROF_RECORD_FOLDED_HPP

// What folding a log yields beside the call tree: the scopes that are open, launches, counts.

#include <kprof/build_options.hpp>
#include <kprof/record/cpu_totals.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a scope has launched on a device, with the scopes inside it: bits.
namespace launched_bits {
inline constexpr std::uint8_t copies = 1;      // or memsets
inline constexpr std::uint8_t kernels = 2;     // or graphs
inline constexpr std::uint8_t unrecorded = 4;  // while nothing was recorded
inline constexpr std::uint8_t maybe = 8;       // the scope is older than the recording
inline constexpr std::uint8_t recorded = copies | kernels;
}  // namespace launched_bits

/// A scope that folding has seen begin and not end.
struct open_frame {
  std::uint32_t node;
  bool adopted;               // an adopted context and not a scope
  std::uint64_t start;        // ticks
  std::uint64_t child_ticks;  // spent in scopes inside it
  std::uint8_t launched = 0;  // launched_bits
  std::uint32_t path = 0;     // of its node; 0 until somebody asks
  // number, plus 1, of the last graph that work was captured into; `others`: other scopes' work
  std::uint64_t graph = 0;
  static constexpr std::uint64_t others = ~std::uint64_t{0};
  cpu_reading cpu{};           // what the thread had noted last when it began
  std::uint64_t call_key = 0;  // of a part whose parameters were merged
};

/// A call that launched work on a device, or of another function of its library, as folding found
/// it.
struct launch_note {
  static constexpr std::uint32_t ignored = ~std::uint32_t{0};
  static constexpr std::uint32_t by_kprof = ignored - 1;  // a path, of what is in no profile

  std::uint32_t correlation;
  bool alias;              // another id of the call before it
  record_kind kind;        // what it launched, or host_call
  std::uint16_t function;  // a number of the collector's; 0: not known
  std::uint32_t path;    // of the scopes around it; 0: none; `ignored`: nothing was being recorded
  std::uint32_t thread;  // number of the thread's log
  std::uint64_t ticks;   // when the call began
  std::uint64_t took;    // ticks; 0 where the function is not known
};

/// The call_word of the launch or other call that is recorded at `at` in a log.
inline std::uint64_t call_at(const char* at) noexcept { return get(at + record_header); }

/// What follows the header of the record of a launch or another call.
struct call_payload {
  /// The first of `count` ids stands in the header.
  call_payload(std::uint64_t of, const std::uint32_t* ids, std::uint32_t count) noexcept
      : call(of), size(8 + (count == 0 ? 0 : 4 * (count - 1))) {
    for (std::uint32_t i = 1; i < count; ++i) others[i - 1] = ids[i];
  }
  std::uint64_t call;
  std::uint32_t others[max_launch_ids];
  std::uint32_t size;  // bytes of what stands before
};

/// Adds a note for each id of the launch that is recorded at `at` in a log.
inline void append_notes(const char* at, std::uint32_t path, std::uint32_t thread,
                         std::vector<launch_note>& out) {
  const std::uint64_t word = get(at);
  const std::uint64_t call = call_at(at);
  launch_note note{static_cast<std::uint32_t>(word),
                   false,
                   kind_of(word),
                   function_of(call),
                   path,
                   thread,
                   get(at + 8),
                   ticks_of(call)};
  out.push_back(note);
  note.alias = true;
  const std::uint32_t payload = payload_bytes_of(word);
  for (std::uint32_t i = sizeof call; i < payload; i += sizeof note.correlation) {
    std::memcpy(&note.correlation, at + record_header + i, sizeof note.correlation);
    out.push_back(note);
  }
}

/// A part of a shared call that has ended, as folding found it.
struct part_note {
  std::uint32_t node;
  std::uint64_t begin;  // ticks
  std::uint64_t end;
};

/// The parts that a thread has done and that have not been joined, in the order of their ends.
class part_notes {
 public:
  std::size_t size() const noexcept { return end_ - begin_; }
  const part_note& operator[](std::size_t i) const noexcept { return notes_[begin_ + i]; }
  const part_note* begin() const noexcept { return notes_.get() + begin_; }
  const part_note* end() const noexcept { return notes_.get() + end_; }
  /// How many ended up to `until`, in ticks.
  std::size_t count_until(std::uint64_t until) const noexcept {
    std::size_t least = 0, most = size();
    while (least < most) {
      const std::size_t middle = (least + most) / 2;
      if ((*this)[middle].end <= until) least = middle + 1;
      else most = middle;
    }
    return least;
  }

  bool has_room() const noexcept { return end_ < room_; }
  /// Without memory it throws and changes nothing.
  void make_room(std::size_t more) {
    if (end_ + more <= room_) return;
    const std::size_t wider = std::max(end_ + more, 2 * room_);
    std::unique_ptr<part_note[]> notes(new part_note[wider]);  // not initialised
    std::copy(begin(), end(), notes.get() + begin_);
    notes_ = std::move(notes);
    room_ = wider;
  }
  /// After make_room(). Member by member: a note made elsewhere would be read by wider loads than
  /// it was written by, and wait for it.
  void add(std::uint32_t node, std::uint64_t begin, std::uint64_t end) noexcept {
    part_note& n = notes_[end_++];
    n.node = node;
    n.begin = begin;
    n.end = end;
  }
  /// Takes the first ones away.
  void take(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ < end_ / 2) return;  // each is moved once at the most
    std::copy(begin(), end(), notes_.get());
    end_ -= begin_;
    begin_ = 0;
    if (end_ == 0 && room_ > kept) clear();
  }
  void clear() noexcept {
    notes_.reset();
    begin_ = end_ = room_ = 0;
  }

 private:
  static constexpr std::size_t kept = 4096;
  std::unique_ptr<part_note[]> notes_;  // those from begin_ to end_; the others are room
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t room_ = 0;  // the size of notes_
};

/// The call_key()s of those of a thread's noted parts whose parameters were merged, in their order.
class merged_keys {
 public:
  std::size_t size() const noexcept { return keys_.size() - begin_; }
  std::uint64_t operator[](std::size_t i) const noexcept { return keys_[begin_ + i]; }
  /// Without memory it throws and changes nothing.
  void make_room(std::size_t more) { reserve_more(keys_, more); }
  void add(std::uint64_t key) noexcept { keys_.push_back(key); }  // after make_room()
  /// Takes the first ones away.
  void take(std::size_t count) noexcept {
    begin_ += count;
    if (begin_ < keys_.size() / 2) return;  // each is moved once at the most
    keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    if (keys_.empty()) clear();
  }
  void clear() noexcept {
    keys_ = std::vector<std::uint64_t>{};
    begin_ = 0;
  }

 private:
  std::vector<std::uint64_t> keys_;  // from begin_ on
  std::size_t begin_ = 0;
};

struct part_group;
struct merged_calls;
/// Which part of which calls the scopes of a node are; no group: of none.
struct part_stream {
  part_group* group = nullptr;
  std::uint32_t part = 0;
  std::uint32_t path = 0;  // of the node, where it is part 0
  std::uint32_t parts = 0;
  std::uint32_t site = 0;
  merged_calls* merged = nullptr;  // the node has no parameters: its parts are of several groups
  std::uint32_t arrived = 0;       // in the slice that is being joined
};

/// The place of a captured graph node in the call tree, as a plain value.
struct captured_scope {
  /// Not known: kprof does not know where the node was captured, or had no memory to note it.
  static constexpr std::uint32_t unknown_path = ~std::uint32_t{0};

  std::uint32_t path = 0;
  // how many scopes, from the innermost outwards, have this node as their first work in the graph
  std::uint32_t scopes_started_here = 0;
};

/// Where the rows of device work of a thread that has ended are now.
struct moved_rows {
  std::uint32_t log;                // its number
  std::vector<std::uint32_t> here;  // by number, from 1 on
};

/// What a log has counted since the recording began.
struct log_counts {
  std::uint64_t finished = 0;          // scopes
  std::uint64_t closed_by_parent = 0;  // scopes
  std::uint64_t never_closed = 0;      // scopes of the threads whose totals were moved here
  std::uint64_t merged_threads = 0;    // ended threads whose totals were moved here
  std::uint64_t merged_ticks = 0;      // how long those threads have run, summed

  /// Adds what an ended thread's log has counted.
  void add(const log_counts& other) noexcept {
    finished += other.finished;
    closed_by_parent += other.closed_by_parent;
    never_closed += other.never_closed;
    merged_threads += other.merged_threads;
    merged_ticks += other.merged_ticks;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
