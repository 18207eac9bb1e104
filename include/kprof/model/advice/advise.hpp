// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_ADVISE_HPP
#define KPROF_MODEL_ADVICE_ADVISE_HPP

// Asks the rules of advice, and ranks what they say. Included by kprof/advice.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/catalogue.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Which advice is wanted, as in the option `advice`: "off" for none, "all" for however much and
/// however small, "-G9" without that of a rule, "prove" also what is small and can be tried out.
/// Empty or "on": the five largest.
using advice_words = std::vector<std::string>;

namespace detail {

/// The rules, by number: kprof's own in their order, then those that this binary adds; null behind
/// the last. A rule by the id of one of kprof's own is left out.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline const advice_rule* rule_number(std::size_t i) noexcept {
  if (i < std::size(advice_rules::catalogue)) return &advice_rules::catalogue[i];
  i -= std::size(advice_rules::catalogue);
  for (auto* added = first_advice_registration; added != nullptr; added = added->next()) {
    bool is_new = added->what().look != nullptr;
    for (const advice_rule& own : advice_rules::catalogue)
      is_new = is_new && std::string_view{own.id} != added->what().id;
    if (is_new && i-- == 0) return &added->what();
  }
  return nullptr;
}

inline bool has_word(const advice_words& words, std::string_view word) noexcept {
  for (const std::string& w : words)
    if (w == word) return true;
  return false;
}
inline bool switches_off(std::string_view word, const advice_rule& rule) noexcept {
  return word.starts_with('-') && word.substr(1) == rule.id;
}

/// Whether the option `advice` may have these words.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline status check_advice(const advice_words& words) {
  for (const std::string& word : words) {
    bool known = word == "on" || word == "off" || word == "all" || word == "prove";
    for (std::size_t i = 0; !known && rule_number(i) != nullptr; ++i)
      known = switches_off(word, *rule_number(i));
    if (known) continue;
    std::string text = "unknown advice \"" + printable(word, 100);
    text += "\"; choose from: on, off, all, prove; or switch rules off, joined by +:";
    for (std::size_t i = 0; rule_number(i) != nullptr; ++i)
      text.append(" -").append(rule_number(i)->id);
    return {std::move(text)};
  }
  return {};
}

/// Asks one rule after the other, and keeps what is worth telling.
class advising {
 public:
  /// `times`: of the profile; null where they are not known yet.
  advising(const profile& p, const advice_words& words, const time_summary* times)
      : own_times_(times == nullptr ? time_summary_of(p) : time_summary{}),
        facts_(facts_of(p)),
        all_(has_word(words, "all")),
        prove_(has_word(words, "prove")),
        host_(has_all_scopes(p)),
        device_(has_device_work(p) && has_all_records(p)) {
    facts_.tries = prove_;
    facts_.device_times = times == nullptr ? &own_times_ : times;
    if (facts_.device_times->devices.empty()) facts_.device_times = nullptr;
    for (std::uint32_t i = 0;; ++i) {
      const advice_rule* const rule = rule_number(i);
      if (rule == nullptr) break;
      bool off = false;
      for (const std::string& word : words) off = off || switches_off(word, *rule);
      if (!off) ask(*rule, i);
    }
  }

  [[gnu::cold]] std::vector<advice> take() {
    constexpr std::size_t most = 5;
    const std::vector<bool> kept = one_a_cause();
    std::vector<advice> out;
    std::vector<std::uint32_t> of;  // for each of them its number in found_
    std::vector<std::uint32_t> others;
    for (const std::uint32_t i : sorted_order(
             found_.size(), [this](std::uint32_t a, std::uint32_t b) { return ranks(a, b); })) {
      if (!kept[i]) continue;
      std::size_t same = all_ ? of.size() : 0;
      while (same < of.size() && notes_[of[same]].rule != notes_[i].rule) ++same;
      if (same < of.size()) ++others[same];
      else if (is_wanted(found_[i]) || of.size() < most) of.push_back(i), others.push_back(0);
    }
    for (std::size_t k = 0; k < of.size(); ++k) {
      advice& a = found_[of[k]];
      if (a.where.empty()) a.where = where(notes_[of[k]]);
      if (others[k] > 0)
        a.action += sentence(
            others[k] == 1 ? ". The same holds for # other" : ". The same holds for # others",
            {as_number(others[k])});
      out.push_back(std::move(a));
    }
    return out;
  }

 private:
  static constexpr double least_gain = 0.01;

  /// What is found: by which rule, and about what.
  struct note {
    advice_about about = advice_about::run;
    advice_cause cause = advice_cause::run;
    std::uint32_t rule = 0, number = 0;
    std::uint32_t kind = 0, subject = 0;  // a row, a kernel, copies, the run; which one
  };

  [[gnu::cold]] void ask(const advice_rule& rule, std::uint32_t number) {
    const std::size_t subjects = rule.about == advice_about::run       ? 1
                                 : rule.about == advice_about::kernels ? facts_.kernels.size()
                                 : rule.about == advice_about::copies  ? facts_.copies.size()
                                                                       : facts_.rows.size();
    for (std::uint32_t i = 0; i < subjects; ++i) {
      note n{rule.about, rule.cause, number, i, 0, 0};
      advice a;
      if (!may_speak(n, a)) continue;
      const double least =
          (all_ || prove_) && rule.least_share <= least_gain ? 0 : rule.least_share;
      if (rule.about != advice_about::run &&
          (!(a.time_ns > 0) || a.time_ns < least * facts_.window_ns))
        continue;
      if (!rule.look(facts_, i, a)) continue;
      a.id = rule.id;
      if (!std::isfinite(a.gain_ns)) a.gain_ns = -1;
      a.gain_ns = std::min({a.gain_ns, a.time_ns, facts_.window_ns});
      a.share = a.gain_ns > 0 ? share_of(a.gain_ns, facts_.window_ns) : 0;
      if (a.gain_ns == 0 || (is_small(a) && !is_wanted(a))) continue;
      found_.push_back(std::move(a));
      notes_.push_back(n);
    }
  }

  /// Whether all is known of what a rule would be asked about, and it is possible.
  bool may_speak(note& n, advice& a) const {
    if (n.about == advice_about::run) return host_ && (device_ || !has_device_work(facts_.run));
    n.kind = 1;
    n.subject = n.number;
    if (n.about == advice_about::copies) {
      a.time_ns = facts_.copies[n.number].total_ns;
      return device_;
    }
    n.kind = 2;
    if (n.about == advice_about::kernels) {
      const kernel_row& kernel = facts_.kernels[n.number];
      a.time_ns = kernel.total_ns;
      a.node = kernel.node;
      if (!device_ || kernel.untimed > 0 || kernel.verdict.bound == bound_by::impossible)
        return false;
      n.subject = row_of(facts_, kernel);
      if (n.subject == scope_node::none) {
        n.subject = n.number;
        return true;
      }
    }
    n.kind = 3;
    const operator_row& row = facts_.rows[n.subject];
    if (n.about != advice_about::kernels) {
      a.time_ns = n.about == advice_about::calls ? row.total_ns : time_of(row);
      a.node = row.node;
    }
    return host_ && (device_ || !row.on_device) && !row.invalid && !row.merged &&
           row.verdict.bound != bound_by::impossible;
  }

  static bool is_small(const advice& a) noexcept { return a.gain_ns >= 0 && a.share < least_gain; }

  /// However little it saves.
  bool is_wanted(const advice& a) const noexcept { return all_ || (prove_ && !a.trials.empty()); }

  /// What saves most comes first, and behind it what nobody can say that of.
  bool ranks(std::uint32_t i, std::uint32_t k) const noexcept {
    const advice &a = found_[i], &b = found_[k];
    const bool stated = a.gain_ns >= 0, other = b.gain_ns >= 0;
    if (stated != other) return stated;
    if (stated && a.gain_ns != b.gain_ns) return a.gain_ns > b.gain_ns;
    return a.time_ns > b.time_ns;
  }

  /// Of what has the same cause and is about the same thing, that of the rule that comes first, and
  /// of its what saves most; but what is large enough to be told comes before what is not.
  [[gnu::cold]] std::vector<bool> one_a_cause() const {
    std::vector<bool> kept(found_.size());
    key_numbers causes(0);
    for (const std::uint32_t i :
         sorted_order(found_.size(), [this](std::uint32_t a, std::uint32_t b) {
           const bool slight = is_small(found_[a]), other = is_small(found_[b]);
           if (slight != other) return other;
           if (notes_[a].rule != notes_[b].rule) return notes_[a].rule < notes_[b].rule;
           return found_[a].gain_ns > found_[b].gain_ns;
         })) {
      const note& n = notes_[i];
      kept[i] = causes
                    .of({{n.kind, n.subject, static_cast<std::uint32_t>(n.cause),
                          n.about == advice_about::run ? n.rule : 0}})
                    .second;
    }
    return kept;
  }

  std::string where(const note& n) const {
    if (n.about == advice_about::kernels) return name_of(facts_, facts_.kernels[n.number]);
    if (n.about == advice_about::copies) return "Copies";
    return n.about == advice_about::run ? "The run" : name_of(facts_, n.number);
  }

  time_summary own_times_;
  advice_facts facts_;
  bool all_, prove_, host_, device_;
  std::vector<advice> found_;
  std::vector<note> notes_;  // of each
};

}  // namespace detail

/// What to do first to make a run faster: the five pieces of advice that save most, each 1 % of
/// the run or more; then, if there is room, those of which nobody can say how much they save. A
/// rule speaks once, of what saves most, and says of how much else it holds; with "all" of each.
/// Nothing about what is not wholly known, or is above every roof. The order is the same each time.
/// `times`: time_summary_of() the profile, for those who have it; else it is worked out.
///     for (const kprof::advice& a : kprof::advise(kprof::snapshot())) use(a.where, a.gain_ns);
[[gnu::cold]] KPROF_DETAIL_LOCAL inline std::vector<advice> advise(
    const profile& p, const advice_words& words = {}, const time_summary* times = nullptr) {
  if (p.nodes.empty() || detail::has_word(words, "off")) return {};
  return detail::advising(p, words, times).take();
}

KPROF_DETAIL_END

#endif
