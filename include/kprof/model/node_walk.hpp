// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NODE_WALK_HPP
#define KPROF_MODEL_NODE_WALK_HPP

// Going through the nodes of a profile, and telling which belong together. Included by the summaries. A profile whose
// parents are wrong or whose times are negative is survived: such a parent is none, such a time 0.

#include <kprof/config.hpp>
#include <kprof/model/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Numbers for the distinct texts of a profile, which must outlive it.
class text_numbers {
 public:
  std::uint32_t of(std::string_view text) { return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second; }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

struct row_key {
  std::uint32_t part[6] = {};
  friend bool operator==(const row_key&, const row_key&) = default;
};
struct row_key_hash {
  std::size_t operator()(const row_key& key) const noexcept {
    std::uint64_t h = 0;
    for (const std::uint32_t part : key.part) h = (h ^ part) * 0x9E3779B97F4A7C15U, h ^= h >> 32U;
    return static_cast<std::size_t>(h);
  }
};
using row_index = std::unordered_map<row_key, std::uint32_t, row_key_hash>;

inline double not_negative(double x) noexcept { return x > 0 ? x : 0; }   // NaN is 0 too

inline std::uint32_t parent_of(const profile& p, std::size_t node) noexcept {
  const std::uint32_t parent = p.nodes[node].parent;
  return parent < node ? parent : scope_node::none;
}

/// Calls enter(node) and leave(node) for every node, in the order in which scopes nest. Depth costs no stack.
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
      if (first[at] != none) { at = first[at]; enter(at); continue; }
      while (at != root && next[at] == none) { leave(at); at = parent_of(p, at); }
      leave(at);
      if (at == root) break;
      at = next[at];
      enter(at);
    }
  }
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
