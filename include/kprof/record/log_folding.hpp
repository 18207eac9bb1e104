// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LOG_FOLDING_HPP
#define KPROF_RECORD_LOG_FOLDING_HPP

// Adds the records of one thread's log to its totals, one after the other. A record that there is
// no memory for stays unfolded. Guarded by the lock of the thread's log.

#include <kprof/build_options.hpp>
#include <kprof/record/call_totals.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/cpu_clock.hpp>
#include <kprof/record/cpu_totals.hpp>
#include <kprof/record/device_totals.hpp>
#include <kprof/record/folded.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/missing_launches.hpp>
#include <kprof/record/node_paths.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/record/step_totals.hpp>
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
      : tree(sites, budget),
        device(budget),
        calls(budget),
        paths(tree, all_paths),
        shared(budget),
        steps(budget) {}

  /// Scopes that folding has seen begin and not end.
  std::uint64_t open_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const open_frame& f : stack) n += f.adopted ? 0 : 1;
    return n;
  }
  /// Ticks that the thread has spent in scopes until `now`, in those that are still open too.
  std::uint64_t ticks_in_scopes(std::uint64_t now) const noexcept {
    std::uint64_t ticks = 0;
    for (const tree_node& n : tree.nodes()) ticks += n.self;
    bool in_scope = false;
    for (const open_frame& f : stack) {
      if (!in_scope && f.adopted) continue;
      if (!in_scope) ticks += elapsed(f.start, now);
      in_scope = true;
      ticks -= f.child_ticks;  // they are in the tree
    }
    return ticks;
  }
  /// The innermost scopes, so many, captured work of other scopes, or set some up: where they
  /// do nothing else, their calls did no work.
  void capture_others(std::size_t scopes = ~std::size_t{0}) noexcept {
    for (std::size_t i = stack.size(); scopes != 0 && i-- > 0; --scopes)
      if (!stack[i].adopted && stack[i].graph == 0) stack[i].graph = open_frame::others;
  }
  std::uint32_t number = 0;  // of the log, as in its tokens
  std::vector<open_frame> stack;
  call_tree tree;
  device_totals device;
  call_totals calls;  // of the device's library
  missing_launches missing;
  cpu_totals cpu;
  node_paths paths;
  std::vector<launch_note> launches;    // not yet taken by attribution
  std::vector<moved_rows> merged_rows;  // of threads whose totals were moved here
  part_notes parts;
  merged_keys keys_of_merged;  // of `parts`
  // By node, as far as joining has asked; guarded by the lock of the list of threads.
  std::vector<part_stream> part_streams;
  shared_totals shared;
  step_totals steps;
  log_counts counts;
  // In ticks: when the thread was first seen, or the recording began if that was later.
  std::uint64_t begin = 0;

 protected:
  /// Whether formulas count the call whole, whatever is recorded of it: only operators have any.
  bool has_formulas(const open_frame& f) const noexcept {
    const work& values = tree.nodes()[f.node].values;
    return values.has_flops != 0 || values.has_bytes != 0;
  }
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
      stack.push_back(
          {called.number, false, start, 0, false, 0, 0, cpu.latest(), tree.merged_key()});
      return start;
    }
    at += 8;
    const std::uint64_t end = end_word & ~end_bit, ticks = elapsed(start, end);
    if (called.node->is_noted) [[unlikely]] {
      if (!called.node->is_part || !parts.has_room() || called.node->merged)
        prepare_to_note(called, start, ticks, at - 8 - record_size(word), word);
      if (called.node->is_part) {
        parts.add(called.number, start, start + ticks);
        count_part(*called.node, ticks, ticks, end);
      } else {
        count_noted(*called.node, ticks, ticks, end);
      }
    } else {
      tree.finish(*called.node, ticks, ticks, end);
    }
    ++counts.finished;
    if (around != nullptr) around->child_ticks += ticks;
    return end;
  }

  /// The durations of parts are not counted: joining counts those of whole calls.
  [[gnu::noinline]] static void count_part(tree_node& n, std::uint64_t ticks,
                                           std::uint64_t self_ticks, std::uint64_t end) noexcept {
    n.note_first({ticks, end});
    n.count(ticks, self_ticks, end);
  }
  [[gnu::noinline]] void count_noted(tree_node& n, std::uint64_t ticks, std::uint64_t self_ticks,
                                     std::uint64_t end) {
    if (n.is_part) count_part(n, ticks, self_ticks, end);
    else tree.finish(n, ticks, self_ticks, end);
  }
  /// Makes room for a part of a shared call, or notes a step, whose begin is folded at `at` and was
  /// `word` before. Where that throws, the begin has not been folded.
  [[gnu::noinline]] void prepare_to_note(const call_tree::place& called, std::uint64_t start,
                                         std::uint64_t ticks, char* at, std::uint64_t word) {
    const std::uint64_t folded = get(at);
    put(at, word);
    if (called.node->is_part) make_room_for_part(*called.node, tree.merged_key());
    else note_step(start, ticks, stack.size());
    put(at, folded);
  }
  /// Before parts.add(). Without memory it throws and changes nothing.
  void make_room_for_part(const tree_node& n, std::uint64_t call_key) {
    parts.make_room(1);
    if (!n.merged) return;
    keys_of_merged.make_room(1);
    keys_of_merged.add(call_key);
  }
  /// A region that is a step has ended, inside so many scopes of the stack.
  void note_step(std::uint64_t start, std::uint64_t ticks, std::size_t around) {
    for (std::size_t i = 0; i < around; ++i)
      if (tree[stack[i].node].is_step) {
        ++steps.nested;
        return;
      }
    steps.add({step_totals::counted_on, start, start + ticks});
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
      case record_kind::graph_launch:
      case record_kind::host_call: note_launch(at, word, innermost_path()); break;
      case record_kind::ignored_launch: note_launch(at, word, launch_note::ignored); break;
      case record_kind::cpu_time:
        note_cpu_reading(ticks, get(at + record_header), get(at + record_header + 8));
        break;
      case record_kind::step: note_step_mark(subject, ticks); break;
      case record_kind::call_number:  // the timeline tells of these two
      case record_kind::belongs_to:
      case record_kind::begin:
      case record_kind::folded: break;
    }
    return ticks;
  }

  void note_cpu_reading(std::uint64_t ticks, std::uint64_t ran, std::uint64_t faults) noexcept {
    cpu.read(ticks, ran & ~denormals_met, faults, (ran & denormals_met) != 0,
             cpu_clock.ticks_per_ns);
  }

  /// What the thread recorded before its first step is a step too, as long as none was numbered.
  void note_step_mark(std::uint32_t subject, std::uint64_t ticks) {
    const bool has_recorded = counts.finished != 0 || !stack.empty();
    const std::uint64_t before = has_recorded ? begin : step_totals::nothing_before;
    if (subject == no_step || subject == no_second_step)
      return steps.finish(ticks, subject == no_step ? step_totals::nothing_before : before);
    if (subject == second_step) {
      steps.finish(ticks, before);
      return steps.next(1, ticks, step_totals::nothing_before);
    }
    steps.next(subject == next_step ? step_totals::counted_on : subject, ticks, before);
  }

  void note_launch(const char* at, std::uint64_t word, std::uint32_t path) {
    if (launches.capacity() - launches.size() < max_launch_ids)
      reserve_more(launches, max_launch_ids);
    const std::uint32_t node = stack.empty() ? call_tree::root : stack.back().node;
    const std::uint64_t call = call_at(at);
    call_total* const total = function_of(call) == 0 || path == launch_note::ignored
                                  ? nullptr
                                  : &calls.row_of(node, function_of(call));
    if (kind_of(word) != record_kind::host_call) {
      // An ignored launch in a scope that counts is work of its call that no record will tell of.
      if (!stack.empty() || path != launch_note::ignored) missing.add(node, kind_of(word));
      if (!stack.empty())
        stack.back().launched |= path == launch_note::ignored ? launched_bits::unrecorded
                                 : kind_of(word) == record_kind::transfer_launch
                                     ? launched_bits::copies
                                     : launched_bits::kernels;
    }
    if (total != nullptr) total->add_call(ticks_of(call));
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
    const std::uint8_t launched = f.adopted ? std::uint8_t{0} : f.launched;
    stack.pop_back();
    if (stack.empty()) return;
    stack.back().child_ticks += child_ticks;
    stack.back().launched |= launched;
  }
  void count_finished(const open_frame& f, std::uint64_t ticks, std::uint64_t end) {
    if (f.launched != 0) [[unlikely]]
      note_older_launches(f);
    tree_node& n = tree[f.node];
    const std::uint64_t self_ticks = f.child_ticks < ticks ? ticks - f.child_ticks : 0;
    if (n.is_noted || cpu.latest().ticks > f.start) [[unlikely]] {
      note_call_and_cpu_time(f, ticks, n);
      count_noted(n, ticks, self_ticks, end);
    } else {
      tree.finish(n, ticks, self_ticks, end);
    }
    ++counts.finished;
    if (f.launched != 0 || f.graph != 0) [[unlikely]]
      count_device_call(f, n);
  }
  /// Of a call with formulas that is older than the recording, nobody has told what it launched
  /// before.
  [[gnu::noinline]] void note_older_launches(const open_frame& f) {
    using namespace launched_bits;
    if ((f.launched & (maybe | unrecorded)) == maybe && (f.launched & recorded) != 0 &&
        has_formulas(f))
      missing.add(f.node, record_kind::ignored_launch);
  }
  [[gnu::noinline]] static void count_device_call(const open_frame& f, tree_node& n) noexcept {
    using namespace launched_bits;
    // A call that captures its kernels may copy something in at once.
    if ((f.launched & kernels) != 0 || ((f.launched & copies) != 0 && f.graph == 0))
      ++n.device_calls;
    else if (f.graph != 0) ++n.captured;
  }

  /// Of the innermost scope, which is still on the stack.
  [[gnu::noinline]] void note_call_and_cpu_time(const open_frame& f, std::uint64_t ticks,
                                                const tree_node& n) {
    cpu.make_room_for(f.node);
    if (n.is_part) {
      make_room_for_part(n, f.call_key);
      parts.add(f.node, f.start, f.start + ticks);
    } else if (n.is_step) {
      note_step(f.start, ticks, stack.size() - 1);
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
