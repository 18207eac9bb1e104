// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_INDEXING_HPP
#define KPROF_OPS_INDEXING_HPP

// Operators that go through indices: embeddings, gathers, scatters, selection by a mask. Only what
// is touched counts, and indices are taken to be distinct, as XLA and PyProf's embedding have it:
// of a table only as many rows are read as there are indices.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// y[tokens,D] = weight[index[tokens],:]. bprop adds dy to the rows of a dense gradient, which it
/// reads and writes; clearing the gradient is a Fill.
/// FLOPs(fprop): 0
/// FLOPs(bprop): tokens D
/// read(fprop): index + y
/// read(bprop): index + 2 y
/// written: y
/// parameters: V D
/// where: index = bytes(tokens, dtypeIndex)
/// where: y = bytes(tokens D, type)
/// source: PyProf embedding.py for fprop, XLA hlo_cost_analysis.cc for the scatter of bprop
/// others: PyProf counts no FLOPs in bprop, and does not read the indices there
struct Embedding {
  extent tokens = 1;  ///< indices, of all sequences together
  extent D = 1;       ///< elements of a row
  extent V = 0;       ///< rows of the table, for parameters() alone; 0: not said
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int64;  ///< of the indices

  constexpr bool valid() const {
    return detail::not_negative(tokens, D, V) && detail::known(type) &&
           detail::is_index(dtypeIndex) && detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return pass == ops::pass::bprop ? count{tokens} * D : count{0};
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (D == 0) return {};
    const count rows = bytes_for(count{tokens} * D, type), index = bytes_for(tokens, dtypeIndex);
    return {.read = index + rows + (pass == ops::pass::bprop ? rows : 0), .written = rows};
  }
  constexpr count parameters() const { return count{V} * D; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, tokens, D);
    if (V != 0) out.item("of ").put(V);
  }
};

}  // namespace ops

namespace ops::detail {

/// What gathers and scatters share: n indices, each of `slice` elements, which are read `reads`
/// times and written once.
struct indexed {
  extent n, slice;
  dtype type, dtypeIndex;

  constexpr bool valid() const {
    return not_negative(n, slice) && known(type) && is_index(dtypeIndex);
  }
  constexpr count numel() const { return sensible(valid()) ? count{n} * slice : count::invalid(); }
  constexpr traffic bytes(int reads) const {
    const count moved = numel();
    if (!moved.valid()) return invalid_traffic;
    if (moved == 0) return {};
    return {.read = bytes_for(n, dtypeIndex) + bytes_for(moved, type) * reads,
            .written = bytes_for(moved, type)};
  }
};

}  // namespace ops::detail

namespace ops {

/// y[n,slice] = x[index[n],:]. Of x the elements are read that the indices name. PyTorch's take and
/// gather have a slice of one element, index_select along a dimension one of all the others.
/// FLOPs: 0
/// read: bytes(n, dtypeIndex) + bytes(n slice, type)
/// written: bytes(n slice, type)
/// source: XLA hlo_cost_analysis.cc, PyProf index_slice_join_mutate.py for index_select
/// others: PyProf counts a gather as twice the whole of x, without indices
struct Gather {
  extent n = 1;      ///< indices
  extent slice = 1;  ///< elements for each of them
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int64;

  constexpr bool valid() const { return indexed().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return indexed().numel() * 0; }
  constexpr traffic bytes() const { return indexed().bytes(1); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n, slice); }

 private:
  constexpr detail::indexed indexed() const { return {n, slice, type, dtypeIndex}; }
};

/// Gather of rows: [1000,64] along dimension 0 by 100 indices is n = 100, slice = 64.
/// like: Gather
struct IndexSelect {
  extent n = 1;      ///< indices
  extent slice = 1;  ///< elements for each of them
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int64;

  constexpr Gather gather() const {
    return {.n = n, .slice = slice, .type = type, .dtypeIndex = dtypeIndex};
  }
  constexpr bool valid() const { return gather().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return gather().arithmetic(); }
  constexpr count flops() const { return gather().flops(); }
  constexpr traffic bytes() const { return gather().bytes(); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n, slice); }
};

/// y[index[n],:] = x[n,slice]. The other elements of y are not touched.
/// FLOPs: 0
/// read: bytes(n, dtypeIndex) + bytes(n slice, type)
/// written: bytes(n slice, type)
/// source: ScatterAdd's, less the elements of y that are read
/// others: XLA reads these here too
struct Scatter {
  extent n = 1;      ///< indices
  extent slice = 1;  ///< elements for each of them
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int64;

  constexpr bool valid() const { return indexed().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return indexed().numel() * 0; }
  constexpr traffic bytes() const { return indexed().bytes(1); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n, slice); }

 private:
  constexpr detail::indexed indexed() const { return {n, slice, type, dtypeIndex}; }
};

/// y[index[n],:] += x[n,slice]. Of y the elements are read and written that the indices name.
/// FLOPs: n slice
/// read: bytes(n, dtypeIndex) + 2 bytes(n slice, type)
/// written: bytes(n slice, type)
/// source: XLA hlo_cost_analysis.cc
struct ScatterAdd {
  extent n = 1;      ///< indices
  extent slice = 1;  ///< elements for each of them
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int64;

  constexpr bool valid() const { return indexed().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return indexed().numel(); }
  constexpr traffic bytes() const { return indexed().bytes(2); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n, slice); }

 private:
  constexpr detail::indexed indexed() const { return {n, slice, type, dtypeIndex}; }
};

/// The elements of x[numel] where mask[numel] is set. Of x only those are read.
/// FLOPs: 0
/// read: bytes(numel, dtypeMask) + y
/// written: y
/// where: y = bytes([selected = -1] numel + [selected != -1] selected, type)
/// source: PyProf index_slice_join_mutate.py, whose elements are all selected
struct MaskedSelect {
  static constexpr std::int64_t as_many_as_there_are = -1;

  extent numel = 1;                        ///< of x and of the mask
  extent selected = as_many_as_there_are;  ///< set in the mask; known to the device alone,
                                           ///< as a rule: -1 is the most there can be
  dtype type = dtype::f32;
  dtype dtypeMask = dtype::boolean;  ///< of the mask

  constexpr bool valid() const {
    return detail::not_negative(numel) && selected >= as_many_as_there_are && selected <= numel &&
           detail::known(type, dtypeMask);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{0} : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count y = bytes_for(selected == as_many_as_there_are ? numel : selected, type);
    return {.read = y + bytes_for(numel, dtypeMask), .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    if (selected != as_many_as_there_are) out.to(selected);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
