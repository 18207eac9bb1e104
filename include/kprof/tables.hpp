// SPDX-License-Identifier: MIT
#ifndef KPROF_TABLES_HPP
#define KPROF_TABLES_HPP

// The tables that a profile adds up to, as values: operators, call tree, kernels, copies,
// steps. Include it to use the numbers of a run in a program. Pure: no I/O, no clock.
//
//   for (const kprof::operator_row& row : kprof::operator_table(kprof::snapshot()))
//     use(row.name, row.flops_per_s);

#include <kprof/model/check_grouping.hpp>
#include <kprof/model/copy_table.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/metrics.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/tree_folding.hpp>

#endif
