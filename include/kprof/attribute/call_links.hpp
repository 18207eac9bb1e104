// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_CALL_LINKS_HPP
#define KPROF_ATTRIBUTE_CALL_LINKS_HPP

// Makes the profile's timeline of what a log still holds, and its links of what the program has
// said with current_call() and belongs_to().

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/step_windows.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/record/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};

/// What the program has said of the calls in profile::timeline.
class call_links {
 public:
  /// `scopes`: how many the timeline had before the notes' log.
  void add(const std::vector<call_note>& notes, std::size_t scopes) {
    for (const call_note& n : notes) {
      const auto scope = static_cast<std::uint32_t>(scopes + n.scope);
      if (n.names) scope_of_[n.number] = scope;
      else said_.push_back({scope, n.number});
    }
  }
  /// All logs have been added. A call that is older than the timeline, or not finished, is left
  /// out, and so is one that is said to belong to itself.
  void finish(profile& out) const {
    for (const said& s : said_) {
      const auto of = scope_of_.find(s.of);
      if (of != scope_of_.end() && of->second != s.scope)
        out.links.push_back({s.scope, of->second});
    }
  }

 private:
  struct said {
    std::uint32_t scope, of;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> scope_of_;  // by number: index in the timeline
  std::vector<said> said_;
};

/// The log's scopes, whose nodes stand in the profile from `nodes` on; `first`: the session's start
/// in ticks. Of those before the unbroken end, the ones that lie in `kept` or reach into it.
inline void add_timeline(profile& out, const thread_log& log, std::uint32_t nodes,
                         std::uint64_t first, const std::vector<step_window>& kept,
                         call_links& links) {
  std::vector<call_note> notes;
  const auto add = [&](std::uint32_t node, std::uint64_t start, std::uint64_t end) {
    out.timeline.push_back(
        {nodes + node, static_cast<std::int64_t>(start - first), end > start ? end - start : 0});
  };
  if (!kept.empty()) {
    const std::size_t before = out.timeline.size();
    std::vector<std::uint64_t> places;  // of those that were visited; `nowhere`
    log.visit_kept(
        [&](std::uint32_t node, std::uint64_t start, std::uint64_t end) {
          const bool is_wanted = std::any_of(kept.begin(), kept.end(), [&](const step_window& w) {
            return w.overlaps(start, end);
          });
          places.push_back(is_wanted ? out.timeline.size() - before : nowhere);
          if (is_wanted) add(node, start, end);
        },
        &notes);
    for (call_note& n : notes) n.scope = places[n.scope];
    notes.erase(std::remove_if(notes.begin(), notes.end(),
                               [](const call_note& n) { return n.scope == nowhere; }),
                notes.end());
    links.add(notes, before);
    notes.clear();
  }
  const std::size_t before = out.timeline.size();
  log.visit_timeline(add, ~std::size_t{0}, &notes);
  links.add(notes, before);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
