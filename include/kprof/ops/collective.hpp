// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_COLLECTIVE_HPP
#define KPROF_OPS_COLLECTIVE_HPP

// Collective communication among n ranks. Bytes are the bus bytes of one rank, the size times the
// factor by which nccl-tests turns algorithm bandwidth into bus bandwidth (doc/PERFORMANCE.md);
// FLOPs are the additions of one rank. Both round down where n does not divide. S is the "size" of
// nccl-tests: the buffer, or the whole array, count per rank x n, of all_gather, reduce_scatter,
// all_to_all, gather and scatter. Bus bytes count each byte on the wire once: where a rank both
// sends and receives them, they are read, unless all that the operator does is to receive.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

enum class collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  gather,
  scatter,
  broadcast,
  reduce,
  send_recv
};

}  // namespace ops

namespace ops::detail {

constexpr const char* name_of(collective kind) noexcept {
  switch (kind) {
    case collective::all_reduce: return "AllReduce";
    case collective::reduce_scatter: return "ReduceScatter";
    case collective::all_gather: return "AllGather";
    case collective::all_to_all: return "AllToAll";
    case collective::gather: return "CollectiveGather";
    case collective::scatter: return "CollectiveScatter";
    case collective::broadcast: return "Broadcast";
    case collective::reduce: return "CollectiveReduce";
    case collective::send_recv: return "SendRecv";
  }
  return "Collective";
}

/// Floor of x times / n without an overflow on the way, where the result, times n and n n fit.
constexpr count share(count x, count times, count n) noexcept {
  return x / n * times + (x - x / n * n) * times / n;
}

}  // namespace ops::detail

namespace ops {

/// A collective of any kind.
/// FLOPs(all_reduce, reduce_scatter, reduce): floor((n - 1) elements / n)
/// FLOPs: 0
/// read(all_reduce, reduce_scatter, all_to_all, scatter): share
/// read(reduce, send_recv): S
/// read: 0
/// written(all_reduce): floor(2 (n - 1) S / n) - share
/// written(all_gather, gather): share
/// written(broadcast): S
/// written: 0
/// where: share = floor((n - 1) S / n)
/// where: elements = floor(8 S / bits(type))
/// source: nccl-tests doc/PERFORMANCE.md, and its src/*.cu for gather, scatter and send_recv
/// others: DeepSpeed takes the factor 1 for gather and scatter; XLA counts one addition for each
///   element of all_reduce, as of 2 ranks
/// others: nccl-tests rounds the count per rank down to 16 bytes where S is the whole array
struct Collective {
  collective kind = collective::all_reduce;  ///< which of them
  extent n = 1;                              ///< ranks
  extent S = 4;                              ///< size in bytes
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::positive(n) && detail::extents(n) && detail::not_negative(S) &&
           kind <= collective::send_recv && detail::known(type);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const bool adds = kind == collective::all_reduce || kind == collective::reduce_scatter ||
                      kind == collective::reduce;
    const count elements = detail::share(S, 8, bits_of(type));  // whole ones
    return adds ? detail::share(elements, n - 1, n) : count{0};
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count others = detail::share(S, n - 1, n);
    switch (kind) {
      case collective::all_reduce:
        return {.read = others, .written = detail::share(S, 2 * (count{n} - 1), n) - others};
      case collective::reduce_scatter:
      case collective::all_to_all:
      case collective::scatter: return {.read = others, .written = 0};
      case collective::all_gather:
      case collective::gather: return {.read = 0, .written = others};
      case collective::broadcast: return {.read = 0, .written = S};
      default: return {.read = S, .written = 0};
    }
  }
  constexpr void brief(brief_text& out) const {
    detail::memory(out, S).item(n).put(" ranks");
    detail::name_in(out.item(""), "kind", kind);
  }
};

/// Collective under its own name. Three have a longer one, since Gather, Scatter and Reduce are
/// operators of one device.
/// like: Collective, kind = Kind
template <collective Kind>
struct named_collective {
  static constexpr const char* name = detail::name_of(Kind);

  extent n = 1;
  extent S = 4;
  dtype type = dtype::f32;

  constexpr Collective general() const { return {.kind = Kind, .n = n, .S = S, .type = type}; }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops() const { return general().flops(); }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const { detail::memory(out, S).item(n).put(" ranks"); }
};
using AllReduce = named_collective<collective::all_reduce>;
using ReduceScatter = named_collective<collective::reduce_scatter>;
using AllGather = named_collective<collective::all_gather>;
using AllToAll = named_collective<collective::all_to_all>;
using CollectiveGather = named_collective<collective::gather>;
using CollectiveScatter = named_collective<collective::scatter>;
using Broadcast = named_collective<collective::broadcast>;
using CollectiveReduce = named_collective<collective::reduce>;
using SendRecv = named_collective<collective::send_recv>;

}  // namespace ops
KPROF_DETAIL_END

#endif
