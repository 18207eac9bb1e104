// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_PROOF_HPP
#define KPROF_MODEL_ADVICE_PROOF_HPP

// What an operator gains by advice, measured: runs it with its own parameters and with those that
// are advised. Included by the report, which does so where advice=prove asks for it. How an
// operator is run the program says, see kprof/prove.hpp; nothing else runs code of the program.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// How long a call takes with some parameters.
struct measured_call {
  std::string why_not;  // empty: it was timed
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;  // which hold the median, see median_interval
};

/// A way to run an operator again. It is known to its binary while it exists.
class KPROF_DETAIL_LOCAL rerun_link {
 public:
  rerun_link(const rerun_link&) = delete;
  rerun_link& operator=(const rerun_link&) = delete;

  text_view (*const name)() noexcept;
  /// Times a call with the parameters of `node`, but for the fields that are changed.
  measured_call (*const time)(const rerun_link& self, const profile& run, const scope_node& node,
                              const advised_fields& changed);
  const rerun_link* next() const noexcept { return next_; }

 protected:
  rerun_link(decltype(name) of, decltype(time) how) noexcept : name(of), time(how) {
    next_ = first;
    first = this;
  }
  ~rerun_link() {
    const rerun_link** at = &first;
    while (*at != nullptr && *at != this) at = &(*at)->next_;
    if (*at == this) *at = next_;
  }

 public:
  KPROF_DETAIL_LOCAL static inline constinit const rerun_link* first = nullptr;

 private:
  mutable const rerun_link* next_ = nullptr;
};

/// Not where a signal ends the program: its other threads run on meanwhile.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> may_run_again{true};

/// The last one that was made for the operator of a call; null: there is none.
[[gnu::cold]] inline const rerun_link* find_rerun(const profile& run,
                                                  const scope_node& node) noexcept {
  const operator_info* const op = run.operator_of(node);
  const rerun_link* found = rerun_link::first;
  while (found != nullptr &&
         (op == nullptr ||
          op->declared_name != std::string_view{found->name().data, found->name().size}))
    found = found->next();
  return found;
}

/// "C=4", "M=64, N=32".
[[gnu::cold]] inline std::string text_of(const advised_fields& fields) {
  std::string out;
  for (const advised_field& f : fields) {
    out.append(out.empty() ? "" : ", ").append(f.field) += '=';
    out += f.text.empty() ? std::to_string(f.value) : f.text;
  }
  return out;
}

/// "1.38 x with C=4 (12.1 ms → 8.80 ms)"
[[gnu::cold]] inline std::string text_of_gain(const measured_call& as_is,
                                              const measured_call& changed,
                                              const advised_fields& fields) {
  const std::string name = text_of(fields);
  if (!changed.why_not.empty()) return "not with " + name + ": " + changed.why_not;
  const bool differs = changed.high_ns < as_is.low_ns || changed.low_ns > as_is.high_ns;
  const std::string times = differs && changed.median_ns > 0
                                ? format_rate(as_is.median_ns / changed.median_ns) + " x"
                                : std::string{"no difference"};
  return times + " with " + name + " (" + format_time(as_is.median_ns) + " \u2192 " +
         format_time(changed.median_ns) + ')';
}

/// What following a piece of advice gains, measured: "Measured: 1.38 x with C=4 (12.1 ms → 8.80
/// ms)". Empty where there is nothing to try. Takes some seconds.
[[gnu::cold]] inline std::string proof_of(const profile& run, const advice& a) {
  if (a.trials.empty() || a.node >= run.nodes.size()) return {};
  const scope_node& node = run.nodes[a.node];
  const std::string_view none = "Not measured: ";
  if (!may_run_again.load()) return std::string{none} + "a signal ends the program";
  const rerun_link* const again = find_rerun(run, node);
  if (again == nullptr)
    return std::string{none} + "kprof::prove does not say how to run " + node.name;
  measured_call as_is = again->time(*again, run, node, {});
  if (!as_is.why_not.empty()) return std::string{none} + as_is.why_not;
  std::vector<measured_call> changed;
  for (const advised_fields& fields : a.trials)
    changed.push_back(again->time(*again, run, node, fields));
  // The machine may have become faster or slower meanwhile: both times are as they are.
  if (const measured_call later = again->time(*again, run, node, {}); later.why_not.empty()) {
    as_is.median_ns = (as_is.median_ns + later.median_ns) / 2;
    as_is.low_ns = std::min(as_is.low_ns, later.low_ns);
    as_is.high_ns = std::max(as_is.high_ns, later.high_ns);
  }
  std::string out;
  for (std::size_t i = 0; i < changed.size(); ++i)
    out.append(out.empty() ? "Measured: " : ", ") += text_of_gain(as_is, changed[i], a.trials[i]);
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
