// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_ATTENTION_HPP
#define KPROF_OPS_ATTENTION_HPP

// Attention: of whole sequences, of one new token against a cache, with a latent cache, and rotary
// embedding. FLOPs are those of the products alone; softmax, scale, mask and dropout are not
// counted. They go by the heads of the queries, bytes of K and V by their own. Tensors:
// q[B,Sq,Hq,D], k[B,Sk,Hkv,D], v[B,Sk,Hkv,Dv], o[B,Sq,Hq,Dv], logsumexp[B,Hq,Sq] in f32.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Which keys a query sees; query i stands at i + Sk - Sq. causal: those up to its own.
/// sliding_window, and none where a window is given: from window_left before it to window_right
/// behind it.
enum class attention_mask : std::uint8_t { none, causal, sliding_window };

/// What bprop has: flash recomputes the scores (5 products), stored_P reads the probabilities that
/// fprop kept (4 products).
enum class attention_backward : std::uint8_t { flash, stored_P };

}  // namespace ops

namespace ops::detail {

constexpr std::int64_t clamped(std::int64_t x, std::int64_t low, std::int64_t high) noexcept {
  return x < low ? low : x > high ? high : x;
}

/// The sum over i = 0 ... n-1 of i + from, each held between 0 and `limit`. All of them are
/// extents, `from` of either sign.
constexpr std::int64_t sum_of_ramp(std::int64_t n, std::int64_t from, std::int64_t limit) noexcept {
  const std::int64_t begin = clamped(-from, 0, n), end = clamped(limit - from, begin, n);
  const std::int64_t rising = end - begin;
  return rising * (begin + from) + rising * (rising - 1) / 2 + (n - end) * limit;
}

/// Heads of queries share heads of keys evenly.
constexpr bool heads_fit(std::int64_t Hq, std::int64_t Hkv) noexcept {
  return positive(Hq, Hkv) && Hq % Hkv == 0;
}
constexpr std::int64_t given_or(std::int64_t size, std::int64_t otherwise) noexcept {
  return size == 0 ? otherwise : size;
}

}  // namespace ops::detail

namespace ops {

/// o = softmax(q k^T) v. Hkv = Hq is multi-head, 1 multi-query, what lies between grouped-query
/// attention.
///
/// Products count for the entries of the score matrix that the mask leaves, `pairs`: of a causal
/// mask by FlashAttention 3's average, which is the half where Sq = Sk; flops_exact() counts them
/// one by one. K and V count in full, whatever the mask. bprop reads q, k, v, o, do and the
/// logsumexp and writes dq, dk, dv.
/// FLOPs(fprop): 2 B Hq pairs (D + value_size)
/// FLOPs(bprop): 2 B Hq pairs ((2 + [backward = flash]) D + 2 value_size)
/// flops_exact(fprop): 2 B Hq exact_pairs (D + value_size)
/// flops_exact(bprop): 2 B Hq exact_pairs ((2 + [backward = flash]) D + 2 value_size)
/// read(fprop): q + k + v
/// read(bprop): q + k + v + 2 o + logsumexp
/// written(fprop): o + [lse] logsumexp
/// written(bprop): q + k + v
/// where: pairs = [mask = causal] Sq (max(0, Sk - Sq) + Sk) / 2 + [mask != causal] exact_pairs
/// where: exact_pairs = [mask = causal] sum(i < Sq: max(0, place + 1)) + [mask != causal] sum(i <
///   Sq: max(0, end - begin))
/// where: place = i + Sk - Sq
/// where: begin = [window_left != -1] max(0, place - window_left)
/// where: end = [window_right = -1] Sk + [window_right != -1] min(Sk, place + window_right + 1)
/// where: q = bytes(B Hq Sq D, type)
/// where: k = bytes(B kv_heads Sk D, type)
/// where: v = bytes(B kv_heads Sk value_size, type)
/// where: o = bytes(B Hq Sq value_size, type)
/// where: logsumexp = 4 B Hq Sq
/// where: kv_heads = Hkv or Hq
/// where: value_size = Dv or D
/// source: FlashAttention hopper/benchmark_attn.py, Megatron, Triton's tutorial 06
/// others: PyTorch, DeepSpeed and most of NeMo's formulas do not halve causal attention, xformers
///   does whatever Sq and Sk are
/// others: PyTorch knew no grouped queries before PR #177188
/// others: CUTLASS's example 41 counts exact_pairs, and adds to each 3 for the softmax and Dv for
///   the division
/// others: FlashAttention's bench_utils reads neither o nor logsumexp in bprop
struct Sdpa {
  static constexpr std::int64_t unlimited = -1;

  extent B = 1;            ///< sequences
  extent Hq = 1, Hkv = 0;  ///< heads of queries; heads of keys and values, 0: as Hq
  extent Sq = 1, Sk = 1;   ///< queries of a sequence; keys of a sequence
  extent D = 64, Dv = 0;   ///< elements of a head of queries and keys; of a head of values,
                           ///< 0: as D
  attention_mask mask = attention_mask::none;  ///< causal: query i sees keys up to its place, i +
                                               ///< Sk - Sq; none, sliding_window: those about it,
                                               ///< or all
  extent window_left = unlimited, window_right = unlimited;  ///< keys seen before a query's
                                                             ///< place, -1: all; keys seen
                                                             ///< behind it, -1: all
  bool lse = false;                                          ///< fprop writes the logsumexp
  ops::pass pass = ops::pass::fprop;
  attention_backward backward = attention_backward::flash;  ///< of bprop: flash computes the
                                                            ///< scores again, stored_P does not
  dtype type = dtype::f16;

  constexpr std::int64_t kv_heads() const { return detail::given_or(Hkv, Hq); }
  constexpr std::int64_t value_size() const { return detail::given_or(Dv, D); }
  constexpr bool valid() const {
    return detail::not_negative(B) && detail::extents(Sq, Sk) &&
           detail::positive(D, value_size()) && detail::heads_fit(Hq, kv_heads()) &&
           detail::real(type) && mask <= attention_mask::sliding_window &&
           window_left >= unlimited && window_right >= unlimited &&
           (mask != attention_mask::causal ||
            (window_left == unlimited && window_right == unlimited)) &&
           detail::is_fprop_or_bprop(pass) && backward <= attention_backward::stored_P;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    if (mask != attention_mask::causal) return products() * pairs() * 2;
    // twice the pairs, of which there may be half a one
    return products() * Sq * ((Sk > Sq ? Sk - Sq : 0) + Sk);
  }
  /// Of the entries that the mask leaves, one by one.
  constexpr count flops_exact() const {
    return detail::sensible(valid()) ? products() * pairs() * 2 : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count queries = count{B} * Hq * Sq, keys = count{B} * kv_heads() * Sk;
    const count q = bytes_for(queries * D, type), k = bytes_for(keys * D, type);
    const count o = bytes_for(queries * value_size(), type),
                v = bytes_for(keys * value_size(), type);
    const count logsumexp = bytes_for(queries, dtype::f32);
    // then nothing is read, and what there is to write is zeros
    const bool empty = queries == 0 || keys == 0;
    if (pass == ops::pass::bprop)
      return {.read = empty ? count{0} : q + k + v + o + o + logsumexp, .written = q + k + v};
    return {.read = empty ? count{0} : q + k + v, .written = o + (lse ? logsumexp : 0)};
  }
  /// Bytes of the matrix of probabilities, which only implementations without flash attention put
  /// into memory: they write it in fprop and read it in bprop. Not part of bytes().
  constexpr count stored_P_bytes() const {
    return detail::sensible(valid()) ? bytes_for(count{B} * Hq * Sq * Sk, type) : count::invalid();
  }
  constexpr void brief(brief_text& out) const {
    detail::heads(out, *this);
    if (Sq == Sk) out.named("S", Sq);
    else out.named("Sq", Sq).named("Sk", Sk);
    detail::head_sizes(out, *this);
    if (mask != attention_mask::none) detail::name_in(out.word(""), "mask", mask);
    if (window_left != unlimited) out.named("left", window_left);
    if (window_right != unlimited) out.named("right", window_right);
    if (lse && detail::is_forward(pass)) out.word("lse");
    if (pass == ops::pass::bprop && backward == attention_backward::stored_P) out.word("stored P");
  }
  constexpr bool shows(field_name field) const {
    if (field == "backward") return pass == ops::pass::bprop;
    if (field == "lse") return detail::is_forward(pass);
    return mask != attention_mask::causal || !(field == "window_left" || field == "window_right");
  }

 private:
  /// Multiply-adds for each entry of the scores, over all heads.
  constexpr count products() const {
    const count d = D, dv = value_size();
    if (detail::is_forward(pass)) return (d + dv) * B * Hq;
    return ((backward == attention_backward::flash ? 3 : 2) * d + 2 * dv) * B * Hq;
  }
  /// Entries of one head's scores that the mask leaves.
  constexpr std::int64_t pairs() const {
    const std::int64_t left =
                           mask == attention_mask::causal ? unlimited : std::int64_t{window_left},
                       right = mask == attention_mask::causal ? 0 : std::int64_t{window_right};
    const std::int64_t all = detail::max_extent, first = Sk - Sq;
    const std::int64_t up_to =
        right == unlimited
            ? Sq * Sk
            : detail::sum_of_ramp(Sq, first + detail::clamped(right, 0, all) + 1, Sk);
    return up_to - (left == unlimited
                        ? 0
                        : detail::sum_of_ramp(Sq, first - detail::clamped(left, 0, all), Sk));
  }
};

/// One new token for each of B sequences against its cache of keys and values. Paged: reads a table
/// of int32 too, one entry for each page of each sequence; of a page that is not full only the
/// tokens in it count.
/// FLOPs: 2 B Hq Sk (D + value_size)
/// read: q + keys + values + table
/// written: o + [append] (bytes(B kv_heads D, dtypeKV or type) + bytes(B kv_heads value_size,
///   dtypeKV or type))
/// where: q = bytes(B Hq D, type)
/// where: o = bytes(B Hq value_size, type)
/// where: keys = bytes(B kv_heads Sk D, dtypeKV or type)
/// where: values = bytes(B kv_heads Sk value_size, dtypeKV or type)
/// where: table = [page_size != 0] 4 B ceil(Sk / page_size)
/// where: kv_heads = Hkv or Hq
/// where: value_size = Dv or D
/// source: Sdpa's, of one query
struct DecodeAttention {
  extent B = 1;
  extent Hq = 1, Hkv = 0;          ///< heads of queries; heads of keys and values, 0: as Hq
  extent Sk = 1;                   ///< tokens in a sequence's cache, the new one among them
  extent D = 64, Dv = 0;           ///< elements of a head of queries and keys; of a head of values,
                                   ///< 0: as D
  bool append = false;             ///< the new key and value are written to the cache
  extent page_size = 0;            ///< in tokens; 0: the cache is not paged
  dtype type = dtype::f16;         ///< of q and o
  dtype dtypeKV = dtype::unknown;  ///< of the caches; unknown: as `type`

  constexpr std::int64_t kv_heads() const { return detail::given_or(Hkv, Hq); }
  constexpr std::int64_t value_size() const { return detail::given_or(Dv, D); }
  constexpr bool valid() const {
    return detail::not_negative(B, Sk, page_size) && detail::positive(D, value_size()) &&
           detail::heads_fit(Hq, kv_heads()) && detail::real(type) &&
           // the new token is in the cache
           detail::known_or_left_out(dtypeKV) && !(append && Sk == 0);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * B * Hq * Sk * (count{D} + value_size())
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const dtype cached = detail::type_or(dtypeKV, type);
    const count heads = count{B} * kv_heads();
    const count cache =
        bytes_for(heads * Sk * D, cached) + bytes_for(heads * Sk * value_size(), cached);
    const count added =
        append ? bytes_for(heads * D, cached) + bytes_for(heads * value_size(), cached) : 0;
    const count table =
        page_size == 0 ? 0 : bytes_for(count{B} * detail::ceil_div(Sk, page_size), dtype::int32);
    const count q = bytes_for(count{B} * Hq * D, type),
                o = bytes_for(count{B} * Hq * value_size(), type);
    return {.read = Sk == 0 ? count{0} : q + cache + table, .written = o + added};
  }
  constexpr void brief(brief_text& out) const {
    detail::heads(out, *this);
    out.named("S", Sk);
    detail::head_sizes(out, *this);
    if (append) out.word("append");
    if (page_size != 0) out.named("page", page_size);
    detail::types(out, *this);
  }
};

using DecodeAttn = DecodeAttention;

/// Decoding with DeepSeek's latent cache, weights absorbed: one head of keys, of L latent and R
/// rotary elements, whose latent part is also the value: q[B,H,L+R], cache[B,Sk,L+R], o[B,H,L].
/// Pages as of DecodeAttention.
/// FLOPs: 2 B H Sk (2 L + R)
/// read: bytes(B H (L + R), type) + bytes(B Sk (L + R), type) + table
/// written: bytes(B H L, type) + [append] bytes(B (L + R), type)
/// where: table = [page_size != 0] 4 B ceil(Sk / page_size)
/// source: CUTLASS example 77
struct MlaDecode {
  extent B = 1, H = 128;   ///< sequences; heads of queries
  extent Sk = 1;           ///< tokens in a sequence's cache, the new one among them
  extent L = 512, R = 64;  ///< latent elements of a token; rotary elements of a token
  bool append = false;     ///< the new token is written to the cache
  extent page_size = 0;    ///< in tokens; 0: the cache is not paged
  dtype type = dtype::bf16;

  constexpr bool valid() const {
    return detail::not_negative(B, Sk, R, page_size) && detail::positive(H, L) &&
           detail::real(type) && !(append && Sk == 0);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * B * H * Sk * (2 * count{L} + R)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count width = count{L} + R;
    const count q = bytes_for(count{B} * H * width, type),
                cache = bytes_for(count{B} * Sk * width, type),
                o = bytes_for(count{B} * H * L, type);
    const count table =
        page_size == 0 ? 0 : bytes_for(count{B} * detail::ceil_div(Sk, page_size), dtype::int32);
    return {.read = Sk == 0 ? count{0} : q + cache + table,
            .written = o + (append ? bytes_for(count{B} * width, type) : 0)};
  }
  constexpr void brief(brief_text& out) const {
    out.named("B", B).named("H", H).named("S", Sk).named("L", L).named("R", R);
    if (append) out.word("append");
    if (page_size != 0) out.named("page", page_size);
  }
};

/// Rotary position embedding of x[B,S,H,D] by a table of S x D sines and cosines. Backward is the
/// same rotation the other way.
/// FLOPs: 3 B S H D
/// read: bytes(B S H D, type) + bytes(S D, dtypeTable)
/// written: bytes(B S H D, type)
/// source: the rotation's primitives, 4 products and 2 sums for each pair of elements
struct Rope {
  extent B = 1, S = 1;  ///< sequences; tokens of a sequence
  extent H = 1;         ///< heads, those of queries and keys together where one call rotates both
  extent D = 64;        ///< elements of a head that are rotated; even
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f16;
  dtype dtypeTable = dtype::f32;  ///< of sines and cosines

  constexpr bool valid() const {
    return detail::not_negative(B, S, H, D) && D % 2 == 0 && detail::known(type, dtypeTable) &&
           detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{3} * B * S * H * D : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count n = count{B} * S * H * D, x = bytes_for(n, type);
    if (n == 0) return {};
    return {.read = x + bytes_for(count{S} * D, dtypeTable), .written = x};
  }
  constexpr void brief(brief_text& out) const {
    out.named("B", B).named("H", H).named("S", S).named("D", D);
    detail::types(out, *this);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
