// SPDX-License-Identifier: MIT
#ifndef KPROF_ADVICE_HPP
#define KPROF_ADVICE_HPP

// What to do first to make a run faster. Include it to ask for advice in a program, or to add rules
// of your own to those of kprof (docs/advice.md):
//
//   bool single_lookups(const kprof::advice_facts& of, std::size_t i, kprof::advice& out) {
//     const kprof::operator_row& row = of.rows[i];
//     if (row.name != "Lookup" || row.calls < 1000) return false;
//     out.fact = kprof::sentence("looks up one key in each of # calls",
//                                {kprof::as_number(row.calls)});
//     out.action = "Look up a batch of keys in one call";
//     out.gain_ns = 0.9 * row.total_ns;
//     return true;
//   }
//   constexpr kprof::advice_rule rule{"MY1", kprof::advice_about::calls,
//                                     kprof::advice_cause::work, 0.05, &single_lookups};
//   [[gnu::init_priority(101)]] const kprof::advice_registration known{rule};
//
// Rules are known to the binary that registers them, like outputs.

#include <kprof/build_options.hpp>
#include <kprof/model/advice/advise.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>

#endif
