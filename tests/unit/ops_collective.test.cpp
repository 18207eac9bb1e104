// SPDX-License-Identifier: MIT
// Collective communication: published vectors, and ring and direct algorithms that count what
// crosses the bus.
#include <kprof/ops/collective.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using kprof_test::moves;
using kprof_test::named;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(AllReduce{.n = 4, .S = 1048576}, 196608, 1572864));
static_assert(costs(AllGather{.n = 8, .S = 1048576}, 0, 917504));
static_assert(costs(ReduceScatter{.n = 2, .S = 4194304}, 524288, 2097152));
static_assert(costs(Broadcast{.n = 16, .S = 1000}, 0, 1000));

static_assert(moves(AllGather{.n = 3, .S = 600}, 0, 400));
static_assert(moves(CollectiveGather{.n = 3, .S = 600}, 0, 400));
static_assert(moves(Broadcast{.n = 3, .S = 600}, 0, 600));
// Down where n does not divide: 2 * 2 / 3 * 100 = 133.3, of which 66.6 are sent; 2/3 of 25
// elements.
static_assert(costs(AllGather{.n = 3, .S = 100}, 0, 66));
static_assert(costs(AllReduce{.n = 1, .S = 600}, 0, 0) && costs(AllReduce{.n = 5, .S = 0}, 0, 0) &&
              costs(Broadcast{.n = 1, .S = 600}, 0, 600));
// Every one by its size: among 3 ranks, with halves among 5, and alone.
template <class Op>
constexpr bool sends(std::uint64_t flops, std::uint64_t bytes, std::uint64_t flops_of_halves,
                     std::uint64_t bytes_of_halves, std::uint64_t bytes_alone) {
  return costs(Op{.n = 3, .S = 1200}, flops, bytes) &&
         costs(Op{.n = 5, .S = 250, .type = dtype::bf16}, flops_of_halves, bytes_of_halves) &&
         costs(Op{.n = 1, .S = 8, .type = dtype::f64}, 0, bytes_alone);
}
static_assert(sends<AllReduce>(200, 1600, 100, 400, 0) &&
              sends<ReduceScatter>(200, 800, 100, 200, 0) && sends<AllGather>(0, 800, 0, 200, 0));
static_assert(sends<AllToAll>(0, 800, 0, 200, 0) && sends<CollectiveGather>(0, 800, 0, 200, 0) &&
              sends<CollectiveScatter>(0, 800, 0, 200, 0));
static_assert(sends<Broadcast>(0, 1200, 0, 250, 8) &&
              sends<CollectiveReduce>(200, 1200, 100, 250, 8) &&
              sends<SendRecv>(0, 1200, 0, 250, 8));

// one rank, one f32
static_assert(costs(Collective{}, 0, 0) && costs(AllReduce{}, 0, 0) && costs(Broadcast{}, 0, 4));
static_assert(AllReduce{.type = dtype::bf16}.arithmetic().type == dtype::bf16 &&
              AllReduce{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return AllReduce{.n = 0}.flops(); }) &&
              !is_constant([] { return AllReduce{.S = -4}.bytes(); }));
// 250 whole elements; 3/4, twice
static_assert(costs(Broadcast{.n = 16, .S = 1001}, 0, 1001));
static_assert(!is_constant([] { return Broadcast{.n = -1}.bytes(); }) &&
              !is_constant([] { return SendRecv{.type = dtype::unknown}.flops(); }));

/// Bytes that rank 0 sends and receives, and the elements that it adds.
struct tally {
  std::uint64_t sent = 0, received = 0, added = 0;
};
/// n-1 steps of a ring in which each rank passes a chunk on.
void ring(tally& t, std::uint64_t n, std::uint64_t chunk, std::uint64_t element, bool adds) {
  for (std::uint64_t step = 1; step < n; ++step) {
    t.sent += chunk;
    t.received += chunk;
    if (adds) t.added += chunk / element;
  }
}

}  // namespace

TEST_CASE("ops_collective.bus_bytes_are_what_one_rank_sends_in_a_ring") {
  kprof_test::random_shape random(43);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t n = random(1, 17), each = 4 * random(0, 500);
    const auto ranks = static_cast<std::uint64_t>(n), chunk = static_cast<std::uint64_t>(each);
    tally scatter, gather;
    ring(scatter, ranks, chunk, 4, true);
    ring(gather, ranks, chunk, 4, false);
    INFO("n " << n << " chunk " << each);
    CHECK(costs(AllReduce{.n = n, .S = n * each}, scatter.added, scatter.sent + gather.sent));
    CHECK(moves(AllReduce{.n = n, .S = n * each}, scatter.sent, gather.received));
    CHECK(costs(ReduceScatter{.n = n, .S = n * each}, scatter.added, scatter.sent));
    CHECK(moves(AllGather{.n = n, .S = n * each}, 0, gather.received));
    CHECK(CollectiveReduce{.n = n, .S = n * each}.flops() == scatter.added);

    tally direct;  // with each of the others
    for (std::int64_t rank = 1; rank < n; ++rank) direct.sent += chunk, direct.received += chunk;
    CHECK(costs(AllToAll{.n = n, .S = n * each}, 0, direct.sent));
    CHECK(moves(CollectiveScatter{.n = n, .S = n * each}, direct.sent, 0));
    CHECK(moves(CollectiveGather{.n = n, .S = n * each}, 0, direct.received));

    // A pipeline of chunks along a chain: all that there is passes each rank but the last.
    std::uint64_t passed = 0;
    for (std::int64_t k = 0; k < n; ++k) passed += chunk;
    CHECK(moves(Broadcast{.n = n, .S = n * each}, 0, passed));
    CHECK(moves(CollectiveReduce{.n = n, .S = n * each}, passed, 0));
    CHECK(moves(SendRecv{.n = n, .S = n * each}, passed, 0));
  }
}

TEST_CASE("ops_collective.shares_round_down") {
  kprof_test::random_shape random(47);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t n = random(1, 100), S = random(0, 100'000);
    const auto expected = static_cast<std::uint64_t>(2 * (n - 1) * S / n),
               half = static_cast<std::uint64_t>((n - 1) * S / n);
    CHECK(costs(AllReduce{.n = n, .S = S, .type = dtype::int8}, half, expected));
    CHECK(costs(AllGather{.n = n, .S = S, .type = dtype::int8}, 0, half));
  }
}

TEST_CASE("ops_collective.operators_have_names_of_their_own") {
  CHECK(named<AllReduce>() == "AllReduce");
  CHECK(named<ReduceScatter>() == "ReduceScatter");
  CHECK(named<AllGather>() == "AllGather");
  CHECK(named<AllToAll>() == "AllToAll");
  CHECK(named<CollectiveGather>() == "CollectiveGather");
  CHECK(named<CollectiveScatter>() == "CollectiveScatter");
  CHECK(named<CollectiveReduce>() == "CollectiveReduce");
  CHECK(named<Broadcast>() == "Broadcast");
  CHECK(named<SendRecv>() == "SendRecv");
}

TEST_CASE("ops_collective.senseless_parameters_are_refused_and_do_not_trap") {
  for (int k = 0; k <= static_cast<int>(collective::send_recv); ++k) {
    const auto kind = static_cast<collective>(k);
    for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}, std::int64_t{0}, most})
      CHECK(is_refused(Collective{.kind = kind, .n = bad}));
    for (const std::int64_t bad : {least, least + 1, std::int64_t{-4}})
      CHECK(is_refused(Collective{.kind = kind, .S = bad}));
    // odd sizes, and no overflow
    const Collective large{.kind = kind, .n = 0x3FFF'FFFF, .S = most, .type = dtype::int8};
    CHECK(large.flops().valid());
    CHECK(large.bytes().total().valid());
    CHECK(is_refused(Collective{.kind = kind, .type = dtype::unknown}));
    // 8 S does not fit, twice S does
    const Collective packed{.kind = kind, .n = 0x3FFF'FFFF, .S = most, .type = dtype::uint4};
    CHECK(packed.flops().valid());
  }
  CHECK(is_refused(Collective{.kind = static_cast<collective>(77)}));
}
