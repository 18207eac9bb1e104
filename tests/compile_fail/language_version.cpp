// SPDX-License-Identifier: MIT
// bad-flags: -std=c++17
// expect: kprof: C++20 is needed; compile with -std=c++20 or newer
#include <kprof/build_options.hpp>
