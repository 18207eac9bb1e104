// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_ATTRIBUTION_HPP
#define KPROF_ATTRIBUTE_ATTRIBUTION_HPP

// Joins what devices did to the scopes that launched it. Threads note launches in their logs;
// activities come later and in any order. Attribution matches the two by correlation id and adds
// each activity to the totals of the launching thread. It knows no collector in particular. Its
// memory is bounded; an activity that never finds its launch is counted and listed by name.

#include <kprof/attribute/busy_time.hpp>
#include <kprof/attribute/device_history.hpp>
#include <kprof/attribute/device_rows.hpp>
#include <kprof/attribute/graph_nodes.hpp>
#include <kprof/attribute/kernel_names.hpp>
#include <kprof/attribute/known_devices.hpp>
#include <kprof/attribute/launch_table.hpp>
#include <kprof/attribute/log_cursor.hpp>
#include <kprof/attribute/own_work.hpp>
#include <kprof/attribute/pending_activities.hpp>
#include <kprof/attribute/replays.hpp>
#include <kprof/attribute/tick_line.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL attribution {
 public:
  attribution(recorder& threads, tree_budget& budget)
      : threads_(threads), budget_(budget), names_(budget), unknown_(budget) {}

  /// Guards everything here but the graph nodes, which have a lock of their own. Locked before the
  /// recorder's locks.
  std::mutex& mutex() noexcept { return mutex_; }
  graph_nodes& graphs() noexcept { return graphs_; }

  /// Bytes of a session's `memory` that attribution takes, unless launches pile up.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return memory / 5 + device_history::share(memory);
  }

  // The caller of everything below holds the lock.

  /// Begins a recording at `now`, in CLOCK_REALTIME ns: forgets what was counted, and ignores the
  /// activities of launches made before. `memory`: bytes of the session. `with_history`: notes
  /// when what happened.
  void restart(std::uint64_t now, std::size_t memory, bool with_history = true) {
    recording_since_ = epoch_ = now;
    history_.restart(with_history ? memory : 0);
    // Unread records take an eighth of the memory at most, 88 bytes each at least, and a launch may
    // go by two ids.
    launches_.set_limit(memory / 256, memory / 128);
    graphs_.set_limit(memory / 1024);
    pending_.set_limit(memory);
    launches_.ignore_all(launch_note::ignored);
    pending_.clear();
    unknown_.clear();
    names_.clear();  // only rows refer to them
    devices_.forget_times();
    complete_ = {};
    reading_ns_ = 0;
  }

  /// Takes all launches that threads have noted so far. `line`: the latest. `launching`: calls that
  /// had not ended before. A pending activity that may be of one of these waits for it.
  void take_launches(const tick_line& line, const calls_under_way& launching = {}) {
    line_ = line;
    launching_ = launching;
    threads_.each_thread([&](thread_log& log) {
      known_launch l;
      bool is_noted = false;
      for (const launch_note& n : log.launches) {
        l.correlation = n.correlation;
        if (n.alias) {
          ++l.alias_by;
          if (is_noted) history_.also_known_as(n.correlation);
        } else {
          l.alias_by = 0;
          l.path = n.path, l.thread = n.thread, l.kind = n.kind, l.ticks = n.ticks;
          is_noted = note(n, l);
        }
        if (n.kind != record_kind::host_call) launches_.add(l);
      }
      log.launches.clear();
    });
    history_.windows.want(
        threads_.windows().all(),
        [this](std::uint64_t ticks) { return since_epoch(line_.realtime_of(ticks)); },
        history_.whole_since);
  }
  /// When the session started, by the latest reading of CLOCK_REALTIME, which may have been set.
  void set_epoch(std::uint64_t realtime_ns) noexcept { epoch_ = realtime_ns; }
  device_history& history() noexcept { return history_; }

  void leave_out(const observed_call& by_kprof) { detail::leave_out(by_kprof, launches_); }
  own_work_span own_work;
  /// Counts activities under the scopes of their launches; as dropped what there is no memory for.
  void take(const activity* some, std::size_t count) {
    threads_.with_threads([&](auto find_log) {
      log_cursor at(find_log);
      // One attempt for as many as there is memory for.
      for (std::size_t i = 0; i < count; ++i)
        if (!attempt([&] {
              for (; i < count; ++i) take_one(some[i], at);
            }))
          ++complete_.dropped;
    });
    pending_.count_records(count);
  }

  /// The records of all launches before `now`, in ticks, are about to be fetched.
  /// Called after take_launches().
  void begin_flush(std::uint64_t now) {
    flush_began_ = now;
    threads_.each_thread([](thread_log& log) { log.missing.begin_flush(); });
  }
  /// All of them have come.
  void end_flush() {
    const bool lost = complete_.dropped != 0 || complete_.unknown != 0 || is_any_unknown() ||
                      complete_.cut_buffers != 0 || complete_.foreign_buffers != 0;
    threads_.each_thread([lost](thread_log& log) { log.missing.end_flush(lost); });
  }

  /// Looks again for the launches of all pending activities.
  void retry_pending() {
    if (pending_.empty()) return;
    threads_.with_threads([&](auto find_log) {
      log_cursor at(find_log);
      retry_pending(at);
    });
  }
  /// The same if enough new records have come to pay for it.
  void retry_pending_if_due() {
    if (pending_.retry_is_due()) retry_pending();
  }
  /// No more launches will come: counts all pending activities as of unknown launch.
  void count_pending_as_unknown() { count_as_unknown(pending_.take_all()); }

  /// Nobody tells of launches and graphs from here on, until a collector starts again.
  void stop_listening() {
    graphs_.stop_listening();
    threads_.each_thread(
        [](thread_log& log) { static_cast<void>(attempt([&] { log.cut_open_launches(); })); });
  }

  void describe(const device_description& d) { devices_.describe(d); }
  std::vector<device_info> devices() { return devices_.profile(); }
  void count_loss(loss what, std::uint64_t n) noexcept { detail::count(what, n, complete_); }
  /// What reading records cost, in ns of the reading thread.
  void count_reading(std::uint64_t ns) noexcept { reading_ns_ += ns; }

  /// Writes all but the rows of threads, which are with their logs. Calls unknown(row) for each row
  /// of work whose launch is not known, for now also of pending activities that wait for no call.
  template <class Unknown>
  void describe(device_profile& out, Unknown unknown) {
    out.kernels = names_.all();
    out.complete = complete_;
    out.complete.forgotten_graphs = graphs_.forgotten();
    device_totals rows(budget_);
    rows.merge(unknown_, {call_tree::root});
    known_devices with_pending = pending_.empty() ? known_devices{} : devices_;
    for (const pending_activity& p : pending_) {
      if (started_before_recording(p.what) || launching_.may_have(p.what.correlation)) continue;
      ++out.complete.unknown;
      ++out.complete.records;
      if (p.what.timed()) with_pending.room_for(p.what).add(p.what.start, p.what.end);
      else ++out.complete.untimed;
      const std::uint32_t row =
          rows.add(device_key_of(call_tree::root, p.name, p.what), device_run_of(p.what, 0));
      if (history_.items.is_wanted())
        out.timeline.items.push_back(
            to_item(packed_item{p.what, nullptr, 0, 0, row, epoch_}, row - 1));
    }
    rows.each(unknown);
    out.devices = (pending_.empty() ? devices_ : with_pending).profile();
    const std::uint64_t with_record = complete_.attributed + complete_.outside;
    out.complete.open = complete_.launches > with_record ? complete_.launches - with_record : 0;
    out.collecting_ns = static_cast<double>(reading_ns_);
  }

  /// Bytes held now.
  std::size_t bytes() {
    return history_.bytes() + launches_.bytes() + pending_.bytes() + graphs_.bytes();
  }

 private:
  /// A launch or another call: how long it took, and whether it is kept with the calls.
  bool note(const launch_note& n, known_launch& l) {
    if (n.path != launch_note::ignored && n.kind != record_kind::host_call) ++complete_.launches;
    l.packed_took = known_launch::unknown_took;
    if (n.function == 0 || n.path == launch_note::ignored) return false;
    const std::uint64_t begin = line_.realtime_of(n.ticks),
                        end = line_.realtime_of(n.ticks + n.took);
    l.packed_took = pack_coarsely(end > begin ? end - begin : 0);
    if (n.kind != record_kind::host_call && (n.function & observed_call::blocks) == 0) return false;
    history_.add(
        {since_epoch(begin), since_epoch(end), n.thread, n.path, {n.correlation, 0}, n.function});
    return true;
  }

  template <class Cursor>
  void take_one(const activity& a, Cursor& at) {
    switch (a.kind) {
      case activity_kind::kernel:
      case activity_kind::copy:
      case activity_kind::set: return take_work(a, at);
      case activity_kind::synchronization:
        ++complete_.synchronizations;
        if (a.timed()) complete_.synchronizing_ns += static_cast<double>(a.end - a.start);
        return history_.add_wait(a);
      case activity_kind::event_record: return history_.add_wait(a);
      case activity_kind::overhead:
        if (own_work.has(a)) return;
        if (a.timed()) complete_.overhead_ns += static_cast<double>(a.end - a.start);
        return;
      case activity_kind::odd: ++complete_.odd; return;
    }
  }
  template <class Cursor>
  void take_work(const activity& a, Cursor& at) {
    const std::uint32_t name = a.kind == activity_kind::kernel ? names_.number_of(a.name) : 0;
    if (known_launch* launch = launches_.find(a.correlation))
      return attribute(a, name, *launch, at);
    if (a.correlation == 0) return count_as_unknown({{a, name}});  // no launch has it
    if (pending_.is_full() && pending_.retry_may_make_room()) retry_pending(at);
    if (pending_.is_full()) count_as_unknown(pending_.take_oldest());
    pending_.add(a, name);
  }

  template <class Cursor>
  void attribute(const activity& a, std::uint32_t name, known_launch& launch, Cursor& at) {
    if (launch.path == launch_note::by_kprof) return;
    if (launch.path == launch_note::ignored) {
      ++complete_.ignored;
      return;
    }
    thread_log* const log = at.move_to(launch.thread);
    // There is no such thread when another recording has begun meanwhile.
    if (log == nullptr) return add_unknown(a, name);
    // What needs memory comes before what counts: a record is counted whole or as dropped.
    busy_time& busy = devices_.room_for(a);
    known_launch& first = launches_.primary(launch);
    captured_scope captured;
    bool is_foreign = false, is_older = false;
    std::uint32_t node = 0;
    if (a.graph_node == 0) {
      node = at.node_of(launch.path);
    } else if (graphs_.find(a.graph_node, launch.ticks, captured, &is_older)) {
      node = log->paths.replayed_node(launch.path, captured.path);
    } else {
      node = log->paths.foreign_graph_node(launch.path), is_foreign = true;
    }
    const std::uint64_t when = line_.realtime_of(launch.ticks);
    const std::uint32_t row = log->device.add(device_key_of(node, name, a), device_run_of(a, when));
    detail::count(a, busy, complete_);
    if (is_foreign) ++complete_.foreign_graphs;
    else if (is_older) ++complete_.older_graphs;
    history_.add(a, &first, when, log->number, row, epoch_);
    if (a.graph_node != 0) {
      count_replayed_scopes(log->tree, threads_.sites(), node, captured.scopes_started_here);
      if (!first.seen) count_replayed_graph(log->tree, node);
    }
    if (!first.seen) {
      first.seen = true;
      ++(at.in_operator(node, threads_.sites()) ? complete_.attributed : complete_.outside);
      // What a graph does is found only by a flush.
      if (a.graph_node == 0) log->missing.found(node, first.kind, first.ticks < flush_began_);
    }
    launch.seen = true;
    launch.may_have_more = first.may_have_more = a.graph_node != 0;
    if (name == device_key::merged_name) ++complete_.merged;
  }

  bool is_any_unknown() const noexcept {
    return std::any_of(pending_.begin(), pending_.end(), [this](const pending_activity& p) {
      return !launching_.may_have(p.what.correlation);
    });
  }
  bool started_before_recording(const activity& a) const noexcept {
    return a.timed() && a.start < recording_since_;
  }

  template <class Cursor>
  void retry_pending(Cursor& at) {
    for (const pending_activity& p : pending_.take_for_retry()) {
      known_launch* const launch = launches_.find(p.what.correlation);
      const bool kept = attempt([&] {
        if (launch != nullptr) attribute(p.what, p.name, *launch, at);
        else pending_.add(p.what, p.name);
      });
      if (!kept) ++complete_.dropped;
    }
  }
  void count_as_unknown(const std::vector<pending_activity>& some) {
    for (const pending_activity& p : some) {
      if (started_before_recording(p.what)) {
        ++complete_.ignored;
        continue;
      }
      if (!attempt([&] { add_unknown(p.what, p.name); })) ++complete_.dropped;
    }
  }
  void add_unknown(const activity& a, std::uint32_t name) {
    busy_time& busy = devices_.room_for(a);
    const std::uint32_t row =
        unknown_.add(device_key_of(call_tree::root, name, a), device_run_of(a, 0));
    detail::count(a, busy, complete_);
    ++complete_.unknown;
    history_.add(a, nullptr, 0, 0, row, epoch_);
  }
  std::int64_t since_epoch(std::uint64_t realtime_ns) const noexcept {
    return static_cast<std::int64_t>(realtime_ns - epoch_);
  }

  std::mutex mutex_;  // see mutex()
  recorder& threads_;
  tree_budget& budget_;
  graph_nodes graphs_;
  launch_table launches_;
  pending_activities pending_;
  kernel_names names_;
  device_totals unknown_;  // work whose launch is not known
  known_devices devices_;
  device_history history_;
  device_completeness complete_;
  std::uint64_t recording_since_ = 0;  // CLOCK_REALTIME ns
  std::uint64_t epoch_ = 0;            // the same, see set_epoch()
  std::uint64_t flush_began_ = 0;      // the latest, in ticks
  tick_line line_;                     // see take_launches()
  calls_under_way launching_;          // see take_launches()
  std::uint64_t reading_ns_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
