// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_NODE_VERSIONS_HPP
#define KPROF_ATTRIBUTE_NODE_VERSIONS_HPP

// The scopes that a node of an executable graph belonged to before it was updated. Included by
// graph_nodes.hpp.

#include <kprof/build_options.hpp>
#include <kprof/record/folded.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Where a node of an executable graph belonged until then.
struct node_version {
  std::uint64_t until;
  captured_scope where;
  std::uint16_t round;  // as of a node
};

/// What a node was before its updates, as long as records of launches from then may come.
class node_versions {
 public:
  std::size_t bytes() const noexcept { return all_.capacity() * sizeof(node_version); }
  /// Where the node belonged at `launched`. `now`: where it does.
  node_version at(std::uint64_t launched, const node_version& now) noexcept {
    latest_read_ = std::max(latest_read_, launched);
    if (launched < forgotten_until_)
      return {launched, {captured_scope::unknown_path, 0}, now.round};
    const auto found = std::upper_bound(
        all_.begin(), all_.end(), launched,
        [](std::uint64_t ticks, const node_version& v) { return ticks < v.until; });
    return found == all_.end() ? now : *found;
  }
  void add(const node_version& v) { all_.push_back(v); }
  /// Drops those whose launches have been read, but for a few: the records of one node come
  /// nearly in order. Returns how many.
  std::size_t drop_read() noexcept {
    return all_.size() < 2 * kept ? 0 : drop_until(latest_read_, kept);
  }
  /// Drops those that ended by `ticks`, but for `left`. Returns how many.
  std::size_t drop_until(std::uint64_t ticks, std::size_t left) noexcept {
    std::size_t count = 0;
    while (count + left < all_.size() && all_[count].until <= ticks) ++count;
    if (count == 0) return 0;
    forgotten_until_ = all_[count - 1].until;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(count));
    if (all_.empty()) all_ = std::vector<node_version>{};
    return count;
  }

 private:
  static constexpr std::size_t kept = 8;

  std::vector<node_version> all_;  // by rising `until`
  std::uint64_t latest_read_ = 0;
  std::uint64_t forgotten_until_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
