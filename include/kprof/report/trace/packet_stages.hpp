// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_PACKET_STAGES_HPP
#define KPROF_REPORT_TRACE_PACKET_STAGES_HPP

// Work of devices as Perfetto's render stages, which are the rows of its table gpu_slice, and how a
// call says what it launched. Included by trace.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/report/stacks/protobuf.hpp>
#include <kprof/report/trace/json_text.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Numbers in Perfetto's GpuRenderStageEvent.
namespace stage_field {
inline constexpr std::uint32_t event = 1, duration = 2, context = 5, extra = 6, gpu = 11,
                               queue = 13, stage = 14;
}

/// The field gpu_correlation of a TrackEvent: a GpuCorrelation with the stages' event numbers.
inline constexpr std::uint32_t gpu_correlation_field = 3000;

/// A packet's field extension_descriptor that explains gpu_correlation to releases of Perfetto that
/// do not know it; without it they count an error. Those that know the file by its name skip it.
inline proto_message gpu_correlation_descriptor() {
  constexpr std::uint64_t optional = 1, repeated = 3, of_uint64 = 4, of_message = 11;
  proto_message ids, correlation, extension, extender, file, files, descriptor;
  ids.bytes(1, "render_stage_submission_event_ids");
  ids.number(3, 1);
  ids.number(4, repeated);
  ids.number(5, of_uint64);
  correlation.bytes(1, "GpuCorrelation");
  correlation.message(2, ids);
  extension.bytes(1, "gpu_correlation");
  extension.bytes(2, ".perfetto.protos.TrackEvent");
  extension.number(3, gpu_correlation_field);
  extension.number(4, optional);
  extension.number(5, of_message);
  extension.bytes(6, ".perfetto.protos.GpuCorrelation");
  extender.bytes(1, "GpuTrackEvent");
  extender.message(6, extension);
  file.bytes(1, "protos/perfetto/trace/gpu/gpu_track_event.proto");
  file.bytes(2, "perfetto.protos");
  file.bytes(3, "protos/perfetto/trace/track_event/track_event.proto");
  file.message(4, correlation);
  file.message(4, extender);
  files.message(1, file);
  descriptor.message(1, files);
  return descriptor;
}

/// Arguments of a stage: the field extra_data, texts by name. The names of its functions are those
/// of json_members.
class extra_data_list {
 public:
  explicit extra_data_list(proto_message& out) noexcept : out_(out) {}

  void text(std::string_view name, std::string_view value) {
    value_.clear();
    append_trace_text(value_, value);
    put(name);
  }
  void integer(std::string_view name, std::uint64_t value) {
    value_.clear();
    append_integer(value_, value);
    put(name);
  }
  /// Nothing where it is not finite.
  void rounded(std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    value_.clear();
    append_rounded(value_, value);
    put(name);
  }
  /// [1,2,3]
  void three(std::string_view name, const std::uint32_t (&of)[3]) {
    value_.clear();
    for (const std::uint32_t value : of) {
      value_ += value_.empty() ? '[' : ',';
      append_integer(value_, value);
    }
    value_ += ']';
    put(name);
  }

 private:
  void put(std::string_view name) {
    one_.clear();
    one_.bytes(1, name);
    one_.bytes(2, value_);
    out_.message(stage_field::extra, one_);
  }

  proto_message& out_;
  proto_message one_;
  std::string value_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
