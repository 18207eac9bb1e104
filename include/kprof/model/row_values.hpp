// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROW_VALUES_HPP
#define KPROF_MODEL_ROW_VALUES_HPP

// What the calls of a row have in common: for each key of a grouping a number by node, which makes
// the rows, and a value of the row. Included by the tables. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/field_paths.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What the calls of a row have in common by one key of its grouping.
struct group_value {
  group_key kind = group_key::op;
  std::string key;     ///< as in `by=`: "op", "layer", "M"
  bool known = false;  ///< false: the calls have none, or their parameters were not kept
  std::string text;    ///< empty where it is not known, but an empty text may be known
  /// Of a field that is a single value. Its text is a view of the profile, which must outlive it.
  parameter_value value{};
};

/// Values that one field has in the calls of a row.
struct field_range {
  std::string field;         ///< its path: "K", "shape[1]"
  bool is_number = false;    ///< an integer or a floating value; else there are no bounds
  parameter_value least{};   ///< NaN where all are
  parameter_value most{};    ///< the same
  std::uint64_t values = 0;  ///< how many different ones
};

namespace detail {

/// A thread's name and number as the operating system has them; for threads kept together, how
/// many.
inline std::string thread_text(const profile& p, std::uint32_t index) {
  if (index >= p.threads.size()) return {};
  const thread_info& t = p.threads[index];
  if (t.merged > 0) return std::to_string(t.merged) + " ended threads";
  return t.name.empty() ? std::to_string(t.id) : t.name + ' ' + std::to_string(t.id);
}

inline constexpr std::size_t longest_layer = 4000;

/// The regions around a node, from the outermost on, joined by `/`. Of one nested more deeply than
/// anybody reads, the inner ones.
inline bool layer_text(const profile& p, std::uint32_t node, std::string& out) {
  std::vector<std::uint32_t> regions;
  std::size_t size = 0;
  bool whole = true;
  for (std::uint32_t at = node; at != scope_node::none && whole; at = parent_of(p, at)) {
    if (p.nodes[at].kind != scope_kind::region) continue;
    whole = size < longest_layer;
    if (whole) regions.push_back(at);
    size += 1 + p.nodes[at].name.size();
  }
  if (!whole) out = "\u2026/";
  for (std::size_t i = regions.size(); i-- > 0;) {
    out += p.nodes[regions[i]].name;
    if (i > 0) out += '/';
  }
  return !regions.empty();
}

/// Of a call, or of the innermost operator around it that has one.
inline bool pass_text(const profile& p, std::uint32_t node, std::string& out) {
  for (std::uint32_t at = node; at != scope_node::none; at = parent_of(p, at))
    if (p.nodes[at].kind == scope_kind::op && !p.nodes[at].merged) {
      out = pass_of(p, p.nodes[at]);
      if (!out.empty()) return true;
    }
  return false;
}

inline bool region_text(const profile& p, std::uint32_t node, std::string& out) {
  std::uint32_t at = node;
  while (at != scope_node::none && p.nodes[at].kind != scope_kind::region) at = parent_of(p, at);
  if (at != scope_node::none) out = p.nodes[at].name;
  return at != scope_node::none;
}

/// Where something happened: the scope, and the innermost operator's node, which may be the scope.
/// Either may be none.
struct group_place {
  std::uint32_t scope = scope_node::none;
  std::uint32_t op = scope_node::none;
};

/// What the operator at this place has for a key that asks about operators.
inline void set_value_of_operator(const profile& p, const scope_node& n, const group_part& part,
                                  profile_leaves& leaves, group_value& out) {
  switch (part.kind) {
    case group_key::op: out.known = true, out.text = n.name; break;
    case group_key::parameters:
      out.known = !n.merged;
      if (out.known) out.text = leaves.text(n);
      break;
    case group_key::dtype:
      out.known = !n.merged && n.work.type != dtype::unknown;
      if (out.known) out.text = dtype_name(n.work.type);
      break;
    case group_key::call_site:
      out.known = !n.file.empty();
      if (out.known) out.text = n.file + ':' + std::to_string(n.line);
      break;
    case group_key::field:
      if (const operator_info* const op = p.operator_of(n); op != nullptr && !n.merged) {
        out.known = field_text(*op, n.values, part.field, out.text);
        if (out.known && is_single(*op, part.field)) out.value = p.value(n, part.field);
      }
      break;
    default: break;
  }
}

/// What a place has for a key.
inline group_value value_of(const profile& p, const group_place& at, const group_part& part,
                            profile_leaves& leaves) {
  group_value out;
  out.kind = part.kind;
  out.key = text_of(part);
  switch (part.kind) {
    case group_key::pass: out.known = pass_text(p, at.scope, out.text); break;
    case group_key::region: out.known = region_text(p, at.scope, out.text); break;
    case group_key::layer: out.known = layer_text(p, at.scope, out.text); break;
    case group_key::thread:
      out.known = at.scope != scope_node::none && p.nodes[at.scope].thread < p.threads.size();
      if (out.known) out.text = thread_text(p, p.nodes[at.scope].thread);
      break;
    default:
      if (at.op != scope_node::none) set_value_of_operator(p, p.nodes[at.op], part, leaves, out);
  }
  return out;
}

/// Numbers of nodes and values for the keys of a grouping; 0 is a value that is absent. Calls whose
/// numbers are the same for all keys share a row.
class group_numbers {
 public:
  group_numbers(const profile& p, const grouping& by)
      : p_(p), folded_(by.folded()), leaves_(p, folded_), parameters_(p.nodes.size()) {
    for (const group_part& part : by.keys()) {
      parts_.push_back(part);
      by_variant_.emplace_back();
    }
    levels_.resize(parts_.size() / 5 + 1, key_numbers{0});
    names_.of({});  // a text that is not there
    texts_.of({});
    inherited_.resize(by.has(group_key::pass) || by.has(group_key::region) ||
                              by.has(group_key::layer)
                          ? p.nodes.size()
                          : 0);
  }
  group_numbers(const group_numbers&) = delete;
  group_numbers& operator=(const group_numbers&) = delete;

  /// Sees a node; called for all, in their order.
  void look_at(std::uint32_t node) {
    if (inherited_.empty()) return;
    const scope_node& n = p_.nodes[node];
    around& here = inherited_[node];
    if (const std::uint32_t parent = parent_of(p_, node); parent != scope_node::none)
      here = inherited_[parent];
    if (n.kind == scope_kind::region) {
      here.region = 1 + names_.of(n.name);
      here.layer = number_of_layer(here.layer, n.name);
    } else if (n.kind == scope_kind::op && !n.merged) {
      if (std::string pass = pass_of(p_, n); !pass.empty())
        here.pass = 1 + names_.of(kept_text(std::move(pass)));
    }
  }

  /// Of the operator and all parameters of a call.
  std::uint32_t variant_of(const scope_node& n) {
    return variants_.of({{names_.of(n.name), parameters_.of(n.values.packed), operator_part(n)}})
        .first;
  }

  /// Of the row of what happened at a place. `variant`: of the operator there.
  row_key key_of(const group_place& at, std::uint32_t variant) {
    row_key key;
    std::size_t filled = 0, level = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (filled == std::size(key.part)) {
        key = {{levels_[level++].of(key).first}};
        filled = 1;
      }
      key.part[filled++] = number(i, at, variant);
    }
    return key;
  }

  std::vector<group_value> values_of(const group_place& at) {
    std::vector<group_value> out;
    out.reserve(parts_.size());
    for (const group_part& part : parts_) out.push_back(value_of(p_, at, part, leaves_));
    return out;
  }
  profile_leaves& leaves() noexcept { return leaves_; }

 private:
  struct around {
    std::uint32_t pass = 0, region = 0, layer = 0;
  };

  std::uint32_t number(std::size_t part, const group_place& at, std::uint32_t variant) {
    const group_key kind = parts_[part].kind;
    if (kind == group_key::thread)
      return at.scope == scope_node::none ? scope_node::none : p_.nodes[at.scope].thread;
    if (kind == group_key::pass || kind == group_key::region || kind == group_key::layer) {
      if (at.scope == scope_node::none) return 0;
      const around& here = inherited_[at.scope];
      return kind == group_key::pass     ? here.pass
             : kind == group_key::region ? here.region
                                         : here.layer;
    }
    if (at.op == scope_node::none || kind == group_key::step) return 0;  // see step_rows.hpp
    const scope_node& n = p_.nodes[at.op];
    if (kind == group_key::op) return names_.of(n.name);
    if (kind == group_key::call_site && n.file.empty()) return 0;
    if (kind == group_key::call_site) return 1 + sites_.of({{names_.of(n.file), n.line}}).first;
    if (kind == group_key::dtype)
      return n.merged || n.work.type == dtype::unknown
                 ? 0
                 : 1 + static_cast<std::uint32_t>(n.work.type);
    std::vector<std::uint32_t>& known = by_variant_[part];
    if (variant >= known.size()) known.resize(variant + std::size_t{1}, scope_node::none);
    if (known[variant] == scope_node::none)
      known[variant] = kind == group_key::field ? number_of_field(parts_[part].field, n)
                                                : 1 + number_of_parameters(n, variant);
    return known[variant];
  }

  std::uint32_t number_of_parameters(const scope_node& n, std::uint32_t variant) {
    if (folded_.empty()) return variant;
    const std::string_view packed = leaves_.lacks_folded(n)
                                        ? std::string_view{texts_kept_.emplace_back(
                                              leaves_.of(n).without_folded(n.values.packed))}
                                        : std::string_view{n.values.packed};
    return folded_sets_.of({{names_.of(n.name), texts_.of(packed), operator_part(n)}}).first;
  }

  std::uint32_t number_of_field(const std::string& path, const scope_node& n) {
    const operator_info* const op = p_.operator_of(n);
    std::string text;
    if (op == nullptr || n.merged || !field_text(*op, n.values, path, text)) return 0;
    return 1 + texts_.of(kept_text(std::move(text)));
  }

  // A region whose name has a / in it reads like several.
  std::uint32_t number_of_layer(std::uint32_t above, std::string_view name) {
    for (;;) {
      const std::size_t end = name.find('/');
      above = 1 + layers_.of({{above, names_.of(name.substr(0, end))}}).first;
      if (end == std::string_view::npos) return above;
      name.remove_prefix(end + 1);
    }
  }

  std::string_view kept_text(std::string text) { return texts_kept_.emplace_back(std::move(text)); }

  const profile& p_;
  const std::vector<std::string> folded_;
  profile_leaves leaves_;
  std::vector<group_part> parts_;
  std::vector<std::vector<std::uint32_t>> by_variant_;  // by part: numbers known of variants
  std::vector<around> inherited_;
  std::vector<key_numbers> levels_;  // of the front of keys too long for a row_key
  text_numbers names_, texts_, parameters_;
  key_numbers variants_{0}, folded_sets_{0}, sites_{0}, layers_{0};
  std::deque<std::string> texts_kept_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
