// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_TIMELINE_HPP
#define KPROF_RECORD_TIMELINE_HPP

// Walks the timeline: the scopes whose records a log still holds. Needs the log's lock.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/log_words.hpp>

#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// When the first record of a folded chunk was made, in ticks.
inline std::uint64_t first_ticks(chunk& c) noexcept {
  if (c.end == c.begin()) return c.last_ticks;
  const std::uint64_t word = get(c.begin());
  return (word & end_bit) != 0 ? word & ~end_bit : get(c.begin() + 8);
}

/// What the program has said of a call: the number it is named by, or that of the call it belongs
/// to.
struct call_note {
  std::uint32_t number = 0;
  bool names = true;
  std::uint64_t scope = 0;  // the how manieth that was visited
};

/// Calls visit(node, start, end) for each scope whose begin and end have both been walked over.
template <class Visit>
class timeline_walk {
 public:
  /// `notes`: where those of the visited scopes go, or nullptr. `depth`: of scopes open already.
  timeline_walk(Visit& visit, std::uint64_t depth, std::vector<call_note>* notes)
      : visit_(visit), depth_(depth), notes_(notes) {}

  /// Goes on behind a hole, where so many scopes are open.
  void leap_to(std::uint64_t depth) noexcept {
    depth_ = depth;
    starts_.clear();
    waiting_.clear();
  }

  /// Walks over the records from `at` to `stop`, which have been folded.
  void over(const char* at, const char* stop) {
    while (at < stop) {
      const std::uint64_t word = get(at);
      if ((word & end_bit) != 0) {
        close(word & ~end_bit);
        at += 8;
        continue;
      }
      const auto subject = static_cast<std::uint32_t>(word);
      switch (kind_of(word)) {
        case record_kind::begin: break;  // is `folded` here
        case record_kind::folded: starts_.push_back({subject, get(at + 8), ++depth_}); break;
        case record_kind::adopt: starts_.push_back({call_tree::root, get(at + 8), ++depth_}); break;
        case record_kind::end_to:
          while (depth_ >= subject && depth_ != 0) close(get(at + 8));
          break;
        case record_kind::call_number: note(subject, true); break;
        case record_kind::belongs_to: note(subject, false); break;
        case record_kind::kernel_launch:
        case record_kind::transfer_launch:
        case record_kind::graph_launch:
        case record_kind::ignored_launch:
        case record_kind::cpu_time:
        case record_kind::step:
        case record_kind::host_call: break;
      }
      at += record_size(word);
    }
  }

 private:
  struct start {
    std::uint32_t node;  // the root: not a scope
    std::uint64_t ticks;
    std::uint64_t depth;
  };

  void close(std::uint64_t ticks) {
    // A scope whose begin has been recycled has no start here.
    if (!starts_.empty() && starts_.back().depth == depth_) {
      if (starts_.back().node != call_tree::root) {
        visit_(starts_.back().node, starts_.back().ticks, ticks);
        for (; !waiting_.empty() && waiting_.back().scope == depth_; waiting_.pop_back())
          notes_->push_back({waiting_.back().number, waiting_.back().names, visited_});
        ++visited_;
      }
      starts_.pop_back();
    }
    while (!waiting_.empty() && waiting_.back().scope >= depth_) waiting_.pop_back();
    if (depth_ != 0) --depth_;
  }
  void note(std::uint32_t number, bool names) {
    if (notes_ != nullptr && !starts_.empty() && starts_.back().depth == depth_)
      waiting_.push_back({number, names, depth_});
  }

  Visit& visit_;
  std::uint64_t depth_;  // scopes open at this place of the log
  std::vector<start> starts_;
  std::uint64_t visited_ = 0;
  std::vector<call_note>* notes_;
  std::vector<call_note> waiting_;  // of open scopes; in place of the scope, its depth
};

}  // namespace detail
KPROF_DETAIL_END

#endif
