// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LOG_FOLDING_HPP
#define KPROF_RECORD_LOG_FOLDING_HPP

// Adds the records of one thread's log to its totals, one after the other. A record that there is
// no memory for stays unfolded. Guarded by the lock of the thread's log.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/cpu_clock.hpp>
#include <kprof/record/cpu_totals.hpp>
#include <kprof/record/device_totals.hpp>
#include <kprof/record/folded.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/missing_launches.hpp>
#include <kprof/record/node_paths.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/write/attempt.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The totals of one thread, and how records become part of them.
class KPROF_DETAIL_LOCAL log_folding {
 public:
  log_folding(site_table& sites, path_table& all_paths, tree_budget& budget)
      : tree(sites, budget), device(budget), paths(tree, all_paths), shared(budget) {}

  /// Scopes that folding has seen begin and not end.
  std::uint64_t open_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const open_frame& f : stack) n += f.adopted ? 0 : 1;
    return n;
  }
  std::uint32_t number = 0;  // of the log, as in its tokens
  std::vector<open_frame> stack;
  call_tree tree;
  device_totals device;
  missing_launches missing;
  cpu_totals cpu;
  node_paths paths;
  std::vector<launch_note> launches;  // not yet taken by attribution
  part_notes parts;
  // By node, as far as joining has asked; guarded by the lock of the list of threads.
  std::vector<part_stream> part_streams;
  shared_totals shared;
  log_counts counts;

 protected:
  /// Folds the records from read_at_ to `stop`. `ticks`: the time of the record before; returns
  /// that of the last. Where it throws, read_at_ is at the first record that is not in the totals.
  std::uint64_t fold_up_to(const char* stop, std::uint64_t ticks) {
    // A local copy: the compiler must assume that the writes below change read_at_.
    for (char* at = read_at_; at < stop; read_at_ = at) {
      const std::uint64_t word = get(at);
      if (is_begin(word)) {
        ticks = fold_begin(word, at, stop);
      } else if ((word & end_bit) != 0) {
        ticks = word & ~end_bit;
        close_innermost(ticks);
        at += 8;
      } else {
        ticks = fold_other(word, at);
        at += record_size(word);
      }
    }
    return ticks;
  }
  /// How many scopes finished since the last call. Folding that runs out of memory goes on in the
  /// same chunk, so that all of them are of one.
  std::uint64_t take_finished() noexcept {
    return counts.finished - std::exchange(finished_taken_, counts.finished);
  }

  /// Folds the begin at `at` and, if it comes next, its end: most scopes have none inside and need
  /// not be stacked. Moves `at` behind them and returns the time of the last one.
  [[gnu::always_inline]] std::uint64_t fold_begin(std::uint64_t word, char*& at, const char* stop) {
    open_frame* const around = stack.empty() ? nullptr : &stack.back();
    const call_tree::place called =
        tree.child(around == nullptr ? call_tree::root : around->node, word, at + record_header);
    put(at, folded_word(word, called.number));
    const std::uint64_t start = get(at + 8);
    at += record_size(word);
    const std::uint64_t end_word = at < stop ? get(at) : 0;
    if ((end_word & end_bit) == 0) {
      if (stack.size() == stack.capacity()) widen_stack(at - record_size(word), word);
      stack.push_back({called.number, false, start, 0, false, 0, 0, cpu.latest()});
      return start;
    }
    at += 8;
    const std::uint64_t ticks = elapsed(start, end_word & ~end_bit);
    if (called.node->is_part) [[unlikely]] {
      if (!parts.has_room()) widen_parts(at - 8 - record_size(word), word);
      parts.add(called.number, start, start + ticks);
    }
    tree.finish(*called.node, ticks, ticks, end_word & ~end_bit);
    ++counts.finished;
    if (around != nullptr) around->child_ticks += ticks;
    return end_word & ~end_bit;
  }

  /// Makes room to note one more part, the same way.
  [[gnu::noinline]] void widen_parts(char* at, std::uint64_t word) {
    const std::uint64_t folded = get(at);
    put(at, word);
    parts.make_room(1);
    put(at, folded);
  }

  /// Makes room for one more open scope, whose begin is folded at `at` and was `word` before. Where
  /// that throws, the begin has not been folded.
  [[gnu::noinline]] void widen_stack(char* at, std::uint64_t word) {
    const std::uint64_t folded = get(at);
    put(at, word);
    reserve_more(stack, 1);
    put(at, folded);
  }

  /// Folds the record at `at`, which is neither a begin nor an end in order. Returns its time.
  [[gnu::noinline]] std::uint64_t fold_other(std::uint64_t word, const char* at) {
    const auto subject = static_cast<std::uint32_t>(word);
    const std::uint64_t ticks = get(at + 8);
    switch (kind_of(word)) {
      case record_kind::adopt: stack.push_back({paths.node_of(subject), true, ticks, 0}); break;
      case record_kind::end_to:
        while (stack.size() > subject) {
          close_innermost(ticks);
          ++counts.closed_by_parent;
        }
        close_innermost(ticks);
        break;
      case record_kind::kernel_launch:
      case record_kind::transfer_launch:
      case record_kind::graph_launch: note_launch(at, word, innermost_path()); break;
      case record_kind::ignored_launch: note_launch(at, word, launch_note::ignored); break;
      case record_kind::cpu_time:
        cpu.read(ticks, get(at + record_header), cpu_clock.ticks_per_ns);
        break;
      case record_kind::begin:
      case record_kind::folded: break;
    }
    return ticks;
  }

  void note_launch(const char* at, std::uint64_t word, std::uint32_t path) {
    if (launches.capacity() - launches.size() < max_launch_ids)
      reserve_more(launches, max_launch_ids);
    // An ignored launch in a scope that counts is work of its call that no record will tell of.
    if (!stack.empty() || path != launch_note::ignored)
      missing.add(stack.empty() ? call_tree::root : stack.back().node, kind_of(word));
    if (!stack.empty() && path != launch_note::ignored) stack.back().launched = true;
    append_notes(at, path, number, launches);
  }

  /// Counters of two cores may differ by a few ticks.
  static std::uint64_t elapsed(std::uint64_t start, std::uint64_t end) noexcept {
    return end > start ? end - start : 0;
  }

  /// Counts the innermost scope and takes it off the stack.
  void close_innermost(std::uint64_t now) {
    if (stack.empty()) return;
    const open_frame& f = stack.back();
    const std::uint64_t ticks = elapsed(f.start, now);
    if (!f.adopted) count_finished(f, ticks, now);
    // What was launched under an adopted context is another thread's scope's.
    const std::uint64_t child_ticks = f.adopted ? f.child_ticks : ticks;
    const bool launched = f.launched && !f.adopted;
    stack.pop_back();
    if (stack.empty()) return;
    stack.back().child_ticks += child_ticks;
    stack.back().launched |= launched;
  }
  void count_finished(const open_frame& f, std::uint64_t ticks, std::uint64_t end) {
    tree_node& n = tree[f.node];
    if (n.is_part || cpu.latest().ticks > f.start) [[unlikely]]
      note_part_and_cpu_time(f, ticks, n.is_part);
    tree.finish(n, ticks, f.child_ticks < ticks ? ticks - f.child_ticks : 0, end);
    ++counts.finished;
    if (f.launched) ++n.device_calls;
    else if (f.graph != 0) ++n.captured;
  }

  [[gnu::noinline]] void note_part_and_cpu_time(const open_frame& f, std::uint64_t ticks,
                                                bool is_part) {
    cpu.make_room_for(f.node);
    if (is_part) {
      parts.make_room(1);
      parts.add(f.node, f.start, f.start + ticks);
    }
    cpu.add_call(f.node, f.cpu, f.start, ticks);
  }

  std::uint32_t innermost_path() {
    if (stack.empty()) return 0;
    open_frame& f = stack.back();
    if (f.path == 0) f.path = paths.path_of(f.node);
    return f.path;
  }

  char* read_at_ = nullptr;

 private:
  std::uint64_t finished_taken_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
