// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_FIELD_PATHS_HPP
#define KPROF_MODEL_FIELD_PATHS_HPP

// Fields of operators by their paths: where the value lies, the single values that an operator has,
// and parameters without the fields that a grouping folds. Included by the grouping of rows. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A field that a path names, or an element of it.
struct path_target {
  const operator_field* field = nullptr;
  bool is_element = false;
};

/// Follows a path through fields; skip_field(f) and skip_element(f) are called for what lies before
/// the target in packed values. A path without an index names the whole array.
template <class SkipField, class SkipElement>
path_target follow_path(const std::vector<operator_field>& from, std::string_view path,
                        SkipField skip_field, SkipElement skip_element) {
  const std::vector<operator_field>* fields = &from;
  for (;;) {
    const std::string_view name = path.substr(0, path.find_first_of(".["));
    path.remove_prefix(name.size());
    const bool has_index = !path.empty() && path[0] == '[';
    const std::uint32_t index = take_index(path);
    const operator_field* found = nullptr;
    for (const operator_field& f : *fields) {
      if (f.name == name) {
        found = &f;
        break;
      }
      skip_field(f);
    }
    if (found == nullptr || index >= (found->extent == 0 ? 1 : found->extent)) return {};
    for (std::uint32_t i = 0; i < index; ++i) skip_element(*found);
    if (path.empty()) return {found, has_index || found->extent == 0};
    if (path[0] != '.' || found->kind != parameter_kind::aggregate) return {};
    path.remove_prefix(1);
    fields = &found->fields;
  }
}

/// Whether the operator has such a field.
inline bool has_field(const operator_info& op, std::string_view path) {
  const auto skip = [](const operator_field&) {};
  return follow_path(op.fields, path, skip, skip).field != nullptr;
}

/// Whether it is one value, and no array or nested struct.
inline bool is_single(const operator_info& op, std::string_view path) {
  const auto skip = [](const operator_field&) {};
  const path_target at = follow_path(op.fields, path, skip, skip);
  return at.field != nullptr && at.is_element && at.field->kind != parameter_kind::aggregate;
}

/// The text of a field of a call; false where it has none.
inline bool field_text(const operator_info& op, const parameter_values& values,
                       std::string_view path, std::string& out) {
  if (values.empty()) return false;
  parameter_cursor from(values.packed);
  const path_target at = follow_path(
      op.fields, path, [&](const operator_field& f) { from.skip_all(f); },
      [&](const operator_field& f) { from.skip(f); });
  if (at.field == nullptr || from.at_end()) return false;
  if (at.is_element) append_element(out, *at.field, from);
  else append_field(out, *at.field, from);
  return true;
}

/// A single value that calls of an operator have, in the order in which they are packed.
struct field_leaf {
  const operator_field* field = nullptr;
  std::string path{};
  bool folded = false;
};

/// The single values of an operator. An operator has no more than `most` that can be told apart;
/// what lies behind them is never folded.
class operator_leaves {
 public:
  static constexpr std::size_t most = 4096;

  operator_leaves() = default;
  operator_leaves(const operator_info& op, const std::vector<std::string>& folded)
      : folded_(folded) {
    std::string path;
    add(op.fields, path);
    for (const field_leaf& leaf : leaves_) any_folded_ = any_folded_ || leaf.folded;
  }

  const std::vector<field_leaf>& all() const noexcept { return leaves_; }
  bool any_folded() const noexcept { return any_folded_; }

  /// Packed values without the folded ones.
  std::string without_folded(std::string_view packed) const {
    std::string out;
    parameter_cursor from(packed);
    for (const field_leaf& leaf : leaves_) {
      const std::size_t before = packed.size() - from.left();
      from.skip(*leaf.field);
      if (!leaf.folded) out += packed.substr(before, packed.size() - from.left() - before);
    }
    return out += packed.substr(packed.size() - from.left());
  }

  /// parameter_text() without the folded values.
  std::string text_without_folded(const operator_info& op, std::string_view packed) const {
    std::string out;
    parameter_cursor from(packed);
    std::size_t leaf = 0;
    append_kept(out, op.fields, from, leaf);
    return out;
  }

 private:
  // "shape" folds "shape[0]", "epilogue" folds "epilogue.scale".
  bool is_folded(std::string_view path) const noexcept {
    for (const std::string& f : folded_)
      if (path.starts_with(f) &&
          (path.size() == f.size() || path[f.size()] == '[' || path[f.size()] == '.'))
        return true;
    return false;
  }

  void add(const std::vector<operator_field>& fields, std::string& path) {
    const std::size_t above = path.size();
    for (const operator_field& f : fields)
      for (std::uint32_t i = 0; i < (f.extent == 0 ? 1 : f.extent); ++i) {
        if (leaves_.size() >= most) return;
        path += f.name;
        if (f.extent != 0) path += '[' + std::to_string(i) + ']';
        if (f.kind == parameter_kind::aggregate) {
          path += '.';
          add(f.fields, path);
        } else {
          leaves_.push_back({&f, path, is_folded(path)});
        }
        path.resize(above);
      }
  }

  // Each returns whether something was kept.
  bool append_kept(std::string& out, const std::vector<operator_field>& fields,
                   parameter_cursor& from, std::size_t& leaf) const {
    const std::size_t begin = out.size();
    bool kept = fields.empty();
    for (const operator_field& f : fields) {
      const std::size_t before = out.size();
      if (before != begin) out += ' ';
      out += f.name;
      out += '=';
      const bool shown = append_kept_field(out, f, from, leaf);
      if (!shown) out.resize(before);
      kept = kept || shown;
    }
    return kept;
  }
  bool append_kept_field(std::string& out, const operator_field& f, parameter_cursor& from,
                         std::size_t& leaf) const {
    if (f.extent == 0) {
      const std::size_t before = out.size();
      return append_kept_element(out, f, from, leaf) &&
             (f.kind != parameter_kind::enumeration ||
              std::string_view{out}.substr(before) != "unknown");
    }
    bool kept = false;
    for (std::uint32_t i = 0; i < f.extent; ++i) {
      out += i == 0 ? '[' : ',';
      if (append_kept_element(out, f, from, leaf)) kept = true;
      else out += "\u2026";
      if (leaf >= leaves_.size() && from.at_end()) break;
    }
    out += ']';
    return kept;
  }
  bool append_kept_element(std::string& out, const operator_field& f, parameter_cursor& from,
                           std::size_t& leaf) const {
    if (f.kind != parameter_kind::aggregate) {
      const bool folded = leaf < leaves_.size() && leaves_[leaf].folded;
      ++leaf;
      if (folded) from.skip(f);
      else append_element(out, f, from);
      return !folded;
    }
    const std::size_t before = out.size();
    out += '{';
    const bool kept = append_kept(out, f.fields, from, leaf);
    if (kept) out += '}';
    else out.resize(before);
    return kept;
  }

  std::vector<std::string> folded_;
  std::vector<field_leaf> leaves_;
  bool any_folded_ = false;
};

/// The leaves of the operators of a profile.
class profile_leaves {
 public:
  profile_leaves(const profile& p, const std::vector<std::string>& folded)
      : p_(p), folded_(folded), made_(p.operators.size()), leaves_(p.operators.size()) {}

  /// Of the operator of a node, which has one.
  const operator_leaves& of(const scope_node& n) {
    if (!made_[n.op]) leaves_[n.op] = operator_leaves(p_.operators[n.op], folded_);
    made_[n.op] = true;
    return leaves_[n.op];
  }
  /// Whether parameters of a node lack fields that are folded.
  bool lacks_folded(const scope_node& n) {
    return !folded_.empty() && n.op < p_.operators.size() && !n.values.empty() &&
           of(n).any_folded();
  }
  /// The text of its parameters, without those folded.
  std::string text(const scope_node& n) {
    return lacks_folded(n) ? of(n).text_without_folded(p_.operators[n.op], n.values.packed)
                           : parameter_text(p_, n);
  }

 private:
  const profile& p_;
  const std::vector<std::string>& folded_;
  std::vector<bool> made_;
  std::vector<operator_leaves> leaves_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
