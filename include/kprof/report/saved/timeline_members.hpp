// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_TIMELINE_MEMBERS_HPP
#define KPROF_REPORT_SAVED_TIMELINE_MEMBERS_HPP

// The members of the devices' timeline, of steps and of links between calls by their names in a
// saved profile. Included by write_profile.hpp and read_profile.hpp, for which members.hpp has all
// others.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/device_timeline.hpp>
#include <kprof/report/saved/members.hpp>

#include <array>
#include <string_view>
#include <tuple>

KPROF_DETAIL_BEGIN
namespace detail {

template <>
inline constexpr auto members_of<device_item> =
    std::tuple{saved<&device_item::work>("work"),
               saved<&device_item::stream>("stream"),
               saved<&device_item::thread>("thread"),
               saved<&device_item::correlation>("correlation"),
               saved<&device_item::start>("start"),
               saved<&device_item::end>("end"),
               saved<&device_item::call_begin>("call_begin"),
               saved<&device_item::call_end>("call_end"),
               saved<&device_item::bytes>("bytes"),
               saved<&device_item::graph>("graph")};

template <>
inline constexpr auto members_of<host_call> =
    std::tuple{saved<&host_call::name>("name"),           saved<&host_call::thread>("thread"),
               saved<&host_call::scope>("scope"),         saved<&host_call::kind>("kind"),
               saved<&host_call::waits_for>("waits_for"), saved<&host_call::device>("device"),
               saved<&host_call::stream>("stream"),       saved<&host_call::event>("event"),
               saved<&host_call::begin>("begin"),         saved<&host_call::end>("end")};

template <>
inline constexpr auto members_of<host_call_sum> = std::tuple{
    saved<&host_call_sum::name>("name"),          saved<&host_call_sum::scope>("scope"),
    saved<&host_call_sum::kind>("kind"),          saved<&host_call_sum::calls>("calls"),
    saved<&host_call_sum::total_ns>("total_ns"),  saved<&host_call_sum::max_ns>("max_ns"),
    saved<&host_call_sum::waited_ns>("waited_ns")};

template <>
inline constexpr auto members_of<timeline_window> =
    std::tuple{saved<&timeline_window::begin>("begin"), saved<&timeline_window::end>("end")};

template <>
inline constexpr auto members_of<device_timeline> =
    std::tuple{saved<&device_timeline::items>("items"), saved<&device_timeline::calls>("calls"),
               saved<&device_timeline::windows>("windows"),
               saved<&device_timeline::dropped_items>("dropped_items"),
               saved<&device_timeline::dropped_calls>("dropped_calls")};

template <>
inline constexpr auto members_of<step_mark> =
    std::tuple{saved<&step_mark::index>("index"), saved<&step_mark::thread>("thread"),
               saved<&step_mark::counts>("counts"), saved<&step_mark::begin>("begin"),
               saved<&step_mark::end>("end")};

template <>
inline constexpr auto members_of<call_link> =
    std::tuple{saved<&call_link::call>("call"), saved<&call_link::of>("of")};

template <>
inline constexpr std::array<std::string_view, 9> names_of<call_kind>{
    "other",    "launch", "copy",         "set",        "synchronize",
    "allocate", "free",   "event_record", "stream_wait"};
template <>
inline constexpr std::array<std::string_view, 4> names_of<awaited>{"nothing", "device", "stream",
                                                                   "event"};

}  // namespace detail
KPROF_DETAIL_END

#endif
