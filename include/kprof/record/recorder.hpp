// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_RECORDER_HPP
#define KPROF_RECORD_RECORDER_HPP

// The recorder: all threads' logs, and what happens when threads join and end, memory runs out, the
// process forks or a library is unloaded. One per process, never freed. What guards call is in
// scope_functions.hpp. Locks are taken in this order: threads, one thread's log, then sites, paths
// or the pool.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/thread_log.hpp>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What my_log points to before a thread's first scope: it has no room, so that the first scope
/// takes the slow path.
// Its token is none that was ever given out.
KPROF_DETAIL_LOCAL inline constinit log_head no_log{nullptr, nullptr, ~scope_token{0}, 0, 0};

// initial-exec: in a shared library the general model costs 5 ns a scope. One pointer always fits
// the loader's reserve.
#if defined(__CUDACC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1835  // nvcc does not know the attribute; the host compiler that it passes it on to does
#endif
KPROF_DETAIL_LOCAL inline thread_local constinit log_head* my_log
    [[gnu::tls_model("initial-exec")]] = &no_log;
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

/// Room for a record and the ends of all that is open then: an end never has to look for room.
inline std::size_t room_for(const log_head& log, std::size_t record) noexcept {
  return record + 8 + 8 * std::size_t{depth_of(log.top)};
}
inline bool has_room(const log_head& log, std::size_t record) noexcept {
  // in a forked child the limit may lie behind
  return log.limit - log.cursor >= static_cast<std::ptrdiff_t>(room_for(log, record));
}

// Set while this thread is in a slow path. Those lock and allocate: a scope of the program's own
// allocator that came back here would wait for itself.
KPROF_DETAIL_LOCAL inline thread_local constinit bool inside_kprof = false;

class KPROF_DETAIL_LOCAL staying_inside {
 public:
  staying_inside() noexcept : before_(inside_kprof) { inside_kprof = true; }
  ~staying_inside() { inside_kprof = before_; }
  staying_inside(const staying_inside&) = delete;
  staying_inside& operator=(const staying_inside&) = delete;

 private:
  bool before_;
};

class KPROF_DETAIL_LOCAL recorder;
// The recorder whose functions guards call, in the binary that owns it.
KPROF_DETAIL_LOCAL inline constinit recorder* own_recorder = nullptr;

class KPROF_DETAIL_LOCAL recorder {
 public:
  static constexpr std::size_t smallest_memory = 1024 * 1024;

  recorder() {
    knows_thread_ends_ = pthread_key_create(&thread_end_, [](void* log) {
                           own_recorder->leave(*static_cast<thread_log*>(log));
                         }) == 0;
  }
  ~recorder() {
    if (knows_thread_ends_) pthread_key_delete(thread_end_);
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// A quarter of the memory may go to totals, the rest to logs.
  void set_memory(std::size_t bytes) noexcept {
    memory_limit_ = bytes;
    __atomic_store_n(&budget_.limit, bytes / 4, __ATOMIC_RELAXED);
    pool_.set_limit(bytes - bytes / 4);
  }
  std::size_t memory_limit() const noexcept { return memory_limit_; }
  tree_budget& budget() noexcept { return budget_; }
  std::size_t memory_held() noexcept { return pool_.held() + budget_.now(); }

  /// Gives a call site its number; false when there are too many.
  bool number(site& where) { return sites_.number_of(where) != 0; }

  /// Makes room in this thread's log for a record and the ends of all that is then open; false, and
  /// counted as `lost`, when there is none.
  [[gnu::noinline]] bool more_room(
      std::size_t record, std::uint64_t thread_log::*lost = &thread_log::dropped) noexcept {
    settle_child();
    if (my_log == &no_log) join();
    auto* log = static_cast<thread_log*>(my_log);
    chunk* c = room_for(*log, record) > chunk::size - sizeof(chunk) ? nullptr : free_chunk();
    const std::lock_guard lock(log->mutex());
    if (c == nullptr) {
      ++(log->*lost);
      return false;
    }
    log->append(c, pool_);
    return true;
  }

  /// Counts a scope for which the tables have no place; always false.
  bool drop() noexcept {
    __atomic_fetch_add(&dropped_, 1, __ATOMIC_RELAXED);
    return false;
  }
  std::uint64_t dropped() const noexcept { return __atomic_load_n(&dropped_, __ATOMIC_RELAXED); }
  /// Counts a scope that came while kprof itself was at work on its thread; always false.
  bool drop_inside() noexcept {
    __atomic_fetch_add(&dropped_inside_, 1, __ATOMIC_RELAXED);
    return false;
  }
  std::uint64_t dropped_inside() const noexcept {
    return __atomic_load_n(&dropped_inside_, __ATOMIC_RELAXED);
  }

  /// An end that belongs to no open scope of its thread.
  void count_closed_elsewhere() noexcept {
    __atomic_fetch_add(&closed_elsewhere_, 1, __ATOMIC_RELAXED);
  }

  /// Calls visit(thread_log&) for each thread, folded up to now and locked. No thread joins or ends
  /// meanwhile.
  template <class Visit>
  void each_thread(Visit visit) {
    const staying_inside guard;
    settle_child();
    const std::lock_guard lock(threads_mutex_);
    for (thread_log* log : threads_) {
      const std::lock_guard own(log->mutex());
      const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
      log->fold();
      add_folding(nanoseconds_of(CLOCK_MONOTONIC) - before);
      visit(*log);
    }
  }

  /// Calls use(find) while no thread joins or ends: find(number) is the log of the thread with this
  /// number or, if it has ended and is no longer kept apart, that of all such threads; nullptr when
  /// there is none.
  template <class Use>
  void with_threads(Use use) {
    const staying_inside guard;
    const std::lock_guard lock(threads_mutex_);
    use([this](std::uint32_t number) -> thread_log* {
      const auto it =
          std::find_if(threads_.begin(), threads_.end(),
                       [number](const thread_log* log) { return log->number == number; });
      return it != threads_.end() ? *it : others_;
    });
  }

  /// Notes in this thread's log a call that launched work on a device, under its own and other
  /// correlation ids.
  void note_launch(const std::uint32_t* ids, std::uint32_t count, std::uint64_t ticks,
                   bool ignored) noexcept {
    if (inside_kprof || count == 0) return;
    if (count > max_launch_ids) count = max_launch_ids;
    const std::uint32_t payload = 4 * (count - 1);
    const std::uint64_t word =
        record_word(ignored ? record_kind::ignored_launch : record_kind::launch, ids[0], payload);
    if (!has_room(*my_log, record_size(word))) {
      const staying_inside guard;
      if (!more_room(record_size(word), &thread_log::launches_lost)) return;
    }
    log_head* const log = my_log;
    put(log->cursor, word);
    put(log->cursor + 8, ticks);
    std::memcpy(log->cursor + record_header, ids + 1, payload);
    __atomic_store_n(&log->cursor, log->cursor + record_size(word), __ATOMIC_RELEASE);
  }

  /// The number of this thread's log.
  static std::uint32_t this_thread() noexcept {
    return my_log == &no_log ? 0 : static_cast<const thread_log*>(my_log)->number;
  }

  /// Where this thread is, for a node of a graph that is being built; `does_work`: it may be the
  /// first work of a scope.
  captured_scope capture_for_graph(std::uint64_t graph, bool does_work) {
    if (my_log == &no_log || inside_kprof) return {};
    const staying_inside guard;
    settle_child();
    auto* const log = static_cast<thread_log*>(my_log);
    const std::lock_guard lock(log->mutex());
    if (does_work) return log->capture_for(graph);
    return {log->capture(), 0};
  }

  /// Forgets all totals; what is open stays open from `now` on.
  void restart(std::uint64_t now) {
    settle_child();
    const std::lock_guard lock(threads_mutex_);
    restart_locked(now);
  }

  /// Turns everything that refers to a binary's code into values, before it is unloaded.
  void detach(const module_record& leaving) {
    each_thread([](thread_log&) {});
    sites_.forget_formulas(&leaving);
  }

  // The child of a fork has one thread, which goes on where it was, and a profile of its own.
  void before_fork() {
    threads_mutex_.lock();
    for (thread_log* log : threads_) log->mutex().lock();
    sites_.mutex().lock();
    paths_.mutex().lock();
    pool_.mutex().lock();
  }
  void after_fork() {
    pool_.mutex().unlock();
    paths_.mutex().unlock();
    sites_.mutex().unlock();
    for (thread_log* log : threads_) log->mutex().unlock();
    threads_mutex_.unlock();
  }
  // Most children run another program at once: the work of starting over waits for the child's
  // first scope or snapshot.
  void in_child(std::uint64_t now) noexcept {
    after_fork();
    child_since_ = now;
    forked_log_ = my_log == &no_log ? nullptr : static_cast<thread_log*>(my_log);
    // its next scope comes by more_room()
    if (forked_log_ != nullptr) forked_log_->limit = forked_at_ = forked_log_->cursor;
    __atomic_store_n(&child_pending_, true, __ATOMIC_RELEASE);
  }

  /// In the child of a fork, once: the threads of the parent are not here, and the one that is
  /// starts over.
  void settle_child() {
    if (!__atomic_load_n(&child_pending_, __ATOMIC_ACQUIRE)) return;
    const std::lock_guard lock(threads_mutex_);
    if (!child_pending_) return;
    for (std::size_t i = threads_.size(); i-- > 0;) {
      if (threads_[i] == forked_log_) {
        forked_log_->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
        continue;
      }
      {
        const std::lock_guard own(threads_[i]->mutex());
        threads_[i]->discard(pool_);
      }
      threads_[i]->ended = true;
    }
    restart_locked(child_since_);
    forked_log_ = nullptr;
    __atomic_store_n(&child_pending_, false, __ATOMIC_RELEASE);
  }

  const site_table& sites() const noexcept { return sites_; }
  path_table& paths() noexcept { return paths_; }
  std::uint64_t closed_elsewhere() const noexcept {
    return __atomic_load_n(&closed_elsewhere_, __ATOMIC_RELAXED);
  }
  /// Time before which the timeline has been recycled; 0: it is whole.
  std::uint64_t recycled_until() const noexcept {
    return __atomic_load_n(&recycled_until_, __ATOMIC_RELAXED);
  }
  std::uint64_t folding_ns() const noexcept {
    return __atomic_load_n(&folding_ns_, __ATOMIC_RELAXED);
  }

 private:
  static constexpr std::size_t kept_ended_threads = 64;

  /// A chunk from the pool, or the oldest full one of any thread, folded. No log may be locked by
  /// the caller.
  chunk* free_chunk() noexcept {
    if (chunk* c = pool_.take()) return c;
    chunk* c = pool_.oldest();
    if (c == nullptr) return nullptr;
    const std::lock_guard lock(c->owner->mutex());
    if (!c->folded) {
      const std::uint64_t begin = nanoseconds_of(CLOCK_MONOTONIC);
      c->owner->fold();
      add_folding(nanoseconds_of(CLOCK_MONOTONIC) - begin);
    }
    c->owner->release(c);
    std::uint64_t until = recycled_until();
    while (until < c->last_ticks &&
           !__atomic_compare_exchange_n(&recycled_until_, &until, c->last_ticks, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return c;
  }

  // ---- threads ----

  void join() {
    const std::lock_guard lock(threads_mutex_);
    thread_log* log = free_logs_;
    if (log != nullptr) {
      free_logs_ = log->next_free;
      log->begin_again(++last_number_);
    } else {
      log = new thread_log(++last_number_, sites_, paths_, budget_);
    }
    log->ended = false;
    log->thread_id = static_cast<std::uint64_t>(syscall(SYS_gettid));
    char name[32] = {};
    if (pthread_getname_np(pthread_self(), name, sizeof name) == 0) log->thread_name = name;
    threads_.push_back(log);
    my_log = log;
    if (knows_thread_ends_) pthread_setspecific(thread_end_, log);
  }

  /// The thread ends. Scopes it still has open stay so; guards in thread-local destructors start
  /// another log.
  void leave(thread_log& log) {
    const staying_inside guard;
    const std::lock_guard lock(threads_mutex_);
    my_log = &no_log;
    {
      const std::lock_guard own(log.mutex());
      log.stop_writing(pool_);
      log.ended = true;
    }
    std::size_t ended = 0;
    for (const thread_log* t : threads_) ended += t->ended && t->merged_threads == 0 ? 1 : 0;
    if (ended <= kept_ended_threads) return;
    // One more than are kept apart: the oldest joins the others.
    for (std::size_t i = 0; i < threads_.size(); ++i)
      if (threads_[i]->ended && threads_[i]->merged_threads == 0) {
        merge_into_others(i);
        return;
      }
  }

  void merge_into_others(std::size_t i) {
    if (others_ == nullptr) {
      others_ = new thread_log(++last_number_, sites_, paths_, budget_);
      others_->ended = true;
      threads_.insert(threads_.begin(), others_);
      ++i;
    }
    thread_log& from = *threads_[i];
    {
      // others_ writes no scopes: the list's lock is enough for it
      const std::lock_guard own(from.mutex());
      from.fold();
      others_->device.merge(from.device, others_->tree.merge(from.tree));
      others_->launches.insert(others_->launches.end(), from.launches.begin(), from.launches.end());
      from.launches.clear();
      others_->launches_lost += from.launches_lost;
      others_->finished += from.finished;
      others_->dropped += from.dropped;
      others_->closed_by_parent += from.closed_by_parent;
      others_->never_closed += from.open_scopes();
      ++others_->merged_threads;
    }
    retire(i);
  }

  void restart_locked(std::uint64_t now) {
    for (std::size_t i = threads_.size(); i-- > 0;) {
      if (threads_[i]->ended) {
        retire(i);
        continue;
      }
      const std::lock_guard own(threads_[i]->mutex());
      threads_[i]->restart(now, pool_, threads_[i] == forked_log_ ? forked_at_ : nullptr);
    }
    paths_.next_recording();
    __atomic_store_n(&closed_elsewhere_, std::uint64_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&dropped_inside_, std::uint64_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&dropped_, std::uint64_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&recycled_until_, std::uint64_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&folding_ns_, std::uint64_t{0}, __ATOMIC_RELAXED);
  }

  /// Takes an ended thread's log off the list, for another thread to use.
  void retire(std::size_t i) {
    thread_log* log = threads_[i];
    threads_.erase(threads_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::lock_guard own(log->mutex());
    log->fold();
    log->stack.clear();
    log->restart(0, pool_);
    if (log == others_) others_ = nullptr;
    log->next_free = free_logs_;
    free_logs_ = log;
  }

  void add_folding(std::uint64_t ns) noexcept {
    __atomic_fetch_add(&folding_ns_, ns, __ATOMIC_RELAXED);
  }

  std::size_t memory_limit_ = 0;
  tree_budget budget_;
  chunk_pool pool_;
  site_table sites_;
  path_table paths_{budget_};
  pthread_key_t thread_end_{};
  // false: the process has no more keys, and a thread that ended is shown as going on
  bool knows_thread_ends_ = false;
  std::mutex threads_mutex_;
  std::vector<thread_log*> threads_;
  thread_log* others_ = nullptr;  // the totals of ended threads beyond those kept apart
  thread_log* free_logs_ = nullptr;
  std::uint32_t last_number_ = 0;
  thread_log* forked_log_ = nullptr;  // of the thread that forked, in the child
  char* forked_at_ = nullptr;
  std::uint64_t child_since_ = 0;
  bool child_pending_ = false;
  std::uint64_t closed_elsewhere_ = 0;
  std::uint64_t dropped_ = 0;  // beside what the logs count
  std::uint64_t dropped_inside_ = 0;
  std::uint64_t recycled_until_ = 0;
  std::uint64_t folding_ns_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
