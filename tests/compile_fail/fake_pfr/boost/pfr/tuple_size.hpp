// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FAKE_PFR_HPP
#define KPROF_TESTS_FAKE_PFR_HPP

// A Boost.PFR that miscounts.

namespace boost::pfr {
template <class T>
inline constexpr decltype(sizeof(0)) tuple_size_v = 2;
}  // namespace boost::pfr

#endif
