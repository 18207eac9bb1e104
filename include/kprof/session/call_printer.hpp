// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_CALL_PRINTER_HPP
#define KPROF_SESSION_CALL_PRINTER_HPP

// Prints calls soon after they end: a thread of kprof's own reads, every 20 ms, what the threads'
// logs have got since, which costs guards nothing. Included by verbose.hpp.

#include <kprof/build_options.hpp>
#include <kprof/collect/own_thread.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/record/timeline.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/session/last_thread.hpp>
#include <kprof/session/verbose_line.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/lock_within.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/quiet_writes.hpp>
#include <kprof/write/write_error.hpp>

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A call that has ended.
struct ended_call {
  const verbose_node* node;
  bool on_host;
  std::uint64_t start, end;  // ticks
  std::uint64_t thread;
};

/// Reads on in one thread's log where it stopped the last time.
class KPROF_DETAIL_LOCAL log_reader {
 public:
  log_reader() = default;
  log_reader(const log_reader&) = delete;
  log_reader& operator=(const log_reader&) = delete;

  /// Whether it is the same log of the same recording that it has read.
  bool reads(const thread_log& log) const noexcept {
    return log.number == number_ && log.begin == begin_;
  }
  void begin(const thread_log& log) {
    number_ = log.number;
    begin_ = log.begin;
    at_ = nullptr;
    walk_.reset();
    nodes_.clear();
  }

  /// Adds the operators' calls to `out`, and gives how many scopes there were. The log is locked
  /// and folded.
  std::uint64_t read(const thread_log& log, const site_table& sites, std::vector<ended_call>& out) {
    ended_.clear();
    bool is_there = false;  // the chunk that was read last
    log.each_stretch([&](const chunk& c, const char* from, const char* to) {
      // A chunk that was recycled has no first time yet while its thread writes the first record.
      is_there = is_there || (&c == at_ && from != to && first_time(c) == at_time_);
    });
    if (!is_there) walk_.reset();
    bool is_behind = !is_there;  // the place where reading stopped
    log.each_stretch([&](const chunk& c, const char* from, const char* to) {
      const bool goes_on = !is_behind && &c == at_;
      is_behind = is_behind || goes_on;
      if (!is_behind || from == to) return;
      if (!walk_) walk_.emplace(visitor_, c.first_depth, nullptr);
      walk_->over(goes_on ? position_ : from, to);
      at_ = &c;
      at_time_ = first_time(c);
      position_ = to;
    });
    for (const scope& s : ended_)
      if (const verbose_node* const node = node_of(log, sites, s.node))
        out.push_back({node, is_on_host(log.tree.nodes()[s.node]), s.start, s.end, log.thread_id});
    return ended_.size();
  }

 private:
  struct scope {
    std::uint32_t node;
    std::uint64_t start, end;
  };
  struct visitor {
    std::vector<scope>* to;
    void operator()(std::uint32_t node, std::uint64_t start, std::uint64_t end) const {
      to->push_back({node, start, end});
    }
  };

  /// Of a chunk's first record: a chunk that was recycled has another.
  static std::uint64_t first_time(const chunk& c) noexcept {
    const char* const first = reinterpret_cast<const char*>(&c + 1);
    const std::uint64_t word = get(first);
    return (word & end_bit) != 0 ? word : get(first + 8);
  }

  static bool is_on_host(const tree_node& n) noexcept {
    return n.device_calls == 0 && n.captured == 0;
  }
  /// nullptr: the node is no operator's.
  const verbose_node* node_of(const thread_log& log, const site_table& sites, std::uint32_t node) {
    const tree_node& n = log.tree.nodes()[node];
    const op_info* const op = sites[n.site].op;
    if (n.site == 0 || op == nullptr) return nullptr;
    std::unique_ptr<verbose_node>& at = nodes_[node];
    if (at == nullptr)
      at = std::make_unique<verbose_node>(verbose_node_of(n, *op, log.tree.payload_of(n)));
    return at.get();
  }

  std::uint32_t number_ = 0;
  std::uint64_t begin_ = 0;
  const chunk* at_ = nullptr;  // that was read last, up to position_
  std::uint64_t at_time_ = 0;
  const char* position_ = nullptr;
  std::vector<scope> ended_;
  visitor visitor_{&ended_};  // so that a reader stays where it is
  std::optional<timeline_walk<visitor>> walk_;
  std::unordered_map<std::uint32_t, std::unique_ptr<verbose_node>> nodes_;
};

/// Prints to a descriptor, which stays open. Never freed: its thread uses it. `place`: where the
/// descriptor leads, fit to print.
class KPROF_DETAIL_LOCAL call_printer {
 public:
  call_printer(recorder& of, int descriptor, std::string place)
      : recorder_(of), descriptor_(descriptor), place_(std::move(place)) {}
  call_printer(const call_printer&) = delete;
  call_printer& operator=(const call_printer&) = delete;

  /// A recording begins.
  void restart(const timebase& time, bool prints) {
    const std::lock_guard lock(mutex_);
    time_ = time;
    prints_ = prints;
    readers_.clear();
    scopes_ = told_lost_ = 0;
  }
  /// Prints what has ended and was not printed. Gives up where another thread has been at it for
  /// five seconds, since its reader takes nothing.
  void print() {
    const auto lock = lock_within(5000, mutex_);
    if (!lock.owns_lock() || !prints_) return;
    calls_.clear();
    std::uint64_t finished = 0;
    recorder_.each_thread([&](const thread_log& log) {
      finished += log.counts.finished;
      read(log);
    });
    put_calls();
    const std::uint64_t lost =
        (finished > scopes_ ? finished - scopes_ : 0) + recorder_.counts().dropped;
    if (lost > told_lost_)
      text_ += "kprof_verbose_lost," + std::to_string(told_lost_ = lost) + '\n';
    put(text_.size());
  }
  /// The same of a thread that ends, alone: there may be many.
  void print(thread_log& log) {
    const auto lock = lock_within(5000, mutex_);
    if (!lock.owns_lock() || !prints_) return;
    calls_.clear();
    {
      const std::lock_guard own(log.mutex());
      log.fold();
      read(log);
    }
    put_calls();
    put(text_.size());
  }
  /// The thread that prints.
  static void* run(void* printer) noexcept {
    pthread_setname_np(pthread_self(), "kprof");
    const own_thread_ends at_end;
    const mark_inside_kprof mark;
    constexpr timespec pause{0, 20'000'000};
    for (int round = 1;; ++round) {
      nanosleep(&pause, nullptr);
      static_cast<void>(attempt([&] { static_cast<call_printer*>(printer)->print(); }));
      if (round % 50 == 0 && only_own_threads_are_left()) return nullptr;
    }
  }

  recorder& recorded() const noexcept { return recorder_; }
  int descriptor() const noexcept { return descriptor_; }
  const std::string& place() const noexcept { return place_; }
  pid_t process() const noexcept { return process_; }
  const timebase& time() const noexcept { return time_; }

 private:
  /// The calls of a log that is locked and folded.
  void read(const thread_log& log) {
    log_reader& reader = readers_[&log];
    if (!reader.reads(log)) reader.begin(log);
    scopes_ += reader.read(log, recorder_.sites(), calls_);
  }
  /// Their lines.
  void put_calls() {
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const ended_call& a, const ended_call& b) { return a.end < b.end; });
    for (const ended_call& c : calls_) {
      const std::size_t before = text_.size();
      const std::uint64_t ticks = c.end > c.start ? c.end - c.start : 0;
      append_verbose_line(text_, *c.node, c.on_host,
                          static_cast<double>(ticks) * time_.ns_per_tick(),
                          time_.since_start_ns(c.end), c.thread);
      if (text_.size() > most_at_once) put(before);
    }
  }

  /// PIPE_BUF: a write of no more reaches a pipe in one piece, though others write into it too.
  static constexpr std::size_t most_at_once = 4096;

  /// Writes the first bytes of `text_`, which are whole lines. What cannot be written is lost, and
  /// one line says so. A reader that took nothing is waited for once, and not again for each piece
  /// until it takes one.
  void put(std::size_t bytes) {
    if (bytes == 0 && text_.size() > most_at_once) bytes = text_.size();  // one long line
    if (bytes == 0) return;
    const quiet_writes quiet;
    const int to =
        descriptor_ == STDERR_FILENO ? stream_for(STDERR_FILENO, write_time::now) : descriptor_;
    if (to >= 0)
      last_error_ = write_all(to, std::string_view{text_}.substr(0, bytes),
                              last_error_ == EAGAIN ? 0 : reader_patience_ms);
    text_.erase(0, bytes);
    if (last_error_ == 0 || descriptor_ == STDERR_FILENO || has_told_error_) return;
    has_told_error_ = true;
    tell({cannot_write(place_, last_error_).message, "; calls that verbose= prints are lost"});
  }

  recorder& recorder_;
  const int descriptor_;
  const std::string place_;
  const pid_t process_ = getpid();  // that made it
  std::mutex mutex_;                // guards all below
  timebase time_;
  bool prints_ = false;
  std::unordered_map<const thread_log*, log_reader> readers_;
  std::uint64_t scopes_ = 0;     // that were read
  std::uint64_t told_lost_ = 0;  // as the last line about it says
  std::vector<ended_call> calls_;
  std::string text_;
  int last_error_ = 0;  // of the latest piece; 0: it was written
  bool has_told_error_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
