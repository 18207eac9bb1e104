#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts kprof's guards into a copy of HPCG's sources, for record.sh.

    annotate_hpcg.py <folder src of HPCG>

Each line of GUARDS goes behind the opening brace of its function. Nothing else changes.
"""

import pathlib
import re
import sys

OPERATORS = """\
#ifndef HPCG_KPROF_OPERATORS_HPP
#define HPCG_KPROF_OPERATORS_HPP
#include <kprof/guard.hpp>
#include <kprof/ops/blas.hpp>
#include <kprof/ops/sparse.hpp>
#include <string>
/// A sweep forwards and one backwards; HPCG counts 4 FLOPs for each stored element.
struct SymGaussSeidel {
  std::int64_t rows = 0, nnz = 0;
  constexpr kprof::count flops() const { return kprof::count{4} * nnz; }
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{24} * nnz + kprof::count{24} * rows,
            .written = kprof::count{16} * rows};
  }
};
/// w = alpha x + beta y, of which alpha or beta is 1 in all of its calls.
struct Waxpby {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{16} * n, .written = kprof::count{8} * n};
  }
};
struct Restrict {
  std::int64_t coarse = 0;
  constexpr kprof::count flops() const { return coarse; }
};
struct Prolong {
  std::int64_t coarse = 0;
  constexpr kprof::count flops() const { return coarse; }
};
#endif
"""
GUARDS = {
    "ComputeSPMV_ref": "KPROF_OP(kprof::ops::SpmvCsr, {.M = A.localNumberOfRows,"
    " .N = A.localNumberOfColumns, .nnz = A.localNumberOfNonzeros, .type = kprof::dtype::f64});",
    "ComputeSYMGS_ref": "KPROF_OP(SymGaussSeidel, {.rows = A.localNumberOfRows,"
    " .nnz = A.localNumberOfNonzeros});",
    "ComputeDotProduct_ref": "KPROF_OP(kprof::ops::Dot, {.n = n, .type = kprof::dtype::f64});",
    "ComputeWAXPBY_ref": "KPROF_OP(Waxpby, {.n = n});",
    "ComputeRestriction_ref": "KPROF_OP(Restrict, {.coarse = A.mgData->rc->localLength});",
    "ComputeProlongation_ref": "KPROF_OP(Prolong, {.coarse = Af.mgData->rc->localLength});",
    "ComputeMG_ref": 'KPROF_REGION("multigrid " + std::to_string(A.geom->nx) + "^3");',
    "CG": 'KPROF_REGION("CG");',
    "CG_ref": 'KPROF_REGION("reference CG");',
    "TestCG": 'KPROF_REGION("test CG");',
    "TestSymmetry": 'KPROF_REGION("test symmetry");',
    "GenerateProblem_ref": 'KPROF_REGION("generate problem");',
    "SetupHalo_ref": 'KPROF_REGION("set up halo");',
}


def main():
    source = pathlib.Path(sys.argv[1])
    (source / "kprof_operators.hpp").write_text(OPERATORS)
    for function, guard in GUARDS.items():
        path = source / f"{function}.cpp"
        text, found = re.subn(
            rf"^((?:int|void) {function}\s*\([^)]*\)\s*\{{)", rf"\1\n  {guard}", path.read_text(),
            count=1, flags=re.MULTILINE,
        )
        if found != 1:
            sys.exit(f"{path}: no function {function}; this is for HPCG 3.1")
        path.write_text('#include "kprof_operators.hpp"\n' + text)


main()
