// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_STEP_SHARES_HPP
#define KPROF_ATTRIBUTE_STEP_SHARES_HPP

// Puts the program's steps into a profile: their marks and sums, and what the scopes of the
// timeline did in those that it has whole. Linear in the timeline. Included by build.hpp.

#include <kprof/attribute/step_share_table.hpp>
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

static_assert(step_totals::slowest_kept == slowest_marks &&
              step_totals::latest_kept == latest_marks);

class KPROF_DETAIL_LOCAL step_shares {
 public:
  explicit step_shares(const timebase& time) : time_(time) {}

  /// Once for each thread, before the others here: whose steps take most time?
  void look_at(const thread_log& log) {
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
    for (const step_window& w : own)
      if (w.step.begin < recycled) chosen.push_back(w.step);
    const std::size_t older = chosen.size();
    for (const step_span& s : windows_)
      if (s.begin >= recycled) chosen.push_back(s);
    windows_ = std::move(chosen);
    cells_ = step_share_table(windows_.size(), older);
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
    std::vector<char> has_shares(windows_.size());
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const bool is_whole = windows_[i].begin >= recycled;
      if (!is_whole && !is_kept(out, marks[i])) continue;
      has_shares[i] = cells_.is_given_up(i) ? 0 : 1;
      if (has_shares[i] == 0) ++out.stepping.without_shares;
      else if (is_whole && out.stepping.whole_from < 0)
        out.stepping.whole_from = ns(windows_[i].begin);
    }
    std::erase_if(shares, [&](const step_share& s) { return has_shares[s.step] == 0; });
    std::stable_sort(shares.begin(), shares.end(),
                     [](const step_share& a, const step_share& b) { return a.step < b.step; });
    for (step_share& s : shares) s.step = marks[s.step];
    out.stepping.shares = std::move(shares);
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
    cells_.begin_thread(log.tree.nodes().size());
    const std::size_t steps = windows_.size();
    std::size_t at = 0;  // the first step that ends no earlier than the scope
    const auto add = [&](std::uint32_t node, std::uint64_t start, std::uint64_t end) {
      // Scopes come in the order of their ends: mostly they are in the step of the one before.
      while (at < steps && windows_[at].end < end) ++at;
      std::size_t first = std::min(at + 1, steps);
      while (first > 0 && !(windows_[first - 1].end <= start && windows_[first - 1].end < end))
        --first;
      for (std::size_t i = first; i < steps && end > windows_[i].begin; ++i) {
        step_share_table::cell* const c = cells_.at(i, node);
        if (c == nullptr) continue;
        if (end <= windows_[i].end) ++c->calls;
        const std::uint64_t from = std::max(start, windows_[i].begin),
                            to = std::min(end, windows_[i].end);
        c->ticks += to > from ? to - from : 0;
      }
    };
    if (!kept_.empty()) log.visit_kept(add);
    log.visit_timeline(add);
    for (std::size_t i = 0; i < steps; ++i)
      if (!cells_.is_given_up(i)) add_shares(out, log, base, static_cast<std::uint32_t>(i));
  }
  void add_shares(profile& out, const thread_log& log, std::uint32_t base, std::uint32_t step) {
    const double ns_per_tick = time_.ns_per_tick();
    std::vector<step_share_table::cell>& cells = cells_.sorted(step);
    for (const step_share_table::cell& c : cells) {
      const std::uint32_t parent = log.tree.nodes()[c.node].parent;
      const auto around = std::lower_bound(
          cells.begin(), cells.end(), parent,
          [](const step_share_table::cell& a, std::uint32_t node) { return a.node < node; });
      if (around != cells.end() && around->node == parent) around->inside += c.ticks;
    }
    for (const step_share_table::cell& c : cells) {
      if (c.calls == 0 && c.ticks == 0) continue;
      // Children of an adopted path are not inside a scope of this thread.
      const std::uint64_t self = c.ticks > c.inside ? c.ticks - c.inside : 0;
      out.stepping.shares.push_back({step, base + c.node, c.calls,
                                     static_cast<double>(c.ticks) * ns_per_tick,
                                     static_cast<double>(self) * ns_per_tick});
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
  std::uint64_t most_ticks_ = 0;
  const step_totals* of_ = nullptr;  // the steps that windows_ are some of
  std::vector<step_span> windows_;   // in order, disjoint
  step_share_table cells_;
  std::vector<step_window> kept_;  // the recorder's, when the timeline was about to be walked
  std::uint32_t kept_thread_ = step_mark::none;  // whose steps they are
};

}  // namespace detail
KPROF_DETAIL_END

#endif
