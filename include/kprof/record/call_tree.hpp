// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CALL_TREE_HPP
#define KPROF_RECORD_CALL_TREE_HPP

// The totals of one thread: a tree whose nodes are (call site, parameters) under a parent, with
// counts, sums, extremes and a histogram that stay exact for a run of any length. Folding a log
// into it costs a comparison or two a scope. Guarded by its thread_log's lock.

#include <kprof/build_options.hpp>
#include <kprof/declare/checks.hpp>
#include <kprof/record/folded.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/part_payload.hpp>
#include <kprof/record/same_bytes.hpp>
#include <kprof/record/tree_node.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class call_tree {
 public:
  static constexpr std::uint32_t root = 0;

  call_tree(site_table& sites, tree_budget& budget)
      : sites_(&sites), budget_(&budget), nodes_(1), buckets_(fewest_buckets) {}
  ~call_tree() { budget_->remove(charged_); }
  call_tree(const call_tree&) = delete;
  call_tree& operator=(const call_tree&) = delete;

  /// Forgets all counts, and all nodes but those of `kept` and those around them. Changes `kept` to
  /// where they are now. Linear; takes no memory, and gives some back where that succeeds.
  void clear_but(std::vector<open_frame>& kept) noexcept {
    imprecise_ = 0;
    for (tree_node& n : nodes_) n.next_in_bucket = dropped_node;
    nodes_[root].next_in_bucket = root;
    for (const open_frame& f : kept)
      for (std::uint32_t i = f.node; nodes_[i].next_in_bucket == dropped_node; i = nodes_[i].parent)
        nodes_[i].next_in_bucket = root;
    // What is kept moves up, parents first. Each node's new number is in its next_in_bucket.
    std::uint32_t count = 0;
    for (tree_node& n : nodes_)
      if (n.next_in_bucket != dropped_node) n.next_in_bucket = count++;
    for (open_frame& f : kept) f.node = nodes_[f.node].next_in_bucket;
    for (tree_node& n : nodes_) n.parent = nodes_[n.parent].next_in_bucket;
    std::uint32_t payload_end = 0;
    for (tree_node& n : nodes_) {
      if (n.next_in_bucket == dropped_node) continue;
      tree_node bare = without_counts(n);
      std::copy_n(payloads_.begin() + n.payload_at, stored(n.payload_size, n.shown_size),
                  payloads_.begin() + payload_end);
      bare.payload_at = payload_end;
      payload_end += stored(n.payload_size, n.shown_size);
      nodes_[n.next_in_bucket] = std::move(bare);
    }
    nodes_.erase(nodes_.begin() + count, nodes_.end());
    payloads_.resize(payload_end);
    nodes_.shrink_to_fit();
    payloads_.shrink_to_fit();
    put_into_fewer_buckets();
    charge_anew();
  }

  const std::vector<tree_node>& nodes() const noexcept { return nodes_; }
  tree_node& operator[](std::uint32_t node) noexcept { return nodes_[node]; }
  payload payload_of(const tree_node& n) const noexcept {
    const char* const bytes = payloads_.data() + n.payload_at;
    return {bytes, n.payload_size, bytes + padded(n.payload_size), n.shown_size};
  }

  /// A node by its number and where it lies, until the next one is made.
  struct place {
    std::uint32_t number;
    tree_node* node;
  };

  /// The child of `parent` for a begin record; made when it is new. Loops over layers have the node
  /// that came after the last one the time before, others have the last one again.
  [[gnu::always_inline]] place child(std::uint32_t parent, std::uint64_t begin_word,
                                     const char* bytes) {
    tree_node* const all = nodes_.data();
    const std::uint32_t last = all[parent].last_child;  // 0, the root, is nobody's child
    const std::uint32_t next = all[last].successor;
    if (is_begun_by(all[next], parent, begin_word, bytes)) {
      all[parent].last_child = next;
      return {next, &all[next]};
    }
    if (is_begun_by(all[last], parent, begin_word, bytes)) return {last, &all[last]};
    const std::uint32_t found = other_child(parent, static_cast<std::uint32_t>(begin_word),
                                            {bytes, payload_bytes_of(begin_word)});
    return {found, &nodes_[found]};
  }

  /// A child with what is known of it elsewhere: its formulas are not run again, since the binary
  /// they are in may be gone. `merged` asks for the node that stands for all parameters.
  std::uint32_t child(std::uint32_t parent, std::uint32_t site, payload p, bool merged,
                      const work& values) {
    return merged ? merged_child(parent, site, p, false) : look_up(parent, site, p, &values, false);
  }

  /// Counts one finished call. A part of a call is counted by tree_node::count() alone: joining
  /// counts the durations of whole calls, and nobody asks for those of parts.
  [[gnu::always_inline]] void finish(tree_node& n, std::uint64_t ticks, std::uint64_t self_ticks,
                                     std::uint64_t end) {
    if (n.calls >= n.next_sample) [[unlikely]]
      n.sample({ticks, end}, [this](std::size_t bytes) { return afford(bytes); });
    n.count(ticks, self_ticks, end);
    imprecise_ += n.durations.add(ticks, [this](std::size_t bytes) { return afford(bytes); });
  }

  /// Where each node of another thread's tree is here; made when it is new. Parameters that are
  /// known there are kept whatever memory is spent: the other tree is about to go.
  std::vector<std::uint32_t> places_of(const call_tree& other) {
    std::vector<std::uint32_t> here(other.nodes_.size(), root);
    for (std::uint32_t i = 1; i < other.nodes_.size(); ++i) {
      const tree_node& n = other.nodes_[i];
      here[i] = n.merged ? merged_child(here[n.parent], n.site, other.payload_of(n), true)
                         : look_up(here[n.parent], n.site, other.payload_of(n), &n.values, true);
    }
    return here;
  }
  /// Moves all that another thread's tree has counted here. `here`: places_of(other).
  void take(call_tree& other, const std::vector<std::uint32_t>& here) noexcept {
    budget_->remove(std::exchange(other.charged_, 0));  // its memory is free for what is added
    std::uint64_t moved = other.imprecise_, counted = 0;
    for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
      const tree_node& from = other.nodes_[i];
      tree_node& to = nodes_[here[i]];
      to.add_samples(from, [this](std::size_t bytes) { return afford(bytes); });
      to.add_counts(from);
      moved +=
          to.durations.merge(from.durations, [this](std::size_t bytes) { return afford(bytes); });
      counted += from.durations.count();
    }
    imprecise_ += std::min(moved, counted);  // some have been moved there and here
  }

  /// The call_key() of the part whose parameters were merged last, while the budget was spent.
  std::uint64_t merged_key() const noexcept { return merged_key_; }

  /// Durations that had to be counted at the nearest one the histogram has room for.
  std::uint64_t imprecise() const noexcept { return imprecise_; }

 private:
  static constexpr std::size_t fewest_buckets = 64;
  static constexpr std::uint32_t dropped_node = ~std::uint32_t{0};
  static constexpr std::size_t max_payload = max_params_size + max_params_alignment;

  void charge(std::uint64_t bytes) noexcept {
    charged_ += bytes;
    budget_->add(bytes);
  }

  /// Takes memory for a histogram, unless all is spent.
  bool afford(std::uint64_t bytes) noexcept {
    if (budget_->now() + bytes > budget_->limit()) return false;
    charge(bytes);
    return true;
  }

  [[gnu::always_inline]] bool is_begun_by(const tree_node& n, std::uint32_t parent,
                                          std::uint64_t begin_word,
                                          const char* bytes) const noexcept {
    return n.begin_word == begin_word && n.parent == parent &&
           same_bytes<true>(payloads_.data() + n.payload_at, bytes, n.payload_size);
  }
  bool matches(std::uint32_t node, std::uint32_t parent, std::uint32_t site,
               payload p) const noexcept {
    return !nodes_[node].merged && holds(node, parent, site, p);
  }
  bool holds(std::uint32_t node, std::uint32_t parent, std::uint32_t site,
             payload p) const noexcept {
    const tree_node& n = nodes_[node];
    return n.site == site && n.parent == parent && n.payload_size == p.size &&
           same_bytes<false>(payloads_.data() + n.payload_at, p.bytes, p.size);
  }

  [[gnu::noinline]] std::uint32_t other_child(std::uint32_t parent, std::uint32_t site, payload p) {
    alignas(max_params_alignment) char canonical[max_payload];
    const site_info& where = (*sites_)[site];
    if (where.op != nullptr && !where.op->packed) {
      where.op->canonical(p.bytes, canonical);
      p.bytes = canonical;
    }
    const std::uint32_t last = nodes_[parent].last_child, next = nodes_[last].successor;
    if (matches(last, parent, site, p)) return last;
    if (matches(next, parent, site, p)) return nodes_[parent].last_child = next;
    const std::uint32_t found = look_up(parent, site, p, nullptr, false);
    if (last != 0) nodes_[last].successor = found;
    return nodes_[parent].last_child = found;
  }

  static std::uint32_t hash_of(std::uint32_t parent, std::uint32_t site, payload p) noexcept {
    const std::uint64_t h = (std::uint64_t{parent} << 32U | site) * 0x9E3779B97F4A7C15U;
    return static_cast<std::uint32_t>(mixed_in(h, p.bytes, p.size) >> 32U);
  }

  /// `values`: what the formulas are known to say; nullptr: run them when the node is new, and ask
  /// how the parameters are shown.
  /// `kept_anyway`: parameters are not merged, however much memory is spent.
  std::uint32_t look_up(std::uint32_t parent, std::uint32_t site, payload p, const work* values,
                        bool kept_anyway) {
    const std::uint32_t hash = hash_of(parent, site, p);
    for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
      if (nodes_[i].hash == hash && matches(i, parent, site, p)) return i;
    if (!kept_anyway && budget_->nearly_spent()) {
      const site_info& where = (*sites_)[site];
      if (has_parts(where)) merged_key_ = call_key(site, *where.op, p);
      return merged_child(parent, site, payload_when_merged(where, p), false);
    }
    if (values != nullptr) return add(parent, site, hash, p, *values, false);
    work own{};
    presentation shown{};
    evaluate(site, p, own, shown);
    return add(parent, site, hash, p, own, false);
  }

  /// The node for calls whose parameters cannot be kept; under the root when even that is too much
  /// for this parent. `p`: payload_when_merged().
  std::uint32_t merged_child(std::uint32_t parent, std::uint32_t site, payload p,
                             bool kept_anyway) {
    for (;;) {
      const std::uint32_t hash = hash_of(parent, ~site, {nullptr, 0});
      for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
        if (nodes_[i].merged && holds(i, parent, site, p)) return i;
      if (parent == root || kept_anyway || !budget_->spent())
        return add(parent, site, hash, p, work{}, true);
      parent = root;
    }
  }

  /// Without memory it throws and changes nothing.
  std::uint32_t add(std::uint32_t parent, std::uint32_t site, std::uint32_t hash, payload p,
                    const work& values, bool merged) {
    if (nodes_.size() >= buckets_.size()) rehash();
    reserve_quarter(nodes_, 1);
    const std::size_t payload_at = payloads_.size();
    reserve_quarter(payloads_, stored(p.size, p.shown_size));
    payloads_.resize(payload_at + stored(p.size, p.shown_size));
    char* const stored_at = payloads_.data() + payload_at;
    if (p.size != 0) std::memcpy(stored_at, p.bytes, p.size);
    if (p.shown_size != 0) std::memcpy(stored_at + padded(p.size), p.shown, p.shown_size);
    tree_node n;
    n.parent = parent;
    n.site = site;
    n.hash = hash;
    n.merged = merged;
    if (!merged && ((*sites_)[site].op == nullptr || (*sites_)[site].op->packed))
      n.begin_word = record_word(record_kind::begin, site, p.size);
    n.is_part = has_parts((*sites_)[site]);
    n.is_step = !merged && sites_->is_step(site, p.bytes, p.size);
    n.is_noted = n.is_part || n.is_step;
    n.payload_at = static_cast<std::uint32_t>(payload_at);
    n.payload_size = p.size;
    n.shown_size = p.shown_size;
    n.values = values;
    n.next_in_bucket = std::exchange(bucket(hash), static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(n));
    charge(cost_of(p.size + p.shown_size));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  /// Bytes of a node: of the vectors a fifth may be empty, of the buckets half.
  static constexpr std::uint64_t cost_of(std::uint32_t payload_size) noexcept {
    return (sizeof(tree_node) + payload_size) / 4 * 5 + 2 * sizeof(std::uint32_t);
  }
  static tree_node without_counts(const tree_node& n) noexcept {
    tree_node bare;
    bare.begin_word = n.begin_word;
    bare.parent = n.parent;
    bare.site = n.site;
    bare.payload_size = n.payload_size;
    bare.shown_size = n.shown_size;
    bare.merged = n.merged;
    bare.is_part = n.is_part;
    bare.is_step = n.is_step;
    bare.is_noted = n.is_noted;
    bare.values = n.values;
    return bare;
  }

  // Their number is a power of two.
  std::uint32_t& bucket(std::uint32_t hash) noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  void rehash() {
    buckets_.assign(buckets_.size() * 2, 0);
    put_into_buckets();
  }
  void put_into_buckets() noexcept {
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      tree_node& n = nodes_[i];
      n.next_in_bucket = bucket(n.hash);
      bucket(n.hash) = i;
    }
  }
  /// After nodes have gone and others have moved.
  void put_into_fewer_buckets() noexcept {
    std::size_t size = buckets_.size();
    while (size > fewest_buckets && size / 2 > nodes_.size()) size /= 2;
    buckets_.resize(size);
    buckets_.shrink_to_fit();
    std::fill(buckets_.begin(), buckets_.end(), 0);
    for (tree_node& n : nodes_)
      n.hash = n.merged ? hash_of(n.parent, ~n.site, {nullptr, 0})
                        : hash_of(n.parent, n.site, payload_of(n));
    put_into_buckets();
  }
  void charge_anew() noexcept {
    budget_->remove(std::exchange(charged_, 0));
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      charge(cost_of(nodes_[i].payload_size + nodes_[i].shown_size));
  }

  /// What the operator says of the parameters; `p` gets a view of `shown`.
  void evaluate(std::uint32_t site, payload& p, work& values, presentation& shown) noexcept {
    const site_info& where = (*sites_)[site];
    if (where.op == nullptr) return;
    alignas(max_params_alignment) char aligned[max_payload];
    std::memcpy(aligned, p.bytes, p.size);
    sites_->evaluate(where, aligned, values, shown);
    p.shown = reinterpret_cast<const char*>(&shown);
    p.shown_size = used_bytes(shown);
  }

  site_table* sites_;
  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::uint64_t imprecise_ = 0;
  std::uint64_t merged_key_ = 0;
  std::vector<tree_node> nodes_;
  std::vector<char> payloads_;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
