// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THREAD_LOG_HPP
#define KPROF_RECORD_THREAD_LOG_HPP

// One thread's log and the totals that its records have been folded into. The thread appends
// records without a lock. Whoever holds mutex() may fold what the thread has published, also while
// the thread goes on writing.

#include <kprof/build_options.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/log_folding.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/this_thread.hpp>
#include <kprof/record/timeline.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_log : public log_head, public log_folding {
 public:
  thread_log(std::uint32_t its_number, site_table& sites, path_table& all_paths,
             tree_budget& budget)
      : log_folding(sites, all_paths, budget) {
    begin_again(its_number);
  }

  /// For a thread that begins.
  void begin_again(std::uint32_t its_number) noexcept {
    number = its_number;
    scopes.restart(its_number);
    emitted = 0;
    emitted_deeper = 0;
    drops_until_search = 0;
    end_rounds = 0;
    cpu_due = 0;
  }

  /// In the child of a fork, whose CPU time begins anew. Without room, its next scope comes by
  /// recorder::more_room(). Returns where the log is.
  char* begin_in_child() noexcept {
    cpu_due = 0;
    return limit = next_record();
  }

  /// Whether a record of this size fits into no chunk, for all the ends of open scopes.
  bool fits_no_chunk(std::size_t record) const noexcept {
    return room_for(scopes.innermost(), record) > chunk::size - sizeof(chunk);
  }

  std::mutex& mutex() noexcept { return mutex_; }

  // Everything below needs the lock.

  /// The oldest chunk that the log holds and no step's window keeps, or nullptr.
  chunk* oldest() const noexcept { return oldest_; }
  /// A window keeps the chunk. Mostly it is the oldest.
  void pass_over(const chunk* c) noexcept {
    if (c == oldest_) oldest_ = c->next;
  }

  /// Goes on writing in `c`; the chunk before it is full. By the thread itself.
  void append(chunk* c, chunk_pool& pool) noexcept {
    *c = chunk{};
    c->owner = this;
    c->number = appended_++;
    c->previous = last_;
    (last_ != nullptr ? last_->next : first_) = c;
    last_ = c;
    if (oldest_ == nullptr) oldest_ = c;
    stop_writing(pool);
    writing_ = c;
    if (unread_ == nullptr) start_reading(c);
    else if (backlog_ == 1 && read_at_ == unread_->end) finish_reading();
    // The limit last: a signal's handler finds no room before.
    publish(c->begin());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    limit = c->limit();
  }
  /// The thread ends, or the log is to be emptied: what was written stays in the timeline, the next
  /// scope takes a new chunk.
  [[gnu::cold]] void stop_writing(chunk_pool& pool) noexcept {
    if (chunk* const c = end_chunk()) pool.retire(c);
  }
  /// The chunk that was being written, which is full from now on and in no queue of the pool, or
  /// nullptr. By the thread itself, between two records.
  [[gnu::cold]] chunk* end_chunk() noexcept {
    if (writing_ == nullptr) return nullptr;
    // The limit first: what a signal's handler writes behind the end would be lost.
    limit = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    writing_->end = published();
    ++backlog_;
    publish(nullptr);
    return std::exchange(writing_, nullptr);
  }
  /// Goes on writing in the chunk that end_chunk() has just ended, since there is no other: scopes
  /// that are open have the room for their ends in it.
  [[gnu::cold]] void resume(chunk* c) noexcept {
    --backlog_;
    writing_ = c;
    publish(c->end);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    limit = c->limit();
  }

  /// Folds what has been published. Where it throws for want of memory, each record is either in
  /// the totals or still to be folded, and folding goes on there the next time.
  /// `stop_at`: where to stop in the chunk that is being written.
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

  bool has_backlog() const noexcept { return backlog_ != 0; }
  /// Folds the oldest chunk that waits.
  void fold_chunk() {
    if (backlog_ != 0) fold_full(1);
    else if (unread_ != nullptr && unread_ == writing_) fold_records(*unread_, published());
  }
  /// When the last record was made that has been folded, in ticks.
  std::uint64_t latest_ticks() const noexcept { return folded_until_; }
  /// The time, in ticks, up to which all that has been recorded is folded.
  std::uint64_t folded_until() const noexcept {
    const bool waits =
        backlog_ != 0 || (unread_ != nullptr && unread_ == writing_ && read_at_ != published());
    return waits ? folded_until_ : ~std::uint64_t{0};
  }

  /// Takes a full chunk that has been folded out of the log.
  void release(chunk* c) noexcept {
    pass_over(c);
    (c->previous != nullptr ? c->previous->next : first_) = c->next;
    (c->next != nullptr ? c->next->previous : last_) = c->previous;
  }
  /// Gives the chunks back that have been folded, but for those that another thread is about to
  /// recycle.
  void release_full(chunk_pool& pool) noexcept {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      if (c->folded && pool.take_back(c)) {
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
    first_ = oldest_ = last_ = writing_ = unread_ = nullptr;
    backlog_ = 0;
    limit = nullptr;
    publish(nullptr);
    stack.clear();
  }

  /// Forgets the totals and the timeline, of what has been folded. Scopes that are open stay open,
  /// as if they had begun at `now`. The thread may be writing.
  void forget(std::uint64_t now, chunk_pool& pool) noexcept {
    release_full(pool);
    // Of those that are left another thread is about to recycle some.
    for (chunk* c = first_; c != nullptr; c = c->next) {
      if (c != unread_ && !c->folded) continue;
      c->timeline_from = c->folded ? c->end : read_at_;
      c->ends = 0;
    }
    if (unread_ != nullptr) unread_->first_depth = static_cast<std::uint32_t>(stack.size());
    tree.clear_but(stack);
    missing.clear();
    cpu.clear();
    for (open_frame& f : stack) {
      // Its call counts in this recording, and what it launched before does not. That needs no
      // memory: a node is no further back than it was.
      const bool has_launched = (f.launched & ~launched_bits::maybe) != 0;
      if (has_launched) missing.add(f.node, record_kind::ignored_launch);
      const std::uint64_t key = f.call_key;
      f = {f.node, f.adopted, now, 0};
      f.call_key = key;
      f.launched = launched_bits::maybe;
      if (has_launched) f.launched |= launched_bits::unrecorded;
    }
    device.clear();
    calls.clear();
    merged_rows.clear();
    paths.clear();
    for (launch_note& n : launches) n.path = launch_note::ignored;
    parts.clear();
    keys_of_merged.clear();
    part_streams.clear();
    shared.clear();
    steps.clear();
    counts = {};
    begin = now;
    static_cast<void>(take_finished());
  }

  /// The path of the innermost open scope, for whoever keeps it; 0 when nothing is open.
  std::uint32_t capture() {
    fold();
    const std::uint32_t path = innermost_path();
    paths.keep(path);
    return path;
  }

  /// The same for a node that is being captured into a graph, and is work of the scopes around it.
  /// An adopted context's scopes belong to another thread. A replay counts each of them once, also
  /// where several threads captured in it.
  captured_scope capture_for(std::uint64_t graph) {
    captured_scope out{capture(), 0};
    for (std::size_t i = stack.size(); i-- > 0; ++out.scopes_started_here) {
      open_frame& f = stack[i];
      if (f.adopted) {
        out.scopes_started_here += paths.begin_adopted_in_graph(graph, f.node);
        break;
      }
      if (f.graph == graph + 1) break;
      static_cast<void>(paths.begin_in_graph(graph, f.node));
      f.graph = graph + 1;
    }
    return out;
  }
  /// Of calls that are open and have launched work, the rest of the work will not be recorded.
  void cut_open_launches() {
    for (const open_frame& f : stack)
      if ((f.launched & launched_bits::recorded) != 0 && !f.adopted && has_formulas(f))
        missing.cut(f.node);
  }

  /// Scopes that finished within what the log still holds.
  std::uint64_t timeline_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const chunk* c = without_holes(); c != nullptr; c = c->next) n += c->ends;
    return n;
  }
  /// Calls visit(node, start, end) for each finished scope whose begin and end the log still holds.
  /// `latest`: in so many of the latest chunks. `notes`: gets what the program has said of them.
  template <class Visit>
  void visit_timeline(Visit visit, std::size_t latest = ~std::size_t{0},
                      std::vector<call_note>* notes = nullptr) const {
    const chunk* from = without_holes(latest);
    timeline_walk<Visit> walk(visit, from == nullptr ? 0 : from->first_depth, notes);
    each_stretch([&](const chunk&, const char* at, const char* stop) { walk.over(at, stop); },
                 from);
  }
  /// The same for the scopes in chunks before the timeline's unbroken end: chunks that windows of
  /// steps keep, or that are about to be recycled.
  template <class Visit>
  void visit_kept(Visit visit, std::vector<call_note>* notes = nullptr) const {
    timeline_walk<Visit> walk(visit, 0, notes);
    const chunk* const tail = without_holes();
    for (const chunk* c = first_; c != tail; c = c->next) {
      if (c->previous == nullptr || c->previous->number + 1 != c->number)
        walk.leap_to(c->first_depth);
      if (c->folded) walk.over(c->timeline_from, c->end);
    }
  }

  /// Calls use(chunk, from, to) for the records of the timeline in each chunk, oldest first, from
  /// `first` on where it is not null.
  template <class Use>
  void each_stretch(Use use, const chunk* first = nullptr) const {
    for (const chunk* c = first != nullptr ? first : without_holes(); c != nullptr; c = c->next) {
      const char* const unread = c == unread_ ? read_at_ : c->timeline_from;
      use(*c, c->timeline_from, c->folded ? c->end : unread);
    }
  }

  std::uint64_t thread_id = 0;
  std::string thread_name;
  bool ended = false;
  std::uint64_t end = 0;                 // when the thread ended, in ticks
  std::uint32_t drops_until_search = 0;  // of abandoned scopes; for the thread itself
  int end_rounds = 0;                    // of the destructors of the thread's keys, the same
  thread_log* next_free = nullptr;

 private:
  /// The first of the chunks at the end, at most so many, between which none is missing: one that
  /// another thread is about to recycle may still be here when later ones are not.
  const chunk* without_holes(std::size_t latest = ~std::size_t{0}) const noexcept {
    const chunk* from = last_;
    while (from != nullptr && from->previous != nullptr &&
           from->previous->number + 1 == from->number && --latest != 0)
      from = from->previous;
    return from;
  }
  void start_reading(chunk* c) noexcept {
    unread_ = c;
    if (c == nullptr) return;
    read_at_ = c->timeline_from = c->begin();
    c->first_depth = static_cast<std::uint32_t>(stack.size());
  }

  /// Folds the oldest chunks of the backlog, at most so many.
  void fold_full(std::uint32_t chunks) {
    for (; chunks != 0 && backlog_ != 0; --chunks, finish_reading())
      fold_records(*unread_, unread_->end);
  }
  /// The oldest chunk of the backlog has been folded.
  void finish_reading() noexcept {
    unread_->folded = true;
    --backlog_;
    start_reading(unread_->next);
  }

  [[gnu::noinline]] void fold_records(chunk& c, const char* stop) {
    c.last_ticks = fold_up_to(stop, c.last_ticks);
    if (folded_until_ < c.last_ticks) folded_until_ = c.last_ticks;
    c.ends += take_finished();
  }

  std::mutex mutex_;        // guards all of the log but what the thread itself writes: log_head
  chunk* first_ = nullptr;  // of the timeline, oldest first
  chunk* oldest_ = nullptr;
  chunk* last_ = nullptr;
  chunk* writing_ = nullptr;    // the last one, while the thread writes in it
  chunk* unread_ = nullptr;     // where folding goes on, at read_at_
  std::uint32_t backlog_ = 0;   // full chunks that have not been folded
  std::uint64_t appended_ = 0;  // chunks, ever
  bool folds_when_full_ = false;
  std::uint64_t folded_until_ = 0;  // ticks of the last record that was folded
};

}  // namespace detail
KPROF_DETAIL_END

#endif
