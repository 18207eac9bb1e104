// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_JOINING_HPP
#define KPROF_RECORD_PART_JOINING_HPP

// Puts the parts of shared calls together again: those of one operator, one set of parameters, one
// call site and one number of parts. The k-th time that part i comes, it belongs to the k-th call.
// Counts are exact whatever comes; the times of calls whose parts lie too far apart are given up.
// Not thread-safe.

#include <kprof/build_options.hpp>
#include <kprof/record/tree_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Where a call belongs: the path and the thread, by the number of its log, of its part 0.
struct call_place {
  std::uint32_t path = 0;
  std::uint32_t thread = 0;
  bool operator==(const call_place&) const = default;
};

/// A call all of whose parts have come, in ticks.
struct joined_call {
  call_place place;
  std::uint64_t wall;         // from the first begin to the last end
  std::uint64_t busy;         // sum over the parts
  std::uint64_t longest;      // part
  std::uint64_t end = 0;      // the last one, a time
  std::uint64_t elapsed = 0;  // of `wall`, what comes after the end of the call before
};

/// What calls that have begun and are not complete may take, with room that is left for more: an
/// eighth of the memory for totals, or parameters would be merged for them. A part that never comes
/// must not leave the calls of other operators without times, so that none takes more than half of
/// what is left.
class joining_memory {
 public:
  explicit joining_memory(tree_budget& budget) : budget_(&budget) {}

  bool take(std::size_t bytes) noexcept {
    const std::uint64_t most = budget_->limit() / 8;
    if (budget_->spent() || taken_ >= most || bytes > (most - taken_) / 2) return false;
    taken_ += bytes;
    budget_->add(bytes);
    return true;
  }
  void give_back(std::size_t bytes) noexcept {
    taken_ -= bytes;
    budget_->remove(bytes);
  }
  /// Whether so many bytes may stay with calls none of which has begun: threads that have run apart
  /// once do so again, and new memory costs more than joining. All such have half at the most.
  bool leave(std::size_t bytes) noexcept {
    if (budget_->nearly_spent() || left_ + bytes > budget_->limit() / 16) return false;
    left_ += bytes;
    return true;
  }
  /// What was left is used again, or about to be given back.
  void use_again(std::size_t bytes) noexcept { left_ -= bytes; }
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  tree_budget* budget_;
  std::uint64_t taken_ = 0;
  std::uint64_t left_ = 0;  // of it, with calls none of which has begun
};

class part_joining {
 public:
  /// More parts than that are a mistake of the program.
  static constexpr std::uint32_t max_parts = 65536;

  /// Begun calls for which there is room at first.
  static constexpr std::size_t fewest = 16;

  /// `room`: for so many begun calls at first, a power of two.
  part_joining(std::uint32_t parts, joining_memory& memory, std::size_t room = fewest)
      : parts_(parts), memory_(&memory), first_room_(room) {}
  ~part_joining() {
    use_again();
    memory_->give_back(bytes());
  }
  part_joining(const part_joining&) = delete;
  part_joining& operator=(const part_joining&) = delete;

  /// Before the first part of this number comes. `part`: less than the number of parts. Without
  /// memory it throws and changes nothing.
  void expect(std::uint32_t part) {
    if (part >= counts_.size()) counts_.resize(part + std::size_t{1});
  }

  /// Counts the next `n` parts of this number, in the order of time, which have a begin and an end
  /// in ticks. Calls complete(joined_call), which must not throw, for each call that has all parts
  /// now. `place`: of the calls, where this is part 0.
  template <class Note, class Complete>
  void add(std::uint32_t part, const Note* notes, std::size_t n, call_place place,
           Complete complete) noexcept {
    std::uint64_t call = counts_[part];
    counts_[part] = call + n;
    while (n != 0) {
      const std::uint64_t at = call - begun_.first;
      std::size_t some = 1;
      if (at < begun_.count) {
        some = std::min<std::size_t>(n, begun_.count - at);
        go_on(call, part, notes, some, place);
        if (at == 0) finish(complete);
      } else if (at == begun_.count && begun_.count < begun_.room) {
        some = std::min<std::size_t>(n, begun_.room - begun_.count);
        begin(call, notes, some, place);
        if (parts_ == 1) finish(complete);
      } else if (has_further_room(call)) {
        continue;
      }
      call += some;
      notes += some;
      n -= some;
    }
  }

  /// Bytes held for calls that have begun and are not complete.
  std::size_t bytes() const noexcept { return capacity_ * sizeof(begun_call); }
  std::uint32_t parts() const noexcept { return parts_; }
  /// How often part i has come; those of a number that is not less than the size never have.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  /// Calls of which all parts have come.
  std::uint64_t complete() const noexcept {
    return counts_.size() < parts_ ? 0 : *std::min_element(counts_.begin(), counts_.end());
  }
  /// Of these, those whose times are known.
  std::uint64_t joined() const noexcept { return joined_; }

  struct begun_call {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t busy;
    std::uint64_t longest;
    std::uint32_t parts_come;
    call_place place;
  };

 private:
  // Calls for which there is always room once there was: in step, threads need no more.
  static constexpr std::size_t kept = 256;

  /// Calls that have begun: from `first` on, each at its number modulo a power of two.
  struct ring {
    std::uint64_t first = 0;  // all before are joined or given up
    std::uint64_t count = 0;
    std::uint64_t room = 0;  // 0 also while times are given up, and no call begins
    std::uint64_t mask = 0;
  };

  template <class Note>
  static std::uint64_t ticks_of(const Note& note) noexcept {
    return note.end > note.begin ? note.end - note.begin : 0;
  }
  /// Parts come of calls of which none has; there is room.
  template <class Note>
  void begin(std::uint64_t call, const Note* notes, std::size_t n, call_place place) noexcept {
    use_again();
    begun_call* const calls = calls_.get();
    const std::uint64_t mask = begun_.mask;
    begun_.count += n;
    for (const Note* const stop = notes + n; notes != stop; ++notes, ++call) {
      const std::uint64_t ticks = ticks_of(*notes);
      calls[call & mask] = {notes->begin, notes->end, ticks, ticks, 1, place};
    }
  }
  /// Further parts come of calls that have begun.
  template <class Note>
  void go_on(std::uint64_t call, std::uint32_t part, const Note* notes, std::size_t n,
             call_place place) noexcept {
    begun_call* const calls = calls_.get();
    const std::uint64_t mask = begun_.mask;
    for (const Note* const stop = notes + n; notes != stop; ++notes, ++call) {
      const std::uint64_t ticks = ticks_of(*notes);
      begun_call& c = calls[call & mask];
      c.first = std::min(c.first, notes->begin);
      c.last = std::max(c.last, notes->end);
      c.busy += ticks;
      c.longest = std::max(c.longest, ticks);
      ++c.parts_come;
      if (part == 0) c.place = place;
    }
  }
  /// Takes away the calls that have all parts. They are the first ones: each part of a call came
  /// for those before it too.
  template <class Complete>
  void finish(Complete& complete) noexcept {
    const begun_call* const calls = calls_.get();
    const std::uint64_t mask = begun_.mask, last = begun_.first + begun_.count;
    std::uint64_t call = begun_.first, last_end = last_end_;
    for (; call != last && calls[call & mask].parts_come == parts_; ++call) {
      const begun_call& c = calls[call & mask];
      const std::uint64_t wall = c.last > c.first ? c.last - c.first : 0;
      const std::uint64_t after = c.last > last_end ? c.last - last_end : 0;
      last_end = std::max(last_end, c.last);
      complete(joined_call{c.place, wall, c.busy, c.longest, c.last, std::min(wall, after)});
    }
    last_end_ = last_end;
    joined_ += call - begun_.first;
    begun_.first = call;
    begun_.count = last - call;
    if (begun_.count == 0) none_begun();
  }

  /// Whether there is room for one more call now; false where the times of this one are given up.
  [[gnu::noinline]] bool has_further_room(std::uint64_t call) noexcept {
    if (call < begun_.first) return false;
    if (!gives_up_ && widen()) return true;
    gives_up_ = true;
    begun_.room = 0;
    given_up_to_ = std::max(given_up_to_, call + 1);
    if (begun_.count == 0) none_begun();
    return false;
  }
  bool widen() noexcept {
    const std::size_t wanted = std::max(first_room_, 2 * capacity_), more = wanted - capacity_;
    if (!memory_->take(more * sizeof(begun_call))) return false;
    std::unique_ptr<begun_call[]> wider(new (std::nothrow) begun_call[wanted]);
    if (wider == nullptr) {
      memory_->give_back(more * sizeof(begun_call));
      return false;
    }
    for (std::uint64_t c = begun_.first; c != begun_.first + begun_.count; ++c)
      wider[c & (wanted - 1)] = calls_[c & begun_.mask];
    calls_ = std::move(wider);
    set_capacity(wanted);
    return true;
  }
  void set_capacity(std::size_t calls) noexcept {
    capacity_ = calls;
    begun_.room = gives_up_ ? 0 : calls;
    begun_.mask = calls - 1;
  }
  void none_begun() noexcept {
    if (!gives_up_ && capacity_ <= kept) return;
    if (gives_up_) begun_.first = given_up_to_;
    gives_up_ = false;
    if (capacity_ > kept && !is_left_) is_left_ = memory_->leave(bytes());
    if (capacity_ > kept && !is_left_) {
      memory_->give_back(bytes());
      calls_.reset();
      capacity_ = 0;
    }
    set_capacity(capacity_);
  }
  void use_again() noexcept {
    if (!is_left_) [[likely]]
      return;
    is_left_ = false;
    memory_->use_again(bytes());
  }

  std::uint32_t parts_;
  joining_memory* memory_;
  std::size_t first_room_;
  std::vector<std::uint64_t> counts_;
  ring begun_;
  std::unique_ptr<begun_call[]> calls_;
  std::size_t capacity_ = 0;
  bool is_left_ = false;  // its memory: see joining_memory::leave
  std::uint64_t joined_ = 0;
  std::uint64_t last_end_ = 0;  // of those; they end in the order of calls
  // While a part is further behind another than there is memory for: the times of calls after those
  // that have begun, up to given_up_to_, are not kept. Joining goes on behind them when those
  // before are complete.
  bool gives_up_ = false;
  std::uint64_t given_up_to_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
