// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_LAUNCH_PLACES_HPP
#define KPROF_MODEL_LAUNCH_PLACES_HPP

// Where the work of a device was launched: operator, region and pass; and what an operator's
// formulas say of its kernels. Included by the table of kernels. Pure; linear in profile::nodes and
// device_profile::work.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Where something was launched.
enum class launch_place : std::uint8_t { unknown, outside_operators, in_operator };

namespace detail {

struct work_place {
  launch_place place = launch_place::unknown;
  std::uint32_t op = scope_node::none;  // node of the innermost operator
  std::uint32_t op_name = 0;            // numbers of its name, and of its name and parameters
  std::uint32_t variant = 0;
  // node of the innermost region, inside or outside of the operator
  std::uint32_t region = scope_node::none;
  std::uint32_t region_name = 0;  // number of its name; 0: there is none
  std::uint32_t pass = 0;         // number of its text; 0: there is none
};

/// What the calls of an operator with one set of parameters run, and what its formulas do not say.
struct operator_kernels {
  std::uint64_t calls = 0;  // that did the work, or may have begun it
  std::uint64_t runs = 0;   // of kernels launched in them, up to nested operators
  device_sum work;          // all of it, the same
  std::uint32_t kernel = device_work::none;
  bool several = false;  // different kernels, or kernels in operators nested in them
  bool valid = true;
  absence no_flops = absence::none, no_bytes = absence::none;
  arithmetic_unit on = arithmetic_unit::unknown;  // declared
  bool known = false;                             // there is a node of it

  /// Whether each call runs one kernel, always the same: then the call's work is the kernel's.
  bool only_one() const noexcept { return !several && runs <= calls; }

  void describe(const scope_node& n) {
    const arithmetic_unit declared = n.merged ? arithmetic_unit::unknown : n.work.on;
    on = !known || on == declared ? declared : arithmetic_unit::unknown;
    known = true;
    valid = valid && n.work.valid;
    const absence why = n.merged        ? absence::merged
                        : !n.work.valid ? absence::invalid
                                        : absence::none;
    no_flops = std::max(no_flops, n.merged || n.work.has_flops ? why : absence::no_flops);
    no_bytes = std::max(no_bytes, n.merged || n.work.has_bytes ? why : absence::no_bytes);
    calls += executions(n) + n.open;
  }
};

/// The pass of a call or, where the operator does not say, the text of its field `pass`; empty
/// where there is none.
inline std::string pass_of(const profile& p, const scope_node& n) {
  if (n.work.pass != pass_kind::unknown) return pass_name(n.work.pass);
  const operator_info* const op = p.operator_of(n);
  if (op == nullptr || n.values.empty()) return {};
  parameter_cursor values(n.values.packed);
  for (const operator_field& f : op->fields) {
    if (f.name != "pass") {
      values.skip_all(f);
      continue;
    }
    std::string text;
    return append_field(text, f, values) ? text : std::string{};
  }
  return {};
}

/// The place of each node and each work of a profile, which must outlive it.
class launch_places {
 public:
  explicit launch_places(const profile& p) : p_(p) {
    if (!has_device_work(p)) return;
    find_places();
    find_kernels();
  }

  work_place of(const device_work& w) const {
    const std::uint32_t node = scope_of(p_, w);
    return node == scope_node::none ? work_place{} : places_[node];
  }

  /// Of the operator of a place; nullptr where there is none.
  const operator_kernels* kernels_of(const work_place& at) const noexcept {
    return at.op == scope_node::none ? nullptr : &kernels_[at.variant];
  }

  const std::string& pass_of(const work_place& at) const noexcept { return passes_[at.pass]; }

 private:
  // There are few: a direction or two an operator.
  std::uint32_t number_of_pass(const std::string& pass) {
    const auto known = std::find(passes_.begin(), passes_.end(), pass);
    const auto number = static_cast<std::uint32_t>(known - passes_.begin());
    if (known == passes_.end()) passes_.push_back(pass);
    return number;
  }

  void find_places() {
    text_numbers names, parameters(p_.nodes.size());
    key_numbers variants(p_.nodes.size());
    names.of({});  // the number 0 is no name at all
    places_.resize(p_.nodes.size());
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const scope_node& n = p_.nodes[i];
      work_place& at = places_[i];
      if (const std::uint32_t parent = parent_of(p_, i);
          n.kind != scope_kind::root && parent != scope_node::none)
        at = places_[parent];
      if (at.place == launch_place::unknown) at.place = launch_place::outside_operators;
      if (n.kind == scope_kind::region) {
        at.region = static_cast<std::uint32_t>(i);
        at.region_name = 1 + names.of(n.name);
      } else if (n.kind == scope_kind::op) {
        at.place = launch_place::in_operator;
        at.op = static_cast<std::uint32_t>(i);
        at.op_name = names.of(n.name);
        at.variant =
            variants.of({{at.op_name, parameters.of(n.values.packed), operator_part(n)}}).first;
        if (const std::string pass = n.merged ? std::string{} : detail::pass_of(p_, n);
            !pass.empty())
          at.pass = number_of_pass(pass);
        if (at.variant == kernels_.size()) kernels_.emplace_back();
        kernels_[at.variant].describe(n);
      }
    }
  }

  void find_kernels() {
    const device_sums sums(p_);
    for (std::size_t i = 0; i < p_.nodes.size(); ++i)
      if (places_[i].op != scope_node::none) kernels_[places_[i].variant].work.add(sums.own[i]);
    for (const device_work& w : p_.device.work) {
      const work_place at = of(w);
      if (w.task != device_task::kernel || at.op == scope_node::none || w.calls == 0) continue;
      operator_kernels& of = kernels_[at.variant];
      of.several = of.several || w.kernel >= p_.device.kernels.size() ||
                   (of.runs > 0 && of.kernel != w.kernel);
      of.kernel = w.kernel;
      of.runs += w.calls;
    }
    // A call whose nested operators run kernels of their own does not give all its work to one.
    std::vector<bool> nested(p_.nodes.size());  // nodes with kernels in operators below
    std::vector<bool> runs(p_.nodes.size());    // nodes with kernels in them or below
    for (const device_work& w : p_.device.work)
      if (const std::uint32_t node = scope_of(p_, w);
          node != scope_node::none && w.task == device_task::kernel && w.calls > 0)
        runs[node] = true;
    for (std::size_t i = p_.nodes.size(); i-- > 0;) {
      const bool op = p_.nodes[i].kind == scope_kind::op;
      if (op && nested[i]) kernels_[places_[i].variant].several = true;
      const std::uint32_t parent = parent_of(p_, i);
      if (parent == scope_node::none || !runs[i]) continue;
      runs[parent] = true;
      nested[parent] = nested[parent] || nested[i] || op;
    }
  }

  const profile& p_;
  std::vector<std::string> passes_{std::string{}};
  std::vector<work_place> places_;         // by node
  std::vector<operator_kernels> kernels_;  // by operator and parameters
};

}  // namespace detail
KPROF_DETAIL_END

#endif
