// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_STEP_MEMBERS_HPP
#define KPROF_REPORT_SAVED_STEP_MEMBERS_HPP

// The members of the program's steps by their names in a saved profile. Included by the writer and
// the reader.

#include <kprof/build_options.hpp>
#include <kprof/profile/stepping.hpp>
#include <kprof/report/saved/members.hpp>

#include <array>
#include <string_view>
#include <tuple>

KPROF_DETAIL_BEGIN
namespace detail {

template <>
inline constexpr auto members_of<thread_steps> = std::tuple{
    saved<&thread_steps::thread>("thread"),      saved<&thread_steps::count>("count"),
    saved<&thread_steps::nested>("nested"),      saved<&thread_steps::total_ns>("total_ns"),
    saved<&thread_steps::min_ns>("min_ns"),      saved<&thread_steps::max_ns>("max_ns"),
    saved<&thread_steps::first_ns>("first_ns"),  saved<&thread_steps::running_ns>("running_ns"),
    saved<&thread_steps::durations>("durations")};

template <>
inline constexpr auto members_of<step_share> =
    std::tuple{saved<&step_share::step>("step"), saved<&step_share::node>("node"),
               saved<&step_share::calls>("calls"), saved<&step_share::total_ns>("total_ns"),
               saved<&step_share::self_ns>("self_ns")};

template <>
inline constexpr auto members_of<kept_step> =
    std::tuple{saved<&kept_step::step>("step"), saved<&kept_step::why>("why")};
template <>
inline constexpr std::array<std::string_view, 3> names_of<kept_as>{"slowest", "median", "latest"};

template <>
inline constexpr auto members_of<stepping> =
    std::tuple{saved<&stepping::region>("region"),
               saved<&stepping::threads>("threads"),
               saved<&stepping::shares>("shares"),
               saved<&stepping::whole_from>("whole_from"),
               saved<&stepping::without_shares>("without_shares"),
               saved<&stepping::kept>("kept")};

}  // namespace detail
KPROF_DETAIL_END

#endif
