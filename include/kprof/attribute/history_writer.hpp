// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_HISTORY_WRITER_HPP
#define KPROF_ATTRIBUTE_HISTORY_WRITER_HPP

// Makes the profile's device_timeline and sums of calls of what attribution and the logs have
// noted: numbers of logs, rows, paths and functions become indices. Linear in what was noted.

#include <kprof/attribute/device_history.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/thread_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// From correlation ids to indices.
class correlation_index {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit correlation_index(std::size_t ids) {
    std::size_t size = 16;
    while (size < 2 * ids) size *= 2;
    slots_.resize(size, {0, none});
  }
  /// 0 is no id; no more ids than were announced.
  void add(std::uint32_t correlation, std::size_t index) noexcept {
    if (correlation != 0)
      slots_[slot_of(correlation)] = {correlation, static_cast<std::uint32_t>(index)};
  }
  std::uint32_t find(std::uint32_t correlation) const noexcept {
    return correlation == 0 ? none : slots_[slot_of(correlation)].second;
  }

 private:
  std::size_t slot_of(std::uint32_t correlation) const noexcept {
    std::size_t at = correlation * 0x9E3779B1U >> 7U & (slots_.size() - 1);
    while (slots_[at].first != 0 && slots_[at].first != correlation)
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> slots_;
};

class history_writer {
 public:
  /// `from`: nullptr where nothing was collected.
  history_writer(profile& out, const device_history* from) : out_(out), from_(from) {
    if (from_ == nullptr) return;
    calls_.assign(from_->calls.begin(), from_->calls.end());
    waits_.assign(from_->waits.begin(), from_->waits.end());
    for (const item_window& w : from_->windows) {
      add_older(from_->calls, w.calls, calls_numbers_, calls_);
      add_older(from_->waits, w.waits, waits_numbers_, waits_);
    }
    for (const noted_call& c : calls_) add_place({c.log, c.path, device_item::none});
  }
  bool has_items() const noexcept { return from_ != nullptr && from_->items.size() != 0; }
  bool has_calls() const noexcept { return !scopes_.empty(); }
  /// A log that add_log() will be called for: its calls are not those of merged logs.
  void expect(std::uint32_t log) {
    for (scope_place& s : scopes_) s.is_apart = s.is_apart || s.log == log;
  }

  /// The thread's nodes stand in the profile from `nodes` on; its rows of device work are about to
  /// be added. The log is locked.
  void add_log(thread_log& log, std::uint32_t thread, std::uint32_t nodes, double ns_per_tick) {
    if (from_ == nullptr) return;
    const auto work = static_cast<std::uint32_t>(out_.device.work.size());
    const bool is_merged = log.counts.merged_threads != 0;
    logs_.push_back({log.number, thread, work, {}});
    for (const moved_rows& m : log.merged_rows) logs_.push_back({m.log, thread, work, m.here});
    if (is_merged) merged_thread_ = thread;
    const std::size_t known = log.tree.nodes().size();
    for (scope_place& s : scopes_) {
      if (s.log != log.number && !(is_merged && !s.is_apart)) continue;
      const std::uint32_t node = log.paths.node_of(s.path);
      if (node < known) s.scope = nodes + node;
    }
    for (const call_total& row : log.calls.rows()) {
      const known_function& f = function(static_cast<std::uint16_t>(row.function));
      host_call_sum sum;
      sum.name = f.name;
      sum.scope = nodes + row.node;
      sum.kind = f.kind;
      sum.calls = row.calls;
      sum.total_ns = static_cast<double>(row.total) * ns_per_tick;
      sum.max_ns = static_cast<double>(row.longest) * ns_per_tick;
      if (f.blocks) sum.waited_ns = sum.total_ns;
      out_.device.calls.push_back(sum);
    }
  }

  /// All logs have been added. `now`: ns since the session's start.
  void finish(std::int64_t now) {
    if (from_ == nullptr) return;
    device_timeline& to = out_.device.timeline;
    std::vector<packed_item> older;
    std::vector<std::uint64_t> numbers;
    for (const item_window& w : from_->windows) add_older(from_->items, w.items, numbers, older);
    to.items.reserve(to.items.size() + from_->items.size() + older.size());
    for (const packed_item& i : from_->items) add_item(i);
    for (const packed_item& i : older) add_item(i);
    add_calls();
    to.dropped_items = from_->items.dropped() - older.size();
    to.dropped_calls = from_->calls.dropped() - (calls_.size() - from_->calls.size());
    if (from_->items.dropped() == 0 && from_->calls.dropped() == 0) return;
    for (const item_window& w : from_->windows)
      if (w.is_whole) to.windows.push_back({w.begin, w.end});
    to.windows.push_back({from_->whole_since, now});
    join(to.windows);
  }

 private:
  struct log_place {
    std::uint32_t log, thread, work;
    std::vector<std::uint32_t> moved;  // where its rows are, as in moved_rows; none: they stay
  };
  struct scope_place {
    std::uint32_t log, path, scope;
    bool is_apart = false;
  };
  struct known_function {
    std::uint16_t number;
    std::uint32_t name;
    call_kind kind;
    awaited waits;
    bool blocks;
  };

  /// Appends those of `some` that the ring no longer has, and that no other window had.
  template <class T>
  static void add_older(const latest_ring<T>& ring, const numbered<T>& some,
                        std::vector<std::uint64_t>& known, std::vector<T>& to) {
    const std::size_t before = known.size();
    for (const auto& [number, element] : some) {
      if (number >= ring.dropped() ||
          std::binary_search(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(before),
                             number))
        continue;
      known.push_back(number);
      to.push_back(element);
    }
    std::sort(known.begin(), known.end());
  }
  /// Makes windows disjoint and puts them in order.
  static void join(std::vector<timeline_window>& windows) {
    std::sort(windows.begin(), windows.end(),
              [](const timeline_window& a, const timeline_window& b) { return a.begin < b.begin; });
    std::vector<timeline_window> out;
    for (const timeline_window& w : windows)
      if (out.empty() || w.begin > out.back().end) out.push_back(w);
      else out.back().end = std::max(out.back().end, w.end);
    windows = std::move(out);
  }
  static std::uint64_t key_of(std::uint32_t log, std::uint32_t path) noexcept {
    return std::uint64_t{log} << 32U | path;
  }
  void add_place(const scope_place& s) {
    if (number_of_scope_.try_emplace(key_of(s.log, s.path), scopes_.size()).second)
      scopes_.push_back(s);
  }
  /// Calls of one scope come one after the other.
  const scope_place* place_of(std::uint32_t log, std::uint32_t path) noexcept {
    if (latest_scope_ < scopes_.size() && scopes_[latest_scope_].log == log &&
        scopes_[latest_scope_].path == path)
      return &scopes_[latest_scope_];
    const auto known = number_of_scope_.find(key_of(log, path));
    if (known == number_of_scope_.end()) return nullptr;
    latest_scope_ = known->second;
    return &scopes_[latest_scope_];
  }
  const log_place* place_of(std::uint32_t log) noexcept {
    if (latest_log_ < logs_.size() && logs_[latest_log_].log == log) return &logs_[latest_log_];
    for (const log_place& l : logs_)
      if (l.log == log) return latest_log_ = static_cast<std::size_t>(&l - logs_.data()), &l;
    return nullptr;
  }

  const known_function& function(std::uint16_t number) {
    for (const known_function& f : functions_)
      if (f.number == number) return f;
    const function_description d = from_->describe_function == nullptr
                                       ? function_description{}
                                       : from_->describe_function(number);
    functions_.push_back({number, static_cast<std::uint32_t>(out_.device.functions.size()),
                          static_cast<call_kind>(d.kind), static_cast<awaited>(d.waits),
                          (number & observed_call::blocks) != 0});
    out_.device.functions.emplace_back(d.name.empty() ? "function " + std::to_string(number)
                                                      : std::string(d.name));
    return functions_.back();
  }

  void add_item(const packed_item& from) {
    device_item& to = out_.device.timeline.items.emplace_back(to_item(from, device_item::none));
    if (from.log() == 0) {  // work of unknown launches comes first
      to.work = from.row() - 1;
      return;
    }
    const log_place* const log = place_of(from.log());
    if (log == nullptr) {
      to.thread = merged_thread_;
      return;
    }
    to.thread = log->thread;
    if (log->moved.empty()) to.work = log->work + from.row() - 1;
    else if (from.row() <= log->moved.size()) to.work = log->work + log->moved[from.row() - 1] - 1;
  }

  void add_calls() {
    device_timeline& to = out_.device.timeline;
    correlation_index waits(waits_.size()), copies(2 * calls_.size());
    for (const noted_wait& w : waits_)
      waits.add(w.correlation, static_cast<std::size_t>(&w - waits_.data()));
    for (const noted_call& from : calls_) {
      const known_function& f = function(from.function);
      const scope_place* const scope = place_of(from.log, from.path);
      const log_place* const log = place_of(from.log);
      host_call call;
      call.name = f.name;
      call.kind = f.kind;
      call.waits_for = f.waits;
      call.thread = log != nullptr ? log->thread : merged_thread_;
      if (scope != nullptr) call.scope = scope->scope;
      call.device = from_->device_of(0);
      call.begin = from.begin;
      call.end = from.end;
      std::uint32_t said = waits.find(from.ids[0]);
      if (said == correlation_index::none) said = waits.find(from.ids[1]);
      if (said != correlation_index::none) {
        const noted_wait& w = waits_[said];
        call.device = from_->device_of(w.context);
        call.stream = w.stream == activity::of_no_stream ? 0 : w.stream;
        call.event = w.event;
      } else if (f.waits == awaited::stream) {
        copies.add(from.ids[0], to.calls.size());
        copies.add(from.ids[1], to.calls.size());
      }
      to.calls.push_back(call);
    }
    // A copy that blocks waits for itself.
    for (const device_item& i : to.items) {
      const std::uint32_t call = copies.find(i.correlation);
      if (call == correlation_index::none) continue;
      to.calls[call].stream = i.stream;
      if (i.work < out_.device.work.size()) to.calls[call].device = out_.device.work[i.work].device;
    }
  }

  profile& out_;
  const device_history* from_;
  std::vector<noted_call> calls_;  // of the ring, and those of windows that it no longer has
  std::vector<noted_wait> waits_;
  std::vector<std::uint64_t> calls_numbers_, waits_numbers_;  // of the latter
  std::vector<log_place> logs_;
  std::vector<scope_place> scopes_;
  std::unordered_map<std::uint64_t, std::size_t> number_of_scope_;  // in scopes_, by key_of()
  std::vector<known_function> functions_;
  std::size_t latest_log_ = 0, latest_scope_ = 0;
  std::uint32_t merged_thread_ = device_item::none;  // of the logs that have no place of their own
};

}  // namespace detail
KPROF_DETAIL_END

#endif
