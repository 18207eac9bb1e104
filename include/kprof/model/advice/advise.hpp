// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_ADVISE_HPP
#define KPROF_MODEL_ADVICE_ADVISE_HPP

// Asks the rules of advice, and ranks what they say. Included by kprof/advice.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/catalogue.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/sorted_order.hpp>
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

/// Which advice is wanted.
struct advice_choice {
  bool off = false;                    ///< none
  bool all = false;                    ///< however many and however small
  std::vector<std::string> without{};  ///< ids of rules that are switched off
};

namespace detail {

/// kprof's own rules, then those that this binary adds.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline std::vector<const advice_rule*> advice_rules_known() {
  std::vector<const advice_rule*> rules;
  for (const advice_rule& rule : advice_rules::catalogue) rules.push_back(&rule);
  const std::size_t own = rules.size();
  for (auto* r = first_advice_registration; r != nullptr; r = r->next()) {
    const bool is_known = std::any_of(rules.begin(), rules.end(), [&](const advice_rule* known) {
      return std::string_view{known->id} == r->what().id;
    });
    if (!is_known && r->what().look != nullptr) rules.push_back(&r->what());
  }
  std::sort(rules.begin() + static_cast<std::ptrdiff_t>(own), rules.end(),
            [](const advice_rule* a, const advice_rule* b) {
              return std::string_view{a->id} < b->id;
            });
  return rules;
}

/// Reads the words of the option `advice`: on, off, all, -ID.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline status read_advice_choice(
    const std::vector<std::string>& words, advice_choice& out) {
  out = {};
  const std::vector<const advice_rule*> rules = advice_rules_known();
  for (const std::string& word : words) {
    if (word == "on") continue;
    if (word == "off" || word == "all") {
      (word == "off" ? out.off : out.all) = true;
      continue;
    }
    const bool known = word.starts_with('-') &&
                       std::any_of(rules.begin(), rules.end(), [&](const advice_rule* rule) {
                         return word.substr(1) == rule->id;
                       });
    if (known) {
      out.without.push_back(word.substr(1));
      continue;
    }
    std::string ids;
    for (const advice_rule* rule : rules) ids.append(ids.empty() ? "-" : ", -").append(rule->id);
    return {"unknown advice \"" + printable(word, 100) +
            "\"; choose from: on, off, all, or switch rules off, joined by +: " + ids};
  }
  return {};
}

/// Asks one rule after the other, and keeps what is worth telling.
class advising {
 public:
  advising(const profile& p, const advice_choice& choice)
      : facts_(facts_of(p)),
        all_(choice.all),
        host_(has_all_scopes(p)),
        device_(has_device_work(p) && has_all_records(p)) {
    const std::vector<const advice_rule*> rules = advice_rules_known();
    for (std::uint32_t i = 0; i < rules.size(); ++i)
      if (std::find(choice.without.begin(), choice.without.end(), rules[i]->id) ==
          choice.without.end())
        ask(*rules[i], i);
  }

  [[gnu::cold]] std::vector<advice> take() {
    constexpr std::size_t most = 5;
    keep_one_a_cause();
    sort_table(found_, [](const candidate& a, const candidate& b) {
      const bool stated = a.what.gain_ns >= 0, other = b.what.gain_ns >= 0;
      if (stated != other) return stated;
      if (stated && a.what.gain_ns != b.what.gain_ns) return a.what.gain_ns > b.what.gain_ns;
      return a.what.time_ns > b.what.time_ns;
    });
    if (!all_ && found_.size() > most) found_.resize(most);
    std::vector<advice> out;
    for (candidate& c : found_) {
      if (c.what.where.empty()) c.what.where = where(c);
      out.push_back(std::move(c.what));
    }
    return out;
  }

 private:
  static constexpr double least_gain = 0.01;

  struct candidate {
    advice what;
    advice_about about = advice_about::run;
    advice_cause cause = advice_cause::run;
    std::uint32_t rule = 0, number = 0;
    std::uint64_t subject = 0;  // what it is about: a row, a kernel, copies, the run
  };

  [[gnu::cold]] void ask(const advice_rule& rule, std::uint32_t number) {
    const std::size_t subjects = rule.about == advice_about::run       ? 1
                                 : rule.about == advice_about::kernels ? facts_.kernels.size()
                                 : rule.about == advice_about::copies  ? facts_.copies.size()
                                                                       : facts_.rows.size();
    for (std::size_t i = 0; i < subjects; ++i) ask(rule, number, i);
  }

  [[gnu::cold]] void ask(const advice_rule& rule, std::uint32_t number, std::size_t i) {
    candidate c;
    c.about = rule.about;
    c.cause = rule.cause;
    c.rule = number;
    c.number = static_cast<std::uint32_t>(i);
    if (!may_speak(c)) return;
    const double least = all_ && rule.least_share <= least_gain ? 0 : rule.least_share;
    if (rule.about != advice_about::run && !(c.what.time_ns > 0)) return;
    if (c.what.time_ns < least * facts_.window_ns) return;
    if (!rule.look(facts_, i, c.what)) return;
    c.what.id = rule.id;
    const double most = std::min(c.what.time_ns, facts_.window_ns);
    if (!std::isfinite(c.what.gain_ns)) c.what.gain_ns = -1;
    c.what.gain_ns = std::min(c.what.gain_ns, most);
    c.what.share = c.what.gain_ns > 0 ? share_of(c.what.gain_ns, facts_.window_ns) : 0;
    if (c.what.gain_ns >= 0 && !all_ && c.what.share < least_gain) return;
    if (c.what.gain_ns == 0) return;
    found_.push_back(std::move(c));
  }

  /// Whether all is known of what a rule would be asked about, and it is possible.
  bool may_speak(candidate& c) const {
    constexpr std::uint64_t kinds = 4;
    if (c.about == advice_about::run) return host_ && (device_ || !has_device_work(facts_.run));
    if (c.about == advice_about::copies) {
      const copy_row& copy = facts_.copies[c.number];
      c.what.time_ns = copy.total_ns;
      c.subject = kinds * c.number + 1;
      return device_;
    }
    std::uint32_t number = c.number;
    c.subject = kinds * c.number + 2;
    if (c.about == advice_about::kernels) {
      const kernel_row& kernel = facts_.kernels[c.number];
      c.what.time_ns = kernel.total_ns;
      c.what.node = kernel.node;
      number = row_of(facts_, kernel);
      if (!device_ || kernel.untimed > 0) return false;
      if (number == scope_node::none) return true;
    }
    const operator_row& row = facts_.rows[number];
    c.subject = kinds * number + 3;
    if (c.about != advice_about::kernels) {
      c.what.time_ns = c.about == advice_about::calls ? row.total_ns : time_of(row);
      c.what.node = row.node;
    }
    return host_ && (device_ || !row.on_device) && !row.invalid && !row.merged &&
           row.verdict.bound != bound_by::impossible;
  }

  /// Of what says the same of the same thing the rule that comes first, and what is worth most of
  /// it; but what is large enough to be told comes before what is not.
  [[gnu::cold]] void keep_one_a_cause() {
    sort_table(found_, [](const candidate& a, const candidate& b) {
      const bool small = is_small(a), other = is_small(b);
      if (small != other) return other;
      if (a.rule != b.rule) return a.rule < b.rule;
      return a.what.gain_ns > b.what.gain_ns;
    });
    std::vector<candidate> kept;
    key_numbers causes(0);
    for (candidate& c : found_) {
      const std::uint32_t is_of_rule = c.about == advice_about::run ? c.rule + 1 : 0;
      if (causes
              .of({{static_cast<std::uint32_t>(c.subject), static_cast<std::uint32_t>(c.subject >> 32U),
                    static_cast<std::uint32_t>(c.cause), is_of_rule}})
              .second)
        kept.push_back(std::move(c));
    }
    found_ = std::move(kept);
  }
  static bool is_small(const candidate& c) noexcept {
    return c.what.gain_ns >= 0 && c.what.share < least_gain;
  }

  std::string where(const candidate& c) const {
    if (c.about == advice_about::kernels) return name_of(facts_, facts_.kernels[c.number]);
    if (c.about == advice_about::copies) return "Copies";
    return c.about == advice_about::run ? "The run" : name_of(facts_, c.number);
  }

  advice_facts facts_;
  bool all_, host_, device_;
  std::vector<candidate> found_;
};

}  // namespace detail

/// What to do first to make a run faster: the five pieces of advice that save most, each 1 % of
/// the run or more; then, if there is room, those of which nobody can say how much they save.
/// Nothing about what is not wholly known, or is above every roof. The order is the same each time.
///     for (const kprof::advice& a : kprof::advise(kprof::snapshot())) use(a.where, a.gain_ns);
[[gnu::cold]] KPROF_DETAIL_LOCAL inline std::vector<advice> advise(
    const profile& p, const advice_choice& choice = {}) {
  if (choice.off || p.nodes.empty()) return {};
  return detail::advising(p, choice).take();
}

KPROF_DETAIL_END

#endif
