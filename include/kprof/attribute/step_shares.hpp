// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_STEP_SHARES_HPP
#define KPROF_ATTRIBUTE_STEP_SHARES_HPP

// Puts the program's steps into a profile: their marks and sums, and what the scopes of the
// timeline did in those that it has whole. Linear in the timeline. Included by build.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/step_windows.hpp>
#include <kprof/record/thread_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL step_shares {
 public:
  explicit step_shares(const timebase& time) : time_(time) {}

  /// Once for each thread, before the others here: whose steps take most time?
  void look_at(const thread_log& log) {
    nodes_ += log.tree.nodes().size();
    if (log.steps.count < 2 || log.steps.total <= most_ticks_) return;
    most_ticks_ = log.steps.total;
    windows_ = log.steps.kept();
    of_ = &log.steps;
  }
  /// `recycled`: the time in ticks from which on the timeline has all scopes.
  void choose(std::uint64_t recycled, const step_windows& kept) {
    kept_ = kept.all();
    const std::vector<step_window> own = kept.all_of(of_);
    std::vector<step_span> chosen;
    const std::size_t most = most_shared_steps(nodes_);
    for (const step_window& w : own)
      if (w.step.begin < recycled && chosen.size() < most / 2) chosen.push_back(w.step);
    std::size_t first = 0;
    while (first < windows_.size() && windows_[first].begin < recycled) ++first;
    first = std::max(first, windows_.size() - std::min(windows_.size(), most - chosen.size()));
    chosen.insert(chosen.end(), windows_.begin() + static_cast<std::ptrdiff_t>(first),
                  windows_.end());
    windows_ = std::move(chosen);
  }
  /// The steps whose scopes may lie before the timeline's unbroken end.
  const std::vector<step_window>& kept() const noexcept { return kept_; }

  /// The steps of a thread, whose nodes are in the profile from `base` on.
  void add(profile& out, const thread_log& log, std::uint32_t thread, std::uint32_t base,
           std::uint64_t now, const step_windows& kept) {
    if (!kept.all_of(&log.steps).empty()) kept_thread_ = thread;
    add_sums(out, log, thread, now);
    if (!windows_.empty()) add_scopes(out, log, base);
  }

  /// Both are what choose() asks for, as they are now.
  void finish(profile& out, std::uint64_t recycled, const step_windows& kept) {
    if (out.stepping.threads.empty()) return;
    std::sort(out.steps.begin(), out.steps.end(), [](const step_mark& a, const step_mark& b) {
      return a.end != b.end       ? a.end < b.end
             : a.begin != b.begin ? a.begin < b.begin
                                  : a.thread < b.thread;
    });
    std::size_t most = 0;
    for (std::size_t i = 1; i < out.stepping.threads.size(); ++i)
      if (out.stepping.threads[i].total_ns > out.stepping.threads[most].total_ns) most = i;
    if (most != 0) std::swap(out.stepping.threads[0], out.stepping.threads[most]);
    add_kept(out, recycled, kept.all());
    std::vector<step_share> shares = std::exchange(out.stepping.shares, {});
    if (windows_.empty()) return;
    std::vector<std::uint32_t> marks = marks_of_windows(out, out.stepping.threads[0].thread);
    // Another thread has overtaken this one, or the marks were thinned meanwhile.
    if (marks.size() != windows_.size()) return;
    out.stepping.shares.reserve(shares.size());
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const bool is_whole = windows_[i].begin >= recycled;
      if (is_whole && out.stepping.whole_from < 0) out.stepping.whole_from = ns(windows_[i].begin);
      if (!is_whole && !is_kept(out, marks[i])) continue;
      for (const step_share& s : shares)
        if (s.step == i) {
          out.stepping.shares.push_back(s);
          out.stepping.shares.back().step = marks[i];
        }
    }
  }

 private:
  static bool is_kept(const profile& out, std::uint32_t mark) noexcept {
    return std::any_of(out.stepping.kept.begin(), out.stepping.kept.end(),
                       [mark](const kept_step& k) { return k.step == mark; });
  }
  /// The steps whose windows have been kept from choose() to now, before the unbroken end.
  void add_kept(profile& out, std::uint64_t recycled, const std::vector<step_window>& now) const {
    for (const step_window& w : kept_) {
      const auto still =
          std::find_if(now.begin(), now.end(), [&](const step_window& o) { return o.same_as(w); });
      if (still == now.end() || w.step.begin >= recycled) continue;
      for (std::uint32_t i = 0; i < out.steps.size(); ++i) {
        const step_mark& m = out.steps[i];
        if (m.thread != kept_thread_ || m.index != w.step.index || m.begin != ns(w.step.begin))
          continue;
        out.stepping.kept.push_back({i, static_cast<kept_as>(w.role)});
        break;
      }
    }
  }
  std::int64_t ns(std::uint64_t ticks) const {
    return static_cast<std::int64_t>(time_.since_start_ns(ticks));
  }

  void add_sums(profile& out, const thread_log& log, std::uint32_t thread,
                std::uint64_t now) const {
    const step_totals& from = log.steps;
    if (from.count == 0 && !from.runs) return;
    const double ns_per_tick = time_.ns_per_tick();
    const auto in_ns = [&](std::uint64_t ticks) {
      return static_cast<double>(ticks) * ns_per_tick;
    };
    thread_steps& sums = out.stepping.threads.emplace_back();
    sums.thread = thread;
    sums.count = from.count;
    sums.nested = from.nested;
    sums.total_ns = in_ns(from.total);
    sums.min_ns = from.count == 0 ? 0 : in_ns(from.shortest);
    sums.max_ns = in_ns(from.longest);
    if (from.count != 0) sums.first_ns = in_ns(from.first.ticks());
    if (from.runs && !log.ended)
      sums.running_ns = in_ns(now > from.running.begin ? now - from.running.begin : 0);
    sums.durations = from.durations;
    out.complete.imprecise += from.imprecise;
    for (const step_span& s : from.kept())
      out.steps.push_back({s.index, thread, true, ns(s.begin), ns(s.end)});
  }

  void add_scopes(profile& out, const thread_log& log, std::uint32_t base) {
    struct cell {
      std::uint64_t calls = 0;
      std::uint64_t ticks = 0;
      std::uint64_t inside = 0;  // in child scopes
    };
    const std::size_t nodes = log.tree.nodes().size(), steps = windows_.size();
    std::vector<cell> cells(nodes * steps);
    std::size_t at = 0;
    const auto add = [&](std::uint32_t node, std::uint64_t start, std::uint64_t end) {
      // Scopes come in the order of their ends: mostly they are in the step of the one before.
      while (at < steps && windows_[at].end < end) ++at;
      for (std::size_t i = at + 1; i-- > 0;) {
        if (i == steps) continue;
        const step_span& step = windows_[i];
        if (step.end <= start && step.end < end) break;
        if (step.begin >= end) continue;
        cell& c = cells[i * nodes + node];
        if (end <= step.end) ++c.calls;
        const std::uint64_t from = std::max(start, step.begin), to = std::min(end, step.end);
        c.ticks += to > from ? to - from : 0;
      }
    };
    if (!kept_.empty()) log.visit_kept(add);
    log.visit_timeline(add);
    const double ns_per_tick = time_.ns_per_tick();
    for (std::size_t i = 0; i < steps; ++i) {
      cell* const step = cells.data() + i * nodes;
      for (std::size_t n = 1; n < nodes; ++n)
        step[log.tree.nodes()[n].parent].inside += step[n].ticks;
      for (std::size_t n = 1; n < nodes; ++n) {
        const cell& c = step[n];
        if (c.calls == 0 && c.ticks == 0) continue;
        // Children of an adopted path are not inside a scope of this thread.
        const std::uint64_t self = c.ticks > c.inside ? c.ticks - c.inside : 0;
        out.stepping.shares.push_back(
            {static_cast<std::uint32_t>(i), base + static_cast<std::uint32_t>(n), c.calls,
             static_cast<double>(c.ticks) * ns_per_tick, static_cast<double>(self) * ns_per_tick});
      }
    }
  }

  std::vector<std::uint32_t> marks_of_windows(const profile& out, std::uint32_t thread) const {
    std::vector<std::uint32_t> marks;
    for (std::uint32_t i = 0; i < out.steps.size() && marks.size() < windows_.size(); ++i) {
      const step_span& window = windows_[marks.size()];
      const step_mark& m = out.steps[i];
      if (m.thread == thread && m.index == window.index && m.begin == ns(window.begin))
        marks.push_back(i);
    }
    return marks;
  }

  const timebase& time_;
  std::size_t nodes_ = 0;  // of all threads
  std::uint64_t most_ticks_ = 0;
  const step_totals* of_ = nullptr;  // the steps that windows_ are some of
  std::vector<step_span> windows_;   // in order, disjoint
  std::vector<step_window> kept_;    // the recorder's, when the timeline was about to be walked
  std::uint32_t kept_thread_ = step_mark::none;  // whose steps they are
};

}  // namespace detail
KPROF_DETAIL_END

#endif
