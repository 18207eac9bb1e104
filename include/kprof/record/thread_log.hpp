// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THREAD_LOG_HPP
#define KPROF_RECORD_THREAD_LOG_HPP

// One thread's log and what has been folded out of it. The thread appends records without a lock;
// whoever holds mutex() may fold what has been published so far into the call tree, also while the
// thread goes on writing.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/chunk_pool.hpp>
#include <kprof/record/device_totals.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/path_table.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A scope that folding has seen begin and not end.
struct open_frame {
  std::uint32_t node;
  bool adopted;  // not a scope but a change of place
  std::uint64_t start;
  std::uint64_t child_ticks;  // in scopes inside it
  bool launched = false;      // work on a device
  std::uint32_t path = 0;     // of its node, once it has been asked for
  // captured work into this one, whose number is this less 1; the last of them
  std::uint64_t graph = 0;
};

/// A call that launched work on a device, as folding found it.
struct launch_note {
  static constexpr std::uint32_t ignored = ~std::uint32_t{0};

  std::uint32_t correlation;
  bool alias;  // another id of the call before it
  // of the scopes around it; 0: none; `ignored`: nothing was being recorded
  std::uint32_t path;
  std::uint32_t thread;  // number of the thread's log
  std::uint64_t ticks;   // when the call began
};

/// The place of a captured graph node in the call tree, as a plain value.
struct captured_scope {
  std::uint32_t path = 0;
  // how many scopes, from the innermost outwards, have this node as their first work in the graph
  std::uint32_t scopes_started_here = 0;
};

class KPROF_DETAIL_LOCAL thread_log : public log_head {
 public:
  thread_log(std::uint32_t its_number, site_table& sites, path_table& paths, tree_budget& budget)
      : tree(sites, budget), device(budget), paths_(&paths) {
    begin_again(its_number);
  }

  /// For a thread that begins.
  void begin_again(std::uint32_t its_number) noexcept {
    number = its_number;
    top = scope_token{its_number} << 32U;
    emitted = 0;
    emitted_deeper = 0;
    cuts_size_ = 0;
  }

  std::mutex& mutex() noexcept { return mutex_; }

  // The next two are for the thread itself.

  /// Whether `token` names a scope that is open here. One that ended with a scope around it is not,
  /// whatever has been opened at its depth since.
  bool is_open(scope_token token) const noexcept {
    if (token >> 32U != top >> 32U || depth_of(token) > depth_of(top) || depth_of(token) == 0)
      return false;
    // the depths rise, so the first that came later cut the most
    for (std::uint32_t i = 0; i < cuts_size_; ++i)
      if (static_cast<std::int16_t>(cuts_[i].epoch - epoch_of(token)) > 0)
        return depth_of(token) < cuts_[i].depth;
    return true;
  }
  /// The scope of this depth and all inside it have ended. With scopes inside, tokens from before
  /// no longer name what is there.
  void close_from(std::uint16_t depth) noexcept {
    const bool scopes_inside = depth < depth_of(top);
    top -= depth_of(top) - depth + 1U;
    if (!scopes_inside) return;
    const auto epoch = static_cast<std::uint16_t>(epoch_of(top) + 1);
    while (cuts_size_ != 0 && cuts_[cuts_size_ - 1].depth >= depth) --cuts_size_;
    // The number goes round: a cut is forgotten, and with it which late ends are stale, before its
    // own comes again.
    const bool oldest_goes =
        cuts_size_ != 0 && static_cast<std::uint16_t>(epoch - cuts_[0].epoch) > 0x4000U;
    if (cuts_size_ == max_cuts || oldest_goes) std::copy(cuts_ + 1, cuts_ + cuts_size_--, cuts_);
    cuts_[cuts_size_++] = {epoch, depth};
    top = (top & ~scope_token{0xFFFF0000U}) | scope_token{epoch} << 16U;
  }

  // Everything below needs the lock.

  /// Goes on writing in `c`; the chunk before it is full. By the thread itself.
  void append(chunk* c, chunk_pool& pool) noexcept {
    *c = chunk{};
    c->owner = this;
    c->previous = last_;
    if (last_ != nullptr) last_->next = c;
    else first_ = c;
    last_ = c;
    stop_writing(pool);
    writing_ = c;
    if (unread_ == nullptr) start_reading(c);
    limit = c->limit();
    __atomic_store_n(&cursor, c->begin(), __ATOMIC_RELEASE);
  }
  /// The thread ends, or the log is to be emptied: what was written stays in the timeline, the next
  /// scope takes a new chunk.
  void stop_writing(chunk_pool& pool) noexcept {
    if (writing_ == nullptr) return;
    writing_->end = cursor;
    pool.retire(writing_);
    writing_ = nullptr;
    cursor = limit = nullptr;
  }

  /// Folds all that has been published; or only up to `stop_at`, in the chunk that is being
  /// written.
  void fold(const char* stop_at = nullptr) {
    while (unread_ != nullptr) {
      const bool still_written = unread_ == writing_;
      decode(*unread_, !still_written       ? unread_->end
                       : stop_at != nullptr ? stop_at
                                            : __atomic_load_n(&cursor, __ATOMIC_ACQUIRE));
      if (still_written) return;
      unread_->folded = true;
      start_reading(unread_->next);
    }
  }

  /// Takes a full chunk out of the log, folding it first.
  void release(chunk* c) {
    if (!c->folded) fold();
    (c->previous != nullptr ? c->previous->next : first_) = c->next;
    (c->next != nullptr ? c->next->previous : last_) = c->previous;
  }
  /// Gives its full chunks back but those that another thread is about to recycle. Everything must
  /// have been folded.
  void release_full(chunk_pool& pool) {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      if (pool.take_back(c)) {
        release(c);
        pool.give_back(c);
      }
      c = next;
    }
  }

  /// Drops everything, unread. The thread does not exist.
  void discard(chunk_pool& pool) noexcept {
    for (chunk* c = first_; c != nullptr;) {
      chunk* next = c->next;
      static_cast<void>(pool.take_back(c));
      pool.give_back(c);
      c = next;
    }
    first_ = last_ = writing_ = unread_ = nullptr;
    cursor = limit = nullptr;
    stack.clear();
  }

  /// Forgets the totals and the timeline. What is open stays open, as if it had begun at `now`. The
  /// thread may be writing. `until`: what is recorded behind it belongs to the time after `now`
  /// (see fold).
  void restart(std::uint64_t now, chunk_pool& pool, const char* until = nullptr) {
    fold(until);
    release_full(pool);
    for (chunk* c = first_; c != nullptr; c = c->next)  // what another thread is about to recycle
      if (c != writing_) c->timeline_from = c->end, c->ends = 0;
    if (writing_ != nullptr) {
      writing_->timeline_from = read_at_;
      writing_->first_depth = static_cast<std::uint32_t>(stack.size());
      writing_->ends = 0;
    }
    // The open scopes' nodes go with the tree: keep what they stand for.
    struct step {
      std::uint32_t site;
      std::string bytes;
      bool merged;
      work values;
    };
    std::vector<std::vector<step>> paths;
    for (const open_frame& f : stack) {
      std::vector<step> path;
      for (std::uint32_t n = f.node; n != call_tree::root; n = tree[n].parent) {
        const payload p = tree.payload_of(tree[n]);
        path.insert(path.begin(),
                    {tree[n].site, std::string(p.bytes, p.size), tree[n].merged, tree[n].values});
      }
      paths.push_back(std::move(path));
    }
    tree.clear();
    device.clear();
    for (launch_note& n : launches) n.path = launch_note::ignored;
    adopted_.clear();
    captured_.clear();
    replayed_.clear();
    for (std::size_t i = 0; i < stack.size(); ++i) {
      std::uint32_t node = call_tree::root;
      for (const step& s : paths[i])
        node =
            tree.child(node, s.site, {s.bytes.data(), static_cast<std::uint32_t>(s.bytes.size())},
                       s.merged, s.values);
      stack[i] = {node, stack[i].adopted, now, 0};
    }
    dropped = closed_by_parent = finished = never_closed = merged_threads = launches_lost = 0;
  }

  /// The path of the innermost open scope; 0 when nothing is open.
  std::uint32_t capture() {
    fold();
    const std::uint32_t path = innermost_path();
    paths_->keep(path);
    return path;
  }

  /// The same for a node that is being captured into a graph, of which it is a part that does work.
  captured_scope capture_for(std::uint64_t graph) {
    captured_scope out{capture(), 0};
    for (std::size_t i = stack.size(); i-- > 0 && !stack[i].adopted && stack[i].graph != graph + 1;
         ++out.scopes_started_here)
      stack[i].graph = graph + 1;
    return out;
  }

  /// The node of a path: like everywhere, but under this thread's root.
  std::uint32_t node_of(std::uint32_t path) {
    if (path == 0) return call_tree::root;
    std::uint32_t& node = adopted_[path];
    if (node == 0) {
      const path_table::step s = (*paths_)[path];
      const std::uint32_t parent = node_of(s.parent);
      adopted_[path] = child_of(parent, s);
    }
    return adopted_[path];
  }

  /// The node of what was captured under a path, in graphs launched under another: launch scope >
  /// graph > captured scopes, without those that are also around the launch.
  std::uint32_t replayed_node(std::uint32_t launch, std::uint32_t captured) {
    std::uint32_t& node = replayed_[std::uint64_t{launch} << 32U | captured];
    if (node == 0) node = inside_graph(launch, captured);
    return node;
  }
  /// Of graph nodes whose capture was not seen.
  std::uint32_t foreign_graph_node(std::uint32_t launch) {
    static constexpr std::string_view name = "(graph captured before recording)";
    return tree.child(replayed_node(launch, 0), site_table::graph_site, {name.data(), name.size()},
                      false, work{});
  }

  /// Scopes that folding has seen begin and not end.
  std::uint64_t open_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const open_frame& f : stack) n += f.adopted ? 0 : 1;
    return n;
  }
  /// Scopes that finished within what the log still holds.
  std::uint64_t timeline_scopes() const noexcept {
    std::uint64_t n = 0;
    for (const chunk* c = first_; c != nullptr; c = c->next) n += c->ends;
    return n;
  }

  /// Calls visit(node, start, end) for each finished scope whose beginning and end the log still
  /// holds.
  template <class Visit>
  void visit_timeline(Visit visit) const {
    struct start {
      std::uint32_t node;
      std::uint64_t ticks;
      std::uint64_t depth;
    };
    std::vector<start> starts;
    std::uint64_t depth = first_ == nullptr ? 0 : first_->first_depth;
    const auto close = [&](std::uint64_t ticks) {
      if (!starts.empty() && starts.back().depth == depth) {
        if (starts.back().node != call_tree::root)
          visit(starts.back().node, starts.back().ticks, ticks);
        starts.pop_back();
      }
      if (depth != 0) --depth;
    };
    for (chunk* c = first_; c != nullptr; c = c->next) {
      const char* stop = c->folded ? c->end : c == unread_ ? read_at_ : c->timeline_from;
      for (const char* at = c->timeline_from; at < stop;) {
        const std::uint64_t word = get(at);
        if ((word & end_bit) != 0) {
          close(word & ~end_bit);
          at += 8;
          continue;
        }
        const auto subject = static_cast<std::uint32_t>(word);
        switch (kind_of(word)) {
          case record_kind::begin: break;  // not before it is folded
          case record_kind::folded: starts.push_back({subject, get(at + 8), ++depth}); break;
          case record_kind::adopt: starts.push_back({call_tree::root, get(at + 8), ++depth}); break;
          case record_kind::end_to:
            while (depth >= subject && depth != 0) close(get(at + 8));
            break;
          case record_kind::launch:
          case record_kind::ignored_launch: break;
        }
        at += record_size(word);
      }
    }
  }

  std::uint32_t number = 0;  // as in its tokens
  std::vector<open_frame> stack;
  call_tree tree;
  device_totals device;
  std::vector<launch_note> launches;  // not yet taken by attribution
  std::uint64_t launches_lost = 0;    // for want of memory
  std::uint64_t finished = 0;
  std::uint64_t dropped = 0;
  std::uint64_t closed_by_parent = 0;
  std::uint64_t thread_id = 0;
  std::string thread_name;
  bool ended = false;
  std::uint64_t never_closed = 0;    // of the threads whose totals were moved here
  std::uint64_t merged_threads = 0;  // ended threads whose totals were moved here
  thread_log* next_free = nullptr;

 private:
  void start_reading(chunk* c) noexcept {
    unread_ = c;
    if (c == nullptr) return;
    read_at_ = c->timeline_from = c->begin();
    c->first_depth = static_cast<std::uint32_t>(stack.size());
  }

  void decode(chunk& c, const char* stop) {
    std::uint64_t ticks = c.last_ticks;
    const std::uint64_t finished_before = finished;
    while (read_at_ < stop) {
      char* const at = read_at_;
      const std::uint64_t word = get(at);
      if ((word & end_bit) != 0) {
        ticks = word & ~end_bit;
        close_innermost(ticks);
        read_at_ = at + 8;
        continue;
      }
      ticks = get(at + 8);
      const auto subject = static_cast<std::uint32_t>(word);
      read_at_ = at + record_size(word);
      switch (kind_of(word)) {
        case record_kind::begin: {
          const auto bytes = payload_bytes_of(word);
          const std::uint32_t node = tree.child(stack.empty() ? call_tree::root : stack.back().node,
                                                subject, {at + record_header, bytes});
          put(at, record_word(record_kind::folded, node, bytes));
          // most scopes have none inside: no need to stack them
          if (read_at_ < stop && (get(read_at_) & end_bit) != 0) {
            const std::uint64_t end = get(read_at_) & ~end_bit;
            count_finished({node, false, ticks, 0}, end);
            ticks = end;
            read_at_ += 8;
          } else {
            stack.push_back({node, false, ticks, 0});
          }
          break;
        }
        case record_kind::adopt: stack.push_back({node_of(subject), true, ticks, 0}); break;
        case record_kind::end_to:
          while (stack.size() > subject) {
            ++closed_by_parent;
            close_innermost(ticks);
          }
          close_innermost(ticks);
          break;
        case record_kind::launch: note_launch(at, word, innermost_path()); break;
        case record_kind::ignored_launch: note_launch(at, word, launch_note::ignored); break;
        case record_kind::folded: break;
      }
    }
    c.last_ticks = ticks;
    c.ends += finished - finished_before;
  }

  void note_launch(const char* at, std::uint64_t word, std::uint32_t path) {
    if (!stack.empty() && path != launch_note::ignored) stack.back().launched = true;
    std::uint32_t ids[max_launch_ids] = {static_cast<std::uint32_t>(word)};
    const std::size_t others = payload_bytes_of(word) / sizeof ids[0];
    std::memcpy(ids + 1, at + record_header, others * sizeof ids[0]);
    for (std::size_t i = 0; i <= others; ++i)
      launches.push_back({ids[i], i != 0, path, number, get(at + 8)});
  }

  void close_innermost(std::uint64_t now) {
    if (stack.empty()) return;
    const open_frame f = stack.back();
    stack.pop_back();
    count_finished(f, now);
  }

  /// Counts a frame that is not, or no longer, on the stack.
  void count_finished(const open_frame& f, std::uint64_t now) {
    // counters of two cores may differ by a few ticks
    const std::uint64_t ticks = now > f.start ? now - f.start : 0;
    if (!f.adopted) {
      tree.finish(f.node, ticks, f.child_ticks);
      if ((f.graph | static_cast<std::uint64_t>(f.launched)) != 0) [[unlikely]]
        ++(f.launched ? tree[f.node].device_calls : tree[f.node].captured);
      ++finished;
    }
    if (stack.empty()) return;
    stack.back().child_ticks += f.adopted ? f.child_ticks : ticks;
    // what was adopted is another thread's scope's
    stack.back().launched |= f.launched && !f.adopted;
  }

  std::uint32_t innermost_path() {
    if (stack.empty()) return 0;
    open_frame& f = stack.back();
    if (f.path == 0) f.path = path_of(f.node);
    return f.path;
  }

  std::uint32_t child_of(std::uint32_t parent, const path_table::step& s) {
    return tree.child(parent, s.site, {s.bytes.data(), static_cast<std::uint32_t>(s.bytes.size())},
                      s.merged, s.values);
  }

  std::uint32_t inside_graph(std::uint32_t launch, std::uint32_t captured) {
    std::vector<std::uint32_t> around;
    for (std::uint32_t p = launch; p != 0; p = (*paths_)[p].parent) around.push_back(p);
    std::vector<path_table::step> inside;
    for (std::uint32_t p = captured;
         p != 0 && std::find(around.begin(), around.end(), p) == around.end();
         p = inside.back().parent)
      inside.push_back((*paths_)[p]);
    std::uint32_t node =
        tree.child(node_of(launch), site_table::graph_site, {"graph", 5}, false, work{});
    for (std::size_t i = inside.size(); i-- > 0;) node = child_of(node, inside[i]);
    return node;
  }
  std::uint32_t path_of(std::uint32_t node) {
    if (node == call_tree::root) return 0;
    if (const auto known = captured_.find(node); known != captured_.end()) return known->second;
    const tree_node& n = tree[node];
    const payload p = tree.payload_of(n);
    const std::uint32_t path = paths_->number_of(
        {path_of(n.parent), n.site, std::string(p.bytes, p.size), n.merged, n.values});
    return captured_[node] = path;
  }

  struct cut {
    std::uint16_t epoch;  // that began with it
    std::uint16_t depth;  // from here on all ended
  };
  // beyond it, late ends of the outermost scopes are no longer told from others
  static constexpr std::uint32_t max_cuts = 64;

  std::mutex mutex_;
  path_table* paths_;
  chunk* first_ = nullptr;  // of the timeline, oldest first
  chunk* last_ = nullptr;
  chunk* writing_ = nullptr;  // the last one, while the thread writes in it
  chunk* unread_ = nullptr;   // where folding goes on, at read_at_
  char* read_at_ = nullptr;
  std::unordered_map<std::uint32_t, std::uint32_t> adopted_;   // path to node
  std::unordered_map<std::uint32_t, std::uint32_t> captured_;  // node to path
  // launch path and captured path to node
  std::unordered_map<std::uint64_t, std::uint32_t> replayed_;
  cut cuts_[max_cuts] = {};  // later ones are deeper
  std::uint32_t cuts_size_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
