// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_METRICS_HPP
#define KPROF_MODEL_METRICS_HPP

// The numbers of an operator row, a line each: what reports, files and pages print is declared here
// once. Included by the outputs. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/metric.hpp>
#include <kprof/model/operator_row.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

KPROF_DETAIL_BEGIN

namespace detail {

template <auto Member>
figure metric_value(const operator_row& row) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row.*Member)>, figure>)
    return row.*Member;
  else return {static_cast<double>(row.*Member)};
}
inline figure all_calls(const operator_row& row) {
  return {static_cast<double>(row.calls + row.replays)};
}
/// Of what is not recorded for single steps.
template <auto Member>
figure beyond_steps(const operator_row& row) {
  return row.of_step ? figure{0, absence::not_by_step} : metric_value<Member>(row);
}
/// Of what devices did.
template <auto Member>
figure device_value(const operator_row& row) {
  return row.knows_device_of_step ? metric_value<Member>(row) : beyond_steps<Member>(row);
}
template <auto Member>
figure verdict_value(const operator_row& row) {
  return row.verdict.*Member;
}
/// Not known where all calls are shared ones whose parts could not be joined.
inline figure total_time(const operator_row& row) {
  const bool not_joined = row.mean_ns.why == absence::not_joined;
  return not_joined ? figure{0, absence::not_joined} : figure{row.total_ns};
}

}  // namespace detail

/// All metrics, in the order in which tables show them.
inline constexpr metric metrics[] = {
    {.id = "calls",
     .label = "calls",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::all_calls,
     .meaning = "finished calls",
     .device_meaning = "finished calls, and calls made by replaying CUDA graphs"},
    {.id = "replays",
     .label = "replays",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::replays>,
     .meaning = "of the calls, those made by replaying CUDA graphs; they take no time on the host"},
    {.id = "open",
     .label = "open",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::beyond_steps<&operator_row::open>,
     .meaning = "calls that had not finished, and how long they had run; of these columns only "
                "those of the "
                "device count them, and rates are n/a then"},
    {.id = "open_time",
     .label = "open time",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::beyond_steps<&operator_row::open_ns>,
     .meaning = "how long the calls that had not finished had run, summed"},
    {.id = "device",
     .label = "device",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::device_ns>,
     .meaning = "time on the device of the kernels, copies and memsets that the calls launched, "
                "less that of the operators inside them; what ran at the same time counts each"},
    {.id = "device_share",
     .label = "dev share",
     .unit = detail::units::share,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::device_share>,
     .meaning = "device / time of all kernels, copies and memsets"},
    {.id = "device_total",
     .label = "dev total",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::device_total_ns>,
     .meaning = "device with that of the operators inside; a call inside another call of the same "
                "row is not counted again"},
    {.id = "kernels",
     .label = "kernels",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::kernels>,
     .meaning = "kernels that the calls launched, less those of the operators inside them"},
    {.id = "copies",
     .label = "copies",
     .unit = detail::units::one,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::device_value<&operator_row::copies>,
     .meaning = "copies and memsets, the same"},
    {.id = "gap",
     .label = "gap",
     .unit = detail::units::nanoseconds,
     .adds = additivity::ratio,
     .of_device = true,
     .of = &detail::metric_value<&operator_row::gap_ns>,
     .meaning = "mean time from a launch until its work began on the device: long where the device "
                "is behind, short where it waits for the host"},
    {.id = "waited",
     .label = "waited",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = true,
     .of = &detail::beyond_steps<&operator_row::waited_ns>,
     .meaning = "host time, of self, in calls of CUDA's libraries that block: that wait for a "
                "device, copy at once or allocate"},
    {.id = "self",
     .label = "self",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::self_ns>,
     .meaning = "time in the calls less the time in the operators inside them, summed over calls "
                "and threads; a region counts to the operator that it is in",
     .device_meaning = "host time in the calls less the time in the operators inside them, summed "
                       "over calls and threads; a region counts to the operator that it is in"},
    {.id = "share",
     .label = "share",
     .unit = detail::units::share,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::share>,
     .meaning =
         "self / self time of all scopes, operators and regions outside them, of all threads"},
    {.id = "total",
     .label = "total",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::total_time,
     .meaning = "time from the begin to the end of the calls, summed; a call inside another call "
                "of the same row, and overlap of calls that threads share, count once",
     .device_meaning = "host time from the begin to the end of the calls, summed; a call inside "
                       "another call of the same row is not counted again"},
    {.id = "cpu",
     .label = "cpu",
     .unit = detail::units::share,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::cpu>,
     .meaning = "of the time of the calls, what their threads ran on a CPU, at most; the rest they "
                "waited, or other threads ran in their place. Of the calls in total that are long "
                "enough to tell"},
    {.id = "mean",
     .label = "mean",
     .unit = detail::units::nanoseconds,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::mean_ns>,
     .meaning = "time from the begin to the end of a call: sum over all calls / calls",
     .device_meaning = "host time from the begin to the end of a call: sum over all calls / calls, "
                       "less those made by replaying graphs"},
    {.id = "median",
     .label = "median",
     .unit = detail::units::nanoseconds,
     .adds = additivity::none,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::median_ns>,
     .meaning = "half of the calls took no longer; within 0.8 %"},
    {.id = "p99",
     .label = "p99",
     .unit = detail::units::nanoseconds,
     .adds = additivity::none,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::p99_ns>,
     .meaning = "99 % of the calls took no longer; within 0.8 %"},
    {.id = "min",
     .label = "min",
     .unit = detail::units::nanoseconds,
     .adds = additivity::minimum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::min_ns>,
     .meaning = "the shortest call"},
    {.id = "max",
     .label = "max",
     .unit = detail::units::nanoseconds,
     .adds = additivity::maximum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::max_ns>,
     .meaning = "the longest call"},
    {.id = "first",
     .label = "first",
     .unit = detail::units::nanoseconds,
     .adds = additivity::none,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::first_ns>,
     .meaning = "the call that ended first: what is done only once, such as set-up and page faults "
                "in new memory, is in it"},
    {.id = "gflops",
     .label = "GFLOP/s",
     .unit = detail::units::giga_flop_per_s,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops_per_s>,
     .meaning = "10^9 operations a second: flops() of the calls in total, summed, / total",
     .device_meaning = "10^9 operations a second: flops() of the calls with work on the device, "
                       "summed, / dev total; of an operator without, / total"},
    {.id = "gbs",
     .label = "GB/s",
     .unit = detail::units::giga_byte_per_s,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::bytes_per_s>,
     .meaning = "10^9 bytes a second: bytes() of the calls in total, read + written, summed, / "
                "total; by the formula, not measured traffic",
     .device_meaning = "10^9 bytes a second: bytes() of the calls with work on the device, read + "
                       "written, summed, / dev total; of an operator without, / total; by the "
                       "formula, not measured traffic"},
    {.id = "intensity",
     .label = "FLOP/B",
     .unit = detail::units::flop_per_byte,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops_per_byte>,
     .meaning = "arithmetic intensity, operations a byte: flops() / bytes()"},
    {.id = "flops",
     .label = "FLOPs",
     .unit = detail::units::flop,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::flops>,
     .meaning = "operations: flops() of the calls in total, summed; k M G T P E = 10^3 to 10^18"},
    {.id = "bytes",
     .label = "bytes",
     .unit = detail::units::byte,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::bytes>,
     .meaning = "bytes() of the calls in total, read + written, summed"},
    {.id = "threads",
     .label = "threads",
     .unit = detail::units::one,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::threads>,
     .meaning =
         "parts of a call that several threads share (KPROF_PART), the mean over such calls"},
    {.id = "imbalance",
     .label = "imbalance",
     .unit = detail::units::one,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::imbalance>,
     .meaning = "of calls that threads share: time of the longest part / mean time of a part; 1 "
                "where all parts take as long"},
    {.id = "waiting",
     .label = "waiting",
     .unit = detail::units::nanoseconds,
     .adds = additivity::sum,
     .of_device = false,
     .of = &detail::metric_value<&operator_row::waiting_ns>,
     .meaning = "of calls that threads share: total x parts, less the time in the parts: what "
                "threads lost by coming late or waiting"},
    {.id = "roof",
     .label = "roof",
     .unit = detail::units::share,
     .adds = additivity::ratio,
     .of_device = false,
     .of = &detail::verdict_value<&roof_verdict::roof>,
     .meaning = "ideal / time that the rates are over: 100 % is as fast as this machine can do it"},
    {.id = "ideal",
     .label = "ideal",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::verdict_value<&roof_verdict::ideal_ns>,
     .meaning =
         "the least time that the calls' work takes here: of each call the larger of flops() "
         "/ highest rate of its type and bytes() / bandwidth, of a cache where only that is "
         "fast enough"},
    {.id = "lost",
     .label = "lost",
     .unit = detail::units::nanoseconds,
     .adds = additivity::overlapping_sum,
     .of_device = false,
     .of = &detail::verdict_value<&roof_verdict::lost_ns>,
     .meaning = "time that the rates are over, less ideal"},
};

namespace detail {
inline constexpr std::size_t metric_count = sizeof(metrics) / sizeof(metrics[0]);

/// The place of the metric of that id; metric_count: there is none. With undefined-behaviour
/// checks, g++ 12 takes no comparison of an address with nullptr for a constant.
constexpr std::size_t place_of_metric(std::string_view id) noexcept {
  std::size_t place = 0;
  while (place < metric_count && id != metrics[place].id) ++place;
  return place;
}
}  // namespace detail

/// The metric of that id; nullptr: there is none.
inline const metric* find_metric(std::string_view id) noexcept {
  const std::size_t place = detail::place_of_metric(id);
  return place < detail::metric_count ? &metrics[place] : nullptr;
}

KPROF_DETAIL_END

#endif
