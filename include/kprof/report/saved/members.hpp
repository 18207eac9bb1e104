// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_MEMBERS_HPP
#define KPROF_REPORT_SAVED_MEMBERS_HPP

// The members of a profile by their names in a saved one, for the writer and the reader. A member
// that has its default value is not written, and one that a file lacks has it: a default is part of
// the format. Included by save.hpp and load.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/saved/enumerator_names.hpp>

#include <string_view>
#include <tuple>

KPROF_DETAIL_BEGIN
namespace detail {

/// The format's version, raised when older programs would misread what is written.
inline constexpr std::uint64_t saved_version = 1;

template <auto Pointer>
struct saved_member {
  std::string_view name;
};
template <auto Pointer>
constexpr saved_member<Pointer> saved(std::string_view name) noexcept {
  return {name};
}

/// A std::tuple of the members of T, in the order in which they are written.
template <class T>
inline constexpr auto members_of = std::tuple<>{};

template <>
inline constexpr auto members_of<enumerator_name> =
    std::tuple{saved<&enumerator_name::value>("value"), saved<&enumerator_name::name>("name")};

template <>
inline constexpr auto members_of<operator_field> =
    std::tuple{saved<&operator_field::name>("name"),
               saved<&operator_field::kind>("kind"),
               saved<&operator_field::bits>("bits"),
               saved<&operator_field::extent>("extent"),
               saved<&operator_field::is_signed>("signed"),
               saved<&operator_field::fields>("fields"),
               saved<&operator_field::enumerators>("enumerators")};

template <>
inline constexpr auto members_of<operator_info> = std::tuple{
    saved<&operator_info::name>("name"), saved<&operator_info::declared_name>("declared_name"),
    saved<&operator_info::fields>("fields"), saved<&operator_info::defaults>("defaults")};

template <>
inline constexpr auto members_of<work_per_call> =
    std::tuple{saved<&work_per_call::has_flops>("has_flops"),
               saved<&work_per_call::has_bytes>("has_bytes"),
               saved<&work_per_call::valid>("valid"),
               saved<&work_per_call::flops>("flops"),
               saved<&work_per_call::bytes_read>("bytes_read"),
               saved<&work_per_call::bytes_written>("bytes_written"),
               saved<&work_per_call::type>("type"),
               saved<&work_per_call::on>("on"),
               saved<&work_per_call::pass>("pass"),
               saved<&work_per_call::threads>("threads")};

template <>
inline constexpr auto members_of<shared_part> = std::tuple{
    saved<&shared_part::part>("part"),          saved<&shared_part::parts>("parts"),
    saved<&shared_part::calls>("calls"),        saved<&shared_part::joined>("joined"),
    saved<&shared_part::wall_ns>("wall_ns"),    saved<&shared_part::elapsed_ns>("elapsed_ns"),
    saved<&shared_part::busy_ns>("busy_ns"),    saved<&shared_part::longest_ns>("longest_ns"),
    saved<&shared_part::min_ns>("min_ns"),      saved<&shared_part::max_ns>("max_ns"),
    saved<&shared_part::first_ns>("first_ns"),  saved<&shared_part::first_end_ns>("first_end_ns"),
    saved<&shared_part::durations>("durations")};

template <>
inline constexpr auto members_of<single_call> =
    std::tuple{saved<&single_call::ns>("ns"), saved<&single_call::begin_ns>("begin_ns")};

template <>
inline constexpr auto members_of<scope_node> =
    std::tuple{saved<&scope_node::parent>("parent"),
               saved<&scope_node::thread>("thread"),
               saved<&scope_node::kind>("kind"),
               saved<&scope_node::merged>("merged"),
               saved<&scope_node::name>("name"),
               saved<&scope_node::op>("op"),
               saved<&scope_node::values>("values"),
               saved<&scope_node::file>("file"),
               saved<&scope_node::line>("line"),
               saved<&scope_node::work>("work"),
               saved<&scope_node::brief>("brief"),
               saved<&scope_node::beside>("beside"),
               saved<&scope_node::unshown>("unshown"),
               saved<&scope_node::calls>("calls"),
               saved<&scope_node::captured>("captured"),
               saved<&scope_node::unlaunched>("unlaunched"),
               saved<&scope_node::replays>("replays"),
               saved<&scope_node::unrecorded>("unrecorded"),
               saved<&scope_node::open>("open"),
               saved<&scope_node::open_ns>("open_ns"),
               saved<&scope_node::total_ns>("total_ns"),
               saved<&scope_node::self_ns>("self_ns"),
               saved<&scope_node::min_ns>("min_ns"),
               saved<&scope_node::max_ns>("max_ns"),
               saved<&scope_node::first_ns>("first_ns"),
               saved<&scope_node::first_end_ns>("first_end_ns"),
               saved<&scope_node::slowest>("slowest"),
               saved<&scope_node::sampled>("sampled"),
               saved<&scope_node::measured_ns>("measured_ns"),
               saved<&scope_node::off_cpu_ns>("off_cpu_ns"),
               saved<&scope_node::denormal_ns>("denormal_ns"),
               saved<&scope_node::measured_calls>("measured_calls"),
               saved<&scope_node::denormal_calls>("denormal_calls"),
               saved<&scope_node::page_faults>("page_faults"),
               saved<&scope_node::durations>("durations"),
               saved<&scope_node::shared>("shared")};

template <>
inline constexpr auto members_of<thread_info> =
    std::tuple{saved<&thread_info::id>("id"),
               saved<&thread_info::name>("name"),
               saved<&thread_info::ended>("ended"),
               saved<&thread_info::merged>("merged"),
               saved<&thread_info::begin_ns>("begin_ns"),
               saved<&thread_info::wall_ns>("wall_ns"),
               saved<&thread_info::in_scopes_ns>("in_scopes_ns"),
               saved<&thread_info::measured_ns>("measured_ns"),
               saved<&thread_info::off_cpu_ns>("off_cpu_ns")};

template <>
inline constexpr auto members_of<clock_info> =
    std::tuple{saved<&clock_info::source>("source"), saved<&clock_info::ns_per_tick>("ns_per_tick"),
               saved<&clock_info::residual_ns>("residual_ns"),
               saved<&clock_info::start_realtime_ns>("start_realtime_ns"),
               saved<&clock_info::cpu_interval_ns>("cpu_interval_ns")};

template <>
inline constexpr auto members_of<completeness> =
    std::tuple{saved<&completeness::recorded>("recorded"),
               saved<&completeness::open>("open"),
               saved<&completeness::never_closed>("never_closed"),
               saved<&completeness::dropped>("dropped"),
               saved<&completeness::dropped_inside>("dropped_inside"),
               saved<&completeness::closed_by_parent>("closed_by_parent"),
               saved<&completeness::closed_elsewhere>("closed_elsewhere"),
               saved<&completeness::invalid>("invalid"),
               saved<&completeness::merged>("merged"),
               saved<&completeness::imprecise>("imprecise"),
               saved<&completeness::incomplete_calls>("incomplete_calls"),
               saved<&completeness::impossible_parts>("impossible_parts"),
               saved<&completeness::unjoined_calls>("unjoined_calls"),
               saved<&completeness::in_timeline>("in_timeline"),
               saved<&completeness::timeline_ns>("timeline_ns")};

template <>
inline constexpr auto members_of<own_cost> =
    std::tuple{saved<&own_cost::scope_ns>("scope_ns"),
               saved<&own_cost::empty_scope_ns>("empty_scope_ns"),
               saved<&own_cost::recording_ns>("recording_ns"),
               saved<&own_cost::cpu_reading_ns>("cpu_reading_ns"),
               saved<&own_cost::cpu_readings>("cpu_readings"),
               saved<&own_cost::folding_ns>("folding_ns"),
               saved<&own_cost::snapshot_folding_ns>("snapshot_folding_ns"),
               saved<&own_cost::memory>("memory"),
               saved<&own_cost::memory_limit>("memory_limit")};

template <>
inline constexpr auto members_of<device_work> =
    std::tuple{saved<&device_work::scope>("scope"),
               saved<&device_work::task>("task"),
               saved<&device_work::merged>("merged"),
               saved<&device_work::kernel>("kernel"),
               saved<&device_work::device>("device"),
               saved<&device_work::stream>("stream"),
               saved<&device_work::grid>("grid"),
               saved<&device_work::block>("block"),
               saved<&device_work::registers>("registers"),
               saved<&device_work::static_shared>("static_shared"),
               saved<&device_work::dynamic_shared>("dynamic_shared"),
               saved<&device_work::multiprocessor_shared>("multiprocessor_shared"),
               saved<&device_work::cluster>("cluster"),
               saved<&device_work::cooperative>("cooperative"),
               saved<&device_work::direction>("direction"),
               saved<&device_work::from>("from"),
               saved<&device_work::to>("to"),
               saved<&device_work::calls>("calls"),
               saved<&device_work::untimed>("untimed"),
               saved<&device_work::total_ns>("total_ns"),
               saved<&device_work::min_ns>("min_ns"),
               saved<&device_work::max_ns>("max_ns"),
               saved<&device_work::gaps>("gaps"),
               saved<&device_work::gap_ns>("gap_ns"),
               saved<&device_work::bytes>("bytes")};

template <>
inline constexpr auto members_of<device_info> =
    std::tuple{saved<&device_info::id>("id"),
               saved<&device_info::described>("described"),
               saved<&device_info::name>("name"),
               saved<&device_info::compute_major>("compute_major"),
               saved<&device_info::compute_minor>("compute_minor"),
               saved<&device_info::multiprocessors>("multiprocessors"),
               saved<&device_info::memory_bytes>("memory_bytes"),
               saved<&device_info::memory_bytes_per_s>("memory_bytes_per_s"),
               saved<&device_info::clock_hz>("clock_hz"),
               saved<&device_info::l2_bytes>("l2_bytes"),
               saved<&device_info::uuid>("uuid"),
               saved<&device_info::busy_ns>("busy_ns"),
               saved<&device_info::sum_ns>("sum_ns"),
               saved<&device_info::busy_is_exact>("busy_is_exact")};

template <>
inline constexpr auto members_of<device_completeness> =
    std::tuple{saved<&device_completeness::launches>("launches"),
               saved<&device_completeness::attributed>("attributed"),
               saved<&device_completeness::outside>("outside"),
               saved<&device_completeness::open>("open"),
               saved<&device_completeness::unknown>("unknown"),
               saved<&device_completeness::records>("records"),
               saved<&device_completeness::launches_lost>("launches_lost"),
               saved<&device_completeness::dropped>("dropped"),
               saved<&device_completeness::cut_buffers>("cut_buffers"),
               saved<&device_completeness::foreign_buffers>("foreign_buffers"),
               saved<&device_completeness::untimed>("untimed"),
               saved<&device_completeness::ignored>("ignored"),
               saved<&device_completeness::odd>("odd"),
               saved<&device_completeness::merged>("merged"),
               saved<&device_completeness::foreign_graphs>("foreign_graphs"),
               saved<&device_completeness::forgotten_graphs>("forgotten_graphs"),
               saved<&device_completeness::older_graphs>("older_graphs"),
               saved<&device_completeness::synchronizations>("synchronizations"),
               saved<&device_completeness::synchronizing_ns>("synchronizing_ns"),
               saved<&device_completeness::overhead_ns>("overhead_ns")};

template <>
inline constexpr auto members_of<device_profile> =
    std::tuple{saved<&device_profile::collecting>("collecting"),
               saved<&device_profile::state>("state"),
               saved<&device_profile::devices>("devices"),
               saved<&device_profile::kernels>("kernels"),
               saved<&device_profile::work>("work"),
               saved<&device_profile::functions>("functions"),
               saved<&device_profile::calls>("calls"),
               saved<&device_profile::timeline>("timeline"),
               saved<&device_profile::complete>("complete"),
               saved<&device_profile::collecting_ns>("collecting_ns")};

template <>
inline constexpr auto members_of<rate_ceiling> =
    std::tuple{saved<&rate_ceiling::one_thread>("one_thread"),
               saved<&rate_ceiling::all_threads>("all_threads"),
               saved<&rate_ceiling::is_lower_bound>("is_lower_bound")};

template <>
inline constexpr auto members_of<arithmetic_ceiling> =
    std::tuple{saved<&arithmetic_ceiling::type>("type"),
               saved<&arithmetic_ceiling::instructions>("instructions"),
               saved<&arithmetic_ceiling::operations>("operations")};

template <>
inline constexpr auto members_of<memory_ceiling> =
    std::tuple{saved<&memory_ceiling::level>("level"), saved<&memory_ceiling::bytes>("bytes"),
               saved<&memory_ceiling::read>("read"), saved<&memory_ceiling::triad>("triad"),
               saved<&memory_ceiling::sharers>("sharers")};

template <>
inline constexpr auto members_of<cpu_ceilings> = std::tuple{
    saved<&cpu_ceilings::model>("model"),       saved<&cpu_ceilings::threads>("threads"),
    saved<&cpu_ceilings::clock_hz>("clock_hz"), saved<&cpu_ceilings::arithmetic>("arithmetic"),
    saved<&cpu_ceilings::memory>("memory"),     saved<&cpu_ceilings::notes>("notes")};

template <>
inline constexpr auto members_of<gpu_arithmetic_ceiling> =
    std::tuple{saved<&gpu_arithmetic_ceiling::type>("type"),
               saved<&gpu_arithmetic_ceiling::on>("on"),
               saved<&gpu_arithmetic_ceiling::sums>("sums"),
               saved<&gpu_arithmetic_ceiling::operations>("operations"),
               saved<&gpu_arithmetic_ceiling::sparse_operations>("sparse_operations"),
               saved<&gpu_arithmetic_ceiling::clock_hz>("clock_hz"),
               saved<&gpu_arithmetic_ceiling::source>("source"),
               saved<&gpu_arithmetic_ceiling::measured_operations>("measured_operations"),
               saved<&gpu_arithmetic_ceiling::table_operations>("table_operations")};

template <>
inline constexpr auto members_of<gpu_ceilings> =
    std::tuple{saved<&gpu_ceilings::device>("device"),
               saved<&gpu_ceilings::arithmetic>("arithmetic"),
               saved<&gpu_ceilings::memory_bytes>("memory_bytes"),
               saved<&gpu_ceilings::l2_bytes>("l2_bytes"),
               saved<&gpu_ceilings::shared_bytes>("shared_bytes"),
               saved<&gpu_ceilings::notes>("notes"),
               saved<&gpu_ceilings::measured>("measured"),
               saved<&gpu_ceilings::measured_clock_hz>("measured_clock_hz"),
               saved<&gpu_ceilings::table_memory_bytes>("table_memory_bytes"),
               saved<&gpu_ceilings::table_l2_bytes>("table_l2_bytes"),
               saved<&gpu_ceilings::to_device_bytes>("to_device_bytes"),
               saved<&gpu_ceilings::from_device_bytes>("from_device_bytes")};

template <>
inline constexpr auto members_of<machine_ceilings> =
    std::tuple{saved<&machine_ceilings::cpu>("cpu"), saved<&machine_ceilings::gpus>("gpus"),
               saved<&machine_ceilings::source>("source")};

// Operators before nodes, whose values are read by them.
template <>
inline constexpr auto members_of<profile> =
    std::tuple{saved<&profile::recording>("recording"), saved<&profile::state>("state"),
               saved<&profile::program>("program"),     saved<&profile::cpus>("cpus"),
               saved<&profile::wall_ns>("wall_ns"),     saved<&profile::paused_ns>("paused_ns"),
               saved<&profile::cpu_ns>("cpu_ns"),       saved<&profile::clock>("clock"),
               saved<&profile::complete>("complete"),   saved<&profile::cost>("cost"),
               saved<&profile::notes>("notes"),         saved<&profile::threads>("threads"),
               saved<&profile::operators>("operators"), saved<&profile::nodes>("nodes"),
               saved<&profile::device>("device"),       saved<&profile::machine>("machine"),
               saved<&profile::timeline>("timeline"),   saved<&profile::steps>("steps"),
               saved<&profile::stepping>("stepping"),   saved<&profile::links>("links")};

}  // namespace detail
KPROF_DETAIL_END

#endif
