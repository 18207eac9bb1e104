// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_PART_CALLS_HPP
#define KPROF_RECORD_PART_CALLS_HPP

// All shared calls of the process: takes the parts that threads have done out of their logs and
// joins them. Guarded by the lock of the list of threads.

#include <kprof/build_options.hpp>
#include <kprof/record/part_groups.hpp>
#include <kprof/record/part_joining.hpp>
#include <kprof/record/part_payload.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL part_calls {
 public:
  part_calls(const site_table& sites, tree_budget& budget)
      : sites_(&sites), groups_(sites, budget) {}
  part_calls(const part_calls&) = delete;
  part_calls& operator=(const part_calls&) = delete;

  void clear() noexcept { groups_.clear(); }

  /// Takes the parts that ended up to `until`, in ticks, out of the logs, and joins them. All logs
  /// have been folded up to then. `find`: the log of a thread by its number. Without memory it
  /// throws, and goes on the next time.
  template <class Find>
  void join(const std::vector<thread_log*>& logs, std::uint64_t until, Find find) {
    runs_.clear();
    slice_ = slice;
    for (thread_log* log : logs) {
      const std::lock_guard own(log->mutex());
      prepare(*log, until);
    }
    arrived_.reserve(runs_.size() * slice);
    nodes_.reserve(slice);
    mixed_.reserve(runs_.size() * slice);
    mixed_ends_.reserve(runs_.size() + 1);
    if (slice_ != slice) merged_.reserve(runs_.size() * slice_);
    // From here on nothing fails.
    for (run& r : runs_) {
      const std::lock_guard own(r.log->mutex());
      r.slice_end = end_of_slice(*r.log, r.left);
    }
    ++join_number_;
    while (!runs_.empty()) join_slice(find);
    totals_.clear();
  }

  const part_groups& groups() const noexcept { return groups_; }

 private:
  /// The parts of one log that are to be joined, in the order of their ends.
  struct run {
    thread_log* log;
    std::size_t left;
    std::uint64_t slice_end;        // when the last one of the next slice ended
    part_stream* streams;           // by node
    std::size_t next = 0, end = 0;  // of `arrived_`
  };
  /// One without parameters. No group: there was no memory for it.
  struct merged_part {
    part_stream of;
    std::uint64_t key;
  };
  /// One that several threads do.
  struct mixed_part {
    const part_note* times;
    const part_stream* of;
    std::uint32_t thread;
  };

  /// Finds out what the parts of a log are of. Its lock is held.
  void prepare(thread_log& log, std::uint64_t until) {
    const std::size_t count = log.parts.count_until(until);
    if (count == 0) return;
    const std::vector<tree_node>& nodes = log.tree.nodes();
    std::vector<part_stream>& streams = log.part_streams;
    if (streams.capacity() < nodes.size()) streams.reserve(nodes.capacity());
    for (auto i = static_cast<std::uint32_t>(streams.size()); i < nodes.size(); ++i)
      streams.push_back(nodes[i].is_part ? stream_of(log, i) : part_stream{});
    if (log.keys_of_merged.size() != 0) slice_ = slice_of_merged;
    reserve_more(runs_, 1);
    runs_.push_back({&log, count, 0, streams.data()});
  }
  std::uint64_t end_of_slice(const thread_log& log, std::size_t left) const noexcept {
    return left > slice_ ? log.parts[slice_ - 1].end : ~std::uint64_t{0};
  }
  part_stream stream_of(thread_log& log, std::uint32_t node) {
    const tree_node& n = log.tree[node];
    const payload p = log.tree.payload_of(n);
    const part_number number = part_number_of(*(*sites_)[n.site].op, p, n.merged);
    part_stream out{.part = number.part, .parts = number.parts, .site = n.site};
    if (!is_possible(number)) return out;
    out.path = number.part == 0 ? own_path(log, node) : 0;
    if (n.merged) {
      out.merged = &groups_.merged_at(n.site, number.parts);
      out.merged->lost.resize(std::max<std::size_t>(out.merged->lost.size(), number.part + 1U));
      return out;
    }
    part_group& group = groups_.of(n.site, p, number.parts);
    if (number.part < group.threads.size() && group.threads[number.part] == log.number)
      group.has_several_paths = true;
    expect(group, number.part, log.number);
    out.group = &group;
    return out;
  }
  /// Before a thread's first part of this number comes.
  static void expect(part_group& group, std::uint32_t part, std::uint32_t log) {
    if (part >= group.threads.size()) group.threads.resize(part + std::size_t{1});
    group.calls.expect(part);
    std::uint32_t& thread = group.threads[part];
    if (thread == 0) thread = log;
    else if (thread != log) {
      thread = part_group::several_threads;
      group.has_mixed_parts = true;
    }
  }
  /// The path of a node; 0 where memory for paths was spent, and that path names another node.
  static std::uint32_t own_path(thread_log& log, std::uint32_t node) {
    const std::uint32_t own = log.paths.path_of(node);
    for (std::uint32_t i = node, path = own; i != call_tree::root;) {
      i = log.tree[i].parent;
      const std::uint32_t around = log.paths.path_of(i);
      if (std::exchange(path, around) == around) return 0;
    }
    return own;
  }

  /// Joins the next parts, of each thread what ended before the same moment: otherwise a thread
  /// would be as many calls ahead of the others as it has noted parts.
  template <class Find>
  void join_slice(Find find) noexcept {
    std::uint64_t until = ~std::uint64_t{0};
    for (const run& r : runs_) until = std::min(until, r.slice_end);
    arrived_.clear();
    merged_.clear();
    groups_.next_slice();
    for (run& r : runs_) take(r, until);
    next_merged_ = 0;
    mixed_.clear();
    mixed_ends_.assign(1, 0);
    for (const run& r : runs_) {
      join(arrived_.data() + r.next, arrived_.data() + r.end, r, find);
      if (mixed_ends_.back() != mixed_.size()) mixed_ends_.push_back(mixed_.size());
    }
    // Only parts of one number must come in the order of time, and most are of one thread.
    merge_mixed();
    for (const mixed_part& m : mixed_) join(m.times, m.times + 1, *m.of, m.thread, find);
    for (const merged_part& m : merged_) groups_.settle(m.key);
    std::erase_if(runs_, [](const run& r) { return r.left == 0; });
  }
  /// Moves the parts of one slice to `arrived_`. The log's own thread may be noting more.
  void take(run& r, std::uint64_t until) noexcept {
    const std::lock_guard own(r.log->mutex());
    const part_note* const first = r.log->parts.begin();
    const part_note* stop = first + std::min(slice_, r.left);
    if (r.slice_end > until)
      stop = std::upper_bound(first, stop, until,
                              [](std::uint64_t time, const part_note& n) { return time < n.end; });
    r.next = arrived_.size();
    arrived_.insert(arrived_.end(), first, stop);
    r.end = arrived_.size();
    if (r.log->keys_of_merged.size() != 0) take_merged(r, first, stop);
    else put_by_node(r, first, stop);
    r.left -= r.end - r.next;
    r.log->parts.take(r.end - r.next);
    r.slice_end = end_of_slice(*r.log, r.left);
  }
  /// Puts the parts of the slice, which are in the order of time, by node: threads take turns
  /// between operators, and parts of one are quicker to join together. Parts that a thread does on
  /// several paths, or several threads do, must stay in the order of time.
  void put_by_node(const run& r, const part_note* first, const part_note* stop) noexcept {
    nodes_.clear();
    bool stays = false;
    for (const part_note* n = first; n != stop; ++n) {
      part_stream& stream = r.streams[n->node];
      if (stream.arrived++ != 0) continue;
      nodes_.push_back(n->node);
      stays = stays || (stream.group != nullptr &&
                        (stream.group->has_several_paths || stream.group->has_mixed_parts));
    }
    auto at = static_cast<std::uint32_t>(r.next);
    for (const std::uint32_t node : nodes_) at += std::exchange(r.streams[node].arrived, at);
    if (nodes_.size() > 1 && !stays)
      for (; first != stop; ++first) arrived_[r.streams[first->node].arrived++] = *first;
    for (const std::uint32_t node : nodes_) r.streams[node].arrived = 0;
  }
  /// Finds the groups of those of these parts that have no parameters. Its lock is held.
  void take_merged(const run& r, const part_note* first, const part_note* stop) noexcept {
    std::size_t taken = 0;
    for (; first != stop; ++first) {
      const std::uint32_t node = first->node;
      if (!r.log->tree[node].merged) continue;
      const std::uint64_t key = r.log->keys_of_merged[taken++];
      merged_part part{r.streams[node], key};
      if (part.of.merged == nullptr) continue;  // there is no such part
      static_cast<void>(attempt([&] {
        part_group* const group = groups_.of_merged(key, part.of.site, part.of.parts);
        if (group != nullptr) expect(*group, part.of.part, r.log->number);
        part.of.group = group;
      }));
      merged_.push_back(part);
    }
    r.log->keys_of_merged.take(taken);
  }
  /// Joins these parts of one thread, and puts aside what several threads do.
  template <class Find>
  void join(const part_note* first, const part_note* stop, const run& r, Find find) noexcept {
    while (first != stop) {
      const part_note* const same = first;
      do ++first;
      while (first != stop && first->node == same->node);
      const part_stream& stream = r.streams[same->node];
      if (stream.merged != nullptr) join_merged(same, first, r, find);
      if (stream.group == nullptr) continue;
      if (!stream.group->has_mixed_parts ||
          stream.group->threads[stream.part] != part_group::several_threads)
        join(same, first, stream, r.log->number, find);
      else
        for (const part_note* n = same; n != first; ++n)
          mixed_.push_back({n, &stream, r.log->number});
    }
  }

  template <class Find>
  void join_merged(const part_note* first, const part_note* stop, const run& r,
                   Find find) noexcept {
    for (; first != stop; ++first) {
      const part_stream& stream = merged_[next_merged_++].of;
      if (stream.group == nullptr) {
        ++stream.merged->lost[stream.part];
        stream.merged->has_lost = true;
      } else if (stream.group->threads[stream.part] == part_group::several_threads) {
        mixed_.push_back({first, &stream, r.log->number});
      } else {
        join(first, first + 1, stream, r.log->number, find);
      }
    }
  }

  static bool ended_before(const mixed_part& a, const mixed_part& b) noexcept {
    return a.times->end < b.times->end;
  }
  void merge_mixed() {
    const auto at = [this](std::size_t i) {
      return mixed_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::vector<std::size_t>& ends = mixed_ends_;
    while (ends.size() > 2) {
      std::size_t kept = 1;
      for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
        const std::size_t end = ends[std::min(i + 2, ends.size() - 1)];
        std::inplace_merge(at(ends[i]), at(ends[i + 1]), at(end), &ended_before);
        ends[kept++] = end;
      }
      ends.resize(kept);
    }
  }

  /// The next parts of one number.
  template <class Find>
  void join(const part_note* first, const part_note* stop, const part_stream& stream,
            std::uint32_t thread, Find find) noexcept {
    part_group& group = *stream.group;
    const auto count = [&](const joined_call& call) __attribute__((always_inline)) {
      if (group.last_join != join_number_ || group.last_place != call.place) [[unlikely]]
        look_up(group, call.place, find);
      // Without memory the call counts, and its times are not known.
      const place_totals& at = group.last_totals;
      if (at.sums == nullptr) return;
      at.all->add(*at.sums, call);
      if (at.of_merged) ++group.joined_at_merged;
    };
    group.calls.add(stream.part, first, static_cast<std::size_t>(stop - first),
                    {stream.path, thread}, count);
  }

  template <class Find>
  [[gnu::noinline]] void look_up(part_group& group, call_place place, Find find) noexcept {
    group.last_totals = totals_of(place, find);
    group.last_place = place;
    group.last_join = join_number_;
  }
  template <class Find>
  place_totals totals_of(call_place place, Find find) noexcept {
    place_totals out;
    static_cast<void>(attempt([&] {
      place_totals& known = totals_[std::uint64_t{place.path} << 32U | place.thread];
      if (known.sums == nullptr)
        if (thread_log* const log = find(place.thread); log != nullptr) {
          const std::lock_guard own(log->mutex());
          const std::uint32_t node = log->paths.node_of(place.path);
          // The root where memory for paths was spent: then only the number of calls is known.
          const tree_node& n = log->tree[node];
          if (n.is_part) known = {&log->shared, &log->shared.of(node), n.merged};
        }
      out = known;
    }));
    return out;
  }

  // So many parts of a thread are joined at once: their calls stay in the cache.
  static constexpr std::size_t slice = 128;
  // Where parameters are merged, fewer groups without parameters live at a time.
  static constexpr std::size_t slice_of_merged = 32;

  const site_table* sites_;
  part_groups groups_;
  std::vector<run> runs_;      // of this join
  std::size_t slice_ = slice;  // the same
  // Of a slice: its parts; those that several threads do; where those of each thread end.
  std::vector<part_note> arrived_;
  std::vector<std::uint32_t> nodes_;  // of one run's
  std::vector<merged_part> merged_;   // what those of `arrived_` without parameters are of
  std::size_t next_merged_ = 0;       // to be joined
  std::vector<mixed_part> mixed_;
  std::vector<std::size_t> mixed_ends_;
  std::unordered_map<std::uint64_t, place_totals> totals_;  // of this join, by path and thread
  std::uint64_t join_number_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
