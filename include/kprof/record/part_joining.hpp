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
  std::uint64_t wall;     // from the first begin to the last end
  std::uint64_t busy;     // sum over the parts
  std::uint64_t longest;  // part
  std::uint64_t end = 0;  // the last one, a time
};

/// What calls that have begun and are not complete may take: an eighth of the memory for totals, or
/// parameters would be merged for them. A part that never comes must not leave the calls of other
/// operators without times, so that none takes more than half of what is left.
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
  std::uint64_t taken() const noexcept { return taken_; }

 private:
  tree_budget* budget_;
  std::uint64_t taken_ = 0;
};

class part_joining {
 public:
  /// More parts than that are a mistake of the program.
  static constexpr std::uint32_t max_parts = 65536;

  part_joining(std::uint32_t parts, joining_memory& memory) : parts_(parts), memory_(&memory) {}
  ~part_joining() { memory_->give_back(bytes()); }
  part_joining(const part_joining&) = delete;
  part_joining& operator=(const part_joining&) = delete;

  /// Before the first part of this number comes. `part`: less than the number of parts. Without
  /// memory it throws and changes nothing.
  void expect(std::uint32_t part) {
    if (part >= counts_.size()) counts_.resize(part + std::size_t{1});
  }

  /// Counts a part, in the order of time for parts of one number. Calls complete(joined_call),
  /// which must not throw, for a call that has all parts now.
  template <class Complete>
  void add(std::uint32_t part, std::uint64_t begin, std::uint64_t end, call_place place,
           Complete complete) noexcept {
    const std::uint64_t call = counts_[part]++;
    if (call < first_begun_) return;  // its call has been given up
    const std::uint64_t at = call - first_begun_;
    if (gives_up_ || (at == begun_count_ && !begin_call())) [[unlikely]] {
      if (!keeps_while_giving_up(call)) return;
    }
    begun_call& b = begun_[call & (capacity_ - 1)];
    const std::uint64_t ticks = end > begin ? end - begin : 0;
    b.first = std::min(b.first, begin);
    b.last = std::max(b.last, end);
    b.busy += ticks;
    b.longest = std::max(b.longest, ticks);
    if (part == 0) b.place = place;
    // Calls before this one are complete too: each of its parts came for them before.
    if (++b.parts_come == parts_) {
      complete(
          joined_call{b.place, b.last > b.first ? b.last - b.first : 0, b.busy, b.longest, b.last});
      ++first_begun_;
      ++joined_;
      if (--begun_count_ == 0) none_begun();
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
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    std::uint64_t busy = 0;
    std::uint64_t longest = 0;
    std::uint32_t parts_come = 0;
    call_place place;
  };

 private:
  static constexpr std::size_t fewest = 16;
  // Calls for which there is always room once there was: in step, threads need no more.
  static constexpr std::size_t kept = 256;

  /// One more call; false where there is no memory.
  bool begin_call() noexcept {
    if (begun_count_ == capacity_ && !widen()) return false;
    begun_[(first_begun_ + begun_count_++) & (capacity_ - 1)] = begun_call{};
    return true;
  }
  [[gnu::noinline]] bool widen() noexcept {
    const std::size_t wanted = std::max(fewest, 2 * capacity_), more = wanted - capacity_;
    if (!memory_->take(more * sizeof(begun_call))) return false;
    std::unique_ptr<begun_call[]> wider(new (std::nothrow) begun_call[wanted]);
    if (wider == nullptr) {
      memory_->give_back(more * sizeof(begun_call));
      return false;
    }
    for (std::uint64_t c = first_begun_; c != first_begun_ + begun_count_; ++c)
      wider[c & (wanted - 1)] = begun_[c & (capacity_ - 1)];
    begun_ = std::move(wider);
    capacity_ = wanted;
    return true;
  }

  /// While calls are given up, and for the first of them: whether the times of this one are kept.
  [[gnu::noinline]] bool keeps_while_giving_up(std::uint64_t call) noexcept {
    if (!gives_up_) {
      gives_up_ = true;
      given_up_from_ = call;
    }
    if (call < given_up_from_) return true;
    given_up_to_ = std::max(given_up_to_, call + 1);
    if (begun_count_ == 0) none_begun();
    return false;
  }
  void none_begun() noexcept {
    if (gives_up_) {
      first_begun_ = given_up_to_;
      gives_up_ = false;
    }
    if (capacity_ <= kept) return;
    memory_->give_back(bytes());
    begun_.reset();
    capacity_ = 0;
  }

  std::uint32_t parts_;
  joining_memory* memory_;
  std::vector<std::uint64_t> counts_;
  // Calls from first_begun_ on, each at its number modulo the capacity, a power of two.
  std::unique_ptr<begun_call[]> begun_;
  std::size_t capacity_ = 0;
  std::size_t begun_count_ = 0;
  std::uint64_t first_begun_ = 0;  // all before are joined or given up
  std::uint64_t joined_ = 0;
  // While a part is further behind another than there is memory for: the times of calls from
  // given_up_from_ up to given_up_to_ are not kept. Joining goes on behind them when those before
  // are complete.
  bool gives_up_ = false;
  std::uint64_t given_up_from_ = 0;
  std::uint64_t given_up_to_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
