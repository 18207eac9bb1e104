// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_RECORDER_HPP
#define KPROF_RECORD_RECORDER_HPP

// The recorder: all threads' logs, the memory they share, and what happens when the process forks
// or a module is unloaded. One per process, never freed. What guards call is in
// scope_functions.hpp.
// Locks are taken in this order: the list of threads, one thread's log, then sites, paths or the
// pool.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/chunk_supply.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/forked_child.hpp>
#include <kprof/record/lock_in_time.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/part_calls.hpp>
#include <kprof/record/recorder_counts.hpp>
#include <kprof/record/this_thread.hpp>
#include <kprof/record/thread_list.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/write/attempt.hpp>

#include <pthread.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL recorder;
// The recorder whose functions guards call, in the module that owns it.
KPROF_DETAIL_LOCAL inline constinit recorder* own_recorder = nullptr;

class KPROF_DETAIL_LOCAL recorder {
 public:
  static constexpr std::size_t smallest_memory = 1024 * 1024;

  recorder() {
    knows_thread_ends_ = pthread_key_create(&thread_end_, [](void* log) {
                           own_recorder->end_thread(*static_cast<thread_log*>(log));
                         }) == 0;
  }
  ~recorder() {
    if (knows_thread_ends_) pthread_key_delete(thread_end_);
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// Half of the memory may go to totals, three quarters to logs; each has what the other leaves.
  void set_memory(std::size_t bytes) noexcept {
    memory_limit_.store(bytes, std::memory_order_relaxed);
    budget_.set_limit(bytes / 2);
    chunks_.set_memory(bytes);
  }
  std::size_t memory_limit() const noexcept {
    return memory_limit_.load(std::memory_order_relaxed);
  }
  tree_budget& budget() noexcept { return budget_; }
  std::size_t memory_held() noexcept { return chunks_.pool.held() + budget_.now(); }

  /// Gives a call site its number; false when there are too many, and without memory.
  bool number(site& where) noexcept {
    bool numbered = false;
    return attempt([&] { numbered = sites_.number_of(where) != 0; }) && numbered;
  }

  /// Makes room in this thread's log for a record and the ends of all that is open then. Folds at
  /// most three chunks. False, and counted in `lost`, when there is no room.
  [[gnu::noinline]] bool more_room(std::size_t record,
                                   std::atomic<std::uint64_t> recorder_counts::*lost) noexcept {
    patience waits;
    const bool joined = !recorder_is_lost && attempt([&] { restart_in_child(), join(waits); });
    if (!joined || this_log == &empty_log) return counts_.lose(lost);
    auto& log = *static_cast<thread_log*>(this_log);
    if (log.fits_no_chunk(record)) return counts_.lose(lost);
    chunk* const c = chunks_.refill(log, deferrable_chunks(), waits);
    if (c == nullptr && !chunks_.begin_anew(log, waits)) return counts_.lose(lost);
    auto own = waits.lock(log.mutex());
    if (!own && c == nullptr) return true;
    if (!own) return chunks_.pool.give_back(c), counts_.lose(lost);
    if (c != nullptr) log.append(c, chunks_.pool);
    const std::size_t waiting = log.parts.size(), few = threads_.deferrable_parts(memory_limit());
    if (waiting < few) return true;
    const std::uint64_t until = log.parts[waiting / 2].end;  // by which others have folded
    return own.unlock(), join_parts_in_turn(until, waiting / few), true;
  }

  /// Counts a scope for which the tables have no place or no memory; always false.
  bool drop() noexcept { return counts_.lose(&recorder_counts::dropped); }
  /// Counts a scope that came while kprof itself was at work on its thread; always false.
  bool drop_inside() noexcept { return counts_.lose(&recorder_counts::dropped_inside); }
  /// Counts an end that belongs to no open scope of its thread.
  void count_closed_elsewhere() noexcept {
    counts_.closed_elsewhere.fetch_add(1, std::memory_order_relaxed);
  }

  /// Calls visit(thread_log&) for each thread, folded up to now and locked, and then after(). No
  /// thread joins or ends meanwhile, and no parts of shared calls are joined.
  template <class Visit, class... After>
  void each_thread(Visit visit, After... after) {
    const mark_inside_kprof mark;
    restart_in_child();
    const std::lock_guard lock(threads_.mutex());
    counts_.time_snapshot_folding([this] { threads_.fold_ended(); });
    for (thread_log* log : threads_.logs()) {
      const std::lock_guard own(log->mutex());
      counts_.time_snapshot_folding([log] { log->fold(); });
      visit(*log);
    }
    (after(), ...);
  }

  /// Joins the parts of shared calls that ended up to `until`, in ticks.
  void join_parts(std::uint64_t until) {
    const mark_inside_kprof mark;
    restart_in_child();
    const std::lock_guard lock(threads_.mutex());
    counts_.time_snapshot_folding([&] { threads_.join_parts(until); });
  }
  const part_calls& shared_calls() const noexcept { return threads_.shared_calls(); }
  /// Calls use(find) while no thread joins or ends: find(number) is thread_list::find.
  template <class Use>
  void with_threads(Use use) {
    const mark_inside_kprof mark;
    const std::lock_guard lock(threads_.mutex());
    use([this](std::uint32_t number) -> thread_log* { return threads_.find(number); });
  }

  /// Notes in this thread's log a call that launched work on a device, under its own and other
  /// correlation ids. Without any its work cannot be found. `kind`: one of the launches, or
  /// host_call. `call`: a call_word.
  void note_launch(const std::uint32_t* ids, std::uint32_t count, std::uint64_t ticks,
                   record_kind kind, std::uint64_t call = 0) noexcept {
    if (inside_kprof) return;
    if (count > max_launch_ids) count = max_launch_ids;
    const call_payload payload(call, ids, count);
    const std::uint64_t word = record_word(kind, count == 0 ? 0 : ids[0], payload.size);
    if (!has_room(*this_log, record_size(word))) {
      const mark_inside_kprof mark;
      if (!more_room(record_size(word), &recorder_counts::launches_lost)) return;
    }
    // A signal's handler may have taken the room.
    if (!append_record(*this_log, word, ticks, &payload, payload.size))
      static_cast<void>(counts_.lose(&recorder_counts::launches_lost));
  }

  /// The number of this thread's log.
  static std::uint32_t this_thread() noexcept {
    return this_log == &empty_log ? 0 : static_cast<const thread_log*>(this_log)->number;
  }

  /// The path of this thread's innermost open scope; 0: none, or no memory.
  std::uint32_t capture() noexcept {
    return with_own_log([](thread_log& log) { return log.capture(); });
  }
  /// Where this thread is, for a node of a graph that is being built; `does_work`: it may be the
  /// first work of a scope. unknown_path without memory.
  captured_scope capture_for_graph(std::uint64_t graph, bool does_work) noexcept {
    const auto use = [graph, does_work](thread_log& log) {
      return does_work ? log.capture_for(graph) : captured_scope{log.capture(), 0};
    };
    return with_own_log(use, {captured_scope::unknown_path, 0});
  }

  /// For a node of an executable graph that belongs to `before`, and whose parameters this thread
  /// sets: the path of the innermost open scope, where it lies as `before` does in a call of the
  /// same operator, which then did nothing itself. unknown_path elsewhere, and without memory.
  std::uint32_t set_up_in_graph(std::uint32_t before) noexcept {
    const auto use = [&](thread_log& log) {
      const std::uint32_t path = log.capture();
      const std::uint32_t count = scopes_of_one_operator(path, before);
      if (count == 0) return captured_scope::unknown_path;
      log.capture_others(count);
      return path;
    };
    return with_own_log(use, captured_scope::unknown_path, captured_scope::unknown_path);
  }
  /// The open scopes capture a graph into another: work of the scopes that it was captured in.
  void capture_others() noexcept {
    with_own_log([](thread_log& log) { return log.fold(), log.capture_others(), 0; });
  }

  /// Forgets all totals; what is open stays open from `now` on. `memory`: as set_memory(); 0: as
  /// before. Without memory it throws, and nothing has been forgotten.
  void restart(std::uint64_t now, std::size_t memory = 0) {
    const mark_inside_kprof mark;
    restart_in_child();
    const std::lock_guard lock(threads_.mutex());
    restart_locked(now, memory == 0 ? memory_limit() : memory);
    counts_.reset();
  }

  /// Turns everything that refers to a module's code into values, before it is unloaded. What there
  /// was no memory for has no values.
  void detach(const module_record& leaving) noexcept {
    static_cast<void>(attempt([this] { each_thread([](thread_log&) {}); }));
    sites_.forget_formulas(&leaving);
  }

  // The child of a fork has one thread, which goes on, and a profile of its own.
  void before_fork() {
    threads_.mutex().lock();
    for (thread_log* log : threads_.logs()) log->mutex().lock();
    sites_.mutex().lock();
    paths_.mutex().lock();
    chunks_.pool.mutex().lock();
    chunks_.windows.mutex().lock();
  }
  void after_fork() {
    chunks_.windows.mutex().unlock();
    chunks_.pool.mutex().unlock();
    paths_.mutex().unlock();
    sites_.mutex().unlock();
    for (thread_log* log : threads_.logs()) log->mutex().unlock();
    threads_.mutex().unlock();
  }
  /// In the child. Most children run another program at once, so the work of starting over is left
  /// to the child's first scope or snapshot.
  void in_child(std::uint64_t now) noexcept {
    after_fork();
    counts_.reset();
    child_.since = now;
    child_.log = this_log == &empty_log ? nullptr : static_cast<thread_log*>(this_log);
    if (child_.log != nullptr) child_.at = child_.log->begin_in_child();
    child_.pending.store(true, std::memory_order_release);
  }

  /// Called by a thread that ends, before its totals may be moved, which have no timeline then.
  std::atomic<void (*)(thread_log&) noexcept> before_thread_ends{nullptr};
  site_table& sites() noexcept { return sites_; }
  path_table& paths() noexcept { return paths_; }
  const recorder_counts& counts() const noexcept { return counts_; }
  /// The steps whose scopes are kept when the timeline no longer reaches back to them.
  step_windows& windows() noexcept { return chunks_.windows; }

 private:
  /// Chunks that a thread may leave to the next snapshot to fold: together a quarter of all. Those
  /// are folded when they have left the cache, but a program that takes a snapshot now and then
  /// pays for folding there and not in its scopes.
  std::uint32_t deferrable_chunks() const noexcept {
    const std::size_t all = memory_limit() / chunk::size / 4;
    return static_cast<std::uint32_t>(all / (threads_.running() + 1));
  }

  /// By a thread whose parts are `times` as many as may wait. While another thread joins, or
  /// without memory, they stay. With more this waits for it up to 5 ms, and with many a second.
  void join_parts_in_turn(std::uint64_t until, std::size_t times) noexcept {
    std::unique_lock lock(threads_.mutex(), std::try_to_lock);
    if (!lock && times >= 4) lock = lock_within(times < 16 ? 5 : 1000, threads_.mutex());
    if (lock)
      static_cast<void>(
          attempt([&] { counts_.time_folding([&] { threads_.join_parts(until); }); }));
  }

  template <class Use, class Result = std::invoke_result_t<Use, thread_log&>>
  Result with_own_log(Use use, Result without_memory = {}, Result without_log = {}) noexcept {
    Result out = without_log;
    if (this_log == &empty_log || inside_kprof || recorder_is_lost) return out;
    const mark_inside_kprof mark;
    const bool had_memory = attempt([&] {
      restart_in_child();
      auto& log = *static_cast<thread_log*>(this_log);
      const auto own = lock_in_time(log.mutex());
      out = own ? use(log) : without_memory;
    });
    return had_memory ? out : without_memory;
  }

  /// How many scopes, from the innermost outwards, are of the same call sites in both paths, up to
  /// an operator's. 0 where they are not, or lie in other scopes.
  std::uint32_t scopes_of_one_operator(std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t count = 1;; ++count) {
      const path_table::step one = paths_[a], other = paths_[b];
      if (one.site == 0 || one.site != other.site) return 0;  // 0: of no path
      if (sites_[one.site].op != nullptr) return one.parent == other.parent ? count : 0;
      a = one.parent, b = other.parent;
    }
  }

  /// Gives this thread a log, if it has none and has not ended.
  void join(patience& waits) {
    if (this_log != &empty_log || has_left_recorder) return;
    const auto lock = waits.lock(threads_.mutex());
    if (!lock) return;
    thread_log& log = threads_.join();
    this_log = &log;
    if (knows_thread_ends_) pthread_setspecific(thread_end_, &log);
  }
  /// The thread ends. Destructors of other keys may have guards too: the log stays for all rounds
  /// of them but the last, in which sanitizers end the thread for themselves. What comes later is
  /// dropped.
  void end_thread(thread_log& log) noexcept {
    if (recorder_is_lost) return;
    if (++log.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
        pthread_setspecific(thread_end_, &log) == 0)
      return;
    const mark_inside_kprof mark;
    if (const auto tell = before_thread_ends.load())
      static_cast<void>(attempt([&] { restart_in_child(), tell(log); }));
    const std::lock_guard lock(threads_.mutex());
    has_left_recorder = true, this_log = &empty_log;
    threads_.leave(log);
  }

  /// In the child of a fork, once: forgets the parent's other threads and starts over. Without
  /// memory it throws, and the next call tries again.
  void restart_in_child() {
    if (!child_.pending.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(threads_.mutex());
    if (!child_.pending.load(std::memory_order_relaxed)) return;
    chunks_.stop_keeping();
    threads_.forget_other_threads(child_.log);
    restart_locked(child_.since, memory_limit());
    child_.log = nullptr;
    child_.pending.store(false, std::memory_order_release);
  }
  void restart_locked(std::uint64_t now, std::size_t memory) {
    threads_.fold(child_.log, child_.at);
    chunks_.stop_keeping(), paths_.begin_recording();
    chunks_.limit_to(memory);  // before threads that record take what is given back now
    threads_.forget(now);
    set_memory(memory), chunks_.give_back_excess();
    // Without memory what it would forget stays until the next recording.
    static_cast<void>(attempt([this] { paths_.forget_earlier(); }));
  }

  std::atomic<std::size_t> memory_limit_{0};
  tree_budget budget_;
  site_table sites_;
  path_table paths_{budget_};
  recorder_counts counts_;
  chunk_supply chunks_{counts_, budget_};
  thread_list threads_{sites_, paths_, budget_, chunks_, counts_};
  pthread_key_t thread_end_{};
  bool knows_thread_ends_ = false;  // else, without keys, one that ended is shown as going on
  forked_child child_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
