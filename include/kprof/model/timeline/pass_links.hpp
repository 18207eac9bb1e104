// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_PASS_LINKS_HPP
#define KPROF_MODEL_TIMELINE_PASS_LINKS_HPP

// Which backward call belongs to which forward call: as the program has said with belongs_to(), and
// of the calls that it said nothing of, by a rule. Backward goes through the layers in reverse, so
// that of the calls of one operator with the same parameters in the same layer of a step the last
// forward one comes first. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/passes.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// Two calls: indices in profile::timeline.
struct pass_link {
  std::uint32_t forward = 0;
  std::uint32_t backward = 0;
  bool by_program = false;  ///< it said so, with belongs_to(); else by the rule
};

struct pass_links {
  std::vector<pass_link> links;  ///< by backward call
  std::uint64_t by_program = 0;  ///< of them, how many the program has said
  std::uint64_t unlinked = 0;    ///< backward calls for which no forward call is left
};

namespace detail {

struct passed_call {
  std::uint32_t step = 0;
  std::uint32_t variant = 0;
  std::uint32_t pass = 0;   // 0: forward
  std::uint32_t index = 0;  // in profile::timeline
  std::int64_t start = 0;
};

/// The step that a call of the timeline began in, from 1; 0: in none.
inline std::uint32_t step_of_call(const profile& p, const std::vector<interval>& steps,
                                  const timeline_scope& call) {
  const std::int64_t begin = whole_ns(p.clock.to_ns(call.start));
  const auto after = std::partition_point(
      steps.begin(), steps.end(), [begin](const interval& step) { return step.begin <= begin; });
  if (after == steps.begin() || begin >= (after - 1)->end) return 0;
  return static_cast<std::uint32_t>(after - steps.begin());
}

/// The calls in `steps` that have a pass, by step, variant, pass and time.
[[gnu::cold]] inline std::vector<passed_call> passed_calls(const profile& p,
                                                           const std::vector<interval>& steps) {
  const pass_places places(p);
  const pass_variants variants(p, places);
  std::vector<std::uint32_t> pass_of_node(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (variants.of(static_cast<std::uint32_t>(i)) != scope_node::none) {
      const pass_kind pass = pass_of_name(pass_of(p, p.nodes[i]));
      if (pass == pass_kind::fprop) pass_of_node[i] = 0;
      else if (direction_of(pass_name(pass)) == direction::backward)
        pass_of_node[i] = static_cast<std::uint32_t>(pass);
    }
  std::vector<passed_call> calls;
  for (std::size_t i = 0; i < p.timeline.size(); ++i) {
    const timeline_scope& s = p.timeline[i];
    if (s.node >= p.nodes.size() || pass_of_node[s.node] == scope_node::none) continue;
    const std::uint32_t step = step_of_call(p, steps, s);
    if (step == 0) continue;
    calls.push_back(
        {step, variants.of(s.node), pass_of_node[s.node], static_cast<std::uint32_t>(i), s.start});
  }
  sort_plain(calls, [](const passed_call& a, const passed_call& b) {
    if (a.step != b.step) return a.step < b.step;
    if (a.variant != b.variant) return a.variant < b.variant;
    if (a.pass != b.pass) return a.pass < b.pass;
    return a.start < b.start;
  });
  return calls;
}

}  // namespace detail

/// Of the calls in the timeline; `steps` are in order and disjoint, on the host.
[[gnu::cold]] inline pass_links links_of(const profile& p, const std::vector<interval>& steps) {
  pass_links out;
  constexpr std::uint32_t none = 0xFFFFFFFFU;
  std::vector<std::uint32_t> said(p.timeline.size(), none);  // by the program: the forward call
  for (const call_link& l : p.links)  // of a call that says several, the last
    if (l.call < said.size() && l.of < said.size()) said[l.call] = l.of;
  for (std::uint32_t call = 0; call < said.size(); ++call)
    if (said[call] != none && detail::step_of_call(p, steps, p.timeline[call]) != 0)
      out.links.push_back({said[call], call, true});
  out.by_program = out.links.size();
  const std::vector<detail::passed_call> calls = detail::passed_calls(p, steps);
  std::vector<bool> is_linked(p.timeline.size());  // to a call of the pass that is looked at
  const auto mark = [&](std::size_t from, std::size_t to, bool on) {
    for (; from < to; ++from)
      if (const std::uint32_t of = said[calls[from].index]; of != none) is_linked[of] = on;
  };
  for (std::size_t first = 0, last = 0; first < calls.size(); first = last) {
    const detail::passed_call& head = calls[first];
    std::size_t forward_end = first;
    for (; last < calls.size() && calls[last].step == head.step &&
           calls[last].variant == head.variant;
         ++last)
      if (calls[last].pass == 0) forward_end = last + 1;
    for (std::size_t i = forward_end, end = i; i < last; i = end) {
      while (end < last && calls[end].pass == calls[i].pass) ++end;
      mark(i, end, true);
      std::size_t left = forward_end;  // forward calls up to here are not yet linked
      for (std::size_t k = i; k < end; ++k) {
        if (said[calls[k].index] != none) continue;
        while (left != first && is_linked[calls[left - 1].index]) --left;
        if (left == first) ++out.unlinked;
        else out.links.push_back({calls[--left].index, calls[k].index, false});
      }
      mark(i, end, false);
    }
  }
  detail::sort_plain(
      out.links, [](const pass_link& a, const pass_link& b) { return a.backward < b.backward; });
  return out;
}

KPROF_DETAIL_END

#endif
