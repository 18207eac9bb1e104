// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CALL_TREE_HPP
#define KPROF_RECORD_CALL_TREE_HPP

// The totals of one thread: a tree whose nodes are (call site, parameters) under a parent, with
// counts, sums, extremes and a histogram that stay exact for a run of any length. Folding a log
// into it costs a comparison or two a scope. Guarded by its thread_log's lock.

#include <kprof/build_options.hpp>
#include <kprof/declare/checks.hpp>
#include <kprof/record/histogram.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/same_bytes.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Bytes that all trees of the process may take; nodes beyond it are merged.
class tree_budget {
 public:
  void set_limit(std::uint64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  void add(std::uint64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t now() const noexcept { return used_.load(std::memory_order_relaxed); }
  bool nearly_spent() const noexcept { return now() >= limit() / 2; }
  bool spent() const noexcept { return now() >= limit(); }

 private:
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> limit_{0};
};

/// The parameters of an operator or the name of a region.
struct payload {
  const char* bytes;
  std::uint32_t size;
};

struct tree_node {
  static constexpr std::uint64_t no_begin = ~std::uint64_t{0};

  // The first word of the begin records whose payload can be compared as it is, or no_begin: of the
  // root, of merged nodes, and of operators whose parameters have padding.
  std::uint64_t begin_word = no_begin;
  std::uint32_t parent = 0;
  std::uint32_t site = 0;        // 0: the root
  std::uint32_t last_child = 0;  // the child that was found last
  std::uint32_t successor = 0;   // the sibling that was found after this node the last time
  std::uint32_t payload_at = 0;
  std::uint32_t payload_size = 0;
  bool merged = false;  // calls of all parameters that came when memory was spent
  std::uint64_t calls = 0;
  std::uint64_t total = 0;  // ticks
  std::uint64_t self = 0;
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  histogram durations;
  // What a call that has been seen before does not touch.
  std::uint32_t next_in_bucket = 0;
  std::uint32_t hash = 0;
  std::uint64_t captured = 0;  // of the calls, those that only captured work into a graph
  // How many of the calls launched work on a device. In the node of a graph and in those below it,
  // which have no calls, it counts the replays. A second field for these would give the node an odd
  // size, which makes folding slower by a hundredth.
  std::uint64_t device_calls = 0;
  work values{};
};

class call_tree {
 public:
  static constexpr std::uint32_t root = 0;

  call_tree(site_table& sites, tree_budget& budget) : sites_(&sites), budget_(&budget) { clear(); }
  ~call_tree() { budget_->remove(charged_); }
  call_tree(const call_tree&) = delete;
  call_tree& operator=(const call_tree&) = delete;

  void clear() {
    budget_->remove(charged_);
    charged_ = 0;
    imprecise_ = 0;
    nodes_ = {};  // with their capacity: it is no longer charged
    payloads_ = {};
    buckets_ = std::vector<std::uint32_t>(64, 0);
    nodes_.emplace_back();  // the root
  }

  /// Forgets all counts, and all nodes but `kept` and those around them. Returns where the kept
  /// ones are now.
  std::vector<std::uint32_t> clear_but(const std::vector<std::uint32_t>& kept) {
    struct step {
      std::uint32_t site;
      std::string bytes;
      bool merged;
      work values;
    };
    std::vector<std::vector<step>> paths;  // innermost first
    for (std::uint32_t node : kept) {
      paths.emplace_back();
      for (; node != root; node = nodes_[node].parent) {
        const tree_node& n = nodes_[node];
        const payload p = payload_of(n);
        paths.back().push_back({n.site, std::string(p.bytes, p.size), n.merged, n.values});
      }
    }
    clear();
    std::vector<std::uint32_t> now;
    for (const std::vector<step>& path : paths) {
      std::uint32_t node = root;
      for (auto s = path.rbegin(); s != path.rend(); ++s)
        node = child(node, s->site, {s->bytes.data(), static_cast<std::uint32_t>(s->bytes.size())},
                     s->merged, s->values);
      now.push_back(node);
    }
    return now;
  }

  const std::vector<tree_node>& nodes() const noexcept { return nodes_; }
  tree_node& operator[](std::uint32_t node) noexcept { return nodes_[node]; }
  payload payload_of(const tree_node& n) const noexcept {
    return {payloads_.data() + n.payload_at, n.payload_size};
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
    return merged ? merged_child(parent, site) : look_up(parent, site, p, &values);
  }

  /// Counts one finished call.
  [[gnu::always_inline]] void finish(tree_node& n, std::uint64_t ticks, std::uint64_t self_ticks) {
    ++n.calls;
    n.total += ticks;
    n.self += self_ticks;
    if (ticks < n.shortest) n.shortest = ticks;
    if (ticks > n.longest) n.longest = ticks;
    imprecise_ += n.durations.add(ticks, [this](std::size_t bytes) { return afford(bytes); });
  }

  /// Adds all of another thread's tree. Returns where each of its nodes is here.
  std::vector<std::uint32_t> merge(const call_tree& other) {
    std::vector<std::uint32_t> here(other.nodes_.size(), root);
    for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
      const tree_node& from = other.nodes_[i];
      if (i != root)
        here[i] =
            child(here[from.parent], from.site, other.payload_of(from), from.merged, from.values);
      tree_node& to = nodes_[here[i]];
      to.calls += from.calls;
      to.total += from.total;
      to.self += from.self;
      to.captured += from.captured;
      to.device_calls += from.device_calls;
      if (from.shortest < to.shortest) to.shortest = from.shortest;
      if (from.longest > to.longest) to.longest = from.longest;
      imprecise_ +=
          to.durations.merge(from.durations, [this](std::size_t bytes) { return afford(bytes); });
    }
    imprecise_ += other.imprecise_;
    return here;
  }

  /// Durations that had to be counted at the nearest one the histogram has room for.
  std::uint64_t imprecise() const noexcept { return imprecise_; }

 private:
  static constexpr std::size_t max_payload = max_params_size;
  static constexpr std::size_t max_alignment = max_params_alignment;

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
    const tree_node& n = nodes_[node];
    return n.site == site && n.parent == parent && !n.merged && n.payload_size == p.size &&
           same_bytes<false>(payloads_.data() + n.payload_at, p.bytes, p.size);
  }

  [[gnu::noinline]] std::uint32_t other_child(std::uint32_t parent, std::uint32_t site, payload p) {
    alignas(max_alignment) char canonical[max_payload];
    const site_info& where = (*sites_)[site];
    if (where.op != nullptr && !where.op->packed) {
      where.op->canonical(p.bytes, canonical);
      p.bytes = canonical;
    }
    const std::uint32_t last = nodes_[parent].last_child, next = nodes_[last].successor;
    if (matches(last, parent, site, p)) return last;
    if (matches(next, parent, site, p)) return nodes_[parent].last_child = next;
    const std::uint32_t found = look_up(parent, site, p, nullptr);
    if (last != 0) nodes_[last].successor = found;
    return nodes_[parent].last_child = found;
  }

  static std::uint32_t hash_of(std::uint32_t parent, std::uint32_t site, payload p) noexcept {
    std::uint64_t h = (std::uint64_t{parent} << 32U | site) * 0x9E3779B97F4A7C15U;
    std::uint32_t i = 0;
    for (; i + 8 <= p.size; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, p.bytes + i, 8);
      h = (h ^ word) * 0x9E3779B97F4A7C15U;
      h ^= h >> 29U;
    }
    for (; i < p.size; ++i) h = (h ^ static_cast<unsigned char>(p.bytes[i])) * 0x100000001B3U;
    return static_cast<std::uint32_t>(h >> 32U);
  }

  /// `values`: what the formulas are known to say; nullptr: run them when the node is new.
  std::uint32_t look_up(std::uint32_t parent, std::uint32_t site, payload p, const work* values) {
    const std::uint32_t hash = hash_of(parent, site, p);
    for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
      if (nodes_[i].hash == hash && matches(i, parent, site, p)) return i;
    if (budget_->nearly_spent()) return merged_child(parent, site);
    const std::uint32_t made = add(parent, site, hash, p, false);
    if (values != nullptr) nodes_[made].values = *values;
    else evaluate(nodes_[made], p);
    return made;
  }

  /// The node for calls whose parameters cannot be kept; under the root when even that is too much
  /// for this parent.
  std::uint32_t merged_child(std::uint32_t parent, std::uint32_t site) {
    for (;;) {
      const std::uint32_t hash = hash_of(parent, ~site, {nullptr, 0});
      for (std::uint32_t i = bucket(hash); i != 0; i = nodes_[i].next_in_bucket)
        if (nodes_[i].merged && nodes_[i].parent == parent && nodes_[i].site == site) return i;
      if (parent == root || !budget_->spent()) return add(parent, site, hash, {nullptr, 0}, true);
      parent = root;
    }
  }

  std::uint32_t add(std::uint32_t parent, std::uint32_t site, std::uint32_t hash, payload p,
                    bool merged) {
    if (nodes_.size() >= buckets_.size()) rehash();
    tree_node n;
    n.parent = parent;
    n.site = site;
    n.hash = hash;
    n.merged = merged;
    if (!merged && ((*sites_)[site].op == nullptr || (*sites_)[site].op->packed))
      n.begin_word = record_word(record_kind::begin, site, p.size);
    n.payload_at = static_cast<std::uint32_t>(payloads_.size());
    n.payload_size = p.size;
    if (p.size != 0) payloads_.insert(payloads_.end(), p.bytes, p.bytes + p.size);
    payloads_.resize((payloads_.size() + 7) / 8 * 8);
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    n.next_in_bucket = bucket(hash);
    bucket(hash) = made;
    nodes_.push_back(std::move(n));
    // vectors are up to half empty
    charge(2 * (sizeof(tree_node) + sizeof(std::uint32_t) + p.size));
    return made;
  }

  // a power of two
  std::uint32_t& bucket(std::uint32_t hash) noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  void rehash() {
    buckets_.assign(buckets_.size() * 2, 0);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
      tree_node& n = nodes_[i];
      n.next_in_bucket = bucket(n.hash);
      bucket(n.hash) = i;
    }
  }

  void evaluate(tree_node& n, payload p) noexcept {
    const site_info& where = (*sites_)[n.site];
    if (where.op == nullptr) return;
    alignas(max_alignment) char aligned[max_payload];
    std::memcpy(aligned, p.bytes, p.size);
    n.values = sites_->evaluate(where, aligned);
  }

  site_table* sites_;
  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::uint64_t imprecise_ = 0;
  std::vector<tree_node> nodes_;
  std::vector<char> payloads_;
  std::vector<std::uint32_t> buckets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
