// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_LOG_CURSOR_HPP
#define KPROF_ATTRIBUTE_LOG_CURSOR_HPP

// The thread log that attribution is writing to. Consecutive activities mostly belong to one
// thread and one scope, so the cursor keeps the log locked and remembers the last answers.

#include <kprof/build_options.hpp>
#include <kprof/record/thread_log.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds the lock of one log at a time. `FindLog`: the function that recorder::with_threads gives.
template <class FindLog>
class log_cursor {
 public:
  explicit log_cursor(FindLog find) : find_(find) {}
  ~log_cursor() { unlock(); }
  log_cursor(const log_cursor&) = delete;
  log_cursor& operator=(const log_cursor&) = delete;

  /// The log of the thread with this number, locked; nullptr when there is none. Unlocks the log of
  /// the thread before.
  thread_log* move_to(std::uint32_t thread) {
    if (log_ != nullptr && thread == thread_) return log_;
    unlock();
    thread_ = thread;
    log_ = find_(thread);
    if (log_ != nullptr) log_->mutex().lock();
    path_ = checked_node_ = none;
    return log_;
  }
  /// The node of a path in the log's call tree.
  std::uint32_t node_of(std::uint32_t path) {
    if (path != path_) node_ = log_->paths.node_of(path), path_ = path;
    return node_;
  }
  /// Whether the node is an operator's or lies below one.
  bool in_operator(std::uint32_t node, const site_table& sites) {
    if (node == checked_node_) return checked_node_is_in_operator_;
    checked_node_ = node;
    while (node != call_tree::root && sites[log_->tree[node].site].op == nullptr)
      node = log_->tree[node].parent;
    return checked_node_is_in_operator_ = node != call_tree::root;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void unlock() {
    if (log_ != nullptr) log_->mutex().unlock();
    log_ = nullptr;
  }

  FindLog find_;
  thread_log* log_ = nullptr;
  std::uint32_t thread_ = 0;
  // the last answer of node_of
  std::uint32_t path_ = none;
  std::uint32_t node_ = 0;
  // the last answer of in_operator
  std::uint32_t checked_node_ = none;
  bool checked_node_is_in_operator_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
