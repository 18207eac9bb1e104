// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_PASSES_HPP
#define KPROF_MODEL_TIMELINE_PASSES_HPP

// Forward and backward of a training beside each other: which layer a scope belongs to and in which
// direction it goes, the times by layer, and by operator held against its formulas. Pure, linear.

#include <kprof/build_options.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// Where a step is when it runs a scope.
enum class direction : std::uint8_t { none, forward, backward, update };
inline constexpr std::size_t directions = 4;

/// Times of a layer, by direction.
struct layer_row {
  std::string layer;  ///< its regions, joined by '/', without those that name a direction
  double host_ns[directions] = {};    ///< self times of its scopes
  double device_ns[directions] = {};  ///< of what they launched
};

/// Calls of an operator with the same parameters in one layer.
struct direction_row {
  std::string layer;
  std::string op;
  std::uint32_t node = 0;  ///< one of the calls: index in profile::nodes
  bool of_device = false;  ///< times are those of the device
  double ns[directions] = {};
  std::uint64_t calls[directions] = {};
  double flops[directions] = {};  ///< by the formulas; negative where one does not say

  /// Time of the backward calls over that of the forward ones; negative: not known.
  double ratio() const noexcept { return over(ns); }
  /// The same of the work that the formulas give.
  double formula_ratio() const noexcept { return over(flops); }
  /// Whether backward takes more than half again as long as its work lets expect.
  bool is_slow_backward() const noexcept {
    return formula_ratio() > 0 && ratio() > 1.5 * formula_ratio();
  }

 private:
  static double over(const double (&of)[directions]) noexcept {
    const double forward = of[static_cast<std::size_t>(direction::forward)],
                 backward = of[static_cast<std::size_t>(direction::backward)];
    return forward > 0 && backward > 0 ? backward / forward : -1;
  }
};

namespace detail {

inline direction direction_of(std::string_view pass) noexcept {
  switch (pass_of_name(pass)) {
    case pass_kind::fprop:
    case pass_kind::recompute: return direction::forward;
    case pass_kind::bprop:
    case pass_kind::dgrad:
    case pass_kind::wgrad:
    case pass_kind::bgrad: return direction::backward;
    case pass_kind::update: return direction::update;
    default: return direction::none;
  }
}

/// Of a region's name, such as "forward", "Backward pass" or "optimizer"; only letters count.
[[gnu::cold]] inline direction named_direction(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    else if (c >= 'a' && c <= 'z') letters += c;
  }
  struct named {
    std::string_view name;
    direction is;
  };
  constexpr named known[] = {
      {"forward", direction::forward},     {"fwd", direction::forward},
      {"fprop", direction::forward},       {"forwardpass", direction::forward},
      {"backward", direction::backward},   {"bwd", direction::backward},
      {"bprop", direction::backward},      {"backwardpass", direction::backward},
      {"update", direction::update},       {"optimizer", direction::update},
      {"optimiser", direction::update},    {"optimizerstep", direction::update},
      {"weightupdate", direction::update},
  };
  for (const named& k : known)
    if (k.name == letters) return k.is;
  return direction::none;
}

/// Where a node belongs.
struct pass_place {
  std::uint32_t layer = 0;  // number of its name
  direction way = direction::none;
  std::uint32_t op = scope_node::none;  // the innermost operator around
};

/// The layers and directions of the nodes of a profile, which must outlive it.
class pass_places {
 public:
  [[gnu::cold]] explicit pass_places(const profile& p) : layers_(1), places_(p.nodes.size()) {
    numbering numbers(p.nodes.size());
    static_cast<void>(number_of({}, numbers));
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      pass_place& here = places_[i];
      if (const std::uint32_t parent = parent_of(p, i);
          parent != scope_node::none && n.kind != scope_kind::root)
        here = places_[parent];
      if (n.kind == scope_kind::op) {
        here.op = static_cast<std::uint32_t>(i);
        const direction way = n.merged ? direction::none : direction_of(pass_of(p, n));
        if (way != direction::none) here.way = way;
      } else if (n.kind == scope_kind::region && here.op == scope_node::none) {
        const direction way = named_direction(n.name);
        if (way != direction::none) here.way = way;
        else here.layer = number_of(joined(layers_[here.layer], n.name), numbers);
      }
    }
  }

  const pass_place& of(std::uint32_t node) const noexcept { return places_[node]; }
  const std::string& layer(std::uint32_t number) const noexcept { return layers_[number]; }
  std::size_t layers() const noexcept { return layers_.size(); }

 private:
  static std::string joined(const std::string& outer, const std::string& name) {
    return outer.empty() ? name : outer + '/' + name;
  }
  std::uint32_t number_of(const std::string& name, numbering& numbers) {
    const std::uint32_t number = numbers.of(std::hash<std::string>{}(name),
                                            [&](std::uint32_t i) { return layers_[i] == name; });
    if (number == layers_.size()) layers_.push_back(name);
    return number;
  }

  std::vector<std::string> layers_;
  std::vector<pass_place> places_;
};

/// The parameters as they are packed, without that of the pass.
[[gnu::cold]] inline std::string packed_without_pass(const profile& p, const scope_node& n) {
  const operator_info* const op = p.operator_of(n);
  if (op == nullptr) return n.values.packed;
  std::string out;
  parameter_cursor values(n.values.packed);
  for (const operator_field& f : op->fields) {
    const std::string_view packed = values.packed_field(f);
    if (f.name != "pass") out += packed;
  }
  return out;
}

/// Numbers of what calls have in common whatever their pass: layer, operator and parameters.
class pass_variants {
 public:
  [[gnu::cold]] pass_variants(const profile& p, const pass_places& places)
      : of_(p.nodes.size(), scope_node::none), keys_(p.nodes.size()) {
    numbering texts(p.nodes.size());
    std::vector<std::string> known;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.kind != scope_kind::op || n.merged) continue;
      const std::string packed = packed_without_pass(p, n);
      const std::uint32_t text = texts.of(std::hash<std::string>{}(packed),
                                          [&](std::uint32_t k) { return known[k] == packed; });
      if (text == known.size()) known.push_back(packed);
      of_[i] =
          keys_
              .of({{places.of(static_cast<std::uint32_t>(i)).layer, names_.of(n.name), n.op, text}})
              .first;
    }
  }
  /// None for what is no call of an operator, or of which the parameters were not kept.
  std::uint32_t of(std::uint32_t node) const noexcept { return of_[node]; }

 private:
  std::vector<std::uint32_t> of_;
  text_numbers names_;
  key_numbers keys_;
};

/// Device time of each node, of the scopes inside it too.
[[gnu::cold]] inline std::vector<double> device_ns_of_nodes(const profile& p) {
  std::vector<double> ns(p.nodes.size());
  for (const device_work& w : p.device.work)
    if (w.scope < ns.size()) ns[w.scope] += not_negative(w.total_ns);
  for (std::size_t i = p.nodes.size(); i-- > 0;)
    if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
      ns[parent] += ns[i];
  return ns;
}

}  // namespace detail

/// All scopes by layer, in the order in which the layers first appear; those outside all regions
/// are the layer without a name.
[[gnu::cold]] inline std::vector<layer_row> layers_of(const profile& p) {
  const detail::pass_places places(p);
  std::vector<layer_row> rows(places.layers());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].layer = places.layer(static_cast<std::uint32_t>(i));
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
    if (p.nodes[i].kind == scope_kind::root) continue;
    const detail::pass_place& at = places.of(i);
    rows[at.layer].host_ns[static_cast<std::size_t>(at.way)] +=
        detail::not_negative(p.nodes[i].self_ns);
  }
  for (const device_work& w : p.device.work) {
    if (w.scope >= p.nodes.size()) continue;
    const detail::pass_place& at = places.of(w.scope);
    rows[at.layer].device_ns[static_cast<std::size_t>(at.way)] += detail::not_negative(w.total_ns);
  }
  return rows;
}

/// Operators that have calls in more than one direction.
[[gnu::cold]] inline std::vector<direction_row> directions_of(const profile& p) {
  const detail::pass_places places(p);
  const detail::pass_variants variants(p, places);
  const std::vector<double> device = detail::device_ns_of_nodes(p);
  std::vector<direction_row> rows, found;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t variant = variants.of(i);
    if (variant == scope_node::none) continue;
    const scope_node& n = p.nodes[i];
    if (variant == rows.size()) {
      direction_row& made = rows.emplace_back();
      made.layer = places.layer(places.of(i).layer);
      made.op = n.name;
      made.node = i;
    }
    rows[variant].of_device = rows[variant].of_device || device[i] > 0;
  }
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
    if (variants.of(i) == scope_node::none) continue;
    const scope_node& n = p.nodes[i];
    direction_row& row = rows[variants.of(i)];
    const auto way = static_cast<std::size_t>(places.of(i).way);
    row.ns[way] += row.of_device ? device[i] : detail::calls_ns(n);
    row.calls[way] += detail::executions(n);
    if (!detail::says_flops(n)) row.flops[way] = -1;
    else if (row.flops[way] >= 0) row.flops[way] += detail::all_flops(n);
  }
  for (direction_row& row : rows) {
    std::size_t ways = 0;
    for (std::size_t way = 1; way < directions; ++way) ways += row.calls[way] > 0 ? 1U : 0U;
    if (ways > 1) found.push_back(std::move(row));
  }
  return found;
}

KPROF_DETAIL_END

#endif
