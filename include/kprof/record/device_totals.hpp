// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_DEVICE_TOTALS_HPP
#define KPROF_RECORD_DEVICE_TOTALS_HPP

// What the devices did for one thread's scopes: a row for each kernel and launch configuration, or
// kind of copy, under a node of the thread's call tree, with counts and sums that stay exact for a
// run of any length. Guarded by its thread_log's lock.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What runs share to share a row. Words only, so that keys are compared and hashed as bytes.
struct device_key {
  // several kernels and configurations, for want of memory
  static constexpr std::uint32_t merged_name = ~std::uint32_t{0};

  std::uint32_t node = 0;  // of the call tree
  std::uint32_t name = 0;  // number of the kernel's name; 0: it is no kernel
  std::uint32_t kind = 0;  // an activity_kind
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t places = 0;  // direction | from << 8 | to << 16
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t static_shared = 0;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t registers = 0;
  std::uint32_t launch = 0;  // cluster's x | y << 8 | z << 16 | cooperative << 24

  /// The row for all that has none of its own.
  device_key merged() const noexcept {
    device_key k;
    k.node = node;
    k.name = merged_name;
    k.kind = kind;
    k.device = device;
    return k;
  }
  bool is(const device_key& other) const noexcept {
    return std::memcmp(this, &other, sizeof other) == 0;
  }
  std::uint32_t hash() const noexcept {
    std::uint32_t words[sizeof(device_key) / 4];
    std::memcpy(words, this, sizeof words);
    std::uint64_t h = 0;
    for (const std::uint32_t word : words) h = (h ^ word) * 0x9E3779B97F4A7C15U, h ^= h >> 29U;
    return static_cast<std::uint32_t>(h >> 32U);
  }
};

/// One run of a kernel, copy or memset, as far as it is added up.
struct device_run {
  static constexpr std::uint32_t mixed = ~std::uint32_t{0};
  bool timed = true;                        // false: `ns` is not known
  std::uint64_t ns = 0;                     // how long it ran
  bool launch_seen = false;                 // false: `gap_ns` is not known
  std::uint64_t gap_ns = 0;                 // from the call that launched it to its start
  std::uint64_t bytes = 0;                  // copied or set
  std::uint32_t multiprocessor_shared = 0;  // of a kernel, in bytes; 0: not known
};

struct device_total {
  device_key key;
  std::uint32_t next_in_bucket = 0;
  std::uint32_t successor = 0;              // what came after it the time before
  std::uint32_t multiprocessor_shared = 0;  // bytes; device_run::mixed: it differs among the runs
  std::uint64_t calls = 0;
  std::uint64_t untimed = 0;
  std::uint64_t total = 0;  // ns
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  std::uint64_t gaps = 0;
  std::uint64_t gap = 0;  // ns from launch to start
  std::uint64_t bytes = 0;

  /// The driver may give a kernel's runs different amounts.
  void add_shared(std::uint32_t given) noexcept {
    if (calls == 0) multiprocessor_shared = given;
    else if (multiprocessor_shared != given) multiprocessor_shared = device_run::mixed;
  }
  void add(const device_total& other) noexcept {
    if (other.calls > 0) add_shared(other.multiprocessor_shared);
    calls += other.calls;
    untimed += other.untimed;
    total += other.total;
    if (other.shortest < shortest) shortest = other.shortest;
    if (other.longest > longest) longest = other.longest;
    gaps += other.gaps;
    gap += other.gap;
    bytes += other.bytes;
  }
};

class device_totals {
 public:
  explicit device_totals(tree_budget& budget)
      : budget_(&budget), rows_(1), buckets_(fewest_buckets) {}
  ~device_totals() { budget_->remove(charged_); }
  device_totals(const device_totals&) = delete;
  device_totals& operator=(const device_totals&) = delete;

  void clear() noexcept {
    budget_->remove(charged_);
    charged_ = 0;
    last_ = 0;
    rows_.resize(1);
    rows_[0] = {};
    buckets_.resize(fewest_buckets);
    std::fill(buckets_.begin(), buckets_.end(), 0);
    rows_.shrink_to_fit();
    buckets_.shrink_to_fit();
  }

  /// Counts one run; returns the number of its row.
  std::uint32_t add(const device_key& key, const device_run& run) {
    device_total& row = row_of(key);
    row.add_shared(run.multiprocessor_shared);
    ++row.calls;
    row.bytes += run.bytes;
    if (!run.timed) {
      ++row.untimed;
      return last_;
    }
    row.total += run.ns;
    if (run.ns < row.shortest) row.shortest = run.ns;
    if (run.ns > row.longest) row.longest = run.ns;
    if (!run.launch_seen) return last_;
    ++row.gaps;
    row.gap += run.gap_ns;
    return last_;
  }
  std::size_t size() const noexcept { return rows_.size() - 1; }

  /// Where each of another thread's rows is here, whose nodes are here as `node_here` says; made
  /// when it is new, whatever memory is spent: the other rows are about to go.
  std::vector<std::uint32_t> places_of(const device_totals& other,
                                       const std::vector<std::uint32_t>& node_here) {
    std::vector<std::uint32_t> here;
    here.reserve(other.rows_.size());
    other.each([&](const device_total& row) {
      device_key key = row.key;
      key.node = node_here[key.node];
      here.push_back(look_up(key, true));
    });
    return here;
  }
  /// Adds another thread's rows. `here`: places_of(other).
  void add(const device_totals& other, const std::vector<std::uint32_t>& here) noexcept {
    for (std::size_t i = 0; i < here.size(); ++i) rows_[here[i]].add(other.rows_[i + 1]);
  }
  /// Both at once.
  void merge(const device_totals& other, const std::vector<std::uint32_t>& node_here) {
    add(other, places_of(other, node_here));
  }

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 1; i < rows_.size(); ++i) visit(rows_[i]);
  }

 private:
  /// Mostly the row that came after the last one the time before: programs repeat themselves.
  device_total& row_of(const device_key& key) {
    const std::uint32_t next = rows_[last_].successor;
    if (next != 0 && rows_[next].key.is(key)) return rows_[last_ = next];
    const std::uint32_t found = look_up(key, false);
    rows_[last_].successor = found;
    return rows_[last_ = found];
  }

  /// `kept_anyway`: the row is made, however much memory is spent.
  std::uint32_t look_up(const device_key& key, bool kept_anyway) {
    for (device_key wanted = key;;) {
      const std::uint32_t hash = wanted.hash();
      for (std::uint32_t i = bucket(hash); i != 0; i = rows_[i].next_in_bucket)
        if (rows_[i].key.is(wanted)) return i;
      const bool may_be_made = kept_anyway ? true
                               : wanted.name == device_key::merged_name
                                   ? !budget_->spent() || wanted.node == call_tree::root
                                   : !budget_->nearly_spent();
      if (may_be_made) return make(wanted, hash);
      const bool was_merged = wanted.name == device_key::merged_name;
      wanted = wanted.merged();
      if (was_merged) wanted.node = call_tree::root;  // not even that can be kept for this scope
    }
  }

  std::uint32_t make(const device_key& key, std::uint32_t hash) {
    if (rows_.size() >= buckets_.size()) rehash();
    reserve_more(rows_, 1);
    const auto made = static_cast<std::uint32_t>(rows_.size());
    device_total row;
    row.key = key;
    row.next_in_bucket = bucket(hash);
    rows_.push_back(row);
    bucket(hash) = made;
    charged_ += 2 * (sizeof row + sizeof made);  // vectors are up to half empty
    budget_->add(2 * (sizeof row + sizeof made));
    return made;
  }

  // a power of two
  std::uint32_t& bucket(std::uint32_t hash) noexcept {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  void rehash() {
    buckets_.assign(buckets_.size() * 2, 0);
    for (std::uint32_t i = 1; i < rows_.size(); ++i) {
      std::uint32_t& first = bucket(rows_[i].key.hash());
      rows_[i].next_in_bucket = first;
      first = i;
    }
  }

  static constexpr std::size_t fewest_buckets = 16;

  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::uint32_t last_ = 0;
  std::vector<device_total> rows_;  // number 0 is none
  std::vector<std::uint32_t> buckets_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
