// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_GRAPH_NOTES_HPP
#define KPROF_SESSION_GRAPH_NOTES_HPP

// What the collector tells of the nodes of CUDA graphs, noted with the scope that is open on the
// thread. On the program's threads, from within its CUDA calls. Included by device_session.hpp.

#include <kprof/attribute/graph_nodes.hpp>
#include <kprof/attribute/transcript.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/write/attempt.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// `now`s are times of launches, in ticks. Without memory a node's scope is not known.
class KPROF_DETAIL_LOCAL graph_notes {
 public:
  graph_notes(recorder& threads, graph_nodes& nodes, device_transcript& transcript)
      : threads_(threads), nodes_(nodes), transcript_(transcript) {}

  void made(std::uint64_t node, bool does_work) noexcept {
    const captured_scope where = threads_.capture_for_graph(node >> 32U, does_work);
    if (transcript_.is_open()) transcript_.node(threads_, node, where);
    static_cast<void>(attempt([&] { nodes_.made(node, where); }));
  }
  void graph_captured() noexcept { threads_.capture_others(); }
  void copied(std::uint64_t node, std::uint64_t original) noexcept {
    if (transcript_.is_open()) transcript_.cloned(node, original);
    static_cast<void>(attempt([&] { nodes_.copied(node, original); }));
  }
  void moved(std::uint64_t node, std::uint64_t before) noexcept {
    if (transcript_.is_open()) transcript_.cloned(node, before);
    static_cast<void>(attempt([&] { nodes_.moved(node, before); }));
  }
  void updated(std::uint64_t node, std::uint64_t original, std::uint64_t now) noexcept {
    if (transcript_.is_open()) transcript_.updated(node, original);
    static_cast<void>(attempt([&] { nodes_.updated(node, original, now); }));
  }
  /// A program that sets the parameters of a graph's node where it captured it, in another call of
  /// the same operator, has that call's work done by the graph. False where the node stays with the
  /// call that it belonged to.
  bool set(std::uint32_t exec, std::uint64_t original, std::uint64_t now) noexcept {
    std::uint64_t node = 0;
    captured_scope before;
    if (!nodes_.find_copy(exec, original, node, before)) return false;
    const std::uint32_t path = threads_.set_up_in_graph(before.path);
    if (path == captured_scope::unknown_path) return false;
    if (path == before.path) return true;
    if (transcript_.is_open()) transcript_.set(threads_, node, path);
    return attempt([&] { nodes_.set(node, path, now); });
  }
  void destroyed(std::uint64_t node) noexcept {
    static_cast<void>(attempt([&] { nodes_.destroyed(node); }));
  }

 private:
  recorder& threads_;
  graph_nodes& nodes_;
  device_transcript& transcript_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
