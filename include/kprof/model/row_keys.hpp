// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROW_KEYS_HPP
#define KPROF_MODEL_ROW_KEYS_HPP

// Keys of rows that are the same in every run of the program, so that a row can be named and found
// again. They are made of names, typed values and places in the source, and of no address, number
// or order of a run. Included by the summaries. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/field_paths.hpp>
#include <kprof/model/grouping.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN

/// The 16 hexadecimal digits of a row's key.
///     row_key_text(kprof::operator_table(run)[0].key) == "5b1d0c6e8f2a9374"
inline std::string row_key_text(std::uint64_t key) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; key >>= 4U) out[i] = "0123456789abcdef"[key & 0xFU];
  return out;
}

namespace detail {

/// A hash of 64 bits over words and texts, the same on every machine. Each word is mixed in by a
/// bijection (the finalizer of SplitMix64), so that inputs of one shape collide by chance only.
class key_hash {
 public:
  key_hash() = default;
  explicit key_hash(std::uint64_t state) noexcept : state_(state) {}

  key_hash& add(std::uint64_t word) noexcept {
    std::uint64_t x = (state_ ^ word) + 0x9E3779B97F4A7C15U;
    x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27U) * 0x94D049BB133111EBU;
    state_ = x ^ x >> 31U;
    return *this;
  }
  key_hash& add(std::string_view text) noexcept {
    add(text.size());
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, 8);
      std::uint64_t word = 0;
      std::memcpy(&word, piece.data(), piece.size());
      add(word);
      text.remove_prefix(piece.size());
    }
    return *this;
  }
  std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0x6B70726F66000001U;  // "kprof" and the version of the keys
};

inline void hash_fields(key_hash& hash, const std::vector<operator_field>& fields) {
  hash.add(fields.size());
  for (const operator_field& f : fields) {
    hash.add(f.name).add(static_cast<std::uint64_t>(f.kind)).add(f.bits).add(f.extent);
    hash_fields(hash, f.fields);
  }
}

/// Hashes of what rows are made of.
class profile_keys {
 public:
  explicit profile_keys(const profile& p) : p_(p), hashes_(p.operators.size()) {
    for (std::size_t i = 0; i < p.operators.size(); ++i) {
      const operator_info& op = p.operators[i];
      // Another one of that name may have been declared first: the name as shown has a number then.
      key_hash hash;
      hash.add(op.declared_name.empty() ? op.name : op.declared_name);
      hash_fields(hash, op.fields);
      hashes_[i] = hash.value();
    }
  }

  /// The operator or, of another scope, its kind and name.
  key_hash scope(const scope_node& n) const {
    key_hash hash;
    hash.add(static_cast<std::uint64_t>(n.kind));
    if (n.op < hashes_.size()) hash.add(hashes_[n.op]);
    else if (n.kind == scope_kind::root) hash.add(thread_name(n));
    else hash.add(n.name);
    return hash;
  }
  /// The same and its parameters.
  key_hash call(const scope_node& n) const {
    return scope(n).add(n.merged ? 1U : 0U).add(n.values.packed);
  }
  /// The operator, and the parameters that are not folded, where rows are made of them.
  key_hash call(const scope_node& n, const std::vector<group_value>& values,
                profile_leaves& leaves) const {
    bool by_op = false, by_parameters = false;
    for (const group_value& v : values) {
      by_op = by_op || v.kind == group_key::op;
      by_parameters = by_parameters || v.kind == group_key::parameters;
    }
    if (!by_parameters) return by_op ? scope(n) : key_hash{};
    if (!leaves.lacks_folded(n)) return call(n);
    key_hash hash = scope(n).add(n.merged ? 1U : 0U);
    hash.add(leaves.of(n).without_folded(n.values.packed));
    for (const field_leaf& leaf : leaves.of(n).all())
      if (leaf.folded) hash.add(leaf.path);
    return hash;
  }

  /// Of a row of operators, by the values that its calls have in common; `n` is one of them. The
  /// order of the values makes no difference.
  std::uint64_t row(const scope_node& n, const std::vector<group_value>& values,
                    profile_leaves& leaves) const {
    key_hash hash = call(n, values, leaves);
    add_places(hash, values, thread_name(n));
    return hash.value();
  }
  /// Adds what is no part of an operator and its parameters.
  static void add_places(key_hash& hash, const std::vector<group_value>& values,
                         std::string_view thread) {
    std::vector<const group_value*> rest;
    for (const group_value& v : values)
      if (v.kind != group_key::op && v.kind != group_key::parameters) rest.push_back(&v);
    std::sort(rest.begin(), rest.end(), [](const group_value* a, const group_value* b) {
      return a->kind != b->kind ? a->kind < b->kind : a->key < b->key;
    });
    for (const group_value* v : rest) {
      hash.add(static_cast<std::uint64_t>(v->kind)).add(v->key).add(v->known ? 1U : 0U);
      hash.add(v->kind == group_key::thread ? thread : std::string_view{v->text});
    }
  }
  std::string_view thread_name(const scope_node& n) const noexcept {
    return n.thread < p_.threads.size() ? std::string_view{p_.threads[n.thread].name}
                                        : std::string_view{};
  }
  /// Of a row of the tree below the one with the key `parent`; 0 at the top.
  std::uint64_t tree_row(const scope_node& n, std::uint64_t parent) const {
    return call(n).add(parent).value();
  }

 private:
  const profile& p_;
  std::vector<std::uint64_t> hashes_;  // of operators
};

/// Gives another key to a row whose key an earlier one has, as rows of threads of one name do.
template <class Row>
void make_keys_differ(std::vector<Row>& rows) {
  numbering keys(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    while (keys.of(rows[i].key, [&](std::uint32_t k) { return rows[k].key == rows[i].key; }) != i)
      rows[i].key = key_hash(rows[i].key).add(1).value();
}

}  // namespace detail
KPROF_DETAIL_END

#endif
