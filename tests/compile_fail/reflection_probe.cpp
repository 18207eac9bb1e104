// SPDX-License-Identifier: MIT
// A Boost.PFR that cannot count with this compiler is reported, not believed.
// bad-flags: -isystem fake_pfr
// expect: kprof: Boost.PFR miscounts the fields of a known struct with this compiler
#include <kprof/op.hpp>
