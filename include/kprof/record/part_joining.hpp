// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_JOINING_HPP
#define KPROF_RECORD_PART_JOINING_HPP

// Puts the parts of shared calls together again: those of one operator, one set of parameters, one
// call site and one number of parts. The k-th time that part i comes, it belongs to the k-th call.
// Counts are exact whatever comes; the times of calls whose parts lie too far apart are given up.
// Not thread-safe.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Where a call belongs: the path and the thread, by the number of its log, of its part 0.
struct call_place {
  std::uint32_t path = 0;
  std::uint32_t thread = 0;
};

/// A call all of whose parts have come, in ticks.
struct joined_call {
  call_place place;
  std::uint64_t wall;     // from the first begin to the last end
  std::uint64_t busy;     // sum over the parts
  std::uint64_t longest;  // part
  std::uint64_t end = 0;  // the last one, a time
};

class part_joining {
 public:
  /// More parts than that are a mistake of the program.
  static constexpr std::uint32_t max_parts = 65536;
  /// Calls that have begun and are not complete, of which times are kept.
  static constexpr std::size_t window = 8192;

  explicit part_joining(std::uint32_t parts) : parts_(parts) {}

  /// Counts a part, in the order of time for parts of one number. `part`: less than the number of
  /// parts. Calls complete(joined_call), which must not throw, for a call that has all parts now.
  /// `most_begun`: for how many begun calls times may be kept now; those that are kept stay.
  /// Without memory it throws and changes nothing.
  template <class Complete>
  void add(std::uint32_t part, std::uint64_t begin, std::uint64_t end, call_place place,
           Complete complete, std::size_t most_begun = window) {
    if (part >= counts_.size()) counts_.resize(part + std::size_t{1});
    const std::uint64_t call = counts_[part];
    if (may_keep(call, most_begun)) merge(call, part, begin, end, place);
    ++counts_[part];
    while (!begun_.empty() && begun_.front().parts_come == parts_) {
      const begun_call& b = begun_.front();
      complete(
          joined_call{b.place, b.last > b.first ? b.last - b.first : 0, b.busy, b.longest, b.last});
      begun_.pop_front();
      ++first_begun_;
      ++joined_;
    }
    if (gives_up_ && begun_.empty()) {
      first_begun_ = given_up_to_;
      gives_up_ = false;
    }
  }

  /// Bytes held for calls that have begun and are not complete.
  std::size_t bytes() const noexcept { return begun_.size() * sizeof(begun_call); }
  std::uint32_t parts() const noexcept { return parts_; }
  /// How often part i has come; those of a number that is not less than the size never have.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  /// Calls of which all parts have come.
  std::uint64_t complete() const noexcept {
    return counts_.size() < parts_ ? 0 : *std::min_element(counts_.begin(), counts_.end());
  }
  /// Of these, those whose times are known.
  std::uint64_t joined() const noexcept { return joined_; }

 private:
  struct begun_call {
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    std::uint64_t busy = 0;
    std::uint64_t longest = 0;
    std::uint32_t parts_come = 0;
    call_place place;
  };

  /// Whether the times of this part of the call are kept; makes room for them.
  bool may_keep(std::uint64_t call, std::size_t most_begun) {
    if (call < first_begun_) return false;  // its call has been given up
    const std::uint64_t at = call - first_begun_;
    if (!gives_up_ && at >= most_begun) {
      gives_up_ = true;
      given_up_from_ = first_begun_ + begun_.size();
    }
    if (gives_up_ && call >= given_up_from_) {
      given_up_to_ = std::max(given_up_to_, call + 1);
      return false;
    }
    if (at >= begun_.size()) begun_.resize(static_cast<std::size_t>(at) + 1);
    return true;
  }
  void merge(std::uint64_t call, std::uint32_t part, std::uint64_t begin, std::uint64_t end,
             call_place place) noexcept {
    begun_call& b = begun_[static_cast<std::size_t>(call - first_begun_)];
    const std::uint64_t ticks = end > begin ? end - begin : 0;
    b.first = std::min(b.first, begin);
    b.last = std::max(b.last, end);
    b.busy += ticks;
    b.longest = std::max(b.longest, ticks);
    if (part == 0) b.place = place;
    ++b.parts_come;
  }

  std::uint32_t parts_;
  std::vector<std::uint64_t> counts_;
  std::deque<begun_call> begun_;   // calls from first_begun_ on
  std::uint64_t first_begun_ = 0;  // all before are joined or given up
  std::uint64_t joined_ = 0;
  // While a part is more than the window behind another: the times of calls from given_up_from_ up
  // to given_up_to_ are not kept. Joining goes on behind them when those before are complete.
  bool gives_up_ = false;
  std::uint64_t given_up_from_ = 0;
  std::uint64_t given_up_to_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
