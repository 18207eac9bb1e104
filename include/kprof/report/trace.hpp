// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_HPP
#define KPROF_REPORT_TRACE_HPP

// The output "trace": the timeline as a Chrome trace in the dialect of PyTorch's profiler, for
// Perfetto, Catapult, TensorBoard and HolisticTraceAnalysis, or, where the name of the file ends in
// ".pftrace", as Perfetto's own packets (docs/files.md). Including it makes
// KPROF="trace(path=run.json)" and kprof::write(profile, "trace", ...) known in this binary. A
// profile has a timeline where snapshot() was asked for one.
//
// A file is written in one go, at more than a million slices a second, with memory that does not
// grow with the timeline. Where its name ends in ".gz" it is packed, by zlib, which is opened then.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/option.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/output/gzip_sink.hpp>
#include <kprof/report/trace/json_trace.hpp>
#include <kprof/report/trace/packet_trace.hpp>
#include <kprof/report/trace/trace_walk.hpp>
#include <kprof/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// The category of calls of CUDA's libraries: TensorBoard's plugin knows the one, HTA's critical
/// path the other.
enum class launch_category : std::uint8_t { by_name, tensorboard, hta };

/// What a Chrome trace has: all that PyTorch's profiler writes, or less.
enum class trace_detail : std::uint8_t { by_name, brief, kineto };

/// What Perfetto's packets have for work of devices: rows of its table gpu_slice, or slices of
/// tracks as for the host.
enum class packet_work : std::uint8_t { stages, tracks };

struct trace_options {
  launch_category launches = launch_category::by_name;
  trace_detail detail = trace_detail::by_name;
  packet_work gpu = packet_work::stages;
};

inline constexpr option trace_option_table[] = {
    {.name = "launches",
     .kind = option_kind::choice,
     .form = "auto|Runtime|cuda_runtime",
     .fallback = "auto",
     .meaning = "category of calls of CUDA: Runtime for TensorBoard, which is what auto gives a "
                "file called *.pt.trace.json, cuda_runtime for HTA",
     .store = &store_member<&trace_options::launches>},
    {.name = "detail",
     .kind = option_kind::choice,
     .form = "auto|short|kineto",
     .fallback = "auto",
     .meaning = "of work of GPUs in a Chrome trace: kineto is all that PyTorch's profiler writes, "
                "for TensorBoard, TraceLens and Catapult, and what auto gives a file called "
                "*.pt.trace.json; short is what Perfetto and HTA read, in fewer bytes",
     .store = &store_member<&trace_options::detail>},
    {.name = "gpu",
     .kind = option_kind::choice,
     .form = "stages|tracks",
     .fallback = "stages",
     .meaning = "work of GPUs in a *.pftrace: stages are Perfetto's table gpu_slice, with arrows "
                "from its release 56 on; tracks have arrows in each release, and no gpu_slice",
     .store = &store_member<&trace_options::gpu>},
};

/// Whether the file is called as TensorBoard wants it.
inline bool is_named_for_tensorboard(std::string_view path) {
  if (names_gzip(path)) path.remove_suffix(3);
  return path.ends_with(".pt.trace.json");
}
inline std::string_view category_of_launches(launch_category wanted, std::string_view path) {
  const bool is_for_tensorboard =
      wanted == launch_category::tensorboard ||
      (wanted == launch_category::by_name && is_named_for_tensorboard(path));
  return is_for_tensorboard ? "Runtime" : "cuda_runtime";
}

/// Whether the file is to have Perfetto's own packets.
inline bool names_packets(std::string_view path) {
  if (names_gzip(path)) path.remove_suffix(3);
  return path.ends_with(".pftrace");
}

KPROF_DETAIL_LOCAL inline status write_trace(const profile& run, const option_values& values,
                                             text_sink& out) {
  trace_options options;
  values.store_into(options);
  const std::string path = values.text("path");
  return put_packed_by_name(path, out, [&](text_sink& sink) {
    trace_source source(run);
    if (names_packets(path)) {
      packet_trace format(source, options.gpu == packet_work::stages, sink);
      return trace_walk(source, format).write();
    }
    const bool is_kineto =
        options.detail == trace_detail::kineto ||
        (options.detail == trace_detail::by_name && is_named_for_tensorboard(path));
    json_trace format(source, category_of_launches(options.launches, path), is_kineto, sink);
    trace_walk(source, format).write();
  });
}

inline constexpr output trace_output{"trace",
                                     "the timeline, for Perfetto, TensorBoard and others",
                                     trace_option_table,
                                     &write_trace,
                                     [](const option_values&) { return true; },
                                     "trace.json"};
KPROF_DETAIL_LOCAL
[[gnu::init_priority(101)]] inline const output_registration trace_registered{trace_output};

}  // namespace detail
KPROF_DETAIL_END

#endif
