// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THREAD_LIST_HPP
#define KPROF_RECORD_THREAD_LIST_HPP

// The logs of all threads: those that run, those of the threads that ended last, and one for the
// totals of all that ended before.

#include <kprof/build_options.hpp>
#include <kprof/record/chunk_supply.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/part_calls.hpp>
#include <kprof/record/recorder_counts.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/write/attempt.hpp>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL thread_list {
 public:
  thread_list(site_table& sites, path_table& paths, tree_budget& budget, chunk_supply& chunks,
              recorder_counts& counts)
      : sites_(&sites),
        paths_(&paths),
        budget_(&budget),
        chunks_(&chunks),
        counts_(&counts),
        shared_calls_(sites, budget) {}

  std::mutex& mutex() noexcept { return mutex_; }

  /// Threads with a log that have not ended. Without the lock.
  std::uint32_t running() const noexcept { return running_.load(std::memory_order_relaxed); }

  /// Parts of shared calls that a thread may leave to the next snapshot to join: together they take
  /// a 32nd of the memory at the most. More than 2048 would leave the cache. Without the lock.
  std::size_t deferrable_parts(std::size_t memory) const noexcept {
    return std::clamp<std::size_t>(memory / 32 / sizeof(part_note) / (running() + 1), 256, 2048);
  }

  // Everything below needs the lock.

  const std::vector<thread_log*>& logs() const noexcept { return logs_; }

  /// The log of the thread with this number or, if it has ended and is no longer kept apart, that
  /// of all such threads; nullptr when there is none.
  thread_log* find(std::uint32_t number) const noexcept {
    const auto it = std::find_if(logs_.begin(), logs_.end(),
                                 [number](const thread_log* log) { return log->number == number; });
    return it != logs_.end() ? *it : others_;
  }

  /// Joins the parts of shared calls that ended up to `until`, in ticks. Folds all logs up to then,
  /// chunk by chunk, so that few parts wait at a time. Throws where there is no memory.
  void join_parts(std::uint64_t until) {
    while (sites_->have_parts()) {
      std::uint64_t folded_until = until;
      thread_log* behind = nullptr;
      for (thread_log* log : logs_) {
        const std::lock_guard own(log->mutex());
        if (log->folded_until() < until && log->parts.size() < few_parts) log->fold_chunk();
        if (log->folded_until() >= folded_until) continue;
        folded_until = log->folded_until();
        behind = log;
      }
      shared_calls_.join(logs_, folded_until,
                         [this](std::uint32_t number) { return find(number); });
      if (behind == nullptr) return;
      const std::lock_guard own(behind->mutex());
      behind->fold_chunk();
    }
  }
  const part_calls& shared_calls() const noexcept { return shared_calls_; }

  /// A log for the calling thread. Without memory it throws and changes nothing.
  thread_log& join() {
    merge_ended_threads();
    reserve_more(logs_, 1);
    thread_log* log = free_logs_;
    if (log != nullptr) {
      free_logs_ = log->next_free;
      log->begin_again(++last_number_);
    } else {
      log = make();
    }
    log->ended = false;
    log->begin = recording_clock.load()();
    log->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
    char name[16] = {};  // which a string holds without memory
    if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) log->thread_name = name;
    logs_.push_back(log);
    running_.fetch_add(1, std::memory_order_relaxed);
    return *log;
  }

  /// The log's thread ends. Scopes it still has open stay open.
  void leave(thread_log& log) noexcept {
    {
      const std::lock_guard own(log.mutex());
      log.stop_writing(chunks_->pool);
      log.ended = true;
      log.end = recording_clock.load()();
    }
    running_.fetch_sub(1, std::memory_order_relaxed);
    merge_ended_threads();
  }

  /// The threads of these logs do not exist in the child of a fork; `forked` is of the one that
  /// does, or nullptr.
  void forget_other_threads(thread_log* forked) noexcept {
    running_.store(forked != nullptr ? 1 : 0, std::memory_order_relaxed);
    for (thread_log* log : logs_) {
      if (log == forked) {
        log->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
        continue;
      }
      {
        const std::lock_guard own(log->mutex());
        log->discard(chunks_->pool);
      }
      log->ended = true;
    }
  }

  /// Folds all that has been recorded, in the log `forked` only what lies before `forked_at`.
  /// Throws where there is no memory.
  void fold(const thread_log* forked, const char* forked_at) {
    for (thread_log* log : logs_) {
      const std::lock_guard own(log->mutex());
      log->fold(log == forked ? forked_at : nullptr);
    }
  }
  /// Folds the logs of ended threads, and moves their totals where memory is scarce. Throws where
  /// there is none.
  void fold_ended() {
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      if (!logs_[i]->ended) continue;
      {
        const std::lock_guard own(logs_[i]->mutex());
        logs_[i]->fold();
      }
      const std::size_t before = logs_.size();
      merge_ended_threads();
      if (logs_.size() != before) i = 0;
    }
  }
  /// Forgets all totals and the logs of ended threads, after fold(); what is open stays open from
  /// `now` on.
  void forget(std::uint64_t now) noexcept {
    shared_calls_.clear();
    for (std::size_t i = logs_.size(); i-- > 0;) {
      if (logs_[i]->ended) {
        retire(i);
        continue;
      }
      const std::lock_guard own(logs_[i]->mutex());
      logs_[i]->forget(now, chunks_->pool);
    }
  }

 private:
  static constexpr std::ptrdiff_t kept_ended_threads = 64;
  static constexpr std::size_t few_parts = 256;

  thread_log* make() {
    auto* const log = new thread_log(++last_number_, *sites_, *paths_, *budget_);
    log->steps.watch_by(chunks_->windows, *log);
    return log;
  }

  /// Moves the totals of ended threads that are too many to be kept apart, and of all when memory
  /// for totals is scarce: what threads have in common is then held once. Without any memory they
  /// are kept apart until another thread begins or ends.
  void merge_ended_threads() noexcept {
    const auto apart = [](const thread_log* t) {
      return t->ended && t->counts.merged_threads == 0;
    };
    for (;;) {
      const auto count = std::count_if(logs_.begin(), logs_.end(), apart);
      if (count <= (budget_->scarce() ? 0 : kept_ended_threads)) return;
      const auto oldest = std::find_if(logs_.begin(), logs_.end(), apart);
      const auto at = static_cast<std::size_t>(oldest - logs_.begin());
      if (!attempt([this, at] { merge_into_others(at); })) return;
    }
  }

  /// Parts that have not been joined, with the keys of those whose parameters were merged.
  struct waiting_parts {
    part_notes notes;
    merged_keys keys;
  };
  /// The parts that two threads have done. `nodes`: where the nodes of the second one are.
  static waiting_parts waiting_of(const thread_log& a, const thread_log& b,
                                  const std::vector<std::uint32_t>& nodes) {
    waiting_parts out;
    out.notes.make_room(a.parts.size() + b.parts.size());
    out.keys.make_room(a.keys_of_merged.size() + b.keys_of_merged.size());
    std::size_t next_key[] = {0, 0};
    const auto add = [&](const thread_log& from, const part_note& n) {
      const bool first = &from == &a;
      out.notes.add(first ? n.node : nodes[n.node], n.begin, n.end);
      if (from.tree.nodes()[n.node].merged)
        out.keys.add(from.keys_of_merged[next_key[first ? 0 : 1]++]);
    };
    const part_note* next = a.parts.begin();
    for (const part_note& n : b.parts) {
      for (; next != a.parts.end() && next->end <= n.end; ++next) add(a, *next);
      add(b, n);
    }
    for (; next != a.parts.end(); ++next) add(a, *next);
    return out;
  }

  /// Where the rows of the threads that ended before are, and those of `from`; no more than 16384
  /// rows, the latest.
  static std::vector<moved_rows> rows_after(const thread_log& others, const thread_log& from,
                                            const std::vector<std::uint32_t>& rows) {
    std::vector<moved_rows> out = others.merged_rows;
    if (rows.empty()) return out;
    out.push_back({from.number, rows});
    std::size_t count = 0, oldest = out.size();
    while (oldest != 0 && count + out[oldest - 1].here.size() <= 16384)
      count += out[--oldest].here.size();
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(oldest));
    return out;
  }

  /// Without memory it throws, and nothing has been moved.
  void merge_into_others(std::size_t i) {
    reserve_more(logs_, 1);
    std::unique_ptr<thread_log> first(others_ == nullptr ? make() : nullptr);
    thread_log& others = first != nullptr ? *first : *others_;
    thread_log& from = *logs_[i];
    {
      // Nobody writes scopes into `others`: the list's lock is enough for it.
      const std::lock_guard own(from.mutex());
      from.fold();
      const std::vector<std::uint32_t> nodes = others.tree.places_of(from.tree);
      const std::vector<std::uint32_t> rows = others.device.places_of(from.device, nodes);
      others.calls.make_room_for(from.calls, nodes);
      std::vector<moved_rows> merged_rows = rows_after(others, from, rows);
      others.missing.widen_to(others.tree.nodes().size());
      others.cpu.widen_to(others.tree.nodes().size());
      reserve_more(others.launches, from.launches.size());
      waiting_parts parts = waiting_of(others, from, nodes);
      others.shared.make_room_for(from.shared, nodes);
      others.steps.make_room_for(from.steps);
      // From here on nothing fails.
      others.tree.take(from.tree, nodes);
      others.device.add(from.device, rows);
      others.calls.add(from.calls, nodes);
      others.merged_rows = std::move(merged_rows);
      others.missing.merge(from.missing, nodes);
      others.cpu.merge(from.cpu, nodes);
      others.launches.insert(others.launches.end(), from.launches.begin(), from.launches.end());
      from.launches.clear();
      others.parts = std::move(parts.notes);
      others.keys_of_merged = std::move(parts.keys);
      from.parts.clear();
      from.keys_of_merged.clear();
      others.shared.add(from.shared, nodes);
      others.steps.merge(from.steps);
      others.counts.add(from.counts);
      others.counts.merged_ticks += from.end > from.begin ? from.end - from.begin : 0;
      if (first != nullptr || from.begin < others.begin) others.begin = from.begin;
      others.counts.never_closed += from.open_scopes();
      if (from.timeline_scopes() != 0) counts_->recycle_until(from.latest_ticks());
      if (from.oldest() != nullptr)
        chunks_->windows.lose(first_ticks(*from.oldest()), from.latest_ticks());
      ++others.counts.merged_threads;
    }
    if (first != nullptr) {
      others_ = first.release();
      others_->ended = true;
      logs_.insert(logs_.begin(), others_);
      ++i;
    }
    retire(i);
  }

  /// Takes the log of an ended thread, which has been folded, off the list, for another thread to
  /// use.
  void retire(std::size_t i) noexcept {
    thread_log* log = logs_[i];
    logs_.erase(logs_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::lock_guard own(log->mutex());
    log->stack.clear();
    chunks_->windows.expect_no_longer(*log);
    while (chunk* const c = chunks_->windows.lose_one_of(log)) chunks_->pool.put_back(c);
    log->forget(0, chunks_->pool);
    if (log == others_) others_ = nullptr;
    log->next_free = free_logs_;
    free_logs_ = log;
  }

  site_table* sites_;
  path_table* paths_;
  tree_budget* budget_;
  chunk_supply* chunks_;
  recorder_counts* counts_;
  std::mutex mutex_;  // guards all below, and `ended`, `thread_id` and `next_free` of the logs
  std::vector<thread_log*> logs_;
  thread_log* others_ = nullptr;  // the totals of ended threads that are not kept apart
  thread_log* free_logs_ = nullptr;
  part_calls shared_calls_;
  std::uint32_t last_number_ = 0;
  std::atomic<std::uint32_t> running_{0};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
