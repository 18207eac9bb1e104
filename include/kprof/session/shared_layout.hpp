// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SHARED_LAYOUT_HPP
#define KPROF_SESSION_SHARED_LAYOUT_HPP

// How this build lays out what modules hand to the session and get from it, as one number: commits
// of one version may differ in it, and so may a copy that somebody has changed. Included by
// build_name.hpp. Compile time only.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/session/owner_functions.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/status.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN
namespace detail {

struct shared_member {
  std::size_t offset;
  std::size_t size;
  std::size_t initialisers;  // 1, or the elements of a C array
};

/// Specialised for a struct that modules share: all its members. A test counts them, as that takes
/// a compiler seconds.
template <class T>
struct shared_layout;

#define KPROF_DETAIL_AT(member)                                                                \
  shared_member {                                                                              \
    __builtin_offsetof(type, member), sizeof(type::member),                                    \
        std::extent_v<decltype(type::member)> == 0 ? 1 : std::extent_v<decltype(type::member)> \
  }
#define KPROF_DETAIL_SHARED(T, ...)                           \
  template <>                                                 \
  struct shared_layout<T> {                                   \
    using type = T;                                           \
    static constexpr shared_member members[] = {__VA_ARGS__}; \
  };
KPROF_DETAIL_SHARED(status, KPROF_DETAIL_AT(message))
KPROF_DETAIL_SHARED(report_options, KPROF_DETAIL_AT(width), KPROF_DETAIL_AT(top),
                    KPROF_DETAIL_AT(sort), KPROF_DETAIL_AT(by), KPROF_DETAIL_AT(fold),
                    KPROF_DETAIL_AT(filter), KPROF_DETAIL_AT(columns),
                    KPROF_DETAIL_AT(all_parameters), KPROF_DETAIL_AT(advice),
                    KPROF_DETAIL_AT(machine), KPROF_DETAIL_AT(table), KPROF_DETAIL_AT(tree),
                    KPROF_DETAIL_AT(order), KPROF_DETAIL_AT(kernels), KPROF_DETAIL_AT(copies),
                    KPROF_DETAIL_AT(api), KPROF_DETAIL_AT(timeline), KPROF_DETAIL_AT(slowest),
                    KPROF_DETAIL_AT(roofline), KPROF_DETAIL_AT(full_names),
                    KPROF_DETAIL_AT(details), KPROF_DETAIL_AT(ascii), KPROF_DETAIL_AT(color),
                    KPROF_DETAIL_AT(legend), KPROF_DETAIL_AT(path))
KPROF_DETAIL_SHARED(option_setting, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(value))
KPROF_DETAIL_SHARED(output_request, KPROF_DETAIL_AT(output), KPROF_DETAIL_AT(options))
KPROF_DETAIL_SHARED(settings, KPROF_DETAIL_AT(enabled), KPROF_DETAIL_AT(nvtx),
                    KPROF_DETAIL_AT(cupti), KPROF_DETAIL_AT(device_timeline),
                    KPROF_DETAIL_AT(memory), KPROF_DETAIL_AT(clock), KPROF_DETAIL_AT(ceilings),
                    KPROF_DETAIL_AT(machine), KPROF_DETAIL_AT(step), KPROF_DETAIL_AT(threads),
                    KPROF_DETAIL_AT(schedule), KPROF_DETAIL_AT(signals), KPROF_DETAIL_AT(verbose),
                    KPROF_DETAIL_AT(report), KPROF_DETAIL_AT(outputs))
KPROF_DETAIL_SHARED(step_schedule, KPROF_DETAIL_AT(skip), KPROF_DETAIL_AT(wait),
                    KPROF_DETAIL_AT(warmup), KPROF_DETAIL_AT(active), KPROF_DETAIL_AT(repeat))
KPROF_DETAIL_SHARED(thread_steps, KPROF_DETAIL_AT(thread), KPROF_DETAIL_AT(count),
                    KPROF_DETAIL_AT(nested), KPROF_DETAIL_AT(total_ns), KPROF_DETAIL_AT(min_ns),
                    KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(first_ns), KPROF_DETAIL_AT(running_ns),
                    KPROF_DETAIL_AT(durations))
KPROF_DETAIL_SHARED(step_share, KPROF_DETAIL_AT(step), KPROF_DETAIL_AT(node),
                    KPROF_DETAIL_AT(calls), KPROF_DETAIL_AT(total_ns), KPROF_DETAIL_AT(self_ns))
KPROF_DETAIL_SHARED(kept_step, KPROF_DETAIL_AT(step), KPROF_DETAIL_AT(why))
KPROF_DETAIL_SHARED(stepping, KPROF_DETAIL_AT(region), KPROF_DETAIL_AT(threads),
                    KPROF_DETAIL_AT(shares), KPROF_DETAIL_AT(whole_from),
                    KPROF_DETAIL_AT(without_shares), KPROF_DETAIL_AT(kept))
KPROF_DETAIL_SHARED(enumerator_name, KPROF_DETAIL_AT(value), KPROF_DETAIL_AT(name))
KPROF_DETAIL_SHARED(operator_field, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(kind),
                    KPROF_DETAIL_AT(bits), KPROF_DETAIL_AT(extent), KPROF_DETAIL_AT(is_signed),
                    KPROF_DETAIL_AT(fields), KPROF_DETAIL_AT(enumerators))
KPROF_DETAIL_SHARED(operator_info, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(declared_name),
                    KPROF_DETAIL_AT(fields), KPROF_DETAIL_AT(defaults))
KPROF_DETAIL_SHARED(parameter_values, KPROF_DETAIL_AT(packed))
KPROF_DETAIL_SHARED(histogram, KPROF_DETAIL_AT(first_), KPROF_DETAIL_AT(gathered_size_),
                    KPROF_DETAIL_AT(gathered_), KPROF_DETAIL_AT(counts_), KPROF_DETAIL_AT(size_),
                    KPROF_DETAIL_AT(capacity_), KPROF_DETAIL_AT(only_count_))
KPROF_DETAIL_SHARED(work_per_call, KPROF_DETAIL_AT(has_flops), KPROF_DETAIL_AT(has_bytes),
                    KPROF_DETAIL_AT(valid), KPROF_DETAIL_AT(flops), KPROF_DETAIL_AT(bytes_read),
                    KPROF_DETAIL_AT(bytes_written), KPROF_DETAIL_AT(type), KPROF_DETAIL_AT(on),
                    KPROF_DETAIL_AT(pass), KPROF_DETAIL_AT(threads))
KPROF_DETAIL_SHARED(shared_part, KPROF_DETAIL_AT(part), KPROF_DETAIL_AT(parts),
                    KPROF_DETAIL_AT(calls), KPROF_DETAIL_AT(joined), KPROF_DETAIL_AT(wall_ns),
                    KPROF_DETAIL_AT(elapsed_ns), KPROF_DETAIL_AT(busy_ns),
                    KPROF_DETAIL_AT(longest_ns), KPROF_DETAIL_AT(min_ns), KPROF_DETAIL_AT(max_ns),
                    KPROF_DETAIL_AT(first_ns), KPROF_DETAIL_AT(first_end_ns),
                    KPROF_DETAIL_AT(durations))
KPROF_DETAIL_SHARED(single_call, KPROF_DETAIL_AT(ns), KPROF_DETAIL_AT(begin_ns))
KPROF_DETAIL_SHARED(scope_node, KPROF_DETAIL_AT(parent), KPROF_DETAIL_AT(thread),
                    KPROF_DETAIL_AT(kind), KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(name),
                    KPROF_DETAIL_AT(op), KPROF_DETAIL_AT(values), KPROF_DETAIL_AT(file),
                    KPROF_DETAIL_AT(line), KPROF_DETAIL_AT(work), KPROF_DETAIL_AT(brief),
                    KPROF_DETAIL_AT(beside), KPROF_DETAIL_AT(unshown), KPROF_DETAIL_AT(calls),
                    KPROF_DETAIL_AT(captured), KPROF_DETAIL_AT(unlaunched),
                    KPROF_DETAIL_AT(replays), KPROF_DETAIL_AT(unrecorded), KPROF_DETAIL_AT(open),
                    KPROF_DETAIL_AT(open_ns), KPROF_DETAIL_AT(total_ns), KPROF_DETAIL_AT(self_ns),
                    KPROF_DETAIL_AT(min_ns), KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(first_ns),
                    KPROF_DETAIL_AT(first_end_ns), KPROF_DETAIL_AT(slowest),
                    KPROF_DETAIL_AT(sampled), KPROF_DETAIL_AT(measured_ns),
                    KPROF_DETAIL_AT(off_cpu_ns), KPROF_DETAIL_AT(denormal_ns),
                    KPROF_DETAIL_AT(measured_calls), KPROF_DETAIL_AT(denormal_calls),
                    KPROF_DETAIL_AT(page_faults), KPROF_DETAIL_AT(durations),
                    KPROF_DETAIL_AT(shared))
KPROF_DETAIL_SHARED(thread_info, KPROF_DETAIL_AT(id), KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(ended),
                    KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(begin_ns), KPROF_DETAIL_AT(wall_ns),
                    KPROF_DETAIL_AT(in_scopes_ns), KPROF_DETAIL_AT(measured_ns),
                    KPROF_DETAIL_AT(off_cpu_ns))
KPROF_DETAIL_SHARED(timeline_scope, KPROF_DETAIL_AT(node), KPROF_DETAIL_AT(start),
                    KPROF_DETAIL_AT(duration))
KPROF_DETAIL_SHARED(call_link, KPROF_DETAIL_AT(call), KPROF_DETAIL_AT(of))
KPROF_DETAIL_SHARED(clock_info, KPROF_DETAIL_AT(source), KPROF_DETAIL_AT(ns_per_tick),
                    KPROF_DETAIL_AT(residual_ns), KPROF_DETAIL_AT(start_realtime_ns),
                    KPROF_DETAIL_AT(cpu_interval_ns))
KPROF_DETAIL_SHARED(completeness, KPROF_DETAIL_AT(recorded), KPROF_DETAIL_AT(open),
                    KPROF_DETAIL_AT(never_closed), KPROF_DETAIL_AT(dropped),
                    KPROF_DETAIL_AT(dropped_inside), KPROF_DETAIL_AT(closed_by_parent),
                    KPROF_DETAIL_AT(closed_elsewhere), KPROF_DETAIL_AT(invalid),
                    KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(imprecise),
                    KPROF_DETAIL_AT(incomplete_calls), KPROF_DETAIL_AT(impossible_parts),
                    KPROF_DETAIL_AT(unjoined_calls), KPROF_DETAIL_AT(in_timeline),
                    KPROF_DETAIL_AT(timeline_ns))
KPROF_DETAIL_SHARED(own_cost, KPROF_DETAIL_AT(scope_ns), KPROF_DETAIL_AT(empty_scope_ns),
                    KPROF_DETAIL_AT(recording_ns), KPROF_DETAIL_AT(cpu_reading_ns),
                    KPROF_DETAIL_AT(cpu_readings), KPROF_DETAIL_AT(folding_ns),
                    KPROF_DETAIL_AT(snapshot_folding_ns), KPROF_DETAIL_AT(memory),
                    KPROF_DETAIL_AT(memory_limit))
KPROF_DETAIL_SHARED(device_work, KPROF_DETAIL_AT(scope), KPROF_DETAIL_AT(task),
                    KPROF_DETAIL_AT(merged), KPROF_DETAIL_AT(kernel), KPROF_DETAIL_AT(device),
                    KPROF_DETAIL_AT(stream), KPROF_DETAIL_AT(grid), KPROF_DETAIL_AT(block),
                    KPROF_DETAIL_AT(registers), KPROF_DETAIL_AT(static_shared),
                    KPROF_DETAIL_AT(dynamic_shared), KPROF_DETAIL_AT(multiprocessor_shared),
                    KPROF_DETAIL_AT(cluster), KPROF_DETAIL_AT(cooperative),
                    KPROF_DETAIL_AT(direction), KPROF_DETAIL_AT(from), KPROF_DETAIL_AT(to),
                    KPROF_DETAIL_AT(calls), KPROF_DETAIL_AT(untimed), KPROF_DETAIL_AT(total_ns),
                    KPROF_DETAIL_AT(min_ns), KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(gaps),
                    KPROF_DETAIL_AT(gap_ns), KPROF_DETAIL_AT(bytes))
KPROF_DETAIL_SHARED(device_info, KPROF_DETAIL_AT(id), KPROF_DETAIL_AT(described),
                    KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(compute_major),
                    KPROF_DETAIL_AT(compute_minor), KPROF_DETAIL_AT(multiprocessors),
                    KPROF_DETAIL_AT(memory_bytes), KPROF_DETAIL_AT(memory_bytes_per_s),
                    KPROF_DETAIL_AT(clock_hz), KPROF_DETAIL_AT(l2_bytes), KPROF_DETAIL_AT(uuid),
                    KPROF_DETAIL_AT(busy_ns), KPROF_DETAIL_AT(sum_ns),
                    KPROF_DETAIL_AT(busy_is_exact))
KPROF_DETAIL_SHARED(device_completeness, KPROF_DETAIL_AT(launches), KPROF_DETAIL_AT(attributed),
                    KPROF_DETAIL_AT(outside), KPROF_DETAIL_AT(open), KPROF_DETAIL_AT(unknown),
                    KPROF_DETAIL_AT(records), KPROF_DETAIL_AT(launches_lost),
                    KPROF_DETAIL_AT(dropped), KPROF_DETAIL_AT(cut_buffers),
                    KPROF_DETAIL_AT(foreign_buffers), KPROF_DETAIL_AT(untimed),
                    KPROF_DETAIL_AT(ignored), KPROF_DETAIL_AT(odd), KPROF_DETAIL_AT(merged),
                    KPROF_DETAIL_AT(foreign_graphs), KPROF_DETAIL_AT(forgotten_graphs),
                    KPROF_DETAIL_AT(older_graphs), KPROF_DETAIL_AT(synchronizations),
                    KPROF_DETAIL_AT(synchronizing_ns), KPROF_DETAIL_AT(overhead_ns))
KPROF_DETAIL_SHARED(device_item, KPROF_DETAIL_AT(work), KPROF_DETAIL_AT(stream),
                    KPROF_DETAIL_AT(thread), KPROF_DETAIL_AT(correlation), KPROF_DETAIL_AT(start),
                    KPROF_DETAIL_AT(end), KPROF_DETAIL_AT(call_begin), KPROF_DETAIL_AT(call_end),
                    KPROF_DETAIL_AT(bytes), KPROF_DETAIL_AT(graph))
KPROF_DETAIL_SHARED(host_call, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(thread),
                    KPROF_DETAIL_AT(scope), KPROF_DETAIL_AT(kind), KPROF_DETAIL_AT(waits_for),
                    KPROF_DETAIL_AT(device), KPROF_DETAIL_AT(stream), KPROF_DETAIL_AT(event),
                    KPROF_DETAIL_AT(begin), KPROF_DETAIL_AT(end))
KPROF_DETAIL_SHARED(host_call_sum, KPROF_DETAIL_AT(name), KPROF_DETAIL_AT(scope),
                    KPROF_DETAIL_AT(kind), KPROF_DETAIL_AT(calls), KPROF_DETAIL_AT(total_ns),
                    KPROF_DETAIL_AT(max_ns), KPROF_DETAIL_AT(waited_ns))
KPROF_DETAIL_SHARED(timeline_window, KPROF_DETAIL_AT(begin), KPROF_DETAIL_AT(end))
KPROF_DETAIL_SHARED(device_timeline, KPROF_DETAIL_AT(items), KPROF_DETAIL_AT(calls),
                    KPROF_DETAIL_AT(windows), KPROF_DETAIL_AT(dropped_items),
                    KPROF_DETAIL_AT(dropped_calls))
KPROF_DETAIL_SHARED(step_mark, KPROF_DETAIL_AT(index), KPROF_DETAIL_AT(thread),
                    KPROF_DETAIL_AT(counts), KPROF_DETAIL_AT(begin), KPROF_DETAIL_AT(end))
KPROF_DETAIL_SHARED(device_profile, KPROF_DETAIL_AT(collecting), KPROF_DETAIL_AT(state),
                    KPROF_DETAIL_AT(devices), KPROF_DETAIL_AT(kernels), KPROF_DETAIL_AT(work),
                    KPROF_DETAIL_AT(functions), KPROF_DETAIL_AT(calls), KPROF_DETAIL_AT(timeline),
                    KPROF_DETAIL_AT(complete), KPROF_DETAIL_AT(collecting_ns))
KPROF_DETAIL_SHARED(rate_ceiling, KPROF_DETAIL_AT(one_thread), KPROF_DETAIL_AT(all_threads),
                    KPROF_DETAIL_AT(is_lower_bound))
KPROF_DETAIL_SHARED(arithmetic_ceiling, KPROF_DETAIL_AT(type), KPROF_DETAIL_AT(instructions),
                    KPROF_DETAIL_AT(operations))
KPROF_DETAIL_SHARED(memory_ceiling, KPROF_DETAIL_AT(level), KPROF_DETAIL_AT(bytes),
                    KPROF_DETAIL_AT(read), KPROF_DETAIL_AT(triad), KPROF_DETAIL_AT(sharers))
KPROF_DETAIL_SHARED(cpu_ceilings, KPROF_DETAIL_AT(model), KPROF_DETAIL_AT(threads),
                    KPROF_DETAIL_AT(clock_hz), KPROF_DETAIL_AT(arithmetic), KPROF_DETAIL_AT(memory),
                    KPROF_DETAIL_AT(notes))
KPROF_DETAIL_SHARED(gpu_arithmetic_ceiling, KPROF_DETAIL_AT(type), KPROF_DETAIL_AT(on),
                    KPROF_DETAIL_AT(sums), KPROF_DETAIL_AT(operations),
                    KPROF_DETAIL_AT(sparse_operations), KPROF_DETAIL_AT(clock_hz),
                    KPROF_DETAIL_AT(source), KPROF_DETAIL_AT(measured_operations),
                    KPROF_DETAIL_AT(table_operations))
KPROF_DETAIL_SHARED(gpu_ceilings, KPROF_DETAIL_AT(device), KPROF_DETAIL_AT(arithmetic),
                    KPROF_DETAIL_AT(memory_bytes), KPROF_DETAIL_AT(l2_bytes),
                    KPROF_DETAIL_AT(shared_bytes), KPROF_DETAIL_AT(notes),
                    KPROF_DETAIL_AT(measured), KPROF_DETAIL_AT(measured_clock_hz),
                    KPROF_DETAIL_AT(table_memory_bytes), KPROF_DETAIL_AT(table_l2_bytes),
                    KPROF_DETAIL_AT(to_device_bytes), KPROF_DETAIL_AT(from_device_bytes))
KPROF_DETAIL_SHARED(machine_ceilings, KPROF_DETAIL_AT(cpu), KPROF_DETAIL_AT(gpus),
                    KPROF_DETAIL_AT(source))
KPROF_DETAIL_SHARED(profile, KPROF_DETAIL_AT(recording), KPROF_DETAIL_AT(state),
                    KPROF_DETAIL_AT(program), KPROF_DETAIL_AT(cpus), KPROF_DETAIL_AT(wall_ns),
                    KPROF_DETAIL_AT(paused_ns), KPROF_DETAIL_AT(cpu_ns), KPROF_DETAIL_AT(threads),
                    KPROF_DETAIL_AT(operators), KPROF_DETAIL_AT(nodes), KPROF_DETAIL_AT(timeline),
                    KPROF_DETAIL_AT(links), KPROF_DETAIL_AT(stepping), KPROF_DETAIL_AT(steps),
                    KPROF_DETAIL_AT(device), KPROF_DETAIL_AT(machine), KPROF_DETAIL_AT(clock),
                    KPROF_DETAIL_AT(complete), KPROF_DETAIL_AT(cost), KPROF_DETAIL_AT(notes))
KPROF_DETAIL_SHARED(owner_functions, KPROF_DETAIL_AT(build), KPROF_DETAIL_AT(arm),
                    KPROF_DETAIL_AT(start_with), KPROF_DETAIL_AT(start), KPROF_DETAIL_AT(stop),
                    KPROF_DETAIL_AT(pause), KPROF_DETAIL_AT(resume), KPROF_DETAIL_AT(snapshot),
                    KPROF_DETAIL_AT(add_ceilings), KPROF_DETAIL_AT(report_settings),
                    KPROF_DETAIL_AT(reported), KPROF_DETAIL_AT(set_schedule),
                    KPROF_DETAIL_AT(on_profile), KPROF_DETAIL_AT(is_stream))
#undef KPROF_DETAIL_SHARED
#undef KPROF_DETAIL_AT

template <class... T>
struct shared_structs {
  /// Changes with the place and the size of every member. 32 bits of FNV-1a.
  static constexpr std::uint32_t layout_number() noexcept {
    std::uint32_t hash = 2166136261U;
    const auto mix = [&hash](std::size_t n) {
      hash = (hash ^ static_cast<std::uint32_t>(n)) * 16777619U;
    };
    const auto mix_all = [&mix](std::size_t size, const auto& members) {
      mix(size);
      for (const shared_member& m : members) {
        mix(m.offset);
        mix(m.size);
      }
    };
    (mix_all(sizeof(T), shared_layout<T>::members), ...);
    return hash;
  }
};
using all_shared_structs = shared_structs<
    status, report_options, option_setting, output_request, settings, step_schedule,
    enumerator_name, thread_steps, step_share, stepping, operator_field, operator_info,
    parameter_values, histogram, work_per_call, shared_part, single_call, scope_node, thread_info,
    timeline_scope, call_link, clock_info, completeness, own_cost, device_work, device_info,
    device_completeness, device_item, host_call, host_call_sum, timeline_window, device_timeline,
    step_mark, device_profile, rate_ceiling, arithmetic_ceiling, memory_ceiling, cpu_ceilings,
    gpu_arithmetic_ceiling, gpu_ceilings, machine_ceilings, profile, owner_functions>;
inline constexpr std::uint32_t session_layout = all_shared_structs::layout_number();

}  // namespace detail
KPROF_DETAIL_END

#endif
