// SPDX-License-Identifier: MIT
// needs: guards
// Random programs, and records that come in any order: what attribution counts is compared with
// what the program knows it did.
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

/// A random program and what is true of it. Its threads take turns, so that what it does is told by
/// the seed alone.
class schedule {
 public:
  explicit schedule(unsigned seed) : random_(seed) {}

  void run() {
    const int threads = 1 + static_cast<int>(draw(3));
    for (int i = 0; i < threads; ++i) std::thread([this] { work(0, ""); }).join();
    deliver(true);
    const kprof::profile p = e_.profile();
    CHECK(runs(p) == truth_);
    CHECK(p.device.complete.launches == launches_);
    CHECK(p.device.complete.attributed + p.device.complete.outside == launches_);
    CHECK(p.device.complete.unknown == 0);
    CHECK(p.device.complete.open == 0);
    for (const auto& [path, n] : replays_) CHECK(replays(p, path) == n);
  }

 private:
  struct graph_node {
    std::uint64_t id;
    std::vector<std::string> around;  // scopes, from the outermost
    std::uint32_t scopes_started_here;
  };

  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  bool chance(unsigned percent) { return draw(100) < percent; }

  void work(int depth, const std::string& path) {
    const int steps = 1 + static_cast<int>(draw(6));
    for (int i = 0; i < steps; ++i) {
      if (depth < 4 && chance(40)) {
        const std::int64_t n = static_cast<std::int64_t>(draw(3));
        const bool op = chance(60);
        const std::string name = op ? "Op n=" + std::to_string(n) : "r" + std::to_string(n);
        const scope_token t = op ? begin_op(n) : begin_region(name);
        scopes_.push_back(name);
        work(depth + 1, path + (path.empty() ? "" : "/") + name);
        scopes_.pop_back();
        end(t);
      } else if (chance(20)) {
        capture_graph();
      } else if (!graphs_.empty() && chance(30)) {
        replay(path);
      } else {
        launch(path);
      }
      if (chance(10)) deliver(false);
    }
  }

  std::vector<std::uint32_t> ids() {
    std::vector<std::uint32_t> out;
    for (unsigned i = 0, n = 1 + draw(3); i < n; ++i) out.push_back(++last_id_);
    return out;
  }
  void launch(const std::string& path) {
    const auto some = ids();
    static const char* const names[] = {"a", "b", "c"};
    const char* name = names[draw(3)];
    activity a = kernel(some[draw(some.size())], name);
    if (chance(20)) pending_.push_back(a), a.correlation = 0;  // before its launch is noted
    e_.launch(some);
    if (a.correlation != 0) pending_.push_back(a);
    ++launches_;
    ++truth_[path + ": " + name];
  }

  /// A graph is captured in scopes of its own below where the thread is, and instantiated once or
  /// twice.
  void capture_graph() {
    const std::uint64_t graph = ++last_graph_ << 32U;
    std::vector<graph_node> nodes;
    for (unsigned op = 0, ops = 1 + draw(3); op < ops; ++op) {
      const std::string name = "Op n=" + std::to_string(10 + draw(2));
      const scope_token t = begin_op(name.back() - '0' + 10);
      for (unsigned i = 0, n = 1 + draw(3); i < n; ++i) {
        graph_node made{graph + nodes.size(), scopes_, i == 0 ? 1U : 0U};
        if (op == 0 && i == 0)
          made.scopes_started_here = 1 + static_cast<std::uint32_t>(scopes_.size());
        made.around.push_back(name);
        e_.node(made.id);
        nodes.push_back(made);
      }
      end(t);
    }
    for (unsigned copy = 0, copies = 1 + draw(2); copy < copies; ++copy) {
      const std::uint64_t exec = ++last_graph_ << 32U;
      std::vector<graph_node> copied = nodes;
      for (std::size_t i = 0; i < copied.size(); ++i) {
        copied[i].id = exec + i;
        e_.devices.graphs().copied(copied[i].id, nodes[i].id);
      }
      graphs_.push_back(std::move(copied));
    }
  }
  void replay(const std::string& path) {
    const auto some = ids();
    const auto& graph = graphs_[draw(graphs_.size())];
    const std::string base = path + (path.empty() ? "" : "/") + "graph";
    ++launches_;
    ++replays_[base];
    for (const graph_node& n : graph) {
      pending_.push_back(of_graph(some[0], n.id));
      std::size_t common = 0;  // the scopes that are around both the capture and the launch
      while (common < n.around.size() && common < scopes_.size() &&
             n.around[common] == scopes_[common])
        ++common;
      std::string where = base;
      for (std::size_t i = common; i < n.around.size(); ++i) {
        where += "/" + n.around[i];
        if (n.around.size() - i <= n.scopes_started_here) ++replays_[where];
      }
      ++truth_[where + ": k"];
    }
    e_.launch(some);
  }

  /// Some or all of the records, in any order and in pieces.
  void deliver(bool all) {
    std::shuffle(pending_.begin(), pending_.end(), random_);
    while (!pending_.empty()) {
      const std::size_t n = 1 + draw(pending_.size());
      if (chance(50)) e_.take_launches();
      e_.read({pending_.end() - static_cast<std::ptrdiff_t>(n), pending_.end()});
      pending_.resize(pending_.size() - n);
      if (!all) return;
    }
  }

  std::mt19937 random_;
  engine e_;
  std::vector<std::string> scopes_;
  std::vector<std::vector<graph_node>> graphs_;
  std::vector<activity> pending_;
  counts truth_, replays_;
  std::uint64_t launches_ = 0;
  inline static std::uint32_t last_id_ = 1'000'000;  // CUPTI never gives an id twice
  inline static std::uint64_t last_graph_ = 1000;    // graphs outlive a recording
};

}  // namespace

TEST_CASE("attribution_random.agrees_with_the_truth_of_random_programs") {
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 60;
#else
  constexpr unsigned seeds = 300;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    schedule(seed).run();
  }
}
