// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CPU_TOTALS_HPP
#define KPROF_RECORD_CPU_TOTALS_HPP

// How long the calls of one thread were off the CPU, from what the thread noted of its CPU time now
// and then, how many page faults they had, and which of them met denormal numbers. Guarded by the
// lock of the thread's log. It takes 48 bytes a node of the call tree.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a thread had noted last at some moment.
struct cpu_reading {
  std::uint64_t ticks = 0;      // when; 0: nothing yet
  std::int64_t off_ticks = 0;   // how long the thread had been off the CPU since its first reading
  std::uint32_t denormals = 0;  // how many readings have told of denormal numbers before them
  std::uint32_t faults = 0;     // page faults, modulo 2^32
};

/// Of the calls of one node, in ticks.
struct cpu_sums {
  std::uint64_t measured = 0;  // durations of the calls whose CPU time is known
  std::uint64_t off = 0;       // of that, the time off the CPU: at least
  std::uint64_t denormal = 0;  // of that, durations of the calls that met denormal numbers
  std::uint64_t measured_calls = 0;
  std::uint64_t denormal_calls = 0;
  std::uint64_t faults = 0;  // page faults in the measured calls but the first, at least

  void add(const cpu_sums& other) noexcept {
    measured += other.measured;
    off += other.off;
    denormal += other.denormal;
    measured_calls += other.measured_calls;
    denormal_calls += other.denormal_calls;
    faults += other.faults;
  }
};

class cpu_totals {
 public:
  const cpu_reading& latest() const noexcept { return latest_; }

  /// Adds a reading: the thread's CPU time in ns, its page faults, whether it has met denormal
  /// numbers since the last one, and when that was in ticks.
  void read(std::uint64_t ticks, std::uint64_t cpu_ns, std::uint64_t faults, bool met_denormals,
            double ticks_per_ns) noexcept {
    if (met_denormals) ++latest_.denormals;
    if (ticks <= latest_.ticks) return;  // a guard in a signal's handler has come between
    if (latest_.ticks != 0 && cpu_ns >= cpu_ns_) {
      const double on = static_cast<double>(cpu_ns - cpu_ns_) * ticks_per_ns;
      const std::uint64_t passed = ticks - latest_.ticks;
      latest_.off_ticks += static_cast<std::int64_t>(passed) - static_cast<std::int64_t>(on);
      span_ += passed;
    }
    latest_.ticks = ticks;
    latest_.faults = static_cast<std::uint32_t>(faults);
    fault_ticks_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(250 * ticks_per_ns));
    cpu_ns_ = cpu_ns;
    ++readings_;
  }

  /// A call of `node` has ended. `before`: what had been noted when it began. How much of the time
  /// from then to its begin, and from the latest reading to its end, was spent on the CPU, is not
  /// known: it counts as time on the CPU, and where it is more than an eighth of the call, the
  /// call's CPU time is not known. There is room for the node.
  void add_call(std::uint32_t node, const cpu_reading& before, std::uint64_t begin,
                std::uint64_t ticks) noexcept {
    if (latest_.ticks <= begin) return;
    const std::uint64_t unknown_before = begin > before.ticks ? begin - before.ticks : 0,
                        end = begin + ticks,
                        unknown_after = end > latest_.ticks ? end - latest_.ticks : 0;
    if (unknown_before > ticks / 8 || unknown_after > ticks / 8 ||
        unknown_before + unknown_after > ticks / 8)
      return;
    const std::int64_t off =
        latest_.off_ticks - before.off_ticks - static_cast<std::int64_t>(unknown_before);
    cpu_sums& sums = by_node_[node];
    sums.measured += ticks;
    ++sums.measured_calls;
    if (off > 0) sums.off += std::min(static_cast<std::uint64_t>(off), ticks);
    // The first call touches memory for all later ones. Without a reading before a call nothing is
    // known of what the thread had had, and what may have happened since that reading and before
    // the call is not the call's.
    const std::uint64_t faults = latest_.faults - before.faults,
                        others = unknown_before / fault_ticks_;
    if (sums.measured_calls > 1 && before.ticks != 0 && faults > others)
      sums.faults += faults - others;
    if (latest_.denormals == before.denormals) return;
    sums.denormal += ticks;
    ++sums.denormal_calls;
  }

  cpu_sums of(std::uint32_t node) const noexcept {
    return node < by_node_.size() ? by_node_[node] : cpu_sums{};
  }
  /// Of the whole thread, from its first reading to its latest.
  cpu_sums of_thread() const noexcept {
    const std::int64_t off = latest_.off_ticks + others_off_;
    return {span_, off > 0 ? std::min(static_cast<std::uint64_t>(off), span_) : 0, 0, 0, 0, 0};
  }
  std::uint64_t readings() const noexcept { return readings_; }

  /// Makes room for so many nodes of the call tree.
  void widen_to(std::size_t nodes) {
    if (nodes > by_node_.size()) by_node_.resize(nodes);
  }
  void make_room_for(std::uint32_t node) { widen_to(node + std::size_t{1}); }
  /// Adds another thread's, whose nodes are here as `node_here` says. There is room for all of
  /// these.
  void merge(const cpu_totals& other, const std::vector<std::uint32_t>& node_here) noexcept {
    const std::size_t nodes = std::min(other.by_node_.size(), node_here.size());
    for (std::size_t i = 0; i < nodes; ++i) by_node_[node_here[i]].add(other.by_node_[i]);
    span_ += other.span_;
    others_off_ += other.latest_.off_ticks + other.others_off_;
    readings_ += other.readings_;
  }
  /// Forgets everything, readings too, and keeps the memory: in the child of a fork the thread's
  /// CPU time begins anew, and a log may go to another thread.
  void clear() noexcept {
    std::fill(by_node_.begin(), by_node_.end(), cpu_sums{});
    latest_ = {};
    cpu_ns_ = span_ = readings_ = 0;
    others_off_ = 0;
  }

 private:
  cpu_reading latest_;
  std::uint64_t cpu_ns_ = 0;  // of the latest reading
  std::uint64_t span_ = 0;    // ticks between the readings
  std::uint64_t readings_ = 0;
  std::uint64_t fault_ticks_ = 1;  // that a page fault takes
  std::int64_t others_off_ = 0;    // ticks, of threads that were merged
  std::vector<cpu_sums> by_node_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
