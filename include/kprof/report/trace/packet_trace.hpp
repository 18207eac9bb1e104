// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_PACKET_TRACE_HPP
#define KPROF_REPORT_TRACE_PACKET_TRACE_HPP

// Writes a trace as Perfetto's own packets. Included by trace.hpp; trace_walk calls it.
//
// The begin and the end of a slice are two packets, written together: readers sort packets by their
// time, those of one time by their place in the file. Of two slices of one row the earlier is whole
// in the file before the later begins, so that it ends first where they touch.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/stacks/protobuf.hpp>
#include <kprof/report/trace/call_arrows.hpp>
#include <kprof/report/trace/held_call.hpp>
#include <kprof/report/trace/packet_interning.hpp>
#include <kprof/report/trace/packet_stages.hpp>
#include <kprof/report/trace/packet_tracks.hpp>
#include <kprof/report/trace/slice_facts.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/report/trace/trace_curves.hpp>
#include <kprof/report/trace/trace_walk.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Category, name and arguments that all slices of a node or of a row of device work have: fields
/// of a TrackEvent.
struct slice_packet {
  std::uint32_t of = 0xFFFFFFFFU;
  proto_message fields;
  slice_figures figures;
};

class packet_trace {
 public:
  /// `has_stages`: work of devices is written as render stages, else as slices of tracks.
  /// `text_bytes`: bytes of texts that have a number at a time.
  packet_trace(trace_source& source, bool has_stages, text_sink& out,
               std::size_t text_bytes = std::size_t{2} << 20U)
      : source_(source),
        has_stages_(has_stages),
        p_(source.run),
        out_(out),
        origin_(source.events.origin()),
        texts_(text_bytes),
        tracks_(source.run, source.places, has_stages) {}

  void begin() {
    put_clocks();
    if (has_stages_) put_descriptor();
    tracks_.each_of_profile([this](const proto_message& track) { put_track(track); });
  }
  /// What is left out is counted, as are the devices described, by the arguments of an event.
  void finish(const trace_gaps& gaps) {
    put_track(tracks_.further_track("kprof"));
    begin_event(event_type::instant, tracks_.latest());
    annotation_list args(event_, texts_);
    add_title({"kprof", "what this trace has and lacks"});
    add_what_is_missing(p_, gaps, args);
    put_event(source_.events.first());
    for (const std::uint32_t device : source_.places.devices()) {
      begin_event(event_type::instant, tracks_.latest());
      add_title({"kprof", "GPU " + std::to_string(device)});
      add_device(p_, device, args);
      put_event(source_.events.first());
    }
  }
  void further_row(std::uint32_t thread, std::size_t row, std::uint32_t tid) {
    put_track(tracks_.further_row(thread, row, tid));
  }
  void further_row(const traced_stream& stream, std::size_t row, std::uint32_t tid) {
    if (has_stages_) tracks_.further_queue(stream, row, tid);
    else put_track(tracks_.further_row(stream, row, tid));
  }

  std::int64_t end_of_step(std::int64_t, std::int64_t end) const noexcept { return end; }
  void step(const slice_place& at, std::uint32_t index) {
    begin_slice(at);
    event_.number(field::categories, texts_.number(interned::category, "user_annotation"));
    event_.bytes(field::name, "ProfilerStep#" + std::to_string(p_.steps[index].index));
    put_slice(at);
  }
  const slice_figures& figures_of_scope(std::uint32_t node) { return scope_packet(node).figures; }
  void scope(const slice_place& at, std::uint32_t node, std::uint64_t, double share,
             const std::vector<call_arrow>& arrows) {
    begin_slice(at);
    event_.fields(scope_packet(node).fields.text());
    if (share > 0) annotation_list(event_, texts_).number("% of roof", share);
    for (const call_arrow& a : arrows) event_.fixed(field::flow_ids, a.number);
    put_slice(at);
  }
  void call(const slice_place& at, const traced_call& call) {
    begin_slice(at);
    add_title({is_of_driver(call.name) ? "cuda_driver" : "cuda_runtime", std::string{call.name}});
    if (call.correlation <= 0xFFFFFFFFU)
      annotation_list(event_, texts_).integer("correlation", call.correlation);
    if (has_stages_) add_launched(call.arrows);
    else
      for (const std::uint32_t index : call.arrows)
        event_.fixed(field::flow_ids, arrow_of(p_.device.timeline.items[index], index));
    put_slice(at);
  }

  const slice_figures& figures_of_item(std::uint32_t work) { return item_packet(work).figures; }
  /// An arrow's number leads nowhere where its launch does not have it too.
  void item(const slice_place& at, std::uint32_t index, bool is_launched) {
    const device_item& item = p_.device.timeline.items[index];
    if (has_stages_) return put_stage(at, item, index, is_launched);
    begin_slice(at);
    event_.fields(item_packet(item.work).fields.text());
    annotation_list args(event_, texts_);
    add_arguments(at, item, args);
    put_event(at.begin);
    begin_event(event_type::end, tracks_.of_row(at.pid, at.tid));
    // Perfetto leads an arrow from the event that is earlier to the other's slice. By clocks that
    // differ an item may begin before its launch; it does not end before.
    if (is_launched) event_.fixed(field::flow_ids, arrow_of(item, index));
    put_event(at.end);
  }
  void item_without_row(std::uint32_t, bool) noexcept {}
  void launched(std::uint32_t, std::uint64_t, std::int64_t) noexcept {}

  void point(const curve_point& point) {
    if (!std::isfinite(point.value)) return;
    if (tracks_.is_new_curve(point)) put_track(tracks_.curve(point));
    begin_event(event_type::counter, tracks_.latest());
    if (point.is_whole) event_.number(30, static_cast<std::uint64_t>(point.value));
    else event_.real(44, point.value);
    put_event(point.at);
  }

 private:
  enum class event_type : std::uint8_t { begin = 1, end = 2, instant = 3, counter = 4 };
  /// Numbers in Perfetto's TrackEvent.
  struct field {
    static constexpr std::uint32_t categories = 3, type = 9, name_number = 10, track = 11,
                                   name = 23, flow_ids = 47;
  };

  const slice_packet& scope_packet(std::uint32_t node) {
    return scopes_.of(node, [&](slice_packet& made) {
      make_title(made.fields, source_.slices.title_of_scope(node));
      annotation_list args(made.fields, texts_);
      source_.slices.add_scope(node, made.figures, args);
    });
  }
  const slice_packet& item_packet(std::uint32_t work) {
    return items_.of(work, [&](slice_packet& made) {
      const device_work& w = p_.device.work[work];
      if (has_stages_) return make_stage(w, made);
      make_title(made.fields, source_.slices.title_of_item(w));
      annotation_list args(made.fields, texts_);
      source_.slices.add_item(w, made.figures, args);
    });
  }
  template <class Args>
  void add_arguments(const slice_place& at, const device_item& item, Args& args) const {
    if (item.correlation != 0) args.integer("correlation", item.correlation);
    if (p_.device.work[item.work].task == device_task::kernel || item.bytes == 0) return;
    args.integer("bytes", item.bytes);
    if (at.end > at.begin)
      args.rounded("memory bandwidth (GB/s)",
                   static_cast<double>(item.bytes) / static_cast<double>(at.end - at.begin));
  }
  void make_title(proto_message& out, const slice_title& title) {
    out.number(field::categories, texts_.number(interned::category, title.category));
    out.number(field::name_number,
               texts_.number(interned::event_name, title.name.empty() ? "(no name)" : title.name));
  }
  void add_title(const slice_title& title) { make_title(event_, title); }

  // ---- render stages

  void make_stage(const device_work& w, slice_packet& made) {
    const slice_title title = source_.slices.title_of_item(w);
    made.fields.number(stage_field::stage,
                       texts_.stage(title.category, title.name.empty() ? "(no name)" : title.name));
    made.fields.number(stage_field::gpu, source_.places.pid_of_device(w.device));
    extra_data_list args(made.fields);
    source_.slices.add_item(w, made.figures, args);
  }
  void put_stage(const slice_place& at, const device_item& item, std::uint32_t index,
                 bool is_launched) {
    forget_if_full();
    const std::uint64_t row = tracks_.of_row(at.pid, at.tid);
    is_end_ = false;
    event_.clear();
    event_.number(stage_field::event, arrow_of(item, index));
    event_.number(stage_field::duration, static_cast<std::uint64_t>(at.end - at.begin));
    event_.number(stage_field::context, texts_.context(source_.places.pid()));
    event_.number(stage_field::queue, texts_.queue(row, tracks_.queue(row)));
    event_.fields(item_packet(item.work).fields.text());
    extra_data_list args(event_);
    add_arguments(at, item, args);
    if (is_launched && item.start > item.call_begin)
      args.integer("waited (ns)", static_cast<std::uint64_t>(item.start) -
                                      static_cast<std::uint64_t>(item.call_begin));
    constexpr std::uint32_t render_stage_event = 53;
    put_event(at.begin, render_stage_event);
  }
  /// Perfetto leads an arrow from a call to the stages with these numbers.
  void add_launched(std::span<const std::uint32_t> items) {
    if (items.empty()) return;
    proto_message correlation;
    for (const std::uint32_t index : items)
      correlation.number(1, arrow_of(p_.device.timeline.items[index], index));
    event_.message(gpu_correlation_field, correlation);
  }
  void put_descriptor() {
    packet_.clear();
    packet_.message(72, gpu_correlation_descriptor());
    put_packet(false);
  }

  // ---- packets

  void forget_if_full() {
    if (!texts_.is_full()) return;
    texts_.forget();
    scopes_.forget();
    items_.forget();
    forgets_ = true;
  }
  void begin_slice(const slice_place& at) {
    forget_if_full();
    begin_event(event_type::begin, tracks_.of_row(at.pid, at.tid));
  }
  void put_slice(const slice_place& at) {
    put_event(at.begin);
    begin_event(event_type::end, tracks_.of_row(at.pid, at.tid));
    put_event(at.end);
  }
  void begin_event(event_type type, std::uint64_t track) {
    is_end_ = type == event_type::end;
    event_.clear();
    event_.number(field::type, static_cast<std::uint64_t>(type));
    event_.number(field::track, track);
  }
  void put_event(std::int64_t at, std::uint32_t kind = 11) {
    packet_.clear();
    packet_.number(8, static_cast<std::uint64_t>(at - origin_));
    packet_.message(kind, event_);
    put_packet(!is_end_);
  }
  void put_track(const proto_message& track) {
    packet_.clear();
    packet_.message(60, track);
    put_packet(false);
  }
  /// What the wall's clock shows at the zero of the trace's own.
  void put_clocks() {
    const std::uint64_t start = p_.clock.start_realtime_ns;
    constexpr std::uint64_t of_wall = 1, of_trace = 6;
    proto_message clocks;
    for (const std::uint64_t clock : {of_trace, of_wall}) {
      proto_message reading;
      reading.number(1, clock);
      reading.number(2, clock == of_wall ? start + static_cast<std::uint64_t>(origin_) : 0);
      if (clock == of_trace || start > 0) clocks.message(1, reading);
    }
    clocks.number(2, of_trace);
    packet_.clear();
    packet_.message(6, clocks);
    packet_.number(87, 1);  // the first of its sequence
    forgets_ = true;
    put_packet(false);
  }
  /// `packet_`, with what all packets have and the texts that it is the first to use.
  void put_packet(bool uses_texts) {
    constexpr std::uint64_t forgets = 1, uses = 2;
    packet_.number(10, 1);  // the sequence, of which there is one
    const std::uint64_t flags = (forgets_ ? forgets : 0U) | (uses_texts ? uses : 0U);
    forgets_ = false;
    if (flags != 0) packet_.number(13, flags);
    if (uses_texts && !texts_.not_written().text().empty()) {
      packet_.message(12, texts_.not_written());
      texts_.were_written();
    }
    framed_.clear();
    framed_.message(1, packet_);
    out_.put(framed_.text());
  }

  trace_source& source_;
  bool has_stages_;
  const profile& p_;
  text_sink& out_;
  std::int64_t origin_;
  interned_texts texts_;
  packet_tracks tracks_;
  latest_made<slice_packet> scopes_, items_;
  bool forgets_ = false;  // the next packet says that all texts are forgotten
  bool is_end_ = false;
  proto_message event_, packet_, framed_;  // that are being written
};

}  // namespace detail
KPROF_DETAIL_END

#endif
