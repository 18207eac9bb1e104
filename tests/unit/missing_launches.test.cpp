// SPDX-License-Identifier: MIT
// needs: guards
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <cstdint>
#include <thread>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

std::uint64_t unrecorded(const kprof::profile& p, const std::string& path) {
  std::uint64_t n = 0;
  for (const auto* node : find_all(p, path)) n += node->unrecorded;
  return n;
}
activity empty_copy(std::uint32_t id) { return copy(id, 64); }

void launch_in(engine& e, std::int64_t op, std::uint32_t id, std::uint64_t when = 1,
               record_kind kind = record_kind::kernel_launch) {
  const scope_token t = begin_op(op);
  e.launch({id}, when, kind);
  end(t);
}

}  // namespace

TEST_CASE("missing_launches.each_scope_tells_which_of_its_launches_have_no_record") {
  engine e;
  launch_in(e, 1, 1), launch_in(e, 1, 2), launch_in(e, 2, 3);
  CHECK(unrecorded(e.profile(), "Op n=1") == 2);
  e.read({kernel(2), kernel(2), kernel(3)});
  CHECK(unrecorded(e.profile(), "Op n=1") == 1);
  CHECK(unrecorded(e.profile(), "Op n=2") == 0);
  e.devices.begin_flush(10);
  e.devices.end_flush();  // a kernel leaves a record, whatever CUPTI says
  CHECK(unrecorded(e.profile(), "Op n=1") == 1);
}

TEST_CASE("missing_launches.a_copy_without_a_record_did_nothing_once_all_records_have_come") {
  engine e;
  launch_in(e, 1, 1, 5, record_kind::transfer_launch);
  launch_in(e, 1, 2, 6, record_kind::transfer_launch);
  e.take_launches();
  e.devices.begin_flush(10);
  launch_in(e, 1, 3, 11, record_kind::transfer_launch);  // while the flush waits
  e.take_launches();
  e.read({empty_copy(1)});
  CHECK(unrecorded(e.profile(), "Op n=1") == 2);
  e.devices.end_flush();
  CHECK(unrecorded(e.profile(), "Op n=1") == 1);
  e.read({empty_copy(3)});
  CHECK(unrecorded(e.profile(), "Op n=1") == 0);
  launch_in(e, 1, 4, 12, record_kind::transfer_launch);
  e.take_launches();
  e.devices.count_loss(loss::records, 1);  // it may be this one's
  e.devices.begin_flush(20);
  e.devices.end_flush();
  CHECK(unrecorded(e.profile(), "Op n=1") == 1);
}

TEST_CASE("missing_launches.a_graph_is_known_only_after_a_flush") {
  engine e;
  const std::uint64_t graph = std::uint64_t{7} << 32U;
  const scope_token capture = begin_op(1);
  e.node(graph), e.node(graph + 1);
  end(capture);
  launch_in(e, 2, 1, 5, record_kind::graph_launch);
  CHECK(unrecorded(e.profile(), "Op n=2") == 1);
  e.read({of_graph(1, graph)});
  CHECK(unrecorded(e.profile(), "Op n=2") == 0);
  CHECK(unrecorded(e.profile(), "Op n=2/graph") == 1);  // its second node may not have ended
  e.read({of_graph(1, graph + 1)});
  CHECK(unrecorded(e.profile(), "Op n=2/graph") == 1);
  e.devices.begin_flush(10);
  launch_in(e, 2, 2, 11, record_kind::graph_launch);
  e.take_launches();
  e.devices.end_flush();
  CHECK(unrecorded(e.profile(), "Op n=2/graph") == 1);
  e.devices.begin_flush(20);
  e.devices.end_flush();
  CHECK(unrecorded(e.profile(), "Op n=2/graph") == 0);
}

// A call that counts in this recording launched something before it, or in a pause.
TEST_CASE("missing_launches.what_a_call_launched_out_of_the_recording_is_missing") {
  engine e;
  scope_token t = begin_op(1);
  e.launch({1});
  e.take_launches();
  e.threads.restart(0);
  e.devices.restart(0, 1 << 24);
  e.launch({2});
  end(t);
  t = begin_op(2);
  const std::uint32_t id = 3;
  e.threads.note_launch(&id, 1, 1, record_kind::ignored_launch);
  end(t);
  e.threads.note_launch(&id, 1, 1, record_kind::ignored_launch);  // in no scope
  e.take_launches();
  e.read({kernel(1), kernel(2), kernel(3)});
  const kprof::profile p = e.profile();
  CHECK(unrecorded(p, "Op n=1") == 1);
  CHECK(unrecorded(p, "Op n=2") == 1);
  CHECK(p.nodes[0].kind == kprof::scope_kind::root);
  CHECK(p.nodes[0].unrecorded == 0);
}

TEST_CASE("missing_launches.threads_that_are_kept_together_keep_theirs") {
  engine e;
  for (std::uint32_t i = 0; i < 80; ++i) std::thread([&] { launch_in(e, 1, 100 + i); }).join();
  e.take_launches();
  CHECK(unrecorded(e.profile(), "Op n=1") == 80);
  for (std::uint32_t i = 0; i < 79; ++i) e.read({kernel(100 + i)});
  CHECK(unrecorded(e.profile(), "Op n=1") == 1);
}
