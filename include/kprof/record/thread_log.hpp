// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THREAD_LOG_HPP
#define KPROF_RECORD_THREAD_LOG_HPP

// One thread's log and the totals that its records have been folded into. The thread appends
// records without a lock. Whoever holds mutex() may fold what the thread has published, also while
// the thread goes on writing.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/device_totals.hpp>
#include <kprof/record/folded.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/node_paths.hpp>
#include <kprof/record/timeline.hpp>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_log : public log_head {
 public:
  thread_log(std::uint32_t its_number, site_table& sites, path_table& all_paths,
             tree_budget& budget)
      : tree(sites, budget), device(budget), paths(tree, all_paths) {
    begin_again(its_number);
  }

  /// For a thread that begins.
  void begin_again(std::uint32_t its_number) noexcept {
    number = its_number;
    scopes.restart(its_number);
    emitted = 0;
    emitted_deeper = 0;
  }

  std::mutex& mutex() noexcept { return mutex_; }

  // Everything below needs the lock.

  /// The oldest chunk that the log holds, or nullptr.
  chunk* oldest() const noexcept { return first_; }

  /// Goes on writing in `c`; the chunk before it is full. By the thread itself.
  void append(chunk* c, chunk_pool& pool) {
    *c = chunk{};
    c->owner = this;
    c->previous = last_;
    (last_ != nullptr ? last_->next : first_) = c;
    last_ = c;
    stop_writing(pool);
    writing_ = c;
    if (unread_ == nullptr) start_reading(c);
    else if (backlog_ == 1 && read_at_ == unread_->end) fold_full(1);  // has been folded
    limit = c->limit();
    publish(c->begin());
  }
  /// The thread ends, or the log is to be emptied: what was written stays in the timeline, the next
  /// scope takes a new chunk.
  void stop_writing(chunk_pool& pool) noexcept {
    if (writing_ == nullptr) return;
    writing_->end = published();
    ++backlog_;
    pool.retire(writing_);
    writing_ = nullptr;
    limit = nullptr;
    publish(nullptr);
  }

  /// Folds what has been published; or only up to `stop_at`, in the chunk that is being written.
  void fold(const char* stop_at = nullptr) {
    if (stop_at == nullptr && writing_ != nullptr) stop_at = published();
    fold_full(backlog_);
    if (unread_ != nullptr && unread_ == writing_) fold_records(*unread_, stop_at);
    folds_when_full_ = false;
  }
  /// The chunk that is being written is full: folds it, by the thread itself, while it is in the
  /// cache. That is left to a snapshot until `deferrable` chunks wait for one. From then on until
  /// the next snapshot each call folds one chunk more than has been filled, up to the last.
  void fold_when_full(std::uint32_t deferrable) {
    if (backlog_ >= deferrable) folds_when_full_ = true;
    if (!folds_when_full_) return;
    fold_full(2);
    if (backlog_ == 0 && writing_ != nullptr) fold_records(*unread_, next_record());
  }

  /// Takes a full chunk out of the log, folding it first.
  void release(chunk* c) {
    if (!c->folded) fold();
    (c->previous != nullptr ? c->previous->next : first_) = c->next;
    (c->next != nullptr ? c->next->previous : last_) = c->previous;
  }
  /// Gives its full chunks back but those that another thread is about to recycle. Everything must
  /// have been folded.
  void release_full(chunk_pool& pool) {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      if (pool.take_back(c)) {
        release(c);
        pool.give_back(c);
      }
      c = next;
    }
  }

  /// Drops everything, unread. The thread does not exist.
  void discard(chunk_pool& pool) noexcept {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      static_cast<void>(pool.take_back(c));
      pool.give_back(c);
      c = next;
    }
    first_ = last_ = writing_ = unread_ = nullptr;
    backlog_ = 0;
    limit = nullptr;
    publish(nullptr);
    stack.clear();
  }

  /// Forgets the totals and the timeline. Scopes that are open stay open, as if they had begun at
  /// `now`. The thread may be writing; records behind `until` belong to the time after `now`.
  void restart(std::uint64_t now, chunk_pool& pool, const char* until = nullptr) {
    fold(until);
    release_full(pool);
    // Those that are left another thread is about to recycle.
    for (chunk* c = first_; c != nullptr; c = c->next)
      if (c != writing_) {
        c->timeline_from = c->end;
        c->ends = 0;
      }
    if (writing_ != nullptr) {
      writing_->timeline_from = read_at_;
      writing_->first_depth = static_cast<std::uint32_t>(stack.size());
      writing_->ends = 0;
    }
    std::vector<std::uint32_t> nodes;
    for (const open_frame& f : stack) nodes.push_back(f.node);
    nodes = tree.clear_but(nodes);
    for (std::size_t i = 0; i < stack.size(); ++i) stack[i] = {nodes[i], stack[i].adopted, now, 0};
    device.clear();
    paths.clear();
    for (launch_note& n : launches) n.path = launch_note::ignored;
    counts = {};
  }

  /// The path of the innermost open scope, for whoever keeps it; 0 when nothing is open.
  std::uint32_t capture() {
    fold();
    const std::uint32_t path = innermost_path();
    paths.keep(path);
    return path;
  }

  /// The same for a node that is being captured into a graph, and is work of the scopes around it.
  captured_scope capture_for(std::uint64_t graph) {
    captured_scope out{capture(), 0};
    for (std::size_t i = stack.size(); i-- > 0 && !stack[i].adopted && stack[i].graph != graph + 1;
         ++out.scopes_started_here)
      stack[i].graph = graph + 1;
    return out;
  }

  /// Scopes that folding has seen begin and not end.
  std::uint64_t open_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const open_frame& f : stack) n += f.adopted ? 0 : 1;
    return n;
  }
  /// Scopes that finished within what the log still holds.
  std::uint64_t timeline_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const chunk* c = first_; c != nullptr; c = c->next) n += c->ends;
    return n;
  }
  /// Calls visit(node, start, end) for each finished scope whose begin and end the log still holds.
  template <class Visit>
  void visit_timeline(Visit visit) const {
    timeline_walk<Visit> walk(visit, first_ == nullptr ? 0 : first_->first_depth);
    for (const chunk* c = first_; c != nullptr; c = c->next) {
      const char* const unread = c == unread_ ? read_at_ : c->timeline_from;
      walk.over(c->timeline_from, c->folded ? c->end : unread);
    }
  }

  std::uint32_t number = 0;  // as in its tokens
  std::vector<open_frame> stack;
  call_tree tree;
  device_totals device;
  node_paths paths;
  std::vector<launch_note> launches;  // not yet taken by attribution
  log_counts counts;
  std::uint64_t thread_id = 0;
  std::string thread_name;
  bool ended = false;
  thread_log* next_free = nullptr;

 private:
  void start_reading(chunk* c) noexcept {
    unread_ = c;
    if (c == nullptr) return;
    read_at_ = c->timeline_from = c->begin();
    c->first_depth = static_cast<std::uint32_t>(stack.size());
  }

  /// Folds the oldest chunks of the backlog, at most so many.
  void fold_full(std::uint32_t chunks) {
    for (; chunks != 0 && backlog_ != 0; --chunks) {
      fold_records(*unread_, unread_->end);
      unread_->folded = true;
      --backlog_;
      start_reading(unread_->next);
    }
  }

  [[gnu::noinline]] void fold_records(chunk& c, const char* stop) {
    std::uint64_t ticks = c.last_ticks;
    const std::uint64_t finished_before = counts.finished;
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
    c.last_ticks = ticks;
    c.ends += counts.finished - finished_before;
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
      stack.push_back({called.number, false, start, 0});
      return start;
    }
    at += 8;
    const std::uint64_t ticks = elapsed(start, end_word & ~end_bit);
    tree.finish(*called.node, ticks, ticks);
    ++counts.finished;
    if (around != nullptr) around->child_ticks += ticks;
    return end_word & ~end_bit;
  }

  /// Folds the record at `at`, which is neither a begin nor an end in order. Returns its time.
  [[gnu::noinline]] std::uint64_t fold_other(std::uint64_t word, const char* at) {
    const auto subject = static_cast<std::uint32_t>(word);
    const std::uint64_t ticks = get(at + 8);
    switch (kind_of(word)) {
      case record_kind::adopt: stack.push_back({paths.node_of(subject), true, ticks, 0}); break;
      case record_kind::end_to:
        while (stack.size() > subject) {
          ++counts.closed_by_parent;
          close_innermost(ticks);
        }
        close_innermost(ticks);
        break;
      case record_kind::launch: note_launch(at, word, innermost_path()); break;
      case record_kind::ignored_launch: note_launch(at, word, launch_note::ignored); break;
      case record_kind::begin:
      case record_kind::folded: break;
    }
    return ticks;
  }

  void note_launch(const char* at, std::uint64_t word, std::uint32_t path) {
    if (!stack.empty() && path != launch_note::ignored) stack.back().launched = true;
    std::uint32_t ids[max_launch_ids] = {static_cast<std::uint32_t>(word)};
    const std::size_t others = payload_bytes_of(word) / sizeof ids[0];
    std::memcpy(ids + 1, at + record_header, others * sizeof ids[0]);
    for (std::size_t i = 0; i <= others; ++i)
      launches.push_back({ids[i], i != 0, path, number, get(at + 8)});
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
    if (!f.adopted) count_finished(f, ticks);
    // What was launched under an adopted context is another thread's scope's.
    const std::uint64_t child_ticks = f.adopted ? f.child_ticks : ticks;
    const bool launched = f.launched && !f.adopted;
    stack.pop_back();
    if (stack.empty()) return;
    stack.back().child_ticks += child_ticks;
    stack.back().launched |= launched;
  }
  void count_finished(const open_frame& f, std::uint64_t ticks) {
    tree_node& n = tree[f.node];
    tree.finish(n, ticks, f.child_ticks < ticks ? ticks - f.child_ticks : 0);
    ++counts.finished;
    if (f.launched) ++n.device_calls;
    else if (f.graph != 0) ++n.captured;
  }

  std::uint32_t innermost_path() {
    if (stack.empty()) return 0;
    open_frame& f = stack.back();
    if (f.path == 0) f.path = paths.path_of(f.node);
    return f.path;
  }

  std::mutex mutex_;        // guards all of the log but what the thread itself writes: log_head
  chunk* first_ = nullptr;  // of the timeline, oldest first
  chunk* last_ = nullptr;
  chunk* writing_ = nullptr;  // the last one, while the thread writes in it
  chunk* unread_ = nullptr;   // where folding goes on, at read_at_
  char* read_at_ = nullptr;
  std::uint32_t backlog_ = 0;  // full chunks that have not been folded
  bool folds_when_full_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
