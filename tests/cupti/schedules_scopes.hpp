// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_SCOPES_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_SCOPES_HPP

// The scopes that are open on a thread of a random program, by the program's own account.

#include "schedules_truth.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// A scope as its path has it. `guard`: the place in the source, and whether that is an operator's.
struct scope {
  enum place : std::uint8_t { region, captured_region, op, captured_op, foreign, threads_op };
  std::string name;
  place guard = region;
  bool is_operator() const { return guard != region && guard != captured_region; }
  bool operator==(const scope&) const = default;
};
using scopes = std::vector<scope>;

inline std::string path_of(const scopes& all) {
  std::string out;
  for (const scope& s : all) out += (out.empty() ? "" : "/") + s.name;
  return out;
}

/// The open scopes of a thread, of which the first few may be an adopted context's.
class open_scopes {
 public:
  /// Another thread goes on, under this context.
  void adopt(scopes context) {
    adopted_ = context.size();
    all_ = std::move(context);
    frames_.assign(adopted_, {});
  }
  void open(scope s) {
    all_.push_back(std::move(s));
    frames_.emplace_back();
  }
  /// Ends the innermost scope; what it did is what its operator's row says of its calls.
  void close(truth& of) {
    const frame f = frames_.back();
    const std::string at = path_of(all_);
    ++of.calls[at];
    if (f.launched || (f.copied && !f.captured)) {
    } else if (f.captured) {
      ++of.captured[at];
    } else {
      ++of.idle[at];
    }
    all_.pop_back();
    frames_.pop_back();
    if (frames_.size() <= adopted_) return;
    frames_.back().launched |= f.launched;
    frames_.back().copied |= f.copied;
  }
  const scopes& now() const { return all_; }

  void launched(bool copy) {
    if (frames_.size() > adopted_) (copy ? frames_.back().copied : frames_.back().launched) = true;
  }
  /// A node of this graph is captured: of how many scopes from the innermost it is the first.
  std::uint32_t captured(std::uint64_t graph) {
    std::uint32_t started = 0;
    for (std::size_t i = frames_.size(); i-- > adopted_; ++started) {
      frames_[i].captured = true;
      if (std::exchange(frames_[i].graph, graph) == graph) return started;
    }
    if (adopted_ != 0 && begun_.insert(graph).second)
      started += static_cast<std::uint32_t>(adopted_);
    return started;
  }
  /// Work is captured that belongs to other scopes.
  void captured_others() {
    for (std::size_t i = frames_.size(); i-- > adopted_;) frames_[i].captured = true;
  }
  /// A node's parameters are set that was captured in `around`: whether it is of the open scopes
  /// from now on.
  bool sets_node_of(const scopes& around) {
    for (std::size_t count = 1; count <= std::min(around.size(), all_.size()); ++count) {
      const scope &mine = all_[all_.size() - count], &other = around[around.size() - count];
      if (mine.guard != other.guard) return false;
      if (!mine.is_operator()) continue;
      const bool same =
          all_.size() == around.size() &&
          std::equal(all_.begin(), all_.end() - static_cast<std::ptrdiff_t>(count), around.begin());
      for (std::size_t i = frames_.size(); same && i-- > frames_.size() - count;)
        if (i >= adopted_) frames_[i].captured = true;
      return same;
    }
    return false;
  }

 private:
  struct frame {
    bool launched = false, copied = false, captured = false;
    std::uint64_t graph = 0;  // that work was captured into last
  };
  scopes all_;
  std::vector<frame> frames_;
  std::size_t adopted_ = 0;
  std::set<std::uint64_t> begun_;  // graphs with work that was captured under the adopted context
};

#endif
