// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NODE_WALK_HPP
#define KPROF_MODEL_NODE_WALK_HPP

// Going through the nodes of a profile, and telling which belong together. Included by the
// summaries. A profile whose parents are wrong or whose times are negative is survived: such a
// parent is none, such a time 0.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Numbers things as they first appear: 0, 1, ... The things themselves, and their hashes, are the
/// caller's. A table of words without a node for each entry: with 100,000 rows that takes half of
/// std::unordered_map's time.
class numbering {
 public:
  /// `expected`: how many different things there may be.
  explicit numbering(std::size_t expected) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    slots_.resize(size);
  }

  /// The number of the thing with this hash for which is_it(number) says so; that of a new one, if
  /// there is none.
  template <class IsIt>
  std::uint32_t of(std::uint64_t hash, IsIt is_it) {
    if (2 * count_ >= slots_.size()) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = tag;; ++at) {
      slot& s = slots_[at & (slots_.size() - 1)];
      if (s.number == empty) {
        s = {tag, count_};
        return count_++;
      }
      if (s.tag == tag && is_it(s.number)) return s.number;
    }
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  struct slot {
    std::uint32_t tag = 0;
    std::uint32_t number = empty;
  };

  void grow() {
    std::vector<slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const slot& s : old) {
      if (s.number == empty) continue;
      std::size_t at = s.tag;
      while (slots_[at & (slots_.size() - 1)].number != empty) ++at;
      slots_[at & (slots_.size() - 1)] = s;
    }
  }

  std::vector<slot> slots_;  // a power of two
  std::uint32_t count_ = 0;
};

/// Numbers for the distinct texts of a profile, which must outlive it.
class text_numbers {
 public:
  explicit text_numbers(std::size_t expected = 0) : numbers_(expected) {}
  std::uint32_t of(std::string_view text) {
    const std::uint32_t number = numbers_.of(std::hash<std::string_view>{}(text),
                                             [&](std::uint32_t i) { return texts_[i] == text; });
    if (number == texts_.size()) texts_.push_back(text);
    return number;
  }

 private:
  numbering numbers_;
  std::vector<std::string_view> texts_;
};

struct row_key {
  std::uint32_t part[6] = {};
  friend bool operator==(const row_key&, const row_key&) = default;
};

/// Numbers for the distinct keys.
class key_numbers {
 public:
  explicit key_numbers(std::size_t expected) : numbers_(expected) {}
  /// The key's number, and whether it is new.
  std::pair<std::uint32_t, bool> of(const row_key& key) {
    std::uint64_t hash = 0;
    for (const std::uint32_t part : key.part)
      hash = (hash ^ part) * 0x9E3779B97F4A7C15U, hash ^= hash >> 32U;
    const std::uint32_t number =
        numbers_.of(hash, [&](std::uint32_t i) { return keys_[i] == key; });
    const bool is_new = number == keys_.size();
    if (is_new) keys_.push_back(key);
    return {number, is_new};
  }

 private:
  numbering numbers_;
  std::vector<row_key> keys_;
};

/// The part of a row's key by which calls of the same operator's name differ beside their values:
/// the operator itself, and whether the values were not kept.
inline std::uint32_t operator_part(const scope_node& n) noexcept {
  return (n.op + 1) << 1U | (n.merged ? 1U : 0U);
}

/// Whether no call of the node ever ended, is open or was replayed: it only leads to what its
/// thread did for another, whose path it is.
inline bool is_placeholder(const scope_node& n) noexcept {
  return n.calls == 0 && n.open == 0 && n.replays == 0;
}

/// Whether the node's scopes are parts of calls that several threads share.
inline bool is_part(const scope_node& n) noexcept { return n.shared.parts != 0; }

/// Finished calls: those that threads share count at their part 0, when all parts have finished.
inline std::uint64_t finished_calls(const scope_node& n) noexcept {
  return is_part(n) ? n.shared.calls : n.calls;
}
/// Of these, calls whose durations are known.
inline std::uint64_t timed_calls(const scope_node& n) noexcept {
  return is_part(n) ? n.shared.joined : n.calls;
}
/// The durations of those calls, summed.
inline double calls_ns(const scope_node& n) noexcept {
  return not_negative(is_part(n) ? n.shared.wall_ns : n.total_ns);
}
/// The same with calls of the node that overlap counted once, as far as that is known.
inline double elapsed_ns(const scope_node& n) noexcept {
  const double ns = is_part(n) ? n.shared.elapsed_ns : -1;
  return ns >= 0 && ns < calls_ns(n) ? ns : calls_ns(n);
}
/// Whether the node's open scopes stand for open calls, and not for further parts of them.
inline bool opens_calls(const scope_node& n) noexcept { return !is_part(n) || n.shared.part == 0; }

/// Calls that did the operator's work: those that were captured did none, each replay of a graph
/// does it once.
inline std::uint64_t executions(const scope_node& n) noexcept {
  const std::uint64_t calls = finished_calls(n);
  return calls - std::min(calls, n.captured) + n.replays;
}

/// What the formulas say of all calls of a node that did the operator's work.
inline double all_flops(const scope_node& n) noexcept {
  return static_cast<double>(executions(n)) * static_cast<double>(n.work.flops);
}
inline double all_bytes(const scope_node& n) noexcept {
  return static_cast<double>(executions(n)) *
         (static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written));
}

/// Whether the formulas of a call give numbers.
inline bool says_flops(const scope_node& n) noexcept {
  return n.work.has_flops && n.work.valid && !n.merged;
}
inline bool says_bytes(const scope_node& n) noexcept {
  return n.work.has_bytes && n.work.valid && !n.merged;
}

inline std::uint32_t parent_of(const profile& p, std::size_t node) noexcept {
  const std::uint32_t parent = p.nodes[node].parent;
  return parent < node ? parent : scope_node::none;
}

/// For each node the number of its path: kinds, names and parameters, whatever thread and call site
/// it comes from. Roots have the number none.
inline std::vector<std::uint32_t> path_numbers(const profile& p) {
  std::vector<std::uint32_t> paths(p.nodes.size(), scope_node::none);
  text_numbers names, parameters(p.nodes.size());
  key_numbers numbers(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const std::uint32_t parent = parent_of(p, i);
    if (n.kind != scope_kind::root)
      paths[i] = numbers
                     .of({{parent == scope_node::none ? parent : paths[parent],
                           static_cast<std::uint32_t>(n.kind), names.of(n.name),
                           parameters.of(n.values.packed), operator_part(n)}})
                     .first;
  }
  return paths;
}

/// Calls enter(node) and leave(node) for every node, in the order in which scopes nest. Depth costs
/// no stack.
template <class Enter, class Leave>
void walk(const profile& p, Enter&& enter, Leave&& leave) {
  constexpr std::uint32_t none = scope_node::none;
  std::vector<std::uint32_t> first(p.nodes.size(), none), next(p.nodes.size(), none);
  for (std::size_t i = p.nodes.size(); i-- > 0;) {
    const std::uint32_t parent = parent_of(p, i);
    if (parent == none) continue;
    next[i] = first[parent];
    first[parent] = static_cast<std::uint32_t>(i);
  }
  for (std::size_t root = 0; root < p.nodes.size(); ++root) {
    if (parent_of(p, root) != none) continue;
    auto at = static_cast<std::uint32_t>(root);
    enter(at);
    for (;;) {
      if (first[at] != none) {
        at = first[at];
        enter(at);
        continue;
      }
      while (at != root && next[at] == none) {
        leave(at);
        at = parent_of(p, at);
      }
      leave(at);
      if (at == root) break;
      at = next[at];
      enter(at);
    }
  }
}

/// For each node the innermost operator around it, which may be the node itself; none where there
/// is none.
inline std::vector<std::uint32_t> operators_around(const profile& p) {
  std::vector<std::uint32_t> around(p.nodes.size(), scope_node::none);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t parent = parent_of(p, i);
    if (p.nodes[i].kind == scope_kind::op) around[i] = static_cast<std::uint32_t>(i);
    else if (p.nodes[i].kind != scope_kind::root && parent != scope_node::none)
      around[i] = around[parent];
  }
  return around;
}

/// The self time of all scopes: what shares are shares of.
inline double all_self_ns(const profile& p) noexcept {
  double sum = 0;
  for (const scope_node& n : p.nodes)
    if (n.kind != scope_kind::root) sum += not_negative(n.self_ns);
  return sum;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
