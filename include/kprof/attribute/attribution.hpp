// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_ATTRIBUTION_HPP
#define KPROF_ATTRIBUTE_ATTRIBUTION_HPP

// Joins what devices did to the scopes that launched it: launches, which threads note in their
// logs, and activities, which come later and in any order, meet here by correlation id and are
// added to the totals of the launching thread. Knows no source of activities in particular. Memory
// is bounded; what never meets is counted and kept by name.

#include <kprof/attribute/busy_time.hpp>
#include <kprof/attribute/graph_nodes.hpp>
#include <kprof/attribute/kernel_names.hpp>
#include <kprof/attribute/launch_table.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/record/recorder.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The row of the totals in which an activity of the scope `node` is counted.
inline device_key device_key_of(std::uint32_t node, std::uint32_t name,
                                const activity& a) noexcept {
  device_key k;
  k.node = node;
  k.name = name;
  k.kind = static_cast<std::uint32_t>(a.kind);
  k.device = a.device;
  k.stream = a.stream;
  k.places = std::uint32_t{a.direction} | std::uint32_t{a.from} << 8U | std::uint32_t{a.to} << 16U;
  for (int i = 0; i < 3; ++i) k.grid[i] = a.grid[i], k.block[i] = a.block[i];
  k.static_shared = a.static_shared;
  k.dynamic_shared = a.dynamic_shared;
  k.registers = a.registers;
  return k;
}

/// What is added up of an activity. `launched`: when the call that launched it began, in the clock
/// of the records; 0: that is not known.
inline device_run device_run_of(const activity& a, std::uint64_t launched) noexcept {
  device_run run{.timed = a.timed(), .bytes = a.bytes};
  if (!run.timed) return run;
  run.ns = a.end - a.start;
  run.launch_seen = launched != 0;
  // Two clocks: a start may seem to come before its launch.
  if (run.launch_seen && a.start > launched) run.gap_ns = a.start - launched;
  return run;
}

// Guarded by its mutex, but for the graph nodes, which have their own. It is locked before the
// recorder's locks.
class KPROF_DETAIL_LOCAL attribution {
 public:
  attribution(recorder& threads, tree_budget& budget)
      : threads_(threads), budget_(budget), names_(budget), unknown_(budget) {}

  std::mutex& mutex() noexcept { return mutex_; }
  graph_nodes& graphs() noexcept { return graphs_; }

  // Everything below needs the lock.

  /// Forgets what was seen, and ignores what was launched before; `now` begins a recording, in
  /// CLOCK_REALTIME ns. `memory`: bytes for what waits.
  void restart(std::uint64_t now, std::size_t memory) {
    since_ = now;
    // No more records are unread than fit into an eighth of the memory, of 88 bytes at least, and a
    // launch may go by two ids.
    launches_.set_limit(memory / 256, memory / 128);
    graphs_.set_limit(memory / 1024);
    most_waiting_ = std::max<std::size_t>(memory / 2048, 256);
    waiting_.reserve(most_waiting_);
    launches_.ignore_all(launch_note::ignored);
    waiting_.clear();
    unknown_.clear();
    names_.clear();  // only rows refer to them
    for (device& d : devices_) d.busy = {};
    complete_ = {};
    reading_ns_ = 0;
  }

  /// Takes all launches that threads have noted so far. `to_realtime` turns their ticks into
  /// CLOCK_REALTIME ns.
  template <class ToRealtime>
  void take_launches(ToRealtime to_realtime) {
    threads_.each_thread([&](thread_log& log) {
      std::uint32_t alias_by = 0;
      for (const launch_note& n : log.launches) {
        alias_by = n.alias ? alias_by + 1 : 0;
        if (!n.alias && n.path != launch_note::ignored) ++complete_.launches;
        launches_.add({n.correlation, n.path, n.thread, 0, to_realtime(n.ticks), alias_by, false});
      }
      log.launches.clear();
    });
  }

  /// Counts activities, under the scopes of their launches.
  void take(const activity* some, std::size_t count) {
    threads_.with_threads([&](auto find_log) {
      cursor at(find_log);
      for (std::size_t i = 0; i < count; ++i) take_one(some[i], at);
    });
    taken_ += count;
  }

  /// Looks again for the launches of what waits: a call may take longer than the work it launched,
  /// and is noted at its end.
  void settle() {
    if (waiting_.empty()) return;
    threads_.with_threads([&](auto find_log) {
      cursor at(find_log);
      look_again(at);
    });
  }
  /// The same if there is not more to look for than was taken since: what waits in vain costs a
  /// look a record at the most.
  void settle_if_worth_it() {
    if (taken_ >= waiting_.size()) settle();
  }
  /// No more launches will come: whatever waits has none.
  void give_up_waiting() { give_up_oldest(waiting_.size()); }

  void describe(const device_description& d) {
    device& known = device_of(d.id);
    known.info.described = true;
    known.info.name = d.name == nullptr ? "" : d.name;
    known.info.compute_major = d.compute_major;
    known.info.compute_minor = d.compute_minor;
    known.info.multiprocessors = d.multiprocessors;
    known.info.memory_bytes = d.memory_bytes;
    known.info.memory_bytes_per_s = d.memory_bytes_per_s;
    known.info.clock_hz = d.clock_hz;
  }
  void count_dropped(std::uint64_t records) noexcept { complete_.dropped += records; }
  void count_reading(std::uint64_t ns) noexcept { reading_ns_ += ns; }

  /// Bytes that this takes of `memory`, unless launches pile up.
  static constexpr std::size_t share(std::size_t memory) noexcept { return memory / 5; }

  /// All but the rows of threads, which are with their threads. Calls unknown(row) for the rows of
  /// no thread.
  template <class Unknown>
  void describe(device_profile& out, Unknown unknown) {
    for (device& d : devices_) {
      if (!d.info.described && d.busy.sum() == 0) continue;
      d.info.busy_ns = static_cast<double>(d.busy.busy());
      d.info.sum_ns = static_cast<double>(d.busy.sum());
      d.info.busy_is_exact = d.busy.exact();
      out.devices.push_back(d.info);
    }
    std::sort(out.devices.begin(), out.devices.end(),
              [](const device_info& a, const device_info& b) { return a.id < b.id; });
    out.kernels = names_.all();
    out.complete = complete_;
    out.complete.forgotten_graphs = graphs_.forgotten();
    device_totals rows(budget_);
    rows.merge(unknown_, {call_tree::root});
    for (const waiting_activity& w : waiting_) {
      if (is_of_before(w.what)) continue;
      ++out.complete.unknown;
      ++out.complete.records;
      rows.add(device_key_of(call_tree::root, w.name, w.what), device_run_of(w.what, 0));
    }
    rows.each(unknown);
    const std::uint64_t seen = complete_.attributed + complete_.outside;
    out.complete.open = complete_.launches > seen ? complete_.launches - seen : 0;
    out.collecting_ns = static_cast<double>(reading_ns_);
  }

  std::size_t bytes() {
    return launches_.bytes() + waiting_.capacity() * sizeof(waiting_activity) + graphs_.bytes();
  }

 private:
  struct waiting_activity {
    activity what;  // but for its name's text, which is CUPTI's
    std::uint32_t name;
  };
  struct device {
    device_info info;
    busy_time busy;
  };

  /// The log that is written to, locked; most activities in a row are of one thread.
  template <class FindLog>
  class cursor {
   public:
    explicit cursor(FindLog find) : find_(find) {}
    ~cursor() { unlock(); }
    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;

    thread_log* of(std::uint32_t thread) {
      if (log_ != nullptr && thread == thread_) return log_;
      unlock();
      thread_ = thread;
      log_ = find_(thread);
      if (log_ != nullptr) log_->mutex().lock();
      path_ = checked_ = ~std::uint32_t{0};
      return log_;
    }
    /// The node of a path in the log.
    std::uint32_t node(std::uint32_t path) {
      if (path != path_) node_ = log_->node_of(path), path_ = path;
      return node_;
    }
    /// Whether the node is an operator or in one.
    bool in_operator(std::uint32_t n, const site_table& sites) {
      if (n == checked_) return checked_is_in_;
      checked_ = n;
      for (; n != call_tree::root && sites[log_->tree[n].site].op == nullptr;
           n = log_->tree[n].parent) {}
      return checked_is_in_ = n != call_tree::root;
    }

   private:
    void unlock() {
      if (log_ != nullptr) log_->mutex().unlock();
      log_ = nullptr;
    }

    FindLog find_;
    thread_log* log_ = nullptr;
    std::uint32_t thread_ = 0;
    std::uint32_t path_ = 0;
    std::uint32_t node_ = 0;
    std::uint32_t checked_ = 0;
    bool checked_is_in_ = false;
  };
  template <class Cursor>
  void take_one(const activity& a, Cursor& at) {
    switch (a.kind) {
      case activity_kind::kernel:
      case activity_kind::copy:
      case activity_kind::set: break;
      case activity_kind::synchronization:
        ++complete_.synchronizations;
        if (a.timed()) complete_.synchronizing_ns += static_cast<double>(a.end - a.start);
        return;
      case activity_kind::overhead:
        if (a.timed()) complete_.overhead_ns += static_cast<double>(a.end - a.start);
        return;
      case activity_kind::odd: ++complete_.odd; return;
    }
    const std::uint32_t name = a.kind == activity_kind::kernel ? names_.number_of(a.name) : 0;
    if (known_launch* launch = launches_.find(a.correlation))
      return attribute(a, name, *launch, at);
    if (waiting_.size() >= most_waiting_ && taken_ >= most_waiting_ / 4) look_again(at);
    if (waiting_.size() >= most_waiting_) give_up_oldest(most_waiting_ / 4);
    waiting_.push_back({a, name});
  }

  template <class Cursor>
  void attribute(const activity& a, std::uint32_t name, known_launch& launch, Cursor& at) {
    if (launch.path == launch_note::ignored) {
      ++complete_.ignored;
      return;
    }
    count(a);
    thread_log* const log = at.of(launch.thread);
    // no such thread: the recording began anew meanwhile
    if (log == nullptr) return add_unknown(a, name);
    known_launch& first = launches_.primary(launch);
    captured_scope captured;
    std::uint32_t node = 0;
    if (a.graph_node == 0) {
      node = at.node(launch.path);
    } else if (graphs_.find(a.graph_node, launch.when, captured)) {
      node = log->replayed_node(launch.path, captured.path);
    } else {
      node = log->foreign_graph_node(launch.path);
      ++complete_.foreign_graphs;
    }
    if (a.graph_node != 0) count_replay(*log, node, captured.leads, !first.seen);
    if (!std::exchange(first.seen, true))
      ++(at.in_operator(node, threads_.sites()) ? complete_.attributed : complete_.outside);
    launch.seen = true;
    launch.may_have_more = first.may_have_more = a.graph_node != 0;
    log->device.add(device_key_of(node, name, a), device_run_of(a, launch.when));
    if (name == device_key::merged_name) ++complete_.merged;
  }

  /// A node of a graph has run: the scopes whose first it is were called once more. `first`: of
  /// this launch.
  void count_replay(thread_log& log, std::uint32_t node, std::uint32_t leads, bool first) {
    call_tree& tree = log.tree;
    const auto is_graph = [&](std::uint32_t n) { return tree[n].site == site_table::graph_site; };
    for (; leads != 0 && node != call_tree::root && !is_graph(node);
         --leads, node = tree[node].parent)
      ++tree[node].device_calls;
    if (!first) return;
    while (node != call_tree::root && !(is_graph(node) && !is_graph(tree[node].parent)))
      node = tree[node].parent;
    if (node != call_tree::root) ++tree[node].device_calls;
  }

  bool is_of_before(const activity& a) const noexcept { return a.timed() && a.start < since_; }

  template <class Cursor>
  void look_again(Cursor& at) {
    taken_ = 0;
    std::vector<waiting_activity> before;
    before.swap(waiting_);
    for (const waiting_activity& w : before) {
      if (known_launch* launch = launches_.find(w.what.correlation))
        attribute(w.what, w.name, *launch, at);
      else waiting_.push_back(w);
    }
  }
  void give_up_oldest(std::size_t how_many) {
    for (std::size_t i = 0; i < how_many; ++i) {
      const waiting_activity& w = waiting_[i];
      if (is_of_before(w.what)) {
        ++complete_.ignored;
        continue;
      }
      count(w.what);
      add_unknown(w.what, w.name);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(how_many));
  }
  void add_unknown(const activity& a, std::uint32_t name) {
    ++complete_.unknown;
    unknown_.add(device_key_of(call_tree::root, name, a), device_run_of(a, 0));
  }

  void count(const activity& a) {
    ++complete_.records;
    if (!a.timed()) ++complete_.untimed;
    else device_of(a.device).busy.add(a.start, a.end);
  }
  device& device_of(std::uint32_t id) {
    for (device& d : devices_)
      if (d.info.id == id) return d;
    device& made = devices_.emplace_back();
    made.info.id = id;
    return made;
  }

  std::mutex mutex_;
  recorder& threads_;
  tree_budget& budget_;
  graph_nodes graphs_;
  launch_table launches_;
  std::vector<waiting_activity> waiting_;  // for their launches
  std::size_t most_waiting_ = 1024;
  // records, since it was looked for the launches of these
  std::size_t taken_ = 0;
  kernel_names names_;
  device_totals unknown_;  // work whose launch was not seen
  std::vector<device> devices_;
  device_completeness complete_;
  std::uint64_t since_ = 0;
  std::uint64_t reading_ns_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
